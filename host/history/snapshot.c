/* snapshot.c - writing a host's state down.
 *
 * Columns are copied as they lie; only cells that hold something outside themselves are written one by one. Room for
 * all bytes is taken first, so that a snapshot costs little more than the copies.
 */
#include "snapshot.h"

#include "../plugin/verbs.h"
#include "../step/schedule_inner.h"
#include "states.h"

/* --- rows --------------------------------------------------------------------------------------------------------- */

static void put_items(bytes_t *b, const field_t *field, const void *items, uint32_t count)
{
    if (field->type != BP_STRING) {
        bytes_put(b, items, (size_t)count * field_item_size(field));
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *text;
        memcpy(&text, (const char *)items + i * sizeof text, sizeof text);
        bytes_text(b, text);
    }
}

static void put_counted(bytes_t *b, const field_t *field, const char *cells, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, cells += field->size) {
        uint32_t items;
        const void *first = field_items(field, cells, &items);
        if (field_is_list(field))
            bytes_u32(b, items);
        put_items(b, field, first, items);
    }
}

/* Write defaults in place of a column that its component makes again: its bytes may hold addresses. */
static void put_defaults(bytes_t *b, const field_t *field, uint32_t count)
{
    uint32_t items = field->elements > 0 ? field->elements : 1;
    for (uint32_t i = 0; i < count * items; i++)
        bytes_put(b, field_initial(field, i % items), field_item_size(field));
}

/* A column's bytes in the form of a snapshot, for columns where that is not the form in the run. */
static void put_coded(bytes_t *b, const run_t *run, uint32_t column)
{
    if (field_is_rebuilt(run->fields[column]))
        put_defaults(b, run->fields[column], run->count);
    else
        put_counted(b, run->fields[column], run->columns[column], run->count);
}

static bool is_coded(const run_t *run, uint32_t column)
{
    return field_is_rebuilt(run->fields[column]) || field_is_counted(run->fields[column]);
}

/* Are the column and its rows unchanged since the keyframe before, by their stamps? */
static bool is_unwritten(const run_t *run, uint32_t column, uint64_t since)
{
    const uint16_t columns[1] = {(uint16_t)column};
    uint32_t count;
    return run->stamps != NULL && since > 0 &&
           stamps_next(run->stamps, columns, column > 0, since, 0, run->count, &count) == BP_NONE;
}

/* Cut a column into pieces. Returns the number of its part. */
static uint32_t cut_column(snapshot_writer_t *w, const run_t *run, uint32_t column)
{
    pieces_t *p = w->pieces;
    uint64_t since = w->looks[w->key.world - 1];
    uint32_t number;
    w->key.column = column;
    if (!is_coded(run, column))
        return pieces_put_column(p, w->key, run->prototype, run->columns[column], run->count, run->sizes[column],
                                 since > 0 ? run->stamps : NULL, since);
    if (is_unwritten(run, column, since) && pieces_repeat(p, w->key, run->prototype, &number))
        return number;
    p->coded.size = 0;
    put_coded(&p->coded, run, column);
    return pieces_put(p, w->key, run->prototype, p->coded.start, p->coded.failed ? 0 : p->coded.size);
}

static void put_column(snapshot_writer_t *w, const run_t *run, uint32_t column)
{
    bytes_t *b = w->bytes;
    bytes_align(b, 16);
    if (w->pieces != NULL && (size_t)run->count * run->sizes[column] >= PART_LEAST) {
        bytes_u64(b, SNAPSHOT_PART | cut_column(w, run, column));
        bytes_align(b, 16);
        return;
    }
    size_t size = (size_t)run->count * run->sizes[column];
    if (w->in_place && size >= PART_LEAST && !is_coded(run, column)) {
        bytes_u64(b, SNAPSHOT_IN_PLACE | size);
        bytes_align(b, 16);
        bytes_u64(b, (uint64_t)(uintptr_t)run->columns[column]);
        return;
    }
    size_t length = bytes_begin_length(b);
    bytes_align(b, 16);
    if (is_coded(run, column))
        put_coded(b, run, column);
    else
        bytes_put(b, run->columns[column], size);
    bytes_end_length(b, length);
}

/* How many columns of a manager are written down: not those that a reload on probation keeps hidden, since bringing
 * back ends the probation first; nor those of a component that has gone, whose runs are empty: a host that is made like
 * this one has what the component's next version declares in their place. */
static uint32_t kept_columns(const manager_t *manager)
{
    return manager->started ? world_visible(manager) : 0;
}

/* The columns of a prototype but the entities'. The keys before its own come first. */
static void put_columns(snapshot_writer_t *w, const world_t *world, const run_t *run, uint32_t prototype)
{
    const prototypes_t *p = &world->prototypes;
    if (prototype == 0)
        return;
    uint32_t base = p->items[prototype].base, first = p->items[base].columns;
    put_columns(w, world, run, base);
    const manager_t *manager = world_key_manager(world, p->items[prototype].key);
    for (uint32_t c = 0; c < kept_columns(manager); c++)
        put_column(w, run, first + c);
}

static void put_run(snapshot_writer_t *w, const world_t *world, const run_t *run)
{
    bytes_t *b = w->bytes;
    bytes_u32(b, run->prototype);
    bytes_u32(b, run->count);
    bytes_u32(b, run->holes);
    bytes_u32(b, run->signature);
    bytes_put(b, run->left, sizeof run->left);
    put_column(w, run, 0);
    put_columns(w, world, run, run->prototype);
}

/* Bytes of all rows, as far as they are known without looking at cells. */
size_t snapshot_measure(const parts_t *parts)
{
    const entities_t *e = parts->entities;
    size_t size = ((size_t)e->bound + e->queue_count + e->reached) * sizeof(uint32_t) + 16384;
    for (uint32_t w = 0; w < parts->destruction->world_count; w++) {
        const world_t *world = parts->destruction->worlds[w];
        for (uint32_t r = 0; r < world->run_count; r++) {
            const run_t *run = world->runs[r];
            size_t row = 0;
            for (uint32_t c = 0; c < run->column_count; c++)
                row += run->sizes[c];
            size += row * run->count + run->column_count * 48u + 64;
        }
    }
    return size;
}

/* --- worlds ------------------------------------------------------------------------------------------------------- */

static bp_result_t put_manager(snapshot_writer_t *w, manager_t *manager)
{
    bytes_t *b = w->bytes;
    const component_t *component = manager->component;
    bytes_text(b, component->name);
    bytes_u32(b, manager->started);
    bytes_u32(b, component->own_storage);
    bytes_u32(b, component->table.version);
    bytes_u64(b, component->table.state_form);
    bytes_u32(b, kept_columns(manager));
    for (uint32_t c = 0; c < kept_columns(manager); c++) {
        const field_t *field = manager->columns[c];
        bytes_text(b, field->name);
        bytes_u32(b, field->type);
        bytes_u32(b, field->size);
        bytes_u32(b, field->elements);
        bytes_u32(b, field->flags & BP_FIELD_LIST);
    }
    return state_put_manager(w, manager);
}

static void put_notices(bytes_t *b, const notices_t *n)
{
    bytes_u32(b, n != NULL);
    if (n == NULL)
        return;
    uint32_t hops = n->indexed ? n->count : n->stretch_count;
    bytes_u32(b, n->words);
    bytes_u32(b, n->subscription_count);
    bytes_u32(b, n->signature_count);
    bytes_u32(b, n->count);
    bytes_u32(b, n->stretch_count);
    bytes_u32(b, n->kind_count);
    bytes_u32(b, n->indexed);
    bytes_u32(b, hops);
    bytes_align(b, 8);
    bytes_put(b, n->signatures, (size_t)n->signature_count * n->words * sizeof *n->signatures);
    bytes_put(b, n->kinds, n->kind_count * sizeof *n->kinds);
    bytes_put(b, n->entities, (size_t)n->count * sizeof *n->entities);
    bytes_put(b, n->hops, (size_t)hops * sizeof *n->hops);
}

static void put_prototypes(bytes_t *b, const world_t *world)
{
    const prototypes_t *p = &world->prototypes;
    bytes_u32(b, p->key_count);
    for (uint32_t i = 0; i < p->key_count; i++) {
        bytes_u64(b, p->keys[i].name);
        bytes_u32(b, world_key_manager(world, i)->written_as);
        bytes_u32(b, 0);
    }
    bytes_u32(b, p->count);
    for (uint32_t i = 1; i < p->count; i++) {
        bytes_u32(b, p->items[i].base);
        bytes_u32(b, p->items[i].key);
    }
}

static void put_holed(bytes_t *b, const world_t *world)
{
    bytes_u32(b, world->occupied);
    bytes_u32(b, world->holed_next);
    bytes_u32(b, world->holed_lost);
    bytes_u32(b, world->holed_count);
    for (uint32_t i = 0; i < world->holed_count; i++) {
        uint32_t r = 0;
        while (world->runs[r] != world->holed[i])
            r++;
        bytes_u32(b, r);
    }
}

static void put_commands(bytes_t *b, const commands_t *commands)
{
    bytes_u64(b, commands->made_step);
    bytes_u64(b, commands->failures);
    bytes_u32(b, commands->call_count);
    bytes_u32(b, commands->entity_count);
    bytes_put(b, commands->calls, commands->call_count * sizeof *commands->calls);
    bytes_align(b, 8);
    bytes_put(b, commands->entities, (size_t)commands->entity_count * sizeof *commands->entities);
}

static void put_messages(bytes_t *b, const messages_t *messages)
{
    bytes_u32(b, messages->count);
    for (uint32_t i = 0; i < messages->count; i++) {
        const pipe_t *pipe = messages->pipes[i];
        bytes_text(b, pipe->name);
        bytes_u32(b, pipe->size);
        bytes_u32(b, pipe->field_count);
        bytes_u32(b, pipe->read.count);
        for (uint32_t f = 0; f < pipe->field_count; f++) {
            bytes_text(b, pipe->fields[f].name);
            bytes_u32(b, pipe->fields[f].type);
            bytes_u32(b, pipe->fields[f].count);
            bytes_u32(b, pipe->fields[f].offset);
        }
        bytes_align(b, 8);
        bytes_put(b, pipe->read.records, (size_t)pipe->read.count * pipe->size);
    }
}

/* Say what is written next. */
static void set_key(snapshot_writer_t *w, uint32_t world, uint32_t kind, uint32_t item)
{
    w->key = (part_key_t){.world = world, .kind = kind, .item = item};
}

static bp_result_t put_units(snapshot_writer_t *w, const schedule_t *schedule, uint32_t number)
{
    bytes_t *b = w->bytes;
    bp_result_t result = BP_OK;
    bytes_u32(b, schedule->count);
    for (uint32_t i = 0; i < schedule->count && result == BP_OK; i++) {
        unit_t *unit = schedule->units[i];
        bytes_text(b, unit->name);
        bytes_u32(b, unit->system != NULL);
        bytes_u32(b, unit->told && !system_is_output(unit->system)); /* what such a one knows is no part of the past */
        bytes_u32(b, unit->subscription);
        bytes_u64(b, unit->system != NULL ? unit->system->table.state_form : 0);
        set_key(w, number, PART_UNIT, i);
        result = state_put_system(w, unit);
    }
    return result;
}

/* Number the managers that are written down; returns how many there are. The manager of a component that has gone is
 * written down only where a key names it: without a key nothing of the component is left that could be brought back,
 * and a host that has had it is as one that never had it. Managers of gone components come last, in the order of their
 * keys and not of the world, since a world that is brought back takes any manager of the component's name for one. */
static uint32_t number_managers(world_t *world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->manager_count; i++)
        world->managers[i]->written_as = world->managers[i]->started ? count++ : BP_NONE;
    for (uint32_t i = 0; i < world->prototypes.key_count; i++) {
        manager_t *manager = world_key_manager(world, i);
        manager->written_as = manager->written_as == BP_NONE ? count++ : manager->written_as;
    }
    return count;
}

static bp_result_t put_managers(snapshot_writer_t *w, world_t *world, uint32_t number)
{
    bp_result_t result = BP_OK;
    uint32_t next = 0;
    bytes_u32(w->bytes, number_managers(world));
    for (uint32_t i = 0; i < world->manager_count + world->prototypes.key_count && result == BP_OK; i++) {
        manager_t *manager = i < world->manager_count ? world->managers[i]
                                                      : world_key_manager(world, i - world->manager_count);
        if (manager->written_as != next)
            continue;
        set_key(w, number, PART_MANAGER, manager->number);
        result = put_manager(w, manager);
        next++;
    }
    return result;
}

static bp_result_t put_world(snapshot_writer_t *w, bp_world_o *handle, uint32_t number)
{
    bytes_t *b = w->bytes;
    world_t *world = &handle->rows;
    const schedule_t *schedule = handle->schedule;
    bytes_text(b, world->name);
    bytes_put(b, &handle->clock.step_rate, sizeof(double));
    bytes_put(b, &handle->clock.time, sizeof(double));
    bytes_put(b, &handle->clock.speed, sizeof(double));
    bytes_u64(b, handle->clock.steps);
    bytes_u64(b, handle->clock.granted);
    bytes_u32(b, handle->clock.stopped);
    bytes_u64(b, world->random);
    bp_result_t result = put_managers(w, world, number);
    put_prototypes(b, world);
    bytes_u32(b, world->run_count);
    for (uint32_t i = 0; i < world->run_count; i++) {
        set_key(w, number, PART_RUN, i);
        put_run(w, world, world->runs[i]);
    }
    put_holed(b, world);
    if (result == BP_OK)
        result = put_units(w, schedule, number);
    put_commands(b, &schedule->commands);
    put_messages(b, &schedule->messages);
    put_notices(b, world->notices);
    return result;
}

/* --- the host ----------------------------------------------------------------------------------------------------- */

/* Bytes of a size that the reader knows. */
static void put_block(snapshot_writer_t *w, uint32_t column, const void *bytes, size_t size)
{
    bool cut = w->pieces != NULL && size >= PART_LEAST;
    w->key.column = column;
    if (w->in_place) {
        bytes_u64(w->bytes, (uint64_t)(uintptr_t)bytes);
        return;
    }
    if (w->pieces != NULL)
        bytes_u64(w->bytes, cut ? SNAPSHOT_PART | pieces_put(w->pieces, w->key, 0, bytes, size) : 0);
    bytes_put(w->bytes, bytes, cut ? 0 : size);
}

static void put_entities(snapshot_writer_t *w, const entities_t *e)
{
    bytes_t *b = w->bytes;
    uint32_t tail = e->queue_size - e->queue_head, first = e->queue_count < tail ? e->queue_count : tail;
    uint32_t in_use = e->bound / ENTITIES_PAGE, floors = e->reached > in_use ? e->reached - in_use : 0;
    bytes_u32(b, e->base->values.entity_base);
    bytes_u32(b, e->bound);
    bytes_u32(b, e->living);
    bytes_u32(b, e->queue_count);
    bytes_align(b, 16);
    set_key(w, 0, PART_IDS, 0);
    put_block(w, 0, e->lives, e->bound * sizeof *e->lives);
    if (first > 0) /* else there may be no queue yet */
        bytes_put(b, e->queue + e->queue_head, first * sizeof *e->queue);
    bytes_put(b, e->queue, (e->queue_count - first) * sizeof *e->queue);
    bytes_u32(b, e->parked_count);
    bytes_u32(b, e->reached);
    bytes_u32(b, floors);
    if (floors > 0) /* else there may be no list of them */
        bytes_put(b, e->floors + e->reached - floors, floors * sizeof *e->floors);
}

/* Pools are numbered like the worlds that they belong to, so that equal hosts have equal snapshots. */
static uint32_t number_of_owner(const entities_t *e, uint32_t page)
{
    const entity_pool_t *owner = entities_owner(e, page * ENTITIES_PAGE);
    if (owner == NULL)
        return 0;
    const void *world = (const char *)owner - offsetof(world_t, ids);
    return ((const world_t *)world)->number + 1;
}

static void put_pools(const parts_t *parts, bytes_t *b)
{
    const entities_t *e = parts->entities;
    const destruction_t *d = parts->destruction;
    uint32_t pages = 0;
    for (uint32_t i = 0; i < d->world_count; i++)
        pages += d->worlds[i]->ids.pages;
    pages = pages == 0 ? 0 : (e->bound - 1) / ENTITIES_PAGE + 1;
    bytes_u32(b, pages);
    for (uint32_t i = 0; i < pages; i++)
        bytes_u32(b, number_of_owner(e, i));
    bytes_u32(b, d->world_count);
    for (uint32_t i = 0; i < d->world_count; i++) {
        const entity_pool_t *pool = &d->worlds[i]->ids;
        bytes_u32(b, pool->fresh);
        bytes_u32(b, pool->fresh_end);
        bytes_u32(b, pool->count);
        for (uint32_t k = 0, index = pool->head; k < pool->count; k++, index = e->links[index])
            bytes_u32(b, index);
    }
}

static void put_spawns(bytes_t *b, const scenes_t *scenes)
{
    bytes_u32(b, scenes->spawn_count);
    bytes_u32(b, scenes->first_free);
    for (uint32_t i = 0; i < scenes->spawn_count; i++) {
        const spawned_t *spawn = &scenes->spawns[i];
        bool present = spawn->entities != NULL;
        bytes_u32(b, present);
        bytes_u32(b, present ? spawn->count : 0);
        bytes_u32(b, spawn->generation);
        bytes_u32(b, present ? BP_NONE : spawn->next_free);
        bytes_align(b, 8);
        bytes_put(b, spawn->entities, present ? spawn->count * sizeof *spawn->entities : 0);
    }
}

const plugin_t *snapshot_crashed(const parts_t *parts)
{
    for (uint32_t i = 0; i < parts->loader->plugins.count; i++) {
        if (plugin_is_aside(parts->loader->plugins.items[i]))
            return parts->loader->plugins.items[i];
    }
    return NULL;
}

bp_result_t snapshot_between(const parts_t *parts)
{
    error_text_t *error = &parts->base->error;
    const destruction_t *d = parts->destruction;
    bool busy = d->stepping != 0 || d->announcing || d->queue_count > 0 || d->waiting_count > 0 ||
        parts->entities->sealed || parts->loader->plugins.calling > 0 ||
        (parts->base->attention & BASE_ASKED) != 0;
    for (uint32_t i = 0; i < d->world_count && !busy; i++)
        busy = world_holds_rows(d->worlds[i]) || commands_pending(&world_handle(d->worlds[i])->schedule->commands);
    if (busy)
        return error_set(error, BP_ERROR_STATE,
                         "a host is written down, or brought back, between steps only: not from inside a step, a "
                         "destruction callback, a verb of a component or a reload");
    return BP_OK;
}

bp_result_t snapshot_moment(const parts_t *parts)
{
    bp_result_t result = snapshot_between(parts);
    const plugin_t *crashed = result == BP_OK ? snapshot_crashed(parts) : NULL;
    return crashed == NULL ? result
                           : error_set(&parts->base->error, BP_ERROR_STATE,
                                       "plugin '%s' has crashed and is set aside: its state cannot be kept",
                                       crashed->name);
}

static bp_result_t settle(const parts_t *parts)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < parts->destruction->world_count && result == BP_OK; i++)
        result = schedule_attune(world_handle(parts->destruction->worlds[i])->schedule);
    return result;
}

static bp_result_t put_all(snapshot_writer_t *w)
{
    const parts_t *parts = w->parts;
    bytes_t *b = w->bytes;
    bp_result_t result = BP_OK;
    bytes_u64(b, SNAPSHOT_MAGIC);
    put_entities(w, parts->entities);
    put_pools(parts, b);
    put_spawns(b, parts->scenes);
    bytes_u32(b, parts->loader->plugins.count);
    for (uint32_t i = 0; i < parts->loader->plugins.count && result == BP_OK; i++) {
        plugin_t *plugin = parts->loader->plugins.items[i];
        bytes_text(b, plugin->name);
        bytes_text(b, plugin->version);
        bytes_u64(b, plugin->desc.state_form);
        set_key(w, 0, PART_PLUGIN, i);
        result = state_put_plugin(w, plugin);
    }
    bytes_u32(b, parts->destruction->world_count);
    for (uint32_t i = 0; i < parts->destruction->world_count && result == BP_OK; i++)
        result = put_world(w, world_handle(parts->destruction->worlds[i]), i + 1);
    return result;
}

static bp_result_t prepare(const parts_t *parts)
{
    bp_result_t result = snapshot_moment(parts);
    if (result == BP_OK)
        result = snapshot_check(parts);
    return result == BP_OK ? settle(parts) : result;
}

/* Write, while plugins keep still and nothing may be changed. */
static bp_result_t write_down(snapshot_writer_t *w)
{
    loader_pause_all(w->parts->loader, BP_PAUSE_SNAPSHOT);
    destruction_seal(w->parts->destruction, true);
    bp_result_t result = put_all(w);
    destruction_seal(w->parts->destruction, false);
    loader_resume_all(w->parts->loader, BP_PAUSE_SNAPSHOT);
    return result;
}

static bp_result_t take(const parts_t *parts, bytes_t *bytes, bool in_place)
{
    size_t before = bytes->size;
    snapshot_writer_t writer = {.parts = parts, .bytes = bytes, .in_place = in_place};
    bp_result_t result = prepare(parts);
    if (result != BP_OK)
        return result;
    bytes_align(bytes, 16);
    if (in_place || bytes_reserve(bytes, snapshot_measure(parts)))
        result = write_down(&writer);
    if (result == BP_OK && bytes->failed)
        result = error_memory(&parts->base->error, "writing down a host");
    if (result == BP_OK)
        return BP_OK;
    bytes->size = before;
    bytes->failed = false;
    return result;
}

bp_result_t snapshot_take(const parts_t *parts, bytes_t *bytes)
{
    return take(parts, bytes, false);
}

bp_result_t snapshot_take_in_place(const parts_t *parts, bytes_t *bytes)
{
    return take(parts, bytes, true);
}

bp_result_t snapshot_take_pieces(const parts_t *parts, pieces_t *pieces, const uint64_t *looks)
{
    bytes_t *rest = &pieces->rest;
    snapshot_writer_t writer = {.parts = parts, .bytes = rest, .pieces = pieces, .looks = looks};
    bp_result_t result = prepare(parts);
    if (result != BP_OK)
        return result;
    rest->size = 0;
    result = write_down(&writer);
    if (result == BP_OK)
        pieces_put(pieces, (part_key_t){.world = BP_NONE, .kind = PART_REST}, 0, rest->start,
                   rest->failed ? 0 : rest->size);
    if (result == BP_OK && (rest->failed || pieces->coded.failed || pieces->no_memory))
        result = error_memory(&parts->base->error, "writing down a host");
    rest->failed = pieces->coded.failed = false;
    return result;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

void snapshot_put_names(const base_t *base, bytes_t *bytes)
{
    bytes_u32(bytes, base->names.count);
    for (uint32_t i = 0; i < base->names.capacity; i++) {
        if (base->names.entries[i].name != 0)
            bytes_text(bytes, base->names.entries[i].text);
    }
}

bp_result_t snapshot_read_names(base_t *base, reader_t *reader)
{
    bp_result_t result = BP_OK;
    for (uint32_t count = reader_count(reader, 5); count > 0 && result == BP_OK && !reader->failed; count--) {
        bp_name_t name;
        const char *text = reader_text(reader);
        if (!reader->failed)
            result = names_intern(&base->names, text, &name, &base->error);
    }
    return result;
}
