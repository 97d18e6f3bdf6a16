/* compare.h - comparing two snapshots: hashes, and the differences.
 *
 * A hash covers all state that later steps depend on, and no state that only depends on how the host came there: equal
 * hosts have equal hashes on any number of threads, with or without a history.
 *
 * Only snapshots are compared, and states of plugins only as bytes.
 *
 * Not here: living hosts, the meaning of states.
 */
#ifndef HOST_HISTORY_COMPARE_H
#define HOST_HISTORY_COMPARE_H

#include "snapshot.h"

/* The hash of one world, and of all of it. */
uint64_t snapshot_hash_world(const snapshot_t *snapshot, uint32_t world);
uint64_t snapshot_hash(const snapshot_t *snapshot);

/* Tell every difference; as bp_snapshot_diff of backplane.h. False when out of memory. [main] */
bool snapshot_diff(const base_t *base, const snapshot_t *a, const snapshot_t *b, const bp_diff_i *sink);

#endif
