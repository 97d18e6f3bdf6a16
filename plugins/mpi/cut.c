/* cut.c - recursive bisection: the points are halved along the axis in which they are widest, then each half again.
 *
 * For an odd number of ranks the sides get shares in proportion to their numbers of ranks. The cut lies at a point's
 * own place, found by sorting: with some hundred thousand points, once in many steps, sorting is quick enough.
 */
#include "cut.h"

#include <math.h>
#include <stdlib.h>

typedef struct cutting {
    cut_node *nodes;
    cut_part *parts;
    uint32_t node_count;
} cutting;

static int compare(const double *a, const double *b)
{
    return *a < *b ? -1 : *a > *b;
}

static int compare_x(const void *a, const void *b)
{
    return compare(&((const cut_point *)a)->at[0], &((const cut_point *)b)->at[0]);
}

static int compare_y(const void *a, const void *b)
{
    return compare(&((const cut_point *)a)->at[1], &((const cut_point *)b)->at[1]);
}

static int compare_z(const void *a, const void *b)
{
    return compare(&((const cut_point *)a)->at[2], &((const cut_point *)b)->at[2]);
}

static uint32_t widest_axis(const cut_point *points, uint64_t count)
{
    double widest = -1;
    uint32_t axis = 0;
    for (uint32_t a = 0; a < 3; a++) {
        double least = INFINITY, most = -INFINITY;
        for (uint64_t i = 0; i < count; i++) {
            least = points[i].at[a] < least ? points[i].at[a] : least;
            most = points[i].at[a] > most ? points[i].at[a] : most;
        }
        if (most - least > widest) {
            widest = most - least;
            axis = a;
        }
    }
    return axis;
}

/* Cut one part for `ranks` ranks from `first` on. Returns the node, or ~rank. */
static int32_t cut_part_of(cutting *c, cut_point *points, uint64_t count, uint32_t first, uint32_t ranks, cut_part part)
{
    static int (*const orders[])(const void *, const void *) = {compare_x, compare_y, compare_z};
    if (ranks == 1) {
        c->parts[first] = part;
        return ~(int32_t)first;
    }
    uint32_t below = ranks / 2, node = c->node_count++, axis = widest_axis(points, count);
    uint64_t split = count * below / ranks;
    double at = 0;
    if (count > 0) {
        qsort(points, count, sizeof *points, orders[axis]);
        at = points[split].at[axis];
    }
    cut_part lower = part, upper = part;
    lower.high[axis] = at;
    upper.low[axis] = at;
    c->nodes[node].axis = axis;
    c->nodes[node].at = at;
    c->nodes[node].below = cut_part_of(c, points, split, first, below, lower);
    c->nodes[node].above = cut_part_of(c, points + split, count - split, first + below, ranks - below, upper);
    return (int32_t)node;
}

void cut_space(cut_point *points, uint64_t count, uint32_t ranks, cut_node *nodes, cut_part *parts)
{
    cutting c = {.nodes = nodes, .parts = parts};
    const cut_part all = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    cut_part_of(&c, points, count, 0, ranks, all);
}

uint32_t cut_rank(const cut_node *nodes, uint32_t ranks, const cut_point *point)
{
    int32_t at = ranks > 1 ? 0 : ~0;
    while (at >= 0)
        at = point->at[nodes[at].axis] < nodes[at].at ? nodes[at].below : nodes[at].above;
    return (uint32_t)~at;
}

double cut_distance2(const cut_part *part, const cut_point *point)
{
    double sum = 0;
    for (uint32_t a = 0; a < 3; a++) {
        double below = part->low[a] - point->at[a], above = point->at[a] - part->high[a];
        double distance = below > 0 ? below : above > 0 ? above : 0;
        sum += distance * distance;
    }
    return sum;
}
