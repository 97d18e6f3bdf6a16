/* compare.c - the figures that have moved between two runs.
 *
 * A figure that has a floor is compared by its ratio to it, because the floor was measured in the same rounds and
 * on the same machine; other figures are compared by their value. A figure has moved where the two medians differ by
 * more than three per cent and the middle halves of the rounds do not touch: values that lie in the
 * middle halves of both runs are noise.
 *
 * Files of older versions have no halves, but a standard deviation: two thirds of the deviation to either side stand
 * for the middle half.
 */
#include "bench.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 0.03
#define HALF_OF_NORMAL 0.6745 /* deviations: half of all normally distributed values lie within */

/* --- reading ------------------------------------------------------------------------------------------ */

static double number(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static figure_unit_t unit_of(const json_t *object)
{
    const char *unit = text_of(object, "unit");
    bool bytes = json_object_get(object, "bytes_per_entity") != NULL ||
                 json_object_get(object, "bytes_per_prototype") != NULL ||
                 json_object_get(object, "bytes_per_sprite") != NULL;
    return strcmp(unit, "percent") == 0 ? UNIT_PERCENT : strcmp(unit, "steps") == 0 ? UNIT_STEPS
           : strcmp(unit, "bytes") == 0 || bytes                                    ? UNIT_BYTES
                                                                                    : UNIT_NS;
}

/* Read a figure of a file that is older than the key `value`. */
static double old_value(const json_t *object)
{
    double value = number(object, "real_time", 0);
    value = number(object, "bytes_per_entity", value);
    value = number(object, "bytes_per_prototype", value);
    return number(object, "bytes_per_sprite", value);
}

static void read_result(const json_t *object, result_t *result)
{
    memset(result, 0, sizeof *result);
    snprintf(result->name, sizeof result->name, "%s", text_of(object, "run_name"));
    char *size = strrchr(result->name, '/');
    if (size != NULL) {
        result->size = (uint32_t)strtoul(size + 1, NULL, 10);
        *size = '\0';
    }
    result->unit = unit_of(object);
    result->value = number(object, "value", old_value(object));
    result->low = number(object, "value_low", result->value);
    result->high = number(object, "value_high", result->value);
    result->ratio = number(object, "ratio", 0);
    result->ratio_low = number(object, "ratio_low", result->ratio);
    result->ratio_high = number(object, "ratio_high", result->ratio);
    result->held = number(object, "bytes_held", 0);
}

/* The deviation of a result that has no halves of its own. */
static void spread(result_t *result, double deviation)
{
    double half = HALF_OF_NORMAL * deviation, share = result->value > 0 ? half / result->value : 0;
    if (result->unit != UNIT_NS || result->low < result->value || result->high > result->value)
        return;
    result->low -= half;
    result->high += half;
    result->ratio_low -= share * result->ratio;
    result->ratio_high += share * result->ratio;
}

static bool read_all(const json_t *list, results_t *results)
{
    results->items = calloc(json_array_size(list) + 1, sizeof *results->items);
    if (results->items == NULL)
        return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *object = json_array_get(list, i);
        const char *kind = text_of(object, "aggregate_name");
        if (strcmp(kind, "median") == 0)
            read_result(object, &results->items[results->count++]);
        else if (strcmp(kind, "stddev") == 0 && results->count > 0)
            spread(&results->items[results->count - 1], number(object, "real_time", 0));
    }
    return true;
}

bool compare_read(const char *path, results_t *results)
{
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    const json_t *list = json_object_get(root, "benchmarks");
    memset(results, 0, sizeof *results);
    bool good = json_is_array(list) && read_all(list, results);
    if (root == NULL)
        fprintf(stderr, "bench: '%s' cannot be read: line %d: %s\n", path, error.line, error.text);
    else if (!good)
        fprintf(stderr, "bench: '%s' holds no results; write some with --json\n", path);
    json_decref(root);
    return good;
}

void compare_free(results_t *results)
{
    free(results->items);
    memset(results, 0, sizeof *results);
}

/* --- comparing ---------------------------------------------------------------------------------------- */

typedef struct figure_t {
    double low, middle, high;
} figure_t;

static figure_t figure_of(const result_t *result, bool by_ratio)
{
    if (by_ratio)
        return (figure_t){result->ratio_low, result->ratio, result->ratio_high};
    return (figure_t){result->low, result->value, result->high};
}

static const result_t *find(const results_t *results, const result_t *wanted)
{
    for (uint32_t i = 0; i < results->count; i++) {
        if (results->items[i].size == wanted->size && strcmp(results->items[i].name, wanted->name) == 0)
            return &results->items[i];
    }
    return NULL;
}

/* The share by which a figure has moved; 0 where the difference is within the noise. */
static double moved(figure_t old, figure_t new)
{
    if (old.middle <= 0 || (new.low <= old.high && old.low <= new.high))
        return 0;
    double change = new.middle / old.middle - 1;
    return fabs(change) > LEAST ? change : 0;
}

static void print_move(FILE *out, const result_t *old, const result_t *new, bool by_ratio, double change)
{
    char size[16], before[24], after[24];
    table_size(new->size, size);
    table_value(new->unit, old->value, before);
    table_value(new->unit, new->value, after);
    fprintf(out, "%-6s %-46s %7s %11s %11s", change > 0 ? "worse" : "better", new->name, size, before, after);
    if (by_ratio)
        fprintf(out, "   %.2f x to %.2f x", old->ratio, new->ratio);
    fprintf(out, "  %+.1f %%\n", change * 100);
}

void compare_print(FILE *out, const results_t *old, const results_t *new)
{
    uint32_t compared = 0, better = 0, worse = 0;
    fprintf(out, "\nWhat has moved by more than 3 %% and beyond the middle half of the rounds of both runs:\n");
    for (uint32_t i = 0; i < new->count; i++) {
        const result_t *now = &new->items[i], *before = find(old, now);
        if (before == NULL)
            continue;
        bool by_ratio = now->ratio > 0 && before->ratio > 0;
        double change = moved(figure_of(before, by_ratio), figure_of(now, by_ratio));
        compared++;
        better += change < 0;
        worse += change > 0;
        if (change < 0 || change > 0)
            print_move(out, before, now, by_ratio, change);
    }
    fprintf(out, "%u figures of both runs, %u better, %u worse\n", compared, better, worse);
}
