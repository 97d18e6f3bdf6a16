/* snapshot_read.c - a block read into tables, with every number in it checked.
 *
 * Tables are allocated from chunks that are freed together. A count is accepted only where so many items fit into the
 * rest of the block, so that damage never asks for more memory than a few times the block.
 */
#include "snapshot.h"

#include <stdlib.h>

typedef struct arena_chunk_t {
    struct arena_chunk_t *next;
    size_t size, used;
} arena_chunk_t;

typedef struct opening_t {
    snapshot_t *snapshot;
    reader_t reader;
    const cut_t *cut; /* that parts lie in; NULL: there are none */
    bool own;         /* bytes of this process: numbers are not checked */
    uint64_t *seen;   /* check_rows: a bit for each index, all 0 between two worlds */
    bool in_place;    /* large columns lie elsewhere */
    bool no_memory;
} opening_t;

enum { CHUNK = 16384 };

static void *table(opening_t *o, size_t count, size_t size)
{
    snapshot_t *s = o->snapshot;
    size_t bytes = (count * size + 15) / 16 * 16, head = (sizeof(arena_chunk_t) + 15) / 16 * 16;
    if (s->arena == NULL || s->arena->size - s->arena->used < bytes) {
        size_t room = bytes + head > CHUNK ? bytes + head : CHUNK;
        arena_chunk_t *chunk = memory_new(s->memory, room);
        if (chunk == NULL) {
            o->no_memory = o->reader.failed = true;
            return NULL;
        }
        *chunk = (arena_chunk_t){s->arena, room, head};
        s->arena = chunk;
    }
    void *items = (char *)s->arena + s->arena->used;
    s->arena->used += bytes;
    return items;
}

void snapshot_close(snapshot_t *snapshot)
{
    for (arena_chunk_t *chunk = snapshot->arena, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        memory_free(snapshot->memory, chunk, chunk->size);
    }
    memset(snapshot, 0, sizeof *snapshot);
}

/* Mark the block as damaged where a number is wrong that is used as an index or a size. */
static void expect(opening_t *o, bool right)
{
    o->reader.failed = o->reader.failed || !right;
}

/* --- what lies in pieces ------------------------------------------------------------------------------------------ */

/* The part that comes in place of so many bytes; NULL: the bytes come here. */
static const part_t *part_of(opening_t *o, uint64_t size)
{
    uint64_t number = size & ~SNAPSHOT_PART;
    if ((size & SNAPSHOT_PART) == 0)
        return NULL;
    expect(o, o->cut != NULL && number < o->cut->part_count);
    return o->reader.failed ? NULL : &o->cut->parts[number];
}

/* The bytes of a part, in one block. */
static const void *assemble(opening_t *o, const part_t *part)
{
    void *block = table(o, (size_t)part->size + 1, 1);
    if (block != NULL)
        part_copy(o->cut, part, block);
    return block;
}

/* So many bytes, which in a keyframe may lie in pieces. */
static const void *take_block(opening_t *o, uint64_t size)
{
    if (o->in_place)
        return (const void *)(uintptr_t)reader_u64(&o->reader);
    const part_t *part = o->cut == NULL ? NULL : part_of(o, reader_u64(&o->reader));
    if (part == NULL)
        return reader_take(&o->reader, size);
    expect(o, part->size == size);
    return o->reader.failed ? NULL : assemble(o, part);
}

/* --- parts -------------------------------------------------------------------------------------------------------- */

static double read_double(reader_t *r)
{
    double number = 0;
    const void *at = reader_take(r, sizeof number);
    if (at != NULL)
        memcpy(&number, at, sizeof number);
    return number;
}

static void read_state(opening_t *o, kept_state_t *state)
{
    reader_t *r = &o->reader;
    state->road = reader_u32(r);
    state->present = reader_u32(r);
    reader_align(r, 8);
    state->size = reader_u64(r);
    reader_align(r, 16);
    const part_t *part = part_of(o, state->size);
    state->size = part != NULL ? part->size : state->size;
    state->data = part != NULL ? assemble(o, part) : reader_take(r, state->size);
    expect(o, state->road != BP_KEEP_UNSAID && state->road <= BP_KEEP_SAVED);
}

static bool is_parked_free(uint32_t life)
{
    return (life & 1) != 0 && entities_is_parked(life);
}

/* May an index with this life wait in a queue? */
static bool waits(uint32_t life)
{
    return (life & 1) != 0 && !entities_is_parked(life);
}

/* Pages that were given up reach from the bound, which lies between two pages then, to the last page ever used. */
static void expect_floors(opening_t *o)
{
    const snapshot_t *s = o->snapshot;
    uint32_t in_use = s->bound / ENTITIES_PAGE;
    expect(o, s->parked_count <= s->bound && s->reached <= ENTITIES_MAX / ENTITIES_PAGE + 1);
    expect(o, s->floor_count == (s->reached > in_use ? s->reached - in_use : 0) &&
                  (s->floor_count == 0 || s->bound % ENTITIES_PAGE == 0));
    for (uint32_t i = 0; !o->reader.failed && i < s->floor_count; i++)
        expect(o, (s->floors[i] & 1) == 0 && s->floors[i] < 2u * ENTITY_MAX_LIFE);
}

static void read_entities(opening_t *o)
{
    snapshot_t *s = o->snapshot;
    reader_t *r = &o->reader;
    s->entity_base = reader_u32(r);
    s->bound = reader_u32(r);
    s->living = reader_u32(r);
    s->queue_count = reader_u32(r);
    reader_align(r, 16);
    s->lives = take_block(o, (uint64_t)s->bound * sizeof *s->lives);
    s->queue = reader_take(r, (uint64_t)s->queue_count * sizeof *s->queue);
    s->parked_count = reader_u32(r);
    s->reached = reader_u32(r);
    s->floor_count = reader_u32(r);
    s->floors = reader_take(r, (uint64_t)s->floor_count * sizeof *s->floors);
    expect(o, s->entity_base % (1u << ENTITY_COUNTER_BITS) == 0);
    expect(o, s->queue_count <= s->bound);
    expect_floors(o);
    if (o->own)
        return;
    uint32_t living = 0, parked = 0;
    for (uint32_t i = 0; !r->failed && i < s->bound; i++) {
        living += (s->lives[i] & 1) == 0;
        parked += is_parked_free(s->lives[i]);
    }
    expect(o, living == s->living && parked == s->parked_count);
    for (uint32_t i = 0; !r->failed && i < s->queue_count; i++)
        expect(o, s->queue[i] < s->bound && waits(s->lives[s->queue[i]]));
}

/* An index is given out from one place: `seen` has a bit for each. */
static void expect_once(opening_t *o, uint64_t *seen, uint32_t index)
{
    if (o->reader.failed)
        return;
    expect(o, (seen[index / 64] >> index % 64 & 1) == 0);
    seen[index / 64] |= UINT64_C(1) << index % 64;
}

/* Free indices of a pool lie in its own pages. */
static void check_pooled(opening_t *o, uint64_t *seen, uint32_t index, uint32_t owner)
{
    const snapshot_t *s = o->snapshot;
    expect(o, index < s->bound && index / ENTITIES_PAGE < s->owner_count &&
                  s->owners[index / ENTITIES_PAGE] == owner && waits(s->lives[index]));
    expect_once(o, seen, index);
}

static void read_pools(opening_t *o)
{
    snapshot_t *s = o->snapshot;
    reader_t *r = &o->reader;
    uint64_t *seen = o->own ? NULL : table(o, s->bound / 64u + 1u, sizeof *seen);
    for (uint32_t i = 0; i < s->queue_count && !o->own && !r->failed; i++)
        expect_once(o, seen, s->queue[i]);
    uint64_t free = s->queue_count;
    s->owner_count = reader_u32(r);
    s->owners = reader_take(r, (uint64_t)s->owner_count * sizeof *s->owners);
    s->pool_count = reader_count(r, 12);
    s->pools = table(o, s->pool_count, sizeof *s->pools);
    expect(o, s->owner_count <= (s->bound + (uint64_t)ENTITIES_PAGE - 1) / ENTITIES_PAGE);
    for (uint32_t i = 0; i < s->owner_count && !r->failed; i++)
        expect(o, s->owners[i] <= s->pool_count);
    for (uint32_t i = 0; i < s->pool_count && !r->failed; i++) {
        kept_pool_t *pool = &s->pools[i];
        pool->fresh = reader_u32(r);
        pool->fresh_end = reader_u32(r);
        pool->count = reader_u32(r);
        pool->free = reader_take(r, (uint64_t)pool->count * sizeof *pool->free);
        expect(o, pool->fresh <= pool->fresh_end && pool->fresh_end <= s->bound && pool->count <= s->bound);
        for (uint32_t k = 0; !o->own && !r->failed && k < pool->count; k++)
            check_pooled(o, seen, pool->free[k], i + 1);
        for (uint32_t k = pool->fresh; !o->own && !r->failed && k < pool->fresh_end; k++)
            check_pooled(o, seen, k, i + 1);
        free += (uint64_t)pool->count + (pool->fresh_end - pool->fresh);
    }
    for (uint32_t i = 0; !r->failed && i < s->queue_count; i++)
        expect(o, s->queue[i] / ENTITIES_PAGE >= s->owner_count || s->owners[s->queue[i] / ENTITIES_PAGE] == 0);
    expect(o, free + s->living + s->parked_count <= s->bound);
}

static void read_spawns(opening_t *o)
{
    snapshot_t *s = o->snapshot;
    reader_t *r = &o->reader;
    s->spawn_count = reader_count(r, 16);
    s->first_free_spawn = reader_u32(r);
    s->spawns = table(o, s->spawn_count, sizeof *s->spawns);
    for (uint32_t i = 0; i < s->spawn_count && !r->failed; i++) {
        kept_spawn_t *spawn = &s->spawns[i];
        spawn->present = reader_u32(r);
        spawn->count = reader_u32(r);
        spawn->generation = reader_u32(r);
        spawn->next_free = reader_u32(r);
        reader_align(r, 8);
        spawn->entities = reader_take(r, (uint64_t)spawn->count * sizeof *spawn->entities);
        expect(o, spawn->next_free == BP_NONE || spawn->next_free < s->spawn_count);
    }
    uint32_t at = s->first_free_spawn, free = 0;
    while (at != BP_NONE && !r->failed) {
        expect(o, at < s->spawn_count && s->spawns[at].present == 0 && free++ < s->spawn_count);
        at = r->failed ? BP_NONE : s->spawns[at].next_free;
    }
}

static void read_plugins(opening_t *o)
{
    snapshot_t *s = o->snapshot;
    reader_t *r = &o->reader;
    s->plugin_count = reader_count(r, 32);
    s->plugins = table(o, s->plugin_count, sizeof *s->plugins);
    for (uint32_t i = 0; i < s->plugin_count && !r->failed; i++) {
        s->plugins[i].name = reader_text(r);
        s->plugins[i].version = reader_text(r);
        s->plugins[i].form = reader_u64(r);
        read_state(o, &s->plugins[i].state);
    }
}

/* --- worlds ------------------------------------------------------------------------------------------------------- */

static void read_field(opening_t *o, kept_field_t *field)
{
    reader_t *r = &o->reader;
    field->name = reader_text(r);
    field->type = reader_u32(r);
    field->size = reader_u32(r);
    field->elements = reader_u32(r);
    field->flags = reader_u32(r);
    expect(o, field->type != BP_TYPE_NONE && field->type < BP_TYPE_COUNT && field->size > 0);
    uint32_t item = r->failed ? 0 : value_size(field->type);
    bool list = (field->flags & BP_FIELD_LIST) != 0;
    expect(o, list ? field->size == sizeof(bp_list_t)
                   : field->size == (uint64_t)item * (field->elements > 0 ? field->elements : 1));
}

static void read_managers(opening_t *o, kept_world_t *w)
{
    reader_t *r = &o->reader;
    w->manager_count = reader_count(r, 40);
    w->managers = table(o, w->manager_count, sizeof *w->managers);
    for (uint32_t i = 0; i < w->manager_count && !r->failed; i++) {
        kept_manager_t *m = &w->managers[i];
        m->type = reader_text(r);
        m->started = reader_u32(r);
        m->own_storage = reader_u32(r);
        m->version = reader_u32(r);
        m->form = reader_u64(r);
        m->column_count = reader_count(r, 21);
        m->columns = table(o, m->column_count, sizeof *m->columns);
        for (uint32_t c = 0; c < m->column_count && !r->failed; c++)
            read_field(o, &m->columns[c]);
        read_state(o, &m->state);
    }
}

static void read_prototypes(opening_t *o, kept_world_t *w)
{
    reader_t *r = &o->reader;
    w->key_count = reader_count(r, sizeof *w->keys);
    w->keys = table(o, w->key_count, sizeof *w->keys);
    for (uint32_t i = 0; i < w->key_count && !r->failed; i++) {
        w->keys[i].name = reader_u64(r);
        w->keys[i].manager = reader_u32(r);
        reader_u32(r);
        expect(o, w->keys[i].manager < w->manager_count);
    }
    w->prototype_count = reader_u32(r);
    expect(o, w->prototype_count > 0 && (uint64_t)(w->prototype_count - 1u) * 8 <= reader_left(r));
    if (r->failed)
        return;
    w->prototypes = table(o, w->prototype_count, sizeof *w->prototypes);
    w->prototype_columns = table(o, w->prototype_count, sizeof *w->prototype_columns);
    w->prototype_keys = table(o, w->prototype_count, sizeof *w->prototype_keys);
    if (r->failed)
        return;
    w->prototype_columns[0] = 1;
    for (uint32_t i = 1; i < w->prototype_count && !r->failed; i++) {
        uint32_t base = reader_u32(r), key = reader_u32(r);
        expect(o, base < i && key < w->key_count && (base == 0 || w->prototypes[base].key < key));
        if (r->failed)
            return;
        w->prototypes[i] = (kept_prototype_t){base, key};
        w->prototype_columns[i] = w->prototype_columns[base] + w->managers[w->keys[key].manager].column_count;
        w->prototype_keys[i] = w->prototype_keys[base] + 1;
        expect(o, w->prototype_columns[i] <= PROTOTYPES_MAX_COLUMNS && w->prototype_keys[i] <= PROTOTYPES_MAX_KEYS);
    }
}

/* Cells that are written one by one: do they end where the column ends? */
static void check_counted(opening_t *o, const kept_column_t *column, uint32_t count)
{
    const kept_field_t *field = column->field;
    reader_t r = reader_of(column->data, (size_t)column->size);
    bool list = (field->flags & BP_FIELD_LIST) != 0;
    uint32_t size = value_size(field->type);
    for (uint32_t i = 0; i < count && !r.failed; i++) {
        uint32_t items = field->elements > 0 ? field->elements : 1;
        if (list)
            items = reader_u32(&r);
        if (field->type != BP_STRING)
            reader_take(&r, (uint64_t)items * size);
        for (uint32_t k = 0; field->type == BP_STRING && k < items && !r.failed; k++)
            reader_text(&r);
    }
    expect(o, !r.failed && r.at == r.end);
}

static void read_columns(opening_t *o, const kept_world_t *w, kept_run_t *run)
{
    reader_t *r = &o->reader;
    for (uint32_t c = 0; c < run->column_count && !r->failed; c++) {
        reader_align(r, 16);
        uint64_t size = reader_u64(r);
        reader_align(r, 16);
        run->columns[c].part = part_of(o, size);
        if (run->columns[c].part != NULL) {
            run->columns[c].size = run->columns[c].part->size;
            run->columns[c].cut = o->cut;
            continue;
        }
        if ((size & SNAPSHOT_IN_PLACE) != 0) {
            expect(o, o->in_place);
            run->columns[c].size = size & ~SNAPSHOT_IN_PLACE;
            run->columns[c].data = (const char *)(uintptr_t)reader_u64(r);
            continue;
        }
        uint64_t padding = 8; /* the 8 bytes of the length are followed by 8 of padding, which the length counts */
        expect(o, size >= padding);
        run->columns[c].size = size - padding;
        run->columns[c].data = reader_take(r, size - padding);
    }
    if (r->failed)
        return;
    run->columns[0].field = NULL;
    expect(o, run->columns[0].size == (uint64_t)run->count * sizeof(bp_entity_t));
    for (uint32_t at = run->prototype; at != 0 && !r->failed; at = w->prototypes[at].base) {
        const kept_manager_t *m = &w->managers[w->keys[w->prototypes[at].key].manager];
        uint32_t first = w->prototype_columns[w->prototypes[at].base];
        expect(o, m->started != 0 || run->count == 0); /* no entity has a component that is gone */
        for (uint32_t k = 0; k < m->column_count && !r->failed; k++) {
            kept_column_t *column = &run->columns[first + k];
            column->field = &m->columns[k];
            column->counted = column->field->type == BP_STRING || (column->field->flags & BP_FIELD_LIST) != 0;
            if (column->counted && column->part != NULL) {
                column->data = assemble(o, column->part);
                column->part = NULL;
            }
            if (column->counted && !o->own)
                check_counted(o, column, run->count);
            if (!column->counted)
                expect(o, column->size == (uint64_t)run->count * column->field->size);
        }
    }
}

/* The rows of living entities, each in one row of the world. */
static void check_rows(opening_t *o, kept_world_t *w, const kept_run_t *run)
{
    const snapshot_t *s = o->snapshot;
    uint32_t holes = 0;
    for (uint32_t row = 0; row < run->count && !o->reader.failed; row++) {
        bp_entity_t e;
        memcpy(&e, run->columns[0].data + row * sizeof e, sizeof e);
        if (e.id == 0) {
            holes++;
            expect(o, row + 1 < run->count);
            continue;
        }
        uint32_t index = bp_entity_index(e);
        expect(o, index < s->bound && s->lives[index] + 1 + s->entity_base == bp_entity_generation(e) &&
                      (s->lives[index] & 1) == 0 && (o->seen[index / 64] >> index % 64 & 1) == 0);
        if (o->reader.failed)
            return;
        o->seen[index / 64] |= UINT64_C(1) << index % 64;
        w->occupied++;
    }
    expect(o, holes == run->holes);
}

/* The next world may have the same entities. Only what is set is taken back: of a thousand worlds each has few. */
static void forget_rows(opening_t *o, const kept_world_t *w)
{
    for (uint32_t i = 0; i < w->run_count; i++) {
        for (uint32_t row = 0; row < w->runs[i].count; row++) {
            bp_entity_t e;
            memcpy(&e, w->runs[i].columns[0].data + row * sizeof e, sizeof e);
            o->seen[bp_entity_index(e) / 64] = 0;
        }
    }
}

static void read_runs(opening_t *o, kept_world_t *w)
{
    reader_t *r = &o->reader;
    w->run_count = reader_count(r, 48);
    w->runs = table(o, w->run_count, sizeof *w->runs);
    if (o->seen == NULL && !o->own)
        o->seen = table(o, o->snapshot->bound / 64u + 1u, sizeof *o->seen);
    uint64_t *of_prototype = table(o, w->prototype_count / 64u + 1u, sizeof *of_prototype);
    for (uint32_t i = 0; i < w->run_count && !r->failed; i++) {
        kept_run_t *run = &w->runs[i];
        run->prototype = reader_u32(r);
        run->count = reader_u32(r);
        run->holes = reader_u32(r);
        run->signature = reader_u32(r);
        for (uint32_t k = 0; k < RUN_RATES; k++)
            run->left[k] = reader_u32(r);
        expect(o, run->prototype > 0 && run->prototype < w->prototype_count &&
                      (of_prototype[run->prototype / 64] >> run->prototype % 64 & 1) == 0);
        if (r->failed)
            return;
        of_prototype[run->prototype / 64] |= UINT64_C(1) << run->prototype % 64;
        run->column_count = w->prototype_columns[run->prototype];
        expect(o, (uint64_t)run->column_count * 16 <= reader_left(r) && run->count <= UINT32_MAX / 2);
        run->columns = r->failed ? NULL : table(o, run->column_count, sizeof *run->columns);
        read_columns(o, w, run);
        if (!r->failed && !o->own)
            check_rows(o, w, run);
    }
    if (!r->failed && !o->own)
        forget_rows(o, w);
}

static void read_holed(opening_t *o, kept_world_t *w)
{
    reader_t *r = &o->reader;
    uint32_t occupied = reader_u32(r);
    expect(o, o->own || occupied == w->occupied);
    w->occupied = occupied;
    w->holed_next = reader_u32(r);
    w->holed_lost = reader_u32(r);
    w->holed_count = reader_count(r, sizeof *w->holed);
    const void *holed = reader_take(r, (uint64_t)w->holed_count * sizeof *w->holed);
    uint32_t *copy = table(o, w->holed_count + 1u, sizeof *copy); /* in the block they need not be aligned */
    if (!r->failed && w->holed_count > 0)
        memcpy(copy, holed, (size_t)w->holed_count * sizeof *copy);
    w->holed = copy;
    uint64_t *seen = table(o, w->run_count / 64u + 1u, sizeof *seen);
    for (uint32_t i = 0; i < w->holed_count && !r->failed; i++) {
        uint32_t run = w->holed[i];
        expect(o, run < w->run_count && (seen[run / 64] >> run % 64 & 1) == 0);
        if (!r->failed)
            seen[run / 64] |= UINT64_C(1) << run % 64;
    }
}

static void read_units(opening_t *o, kept_world_t *w)
{
    reader_t *r = &o->reader;
    w->unit_count = reader_count(r, 40);
    w->units = table(o, w->unit_count, sizeof *w->units);
    for (uint32_t i = 0; i < w->unit_count && !r->failed; i++) {
        kept_unit_t *unit = &w->units[i];
        unit->name = reader_text(r);
        unit->is_system = reader_u32(r);
        unit->told = reader_u32(r);
        unit->subscription = reader_u32(r);
        unit->form = reader_u64(r);
        read_state(o, &unit->state);
    }
}

static void read_commands(opening_t *o, kept_world_t *w)
{
    reader_t *r = &o->reader;
    w->made_step = reader_u64(r);
    w->failures = reader_u64(r);
    w->call_count = reader_u32(r);
    w->created_count = reader_u32(r);
    w->calls = reader_take(r, (uint64_t)w->call_count * sizeof *w->calls);
    reader_align(r, 8);
    w->created = reader_take(r, (uint64_t)w->created_count * sizeof *w->created);
    for (uint32_t i = 0; i < w->call_count && !r->failed; i++) {
        commands_created_t call;
        memcpy(&call, (const char *)w->calls + i * sizeof call, sizeof call);
        expect(o, (uint64_t)call.first + call.count <= w->created_count);
    }
}

static void read_channel(opening_t *o, kept_channel_t *channel)
{
    reader_t *r = &o->reader;
    channel->name = reader_text(r);
    channel->size = reader_u32(r);
    channel->field_count = reader_u32(r);
    channel->count = reader_u32(r);
    expect(o, channel->field_count <= BP_MESSAGE_MOST_FIELDS && (channel->size > 0 || channel->count == 0));
    channel->fields = r->failed ? NULL : table(o, channel->field_count, sizeof *channel->fields);
    for (uint32_t i = 0; i < channel->field_count && !r->failed; i++) {
        message_field_t *field = &channel->fields[i];
        const char *name = reader_text(r);
        field->type = reader_u32(r);
        field->count = reader_u32(r);
        field->offset = reader_u32(r);
        expect(o, !r->failed && names_is_word(name) && value_size(field->type) > 0 && field->type != BP_STRING &&
                      field->count > 0 && field->count <= 65536);
        if (!r->failed)
            snprintf(field->name, sizeof field->name, "%s", name);
        expect(o, r->failed || (uint64_t)field->offset + message_field_size(field) <= channel->size);
    }
    reader_align(r, 8);
    channel->records = reader_take(r, (uint64_t)channel->count * channel->size);
    expect(o, !r->failed && names_is_word(channel->name));
}

static int ascending(const void *a, const void *b)
{
    bp_name_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void read_messages(opening_t *o, kept_world_t *w)
{
    w->channel_count = reader_count(&o->reader, 4 * sizeof(uint32_t));
    w->channels = o->reader.failed ? NULL : table(o, w->channel_count, sizeof *w->channels);
    bp_name_t *names = o->reader.failed ? NULL : table(o, w->channel_count, sizeof *names);
    for (uint32_t i = 0; i < w->channel_count && !o->reader.failed; i++) {
        read_channel(o, &w->channels[i]);
        if (!o->reader.failed)
            names[i] = names_hash(w->channels[i].name);
    }
    if (o->reader.failed || w->channel_count == 0)
        return;
    qsort(names, w->channel_count, sizeof *names, ascending); /* a file that lies may have millions */
    for (uint32_t i = 1; i < w->channel_count; i++)
        expect(o, names[i - 1] != names[i]);
}

/* Was the index in use, of an entity that may have died and whose page may have been given up? */
static bool was_used(const snapshot_t *s, bp_entity_t e)
{
    return e.id != 0 && (bp_entity_index(e) < s->bound || bp_entity_index(e) / ENTITIES_PAGE < s->reached);
}

/* Stretches come in the order of their entries, and each has one at least (notices.h). */
static void check_hops(opening_t *o, const kept_notices_t *n)
{
    uint64_t before = 0; /* where the stretch before begins, + 1 */
    for (uint32_t i = 0; i < n->hop_count && !o->reader.failed; i++) {
        hop_t hop;
        memcpy(&hop, (const char *)n->hops + i * sizeof hop, sizeof hop);
        if (n->indexed)
            expect(o, hop.from < n->signature_count && hop.to < n->signature_count);
        else
            expect(o, hop.from >= before && hop.from < n->count && hop.to < n->kind_count && (i > 0 || hop.from == 0));
        before = hop.from + UINT64_C(1);
    }
    for (uint32_t i = 0; i < n->kind_count && !o->reader.failed; i++) {
        hop_t hop;
        memcpy(&hop, (const char *)n->kinds + i * sizeof hop, sizeof hop);
        expect(o, hop.from < n->signature_count && hop.to < n->signature_count);
    }
    for (uint32_t i = 0; i < n->count && !o->reader.failed; i++) {
        bp_entity_t e;
        memcpy(&e, (const char *)n->entities + i * sizeof e, sizeof e);
        expect(o, was_used(o->snapshot, e));
    }
}

static void read_notices(opening_t *o, kept_world_t *w)
{
    reader_t *r = &o->reader;
    kept_notices_t *n = &w->notices;
    n->present = reader_u32(r);
    if (n->present != 0) {
        n->words = reader_u32(r);
        n->subscriptions = reader_u32(r);
        n->signature_count = reader_u32(r);
        n->count = reader_u32(r);
        n->stretch_count = reader_u32(r);
        n->kind_count = reader_u32(r);
        n->indexed = reader_u32(r);
        n->hop_count = reader_u32(r);
        reader_align(r, 8);
        expect(o, n->words <= 1024 && n->kind_count <= NOTICES_KINDS &&
                      n->hop_count == (n->indexed ? n->count : n->stretch_count));
        n->signatures = reader_take(r, (uint64_t)n->signature_count * n->words * sizeof(uint64_t));
        n->kinds = reader_take(r, n->kind_count * sizeof(hop_t));
        n->entities = reader_take(r, (uint64_t)n->count * sizeof(bp_entity_t));
        n->hops = reader_take(r, (uint64_t)n->hop_count * sizeof(hop_t));
        check_hops(o, n);
    }
    for (uint32_t i = 0; i < w->run_count && !r->failed; i++)
        expect(o, n->present ? w->runs[i].signature < n->signature_count : w->runs[i].signature == 0);
}

static void read_world(opening_t *o, kept_world_t *w)
{
    reader_t *r = &o->reader;
    w->name = reader_text(r);
    w->step_rate = read_double(r);
    w->time = read_double(r);
    w->speed = read_double(r);
    w->steps = reader_u64(r);
    w->granted = reader_u64(r);
    w->stopped = reader_u32(r);
    w->random = reader_u64(r);
    expect(o, w->step_rate > 0 && w->step_rate - w->step_rate == 0); /* a number, and finite */
    expect(o, w->steps <= INT64_MAX);
    expect(o, w->speed >= SPEED_LEAST && w->speed <= SPEED_MOST);
    read_managers(o, w);
    if (!r->failed)
        read_prototypes(o, w);
    if (!r->failed)
        read_runs(o, w);
    if (!r->failed)
        read_holed(o, w);
    if (!r->failed)
        read_units(o, w);
    if (!r->failed)
        read_commands(o, w);
    if (!r->failed)
        read_messages(o, w);
    if (!r->failed)
        read_notices(o, w);
}

static bp_result_t open_bytes(snapshot_t *snapshot, memory_t *memory, error_text_t *error, opening_t o)
{
    memset(snapshot, 0, sizeof *snapshot);
    snapshot->memory = memory;
    expect(&o, reader_u64(&o.reader) == SNAPSHOT_MAGIC);
    if (!o.reader.failed)
        read_entities(&o);
    if (!o.reader.failed)
        read_pools(&o);
    if (!o.reader.failed)
        read_spawns(&o);
    if (!o.reader.failed)
        read_plugins(&o);
    snapshot->world_count = reader_count(&o.reader, 64);
    snapshot->worlds = table(&o, snapshot->world_count, sizeof *snapshot->worlds);
    expect(&o, snapshot->world_count == snapshot->pool_count);
    for (uint32_t i = 0; i < snapshot->world_count && !o.reader.failed; i++)
        read_world(&o, &snapshot->worlds[i]);
    expect(&o, o.reader.at == o.reader.end);
    if (!o.reader.failed)
        return BP_OK;
    size_t at = (size_t)(o.reader.at - o.reader.start), size = (size_t)(o.reader.end - o.reader.start);
    snapshot_close(snapshot);
    if (o.no_memory)
        return error_memory(error, "reading what was written down of a host");
    return error_set(error, BP_ERROR_SYNTAX, "what was written down of a host is damaged, about byte %zu of %zu", at,
                     size);
}

bp_result_t snapshot_open_pieces(snapshot_t *snapshot, memory_t *memory, error_text_t *error, const cut_t *cut,
                                 const void *bytes, size_t size)
{
    return open_bytes(snapshot, memory, error,
                      (opening_t){.snapshot = snapshot, .reader = reader_of(bytes, size), .cut = cut, .own = true});
}

bp_result_t snapshot_open_own(snapshot_t *snapshot, memory_t *memory, error_text_t *error, const void *bytes,
                              size_t size)
{
    return open_bytes(snapshot, memory, error,
                      (opening_t){.snapshot = snapshot, .reader = reader_of(bytes, size), .own = true});
}

bp_result_t snapshot_open_in_place(snapshot_t *snapshot, memory_t *memory, error_text_t *error, const void *bytes,
                                   size_t size)
{
    opening_t opening = {.snapshot = snapshot, .reader = reader_of(bytes, size), .own = true, .in_place = true};
    return open_bytes(snapshot, memory, error, opening);
}

bp_result_t snapshot_open(snapshot_t *snapshot, memory_t *memory, error_text_t *error, const void *bytes, size_t size)
{
    return open_bytes(snapshot, memory, error,
                      (opening_t){.snapshot = snapshot, .reader = reader_of(bytes, size)});
}
