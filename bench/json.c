/* json.c - results in the schema of Google Benchmark's JSON, so that its tools (compare.py and the like)
 * read the results.
 *
 * One item, an entity for the most part, is one iteration in that schema: real_time is nanoseconds an item. For
 * every figure there is an aggregate "median" with the counters, and a "stddev" beside it. The machine's
 * own name is left out.
 */
#include "bench.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void put(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value); /* value is NULL where memory was missing: the key is then left out */
}

/* --- context ------------------------------------------------------------------------------------------ */

static json_t *caches(const machine_t *machine)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < machine->cache_count; i++) {
        const machine_cache_t *cache = &machine->caches[i];
        json_array_append_new(list, json_pack("{s:s, s:i, s:I, s:i}", "type", cache->type, "level",
                                              (int)cache->level, "size", (json_int_t)cache->bytes,
                                              "num_sharing", (int)cache->sharing));
    }
    return list;
}

#if defined(__clang__)
static const char compiler[] = "clang " __clang_version__;
#else
static const char compiler[] = "gcc " __VERSION__;
#endif

static json_t *context(const char *command, bool quick)
{
    machine_t machine;
    char date[32] = "";
    time_t now = time(NULL);
    const struct tm *utc = gmtime(&now);
    json_t *object = json_object();
    machine_describe(&machine);
    if (utc != NULL)
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S+00:00", utc);
    put(object, "date", json_string(date));
    put(object, "host_name", json_string("localhost"));
    put(object, "executable", json_string("build/bench"));
    put(object, "command", json_string(command));
    put(object, "quick", json_boolean(quick));
    put(object, "compiler", json_string(compiler));
    put(object, "num_cpus", json_integer(machine.processors));
    put(object, "mhz_per_cpu", json_integer((json_int_t)machine.mhz));
    put(object, "cpu_model", json_string(machine.model));
    put(object, "cpu_scaling_enabled", json_boolean(machine.scaling));
    put(object, "caches", caches(&machine));
    put(object, "load_avg", json_pack("[f, f, f]", machine.load[0], machine.load[1], machine.load[2]));
#if defined(__OPTIMIZE__) && !defined(BACKPLANE_SANITIZED)
    put(object, "library_build_type", json_string("release"));
#else
    put(object, "library_build_type", json_string("debug"));
#endif
    put(object, "library_version", json_string(BACKPLANE_VERSION));
    put(object, "json_schema_version", json_integer(1));
    return object;
}

/* --- benchmarks --------------------------------------------------------------------------------------- */

static json_t *aggregate(const result_t *result, uint32_t instance, const char *kind, double real, double cpu)
{
    char run[128], name[160];
    snprintf(run, sizeof run, "%s/%u", result->name, result->size);
    snprintf(name, sizeof name, "%s_%s", run, kind);
    json_t *object = json_object();
    put(object, "name", json_string(name));
    put(object, "family_index", json_integer(result->family));
    put(object, "per_family_instance_index", json_integer(instance));
    put(object, "run_name", json_string(run));
    put(object, "run_type", json_string("aggregate"));
    put(object, "repetitions", json_integer(result->repetitions));
    put(object, "threads", json_integer(1));
    put(object, "aggregate_name", json_string(kind));
    put(object, "aggregate_unit", json_string("time"));
    put(object, "iterations", json_integer(result->repetitions));
    put(object, "real_time", json_real(real));
    put(object, "cpu_time", json_real(cpu));
    put(object, "time_unit", json_string("ns"));
    return object;
}

/* Round to six digits, since no figure is more exact than that. */
static json_t *rounded(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    return json_real(strtod(text, NULL));
}

static void put_counters(json_t *object, const result_t *result)
{
    static const char *const units[] = {"ns", "bytes", "percent", "steps"};
    put(object, "items_per_repetition", json_integer((json_int_t)result->items));
    put(object, "size", json_integer(result->size));
    put(object, "unit", json_string(units[result->unit]));
    put(object, "value", rounded(result->value));
    put(object, "value_low", rounded(result->low));
    put(object, "value_high", rounded(result->high));
    if (result->whole)
        put(object, "of_all", json_integer(1));
    if (result->ratio > 0) {
        put(object, "floor_value", rounded(result->floor));
        put(object, "ratio", rounded(result->ratio));
        put(object, "ratio_low", rounded(result->ratio_low));
        put(object, "ratio_high", rounded(result->ratio_high));
    }
    if (result->counter != NULL)
        put(object, result->counter, rounded(result->value));
    if (result->held > 0)
        put(object, "bytes_held", rounded(result->held));
    if (result->most_held > 0)
        put(object, "bytes_held_bound", rounded(result->most_held));
    if (result->bound.kind != BOUND_NONE) {
        put(object, "bound", rounded(result->bound.limit));
        put(object, "bound_unit", json_string(result->bound.kind == BOUND_RATIO ? "ratio" : units[result->unit]));
        put(object, "bound_ratio", rounded(result->bound_ratio));
        if (result->bound.than != NULL)
            put(object, "bound_than", json_string(result->bound.than));
    }
    if (result_is_bound(result))
        put(object, "bound_kept", json_integer(result_is_kept(result)));
}

static json_t *benchmarks(const results_t *results)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < results->count; i++) {
        const result_t *result = &results->items[i];
        uint32_t instance = 0;
        for (uint32_t j = 0; j < i; j++)
            instance += results->items[j].family == result->family;
        double real = result->unit == UNIT_NS ? result->value : result->cpu_ns;
        json_t *median = aggregate(result, instance, "median", real, result->unit == UNIT_NS ? result->cpu_ns : real);
        put_counters(median, result);
        json_array_append_new(list, median);
        if (result->repetitions > 1 && result->deviation_ns > 0)
            json_array_append_new(list, aggregate(result, instance, "stddev", result->deviation_ns,
                                                  result->deviation_ns));
    }
    return list;
}

bool json_can_write(const char *path)
{
    FILE *file = fopen(path, "ab");
    if (file == NULL) {
        fprintf(stderr, "bench: cannot write '%s'; does its folder exist?\n", path);
        return false;
    }
    return fclose(file) == 0;
}

/* The object, one line for each figure: so that two files can be told apart with diff. */
static bool write_lines(FILE *file, const json_t *head, const json_t *list)
{
    char *text = json_dumps(head, JSON_INDENT(1));
    bool good = text != NULL && fprintf(file, "{\n\"context\": %s,\n\"benchmarks\": [", text) > 0;
    free(text);
    for (size_t i = 0; good && i < json_array_size(list); i++) {
        text = json_dumps(json_array_get(list, i), JSON_COMPACT | JSON_REAL_PRECISION(7));
        good = text != NULL && fprintf(file, "%s\n%s", i > 0 ? "," : "", text) > 0;
        free(text);
    }
    return good && fprintf(file, "\n]\n}\n") > 0;
}

bool json_write(const char *path, const results_t *results, const char *command, bool quick)
{
    json_t *head = context(command, quick), *list = benchmarks(results);
    FILE *file = fopen(path, "wb");
    bool good = file != NULL && write_lines(file, head, list);
    good = file != NULL && fclose(file) == 0 && good;
    if (!good)
        fprintf(stderr, "bench: '%s' was not written: no memory, or no room on the disk\n", path);
    json_decref(head);
    json_decref(list);
    return good;
}
