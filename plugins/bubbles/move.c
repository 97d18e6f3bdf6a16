/* move.c - the system bubbles_move: all sprites and bubbles move, and turn back at the edges of the world.
 *
 * A coordinate that is beyond an edge is put onto the edge, and its velocity mirrored. The loop is the same for x
 * and for y and has no branch: the loop computes both answers and takes one, which makes it the same few
 * instructions for four, eight or sixteen sprites at a time.
 */
#include "bubbles.h"

BP_WIDEST
static void advance(float *restrict position, float *restrict velocity, float dt, float low, float high,
                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float v = velocity[i], p = position[i] + v * dt;
        v = p < low ? -v : v;
        p = p < low ? low : p;
        v = p > high ? -v : v;
        p = p > high ? high : p;
        position[i] = p;
        velocity[i] = v;
    }
}

void bubbles_move_run(const bp_match_t *match, uint32_t count)
{
    const bp_value_t *options = match->system->plugin->options;
    bp_vec2_t low = options[OPTION_LOW].vec2, high = options[OPTION_HIGH].vec2;
    float dt = (float)match->step->dt;
    BP_COLUMNS(struct plane, position, match->columns[0]);
    BP_COLUMNS(struct plane, move, match->columns[1]);
    advance(position.x, move.x, dt, low.x, high.x, count);
    advance(position.y, move.y, dt, low.y, high.y, count);
}
