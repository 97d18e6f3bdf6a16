/* bubbles.h - the game of sprites and bubbles without an engine, three times: as the slides of A. Pranckevicius,
 * "Entity Component Systems & Data Oriented Design" (2018) have it first, and as they have it last; and with a grid.
 *
 * The first and the last version are ports to C in our own words. The ports do what their originals do, in the same
 * order and with the same arithmetic, and no better: the difference between the two is the subject of the slides. The
 * version with a grid does by hand what the plugin does with the engine. All versions begin with the same entities, and
 * so does the engine; bubbles come first. So all fill the same frames, bit for bit, which cases_bubbles.c checks before
 * it measures.
 *
 * Not here: freeing a part of a game; a game is freed as a whole.
 */
#ifndef BENCH_BUBBLES_H
#define BENCH_BUBBLES_H

#include <components/sprite.h>

/* An entity at the beginning. */
typedef struct game_entity_t {
    float x, y, vx, vy;
    bp_vec3_t colour;
    int32_t index;
    float scale;
    float distance; /* above 0: a bubble */
} game_entity_t;

typedef struct game_bounds_t {
    float low_x, high_x, low_y, high_y;
} game_bounds_t;

#define GAME_ZOOM 0.05f

/* bubbles_objects.c: an allocation for each object, its list and each component; virtual calls; components
 * found by casting. */
typedef struct objects_t objects_t;
objects_t *objects_create(const game_entity_t *entities, uint32_t count, game_bounds_t bounds);
void objects_destroy(objects_t *game);

/* One step; fills a frame, and returns how many sprites it has. */
uint32_t objects_step(objects_t *game, float dt, bp_sprite_t *frame);

/* bubbles_arrays.c: one array for each component, over all entities. */
typedef struct arrays_t arrays_t;
arrays_t *arrays_create(const game_entity_t *entities, uint32_t count, game_bounds_t bounds);
void arrays_destroy(arrays_t *game);
uint32_t arrays_step(arrays_t *game, float dt, bp_sprite_t *frame);

/* bubbles_grid.c: plain C with the grid of plugins/bubbles. */
typedef struct grid_t grid_t;
grid_t *grid_create(const game_entity_t *entities, uint32_t count, game_bounds_t bounds);
void grid_destroy(grid_t *game);
uint32_t grid_step(grid_t *game, float dt, bp_sprite_t *frame);

#endif
