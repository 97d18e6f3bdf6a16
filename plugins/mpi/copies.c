/* copies.c - copies of entities that are near another rank's part, in the world of copies there.
 *
 * Sender and receiver keep the same list, slot by slot: the entities of a kind that one rank has told another of. In
 * each step the sender says which slots are given up, from the last to the first (the last entity takes the place),
 * which entities are new, and then field by field the values that differ from those sent before. The receiver changes
 * its list in the same way. The sender remembers of each entity the values that it has sent, and of texts and lists a
 * hash.
 *
 * The values of one field: their number, how the slots are said, the slots, then the column (columns.c).
 */
#include "split.h"

#include <string.h>

enum { SAID_ALL = 0, SAID_BITS = 1, SAID_NUMBERS = 2 }; /* how the slots of values are said */

typedef struct said_t {
    uint32_t count, how;
} said_t;

/* --- the list of entities told of
 * ----------------------------------------------------------------------------------------- */

static void reserve(split_t *split, const split_kind *kind, split_told *told, uint32_t count)
{
    if (count <= told->room)
        return;
    uint32_t room = count + count / 4 + 16;
    told->entities = split_resize(split, told->entities, told->room * sizeof *told->entities,
                                  room * sizeof *told->entities);
    told->rows = split_resize(split, told->rows, told->room * sizeof *told->rows, room * sizeof *told->rows);
    if (kind->told_size > 0)
        told->records = split_resize(split, told->records, (size_t)told->room * kind->told_size,
                             (size_t)room * kind->told_size);
    told->room = room;
}

static uint32_t place_of(const split_told *told, bp_entity_t e)
{
    return (bp_entity_index(e) * UINT32_C(2654435769)) & (told->table_size - 1);
}

static void put(split_told *told, uint32_t slot)
{
    uint32_t at = place_of(told, told->entities[slot]);
    while (told->table[at] != 0)
        at = (at + 1) & (told->table_size - 1);
    told->table[at] = slot + 1;
}

/* The table finds the slot of an entity; made anew where the list has changed. */
void split_find_told(split_t *split, split_told *told)
{
    uint32_t size = 16;
    while (size < 2 * told->count)
        size *= 2;
    if (size != told->table_size)
        told->table = split_resize(split, told->table, told->table_size * sizeof *told->table,
                                   size * sizeof *told->table);
    told->table_size = size;
    memset(told->table, 0, size * sizeof *told->table);
    for (uint32_t slot = 0; slot < told->count; slot++)
        put(told, slot);
}

static uint32_t slot_of(const split_told *told, bp_entity_t e)
{
    for (uint32_t at = told->table_size == 0 ? 0 : place_of(told, e); told->table_size > 0 && told->table[at] != 0;
         at = (at + 1) & (told->table_size - 1))
        if (told->entities[told->table[at] - 1].id == e.id)
            return told->table[at] - 1;
    return BP_NONE;
}

/* --- telling ------------------------------------------------------------------------------------------------------ */

/* Give up the slots of entities that are not near any more, the last ones first. Returns how many. */
static uint32_t give_up(split_t *split, const split_kind *kind, split_told *told, split_bytes *slots)
{
    uint32_t given = 0;
    slots->size = 0;
    for (uint32_t slot = told->count; slot-- > 0;) {
        if (told->rows[slot] != BP_NONE)
            continue;
        uint32_t last = --told->count;
        memcpy(split_append(split, slots, sizeof slot), &slot, sizeof slot);
        given++;
        told->entities[slot] = told->entities[last];
        told->rows[slot] = told->rows[last];
        if (kind->told_size > 0)
            memmove(told->records + (size_t)slot * kind->told_size, told->records + (size_t)last * kind->told_size,
                    kind->told_size);
    }
    return given;
}

/* What is remembered of a cell: its bytes, or of a text or a list a hash. */
static const char *remembered(const split_column *column, const char *cell, uint64_t *hash)
{
    if (!column->list && column->type != BP_STRING)
        return cell;
    *hash = split_hash(column, cell);
    return (const char *)hash;
}

/* Slots from `old` on are new. Find the slots with values that differ from those told, and their packed cells. */
static uint32_t find_changed(split_t *split, const split_kind *kind, const split_column *column, split_told *told,
                             char *cells, uint32_t old, uint32_t *slots)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < told->count; slot++) {
        uint64_t hash;
        char *cell = cells + (size_t)slot * column->size;
        char *record = told->records + (size_t)slot * kind->told_size + column->told_at;
        const char *now = remembered(column, cell, &hash);
        if (slot < old && split_same_cell(record, now, column->told_size))
            continue;
        split_copy_cell(record, now, column->told_size);
        if (count < slot)
            split_copy_cell(cells + (size_t)count * column->size, cell, column->size);
        slots[count++] = slot;
    }
    split->changed += (uint64_t)count * column->size;
    return count;
}

/* Say the slots in as few bytes as may be. */
static void say_slots(split_t *split, split_bytes *out, const uint32_t *slots, uint32_t count, uint32_t all)
{
    said_t said = {count, count == all ? SAID_ALL : count * 32 > all ? SAID_BITS : SAID_NUMBERS};
    split_append_bytes(split, out, &said, sizeof said);
    if (said.how == SAID_NUMBERS)
        split_append_bytes(split, out, slots, count * sizeof *slots);
    if (said.how != SAID_BITS)
        return;
    size_t size = split_filled((all + 7) / 8);
    unsigned char *bits = (unsigned char *)split_append(split, out, size);
    memset(bits, 0, size);
    for (uint32_t i = 0; i < count; i++)
        bits[slots[i] / 8] |= (unsigned char)(1u << slots[i] % 8);
}

/* Returns true where something was to be told. */
static bool pack_column(split_t *split, const split_kind *kind, split_column *column, const bp_entity_t *entities,
                        split_told *told, uint32_t old, split_bytes *out)
{
    split_cells(split, kind, column, entities, told->rows, told->count);
    uint32_t *slots = (uint32_t *)(void *)(split->slots.at);
    uint32_t count = find_changed(split, kind, column, told, split->cells.at, old, slots);
    say_slots(split, out, slots, count, told->count);
    if (count > 0)
        split_pack_column(split, out, column, split->cells.at, count);
    return count > 0;
}

void split_pack_copies(split_t *split, uint32_t number, const bp_entity_t *entities, const uint32_t *rows,
                       uint32_t count, uint32_t to)
{
    split_kind *kind = &split->kinds[number];
    split_told *told = &kind->told[to];
    split_bytes *out = &split->out[to];
    size_t begin = out->size;
    if (count == 0 && told->count == 0)
        return;
    reserve(split, kind, told, told->count + count);
    for (uint32_t slot = 0; slot < told->count; slot++)
        told->rows[slot] = BP_NONE;
    split->fresh.size = 0;
    for (uint32_t i = 0, likely = 0; i < count; i++) {
        bool is_next = likely < told->count && told->entities[likely].id == entities[rows[i]].id;
        uint32_t slot = is_next ? likely : slot_of(told, entities[rows[i]]);
        likely = slot != BP_NONE ? slot + 1 : likely; /* rows are told in their order, and mostly stay in it */
        if (slot != BP_NONE)
            told->rows[slot] = rows[i];
        else
            memcpy(split_append(split, &split->fresh, sizeof rows[i]), &rows[i], sizeof rows[i]);
    }
    uint32_t removed = give_up(split, kind, told, &split->slots), old = told->count,
             added = (uint32_t)(split->fresh.size / sizeof(uint32_t));
    size_t head = split_begin_block(split, out, kind,
                                    &(split_block){.what = SPLIT_COPIES, .count = added, .removed = removed});
    split_append_bytes(split, out, split->slots.at, removed * sizeof(uint32_t));
    for (uint32_t i = 0; i < added; i++) {
        uint32_t row, slot = told->count++;
        memcpy(&row, split->fresh.at + i * sizeof row, sizeof row);
        told->entities[slot] = entities[row];
        told->rows[slot] = row;
        uint64_t id = split_number(split, entities[row]);
        split_append_bytes(split, out, &id, sizeof id);
    }
    if (removed + added > 0)
        split_find_told(split, told);
    split->slots.size = 0;
    split_append(split, &split->slots, (told->count + 1) * sizeof(uint32_t));
    bool news = removed + added > 0;
    for (uint32_t c = 0; c < kind->column_count; c++)
        if (kind->columns[c].copied)
            news |= pack_column(split, kind, &kind->columns[c], entities, told, old, out);
    if (news)
        split_end_block(out, head);
    else
        out->size = begin;
    split->moved += out->size - begin;
}

/* --- receiving ---------------------------------------------------------------------------------------------------- */

void split_end_copies_of(split_t *split, const split_kind *kind, const bp_entity_t *entities, uint32_t count)
{
    const bp_api_t *api = split->system->api;
    for (uint32_t k = 0; k < kind->key_count && count > 0; k++)
        split_done(split, api->world->remove(split->halo, kind->halo_keys[k], entities, count));
    for (uint32_t i = 0; i < count && !split->refers; i++) {
        durable_forget(&split->durable, bp_entity_index(entities[i]));
        split_end(split, entities[i]);
    }
}

void split_end_copies(split_t *split, split_kind *kind)
{
    for (uint32_t r = 0; r < split->ranks; r++) {
        split_end_copies_of(split, kind, kind->copies[r].entities, kind->copies[r].count);
        kind->copies[r].count = 0;
    }
}

static void remove_copies(split_t *split, const split_reading *reading)
{
    const split_kind *kind = &split->kinds[reading->kind];
    split_copies *copies = &kind->copies[reading->from];
    split->values.size = 0;
    bp_entity_t *ended = (bp_entity_t *)(void *)split_append(split, &split->values,
                                                             reading->block.removed * sizeof *ended + 1);
    for (uint32_t i = 0; i < reading->block.removed; i++) {
        uint32_t slot;
        memcpy(&slot, split->in.at + reading->body + i * sizeof slot, sizeof slot);
        if (slot >= copies->count)
            split_fail(split, "another rank has told of a copy that is not here");
        ended[i] = copies->entities[slot];
        copies->entities[slot] = copies->entities[--copies->count];
    }
    split_end_copies_of(split, kind, ended, reading->block.removed);
}

/* A copy of an entity that is known here is that entity, so that references to it lead to the copy. */
static bp_entity_t find_copy(split_t *split, const split_kind *kind, uint64_t id)
{
    const bp_api_t *api = split->system->api;
    uint32_t index = split->refers ? durable_find(&split->durable, id) : BP_NONE;
    bp_entity_t e = index == BP_NONE ? (bp_entity_t){0} : api->entity->at(split->system->host, index);
    for (uint32_t k = 0; k < kind->key_count && e.id != 0; k++)
        split_done(split, api->world->add(split->halo, kind->halo_keys[k], &e, 1));
    return e;
}

static void add_copies(split_t *split, const split_reading *reading)
{
    const split_kind *kind = &split->kinds[reading->kind];
    split_copies *copies = &kind->copies[reading->from];
    uint32_t wanted = copies->count + reading->block.count, missing = 0;
    size_t ids = reading->body + split_filled(reading->block.removed * sizeof(uint32_t));
    if (wanted > copies->room) {
        uint32_t room = wanted + wanted / 4 + 16;
        copies->entities = split_resize(split, copies->entities, copies->room * sizeof(bp_entity_t),
                                room * sizeof(bp_entity_t));
        copies->room = room;
    }
    for (uint32_t i = 0; i < reading->block.count; i++) {
        uint64_t id;
        memcpy(&id, split->in.at + ids + i * sizeof id, sizeof id);
        missing += (copies->entities[copies->count + i] = find_copy(split, kind, id)).id == 0;
    }
    split->values.size = 0;
    bp_entity_t *made = (bp_entity_t *)(void *)split_append(split, &split->values, missing * sizeof *made + 1);
    if (missing > 0)
        split_done(split, split->system->api->world->create(split->halo, kind->halo_prototype, made, missing));
    for (uint32_t i = 0; i < reading->block.count; i++) {
        uint64_t id;
        bp_entity_t *e = &copies->entities[copies->count + i];
        memcpy(&id, split->in.at + ids + i * sizeof id, sizeof id);
        if (e->id != 0)
            continue;
        *e = *made++;
        split_know(split, bp_entity_index(*e), id, true);
    }
    copies->count = wanted;
}

static void set_column(split_t *split, split_column *column, const split_copies *copies, const char **at)
{
    said_t said;
    memcpy(&said, *at, sizeof said);
    const char *slots = *at + sizeof said;
    *at = slots + (said.how == SAID_ALL       ? 0
                   : said.how == SAID_NUMBERS ? split_filled(said.count * sizeof(uint32_t))
                                              : split_filled((copies->count + 7) / 8));
    if (said.count == 0)
        return;
    const bp_entity_t *entities = copies->entities;
    if (said.how != SAID_ALL) {
        split->slots.size = 0;
        bp_entity_t *some = (bp_entity_t *)(void *)split_append(split, &split->slots, said.count * sizeof *some);
        entities = some;
        uint32_t count = 0;
        for (uint32_t i = 0; i < said.count && said.how == SAID_NUMBERS; i++) {
            uint32_t slot;
            memcpy(&slot, slots + i * sizeof slot, sizeof slot);
            some[count++] = copies->entities[slot];
        }
        for (uint32_t slot = 0; slot < copies->count && said.how == SAID_BITS; slot++)
            if (((unsigned char)slots[slot / 8] >> slot % 8 & 1) != 0 && count < said.count)
                some[count++] = copies->entities[slot];
    }
    split_set(split, column, true, entities, said.count, split_unpack_column(split, column, *at, said.count));
    *at = split_skip_column(*at);
}

static void set_copies(split_t *split, const split_reading *reading)
{
    split_kind *kind = &split->kinds[reading->kind];
    const char *at = split->in.at + reading->body + split_filled(reading->block.removed * sizeof(uint32_t)) +
                     reading->block.count * sizeof(uint64_t);
    for (uint32_t c = 0; c < kind->column_count; c++)
        if (kind->columns[c].copied)
            set_column(split, &kind->columns[c], &kind->copies[reading->from], &at);
}

/* Copies that are given up are ended first, since another rank may tell of the same entity anew; then new ones are
 * made, so that references find them; then values are set. */
void split_settle_copies(split_t *split)
{
    static void (*const turns[])(split_t *split, const split_reading *reading) = {remove_copies, add_copies,
                                                                                  set_copies};
    for (size_t turn = 0; turn < sizeof turns / sizeof turns[0]; turn++) {
        split_reading reading = {0};
        while (split_next_block(split, &reading))
            if (reading.block.what == SPLIT_COPIES)
                turns[turn](split, &reading);
    }
    split->copies = 0;
    for (uint32_t i = 0; i < split->kind_count; i++)
        for (uint32_t r = 0; r < split->ranks; r++)
            split->copies += split->kinds[i].copies[r].count;
}
