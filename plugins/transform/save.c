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
static const uint32_t links = BIT(PARENT) | BIT(FIRST_CHILD) | BIT(NEXT) | BIT(PREVIOUS) | BIT(SIZE);
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

/* Are all links slots, and as many of them parents as there are said to be children? */
static bool links_are_slots(const transforms_t *t, uint32_t children)
{
    for (uint32_t column = PARENT; column <= PREVIOUS; column++) {
        for (uint32_t slot = 0; slot < t->slots.count; slot++) {
            uint32_t link = links_of(t, column)[slot];
            if (link != BP_NONE && link >= t->slots.count)
                return false;
            children -= column == PARENT && link != BP_NONE;
        }
    }
    return children == 0;
}

/* Do the links of a slot say the same as those of its relatives? */
static bool links_agree(const transforms_t *t, uint32_t slot)
{
    const uint32_t *parent = links_of(t, PARENT), *first = links_of(t, FIRST_CHILD);
    const uint32_t *next = links_of(t, NEXT), *previous = links_of(t, PREVIOUS);
    if (first[slot] != BP_NONE && parent[first[slot]] != slot)
        return false;
    if (parent[slot] == BP_NONE)
        return next[slot] == BP_NONE && previous[slot] == BP_NONE;
    uint32_t eldest = first[parent[slot]], before = previous[slot];
    if (eldest == BP_NONE || before == BP_NONE || next[before] != (slot == eldest ? BP_NONE : slot))
        return false;
    if (next[slot] == BP_NONE)
        return previous[eldest] == slot;
    return parent[next[slot]] == parent[slot] && previous[next[slot]] == slot;
}

/* Is the size of the subtree right, if those of the children are? */
static bool size_holds(const transforms_t *t, uint32_t slot)
{
    uint64_t size = 1;
    for (uint32_t child = links_of(t, FIRST_CHILD)[slot]; child != BP_NONE; child = links_of(t, NEXT)[child])
        size += links_of(t, SIZE)[child];
    return size == links_of(t, SIZE)[slot];
}

/* Are the links those of trees, in order where they are said to be packed? Every walk relies on it. Where all links
 * agree, a walk from a root meets each slot once, and what no such walk meets lies in a circle. */
static bool families_hold(const transforms_t *t, const head_t *head)
{
    uint32_t count = t->slots.count, met = 0, families = 0;
    bool packed = head->packed != 0, hold = links_are_slots(t, head->children);
    for (uint32_t slot = 0; slot < count && hold; slot++)
        hold = links_agree(t, slot);
    for (uint32_t slot = 0; slot < count && hold && packed; slot++)
        hold = size_holds(t, slot);
    for (uint32_t root = 0; root < count && hold; root++) {
        if (links_of(t, PARENT)[root] != BP_NONE)
            continue;
        bool alone = links_of(t, FIRST_CHILD)[root] == BP_NONE;
        for (uint32_t slot = root; slot != BP_NONE; slot = transforms_next(t, root, slot)) {
            hold = hold && (alone || !packed || slot == families);
            families += !alone;
            met++;
        }
    }
    return hold && met == count && (!packed || families == head->families);
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
    if (head.linked && (~slots.columns & links) != 0)
        return bp_slots_refuse(m, BP_ERROR_FAILED, "what was saved of the instances is damaged: it lacks links");
    if (head.linked && !families_hold(t, &head))
        return bp_slots_refuse(m, BP_ERROR_FAILED,
                               "what was saved of the instances is damaged: their links are no trees");
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
