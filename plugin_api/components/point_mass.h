/* point_mass.h - the fields of the component point_mass, for systems that read or write its columns.
 *
 *     const float *mass = BP_TERM_COLUMN(match, float, 0, BP_POINT_MASS_MASS);
 *     bp_vec3_t *acceleration = BP_TERM_COLUMN(match, bp_vec3_t, 0, BP_POINT_MASS_ACCELERATION);
 *
 * A step of the component is, in this order and for every part of the vectors:
 *
 *     velocity += acceleration * dt
 *     position += velocity * dt
 *
 * in float, dt rounded to float once a step. The component does not change the acceleration: it stays until a unit or
 * `set` writes it.
 *
 * What it does not do: it offers no table of functions; the columns are the whole interface.
 */
#ifndef BP_COMPONENTS_POINT_MASS_H
#define BP_COMPONENTS_POINT_MASS_H

#include "../bp_component.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_POINT_MASS "point_mass"

/* Its fields, in the order of declaration. */
enum {
    BP_POINT_MASS_MASS = 0,        /* float, kg, not negative */
    BP_POINT_MASS_POSITION = 1,    /* bp_vec3_t, m */
    BP_POINT_MASS_VELOCITY = 2,    /* bp_vec3_t, m/s */
    BP_POINT_MASS_ACCELERATION = 3 /* bp_vec3_t, m/s^2 */
};

#ifdef __cplusplus
}
#endif
#endif
