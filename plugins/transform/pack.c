/* pack.c - families together in memory, parents before children.
 *
 * Packed, a family lies in preorder from the first slot on, one tree after the other, and instances without relatives
 * lie behind all families, where instances come and go without moving families. Then a subtree is a range, and the
 * matrices that a walk needs next are those that the processor has already fetched.
 *
 * Links that change leave all slots where they are. The cost of that is counted: a walk along links counts its jumps
 * in memory. When jumps amount to half the children families are packed, which is one pass over the slots that change
 * their place. A hierarchy that was built in order, or that changes here and there, is hardly ever packed anew; a
 * hierarchy that was built in shuffled order is packed after its first walk.
 *
 * When slots change the world is told, but holders of copies of slots are not. So packing happens only where the
 * contract says that slots may change (transform.h).
 */
#include "transforms.h"

enum { FEWEST_JUMPS = 64, SLOTS_A_JUMP = 16 };

bool transforms_are_scattered(const transforms_t *t)
{
    return !t->packed && t->linked && t->jumps >= FEWEST_JUMPS && t->jumps >= t->children / 2 &&
           t->jumps >= t->slots.count / SLOTS_A_JUMP;
}

/* Plan the places when all is packed: order[new slot] = old slot. Returns the number of instances with relatives. */
static uint32_t plan(const transforms_t *t, uint32_t *order)
{
    uint32_t count = t->slots.count, families = 0, free_slot;
    const uint32_t *parent = links_of(t, PARENT), *first = links_of(t, FIRST_CHILD);
    for (uint32_t root = 0; root < count; root++) {
        if (parent[root] != BP_NONE || first[root] == BP_NONE)
            continue;
        for (uint32_t slot = root; slot != BP_NONE; slot = transforms_next(t, root, slot))
            order[families++] = slot;
    }
    /* Instances without relatives stay where they are, if that is behind the families; the others take the places that
     * become free there. */
    free_slot = families;
    for (uint32_t slot = 0; slot < count; slot++) {
        if (has_relatives(t, slot))
            continue;
        if (slot >= families) {
            order[slot] = slot;
            continue;
        }
        while (!has_relatives(t, free_slot))
            free_slot++;
        order[free_slot++] = slot;
    }
    return families;
}

/* Replace the numbers of old slots in links by those of new ones. */
static void rename_links(transforms_t *t, const uint32_t *order, uint32_t *place)
{
    uint32_t count = t->slots.count;
    for (uint32_t slot = 0; slot < count; slot++)
        place[order[slot]] = slot;
    for (uint32_t column = PARENT; column <= PREVIOUS; column++) {
        uint32_t *link = links_of(t, column);
        for (uint32_t slot = 0; slot < count; slot++)
            link[slot] = link[slot] == BP_NONE ? BP_NONE : place[link[slot]];
    }
}

static void count_subtrees(transforms_t *t)
{
    const uint32_t *parent = links_of(t, PARENT);
    uint32_t *size = links_of(t, SIZE);
    for (uint32_t slot = 0; slot < t->slots.count; slot++)
        size[slot] = 1;
    for (uint32_t slot = t->families; slot-- > 0;) {
        if (parent[slot] != BP_NONE)
            size[parent[slot]] += size[slot];
    }
}

static bp_result_t pack_by(bp_manager_t *m, uint32_t *order, uint32_t *place)
{
    transforms_t *t = transforms_of(m);
    uint32_t families = plan(t, order), first = 0, end = t->slots.count;
    while (first < end && order[first] == first)
        first++;
    while (end > first && order[end - 1] == end - 1)
        end--;
    rename_links(t, order, place);
    bp_result_t result = bp_slots_arrange(m, &t->slots, order, first, end);
    if (result != BP_OK) {
        rename_links(t, place, order); /* from new slots back to old ones: the links are as before */
        return result;
    }
    t->families = families;
    count_subtrees(t);
    t->packed = true;
    t->jumps = 0;
    return BP_OK;
}

bp_result_t transforms_pack(bp_manager_t *m)
{
    transforms_t *t = transforms_of(m);
    if (!t->linked || t->packed)
        return BP_OK;
    size_t size = (size_t)t->slots.count * 2 * sizeof(uint32_t);
    if (size == 0)
        return BP_OK;
    uint32_t *order = m->api->memory->resize(m->plugin, NULL, 0, size);
    if (order == NULL)
        return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory for another order");
    bp_result_t result = pack_by(m, order, order + t->slots.count);
    m->api->memory->resize(m->plugin, order, size, 0);
    return result;
}
