/* main.c - the cost of each JSON reader, and the faulty texts that it takes: a table for docs/dependencies.md.
 *
 * Time: the scene of 10,000 entities of `build/bench --filter compile`, read and freed, processor time, the median of
 * 25 times by turns with ours, each in a new process.
 * Memory: the most that was resident while reading the scene, beyond the memory before, as the kernel says.
 * Brackets: a hundred million "[", in a child process that may take 8 GiB.
 * Probes: texts that RFC 8259 allows or forbids, numbers to the unit, members that stand twice.
 * Out of memory: a text with everything in it, each allocation refused in turn, each in a child process.
 *
 * Built and run by measure.sh. Linux with glibc only.
 */
#define _GNU_SOURCE
#include "readers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ENTITIES = 10000, ROUNDS = 25, BRACKETS = 100 * 1000 * 1000 };

/* --- memory, refused ------------------------------------------------------------------------------------------- */

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static struct {
    bool on;
    uint64_t count, refused; /* the allocation with this number fails; 0: none */
} heap;

static bool refuse(void)
{
    return heap.on && ++heap.count == heap.refused;
}

void *malloc(size_t size)
{
    return refuse() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refuse() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return refuse() ? NULL : __libc_realloc(old, size);
}

/* A line of /proc/self/status, in bytes. */
static size_t status_of(const char *name)
{
    char line[256];
    unsigned long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtoul(line + strlen(name), NULL, 10);
    }
    if (file != NULL)
        fclose(file);
    return (size_t)kib * 1024;
}

/* The resident memory at this moment; from here on the kernel notes the largest value anew. */
static size_t note_residence(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file == NULL || fputs("5", file) < 0 || fclose(file) != 0)
        exit(2);
    return status_of("VmRSS:");
}

static void count_from_here(uint64_t refused)
{
    heap.count = 0;
    heap.refused = refused;
    heap.on = true;
}

/* --- the scene, as bench/cases_compile.c writes it ---------------------------------------------------------------- */

static char *write_scene(size_t *size)
{
    size_t room = (size_t)ENTITIES * 512 + 1024, at = 0;
    char *text = malloc(room);
    if (text == NULL)
        exit(2);
    at += (size_t)snprintf(text, room, "{\"entities\": [\n");
    for (int i = 0; i < ENTITIES; i++) {
        double x = i * 0.37, y = i * 0.011;
        at += (size_t)snprintf(text + at, room - at, "  {\"name\": \"thing %d\", \"components\": {", i);
        at += (size_t)snprintf(text + at, room - at,
                               "\"body\": {\"type\": \"point_mass\", \"mass\": %.3f, \"position\": [%.4f, %.4f, %d], "
                               "\"velocity\": [%.3f, 0, %.3f]}, ",
                               1 + y, x, y, i, y, x);
        at += (size_t)snprintf(text + at, room - at,
                               "\"fog\": {\"type\": \"render_data\", \"colour\": \"#%06x\", \"intensity\": 0.5}, "
                               "\"debug_name\": {}}}%s\n",
                               i & 0xffffff, i + 1 < ENTITIES ? "," : "");
    }
    at += (size_t)snprintf(text + at, room - at, "]}\n");
    *size = at;
    return text;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* --- children ----------------------------------------------------------------------------------------------------- */

/* The message of a child to its parent. */
typedef struct report_t {
    double ms;
    size_t most;
    uint64_t allocations;
    bool read, same;
} report_t;

static report_t *shared;

/* The signal that ended the child, 0 where it ended by itself. */
static int in_child(void (*work)(const reader_t *, const char *, size_t, uint64_t), const reader_t *reader,
                    const char *text, size_t size, uint64_t number)
{
    int status = 0;
    *shared = (report_t){0};
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        work(reader, text, size, number);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        exit(2);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void read_counted(const reader_t *reader, const char *text, size_t size, uint64_t refused)
{
    seen_t seen = {0};
    setrlimit(RLIMIT_AS, &(struct rlimit){(rlim_t)8 << 30, (rlim_t)8 << 30});
    size_t before = note_residence();
    double begin = now();
    count_from_here(refused);
    void *document = reader->read(text, size);
    heap.on = false;
    shared->ms = now() - begin;
    shared->most = status_of("VmHWM:") - before;
    shared->allocations = heap.count;
    shared->read = document != NULL;
    if (document != NULL) {
        reader->look(document, &seen);
        shared->same = seen.members == 4 && seen.whole && seen.integer == 12;
        reader->end(document);
    }
}

/* --- probes ------------------------------------------------------------------------------------------------------- */

typedef struct probe_t {
    const char *text, *about;
    bool good;
} probe_t;

static const probe_t probes[] = {
    {"{\"a\": [1, 2.5, -3e2, true, false, null, \"\\u00e9\\ud83d\\ude00\", {}]}", "plain JSON", true},
    {"{\"a\": -0.0, \"b\": 1E+2, \"c\": 5e-324}", "numbers at the edge", true},
    {"{\"a\": 01}", "01", false},
    {"{\"a\": 1.}", "1.", false},
    {"{\"a\": .5}", ".5", false},
    {"{\"a\": +1}", "+1", false},
    {"{\"a\": -}", "-", false},
    {"{\"a\": 0x10}", "0x10", false},
    {"{\"a\": NaN}", "NaN", false},
    {"{\"a\": 1e999}", "1e999", false},
    {"{\"a\": 9223372036854775808000}", "a whole number beyond 64 bits", false},
    {"{\"a\": [1,]}", "[1,]", false},
    {"{\"a\": 1,}", "{...,}", false},
    {"{\"a\" 1}", "no colon", false},
    {"{\"a\": 1 \"b\": 2}", "no comma", false},
    {"{a: 1}", "a name without quotes", false},
    {"{'a': 1}", "'a'", false},
    {"{\"a\": nul}", "nul", false},
    {"{\"a\": 1} x", "something behind the end", false},
    {"{\"a\": 1", "no end", false},
    {"{\"a\": \"\n\"}", "a line feed in a string", false},
    {"{\"a\": \"\\x\"}", "\\x", false},
    {"{\"a\": \"\\ud800\"}", "half a surrogate pair", false},
    {"{\"a\": \"\xff\"}", "a byte that is not UTF-8", false},
    {"{\"a\": \"\xc0\xaf\"}", "overlong UTF-8", false},
    {"{\"a\": \"\xed\xa0\x80\"}", "a surrogate in UTF-8", false},
    {"/* */ {\"a\": 1}", "a comment", false},
};

static void probe(const reader_t *reader)
{
    unsigned wrong = 0;
    printf("  wrong:");
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        int signal = in_child(read_counted, reader, probes[i].text, strlen(probes[i].text), 0);
        if (signal == 0 && shared->read == probes[i].good)
            continue;
        printf("%s %s", wrong++ > 0 ? "," : "", signal != 0 ? "CRASHES at" : shared->read ? "takes" : "refuses");
        printf(" %s", probes[i].about);
    }
    printf("%s\n", wrong == 0 ? " nothing" : "");
}

static const char *exact(const reader_t *reader)
{
    static const struct { const char *text; int64_t value;
    } numbers[] = {{"{\"x\": 9007199254740993}", 9007199254740993},
                   {"{\"x\": -9223372036854775807}", -9223372036854775807},
                   {"{\"x\": 9223372036854775807}", INT64_MAX}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        seen_t seen = {0};
        void *document = reader->read(numbers[i].text, strlen(numbers[i].text));
        if (document == NULL)
            return "no";
        reader->look(document, &seen);
        reader->end(document);
        if (!seen.whole || seen.integer != numbers[i].value)
            return "no";
    }
    return "yes";
}

static const char *twins(const reader_t *reader)
{
    static const char text[] = "{\"x\": 1, \"x\": 2}";
    seen_t seen = {0};
    void *document = reader->read(text, sizeof text - 1);
    if (document == NULL)
        return "refused";
    reader->look(document, &seen);
    reader->end(document);
    return seen.members == 2 ? "both are seen" : "one is lost, unseen";
}

/* --- out of memory ------------------------------------------------------------------------------------------------ */

static void starve(const reader_t *reader)
{
    static const char text[] =
        "{\"a\": [1, 2, {\"b\": \"c \\u00e9\"}], \"a long name, so that it is not kept in place\": \"a text of more "
        "than forty bytes, "
        "for the same reason\", \"x\": 12, \"l\": "
        "[0.5,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33]}";
    unsigned crashes = 0, otherwise = 0;
    in_child(read_counted, reader, text, sizeof text - 1, 0);
    bool usable = shared->read && shared->same;
    uint64_t count = shared->allocations;
    for (uint64_t n = 1; n <= count; n++) {
        crashes += in_child(read_counted, reader, text, sizeof text - 1, n) != 0;
        otherwise += shared->read && !shared->same;
    }
    printf("  out of memory, %llu allocations: %u crashes, %u documents with something lost%s\n",
           (unsigned long long)count, crashes, otherwise, usable ? "" : " (not read even with memory)");
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

/* Each run has a process of its own, so that no reader finds the heap that another has left. */
static void read_timed(const reader_t *reader, const char *text, size_t size, uint64_t unused)
{
    (void)unused;
    double begin = now();
    void *document = reader->read(text, size);
    if (document == NULL)
        return;
    reader->end(document);
    shared->ms = now() - begin;
    shared->read = true;
}

static void measure_times(const char *text, size_t size, double (*times)[ROUNDS])
{
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < reader_count; i++) {
            if (in_child(read_timed, &readers[i], text, size, 0) != 0 || !shared->read)
                exit(2);
            times[i][round] = shared->ms;
        }
    }
}

static double median(const double *numbers)
{
    double sorted[ROUNDS];
    memcpy(sorted, numbers, sizeof sorted);
    qsort(sorted, ROUNDS, sizeof(double), by_size);
    return sorted[ROUNDS / 2];
}

/* The median ratio of the last reader's time to the first one's, each round by itself. */
static double median_ratio(double (*times)[ROUNDS])
{
    double ratios[ROUNDS];
    for (int round = 0; round < ROUNDS; round++)
        ratios[round] = times[reader_count - 1][round] / times[0][round];
    return median(ratios);
}

static void show(const reader_t *reader, double ms, double ratio, const char *scene, size_t size, const char *brackets)
{
    printf("%s %s\n", reader->name, reader->version);
    in_child(read_counted, reader, scene, size, 0);
    printf("  scene: %.1f ms, %.2f x ours; %.1f MB in %llu allocations\n", ms, ratio, (double)shared->most / 1e6,
           (unsigned long long)shared->allocations);
    int signal = in_child(read_counted, reader, brackets, BRACKETS, 0);
    printf("  brackets: %s", signal != 0 ? "CRASHES" : shared->read ? "taken" : "refused");
    if (signal == 0)
        printf(" after %.0f ms and %.1f MB", shared->ms, (double)shared->most / 1e6);
    printf("\n  places of values: %s; memory: %s; 64 bits exact: %s; a member twice: %s\n", reader->places,
           reader->allocator, exact(reader), twins(reader));
    probe(reader);
    starve(reader);
}

int main(void)
{
    static double times[2][ROUNDS];
    size_t size;
    char *scene = write_scene(&size), *brackets = malloc(BRACKETS);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (brackets == NULL || shared == MAP_FAILED)
        return 2;
    memset(brackets, '[', BRACKETS);
    measure_times(scene, size, times);
    if (reader_count == 1)
        printf("a scene of %d entities, %.1f MB of text\n", ENTITIES, (double)size / 1e6);
    show(&readers[reader_count - 1], median(times[reader_count - 1]), median_ratio(times), scene, size, brackets);
    free(scene);
    free(brackets);
    return 0;
}
