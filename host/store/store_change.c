/* store_change.c - adding and removing components: a batch judged whole, then its rows moved.
 *
 * `plan` looks at every entity of the batch, refuses changes that are not possible, and counts how many rows each
 * target run will get; then memory is taken; then the rows move. A batch of one goes directly: `change_quickly` and
 * `add_first` in the usual cases, else `change_one`.
 */
#include "../plugin/verbs.h"
#include "store.h"
#include "hooks.h"
#include "own.h"
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
 * transition. Returns how many were planned; ends before an entity whose record is marked, which `plan_one` then
 * refuses. */
static uint32_t plan_stretch(store_change_t *c, bp_entity_t planned, const bp_entity_t *entities, uint32_t count)
{
    world_t *world = c->world;
    const run_t *from = world_run(world, c->from);
    if (from == NULL || count == 0)
        return 0;
    uint32_t n = run_stretch(from, world_own_record(world, planned)->row + 1, entities, count), marked = 0;
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
    while (planned < count) {
        if (planned + STORE_AHEAD < count)
            PREFETCH(world_record_at(world, bp_entity_index(entities[planned + STORE_AHEAD])));
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

/* Rows that entities leave one by one are filled with the last ones many at a time, whose misses then overlap. */
NOT_INLINED static void fill_many_left(world_t *world, run_t *from)
{
    store_compact(world, from, UINT32_MAX, store_holes_allowed(from) / 2);
}

/* An entity has left the last row, or the run may keep no more holes. A function of its own, since both are rare. */
NOT_INLINED static void vacate_end(world_t *world, run_t *from, uint32_t row)
{
    if (row == from->count - 1 && !from->has_counted) {
        store_leave_rows(world, from, row, 1);
        return;
    }
    run_erase(from, row, &world->holdings);
    if (row < from->count)
        world_own_record(world, run_entities(from)[row])->row = row;
}

/* An entity has left a row; what the row held has gone with it. */
static inline void vacate_row(world_t *world, run_t *from, uint32_t row)
{
    uint32_t last = from->count - 1, allowed = store_holes_allowed(from);
    if (row == last && from->holes == 0) {
        from->count = last;
        from->version++;
    } else if (row == last || allowed == 0) {
        vacate_end(world, from, row);
    } else {
        run_leave_row(from, row);
        store_note_holes(world, from);
        if (from->holes > allowed)
            fill_many_left(world, from);
    }
}

/* Take a row out of its run; what `to` also has is copied to `to_row`. */
static void move_row(store_change_t *c, run_t *from, uint32_t row, run_t *to, uint32_t to_row)
{
    uint32_t width = c->world->prototypes.keys[c->key].columns, column = c->column;
    if (c->adding) {
        run_copy_row(from, 1, row, to, 1, to_row, column - 1);
        run_copy_row(from, column, row, to, column + width, to_row, from->column_count - column);
    } else {
        run_release(from, column, column + width, row, 1, &c->world->holdings);
        if (to != NULL) {
            run_copy_row(from, 1, row, to, 1, to_row, column - 1);
            run_copy_row(from, column + width, row, to, column, to_row, to->column_count - column);
        }
    }
    stamps_note_rows(from->stamps, row, 1);
    vacate_row(c->world, from, row);
}

/* The usual case of one: the entity has components before and after, the transition is known, and there is a row. False
 * where the general way has to be taken. Inlined twice, with a constant `adding` each time. */
ALWAYS_INLINED static inline bool change_quickly(world_t *world, uint32_t key, bp_entity_t e, bool adding)
{
    const prototypes_t *p = &world->prototypes;
    if (world_holds_rows(world) || key >= p->key_count)
        return false;
    record_t *record = world_record_at(world, bp_entity_index(e)); /* an entity with a prototype has a record that can
                                                                      be written to */
    const component_key_t *changed = &p->keys[key];
    if (record->generation != bp_entity_generation(e) || record->prototype == 0 ||
        (changed->flags & (KEY_OWN_STORAGE | KEY_GONE | KEY_HOOKED | KEY_WORLD)) != 0)
        return false;
    const transition_t *t = prototypes_cached(p, record->prototype, adding ? key : key | PROTOTYPES_WITHOUT);
    if (t == NULL || t->to == 0)
        return false;
    run_t *from = p->items[record->prototype].run, *to = p->items[t->to].run;
    if (to == NULL || !store_has_row(to) || !(adding ? to : from)->plain)
        return false;
    uint32_t row = record->row, column = t->column, width = changed->columns;
    uint32_t behind = (adding ? from->column_count : to->column_count) - column;
    uint32_t from_behind = adding ? column : column + width, to_behind = adding ? column + width : column, to_row;
    if (to->holes > 0) {
        to_row = run_take_hole(to);
        run_copy_row(from, 1, row, to, 1, to_row, column - 1);
        if (adding)
            run_fill_row(to, column, column + width, to_row);
        run_copy_row(from, from_behind, row, to, to_behind, to_row, behind);
    } else {
        to_row = to->count++;
        run_append_cells(from, 1, row, to, 1, to_row, column - 1);
        if (adding)
            run_fill_cells(to, column, column + width, to_row);
        run_append_cells(from, from_behind, row, to, to_behind, to_row, behind);
    }
    record->prototype = t->to;
    record->row = to_row;
    run_entities(to)[to_row] = e;
    store_moved(world, from, to, &run_entities(to)[to_row], 1);
    vacate_row(world, from, row);
    return true;
}

/* Add the first component of one entity, where the transition is known and there is room; false where the general way
 * has to be taken. */
static bool add_first(world_t *world, uint32_t key, bp_entity_t e)
{
    const prototypes_t *p = &world->prototypes;
    uint32_t index = bp_entity_index(e);
    if (world_holds_rows(world) || key >= p->key_count ||
        (p->keys[key].flags & (KEY_OWN_STORAGE | KEY_GONE | KEY_HOOKED | KEY_WORLD)) != 0 ||
        !world_has_record(world, index) || world_own_record(world, e)->generation != 0 ||
        !entities_is_alive(world->entities, e))
        return false;
    const transition_t *t = prototypes_cached(p, 0, key);
    run_t *run = t == NULL ? NULL : p->items[t->to].run;
    if (run == NULL || !store_has_row(run) || !run->plain || !store_has_notice_room(world))
        return false;
    store_append_one(world, run, e);
    return true;
}

static bp_result_t change_one(store_change_t *c, bp_entity_t e)
{
    world_t *world = c->world;
    const record_t *record = world_record(world, e);
    if (record == NULL && !entities_is_alive(world->entities, e))
        return entities_dead_error(world->entities, e);
    uint32_t prototype = record == NULL ? 0 : record->prototype, row = record == NULL ? 0 : record->row;
    bp_result_t result = store_find_transition(c, prototype);
    if (result != BP_OK)
        return store_about(world, e, result);
    run_t *from = world_run(world, prototype), *to = world_run(world, c->to);
    if (!store_reserve_record(world, bp_entity_index(e)) || !store_reserve_notices(world, 1) ||
        (to != NULL && !store_reserve_rows(world, to, 1)))
        return error_memory(&world->base->error, "moving rows");
    uint32_t to_row = 0;
    if (to != NULL)
        run_take_rows(to, 1, &to_row, &world->holdings);
    if (from != NULL)
        move_row(c, from, row, to, to_row);
    world->occupied = world->occupied + (from == NULL) - (to == NULL);
    store_moved(world, from, to, &e, 1);
    if (to == NULL) {
        *world_own_record(world, e) = (record_t){0};
        return BP_OK;
    }
    run_entities(to)[to_row] = e;
    if (c->adding)
        run_fill(to, c->column, c->column + world->prototypes.keys[c->key].columns, to_row, 1);
    store_set_record(world, e, c->to, to_row);
    return BP_OK;
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

/* Add a component that is told of its rows, for entities that lack it. The component looks at the entities as they are,
 * and may refuse; else the rows move. */
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

/* Add a component in all remaining cases. A function apart from the short ways, so that these pay for nothing that only
 * the remaining cases need. */
NOT_INLINED static bp_result_t add_any(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    if (count == 1 && add_first(world, key, entities[0]))
        return BP_OK;
    bp_result_t result = check_change(world, key);
    if (result != BP_OK || count == 0)
        return result;
    store_change_t c = {.world = world, .key = key, .adding = true};
    if (count == 1 && (world->prototypes.keys[key].flags & (KEY_OWN_STORAGE | KEY_HOOKED)) == 0)
        return change_one(&c, entities[0]);
    result = plan(&c, entities, count);
    if (result != BP_OK)
        return result;
    if ((world->prototypes.keys[key].flags & KEY_HOOKED) != 0)
        return add_told(&c, entities, count);
    if (world_key_manager(world, key)->component->own_storage) {
        unmark(&c, entities, count); /* the manager may look at the entities */
        result = create_slots(&c, entities, count);
    }
    if (result == BP_OK)
        store_move_all(&c, entities, count);
    memory_free(&world->memory, c.slots, c.slots == NULL ? 0 : count * sizeof *c.slots);
    return result;
}

NOT_INLINED static bp_result_t remove_any(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    bp_result_t result = check_change(world, key);
    if (result != BP_OK || count == 0)
        return result;
    store_change_t c = {.world = world, .key = key};
    bool told = (world->prototypes.keys[key].flags & KEY_HOOKED) != 0;
    if (count == 1 && !told && (world->prototypes.keys[key].flags & KEY_OWN_STORAGE) == 0)
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
    if (result == BP_OK && told) {
        unmark(&c, entities, count);
        hooks_leave(world, manager, key, entities, count);
        mark_again(&c, entities, count);
    }
    if (result == BP_OK) {
        store_move_all(&c, entities, count);
        if (slots != NULL)
            store_destroy_slots(world, manager, slots, count);
    }
    memory_free(&world->memory, slots, slots == NULL ? 0 : count * sizeof *slots);
    return result;
}

bp_result_t store_add(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    return count == 1 && change_quickly(world, key, entities[0], true) ? BP_OK : add_any(world, key, entities, count);
}

bp_result_t store_remove(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    return count == 1 && change_quickly(world, key, entities[0], false) ? BP_OK
                                                                        : remove_any(world, key, entities, count);
}

/* Do the entity's components allow the change? Errors of other kinds are left for the change itself to report. */
static bool wanted(store_change_t *c, uint32_t prototype)
{
    bp_result_t result = store_find_transition(c, prototype);
    return result != BP_ERROR_EXISTS && result != BP_ERROR_NOT_FOUND;
}

uint32_t store_sift(world_t *world, uint32_t key, bool adding, bp_entity_t *entities, uint32_t count)
{
    store_change_t c = {.world = world, .key = key, .adding = adding};
    if (check_change(world, key) != BP_OK)
        return count;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        bp_entity_t e = entities[i];
        record_t *record = world_record(world, e);
        if (record == NULL && !entities_is_alive(world->entities, e))
            continue;
        uint32_t prototype = record == NULL ? 0 : record->prototype;
        if ((prototype & RECORD_MARK) != 0 || !wanted(&c, prototype))
            continue;
        if (record == NULL && !store_reserve_record(world, bp_entity_index(e))) {
            unmark(&c, entities, kept);
            memmove(entities + kept, entities + i, (count - i) * sizeof *entities);
            return kept + count - i; /* the change itself will report the error */
        }
        if (record == NULL) {
            record = world_own_record(world, e);
            *record = (record_t){.generation = bp_entity_generation(e)};
        }
        record->prototype |= RECORD_MARK;
        entities[kept++] = e;
    }
    unmark(&c, entities, kept);
    return kept;
}

/* --- store move -------------------------------------------------------------------------------------------------- */

/* The moves of rows between runs when a component comes or goes.
 *
 * Rows are added behind those that `to` has, whose holes are filled before. In `from` they leave holes, of which few
 * may stay (store_holes_allowed); the others are filled with the last rows when all have moved. So a row is copied
 * once, and once more only where it fills a hole that is left: a batch that empties a run fills none.
 *
 * Rows move in one of two ways:
 *   - a stretch of entities that lie in consecutive rows moves as blocks of memory (`move_stretch`);
 *   - scattered ones with the same origin go up to STORE_BLOCK at a time (`move_block`): each column in a loop of its
 *     own, its value size known outside the loop.
 */

enum { LONG_STRETCH = 8 };

/* --- before: transitions and room --------------------------------------------------------------------------------- */

bp_result_t store_look_up_transition(store_change_t *c, uint32_t from)
{
    prototypes_t *p = &c->world->prototypes;
    const transition_t *t = prototypes_cached(p, from, c->adding ? c->key : c->key | PROTOTYPES_WITHOUT);
    if (t != NULL && (t->to == 0 || p->items[t->to].run != NULL)) {
        c->to = t->to;
        c->column = t->column;
        c->from = from;
        c->found = true;
        return BP_OK;
    }
    bp_result_t result = c->adding ? prototypes_with(p, from, c->key, &c->to, &c->column)
                                   : prototypes_without(p, from, c->key, &c->to, &c->column);
    if (result == BP_OK && c->to != 0 && store_need_run(c->world, c->to) == NULL)
        result = error_memory(&c->world->base->error, "making a run");
    c->found = result == BP_OK;
    c->from = from;
    return result;
}

bool store_reserve_touched(store_change_t *c)
{
    bool good = true;
    for (run_t *run = c->touched; run != NULL; run = run->next_pending) {
        good = good && store_reserve_rows(c->world, run, run->pending);
        run->pending = 0;
    }
    c->touched = NULL;
    return good;
}

/* --- scattered rows ----------------------------------------------------------------------------------------------- */

/* Rows of one run that move together. */
typedef struct block_t {
    run_t *from, *to; /* NULL: the empty prototype */
    uint32_t first;   /* of the new rows in `to` */
    uint32_t count;
    uint32_t rows[STORE_BLOCK]; /* where each row is */
} block_t;

#define MOVE_CELLS(type)                                                    \
    do {                                                                    \
        const type *f_ = (const type *)(const void *)from;                  \
        type *restrict t_ = (type *)(void *)to;                             \
        for (uint32_t i = 0; i < b->count; i++)                             \
            t_[i] = f_[b->rows[i]];                                         \
    } while (0)

static void move_large_cells(const block_t *b, const char *from, char *to, size_t size)
{
    for (uint32_t i = 0; i < b->count; i++)
        memcpy(to + i * size, from + b->rows[i] * size, size);
}

static void move_cells(const block_t *b, const char *from, char *to, uint32_t size)
{
    switch (size) {
    case 1: MOVE_CELLS(uint8_t); break;
    case 2: MOVE_CELLS(uint16_t); break;
    case 4: MOVE_CELLS(uint32_t); break;
    case 8: MOVE_CELLS(uint64_t); break;
    case 12: MOVE_CELLS(bp_vec3_t); break;
    case 16: MOVE_CELLS(bp_vec4_t); break;
    default: move_large_cells(b, from, to, size); break;
    }
}

/* Copy columns; what cells hold goes along, so that the hole holds nothing. */
static void move_columns(const block_t *b, uint32_t from_column, uint32_t to_column, uint32_t count)
{
    for (uint32_t c = 0; c < count && b->to != NULL; c++) {
        char *from = b->from->columns[from_column + c];
        move_cells(b, from, run_cell(b->to, to_column + c, b->first), b->from->sizes[from_column + c]);
        const field_t *field = b->from->fields[from_column + c];
        for (uint32_t i = 0; field_is_counted(field) && i < b->count; i++)
            cells_clear(field, from + (size_t)b->rows[i] * field->size, 1);
    }
}

static void drop_columns(world_t *world, const block_t *b, uint32_t column, uint32_t count)
{
    for (uint32_t c = column; c < column + count && b->from->has_counted; c++) {
        const field_t *field = b->from->fields[c];
        for (uint32_t i = 0; field_is_counted(field) && i < b->count; i++) {
            void *cell = run_cell(b->from, c, b->rows[i]);
            cells_release(&world->holdings, field, cell, 1);
            cells_clear(field, cell, 1);
        }
    }
}

static void move_values(store_change_t *c, const block_t *b, const uint32_t *slots)
{
    uint32_t width = c->world->prototypes.keys[c->key].columns;
    if (c->adding) {
        if (b->from != NULL) {
            move_columns(b, 1, 1, c->column - 1);
            move_columns(b, c->column, c->column + width, b->from->column_count - c->column);
        }
        run_fill(b->to, c->column, c->column + width, b->first, b->count);
        if (slots != NULL)
            memcpy(run_cell(b->to, c->column, b->first), slots, b->count * sizeof *slots);
    } else {
        drop_columns(c->world, b, c->column, width);
        if (b->to != NULL) {
            move_columns(b, 1, 1, c->column - 1);
            move_columns(b, c->column + width, c->column, b->to->column_count - c->column);
        }
    }
}

static void move_records(world_t *world, const block_t *b, const bp_entity_t *entities)
{
    if (b->to == NULL) {
        for (uint32_t i = 0; i < b->count; i++)
            *world_own_record(world, entities[i]) = (record_t){0};
        return;
    }
    memcpy(run_entities(b->to) + b->first, entities, b->count * sizeof *entities);
    store_set_records(world, entities, b->count, b->to->prototype, b->first);
}

/* Move scattered entities from the head of the list, all of one prototype. Returns how many. */
static uint32_t move_scattered(store_change_t *c, const bp_entity_t *entities, uint32_t count, const uint32_t *slots)
{
    world_t *world = c->world;
    block_t b = {.from = world_run(world, c->from), .to = world_run(world, c->to)};
    for (; b.count < STORE_BLOCK && b.count < count; b.count++) {
        const record_t *record = world_own_record(world, entities[b.count]);
        if ((record->prototype & ~RECORD_MARK) != c->from)
            break;
        b.rows[b.count] = record->row;
    }
    b.first = b.to != NULL ? b.to->count : 0;
    if (b.to != NULL) {
        b.to->count += b.count;
        stamps_note_rows(b.to->stamps, b.first, b.count);
    }
    move_values(c, &b, slots);
    move_records(world, &b, entities);
    if (b.from != NULL)
        store_leave_scattered(world, b.from, b.rows, b.count);
    return b.count;
}

/* --- stretches ---------------------------------------------------------------------------------------------------- */

static void move_stretch_cells(world_t *world, run_t *from, uint32_t row, uint32_t count, uint32_t column, char *to)
{
    if (to != NULL)
        memcpy(to, run_cell(from, column, row), (size_t)count * from->sizes[column]);
    if (!field_is_counted(from->fields[column]))
        return;
    if (to == NULL)
        run_release(from, column, column + 1, row, count, &world->holdings);
    cells_clear(from->fields[column], run_cell(from, column, row), count);
}

static void move_stretch(store_change_t *c, run_t *from, uint32_t row, const bp_entity_t *entities, uint32_t count,
                         const uint32_t *slots)
{
    world_t *world = c->world;
    run_t *to = world_run(world, c->to);
    uint32_t width = world->prototypes.keys[c->key].columns, first = to != NULL ? to->count : 0;
    uint32_t dropped = c->adding ? 0 : width, inserted = c->adding ? width : 0;
    if (to != NULL) {
        to->count += count;
        stamps_note_rows(to->stamps, first, count);
    }
    for (uint32_t i = 0; i < from->column_count; i++) {
        bool kept = to != NULL && (i < c->column || i >= c->column + dropped);
        uint32_t at = i < c->column ? i : i + inserted - dropped;
        move_stretch_cells(world, from, row, count, i, kept ? run_cell(to, at, first) : NULL);
    }
    if (inserted > 0)
        run_fill(to, c->column, c->column + width, first, count);
    if (slots != NULL)
        memcpy(run_cell(to, c->column, first), slots, count * sizeof *slots);
    for (uint32_t i = 0; i < count; i++) {
        if (to != NULL)
            store_set_record(world, entities[i], to->prototype, first + i);
        else
            *world_own_record(world, entities[i]) = (record_t){0};
    }
    store_leave_rows(world, from, row, count);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

/* Holes of the run that entities come to are filled first, as many as there are entities: what is added lies
   together. */
static void close_holes(world_t *world, run_t *to, uint32_t count)
{
    if (to != NULL && to->holes > 0)
        store_compact(world, to, UINT32_MAX, to->holes - (count < to->holes ? count : to->holes));
}

/* Entities of a batch that come one behind the other and have the same origin and destination. Returns how many
   moved. */
static uint32_t move_some(store_change_t *c, const bp_entity_t *entities, uint32_t count, const uint32_t *slots)
{
    world_t *world = c->world;
    const record_t *record = world_own_record(world, entities[0]);
    run_t *from = world_run(world, c->from);
    uint32_t n = from == NULL ? 0 : run_stretch(from, record->row, entities, count);
    if (n >= LONG_STRETCH) {
        close_holes(world, world_run(world, c->to), n);
        move_stretch(c, from, record->row, entities, n, slots);
        return n;
    }
    close_holes(world, world_run(world, c->to), count < STORE_BLOCK ? count : STORE_BLOCK);
    return move_scattered(c, entities, count, slots);
}

/* A run that entities have left keeps few holes. */
static void fill_left(world_t *world, run_t *run)
{
    if (run != NULL && run->holes > store_holes_allowed(run))
        store_compact(world, run, UINT32_MAX, store_holes_allowed(run));
}

void store_move_all(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    world_t *world = c->world;
    run_t *from = NULL;
    for (uint32_t i = 0, n; i < count; i += n) {
        const record_t *record = world_own_record(world, entities[i]);
        store_follow_transition(c, record->prototype & ~RECORD_MARK);
        if (world_run(world, c->from) != from)
            fill_left(world, from);
        from = world_run(world, c->from);
        n = move_some(c, entities + i, count - i, c->slots == NULL ? NULL : c->slots + i);
        store_moved(world, from, world_run(world, c->to), entities + i, n);
        if (c->from == 0)
            world->occupied += n;
        if (c->to == 0)
            world->occupied -= n;
    }
    fill_left(world, from);
}

/* --- store strip ------------------------------------------------------------------------------------------------- */

/* Taking a manager's components out of a world: all rows of all runs that have them move.
 *
 * A plugin that goes must not fail half way. So the memory for all moves of all its managers is taken beforehand
 * (store_prepare_strip), counting each row into every run that it will pass through while one key after another goes.
 */

/* Take one key away from all rows of a run that has it. */
static bp_result_t strip_run(world_t *world, run_t *run, uint32_t key)
{
    store_change_t c = {.world = world, .key = key};
    store_compact(world, run, UINT32_MAX, 0);
    bp_result_t result = store_find_transition(&c, run->prototype);
    if (result == BP_OK && c.to != 0 && !run_reserve(world_run(world, c.to), &world->memory, run->count))
        result = error_memory(&world->base->error, "taking a component out of a world");
    if (result == BP_OK && (world->prototypes.keys[key].flags & KEY_HOOKED) != 0 && run->count > 0)
        hooks_removed(world, key, run, 0, run->count);
    while (result == BP_OK && run->count > 0) {
        bp_entity_t last[STORE_BLOCK];
        uint32_t count = run->count < STORE_BLOCK ? run->count : STORE_BLOCK;
        memcpy(last, run_entities(run) + run->count - count, count * sizeof *last);
        store_move_all(&c, last, count);
    }
    if (result == BP_OK)
        run_trim(run, &world->memory, SIZE_MAX / 2); /* no entity can have these components again */
    return result;
}

static uint32_t key_of_manager(const world_t *world, uint32_t prototype, uint32_t manager)
{
    const prototypes_t *p = &world->prototypes;
    for (uint32_t at = prototype; at != 0; at = p->items[at].base) {
        if (p->keys[p->items[at].key].manager == manager)
            return p->items[at].key;
    }
    return BP_NONE;
}

/* Count the rows of a run into every run that they will pass through while one key after another goes. */
static bp_result_t plan_strip(store_change_t *c, const run_t *run, const plugin_t *owner, const manager_t *only)
{
    world_t *world = c->world;
    uint32_t at = run->prototype;
    for (uint32_t m = world->manager_count; m > 0; m--) {
        const manager_t *manager = world->managers[m - 1];
        bool goes = owner == NULL ? manager->leaving : manager->component->owner == owner;
        if (!manager->started || !goes || (only != NULL && manager != only))
            continue;
        while ((c->key = key_of_manager(world, at, m - 1)) != BP_NONE) {
            c->found = false;
            bp_result_t result = store_find_transition(c, at);
            if (result != BP_OK)
                return result;
            at = c->to;
            run_t *to = world_run(world, at);
            if (to == NULL)
                continue;
            if (to->pending == 0) {
                to->next_pending = c->touched;
                c->touched = to;
            }
            to->pending += run->count;
        }
    }
    return BP_OK;
}

bp_result_t store_prepare_strip(world_t *world, const plugin_t *owner, const manager_t *only)
{
    if (world_holds_rows(world))
        return store_refuse_held(world);
    store_change_t c = {.world = world};
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < world->run_count && result == BP_OK; i++) {
        if (world->runs[i]->count > 0)
            result = plan_strip(&c, world->runs[i], owner, only);
    }
    bool room = store_reserve_touched(&c);
    if (result == BP_OK && !room)
        result = error_memory(&world->base->error, "taking components out of a world");
    return result;
}

bp_result_t store_strip(world_t *world, uint32_t manager)
{
    if (world_holds_rows(world))
        return store_refuse_held(world);
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < world->run_count && result == BP_OK; i++) {
        run_t *run = world->runs[i];
        uint32_t key = run->count > 0 ? key_of_manager(world, run->prototype, manager) : BP_NONE;
        if (key == BP_NONE)
            continue;
        result = strip_run(world, run, key);
        i = BP_NONE; /* the rows may have gone to a run that was looked at already: begin again */
    }
    own_settle(world);
    return result;
}
