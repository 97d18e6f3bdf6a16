/* store_change.c - adding and removing components: a batch judged whole, then its rows moved.
 *
 * `plan` looks at every entity of the batch, refuses changes that are not possible, and counts how many rows each
 * target run will get; then memory is taken; then the rows move. A batch of one needs no plan (store_one.c).
 */
#include "../plugin/verbs.h"
#include "store.h"
#include "hooks.h"
#include "store_inner.h"

/* --- the plan ----------------------------------------------------------------------------------------------------- */

/* Check one entity, count its row, and mark its record. */
static bp_result_t plan_one(store_change_t *c, bp_entity_t e)
{
    world_t *world = c->world;
    record_t *record = world_record(world, e);
    if (record == NULL) {
        if (!entities_is_alive(world->entities, e))
            return entities_dead_error(world->entities, e);
        if (!store_reserve_record(world, bp_entity_index(e)))
            return error_memory(&world->base->error, "adding components");
        record = world_own_record(world, e);
        *record = (record_t){.generation = bp_entity_generation(e)};
    }
    if ((record->prototype & RECORD_MARK) != 0)
        return store_about(world, e, error_set(&world->base->error, BP_ERROR_ARGUMENT, "the batch mentions it twice"));
    bp_result_t result = store_find_transition(c, record->prototype);
    if (result != BP_OK) {
        if (record->prototype == 0)
            *record = (record_t){0};
        return store_about(world, e, result);
    }
    record->prototype |= RECORD_MARK;
    run_t *run = world_run(world, c->to);
    if (run != NULL && run->pending++ == 0) {
        run->next_pending = c->touched;
        c->touched = run;
    }
    return BP_OK;
}

/* The same as the plan has left it, where nothing has changed since `unmark`. */
static void mark_again(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        record_t *record = world_own_record(c->world, entities[i]);
        *record = (record_t){bp_entity_generation(entities[i]), record->prototype | RECORD_MARK, record->row};
    }
}

static void unmark(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        record_t *record = world_own_record(c->world, entities[i]);
        record->prototype &= ~RECORD_MARK;
        if (record->prototype == 0)
            *record = (record_t){0};
    }
}

/* Plan the entities that lie in the rows behind the one just planned: these entities live, and take the same
 * transition. `alone`: no entity was planned before that one. Returns how many were planned; ends before an entity with
 * a marked record, which `plan_one` then refuses. Where all lie in consecutive rows none is mentioned twice, and marks
 * are not needed. */
static uint32_t plan_stretch(store_change_t *c, bp_entity_t planned, const bp_entity_t *entities, uint32_t count,
                             bool alone)
{
    world_t *world = c->world;
    const run_t *from = world_run(world, c->from);
    if (from == NULL || count == 0)
        return 0;
    uint32_t n = run_stretch(from, world_own_record(world, planned)->row + 1, entities, count), marked = 0;
    if (alone && n == count)
        marked = n;
    for (; marked < n; marked++) {
        uint32_t *prototype = &world_own_record(world, entities[marked])->prototype;
        if ((*prototype & RECORD_MARK) != 0)
            break;
        *prototype |= RECORD_MARK;
    }
    run_t *to = world_run(world, c->to);
    if (to != NULL)
        to->pending += marked;
    return marked;
}

static bp_result_t plan(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    world_t *world = c->world;
    if (!store_reserve_notices(world, count))
        return error_memory(&world->base->error, "adding components");
    bp_result_t result = BP_OK;
    uint32_t planned = 0;
    bool far = world_is_far(world);
    while (planned < count) {
        if (far && planned + STORE_AHEAD < count)
            PREFETCH(world_record_at(world, bp_entity_index(entities[planned + STORE_AHEAD])));
        result = plan_one(c, entities[planned]);
        if (result != BP_OK)
            break;
        planned++;
        planned += plan_stretch(c, entities[planned - 1], entities + planned, count - planned, planned == 1);
    }
    bool room = store_reserve_touched(c);
    if (result == BP_OK && !room)
        result = error_memory(&world->base->error, "moving rows");
    if (result != BP_OK)
        unmark(c, entities, planned);
    return result;
}

/* Is the change possible for an entity that is not planned already? Errors of other kinds than that the component is
 * there, or is not, are left for the plan to report. */
static bool is_wanted(store_change_t *c, const record_t *record, bp_entity_t e)
{
    if (record == NULL ? !entities_is_alive(c->world->entities, e) : (record->prototype & RECORD_MARK) != 0)
        return false;
    bp_result_t result = store_find_transition(c, record == NULL ? 0 : record->prototype);
    return result != BP_ERROR_EXISTS && result != BP_ERROR_NOT_FOUND;
}

/* As `plan`, for the entities of a batch for which the change is possible, each once: these come to the front of the
 * batch, the others behind them, and *kept says how many they are. */
static bp_result_t plan_wanted(store_change_t *c, bp_entity_t *entities, uint32_t count, uint32_t *kept)
{
    world_t *world = c->world;
    if (!store_reserve_notices(world, count))
        return error_memory(&world->base->error, "changing components");
    bp_result_t result = BP_OK;
    run_t *to = NULL; /* of the transition found last */
    uint32_t planned = 0;
    for (uint32_t i = 0; i < count && result == BP_OK; i++) {
        bp_entity_t e = entities[i];
        record_t *record = world_record(world, e);
        if (record != NULL && c->found && record->prototype == c->from) {
            record->prototype |= RECORD_MARK;
            if (to != NULL)
                to->pending++;
        } else if (!is_wanted(c, record, e)) {
            continue;
        } else {
            result = plan_one(c, e);
            if (result != BP_OK)
                break;
            to = world_run(world, c->to);
        }
        entities[i] = entities[planned];
        entities[planned++] = e;
        if (i == 0) { /* entities in the rows behind the first need not be looked at one by one */
            i = plan_stretch(c, e, entities + 1, count - 1, true);
            planned += i;
        }
    }
    bool room = store_reserve_touched(c);
    if (result == BP_OK && !room)
        result = error_memory(&world->base->error, "moving rows");
    if (result != BP_OK)
        unmark(c, entities, planned);
    *kept = planned;
    return result;
}

/* --- the verbs ---------------------------------------------------------------------------------------------------- */

static bp_result_t check_change(world_t *world, uint32_t key)
{
    if (world_holds_rows(world))
        return store_refuse_held(world);
    if (key >= world->prototypes.key_count || (world->prototypes.keys[key].flags & KEY_GONE) != 0)
        return error_set(&world->base->error, BP_ERROR_NOT_FOUND, "world '%s' has no component key %u", world->name,
                         key);
    bool of_world = (world->prototypes.keys[key].flags & KEY_WORLD) != 0;
    return of_world && !world->owning ? store_refuse_owned(world, key) : BP_OK;
}

static bp_result_t create_slots(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    const component_key_t *key = &c->world->prototypes.keys[c->key];
    manager_t *manager = world_key_manager(c->world, c->key);
    c->slots = memory_resize(&c->world->memory, NULL, 0, count * sizeof *c->slots);
    if (c->slots == NULL)
        return error_memory(&c->world->base->error, "adding components");
    bp_result_t result = verb_create(manager->component, &manager->verb, key->name, entities, count, NULL, c->slots);
    if (result != BP_OK)
        return result;
    world_note_slots(c->world, manager, c->slots, count);
    /* The manager may have created, changed or destroyed entities itself: check once more that the change is possible
     * and that there is room. */
    result = plan(c, entities, count);
    if (result != BP_OK)
        store_destroy_slots(c->world, manager, c->slots, count);
    return result;
}

/* Add a component that is told of its rows, for entities that lack it. The component sees the entities before the
 * change, and may refuse; else the rows move. */
static bp_result_t add_told(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    run_t *rows;
    unmark(c, entities, count);
    bp_result_t result = hooks_make(c->world, c->key, BP_NONE, entities, count, &rows);
    if (result != BP_OK)
        return result;
    mark_again(c, entities, count);
    store_move_all(c, entities, count);
    hooks_put(c->world, c->key, rows);
    return BP_OK;
}

/* Add the component to entities that the plan has marked. */
static bp_result_t add_planned(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    world_t *world = c->world;
    bp_result_t result = BP_OK;
    if ((world->prototypes.keys[c->key].flags & KEY_HOOKED) != 0)
        return add_told(c, entities, count);
    if (world_key_manager(world, c->key)->component->own_storage) {
        unmark(c, entities, count); /* the manager may look at the entities */
        result = create_slots(c, entities, count);
    }
    if (result == BP_OK)
        store_move_all(c, entities, count);
    memory_free(&world->memory, c->slots, count * sizeof *c->slots);
    return result;
}

/* Take away a component that is told of it, or has storage of its own. */
static bp_result_t remove_told(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    world_t *world = c->world;
    manager_t *manager = world_key_manager(world, c->key);
    uint32_t *slots = NULL;
    unmark(c, entities, count);
    if (manager->component->own_storage) {
        slots = memory_resize(&world->memory, NULL, 0, count * sizeof *slots);
        if (slots == NULL)
            return error_memory(&world->base->error, "removing components");
        store_slots(world, c->key, entities, count, slots);
    }
    if ((world->prototypes.keys[c->key].flags & KEY_HOOKED) != 0)
        hooks_leave(world, manager, c->key, entities, count);
    mark_again(c, entities, count);
    store_move_all(c, entities, count);
    if (slots != NULL)
        store_destroy_slots(world, manager, slots, count);
    memory_free(&world->memory, slots, count * sizeof *slots);
    return BP_OK;
}

static bp_result_t change_planned(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    if (c->adding)
        return add_planned(c, entities, count);
    if ((c->world->prototypes.keys[c->key].flags & (KEY_HOOKED | KEY_OWN_STORAGE)) != 0)
        return remove_told(c, entities, count);
    store_move_all(c, entities, count);
    return BP_OK;
}

bp_result_t store_change_any(world_t *world, uint32_t key, bool adding, const bp_entity_t *entities, uint32_t count)
{
    bp_result_t result = check_change(world, key);
    if (result != BP_OK || count == 0)
        return result;
    if (!prototypes_widen(&world->prototypes))
        return error_memory(&world->base->error, "looking up prototypes");
    store_change_t c = {.world = world, .key = key, .adding = adding};
    if (count == 1 && (world->prototypes.keys[key].flags & (KEY_OWN_STORAGE | KEY_HOOKED)) == 0)
        return store_change_one(&c, entities[0]);
    result = plan(&c, entities, count);
    return result != BP_OK ? result : change_planned(&c, entities, count);
}

bp_result_t store_change_wanted(world_t *world, uint32_t key, bool adding, bp_entity_t *entities, uint32_t count)
{
    bp_result_t result = check_change(world, key);
    if (result != BP_OK || count == 0)
        return result;
    store_change_t c = {.world = world, .key = key, .adding = adding};
    result = plan_wanted(&c, entities, count, &count);
    if (result != BP_OK || count == 0)
        return result;
    if (count > 1)
        return change_planned(&c, entities, count);
    unmark(&c, entities, 1); /* one entity may have a shorter way */
    return adding ? store_add(world, key, entities, 1) : store_remove(world, key, entities, 1);
}
