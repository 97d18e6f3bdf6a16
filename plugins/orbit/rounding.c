/* rounding.c - the system carry_rounding: the rounding errors of f32 are kept and put back.
 *
 * A position of one au is stored in steps of 9 km. For a planet that does not matter; for the Moon, 384,000
 * km from Earth, half a million such roundings are a random walk that changes the Moon's period by a percent. So
 * bodies that need it get the component `rounding`: after each step of point_mass this system works out in
 * double what the step should have given, adds the difference to what is left over from earlier steps, and
 * moves the stored value by whole units in the last place as soon as the rest amounts to one (compensated
 * summation). The error of position and velocity stays below one such unit for ever.
 *
 * The system follows the formulas of a step of point_mass, which are part of that component's contract. Where the
 * difference is larger than rounding can be, the body has been moved by other code: then the rest from earlier steps is
 * dropped.
 */
#include "orbit.h"

#include <math.h>

enum { TERM_POINT, TERM_ROUNDING };

#define HALF_UNIT 5.9604644775390625e-8 /* 2^-24: rounding to float changes at most so much of a number */
#define SLACK 2.0                       /* product and sum are rounded one after the other */

/* Carry one number: `now` is `before` + `change` rounded, `rest` is the part left over from earlier steps. */
static void carry(float *now, float before, double change, float *rest)
{
    double dropped = (double)before + change - (double)*now;
    double largest = fmax(fabs((double)before), fabs((double)*now)) + fabs(change);
    if (!(fabs(dropped) <= SLACK * HALF_UNIT * largest)) {
        *rest = 0;
        return;
    }
    double wanted = (double)*now + ((double)*rest + dropped);
    *now = (float)wanted;
    *rest = (float)(wanted - (double)*now);
}

/* A body's three numbers. The step used the velocity as it was before anything is put back here. */
static void carry_row(float *position, float *velocity, const float *acceleration, float *last_position,
                      float *last_velocity, float *position_rest, float *velocity_rest, double dt)
{
    for (int i = 0; i < 3; i++) {
        carry(&position[i], last_position[i], (double)velocity[i] * dt, &position_rest[i]);
        carry(&velocity[i], last_velocity[i], (double)acceleration[i] * dt, &velocity_rest[i]);
        last_position[i] = position[i];
        last_velocity[i] = velocity[i];
    }
}

void orbit_rounding_run(const bp_match_t *match, uint32_t count)
{
    BP_COLUMNS(struct carry_mass, mass, match->columns[TERM_POINT]);
    BP_COLUMNS(struct carry_rest, rest, match->columns[TERM_ROUNDING]);
    for (size_t i = 0; i < count; i++)
        carry_row(&mass.position[i].x, &mass.velocity[i].x, &mass.acceleration[i].x, &rest.last_position[i].x,
                  &rest.last_velocity[i].x, &rest.position_rest[i].x, &rest.velocity_rest[i].x, match->step->dt);
}
