/* floor_frustum.c - which boxes reach into a frustum, by loops that people write.
 *
 * floor_frustum goes over packed boxes and leaves each box at the first plane that it is outside of; the other loop
 * makes the boxes from world matrices first, all of one mesh, by the same arithmetic as the engine.
 */
#include "floors.h"

#include <math.h>

uint32_t floor_frustum(const floor_box_t *boxes, uint32_t count, const bp_vec4_t *planes, uint32_t *found)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        const floor_box_t *b = &boxes[i];
        int k = 0;
        for (; k < 6; k++) {
            bp_vec4_t p = planes[k];
            float nearest = b->middle[0] * p.x + b->middle[1] * p.y + b->middle[2] * p.z + p.w +
                            (b->half[0] * fabsf(p.x) + b->half[1] * fabsf(p.y) + b->half[2] * fabsf(p.z));
            if (nearest < 0)
                break;
        }
        if (k == 6)
            found[n++] = i;
    }
    return n;
}

void floor_boxes(floor_box_t *boxes, const bp_mat4_t *worlds, uint32_t count, const float middle[3],
                 const float half[3])
{
    for (uint32_t i = 0; i < count; i++) {
        const float *m = worlds[i].m;
        for (int r = 0; r < 3; r++) {
            boxes[i].middle[r] = m[12 + r] + m[r] * middle[0] + m[4 + r] * middle[1] + m[8 + r] * middle[2];
            boxes[i].half[r] = fabsf(m[r]) * half[0] + fabsf(m[4 + r]) * half[1] + fabsf(m[8 + r]) * half[2];
        }
    }
}
