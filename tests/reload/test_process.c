/* test_process.c - commands beside us, and copies of ourselves that leave no trace. */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "../system/calls.h"
#include "../unit/support.h"

#include "reload/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static memory_t memory;
static char said[4096];

static void begin(void)
{
    memory_init(&memory, "test", &(bp_allocator_i){0});
    said[0] = '\0';
}

static void end(void)
{
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}

/* Read until it is over. */
static process_end_t finish(process_t *process)
{
    size_t length = 0;
    process_end_t over;
    ck_assert_ptr_nonnull(process);
    do {
        over = process_state(process);
        length += process_read(process, said + length, sizeof said - 1 - length);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    } while (over.state == PROCESS_RUNNING);
    length += process_read(process, said + length, sizeof said - 1 - length);
    said[length] = '\0';
    process_free(process);
    return over;
}

START_TEST(a_command_runs_and_is_heard)
{
    int input = fcntl(0, F_GETFD);
    process_end_t over = finish(process_start(&memory, "echo out; echo errors >&2; cat; exit 7", NULL));
    ck_assert_uint_eq(over.state, PROCESS_ENDED);
    ck_assert_int_eq(over.code, 7);
    ck_assert_str_eq(said, "out\nerrors\n");
    ck_assert_int_eq(fcntl(0, F_GETFD), input); /* its end closes nothing of the program's */
}
END_TEST

/* What this program has on its standard input is not the command's to read. */
START_TEST(a_command_finds_nothing_on_its_standard_input)
{
    int ends[2], kept = fcntl(0, F_DUPFD_CLOEXEC, 10);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], "typed\n", 6), 6);
    close(ends[1]);
    ck_assert_int_eq(dup2(ends[0], 0), 0);
    process_end_t over = finish(process_start(&memory, "cat; echo out", NULL));
    ck_assert_int_eq(read(0, said + sizeof said - 8, 7), 6); /* it is still there */
    close(ends[0]);
    close(0);
    if (kept >= 0)
        ck_assert_int_eq(dup2(kept, 0), 0);
    ck_assert_int_eq(over.code, 0);
    ck_assert_str_eq(said, "out\n");
}
END_TEST

#if defined(__linux__)
/* Who ignores that its processes end hands this on to what it starts, which would wait in vain for a compiler. */
START_TEST(a_helper_can_wait_for_what_it_starts_though_this_program_ignores_such_ends)
{
    static const char word[] = "SigIgn:", file[] = "/proc/self/status";
    unsigned long long ignored = 0;
    signal(SIGCHLD, SIG_IGN);
    process_t *process = process_start_helper(&memory, "/bin/grep", word, file);
    signal(SIGCHLD, SIG_DFL);
    finish(process); /* how it ended is told to nobody, if that was before the line above */
    const char *found = strstr(said, word);
    ck_assert_ptr_nonnull(found);
    ck_assert_int_eq(sscanf(found + strlen(word), "%llx", &ignored), 1);
    ck_assert_uint_eq(ignored >> (SIGCHLD - 1) & 1, 0);
}
END_TEST
#endif

START_TEST(a_command_is_reached_by_signals_that_this_program_blocks)
{
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    process_t *process = process_start(&memory, "kill -TERM $$; echo out", NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    process_end_t over = finish(process);
    ck_assert_uint_eq(over.state, PROCESS_KILLED);
    ck_assert_str_eq(over.signal, "SIGTERM");
    ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(a_command_does_not_run_in_a_folder_that_is_not_there)
{
    process_end_t over = finish(process_start(&memory, "echo out", "/dev/null/folder"));
    ck_assert_uint_eq(over.state, PROCESS_ENDED);
    ck_assert_int_eq(over.code, 127);
    ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(a_helper_that_cannot_be_started_leaves_nothing)
{
    static const char *const names[] = {"posix_spawnattr_init",          "posix_spawn_file_actions_init",
                                        "posix_spawnattr_setflags",      "posix_spawnattr_setsigmask",
                                        "posix_spawnattr_setsigdefault",
                                        "posix_spawn_file_actions_addopen", "posix_spawn_file_actions_adddup2",
                                        "pipe"};
    uint32_t before = calls_descriptors(), refused = 0;
    for (size_t i = 0; i < COUNT(names); i++) {
        for (uint32_t nth = 1;; nth++) {
            calls_begin_coded(names[i], nth, false, ENOMEM);
            process_t *process = process_start_helper(&memory, "/bin/sh", "-c", "echo help");
            calls_end();
            if (process != NULL) {
                ck_assert_uint_eq(finish(process).state, PROCESS_ENDED);
                ck_assert_str_eq(said, "help\n");
            }
            ck_assert_uint_eq(calls_descriptors(), before);
            ck_assert_uint_eq(memory_bytes(&memory), 0);
            if (calls_failed() == 0)
                break;
            refused++;
        }
    }
    ck_assert_uint_ge(refused, COUNT(names));
}
END_TEST

/* Dead, or at least a zombie that no process waits for. `line` is what the system says of it. */
static bool is_dead(pid_t pid, char *line, int size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *state = fopen(path, "r");
    if (state == NULL)
        return kill(pid, 0) != 0;
    bool dead = fgets(line, size, state) == NULL || strstr(line, ") Z") != NULL;
    fclose(state);
    return dead;
}

static void expect_dead(pid_t pid)
{
    char line[256] = "it is there";
    for (int i = 0; i < 1000 && !is_dead(pid, line, sizeof line); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    ck_assert_msg(is_dead(pid, line, sizeof line), "%s", line);
}

START_TEST(a_command_that_is_let_go_is_killed_with_all_it_has_started)
{
    process_t *process = process_start(&memory, "sleep 1000 & echo $!; wait", NULL);
    while (process_read(process, said, sizeof said - 1) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    pid_t below = (pid_t)atoi(said);
    ck_assert_int_gt(below, 0);
    ck_assert_int_eq(kill(below, 0), 0);
    process_free(process);
    expect_dead(below);
}
END_TEST

static int speak(process_t *self, void *data)
{
    process_write(self, data, strlen(data));
    return 5;
}

START_TEST(a_copy_of_ourselves_reports_by_its_pipe)
{
    process_end_t over = finish(process_fork(&memory, speak, "hello from below"));
    ck_assert_uint_eq(over.state, PROCESS_ENDED);
    ck_assert_int_eq(over.code, 5);
    ck_assert_str_eq(said, "hello from below");
}
END_TEST

/* Pipes are then given the numbers of the standard files, which are led into them. */
START_TEST(a_program_whose_own_standard_files_are_closed_hears_all_the_same)
{
    int kept[3];
    char heard[3][64];
    process_end_t over[3];
    for (int file = 0; file < 3; file++) {
        kept[file] = (_i >> file & 1) != 0 ? fcntl(file, F_DUPFD_CLOEXEC, 10) : -1;
        if (kept[file] >= 0)
            close(file);
    }
    over[0] = finish(process_start(&memory, "echo out; echo errors >&2", NULL));
    snprintf(heard[0], sizeof heard[0], "%.60s", said);
    over[1] = finish(process_fork(&memory, speak, "hello"));
    snprintf(heard[1], sizeof heard[1], "%.60s", said);
    over[2] = finish(process_start_helper(&memory, "/bin/sh", "-c", "echo help"));
    snprintf(heard[2], sizeof heard[2], "%.60s", said);
    for (int file = 0; file < 3; file++) {
        if (kept[file] >= 0) {
            ck_assert_int_eq(dup2(kept[file], file), file);
            close(kept[file]);
        }
    }
    ck_assert_str_eq(heard[0], "out\nerrors\n");
    ck_assert_str_eq(heard[1], "hello");
    ck_assert_str_eq(heard[2], "help\n");
    ck_assert(over[0].code == 0 && over[1].code == 5 && over[2].code == 0);
}
END_TEST

static int die(process_t *self, void *data)
{
    (void)self, (void)data;
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    return 0;
}

START_TEST(a_copy_that_is_killed_says_by_what)
{
    process_end_t over = finish(process_fork(&memory, die, NULL));
    ck_assert_uint_eq(over.state, PROCESS_KILLED);
    ck_assert_int_eq(over.code, SIGSEGV);
    ck_assert_str_eq(over.signal, "SIGSEGV");
}
END_TEST

/* A program that has told the system that it will not ask for the ends of its processes, and one that asks for all of
 * them as soon as one has ended. */
static void ask_for_all(int number)
{
    int saved = errno;
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    errno = saved;
}

START_TEST(how_a_process_ended_is_known_where_the_system_does_not_tell)
{
    uint32_t before = calls_descriptors();
    void (*kept)(int) = signal(SIGCHLD, _i == 0 ? SIG_IGN : ask_for_all);
    process_end_t command = finish(process_start(&memory, "echo out; echo errors >&2; exec sh -c 'exit 7'", NULL));
    ck_assert_str_eq(said, "out\nerrors\n");
    process_end_t lost = finish(process_start(&memory, "echo >&3; exit 6", NULL));
    ck_assert_ptr_nonnull(strstr(said, "3")); /* the shell's complaint: nothing of ours is open in a command */
    process_end_t copy = finish(process_fork(&memory, speak, "hello from below"));
    ck_assert_str_eq(said, "hello from below");
    process_end_t killed = finish(process_fork(&memory, die, NULL));
    process_free(process_start(&memory, "sleep 100", NULL));
#if defined(__linux__)
    /* Compilers wait for processes of theirs. Some shells, dash among them, see to it by themselves. */
    finish(process_start(&memory, "grep SigIgn: /proc/self/status", NULL));
    ck_assert_uint_eq(strtoull(said + strlen("SigIgn:"), NULL, 16) >> (SIGCHLD - 1) & 1, 0);
#endif
    signal(SIGCHLD, kept);
    ck_assert(command.state == PROCESS_ENDED && command.code == 7);
    ck_assert(lost.state == PROCESS_ENDED && lost.code == 6);
    ck_assert(copy.state == PROCESS_ENDED && copy.code == 5);
    ck_assert_uint_eq(killed.state, PROCESS_KILLED);
    ck_assert(killed.code == SIGSEGV || strstr(killed.signal, "another part of the program") != NULL);
    ck_assert_uint_eq(calls_descriptors(), before);
}
END_TEST

static int write_everywhere(process_t *self, void *data)
{
    FILE *file = data;
    (void)self;
    fputs("from the copy\n", file);
    fflush(file);
    for (int fd = 0; fd < 64; fd++)
        if (fd != fileno(file))
            (void)!write(fd, "noise\n", fd > 2 ? 0 : 6);
    fputs("more from the copy\n", file);
    exit(0);
}

/* The buffer of an open file is in both processes after the fork: only the parent may write it out. */
START_TEST(a_copy_writes_nothing_to_the_parents_files)
{
    const char *path = scratch_file("process.txt", "");
    char text[256] = "";
    FILE *file = fopen(path, "w+");
    fputs("from the parent\n", file);
    process_end_t over = finish(process_fork(&memory, write_everywhere, file));
    ck_assert_uint_eq(over.state, PROCESS_ENDED);
    ck_assert_int_eq(over.code, PROCESS_CALLED_EXIT);
    fputs("the parent again\n", file);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    ck_assert_str_eq(text, "from the parent\nthe parent again\n");
}
END_TEST

static int complain(process_t *self, void *words)
{
    (void)self;
    fputs(words, stderr);
    return 1;
}

/* Of much that is said the end, from where a line begins. */
START_TEST(the_last_words_of_a_copy_are_one_line)
{
    static char much[1000];
    static const char *const words[][2] = {
        {"", ""}, {"\n \n", ""}, {"it ends\n\n", "it ends"}, {"first\nsecond\tword \n", "first second word"},
        {much, "the line that counts"}};
    memset(much, 'x', sizeof much - 1);
    memcpy(much + sizeof much - 1 - 22, "\nthe line that counts\n", 22);
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        process_t *process = process_fork(&memory, complain, (void *)(uintptr_t)words[i][0]);
        ck_assert_ptr_nonnull(process);
        while (process_state(process).state == PROCESS_RUNNING)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        ck_assert_str_eq(process_last_words(process), words[i][1]);
        ck_assert_str_eq(process_last_words(process), words[i][1]);
        process_free(process);
    }
}
END_TEST

static int complain_by_and_by(process_t *self, void *data)
{
    const char *const *pieces = data;
    for (; *pieces != NULL; pieces++) {
        complain(self, (void *)(uintptr_t)*pieces);
        fflush(stderr);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* so that they are heard one by one */
    }
    return 1;
}

/* Nor does it matter in which pieces it is heard. */
START_TEST(the_last_words_of_a_copy_are_whole_in_whatever_pieces_they_come)
{
    static char before[201], first[102], last[102], wanted[201];
    const char *pieces[] = {before, first, last, NULL};
    memset(before, 'x', 200);
    memset(first, 'a', 101);
    memset(last, 'b', 101);
    first[0] = last[100] = '\n';
    snprintf(wanted, sizeof wanted, "%s%.100s", first + 1, last);
    process_t *process = process_fork(&memory, complain_by_and_by, pieces);
    ck_assert_ptr_nonnull(process);
    while (process_state(process).state == PROCESS_RUNNING)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    ck_assert_str_eq(process_last_words(process), wanted);
    process_free(process);
}
END_TEST

static int complain_when_allowed(process_t *self, void *data)
{
    const volatile bool *allowed = data;
    while (!*allowed)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    return complain(self, (void *)(uintptr_t)"it ends");
}

/* Before we ask whether the copy has ended: let it speak, and wait until it has. */
static void let_complain(void *allowed, const char *call, bool change)
{
    siginfo_t over;
    (void)call, (void)change;
    *(volatile bool *)allowed = true;
    ck_assert_int_eq(waitid(P_ALL, 0, &over, WEXITED | WNOWAIT), 0);
}

START_TEST(words_of_a_copy_that_come_between_the_last_look_at_them_and_its_end_are_told)
{
    bool *allowed = mmap(NULL, sizeof *allowed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(allowed, MAP_FAILED);
    process_t *process = process_fork(&memory, complain_when_allowed, allowed);
    ck_assert_ptr_nonnull(process);
    calls_begin_coded("waitpid", 0, false, 0);
    calls_before_each(let_complain, allowed);
    ck_assert_uint_eq(process_state(process).state, PROCESS_ENDED);
    calls_end();
    ck_assert_str_eq(process_last_words(process), "it ends");
    process_free(process);
    munmap(allowed, sizeof *allowed);
}
END_TEST

static int hang(process_t *self, void *data)
{
    (void)self, (void)data;
    while (pause() != 0)
        ;
    return 0;
}

/* So late that the other copy has let go of the record before. */
static int speak_and_end(process_t *self, void *data)
{
    (void)self, (void)data;
    fprintf(stderr, "some words\n");
    usleep(300000);
    return 7;
}

/* Another copy has the same record, and lets go of it: the words and the end are still told here. */
START_TEST(what_a_process_says_is_for_the_one_that_has_started_it)
{
    process_t *process = process_fork(&memory, speak_and_end, NULL);
    ck_assert_ptr_nonnull(process);
    pid_t other = fork();
    ck_assert_int_ge(other, 0);
    if (other == 0) {
        usleep(100000); /* till there is something to be read */
        bool runs = process_state(process).state == PROCESS_RUNNING;
        process_free(process);
        _exit(runs ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(other, &status, 0), other);
    ck_assert_int_eq(status, 0);
    process_end_t over;
    while ((over = process_state(process)).state == PROCESS_RUNNING)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    ck_assert_uint_eq(over.state, PROCESS_ENDED);
    ck_assert_int_eq(over.code, 7);
    ck_assert_str_eq(process_last_words(process), "some words");
    process_free(process);
}
END_TEST

START_TEST(a_copy_that_hangs_can_be_let_go)
{
    process_t *process = process_fork(&memory, hang, NULL);
    const process_end_t state = process_state(process);
    ck_assert_uint_eq(state.state, PROCESS_RUNNING);
    ck_assert_str_eq(state.signal, "");
    process_free(process);
}
END_TEST

/* What it looks for the processes of the copy by gets the lowest number then. */
START_TEST(a_copy_that_is_let_go_leaves_no_file_open_where_the_standard_input_was_closed)
{
    process_t *process = process_fork(&memory, hang, NULL);
    int kept = fcntl(0, F_DUPFD_CLOEXEC, 10);
    close(0);
    process_free(process);
    int left = fcntl(0, F_GETFD);
    if (kept >= 0) {
        ck_assert_int_eq(dup2(kept, 0), 0);
        close(kept);
    }
    ck_assert_int_eq(left, -1);
}
END_TEST

/* In a copy: go to the group of the program that made it, over and over, since that puts the copy into one of its own
 * as well. */
static int change_group(process_t *self, void *data)
{
    while (setpgid(0, getpgid(getppid())) == 0) {
        process_write(self, "y", 1);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    process_write(self, "n", 1);
    return hang(self, data);
}

START_TEST(a_copy_that_has_gone_to_another_group_can_be_let_go)
{
    process_t *process = process_fork(&memory, change_group, NULL);
    ck_assert_ptr_nonnull(process);
    for (int times = 0; times < 3 && said[0] != 'n'; times++) {
        while (process_read(process, said, sizeof said) == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    process_free(process);
    ck_assert_int_eq(said[0], 'y');
    ck_assert_int_eq(wait(NULL), -1);
}
END_TEST

/* None is left in the system's list for as long as the program runs. */
START_TEST(one_that_is_let_go_is_waited_for_though_a_signal_interrupts_it)
{
    process_t *process = process_fork(&memory, hang, NULL);
    ck_assert_ptr_nonnull(process);
    calls_begin_coded("waitpid", 2, false, EINTR); /* the first one asks whether it still runs */
    process_free(process);
    calls_end();
    ck_assert_uint_eq(calls_failed(), 1);
    ck_assert_int_eq(wait(NULL), -1);
    ck_assert_int_eq(errno, ECHILD);
}
END_TEST

#if defined(__linux__)
/* In a copy: a process of a session of its own whose parent ends; then hang, or return. */
static int leave_orphan(process_t *self, void *hangs)
{
    pid_t between = fork();
    if (between == 0) {
        setsid();
        pid_t orphan = fork();
        if (orphan == 0)
            hang(self, NULL);
        snprintf(said, sizeof said, "%d", (int)orphan);
        process_write(self, said, strlen(said));
        _exit(0);
    }
    waitpid(between, NULL, 0);
    return *(bool *)hangs ? hang(self, NULL) : 0;
}

START_TEST(what_a_copy_has_started_ends_with_it_in_whatever_session)
{
    bool hangs = _i == 1;
    process_t *process = process_fork(&memory, leave_orphan, &hangs);
    memset(said, 0, sizeof said);
    while (process_read(process, said, sizeof said - 1) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    while (!hangs && process_state(process).state == PROCESS_RUNNING)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    nanosleep(&(struct timespec){.tv_nsec = hangs ? 50000000 : 0}, NULL); /* until it hangs */
    process_free(process);
    ck_assert_int_gt(atoi(said), 0);
    expect_dead((pid_t)atoi(said));
}
END_TEST

/* In a copy: a process of its group; then a signal ends the copy itself, which kills nothing as it goes. */
static int leave_one_and_die(process_t *self, void *data)
{
    pid_t one = fork();
    if (one == 0)
        hang(self, NULL);
    snprintf(said, sizeof said, "%d", (int)one);
    process_write(self, said, strlen(said));
    return die(self, data);
}

START_TEST(what_a_copy_has_started_ends_with_it_though_a_signal_ends_it)
{
    process_end_t over = finish(process_fork(&memory, leave_one_and_die, NULL));
    ck_assert_uint_eq(over.state, PROCESS_KILLED);
    ck_assert_int_gt(atoi(said), 1);
    expect_dead((pid_t)atoi(said));
}
END_TEST

enum { MANY = 400 };

/* In a copy: many processes, each of a session of its own, that do not end; their numbers are left in `pids`. */
static int leave_many(process_t *self, void *pids)
{
    for (int i = 0; i < MANY; i++) {
        pid_t one = fork();
        if (one == 0) {
            setsid();
            hang(self, NULL);
        }
        ((pid_t *)pids)[i] = one;
    }
    return 0;
}

START_TEST(all_that_a_copy_has_started_ends_with_it_however_many_they_are)
{
    size_t size = MANY * sizeof(pid_t);
    pid_t *pids = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(pids != MAP_FAILED);
    ck_assert_int_eq(finish(process_fork(&memory, leave_many, pids)).state, PROCESS_ENDED);
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_gt(pids[i], 1);
        expect_dead(pids[i]);
    }
    munmap(pids, size);
}
END_TEST
#endif

Suite *process_suite(void)
{
    Suite *suite = suite_create("process");
    TCase *processes = tcase_create("processes");
    tcase_add_checked_fixture(processes, begin, end);
    tcase_add_test(processes, a_command_runs_and_is_heard);
    tcase_add_test(processes, a_command_finds_nothing_on_its_standard_input);
    tcase_add_test(processes, a_command_is_reached_by_signals_that_this_program_blocks);
    tcase_add_test(processes, a_command_does_not_run_in_a_folder_that_is_not_there);
#if defined(__linux__)
    tcase_add_test(processes, a_helper_can_wait_for_what_it_starts_though_this_program_ignores_such_ends);
#endif
    tcase_add_test(processes, a_helper_that_cannot_be_started_leaves_nothing);
    tcase_add_test(processes, a_command_that_is_let_go_is_killed_with_all_it_has_started);
    tcase_add_test(processes, a_copy_of_ourselves_reports_by_its_pipe);
    tcase_add_loop_test(processes, a_program_whose_own_standard_files_are_closed_hears_all_the_same, 0, 8);
    tcase_add_test(processes, a_copy_that_is_killed_says_by_what);
    tcase_add_loop_test(processes, how_a_process_ended_is_known_where_the_system_does_not_tell, 0, 2);
    tcase_add_test(processes, a_copy_writes_nothing_to_the_parents_files);
    tcase_add_test(processes, the_last_words_of_a_copy_are_one_line);
    tcase_add_test(processes, the_last_words_of_a_copy_are_whole_in_whatever_pieces_they_come);
    tcase_add_test(processes, words_of_a_copy_that_come_between_the_last_look_at_them_and_its_end_are_told);
    tcase_add_test(processes, what_a_process_says_is_for_the_one_that_has_started_it);
    tcase_add_test(processes, a_copy_that_hangs_can_be_let_go);
    tcase_add_test(processes, a_copy_that_is_let_go_leaves_no_file_open_where_the_standard_input_was_closed);
    tcase_add_test(processes, a_copy_that_has_gone_to_another_group_can_be_let_go);
    tcase_add_test(processes, one_that_is_let_go_is_waited_for_though_a_signal_interrupts_it);
#if defined(__linux__)
    tcase_add_loop_test(processes, what_a_copy_has_started_ends_with_it_in_whatever_session, 0, 2);
    tcase_add_test(processes, what_a_copy_has_started_ends_with_it_though_a_signal_ends_it);
    tcase_add_test(processes, all_that_a_copy_has_started_ends_with_it_however_many_they_are);
#endif
    suite_add_tcase(suite, processes);
    return suite;
}
