/* bubbles_grid.c - the game in plain C as one would write it for speed once: the plugin's grid, without an engine.
 *
 * One array for each number of a sprite, the bubbles in arrays of their own, and the same idea as in
 * plugins/bubbles: a grid of 128 x 128 cells lists the bubbles whose square touches a cell, so that a sprite in an
 * empty cell is done after one look. The game moves, avoids and writes the frame in the plugin's order and with its
 * arithmetic, and so fills the same frame bit for bit.
 *
 * Not here: room that grows, grids of other resolution, writing past the caches.
 */
#include "bubbles.h"

#include "worlds.h"

#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST
#endif

enum { SIDE = 128, CELLS = SIDE * SIDE, MOST_ENTRIES = 1 << 18, BLOCK = 1024 };

typedef struct numbers_t {
    float *x, *y, *vx, *vy, *scale;
    bp_vec3_t *colour;
    int32_t *index;
    uint32_t count;
} numbers_t;

struct grid_t {
    game_bounds_t bounds;
    numbers_t bubbles, sprites;
    float *distance; /* of the bubbles */
    float per_x, per_y;
    uint8_t occupied[CELLS];
    uint32_t first[CELLS + 1];
    uint32_t *entries;
};

/* --- beginning and end -------------------------------------------------------------------------------- */

static void reserve(numbers_t *n, uint32_t count)
{
    n->x = worlds_memory(count, sizeof(float));
    n->y = worlds_memory(count, sizeof(float));
    n->vx = worlds_memory(count, sizeof(float));
    n->vy = worlds_memory(count, sizeof(float));
    n->scale = worlds_memory(count, sizeof(float));
    n->colour = worlds_memory(count, sizeof *n->colour);
    n->index = worlds_memory(count, sizeof *n->index);
}

static void release(numbers_t *n)
{
    void *const arrays[] = {n->x, n->y, n->vx, n->vy, n->scale, n->colour, n->index};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

static void append(numbers_t *n, const game_entity_t *e)
{
    uint32_t i = n->count++;
    n->x[i] = e->x, n->y[i] = e->y;
    n->vx[i] = e->vx, n->vy[i] = e->vy;
    n->scale[i] = e->scale;
    n->colour[i] = e->colour;
    n->index[i] = e->index;
}

grid_t *grid_create(const game_entity_t *entities, uint32_t count, game_bounds_t bounds)
{
    grid_t *game = worlds_memory(1, sizeof *game);
    game->bounds = bounds;
    game->per_x = (float)SIDE / (bounds.high_x - bounds.low_x);
    game->per_y = (float)SIDE / (bounds.high_y - bounds.low_y);
    reserve(&game->bubbles, count);
    reserve(&game->sprites, count);
    game->distance = worlds_memory(count, sizeof(float));
    game->entries = worlds_memory(MOST_ENTRIES, sizeof *game->entries);
    for (uint32_t i = 0; i < count; i++) {
        if (entities[i].distance > 0)
            game->distance[game->bubbles.count] = entities[i].distance;
        append(entities[i].distance > 0 ? &game->bubbles : &game->sprites, &entities[i]);
    }
    return game;
}

void grid_destroy(grid_t *game)
{
    release(&game->bubbles);
    release(&game->sprites);
    free(game->distance);
    free(game->entries);
    free(game);
}

/* --- moving ------------------------------------------------------------------------------------------- */

WIDEST
static void advance(float *restrict position, float *restrict velocity, float dt, float low, float high, size_t count)
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

static void move(const numbers_t *n, const game_bounds_t *bounds, float dt)
{
    advance(n->x, n->vx, dt, bounds->low_x, bounds->high_x, n->count);
    advance(n->y, n->vy, dt, bounds->low_y, bounds->high_y, n->count);
}

/* --- the grid ----------------------------------------------------------------------------------------- */

typedef struct map_t {
    float low_x, low_y, per_x, per_y;
} map_t;

static inline uint32_t cell_at(const map_t *map, float x, float y)
{
    float a = (x - map->low_x) * map->per_x, b = (y - map->low_y) * map->per_y;
    a = a > 0 ? a : 0;
    b = b > 0 ? b : 0;
    a = a < SIDE - 1 ? a : SIDE - 1;
    b = b < SIDE - 1 ? b : SIDE - 1;
    return (uint32_t)((int32_t)a + (int32_t)b * SIDE);
}

/* Count the cells of a bubble's square (`fill` false), or enter it in their lists. */
static void enter(grid_t *game, const map_t *map, uint32_t bubble, bool fill)
{
    float x = game->bubbles.x[bubble], y = game->bubbles.y[bubble], reach = game->distance[bubble] * 1.0001f;
    uint32_t low = cell_at(map, x - reach, y - reach), high = cell_at(map, x + reach, y + reach);
    uint32_t columns = high % SIDE - low % SIDE + 1;
    for (uint32_t row = low; row <= high; row += SIDE) {
        for (uint32_t cell = row; cell < row + columns; cell++) {
            game->occupied[cell] = 1;
            if (fill)
                game->entries[--game->first[cell]] = bubble;
            else
                game->first[cell]++;
        }
    }
}

static void find(grid_t *game, const map_t *map)
{
    uint32_t sum = 0;
    memset(game->occupied, 0, sizeof game->occupied);
    memset(game->first, 0, sizeof game->first);
    for (uint32_t i = 0; i < game->bubbles.count; i++)
        enter(game, map, i, false);
    for (uint32_t cell = 0; cell <= CELLS; cell++)
        game->first[cell] = sum += game->first[cell];
    for (uint32_t i = game->bubbles.count; i > 0; i--)
        enter(game, map, i - 1, true);
}

/* --- avoiding ----------------------------------------------------------------------------------------- */

WIDEST
static void find_cells(map_t map, const float *restrict x, const float *restrict y, uint32_t *restrict cells,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        cells[i] = cell_at(&map, x[i], y[i]);
}

/* The first bubble of the cell from number `from` on that the sprite is too near to; or BP_NONE. */
static uint32_t next_hit(const grid_t *game, uint32_t cell, float x, float y, uint32_t from)
{
    for (uint32_t e = game->first[cell]; e < game->first[cell + 1]; e++) {
        uint32_t bubble = game->entries[e];
        float dx = x - game->bubbles.x[bubble], dy = y - game->bubbles.y[bubble], distance = game->distance[bubble];
        if (dx * dx + dy * dy < distance * distance && bubble >= from)
            return bubble;
    }
    return BP_NONE;
}

static void meet(const grid_t *game, const map_t *map, uint32_t i, uint32_t cell, float dt)
{
    const numbers_t *s = &game->sprites;
    uint32_t hit = next_hit(game, cell, s->x[i], s->y[i], 0);
    while (hit != BP_NONE) {
        s->vx[i] = -s->vx[i];
        s->vy[i] = -s->vy[i];
        s->x[i] += s->vx[i] * dt * 1.1f;
        s->y[i] += s->vy[i] * dt * 1.1f;
        s->colour[i] = game->bubbles.colour[hit];
        hit = next_hit(game, cell_at(map, s->x[i], s->y[i]), s->x[i], s->y[i], hit + 1);
    }
}

static void avoid(const grid_t *game, const map_t *map, float dt)
{
    const numbers_t *s = &game->sprites;
    uint32_t cells[BLOCK];
    uint16_t picked[BLOCK];
    for (uint32_t first = 0; first < s->count; first += BLOCK) {
        uint32_t count = s->count - first < BLOCK ? s->count - first : BLOCK, found = 0;
        find_cells(*map, s->x + first, s->y + first, cells, count);
        for (uint32_t i = 0; i < count; i++) {
            picked[found] = (uint16_t)i;
            found += game->occupied[cells[i]];
        }
        for (uint32_t i = 0; i < found; i++)
            meet(game, map, first + picked[i], cells[picked[i]], dt);
    }
}

/* --- a step ------------------------------------------------------------------------------------------- */

static bp_sprite_t *draw(const numbers_t *n, bp_sprite_t *to)
{
    for (uint32_t i = 0; i < n->count; i++)
        to[i] = (bp_sprite_t){.x = n->x[i] * GAME_ZOOM,
                              .y = n->y[i] * GAME_ZOOM,
                              .scale = n->scale[i] * GAME_ZOOM,
                              .red = n->colour[i].x,
                              .green = n->colour[i].y,
                              .blue = n->colour[i].z,
                              .index = (float)n->index[i]};
    return to + n->count;
}

uint32_t grid_step(grid_t *game, float dt, bp_sprite_t *frame)
{
    const map_t map = {game->bounds.low_x, game->bounds.low_y, game->per_x, game->per_y};
    move(&game->bubbles, &game->bounds, dt);
    move(&game->sprites, &game->bounds, dt);
    find(game, &map);
    avoid(game, &map, dt);
    return (uint32_t)(draw(&game->sprites, draw(&game->bubbles, frame)) - frame);
}
