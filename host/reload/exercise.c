/* exercise.c - calls of those verbs of a candidate that no step happens to call.
 *
 * The world is used as its users would: through the store, properties and destruction, which call the verbs. A manager
 * may refuse, which is its right; but it has to be able to load what it has saved.
 */
#include "exercise.h"

#include "../plugin/registry.h"
#include "../plugin/verbs.h"
#include "../property/property.h"
#include "../store/store.h"

enum {
    MADE = 4,  /* entities of each component */
    MOST = 64, /* entities of the world whose properties are read and written */
};

/* --- properties --------------------------------------------------------------------------------------------------- */

/* Read every property, and write the value that was read, where code of the component is called for it: `get` and `set`
 * of own storage, `rows_set`. */
static void touch_properties(world_t *world, const manager_t *manager, const bp_entity_t *entities, uint32_t count)
{
    const component_t *component = manager->component;
    bool called = component->own_storage || component->rows.rows_set != NULL;
    for (uint32_t f = 0; f < component->field_count && called && count > 0; f++) {
        const field_t *field = &component->fields[f];
        bp_property_t property;
        size_t size = (size_t)count * field->size;
        void *values = memory_new(&world->memory, size);
        if (values != NULL &&
            property_resolve(world, entities[0], component->name, field->name, &property) == BP_OK &&
            property_get(world, &property, entities, count, values, field->size) == BP_OK &&
            (field->flags & BP_FIELD_READ_ONLY) == 0)
            property_set(world, &property, entities, count, values, field->size);
        memory_free(&world->memory, values, values == NULL ? 0 : size);
    }
}

/* Find some living entities, of the first run with the component that has rows. */
static uint32_t find_some(const world_t *world, uint32_t key, bp_entity_t *entities)
{
    const prototypes_t *p = &world->prototypes;
    uint32_t count = 0;
    for (uint32_t r = 0; r < world->run_count && count == 0; r++) {
        const run_t *run = world->runs[r];
        bool has = false;
        for (uint32_t at = run->prototype; at != 0; at = p->items[at].base)
            has = has || p->items[at].key == key;
        for (uint32_t row = 0; row < run->count && has && count < MOST; row++) {
            if (run_entities(run)[row].id != 0)
                entities[count++] = run_entities(run)[row];
        }
    }
    return count;
}

/* --- saving ------------------------------------------------------------------------------------------------------- */

/* Let a manager that begins anew load the state that the one at work has saved, and take its place. */
static bp_result_t load_anew(world_t *world, manager_t *manager, const void *data, size_t size)
{
    const component_t *component = manager->component;
    void *before = manager->verb.handed.state;
    manager->verb.handed.state = NULL;
    bp_result_t result = component->table.start == NULL ? BP_OK : verb_start(component, &manager->verb);
    if (result != BP_OK) {
        manager->verb.handed.state = before;
        return result;
    }
    world->base->error.text[0] = '\0';
    result = verb_load_saved(component, &manager->verb, component->table.version, data, size);
    void *now = manager->verb.handed.state;
    manager->verb.handed.state = before;
    if (component->table.stop != NULL)
        verb_stop(component, &manager->verb);
    manager->verb.handed.state = now;
    return result;
}

static bp_result_t save_and_load(world_t *world, manager_t *manager)
{
    const component_t *component = manager->component;
    void *data = NULL;
    size_t size = 0;
    if (component->saving.save == NULL || component->saving.load == NULL)
        return BP_OK;
    world->base->error.text[0] = '\0';
    bp_result_t result = verb_save(component, &manager->verb, &data, &size);
    if (result == BP_OK)
        result = load_anew(world, manager, data, size);
    memory_free(plugin_account(component->owner), data, size);
    if (result == BP_OK)
        return BP_OK;
    return error_prefix(&world->base->error, result, "component '%s' does not load what it has saved itself: ",
                        component->name);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static bp_result_t exercise_manager(world_t *world, manager_t *manager)
{
    bp_entity_t made[MADE], some[MOST];
    uint32_t key, prototype;
    if (world_key(world, manager->number, 0, &key) != BP_OK)
        return BP_OK;
    touch_properties(world, manager, some, find_some(world, key, some));
    if (store_prototype(world, &key, 1, &prototype) == BP_OK && store_create(world, prototype, made, MADE) == BP_OK)
        touch_properties(world, manager, made, MADE);
    if (manager->component->own_storage)
        world_count(world, manager->number);
    return plugin_is_aside(manager->component->owner) ? BP_OK : save_and_load(world, manager);
}

static bool is_of(const plugin_t *owner, plugin_t *const *candidates, uint32_t count)
{
    bool found = false;
    for (uint32_t i = 0; i < count; i++)
        found = found || candidates[i] == owner;
    return found;
}

const char *exercise(reload_t *reload, plugin_t *const *candidates, uint32_t count)
{
    const destruction_t *d = reload->destruction;
    bp_result_t result = BP_OK;
    for (uint32_t w = 0; w < d->world_count && result == BP_OK; w++) {
        world_t *world = d->worlds[w];
        for (uint32_t m = 0; m < world->manager_count && result == BP_OK; m++) {
            manager_t *manager = world->managers[m];
            if (manager->started && is_of(manager->component->owner, candidates, count))
                result = exercise_manager(world, manager);
        }
    }
    if (reload->ask_for_reports != NULL)
        reload->ask_for_reports(reload->loader->host);
    return result == BP_OK ? NULL : reload->base->error.text;
}

void exercise_end(reload_t *reload, plugin_t *const *candidates, uint32_t count)
{
    destruction_t *d = reload->destruction;
    for (uint32_t w = 0; w < d->world_count; w++) {
        world_t *world = d->worlds[w];
        for (uint32_t k = 0; k < world->prototypes.key_count; k++) {
            const manager_t *manager = world_key_manager(world, k);
            bp_entity_t some[MOST];
            if (!manager->started || !is_of(manager->component->owner, candidates, count))
                continue;
            uint32_t found = find_some(world, k, some);
            if (found > 0 && store_remove(world, k, some, 1) == BP_OK)
                destruction_destroy(d, some + 1, found - 1);
        }
        store_collect_all(world);
    }
}
