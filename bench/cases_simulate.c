/* cases_simulate.c - a step of point_mass, and what a step costs beside the loop.
 *
 * The subject is bp_world_step of a world that has nothing but point masses: schedule, clocks, the call
 * into the library and gc included. Its floor runs the same loop over the very same columns; a second one
 * over arrays of its own from malloc shows what the layout of the columns gives or takes.
 */
#include "cases.h"

#include "floors.h"
#include "worlds.h"

#include <components/point_mass.h>
#include <stdlib.h>
#include <string.h>

typedef struct simulate_t {
    bench_world_t w;
    bp_entity_t *entities;
    bp_run_t run;
    float *own[3]; /* position, velocity, acceleration */
    float dt;
} simulate_t;

static void fill_randomly(float *values, size_t count, float scale, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = ((float)bp_random_below(&seed, 2001) - 1000) * scale;
}

static void *setup(uint32_t size)
{
    static const uint32_t fields[] = {BP_POINT_MASS_POSITION, BP_POINT_MASS_VELOCITY,
                                      BP_POINT_MASS_ACCELERATION};
    simulate_t *s = worlds_memory(1, sizeof *s);
    worlds_create(&s->w, 0);
    s->entities = worlds_entities(&s->w, size);
    uint32_t cursor = 0;
    worlds_next_run(s->w.world, s->w.component, &cursor, &s->run);
    size_t floats = (size_t)3 * size;
    for (uint32_t i = 0; i < 3; i++) {
        s->own[i] = worlds_memory(floats, sizeof(float));
        fill_randomly(s->own[i], floats, i == 0 ? 0.1f : 0.001f, i + 1);
        memcpy(s->run.columns[fields[i]], s->own[i], floats * sizeof(float));
    }
    s->dt = (float)(1.0 / 60);
    return s;
}

static void teardown(void *state)
{
    simulate_t *s = state;
    for (uint32_t i = 0; i < 3; i++)
        free(s->own[i]);
    free(s->entities);
    worlds_destroy(&s->w);
    free(s);
}

static void loop_same_arrays(void *state)
{
    simulate_t *s = state;
    floor_simulate(BP_COLUMN(&s->run, float, BP_POINT_MASS_POSITION),
                   BP_COLUMN(&s->run, float, BP_POINT_MASS_VELOCITY),
                   BP_COLUMN(&s->run, float, BP_POINT_MASS_ACCELERATION), s->dt, (size_t)3 * s->run.count);
}

static void loop_own_arrays(void *state)
{
    simulate_t *s = state;
    floor_simulate(s->own[0], s->own[1], s->own[2], s->dt, (size_t)3 * s->run.count);
}

static void step(void *state)
{
    simulate_t *s = state;
    worlds_must(s->w.host, bp_world_step(s->w.world), "a step");
}

const group_t group_simulate = {
    .name = "simulate",
    .sizes = bench_wide_sizes,
    .setup = setup,
    .teardown = teardown,
    .sides = {
        {.name = "loop_same_arrays", .run = loop_same_arrays},
        {.name = "plugin", .floor = "loop_same_arrays", .run = step, .bound = AT_MOST_TIMES(1.05)},
        {.name = "loop_own_arrays", .floor = "loop_same_arrays", .run = loop_own_arrays},
    },
};
