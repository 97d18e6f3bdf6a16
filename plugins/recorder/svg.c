/* svg.c - the picture of what has been recorded.
 *
 * Panels (panel.h) stand in rows, and below them is the legend. Everything is drawn in whole units, a tenth
 * of a pixel for curves, so that the text is small and no locale can put a comma into a number.
 *
 * A body's last place is a dot, with its name where there is room; in a panel in which its whole path is no
 * larger than a dot it has no name, unless it hardly moves at all (then it is a centre, such as the Sun).
 *
 * The colours are those of Okabe and Ito, "Color Universal Design" (2008), on dark ground, and more between
 * them that differ in lightness too; the names beside the dots carry the same information.
 */
#include "recorder.h"
#include "curve.h"
#include "panel.h"
#include "series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 3,
    LEFT = 58,      /* of a panel's frame in its place: room for the numbers of the axis */
    ABOVE = 34,
    BELOW = 46,
    RIGHT = 14,
    MARGIN = 14,
    HEAD = 66,
    LINE = 24,      /* of the legend */
    LETTER = 7,     /* the width of a letter, about */
    NEAR = 4,       /* tenths of a pixel: points nearer to each other than that are not worth their bytes */
    DOT = 4,
    TINY = 14,      /* pixels: a path so small has no name */
    STILL = 3,      /* pixels: a path so small belongs to a centre */
    RECTANGLES = 256
};

static const char *const colours[] = {
    "#f0e442", "#b9c0c9", "#e69f00", "#56b4e9", "#ffffff", "#e8601c", "#cc79a7", "#ddcc77",
    "#44bb99", "#7b8ff5", "#99ddff", "#ee8866", "#bbcc33", "#ffaabb", "#aaaa00", "#8c96a3",
};

typedef struct rectangle {
    int32_t left, top, right, bottom;
} rectangle;

/* The picture while it is drawn. */
typedef struct picture {
    const recorder_state *r;
    FILE *file;
    uint32_t panels, columns;
    int32_t width, height;
    rectangle taken[RECTANGLES]; /* by dots and names in the present panel */
    uint32_t taken_count;
    uint32_t padding;
} picture;

/* Bytes of the letter in UTF-8 at `text`; 0 where there is none that is whole. */
static size_t letter_length(const char *text)
{
    unsigned char lead = (unsigned char)text[0];
    size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if ((lead >= 0x80 && lead < 0xC2) || lead >= 0xF5)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)text[i] & 0xC0) != 0x80)
            return 0;
    }
    return length;
}

/* Text as XML can hold it: a file with half a letter in it would not be shown at all. */
static void put_text(FILE *file, const char *text)
{
    for (size_t length; *text != 0; text += length > 0 ? length : 1) {
        length = letter_length(text);
        if (*text == '<' || *text == '>' || *text == '&')
            fprintf(file, "&#%d;", *text);
        else if (length == 0 || (unsigned char)*text < ' ')
            fputc('?', file);
        else
            fwrite(text, 1, length, file);
    }
}

/* The first source of the same name that is drawn: they share a colour and a place in the legend. */
static uint32_t namesake(const recorder_state *r, uint32_t source)
{
    uint32_t first = 0;
    while (first < source && (recorder_kind(&r->sources[first]) < 0 ||
                              strcmp(r->sources[first].label, r->sources[source].label) != 0))
        first++;
    return first;
}

static const char *colour_of(const recorder_state *r, uint32_t source)
{
    uint32_t first = namesake(r, source), number = 0;
    for (uint32_t i = 0; i < first; i++)
        number += recorder_kind(&r->sources[i]) >= 0 && namesake(r, i) == i;
    return colours[number % (sizeof colours / sizeof *colours)];
}

/* --- curves --------------------------------------------------------------------------------------------- */

/* A line that is being written. */
typedef struct stroke {
    FILE *file;
    const recorder_panel *panel;
    int32_t x, y;         /* where the text has come to */
    int32_t down;         /* the text is at the point given last, or so near to it that it need not be told */
    int32_t waiting;      /* one such is not written yet: */
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

static void draw_paths(const picture *pic, const recorder_panel *p)
{
    fprintf(pic->file, "<g class=\"path\" clip-path=\"url(#at-%d-%d)\">", p->left, p->top);
    fputs("<g transform=\"scale(.1)\">\n", pic->file);
    for (uint32_t i = 0; i < pic->r->count; i++) {
        const recorder_source *s = &pic->r->sources[i];
        if (!recorder_is_in(p, pic->r, i))
            continue;
        stroke pen = {.file = pic->file, .panel = p};
        fprintf(pic->file, "<path stroke=\"%s\" d=\"", colour_of(pic->r, i));
        if (p->kind == PANEL_TIMES)
            put_series(s->series, &pen);
        else
            put_curve(s->curve, &pen);
        fputs("\"><title>", pic->file);
        put_text(pic->file, s->label);
        fputs("</title></path>\n", pic->file);
    }
    fputs("</g></g>\n", pic->file);
}

/* --- dots and names ------------------------------------------------------------------------------------- */

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
    if (pic->taken_count < RECTANGLES)
        pic->taken[pic->taken_count++] = r;
}

/* As many bytes of a name as are shown. */
static int shown(size_t length)
{
    return length < RECORDER_LABEL ? (int)length : RECORDER_LABEL - 1;
}

static int32_t letters(const char *text)
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
    int32_t wide = LETTER * letters(name) / 2 + 1, high = 8;
    for (int i = 0; i < 8; i++) {
        int32_t middle_x = x + beside[i][0] * (wide + DOT + 5);
        int32_t middle_y = y + beside[i][1] * (high + DOT + 2);
        const char *side = beside[i][0] > 0 ? " right" : beside[i][0] < 0 ? " end" : "";
        rectangle r = {middle_x - wide, middle_y - high, middle_x + wide, middle_y + high};
        if (!is_free(pic, p, r))
            continue;
        take(pic, r);
        fprintf(pic->file, "<text class=\"name%s\" x=\"%d\" y=\"%d\">", side, x + beside[i][0] * (DOT + 5),
                middle_y + 4);
        put_text(pic->file, name);
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
    double extent = fmax(c->high_x - c->low_x, c->high_y - c->low_y) / (p->high_x - p->low_x) * PANEL_SIDE;
    d.shown = 1;
    d.x = recorder_across(p, c->previous.x) / PANEL_TENTHS;
    d.y = recorder_down(p, c->previous.y) / PANEL_TENTHS;
    d.extent = extent < PANEL_SIDE ? (int32_t)extent : PANEL_SIDE;
    return d;
}

static int is_named(const dot *d)
{
    return d->shown && (d->extent > 2 * TINY || d->extent <= STILL);
}

static void put_dot(FILE *file, int32_t x, int32_t y, int32_t radius, const char *colour)
{
    fprintf(file, "<circle cx=\"%d\" cy=\"%d\" r=\"%d\" fill=\"%s\"/>\n", x, y, radius, colour);
}

/* All dots first, so that no name is put upon a dot. */
static void draw_dots(picture *pic, const recorder_panel *p)
{
    pic->taken_count = 0;
    for (uint32_t i = 0; i < pic->r->count; i++) {
        dot d = dot_of(pic, p, i);
        int32_t radius = is_named(&d) ? DOT : 2;
        if (!d.shown)
            continue;
        put_dot(pic->file, d.x, d.y, radius, colour_of(pic->r, i));
        take(pic, (rectangle){d.x - radius, d.y - radius, d.x + radius, d.y + radius});
    }
    for (uint32_t i = 0; i < pic->r->count; i++) {
        dot d = dot_of(pic, p, i);
        if (is_named(&d))
            draw_name(pic, p, d.x, d.y, pic->r->sources[i].label);
    }
}

/* The body that a panel's differences are seen from, in the colour it has elsewhere. */
static void draw_reference(picture *pic, const recorder_panel *p)
{
    char name[RECORDER_LABEL];
    size_t length;
    const char *reference = pic->r->sources[p->first].reference, *colour = "#8c96a3";
    const char *entity = recorder_entity(reference, &length);
    for (uint32_t i = 0; i < pic->r->count; i++) {
        if (pic->r->sources[i].reference == NULL && strcmp(pic->r->sources[i].path, reference) == 0)
            colour = colour_of(pic->r, i);
    }
    snprintf(name, sizeof name, "%.*s", shown(length), entity);
    int32_t x = p->left + PANEL_SIDE / 2, y = p->top + PANEL_SIDE / 2;
    put_dot(pic->file, x, y, DOT + 1, colour);
    draw_name(pic, p, x, y, name);
}

/* --- frames and axes ------------------------------------------------------------------------------------ */

/* A round number: 1, 2 or 5 times a power of ten, such that about six of them make `span`. */
static double round_step(double span)
{
    double rough = span / 6.0, power = pow(10.0, floor(log10(rough))), f = rough / power;
    return power * (f < 1.5 ? 1.0 : f < 3.5 ? 2.0 : f < 7.5 ? 5.0 : 10.0);
}

static void draw_tick(const picture *pic, const recorder_panel *p, int vertical, double value, double step)
{
    char number[32];
    int32_t x = vertical ? p->left : recorder_across(p, value) / PANEL_TENTHS;
    int32_t y = vertical ? recorder_down(p, value) / PANEL_TENTHS : p->top;
    fprintf(pic->file, "<path class=\"grid\" d=\"M%d %d%c%d\"/>", x, y, vertical ? 'h' : 'v', PANEL_SIDE);
    recorder_number(number, sizeof number, fabs(value) < 1e-6 * step ? 0.0 : value, 6);
    if (vertical)
        fprintf(pic->file, "<text class=\"tick end\" x=\"%d\" y=\"%d\">%s</text>\n", x - 6, y + 4, number);
    else
        fprintf(pic->file, "<text class=\"tick\" x=\"%d\" y=\"%d\">%s</text>\n", x, y + PANEL_SIDE + 16,
                number);
}

static void draw_ticks(const picture *pic, const recorder_panel *p, int vertical)
{
    double low = vertical ? p->low_y : p->low_x, high = vertical ? p->high_y : p->high_x;
    double step = round_step(high - low), first = ceil(low / step);
    for (int i = 0; i < 12 && (first + i) * step <= high; i++)
        draw_tick(pic, p, vertical, (first + i) * step, step);
}

static void put_axis(const picture *pic, int32_t x, int32_t y, const char *name, const char *unit)
{
    fprintf(pic->file, "<text class=\"tick\" x=\"%d\" y=\"%d\">", x, y);
    put_text(pic->file, name);
    if (unit[0] != 0) {
        fputs(" (", pic->file);
        put_text(pic->file, unit);
        fputs(")", pic->file);
    }
    fputs("</text>\n", pic->file);
}

static void put_heading(const picture *pic, const recorder_panel *p)
{
    char text[256], number[32];
    size_t length;
    const recorder_source *s = &pic->r->sources[p->first];
    if (p->kind == PANEL_RELATIVE) {
        const char *entity = recorder_entity(s->reference, &length);
        snprintf(text, sizeof text, "as seen from %.*s", shown(length), entity);
    } else if (!p->given) {
        snprintf(text, sizeof text, "%.200s", recorder_property(s->path));
    } else {
        recorder_number(number, sizeof number, 0.5 * (p->high_x - p->low_x), 4);
        snprintf(text, sizeof text, "\xC2\xB1 %s %s", number, s->unit);
    }
    fprintf(pic->file, "<text class=\"head\" x=\"%d\" y=\"%d\">", p->left, p->top - 10);
    put_text(pic->file, text);
    fputs("</text>\n", pic->file);
}

static void put_square(FILE *file, const char *class, const recorder_panel *p)
{
    fprintf(file, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", class, p->left,
            p->top, PANEL_SIDE, PANEL_SIDE);
}

static void draw_frame(const picture *pic, const recorder_panel *p)
{
    static const char *const axes[] = {"x", "y", "z"};
    const recorder_state *r = pic->r;
    const char *unit = r->sources[p->first].unit;
    fprintf(pic->file, "<clipPath id=\"at-%d-%d\">", p->left, p->top);
    put_square(pic->file, "clip", p);
    fputs("</clipPath>\n", pic->file);
    put_square(pic->file, "panel", p);
    draw_ticks(pic, p, 0);
    draw_ticks(pic, p, 1);
    put_heading(pic, p);
    int32_t middle = p->left + PANEL_SIDE / 2, below = p->top + PANEL_SIDE + 34;
    if (p->kind == PANEL_TIMES) {
        put_axis(pic, middle, below, "time", recorder_text(r, RECORDER_TIME_UNIT));
        put_axis(pic, p->left - 24, p->top - 10, "", unit);
        return;
    }
    put_axis(pic, middle, below, axes[r->axes[0]], unit);
    fprintf(pic->file, "<g transform=\"rotate(-90 %d %d)\">", p->left - 44, p->top + PANEL_SIDE / 2);
    put_axis(pic, p->left - 44, p->top + PANEL_SIDE / 2, axes[r->axes[1]], unit);
    fputs("</g>\n", pic->file);
}

/* --- the whole ------------------------------------------------------------------------------------------ */

static int32_t legend_width(const char *label)
{
    return 40 + LETTER * letters(label);
}

/* Draw the legend, or where file is NULL only find out how many lines it takes. */
static int32_t put_legend(const picture *pic, FILE *file, int32_t top)
{
    int32_t x = MARGIN + LEFT, line = 0;
    for (uint32_t i = 0; i < pic->r->count; i++) {
        const char *label = pic->r->sources[i].label;
        if (recorder_kind(&pic->r->sources[i]) < 0 || namesake(pic->r, i) != i)
            continue;
        if (x > MARGIN + LEFT && x + legend_width(label) > pic->width - MARGIN) {
            x = MARGIN + LEFT;
            line++;
        }
        if (file != NULL) {
            put_dot(file, x + 6, top + line * LINE, DOT + 1, colour_of(pic->r, i));
            fprintf(file, "<text class=\"key\" x=\"%d\" y=\"%d\">", x + 17, top + line * LINE + 4);
            put_text(file, label);
            fputs("</text>\n", file);
        }
        x += legend_width(label);
    }
    return line + 1;
}

static void put_style(FILE *file)
{
    fputs("<style>\n"
          "text{font-family:system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#c9d1d9}\n"
          ".title{font-size:22px;font-weight:600;fill:#f0f6fc}\n"
          ".sub{font-size:13px;fill:#8b949e}\n"
          ".head{font-size:14px;font-weight:600}\n"
          ".tick{font-size:11px;fill:#8b949e;text-anchor:middle}\n"
          ".key{font-size:13px}\n"
          ".name{font-size:12px;text-anchor:middle;fill:#f0f6fc;paint-order:stroke;stroke:#0d1117;"
          "stroke-width:3px;stroke-linejoin:round}\n"
          ".right{text-anchor:start}\n"
          ".end{text-anchor:end}\n"
          ".panel{fill:#0a0d13;stroke:#30363d}\n"
          ".grid{stroke:#1c2129;fill:none}\n"
          ".path path{fill:none;stroke-width:11;stroke-linejoin:round;stroke-linecap:round;"
          "stroke-opacity:.85}\n"
          "</style>\n", file);
}

static void put_subtitle(const picture *pic)
{
    const recorder_state *r = pic->r;
    char first[32], last[32], text[256];
    const char *unit = recorder_text(r, RECORDER_TIME_UNIT);
    size_t length = 0;
    const char *origin = r->origin == NULL ? "" : recorder_entity(r->origin->path, &length);
    recorder_number(first, sizeof first, r->first_time, 7);
    recorder_number(last, sizeof last, r->time, 7);
    snprintf(text, sizeof text, "time %s to %s %.32s, %u samples%s%.*s", first, last, unit,
             (unsigned)r->samples, length > 0 ? ", seen from " : "", shown(length), origin);
    put_text(pic->file, text);
}

static void put_head(const picture *pic)
{
    const char *title = recorder_text(pic->r, RECORDER_TITLE);
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\"", pic->file);
    fprintf(pic->file, " viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n", pic->width, pic->height,
            pic->width, pic->height);
    fputs("<title>", pic->file);
    put_text(pic->file, title);
    fputs("</title>\n", pic->file);
    put_style(pic->file);
    fprintf(pic->file, "<rect width=\"%d\" height=\"%d\" fill=\"#0d1117\"/>\n", pic->width, pic->height);
    fprintf(pic->file, "<text class=\"title\" x=\"%d\" y=\"36\">", MARGIN + LEFT);
    put_text(pic->file, title);
    fprintf(pic->file, "</text>\n<text class=\"sub\" x=\"%d\" y=\"58\">", MARGIN + LEFT);
    put_subtitle(pic);
    fputs("</text>\n", pic->file);
}

static void draw_panel(picture *pic, uint32_t number)
{
    recorder_panel p;
    if (!recorder_find_panel(pic->r, number, &p))
        return;
    p.left = MARGIN + (int32_t)(number % pic->columns) * (LEFT + PANEL_SIDE + RIGHT) + LEFT;
    p.top = HEAD + (int32_t)(number / pic->columns) * (ABOVE + PANEL_SIDE + BELOW) + ABOVE;
    draw_frame(pic, &p);
    draw_paths(pic, &p);
    draw_dots(pic, &p);
    if (p.kind == PANEL_RELATIVE)
        draw_reference(pic, &p);
}

int recorder_svg_draw(const recorder_state *r, FILE *file)
{
    recorder_panel p;
    picture pic = {.r = r, .file = file};
    while (recorder_find_panel(r, pic.panels, &p))
        pic.panels++;
    pic.columns = pic.panels < COLUMNS ? pic.panels : COLUMNS;
    if (pic.columns == 0)
        pic.columns = 1;
    int32_t rows = (int32_t)((pic.panels + pic.columns - 1) / pic.columns);
    int32_t panels_end = HEAD + rows * (ABOVE + PANEL_SIDE + BELOW);
    pic.width = 2 * MARGIN + (int32_t)pic.columns * (LEFT + PANEL_SIDE + RIGHT);
    pic.height = panels_end + put_legend(&pic, NULL, 0) * LINE + 2 * MARGIN;
    put_head(&pic);
    for (uint32_t i = 0; i < pic.panels; i++)
        draw_panel(&pic, i);
    put_legend(&pic, file, panels_end + MARGIN + LINE / 2);
    fputs("</svg>\n", file);
    return !ferror(file);
}
