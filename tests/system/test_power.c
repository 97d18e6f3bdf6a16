/* test_power.c - the power goes, or the process is killed, at every call of the system while a file is written:
 * afterwards there is the old file or the new one, whole.
 *
 * A writer puts one of two contents into a file, through the public face: a world saved, a scene compiled and written,
 * a recording. Each is run over an old file and where there was none; disk.h says what could be found after each of its
 * calls.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "../unit/support.h"
#include "../unit/zoo.h"
#include "calls.h"
#include "disk.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

extern const bp_plugin_head_t bp_plugin_point_mass, bp_plugin_debug_name, bp_plugin_recorder;

typedef struct writer_t {
    const char *name;
    /* Put content 0 or 1 into the file; false: it has failed, and `said` why. */
    bool (*write)(const char *path, int content);
} writer_t;

typedef struct content_t {
    char *bytes; /* NULL: no file */
    size_t size;
} content_t;

static struct {
    char folder[512], path[600];
    const writer_t *writer;
    content_t old, new;
    bool done; /* the new one must be there */
} at;

enum { SAID = 4200 };
static char said[SAID]; /* the sentence of the last write that failed */

/* --- writers ------------------------------------------------------------------------------------------------------ */

static bool tell(bp_host_o *host, bp_result_t result)
{
    snprintf(said, sizeof said, "%s", result == BP_OK ? "" : bp_host_error(host));
    return result == BP_OK;
}

static bool save_world(const char *path, int content)
{
    rig_t rig;
    rig_open_zoo(&rig);
    bp_world_o *world = rig_world(&rig, "main");
    for (int i = 0; i < 20 + 500 * content; i++)
        entity_with(world, i % 3 == 0 ? "label" : "body");
    bool good = tell(rig.host, bp_world_save(world, path));
    rig_close(&rig);
    return good;
}

static bool write_scene(const char *path, int content)
{
    static const char *const texts[] =
        {"{\"entities\": [{\"components\": {\"body\": {}}}]}",
         "{\"entities\": [{\"count\": 3, \"components\": {\"body\": {\"mass\": 7}, \"label\": {\"text\": \"x\"}}}]}"};
    rig_t rig;
    bp_scene_o *scene;
    rig_open_zoo(&rig);
    WORKS(rig.host, bp_scene_compile_text(rig.host, "text", texts[content], strlen(texts[content]), &scene));
    bool good = tell(rig.host, bp_scene_write(scene, path));
    bp_scene_close(scene);
    rig_close(&rig);
    return good;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

/* A body whose mass is recorded for some steps. */
static bool record(const char *option, const char *path, int content)
{
    static const bp_plugin_head_t *const plugins[] = {&bp_plugin_point_mass, &bp_plugin_debug_name,
                                                      &bp_plugin_recorder};
    static const char *const masses[] = {"1", "2.5"};
    char ini[2048], ini_path[700];
    rig_t rig;
    rig_init(&rig);
    rig.desc.static_plugins = plugins;
    rig.desc.static_plugin_count = COUNT(plugins);
    rig_open(&rig);
    snprintf(ini_path, sizeof ini_path, "%s.%d.ini", at.folder, content);
    snprintf(ini, sizeof ini,
             "[host]\nplugins = point_mass debug_name recorder\n[plugin recorder]\nproperties = "
             "main/ball.point_mass.mass\n%s = %s\n"
             "[world main]\nstep_rate = 50\ncomponents = point_mass debug_name\nsystems = recorder\n"
             "[spawn main ball]\ncomponents = point_mass debug_name\npoint_mass.mass = %s\ndebug_name.name = ball\n",
             option, path, masses[content]);
    if (access(ini_path, R_OK) != 0) /* the first time, when no call fails */
        write_text(ini_path, ini);
    bool good = tell(rig.host, bp_host_setup(rig.host, ini_path));
    for (int i = 0; i < 30 && good; i++)
        good = tell(rig.host, bp_host_step(rig.host));
    bp_host_destroy(rig.host);
    if (good && rig.log.count > 0)
        snprintf(said, sizeof said, "%s", rig.log.text);
    return good && rig.log.count == 0;
}

static bool record_csv(const char *path, int content)
{
    return record("csv", path, content);
}

static bool record_svg(const char *path, int content)
{
    return record("svg", path, content);
}

static const writer_t writers[] = {{"save", save_world},
                                   {"scene", write_scene},
                                   {"csv", record_csv},
                                   {"svg", record_svg}};

/* --- folders ------------------------------------------------------------------------------------------------------ */

static content_t read_content(const char *path)
{
    content_t content = {NULL, 0};
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return content;
    content.bytes = malloc(1 << 20);
    ck_assert_ptr_nonnull(content.bytes);
    content.size = fread(content.bytes, 1, 1 << 20, file);
    fclose(file);
    return content;
}

static bool is_content(const content_t *content, const void *bytes, size_t size)
{
    if (content->bytes == NULL || bytes == NULL)
        return content->bytes == bytes;
    return content->size == size && memcmp(content->bytes, bytes, size) == 0;
}

static void clear_folder(void)
{
    char path[1024];
    DIR *list = opendir(at.folder);
    for (const struct dirent *entry = list == NULL ? NULL : readdir(list); entry != NULL; entry = readdir(list)) {
        snprintf(path, sizeof path, "%s/%s", at.folder, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    if (list != NULL)
        closedir(list);
}

/* Is the file of the writer, if there is one, all that lies in the folder? */
static bool folder_is_tidy(void)
{
    uint32_t others = 0;
    DIR *list = opendir(at.folder);
    ck_assert_ptr_nonnull(list);
    for (const struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list))
        others += entry->d_name[0] != '.' && strcmp(entry->d_name, "file") != 0;
    closedir(list);
    return others == 0;
}

/* A folder with the old file in it, or none; what the new one is going to be. Loops count writers, each with and
   without an old file. */
static void begin(int loop)
{
    at.writer = &writers[loop / 2];
    at.done = false;
    char *scratch = realpath(TEST_SCRATCH_DIR, NULL); /* the host follows links before it writes */
    ck_assert_ptr_nonnull(scratch);
    snprintf(at.folder, sizeof at.folder, "%s/power.%d", scratch, (int)getpid());
    free(scratch);
    snprintf(at.path, sizeof at.path, "%s/file", at.folder);
    ck_assert_int_eq(mkdir(at.folder, 0755), 0);
    EXPECT(at.writer->write(at.path, 1), "%s: %s", at.writer->name, said);
    at.new = read_content(at.path);
    clear_folder();
    if (loop % 2 == 0)
        EXPECT(at.writer->write(at.path, 0), "%s: %s", at.writer->name, said);
    at.old = read_content(at.path);
    ck_assert_ptr_nonnull(at.new.bytes);
    ck_assert(!is_content(&at.old, at.new.bytes, at.new.size));
}

static void end(void)
{
    char ini[700];
    clear_folder();
    for (int content = 0; content < 2; content++) {
        snprintf(ini, sizeof ini, "%s.%d.ini", at.folder, content);
        remove(ini);
    }
    rmdir(at.folder);
    free(at.old.bytes);
    free(at.new.bytes);
}

/* Put the old file back as it was. */
static void restore_old(void)
{
    clear_folder();
    if (at.old.bytes == NULL)
        return;
    FILE *file = fopen(at.path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(at.old.bytes, 1, at.old.size, file), at.old.size);
    ck_assert_int_eq(fclose(file), 0);
}

/* --- power -------------------------------------------------------------------------------------------------------- */

static void look(void *data)
{
    (void)data;
    disk_file_t file = disk_found("file");
    bool new = is_content(&at.new, file.bytes, file.size), old = is_content(&at.old, file.bytes, file.size);
    EXPECT(new || (old && !at.done), "%s: a power cut leaves %s%s (%zu bytes; old %zu, new %zu): %s", at.writer->name,
           at.done ? "after the end " : "",
           old                  ? "the old file"
           : file.bytes == NULL ? "no file"
                                : "neither the old file nor the new one",
           file.size, at.old.size, at.new.size, disk_state());
}

START_TEST(a_power_cut_at_any_call_leaves_the_old_file_or_the_new_one)
{
    begin(_i);
    disk_begin(at.folder, look, NULL);
    calls_begin(0, false);
    bool good = at.writer->write(at.path, 1);
    ck_assert_uint_gt(calls_end(), 4);
    EXPECT(good, "%s: %s", at.writer->name, said);
    at.done = true;
    disk_cut();
    ck_assert_uint_gt(disk_states(), 8);
    disk_end();
    end();
}
END_TEST

/* --- the process is killed ---------------------------------------------------------------------------------------- */

enum { KILLED = 77, DONE = 0 };

static void count_down(void *data, const char *call, bool change)
{
    uint32_t *left = data;
    (void)call;
    if (change && --*left == 0)
        _exit(KILLED);
}

static int write_until(uint32_t nth)
{
    int status = 0;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        calls_begin(0, false);
        calls_before_each(count_down, &nth);
        bool good = at.writer->write(at.path, 1);
        calls_end();
        _exit(good ? DONE : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(a_process_killed_at_any_call_leaves_the_old_file_or_the_new_one_and_nothing_beside_it_after_the_next_write)
{
    begin(_i);
    uint32_t nth = 1;
    int status = write_until(nth);
    for (; status == KILLED; status = write_until(++nth)) {
        content_t found = read_content(at.path);
        EXPECT(is_content(&at.old, found.bytes, found.size) || is_content(&at.new, found.bytes, found.size),
               "%s: killed before change %u it leaves neither the old file nor the new one", at.writer->name, nth);
        free(found.bytes);
        EXPECT(at.writer->write(at.path, 1), "%s: after a process killed before change %u: %s", at.writer->name, nth,
               said);
        found = read_content(at.path);
        EXPECT(is_content(&at.new, found.bytes, found.size), "%s: another file is written after one that was killed",
               at.writer->name);
        EXPECT(folder_is_tidy(), "%s: what a process killed before change %u left is still there", at.writer->name,
               nth);
        free(found.bytes);
        restore_old();
    }
    ck_assert_int_eq(status, DONE);
    ck_assert_uint_gt(nth, 3);
    end();
}
END_TEST

/* --- calls fail --------------------------------------------------------------------------------------------------- */

START_TEST(a_write_that_fails_at_any_call_says_so_and_leaves_nothing_beside_the_file)
{
    begin(_i);
    uint32_t failed = 0, nth = 1;
    for (;; nth++) {
        uint32_t descriptors = calls_descriptors();
        calls_begin(nth, false);
        bool good = at.writer->write(at.path, 1);
        calls_end();
        content_t found = read_content(at.path);
        bool new = is_content(&at.new, found.bytes, found.size), old = is_content(&at.old, found.bytes, found.size);
        free(found.bytes);
        EXPECT(good ? new : new || old, "%s: %s, call %u, leaves %s", at.writer->name, calls_first_failed(), nth,
               old ? "the old file, but says nothing" : "neither the old file nor the new one");
        EXPECT(good || said[0] != '\0', "%s: %s, call %u, fails without a word", at.writer->name, calls_first_failed(),
               nth);
        EXPECT(folder_is_tidy() || strcmp(calls_first_failed(), "unlink") == 0, "%s: %s, call %u, leaves a file beside",
               at.writer->name, calls_first_failed(), nth);
        EXPECT(calls_descriptors() == descriptors, "%s: %s, call %u, leaves a file open", at.writer->name,
               calls_first_failed(), nth);
        if (calls_failed() == 0)
            break;
        failed += !good;
        restore_old();
    }
    ck_assert_uint_ge(failed, 3);
    end();
}
END_TEST

/* --- two processes ------------------------------------------------------------------------------------------------ */

START_TEST(a_file_that_another_process_is_writing_is_left_to_it)
{
    char part[700];
    begin(0);
    snprintf(part, sizeof part, "%s.part", at.path);
    int file = open(part, O_WRONLY | O_CREAT, 0644);
    ck_assert_int_eq(flock(file, LOCK_EX), 0);
    ck_assert_int_eq(write(file, "theirs", 6), 6);
    ck_assert(!save_world(at.path, 1));
    EXPECT(strstr(said, at.path) == said && strstr(said, strerror(EBUSY)) != NULL, "%s", said);
    content_t theirs = read_content(part), found = read_content(at.path);
    ck_assert_uint_eq(theirs.size, 6);
    ck_assert(is_content(&at.old, found.bytes, found.size));
    free(theirs.bytes);
    free(found.bytes);
    close(file); /* the other process ends without an end of its write */
    EXPECT(save_world(at.path, 1), "%s", said);
    ck_assert(folder_is_tidy());
    end();
}
END_TEST

START_TEST(processes_that_write_one_file_at_a_time_all_succeed)
{
    enum { PROCESSES = 4, TIMES = 12 };
    pid_t pids[PROCESSES];
    begin(2);
    for (int p = 0; p < PROCESSES; p++) {
        pids[p] = fork();
        ck_assert_int_ge(pids[p], 0);
        bool good = true;
        for (int n = 0; pids[p] == 0 && n < TIMES && good; n++)
            good = write_scene(at.path, (p + n) % 2);
        if (pids[p] == 0)
            _exit(good ? 0 : 1);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status = -1;
        ck_assert_int_eq(waitpid(pids[p], &status, 0), pids[p]);
        EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "process %d could not write", p);
    }
    content_t found = read_content(at.path);
    ck_assert(is_content(&at.old, found.bytes, found.size) || is_content(&at.new, found.bytes, found.size));
    free(found.bytes);
    ck_assert(folder_is_tidy());
    end();
}
END_TEST

Suite *power_suite(void)
{
    Suite *suite = suite_create("power");
    TCase *tests = tcase_create("files");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_power_cut_at_any_call_leaves_the_old_file_or_the_new_one, 0, 2 * COUNT(writers));
    tcase_add_loop_test(
        tests,
        a_process_killed_at_any_call_leaves_the_old_file_or_the_new_one_and_nothing_beside_it_after_the_next_write, 0,
        2 * COUNT(writers));
    tcase_add_loop_test(tests, a_write_that_fails_at_any_call_says_so_and_leaves_nothing_beside_the_file, 0,
                        2 * COUNT(writers));
    tcase_add_test(tests, a_file_that_another_process_is_writing_is_left_to_it);
    tcase_add_test(tests, processes_that_write_one_file_at_a_time_all_succeed);
    suite_add_tcase(suite, tests);
    return suite;
}
