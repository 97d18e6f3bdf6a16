/* measure.c - the clock.
 *
 * A repetition of a side is as many runs as fill ROUND_NS, timed together, or one by one where something
 * must be prepared before each. Sides that need no preparing run once untimed first, so that each finds its
 * own data in the caches and not its neighbour's. All sides of a group are timed in turn, round after round
 * and back and forth (A B B A), so that neither always comes first; medians hide the rounds in which the
 * machine did something else, and rounds are short, so that most have none.
 *
 * A ratio is the median of the rounds' ratios rather than the ratio of the medians: both times of a round
 * were taken within milliseconds of each other, under the same clock rate and the same neighbours.
 */
#include "bench.h"

#include "base/os.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ROUND_NS = 1000000,
    MAX_RUNS = 2000,
    MAX_PREPARED_RUNS = 16,
    LONG_NS = 400000000,
    LONG_REPETITIONS = 3
};

typedef struct timing_t {
    double real[BENCH_MAX_REPETITIONS], cpu[BENCH_MAX_REPETITIONS];
    double held;
    uint32_t runs;
} timing_t;

static volatile double kept; /* a store to it is a side effect, so what it depends on has to be computed */

void measure_keep(double value)
{
    kept = value;
}

/* Nanoseconds of `runs` runs, by the wall and by the processor. */
static double time_runs(const side_t *side, void *state, uint32_t runs, double *cpu)
{
    double real = 0;
    *cpu = 0;
    if (side->prepare == NULL)
        side->run(state);
    uint32_t together = side->prepare == NULL ? runs : 1;
    for (uint32_t done = 0; done < runs; done += together) {
        if (side->prepare != NULL)
            side->prepare(state);
        clock_t processor = clock();
        uint64_t start = os_clock_ns();
        for (uint32_t i = 0; i < together; i++)
            side->run(state);
        uint64_t end = os_clock_ns();
        *cpu += (double)(clock() - processor) * (1e9 / CLOCKS_PER_SEC);
        real += (double)(end - start);
    }
    return real;
}

static uint32_t runs_for_a_round(const side_t *side, void *state)
{
    double cpu, real = time_runs(side, state, 1, &cpu);
    double most = side->prepare == NULL ? MAX_RUNS : MAX_PREPARED_RUNS;
    double runs = real > 0 ? ceil(ROUND_NS / real) : most;
    return (uint32_t)(runs > most ? most : runs);
}

static int ascending(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y ? 1 : 0;
}

static double median(const double *values, uint32_t count)
{
    double sorted[BENCH_MAX_REPETITIONS];
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, ascending);
    return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static double deviation(const double *values, uint32_t count)
{
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < count; i++)
        mean += values[i] / count;
    for (uint32_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return count > 1 ? sqrt(squares / (count - 1)) : 0;
}

static result_t *new_result(results_t *results)
{
    if (results->count == results->capacity) {
        results->capacity = results->capacity == 0 ? 256 : results->capacity * 2;
        results->items = realloc(results->items, results->capacity * sizeof *results->items);
        if (results->items == NULL) {
            fprintf(stderr, "bench: out of memory for results\n");
            exit(1);
        }
    }
    result_t *result = &results->items[results->count++];
    memset(result, 0, sizeof *result);
    return result;
}

static uint32_t side_count(const group_t *group)
{
    uint32_t count = 0;
    while (count < BENCH_MAX_SIDES && group->sides[count].name != NULL)
        count++;
    return count;
}

static uint32_t floor_of(const group_t *group, const side_t *side)
{
    uint32_t i = 0;
    while (side->floor != NULL && strcmp(group->sides[i].name, side->floor) != 0)
        i++;
    return i;
}

static void name_side(const group_t *group, const side_t *side, char name[96])
{
    snprintf(name, 96, "%s/%s", group->name, side->name);
}

static bool side_matches(const group_t *group, const side_t *side, const char *filter)
{
    char name[96];
    name_side(group, side, name);
    return strstr(name, filter) != NULL;
}

bool measure_matches(const group_t *group, const char *filter)
{
    for (uint32_t s = 0; s < side_count(group); s++) {
        if (side_matches(group, &group->sides[s], filter))
            return true;
    }
    return false;
}

static void add_result(results_t *results, const group_t *group, uint32_t s, uint32_t size,
                       uint32_t repetitions, const timing_t *timings)
{
    const side_t *side = &group->sides[s];
    const timing_t *own = &timings[s];
    result_t *result = new_result(results);
    name_side(group, side, result->name);
    result->size = size;
    result->repetitions = repetitions;
    result->items = (uint64_t)own->runs * size;
    result->real_ns = median(own->real, repetitions);
    result->cpu_ns = median(own->cpu, repetitions);
    result->deviation_ns = deviation(own->real, repetitions);
    result->held = own->held;
    result->bound = side->bound;
    if (side->floor == NULL)
        return;
    const timing_t *floor = &timings[floor_of(group, side)];
    double ratios[BENCH_MAX_REPETITIONS];
    for (uint32_t r = 0; r < repetitions; r++)
        ratios[r] = own->real[r] / floor->real[r];
    result->floor_ns = median(floor->real, repetitions);
    result->ratio = median(ratios, repetitions);
}

static void time_round(const group_t *group, void *state, uint32_t size, uint32_t round, timing_t *timings)
{
    uint32_t sides = side_count(group);
    for (uint32_t i = 0; i < sides; i++) {
        uint32_t s = round % 2 == 0 ? i : sides - 1 - i;
        double items = (double)timings[s].runs * size, cpu;
        timings[s].real[round] = time_runs(&group->sides[s], state, timings[s].runs, &cpu) / items;
        timings[s].cpu[round] = cpu / items;
        if (group->sides[s].bytes != NULL)
            timings[s].held = group->sides[s].bytes(state);
    }
}

void measure_group(results_t *results, const group_t *group, uint32_t size, uint32_t repetitions,
                   const char *filter)
{
    uint32_t sides = side_count(group);
    timing_t *timings = calloc(sides, sizeof *timings);
    if (timings == NULL) {
        fprintf(stderr, "bench: out of memory for timings\n");
        exit(1);
    }
    void *state = group->setup(size);
    uint64_t start = os_clock_ns();
    for (uint32_t s = 0; s < sides; s++)
        timings[s].runs = runs_for_a_round(&group->sides[s], state);
    if (group->takes_long && os_clock_ns() - start > LONG_NS)
        repetitions = LONG_REPETITIONS;
    for (uint32_t r = 0; r < repetitions; r++)
        time_round(group, state, size, r, timings);
    for (uint32_t s = 0; s < sides; s++) {
        if (side_matches(group, &group->sides[s], filter))
            add_result(results, group, s, size, repetitions, timings);
    }
    group->teardown(state);
    free(timings);
}

void measure_gauge(results_t *results, const gauge_t *gauge, uint32_t size)
{
    result_t *result = new_result(results);
    snprintf(result->name, sizeof result->name, "%s", gauge->name);
    result->size = size;
    result->repetitions = 1;
    result->items = size;
    result->counter = gauge->counter;
    uint64_t start = os_clock_ns();
    result->bytes = gauge->measure(size);
    result->real_ns = result->cpu_ns = (double)(os_clock_ns() - start) / size;
    result->bound = gauge->bound;
}

bool result_is_bound(const result_t *result)
{
    return result->bound.kind != BOUND_NONE && result->size >= result->bound.from_size &&
           (result->bound.to_size == 0 || result->size <= result->bound.to_size);
}

bool result_is_kept(const result_t *result)
{
    double figure = result->bound.kind == BOUND_RATIO         ? result->ratio
                    : result->bound.kind == BOUND_NANOSECONDS ? result->real_ns
                                                              : result->bytes;
    return figure <= result->bound.limit;
}
