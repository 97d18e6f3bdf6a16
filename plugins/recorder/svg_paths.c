/* svg_paths.c - curves and series as paths of SVG.
 *
 * A path is written in tenths of a pixel, as steps from point to point; steps too small to be seen wait for the next
 * one, and lines wholly beside the window are left out.
 */
#include "curve.h"
#include "series.h"
#include "svg.h"

#include <stdlib.h>

enum { NEAR = 4 /* tenths of a pixel: points nearer to each other than that are not worth their bytes */ };

/* A line that is being written. */
typedef struct stroke {
    FILE *file;
    const recorder_panel *panel;
    int32_t x, y;         /* where the text has come to */
    int32_t down;         /* the text is at the point given last, or so near to it that the point need not be written */
    int32_t waiting;      /* a point so near is not written yet, the one at wait_x, wait_y */
    int32_t wait_x, wait_y;
    uint32_t written;
    double last_x, last_y;
} stroke;

static void put_line(stroke *pen, int32_t x, int32_t y)
{
    fprintf(pen->file, "l%d%s%d", (int)(x - pen->x), y - pen->y < 0 ? "" : " ", (int)(y - pen->y));
    if (++pen->written % 16 == 0)
        fputc('\n', pen->file);
    pen->x = x;
    pen->y = y;
    pen->waiting = 0;
}

static void put_move(stroke *pen, int32_t x, int32_t y)
{
    fprintf(pen->file, "M%d %d", (int)x, (int)y);
    pen->x = x;
    pen->y = y;
    pen->waiting = 0;
}

static void pen_lift(stroke *pen)
{
    if (pen->waiting)
        put_line(pen, pen->wait_x, pen->wait_y);
    pen->down = 0;
}

/* Draw to (x, y) from the point before, or begin there. Lines wholly beside the window are left out. */
static void pen_to(stroke *pen, double x, double y, int begins)
{
    double from_x = pen->last_x, from_y = pen->last_y;
    pen->last_x = x;
    pen->last_y = y;
    if (begins || (recorder_sides(pen->panel, from_x, from_y) & recorder_sides(pen->panel, x, y)) != 0) {
        pen_lift(pen);
        return;
    }
    if (!pen->down)
        put_move(pen, recorder_across(pen->panel, from_x), recorder_down(pen->panel, from_y));
    pen->down = 1;
    int32_t to_x = recorder_across(pen->panel, x), to_y = recorder_down(pen->panel, y);
    if (labs((long)to_x - pen->x) + labs((long)to_y - pen->y) < NEAR) {
        pen->wait_x = to_x;
        pen->wait_y = to_y;
        pen->waiting = 1;
        return;
    }
    put_line(pen, to_x, to_y);
}

static void put_curve(const recorder_curve *c, stroke *pen)
{
    for (uint32_t i = 0; i < c->count; i++)
        pen_to(pen, c->points[i].x, c->points[i].y, c->points[i].begins != 0);
    if (c->pen_down)
        pen_to(pen, c->previous.x, c->previous.y, c->count == 0);
    pen_lift(pen);
}

static void put_series(const recorder_series *s, stroke *pen)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const recorder_bucket *b = &s->buckets[i];
        int begins = i == 0 || b->begins;
        if (b->low_time < b->high_time)
            pen_to(pen, b->low_time, b->low, begins);
        pen_to(pen, b->high_time, b->high, begins && b->low_time >= b->high_time);
        if (b->low_time > b->high_time)
            pen_to(pen, b->low_time, b->low, 0);
    }
    pen_lift(pen);
}

void recorder_svg_paths(const picture *pic, const recorder_panel *p)
{
    fprintf(pic->file, "<g class=\"path\" clip-path=\"url(#at-%d-%d)\">", p->left, p->top);
    fputs("<g transform=\"scale(.1)\">\n", pic->file);
    for (uint32_t i = 0; i < pic->r->count; i++) {
        const recorder_source *s = &pic->r->sources[i];
        if (!recorder_is_in(p, pic->r, i))
            continue;
        stroke pen = {.file = pic->file, .panel = p};
        fprintf(pic->file, "<path stroke=\"%s\" d=\"", recorder_svg_colour(pic->r, i));
        if (p->kind == PANEL_TIMES)
            put_series(s->series, &pen);
        else
            put_curve(s->curve, &pen);
        fputs("\"><title>", pic->file);
        recorder_svg_text(pic->file, s->label);
        fputs("</title></path>\n", pic->file);
    }
    fputs("</g></g>\n", pic->file);
}
