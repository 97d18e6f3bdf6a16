/* tables.c - the tables of the contract: thin adapters from bp_api.h to the parts of the host.
 *
 * Nothing is decided here. The tables are constant, so they are shared by all hosts; the host concerned comes in by the
 * first argument.
 */
#include "../base/file.h"
#include "../os/files.h"
#include "../plugin/registry.h"
#include "../step/queries.h"
#include "host.h"
#include "table_refer.h"

#include <bp_changes.h>
#include <bp_clock.h>
#include <inttypes.h>

#include <stdio.h>

/* --- what is remembered ------------------------------------------------------------------------------------------ */

/* Whoever changes something tells the host's history. Calls that take a few dozen instructions ask one bit for that,
 * and are made by a function of their own where it is set: so the usual ones save no registers. */
static inline bool is_remembered(const bp_world_o *world)
{
    return (world->rows.care & WORLD_REMEMBERED) != 0;
}

/* A call that history has written down is over. */
static bp_result_t called(history_t *history, bp_result_t result)
{
    history_called(history, result == BP_OK);
    return result;
}

static history_t *history_of(bp_world_o *world)
{
    return &world->rows.host->history;
}

/* --- memory, errors, names ------------------------------------------------------------------------------------- */

/* `handed` is the first member of the host's own plugin_t. */
static plugin_t *whole(const bp_plugin_t *plugin)
{
    return (plugin_t *)(uintptr_t)plugin;
}

static void *memory_table_resize(const bp_plugin_t *plugin, void *old, size_t old_size, size_t new_size)
{
    return plugin_resize(whole(plugin), old, old_size, new_size);
}

static bp_result_t error_table_set(bp_host_o *host, bp_result_t code, const char *text)
{
    return error_set(&host->base.error, code, "%s", text);
}

static const char *error_table_last(bp_host_o *host)
{
    return error_last(&host->base.error);
}

static void error_table_log(const bp_plugin_t *plugin, int32_t level, const char *text)
{
    log_write(&plugin->host->base.log, level, plugin->name, "%s", text);
}

static bp_result_t name_table_intern(bp_host_o *host, const char *text, bp_name_t *name)
{
    return names_intern(&host->base.names, text, name, &host->base.error);
}

static const char *name_table_text(bp_host_o *host, bp_name_t name)
{
    return names_text(&host->base.names, name);
}

static bp_result_t name_table_assign(bp_host_o *host, const char **cell, const char *text)
{
    history_touch(&host->history);
    const char *string = strings_acquire(&host->base.strings, text);
    if (string == NULL)
        return error_memory(&host->base.error, "setting a string");
    strings_release(&host->base.strings, *cell);
    *cell = string;
    return BP_OK;
}

/* --- entities -------------------------------------------------------------------------------------------------- */

NOT_INLINED static bp_result_t create_with_care(bp_host_o *host, bp_entity_t *entities, uint32_t count)
{
    history_t *history = &host->history;
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
    if ((host->entities.sealed | host->entities.remembered) != 0)
        return create_with_care(host, entities, count);
    return count == 1 && entities_create_one(&host->entities, entities)
               ? BP_OK
               : entities_create(&host->entities, entities, count);
}

NOT_INLINED static uint32_t remembered_destroy(bp_host_o *host, const bp_entity_t *entities, uint32_t count)
{
    history_t *history = &host->history;
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
    return host->entities.remembered ? remembered_destroy(host, entities, count)
                                     : destruction_destroy(&host->destruction, entities, count);
}

static uint32_t entity_table_alive(bp_host_o *host, const bp_entity_t *entities, uint32_t count, uint8_t *alive)
{
    return entities_alive(&host->entities, entities, count, alive);
}

static uint32_t entity_table_count(bp_host_o *host)
{
    return host->entities.living - host->entities.owned;
}

/* Does an entity bear what belongs to a world, and is none of those that are listed? */
NOT_INLINED static bool is_own(const bp_host_o *host, bp_entity_t e)
{
    bool own = false;
    for (uint32_t w = 0; w < host->destruction.world_count && !own; w++)
        own = host->destruction.worlds[w]->own.id == e.id && e.id != 0;
    return own;
}

static bp_entity_t entity_table_at(bp_host_o *host, uint32_t index)
{
    bp_entity_t e = entities_at(&host->entities, index);
    return host->entities.owned > 0 && is_own(host, e) ? (bp_entity_t){0} : e;
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

NOT_INLINED static bp_result_t remembered_create(bp_world_o *world, uint32_t prototype, bp_entity_t *entities,
                                                 uint32_t count)
{
    history_t *history = history_of(world);
    bool noted = history_call(history);
    if (noted)
        journal_create(&history->calls, world, prototype, count);
    bp_result_t result = store_create(&world->rows, prototype, entities, count);
    return noted ? called(history, result) : result;
}

static bp_result_t world_table_create(bp_world_o *world, uint32_t prototype, bp_entity_t *entities, uint32_t count)
{
    return is_remembered(world) ? remembered_create(world, prototype, entities, count)
                                : store_create(&world->rows, prototype, entities, count);
}

NOT_INLINED static bp_result_t remembered_add(bp_world_o *world, uint32_t key, const bp_entity_t *entities,
                                              uint32_t count)
{
    history_t *history = history_of(world);
    bool noted = history_call(history);
    if (noted)
        journal_add(&history->calls, world, key, entities, count);
    bp_result_t result = store_add(&world->rows, key, entities, count);
    return noted ? called(history, result) : result;
}

static bp_result_t world_table_add(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    return is_remembered(world) ? remembered_add(world, key, entities, count)
                                : store_add(&world->rows, key, entities, count);
}

NOT_INLINED static bp_result_t remembered_remove(bp_world_o *world, uint32_t key, const bp_entity_t *entities,
                                                 uint32_t count)
{
    history_t *history = history_of(world);
    bool noted = history_call(history);
    if (noted)
        journal_remove(&history->calls, world, key, entities, count);
    bp_result_t result = store_remove(&world->rows, key, entities, count);
    return noted ? called(history, result) : result;
}

static bp_result_t world_table_remove(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    return is_remembered(world) ? remembered_remove(world, key, entities, count)
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

NOT_INLINED static bp_result_t remembered_set(bp_world_o *world, bp_property_t *property, const bp_entity_t *entities,
                                              uint32_t count, const void *values, size_t stride)
{
    history_t *history = history_of(world);
    bool noted = history_call(history);
    if (noted)
        journal_set(&history->calls, world, property, entities, count, values, stride);
    bp_result_t result = property_set(&world->rows, property, entities, count, values, stride);
    return noted ? called(history, result) : result;
}

static bp_result_t property_table_set(bp_world_o *world, bp_property_t *property, const bp_entity_t *entities,
                                      uint32_t count, const void *values, size_t stride)
{
    return is_remembered(world) ? remembered_set(world, property, entities, count, values, stride)
                                : property_set(&world->rows, property, entities, count, values, stride);
}

static bp_result_t property_table_get_named(bp_world_o *world, bp_entity_t entity, const char *component,
                                            const char *property, uint32_t type, void *value)
{
    return property_get_named(&world->names, entity, component, property, type, value);
}

NOT_INLINED static bp_result_t remembered_set_named(bp_world_o *world, bp_entity_t entity, const char *component,
                                                    const char *property, uint32_t type, const void *value)
{
    history_t *history = history_of(world);
    bool noted = history_call(history);
    if (noted)
        journal_set_named(&history->calls, world, entity, component, property, type, value);
    bp_result_t result = property_set_named(&world->names, entity, component, property, type, value);
    return noted ? called(history, result) : result;
}

static bp_result_t property_table_set_named(bp_world_o *world, bp_entity_t entity, const char *component,
                                            const char *property, uint32_t type, const void *value)
{
    return is_remembered(world) ? remembered_set_named(world, entity, component, property, type, value)
                                : property_set_named(&world->names, entity, component, property, type, value);
}

static bp_result_t property_table_set_text(const bp_path_t *path, const char *text)
{
    history_t *history = history_of(path->world);
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

/* --- commands --------------------------------------------------------------------------------------------------- */

static uint32_t command_table_created(bp_world_o *world, const bp_entity_t *placeholders, uint32_t count,
                                      bp_entity_t *entities)
{
    const schedule_t *schedule = world->schedule;
    return commands_created(&schedule->commands, placeholders, count, entities);
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

static uint64_t changes_table_look(bp_world_o *world)
{
    return world_look(&world->rows);
}

static manager_t *manager_of(const bp_manager_t *m)
{
    return m->world->rows.managers[m->component];
}

static bp_result_t changes_table_keep(bp_manager_t *m)
{
    world_t *world = &m->world->rows;
    if (!manager_of(m)->component->own_storage)
        return world_keep_stamps(world);
    world_keep_slot_stamps(world, manager_of(m));
    return BP_OK;
}

static void changes_table_release(bp_manager_t *m)
{
    if (manager_of(m)->component->own_storage)
        world_release_slot_stamps(&m->world->rows, manager_of(m));
    else
        world_release_stamps(&m->world->rows);
}

static uint32_t changes_table_rows(bp_world_o *handle, uint32_t prototype, uint32_t key, uint32_t field, uint64_t since,
                                   uint32_t *row)
{
    const world_t *world = &handle->rows;
    const run_t *run = prototype < world->prototypes.count ? world_run(world, prototype) : NULL;
    uint32_t first = run == NULL || key >= world->prototypes.key_count
                         ? 0
                         : prototypes_column(&world->prototypes, prototype, key);
    if (first == 0 || field >= world->prototypes.keys[key].columns || *row >= run->count)
        return 0;
    if (run->stamps == NULL)
        return run->count - *row;
    uint16_t column = (uint16_t)(first + field);
    uint32_t count;
    *row = stamps_next(run->stamps, &column, 1, since, *row, run->count, &count);
    return *row == BP_NONE ? 0 : count;
}

static void changes_table_slots(bp_manager_t *m, bp_slot_stamps_t *stamps)
{
    const slot_stamps_t *kept = &manager_of(m)->stamps;
    uint32_t size = stamps->struct_size;
    const bp_slot_stamps_t all = {.struct_size = size,
                                  .latest = kept->latest,
                                  .rest = kept->rest,
                                  .blocks = kept->blocks,
                                  .block_count = kept->count};
    memcpy(stamps, &all, size < sizeof all ? size : sizeof all);
}

/* --- queries ------------------------------------------------------------------------------------------------------ */

static bp_result_t query_table_make(bp_world_o *world, const bp_plugin_t *plugin, const bp_term_list_t *terms,
                                    uint32_t flags, bp_query_o **query)
{
    return queries_make(world, plugin == NULL ? NULL : whole(plugin), terms, flags, query);
}

/* Begin a walk of a query. A query that writes columns changes the world past the tables, so the history is touched. */
static bp_result_t query_table_begin(bp_query_o *query, uint64_t since)
{
    if (queries_write(query))
        history_touch(history_of(queries_world(query)));
    return queries_begin(query, since);
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

static bp_result_t message_table_open(bp_world_o *world, const bp_plugin_t *plugin, const char *name,
                                      const bp_term_field_list_t *fields, bp_channel_o **channel)
{
    if (world->schedule->crew != NULL)
        return error_set(&world->rows.base->error, BP_ERROR_STATE,
                         "channels are opened between steps; world '%s' is in the middle of one", world->rows.name);
    return messages_open(&world->schedule->messages, plugin == NULL ? NULL : whole(plugin), name, fields, channel);
}

static void message_table_close(bp_channel_o *channel)
{
    messages_close(channel);
}

static bp_result_t message_table_send(bp_channel_o *channel, bp_commands_o *commands, const void *const *values,
                                      uint32_t count)
{
    return commands_send(commands, channel, values, count);
}

static void message_table_read(const bp_channel_o *channel, bp_messages_t *messages)
{
    messages_read(channel, messages);
}

/* --- stopping worlds --------------------------------------------------------------------------------------------- */

static void clock_table_read(bp_world_o *world, bp_clock_t *clock)
{
    uint32_t size = clock->struct_size;
    bp_clock_t now = {.struct_size = size,
                      .stopped = world->clock.stopped,
                      .granted = world->clock.granted,
                      .speed = world->clock.speed};
    memcpy(clock, &now, size < sizeof now ? size : sizeof now);
}

/* The clock is another one than before. */
static void clock_changed(bp_world_o *world)
{
    if (!history_call(history_of(world)))
        return;
    journal_clock(&history_of(world)->calls, world);
    history_called(history_of(world), true);
}

static void clock_table_step(bp_world_o *world, uint64_t count)
{
    world->clock.stopped = true;
    world->clock.granted = count;
    clock_changed(world);
}

static void clock_table_stop(bp_world_o *world)
{
    clock_table_step(world, 0);
}

static void clock_table_start(bp_world_o *world)
{
    world->clock.stopped = false;
    world->clock.granted = 0;
    clock_changed(world);
}

static bp_result_t clock_table_set_speed(bp_world_o *world, double speed)
{
    if (!(speed >= 1e-6 && speed <= 1e6))
        return error_set(&world->rows.base->error, BP_ERROR_RANGE,
                         "a speed of %g: it has to lie between 0.000001 and 1000000", speed);
    world->clock.speed = speed;
    clock_changed(world);
    return BP_OK;
}

/* --- tables of plugins, reports ---------------------------------------------------------------------------------- */

static bp_result_t registry_table_offer(const bp_plugin_t *plugin, const bp_table_t *table, uint32_t table_size)
{
    return registry_offer(&plugin->host->registry, whole(plugin), table, table_size);
}

/* The host's table of that name with at least `version`, declared below. */
static const void *host_table(const char *name, uint32_t version);

static const void *registry_table_find(bp_host_o *host, const char *name, uint32_t version)
{
    const void *own = host_table(name, version);
    return own != NULL ? own : registry_table(&host->registry, name, version);
}

static void report_table_table(bp_report_o *report, const char *title, const char *const *headers, uint32_t columns)
{
    report->columns = columns;
    if (report->sink->table != NULL)
        report->sink->table(report->sink->context, report->world, report->unit, title, headers, columns);
}

static void report_table_row(bp_report_o *report, const char *const *cells)
{
    if (report->sink->row != NULL)
        report->sink->row(report->sink->context, cells, report->columns);
}

static void report_table_value(bp_report_o *report, const char *name, const char *text)
{
    if (report->sink->value != NULL)
        report->sink->value(report->sink->context, report->world, report->unit, name, text);
}

/* --- tasks ------------------------------------------------------------------------------------------------------- */

static bp_result_t task_table_post(const bp_plugin_t *plugin, const char *task, const void *bytes, size_t size)
{
    return posts_put(&plugin->host->loader.posts, whole(plugin), task, bytes, size);
}

/* --- all --------------------------------------------------------------------------------------------------------- */

static const bp_memory_api memory_table = {.struct_size = sizeof memory_table, .resize = memory_table_resize};

static const bp_error_api error_table = {
    .struct_size = sizeof error_table, .set = error_table_set, .last = error_table_last, .log = error_table_log};

static const bp_name_api name_table = {
    .struct_size = sizeof name_table,
    .hash = names_hash,
    .intern = name_table_intern,
    .text = name_table_text,
    .assign = name_table_assign,
};

static const bp_entity_api entity_table = {
    .struct_size = sizeof entity_table,
    .create = entity_table_create,
    .destroy = entity_table_destroy,
    .alive = entity_table_alive,
    .count = entity_table_count,
    .at = entity_table_at,
    .bound = entity_table_bound,
    .format = entity_table_format,
};

static const bp_world_api world_table = {
    .struct_size = sizeof world_table,
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
    .use_component = bp_world_use_component,
    .use_system = bp_world_use_system,
    .drop_component = bp_world_drop_component,
    .drop_system = bp_world_drop_system,
};

static const bp_property_api property_table = {
    .struct_size = sizeof property_table,
    .resolve = property_table_resolve,
    .get = property_table_get,
    .set = property_table_set,
    .get_named = property_table_get_named,
    .set_named = property_table_set_named,
    .get_text = path_get_text,
    .set_text = property_table_set_text,
    .parse_path = property_table_parse_path,
    .describe = property_table_describe,
};

static const bp_command_api command_table = {
    .struct_size = sizeof command_table,
    .create = commands_create,
    .destroy = commands_destroy,
    .add = commands_add,
    .remove = commands_remove,
    .set = commands_set,
    .created = command_table_created,
};

static const bp_registry_api registry_table_table = {
    .struct_size = sizeof registry_table_table, .offer = registry_table_offer, .find = registry_table_find};

static const bp_report_api report_table = {.struct_size = sizeof report_table,
                                           .table = report_table_table,
                                           .row = report_table_row,
                                           .value = report_table_value};

static const bp_scene_api scene_table = {
    .struct_size = sizeof scene_table,
    .open = bp_scene_open,
    .close = bp_scene_close,
    .entity_count = bp_scene_entity_count,
    .spawn = bp_scene_spawn,
    .despawn = bp_host_despawn,
    .spawned = bp_host_spawned,
    .release = bp_host_release_spawn,
};

static const bp_clock_api clock_table = {
    .struct_size = sizeof clock_table,
    .version = 1,
    .read = clock_table_read,
    .stop = clock_table_stop,
    .start = clock_table_start,
    .step = clock_table_step,
    .set_speed = clock_table_set_speed,
};

static const bp_task_api task_table = {.struct_size = sizeof task_table, .version = 1, .post = task_table_post};

static const bp_message_api message_table = {
    .struct_size = sizeof message_table,
    .version = 1,
    .open = message_table_open,
    .close = message_table_close,
    .send = message_table_send,
    .read = message_table_read,
};

static const bp_query_api query_table = {
    .struct_size = sizeof query_table,
    .version = 1,
    .make = query_table_make,
    .end = queries_end,
    .begin = query_table_begin,
    .next = queries_next,
};

static const bp_changes_api changes_table = {
    .struct_size = sizeof changes_table,
    .version = 1,
    .look = changes_table_look,
    .keep = changes_table_keep,
    .release = changes_table_release,
    .rows = changes_table_rows,
    .slots = changes_table_slots,
};

/* Tables of the host that are found by name, like those of plugins. */
static const struct {
    const char *name;
    uint32_t version;
    const void *table;
} found_by_name[] = {
    {BP_CHANGES_API, 1, &changes_table},
    {BP_CLOCK_API, 1, &clock_table},
    {BP_HISTORY_API, 2, &host_history_table},
    {BP_LOOK_API, 1, &host_look_table},
    {BP_MESSAGE_API, 1, &message_table},
    {BP_OUTSIDE_API, 1, &host_outside_table},
    {BP_QUERY_API, 1, &query_table},
    {BP_REFER_API, 1, &host_refer_table},
    {BP_TASK_API, 1, &task_table},
};

static const void *host_table(const char *name, uint32_t version)
{
    for (size_t i = 0; i < sizeof found_by_name / sizeof *found_by_name; i++)
        if (strcmp(found_by_name[i].name, name) == 0 && found_by_name[i].version >= version)
            return found_by_name[i].table;
    return NULL;
}

static bp_result_t file_table_keep(bp_host_o *host, const char *part, const char *path)
{
    if (!host->loader.on_trial && !host->loader.plugins.clone)
        return file_keep(part, path, &host->base.error);
    os_file_remove(part);
    return error_set(&host->base.error, BP_ERROR_STATE, "%s: no file is written while a plugin is tried", path);
}

static bp_result_t file_table_output(bp_world_o *world, const char *path, char *file, size_t file_size, char *remark,
                                     size_t remark_size)
{
    uint64_t planned = world->rows.host->steps, taken = world->clock.steps;
    bool whole = taken >= planned;
    size_t ending = strlen(path);
    while (ending > 0 && path[ending] != '.' && path[ending] != '/' && path[ending] != '\\')
        ending--;
    if (ending == 0 || path[ending] != '.' || path[ending - 1] == '/' || path[ending - 1] == '\\')
        ending = strlen(path); /* there is none */
    if (remark != NULL && remark_size > 0)
        remark[0] = '\0';
    if (remark != NULL && !whole)
        snprintf(remark, remark_size, "%" PRIu64 " of %" PRIu64 " steps", taken, planned);
    int length = snprintf(file, file_size, "%.*s%s%s", (int)ending, path, whole ? "" : ".partial", path + ending);
    if (length >= 0 && (size_t)length < file_size)
        return BP_OK;
    return error_set(&world->rows.host->base.error, BP_ERROR_LIMIT, "%.300s: the path is too long", path);
}

static const bp_file_api file_table = {
    .struct_size = sizeof file_table, .keep = file_table_keep, .output = file_table_output};

bp_api_t host_tables(void)
{
    return (bp_api_t){
        .struct_size = sizeof(bp_api_t),
        .abi_major = BP_ABI_MAJOR,
        .abi_minor = BP_ABI_MINOR,
        .memory = &memory_table,
        .error = &error_table,
        .name = &name_table,
        .entity = &entity_table,
        .world = &world_table,
        .property = &property_table,
        .registry = &registry_table_table,
        .report = &report_table,
        .command = &command_table,
        .scene = &scene_table,
        .file = &file_table,
    };
}
