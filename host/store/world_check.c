/* world_check.c - each invariant of a world's store, checked.
 *
 * The checks go from the outside in: each record against its run, each row against its record, each column against the
 * promises of run_t, each prototype against its base, and last the counts that the parts keep of each other.
 */
#include "world_check.h"
#include "notices.h"
#include "own.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct finding_t {
    char *text;
    size_t size;
} finding_t;

static bool broken(finding_t *f, const char *format, ...) PRINTF_LIKE(2, 3);

static bool broken(finding_t *f, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(f->text, f->size, format, values);
    va_end(values);
    return false;
}

/* For functions that return whether all they looked at is right. */
#define HOLDS(condition, ...)              \
    do {                                   \
        if (!(condition))                  \
            return broken(f, __VA_ARGS__); \
    } while (0)
#define THAT(condition) HOLDS(condition, "%s is not true", #condition)
#define SAME(a, b) \
    HOLDS((a) == (b), "%s is %" PRIu64 ", %s is %" PRIu64, #a, (uint64_t)(a), #b, (uint64_t)(b))

/* --- what belongs to the world itself ----------------------------------------------------------------------------- */

/* One entity bears it, where the world has such components, and rows of such components are that entity's alone. */
static bool check_own(finding_t *f, const world_t *world)
{
    uint32_t components = 0, bearers = 0;
    for (uint32_t i = 0; i < world->manager_count; i++) {
        const manager_t *manager = world->managers[i];
        components += manager->started && (manager->component->table.flags & BP_COMPONENT_WORLD) != 0;
    }
    for (uint32_t i = 0; i < world->run_count; i++) {
        const run_t *run = world->runs[i];
        bearers += (run->flags & KEY_WORLD) != 0 ? run->count - run->holes : 0;
    }
    HOLDS((world->own.id != 0) == (components > 0), "%u components belong to the world, and %s entity bears them",
          components, world->own.id != 0 ? "an" : "no");
    HOLDS(bearers == (world->own.id != 0), "%u rows are the world's own", bearers);
    const record_t *record = world_record(world, world->own);
    THAT(world->own.id == 0 || record != NULL);
    HOLDS(record == NULL || (world_run(world, record->prototype)->flags & KEY_WORLD) != 0,
          "the entity that bears what is the world's own has other components");
    return true;
}

/* --- stamps ------------------------------------------------------------------------------------------------------- */

/* All columns and rows of a run have stamps, and none is later than the present moment. */
static bool check_stamps(finding_t *f, const world_t *world, const run_t *run)
{
    const stamps_t *stamps = run->stamps;
    uint32_t used = stamps_block_count(run->count);
    THAT(stamps->now == &world->moment);
    THAT(stamps->columns >= run->column_count);
    THAT(stamps->room >= used);
    for (uint32_t c = 0; c < run->column_count; c++) {
        HOLDS(stamps->whole[c] <= world->moment, "the stamp of column %u is later than the present moment", c);
        for (uint32_t block = 0; block < used; block++)
            HOLDS(stamps_blocks(stamps, c)[block] <= world->moment,
                  "the stamp of block %u of column %u is later than the present moment", block, c);
    }
    return true;
}

/* The latest stamp of a manager with storage of its own is that of all its slots, and stamps are kept for users. */
static bool check_slot_stamps(finding_t *f, const world_t *world)
{
    uint32_t users = world->stamp_users;
    for (uint32_t i = 0; i < world->manager_count; i++) {
        const slot_stamps_t *stamps = &world->managers[i]->stamps;
        users += stamps->users;
        THAT(stamps->count <= stamps->room);
        HOLDS(stamps->users == 0 || stamps->latest <= world->moment, "slots are stamped later than now");
        HOLDS(stamps->users == 0 || stamps->rest <= stamps->latest, "slots behind the last block are stamped later");
        for (uint32_t b = 0; b < stamps->count && stamps->users > 0; b++)
            HOLDS(stamps->blocks[b] <= stamps->latest, "block %u of slots has a stamp later than the latest", b);
    }
    SAME(users, world->askers);
    return true;
}

/* --- records and rows --------------------------------------------------------------------------------------------- */

/* The host knows each page of the world's, once. */
static bool check_pages(finding_t *f, const world_t *world)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < world->page_count; i++) {
        uint32_t linked = 0, number = world->first_page + i;
        bool own = world->pages[i] != unused_records;
        const record_page_t *page = NULL;
        if (number < world->entities->page_capacity)
            page = world->entities->pages[number];
        for (; page != NULL; page = page->next)
            linked += page->world == world && page->records == world->pages[i];
        SAME(linked, own);
        used += own;
    }
    SAME(used, world->pages_used);
    return true;
}

/* Each slab counts the pages that are in it, and those that have been left. */
static bool check_slabs(finding_t *f, const world_t *world)
{
    uint32_t held = 0, living = 0;
    for (uint32_t i = 0; i < world->slab_count; i++) {
        const record_slab_t *slab = &world->slabs[i];
        THAT(slab->used <= slab->count);
        SAME(slab->living + slab->left_count, slab->used);
        for (uint32_t k = 0; k < slab->left_count; k++)
            THAT(slab->left[k] < slab->used);
        held += slab->count;
        living += slab->living;
    }
    SAME(held, world->pages_held);
    SAME(living, world->pages_used);
    return true;
}

static bool check_records(finding_t *f, const world_t *world)
{
    uint32_t used = 0, first = world->first_page * ENTITIES_PAGE;
    for (uint32_t i = first; i < first + world->page_count * ENTITIES_PAGE; i++) {
        const record_t *r = world_record_at(world, i);
        if (r->generation == 0) {
            SAME(r->prototype, 0);
            SAME(r->row, 0);
            continue;
        }
        bp_entity_t e = entities_at(world->entities, i);
        used++;
        HOLDS(e.id != 0, "the dead entity of index %u has a record", i);
        SAME(bp_entity_generation(e), r->generation);
        THAT(r->prototype > 0);
        THAT(r->prototype < world->prototypes.count);
        const run_t *run = world_run(world, r->prototype);
        THAT(run != NULL);
        THAT(r->row < run->count);
        SAME(run_entities(run)[r->row].id, e.id);
    }
    SAME(world->occupied, used);
    return true;
}

static bool check_rows(finding_t *f, const world_t *world, const run_t *run)
{
    uint32_t holes = 0;
    for (uint32_t row = 0; row < run->count; row++) {
        bp_entity_t e = run_entities(run)[row];
        bool hole = holes_next(&run->hole_set, row) == row;
        HOLDS(hole == (e.id == 0), "row %u of prototype %u is %s to its set of holes", row, run->prototype,
               hole ? "a hole" : "none");
        if (hole) {
            holes++;
            continue;
        }
        const record_t *r = world_record(world, e);
        HOLDS(r != NULL, "row %u of prototype %u: entity %016" PRIx64 " has no record", row, run->prototype,
                      e.id);
        SAME(r->prototype, run->prototype);
        SAME(r->row, row);
    }
    SAME(run->holes, holes);
    SAME(holes_next(&run->hole_set, run->count), BP_NONE);
    HOLDS(run->count == 0 || run_entities(run)[run->count - 1].id != 0, "the last row is a hole");
    THAT(run->capacity == 0 || run->hole_set.rows >= run->capacity);
    return true;
}

static bool inside_a_block(const run_t *run, const char *start, size_t size)
{
    uint32_t blocks = run->split ? run->column_count : 1;
    for (uint32_t i = 0; i < blocks; i++) {
        const run_block_t *b = &run->blocks[i];
        if (start >= b->start && start + size <= b->start + b->size)
            return true;
    }
    return false;
}

static bool check_columns(finding_t *f, const world_t *world, const run_t *run)
{
    uintptr_t alignment = run->count >= RUN_ALIGNED_ROWS ? 64 : 16;
    THAT(run->count <= run->capacity);
    for (uint32_t c = 0; c < run->column_count && run->capacity > 0; c++) {
        const char *start = run->columns[c];
        size_t size = run_cells_bytes(run->sizes[c], run->capacity);
        HOLDS((uintptr_t)start % alignment == 0, "column %u of %u rows is aligned badly", c, run->count);
        HOLDS(world->laid || inside_a_block(run, start, size), "column %u lies outside its block", c);
        for (uint32_t d = 0; d < c; d++) {
            const char *other = run->columns[d];
            size_t bytes = run_cells_bytes(run->sizes[d], run->capacity);
            HOLDS(other + bytes <= start || start + size <= other, "columns %u and %u overlap", d, c);
        }
    }
    return true;
}

static bool check_runs(finding_t *f, const world_t *world)
{
    for (uint32_t i = 0; i < world->run_count; i++) {
        const run_t *run = world->runs[i];
        THAT(run->prototype > 0);
        THAT(world_run(world, run->prototype) == run);
        SAME(run->pending, 0);
        SAME(run->stamps != NULL, world->stamp_users > 0);
        HOLDS(run->stamps == NULL || !run->plain, "a run with stamps takes short ways past them");
        SAME(run->way, run->plain ? run->signature : RUN_ASIDE | run->prototype);
        if (!check_rows(f, world, run) || !check_columns(f, world, run) ||
            (run->stamps != NULL && !check_stamps(f, world, run)))
            return false;
        HOLDS(run->holes == 0 || run->in_holes_list || world->holed_lost, "holes, and not in the list of such runs");
    }
    return true;
}

static bool check_hole_list(finding_t *f, const world_t *world)
{
    uint32_t listed = 0;
    for (uint32_t i = 0; i < world->run_count; i++)
        listed += world->runs[i]->in_holes_list;
    SAME(listed, world->holed_count);
    for (uint32_t i = 0; i < world->holed_count; i++)
        SAME(world->holed[i]->in_holes_list, 1);
    return true;
}

/* --- prototypes ----------------------------------------------------------------------------------------- */

static bool check_chain(finding_t *f, const prototypes_t *p, uint32_t prototype)
{
    const prototype_t *item = &p->items[prototype], *base = &p->items[item->base];
    THAT(item->key < p->key_count);
    SAME(item->key_count, base->key_count + 1u);
    SAME(item->columns, base->columns + p->keys[item->key].columns);
    SAME(item->flags, (base->flags | p->keys[item->key].flags) & 0xff);
    if (item->base != 0) {
        THAT(item->key > base->key);
        HOLDS((base->flags & KEY_WORLD) == (p->keys[item->key].flags & KEY_WORLD),
              "prototype %u has components of the world itself and of entities", prototype);
    }
    for (uint32_t at = item->base; at != 0; at = p->items[at].base)
        THAT(p->keys[p->items[at].key].name != p->keys[item->key].name);
    return true;
}

/* Each {base, key} is found, and found once, in its bucket. */
static bool check_buckets(finding_t *f, const prototypes_t *p)
{
    uint32_t found = 0;
    for (uint32_t b = 0; b < p->bucket_count; b++) {
        for (uint32_t i = p->buckets[b]; i != 0; i = p->items[i].next) {
            found++;
            HOLDS((prototypes_hash(p->items[i].base, p->items[i].key) & (p->bucket_count - 1)) == b,
                  "prototype %u is in another bucket than its own", i);
            for (uint32_t j = p->items[i].next; j != 0; j = p->items[j].next)
                THAT(p->items[j].base != p->items[i].base || p->items[j].key != p->items[i].key);
        }
    }
    SAME(found, p->count - 1);
    return true;
}

static bool check_prototypes(finding_t *f, const world_t *world)
{
    const prototypes_t *p = &world->prototypes;
    THAT(p->count >= 1);
    THAT(p->items[0].run == NULL);
    for (uint32_t i = 1; i < p->count; i++) {
        if (!check_chain(f, p, i))
            return false;
    }
    return check_buckets(f, p);
}

/* Each run is one of its prototype. */
static bool check_kinds(finding_t *f, const world_t *world)
{
    for (uint32_t i = 0; i < world->run_count; i++) {
        const run_t *run = world->runs[i];
        const prototype_t *item = &world->prototypes.items[run->prototype];
        SAME(run->column_count, item->columns);
        HOLDS(run->flags == item->flags, "a run of prototype %u has flags 0x%x, and not 0x%x", run->prototype,
              (unsigned)run->flags, (unsigned)item->flags);
    }
    return true;
}

/* A spot that is known is the address of the property's column in the run of that prototype. */
static bool check_spots(finding_t *f, const world_t *world)
{
    const prototypes_t *p = &world->prototypes;
    for (uint32_t n = 0; n < world->spots.count; n++) {
        const spot_line_t *line = world->spots.lines[n];
        SAME(line->length, world->spots.length);
        for (uint32_t i = 0; i < line->length; i++) {
            void *const *spot = spot_known((spot_t *)(uintptr_t)&line->spots[i]);
            if (spot == NULL)
                continue;
            HOLDS(n > 0 && i < p->count && p->items[i].run != NULL, "a spot of prototype %u, which has no run", i);
            uint32_t column = prototypes_column(p, i, line->key);
            HOLDS(column != 0 && spot == p->items[i].run->columns + column + line->field,
                  "the spot of key %u, field %u in prototype %u is another column's", line->key, line->field, i);
        }
    }
    return true;
}

/* The world passes over what no manager asks for: it counts those that are told of deaths, and those that look for
 * their dead themselves. */
static bool check_asking(finding_t *f, const world_t *world)
{
    uint32_t telling = 0, collecting = 0;
    for (uint32_t i = 0; i < world->manager_count; i++) {
        const manager_t *manager = world->managers[i];
        if (manager == NULL || !manager->started)
            continue;
        const component_t *component = manager->component;
        bool collects = component->storage.gc != NULL;
        collecting += collects;
        telling += !collects && (component->own_storage || world_looks_at_leaving(component));
    }
    SAME(world->telling, telling);
    SAME(world->collecting, collecting);
    return true;
}

/* --- lists ---------------------------------------------------------------------------------------------- */

/* Blocks that are taken are just those of the lists in rows, in columns beside them, and in those that have left. */
static bool check_lists_of(finding_t *f, const run_t *run, int64_t *found)
{
    for (uint32_t c = 1; c < run->column_count; c++) {
        const bp_list_t *cells = run->columns[c];
        for (uint32_t row = 0; row < run->count && field_is_list(run->fields[c]); row++) {
            THAT(cells[row].count <= cells[row].capacity);
            THAT((cells[row].items == NULL) == (cells[row].capacity == 0));
            SAME((uintptr_t)cells[row].items % 16, 0);
            *found += cells[row].capacity > 0;
        }
    }
    return true;
}

static bool check_lists(finding_t *f, const world_t *world)
{
    int64_t blocks = world->lists.main.blocks, found = world->blocks_aside + leavings_count_lists(&world->leavings);
    for (const lists_hoard_t *hoard = world->lists.all; hoard != NULL; hoard = hoard->next)
        blocks += hoard->blocks;
    for (uint32_t i = 0; i < world->run_count; i++) {
        if (!check_lists_of(f, world->runs[i], &found))
            return false;
    }
    for (uint32_t m = 0; m < world->manager_count; m++) {
        const untold_t *untold = &world->managers[m]->untold;
        for (uint32_t i = 0; i < untold->count; i++) {
            if (!check_lists_of(f, untold->items[i].rows, &found))
                return false;
        }
    }
    SAME(found, blocks);
    return true;
}

/* --- notices ------------------------------------------------------------------------------------------------------ */

/* Each entity that has components can move or die without asking for room: for each of them there is an entry or room
   for one, and entries about others take room of their own. */
static bool check_notices(finding_t *f, const world_t *world)
{
    const notices_t *n = world->notices;
    if (n == NULL)
        return true;
    THAT(n->count <= n->entity_capacity);
    uint32_t strangers = 0;
    for (uint32_t i = 0; i < n->count; i++)
        strangers += world_record(world, n->entities[i]) == NULL;
    HOLDS((uint64_t)strangers + world->occupied <= n->entity_capacity,
          "room for %u notices, of which %u are about entities without components, and %u entities have components",
          n->entity_capacity, strangers, world->occupied);
    for (uint32_t i = 0; n->has_places && i < world->page_count; i++)
        HOLDS(world->pages[i] == unused_records || records_page(world->pages[i])->places != NULL,
              "page %u has no places", i);
    return true;
}

/* --- entities of all worlds --------------------------------------------------------------------------------------- */

/* A number for an index, so that sums of such numbers differ where two sets of indices differ. */
static uint64_t mixed(uint32_t index)
{
    uint64_t number = (index + UINT64_C(1)) * UINT64_C(0x9E3779B97F4A7C15);
    return (number ^ number >> 29) * UINT64_C(0xD6E8FEB86659FD93);
}

/* Indices that wait, each of which must be free. `sum` is that of their numbers. */
typedef struct waiting_t {
    uint32_t count;
    uint64_t sum;
} waiting_t;

static bool check_waiting(finding_t *f, const entities_t *entities, const entity_pool_t *pool, uint32_t index,
                          waiting_t *waiting)
{
    HOLDS(index < entities->bound, "index %u waits, and %u were used", index, entities->bound);
    HOLDS((entities->lives[index] & 1) != 0, "index %u waits for an entity, and has a living one", index);
    HOLDS(!entities_is_parked(entities->lives[index]), "index %u waits, and is parked", index);
    HOLDS(pool == NULL || entities_owner(entities, index) == pool, "index %u waits in the wrong pool", index);
    waiting->count++;
    waiting->sum += mixed(index);
    return true;
}

static bool check_pool(finding_t *f, const entities_t *entities, const entity_pool_t *pool, waiting_t *waiting)
{
    uint32_t pages = 0, index = pool->head;
    THAT(entities->pools[pool->number - 1] == pool);
    HOLDS(pool->on == (entities->pools_in_use > 1 || pool->pages > 0), "pool %u is %s", pool->number,
          pool->on ? "on" : "off");
    for (uint32_t i = 0; i < entities->owner_capacity; i++)
        pages += entities->owners[i] == pool->number;
    SAME(pages, pool->pages);
    for (uint32_t i = 0; i < pool->count; i++, index = entities->links[index]) {
        if (!check_waiting(f, entities, pool, index, waiting))
            return false;
        THAT(i + 1 < pool->count || index == pool->tail);
    }
    for (uint32_t i = pool->fresh; i < pool->fresh_end; i++)
        if (!check_waiting(f, entities, pool, i, waiting))
            return false;
    return true;
}

/* Parked indices are counted in their pages and pools. */
static bool check_parked(finding_t *f, const entities_t *e)
{
    uint32_t all = 0, common = 0;
    for (uint32_t page = 0; page < e->parked_capacity; page++) {
        uint32_t first = page * ENTITIES_PAGE, parked = 0;
        for (uint32_t i = first; i < e->bound && i - first < ENTITIES_PAGE; i++)
            parked += entities_is_parked(e->lives[i]);
        HOLDS(parked == e->parked[page], "page %u has %u parked indices, and not %u", page, parked, e->parked[page]);
        HOLDS(parked == 0 || page >= e->parked_from || entities_owner(e, first) != NULL,
              "page %u has parked indices, and is below %u", page, e->parked_from);
        all += parked;
        common += entities_owner(e, first) == NULL ? parked : 0;
    }
    SAME(all, e->parked_count);
    SAME(common, e->parked_common);
    for (uint32_t i = 0; i < e->pool_count; i++) {
        uint32_t parked = 0;
        for (uint32_t page = 0; e->pools[i] != NULL && page < e->owner_capacity; page++)
            parked += e->owners[page] == e->pools[i]->number ? e->parked[page] : 0;
        THAT(e->pools[i] == NULL || e->pools[i]->parked == parked);
    }
    return true;
}

/* There is memory for every death, and for fresh indices up to `capacity`; indices that were parked or given up come
 * before these. Pages that were given up have a life that comes next, and nothing lies behind them. */
static bool check_room(finding_t *f, const entities_t *e)
{
    uint64_t pages = (uint64_t)e->reached * ENTITIES_PAGE, used = e->bound > pages ? e->bound : pages;
    THAT(e->bound <= e->capacity && e->capacity <= e->room);
    THAT((uint64_t)e->queue_room + e->parked_count >= e->capacity);
    THAT(e->queue_size <= e->queue_room);
    HOLDS(e->capacity == e->bound || (e->parked_common == 0 && e->bound >= pages),
          "%u fresh indices are given out before others", e->capacity - e->bound);
    HOLDS(e->bound >= pages || e->bound % ENTITIES_PAGE == 0, "a part of page %u is given up",
          e->bound / ENTITIES_PAGE);
    for (uint32_t page = e->bound / ENTITIES_PAGE; page < e->reached; page++)
        HOLDS((e->floors[page] & 1) == 0, "page %u begins with %u", page, e->floors[page]);
    for (uint64_t i = used; i < e->room; i++)
        HOLDS(e->lives[i] == 0, "index %u was never used, and has a life", (uint32_t)i);
    return true;
}

/* Each index that is in use has a living entity, waits in one place, is parked, or is retired. */
bool world_check_entities(const entities_t *entities, char *text, size_t size)
{
    finding_t finding = {text, size}, *f = &finding;
    uint32_t living = 0, pools = 0;
    waiting_t free = {0}, waiting = {0};
    for (uint32_t i = 0; i < entities->bound; i++) {
        bool lives = (entities->lives[i] & 1) == 0, retired = entities->lives[i] == 2u * ENTITY_MAX_LIFE - 1;
        bool waits = !lives && !retired && !entities_is_parked(entities->lives[i]);
        living += lives;
        free.count += waits;
        free.sum += waits ? mixed(i) : 0;
    }
    SAME(living, entities->living);
    THAT(entities->queue_count <= entities->queue_size);
    for (uint32_t i = 0; i < entities->queue_count; i++)
        if (!check_waiting(f, entities, NULL, entities->queue[(entities->queue_head + i) % entities->queue_size],
                           &waiting))
            return false;
    for (uint32_t i = 0; i < entities->pool_count; i++) {
        pools += entities->pools[i] != NULL;
        if (entities->pools[i] != NULL && !check_pool(f, entities, entities->pools[i], &waiting))
            return false;
    }
    SAME(pools, entities->pools_in_use);
    SAME(waiting.count, free.count);
    HOLDS(waiting.sum == free.sum, "an index waits twice for an entity, and another one not at all");
    return check_room(f, entities) && check_parked(f, entities);
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

bool world_check(const world_t *world, char *text, size_t size)
{
    finding_t f = {text, size};
    return check_pages(&f, world) && check_slabs(&f, world) && check_records(&f, world) && check_runs(&f, world) &&
           check_hole_list(&f, world) && check_own(&f, world) && check_slot_stamps(&f, world) &&
           check_prototypes(&f, world) && check_kinds(&f, world) && check_spots(&f, world) &&
           check_notices(&f, world) && check_asking(&f, world) && check_lists(&f, world);
}

#if defined(BACKPLANE_AUDIT)

void world_assert(world_t *world)
{
    char text[256];
    uint64_t size = world->occupied + (uint64_t)world->pages_used * ENTITIES_PAGE;
    size += world->number > 0 ? 0 : world->entities->bound;
    if (world->collections % (1 + size / WORLD_CHECK_ROWS) != 0)
        return;
    bool good = world->number > 0 || world_check_entities(world->entities, text, sizeof text);
    if (good && world_check(world, text, sizeof text))
        return;
    log_write(&world->base->log, BP_LOG_ERROR, "host", "world '%s': an invariant of the store is broken: %s",
              world->name, text);
    fprintf(stderr, "world '%s': an invariant of the store is broken: %s\n", world->name, text);
    abort();
}

#endif
