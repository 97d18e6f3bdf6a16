/* local.c - local poses: instances made with a pose, and poses written and read.
 *
 * Local poses are written first, all of a batch, and settled afterwards; in a flat world at once, each with its
 * matrix.
 */
#include "transforms.h"

bp_result_t transforms_reserve(bp_manager_t *m, bp_name_t instance, uint32_t more)
{
    transforms_t *t = transforms_of(m);
    return bp_slots_reserve(m, &t->slots, instance, more);
}

static const pose_t no_pose = {.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};

static void place_new(transforms_t *t, uint32_t first, uint32_t count)
{
    if (t->linked)
        transforms_begin_links(t, first, count);
}

static bp_result_t create_plain(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                                uint32_t *slots)
{
    static const bp_mat4_t identity = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}};
    transforms_t *t = transforms_of(m);
    bp_result_t result = transforms_reserve(m, instance, count);
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

/* Can every rotation be brought to length 1? Asked before anything is written. */
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

bp_result_t transforms_create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                              const void *const *columns, uint32_t *slots)
{
    transforms_t *t = transforms_of(m);
    if (columns == NULL)
        return create_plain(m, instance, entities, count, slots);
    parts_t parts = packed_parts(columns[BP_TRANSFORM_POSITION], columns[BP_TRANSFORM_ROTATION],
                                 columns[BP_TRANSFORM_SCALE]);
    bp_result_t result = check_rotations(m, &parts, count);
    if (result == BP_OK)
        result = transforms_reserve(m, instance, count);
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

/* --- setting and reading ------------------------------------------------------------------------ */

/* Set poses in a world without links, where an instance's matrix is that of its pose. */
static void set_flat(transforms_t *t, const uint32_t *slots, uint32_t count, const parts_t *parts)
{
    pose_t *pose = poses_of(t);
    bp_mat4_t *world = worlds_of(t);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = slots[i];
        write_pose(&pose[slot], parts, i);
        pose_matrix(&pose[slot], world[slot].m);
    }
    transforms_changed(t, slots, count);
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
    transforms_settle(t, slots, count);
}

bp_result_t transforms_set_part(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                            const void *values, size_t stride)
{
    transforms_t *t = transforms_of(m);
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
        transforms_pack(m); /* where there is no memory for packing, all stays right */
    return BP_OK;
}

bp_result_t transforms_set_local(bp_manager_t *m, const uint32_t *slots, uint32_t count,
                             const bp_vec3_t *positions, const bp_quat_t *rotations, const bp_vec3_t *scales)
{
    parts_t parts = packed_parts(positions, rotations, scales);
    bp_result_t result = check_rotations(m, &parts, count);
    if (result == BP_OK)
        set_poses(transforms_of(m), slots, count, &parts);
    return result;
}

void transforms_local(bp_manager_t *m, const uint32_t *slots, uint32_t count, bp_vec3_t *positions,
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
