/* transform.c - where entities are: the component's verbs and properties, and the table.
 *
 * It stores its instances itself because a hierarchy wants an order of its own: families close together, parents
 * before children (transforms.h says how the parts share the work). A world in which nobody is linked pays for none
 * of that: it has one matrix, one rotation, two vectors and the entity of each instance, and nothing else.
 *
 * It is told of deaths at once rather than collecting them: a parent's end changes the local poses of its children,
 * and that must not happen at a random later time.
 *
 * Local poses are written first, all of a batch, and settled afterwards; in a flat world in blocks, so that what was
 * written is still in the cache.
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
    [ROTATION - BP_SLOTS_FIRST] = sizeof(bp_quat_t),
    [POSITION - BP_SLOTS_FIRST] = sizeof(bp_vec3_t),
    [SCALE - BP_SLOTS_FIRST] = sizeof(bp_vec3_t),
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
    bp_vec3_t *position = BP_SLOTS(bp_vec3_t, &t->slots, POSITION), *scale = BP_SLOTS(bp_vec3_t, &t->slots, SCALE);
    bp_quat_t *rotation = BP_SLOTS(bp_quat_t, &t->slots, ROTATION);
    for (uint32_t slot = first; slot < first + count; slot++)
        position[slot] = (bp_vec3_t){0, 0, 0};
    for (uint32_t slot = first; slot < first + count; slot++)
        rotation[slot] = (bp_quat_t){0, 0, 0, 1};
    for (uint32_t slot = first; slot < first + count; slot++)
        scale[slot] = (bp_vec3_t){1, 1, 1};
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

/* `values` need not be aligned for more than a byte. */
static bool have_directions(const void *values, uint32_t count, size_t stride)
{
    const char *value = values;
    bp_quat_t q;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&q, value + i * stride, sizeof q);
        if (!pose_is_unit(q) && !pose_normalise(&q))
            return false;
    }
    return true;
}

/* Fill a column from values or with one default; block by block, so that the matrix of a pose is made while it is in
 * the cache. */
static void fill(char *to, const char *from, const void *initial, uint32_t size, uint32_t count)
{
    if (from != NULL) {
        memcpy(to, from, (size_t)count * size);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        bp_slots_copy(to + (size_t)i * size, initial, size);
}

static bp_result_t create_with(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                               const void *const *columns, uint32_t *slots)
{
    static const bp_vec3_t origin = {0, 0, 0}, ones = {1, 1, 1};
    static const bp_quat_t not_turned = {0, 0, 0, 1};
    transforms_t *t = m->state;
    const char *positions = columns[BP_TRANSFORM_POSITION], *rotations = columns[BP_TRANSFORM_ROTATION];
    const char *scales = columns[BP_TRANSFORM_SCALE];
    if (rotations != NULL && !have_directions(rotations, count, sizeof(bp_quat_t)))
        return refuse_rotation(m);
    bp_result_t result = reserve(m, instance, count);
    if (result != BP_OK)
        return result;
    uint32_t first = bp_slots_append(&t->slots, instance, entities, count, slots);
    bp_vec3_t *position = BP_SLOTS(bp_vec3_t, &t->slots, POSITION) + first;
    bp_vec3_t *scale = BP_SLOTS(bp_vec3_t, &t->slots, SCALE) + first;
    bp_quat_t *rotation = BP_SLOTS(bp_quat_t, &t->slots, ROTATION) + first;
    bp_mat4_t *world = worlds_of(t) + first;
    for (uint32_t done = 0; done < count; done += BLOCK) {
        uint32_t n = count - done < BLOCK ? count - done : BLOCK, end = done + n;
        fill((char *)(position + done), positions == NULL ? NULL : positions + done * sizeof origin, &origin,
             sizeof origin, n);
        fill((char *)(rotation + done), rotations == NULL ? NULL : rotations + done * sizeof not_turned,
             &not_turned, sizeof not_turned, n);
        fill((char *)(scale + done), scales == NULL ? NULL : scales + done * sizeof ones, &ones, sizeof ones, n);
        for (uint32_t i = done; i < end; i++) {
            if (!pose_is_unit(rotation[i]))
                pose_normalise(&rotation[i]);
            pose_matrix(position[i], rotation[i], scale[i], world[i].m);
        }
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

/* World matrices after the local poses of a batch were written; in a flat world a block at a time is handed over. */
static void settle(transforms_t *t, const uint32_t *slots, uint32_t count)
{
    if (count == 1) {
        transforms_settle_one(t, slots[0]);
        return;
    }
    if (t->linked) {
        transforms_settle(t, slots, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        transforms_place(t, slots[i]);
    t->revision++;
    for (uint32_t i = 0; i < count; i++)
        t->stamps[slots[i] / BP_TRANSFORM_BLOCK] = t->revision;
}

/* Write one part of some poses. */
static void write_part(transforms_t *t, uint32_t field, const uint32_t *slots, uint32_t count, const char *value,
                       size_t stride)
{
    bp_vec3_t *vector = BP_SLOTS(bp_vec3_t, &t->slots, field == BP_TRANSFORM_POSITION ? POSITION : SCALE);
    bp_quat_t *rotation = BP_SLOTS(bp_quat_t, &t->slots, ROTATION);
    for (uint32_t i = 0; i < count; i++, value += stride) {
        if (field == BP_TRANSFORM_ROTATION) {
            memcpy(&rotation[slots[i]], value, sizeof *rotation);
            if (!pose_is_unit(rotation[slots[i]]))
                pose_normalise(&rotation[slots[i]]);
        } else {
            memcpy(&vector[slots[i]], value, sizeof *vector);
        }
    }
}

static uint32_t block_size(const transforms_t *t, uint32_t count)
{
    return t->linked || count < BLOCK ? count : BLOCK;
}

static bp_result_t set_part(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                            const void *values, size_t stride)
{
    transforms_t *t = m->state;
    if (field == BP_TRANSFORM_ROTATION && !have_directions(values, count, stride))
        return refuse_rotation(m);
    for (uint32_t done = 0, n = 0; done < count; done += n) {
        n = block_size(t, count - done);
        write_part(t, field, slots + done, n, (const char *)values + done * stride, stride);
        settle(t, slots + done, n);
    }
    if (transforms_are_scattered(t))
        transforms_pack(m); /* where there is no memory for it, all stays right */
    return BP_OK;
}

static void write_poses(transforms_t *t, const uint32_t *slots, uint32_t count, const bp_vec3_t *positions,
                        const bp_quat_t *rotations, const bp_vec3_t *scales)
{
    if (positions != NULL)
        write_part(t, BP_TRANSFORM_POSITION, slots, count, (const char *)positions, sizeof *positions);
    if (rotations != NULL)
        write_part(t, BP_TRANSFORM_ROTATION, slots, count, (const char *)rotations, sizeof *rotations);
    if (scales != NULL)
        write_part(t, BP_TRANSFORM_SCALE, slots, count, (const char *)scales, sizeof *scales);
}

static bp_result_t set_local(bp_manager_t *m, const uint32_t *slots, uint32_t count,
                             const bp_vec3_t *positions, const bp_quat_t *rotations, const bp_vec3_t *scales)
{
    transforms_t *t = m->state;
    if (rotations != NULL && !have_directions(rotations, count, sizeof *rotations))
        return refuse_rotation(m);
    for (uint32_t done = 0, n = 0; done < count; done += n) {
        n = block_size(t, count - done);
        write_poses(t, slots + done, n, positions == NULL ? NULL : positions + done,
                    rotations == NULL ? NULL : rotations + done, scales == NULL ? NULL : scales + done);
        settle(t, slots + done, n);
    }
    return BP_OK;
}

static void local(bp_manager_t *m, const uint32_t *slots, uint32_t count, bp_vec3_t *positions,
                  bp_quat_t *rotations, bp_vec3_t *scales)
{
    const transforms_t *t = m->state;
    for (uint32_t i = 0; i < count; i++) {
        if (positions != NULL)
            positions[i] = BP_SLOTS(const bp_vec3_t, &t->slots, POSITION)[slots[i]];
        if (rotations != NULL)
            rotations[i] = BP_SLOTS(const bp_quat_t, &t->slots, ROTATION)[slots[i]];
        if (scales != NULL)
            scales[i] = BP_SLOTS(const bp_vec3_t, &t->slots, SCALE)[slots[i]];
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
            memcpy(value, &BP_SLOTS(bp_vec3_t, &t->slots, POSITION)[slot], sizeof(bp_vec3_t));
            break;
        case BP_TRANSFORM_ROTATION:
            memcpy(value, &BP_SLOTS(bp_quat_t, &t->slots, ROTATION)[slot], sizeof(bp_quat_t));
            break;
        case BP_TRANSFORM_SCALE:
            memcpy(value, &BP_SLOTS(bp_vec3_t, &t->slots, SCALE)[slot], sizeof(bp_vec3_t));
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
