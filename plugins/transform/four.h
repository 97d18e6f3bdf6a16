/* four.h - four floats side by side, as gcc and clang have them: operators are one instruction each.
 *
 * Used where a loop over many poses is worth it; every result has the bits that the plain loop gives.
 *
 * Not here: fused operations, operations across the four but turning rows to columns.
 */
#ifndef TRANSFORM_FOUR_H
#define TRANSFORM_FOUR_H

#include <string.h>

typedef float four_t __attribute__((vector_size(16)));

/* Four times four floats, from rows, which need not be aligned, to columns. */
static inline void four_turn_over(const void *first, const void *second, const void *third, const void *fourth,
                                  four_t to[4])
{
    four_t a, b, c, d;
    memcpy(&a, first, sizeof a);
    memcpy(&b, second, sizeof b);
    memcpy(&c, third, sizeof c);
    memcpy(&d, fourth, sizeof d);
    four_t low_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), high_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    four_t low_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), high_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    to[0] = __builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5);
    to[1] = __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7);
    to[2] = __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5);
    to[3] = __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7);
}

#endif
