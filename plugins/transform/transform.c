/* transform.c - where entities are: position, rotation and scale, and the world matrix made of them.
 *
 * It stores its instances itself because the hierarchy that is to come wants its own order: links between
 * instances, families close together, all of which the world's rows cannot promise. One array a part, indexed
 * by slot, all in one buffer that doubles; links become four more arrays.
 *
 * Invariants: slots 0 to count - 1 are in use; every rotation has length 1; world[slot] is always the matrix
 * of the local pose. Dead entities' instances stay in use until gc finds them: random slots, until four
 * living in a row. The last instance moves into the slot of one that ends, and the world is told (told in
 * batches, after the fact: `moved` collects slots that were filled, and a slot's present owner is read when
 * it is told).
 */
#include <bp_plugin.h>
#include <components/transform.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const bp_field_t fields[] = {
    [BP_TRANSFORM_POSITION] = {.name = "position", .type = BP_VEC3, .unit = "m", .doc = "where it is"},
    [BP_TRANSFORM_ROTATION] = {.name = "rotation", .type = BP_QUAT,
                               .doc = "how it is turned: x y z w, brought to length 1"},
    [BP_TRANSFORM_SCALE] = {.name = "scale", .type = BP_VEC3, .initial = "1 1 1",
                            .doc = "how large it is along its own axes"},
    [BP_TRANSFORM_WORLD] = {.name = "world", .type = BP_MAT4, .flags = BP_FIELD_READ_ONLY,
                            .doc = "its pose in the world as a matrix, column by column"},
};

enum { FIRST_CAPACITY = 16, MOVED_ROOM = 64, LIVING_IN_A_ROW = 4 };
#define INSTANCES_MAX (UINT32_MAX - 1) /* BP_NONE is no slot */

typedef struct transforms_t {
    uint32_t count;
    uint32_t capacity;
    void *buffer;
    bp_mat4_t *world;
    bp_quat_t *rotation;
    bp_entity_t *entity;
    bp_name_t *name;      /* of the component in its entity */
    bp_vec3_t *position;
    bp_vec3_t *scale;
} transforms_t;

/* Slots into which an instance has moved, not yet told to the world. */
typedef struct moved_t {
    uint32_t count;
    uint32_t slots[MOVED_ROOM];
} moved_t;

enum {
    INSTANCE_BYTES = sizeof(bp_mat4_t) + sizeof(bp_quat_t) + sizeof(bp_entity_t) + sizeof(bp_name_t) +
                     2 * sizeof(bp_vec3_t)
};

static bp_result_t start(bp_manager_t *m)
{
    transforms_t *t = m->api->memory->resize(m->plugin, NULL, 0, sizeof *t);
    if (t == NULL)
        return m->api->error->set(m->host, BP_ERROR_MEMORY, "transform: out of memory at its start");
    memset(t, 0, sizeof *t);
    m->state = t;
    return BP_OK;
}

static void stop(bp_manager_t *m)
{
    transforms_t *t = m->state;
    m->api->memory->resize(m->plugin, t->buffer, (size_t)t->capacity * INSTANCE_BYTES, 0);
    m->api->memory->resize(m->plugin, t, sizeof *t, 0);
    m->state = NULL;
}

/* --- storage ---------------------------------------------------------------------------------- */

/* Lay the arrays out in `buffer`, the widest first, so that each is aligned for what it holds. */
static transforms_t laid_out(void *buffer, uint32_t capacity, uint32_t count)
{
    transforms_t t = {.count = count, .capacity = capacity, .buffer = buffer, .world = buffer};
    t.rotation = (bp_quat_t *)(void *)(t.world + capacity);
    t.entity = (bp_entity_t *)(void *)(t.rotation + capacity);
    t.name = (bp_name_t *)(void *)(t.entity + capacity);
    t.position = (bp_vec3_t *)(void *)(t.name + capacity);
    t.scale = t.position + capacity;
    return t;
}

static void copy_instances(transforms_t *to, const transforms_t *from)
{
    if (from->count == 0)
        return;
    memcpy(to->world, from->world, from->count * sizeof *to->world);
    memcpy(to->rotation, from->rotation, from->count * sizeof *to->rotation);
    memcpy(to->entity, from->entity, from->count * sizeof *to->entity);
    memcpy(to->name, from->name, from->count * sizeof *to->name);
    memcpy(to->position, from->position, from->count * sizeof *to->position);
    memcpy(to->scale, from->scale, from->count * sizeof *to->scale);
}

/* Room for `more` instances beside those there are. */
static bp_result_t reserve(bp_manager_t *m, transforms_t *t, uint32_t more)
{
    if (more <= t->capacity - t->count)
        return BP_OK;
    if (more > INSTANCES_MAX - t->count)
        return m->api->error->set(m->host, BP_ERROR_LIMIT, "transform: more than 4294967294 instances");
    uint64_t capacity = t->capacity == 0 ? FIRST_CAPACITY : t->capacity;
    while (capacity < (uint64_t)t->count + more)
        capacity *= 2;
    if (capacity > INSTANCES_MAX)
        capacity = INSTANCES_MAX;
    void *buffer = m->api->memory->resize(m->plugin, NULL, 0, (size_t)capacity * INSTANCE_BYTES);
    if (buffer == NULL)
        return m->api->error->set(m->host, BP_ERROR_MEMORY, "transform: out of memory for more instances");
    transforms_t grown = laid_out(buffer, (uint32_t)capacity, t->count);
    copy_instances(&grown, t);
    m->api->memory->resize(m->plugin, t->buffer, (size_t)t->capacity * INSTANCE_BYTES, 0);
    *t = grown;
    return BP_OK;
}

/* Tell the world who now lies in the slots that were filled. */
static void tell_moved(bp_manager_t *m, moved_t *moved)
{
    const transforms_t *t = m->state;
    bp_entity_t entities[MOVED_ROOM];
    bp_name_t names[MOVED_ROOM];
    uint32_t slots[MOVED_ROOM], count = 0;
    for (uint32_t i = 0; i < moved->count; i++) {
        uint32_t slot = moved->slots[i];
        if (slot >= t->count)
            continue; /* it moved on, and that was noted too */
        entities[count] = t->entity[slot];
        names[count] = t->name[slot];
        slots[count++] = slot;
    }
    if (count > 0)
        m->api->world->instances_moved(m, entities, names, slots, count);
    moved->count = 0;
}

static void erase(bp_manager_t *m, uint32_t slot, moved_t *moved)
{
    transforms_t *t = m->state;
    uint32_t last = --t->count;
    if (slot == last)
        return;
    t->world[slot] = t->world[last];
    t->rotation[slot] = t->rotation[last];
    t->entity[slot] = t->entity[last];
    t->name[slot] = t->name[last];
    t->position[slot] = t->position[last];
    t->scale[slot] = t->scale[last];
    moved->slots[moved->count++] = slot;
    if (moved->count == MOVED_ROOM)
        tell_moved(m, moved);
}

/* --- poses ------------------------------------------------------------------------------------ */

/* Bring a rotation to length 1. False where it has no direction. In double, so that no length that a float
 * can hold overflows or vanishes when it is squared. */
static bool normalise(bp_quat_t *q)
{
    double x = (double)q->x, y = (double)q->y, z = (double)q->z, w = (double)q->w;
    double length = sqrt(x * x + y * y + z * z + w * w);
    if (!(length > 0.0 && length <= 1e300))
        return false;
    *q = (bp_quat_t){(float)(x / length), (float)(y / length), (float)(z / length), (float)(w / length)};
    return true;
}

static void compute_world(transforms_t *t, uint32_t slot)
{
    bp_quat_t q = t->rotation[slot];
    bp_vec3_t p = t->position[slot], s = t->scale[slot];
    float xx = 2 * q.x * q.x, yy = 2 * q.y * q.y, zz = 2 * q.z * q.z;
    float xy = 2 * q.x * q.y, xz = 2 * q.x * q.z, yz = 2 * q.y * q.z;
    float wx = 2 * q.w * q.x, wy = 2 * q.w * q.y, wz = 2 * q.w * q.z;
    t->world[slot] = (bp_mat4_t){{
        (1 - yy - zz) * s.x, (xy + wz) * s.x, (xz - wy) * s.x, 0,
        (xy - wz) * s.y, (1 - xx - zz) * s.y, (yz + wx) * s.y, 0,
        (xz + wy) * s.z, (yz - wx) * s.z, (1 - xx - yy) * s.z, 0,
        p.x, p.y, p.z, 1,
    }};
}

static bp_result_t refuse_rotation(bp_manager_t *m)
{
    return m->api->error->set(m->host, BP_ERROR_RANGE,
                              "transform: a rotation of length 0, or one that is not finite, says nothing; "
                              "'not turned' is 0 0 0 1");
}

/* Set one part of many poses. `values` need not be aligned for more than a float. */
static bp_result_t set_part(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                            const void *values, size_t stride)
{
    transforms_t *t = m->state;
    const char *value = values;
    bp_quat_t q;
    for (uint32_t i = 0; field == BP_TRANSFORM_ROTATION && i < count; i++) {
        memcpy(&q, value + i * stride, sizeof q);
        if (!normalise(&q))
            return refuse_rotation(m);
    }
    for (uint32_t i = 0; i < count; i++, value += stride) {
        switch (field) {
        case BP_TRANSFORM_POSITION:
            memcpy(&t->position[slots[i]], value, sizeof(bp_vec3_t));
            break;
        case BP_TRANSFORM_ROTATION:
            memcpy(&q, value, sizeof q);
            normalise(&q);
            t->rotation[slots[i]] = q;
            break;
        default:
            memcpy(&t->scale[slots[i]], value, sizeof(bp_vec3_t));
            break;
        }
        compute_world(t, slots[i]);
    }
    return BP_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static bp_result_t set_local(bp_manager_t *m, const uint32_t *slots, uint32_t count,
                             const bp_vec3_t *positions, const bp_quat_t *rotations, const bp_vec3_t *scales)
{
    transforms_t *t = m->state;
    for (uint32_t i = 0; rotations != NULL && i < count; i++) {
        bp_quat_t q = rotations[i];
        if (!normalise(&q))
            return refuse_rotation(m);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = slots[i];
        if (positions != NULL)
            t->position[slot] = positions[i];
        if (rotations != NULL) {
            t->rotation[slot] = rotations[i];
            normalise(&t->rotation[slot]);
        }
        if (scales != NULL)
            t->scale[slot] = scales[i];
        compute_world(t, slot);
    }
    return BP_OK;
}

static void local(bp_manager_t *m, const uint32_t *slots, uint32_t count, bp_vec3_t *positions,
                  bp_quat_t *rotations, bp_vec3_t *scales)
{
    const transforms_t *t = m->state;
    for (uint32_t i = 0; i < count; i++) {
        if (positions != NULL)
            positions[i] = t->position[slots[i]];
        if (rotations != NULL)
            rotations[i] = t->rotation[slots[i]];
        if (scales != NULL)
            scales[i] = t->scale[slots[i]];
    }
}

static const bp_mat4_t *world(bp_manager_t *m)
{
    const transforms_t *t = m->state;
    return t->count == 0 ? NULL : t->world;
}

static const bp_transform_api table = {
    .struct_size = sizeof(bp_transform_api),
    .version = 1,
    .set_local = set_local,
    .local = local,
    .world = world,
};

/* --- verbs ------------------------------------------------------------------------------------ */

static bp_result_t create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                          uint32_t *slots)
{
    transforms_t *t = m->state;
    bp_result_t result = reserve(m, t, count);
    if (result != BP_OK)
        return result;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = t->count++;
        t->entity[slot] = entities[i];
        t->name[slot] = instance;
        t->position[slot] = (bp_vec3_t){0, 0, 0};
        t->rotation[slot] = (bp_quat_t){0, 0, 0, 1};
        t->scale[slot] = (bp_vec3_t){1, 1, 1};
        compute_world(t, slot);
        slots[i] = slot;
    }
    return BP_OK;
}

static void destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    moved_t moved;
    moved.count = 0;
    for (uint32_t i = 0; i < count; i++)
        erase(m, slots[i], &moved);
    tell_moved(m, &moved);
}

static uint32_t gc(bp_manager_t *m, uint64_t *random)
{
    transforms_t *t = m->state;
    moved_t moved;
    moved.count = 0;
    uint32_t ended = 0, living = 0;
    while (t->count > 0 && living < LIVING_IN_A_ROW) {
        uint32_t slot = bp_random_below(random, t->count);
        if (m->api->entity->alive(m->host, &t->entity[slot], 1, NULL) == 1) {
            living++;
            continue;
        }
        living = 0;
        erase(m, slot, &moved);
        ended++;
    }
    tell_moved(m, &moved);
    return ended;
}

static bp_result_t get(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                       size_t stride)
{
    const transforms_t *t = m->state;
    char *value = values;
    for (uint32_t i = 0; i < count; i++, value += stride) {
        switch (field) {
        case BP_TRANSFORM_POSITION: memcpy(value, &t->position[slots[i]], sizeof(bp_vec3_t)); break;
        case BP_TRANSFORM_ROTATION: memcpy(value, &t->rotation[slots[i]], sizeof(bp_quat_t)); break;
        case BP_TRANSFORM_SCALE: memcpy(value, &t->scale[slots[i]], sizeof(bp_vec3_t)); break;
        default: memcpy(value, &t->world[slots[i]], sizeof(bp_mat4_t)); break;
        }
    }
    return BP_OK;
}

static uint32_t count_instances(bp_manager_t *m)
{
    return ((const transforms_t *)m->state)->count;
}

static bp_result_t load(bp_plugin_t *plugin)
{
    return plugin->api->registry->offer(plugin, BP_TRANSFORM_API, &table);
}

static const bp_component_i components[] = {{
    .name = BP_TRANSFORM,
    .doc = "position, rotation and scale in the world",
    .version = 1,
    .flags = BP_COMPONENT_OWN_STORAGE | BP_COMPONENT_SINGLE,
    .fields = BP_LIST(fields),
    .start = start,
    .stop = stop,
    .create = create,
    .destroy = destroy,
    .get = get,
    .set = set_part,
    .count = count_instances,
    .gc = gc,
}};

BP_PLUGIN(transform) = {
    BP_PLUGIN_HEAD,
    .name = "transform",
    .version = "1.0",
    .doc = "poses of entities",
    .components = BP_LIST(components),
    .load = load,
};
