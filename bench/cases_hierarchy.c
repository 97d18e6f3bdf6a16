/* cases_hierarchy.c - transforms: a hierarchy whose root moves and whose every pose is set, and flat worlds.
 *
 * The hierarchy has four levels: a root, ten children, a hundred of each of these, and the rest below those, 99 each
 * of 100,000. The hierarchy is built in order, or with entities in shuffled order linked one by one in shuffled order;
 * the floors are loops over arrays that have parents in order. `products` has its local matrices ready; `poses` makes
 * them from the poses that the engine is given.
 *
 * Flat worlds: a million created at their defaults and with values, beside first touch of as many bytes as they then
 * hold; and all positions set, beside a loop that does no more.
 */
#include "cases.h"

#include "os/os.h"
#include "floors.h"
#include "worlds.h"

#include <components/transform.h>
#include <stdlib.h>
#include <string.h>

/* --- a world with transforms -------------------------------------------------------------------------- */

typedef struct poses_t {
    bp_host_o *host;
    const bp_api_t *api;
    bp_world_o *world;
    bp_manager_t *m;
    const bp_transform_api *table;
    uint32_t size, prototype;
    bp_property_t position, parent_property;
    bp_entity_t *e; /* in order: parents before children */
    uint32_t *slots, *parent;
    bp_vec3_t *positions, *scales;
    bp_quat_t *rotations;
    bp_mat4_t *local, *worlds;
    float moved;
    void *pages;
    size_t bytes;
} poses_t;

static void open_world(poses_t *p)
{
    uint32_t key;
    p->host = bp_host_create(NULL);
    worlds_must(p->host, p->host == NULL ? BP_ERROR_MEMORY : BP_OK, "creating a host");
    worlds_must(p->host, bp_host_load_plugin(p->host, BENCH_PLUGIN_DIR "/transform", NULL, 0), "loading transform");
    p->api = bp_host_api(p->host);
    p->world = bp_world_create(p->host, &(bp_world_desc_t){.name = "main"});
    worlds_must(p->host, bp_world_use_component(p->world, BP_TRANSFORM), "bringing in transform");
    uint32_t component = p->api->world->component(p->world, BP_TRANSFORM);
    p->m = p->api->world->manager(p->world, component);
    p->table = p->api->registry->find(p->host, BP_TRANSFORM_API, 2);
    worlds_must(p->host, p->api->world->key(p->world, component, 0, &key), "making a key");
    worlds_must(p->host, p->api->world->prototype(p->world, &key, 1, &p->prototype), "making a prototype");
    worlds_must(p->host, p->api->property->resolve(p->world, (bp_entity_t){0}, BP_TRANSFORM, "position",
                                                   &p->position), "resolving");
    worlds_must(p->host, p->api->property->resolve(p->world, (bp_entity_t){0}, BP_TRANSFORM, "parent",
                                                   &p->parent_property), "resolving");
}

static float share(uint64_t *random)
{
    return (float)((double)(bp_random_next(random) >> 11) / 9007199254740992.0) * 2 - 1;
}

static poses_t *new_poses(uint32_t size)
{
    poses_t *p = worlds_memory(1, sizeof *p);
    uint64_t random = 4;
    p->size = size;
    p->e = worlds_memory(size, sizeof *p->e);
    p->slots = worlds_memory(size, sizeof *p->slots);
    p->parent = worlds_memory(size, sizeof *p->parent);
    p->positions = worlds_memory(size, sizeof *p->positions);
    p->scales = worlds_memory(size, sizeof *p->scales);
    p->rotations = worlds_memory(size, sizeof *p->rotations);
    p->local = worlds_memory(size, sizeof *p->local);
    p->worlds = worlds_memory(size, sizeof *p->worlds);
    for (uint32_t i = 0; i < size; i++) {
        p->positions[i] = (bp_vec3_t){share(&random), share(&random), share(&random)};
        p->scales[i] = (bp_vec3_t){1, 1, 1};
        p->rotations[i] = (bp_quat_t){0, 0.6f, 0, 0.8f};
        uint32_t own = 0;
        floor_poses(&p->local[i], &p->positions[i], &p->rotations[i], &p->scales[i], &own, 1);
    }
    open_world(p);
    return p;
}

static void teardown(void *state)
{
    poses_t *p = state;
    bp_host_destroy(p->host);
    os_pages_free(p->pages, p->bytes);
    free(p->e);
    free(p->slots);
    free(p->parent);
    free(p->positions);
    free(p->scales);
    free(p->rotations);
    free(p->local);
    free(p->worlds);
    free(p);
}

/* --- hierarchies -------------------------------------------------------------------------------------- */

/* Item 0 is the root; children of one parent follow each other. */
static void plan_levels(poses_t *p)
{
    uint32_t last = 1 + 10 + 1000 > p->size ? p->size : 1 + 10 + 1000, rest = p->size - last;
    for (uint32_t i = 1; i < last; i++)
        p->parent[i] = i < 11 ? 0 : 1 + (i - 11) / 100;
    for (uint32_t i = 0; i < rest; i++)
        p->parent[last + i] = 11 + (uint32_t)((uint64_t)i * 1000 / rest);
}

static void link_one(poses_t *p, uint32_t i)
{
    worlds_must(p->host, p->api->property->set(p->world, &p->parent_property, &p->e[i], 1, &p->e[p->parent[i]], 0),
                "linking");
}

static void set_all_poses(poses_t *p)
{
    p->table->find(p->m, p->e, p->size, p->slots);
    worlds_must(p->host, p->table->set_local(p->m, p->slots, p->size, p->positions, p->rotations, p->scales),
                "setting poses");
}

static void create_all(poses_t *p, bool shuffled)
{
    worlds_must(p->host, p->api->world->create(p->world, p->prototype, p->e, p->size), "creating entities");
    if (shuffled)
        worlds_shuffle(p->e, p->size, 3);
}

/* Settle the world: a step brings the slots into the order that the engine wants, if packing pays by then. The order
 * must be there at once, since the slots that are looked up here are used to the end. */
static void settle(poses_t *p)
{
    set_all_poses(p);
    worlds_must(p->host, bp_world_step(p->world), "stepping");
    worlds_must(p->host, p->table->pack(p->m), "packing");
    p->table->find(p->m, p->e, p->size, p->slots);
}

static void *setup_in_order(uint32_t size)
{
    poses_t *p = new_poses(size);
    plan_levels(p);
    create_all(p, false);
    for (uint32_t i = 1; i < size; i++)
        link_one(p, i);
    settle(p);
    return p;
}

static void *setup_shuffled(uint32_t size)
{
    poses_t *p = new_poses(size);
    plan_levels(p);
    create_all(p, true);
    uint32_t *order = worlds_order(size, 8);
    for (uint32_t i = 0; i < size; i++) {
        if (order[i] != 0)
            link_one(p, order[i]);
    }
    free(order);
    settle(p);
    return p;
}

static void *setup_chain(uint32_t size)
{
    poses_t *p = new_poses(size);
    for (uint32_t i = 1; i < size; i++)
        p->parent[i] = i - 1;
    create_all(p, true);
    bp_entity_t *parents = worlds_memory(size, sizeof *parents);
    for (uint32_t i = 1; i < size; i++)
        parents[i] = p->e[i - 1];
    worlds_must(p->host, p->api->property->set(p->world, &p->parent_property, p->e + 1, size - 1, parents + 1,
                                               sizeof *parents), "linking");
    free(parents);
    settle(p);
    return p;
}

static void products(void *state)
{
    poses_t *p = state;
    p->local[0].m[12] = p->moved++;
    floor_products(p->worlds, p->local, p->parent, p->size);
}

static void poses(void *state)
{
    poses_t *p = state;
    p->positions[0].x = p->moved++;
    floor_poses(p->worlds, p->positions, p->rotations, p->scales, p->parent, p->size);
}

static void move_root(void *state)
{
    poses_t *p = state;
    bp_vec3_t position = {p->moved++, 0, 0};
    worlds_must(p->host, p->table->set_local(p->m, p->slots, 1, &position, NULL, NULL), "moving the root");
}

static void move_root_by_property(void *state)
{
    poses_t *p = state;
    bp_vec3_t position = {p->moved++, 0, 0};
    worlds_must(p->host, p->api->property->set(p->world, &p->position, p->e, 1, &position, 0), "moving the root");
}

static void set_all(void *state)
{
    poses_t *p = state;
    p->positions[0].x = p->moved++;
    worlds_must(p->host, p->table->set_local(p->m, p->slots, p->size, p->positions, p->rotations, p->scales),
                "setting poses");
}

static void set_positions(void *state)
{
    poses_t *p = state;
    p->positions[0].x = p->moved++;
    worlds_must(p->host, p->table->set_local(p->m, p->slots, p->size, p->positions, NULL, NULL), "setting positions");
}

static void set_positions_by_property(void *state)
{
    poses_t *p = state;
    p->positions[0].x = p->moved++;
    worlds_must(p->host, p->api->property->set(p->world, &p->position, p->e, p->size, p->positions,
                                               sizeof *p->positions), "setting positions");
}

#define SIDES                                                                                           \
    .sides = {                                                                                          \
        {.name = "products", .run = products},                                                          \
        {.name = "poses", .run = poses},                                                                \
        {.name = "root_moved", .floor = "products", .run = move_root, .bound = AT_MOST_TIMES(1.5)},     \
        {.name = "root_by_property", .floor = "products", .run = move_root_by_property,                 \
         .bound = AT_MOST_TIMES(1.5)},                                                                  \
        {.name = "all_poses", .floor = "poses", .run = set_all, .bound = AT_MOST_TIMES(1.5)},           \
        {.name = "all_positions", .floor = "poses", .run = set_positions, .bound = AT_MOST_TIMES(1.5)}, \
        {.name = "all_by_property", .floor = "poses", .run = set_positions_by_property},                \
    }

static const uint32_t sizes[] = {10000, 100000, 1000000, 0}, chain_sizes[] = {100000, 1000000, 0};

const group_t group_hierarchy_in_order = {
    .name = "hierarchy/in_order", .sizes = sizes, .setup = setup_in_order, .teardown = teardown, SIDES};
const group_t group_hierarchy_shuffled = {
    .name = "hierarchy/shuffled", .sizes = sizes, .setup = setup_shuffled, .teardown = teardown, SIDES};
const group_t group_hierarchy_chain = {
    .name = "hierarchy/chain", .sizes = chain_sizes, .setup = setup_chain, .teardown = teardown, SIDES};

/* --- flat worlds -------------------------------------------------------------------------------------- */

static void *setup_flat(uint32_t size)
{
    poses_t *p = new_poses(size);
    create_all(p, false);
    /* Matrix, pose and entity in the plugin; entity and slot, record and generation in the world. Capacities are
     * powers of two, but memory that is not used is never touched. */
    p->bytes = (size_t)size * (sizeof(bp_mat4_t) + sizeof(bp_quat_t) + 2 * sizeof(bp_vec3_t) + sizeof(bp_entity_t) +
                               sizeof(bp_entity_t) + sizeof(uint32_t) + sizeof(bp_record_t) + sizeof(uint32_t));
    return p;
}

static void fresh_pages(void *state)
{
    poses_t *p = state;
    os_pages_free(p->pages, p->bytes);
    p->pages = os_pages_alloc(p->bytes);
    worlds_must(NULL, p->pages == NULL ? BP_ERROR_MEMORY : BP_OK, "allocating pages");
}

static void touch(void *state)
{
    poses_t *p = state;
    floor_touch(p->pages, p->bytes);
}

static void fresh_world(void *state)
{
    poses_t *p = state;
    bp_host_destroy(p->host);
    open_world(p);
    machine_release();
}

static void create_flat(void *state)
{
    create_all(state, false);
}

const group_t group_transform_create = {
    .name = "transform/create",
    .setup = setup_flat,
    .teardown = teardown,
    .sides = {
        {.name = "first_touch", .prepare = fresh_pages, .run = touch},
        {.name = "by_count", .floor = "first_touch", .prepare = fresh_world, .run = create_flat,
         .bound = AT_MOST_TIMES(1.3)},
    },
};

static void *setup_flat_set(uint32_t size)
{
    poses_t *p = new_poses(size);
    create_all(p, false);
    set_all_poses(p);
    return p;
}

/* The plugin's work done without a plugin: write the position, and the matrix of the pose. */
static void set_flat_loop(void *state)
{
    poses_t *p = state;
    uint32_t own = 0;
    p->positions[0].x = p->moved++;
    for (uint32_t i = 0; i < p->size; i++)
        floor_poses(&p->worlds[i], &p->positions[i], &p->rotations[i], &p->scales[i], &own, 1);
}

const group_t group_transform_set = {
    .name = "transform/set",
    .setup = setup_flat_set,
    .teardown = teardown,
    .sides = {
        {.name = "loop", .run = set_flat_loop},
        {.name = "positions", .floor = "loop", .run = set_positions},
        {.name = "by_property", .floor = "loop", .run = set_positions_by_property},
        {.name = "poses", .floor = "loop", .run = set_all},
    },
};
