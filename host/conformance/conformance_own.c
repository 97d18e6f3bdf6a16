/* conformance_own.c - checks of a component that belongs to worlds (BP_COMPONENT_WORLD): there is one in each world
 * that uses it, with values that can be set, saved and reloaded, and no entity gets it.
 *
 * The other questions make entities with the component under test, and do not ask these components.
 */
#include "conformance.h"

enum { SEED = 41, OTHER_SEED = 42, STEPS = 3 };

static bp_entity_t own_of(conformance_t *c, bp_world_o *world, const char *when)
{
    bp_entity_t own = c->api->world->own(world);
    EXPECT(c, own.id != 0, "%s: no entity bears what belongs to the world", when);
    uint32_t count = conformance_count(c, world);
    EXPECT(c, count == 1, "%s: the world has it %u times", when, count);
    return own;
}

void check_belongs_to_worlds(conformance_t *c)
{
    bp_entity_t own = own_of(c, c->world, "in use"), stranger;
    uint32_t prototype;
    EXPECT_OK(c, c->api->entity->create(c->host, &stranger, 1));
    EXPECT_REFUSED(c, BP_ERROR_ARGUMENT, c->api->world->add(c->world, c->key, &stranger, 1));
    EXPECT_REFUSED(c, BP_ERROR_ARGUMENT, c->api->world->remove(c->world, c->key, &own, 1));
    EXPECT_REFUSED(c, BP_ERROR_ARGUMENT, c->api->world->prototype(c->world, &c->key, 1, &prototype));
    EXPECT(c, c->api->entity->destroy(c->host, &own, 1) == 0, "the entity that bears it can be destroyed");
    conformance_dress(c, c->world, own, "", SEED);
    bp_world_o *second = conformance_world(c, "second");
    bp_entity_t other = own_of(c, second, "in a second world");
    conformance_dress(c, second, other, "", OTHER_SEED);
    conformance_expect_dressed(c, c->world, own, "", SEED, "a second world has it too");
    bp_world_destroy(second);
    conformance_expect_dressed(c, c->world, own, "", SEED, "after the second world ended");
    EXPECT_OK(c, bp_world_drop_component(c->world, c->subject->component));
    EXPECT_OK(c, bp_world_use_component(c->world, c->subject->component));
    c->key = conformance_key(c, c->world, "");
    own = own_of(c, c->world, "dropped and used again");
    conformance_dress(c, c->world, own, "", OTHER_SEED);
    for (uint32_t i = 0; i < STEPS; i++)
        EXPECT_OK(c, bp_world_step(c->world));
    EXPECT(c, bp_host_unload_plugin(c->host, c->subject->component) != BP_OK || conformance_count(c, c->world) == 0,
           "it stays when its plugin goes");
}

void check_worlds_are_saved_with_it(conformance_t *c)
{
    bp_entity_t own = own_of(c, c->world, "in use");
    bp_scene_o *scene;
    conformance_dress(c, c->world, own, "", SEED);
    EXPECT_OK(c, bp_scene_capture(c->world, &scene));
    conformance_dress(c, c->world, own, "", OTHER_SEED);
    bp_result_t result = bp_scene_restore(scene, c->world, 0);
    bp_scene_close(scene);
    EXPECT_OK(c, result);
    conformance_expect_dressed(c, c->world, own_of(c, c->world, "restored"), "", SEED, "restored");
}

void check_worlds_are_reloaded_with_it(conformance_t *c)
{
    conformance_reload_t *reload = conformance_reload_begin(c);
    bp_entity_t own = own_of(c, c->world, "in use");
    if (reload == NULL)
        return;
    conformance_dress(c, c->world, own, "", SEED);
    conformance_reload_make(c, reload);
    conformance_reload_expect(c, reload, own_of(c, c->world, "after the reload"), SEED);
    for (uint32_t i = 0; i < STEPS; i++)
        EXPECT_OK(c, bp_world_step(c->world));
}
