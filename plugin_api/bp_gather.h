/* bp_gather.h - random reads in blocks: for systems that join declared components with a manager that has storage of
 * its own.
 *
 * Such a manager is seen as a column of slots, and what lies there is reached through the manager's own table
 * (plugin_api/components/). Slots follow no order, so that each read may wait for memory. Reads that are asked for
 * ahead wait together:
 *
 *     const uint32_t *slots = BP_TERM_COLUMN(match, const uint32_t, 1, 0);
 *     for (uint32_t first = 0, n; first < match->count; first += n) {
 *         n = bp_gather(values, sizeof *values, slots, first, match->count);
 *         for (uint32_t i = first; i < first + n; i++)
 *             a[i] += values[slots[i]];
 *     }
 *
 * It pays where the storage is larger than a core's cache (measured: docs/benchmarks.md); where all lies there, it costs
 * about half a nanosecond a read.
 *
 * What this header does not do: it copies nothing and needs no linking.
 */
#ifndef BP_GATHER_H
#define BP_GATHER_H

#include "bp_types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BP_GATHER_BLOCK = 64 };

#if defined(__GNUC__)
#define BP_PREFETCH(address) __builtin_prefetch(address)
#else
#define BP_PREFETCH(address) ((void)(address))
#endif

/* Ask for values of `stride` bytes that lie at base + slots[i] * stride, for i from `first` on: for those of this block at
 * the first call (first 0), and for those of the next block at every call. Returns how many slots make up this block; 0
 * behind the last. [any] */
static inline uint32_t bp_gather(const void *base, size_t stride, const uint32_t *slots, uint32_t first, uint32_t count)
{
    uint32_t ahead = first == 0 ? 0 : first + BP_GATHER_BLOCK;
    uint32_t end = count - first > 2 * BP_GATHER_BLOCK ? first + 2 * BP_GATHER_BLOCK : count;
    for (uint32_t i = ahead; i < end; i++)
        BP_PREFETCH((const char *)base + (size_t)slots[i] * stride);
    return count - first < BP_GATHER_BLOCK ? count - first : (uint32_t)BP_GATHER_BLOCK;
}

#ifdef __cplusplus
}
#endif
#endif
