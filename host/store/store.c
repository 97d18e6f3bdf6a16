/* store.c - creating entities with components in bulk, and the rows that a spawn appends.
 *
 * Creating a composition appends to one run: memory first, then the entities, then each column in one go. Instances of
 * managers with their own storage come last, since only these managers can refuse; a refusal takes the whole batch
 * back.
 *
 * Adding and removing are in store_change.c, taking out all components of a plugin in store_move.c; death and
 * collection are in store_death.c; looking up an entity's components in store_look.c.
 */
#include "store.h"

#include "../plugin/verbs.h"
#include "hooks.h"
#include "store_inner.h"

#include <stdlib.h>

/* --- prototypes and bulk creation --------------------------------------------------------------------------------- */

bp_result_t store_prototype(world_t *world, const uint32_t *keys, uint32_t count, uint32_t *prototype)
{
    uint32_t at = 0, column;
    for (uint32_t i = 0; i < count; i++) {
        if (keys[i] >= world->prototypes.key_count || !world_key_manager(world, keys[i])->started)
            return error_set(&world->base->error, BP_ERROR_NOT_FOUND, "world '%s' has no component key %u", world->name,
                             keys[i]);
        if ((world->prototypes.keys[keys[i]].flags & KEY_WORLD) != 0)
            return store_refuse_owned(world, keys[i]);
        bp_result_t result = prototypes_with(&world->prototypes, at, keys[i], &at, &column);
        if (result != BP_OK)
            return result;
    }
    *prototype = at;
    return BP_OK;
}

/* The cell of the slot of a new entity's instance of the chain's prototype `at`. */
static uint32_t *slot_cell(const world_t *world, const run_t *run, uint32_t at, bp_entity_t e)
{
    const prototypes_t *p = &world->prototypes;
    return run_cell(run, p->items[p->items[at].base].columns, world_record(world, e)->row);
}

/* Put the slots of new instances where the world finds them: until then they are BP_NONE there. */
static void put_slots(const world_t *world, const run_t *run, uint32_t at, const bp_entity_t *entities,
                      const uint32_t *slots, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        *slot_cell(world, run, at, entities[i]) = slots[i];
}

/* End the instances of one component of new rows. */
static void take_slots(world_t *world, const run_t *run, uint32_t at, const bp_entity_t *entities, uint32_t *slots,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        slots[i] = *slot_cell(world, run, at, entities[i]);
    store_destroy_slots(world, world_key_manager(world, world->prototypes.items[at].key), slots, count);
}

/* Create the own-storage instances of new entities, from the top of the chain down. A manager may do in its `create`
 * what a program may do between steps, but for changes of these entities, so rows may move and columns grow: therefore
 * slots go to an array of the host's own first. Returns the prototype of the chain with the manager that refused, or
 * 0. */
static uint32_t create_instances(world_t *world, run_t *run, const bp_entity_t *entities, uint32_t count,
                                 uint32_t *slots, bp_result_t *result)
{
    const prototypes_t *p = &world->prototypes;
    uint32_t at = run->prototype;
    for (; at != 0; at = p->items[at].base) {
        uint32_t key = p->items[at].key;
        manager_t *manager = world_key_manager(world, key);
        if (!manager->component->own_storage)
            continue;
        *result = verb_create(manager->component, &manager->verb, p->keys[key].name, entities, count, NULL, slots);
        if (*result != BP_OK)
            break;
        world_note_slots(world, manager, slots, count);
        put_slots(world, run, at, entities, slots, count);
    }
    return at;
}

static void undo_instances(world_t *world, const run_t *run, const bp_entity_t *entities, uint32_t count,
                           uint32_t *slots, uint32_t failed_at)
{
    const prototypes_t *p = &world->prototypes;
    for (uint32_t at = run->prototype; at != failed_at; at = p->items[at].base) {
        if (world_key_manager(world, p->items[at].key)->component->own_storage)
            take_slots(world, run, at, entities, slots, count);
    }
}

/* Take rows back that have just been added, from the last on, so that they go; entities live on. */
static void take_rows_back(world_t *world, run_t *run, const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t i = count; i > 0; i--) {
        record_t *record = world_record(world, entities[i - 1]);
        if (record == NULL)
            continue; /* a manager has destroyed the entity meanwhile */
        uint32_t row = record->row;
        *record = (record_t){0};
        world->occupied--;
        store_moved(world, run, NULL, &entities[i - 1], 1);
        store_leave_rows(world, run, row, 1);
    }
}

/* The same for entities that have just been created: they end too. */
static void undo_rows(world_t *world, run_t *run, const bp_entity_t *entities, uint32_t count)
{
    take_rows_back(world, run, entities, count);
    for (uint32_t i = count; i > 0; i--)
        entities_end(world->entities, &entities[i - 1], 1);
}

static void leave_told(world_t *world, const run_t *run, const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t m = 0; (run->flags & KEY_HOOKED) != 0 && m < world->manager_count; m++) {
        if (world->managers[m]->started && hooks_any(world->managers[m]->component))
            hooks_leave(world, world->managers[m], BP_NONE, entities, count);
    }
}

static bp_result_t create_stored_elsewhere(world_t *world, run_t *run, const bp_entity_t *entities, uint32_t count)
{
    uint32_t few[STORE_BLOCK], *slots = few;
    bp_result_t result = BP_OK;
    new_ones_t making;
    entities_make(world->entities, &making, entities, count);
    if (count > STORE_BLOCK)
        slots = memory_resize(&world->memory, NULL, 0, count * sizeof *slots);
    if (slots != NULL) {
        uint32_t at = create_instances(world, run, entities, count, slots, &result);
        if (result != BP_OK)
            undo_instances(world, run, entities, count, slots, at);
    } else {
        result = error_memory(&world->base->error, "creating entities");
    }
    if (result != BP_OK) {
        leave_told(world, run, entities, count);
        undo_rows(world, run, entities, count);
    }
    entities_made(world->entities, &making);
    memory_free(&world->memory, slots == few ? NULL : slots, count * sizeof *slots);
    return result;
}

static void place_rows(world_t *world, run_t *run, uint32_t first, const bp_entity_t *entities, uint32_t count)
{
    memcpy(run_entities(run) + first, entities, count * sizeof *entities);
    store_set_records(world, entities, count, run->prototype, first);
    world->occupied += count;
    store_moved(world, NULL, run, entities, count);
}

/* End entities that have just been created; those that have died meanwhile are passed over. */
static void end_made(world_t *world, const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t done = 0; done < count; done++)
        done += entities_end(world->entities, entities + done, count - done);
}

/* Components that are told of new rows and may refuse them. NULL: none has to be told. */
static bp_result_t tell_new_rows(world_t *world, const run_t *run, const bp_entity_t *entities, uint32_t count,
                                 run_t ***told, uint32_t *told_count)
{
    *told = NULL;
    *told_count = hooks_count(world, run->prototype);
    if (*told_count == 0)
        return BP_OK;
    *told = memory_new(&world->memory, *told_count * sizeof **told);
    bp_result_t result = *told == NULL ? error_memory(&world->base->error, "creating entities")
                                       : hooks_make_all(world, run->prototype, entities, count, *told);
    if (result == BP_OK)
        return BP_OK;
    memory_free(&world->memory, *told, *told_count * sizeof **told);
    end_made(world, entities, count);
    return result;
}

static bp_result_t fill_new_rows(world_t *world, run_t *run, bp_entity_t *entities, uint32_t count)
{
    run_t **told = NULL;
    uint32_t told_count = 0;
    if ((run->flags & KEY_HOOKED) != 0) {
        bp_result_t result = tell_new_rows(world, run, entities, count, &told, &told_count);
        if (result != BP_OK)
            return result;
    }
    for (uint32_t done = 0, n, first; done < count; done += n) {
        n = run_take_rows(run, count - done, &first, &world->holdings);
        run_fill(run, 1, run->column_count, first, n);
        place_rows(world, run, first, entities + done, n);
    }
    if (told != NULL) {
        hooks_put_all(world, run->prototype, told);
        memory_free(&world->memory, told, told_count * sizeof *told);
    }
    return (run->flags & KEY_OWN_STORAGE) == 0 ? BP_OK : create_stored_elsewhere(world, run, entities, count);
}

/* Put an entity into a run, with one of the world's own indices. False where memory is needed. */
static bool create_pooled(world_t *world, run_t *run, bp_entity_t *entity)
{
    record_t *record = world_writable_record(world, entities_pool_next(&world->ids));
    if (record == NULL)
        return false;
    entities_pool_create(world->entities, &world->ids, entity, 1);
    store_append_one(world, run, record, *entity);
    return true;
}

/* The same with an index that belongs to no pool. */
static bool create_common(world_t *world, run_t *run, bp_entity_t *entity)
{
    uint32_t index = entities_next(world->entities);
    record_t *record = world_writable_record(world, index);
    if (record == NULL || !entities_create_next(world->entities, index, entity))
        return false;
    store_append_one(world, run, record, *entity);
    return true;
}

/* Create entities in all remaining cases. A function apart, so that the short way has no cost for the remaining
 * cases. */
NOT_INLINED static bp_result_t create_any(world_t *world, uint32_t prototype, bp_entity_t *entities, uint32_t count)
{
    if (world_holds_rows(world))
        return store_refuse_held(world);
    if (prototype >= world->prototypes.count || (world->prototypes.items[prototype].flags & KEY_GONE) != 0)
        return error_set(&world->base->error, BP_ERROR_NOT_FOUND, "world '%s' has no prototype %u", world->name,
                         prototype);
    if ((world->prototypes.items[prototype].flags & KEY_WORLD) != 0)
        return store_refuse_owned(world, world->prototypes.items[prototype].key);
    if (prototype == 0 || count == 0)
        return store_make_entities(world, entities, count);
    run_t *run = store_need_run(world, prototype);
    if (run == NULL || !store_reserve_rows(world, run, count) || !store_reserve_notices(world, count))
        return error_memory(&world->base->error, "creating entities");
    bp_result_t result = store_reserve_entities(world, count);
    if (result == BP_OK)
        result = store_make_entities(world, entities, count);
    if (result != BP_OK)
        return result;
    return fill_new_rows(world, run, entities, count);
}

/* Create one entity in a plain run that has holes or is subscribed to, or with an index of the world's own. */
NOT_INLINED static bp_result_t create_aside(world_t *world, run_t *run, bp_entity_t *entity)
{
    if (store_has_row(run) && store_has_notice_room(world) &&
        (entities_is_pooled(world->entities, &world->ids) ? create_pooled(world, run, entity)
                                                          : create_common(world, run, entity)))
        return BP_OK;
    return create_any(world, run->prototype, entity, 1);
}

/* One entity in a plain run without holes: the short way. All other ways are tail calls: a function that goes on after
 * a call has to save registers. */
bp_result_t store_create(world_t *world, uint32_t prototype, bp_entity_t *entities, uint32_t count)
{
    if (count != 1 || world_holds_rows(world) || prototype >= world->prototypes.count)
        return create_any(world, prototype, entities, count);
    const prototype_t *item = &world->prototypes.items[prototype];
    run_t *run = item->run;
    if (run == NULL || (item->flags & KEY_UNUSUAL) != 0 || !run->plain)
        return create_any(world, prototype, entities, 1);
    entities_t *all = world->entities;
    uint32_t row = run->count;
    if (row >= run->capacity || run->holes > 0 || run->signature != 0 || !store_has_notice_room(world) ||
        entities_is_pooled(all, &world->ids))
        return create_aside(world, run, entities);
    uint32_t index = entities_next(all);
    record_t *record = world_writable_record(world, index);
    if (record == NULL || !entities_create_next(all, index, entities))
        return create_any(world, prototype, entities, 1);
    run->count = row + 1;
    run_entities(run)[row] = *entities;
    *record = (record_t){bp_entity_generation(*entities), prototype, row};
    world->occupied++;
    run_fill_all_cells(run, row);
    return BP_OK;
}

/* --- store append ------------------------------------------------------------------------------------------------ */

/* Rows for a spawned scene: many prototypes, values in columns, all or nothing.
 *
 * A spawn knows all its rows beforehand, so memory comes first, for all runs together; appending cannot fail after
 * that. Where a later part of the spawn fails (a manager refuses), the batches are taken back in the opposite order;
 * after that no row has moved.
 */

/* Promise rows to the run of each batch; several batches may go to one run. */
static bool promise_rows(world_t *world, const store_batch_t *batches, uint32_t count, run_t **touched)
{
    for (uint32_t i = 0; i < count; i++) {
        if (batches[i].prototype == 0 || batches[i].count == 0)
            continue;
        run_t *run = store_need_run(world, batches[i].prototype);
        if (run == NULL || batches[i].count > UINT32_MAX - run->pending)
            return false;
        if (run->pending == 0) {
            run->next_pending = *touched;
            *touched = run;
        }
        run->pending += batches[i].count;
    }
    return true;
}

bp_result_t store_prepare_append(world_t *world, const store_batch_t *batches, uint32_t count, uint32_t total)
{
    if (world_holds_rows(world))
        return store_refuse_held(world);
    run_t *touched = NULL;
    bool good = promise_rows(world, batches, count, &touched);
    for (run_t *run = touched; run != NULL; run = run->next_pending) {
        good = good && store_reserve_rows(world, run, run->pending);
        if (good && run->holes > 0)
            store_compact(world, run, UINT32_MAX, run->holes - (run->pending < run->holes ? run->pending : run->holes));
        run->pending = 0;
    }
    if (!good || !store_reserve_notices(world, total))
        return error_memory(&world->base->error, "making room for a spawn");
    return store_reserve_entities(world, total);
}

bool store_reserve_living(world_t *world, const bp_entity_t *entities, uint32_t count)
{
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++)
        good = entities[i].id == 0 || store_reserve_record(world, bp_entity_index(entities[i]));
    return good;
}

void store_append(world_t *world, store_batch_t *batch, const bp_entity_t *entities)
{
    if (batch->prototype == 0 || batch->count == 0)
        return;
    run_t *run = world_run(world, batch->prototype);
    uint32_t first = run->count;
    batch->first_row = first;
    run->count += batch->count;
    stamps_note_rows(run->stamps, first, batch->count);
    memcpy(run_entities(run) + first, entities, batch->count * sizeof *entities);
    store_set_records(world, entities, batch->count, batch->prototype, first);
    world->occupied += batch->count;
    store_moved(world, NULL, run, entities, batch->count);
}

void store_retract(world_t *world, const store_batch_t *batch, const bp_entity_t *entities)
{
    if (batch->prototype != 0)
        take_rows_back(world, world_run(world, batch->prototype), entities, batch->count);
}

/* --- store rows -------------------------------------------------------------------------------------------------- */

/* Making records and runs, and dropping single rows.
 *
 * A run is made when the first entity gets its prototype and stays with the
 * world. Runs are never freed before the world: references hold the addresses of their versions.
 */

bp_result_t store_about(world_t *world, bp_entity_t e, bp_result_t result)
{
    char text[32];
    value_format(&world->base->values, BP_ENTITY, &e, text, sizeof text);
    return error_prefix(&world->base->error, result, "%s: ", text);
}

bp_result_t store_refuse_owned(world_t *world, uint32_t key)
{
    return error_set(&world->base->error, BP_ERROR_ARGUMENT,
                     "component '%s' belongs to world '%s' itself, which has it for as long as it uses it; no entity "
                     "gets or loses it",
                     world_key_manager(world, key)->component->name, world->name);
}

bp_result_t store_refuse_held(world_t *world)
{
    error_text_t *error = &world->base->error;
    switch (world->hold) {
    case WORLD_SEALED:
        return error_set(error, BP_ERROR_STATE,
                         "nothing of world '%s' can change while a reload is being prepared, or the host written down "
                         "or brought back",
                         world->name);
    case WORLD_SPAWNING:
        return error_set(error, BP_ERROR_STATE,
                         "rows of world '%s' cannot move while a scene is spawned into it; do it afterwards",
                         world->name);
    case WORLD_TOLD:
        return error_set(error, BP_ERROR_STATE,
                         "rows of world '%s' cannot move while a component is told of its rows; do it afterwards",
                         world->name);
    case WORLD_TELLING:
        return error_set(error, BP_ERROR_STATE,
                         "rows of world '%s' cannot move while its systems are told of entities; do it between steps",
                         world->name);
    default:
        return error_set(error, BP_ERROR_STATE,
                         "rows of world '%s' cannot move while its step holds columns; do it between steps",
                         world->name);
    }
}

/* Records for free indices, most of which lie in the page of the one before. */
static bool reserve_indices(world_t *world, const uint32_t *indices, uint32_t count)
{
    uint32_t page = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (indices[i] / ENTITIES_PAGE == page)
            continue;
        page = indices[i] / ENTITIES_PAGE;
        if (!store_reserve_record(world, indices[i]))
            return false;
    }
    return true;
}

/* Has the world records for all indices that were ever used? Where it is the host's only one it mostly has. */
static bool has_all_records(const world_t *world, uint32_t pages)
{
    uint32_t page = 0;
    while (page < pages && world_has_record(world, page * ENTITIES_PAGE))
        page++;
    return page == pages;
}

/* Records for the indices that are to be used again: from the head of the ring on, up to its end and from its
 * beginning on. */
static bool reserve_reused(world_t *world, uint32_t count)
{
    const entities_t *e = world->entities;
    uint32_t pages = e->bound / ENTITIES_PAGE + (e->bound % ENTITIES_PAGE != 0);
    if (count == 0 || (count >= pages && has_all_records(world, pages)))
        return true;
    uint32_t tail = e->queue_size - e->queue_head, first = count < tail ? count : tail;
    return reserve_indices(world, e->queue + e->queue_head, first) && reserve_indices(world, e->queue, count - first);
}

void store_fields(const world_t *world, const prototypes_t *p, uint32_t prototype, const field_t **fields)
{
    for (uint32_t i = prototype; i != 0; i = p->items[i].base) {
        const manager_t *manager = world->managers[p->keys[p->items[i].key].manager];
        for (uint32_t c = 0; c < manager->column_count; c++)
            fields[p->items[p->items[i].base].columns - 1u + c] = manager->columns[c];
    }
}

/* Records for the next indices of the world's own. */
static bp_result_t reserve_pooled(world_t *world, uint32_t count)
{
    const entity_pool_t *pool = &world->ids;
    bp_result_t result = entities_pool_reserve(world->entities, &world->ids, count);
    if (result != BP_OK)
        return result;
    uint32_t reused = entities_pool_reusable(pool), index = pool->head;
    reused = reused < count ? reused : count;
    bool good = true;
    for (uint32_t i = 0; i < reused && good; i++, index = world->entities->links[index])
        good = store_reserve_record(world, index);
    uint32_t fresh = count - reused, first = pool->fresh / ENTITIES_PAGE;
    if (good && fresh > 0)
        good = records_reserve(world, first, (pool->fresh + fresh - 1) / ENTITIES_PAGE - first + 1);
    return good ? BP_OK : error_memory(&world->base->error, "creating entities");
}

bp_result_t store_make_entities(world_t *world, bp_entity_t *out, uint32_t count)
{
    entities_t *e = world->entities;
    bp_result_t result = entities_is_pooled(e, &world->ids) ? entities_pool_reserve(e, &world->ids, count) : BP_OK;
    if (result != BP_OK || !entities_is_pooled(e, &world->ids))
        return result != BP_OK ? result : entities_create(e, out, count);
    entities_pool_create(e, &world->ids, out, count);
    return BP_OK;
}

bp_result_t store_reserve_entities(world_t *world, uint32_t count)
{
    const entities_t *e = world->entities;
    bp_result_t result = entities_is_pooled(e, &world->ids) ? reserve_pooled(world, count) : BP_OK;
    if (result != BP_OK || entities_is_pooled(e, &world->ids))
        return result; /* taking pages may have freed the indices that were passed over */
    result = entities_reserve(world->entities, count);
    if (result != BP_OK)
        return result;
    uint32_t reused = entities_reusable(e), fresh = count > reused ? count - reused : 0;
    uint32_t first = e->bound / ENTITIES_PAGE, last = fresh == 0 ? first : (e->bound + fresh - 1) / ENTITIES_PAGE;
    if (reserve_reused(world, count < reused ? count : reused) &&
        (fresh == 0 || records_reserve(world, first, last - first + 1)))
        return BP_OK;
    return error_memory(&world->base->error, "creating entities");
}

static run_t *create_run(world_t *world, uint32_t prototype)
{
    const prototypes_t *p = &world->prototypes;
    const prototype_t *item = &p->items[prototype];
    size_t size = (item->columns + 1u) * sizeof(field_t *);
    const field_t **fields = memory_resize(&world->memory, NULL, 0, size);
    if (fields == NULL || !memory_reserve(&world->memory, &world->runs, &world->run_capacity, world->run_count + 1u,
                                          sizeof *world->runs)) {
        memory_free(&world->memory, fields, size);
        return NULL;
    }
    store_fields(world, p, prototype, fields);
    uint32_t signature = world->notices == NULL ? 0 : notices_signature(world->notices, prototype);
    run_t *run =
        signature == BP_NONE ? NULL : run_create(&world->memory, prototype, fields, item->columns, item->flags);
    memory_free(&world->memory, fields, size);
    if (run == NULL)
        return NULL;
    run_set_signature(run, signature);
    run->version = world->ref_version; /* references into this run number the fields as the present declarations do */
    if (world->stamp_users > 0 && !run_keep_stamps(run, &world->memory, &world->moment)) {
        run_free(run, &world->memory, &world->holdings);
        return NULL;
    }
    world->runs[world->run_count++] = run;
    spots_fit(&world->spots, &world->memory, prototype + 1);
    return run;
}

run_t *store_need_run(world_t *world, uint32_t prototype)
{
    prototype_t *item = &world->prototypes.items[prototype];
    if (item->run == NULL)
        item->run = create_run(world, prototype);
    return item->run;
}

void store_erase_row(world_t *world, run_t *run, uint32_t row)
{
    run_release(run, 1, run->column_count, row, 1, &world->holdings);
    run_erase(run, row, &world->holdings);
    if (row < run->count)
        world_own_record(world, run_entities(run)[row])->row = row;
}

void store_fill_hole(world_t *world, run_t *run, uint32_t row)
{
    holes_remove(&run->hole_set, row);
    run->holes--;
    store_erase_row(world, run, row);
}

static int descending(const void *a, const void *b)
{
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? 1 : x > y ? -1 : 0;
}

void store_destroy_slots(world_t *world, manager_t *manager, uint32_t *slots, uint32_t count)
{
    if (count > 1)
        qsort(slots, count, sizeof *slots, descending);
    world_note_slots(world, manager, slots, count);
    if (count == 0)
        return;
    verb_made_t made = verb_destroy(manager->component, &manager->verb, slots, count);
    if (made != VERB_MADE && plugin_is_aside(manager->component->owner))
        unended_keep(&manager->unended, world, manager, slots, count, made == VERB_ENDED);
}
