/* test_watch.c - files that are written anew are handed over once they are whole, and never before.
 *
 * The watch is given the time, so nothing here waits: a clock of the test's own is moved on. The files are copies of a
 * real plugin, written as linkers and slow writers do. Each test runs with notices and with stamps alone.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "../unit/support.h"

#include "base/file.h"
#include "reload/watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static base_t base;
static loader_t loader;
static plugin_t plugin;
static plugin_t beside; /* of tests that load it */
static plugin_t *plugins[2] = {&plugin, &beside};
static file_watch_t watch;
static uint64_t now;
static char *bytes;
static size_t size;
static char folder[512], path[600], aside[700];

static void write_part(const char *to, size_t from, size_t count, int flags)
{
    int fd = open(to, O_WRONLY | O_CREAT | flags, 0644);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq((int)write(fd, bytes + from, count), (int)count);
    close(fd);
}

/* File systems keep times in ticks of some milliseconds: a file that is written twice within one looks the same. */
static void next_tick(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 12000000}, NULL);
}

static void begin(bool notices)
{
    error_text_t error = {.calls = NULL};
    memset(&base, 0, sizeof base);
    memory_init(&base.memory, "test", &(bp_allocator_i){0});
    ck_assert_int_eq(file_read(&base.memory, TEST_PLUGIN_DIR "/point_mass.so", &bytes, &size, &error), BP_OK);
    snprintf(folder, sizeof folder, "%s/watch.%d", TEST_SCRATCH_DIR, (int)getpid());
    snprintf(path, sizeof path, "%s/plugin.so", folder);
    snprintf(aside, sizeof aside, "%s/plugin.so.tmp", folder);
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    write_part(path, 0, size, O_TRUNC);
    memset(&loader, 0, sizeof loader);
    loader.base = &base;
    loader.plugins.items = plugins;
    loader.plugins.count = 1;
    plugin.path = path;
    file_stamp(path, &plugin.stamp);
    now = 1000000;
    ck_assert_int_eq(watch_begin(&watch, &loader), BP_OK);
    if (!notices) {
        folder_watch_close(watch.folders);
        watch.folders = NULL;
    }
    ck_assert_ptr_null(watch_next(&watch, now));
    next_tick();
}

static void end(void)
{
    watch_end(&watch);
    memory_free(&base.memory, bytes, size + 1);
    ck_assert_uint_eq(memory_bytes(&base.memory), 0);
    remove(path);
    remove(aside);
    rmdir(folder);
}

/* How many milliseconds until the file is handed over; 0: not within `most`. */
static uint64_t wait_for_it(uint64_t most)
{
    for (uint64_t waited = 1; waited <= most; waited++) {
        now++;
        if (watch_next(&watch, now) != NULL)
            return waited;
    }
    return 0;
}

static void expect_once(void)
{
    uint64_t waited = wait_for_it(100);
    EXPECT(waited > 0, "the file was not handed over within 100 ms");
    waited = wait_for_it(3000);
    EXPECT(waited == 0, "the file was handed over a second time, after %u ms", (unsigned)waited);
}

static void expect_nothing(uint64_t most)
{
    uint64_t waited = wait_for_it(most);
    EXPECT(waited == 0, "something was handed over after %u ms", (unsigned)waited);
}

START_TEST(an_untouched_file_is_not_handed_over)
{
    begin(_i == 0);
    expect_nothing(5000);
    end();
}
END_TEST

START_TEST(a_file_written_in_place_is_handed_over_once)
{
    begin(_i == 0);
    write_part(path, 0, size, O_TRUNC);
    expect_once();
    next_tick();
    write_part(path, 0, size, 0);
    expect_once();
    end();
}
END_TEST

/* Paths as watches get them: that of a file in the working directory has no folder in it. */
START_TEST(the_shortest_paths_are_those_of_their_own_folders)
{
    memory_t memory;
    memory_init(&memory, "test", &(bp_allocator_i){0});
    folder_watch_t *folders = folder_watch_open(&memory);
    if (folders == NULL)
        return; /* a system without notices */
    int32_t here = folder_watch_add(folders, ""), root = folder_watch_add(folders, "/");
    ck_assert(here >= 0 && root >= 0 && here != root);
    ck_assert_int_eq(folder_watch_add(folders, "."), here);
    ck_assert_int_eq(folder_watch_add(folders, "//"), root);
    ck_assert_int_eq(folder_watch_add(folders, "no such folder"), -1);
    folder_watch_close(folders);
}
END_TEST

START_TEST(a_file_unlinked_and_written_anew_is_handed_over_once)
{
    begin(_i == 0);
    ck_assert_int_eq(unlink(path), 0);
    expect_nothing(200);
    EXPECT(watch_look_ms(&watch) > 0, "a file that has gone keeps the host awake");
    write_part(path, 0, size, O_EXCL);
    expect_once();
    end();
}
END_TEST

/* A linker that fails removes what it has begun to write. */
START_TEST(a_file_that_goes_before_it_is_handed_over_counts_when_it_comes_back)
{
    begin(_i == 0);
    write_part(path, 0, size, O_TRUNC);
    uint64_t quiet = WATCH_LOOK_MS > WATCH_QUIET_MS ? WATCH_LOOK_MS : WATCH_QUIET_MS;
    for (uint64_t waited = 0; !watch_is_waiting(&watch) && waited <= quiet; waited++)
        expect_nothing(1);
    EXPECT(watch_is_waiting(&watch), "the file has not been noticed");
    ck_assert_int_eq(unlink(path), 0);
    expect_nothing(WATCH_PATIENCE_MS + 300); /* nor as one that has stayed broken */
    EXPECT(!watch_is_waiting(&watch), "a file that has gone is waited for");
    next_tick();
    write_part(path, 0, size, O_EXCL);
    expect_once();
    end();
}
END_TEST

START_TEST(a_file_moved_into_place_is_handed_over_once)
{
    begin(_i == 0);
    write_part(aside, 0, size, O_TRUNC);
    expect_nothing(200);
    ck_assert_int_eq(rename(aside, path), 0);
    expect_once();
    end();
}
END_TEST

START_TEST(a_file_written_through_a_mapping_is_handed_over_once)
{
    begin(_i == 0);
    int fd = open(path, O_RDWR | O_TRUNC);
    ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
    char *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(mapped, MAP_FAILED);
    expect_nothing(300); /* zeros are no library */
    memcpy(mapped, bytes, size);
    munmap(mapped, size);
    close(fd);
    expect_once();
    end();
}
END_TEST

START_TEST(a_slow_writer_is_waited_for)
{
    begin(true);
    int fd = open(path, O_WRONLY | O_TRUNC);
    size_t step = size / 20 + 1;
    for (size_t at = 0; at < size; at += step) {
        size_t count = size - at < step ? size - at : step;
        ck_assert_int_eq((int)write(fd, bytes + at, count), (int)count);
        expect_nothing(_i == 0 ? 30 : 2000); /* however slow: it has not closed the file */
    }
    close(fd);
    expect_once();
    end();
}
END_TEST

START_TEST(a_writer_that_closes_in_between_is_not_taken_at_its_word)
{
    begin(_i == 0);
    size_t step = size / 5 + 1;
    for (size_t at = 0; at < size; at += step) {
        write_part(path, at, size - at < step ? size - at : step, at == 0 ? O_TRUNC : O_APPEND);
        if (at + step < size)
            expect_nothing(WATCH_PATIENCE_MS / 2);
        next_tick();
    }
    expect_once();
    end();
}
END_TEST

START_TEST(a_file_that_stays_broken_is_handed_over_in_the_end)
{
    begin(_i == 0);
    write_part(path, 0, size / 2, O_TRUNC);
    expect_nothing(WATCH_PATIENCE_MS / 2);
    EXPECT(wait_for_it(2 * WATCH_PATIENCE_MS) > 0, "nobody is told of a broken file");
    expect_nothing(3000);
    end();
}
END_TEST

START_TEST(a_folder_may_go_and_come_back)
{
    begin(_i == 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(remove(path), 0);
        ck_assert_int_eq(rmdir(folder), 0);
        expect_nothing(300);
        ck_assert_int_eq(mkdir(folder, 0755), 0);
        expect_nothing(300);
        next_tick();
        write_part(path, 0, size, O_TRUNC);
        expect_once();
    }
    end();
}
END_TEST

START_TEST(a_folder_may_be_moved_and_replaced)
{
    char elsewhere[600];
    begin(_i == 0);
    snprintf(elsewhere, sizeof elsewhere, "%s.old", folder);
    ck_assert_int_eq(rename(folder, elsewhere), 0);
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    write_part(path, 0, size, O_TRUNC);
    uint64_t waited = wait_for_it(250);
    EXPECT(waited > 0, "the file in the new folder was not handed over");
    snprintf(aside, sizeof aside, "%s/plugin.so", elsewhere);
    write_part(aside, 0, size, O_TRUNC);
    expect_nothing(300);
    remove(aside);
    rmdir(elsewhere);
    end();
}
END_TEST

/* As by `rm -r build; mv build.new build`: nothing is asked before the new file is there, so that the notice of the old
 * one's end is heard when a file is there again. Its writer was done before the folder was watched. */
START_TEST(a_folder_that_is_replaced_at_once_brings_its_file)
{
    char made[600], file[700];
    begin(_i == 0);
    snprintf(made, sizeof made, "%s.made", folder);
    snprintf(file, sizeof file, "%s/plugin.so", made);
    ck_assert_int_eq(mkdir(made, 0755), 0);
    write_part(file, 0, size, O_TRUNC);
    ck_assert_int_eq(remove(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(rename(made, folder), 0);
    uint64_t waited = wait_for_it(250);
    EXPECT(waited > 0, "the file in the new folder was not handed over");
    expect_nothing(3000);
    EXPECT(watch_look_ms(&watch) > 0, "the file keeps the host awake");
    end();
}
END_TEST

START_TEST(a_plugin_that_is_unloaded_is_not_watched_any_more)
{
    begin(_i == 0);
    loader.plugins.count = 0;
    write_part(path, 0, size, O_TRUNC);
    expect_nothing(300);
    ck_assert_uint_eq(watch.count, 0);
    loader.plugins.count = 1;
    file_stamp(path, &plugin.stamp);
    expect_nothing(300);
    next_tick();
    write_part(path, 0, size, O_TRUNC);
    expect_once();
    end();
}
END_TEST

START_TEST(a_file_written_between_loading_and_watching_is_handed_over)
{
    begin(_i == 0);
    watch_end(&watch);
    write_part(path, 0, size, O_TRUNC);
    ck_assert_int_eq(watch_begin(&watch, &loader), BP_OK);
    if (_i == 1) {
        folder_watch_close(watch.folders);
        watch.folders = NULL;
    }
    expect_once();
    end();
}
END_TEST

/* As by `cp new.so plugins` and loading it, between two looks at a folder that is watched for another plugin. */
START_TEST(a_file_written_before_its_plugin_is_loaded_is_not_handed_over)
{
    static plugin_t second;
    static plugin_t *both[] = {&second, &plugin};
    char file[600];
    begin(_i == 0);
    snprintf(file, sizeof file, "%s/second.so", folder);
    write_part(file, 0, size, O_TRUNC);
    second.path = file;
    file_stamp(file, &second.stamp);
    EXPECT(watch_look_ms(&watch) > 0, "a file that is watched keeps the host awake");
    loader.plugins.items = both;
    loader.plugins.count = 2;
    EXPECT(watch_look_ms(&watch) == 0, "a file that is not watched yet is not looked at soon");
    expect_nothing(3000);
    EXPECT(watch_look_ms(&watch) > 0, "files that are watched keep the host awake");
    next_tick();
    write_part(file, 0, size, O_TRUNC);
    expect_once();
    remove(file);
    end();
}
END_TEST

/* Stamps alone: of a file that is moved back a notice says that it is finished. */
START_TEST(a_file_that_was_passed_over_is_not_new_when_it_comes_back)
{
    begin(false);
    write_part(path, 0, size, O_TRUNC);
    watch_pass_over(&watch, &plugin, now);
    expect_nothing(1000);
    ck_assert_int_eq(rename(path, aside), 0);
    expect_nothing(1000);
    ck_assert_int_eq(rename(aside, path), 0);
    expect_nothing(3000);
    next_tick();
    write_part(path, 0, size, O_TRUNC);
    expect_once();
    end();
}
END_TEST

START_TEST(a_file_that_goes_while_it_is_written_is_waited_for_no_longer)
{
    begin(true);
    int fd = open(path, O_WRONLY);
    ck_assert_int_eq((int)write(fd, bytes, 100), 100);
    ck_assert_ptr_null(watch_next(&watch, ++now));
    EXPECT(watch_look_ms(&watch) == 0, "a file that is being written is not looked at soon");
    ck_assert_int_eq(remove(path), 0);
    ck_assert_ptr_null(watch_next(&watch, ++now));
    EXPECT(watch_look_ms(&watch) > 0, "a file that has gone keeps the host awake");
    close(fd);
    end();
}
END_TEST

START_TEST(a_touched_file_is_handed_over)
{
    begin(true);
    int fd = open(path, O_WRONLY);
    close(fd);
    expect_once();
    end();
}
END_TEST

/* --- two files of one name, each in a folder of its own ----------------------------------------------------------- */

static char other_folder[520], other_path[620];

static void begin_with_second(bool notices)
{
    begin(notices);
    snprintf(other_folder, sizeof other_folder, "%s.second", folder);
    snprintf(other_path, sizeof other_path, "%s/plugin.so", other_folder);
    ck_assert_int_eq(mkdir(other_folder, 0755), 0);
    write_part(other_path, 0, size, O_TRUNC);
    beside.path = other_path;
    file_stamp(other_path, &beside.stamp);
    loader.plugins.count = 2;
    expect_nothing(200);
    next_tick();
}

static void end_with_second(void)
{
    remove(other_path);
    rmdir(other_folder);
    end();
}

/* Exactly these are handed over within `most` milliseconds, each once: bit 0 the first file, bit 1 the second. */
static void expect_these(uint32_t expected, uint64_t most)
{
    uint32_t found = 0;
    for (uint64_t waited = 0; waited < most; waited++, now++) {
        for (const plugin_t *next = watch_next(&watch, now); next != NULL; next = watch_next(&watch, now)) {
            uint32_t bit = next == &plugin ? 1u : 2u;
            EXPECT((found & bit) == 0, "file %u was handed over a second time", bit);
            found |= bit;
        }
    }
    ck_assert_uint_eq(found, expected);
}

START_TEST(each_of_several_files_is_handed_over_by_itself)
{
    begin_with_second(_i == 0);
    for (uint32_t some = 1; some < 4; some++) {
        if ((some & 1) != 0)
            write_part(path, 0, size, O_TRUNC);
        if ((some & 2) != 0)
            write_part(other_path, 0, size, O_TRUNC);
        expect_these(some, 100);
        expect_these(0, 2500);
        next_tick();
    }
    end_with_second();
}
END_TEST

/* Files in folders that have come back are found long before the next look at all files, which is made in case a notice
 * was missed. */
START_TEST(the_folders_of_several_files_may_go_and_come_back)
{
    begin_with_second(_i == 0);
    for (uint32_t round = 0; round < 2; round++) {
        ck_assert(remove(path) == 0 && rmdir(folder) == 0 && remove(other_path) == 0 && rmdir(other_folder) == 0);
        expect_these(0, 2050); /* and the last look at all of them has just been */
        ck_assert_uint_eq(watch_look_ms(&watch), WATCH_LOOK_MS < WATCH_RETRY_MS && _i == 1 ? WATCH_LOOK_MS
                                                                                           : WATCH_RETRY_MS);
        ck_assert(mkdir(folder, 0755) == 0 && mkdir(other_folder, 0755) == 0);
        write_part(path, 0, size, O_TRUNC);
        write_part(other_path, 0, size, O_TRUNC);
        expect_these(3, WATCH_RETRY_MS + WATCH_QUIET_MS + 10);
        next_tick();
        write_part(other_path, 0, size, O_TRUNC); /* its new folder is watched */
        expect_these(2, 60);
        next_tick();
    }
    end_with_second();
}
END_TEST

START_TEST(of_several_files_that_one_alone_is_passed_over)
{
    begin_with_second(_i % 2 == 0);
    write_part(path, 0, size, O_TRUNC);
    write_part(other_path, 0, size, O_TRUNC);
    watch_pass_over(&watch, _i < 2 ? &beside : &plugin, now);
    expect_these(_i < 2 ? 1 : 2, 100);
    expect_these(0, 2500);
    end_with_second();
}
END_TEST

START_TEST(of_several_files_those_of_plugins_that_stay_are_watched)
{
    begin_with_second(_i % 2 == 0);
    plugins[0] = _i < 2 ? &beside : &plugin;
    loader.plugins.count = 1;
    write_part(path, 0, size, O_TRUNC);
    write_part(other_path, 0, size, O_TRUNC);
    expect_these(_i < 2 ? 2 : 1, 100);
    expect_these(0, 2500);
    end_with_second();
}
END_TEST

START_TEST(while_one_of_several_files_is_written_more_is_to_come)
{
    begin_with_second(true);
    ck_assert(!watch_is_waiting(&watch) && watch_look_ms(&watch) > 0);
    int fd = open(_i == 0 ? path : other_path, O_WRONLY);
    ck_assert_int_eq((int)write(fd, bytes, 10), 10);
    expect_these(0, 200);
    ck_assert(watch_is_waiting(&watch) && watch_look_ms(&watch) == 0);
    write_part(_i == 0 ? other_path : path, 0, size, O_TRUNC);
    expect_these(_i == 0 ? 2 : 1, 100);
    ck_assert(watch_is_waiting(&watch));
    close(fd);
    expect_these(_i == 0 ? 1 : 2, 100);
    ck_assert(!watch_is_waiting(&watch) && watch_look_ms(&watch) == WATCH_BACKSTOP_MS);
    end_with_second();
}
END_TEST

#if defined(__linux__)
/* More happens in the folder than the system keeps notices of. What happens to the file comes after that, in round 0;
 * in round 1 nothing does, and the file is the one that was handed over before. */
START_TEST(a_file_whose_notices_were_lost_is_handed_over_if_it_is_another_one)
{
    char one[700], other[700];
    unsigned long most = 0;
    FILE *limit = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
    ck_assert(limit != NULL && fscanf(limit, "%lu", &most) == 1);
    fclose(limit);
    begin(true);
    write_part(path, 0, size, O_TRUNC);
    expect_once();
    next_tick();
    snprintf(one, sizeof one, "%s/one", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    write_part(one, 0, 1, O_TRUNC);
    for (unsigned long i = 0; i < most / 4 + 2; i++) { /* each rename is two notices */
        ck_assert_int_eq(rename(one, other), 0);
        ck_assert_int_eq(rename(other, one), 0);
    }
    if (_i == 0) {
        write_part(path, 0, size, O_TRUNC);
        expect_once();
    }
    expect_nothing(3000);
    ck_assert(!watch_is_waiting(&watch) && watch_look_ms(&watch) == WATCH_BACKSTOP_MS); /* nor is more to come */
    remove(one);
    end();
}
END_TEST
#endif

Suite *watch_suite(void)
{
    Suite *suite = suite_create("watch");
    TCase *files = tcase_create("files");
    tcase_add_loop_test(files, an_untouched_file_is_not_handed_over, 0, 2);
    tcase_add_loop_test(files, a_file_written_in_place_is_handed_over_once, 0, 2);
    tcase_add_test(files, the_shortest_paths_are_those_of_their_own_folders);
    tcase_add_loop_test(files, a_file_unlinked_and_written_anew_is_handed_over_once, 0, 2);
    tcase_add_loop_test(files, a_file_that_goes_before_it_is_handed_over_counts_when_it_comes_back, 0, 2);
    tcase_add_loop_test(files, a_file_moved_into_place_is_handed_over_once, 0, 2);
    tcase_add_loop_test(files, a_file_written_through_a_mapping_is_handed_over_once, 0, 2);
    tcase_add_loop_test(files, a_slow_writer_is_waited_for, 0, 2);
    tcase_add_loop_test(files, a_writer_that_closes_in_between_is_not_taken_at_its_word, 0, 2);
    tcase_add_loop_test(files, a_file_that_stays_broken_is_handed_over_in_the_end, 0, 2);
    tcase_add_loop_test(files, a_folder_may_go_and_come_back, 0, 2);
    tcase_add_loop_test(files, a_folder_may_be_moved_and_replaced, 0, 2);
    tcase_add_loop_test(files, a_folder_that_is_replaced_at_once_brings_its_file, 0, 2);
    tcase_add_loop_test(files, a_plugin_that_is_unloaded_is_not_watched_any_more, 0, 2);
    tcase_add_loop_test(files, a_file_written_before_its_plugin_is_loaded_is_not_handed_over, 0, 2);
    tcase_add_loop_test(files, a_file_written_between_loading_and_watching_is_handed_over, 0, 2);
    tcase_add_test(files, a_file_that_was_passed_over_is_not_new_when_it_comes_back);
    tcase_add_test(files, a_file_that_goes_while_it_is_written_is_waited_for_no_longer);
    tcase_add_test(files, a_touched_file_is_handed_over);
    tcase_add_loop_test(files, each_of_several_files_is_handed_over_by_itself, 0, 2);
    tcase_add_loop_test(files, the_folders_of_several_files_may_go_and_come_back, 0, 2);
    tcase_add_loop_test(files, of_several_files_that_one_alone_is_passed_over, 0, 4);
    tcase_add_loop_test(files, of_several_files_those_of_plugins_that_stay_are_watched, 0, 4);
    tcase_add_loop_test(files, while_one_of_several_files_is_written_more_is_to_come, 0, 2);
#if defined(__linux__)
    tcase_add_loop_test(files, a_file_whose_notices_were_lost_is_handed_over_if_it_is_another_one, 0, 2);
#endif
    suite_add_tcase(suite, files);
    return suite;
}
