/* orbit.h - what the files of the plugin orbit share: the fields by number, and how bodies are found and
 * called.
 *
 * What this header does not do: it is not for other plugins. They reach `orbit` by its properties.
 */
#ifndef ORBIT_ORBIT_H
#define ORBIT_ORBIT_H

#include <bp_plugin.h>
#include <components/point_mass.h>

#include "kepler.h"

/* The fields of `orbit`, in the order of declaration. */
enum {
    ORBIT_PRIMARY,
    ORBIT_SEMI_MAJOR_AXIS,
    ORBIT_ECCENTRICITY,
    ORBIT_INCLINATION,
    ORBIT_MEAN_LONGITUDE,
    ORBIT_LONGITUDE_OF_PERIHELION,
    ORBIT_ASCENDING_NODE,
    ORBIT_PUBLISHED_PERIOD,
    ORBIT_PLACED,
    ORBIT_STARTED,
    ORBIT_LONGITUDE,
    ORBIT_ANGLE,
    ORBIT_REVOLUTIONS,
    ORBIT_MEASURED_PERIOD
};

/* The fields of `rounding`, likewise. */
enum { ORBIT_LAST_POSITION, ORBIT_LAST_VELOCITY, ORBIT_POSITION_REST, ORBIT_VELOCITY_REST };

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
void orbit_rounding_run(bp_system_t *s, const bp_step_t *step, const bp_match_t *match);

/* What people call an entity: its debug name, else "#index:generation". Written to `text`, and returned. */
const char *orbit_name(bp_system_t *s, bp_entity_t entity, char *text, size_t size);

/* The one living entity with the debug name `name`. On failure {0} and a sentence in `message`, which has
 * ORBIT_MESSAGE bytes. */
bp_entity_t orbit_find(bp_system_t *s, const char *name, char *message);

#endif
