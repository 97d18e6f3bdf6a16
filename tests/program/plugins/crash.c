/* crash.c - a component that crashes in the step that the option `at` names, in the way that `how` names. */
#include <bp_plugin.h>

#include <stdlib.h>
#include <string.h>

enum { AT, HOW };

struct crash { float *age; };

static const bp_field_t fields[] = {{BP_FIELD_OF(struct crash, age)}};

static const bp_field_t options[] = {
    [AT] = {.name = "at", .type = BP_U64, .initial = "3"},
    [HOW] = {.name = "how", .type = BP_U8, .values = "address divide abort stack host nothing twice",
             .initial = "address"},
};

static uint32_t deeper(volatile uint32_t *number)
{
    volatile char room[1000];
    room[*number % sizeof room] = 1;
    return *number == 0 ? 0 : deeper(number) + (uint32_t)room[1];
}

static volatile uint32_t zero, one = 1;

/* The C library looks at blocks of that size while the heap is locked. */
static void free_twice(void)
{
    uintptr_t volatile address = (uintptr_t)malloc(50000);
    free((void *)address);
    free((void *)address);
}

static void fail(const bp_run_t *run, uint8_t how)
{
    if (how == 0)
        *(volatile int *)((uintptr_t)zero + 16) = 1; /* the line that tests look for */
    else if (how == 1)
        one /= zero;
    else if (how == 2)
        abort();
    else if (how == 3)
        zero = deeper(&one);
    else if (how == 4)
        run->manager->api->world->name((bp_world_o *)((uintptr_t)zero + 16));
    else if (how == 6)
        free_twice();
}

static void simulate(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct crash, c, run->columns);
    const bp_value_t *given = run->manager->plugin->options;
    for (uint32_t i = 0; i < count; i++)
        c.age[i] += 1;
    if (run->step->number == given[AT].u64)
        fail(run, given[HOW].u8);
}

static const bp_component_i components[] = {{.fields = BP_LIST(fields), .simulate = simulate}};

#ifndef VERSION
#define VERSION "1.0"
#endif

BP_PLUGIN(crash) = {.version = VERSION, .components = BP_LIST(components), .options = BP_LIST(options)};
