/* floor_simulate.c - the loop of the plugin point_mass, by itself.
 *
 * The build compiles benchmarks as it compiles plugins (-O3 -ffp-contract=off), and the loop exists for the
 * same instruction sets: otherwise the plugin would win by the attributes of its loop, not by what
 * the engine does.
 */
#include "floors.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST
#endif

WIDEST
static void advance(float *restrict position, float *restrict velocity, const float *restrict acceleration,
                    float dt, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        velocity[i] += acceleration[i] * dt;
        position[i] += velocity[i] * dt;
    }
}

void floor_simulate(float *position, float *velocity, const float *acceleration, float dt, size_t count)
{
    advance(position, velocity, acceleration, dt, count);
}
