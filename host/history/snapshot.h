/* snapshot.h - the whole state of a host between two steps, as one block of bytes; and reading such a block.
 *
 * A snapshot holds all state that later steps depend on: ids with their generations and the queue of free ones, the
 * lists of spawns, and of each world its clock, its random state, keys, prototypes and runs in their order, rows with
 * their holes, the moves that systems are still to be told of, the entities that placeholders became, and the states of
 * managers, systems and plugins in the way that each declares (BP_KEEP_... of bp_component.h). A snapshot holds no
 * address: another process can read it, where names have been interned (snapshot_read_names).
 *
 * Not in a snapshot: the plugins, worlds, managers and systems of the host, which must be there when the snapshot is
 * brought back (restore.h), with the same columns; and all state that only influences speed: room of runs, caches,
 * paces, figures.
 *
 * Reading checks every length and every number that refers to something: a damaged block is refused, never followed.
 *
 * Invariant: the same host at the same step gives the same bytes, however it came there, but for what is marked [way]
 * below; hashes leave that out.
 */
#ifndef HOST_HISTORY_SNAPSHOT_H
#define HOST_HISTORY_SNAPSHOT_H

#include "../base/bytes.h"
#include "../plugin/loader.h"
#include "../scene/scenes.h"
#include "../step/schedule.h"
#include "../store/notices.h"
#include "pieces.h"

#include <string.h>

#define SNAPSHOT_MAGIC UINT64_C(0x33504E5350504B42) /* "BKPPSNP3" */

/* In place of a length: the bytes are a part; its number is in the lower bits. */
#define SNAPSHOT_PART (UINT64_C(1) << 63)

/* In a length: the bytes stay where they lie, and their address comes here. */
#define SNAPSHOT_IN_PLACE (UINT64_C(1) << 62)

/* The parts of a host that a snapshot has the state of. */
typedef struct parts_t {
    base_t *base;
    entities_t *entities;
    destruction_t *destruction; /* knows the worlds */
    scenes_t *scenes;
    loader_t *loader;
    uint32_t *layouts;          /* the last number given to a world */
    struct outside_t *outside;  /* data for the next step (outside.h); no part of a snapshot */
} parts_t;

/* A snapshot that is being written. */
typedef struct snapshot_writer_t {
    const parts_t *parts;
    bytes_t *bytes;
    pieces_t *pieces;      /* NULL: nothing is cut */
    const uint64_t *looks; /* of worlds, with `pieces` */
    bool in_place;         /* large columns are not copied */
    part_key_t key;        /* of what is written now */
} snapshot_writer_t;

/* Can everything be kept? Else the error names all managers, systems and plugins that do not say how, and what they
 * would have to declare. [main] */
bp_result_t snapshot_check(const parts_t *parts);

/* A plugin that has crashed and is set aside; NULL: there is none. [main] */
const plugin_t *snapshot_crashed(const parts_t *parts);

/* Is the host between steps; and with no plugin set aside? Else BP_ERROR_STATE. [main] */
bp_result_t snapshot_between(const parts_t *parts);
bp_result_t snapshot_moment(const parts_t *parts);

/* Append the state of a host to `bytes`, at a multiple of 16. Systems that have come since the last step are settled
 * first, as a step does. On failure nothing has changed, and `bytes` holds what it held. [main], between steps */
bp_result_t snapshot_take(const parts_t *parts, bytes_t *bytes);

/* As snapshot_take, but large columns and the generations of ids stay in the host: their addresses are written down. So
 * the block is good until the host changes, for snapshot_open_in_place alone, and is to be brought back into another
 * host. [main], between steps */
bp_result_t snapshot_take_in_place(const parts_t *parts, bytes_t *bytes);

/* As snapshot_take, in pieces that are shared with the keyframe before: large columns and states are cut into
 * `pieces`, the rest is written to pieces->rest, with their numbers in it. looks[w] is when world `w` was looked at
 * last, 0: never; columns that are stamped and have not been written since are not looked at. The caller calls
 * pieces_begin before and pieces_end after it. [main], between steps */
bp_result_t snapshot_take_pieces(const parts_t *parts, pieces_t *pieces, const uint64_t *looks);

/* About how many bytes a snapshot would take at least. */
size_t snapshot_measure(const parts_t *parts);

/* Texts of all names that are interned, for another process; and interning them there. [main] */
void snapshot_put_names(const base_t *base, bytes_t *bytes);
bp_result_t snapshot_read_names(base_t *base, reader_t *reader);

/* --- reading ------------------------------------------------------------------------------------------------------ */

typedef struct kept_state_t {
    uint32_t road;    /* BP_KEEP_... */
    uint32_t present; /* there was a state */
    const void *data; /* of BP_KEEP_PLAIN and BP_KEEP_SAVED */
    uint64_t size;
} kept_state_t;

typedef struct kept_field_t {
    const char *name;
    uint32_t type, size, elements, flags;
} kept_field_t;

typedef struct kept_manager_t {
    const char *type;
    uint32_t started, own_storage, version, column_count;
    uint64_t form;
    kept_field_t *columns;
    kept_state_t state;
} kept_manager_t;

typedef struct kept_key_t {
    bp_name_t name;
    uint32_t manager;
    uint32_t padding;
} kept_key_t;

typedef struct kept_prototype_t {
    uint32_t base, key;
} kept_prototype_t;

typedef struct kept_column_t {
    const char *data;   /* counted: each cell as text, or as count and items; else as in a run */
    const part_t *part; /* not NULL: the column lies in pieces of `cut`, and `data` is NULL; such a snapshot is there to
                           be brought back, and not to be compared */
    const cut_t *cut;
    uint64_t size;
    const kept_field_t *field; /* NULL of the entities' */
    bool counted;
} kept_column_t;

typedef struct kept_run_t {
    uint32_t prototype, count, holes, signature;
    uint32_t left[RUN_RATES];
    uint32_t column_count;
    kept_column_t *columns;
} kept_run_t;

typedef struct kept_unit_t {
    const char *name;
    uint32_t is_system, told, subscription;
    uint64_t form;
    kept_state_t state;
} kept_unit_t;

/* Messages that were sent in the last step, and are to be read in the next one (step/messages.h). */
typedef struct kept_channel_t {
    const char *name;
    message_field_t *fields;
    uint32_t field_count, count, size; /* of a record */
    const char *records;
} kept_channel_t;

/* The moves that systems are still to be told of (store/notices.h). [way] */
typedef struct kept_notices_t {
    uint32_t present, words, subscriptions, signature_count, count, stretch_count, kind_count, indexed;
    const void *signatures, *kinds, *entities, *hops;
    uint32_t hop_count;
} kept_notices_t;

typedef struct kept_world_t {
    const char *name;
    double step_rate, time, speed;
    uint64_t steps, granted;
    uint32_t stopped;
    uint64_t random;
    uint32_t occupied, holed_next, holed_lost;
    kept_manager_t *managers;
    uint32_t manager_count;
    kept_key_t *keys;
    uint32_t key_count;
    kept_prototype_t *prototypes; /* from number 1 on */
    uint32_t prototype_count;     /* with number 0 */
    uint32_t *prototype_columns, *prototype_keys; /* of each, their numbers */
    kept_run_t *runs;
    uint32_t run_count;
    const uint32_t *holed;        /* numbers of runs */
    uint32_t holed_count;
    kept_unit_t *units;
    uint32_t unit_count;
    uint64_t made_step, failures;
    const commands_created_t *calls;
    uint32_t call_count;
    const bp_entity_t *created;
    uint32_t created_count;
    struct kept_channel_t *channels;
    uint32_t channel_count;
    kept_notices_t notices;
} kept_world_t;

typedef struct kept_spawn_t {
    const bp_entity_t *entities;
    uint32_t present, count, generation, next_free;
} kept_spawn_t;

typedef struct kept_plugin_t {
    const char *name, *version;
    uint64_t form;
    kept_state_t state;
} kept_plugin_t;

/* The indices that a world keeps for its own (entities.h). */
typedef struct kept_pool_t {
    uint32_t fresh, fresh_end, count;
    const uint32_t *free;
} kept_pool_t;

/* A block that has been read. The bytes of columns and states are pointed to where they lie in the block. */
typedef struct snapshot_t {
    memory_t *memory;
    struct arena_chunk_t *arena;
    uint32_t entity_base, bound, living, queue_count;
    const uint32_t *lives, *queue;
    uint32_t parked_count, reached, floor_count; /* parking.h; floors of the pages from the bound to `reached` */
    const uint32_t *floors;
    const uint32_t *owners;    /* of each page of indices: the number of a pool, from 1 on, or 0 */
    uint32_t owner_count;
    kept_pool_t *pools;        /* of each world */
    uint32_t pool_count;
    kept_spawn_t *spawns;
    uint32_t spawn_count, first_free_spawn;
    kept_plugin_t *plugins;
    uint32_t plugin_count;
    kept_world_t *worlds;
    uint32_t world_count;
} snapshot_t;

/* Read a block, aligned to 16, which must stay as it is. BP_ERROR_SYNTAX where it is damaged; memory. On failure the
 * snapshot is empty. [main] */
bp_result_t snapshot_open(snapshot_t *snapshot, memory_t *memory, error_text_t *error, const void *bytes, size_t size);
void snapshot_close(snapshot_t *snapshot);

/* As snapshot_open, for a block that this process has just written: its numbers are not checked. */
bp_result_t snapshot_open_own(snapshot_t *snapshot, memory_t *memory, error_text_t *error, const void *bytes,
                              size_t size);

/* As snapshot_open_own, for a block of snapshot_take_in_place. */
bp_result_t snapshot_open_in_place(snapshot_t *snapshot, memory_t *memory, error_text_t *error, const void *bytes,
                                   size_t size);

/* Read the pieces of snapshot_take_pieces: bytes of this process; their numbers are not checked. */
bp_result_t snapshot_open_pieces(snapshot_t *snapshot, memory_t *memory, error_text_t *error, const cut_t *cut,
                                 const void *bytes, size_t size);

/* Copy the bytes of a column. */
static inline void kept_column_copy(const kept_column_t *column, void *to)
{
    if (column->part != NULL)
        part_copy(column->cut, column->part, to);
    else
        memcpy(to, column->data, (size_t)column->size);
}

#endif
