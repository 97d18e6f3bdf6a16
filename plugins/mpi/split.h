/* split.h - what the files of the system split share: one world over all ranks.
 *
 * Not here: declarations for other plugins.
 */
#ifndef MPI_SPLIT_H
#define MPI_SPLIT_H

#include "cut.h"
#include "durable.h"
#include "mpi_peers.h"

#include <bp_look.h>
#include <bp_outside.h>
#include <bp_share.h>
#include <bp_vote.h>

#include <string.h>

/* The options of the plugin, in the order of declaration. */
enum { SPLIT_POSITION, SPLIT_IDENTITY, SPLIT_HALO, SPLIT_UNEVEN, SPLIT_EVERY, SPLIT_AUDIT, SPLIT_COPIED };

enum { SPLIT_KEYS = 256 };

/* Bytes that grow. */
typedef struct split_bytes {
    char *at;
    size_t size, room;
} split_bytes;

/* A field as it is sent. */
typedef struct split_column {
    uint32_t key, halo_key, field, type;
    uint32_t size;               /* of a cell */
    bool list;                   /* its cells are lists of that type */
    bool stored;                 /* its component has storage of its own */
    bool raw;                    /* no property: written through a reference */
    bool copied;                 /* copies of others' entities have it */
    uint32_t told_at, told_size; /* of copied ones: where in a record of split_told its cell, or the hash of a text or
                                    list, lies */
    bp_property_t own, halo;     /* in the world that is split, and in the one of copies */
} split_column;

/* Which entities a rank has copies of, slot by slot, and what it has been told of them. */
typedef struct split_told {
    bp_entity_t *entities;
    uint32_t *rows;              /* in this step; BP_NONE: not near any more */
    char *records;               /* of split_kind.told_size bytes */
    uint32_t count, room;
    uint32_t *table;             /* slot and 1, by the entity's index; table_size is a power of two */
    uint32_t table_size;
} split_told;

/* The copies of what a rank has told of, in the same slots. */
typedef struct split_copies {
    bp_entity_t *entities;
    uint32_t count, room;
} split_copies;

/* Entities with the same components: how they are packed, and the copies of others' that are here. */
typedef struct split_kind {
    uint32_t prototype, halo_prototype;
    uint32_t key_count;
    uint32_t column_count, position; /* which of the columns says where they are */
    uint32_t told_size;          /* bytes of a record */
    bool copied;                 /* others have copies of such entities */
    uint32_t *keys, *halo_keys;
    split_column *columns;
    char *text;                  /* "name:type\n" of each component: the same on all ranks */
    split_told *told;            /* by rank */
    split_copies *copies;        /* by rank */
} split_kind;

/* Rows of one kind that may concern other ranks, while they are packed: room that is used again. */
typedef struct split_rows {
    uint32_t *rows;              /* for one rank */
    bp_entity_t *leaving;        /* for it, for good */
    uint32_t *seen;              /* all such rows, ... */
    cut_point *places;           /* ... their places, ... */
    uint32_t *owners;            /* ... and the ranks that these belong to */
    uint32_t room;
} split_rows;

/* Entities of one kind that have come, between the two systems. */
typedef struct split_arrival {
    size_t at;                   /* of their block in split_t.in */
    uint32_t kind, count;
    size_t first;                /* byte of split_t.arrived where its entities begin: placeholders of those that are
                                    made, and stand-ins */
} split_arrival;

/* What a rank tells the others of itself. */
typedef struct split_figures {
    uint64_t entities, copies, sent;
} split_figures;

/* The system in the world that is split. */
typedef struct split_t {
    struct split_t *next;
    bp_system_t *system;
    bp_world_o *world, *halo;
    const bp_look_api *look;
    const bp_outside_api *outside;
    uint32_t rank, ranks;
    bool begun;                  /* space has been cut */
    bool refers;                 /* on some rank a field can refer to entities, or these may live in another world too:
                                    what is elsewhere has a stand-in here */
    bool alone;                  /* this is a copy that no other rank knows of: nothing is sent */
    bool uneven;                 /* space is to be cut anew, however the entities are distributed */
    bool hashed;                 /* identities were summed at the beginning of the step */
    uint64_t steps;
    uint64_t declared;           /* of the fields of all components, when kinds were described */
    split_kind *kinds;
    uint32_t kind_count;
    cut_node *nodes;
    cut_part *parts;
    durable_t durable;
    split_arrival *arrivals;
    uint32_t arrival_count, arrival_room;
    split_bytes arrived;         /* entities of all arrivals */
    uint64_t *dead;              /* numbers of entities that have died here and that others may refer to */
    uint32_t dead_count, dead_room;
    split_bytes buried;          /* numbers, ascending: entities that have died since the step before, on all ranks */
    split_rows rows;
    split_bytes *out;            /* for each rank */
    split_bytes in;
    split_figures *figures;      /* of each rank, when they were compared last */
    uint64_t compared;           /* the step of that and 1; 0: not yet */
    uint64_t samples;            /* points of this rank that space is being cut by */
    size_t *in_at;               /* where in it the bytes of each rank begin; behind them, where all end */
    split_bytes cells;           /* of one column, gathered from rows */
    split_bytes slots, fresh;    /* of copies: slots; rows that are new */
    split_bytes values, items;   /* of one column: texts, references and lists that lie in what has come */
    split_bytes kept;            /* a state that has been loaded, and waits for the world */
    uint64_t all, hash;          /* the number of entities of all ranks, the sum of hashes of their identities */
    uint64_t left, came, copies, sent; /* entities that went to others and came from them; copies here; bytes sent */
    uint64_t cuts;
    uint64_t moved, migrated;    /* bytes packed for others and unpacked from them; of those, of entities that moved */
    uint64_t changed;            /* bytes of the fields of copies that were other than the rank knew that has them */
    double packing, talking;     /* seconds: looking, packing and unpacking; sending, and waiting for other ranks; */
    double copying;              /* of the packing: columns of entities that moved, out of rows and into rows */
    double cutting;              /* cutting space, with waiting for what other ranks say of it */
} split_t;

/* End the job, where nothing can go on without the thing that is missing. Does not return. */
void split_fail(split_t *split, const char *text);

/* End the job with the host's sentence unless the call has done what it should. */
void split_done(split_t *split, bp_result_t result);

/* The entity dies, where it lives; ends the job where there is no memory. */
void split_end(split_t *split, bp_entity_t entity);

/* Make room for another number of ranks in a split that has no kinds yet. */
void split_change_ranks(split_t *split, uint32_t ranks);

/* Room for so many more bytes, behind those in use; ends the job where there is no memory. */
char *split_append(split_t *split, split_bytes *bytes, size_t size);

/* As bp_memory_api.resize; ends the job where there is no memory. */
void *split_resize(split_t *split, void *old, size_t old_size, size_t new_size);

/* The number that all ranks know an entity of this one by; and note the number of an entity. */
uint64_t split_number(split_t *split, bp_entity_t entity);
void split_know(split_t *split, uint32_t index, uint64_t id, bool elsewhere);

/* Size filled up to a multiple of 8. */
static inline size_t split_filled(size_t size)
{
    return (size + 7) / 8 * 8;
}

/* --- kinds.c ------------------------------------------------------------------------------------------------------ */

/* The kind of a prototype of the world; NULL where its entities have no position, and so belong to every rank. */
split_kind *split_kind_of(split_t *split, uint32_t prototype);

/* The kind of that text. */
split_kind *split_kind_named(split_t *split, const char *text);

/* Forget all kinds, and end all copies, since the descriptions of fields are out of date. The other ranks do the
 * same. */
void split_forget_kinds(split_t *split);
void split_free_kinds(split_t *split);

/* Have fields of components changed since kinds were described? All ranks find the same. */
bool split_kinds_are_old(split_t *split);

/* split_places gives the cells with the places of a prototype's rows, split_place reads the place in one cell.
 * split_identities gives the numbers by which the entities are known on all ranks: NULL where no option names the
 * property, or where there is no audit. */
const char *split_places(const split_t *split, const split_kind *kind);
static inline cut_point split_place(const split_kind *kind, const char *places, uint32_t row)
{
    const split_column *column = &kind->columns[kind->position];
    cut_point point = {{0, 0, 0}};
    const char *cell = places + (size_t)row * column->size;
    uint32_t parts = column->type == BP_VEC2 || column->type == BP_DVEC2 ? 2 : 3;
    bool wide = column->type == BP_DVEC2 || column->type == BP_DVEC3;
    const double *numbers = (const double *)(const void *)cell;
    const float *floats = (const float *)(const void *)cell;
    for (uint32_t i = 0; i < parts; i++)
        point.at[i] = wide ? numbers[i] : (double)floats[i];
    return point;
}
const uint64_t *split_identities(split_t *split, const split_kind *kind);

/* Copy and compare cells: for the sizes that fields mostly have, in a few instructions and without a call. */
static inline void split_copy_cell(char *to, const char *from, uint32_t size)
{
    switch (size) {
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case 12: memcpy(to, from, 12); break;
    case 16: memcpy(to, from, 16); break;
    case 24: memcpy(to, from, 24); break;
    default: memcpy(to, from, size); break;
    }
}

static inline bool split_same_cell(const char *a, const char *b, uint32_t size)
{
    switch (size) {
    case 4: return memcmp(a, b, 4) == 0;
    case 8: return memcmp(a, b, 8) == 0;
    case 12: return memcmp(a, b, 12) == 0;
    case 16: return memcmp(a, b, 16) == 0;
    case 24: return memcmp(a, b, 24) == 0;
    default: return memcmp(a, b, size) == 0;
    }
}

/* --- asked.c ------------------------------------------------------------------------------------------------------ */

/* Are copies to have that field of a component, do systems ask for the component at all? Both are the same on all
 * ranks; split_asked_hash changes with the answers. */
bool split_asks_for(const split_t *split, const char *name, const char *type, const bp_field_t *field);
bool split_asks_for_component(const split_t *split, const char *name, const char *type);
uint64_t split_asked_hash(const split_t *split);

/* --- columns.c ---------------------------------------------------------------------------------------------------- */

/* The cells of those rows, packed; good until the next call. `entities` are those of all rows of the prototype. */
const char *split_cells(split_t *split, const split_kind *kind, const split_column *column,
                        const bp_entity_t *entities, const uint32_t *rows, uint32_t count);

/* split_pack_rows appends the cells of those rows, split_pack_column cells as split_cells gives them; split_skip_column
 * steps over a column; split_unpack_column gives packed cells, good until the next column: entities are those of this
 * rank, with stand-ins for those that are not here. */
void split_pack_column(split_t *split, split_bytes *out, const split_column *column, const char *cells, uint32_t count);
void split_pack_rows(split_t *split, split_bytes *out, const split_kind *kind, const split_column *column,
                     const bp_entity_t *entities, const uint32_t *rows, uint32_t count);
const char *split_skip_column(const char *at);
const void *split_unpack_column(split_t *split, const split_column *column, const char *at, uint32_t count);

/* Set a column of entities: of copies, or of the split world's own. */
void split_set(split_t *split, split_column *column, bool of_copies, const bp_entity_t *entities, uint32_t count,
               const void *cells);

/* A hash of what a text or a list says. */
uint64_t split_hash(const split_column *column, const char *cell);

/* The entity here that has that number; a stand-in is made where there is none. */
bp_entity_t split_entity_of(split_t *split, uint64_t id);

/* --- migrants.c --------------------------------------------------------------------------------------------------- */

enum { SPLIT_MIGRANTS = 0, SPLIT_COPIES = 1, SPLIT_DEATHS = 2 };

/* The head of what is sent of one kind, behind which the kind's text comes. */
typedef struct split_block {
    uint64_t size;               /* of the block, with this */
    uint32_t what, count;
    uint32_t removed, text_bytes; /* filled up; 0: of no kind */
} split_block;

/* Append the head of a block; its size is written when the block is ended. Returns the place of the head. */
size_t split_begin_block(split_t *split, split_bytes *out, const split_kind *kind, const split_block *block);
void split_end_block(split_bytes *out, size_t at);

/* Append bytes, filled up to a multiple of 8. */
void split_append_bytes(split_t *split, split_bytes *out, const void *bytes, size_t size);

/* Going over the blocks that have come: begins as {0}. False at the end. */
typedef struct split_reading {
    size_t at;                   /* of the next block in split_t.in */
    size_t block_at, body;       /* of this one; of what comes behind its text */
    uint32_t from;               /* the rank that has sent it */
    uint32_t kind;               /* BP_NONE: of no kind */
    split_block block;
} split_reading;
bool split_next_block(split_t *split, split_reading *reading);

/* Pack entities of those rows for another rank. */
void split_pack_migrants(split_t *split, split_kind *kind, const bp_entity_t *entities, const uint32_t *rows,
                         uint32_t count, uint32_t to);

/* Entities of those rows belong to another rank from now on: they leave this one. */
void split_leave(split_t *split, bp_commands_o *commands, const split_kind *kind, const bp_entity_t *entities,
                 uint32_t count);

/* Record commands that make what has come; without commands, between steps, make it. */
void split_receive_migrants(split_t *split, bp_commands_o *commands);

/* When these have been made: set the values. */
void split_settle_migrants(split_t *split);

/* Stand-ins that nothing refers to end. */
void split_sweep(split_t *split);

/* Some entities have died here. Tell the other ranks of those that have since this was called last. */
void split_died(bp_system_t *s, const bp_death_t *batch);
void split_pack_deaths(split_t *split);

/* --- copies.c ----------------------------------------------------------------------------------------------------- */

/* Tell a rank of those rows of a kind, which are all that are near its part: what is new, what is not near any more,
 * and which values are other than that rank knows. */
void split_pack_copies(split_t *split, uint32_t kind, const bp_entity_t *entities, const uint32_t *rows, uint32_t count,
                       uint32_t to);

/* Make the table that finds slots. */
void split_find_told(split_t *split, split_told *told);

/* Make, end and set copies as the other ranks have told. */
void split_settle_copies(split_t *split);

/* End all copies of a kind; entities that have gone from the world of copies, and are not this rank's own, end. */
void split_end_copies(split_t *split, split_kind *kind);
void split_end_copies_of(split_t *split, const split_kind *kind, const bp_entity_t *entities, uint32_t count);

/* --- keep.c ------------------------------------------------------------------------------------------------------- */

extern const bp_system_save_i split_saving;

/* The state that was loaded becomes the present one, now that the world is there. */
void split_take_kept(split_t *split);

/* --- send.c ------------------------------------------------------------------------------------------------------- */

/* Send out[rank] to each rank and put what comes, rank by rank, into `in`: parcels begin with their size. */
void split_send(split_t *split);

/* Sum numbers over all ranks: false where this is a copy of which no other rank knows. Compare figures: those of all
 * ranks are in split->figures. */
bool split_sum(split_t *split, uint64_t *numbers, uint32_t count);
void split_compare(split_t *split, const split_figures *mine);

/* The greatest number of all ranks, between steps. */
uint64_t split_greatest(split_t *split, uint64_t number);

/* Points of all ranks in the order of ranks. */
cut_point *split_gather(split_t *split, const cut_point *mine, uint64_t count, uint64_t *all);

/* Seconds, from some beginning. */
double split_seconds(void);

/* The plugin's state: all worlds that are split. */
typedef struct split_worlds {
    split_bytes packed;
    split_t *first;
    bool waiting; /* this rank has a change of plugins ready */
    bool agreed;  /* in the last step all ranks had a change ready */
} split_worlds;

/* The split of a world; NULL where the world is not split. */
split_t *split_of(const bp_plugin_t *plugin, const bp_world_o *world);

extern const bp_sharer_api split_sharer;

extern const bp_voter_api split_voter;

extern const bp_system_i split_systems[2];

#endif
