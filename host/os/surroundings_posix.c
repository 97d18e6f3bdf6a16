/* surroundings_posix.c - on Linux and its relatives.
 *
 * The flags that arithmetic raises are not compared, only its settings: rounding and denormal numbers.
 */
#define _GNU_SOURCE 1

#include "surroundings.h"

#include <dirent.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

extern char **environ;

enum { SIGNALS = 32, STANDARD = 3, PATH_ROOM = 4096 };

struct os_surroundings_t {
    bool all;
    int rounding;
    uint32_t control;
    sigset_t blocked;
    stack_t stack;
    struct sigaction handlers[SIGNALS];
    char folder[PATH_ROOM], locale[256];
    mode_t mask;
    uint64_t environment;
    struct stat standard[STANDARD];
    bool open[STANDARD];
};

/* The settings for rounding and for denormal numbers, without the flags. */
static uint32_t control_of_numbers(void)
{
#if defined(__SSE__)
    return _mm_getcsr() & ~0x3Fu;
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (uint32_t)control;
#else
    return 0;
#endif
}

static void set_control_of_numbers(uint32_t control)
{
#if defined(__SSE__)
    _mm_setcsr((_mm_getcsr() & 0x3Fu) | control);
#elif defined(__aarch64__)
    uint64_t wide = control;
    __asm__ volatile("msr fpcr, %0" : : "r"(wide));
#else
    (void)control;
#endif
}

static mode_t mask_of_files(void)
{
    mode_t mask = umask(077);
    umask(mask);
    return mask;
}

static uint64_t sum_of_environment(void)
{
    uint64_t sum = 14695981039346656037u;
    for (char **at = environ; at != NULL && *at != NULL; at++) {
        for (const char *c = *at; *c != '\0'; c++)
            sum = (sum ^ (unsigned char)*c) * 1099511628211u;
        sum = (sum ^ 0x100) * 1099511628211u;
    }
    return sum;
}

os_surroundings_t *os_surroundings_take(bool all)
{
    os_surroundings_t *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->all = all;
    s->rounding = fegetround();
    s->control = control_of_numbers();
    sigprocmask(SIG_SETMASK, NULL, &s->blocked);
    sigaltstack(NULL, &s->stack);
    if (!all)
        return s;
    for (int i = 1; i < SIGNALS; i++)
        sigaction(i, NULL, &s->handlers[i]);
    if (getcwd(s->folder, sizeof s->folder) == NULL)
        s->folder[0] = '\0';
    snprintf(s->locale, sizeof s->locale, "%s", setlocale(LC_ALL, NULL));
    s->mask = mask_of_files();
    s->environment = sum_of_environment();
    for (int i = 0; i < STANDARD; i++)
        s->open[i] = fstat(i, &s->standard[i]) == 0;
    return s;
}

/* --- back --------------------------------------------------------------------------------------------------------- */

typedef struct list_t {
    char *text;
    size_t size, length;
} list_t;

static void name(list_t *list, const char *what)
{
    int length = snprintf(list->text + list->length, list->size - list->length, "%s%s",
                          list->length > 0 ? ", " : "", what);
    list->length += length > 0 && (size_t)length < list->size - list->length ? (size_t)length : 0;
}

static bool same_signals(const sigset_t *a, const sigset_t *b)
{
    bool same = true;
    for (int i = 1; i < SIGNALS; i++)
        same = same && sigismember(a, i) == sigismember(b, i);
    return same;
}

static void put_thread_back(const os_surroundings_t *s, list_t *list)
{
    sigset_t blocked;
    stack_t stack;
    if (fegetround() != s->rounding || control_of_numbers() != s->control) {
        fesetround(s->rounding);
        set_control_of_numbers(s->control);
        name(list, "the way numbers are rounded");
    }
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    if (!same_signals(&blocked, &s->blocked)) {
        sigprocmask(SIG_SETMASK, &s->blocked, NULL);
        name(list, "which signals are blocked");
    }
    sigaltstack(NULL, &stack);
    if (stack.ss_sp != s->stack.ss_sp || ((stack.ss_flags ^ s->stack.ss_flags) & SS_DISABLE) != 0) {
        stack_t back = s->stack;
        back.ss_flags &= SS_DISABLE;
        sigaltstack(&back, NULL);
        name(list, "the stack for handlers of signals");
    }
}

static void put_handlers_back(const os_surroundings_t *s, list_t *list)
{
    bool changed = false;
    for (int i = 1; i < SIGNALS; i++) {
        struct sigaction now;
        if (sigaction(i, NULL, &now) != 0 ||
            memcmp(&now.sa_sigaction, &s->handlers[i].sa_sigaction, sizeof now.sa_sigaction) == 0)
            continue;
        changed = true;
        sigaction(i, &s->handlers[i], NULL);
    }
    if (changed)
        name(list, "the handlers of signals");
}

static void put_process_back(const os_surroundings_t *s, list_t *list)
{
    char folder[PATH_ROOM];
    struct stat now;
    put_handlers_back(s, list);
    if (s->folder[0] != '\0' && (getcwd(folder, sizeof folder) == NULL || strcmp(folder, s->folder) != 0))
        name(list, chdir(s->folder) == 0 ? "the working directory" : "the working directory (for good)");
    if (strcmp(s->locale, setlocale(LC_ALL, NULL)) != 0) {
        setlocale(LC_ALL, s->locale);
        name(list, "the locale");
    }
    if (mask_of_files() != s->mask) {
        umask(s->mask);
        name(list, "the mask of new files");
    }
    if (sum_of_environment() != s->environment)
        name(list, "the environment (for good)");
    for (int i = 0; i < STANDARD; i++) {
        bool open = fstat(i, &now) == 0;
        bool same = !open || (now.st_ino == s->standard[i].st_ino && now.st_dev == s->standard[i].st_dev);
        if (open != s->open[i] || !same)
            name(list, i == 0 ? "the standard input (for good)" : i == 1 ? "the standard output (for good)"
                                                                          : "the standard error (for good)");
    }
}

bool os_surroundings_put_back(os_surroundings_t *before, char *text, size_t size)
{
    list_t list = {text, size, 0};
    if (before == NULL)
        return false;
    put_thread_back(before, &list);
    if (before->all)
        put_process_back(before, &list);
    free(before);
    return list.length > 0;
}

/* --- what there is ------------------------------------------------------------------------------------------------ */

static uint32_t count_entries(const char *folder)
{
    uint32_t count = 0;
    DIR *list = opendir(folder);
    const struct dirent *entry;
    while (list != NULL && (entry = readdir(list)) != NULL)
        count += entry->d_name[0] != '.';
    if (list != NULL)
        closedir(list);
    return count;
}

static uint32_t count_children(void)
{
    char path[64], text[4096];
    uint32_t count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(text, sizeof text, file) != NULL) {
        for (const char *c = text; *c != '\0'; c++)
            count += *c == ' ';
    }
    if (file != NULL)
        fclose(file);
    return count;
}

static uint32_t runs(int result, const struct itimerval *timer)
{
    return result == 0 && (timer->it_value.tv_sec != 0 || timer->it_value.tv_usec != 0);
}

/* The first parameter of getitimer is an int or an enum: constants are good for both. */
static uint32_t count_timers(void)
{
    struct itimerval timer;
    uint32_t count = runs(getitimer(ITIMER_REAL, &timer), &timer);
    count += runs(getitimer(ITIMER_VIRTUAL, &timer), &timer);
    return count + runs(getitimer(ITIMER_PROF, &timer), &timer);
}

os_holdings_t os_holdings_count(void)
{
    return (os_holdings_t){count_entries("/proc/self/fd"), count_entries("/proc/self/task"), count_children(),
                           count_timers()};
}
