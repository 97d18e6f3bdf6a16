/* run.h - one run: the rows of all entities of one prototype, as columns.
 *
 * Column 0 holds the entities; the others hold one declared field each, in the order of the prototype's chain. All
 * columns have `count` rows. Small runs keep their columns in one block, so a run of one entity costs a few hundred
 * bytes; large ones keep each column in a block of its own, which grows in place or by remapping, not by copying.
 *
 * `version` changes whenever a row may have moved or gone: references compare it instead of looking up (bp_ref_t).
 *
 * Not here: the records that say which entity is in which run and row (records.h); the store keeps them in step.
 */
#ifndef HOST_STORE_RUN_H
#define HOST_STORE_RUN_H

#include "../base/base.h"
#include "../base/cells.h"
#include "holes.h"
#include "stamps.h"

enum {
    RUN_ALIGNED_ROWS = 16,          /* from here on columns are aligned to 64 bytes, below to 16 */
    RUN_SPLIT_BYTES = 64 * 1024,    /* runs of more bytes keep each column in a block of its own */
    RUN_KEEP_MOST = 512,            /* columns of one component, those on probation among them */
    RUN_LONG_STRETCH = 8,           /* entities that lie in consecutive rows, from where on they are compared so many at
                                       a time */
    RUN_COPIED_BYTES = 16,          /* a value of no more bytes may be copied as so many, into the last row too: every
                                       column has room for it */
    RUN_RATES = 4,                  /* collections over which the rate of deaths is looked at */
    RUN_SMALL = 16                  /* runs with room for fewer rows keep it while they have any */
};

typedef struct run_block_t {
    char *start;
    size_t size;
} run_block_t;

typedef struct run_t {
    void **columns;            /* the address of row 0 of each column; lies behind this struct. The members of this part
                                  are those of bp_run_head_t: */
    uint32_t count;
    uint32_t version;

    uint32_t capacity;
    uint32_t holes;            /* rows that no entity is in */
    uint32_t way;              /* entities move one by one by the short way (store_one.c) between runs of equal ways:
                                  the signature, or a number of its own where the run is not plain */
    uint32_t in_holes_list;
    uint32_t *sizes;           /* bytes of a cell of each column */
    const field_t **fields;    /* the field of each column; [0] is the entity's */
    uint16_t column_count;
    uint16_t flags;            /* KEY_... of the prototype */
    uint32_t prototype;
    uint32_t left[RUN_RATES];  /* holes that were made since the last collections, the latest first */
    holes_t hole_set;          /* which rows the holes are; the last row is none of them */

    uint32_t pending;          /* rows promised during a batch */
    uint32_t roomy_since;      /* the collection since which most of the room has been empty; 0: most of the room is in
                                  use */
    uint32_t signature;        /* which subscriptions the prototype matches (notices.h) */
    struct run_t *next_pending;
    run_block_t *blocks;       /* [1], or [column_count] where split */
    uint16_t block_room;       /* length of `blocks`, which may be more */
    uint16_t inline_room;      /* columns for which there is room behind this struct */
    uint16_t body_room;        /* columns for which there is room in ... */
    void *body;                /* ... the block that the arrays lie in; NULL: behind this struct */
    bool split;                /* a block for each column */
    bool has_counted;          /* cells that hold something outside themselves */
    bool plain;                /* no such cells, none of more than 16 bytes, and no stamps */
    stamps_t *stamps;          /* when columns were written last; NULL: stamps are not kept */
} run_t;

/* In run_t.way of a run that is not plain, beside the prototype. No signature has this bit. */
#define RUN_ASIDE 0x80000000u

BP_STATIC_ASSERT(offsetof(run_t, count) == offsetof(bp_run_head_t, count), "a run begins with its head");
BP_STATIC_ASSERT(offsetof(run_t, version) == offsetof(bp_run_head_t, version), "a run begins with its head");

/* run_keep_stamps: keep stamps from now on; all columns count as written now; false when out of memory.
 * run_drop_stamps: keep stamps no more. [main] */
bool run_keep_stamps(run_t *run, memory_t *memory, const uint64_t *now);
void run_drop_stamps(run_t *run, memory_t *memory);

/* Keep or drop stamps of a run that comes back into a world: keep them where `now` is not NULL, because the world keeps
 * stamps. */
bool run_match_stamps(run_t *run, memory_t *memory, const uint64_t *now);

/* A run without rows. `fields` gives the field of each column but the first. NULL when out of memory. */
run_t *run_create(memory_t *memory, uint32_t prototype, const field_t *const *fields, uint32_t column_count,
                  uint16_t flags);
void run_free(run_t *run, memory_t *memory, const holdings_t *holdings);

/* Let all rows go, and their memory; the run stays, since references hold the address of its version. */
void run_empty(run_t *run, memory_t *memory, const holdings_t *holdings);

/* Make an empty run that of another prototype. False where it has no room for so many columns: nothing has changed. */
bool run_renew(run_t *run, uint32_t prototype, const field_t *const *fields, uint32_t column_count, uint16_t flags);

/* Which subscriptions the run's prototype matches. */
static inline void run_set_signature(run_t *run, uint32_t signature)
{
    run->signature = signature;
    run->way = run->plain ? signature : RUN_ASIDE | run->prototype;
}

/* Make room for `more` rows; false when out of memory. [main] */
bool run_reserve(run_t *run, memory_t *memory, uint32_t more);

/* Is more than half of the room empty? */
static inline bool run_is_roomy(const run_t *run)
{
    return run->count < run->capacity / 2 && (run->count == 0 || run->capacity >= RUN_SMALL);
}

/* Give back memory of rows that are not used, about `most` bytes of it, until a quarter more than the rows there are
 * remains. Returns how many bytes went. [main] */
size_t run_trim(run_t *run, memory_t *memory, size_t most);

/* Write defaults to columns `first_column` to `last_column` - 1 of rows `first` to first + count - 1. [main] */
void run_fill(run_t *run, uint32_t first_column, uint32_t last_column, uint32_t first, uint32_t count);

/* Write one cell to rows of a column; its cells hold nothing outside themselves. [main] */
void run_fill_with(run_t *run, uint32_t column, uint32_t first, uint32_t count, const void *value);

/* Let go of what cells of `count` rows hold. [main] */
void run_release(run_t *run, uint32_t first_column, uint32_t last_column, uint32_t row, uint32_t count,
                 const holdings_t *holdings);

/* Rows that no entities are in any more become holes, and holes at the end go. Strings and lists in the cells of a hole
 * are kept until the hole is filled or goes. */
void run_leave_rows(run_t *run, uint32_t row, uint32_t count, const holdings_t *holdings);

/* As run_leave_rows, for rows in any order, each named once. */
void run_leave_scattered(run_t *run, const uint32_t *rows, uint32_t count, const holdings_t *holdings);

/* One row that is not the last; the caller stamps it. */
static inline void run_leave_row(run_t *run, uint32_t row)
{
    run->version++;
    run->left[0]++;
    if (run->holes++ == 0)
        run->hole_set.lowest = row; /* the only hole, so that it is found without a search */
    ((bp_entity_t *)run->columns[0])[row] = (bp_entity_t){0};
    holes_add(&run->hole_set, row);
}

/* Holes at the end go. */
void run_cut_holes(run_t *run, const holdings_t *holdings);

/* Move the last row into `row`, all columns; then drop the last row and the holes before it. Precondition: strings and
 * lists that the cells of `row` held have been released or moved. */
void run_erase(run_t *run, uint32_t row, const holdings_t *holdings);

/* Rows for up to `most` entities that are coming, one behind the other: the lowest holes first, then behind the last
 * row, where there must be room. Strings and lists that a hole still held are released. Returns how many rows there are
 * from *first on; their cells hold nothing. */
uint32_t run_take_rows(run_t *run, uint32_t most, uint32_t *first, const holdings_t *holdings);

/* Take the lowest hole as a row, in a run that has holes, and that has no cells that hold something outside
 * themselves. */
static inline uint32_t run_take_hole(run_t *run)
{
    run->holes--;
    return holes_take(&run->hole_set);
}

/* The same where the set of holes knows the lowest one (holes_know_lowest). */
static inline uint32_t run_take_known_hole(run_t *run)
{
    run->holes--;
    return holes_take_known(&run->hole_set);
}

/* Stands in the place of a field after its plugin has gone. */
extern const field_t run_gone_field;

/* The fields of `width` columns from `first` on no longer exist. Precondition: the run has no rows and will never have
 * any again; so its room is given back. [main] */
void run_forget_fields(run_t *run, memory_t *memory, uint32_t first, uint32_t width);

/* --- other columns ------------------------------------------------------------------------------------------------ */

/* Where a column of a run's next shape comes from. */
typedef struct run_pick_t {
    uint32_t from;        /* the run's column; BP_NONE: made new */
    const field_t *field;
} run_pick_t;

/* A column made beside a run before there is a shape that it belongs to. */
typedef struct run_made_t {
    run_block_t block;
    void *cells;       /* NULL: there is none */
    uint32_t capacity; /* cells that there is room for */
} run_made_t;

/* Make room for as many cells of `size` bytes as the run has room for rows. `column`: the number that the column will
 * probably have; another one costs time later, when the run grows. False when out of memory. [main] */
bool run_make_column(run_made_t *made, const run_t *run, memory_t *memory, uint32_t column, uint32_t size);

/* The same where the run has got more or less room since; the first `rows` cells stay. On failure all is as it was. */
bool run_fit_column(run_made_t *made, const run_t *run, memory_t *memory, uint32_t column, uint32_t size,
                    uint32_t rows);

void run_free_column(run_made_t *made, memory_t *memory);

/* The columns of a run as they will be, made beside what they are. */
typedef struct run_shape_t {
    run_t *run;
    run_t kept;       /* only what has to do with columns is used; no run points to it */
    uint8_t *adopted;  /* of the run's columns, then of the shape's: is it the same memory, or a copy? */
    bool *filled;      /* of the shape's: have values been put in that must be let go of? */
    uint32_t old_count, new_count;
    bool exchanged;
} run_shape_t;

/* Columns that are picked keep their memory, where each has a block of its own, or are copied; the others get room, and
 * the caller puts run->count values in and says so in `filled`. picks[0] is the entities. Changes nothing of the run.
 * `made` NULL, or for each column the one that was made before, with as much room as the run has, or NULL: a run whose
 * columns have blocks of their own takes them over, and they are made no more; its rows' cells hold something or
 * nothing (cells_clear). False when out of memory: nothing is held. [main] */
bool run_shape_init(run_shape_t *shape, run_t *run, memory_t *memory, const run_pick_t *picks, run_made_t *const *made,
                    uint32_t count);

/* Run and shape change columns. Cannot fail; once more, and all is as it was. */
void run_shape_exchange(run_shape_t *shape);

/* Free what the shape holds alone: new columns before the exchange, columns that have gone after it, and what their
   cells hold. */
void run_shape_free(run_shape_t *shape, memory_t *memory, const holdings_t *holdings);

/* In place, where columns only go or change their order: of the `width` columns from `first` on those in `picks`
 * (numbers from 0) stay, in that order, with these fields. Cannot fail. */
void run_keep(run_t *run, memory_t *memory, const holdings_t *holdings, uint32_t first, uint32_t width,
              const run_pick_t *picks, uint32_t count);

/* --- a few rows --------------------------------------------------------------------------------------------------- */

enum {
    RUN_SAMPLE_ROWS = 4096,  /* at most, of a run */
    RUN_SAMPLE_FEW = 64,     /* at least */
    RUN_SAMPLE_FROM = 16384  /* rows: smaller runs are not worth it */
};

/* Some rows of a large run, for a copy of this process that does without the others (sample.h). */
typedef struct run_sample_t {
    run_t *run;
    run_block_t block; /* no start: the sample is the run's first rows, where they are */
    uint32_t count;    /* rows */
    uint32_t room;     /* rows that the block has room for */
} run_sample_t;

/* Is a run large, and its memory the system's pages, so that it can be left out of a copy of the process? */
bool run_can_be_left_out(const run_t *run, const memory_t *memory);

/* Copy at most `most` living rows from all over the run, and leave its blocks out of copies of this process, until the
 * sample is given back. `most`: from RUN_SAMPLE_FEW to RUN_SAMPLE_ROWS. false where the run cannot be left out, or
 * memory is lacking: then nothing has changed. [main] */
bool run_sample_take(run_sample_t *sample, run_t *run, memory_t *memory, uint32_t most);

/* A sample of the first `most` rows, for any run that has more; they are not copied, and nothing is left out. */
void run_sample_first(run_sample_t *sample, run_t *run, uint32_t most);

void run_sample_give_back(run_sample_t *sample, memory_t *memory);

/* In the copy of the process: from now on the run has the rows of the sample and no others. Strings and lists of the
 * other rows are not released. */
void run_sample_enter(const run_sample_t *sample);

/* In a copy of the process: from now on the rows lie at these places, one for each column, which have room for
 * run->count rows and RUN_COPIED_BYTES behind them, and which the caller keeps as long as the run. A run that grows
 * leaves them. false when out of memory: the rows lie where they lay. */
bool run_lay(run_t *run, memory_t *memory, void *const *places);

static inline bp_entity_t *run_entities(const run_t *run)
{
    return run->columns[0];
}

static inline void *run_cell(const run_t *run, uint32_t column, uint32_t row)
{
    return (char *)run->columns[column] + (size_t)row * run->sizes[column];
}

/* Bytes that a column of cells of `size` bytes needs: a value may be copied as RUN_COPIED_BYTES into its last row. */
static inline size_t run_cells_bytes(size_t size, size_t capacity)
{
    return size * capacity + (size < RUN_COPIED_BYTES ? RUN_COPIED_BYTES - size : 0);
}

/* As run_stretch, for no more entities than there are rows from `row` on, of which the first `known` are known to lie
   there. */
uint32_t run_long_stretch(const run_t *run, uint32_t row, const bp_entity_t *entities, uint32_t count, uint32_t known);

/* How many of the entities lie in consecutive rows from `row` on; 0 where the first does not lie in `row`. A hole
 * matches no entity, not even an entity {0} of a batch. */
static inline uint32_t run_stretch(const run_t *run, uint32_t row, const bp_entity_t *entities, uint32_t count)
{
    const bp_entity_t *rows = run_entities(run) + row;
    uint32_t most = run->count - row < count ? run->count - row : count, n = 0;
    while (n < most && rows[n].id == entities[n].id && rows[n].id != 0) {
        if (++n == RUN_LONG_STRETCH)
            return run_long_stretch(run, row, entities, most, n);
    }
    return n;
}

/* Copy `count` cells of one row to another, from column to column. The pointers of the runs are read once, since a
 * compiler cannot know that the copies leave them unchanged. */
static inline void run_copy_row(const run_t *from, uint32_t from_column, uint32_t from_row, const run_t *to,
                                uint32_t to_column, uint32_t to_row, uint32_t count)
{
    void *const *source = from->columns + from_column, *const *target = to->columns + to_column;
    const uint32_t *sizes = from->sizes + from_column;
    for (size_t i = count; i != 0; i--) {
        size_t size = sizes[i - 1];
        const char *value = (const char *)source[i - 1] + from_row * size;
        value_copy((char *)target[i - 1] + to_row * size, value, (uint32_t)size);
    }
}

/* Write defaults to all cells of the last row of a plain run but that of the entities, each as 16 bytes. */
static inline void run_fill_all_cells(const run_t *run, uint32_t row)
{
    void *const *columns = run->columns;
    const uint32_t *sizes = run->sizes;
    const field_t *const *fields = run->fields;
    for (size_t c = run->column_count - 1u; c != 0; c--) {
        size_t size = sizes[c];
        memcpy((char *)columns[c] + row * size, &fields[c]->initial, 16);
    }
}

#endif
