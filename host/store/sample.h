/* sample.h - worlds for a copy of this process, their large runs thinned to some thousand rows.
 *
 * A copy of the process shares all memory with it until either writes: the page tables are copied while the process
 * stands still, and then each page of a column that a step writes to is copied at the first write, which costs the next
 * step more than ten usual ones (docs/benchmarks.md). So the columns of large runs are left out of the copy, and a
 * sample of their rows, taken before, takes their place there.
 *
 * To everybody in the copy it is as if the components of all other entities of these runs had been removed: they live,
 * the world does not have them, systems that were told of them are told that they no longer match. Runs that have a
 * component with storage of its own are left whole, since its manager would have to be told row by row; small ones as
 * well.
 *
 * What it does not do: it copies no process (reload/process.h), and memory of plugins is always in the copy.
 */
#ifndef HOST_STORE_SAMPLE_H
#define HOST_STORE_SAMPLE_H

#include "world.h"

typedef struct world_sample_t {
    world_t *world;
    run_sample_t run;
} world_sample_t;

typedef struct sample_t {
    memory_t *memory;
    world_sample_t *runs;
    uint32_t count, capacity;
} sample_t;

/* Before the process is copied. What cannot be left out is copied with it: this cannot fail. Rows must not move until
 * the sample is given back. [main] */
void sample_take(sample_t *sample, memory_t *memory, world_t *const *worlds, uint32_t world_count);

/* In this process, as soon as the copy has been made. [main] */
void sample_give_back(sample_t *sample);

/* In the copy, before anything else looks at a world. */
void sample_enter(const sample_t *sample);

#endif
