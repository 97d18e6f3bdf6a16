/* test_audit.c - after a reload nothing of the host points into the image that has gone, and where a plugin has left
 * such an address in its columns, it is found. Only in builds that audit (AUDIT=1, and those with sanitizers). */
#include "../suites.h"
#include "../unit/support.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

#if defined(BACKPLANE_AUDIT)

static log_text_t log_text;
static bp_host_o *host;
static bp_world_o *world;

static void begin(const char *plugin, const char *component, bool old)
{
    char path[1024];
    memset(&log_text, 0, sizeof log_text);
    bp_host_desc_t desc = {.struct_size = sizeof desc, .log = log_into(&log_text), .flags = BP_HOST_COPY_PLUGINS};
    snprintf(path, sizeof path, "%s/%s", old ? TEST_PLUGIN_DIR : TEST_FIXTURE_DIR, plugin);
    host = bp_host_create(&desc);
    WORKS(host, bp_host_load_plugin(host, path, NULL, 0));
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    WORKS(host, bp_world_use_component(world, component));
    const bp_api_t *api = bp_host_api(host);
    bp_entity_t entities[100];
    uint32_t prototype = prototype_of(world, component, NULL, NULL, NULL);
    WORKS(host, api->world->create(world, prototype, entities, COUNT(entities)));
    WORKS(host, bp_world_step(world));
}

static uint32_t errors_after_reload(const char *name)
{
    log_text.count = 0;
    log_text.text[0] = '\0';
    WORKS(host, bp_host_reload(host, &name, 1, NULL));
    WORKS(host, bp_world_step(world));
    uint32_t errors = 0;
    for (const char *at = log_text.text; (at = strstr(at, "points into the image of")) != NULL; at++)
        errors++;
    return errors;
}

START_TEST(nothing_points_into_an_image_that_has_gone)
{
    static const char *const plugins[][2] = {{"point_mass", "point_mass"},
                                             {"transform", "transform"},
                                             {"debug_name", "debug_name"},
                                             {"mesh", "mesh"},
                                             {"render_data", "render_data"}};
    begin(plugins[_i][0], plugins[_i][1], true);
    for (int i = 0; i < 3; i++) {
        uint32_t errors = errors_after_reload(plugins[_i][0]);
        EXPECT(errors == 0, "%s", log_text.text);
    }
    bp_host_destroy(host);
}
END_TEST

START_TEST(an_address_left_in_a_column_is_found_and_its_owner_named)
{
    begin("stale", "stale", false);
    uint32_t errors = errors_after_reload("stale");
    EXPECT(errors >= 1, "%s", log_text.text);
    EXPECT(strstr(log_text.text, "memory of 'world' points into the image of 'stale 1.0'") != NULL, "%s",
           log_text.text);
    bp_host_destroy(host);
}
END_TEST

static void count(void *data, const char *account, size_t size, size_t offset, uintptr_t address)
{
    (void)account, (void)size, (void)offset, (void)address;
    ++*(uint32_t *)data;
}

START_TEST(blocks_are_known_while_they_live)
{
    enum { MANY = 3000 };
    static void **blocks[MANY];
    memory_t root, child;
    char range[64];
    memory_init(&root, "root", &(bp_allocator_i){0});
    audit_begin(&root);
    memory_init_child(&child, "child", &root);
    for (uint32_t i = 0; i < MANY; i++) {
        blocks[i] = memory_new(&child, 16 + i % 100);
        blocks[i][1] = range + i % 64;
    }
    for (uint32_t round = 0; round < 2; round++) {
        uint32_t found = 0;
        ck_assert_uint_eq(audit_search(&root, range, range + 64, count, &found), found);
        ck_assert_uint_eq(found, round == 0 ? MANY : MANY - MANY / 3);
        for (uint32_t i = 0; i < MANY && round == 0; i += 3)
            memory_free(&child, blocks[i], 16 + i % 100);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        if (i % 3 != 0)
            memory_free(&child, blocks[i], 16 + i % 100);
    }
    ck_assert_uint_eq(audit_search(&root, range, range + 64, count, &(uint32_t){0}), 0);
    audit_end(&root);
}
END_TEST

#endif

Suite *audit_suite(void)
{
    Suite *suite = suite_create("audit");
#if defined(BACKPLANE_AUDIT)
    TCase *addresses = tcase_create("addresses");
    tcase_add_loop_test(addresses, nothing_points_into_an_image_that_has_gone, 0, 5);
    tcase_add_test(addresses, an_address_left_in_a_column_is_found_and_its_owner_named);
    tcase_add_test(addresses, blocks_are_known_while_they_live);
    suite_add_tcase(suite, addresses);
#endif
    return suite;
}
