/* sample.h - thinning the large runs of worlds to some thousand rows in all, for a copy of this process.
 *
 * A copy of the process shares all memory with it until either writes: the page tables are copied while the process
 * stands still, and then each page of a column that a step writes to is copied at the first write, which costs the next
 * step more than ten usual ones (docs/benchmarks.md). So the columns of large runs are left out of the copy, and a
 * sample of their rows, taken before, takes their place there.
 *
 * For all code in the copy the components of all other entities of these runs have been removed: the entities live, the
 * world has no components of them, and systems that were told of these entities are told that they no longer match.
 * Runs that have a component with storage of its own are left whole, since its manager would have to be told row by
 * row; small ones as well. But where there are very many runs, as with a hundred worlds, those that come after the
 * first SAMPLE_ROWS rows keep RUN_SAMPLE_FEW each, and those that come after SAMPLE_FEW_RUNS of these none: else all
 * their rows would be copied and converted in the copy.
 *
 * Memory of plugins is always in the copy.
 *
 * Not here: copying the process (reload/process.h).
 */
#ifndef HOST_STORE_SAMPLE_H
#define HOST_STORE_SAMPLE_H

#include "world.h"

enum { SAMPLE_ROWS = 128 * 1024, SAMPLE_FEW_RUNS = 128 };

typedef struct world_sample_t {
    world_t *world;
    run_sample_t run;
} world_sample_t;

typedef struct sample_t {
    memory_t *memory;
    world_sample_t *runs;
    uint32_t count, capacity;
    uint64_t rows; /* of all runs, as the copy has them */
    uint32_t few;  /* runs that keep their first rows */
} sample_t;

/* Take the samples, before the process is copied. Cannot fail: a run that cannot be left out is copied with the
 * process. Rows must not move until the sample is given back. [main] */
void sample_take(sample_t *sample, memory_t *memory, world_t *const *worlds, uint32_t world_count);

/* Give the samples back, in this process, as soon as the copy has been made. [main] */
void sample_give_back(sample_t *sample);

/* Put the samples in the place of the large runs, in the copy, before any other code looks at a world. */
void sample_enter(const sample_t *sample);

#endif
