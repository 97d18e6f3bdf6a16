/* test_base.c - memory accounts, errors, words and files.
 *
 * That cleared memory is cleared is tested by many random sizes, from fixed seeds.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "base/file.h"
#include "base_stage.h"
#include "os/os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#ifndef _WIN32
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

/* --- memory ------------------------------------------------------------------------------------------------------- */

START_TEST(what_a_child_takes_is_counted_at_its_parents)
{
    memory_t child, grandchild;
    memory_init_child(&child, "child", &memory);
    memory_init_child(&grandchild, "grandchild", &child);
    char *a = memory_resize(&child, NULL, 0, 100);
    char *b = memory_new(&grandchild, 50);
    ck_assert_uint_eq(memory_bytes(&grandchild), 50);
    ck_assert_uint_eq(memory_bytes(&child), 150);
    ck_assert_uint_eq(memory_bytes(&memory), 150);
    a = memory_resize(&child, a, 100, 300);
    ck_assert_uint_eq(memory_bytes(&memory), 350);
    a = memory_resize(&child, a, 300, 10);
    ck_assert_uint_eq(memory_bytes(&memory), 60);
    memory_free(&child, a, 10);
    memory_free(&grandchild, b, 50);
    ck_assert_uint_eq(memory_bytes(&child), 0);
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}
END_TEST

START_TEST(a_refused_request_leaves_the_block_and_the_account)
{
    char *block = memory_resize(&memory, NULL, 0, 8);
    memcpy(block, "content", 8);
    heap.refuse_first = heap.requests + 1;
    heap.refuse_last = heap.requests + 2;
    ck_assert_ptr_null(memory_resize(&memory, block, 8, 4000));
    ck_assert_ptr_null(memory_resize_cleared(&memory, block, 8, 4000));
    ck_assert_str_eq(block, "content");
    ck_assert_uint_eq(memory_bytes(&memory), 8);
    memory_free(&memory, block, 8);
}
END_TEST

START_TEST(absurd_sizes_are_refused)
{
    memory_t system;
    memory_init(&system, "system", &(bp_allocator_i){0});
    ck_assert_ptr_null(memory_resize(&memory, NULL, 0, SIZE_MAX - 10));
    ck_assert_ptr_null(memory_resize(&system, NULL, 0, SIZE_MAX));
    ck_assert_ptr_null(memory_resize(&system, NULL, 0, SIZE_MAX / 2));
    ck_assert_ptr_null(memory_resize(&system, NULL, 0, 0));
    ck_assert_uint_eq(memory_bytes(&system), 0);
}
END_TEST

/* Sizes on both sides of the border where blocks become pages, and of page ends. */
static size_t random_size(uint64_t *random)
{
    static const size_t marks[] = {16,         4096, MEMORY_LARGE, MEMORY_LARGE + 4096, 3 * MEMORY_LARGE,
                                   MEMORY_HUGE};
    size_t mark = marks[bp_random_below(random, COUNT(marks))];
    return mark - 15 + bp_random_below(random, 30);
}

static void cleared_growth(const bp_allocator_i *allocator, uint64_t seed)
{
    memory_t account;
    memory_init(&account, "account", allocator);
    unsigned char *block = NULL;
    size_t size = 0, marked = 0;
    for (int i = 0; i < 250; i++) {
        size_t next = random_size(&seed);
        block = memory_resize_cleared(&account, block, size, next);
        ck_assert_ptr_nonnull(block);
        ck_assert_uint_eq((uintptr_t)block % 16, 0);
        marked = marked < next ? marked : next;
        for (size_t k = 0; k < next; k++)
            EXPECT(block[k] == (k < marked ? (unsigned char)(k * 7 + 1) : 0),
                   "byte %zu of %zu, grown from %zu", k, next, size);
        for (size_t k = marked; k < next; k++)
            block[k] = (unsigned char)(k * 7 + 1);
        marked = size = next;
        ck_assert_uint_eq(memory_bytes(&account), size);
    }
    memory_free(&account, block, size);
    ck_assert_uint_eq(memory_bytes(&account), 0);
}

START_TEST(cleared_growth_clears_across_the_border_to_pages)
{
    cleared_growth(&(bp_allocator_i){0}, 1);
}
END_TEST

START_TEST(cleared_growth_clears_what_an_embedders_allocator_gives)
{
    bp_allocator_i allocator = heap_allocator(&heap);
    cleared_growth(&allocator, 2);
}
END_TEST

START_TEST(a_block_shrunk_and_grown_again_is_cleared_again)
{
    memory_t system;
    memory_init(&system, "system", &(bp_allocator_i){0});
    size_t large = MEMORY_LARGE + 3 * os_page_size(), less = MEMORY_LARGE + 100;
    unsigned char *block = memory_new(&system, large);
    memset(block, 0xff, large);
    block = memory_resize(&system, block, large, less);
    block = memory_resize_cleared(&system, block, less, large);
    for (size_t i = 0; i < large; i++)
        EXPECT(block[i] == (i < less ? 0xff : 0), "byte %zu of %zu", i, large);
    memory_free(&system, block, large);
}
END_TEST

START_TEST(blocks_are_pages_from_the_border_on_unless_the_allocator_is_replaced)
{
    memory_t system;
    memory_init(&system, "system", &(bp_allocator_i){0});
    ck_assert(!memory_is_pages(&system, MEMORY_LARGE - 1));
    ck_assert(memory_is_pages(&system, MEMORY_LARGE));
    ck_assert(!memory_is_pages(&memory, MEMORY_LARGE));
}
END_TEST

#ifndef _WIN32
START_TEST(pages_that_are_freed_go_back_to_the_system)
{
    memory_t system;
    unsigned char there;
    memory_init(&system, "system", &(bp_allocator_i){0});
    void *block = memory_new(&system, MEMORY_LARGE);
    ck_assert_int_eq(mincore(block, os_page_size(), &there), 0);
    memory_free(&system, block, MEMORY_LARGE);
    ck_assert_int_eq(mincore(block, os_page_size(), &there), -1);
    ck_assert_int_eq(errno, ENOMEM); /* no page is there */
}
END_TEST
#endif

START_TEST(an_array_grows_by_doubling_or_stays_as_it_is)
{
    uint64_t *items = NULL;
    uint32_t capacity = 0;
    ck_assert(memory_reserve(&memory, &items, &capacity, 1, sizeof *items));
    uint32_t first = capacity;
    ck_assert_uint_ge(first, 1);
    ck_assert(memory_reserve(&memory, &items, &capacity, first + 1, sizeof *items));
    ck_assert_uint_eq(capacity, 2 * first);
    ck_assert(memory_reserve(&memory, &items, &capacity, 1000, sizeof *items));
    ck_assert_uint_eq(capacity, 1000);
    uint64_t *kept = items;
    heap.refuse_first = heap.refuse_last = heap.requests + 1;
    ck_assert(!memory_reserve(&memory, &items, &capacity, 1001, sizeof *items));
    ck_assert(!memory_reserve(&memory, &items, &capacity, (uint64_t)UINT32_MAX + 1, sizeof *items));
    ck_assert_ptr_eq(items, kept);
    ck_assert_uint_eq(capacity, 1000);
    memory_free(&memory, items, capacity * sizeof *items);
}
END_TEST

/* --- errors and the log ------------------------------------------------------------------------------------------- */

START_TEST(a_sentence_may_be_made_from_the_present_one)
{
    ck_assert_int_eq(error_set(&error, BP_ERROR_RANGE, "first %d", 1), BP_ERROR_RANGE);
    error_set(&error, BP_ERROR_RANGE, "second after %s", error.text);
    ck_assert_str_eq(error.text, "second after first 1");
    ck_assert_int_eq(error_prefix(&error, BP_ERROR_IO, "%s:%d: ", "file", 3), BP_ERROR_IO);
    ck_assert_str_eq(error.text, "file:3: second after first 1");
    ck_assert_int_eq(error_memory(&error, "testing"), BP_ERROR_MEMORY);
    ck_assert_str_eq(error.text, "out of memory while testing");
}
END_TEST

START_TEST(a_sentence_that_is_too_long_is_cut)
{
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    error_set(&error, BP_ERROR_IO, "%s", text);
    ck_assert_uint_eq(strlen(error.text), sizeof error.text - 1);
    error_prefix(&error, BP_ERROR_IO, "begin");
    ck_assert_uint_eq(strlen(error.text), sizeof error.text - 1);
    ck_assert_int_eq(strncmp(error.text, "beginxxx", 8), 0);
    error_prefix(&error, BP_ERROR_IO, "%s", text);
    ck_assert_uint_eq(strlen(error.text), sizeof error.text - 1);
}
END_TEST

/* While units run at the same time a sentence belongs to the call that it was said in. */
START_TEST(what_is_said_between_calls_belongs_to_none)
{
    log_text_t log = {.count = 0};
    bp_log_i target = *log_into(&log);
    error_text_t own = {.calls = NULL};
    uint32_t call = 3;
    ck_assert(error_reserve_calls(&own, &memory, 2));
    error_share(&own);
    error_enter(&own, &(error_caller_t){.call = &call, .world = "main", .unit = "mover"});
    error_set(&own, BP_ERROR_RANGE, "in a call");
    error_leave(&own);
    error_set(&own, BP_ERROR_RANGE, "behind it");
    error_join(&own, &target);
    ck_assert_str_eq(own.text, "in a call");
    ck_assert_str_eq(log.text, "mover: 1: world 'main', range 3: in a call\n");
    error_free_calls(&own, &memory);
}
END_TEST

enum { GUARDED = 32 * 1024, GUARD = 4096 };
static unsigned char guarded[GUARDED + GUARD];

/* One block at a time, with bytes behind it that have to stay. */
static void *resize_guarded(void *data, void *old, size_t old_size, size_t new_size)
{
    (void)data;
    for (uint32_t i = 0; old != NULL && i < GUARD; i++)
        ck_assert_uint_eq(guarded[old_size + i], 0x5a);
    ck_assert_uint_le(new_size, GUARDED);
    memset(guarded, 0x5a, sizeof guarded);
    return new_size == 0 ? NULL : guarded;
}

/* A thread may make the calls of a unit in any order. */
START_TEST(the_first_failures_in_the_order_of_the_step_are_kept_in_whatever_order_they_come)
{
    enum { CALLS = 20 };
    const bp_allocator_i allocator = {.resize = resize_guarded};
    memory_t guarding;
    error_text_t own = {.calls = NULL};
    uint64_t random = 6;
    memory_init(&guarding, "guarding", &allocator);
    ck_assert(error_reserve_calls(&own, &guarding, 1));
    for (uint32_t round = 0; round < 20; round++) {
        log_text_t log = {.count = 0};
        bp_log_i target = *log_into(&log);
        uint32_t order[CALLS], call;
        for (uint32_t i = 0; i < CALLS; i++) { /* from the last to the first, and then any */
            uint32_t at = round == 0 ? 0 : bp_random_below(&random, i + 1);
            memmove(&order[at + 1], &order[at], (i - at) * sizeof *order);
            order[at] = i;
        }
        error_begin_step(&own);
        error_share(&own);
        for (uint32_t i = 0; i < CALLS; i++) {
            call = order[i];
            error_enter(&own, &(error_caller_t){.call = &call, .world = "main", .unit = "mover"});
            error_set(&own, BP_ERROR_RANGE, "no");
            error_set(&own, BP_ERROR_RANGE, "call %u", call);
            error_leave(&own);
        }
        error_join(&own, &target);
        ck_assert_str_eq(own.text, "call 19");
        bp_call_failure_t failure = {.struct_size = sizeof failure};
        for (uint32_t i = 0; i < ERROR_KEPT_CALLS; i++) {
            char expected[16];
            snprintf(expected, sizeof expected, "call %u", i);
            ck_assert(error_of_call(&own, i, &failure));
            ck_assert_str_eq(failure.text, expected);
            ck_assert_uint_eq(failure.range, i);
            ck_assert_uint_eq(failure.failed, CALLS);
        }
        ck_assert(!error_of_call(&own, ERROR_KEPT_CALLS, &failure));
    }
    error_free_calls(&own, &guarding);
    ck_assert_uint_eq(memory_bytes(&guarding), 0);
}
END_TEST

START_TEST(the_log_gets_every_level_and_its_source)
{
    log_text_t log = {.count = 0};
    bp_log_i target = *log_into(&log);
    log_write(&target, BP_LOG_DEBUG, "here", "number %d", 7);
    log_write(&target, BP_LOG_ERROR, "there", "text");
    ck_assert_str_eq(log.text, "here: 0: number 7\nthere: 3: text\n");
}
END_TEST

/* --- words -------------------------------------------------------------------------------------------------------- */

START_TEST(lists_are_cut_at_blanks_commas_and_line_ends)
{
    const char *const words[] = {"one", "two", "three", "four", "five"};
    const char *list = " one,two\tthree ,\r\n four,,five,\n";
    char word[16];
    uint32_t count = 0;
    for (const char *at = list; (at = text_next_word(at, word, sizeof word)) != NULL;)
        ck_assert_str_eq(word, words[count++]);
    ck_assert_uint_eq(count, COUNT(words));
    ck_assert_ptr_null(text_next_word("", word, sizeof word));
    ck_assert_ptr_null(text_next_word(" ,\t\r\n", word, sizeof word));
}
END_TEST

START_TEST(a_word_longer_than_its_room_is_cut_and_passed_over_whole)
{
    char word[4];
    const char *rest = text_next_word("abcdefgh next", word, sizeof word);
    ck_assert_str_eq(word, "abc");
    ck_assert_str_eq(rest, " next");
}
END_TEST

static void expect_hint(const char *wanted, const char *hint)
{
    const char *const known[] = {"mass", "position", "velocity", "acceleration"};
    nearest_t nearest = {.wanted = wanted};
    text_t text;
    for (uint32_t i = 0; i < COUNT(known); i++)
        nearest_consider(&nearest, known[i]);
    ck_assert_str_eq(nearest_hint(&nearest, &text), hint);
}

START_TEST(the_nearest_known_word_is_suggested)
{
    expect_hint("masss", "; did you mean 'mass'?");
    expect_hint("mas", "; did you mean 'mass'?");
    expect_hint("mssa", "; did you mean 'mass'?");
    expect_hint("veloctiy", "; did you mean 'velocity'?");
    expect_hint("positions", "; did you mean 'position'?");
    expect_hint("acelleration", "; did you mean 'acceleration'?");
    expect_hint("x", "");
    expect_hint("", "");
    expect_hint("temperature", "");
    char far[100];
    memset(far, 'm', sizeof far - 1);
    far[sizeof far - 1] = '\0';
    expect_hint(far, "");
    nearest_t alone = {.wanted = "any"};
    text_t text;
    ck_assert_str_eq(nearest_hint(&alone, &text), "");
}
END_TEST

START_TEST(a_text_of_fixed_room_is_cut_not_overrun)
{
    text_t text = {.length = 0};
    for (int i = 0; i < 200; i++)
        text_append(&text, "%s ", "words");
    ck_assert_uint_eq(text.length, sizeof text.chars - 1);
    ck_assert_uint_eq(strlen(text.chars), text.length);
}
END_TEST

/* --- files -------------------------------------------------------------------------------------------------------- */

START_TEST(paths_are_seen_from_the_folder_of_a_file)
{
    char out[32];
    ck_assert(file_path_beside("dir/game.ini", "mesh.obj", out, sizeof out));
    ck_assert_str_eq(out, "dir/mesh.obj");
    ck_assert(file_path_beside("/a/b/game.ini", "../x", out, sizeof out));
    ck_assert_str_eq(out, "/a/b/../x");
    ck_assert(file_path_beside("game.ini", "x", out, sizeof out));
    ck_assert_str_eq(out, "x");
    ck_assert(file_path_beside("dir\\game.ini", "x", out, sizeof out));
    ck_assert_str_eq(out, "dir\\x");
    ck_assert(file_path_beside("dir/game.ini", "/x", out, sizeof out));
    ck_assert_str_eq(out, "/x");
    ck_assert(file_path_join("folder", "name", out, sizeof out));
    ck_assert_str_eq(out, "folder/name");
}
END_TEST

START_TEST(paths_that_do_not_fit_are_refused)
{
    char out[12];
    ck_assert(file_path_beside("dir/f", "1234567", out, sizeof out));
    ck_assert(!file_path_beside("dir/f", "12345678", out, sizeof out));
    ck_assert(file_path_join("dir", "1234567", out, sizeof out));
    ck_assert(!file_path_join("dir", "12345678", out, sizeof out));
}
END_TEST

START_TEST(the_stem_of_a_library_is_its_name_without_folder_and_ending)
{
    char path[64], out[16];
    snprintf(path, sizeof path, "dir/gravity%s", os_library_suffix);
    file_stem(path, out, sizeof out);
    ck_assert_str_eq(out, "gravity");
    file_stem("gravity", out, sizeof out);
    ck_assert_str_eq(out, "gravity");
    file_stem("a.b/c.d", out, sizeof out);
    ck_assert_str_eq(out, "c");
    file_stem(os_library_suffix, out, sizeof out);
    ck_assert_str_eq(out, os_library_suffix);
}
END_TEST

START_TEST(files_are_read_whole)
{
    static const size_t sizes[] = {0, 1, (1 << 16) - 2, (1 << 16) - 1, 1 << 16, 200000};
    for (uint32_t i = 0; i < COUNT(sizes); i++) {
        char *wanted = calloc(sizes[i] + 1, 1), *bytes;
        size_t size;
        for (size_t k = 0; k < sizes[i]; k++)
            wanted[k] = (char)(k * 31);
        const char *path = scratch_bytes("base.bin", wanted, sizes[i]);
        ck_assert(file_exists(path));
        ck_assert_int_eq(file_read(&memory, path, &bytes, &size, &error), BP_OK);
        ck_assert_uint_eq(size, sizes[i]);
        ck_assert_int_eq(memcmp(bytes, wanted, sizes[i] + 1), 0);
        memory_free(&memory, bytes, size + 1);
        free(wanted);
    }
}
END_TEST

/* As much as the limit, and one byte more; a device may have no end at all. */
START_TEST(files_are_read_no_further_than_a_limit)
{
    static const size_t limits[] = {1, 100, (1 << 16) - 1, 1 << 16, 199998};
    char *text = calloc(200000, 1), *bytes;
    size_t size;
    for (uint32_t i = 0; i < COUNT(limits); i++) {
        const char *path = scratch_bytes("base.bin", text, limits[i]);
        ck_assert_int_eq(file_read_most(&memory, path, limits[i], &bytes, &size, &error), BP_OK);
        ck_assert_uint_eq(size, limits[i]);
        memory_free(&memory, bytes, size + 1);
        path = scratch_bytes("base.bin", text, limits[i] + 1);
        expect_error(file_read_most(&memory, path, limits[i], &bytes, &size, &error), BP_ERROR_LIMIT,
                     "bytes, the most that is read");
        ck_assert_uint_eq(memory_bytes(&memory), 0);
    }
    free(text);
    if (file_exists("/dev/zero"))
        expect_error(file_read_most(&memory, "/dev/zero", 300000, &bytes, &size, &error), BP_ERROR_LIMIT,
                     "/dev/zero: has more than 300000 bytes");
}
END_TEST

START_TEST(files_that_cannot_be_read_are_named)
{
    char *bytes;
    size_t size;
    ck_assert(!file_exists(TEST_SCRATCH_DIR "/missing"));
    expect_error(file_read(&memory, TEST_SCRATCH_DIR "/missing", &bytes, &size, &error), BP_ERROR_IO,
                 "/missing: cannot be opened: ");
    expect_error(file_read(&memory, TEST_SCRATCH_DIR, &bytes, &size, &error), BP_ERROR_IO,
                 TEST_SCRATCH_DIR ": cannot be ");
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}
END_TEST

START_TEST(a_file_that_finds_no_memory_leaves_nothing)
{
    char *bytes;
    size_t size;
    const char *path = scratch_file("base.txt", "text");
    heap.refuse_first = heap.refuse_last = heap.requests + 1;
    expect_error(file_read(&memory, path, &bytes, &size, &error), BP_ERROR_MEMORY, "out of memory");
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}
END_TEST

#ifndef _WIN32
/* Another process writes so many bytes into a pipe. */
static pid_t write_pipe(const char *path, const char *bytes, size_t size)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    signal(SIGPIPE, SIG_IGN);
    int pipe = open(path, O_WRONLY);
    for (ssize_t written = 1; pipe >= 0 && size > 0 && written > 0; bytes += written, size -= (size_t)written)
        written = write(pipe, bytes, size);
    _exit(0);
}

/* A pipe has no size to begin with: room for it grows. */
START_TEST(a_pipe_is_read_whole_or_leaves_nothing)
{
    static const size_t sizes[] = {0, 1, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 200000};
    const char *path = TEST_SCRATCH_DIR "/base.pipe";
    char *wanted = calloc(200001, 1), *bytes;
    size_t size;
    remove(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    for (size_t k = 0; k < 200000; k++)
        wanted[k] = (char)(k * 31);
    for (uint32_t i = 0; i < COUNT(sizes); i++) {
        bp_result_t result = BP_ERROR_MEMORY;
        for (uint64_t n = 1; result != BP_OK; n++) {
            pid_t writer = write_pipe(path, wanted, sizes[i]);
            heap.refuse_first = heap.refuse_last = heap.requests + n;
            result = file_read(&memory, path, &bytes, &size, &error);
            waitpid(writer, NULL, 0);
            if (result != BP_OK) {
                expect_error(result, BP_ERROR_MEMORY, "out of memory");
                ck_assert_uint_eq(memory_bytes(&memory), 0);
                ck_assert_uint_lt(n, 10);
            }
        }
        ck_assert_uint_eq(size, sizes[i]);
        ck_assert_int_eq(memcmp(bytes, wanted, size), 0);
        ck_assert_int_eq(bytes[size], 0);
        memory_free(&memory, bytes, size + 1);
    }
    free(wanted);
    remove(path);
}
END_TEST
#endif

/* --- the suite ---------------------------------------------------------------------------------------------------- */

static void add_memory(Suite *suite)
{
    TCase *tests = new_case(suite, "memory");
    tcase_add_test(tests, what_a_child_takes_is_counted_at_its_parents);
    tcase_add_test(tests, a_refused_request_leaves_the_block_and_the_account);
    tcase_add_test(tests, absurd_sizes_are_refused);
    tcase_add_test(tests, cleared_growth_clears_across_the_border_to_pages);
    tcase_add_test(tests, cleared_growth_clears_what_an_embedders_allocator_gives);
    tcase_add_test(tests, a_block_shrunk_and_grown_again_is_cleared_again);
    tcase_add_test(tests, blocks_are_pages_from_the_border_on_unless_the_allocator_is_replaced);
#ifndef _WIN32
    tcase_add_test(tests, pages_that_are_freed_go_back_to_the_system);
#endif
    tcase_add_test(tests, an_array_grows_by_doubling_or_stays_as_it_is);
    tcase_add_test(tests, a_sentence_may_be_made_from_the_present_one);
    tcase_add_test(tests, a_sentence_that_is_too_long_is_cut);
    tcase_add_test(tests, what_is_said_between_calls_belongs_to_none);
    tcase_add_test(tests, the_first_failures_in_the_order_of_the_step_are_kept_in_whatever_order_they_come);
    tcase_add_test(tests, the_log_gets_every_level_and_its_source);
}

static void add_words_and_files(Suite *suite)
{
    TCase *tests = new_case(suite, "words and files");
    tcase_add_test(tests, lists_are_cut_at_blanks_commas_and_line_ends);
    tcase_add_test(tests, a_word_longer_than_its_room_is_cut_and_passed_over_whole);
    tcase_add_test(tests, the_nearest_known_word_is_suggested);
    tcase_add_test(tests, a_text_of_fixed_room_is_cut_not_overrun);
    tcase_add_test(tests, paths_are_seen_from_the_folder_of_a_file);
    tcase_add_test(tests, paths_that_do_not_fit_are_refused);
    tcase_add_test(tests, the_stem_of_a_library_is_its_name_without_folder_and_ending);
    tcase_add_test(tests, files_are_read_whole);
    tcase_add_test(tests, files_are_read_no_further_than_a_limit);
    tcase_add_test(tests, files_that_cannot_be_read_are_named);
    tcase_add_test(tests, a_file_that_finds_no_memory_leaves_nothing);
#ifndef _WIN32
    tcase_add_test(tests, a_pipe_is_read_whole_or_leaves_nothing);
#endif
}

Suite *base_suite(void)
{
    Suite *suite = suite_create("base");
    add_memory(suite);
    add_words_and_files(suite);
    return suite;
}
