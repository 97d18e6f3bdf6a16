/* test_world_check.c - the checks of a world's store: each kind of damage is done, found, and undone.
 *
 * Tests, and builds with BACKPLANE_AUDIT, rely on these checks, and would not notice one that looks away. So each
 * condition is broken by itself, at the first and at the last place where it is looked at, and has to be the one that
 * is named.
 */
#include "support.h"

#include "../suites.h"
#include "inspect.h"
#include "zoo.h"

#include "store/notices.h"
#include "store/own.h"
#include "store/parking.h"
#include "store/world_check.h"

enum { BODIES = 2600, FEW = 16, LABELS = 5 };

static rig_t rig;
static bp_world_o *world;
static world_t *w;
static entities_t *all;
static bp_entity_t bodies[BODIES], few[FEW], labels[LABELS];
/* A run with a block for each column, and two with one for all: with just so many rows that columns are aligned to
 * lines, and with fewer. */
static run_t *large, *shared, *small;

static void create(uint32_t prototype, bp_entity_t *entities, uint32_t count)
{
    WORKS(rig.host, rig.api->world->create(world, prototype, entities, count));
}

static run_t *run_with(bp_entity_t e)
{
    return world_run(w, world_own_record(w, e)->prototype);
}

static void kill(bp_entity_t e)
{
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &e, 1), 1);
}

static void begin(void)
{
    rig_open_zoo(&rig);
    world = rig_world(&rig, "main");
    w = world_of(world);
    all = &rig.host->entities;
    create(prototype_of(world, "body", NULL, NULL, NULL), bodies, BODIES);
    create(prototype_of(world, "body", "bag", NULL, NULL), few, FEW);
    create(prototype_of(world, "label", NULL, NULL, NULL), labels, LABELS);
    large = run_with(bodies[0]), shared = run_with(few[0]), small = run_with(labels[0]);
    ck_assert(large->split && !shared->split && small->count < RUN_ALIGNED_ROWS && w->page_count > 2);
    kill(bodies[5]);
    kill(few[3]);
}

static void end(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

static void expect_broken(const char *part)
{
    char text[256] = "nothing";
    EXPECT(!world_check(w, text, sizeof text), "nothing is found where this should be: %s", part);
    EXPECT(strstr(text, part) != NULL, "\"%s\" is not in: %s", part, text);
}

static void expect_whole(void)
{
    char text[256];
    EXPECT(world_check(w, text, sizeof text), "%s", text);
}

static void expect_broken_entities(const char *part)
{
    char text[256] = "nothing";
    EXPECT(!world_check_entities(all, text, sizeof text), "nothing is found where this should be: %s", part);
    EXPECT(strstr(text, part) != NULL, "\"%s\" is not in: %s", part, text);
}

static void expect_whole_entities(void)
{
    char text[256];
    EXPECT(world_check_entities(all, text, sizeof text), "%s", text);
}

/* What was in a place before it was damaged; damage may be done in the middle of other damage. */
typedef struct kept_t {
    void *place;
    size_t size;
    char bytes[64];
} kept_t;

static kept_t kept_places[4];
static uint32_t kept_count;

static void keep(void *place, size_t size)
{
    kept_t *kept = &kept_places[kept_count++];
    ck_assert(kept_count <= COUNT(kept_places) && size <= sizeof kept->bytes);
    kept->place = place;
    kept->size = size;
    memcpy(kept->bytes, place, size);
}

static void put_back(void)
{
    const kept_t *kept = &kept_places[--kept_count];
    memcpy(kept->place, kept->bytes, kept->size);
}

/* Where the check writes a condition as it stands in its source the part that is looked for is a piece without numbers:
 * `make mutants` changes these. Write a value to a place, have the check find it, and put back what was there. */
#define WITH(place, value, expectation)    \
    do {                                   \
        keep(&(place), sizeof(place));     \
        (place) = (value);                 \
        expectation;                       \
        put_back();                        \
    } while (0)
#define BREAKS(place, value, part) WITH(place, value, expect_broken(part))
#define BREAKS_ENTITIES(place, value, part) WITH(place, value, expect_broken_entities(part))

/* --- records and rows ----------------------------------------------------------------------------------- */

START_TEST(damage_to_records_is_found)
{
    expect_whole();
    bp_entity_t first = bodies[0], last = labels[LABELS - 1];
    record_t *of_first = world_own_record(w, first), *of_last = world_own_record(w, last);
    uint32_t index = (w->first_page + w->page_count) * ENTITIES_PAGE - 1; /* the last one that has a record */
    record_t *unused = world_writable_record(w, index);
    if (unused == NULL)
        unused = world_writable_record(w, (bp_entity_index(last) | (ENTITIES_PAGE - 1)));
    ck_assert(bp_entity_index(first) % ENTITIES_PAGE == 0 && unused != NULL && unused->generation == 0);

    BREAKS(unused->prototype, 1, "r->prototype is 1");
    BREAKS(unused->row, 1, "r->row is 1");
    WITH(unused->row, 1, BREAKS(unused->prototype, 1, "r->prototype is 1"));
    BREAKS(unused->generation, 3, "has a record");
    BREAKS(of_first->generation, of_first->generation + 2, "bp_entity_generation(e) is");
    BREAKS(of_first->prototype, 0, "r->prototype > ");
    BREAKS(of_first->prototype, w->prototypes.count, "world->prototypes.count");
    BREAKS(of_first->row, large->count, "r->row < run->count");
    BREAKS(of_first->row, of_first->row + 1, "run_entities(run)[r->row].id is");
    BREAKS(of_last->row, of_last->row - 1, "run_entities(run)[r->row].id is");
    BREAKS(of_last->row, small->count, "r->row < run->count");
    BREAKS(w->prototypes.items[small->prototype].run, NULL, "run != NULL");
    BREAKS(w->occupied, w->occupied + 1, "world->occupied is");
    BREAKS(w->occupied, w->occupied - 1, "world->occupied is");
    expect_whole();
}
END_TEST

START_TEST(damage_to_rows_is_found)
{
    bp_entity_t *rows = run_entities(large), *some = run_entities(shared);
    BREAKS(rows[0], rows[1], "run_entities(run)[r->row].id is");
    BREAKS(rows[9], (bp_entity_t){0}, "run_entities(run)[r->row].id is");
    BREAKS(rows[large->count - 1], rows[1], "run_entities(run)[r->row].id is");
    uint32_t marked[] = {0, 9, large->count - 1};
    for (uint32_t i = 0; i < COUNT(marked); i++) {
        char part[64];
        snprintf(part, sizeof part, "row %u of prototype %u is a hole to its set", marked[i], large->prototype);
        holes_add(&large->hole_set, marked[i]);
        expect_broken(part);
        holes_remove(&large->hole_set, marked[i]);
    }
    holes_remove(&large->hole_set, 5);
    expect_broken("row 5 of prototype");
    expect_broken("is none to its set");
    holes_add(&large->hole_set, 5);
    BREAKS(rows[5], bodies[5], "is a hole to its set");
    BREAKS(large->holes, 0, "run->holes is 0, holes is 1");
    BREAKS(large->holes, 2, "run->holes is 2, holes is 1");
    ck_assert_uint_gt(large->hole_set.rows, large->count);
    holes_add(&large->hole_set, large->count);
    expect_broken("holes_next(&run->hole_set, run->count) is");
    holes_remove(&large->hole_set, large->count);
    BREAKS(large->hole_set.rows, large->capacity - 1, "run->hole_set.rows >= run->capacity");

    /* An entity in two rows: the record of the one whose row it takes is cleared. */
    record_t *record = world_own_record(w, some[7]), kept = *record;
    bp_entity_t there = some[7];
    *record = (record_t){0};
    w->occupied--;
    WITH(some[7], some[8], expect_broken("r->row is 8, row is 7"));
    WITH(some[7], rows[9], expect_broken("r->prototype is"));
    WITH(some[7], bodies[5], expect_broken("has no record"));
    *record = kept;
    w->occupied++;
    ck_assert_uint_eq(some[7].id, there.id);

    /* A hole at the end. */
    uint32_t end_row = shared->count - 1;
    record = world_own_record(w, some[end_row]), kept = *record;
    *record = (record_t){0};
    w->occupied--;
    shared->holes++;
    holes_add(&shared->hole_set, end_row);
    WITH(some[end_row], (bp_entity_t){0}, {
        expect_broken("the last row is a hole");
        holes_add(&shared->hole_set, shared->count);
        expect_broken("holes_next(&run->hole_set, run->count) is");
        holes_remove(&shared->hole_set, shared->count);
    });
    holes_remove(&shared->hole_set, end_row);
    shared->holes--;
    w->occupied++;
    *record = kept;
    expect_whole();
}
END_TEST

static record_page_t *other_worlds_page(record_page_t *page)
{
    static record_page_t other;
    other = (record_page_t){.next = page};
    return &other;
}

START_TEST(damage_to_pages_of_records_is_found)
{
    uint32_t last = w->page_count - 1;
    while (w->pages[last] == unused_records)
        last--;
    record_page_t **first_list = &all->pages[w->first_page], **last_list = &all->pages[w->first_page + last];
    ck_assert_uint_gt(last, 0);
    BREAKS(*first_list, NULL, "linked is 0, own is 1");
    BREAKS(*last_list, NULL, "linked is 0, own is 1");
    BREAKS(w->pages[0], (record_t *)(uintptr_t)unused_records, "used is");
    BREAKS(all->page_capacity, w->first_page + last, "linked is 0, own is 1");
    BREAKS((*first_list)->world, NULL, "linked is 0, own is 1");
    WITH(*first_list, other_worlds_page(*first_list), expect_whole());
    record_page_t twice = **last_list;
    BREAKS(w->pages[last], twice.records, "linked is 0, own is 1");
    char part[64];
    snprintf(part, sizeof part, "used is %u, world->pages_used is %u", w->pages_used, w->pages_used + 1);
    BREAKS(w->pages_used, w->pages_used + 1, part);
    snprintf(part, sizeof part, "used is %u, world", w->pages_used);
    BREAKS(w->pages_used, w->pages_used - 1, part);
    expect_whole();

    static bp_entity_t more[5 * ENTITIES_PAGE];
    uint32_t pages = w->pages_used;
    create(large->prototype, more, COUNT(more));
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, more, COUNT(more)), COUNT(more));
    for (uint32_t i = 0; i < 100 && w->pages_used >= pages + 4; i++)
        WORKS(rig.host, bp_world_step(world));
    ck_assert(w->slab_count > 1 && w->slabs[1].left_count > 0);
    expect_whole();
    for (uint32_t i = 0; i < w->slab_count; i += w->slab_count - 1) {
        record_slab_t *slab = &w->slabs[i];
        BREAKS(slab->used, slab->count + 1, "slab->used <= slab->count");
        BREAKS(slab->living, slab->living - 1, "slab->living + slab->left_count");
        BREAKS(slab->living, slab->living + 1, "slab->living + slab->left_count");
        BREAKS(slab->left_count, slab->left_count + 1, "slab->living + slab->left_count");
        if (slab->left_count > 0)
            BREAKS(slab->left[slab->left_count - 1], slab->used, "slab->left[k] < slab->used");
        BREAKS(slab->count, slab->count + 1, "held is");
    }
    BREAKS(w->pages_held, w->pages_held + 1, "world->pages_held is");
    /* As many more in use as are missing in the slabs. */
    record_slab_t *slab = &w->slabs[w->slab_count - 1];
    WITH(slab->living, slab->living - 1, WITH(slab->used, slab->used - 1, {
        expect_broken("living is");
        BREAKS(w->pages_held, w->pages_held + 1, "held is");
    }));
    expect_whole();
}
END_TEST

/* --- runs ----------------------------------------------------------------------------------------------- */


static void damage_columns(run_t *run)
{
    uint32_t last = run->column_count - 1u;
    char part[64];
    static _Alignas(64) char elsewhere[64];
    uintptr_t first = (uintptr_t)run->blocks[0].start, behind = first + run->blocks[0].size;
    uintptr_t alignment = run->count >= RUN_ALIGNED_ROWS ? 64 : 16;
    ck_assert_uint_gt(last, 1);
    for (uint32_t c = 1; c <= last; c += last - 1) {
        snprintf(part, sizeof part, "column %u of %u rows is aligned badly", c, run->count);
        BREAKS(run->columns[c], (char *)run->columns[c] + 8, part);
        if (run->count >= RUN_ALIGNED_ROWS)
            BREAKS(run->columns[c], (char *)run->columns[c] + 32, part);
        snprintf(part, sizeof part, "column %u lies outside its block", c);
        BREAKS(run->columns[c], elsewhere, part);
        if (!run->split) {
            BREAKS(run->columns[c], (void *)(behind - 1 - (behind - 1) % alignment), part);
            BREAKS(run->columns[c], (void *)(first - first % 64 - 64), part);
        }
        snprintf(part, sizeof part, "columns %u and %u overlap", c - 1, c);
        BREAKS(run->columns[c], run->columns[c - 1], part);
    }
    BREAKS(run->capacity, run->count - 1, "run->count <= run->capacity");
}

START_TEST(damage_to_columns_is_found)
{
    damage_columns(large);
    damage_columns(shared);
    damage_columns(small);
    expect_whole();
}
END_TEST

START_TEST(damage_to_runs_is_found)
{
    for (uint32_t i = 0; i < w->run_count; i += w->run_count - 1) {
        run_t *run = w->runs[i];
        BREAKS(run->prototype, 0, "run->prototype > ");
        BREAKS(run->prototype, run == large ? small->prototype : large->prototype,
               "world_run(world, run->prototype) == run");
        BREAKS(run->pending, 1, "run->pending is 1");
        WITH(run->pending, 1, BREAKS(run->prototype, run == large ? small->prototype : large->prototype,
                                     "world_run(world, run->prototype) == run"));
        BREAKS(run->way, run->way ^ 1, "run->way is");
        BREAKS(run->plain, !run->plain, "run->way is");
    }
    ck_assert(large->plain && !shared->plain && large->in_holes_list && !small->in_holes_list);
    for (uint32_t i = 0; i < w->run_count; i += w->run_count - 1) {
        BREAKS(w->runs[i]->flags, w->runs[i]->flags ^ KEY_SINGLE, "has flags");
        BREAKS(w->runs[i]->flags, w->runs[i]->flags ^ KEY_GONE, "has flags");
        BREAKS(w->runs[i]->column_count, (uint16_t)(w->runs[i]->column_count - 1), "run->column_count is");
    }
    BREAKS(large->signature, 1, "run->way is");
    BREAKS(shared->way, shared->signature, "run->way is");

    BREAKS(large->in_holes_list, 0, "holes, and not in the list");
    w->holed_lost = true;
    BREAKS(large->in_holes_list, 0, "listed is 1, world->holed_count is 2");
    w->holed_lost = false;
    BREAKS(small->in_holes_list, 1, "listed is 3, world->holed_count is 2");
    for (uint32_t i = 0; i < w->holed_count; i++)
        BREAKS(w->holed[i], small, "world->holed[i]->in_holes_list is 0");
    expect_whole();

    bp_entity_t own = bodies[7];
    BREAKS(w->own, own, "0 components belong to the world, and an entity bears them");
    BREAKS(small->flags, small->flags | KEY_WORLD, "5 rows are the world's own");
    expect_whole();
}
END_TEST

/* --- prototypes ----------------------------------------------------------------------------------------- */

static uint32_t key_in_chain(uint32_t prototype)
{
    return w->prototypes.items[prototype].key;
}

START_TEST(damage_to_prototypes_is_found)
{
    prototypes_t *p = &w->prototypes;
    uint32_t three = prototype_of(world, "label", "fx", "bag", NULL), one = three;
    while (p->items[one].base != 0)
        one = p->items[one].base;
    prototype_t *item = &p->items[three], *base = &p->items[item->base];
    expect_whole();
    BREAKS(p->items[0].run, large, ".run == NULL");
    uint32_t numbers[] = {one, three, large->prototype, shared->prototype, p->count - 1};
    for (uint32_t i = 0; i < COUNT(numbers); i++) {
        prototype_t *at = &p->items[numbers[i]];
        BREAKS(at->key, p->key_count, "item->key < p->key_count");
        BREAKS(at->key_count, (uint8_t)(at->key_count + 1), "item->key_count is");
        BREAKS(at->columns, (uint16_t)(at->columns + 1), "item->columns is");
        BREAKS(at->columns, (uint16_t)(at->columns - 1), "item->columns is");
        WITH(at->key_count, (uint8_t)(at->key_count + 1),
             BREAKS(at->columns, (uint16_t)(at->columns + 1), "item->key_count is"));
        BREAKS(at->flags, at->flags ^ KEY_SINGLE, "item->flags is");
        BREAKS(at->flags, at->flags ^ KEY_WORLD, "item->flags is");
    }
    /* The key of the base a second time, and all that follows from it. */
    const component_key_t *again = &p->keys[base->key];
    prototype_t kept = *item;
    item->key = base->key;
    item->columns = (uint16_t)(base->columns + again->columns);
    item->flags = (uint8_t)(base->flags | again->flags);
    expect_broken("item->key > base->key");
    *item = kept;
    component_key_t *top = &p->keys[item->key];
    ck_assert_uint_eq(key_in_chain(three), item->key);
    BREAKS(top->name, p->keys[key_in_chain(one)].name, "p->keys[p->items[at].key].name != p->keys[item->key].name");
    BREAKS(top->name, p->keys[base->key].name, "p->keys[p->items[at].key].name != p->keys[item->key].name");
    expect_whole();
    for (uint32_t i = 1; i < p->count; i++)
        if (p->items[i].key == item->key)
            p->items[i].flags |= KEY_WORLD;
    BREAKS(top->flags, top->flags | KEY_WORLD, "has components of the world itself and of entities");
    for (uint32_t i = 1; i < p->count; i++)
        if (p->items[i].key == item->key)
            p->items[i].flags &= (uint8_t)~KEY_WORLD;
    expect_whole();
}
END_TEST

START_TEST(damage_to_the_table_of_prototypes_is_found)
{
    prototypes_t *p = &w->prototypes;
    prototype_of(world, "label", "fx", "bag", "flag");
    prototype_of(world, "mark", "fx", "once", "sample");
    uint32_t tried = 0;
    for (uint32_t b = 0; b < p->bucket_count; b++) {
        uint32_t first = p->buckets[b], second = first == 0 ? 0 : p->items[first].next;
        if (first == 0)
            continue;
        BREAKS(p->buckets[b], second, "found is");
        WITH(p->items[first].next, 0, {
            BREAKS(p->buckets[(b + 1) % p->bucket_count], first, "another bucket");
            BREAKS(p->buckets[b], 0, "found is");
        });
        if (second == 0)
            continue;
        prototype_t twice = p->items[first];
        twice.next = p->items[second].next;
        twice.run = p->items[second].run;
        BREAKS(p->items[second], twice, "p->items[j].base != p->items[i].base");
        tried++;
    }
    ck_assert_uint_gt(tried, 0);
    bp_world_o *empty = bp_world_create(rig.host, &(bp_world_desc_t){.name = "empty"});
    world_t *kept = w;
    w = world_of(empty);
    expect_whole();
    BREAKS(w->prototypes.count, 0, "p->count >= ");
    w = kept;
    expect_whole();
    bp_world_destroy(empty);
}
END_TEST

START_TEST(damage_to_spots_is_found)
{
    bp_property_t mass, velocity;
    float number;
    bp_vec3_t vector;
    WORKS(rig.host, rig.api->property->resolve(world, bodies[0], "body", "mass", &mass));
    WORKS(rig.host, rig.api->property->resolve(world, bodies[0], "body", "velocity", &velocity));
    WORKS(rig.host, rig.api->property->get(world, &mass, &bodies[1], 1, &number, sizeof number));
    WORKS(rig.host, rig.api->property->get(world, &velocity, &bodies[1], 1, &vector, sizeof vector));
    expect_whole();
    spots_t *spots = &w->spots;
    ck_assert_uint_ge(spots->count, 3);
    uint32_t known = 0, without_run = w->prototypes.count;
    while (without_run > 1 && w->prototypes.items[without_run - 1].run != NULL)
        without_run--;
    for (uint32_t n = 0; n < spots->count; n++) {
        spot_line_t *line = spots->lines[n];
        BREAKS(line->length, line->length + 1, "line->length is");
        for (uint32_t i = 0; i < line->length; i++) {
            void *const *there = spot_known(&line->spots[i]), *const *wrong = &large->columns[0];
            known += there != NULL;
            atomic_store(&line->spots[i], wrong);
            expect_broken(n == 0 || i >= w->prototypes.count || w->prototypes.items[i].run == NULL
                              ? "which has no run"
                              : "is another column's");
            atomic_store(&line->spots[i], there);
        }
    }
    ck_assert_uint_ge(known, 2);
    expect_whole();
}
END_TEST

/* --- lists and notices ---------------------------------------------------------------------------------- */

START_TEST(damage_to_lists_is_found)
{
    uint32_t first = 0, last = 0;
    for (uint32_t c = 1; c < shared->column_count; c++) {
        if (!field_is_list(shared->fields[c]))
            continue;
        first = first == 0 ? c : first;
        last = c;
    }
    ck_assert(first > 0 && last > first);
    for (uint32_t c = first; c <= last; c += last - first) {
        for (uint32_t row = 0; row < shared->count; row += shared->count - 1) {
            bp_list_t *cell = run_cell(shared, c, row);
            BREAKS(*cell, ((bp_list_t){.items = (void *)8, .count = 1}), "cells[row].count <= cells[row].capacity");
            BREAKS(*cell, ((bp_list_t){.count = 1}), "cells[row].count <= cells[row].capacity");
            BREAKS(*cell, ((bp_list_t){.capacity = 4}), "cells[row].items == NULL");
            BREAKS(*cell, ((bp_list_t){.items = (void *)8}), "cells[row].items == NULL");
            BREAKS(*cell, ((bp_list_t){.items = (void *)8, .capacity = 4}), "cells[row].items % ");
            BREAKS(*cell, ((bp_list_t){.items = (void *)16, .capacity = 4}), "found is 1, blocks is 0");
        }
    }
    BREAKS(w->lists.main.blocks, 1, "found is 0, blocks is 1");
    BREAKS(w->blocks_aside, 1, "found is 1, blocks is 0");
    lists_hoard_t older = {.blocks = 2}, newer = {.blocks = 1, .next = &older};
    ck_assert_ptr_null(w->lists.all);
    BREAKS(w->lists.all, &newer, "found is 0, blocks is 3");
    expect_whole();
}
END_TEST

START_TEST(damage_to_notices_is_found)
{
    notices_t *n = w->notices = notices_create(w);
    ck_assert(n != NULL && notices_reserve(n, 0));
    uint32_t room = n->entity_capacity;
    n->entity_capacity = w->occupied - 1;
    expect_broken("notices");
    n->entity_capacity = w->occupied;
    n->count = 2;
    n->entities[0] = n->entities[1] = bodies[9];
    expect_whole();
    for (uint32_t i = 0; i < 2; i++) {
        WITH(n->entities[i], bodies[5], { /* which is dead */
            expect_broken("of which 1 are about entities without components");
            n->entity_capacity++;
            expect_whole();
            n->entity_capacity--;
        });
    }
    for (uint32_t i = 0; i < n->entity_capacity; i++)
        n->entities[i] = bodies[9];
    WITH(n->count, n->entity_capacity, expect_whole());
    BREAKS(n->count, n->entity_capacity + 1, "n->count <= n->entity_capacity");
    expect_whole();
    ck_assert(n->has_places);
    uint32_t last = w->page_count - 1;
    while (w->pages[last] == unused_records)
        last--;
    BREAKS(records_page(w->pages[0])->places, NULL, "page 0 has no places");
    BREAKS(records_page(w->pages[last])->places, NULL, "has no places");
    n->has_places = false;
    WITH(records_page(w->pages[0])->places, NULL, expect_whole());
    n->has_places = true;
    n->count = 0;
    n->entity_capacity = room;
    notices_free(n);
    w->notices = NULL;
    expect_whole();
}
END_TEST

/* --- stamps --------------------------------------------------------------------------------------------- */

/* How many managers are told of deaths, and how many look for their dead. */
START_TEST(damage_to_the_counts_of_managers_is_found)
{
    uint32_t of[] = {world_component(w, "pool"), world_component(w, "told")};
    expect_whole();
    BREAKS(w->telling, w->telling + 1, "telling is");
    BREAKS(w->telling, w->telling - 1, "telling is");
    BREAKS(w->collecting, w->collecting + 1, "collecting is");
    BREAKS(w->collecting, w->collecting - 1, "collecting is");
    for (uint32_t i = 0; i < COUNT(of); i++)
        BREAKS(w->managers[of[i]]->started, false, "ing is");
}
END_TEST

START_TEST(damage_to_stamps_is_found)
{
    BREAKS(w->stamp_users, 1, "run->stamps != NULL");
    WORKS(rig.host, world_keep_stamps(w));
    manager_t *manager = w->managers[0];
    world_keep_slot_stamps(w, manager);
    expect_whole();
    run_t *runs[] = {large, shared, small};
    for (uint32_t r = 0; r < COUNT(runs); r++) {
        run_t *run = runs[r];
        stamps_t *stamps = run->stamps;
        uint32_t used = stamps_block_count(run->count), last = run->column_count - 1u;
        for (uint32_t c = 0; c <= last; c += last) {
            char part[64];
            snprintf(part, sizeof part, "the stamp of column %u is later", c);
            BREAKS(stamps->whole[c], w->moment + 1, part);
            for (uint32_t block = 0; block < used; block += used > 1 ? used - 1 : 1) {
                snprintf(part, sizeof part, "the stamp of block %u of column %u is later", block, c);
                BREAKS(stamps_blocks(stamps, c)[block], w->moment + 1, part);
                WITH(stamps_blocks(stamps, c)[block], w->moment, expect_whole());
            }
        }
        uint64_t now = w->moment;
        BREAKS(stamps->now, &now, "stamps->now == &world->moment");
        WITH(stamps->now, &now, BREAKS(stamps->columns, 0, "stamps->now == &world->moment"));
        WITH(stamps->columns, 0, BREAKS(stamps->room, 0, "stamps->columns >= run->column_count"));
        BREAKS(stamps->columns, run->column_count - 1u, "stamps->columns >= run->column_count");
        BREAKS(stamps->room, used - 1, "stamps->room >= used");
        WITH(run->way, run->signature, BREAKS(run->plain, true, "takes short ways past them"));
        BREAKS(run->stamps, NULL, "run->stamps != NULL");
    }
    BREAKS(w->askers, w->askers + 1, "world->askers is");
    BREAKS(w->askers, w->askers - 1, "world->askers is");
    BREAKS(manager->stamps.users, 0, "world->askers is");

    /* Slots: the first and the last manager's. */
    for (uint32_t m = 0; m < w->manager_count; m += w->manager_count - 1) {
        slot_stamps_t *stamps = &w->managers[m]->stamps;
        if (stamps->users == 0)
            world_keep_slot_stamps(w, w->managers[m]);
        slot_stamps_note(stamps, &w->memory, &(uint32_t){3 * BP_STAMP_ROWS}, 1, w->moment);
        ck_assert_uint_eq(stamps->count, 4);
        expect_whole();
        BREAKS(stamps->latest, w->moment + 1, "slots are stamped later than now");
        WITH(stamps->rest, w->moment + 2, BREAKS(stamps->latest, w->moment + 1, "slots are stamped later than now"));
        BREAKS(stamps->rest, stamps->latest + 1, "slots behind the last block are stamped later");
        BREAKS(stamps->blocks[0], stamps->latest + 1, "block 0 of slots has a stamp later");
        BREAKS(stamps->blocks[3], stamps->latest + 1, "block 3 of slots has a stamp later");
        BREAKS(stamps->room, 3, "stamps->count <= stamps->room");
        world_release_slot_stamps(w, w->managers[m]);
        WITH(stamps->latest, w->moment + 1, expect_whole());
    }
    world_release_stamps(w);
    expect_whole();
}
END_TEST

/* --- entities of all worlds ----------------------------------------------------------------------------- */

START_TEST(damage_to_entities_is_found)
{
    uint32_t *first = &all->queue[all->queue_head], *last = first + 1, living = bp_entity_index(bodies[6]);
    expect_whole_entities();
    ck_assert_uint_eq(all->queue_count, 2);
    uint32_t *ends[] = {first, last};
    for (uint32_t i = 0; i < COUNT(ends); i++) {
        BREAKS_ENTITIES(*ends[i], living, "has a living one");
        BREAKS_ENTITIES(*ends[i], all->bound, "were used");
        BREAKS_ENTITIES(*ends[i], *ends[1 - i], "waits twice");
        BREAKS_ENTITIES(all->lives[*ends[i]], all->lives[*ends[i]] ^ ENTITIES_PARKED, "is parked");
    }
    BREAKS_ENTITIES(all->living, all->living - 1, "entities->living is");
    BREAKS_ENTITIES(all->living, all->living + 1, "entities->living is");
    BREAKS_ENTITIES(all->lives[0], all->lives[0] + 1, "entities->living is");
    BREAKS_ENTITIES(all->lives[all->bound - 1], all->lives[all->bound - 1] + 1, "entities->living is");
    all->living--;
    BREAKS_ENTITIES(all->lives[0], all->lives[0] + 1, "waiting.count is");
    BREAKS_ENTITIES(all->lives[all->bound - 1], all->lives[all->bound - 1] + 1, "waiting.count is");
    all->living++;
    BREAKS_ENTITIES(all->queue_count, 1, "waiting.count is 1, free.count is 2");
    BREAKS_ENTITIES(all->queue_count, all->queue_size + 1, "entities->queue_count <= entities->queue_size");
    uint32_t kept = first[2];
    first[2] = *first;
    BREAKS_ENTITIES(all->queue_count, 3, "waiting.count is 3, free.count is 2");
    first[2] = kept;
    expect_whole_entities();
}
END_TEST

START_TEST(damage_to_the_room_of_entities_is_found)
{
    ck_assert(all->capacity > all->bound && all->bound % ENTITIES_PAGE != 0);
    uint32_t pages = all->bound / ENTITIES_PAGE;
    BREAKS_ENTITIES(all->capacity, all->bound - 1, "e->bound <= e->capacity");
    BREAKS_ENTITIES(all->room, all->capacity - 1, "e->capacity <= e->room");
    BREAKS_ENTITIES(all->queue_room, all->capacity - 1, "e->queue_room");
    BREAKS_ENTITIES(all->queue_size, all->queue_room + 1, "e->queue_size <= e->queue_room");
    char part[64];
    snprintf(part, sizeof part, "%u fresh indices are given out before others", all->capacity - all->bound);
    BREAKS_ENTITIES(all->reached, pages + 1, part);
    BREAKS_ENTITIES(all->parked_common, 1, "fresh indices are given out before others");
    WITH(all->capacity, all->bound, {
        BREAKS_ENTITIES(all->reached, pages + 1, "a part of page 2 is given up");
        BREAKS_ENTITIES(all->parked_common, 1, "e->parked_common is 1");
    });
    BREAKS_ENTITIES(all->lives[all->bound], 4, "was never used, and has a life");
    BREAKS_ENTITIES(all->lives[all->room - 1], 4, "was never used, and has a life");
    BREAKS_ENTITIES(all->parked[0], 1, "page 0 has 0 parked indices, and not 1");
    BREAKS_ENTITIES(all->parked[all->parked_capacity - 1], 1, "parked indices, and not 1");
    BREAKS_ENTITIES(all->parked_count, 1, "e->parked_count is 1");
    expect_whole_entities();
}
END_TEST

/* Pages that are given up, and parked indices below the bound. */
START_TEST(damage_to_parked_indices_is_found)
{
    enum { MANY = 70 * ENTITIES_PAGE };
    static bp_entity_t many[MANY];
    WORKS(rig.host, rig.api->entity->create(rig.host, many, MANY));
    uint32_t middle = MANY / 2;
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, many, middle), middle);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, many + middle + 1, MANY - middle - 1), MANY - middle - 1);
    for (uint32_t i = 0; i < 200; i++)
        WORKS(rig.host, bp_world_step(world));
    expect_whole_entities();
    uint32_t page = all->parked_from, first = all->bound / ENTITIES_PAGE, last = first;
    while (all->parked[page] == 0)
        page++;
    while ((page + 1) * ENTITIES_PAGE < all->bound && all->parked[last] == 0)
        last--;
    ck_assert(page < last && all->reached > first + 1 && all->bound % ENTITIES_PAGE == 0);
    BREAKS_ENTITIES(all->parked[page], (uint16_t)(all->parked[page] - 1), "parked indices, and not");
    BREAKS_ENTITIES(all->parked[last], (uint16_t)(all->parked[last] + 1), "parked indices, and not");
    BREAKS_ENTITIES(all->parked_from, page + 1, "has parked indices, and is below");
    BREAKS_ENTITIES(all->parked_common, all->parked_common - 1, "e->parked_common is");
    BREAKS_ENTITIES(all->parked_common, all->parked_common + 1, "e->parked_common is");
    BREAKS_ENTITIES(all->parked_count, all->parked_count + 1, "e->parked_count is");
    BREAKS_ENTITIES(all->parked_count, all->parked_count - 1, "");
    BREAKS_ENTITIES(all->floors[first], all->floors[first] ^ 1, "begins with");
    BREAKS_ENTITIES(all->floors[all->reached - 1], all->floors[all->reached - 1] ^ 1, "begins with");
    uint32_t used = all->reached * ENTITIES_PAGE;
    ck_assert_uint_gt(all->room, used);
    BREAKS_ENTITIES(all->lives[used], 2, "was never used, and has a life");
    BREAKS_ENTITIES(all->lives[all->room - 1], 2, "was never used, and has a life");
    WITH(all->lives[used - 1], 2, expect_whole_entities());
    expect_whole_entities();
}
END_TEST

/* With several worlds each has indices of its own. */
START_TEST(damage_to_the_indices_of_a_world_is_found)
{
    bp_entity_t batch[20];
    bp_world_o *other = bp_world_create(rig.host, &(bp_world_desc_t){.name = "other"});
    WORKS(rig.host, bp_world_use_component(other, "body"));
    WORKS(rig.host, rig.api->world->create(other, prototype_of(other, "body", NULL, NULL, NULL), batch, 20));
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, batch, 3), 3);
    entity_pool_t *pool = &world_of(other)->ids;
    expect_whole_entities();
    ck_assert(pool->count >= 3 && pool->fresh < pool->fresh_end && all->pool_count >= 2);

    BREAKS_ENTITIES(pool->number, w->ids.number, "entities->pools[pool->number");
    BREAKS_ENTITIES(pool->on, false, "is off");
    BREAKS_ENTITIES(w->ids.on, false, "is off");
    BREAKS_ENTITIES(all->pools_in_use, 3, "entities->pools_in_use is 3");
    WITH(all->pools_in_use, 1, WITH(pool->on, false, {
        BREAKS_ENTITIES(w->ids.on, false, "is off");
        expect_broken_entities(w->ids.pages > 0 ? "is off" : "is on");
    }));
    BREAKS_ENTITIES(pool->pages, pool->pages + 1, "pool->pages is");
    BREAKS_ENTITIES(pool->pages, pool->pages - 1, "pool->pages is");
    BREAKS_ENTITIES(all->owners[pool->first_page], 0, "pool->pages is");
    BREAKS_ENTITIES(all->owners[0], pool->number, "pool->pages is");
    BREAKS_ENTITIES(all->owners[all->owner_capacity - 1], pool->number, "pool->pages is");
    BREAKS_ENTITIES(pool->fresh, pool->fresh + 1, "waiting.count is");
    BREAKS_ENTITIES(pool->fresh_end, pool->fresh_end - 1, "waiting.count is");
    BREAKS_ENTITIES(pool->fresh, pool->fresh - 1, "has a living one");
    BREAKS_ENTITIES(pool->tail, pool->head, "index == pool->tail");
    BREAKS_ENTITIES(pool->tail, bp_entity_index(batch[9]), "index == pool->tail");
    BREAKS_ENTITIES(pool->head, bp_entity_index(batch[9]), "has a living one");
    BREAKS_ENTITIES(pool->head, bp_entity_index(bodies[5]), "waits in the wrong pool");
    uint32_t dead = bp_entity_index(bodies[5]);
    WITH(all->lives[dead], all->lives[dead] ^ ENTITIES_PARKED,
         WITH(all->queue_count, 0, BREAKS_ENTITIES(pool->head, dead, "is parked")));
    BREAKS_ENTITIES(all->links[pool->head], bp_entity_index(bodies[5]), "waits in the wrong pool");
    BREAKS_ENTITIES(pool->count, pool->count - 1, "");
    for (uint32_t i = 0; i < all->pool_count; i++)
        BREAKS_ENTITIES(all->pools[i]->parked, 1, "->parked == parked");
    expect_whole_entities();
    bp_world_destroy(other);
}
END_TEST

Suite *world_check_suite(void)
{
    Suite *suite = suite_create("world_check");
    TCase *tests = add_case(suite, "damage", begin, end, 120);
    tcase_add_test(tests, damage_to_records_is_found);
    tcase_add_test(tests, damage_to_rows_is_found);
    tcase_add_test(tests, damage_to_pages_of_records_is_found);
    tcase_add_test(tests, damage_to_columns_is_found);
    tcase_add_test(tests, damage_to_runs_is_found);
    tcase_add_test(tests, damage_to_prototypes_is_found);
    tcase_add_test(tests, damage_to_the_table_of_prototypes_is_found);
    tcase_add_test(tests, damage_to_spots_is_found);
    tcase_add_test(tests, damage_to_lists_is_found);
    tcase_add_test(tests, damage_to_notices_is_found);
    tcase_add_test(tests, damage_to_the_counts_of_managers_is_found);
    tcase_add_test(tests, damage_to_stamps_is_found);
    tcase_add_test(tests, damage_to_entities_is_found);
    tcase_add_test(tests, damage_to_the_room_of_entities_is_found);
    tcase_add_test(tests, damage_to_parked_indices_is_found);
    tcase_add_test(tests, damage_to_the_indices_of_a_world_is_found);
    return suite;
}
