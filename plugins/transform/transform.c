/* transform.c - where entities are: the component's verbs and properties, and the table.
 *
 * It stores its instances itself because a hierarchy wants an order of its own: families close together, parents
 * before children (transforms.h says how the parts share the work). A world in which nobody is linked pays for none
 * of that: it has the matrix, the local pose and the entity of each instance, and nothing else.
 *
 * It is told of deaths at once rather than collecting them: a parent's end changes the local poses of its children,
 * and that must not happen at a random later time.
 *
 * Local poses are written first, all of a batch, and settled afterwards; in a flat world at once, each with its
 * matrix.
 */
#include "transforms.h"

static const bp_field_t fields[] = {
    [BP_TRANSFORM_POSITION] = {.name = "position", .type = BP_VEC3, .unit = "m",
                               .doc = "where it is, as seen from its parent"},
    [BP_TRANSFORM_ROTATION] = {.name = "rotation", .type = BP_QUAT,
                               .doc = "how it is turned: x y z w, brought to length 1"},
    [BP_TRANSFORM_SCALE] = {.name = "scale", .type = BP_VEC3, .initial = "1 1 1",
                            .doc = "how large it is along its own axes"},
    [BP_TRANSFORM_WORLD] = {.name = "world", .type = BP_MAT4, .flags = BP_FIELD_READ_ONLY,
                            .doc = "its pose in the world as a matrix, column by column"},
    [BP_TRANSFORM_PARENT] = {.name = "parent", .type = BP_ENTITY, .flags = BP_FIELD_PARENT,
                             .doc = "the entity that it moves with; its local pose stays when this is set"},
};

enum { BLOCK = 256, FEW = 64, MANY_SHARE = 8 };

static const uint32_t item_sizes[COLUMNS_END - BP_SLOTS_FIRST] = {
    [WORLD - BP_SLOTS_FIRST] = sizeof(bp_mat4_t),
    [POSE - BP_SLOTS_FIRST] = sizeof(pose_t),
};

static const bp_slots_hooks_t hooks = {.ended = transforms_leave_family, .moved = transforms_mend_links};

/* --- begin, end, room ------------------------------------------------------------------------- */

static bp_result_t start(bp_manager_t *m)
{
    transforms_t *t = m->api->memory->resize(m->plugin, NULL, 0, sizeof *t);
    if (t == NULL)
        return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory at its start");
    memset(t, 0, sizeof *t);
    bp_slots_init(&t->slots, item_sizes, COLUMNS_END - BP_SLOTS_FIRST);
    m->state = t;
    return BP_OK;
}

static void stop(bp_manager_t *m)
{
    transforms_t *t = m->state;
    bp_slots_free(m, &t->slots);
    m->api->memory->resize(m->plugin, t->stamps, t->stamp_room * sizeof *t->stamps, 0);
    m->api->memory->resize(m->plugin, t, sizeof *t, 0);
    m->state = NULL;
}

static bp_result_t reserve(bp_manager_t *m, bp_name_t instance, uint32_t more)
{
    transforms_t *t = m->state;
    bp_result_t result = bp_slots_reserve(m, &t->slots, instance, more);
    uint32_t room = t->slots.capacity / BP_TRANSFORM_BLOCK + 1;
    if (result != BP_OK || room <= t->stamp_room)
        return result;
    uint64_t *stamps =
        m->api->memory->resize(m->plugin, t->stamps, t->stamp_room * sizeof *stamps, room * sizeof *stamps);
    if (stamps == NULL)
        return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory for more instances");
    memset(stamps + t->stamp_room, 0, (room - t->stamp_room) * sizeof *stamps);
    t->stamps = stamps;
    t->stamp_room = room;
    return BP_OK;
}

/* --- creation --------------------------------------------------------------------------------- */

static const pose_t no_pose = {.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};

static void place_new(transforms_t *t, uint32_t first, uint32_t count)
{
    if (t->linked)
        transforms_begin_links(t, first, count);
    transforms_stamp(t, first, first + count);
}

static bp_result_t create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                          uint32_t *slots)
{
    static const bp_mat4_t identity = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}};
    transforms_t *t = m->state;
    bp_result_t result = reserve(m, instance, count);
    if (result != BP_OK)
        return result;
    uint32_t first = bp_slots_append(&t->slots, instance, entities, count, slots);
    for (uint32_t slot = first; slot < first + count; slot++)
        poses_of(t)[slot] = no_pose;
    for (uint32_t slot = first; slot < first + count; slot++)
        worlds_of(t)[slot] = identity;
    place_new(t, first, count);
    return BP_OK;
}

static bp_result_t refuse_rotation(bp_manager_t *m)
{
    return bp_slots_refuse(m, BP_ERROR_RANGE,
                           "a rotation of length 0, or one that is not finite, says nothing; 'not turned' is 0 0 0 1");
}

static bool have_directions(const void *values, size_t stride, uint32_t count)
{
    bp_quat_t q;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&q, (const char *)values + i * stride, sizeof q);
        if (!pose_normalise(&q))
            return false;
    }
    return true;
}

/* Values for the parts of poses, `..._stride` bytes apart; NULL: that part stays. */
typedef struct parts_t {
    const char *positions, *rotations, *scales;
    size_t position_stride, rotation_stride, scale_stride;
    bool normal; /* all rotations have length 1 already */
} parts_t;

static parts_t packed_parts(const void *positions, const void *rotations, const void *scales)
{
    return (parts_t){.positions = positions,
                     .rotations = rotations,
                     .scales = scales,
                     .position_stride = sizeof(bp_vec3_t),
                     .rotation_stride = sizeof(bp_quat_t),
                     .scale_stride = sizeof(bp_vec3_t)};
}

/* Before anything is written: can every rotation be brought to length 1? */
static bp_result_t check_rotations(bp_manager_t *m, parts_t *parts, uint32_t count)
{
    if (parts->rotations == NULL)
        return BP_OK;
    parts->normal = pose_are_unit(parts->rotations, parts->rotation_stride, count);
    if (parts->normal || have_directions(parts->rotations, parts->rotation_stride, count))
        return BP_OK;
    return refuse_rotation(m);
}

static inline void write_pose(pose_t *pose, const parts_t *parts, uint32_t i)
{
    if (parts->positions != NULL)
        memcpy(&pose->position, parts->positions + i * parts->position_stride, sizeof pose->position);
    if (parts->scales != NULL)
        memcpy(&pose->scale, parts->scales + i * parts->scale_stride, sizeof pose->scale);
    if (parts->rotations == NULL)
        return;
    memcpy(&pose->rotation, parts->rotations + i * parts->rotation_stride, sizeof pose->rotation);
    if (!parts->normal)
        pose_normalise(&pose->rotation);
}

static bp_result_t create_with(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                               const void *const *columns, uint32_t *slots)
{
    transforms_t *t = m->state;
    parts_t parts = packed_parts(columns[BP_TRANSFORM_POSITION], columns[BP_TRANSFORM_ROTATION],
                                 columns[BP_TRANSFORM_SCALE]);
    bp_result_t result = check_rotations(m, &parts, count);
    if (result == BP_OK)
        result = reserve(m, instance, count);
    if (result != BP_OK)
        return result;
    uint32_t first = bp_slots_append(&t->slots, instance, entities, count, slots);
    for (uint32_t i = 0; i < count; i++) {
        pose_t pose = no_pose;
        write_pose(&pose, &parts, i);
        poses_of(t)[first + i] = pose;
        pose_matrix(&pose, worlds_of(t)[first + i].m);
    }
    place_new(t, first, count);
    return BP_OK;
}

static void destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    transforms_t *t = m->state;
    bp_slots_destroy(m, &t->slots, slots, count, &hooks);
}

/* --- local poses ------------------------------------------------------------------------------ */

static void settle(transforms_t *t, const uint32_t *slots, uint32_t count)
{
    if (count == 1)
        transforms_settle_one(t, slots[0]);
    else
        transforms_settle(t, slots, count);
}

/* In a world without links a pose is its matrix. */
static void set_flat(transforms_t *t, const uint32_t *slots, uint32_t count, const parts_t *parts)
{
    pose_t *pose = poses_of(t);
    bp_mat4_t *world = worlds_of(t);
    t->revision++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = slots[i];
        write_pose(&pose[slot], parts, i);
        pose_matrix(&pose[slot], world[slot].m);
        t->stamps[slot / BP_TRANSFORM_BLOCK] = t->revision;
    }
}

static void set_poses(transforms_t *t, const uint32_t *slots, uint32_t count, const parts_t *parts)
{
    pose_t *pose = poses_of(t);
    if (!t->linked && count > 1) {
        set_flat(t, slots, count, parts);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        write_pose(&pose[slots[i]], parts, i);
    settle(t, slots, count);
}

static bp_result_t set_part(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                            const void *values, size_t stride)
{
    transforms_t *t = m->state;
    parts_t parts = {.positions = field == BP_TRANSFORM_POSITION ? values : NULL,
                           .rotations = field == BP_TRANSFORM_ROTATION ? values : NULL,
                           .scales = field == BP_TRANSFORM_SCALE ? values : NULL,
                           .position_stride = stride,
                           .rotation_stride = stride,
                           .scale_stride = stride};
    bp_result_t result = check_rotations(m, &parts, count);
    if (result != BP_OK)
        return result;
    set_poses(t, slots, count, &parts);
    if (transforms_are_scattered(t))
        transforms_pack(m); /* where there is no memory for it, all stays right */
    return BP_OK;
}

static bp_result_t set_local(bp_manager_t *m, const uint32_t *slots, uint32_t count,
                             const bp_vec3_t *positions, const bp_quat_t *rotations, const bp_vec3_t *scales)
{
    parts_t parts = packed_parts(positions, rotations, scales);
    bp_result_t result = check_rotations(m, &parts, count);
    if (result == BP_OK)
        set_poses(m->state, slots, count, &parts);
    return result;
}

static void local(bp_manager_t *m, const uint32_t *slots, uint32_t count, bp_vec3_t *positions,
                  bp_quat_t *rotations, bp_vec3_t *scales)
{
    const transforms_t *t = m->state;
    for (uint32_t i = 0; i < count; i++) {
        const pose_t *pose = &poses_of(t)[slots[i]];
        if (positions != NULL)
            positions[i] = pose->position;
        if (rotations != NULL)
            rotations[i] = pose->rotation;
        if (scales != NULL)
            scales[i] = pose->scale;
    }
}

static const bp_mat4_t *world(bp_manager_t *m)
{
    const transforms_t *t = m->state;
    return t->slots.count == 0 ? NULL : worlds_of(t);
}

/* --- parents ---------------------------------------------------------------------------------- */

/* Compute what links have changed. Where a large part was linked, families are packed before. */
static void settle_linked(bp_manager_t *m, const uint32_t *slots, uint32_t count, bool may_move)
{
    transforms_t *t = m->state;
    if (!t->linked)
        return;
    if (!may_move || count < FEW || count < t->children / MANY_SHARE || t->packed) {
        settle(t, slots, count);
        return;
    }
    uint8_t *mark = BP_SLOTS(uint8_t, &t->slots, MARK);
    for (uint32_t i = 0; i < count; i++)
        mark[slots[i]] = CHANGED;
    if (transforms_pack(m) == BP_OK) { /* marks move along */
        transforms_settle_marked(t, 0, t->slots.count - 1);
        return;
    }
    settle(t, slots, count);
}

static bp_result_t refuse_parent(bp_manager_t *m, bp_entity_t entity)
{
    char sentence[160], text[40];
    bool alive = m->api->entity->alive(m->host, &entity, 1, NULL) == 1;
    m->api->entity->format(m->host, entity, text, sizeof text);
    if (alive)
        snprintf(sentence, sizeof sentence, "%s cannot be a parent: it has no transform in world '%.40s'; add one first",
                 text, m->api->world->name(m->world));
    else
        snprintf(sentence, sizeof sentence, "%s cannot be a parent: there is no such entity (any more)", text);
    return bp_slots_refuse(m, alive ? BP_ERROR_NOT_FOUND : BP_ERROR_DEAD, sentence);
}

/* The slots of parents given as entities, from values that lie `stride` apart. */
static bp_result_t find_parents(bp_manager_t *m, const void *values, size_t stride, uint32_t count,
                                uint32_t *parents)
{
    const transforms_t *t = m->state;
    bp_entity_t entities[BLOCK];
    for (uint32_t done = 0; done < count; done += BLOCK) {
        uint32_t n = count - done < BLOCK ? count - done : BLOCK;
        for (uint32_t i = 0; i < n; i++)
            memcpy(&entities[i], (const char *)values + (done + i) * stride, sizeof entities[i]);
        bp_slots_find(m, &t->slots, entities, n, parents + done);
        for (uint32_t i = 0; i < n; i++) {
            if (parents[done + i] == BP_NONE && entities[i].id != 0)
                return refuse_parent(m, entities[i]);
        }
    }
    return BP_OK;
}

static bp_result_t set_parents(bp_manager_t *m, const uint32_t *slots, uint32_t count, const void *values,
                               size_t stride)
{
    uint32_t few[FEW], *parents = few;
    size_t size = count * sizeof *parents;
    if (count > FEW)
        parents = m->api->memory->resize(m->plugin, NULL, 0, size);
    if (parents == NULL)
        return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory for linking");
    bp_result_t result = find_parents(m, values, stride, count, parents);
    if (result == BP_OK)
        result = transforms_link(m, slots, parents, count, 0);
    if (parents != few)
        m->api->memory->resize(m->plugin, parents, size, 0);
    if (result == BP_OK)
        settle_linked(m, slots, count, true);
    return result;
}

static bp_entity_t parent_of(const transforms_t *t, uint32_t slot)
{
    uint32_t parent = t->linked ? links_of(t, PARENT)[slot] : BP_NONE;
    return parent == BP_NONE ? (bp_entity_t){0} : BP_SLOTS(const bp_entity_t, &t->slots, BP_SLOTS_ENTITY)[parent];
}

static bp_result_t link_instances(bp_manager_t *m, const uint32_t *slots, const uint32_t *parents, uint32_t count,
                                  uint32_t flags)
{
    bp_result_t result = transforms_link(m, slots, parents, count, flags);
    if (result == BP_OK && (flags & BP_TRANSFORM_KEEP_WORLD) == 0)
        settle_linked(m, slots, count, false);
    return result;
}

static bp_result_t unlink_instances(bp_manager_t *m, const uint32_t *slots, uint32_t count, uint32_t flags)
{
    uint32_t none[BLOCK];
    memset(none, 0xff, sizeof none);
    bp_result_t result = BP_OK;
    for (uint32_t done = 0; done < count && result == BP_OK; done += BLOCK)
        result = link_instances(m, slots + done, none, count - done < BLOCK ? count - done : BLOCK, flags);
    return result;
}

static uint32_t link_or_none(const transforms_t *t, uint32_t column, uint32_t slot)
{
    return t->linked ? links_of(t, column)[slot] : BP_NONE;
}

/* The first one's previous is the last one, which is nobody's business outside. */
static uint32_t previous_of(const transforms_t *t, uint32_t slot)
{
    uint32_t parent = link_or_none(t, PARENT, slot);
    return parent == BP_NONE || links_of(t, FIRST_CHILD)[parent] == slot ? BP_NONE : links_of(t, PREVIOUS)[slot];
}

static void relatives(bp_manager_t *m, const uint32_t *slots, uint32_t count, uint32_t *parents,
                      uint32_t *first_children, uint32_t *next_siblings, uint32_t *previous_siblings)
{
    const transforms_t *t = m->state;
    for (uint32_t i = 0; i < count; i++) {
        if (parents != NULL)
            parents[i] = link_or_none(t, PARENT, slots[i]);
        if (first_children != NULL)
            first_children[i] = link_or_none(t, FIRST_CHILD, slots[i]);
        if (next_siblings != NULL)
            next_siblings[i] = link_or_none(t, NEXT, slots[i]);
        if (previous_siblings != NULL)
            previous_siblings[i] = previous_of(t, slots[i]);
    }
}

static uint32_t subtree(bp_manager_t *m, uint32_t slot, uint32_t *slots, uint32_t capacity)
{
    const transforms_t *t = m->state;
    uint32_t found = 0;
    for (uint32_t at = slot; at != BP_NONE; at = t->linked ? transforms_next(t, slot, at) : BP_NONE) {
        if (found < capacity)
            slots[found] = at;
        found++;
    }
    return found;
}

/* --- the rest of the table -------------------------------------------------------------------- */

static uint32_t find(bp_manager_t *m, const bp_entity_t *entities, uint32_t count, uint32_t *slots)
{
    const transforms_t *t = m->state;
    return bp_slots_find(m, &t->slots, entities, count, slots);
}

static void view(bp_manager_t *m, bp_transform_view_t *to)
{
    const transforms_t *t = m->state;
    bp_transform_view_t all = {.struct_size = to->struct_size, .count = t->slots.count, .revision = t->revision};
    if (t->slots.count > 0) {
        all.world = worlds_of(t);
        all.entities = BP_SLOTS(const bp_entity_t, &t->slots, BP_SLOTS_ENTITY);
        all.parents = t->linked ? links_of(t, PARENT) : NULL;
        all.stamps = t->stamps;
    }
    memcpy(to, &all, to->struct_size < sizeof all ? to->struct_size : sizeof all);
}

static const bp_transform_api table = {
    .struct_size = sizeof(bp_transform_api),
    .version = 2,
    .set_local = set_local,
    .local = local,
    .world = world,
    .find = find,
    .link = link_instances,
    .unlink = unlink_instances,
    .relatives = relatives,
    .subtree = subtree,
    .pack = transforms_pack,
    .view = view,
};

/* --- verbs ------------------------------------------------------------------------------------ */

/* Once a step: families are put in order if it pays. */
static void simulate(bp_manager_t *m, const bp_step_t *step, const bp_run_t *run)
{
    (void)step, (void)run;
    if (transforms_are_scattered(m->state))
        transforms_pack(m);
}

static bp_result_t set(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                       const void *values, size_t stride)
{
    return field == BP_TRANSFORM_PARENT ? set_parents(m, slots, count, values, stride)
                                        : set_part(m, field, slots, count, values, stride);
}

static bp_result_t get(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                       size_t stride)
{
    const transforms_t *t = m->state;
    char *value = values;
    for (uint32_t i = 0; i < count; i++, value += stride) {
        uint32_t slot = slots[i];
        bp_entity_t parent;
        switch (field) {
        case BP_TRANSFORM_POSITION:
            memcpy(value, &poses_of(t)[slot].position, sizeof(bp_vec3_t));
            break;
        case BP_TRANSFORM_ROTATION:
            memcpy(value, &poses_of(t)[slot].rotation, sizeof(bp_quat_t));
            break;
        case BP_TRANSFORM_SCALE:
            memcpy(value, &poses_of(t)[slot].scale, sizeof(bp_vec3_t));
            break;
        case BP_TRANSFORM_WORLD: memcpy(value, &worlds_of(t)[slot], sizeof(bp_mat4_t)); break;
        default:
            parent = parent_of(t, slot);
            memcpy(value, &parent, sizeof parent);
            break;
        }
    }
    return BP_OK;
}

static uint32_t count_instances(bp_manager_t *m)
{
    return ((const transforms_t *)m->state)->slots.count;
}

static bp_result_t load(bp_plugin_t *plugin)
{
    return plugin->api->registry->offer(plugin, BP_TRANSFORM_API, &table);
}

static const bp_component_i components[] = {{
    .name = BP_TRANSFORM,
    .doc = "position, rotation and scale in the world, and who moves with whom",
    .version = 1,
    .flags = BP_COMPONENT_OWN_STORAGE | BP_COMPONENT_SINGLE,
    .fields = BP_LIST(fields),
    .start = start,
    .stop = stop,
    .simulate = simulate,
    .create = create,
    .create_with = create_with,
    .destroy = destroy,
    .get = get,
    .set = set,
    .count = count_instances,
}};

BP_PLUGIN(transform) = {
    BP_PLUGIN_HEAD,
    .name = "transform",
    .version = "2.0",
    .doc = "poses of entities, and their hierarchy",
    .components = BP_LIST(components),
    .load = load,
};
