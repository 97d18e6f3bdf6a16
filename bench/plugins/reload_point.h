/* reload_point.h - point masses in versions, for the benchmarks of reloading. Each reload_point_N.c sets POINT to N.
 *
 *   1 the first    2 other code    3 one f32 more, 0    4 one f32 more, 0.5    5 mass is f64    6 position is a vec4
 *   7 storage of its own; 8 the same, whose state goes over as it is
 *   9 six f64; 10 the same as f32, each with a limit
 */
#include <bp_plugin.h>
#include <helpers/bp_columns.h>

#include <string.h>

#define OWN (POINT == 7 || POINT == 8)

static const bp_field_t fields[] = {
#if POINT == 9 || POINT == 10
#define NUMBER(n) {.name = n, .type = POINT == 9 ? BP_F64 : BP_F32, .initial = "1", .min = "0"}
    NUMBER("a"), NUMBER("b"), NUMBER("c"), NUMBER("d"), NUMBER("e"), NUMBER("f"),
#else
    {.name = "mass", .type = POINT == 5 ? BP_F64 : BP_F32, .initial = "1"},
    {.name = "position", .type = POINT == 6 ? BP_VEC4 : BP_VEC3},
    {.name = "velocity", .type = BP_VEC3},
    {.name = "acceleration", .type = BP_VEC3},
#if POINT == 3
    {.name = "drag", .type = BP_F32},
#elif POINT == 4
    {.name = "drag", .type = BP_F32, .initial = "0.5"},
#endif
#endif
};

#if POINT == 9 || POINT == 10
static void simulate(const bp_run_t *run, uint32_t count)
{
    (void)run, (void)count;
}
#elif POINT < 7
static void simulate(const bp_run_t *run, uint32_t count)
{
    float *position = BP_COLUMN(run, float, 1);
    const float *velocity = BP_COLUMN(run, const float, 2);
    float dt = (float)run->step->dt * (POINT == 2 ? 2.0f : 1.0f);
    size_t parts = POINT == 6 ? 0 : 3u * (size_t)count;
    for (size_t i = 0; i < parts; i++)
        position[i] += velocity[i] * dt;
}
#else
typedef struct point_t {
    float mass;
    bp_vec3_t vectors[3];
    bp_entity_t entity;
} point_t;

typedef struct points_t {
    point_t *items;
    uint32_t count, capacity;
} points_t;

static bp_result_t start(bp_manager_t *m)
{
    m->state = m->api->memory->resize(m->plugin, NULL, 0, sizeof(points_t));
    if (m->state == NULL)
        return BP_ERROR_MEMORY;
    memset(m->state, 0, sizeof(points_t));
    return BP_OK;
}

static void stop(bp_manager_t *m)
{
    points_t *p = m->state;
    m->api->memory->resize(m->plugin, p->items, p->capacity * sizeof *p->items, 0);
    m->api->memory->resize(m->plugin, p, sizeof *p, 0);
}

static void destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    points_t *p = m->state;
    for (uint32_t i = 0; i < count; i++)
        p->items[slots[i]] = p->items[--p->count];
}

static void *part(point_t *point, uint32_t field, size_t *size)
{
    *size = field == 0 ? sizeof(float) : sizeof(bp_vec3_t);
    return field == 0 ? (void *)&point->mass : &point->vectors[field - 1];
}

static bp_result_t get(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                       size_t stride)
{
    points_t *p = m->state;
    for (uint32_t i = 0; i < count; i++) {
        size_t size;
        const void *from = part(&p->items[slots[i]], field, &size);
        memcpy((char *)values + i * stride, from, size);
    }
    return BP_OK;
}

static bp_result_t set(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, const void *values,
                       size_t stride)
{
    points_t *p = m->state;
    for (uint32_t i = 0; i < count; i++) {
        size_t size;
        void *to = part(&p->items[slots[i]], field, &size);
        memcpy(to, (const char *)values + i * stride, size);
    }
    return BP_OK;
}

static bp_result_t create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                          const void *const *columns, uint32_t *slots)
{
    points_t *p = m->state;
    (void)instance;
    if (p->count + count > p->capacity) {
        uint32_t capacity = 2 * (p->count + count);
        point_t *items =
            m->api->memory->resize(m->plugin, p->items, p->capacity * sizeof *items, capacity * sizeof *items);
        if (items == NULL)
            return BP_ERROR_MEMORY;
        p->items = items;
        p->capacity = capacity;
    }
    for (uint32_t i = 0; i < count; i++) {
        p->items[p->count] = (point_t){.mass = 1, .entity = entities[i]};
        slots[i] = p->count++;
    }
    /* which cannot fail */
    return bp_columns_set(m, set, fields, sizeof fields / sizeof fields[0], columns, slots, count);
}

static uint32_t count_all(bp_manager_t *m)
{
    return ((const points_t *)m->state)->count;
}
#endif

#if OWN
static const bp_storage_i storage = {.struct_size = sizeof(bp_storage_i),
                                     .create = create,
                                     .destroy = destroy,
                                     .get = get,
                                     .set = set,
                                     .count = count_all};
#endif

static const bp_component_i components[] = {{
    .name = "reload_point",
    .fields = BP_LIST(fields),
#if !OWN
    .simulate = simulate,
#else
    .start = start,
    .stop = stop,
    .storage = &storage,
#endif
#if POINT == 8
    .state_form = BP_STATE_FORM(points_t, 1),
#endif
}};

BP_PLUGIN(reload_point) = {
    .version = "1", .components = BP_LIST(components)};
