/* trace.h - slices of time: which unit or part of a step ran when, on which thread, while a sink is set.
 *
 * During a step slices are put down from any thread, without a lock, into room for a fixed number of them; at the end
 * of each step they are handed to the embedder's sink (bp_trace_i) and the room is empty again. Slices that find no
 * room are counted.
 *
 * A host without a sink has no trace_t.
 *
 * Not here: files of slices (program/json_output.c).
 */
#ifndef HOST_STEP_TRACE_H
#define HOST_STEP_TRACE_H

#include "../store/world.h"

enum {
    TRACE_ROOM = 32768, /* slices of one step */
    TRACE_THREADS = 256
};

typedef struct trace_t {
    memory_t memory;
    bp_trace_i sink;
    bool telling;   /* the sink is being called ... */
    bool ends;      /* ... and has asked for the end */
    uint64_t start; /* the times handed over count from this reading of the clock */
    _Atomic uint64_t threads[TRACE_THREADS]; /* the system's number of each thread; 0: free. The first is the main
                                                thread */
    _Atomic uint32_t count;
    _Atomic uint32_t lost;
    bp_trace_slice_t slices[TRACE_ROOM];
} trace_t;

/* NULL when out of memory. [main] */
trace_t *trace_create(base_t *base, const bp_trace_i *sink);
void trace_free(trace_t *trace, base_t *base);

/* Put down a slice between two readings of os_clock_ns. Names live at least until the step ends. `world` may be NULL.
   [job] */
void trace_slice(trace_t *trace, uint32_t kind, const world_t *world, const char *name, uint64_t begin, uint64_t end,
                 uint64_t count);

/* Hand over the slices put down so far. False where the sink has asked for the end meanwhile. [main] */
bool trace_flush(trace_t *trace);

/* Is the sink being called? If it is, the trace ends when that is over. [main] */
bool trace_is_telling(const trace_t *trace);
void trace_end_later(trace_t *trace);

#endif
