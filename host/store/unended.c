/* unended.c - slots of instances that are still to be ended (unended.h). */
#include "unended.h"

#include "store.h"

void unended_keep(unended_t *unended, world_t *world, const manager_t *manager, const uint32_t *slots, uint32_t count,
                  bool called)
{
    if (!memory_reserve(&world->memory, &unended->slots, &unended->capacity, (uint64_t)unended->count + count,
                        sizeof *slots)) {
        if (!unended->lost)
            log_write(&world->base->log, BP_LOG_ERROR, "host",
                      "world '%s': out of memory; component '%s' may keep instances that no entity has any more",
                      world->name, manager->component->name);
        unended->lost = true;
        return;
    }
    if (called && unended->count == 0) /* no other call comes after it */
        unended->doubtful = count;
    memcpy(unended->slots + unended->count, slots, count * sizeof *slots);
    unended->count += count;
}

static uint32_t count_living(const world_t *world, const manager_t *manager)
{
    const prototypes_t *p = &world->prototypes;
    uint32_t living = 0;
    for (uint32_t r = 0; r < world->run_count; r++) {
        const run_t *run = world->runs[r];
        for (uint32_t at = run->prototype; at != 0; at = p->items[at].base) {
            if (world_key_manager(world, p->items[at].key) == manager)
                living += run->count - run->holes;
        }
    }
    return living;
}

/* How many of the doubtful slots have been ended, the first ones. */
static uint32_t ended_already(const world_t *world, manager_t *manager, const unended_t *due)
{
    if (due->doubtful == 0 || manager->component->storage.gc != NULL)
        return due->doubtful;
    uint32_t count = verb_count(manager->component, &manager->verb), living = count_living(world, manager);
    uint32_t left = count > living ? count - living : 0;
    if (left >= due->count)
        return 0;
    return due->count - left < due->doubtful ? due->count - left : due->doubtful;
}

void unended_tell(world_t *world, manager_t *manager)
{
    unended_t due = manager->unended;
    if (due.count == 0 || !manager->started || plugin_is_aside(manager->component->owner))
        return;
    manager->unended = (unended_t){.slots = NULL};
    uint32_t done = ended_already(world, manager, &due);
    store_destroy_slots(world, manager, due.slots + done, due.count - done);
    unended_free(&due, &world->memory);
}

void unended_free(unended_t *unended, memory_t *memory)
{
    memory_free(memory, unended->slots, unended->capacity * sizeof *unended->slots);
    *unended = (unended_t){.slots = NULL};
}
