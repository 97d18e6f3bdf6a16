/* test_bodies.c - what moves bodies: point_mass, gravity and orbit, seen from outside, through properties, reports
 * and the log.
 *
 * Numbers are compared with a second computation here, in double or in the same floats, whichever the plugin promises.
 */
#include "../suites.h"
#include "plugin_stage.h"

#define AU_CONSTANT 2.959122082855911e-4

/* --- point_mass --------------------------------------------------------------------------------------------------- */

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

/* --- gravity ------------------------------------------------------------------------------------------------------ */

static void begin_gravity(double step_rate, const bp_option_t *options, uint32_t count)
{
    begin(step_rate);
    use("point_mass");
    load("gravity", options, count);
    OK(bp_world_use_system(world, "gravity"));
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

Suite *bodies_suite(void)
{
    Suite *suite = suite_create("bodies");
    TCase *point_mass = tcase_create("point_mass");
    tcase_add_test(point_mass, a_point_mass_moves_by_its_velocity_and_that_by_its_acceleration);
    tcase_add_test(point_mass, a_point_mass_weighs_one_at_first_and_never_less_than_nothing);
    suite_add_tcase(suite, point_mass);
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
    TCase *orbit = tcase_create("orbit");
    tcase_add_test(orbit, earth_is_put_one_au_from_the_sun_where_kepler_says);
    tcase_add_test(orbit, the_period_of_earth_is_measured);
    tcase_add_test(orbit, a_body_without_its_primary_is_not_placed_and_the_log_says_why);
    suite_add_tcase(suite, orbit);
    return suite;
}
