/* compare.c - hashes of all state that later steps depend on, and differences row by row.
 *
 * Rows of two snapshots are compared where they lie as long as both have the same entities in the same rows; others are
 * found by the index of their entity. A world is compared key by key; a list says which runs have each key, so that a
 * world of thousands of keys and runs takes no longer than one of few with as many rows.
 */
#include "compare.h"

#include "distance.h"

#include <inttypes.h>
#include <stdio.h>

/* --- hashes ------------------------------------------------------------------------------------------------------- */

enum { GATHERED = 64 };

typedef struct hasher_t {
    uint64_t words[GATHERED];
    uint32_t count;
} hasher_t;

static void add(hasher_t *h, uint64_t word)
{
    if (h->count == GATHERED) {
        h->words[0] = hash_bytes(h->words, sizeof h->words);
        h->count = 1;
    }
    h->words[h->count++] = word;
}

static void add_bytes(hasher_t *h, const void *bytes, uint64_t size)
{
    add(h, size);
    add(h, size == 0 ? 0 : hash_bytes(bytes, (size_t)size));
}

static void add_text(hasher_t *h, const char *text)
{
    add_bytes(h, text, strlen(text));
}

static void add_double(hasher_t *h, double number)
{
    add_bytes(h, &number, sizeof number);
}

static uint64_t end(const hasher_t *h)
{
    return hash_bytes(h->words, h->count * sizeof *h->words);
}

static void add_state(hasher_t *h, const kept_state_t *state)
{
    if (state->road == BP_KEEP_PLAIN || state->road == BP_KEEP_SAVED)
        add_bytes(h, state->data, state->size);
}

static void add_run(hasher_t *h, const kept_run_t *run)
{
    add(h, (uint64_t)run->prototype << 32 | run->count);
    for (uint32_t c = 0; c < run->column_count; c++)
        add_bytes(h, run->columns[c].data, run->columns[c].size);
}

uint64_t snapshot_hash_world(const snapshot_t *snapshot, uint32_t world)
{
    const kept_world_t *w = &snapshot->worlds[world];
    hasher_t h = {.count = 0};
    add_text(&h, w->name);
    add_double(&h, w->step_rate);
    add_double(&h, w->time);
    add(&h, w->steps);
    add(&h, w->random);
    for (uint32_t i = 0; i < w->manager_count; i++) {
        add_text(&h, w->managers[i].type);
        add_state(&h, &w->managers[i].state);
    }
    for (uint32_t i = 0; i < w->unit_count; i++)
        add_state(&h, &w->units[i].state);
    for (uint32_t i = 0; i < w->key_count; i++)
        add(&h, w->keys[i].name + w->keys[i].manager);
    for (uint32_t i = 1; i < w->prototype_count; i++)
        add(&h, (uint64_t)w->prototypes[i].base << 32 | w->prototypes[i].key);
    for (uint32_t i = 0; i < w->run_count; i++)
        add_run(&h, &w->runs[i]);
    for (uint32_t i = 0; i < w->channel_count; i++) {
        const kept_channel_t *channel = &w->channels[i];
        if (channel->count == 0)
            continue;
        add_text(&h, channel->name);
        add_bytes(&h, channel->records, (uint64_t)channel->count * channel->size);
    }
    return end(&h);
}

uint64_t snapshot_hash(const snapshot_t *snapshot)
{
    hasher_t h = {.count = 0};
    add(&h, snapshot->living);
    add_bytes(&h, snapshot->lives, (uint64_t)snapshot->bound * sizeof *snapshot->lives);
    add_bytes(&h, snapshot->queue, (uint64_t)snapshot->queue_count * sizeof *snapshot->queue);
    add(&h, (uint64_t)snapshot->parked_count << 32 | snapshot->reached);
    add_bytes(&h, snapshot->floors, (uint64_t)snapshot->floor_count * sizeof *snapshot->floors);
    add_bytes(&h, snapshot->owners, (uint64_t)snapshot->owner_count * sizeof *snapshot->owners);
    for (uint32_t i = 0; i < snapshot->pool_count; i++) {
        const kept_pool_t *pool = &snapshot->pools[i];
        add(&h, (uint64_t)pool->fresh << 32 | pool->fresh_end);
        add_bytes(&h, pool->free, (uint64_t)pool->count * sizeof *pool->free);
    }
    for (uint32_t i = 0; i < snapshot->plugin_count; i++)
        add_state(&h, &snapshot->plugins[i].state);
    for (uint32_t i = 0; i < snapshot->world_count; i++)
        add(&h, snapshot_hash_world(snapshot, i));
    return end(&h);
}

/* --- differences -------------------------------------------------------------------------------------------------- */

/* Where an entity is in one of the two snapshots: a run and a row; run BP_NONE: nowhere. */
typedef struct place_t {
    uint32_t run, row;
} place_t;

typedef struct side_t {
    const snapshot_t *snapshot;
    const kept_world_t *world;
    place_t *places; /* by index; run BP_NONE: nowhere. NULL: no world so far has needed them */
} side_t;

/* A run that has a key, and where the key's columns begin in it. */
typedef struct having_t {
    uint32_t run, first;
} having_t;

typedef struct diffing_t {
    const base_t *base;
    const bp_diff_i *sink;
    side_t before, after;
    having_t *having;    /* of all keys of the later world one after another, of each in the order of the runs; ... */
    uint32_t *having_of; /* ... those of key k begin at [k] and end at [k + 1] */
    size_t having_count;
    bool aligned; /* both sides have the same prototypes, and the same entities in the same rows */
    bool no_memory;
    uint64_t told; /* differences so far */
} diffing_t;

static void structure(diffing_t *d, bp_entity_t entity, const char *text)
{
    const kept_world_t *w = d->after.world != NULL ? d->after.world : d->before.world;
    d->told++;
    if (d->sink->structure != NULL)
        d->sink->structure(d->sink->context, w == NULL ? "" : w->name, entity, text);
}

static bp_entity_t entity_at(const kept_run_t *run, uint32_t row)
{
    bp_entity_t e;
    memcpy(&e, run->columns[0].data + row * sizeof e, sizeof e);
    return e;
}

/* Note the places of all entities of the world, or forget them again. */
static void put_places(side_t *side, bool there)
{
    for (uint32_t r = 0; r < side->world->run_count; r++) {
        const kept_run_t *run = &side->world->runs[r];
        for (uint32_t row = 0; row < run->count; row++) {
            bp_entity_t e = entity_at(run, row);
            if (e.id != 0)
                side->places[bp_entity_index(e)] = (place_t){there ? r : BP_NONE, row};
        }
    }
}

static size_t places_size(const side_t *side)
{
    return (side->snapshot->bound + (size_t)1) * sizeof *side->places;
}

/* The first world that needs them makes room for places; the next ones find that room without a place in it. */
static bool find_places(side_t *side, memory_t *memory)
{
    if (side->places == NULL) {
        side->places = memory_resize(memory, NULL, 0, places_size(side));
        if (side->places == NULL)
            return false;
        memset(side->places, 0xff, places_size(side));
    }
    put_places(side, true);
    return true;
}

static void free_places(side_t *side, memory_t *memory)
{
    memory_free(memory, side->places, side->places == NULL ? 0 : places_size(side));
    side->places = NULL;
}

/* The run and row of an entity on one side; NULL where the entity has no components there. */
static const kept_run_t *find(const side_t *side, bp_entity_t e, uint32_t *row)
{
    uint32_t index = bp_entity_index(e);
    if (index >= side->snapshot->bound || side->places[index].run == BP_NONE)
        return NULL;
    const kept_run_t *run = &side->world->runs[side->places[index].run];
    *row = side->places[index].row;
    return entity_at(run, *row).id == e.id ? run : NULL;
}

/* Is it the manager of the component type? One that has gone has left its number, its keys and empty runs behind, and
 * another one of the same type may have come since. */
static bool is_manager_of(const kept_manager_t *m, const char *type)
{
    return m->started != 0 && strcmp(m->type, type) == 0;
}

/* Where the columns of a key begin in a run; 0 where the run lacks the key. */
static uint32_t first_column(const kept_world_t *w, const kept_run_t *run, bp_name_t name, const char *type)
{
    for (uint32_t at = run->prototype; at != 0; at = w->prototypes[at].base) {
        const kept_key_t *key = &w->keys[w->prototypes[at].key];
        if (key->name == name && is_manager_of(&w->managers[key->manager], type))
            return w->prototype_columns[w->prototypes[at].base];
    }
    return 0;
}

/* Of the runs with rows in the later world, list for each key those that have it. */
static bool find_having(diffing_t *d, memory_t *memory)
{
    const kept_world_t *w = d->after.world;
    size_t keys = w->key_count + (size_t)2;
    d->having_count = 1;
    for (uint32_t r = 0; r < w->run_count; r++)
        d->having_count += w->runs[r].count > 0 ? w->prototype_keys[w->runs[r].prototype] : 0;
    d->having = memory_resize(memory, NULL, 0, d->having_count * sizeof *d->having);
    d->having_of = memory_new(memory, keys * sizeof *d->having_of);
    if (d->having == NULL || d->having_of == NULL)
        return false;
    uint32_t *end = d->having_of + 1; /* where the next run of each key goes: its end, when all runs are listed */
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t r = 0; r < w->run_count; r++) {
            for (uint32_t at = w->runs[r].count > 0 ? w->runs[r].prototype : 0; at != 0; at = w->prototypes[at].base) {
                uint32_t key = w->prototypes[at].key;
                if (pass == 0)
                    end[key + 1]++;
                else
                    d->having[end[key]++] = (having_t){r, w->prototype_columns[w->prototypes[at].base]};
            }
        }
        for (uint32_t k = 0; k < w->key_count && pass == 0; k++)
            end[k + 1] += end[k];
    }
    return true;
}

static void free_having(diffing_t *d, memory_t *memory)
{
    const kept_world_t *w = d->after.world;
    memory_free(memory, d->having, d->having == NULL ? 0 : d->having_count * sizeof *d->having);
    memory_free(memory, d->having_of, d->having_of == NULL ? 0 : (w->key_count + (size_t)2) * sizeof *d->having_of);
    d->having = NULL;
    d->having_of = NULL;
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

/* A cell of a column that is written cell by cell: where it begins, and its bytes. */
static const char *counted_cell(const kept_column_t *column, uint32_t row, size_t *size)
{
    const kept_field_t *field = column->field;
    reader_t r = reader_of(column->data, (size_t)column->size);
    const char *begin = r.at;
    for (uint32_t i = 0; i <= row; i++) {
        uint32_t items = field->elements > 0 ? field->elements : 1;
        begin = r.at;
        if ((field->flags & BP_FIELD_LIST) != 0)
            items = reader_u32(&r);
        if (field->type != BP_STRING)
            reader_take(&r, (uint64_t)items * value_size(field->type));
        for (uint32_t k = 0; field->type == BP_STRING && k < items; k++)
            reader_text(&r);
    }
    *size = (size_t)(r.at - begin);
    return begin;
}

static const char *cell_of(const kept_column_t *column, uint32_t row, size_t *size)
{
    if (column->counted)
        return counted_cell(column, row, size);
    *size = column->field->size;
    return column->data + (size_t)row * column->field->size;
}

/* A cell as text: values one after another, at most as many as there is room for. */
static const char *show(const diffing_t *d, const kept_column_t *column, const char *cell, text_t *text)
{
    const kept_field_t *field = column->field;
    text->length = 0;
    text->chars[0] = '\0';
    reader_t r = reader_of(cell, (size_t)(column->data + column->size - cell));
    bool list = (field->flags & BP_FIELD_LIST) != 0;
    uint32_t items = list ? reader_u32(&r) : field->elements > 0 ? field->elements : 1;
    if (list || field->elements > 0)
        text_append(text, "[");
    for (uint32_t i = 0; i < items && i < 16; i++) {
        char one[200];
        if (field->type == BP_STRING) {
            text_append(text, "%s%s", i > 0 ? ", " : "", reader_text(&r));
            continue;
        }
        bp_value_t value;
        const void *bytes = reader_take(&r, value_size(field->type));
        if (bytes == NULL)
            break;
        memcpy(&value, bytes, value_size(field->type));
        value_format(&d->base->values, field->type, &value, one, sizeof one);
        text_append(text, "%s%s", i > 0 ? ", " : "", one);
    }
    if (list || field->elements > 0)
        text_append(text, items > 16 ? ", ...]" : "]");
    return text->chars;
}

/* --- one field ---------------------------------------------------------------------------------------------------- */

static void tell_value(const diffing_t *d, const bp_diff_field_t *told, const kept_column_t *before, const char *a,
                       const kept_column_t *after, const char *b, bp_entity_t e)
{
    text_t was, is;
    bp_diff_value_t value = {.world = told->world, .component = told->component, .field = told->field, .entity = e};
    value.before = show(d, before, a, &was);
    value.after = show(d, after, b, &is);
    d->sink->value(d->sink->context, &value);
}

static bool same_field(const kept_field_t *a, const kept_field_t *b)
{
    return strcmp(a->name, b->name) == 0 && a->type == b->type && a->size == b->size && a->elements == b->elements &&
           a->flags == b->flags;
}

/* The place of the field among the columns of its component as the component was then; BP_NONE: the field was not
 * there. */
static uint32_t place_then(const kept_world_t *then, const char *type, const kept_field_t *field)
{
    for (uint32_t i = 0; i < then->manager_count; i++) {
        const kept_manager_t *m = &then->managers[i];
        for (uint32_t k = 0; is_manager_of(m, type) && !m->own_storage && k < m->column_count; k++) {
            if (same_field(&m->columns[k], field))
                return k;
        }
    }
    return BP_NONE;
}

/* --- rows that lie alike ----------------------------------------------------------------------------------------- */

static bool same_keys(const kept_world_t *a, const kept_world_t *b)
{
    bool same = a->key_count == b->key_count && a->prototype_count == b->prototype_count &&
                memcmp(a->prototypes, b->prototypes, a->prototype_count * sizeof *a->prototypes) == 0 &&
                memcmp(a->prototype_columns, b->prototype_columns,
                       a->prototype_count * sizeof *a->prototype_columns) == 0;
    for (uint32_t i = 0; i < a->key_count && same; i++)
        same = a->keys[i].name == b->keys[i].name &&
               a->managers[a->keys[i].manager].started == b->managers[b->keys[i].manager].started &&
               strcmp(a->managers[a->keys[i].manager].type, b->managers[b->keys[i].manager].type) == 0;
    return same;
}

static bool are_aligned(const kept_world_t *a, const kept_world_t *b)
{
    bool same = a->run_count == b->run_count && same_keys(a, b);
    for (uint32_t r = 0; r < a->run_count && same; r++) {
        const kept_run_t *x = &a->runs[r], *y = &b->runs[r];
        same = x->prototype == y->prototype && x->count == y->count &&
               (x->count == 0 || memcmp(x->columns[0].data, y->columns[0].data, (size_t)x->columns[0].size) == 0);
    }
    return same;
}

static void tell_cell(diffing_t *d, bp_diff_field_t *told, const kept_column_t *before, const char *a, size_t a_size,
                      const kept_column_t *after, const char *b, size_t b_size, bp_entity_t e)
{
    double between = a_size == b_size && !after->counted ? distance_of_cells(after->field->type, a, b, a_size) : 0;
    told->largest = between > told->largest ? between : told->largest;
    told->count++;
    if (d->sink->value != NULL && told->count <= d->sink->most)
        tell_value(d, told, before, a, after, b, e);
}

static bool has_hole(const kept_run_t *run, uint32_t row, uint32_t rows)
{
    for (uint32_t i = 0; run->holes > 0 && i < rows; i++) {
        if (entity_at(run, row + i).id == 0)
            return true;
    }
    return false;
}

/* As tell_cell for each cell of a stretch that differs. False, and nothing has been done, where cells have to be looked
 * at one by one: values are to be told, there are holes, or differences that are not finite. */
static bool tell_floats(const diffing_t *d, bp_diff_field_t *told, const kept_run_t *run, uint32_t row,
                        const char *a, const char *b, size_t width)
{
    if ((d->sink->value != NULL && told->count < d->sink->most) || has_hole(run, row, BP_STAMP_ROWS) ||
        !distance_of_many_floats(a, b, BP_STAMP_ROWS, width, &told->largest))
        return false;
    told->count += distance_count(a, b, BP_STAMP_ROWS, width);
    return true;
}

/* A cell that is written by itself, at the reader, which is moved behind the cell. */
static const char *next_cell(reader_t *r, const kept_field_t *field, size_t *size)
{
    const char *begin = r->at;
    uint32_t items = (field->flags & BP_FIELD_LIST) != 0 ? reader_u32(r) : field->elements > 0 ? field->elements : 1;
    if (field->type != BP_STRING)
        reader_take(r, (uint64_t)items * value_size(field->type));
    for (uint32_t k = 0; field->type == BP_STRING && k < items; k++)
        reader_text(r);
    *size = (size_t)(r->at - begin);
    return begin;
}

/* Differences of a column where both sides have the same entities in the same rows. */
static void diff_column(diffing_t *d, const kept_run_t *now, const kept_column_t *before, const kept_column_t *after,
                        bp_diff_field_t *told)
{
    reader_t was = reader_of(before->data, (size_t)before->size), is = reader_of(after->data, (size_t)after->size);
    size_t cell = after->field->size, a_size, b_size, stretch = cell * BP_STAMP_ROWS;
    bool floats = !after->counted && distance_is_of_floats(after->field->type);
    for (uint32_t row = 0; row < now->count; row++) {
        bool whole = !after->counted && row % BP_STAMP_ROWS == 0 && now->count - row >= BP_STAMP_ROWS;
        const char *then = before->data + row * cell, *there = after->data + row * cell;
        if (whole && (memcmp(then, there, stretch) == 0 ||
                      (floats && tell_floats(d, told, now, row, then, there, cell)))) {
            row += BP_STAMP_ROWS - 1;
            continue;
        }
        const char *a = after->counted ? next_cell(&was, before->field, &a_size) : before->data + row * cell;
        const char *b = after->counted ? next_cell(&is, after->field, &b_size) : after->data + row * cell;
        a_size = after->counted ? a_size : cell;
        b_size = after->counted ? b_size : cell;
        if (a_size == b_size && memcmp(a, b, a_size) == 0)
            continue;
        bp_entity_t e = entity_at(now, row);
        if (e.id != 0)
            tell_cell(d, told, before, a, a_size, after, b, b_size, e);
    }
}

/* --- rows that lie elsewhere ------------------------------------------------------------------------------------- */

static void diff_cells(diffing_t *d, const kept_run_t *now, uint32_t column, bp_name_t name, const kept_manager_t *m,
                       uint32_t k, bp_diff_field_t *told)
{
    const kept_column_t *after = &now->columns[column];
    uint32_t last_run = BP_NONE, there = 0;
    k = place_then(d->before.world, m->type, &m->columns[k]);
    if (k == BP_NONE)
        return; /* the field has come since, or is of another type now */
    for (uint32_t row = 0; row < now->count; row++) {
        bp_entity_t e = entity_at(now, row);
        uint32_t was_row;
        const kept_run_t *was = e.id == 0 ? NULL : find(&d->before, e, &was_row);
        if (was == NULL)
            continue;
        uint32_t number = (uint32_t)(was - d->before.world->runs);
        if (number != last_run) {
            there = first_column(d->before.world, was, name, m->type);
            last_run = number;
        }
        if (there == 0 || there + k >= was->column_count || !same_field(was->columns[there + k].field, after->field))
            continue;
        size_t a_size, b_size;
        const kept_column_t *before = &was->columns[there + k];
        const char *a = cell_of(before, was_row, &a_size), *b = cell_of(after, row, &b_size);
        if (a_size == b_size && memcmp(a, b, a_size) == 0)
            continue;
        tell_cell(d, told, before, a, a_size, after, b, b_size, e);
    }
}

/* A column of a key that is the same bytes for the same entities needs no look at its cells. In another host keys and
 * prototypes may have other numbers. */
static bool same_bytes(const diffing_t *d, const kept_run_t *now, uint32_t run, uint32_t first, uint32_t column,
                       bp_name_t name, const char *type)
{
    if (run >= d->before.world->run_count)
        return false;
    const kept_run_t *was = &d->before.world->runs[run];
    return first_column(d->before.world, was, name, type) == first && was->count == now->count &&
           was->column_count == now->column_count &&
           was->columns[column].size == now->columns[column].size &&
           memcmp(was->columns[0].data, now->columns[0].data, (size_t)now->columns[0].size) == 0 &&
           memcmp(was->columns[column].data, now->columns[column].data, (size_t)now->columns[column].size) == 0 &&
           same_field(was->columns[column].field, now->columns[column].field);
}

/* Differences of a field in runs that have the same entities in the same rows. */
static void diff_aligned(diffing_t *d, uint32_t key, const kept_manager_t *m, uint32_t k, bp_diff_field_t *told)
{
    const kept_world_t *now = d->after.world, *then = d->before.world;
    uint32_t was = place_then(then, m->type, &m->columns[k]);
    for (uint32_t i = d->having_of[key]; i < d->having_of[key + 1] && was != BP_NONE; i++) {
        uint32_t r = d->having[i].run, first = d->having[i].first;
        const kept_column_t *before = &then->runs[r].columns[first + was], *after = &now->runs[r].columns[first + k];
        if (before->size != after->size || memcmp(before->data, after->data, (size_t)after->size) != 0)
            diff_column(d, &now->runs[r], before, after, told);
    }
}

static void diff_key(diffing_t *d, uint32_t number)
{
    const kept_world_t *w = d->after.world;
    const kept_key_t *key = &w->keys[number];
    const kept_manager_t *m = &w->managers[key->manager];
    const char *component = names_text(&d->base->names, key->name);
    for (uint32_t k = 0; m->started != 0 && k < m->column_count && !m->own_storage; k++) {
        bp_diff_field_t told = {.world = w->name, .component = component, .field = m->columns[k].name};
        if (d->aligned)
            diff_aligned(d, number, m, k, &told);
        for (uint32_t i = d->having_of[number]; i < d->having_of[number + 1] && !d->aligned; i++) {
            uint32_t r = d->having[i].run, first = d->having[i].first;
            if (!same_bytes(d, &w->runs[r], r, first, first + k, key->name, m->type))
                diff_cells(d, &w->runs[r], first + k, key->name, m, k, &told);
        }
        d->told += told.count;
        if (told.count > 0 && d->sink->field != NULL)
            d->sink->field(d->sink->context, &told);
    }
}

/* --- entities that are on one side only
 * ------------------------------------------------------------------------------------------------- */

static void list_keys(const diffing_t *d, const side_t *have, const kept_run_t *run, const side_t *lack,
                      const kept_run_t *other, const char *what, text_t *text)
{
    for (uint32_t at = run->prototype; at != 0; at = have->world->prototypes[at].base) {
        const kept_key_t *key = &have->world->keys[have->world->prototypes[at].key];
        const char *type = have->world->managers[key->manager].type;
        if (first_column(lack->world, other, key->name, type) == 0)
            text_append(text, "%s%s %s", text->length > 0 ? ", " : "", what, names_text(&d->base->names, key->name));
    }
}

static void diff_entities(diffing_t *d)
{
    uint32_t row, told = 0;
    for (uint32_t side = 0; side < 2; side++) {
        const side_t *have = side == 0 ? &d->before : &d->after, *lack = side == 0 ? &d->after : &d->before;
        for (uint32_t r = 0; r < have->world->run_count; r++) {
            const kept_run_t *run = &have->world->runs[r];
            for (uint32_t i = 0; i < run->count; i++) {
                bp_entity_t e = entity_at(run, i);
                const kept_run_t *other = e.id == 0 ? NULL : find(lack, e, &row);
                text_t text = {.length = 0};
                text.chars[0] = '\0';
                if (e.id == 0 || (other != NULL && side == 0))
                    continue;
                if (other == NULL)
                    text_append(&text, side == 0 ? "is not there any more" : "has come");
                else {
                    list_keys(d, have, run, lack, other, "with", &text);
                    list_keys(d, lack, other, have, run, "without", &text);
                }
                if (text.length > 0 && told++ < d->sink->most)
                    structure(d, e, text.chars);
            }
        }
    }
    if (told > d->sink->most) {
        text_t text = {.length = 0};
        text_append(&text, "and %u entities more that came, went or have other components", told - d->sink->most);
        structure(d, (bp_entity_t){0}, text.chars);
    }
}

static bool has_bytes(const kept_state_t *state)
{
    return state->road == BP_KEEP_PLAIN || state->road == BP_KEEP_SAVED;
}

static bool same_state(const kept_state_t *a, const kept_state_t *b)
{
    return a->road == b->road &&
           (!has_bytes(a) || (a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, (size_t)a->size) == 0)));
}

static const kept_manager_t *manager_like(const kept_world_t *w, const char *type)
{
    uint32_t i = 0;
    while (i < w->manager_count && !is_manager_of(&w->managers[i], type))
        i++;
    return i < w->manager_count ? &w->managers[i] : NULL;
}

static const kept_unit_t *unit_like(const kept_world_t *w, const kept_unit_t *unit)
{
    uint32_t i = 0;
    while (i < w->unit_count &&
           (w->units[i].is_system != unit->is_system || strcmp(w->units[i].name, unit->name) != 0))
        i++;
    return i < w->unit_count ? &w->units[i] : NULL;
}

/* A sentence about something with a name, in the place of %s. */
static void tell_named(diffing_t *d, const char *sentence, const char *name)
{
    text_t text = {.length = 0};
    const char *place = strstr(sentence, "%s");
    text.chars[0] = '\0';
    text_append(&text, "%.*s%s%s", (int)(place - sentence), sentence, name, place + 2);
    structure(d, (bp_entity_t){0}, text.chars);
}

static void tell_state(diffing_t *d, const char *type)
{
    tell_named(d, "the state of component %s differs", type);
}

/* Components and systems that only one of the two has. Components with columns show by their fields (diff_fields). */
static void diff_parts(diffing_t *d, const kept_world_t *have, const kept_world_t *lack, const char *component,
                       const char *system)
{
    for (uint32_t i = 0; i < have->manager_count; i++) {
        const kept_manager_t *m = &have->managers[i];
        if (m->started && (m->own_storage || m->column_count == 0) && manager_like(lack, m->type) == NULL)
            tell_named(d, component, m->type);
    }
    for (uint32_t i = 0; i < have->unit_count; i++) {
        const kept_unit_t *unit = &have->units[i];
        if (unit->is_system && unit_like(lack, unit) == NULL)
            tell_named(d, system, unit->name);
    }
}

static const kept_channel_t *channel_like(const kept_world_t *w, const char *name)
{
    uint32_t i = 0;
    while (i < w->channel_count && strcmp(w->channels[i].name, name) != 0)
        i++;
    return i < w->channel_count ? &w->channels[i] : NULL;
}

/* The messages that the next step reads. `lack` may have a channel with none of them, or no such channel. */
static void diff_channels(diffing_t *d, const kept_world_t *have, const kept_world_t *lack, bool all)
{
    for (uint32_t i = 0; i < have->channel_count; i++) {
        const kept_channel_t *is = &have->channels[i], *was = channel_like(lack, is->name);
        uint32_t count = was == NULL ? 0 : was->count;
        bool same = count == is->count && (count == 0 || (was->size == is->size &&
                    memcmp(was->records, is->records, (size_t)count * is->size) == 0));
        if (!same && (all || was == NULL))
            tell_named(d, "the messages of channel %s differ", is->name);
    }
}

/* Of two hosts, managers and units may have other numbers. */
static void diff_states(diffing_t *d)
{
    const kept_world_t *a = d->before.world, *b = d->after.world;
    for (uint32_t i = 0; i < b->manager_count; i++) {
        const kept_manager_t *is = &b->managers[i], *was = manager_like(a, is->type);
        if (is->started && was != NULL && !same_state(&was->state, &is->state))
            tell_state(d, is->type);
    }
    for (uint32_t i = 0; i < a->manager_count; i++) {
        const kept_manager_t *was = &a->managers[i];
        if (was->started && has_bytes(&was->state) && manager_like(b, was->type) == NULL)
            tell_state(d, was->type);
    }
    for (uint32_t i = 0; i < b->unit_count; i++) {
        const kept_unit_t *was = unit_like(a, &b->units[i]);
        if (was != NULL && !same_state(&was->state, &b->units[i].state))
            tell_named(d, "the state of system %s differs", b->units[i].name);
    }
    diff_channels(d, b, a, true);
    diff_channels(d, a, b, false);
    if (a->random != b->random)
        structure(d, (bp_entity_t){0}, "the random numbers of collection differ");
}

/* Fields that only one of the two has: of another version of a plugin. */
static void diff_fields(diffing_t *d, const kept_world_t *have, const kept_world_t *lack, const char *what)
{
    for (uint32_t i = 0; i < have->manager_count; i++) {
        const kept_manager_t *m = &have->managers[i];
        for (uint32_t k = 0; m->started && !m->own_storage && k < m->column_count; k++) {
            text_t text = {.length = 0};
            if (place_then(lack, m->type, &m->columns[k]) != BP_NONE)
                continue;
            text_append(&text, "field %s.%s %s", m->type, m->columns[k].name, what);
            structure(d, (bp_entity_t){0}, text.chars);
        }
    }
}

/* What is no row, value, state or message, and told only where nothing else is: later steps show it. */
static void diff_rest(diffing_t *d, uint32_t a, uint32_t b)
{
    const kept_world_t *was = d->before.world, *is = d->after.world;
    text_t text = {.length = 0};
    if (d->sink->structure == NULL ||
        snapshot_hash_world(d->before.snapshot, a) == snapshot_hash_world(d->after.snapshot, b))
        return;
    text_append(&text, "the clock: step %" PRIu64 ", time %.9g, rate %.9g; and was step %" PRIu64
                ", time %.9g, rate %.9g", is->steps, is->time, is->step_rate, was->steps, was->time, was->step_rate);
    bool clock = was->steps == is->steps && memcmp(&was->time, &is->time, sizeof is->time) == 0 &&
                 memcmp(&was->step_rate, &is->step_rate, sizeof is->step_rate) == 0;
    structure(d, (bp_entity_t){0}, clock ? "components, names of components, units or rows are in another order"
                                         : text.chars);
}

static void diff_world(diffing_t *d, memory_t *memory)
{
    d->aligned = are_aligned(d->before.world, d->after.world);
    d->no_memory = !find_having(d, memory) ||
                   (!d->aligned && (!find_places(&d->before, memory) || !find_places(&d->after, memory)));
    if (!d->no_memory) {
        if (!d->aligned)
            diff_entities(d);
        diff_fields(d, d->before.world, d->after.world, "is not there any more, or of another type");
        diff_fields(d, d->after.world, d->before.world, "has come, or is of another type");
        for (uint32_t i = 0; i < d->after.world->key_count; i++)
            diff_key(d, i);
        diff_parts(d, d->before.world, d->after.world, "component %s is not there any more",
                   "system %s is not there any more");
        diff_parts(d, d->after.world, d->before.world, "component %s has come", "system %s has come");
        diff_states(d);
    }
    if (!d->no_memory && !d->aligned) {
        put_places(&d->before, false);
        put_places(&d->after, false);
    }
    free_having(d, memory);
}

static uint32_t find_world(const snapshot_t *snapshot, const char *name)
{
    uint32_t i = 0;
    while (i < snapshot->world_count && strcmp(snapshot->worlds[i].name, name) != 0)
        i++;
    return i < snapshot->world_count ? i : BP_NONE;
}

static const kept_plugin_t *plugin_like(const snapshot_t *snapshot, const char *name)
{
    uint32_t i = 0;
    while (i < snapshot->plugin_count && strcmp(snapshot->plugins[i].name, name) != 0)
        i++;
    return i < snapshot->plugin_count ? &snapshot->plugins[i] : NULL;
}

/* What belongs to no world. */
static void diff_host(diffing_t *d)
{
    const snapshot_t *a = d->before.snapshot, *b = d->after.snapshot;
    d->before.world = d->after.world = NULL;
    for (uint32_t i = 0; i < b->plugin_count; i++) {
        const kept_plugin_t *was = plugin_like(a, b->plugins[i].name);
        if (was == NULL)
            tell_named(d, "plugin %s has come", b->plugins[i].name);
        else if (!same_state(&was->state, &b->plugins[i].state))
            tell_named(d, "the state of plugin %s differs", b->plugins[i].name);
    }
    for (uint32_t i = 0; i < a->plugin_count; i++) {
        if (plugin_like(b, a->plugins[i].name) == NULL)
            tell_named(d, "plugin %s is not there any more", a->plugins[i].name);
    }
    if (d->told == 0 && d->sink->structure != NULL && snapshot_hash(a) != snapshot_hash(b))
        structure(d, (bp_entity_t){0}, "entities without components, or the ids that new entities get, differ");
}

bool snapshot_diff(const base_t *base, const snapshot_t *a, const snapshot_t *b, const bp_diff_i *sink)
{
    diffing_t d = {.base = base, .sink = sink, .before = {a, NULL, NULL}, .after = {b, NULL, NULL}};
    memory_t *memory = (memory_t *)(uintptr_t)&base->memory;
    for (uint32_t i = 0; i < b->world_count && !d.no_memory; i++) {
        uint32_t was = find_world(a, b->worlds[i].name);
        uint64_t told = d.told;
        d.after.world = &b->worlds[i];
        d.before.world = was == BP_NONE ? NULL : &a->worlds[was];
        if (was == BP_NONE)
            structure(&d, (bp_entity_t){0}, "the world is new");
        else
            diff_world(&d, memory);
        if (d.told == told && !d.no_memory)
            diff_rest(&d, was, i);
    }
    for (uint32_t i = 0; i < a->world_count && !d.no_memory; i++) {
        d.before.world = &a->worlds[i];
        d.after.world = NULL;
        if (find_world(b, a->worlds[i].name) == BP_NONE)
            structure(&d, (bp_entity_t){0}, "the world is not there any more");
    }
    free_places(&d.before, memory);
    free_places(&d.after, memory);
    if (!d.no_memory)
        diff_host(&d);
    return !d.no_memory;
}
