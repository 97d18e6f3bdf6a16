/* orbit.c - the plugin orbit: bodies on published orbits, and their measured periods.
 *
 * The component `orbit` says around which body an entity goes, on which ellipse, and which period a
 * publication gives for it. Two systems work with it and with point_mass: orbit_place (place.c) puts bodies
 * on their orbits once; orbit_measure (measure.c) counts revolutions and times them. In between this plugin moves no
 * body: that is done by the plugin that writes accelerations (gravity) and by point_mass. For bodies that need more
 * digits than f32 has there are the component `rounding` and the system carry_rounding (rounding.c).
 *
 * The primary is given by its debug name rather than as an entity, since an ini or a scene is written before
 * any entity exists.
 *
 * Elements are f64 although positions are f32: a mean longitude to eight decimals does not fit a float.
 */
#include "orbit.h"

#include <components/debug_name.h>

#include <stdio.h>

/* Gauss's constant squared, for au as the unit of length, the day as that of time, the Sun's mass as that of mass. */
#define GAUSSIAN_CONSTANT "2.959122082855911e-4"

static const bp_field_t fields[] = {
    {.name = "primary", .type = BP_STRING,
     .doc = "debug name of the body that this one goes around; empty: none"},
    {.name = "semi_major_axis", .type = BP_F64, .min = "0", .unit = "au",
     .doc = "0: the body is left where it is, and only measured"},
    {.name = "eccentricity", .type = BP_F64, .min = "0", .max = "0.9999"},
    {.name = "inclination", .type = BP_F64, .unit = "deg", .doc = "to the x-y plane"},
    {.name = "mean_longitude", .type = BP_F64, .unit = "deg", .doc = "when the world's time is 0"},
    {.name = "longitude_of_perihelion", .type = BP_F64, .unit = "deg"},
    {.name = "ascending_node", .type = BP_F64, .unit = "deg", .doc = "longitude of the ascending node"},
    {.name = "published_period", .type = BP_F64, .min = "0", .unit = "d",
     .doc = "to compare with; 0: none is known"},
    {.name = "placed", .type = BP_BOOL, .flags = BP_FIELD_READ_ONLY, .doc = "orbit_place has seen to it"},
    {.name = "started", .type = BP_F64, .flags = BP_FIELD_READ_ONLY, .unit = "d",
     .doc = "when it was placed"},
    {.name = "longitude", .type = BP_F64, .flags = BP_FIELD_READ_ONLY, .unit = "rad",
     .doc = "direction from the primary in the x-y plane, -pi to pi"},
    {.name = "angle", .type = BP_F64, .flags = BP_FIELD_READ_ONLY, .unit = "rad",
     .doc = "swept around the primary since it was placed"},
    {.name = "revolutions", .type = BP_U32, .flags = BP_FIELD_READ_ONLY,
     .doc = "completed since it was placed"},
    {.name = "measured_period", .type = BP_F64, .flags = BP_FIELD_READ_ONLY, .unit = "d",
     .doc = "mean over all completed revolutions; 0: none is completed"},
};

static const bp_field_t rounding_fields[] = {
    {.name = "last_position", .type = BP_VEC3, .flags = BP_FIELD_READ_ONLY, .doc = "after the step before"},
    {.name = "last_velocity", .type = BP_VEC3, .flags = BP_FIELD_READ_ONLY, .doc = "after the step before"},
    {.name = "position_rest", .type = BP_VEC3, .flags = BP_FIELD_READ_ONLY, .doc = "too small to be stored"},
    {.name = "velocity_rest", .type = BP_VEC3, .flags = BP_FIELD_READ_ONLY, .doc = "too small to be stored"},
};

static const bp_field_t options[] = {
    {.name = "constant", .type = BP_F64, .initial = GAUSSIAN_CONSTANT, .min = "0", .unit = "au^3/(d^2 Msun)",
     .doc = "of gravitation; the same as that of the plugin gravity"},
    {.name = "time_unit", .type = BP_STRING, .initial = "d",
     .doc = "unit of the world's time, for the report"},
};

static const bp_debug_name_api *names_of(bp_system_t *s, bp_manager_t **manager)
{
    uint32_t component = s->api->world->component(s->world, "debug_name");
    *manager = component == BP_NONE ? NULL : s->api->world->manager(s->world, component);
    if (*manager == NULL)
        return NULL;
    return s->api->registry->find(s->host, BP_DEBUG_NAME_API, 1);
}

const char *orbit_name(bp_system_t *s, bp_entity_t entity, char *text, size_t size)
{
    bp_manager_t *manager;
    const bp_debug_name_api *names = names_of(s, &manager);
    const char *name = names == NULL ? NULL : names->name(manager, entity);
    if (name != NULL && name[0] != 0)
        snprintf(text, size, "%s", name);
    else
        s->api->entity->format(s->host, entity, text, size);
    return text;
}

bp_entity_t orbit_find(bp_system_t *s, const char *name, char *message)
{
    bp_entity_t found[2] = {{0}, {0}};
    bp_manager_t *manager;
    const bp_debug_name_api *names = names_of(s, &manager);
    if (names == NULL) {
        snprintf(message, ORBIT_MESSAGE, "to find '%.64s', this world needs the component debug_name", name);
        return (bp_entity_t){0};
    }
    uint32_t count = names->find(manager, name, found, 2);
    if (count == 1)
        return found[0];
    snprintf(message, ORBIT_MESSAGE, count == 0 ? "no living entity has the debug name '%.64s'"
                                                : "more than one entity has the debug name '%.64s'", name);
    return (bp_entity_t){0};
}

static const bp_term_field_t place_mass[] = {
    {BP_FIELD_OF(struct place_mass, mass)},
    {BP_FIELD_OF(struct place_mass, position)},
    {BP_FIELD_OF(struct place_mass, velocity)},
};

static const bp_term_field_t place_orbit[] = {
    {BP_FIELD_OF(struct place_orbit, primary)},
    {BP_FIELD_OF(struct place_orbit, semi_major_axis)},
    {BP_FIELD_OF(struct place_orbit, eccentricity)},
    {BP_FIELD_OF(struct place_orbit, inclination)},
    {BP_FIELD_OF(struct place_orbit, mean_longitude)},
    {BP_FIELD_OF(struct place_orbit, longitude_of_perihelion)},
    {BP_FIELD_OF(struct place_orbit, ascending_node)},
    {BP_FIELD_OF(struct place_orbit, placed)},
    {BP_FIELD_OF(struct place_orbit, started)},
    {BP_FIELD_OF(struct place_orbit, longitude)},
};

static const bp_term_field_t measure_mass[] = {{BP_FIELD_OF(struct measure_mass, position)}};

static const bp_term_field_t measure_orbit[] = {
    {BP_FIELD_OF(struct measure_orbit, primary)},
    {BP_FIELD_OF(struct measure_orbit, placed)},
    {BP_FIELD_OF(struct measure_orbit, started)},
    {BP_FIELD_OF(struct measure_orbit, longitude)},
    {BP_FIELD_OF(struct measure_orbit, angle)},
    {BP_FIELD_OF(struct measure_orbit, revolutions)},
    {BP_FIELD_OF(struct measure_orbit, measured_period)},
};

static const bp_term_field_t carry_mass[] = {
    {BP_FIELD_OF(struct carry_mass, position)},
    {BP_FIELD_OF(struct carry_mass, velocity)},
    {BP_FIELD_OF(struct carry_mass, acceleration)},
};

static const bp_term_field_t carry_rest[] = {
    {BP_FIELD_OF(struct carry_rest, last_position)},
    {BP_FIELD_OF(struct carry_rest, last_velocity)},
    {BP_FIELD_OF(struct carry_rest, position_rest)},
    {BP_FIELD_OF(struct carry_rest, velocity_rest)},
};

/* orbit_place looks at point masses that have no orbit as well: the Sun is one. */
static const bp_term_t place_terms[] = {
    {.component = BP_POINT_MASS, .fields = BP_LIST(place_mass)},
    {.component = "orbit", .flags = BP_TERM_OPTIONAL, .fields = BP_LIST(place_orbit)},
};

static const bp_term_t measure_terms[] = {
    {.component = BP_POINT_MASS, .fields = BP_LIST(measure_mass)},
    {.component = "orbit", .fields = BP_LIST(measure_orbit)},
};

static const bp_term_t rounding_terms[] = {
    {.component = BP_POINT_MASS, .fields = BP_LIST(carry_mass)},
    {.component = "rounding", .fields = BP_LIST(carry_rest)},
};

static const bp_system_report_i measure_report = {orbit_measure_report};
static const bp_extension_t measure_extensions[] = {{BP_EXTENSION("bp_report", measure_report)}};

static const bp_system_i systems[] = {
    {.name = "orbit_place", .doc = "puts bodies on their orbits, once", .terms = BP_LIST(place_terms),
     .before = "gravity " BP_POINT_MASS, .start = orbit_place_start, .stop = orbit_place_stop, .keeps = BP_KEEP_ANEW,
     .run_all = orbit_place_run},
    {.name = "orbit_measure", .doc = "counts and times revolutions", .terms = BP_LIST(measure_terms),
     .after = BP_POINT_MASS, .start = orbit_measure_start, .stop = orbit_measure_stop, .keeps = BP_KEEP_ANEW,
     .run_all = orbit_measure_run, .extensions = BP_LIST(measure_extensions)},
    {.name = "carry_rounding",
     .doc = "keeps what f32 drops from positions and velocities", .after = BP_POINT_MASS,
     .terms = BP_LIST(rounding_terms), .flags = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT,
     .run = orbit_rounding_run},
};

static const bp_component_i components[] = {
    {.name = "orbit", .doc = "a Keplerian orbit around another body, and its measured period",
     .fields = BP_LIST(fields), .flags = BP_COMPONENT_SINGLE},
    {.name = "rounding", .doc = "what f32 has dropped from a point_mass's position and velocity",
     .fields = BP_LIST(rounding_fields), .flags = BP_COMPONENT_SINGLE},
};

BP_PLUGIN(orbit) = {
    .version = "1.0",
    .doc = "Keplerian orbits: places bodies on them and measures their periods",
    .components = BP_LIST(components),
    .systems = BP_LIST(systems),
    .options = BP_LIST(options),
};
