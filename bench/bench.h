/* bench.h - what a benchmark is, and what the files of bench/ offer each other.
 *
 * A group is a set of sides measured together over one state: the floors, written plainly in C, and the
 * subjects, which do the same through the engine. Sides take turns (A B A B ...), so whatever else the machine
 * does meanwhile slows all sides alike; the ratio of a subject is the median, over the rounds, of its time by its
 * floor's time of the same round. A gauge measures bytes instead of time. A course is a longer story, such as
 * 600 steps of churn, which ends in several figures.
 *
 * Not here: tests; a verdict "over" is a finding, not a failure.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <backplane.h>
#include <stdbool.h>
#include <stdio.h>

enum {
    BENCH_MAX_SIDES = 12,
    BENCH_MAX_SIZES = 16,
    BENCH_MORE_BOUNDS = 3,
    BENCH_MIN_REPETITIONS = 11,
    BENCH_REPETITIONS = 25,
    BENCH_MAX_REPETITIONS = 1001,
    BENCH_QUICK_SIZE = 1000000 /* --quick leaves out larger ones */
};

/* The bound that the project sets for a side. */
typedef enum bound_kind_t { BOUND_NONE, BOUND_RATIO, BOUND_VALUE } bound_kind_t;

typedef struct bound_t {
    bound_kind_t kind;
    double limit;       /* of the ratio, or of the figure in its unit */
    uint32_t from_size; /* the bound holds from this size on; 0: at every size */
    uint32_t to_size;   /* the bound holds up to this size; 0: no end */
    const char *than;   /* a ratio to this side instead of the floor; NULL: to the floor */
} bound_t;

#define AT_MOST_TIMES(times) {.kind = BOUND_RATIO, .limit = (times)}
#define AT_MOST_TIMES_FROM(times, size) {.kind = BOUND_RATIO, .limit = (times), .from_size = (size)}
#define AT_MOST_TIMES_OF(times, side) {.kind = BOUND_RATIO, .limit = (times), .than = (side)}
#define AT_MOST(value) {.kind = BOUND_VALUE, .limit = (value)}
#define AT_MOST_FROM(value, size) {.kind = BOUND_VALUE, .limit = (value), .from_size = (size)}
#define AT_MOST_TO(value, size) {.kind = BOUND_VALUE, .limit = (value), .to_size = (size)}
#define AT_MOST_AT(value, size) {.kind = BOUND_VALUE, .limit = (value), .from_size = (size), .to_size = (size)}

typedef struct side_t {
    const char *name;
    const char *floor;              /* name of the side to compare with; NULL: the side is a floor itself */
    void (*prepare)(void *state);   /* untimed, before every run; NULL: runs follow each other */
    void (*run)(void *state);
    bound_t bound;
    bound_t more[BENCH_MORE_BOUNDS]; /* of several bounds the first one that applies to a size counts */
    double (*bytes)(void *state);   /* bytes that the side holds after its last run; NULL: not asked */
    double most_bytes;              /* the most that `bytes` may be; 0: any number */
    bool warm;                      /* an untimed run comes before each round, although the side has `prepare` */
} side_t;

typedef struct group_t {
    const char *name;
    const uint32_t *sizes;          /* ended by 0; NULL: 10 k, 100 k, 1 M; --sizes takes their place */
    void *(*setup)(uint32_t size);  /* never NULL: a failing setup ends the program */
    void (*teardown)(void *state);
    side_t sides[BENCH_MAX_SIDES];  /* ended by a side without a name */
    bool takes_long;                /* fewer repetitions where a repetition takes seconds */
    bool whole;                     /* a figure is of a run and not of each of `size` items */
} group_t;

/* Bytes of something: the figure of an item, measured once. */
typedef struct gauge_t {
    const char *name;
    const char *counter;   /* "bytes_per_entity" */
    const uint32_t *sizes; /* as in a group; --sizes does not apply */
    double (*measure)(uint32_t size);
    bound_t bound;
} gauge_t;

typedef struct results_t results_t;

/* A story that is gone through several times; each time gives all of its figures at once. */
typedef struct course_t {
    const char *name;      /* the names of all its figures begin with it */
    const uint32_t *sizes; /* ended by 0; --sizes takes their place */
    /* Go through the course `times` times and put its figures. */
    void (*run)(results_t *results, uint32_t size, uint32_t times);
} course_t;

/* 1 k to 1 M, and to 10 M, in steps of about three: for groups that are drawn as curves. */
extern const uint32_t bench_curve_sizes[], bench_wide_sizes[];

/* 10 k to 10 M. */
extern const uint32_t bench_long_sizes[];

/* --- results ------------------------------------------------------------------------------------------ */

/* The units of figures. */
typedef enum figure_unit_t { UNIT_NS, UNIT_BYTES, UNIT_PERCENT, UNIT_STEPS } figure_unit_t;

typedef struct result_t {
    char name[96];        /* group/side */
    uint32_t family;      /* results of one name and several sizes */
    uint32_t size;
    uint32_t repetitions;
    uint64_t items;       /* in one repetition */
    figure_unit_t unit;
    bool whole;           /* the figure is of all items together, not of one */
    double value;         /* the median, in `unit`, of an item */
    double low, high;     /* the middle half of the rounds lies between */
    double floor;         /* the median of its floor; 0: the result is of a floor itself */
    double ratio, ratio_low, ratio_high; /* median and middle half of the rounds' ratios to the floor; 0: none */
    double bound_ratio;   /* the ratio that the bound is about */
    double cpu_ns, deviation_ns; /* of an item */
    const char *counter;  /* of a gauge: the key of `value` in JSON */
    double held;          /* bytes in all; 0: not measured */
    double most_held;     /* the most that `held` may be; 0: any number */
    bound_t bound;        /* the bound that applies to this size, or none */
} result_t;

/* result_is_bound: has the result a bound? result_is_kept: is the bound kept? */
bool result_is_bound(const result_t *result);
bool result_is_kept(const result_t *result);

struct results_t {
    result_t *items;
    uint32_t count, capacity;
};

/* --- measure.c ---------------------------------------------------------------------------------------- */

/* Measure one group at one size, and append the results of those sides whose name group/side contains
 * `filter`. */
void measure_group(results_t *results, const group_t *group, uint32_t size, uint32_t repetitions,
                   const char *filter);

/* Does any side of the group match the filter? */
bool measure_matches(const group_t *group, const char *filter);

void measure_gauge(results_t *results, const gauge_t *gauge, uint32_t size);

/* Put a figure of a course: the median of `count` values, beside the median of as many values of its floor (NULL: the
 * figure has no floor). The caller may fill the returned result further. */
result_t *measure_put(results_t *results, const char *course, const char *figure, uint32_t size, figure_unit_t unit,
                      const double *values, const double *floors, uint32_t count, bound_t bound);

/* Nanoseconds of a clock that never goes back. */
uint64_t measure_now(void);

/* Hand over a value that a loop has computed, so that the compiler cannot drop the loop. */
void measure_keep(double value);

/* --- compare.c ---------------------------------------------------------------------------------------- */

/* Figures of a JSON file that json_write has written, now or in an older version. False, with a line on stderr, where
 * the file cannot be read. */
bool compare_read(const char *path, results_t *results);

void compare_free(results_t *results);

/* Print the figures that have moved beyond the noise. */
void compare_print(FILE *out, const results_t *old, const results_t *new);

/* --- table.c, json.c ---------------------------------------------------------------------------------- */

void table_begin(FILE *out);
void table_row(FILE *out, const result_t *result);
void table_end(FILE *out, const results_t *results);

/* "1M", "100k", "75". */
void table_size(uint32_t size, char text[16]);

/* "12.5 ns", "3.1 ms", "20.1 B", "12 %". */
void table_value(figure_unit_t unit, double value, char text[24]);

/* Can the file be written? Says so on stderr where not, before minutes of measuring rather than after. */
bool json_can_write(const char *path);

/* Write all results in Google Benchmark's schema. False, with a line on stderr, where the file cannot be written. */
bool json_write(const char *path, const results_t *results, const char *command, bool quick);

/* --- paths.c ------------------------------------------------------------------------------------------ */

/* Run each hot path, for counting instructions (tools/budgets.py). */
void paths_run(void);

/* --- machine.c ---------------------------------------------------------------------------------------- */

typedef struct machine_cache_t {
    char type[16];
    uint32_t level;
    uint64_t bytes;
    uint32_t sharing; /* processors that share the cache */
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

/* Bytes of this process in physical memory, apart from pages of files, such as code that is run for the first time;
 * 0 where the system does not tell. */
uint64_t machine_resident(void);

/* Give memory that was freed back to the system, where the C library can: memory taken next is fresh. */
void machine_release(void);

#endif
