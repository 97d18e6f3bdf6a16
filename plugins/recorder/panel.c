/* panel.c - which panels a picture has: see panel.h.
 *
 * There is no list of panels: the `number`-th is worked out from the sources whenever it is asked for, which
 * takes no memory and cannot go out of date. There are a few dozen sources at most, and one picture.
 */
#include "panel.h"
#include "curve.h"
#include "series.h"

#include <helpers/bp_real.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int recorder_kind(const recorder_source *s)
{
    if (s->curve != NULL)
        return s->reference != NULL ? PANEL_RELATIVE : PANEL_PLANE;
    return s->series != NULL ? PANEL_TIMES : -1;
}

int recorder_is_in(const recorder_panel *p, const recorder_state *r, uint32_t source)
{
    const recorder_source *s = &r->sources[source], *first = &r->sources[p->first];
    if (recorder_kind(s) != p->kind)
        return 0;
    if (p->kind == PANEL_RELATIVE)
        return strcmp(s->reference, first->reference) == 0;
    return strcmp(s->unit, first->unit) == 0 && strcmp(recorder_property(s->path), recorder_property(first->path)) == 0;
}

/* Find the `number`-th panel of a kind of panels that are made for their first source: 0 past the last. */
static int find_group(const recorder_state *r, int32_t kind, uint32_t number, recorder_panel *p)
{
    for (uint32_t i = 0; i < r->count; i++) {
        int is_first = recorder_kind(&r->sources[i]) == kind;
        *p = (recorder_panel){.kind = kind, .first = i};
        for (uint32_t k = 0; k < i && is_first; k++)
            is_first = !recorder_is_in(p, r, k);
        if (is_first && number-- == 0)
            return 1;
    }
    return 0;
}

/* The smallest window that holds all paths of a panel. */
static void fit_paths(const recorder_state *r, recorder_panel *p)
{
    int any = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const recorder_curve *c = r->sources[i].curve;
        if (!recorder_is_in(p, r, i))
            continue;
        p->low_x = any ? fmin(p->low_x, c->low_x) : c->low_x;
        p->low_y = any ? fmin(p->low_y, c->low_y) : c->low_y;
        p->high_x = any ? fmax(p->high_x, c->high_x) : c->high_x;
        p->high_y = any ? fmax(p->high_y, c->high_y) : c->high_y;
        any = 1;
    }
}

/* A square window; a path that does not extend at all still gets a window. */
static void make_square(recorder_panel *p, double x, double y, double half)
{
    if (!(half > 0))
        half = fabs(x) + fabs(y) > 0 ? 0.5 * (fabs(x) + fabs(y)) : 1.0;
    p->low_x = x - half;
    p->high_x = x + half;
    p->low_y = y - half;
    p->high_y = y + half;
}

static void fit_plane(const recorder_state *r, recorder_panel *p)
{
    fit_paths(r, p);
    double half = 0.53 * fmax(p->high_x - p->low_x, p->high_y - p->low_y);
    make_square(p, 0.5 * (p->low_x + p->high_x), 0.5 * (p->low_y + p->high_y), half);
}

/* The window of a panel of differences, with the reference in the middle. */
static void fit_relative(const recorder_state *r, recorder_panel *p)
{
    fit_paths(r, p);
    double x = fmax(fabs(p->low_x), fabs(p->high_x)), y = fmax(fabs(p->low_y), fabs(p->high_y));
    make_square(p, 0, 0, 1.1 * fmax(x, y));
}

static void fit_times(const recorder_state *r, recorder_panel *p)
{
    int any = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const recorder_series *s = r->sources[i].series;
        for (uint32_t k = 0; recorder_is_in(p, r, i) && k < s->count; k++) {
            p->low_y = any ? fmin(p->low_y, s->buckets[k].low) : s->buckets[k].low;
            p->high_y = any ? fmax(p->high_y, s->buckets[k].high) : s->buckets[k].high;
            any = 1;
        }
    }
    double room = 0.05 * (p->high_y - p->low_y);
    if (!(room > 0))
        room = p->high_y != 0 ? 0.1 * fabs(p->high_y) : 1.0;
    p->low_y -= room;
    p->high_y += room;
    p->low_x = r->first_time;
    p->high_x = r->time > r->first_time ? r->time : r->first_time + 1.0;
}

static void fit(const recorder_state *r, recorder_panel *p)
{
    if (p->kind == PANEL_PLANE)
        fit_plane(r, p);
    else if (p->kind == PANEL_RELATIVE)
        fit_relative(r, p);
    else
        fit_times(r, p);
}

/* The `number`-th entry of svg_panels. */
static double half_width(const recorder_state *r, uint32_t number)
{
    size_t length;
    const char *list = recorder_text(r, RECORDER_SVG_PANELS), *word = recorder_word(&list, &length);
    while (number-- > 0)
        word = recorder_word(&list, &length);
    return bp_real_read(word, NULL);
}

int recorder_find_panel(const recorder_state *r, uint32_t number, recorder_panel *p)
{
    if (number < r->panels && find_group(r, PANEL_PLANE, 0, p)) {
        make_square(p, 0, 0, half_width(r, number));
        p->given = 1;
        return 1;
    }
    for (int32_t kind = PANEL_PLANE; kind <= PANEL_TIMES; kind++) {
        for (uint32_t group = 0; find_group(r, kind, group, p); group++) {
            uint32_t panels = kind == PANEL_PLANE && group == 0 && r->panels > 0 ? r->panels : 1;
            if (number < panels) {
                fit(r, p);
                return 1;
            }
            number -= panels;
        }
    }
    return 0;
}

/* Limit a value far outside of the picture, where that cannot be seen: it must fit an integer. */
static double clamp(double value)
{
    return fmax(-1e6, fmin(1e6, value));
}

int32_t recorder_across(const recorder_panel *p, double x)
{
    double f = (x - p->low_x) / (p->high_x - p->low_x);
    return (int32_t)lround(clamp((double)PANEL_TENTHS * (p->left + (double)PANEL_SIDE * f)));
}

int32_t recorder_down(const recorder_panel *p, double y)
{
    double f = (p->high_y - y) / (p->high_y - p->low_y);
    return (int32_t)lround(clamp((double)PANEL_TENTHS * (p->top + (double)PANEL_SIDE * f)));
}

unsigned recorder_sides(const recorder_panel *p, double x, double y)
{
    unsigned across = x < p->low_x ? 1 : x > p->high_x ? 2 : 0;
    return across + (y < p->low_y ? 4 : y > p->high_y ? 8 : 0);
}
