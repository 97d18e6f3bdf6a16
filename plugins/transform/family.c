/* family.c - parents and children: linking, unlinking, and mending the links of relatives when an instance ends.
 *
 * Linking one child asks whether the new parent lies below the child. Packed, that is a comparison; otherwise two
 * searches take turns, up from the parent and through what is below the child, and the shorter one answers, so
 * that neither a long chain that grows at its end nor a chain that grows at its root costs its length each time.
 *
 * A batch is linked on trial first: parents are written, and from each child a climb goes up to the root or until a
 * slot that an earlier climb has been at; meeting a slot of the same climb is a circle. Then everything is put back
 * and, where all was well, done in order, so that a slot that is named twice is linked twice.
 *
 * Keeping the world pose means to find the local pose that gives it. The matrix itself is left alone where the pose
 * found gives it but for rounding: so an entity that is unlinked keeps its exact place, and nothing below it needs
 * computing.
 */
#include "transforms.h"

/* --- lists of siblings ------------------------------------------------------------------------ */

static void attach(transforms_t *t, uint32_t child, uint32_t to)
{
    uint32_t *first = links_of(t, FIRST_CHILD), *next = links_of(t, NEXT), *previous = links_of(t, PREVIOUS);
    uint32_t eldest = first[to];
    links_of(t, PARENT)[child] = to;
    next[child] = BP_NONE;
    if (eldest == BP_NONE) {
        first[to] = previous[child] = child;
    } else {
        uint32_t last = previous[eldest];
        next[last] = child;
        previous[child] = last;
        previous[eldest] = child;
    }
    t->children++;
    t->packed = false;
}

static void detach(transforms_t *t, uint32_t child)
{
    uint32_t *first = links_of(t, FIRST_CHILD), *next = links_of(t, NEXT), *previous = links_of(t, PREVIOUS);
    uint32_t from = links_of(t, PARENT)[child];
    if (from == BP_NONE)
        return;
    uint32_t eldest = first[from];
    if (next[child] != BP_NONE)
        previous[next[child]] = previous[child];
    else
        previous[eldest] = previous[child];
    if (eldest == child)
        first[from] = next[child];
    else
        next[previous[child]] = next[child];
    links_of(t, PARENT)[child] = next[child] = previous[child] = BP_NONE;
    t->children--;
    t->packed = false;
}

void transforms_begin_links(transforms_t *t, uint32_t first, uint32_t count)
{
    for (uint32_t column = PARENT; column <= PREVIOUS && count > 0; column++)
        memset(links_of(t, column) + first, 0xff, count * sizeof(uint32_t));
    for (uint32_t i = first; i < first + count; i++)
        links_of(t, SIZE)[i] = 1;
    if (count > 0)
        memset(BP_SLOTS(uint8_t, &t->slots, MARK) + first, 0, count);
}

/* Add the columns for links, which come with the first link. */
static bp_result_t begin_linking(bp_manager_t *m, transforms_t *t)
{
    if (t->linked)
        return BP_OK;
    for (uint32_t column = PARENT; column <= MARK; column++) {
        uint32_t size = column == MARK ? sizeof(uint8_t) : sizeof(uint32_t);
        bp_result_t result = bp_slots_use(m, &t->slots, column, size);
        if (result != BP_OK)
            return result;
    }
    transforms_begin_links(t, 0, t->slots.count);
    t->linked = t->packed = true;
    t->families = 0;
    return BP_OK;
}

/* --- circles ---------------------------------------------------------------------------------- */

static bp_result_t refuse_circle(bp_manager_t *m, uint32_t child, uint32_t parent)
{
    const transforms_t *t = m->state;
    const bp_entity_t *entity = BP_SLOTS(const bp_entity_t, &t->slots, BP_SLOTS_ENTITY);
    char sentence[160], below[40], above[40];
    m->api->entity->format(m->host, entity[child], below, sizeof below);
    m->api->entity->format(m->host, entity[parent], above, sizeof above);
    if (child == parent)
        snprintf(sentence, sizeof sentence, "%s cannot be its own parent", below);
    else
        snprintf(sentence, sizeof sentence, "%s cannot be a child of %s, which would then be below itself", below,
                 above);
    return bp_slots_refuse(m, BP_ERROR_ARGUMENT, sentence);
}

/* Is `slot` in the subtree of `top`? */
static bool is_below(const transforms_t *t, uint32_t slot, uint32_t top)
{
    const uint32_t *parent = links_of(t, PARENT);
    if (t->packed)
        return slot >= top && slot - top < links_of(t, SIZE)[top];
    uint32_t up = slot, down = top;
    while (up != BP_NONE && down != BP_NONE) {
        if (up == top || down == slot)
            return true;
        up = parent[up];
        down = transforms_next(t, top, down);
    }
    return false;
}

/* Climb from `slot`; slots that were met before in this batch are known to lead to a root. True where the climb comes
 * round to itself. */
static bool comes_round(const transforms_t *t, uint32_t slot)
{
    uint8_t *mark = BP_SLOTS(uint8_t, &t->slots, MARK);
    const uint32_t *parent = links_of(t, PARENT);
    uint32_t at = slot;
    for (; at != BP_NONE && mark[at] == 0; at = parent[at])
        mark[at] = CHANGED;
    if (at != BP_NONE && mark[at] == CHANGED)
        return true;
    for (at = slot; at != BP_NONE && mark[at] == CHANGED; at = parent[at])
        mark[at] = SEEN;
    return false;
}

static void clear_climb(const transforms_t *t, uint32_t slot)
{
    uint8_t *mark = BP_SLOTS(uint8_t, &t->slots, MARK);
    for (; slot != BP_NONE && mark[slot] != 0; slot = links_of(t, PARENT)[slot])
        mark[slot] = 0;
}

/* The index of a link that would close a circle, or `count`. `old` has room for the parents as they are. */
static uint32_t find_circle(transforms_t *t, const uint32_t *slots, const uint32_t *parents, uint32_t count,
                            uint32_t *old)
{
    uint32_t *parent = links_of(t, PARENT), bad = 0, climbed;
    for (uint32_t i = 0; i < count; i++) {
        old[i] = parent[slots[i]];
        parent[slots[i]] = parents[i];
    }
    while (bad < count && !comes_round(t, slots[bad]))
        bad++;
    climbed = bad < count ? bad + 1 : count;
    for (uint32_t i = 0; i < climbed; i++)
        clear_climb(t, slots[i]);
    for (uint32_t i = count; i-- > 0;)
        parent[slots[i]] = old[i];
    return bad;
}

static bool are_roots(const uint32_t *parents, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (parents[i] != BP_NONE)
            return false;
    }
    return true;
}

static bp_result_t check_circles(bp_manager_t *m, const uint32_t *slots, const uint32_t *parents, uint32_t count)
{
    transforms_t *t = transforms_of(m);
    if (are_roots(parents, count))
        return BP_OK;
    if (count == 1)
        return is_below(t, parents[0], slots[0]) ? refuse_circle(m, slots[0], parents[0]) : BP_OK;
    size_t size = count * sizeof(uint32_t);
    uint32_t *old = m->api->memory->resize(m->plugin, NULL, 0, size);
    if (old == NULL)
        return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory for linking");
    uint32_t bad = find_circle(t, slots, parents, count, old);
    m->api->memory->resize(m->plugin, old, size, 0);
    return bad == count ? BP_OK : refuse_circle(m, slots[bad], parents[bad]);
}

/* --- keeping a pose --------------------------------------------------------------------------- */

/* Give an instance the local pose with which it stays where it is at present, below its present parent. */
static void find_pose(transforms_t *t, uint32_t slot)
{
    uint32_t parent = links_of(t, PARENT)[slot];
    float local[16];
    if (pose_relative(parent == BP_NONE ? NULL : worlds_of(t)[parent].m, worlds_of(t)[slot].m, local))
        poses_of(t)[slot] = pose_of_matrix(local);
}

/* Leave the matrix alone where the pose found gives it but for rounding. In the other cases the matrix has shear, which
 * no pose can give: the instance and everything below it are computed anew. */
static void keep_matrix(transforms_t *t, uint32_t slot)
{
    uint32_t parent = links_of(t, PARENT)[slot];
    bp_mat4_t kept = worlds_of(t)[slot], now;
    transforms_place(t, slot);
    now = worlds_of(t)[slot];
    worlds_of(t)[slot] = kept;
    if (!pose_is_near(kept.m, now.m, parent == BP_NONE ? kept.m : worlds_of(t)[parent].m))
        transforms_settle_one(t, slot);
}

static bp_result_t check_inverses(bp_manager_t *m, const uint32_t *parents, uint32_t count)
{
    const transforms_t *t = m->state;
    float local[16];
    for (uint32_t i = 0; i < count; i++) {
        if (parents[i] != BP_NONE && !pose_relative(worlds_of(t)[parents[i]].m, worlds_of(t)[parents[i]].m, local))
            return bp_slots_refuse(m, BP_ERROR_RANGE,
                                   "the world pose cannot be kept below a parent that is scaled to nothing");
    }
    return BP_OK;
}

/* --- linking ---------------------------------------------------------------------------------- */

bp_result_t transforms_link(bp_manager_t *m, const uint32_t *slots, const uint32_t *parents, uint32_t count,
                            uint32_t flags)
{
    transforms_t *t = transforms_of(m);
    bool keep = (flags & BP_TRANSFORM_KEEP_WORLD) != 0;
    if (count == 0 || (!t->linked && are_roots(parents, count)))
        return BP_OK;
    bp_result_t result = begin_linking(m, t);
    if (result == BP_OK)
        result = check_circles(m, slots, parents, count);
    if (result == BP_OK && keep)
        result = check_inverses(m, parents, count);
    if (result != BP_OK)
        return result;
    for (uint32_t i = 0; i < count; i++) {
        if (links_of(t, PARENT)[slots[i]] == parents[i])
            continue;
        detach(t, slots[i]);
        if (parents[i] != BP_NONE)
            attach(t, slots[i], parents[i]);
    }
    for (uint32_t i = 0; keep && i < count; i++)
        find_pose(t, slots[i]); /* all, before a matrix changes */
    for (uint32_t i = 0; keep && i < count; i++)
        keep_matrix(t, slots[i]);
    return BP_OK;
}

/* --- ends and moves --------------------------------------------------------------------------- */

void transforms_leave_family(bp_manager_t *m, uint32_t slot)
{
    transforms_t *t = transforms_of(m);
    if (!has_relatives(t, slot))
        return;
    const bp_entity_t *entity = BP_SLOTS(const bp_entity_t, &t->slots, BP_SLOTS_ENTITY);
    uint32_t child;
    while ((child = links_of(t, FIRST_CHILD)[slot]) != BP_NONE) {
        detach(t, child);
        /* A child that dies as well needs no pose: a long chain that dies at once is not computed again and again. */
        if (m->api->entity->alive(m->host, &entity[child], 1, NULL) != 1)
            continue;
        find_pose(t, child);
        keep_matrix(t, child);
    }
    detach(t, slot);
    t->packed = false;
}

void transforms_mend_links(bp_manager_t *m, uint32_t from, uint32_t to)
{
    transforms_t *t = transforms_of(m);
    if (!t->linked)
        return;
    uint32_t *parent = links_of(t, PARENT), *first = links_of(t, FIRST_CHILD);
    uint32_t *next = links_of(t, NEXT), *previous = links_of(t, PREVIOUS), above = parent[to];
    if (above != BP_NONE) {
        if (first[above] == from)
            first[above] = to;
        else
            next[previous[to]] = to;
        if (next[to] != BP_NONE)
            previous[next[to]] = to;
        else
            previous[first[above]] = to;
    }
    for (uint32_t child = first[to]; child != BP_NONE; child = next[child])
        parent[child] = to;
    if (above != BP_NONE || first[to] != BP_NONE)
        t->packed = false;
}
