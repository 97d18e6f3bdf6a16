/* test_runs.c - the rows of one run, without a world around it: against a naive model under random changes, with each
 * request for memory refused, and how much room a run takes and gives back.
 *
 * The model keeps for each row its entity and a number from which all values of the row follow. Rows that are holes
 * keep their values, and what these hold, until the hole is filled or goes.
 */
#include "../suites.h"
#include "base_stage.h"
#include "store/run_inner.h"

#include <string.h>

/* --- fields ------------------------------------------------------------------------------------------------------- */

/* One of each size that is filled or copied in a way of its own, and one of each kind that holds something. */
enum { BYTE, SHORT, WORD, LONG, THREE, FOUR, LARGE, ARRAY, TEXT, LIST, FIELDS };

static field_t kinds[FIELDS] = {
    [BYTE] = {.name = "byte", .type = BP_U8, .size = 1},
    [SHORT] = {.name = "short", .type = BP_U16, .size = 2},
    [WORD] = {.name = "word", .type = BP_U32, .size = 4},
    [LONG] = {.name = "long", .type = BP_U64, .size = 8},
    [THREE] = {.name = "three", .type = BP_VEC3, .size = 12},
    [FOUR] = {.name = "four", .type = BP_VEC4, .size = 16},
    [LARGE] = {.name = "large", .type = BP_MAT4, .size = 64},
    [ARRAY] = {.name = "array", .type = BP_U32, .size = 12, .elements = 3},
    [TEXT] = {.name = "text", .type = BP_STRING, .size = sizeof(char *)},
    [LIST] = {.name = "list", .type = BP_U32, .size = sizeof(bp_list_t), .flags = BP_FIELD_LIST,
              .initial_is_zero = true},
};
static const field_t *columns[FIELDS];

static strings_t strings;
static lists_t lists;
static holdings_t holdings;
static memory_t account; /* of runs alone */

static void begin_runs(void)
{
    begin();
    strings_init(&strings, &memory);
    lists_init(&lists, &memory);
    memory_init_child(&account, "runs", &memory);
    holdings = (holdings_t){&strings, &lists, NULL};
    for (uint32_t k = 0; k < FIELDS; k++) {
        columns[k] = &kinds[k];
        for (uint32_t i = 0; k != LIST && k != TEXT && i < sizeof kinds[k].initial; i++)
            ((unsigned char *)&kinds[k].initial)[i] = (unsigned char)(0x80 + 16 * k + i);
    }
    for (uint32_t i = 1; i < 3; i++) /* elements of an array begin as one value */
        memcpy((char *)&kinds[ARRAY].initial + 4 * i, &kinds[ARRAY].initial, 4);
    kinds[TEXT].initial.string = strings_acquire(&strings, "unnamed");
}

static void end_runs(void)
{
    strings_release(&strings, kinds[TEXT].initial.string);
    ck_assert_uint_eq(strings.count, 0);
    ck_assert_uint_eq(memory_bytes(&account), 0);
    ck_assert_int_eq(lists.main.blocks, 0);
    lists_free(&lists);
    strings_free(&strings);
    end();
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

enum { MOST = 3000, TEXTS = 7 };

typedef struct row_t {
    uint64_t id;   /* 0: a hole */
    uint32_t mark; /* what its values are made of; 0: the defaults */
} row_t;

static struct {
    row_t rows[MOST];
    uint32_t count, holes, serial;
} model;

static uint64_t new_id(void)
{
    model.serial++;
    return (uint64_t)(2 * model.serial + 1) << 32 | model.serial; /* the generation of a living entity is odd */
}

static uint32_t list_length(uint32_t mark)
{
    return mark % 4;
}

static void name_of(uint32_t mark, char *text, size_t size)
{
    snprintf(text, size, mark == 0 ? "unnamed" : "text %u", mark % TEXTS);
}

static void value_of(uint32_t kind, uint32_t mark, unsigned char *value)
{
    for (uint32_t i = 0; i < kinds[kind].size; i++)
        value[i] = mark > 0 || kind == LARGE ? (unsigned char)(mark * 31 + kind * 17 + i * 7) : 0;
    if (mark == 0)
        memcpy(value, &kinds[kind].initial, kinds[kind].size);
}

static uint32_t kind_of(const run_t *run, uint32_t column)
{
    uint32_t kind = 0;
    while (run->fields[column] != &kinds[kind])
        kind++;
    return kind;
}

static bool holds(const run_t *run, uint32_t column, uint32_t row, uint32_t mark)
{
    unsigned char value[64];
    char text[32];
    const void *cell = run_cell(run, column, row);
    uint32_t kind = kind_of(run, column);
    if (kind == TEXT) {
        const char *held;
        memcpy(&held, cell, sizeof held);
        name_of(mark, text, sizeof text);
        return strcmp(held, text) == 0;
    }
    if (kind == LIST) {
        bp_list_t list;
        memcpy(&list, cell, sizeof list);
        bool right = list.count == list_length(mark);
        for (uint32_t i = 0; i < list.count && right; i++)
            right = ((const uint32_t *)list.items)[i] == mark + i;
        return right;
    }
    value_of(kind, mark, value);
    return memcmp(cell, value, kinds[kind].size) == 0;
}

/* Give all values of a row of the run that follow from `mark`, in place of what it has. */
static void write_row(run_t *run, uint32_t row, uint32_t mark)
{
    unsigned char value[64];
    char text[32];
    run_release(run, 1, run->column_count, row, 1, &holdings);
    for (uint32_t c = 1; c < run->column_count; c++) {
        void *cell = run_cell(run, c, row);
        uint32_t kind = kind_of(run, c);
        const uint32_t items[] = {mark, mark + 1, mark + 2};
        const char *held;
        name_of(mark, text, sizeof text);
        if (kind == TEXT) {
            held = strings_acquire(&strings, text);
            memcpy(cell, &held, sizeof held);
        } else if (kind == LIST) {
            ck_assert(cell_set_items(&holdings, run->fields[c], cell, items, list_length(mark)));
        } else {
            value_of(kind, mark, value);
            memcpy(cell, value, kinds[kind].size);
        }
    }
    model.rows[row].mark = mark;
}

/* --- a run is in order -------------------------------------------------------------------------------------------- */

/* Bytes of a column in a block that columns share, and of a block of its own. */
static size_t shared_bytes(uint32_t size, uint32_t capacity)
{
    size_t unit = capacity >= 16 ? 64 : 16, bytes = (size_t)size * capacity + (size < 16 ? 16 - size : 0);
    return (bytes + unit - 1) / unit * unit;
}

static size_t own_bytes(uint32_t size, uint32_t capacity)
{
    size_t bytes = (size_t)size * capacity;
    return bytes + 64 * ((bytes < MEMORY_LARGE ? 8u : 64u) + 1);
}

static void check_shared(const run_t *run)
{
    size_t size = run->capacity >= 16 ? 64 : 0;
    EXPECT(run->block_room == 1, "room for %u blocks", run->block_room);
    for (uint32_t c = 0; c < run->column_count; c++) {
        if (c > 0)
            EXPECT((size_t)((char *)run->columns[c] - (char *)run->columns[c - 1]) ==
                       shared_bytes(run->sizes[c - 1], run->capacity), "column %u", c);
        size += shared_bytes(run->sizes[c], run->capacity);
    }
    EXPECT(run->blocks->size == size, "a block of %zu bytes, not %zu", run->blocks->size, size);
    size_t shift = (size_t)((char *)run->columns[0] - run->blocks->start);
    EXPECT(shift < (run->capacity >= 16 ? 64 : 1), "rows begin %zu bytes behind the block", shift);
}

/* `tight`: memory was never refused, so that no block is larger than it has to be. */
static void check_split(const run_t *run, bool tight)
{
    EXPECT(run->block_room == run->column_count, "room for %u blocks", run->block_room);
    for (uint32_t c = 0; c < run->column_count; c++) {
        size_t size = own_bytes(run->sizes[c], run->capacity), is = run->blocks[c].size;
        size_t lines = (size_t)((char *)run->columns[c] - run->blocks[c].start) / 64;
        EXPECT(tight ? is == size : is >= size, "a block of %zu bytes, not %zu", is, size);
        EXPECT(lines <= (is < MEMORY_LARGE ? 8 : 64), "column %u begins %zu lines behind its block", c, lines);
    }
}

/* The run has the rows of the model, and its memory is as its head says. */
static void check_run(const run_t *run, bool tight)
{
    uint32_t holes = 0, wrong = 0, hole = 0;
    size_t bytes = sizeof *run + (run->inline_room + run->body_room) * RUN_COLUMN_BYTES + stamps_bytes(run->stamps);
    EXPECT(run->count == model.count && run->count <= run->capacity, "%u rows, room for %u", run->count, run->capacity);
    for (uint32_t row = 0; row < model.count; row++) {
        wrong += run_entities(run)[row].id != model.rows[row].id;
        for (uint32_t c = 1; c < run->column_count; c++)
            wrong += !holds(run, c, row, model.rows[row].mark);
        if (model.rows[row].id != 0)
            continue;
        EXPECT(holes > 0 || run->hole_set.lowest <= row, "row %u is a hole, below %u", row, run->hole_set.lowest);
        hole = holes_next(&run->hole_set, holes == 0 ? 0 : hole + 1);
        EXPECT(hole == row, "hole %u is not %u", hole, row);
        holes++;
    }
    EXPECT(wrong == 0, "%u cells are wrong", wrong);
    EXPECT(run->holes == holes, "%u holes, not %u", run->holes, holes);
    if (run->capacity == 0) {
        EXPECT(run->blocks == NULL && run->block_room == 0 && !run->split, "blocks for no rows");
        EXPECT(!tight || run->hole_set.rows == 0, "bits for %u rows, where there is room for none", run->hole_set.rows);
        for (uint32_t c = 0; c < run->column_count; c++)
            EXPECT(run->columns[c] == NULL, "column %u of no rows", c);
    } else {
        EXPECT(holes_next(&run->hole_set, holes == 0 ? 0 : hole + 1) == BP_NONE, "holes that are none");
        EXPECT(run->hole_set.rows >= run->capacity, "%u rows can be holes", run->hole_set.rows);
        for (uint32_t c = 0; c < run->column_count; c++)
            EXPECT((uintptr_t)run->columns[c] % (run->capacity >= 16 ? 64 : 16) == 0, "column %u is aligned badly", c);
        if (run->split)
            check_split(run, tight);
        else
            check_shared(run);
        for (uint32_t i = 0; i < (run->split ? run->column_count : 1); i++)
            bytes += run->blocks[i].size;
        bytes += run->block_room * sizeof *run->blocks;
    }
    if (run->hole_set.rows > HOLES_FEW)
        bytes += (run->hole_set.level[2] + (run->hole_set.rows + 64 * 64 * 64 - 1) / (64 * 64 * 64)) * sizeof(uint64_t);
    EXPECT(!tight || memory_bytes(&account) == bytes, "%zu bytes are taken, not %zu", memory_bytes(&account), bytes);
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

static void cut_model(void)
{
    while (model.count > 0 && model.rows[model.count - 1].id == 0)
        model.count--;
}

/* How many rows of `run` from `first` on will be one stretch, as the model sees it. */
static uint32_t model_stretch(uint32_t most, uint32_t *first)
{
    uint32_t count = 0;
    *first = 0;
    while (*first < model.count && model.rows[*first].id != 0)
        ++*first;
    if (*first == model.count)
        return most;
    while (count < most && model.rows[*first + count].id == 0)
        count++;
    return count;
}

static void append(run_t *run, uint32_t count, uint64_t *random)
{
    for (uint32_t done = 0, n, first, expected; done < count; done += n) {
        n = run_take_rows(run, count - done, &first, &holdings);
        EXPECT(n == model_stretch(count - done, &expected) && first == expected, "%u rows from %u on", n, first);
        run_fill(run, 1, run->column_count, first, n);
        for (uint32_t row = first; row < first + n; row++) {
            model.rows[row] = (row_t){new_id(), 0};
            run_entities(run)[row].id = model.rows[row].id;
            if (bp_random_below(random, 3) > 0)
                write_row(run, row, 1 + bp_random_below(random, 1000));
        }
        model.count = first + n > model.count ? first + n : model.count;
    }
}

static void leave_some(run_t *run, uint32_t first, uint32_t most)
{
    uint32_t count = 0;
    while (first + count < model.count && count < most && model.rows[first + count].id != 0)
        count++;
    uint32_t before = run->left[0];
    if (count == 0)
        return;
    if (most == 1 && first + 1 < model.count) {
        stamps_note_rows(run->stamps, first, 1);
        run_leave_row(run, first);
    } else {
        run_leave_rows(run, first, count, &holdings);
    }
    EXPECT(run->left[0] == before + count, "%u rows were left, and not %u", run->left[0], before + count);
    for (uint32_t row = first; row < first + count; row++)
        model.rows[row].id = 0;
    cut_model();
}

static void leave_scattered(run_t *run, uint64_t *random, uint32_t share)
{
    static uint32_t rows[MOST];
    uint32_t count = 0, from = model.count;
    for (uint32_t row = 0; row < model.count; row++) {
        if (model.rows[row].id != 0 && (bp_random_below(random, share) == 0 || (share == 3 && row > model.count / 2)))
            rows[count++] = row;
    }
    for (uint32_t i = count; i > 1; i--) { /* in any order */
        uint32_t other = bp_random_below(random, i), kept = rows[other];
        rows[other] = rows[i - 1];
        rows[i - 1] = kept;
    }
    if (from == 0)
        return;
    from = run->left[0];
    run_leave_scattered(run, rows, count, &holdings);
    EXPECT(run->left[0] == from + count, "%u rows were left, and not %u", run->left[0], from + count);
    for (uint32_t i = 0; i < count; i++)
        model.rows[rows[i]].id = 0;
    cut_model();
}

static void erase(run_t *run, uint32_t row)
{
    if (model.rows[row].id == 0) {
        holes_remove(&run->hole_set, row);
        run->holes--;
    }
    run_release(run, 1, run->column_count, row, 1, &holdings);
    run_erase(run, row, &holdings);
    model.rows[row] = model.rows[--model.count];
    cut_model();
}

static size_t block_bytes(const run_t *run)
{
    size_t bytes = 0;
    for (uint32_t i = 0; run->blocks != NULL && i < (run->split ? run->column_count : 1); i++)
        bytes += run->blocks[i].size;
    return bytes;
}

static void trim(run_t *run, size_t most)
{
    size_t before = block_bytes(run);
    uint32_t capacity = run->capacity, least = run->count + run->count / 4;
    size_t freed = run_trim(run, &account, most);
    least = least < capacity ? least : capacity;
    EXPECT(run->capacity >= least && run->capacity <= capacity, "room for %u of %u rows, where it was %u",
           run->capacity, run->count, capacity);
    EXPECT(most < SIZE_MAX / 2 || heap.refuse_first != 0 || run->capacity == least,
           "room for %u rows, where %u are needed", run->capacity, least);
    EXPECT(freed == before - block_bytes(run), "%zu bytes of %zu freed", freed, before);
    EXPECT(freed == 0 || heap.refuse_first != 0 || run->hole_set.rows < run->capacity + 64, "bits for %u rows",
           run->hole_set.rows);
}

/* The numbers of entities before a change, to see which rows have changed. */
static void expect_told(const run_t *run, const uint64_t *before, uint32_t count, uint32_t version, uint64_t now)
{
    bool moved = false;
    for (uint32_t row = 0; row < (count > model.count ? count : model.count); row++) {
        bool same = row < count && row < model.count && before[row] == model.rows[row].id;
        bool left = row < count && before[row] != 0;
        moved |= left && !same;
        EXPECT(same || (row >= model.count && !left) || run->stamps == NULL ||
                   stamps_of_block(run->stamps, 0, row / BP_STAMP_ROWS) == now,
               "row %u has another entity or none, and no stamp says so", row);
    }
    EXPECT(moved ? run->version > version : run->version >= version, "version %u comes after %u", run->version,
           version);
}

/* Let the next request for memory, or one of those after it, be refused. */
static void refuse(uint32_t which)
{
    heap.refuse_first = heap.refuse_last = heap.requests + which;
}

static void reserve(run_t *run, uint32_t more, uint64_t *random, bool *tight)
{
    uint32_t room = run->capacity, version = run->version;
    void *was = run->columns[0];
    if (bp_random_below(random, 3) == 0)
        refuse(1 + bp_random_below(random, 8));
    bool good = run_reserve(run, &account, more);
    EXPECT(good || heap.requests >= heap.refuse_first, "refused");
    *tight = *tight && good;
    heap.refuse_first = 0;
    EXPECT(run->capacity >= room, "room for %u rows, where it was %u", run->capacity, room);
    EXPECT(was == NULL || run->columns[0] == was || run->version > version, "rows lie elsewhere in the same version");
    check_run(run, false);
    room = run->capacity;
    EXPECT(run_reserve(run, &account, more), "no memory");
    *tight = *tight || run->capacity > room; /* all of its blocks have been made anew */
    EXPECT(run->capacity >= run->count + more, "room for %u", run->capacity);
}

/* Loops: all columns, and those alone of which a run may take short ways. */
START_TEST(a_run_does_what_a_naive_model_does)
{
    static uint64_t before[MOST];
    uint64_t random = 500 + (uint64_t)_i, now = 1;
    bool tight = true;
    memset(&model, 0, sizeof model);
    run_t *run = run_create(&account, 3, columns, _i % 2 == 0 ? FIELDS + 1 : LARGE + 1, 0);
    ck_assert_ptr_nonnull(run);
    check_run(run, tight);
    for (uint32_t round = 0; round < 250; round++, now++) {
        uint32_t count = model.count, version = run->version, many = round / 50 % 2 == 0 ? 200 : 40;
        uint32_t n = 1 + bp_random_below(&random, bp_random_below(&random, 3) == 0 ? many : 5);
        for (uint32_t row = 0; row < count; row++)
            before[row] = model.rows[row].id;
        switch (bp_random_below(&random, 9)) {
        case 0:
        case 1:
        case 2:
            if (model.count + n > MOST)
                break;
            reserve(run, n, &random, &tight);
            append(run, n, &random);
            break;
        case 3: leave_some(run, bp_random_below(&random, count + 1), n); break;
        case 4: leave_some(run, bp_random_below(&random, count + 1), 1); break;
        case 5: leave_scattered(run, &random, 3 + 17 * bp_random_below(&random, 3)); break;
        case 6:
            if (count > 0)
                erase(run, bp_random_below(&random, count));
            break;
        case 7:
            if (bp_random_below(&random, 3) == 0) {
                refuse(1 + bp_random_below(&random, 8));
                tight = false;
            }
            trim(run, bp_random_below(&random, 2) == 0 ? SIZE_MAX / 2 : bp_random_below(&random, 20000));
            heap.refuse_first = 0;
            break;
        default:
            if (round % 3 == 0)
                ck_assert(run_match_stamps(run, &account, run->stamps == NULL ? &now : NULL));
            ck_assert(run->plain == (_i % 2 == 1 && run->stamps == NULL));
            break;
        }
        expect_told(run, before, count, version, now);
        check_run(run, tight);
    }
    ck_assert_uint_gt(model.serial, 1000);
    run_free(run, &account, &holdings);
}
END_TEST

/* --- room --------------------------------------------------------------------------------------------------------- */

/* A run of so many rows, of these columns, with values; it is `model`'s. */
static run_t *make_run(memory_t *from, uint32_t prototype, const field_t *const *fields, uint32_t count, uint32_t rows)
{
    uint64_t random = 7;
    memset(&model, 0, sizeof model);
    run_t *run = run_create(from, prototype, fields, count + 1, 0);
    ck_assert_ptr_nonnull(run);
    ck_assert(run_reserve(run, from, rows));
    append(run, rows, &random);
    return run;
}

/* Room doubles, but where the rows are pages, which grow without being copied. What is asked for is there at least. */
START_TEST(a_run_that_needs_room_takes_more_than_it_needs)
{
    static const struct {
        uint32_t rows, more, room;
        bool pages;
    } cases[] = {
        {0, 1, 1, false},          {1, 1, 2, false},          {2, 1, 4, false},         {4, 1, 8, false},
        {4, 4, 8, false},          {4, 5, 9, false},          {100, 1, 200, false},     {100, 300, 400, false},
        {7, 2, 14, false},         {40000, 1, 80000, false},  {32767, 1, 65534, true},  {32768, 1, 40960, true},
        {40000, 1, 50000, true},   {40000, 9999, 50000, true}, {40000, 10001, 50001, true},
    };
    static const field_t *const one[] = {&kinds[WORD]};
    memory_t pages;
    memory_init(&pages, "pages", &(bp_allocator_i){.resize = NULL});
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        memory_t *from = cases[i].pages ? &pages : &account;
        run_t *run = run_create(from, 1, one, 2, 0);
        ck_assert(cases[i].rows == 0 || run_reserve(run, from, cases[i].rows));
        EXPECT(run->capacity == cases[i].rows, "%u: room for %u", i, run->capacity);
        run->count = cases[i].rows;
        uint32_t version = run->version;
        ck_assert(run_reserve(run, from, 0));
        ck_assert(run->capacity == cases[i].rows && run->version == version);
        ck_assert(run_reserve(run, from, cases[i].more));
        EXPECT(run->capacity == cases[i].room, "%u: room for %u", i, run->capacity);
        ck_assert(!run_reserve(run, from, UINT32_MAX / 2 - run->count + 1));
        ck_assert(!run_reserve(run, from, UINT32_MAX));
        EXPECT(run->capacity == cases[i].room, "%u: room for %u", i, run->capacity);
        run_free(run, from, &holdings);
    }
    ck_assert_uint_eq(memory_bytes(&pages), 0);
}
END_TEST

/* In a crowd of medium blocks the sizes are 4 to 7 times a power of two, and there are few of them. */
START_TEST(a_run_in_a_crowd_goes_through_few_sizes)
{
    enum { CROWD = SUPERBLOCKS_FROM / SUPERBLOCKS_LEAST + 1 };
    static const struct {
        uint32_t rows, more, room;
    } cases[] = {
        {3, 1, 6},         {255, 1, 510},    {1000, 1, 2000},   {1500, 1, 1792},  {1792, 1, 2048},
        {1600, 100, 2048}, {2048, 1, 2560},  {2048, 200, 2560}, {2560, 1, 3072},  {3000, 1, 3584},
    };
    static const field_t *const one[] = {&kinds[WORD]};
    static void *blocks[CROWD];
    superblocks_t superblocks;
    superblocks_init(&superblocks, &memory);
    superblocks.allowed = true;
    account.superblocks = memory.superblocks;
    for (uint32_t i = 0; i < CROWD; i++)
        ck_assert_ptr_nonnull(blocks[i] = superblocks_resize(&account, NULL, 0, SUPERBLOCKS_LEAST));
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        run_t *run = run_create(&account, 1, one, 2, 0);
        ck_assert(run_reserve(run, &account, cases[i].rows));
        run->count = cases[i].rows;
        ck_assert(run_reserve(run, &account, cases[i].more));
        EXPECT(run->capacity == cases[i].room, "%u: room for %u", i, run->capacity);
        run_free(run, &account, &holdings);
    }
    for (uint32_t i = 0; i < CROWD; i++)
        superblocks_free_block(&account, blocks[i], SUPERBLOCKS_LEAST);
    superblocks_free(&superblocks);
    memory.superblocks = NULL;
}
END_TEST

/* Where the block of a run has room behind it, its columns are only moved apart. */
START_TEST(a_run_grows_where_it_lies)
{
    enum { CROWD = SUPERBLOCKS_FROM / SUPERBLOCKS_LEAST + 1 };
    static field_t wide = {.name = "wide", .type = BP_U32, .size = 1100, .elements = 275, .initial_is_zero = true};
    static const field_t *const some[2][2] = {{&wide, &wide}, {&kinds[WORD], &kinds[FOUR]}};
    static void *blocks[CROWD];
    superblocks_t superblocks;
    uint32_t stayed[2] = {0, 0};
    superblocks_init(&superblocks, &memory);
    superblocks.allowed = true;
    account.superblocks = memory.superblocks;
    for (uint32_t i = 0; i < CROWD; i++)
        ck_assert_ptr_nonnull(blocks[i] = superblocks_resize(&account, NULL, 0, SUPERBLOCKS_LEAST));
    for (uint32_t kind = 0; kind < 2; kind++) {
        run_t *run = run_create(&account, 1, some[kind], 3, 0);
        ck_assert(run_reserve(run, &account, kind == 0 ? 16 : 1000));
        for (uint32_t growths = 0; growths < (kind == 0 ? 2 : 6); growths++) {
            const char *before = run->blocks->start;
            run->count = run->capacity;
            memset(run->columns[0], 7, 8 * run->count);
            ck_assert(run_reserve(run, &account, 1));
            stayed[kind] += run->blocks->start == before;
            for (uint32_t i = 0; i < 8 * run->count; i++)
                EXPECT(((const char *)run->columns[0])[i] == 7, "byte %u of the entities", i);
        }
        run->count = 0;
        run_free(run, &account, &holdings);
    }
    ck_assert_msg(stayed[0] == 2 && stayed[1] >= 2, "%u and %u", stayed[0], stayed[1]);
    for (uint32_t i = 0; i < CROWD; i++)
        superblocks_free_block(&account, blocks[i], SUPERBLOCKS_LEAST);
    superblocks_free(&superblocks);
    memory.superblocks = NULL;
}
END_TEST

/* The block of these columns and its line in front have 65,536 bytes for 5,453 rows. */
START_TEST(columns_have_blocks_of_their_own_from_64_kib_on)
{
    static const field_t *const one[] = {&kinds[WORD]};
    for (uint32_t more = 0; more < 2; more++) {
        run_t *run = run_create(&account, 1, one, 2, 0);
        ck_assert(run_reserve(run, &account, 5453 + more));
        ck_assert(run->capacity == 5453 + more && run->split == (more > 0));
        run_free(run, &account, &holdings);
    }
}
END_TEST

/* The plugin that declared them may have gone. */
START_TEST(fields_of_a_run_without_rows_are_not_looked_at)
{
    for (uint32_t i = 0; i < 2; i++) {
        run_t *run = make_run(&account, 1, columns, FIELDS, 3);
        leave_some(run, 0, 3);
        for (uint32_t c = 1; c <= FIELDS; c++)
            run->fields[c] = NULL;
        if (i == 0)
            run_empty(run, &account, &holdings);
        run_free(run, &account, &holdings);
    }
}
END_TEST

/* Rows at the ends of what one stamp is for. */
START_TEST(stamps_of_rows_beside_those_that_change_stay)
{
    static const uint32_t last = 2 * BP_STAMP_ROWS - 1, first = BP_STAMP_ROWS;
    static const field_t *const one[] = {&kinds[WORD]};
    for (uint32_t kind = 0; kind < 6; kind++) {
        uint64_t now = 1;
        uint32_t at;
        run_t *run = make_run(&account, 1, one, 1, 4 * BP_STAMP_ROWS);
        ck_assert(run_keep_stamps(run, &account, &now));
        now = 2;
        switch (kind) {
        case 0: run_leave_scattered(run, &last, 1, &holdings); break;
        case 1: run_leave_scattered(run, &first, 1, &holdings); break;
        case 2: run_leave_rows(run, first, BP_STAMP_ROWS, &holdings); break;
        case 3: run_leave_rows(run, last, 1, &holdings); break;
        case 4:
            now = 1;
            run_leave_rows(run, first, BP_STAMP_ROWS, &holdings);
            now = 2;
            ck_assert_uint_eq(run_take_rows(run, BP_STAMP_ROWS, &at, &holdings), BP_STAMP_ROWS);
            break;
        default:
            now = 1;
            run_leave_rows(run, last, 1, &holdings);
            now = 2;
            ck_assert_uint_eq(run_take_rows(run, BP_STAMP_ROWS, &at, &holdings), 1);
            break;
        }
        for (uint32_t block = 0; block < 4; block++)
            EXPECT(stamps_of_block(run->stamps, 0, block) == (block == 1 ? 2 : 1), "%u: block %u", kind, block);
        run_free(run, &account, &holdings);
    }
}
END_TEST

/* About as much as was asked for goes at a time, until a quarter more than the rows is left. */
START_TEST(room_that_is_not_used_goes_in_portions)
{
    static const field_t *const few[] = {&kinds[WORD], &kinds[LARGE]};
    enum { ROW = 8 + 4 + 64, ROWS = 1000 };
    for (uint32_t left = 0; left <= 300; left += 100) {
        run_t *run = make_run(&account, 1, few, 2, ROWS);
        if (left < ROWS)
            leave_some(run, left, ROWS);
        for (size_t most = 100; run->capacity > left + left / 4; most += 3777) {
            uint32_t before = run->capacity, version = run->version, least = left + left / 4;
            run_trim(run, &account, most);
            size_t went = (size_t)(before - run->capacity) * ROW;
            EXPECT(run->version > version && run->capacity >= least, "room for %u rows", run->capacity);
            EXPECT(run->capacity == least || (went > most && went <= most + ROW), "%zu bytes, not %zu", went, most);
            EXPECT(went <= most + ROW, "%zu bytes, not %zu", went, most);
            check_run(run, true);
            EXPECT(run->split == (run->capacity * ROW > 33000), "%u rows", run->capacity);
        }
        uint32_t version = run->version;
        ck_assert_uint_eq(run_trim(run, &account, 1 << 20), 0);
        ck_assert(run->version == version && run->capacity == left + left / 4);
        run_free(run, &account, &holdings);
    }
}
END_TEST

/* A column of small cells whose block was pages of the system's, and is none any more, begins near the block's
 * beginning from then on: its rows come along, however little room they have behind them. */
START_TEST(rows_come_along_when_a_column_of_pages_shrinks_to_less_than_pages)
{
    static const field_t *const few[] = {&kinds[BYTE]};
    enum { ROWS = 2 * MEMORY_LARGE, LEFT = 3000 };
    memory_t pages;
    memory_init(&pages, "pages", &(bp_allocator_i){.resize = NULL});
    for (uint32_t prototype = 1; prototype <= 64; prototype++) {
        run_t *run = run_create(&pages, prototype, few, 2, 0);
        ck_assert(run_reserve(run, &pages, ROWS));
        run->count = LEFT;
        for (uint32_t row = 0; row < LEFT; row++) {
            run_entities(run)[row] = (bp_entity_t){UINT64_C(1) << 32 | row};
            *(uint8_t *)run_cell(run, 1, row) = (uint8_t)(row * 7);
        }
        run_trim(run, &pages, SIZE_MAX / 2);
        ck_assert(run->split && run->capacity == LEFT + LEFT / 4);
        for (uint32_t row = 0; row < LEFT; row++)
            EXPECT(*(uint8_t *)run_cell(run, 1, row) == (uint8_t)(row * 7), "prototype %u, row %u", prototype, row);
        run_free(run, &pages, &holdings);
    }
    ck_assert_uint_eq(memory_bytes(&pages), 0);
}
END_TEST

/* Rows of which most are used keep their room; few rows keep it while there are any. */
START_TEST(a_run_is_roomy_where_less_than_half_of_its_room_is_used)
{
    static const struct {
        uint32_t count, room;
        bool roomy;
    } cases[] = {{0, 0, false},   {0, 1, false},   {0, 2, true},    {1, 4, false},  {7, 15, false}, {6, 15, false},
                 {7, 16, true},   {8, 16, false},  {0, 15, true},   {99, 200, true}, {100, 200, false}};
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        const run_t run = {.count = cases[i].count, .capacity = cases[i].room};
        EXPECT(run_is_roomy(&run) == cases[i].roomy, "%u of %u", run.count, run.capacity);
    }
}
END_TEST

/* How many lines behind the beginning of its page a column begins. */
static size_t line_of(const run_t *run, uint32_t column)
{
    return (uintptr_t)run->columns[column] % 4096 / 64;
}

/* Columns that a loop reads together are not in the same sets of the cache, whatever page their blocks begin at. */
START_TEST(columns_of_large_runs_begin_at_different_lines)
{
    enum { WIDE = 24 };
    const field_t *wide[WIDE];
    memory_t pages;
    memory_init(&pages, "pages", &(bp_allocator_i){.resize = NULL});
    for (uint32_t i = 0; i < WIDE; i++)
        wide[i] = &kinds[LONG];
    run_t *runs[2];
    for (uint32_t r = 0; r < 2; r++) {
        runs[r] = run_create(&pages, 5 + r, wide, WIDE + 1, 0);
        ck_assert(run_reserve(runs[r], &pages, 40000));
        for (uint32_t c = 0; c <= WIDE; c++) {
            ck_assert((char *)runs[r]->columns[c] + 40000 * 8 <= runs[r]->blocks[c].start + runs[r]->blocks[c].size);
            for (uint32_t d = 0; d < c; d++)
                EXPECT(line_of(runs[r], c) != line_of(runs[r], d), "columns %u and %u begin at a line", c, d);
        }
    }
    for (uint32_t c = 0; c <= WIDE; c++)
        EXPECT(line_of(runs[0], c) != line_of(runs[1], c), "column %u of both runs begins at a line", c);
    for (uint32_t r = 0; r < 2; r++)
        run_free(runs[r], &pages, &holdings);
    ck_assert_uint_eq(memory_bytes(&pages), 0);
}
END_TEST

/* --- columns ------------------------------------------------------------------------------------------------------ */

/* Is a run of this field plain, and does it say of it that it holds something outside its cells? */
START_TEST(short_ways_are_for_runs_of_small_cells_that_hold_nothing)
{
    static field_t zeros = {.name = "zeros", .type = BP_U32, .size = 12, .elements = 3, .initial_is_zero = true};
    static field_t wide = {.name = "wide", .type = BP_U64, .size = 24, .elements = 3, .initial_is_zero = true};
    static field_t texts = {.name = "texts", .type = BP_STRING, .size = 2 * sizeof(char *), .elements = 2};
    static const struct {
        const field_t *field;
        bool plain, counted;
    } cases[] = {
        {&kinds[BYTE], true, false},   {&kinds[SHORT], true, false}, {&kinds[LONG], true, false},
        {&kinds[FOUR], true, false},   {&kinds[LARGE], false, false}, {&kinds[ARRAY], false, false},
        {&kinds[TEXT], false, true},   {&kinds[LIST], false, true},  {&zeros, true, false},
        {&wide, false, false},         {&texts, false, true},
    };
    uint64_t now = 5;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        for (uint32_t at = 0; at < 3; at++) { /* first, last or alone */
            const field_t *fields[] = {&kinds[BYTE], &kinds[WORD]};
            fields[at % 2] = cases[i].field;
            run_t *run = run_create(&account, 9, fields, at < 2 ? 3 : 2, 7);
            run_set_signature(run, 12);
            EXPECT(run->plain == cases[i].plain && run->has_counted == cases[i].counted, "%s", cases[i].field->name);
            EXPECT(run->way == (run->plain ? 12 : RUN_ASIDE + 9), "%s goes the way %u", cases[i].field->name, run->way);
            ck_assert(run_keep_stamps(run, &account, &now));
            ck_assert(!run->plain && run->way == RUN_ASIDE + 9 && run->has_counted == cases[i].counted);
            run_drop_stamps(run, &account);
            ck_assert(run->plain == cases[i].plain && run->way == (run->plain ? 12 : RUN_ASIDE + 9));
            ck_assert(run->flags == 7 && run->prototype == 9 && run->version == 1 && run->signature == 12);
            ck_assert(run->sizes[0] == 8 && run->sizes[1] == fields[0]->size && run->fields[1] == fields[0]);
            run_free(run, &account, &holdings);
        }
    }
}
END_TEST

/* Stamps that a run cannot have, and stamps that are there already. */
START_TEST(stamps_come_and_go_with_those_of_the_world)
{
    uint64_t now = 5, later = 6;
    run_t *run = make_run(&account, 1, columns, FIELDS, 200);
    refuse(1);
    ck_assert(!run_keep_stamps(run, &account, &now));
    ck_assert_ptr_null(run->stamps);
    refuse(1);
    ck_assert(!run_match_stamps(run, &account, &now));
    ck_assert(run_match_stamps(run, &account, NULL) && run->stamps == NULL);
    ck_assert(run_match_stamps(run, &account, &now) && run->stamps->now == &now);
    const stamps_t *stamps = run->stamps;
    ck_assert(stamps_of_block(stamps, 0, 1) == 5 && stamps_of_block(stamps, FIELDS, 1) == 5);
    ck_assert(run_match_stamps(run, &account, &later) && run->stamps == stamps);
    ck_assert(run_reserve(run, &account, 1000) && run->stamps->room >= stamps_block_count(run->capacity));
    check_run(run, true);
    ck_assert(run_match_stamps(run, &account, NULL));
    ck_assert_ptr_null(run->stamps);
    run_free(run, &account, &holdings);
}
END_TEST

/* One row and several go different ways: the columns that are named get values, and no others. */
START_TEST(columns_that_are_named_are_filled)
{
    for (uint32_t rows = 1; rows <= 3; rows++) {
        for (uint32_t c = 1; c <= FIELDS; c++) {
            run_t *run = make_run(&account, 1, columns, FIELDS, 10);
            for (uint32_t row = 0; row < 10; row++)
                write_row(run, row, 40 + row);
            run_release(run, c, c + 1, 4, rows, &holdings);
            run_fill(run, c, c + 1, 4, rows);
            for (uint32_t row = 0; row < 10; row++) {
                for (uint32_t d = 1; d <= FIELDS; d++) {
                    bool filled = d == c && row >= 4 && row < 4 + rows;
                    EXPECT(holds(run, d, row, filled ? 0 : 40 + row), "row %u of %s", row, columns[d - 1]->name);
                }
            }
            run_free(run, &account, &holdings);
        }
    }
}
END_TEST

START_TEST(rows_get_a_value_that_is_given)
{
    run_t *run = make_run(&account, 1, columns, TEXT, 10);
    for (uint32_t c = 1; c <= TEXT; c++) {
        unsigned char value[64];
        for (uint32_t row = 0; row < 10; row++)
            write_row(run, row, 70 + row);
        value_of(c - 1, 90, value);
        run_fill_with(run, c, 3, 5, value);
        for (uint32_t row = 0; row < 10; row++)
            EXPECT(holds(run, c, row, row >= 3 && row < 8 ? 90 : 70 + row), "row %u of %s", row, columns[c - 1]->name);
    }
    run_free(run, &account, &holdings);
}
END_TEST

/* A component that has gone for good, while its runs stay: no field of it is read again. */
START_TEST(fields_that_are_forgotten_have_no_rows)
{
    uint64_t now = 3;
    for (uint32_t rows = 1; rows <= 400; rows += 133) {
        run_t *run = make_run(&account, 1, columns, FIELDS, rows);
        ck_assert(run_keep_stamps(run, &account, &now));
        leave_some(run, 0, rows > 1 ? rows : 2);
        uint32_t version = run->version;
        run_forget_fields(run, &account, 2, FIELDS - 2);
        ck_assert_uint_gt(run->version, version);
        for (uint32_t c = 1; c <= FIELDS; c++)
            ck_assert_ptr_eq(run->fields[c], c > 1 && c < FIELDS ? &run_gone_field : columns[c - 1]);
        ck_assert(run->sizes[2] == 4 && run->has_counted && run->capacity == 0);
        check_run(run, true);
        version = run->version;
        run_forget_fields(run, &account, 1, FIELDS);
        ck_assert(!run->has_counted && run->version == version);
        run_free(run, &account, &holdings);
    }
}
END_TEST

/* In place: the others lie as before, in a block that is larger than theirs would be. */
START_TEST(a_run_grows_on_where_its_last_columns_have_gone)
{
    for (uint32_t rows = 5; rows <= 625; rows *= 5) {
        for (uint32_t left = 1; left < FIELDS; left++) {
            run_pick_t picks[FIELDS];
            uint64_t random = rows;
            run_t *run = make_run(&account, 1, columns, FIELDS, rows);
            for (uint32_t c = 0; c < left; c++)
                picks[c] = (run_pick_t){c, columns[c]};
            run_keep(run, &account, &holdings, 1, FIELDS, picks, left);
            for (uint32_t i = 0; i < 2; i++) {
                uint32_t more = 1 + run->capacity - run->count;
                ck_assert(run_reserve(run, &account, more));
                append(run, more, &random);
                for (uint32_t row = 0; row < run->count; row++) {
                    for (uint32_t c = 1; c <= left; c++)
                        EXPECT(holds(run, c, row, model.rows[row].mark), "row %u of column %u", row, c);
                }
            }
            run_free(run, &account, &holdings);
        }
    }
}
END_TEST

/* Columns that had gone in place come again, without rows. */
START_TEST(a_run_that_begins_anew_with_more_columns_has_none_of_their_rows)
{
    static const run_pick_t picks[] = {{0, &kinds[BYTE]}};
    run_t *run = make_run(&account, 1, columns, FIELDS, 30);
    run_keep(run, &account, &holdings, 1, FIELDS, picks, COUNT(picks));
    run_empty(run, &account, &holdings);
    ck_assert(run_renew(run, 2, columns, FIELDS + 1, 0));
    model.count = 0;
    check_run(run, true);
    run_free(run, &account, &holdings);
}
END_TEST

/* Each request in turn, where rows come to a run in one block, to one that gets a block for each column, and to one
 * that has these. */
START_TEST(whichever_memory_is_lacking_a_run_keeps_its_rows_and_grows_later)
{
    static const uint32_t sizes[] = {0, 10, 63, 100, 400, 1000};
    uint64_t random = 3, now = 1;
    for (uint32_t i = 0; i < 2 * COUNT(sizes); i++) {
        uint32_t rows = sizes[i / 2], refused = 0;
        run_t *run = make_run(&account, 1, columns, FIELDS, rows);
        ck_assert(i % 2 == 0 || run_keep_stamps(run, &account, &now));
        bool split = run->split;
        for (uint32_t n = 1;; n++) {
            uint32_t version = run->version;
            const void *was = run->columns[0];
            refuse(n);
            bool good = run_reserve(run, &account, rows + 1);
            heap.refuse_first = 0;
            check_run(run, false);
            EXPECT(good || split || run->split == split, "its columns have been split for nothing");
            EXPECT(was == run->columns[0] || run->version > version, "rows lie elsewhere in the same version");
            if (good)
                break;
            EXPECT(++refused < 50, "it is refused whether or not there is memory");
        }
        EXPECT(refused > 0 && run->capacity >= 2 * rows + 1, "room for %u", run->capacity);
        append(run, rows + 1, &random);
        check_run(run, true);
        run_free(run, &account, &holdings);
    }
}
END_TEST

START_TEST(an_emptied_run_begins_anew)
{
    uint64_t now = 3;
    run_t *run = make_run(&account, 1, columns, FIELDS, 700), other;
    ck_assert(run->split);
    run_set_signature(run, 4);
    leave_some(run, 300, 3);
    run->pending = 2;
    run->in_holes_list = 1;
    run->roomy_since = 9;
    run->next_pending = &other;
    run_empty(run, &account, &holdings);
    model.count = 0;
    check_run(run, true);
    ck_assert(run->holes == 0 && run->pending == 0 && run->in_holes_list == 0 && run->roomy_since == 0);
    ck_assert(run->signature == 0 && run->way == RUN_ASIDE + 1 && run->next_pending == NULL && run->left[0] == 0);
    ck_assert_uint_eq(strings.count, 1);
    ck_assert(run_keep_stamps(run, &account, &now));
    ck_assert(!run_renew(run, 2, columns, FIELDS + 2, 6));
    ck_assert(run->prototype == 1 && run->column_count == FIELDS + 1);
    for (uint32_t count = FIELDS + 1; count > 1; count--) {
        uint32_t version = run->version;
        ck_assert(run_renew(run, 20 + count, columns, count, 6));
        ck_assert(run->prototype == 20 + count && run->column_count == count && run->flags == 6);
        ck_assert(run->version > version && run->fields[0]->size == 8 && run->fields[count - 1] == columns[count - 2]);
        ck_assert(run->has_counted == (count > TEXT + 1) && run->sizes[count - 1] == columns[count - 2]->size);
    }
    run_free(run, &account, &holdings);
}
END_TEST

/* --- entities in rows --------------------------------------------------------------------------------------------- */

/* Batches that begin at a row, of any length, with another entity or none at any place, and rows that are holes. */
START_TEST(a_stretch_ends_where_another_entity_comes)
{
    enum { ROWS = 40 };
    static const field_t *const one[] = {&kinds[WORD]};
    bp_entity_t batch[2 * ROWS];
    run_t *run = make_run(&account, 1, one, 1, ROWS);
    for (uint32_t hole = 20; hole < 24; hole++) {
        for (uint32_t row = 0; row < ROWS; row++) {
            for (uint32_t other = 0; other <= ROWS; other++) {
                for (uint32_t i = 0; i < 2 * ROWS; i++)
                    batch[i] = row + i < ROWS ? run_entities(run)[row + i] : (bp_entity_t){0};
                if (other % 3 == 0)
                    batch[other].id ^= UINT64_C(1) << (other * 5 % 64);
                else if (other % 3 == 1)
                    batch[other].id = 0;
                for (uint32_t count = 0; count < ROWS + 4; count++) {
                    uint32_t n = 0;
                    const bp_entity_t *rows = run_entities(run) + row;
                    while (n < count && row + n < ROWS && batch[n].id != 0 && rows[n].id == batch[n].id)
                        n++;
                    uint32_t found = run_stretch(run, row, batch, count);
                    EXPECT(found == n, "%u of %u entities from row %u on, not %u", n, count, row, found);
                }
            }
        }
        leave_some(run, hole, 1);
    }
    run_free(run, &account, &holdings);
}
END_TEST

/* Entities of other rows come behind those that lie there, and before the batch. */
START_TEST(a_stretch_is_of_the_rows_that_follow)
{
    enum { ROWS = 64 };
    static const field_t *const one[] = {&kinds[WORD]};
    bp_entity_t batch[ROWS];
    run_t *run = make_run(&account, 1, one, 1, ROWS);
    const bp_entity_t *rows = run_entities(run);
    memcpy(batch, rows + 24, 8 * sizeof *batch);
    for (uint32_t other = 0; other < ROWS; other += 8) {
        memcpy(batch + 8, rows + 16, 8 * sizeof *batch);
        memcpy(batch + 16, rows + other, 8 * sizeof *batch);
        ck_assert_uint_eq(run_stretch(run, 16, batch + 8, 16), other == 24 ? 16 : 8);
    }
    run_free(run, &account, &holdings);
}
END_TEST

/* --- which rows are holes ----------------------------------------------------------------------------------------- */

enum { BITS_MOST = 270000 };
static unsigned char is_hole[BITS_MOST + 1];

static uint32_t next_hole(uint32_t row, uint32_t rows)
{
    const unsigned char *found = row < rows ? memchr(is_hole + row, 1, rows - row) : NULL;
    return found == NULL ? BP_NONE : (uint32_t)(found - is_hole);
}

/* What is asked of holes from a row on is answered as by the bytes of is_hole. */
static void check_row(const holes_t *holes, uint32_t row, uint32_t rows)
{
    uint32_t next = next_hole(row, rows), found = holes_next(holes, row), last = row;
    EXPECT(found == next, "the hole behind row %u is %u, and not %u", row, found, next);
    while (last > 0 && is_hole[last - 1] != 0)
        last--;
    found = holes_last_filled(holes, row);
    EXPECT(found == last - 1, "the last row before %u that is no hole is %u, and not %u", row, found, last - 1);
    if (row >= rows || is_hole[row] == 0)
        return;
    for (uint32_t most = 1; most < 300; most = most * 3 + 1) {
        uint32_t together = 0;
        while (together < most && row + together < rows && is_hole[row + together] != 0)
            together++;
        found = holes_stretch(holes, row, most);
        EXPECT(found == together, "%u of %u holes lie together from row %u on, and not %u", found, most, row, together);
    }
    found = holes_following(holes, row);
    EXPECT(found == next_hole(row + 1, rows), "the hole that follows %u is %u", row, found);
}

/* A bit of a level is 1 wherever the word below is not 0, and all of the memory is counted. */
static void check_levels(const holes_t *holes, uint32_t rows)
{
    uint32_t words = (holes->rows + 63) / 64, all = 0, lowest = next_hole(0, rows);
    EXPECT(holes->rows % 64 == 0 && holes->rows >= rows && holes->rows < rows + 64, "bits for %u rows", holes->rows);
    EXPECT(lowest >= holes->lowest, "%u is a hole, below the lowest, %u", lowest, holes->lowest);
    for (uint32_t l = 0; l < HOLES_LEVELS; l++, words = (words + 63) / 64) {
        all += words;
        for (uint32_t i = 0; holes->rows > HOLES_FEW && l + 1 < HOLES_LEVELS && i < words; i++) {
            uint64_t above = holes->words[holes->level[l + 1] + i / 64] >> i % 64 & 1;
            EXPECT(above == 1 || holes->words[holes->level[l] + i] == 0, "word %u of level %u is not found", i, l);
        }
    }
    ck_assert_uint_eq(memory_bytes(&account), holes->rows > HOLES_FEW ? all * sizeof(uint64_t) : 0);
}

static void change_holes(holes_t *holes, uint32_t rows, uint64_t *random)
{
    uint32_t first = bp_random_below(random, rows), end = first, most = bp_random_below(random, 2) == 0 ? 5 : 200;
    switch (bp_random_below(random, 6)) {
    case 0:
        while (end < rows && end - first < most && is_hole[end] == 0)
            end++;
        holes_fill(holes, first, end);
        memset(is_hole + first, 1, end - first);
        break;
    case 1:
        end = first + most < rows ? first + most : rows;
        holes_drop(holes, first, end);
        memset(is_hole + first, 0, end - first);
        break;
    case 2:
    case 3:
        if (is_hole[first] == 0)
            holes_add(holes, first);
        else
            holes_remove(holes, first);
        is_hole[first] ^= 1;
        break;
    case 4:
        for (uint32_t i = 0; i < most && next_hole(0, rows) != BP_NONE; i++) {
            uint32_t lowest = next_hole(0, rows);
            if (i % 2 == 0)
                holes_find_lowest(holes);
            ck_assert(i % 2 != 0 || (holes->lowest == lowest && holes_know_lowest(holes)));
            EXPECT(holes_take(holes) == lowest, "the lowest hole is %u", lowest);
            is_hole[lowest] = 0;
        }
        break;
    default:
        if (most == 5 && bp_random_below(random, 8) == 0) {
            holes_clear(holes, rows);
            memset(is_hole, 0, rows);
        }
        break;
    }
}

/* Loops: up to one word, two levels, and three. */
START_TEST(the_holes_of_a_run_are_those_that_were_made)
{
    static const uint32_t sizes[] = {1,    63,   64,   65,     128,    129,    4095,
                                     4096, 4097, 8192, 262143, 262144, 262145, BITS_MOST};
    uint64_t random = 40 + (uint64_t)_i;
    holes_t holes = {.rows = 0};
    uint32_t rows = 0;
    memset(is_hole, 0, sizeof is_hole);
    for (uint32_t round = 0; round < 60; round++) {
        uint32_t next = sizes[bp_random_below(&random, _i == 0 ? 4 : _i == 1 ? 10 : COUNT(sizes))];
        uint64_t asked = heap.requests;
        refuse(1);
        if (!holes_resize(&holes, &account, next)) { /* as it was */
            EXPECT(heap.requests == asked + 1 && rows > 0 ? holes.rows >= rows : holes.rows == 0, "%u", holes.rows);
            heap.refuse_first = 0;
            ck_assert(holes_resize(&holes, &account, next));
        }
        heap.refuse_first = 0;
        memset(is_hole + next, 0, sizeof is_hole - next);
        if (next < rows && next % 64 != 0) /* of rows that go the bits are to be 0 */
            holes_drop(&holes, next, holes.rows);
        rows = next;
        for (uint32_t i = 0; i < 12; i++) {
            change_holes(&holes, rows, &random);
            for (uint32_t k = 0; k < 8; k++)
                check_row(&holes, bp_random_below(&random, rows + 1), rows);
            check_row(&holes, rows - 1, rows);
            check_levels(&holes, rows);
        }
        check_row(&holes, 0, rows);
    }
    holes_free(&holes, &account);
    ck_assert(holes.rows == 0 && holes.words == NULL);
}
END_TEST

/* --- when rows were written --------------------------------------------------------------------------------------- */

enum { STAMPED_COLUMNS = 5, STAMPED_BLOCKS = 70 };

static struct {
    uint64_t whole[STAMPED_COLUMNS], blocks[STAMPED_COLUMNS][STAMPED_BLOCKS];
    uint32_t columns, room; /* that are looked at */
} stamped;

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t stamp_of(uint32_t column, uint32_t block)
{
    return later_of(later_of(stamped.whole[0], stamped.whole[column]),
                    later_of(stamped.blocks[0][block], stamped.blocks[column][block]));
}

/* Is one of these columns, or the entities, written after `since` in the block? */
static bool written_after(const uint16_t *some, uint32_t count, uint64_t since, uint32_t block)
{
    bool later = stamp_of(0, block) > since;
    for (uint32_t i = 0; i < count; i++)
        later = later || stamp_of(some[i], block) > since;
    return later;
}

static void check_stamps(const stamps_t *stamps, uint64_t now, uint64_t *random)
{
    uint16_t some[3];
    uint32_t count = bp_random_below(random, 4), rows = stamped.room * BP_STAMP_ROWS, found, n;
    uint32_t end = rows - bp_random_below(random, rows), row = bp_random_below(random, end + 2), expected = row, until;
    uint64_t since = now - bp_random_below(random, 12);
    for (uint32_t c = 0; c < stamped.columns; c++) {
        for (uint32_t block = 0; block < stamped.room; block++)
            EXPECT(stamps_of_block(stamps, c, block) == stamp_of(c, block), "block %u of column %u", block, c);
    }
    for (uint32_t i = 0; i < count; i++)
        some[i] = (uint16_t)bp_random_below(random, stamped.columns);
    while (expected < end && !written_after(some, count, since, expected / BP_STAMP_ROWS))
        expected = (expected / BP_STAMP_ROWS + 1) * BP_STAMP_ROWS;
    until = expected;
    while (until < end && written_after(some, count, since, until / BP_STAMP_ROWS))
        until = (until / BP_STAMP_ROWS + 1) * BP_STAMP_ROWS;
    until = until < end ? until : end;
    found = stamps_next(stamps, some, count, since, row, end, &n);
    EXPECT(found == (expected < end ? expected : BP_NONE), "row %u of %u is found, and not %u", found, end, expected);
    EXPECT(found == BP_NONE || n == until - expected, "%u rows from %u on, and not %u", n, found, until - expected);
}

/* Random writes, in as many columns and rows as there come to be. */
START_TEST(what_was_written_after_a_moment_is_found)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        uint64_t now = 20, random = seed;
        memset(&stamped, 0, sizeof stamped);
        stamped.columns = 2;
        stamped.room = seed % 2 == 0 ? 20 : 1;
        stamps_t *stamps = stamps_create(&account, stamped.columns, stamped.room * BP_STAMP_ROWS, &now);
        stamped.whole[0] = now;
        for (uint32_t round = 0; round < 300; round++) {
            uint32_t rows = stamped.room * BP_STAMP_ROWS, first = bp_random_below(&random, rows);
            uint32_t most = bp_random_below(&random, 3) == 0 ? rows - first : 5;
            uint32_t count = bp_random_below(&random, (most < rows - first ? most : rows - first) + 1);
            uint32_t column = bp_random_below(&random, stamped.columns), what = bp_random_below(&random, 60);
            now += bp_random_below(&random, 3) == 0;
            if (what < 40) {
                stamps_note(stamps, column, first, count);
                for (uint32_t row = first; row < first + count; row++)
                    stamped.blocks[column][row / BP_STAMP_ROWS] = now;
            } else if (what < 41) {
                stamps_note_all(stamps);
                stamped.whole[0] = now;
            } else if (what < 44) {
                stamps->whole[column] = stamped.whole[column] = now;
            } else if (what == 59) {
                const stamps_t *before = stamps;
                uint32_t columns_then = 1 + bp_random_below(&random, STAMPED_COLUMNS);
                uint32_t room = 1 + bp_random_below(&random, STAMPED_BLOCKS);
                bool more = columns_then > stamped.columns || room > stamped.room;
                refuse(1);
                EXPECT(stamps_reserve(&stamps, &account, columns_then, room * BP_STAMP_ROWS) != more, "memory");
                heap.refuse_first = 0;
                ck_assert_ptr_eq(stamps, before);
                ck_assert(stamps_reserve(&stamps, &account, columns_then, room * BP_STAMP_ROWS - 3));
                stamped.columns = columns_then > stamped.columns ? columns_then : stamped.columns;
                stamped.room = room > stamped.room ? room : stamped.room;
                ck_assert(stamps->columns == stamped.columns && stamps->room == stamped.room);
                ck_assert_uint_eq(memory_bytes(&account), stamps_bytes(stamps));
            }
            check_stamps(stamps, now, &random);
        }
        stamps_free(stamps, &account);
    }
    stamps_t *none = NULL;
    ck_assert(stamps_reserve(&none, &account, 3, 100) && none == NULL && stamps_bytes(NULL) == 0);
}
END_TEST

/* --- rows elsewhere ----------------------------------------------------------------------------------------------- */

/* Places that the caller keeps; a run that grows leaves them. */
START_TEST(rows_may_be_laid_elsewhere)
{
    static char room[FIELDS + 1][1000 * 64 + 64];
    void *places[FIELDS + 1];
    for (uint32_t rows = 10; rows <= 1000; rows *= 10) {
        run_t *run = make_run(&account, 1, columns, FIELDS, rows);
        uint32_t version = run->version;
        for (uint32_t c = 0; c <= FIELDS; c++)
            places[c] = room[c] + (64 - (uintptr_t)room[c] % 64);
        ck_assert(run->split == (rows == 1000));
        for (uint32_t request = 1; run->split && request <= 2; request++) {
            refuse(request);
            ck_assert(!run_lay(run, &account, places));
            check_run(run, true);
        }
        heap.refuse_first = 0;
        ck_assert(run_lay(run, &account, places));
        ck_assert(run->version > version && run->capacity == rows && !run->split);
        for (uint32_t c = 0; c <= FIELDS; c++)
            ck_assert_ptr_eq(run->columns[c], places[c]);
        for (uint32_t row = 0; row < rows; row++) {
            for (uint32_t c = 1; c <= FIELDS; c++)
                EXPECT(holds(run, c, row, model.rows[row].mark), "row %u of %s", row, columns[c - 1]->name);
        }
        ck_assert(run_reserve(run, &account, 1));
        check_run(run, true);
        run_free(run, &account, &holdings);
    }
}
END_TEST

#if !defined(_WIN32)

/* Of a large run 64 rows that lie together, from as many places as there is room for, without those that are holes. */
START_TEST(a_sample_has_living_rows_from_all_over_the_run)
{
    enum { ROWS = 20000 };
    const uint32_t most = _i == 0 ? RUN_SAMPLE_ROWS : 16 * RUN_SAMPLE_FEW, places = most / RUN_SAMPLE_FEW;
    static const field_t *const few[] = {&kinds[WORD], &kinds[FOUR]};
    static uint32_t holes[ROWS], chosen[RUN_SAMPLE_ROWS];
    memory_t pages;
    uint64_t now = 8;
    uint32_t count = 0, hole_count = 0, first;
    run_sample_t sample;
    memory_init(&pages, "pages", &(bp_allocator_i){.resize = NULL});
    run_t *run = run_create(&pages, 1, few, COUNT(few) + 1, 0);
    ck_assert(run_reserve(run, &pages, ROWS));
    ck_assert_uint_eq(run_take_rows(run, RUN_SAMPLE_FROM - 1, &first, &holdings), RUN_SAMPLE_FROM - 1);
    ck_assert(!run_sample_take(&sample, run, &pages, RUN_SAMPLE_ROWS));
    ck_assert_uint_eq(run_take_rows(run, ROWS - RUN_SAMPLE_FROM + 1, &first, &holdings), ROWS - RUN_SAMPLE_FROM + 1);
    ck_assert(run->split && !run_sample_take(&sample, run, &account, RUN_SAMPLE_ROWS));
    for (uint32_t row = 0; row < ROWS; row++) {
        unsigned char value[64];
        run_entities(run)[row].id = (uint64_t)(2 * row + 1) << 32 | row;
        value_of(WORD, row + 1, value);
        memcpy(run_cell(run, 1, row), value, 4);
        value_of(FOUR, row + 1, value);
        memcpy(run_cell(run, 2, row), value, 16);
        if (row % 7 == 3 && row + 1 < ROWS)
            holes[hole_count++] = row;
    }
    run_leave_scattered(run, holes, hole_count, &holdings);
    for (uint32_t place = 0; place < places; place++) {
        for (uint32_t row = ROWS * place / places, end = row + RUN_SAMPLE_FEW; row < end; row++) {
            if (row % 7 != 3)
                chosen[count++] = row;
        }
    }
    size_t bytes = memory_bytes(&pages);
    ck_assert(run_keep_stamps(run, &pages, &now));
    now = 9;
    ck_assert(run_sample_take(&sample, run, &pages, most));
    ck_assert_uint_eq(sample.count, count);
    ck_assert_uint_eq(run->count, ROWS);

    /* What a copy of the process does; here all is put back. */
    void *kept[COUNT(few) + 1];
    const run_t was = *run;
    const run_block_t block = run->blocks[0];
    memcpy(kept, run->columns, sizeof kept);
    run_sample_enter(&sample);
    ck_assert(run->count == count && run->holes == 0 && !run->split && run->version > was.version);
    ck_assert(run->capacity == most && holes_next(&run->hole_set, 0) == BP_NONE);
    ck_assert_uint_eq(stamps_of_block(run->stamps, 1, 0), 9);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = chosen[i];
        EXPECT(run_entities(run)[i].id == ((uint64_t)(2 * row + 1) << 32 | row), "row %u is not %u", i, row);
        EXPECT(holds(run, 1, i, row + 1) && holds(run, 2, i, row + 1), "row %u", i);
    }
    for (uint32_t c = 0; c <= COUNT(few); c++)
        ck_assert((char *)run->columns[c] + most * run->sizes[c] <= sample.block.start + sample.block.size);
    *run = was;
    run->blocks[0] = block;
    memcpy(run->columns, kept, sizeof kept);
    run_sample_give_back(&sample, &pages);
    ck_assert_uint_eq(memory_bytes(&pages), bytes + stamps_bytes(run->stamps));
    run_free(run, &pages, &holdings);
    ck_assert_uint_eq(memory_bytes(&pages), 0);
}
END_TEST

#endif

#if defined(__linux__)

/* Is the memory at this address left out of copies of the process, as the system's table of it says? */
static bool is_left_out(const void *at)
{
    char line[512];
    unsigned long long first, end;
    bool inside = false, left_out = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%llx-%llx ", &first, &end) == 2)
            inside = (uintptr_t)at >= first && (uintptr_t)at < end;
        else if (inside && strncmp(line, "VmFlags:", 8) == 0)
            left_out = strstr(line, " dc") != NULL;
    }
    fclose(file);
    return left_out;
}

static void expect_left_out(const run_t *run, bool pages_are)
{
    for (uint32_t c = 0; c < run->column_count; c++) {
        bool pages = run->blocks[c].size >= MEMORY_LARGE;
        EXPECT(is_left_out(run->blocks[c].start) == (pages && pages_are), "column %u", c);
    }
}

/* Pages of the system's, and no other memory, until the sample is given back; all of them or none. */
START_TEST(while_there_is_a_sample_copies_of_the_process_go_without_the_run)
{
    enum { ROWS = 70000 };
    static const field_t *const some[] = {&kinds[BYTE], &kinds[WORD], &kinds[FOUR]};
    memory_t pages;
    run_sample_t sample;
    uint32_t first;
    memory_init(&pages, "pages", &(bp_allocator_i){.resize = NULL});
    run_t *run = run_create(&pages, 1, some, COUNT(some) + 1, 0);
    ck_assert(run_reserve(run, &pages, ROWS));
    ck_assert_uint_eq(run_take_rows(run, ROWS, &first, &holdings), ROWS);
    for (uint32_t c = 0; c <= COUNT(some); c++)
        memset(run->columns[c], 1, (size_t)ROWS * run->sizes[c]);
    size_t bytes = memory_bytes(&pages);
    expect_left_out(run, false);
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert(run_sample_take(&sample, run, &pages, RUN_SAMPLE_ROWS));
        expect_left_out(run, true);
        run_sample_give_back(&sample, &pages);
        expect_left_out(run, false);
        ck_assert_uint_eq(memory_bytes(&pages), bytes);
        char *start = run->blocks[COUNT(some)].start;
        run->blocks[COUNT(some)].start = start + 1; /* which is no page */
        ck_assert(!run_sample_take(&sample, run, &pages, RUN_SAMPLE_ROWS));
        run->blocks[COUNT(some)].start = start;
        expect_left_out(run, false);
        ck_assert_uint_eq(memory_bytes(&pages), bytes);
    }
    run_free(run, &pages, &holdings);
    ck_assert_uint_eq(memory_bytes(&pages), 0);
}
END_TEST

#endif

Suite *runs_suite(void)
{
    Suite *suite = suite_create("runs");
    TCase *tests = add_case(suite, "runs", begin_runs, end_runs, 60);
    tcase_add_loop_test(tests, a_run_does_what_a_naive_model_does, 0, 4);
    tcase_add_test(tests, a_run_that_needs_room_takes_more_than_it_needs);
    tcase_add_test(tests, a_run_in_a_crowd_goes_through_few_sizes);
    tcase_add_test(tests, a_run_grows_where_it_lies);
    tcase_add_test(tests, columns_have_blocks_of_their_own_from_64_kib_on);
    tcase_add_test(tests, fields_of_a_run_without_rows_are_not_looked_at);
    tcase_add_test(tests, stamps_of_rows_beside_those_that_change_stay);
    tcase_add_test(tests, room_that_is_not_used_goes_in_portions);
    tcase_add_test(tests, rows_come_along_when_a_column_of_pages_shrinks_to_less_than_pages);
    tcase_add_test(tests, a_run_is_roomy_where_less_than_half_of_its_room_is_used);
    tcase_add_test(tests, columns_of_large_runs_begin_at_different_lines);
    tcase_add_test(tests, short_ways_are_for_runs_of_small_cells_that_hold_nothing);
    tcase_add_test(tests, stamps_come_and_go_with_those_of_the_world);
    tcase_add_test(tests, columns_that_are_named_are_filled);
    tcase_add_test(tests, rows_get_a_value_that_is_given);
    tcase_add_test(tests, fields_that_are_forgotten_have_no_rows);
    tcase_add_test(tests, a_run_grows_on_where_its_last_columns_have_gone);
    tcase_add_test(tests, an_emptied_run_begins_anew);
    tcase_add_test(tests, a_run_that_begins_anew_with_more_columns_has_none_of_their_rows);
    tcase_add_test(tests, whichever_memory_is_lacking_a_run_keeps_its_rows_and_grows_later);
    tcase_add_test(tests, a_stretch_ends_where_another_entity_comes);
    tcase_add_test(tests, a_stretch_is_of_the_rows_that_follow);
    tcase_add_loop_test(tests, the_holes_of_a_run_are_those_that_were_made, 0, 3);
    tcase_add_test(tests, what_was_written_after_a_moment_is_found);
    tcase_add_test(tests, rows_may_be_laid_elsewhere);
#if !defined(_WIN32)
    tcase_add_loop_test(tests, a_sample_has_living_rows_from_all_over_the_run, 0, 2);
#endif
#if defined(__linux__)
    tcase_add_test(tests, while_there_is_a_sample_copies_of_the_process_go_without_the_run);
#endif
    return suite;
}
