/* release.c - the same program with the plugin linked in: no file to find, nothing to load at run time.
 *
 * The plugin's source is compiled with -DBP_STATIC_PLUGINS, which calls its descriptor bp_plugin_NAME; the
 * host is given a list of such descriptors and finds plugins there by name. Everything else is as in main.c.
 */
#include <backplane.h>
#include <stdio.h>

extern const bp_plugin_head_t bp_plugin_point_mass;

int main(void)
{
    static const bp_plugin_head_t *const linked[] = {&bp_plugin_point_mass};
    static bp_entity_t entities[1000];
    uint32_t key, prototype;
    bp_vec3_t velocity = {1, 0, 0}, position;
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.static_plugins = linked, .static_plugin_count = 1});
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = 60});
    const bp_api_t *api = bp_host_api(host);

    if (bp_host_load_plugin(host, "point_mass", NULL, 0) != BP_OK ||
        bp_world_use_component(world, "point_mass") != BP_OK ||
        api->world->key(world, api->world->component(world, "point_mass"), 0, &key) != BP_OK ||
        api->world->prototype(world, &key, 1, &prototype) != BP_OK ||
        api->world->create(world, prototype, entities, 1000) != BP_OK ||
        api->property->set_named(world, entities[7], "point_mass", "velocity", BP_VEC3, &velocity) != BP_OK) {
        fprintf(stderr, "%s\n", bp_host_error(host));
        return 1;
    }
    for (int i = 0; i < 60; i++)
        bp_world_step(world);
    api->property->get_named(world, entities[7], "point_mass", "position", BP_VEC3, &position);
    printf("after one second: %.3f %.3f %.3f\n", (double)position.x, (double)position.y, (double)position.z);
    bp_host_destroy(host);
    return 0;
}
