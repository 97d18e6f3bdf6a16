/* curve.h - a path in a plane, kept small while it grows.
 *
 * A body that goes around a thousand times draws the same line a thousand times. A curve keeps the parts that can be
 * seen: a grid lies over the plane, and parts are left out that run through cells that an earlier part has run
 * through. The number of points never exceeds its limit; where the number would, or where the path leaves the grid,
 * the grid is made coarser and the points are thinned by it.
 *
 * Not here: pixels; points are in the units of the data.
 */
#ifndef RECORDER_CURVE_H
#define RECORDER_CURVE_H

#include "recorder.h"

typedef struct recorder_point {
    double x, y;
    uint32_t begins; /* a new line begins here; else a line comes from the point before */
    uint32_t padding;
} recorder_point;

struct recorder_curve {
    recorder_point *points;
    uint32_t count, limit;
    uint32_t marked;      /* points with lines in the grid */
    uint32_t tail;        /* cells that the pen has come since the last line that was not covered */
    int32_t pen_down;     /* the last point goes on to the next sample */
    int32_t has_previous; /* there is a sample before the next one */
    recorder_point previous;
    double origin_x, origin_y;
    double cell;          /* side of a cell; 0 while the path has not moved */
    double low_x, low_y, high_x, high_y;
    uint64_t *grid;
};

/* A curve of at most `limit` points. NULL when out of memory. */
recorder_curve *recorder_curve_make(const recorder_state *r, uint32_t limit);
void recorder_curve_free(const recorder_state *r, recorder_curve *curve);

/* The path goes on to (x, y); a coordinate that is not finite lifts the pen. */
void recorder_curve_add(recorder_curve *curve, double x, double y);

/* The path has a gap here. */
void recorder_curve_lift(recorder_curve *curve);

#endif
