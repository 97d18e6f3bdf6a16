/* kepler.c - the two-body problem, solved.
 *
 * Mean anomaly to eccentric anomaly by Newton's method, kept inside the interval that must hold the root (M -
 * e <= E <= M + e), so that the method converges for every eccentricity below one; then the state in the plane of the
 * orbit, turned into the reference plane.
 */
#include "kepler.h"

#include <math.h>

#define RADIANS (ORBIT_PI / 180.0)
#define ITERATIONS 100 /* bisection alone needs 55 for a double */
#define TOLERANCE 1e-15

/* Solve E - e sin E = M. */
static double eccentric_anomaly(double mean, double e)
{
    double low = mean - e, high = mean + e, anomaly = mean + e * sin(mean);
    for (int i = 0; i < ITERATIONS; i++) {
        double error = anomaly - e * sin(anomaly) - mean;
        if (error > 0)
            high = anomaly;
        else
            low = anomaly;
        double next = anomaly - error / (1.0 - e * cos(anomaly));
        if (!(next >= low && next <= high))
            next = 0.5 * (low + high);
        double moved = fabs(next - anomaly);
        anomaly = next;
        if (moved <= TOLERANCE)
            break;
    }
    return anomaly;
}

/* x along the perihelion, y a quarter of a turn ahead of it: into the reference frame. */
static orbit_vector turn(const orbit_elements *el, double x, double y)
{
    double w = (el->longitude_of_perihelion - el->ascending_node) * RADIANS;
    double node = el->ascending_node * RADIANS, tilt = el->inclination * RADIANS;
    double u = x * cos(w) - y * sin(w); /* along the line of nodes */
    double v = x * sin(w) + y * cos(w); /* across it, in the plane of the orbit */
    orbit_vector turned = {u * cos(node) - v * sin(node) * cos(tilt),
                           u * sin(node) + v * cos(node) * cos(tilt), v * sin(tilt)};
    return turned;
}

orbit_state orbit_kepler(const orbit_elements *el, double mu, double time)
{
    double a = el->semi_major_axis, e = el->eccentricity;
    double motion = sqrt(mu / (a * a * a));
    double mean = (el->mean_longitude - el->longitude_of_perihelion) * RADIANS + motion * time;
    double anomaly = eccentric_anomaly(remainder(mean, 2.0 * ORBIT_PI), e);
    double minor = a * sqrt(1.0 - e * e), rate = motion / (1.0 - e * cos(anomaly));
    orbit_state state = {
        turn(el, a * (cos(anomaly) - e), minor * sin(anomaly)),
        turn(el, -a * rate * sin(anomaly), minor * rate * cos(anomaly)),
    };
    return state;
}

static orbit_vector add(orbit_vector a, double factor, orbit_vector b)
{
    orbit_vector sum = {a.x + factor * b.x, a.y + factor * b.y, a.z + factor * b.z};
    return sum;
}

orbit_state orbit_add(orbit_state a, double factor, orbit_state b)
{
    orbit_state sum = {add(a.position, factor, b.position), add(a.velocity, factor, b.velocity)};
    return sum;
}
