/* cases_guard.c - the cost of the crash guard: for a call, and for a step.
 *
 * guard/call is one guarded call of a function that does nothing beside the same call through a pointer.
 * guard/step is the step of a world of point masses in a host with the guard and in one without; both step worlds
 * of their own with the same values.
 */
#include "cases.h"

#include "worlds.h"

#include "plugin/guard.h"

#include <stdlib.h>

typedef struct calls_t {
    memory_t memory;
    guard_t *guard;
    uint32_t count;
    void (*volatile call)(void *data);
    uint64_t done;
} calls_t;

static void do_nothing(void *data)
{
    uint64_t *done = data;
    (*done)++;
}

static void *setup_calls(uint32_t size)
{
    calls_t *c = worlds_memory(1, sizeof *c);
    error_text_t error = {.calls = NULL};
    memory_init(&c->memory, "guard", &(bp_allocator_i){0});
    worlds_must(NULL, guard_create(&c->memory, 1000, &error, &c->guard), "installing the guard");
    c->count = size;
    c->call = do_nothing;
    return c;
}

static void teardown_calls(void *state)
{
    calls_t *c = state;
    guard_destroy(c->guard);
    free(c);
}

static void call_plainly(void *state)
{
    calls_t *c = state;
    for (uint32_t i = 0; i < c->count; i++)
        c->call(&c->done);
}

static void call_guarded(void *state)
{
    calls_t *c = state;
    guard_crash_t crash;
    for (uint32_t i = 0; i < c->count; i++)
        guard_run(c->guard, c->call, &c->done, &crash);
}

static const uint32_t call_sizes[] = {10000, 0};

const group_t group_guard_call = {
    .name = "guard/call",
    .sizes = call_sizes,
    .setup = setup_calls,
    .teardown = teardown_calls,
    .sides = {
        {.name = "plain", .run = call_plainly},
        {.name = "guarded", .floor = "plain", .run = call_guarded, .bound = AT_MOST(100)},
    },
};

/* --- a step --------------------------------------------------------------------------------------------- */

typedef struct steps_t {
    bench_world_t plain, guarded;
    bp_entity_t *entities[2];
} steps_t;

static void *setup_steps(uint32_t size)
{
    steps_t *s = worlds_memory(1, sizeof *s);
    worlds_create(&s->plain, 0);
    worlds_create_guarded(&s->guarded);
    s->entities[0] = worlds_entities(&s->plain, size);
    s->entities[1] = worlds_entities(&s->guarded, size);
    return s;
}

static void teardown_steps(void *state)
{
    steps_t *s = state;
    free(s->entities[0]);
    free(s->entities[1]);
    worlds_destroy(&s->plain);
    worlds_destroy(&s->guarded);
    free(s);
}

static void step_plainly(void *state)
{
    steps_t *s = state;
    worlds_must(s->plain.host, bp_world_step(s->plain.world), "a step");
}

static void step_guarded(void *state)
{
    steps_t *s = state;
    worlds_must(s->guarded.host, bp_world_step(s->guarded.world), "a step");
}

static const uint32_t step_sizes[] = {1000, 10000, 100000, 0};

const group_t group_guard_step = {
    .name = "guard/step",
    .sizes = step_sizes,
    .setup = setup_steps,
    .teardown = teardown_steps,
    .sides = {
        {.name = "without", .run = step_plainly},
        {.name = "with", .floor = "without", .run = step_guarded, .bound = AT_MOST_TIMES_FROM(1.05, 10000)},
    },
};
