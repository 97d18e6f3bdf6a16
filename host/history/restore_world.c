/* restore_world.c - bringing back one world: its rows, its prototypes, and the rest of its state. */
#include "../base/cells.h"
#include "../store/notices.h"
#include "../store/own.h"
#include "../store/store.h"
#include "restore.h"

/* --- managers ----------------------------------------------------------------------------------------------------- */

manager_t *restore_manager(const world_t *world, const kept_world_t *kept, uint32_t number)
{
    const kept_manager_t *then = &kept->managers[number];
    uint32_t before = 0;
    for (uint32_t i = 0; i < number; i++)
        before += kept->managers[i].started == then->started && strcmp(kept->managers[i].type, then->type) == 0;
    for (uint32_t i = 0; i < world->manager_count; i++) {
        manager_t *manager = world->managers[i];
        if (manager->started == (then->started != 0) && strcmp(manager->component->name, then->type) == 0 &&
            before-- == 0)
            return manager;
    }
    return NULL;
}

/* --- prototypes --------------------------------------------------------------------------------------------------- */

static bp_result_t no_memory(const world_back_t *back)
{
    return error_memory(&back->world->rows.base->error, "bringing a world back");
}

/* Make the keys and prototypes of the snapshot, with the numbers that they have there. */
static bp_result_t make_prototypes(world_back_t *back)
{
    world_t *world = &back->world->rows;
    const kept_world_t *kept = back->kept;
    if (!prototypes_init(&back->prototypes, &world->memory, world->base))
        return no_memory(back);
    back->made_prototypes = true;
    for (uint32_t i = 0; i < kept->key_count; i++) {
        const manager_t *manager = restore_manager(world, kept, kept->keys[i].manager);
        component_key_t key = {.name = kept->keys[i].name,
                               .manager = manager->number,
                               .columns = (uint16_t)manager->column_count};
        key.flags = world_key_flags(manager->component);
        key.flags |= manager->started ? 0 : KEY_GONE;
        uint32_t number;
        bp_result_t result = prototypes_key(&back->prototypes, key, &number);
        if (result == BP_OK && number != i)
            result = error_set(&world->base->error, BP_ERROR_SYNTAX, "key %u of world '%s' is there twice", i,
                               world->name);
        if (result != BP_OK)
            return result;
    }
    for (uint32_t i = 1; i < kept->prototype_count; i++) {
        uint32_t number = prototypes_child(&back->prototypes, kept->prototypes[i].base, kept->prototypes[i].key);
        if (number == BP_NONE)
            return no_memory(back);
        if (number != i)
            return error_set(&world->base->error, BP_ERROR_SYNTAX, "prototype %u of world '%s' is there twice", i,
                             world->name);
    }
    return BP_OK;
}

static bp_result_t compare_prototypes(world_back_t *back)
{
    const prototypes_t *now = &back->world->rows.prototypes, *then = &back->prototypes;
    back->same = memory_new(&back->world->rows.memory, then->count);
    if (back->same == NULL)
        return no_memory(back);
    back->same[0] = BACK_SAME;
    for (uint32_t i = 1; i < then->count && i < now->count; i++) {
        uint32_t key = then->items[i].key;
        bool same = now->items[i].base == then->items[i].base && now->items[i].key == key &&
                    now->keys[key].name == then->keys[key].name &&
                    now->keys[key].manager == then->keys[key].manager && back->same[then->items[i].base] != BACK_OTHER;
        back->same[i] = same ? BACK_SAME : BACK_OTHER;
    }
    return BP_OK;
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

static run_t *find_run(const world_back_t *back, uint32_t prototype)
{
    return back->same[prototype] != BACK_OTHER ? back->world->rows.prototypes.items[prototype].run : NULL;
}

/* A run of the attic, or a new one. */
static run_t *make_run(world_back_t *back, run_back_t *to, uint32_t prototype)
{
    world_t *world = &back->world->rows;
    const prototype_t *item = &back->prototypes.items[prototype];
    size_t size = (item->columns + 1u) * sizeof(field_t *);
    const field_t **fields = memory_resize(&world->memory, NULL, 0, size);
    run_t *run = NULL;
    if (fields == NULL)
        return NULL;
    store_fields(world, &back->prototypes, prototype, fields);
    for (uint32_t i = world->attic_count - back->attic_taken; i > 0 && run == NULL; i--) {
        uint32_t last = world->attic_count - back->attic_taken - 1;
        if (!run_renew(world->attic[i - 1], prototype, fields, item->columns, item->flags))
            continue;
        run = world->attic[i - 1];
        world->attic[i - 1] = world->attic[last];
        world->attic[last] = run;
        back->attic_taken++;
        to->renewed = true;
        /* References into the run number fields as the present declarations do, which may be newer than the run. */
        if ((int32_t)(world->ref_version - run->version) > 0)
            run->version = world->ref_version;
    }
    if (run == NULL) {
        run = run_create(&world->memory, prototype, fields, item->columns, item->flags);
        to->made = run != NULL;
        if (run != NULL)
            run->version = world->ref_version;
    }
    memory_free(&world->memory, fields, size);
    if (run != NULL && !run_match_stamps(run, &world->memory, world->stamp_users > 0 ? &world->moment : NULL)) {
        if (to->made)
            run_free(run, &world->memory, &world->holdings);
        else
            run_empty(run, &world->memory, &world->holdings);
        to->made = to->renewed = false;
        run = NULL;
    }
    return run;
}

static bool read_items(const holdings_t *holdings, const field_t *field, reader_t *r, void *to, uint32_t count)
{
    if (field->type != BP_STRING) {
        size_t size = (size_t)count * field_item_size(field);
        const void *items = reader_take(r, size);
        if (items != NULL && size > 0)
            memcpy(to, items, size);
        return items != NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *text = strings_acquire(holdings->strings, reader_text(r));
        if (text == NULL) {
            for (; i > 0; i--) {
                memcpy(&text, (char *)to + (i - 1) * sizeof text, sizeof text);
                strings_release(holdings->strings, text);
            }
            return false;
        }
        memcpy((char *)to + i * sizeof text, &text, sizeof text);
    }
    return true;
}

static bool read_cell(const holdings_t *holdings, const field_t *field, reader_t *r, void *cell)
{
    if (!field_is_list(field))
        return read_items(holdings, field, r, cell, field->elements > 0 ? field->elements : 1);
    bp_list_t list = {NULL, 0, 0};
    uint32_t count = reader_u32(r), size = field_item_size(field);
    bool good = count == 0 || lists_reserve(holdings->lists, &list, size, count);
    if (good && !read_items(holdings, field, r, list.items, count)) {
        lists_release(holdings->lists, &list, size);
        good = false;
    }
    list.count = good ? count : 0;
    memcpy(cell, &list, sizeof list);
    return good;
}

/* The cells of a column that hold something outside themselves; NULL when out of memory. */
static void *make_cells(world_t *world, const kept_column_t *kept, const field_t *field, uint32_t count)
{
    size_t size = (size_t)field->size * count;
    char *cells = memory_resize(&world->memory, NULL, 0, size);
    reader_t r = reader_of(kept->data, (size_t)kept->size);
    for (uint32_t i = 0; cells != NULL && i < count; i++) {
        if (read_cell(&world->holdings, field, &r, cells + (size_t)i * field->size))
            continue;
        cells_release(&world->holdings, field, cells, i);
        memory_free(&world->memory, cells, size);
        return NULL;
    }
    return cells;
}

static bool make_counted(world_t *world, run_back_t *to, const kept_run_t *kept)
{
    if (!to->run->has_counted || kept->count == 0)
        return true;
    to->cells = memory_new(&world->memory, kept->column_count * sizeof *to->cells);
    for (uint32_t c = 1; to->cells != NULL && c < kept->column_count; c++) {
        if (!field_is_counted(to->run->fields[c]))
            continue;
        to->cells[c] = make_cells(world, &kept->columns[c], to->run->fields[c], kept->count);
        if (to->cells[c] == NULL)
            return false;
    }
    return to->cells != NULL;
}

static bp_result_t prepare_runs(world_back_t *back)
{
    world_t *world = &back->world->rows;
    const kept_world_t *kept = back->kept;
    back->runs = memory_new(&world->memory, (kept->run_count + 1u) * sizeof *back->runs);
    if (back->runs == NULL)
        return no_memory(back);
    for (uint32_t i = 0; i < kept->run_count; i++) {
        const kept_run_t *k = &kept->runs[i];
        run_back_t *to = &back->runs[i];
        to->run = find_run(back, k->prototype);
        if (to->run != NULL)
            back->same[k->prototype] = BACK_SAME_RUN;
        else
            to->run = make_run(back, to, k->prototype);
        if (to->run == NULL ||
            !run_reserve(to->run, &world->memory, k->count > to->run->count ? k->count - to->run->count : 0) ||
            !make_counted(world, to, k))
            return no_memory(back);
    }
    return BP_OK;
}

static bool is_kept(const world_back_t *back, const run_t *run)
{
    return run->prototype < back->prototypes.count && back->same[run->prototype] == BACK_SAME_RUN;
}

static bool is_column(const kept_column_t *column, const void *bytes)
{
    return column->part != NULL ? part_is(column->cut, column->part, bytes)
                                : column->size == 0 || memcmp(column->data, bytes, (size_t)column->size) == 0;
}

/* Has the world the entities of the snapshot in the rows of the snapshot? */
static bool has_same_rows(const world_back_t *back)
{
    const world_t *world = &back->world->rows;
    uint64_t rows = 0, kept = 0;
    for (uint32_t i = 0; i < world->run_count; i++)
        rows += world->runs[i]->count;
    for (uint32_t i = 0; i < back->kept->run_count; i++)
        kept += back->kept->runs[i].count;
    bool same = rows == kept;
    for (uint32_t i = 0; i < back->kept->run_count && same; i++) {
        const kept_run_t *k = &back->kept->runs[i];
        const run_t *run = back->runs[i].run;
        same = !back->runs[i].made && find_run(back, k->prototype) == run && run->count == k->count &&
               run->holes == k->holes && is_column(&k->columns[0], run->columns[0]);
    }
    return same;
}

/* --- room --------------------------------------------------------------------------------------------------------- */

static bp_result_t reserve_notices(world_back_t *back)
{
    world_t *world = &back->world->rows;
    notices_t *n = world->notices;
    const kept_notices_t *kept = &back->kept->notices;
    if ((n != NULL) != (kept->present != 0) ||
        (n != NULL && (n->subscription_count != kept->subscriptions || n->words != kept->words)))
        return error_set(&world->base->error, BP_ERROR_STATE,
                         "other systems of world '%s' want to be told of entities than then", world->name);
    if (n == NULL)
        return BP_OK;
    uint64_t needed = (uint64_t)kept->count + back->kept->occupied + 1;
    bool good = memory_reserve(&n->memory, &n->hops, &n->hop_capacity, needed, sizeof *n->hops) &&
                memory_reserve(&n->memory, &n->entities, &n->entity_capacity, needed, sizeof *n->entities) &&
                (n->has_places = records_reserve_places(world)) &&
                memory_reserve(&n->memory, &n->signatures, &n->signature_capacity, kept->signature_count + UINT64_C(1),
                               n->words * sizeof *n->signatures);
    return good ? BP_OK : no_memory(back);
}

/* The page of records that an entity of a list needs and the world lacks; BP_NONE: there is none. */
static uint32_t lacking_page(const world_t *world, const void *entities, uint32_t i)
{
    bp_entity_t e;
    memcpy(&e, (const char *)entities + i * sizeof e, sizeof e);
    uint32_t index = bp_entity_index(e), page = index / ENTITIES_PAGE;
    return e.id != 0 && page < world->entities->page_capacity && !world_has_record(world, index) ? page : BP_NONE;
}

/* Records for entities, as far as the host has pages for their indices: pages in a row at once, as they lie in a world
 * that was filled from the beginning. */
static bool reserve_records_of(world_t *world, const void *entities, uint32_t count)
{
    uint32_t first = 0, pages = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t page = lacking_page(world, entities, i);
        if (page == BP_NONE || (pages > 0 && page - first < pages))
            continue;
        if (pages > 0 && page != first + pages) {
            if (!records_reserve(world, first, pages))
                return false;
            pages = 0;
        }
        first = pages == 0 ? page : first;
        pages++;
    }
    return records_reserve(world, first, pages);
}

/* Records for the entities of a column of a snapshot. */
static bool reserve_records_in(world_t *world, const kept_column_t *column, uint32_t count)
{
    const part_t *part = column->part;
    bool good = part != NULL || reserve_records_of(world, column->data, count);
    for (uint32_t i = 0; part != NULL && good && i < part->count; i++) {
        const piece_t *piece = column->cut->pieces[part->first + i];
        good = reserve_records_of(world, piece_bytes(piece), piece->size / (uint32_t)sizeof(bp_entity_t));
    }
    return good;
}

/* Make records for all entities that had components, and for all that systems are still to be told of. */
static bool reserve_records(world_t *world, const kept_world_t *kept, bool same_rows)
{
    bool good = reserve_records_of(world, kept->notices.entities, kept->notices.count);
    for (uint32_t i = 0; i < kept->run_count && !same_rows; i++)
        good = good && reserve_records_in(world, &kept->runs[i].columns[0], kept->runs[i].count);
    return good;
}

static bp_result_t reserve(world_back_t *back)
{
    world_t *world = &back->world->rows;
    const kept_world_t *kept = back->kept;
    commands_t *commands = &back->world->schedule->commands;
    bool good =
        reserve_records(world, kept, back->same_rows) &&
        memory_reserve(&world->memory, &world->holed, &world->holed_capacity, kept->holed_count, sizeof *world->holed)
            &&
        memory_reserve(&world->memory, &world->runs, &world->run_capacity, kept->run_count, sizeof *world->runs) &&
        memory_reserve(&world->memory, &world->attic, &world->attic_capacity,
                       (uint64_t)world->attic_count + world->run_count, sizeof *world->attic) &&
        memory_reserve(&commands->memory, &commands->calls, &commands->call_capacity, kept->call_count,
                       sizeof *commands->calls) &&
        memory_reserve(&commands->memory, &commands->entities, &commands->entity_capacity, kept->created_count,
                       sizeof *commands->entities);
    return good ? reserve_notices(back) : no_memory(back);
}

bp_result_t world_back_prepare_messages(world_back_t *back)
{
    messages_t *messages = &back->world->schedule->messages;
    for (uint32_t i = 0; i < back->kept->channel_count; i++) {
        const kept_channel_t *kept = &back->kept->channels[i];
        pipe_t *pipe;
        bp_result_t result = messages_need(messages, kept->name, kept->fields, kept->field_count, &pipe);
        if (result != BP_OK)
            return result;
        if (!memory_reserve(messages->memory, &pipe->sent.records, &pipe->sent.capacity, kept->count, pipe->size))
            return no_memory(back);
    }
    return BP_OK;
}

/* Could a property that was resolved for the present layout be wrong afterwards, because prototypes or runs differ? */
static bool changes_layout(const world_back_t *back)
{
    const world_t *world = &back->world->rows;
    bool changes = world->prototypes.count != back->prototypes.count;
    for (uint32_t i = 0; i < back->prototypes.count && !changes; i++)
        changes = back->same[i] == BACK_OTHER;
    for (uint32_t i = 0; i < world->run_count && !changes; i++)
        changes = !is_kept(back, world->runs[i]);
    return changes;
}

bp_result_t world_back_prepare(world_back_t *back, bp_world_o *world, const kept_world_t *kept,
                               uint32_t *layouts)
{
    *back = (world_back_t){.world = world, .kept = kept};
    bp_result_t result = make_prototypes(back);
    if (result == BP_OK)
        result = compare_prototypes(back);
    if (result == BP_OK)
        result = prepare_runs(back);
    back->same_rows = result == BP_OK && has_same_rows(back);
    back->has_records = world->rows.pages_used > 0;
    if (result == BP_OK)
        result = reserve(back);
    if (result == BP_OK && changes_layout(back))
        back->layout = world_draw_layout(&world->rows, layouts);
    return result;
}

void world_back_free(world_back_t *back)
{
    if (back->world == NULL)
        return;
    world_t *world = &back->world->rows;
    memory_t *memory = &world->memory;
    for (uint32_t i = 0; back->runs != NULL && i < back->kept->run_count; i++) {
        run_back_t *to = &back->runs[i];
        const kept_run_t *kept = &back->kept->runs[i];
        for (uint32_t c = 1; to->cells != NULL && c < kept->column_count; c++) {
            if (to->cells[c] == NULL)
                continue;
            cells_release(&world->holdings, to->run->fields[c], to->cells[c], kept->count);
            memory_free(memory, to->cells[c], (size_t)to->run->sizes[c] * kept->count);
        }
        memory_free(memory, to->cells, to->cells == NULL ? 0 : kept->column_count * sizeof *to->cells);
        if (to->made)
            run_free(to->run, memory, &world->holdings);
        else if (to->renewed)
            run_empty(to->run, memory, &world->holdings);
    }
    memory_free(memory, back->runs, back->runs == NULL ? 0 : (back->kept->run_count + 1u) * sizeof *back->runs);
    memory_free(memory, back->same, back->same == NULL ? 0 : back->kept->prototype_count);
    if (back->made_prototypes)
        prototypes_free(&back->prototypes);
    *back = (world_back_t){.world = NULL};
}

/* --- putting in place --------------------------------------------------------------------------------------------- */

static void put_rows(world_t *world, run_back_t *to, const kept_run_t *kept)
{
    run_t *run = to->run;
    memory_t *memory = &world->memory;
    if (run->count > 0)
        run_release(run, 1, run->column_count, 0, run->count, &world->holdings);
    for (uint32_t c = 0; c < run->column_count && kept->count > 0; c++) {
        size_t size = (size_t)run->sizes[c] * kept->count;
        bool counted = to->cells != NULL && to->cells[c] != NULL;
        if (!counted) {
            kept_column_copy(&kept->columns[c], run->columns[c]);
            continue;
        }
        memcpy(run->columns[c], to->cells[c], size);
        memory_free(memory, to->cells[c], size);
    }
    memory_free(memory, to->cells, to->cells == NULL ? 0 : kept->column_count * sizeof *to->cells);
    to->cells = NULL;
    to->made = to->renewed = false;
    run->count = kept->count;
    run->holes = kept->holes;
    run_set_signature(run, kept->signature);
    run->in_holes_list = run->pending = run->roomy_since = 0;
    memcpy(run->left, kept->left, sizeof run->left);
    run->version++;
}

static void put_holes(run_t *run)
{
    const bp_entity_t *entities = run_entities(run);
    if (run->capacity > 0)
        holes_clear(&run->hole_set, run->hole_set.rows);
    for (uint32_t row = 0, left = run->holes; left > 0; row++) {
        if (entities[row].id != 0)
            continue;
        holes_add(&run->hole_set, row);
        left--;
    }
}

static void put_records(world_t *world, const run_t *run)
{
    const bp_entity_t *entities = run_entities(run);
    for (uint32_t row = 0; row < run->count; row++) {
        bp_entity_t e = entities[row];
        if (e.id != 0)
            *world_own_record(world, e) = (record_t){bp_entity_generation(e), run->prototype, row};
    }
}

/* Move the runs that the snapshot does not have to the attic; the runs taken from the attic's end leave it. */
static void clear_out(world_back_t *back)
{
    world_t *world = &back->world->rows;
    world->attic_count -= back->attic_taken;
    for (uint32_t i = 0; i < world->run_count; i++) {
        run_t *run = world->runs[i];
        if (is_kept(back, run))
            continue;
        run_empty(run, &world->memory, &world->holdings);
        world->attic[world->attic_count++] = run;
    }
}

static void put_notices(notices_t *n, const kept_notices_t *kept)
{
    if (n == NULL)
        return;
    n->signature_count = kept->signature_count;
    n->count = kept->count;
    n->stretch_count = kept->stretch_count;
    n->kind_count = kept->kind_count;
    n->indexed = kept->indexed != 0;
    if (kept->signature_count > 0)
        memcpy(n->signatures, kept->signatures, (size_t)kept->signature_count * n->words * sizeof *n->signatures);
    memcpy(n->kinds, kept->kinds, kept->kind_count * sizeof *n->kinds);
    if (kept->count > 0)
        memcpy(n->entities, kept->entities, (size_t)kept->count * sizeof *n->entities);
    if (kept->hop_count > 0)
        memcpy(n->hops, kept->hops, (size_t)kept->hop_count * sizeof *n->hops);
    notices_write_places(n);
}

static void put_commands(commands_t *commands, const kept_world_t *kept)
{
    commands->made_step = kept->made_step;
    commands->failures = kept->failures;
    commands->call_count = kept->call_count;
    commands->entity_count = kept->created_count;
    if (kept->call_count > 0)
        memcpy(commands->calls, kept->calls, kept->call_count * sizeof *commands->calls);
    if (kept->created_count > 0)
        memcpy(commands->entities, kept->created, (size_t)kept->created_count * sizeof *commands->entities);
}

/* Put the records to be read into their channels field by field, since a channel may have got more fields since, or the
 * same ones in another order. */
static void put_messages(messages_t *messages, const kept_world_t *kept)
{
    for (uint32_t i = 0; i < kept->channel_count; i++) {
        const kept_channel_t *from = &kept->channels[i];
        pipe_t *pipe = messages_find(messages, from->name); /* prepared */
        if (from->count > 0)
            memset(pipe->sent.records, 0, (size_t)from->count * pipe->size);
        for (uint32_t f = 0; f < from->field_count; f++) {
            const message_field_t *field = &from->fields[f], *to = messages_field_like(pipe, field);
            for (uint32_t r = 0; r < from->count; r++)
                memcpy(pipe->sent.records + (size_t)r * pipe->size + to->offset,
                       from->records + (size_t)r * from->size + field->offset, message_field_size(field));
        }
        pipe->sent.count = from->count;
    }
    messages_turn(messages);
}

static void put_clock(world_clock_t *clock, const kept_world_t *kept)
{
    clock->step_rate = kept->step_rate;
    clock->time = kept->time;
    clock->steps = kept->steps;
    world_clock_settle(clock);
    clock->speed = kept->speed;
    clock->granted = kept->granted;
    clock->stopped = kept->stopped != 0;
}

void world_back_commit(world_back_t *back)
{
    world_t *world = &back->world->rows;
    schedule_t *schedule = back->world->schedule;
    const kept_world_t *kept = back->kept;
    clear_out(back);
    prototypes_free(&world->prototypes);
    world->prototypes = back->prototypes;
    back->made_prototypes = false;
    if (!back->same_rows && back->has_records)
        records_clear(world);
    world->run_count = kept->run_count;
    for (uint32_t i = 0; i < kept->run_count; i++) {
        run_t *run = back->runs[i].run;
        put_rows(world, &back->runs[i], &kept->runs[i]);
        if (!back->same_rows) {
            put_holes(run);
            put_records(world, run);
        }
        run->flags = world->prototypes.items[run->prototype].flags;
        world->prototypes.items[run->prototype].run = run;
        world->runs[i] = run;
    }
    world->holed_count = kept->holed_count;
    for (uint32_t i = 0; i < kept->holed_count; i++) {
        uint32_t number;
        memcpy(&number, (const char *)kept->holed + i * sizeof number, sizeof number);
        world->holed[i] = world->runs[number];
        world->holed[i]->in_holes_list = 1;
    }
    world->holed_next = kept->holed_next;
    world->holed_lost = kept->holed_lost != 0;
    world->occupied = kept->occupied;
    own_find(world);
    world->random = kept->random;
    world->trim_next = 0;
    if (back->layout != 0)
        world_change_layout(world, back->layout);
    put_notices(world->notices, &kept->notices);
    put_commands(&schedule->commands, kept);
    put_messages(&schedule->messages, kept);
    put_clock(&back->world->clock, kept);
    for (uint32_t i = 0; i < schedule->count; i++) {
        unit_t *unit = schedule->units[i];
        if (unit->system != NULL && !system_is_output(unit->system)) /* of output: schedule_suspend_outputs */
            unit->told = kept->units[i].told != 0;
    }
    schedule_forget_runs(schedule);
    world->roster++; /* kept queries look at its runs anew */
    world_note_all(world);
}
