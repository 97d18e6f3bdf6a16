/* save.c - all instances of a world in one block, for a reload between versions whose states are of different forms.
 *
 * Carried by properties instead, siblings would come out in another order, and matrices that no local pose gives (those
 * of children whose parent has died, see family.c) would be computed anew. Here every instance keeps its slot, its
 * matrix bit for bit, and its place among its siblings.
 *
 * The block is a head and the columns behind it, each with one item a slot. Its form is that of version 1 of the
 * component, whatever becomes of the state: who changes pose_t, or what a column means, raises the component's version
 * and goes on reading this one.
 */
#include "transforms.h"

/* The columns that are saved, and the size of their items. */
static const struct {
    uint32_t column, size;
} saved[] = {
    {BP_SLOTS_ENTITY, 8}, {BP_SLOTS_NAME, 8}, {WORLD, 64},   {POSE, 40}, {PARENT, 4},
    {FIRST_CHILD, 4},     {NEXT, 4},          {PREVIOUS, 4}, {SIZE, 4},
};

enum { SAVED = sizeof saved / sizeof *saved };

BP_STATIC_ASSERT(sizeof(pose_t) == 40, "version 1 of what is saved has poses of 40 bytes");

typedef struct head_t {
    uint32_t count;    /* of slots */
    uint32_t columns;  /* bit i: saved[i] follows */
    uint32_t linked, packed, families, children;
    uint64_t unused;
    bp_name_t name;    /* of all instances, where the column of names is not saved */
} head_t;

static size_t size_of(const head_t *head)
{
    size_t size = sizeof *head;
    for (uint32_t i = 0; i < SAVED; i++)
        size += (head->columns >> i & 1) != 0 ? (size_t)head->count * saved[i].size : 0;
    return size;
}

bp_result_t transforms_save(bp_manager_t *m, void **data, size_t *size)
{
    const transforms_t *t = m->state;
    head_t head = {.count = t->slots.count,
                   .linked = t->linked,
                   .packed = t->packed,
                   .families = t->families,
                   .children = t->children,
                   .name = t->slots.name};
    for (uint32_t i = 0; i < SAVED; i++)
        head.columns |= (uint32_t)(t->slots.columns[saved[i].column].item_size != 0) << i;
    *size = size_of(&head);
    char *at = m->api->memory->resize(m->plugin, NULL, 0, *size);
    if (at == NULL)
        return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory for saving the instances");
    *data = at;
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    for (uint32_t i = 0; i < SAVED && head.count > 0; i++) {
        size_t bytes = (head.columns >> i & 1) != 0 ? (size_t)head.count * saved[i].size : 0;
        if (bytes > 0)
            memcpy(at, t->slots.columns[saved[i].column].data, bytes);
        at += bytes;
    }
    return BP_OK;
}

/* Room for what is to come, with every column in use that comes. */
static bp_result_t make_room(bp_manager_t *m, const head_t *head)
{
    transforms_t *t = transforms_of(m);
    bp_result_t result = transforms_reserve(m, head->name, head->count);
    for (uint32_t i = 0; i < SAVED && result == BP_OK; i++) {
        if ((head->columns >> i & 1) != 0)
            result = bp_slots_use(m, &t->slots, saved[i].column, saved[i].size);
    }
    return result == BP_OK && head->linked ? bp_slots_use(m, &t->slots, MARK, sizeof(uint8_t)) : result;
}

bp_result_t transforms_load(bp_manager_t *m, uint32_t version, const void *data, size_t size)
{
    transforms_t *t = transforms_of(m);
    head_t head;
    if (version == 1 && size >= sizeof head)
        memcpy(&head, data, sizeof head);
    if (version != 1 || size < sizeof head || size != size_of(&head))
        return bp_slots_refuse(m, BP_ERROR_FAILED,
                               "what the other version has saved is not of version 1, which this one reads");
    bp_result_t result = make_room(m, &head);
    if (result != BP_OK)
        return result;
    const char *at = (const char *)data + sizeof head;
    for (uint32_t i = 0; i < SAVED && head.count > 0; i++) {
        size_t bytes = (head.columns >> i & 1) != 0 ? (size_t)head.count * saved[i].size : 0;
        if (bytes > 0)
            memcpy(t->slots.columns[saved[i].column].data, at, bytes);
        at += bytes;
    }
    if (head.linked && head.count > 0)
        memset(BP_SLOTS(uint8_t, &t->slots, MARK), 0, head.count);
    t->slots.count = head.count;
    t->linked = head.linked != 0;
    t->packed = head.packed != 0;
    t->families = head.families;
    t->children = head.children;
    return BP_OK;
}
