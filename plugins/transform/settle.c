/* settle.c - world matrices: computed at once, parents before children, each once.
 *
 * There are two ways through a family. Where families are packed a subtree is a range of slots in preorder, and one
 * loop forwards over it does: a parent's matrix is ready when its children come. Where links have changed since the
 * last packing, the links are followed, first child, next sibling and up again; no stack is needed however deep it
 * goes. Such walks count how often they jump in memory: from that the need to pack is known (pack.c).
 *
 * A batch marks what has changed. Packed: marks are looked for in order of slots, and each range found is computed
 * and stepped over, so that what lies within is computed once. Otherwise: each of the batch climbs until it meets
 * another one of the batch, a slot whose climb has been made before, or a root; only those that have nobody of the
 * batch above them are walked down from. Every slot is climbed over at most once.
 */
#include "transforms.h"

void transforms_stamp(transforms_t *t, uint32_t first, uint32_t end)
{
    t->revision++;
    if (first >= end)
        return;
    for (uint32_t block = first / BP_TRANSFORM_BLOCK; block <= (end - 1) / BP_TRANSFORM_BLOCK; block++)
        t->stamps[block] = t->revision;
}

/* Within a walk, which has one revision. */
static inline void stamp_slot(transforms_t *t, uint32_t slot)
{
    t->stamps[slot / BP_TRANSFORM_BLOCK] = t->revision;
}

/* --- one -------------------------------------------------------------------------------------- */

static inline void local_matrix(const transforms_t *t, uint32_t slot, float *m)
{
    pose_matrix(BP_SLOTS(const bp_vec3_t, &t->slots, POSITION)[slot],
                BP_SLOTS(const bp_quat_t, &t->slots, ROTATION)[slot],
                BP_SLOTS(const bp_vec3_t, &t->slots, SCALE)[slot], m);
}

static inline void place_child(transforms_t *t, uint32_t slot, uint32_t parent)
{
    float local[16];
    local_matrix(t, slot, local);
    pose_multiply(worlds_of(t)[parent].m, local, worlds_of(t)[slot].m);
}

void transforms_place(transforms_t *t, uint32_t slot)
{
    uint32_t parent = t->linked ? links_of(t, PARENT)[slot] : BP_NONE;
    if (parent == BP_NONE)
        local_matrix(t, slot, worlds_of(t)[slot].m);
    else
        place_child(t, slot, parent);
}

/* --- a subtree -------------------------------------------------------------------------------- */

/* A range in preorder, the slots of whose parents come before them. */
static void place_range(transforms_t *t, uint32_t first, uint32_t end)
{
    const bp_vec3_t *position = BP_SLOTS(const bp_vec3_t, &t->slots, POSITION);
    const bp_quat_t *rotation = BP_SLOTS(const bp_quat_t, &t->slots, ROTATION);
    const bp_vec3_t *scale = BP_SLOTS(const bp_vec3_t, &t->slots, SCALE);
    const uint32_t *parent = links_of(t, PARENT);
    bp_mat4_t *world = worlds_of(t);
    for (uint32_t i = first; i < end; i++) {
        float local[16];
        pose_matrix(position[i], rotation[i], scale[i], local);
        pose_multiply(world[parent[i]].m, local, world[i].m);
    }
    for (uint32_t block = first / BP_TRANSFORM_BLOCK; block <= (end - 1) / BP_TRANSFORM_BLOCK; block++)
        t->stamps[block] = t->revision;
}

/* Everything below one whose own matrix is right. */
static void follow(transforms_t *t, uint32_t top)
{
    uint32_t previous = top;
    for (uint32_t slot = transforms_next(t, top, top); slot != BP_NONE; slot = transforms_next(t, top, slot)) {
        t->jumps += slot != previous + 1;
        previous = slot;
        place_child(t, slot, links_of(t, PARENT)[slot]);
        stamp_slot(t, slot);
    }
}

static void place_tree(transforms_t *t, uint32_t top)
{
    transforms_place(t, top);
    stamp_slot(t, top);
    if (!t->linked || links_of(t, FIRST_CHILD)[top] == BP_NONE)
        return;
    if (t->packed)
        place_range(t, top + 1, top + links_of(t, SIZE)[top]);
    else
        follow(t, top);
}

void transforms_settle_one(transforms_t *t, uint32_t slot)
{
    bp_mat4_t before = worlds_of(t)[slot];
    transforms_place(t, slot);
    if (memcmp(&before, &worlds_of(t)[slot], sizeof before) == 0)
        return;
    t->revision++;
    place_tree(t, slot);
}

/* --- a batch ---------------------------------------------------------------------------------- */

void transforms_settle_marked(transforms_t *t, uint32_t first, uint32_t last)
{
    uint8_t *mark = BP_SLOTS(uint8_t, &t->slots, MARK);
    t->revision++;
    while (first <= last) {
        uint8_t *found = memchr(mark + first, CHANGED, (size_t)last - first + 1);
        if (found == NULL)
            return;
        uint32_t slot = (uint32_t)(found - mark), end = slot + links_of(t, SIZE)[slot];
        place_tree(t, slot);
        memset(found, 0, end <= last ? end - slot : last - slot + 1);
        first = end;
    }
}

/* Has it somebody of the batch above it? What is climbed over is marked, with the answer. */
static bool is_below_changed(const transforms_t *t, uint32_t slot)
{
    uint8_t *mark = BP_SLOTS(uint8_t, &t->slots, MARK);
    const uint32_t *parent = links_of(t, PARENT);
    uint32_t at = parent[slot];
    while (at != BP_NONE && (mark[at] & (CHANGED | SEEN)) == 0)
        at = parent[at];
    bool below = at != BP_NONE && (mark[at] & (CHANGED | BELOW)) != 0;
    for (uint32_t i = parent[slot]; i != at; i = parent[i])
        mark[i] = below ? SEEN | BELOW : SEEN;
    return below;
}

static void forget_climb(const transforms_t *t, uint32_t slot)
{
    uint8_t *mark = BP_SLOTS(uint8_t, &t->slots, MARK);
    const uint32_t *parent = links_of(t, PARENT);
    for (mark[slot] = 0, slot = parent[slot]; slot != BP_NONE && (mark[slot] & SEEN) != 0; slot = parent[slot])
        mark[slot] = 0;
}

static void settle_scattered(transforms_t *t, const uint32_t *slots, uint32_t count)
{
    uint8_t *mark = BP_SLOTS(uint8_t, &t->slots, MARK);
    for (uint32_t i = 0; i < count; i++) {
        /* A second mention is above itself, in a manner of speaking; SEEN keeps it from being walked again. */
        if ((mark[slots[i]] & SEEN) == 0 && !is_below_changed(t, slots[i]))
            place_tree(t, slots[i]);
        mark[slots[i]] |= SEEN;
    }
    for (uint32_t i = 0; i < count; i++)
        forget_climb(t, slots[i]);
}

void transforms_settle(transforms_t *t, const uint32_t *slots, uint32_t count)
{
    uint8_t *mark = BP_SLOTS(uint8_t, &t->slots, MARK);
    uint32_t first = BP_NONE, last = 0;
    t->revision++;
    for (uint32_t i = 0; i < count; i++) {
        if (t->packed && slots[i] >= t->families) {
            transforms_place(t, slots[i]);
            stamp_slot(t, slots[i]);
            continue;
        }
        mark[slots[i]] = CHANGED;
        first = slots[i] < first ? slots[i] : first;
        last = slots[i] > last ? slots[i] : last;
    }
    if (!t->packed)
        settle_scattered(t, slots, count);
    else if (first <= last)
        transforms_settle_marked(t, first, last);
}
