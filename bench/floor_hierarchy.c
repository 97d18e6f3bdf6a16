/* floor_hierarchy.c - world matrices by a flat loop: parents in order before their children, arrays of one kind each.
 *
 * floor_products is handed local matrices and multiplies; floor_poses is handed poses, as people write them, makes the
 * local matrix of each and multiplies. The products are the same: of affine matrices, four rows at a time.
 */
#include "floors.h"

static inline void multiply(const float *restrict a, const float *restrict b, float *restrict product)
{
    for (int c = 0; c < 12; c += 4) {
        for (int r = 0; r < 4; r++)
            product[c + r] = a[r] * b[c] + a[4 + r] * b[c + 1] + a[8 + r] * b[c + 2];
    }
    for (int r = 0; r < 4; r++)
        product[12 + r] = a[r] * b[12] + a[4 + r] * b[13] + a[8 + r] * b[14] + a[12 + r];
}

void floor_products(bp_mat4_t *world, const bp_mat4_t *local, const uint32_t *parent, uint32_t count)
{
    world[0] = local[0];
    for (uint32_t i = 1; i < count; i++)
        multiply(world[parent[i]].m, local[i].m, world[i].m);
}

static inline void matrix_of(bp_vec3_t p, bp_quat_t q, bp_vec3_t s, float *m)
{
    float xx = 2 * q.x * q.x, yy = 2 * q.y * q.y, zz = 2 * q.z * q.z;
    float xy = 2 * q.x * q.y, xz = 2 * q.x * q.z, yz = 2 * q.y * q.z;
    float wx = 2 * q.w * q.x, wy = 2 * q.w * q.y, wz = 2 * q.w * q.z;
    const float all[16] = {(1 - yy - zz) * s.x, (xy + wz) * s.x, (xz - wy) * s.x, 0,
                           (xy - wz) * s.y, (1 - xx - zz) * s.y, (yz + wx) * s.y, 0,
                           (xz + wy) * s.z, (yz - wx) * s.z, (1 - xx - yy) * s.z, 0, p.x, p.y, p.z, 1};
    for (int i = 0; i < 16; i++)
        m[i] = all[i];
}

void floor_poses(bp_mat4_t *world, const bp_vec3_t *position, const bp_quat_t *rotation, const bp_vec3_t *scale,
                 const uint32_t *parent, uint32_t count)
{
    matrix_of(position[0], rotation[0], scale[0], world[0].m);
    for (uint32_t i = 1; i < count; i++) {
        float local[16];
        matrix_of(position[i], rotation[i], scale[i], local);
        multiply(world[parent[i]].m, local, world[i].m);
    }
}
