/* store_one.c - one entity gets or loses a component.
 *
 * Most such changes repeat one that was made before. Then the cache of transitions has the transition, linked to both
 * runs (prototypes.h), and where the runs have the same `way` nothing has to be told, stamped or released: the entity
 * takes the short way (`change`), in which each question is asked once:
 *
 *     record -> linked transition -> a row in `to`: the lowest hole, or behind the last row
 *                                 -> the row in `from`: the last one goes, another one becomes a hole
 *                                 -> one pass over the columns
 *
 *     before                               run {a}: e1 e2 e3      run {a, c}: e7
 *     e2 has got c                         run {a}: e1 -- e3      run {a, c}: e7 e2
 *     e2 has lost c, and fills the hole    run {a}: e1 e2 e3      run {a, c}: e7
 *
 * Where another row of one of the runs moves, or notices are written down, the entity goes aside (`change_aside`); all
 * else goes the general way (store_change_any, store_change_one), which says what is wrong, makes runs and takes
 * memory.
 *
 * Invariant: the short way changes nothing before it is certain to come to its end.
 *
 * Measured: what decides is how early the processor knows the addresses, so the transition is first looked for where
 * the last one by this key was (prototypes_linked), which needs no record: 24.9 ns for a component that comes and goes
 * instead of 32.3 ns.
 *
 * Not here: batches (store_change.c), creation (store.c).
 */
#include "store.h"
#include "store_inner.h"

/* --- leaving a row ------------------------------------------------------------------------------------------------ */

/* Rows that entities leave one by one are filled with the last rows many at a time, so that cache misses overlap. */
NOT_INLINED static void fill_many_left(world_t *world, run_t *from)
{
    store_compact(world, from, UINT32_MAX, store_holes_allowed(from) / 2);
}

/* Has the run as many holes as may stay, so that one more is one too many? */
static inline bool has_many_holes(const run_t *run)
{
    return run->holes >= STORE_FEW_HOLES && run->holes >= STORE_FEW_HOLES + run->count / STORE_HOLES_SHARE;
}

/* An entity has left a row, with the texts and lists of its cells. */
static void vacate_row(world_t *world, run_t *from, uint32_t row)
{
    uint32_t last = from->count - 1;
    if (row == last && from->holes == 0) {
        from->count = last;
        from->version++;
    } else if (row == last && !from->has_counted) {
        store_leave_rows(world, from, row, 1);
    } else if (row == last || !store_keeps_holes(from)) {
        run_erase(from, row, &world->holdings);
        if (row < from->count)
            world_own_record(world, run_entities(from)[row])->row = row;
    } else {
        bool many = has_many_holes(from);
        run_leave_row(from, row);
        if (!from->in_holes_list)
            store_list_holes(world, from);
        if (many)
            fill_many_left(world, from);
    }
}

/* --- the general way ---------------------------------------------------------------------------------------------- */

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

bp_result_t store_change_one(store_change_t *c, bp_entity_t e)
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

/* Functions apart, so that the short ways have no cost for the remaining cases, nor the first component for the ways
 * of further ones: a function saves the registers that any of its ways needs. */
NOT_INLINED static bp_result_t add_any(world_t *world, uint32_t key, bp_entity_t e)
{
    return store_change_any(world, key, true, &e, 1);
}

NOT_INLINED static bp_result_t remove_any(world_t *world, uint32_t key, bp_entity_t e)
{
    return store_change_any(world, key, false, &e, 1);
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

/* The cells of a row that moves between two plain runs, in functions for each of two kinds of rows that it comes to:
 *   - behind the last row every value is copied as 16 bytes, since the bytes behind the last row are not in use yet;
 *   - a hole has rows behind it, so just the value is copied.
 * The pointers of the runs are read once, since a compiler cannot know that the copies leave them unchanged. Loops
 * count down, which spares them a comparison. */
typedef void (*value_mover)(char *to, const char *from, size_t size);

ALWAYS_INLINED static inline void copy_sixteen(char *to, const char *from, size_t size)
{
    (void)size;
    memcpy(to, from, 16);
}

#define COPY_TWO(type)                                                  \
    do {                                                                \
        type first_, second_;                                           \
        memcpy(&first_, from, sizeof first_);                           \
        memcpy(&second_, from + size - sizeof second_, sizeof second_); \
        memcpy(to, &first_, sizeof first_);                             \
        memcpy(to + size - sizeof second_, &second_, sizeof second_);   \
    } while (0)

/* Values have 1 to 16 bytes; each is copied as two parts that may overlap, without a call. */
ALWAYS_INLINED static inline void copy_value(char *to, const char *from, size_t size)
{
    if (size >= 8)
        COPY_TWO(uint64_t);
    else if (size >= 4)
        COPY_TWO(uint32_t);
    else if (size >= 2)
        COPY_TWO(uint16_t);
    else
        *to = *from;
}

/* The cells of a row go from one plain run to the other, where `adding` says which one has more columns. */
ALWAYS_INLINED static inline void move_cells(const transition_t *t, size_t row, size_t to_row, bool adding,
                                             value_mover copy)
{
    const run_t *from = t->from_run, *to = t->to_run;
    void *const *source = from->columns, *const *target = to->columns;
    const uint32_t *sizes = to->sizes;
    size_t column = t->column, count = (adding ? from : to)->column_count;
    for (size_t c = column - 1; c != 0; c--) {
        size_t size = sizes[c];
        copy((char *)target[c] + to_row * size, (const char *)source[c] + row * size, size);
    }
    size_t width = t->width;
    if (adding) {
        const field_t *const *fields = to->fields;
        for (size_t c = column, end = column + width; c != end; c++) {
            size_t size = sizes[c];
            copy((char *)target[c] + to_row * size, (const char *)&fields[c]->initial, size);
        }
    }
    if (count == column)
        return;
    source += adding ? 0 : width;
    target += adding ? width : 0;
    sizes += adding ? width : 0;
    for (size_t c = count - 1; c >= column; c--) {
        size_t size = sizes[c];
        copy((char *)target[c] + to_row * size, (const char *)source[c] + row * size, size);
    }
}

/* --- the short way ------------------------------------------------------------------------------------------------ */

/* What `change` does not do of a linked transition: others are told, or other rows of the run that the entity leaves
 * move. */
ALWAYS_INLINED static inline bp_result_t change_aside(world_t *world, record_t *record, const transition_t *t,
                                                      bp_entity_t e, bool adding)
{
    run_t *from = t->from_run, *to = t->to_run;
    uint32_t row = record->row, to_row;
    /* Where the larger run is plain, the other one is too. */
    if (!(adding ? to : from)->plain || !store_has_row(to))
        return store_change_any(world, (uint32_t)t->edge - 1, adding, &e, 1);
    if (to->holes > 0) {
        to_row = run_take_hole(to);
        move_cells(t, row, to_row, adding, copy_value);
    } else {
        to_row = to->count++;
        move_cells(t, row, to_row, adding, copy_sixteen);
    }
    run_entities(to)[to_row] = e;
    record->prototype = t->to;
    record->row = to_row;
    store_moved(world, from, to, &e, 1);
    vacate_row(world, from, row);
    return BP_OK;
}

NOT_INLINED static bp_result_t add_aside(world_t *world, record_t *record, const transition_t *t, bp_entity_t e)
{
    return change_aside(world, record, t, e, true);
}

NOT_INLINED static bp_result_t remove_aside(world_t *world, record_t *record, const transition_t *t, bp_entity_t e)
{
    return change_aside(world, record, t, e, false);
}

/* May the entity leave its row without moving another one? */
ALWAYS_INLINED static inline bool may_leave(const run_t *from, uint32_t row)
{
    if (row == from->count - 1)
        return from->holes == 0;
    return (from->flags & KEY_AT_ONCE) == 0 && from->in_holes_list && !has_many_holes(from);
}

/* Inlined twice, with a constant `adding` each time. All other ways are tail calls: a function that goes on after a
 * call has to save registers. The record is that of the entity's index; an entity with a prototype has one that can be
 * written to. */
ALWAYS_INLINED static inline bp_result_t change(world_t *world, uint32_t key, bp_entity_t e, record_t *record,
                                                bool adding)
{
    const transition_t *t = prototypes_linked(&world->prototypes, record->prototype, key, adding);
    if (t == NULL || record->generation != bp_entity_generation(e))
        return (adding ? add_any : remove_any)(world, key, e);
    run_t *from = t->from_run, *to = t->to_run;
    uint32_t row = record->row, to_row = to->count;
    bool behind = to->holes == 0;
    if (from->way != to->way || (behind ? to_row >= to->capacity : !holes_know_lowest(&to->hole_set)) ||
        !may_leave(from, row))
        return (adding ? add_aside : remove_aside)(world, record, t, e);
    /* The order of these stores keeps a compiler from joining two of them, which would take longer than both. */
    if (row == from->count - 1) {
        from->version++;
        record->prototype = t->to;
        from->count = row;
    } else {
        record->prototype = t->to;
        run_leave_row(from, row);
    }
    if (behind) {
        to->count = to_row + 1;
        record->row = to_row;
        run_entities(to)[to_row] = e;
        move_cells(t, row, to_row, adding, copy_sixteen);
        return BP_OK;
    }
    to_row = run_take_known_hole(to);
    record->row = to_row;
    run_entities(to)[to_row] = e;
    move_cells(t, row, to_row, adding, copy_value);
    return BP_OK;
}

/* Add the first component, where the transition is known and there is room. */
NOT_INLINED static bp_result_t add_first(world_t *world, uint32_t key, bp_entity_t e, record_t *record)
{
    const transition_t *t = prototypes_cached(&world->prototypes, 0, key, true);
    run_t *run = t == NULL ? NULL : t->to_run;
    if (run == NULL || !store_has_row(run) || !run->plain || !store_has_notice_room(world) ||
        !world_may_write(record) || record->generation != 0 || !entities_is_alive(world->entities, e))
        return add_any(world, key, e);
    store_append_one(world, run, record, e);
    return BP_OK;
}

NOT_INLINED static bp_result_t add_further(world_t *world, uint32_t key, bp_entity_t e, record_t *record)
{
    return change(world, key, e, record, true);
}

/* `entities` may lie in a column of the runs, so it is read before these change. */
bp_result_t store_add(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    if (count != 1 || world_holds_rows(world))
        return store_change_any(world, key, true, entities, count);
    bp_entity_t e = entities[0];
    record_t *record = world_record_at(world, bp_entity_index(e));
    if (record->prototype == 0)
        return add_first(world, key, e, record);
    return add_further(world, key, e, record);
}

bp_result_t store_remove(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    if (count != 1 || world_holds_rows(world))
        return store_change_any(world, key, false, entities, count);
    return change(world, key, entities[0], world_record_at(world, bp_entity_index(entities[0])), false);
}
