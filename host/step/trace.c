/* trace.c - putting slices down and handing them over.
 *
 * Threads are told apart by the system's number for them and get small numbers of their own in the order in which they
 * are met, since an embedder's pool does not say which of its threads runs a job.
 */
#include "trace.h"

#include "../os/os.h"
#include "../store/world.h"

trace_t *trace_create(base_t *base, const bp_trace_i *sink)
{
    trace_t *trace = memory_new(&base->memory, sizeof *trace);
    if (trace == NULL)
        return NULL;
    trace->sink = *sink;
    trace->start = os_clock_ns();
    atomic_store(&trace->threads[0], os_thread_number());
    return trace;
}

void trace_free(trace_t *trace, base_t *base)
{
    memory_free(&base->memory, trace, sizeof *trace);
}

static uint32_t thread_number(trace_t *trace)
{
    uint64_t number = os_thread_number();
    for (uint32_t i = 0; i < TRACE_THREADS; i++) {
        uint64_t there = atomic_load_explicit(&trace->threads[i], memory_order_relaxed);
        if (there == 0 && atomic_compare_exchange_strong(&trace->threads[i], &there, number))
            return i;
        if (there == number)
            return i;
    }
    return TRACE_THREADS;
}

void trace_slice(trace_t *trace, uint32_t kind, const world_t *world, const char *name, uint64_t begin, uint64_t end,
                 uint64_t count)
{
    uint32_t at = atomic_fetch_add_explicit(&trace->count, 1, memory_order_relaxed);
    if (at >= TRACE_ROOM) {
        atomic_fetch_sub_explicit(&trace->count, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&trace->lost, 1, memory_order_relaxed);
        return;
    }
    trace->slices[at] = (bp_trace_slice_t){
        .struct_size = sizeof(bp_trace_slice_t),
        .kind = kind,
        .thread = thread_number(trace),
        .world = world == NULL ? "" : world->name,
        .name = name,
        .begin = begin - trace->start,
        .end = end - trace->start,
        .count = count,
    };
}

bool trace_flush(trace_t *trace)
{
    uint32_t count = atomic_load(&trace->count);
    trace->telling = true;
    trace->sink.slices(trace->sink.context, trace->slices, count, atomic_load(&trace->lost));
    trace->telling = false;
    atomic_store(&trace->count, 0);
    atomic_store(&trace->lost, 0);
    return !trace->ends;
}

bool trace_is_telling(const trace_t *trace)
{
    return trace->telling;
}

void trace_end_later(trace_t *trace)
{
    trace->ends = true;
}
