/* test_reload_plugins.c - what our own plugins keep over a reload: of the same code, and of a version whose states are
 *of another form.
 *
 * The versions of another form are built from the same sources (tests/fixtures/other_form.h). Every reload here is of
 * built files, put into each other's place.
 */
#include "../suites.h"
#include "reload_support.h"

#include "store/world.h"
#include "engine/host.h"

#include <components/debug_name.h>
#include <components/mesh.h>
#include <components/transform.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rig_t rig;
static bp_world_o *world;
static bp_reload_report_t report;

static void begin(void)
{
    rig_init(&rig);
    rig_open(&rig);
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main", .step_rate = 10});
    EXPECT(world != NULL, "%s", bp_host_error(rig.host));
}

static void end(void)
{
    reload_accept(&rig.host->reload);
    check_host(rig.host);
    rig.log = (log_text_t){.count = 0};
    rig_close(&rig);
}

/* A plugin of ours, from a file of its own in the scratch folder. */
static void load(const char *name, const bp_option_t *options, uint32_t count)
{
    char fixture[64];
    snprintf(fixture, sizeof fixture, "../plugins/%s", name);
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin(fixture, name), options, count));
}

/* Put another version in place ("": the same) and reload it. */
static bp_result_t reload(const char *name, const char *version)
{
    char fixture[64];
    snprintf(fixture, sizeof fixture, version[0] == '\0' ? "../plugins/%s%s" : "%s%s", name, version);
    put_plugin(fixture, name);
    bp_result_t result = bp_host_reload(rig.host, &name, 1, &report);
    rig.log = (log_text_t){.count = 0};
    return result;
}

static void component(const char *name)
{
    load(name, NULL, 0);
    WORKS(rig.host, bp_world_use_component(world, name));
}

static void steps(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        WORKS(rig.host, bp_world_step(world));
}

static void get(bp_entity_t e, const char *name, const char *property, uint32_t type, void *value)
{
    WORKS(rig.host, rig.api->property->get_named(world, e, name, property, type, value));
}

static void set(bp_entity_t e, const char *name, const char *property, uint32_t type, const void *value)
{
    WORKS(rig.host, rig.api->property->set_named(world, e, name, property, type, value));
}

static void set_text(bp_entity_t e, const char *name, const char *property, const char *text)
{
    set(e, name, property, BP_STRING, &text);
}

/* --- mesh ----------------------------------------------------------------------------------------------- */

enum { MESHES = 4 };

static bp_entity_t shown[MESHES];

static const char square[] = "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nf 1 2 3 4\n",
                  triangle[] = "v 0 0 0\nv 1 0 0\nv 0 3 0\nf 1 2 3\n";

/* Two squares, a triangle, one that shows nothing; and their files are gone or damaged. */
static void begin_meshes(void)
{
    static const char *const names[MESHES] = {"reload_square.obj", "reload_square.obj", "reload_triangle.obj", ""};
    bp_option_t folder = {.name = "folder", .value = TEST_SCRATCH_DIR};
    scratch_file("reload_square.obj", square);
    scratch_file("reload_triangle.obj", triangle);
    begin();
    load("mesh", &folder, 1);
    WORKS(rig.host, bp_world_use_component(world, "mesh"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "mesh", NULL, NULL, NULL), shown, MESHES));
    for (uint32_t i = 0; i < MESHES; i++) {
        bp_colour_t colour = {0.25f * (float)i, 0.5f, 1, 1};
        set_text(shown[i], "mesh", "resource", names[i]);
        set(shown[i], "mesh", "colour", BP_COLOUR, &colour);
    }
    remove(TEST_SCRATCH_DIR "/reload_square.obj");
    scratch_file("reload_triangle.obj", "v 0 0\n");
}

static bp_manager_t *meshes(void)
{
    return rig.api->world->manager(world, rig.api->world->component(world, "mesh"));
}

static const bp_mesh_api *mesh_table(void)
{
    return rig.api->registry->find(rig.host, BP_MESH_API, 2);
}

static void expect_meshes(void)
{
    static const uint32_t triangles[MESHES] = {2, 2, 1, 0};
    for (uint32_t i = 0; i < MESHES; i++) {
        uint32_t count;
        bp_colour_t colour;
        get(shown[i], "mesh", "triangle_count", BP_U32, &count);
        get(shown[i], "mesh", "colour", BP_COLOUR, &colour);
        ck_assert_uint_eq(count, triangles[i]);
        ck_assert(colour.r == 0.25f * (float)i);
    }
    ck_assert_uint_eq(mesh_table()->resource_count(meshes()), 2);
    ck_assert_uint_eq(mesh_table()->references(meshes(), "reload_square.obj"), 2);
    ck_assert_uint_eq(mesh_table()->references(meshes(), "reload_triangle.obj"), 1);
}

START_TEST(meshes_whose_files_have_gone_stay_as_they_are)
{
    uint32_t slot = 2;
    const bp_mesh_resource_t *before, *after;
    begin_meshes();
    mesh_table()->resource(meshes(), &slot, 1, &before);
    for (uint32_t i = 0; i < 3; i++) {
        WORKS(rig.host, reload("mesh", ""));
        ck_assert_ptr_nonnull(strstr(report.text, "its state went over as it is"));
        expect_meshes();
    }
    mesh_table()->resource(meshes(), &slot, 1, &after);
    ck_assert_ptr_eq(before, after);
    ck_assert(after->positions[7] == 3);
    rig.api->entity->destroy(rig.host, &shown[2], 1);
    ck_assert_uint_eq(mesh_table()->resource_count(meshes()), 1);
    end();
}
END_TEST

START_TEST(instances_of_another_form_find_their_resources_loaded)
{
    begin_meshes();
    WORKS(rig.host, reload("mesh", "_other_instances"));
    ck_assert_ptr_nonnull(strstr(report.text, "saved by the old code and loaded by the new"));
    expect_meshes();
    WORKS(rig.host, reload("mesh", ""));
    expect_meshes();
    end();
}
END_TEST

START_TEST(resources_of_another_form_are_read_again_or_the_reload_is_refused)
{
    begin_meshes();
    char *before = describe_host(rig.host);
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "reload_square.obj", reload("mesh", "_other_form"));
    expect_same(before, describe_host(rig.host), "a refused reload");
    expect_meshes();
    before = describe_host(rig.host);
    scratch_file("reload_square.obj", square);
    FAILS(rig.host, BP_ERROR_SYNTAX, "reload_triangle.obj:1", reload("mesh", "_other_form"));
    expect_same(before, describe_host(rig.host), "a refused reload");
    scratch_file("reload_triangle.obj", triangle);
    WORKS(rig.host, reload("mesh", "_other_form"));
    expect_meshes();
    end();
}
END_TEST

START_TEST(meshes_come_back_from_a_probation)
{
    begin_meshes();
    rig.host->reload.probation_steps = 10;
    WORKS(rig.host, reload("mesh", _i == 0 ? "" : "_other_instances"));
    set_text(shown[3], "mesh", "resource", "reload_square.obj");
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    uint32_t count;
    get(shown[2], "mesh", "triangle_count", BP_U32, &count);
    ck_assert_uint_eq(count, 1);
    end();
}
END_TEST

/* --- transform ------------------------------------------------------------------------------------------ */

enum { NODES = 400 };

static bp_entity_t nodes[NODES];
static bp_mat4_t poses[NODES];

static void link_node(uint32_t child, uint32_t parent)
{
    set(nodes[child], "transform", "parent", BP_ENTITY, &nodes[parent]);
}

/* A tree whose siblings were linked in no order, with children of the dead whose matrices no local pose gives. */
static void begin_nodes(void)
{
    uint64_t random = 7;
    begin();
    component("transform");
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "transform", NULL, NULL, NULL), nodes, NODES));
    for (uint32_t i = 0; i < NODES; i++) {
        bp_vec3_t position = {(float)(i % 7), (float)i, 1}, scale = {1, 1 + (float)(i % 3), 0.5f};
        bp_quat_t rotation = {0.1f * (float)(i % 5), 0.2f, 0.3f, 1};
        set(nodes[i], "transform", "position", BP_VEC3, &position);
        set(nodes[i], "transform", "rotation", BP_QUAT, &rotation);
        set(nodes[i], "transform", "scale", BP_VEC3, &scale);
    }
    for (uint32_t i = NODES - 1; i > 0; i--)
        link_node(i, bp_random_below(&random, i < 20 ? i : 20));
    for (uint32_t i = 3; i < 12; i += 2)
        rig.api->entity->destroy(rig.host, &nodes[i], 1);
}

static bool is_alive(uint32_t node)
{
    return rig.api->entity->alive(rig.host, &nodes[node], 1, NULL) == 1;
}

static void note_poses(void)
{
    for (uint32_t i = 0; i < NODES; i++) {
        if (is_alive(i))
            get(nodes[i], "transform", "world", BP_MAT4, &poses[i]);
    }
}

/* The entities of all trees, each in preorder. */
static uint32_t list_trees(bp_entity_t *list)
{
    const bp_transform_api *table = rig.api->registry->find(rig.host, BP_TRANSFORM_API, 2);
    bp_manager_t *m = rig.api->world->manager(world, rig.api->world->component(world, "transform"));
    bp_transform_view_t view = {.struct_size = sizeof view};
    uint32_t count = 0, slots[NODES];
    table->view(m, &view);
    for (uint32_t i = 0; i < NODES; i++) {
        uint32_t slot;
        bp_entity_t parent = {0};
        if (is_alive(i))
            get(nodes[i], "transform", "parent", BP_ENTITY, &parent);
        if (!is_alive(i) || parent.id != 0)
            continue;
        table->find(m, &nodes[i], 1, &slot);
        uint32_t found = table->subtree(m, slot, slots, NODES);
        for (uint32_t k = 0; k < found; k++)
            list[count++] = view.entities[slots[k]];
    }
    return count;
}

static const char *const versions[] = {"", "_other_form"};

START_TEST(a_hierarchy_keeps_its_matrices_and_the_order_of_siblings)
{
    bp_entity_t before[NODES], after[NODES];
    bp_vec3_t moved = {100, 0, 0};
    begin_nodes();
    if (_i >= 2)
        steps(1); /* which packs families, if it pays */
    note_poses();
    uint32_t count = list_trees(before);
    WORKS(rig.host, reload("transform", versions[_i % 2]));
    ck_assert_ptr_nonnull(strstr(report.text, _i % 2 == 0 ? "its state went over as it is"
                                                          : "saved by the old code and loaded by the new"));
    check_host(rig.host);
    ck_assert_uint_eq(list_trees(after), count);
    ck_assert_mem_eq(before, after, count * sizeof *before);
    for (uint32_t i = 0; i < NODES; i++) {
        bp_mat4_t pose = poses[i];
        if (is_alive(i))
            get(nodes[i], "transform", "world", BP_MAT4, &pose);
        EXPECT(memcmp(&pose, &poses[i], sizeof pose) == 0, "node %u has moved", i);
    }
    set(nodes[0], "transform", "position", BP_VEC3, &moved);
    steps(2);
    rig.api->entity->destroy(rig.host, &nodes[0], 1);
    check_host(rig.host);
    WORKS(rig.host, reload("transform", ""));
    end();
}
END_TEST

START_TEST(an_empty_hierarchy_goes_over_too)
{
    begin();
    component("transform");
    WORKS(rig.host, reload("transform", "_other_form"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "transform", NULL, NULL, NULL), nodes, 2));
    link_node(1, 0);
    rig.api->entity->destroy(rig.host, nodes, 2);
    WORKS(rig.host, reload("transform", ""));
    end();
}
END_TEST

START_TEST(a_hierarchy_that_has_no_memory_to_go_over_stays)
{
    begin_nodes();
    note_poses();
    put_plugin("transform_other_form", "transform");
    bp_result_t result = BP_ERROR_MEMORY;
    const char *name = "transform";
    uint64_t refused = 0;
    for (uint64_t i = 1; result != BP_OK; i++) {
        rig.heap.requests = 0;
        rig.heap.refuse_first = rig.heap.refuse_last = i;
        rig.heap.refused = 0;
        result = bp_host_reload(rig.host, &name, 1, NULL);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        refused += rig.heap.refused;
        EXPECT(result == BP_OK || rig.heap.refused > 0, "request %llu: %s", (unsigned long long)i,
               bp_host_error(rig.host));
        check_host(rig.host);
        rig.log = (log_text_t){.count = 0};
        bp_mat4_t pose;
        get(nodes[NODES - 1], "transform", "world", BP_MAT4, &pose);
        ck_assert_mem_eq(&pose, &poses[NODES - 1], sizeof pose);
    }
    ck_assert_uint_gt(refused, 10);
    end();
}
END_TEST

/* --- slots that a manager asks for ------------------------------------------------------------------------ */

/* Rows are met by prototype and entities were made the other way round, so no instance keeps its slot. */
START_TEST(a_manager_that_looks_up_slots_while_it_is_carried_finds_its_own)
{
    begin();
    component("mesh");
    WORKS(rig.host, bp_host_load_plugin(rig.host, put_plugin("pairs", "pairs"), NULL, 0));
    WORKS(rig.host, bp_world_use_component(world, "pairs"));
    uint32_t pairs = key_of(world, "pairs", ""), mesh = key_of(world, "mesh", "");
    WORKS(rig.host, rig.api->entity->create(rig.host, nodes, NODES));
    for (uint32_t i = 0; i < NODES; i++) {
        WORKS(rig.host, rig.api->world->add(world, pairs, &nodes[NODES - 1 - i], 1));
        if (i % 3 == 0)
            WORKS(rig.host, rig.api->world->add(world, mesh, &nodes[i], 1));
    }
    for (uint32_t i = 0; i < NODES; i++)
        set(nodes[i], "pairs", "partner", BP_ENTITY, &nodes[i * 7 % NODES]);
    for (uint32_t pass = 0; pass < 2; pass++) {
        put_plugin("pairs", "pairs");
        WORKS(rig.host, bp_host_reload(rig.host, &(const char *){"pairs"}, 1, &report));
        ck_assert_ptr_nonnull(strstr(report.text, "carried over by properties"));
        for (uint32_t i = 0; i < NODES; i++) {
            bp_entity_t partner;
            get(nodes[i], "pairs", "partner", BP_ENTITY, &partner);
            EXPECT(partner.id == nodes[i * 7 % NODES].id, "the partner of %u is another", i);
        }
    }
    end();
}
END_TEST

/* --- debug_name ----------------------------------------------------------------------------------------- */

START_TEST(names_are_found_as_before)
{
    bp_entity_t found[4];
    char name[16];
    begin();
    component("debug_name");
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "debug_name", NULL, NULL, NULL), nodes, NODES));
    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(name, sizeof name, "name %u", i % 100);
        set_text(nodes[i], "debug_name", "name", name);
    }
    const bp_debug_name_api *names = rig.api->registry->find(rig.host, BP_DEBUG_NAME_API, 1);
    bp_manager_t *m = rig.api->world->manager(world, rig.api->world->component(world, "debug_name"));
    ck_assert_uint_eq(names->find(m, "name 7", found, 4), 4);
    WORKS(rig.host, reload("debug_name", versions[_i]));
    ck_assert_uint_eq(names->find(m, "name 7", found, 4), 4);
    ck_assert_uint_eq(found[1].id, nodes[107].id);
    set_text(nodes[107], "debug_name", "name", "other");
    ck_assert_uint_eq(names->find(m, "name 7", found, 4), 3);
    ck_assert_uint_eq(names->find(m, "other", found, 4), 1);
    WORKS(rig.host, reload("debug_name", ""));
    ck_assert_uint_eq(names->find(m, "other", found, 4), 1);
    end();
}
END_TEST

/* --- recorder ------------------------------------------------------------------------------------------- */

static const char csv[] = TEST_SCRATCH_DIR "/reload.csv", svg[] = TEST_SCRATCH_DIR "/reload.svg";

static bp_entity_t bodies[2];

static void begin_recording(void)
{
    const bp_option_t options[] = {{.name = "properties",
                                    .value = "main/#0:1.point_mass.position main/#1:1.point_mass.mass"},
                                   {.name = "csv", .value = csv},
                                   {.name = "svg", .value = svg}};
    bp_vec3_t velocity = {1, 0.5f, 0};
    remove(csv);
    remove(svg);
    begin();
    component("point_mass");
    load("recorder", options, 3);
    WORKS(rig.host, bp_world_use_system(world, "recorder"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "point_mass", NULL, NULL, NULL), bodies, 2));
    set(bodies[0], "point_mass", "velocity", BP_VEC3, &velocity);
}

static char *read_csv(void)
{
    FILE *file = fopen(csv, "rb");
    EXPECT(file != NULL, "%s is not there", csv);
    char *text = calloc(1, 65536);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_lt(fread(text, 1, 65535, file), 65535);
    fclose(file);
    return text;
}

/* A header, and then one row for each of `count` steps, every one with five cells; returns the last row. */
static void expect_rows(uint32_t count, bool last_mass)
{
    char *text = read_csv(), *line = strtok(text, "\n");
    ck_assert_msg(line != NULL && strncmp(line, "time,main/#0:1.point_mass.position.x (m),", 41) == 0, "%s", line);
    for (uint32_t i = 0; i < count; i++) {
        double time, x, y, z, mass;
        line = strtok(NULL, "\n");
        EXPECT(line != NULL, "only %u rows", i);
        int cells = sscanf(line, "%lf,%lf,%lf,%lf,%lf", &time, &x, &y, &z, &mass);
        EXPECT(cells == 5 || (cells == 4 && !last_mass && line[strlen(line) - 1] == ','), "row %u: %s", i, line);
        ck_assert_double_eq_tol(time, (i + 1) / 10.0, 1e-9);
        ck_assert_double_eq_tol(x, (i + 1) / 10.0, 1e-5);
    }
    ck_assert_ptr_null(strtok(NULL, "\n"));
    free(text);
    FILE *part = fopen(TEST_SCRATCH_DIR "/reload.csv.part", "rb");
    ck_assert_msg(part == NULL, "the file's beginning is still there");
}

START_TEST(rows_go_on_through_reloads)
{
    begin_recording();
    for (uint32_t i = 0; i < 6; i++) {
        steps(5);
        WORKS(rig.host, reload("recorder", versions[i % 3 == 0]));
    }
    steps(5);
    end();
    expect_rows(35, true);
}
END_TEST

START_TEST(rows_begin_after_a_reload)
{
    begin_recording();
    WORKS(rig.host, reload("recorder", "_other_form"));
    steps(3);
    end();
    expect_rows(3, true);
}
END_TEST

START_TEST(columns_stay_though_an_entity_has_gone)
{
    begin_recording();
    steps(4);
    rig.api->entity->destroy(rig.host, &bodies[1], 1);
    WORKS(rig.host, reload("recorder", "_other_form"));
    steps(4);
    end();
    expect_rows(8, false);
}
END_TEST

START_TEST(a_reload_that_is_refused_or_taken_back_loses_no_rows)
{
    begin_recording();
    steps(4);
    const char *names[] = {"recorder", "point_mass"};
    put_plugin("recorder_other_form", "recorder");
    put_bytes("no plugin", 9, "point_mass");
    FAILS(rig.host, BP_ERROR_ABI, "point_mass", bp_host_reload(rig.host, names, 2, NULL));
    steps(4);
    rig.host->reload.probation_steps = 100;
    WORKS(rig.host, reload("recorder", "_other_form"));
    steps(4);
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    steps(4);
    rig.host->reload.probation_steps = 0;
    end();
    expect_rows(16, true);
}
END_TEST

START_TEST(a_second_world_is_still_refused)
{
    begin_recording();
    WORKS(rig.host, reload("recorder", "_other_form"));
    bp_world_o *second = bp_world_create(rig.host, &(bp_world_desc_t){.name = "second"});
    FAILS(rig.host, BP_ERROR_STATE, "another world", bp_world_use_system(second, "recorder"));
    steps(2);
    end();
    expect_rows(2, true);
}
END_TEST

Suite *reload_plugins_suite(void)
{
    Suite *suite = suite_create("reload_plugins");
    TCase *mesh = tcase_create("mesh"), *transform = tcase_create("transform"), *slots = tcase_create("slots"),
          *names = tcase_create("debug_name"), *recorder = tcase_create("recorder");
    tcase_add_test(mesh, meshes_whose_files_have_gone_stay_as_they_are);
    tcase_add_test(mesh, instances_of_another_form_find_their_resources_loaded);
    tcase_add_test(mesh, resources_of_another_form_are_read_again_or_the_reload_is_refused);
    tcase_add_loop_test(mesh, meshes_come_back_from_a_probation, 0, 2);
    tcase_add_loop_test(transform, a_hierarchy_keeps_its_matrices_and_the_order_of_siblings, 0, 4);
    tcase_add_test(transform, an_empty_hierarchy_goes_over_too);
    tcase_add_test(transform, a_hierarchy_that_has_no_memory_to_go_over_stays);
    tcase_add_test(slots, a_manager_that_looks_up_slots_while_it_is_carried_finds_its_own);
    tcase_add_loop_test(names, names_are_found_as_before, 0, 2);
    tcase_add_test(recorder, rows_go_on_through_reloads);
    tcase_add_test(recorder, rows_begin_after_a_reload);
    tcase_add_test(recorder, columns_stay_though_an_entity_has_gone);
    tcase_add_test(recorder, a_reload_that_is_refused_or_taken_back_loses_no_rows);
    tcase_add_test(recorder, a_second_world_is_still_refused);
    suite_add_tcase(suite, mesh);
    suite_add_tcase(suite, transform);
    suite_add_tcase(suite, slots);
    suite_add_tcase(suite, names);
    suite_add_tcase(suite, recorder);
    return suite;
}
