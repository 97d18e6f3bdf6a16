/* bubbles_arrays.c - the game as the slides have it last: a structure of arrays.
 *
 * One array for each component, as long as there are entities, flags that say which components an entity has, a
 * list of ids for each of the two systems, and names. Positions are pairs, colours and the rest of a sprite
 * lie together. As in the original, the loop that moves takes its place in the list for the id. (There the
 * entity with the bounds comes first, so that all places are off by one and the last bubble stands still; here the
 * entity with the bounds comes last.)
 */
#include "bubbles.h"

#include "worlds.h"

#include <stdlib.h>
#include <string.h>

enum { HAS_POSITION = 1, HAS_SPRITE = 2, HAS_BOUNDS = 4, HAS_MOVE = 8 };
enum { NAME_BYTES = 32 }; /* of a std::string */

typedef struct position_t { float x, y; } position_t;
typedef struct move_t { float vx, vy; } move_t;
typedef struct look_t {
    float red, green, blue;
    int32_t index;
    float scale;
} look_t;

struct arrays_t {
    char (*names)[NAME_BYTES];
    position_t *positions;
    look_t *looks;
    game_bounds_t *bounds;
    move_t *moves;
    int32_t *flags;
    size_t count, with_bounds;

    size_t *moving, moving_count;
    size_t *avoiding, avoiding_count;
    size_t *avoided, avoided_count;
    float *distances; /* squared */
};

static void reserve(arrays_t *game, size_t count)
{
    game->names = worlds_memory(count, sizeof *game->names);
    game->positions = worlds_memory(count, sizeof *game->positions);
    game->looks = worlds_memory(count, sizeof *game->looks);
    game->bounds = worlds_memory(count, sizeof *game->bounds);
    game->moves = worlds_memory(count, sizeof *game->moves);
    game->flags = worlds_memory(count, sizeof *game->flags);
    game->moving = worlds_memory(count, sizeof *game->moving);
    game->avoiding = worlds_memory(count, sizeof *game->avoiding);
    game->avoided = worlds_memory(count, sizeof *game->avoided);
    game->distances = worlds_memory(count, sizeof *game->distances);
}

static size_t add(arrays_t *game, const char *name)
{
    strcpy(game->names[game->count], name);
    return game->count++;
}

static void add_sprite(arrays_t *game, const game_entity_t *e)
{
    size_t id = add(game, e->distance > 0 ? "toavoid" : "object");
    game->positions[id] = (position_t){e->x, e->y};
    game->looks[id] = (look_t){e->colour.x, e->colour.y, e->colour.z, e->index, e->scale};
    game->moves[id] = (move_t){e->vx, e->vy};
    game->flags[id] = HAS_POSITION | HAS_SPRITE | HAS_MOVE;
    game->moving[game->moving_count++] = id;
    if (e->distance > 0) {
        game->distances[game->avoided_count] = e->distance * e->distance;
        game->avoided[game->avoided_count++] = id;
    } else {
        game->avoiding[game->avoiding_count++] = id;
    }
}

arrays_t *arrays_create(const game_entity_t *entities, uint32_t count, game_bounds_t bounds)
{
    arrays_t *game = worlds_memory(1, sizeof *game);
    reserve(game, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++)
        add_sprite(game, &entities[i]);
    game->with_bounds = add(game, "bounds");
    game->bounds[game->with_bounds] = bounds;
    game->flags[game->with_bounds] = HAS_BOUNDS;
    return game;
}

void arrays_destroy(arrays_t *game)
{
    void *const arrays[] = {game->names, game->positions, game->looks, game->bounds, game->moves,
                            game->flags, game->moving, game->avoiding, game->avoided, game->distances};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(game);
}

static void move(arrays_t *game, float dt)
{
    const game_bounds_t *bounds = &game->bounds[game->with_bounds];
    for (size_t i = 0; i < game->moving_count; i++) {
        position_t *at = &game->positions[i];
        move_t *way = &game->moves[i];
        at->x += way->vx * dt;
        at->y += way->vy * dt;
        if (at->x < bounds->low_x) {
            way->vx = -way->vx;
            at->x = bounds->low_x;
        }
        if (at->x > bounds->high_x) {
            way->vx = -way->vx;
            at->x = bounds->high_x;
        }
        if (at->y < bounds->low_y) {
            way->vy = -way->vy;
            at->y = bounds->low_y;
        }
        if (at->y > bounds->high_y) {
            way->vy = -way->vy;
            at->y = bounds->high_y;
        }
    }
}

static float distance2(const position_t *a, const position_t *b)
{
    float dx = a->x - b->x, dy = a->y - b->y;
    return dx * dx + dy * dy;
}

static void turn_back(arrays_t *game, size_t id, float dt)
{
    position_t *at = &game->positions[id];
    move_t *way = &game->moves[id];
    way->vx = -way->vx;
    way->vy = -way->vy;
    at->x += way->vx * dt * 1.1f;
    at->y += way->vy * dt * 1.1f;
}

static void avoid(arrays_t *game, float dt)
{
    for (size_t i = 0; i < game->avoiding_count; i++) {
        size_t id = game->avoiding[i];
        const position_t *at = &game->positions[id];
        for (size_t k = 0; k < game->avoided_count; k++) {
            size_t bubble = game->avoided[k];
            if (distance2(at, &game->positions[bubble]) < game->distances[k]) {
                turn_back(game, id, dt);
                game->looks[id].red = game->looks[bubble].red;
                game->looks[id].green = game->looks[bubble].green;
                game->looks[id].blue = game->looks[bubble].blue;
            }
        }
    }
}

uint32_t arrays_step(arrays_t *game, float dt, bp_sprite_t *frame)
{
    uint32_t count = 0;
    move(game, dt);
    avoid(game, dt);
    for (size_t i = 0; i < game->count; i++) {
        if ((game->flags[i] & HAS_POSITION) == 0 || (game->flags[i] & HAS_SPRITE) == 0)
            continue;
        bp_sprite_t *sprite = &frame[count++];
        const look_t *look = &game->looks[i];
        sprite->x = game->positions[i].x * GAME_ZOOM;
        sprite->y = game->positions[i].y * GAME_ZOOM;
        sprite->scale = look->scale * GAME_ZOOM;
        sprite->red = look->red;
        sprite->green = look->green;
        sprite->blue = look->blue;
        sprite->index = (float)look->index;
    }
    return count;
}
