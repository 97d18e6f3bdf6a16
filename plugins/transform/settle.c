/* settle.c - world matrices: computed at once, parents before children, each once.
 *
 * There are two ways through a family. Where families are packed a subtree is a range of slots in preorder, and one
 * loop forwards over the range is enough: a parent's matrix is ready when its children come. Where links have changed
 * since the last packing, the links are followed, first child, next sibling and up again; no stack is needed however
 * deep it goes. Walks along links count how often they jump in memory: from that number the need to pack is known
 * (pack.c).
 *
 * A batch marks what has changed. Packed: marks are looked for in order of slots, and each range found is computed
 * and stepped over, so that the slots within are computed once. Otherwise: from each slot of the batch a climb goes up
 * until it meets another slot of the batch, a slot that an earlier climb has passed, or a root; only slots that have no
 * slot of the batch above them are walked down from. Every slot is climbed over at most once.
 */
#include "four.h"
#include "transforms.h"

#include <helpers/bp_widest.h>

BP_STATIC_ASSERT(offsetof(pose_t, scale) == offsetof(pose_t, rotation) + sizeof(bp_quat_t), "w comes before scale");

/* --- one -------------------------------------------------------------------------------------- */

static inline void place_child(transforms_t *t, uint32_t slot, uint32_t parent)
{
    float local[16];
    pose_matrix(&poses_of(t)[slot], local);
    pose_multiply(worlds_of(t)[parent].m, local, worlds_of(t)[slot].m);
}

void transforms_place(transforms_t *t, uint32_t slot)
{
    uint32_t parent = t->linked ? links_of(t, PARENT)[slot] : BP_NONE;
    if (parent == BP_NONE)
        pose_matrix(&poses_of(t)[slot], worlds_of(t)[slot].m);
    else
        place_child(t, slot, parent);
}

/* --- a subtree -------------------------------------------------------------------------------- */

enum {
    AT_A_TIME = 16,
    STEPS_A_JUMP = 64 /* a walk along links has a cost even where it never jumps */
};

/* The upper left parts of local matrices, element by element: m[3 * column + row][which one]. */
typedef struct block_t {
    float m[9][AT_A_TIME];
} block_t;

/* The same operations in the same order as in pose_matrix, for four at a time. */
static inline void make_four(const pose_t *pose, block_t *block, int at)
{
    four_t m[9];
    four_t q[4], s[4]; /* x y z w; and w with the three of scale, which follow it in a pose */
    four_turn_over(&pose[0].rotation, &pose[1].rotation, &pose[2].rotation, &pose[3].rotation, q);
    four_turn_over(&pose[0].rotation.w, &pose[1].rotation.w, &pose[2].rotation.w, &pose[3].rotation.w, s);
    four_t x2 = q[0] + q[0], y2 = q[1] + q[1], z2 = q[2] + q[2];
    four_t xx = x2 * q[0], yy = y2 * q[1], zz = z2 * q[2], xy = x2 * q[1], xz = x2 * q[2], yz = y2 * q[2];
    four_t wx = x2 * q[3], wy = y2 * q[3], wz = z2 * q[3];
    m[0] = (1 - yy - zz) * s[1];
    m[1] = (xy + wz) * s[1];
    m[2] = (xz - wy) * s[1];
    m[3] = (xy - wz) * s[2];
    m[4] = (1 - xx - zz) * s[2];
    m[5] = (yz + wx) * s[2];
    m[6] = (xz + wy) * s[3];
    m[7] = (yz - wx) * s[3];
    m[8] = (1 - xx - yy) * s[3];
    for (int i = 0; i < 9; i++)
        memcpy(&block->m[i][at], &m[i], sizeof m[i]);
}

/* The same operations in the same order as in pose_multiply. The operations are spelt out, since otherwise gcc pairs
 * columns to vectors of eight here, and puts the vectors together and takes them apart all the time. */
static inline void place_of_block(const block_t *b, int i, const bp_vec3_t *position, const float *restrict parent,
                                  float *restrict world)
{
    four_t x, y, z, origin;
    memcpy(&x, parent, sizeof x);
    memcpy(&y, parent + 4, sizeof y);
    memcpy(&z, parent + 8, sizeof z);
    memcpy(&origin, parent + 12, sizeof origin);
    for (int c = 0; c < 3; c++) {
        four_t column = x * b->m[3 * c][i] + y * b->m[3 * c + 1][i] + z * b->m[3 * c + 2][i];
        memcpy(world + 4 * c, &column, sizeof column);
    }
    origin = x * position->x + y * position->y + z * position->z + origin;
    memcpy(world + 12, &origin, sizeof origin);
}

/* Compute a range in preorder: a parent's slot comes before those of its children. */
BP_WIDEST_8
static void place_range(const pose_t *pose, const uint32_t *parent, bp_mat4_t *world, uint32_t first, uint32_t end)
{
    uint32_t slot = first;
    for (; end - slot >= AT_A_TIME; slot += AT_A_TIME) {
        block_t block;
        for (int i = 0; i < AT_A_TIME; i += 4)
            make_four(&pose[slot + (uint32_t)i], &block, i);
        for (int i = 0; i < AT_A_TIME; i++)
            place_of_block(&block, i, &pose[slot + (uint32_t)i].position, world[parent[slot + (uint32_t)i]].m,
                           world[slot + (uint32_t)i].m);
    }
    for (; slot < end; slot++) {
        float local[16];
        pose_matrix(&pose[slot], local);
        pose_multiply(world[parent[slot]].m, local, world[slot].m);
    }
}

/* Compute everything below a slot. Precondition: the slot's own matrix is right. */
static void follow(transforms_t *t, uint32_t top)
{
    uint32_t previous = top, walked = 0;
    for (uint32_t slot = transforms_next(t, top, top); slot != BP_NONE; slot = transforms_next(t, top, slot)) {
        t->jumps += slot != previous + 1;
        walked++;
        previous = slot;
        place_child(t, slot, links_of(t, PARENT)[slot]);
        transforms_changed(t, &slot, 1);
    }
    t->jumps += walked / STEPS_A_JUMP;
}

static void place_tree(transforms_t *t, uint32_t top)
{
    transforms_place(t, top);
    transforms_changed(t, &top, 1);
    if (!t->linked || links_of(t, FIRST_CHILD)[top] == BP_NONE)
        return;
    if (!t->packed) {
        follow(t, top);
        return;
    }
    uint32_t end = top + links_of(t, SIZE)[top];
    place_range(poses_of(t), links_of(t, PARENT), worlds_of(t), top + 1, end);
    if (t->manager->watched != 0)
        t->manager->api->world->instances_changed_range(t->manager, top, end - top);
}

void transforms_settle_one(transforms_t *t, uint32_t slot)
{
    bp_mat4_t before = worlds_of(t)[slot];
    transforms_place(t, slot);
    if (memcmp(&before, &worlds_of(t)[slot], sizeof before) == 0)
        return;
    place_tree(t, slot);
}

/* --- a batch ---------------------------------------------------------------------------------- */

void transforms_settle_marked(transforms_t *t, uint32_t first, uint32_t last)
{
    uint8_t *mark = BP_SLOTS(uint8_t, &t->slots, MARK);
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

/* Has the slot an ancestor in the batch? The slots that the climb passes are marked, with the answer. */
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
        /* SEEN keeps a slot that the batch names twice from being walked again. */
        if ((mark[slots[i]] & SEEN) == 0 && !is_below_changed(t, slots[i]))
            place_tree(t, slots[i]);
        mark[slots[i]] |= SEEN;
    }
    for (uint32_t i = 0; i < count; i++)
        forget_climb(t, slots[i]);
}

static void settle_many(transforms_t *t, const uint32_t *slots, uint32_t count)
{
    uint8_t *mark = BP_SLOTS(uint8_t, &t->slots, MARK);
    uint32_t first = BP_NONE, last = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (t->packed && slots[i] >= t->families) {
            transforms_place(t, slots[i]);
            transforms_changed(t, &slots[i], 1);
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

void transforms_settle(transforms_t *t, const uint32_t *slots, uint32_t count)
{
    if (count == 1)
        transforms_settle_one(t, slots[0]);
    else
        settle_many(t, slots, count);
}
