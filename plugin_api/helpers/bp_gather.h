/* bp_gather.h - random reads asked for ahead: for systems that join declared components with a manager that has
 * storage of its own.
 *
 * Such a manager is seen as a column of slots, and what lies there is reached through the manager's own table
 * (plugin_api/components/). Slots follow no order, so that each read may wait for memory. Reads that are asked for
 * early wait together:
 *
 *     const uint32_t *slots = BP_TERM_COLUMN(match, const uint32_t, 1, 0);
 *     for (uint32_t i = 0; i < match->count; i++) {
 *         bp_gather_ahead(values, sizeof *values, slots, i, match->count);
 *         a[i] += values[slots[i]].x;
 *     }
 *
 * The call pays where the storage is larger than a core's cache, and where what is read decides what is read next;
 * where all lies in the cache the call costs about half a nanosecond a read (measured: docs/benchmarks.md).
 *
 * What this header does not do: it copies nothing and needs no linking.
 */
#ifndef BP_GATHER_H
#define BP_GATHER_H

#include "../bp_types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BP_GATHER_DISTANCE = 32 }; /* rows ahead */

#if defined(__GNUC__)
#define BP_PREFETCH(address) __builtin_prefetch(address)
#else
#define BP_PREFETCH(address) ((void)(address))
#endif

/* Ask for the value, `stride` bytes or fewer at base + slots[...] * stride, that row i + BP_GATHER_DISTANCE will read.
 * `i` is below `count`. [any] */
static inline void bp_gather_ahead(const void *base, size_t stride, const uint32_t *slots, uint32_t i, uint32_t count)
{
    uint32_t ahead = i + BP_GATHER_DISTANCE < count ? i + BP_GATHER_DISTANCE : count - 1;
    BP_PREFETCH((const char *)base + (size_t)slots[ahead] * stride);
}

#ifdef __cplusplus
}
#endif
#endif
