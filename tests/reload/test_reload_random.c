/* test_reload_random.c - random lists of fields, one reload after another, against an oracle that knows names and
 * values alone (patch_lists.h).
 *
 * The oracle keeps, for each entity and each name, what its value is. Where it says that a value cannot become what is
 * asked, the reload must be refused and every value stand.
 *
 * RELOAD_PAIRS is the number of pairs, 1,000 where it is not set.
 */
#include "../suites.h"
#include "patch_lists.h"
#include "reload_support.h"

#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 24 };

typedef struct model_t {
    scene_t *scene;
    patch_list_t list;
    bp_entity_t entities[ENTITIES];
    patch_values_t values[ENTITIES]; /* of the names in the list */
    uint64_t random;
    uint32_t made, refused;
} model_t;

static uint32_t below(model_t *m, uint32_t bound)
{
    return bp_random_below(&m->random, bound);
}

/* --- values in the world ----------------------------------------------------------------------------------- */

static void expect_value(model_t *m, uint32_t e, const patch_field_t *field)
{
    char name[PATCH_TEXT];
    bp_value_t value;
    patch_name(field->name, name);
    WORKS(m->scene->host,
          m->scene->api->property->get_named(m->scene->world, m->entities[e], e % 3 == 2 ? "second" : "patch", name,
                                             field->type, &value));
    EXPECT(patch_same(&m->values[e].of[field->name], field->type, &value), "%s (type %u) of %u is not %g '%s'", name,
           field->type, e, m->values[e].of[field->name].part[0], m->values[e].of[field->name].text);
}

static void change_values(model_t *m)
{
    for (uint32_t n = m->list.count == 0 ? 0 : below(m, 20); n > 0; n--) {
        uint32_t e = below(m, ENTITIES);
        const patch_field_t *field = &m->list.fields[below(m, m->list.count)];
        char name[PATCH_TEXT];
        bp_value_t value;
        patch_name(field->name, name);
        m->values[e].of[field->name] = patch_random_value(&m->random, field->type);
        patch_pack(&m->values[e].of[field->name], field->type, &value);
        WORKS(m->scene->host,
              m->scene->api->property->set_named(m->scene->world, m->entities[e], e % 3 == 2 ? "second" : "patch", name,
                                                 field->type, &value));
    }
}

/* --- the test ---------------------------------------------------------------------------------------------- */

static void open_model(model_t *m, scene_t *scene, const patch_file_t *patch)
{
    static const char *const beside[] = {"body", "label", "pool"};
    memset(m, 0, sizeof *m);
    m->scene = scene;
    m->random = 2;
    patch_put(patch, &m->list);
    WORKS(scene->host, bp_host_load_plugin(scene->host, TEST_SCRATCH_DIR "/patch" TEST_SO, NULL, 0));
    WORKS(scene->host, bp_world_use_component(scene->world, "patch"));
    uint32_t keys[] = {key_of(scene->world, "patch", ""), key_of(scene->world, "patch", "second")};
    WORKS(scene->host, scene->api->entity->create(scene->host, m->entities, ENTITIES));
    for (uint32_t e = 0; e < ENTITIES; e++) {
        for (uint32_t b = 0; b < COUNT(beside); b++) {
            if ((e >> b & 1) != 0)
                WORKS(scene->host,
                      scene->api->world->add(scene->world, key_of(scene->world, beside[b], ""), &m->entities[e], 1));
        }
        for (uint32_t k = 0; k < 2; k++) {
            if ((e % 3 == 2) == (k == 1) || e % 5 == 0)
                WORKS(scene->host, scene->api->world->add(scene->world, keys[k], &m->entities[e], 1));
        }
    }
}

static void reload_once(model_t *m, const patch_file_t *patch)
{
    static const char *const names[] = {"patch"};
    static patch_values_t values[ENTITIES];
    patch_list_t list = patch_next(&m->random, &m->list);
    bool possible = patch_foresee(&m->list, m->values, &list, values, ENTITIES);
    patch_put(patch, &list);
    bp_result_t result = bp_host_reload(m->scene->host, names, 1, NULL);
    EXPECT(possible == (result == BP_OK), "pair %u: %s", m->made + m->refused,
           result == BP_OK ? "it was taken" : bp_host_error(m->scene->host));
    scene_clear_log(m->scene);
    m->made += possible;
    m->refused += !possible;
    if (possible) {
        m->list = list;
        memcpy(m->values, values, sizeof values);
    }
    for (uint32_t e = 0; e < ENTITIES; e++) {
        for (uint32_t i = 0; i < m->list.count; i++)
            expect_value(m, e, &m->list.fields[i]);
    }
    change_values(m);
}

static uint32_t pair_count(void)
{
    const char *asked = getenv("RELOAD_PAIRS");
    return asked != NULL ? (uint32_t)strtoul(asked, NULL, 10) : 1000;
}

START_TEST(random_lists_of_fields_come_to_what_names_say)
{
    static scene_t scene;
    static model_t model;
    patch_file_t patch;
    uint32_t pairs = pair_count();
    scene_open(&scene, PROBE_FIRST);
    scene.host->reload.probation_steps = _i == 0 ? 0 : 5;
    patch_open(&patch);
    open_model(&model, &scene, &patch);
    /* Values that no entity has been given yet are the defaults. */
    for (uint32_t n = 0; n < pairs / 2; n++) {
        reload_once(&model, &patch);
        if (n % 50 == 0) {
            reload_accept(&scene.host->reload);
            check_host(scene.host);
            WORKS(scene.host, bp_host_step(scene.host));
        }
    }
    ck_assert_uint_gt(model.made, pairs / 8);
    ck_assert_uint_gt(model.refused, pairs / 40);
    free(patch.bytes);
    reload_accept(&scene.host->reload);
    scene_close(&scene);
}
END_TEST

/* The new column's memory comes fresh from the system, all zero as its default, and is filled all the same. */
START_TEST(numbers_of_many_rows_are_converted_into_fresh_pages)
{
    enum { ROWS = 50000 };
    static const char *const names[] = {"patch"};
    static bp_entity_t entities[ROWS];
    static double found[ROWS];
    patch_list_t list = {.count = 1, .fields = {{0, PATCH_NAMES, BP_I32, {.part = {0}}}}};
    log_text_t log = {.count = 0};
    patch_file_t patch;
    bp_property_t property;
    char name[PATCH_TEXT];
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log), .flags = BP_HOST_COPY_PLUGINS});
    const bp_api_t *api = bp_host_api(host);
    patch_name(0, name);
    patch_open(&patch);
    patch_put(&patch, &list);
    WORKS(host, bp_host_load_plugin(host, TEST_SCRATCH_DIR "/patch" TEST_SO, NULL, 0));
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    WORKS(host, bp_world_use_component(world, "patch"));
    WORKS(host, api->world->create(world, prototype_of(world, "patch", NULL, NULL, NULL), entities, ROWS));
    for (int32_t e = 0; e < ROWS; e++)
        WORKS(host, api->property->set_named(world, entities[e], "patch", name, BP_I32, &e));
    list.fields[0].type = BP_F64;
    patch_put(&patch, &list);
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    WORKS(host, api->property->resolve(world, entities[0], "patch", name, &property));
    WORKS(host, api->property->get(world, &property, entities, ROWS, found, sizeof found[0]));
    for (uint32_t e = 0; e < ROWS; e++)
        EXPECT(found[e] == e, "%u has become %g", e, found[e]);
    free(patch.bytes);
    bp_host_destroy(host);
}
END_TEST

Suite *reload_random_suite(void)
{
    Suite *suite = suite_create("reload_random");
    TCase *random = tcase_create("random");
    tcase_set_timeout(random, 120);
    tcase_add_loop_test(random, random_lists_of_fields_come_to_what_names_say, 0, 2);
    tcase_add_test(random, numbers_of_many_rows_are_converted_into_fresh_pages);
    suite_add_tcase(suite, random);
    return suite;
}
