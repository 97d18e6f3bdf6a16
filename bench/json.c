/* json.c - results in the schema of Google Benchmark's JSON, so that its tools (compare.py and the like)
 * read them.
 *
 * One item, an entity for the most part, is one iteration there: real_time is nanoseconds an item. For
 * every figure there is an aggregate "median" with the counters, and a "stddev" beside it. The machine's
 * own name is left out.
 */
#include "bench.h"

#include <jansson.h>
#include <string.h>
#include <time.h>

static void put(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value); /* NULL, for want of memory, is refused and shows as missing */
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

static json_t *context(const char *program)
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
    put(object, "executable", json_string(program));
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

static void put_counters(json_t *object, const result_t *result)
{
    static const char *const units[] = {"", "ratio", "ns", "bytes"};
    put(object, "items_per_repetition", json_integer((json_int_t)result->items));
    if (result->ratio > 0) {
        put(object, "floor_time", json_real(result->floor_ns));
        put(object, "ratio", json_real(result->ratio));
    }
    if (result->counter != NULL)
        put(object, result->counter, json_real(result->bytes));
    if (result->held > 0)
        put(object, "bytes_held", json_real(result->held));
    if (result_is_bound(result)) {
        put(object, "bound", json_real(result->bound.limit));
        put(object, "bound_unit", json_string(units[result->bound.kind]));
        put(object, "bound_kept", json_integer(result_is_kept(result)));
    }
}

static json_t *benchmarks(const results_t *results)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < results->count; i++) {
        const result_t *result = &results->items[i];
        uint32_t instance = 0;
        for (uint32_t j = 0; j < i; j++)
            instance += results->items[j].family == result->family;
        json_t *median = aggregate(result, instance, "median", result->real_ns, result->cpu_ns);
        put_counters(median, result);
        json_array_append_new(list, median);
        if (result->repetitions > 1)
            json_array_append_new(
                list, aggregate(result, instance, "stddev", result->deviation_ns, result->deviation_ns));
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

bool json_write(const char *path, const results_t *results, const char *program)
{
    json_t *root = json_object();
    put(root, "context", context(program));
    put(root, "benchmarks", benchmarks(results));
    bool good = json_dump_file(root, path, JSON_INDENT(2)) == 0;
    if (!good)
        fprintf(stderr, "bench: '%s' was not written: no memory, or no room on the disk\n", path);
    json_decref(root);
    return good;
}
