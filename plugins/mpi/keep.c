/* keep.c - the state of a world that is split, as one block of bytes, and back: for a history and for recordings
 * (docs/history.md).
 *
 * `load` only keeps the bytes, since the worlds are not there yet; the first step takes them over. A `save` before that
 * returns the same bytes. Measured times are not saved.
 */
#include "split.h"

#include <string.h>

enum { FORM = 2 };

/* The numbers of a split, in front of everything else. */
typedef struct kept_t {
    uint32_t form, rank, ranks, begun;
    uint32_t initial, numbers, kinds, dead;
    uint64_t steps, declared, made;
    uint64_t all, hash, left, came, copies, sent, cuts, moved, migrated, changed;
    uint32_t refers, uneven;
} kept_t;

static void put(split_t *split, split_bytes *out, const void *bytes, size_t size)
{
    split_append_bytes(split, out, bytes, size);
}

static void put_kind(split_t *split, split_bytes *out, const split_kind *kind)
{
    const uint64_t sizes[2] = {strlen(kind->text) + 1, kind->told_size};
    put(split, out, sizes, sizeof sizes);
    put(split, out, kind->text, (size_t)sizes[0]);
    for (uint32_t r = 0; r < split->ranks; r++) {
        const split_told *told = &kind->told[r];
        const split_copies *copies = &kind->copies[r];
        const uint32_t counts[2] = {told->count, copies->count};
        put(split, out, counts, sizeof counts);
        put(split, out, told->entities, told->count * sizeof *told->entities);
        put(split, out, told->records, (size_t)told->count * kind->told_size);
        put(split, out, copies->entities, copies->count * sizeof *copies->entities);
    }
}

static void put_numbers(split_t *split, split_bytes *out)
{
    uint64_t value;
    put(split, out, split->durable.gone, durable_gone_bytes(&split->durable));
    for (uint32_t i = 0; (value = durable_next(&split->durable, &i)) != 0; i++) {
        const uint64_t pair[2] = {i, value};
        put(split, out, pair, sizeof pair);
    }
}

static void write_all(split_t *split, split_bytes *out)
{
    uint32_t numbers = 0;
    for (uint32_t i = 0; durable_next(&split->durable, &i) != 0; i++)
        numbers++;
    const kept_t kept = {
        .form = FORM, .rank = split->rank, .ranks = split->ranks, .begun = split->begun,
        .initial = split->durable.initial, .numbers = numbers, .kinds = split->kind_count,
        .dead = split->dead_count, .steps = split->steps, .declared = split->declared, .made = split->durable.made,
        .all = split->all, .hash = split->hash, .left = split->left, .came = split->came, .copies = split->copies,
        .sent = split->sent, .cuts = split->cuts, .moved = split->moved, .migrated = split->migrated,
        .changed = split->changed, .refers = split->refers, .uneven = split->uneven,
    };
    put(split, out, &kept, sizeof kept);
    put(split, out, split->nodes, split->begun ? split->ranks * sizeof *split->nodes : 0);
    put(split, out, split->parts, split->begun ? split->ranks * sizeof *split->parts : 0);
    put_numbers(split, out);
    put(split, out, split->dead, split->dead_count * sizeof *split->dead);
    for (uint32_t i = 0; i < split->kind_count; i++)
        put_kind(split, out, &split->kinds[i]);
}

static bp_result_t BP_CALL save(bp_system_t *s, void **data, size_t *size)
{
    split_t *split = s->state;
    split_bytes out = {0};
    if (split->kept.size > 0)
        put(split, &out, split->kept.at, split->kept.size);
    else
        write_all(split, &out);
    /* the block is freed as one of its size */
    *data = s->api->memory->resize(s->plugin, out.at, out.room, out.size);
    if (*data == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "mpi: out of memory for the state of a split world");
    *size = out.size;
    return BP_OK;
}

/* The bytes must at least be as many as the head says; they were written by `save`. */
static bp_result_t BP_CALL load(bp_system_t *s, const void *data, size_t size)
{
    split_t *split = s->state;
    kept_t kept;
    if (size < sizeof kept)
        return s->api->error->set(s->host, BP_ERROR_SYNTAX, "mpi: the state of a split world is cut short");
    memcpy(&kept, data, sizeof kept);
    if (kept.form != FORM || kept.ranks == 0 || kept.ranks > 65535)
        return s->api->error->set(s->host, BP_ERROR_SYNTAX,
                                  "mpi: the state of a split world was written by another version of the plugin");
    split->kept.size = 0;
    put(split, &split->kept, data, size);
    return BP_OK;
}

const bp_system_save_i split_saving = {.save = save, .load = load};

/* --- taking over -------------------------------------------------------------------------------------------------- */

/* The next `size` bytes of what was kept. */
static const char *next(split_t *split, size_t *at, size_t size)
{
    const char *bytes = split->kept.at + *at;
    size_t left = split->kept.size - *at;
    if (size > left || split_filled(size) > left)
        split_fail(split, "the state of a split world is cut short");
    *at += split_filled(size);
    return bytes;
}

static void *copy_of(split_t *split, const char *bytes, size_t size)
{
    void *block = split_resize(split, NULL, 0, size);
    if (size > 0)
        memcpy(block, bytes, size);
    return block;
}

/* Where a job goes on with another `copied`, or with a version of a plugin that asks for other fields of copies, its
 * records are of another size. Then they are of no use: all is told anew, as when that changes while a job runs. */
static void take_kind(split_t *split, size_t *at)
{
    uint64_t sizes[2];
    memcpy(sizes, next(split, at, sizeof sizes), sizeof sizes);
    split_kind *kind = split_kind_named(split, next(split, at, (size_t)sizes[0]));
    bool same = sizes[1] == kind->told_size;
    for (uint32_t r = 0; r < split->ranks; r++) {
        split_told *told = &kind->told[r];
        split_copies *copies = &kind->copies[r];
        uint32_t counts[2];
        memcpy(counts, next(split, at, sizeof counts), sizeof counts);
        const char *entities = next(split, at, counts[0] * sizeof *told->entities);
        const char *records = next(split, at, counts[0] * (size_t)sizes[1]);
        told->count = told->room = same ? counts[0] : 0;
        told->entities = copy_of(split, entities, told->count * sizeof *told->entities);
        told->rows = split_resize(split, NULL, 0, told->count * sizeof *told->rows);
        told->records = copy_of(split, records, (size_t)told->count * kind->told_size);
        copies->count = copies->room = counts[1];
        size_t size = counts[1] * sizeof *copies->entities;
        copies->entities = copy_of(split, next(split, at, size), size);
        if (told->count > 0)
            split_find_told(split, told);
    }
    if (!same)
        split->declared = 0;
}

static void take_numbers(split_t *split, size_t *at, uint32_t initial, uint32_t numbers)
{
    durable_t *d = &split->durable;
    bool room = durable_gone(d, initial);
    if (room && initial > 0) {
        size_t size = durable_gone_bytes(d);
        memcpy(d->gone, next(split, at, size), size);
    }
    for (uint32_t i = 0; i < numbers && room; i++) {
        uint64_t pair[2];
        memcpy(pair, next(split, at, sizeof pair), sizeof pair);
        room = durable_put(d, (uint32_t)pair[0], pair[1]);
    }
    if (!room)
        split_fail(split, "out of memory for the state of a split world");
}

void split_take_kept(split_t *split)
{
    kept_t kept;
    size_t at = 0;
    if (split->kept.size == 0)
        return;
    memcpy(&kept, next(split, &at, sizeof kept), sizeof kept);
    if (kept.ranks != split->ranks)
        split_change_ranks(split, kept.ranks);
    split->rank = kept.rank;
    split->begun = kept.begun != 0;
    split->steps = kept.steps;
    split->declared = kept.declared;
    split->all = kept.all;
    split->hash = kept.hash;
    split->left = kept.left;
    split->came = kept.came;
    split->copies = kept.copies;
    split->sent = kept.sent;
    split->cuts = kept.cuts;
    split->moved = kept.moved;
    split->migrated = kept.migrated;
    split->changed = kept.changed;
    split->refers = kept.refers != 0;
    split->uneven = kept.uneven != 0;
    size_t nodes = split->ranks * sizeof *split->nodes, parts = split->ranks * sizeof *split->parts;
    memcpy(split->nodes, next(split, &at, split->begun ? nodes : 0), split->begun ? nodes : 0);
    memcpy(split->parts, next(split, &at, split->begun ? parts : 0), split->begun ? parts : 0);
    durable_free(&split->durable);
    take_numbers(split, &at, kept.initial, kept.numbers);
    split->durable.made = kept.made;
    split_resize(split, split->dead, split->dead_room * sizeof *split->dead, 0);
    size_t dead = kept.dead * sizeof *split->dead;
    split->dead = copy_of(split, next(split, &at, dead), dead);
    split->dead_count = split->dead_room = kept.dead;
    for (uint32_t i = 0; i < kept.kinds; i++)
        take_kind(split, &at);
    split_resize(split, split->kept.at, split->kept.room, 0);
    split->kept = (split_bytes){0};
}
