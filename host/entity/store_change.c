/* store_change.c - adding and removing components: a batch judged whole, then its rows moved.
 *
 * `plan` looks at every entity of the batch, refuses what cannot be, and counts how many rows each target run will get; then
 * memory is taken; then the rows move (store_move.c). A batch of one goes directly: `change_quickly` and `add_first` in
 * the usual cases, else `change_one`.
 */
#include "store.h"

#include "../plugin/verbs.h"
#include "store_move.h"

/* --- the plan ----------------------------------------------------------------------------------------------------- */

/* Check one entity, count its row, and mark its record. */
static bp_result_t plan_one(store_change_t *c, bp_entity_t e)
{
    bp_world_o *world = c->world;
    record_t *record = world_record(world, e);
    if (record == NULL) {
        if (!entities_is_alive(world->entities, e))
            return entities_dead_error(world->entities, e);
        record = &world->records[bp_entity_index(e)];
        *record = (record_t){.generation = bp_entity_generation(e)};
    }
    if ((record->prototype & STORE_MARK) != 0)
        return store_about(world, e, error_set(&world->base->error, BP_ERROR_ARGUMENT, "the batch mentions it twice"));
    bp_result_t result = store_find_transition(c, record->prototype);
    if (result != BP_OK) {
        if (record->prototype == 0)
            *record = (record_t){0};
        return store_about(world, e, result);
    }
    record->prototype |= STORE_MARK;
    run_t *run = world_run(world, c->to);
    if (run != NULL && run->pending++ == 0) {
        run->next_pending = c->touched;
        c->touched = run;
    }
    return BP_OK;
}

static void unmark(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        record_t *record = &c->world->records[bp_entity_index(entities[i])];
        record->prototype &= ~STORE_MARK;
        if (record->prototype == 0)
            *record = (record_t){0};
    }
}

/* Plan the entities that lie in the rows behind the one just planned: they live, and take the same transition. Returns
 * how many; it ends before one that is marked, which `plan_one` then refuses. */
static uint32_t plan_stretch(store_change_t *c, bp_entity_t planned, const bp_entity_t *entities, uint32_t count)
{
    bp_world_o *world = c->world;
    const run_t *from = world_run(world, c->from);
    if (from == NULL || count == 0)
        return 0;
    uint32_t n = run_stretch(from, world->records[bp_entity_index(planned)].row + 1, entities, count), marked = 0;
    for (; marked < n; marked++) {
        uint32_t *prototype = &world->records[bp_entity_index(entities[marked])].prototype;
        if ((*prototype & STORE_MARK) != 0)
            break;
        *prototype |= STORE_MARK;
    }
    run_t *to = world_run(world, c->to);
    if (to != NULL)
        to->pending += marked;
    return marked;
}

static bp_result_t plan(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    bp_world_o *world = c->world;
    if (!store_reserve_records(world, world->entities->bound) || !store_reserve_notices(world, count))
        return error_memory(&world->base->error, "adding components");
    bp_result_t result = BP_OK;
    uint32_t planned = 0;
    while (planned < count) {
        if (planned + STORE_AHEAD < count) {
            uint32_t index = bp_entity_index(entities[planned + STORE_AHEAD]);
            PREFETCH(&world->records[index < world->record_capacity ? index : 0]);
        }
        result = plan_one(c, entities[planned]);
        if (result != BP_OK)
            break;
        planned++;
        planned += plan_stretch(c, entities[planned - 1], entities + planned, count - planned);
    }
    bool room = store_reserve_touched(c);
    if (result == BP_OK && !room)
        result = error_memory(&world->base->error, "moving rows");
    if (result != BP_OK)
        unmark(c, entities, planned);
    return result;
}

/* --- one ---------------------------------------------------------------------------------------------------------- */

/* Take a row out of its run; what `to` also has is copied to its next row. */
static void move_row(store_change_t *c, run_t *from, uint32_t row, run_t *to)
{
    uint32_t width = c->world->prototypes.keys[c->key].columns, column = c->column;
    if (c->adding) {
        run_copy_row(from, 1, row, to, 1, to->count, column - 1);
        run_copy_row(from, column, row, to, column + width, to->count, from->column_count - column);
    } else {
        if (from->has_strings)
            run_release_strings(from, column, column + width, row, &c->world->base->strings);
        if (to != NULL) {
            run_copy_row(from, 1, row, to, 1, to->count, column - 1);
            run_copy_row(from, column + width, row, to, column, to->count, to->column_count - column);
        }
    }
    run_erase(from, row);
    if (row < from->count && run_entities(from)[row].id != 0)
        c->world->records[bp_entity_index(run_entities(from)[row])].row = row;
}

/* The usual case of one: the entity has components before and after, the transition is known, and there is room. False
 * where it must go the long way. Written to be inlined twice, with `adding` known. */
ALWAYS_INLINED static inline bool change_quickly(bp_world_o *world, uint32_t key, bp_entity_t e, bool adding)
{
    const prototypes_t *p = &world->prototypes;
    uint32_t index = bp_entity_index(e);
    if (world_holds_rows(world) || key >= p->key_count || index >= world->record_capacity)
        return false;
    record_t *record = &world->records[index];
    const component_key_t *changed = &p->keys[key];
    if (record->generation != bp_entity_generation(e) || record->prototype == 0 || (changed->flags & (KEY_OWN_STORAGE | KEY_GONE)) != 0)
        return false;
    const transition_t *t = prototypes_cached(p, record->prototype, adding ? key : key | PROTOTYPES_WITHOUT);
    if (t == NULL || t->to == 0)
        return false;
    run_t *from = p->items[record->prototype].run, *to = p->items[t->to].run;
    if (to == NULL || to->count == to->capacity || !(adding ? to : from)->plain)
        return false;
    uint32_t row = record->row, to_row = to->count++, last = --from->count, column = t->column, width = changed->columns;
    uint32_t behind = (adding ? from->column_count : to->column_count) - column;
    record->prototype = t->to;
    record->row = to_row;
    uint32_t from_behind = adding ? column : column + width, to_behind = adding ? column + width : column;
    run_entities(to)[to_row] = e;
    if (adding)
        run_fill_cells(to, column, column + width, to_row);
    from->version++;
    store_moved(world, from, to, &run_entities(to)[to_row], 1);
    if (row == last) {
        run_append_cells(from, 1, row, to, 1, to_row, column - 1);
        run_append_cells(from, from_behind, row, to, to_behind, to_row, behind);
        return true;
    }
    run_carry_cells(from, 1, row, last, to, 1, to_row, column - 1);
    run_carry_cells(from, from_behind, row, last, to, to_behind, to_row, behind);
    if (!adding)
        run_copy_row(from, column, last, from, column, row, width);
    bp_entity_t filler = run_entities(from)[last];
    run_entities(from)[row] = filler;
    if (filler.id != 0)
        world->records[bp_entity_index(filler)].row = row;
    return true;
}

/* The first component of one entity, where all is known and there is room; false as above. */
static bool add_first(bp_world_o *world, uint32_t key, bp_entity_t e)
{
    const prototypes_t *p = &world->prototypes;
    uint32_t index = bp_entity_index(e);
    if (world_holds_rows(world) || key >= p->key_count || (p->keys[key].flags & (KEY_OWN_STORAGE | KEY_GONE)) != 0 ||
        index >= world->record_capacity || world->records[index].generation != 0 || !entities_is_alive(world->entities, e))
        return false;
    const transition_t *t = prototypes_cached(p, 0, key);
    run_t *run = t == NULL ? NULL : p->items[t->to].run;
    if (run == NULL || run->count == run->capacity || !run->plain || !store_has_notice_room(world, index))
        return false;
    store_append_one(world, run, e);
    return true;
}

static bp_result_t change_one(store_change_t *c, bp_entity_t e)
{
    bp_world_o *world = c->world;
    const record_t *record = world_record(world, e);
    if (record == NULL && !entities_is_alive(world->entities, e))
        return entities_dead_error(world->entities, e);
    uint32_t prototype = record == NULL ? 0 : record->prototype, row = record == NULL ? 0 : record->row;
    bp_result_t result = store_find_transition(c, prototype);
    if (result != BP_OK)
        return store_about(world, e, result);
    run_t *from = world_run(world, prototype), *to = world_run(world, c->to);
    if (!store_reserve_records(world, world->entities->bound) || !store_reserve_notices(world, 1) ||
        (to != NULL && !run_reserve(to, &world->memory, 1)))
        return error_memory(&world->base->error, "moving rows");
    if (from != NULL)
        move_row(c, from, row, to);
    world->occupied = world->occupied + (from == NULL) - (to == NULL);
    store_moved(world, from, to, &e, 1);
    if (to == NULL) {
        world->records[bp_entity_index(e)] = (record_t){0};
        return BP_OK;
    }
    run_entities(to)[to->count] = e;
    if (c->adding)
        run_fill(to, c->column, c->column + world->prototypes.keys[c->key].columns, to->count, 1);
    store_set_record(world, e, c->to, to->count++);
    return BP_OK;
}

/* --- the verbs ---------------------------------------------------------------------------------------------------- */

static bp_result_t check_change(bp_world_o *world, uint32_t key)
{
    if (world_holds_rows(world))
        return store_refuse_stepping(world);
    if (key >= world->prototypes.key_count || (world->prototypes.keys[key].flags & KEY_GONE) != 0)
        return error_set(&world->base->error, BP_ERROR_NOT_FOUND, "world '%s' has no component key %u", world->name, key);
    return BP_OK;
}

static bp_result_t create_slots(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    const component_key_t *key = &c->world->prototypes.keys[c->key];
    manager_t *manager = world_key_manager(c->world, c->key);
    c->slots = memory_resize(&c->world->memory, NULL, 0, count * sizeof *c->slots);
    if (c->slots == NULL)
        return error_memory(&c->world->base->error, "adding components");
    bp_result_t result = verb_create(manager->component, &manager->seen, key->name, entities, count, c->slots);
    if (result != BP_OK || store_reserve_notices(c->world, count))
        return result;
    /* The manager has created entities itself, which took the room for ours. */
    store_destroy_slots(manager, c->slots, count);
    return error_memory(&c->world->base->error, "adding components");
}

/* What remains is kept apart from the short ways, so that these pay for nothing that only it needs. */
NOT_INLINED static bp_result_t add_any(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    if (count == 1 && add_first(world, key, entities[0]))
        return BP_OK;
    bp_result_t result = check_change(world, key);
    if (result != BP_OK || count == 0)
        return result;
    store_change_t c = {.world = world, .key = key, .adding = true};
    if (count == 1 && (world->prototypes.keys[key].flags & KEY_OWN_STORAGE) == 0)
        return change_one(&c, entities[0]);
    result = plan(&c, entities, count);
    if (result != BP_OK)
        return result;
    if (world_key_manager(world, key)->component->own_storage) {
        unmark(&c, entities, count); /* the manager may look at the entities */
        result = create_slots(&c, entities, count);
    }
    if (result == BP_OK)
        store_move_all(&c, entities, count);
    memory_free(&world->memory, c.slots, c.slots == NULL ? 0 : count * sizeof *c.slots);
    return result;
}

NOT_INLINED static bp_result_t remove_any(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    bp_result_t result = check_change(world, key);
    if (result != BP_OK || count == 0)
        return result;
    store_change_t c = {.world = world, .key = key};
    if (count == 1 && (world->prototypes.keys[key].flags & KEY_OWN_STORAGE) == 0)
        return change_one(&c, entities[0]);
    manager_t *manager = world_key_manager(world, key);
    uint32_t *slots = NULL;
    if (manager->component->own_storage) {
        slots = memory_resize(&world->memory, NULL, 0, count * sizeof *slots);
        if (slots == NULL)
            return error_memory(&world->base->error, "removing components");
        store_slots(world, key, entities, count, slots);
    }
    result = plan(&c, entities, count);
    if (result == BP_OK) {
        store_move_all(&c, entities, count);
        if (slots != NULL)
            store_destroy_slots(manager, slots, count);
    }
    memory_free(&world->memory, slots, slots == NULL ? 0 : count * sizeof *slots);
    return result;
}

bp_result_t store_add(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    return count == 1 && change_quickly(world, key, entities[0], true) ? BP_OK : add_any(world, key, entities, count);
}

bp_result_t store_remove(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    return count == 1 && change_quickly(world, key, entities[0], false) ? BP_OK : remove_any(world, key, entities, count);
}

/* Is it a change that the entity's components allow? What fails for another reason is left to the change itself to tell. */
static bool wanted(store_change_t *c, uint32_t prototype)
{
    bp_result_t result = store_find_transition(c, prototype);
    return result != BP_ERROR_EXISTS && result != BP_ERROR_NOT_FOUND;
}

uint32_t store_sift(bp_world_o *world, uint32_t key, bool adding, bp_entity_t *entities, uint32_t count)
{
    store_change_t c = {.world = world, .key = key, .adding = adding};
    if (check_change(world, key) != BP_OK || !store_reserve_records(world, world->entities->bound))
        return count;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        bp_entity_t e = entities[i];
        record_t *record = world_record(world, e);
        if (record == NULL && !entities_is_alive(world->entities, e))
            continue;
        uint32_t prototype = record == NULL ? 0 : record->prototype;
        if ((prototype & STORE_MARK) != 0 || !wanted(&c, prototype))
            continue;
        if (record == NULL) {
            record = &world->records[bp_entity_index(e)];
            *record = (record_t){.generation = bp_entity_generation(e)};
        }
        record->prototype |= STORE_MARK;
        entities[kept++] = e;
    }
    unmark(&c, entities, kept);
    return kept;
}
