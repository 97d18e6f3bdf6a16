/* transform.c - the component transform: its verbs and properties, and the table.
 *
 * The component stores its instances itself because a hierarchy needs an order of its own: families close together,
 * parents before children (transforms.h says how the parts share the work). A world without links pays for none of
 * that: such a world has the matrix, the local pose and the entity of each instance, and nothing else.
 *
 * The component is told of deaths at once rather than collecting them: a parent's end changes the local poses of its
 * children, and these must not change at a random later time. Where children are to die with their parents, the
 * children of the dead are noted by `destroy`, and destroyed when the host announces the deaths: then all worlds have
 * forgotten the dead.
 */
#include "transforms.h"

static const bp_field_t fields[] = {
    [BP_TRANSFORM_POSITION] = {.name = "position", .type = BP_VEC3, .unit = "m",
                               .doc = "where it is, as seen from its parent"},
    [BP_TRANSFORM_ROTATION] = {.name = "rotation", .type = BP_QUAT,
                               .doc = "how it is turned: x y z w, brought to length 1"},
    [BP_TRANSFORM_SCALE] = {.name = "scale", .type = BP_VEC3, .initial = "1 1 1",
                            .doc = "how large it is along its own axes"},
    [BP_TRANSFORM_WORLD] = {.name = "world", .type = BP_MAT4, .flags = BP_FIELD_READ_ONLY | BP_FIELD_DERIVED,
                            .doc = "its pose in the world as a matrix, column by column"},
    [BP_TRANSFORM_PARENT] = {.name = "parent", .type = BP_ENTITY, .flags = BP_FIELD_PARENT,
                             .doc = "the entity that it moves with; its local pose stays when this is set"},
};

enum { STAY, DIE };
static const bp_field_t options[] = {
    {.name = "orphans", .type = BP_U8, .values = "stay die", .initial = "stay",
     .doc = "what children do when their parent dies: stay where they are, or die"},
};

static const uint32_t item_sizes[COLUMNS_END - BP_SLOTS_FIRST] = {
    [WORLD - BP_SLOTS_FIRST] = sizeof(bp_mat4_t),
    [POSE - BP_SLOTS_FIRST] = sizeof(pose_t),
};

static const bp_slots_hooks_t hooks = {.ended = transforms_leave_family, .moved = transforms_mend_links};

/* --- begin and end ---------------------------------------------------------------------------- */

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
    m->api->memory->resize(m->plugin, t->orphans, t->orphan_room * sizeof *t->orphans, 0);
    m->api->memory->resize(m->plugin, t, sizeof *t, 0);
    m->state = NULL;
}

static bool note_orphan(bp_manager_t *m, transforms_t *t, bp_entity_t orphan)
{
    if (t->orphan_count == t->orphan_room) {
        uint32_t room = t->orphan_room == 0 ? 64 : t->orphan_room * 2;
        bp_entity_t *more = m->api->memory->resize(m->plugin, t->orphans, t->orphan_room * sizeof *more,
                                                   room * sizeof *more);
        if (more == NULL)
            return false;
        t->orphans = more;
        t->orphan_room = room;
    }
    t->orphans[t->orphan_count++] = orphan;
    return true;
}

/* Note the children of those among `slots` that end because their entity has died, not because the component is
 * removed. */
static void note_orphans(bp_manager_t *m, transforms_t *t, const uint32_t *slots, uint32_t count)
{
    const bp_entity_t *entities = BP_SLOTS(const bp_entity_t, &t->slots, BP_SLOTS_ENTITY);
    for (uint32_t i = 0; i < count; i++) {
        if (m->api->entity->alive(m->host, &entities[slots[i]], 1, NULL) != 0)
            continue;
        uint32_t child = links_of(t, FIRST_CHILD)[slots[i]];
        for (; child != BP_NONE; child = links_of(t, NEXT)[child]) {
            if (!note_orphan(m, t, entities[child])) {
                m->api->error->log(m->plugin, BP_LOG_ERROR, "out of memory: children of the dead stay alive");
                return;
            }
        }
    }
}

/* Entities that had a transform have died, and `destroy` has noted their children: destroy these too. */
static void died(bp_manager_t *m, const bp_death_t *batch)
{
    transforms_t *t = m->state;
    bp_entity_t *orphans = t->orphans;
    uint32_t count = t->orphan_count, room = t->orphan_room;
    (void)batch;
    t->orphans = NULL; /* the children of the next to die are noted in a new list meanwhile */
    t->orphan_count = t->orphan_room = 0;
    m->api->entity->destroy(m->host, orphans, count);
    m->api->memory->resize(m->plugin, orphans, room * sizeof *orphans, 0);
}

static void destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    transforms_t *t = m->state;
    if (t->children > 0 && m->plugin->options[0].u8 == DIE)
        note_orphans(m, t, slots, count);
    bp_slots_destroy(m, &t->slots, slots, count, &hooks);
}

/* --- the table -------------------------------------------------------------------------------- */

static const bp_mat4_t *world(bp_manager_t *m)
{
    const transforms_t *t = m->state;
    return t->slots.count == 0 ? NULL : worlds_of(t);
}

static uint32_t find(bp_manager_t *m, const bp_entity_t *entities, uint32_t count, uint32_t *slots)
{
    const transforms_t *t = m->state;
    return bp_slots_find(m, &t->slots, entities, count, slots);
}

static void view(bp_manager_t *m, bp_transform_view_t *to)
{
    const transforms_t *t = m->state;
    bp_transform_view_t all = {.struct_size = to->struct_size, .count = t->slots.count};
    if (t->slots.count > 0) {
        all.world = worlds_of(t);
        all.entities = BP_SLOTS(const bp_entity_t, &t->slots, BP_SLOTS_ENTITY);
        all.parents = t->linked ? links_of(t, PARENT) : NULL;
    }
    memcpy(to, &all, to->struct_size < sizeof all ? to->struct_size : sizeof all);
}

static const bp_transform_api table = {
    .set_local = transforms_set_local,
    .local = transforms_local,
    .world = world,
    .find = find,
    .link = transforms_link_all,
    .unlink = transforms_unlink_all,
    .relatives = transforms_relatives,
    .subtree = transforms_subtree,
    .pack = transforms_pack,
    .view = view,
};

/* --- verbs ------------------------------------------------------------------------------------ */

/* Once a step: put families in order where packing pays. */
static void simulate(const bp_run_t *run, uint32_t count)
{
    (void)count;
    if (transforms_are_scattered(run->manager->state))
        transforms_pack(run->manager);
}

static bp_result_t set(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                       const void *values, size_t stride)
{
    return field == BP_TRANSFORM_PARENT ? transforms_set_parents(m, slots, count, values, stride)
                                        : transforms_set_part(m, field, slots, count, values, stride);
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
            parent = transforms_parent(t, slot);
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

static const bp_table_t tables[] = {BP_TABLE(BP_TRANSFORM_API, 2, table, BP_TRANSFORM_RETURNS)};

static const bp_storage_i storage = {
    .struct_size = sizeof(bp_storage_i),
    .create = transforms_create,
    .destroy = destroy,
    .get = get,
    .set = set,
    .count = count_instances,
};

static const bp_save_i saving = {.save = transforms_save, .load = transforms_load};
static const bp_deaths_i deaths = {.died = died, .which = BP_DEATHS_WITH};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_save", saving)}, {BP_EXTENSION("bp_deaths", deaths)}};

static const bp_component_i components[] = {{
    .name = BP_TRANSFORM,
    .doc = "position, rotation and scale in the world, and which entity moves with which",
    .version = 2,
    .flags = BP_COMPONENT_SINGLE,
    .fields = BP_LIST(fields),
    .start = start,
    .stop = stop,
    .simulate = simulate,
    .storage = &storage,
    .state_form = TRANSFORMS_FORM,
    .keeps = BP_KEEP_SAVED,
    .extensions = BP_LIST(extensions),
}};

BP_PLUGIN(transform) = {
    .version = "2.0",
    .doc = "poses of entities, and their hierarchy",
    .components = BP_LIST(components),
    .tables = BP_LIST(tables),
    .options = BP_LIST(options),
};
