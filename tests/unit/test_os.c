/* test_os.c - what host/os/os.h promises on every platform: pages, clock, threads, locks, libraries, paths.
 *
 * Nothing here depends on how fast anything is: the clock is asked to go forward, and the stopwatch is held against the
 * clock.
 */
#include <os/files.h>
#include <os/os.h>
#include <os/stopwatch.h>
#include <bp_plugin.h>
#include <check.h>
#include <stdio.h>
#include <string.h>

Suite *os_suite(void);

/* --- pages -------------------------------------------------------------------------------------------- */

static bool is_clear(const unsigned char *bytes, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

static unsigned char pattern(size_t i)
{
    return (unsigned char)(i * 7 + i / 251 + 1);
}

static void fill(unsigned char *bytes, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        bytes[i] = pattern(i);
}

static bool is_filled(const unsigned char *bytes, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (bytes[i] != pattern(i))
            return false;
    }
    return true;
}

START_TEST(pages_are_cleared_and_aligned)
{
    size_t page = os_page_size(), bytes = 37 * page + 5;
    ck_assert_uint_gt(page, 0);
    ck_assert_uint_eq(page & (page - 1), 0);
    unsigned char *block = os_pages_alloc(bytes);
    ck_assert_ptr_nonnull(block);
    ck_assert_uint_eq((uintptr_t)block % page, 0);
    ck_assert(is_clear(block, 0, bytes));
    fill(block, 0, bytes);
    os_pages_free(block, bytes);
}
END_TEST

START_TEST(growth_keeps_what_was_there_and_clears_the_rest)
{
    size_t page = os_page_size(), bytes = page * 3 - 100;
    unsigned char *block = os_pages_alloc(bytes);
    ck_assert_ptr_nonnull(block);
    fill(block, 0, bytes);
    static const size_t steps[] = {1, 99, 4096, 100000, 5000000};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        size_t more = bytes + steps[i];
        block = os_pages_resize(block, bytes, more);
        ck_assert_ptr_nonnull(block);
        ck_assert(is_filled(block, 0, bytes));
        ck_assert(is_clear(block, bytes, more));
        fill(block, bytes, more);
        bytes = more;
    }
    os_pages_free(block, bytes);
}
END_TEST

START_TEST(what_a_block_held_before_it_shrank_does_not_come_back)
{
    size_t page = os_page_size(), bytes = page * 40;
    unsigned char *block = os_pages_alloc(bytes);
    ck_assert_ptr_nonnull(block);
    static const size_t smaller[] = {39, 17, 2}; /* pages, less 10 bytes */
    for (size_t i = 0; i < sizeof smaller / sizeof smaller[0]; i++) {
        size_t less = page * smaller[i] - 10;
        fill(block, 0, bytes);
        block = os_pages_resize(block, bytes, less);
        ck_assert_ptr_nonnull(block);
        ck_assert(is_filled(block, 0, less));
        block = os_pages_resize(block, less, less + 5); /* in its last page */
        ck_assert_ptr_nonnull(block);
        ck_assert(is_filled(block, 0, less));
        ck_assert(is_clear(block, less, less + 5));
        block = os_pages_resize(block, less + 5, bytes);
        ck_assert_ptr_nonnull(block);
        ck_assert(is_filled(block, 0, less));
        ck_assert(is_clear(block, less, bytes));
    }
    os_pages_free(block, bytes);
}
END_TEST

/* Wherever both begin, and whatever their length is. */
START_TEST(copies_past_the_caches_are_whole_and_write_nothing_beside)
{
    enum { MOST = 300, ROOM = MOST + 96 };
    static _Alignas(64) unsigned char from[ROOM], to[ROOM], wanted[ROOM];
    fill(from, 0, ROOM);
    for (size_t size = 0; size <= MOST; size++) {
        for (size_t offset = 0; offset <= 32; offset++) {
            size_t at = offset == 0 ? 16 : offset == 32 ? 64 : offset;
            memset(to, 0xA5, ROOM);
            memset(wanted, 0xA5, ROOM);
            memcpy(wanted + at, from + offset, size);
            os_copy_away(to + at, from + offset, size);
            ck_assert(memcmp(to, wanted, ROOM) == 0);
        }
    }
}
END_TEST

START_TEST(hints_change_no_content_and_hinder_no_growth)
{
    size_t page = os_page_size(), bytes = page * 1500;
    unsigned char *block = os_pages_alloc(bytes);
    ck_assert_ptr_nonnull(block);
    fill(block, 0, page * 3);
    os_pages_huge(block + page * 500 + 1, page * 600);
    os_pages_huge(block, 0);
    ck_assert(is_filled(block, 0, page * 3));
    ck_assert(is_clear(block, page * 3, bytes));
    fill(block, 0, bytes);
    block = os_pages_resize(block, bytes, bytes * 4);
    ck_assert_ptr_nonnull(block);
    ck_assert(is_filled(block, 0, bytes));
    ck_assert(is_clear(block, bytes, bytes * 4));
    block = os_pages_resize(block, bytes * 4, page * 2);
    ck_assert_ptr_nonnull(block);
    ck_assert(is_filled(block, 0, page * 2));
    os_pages_free(block, page * 2);
}
END_TEST

START_TEST(pages_that_cannot_be_had_leave_the_old_block_alone)
{
    size_t bytes = os_page_size() * 2;
    ck_assert_ptr_null(os_pages_alloc(0));
    ck_assert_ptr_null(os_pages_alloc(SIZE_MAX));
    ck_assert_ptr_null(os_pages_alloc(SIZE_MAX / 2));
    unsigned char *block = os_pages_alloc(bytes);
    ck_assert_ptr_nonnull(block);
    fill(block, 0, bytes);
    ck_assert_ptr_null(os_pages_resize(block, bytes, SIZE_MAX));
    ck_assert_ptr_null(os_pages_resize(block, bytes, SIZE_MAX / 2));
    ck_assert_ptr_null(os_pages_resize(block, bytes, 0));
    ck_assert(is_filled(block, 0, bytes));
    os_pages_free(block, bytes);
    os_pages_free(NULL, 0);
}
END_TEST

/* --- functions made at run time ------------------------------------------------------------------------ */

static uint64_t hand_over(void *data)
{
    uint64_t *calls = data;
    return 1000 + ++*calls;
}

START_TEST(a_function_made_at_run_time_hands_over_its_own_argument_whatever_it_is_called_with)
{
    uint64_t first = 0, second = 50, (*plain)(void);
    int32_t (*many)(const char *, double, int, int, int, int, int, int, int);
    void *one = os_function_make(hand_over, &first), *two = os_function_make(hand_over, &second);
#if defined(__x86_64__) || defined(__aarch64__)
    ck_assert_ptr_nonnull(one);
    ck_assert_ptr_nonnull(two);
    memcpy(&plain, &one, sizeof one);
    memcpy(&many, &two, sizeof two);
    ck_assert_uint_eq(plain(), 1001);
#if !defined(BACKPLANE_SANITIZED) || !defined(__clang__) /* which objects to calls through another type */
    ck_assert_int_eq(many("text", 2.5, 1, 2, 3, 4, 5, 6, 7), 1051);
    ck_assert_int_eq(many(NULL, 0.0, 0, 0, 0, 0, 0, 0, 0), 1052);
#endif
    ck_assert_uint_eq(plain(), 1002);
    ck_assert_uint_eq(first, 2);
#endif
    os_function_free(one);
    os_function_free(two);
    os_function_free(NULL);
}
END_TEST

/* --- time, threads, locks ----------------------------------------------------------------------------- */

START_TEST(what_can_be_read_is_told)
{
    size_t page = os_page_size();
    char *block = os_pages_alloc(4 * page);
    ck_assert_ptr_nonnull(block);
    ck_assert(os_can_read(block, 4 * page));
    ck_assert(os_can_read(block + page - 1, 2));
    ck_assert(os_can_read(&page, sizeof page) && os_can_read("a text", 7));
    ck_assert(os_can_read(NULL, 0) && os_can_read((const void *)16, 0));
    ck_assert(!os_can_read(NULL, 1));
    ck_assert(!os_can_read((const void *)16, 8));
    ck_assert(!os_can_read((const void *)(uintptr_t)UINT64_C(0x7e57000000001234), 8));
    ck_assert(!os_can_read(block, SIZE_MAX));
    ck_assert(!os_can_read(block, SIZE_MAX - (uintptr_t)block));
    os_pages_free(block, 4 * page);
}
END_TEST

START_TEST(the_clock_never_goes_back)
{
    uint64_t before = os_clock_ns(), first = before;
    for (int i = 0; i < 100000; i++) {
        uint64_t now = os_clock_ns();
        ck_assert_uint_ge(now, before);
        before = now;
    }
    while (before == first) /* it does go on */
        before = os_clock_ns();
}
END_TEST

enum { WORKERS = 4, ROUNDS = 5000 };

typedef struct shared_t {
    os_lock_t *lock;
    int turn;  /* whose it is */
    int count; /* turns taken */
} shared_t;

typedef struct worker_t {
    shared_t *shared;
    int number;
} worker_t;

static void count_up(void *data)
{
    worker_t *worker = data;
    for (int i = 0; i < ROUNDS; i++) {
        os_lock(worker->shared->lock);
        worker->shared->count++;
        os_unlock(worker->shared->lock);
    }
}

/* Wait for one's own turn, then pass it on. */
static void take_turns(void *data)
{
    worker_t *worker = data;
    shared_t *shared = worker->shared;
    for (int i = 0; i < ROUNDS; i++) {
        os_lock(shared->lock);
        while (shared->turn != worker->number)
            os_lock_wait(shared->lock);
        shared->turn = (worker->number + 1) % WORKERS;
        shared->count++;
        os_lock_wake_all(shared->lock);
        os_unlock(shared->lock);
    }
}

static int run_workers(void (*entry)(void *data))
{
    shared_t shared = {.lock = os_lock_create()};
    worker_t workers[WORKERS];
    os_thread_t threads[WORKERS];
    ck_assert_ptr_nonnull(shared.lock);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker_t){&shared, i};
        ck_assert(os_thread_start(&threads[i], entry, &workers[i]));
    }
    for (int i = 0; i < WORKERS; i++)
        os_thread_join(threads[i]);
    os_lock_destroy(shared.lock);
    return shared.count;
}

START_TEST(a_lock_lets_one_thread_in_at_a_time)
{
    ck_assert_int_eq(run_workers(count_up), WORKERS * ROUNDS);
}
END_TEST

START_TEST(threads_that_wait_are_woken)
{
    ck_assert_int_eq(run_workers(take_turns), WORKERS * ROUNDS);
}
END_TEST

static void set_flag(void *data)
{
    *(int *)data = 1;
}

START_TEST(many_threads_start_with_their_own_data)
{
    enum { COUNT = 500 };
    int flags[COUNT] = {0};
    for (int i = 0; i < COUNT; i += 10) {
        os_thread_t threads[10];
        for (int j = 0; j < 10; j++)
            ck_assert(os_thread_start(&threads[j], set_flag, &flags[i + j]));
        for (int j = 0; j < 10; j++)
            os_thread_join(threads[j]);
    }
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(flags[i], 1);
    ck_assert_uint_ge(os_processor_count(), 1);
    os_lock_destroy(NULL);
}
END_TEST

START_TEST(the_stopwatch_measures_what_the_clock_measures)
{
    stopwatch_begin();
    uint64_t rate = atomic_load(&stopwatch_rate);
    for (int i = 0; i < 3; i++) {
        uint64_t earliest = os_clock_ns(), from = stopwatch_ns(), begun = os_clock_ns(), until = begun + 5000000;
        while (os_clock_ns() < until) {}
        uint64_t ending = os_clock_ns(), to = stopwatch_ns(), latest = os_clock_ns();
        uint64_t least = ending - begun, most = latest - earliest, measured = stopwatch_between(from, to);
        ck_assert_uint_ge(measured, least - least / 500);
        ck_assert_uint_le(measured, most + most / 500);
    }
    stopwatch_begin(); /* a second host does not change it */
    ck_assert_uint_eq(atomic_load(&stopwatch_rate), rate);
    ck_assert_uint_eq(stopwatch_between(7, 5), 0);
    ck_assert_uint_eq(stopwatch_between(5, 7), 2);
}
END_TEST

/* --- libraries, terminal, paths ----------------------------------------------------------------------- */

START_TEST(a_library_that_cannot_be_opened_gives_a_sentence)
{
    static const char *const paths[] = {TEST_PLUGIN_DIR "/no_such_plugin" TEST_SO, TEST_PLUGIN_DIR,
                                        "no_such_plugin", ""};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        char error[256] = "", small[4] = "xxx";
        ck_assert_msg(os_library_open(paths[i], error, sizeof error) == NULL, "'%s' was opened", paths[i]);
        ck_assert_uint_gt(strlen(error), 10);
        ck_assert_ptr_null(os_library_open(paths[i], small, sizeof small));
        ck_assert_uint_eq(strlen(small), 3);
    }
    os_library_close(NULL);
}
END_TEST

START_TEST(a_bare_name_is_not_searched_for)
{
    char error[256] = "";
#if defined(_WIN32)
    ck_assert_ptr_null(os_library_open("version.dll", error, sizeof error));
#elif defined(__APPLE__)
    ck_assert_ptr_null(os_library_open("libz.dylib", error, sizeof error));
#else
    ck_assert_ptr_null(os_library_open("libm.so.6", error, sizeof error));
#endif
    ck_assert_str_ne(error, "");
}
END_TEST

START_TEST(a_library_gives_the_symbols_it_has)
{
    char path[1024], error[256] = "";
    snprintf(path, sizeof path, "%s/point_mass%s", TEST_PLUGIN_DIR, os_library_suffix);
    void *library = os_library_open(path, error, sizeof error);
    ck_assert_msg(library != NULL, "%s", error);
    const bp_plugin_head_t *desc = os_library_symbol(library, BP_PLUGIN_SYMBOL);
    ck_assert_ptr_nonnull(desc);
    ck_assert(desc->magic == BP_PLUGIN_MAGIC);
    ck_assert_ptr_null(os_library_symbol(library, "no_such_symbol"));
    os_library_close(library);
}
END_TEST

START_TEST(a_stream_that_is_no_terminal_has_eighty_columns)
{
    ck_assert(!os_is_terminal(99));
    ck_assert_int_eq(os_terminal_columns(99), 80);
    ck_assert(!os_is_terminal(-1));
    ck_assert_int_eq(os_terminal_columns(-1), 80);
}
END_TEST

#ifndef _WIN32
START_TEST(what_is_waited_for_is_the_input)
{
    ck_assert_int_eq((int)os_input_handle(), 0); /* the descriptor of stdin */
}
END_TEST
#endif

START_TEST(absolute_paths_are_known)
{
    ck_assert(os_path_is_absolute("/"));
    ck_assert(os_path_is_absolute("/a/b"));
    ck_assert(!os_path_is_absolute(""));
    ck_assert(!os_path_is_absolute("a/b"));
    ck_assert(!os_path_is_absolute("../a"));
#if defined(_WIN32)
    ck_assert(os_path_is_absolute("C:/a"));
    ck_assert(os_path_is_absolute("c:\\a"));
    ck_assert(os_path_is_absolute("\\\\server\\share"));
#endif
}
END_TEST

START_TEST(the_last_separator_of_a_path_is_found)
{
    ck_assert_ptr_null(os_path_separator("a"));
    ck_assert_ptr_null(os_path_separator(""));
    ck_assert_str_eq(os_path_separator("/a/b"), "/b");
    ck_assert_str_eq(os_path_separator("a/"), "/");
#if defined(_WIN32)
    ck_assert_str_eq(os_path_separator("a/b\\c"), "\\c");
    ck_assert_str_eq(os_path_separator("a\\b/c"), "/c");
#else
    ck_assert_str_eq(os_path_separator("a/b\\c"), "/b\\c");
#endif
}
END_TEST

START_TEST(the_programs_folder_is_a_full_path)
{
    char folder[1024], small[2];
    ck_assert(os_program_folder(folder, sizeof folder));
    ck_assert(os_path_is_absolute(folder));
    size_t length = strlen(folder);
    ck_assert_uint_gt(length, 1);
    ck_assert(folder[length - 1] != '/' && folder[length - 1] != '\\');
    ck_assert(!os_program_folder(small, sizeof small));
    ck_assert(!os_program_folder(small, 0));
    char exact[1024];
    ck_assert(os_program_folder(exact, length + 1));
    ck_assert_str_eq(exact, folder);
    ck_assert(!os_program_folder(exact, length));
}
END_TEST

START_TEST(a_folder_is_made_once)
{
    char inside[512];
    os_file_remove(TEST_SCRATCH_DIR "/os_folder/inside");
    os_file_remove(TEST_SCRATCH_DIR "/os_folder");
    ck_assert(!os_folder_create(TEST_SCRATCH_DIR "/os_folder/inside"));
    ck_assert(os_folder_create(TEST_SCRATCH_DIR "/os_folder"));
    ck_assert(os_folder_create(TEST_SCRATCH_DIR "/os_folder"));
    snprintf(inside, sizeof inside, "%s/os_folder/inside", TEST_SCRATCH_DIR);
    FILE *file = fopen(inside, "wb");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    ck_assert_msg(!os_folder_create(inside), "a file was taken for a folder");
}
END_TEST

#if !defined(_WIN32)
START_TEST(another_program_gets_its_arguments_and_gives_its_status)
{
    int status = -100;
    ck_assert(os_program_run("/bin/sh", (const char *const[]){"sh", "-c", "exit 7", NULL}, &status));
    ck_assert_int_eq(status, 7);
    const char *const quoted[] = {"sh", "-c", "[ \"$1\" = 'two \"words\\' ]", "sh", "two \"words\\", NULL};
    ck_assert(os_program_run("/bin/sh", quoted, &status));
    ck_assert_int_eq(status, 0);
    ck_assert(os_program_run("/bin/sh", (const char *const[]){"sh", "-c", "kill -9 $$", NULL}, &status));
    ck_assert_int_eq(status, -9);
}
END_TEST
#endif

START_TEST(a_program_that_is_not_there_is_not_started)
{
    int status = -100;
    ck_assert(!os_program_run(TEST_SCRATCH_DIR "/no_program", (const char *const[]){"no_program", NULL}, &status));
    ck_assert_int_eq(status, -100);
}
END_TEST

Suite *os_suite(void)
{
    Suite *suite = suite_create("os");
    TCase *tests = tcase_create("pages");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, pages_are_cleared_and_aligned);
    tcase_add_test(tests, growth_keeps_what_was_there_and_clears_the_rest);
    tcase_add_test(tests, what_a_block_held_before_it_shrank_does_not_come_back);
    tcase_add_test(tests, copies_past_the_caches_are_whole_and_write_nothing_beside);
    tcase_add_test(tests, hints_change_no_content_and_hinder_no_growth);
    tcase_add_test(tests, pages_that_cannot_be_had_leave_the_old_block_alone);
    tcase_add_test(tests, a_function_made_at_run_time_hands_over_its_own_argument_whatever_it_is_called_with);
    suite_add_tcase(suite, tests);

    tests = tcase_create("time and threads");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_can_be_read_is_told);
    tcase_add_test(tests, the_clock_never_goes_back);
    tcase_add_test(tests, the_stopwatch_measures_what_the_clock_measures);
    tcase_add_test(tests, a_lock_lets_one_thread_in_at_a_time);
    tcase_add_test(tests, threads_that_wait_are_woken);
    tcase_add_test(tests, many_threads_start_with_their_own_data);
    suite_add_tcase(suite, tests);

    tests = tcase_create("libraries, terminal, paths");
    tcase_add_test(tests, a_library_that_cannot_be_opened_gives_a_sentence);
    tcase_add_test(tests, a_bare_name_is_not_searched_for);
    tcase_add_test(tests, a_library_gives_the_symbols_it_has);
    tcase_add_test(tests, a_stream_that_is_no_terminal_has_eighty_columns);
    tcase_add_test(tests, absolute_paths_are_known);
    tcase_add_test(tests, the_last_separator_of_a_path_is_found);
    tcase_add_test(tests, the_programs_folder_is_a_full_path);
    tcase_add_test(tests, a_folder_is_made_once);
#if !defined(_WIN32)
    tcase_add_test(tests, what_is_waited_for_is_the_input);
    tcase_add_test(tests, another_program_gets_its_arguments_and_gives_its_status);
#endif
    tcase_add_test(tests, a_program_that_is_not_there_is_not_started);
    suite_add_tcase(suite, tests);
    return suite;
}
