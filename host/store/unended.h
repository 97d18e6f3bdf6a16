/* unended.h - instances of storage of a manager's own that were to end while its plugin was set aside: `destroy` was
 * not called, or the guard has ended the call. The manager's state still has them, and no entity does.
 *
 * The slots of these instances belong to that state. The host has a version end these instances as soon as a sound one
 * has the state: the version before, brought back, or the next one. Until then `create` is refused, so none of these
 * slots stands for another instance, and there are at most as many as the state has instances.
 *
 * How far a call came that the guard has ended is not known. Slots are ended one after another in the order given
 * (bp_storage_i.destroy), so the manager's count says how many of them are left; a manager that collects its dead
 * counts these too, and its call is taken for made.
 *
 * Not here: rows that a component was not told of (hooks.h).
 */
#ifndef HOST_STORE_UNENDED_H
#define HOST_STORE_UNENDED_H

#include "../base/memory.h"

struct world_t;
struct manager_t;

typedef struct unended_t {
    uint32_t *slots;
    uint32_t count, capacity;
    uint32_t doubtful; /* the first ones: of the call that was ended */
    bool lost;         /* there was no memory for others */
} unended_t;

/* Keep slots that are not ended; `called`: by a call that was ended. Without memory for them the log says so. */
void unended_keep(unended_t *unended, struct world_t *world, const struct manager_t *manager, const uint32_t *slots,
                  uint32_t count, bool called);

/* End what a manager has kept, if its plugin is sound now. Between steps. [main] */
void unended_tell(struct world_t *world, struct manager_t *manager);

void unended_free(unended_t *unended, memory_t *memory);

#endif
