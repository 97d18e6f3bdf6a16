/* conformance_memory.c - a component that gets no memory: each allocation fails once, and nothing is half done.
 *
 * A refused call leaves as many instances as before; the same call succeeds once memory is there.
 */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- out of memory --------------------------------------------------------------------------------- */

enum { MEMORY_COUNT = 300 };

/* Bring the component into worlds while one allocation after another fails. */
static void starve_start(conformance_t *c)
{
    for (uint64_t n = 1; n < CONFORMANCE_CALLS; n++) {
        bp_world_o *world = bp_world_create(c->host, &(bp_world_desc_t){.name = "hungry"});
        EXPECT(c, world != NULL, "no world can be had");
        c->memory.calls = 0;
        c->memory.fail_at = n;
        conformance_forget_error(c);
        bp_result_t result = bp_world_use_component(world, c->subject->component);
        bool reached = c->memory.calls >= n;
        c->memory.fail_at = 0;
        bool there = c->api->world->component(world, c->subject->component) != BP_NONE;
        bp_world_destroy(world);
        EXPECT(c, there == (result == BP_OK),
               "allocation %u fails at the start: result %d, but it is %s the world", (unsigned)n, result,
               there ? "in" : "not in");
        if (!reached)
            return;
    }
    conformance_complain(c, "a start takes no end of allocations");
}

typedef struct hungry_t {
    bp_world_o *world;
    uint32_t key, companion_key, prototype;
    bp_entity_t *e; /* MEMORY_COUNT with the companion */
} hungry_t;

static hungry_t hungry_world(conformance_t *c)
{
    hungry_t h = {.world = conformance_world(c, "hungry")};
    h.key = conformance_key(c, h.world, "");
    h.e = conformance_new(c, MEMORY_COUNT * sizeof *h.e);
    EXPECT_OK(c, c->api->world->prototype(h.world, &h.key, 1, &h.prototype));
    EXPECT_OK(c, c->api->entity->create(c->host, h.e, MEMORY_COUNT));
    return h;
}

void conformance_starve(conformance_t *c, uint64_t n)
{
    c->memory.calls = 0;
    c->memory.fail_at = n;
    conformance_forget_error(c);
}

bool conformance_feed(conformance_t *c, uint64_t n)
{
    c->memory.fail_at = 0;
    return c->memory.calls >= n;
}

/* Create, then add, in worlds that are new each time, so that every allocation of both calls is made to fail once. */
static bool starve_instances(conformance_t *c, uint64_t n)
{
    hungry_t h = hungry_world(c);
    bp_entity_t *made = conformance_new(c, MEMORY_COUNT * sizeof *made);
    uint32_t before = c->api->entity->count(c->host), number = (uint32_t)n;
    conformance_starve(c, n);
    bp_result_t result = c->api->world->create(h.world, h.prototype, made, MEMORY_COUNT);
    bool reached = conformance_feed(c, n);
    uint32_t expected = result == BP_OK ? MEMORY_COUNT : 0, count = conformance_count(c, h.world);
    EXPECT(c, result == BP_OK || bp_host_error(c->host)[0] != '\0', "a create that fails leaves no sentence");
    EXPECT(c, count == expected, "allocation %u fails in a create (result %d): %u instances", number, result,
           count);
    EXPECT(c, c->api->entity->count(c->host) == before + expected,
           "allocation %u fails in a create: entities are left", number);
    conformance_starve(c, n);
    result = c->api->world->add(h.world, h.key, h.e, MEMORY_COUNT);
    reached = conformance_feed(c, n) || reached;
    expected += result == BP_OK ? MEMORY_COUNT : 0;
    count = conformance_count(c, h.world);
    uint32_t has = c->api->world->has(h.world, h.key, h.e, MEMORY_COUNT, NULL);
    EXPECT(c, result == BP_OK || bp_host_error(c->host)[0] != '\0', "an add that fails leaves no sentence");
    EXPECT(c, count == expected, "allocation %u fails in an add (result %d): %u instances instead of %u",
           number, result, count, expected);
    EXPECT(c, has == (result == BP_OK ? MEMORY_COUNT : 0),
           "allocation %u fails in an add (result %d): %u have it", number, result, has);
    bp_world_destroy(h.world);
    c->api->entity->destroy(c->host, h.e, MEMORY_COUNT);
    c->api->entity->destroy(c->host, made, MEMORY_COUNT);
    return reached;
}

static void expect_batch(conformance_t *c, const bp_entity_t *e, const conformance_property_t *p,
                         uint64_t seed, const char *when)
{
    conformance_value_t v;
    for (uint32_t i = 0; i < MEMORY_COUNT; i++) {
        conformance_value(c, p, seed == 0 ? 0 : seed + i, &v);
        conformance_expect_value(c, c->world, e[i], "", p, &v.value, when);
    }
}

/* A batch of values while one allocation after another fails: a batch that is refused for want of memory must have
 * changed nothing. */
static void starve_property(conformance_t *c, const bp_entity_t *e, const conformance_property_t *p)
{
    conformance_value_t *values = conformance_new(c, MEMORY_COUNT * sizeof *values);
    bp_property_t property = conformance_resolve(c, c->world, e[0], "", p);
    uint64_t seed = 0;
    for (uint64_t n = 1; n < CONFORMANCE_CALLS; n++) {
        for (uint32_t i = 0; i < MEMORY_COUNT; i++)
            conformance_value(c, p, n * MEMORY_COUNT + i + 1, &values[i]);
        conformance_starve(c, n);
        bp_result_t result =
            c->api->property->set(c->world, &property, e, MEMORY_COUNT, &values[0].value, sizeof *values);
        bool reached = conformance_feed(c, n);
        if (result == BP_OK)
            seed = n * MEMORY_COUNT + 1;
        EXPECT(c, result == BP_OK || bp_host_error(c->host)[0] != '\0',
               "setting '%s' fails without a sentence", p->declared.name);
        if (n % 16 == 1 || !reached || result == BP_OK)
            expect_batch(c, e, p, seed, "after a set while memory was short");
        if (!reached)
            return;
        n += n / 8; /* each allocation at first, then by leaps: a long batch of texts makes many allocations of the same
                       kind */
    }
    conformance_complain(c, "setting '%s' takes no end of allocations", p->declared.name);
}

void check_out_of_memory(conformance_t *c)
{
    starve_start(c);
    uint64_t n = 1;
    while (starve_instances(c, n))
        EXPECT(c, n++ < CONFORMANCE_CALLS, "creating takes no end of allocations");
    bp_entity_t *e = conformance_create(c, MEMORY_COUNT);
    for (uint32_t i = 0; i < c->property_count; i++) {
        if (conformance_is_writable(&c->properties[i]))
            starve_property(c, e, &c->properties[i]);
    }
}
