/* trace_file.c - one event a line.
 *
 * A slice is an event "X" with its beginning and length in microseconds; threads get their names when they are first met; the
 * entities of a world are a counter, one value a step. Names of worlds, units and what the host does are words and spaces,
 * which JSON takes as they are.
 */
#include "trace_file.h"

#include "messages.h"

#include <inttypes.h>

static void name_thread(trace_file_t *trace, uint32_t thread)
{
    char name[32] = "main";
    if (thread > 0)
        snprintf(name, sizeof name, "worker %" PRIu32, thread);
    fprintf(trace->file, ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu32 ",\"args\":{\"name\":\"%s\"}}",
            thread, name);
    fprintf(trace->file,
            ",\n{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu32 ",\"args\":{\"sort_index\":%" PRIu32 "}}",
            thread, thread);
}

static void write_slice(trace_file_t *trace, const bp_trace_slice_t *slice)
{
    static const char *const kinds[] = {"step", "unit", "range", "notices", "commands", "gc", "together"};
    static const char *const counts[] = {"entities", "rows", "rows", "entities", "commands", "collected", "worlds"};
    uint32_t kind = slice->kind < sizeof kinds / sizeof *kinds ? slice->kind : BP_SLICE_UNIT;
    for (; trace->threads <= slice->thread; trace->threads++)
        name_thread(trace, trace->threads);
    fprintf(trace->file,
            ",\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":%" PRIu32 ",\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"world\":\"%s\",\"%s\":%" PRIu64 "}}",
            slice->name, kinds[kind], slice->thread, (double)slice->begin / 1e3, (double)(slice->end - slice->begin) / 1e3,
            slice->world,
            counts[kind], slice->count);
    if (kind == BP_SLICE_STEP)
        fprintf(trace->file,
                ",\n{\"name\":\"entities of %s\",\"ph\":\"C\",\"pid\":1,\"ts\":%.3f,\"args\":{\"entities\":%" PRIu64 "}}",
                slice->world,
                (double)slice->end / 1e3, slice->count);
}

static void take(void *context, const bp_trace_slice_t *slices, uint32_t count, uint64_t lost)
{
    trace_file_t *trace = context;
    for (uint32_t i = 0; i < count; i++)
        write_slice(trace, &slices[i]);
    trace->lost += lost;
}

bool trace_file_begin(trace_file_t *trace, bp_host_o *host, const char *path)
{
    *trace = (trace_file_t){.path = path, .file = fopen(path, "wb")};
    if (trace->file == NULL) {
        complain("%s: the trace cannot be written there", path);
        return false;
    }
    if (bp_host_trace(host, &(bp_trace_i){.context = trace, .slices = take}) != BP_OK) {
        complain("%s", bp_host_error(host));
        fclose(trace->file);
        return false;
    }
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
          "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"backplane\"}}",
          trace->file);
    return true;
}

bool trace_file_end(trace_file_t *trace, bp_host_o *host)
{
    bp_host_trace(host, NULL);
    fprintf(trace->file, "\n],\"otherData\":{\"lost\":%" PRIu64 "}}\n", trace->lost);
    bool whole = ferror(trace->file) == 0;
    whole = fclose(trace->file) == 0 && whole;
    if (!whole)
        complain("%s: the trace could not be written whole", trace->path);
    else if (trace->lost > 0)
        complain("%s: %" PRIu64 " slices found no room and are missing from the trace", trace->path, trace->lost);
    return whole;
}
