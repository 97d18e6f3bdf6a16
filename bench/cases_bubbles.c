/* cases_bubbles.c - one million sprites and twenty bubbles: a step, the start, the memory.
 *
 * The subject is the plugin bubbles as config/bubbles.ini sets it up, through the functions that an embedder
 * has. Its floor is plain C with the same grid (bubbles_grid.c); the slides' last version (bubbles_arrays.c) and
 * their first one (bubbles_objects.c) stand beside it. All games begin with the entities that the plugin has placed,
 * and before anything is measured the games take a few steps and must agree on every bit of the frame.
 *
 * One figure is for one sprite: nanoseconds each are milliseconds a step at a million. The start is
 * everything from no host to the first frame: plugin loaded, entities made and placed, one step.
 */
#include "cases.h"

#include "bubbles.h"
#include "worlds.h"

#include <stdlib.h>
#include <string.h>

enum { BUBBLES = 20, AGREED_STEPS = 3 };

/* --- the engine's game ---------------------------------------------------------------------------------- */

static const game_bounds_t bounds = {-80, 80, -50, 50}; /* the plugin's defaults */

typedef struct engine_t {
    bench_world_t w;
    bp_manager_t *sprite;
    const bp_sprite_api *sprites;
} engine_t;

static void use_all(engine_t *g)
{
    static const char *const components[] = {"position", "move", "sprite", "avoid", "bubble"};
    static const char *const systems[] = {"bubbles_place", "bubbles_move",  "bubbles_find",
                                          "bubbles_avoid", "bubbles_frame", "bubbles_draw"};
    for (size_t i = 0; i < sizeof components / sizeof *components; i++)
        worlds_must(g->w.host, bp_world_use_component(g->w.world, components[i]), "bringing in a component");
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        worlds_must(g->w.host, bp_world_use_system(g->w.world, systems[i]), "bringing in a system");
}

static void create(engine_t *g, const char *last, bp_entity_t *entities, uint32_t count)
{
    uint32_t keys[] = {worlds_key(&g->w, "position"), worlds_key(&g->w, "move"), worlds_key(&g->w, BP_SPRITE),
                       worlds_key(&g->w, last)};
    uint32_t prototype;
    worlds_must(g->w.host, g->w.api->world->prototype(g->w.world, keys, 4, &prototype), "making a prototype");
    worlds_must(g->w.host, g->w.api->world->create(g->w.world, prototype, entities, count),
                "creating entities");
}

static void set_all(engine_t *g, const bp_entity_t *entities, uint32_t count, const char *component,
                    const char *name, const void *value)
{
    bp_property_t property;
    const bp_property_api *api = g->w.api->property;
    worlds_must(g->w.host, api->resolve(g->w.world, entities[0], component, name, &property), "a property");
    worlds_must(g->w.host, api->set(g->w.world, &property, entities, count, value, 0), "setting values");
}

/* Begin with no host, up to the first step, which places all sprites. */
static void engine_start(engine_t *g, uint32_t count, uint32_t threads)
{
    bp_entity_t *entities = malloc(count * sizeof *entities), bubbles[BUBBLES];
    const int32_t index = 5;
    const float scale = 2;
    memset(g, 0, sizeof *g);
    g->w.host = bp_host_create(&(bp_host_desc_t){.threads = threads});
    worlds_must(g->w.host, g->w.host == NULL || entities == NULL ? BP_ERROR_MEMORY : BP_OK,
                "creating a host");
    g->w.api = bp_host_api(g->w.host);
    worlds_must(g->w.host, bp_host_load_plugin(g->w.host, BENCH_PLUGIN_DIR "/bubbles", NULL, 0),
                "loading bubbles");
    g->w.world = bp_world_create(g->w.host, &(bp_world_desc_t){.name = "main", .step_rate = 60});
    worlds_must(g->w.host, g->w.world == NULL ? BP_ERROR_MEMORY : BP_OK, "creating a world");
    use_all(g);
    create(g, "bubble", bubbles, BUBBLES);
    set_all(g, bubbles, BUBBLES, BP_SPRITE, "index", &index);
    set_all(g, bubbles, BUBBLES, BP_SPRITE, "scale", &scale);
    create(g, "avoid", entities, count);
    g->sprite = g->w.api->world->manager(g->w.world, g->w.api->world->component(g->w.world, BP_SPRITE));
    g->sprites = g->w.api->registry->find(g->w.host, BP_SPRITE_API, 1);
    worlds_must(g->w.host, bp_world_step(g->w.world), "the first step");
    free(entities);
}

/* Copy the values in the engine's rows, in the order of the rows, which is that of the frame. */
static game_entity_t *copy_entities(const engine_t *g, uint32_t count)
{
    game_entity_t *all = worlds_memory(count, sizeof *all);
    const bp_world_api *api = g->w.api->world;
    const char *const types[] = {"position", "move", BP_SPRITE, "bubble"};
    bp_run_t run;
    for (uint32_t t = 0; t < 4; t++) {
        uint32_t at = 0, cursor = 0;
        while (worlds_next_run(g->w.world, api->component(g->w.world, types[t]), &cursor, &run) != 0) {
            for (uint32_t i = 0; i < run.count; i++, at++) {
                game_entity_t *e = &all[at];
                if (t == 0)
                    e->x = BP_COLUMN(&run, float, 0)[i], e->y = BP_COLUMN(&run, float, 1)[i];
                else if (t == 1)
                    e->vx = BP_COLUMN(&run, float, 0)[i], e->vy = BP_COLUMN(&run, float, 1)[i];
                else if (t == 3)
                    e->distance = BP_COLUMN(&run, float, 0)[i];
                if (t != 2)
                    continue;
                e->colour = BP_COLUMN(&run, bp_vec3_t, BP_SPRITE_COLOUR)[i];
                e->index = BP_COLUMN(&run, int32_t, BP_SPRITE_INDEX)[i];
                e->scale = BP_COLUMN(&run, float, BP_SPRITE_SCALE)[i];
            }
        }
    }
    return all;
}

/* --- a step --------------------------------------------------------------------------------------------- */

typedef struct game_t {
    engine_t engine, engine_on_two;
    objects_t *objects;
    arrays_t *arrays;
    grid_t *grid;
    bp_sprite_t *frame; /* of the games without an engine */
} game_t;

static void objects(void *state)
{
    game_t *g = state;
    objects_step(g->objects, 1.0f / 60, g->frame);
}

static void arrays(void *state)
{
    game_t *g = state;
    arrays_step(g->arrays, 1.0f / 60, g->frame);
}

static void grid(void *state)
{
    game_t *g = state;
    grid_step(g->grid, 1.0f / 60, g->frame);
}

static void engine(void *state)
{
    game_t *g = state;
    worlds_must(g->engine.w.host, bp_world_step(g->engine.w.world), "a step");
}

static void engine_on_two(void *state)
{
    game_t *g = state;
    worlds_must(g->engine_on_two.w.host, bp_world_step(g->engine_on_two.w.world), "a step");
}

static void must_agree(const game_t *g, uint32_t count, const char *who)
{
    uint32_t sprites;
    const bp_sprite_t *frame = g->engine.sprites->frame(g->engine.sprite, &sprites);
    if (sprites == count && memcmp(frame, g->frame, count * sizeof *frame) == 0)
        return;
    fprintf(stderr, "bench: the engine's frame and that of the %s differ\n", who);
    exit(1);
}

static void *setup(uint32_t size)
{
    game_t *g = worlds_memory(1, sizeof *g);
    uint32_t count = size + BUBBLES;
    engine_start(&g->engine, size, 1);
    engine_start(&g->engine_on_two, size, 2);
    game_entity_t *entities = copy_entities(&g->engine, count);
    g->objects = objects_create(entities, count, bounds);
    g->arrays = arrays_create(entities, count, bounds);
    g->grid = grid_create(entities, count, bounds);
    g->frame = worlds_memory(count, sizeof *g->frame);
    free(entities);
    for (uint32_t i = 0; i < AGREED_STEPS; i++) {
        engine(g);
        objects(g);
        must_agree(g, count, "objects");
        arrays(g);
        must_agree(g, count, "arrays");
        grid(g);
        must_agree(g, count, "grid");
    }
    return g;
}

static void teardown(void *state)
{
    game_t *g = state;
    bp_host_destroy(g->engine.w.host);
    bp_host_destroy(g->engine_on_two.w.host);
    objects_destroy(g->objects);
    arrays_destroy(g->arrays);
    grid_destroy(g->grid);
    free(g->frame);
    free(g);
}

const group_t group_bubbles = {
    .name = "bubbles/step",
    .setup = setup,
    .teardown = teardown,
    .sides = {
        {.name = "arrays", .run = arrays},
        {.name = "objects", .floor = "arrays", .run = objects},
        {.name = "grid", .floor = "arrays", .run = grid},
        {.name = "engine", .floor = "grid", .run = engine,
         .bound = {.kind = BOUND_RATIO, .limit = 0.25, .from_size = 1000000, .than = "arrays"}},
        {.name = "engine_on_two_threads", .floor = "grid", .run = engine_on_two},
    },
};

/* --- the start ------------------------------------------------------------------------------------------ */

typedef struct start_t {
    engine_t engine;
    uint32_t size;
} start_t;

static void *setup_start(uint32_t size)
{
    start_t *s = worlds_memory(1, sizeof *s);
    s->size = size;
    return s;
}

static void end_game(void *state)
{
    start_t *s = state;
    if (s->engine.w.host != NULL)
        bp_host_destroy(s->engine.w.host);
    s->engine.w.host = NULL;
    machine_release();
}

static void teardown_start(void *state)
{
    end_game(state);
    free(state);
}

static void start(void *state)
{
    start_t *s = state;
    engine_start(&s->engine, s->size, 1);
}

const group_t group_bubbles_start = {
    .name = "bubbles/start",
    .setup = setup_start,
    .teardown = teardown_start,
    .sides = {{.name = "engine", .prepare = end_game, .run = start,
               .bound = AT_MOST_FROM(60, 1000000)}},
};

/* --- memory --------------------------------------------------------------------------------------------- */

/* All that the host holds after a step: plugin, rows, records, frame, grid. */
static double bytes_per_sprite(uint32_t size)
{
    engine_t engine;
    engine_start(&engine, size, 1);
    double bytes = (double)worlds_host_bytes(&engine.w);
    bp_host_destroy(engine.w.host);
    return bytes / size;
}

const gauge_t gauge_bubbles = {
    .name = "bubbles/memory",
    .counter = "bytes_per_sprite",
    .measure = bytes_per_sprite,
    .bound = AT_MOST_FROM(96, 1000000),
};
