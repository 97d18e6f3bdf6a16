/* place.c - the system bubbles_place: at the first step, each entity with neither place nor speed gets both.
 *
 * So an ini spawns a million entities by their number alone, and an entity that the ini gives a place keeps the place.
 * The values that an entity gets depend only on the seed and its index, not on threads or the order of rows.
 *
 * Direction is an angle, as in the source, but sine and cosine come from a polynomial instead of the C library: the
 * polynomial has the same bits on every machine, and the compiler turns it into vectors, so that placing a million
 * takes milliseconds. The error of the polynomial is below 4e-6, and so is the error of a speed.
 */
#include "bubbles.h"

#include <math.h>

enum { BLOCK = 256 };

/* Random numbers of a block of rows, all from 0 up to 1. */
typedef struct dice_t {
    float x[BLOCK], y[BLOCK], angle[BLOCK], speed[BLOCK], look[BLOCK];
} dice_t;

/* The bounds between which new places and speeds lie. */
typedef struct chances_t {
    bp_vec2_t low, high, speeds;
    float spread, looks;
} chances_t;

/* The upper 24 bits of 32, which is what a float holds. */
static float part_of_one(uint32_t bits)
{
    return (float)(int32_t)(bits >> 8) * (1.0f / 16777216.0f);
}

static void roll(dice_t *dice, const bp_entity_t *entities, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t state = (uint64_t)seed << 32 | bp_entity_index(entities[i]);
        uint64_t place = bp_random_next(&state), way = bp_random_next(&state);
        dice->x[i] = part_of_one((uint32_t)place);
        dice->y[i] = part_of_one((uint32_t)(place >> 32));
        dice->angle[i] = part_of_one((uint32_t)way);
        dice->speed[i] = part_of_one((uint32_t)(way >> 32));
        dice->look[i] = part_of_one((uint32_t)bp_random_next(&state));
    }
}

/* The sine of an angle from -pi/2 to pi/2: its Taylor series. */
static inline float sine(float a)
{
    float a2 = a * a;
    return a * (1 + a2 * (-1.0f / 6 + a2 * (1.0f / 120 + a2 * (-1.0f / 5040 + a2 * (1.0f / 362880)))));
}

/* -1 for rows that have neither place nor speed, 0 for others. */
BP_WIDEST
static void find_nowhere(int32_t *restrict nowhere, const float *x, const float *y, const float *vx,
                         const float *vy, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float all = fabsf(x[i]) + fabsf(y[i]) + fabsf(vx[i]) + fabsf(vy[i]);
        nowhere[i] = all == 0 ? -1 : 0;
    }
}

/* A row without place and speed has 0 in all four columns, so the new values are added, times 1 or 0: a loop without
 * branches. (The compiler makes vectors of the loop only where the columns are parameters: in a struct, GCC does not
 * see that they are restrict.) */
BP_WIDEST
static void place(const chances_t *chances, const dice_t *restrict dice, const int32_t *restrict nowhere,
                  float *restrict x, float *restrict y, float *restrict vx, float *restrict vy,
                  int32_t *restrict index, size_t count)
{
    const float quarter = 1.57079632679f;
    const chances_t c = *chances;
    for (size_t i = 0; i < count; i++) {
        float angle = (dice->angle[i] * 4 - 2) * quarter, size = fabsf(angle);
        float speed = (dice->speed[i] * (c.speeds.y - c.speeds.x) + c.speeds.x) * (float)-nowhere[i];
        float part = c.spread * (float)-nowhere[i];
        int32_t look = (int32_t)(dice->look[i] * c.looks);
        x[i] += (dice->x[i] * (c.high.x - c.low.x) + c.low.x) * part;
        y[i] += (dice->y[i] * (c.high.y - c.low.y) + c.low.y) * part;
        vx[i] += sine(quarter - size) * speed;
        vy[i] += copysignf(sine(quarter - fabsf(size - quarter)), angle) * speed;
        index[i] = (look & nowhere[i]) | (index[i] & ~nowhere[i]);
    }
}

/* A bubble keeps its index, and gets a light colour where it is white. */
static void colour(const bp_entity_t *entities, bp_vec3_t *colours, uint32_t count, uint32_t seed)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t state = ~((uint64_t)seed << 32 | bp_entity_index(entities[i]));
        uint64_t a = bp_random_next(&state), b = bp_random_next(&state);
        if (colours[i].x < 1 || colours[i].y < 1 || colours[i].z < 1)
            continue;
        colours[i].x = 0.5f + 0.5f * part_of_one((uint32_t)a);
        colours[i].y = 0.5f + 0.5f * part_of_one((uint32_t)(a >> 32));
        colours[i].z = 0.5f + 0.5f * part_of_one((uint32_t)b);
    }
}

void bubbles_place_run(const bp_match_t *match, uint32_t count)
{
    enum { POSITION, MOVE, SPRITE, BUBBLE };
    const bp_value_t *options = match->system->plugin->options;
    uint32_t bubbles = match->columns[BUBBLE] != NULL;
    chances_t chances = {.low = options[OPTION_LOW].vec2,
                         .high = options[OPTION_HIGH].vec2,
                         .speeds = options[bubbles ? OPTION_BUBBLE_SPEED : OPTION_SPEED].vec2,
                         .spread = bubbles ? options[OPTION_BUBBLE_SPREAD].f32 : 1,
                         .looks = (float)options[OPTION_LOOKS].u32};
    BP_COLUMNS(struct plane, position, match->columns[POSITION]);
    BP_COLUMNS(struct plane, move, match->columns[MOVE]);
    BP_COLUMNS(struct sprite_place, sprite, match->columns[SPRITE]);
    int32_t nowhere[BLOCK], unused[BLOCK] = {0};
    dice_t dice;
    if (match->step->number > 0)
        return;
    for (uint32_t first = 0; first < count; first += BLOCK) {
        uint32_t rows = count - first < BLOCK ? count - first : BLOCK;
        float *x = position.x + first, *y = position.y + first, *vx = move.x + first, *vy = move.y + first;
        roll(&dice, match->entities + first, rows, options[OPTION_SEED].u32);
        find_nowhere(nowhere, x, y, vx, vy, rows);
        place(&chances, &dice, nowhere, x, y, vx, vy, bubbles ? unused : sprite.index + first, rows);
    }
    if (bubbles)
        colour(match->entities, sprite.colour, count, options[OPTION_SEED].u32);
}
