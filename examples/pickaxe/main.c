/* main.c - one entity in two worlds: a pickaxe in its owner's hand in the game, and in a slot of the inventory.
 *
 * The pickaxe is one entity in both worlds: its own properties (wear, owner) could lie in either world or in a third.
 * The worlds differ in where the pickaxe is and what it looks like, so the entity has a transform and a mesh in each of
 * the two worlds. Each world has a camera, which says what there is to draw. When its owner dies the plugin weapon.c
 * lets the pickaxe fall to the ground; when it breaks it is gone from both worlds.
 *
 *     pickaxe PLUGINS MESHES WEAPON [SCENE]    the folders of the plugins and of the meshes, weapon.c as a plugin; and
 *                                              pickaxe.json, which has the same as this file
 */
#include <backplane.h>
#include <components/camera.h>
#include <components/debug_name.h>
#include <components/transform.h>

#include <stdio.h>
#include <stdlib.h>

static bp_host_o *host;
static const bp_api_t *api;

static void must(bp_result_t result)
{
    if (result == BP_OK)
        return;
    fprintf(stderr, "pickaxe: %s\n", bp_host_error(host));
    exit(1);
}

static void add(bp_world_o *world, bp_entity_t e, const char *type, const char *name)
{
    uint32_t key;
    bp_name_t interned;
    must(api->name->intern(host, name, &interned));
    must(api->world->key(world, api->world->component(world, type), interned, &key));
    must(api->world->add(world, key, &e, 1));
}

static void set(bp_world_o *world, bp_entity_t e, const char *component, const char *property, uint32_t type,
                const void *value)
{
    must(api->property->set_named(world, e, component, property, type, value));
}

static void put(bp_world_o *world, bp_entity_t e, float x, float y, float z)
{
    set(world, e, BP_TRANSFORM, "position", BP_VEC3, &(bp_vec3_t){x, y, z});
}

/* Give an entity a place and a mesh in a world. */
static void place(bp_world_o *world, bp_entity_t e, const char *name, const char *mesh, float x, float y, float z)
{
    add(world, e, BP_TRANSFORM, "");
    add(world, e, BP_MESH, "");
    add(world, e, "debug_name", "");
    set(world, e, "debug_name", "name", BP_STRING, &name);
    set(world, e, BP_MESH, "resource", BP_STRING, &mesh);
    put(world, e, x, y, z);
}

static bp_world_o *new_world(const char *name)
{
    static const char *const components[] = {"transform", "mesh", "debug_name", "render_data", "camera"};
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = name, .step_rate = 60});
    must(world == NULL ? BP_ERROR_FAILED : BP_OK);
    for (size_t i = 0; i < sizeof components / sizeof components[0]; i++)
        must(bp_world_use_component(world, components[i]));
    return world;
}

static void load(const char *folder, const char *name, const char *meshes)
{
    char path[1024];
    const bp_option_t option = {"folder", meshes, "the command line", NULL};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    must(bp_host_load_plugin(host, path, &option, meshes != NULL));
}

/* Print the answers that a renderer would get: effects of the picture, and meshes, the nearest first. */
static void show(bp_world_o *world, bp_entity_t camera)
{
    bp_camera_draw_t draws[16];
    bp_camera_effect_t effects[4];
    uint32_t draw_count, effect_count;
    const bp_camera_api *cameras = api->registry->find(host, BP_CAMERA_API, 1);
    const bp_debug_name_api *names = api->registry->find(host, BP_DEBUG_NAME_API, 1);
    bp_manager_t *m = api->world->manager(world, api->world->component(world, BP_CAMERA));
    must(cameras->draws(m, camera, draws, 16, &draw_count));
    must(cameras->effects(m, camera, effects, 4, &effect_count));
    printf("  %-9s ", api->world->name(world));
    for (uint32_t i = 0; i < draw_count && i < 16; i++) {
        bp_manager_t *named = api->world->manager(world, api->world->component(world, "debug_name"));
        printf(" %s as %s at %.1f %.1f %.1f;", names->name(named, draws[i].entity), draws[i].resource->name,
               (double)draws[i].world.m[12], (double)draws[i].world.m[13], (double)draws[i].world.m[14]);
    }
    printf(draw_count == 0 ? " nothing;" : "");
    for (uint32_t i = 0; i < effect_count && i < 4; i++)
        printf(" through %s", api->name->text(host, effects[i].effect));
    printf("\n");
}

/* The entities, and the worlds in which they are. */
typedef struct cast_t {
    bp_entity_t player, pickaxe, eye, icons;
} cast_t;

/* All of them, call by call. */
static cast_t build(bp_world_o *game, bp_world_o *inventory)
{
    bp_entity_t e[4];
    must(api->entity->create(host, e, 4));
    cast_t c = {.player = e[0], .pickaxe = e[1], .eye = e[2], .icons = e[3]};
    place(game, c.player, "player", "player.obj", 0, 0, -10);
    place(game, c.pickaxe, "pickaxe", "pickaxe.obj", 0.4f, 1.1f, 0.3f);
    set(game, c.pickaxe, BP_TRANSFORM, "parent", BP_ENTITY, &c.player); /* in the hand: it goes with the player */
    add(game, c.pickaxe, "weapon", "");
    set(game, c.pickaxe, "weapon", "owner", BP_ENTITY, &c.player);
    place(inventory, c.pickaxe, "pickaxe", "icon.obj", -2, 1, -5); /* the same entity, elsewhere and otherwise */

    add(game, c.eye, BP_TRANSFORM, "");
    add(game, c.eye, BP_CAMERA, "");
    add(game, c.eye, "render_data", "fog");
    put(game, c.eye, 0, 1.5f, 0);
    add(inventory, c.icons, BP_TRANSFORM, "");
    add(inventory, c.icons, BP_CAMERA, "");
    return c;
}

static bp_entity_t find(bp_world_o *world, const char *name)
{
    const bp_debug_name_api *names = api->registry->find(host, BP_DEBUG_NAME_API, 1);
    bp_entity_t found = {0};
    names->find(api->world->manager(world, api->world->component(world, "debug_name")), name, &found, 1);
    return found;
}

/* All of them, from a scene, which names the worlds itself. */
static cast_t spawn(bp_world_o *game, bp_world_o *inventory, const char *path)
{
    bp_scene_o *scene;
    must(bp_scene_open(host, path, &scene));
    must(bp_scene_spawn(scene, NULL, 0, NULL, NULL));
    bp_scene_close(scene);
    return (cast_t){find(game, "player"), find(game, "pickaxe"), find(game, "eye"), find(inventory, "icons")};
}

int main(int argc, char **argv)
{
    const char *plugins = argc > 1 ? argv[1] : "build/plugins";
    const char *meshes = argc > 2 ? argv[2] : "examples/pickaxe/meshes";
    const char *weapon = argc > 3 ? argv[3] : "build/weapon";
    host = bp_host_create(NULL);
    api = bp_host_api(host);
    load(plugins, "transform", NULL);
    load(plugins, "mesh", meshes);
    load(plugins, "debug_name", NULL);
    load(plugins, "render_data", NULL);
    load(plugins, "camera", NULL);
    must(bp_host_load_plugin(host, weapon, NULL, 0));
    bp_world_o *game = new_world("game"), *inventory = new_world("inventory");
    must(bp_world_use_component(game, "weapon"));

    cast_t c = argc > 4 ? spawn(game, inventory, argv[4]) : build(game, inventory);
    printf("the player holds a pickaxe\n");
    show(game, c.eye);
    show(inventory, c.icons);
    put(game, c.player, 3, 0, -20);
    printf("the player walks\n");
    show(game, c.eye);
    show(inventory, c.icons);
    put(game, c.player, 3, 0, 20);
    printf("the player walks on, behind the camera\n");
    show(game, c.eye);
    show(inventory, c.icons);
    put(game, c.player, 0, 0, -10);
    api->entity->destroy(host, &c.player, 1);
    printf("the player dies, and the pickaxe falls\n");
    show(game, c.eye);
    show(inventory, c.icons);
    api->entity->destroy(host, &c.pickaxe, 1);
    printf("the pickaxe breaks\n");
    show(game, c.eye);
    show(inventory, c.icons);
    bp_host_destroy(host);
    return 0;
}
