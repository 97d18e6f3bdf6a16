/* store_death.c - the holes that a death leaves, and their collection.
 *
 * A death costs a cleared record and a hole in a run; managers without lazy collection are told in blocks, while the
 * records of the block are still there. The next entity that is created with the same components fills the lowest hole.
 * Holes that are not filled are collected after steps: the last row moves into the lowest hole, and holes at the end
 * go. So with rows a to h, of which b, d and g have died,
 *
 *     a . c . e f . h        two rows move         a h c f e
 *
 * Collection is counted in rows, never in time, so that the order of rows is the same in every run of a program:
 *   - random rows, until four living ones in a row, or WORLD_GC_RANDOM dead ones: enough where few have died;
 *   - where more than 1/128 of a run is holes, rows move: 1/384 of the run's rows in a step, as many as die in each of
 *     the last steps, and WORLD_GC_ROWS that all runs share. While rows go on dying, 1/8 of a run is left as holes,
 *     since entities that are created next may fill them.
 *
 * Runs with holes are listed, so that collection visits nothing else; where the list cannot grow, the next collection
 * looks at all runs once instead. Memory that a run no longer needs is given back in small parts, some in each step.
 */
#include "../plugin/verbs.h"
#include "store.h"
#include "hooks.h"
#include "parking.h"
#include "store_inner.h"

/* --- death and collection ----------------------------------------------------------------------------------------- */

void store_list_holes(world_t *world, run_t *run)
{
    if (!memory_reserve(&world->memory, &world->holed, &world->holed_capacity, world->holed_count + 1u,
                        sizeof *world->holed)) {
        world->holed_lost = true;
        return;
    }
    run->in_holes_list = 1;
    world->holed[world->holed_count++] = run;
}

void store_leave_rows(world_t *world, run_t *run, uint32_t row, uint32_t count)
{
    run_leave_rows(run, row, count, &world->holdings);
    store_note_holes(world, run);
}

void store_leave_scattered(world_t *world, run_t *run, const uint32_t *rows, uint32_t count)
{
    run_leave_scattered(run, rows, count, &world->holdings);
    store_note_holes(world, run);
}

/* End the instances that a manager keeps for entities. Precondition: their records are still there. `flag` is the
 * KEY_... of their prototypes. */
static void tell_manager(world_t *world, manager_t *manager, uint32_t flag, const bp_entity_t *entities, uint32_t count)
{
    const prototypes_t *p = &world->prototypes;
    uint32_t slots[STORE_BLOCK], found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const record_t *record = world_record(world, entities[i]);
        if (record == NULL || (p->items[record->prototype].flags & flag) == 0)
            continue;
        run_t *run = world_run(world, record->prototype);
        for (uint32_t at = record->prototype; at != 0; at = p->items[at].base) {
            if (p->keys[p->items[at].key].manager != manager->number)
                continue;
            if (found == STORE_BLOCK) {
                store_destroy_slots(world, manager, slots, found);
                found = 0;
            }
            memcpy(&slots[found++], run_cell(run, p->items[p->items[at].base].columns, record->row), sizeof *slots);
        }
    }
    store_destroy_slots(world, manager, slots, found);
}

static void tell_managers(world_t *world, const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t m = 0; m < world->manager_count; m++) {
        manager_t *manager = world->managers[m];
        if (manager->started && manager->component->own_storage && manager->component->storage.gc == NULL)
            tell_manager(world, manager, KEY_TELL, entities, count);
        else if (manager->started && world_looks_at_leaving(manager->component))
            hooks_leave(world, manager, BP_NONE, entities, count);
    }
}

/* Rows of one run; their records have been cleared. */
typedef struct leaving_t {
    run_t *run; /* NULL: none yet */
    uint32_t count;
    uint32_t rows[STORE_BLOCK];
} leaving_t;

static inline void leave_one(world_t *world, run_t *run, uint32_t row)
{
    if (row + 1 == run->count) {
        store_leave_rows(world, run, row, 1);
        return;
    }
    stamps_note_rows(run->stamps, row, 1);
    run_leave_row(run, row);
    store_note_holes(world, run);
}

static void leave(world_t *world, leaving_t *l)
{
    if (l->count > 1)
        store_leave_scattered(world, l->run, l->rows, l->count);
    else if (l->count == 1)
        leave_one(world, l->run, l->rows[0]);
    l->count = 0;
}

static void leave_at_once(world_t *world, run_t *run, bp_entity_t e, uint32_t row)
{
    world->occupied--;
    store_moved(world, run, NULL, &e, 1);
    store_erase_row(world, run, row);
}

/* Clear the records of the entities that lie in consecutive rows from `row` on, the first of which does; returns how
 * many, and their rows. Values that do not change meanwhile are read once, since a compiler cannot know that. */
NOT_INLINED static uint32_t clear_stretch(const world_t *world, const run_t *run, uint32_t row,
                                          const bp_entity_t *entities, uint32_t count, uint32_t *rows)
{
    const bp_entity_t *there = run_entities(run) + row;
    record_t *const *pages = world->pages;
    uint32_t n = 0, most = run->count - row < count ? run->count - row : count, first = world->first_page;
    do {
        uint32_t index = bp_entity_index(entities[n]);
        record_t *record = &pages[index / ENTITIES_PAGE - first][index % ENTITIES_PAGE];
        *record = (record_t){0};
        rows[n] = row + n;
    } while (++n < most && there[n].id == entities[n].id);
    return n;
}

/* Clear the records of a block's entities that have components in this world, and leave holes in their rows:
 * consecutive rows in one call. */
static void leave_holes(world_t *world, const bp_entity_t *entities, uint32_t count)
{
    leaving_t l;
    l.run = NULL;
    l.count = 0;
    const records_view_t records = world_records(world);
    bool far = world_is_far(world);
    for (uint32_t i = 0, n; i < count; i += n) {
        if (far && i + STORE_AHEAD < count)
            PREFETCH(records_at(records, bp_entity_index(entities[i + STORE_AHEAD])));
        record_t *record = records_at(records, bp_entity_index(entities[i]));
        n = 1;
        if (record->prototype == 0 || record->generation != bp_entity_generation(entities[i]))
            continue;
        run_t *run = world_run(world, record->prototype);
        uint32_t row = record->row;
        PREFETCH(&run->hole_set); /* needed when the rows are left */
        *record = (record_t){0};
        if ((run->flags & KEY_AT_ONCE) != 0 && !world_holds_rows(world)) {
            leave_at_once(world, run, entities[i], row);
            continue;
        }
        if (run != l.run)
            leave(world, &l); /* those of the run before, if any */
        l.run = run;
        l.rows[l.count] = row;
        if (i + 1 < count && row + 1 < run->count && run_entities(run)[row + 1].id == entities[i + 1].id)
            n += clear_stretch(world, run, row + 1, entities + i + 1, count - i - 1, l.rows + l.count + 1);
        l.count += n;
        world->occupied -= n;
        store_moved(world, run, NULL, entities + i, n);
    }
    leave(world, &l);
}

/* One entity alone; batches have a list of their rows. */
static void forget_one(world_t *world, bp_entity_t e)
{
    if (world->telling > 0)
        tell_managers(world, &e, 1);
    record_t *record = world_record(world, e);
    if (record == NULL)
        return;
    run_t *run = world_run(world, record->prototype);
    uint32_t row = record->row;
    *record = (record_t){0};
    if ((run->flags & KEY_AT_ONCE) != 0 && !world_holds_rows(world)) {
        leave_at_once(world, run, e, row);
        return;
    }
    world->occupied--;
    store_moved(world, run, NULL, &e, 1);
    leave_one(world, run, row);
}

void store_forget(world_t *world, const bp_entity_t *entities, uint32_t count)
{
    if (world->occupied == 0)
        return;
    if (count == 1) {
        forget_one(world, entities[0]);
        return;
    }
    for (uint32_t done = 0; done < count; done += STORE_BLOCK) {
        const bp_entity_t *block = entities + done;
        uint32_t n = count - done < STORE_BLOCK ? count - done : STORE_BLOCK;
        if (world->telling > 0)
            tell_managers(world, block, n);
        leave_holes(world, block, n);
    }
}

void store_vacate(world_t *world, const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t done = 0; done < count; done += STORE_BLOCK) {
        const bp_entity_t *block = entities + done;
        uint32_t n = count - done < STORE_BLOCK ? count - done : STORE_BLOCK;
        for (uint32_t m = 0; m < world->manager_count; m++) {
            if (world->managers[m]->started && world->managers[m]->component->own_storage)
                tell_manager(world, world->managers[m], KEY_OWN_STORAGE, block, n);
            else if (world->managers[m]->started && world_looks_at_leaving(world->managers[m]->component))
                hooks_leave(world, world->managers[m], BP_NONE, block, n);
        }
        leave_holes(world, block, n);
    }
}

/* --- compaction --------------------------------------------------------------------------------------------------- */

typedef struct fillers_t {
    uint32_t count, end;          /* rows of the run from `end` on are left over */
    bool together;                /* the holes lie behind each other, and the rows too */
    uint32_t rows[STORE_BLOCK];   /* holes ... */
    uint32_t lasts[STORE_BLOCK];  /* ... and the rows that fill them */
} fillers_t;

/* Let the first hole get the first of the rows. */
static void turn_round(uint32_t *lasts, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t kept = lasts[i];
        lasts[i] = lasts[count - 1 - i];
        lasts[count - 1 - i] = kept;
    }
}

/* Where rows that are left over begin, once the rows from `last` + 1 on have filled holes below `lowest_end`. */
static uint32_t end_of(uint32_t last, uint32_t lowest_end)
{
    return last + 1 > lowest_end ? last + 1 : lowest_end; /* `last` may be BP_NONE */
}

/* The usual case: the holes from `hole` on lie behind each other, and the last rows are no holes. */
static bool choose_together(const run_t *run, uint32_t hole, uint32_t most, fillers_t *f)
{
    uint32_t last = run->count - 1, count = most < STORE_BLOCK ? most : STORE_BLOCK;
    if (hole >= last)
        return false;
    count = count < (last - hole + 1) / 2 ? count : (last - hole + 1) / 2;
    count = holes_stretch(&run->hole_set, hole, count);
    uint32_t first = last + 1 - count;
    if (holes_next(&run->hole_set, first) != BP_NONE)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        f->rows[i] = hole + i;
        f->lasts[i] = first + i;
    }
    f->count = count;
    f->together = true;
    f->end = end_of(holes_last_filled(&run->hole_set, first), hole + count);
    return true;
}

/* Pair the lowest holes with the last rows, no more than `most`. The bits of the holes stay until they are filled. The
 * rows keep their order, so that entities in consecutive rows stay in consecutive rows, which makes batches of them
 * fast. */
static void choose_fillers(const run_t *run, uint32_t most, fillers_t *f)
{
    const bp_entity_t *entities = run_entities(run);
    uint32_t hole = holes_next(&run->hole_set, run->hole_set.lowest), last = run->count - 1, lowest_end = 0;
    if (choose_together(run, hole, most, f))
        return;
    for (f->count = 0; f->count < most && f->count < STORE_BLOCK && last != BP_NONE && hole < last; f->count++) {
        f->rows[f->count] = hole;
        f->lasts[f->count] = last;
        lowest_end = hole + 1;
        hole = holes_following(&run->hole_set, hole);
        last = last > 0 && entities[last - 1].id != 0 ? last - 1 : holes_last_filled(&run->hole_set, last);
    }
    f->end = end_of(last, lowest_end);
    f->together = f->count > 0 && lowest_end - f->rows[0] == f->count &&
                  f->lasts[0] - f->lasts[f->count - 1] == f->count - 1;
    turn_round(f->lasts, f->count);
}

#define FILL_CELLS(type)                            \
    do {                                            \
        type *cells_ = (type *)(void *)cells;       \
        for (uint32_t i = 0; i < f->count; i++)     \
            cells_[f->rows[i]] = cells_[f->lasts[i]]; \
    } while (0)

static void fill_large_cells(char *cells, size_t size, const fillers_t *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        memcpy(cells + f->rows[i] * size, cells + f->lasts[i] * size, size);
}

static void fill_cells(char *cells, uint32_t size, const fillers_t *f)
{
    if (f->together) {
        memcpy(cells + (size_t)f->rows[0] * size, cells + (size_t)f->lasts[0] * size, (size_t)f->count * size);
        return;
    }
    switch (size) {
    case 1: FILL_CELLS(uint8_t); break;
    case 2: FILL_CELLS(uint16_t); break;
    case 4: FILL_CELLS(uint32_t); break;
    case 8: FILL_CELLS(uint64_t); break;
    case 12: FILL_CELLS(bp_vec3_t); break;
    case 16: FILL_CELLS(bp_vec4_t); break;
    default: fill_large_cells(cells, size, f); break;
    }
}

static void move_fillers(world_t *world, run_t *run, const fillers_t *f)
{
    bp_entity_t *entities = run_entities(run);
    for (uint32_t i = 0; world_is_far(world) && i < f->count; i++)
        PREFETCH(world_own_record(world, entities[f->lasts[i]]));
    for (uint32_t i = 0; run->has_counted && i < f->count; i++)
        run_release(run, 1, run->column_count, f->rows[i], 1, &world->holdings);
    for (uint32_t c = 0; c < run->column_count; c++)
        fill_cells(run->columns[c], run->sizes[c], f);
    for (uint32_t i = 0; i < f->count; i++)
        world_own_record(world, entities[f->rows[i]])->row = f->rows[i];
    for (uint32_t i = 0; run->stamps != NULL && i < f->count; i++)
        stamps_note_rows(run->stamps, f->rows[i], 1);
    if (f->count > 0) {
        run->hole_set.lowest = f->rows[f->count - 1];
        holes_drop(&run->hole_set, f->rows[0], run->hole_set.lowest + 1);
    }
}

/* The rows from f->end on are holes, or have moved away. */
static void cut_rows(world_t *world, run_t *run, const fillers_t *f)
{
    uint32_t row = run->has_counted ? holes_next(&run->hole_set, f->end) : BP_NONE;
    for (; row < run->count; row = holes_next(&run->hole_set, row + 1))
        run_release(run, 1, run->column_count, row, 1, &world->holdings);
    holes_drop(&run->hole_set, f->end, run->count);
    stamps_note_rows(run->stamps, f->end, run->count - f->end);
    run->holes -= run->count - f->end;
    run->count = f->end;
}

uint32_t store_compact(world_t *world, run_t *run, uint32_t most, uint32_t left)
{
    uint32_t moved = 0;
    while (run->holes > left && moved < most) {
        fillers_t f;
        uint32_t wanted = run->holes - left < most - moved ? run->holes - left : most - moved;
        choose_fillers(run, wanted, &f);
        move_fillers(world, run, &f);
        cut_rows(world, run, &f);
        run->version++;
        moved += f.count;
    }
    return moved;
}

/* --- collection --------------------------------------------------------------------------------------------------- */

static void collect_randomly(world_t *world, run_t *run)
{
    uint32_t collected = 0, alive_in_row = 0;
    while (run->holes > 0 && alive_in_row < WORLD_GC_ROWS_ALIVE && collected < WORLD_GC_RANDOM) {
        uint32_t row = bp_random_below(&world->random, run->count);
        if (run_entities(run)[row].id != 0) {
            alive_in_row++;
            continue;
        }
        alive_in_row = 0;
        store_fill_hole(world, run, row);
        collected++;
    }
}

/* The rate of deaths that a run can count on: the least number of rows that were left between two collections, of the
 * last RUN_RATES intervals. */
static uint32_t steady_rate(run_t *run)
{
    uint32_t least = run->left[0];
    for (uint32_t i = RUN_RATES - 1; i > 0; i--) {
        least = run->left[i] < least ? run->left[i] : least;
        run->left[i] = run->left[i - 1];
    }
    run->left[0] = 0;
    return least;
}

/* Move rows into the holes of a run, where they are many. `shared` is what is left of the rows that all runs have
   together. */
static void collect_many(world_t *world, run_t *run, uint32_t *shared)
{
    uint32_t quiet = run->left[0] == 0, rate = steady_rate(run);
    uint32_t own = run->count / WORLD_GC_OWN_SHARE + rate,
             left = run->count / (quiet ? WORLD_GC_FEW_SHARE : WORLD_GC_KEPT_SHARE);
    if (run->holes <= run->count / WORLD_GC_FEW_SHARE || run->holes <= left)
        return;
    uint32_t moved = store_compact(world, run, own + *shared, left);
    *shared -= moved > own ? moved - own : 0;
}

/* How many holes have gone. */
static uint32_t collect_run(world_t *world, run_t *run, bool fully, uint32_t *shared)
{
    uint32_t before = run->holes;
    if (fully || (run->flags & KEY_AT_ONCE) != 0) {
        store_compact(world, run, UINT32_MAX, 0);
    } else {
        collect_randomly(world, run);
        collect_many(world, run, shared);
    }
    return before - run->holes;
}

static void find_lost_holes(world_t *world)
{
    if (!world->holed_lost)
        return;
    world->holed_lost = false;
    for (uint32_t i = 0; i < world->run_count; i++) {
        if (world->runs[i]->holes > 0 && !world->runs[i]->in_holes_list)
            store_list_holes(world, world->runs[i]);
    }
}

static void unlist_holes(world_t *world, uint32_t at)
{
    run_t *run = world->holed[at];
    run->in_holes_list = 0;
    memset(run->left, 0, sizeof run->left);
    world->holed[at] = world->holed[--world->holed_count];
}

static uint32_t collect_runs(world_t *world, uint32_t visits, bool fully)
{
    uint32_t collected = 0, shared = WORLD_GC_ROWS;
    find_lost_holes(world);
    for (; visits > 0 && world->holed_count > 0; visits--) {
        if (world->holed_next >= world->holed_count)
            world->holed_next = 0;
        run_t *run = world->holed[world->holed_next];
        if (run->holes > 0)
            collected += collect_run(world, run, fully, &shared);
        if (run->holes > 0)
            world->holed_next++;
        else
            unlist_holes(world, world->holed_next);
    }
    return collected;
}

NOT_INLINED static uint32_t collect_managers(world_t *world)
{
    uint32_t collected = 0;
    world->tended = true;
    for (uint32_t m = 0; m < world->manager_count; m++) {
        manager_t *manager = world->managers[m];
        if (!manager->started || manager->component->storage.gc == NULL)
            continue;
        uint32_t ended = verb_gc(manager->component, &manager->verb, &world->random);
        if (ended > 0)
            manager->stamps.latest = world->moment; /* instances have ended; slots that moved are stamped when told */
        collected += ended;
    }
    return collected;
}

/* Has the run been roomy for long enough? */
static inline bool is_to_be_trimmed(run_t *run, uint32_t now)
{
    if (!run_is_roomy(run)) {
        run->roomy_since = 0;
        return false;
    }
    if (run->roomy_since == 0)
        run->roomy_since = now;
    return now - run->roomy_since >= WORLD_TRIM_AFTER;
}

/* Give memory back from runs that have been roomy for a while, a limited amount in each step: from the run whose turn
 * it is, and the `visits` - 1 that follow. */
NOT_INLINED static void give_back(world_t *world, uint32_t visits)
{
    for (size_t most = 0; visits > 0; visits--, world->trim_next++) {
        if (world->trim_next >= world->run_count)
            world->trim_next = 0;
        run_t *run = world->runs[world->trim_next];
        if (is_to_be_trimmed(run, world->collections)) {
            most = most > 0 ? most : memory_bytes(&world->memory) / WORLD_TRIM_SHARE + WORLD_TRIM_BYTES;
            world->tended = true;
            size_t freed = run_trim(run, &world->memory, most);
            if (freed >= most)
                return; /* the next step goes on with this run */
            most -= freed;
        }
    }
}

/* Look at some runs for room to give back. Most worlds have few runs, and none to be trimmed. */
static inline void look_for_room(world_t *world)
{
    uint32_t visits = world->run_count / WORLD_TRIM_VISITS + 1, next = world->trim_next;
    world->collections++;
    next = next < world->run_count ? next : 0;
    if (visits == 1 && !is_to_be_trimmed(world->runs[next], world->collections))
        world->trim_next = next + 1;
    else
        give_back(world, visits);
}

NOT_INLINED static uint32_t collect_holes(world_t *world)
{
    world->tended = true;
    uint32_t visits = WORLD_GC_RUNS + world->holed_count / WORLD_GC_RUNS_SHARE;
    return collect_runs(world, visits < world->holed_count ? visits : world->holed_count, false);
}

NOT_INLINED static void look_at_records(world_t *world)
{
    if (records_are_few(world->pages_held, world->occupied) && records_give_back(world))
        world->tended = true;
}

void store_tend_records(world_t *world)
{
    if (world->pages_held > RECORDS_KEPT)
        look_at_records(world);
}

NOT_INLINED static void tend_indices(world_t *world)
{
    if (parking_tend(world->entities, &world->ids))
        world->tended = true;
}

uint32_t store_collect(world_t *world)
{
    uint32_t collected = world->holed_count > 0 || world->holed_lost ? collect_holes(world) : 0;
    if (world->run_count > 0)
        look_for_room(world);
    if (world->scratch_size > 0 && world->collections - world->scratch_used >= WORLD_TRIM_AFTER)
        world_drop_scratch(world);
    if (world->notices == NULL)
        store_tend_records(world);
    if (world->entities->restless)
        tend_indices(world);
    return world->collecting > 0 ? collected + collect_managers(world) : collected;
}

uint32_t store_collect_all(world_t *world)
{
    find_lost_holes(world);
    return collect_runs(world, world->holed_count, true) + collect_managers(world);
}
