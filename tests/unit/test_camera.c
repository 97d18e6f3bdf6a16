/* test_camera.c - what is where and who sees it: boxes of meshes in the world, frusta, cameras, and one entity in
 * two worlds.
 *
 * Whether a frustum meets a box is asked a second time here, by the eight corners of the box in double. Boxes that
 * nearly touch a plane are left out: there rounding decides.
 */
#include "../suites.h"
#include "support.h"

#include <components/camera.h>
#include <components/render_data.h>
#include <components/transform.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct studio_t {
    rig_t rig;
    bp_world_o *world;
    const bp_transform_api *transforms;
    const bp_mesh_api *meshes;
    const bp_camera_api *cameras;
} studio_t;

static void load(studio_t *s, const char *name)
{
    char path[1024];
    const bp_option_t folder = {"folder", TEST_SOURCE_DIR "/config/meshes", NULL, NULL};
    snprintf(path, sizeof path, "%s/%s", TEST_PLUGIN_DIR, name);
    WORKS(s->rig.host, bp_host_load_plugin(s->rig.host, path, &folder, strcmp(name, "mesh") == 0));
}

static const char *const used[] = {BP_TRANSFORM, BP_MESH, BP_CAMERA, BP_RENDER_DATA};

static bp_world_o *new_world(studio_t *s, const char *name)
{
    bp_world_o *world = bp_world_create(s->rig.host, &(bp_world_desc_t){.name = name});
    EXPECT(world != NULL, "no world");
    for (uint32_t i = 0; i < COUNT(used); i++)
        WORKS(s->rig.host, bp_world_use_component(world, used[i]));
    return world;
}

static void open_studio(studio_t *s)
{
    rig_init(&s->rig);
    rig_open(&s->rig);
    for (uint32_t i = 0; i < COUNT(used); i++)
        load(s, used[i]);
    s->world = new_world(s, "main");
    s->transforms = s->rig.api->registry->find(s->rig.host, BP_TRANSFORM_API, 2);
    s->meshes = s->rig.api->registry->find(s->rig.host, BP_MESH_API, 2);
    s->cameras = s->rig.api->registry->find(s->rig.host, BP_CAMERA_API, 1);
    EXPECT(s->transforms != NULL && s->meshes != NULL && s->cameras != NULL, "a table is missing");
}

static bp_manager_t *manager_of(bp_world_o *world, const char *type)
{
    const bp_world_api *w = api_of(world)->world;
    return w->manager(world, w->component(world, type));
}

static void add(bp_world_o *world, const char *type, const char *name, bp_entity_t e)
{
    WORKS(host_of(world), api_of(world)->world->add(world, key_of(world, type, name), &e, 1));
}

static void set(bp_world_o *world, bp_entity_t e, const char *component, const char *property, uint32_t type,
                const void *value)
{
    WORKS(host_of(world), api_of(world)->property->set_named(world, e, component, property, type, value));
}

static void set_text(bp_world_o *world, bp_entity_t e, const char *component, const char *property, const char *text)
{
    set(world, e, component, property, BP_STRING, &text);
}

static void put(bp_world_o *world, bp_entity_t e, float x, float y, float z)
{
    set(world, e, BP_TRANSFORM, "position", BP_VEC3, &(bp_vec3_t){x, y, z});
}

/* An entity with a transform and a mesh. */
static bp_entity_t new_thing(studio_t *s, const char *resource, float x, float y, float z)
{
    bp_entity_t e;
    WORKS(s->rig.host, s->rig.api->entity->create(s->rig.host, &e, 1));
    add(s->world, BP_MESH, "", e);
    add(s->world, BP_TRANSFORM, "", e);
    set_text(s->world, e, BP_MESH, "resource", resource);
    put(s->world, e, x, y, z);
    return e;
}

static bp_entity_t new_camera(bp_world_o *world)
{
    bp_entity_t e;
    WORKS(host_of(world), api_of(world)->entity->create(host_of(world), &e, 1));
    add(world, BP_TRANSFORM, "", e);
    add(world, BP_CAMERA, "", e);
    return e;
}

/* --- boxes ------------------------------------------------------------------------------------------- */

START_TEST(a_mesh_has_a_box_in_the_world_where_its_entity_has_a_transform)
{
    studio_t s;
    bp_vec3_t low, high;
    open_studio(&s);
    bp_entity_t e = new_thing(&s, "cube.obj", 10, 0, 0);
    set(s.world, e, BP_TRANSFORM, "scale", BP_VEC3, &(bp_vec3_t){1, 2, 3});
    set(s.world, e, BP_TRANSFORM, "rotation", BP_QUAT, &(bp_quat_t){0, 0, 0.70710678f, 0.70710678f});
    WORKS(s.rig.host, s.rig.api->property->get_named(s.world, e, BP_MESH, "world_min", BP_VEC3, &low));
    WORKS(s.rig.host, s.rig.api->property->get_named(s.world, e, BP_MESH, "world_max", BP_VEC3, &high));
    ck_assert(fabsf(low.x - 8) < 1e-5f && fabsf(low.y + 1) < 1e-5f && fabsf(low.z + 3) < 1e-5f);
    ck_assert(fabsf(high.x - 12) < 1e-5f && fabsf(high.y - 1) < 1e-5f && fabsf(high.z - 3) < 1e-5f);
    uint32_t slot;
    s.rig.api->world->slots(s.world, key_of(s.world, BP_MESH, ""), &e, 1, &slot);
    ck_assert_uint_eq(s.meshes->world_bounds(manager_of(s.world, BP_MESH), &slot, 1, &low, &high), 1);
    WORKS(s.rig.host, s.rig.api->world->remove(s.world, key_of(s.world, BP_TRANSFORM, ""), &e, 1));
    ck_assert_uint_eq(s.meshes->world_bounds(manager_of(s.world, BP_MESH), &slot, 1, &low, &high), 0);
    ck_assert(low.x == 0 && high.z == 0);
    rig_close(&s.rig);
}
END_TEST

START_TEST(boxes_of_many_meshes_are_read_together)
{
    enum { MANY = 6 };
    studio_t s;
    bp_entity_t e[MANY];
    bp_vec3_t low[MANY], high[MANY];
    bp_property_t of_low, of_high;
    open_studio(&s);
    const bp_property_api *p = s.rig.api->property;
    for (uint32_t i = 0; i < MANY; i++) {
        e[i] = new_thing(&s, "cube.obj", 10 * (float)i, 0, 0);
        WORKS(s.rig.host, p->resolve(s.world, e[0], BP_MESH, "world_min", &of_low)); /* boxes are known from now on */
        WORKS(s.rig.host, p->resolve(s.world, e[0], BP_MESH, "world_max", &of_high));
        WORKS(s.rig.host, p->get(s.world, &of_low, e, i + 1, low, sizeof *low));
        WORKS(s.rig.host, p->get(s.world, &of_high, e, i + 1, high, sizeof *high));
        for (uint32_t k = 0; k <= i; k++) {
            float x = 10 * (float)k;
            EXPECT(fabsf(low[k].x - x + 1) < 1e-5f && fabsf(high[k].x - x - 1) < 1e-5f && fabsf(high[k].y - 1) < 1e-5f,
                   "mesh %u of %u reaches from %g to %g", k, i + 1, (double)low[k].x, (double)high[k].x);
        }
    }
    rig_close(&s.rig);
}
END_TEST

/* --- frusta against a second opinion --------------------------------------------------------------------- */

enum { THINGS = 400, ROUNDS = 60 };

typedef struct thing_t {
    bp_entity_t e;
    bool alive, placed, shown, visible;
} thing_t;

static float share(uint64_t *random, double low, double high)
{
    return (float)(low + (high - low) * ((double)(bp_random_next(random) >> 11) / 9007199254740992.0));
}

/* How far inside the box around the transformed corners lies: negative is outside, near 0 undecided. */
static double inside_by(const bp_frustum_t *f, const bp_mat4_t *m, const bp_mesh_resource_t *r)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, least = HUGE_VAL;
    for (int corner = 0; corner < 8; corner++) {
        const double p[3] = {(double)(corner & 1 ? r->bounds_max.x : r->bounds_min.x),
                             (double)(corner & 2 ? r->bounds_max.y : r->bounds_min.y),
                             (double)(corner & 4 ? r->bounds_max.z : r->bounds_min.z)};
        for (int i = 0; i < 3; i++) {
            double at = (double)m->m[12 + i];
            for (int c = 0; c < 3; c++)
                at += (double)m->m[4 * c + i] * p[c];
            low[i] = fmin(low[i], at);
            high[i] = fmax(high[i], at);
        }
    }
    for (int k = 0; k < 6; k++) {
        const bp_vec4_t *p = &f->planes[k];
        const double n[3] = {(double)p->x, (double)p->y, (double)p->z};
        double nearest = (double)p->w;
        for (int i = 0; i < 3; i++)
            nearest += n[i] * (n[i] > 0 ? high[i] : low[i]);
        least = fmin(least, nearest);
    }
    return least;
}

static void expect_seen(studio_t *s, const thing_t *things, const bp_frustum_t *frustum)
{
    static uint32_t slots[THINGS], told[THINGS * 2];
    bp_manager_t *meshes = manager_of(s->world, BP_MESH), *transforms = manager_of(s->world, BP_TRANSFORM);
    uint32_t count;
    WORKS(s->rig.host, s->meshes->seen(meshes, frustum, told, THINGS * 2, &count));
    for (uint32_t i = 1; i < count; i++)
        EXPECT(told[i] > told[i - 1], "slots are not in order");
    for (uint32_t i = 0; i < THINGS; i++) {
        const bp_mesh_resource_t *resource;
        uint32_t place, found = 0;
        if (!things[i].alive)
            continue;
        s->rig.api->world->slots(s->world, key_of(s->world, BP_MESH, ""), &things[i].e, 1, &slots[i]);
        s->meshes->resource(meshes, &slots[i], 1, &resource);
        s->transforms->find(transforms, &things[i].e, 1, &place);
        EXPECT((place != BP_NONE) == things[i].placed && (resource != NULL) == things[i].shown, "thing %u", i);
        double inside = place == BP_NONE || resource == NULL
                            ? -1
                            : inside_by(frustum, &s->transforms->world(transforms)[place], resource);
        if (!things[i].visible)
            inside = -1;
        for (uint32_t k = 0; k < count; k++)
            found += told[k] == slots[i];
        EXPECT(fabs(inside) < 1e-3 || found == (inside > 0), "thing %u is %s, inside by %g", i,
               found ? "seen" : "not seen", inside);
    }
}

static bp_frustum_t random_frustum(uint64_t *random)
{
    bp_frustum_t f;
    for (int i = 0; i < 6; i++) {
        f.planes[i] = (bp_vec4_t){share(random, -1, 1), share(random, -1, 1), share(random, -1, 1),
                                  share(random, -2, 12)};
    }
    return f;
}

static void change_thing(studio_t *s, thing_t *things, uint32_t i, uint64_t *random)
{
    thing_t *t = &things[i];
    uint32_t other = bp_random_below(random, THINGS), what = bp_random_below(random, 7);
    bp_entity_t parent = things[other].alive && things[other].placed ? things[other].e : (bp_entity_t){0};
    if (!t->alive) {
        *t = (thing_t){new_thing(s, "cube.obj", share(random, -20, 20), share(random, -20, 20), 0), true, true, true,
                       true};
    } else if (what == 0) {
        s->rig.api->entity->destroy(s->rig.host, &t->e, 1);
        t->alive = false;
    } else if (what == 1) {
        uint32_t key = key_of(s->world, BP_TRANSFORM, "");
        WORKS(s->rig.host, t->placed ? s->rig.api->world->remove(s->world, key, &t->e, 1)
                                     : s->rig.api->world->add(s->world, key, &t->e, 1));
        t->placed = !t->placed;
    } else if (what == 2) {
        t->shown = !t->shown;
        set_text(s->world, t->e, BP_MESH, "resource", t->shown ? "icosahedron.obj" : "");
    } else if (what == 3) {
        t->visible = !t->visible;
        set(s->world, t->e, BP_MESH, "visible", BP_BOOL, &(uint8_t){t->visible});
    } else if (what == 4 && t->placed) { /* a circle is refused, and nothing has changed */
        s->rig.api->property->set_named(s->world, t->e, BP_TRANSFORM, "parent", BP_ENTITY, &parent);
    } else if (t->placed) {
        put(s->world, t->e, share(random, -20, 20), share(random, -20, 20), share(random, -20, 20));
        set(s->world, t->e, BP_TRANSFORM, "scale", BP_VEC3, &(bp_vec3_t){share(random, -2, 2), 1, share(random, 0, 3)});
    }
}

START_TEST(a_frustum_meets_the_boxes_that_it_meets_whatever_has_happened_since_it_asked_last)
{
    static thing_t things[THINGS];
    studio_t s;
    uint64_t random = (uint64_t)_i + 1;
    memset(things, 0, sizeof things);
    open_studio(&s);
    for (uint32_t i = 0; i < THINGS; i++)
        change_thing(&s, things, i, &random);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        bp_frustum_t frustum = random_frustum(&random);
        expect_seen(&s, things, &frustum);
        for (uint32_t n = round % 4 == 0 ? 0 : bp_random_below(&random, 20); n > 0; n--)
            change_thing(&s, things, bp_random_below(&random, THINGS), &random);
        if (round % 10 == 9)
            WORKS(s.rig.host, s.transforms->pack(manager_of(s.world, BP_TRANSFORM)));
        if (round % 10 == 4)
            WORKS(s.rig.host, bp_world_step(s.world));
    }
    rig_close(&s.rig);
}
END_TEST

START_TEST(meshes_that_come_anew_are_not_where_those_before_them_were_seen)
{
    studio_t s;
    uint32_t slots[3], count;
    bp_entity_t e[3];
    open_studio(&s);
    for (uint32_t i = 0; i < COUNT(e); i++)
        e[i] = new_thing(&s, "cube.obj", 0, 0, 0);
    uint32_t key = key_of(s.world, BP_MESH, "");
    bp_frustum_t all = {{{0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}}};
    WORKS(s.rig.host, s.meshes->seen(manager_of(s.world, BP_MESH), &all, slots, 3, &count));
    ck_assert_uint_eq(count, 3);
    WORKS(s.rig.host, s.rig.api->world->remove(s.world, key, e, 3));
    WORKS(s.rig.host, s.rig.api->world->add(s.world, key, e, 3)); /* they have no resources now */
    WORKS(s.rig.host, s.meshes->seen(manager_of(s.world, BP_MESH), &all, slots, 3, &count));
    ck_assert_uint_eq(count, 0);
    rig_close(&s.rig);
}
END_TEST

START_TEST(a_list_of_the_seen_that_does_not_fit_is_cut_and_counted)
{
    studio_t s;
    uint32_t slots[4] = {77, 77, 77, 77}, count;
    open_studio(&s);
    for (int i = 0; i < 9; i++)
        new_thing(&s, "cube.obj", (float)i, 0, 0);
    bp_frustum_t all = {{{0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}}};
    WORKS(s.rig.host, s.meshes->seen(manager_of(s.world, BP_MESH), &all, slots, 3, &count));
    ck_assert_uint_eq(count, 9);
    ck_assert_uint_eq(slots[2], 2);
    ck_assert_uint_eq(slots[3], 77);
    rig_close(&s.rig);
}
END_TEST

/* A packed family is computed as one range of slots; every box of it has to follow. */
START_TEST(the_boxes_of_a_large_family_follow_its_root)
{
    enum { FAMILY = 3 * BP_STAMP_ROWS };
    static uint32_t slots[FAMILY];
    static bp_entity_t e[FAMILY];
    studio_t s;
    uint32_t count;
    open_studio(&s);
    for (uint32_t i = 0; i < FAMILY; i++) {
        e[i] = new_thing(&s, "cube.obj", 0, 0, 0);
        if (i > 0)
            set(s.world, e[i], BP_TRANSFORM, "parent", BP_ENTITY, &e[0]);
    }
    WORKS(s.rig.host, s.transforms->pack(manager_of(s.world, BP_TRANSFORM)));
    /* All that is below x = 10. */
    bp_frustum_t f = {{{-1, 0, 0, 10}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}}};
    for (int round = 0; round < 4; round++) {
        put(s.world, e[0], round % 2 == 0 ? 0 : 100, 0, 0);
        WORKS(s.rig.host, s.meshes->seen(manager_of(s.world, BP_MESH), &f, slots, FAMILY, &count));
        ck_assert_uint_eq(count, round % 2 == 0 ? FAMILY : 0);
    }
    rig_close(&s.rig);
}
END_TEST

/* --- cameras --------------------------------------------------------------------------------------------- */

/* Where a point of the world is in the picture; false behind the camera. */
static bool in_picture(const bp_mat4_t *m, double x, double y, double z, double *across, double *up, double *depth)
{
    double clip[4];
    for (int r = 0; r < 4; r++)
        clip[r] = (double)m->m[r] * x + (double)m->m[4 + r] * y + (double)m->m[8 + r] * z + (double)m->m[12 + r];
    *across = clip[0] / clip[3];
    *up = clip[1] / clip[3];
    *depth = clip[2] / clip[3];
    return clip[3] > 0;
}

START_TEST(a_camera_looks_along_its_negative_z_axis)
{
    studio_t s;
    bp_mat4_t m;
    double x, y, depth;
    open_studio(&s);
    bp_entity_t camera = new_camera(s.world);
    put(s.world, camera, 5, 0, 0);
    set(s.world, camera, BP_TRANSFORM, "scale", BP_VEC3, &(bp_vec3_t){3, 0.5f, 2}); /* does not matter */
    set(s.world, camera, BP_CAMERA, "angle", BP_F32, &(float){90});
    set(s.world, camera, BP_CAMERA, "aspect", BP_F32, &(float){2});
    set(s.world, camera, BP_CAMERA, "near", BP_F32, &(float){1});
    set(s.world, camera, BP_CAMERA, "far", BP_F32, &(float){100});
    WORKS(s.rig.host, s.cameras->matrix(manager_of(s.world, BP_CAMERA), camera, &m));
    ck_assert(in_picture(&m, 5, 0, -1, &x, &y, &depth) && fabs(x) + fabs(y) + fabs(depth + 1) < 1e-5);
    ck_assert(in_picture(&m, 5, 0, -100, &x, &y, &depth) && fabs(depth - 1) < 1e-5);
    ck_assert(in_picture(&m, 5, 10, -10, &x, &y, &depth) && fabs(x) + fabs(y - 1) < 1e-5);
    ck_assert(in_picture(&m, 25, 0, -10, &x, &y, &depth) && fabs(x - 1) + fabs(y) < 1e-5);
    ck_assert(!in_picture(&m, 5, 0, 1, &x, &y, &depth));
    /* A quarter turn about y: now it looks along -x. */
    set(s.world, camera, BP_TRANSFORM, "rotation", BP_QUAT, &(bp_quat_t){0, 0.70710678f, 0, 0.70710678f});
    WORKS(s.rig.host, s.cameras->matrix(manager_of(s.world, BP_CAMERA), camera, &m));
    ck_assert(in_picture(&m, -5, 0, 0, &x, &y, &depth) && fabs(x) + fabs(y) < 1e-5);
    rig_close(&s.rig);
}
END_TEST

START_TEST(a_camera_lists_what_it_sees_the_nearest_first)
{
    studio_t s;
    bp_camera_draw_t draws[8];
    uint32_t count;
    open_studio(&s);
    bp_entity_t camera = new_camera(s.world);
    bp_entity_t far_one = new_thing(&s, "cube.obj", 0, 0, -50), near_one = new_thing(&s, "icosahedron.obj", 1, 0, -10);
    new_thing(&s, "cube.obj", 0, 0, 50);   /* behind */
    new_thing(&s, "cube.obj", 0, 500, -50); /* above */
    bp_entity_t hidden = new_thing(&s, "cube.obj", 0, 0, -20);
    set(s.world, hidden, BP_MESH, "visible", BP_BOOL, &(uint8_t){0});
    set(s.world, far_one, BP_MESH, "colour", BP_COLOUR, &(bp_colour_t){1, 0, 0, 1});
    bp_manager_t *m = manager_of(s.world, BP_CAMERA);
    WORKS(s.rig.host, s.cameras->draws(m, camera, draws, 8, &count));
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(draws[0].entity.id, near_one.id);
    ck_assert_uint_eq(draws[1].entity.id, far_one.id);
    ck_assert_float_eq(draws[1].distance, 50);
    ck_assert_float_eq(draws[1].colour.g, 0);
    ck_assert_float_eq(draws[1].world.m[14], -50);
    ck_assert_uint_eq(draws[0].resource->triangle_count, 20);
    /* It follows the hand that holds it. */
    put(s.world, camera, 0, 0, -30);
    WORKS(s.rig.host, s.cameras->draws(m, camera, draws, 8, &count));
    ck_assert_uint_eq(count, 1);
    set(s.world, near_one, BP_TRANSFORM, "parent", BP_ENTITY, &camera);
    WORKS(s.rig.host, s.cameras->draws(m, camera, draws, 8, &count));
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(draws[0].entity.id, near_one.id);
    rig_close(&s.rig);
}
END_TEST

START_TEST(the_effects_of_a_camera_come_in_their_order_without_those_that_are_off)
{
    studio_t s;
    bp_camera_effect_t effects[4];
    uint32_t count;
    open_studio(&s);
    bp_entity_t camera = new_camera(s.world);
    static const char *const names[] = {"fog", "vignette", "grain", "night"};
    static const int32_t orders[] = {5, -2, 1, 0};
    for (uint32_t i = 0; i < 4; i++) {
        add(s.world, BP_RENDER_DATA, names[i], camera);
        set(s.world, camera, names[i], "order", BP_I32, &orders[i]);
    }
    set(s.world, camera, "grain", "enabled", BP_BOOL, &(uint8_t){0});
    bp_name_t fog;
    WORKS(s.rig.host, s.rig.api->name->intern(s.rig.host, "fog", &fog));
    set(s.world, camera, "night", "effect", BP_NAME, &fog);
    set(s.world, camera, "fog", "far", BP_F32, &(float){250});
    WORKS(s.rig.host, s.cameras->effects(manager_of(s.world, BP_CAMERA), camera, effects, 4, &count));
    ck_assert_uint_eq(count, 3);
    ck_assert(effects[0].effect == s.rig.api->name->hash("vignette") && effects[0].order == -2);
    ck_assert(effects[1].effect == fog && effects[1].name == s.rig.api->name->hash("night"));
    ck_assert(effects[2].effect == fog && effects[2].far_distance == 250);
    rig_close(&s.rig);
}
END_TEST

START_TEST(what_cannot_see_is_told_why)
{
    studio_t s;
    bp_mat4_t matrix;
    bp_entity_t blind;
    open_studio(&s);
    bp_entity_t camera = new_camera(s.world), thing = new_thing(&s, "cube.obj", 0, 0, 0);
    bp_manager_t *m = manager_of(s.world, BP_CAMERA);
    FAILS(s.rig.host, BP_ERROR_NOT_FOUND, "is no camera", s.cameras->matrix(m, thing, &matrix));
    WORKS(s.rig.host, s.rig.api->entity->create(s.rig.host, &blind, 1));
    add(s.world, BP_CAMERA, "", blind);
    FAILS(s.rig.host, BP_ERROR_NOT_FOUND, "has no place", s.cameras->matrix(m, blind, &matrix));
    set(s.world, camera, BP_CAMERA, "far", BP_F32, &(float){0.05f});
    FAILS(s.rig.host, BP_ERROR_RANGE, "far plane", s.cameras->matrix(m, camera, &matrix));
    set(s.world, camera, BP_CAMERA, "far", BP_F32, &(float){0.1f}); /* just where the near one is */
    FAILS(s.rig.host, BP_ERROR_RANGE, "far plane", s.cameras->matrix(m, camera, &matrix));
    set(s.world, camera, BP_CAMERA, "far", BP_F32, &(float){50});
    set(s.world, camera, BP_TRANSFORM, "scale", BP_VEC3, &(bp_vec3_t){1, 1, 0});
    FAILS(s.rig.host, BP_ERROR_RANGE, "scaled to nothing", s.cameras->matrix(m, camera, &matrix));
    /* Its y axis is longer than a float can say, along z only. */
    set(s.world, thing, BP_TRANSFORM, "scale", BP_VEC3, &(bp_vec3_t){1, 1, 9});
    set(s.world, camera, BP_TRANSFORM, "parent", BP_ENTITY, &thing);
    set(s.world, camera, BP_TRANSFORM, "rotation", BP_QUAT, &(bp_quat_t){0.4f, 0.5f, 0.3f, 0.70710678f});
    set(s.world, camera, BP_TRANSFORM, "scale", BP_VEC3, &(bp_vec3_t){1, 3e38f, 1});
    FAILS(s.rig.host, BP_ERROR_RANGE, "beyond all numbers", s.cameras->matrix(m, camera, &matrix));
    rig_close(&s.rig);
}
END_TEST

/* The order of the answer does not depend on where in memory the meshes lie. */
START_TEST(what_is_equally_far_comes_by_entity_and_then_by_name)
{
    enum { MANY = 300 };
    studio_t s;
    static bp_camera_draw_t draws[MANY + 2], big[MANY + 7];
    bp_entity_t things[4];
    uint32_t count;
    open_studio(&s);
    bp_entity_t camera = new_camera(s.world);
    bp_manager_t *m = manager_of(s.world, BP_CAMERA);
    for (uint32_t i = 0; i < COUNT(things); i++)
        things[i] = new_thing(&s, "cube.obj", 0, 0, -50);
    static const char *const names[] = {"left", "right", "middle"};
    for (uint32_t i = 0; i < COUNT(names); i++) {
        add(s.world, BP_MESH, names[i], things[2]);
        set_text(s.world, things[2], names[i], "resource", "cube.obj");
    }
    WORKS(s.rig.host, s.rig.api->world->remove(s.world, key_of(s.world, BP_MESH, ""), &things[0], 1));
    WORKS(s.rig.host, s.rig.api->world->add(s.world, key_of(s.world, BP_MESH, ""), &things[0], 1));
    set_text(s.world, things[0], BP_MESH, "resource", "cube.obj");
    WORKS(s.rig.host, s.cameras->draws(m, camera, draws, 8, &count));
    ck_assert_uint_eq(count, 7);
    for (uint32_t i = 1; i < count; i++)
        EXPECT(draws[i - 1].entity.id < draws[i].entity.id ||
                   (draws[i - 1].entity.id == draws[i].entity.id && draws[i - 1].name < draws[i].name),
               "draws %u and %u are not in order", i - 1, i);
    /* More than the plugin has room for on its stack; and memory for them is refused once. */
    for (uint32_t i = 0; i < MANY; i++)
        new_thing(&s, "cube.obj", 0, 0, -(float)(2 + (i * 7) % MANY));
    WORKS(s.rig.host, s.cameras->draws(m, camera, draws, 0, &count));
    s.rig.heap.refuse_first = s.rig.heap.refuse_last = s.rig.heap.requests + 1;
    FAILS(s.rig.host, BP_ERROR_MEMORY, "memory", s.cameras->draws(m, camera, draws, MANY, &count));
    ck_assert_uint_eq(count, 0);
    WORKS(s.rig.host, s.cameras->draws(m, camera, draws, MANY + 2, &count));
    ck_assert_uint_eq(count, MANY + 7);
    WORKS(s.rig.host, s.cameras->draws(m, camera, big, COUNT(big), &count));
    for (uint32_t i = 1; i < count; i++)
        EXPECT(big[i - 1].distance <= big[i].distance, "draw %u is nearer than the one before", i);
    rig_close(&s.rig);
}
END_TEST

START_TEST(effects_of_the_same_order_come_by_name_and_those_without_room_are_counted)
{
    studio_t s;
    bp_camera_effect_t effects[4];
    uint32_t count;
    open_studio(&s);
    bp_entity_t camera = new_camera(s.world);
    bp_manager_t *m = manager_of(s.world, BP_CAMERA);
    static const char *const names[] = {"fog", "vignette", "grain", "night"};
    for (uint32_t i = 0; i < COUNT(names); i++)
        add(s.world, BP_RENDER_DATA, names[i], camera);
    WORKS(s.rig.host, s.cameras->effects(m, camera, effects, 4, &count));
    ck_assert_uint_eq(count, 4);
    for (uint32_t i = 1; i < count; i++)
        ck_assert(effects[i - 1].name < effects[i].name);
    memset(effects, 0, sizeof effects);
    WORKS(s.rig.host, s.cameras->effects(m, camera, effects, 2, &count));
    ck_assert_uint_eq(count, 4);
    ck_assert(effects[1].name != 0 && effects[2].name == 0);
    WORKS(s.rig.host, s.cameras->effects(m, (bp_entity_t){0}, effects, 4, &count));
    ck_assert_uint_eq(count, 0);
    rig_close(&s.rig);
}
END_TEST

/* As many components as an entity can have, so that the camera's own lie anywhere among them. */
START_TEST(a_camera_among_255_components_sees_and_has_all_its_effects)
{
    studio_t s;
    static bp_camera_effect_t effects[255];
    bp_mat4_t matrix;
    bp_entity_t camera;
    uint32_t count;
    open_studio(&s);
    WORKS(s.rig.host, s.rig.api->entity->create(s.rig.host, &camera, 1));
    bp_world_o *worlds[] = {s.world, new_world(&s, "second")};
    for (uint32_t w = 0; w < COUNT(worlds); w++) {
        const char *const own[] = {BP_TRANSFORM, BP_CAMERA};
        for (uint32_t i = 0; w == 1 && i < COUNT(own); i++)
            add(worlds[w], own[i], "", camera);
        for (uint32_t i = 0; i < 253; i++) {
            char name[16];
            snprintf(name, sizeof name, "effect_%u", i);
            add(worlds[w], BP_RENDER_DATA, name, camera);
        }
        for (uint32_t i = 0; w == 0 && i < COUNT(own); i++)
            add(worlds[w], own[i], "", camera);
        bp_manager_t *m = manager_of(worlds[w], BP_CAMERA);
        WORKS(s.rig.host, s.cameras->matrix(m, camera, &matrix));
        WORKS(s.rig.host, s.cameras->effects(m, camera, effects, 255, &count));
        ck_assert_uint_eq(count, 253);
    }
    rig_close(&s.rig);
}
END_TEST

typedef struct seen_rows_t {
    char text[1024];
    uint32_t tables, rows;
} seen_rows_t;

static void take_value(void *context, const char *world, const char *unit, const char *name, const char *text)
{
    (void)context, (void)world, (void)unit, (void)name, (void)text;
}

static void take_table(void *context, const char *world, const char *unit, const char *title,
                       const char *const *headers, uint32_t columns)
{
    seen_rows_t *seen = context;
    (void)world, (void)unit, (void)headers, (void)columns;
    seen->tables += strcmp(title, "what cameras see") == 0;
}

static void take_row(void *context, const char *const *cells, uint32_t columns)
{
    seen_rows_t *seen = context;
    size_t length = strlen(seen->text);
    ck_assert_uint_eq(columns, 3);
    seen->rows++;
    snprintf(seen->text + length, sizeof seen->text - length, "%s|%s\n", cells[1], cells[2]);
}

static void take_report(studio_t *s, seen_rows_t *seen)
{
    *seen = (seen_rows_t){.text = ""};
    const bp_report_sink_i sink = {.struct_size = sizeof sink, .context = seen, .value = take_value,
                                   .table = take_table, .row = take_row};
    bp_host_report(s->rig.host, &sink);
}

START_TEST(the_report_has_a_row_for_each_living_camera)
{
    studio_t s;
    seen_rows_t seen;
    open_studio(&s);
    take_report(&s, &seen);
    ck_assert_uint_eq(seen.tables, 0);
    bp_entity_t first = new_camera(s.world), second = new_camera(s.world);
    new_thing(&s, "cube.obj", 0, 0, -9);
    put(s.world, second, 0, 0, -50);
    take_report(&s, &seen);
    ck_assert_uint_eq(seen.tables, 1);
    ck_assert_str_eq(seen.text, "1|\n0|\n");
    WORKS(s.rig.host, s.rig.api->world->remove(s.world, key_of(s.world, BP_TRANSFORM, ""), &second, 1));
    s.rig.api->entity->destroy(s.rig.host, &first, 1);
    take_report(&s, &seen);
    ck_assert_str_eq(seen.text, "nowhere|\n");
    /* At most 16 effects are named, and what does not fit a cell of 255 bytes is cut off. */
    for (int32_t i = 0; i < 16; i++) {
        char name[32];
        snprintf(name, sizeof name, "an_effect_called_%03d", i);
        add(s.world, BP_RENDER_DATA, name, second);
        set(s.world, second, name, "order", BP_I32, &i);
    }
    take_report(&s, &seen);
    ck_assert_uint_eq(strlen(seen.text), strlen("nowhere|") + 255 + 1);
    ck_assert_ptr_nonnull(strstr(seen.text, "|an_effect_called_000 an_effect_called_001 "));
    rig_close(&s.rig);
    open_studio(&s);
    second = new_camera(s.world);
    for (int32_t i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "e%d", i);
        add(s.world, BP_RENDER_DATA, name, second);
    }
    take_report(&s, &seen);
    uint32_t words = 1;
    for (const char *at = seen.text; (at = strchr(at, ' ')) != NULL; at++)
        words++;
    ck_assert_uint_eq(words, 16);
    rig_close(&s.rig);
}
END_TEST

/* What the plugin asks of others may be missing: the plugin, its component in this world, or both. */
START_TEST(a_camera_whose_world_has_no_transforms_or_no_meshes_sees_nothing)
{
    studio_t s;
    bp_camera_draw_t draw;
    bp_mat4_t matrix;
    bp_entity_t e;
    uint32_t count = 7;
    rig_init(&s.rig);
    rig_open(&s.rig);
    load(&s, BP_CAMERA);
    s.world = bp_world_create(s.rig.host, &(bp_world_desc_t){.name = "bare"});
    WORKS(s.rig.host, bp_world_use_component(s.world, BP_CAMERA));
    s.cameras = s.rig.api->registry->find(s.rig.host, BP_CAMERA_API, 1);
    bp_manager_t *m = manager_of(s.world, BP_CAMERA);
    WORKS(s.rig.host, s.rig.api->entity->create(s.rig.host, &e, 1));
    add(s.world, BP_CAMERA, "", e);
    FAILS(s.rig.host, BP_ERROR_NOT_FOUND, "the world has no transforms", s.cameras->matrix(m, e, &matrix));
    load(&s, BP_TRANSFORM);
    FAILS(s.rig.host, BP_ERROR_NOT_FOUND, "the world has no transforms", s.cameras->draws(m, e, &draw, 1, &count));
    ck_assert_uint_eq(count, 0);
    WORKS(s.rig.host, bp_world_use_component(s.world, BP_TRANSFORM));
    add(s.world, BP_TRANSFORM, "", e);
    count = 7;
    WORKS(s.rig.host, s.cameras->draws(m, e, &draw, 1, &count));
    ck_assert_uint_eq(count, 0);
    WORKS(s.rig.host, s.cameras->effects(m, e, NULL, 0, &count));
    ck_assert_uint_eq(count, 0);
    rig_close(&s.rig);
}
END_TEST

/* --- one entity in two worlds ---------------------------------------------------------------------------- */

START_TEST(a_pickaxe_is_in_the_game_and_in_the_inventory_and_breaks_in_both)
{
    studio_t s;
    bp_camera_draw_t draw;
    uint32_t count;
    open_studio(&s);
    bp_world_o *inventory = new_world(&s, "inventory");
    bp_entity_t pickaxe = new_thing(&s, "icosahedron.obj", 0.5f, 0, 0), player = new_thing(&s, "cube.obj", 0, 0, -20);
    set(s.world, pickaxe, BP_TRANSFORM, "parent", BP_ENTITY, &player);
    add(inventory, BP_MESH, "", pickaxe);
    add(inventory, BP_TRANSFORM, "", pickaxe);
    set_text(inventory, pickaxe, BP_MESH, "resource", "cube.obj");
    put(inventory, pickaxe, 0, 0, -3);
    bp_entity_t in_game = new_camera(s.world), in_inventory = new_camera(inventory);
    WORKS(s.rig.host, s.cameras->draws(manager_of(inventory, BP_CAMERA), in_inventory, &draw, 1, &count));
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(draw.entity.id, pickaxe.id);
    ck_assert_str_eq(draw.resource->name, "cube.obj");
    WORKS(s.rig.host, s.cameras->draws(manager_of(s.world, BP_CAMERA), in_game, &draw, 1, &count));
    ck_assert_uint_eq(count, 2);
    /* The player walks: in the inventory nothing moves. */
    put(s.world, player, 0, 0, -40);
    bp_mat4_t here, there;
    WORKS(s.rig.host, s.rig.api->property->get_named(s.world, pickaxe, BP_TRANSFORM, "world", BP_MAT4, &here));
    WORKS(s.rig.host, s.rig.api->property->get_named(inventory, pickaxe, BP_TRANSFORM, "world", BP_MAT4, &there));
    ck_assert_float_eq(here.m[14], -40);
    ck_assert_float_eq(here.m[12], 0.5f);
    ck_assert_float_eq(there.m[14], -3);
    s.rig.api->entity->destroy(s.rig.host, &pickaxe, 1);
    WORKS(s.rig.host, s.cameras->draws(manager_of(s.world, BP_CAMERA), in_game, &draw, 1, &count));
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(draw.entity.id, player.id);
    WORKS(s.rig.host, s.cameras->draws(manager_of(inventory, BP_CAMERA), in_inventory, &draw, 1, &count));
    ck_assert_uint_eq(count, 0);
    ck_assert_uint_eq(s.meshes->references(manager_of(s.world, BP_MESH), "icosahedron.obj"), 0);
    rig_close(&s.rig);
}
END_TEST

Suite *camera_suite(void)
{
    Suite *suite = suite_create("camera");
    TCase *tests = tcase_create("camera");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, a_mesh_has_a_box_in_the_world_where_its_entity_has_a_transform);
    tcase_add_test(tests, boxes_of_many_meshes_are_read_together);
    tcase_add_loop_test(tests, a_frustum_meets_the_boxes_that_it_meets_whatever_has_happened_since_it_asked_last, 0, 3);
    tcase_add_test(tests, meshes_that_come_anew_are_not_where_those_before_them_were_seen);
    tcase_add_test(tests, a_list_of_the_seen_that_does_not_fit_is_cut_and_counted);
    tcase_add_test(tests, the_boxes_of_a_large_family_follow_its_root);
    tcase_add_test(tests, a_camera_looks_along_its_negative_z_axis);
    tcase_add_test(tests, a_camera_lists_what_it_sees_the_nearest_first);
    tcase_add_test(tests, the_effects_of_a_camera_come_in_their_order_without_those_that_are_off);
    tcase_add_test(tests, what_cannot_see_is_told_why);
    tcase_add_test(tests, what_is_equally_far_comes_by_entity_and_then_by_name);
    tcase_add_test(tests, effects_of_the_same_order_come_by_name_and_those_without_room_are_counted);
    tcase_add_test(tests, a_camera_among_255_components_sees_and_has_all_its_effects);
    tcase_add_test(tests, the_report_has_a_row_for_each_living_camera);
    tcase_add_test(tests, a_camera_whose_world_has_no_transforms_or_no_meshes_sees_nothing);
    tcase_add_test(tests, a_pickaxe_is_in_the_game_and_in_the_inventory_and_breaks_in_both);
    suite_add_tcase(suite, tests);
    return suite;
}
