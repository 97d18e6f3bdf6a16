/* table_world.c - the tables of entities, worlds, properties and references: thin adapters to the store and to
 * step/referrers.h.
 *
 * The only decision made here: a call that changes something is told to the host's history first. Calls that take a few
 * dozen instructions have a function of their own for the case that history remembers (tables_inner.h).
 */
#include "../plugin/registry.h"
#include "../step/referrers.h"
#include "../store/own.h"
#include "host.h"
#include "tables_inner.h"

/* --- entities -------------------------------------------------------------------------------------------------- */

NOT_INLINED static bp_result_t make_with_care(bp_host_o *host, bp_entity_t *entities, uint32_t count)
{
    history_t *history = &host->history;
    if (is_asked(host))
        return host_refuse_asked(host);
    if (host->entities.sealed)
        return error_set(&host->base.error, BP_ERROR_STATE,
                         "no entity can be created while a reload is being prepared, or the host written down or "
                         "brought back");
    bool noted = history_call(history);
    if (noted)
        journal_create_entities(&history->calls, count);
    bp_result_t result = entities_create(&host->entities, entities, count);
    return noted ? called(history, result) : result;
}

static bp_result_t entity_table_create(bp_host_o *host, bp_entity_t *entities, uint32_t count)
{
    if ((host->entities.sealed | host->base.attention) != 0)
        return make_with_care(host, entities, count);
    return count == 1 && entities_create_one(&host->entities, entities)
               ? BP_OK
               : entities_create(&host->entities, entities, count);
}

NOT_INLINED static uint32_t destroy_with_care(bp_host_o *host, const bp_entity_t *entities, uint32_t count)
{
    history_t *history = &host->history;
    if (is_asked(host)) {
        host_refuse_asked(host);
        return 0;
    }
    bool noted = history_call(history);
    if (noted)
        journal_destroy(&history->calls, entities, count);
    uint32_t died = destruction_destroy(&host->destruction, entities, count);
    if (noted)
        history_called(history, true);
    return died;
}

static uint32_t entity_table_destroy(bp_host_o *host, const bp_entity_t *entities, uint32_t count)
{
    return host->base.attention != 0 ? destroy_with_care(host, entities, count)
                                     : destruction_destroy(&host->destruction, entities, count);
}

static uint32_t entity_table_alive(bp_host_o *host, const bp_entity_t *entities, uint32_t count, uint8_t *alive)
{
    return count == 1 && alive == NULL ? entities_is_alive(&host->entities, entities[0])
                                       : entities_alive(&host->entities, entities, count, alive);
}

static void entity_table_living(bp_host_o *host, bp_inline_lives_t *where)
{
    entities_tell_lives(&host->entities, where);
}

static uint32_t entity_table_count(bp_host_o *host)
{
    return host->entities.living - host->entities.owned;
}

/* The entity of a world's own components is not listed. */
static bp_entity_t entity_table_at(bp_host_o *host, uint32_t index)
{
    bp_entity_t e = entities_at(&host->entities, index);
    return host->entities.owned > 0 && own_is(&host->entities, e) ? (bp_entity_t){0} : e;
}

static uint32_t entity_table_bound(bp_host_o *host)
{
    return host->entities.bound;
}

static void entity_table_format(bp_host_o *host, bp_entity_t entity, char *text, size_t size)
{
    value_format(&host->base.values, BP_ENTITY, &entity, text, size);
}

/* --- worlds ---------------------------------------------------------------------------------------------------- */

static bp_world_o *world_table_find(bp_host_o *host, const char *name)
{
    path_worlds_t worlds = host_worlds(host);
    const world_t *world = path_world(&worlds, name);
    return world == NULL ? NULL : world_handle(world);
}

static bp_world_o *world_table_at(bp_host_o *host, uint32_t index)
{
    return index < host->destruction.world_count ? host_world(host, index) : NULL;
}

static const char *world_table_name(bp_world_o *world)
{
    return world->rows.name;
}

static bp_entity_t world_table_own(bp_world_o *world)
{
    return world->rows.own;
}

static bp_entity_t world_table_next(bp_world_o *world, uint32_t *index)
{
    return store_next(&world->rows, index);
}

static void world_table_clock(bp_world_o *world, bp_step_t *step)
{
    uint32_t size = step->struct_size;
    bp_step_t now = {.struct_size = size,
                     .number = world->clock.steps,
                     .dt = 1.0 / world->clock.step_rate,
                     .time = world->clock.time};
    memcpy(step, &now, size < sizeof now ? size : sizeof now);
}

static bp_manager_t *world_table_manager(bp_world_o *world, uint32_t component)
{
    bool there = component < world->rows.manager_count && world->rows.managers[component]->started;
    return there ? &world->rows.managers[component]->verb.handed : NULL;
}

static uint32_t world_table_component(bp_world_o *world, const char *type)
{
    return world_component(&world->rows, type);
}

static bp_result_t world_table_key(bp_world_o *world, uint32_t component, bp_name_t name, uint32_t *key)
{
    uint32_t before = world->rows.prototypes.key_count;
    bp_result_t result = world_key(&world->rows, component, name, key);
    if (world->rows.prototypes.key_count != before && history_call(history_of(world))) {
        journal_key(&history_of(world)->calls, world, component, name);
        history_called(history_of(world), true);
    }
    return result;
}

static bp_result_t world_table_key_info(bp_world_o *world, uint32_t key, uint32_t *component, bp_name_t *name)
{
    return world_key_info(&world->rows, key, component, name);
}

static bp_result_t world_table_prototype(bp_world_o *world, const uint32_t *keys, uint32_t count, uint32_t *prototype)
{
    uint32_t before = world->rows.prototypes.count;
    bp_result_t result = store_prototype(&world->rows, keys, count, prototype);
    if (world->rows.prototypes.count != before && history_call(history_of(world))) {
        journal_prototype(&history_of(world)->calls, world, keys, count);
        history_called(history_of(world), result == BP_OK);
    }
    return result;
}

NOT_INLINED static bp_result_t create_with_care(bp_world_o *world, uint32_t prototype, bp_entity_t *entities,
                                                 uint32_t count)
{
    history_t *history = history_of(world);
    if (is_asked(world->rows.host))
        return host_refuse_asked(world->rows.host);
    bool noted = history_call(history);
    if (noted)
        journal_create(&history->calls, world, prototype, count);
    bp_result_t result = store_create(&world->rows, prototype, entities, count);
    return noted ? called(history, result) : result;
}

static bp_result_t world_table_create(bp_world_o *world, uint32_t prototype, bp_entity_t *entities, uint32_t count)
{
    return needs_care(world) ? create_with_care(world, prototype, entities, count)
                                : store_create(&world->rows, prototype, entities, count);
}

static bp_result_t may_change_components(bp_world_o *world, const bp_entity_t *entities, uint32_t count)
{
    const entities_t *all = world->rows.entities;
    if (is_asked(world->rows.host))
        return host_refuse_asked(world->rows.host);
    bp_entity_t making = all->makings == 0 ? (bp_entity_t){0} : entities_in_making(all, entities, count);
    return making.id == 0 ? BP_OK : entities_refuse_making(all, making);
}

NOT_INLINED static bp_result_t add_with_care(bp_world_o *world, uint32_t key, const bp_entity_t *entities,
                                              uint32_t count)
{
    history_t *history = history_of(world);
    bp_result_t may = may_change_components(world, entities, count);
    if (may != BP_OK)
        return may;
    bool noted = history_call(history);
    if (noted)
        journal_add(&history->calls, world, key, entities, count);
    bp_result_t result = store_add(&world->rows, key, entities, count);
    return noted ? called(history, result) : result;
}

static bp_result_t world_table_add(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    return needs_care(world) ? add_with_care(world, key, entities, count)
                                : store_add(&world->rows, key, entities, count);
}

NOT_INLINED static bp_result_t remove_with_care(bp_world_o *world, uint32_t key, const bp_entity_t *entities,
                                                 uint32_t count)
{
    history_t *history = history_of(world);
    bp_result_t may = may_change_components(world, entities, count);
    if (may != BP_OK)
        return may;
    bool noted = history_call(history);
    if (noted)
        journal_remove(&history->calls, world, key, entities, count);
    bp_result_t result = store_remove(&world->rows, key, entities, count);
    return noted ? called(history, result) : result;
}

static bp_result_t world_table_remove(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    return needs_care(world) ? remove_with_care(world, key, entities, count)
                                : store_remove(&world->rows, key, entities, count);
}

static uint32_t world_table_has(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count,
                                uint8_t *has)
{
    return store_has(&world->rows, key, entities, count, has);
}

static uint32_t world_table_slots(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count,
                                  uint32_t *slots)
{
    return store_slots(&world->rows, key, entities, count, slots);
}

static uint32_t world_table_keys_of(bp_world_o *world, bp_entity_t entity, uint32_t *keys, uint32_t capacity)
{
    return store_keys_of(&world->rows, entity, keys, capacity);
}

static uint32_t world_table_count(bp_world_o *world, uint32_t component)
{
    return world_count(&world->rows, component);
}

static const void *world_table_ref(bp_world_o *world, bp_ref_t *ref)
{
    return store_ref(&world->rows, ref);
}

static void *world_table_ref_write(bp_world_o *world, bp_ref_t *ref)
{
    if (is_asked(world->rows.host)) {
        host_refuse_asked(world->rows.host);
        return NULL;
    }
    void *value = store_ref_write(&world->rows, ref);
    if (value != NULL)
        history_touch(history_of(world));
    return value;
}

static void world_table_instances_moved(bp_manager_t *m, const bp_entity_t *entities, const bp_name_t *names,
                                        const uint32_t *slots, uint32_t count)
{
    world_t *world = &m->world->rows;
    store_instances_moved(world, world->managers[m->component], entities, names, slots, count);
}

static void world_table_instances_changed(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    world_t *world = &m->world->rows;
    world_note_slots(world, world->managers[m->component], slots, count);
}

static void world_table_instances_changed_range(bp_manager_t *m, uint32_t first, uint32_t count)
{
    world_t *world = &m->world->rows;
    slot_stamps_note_range(&world->managers[m->component]->stamps, &world->memory, first, count, world->moment);
}

/* --- properties ------------------------------------------------------------------------------------------------ */

static bp_result_t property_table_resolve(bp_world_o *world, bp_entity_t entity, const char *component,
                                          const char *property, bp_property_t *resolved)
{
    return property_resolve(&world->rows, entity, component, property, resolved);
}

static bp_result_t property_table_get(bp_world_o *world, bp_property_t *property, const bp_entity_t *entities,
                                      uint32_t count, void *values, size_t stride)
{
    return property_get(&world->rows, property, entities, count, values, stride);
}

NOT_INLINED static bp_result_t set_with_care(bp_world_o *world, bp_property_t *property, const bp_entity_t *entities,
                                              uint32_t count, const void *values, size_t stride)
{
    history_t *history = history_of(world);
    if (is_asked(world->rows.host))
        return host_refuse_asked(world->rows.host);
    bool noted = history_call(history);
    if (noted)
        journal_set(&history->calls, world, property, entities, count, values, stride);
    bp_result_t result = property_set(&world->rows, property, entities, count, values, stride);
    return noted ? called(history, result) : result;
}

static bp_result_t property_table_set(bp_world_o *world, bp_property_t *property, const bp_entity_t *entities,
                                      uint32_t count, const void *values, size_t stride)
{
    if (count == 1 && property->size == 4) {
        bp_result_t result = BP_OK;
        if (property_set_quickly(&world->rows, property, entities, values, &result))
            return result;
        return needs_care(world) ? set_with_care(world, property, entities, 1, values, 4)
                                 : property_set(&world->rows, property, entities, 1, values, 4);
    }
    return needs_care(world) ? set_with_care(world, property, entities, count, values, stride)
                             : property_set(&world->rows, property, entities, count, values, stride);
}

static bp_result_t property_table_get_named(bp_world_o *world, bp_entity_t entity, const char *component,
                                            const char *property, uint32_t type, void *value)
{
    return property_get_named(&world->names, entity, component, property, type, value);
}

NOT_INLINED static bp_result_t set_named_with_care(bp_world_o *world, bp_entity_t entity, const char *component,
                                                    const char *property, uint32_t type, const void *value)
{
    history_t *history = history_of(world);
    if (is_asked(world->rows.host))
        return host_refuse_asked(world->rows.host);
    bool noted = history_call(history);
    if (noted)
        journal_set_named(&history->calls, world, entity, component, property, type, value);
    bp_result_t result = property_set_named(&world->names, entity, component, property, type, value);
    return noted ? called(history, result) : result;
}

static bp_result_t property_table_set_named(bp_world_o *world, bp_entity_t entity, const char *component,
                                            const char *property, uint32_t type, const void *value)
{
    return needs_care(world) ? set_named_with_care(world, entity, component, property, type, value)
                                : property_set_named(&world->names, entity, component, property, type, value);
}

static bp_result_t property_table_set_text(const bp_path_t *path, const char *text)
{
    history_t *history = history_of(path->world);
    if (is_asked(path->world->rows.host))
        return host_refuse_asked(path->world->rows.host);
    bool noted = history_call(history);
    if (noted)
        journal_set_text(&history->calls, path, text);
    bp_result_t result = path_set_text(path, text);
    return noted ? called(history, result) : result;
}

static bp_result_t property_table_parse_path(bp_host_o *host, const char *text, bp_path_t *path)
{
    path_worlds_t worlds = host_worlds(host);
    return path_parse(&worlds, text, path);
}

static bp_result_t property_table_describe(bp_host_o *host, const char *component_type, uint32_t index,
                                           bp_field_t *field, uint32_t field_size)
{
    bp_field_t known;
    const component_t *component = registry_component(&host->registry, component_type);
    if (component == NULL)
        return BP_ERROR_NOT_FOUND;
    if (index >= component->field_count)
        return error_set(&host->base.error, BP_ERROR_NOT_FOUND, "%s has %u properties, no number %u", component_type,
                         component->field_count, index);
    field_describe(&component->fields[index], &known);
    memset(field, 0, field_size);
    memcpy(field, &known, field_size < sizeof known ? field_size : sizeof known);
    return BP_OK;
}

const bp_entity_api host_entity_table = {
    .struct_size = sizeof host_entity_table,
    .create = entity_table_create,
    .destroy = entity_table_destroy,
    .alive = entity_table_alive,
    .count = entity_table_count,
    .at = entity_table_at,
    .bound = entity_table_bound,
    .format = entity_table_format,
    .living = entity_table_living,
};

const bp_world_api host_world_table = {
    .struct_size = sizeof host_world_table,
    .find = world_table_find,
    .at = world_table_at,
    .name = world_table_name,
    .clock = world_table_clock,
    .component = world_table_component,
    .manager = world_table_manager,
    .key = world_table_key,
    .key_info = world_table_key_info,
    .prototype = world_table_prototype,
    .create = world_table_create,
    .add = world_table_add,
    .remove = world_table_remove,
    .has = world_table_has,
    .slots = world_table_slots,
    .keys_of = world_table_keys_of,
    .count = world_table_count,
    .instances_moved = world_table_instances_moved,
    .instances_changed = world_table_instances_changed,
    .instances_changed_range = world_table_instances_changed_range,
    .ref = world_table_ref,
    .ref_write = world_table_ref_write,
    .own = world_table_own,
    .next = world_table_next,
    .use_component = bp_world_use_component,
    .use_system = bp_world_use_system,
    .drop_component = bp_world_drop_component,
    .drop_system = bp_world_drop_system,
};

const bp_property_api host_property_table = {
    .struct_size = sizeof host_property_table,
    .resolve = property_table_resolve,
    .get = property_table_get,
    .set = property_table_set,
    .get_named = property_table_get_named,
    .set_named = property_table_set_named,
    .get_text = path_get_text,
    .set_text = property_table_set_text,
    .parse_path = property_table_parse_path,
    .describe = property_table_describe,
    .format = path_format,
};

/* --- entities that refer to an entity
 * -------------------------------------------------------------------------------------- */

static bp_result_t refer_table_make(bp_world_o *world, const bp_plugin_t *plugin, const char *component,
                                    const char *field, bp_refer_o **index)
{
    /* A plugin_t begins with what its verbs are handed. */
    return referrers_make(world, (const plugin_t *)(const void *)plugin, component, field, index);
}

const bp_refer_api host_refer_table = {
    .struct_size = sizeof host_refer_table,
    .version = 1,
    .make = refer_table_make,
    .end = referrers_end,
    .ask = referrers_ask,
};
