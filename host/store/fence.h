/* fence.h - columns that each stand alone between pages without access, in the copy of a trial.
 *
 * A loop that goes past the end of a column writes to the next one, or to memory that has no use at the time, and the
 * error is seen much later. In the copy of a trial the rows of the worlds are laid anew: each column gets pages of its
 * own, with FENCE_CLOSED bytes before and behind them that nothing may touch, and ends as near to the closed pages as
 * its alignment allows. The bytes left before and behind the cells hold a pattern, which is compared after each call.
 * While a plugin that is on trial is called, columns that it may not write are closed to writing as well; of a call
 * that is handed some rows of a run, the other rows of the columns that it may write are compared afterwards. So that a
 * call takes no longer where there are very many columns, those of the rows that it is handed are looked at with each
 * call, with those of its world where these are few, and of the others FENCE_LOOKED, in turn.
 *
 * Runs that get more rows leave these places, and are laid anew with the next fence_lay. The places that they have left
 * are closed: an address that was kept from an earlier call is found too.
 *
 * How many columns and bytes are laid is bounded; runs with columns of the plugins on trial come first.
 *
 * Not here: which columns a call may write (reload/lookout.c); the room behind columns that are not laid (slack.h).
 */
#ifndef HOST_STORE_FENCE_H
#define HOST_STORE_FENCE_H

#include "world.h"

enum {
    FENCE_CLOSED = 256 * 1024,          /* bytes before each column, and behind it */
    FENCE_COLUMNS = 2048,               /* that are laid at most */
    FENCE_BYTES = 64 * 1024 * 1024,     /* of all that are laid, again and again */
    FENCE_LOOKED = 256,                 /* columns of other runs whose pattern is compared after one call */
    FENCE_FEW = 64,                     /* columns of a world that has few */
    FENCE_SHUT = 16                     /* columns of other runs that are closed to writing in one call */
};

/* A place that a column was laid in. */
typedef struct fence_column_t {
    char *pages;             /* that may be touched, with FENCE_CLOSED bytes before and behind them */
    size_t bytes;
    char *cells;             /* the first */
    uint32_t cell, rows;     /* bytes of one; how many */
    const world_t *world;
    const run_t *run;
    uint32_t version;        /* of the run when the pattern was filled in */
    uint32_t call;           /* the number of the last call around which its pattern is compared (fence_t.call) */
    uint32_t prototype;
    uint32_t manager, field; /* BP_NONE, 0: the entities */
    bool lies;               /* a run has the column here; else the pages are closed */
    bool shut;               /* closed to writing */
    bool kept;               /* its cells of rows that the present call was not handed are in fence_t.kept */
    char component[48], name[48];
} fence_column_t;

typedef struct fence_t {
    memory_t *memory;
    plugin_t *const *first; /* the plugins on trial */
    uint32_t first_count;
    fence_column_t *columns; /* by address */
    uint32_t count, capacity;
    size_t bytes;
    uint32_t most;          /* columns that are laid at most: FENCE_COLUMNS, or a part of them until later */
    uint32_t turn;          /* where closing columns of other runs goes on with the next call */
    uint32_t looked_turn;   /* likewise comparing their pattern */
    uint32_t call;          /* how many calls there have been */
    char *pattern;          /* a page of it; NULL: nothing can be laid */
    const run_t *handed;    /* of which the present call was handed `handed_count` rows, and not all; NULL: of none */
    uint32_t handed_first, handed_count, handed_rows; /* handed_rows: of the whole run then */
    char *kept;             /* cells of the other rows, as they were before the call, column by column */
    uint32_t kept_capacity;
} fence_t;

/* The columns that a call may write: those for which `may_write` says so. */
typedef struct fence_rights_t {
    const world_t *world; /* in which it works; NULL: in none */
    uint32_t prototype;   /* of the rows that it was handed; 0: none */
    bool all;             /* the pattern of all columns is to be looked at */
    bool (*may_write)(const void *data, const fence_column_t *column);
    const void *data;
    const bp_entity_t *entities; /* of the rows that it was handed, where they lie one behind another; else NULL */
    uint32_t count;              /* of these */
} fence_rights_t;

void fence_init(fence_t *fence, memory_t *memory, plugin_t *const *first, uint32_t first_count);

/* Lay all columns that are not laid, as far as the bounds allow. Between calls of plugins, in a copy of the process, or
 * in a helper: the runs stay where they are put. Where memory does not suffice columns stay where they are. */
void fence_lay(fence_t *fence, world_t *const *worlds, uint32_t world_count);

/* The same for the columns of one world, where those of others have not moved. */
void fence_lay_in(fence_t *fence, world_t *world);

/* Do the columns of a run lie in the fence? */
bool fence_has(const fence_t *fence, const run_t *run);

/* Before a call: fill the pattern in behind the cells of the columns that are looked at. After it: are the pattern and
 * the rows whole that the call was not handed? Else `reason` says where they were overwritten. */
void fence_fill(fence_t *fence, const fence_rights_t *rights);
bool fence_is_whole(fence_t *fence, char *reason, size_t size);

/* Close columns to writing that the call may not write: those of the rows that it was handed, and FENCE_SHUT others, in
 * turn; and keep the rows of the same columns that it was not handed, where there is memory. Open all again; or those
 * that a further call, inside of this one, may write. */
void fence_shut(fence_t *fence, const fence_rights_t *rights);
void fence_open(fence_t *fence);
void fence_open_for(fence_t *fence, const fence_rights_t *rights);

/* Open the column at an address that is to be written, by the host itself or by code that was given the address for
 * that. false: no column that is closed to writing is there. For handlers of signals too. */
bool fence_permit(fence_t *fence, const void *address);

/* What was done at an address that could not be touched, "it wrote behind the last of 4 rows, to row 900 of the column
 * 'x' of 'spin'". false: the address has nothing to do with the fence. `did`: "wrote", "read". */
bool fence_explain(const fence_t *fence, uintptr_t address, const char *did, char *text, size_t size);

/* Ends with the process: the runs keep their places. */
void fence_free(fence_t *fence);

#endif
