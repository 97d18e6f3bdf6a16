/* test_temporary.c - temporary folders of processes that were killed are removed, and nothing else is.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "../unit/support.h"

#include "reload/process.h"
#include "os/files.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
static pid_t other_process(char *path)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        temporary_t folder;
        char file[700];
        if (!temporary_create(&folder, "mine", path, 600))
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
    pid_t first = other_process(living), second = other_process(dead);
    ck_assert(temporary_create(&folder, "mine", own, sizeof own));
    ck_assert_uint_eq(temporary_sweep("mine"), 0);
    end_process(second);
    ck_assert_uint_eq(temporary_sweep("mine"), 1);
    ck_assert(!is_there(dead));
    ck_assert(is_there(living));
    ck_assert(is_there(own));
    end_process(first);
    ck_assert_uint_eq(temporary_sweep("other"), 0);
    ck_assert_uint_eq(temporary_sweep("mine"), 1);
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
    ck_assert(temporary_create(&folder, "mine", path, sizeof path));
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    close((int)folder.owner);
    ck_assert_uint_eq(temporary_sweep("mine"), 0);
    end_process(pid);
    ck_assert_uint_eq(temporary_sweep("mine"), 1);
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
    ck_assert_uint_eq(temporary_sweep("mine"), root_user ? 0 : 1);
    static const char *const names[] = {"elsewhere", "mine-toolong", "mine-nobody", "mine-linked", "mine-within", "mine-shared", "mine-target"};
    for (size_t i = 0; i < COUNT(names); i++)
        EXPECT(is_there(in_root(names[i], "/copy.so")), "%s has been touched", names[i]);
    make_like_ours("mine-abcdef"); /* and that one is */
    ck_assert_uint_eq(temporary_sweep("mine"), 1);
    end();
}
END_TEST

Suite *temporary_suite(void)
{
    Suite *suite = suite_create("temporary");
    TCase *folders = tcase_create("folders");
    tcase_add_test(folders, the_folder_of_a_killed_process_is_removed_and_that_of_a_living_one_is_not);
    tcase_add_test(folders, a_folder_stays_while_a_copy_of_its_process_lives);
    tcase_add_test(folders, what_is_not_the_folder_of_a_dead_process_of_this_user_is_left_alone);
    suite_add_tcase(suite, folders);
    return suite;
}
