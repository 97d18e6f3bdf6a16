/* test_surroundings.c - what surroundings.h promises: each setting that has changed is named and put back, and those
 * that the system does not let be put back are named as changed for good.
 *
 * How hosts tell of what their plugins have changed is in test_guard.c.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "../unit/support.h"
#include "calls.h"

#include <os/surroundings.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static os_surroundings_t *before;

static void take(void)
{
    before = os_surroundings_take(true);
    ck_assert_ptr_nonnull(before);
}

/* What has changed is this list of words, and nothing has changed any more after that. */
static void expect_changed(const char *words)
{
    char text[256] = "";
    bool changed = os_surroundings_put_back(before, text, sizeof text);
    calls_end();
    ck_assert_str_eq(text, words);
    ck_assert(changed == (words[0] != '\0'));
}

static void refuse(const char *name, uint32_t nth, int code)
{
    calls_begin_coded(name, nth, false, code);
}

static void hear(int number)
{
    (void)number;
}

START_TEST(what_has_not_changed_is_not_named)
{
    take();
    expect_changed("");
    ck_assert(!os_surroundings_put_back(NULL, NULL, 0));
    refuse("calloc", 1, ENOMEM);
    ck_assert_ptr_null(os_surroundings_take(true));
    calls_end();
    ck_assert_uint_eq(calls_failed(), 1);
}
END_TEST

START_TEST(a_handler_that_differs_in_anything_is_put_back)
{
    struct sigaction ours = {.sa_handler = hear, .sa_flags = SA_RESTART}, now;
    sigemptyset(&ours.sa_mask);
    ck_assert_int_eq(sigaction(SIGUSR1, &ours, NULL), 0);
    for (int i = 0; i < 3; i++) {
        struct sigaction other = ours;
        take();
        if (i == 0)
            other.sa_handler = SIG_IGN;
        else if (i == 1)
            other.sa_flags = 0;
        else
            sigaddset(&other.sa_mask, SIGUSR2);
        ck_assert_int_eq(sigaction(SIGUSR1, &other, NULL), 0);
        expect_changed("the handlers of signals");
        ck_assert_int_eq(sigaction(SIGUSR1, NULL, &now), 0);
        ck_assert(now.sa_handler == hear && (now.sa_flags & SA_RESTART) != 0 && !sigismember(&now.sa_mask, SIGUSR2));
    }
    signal(SIGUSR1, SIG_DFL);
}
END_TEST

static struct itimerval timer(long first, long then)
{
    return (struct itimerval){.it_value = {.tv_sec = first}, .it_interval = {.tv_sec = then}};
}

START_TEST(each_timer_that_was_begun_is_ended)
{
    struct itimerval hour = timer(3600, 0), now;
    for (int i = 0; i < 3; i++) {
        take();
        if (i == 0)
            setitimer(ITIMER_REAL, &hour, NULL);
        else if (i == 1)
            setitimer(ITIMER_VIRTUAL, &hour, NULL);
        else
            setitimer(ITIMER_PROF, &hour, NULL);
        ck_assert_uint_eq(os_holdings_count().timers, 1);
        expect_changed("a timer");
        ck_assert_uint_eq(os_holdings_count().timers, 0);
    }
    struct itimerval soon = {.it_value = {.tv_usec = 900000}};
    take();
    setitimer(ITIMER_VIRTUAL, &soon, NULL); /* less than a second counts */
    expect_changed("a timer");
    getitimer(ITIMER_VIRTUAL, &now);
    ck_assert(now.it_value.tv_sec == 0 && now.it_value.tv_usec == 0);
}
END_TEST

/* One that runs once may have run out by itself. */
START_TEST(a_timer_that_repeats_is_begun_again_and_one_that_has_run_out_is_not)
{
    struct itimerval none = timer(0, 0), once = timer(3600, 0), hourly = timer(3600, 3600);
    struct itimerval daily = timer(3600, 86400), now;
    struct itimerval finer = hourly;
    finer.it_interval.tv_usec = 5;
    setitimer(ITIMER_VIRTUAL, &hourly, NULL);
    take();
    expect_changed("");
    take();
    setitimer(ITIMER_VIRTUAL, &none, NULL);
    expect_changed("a timer");
    getitimer(ITIMER_VIRTUAL, &now);
    ck_assert_int_eq(now.it_interval.tv_sec, 3600);
    take();
    setitimer(ITIMER_VIRTUAL, &daily, NULL);
    expect_changed("a timer");
    take();
    setitimer(ITIMER_VIRTUAL, &finer, NULL);
    expect_changed("a timer");
    getitimer(ITIMER_VIRTUAL, &now);
    ck_assert(now.it_interval.tv_sec == 3600 && now.it_interval.tv_usec == 0);
    setitimer(ITIMER_VIRTUAL, &once, NULL);
    take();
    setitimer(ITIMER_VIRTUAL, &none, NULL);
    expect_changed("");
    getitimer(ITIMER_VIRTUAL, &now);
    ck_assert(now.it_value.tv_sec == 0 && now.it_value.tv_usec == 0);
}
END_TEST

START_TEST(the_locale_of_the_process_is_put_back)
{
    ck_assert_ptr_nonnull(setlocale(LC_ALL, "C"));
    take();
    ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
    expect_changed("the locale");
    ck_assert_str_eq(setlocale(LC_ALL, NULL), "C");
}
END_TEST

START_TEST(a_working_directory_is_put_back_where_that_can_be_done)
{
    char here[1024], now[1024];
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    take();
    ck_assert_int_eq(chdir("/"), 0);
    expect_changed("the working directory");
    ck_assert_str_eq(getcwd(now, sizeof now), here);

    take();
    ck_assert_int_eq(mkdir(TEST_SCRATCH_DIR "/surroundings_gone", 0755), 0);
    ck_assert_int_eq(chdir(TEST_SCRATCH_DIR "/surroundings_gone"), 0);
    snprintf(now, sizeof now, "../surroundings_gone");
    ck_assert_int_eq(rmdir(now), 0);
    expect_changed("the working directory"); /* though the present one has no path */
    ck_assert_str_eq(getcwd(now, sizeof now), here);

    take();
    ck_assert_int_eq(chdir("/"), 0);
    refuse("chdir", 1, EACCES);
    expect_changed("the working directory (for good)");
    ck_assert_int_eq(chdir(here), 0);

    refuse("getcwd", 1, ENOENT); /* a directory that was not known at first is no change */
    take();
    calls_end();
    ck_assert_int_eq(chdir("/"), 0);
    expect_changed("");
    ck_assert_int_eq(chdir(here), 0);
}
END_TEST

START_TEST(the_mask_of_new_files_is_known_and_put_back_where_the_system_does_not_tell_it)
{
    umask(027);
    for (int i = 0; i < 3; i++) {
        if (i > 0)
            calls_begin(0, false);
        if (i > 0)
            calls_open_instead("/proc/self/status", i == 1 ? TEST_SCRATCH_DIR "/surroundings_none" : "/dev/null");
        before = os_surroundings_take(true);
        ck_assert_ptr_nonnull(before);
        umask(077);
        expect_changed("the mask of new files");
        ck_assert_uint_eq(umask(027), 027);
    }
}
END_TEST

/* --- standard files ----------------------------------------------------------------------------------------------- */

static ino_t inode_of(int file)
{
    struct stat about;
    return fstat(file, &about) == 0 ? about.st_ino : 0;
}

/* Another file in the place of the standard input. */
static void replace_input(void)
{
    int other = open(scratch_file("surroundings_input", "other"), O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(other, 0);
    ck_assert_int_eq(dup2(other, 0), 0);
    close(other);
}

START_TEST(a_standard_file_that_was_closed_or_replaced_is_put_back)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(dup2(null, 0), 0);
    uint32_t files = os_holdings_count().files;
    ino_t first = inode_of(0);
    take();
    close(0);
    expect_changed("the standard input");
    ck_assert_uint_eq(inode_of(0), first);
    take();
    replace_input();
    expect_changed("the standard input");
    ck_assert_uint_eq(inode_of(0), first);
    ck_assert_uint_eq(os_holdings_count().files, files);

    take();
    replace_input();
    refuse("dup2", 1, EMFILE);
    expect_changed("the standard input (for good)");
    ck_assert_int_eq(dup2(null, 0), 0);

    refuse("fcntl", 1, EMFILE); /* no number for a duplicate */
    take();
    calls_end();
    replace_input();
    expect_changed("the standard input (for good)");
    ck_assert_uint_ne(inode_of(0), first);
    ck_assert_uint_eq(os_holdings_count().files, files);
}
END_TEST

START_TEST(a_standard_file_that_was_not_there_before_stays)
{
    close(0);
    take();
    expect_changed("");
    take();
    int opened = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (opened != 0)
        ck_assert_int_eq(dup2(opened, 0), 0);
    expect_changed("the standard input (for good)");
    ck_assert_uint_ne(inode_of(0), 0);
}
END_TEST

/* --- environment -------------------------------------------------------------------------------------------------- */

START_TEST(variables_are_put_back_and_odd_ones_left_alone)
{
    extern char **environ;
    static char long_one[400], odd[] = "=::=odd", no_value[] = "NO_VALUE", own[] = "OWN=1";
    memset(long_one, 'L', sizeof long_one - 1);
    memcpy(long_one + 300, "=1", 2);
    static char *variables[] = {odd, no_value, long_one, own, NULL};
    char **all = environ;
    environ = variables;
    take();
    ck_assert_int_eq(setenv("OWN", "2", 1), 0);
    ck_assert_int_eq(setenv("OWNER", "3", 1), 0);
    expect_changed("the environment");
    ck_assert_str_eq(getenv("OWN"), "1");
    ck_assert_ptr_null(getenv("OWNER"));
    take();
    ck_assert_int_eq(unsetenv("OWN"), 0);
    expect_changed("the environment");
    ck_assert_str_eq(getenv("OWN"), "1");
    environ = all;
}
END_TEST

START_TEST(an_environment_that_cannot_be_put_back_is_changed_for_good)
{
    setenv("SURROUNDINGS", "before", 1);
    refuse("malloc", 1, ENOMEM); /* no copy of it */
    take();
    calls_end();
    ck_assert_uint_eq(calls_failed(), 1);
    setenv("SURROUNDINGS", "after", 1);
    expect_changed("the environment (for good)");
    ck_assert_str_eq(getenv("SURROUNDINGS"), "after");
    take();
    setenv("SURROUNDINGS_NEW", "1", 1);
    refuse("unsetenv", 1, ENOMEM);
    expect_changed("the environment (for good)");
    unsetenv("SURROUNDINGS_NEW");
}
END_TEST

START_TEST(a_process_without_an_environment_has_none_afterwards)
{
    extern char **environ;
    char **all = environ;
    environ = NULL;
    take();
    expect_changed("");
    take();
    setenv("NEW", "1", 1);
    expect_changed("the environment");
    ck_assert_ptr_null(getenv("NEW"));
    environ = all;
}
END_TEST

START_TEST(more_changes_than_there_is_room_for_are_named_as_far_as_they_go)
{
    enum { ROOM = 32, BEYOND = 200 };
    char text[ROOM + BEYOND];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = 'x';
    take();
    umask(umask(0) ^ 011);
    ck_assert_int_eq(chdir("/"), 0);
    setenv("SURROUNDINGS_NEW", "1", 1);
    ck_assert(os_surroundings_put_back(before, text, ROOM));
    ck_assert_msg(strncmp(text, "the working directory", 21) == 0 && strlen(text) < ROOM, "%s", text);
    for (size_t i = ROOM; i < sizeof text; i++)
        ck_assert(text[i] == 'x');
    take();
    expect_changed(""); /* all of them were put back */
}
END_TEST

/* --- what there is ------------------------------------------------------------------------------------------------ */

START_TEST(what_the_system_does_not_tell_of_is_not_counted)
{
    os_holding_t items[4];
    calls_begin_coded("opendir fopen open", 1, true, EMFILE);
    os_holdings_t none = os_holdings_count();
    uint32_t listed = os_holdings_list(items, COUNT(items));
    calls_end();
    ck_assert(none.files == 0 && none.threads == 0 && none.children == 0 && none.timers == 0);
    ck_assert_uint_eq(listed, 0);
    ck_assert_uint_ge(os_holdings_count().files, 1);
}
END_TEST

START_TEST(a_list_that_is_full_tells_how_many_there_are)
{
    os_holding_t items[64], few[2] = {{0}, {0}};
    uint32_t all = os_holdings_list(items, COUNT(items));
    ck_assert(all > 1 && all <= COUNT(items));
    ck_assert_uint_eq(os_holdings_list(few, 1), all);
    ck_assert(few[0].kind == items[0].kind && few[0].number == items[0].number);
    ck_assert_uint_eq(few[1].number, 0);
}
END_TEST

/* A file whose number another one has got is not there any more. */
START_TEST(what_is_held_is_known_again_until_it_goes)
{
    os_holding_t file = {.kind = OS_HOLDS_FILE}, child = {.kind = OS_HOLDS_CHILD};
    os_holding_t none = {.kind = OS_HOLDS_FILE, .number = 999};
    int number = open(scratch_file("surroundings_held", "x"), O_RDONLY | O_CLOEXEC);
    file.number = (uint32_t)number;
    os_holding_know(&file);
    os_holding_know(&none);
    ck_assert(os_holding_is_there(&file) && !os_holding_is_there(&none));
    ck_assert_int_eq(dup2(0, number), number);
    ck_assert(!os_holding_is_there(&file));
    close(number);
    ck_assert(!os_holding_is_there(&file));

    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    child.number = (uint32_t)pid;
    os_holding_know(&child);
    ck_assert(os_holding_is_there(&child));
    os_holding_t items[64];
    uint32_t count = os_holdings_list(items, COUNT(items)), seen = 0;
    for (uint32_t i = 0; i < count; i++)
        seen += items[i].kind == OS_HOLDS_CHILD && items[i].number == child.number;
    ck_assert_uint_eq(seen, 1);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    siginfo_t over;
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &over, WEXITED | WNOWAIT), 0);
    ck_assert(!os_holding_is_there(&child)); /* it has ended, and is not waited for yet */
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert(!os_holding_is_there(&child));
}
END_TEST

Suite *surroundings_suite(void)
{
    Suite *suite = suite_create("surroundings");
    TCase *tests = add_case(suite, "settings", NULL, NULL, 60);
    tcase_add_test(tests, what_has_not_changed_is_not_named);
    tcase_add_test(tests, a_handler_that_differs_in_anything_is_put_back);
    tcase_add_test(tests, each_timer_that_was_begun_is_ended);
    tcase_add_test(tests, a_timer_that_repeats_is_begun_again_and_one_that_has_run_out_is_not);
    tcase_add_test(tests, the_locale_of_the_process_is_put_back);
    tcase_add_test(tests, a_working_directory_is_put_back_where_that_can_be_done);
    tcase_add_test(tests, the_mask_of_new_files_is_known_and_put_back_where_the_system_does_not_tell_it);
    tcase_add_test(tests, a_standard_file_that_was_closed_or_replaced_is_put_back);
    tcase_add_test(tests, a_standard_file_that_was_not_there_before_stays);
    tcase_add_test(tests, variables_are_put_back_and_odd_ones_left_alone);
    tcase_add_test(tests, an_environment_that_cannot_be_put_back_is_changed_for_good);
    tcase_add_test(tests, a_process_without_an_environment_has_none_afterwards);
    tcase_add_test(tests, more_changes_than_there_is_room_for_are_named_as_far_as_they_go);

    tests = add_case(suite, "what there is", NULL, NULL, 60);
    tcase_add_test(tests, what_the_system_does_not_tell_of_is_not_counted);
    tcase_add_test(tests, a_list_that_is_full_tells_how_many_there_are);
    tcase_add_test(tests, what_is_held_is_known_again_until_it_goes);
    return suite;
}
