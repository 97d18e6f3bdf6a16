/* curve.c - a path in a plane, kept small while it grows: see curve.h.
 *
 * Cells are marked some points late, so that a line does not find the cells that it has just marked; and with
 * their neighbours, so that a line that runs along a cell's border is recognised on either side of the border. A line
 * that enters covered cells is drawn on for a quarter of the grid, so that a band of many lines shows long
 * lines and not dashes; a line that leaves covered cells begins a sample early, so that no gaps open.
 */
#include "curve.h"

#include <math.h>
#include <string.h>

#define CELLS 1024        /* of one side of the grid */
#define RANGE (CELLS / 2 - 2)
#define LATE 4            /* points between the pen and the cells that are marked */
#define TAIL 250          /* cells that a line is drawn on for when it has come into covered ones */
#define FIRST_CELLS 8.0   /* cells in the first movement */
#define GRID_WORDS (CELLS * CELLS / 64)
#define LARGEST 1e100     /* a coordinate beyond counts as not finite: differences must not overflow */

recorder_curve *recorder_curve_make(const recorder_state *r, uint32_t limit)
{
    recorder_curve *curve = recorder_resize(r, NULL, 0, sizeof *curve);
    if (curve == NULL)
        return NULL;
    *curve = (recorder_curve){.limit = limit};
    curve->points = recorder_resize(r, NULL, 0, limit * sizeof *curve->points);
    curve->grid = recorder_resize(r, NULL, 0, GRID_WORDS * sizeof *curve->grid);
    if (curve->points == NULL || curve->grid == NULL) {
        recorder_curve_free(r, curve);
        return NULL;
    }
    memset(curve->grid, 0, GRID_WORDS * sizeof *curve->grid);
    return curve;
}

void recorder_curve_free(const recorder_state *r, recorder_curve *curve)
{
    if (curve->points != NULL)
        recorder_resize(r, curve->points, curve->limit * sizeof *curve->points, 0);
    if (curve->grid != NULL)
        recorder_resize(r, curve->grid, GRID_WORDS * sizeof *curve->grid, 0);
    recorder_resize(r, curve, sizeof *curve, 0);
}

static uint32_t cell_of(double distance, double cell)
{
    return (uint32_t)((int32_t)floor(distance / cell) + CELLS / 2);
}

static int in_range(const recorder_curve *c, double x, double y)
{
    return fabs(x - c->origin_x) < RANGE * c->cell && fabs(y - c->origin_y) < RANGE * c->cell;
}

static int is_marked(const recorder_curve *c, double x, double y)
{
    uint32_t at = cell_of(y - c->origin_y, c->cell) * CELLS + cell_of(x - c->origin_x, c->cell);
    return (int)(c->grid[at / 64] >> (at % 64) & 1);
}

/* Mark the cell at (x, y) and the eight around it. */
static void mark(recorder_curve *c, double x, double y)
{
    uint32_t column = cell_of(x - c->origin_x, c->cell), row = cell_of(y - c->origin_y, c->cell);
    for (uint32_t i = row - 1; i <= row + 1; i++) {
        for (uint32_t k = column - 1; k <= column + 1; k++) {
            uint32_t at = i * CELLS + k;
            c->grid[at / 64] |= UINT64_C(1) << (at % 64);
        }
    }
}

static double distance(const recorder_point *a, const recorder_point *b)
{
    return hypot(b->x - a->x, b->y - a->y);
}

/* Steps of at most a cell along a line. */
static int steps_along(const recorder_curve *c, const recorder_point *a, const recorder_point *b)
{
    return 1 + (int)(distance(a, b) / c->cell);
}

static void mark_line(recorder_curve *c, const recorder_point *a, const recorder_point *b)
{
    int steps = steps_along(c, a, b);
    for (int i = 0; i <= steps; i++) {
        double f = (double)i / steps;
        mark(c, a->x + f * (b->x - a->x), a->y + f * (b->y - a->y));
    }
}

static int is_covered(const recorder_curve *c, const recorder_point *a, const recorder_point *b)
{
    int steps = steps_along(c, a, b);
    for (int i = 0; i <= steps; i++) {
        double f = (double)i / steps;
        if (!is_marked(c, a->x + f * (b->x - a->x), a->y + f * (b->y - a->y)))
            return 0;
    }
    return 1;
}

/* Put the lines up to the `late`-th point from the end into the grid. */
static void mark_behind(recorder_curve *c, uint32_t late)
{
    for (; c->marked + late < c->count; c->marked++) {
        const recorder_point *p = &c->points[c->marked];
        mark_line(c, p->begins ? p : p - 1, p);
    }
}

static void store(recorder_curve *c, recorder_point p, uint32_t begins)
{
    p.begins = begins;
    c->points[c->count++] = p;
    mark_behind(c, LATE);
}

static void lift(recorder_curve *c)
{
    c->pen_down = 0;
    c->tail = 0;
    mark_behind(c, 0);
}

/* Is this the last point stored? */
static int ends_at(const recorder_curve *c, const recorder_point *p)
{
    return c->count > 0 && c->points[c->count - 1].x == p->x && c->points[c->count - 1].y == p->y;
}

/* Take one sample; the cells have a size by now, and the sample lies in the grid. Stores at most two points. */
static void draw_to(recorder_curve *c, recorder_point p)
{
    if (!c->has_previous) {
        store(c, p, 1);
        c->pen_down = 1;
    } else if (c->pen_down) {
        const recorder_point last = c->points[c->count - 1];
        if (distance(&last, &p) >= c->cell) {
            int covered = is_covered(c, &last, &p);
            store(c, p, 0);
            c->tail = covered ? c->tail + (uint32_t)steps_along(c, &last, &p) : 0;
            if (c->tail > TAIL)
                lift(c);
        }
    } else if (!is_covered(c, &c->previous, &p)) {
        if (!ends_at(c, &c->previous))
            store(c, c->previous, 1);
        store(c, p, 0);
        c->pen_down = 1;
    }
    c->previous = p;
    c->has_previous = 1;
}

/* Double the size of the cells, and draw the points again. Each sample drawn stores no more points than were read up
 * to it, so this works in place. */
static void coarsen(recorder_curve *c)
{
    uint32_t count = c->count;
    int32_t pen_down = c->pen_down, has_previous = c->has_previous;
    recorder_point previous = c->previous;
    c->cell *= 2.0;
    memset(c->grid, 0, GRID_WORDS * sizeof *c->grid);
    c->count = c->marked = c->tail = 0;
    c->has_previous = c->pen_down = 0;
    for (uint32_t i = 0; i < count; i++) {
        recorder_point p = c->points[i];
        if (p.begins && i > 0) {
            lift(c);
            c->has_previous = 0;
            if (is_marked(c, p.x, p.y)) { /* p lies on a line that is drawn: only a part that leaves it matters */
                c->previous = p;
                c->has_previous = 1;
                continue;
            }
        }
        draw_to(c, p);
    }
    if (!pen_down)
        lift(c);
    c->previous = previous;
    c->has_previous = has_previous;
}

/* Set the size of the cells by the first movement. */
static void settle_cell(recorder_curve *c, const recorder_point *p)
{
    double moved = distance(&c->previous, p);
    if (!(moved > 0))
        return;
    c->origin_x = c->previous.x;
    c->origin_y = c->previous.y;
    c->cell = moved / FIRST_CELLS;
}

static void extend(recorder_curve *c, const recorder_point *p, int first)
{
    c->low_x = first ? p->x : fmin(c->low_x, p->x);
    c->low_y = first ? p->y : fmin(c->low_y, p->y);
    c->high_x = first ? p->x : fmax(c->high_x, p->x);
    c->high_y = first ? p->y : fmax(c->high_y, p->y);
}

void recorder_curve_add(recorder_curve *c, double x, double y)
{
    recorder_point p = {.x = x, .y = y};
    if (!(fabs(x) < LARGEST && fabs(y) < LARGEST)) {
        recorder_curve_lift(c);
        return;
    }
    extend(c, &p, c->count == 0);
    if (c->count == 0) {
        c->points[c->count++] = (recorder_point){.x = x, .y = y, .begins = 1};
        c->pen_down = c->has_previous = 1;
        c->previous = p;
        return;
    }
    if (!(c->cell > 0))
        settle_cell(c, &p);
    if (!(c->cell > 0))
        return;
    while (!in_range(c, x, y))
        coarsen(c);
    while (c->count + 2 > c->limit)
        coarsen(c);
    draw_to(c, p);
}

void recorder_curve_lift(recorder_curve *c)
{
    if (c->cell > 0)
        lift(c);
    c->pen_down = c->has_previous = 0;
}
