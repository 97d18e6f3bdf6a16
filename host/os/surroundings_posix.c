/* surroundings_posix.c - on Linux and its relatives.
 *
 * The flags that arithmetic raises are not compared, only its settings: rounding and denormal numbers.
 */
#define _GNU_SOURCE 1

#include "surroundings.h"

#include "arithmetic.h"

#include <dirent.h>
#include <fcntl.h>
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

extern char **environ;

/* LOCALE_ROOM: a locale whose categories differ is named by all of them. */
enum { SIGNALS = NSIG, STANDARD = 3, PATH_ROOM = 4096, LOCALE_ROOM = 1024, TIMERS = 3 };

struct os_surroundings_t {
    bool all;
    int rounding;
    uint32_t control;
    sigset_t blocked;
    stack_t stack;
    locale_t used; /* the locale of this thread */
    struct sigaction handlers[SIGNALS];
    char folder[PATH_ROOM], locale[LOCALE_ROOM];
    mode_t mask;
    char *environment; /* a copy: one variable behind the other, each ended by 0, and an empty one */
    uint64_t sum;      /* of the environment */
    struct stat standard[STANDARD];
    bool open[STANDARD];
    int kept[STANDARD]; /* duplicates of the standard files, -1: none */
    struct itimerval timers[TIMERS];
};

/* The settings for rounding and for denormal numbers, without the flags. */
static uint32_t control_of_numbers(void)
{
    return arithmetic_control() & ~ARITHMETIC_FLAGS;
}

static void set_control_of_numbers(uint32_t control)
{
    arithmetic_set_control((arithmetic_control() & ARITHMETIC_FLAGS) | control);
}

/* Where the system tells it, it is read: setting it would be seen by threads that make files at that moment. */
static mode_t mask_of_files(void)
{
    char text[512];
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[size > 0 ? size : 0] = '\0';
    const char *line = strstr(text, "Umask:");
    if (line != NULL)
        return (mode_t)strtol(line + sizeof "Umask:" - 1, NULL, 8);
    mode_t mask = umask(077);
    umask(mask);
    return mask;
}

/* The same whatever the order of the variables. */
static uint64_t sum_of_environment(void)
{
    uint64_t all = 0;
    for (char **at = environ; at != NULL && *at != NULL; at++) {
        uint64_t sum = 14695981039346656037u;
        for (const char *c = *at; *c != '\0'; c++)
            sum = (sum ^ (unsigned char)*c) * 1099511628211u;
        all += sum;
    }
    return all;
}

/* NULL where memory does not suffice. */
static char *copy_of_environment(void)
{
    size_t size = 1, length;
    for (char **at = environ; at != NULL && *at != NULL; at++)
        size += strlen(*at) + 1;
    char *copy = malloc(size), *to = copy;
    for (char **at = environ; copy != NULL && at != NULL && *at != NULL; at++) {
        length = strlen(*at) + 1;
        memcpy(to, *at, length);
        to += length;
    }
    if (copy != NULL)
        *to = '\0';
    return copy;
}

/* The value of a variable in a copy of the environment; NULL: it has none. `name` ends with 0 or '='. */
static const char *value_in(const char *copy, const char *name)
{
    size_t length = strcspn(name, "=");
    for (const char *at = copy; *at != '\0'; at += strlen(at) + 1) {
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    }
    return NULL;
}

static bool runs(const struct itimerval *timer)
{
    return timer->it_value.tv_sec != 0 || timer->it_value.tv_usec != 0;
}

/* The first parameter of getitimer is an int or an enum: constants are good for both. */
static void read_timers(struct itimerval timers[TIMERS])
{
    memset(timers, 0, TIMERS * sizeof timers[0]);
    getitimer(ITIMER_REAL, &timers[0]);
    getitimer(ITIMER_VIRTUAL, &timers[1]);
    getitimer(ITIMER_PROF, &timers[2]);
}

static void take_standard_files(os_surroundings_t *s)
{
    for (int i = 0; i < STANDARD; i++) {
        s->open[i] = fstat(i, &s->standard[i]) == 0;
        s->kept[i] = s->open[i] ? fcntl(i, F_DUPFD_CLOEXEC, STANDARD) : -1;
    }
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
    s->used = uselocale((locale_t)0);
    if (!all)
        return s;
    for (int i = 1; i < SIGNALS; i++)
        sigaction(i, NULL, &s->handlers[i]);
    if (getcwd(s->folder, sizeof s->folder) == NULL)
        s->folder[0] = '\0';
    snprintf(s->locale, sizeof s->locale, "%s", setlocale(LC_ALL, NULL));
    s->mask = mask_of_files();
    s->sum = sum_of_environment();
    s->environment = copy_of_environment();
    read_timers(s->timers);
    take_standard_files(s);
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
    if (uselocale((locale_t)0) != s->used) {
        uselocale(s->used);
        name(list, "the locale of the thread");
    }
}

static bool same_handler(const struct sigaction *a, const struct sigaction *b)
{
    return memcmp(&a->sa_sigaction, &b->sa_sigaction, sizeof a->sa_sigaction) == 0 && a->sa_flags == b->sa_flags &&
           same_signals(&a->sa_mask, &b->sa_mask);
}

static void put_handlers_back(const os_surroundings_t *s, list_t *list)
{
    bool changed = false;
    for (int i = 1; i < SIGNALS; i++) {
        struct sigaction now;
        if (sigaction(i, NULL, &now) != 0 || same_handler(&now, &s->handlers[i]))
            continue;
        changed = true;
        sigaction(i, &s->handlers[i], NULL);
    }
    if (changed)
        name(list, "the handlers of signals");
}

/* Timers end the process by their signals once the handlers are put back. One that has expired meanwhile is no
 * change. */
static void put_timers_back(const os_surroundings_t *s, list_t *list)
{
    struct itimerval now[TIMERS];
    bool changed[TIMERS];
    read_timers(now);
    for (int i = 0; i < TIMERS; i++) {
        const struct itimerval *before = &s->timers[i];
        struct itimerval repeats = {.it_value = before->it_interval};
        bool same = now[i].it_interval.tv_sec == before->it_interval.tv_sec &&
                    now[i].it_interval.tv_usec == before->it_interval.tv_usec;
        changed[i] = runs(&now[i]) ? !runs(before) || !same : runs(before) && runs(&repeats);
    }
    if (changed[0])
        setitimer(ITIMER_REAL, &s->timers[0], NULL);
    if (changed[1])
        setitimer(ITIMER_VIRTUAL, &s->timers[1], NULL);
    if (changed[2])
        setitimer(ITIMER_PROF, &s->timers[2], NULL);
    if (changed[0] || changed[1] || changed[2])
        name(list, "a timer");
}

/* A standard file that was not open before, and is now, may be a file that the plugin has opened: it stays. */
static void put_standard_files_back(const os_surroundings_t *s, list_t *list)
{
    static const char *const names[][2] = {
        {"the standard input", "the standard input (for good)"},
        {"the standard output", "the standard output (for good)"},
        {"the standard error", "the standard error (for good)"},
    };
    for (int i = 0; i < STANDARD; i++) {
        struct stat now;
        bool open = fstat(i, &now) == 0;
        bool same = !open || (now.st_ino == s->standard[i].st_ino && now.st_dev == s->standard[i].st_dev);
        if (open != s->open[i] || !same)
            name(list, names[i][s->kept[i] < 0 || dup2(s->kept[i], i) < 0]);
        if (s->kept[i] >= 0)
            close(s->kept[i]);
    }
}

/* Take away what has come. The name is copied, since taking a variable away may free it. */
static void unset_new_variables(const char *before)
{
    char variable[256];
    for (char **at = environ; at != NULL && *at != NULL;) {
        size_t length = strcspn(*at, "=");
        if ((*at)[length] == '\0' || length == 0 || length >= sizeof variable || value_in(before, *at) != NULL) {
            at++;
            continue;
        }
        memcpy(variable, *at, length);
        variable[length] = '\0';
        if (unsetenv(variable) != 0)
            return;
        at = environ;
    }
}

/* By setenv, which leaves the values that were there before where they are: other code may hold their addresses. Values
 * of the plugin's own memory (putenv) go, which would be no more there when it is unloaded. */
static bool put_environment_back(const char *before)
{
    char name[256];
    if (before == NULL)
        return false;
    unset_new_variables(before);
    for (const char *at = before; *at != '\0'; at += strlen(at) + 1) {
        size_t length = strcspn(at, "=");
        if (at[length] == '\0' || length == 0 || length >= sizeof name)
            continue;
        memcpy(name, at, length);
        name[length] = '\0';
        const char *now = getenv(name);
        if (now == NULL || strcmp(now, at + length + 1) != 0)
            setenv(name, at + length + 1, 1);
    }
    return true;
}

static void put_process_back(const os_surroundings_t *s, list_t *list)
{
    char folder[PATH_ROOM];
    put_timers_back(s, list);
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
    if (sum_of_environment() != s->sum)
        name(list, put_environment_back(s->environment) && sum_of_environment() == s->sum
                       ? "the environment"
                       : "the environment (for good)");
    put_standard_files_back(s, list);
}

bool os_surroundings_put_back(os_surroundings_t *before, char *text, size_t size)
{
    list_t list = {text, size, 0};
    if (before == NULL)
        return false;
    put_thread_back(before, &list);
    if (before->all)
        put_process_back(before, &list);
    free(before->environment);
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

/* Those of setitimer, and those of timer_create, which the system lists. */
static uint32_t count_timers(void)
{
    struct itimerval timers[TIMERS];
    char text[256];
    uint32_t count = 0;
    read_timers(timers);
    for (int i = 0; i < TIMERS; i++)
        count += runs(&timers[i]);
    FILE *file = fopen("/proc/self/timers", "r");
    while (file != NULL && fgets(text, sizeof text, file) != NULL)
        count += strncmp(text, "ID:", 3) == 0;
    if (file != NULL)
        fclose(file);
    return count;
}

os_holdings_t os_holdings_count(void)
{
    return (os_holdings_t){count_entries("/proc/self/fd"), count_entries("/proc/self/task"), count_children(),
                           count_timers()};
}

/* --- one by one --------------------------------------------------------------------------------------------------- */

typedef struct holdings_t {
    os_holding_t *items;
    uint32_t count, capacity;
} holdings_t;

static void add_holding(holdings_t *list, uint32_t kind, long number)
{
    if (list->count < list->capacity)
        list->items[list->count] = (os_holding_t){.kind = kind, .number = (uint32_t)number};
    list->count++;
}

static void list_entries(holdings_t *list, const char *path, uint32_t kind)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        long number = strtol(entry->d_name, NULL, 10);
        if (entry->d_name[0] != '.' && (kind != OS_HOLDS_FILE || number != dirfd(folder)))
            add_holding(list, kind, number);
    }
    if (folder != NULL)
        closedir(folder);
}

/* Most processes have no children: that is asked first, since it is quickly told. */
static void list_children(holdings_t *list)
{
    siginfo_t any = {.si_pid = 0};
    char path[64], text[4096];
    if (waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) != 0)
        return;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    if (file != NULL && fgets(text, sizeof text, file) != NULL) {
        char *end;
        for (char *at = text; strtol(at, &end, 10) > 0 && end != at; at = end)
            add_holding(list, OS_HOLDS_CHILD, strtol(at, NULL, 10));
    }
    if (file != NULL)
        fclose(file);
}

static void list_timers(holdings_t *list)
{
    char text[256];
    long number;
    FILE *file = fopen("/proc/self/timers", "r");
    while (file != NULL && fgets(text, sizeof text, file) != NULL) {
        if (sscanf(text, "ID: %ld", &number) == 1)
            add_holding(list, OS_HOLDS_TIMER, number);
    }
    if (file != NULL)
        fclose(file);
}

uint32_t os_holdings_list(os_holding_t *items, uint32_t capacity)
{
    holdings_t list = {items, 0, capacity};
    list_entries(&list, "/proc/self/fd", OS_HOLDS_FILE);
    list_entries(&list, "/proc/self/task", OS_HOLDS_THREAD);
    list_children(&list);
    list_timers(&list);
    return list.count;
}

static uint64_t identity_of(int file)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return 0;
    return (uint64_t)status.st_ino ^ ((uint64_t)status.st_dev << 40) ^ ((uint64_t)status.st_mode << 24);
}

void os_holding_know(os_holding_t *holding)
{
    holding->identity = holding->kind == OS_HOLDS_FILE ? identity_of((int)holding->number) : 1;
}

static bool has_timer(uint32_t number)
{
    os_holding_t items[64];
    holdings_t list = {items, 0, sizeof items / sizeof items[0]};
    bool found = false;
    list_timers(&list);
    for (uint32_t i = 0; i < list.count && i < list.capacity; i++)
        found = found || items[i].number == number;
    return found;
}

bool os_holding_is_there(const os_holding_t *holding)
{
    char path[64];
    siginfo_t over = {.si_pid = 0};
    switch (holding->kind) {
    case OS_HOLDS_FILE: return holding->identity != 0 && identity_of((int)holding->number) == holding->identity;
    case OS_HOLDS_THREAD:
        snprintf(path, sizeof path, "/proc/self/task/%u", holding->number);
        return access(path, F_OK) == 0;
    case OS_HOLDS_CHILD:
        return waitid(P_PID, holding->number, &over, WEXITED | WNOHANG | WNOWAIT) == 0 && over.si_pid == 0;
    default: return has_timer(holding->number);
    }
}
