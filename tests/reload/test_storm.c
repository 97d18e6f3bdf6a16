/* test_storm.c - random storms against the model (storm.h), each seed in a process of its own.
 *
 * A seed that fails is shortened: events are taken away as long as it still fails, and what is left is printed.
 * STORM_SEEDS is the number of seeds, from STORM_FIRST on (`make storm` runs more); STORM_SEED runs that one alone.
 * STORM_HOURS: seed after seed, for so many hours (a fraction will do). STORM_HASHES: a file for what seeds came to
 * (tests/storm_compilers.sh).
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "../unit/support.h"
#include "reload_support.h"
#include "storm.h"

#include <os/files.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GROUPS = 2 /* one in each half of the tests */, HASHED = 4 /* seeds, in every way */, HANGS_AFTER_S = 300 };

/* Seeds where STORM_SEEDS is not set. ThreadSanitizer cannot follow copies of
 * a process with threads: there are no trials then, and four threads always. */
#if defined(__SANITIZE_THREAD__)
#define SEES_THREADS 1
#else
#define SEES_THREADS 0
#endif
#if defined(BACKPLANE_SANITIZED)
enum { SEEDS = SEES_THREADS ? 2 : 8 };
#else
enum { SEEDS = 60 };
#endif

/* What a process says at its end. */
typedef struct outcome_t {
    bool failed;
    uint32_t event; /* in which it failed */
    uint64_t hash;
    storm_count_t counts;
    char what[1600];
} outcome_t;

static int pipe_end;

static void say(const outcome_t *outcome)
{
    if (write(pipe_end, outcome, sizeof *outcome) != (ssize_t)sizeof *outcome)
        _exit(2);
    _exit(0);
}

static void give_up(uint32_t event, const char *what)
{
    static outcome_t outcome;
    outcome.failed = true;
    outcome.event = event;
    snprintf(outcome.what, sizeof outcome.what, "%s", what);
    say(&outcome);
}

/* --- folders ------------------------------------------------------------------------------------------------------ */

/* For the files of each half of the tests, which run side by side. Copies of plugins lie in `temporary`; beside the
 * plugins where that fails. */
static char folder[600], temporary[620];

static void make_folders(void)
{
    const char *half = getenv("TESTS_HALF");
    char name[32];
    snprintf(name, sizeof name, "storm_%.8s", half == NULL ? "0" : half);
    snprintf(folder, sizeof folder, TEST_SCRATCH_DIR "/%s", name);
    snprintf(temporary, sizeof temporary, "%s/temporary", folder);
    ck_assert(os_folder_create(folder));
    ck_assert(os_folder_create(temporary));
    put_into(name);
}

typedef struct sweep_t {
    const char *folder, *begins;
    uint32_t found;
} sweep_t;

static void remove_one(void *data, const char *name)
{
    sweep_t *sweep = data;
    char command[600];
    if (strncmp(name, sweep->begins, strlen(sweep->begins)) != 0)
        return;
    sweep->found++;
    snprintf(command, sizeof command, "rm -rf '%s/%s'", sweep->folder, name);
    ck_assert_int_eq(system(command), 0);
}

/* Remove the folders that a host has left. Returns how many there were, but for those, where a call has `failed`, that
 * a next host would remove. */
static uint32_t sweep_folders(bool failed)
{
    if (failed) {
        temporary_sweep(temporary, "backplane");
        temporary_sweep(folder, ".backplane");
    }
    sweep_t own = {temporary, "", 0}, beside = {folder, ".backplane", 0};
    os_folder_list(own.folder, remove_one, &own);
    os_folder_list(beside.folder, remove_one, &beside);
    return own.found + beside.found;
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

/* A process that has ended, and not been ended, leaves no folder; where a call has failed, perhaps one that could not
 * be removed, and is told from those of living hosts. Its exit code is that of a sanitizer where that has found
 * something, as a race, on which the process went on. */
static void look_at_end(outcome_t *outcome, int status)
{
    uint32_t left = sweep_folders(outcome->counts.no_call > 0);
    if (outcome->failed || (left == 0 && status == 0))
        return;
    outcome->failed = true;
    if (left > 0)
        snprintf(outcome->what, sizeof outcome->what, "%u temporary folders are left", left);
    else
        snprintf(outcome->what, sizeof outcome->what, "its process has ended with %d, and said that all is well",
                 WEXITSTATUS(status));
}

static void run(const storm_host_t *how, const storm_event_t *events, uint32_t count, outcome_t *outcome)
{
    int ends[2], status;
    memset(outcome, 0, sizeof *outcome);
    make_folders();
    ck_assert_int_eq(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        alarm(HANGS_AFTER_S);
        setenv("TMPDIR", temporary, 1);
        pipe_end = ends[1];
        outcome->hash = storm_go(how, events, count, &outcome->counts, give_up);
        say(outcome);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], outcome, sizeof *outcome);
    close(ends[0]);
    waitpid(child, &status, 0);
    if (got == (ssize_t)sizeof *outcome) {
        look_at_end(outcome, status);
        return;
    }
    sweep_folders(true);
    outcome->failed = true;
    outcome->event = count;
    bool killed = WIFSIGNALED(status);
    snprintf(outcome->what, sizeof outcome->what, "its process was ended, by %s %d", killed ? "signal" : "exit code",
             killed ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* Take away as many events as can be spared, in pieces that get smaller. Returns how many are left. */
static uint32_t shorten(const storm_host_t *how, storm_event_t *events, uint32_t count, outcome_t *outcome)
{
    for (uint32_t piece = count / 2; piece > 0; piece /= 2) {
        for (uint32_t at = 0; at < count;) {
            storm_event_t without[STORM_MOST];
            outcome_t other;
            uint32_t end = at + piece < count ? at + piece : count;
            memcpy(without, events, at * sizeof *events);
            memcpy(without + at, events + end, (count - end) * sizeof *events);
            run(how, without, count - (end - at), &other);
            if (!other.failed) {
                at = end;
                continue;
            }
            count -= end - at;
            memcpy(events, without, count * sizeof *events);
            *outcome = other;
        }
    }
    return count;
}

static void complain(uint64_t seed, const storm_host_t *how, storm_event_t *events, uint32_t count, outcome_t *outcome)
{
    static char text[16384];
    size_t used = 0;
    uint32_t left = shorten(how, events, count, outcome);
    for (uint32_t i = 0; i < left && used < sizeof text - 200; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "\n  %3u %s (0x%llx)", i, storm_name(events[i].kind),
                                 (unsigned long long)events[i].random);
    ck_abort_msg("STORM_SEED=%llu, %s%s, %u threads: of %u events these are enough; event %u: %s%s",
                 (unsigned long long)seed, how->crashes ? "with crashes" : "with snapshots",
                 how->trial ? " and trials" : "", how->threads, count,
                 outcome->event, outcome->what, text);
}

/* Without faults where compilers are compared: which call fails depends on how large a compiler makes a plugin. */
static storm_host_t host_of_seed(uint64_t seed)
{
    if (SEES_THREADS)
        return (storm_host_t){.threads = 4, .range = 1, .faults = true, .folder = folder};
    uint32_t threads = seed / GROUPS % 2 == 0 ? 1 : 2 + (uint32_t)(seed / GROUPS / 2 % 3);
    return (storm_host_t){
        .threads = threads, .range = (uint32_t)(seed / 5 % 3), .crashes = seed % 2 == 0,
        .trial = seed / GROUPS % 3 == 0,
        .faults = getenv("STORM_HASHES") == NULL, .folder = folder};
}

static void add_counts(storm_count_t *sum, const storm_count_t *counts)
{
    const uint32_t *from = (const uint32_t *)counts;
    uint32_t *to = (uint32_t *)sum;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

/* A line for the file that STORM_HASHES names, so that programs of two compilers can be compared. */
static void note_hash(uint64_t seed, uint64_t hash)
{
    const char *path = getenv("STORM_HASHES");
    if (path == NULL)
        return;
    FILE *file = fopen(path, "a");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%llu %016llx\n", (unsigned long long)seed, (unsigned long long)hash);
    ck_assert_int_eq(fclose(file), 0);
}

static void run_seed(uint64_t seed, storm_count_t *sum)
{
    storm_event_t events[STORM_MOST];
    outcome_t outcome;
    storm_host_t how = host_of_seed(seed);
    uint32_t count = storm_draw(seed, &how, events);
    run(&how, events, count, &outcome);
    if (outcome.failed)
        complain(seed, &how, events, count, &outcome);
    add_counts(sum, &outcome.counts);
    note_hash(seed, outcome.hash);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *asked = getenv(name);
    return asked != NULL ? strtoull(asked, NULL, 10) : otherwise;
}

/* Each group has its share of STORM_HOURS; half of them go beside the others. */
static bool is_time_left(time_t began, double hours)
{
    int groups = getenv("TESTS_HALF") != NULL ? GROUPS / 2 : GROUPS;
    return difftime(time(NULL), began) < hours * 3600 / groups;
}

/* Each call fails now and then; in few seeds rare ones may be passed by. */
static void expect_all_calls(const storm_count_t *sum, uint64_t runs)
{
    for (uint32_t i = 0; i < STORM_CALLS; i++) {
        if (getenv("STORM_COUNTS") != NULL)
            fprintf(stderr, "%s %u\n", storm_calls[i], sum->failed[i]);
        EXPECT(runs < 250 || sum->failed[i] > 0, "%s has never failed", storm_calls[i]);
    }
}

START_TEST(a_host_goes_through_a_storm_as_the_model_says)
{
    uint64_t single = number_from("STORM_SEED", 0), first = number_from("STORM_FIRST", 1), runs = 0;
    uint64_t end = first + number_from("STORM_SEEDS", SEEDS);
    const char *asked = getenv("STORM_HOURS");
    double hours = asked != NULL ? strtod(asked, NULL) : 0;
    time_t began = time(NULL);
    storm_count_t sum = {0};
    for (uint64_t seed = first + (uint64_t)_i; single == 0; seed += GROUPS, runs++) {
        if (hours > 0 ? !is_time_left(began, hours) : seed >= end)
            break;
        run_seed(seed, &sum);
    }
    if (single != 0 && _i == 0)
        run_seed(single, &sum);
    if (runs < 30 || SEES_THREADS || getenv("STORM_HASHES") != NULL)
        return;
    /* Or the test has tested little. */
    EXPECT(sum.reloads > 4 * runs && sum.refusals > runs / 2 && sum.rollbacks > runs && sum.no_memory > runs / 4 &&
               sum.no_call > runs / 4,
           "%u reloads, %u refusals, %u rollbacks, %u failures of memory, %u of calls", sum.reloads, sum.refusals,
           sum.rollbacks, sum.no_memory, sum.no_call);
    EXPECT(sum.restored > runs / 10, "%u times restored", sum.restored);
    EXPECT(sum.worlds > runs && sum.leaps > runs / 4, "%u worlds begun, %u leaps of the clock", sum.worlds, sum.leaps);
    EXPECT(sum.slices > runs, "%u reloads in slices", sum.slices);
    EXPECT(sum.crowds > runs / 2 && sum.crowd_reloads > runs / 2, "%u crowds, %u reloads of their values", sum.crowds,
           sum.crowd_reloads);
    bool crashes = (first + (uint64_t)_i) % 2 == 0;
    EXPECT(crashes || (sum.clones > runs && sum.tries > runs / 2 && sum.twice > runs / 2 && sum.drafts > runs / 2 &&
                       sum.played > runs / 8),
           "%u clones, %u tries, %u steps taken twice, %u drafts, %u recordings played", sum.clones, sum.tries,
           sum.twice, sum.drafts, sum.played);
    EXPECT(crashes || (sum.visits > runs / 2 && sum.steps_again > runs / 4 && sum.branches > runs / 10),
           "%u visits, %u steps taken again, %u branches", sum.visits, sum.steps_again, sum.branches);
    expect_all_calls(&sum, runs);
    EXPECT(crashes ? sum.crashes > runs / 4 : sum.brought_back > runs / 2, "%u crashes, %u times brought back",
           sum.crashes, sum.brought_back);
}
END_TEST

/* The same events come to the same on any number of threads, and whether or not new versions are tried before. */
START_TEST(threads_and_trials_make_no_difference)
{
    static const storm_host_t ways[] = {
        {.threads = 1, .folder = folder},
        {.threads = 1, .range = 1, .folder = folder},
        {.threads = 2, .range = 2, .folder = folder},
        {.threads = 4, .range = 1, .folder = folder},
        {.threads = 2, .folder = folder, .trial = true}};
    storm_event_t events[STORM_MOST];
    outcome_t outcome;
    uint64_t hash = 0, seed = 1000 + (uint64_t)_i;
    for (uint32_t i = 0; i < COUNT(ways) && getenv("STORM_SEED") == NULL; i++) {
        if (SEES_THREADS && (ways[i].trial || ways[i].threads == 1))
            continue;
        uint32_t count = storm_draw(seed, &ways[i], events);
        run(&ways[i], events, count, &outcome);
        if (outcome.failed)
            complain(seed, &ways[i], events, count, &outcome);
        EXPECT(hash == 0 || outcome.hash == hash, "seed %llu: another result on %u threads%s", (unsigned long long)seed,
               ways[i].threads, ways[i].trial ? ", with trials" : "");
        hash = outcome.hash;
    }
    note_hash(seed, hash);
}
END_TEST

/* Does this half of the tests have number `i` of a loop? */
static bool is_here(int i)
{
    const char *half = getenv("TESTS_HALF");
    return half == NULL || half[0] - '1' == i % 2;
}

Suite *storm_suite(void)
{
    Suite *suite = suite_create("storm");
    TCase *storm = tcase_create("storm");
    tcase_set_timeout(storm, 0);
    for (int i = 0; i < HASHED; i++) {
        if (i < GROUPS && is_here(i))
            tcase_add_loop_test(storm, a_host_goes_through_a_storm_as_the_model_says, i, i + 1);
        if (is_here(i))
            tcase_add_loop_test(storm, threads_and_trials_make_no_difference, i, i + 1);
    }
    suite_add_tcase(suite, storm);
    return suite;
}
