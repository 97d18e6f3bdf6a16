/* test_shapes.c - how entities look and where they stand: mesh, render_data and transform, seen from outside.
 *
 * Matrices are compared with a second computation here, in double.
 */
/* realpath, beyond C11. */
#define _DEFAULT_SOURCE 1
#if defined(_WIN32)
#define realpath(path, whole) _fullpath(whole, path, sizeof whole)
#endif
#include "../suites.h"
#include "plugin_stage.h"

#include <bp_query.h>
#include <components/mesh.h>
#include <components/render_data.h>
#include <components/transform.h>

/* --- mesh --------------------------------------------------------------------------------------------------------- */

static const bp_mesh_api *meshes;

static void begin_meshes(void)
{
    const bp_option_t folder = {"folder", TEST_SOURCE_DIR "/config/meshes", NULL, NULL};
    begin(0);
    load("mesh", &folder, 1);
    OK(bp_world_use_component(world, "mesh"));
    meshes = api->registry->find(host, BP_MESH_API, 1);
    ck_assert_ptr_nonnull(meshes);
}

static const bp_mesh_resource_t *resource_of(bp_world_o *w, bp_entity_t e, const char *name)
{
    uint32_t slot;
    const bp_mesh_resource_t *resource;
    ck_assert_uint_eq(api->world->slots(w, key_in(w, "mesh", name), &e, 1, &slot), 1);
    meshes->resource(manager_of(w, "mesh"), &slot, 1, &resource);
    return resource;
}

static uint32_t resources(void)
{
    return meshes->resource_count(manager_of(world, "mesh"));
}

START_TEST(a_mesh_is_read_from_its_file)
{
    bp_entity_t e[2];
    uint32_t vertices, triangles;
    begin_meshes();
    create("mesh", e, 2);
    set_text(e[0], "mesh", "resource", "cube.obj");
    set_text(e[1], "mesh", "resource", "icosahedron.obj");
    get(e[0], "mesh", "vertex_count", BP_U32, &vertices);
    get(e[0], "mesh", "triangle_count", BP_U32, &triangles);
    ck_assert_uint_eq(vertices, 8);
    ck_assert_uint_eq(triangles, 12);
    bp_vec3_t low = vector_of(e[0], "mesh", "bounds_min"), high = vector_of(e[0], "mesh", "bounds_max");
    ck_assert(low.x == -1 && low.y == -1 && low.z == -1 && high.x == 1 && high.y == 1 && high.z == 1);
    const bp_mesh_resource_t *cube = resource_of(world, e[0], ""), *ball = resource_of(world, e[1], "");
    ck_assert_uint_eq(ball->vertex_count, 12);
    ck_assert_uint_eq(ball->triangle_count, 20);
    for (uint32_t i = 0; i < 3 * cube->triangle_count; i++)
        ck_assert_uint_lt(cube->indices[i], cube->vertex_count);
    for (uint32_t i = 0; i < ball->vertex_count; i++) {
        const float *p = ball->positions + 3 * i;
        ck_assert_double_eq_tol(length_of((bp_vec3_t){p[0], p[1], p[2]}), 1, 1e-6);
    }
    end();
}
END_TEST

START_TEST(a_scene_with_a_file_that_is_missing_names_the_entity)
{
    static const char scene_of[] =
        "{\"entities\": [{\"name\": \"floor\", \"components\": {\"mesh\": {}%s}},"
        " {\"name\": \"lamp\", \"components\": {\"mesh\": {\"resource\": \"no_lamp.obj\"}%s}},"
        " {\"name\": \"door\", \"components\": {\"mesh\": {\"resource\": \"cube.obj\"}%s}}]}";
    static const char *const labels[] = {"", ", \"debug_name\": {}"};
    char text[1024];
    bp_scene_o *scene;
    begin_meshes();
    load("debug_name", NULL, 0);
    OK(bp_world_use_component(world, "debug_name"));
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text, scene_of, labels[i], labels[i], labels[i]);
        OK(bp_scene_compile_text(host, "room", text, strlen(text), &scene));
        REFUSED(BP_ERROR_NOT_FOUND, i == 0 ? "room: entity 1: mesh: " : "room: entity 'lamp': mesh: ",
                bp_scene_spawn(scene, world, 0, NULL, NULL));
        ck_assert_ptr_nonnull(strstr(bp_host_error(host), "no_lamp.obj"));
        bp_scene_close(scene);
        ck_assert_uint_eq(resources(), 0);
        ck_assert_uint_eq(api->entity->count(host), 0);
    }
    end();
}
END_TEST

/* Every triangle of a closed body that turns counter-clockwise looks away from its middle. */
START_TEST(the_triangles_of_the_meshes_that_ship_look_outwards)
{
    static const char *const files[] = {"cube.obj", "icosahedron.obj"};
    bp_entity_t e;
    begin_meshes();
    create("mesh", &e, 1);
    set_text(e, "mesh", "resource", files[_i]);
    const bp_mesh_resource_t *r = resource_of(world, e, "");
    for (uint32_t t = 0; t < r->triangle_count; t++) {
        const float *a = r->positions + 3 * r->indices[3 * t], *b = r->positions + 3 * r->indices[3 * t + 1];
        const float *c = r->positions + 3 * r->indices[3 * t + 2];
        float u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
        float n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
        ck_assert_msg(n[0] * a[0] + n[1] * a[1] + n[2] * a[2] > 0, "triangle %u of %s", t, files[_i]);
    }
    end();
}
END_TEST

START_TEST(a_mesh_is_loaded_once_and_freed_with_the_last_that_shows_it)
{
    bp_entity_t e[100];
    begin_meshes();
    create("mesh", e, 100);
    ck_assert_uint_eq(resources(), 0);
    for (uint32_t i = 0; i < 100; i++)
        set_text(e[i], "mesh", "resource", i < 60 ? "cube.obj" : "icosahedron.obj");
    bp_manager_t *m = manager_of(world, "mesh");
    ck_assert_uint_eq(resources(), 2);
    ck_assert_uint_eq(meshes->references(m, "cube.obj"), 60);
    ck_assert_ptr_eq(resource_of(world, e[0], ""), resource_of(world, e[59], ""));
    ck_assert_uint_eq(resource_of(world, e[0], "")->references, 60);
    api->entity->destroy(host, e, 59);
    ck_assert_uint_eq(meshes->references(m, "cube.obj"), 1); /* told at once, without a step */
    set_text(e[59], "mesh", "resource", "");
    ck_assert_uint_eq(meshes->references(m, "cube.obj"), 0);
    ck_assert_uint_eq(resources(), 1);
    ck_assert_ptr_null(resource_of(world, e[59], ""));
    OK(api->world->remove(world, key_of("mesh"), e + 60, 40));
    ck_assert_uint_eq(resources(), 0);
    end();
}
END_TEST

/* More meshes than the table of their names has room for at first: each is found again, and goes with its last. */
START_TEST(many_meshes_are_loaded_once_each)
{
    enum { MANY = 50 };
    bp_entity_t e[2 * MANY];
    char name[2 * MANY + sizeof "cube.obj"] = "cube.obj";
    begin_meshes();
    create("mesh", e, 2 * MANY);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < MANY; i++) {
            snprintf(name + 2 * i, sizeof name - 2 * i, "cube.obj"); /* "./././cube.obj" */
            set_text(e[round * MANY + i], "mesh", "resource", name);
            ck_assert_uint_eq(meshes->references(manager_of(world, "mesh"), name), round + 1);
            memcpy(name + 2 * i, "./", 2);
        }
        ck_assert_uint_eq(resources(), MANY);
    }
    OK(api->world->remove(world, key_of("mesh"), e, 2 * MANY));
    ck_assert_uint_eq(resources(), 0);
    end();
}
END_TEST

START_TEST(worlds_share_meshes)
{
    bp_entity_t e;
    const char *cube = "cube.obj";
    begin_meshes();
    create("mesh", &e, 1);
    set_text(e, "mesh", "resource", cube);
    bp_world_o *other = bp_world_create(host, &(bp_world_desc_t){.name = "inventory"});
    OK(bp_world_use_component(other, "mesh"));
    OK(api->world->add(other, key_in(other, "mesh", ""), &e, 1));
    OK(api->property->set_named(other, e, "mesh", "resource", BP_STRING, &cube));
    ck_assert_uint_eq(resources(), 1);
    ck_assert_uint_eq(meshes->references(manager_of(other, "mesh"), cube), 2);
    ck_assert_ptr_eq(resource_of(world, e, ""), resource_of(other, e, ""));
    bp_world_destroy(other);
    ck_assert_uint_eq(meshes->references(manager_of(world, "mesh"), cube), 1);
    end();
}
END_TEST

START_TEST(an_entity_shows_several_meshes)
{
    bp_entity_t e;
    begin_meshes();
    OK(api->entity->create(host, &e, 1));
    OK(api->world->add(world, key_in(world, "mesh", "body"), &e, 1));
    OK(api->world->add(world, key_in(world, "mesh", "hat"), &e, 1));
    set_text(e, "body", "resource", "cube.obj");
    set_text(e, "hat", "resource", "icosahedron.obj");
    ck_assert_uint_eq(resource_of(world, e, "body")->triangle_count, 12);
    ck_assert_uint_eq(resource_of(world, e, "hat")->triangle_count, 20);
    OK(api->world->remove(world, key_in(world, "mesh", "body"), &e, 1));
    ck_assert_uint_eq(resource_of(world, e, "hat")->triangle_count, 20);
    ck_assert_uint_eq(resources(), 1);
    end();
}
END_TEST

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    ck_assert_msg(file != NULL, "%s cannot be written", path);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(a_wrong_file_leaves_the_mesh_as_it_was)
{
    static char bad[4096];
    write_file(TEST_SCRATCH_DIR "/bad.obj", "");
    ck_assert_ptr_nonnull(realpath(TEST_SCRATCH_DIR "/bad.obj", bad));
    const char *missing = "no_such.obj", *damaged = bad, *values[3] = {"icosahedron.obj", bad, "cube.obj"};
    bp_entity_t e[3];
    bp_property_t property;
    write_file(bad, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n");
    begin_meshes();
    create("mesh", e, 3);
    set_text(e[0], "mesh", "resource", "cube.obj");
    REFUSED(BP_ERROR_NOT_FOUND, "no_such.obj",
            api->property->set_named(world, e[0], "mesh", "resource", BP_STRING, &missing));
    bp_result_t result = api->property->set_named(world, e[0], "mesh", "resource", BP_STRING, &damaged);
    ck_assert_int_ne(result, BP_OK);
    ck_assert_msg(strstr(bp_host_error(host), "bad.obj:4") != NULL, "%s", bp_host_error(host));
    OK(api->property->resolve(world, e[0], "mesh", "resource", &property));
    ck_assert_int_eq(api->property->set(world, &property, e, 3, values, sizeof values[0]), result);
    ck_assert_uint_eq(resources(), 1);
    ck_assert_uint_eq(meshes->references(manager_of(world, "mesh"), "cube.obj"), 1);
    ck_assert_str_eq(resource_of(world, e[0], "")->name, "cube.obj");
    ck_assert_ptr_null(resource_of(world, e[1], ""));
    end();
}
END_TEST

/* --- render_data -------------------------------------------------------------------------------------------------- */

START_TEST(fog_and_vignette_of_one_entity_have_settings_of_their_own)
{
    bp_entity_t e;
    float number;
    uint32_t runs = 0;
    begin(0);
    use("render_data");
    uint32_t keys[2] = {key_in(world, "render_data", "fog"), key_in(world, "render_data", "vignette")},
             prototype;
    OK(api->world->prototype(world, keys, 2, &prototype));
    OK(api->world->create(world, prototype, &e, 1));
    set(e, "fog", "far", BP_F32, &(float){250});
    set(e, "vignette", "softness", BP_F32, &(float){0.125f});
    get(e, "vignette", "far", BP_F32, &number);
    ck_assert_float_eq(number, 1000);
    get(e, "fog", "far", BP_F32, &number);
    ck_assert_float_eq(number, 250);
    REFUSED(BP_ERROR_RANGE, "softness",
            api->property->set_named(world, e, "vignette", "softness", BP_F32, &(float){1.5f}));
    REFUSED(BP_ERROR_EXISTS, "fog", api->world->add(world, keys[0], &e, 1));
    const bp_query_api *queries = api->registry->find(host, BP_QUERY_API, 1);
    for (uint32_t i = 0; i < 2; i++) {
        const bp_term_field_t far = {.name = "far", .type = BP_F32};
        const bp_term_t term = {.component = "render_data", .instance = i == 0 ? "fog" : "vignette",
                                .fields = {&far, 1, sizeof far}};
        bp_query_o *query;
        OK(queries->make(world, NULL, &(bp_term_list_t){&term, 1, sizeof term}, 0, &query));
        OK(queries->begin(query, 0));
        for (const bp_match_t *match; (match = queries->next(query)) != NULL; runs++)
            ck_assert_float_eq(*BP_TERM_COLUMN(match, float, 0, 0), i == 0 ? 250 : 1000);
        queries->end(query);
    }
    ck_assert_uint_eq(runs, 2);
    end();
}
END_TEST

/* --- transform ---------------------------------------------------------------------------------------------------- */

/* Translation, rotation and scale as a matrix for column vectors, column by column, by way of rotating the
 * axes: v' = v + 2 q x (q x v + w v). */
static void reference_matrix(bp_vec3_t p, bp_quat_t q, bp_vec3_t s, double m[16])
{
    const double u[3] = {(double)q.x, (double)q.y, (double)q.z}, w = (double)q.w,
                 scale[3] = {(double)s.x, (double)s.y, (double)s.z};
    for (int column = 0; column < 3; column++) {
        double v[3] = {column == 0, column == 1, column == 2}, t[3], r[3];
        for (int i = 0; i < 3; i++)
            t[i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3] + w * v[i];
        for (int i = 0; i < 3; i++)
            r[i] = v[i] + 2 * (u[(i + 1) % 3] * t[(i + 2) % 3] - u[(i + 2) % 3] * t[(i + 1) % 3]);
        for (int i = 0; i < 3; i++)
            m[column * 4 + i] = r[i] * scale[column];
        m[column * 4 + 3] = 0;
    }
    m[12] = (double)p.x;
    m[13] = (double)p.y;
    m[14] = (double)p.z;
    m[15] = 1;
}

static bp_quat_t random_turn(uint64_t *random)
{
    bp_quat_t q = {random_float(random, 1), random_float(random, 1), random_float(random, 1),
                   random_float(random, 1)};
    double length = sqrt((double)q.x * (double)q.x + (double)q.y * (double)q.y + (double)q.z * (double)q.z +
                         (double)q.w * (double)q.w);
    return (bp_quat_t){(float)((double)q.x / length), (float)((double)q.y / length),
                       (float)((double)q.z / length), (float)((double)q.w / length)};
}

static void expect_matrix(bp_entity_t e, bp_vec3_t p, bp_quat_t q, bp_vec3_t s)
{
    bp_mat4_t found;
    double expected[16];
    get(e, "transform", "world", BP_MAT4, &found);
    reference_matrix(p, q, s, expected);
    for (int i = 0; i < 16; i++)
        ck_assert_double_eq_tol((double)found.m[i], expected[i], 2e-5);
}

enum { POSES = 300 };

START_TEST(the_world_matrix_is_translation_rotation_and_scale)
{
    static bp_entity_t e[POSES];
    static bp_vec3_t p[POSES], s[POSES];
    static bp_quat_t q[POSES];
    static uint32_t slots[POSES];
    uint64_t random = 9;
    begin(0);
    use("transform");
    create("transform", e, POSES);
    expect_matrix(e[0], (bp_vec3_t){0, 0, 0}, (bp_quat_t){0, 0, 0, 1}, (bp_vec3_t){1, 1, 1});
    for (uint32_t i = 0; i < POSES; i++) {
        p[i] = random_vector(&random, 20);
        s[i] = random_vector(&random, 3);
        q[i] = random_turn(&random);
        set(e[i], "transform", "rotation", BP_QUAT, &q[i]);
        set(e[i], "transform", "position", BP_VEC3, &p[i]);
        set(e[i], "transform", "scale", BP_VEC3, &s[i]);
    }
    for (uint32_t i = 0; i < POSES; i++)
        expect_matrix(e[i], p[i], q[i], s[i]);

    /* Once more by the table, and with gaps. */
    const bp_transform_api *transforms = api->registry->find(host, BP_TRANSFORM_API, 1);
    bp_manager_t *m = manager_of(world, "transform");
    api->entity->destroy(host, e, POSES / 3);
    steps(20);
    for (uint32_t i = POSES / 3; i < POSES; i++)
        expect_matrix(e[i], p[i], q[i], s[i]);
    uint32_t left = POSES - POSES / 3;
    ck_assert_uint_eq(api->world->slots(world, key_of("transform"), e + POSES / 3, left, slots), left);
    for (uint32_t i = POSES / 3; i < POSES; i++)
        q[i] = random_turn(&random);
    OK(transforms->set_local(m, slots, left, NULL, q + POSES / 3, NULL));
    bp_vec3_t positions[POSES];
    transforms->local(m, slots, left, positions, NULL, NULL);
    for (uint32_t i = 0; i < left; i++) {
        expect_matrix(e[POSES / 3 + i], p[POSES / 3 + i], q[POSES / 3 + i], s[POSES / 3 + i]);
        ck_assert_mem_eq(&positions[i], &p[POSES / 3 + i], sizeof positions[i]);
        ck_assert_float_eq(transforms->world(m)[slots[i]].m[12], p[POSES / 3 + i].x);
    }
    end();
}
END_TEST

START_TEST(a_rotation_is_brought_to_length_one)
{
    static const bp_quat_t long_ones[] = {{0, 0, 0, 2}, {0, 3, 0, 4}, {1e30f, 0, 0, 0}, {0, 0, 1e-30f, 0}};
    static const bp_quat_t unit_ones[] = {{0, 0, 0, 1}, {0, 0.6f, 0, 0.8f}, {1, 0, 0, 0}, {0, 0, 1, 0}};
    bp_entity_t e;
    bp_quat_t q;
    begin(0);
    use("transform");
    create("transform", &e, 1);
    set(e, "transform", "rotation", BP_QUAT, &long_ones[_i]);
    get(e, "transform", "rotation", BP_QUAT, &q);
    ck_assert_float_eq_tol(q.x, unit_ones[_i].x, 1e-6f);
    ck_assert_float_eq_tol(q.y, unit_ones[_i].y, 1e-6f);
    ck_assert_float_eq_tol(q.z, unit_ones[_i].z, 1e-6f);
    ck_assert_float_eq_tol(q.w, unit_ones[_i].w, 1e-6f);
    expect_matrix(e, (bp_vec3_t){0, 0, 0}, unit_ones[_i], (bp_vec3_t){1, 1, 1});
    end();
}
END_TEST

START_TEST(a_rotation_without_direction_is_refused)
{
    static const bp_quat_t bad[] = {{0, 0, 0, 0}, {NAN, 0, 0, 1}, {0, INFINITY, 0, 0}};
    bp_entity_t e[2];
    uint32_t slots[2];
    begin(0);
    use("transform");
    create("transform", e, 2);
    const bp_quat_t turned = {0, 0, 0.6f, 0.8f};
    set(e[0], "transform", "rotation", BP_QUAT, &turned);
    REFUSED(BP_ERROR_RANGE, "not finite",
            api->property->set_named(world, e[0], "transform", "rotation", BP_QUAT, &bad[_i]));
    expect_matrix(e[0], (bp_vec3_t){0, 0, 0}, turned, (bp_vec3_t){1, 1, 1});
    const bp_transform_api *transforms = api->registry->find(host, BP_TRANSFORM_API, 1);
    const bp_quat_t batch[2] = {{1, 0, 0, 0}, bad[_i]};
    const bp_vec3_t positions[2] = {{1, 1, 1}, {2, 2, 2}};
    api->world->slots(world, key_of("transform"), e, 2, slots);
    REFUSED(BP_ERROR_RANGE, "not finite",
            transforms->set_local(manager_of(world, "transform"), slots, 2, positions, batch, NULL));
    expect_matrix(e[0], (bp_vec3_t){0, 0, 0}, turned, (bp_vec3_t){1, 1, 1});
    end();
}
END_TEST

Suite *shapes_suite(void)
{
    Suite *suite = suite_create("shapes");
    TCase *mesh = tcase_create("mesh");
    tcase_add_test(mesh, a_mesh_is_read_from_its_file);
    tcase_add_test(mesh, a_scene_with_a_file_that_is_missing_names_the_entity);
    tcase_add_loop_test(mesh, the_triangles_of_the_meshes_that_ship_look_outwards, 0, 2);
    tcase_add_test(mesh, a_mesh_is_loaded_once_and_freed_with_the_last_that_shows_it);
    tcase_add_test(mesh, many_meshes_are_loaded_once_each);
    tcase_add_test(mesh, worlds_share_meshes);
    tcase_add_test(mesh, an_entity_shows_several_meshes);
    tcase_add_test(mesh, a_wrong_file_leaves_the_mesh_as_it_was);
    suite_add_tcase(suite, mesh);
    TCase *render_data = tcase_create("render_data");
    tcase_add_test(render_data, fog_and_vignette_of_one_entity_have_settings_of_their_own);
    suite_add_tcase(suite, render_data);
    TCase *transform = tcase_create("transform");
    tcase_add_test(transform, the_world_matrix_is_translation_rotation_and_scale);
    tcase_add_loop_test(transform, a_rotation_is_brought_to_length_one, 0, 4);
    tcase_add_loop_test(transform, a_rotation_without_direction_is_refused, 0, 3);
    suite_add_tcase(suite, transform);
    return suite;
}
