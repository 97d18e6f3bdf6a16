/* split.h - what the files of the system split share: one world over all ranks.
 *
 * Not here: declarations for other plugins.
 */
#ifndef MPI_SPLIT_H
#define MPI_SPLIT_H

#include "cut.h"
#include "mpi_peers.h"

#include <bp_look.h>
#include <bp_vote.h>

/* The options of the plugin, in the order of declaration. */
enum { SPLIT_POSITION, SPLIT_IDENTITY, SPLIT_HALO, SPLIT_UNEVEN, SPLIT_EVERY, SPLIT_AUDIT };

/* Bytes that grow. */
typedef struct split_bytes {
    char *at;
    size_t size, room;
} split_bytes;

/* A field as it is sent. */
typedef struct split_column {
    uint32_t key, field, type;
    uint32_t size;               /* of a cell */
    bool list;                   /* its cells are lists of that type */
    bp_property_t own, halo;     /* in the world that is split, and in the one of copies */
} split_column;

/* Entities with the same components: how they are packed, and the copies of others' that are here. */
typedef struct split_kind {
    uint32_t prototype, halo_prototype;
    uint32_t column_count, position; /* which of the columns says where they are */
    split_column *columns;
    char *text;                  /* "name:type\n" of each component: the same on all ranks */
    bp_entity_t *copies;
    uint32_t copy_count, copy_room;
    uint32_t coming;             /* copies in this step */
    uint32_t placed;             /* copies among them whose values have been set */
} split_kind;

/* The system in the world that is split. */
typedef struct split_t {
    struct split_t *next;
    bp_system_t *system;
    bp_world_o *world, *halo;
    const bp_look_api *look;
    uint32_t rank, ranks;
    bool begun;                  /* space has been cut */
    uint64_t steps;
    split_kind *kinds;
    uint32_t kind_count;
    cut_node *nodes;
    cut_part *parts;
    split_bytes *out;            /* for each rank */
    split_bytes in;
    split_bytes values;          /* of one column: texts and lists that lie in what has come */
    uint64_t all, hash;          /* the number of entities of all ranks, the sum of hashes of their identities */
    uint64_t left, came, copies, sent; /* entities that went to others and came from them; copies here; bytes sent */
    uint64_t cuts;
    uint64_t moved, migrated;    /* bytes packed for others and unpacked from them; of those, of entities that moved */
    double packing, talking;     /* seconds: looking, packing and unpacking; sending, and waiting for other ranks */
} split_t;

/* End the job, where nothing can go on without the thing that is missing. Does not return. */
void split_fail(split_t *split, const char *text);

/* Room for so many more bytes, behind those in use; ends the job where there is no memory. */
char *split_append(split_t *split, split_bytes *bytes, size_t size);

/* The kind of a prototype of the world; NULL where its entities have no position, and so belong to every rank. */
split_kind *split_kind_of(split_t *split, uint32_t prototype);

/* The kind of that text. */
split_kind *split_kind_named(split_t *split, const char *text);

/* split_places gives the cells with the places of a prototype's rows, split_place reads the place in one cell.
 * split_identities gives the numbers by which the entities are known on all ranks: NULL where no property says so, or
 * nobody asks, since nothing is audited. */
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
const uint64_t *split_identities(const split_t *split, const split_kind *kind);

/* split_pack_column appends the cells of those rows; split_skip_column steps over a column; split_unpack_column gives
 * the values of a column as properties are set from them, cells of column->size bytes, good until the next column. */
void split_pack_column(split_t *split, split_bytes *out, const split_column *column, const char *cells,
                       const uint32_t *rows, uint32_t count);
const char *split_skip_column(const char *at);
const void *split_unpack_column(split_t *split, const split_column *column, const char *at, uint32_t count);

/* Send out[rank] to each rank and put what comes, rank by rank, into `in`, parcels aligned to 8. */
void split_send(split_t *split);

/* Sum numbers over all ranks. */
void split_sum(split_t *split, uint64_t *numbers, int count);

/* Points of all ranks in the order of ranks. */
cut_point *split_gather(split_t *split, const cut_point *mine, uint64_t count, uint64_t *all);

/* The plugin's state: all worlds that are split. */
typedef struct split_worlds {
    split_t *first;
    bool waiting; /* this rank has a change of plugins ready */
    bool agreed;  /* in the last step all ranks had a change ready */
} split_worlds;

extern const bp_voter_api split_voter;

extern const bp_system_i split_systems[2];

#endif
