/* gravity.h - what the files of the plugin gravity share: the bodies, the law, the energy.
 *
 * Not here: declarations for other plugins.
 */
#ifndef GRAVITY_H
#define GRAVITY_H

#include <bp_plugin.h>
#include <components/point_mass.h>

#include <stdbool.h>

/* The plugin's options, in the order of declaration. */
enum { GRAVITY_CONSTANT = 0, GRAVITY_SOFTENING = 1, GRAVITY_ENERGY_EVERY = 2 };

/* The component that a world may have of its own: the law in that world, in place of the options. */
#define GRAVITY_LAW "gravity_law"
struct gravity_law {
    const double *constant, *softening;
};

/* The law in force: of the world, or of the options. */
typedef struct gravity_force_t {
    double constant, softening;
} gravity_force_t;

/* The bodies of one step: seven arrays of `capacity` doubles in one buffer, `count` of them in use. */
enum { GRAVITY_ARRAYS = 7 };
typedef struct gravity_bodies_t {
    size_t count;
    size_t capacity;
    double *buffer;
    double *x, *y, *z;
    double *mass;
    double *ax, *ay, *az;
} gravity_bodies_t;

/* The columns of point_mass, as the loops want them. */
struct gravity_columns {
    const float *mass;
    const bp_vec3_t *position, *velocity;
    bp_vec3_t *acceleration;
};

/* One measurement of the energy. */
typedef struct gravity_energy_t {
    uint64_t step;
    double time;
    double kinetic;
    double potential;
} gravity_energy_t;

typedef struct gravity_t {
    gravity_bodies_t bodies;
    bool out_of_memory;        /* memory was missing, and the log says so */
    bool measured;             /* first, worst and last are set */
    uint64_t steps;            /* steps done, for energy_every */
    uint64_t set_of_bodies;    /* signature of the bodies that `first` was measured with */
    uint32_t begun_anew;       /* times that another set of bodies was found */
    double drift;              /* largest relative difference so far; NaN once an energy is not finite */
    gravity_energy_t first, worst, last;
} gravity_t;

/* Used in place of isfinite, which in some C libraries warns about conversions. */
static inline bool gravity_is_finite(float number)
{
    return number - number == 0.0f;
}

/* Does a row take part: a living entity, its mass and position finite? */
static inline bool gravity_takes_part(const bp_match_t *match, const struct gravity_columns *c, uint32_t row)
{
    return match->entities[row].id != 0 && gravity_is_finite(c->mass[row]) &&
           gravity_is_finite(c->position[row].x) && gravity_is_finite(c->position[row].y) &&
           gravity_is_finite(c->position[row].z);
}

/* The acceleration of each body from all others, ax, ay, az from x, y, z and mass. */
void gravity_attract(gravity_bodies_t *bodies, double constant, double softening);

/* The potential energy of the bodies. */
double gravity_potential(const gravity_bodies_t *bodies, double constant, double softening);

/* Measure the energy where a measurement is due; call it after the accelerations are known and before
 * anything moves. */
void gravity_energy_step(bp_system_t *s, gravity_t *g, const bp_step_t *step, gravity_force_t force,
                         const bp_match_t *matches, uint32_t count);

/* The drift and the measurements behind it, for the report of a run. */
void gravity_energy_report(bp_system_t *s, bp_report_o *report);

#endif
