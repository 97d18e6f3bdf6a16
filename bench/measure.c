/* measure.c - the clock.
 *
 * A repetition of a side is as many runs as fill ROUND_NS, timed together, or run by run where something
 * must be prepared before each. Sides that need no preparing run once untimed first, so that each side finds its
 * own data in the caches and not those of another side. All sides of a group are timed in turn, round after round
 * and back and forth (A B B A), so that no side always comes first; medians hide the rounds in which the
 * machine did something else, and rounds are short, so that most rounds are undisturbed.
 *
 * A ratio is the median of the rounds' ratios rather than the ratio of the medians: both times of a round
 * were taken within milliseconds of each other, under the same clock rate and the same neighbours.
 */
#include "bench.h"

#include "os/os.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ROUND_NS = 1000000,
    MAX_RUNS = 2000,
    MAX_PREPARED_RUNS = 16,
    LONG_REPETITIONS = 3,
    LONG_SECONDS = 10 /* the most that all rounds of a long group may take, at one size */
};

typedef struct timing_t {
    double real[BENCH_MAX_REPETITIONS], cpu[BENCH_MAX_REPETITIONS];
    double held;
    uint32_t runs;
} timing_t;

static volatile double kept; /* a store here is a side effect, so the stored value has to be computed */

void measure_keep(double value)
{
    kept = value;
}

/* Nanoseconds of `runs` runs, by the wall and by the processor. */
static double time_runs(const side_t *side, void *state, uint32_t runs, double *cpu)
{
    double real = 0;
    *cpu = 0;
    if (side->prepare == NULL || side->warm) {
        if (side->prepare != NULL)
            side->prepare(state);
        side->run(state);
    }
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
    double runs = real > 0 ? ceil((double)ROUND_NS / real) : most;
    return (uint32_t)(runs > most ? most : runs);
}

static int ascending(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y ? 1 : 0;
}

typedef struct middle_t {
    double low, median, high; /* a quarter, a half and three quarters of the values are below */
} middle_t;

static double at_share(const double *sorted, uint32_t count, double share)
{
    double place = share * (count - 1);
    uint32_t i = (uint32_t)place;
    return i + 1 < count ? sorted[i] + (sorted[i + 1] - sorted[i]) * (place - i) : sorted[i];
}

static middle_t middle(const double *values, uint32_t count)
{
    double sorted[BENCH_MAX_REPETITIONS];
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, ascending);
    return (middle_t){at_share(sorted, count, 0.25), at_share(sorted, count, 0.5), at_share(sorted, count, 0.75)};
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

static uint32_t side_named(const group_t *group, const char *name)
{
    uint32_t i = 0;
    while (i + 1 < BENCH_MAX_SIDES && strcmp(group->sides[i].name, name) != 0)
        i++;
    return i;
}

/* The first bound that applies to a size. */
static bound_t bound_at(const side_t *side, uint32_t size)
{
    for (uint32_t i = 0; i <= BENCH_MORE_BOUNDS; i++) {
        const bound_t *bound = i == 0 ? &side->bound : &side->more[i - 1];
        if (bound->kind != BOUND_NONE && size >= bound->from_size && (bound->to_size == 0 || size <= bound->to_size))
            return *bound;
    }
    return (bound_t){BOUND_NONE, 0, 0, 0, NULL};
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

static middle_t ratios_to(const timing_t *own, const timing_t *floor, uint32_t repetitions)
{
    double ratios[BENCH_MAX_REPETITIONS];
    for (uint32_t r = 0; r < repetitions; r++)
        ratios[r] = own->real[r] / floor->real[r];
    return middle(ratios, repetitions);
}

static void put_middle(result_t *result, middle_t all)
{
    result->value = all.median;
    result->low = all.low;
    result->high = all.high;
}

static void put_ratio(result_t *result, middle_t ratios, double floor)
{
    result->floor = floor;
    result->ratio = result->bound_ratio = ratios.median;
    result->ratio_low = ratios.low;
    result->ratio_high = ratios.high;
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
    result->items = (uint64_t)own->runs * (group->whole ? 1 : size);
    result->whole = group->whole;
    put_middle(result, middle(own->real, repetitions));
    result->cpu_ns = middle(own->cpu, repetitions).median;
    result->deviation_ns = deviation(own->real, repetitions);
    result->held = own->held;
    result->most_held = side->most_bytes;
    result->bound = bound_at(side, size);
    if (side->floor != NULL) {
        const timing_t *floor = &timings[side_named(group, side->floor)];
        put_ratio(result, ratios_to(own, floor, repetitions), middle(floor->real, repetitions).median);
    }
    if (result->bound.than != NULL)
        result->bound_ratio = ratios_to(own, &timings[side_named(group, result->bound.than)], repetitions).median;
}

static void time_round(const group_t *group, void *state, uint32_t size, uint32_t round, timing_t *timings)
{
    uint32_t sides = side_count(group);
    for (uint32_t i = 0; i < sides; i++) {
        uint32_t s = round % 2 == 0 ? i : sides - 1 - i;
        double items = (double)timings[s].runs * (group->whole ? 1 : size), cpu;
        timings[s].real[round] = time_runs(&group->sides[s], state, timings[s].runs, &cpu) / items;
        timings[s].cpu[round] = cpu / items;
        if (group->sides[s].bytes != NULL)
            timings[s].held = group->sides[s].bytes(state);
    }
}

/* As many repetitions as there is time for, where a round takes long. */
static uint32_t repetitions_in_time(uint32_t repetitions, double round_ns)
{
    double most = (double)LONG_SECONDS * 1e9 / round_ns;
    return most >= repetitions ? repetitions : most <= (double)LONG_REPETITIONS ? LONG_REPETITIONS : (uint32_t)most;
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
    if (group->takes_long)
        repetitions = repetitions_in_time(repetitions, (double)(os_clock_ns() - start));
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
    result->unit = UNIT_BYTES;
    result->counter = gauge->counter;
    uint64_t start = os_clock_ns();
    result->value = result->low = result->high = gauge->measure(size);
    result->cpu_ns = (double)(os_clock_ns() - start) / size;
    result->bound = bound_at(&(side_t){.bound = gauge->bound}, size);
}

result_t *measure_put(results_t *results, const char *course, const char *figure, uint32_t size, figure_unit_t unit,
                      const double *values, const double *floors, uint32_t count, bound_t bound)
{
    result_t *result = new_result(results);
    snprintf(result->name, sizeof result->name, "%s/%s", course, figure);
    result->size = size;
    result->repetitions = count;
    result->items = size;
    result->unit = unit;
    put_middle(result, middle(values, count));
    result->bound = bound_at(&(side_t){.bound = bound}, size);
    if (floors == NULL)
        return result;
    double ratios[BENCH_MAX_REPETITIONS];
    for (uint32_t i = 0; i < count; i++)
        ratios[i] = floors[i] > 0 ? values[i] / floors[i] : 0;
    put_ratio(result, middle(ratios, count), middle(floors, count).median);
    return result;
}

uint64_t measure_now(void)
{
    return os_clock_ns();
}

bool result_is_bound(const result_t *result)
{
    return result->bound.kind != BOUND_NONE || result->most_held > 0;
}

bool result_is_kept(const result_t *result)
{
    double figure = result->bound.kind == BOUND_RATIO ? result->bound_ratio : result->value;
    bool few_bytes = result->most_held <= 0 || result->held <= result->most_held;
    return few_bytes && (result->bound.kind == BOUND_NONE || figure <= result->bound.limit);
}
