/* test_temporary.c - temporary folders of processes that were killed are removed, and nothing else is.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "../system/calls.h"
#include "../unit/support.h"

#include "reload/process.h"
#include "os/files.h"
#include "os/surroundings.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[512];

static void begin(void)
{
    snprintf(root, sizeof root, "%s/temporary.%d", TEST_SCRATCH_DIR, (int)getpid());
    ck_assert_int_eq(mkdir(root, 0755), 0);
    setenv("TMPDIR", root, 1);
}

static void end(void)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

/* root/name and what follows it. */
static const char *in_root(const char *name, const char *rest)
{
    static char path[700];
    snprintf(path, sizeof path, "%s/%s%s", root, name, rest);
    return path;
}

static void write_file(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_ge(file, 0);
    close(file);
}

static bool is_there(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

/* A process that has a folder with a file in it; its path goes to `path`. */
static pid_t other_process(const char *name, char *path)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        temporary_t folder;
        char file[700];
        if (!temporary_create(&folder, NULL, name, path, 600))
            _exit(1);
        snprintf(file, sizeof file, "%s/copy.so", path);
        close(open(file, O_WRONLY | O_CREAT, 0600));
        (void)!write(ends[1], path, strlen(path) + 1);
        for (;;)
            pause();
    }
    ck_assert_int_gt(pid, 0);
    ck_assert_int_gt(read(ends[0], path, 600), 0);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

START_TEST(the_folder_of_a_killed_process_is_removed_and_that_of_a_living_one_is_not)
{
    char living[600], dead[600], own[600];
    temporary_t folder;
    begin();
    pid_t first = other_process("mine", living), second = other_process("mine", dead);
    ck_assert(temporary_create(&folder, NULL, "mine", own, sizeof own));
    ck_assert_uint_eq(temporary_sweep(NULL, "mine"), 0);
    end_process(second);
    ck_assert_uint_eq(temporary_sweep(NULL, "mine"), 1);
    ck_assert(!is_there(dead));
    ck_assert(is_there(living));
    ck_assert(is_there(own));
    end_process(first);
    ck_assert_uint_eq(temporary_sweep(NULL, "other"), 0);
    ck_assert_uint_eq(temporary_sweep(NULL, "mine"), 1);
    ck_assert(!is_there(living));
    temporary_remove(&folder, own);
    ck_assert(!is_there(own));
    end();
}
END_TEST

/* A child of the killed one still has the folder. */
START_TEST(a_folder_stays_while_a_copy_of_its_process_lives)
{
    char path[600];
    temporary_t folder;
    begin();
    ck_assert(temporary_create(&folder, NULL, "mine", path, sizeof path));
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    close((int)folder.owner);
    ck_assert_uint_eq(temporary_sweep(NULL, "mine"), 0);
    end_process(pid);
    ck_assert_uint_eq(temporary_sweep(NULL, "mine"), 1);
    end();
}
END_TEST

/* Folders that look like one of ours but for one thing. */
static void make_like_ours(const char *name)
{
    ck_assert_int_eq(mkdir(in_root(name, ""), 0700), 0);
    write_file(in_root(name, "/copy.so"));
    write_file(in_root(name, "/.owner"));
}

START_TEST(what_is_not_the_folder_of_a_dead_process_of_this_user_is_left_alone)
{
    begin();
    make_like_ours("elsewhere"); /* of another name */
    make_like_ours("mine-toolong");
    make_like_ours("mine-nobody");
    unlink(in_root("mine-nobody", "/.owner"));
    ck_assert_int_eq(symlink("elsewhere", in_root("mine-linked", "")), 0);
    make_like_ours("mine-within");
    ck_assert_int_eq(mkdir(in_root("mine-within", "/folder"), 0700), 0);
    make_like_ours("mine-shared");
    ck_assert_int_eq(chmod(in_root("mine-shared", ""), 0777), 0);
    make_like_ours("mine-target");
    unlink(in_root("mine-target", "/.owner"));
    ck_assert_int_eq(symlink("../elsewhere/.owner", in_root("mine-target", "/.owner")), 0);
    make_like_ours("mine-others");
    bool root_user = geteuid() == 0 && chown(in_root("mine-others", ""), 12345, 12345) == 0;
    ck_assert_uint_eq(temporary_sweep(NULL, "mine"), root_user ? 0 : 1);
    static const char *const names[] = {"elsewhere",   "mine-toolong", "mine-nobody", "mine-linked",
                                        "mine-within", "mine-shared",  "mine-target"};
    for (size_t i = 0; i < COUNT(names); i++)
        EXPECT(is_there(in_root(names[i], "/copy.so")), "%s has been touched", names[i]);
    make_like_ours("mine-abcdef"); /* and that one is */
    ck_assert_uint_eq(temporary_sweep(NULL, "mine"), 1);
    end();
}
END_TEST

/* A folder of this process with two files. */
static void make_own(temporary_t *folder, char *path, size_t size)
{
    char file[700];
    ck_assert(temporary_create(folder, NULL, "mine", path, size));
    for (int i = 0; i < 2; i++) {
        snprintf(file, sizeof file, "%s/copy.%d.so", path, i);
        write_file(file);
    }
}

/* One call fails, or all from one on, until all are answered; or just the files cannot be removed. */
START_TEST(a_folder_that_cannot_be_removed_is_removed_by_the_next_sweep)
{
    static const struct { const char *calls; bool all; uint32_t left; } ways[] = {
        {"open close fdopendir unlinkat unlink", false, 1},
        {"open close fdopendir unlinkat unlink", true, 5},
        {"unlinkat", true, 2}};
    uint32_t nth = 0, left = 0;
    char path[600];
    temporary_t folder;
    begin();
    do {
        make_own(&folder, path, sizeof path);
        calls_begin_coded(ways[_i].calls, ++nth, ways[_i].all, EIO);
        temporary_remove(&folder, path);
        calls_end();
        bool there = is_there(path);
        left += there;
        EXPECT(!there || calls_failed() > 0, "%s is left, though all calls were answered", path);
        EXPECT(temporary_sweep(NULL, "mine") == there && !is_there(path), "call %u fails, and %s stays", nth, path);
    } while (calls_failed() > 0);
    EXPECT(left == ways[_i].left, "%u folders were left", left);
    end();
}
END_TEST

/* The handle of the lock serves. */
START_TEST(a_folder_is_removed_where_the_process_may_not_open_another_file)
{
    temporary_t folder;
    char path[600];
    struct rlimit before, none;
    begin();
    make_own(&folder, path, sizeof path);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){(rlim_t)folder.owner + 1, before.rlim_max};
    for (int file = 0; file <= (int)folder.owner;)
        file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    ck_assert_int_lt(open("/dev/null", O_RDONLY), 0);
    temporary_remove(&folder, path);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert(!is_there(path));
    end();
}
END_TEST

/* --- copies of plugins -------------------------------------------------------------------------------------------- */

static const char *const copied_name[] = {"point_mass"};

/* A host that opens copies, with a plugin file of its own in root/plugins. */
static bp_host_o *open_copied(log_text_t *log, char *plugin, size_t size)
{
    char command[1400];
    snprintf(plugin, size, "%s/plugins/point_mass.so", root);
    snprintf(command, sizeof command, "mkdir -p '%s/plugins' && cp '" TEST_PLUGIN_DIR "/point_mass.so' '%s'", root,
             plugin);
    ck_assert_int_eq(system(command), 0);
    log->text[0] = '\0';
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.log = log_into(log), .flags = BP_HOST_COPY_PLUGINS});
    WORKS(host, bp_host_load_plugin(host, plugin, NULL, 0));
    return host;
}

/* The file is emptied in place, which must not reach the running plugin; whole again, it is reloaded. */
static void overwrite_and_reload(bp_host_o *host, const char *plugin)
{
    char command[1400];
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    WORKS(host, bp_world_use_component(world, "point_mass"));
    write_file(plugin);
    WORKS(host, bp_world_step(world));
    FAILS(host, BP_ERROR_ABI, "point_mass.so", bp_host_reload(host, copied_name, 1, NULL));
    snprintf(command, sizeof command, "cp '" TEST_PLUGIN_DIR "/point_mass.so' '%s'", plugin);
    ck_assert_int_eq(system(command), 0);
    WORKS(host, bp_host_reload(host, copied_name, 1, NULL));
    WORKS(host, bp_world_step(world));
}

static void expect_nothing_beside(const char *plugin)
{
    char command[1400];
    snprintf(command, sizeof command, "test \"$(ls -A '%s/plugins')\" = point_mass.so", root);
    EXPECT(system(command) == 0, "copies are left beside %s", plugin);
}

START_TEST(where_temporary_files_cannot_be_written_copies_lie_beside_the_plugin)
{
    static log_text_t log;
    char plugin[700];
    begin();
    setenv("TMPDIR", in_root("missing", ""), 1);
    bp_host_o *host = open_copied(&log, plugin, sizeof plugin);
    EXPECT(strstr(log.text, "since TMPDIR cannot be written") != NULL, "it is not said:\n%s", log.text);
    overwrite_and_reload(host, plugin);
    bp_host_destroy(host);
    expect_nothing_beside(plugin);
    end();
}
END_TEST

static void see_folder(void *data, const char *name)
{
    *(uint32_t *)data += strncmp(name, ".backplane-", 11) == 0;
}

static uint32_t folders_in(const char *path)
{
    uint32_t count = 0;
    ck_assert(os_folder_list(path, see_folder, &count));
    return count;
}

/* A folder within that of the other host would not be removed by a sweep, nor let the other one be. */
START_TEST(copies_of_a_clone_lie_beside_the_plugin_too_and_not_beside_the_copy_they_are_made_of)
{
    static log_text_t log;
    char plugin[700], plugins[600];
    bp_host_o *clone;
    begin();
    setenv("TMPDIR", in_root("missing", ""), 1);
    snprintf(plugins, sizeof plugins, "%s/plugins", root);
    bp_host_o *host = open_copied(&log, plugin, sizeof plugin);
    ck_assert_uint_eq(folders_in(plugins), 1);
    WORKS(host, bp_host_clone(host, &clone));
    ck_assert_uint_eq(folders_in(plugins), 2);
    bp_host_destroy(clone);
    bp_host_destroy(host);
    expect_nothing_beside(plugin);
    end();
}
END_TEST

START_TEST(where_temporary_files_may_not_be_run_copies_lie_beside_the_plugin)
{
    static log_text_t log;
    char plugin[700], barred[600];
    begin();
    snprintf(barred, sizeof barred, "%s/barred", root);
    ck_assert_int_eq(mkdir(barred, 0700), 0);
    if (mount("none", barred, "tmpfs", MS_NOEXEC, NULL) != 0) {
        end(); /* only the administrator can mount */
        return;
    }
    setenv("TMPDIR", barred, 1);
    bp_host_o *host = open_copied(&log, plugin, sizeof plugin);
    EXPECT(strstr(log.text, "since nothing can be run from TMPDIR") != NULL, "it is not said:\n%s", log.text);
    overwrite_and_reload(host, plugin);
    bp_host_destroy(host);
    umount2(barred, MNT_DETACH); /* the loader keeps a page mapped of what it may not run */
    expect_nothing_beside(plugin);
    end();
}
END_TEST

/* So that debuggers and lists of what is mapped tell plugins apart. It goes with the plugin. */
START_TEST(a_copy_bears_the_name_of_its_plugin)
{
    static log_text_t log;
    char plugin[700], command[700];
    begin();
    bp_host_o *host = open_copied(&log, plugin, sizeof plugin);
    snprintf(command, sizeof command, "test -s \"$(echo '%s'/backplane-*/point_mass.1.so)\"", root);
    EXPECT(system(command) == 0, "there is no copy with the plugin's name in %s", root);
    WORKS(host, bp_host_unload_plugin(host, copied_name[0]));
    EXPECT(system(command) != 0, "the copy stays in %s", root);
    bp_host_destroy(host);
    end();
}
END_TEST

/* What clearing TMPDIR does while the host runs. */
static void remove_copies(void)
{
    char command[700];
    snprintf(command, sizeof command, "rm -rf '%s'/backplane-*", root);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(a_folder_of_copies_that_was_removed_is_made_anew)
{
    static log_text_t log;
    char plugin[700], command[700];
    begin();
    os_holdings_t before = os_holdings_count();
    bp_host_o *host = open_copied(&log, plugin, sizeof plugin);
    remove_copies();
    overwrite_and_reload(host, plugin);
    EXPECT(strstr(log.text, "TMPDIR") == NULL, "TMPDIR still serves:\n%s", log.text);
    bp_host_destroy(host);
    ck_assert_int_eq(os_holdings_count().files, before.files);
    snprintf(command, sizeof command, "test \"$(ls -A '%s')\" = plugins", root);
    EXPECT(system(command) == 0, "copies are left in %s", root);
    end();
}
END_TEST

START_TEST(a_folder_of_copies_that_cannot_be_made_anew_is_let_go_of)
{
    static log_text_t log;
    char plugin[700];
    begin();
    bp_host_o *host = open_copied(&log, plugin, sizeof plugin);
    remove_copies();
    setenv("TMPDIR", in_root("missing", ""), 1);
    overwrite_and_reload(host, plugin);
    EXPECT(strstr(log.text, "since TMPDIR cannot be written") != NULL, "it is not said:\n%s", log.text);
    bp_host_destroy(host);
    expect_nothing_beside(plugin);
    end();
}
END_TEST

/* Someone who writes the file while it is read: whoever opens it finds it a byte longer. */
static void go_on_writing(void *data, const char *call, bool change)
{
    static bool writing;
    (void)change;
    if (writing || strstr(call, "open") == NULL)
        return;
    writing = true;
    int file = open(data, O_WRONLY | O_APPEND);
    ck_assert_int_eq(write(file, "", 1), 1);
    close(file);
    writing = false;
}

START_TEST(a_file_that_is_written_while_it_is_copied_is_refused_until_it_is_whole)
{
    static log_text_t log;
    char plugin[700];
    begin();
    bp_host_o *host = open_copied(&log, plugin, sizeof plugin);
    calls_begin(0, false);
    calls_before_each(go_on_writing, plugin);
    bp_result_t result = bp_host_reload(host, copied_name, 1, NULL);
    calls_end();
    ck_assert_int_eq(result, BP_ERROR_IO);
    EXPECT(strstr(bp_host_error(host), "point_mass.so: it is being written; try again when it is whole") != NULL, "%s",
           bp_host_error(host));
    WORKS(host, bp_host_reload(host, copied_name, 1, NULL));
    bp_host_destroy(host);
    end();
}
END_TEST

/* As the log of other tests is not: that one leaves out what hosts say of others. */
static void write_last(void *context, int32_t level, const char *source, const char *text)
{
    (void)source;
    if (level == BP_LOG_INFO)
        snprintf(context, 256, "%s", text);
}

START_TEST(a_host_tells_how_many_folders_of_others_it_has_removed)
{
    static const char *const said[] = {"removed 1 temporary folder of hosts that were killed",
                                       "removed 2 temporary folders of hosts that were killed"};
    char last[256] = "", dead[600];
    const bp_log_i log = {.struct_size = sizeof log, .context = last, .write = write_last};
    begin();
    for (int k = 0; k <= _i; k++)
        end_process(other_process("backplane", dead));
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.log = &log, .flags = BP_HOST_COPY_PLUGINS});
    WORKS(host, bp_host_load_plugin(host, TEST_PLUGIN_DIR "/point_mass.so", NULL, 0));
    ck_assert_str_eq(last, said[_i]);
    bp_host_destroy(host);
    end();
}
END_TEST

/* Where a copy has found room neither there nor beside the plugin, the next one is tried there first again. */
START_TEST(after_a_time_without_room_copies_lie_in_tmpdir_again)
{
    static log_text_t log;
    char plugin[700];
    begin();
    bp_host_o *host = open_copied(&log, plugin, sizeof plugin);
    remove_copies();
    calls_begin_coded("mkdtemp", 1, true, ENOSPC);
    bp_result_t result = bp_host_reload(host, copied_name, 1, NULL);
    calls_end();
    ck_assert_uint_eq(calls_failed(), 2);
    ck_assert_int_eq(result, BP_ERROR_IO);
    EXPECT(strstr(bp_host_error(host), "neither TMPDIR nor its own folder can be written; set TMPDIR") != NULL, "%s",
           bp_host_error(host));
    overwrite_and_reload(host, plugin);
    EXPECT(strstr(log.text, "since TMPDIR cannot be written") == NULL, "TMPDIR serves again:\n%s", log.text);
    expect_nothing_beside(plugin);
    bp_host_destroy(host);
    end();
}
END_TEST

static void count(void *data, const char *name)
{
    (void)name;
    (*(uint32_t *)data)++;
}

static uint32_t things_in(const char *folder)
{
    uint32_t things = 0;
    ck_assert(os_folder_list(folder, count, &things));
    return things;
}

/* What makes copies: another version; a past, which keeps those at work; going back to an earlier one. */
static void make_reload(bp_host_o *host)
{
    bp_host_reload(host, copied_name, 1, NULL);
}

static void make_past(bp_host_o *host)
{
    bp_host_remember(host, 1 << 20);
}

static void prepare_visit(bp_host_o *host)
{
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    WORKS(host, bp_world_use_component(world, "point_mass"));
    WORKS(host, bp_host_remember(host, 1 << 20));
    WORKS(host, bp_world_step(world));
    WORKS(host, bp_host_reload(host, copied_name, 1, NULL));
    WORKS(host, bp_world_step(world));
}

static void make_visit(bp_host_o *host)
{
    bp_host_go(host, 0);
}

static const struct { const char *name; void (*prepare)(bp_host_o *host), (*make)(bp_host_o *host); } copying[] = {
    {"a reload", NULL, make_reload},
    {"remembering", NULL, make_past},
    {"going back", prepare_visit, make_visit},
};

START_TEST(whichever_call_fails_no_folder_of_copies_is_left)
{
    static log_text_t log;
    char plugin[700];
    begin();
    for (uint32_t nth = 1, failed = 1; failed > 0; nth++) {
        bp_host_o *host = open_copied(&log, plugin, sizeof plugin);
        if (copying[_i].prepare != NULL)
            copying[_i].prepare(host);
        calls_begin(nth, false);
        copying[_i].make(host);
        calls_end();
        failed = calls_failed();
        bp_host_destroy(host);
        EXPECT(things_in(root) == 1 && things_in(in_root("plugins", "")) == 1,
               "a folder is left where call %u of %s, %s, fails", nth, copying[_i].name, calls_first_failed());
    }
    end();
}
END_TEST

START_TEST(whichever_request_for_memory_fails_no_folder_of_copies_is_left)
{
    static log_text_t log;
    char plugin[700], no_copies[700];
    begin();
    snprintf(no_copies, sizeof no_copies, "test -z \"$(ls '%s'/backplane-* 2>/dev/null)\"", root);
    bp_host_destroy(open_copied(&log, plugin, sizeof plugin));
    for (uint64_t nth = 1, refused = 1; refused > 0; nth++) {
        heap_t heap = {.blocks = 0};
        const bp_allocator_i allocator = heap_allocator(&heap);
        bp_host_o *host = bp_host_create(
            &(bp_host_desc_t){.log = log_into(&log), .flags = BP_HOST_COPY_PLUGINS, .allocator = &allocator});
        heap.refuse_first = heap.refuse_last = heap.requests + nth;
        bp_result_t result = bp_host_load_plugin(host, plugin, NULL, 0);
        refused = heap.refused;
        EXPECT(result == (refused > 0 ? BP_ERROR_MEMORY : BP_OK), "request %u: %s", (uint32_t)nth, bp_host_error(host));
        EXPECT(refused == 0 || system(no_copies) == 0, "a copy is left where request %u is refused", (uint32_t)nth);
        bp_host_destroy(host);
        EXPECT(things_in(root) == 1 && things_in(in_root("plugins", "")) == 1,
               "a folder is left where request %u is refused", (uint32_t)nth);
        ck_assert_uint_eq(heap.blocks, 0);
    }
    end();
}
END_TEST

/* A folder with a file of its owner that is not locked would be taken for one that a dead process has left. */
START_TEST(where_the_system_has_no_locks_a_folder_has_no_owner_and_is_not_swept)
{
    temporary_t folder;
    char path[600], owner[700];
    begin();
    calls_begin_named("flock", 1);
    ck_assert(temporary_create(&folder, root, "mine", path, sizeof path));
    calls_end();
    ck_assert_uint_eq(calls_failed(), 1);
    snprintf(owner, sizeof owner, "%s/.owner", path);
    ck_assert(!is_there(owner));
    ck_assert_uint_eq(temporary_sweep(root, "mine"), 0);
    ck_assert(is_there(path));
    temporary_remove(&folder, path);
    ck_assert(!is_there(path));
    end();
}
END_TEST

Suite *temporary_suite(void)
{
    Suite *suite = suite_create("temporary");
    TCase *folders = tcase_create("folders");
    tcase_add_test(folders, the_folder_of_a_killed_process_is_removed_and_that_of_a_living_one_is_not);
    tcase_add_test(folders, a_folder_stays_while_a_copy_of_its_process_lives);
    tcase_add_test(folders, where_the_system_has_no_locks_a_folder_has_no_owner_and_is_not_swept);
    tcase_add_test(folders, what_is_not_the_folder_of_a_dead_process_of_this_user_is_left_alone);
    tcase_add_loop_test(folders, a_folder_that_cannot_be_removed_is_removed_by_the_next_sweep, 0, 3);
    tcase_add_test(folders, a_folder_is_removed_where_the_process_may_not_open_another_file);
    tcase_add_test(folders, where_temporary_files_cannot_be_written_copies_lie_beside_the_plugin);
    tcase_add_test(folders, copies_of_a_clone_lie_beside_the_plugin_too_and_not_beside_the_copy_they_are_made_of);
    tcase_add_test(folders, where_temporary_files_may_not_be_run_copies_lie_beside_the_plugin);
    tcase_add_test(folders, a_copy_bears_the_name_of_its_plugin);
    tcase_add_test(folders, a_folder_of_copies_that_was_removed_is_made_anew);
    tcase_add_test(folders, a_folder_of_copies_that_cannot_be_made_anew_is_let_go_of);
    tcase_add_test(folders, whichever_request_for_memory_fails_no_folder_of_copies_is_left);
    tcase_add_test(folders, a_file_that_is_written_while_it_is_copied_is_refused_until_it_is_whole);
    tcase_add_loop_test(folders, a_host_tells_how_many_folders_of_others_it_has_removed, 0, 2);
    tcase_add_test(folders, after_a_time_without_room_copies_lie_in_tmpdir_again);
    tcase_add_loop_test(folders, whichever_call_fails_no_folder_of_copies_is_left, 0, COUNT(copying));
    suite_add_tcase(suite, folders);
    return suite;
}
