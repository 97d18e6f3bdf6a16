/* kepler.h - the position and velocity of a body on an elliptic orbit.
 *
 * Elements are the six that planetary tables print, angles in degrees. `mu` is the gravitational constant
 * times both masses; lengths and times have the units of `mu`. Pure functions, any thread.
 *
 * Not here: parabolas and hyperbolas (eccentricity 1 and more), perturbations.
 */
#ifndef ORBIT_KEPLER_H
#define ORBIT_KEPLER_H

#define ORBIT_PI 3.14159265358979323846

typedef struct orbit_vector {
    double x, y, z;
} orbit_vector;

typedef struct orbit_state {
    orbit_vector position, velocity;
} orbit_state;

typedef struct orbit_elements {
    double semi_major_axis;         /* above 0 */
    double eccentricity;            /* 0 <= e < 1 */
    double inclination;             /* to the x-y plane */
    double mean_longitude;          /* at time 0 */
    double longitude_of_perihelion; /* ascending node plus argument of perihelion */
    double ascending_node;
} orbit_elements;

/* State at `time`, as seen from the focus. */
orbit_state orbit_kepler(const orbit_elements *elements, double mu, double time);

/* a + factor * b, for positions and velocities alike. */
orbit_state orbit_add(orbit_state a, double factor, orbit_state b);

#endif
