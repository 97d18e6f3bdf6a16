/* avoid.c - the system bubbles_avoid: a sprite that is nearer to a bubble than the bubble's distance turns back.
 *
 * One sprite after another meets all bubbles in their order, each time at the place where the bubble before
 * has put it: its velocity is turned round, it goes back a little more than it came, and takes the bubble's
 * colour. Results are those of the plain loop over all bubbles, bit for bit; the grid
 * only leaves out bubbles that are too far away to matter.
 *
 * Cells are computed for a block of sprites at a time, by a loop that the compiler turns into vectors; a
 * second loop picks the sprites in occupied cells without a branch, since they follow no pattern that a branch
 * predictor could learn.
 */
#include "bubbles.h"

enum { BLOCK = 1024 };

typedef struct sprites_t {
    float *x, *y, *vx, *vy;
    bp_vec3_t *colour;
    const bp_entity_t *entities;
} sprites_t;

BP_WIDEST
static void find_cells(grid_map_t map, const float *restrict x, const float *restrict y,
                       uint32_t *restrict cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cells[i] = bubbles_cell(&map, x[i], y[i]);
}

static uint32_t pick(const bubbles_grid_t *grid, const uint32_t *cells, uint32_t count, uint16_t *picked)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        picked[found] = (uint16_t)i;
        found += grid->occupied[cells[i]];
    }
    return found;
}

static void turn_back(const sprites_t *s, uint32_t row, const bubble_t *bubble, float dt)
{
    s->vx[row] = -s->vx[row];
    s->vy[row] = -s->vy[row];
    s->x[row] += s->vx[row] * dt * 1.1f;
    s->y[row] += s->vy[row] * dt * 1.1f;
    s->colour[row] = bubble->colour;
}

/* Of the cell's bubbles, the first from number `from` on that the sprite is too near to; or BP_NONE. */
static uint32_t next_hit(const bubbles_grid_t *grid, uint32_t cell, float x, float y, uint32_t from)
{
    for (uint32_t e = grid->first[cell]; e < grid->first[cell + 1]; e++) {
        const bubble_t *bubble = &grid->bubbles[grid->entries[e]];
        float dx = x - bubble->x, dy = y - bubble->y;
        if (dx * dx + dy * dy < bubble->distance2 && grid->entries[e] >= from)
            return grid->entries[e];
    }
    return BP_NONE;
}

static void tell(bubbles_bounces_t *told, const sprites_t *s, uint32_t row)
{
    if (told->count == BOUNCES_TOGETHER)
        bubbles_bounces_send(told);
    told->who[told->count] = s->entities[row];
    told->place[told->count] = (bp_vec2_t){s->x[row], s->y[row]};
    told->colour[told->count++] = s->colour[row];
}

/* `told` is NULL where bounces are not sent. */
static void meet(const bubbles_grid_t *grid, const sprites_t *s, uint32_t row, uint32_t cell, float dt,
                 bubbles_bounces_t *told)
{
    uint32_t hit = next_hit(grid, cell, s->x[row], s->y[row], 0);
    while (hit != BP_NONE) {
        turn_back(s, row, &grid->bubbles[hit], dt);
        if (told != NULL)
            tell(told, s, row);
        cell = bubbles_cell(&grid->map, s->x[row], s->y[row]);
        hit = next_hit(grid, cell, s->x[row], s->y[row], hit + 1);
    }
}

void bubbles_avoid_run(const bp_match_t *match, uint32_t count)
{
    enum { POSITION, MOVE, SPRITE, AVOID, BOUNCES };
    const bubbles_avoid_t *avoid = match->system->state;
    const bubbles_grid_t *grid = avoid->bubbles->state;
    BP_COLUMNS(struct plane, position, match->columns[POSITION]);
    BP_COLUMNS(struct plane, move, match->columns[MOVE]);
    BP_COLUMNS(struct sprite_colour, sprite, match->columns[SPRITE]);
    sprites_t sprites = {.x = position.x, .y = position.y, .vx = move.x, .vy = move.y, .colour = sprite.colour,
                         .entities = match->entities};
    bubbles_bounces_t told;
    uint32_t cells[BLOCK];
    uint16_t picked[BLOCK];
    float dt = (float)match->step->dt;
    if (grid->count == 0)
        return;
    told.avoid = avoid;
    told.commands = match->step->commands;
    told.count = 0;
    bubbles_bounces_t *telling = match->columns[BOUNCES] != NULL ? &told : NULL;
    for (uint32_t first = 0; first < count; first += BLOCK) {
        uint32_t rows = count - first < BLOCK ? count - first : BLOCK;
        find_cells(grid->map, sprites.x + first, sprites.y + first, cells, rows);
        uint32_t found = pick(grid, cells, rows, picked);
        for (uint32_t i = 0; i < found; i++)
            meet(grid, &sprites, first + picked[i], cells[picked[i]], dt, telling);
    }
    bubbles_bounces_send(&told);
}
