/* tables.c - the tables of the contract: thin adapters from bp_api.h to the parts of the host.
 *
 * Nothing is decided here. The tables are constant, so they are shared by all hosts; the host concerned comes in by the
 * first argument.
 */
#include "../base/error.h"
#include "../base/file.h"
#include "../os/files.h"
#include "../plugin/registry.h"
#include "../step/queries.h"
#include "host.h"
#include "tables_inner.h"

#include <bp_changes.h>
#include <bp_clock.h>
#include <bp_share.h>
#include <inttypes.h>
#include <stdio.h>

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

static uint32_t error_table_of_call(bp_host_o *host, uint32_t index, bp_call_failure_t *failure)
{
    return error_of_call(&host->base.error, index, failure);
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

/* Stamps of slots are kept for a component with columns too, at no cost: the component's next version may have storage
 * of its own. Where a component with storage of its own gets columns, all rows are reported as changed, unless another
 * component has had stamps of rows kept. */
static bp_result_t changes_table_keep(bp_manager_t *m)
{
    manager_t *manager = manager_of(m);
    bool rows = !manager->component->own_storage;
    bp_result_t result = rows ? world_keep_stamps(&m->world->rows) : BP_OK;
    if (result != BP_OK)
        return result;
    world_keep_slot_stamps(&m->world->rows, manager);
    manager->keepers++;
    manager->row_keepers += rows;
    return BP_OK;
}

/* The component may have left meanwhile, or have got another kind of storage: what is released is what was kept, and
 * never the stamps of a query. */
static void changes_table_release(bp_manager_t *m)
{
    manager_t *manager = manager_of(m);
    if (manager->keepers == 0)
        return;
    world_release_slot_stamps(&m->world->rows, manager);
    manager->keepers--;
    if (manager->row_keepers <= manager->keepers)
        return;
    manager->row_keepers--;
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

/* Begin a walk of a query. A query that writes columns changes the world past the tables: that is refused where setting
 * a property is, and the history is touched. */
static bp_result_t query_table_begin(bp_query_o *query, uint64_t since)
{
    if (!queries_write(query))
        return queries_begin(query, since);
    bp_world_o *world = queries_world(query);
    if (is_asked(world->rows.host))
        return host_refuse_asked(world->rows.host);
    if (world->rows.hold == WORLD_SEALED)
        return store_refuse_held(&world->rows);
    history_touch(history_of(world));
    return queries_begin(query, since);
}

/* The unit that has `system` handed to its verbs. */
static unit_t *unit_of(const bp_system_t *system)
{
    const schedule_t *schedule = system->world->schedule;
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (&schedule->units[i]->verb.handed == system)
            return schedule->units[i];
    }
    return NULL;
}

static bp_result_t query_table_beside(const bp_system_t *system, uint32_t number, bp_query_o **query)
{
    bp_host_o *host = system->world->rows.host;
    unit_t *unit = unit_of(system);
    char name[512];
    *query = NULL;
    if (unit == NULL)
        return error_set(&host->base.error, BP_ERROR_ARGUMENT,
                         "a system asks for rows of another world before it is at work; ask in a step");
    if (number >= unit->system->term_count || (unit->system->terms[number].flags & BP_TERM_BESIDE) == 0)
        return error_set(&host->base.error, BP_ERROR_ARGUMENT,
                         "system '%s': term %u names no other world; only one with BP_TERM_BESIDE does", unit->name,
                         number);
    const char *wanted = unit->system->terms[number].world;
    snprintf(name, sizeof name, "%s%s", wanted[0] == '.' ? system->world->rows.name : "", wanted);
    const world_t *world = destruction_find_world(&host->destruction, name);
    return world == NULL ? BP_OK : queries_beside(unit, number, world_handle(world), query);
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

static bp_result_t message_table_open(bp_world_o *world, const bp_plugin_t *plugin, const char *name,
                                      const bp_term_field_list_t *fields, bp_channel_o **channel)
{
    if (is_asked(world->rows.host))
        return host_refuse_asked(world->rows.host);
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

/* The clock has been changed. */
static void clock_changed(bp_world_o *world)
{
    if (!history_call(history_of(world)))
        return;
    journal_clock(&history_of(world)->calls, world);
    history_called(history_of(world), true);
}

/* May the clock be set? Not in verbs that change nothing, and not while a reload is prepared. */
static bp_result_t may_set_clock(bp_world_o *world)
{
    if (is_asked(world->rows.host))
        return host_refuse_asked(world->rows.host);
    return world->rows.hold == WORLD_SEALED ? store_refuse_held(&world->rows) : BP_OK;
}

static void clock_table_step(bp_world_o *world, uint64_t count)
{
    if (may_set_clock(world) != BP_OK)
        return;
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
    if (may_set_clock(world) != BP_OK)
        return;
    world->clock.stopped = false;
    world->clock.granted = 0;
    clock_changed(world);
}

static bp_result_t clock_table_set_speed(bp_world_o *world, double speed)
{
    if (!(speed >= SPEED_LEAST && speed <= SPEED_MOST))
        return error_set(&world->rows.base->error, BP_ERROR_RANGE,
                         "a speed of %g: it has to lie between 0.000001 and 1000000", speed);
    bp_result_t result = may_set_clock(world);
    if (result != BP_OK)
        return result;
    world->clock.speed = speed;
    clock_changed(world);
    return BP_OK;
}

/* --- tables of plugins, reports ---------------------------------------------------------------------------------- */

static bp_result_t registry_table_offer(const bp_plugin_t *plugin, const bp_table_t *table, uint32_t table_size)
{
    if (is_asked(plugin->host))
        return host_refuse_asked(plugin->host);
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

/* --- what plugins take from outside ------------------------------------------------------------------------------- */

enum { MOST_TAKEN = 16 * 1024 * 1024 };

static bp_result_t outside_table_take(bp_host_o *host, const char *name, const bp_taking_i *taking, void *bytes,
                                      size_t room, size_t *size)
{
    *size = 0;
    if (name == NULL || taking == NULL || taking->struct_size < sizeof *taking || taking->take == NULL)
        return error_set(&host->base.error, BP_ERROR_ARGUMENT, "something is taken from outside with a name and a way");
    if (room > MOST_TAKEN)
        return error_set(&host->base.error, BP_ERROR_LIMIT, "'%.60s': %zu bytes from outside at once; %d are the most",
                         name, room, MOST_TAKEN);
    if (host->destruction.stepping != 0)
        return outside_take(&host->history.outside, name, taking, bytes, room, size);
    history_take_unseen(&host->history);
    bp_result_t result = taking->take(taking->context, bytes, room, size);
    *size = *size > room ? room : *size;
    return result;
}

static const bp_outside_api outside_table = {
    .struct_size = sizeof outside_table, .version = 1, .take = outside_table_take};

/* --- worlds that several ranks share ------------------------------------------------------------------------------ */

/* Calls are passed on to the plugin that shares worlds with other ranks. Its table is found anew each time, because the
 * plugin may come and go. */
static const bp_sharer_api *find_sharer(bp_host_o *host, const bp_plugin_t **plugin)
{
    const bp_sharer_api *sharer = registry_table(&host->registry, BP_SHARER_API, 1);
    const plugin_t *owner = registry_table_owner(&host->registry, BP_SHARER_API);
    if (sharer == NULL || sharer->version == 0 || owner == NULL || plugin_is_aside(owner))
        return NULL;
    *plugin = &owner->handed;
    return sharer;
}

static uint64_t share_table_durable(bp_world_o *world, bp_entity_t entity)
{
    const bp_plugin_t *plugin;
    const bp_sharer_api *sharer = find_sharer(world->rows.host, &plugin);
    return sharer == NULL ? 0 : sharer->durable(plugin, world, entity);
}

static uint32_t share_table_found(bp_world_o *world, uint64_t number, bp_entity_t *entity)
{
    const bp_plugin_t *plugin;
    const bp_sharer_api *sharer = find_sharer(world->rows.host, &plugin);
    *entity = (bp_entity_t){0};
    return sharer == NULL ? 0 : sharer->found(plugin, world, number, entity);
}

static uint32_t share_table_part(bp_world_o *world, uint32_t rank, bp_part_t *out)
{
    const bp_plugin_t *plugin;
    const bp_sharer_api *sharer = find_sharer(world->rows.host, &plugin);
    return sharer == NULL ? 0 : sharer->part(plugin, world, rank, out);
}

static bp_result_t refuse_unshared(bp_host_o *host)
{
    return error_set(&host->base.error, BP_ERROR_STATE, "no plugin of this host shares worlds with other ranks");
}

static bp_result_t share_table_pack(bp_host_o *host, const void **bytes, size_t *size)
{
    const bp_plugin_t *plugin;
    const bp_sharer_api *sharer = find_sharer(host, &plugin);
    *bytes = NULL;
    *size = 0;
    return sharer == NULL ? refuse_unshared(host) : sharer->pack(plugin, bytes, size);
}

static bp_result_t share_table_join(bp_host_o *host, uint32_t keeps_own, const bp_parcel_t *parcels, uint32_t count)
{
    const bp_plugin_t *plugin;
    const bp_sharer_api *sharer = find_sharer(host, &plugin);
    return sharer == NULL ? refuse_unshared(host) : sharer->join(plugin, keeps_own, parcels, count);
}

static const bp_share_api share_table = {
    .struct_size = sizeof share_table,
    .version = 1,
    .durable = share_table_durable,
    .found = share_table_found,
    .part = share_table_part,
    .pack = share_table_pack,
    .join = share_table_join,
};

/* --- all --------------------------------------------------------------------------------------------------------- */

static const bp_memory_api memory_table = {.struct_size = sizeof memory_table, .resize = memory_table_resize};

static const bp_error_api error_table = {
    .struct_size = sizeof error_table, .set = error_table_set, .last = error_table_last, .log = error_table_log,
    .of_call = error_table_of_call};

static const bp_name_api name_table = {
    .struct_size = sizeof name_table,
    .hash = names_hash,
    .intern = name_table_intern,
    .text = name_table_text,
    .assign = name_table_assign,
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
    .version = 2,
    .make = query_table_make,
    .end = queries_end,
    .begin = query_table_begin,
    .next = queries_next,
    .beside = query_table_beside,
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
    {BP_HISTORY_API, 4, &host_history_table},
    {BP_LOOK_API, 1, &host_look_table},
    {BP_MESSAGE_API, 1, &message_table},
    {BP_OUTSIDE_API, 1, &outside_table},
    {BP_QUERY_API, 2, &query_table},
    {BP_REFER_API, 1, &host_refer_table},
    {BP_SHARE_API, 1, &share_table},
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
        .entity = &host_entity_table,
        .world = &host_world_table,
        .property = &host_property_table,
        .registry = &registry_table_table,
        .report = &report_table,
        .command = &command_table,
        .scene = &scene_table,
        .file = &file_table,
    };
}
