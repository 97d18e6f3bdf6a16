/* test_superblocks.c - medium blocks: where they lie, what they hold as they grow and go, and whose account their bytes
 * are in; and runs, whose columns lie in them.
 *
 * Superblocks are allowed here whatever build it is, above an allocator that is watched and refuses on demand.
 */
#include "../suites.h"
#include "../system/calls.h"
#include "base_stage.h"
#include "base/superblocks.h"
#include "store/run.h"

#include <string.h>

enum { BLOCKS = 300, KIB = 1024, MEDIUM = 40 * KIB };

static superblocks_t superblocks;
static memory_t account;

static void begin_superblocks(void)
{
    begin();
    superblocks_init(&superblocks, &memory);
    superblocks.allowed = true;
    memory_init_child(&account, "account", &memory);
}

static void end_superblocks(void)
{
    ck_assert_uint_eq(superblocks.count, 0);
    ck_assert_uint_eq(superblocks.medium, 0);
    ck_assert_uint_eq(memory_bytes(&account), 0);
    superblocks_free(&superblocks);
    end();
}

/* Every free stretch is no longer than said, every grain in use is counted, and no superblock is empty. */
static void check_superblocks(size_t inside)
{
    size_t all = superblocks.count * (size_t)SUPERBLOCKS_BYTES;
    for (uint32_t i = 0; i < superblocks.count; i++) {
        const superblock_t *one = superblocks.items[i];
        uint32_t used = 0, stretch = 0, longest = 0;
        for (uint32_t g = 0; g < SUPERBLOCKS_WORDS * 64; g++) {
            bool taken = one->taken[g / 64] >> g % 64 & 1;
            used += taken;
            stretch = taken ? 0 : stretch + 1;
            longest = stretch > longest ? stretch : longest;
        }
        ck_assert_uint_le(longest, one->longest);
        ck_assert_uint_eq(used, one->used);
        ck_assert_uint_gt(used, 0);
        ck_assert(i == 0 || superblocks.items[i - 1]->start < one->start);
    }
    size_t lists = superblocks.count * sizeof(superblock_t) + superblocks.capacity * sizeof(superblock_t *);
    ck_assert_uint_eq(memory_bytes(&superblocks.memory), all - inside + lists);
}

typedef struct held_t {
    unsigned char *start;
    size_t size;
    unsigned char mark;
} held_t;

static void mark(held_t *held, size_t from)
{
    for (size_t i = from; i < held->size; i++)
        held->start[i] = (unsigned char)(held->mark + i * 7);
}

static void expect_marked(const held_t *held, size_t size)
{
    size_t right = 0;
    while (right < size && held->start[right] == (unsigned char)(held->mark + right * 7))
        right++;
    ck_assert_uint_eq(right, size);
}

static size_t bytes_inside(const held_t *held, uint32_t count)
{
    size_t inside = 0;
    for (uint32_t b = 0; b < count; b++) {
        for (uint32_t i = 0; i < superblocks.count; i++) {
            const char *start = superblocks.items[i]->start, *block = (const char *)held[b].start;
            inside += block >= start && block < start + SUPERBLOCKS_BYTES ? held[b].size : 0;
        }
    }
    return inside;
}

static void fill_up(held_t *held, uint32_t count)
{
    for (uint32_t b = 0; b < count; b++) {
        held[b] = (held_t){superblocks_resize(&account, NULL, 0, MEDIUM), MEDIUM, (unsigned char)b};
        ck_assert_ptr_nonnull(held[b].start);
        mark(&held[b], 0);
    }
}

static void let_go(held_t *held)
{
    expect_marked(held, held->size);
    superblocks_free_block(&account, held->start, held->size);
    *held = (held_t){.start = NULL};
}

START_TEST(a_few_medium_blocks_take_no_superblock)
{
    held_t held[SUPERBLOCKS_FROM / MEDIUM + 2];
    fill_up(held, SUPERBLOCKS_FROM / MEDIUM);
    ck_assert(!superblocks_are_wanted(&account));
    ck_assert_uint_eq(superblocks.count, 0);
    fill_up(held + SUPERBLOCKS_FROM / MEDIUM, 2);
    ck_assert(superblocks_are_wanted(&account));
    ck_assert_uint_eq(superblocks.count, 1);
    check_superblocks(bytes_inside(held, COUNT(held)));
    for (uint32_t b = 0; b < COUNT(held); b++)
        let_go(&held[b]);
}
END_TEST

/* Sizes small, medium and as large as pages, growing, shrinking and going, against what they must hold. */
START_TEST(blocks_hold_what_they_held_whatever_becomes_of_others)
{
    static held_t held[BLOCKS];
    uint64_t random = 5;
    memset(held, 0, sizeof held);
    for (uint32_t round = 0; round < 6000; round++) {
        held_t *h = &held[bp_random_below(&random, BLOCKS)];
        size_t most = bp_random_below(&random, 8) == 0 ? 300 * KIB : 60 * KIB;
        size_t size = 1 + bp_random_below(&random, (uint32_t)most), kept = h->size < size ? h->size : size;
        if (h->start != NULL && bp_random_below(&random, 3) == 0) {
            let_go(h);
            continue;
        }
        if (h->start == NULL)
            h->mark = (unsigned char)round;
        h->start = superblocks_resize(&account, h->start, h->size, size);
        ck_assert_ptr_nonnull(h->start);
        h->size = size;
        expect_marked(h, kept);
        mark(h, kept);
        if (round % 200 == 0)
            check_superblocks(bytes_inside(held, BLOCKS));
    }
    ck_assert_uint_gt(superblocks.count, 1);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        if (held[b].start != NULL)
            let_go(&held[b]);
    }
}
END_TEST

START_TEST(a_block_grows_where_it_lies_while_there_is_room_behind_it)
{
    static held_t held[BLOCKS];
    fill_up(held, BLOCKS);
    held_t *last = &held[BLOCKS - 1];
    let_go(&held[BLOCKS - 2]);
    held_t *grows = &held[BLOCKS - 3];
    unsigned char *before = grows->start;
    ck_assert(!superblocks_would_move(&account, grows->start, MEDIUM, 2 * MEDIUM));
    ck_assert(superblocks_would_move(&account, grows->start, MEDIUM, 2 * MEDIUM + KIB));
    ck_assert(superblocks_would_move(&account, grows->start, MEDIUM, KIB));
    ck_assert(superblocks_would_move(&account, held[0].start, MEDIUM, MEDIUM + KIB)); /* older than superblocks */
    ck_assert(!superblocks_would_move(&account, NULL, 0, MEDIUM));
    ck_assert_ptr_eq(superblocks_resize(&account, grows->start, MEDIUM, 2 * MEDIUM), before);
    grows->size = 2 * MEDIUM;
    expect_marked(grows, MEDIUM);
    mark(grows, MEDIUM);
    before = superblocks_resize(&account, grows->start, 2 * MEDIUM, 2 * MEDIUM + KIB);
    ck_assert_ptr_ne(before, grows->start); /* the last block lies there */
    grows->start = before;
    grows->size += KIB;
    expect_marked(grows, 2 * MEDIUM);
    mark(grows, 2 * MEDIUM);
    ck_assert_ptr_eq(superblocks_resize(&account, last->start, MEDIUM, MEDIUM / 2), last->start);
    last->size = MEDIUM / 2;
    check_superblocks(bytes_inside(held, BLOCKS));
    for (uint32_t b = 0; b < BLOCKS; b++) {
        if (held[b].start != NULL)
            let_go(&held[b]);
    }
}
END_TEST

/* Held room is there for the blocks that come, and stays when they go, until it is let go of. */
START_TEST(held_superblocks_stay_without_blocks_until_they_are_let_go_of)
{
    enum { EACH = SUPERBLOCKS_BYTES / MEDIUM };
    static char *blocks[BLOCKS];
    begin_superblocks();
    ck_assert(!superblocks_hold(&account)); /* there are no superblocks so far */
    superblocks_let_go(&account);
    for (uint32_t i = 0; i < 2 * EACH; i++)
        blocks[i] = superblocks_resize(&account, NULL, 0, MEDIUM);
    uint32_t before = superblocks.count;
    ck_assert_uint_gt(before, 0);
    ck_assert(superblocks_hold(&account) && superblocks_hold(&account));
    ck_assert_uint_eq(superblocks.count, before + 2);
    for (uint32_t i = 2 * EACH; i < 4 * EACH - 2; i++)
        blocks[i] = superblocks_resize(&account, NULL, 0, MEDIUM);
    ck_assert_uint_eq(superblocks.count, before + 2);
    for (uint32_t i = 0; i < 4 * EACH - 2; i++) {
        memset(blocks[i], 1, MEDIUM);
        superblocks_resize(&account, blocks[i], MEDIUM, 0);
    }
    ck_assert_uint_eq(superblocks.count, before + 2);
    for (uint32_t i = 0; i < superblocks.count; i++)
        ck_assert(superblocks.items[i]->used == 0 && superblocks.items[i]->longest == SUPERBLOCKS_WORDS * 64);
    superblocks_let_go(&account);
    end_superblocks();
}
END_TEST

START_TEST(cleared_blocks_are_cleared_where_others_have_been)
{
    static held_t held[BLOCKS];
    fill_up(held, BLOCKS);
    for (uint32_t b = 0; b < BLOCKS; b += 2)
        let_go(&held[b]);
    unsigned char *fresh = superblocks_new(&account, MEDIUM);
    size_t cleared = 0;
    while (cleared < MEDIUM && fresh[cleared] == 0)
        cleared++;
    ck_assert_uint_eq(cleared, MEDIUM);
    superblocks_free_block(&account, fresh, MEDIUM);
    for (uint32_t b = 1; b < BLOCKS; b += 2)
        let_go(&held[b]);
}
END_TEST

START_TEST(a_refused_superblock_leaves_the_block_and_the_accounts)
{
    static held_t held[BLOCKS];
    fill_up(held, SUPERBLOCKS_FROM / MEDIUM + 1);
    size_t taken = memory_bytes(&account), all = memory_bytes(&memory);
    heap.refuse_first = heap.requests + 1;
    heap.refuse_last = heap.requests + 2;
    ck_assert_ptr_null(superblocks_resize(&account, NULL, 0, MEDIUM));
    ck_assert_ptr_null(superblocks_resize(&account, held[0].start, MEDIUM, MEDIUM + KIB));
    ck_assert_uint_eq(heap.refused, 2);
    ck_assert_uint_eq(memory_bytes(&account), taken);
    ck_assert_uint_eq(memory_bytes(&memory), all);
    ck_assert_uint_eq(superblocks.count, 0);
    for (uint32_t b = 0; b < SUPERBLOCKS_FROM / MEDIUM + 1; b++)
        let_go(&held[b]);
}
END_TEST

#if defined(__linux__)
/* The system has no pages, where the allocator has memory: a past that is computed meanwhile counts as another one. */
START_TEST(pages_that_a_superblock_is_refused_are_counted)
{
    static held_t held[BLOCKS];
    fill_up(held, SUPERBLOCKS_FROM / MEDIUM + 1);
    size_t taken = memory_bytes(&account), refused = memory_refused(&memory);
    calls_begin_named("mmap", 1);
    ck_assert_ptr_null(superblocks_resize(&account, NULL, 0, MEDIUM));
    ck_assert_uint_eq(calls_end(), 1);
    ck_assert_uint_eq(memory_refused(&memory), refused + 1);
    ck_assert_uint_eq(memory_bytes(&account), taken);
    ck_assert_uint_eq(superblocks.count, 0);
    for (uint32_t b = 0; b < SUPERBLOCKS_FROM / MEDIUM + 1; b++)
        let_go(&held[b]);
}
END_TEST
#endif

/* --- runs --------------------------------------------------------------------------------------------------------- */

static const field_t fields[] = {{.name = "a", .type = BP_F32, .size = 4, .initial_is_zero = true},
                                 {.name = "b", .type = BP_U64, .size = 8, .initial_is_zero = true},
                                 {.name = "c", .type = BP_U16, .size = 2, .initial_is_zero = true},
                                 {.name = "d", .type = BP_VEC3, .size = 12, .initial_is_zero = true}};

static unsigned char byte_of(const field_t *field, uint32_t row, uint32_t byte)
{
    return (unsigned char)((unsigned char)field->name[0] * 31u + row * 13 + byte * 7);
}

static void grow(run_t *run, uint32_t rows)
{
    uint32_t first = run->count;
    ck_assert(run_reserve(run, &account, rows));
    run->count += rows;
    for (uint32_t c = 0; c < run->column_count; c++) {
        for (uint32_t row = first; row < run->count; row++) {
            unsigned char *cell = run_cell(run, c, row);
            for (uint32_t i = 0; i < run->sizes[c]; i++)
                cell[i] = byte_of(run->fields[c], row, i);
        }
    }
}

static void expect_rows(const run_t *run)
{
    uint32_t wrong = 0;
    for (uint32_t c = 0; c < run->column_count; c++) {
        ck_assert(run->capacity < RUN_ALIGNED_ROWS || (uintptr_t)run->columns[c] % 64 == 0);
        for (uint32_t row = 0; row < run->count; row++) {
            const unsigned char *cell = run_cell(run, c, row);
            for (uint32_t i = 0; i < run->sizes[c]; i++)
                wrong += cell[i] != byte_of(run->fields[c], row, i);
        }
    }
    ck_assert_uint_eq(wrong, 0);
}

/* Columns go and change their order in place, and the run grows on from there. */
START_TEST(a_run_keeps_its_rows_however_it_grows)
{
    static const run_pick_t picks[] = {{.from = 3, .field = &fields[3]}, {.from = 0, .field = &fields[0]},
                                       {.from = 1, .field = &fields[1]}};
    static const field_t *const columns[] = {&fields[0], &fields[1], &fields[2], &fields[3]};
    static const uint32_t portions[] = {1, 7, 100, 333};
    static held_t held[BLOCKS];
    uint32_t crowd = (uint32_t)(_i / 4) * (SUPERBLOCKS_FROM / MEDIUM + 1); /* other medium blocks */
    fill_up(held, crowd);
    for (uint32_t when = 20; when < 20000; when *= 10) {
        run_t *run = run_create(&account, 1, columns, COUNT(columns) + 1, 0);
        while (run->count < when)
            grow(run, portions[_i % 4]);
        expect_rows(run);
        run_keep(run, &account, NULL, 1, COUNT(columns), picks, COUNT(picks));
        ck_assert_uint_eq(run->column_count, COUNT(picks) + 1);
        while (run->count < 3 * when)
            grow(run, portions[_i % 4]);
        expect_rows(run);
        run_free(run, &account, NULL);
    }
    for (uint32_t b = 0; b < crowd; b++)
        let_go(&held[b]);
}
END_TEST

/* Where rows come in portions, most of these find room: a run that has grown has an eighth more than it needs, and no
 * more than half as much again. */
START_TEST(a_run_in_a_crowd_is_not_copied_with_each_portion)
{
    static const field_t *const columns[] = {&fields[0], &fields[1], &fields[2], &fields[3]};
    static held_t held[BLOCKS];
    uint32_t crowd = SUPERBLOCKS_FROM / MEDIUM + 1, growths = 0, portions = 0;
    fill_up(held, crowd);
    run_t *run = run_create(&account, 1, columns, COUNT(columns) + 1, 0);
    while (run->count < 3000) {
        uint32_t before = run->capacity;
        bool medium = before > 0 && before * (uint64_t)34 >= SUPERBLOCKS_LEAST;
        grow(run, 100);
        portions += medium;
        if (!medium || run->capacity == before)
            continue;
        growths++;
        ck_assert_uint_ge(run->capacity, run->count + run->count / 8);
        ck_assert_uint_le(run->capacity, run->count + run->count / 2);
    }
    ck_assert_uint_gt(portions, 20);
    ck_assert_uint_lt(growths, portions / 3);
    expect_rows(run);
    run_free(run, &account, NULL);
    for (uint32_t b = 0; b < crowd; b++)
        let_go(&held[b]);
}
END_TEST

/* Rows of some kilobytes: there are few of them, and room for any number of them grows. */
START_TEST(a_run_of_few_large_rows_grows_on)
{
    static const field_t wide = {.name = "w", .type = BP_F32, .size = 6000, .initial_is_zero = true};
    static const field_t *const columns[] = {&wide};
    static held_t held[BLOCKS];
    uint32_t crowd = SUPERBLOCKS_FROM / MEDIUM + 1;
    fill_up(held, crowd);
    for (uint32_t first = 1; first <= 8; first++) {
        run_t *run = run_create(&account, 1, columns, COUNT(columns) + 1, 0);
        grow(run, first);
        while (run->count < 30)
            grow(run, 1);
        expect_rows(run);
        run_free(run, &account, NULL);
    }
    for (uint32_t b = 0; b < crowd; b++)
        let_go(&held[b]);
}
END_TEST

Suite *superblocks_suite(void)
{
    Suite *suite = suite_create("superblocks");
    TCase *tests = add_case(suite, "superblocks", begin_superblocks, end_superblocks, 120);
    tcase_add_test(tests, a_few_medium_blocks_take_no_superblock);
    tcase_add_test(tests, blocks_hold_what_they_held_whatever_becomes_of_others);
    tcase_add_test(tests, a_block_grows_where_it_lies_while_there_is_room_behind_it);
    tcase_add_test(tests, held_superblocks_stay_without_blocks_until_they_are_let_go_of);
    tcase_add_test(tests, cleared_blocks_are_cleared_where_others_have_been);
    tcase_add_test(tests, a_refused_superblock_leaves_the_block_and_the_accounts);
#if defined(__linux__)
    tcase_add_test(tests, pages_that_a_superblock_is_refused_are_counted);
#endif
    tcase_add_loop_test(tests, a_run_keeps_its_rows_however_it_grows, 0, 8);
    tcase_add_test(tests, a_run_in_a_crowd_is_not_copied_with_each_portion);
    tcase_add_test(tests, a_run_of_few_large_rows_grows_on);
    return suite;
}
