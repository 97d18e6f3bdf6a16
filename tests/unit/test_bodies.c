/* test_bodies.c - what moves bodies: point_mass, gravity and orbit, seen from outside, through properties, reports
 * and the log.
 *
 * Numbers are compared with a second computation here, in double or in the same floats, whichever the plugin promises.
 */
#include "../suites.h"
#include "plugin_stage.h"

#include "../../plugins/gravity/gravity.h"

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
                 dt = 6.283185307179586 / omega / (double)STEPS;
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

/* The bytes of a snapshot have no address in them; what a damaged one has in its place is not taken for one. */
START_TEST(gravity_takes_no_address_from_a_snapshot)
{
    const gravity_bodies_t none = {.count = 0};
    gravity_bodies_t wrong;
    bp_entity_t e[2];
    bp_snapshot_o *taken, *damaged;
    size_t size, at = 0;
    begin_gravity(1, unit_gravity, 2);
    create("point_mass", e, 2);
    steps(3);
    OK(bp_host_snapshot(host, &taken));
    const char *bytes = bp_snapshot_bytes(taken, &size);
    for (;; at += 8) {
        gravity_t found;
        ck_assert_uint_le(at + sizeof found, size);
        memcpy(&found, bytes + at, sizeof found);
        if (memcmp(&found.bodies, &none, sizeof none) == 0 && found.steps == 3 && found.set_of_bodies != 0 &&
            found.begun_anew == 0)
            break;
    }
    char *copy = malloc(size);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, size);
    memset(&wrong, 0x11, sizeof wrong);
    memcpy(copy + at, &wrong, sizeof wrong);
    OK(bp_snapshot_read(host, copy, size, &damaged));
    OK(bp_host_bring_back(host, damaged));
    steps(3);
    bp_snapshot_free(damaged);
    bp_snapshot_free(taken);
    free(copy);
    end();
}
END_TEST

START_TEST(gravity_reports_how_well_energy_is_kept)
{
    begin_gravity(1000, unit_gravity, 2);
    put_two_on_an_ellipse();
    steps(5001);
    double drift = reported("energy drift");
    ck_assert_msg(drift > 0 && drift < 1e-4, "drift %g", drift);
    ck_assert_ptr_nonnull(strstr(report_text, "total energy|energy|step|time|kinetic|potential|total"));
    const char *first = strstr(report_text, "row|first|0|0|");
    double kinetic, potential, total;
    ck_assert(first != NULL && sscanf(first, "row|first|0|0|%lf|%lf|%lf", &kinetic, &potential, &total) == 3);
    ck_assert(fabs(kinetic - (0.001 + 1e-6) / 2) < 1e-9);
    ck_assert(fabs(potential + 0.001) < 1e-6); /* softened by a little */
    ck_assert(fabs(total - kinetic - potential) < 1e-9);
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

/* A world for bodies on orbits that do not attract each other. */
static void begin_orbits(double rate)
{
    const bp_option_t constant = {"constant", "2.959122082855911e-4", NULL, NULL};
    begin(rate);
    use("point_mass");
    use("debug_name");
    load("gravity", NULL, 0); /* which orbit_place names */
    load("orbit", &constant, 1);
    OK(bp_world_use_component(world, "orbit"));
    OK(bp_world_use_system(world, "orbit_place"));
    OK(bp_world_use_system(world, "orbit_measure"));
}

/* A body with a name; with an orbit where `primary` is not NULL. */
static bp_entity_t new_body(const char *name, float mass, const char *primary, double axis)
{
    bp_entity_t e;
    create("point_mass", &e, 1);
    set(e, "point_mass", "mass", BP_F32, &mass);
    OK(api->world->add(world, key_of("debug_name"), &e, 1));
    set_text(e, "debug_name", "name", name);
    if (primary == NULL)
        return e;
    OK(api->world->add(world, key_of("orbit"), &e, 1));
    set_text(e, "orbit", "primary", primary);
    set(e, "orbit", "semi_major_axis", BP_F64, &axis);
    return e;
}

static bool is_placed(bp_entity_t e)
{
    uint8_t placed;
    get(e, "orbit", "placed", BP_BOOL, &placed);
    return placed != 0;
}

static double distance_between(bp_entity_t a, bp_entity_t b)
{
    bp_vec3_t p = vector_of(a, "point_mass", "position"), q = vector_of(b, "point_mass", "position");
    return length_of((bp_vec3_t){p.x - q.x, p.y - q.y, p.z - q.z});
}

/* What keeps a body from its orbit: nothing is placed, the log says so, and says it once. */
START_TEST(what_cannot_be_on_an_orbit_is_told_why)
{
    static const char *const says[] = {
        "more than one entity has the debug name 'sun'", "the primary sun has no point_mass in this world",
        "goes around itself, by way of its primaries", "a and its primary have no mass, so no orbit",
        "to find 'sun', this world needs the component debug_name",
    };
    bp_entity_t sun, a, b;
    if (_i == 4) {
        begin(8);
        use("point_mass");
        load("gravity", NULL, 0);
        load("orbit", NULL, 0);
        OK(bp_world_use_component(world, "orbit"));
        OK(bp_world_use_system(world, "orbit_place"));
        create("point_mass", &a, 1);
        OK(api->world->add(world, key_of("orbit"), &a, 1));
        set_text(a, "orbit", "primary", "sun");
        b = a;
    } else {
        begin_orbits(8);
        sun = new_body("sun", _i == 3 ? 0 : 1, NULL, 0);
        a = new_body("a", 0, _i == 2 ? "b" : "sun", 1);
        b = new_body("b", 1, _i == 2 ? "a" : "sun", 2);
        if (_i == 0)
            new_body("sun", 1, NULL, 0);
        if (_i == 1)
            OK(api->world->remove(world, key_of("point_mass"), &sun, 1));
    }
    steps(3);
    const char *first = strstr(log_text, says[_i]);
    ck_assert_msg(first != NULL, "%s", log_text);
    ck_assert_msg(strchr(first, '\n')[1] == '\0', "said more than once: %s", log_text);
    ck_assert(!is_placed(a) && !is_placed(b));
    ck_assert(length_of(vector_of(a, "point_mass", "position")) < 1e-30);
    log_text[0] = '\0';
    end();
}
END_TEST

/* Satellites of several primaries, two of them on one orbit; later a body without a primary, and one that comes when
 * others are placed. */
START_TEST(bodies_are_placed_whatever_their_order_and_their_primaries)
{
    bp_entity_t e[8], dead;
    double away = 50, opposite = 180, round = 3;
    begin_orbits(8);
    e[0] = new_body("moon", 1e-12f, "earth", 0.0026);
    e[1] = new_body("deimos", 1e-12f, "mars", 0.0026);
    dead = new_body("vulcan", 1e-9f, "sun", 0.2);
    e[2] = new_body("earth", 3e-6f, "sun", 1);
    e[3] = new_body("mars", 3e-7f, "sun", 1.5);
    e[4] = new_body("trojan", 1e-12f, "sun", 1.5);
    e[5] = new_body("phobos", 1e-12f, "mars", 0.0026);
    e[6] = new_body("left alone", 1e-12f, "", 1);
    e[7] = new_body("sun", 1, NULL, 0);
    set(e[4], "orbit", "mean_longitude", BP_F64, &opposite);
    set(e[6], "point_mass", "position", BP_VEC3, &(bp_vec3_t){(float)away, 0, 0});
    steps(1);
    for (int i = 0; i < 7; i++)
        ck_assert_msg(is_placed(e[i]), "body %d", i);
    ck_assert_double_eq_tol(distance_between(e[0], e[2]), 0.0026, 1e-5);
    ck_assert_double_eq_tol(distance_between(e[1], e[3]), 0.0026, 1e-5);
    ck_assert_double_eq_tol(distance_between(e[5], e[3]), 0.0026, 1e-5);
    ck_assert_double_eq_tol(distance_between(e[2], e[7]), 1, 1e-3);
    ck_assert_double_eq_tol(distance_between(e[3], e[4]), 3, 1e-3);
    ck_assert_double_eq_tol((double)vector_of(e[6], "point_mass", "position").x, away, 1e-3);
    /* The others stay where they are when one comes, and the dead are not placed. */
    bp_vec3_t before = vector_of(e[7], "point_mass", "position");
    api->entity->destroy(host, &dead, 1);
    bp_entity_t venus = new_body("venus", 1, "sun", 0.7);
    steps(1);
    ck_assert(is_placed(venus));
    ck_assert_double_eq_tol(distance_between(venus, e[7]), 0.7, 1e-3);
    bp_vec3_t after = vector_of(e[7], "point_mass", "position");
    ck_assert(fabs((double)after.x - (double)before.x) < 1e-3 && fabs((double)after.y - (double)before.y) < 1e-3);
    set(venus, "orbit", "published_period", BP_F64, &round);
    ck_assert_ptr_nonnull(strstr(take_report(), "row|venus|0|-|3.0000|-\n"));
    ck_assert_ptr_null(strstr(report_text, "left alone"));
    end();
}
END_TEST

/* A cigar of an orbit: near the perihelion Newton's method alone goes astray for some of these. */
START_TEST(very_long_ellipses_are_followed)
{
    enum { COMETS = 150 };
    bp_entity_t comets[COMETS];
    double e = 0.9999;
    begin_orbits(1e9);
    bp_entity_t sun = new_body("sun", 1, NULL, 0);
    for (int i = 0; i < COMETS; i++) {
        double longitude = (i - 20) * 0.001 * 180 / 3.14159265358979323846;
        comets[i] = new_body("", 0, "sun", 1);
        set(comets[i], "orbit", "eccentricity", BP_F64, &e);
        set(comets[i], "orbit", "mean_longitude", BP_F64, &longitude);
    }
    steps(1);
    bp_vec3_t from = vector_of(sun, "point_mass", "position");
    for (int i = 0; i < COMETS; i++) {
        double mean = (i - 20) * 0.001, low = mean - e, high = mean + e;
        for (int k = 0; k < 200; k++) {
            double middle = 0.5 * (low + high);
            *(middle - e * sin(middle) > mean ? &high : &low) = middle;
        }
        bp_vec3_t at = vector_of(comets[i], "point_mass", "position");
        ck_assert_double_eq_tol((double)at.x - (double)from.x, cos(low) - e, 1e-6);
        ck_assert_double_eq_tol((double)at.y - (double)from.y, sqrt(1 - e * e) * sin(low), 1e-6);
    }
    end();
}
END_TEST

START_TEST(an_orbit_of_no_numbers_ends_in_no_numbers)
{
    double nothing = NAN;
    begin_orbits(8);
    new_body("sun", 1, NULL, 0);
    bp_entity_t a = new_body("a", 0, "sun", 1);
    set(a, "orbit", "mean_longitude", BP_F64, &nothing);
    steps(2);
    ck_assert(is_placed(a));
    ck_assert(isnan(vector_of(a, "point_mass", "position").x));
    end();
}
END_TEST

/* Move a body by hand around its primary, so many steps a turn, one way or the other. */
static void go_round(bp_entity_t e, int count, double step)
{
    for (int i = 1; i <= count; i++) {
        set(e, "point_mass", "position", BP_VEC3, &(bp_vec3_t){(float)cos(i * step), (float)sin(i * step), 0});
        set(e, "point_mass", "velocity", BP_VEC3, &(bp_vec3_t){0, 0, 0});
        steps(1);
    }
}

START_TEST(turns_are_counted_either_way_round_and_from_whichever_body_is_the_primary)
{
    bp_entity_t a, sun, other, bare;
    double angle, published = 16, step = _i == 0 ? 0.4 : -0.4;
    uint32_t revolutions;
    begin_orbits(1);
    sun = new_body("sun", 1, NULL, 0);
    other = new_body("other", 1, NULL, 0);
    a = new_body("a", 0, "sun", 1);
    new_body("c", 0, "", 1);
    set(other, "point_mass", "position", BP_VEC3, &(bp_vec3_t){1e6f, 0, 0});
    steps(1);
    set(sun, "point_mass", "position", BP_VEC3, &(bp_vec3_t){0, 0, 0});
    set(sun, "point_mass", "velocity", BP_VEC3, &(bp_vec3_t){0, 0, 0});
    set(a, "orbit", "published_period", BP_F64, &published);
    go_round(a, 64, step);
    get(a, "orbit", "revolutions", BP_U32, &revolutions);
    ck_assert_uint_eq(revolutions, 4);
    get(a, "orbit", "angle", BP_F64, &angle);
    ck_assert_double_eq_tol(angle, 64 * step, 0.1);
    ck_assert_msg(strstr(take_report(), "row|a|4|") != NULL && strstr(report_text, "|16.0000|-") != NULL, "%s",
                  report_text);
    /* From a body so far off nothing is seen to turn. */
    set_text(a, "orbit", "primary", "other");
    go_round(a, 1, step);
    get(a, "orbit", "angle", BP_F64, &angle);
    double before = angle;
    go_round(a, 20, step);
    get(a, "orbit", "angle", BP_F64, &angle);
    ck_assert_double_eq_tol(angle, before, 1e-4);
    /* One that is no body, or that has died, is no primary; the measure goes on with the one that follows. */
    create("debug_name", &bare, 1);
    set_text(bare, "debug_name", "name", "bare");
    set_text(a, "orbit", "primary", "bare");
    go_round(a, 20, step);
    set_text(a, "orbit", "primary", "sun");
    go_round(a, 1, step);
    get(a, "orbit", "angle", BP_F64, &before);
    api->entity->destroy(host, &sun, 1);
    go_round(a, 1, step);
    get(a, "orbit", "angle", BP_F64, &angle);
    ck_assert(angle <= before && angle >= before);
    sun = new_body("sun", 1, NULL, 0); /* another, which takes the name in the next step */
    go_round(a, 4, step);
    get(a, "orbit", "angle", BP_F64, &angle);
    ck_assert(fabs(angle - before) > 0.1);
    end();
}
END_TEST

/* More bodies than the plugin has room for at first, and than its table shows. */
START_TEST(of_many_bodies_each_is_measured_and_100_are_reported)
{
    enum { BODIES = 120 };
    bp_entity_t e[BODIES];
    double angle;
    begin_orbits(8);
    new_body("sun", 1, NULL, 0);
    for (int i = 0; i < BODIES; i++)
        e[i] = new_body("", 0, "sun", 1 + i * 0.01);
    steps(9);
    for (int i = 0; i < BODIES; i++) {
        get(e[i], "orbit", "angle", BP_F64, &angle);
        ck_assert_msg(angle > 0.001, "body %d", i);
    }
    uint32_t rows = 0;
    take_report();
    for (const char *at = report_text; (at = strstr(at, "\nrow|#")) != NULL; at++)
        rows++;
    ck_assert_uint_eq(rows, 100);
    ck_assert_ptr_nonnull(strstr(report_text, "not shown|20 more bodies"));
    end();
}
END_TEST

/* The components of the primary lie anywhere among as many as an entity can have. */
START_TEST(a_primary_of_255_components_is_found)
{
    bp_entity_t sun, a;
    double angle;
    begin_orbits(8);
    use("render_data");
    sun = new_body("sun", 1, NULL, 0);
    OK(api->world->remove(world, key_of("point_mass"), &sun, 1));
    for (uint32_t i = 0; i < 253; i++) {
        char name[16];
        uint32_t key = (snprintf(name, sizeof name, "effect_%u", i), key_in(world, "render_data", name));
        OK(api->world->add(world, key, &sun, 1));
    }
    OK(api->world->add(world, key_in(world, "point_mass", "late"), &sun, 1));
    set(sun, "late", "mass", BP_F32, &(float){1});
    a = new_body("a", 0, "sun", 1);
    steps(9);
    get(a, "orbit", "angle", BP_F64, &angle);
    ck_assert(angle > 0.01);
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
    tcase_add_test(gravity, gravity_takes_no_address_from_a_snapshot);
    tcase_add_test(gravity, gravity_reports_how_well_energy_is_kept);
    tcase_add_test(gravity, energy_is_not_measured_where_nobody_wants_it);
    suite_add_tcase(suite, gravity);
    TCase *orbit = tcase_create("orbit");
    tcase_add_test(orbit, earth_is_put_one_au_from_the_sun_where_kepler_says);
    tcase_add_test(orbit, the_period_of_earth_is_measured);
    tcase_add_test(orbit, a_body_without_its_primary_is_not_placed_and_the_log_says_why);
    tcase_add_loop_test(orbit, what_cannot_be_on_an_orbit_is_told_why, 0, 5);
    tcase_add_test(orbit, bodies_are_placed_whatever_their_order_and_their_primaries);
    tcase_add_test(orbit, very_long_ellipses_are_followed);
    tcase_add_test(orbit, an_orbit_of_no_numbers_ends_in_no_numbers);
    tcase_add_loop_test(orbit, turns_are_counted_either_way_round_and_from_whichever_body_is_the_primary, 0, 2);
    tcase_add_test(orbit, of_many_bodies_each_is_measured_and_100_are_reported);
    tcase_add_test(orbit, a_primary_of_255_components_is_found);
    suite_add_tcase(suite, orbit);
    return suite;
}
