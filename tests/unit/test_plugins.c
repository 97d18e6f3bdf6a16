/* test_plugins.c - what each of our plugins does, seen from outside: through properties, tables, reports and
 * files.
 *
 * Numbers are compared with a second computation here, in double or in the same floats, whichever the plugin
 * promises. The last tests run the same worlds with plugins from files and with the same plugins linked in,
 * and want the same bits.
 */
/* realpath, beyond C11. */
#define _DEFAULT_SOURCE 1
#if defined(_WIN32)
#define realpath(path, whole) _fullpath(whole, path, sizeof whole)
#endif
#include "../suites.h"

#include <bp_query.h>

#include <backplane.h>
#include <components/debug_name.h>
#include <components/mesh.h>
#include <components/point_mass.h>
#include <components/render_data.h>
#include <components/transform.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AU_CONSTANT 2.959122082855911e-4

extern const bp_plugin_head_t bp_plugin_camera, bp_plugin_debug_name, bp_plugin_gravity, bp_plugin_mesh,
    bp_plugin_orbit, bp_plugin_point_mass, bp_plugin_recorder, bp_plugin_render_data, bp_plugin_transform;

static const bp_plugin_head_t *const linked[] = {
    &bp_plugin_camera,
    &bp_plugin_debug_name, &bp_plugin_gravity,  &bp_plugin_mesh,        &bp_plugin_orbit,
    &bp_plugin_point_mass, &bp_plugin_recorder, &bp_plugin_render_data, &bp_plugin_transform,
};
enum { LINKED = sizeof linked / sizeof linked[0] };

/* --- a host ---------------------------------------------------------------------------------------- */

enum { LOG_MAX = 8192 };

/* Each test runs in a process of its own. */
static bp_host_o *host;
static const bp_api_t *api;
static bp_world_o *world;
static char log_text[LOG_MAX];
static int32_t log_least = BP_LOG_WARNING;

static void write_log(void *context, int32_t level, const char *source, const char *text)
{
    char *all = context;
    size_t used = strlen(all);
    if (level >= log_least)
        snprintf(all + used, LOG_MAX - used, "%s: %s\n", source, text);
}

#define OK(call)                                                                   \
    do {                                                                           \
        bp_result_t result_ = (call);                                              \
        ck_assert_msg(result_ == BP_OK, "%s: %s", #call, bp_host_error(host));     \
    } while (0)

#define REFUSED(code, word, call)                                                                 \
    do {                                                                                          \
        bp_result_t result_ = (call);                                                             \
        ck_assert_msg(result_ == (code), "%s: %d instead of %d: %s", #call, result_, (int)(code), \
                      bp_host_error(host));                                                       \
        ck_assert_msg(strstr(bp_host_error(host), (word)) != NULL, "\"%s\" does not say \"%s\"",  \
                      bp_host_error(host), (word));                                               \
    } while (0)

static void begin_with(const bp_plugin_head_t *const *plugins, uint32_t count)
{
    log_text[0] = '\0';
    host = bp_host_create(&(bp_host_desc_t){.log = &(bp_log_i){.context = log_text, .write = write_log},
                                            .tag = 5,
                                            .static_plugins = plugins,
                                            .static_plugin_count = count});
    ck_assert_ptr_nonnull(host);
    api = bp_host_api(host);
}

static void new_world(double step_rate)
{
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = step_rate});
    ck_assert_ptr_nonnull(world);
}

static void load(const char *name, const bp_option_t *options, uint32_t count)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", TEST_PLUGIN_DIR, name);
    OK(bp_host_load_plugin(host, path, options, count));
}

static void begin(double step_rate)
{
    begin_with(NULL, 0);
    new_world(step_rate);
}

/* The end of a test: nobody has complained or leaked. */
static void end(void)
{
    bp_host_destroy(host);
    host = NULL;
    ck_assert_msg(log_text[0] == '\0', "%s", log_text);
}

/* A component of a plugin of the same name, in the world. */
static void use(const char *name)
{
    load(name, NULL, 0);
    OK(bp_world_use_component(world, name));
}

static bp_manager_t *manager_of(bp_world_o *w, const char *type)
{
    uint32_t component = api->world->component(w, type);
    ck_assert_uint_ne(component, BP_NONE);
    return api->world->manager(w, component);
}

static uint32_t key_in(bp_world_o *w, const char *type, const char *name)
{
    uint32_t key;
    bp_name_t interned;
    OK(api->name->intern(host, name, &interned));
    OK(api->world->key(w, api->world->component(w, type), interned, &key));
    return key;
}

static uint32_t key_of(const char *type)
{
    return key_in(world, type, "");
}

static void create(const char *type, bp_entity_t *entities, uint32_t count)
{
    uint32_t prototype, key = key_of(type);
    OK(api->world->prototype(world, &key, 1, &prototype));
    OK(api->world->create(world, prototype, entities, count));
}

static void set(bp_entity_t e, const char *component, const char *property, uint32_t type, const void *value)
{
    OK(api->property->set_named(world, e, component, property, type, value));
}

static void get(bp_entity_t e, const char *component, const char *property, uint32_t type, void *value)
{
    OK(api->property->get_named(world, e, component, property, type, value));
}

static bp_vec3_t vector_of(bp_entity_t e, const char *component, const char *property)
{
    bp_vec3_t v;
    get(e, component, property, BP_VEC3, &v);
    return v;
}

static void set_text(bp_entity_t e, const char *component, const char *property, const char *text)
{
    set(e, component, property, BP_STRING, &text);
}

static void steps(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        OK(bp_world_step(world));
}

static float random_float(uint64_t *random, double reach)
{
    return (float)(((double)bp_random_next(random) / 18446744073709551616.0 * 2 - 1) * reach);
}

static bp_vec3_t random_vector(uint64_t *random, double reach)
{
    bp_vec3_t v;
    v.x = random_float(random, reach);
    v.y = random_float(random, reach);
    v.z = random_float(random, reach);
    return v;
}

static double length_of(bp_vec3_t v)
{
    return sqrt((double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * (double)v.z);
}

/* What the report of the host says, one line a value or row. */
static char report_text[16384];

static void add_line(const char *kind, const char *const *cells, uint32_t count)
{
    size_t used = strlen(report_text);
    used += (size_t)snprintf(report_text + used, sizeof report_text - used, "%s", kind);
    for (uint32_t i = 0; i < count && used < sizeof report_text; i++)
        used += (size_t)snprintf(report_text + used, sizeof report_text - used, "|%s", cells[i]);
    snprintf(report_text + used, sizeof report_text - used, "\n");
}

static void take_table(void *context, const char *w, const char *unit, const char *title,
                       const char *const *headers, uint32_t columns)
{
    (void)context, (void)w, (void)unit;
    add_line(title, headers, columns);
}

static void take_row(void *context, const char *const *cells, uint32_t columns)
{
    (void)context;
    add_line("row", cells, columns);
}

static void take_value(void *context, const char *w, const char *unit, const char *name, const char *text)
{
    (void)context, (void)w, (void)unit;
    add_line(name, &text, 1);
}

static const char *take_report(void)
{
    report_text[0] = '\0';
    bp_host_report(host, &(bp_report_sink_i){.table = take_table, .row = take_row, .value = take_value});
    return report_text;
}

/* --- point_mass ------------------------------------------------------------------------------------ */

START_TEST(a_point_mass_moves_by_its_velocity_and_that_by_its_acceleration)
{
    enum { COUNT = 1000, STEPS = 20 };
    static bp_entity_t e[COUNT];
    static bp_vec3_t p[COUNT], v[COUNT], a[COUNT];
    uint64_t random = 1;
    begin(50);
    use("point_mass");
    create("point_mass", e, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        p[i] = random_vector(&random, 1000);
        v[i] = random_vector(&random, 10);
        a[i] = random_vector(&random, 1);
        set(e[i], "point_mass", "position", BP_VEC3, &p[i]);
        set(e[i], "point_mass", "velocity", BP_VEC3, &v[i]);
        set(e[i], "point_mass", "acceleration", BP_VEC3, &a[i]);
    }
    steps(STEPS);
    const float dt = (float)(1.0 / 50);
    for (uint32_t i = 0; i < COUNT * STEPS; i++) {
        bp_vec3_t *q = &p[i % COUNT], *w = &v[i % COUNT], *g = &a[i % COUNT];
        w->x += g->x * dt;
        w->y += g->y * dt;
        w->z += g->z * dt;
        q->x += w->x * dt;
        q->y += w->y * dt;
        q->z += w->z * dt;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        bp_vec3_t position = vector_of(e[i], "point_mass", "position"),
                  velocity = vector_of(e[i], "point_mass", "velocity");
        bp_vec3_t acceleration = vector_of(e[i], "point_mass", "acceleration");
        ck_assert_mem_eq(&position, &p[i], sizeof position);
        ck_assert_mem_eq(&velocity, &v[i], sizeof velocity);
        ck_assert_mem_eq(&acceleration, &a[i], sizeof acceleration);
    }
    end();
}
END_TEST

START_TEST(a_point_mass_weighs_one_at_first_and_never_less_than_nothing)
{
    bp_entity_t e;
    float mass;
    begin(0);
    use("point_mass");
    create("point_mass", &e, 1);
    get(e, "point_mass", "mass", BP_F32, &mass);
    ck_assert_float_eq(mass, 1);
    REFUSED(BP_ERROR_RANGE, "mass = -0.5",
            api->property->set_named(world, e, "point_mass", "mass", BP_F32, &(float){-0.5f}));
    get(e, "point_mass", "mass", BP_F32, &mass);
    ck_assert_float_eq(mass, 1);
    end();
}
END_TEST

/* --- gravity --------------------------------------------------------------------------------------- */

static void begin_gravity(double step_rate, const bp_option_t *options, uint32_t count)
{
    begin(step_rate);
    use("point_mass");
    load("gravity", options, count);
    OK(bp_world_use_system(world, "gravity"));
}

static void put_body(bp_entity_t e, float mass, bp_vec3_t position, bp_vec3_t velocity)
{
    set(e, "point_mass", "mass", BP_F32, &mass);
    set(e, "point_mass", "position", BP_VEC3, &position);
    set(e, "point_mass", "velocity", BP_VEC3, &velocity);
}

static const bp_option_t unit_gravity[] = {{"constant", "1", NULL, NULL}, {"energy_every", "10", NULL, NULL}};

START_TEST(two_bodies_attract_each_other_as_newton_says)
{
    bp_entity_t e[2];
    begin_gravity(1, unit_gravity, 2);
    create("point_mass", e, 2);
    put_body(e[0], 3, (bp_vec3_t){1, 0, 0}, (bp_vec3_t){0, 0, 0});
    put_body(e[1], 5, (bp_vec3_t){1, 3, 4}, (bp_vec3_t){0, 0, 0});
    steps(1);
    /* They are 5 apart: 5 / 25 towards (0, 0.6, 0.8), and 3 / 25 the other way. */
    bp_vec3_t first = vector_of(e[0], "point_mass", "acceleration"),
              second = vector_of(e[1], "point_mass", "acceleration");
    ck_assert_double_eq_tol((double)first.x, 0, 1e-9);
    ck_assert_double_eq_tol((double)first.y, 0.12, 1e-8);
    ck_assert_double_eq_tol((double)first.z, 0.16, 1e-8);
    ck_assert_double_eq_tol((double)second.y, -0.072, 1e-8);
    ck_assert_double_eq_tol((double)second.z, -0.096, 1e-8);
    end();
}
END_TEST

/* Two bodies go around their barycentre once; they are back where they began, as far apart as ever. */
START_TEST(two_bodies_on_circles_come_back)
{
    enum { STEPS = 4000 };
    const double m1 = 3, m2 = 1, apart = 2, omega = sqrt((m1 + m2) / (apart * apart * apart));
    const double r1 = apart * m2 / (m1 + m2), r2 = apart * m1 / (m1 + m2),
                 dt = 6.283185307179586 / omega / STEPS;
    bp_entity_t e[2];
    begin_gravity(1 / dt, unit_gravity, 2);
    create("point_mass", e, 2);
    /* Velocities belong to the middle of the step before. */
    double s = sin(-omega * dt / 2), c = cos(-omega * dt / 2);
    put_body(e[0], (float)m1, (bp_vec3_t){(float)-r1, 0, 0},
             (bp_vec3_t){(float)(omega * r1 * s), (float)(-omega * r1 * c), 0});
    put_body(e[1], (float)m2, (bp_vec3_t){(float)r2, 0, 0},
             (bp_vec3_t){(float)(-omega * r2 * s), (float)(omega * r2 * c), 0});
    for (int i = 0; i < STEPS; i++) {
        steps(1);
        bp_vec3_t p = vector_of(e[0], "point_mass", "position"),
                  q = vector_of(e[1], "point_mass", "position");
        ck_assert_double_eq_tol(length_of((bp_vec3_t){p.x - q.x, p.y - q.y, p.z - q.z}), apart, 1e-3);
    }
    bp_vec3_t p = vector_of(e[0], "point_mass", "position"), q = vector_of(e[1], "point_mass", "position");
    ck_assert_double_eq_tol((double)p.x, -r1, 2e-3);
    ck_assert_double_eq_tol((double)p.y, 0, 2e-3);
    ck_assert_double_eq_tol((double)q.x, r2, 2e-3);
    ck_assert_double_eq_tol((double)q.y, 0, 2e-3);
    end();
}
END_TEST

START_TEST(the_dead_do_not_attract)
{
    bp_entity_t e[3];
    bp_world_stats_t stats;
    begin_gravity(1, unit_gravity, 2);
    create("point_mass", e, 3);
    put_body(e[0], 1000, (bp_vec3_t){0, 0, 0}, (bp_vec3_t){0, 0, 0});
    put_body(e[1], 4, (bp_vec3_t){10, 0, 0}, (bp_vec3_t){0, 0, 0});
    put_body(e[2], 9, (bp_vec3_t){10, 2, 0}, (bp_vec3_t){0, 0, 0});
    api->entity->destroy(host, &e[0], 1);
    bp_world_stats(world, &stats);
    ck_assert_uint_eq(stats.holes, 1); /* its row, mass and all, is there still */
    steps(1);
    bp_vec3_t a = vector_of(e[1], "point_mass", "acceleration");
    ck_assert_double_eq_tol((double)a.x, 0, 1e-12);
    ck_assert_double_eq_tol((double)a.y, 9.0 / 4, 1e-6);
    end();
}
END_TEST

START_TEST(bodies_in_one_place_do_not_attract_each_other)
{
    bp_entity_t e[3];
    begin_gravity(1, unit_gravity, 2);
    create("point_mass", e, 3);
    put_body(e[0], 7, (bp_vec3_t){1, 1, 1}, (bp_vec3_t){0, 0, 0});
    put_body(e[1], 7, (bp_vec3_t){1, 1, 1}, (bp_vec3_t){0, 0, 0});
    put_body(e[2], 1, (bp_vec3_t){2, 1, 1}, (bp_vec3_t){0, 0, 0});
    steps(1);
    bp_vec3_t a = vector_of(e[0], "point_mass", "acceleration");
    ck_assert_double_eq_tol((double)a.x, 1, 1e-6);
    ck_assert_double_eq_tol((double)a.y, 0, 1e-12);
    a = vector_of(e[2], "point_mass", "acceleration");
    ck_assert_double_eq_tol((double)a.x, -14, 1e-5);
    end();
}
END_TEST

START_TEST(a_body_that_has_flown_to_infinity_spoils_nothing)
{
    bp_entity_t e[3];
    begin_gravity(1, unit_gravity, 2);
    create("point_mass", e, 3);
    put_body(e[0], 1, (bp_vec3_t){0, 0, 0}, (bp_vec3_t){0, 0, 0});
    put_body(e[1], 1, (bp_vec3_t){1, 0, 0}, (bp_vec3_t){0, 0, 0});
    put_body(e[2], 1, (bp_vec3_t){INFINITY, 0, 0}, (bp_vec3_t){0, 0, 0});
    steps(1);
    bp_vec3_t a = vector_of(e[0], "point_mass", "acceleration");
    ck_assert_double_eq_tol((double)a.x, 1, 1e-6);
    end();
}
END_TEST

START_TEST(softening_adds_to_every_distance)
{
    const bp_option_t options[] = {{"constant", "1", NULL, NULL}, {"softening", "3", NULL, NULL}};
    bp_entity_t e[2];
    begin_gravity(1, options, 2);
    create("point_mass", e, 2);
    put_body(e[0], 1, (bp_vec3_t){0, 0, 0}, (bp_vec3_t){0, 0, 0});
    put_body(e[1], 1, (bp_vec3_t){4, 0, 0}, (bp_vec3_t){0, 0, 0});
    steps(1);
    bp_vec3_t a = vector_of(e[0], "point_mass", "acceleration");
    ck_assert_double_eq_tol((double)a.x, 4.0 / 125, 1e-8); /* the distance counts as 5 */
    end();
}
END_TEST

/* The number behind "NAME|" in the report. */
static double reported(const char *name)
{
    char wanted[128];
    snprintf(wanted, sizeof wanted, "%s|", name);
    const char *at = strstr(take_report(), wanted);
    ck_assert_msg(at != NULL, "the report has no '%s':\n%s", name, report_text);
    return strtod(at + strlen(wanted), NULL);
}

static void put_two_on_an_ellipse(void)
{
    bp_entity_t e[2];
    create("point_mass", e, 2);
    put_body(e[0], 1, (bp_vec3_t){0, 0, 0}, (bp_vec3_t){0, -0.001f, 0});
    put_body(e[1], 0.001f, (bp_vec3_t){1, 0, 0}, (bp_vec3_t){0, 1, 0});
}

START_TEST(gravity_reports_how_well_energy_is_kept)
{
    begin_gravity(1000, unit_gravity, 2);
    put_two_on_an_ellipse();
    steps(5001);
    double drift = reported("energy drift");
    ck_assert_msg(drift > 0 && drift < 1e-4, "drift %g", drift);
    ck_assert_ptr_nonnull(strstr(report_text, "total energy|energy|step|time|kinetic|potential|total"));
    ck_assert_ptr_nonnull(strstr(report_text, "row|first|0|0|"));
    ck_assert_ptr_nonnull(strstr(report_text, "row|last|5000|5|"));
    ck_assert_ptr_null(strstr(report_text, "measured anew"));
    bp_entity_t more;
    create("point_mass", &more, 1);
    put_body(more, 0.5f, (bp_vec3_t){9, 9, 9}, (bp_vec3_t){0, 0, 0});
    steps(20);
    ck_assert_double_eq(reported("energy measured anew"), 1);
    end();
}
END_TEST

START_TEST(energy_is_not_measured_where_nobody_wants_it)
{
    const bp_option_t options[] = {{"energy_every", "0", NULL, NULL}};
    begin_gravity(1000, options, 1);
    put_two_on_an_ellipse();
    steps(100);
    ck_assert_str_eq(take_report(), "");
    end();
}
END_TEST

/* --- debug_name ------------------------------------------------------------------------------------ */

static const bp_debug_name_api *names;

static void begin_names(void)
{
    begin(0);
    use("debug_name");
    names = api->registry->find(host, BP_DEBUG_NAME_API, 1);
    ck_assert_ptr_nonnull(names);
}

static uint32_t count_named(const char *text)
{
    return names->find(manager_of(world, "debug_name"), text, NULL, 0);
}

START_TEST(entities_are_found_by_name_in_order_of_index)
{
    enum { COUNT = 500 };
    static bp_entity_t e[COUNT], found[COUNT];
    begin_names();
    create("debug_name", e, COUNT);
    for (uint32_t i = COUNT; i-- > 0;)
        set_text(e[i], "debug_name", "name", i % 5 == 0 ? "tree" : "stone");
    bp_manager_t *m = manager_of(world, "debug_name");
    ck_assert_uint_eq(names->find(m, "tree", found, COUNT), 100);
    for (uint32_t i = 0; i < 100; i++)
        ck_assert_uint_eq(found[i].id, e[i * 5].id);
    ck_assert_uint_eq(names->find(m, "tree", found, 3), 100); /* little room: the first ones */
    ck_assert_uint_eq(found[2].id, e[10].id);
    ck_assert_uint_eq(names->find(m, "tre", found, COUNT), 0);
    ck_assert_uint_eq(names->find(m, "", found, COUNT), 0);
    ck_assert_str_eq(names->name(m, e[5]), "tree");
    end();
}
END_TEST

START_TEST(a_renamed_entity_is_found_by_its_new_name_only)
{
    bp_entity_t e, found;
    begin_names();
    create("debug_name", &e, 1);
    set_text(e, "debug_name", "name", "caterpillar");
    set_text(e, "debug_name", "name", "butterfly");
    bp_manager_t *m = manager_of(world, "debug_name");
    ck_assert_uint_eq(count_named("caterpillar"), 0);
    ck_assert_uint_eq(names->find(m, "butterfly", &found, 1), 1);
    ck_assert_uint_eq(found.id, e.id);
    set_text(e, "debug_name", "name", "");
    ck_assert_uint_eq(count_named("butterfly"), 0);
    ck_assert_str_eq(names->name(m, e), "");
    end();
}
END_TEST

START_TEST(the_dead_are_not_found_and_nobody_inherits_their_names)
{
    enum { COUNT = 3000 };
    static bp_entity_t e[COUNT], heirs[COUNT];
    begin_names();
    create("debug_name", e, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        set_text(e[i], "debug_name", "name", "ghost");
    ck_assert_uint_eq(count_named("ghost"), COUNT);
    api->entity->destroy(host, e, COUNT - 1);
    ck_assert_uint_eq(count_named("ghost"), 1); /* though no step has collected them yet */
    ck_assert_ptr_null(names->name(manager_of(world, "debug_name"), e[0]));
    create("debug_name", heirs, COUNT);
    ck_assert_uint_eq(count_named("ghost"), 1);
    steps(50);
    ck_assert_uint_eq(count_named("ghost"), 1);
    ck_assert_str_eq(names->name(manager_of(world, "debug_name"), e[COUNT - 1]), "ghost");
    OK(api->world->remove(world, key_of("debug_name"), &e[COUNT - 1], 1));
    ck_assert_uint_eq(count_named("ghost"), 0);
    end();
}
END_TEST

START_TEST(a_path_finds_an_entity_by_its_name)
{
    bp_entity_t e[2];
    bp_path_t path;
    begin_names();
    create("debug_name", e, 2);
    set_text(e[0], "debug_name", "name", "earth");
    set_text(e[1], "debug_name", "name", "mars");
    OK(api->property->parse_path(host, "main/mars.debug_name.name", &path));
    ck_assert_uint_eq(path.entity.id, e[1].id);
    REFUSED(BP_ERROR_NOT_FOUND, "'venus'",
            api->property->parse_path(host, "main/venus.debug_name.name", &path));
    set_text(e[1], "debug_name", "name", "earth");
    REFUSED(BP_ERROR_ARGUMENT, "2 entities",
            api->property->parse_path(host, "main/earth.debug_name.name", &path));
    end();
}
END_TEST

START_TEST(a_name_has_at_most_255_bytes)
{
    bp_entity_t e;
    char text[257];
    const char *cell = text;
    begin_names();
    create("debug_name", &e, 1);
    memset(text, 'x', 256);
    text[256] = '\0';
    REFUSED(BP_ERROR_LIMIT, "255",
            api->property->set_named(world, e, "debug_name", "name", BP_STRING, &cell));
    ck_assert_str_eq(names->name(manager_of(world, "debug_name"), e), "");
    text[255] = '\0';
    set_text(e, "debug_name", "name", text);
    ck_assert_uint_eq(count_named(text), 1);
    end();
}
END_TEST

START_TEST(worlds_have_names_of_their_own)
{
    bp_entity_t e, found;
    begin_names();
    create("debug_name", &e, 1);
    bp_world_o *other = bp_world_create(host, &(bp_world_desc_t){.name = "inventory"});
    OK(bp_world_use_component(other, "debug_name"));
    OK(api->world->add(other, key_in(other, "debug_name", ""), &e, 1));
    set_text(e, "debug_name", "name", "pickaxe");
    const char *icon = "pickaxe_icon";
    OK(api->property->set_named(other, e, "debug_name", "name", BP_STRING, &icon));
    ck_assert_uint_eq(count_named("pickaxe_icon"), 0);
    ck_assert_uint_eq(names->find(manager_of(other, "debug_name"), "pickaxe_icon", &found, 1), 1);
    ck_assert_uint_eq(found.id, e.id);
    end();
}
END_TEST

START_TEST(the_table_of_an_unloaded_plugin_does_nothing)
{
    bp_entity_t e;
    begin_names();
    create("debug_name", &e, 1);
    set_text(e, "debug_name", "name", "x");
    bp_manager_t *m = manager_of(world, "debug_name");
    OK(bp_host_unload_plugin(host, "debug_name"));
    ck_assert_ptr_null(api->registry->find(host, BP_DEBUG_NAME_API, 1));
    ck_assert_uint_eq(names->find(m, "x", &e, 1), 0);
    ck_assert_ptr_null(names->name(m, e));
    load("debug_name", NULL, 0);
    ck_assert_ptr_eq(api->registry->find(host, BP_DEBUG_NAME_API, 1), names);
    end();
}
END_TEST

/* --- mesh ------------------------------------------------------------------------------------------ */

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

/* --- render_data ----------------------------------------------------------------------------------- */

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

/* --- transform ------------------------------------------------------------------------------------- */

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

/* --- recorder -------------------------------------------------------------------------------------- */

static const char csv_file[] = TEST_SCRATCH_DIR "/plugins.csv";
static const char svg_file[] = TEST_SCRATCH_DIR "/plugins.svg";

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be read", path);
    char *text = calloc(1, 1 << 21);
    ck_assert_ptr_nonnull(text);
    size_t length = fread(text, 1, (1 << 21) - 1, file);
    fclose(file);
    text[length] = '\0';
    return text;
}

/* Two named bodies and a recorder of the first one's position and the distance between the two. */
static void begin_recorder(const bp_option_t *options, uint32_t count, bp_entity_t e[2])
{
    bp_option_t all[8] = {
        {"properties",
         "main/ball.point_mass.position main/ball.point_mass.position@main/home.point_mass.position", NULL,
         NULL}};
    begin(10);
    use("point_mass");
    use("debug_name");
    memcpy(all + 1, options, count * sizeof *options);
    load("recorder", all, count + 1);
    create("point_mass", e, 2);
    OK(api->world->add(world, key_of("debug_name"), e, 2));
    set_text(e[0], "debug_name", "name", "ball");
    set_text(e[1], "debug_name", "name", "home");
    put_body(e[0], 1, (bp_vec3_t){1, 2, 3}, (bp_vec3_t){0.1f, -0.7f, 1e-6f});
    put_body(e[1], 1, (bp_vec3_t){10, 10, 10}, (bp_vec3_t){0, 0, 0});
}

START_TEST(the_csv_says_what_the_property_was)
{
    enum { STEPS = 37 };
    const bp_option_t options[] = {{"csv", csv_file, NULL, NULL},
                                   {"svg", svg_file, NULL, NULL},
                                   {"time_unit", "s", NULL, NULL}};
    bp_entity_t e[2];
    bp_vec3_t seen[STEPS];
    remove(csv_file);
    begin_recorder(options, 3, e);
    OK(bp_world_use_system(world, "recorder"));
    for (int i = 0; i < STEPS; i++) {
        steps(1);
        seen[i] = vector_of(e[0], "point_mass", "position");
    }
    FILE *early = fopen(csv_file, "rb");
    ck_assert_msg(early == NULL, "the file is there before it is whole");
    end();
    char *text = read_file(csv_file), *line = strtok(text, "\n");
    ck_assert_str_eq(line, "time (s),main/ball.point_mass.position.x (m),main/ball.point_mass.position.y (m),"
                           "main/ball.point_mass.position.z "
                           "(m),main/ball.point_mass.position@main/home.point_mass.position.x (m),"
                           "main/ball.point_mass.position@main/home.point_mass.position.y (m),"
                           "main/ball.point_mass.position@main/home.point_mass.position.z (m)");
    for (int i = 0; i < STEPS; i++) {
        float p[6];
        double time;
        line = strtok(NULL, "\n");
        ck_assert_msg(line != NULL, "only %d rows", i);
        ck_assert_int_eq(sscanf(line, "%lf,%f,%f,%f,%f,%f,%f", &time, &p[0], &p[1], &p[2], &p[3], &p[4],
                                &p[5]),
                         7);
        ck_assert_double_eq_tol(time, (i + 1) / 10.0, 1e-9);
        ck_assert_mem_eq(p, &seen[i], sizeof seen[i]);
        ck_assert_float_eq_tol(p[3], seen[i].x - 10, 1e-5f);
        ck_assert_float_eq_tol(p[5], seen[i].z - 10, 1e-5f);
    }
    ck_assert_ptr_null(strtok(NULL, "\n"));
    free(text);
}
END_TEST

/* Well-formed enough for a browser: one root, tags closed in order, attributes quoted, entities ended.
 * Returns what is wrong, or NULL. */
static const char *check_xml(const char *text)
{
    char open[32][32];
    int depth = 0, roots = 0;
    for (const char *at = text; *at != '\0';) {
        if (*at == '&' && strspn(at + 1, "#0123456789abcdefghijklmnopqrstuvwxyz") + 1 == strcspn(at, ";"))
            at = strchr(at, ';');
        else if (*at == '&')
            return "an & that begins no entity";
        if (*at++ != '<')
            continue;
        if (*at == '?' || *at == '!') {
            at += strcspn(at, ">");
            continue;
        }
        bool closing = *at == '/';
        char name[32];
        if (sscanf(at + closing, "%31[A-Za-z]", name) != 1)
            return "a < that begins no tag";
        const char *last = at;
        for (; *at != '>'; at++) {
            if (*at == '\0' || *at == '<')
                return "a tag without end";
            if (*at == '"' && (at = strchr(at + 1, '"')) == NULL)
                return "a quote without end";
            last = at;
        }
        if (closing) {
            if (depth == 0 || strcmp(open[--depth], name) != 0)
                return "tags that are not closed in order";
        } else {
            roots += depth == 0;
            if (*last != '/' && depth == 31)
                return "tags too deep";
            if (*last != '/')
                strcpy(open[depth++], name);
        }
    }
    return depth != 0 ? "a tag that is not closed" : roots != 1 ? "not exactly one root" : NULL;
}

START_TEST(the_svg_is_a_picture_that_parses)
{
    const bp_option_t options[] = {{"svg", svg_file, NULL, NULL},
                                   {"title", "a <ball> & \"more\"", NULL, NULL},
                                   {"unit", "m", NULL, NULL}};
    bp_entity_t e[2];
    remove(svg_file);
    begin_recorder(options, 3, e);
    OK(bp_world_use_system(world, "recorder"));
    steps(200);
    end();
    char *text = read_file(svg_file);
    const char *wrong = check_xml(text);
    ck_assert_msg(wrong == NULL, "%s", wrong);
    ck_assert_ptr_nonnull(strstr(text, "<svg "));
    ck_assert_ptr_nonnull(strstr(text, "ball"));
    ck_assert_ptr_nonnull(strstr(text, "<path"));
    free(text);
}
END_TEST

START_TEST(rows_are_written_as_often_as_asked)
{
    const bp_option_t options[] = {{"csv", csv_file, NULL, NULL}, {"every", "5", NULL, NULL}};
    bp_entity_t e[2];
    begin_recorder(options, 2, e);
    OK(bp_world_use_system(world, "recorder"));
    steps(21);
    end();
    char *text = read_file(csv_file);
    uint32_t lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    ck_assert_uint_eq(lines, 1 + 5); /* steps 0, 5, 10, 15 and 20 */
    free(text);
}
END_TEST

/* Its death is told when it happens, and is no error; who takes its name is recorded from then on. */
START_TEST(a_recorded_entity_that_dies_is_told_of_once)
{
    const bp_option_t options[] = {{"csv", csv_file, NULL, NULL}};
    bp_entity_t e[2], heir;
    begin_recorder(options, 1, e);
    OK(bp_world_use_system(world, "recorder"));
    steps(3);
    log_least = BP_LOG_INFO;
    ck_assert_uint_eq(api->entity->destroy(host, &e[1], 1), 1);
    const char *told = strstr(log_text, "'main/ball.point_mass.position@main/home.point_mass.position' has no value "
                                        "from time 0.3 on: an entity has died");
    ck_assert_msg(told != NULL, "%s", log_text);
    told = strchr(told, '\n');
    ck_assert_msg(strstr(log_text, "'main/ball.point_mass.position' has") == NULL, "%s", log_text);
    steps(2);
    ck_assert_msg(told[1] == '\0', "%s", log_text);
    create("point_mass", &heir, 1);
    OK(api->world->add(world, key_of("debug_name"), &heir, 1));
    set_text(heir, "debug_name", "name", "home");
    steps(1);
    log_least = BP_LOG_WARNING;
    log_text[0] = '\0';
    end();
    char *text = read_file(csv_file), *line = text;
    for (int i = 0; i < 6; i++, line = strchr(line, '\n') + 1)
        ck_assert_msg((strncmp(strchr(line, '\n') - 2, ",,", 2) == 0) == (i > 3), "row %d of\n%s", i, text);
    ck_assert_msg(strstr(line, ",,") == NULL, "%s", line);
    free(text);
}
END_TEST

START_TEST(a_recorder_that_cannot_write_does_not_start)
{
    static const struct {
        bp_option_t option;
        bp_result_t code;
        const char *says;
    } rows[] = {
        {{"csv", TEST_SCRATCH_DIR "/no/such/folder/x.csv", NULL, NULL}, BP_ERROR_IO, "no/such/folder"},
        {{"svg", TEST_SCRATCH_DIR "/no/such/folder/x.svg", NULL, NULL}, BP_ERROR_IO, "no/such/folder"},
        {{"title", "neither", NULL, NULL}, BP_ERROR_ARGUMENT, "csv"},
    };
    bp_entity_t e[2];
    begin_recorder(&rows[_i].option, 1, e);
    REFUSED(rows[_i].code, rows[_i].says, bp_world_use_system(world, "recorder"));
    steps(1);
    end();
}
END_TEST

/* --- orbit ----------------------------------------------------------------------------------------- */

/* The Sun and a planet that is to be placed. */
static void begin_orbit(bp_entity_t e[2])
{
    const bp_option_t constant = {"constant", "2.959122082855911e-4", NULL, NULL};
    double axis = 1.00000261, eccentricity = 0.01671123, longitude = 100.46457166, perihelion = 102.93768193;
    begin(8);
    use("point_mass");
    use("debug_name");
    load("gravity", &constant, 1);
    load("orbit", &constant, 1);
    OK(bp_world_use_component(world, "orbit"));
    OK(bp_world_use_system(world, "orbit_place"));
    OK(bp_world_use_system(world, "gravity"));
    OK(bp_world_use_system(world, "orbit_measure"));
    create("point_mass", e, 2);
    OK(api->world->add(world, key_of("debug_name"), e, 2));
    OK(api->world->add(world, key_of("orbit"), &e[1], 1));
    set_text(e[0], "debug_name", "name", "sun");
    set_text(e[1], "debug_name", "name", "earth");
    set(e[1], "point_mass", "mass", BP_F32, &(float){3.003489616e-06f});
    set_text(e[1], "orbit", "primary", "sun");
    set(e[1], "orbit", "semi_major_axis", BP_F64, &axis);
    set(e[1], "orbit", "eccentricity", BP_F64, &eccentricity);
    set(e[1], "orbit", "mean_longitude", BP_F64, &longitude);
    set(e[1], "orbit", "longitude_of_perihelion", BP_F64, &perihelion);
}

START_TEST(earth_is_put_one_au_from_the_sun_where_kepler_says)
{
    bp_entity_t e[2];
    begin_orbit(e);
    steps(1);
    bp_vec3_t sun = vector_of(e[0], "point_mass", "position"),
              earth = vector_of(e[1], "point_mass", "position");
    bp_vec3_t apart = {earth.x - sun.x, earth.y - sun.y, earth.z - sun.z};
    /* Kepler's equation for J2000, by iteration; one step of an eighth of a day after it. */
    double n = sqrt(AU_CONSTANT * 1.000003),
           mean = (100.46457166 - 102.93768193) * 3.141592653589793 / 180 + n / 8, anomaly = mean;
    for (int i = 0; i < 50; i++)
        anomaly = mean + 0.01671123 * sin(anomaly);
    ck_assert_double_eq_tol(length_of(apart), 1.00000261 * (1 - 0.01671123 * cos(anomaly)), 2e-6);
    ck_assert_double_eq_tol(length_of(apart), 1, 0.0168);
    ck_assert_double_eq_tol((double)apart.z, 0, 1e-6);
    /* Their barycentre rests at the origin. */
    ck_assert_double_eq_tol((double)sun.x + 3.003489616e-06 * (double)earth.x, 0, 1e-7);
    ck_assert_double_eq_tol((double)sun.y + 3.003489616e-06 * (double)earth.y, 0, 1e-7);
    end();
}
END_TEST

START_TEST(the_period_of_earth_is_measured)
{
    bp_entity_t e[2];
    double period;
    uint32_t revolutions;
    begin_orbit(e);
    steps(8 * 740);
    get(e[1], "orbit", "measured_period", BP_F64, &period);
    get(e[1], "orbit", "revolutions", BP_U32, &revolutions);
    ck_assert_uint_eq(revolutions, 2);
    ck_assert_double_eq_tol(period, 365.2563, 0.05);
    ck_assert_msg(strstr(take_report(), "earth") != NULL, "%s", report_text);
    end();
}
END_TEST

START_TEST(a_body_without_its_primary_is_not_placed_and_the_log_says_why)
{
    bp_entity_t e[2];
    uint8_t placed;
    begin_orbit(e);
    set_text(e[0], "debug_name", "name", "sol");
    steps(3);
    get(e[1], "orbit", "placed", BP_BOOL, &placed);
    ck_assert_uint_eq(placed, 0);
    const char *first = strstr(log_text, "'sun'");
    ck_assert_msg(first != NULL, "%s", log_text);
    ck_assert_msg(strstr(first + 1, "'sun'") == NULL, "said more than once: %s", log_text);
    set_text(e[0], "debug_name", "name", "sun");
    steps(1);
    get(e[1], "orbit", "placed", BP_BOOL, &placed);
    ck_assert_uint_eq(placed, 1);
    log_text[0] = '\0';
    end();
}
END_TEST

/* --- linked in ------------------------------------------------------------------------------------- */

/* Write `text` with every `old` in it replaced. */
static void write_replaced(FILE *file, const char *text, const char *old, const char *with)
{
    for (const char *found; (found = strstr(text, old)) != NULL; text = found + strlen(old))
        fprintf(file, "%.*s%s", (int)(found - text), text, with);
    fputs(text, file);
}

/* A copy of a file of the tree in the scratch folder. */
static void copy_to_scratch(const char *from, const char *to)
{
    char *text = read_file(from);
    FILE *file = fopen(to, "wb");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
    free(text);
}

/* What a run leaves that is shorter than its ini says. */
static const char shared_csv[] = TEST_SCRATCH_DIR "/shared.partial.csv",
                  linked_csv[] = TEST_SCRATCH_DIR "/linked.partial.csv";

/* The solar system that ships, for a while, with all bodies' values as the outcome. */
static size_t run_solar_system(bool static_plugins, bp_vec3_t *values, size_t room)
{
    static const char ini[] = TEST_SCRATCH_DIR "/linked.ini";
    static const char plugin_path[] = "[host]\nplugin_path = ../plugins\n";
    copy_to_scratch(TEST_SOURCE_DIR "/config/solar_system.json", TEST_SCRATCH_DIR "/solar_system.json");
    char *text = read_file(TEST_SOURCE_DIR "/config/solar_system.ini"),
         *host_section = strstr(text, "[host]\n");
    ck_assert_ptr_nonnull(host_section);
    FILE *file = fopen(ini, "wb");
    ck_assert_ptr_nonnull(file);
    fputs(static_plugins ? "[host]\n" : plugin_path, file);
    write_replaced(file, host_section + 7, "build/solar_system",
                   static_plugins ? TEST_SCRATCH_DIR "/linked" : TEST_SCRATCH_DIR "/shared");
    ck_assert_int_eq(fclose(file), 0);
    free(text);
    begin_with(linked, static_plugins ? LINKED : 0);
    OK(bp_host_setup(host, ini));
    world = api->world->at(host, 0);
    steps(2000);
    size_t count = 0;
    for (uint32_t i = 0; i < api->entity->bound(host) && count + 3 <= room; i++) {
        bp_entity_t e = api->entity->at(host, i);
        values[count++] = vector_of(e, "body", "position");
        values[count++] = vector_of(e, "body", "velocity");
        values[count++] = vector_of(e, "body", "acceleration");
    }
    const char *path;
    ck_assert_ptr_nonnull(bp_host_plugin(host, 0, &path));
    ck_assert_int_eq(path[0] == '\0', static_plugins);
    end();
    return count;
}

START_TEST(the_solar_system_is_the_same_bit_for_bit_with_plugins_linked_in)
{
    enum { ROOM = 60 };
    static bp_vec3_t shared[ROOM], in[ROOM];
    size_t count = run_solar_system(false, shared, ROOM);
    ck_assert_uint_eq(count, 30);
    ck_assert_uint_eq(run_solar_system(true, in, ROOM), count);
    ck_assert_double_gt(length_of(shared[3]), 0);
    ck_assert_mem_eq(shared, in, count * sizeof shared[0]);
    char *a = read_file(shared_csv), *b = read_file(linked_csv);
    ck_assert_uint_gt(strlen(a), 1000);
    ck_assert_str_eq(a, b);
    free(a);
    free(b);
}
END_TEST

static bool same_text(const char *a, const char *b)
{
    return strcmp(a == NULL ? "" : a, b == NULL ? "" : b) == 0;
}

START_TEST(a_plugin_linked_in_declares_what_its_file_declares)
{
    const bp_plugin_head_t *head = linked[_i], *loaded;
    begin_with(NULL, 0);
    load(head->name, (const bp_option_t[]){{"properties", "x", NULL, NULL}},
         strcmp(head->name, "recorder") == 0);
    loaded = bp_host_plugin(host, 0, NULL);
    ck_assert(same_text(head->name, loaded->name) && same_text(head->desc->version, loaded->desc->version) &&
              same_text(head->desc->doc, loaded->desc->doc));
    ck_assert_uint_eq(head->desc->options.count, loaded->desc->options.count);
    ck_assert_uint_eq(head->desc->systems.count, loaded->desc->systems.count);
    ck_assert_uint_eq(head->desc->components.count, loaded->desc->components.count);
    for (uint32_t i = 0; i < head->desc->components.count; i++) {
        const bp_component_i *a = &head->desc->components.items[i], *b = &loaded->desc->components.items[i];
        ck_assert(same_text(a->name == NULL ? head->name : a->name, b->name) && a->flags == b->flags &&
                  a->fields.count == b->fields.count);
        for (uint32_t k = 0; k < a->fields.count; k++) {
            const bp_field_t *f = &a->fields.items[k], *g = &b->fields.items[k];
            ck_assert(same_text(f->name, g->name) && f->type == g->type && same_text(f->initial, g->initial));
        }
    }
    end();
}
END_TEST

/* Components with storage of their own, linked in: create, set, move, read. */
START_TEST(managers_linked_in_keep_their_instances)
{
    enum { COUNT = 400 };
    static bp_entity_t e[COUNT];
    const bp_option_t folder = {"folder", TEST_SOURCE_DIR "/config/meshes", NULL, NULL};
    const char *text;
    char wanted[16];
    uint32_t prototype, triangles;
    begin_with(linked, LINKED);
    new_world(0);
    OK(bp_host_load_plugin(host, "debug_name", NULL, 0));
    OK(bp_host_load_plugin(host, "mesh", &folder, 1));
    OK(bp_host_load_plugin(host, "transform", NULL, 0));
    OK(bp_host_load_plugin(host, "render_data", NULL, 0));
    OK(bp_world_use_component(world, "debug_name"));
    OK(bp_world_use_component(world, "mesh"));
    OK(bp_world_use_component(world, "transform"));
    OK(bp_world_use_component(world, "render_data"));
    uint32_t keys[] = {key_of("debug_name"), key_of("mesh"), key_of("transform"), key_of("render_data")};
    OK(api->world->prototype(world, keys, 4, &prototype));
    OK(api->world->create(world, prototype, e, COUNT));
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(wanted, sizeof wanted, "n%u", i);
        set_text(e[i], "debug_name", "name", wanted);
        set_text(e[i], "mesh", "resource", i % 2 == 0 ? "cube.obj" : "icosahedron.obj");
        set(e[i], "transform", "position", BP_VEC3, &(bp_vec3_t){(float)i, 0, 0});
    }
    for (uint32_t i = 0; i < COUNT; i += 3)
        api->entity->destroy(host, &e[i], 1);
    steps(200);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (i % 3 == 0)
            continue;
        snprintf(wanted, sizeof wanted, "n%u", i);
        get(e[i], "debug_name", "name", BP_STRING, &text);
        get(e[i], "mesh", "triangle_count", BP_U32, &triangles);
        ck_assert_str_eq(text, wanted);
        ck_assert_uint_eq(triangles, i % 2 == 0 ? 12 : 20);
        ck_assert_float_eq(vector_of(e[i], "transform", "position").x, (float)i);
    }
    end();
}
END_TEST

static void add_gravity(Suite *suite)
{
    TCase *gravity = tcase_create("gravity");
    tcase_add_test(gravity, two_bodies_attract_each_other_as_newton_says);
    tcase_add_test(gravity, two_bodies_on_circles_come_back);
    tcase_add_test(gravity, the_dead_do_not_attract);
    tcase_add_test(gravity, bodies_in_one_place_do_not_attract_each_other);
    tcase_add_test(gravity, a_body_that_has_flown_to_infinity_spoils_nothing);
    tcase_add_test(gravity, softening_adds_to_every_distance);
    tcase_add_test(gravity, gravity_reports_how_well_energy_is_kept);
    tcase_add_test(gravity, energy_is_not_measured_where_nobody_wants_it);
    suite_add_tcase(suite, gravity);
}

static void add_names(Suite *suite)
{
    TCase *debug_name = tcase_create("debug_name");
    tcase_add_test(debug_name, entities_are_found_by_name_in_order_of_index);
    tcase_add_test(debug_name, a_renamed_entity_is_found_by_its_new_name_only);
    tcase_add_test(debug_name, the_dead_are_not_found_and_nobody_inherits_their_names);
    tcase_add_test(debug_name, a_path_finds_an_entity_by_its_name);
    tcase_add_test(debug_name, a_name_has_at_most_255_bytes);
    tcase_add_test(debug_name, worlds_have_names_of_their_own);
    tcase_add_test(debug_name, the_table_of_an_unloaded_plugin_does_nothing);
    suite_add_tcase(suite, debug_name);
}

static void add_meshes(Suite *suite)
{
    TCase *mesh = tcase_create("mesh");
    tcase_add_test(mesh, a_mesh_is_read_from_its_file);
    tcase_add_test(mesh, a_scene_with_a_file_that_is_missing_names_the_entity);
    tcase_add_loop_test(mesh, the_triangles_of_the_meshes_that_ship_look_outwards, 0, 2);
    tcase_add_test(mesh, a_mesh_is_loaded_once_and_freed_with_the_last_that_shows_it);
    tcase_add_test(mesh, worlds_share_meshes);
    tcase_add_test(mesh, an_entity_shows_several_meshes);
    tcase_add_test(mesh, a_wrong_file_leaves_the_mesh_as_it_was);
    suite_add_tcase(suite, mesh);
}

Suite *plugins_suite(void)
{
    Suite *suite = suite_create("plugins");
    TCase *point_mass = tcase_create("point_mass");
    tcase_add_test(point_mass, a_point_mass_moves_by_its_velocity_and_that_by_its_acceleration);
    tcase_add_test(point_mass, a_point_mass_weighs_one_at_first_and_never_less_than_nothing);
    suite_add_tcase(suite, point_mass);
    add_gravity(suite);
    add_names(suite);
    add_meshes(suite);
    TCase *render_data = tcase_create("render_data");
    tcase_add_test(render_data, fog_and_vignette_of_one_entity_have_settings_of_their_own);
    suite_add_tcase(suite, render_data);
    TCase *transform = tcase_create("transform");
    tcase_add_test(transform, the_world_matrix_is_translation_rotation_and_scale);
    tcase_add_loop_test(transform, a_rotation_is_brought_to_length_one, 0, 4);
    tcase_add_loop_test(transform, a_rotation_without_direction_is_refused, 0, 3);
    suite_add_tcase(suite, transform);
    TCase *recorder = tcase_create("recorder");
    tcase_add_test(recorder, the_csv_says_what_the_property_was);
    tcase_add_test(recorder, the_svg_is_a_picture_that_parses);
    tcase_add_test(recorder, rows_are_written_as_often_as_asked);
    tcase_add_test(recorder, a_recorded_entity_that_dies_is_told_of_once);
    tcase_add_loop_test(recorder, a_recorder_that_cannot_write_does_not_start, 0, 3);
    suite_add_tcase(suite, recorder);
    TCase *orbit = tcase_create("orbit");
    tcase_add_test(orbit, earth_is_put_one_au_from_the_sun_where_kepler_says);
    tcase_add_test(orbit, the_period_of_earth_is_measured);
    tcase_add_test(orbit, a_body_without_its_primary_is_not_placed_and_the_log_says_why);
    suite_add_tcase(suite, orbit);
    TCase *in = tcase_create("linked in");
    tcase_add_test(in, the_solar_system_is_the_same_bit_for_bit_with_plugins_linked_in);
    tcase_add_loop_test(in, a_plugin_linked_in_declares_what_its_file_declares, 0, LINKED);
    tcase_add_test(in, managers_linked_in_keep_their_instances);
    tcase_set_timeout(in, 30);
    suite_add_tcase(suite, in);
    return suite;
}
