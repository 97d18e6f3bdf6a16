/* orbit.h - what the files of the plugin orbit share: columns, and how bodies are found and called.
 *
 * Not here: declarations for other plugins, which reach `orbit` by its properties.
 */
#ifndef ORBIT_ORBIT_H
#define ORBIT_ORBIT_H

#include <bp_plugin.h>
#include <components/point_mass.h>

#include <stdbool.h>

#include "kepler.h"

/* Columns as orbit_place wants them. */
struct place_mass { const float *mass; bp_vec3_t *position, *velocity; };
struct place_orbit {
    const char *const *primary;
    const double *semi_major_axis, *eccentricity, *inclination, *mean_longitude, *longitude_of_perihelion,
        *ascending_node;
    bool *placed;
    double *started, *longitude;
};

/* Columns as orbit_measure wants them. */
struct measure_mass { const bp_vec3_t *position; };
struct measure_orbit {
    const char *const *primary;
    const bool *placed;
    const double *started;
    double *longitude, *angle;
    uint32_t *revolutions;
    double *measured_period;
};

/* Columns as carry_rounding wants them: three floats a row. */
struct carry_mass { bp_vec3_t *position, *velocity; const bp_vec3_t *acceleration; };
struct carry_rest { bp_vec3_t *last_position, *last_velocity, *position_rest, *velocity_rest; };

/* The options of the plugin. */
enum { ORBIT_OPTION_CONSTANT, ORBIT_OPTION_TIME_UNIT };

#define ORBIT_MESSAGE 256 /* bytes of a sentence in the log */

/* The verbs of the system orbit_place. */
bp_result_t orbit_place_start(bp_system_t *s);
void orbit_place_stop(bp_system_t *s);
void orbit_place_run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count);

/* The verbs of the system orbit_measure. */
bp_result_t orbit_measure_start(bp_system_t *s);
void orbit_measure_stop(bp_system_t *s);
void orbit_measure_run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count);
void orbit_measure_report(bp_system_t *s, bp_report_o *report);

/* The verb of the system carry_rounding. */
void orbit_rounding_run(const bp_match_t *match, uint32_t count);

/* The name of an entity for people: its debug name, else "#index:generation". Written to `text`, and returned. */
const char *orbit_name(bp_system_t *s, bp_entity_t entity, char *text, size_t size);

/* The one living entity with the debug name `name`. On failure {0} and a sentence in `message`, which has
 * ORBIT_MESSAGE bytes. */
bp_entity_t orbit_find(bp_system_t *s, const char *name, char *message);

#endif
