/* store_change.c - adding and removing components: a batch judged whole, then its rows moved.
 *
 * `plan` looks at every entity of the batch, refuses what cannot be, and counts how many rows each target run will get; then
 * memory is taken; then the rows move. A batch of one goes directly: `change_quickly` and `add_first` in
 * the usual cases, else `change_one`.
 */
#include "../plugin/verbs.h"
#include "store.h"
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
        record = &world->records[bp_entity_index(e)];
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

static void unmark(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        record_t *record = &c->world->records[bp_entity_index(entities[i])];
        record->prototype &= ~RECORD_MARK;
        if (record->prototype == 0)
            *record = (record_t){0};
    }
}

/* Plan the entities that lie in the rows behind the one just planned: they live, and take the same transition. Returns
 * how many; it ends before one that is marked, which `plan_one` then refuses. */
static uint32_t plan_stretch(store_change_t *c, bp_entity_t planned, const bp_entity_t *entities, uint32_t count)
{
    world_t *world = c->world;
    const run_t *from = world_run(world, c->from);
    if (from == NULL || count == 0)
        return 0;
    uint32_t n = run_stretch(from, world->records[bp_entity_index(planned)].row + 1, entities, count), marked = 0;
    for (; marked < n; marked++) {
        uint32_t *prototype = &world->records[bp_entity_index(entities[marked])].prototype;
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
ALWAYS_INLINED static inline bool change_quickly(world_t *world, uint32_t key, bp_entity_t e, bool adding)
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
static bool add_first(world_t *world, uint32_t key, bp_entity_t e)
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
    world_t *world = c->world;
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

static bp_result_t check_change(world_t *world, uint32_t key)
{
    if (world_holds_rows(world))
        return store_refuse_held(world);
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
    bp_result_t result = verb_create(manager->component, &manager->verb, key->name, entities, count, NULL, c->slots);
    if (result != BP_OK || store_reserve_notices(c->world, count))
        return result;
    /* The manager has created entities itself, which took the room for ours. */
    store_destroy_slots(manager, c->slots, count);
    return error_memory(&c->world->base->error, "adding components");
}

/* What remains is kept apart from the short ways, so that these pay for nothing that only it needs. */
NOT_INLINED static bp_result_t add_any(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
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

NOT_INLINED static bp_result_t remove_any(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
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

bp_result_t store_add(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    return count == 1 && change_quickly(world, key, entities[0], true) ? BP_OK : add_any(world, key, entities, count);
}

bp_result_t store_remove(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    return count == 1 && change_quickly(world, key, entities[0], false) ? BP_OK : remove_any(world, key, entities, count);
}

/* Is it a change that the entity's components allow? What fails for another reason is left to the change itself to tell. */
static bool wanted(store_change_t *c, uint32_t prototype)
{
    bp_result_t result = store_find_transition(c, prototype);
    return result != BP_ERROR_EXISTS && result != BP_ERROR_NOT_FOUND;
}

uint32_t store_sift(world_t *world, uint32_t key, bool adding, bp_entity_t *entities, uint32_t count)
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
        if ((prototype & RECORD_MARK) != 0 || !wanted(&c, prototype))
            continue;
        if (record == NULL) {
            record = &world->records[bp_entity_index(e)];
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
 * Rows move in one of two ways:
 *   - a stretch of entities that lie in consecutive rows moves as blocks of memory, and its gap is filled with the
 *     last rows in one more block (`move_stretch`);
 *   - scattered ones with the same origin go up to STORE_BLOCK at a time (`move_block`): the order of swap-erases is first
 *     played through on the entities column alone, which yields for each row where it was and which row filled its
 *     hole; every other column then repeats that sequence in a loop of its own, its value size known outside the loop.
 */

enum { LONG_STRETCH = 8 };

/* --- before: transitions and room ---------------------------------------------------------------------------------- */

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
        good = good && run_reserve(run, &c->world->memory, run->pending);
        run->pending = 0;
    }
    c->touched = NULL;
    return good;
}

/* --- scattered rows ------------------------------------------------------------------------------------------------- */

typedef struct block_t {
    run_t *from, *to; /* NULL: the empty prototype */
    uint32_t first;   /* of the new rows in `to` */
    uint32_t count;
    uint32_t rows[STORE_BLOCK];  /* where each row was ... */
    uint32_t lasts[STORE_BLOCK]; /* ... and the row that then filled its place; equal where it was the last */
} block_t;

/* Play the swap-erases on the entities alone, keeping records in step. */
static void play_entities(world_t *world, block_t *b, uint32_t to_prototype, const bp_entity_t *entities)
{
    bp_entity_t *from = b->from != NULL ? run_entities(b->from) : NULL;
    bp_entity_t *to = b->to != NULL ? run_entities(b->to) + b->first : NULL;
    for (uint32_t i = 0; i < b->count; i++) {
        record_t *record = &world->records[bp_entity_index(entities[i])];
        if (from != NULL) {
            uint32_t row = record->row, last = --b->from->count;
            bp_entity_t filler = from[last];
            b->rows[i] = row;
            b->lasts[i] = last;
            from[row] = filler;
            if (row != last && filler.id != 0)
                world->records[bp_entity_index(filler)].row = row;
        }
        if (to != NULL) {
            to[i] = entities[i];
            store_set_record(world, entities[i], to_prototype, b->first + i);
        } else {
            *record = (record_t){0};
        }
    }
}

#define MOVE_CELLS(type)                                                    \
    do {                                                                    \
        type *f_ = (type *)(void *)from, *t_ = (type *)(void *)to;          \
        for (uint32_t i = 0; i < b->count; i++) {                           \
            uint32_t row = b->rows[i], last = b->lasts[i];                  \
            if (t_ != NULL)                                                 \
                t_[i] = f_[row];                                            \
            f_[row] = f_[last];                                             \
        }                                                                   \
    } while (0)

static void move_large_cells(const block_t *b, char *from, char *to, size_t size)
{
    for (uint32_t i = 0; i < b->count; i++) {
        char *gone = from + b->rows[i] * size;
        if (to != NULL)
            memcpy(to + i * size, gone, size);
        if (b->rows[i] != b->lasts[i])
            memcpy(gone, from + b->lasts[i] * size, size);
    }
}

/* Repeat the sequence on one column; `to` NULL: the value goes. */
static void move_cells(const block_t *b, char *from, char *to, uint32_t size)
{
    switch (size) {
    case 1: MOVE_CELLS(uint8_t); break;
    case 4: MOVE_CELLS(uint32_t); break;
    case 8: MOVE_CELLS(uint64_t); break;
    case 12: MOVE_CELLS(bp_vec3_t); break;
    case 16: MOVE_CELLS(bp_vec4_t); break;
    default: move_large_cells(b, from, to, size); break;
    }
}

static void move_columns(const block_t *b, uint32_t from_column, uint32_t to_column, uint32_t count)
{
    for (uint32_t c = 0; c < count; c++) {
        char *to = b->to != NULL ? run_cell(b->to, to_column + c, b->first) : NULL;
        move_cells(b, b->from->columns[from_column + c], to, b->from->sizes[from_column + c]);
    }
}

static void drop_columns(world_t *world, const block_t *b, uint32_t column, uint32_t count)
{
    for (uint32_t c = column; c < column + count; c++) {
        char *cells = b->from->columns[c];
        if (b->from->fields[c]->type == BP_STRING) {
            /* A row that fills a hole may itself leave later in the block, so this repeats the sequence too. */
            for (uint32_t i = 0; i < b->count; i++) {
                const char **strings = (const char **)(void *)cells;
                strings_release(&world->base->strings, strings[b->rows[i]]);
                strings[b->rows[i]] = strings[b->lasts[i]];
            }
        } else {
            move_cells(b, cells, NULL, b->from->sizes[c]);
        }
    }
}

static void move_block(store_change_t *c, block_t *b, const bp_entity_t *entities, const uint32_t *slots)
{
    uint32_t width = c->world->prototypes.keys[c->key].columns;
    b->first = b->to != NULL ? b->to->count : 0;
    if (b->to != NULL)
        b->to->count += b->count;
    if (b->from != NULL)
        b->from->version++;
    play_entities(c->world, b, c->to, entities);
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

/* --- stretches ----------------------------------------------------------------------------------------------------- */

/* A stretch of rows moves as it lies; `fill` rows from the end of `from` take its place. */
static void move_stretch_cells(run_t *from, uint32_t row, uint32_t count, uint32_t fill, uint32_t column, char *to)
{
    size_t size = from->sizes[column];
    char *cells = run_cell(from, column, row);
    if (to != NULL)
        memcpy(to, cells, count * size);
    memcpy(cells, run_cell(from, column, from->count - fill), fill * size);
}

static void release_stretch(world_t *world, run_t *from, uint32_t first, uint32_t last, uint32_t row, uint32_t count)
{
    for (uint32_t i = 0; i < count && from->has_strings; i++)
        run_release_strings(from, first, last, row + i, &world->base->strings);
}

static void place_stretch(world_t *world, run_t *from, uint32_t row, uint32_t fill, run_t *to, uint32_t first,
                          const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (to != NULL)
            store_set_record(world, entities[i], to->prototype, first + i);
        else
            world->records[bp_entity_index(entities[i])] = (record_t){0};
    }
    for (uint32_t i = 0; i < fill; i++) {
        bp_entity_t filler = run_entities(from)[row + i];
        if (filler.id != 0)
            world->records[bp_entity_index(filler)].row = row + i;
    }
}

static void move_stretch(store_change_t *c, run_t *from, uint32_t row, const bp_entity_t *entities, uint32_t count, const uint32_t *slots)
{
    run_t *to = world_run(c->world, c->to);
    uint32_t width = c->world->prototypes.keys[c->key].columns, first = to != NULL ? to->count : 0;
    uint32_t behind = from->count - (row + count), fill = behind < count ? behind : count;
    uint32_t dropped = c->adding ? 0 : width, inserted = c->adding ? width : 0;
    if (dropped > 0)
        release_stretch(c->world, from, c->column, c->column + width, row, count);
    for (uint32_t i = 0; i < from->column_count; i++) {
        bool kept = to != NULL && (i < c->column || i >= c->column + dropped);
        uint32_t at = i < c->column ? i : i + inserted - dropped;
        move_stretch_cells(from, row, count, fill, i, kept ? run_cell(to, at, first) : NULL);
    }
    if (inserted > 0)
        run_fill(to, c->column, c->column + width, first, count);
    if (slots != NULL)
        memcpy(run_cell(to, c->column, first), slots, count * sizeof *slots);
    place_stretch(c->world, from, row, fill, to, first, entities, count);
    from->count -= count;
    from->version++;
    if (to != NULL)
        to->count += count;
}

/* --- all ------------------------------------------------------------------------------------------------------------- */

/* Move scattered entities from the head of the list, all of one prototype. Returns how many. */
static uint32_t move_scattered(store_change_t *c, const bp_entity_t *entities, uint32_t count, const uint32_t *slots)
{
    world_t *world = c->world;
    block_t b = {.from = world_run(world, c->from), .to = world_run(world, c->to)};
    while (b.count < STORE_BLOCK && b.count < count) {
        const record_t *record = &world->records[bp_entity_index(entities[b.count])];
        if ((record->prototype & ~RECORD_MARK) != c->from)
            break;
        if (b.from != NULL)
            PREFETCH(run_entities(b.from) + record->row);
        b.count++;
    }
    move_block(c, &b, entities, slots);
    return b.count;
}

void store_move_all(store_change_t *c, const bp_entity_t *entities, uint32_t count)
{
    world_t *world = c->world;
    for (uint32_t i = 0, n; i < count; i += n) {
        const record_t *record = &world->records[bp_entity_index(entities[i])];
        const uint32_t *slots = c->slots == NULL ? NULL : c->slots + i;
        store_follow_transition(c, record->prototype & ~RECORD_MARK);
        run_t *from = world_run(world, c->from);
        n = from == NULL ? 0 : run_stretch(from, record->row, entities + i, count - i);
        if (n >= LONG_STRETCH)
            move_stretch(c, from, record->row, entities + i, n, slots);
        else
            n = move_scattered(c, entities + i, count - i, slots);
        store_moved(world, from, world_run(world, c->to), entities + i, n);
        if (c->from == 0)
            world->occupied += n;
        if (c->to == 0)
            world->occupied -= n;
    }
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
    store_sweep(world, run, UINT32_MAX);
    bp_result_t result = store_find_transition(&c, run->prototype);
    if (result == BP_OK && c.to != 0 && !run_reserve(world_run(world, c.to), &world->memory, run->count))
        result = error_memory(&world->base->error, "taking a component out of a world");
    while (result == BP_OK && run->count > 0) {
        bp_entity_t last[STORE_BLOCK];
        uint32_t count = run->count < STORE_BLOCK ? run->count : STORE_BLOCK;
        memcpy(last, run_entities(run) + run->count - count, count * sizeof *last);
        store_move_all(&c, last, count);
    }
    if (result == BP_OK)
        run_trim(run, &world->memory); /* nobody can have these components again */
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
static bp_result_t plan_strip(store_change_t *c, const run_t *run, const plugin_t *owner)
{
    world_t *world = c->world;
    uint32_t at = run->prototype;
    for (uint32_t m = world->manager_count; m > 0; m--) {
        const manager_t *manager = world->managers[m - 1];
        if (!manager->started || manager->component->owner != owner)
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

bp_result_t store_prepare_strip(world_t *world, const plugin_t *owner)
{
    if (world_holds_rows(world))
        return store_refuse_held(world);
    store_change_t c = {.world = world};
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < world->run_count && result == BP_OK; i++) {
        if (world->runs[i]->count > 0)
            result = plan_strip(&c, world->runs[i], owner);
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
        i = BP_NONE; /* its rows may have gone to a run that was looked at already: begin again */
    }
    return result;
}
