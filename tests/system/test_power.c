/* test_power.c - the power goes, or the process is killed, at every call of the system while a file is written:
 * afterwards there is the old file or the new one, whole.
 *
 * A writer puts one of two contents into a file, through the public face: a world saved, a scene compiled and written,
 * a table, a drawing, a picture. Each is run over an old file and where there was none; disk.h says what could be found
 * after each of its calls. A recording grows in its place: what is found is the old one or a beginning of the new one,
 * which loses nothing that was certain once. `backplane new` writes several files, each of which is whole or not there.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "../history/recall.h"
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

#include "program/program.h"
#include "program/output.h"

extern const bp_plugin_head_t bp_plugin_point_mass, bp_plugin_debug_name, bp_plugin_recorder;
#if defined(TEST_PICTURE)
extern const bp_plugin_head_t bp_plugin_picture, bp_plugin_bubbles;
#endif

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

/* Go some steps with an ini; the file is written at the end. */
static bool run_ini(const char *ini, int content)
{
    static const bp_plugin_head_t *const plugins[] = {
#if defined(TEST_PICTURE)
        &bp_plugin_picture, &bp_plugin_bubbles,
#endif
        &bp_plugin_point_mass, &bp_plugin_debug_name, &bp_plugin_recorder};
    char ini_path[700];
    rig_t rig;
    rig_open_with(&rig, plugins, COUNT(plugins));
    snprintf(ini_path, sizeof ini_path, "%s.%d.ini", at.folder, content);
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

/* A body whose mass is recorded for some steps. */
static bool run_recorder(const char *option, const char *path, int content)
{
    static const char *const masses[] = {"1", "2.5"};
    char ini[2048];
    snprintf(ini, sizeof ini,
             "[host]\nplugins = point_mass debug_name recorder\n[plugin recorder]\nproperties = "
             "main/ball.point_mass.mass\n%s = %s\n"
             "[world main]\nstep_rate = 50\ncomponents = point_mass debug_name\nsystems = recorder\n"
             "[spawn main ball]\ncomponents = point_mass debug_name\npoint_mass.mass = %s\ndebug_name.name = ball\n",
             option, path, masses[content]);
    return run_ini(ini, content);
}

static bool record_csv(const char *path, int content)
{
    return run_recorder("csv", path, content);
}

static bool record_svg(const char *path, int content)
{
    return run_recorder("svg", path, content);
}

#if defined(TEST_PICTURE)
static bool paint(const char *path, int content)
{
    static const char *const colours[] = {"#102030", "#ff8000"};
    char ini[2048];
    snprintf(ini, sizeof ini,
             "[host]\nplugins = bubbles picture\n[plugin picture]\nfile = %s\nwidth = 16\nheight = 16\n"
             "background = %s\n[world main]\nstep_rate = 50\ncomponents = sprite\nsystems = picture\n",
             path, colours[content]);
    return run_ini(ini, content);
}
#endif

static const writer_t writers[] = {{"save", save_world},
                                   {"scene", write_scene},
                                   {"csv", record_csv},
#if defined(TEST_PICTURE)
                                   {"picture", paint},
#endif
                                   {"svg", record_svg}};

static void open_recall(rig_t *rig)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin};
    rig_open_with(rig, plugins, 1);
    recall_open(rig->host);
}

/* Not among the others: what is found of it may be a part. Each step is written and brought to the disk. */
enum { RECORDED_STEPS = 6 };

static bool write_recording(const char *path, int content)
{
    rig_t rig;
    open_recall(&rig);
    recall_act(rig.host, 77, 21 + 50 * (uint32_t)content);
    bp_host_record_every(rig.host, 0);
    bool good = tell(rig.host, bp_host_record(rig.host, path, content == 0 ? "old" : "new"));
    for (int i = 0; i < RECORDED_STEPS && good; i++)
        good = tell(rig.host, bp_host_step(rig.host));
    good = good && tell(rig.host, bp_host_record_end(rig.host));
    if (good && rig.log.count > 0) /* a failure while the host goes on */
        snprintf(said, sizeof said, "%s", rig.log.text);
    good = good && rig.log.count == 0;
    recall_close(&rig);
    return good;
}

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

static void begin_folder(void)
{
    at.done = false;
    char *scratch = realpath(TEST_SCRATCH_DIR, NULL); /* the host follows links before it writes */
    ck_assert_ptr_nonnull(scratch);
    snprintf(at.folder, sizeof at.folder, "%s/power_%d", scratch, (int)getpid());
    free(scratch);
    snprintf(at.path, sizeof at.path, "%s/file", at.folder);
    ck_assert_int_eq(mkdir(at.folder, 0755), 0);
}

/* A folder with the old file in it, or none; what the new one is going to be. Loops count writers, each with and
   without an old file. */
static void begin_with(const writer_t *writer, int loop)
{
    at.writer = writer;
    begin_folder();
    EXPECT(at.writer->write(at.path, 1), "%s: %s", at.writer->name, said);
    at.new = read_content(at.path);
    clear_folder();
    if (loop % 2 == 0)
        EXPECT(at.writer->write(at.path, 0), "%s: %s", at.writer->name, said);
    at.old = read_content(at.path);
    ck_assert_ptr_nonnull(at.new.bytes);
    ck_assert(!is_content(&at.old, at.new.bytes, at.new.size));
}

static void begin(int loop)
{
    begin_with(&writers[loop / 2], loop);
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

/* --- recordings ------------------------------------------------------------------------------------------------- */

static const writer_t recording = {"recording", write_recording};
static const char *const origins[] = {"old", "new"};

static struct {
    rig_t rig;                /* reads them */
    uint32_t cut;             /* the cut that was looked at last */
    uint64_t certain, at_all; /* found after each cut before, and in all states of this one: steps of the new one + 1 */
} read_by;

static void begin_recording(int loop)
{
    begin_with(&recording, loop);
    memset(&read_by, 0, sizeof read_by);
    open_recall(&read_by.rig);
}

static void end_recording(void)
{
    recall_close(&read_by.rig);
    end();
}

/* How many steps of the new recording are whole in a file, and one more; 0 for the old one, as it was. */
static uint64_t found_of_new(const void *bytes, size_t size, const char *when)
{
    char path[700];
    bp_recording_o *found;
    if (is_content(&at.old, bytes, size))
        return 0;
    EXPECT(bytes != NULL, "%s leaves no recording: %s", when, disk_state());
    snprintf(path, sizeof path, "%s.found", at.folder);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    EXPECT(bp_recording_open(read_by.rig.host, path, &found) == BP_OK, "%s leaves what cannot be read: %s; %s", when,
           bp_host_error(read_by.rig.host), disk_state());
    bp_recording_t info = {.struct_size = sizeof info};
    bp_recording_info(found, &info);
    EXPECT(strcmp(info.origin, origins[1]) == 0 && info.keyframes > 0 && info.first == 0, "%s leaves another recording",
           when);
    bp_recording_close(found);
    remove(path);
    return info.last + 1;
}

static void look_at_recording(void *data)
{
    (void)data;
    disk_file_t file = disk_found("file");
    uint64_t steps = found_of_new(file.bytes, file.size, "a power cut");
    if (disk_cuts() != read_by.cut) {
        read_by.certain = read_by.at_all;
        read_by.at_all = steps;
        read_by.cut = disk_cuts();
    }
    read_by.at_all = steps < read_by.at_all ? steps : read_by.at_all;
    EXPECT(steps >= read_by.certain, "a power cut leaves %u steps of which %u were certain: %s", (uint32_t)steps,
           (uint32_t)read_by.certain, disk_state());
}

START_TEST(a_power_cut_leaves_the_old_recording_or_of_the_new_one_all_that_was_brought_to_the_disk)
{
    begin_recording(_i);
    disk_begin(at.folder, look_at_recording, NULL);
    calls_begin(0, false);
    bool good = write_recording(at.path, 1);
    ck_assert_uint_gt(calls_end(), 4 + 2 * RECORDED_STEPS);
    EXPECT(good, "%s", said);
    disk_cut();
    EXPECT(read_by.at_all == RECORDED_STEPS + 1, "%u steps are there for certain", (uint32_t)read_by.at_all);
    ck_assert_uint_gt(disk_states(), 8);
    disk_end();
    end_recording();
}
END_TEST

START_TEST(a_process_killed_while_it_records_leaves_the_old_recording_or_the_steps_that_it_had_written)
{
    begin_recording(_i);
    uint32_t nth = 1;
    uint64_t before = 0;
    int status = write_until(nth);
    for (; status == KILLED; status = write_until(++nth)) {
        content_t found = read_content(at.path);
        uint64_t steps = found_of_new(found.bytes, found.size, "a kill");
        EXPECT(steps >= before && steps <= before + 1, "killed before change %u: %u steps, and %u before", nth,
               (uint32_t)steps, (uint32_t)before);
        before = steps;
        free(found.bytes);
        EXPECT(write_recording(at.path, 1), "after a process killed before change %u: %s", nth, said);
        EXPECT(folder_is_tidy(), "what a process killed before change %u left is still there", nth);
        restore_old();
    }
    ck_assert_int_eq(status, DONE);
    ck_assert_uint_eq(before, RECORDED_STEPS + 1);
    end_recording();
}
END_TEST

START_TEST(a_recording_that_fails_at_any_call_says_so_and_leaves_the_old_one_or_a_beginning_of_the_new_one)
{
    begin_recording(_i);
    uint32_t failed = 0, nth = 1;
    for (;; nth++) {
        uint32_t descriptors = calls_descriptors();
        calls_begin(nth, false);
        bool good = write_recording(at.path, 1);
        calls_end();
        content_t found = read_content(at.path);
        uint64_t steps = found_of_new(found.bytes, found.size, calls_first_failed());
        free(found.bytes);
        EXPECT(good ? steps == RECORDED_STEPS + 1 : said[0] != '\0', "%s, call %u: %u steps, without a word",
               calls_first_failed(), nth, (uint32_t)steps);
        EXPECT(folder_is_tidy() || strcmp(calls_first_failed(), "unlink") == 0, "%s, call %u, leaves a file beside",
               calls_first_failed(), nth);
        EXPECT(calls_descriptors() == descriptors, "%s, call %u, leaves a file open", calls_first_failed(), nth);
        if (calls_failed() == 0)
            break;
        failed += !good;
        restore_old();
    }
    ck_assert_uint_ge(failed, RECORDED_STEPS);
    end_recording();
}
END_TEST

/* --- backplane new ------------------------------------------------------------------------------------------------ */

enum { NEW_FILES = 5 };

static struct {
    char name[64], names[NEW_FILES][80]; /* of the plugin, which its folder has too; of its files */
    content_t files[NEW_FILES];
    int unseen; /* takes what is printed */
    bool done;
} made;

/* Make a plugin in the folder, which lies in the folder for scratch and is empty. */
static bool make_plugin(void)
{
    char option[] = "--component", here[1024];
    char *texts[] = {option, made.name};
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    ck_assert_int_eq(chdir(TEST_SCRATCH_DIR), 0);
    fflush(stdout);
    int shown = dup(1);
    dup2(made.unseen, 1);
    said[0] = '\0';
    output_hold(said, sizeof said);
    bool good = command_new(2, texts) == STATUS_FINE;
    output_hold(NULL, 0);
    fflush(stdout);
    dup2(shown, 1);
    close(shown);
    ck_assert_int_eq(chdir(here), 0);
    return good;
}

static void begin_new(void)
{
    static const char *const endings[NEW_FILES] = {"%s.c", "%s.ini", "Makefile", "README.md", "test.sh"};
    begin_folder();
    made.done = false;
    made.unseen = open("/dev/null", O_WRONLY);
    snprintf(made.name, sizeof made.name, "%s", strrchr(at.folder, '/') + 1);
    EXPECT(make_plugin(), "%s", said);
    for (int i = 0; i < NEW_FILES; i++) {
        char path[700];
        snprintf(made.names[i], sizeof made.names[i], i < 2 ? endings[i] : "%s", i < 2 ? made.name : endings[i]);
        snprintf(path, sizeof path, "%s/%s", at.folder, made.names[i]);
        made.files[i] = read_content(path);
        EXPECT(made.files[i].size > 100, "%s is not there", path);
    }
    clear_folder();
}

static void end_new(void)
{
    for (int i = 0; i < NEW_FILES; i++)
        free(made.files[i].bytes);
    close(made.unseen);
    clear_folder();
    rmdir(at.folder);
}

static void look_at_new(void *data)
{
    (void)data;
    for (int i = 0; i < NEW_FILES; i++) {
        disk_file_t file = disk_found(made.names[i]);
        EXPECT(is_content(&made.files[i], file.bytes, file.size) || (file.bytes == NULL && !made.done),
               "a power cut leaves a part of %s: %s", made.names[i], disk_state());
    }
}

static uint32_t whole_files(const char *when)
{
    uint32_t whole = 0;
    for (int i = 0; i < NEW_FILES; i++) {
        char path[700];
        snprintf(path, sizeof path, "%s/%s", at.folder, made.names[i]);
        content_t found = read_content(path);
        EXPECT(found.bytes == NULL || is_content(&made.files[i], found.bytes, found.size), "%s leaves a part of %s",
               when, made.names[i]);
        whole += found.bytes != NULL;
        free(found.bytes);
    }
    return whole;
}

START_TEST(a_power_cut_while_a_plugin_is_made_leaves_each_of_its_files_whole_or_none)
{
    begin_new();
    disk_begin(at.folder, look_at_new, NULL);
    calls_begin(0, false);
    bool good = make_plugin();
    calls_end();
    EXPECT(good, "%s", said);
    made.done = true;
    disk_cut();
    ck_assert_uint_gt(disk_states(), 8 * NEW_FILES);
    disk_end();
    end_new();
}
END_TEST

START_TEST(what_ends_the_making_of_a_plugin_leaves_whole_files_after_a_kill_and_none_after_an_error)
{
    begin_new();
    for (uint32_t nth = 1, status = KILLED; status == KILLED; nth++) {
        int ended = 0;
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
            calls_begin(0, false);
            calls_before_each(count_down, &nth);
            _exit(make_plugin() ? DONE : 1);
        }
        ck_assert_int_eq(waitpid(pid, &ended, 0), pid);
        ck_assert(WIFEXITED(ended));
        status = (uint32_t)WEXITSTATUS(ended);
        ck_assert(whole_files("a kill") == NEW_FILES || status == KILLED);
        clear_folder();
    }
    for (uint32_t nth = 1, failed = 1; failed > 0; nth++) {
        mkdir(at.folder, 0755); /* an error takes it back too */
        calls_begin(nth, false);
        bool good = make_plugin();
        calls_end();
        failed = calls_failed();
        EXPECT(good || said[0] != '\0', "%s, call %u, fails without a word", calls_first_failed(), nth);
        uint32_t whole = whole_files(calls_first_failed());
        EXPECT(good ? whole == NEW_FILES : whole == 0 || strcmp(calls_first_failed(), "remove") == 0,
               "%s, call %u, leaves %u files", calls_first_failed(), nth, whole);
        clear_folder();
    }
    end_new();
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
    tcase_add_loop_test(tests, a_power_cut_leaves_the_old_recording_or_of_the_new_one_all_that_was_brought_to_the_disk,
                        0, 2);
    tcase_add_loop_test(tests,
                        a_process_killed_while_it_records_leaves_the_old_recording_or_the_steps_that_it_had_written, 0,
                        2);
    tcase_add_loop_test(
        tests, a_recording_that_fails_at_any_call_says_so_and_leaves_the_old_one_or_a_beginning_of_the_new_one, 0, 2);
    tcase_add_test(tests, a_power_cut_while_a_plugin_is_made_leaves_each_of_its_files_whole_or_none);
    tcase_add_test(tests, what_ends_the_making_of_a_plugin_leaves_whole_files_after_a_kill_and_none_after_an_error);
    tcase_add_test(tests, a_file_that_another_process_is_writing_is_left_to_it);
    tcase_add_test(tests, processes_that_write_one_file_at_a_time_all_succeed);
    suite_add_tcase(suite, tests);
    return suite;
}
