/* cases_frustum.c - the frustum query of mesh: which of all meshes a camera sees.
 *
 * Meshes stand in a square around the camera, in no order; the camera sees about a sixth of them. `at_rest` asks again
 * where nothing has moved: its floor goes over boxes that lie ready. `all_moved` asks after all transforms were
 * set: its floor makes the boxes of the matrices first. `few_moved` asks after one in a hundred was set, one after
 * another in slots; its floor is that of `at_rest`.
 */
#include "cases.h"

#include "floors.h"
#include "worlds.h"

#include <components/mesh.h>
#include <components/transform.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct view_t {
    bp_host_o *host;
    const bp_api_t *api;
    bp_world_o *world;
    bp_manager_t *meshes, *transforms;
    const bp_mesh_api *mesh;
    const bp_transform_api *transform;
    uint32_t size, count;
    uint32_t *slots, *seen;
    bp_vec3_t *positions;
    bp_mat4_t *worlds;
    floor_box_t *boxes;
    bp_frustum_t frustum;
    float middle[3], half[3];
} view_t;

static void open_world(view_t *v)
{
    static const char *const components[] = {BP_TRANSFORM, BP_MESH};
    static const bp_option_t folder = {.name = "folder", .value = BENCH_MESH_DIR};
    uint32_t keys[2], prototype;
    v->host = bp_host_create(NULL);
    worlds_must(v->host, v->host == NULL ? BP_ERROR_MEMORY : BP_OK, "creating a host");
    worlds_must(v->host, bp_host_load_plugin(v->host, BENCH_PLUGIN_DIR "/transform", NULL, 0), "loading transform");
    worlds_must(v->host, bp_host_load_plugin(v->host, BENCH_PLUGIN_DIR "/mesh", &folder, 1), "loading mesh");
    v->api = bp_host_api(v->host);
    v->world = bp_world_create(v->host, &(bp_world_desc_t){.name = "main"});
    for (uint32_t i = 0; i < 2; i++) {
        worlds_must(v->host, bp_world_use_component(v->world, components[i]), "bringing in a component");
        worlds_must(v->host, v->api->world->key(v->world, v->api->world->component(v->world, components[i]), 0,
                                                &keys[i]), "making a key");
    }
    worlds_must(v->host, v->api->world->prototype(v->world, keys, 2, &prototype), "making a prototype");
    v->transforms = v->api->world->manager(v->world, v->api->world->component(v->world, BP_TRANSFORM));
    v->meshes = v->api->world->manager(v->world, v->api->world->component(v->world, BP_MESH));
    v->mesh = v->api->registry->find(v->host, BP_MESH_API, 2);
    v->transform = v->api->registry->find(v->host, BP_TRANSFORM_API, 2);
    bp_entity_t *entities = worlds_memory(v->size, sizeof *entities);
    worlds_must(v->host, v->api->world->create(v->world, prototype, entities, v->size), "creating entities");
    const char *const *cube = &(const char *){"cube.obj"};
    bp_property_t resource;
    worlds_must(v->host, v->api->property->resolve(v->world, (bp_entity_t){0}, BP_MESH, "resource", &resource),
                "resolving");
    for (uint32_t i = 0; i < v->size; i++)
        worlds_must(v->host, v->api->property->set(v->world, &resource, &entities[i], 1, cube, 0), "showing a cube");
    v->transform->find(v->transforms, entities, v->size, v->slots);
    free(entities);
}

/* A camera in the middle that looks along x, with a right angle between left and right. */
static bp_frustum_t right_angle(float far)
{
    const float s = 0.70710678f;
    return (bp_frustum_t){{{s, 0, s, 0}, {s, 0, -s, 0}, {s, s, 0, 0}, {s, -s, 0, 0}, {1, 0, 0, -0.1f},
                           {-1, 0, 0, far}}};
}

static void move_all(void *state)
{
    view_t *v = state;
    worlds_must(v->host, v->transform->set_local(v->transforms, v->slots, v->size, v->positions, NULL, NULL),
                "moving meshes");
}

static void move_few(void *state)
{
    view_t *v = state;
    uint32_t few = v->size / 100 > 0 ? v->size / 100 : 1;
    worlds_must(v->host, v->transform->set_local(v->transforms, v->slots, few, v->positions, NULL, NULL),
                "moving meshes");
}

static void ask(void *state)
{
    view_t *v = state;
    worlds_must(v->host, v->mesh->seen(v->meshes, &v->frustum, v->seen, v->size, &v->count), "asking what is seen");
    measure_keep((double)v->count);
}

static void packed_boxes(void *state)
{
    view_t *v = state;
    measure_keep((double)floor_frustum(v->boxes, v->size, v->frustum.planes, v->seen));
}

static void make_boxes(void *state)
{
    view_t *v = state;
    floor_boxes(v->boxes, v->worlds, v->size, v->middle, v->half);
    packed_boxes(state);
}

/* Subject and floor must see the same meshes. */
static void compare(view_t *v)
{
    make_boxes(v);
    uint32_t count = floor_frustum(v->boxes, v->size, v->frustum.planes, v->seen);
    ask(v);
    worlds_must(v->host, count == v->count && count > v->size / 20 ? BP_OK : BP_ERROR_FAILED, "comparing what is seen");
}

static void *setup(uint32_t size)
{
    view_t *v = worlds_memory(1, sizeof *v);
    uint64_t random = 9;
    const bp_mesh_resource_t *shown;
    uint32_t first = 0;
    v->size = size;
    v->slots = worlds_memory(size, sizeof *v->slots);
    v->seen = worlds_memory(size, sizeof *v->seen);
    v->positions = worlds_memory(size, sizeof *v->positions);
    v->worlds = worlds_memory(size, sizeof *v->worlds);
    v->boxes = worlds_memory(size, sizeof *v->boxes);
    float side = sqrtf((float)size);
    for (uint32_t i = 0; i < size; i++) {
        float x = (float)bp_random_below(&random, 1u << 20) / (float)(1u << 20);
        float z = (float)bp_random_below(&random, 1u << 20) / (float)(1u << 20);
        v->positions[i] = (bp_vec3_t){(x - 0.5f) * 4 * side, 0, (z - 0.5f) * 4 * side};
    }
    v->frustum = right_angle(1.5f * side);
    open_world(v);
    move_all(v);
    memcpy(v->worlds, v->transform->world(v->transforms), size * sizeof *v->worlds);
    v->mesh->resource(v->meshes, &first, 1, &shown);
    const float low[3] = {shown->bounds_min.x, shown->bounds_min.y, shown->bounds_min.z};
    const float high[3] = {shown->bounds_max.x, shown->bounds_max.y, shown->bounds_max.z};
    for (int i = 0; i < 3; i++) {
        v->middle[i] = (low[i] + high[i]) * 0.5f;
        v->half[i] = (high[i] - low[i]) * 0.5f;
    }
    compare(v);
    return v;
}

static void teardown(void *state)
{
    view_t *v = state;
    bp_host_destroy(v->host);
    free(v->slots);
    free(v->seen);
    free(v->positions);
    free(v->worlds);
    free(v->boxes);
    free(v);
}

const group_t group_frustum = {
    .name = "frustum",
    .setup = setup,
    .teardown = teardown,
    .sides = {
        {.name = "packed_boxes", .run = packed_boxes},
        {.name = "boxes_of_matrices", .run = make_boxes},
        {.name = "at_rest", .floor = "packed_boxes", .run = ask, .bound = AT_MOST_TIMES(1.1)},
        {.name = "few_moved", .floor = "packed_boxes", .prepare = move_few, .run = ask},
        {.name = "all_moved", .floor = "boxes_of_matrices", .prepare = move_all, .run = ask,
         .bound = AT_MOST_TIMES(1.5)},
    },
};
