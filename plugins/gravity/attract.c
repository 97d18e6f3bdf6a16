/* attract.c - Newton's law between all bodies, in blocks.
 *
 * The outer loop takes a block of bodies that are pulled, the next one every body that pulls, the innermost
 * the block: each sum then belongs to one lane of a vector and is added up in the order of the bodies, so the
 * compiler may vectorise without changing a bit of the result. (The other way round the sum itself would have
 * to be split.) A block's six arrays stay in the first-level cache.
 *
 * Every pair is computed twice, once from each side: half the work would need sums scattered over all bodies.
 */
#include "gravity.h"

#include <helpers/bp_widest.h>
#include <math.h>

enum { BLOCK = 128 };

/* To the compiler sqrt may write errno, so that calls of it cannot be vectorised. The argument of sqrt is never
 * negative here, so errno is never written, and saying so makes the loop twice as fast. */
#if defined(__GNUC__)
extern double sqrt(double) __attribute__((const));
#endif

/* Add to the accelerations of `count` bodies the pull of the body at (bx, by, bz). A body meets itself here too: its
 * distance is 0, the 1 in place of that distance keeps the quotient finite, and times 0 the quotient adds nothing. */
static inline void pull_block(const double *restrict x, const double *restrict y, const double *restrict z,
                              double *restrict ax, double *restrict ay, double *restrict az, size_t count,
                              double bx, double by, double bz, double pull, double softening2)
{
    for (size_t i = 0; i < count; i++) {
        double dx = bx - x[i], dy = by - y[i], dz = bz - z[i];
        double d2 = dx * dx + dy * dy + dz * dz + softening2;
        d2 += d2 == 0.0 ? 1.0 : 0.0;
        double factor = pull / (d2 * sqrt(d2));
        ax[i] += dx * factor;
        ay[i] += dy * factor;
        az[i] += dz * factor;
    }
}

BP_WIDEST
static void attract(size_t total, const double *restrict x, const double *restrict y,
                    const double *restrict z, const double *restrict mass, double *restrict ax,
                    double *restrict ay, double *restrict az, double constant, double softening)
{
    for (size_t first = 0; first < total; first += BLOCK) {
        size_t count = total - first < BLOCK ? total - first : BLOCK;
        for (size_t i = first; i < first + count; i++)
            ax[i] = ay[i] = az[i] = 0;
        for (size_t j = 0; j < total; j++)
            pull_block(x + first, y + first, z + first, ax + first, ay + first, az + first, count, x[j], y[j],
                       z[j], constant * mass[j], softening * softening);
    }
}

void gravity_attract(gravity_bodies_t *b, double constant, double softening)
{
    attract(b->count, b->x, b->y, b->z, b->mass, b->ax, b->ay, b->az, constant, softening);
}

double gravity_potential(const gravity_bodies_t *b, double constant, double softening)
{
    double total = 0;
    for (size_t i = 1; i < b->count; i++) {
        double sum = 0;
        for (size_t j = 0; j < i; j++) {
            double dx = b->x[j] - b->x[i], dy = b->y[j] - b->y[i], dz = b->z[j] - b->z[i];
            double d2 = dx * dx + dy * dy + dz * dz + softening * softening;
            sum += d2 == 0.0 ? 0.0 : b->mass[j] / sqrt(d2);
        }
        total -= constant * b->mass[i] * sum;
    }
    return total;
}
