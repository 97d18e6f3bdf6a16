/* cut.h - space cut into as many parts as there are ranks, by recursive bisection.
 *
 * Not here: entities, MPI.
 */
#ifndef MPI_CUT_H
#define MPI_CUT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cut_point { double at[3]; } cut_point;

/* A part: from `low` on, below `high`; at the outside they are infinite. */
typedef struct cut_part { double low[3], high[3]; } cut_part;

/* One cut: points below `at` along `axis` belong to `below`, the rest to `above`; each of the two is another cut, or
 * ~rank. */
typedef struct cut_node {
    double at;
    uint32_t axis;
    int32_t below, above;
} cut_node;

/* Cut space so that each of `ranks` parts has about as many of the points; without points the cuts are arbitrary.
 * `points` are put in another order. `nodes` has room for ranks - 1, `parts` for ranks. The same points in the same
 * order give the same cuts. */
void cut_space(cut_point *points, uint64_t count, uint32_t ranks, cut_node *nodes, cut_part *parts);

/* The rank of the part that has the point; a point with a coordinate that is not a number belongs to some rank too,
 * always to the same. */
uint32_t cut_rank(const cut_node *nodes, uint32_t ranks, const cut_point *point);

/* The square of the distance from a point to a part; 0 inside. */
double cut_distance2(const cut_part *part, const cut_point *point);

/* Is a point so deep inside a part that cut_rank gives its rank, and cut_distance2 more than the square of `distance`
 * for every other part? Rounded as cut_distance2 rounds, and false for a point that is no number. Most points are, and
 * need not be looked at any closer. */
static inline bool cut_is_deep(const cut_part *part, const cut_point *point, double distance)
{
    bool deep = true;
    for (uint32_t a = 0; a < 3; a++) {
        double x = point->at[a], low = x - part->low[a], high = part->high[a] - x;
        deep &= (low > 0) & (high > 0) & (low * low > distance * distance) & (high * high > distance * distance);
    }
    return deep;
}

#endif
