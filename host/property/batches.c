/* batches.c - many cells of one property at a time.
 *
 * A stretch of entities that lie in consecutive rows is found by comparing the batch with the run's entities and is
 * copied whole; the values of scattered entities are gathered with records, cells and values fetched at the same time,
 * so that cache misses overlap instead of queueing.
 *
 * Setting is all or nothing: all cells are found and their places noted before the first one is written. Where there is
 * no memory for the places, each cell is found twice, the first time only to see whether the entity has it.
 */
#include "batches.h"

#include "../base/base.h"
#include "../base/error.h"

/* --- where there is none ----------------------------------------------------------------------------------------- */

bp_result_t property_no_component(world_t *world, bp_entity_t entity, const char *component)
{
    nearest_t nearest = {.wanted = component};
    text_t hint, known = {.length = 0};
    const prototypes_t *p = &world->prototypes;
    const record_t *record = world_record(world, entity);
    char who[32];
    value_format(&world->base->values, BP_ENTITY, &entity, who, sizeof who);
    known.chars[0] = '\0';
    for (uint32_t at = record == NULL ? 0 : record->prototype; at != 0; at = p->items[at].base) {
        const char *name = names_text(&world->base->names, p->keys[p->items[at].key].name);
        nearest_consider(&nearest, name);
        text_append(&known, "%s%s", known.length > 0 ? ", " : "", name);
    }
    return error_set(&world->base->error, BP_ERROR_NOT_FOUND,
                     "entity %s has no component '%s' in world '%s'%s (it has %s)", who, component, world->name,
                     nearest_hint(&nearest, &hint), known.length > 0 ? known.chars : "none there");
}

bp_result_t property_absent(world_t *world, const bp_property_t *p, bp_entity_t e)
{
    if (!entities_is_alive(world->entities, e))
        return entities_dead_error(world->entities, e);
    return property_no_component(world, e, names_text(&world->base->names, world->prototypes.keys[p->key].name));
}

bp_result_t property_unsettable(world_t *world, const component_t *component)
{
    return error_set(&world->base->error, BP_ERROR_ARGUMENT, "%s has no property that can be set", component->name);
}

enum {
    LONG_STRETCH = 8, /* consecutive rows that are worth a copy of their own */
    SCATTERED = 1024, /* entities gathered before the next stretch is looked for */
    AHEAD = 16, RING = 16, MET = 64
};

/* --- reading ------------------------------------------------------------------------------------------------------ */

#define COPY_CELLS(type)                                                  \
    for (uint32_t i = 0; i < count; i++) {                                \
        type value_;                                                      \
        memcpy(&value_, from + (size_t)i * sizeof value_, sizeof value_); \
        memcpy(to + i * stride, &value_, sizeof value_);                  \
    }

/* Copy consecutive cells to values that lie `stride` apart. */
static void copy_out(char *to, size_t stride, const char *from, uint32_t size, uint32_t count)
{
    if (stride == size) {
        memcpy(to, from, (size_t)count * size);
    } else if (size == 4) {
        COPY_CELLS(uint32_t)
    } else if (size == 12) {
        COPY_CELLS(bp_vec3_t)
    } else {
        for (uint32_t i = 0; i < count; i++)
            memcpy(to + i * stride, from + (size_t)i * size, size);
    }
}

/* Where the property's column begins in prototypes met lately: entities in any order change prototype all the time. And
 * the column that was found last. */
typedef struct met_t {
    column_t column;
    uint32_t prototype[MET]; /* BP_NONE: none yet */
    const char *base[MET];
} met_t;

static void forget_met(met_t *met)
{
    met->column.prototype = BP_NONE;
    memset(met->prototype, 0xff, sizeof met->prototype);
}

static inline const char *scattered_cell(const world_t *world, records_view_t records, bp_property_t *p, bp_entity_t e,
                                         uint32_t size, met_t *met)
{
    const record_t *record = records_at(records, bp_entity_index(e));
    if (record->generation != bp_entity_generation(e))
        return NULL;
    uint32_t slot = record->prototype % MET;
    if (met->prototype[slot] != record->prototype) {
        if (!find_column(world, p, record->prototype, &met->column))
            return NULL;
        met->prototype[slot] = record->prototype;
        met->base[slot] = run_cell(met->column.run, met->column.number, 0);
    }
    return met->base[slot] + (size_t)record->row * size;
}

/* Gather the values of scattered entities. Three things go on at once, so that their misses overlap: records are
 * fetched AHEAD entities early, cells as soon as they are known, and a value is read when RING more cells have been
 * asked for. `reach` is how far the entities go on behind `count`. Returns how many come before one that lacks the
 * property. Inlined twice: for the size of a float, and for any size. */
ALWAYS_INLINED static inline uint32_t gather(const world_t *world, bp_property_t *p, const bp_entity_t *entities,
                                             uint32_t count, uint32_t reach, char *to, size_t stride, met_t *met,
                                             uint32_t size)
{
    const char *cells[RING];
    const records_view_t records = world_records(world);
    const bool far = world_is_far(world);
    uint32_t found = 0, copied = 0;
    for (; found < count; found++) {
        if (far)
            PREFETCH(records_at(records, bp_entity_index(entities[found + AHEAD < reach ? found + AHEAD : found])));
        const char *cell = scattered_cell(world, records, p, entities[found], size, met);
        if (cell == NULL)
            break;
        if (found >= RING) {
            value_copy(to + copied * stride, cells[copied % RING], size);
            copied++;
        }
        PREFETCH(cell);
        cells[found % RING] = cell;
    }
    for (; copied < found; copied++)
        value_copy(to + copied * stride, cells[copied % RING], size);
    return found;
}

bp_result_t batches_get(world_t *world, bp_property_t *p, const bp_entity_t *entities, uint32_t count,
                        char *values, size_t stride)
{
    met_t met;
    forget_met(&met);
    for (uint32_t i = 0; i < count;) {
        const record_t *record = world_record(world, entities[i]);
        if (record == NULL || !find_column(world, p, record->prototype, &met.column))
            return property_absent(world, p, entities[i]);
        uint32_t reach = count - i, n = run_stretch(met.column.run, record->row, entities + i, reach);
        char *to = values + i * stride;
        if (n >= LONG_STRETCH || n == reach)
            copy_out(to, stride, run_cell(met.column.run, met.column.number, record->row), p->size, n);
        else if (p->size == 4)
            n = gather(world, p, entities + i, reach < SCATTERED ? reach : SCATTERED, reach, to, stride, &met, 4);
        else
            n = gather(world, p, entities + i, reach < SCATTERED ? reach : SCATTERED, reach, to, stride, &met, p->size);
        i += n;
    }
    return BP_OK;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* Copy values that lie `stride` apart to consecutive cells. */
static void copy_in(char *to, const char *from, size_t stride, uint32_t size, uint32_t count)
{
    if (stride == size) {
        memcpy(to, from, (size_t)count * size);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        value_copy(to + (size_t)i * size, from + i * stride, size);
}

/* Cells of a batch, one each. A long stretch takes the first three of its places: NULL, its first cell, how many. */
typedef union place_t {
    char *cell;
    size_t count;
} place_t;

BP_STATIC_ASSERT((int)LONG_STRETCH >= 3, "a long stretch has three places");

/* How many entities come before the next stretch that is long, or `count`. Their cells are found. */
static uint32_t find_scattered(const world_t *world, bp_property_t *p, const bp_entity_t *entities, uint32_t count,
                               uint32_t reach, place_t *places, met_t *met)
{
    const records_view_t records = world_records(world);
    const bool far = world_is_far(world);
    uint32_t found = 0, size = p->size;
    for (; found < count; found++) {
        if (far)
            PREFETCH(records_at(records, bp_entity_index(entities[found + AHEAD < reach ? found + AHEAD : found])));
        const char *cell = scattered_cell(world, records, p, entities[found], size, met);
        if (cell == NULL)
            break;
        places[found].cell = (char *)(uintptr_t)cell;
    }
    return found;
}

/* Find the cells of a batch. Returns how many come before an entity that lacks the property. */
static uint32_t find_places(const world_t *world, bp_property_t *p, const bp_entity_t *entities, uint32_t count,
                            place_t *places, met_t *met)
{
    uint32_t found = 0;
    while (found < count) {
        const record_t *record = world_record(world, entities[found]);
        if (record == NULL || !find_column(world, p, record->prototype, &met->column))
            return found;
        uint32_t reach = count - found, n = run_stretch(met->column.run, record->row, entities + found, reach);
        if (n >= LONG_STRETCH) {
            places[found].cell = NULL;
            places[found + 1].cell = run_cell(met->column.run, met->column.number, record->row);
            places[found + 2].count = n;
        } else {
            uint32_t some = reach < SCATTERED ? reach : SCATTERED;
            n = find_scattered(world, p, entities + found, some, reach, places + found, met);
            if (n < some)
                return found + n;
        }
        found += n;
    }
    return found;
}

ALWAYS_INLINED static inline void write_places(const place_t *places, uint32_t count, const char *values,
                                               size_t stride, uint32_t size)
{
    for (uint32_t i = 0, n; i < count; i += n) {
        n = 1;
        if (places[i].cell == NULL) {
            n = (uint32_t)places[i + 2].count;
            copy_in(places[i + 1].cell, values + i * stride, stride, size, n);
            continue;
        }
        PREFETCH_TO_WRITE(places[i + AHEAD < count ? i + AHEAD : i].cell);
        value_copy(places[i].cell, values + i * stride, size);
    }
}

/* Set the cells of a batch with room for `room` places: all places at once, or block by block. */
static bp_result_t set_places(world_t *world, bp_property_t *p, const bp_entity_t *entities, uint32_t count,
                              const char *values, size_t stride, place_t *places, uint32_t room)
{
    met_t met;
    forget_met(&met);
    for (uint32_t done = 0, n; done < count; done += n) {
        n = count - done < room ? count - done : room;
        uint32_t found = find_places(world, p, entities + done, n, places, &met);
        if (found < n)
            return property_absent(world, p, entities[done + found]);
    }
    for (uint32_t done = 0, n; done < count && values != NULL; done += n) {
        n = count - done < room ? count - done : room;
        if (room < count)
            find_places(world, p, entities + done, n, places, &met);
        if (p->size == 4)
            write_places(places, n, values + done * stride, stride, 4);
        else
            write_places(places, n, values + done * stride, stride, p->size);
    }
    return BP_OK;
}

/* Stamp the cells that have been written. A function of its own, so that the loops above cost nothing more in worlds
 * without stamps. */
NOT_INLINED static void note_cells(world_t *world, bp_property_t *p, const bp_entity_t *entities, uint32_t count)
{
    column_t column = {.prototype = BP_NONE};
    for (uint32_t i = 0, n; i < count; i += n) {
        const record_t *record = world_record(world, entities[i]);
        find_column(world, p, record->prototype, &column);
        n = run_stretch(column.run, record->row, entities + i, count - i);
        stamps_note(column.run->stamps, column.number, record->row, n);
    }
}

bp_result_t batches_check(world_t *world, bp_property_t *p, const bp_entity_t *entities, uint32_t count)
{
    place_t places[SCATTERED];
    return set_places(world, p, entities, count, NULL, 0, places, SCATTERED);
}

/* Set a batch of entities that all lie in consecutive rows; false where they do not. */
static bool set_stretch(const world_t *world, bp_property_t *p, const bp_entity_t *entities, uint32_t count,
                        const char *values, size_t stride)
{
    const record_t *record = world_record(world, entities[0]);
    column_t column = {.prototype = BP_NONE};
    if (record == NULL || !find_column(world, p, record->prototype, &column) ||
        run_stretch(column.run, record->row, entities, count) < count)
        return false;
    copy_in(run_cell(column.run, column.number, record->row), values, stride, p->size, count);
    return true;
}

static bp_result_t set_scattered(world_t *world, bp_property_t *p, const bp_entity_t *entities, uint32_t count,
                                 const char *values, size_t stride)
{
    place_t few[SCATTERED], *places = NULL;
    if (count > SCATTERED)
        places = world_scratch(world, (size_t)count * sizeof *places);
    return set_places(world, p, entities, count, values, stride, places != NULL ? places : few,
                      places != NULL ? count : SCATTERED);
}

bp_result_t batches_set(world_t *world, bp_property_t *p, const bp_entity_t *entities, uint32_t count,
                        const char *values, size_t stride)
{
    if (!set_stretch(world, p, entities, count, values, stride)) {
        bp_result_t result = set_scattered(world, p, entities, count, values, stride);
        if (result != BP_OK)
            return result;
    }
    if ((world->care & WORLD_STAMPED) != 0)
        note_cells(world, p, entities, count);
    return BP_OK;
}
