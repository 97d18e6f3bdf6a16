/* bench.h - what a benchmark is, and what the files of bench/ offer each other.
 *
 * A group is a set of sides measured together over one state: the floors, written plainly in C, and the
 * subjects, which do the same through the engine. Sides take turns (A B A B ...), so whatever the machine
 * does meanwhile befalls all; the ratio of a subject is the median, over the rounds, of its time by its
 * floor's time of the same round. A gauge measures bytes instead of time.
 *
 * What it does not do: nothing here is part of the tests, and a verdict "over" is a finding, not a failure.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <backplane.h>
#include <stdbool.h>
#include <stdio.h>

enum {
    BENCH_MAX_SIDES = 8,
    BENCH_MAX_SIZES = 16,
    BENCH_MIN_REPETITIONS = 11,
    BENCH_REPETITIONS = 25,
    BENCH_MAX_REPETITIONS = 1001
};

/* What the issue demands of a side. */
typedef enum bound_kind_t { BOUND_NONE, BOUND_RATIO, BOUND_NANOSECONDS, BOUND_BYTES } bound_kind_t;

typedef struct bound_t {
    bound_kind_t kind;
    double limit;
    uint32_t from_size; /* it is demanded from this size on; 0: at every size */
    uint32_t to_size;   /* ... and up to this one; 0: no end */
} bound_t;

#define AT_MOST_TIMES(times) {BOUND_RATIO, (times), 0, 0}
#define AT_MOST_TIMES_FROM(times, size) {BOUND_RATIO, (times), (size), 0}
#define AT_MOST_NS(nanoseconds) {BOUND_NANOSECONDS, (nanoseconds), 0, 0}
#define AT_MOST_NS_TO(nanoseconds, size) {BOUND_NANOSECONDS, (nanoseconds), 0, (size)}

typedef struct side_t {
    const char *name;
    const char *floor;              /* name of the side it is compared with; NULL: it is a floor itself */
    void (*prepare)(void *state);   /* untimed, before every run; NULL: runs follow each other */
    void (*run)(void *state);
    bound_t bound;
    double (*bytes)(void *state);   /* bytes that it holds after its last run; NULL: not asked */
} side_t;

typedef struct group_t {
    const char *name;
    const uint32_t *sizes;          /* ended by 0; NULL: 10 k, 100 k, 1 M; --sizes takes their place */
    void *(*setup)(uint32_t size);  /* never NULL: it ends the program where it fails */
    void (*teardown)(void *state);
    side_t sides[BENCH_MAX_SIDES];  /* ended by a side without a name */
    bool takes_long;                /* fewer repetitions where one takes seconds */
} group_t;

/* Bytes of something: the figure of an item, measured once. */
typedef struct gauge_t {
    const char *name;
    const char *counter;   /* "bytes_per_entity" */
    const uint32_t *sizes; /* as in a group; --sizes does not apply */
    double (*measure)(uint32_t size);
    bound_t bound;
} gauge_t;

/* --- results ------------------------------------------------------------------------------------------ */

typedef struct result_t {
    char name[96];        /* group/side */
    uint32_t family;      /* results of one name and several sizes */
    uint32_t size;
    uint32_t repetitions;
    uint64_t items;       /* in one repetition */
    double real_ns, cpu_ns, deviation_ns; /* an item; medians, and the standard deviation of real_ns */
    double floor_ns, ratio;               /* 0: it is a floor itself */
    const char *counter;                  /* of a gauge: what `bytes` is; else NULL */
    double bytes;                         /* an item */
    double held;                          /* bytes in all; 0: not measured */
    bound_t bound;
} result_t;

/* Does a bound apply to this result, and is it kept? */
bool result_is_bound(const result_t *result);
bool result_is_kept(const result_t *result);

typedef struct results_t {
    result_t *items;
    uint32_t count, capacity;
} results_t;

/* --- measure.c ---------------------------------------------------------------------------------------- */

/* Measure one group at one size, and append the results of those sides whose name group/side contains
 * `filter`. */
void measure_group(results_t *results, const group_t *group, uint32_t size, uint32_t repetitions,
                   const char *filter);

/* Does any of its sides match? */
bool measure_matches(const group_t *group, const char *filter);

void measure_gauge(results_t *results, const gauge_t *gauge, uint32_t size);

/* Hand a value that a loop has computed to somebody who might use it. */
void measure_keep(double value);

/* --- table.c, json.c ---------------------------------------------------------------------------------- */

void table_begin(FILE *out);
void table_row(FILE *out, const result_t *result);
void table_end(FILE *out, const results_t *results);

/* "1M", "100k", "75". */
void table_size(uint32_t size, char text[16]);

/* Can the file be written? Says so on stderr where not: better before minutes of measuring than after. */
bool json_can_write(const char *path);

/* Write all results in Google Benchmark's schema. False, with a line on stderr, where that fails. */
bool json_write(const char *path, const results_t *results, const char *program);

/* --- paths.c ------------------------------------------------------------------------------------------ */

/* Run each hot path, for whoever counts instructions (tools/budgets.py). */
void paths_run(void);

/* --- machine.c ---------------------------------------------------------------------------------------- */

typedef struct machine_cache_t {
    char type[16];
    uint32_t level;
    uint64_t bytes;
    uint32_t sharing; /* processors that share it */
} machine_cache_t;

typedef struct machine_t {
    char model[96]; /* "" where unknown */
    uint32_t processors;
    double mhz;     /* 0 where unknown */
    bool scaling;   /* the clock rate may change */
    machine_cache_t caches[8];
    uint32_t cache_count;
    double load[3]; /* of the last 1, 5 and 15 minutes; 0 where unknown */
} machine_t;

void machine_describe(machine_t *machine);

/* Bytes of this process in physical memory; 0 where the system does not tell. */
uint64_t machine_resident(void);

/* Give memory that was freed back to the system, where the C library can: what is taken next is fresh. */
void machine_release(void);

#endif
