/* save.c - all instances of a world in one block, for a reload between versions with states of different forms.
 *
 * Carried by properties instead, siblings would come out in another order, and matrices that no local pose gives (those
 * of children of a dead parent, see family.c) would be computed anew. Here every instance keeps its slot, its matrix
 * bit for bit, and its place among its siblings.
 *
 * The block is a head and behind it the slots as bp_slots.h writes them, each column with one item a slot. The block's
 * form is that of version 2 of the component, even where the state has changed since: a change of pose_t, or of the
 * meaning of a column, needs a higher version of the component, and the code must go on reading this form. The block
 * has all state that later steps depend on, so the history keeps instances by this block too.
 */
#include "transforms.h"

enum { VERSION = 2 };

/* The columns that are saved, and the size of their items. */
#define BIT(column) (1u << (column))
static const uint32_t saved = BIT(BP_SLOTS_ENTITY) | BIT(BP_SLOTS_NAME) | BIT(WORLD) | BIT(POSE) | BIT(PARENT) |
                              BIT(FIRST_CHILD) | BIT(NEXT) | BIT(PREVIOUS) | BIT(SIZE);
static const uint32_t sizes[COLUMNS_END] = {[BP_SLOTS_ENTITY] = 8, [BP_SLOTS_NAME] = 8, [WORLD] = 64,   [POSE] = 40,
                                            [PARENT] = 4,          [FIRST_CHILD] = 4,   [NEXT] = 4,     [PREVIOUS] = 4,
                                            [SIZE] = 4,            [MARK] = 1};

BP_STATIC_ASSERT(sizeof(pose_t) == 40, "version 2 of what is saved has poses of 40 bytes");

typedef struct head_t {
    uint32_t linked, packed, families, children;
    uint64_t jumps;
} head_t;

bp_result_t transforms_save(bp_manager_t *m, void **data, size_t *size)
{
    const transforms_t *t = m->state;
    head_t head = {.linked = t->linked,
                   .packed = t->packed,
                   .families = t->families,
                   .children = t->children,
                   .jumps = t->jumps};
    *size = sizeof head + bp_slots_written(&t->slots, saved);
    char *at = m->api->memory->resize(m->plugin, NULL, 0, *size);
    if (at == NULL)
        return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory for saving the instances");
    *data = at;
    memcpy(at, &head, sizeof head);
    bp_slots_write(&t->slots, saved, at + sizeof head);
    return BP_OK;
}

bp_result_t transforms_load(bp_manager_t *m, uint32_t version, const void *data, size_t size)
{
    transforms_t *t = transforms_of(m);
    head_t head;
    bp_slots_saved_t slots;
    const char *at = data;
    if (version != VERSION || size < sizeof head + sizeof slots)
        return bp_slots_refuse(m, BP_ERROR_FAILED,
                               "what the other version has saved is not of version 2, which this one reads");
    memcpy(&head, at, sizeof head);
    memcpy(&slots, at + sizeof head, sizeof slots);
    bp_result_t result = transforms_reserve(m, slots.name, slots.count);
    if (result != BP_OK)
        return result;
    if (bp_slots_read(m, &t->slots, saved, sizes, at + sizeof head, at + size) == NULL)
        return BP_ERROR_FAILED;
    if (head.linked && bp_slots_use(m, &t->slots, MARK, sizeof(uint8_t)) != BP_OK)
        return BP_ERROR_MEMORY;
    if (head.linked && t->slots.count > 0)
        memset(BP_SLOTS(uint8_t, &t->slots, MARK), 0, t->slots.count);
    t->linked = head.linked != 0;
    t->packed = head.packed != 0;
    t->families = head.families;
    t->children = head.children;
    t->jumps = head.jumps;
    return BP_OK;
}
