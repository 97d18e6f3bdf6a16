/* svg_dots.c - a body's last place as a dot, with its name where there is room.
 *
 * In a panel in which its whole path is no larger than a dot a body has no name, unless it hardly moves at all (then it
 * is a centre, such as the Sun). Dots and names note the rectangles that they take.
 */
#include "curve.h"
#include "svg.h"

#include <math.h>
#include <string.h>

enum {
    TINY = 14, /* pixels: a path so small has no name */
    STILL = 3  /* pixels: a path so small belongs to a centre */
};

static int is_free(const picture *pic, const recorder_panel *p, rectangle w)
{
    int32_t right = p->left + PANEL_SIDE, bottom = p->top + PANEL_SIDE;
    if (w.left < p->left + 2 || w.right > right - 2 || w.top < p->top + 2 || w.bottom > bottom - 2)
        return 0;
    for (uint32_t i = 0; i < pic->taken_count; i++) {
        const rectangle *t = &pic->taken[i];
        if (w.left < t->right && w.right > t->left && w.top < t->bottom && w.bottom > t->top)
            return 0;
    }
    return 1;
}

static void take(picture *pic, rectangle r)
{
    if (pic->taken_count < SVG_RECTANGLES)
        pic->taken[pic->taken_count++] = r;
}

/* The number of bytes of a name that are shown. */
int recorder_svg_shown(size_t length)
{
    return length < RECORDER_LABEL ? (int)length : RECORDER_LABEL - 1;
}

int32_t recorder_svg_letters(const char *text)
{
    int32_t count = 0;
    for (; *text != 0; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80; /* all but the later bytes of a letter in UTF-8 */
    return count;
}

/* Write a name beside a dot, on the first of eight sides that is free; nowhere where none is. */
static void draw_name(picture *pic, const recorder_panel *p, int32_t x, int32_t y, const char *name)
{
    static const int8_t beside[8][2] = {{1, 0}, {-1, 0}, {0, -1}, {0, 1}, {1, -1}, {1, 1}, {-1, -1}, {-1, 1}};
    int32_t wide = SVG_LETTER * recorder_svg_letters(name) / 2 + 1, high = 8;
    for (int i = 0; i < 8; i++) {
        int32_t middle_x = x + beside[i][0] * (wide + SVG_DOT + 5);
        int32_t middle_y = y + beside[i][1] * (high + SVG_DOT + 2);
        const char *side = beside[i][0] > 0 ? " right" : beside[i][0] < 0 ? " end" : "";
        rectangle r = {middle_x - wide, middle_y - high, middle_x + wide, middle_y + high};
        if (!is_free(pic, p, r))
            continue;
        take(pic, r);
        fprintf(pic->file, "<text class=\"name%s\" x=\"%d\" y=\"%d\">", side, x + beside[i][0] * (SVG_DOT + 5),
                middle_y + 4);
        recorder_svg_text(pic->file, name);
        fputs("</text>\n", pic->file);
        return;
    }
}

typedef struct dot {
    int32_t shown, x, y, extent;
} dot;

static dot dot_of(const picture *pic, const recorder_panel *p, uint32_t source)
{
    const recorder_curve *c = pic->r->sources[source].curve;
    dot d = {0};
    if (p->kind == PANEL_TIMES || !recorder_is_in(p, pic->r, source))
        return d;
    if (recorder_sides(p, c->previous.x, c->previous.y) != 0)
        return d;
    double extent = fmax(c->high_x - c->low_x, c->high_y - c->low_y) / (p->high_x - p->low_x) * (double)PANEL_SIDE;
    d.shown = 1;
    d.x = recorder_across(p, c->previous.x) / PANEL_TENTHS;
    d.y = recorder_down(p, c->previous.y) / PANEL_TENTHS;
    d.extent = extent < (double)PANEL_SIDE ? (int32_t)extent : PANEL_SIDE;
    return d;
}

static int is_named(const dot *d)
{
    return d->shown && (d->extent > 2 * TINY || d->extent <= STILL);
}

void recorder_svg_dot(FILE *file, int32_t x, int32_t y, int32_t radius, const char *colour)
{
    fprintf(file, "<circle cx=\"%d\" cy=\"%d\" r=\"%d\" fill=\"%s\"/>\n", x, y, radius, colour);
}

/* All dots first, so that no name is put upon a dot. */
void recorder_svg_dots(picture *pic, const recorder_panel *p)
{
    pic->taken_count = 0;
    for (uint32_t i = 0; i < pic->r->count; i++) {
        dot d = dot_of(pic, p, i);
        int32_t radius = is_named(&d) ? SVG_DOT : 2;
        if (!d.shown)
            continue;
        recorder_svg_dot(pic->file, d.x, d.y, radius, recorder_svg_colour(pic->r, i));
        take(pic, (rectangle){d.x - radius, d.y - radius, d.x + radius, d.y + radius});
    }
    for (uint32_t i = 0; i < pic->r->count; i++) {
        dot d = dot_of(pic, p, i);
        if (is_named(&d))
            draw_name(pic, p, d.x, d.y, pic->r->sources[i].label);
    }
}

void recorder_svg_reference(picture *pic, const recorder_panel *p)
{
    char name[RECORDER_LABEL];
    size_t length;
    const char *reference = pic->r->sources[p->first].reference, *colour = "#8c96a3";
    const char *entity = recorder_entity(reference, &length);
    for (uint32_t i = 0; i < pic->r->count; i++) {
        if (pic->r->sources[i].reference == NULL && strcmp(pic->r->sources[i].path, reference) == 0)
            colour = recorder_svg_colour(pic->r, i);
    }
    snprintf(name, sizeof name, "%.*s", recorder_svg_shown(length), entity);
    int32_t x = p->left + PANEL_SIDE / 2, y = p->top + PANEL_SIDE / 2;
    recorder_svg_dot(pic->file, x, y, SVG_DOT + 1, colour);
    draw_name(pic, p, x, y, name);
}
