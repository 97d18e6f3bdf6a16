/* transforms.h - what the files of the plugin share: the instances of one world, and the parts of the work.
 *
 *   transform.c  verbs, properties and table
 *   local.c      local poses: instances made with one, set, read
 *   parents.c    links as plugins and users make and read them: by property, by the table
 *   family.c parents and children: linking, unlinking, cycles, the relatives of instances that end or move
 *   settle.c     world matrices: of one, of a subtree, of everything below a batch
 *   pack.c       families together in memory, parents before children
 *   save.c       all instances in one block, for a reload
 *   pose.c       arithmetic
 *
 * Invariants
 *   - the world matrix of a root is its local matrix, that of a child the product of its parent's world matrix and
 *     its local one, from the same operations wherever it is computed; only a matrix that was kept (a link that keeps
 *     the world pose, the child of a dead parent) is within rounding of that;
 *   - the columns of links exist from the first link on; until then `linked` is false;
 *   - siblings are a list by next and previous; the first one's previous is the last one, the last one's next BP_NONE;
 *   - while `packed`: slots below `families` are those that have relatives, each tree in preorder and without gaps, so
 *     that a subtree is the `size[slot]` slots from `slot` on; all others have no relatives;
 *   - marks are 0 between calls.
 */
#ifndef TRANSFORM_TRANSFORMS_H
#define TRANSFORM_TRANSFORMS_H

#include "pose.h"

#include <helpers/bp_slots.h>
#include <components/transform.h>

/* Columns. From PARENT on they exist only in worlds with links. */
enum {
    WORLD = BP_SLOTS_FIRST, /* bp_mat4_t */
    POSE,                   /* pose_t, the local one */
    PARENT,                 /* uint32_t, as the next four; BP_NONE: none */
    FIRST_CHILD,
    NEXT,
    PREVIOUS,
    SIZE,                   /* of the subtree, itself counted; right while packed */
    MARK,                   /* uint8_t */
    COLUMNS_END
};

/* Marks. */
enum { CHANGED = 1, SEEN = 2, BELOW = 4 };

typedef struct transforms_t {
    bp_slots_t slots;
    bool linked, packed;
    uint32_t families; /* see above */
    uint32_t children; /* instances with a parent */
    uint64_t jumps;    /* jumps that walks along links have made since the last packing */
    bp_entity_t *orphans;  /* children of the dead that are to die too */
    uint32_t orphan_count, orphan_room;
    bp_manager_t *manager; /* the manager of the instances, while a verb is at work that may change some */
} transforms_t;

/* The instances of a manager, for a verb that may change some. */
static inline transforms_t *transforms_of(bp_manager_t *m)
{
    transforms_t *t = m->state;
    t->manager = m;
    return t;
}

/* World matrices of these slots have changed: tell all that have asked for changes (bp_changes.h). */
static inline void transforms_changed(const transforms_t *t, const uint32_t *slots, uint32_t count)
{
    if (t->manager->watched != 0)
        t->manager->api->world->instances_changed(t->manager, slots, count);
}

static inline uint32_t *links_of(const transforms_t *t, uint32_t column)
{
    return BP_SLOTS(uint32_t, &t->slots, column);
}

static inline bp_mat4_t *worlds_of(const transforms_t *t)
{
    return BP_SLOTS(bp_mat4_t, &t->slots, WORLD);
}

static inline pose_t *poses_of(const transforms_t *t)
{
    return BP_SLOTS(pose_t, &t->slots, POSE);
}

/* Has the slot a parent or children? */
static inline bool has_relatives(const transforms_t *t, uint32_t slot)
{
    return t->linked &&
           (links_of(t, PARENT)[slot] != BP_NONE || links_of(t, FIRST_CHILD)[slot] != BP_NONE);
}

/* The form of the whole state, for reloads: raise the number when a column, or a member, changes its meaning and not
 * its size. */
typedef struct transforms_form_t {
    transforms_t transforms;
    pose_t pose;
    uint64_t columns[COLUMNS_END];
} transforms_form_t;

#define TRANSFORMS_FORM BP_STATE_FORM(transforms_form_t, 2)

/* --- local.c --- */

/* Room for `more` instances beside those there are. */
bp_result_t transforms_reserve(bp_manager_t *m, bp_name_t instance, uint32_t more);

/* `create`. */
bp_result_t transforms_create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                              const void *const *columns, uint32_t *slots);

/* `set` for position, rotation and scale. */
bp_result_t transforms_set_part(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                                const void *values, size_t stride);

/* As bp_transform_api.set_local and local. */
bp_result_t transforms_set_local(bp_manager_t *m, const uint32_t *slots, uint32_t count, const bp_vec3_t *positions,
                                 const bp_quat_t *rotations, const bp_vec3_t *scales);
void transforms_local(bp_manager_t *m, const uint32_t *slots, uint32_t count, bp_vec3_t *positions,
                      bp_quat_t *rotations, bp_vec3_t *scales);

/* --- parents.c --- */

/* `set` for the property `parent`, and the parent of one instance. */
bp_result_t transforms_set_parents(bp_manager_t *m, const uint32_t *slots, uint32_t count, const void *values,
                                   size_t stride);
bp_entity_t transforms_parent(const transforms_t *t, uint32_t slot);

/* As bp_transform_api.link, unlink, relatives and subtree. */
bp_result_t transforms_link_all(bp_manager_t *m, const uint32_t *slots, const uint32_t *parents, uint32_t count,
                                uint32_t flags);
bp_result_t transforms_unlink_all(bp_manager_t *m, const uint32_t *slots, uint32_t count, uint32_t flags);
void transforms_relatives(bp_manager_t *m, const uint32_t *slots, uint32_t count, uint32_t *parents,
                          uint32_t *first_children, uint32_t *next_siblings, uint32_t *previous_siblings);
uint32_t transforms_subtree(bp_manager_t *m, uint32_t slot, uint32_t *slots, uint32_t capacity);

/* --- save.c --- */

/* The verbs save and load. */
bp_result_t transforms_save(bp_manager_t *m, void **data, size_t *size);
bp_result_t transforms_load(bp_manager_t *m, uint32_t version, const void *data, size_t size);

/* --- settle.c --- */

/* Compute the world matrix of one instance. */
void transforms_place(transforms_t *t, uint32_t slot);

/* After the local pose of an instance, or its parent, has changed: compute its world matrix and everything below it. */
void transforms_settle_one(transforms_t *t, uint32_t slot);

/* After local poses or parents of many instances have changed: compute their world matrices and everything below,
 * parents first, each once. */
void transforms_settle(transforms_t *t, const uint32_t *slots, uint32_t count);

/* Settle as transforms_settle does for slots that are marked as CHANGED, all between `first` and `last`; takes the
 * marks away. Only while packed. */
void transforms_settle_marked(transforms_t *t, uint32_t first, uint32_t last);

/* --- family.c --- */

/* The links of instances just appended: none. */
void transforms_begin_links(transforms_t *t, uint32_t first, uint32_t count);

/* As bp_transform_api.link, but for world matrices: where a link does not keep the world pose, they are still to be
 * settled. */
bp_result_t transforms_link(bp_manager_t *m, const uint32_t *slots, const uint32_t *parents, uint32_t count,
                            uint32_t flags);

/* Mend the links of relatives when an instance ends, and when one moves by swap-erase (bp_slots_hooks_t). */
void transforms_leave_family(bp_manager_t *m, uint32_t slot);
void transforms_mend_links(bp_manager_t *m, uint32_t from, uint32_t to);

/* The next slot in preorder in the subtree of `top`; BP_NONE at its end. */
static inline uint32_t transforms_next(const transforms_t *t, uint32_t top, uint32_t slot)
{
    const uint32_t *parent = links_of(t, PARENT), *next = links_of(t, NEXT);
    uint32_t child = links_of(t, FIRST_CHILD)[slot];
    if (child != BP_NONE)
        return child;
    while (slot != top && next[slot] == BP_NONE)
        slot = parent[slot];
    return slot == top ? BP_NONE : next[slot];
}

/* --- pack.c --- */

/* Put families in order. BP_ERROR_MEMORY: all is as it was. */
bp_result_t transforms_pack(bp_manager_t *m);

/* Would packing pay? */
bool transforms_are_scattered(const transforms_t *t);

#endif
