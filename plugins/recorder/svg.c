/* svg.c - the picture of what has been recorded: frames, axes, legend, and the parts in their order.
 *
 * Panels (panel.h) stand in rows, and below them is the legend. Everything is drawn in whole units, a tenth
 * of a pixel for curves (svg_paths.c), so that the text is small and no locale can put a comma into a number. Dots and
 * names come on top (svg_dots.c).
 *
 * The colours are those of Okabe and Ito, "Color Universal Design" (2008), on dark ground, and more between
 * them that differ in lightness too; the names beside the dots carry the same information.
 */
#include "svg.h"

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
    LINE = 24       /* of the legend */
};

static const char *const colours[] = {
    "#f0e442", "#b9c0c9", "#e69f00", "#56b4e9", "#ffffff", "#e8601c", "#cc79a7", "#ddcc77",
    "#44bb99", "#7b8ff5", "#99ddff", "#ee8866", "#bbcc33", "#ffaabb", "#aaaa00", "#8c96a3",
};

/* Bytes of the letter in UTF-8 at `text`; 0 where there is no whole letter. */
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

void recorder_svg_text(FILE *file, const char *text)
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

/* The first source of the same name that is drawn: sources of one name share a colour and a place in the legend. */
static uint32_t namesake(const recorder_state *r, uint32_t source)
{
    uint32_t first = 0;
    while (first < source && (recorder_kind(&r->sources[first]) < 0 ||
                              strcmp(r->sources[first].label, r->sources[source].label) != 0))
        first++;
    return first;
}

const char *recorder_svg_colour(const recorder_state *r, uint32_t source)
{
    uint32_t first = namesake(r, source), number = 0;
    for (uint32_t i = 0; i < first; i++)
        number += recorder_kind(&r->sources[i]) >= 0 && namesake(r, i) == i;
    return colours[number % (sizeof colours / sizeof *colours)];
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
    recorder_svg_text(pic->file, name);
    if (unit[0] != 0) {
        fputs(" (", pic->file);
        recorder_svg_text(pic->file, unit);
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
        snprintf(text, sizeof text, "as seen from %.*s", recorder_svg_shown(length), entity);
    } else if (!p->given) {
        snprintf(text, sizeof text, "%.200s", recorder_property(s->path));
    } else {
        recorder_number(number, sizeof number, 0.5 * (p->high_x - p->low_x), 4);
        snprintf(text, sizeof text, "\xC2\xB1 %s %s", number, s->unit);
    }
    fprintf(pic->file, "<text class=\"head\" x=\"%d\" y=\"%d\">", p->left, p->top - 10);
    recorder_svg_text(pic->file, text);
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
    char time_unit[64];
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
        put_axis(pic, middle, below, "time", recorder_time_unit(r, time_unit, sizeof time_unit));
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
    return 40 + SVG_LETTER * recorder_svg_letters(label);
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
            recorder_svg_dot(file, x + 6, top + line * LINE, SVG_DOT + 1, recorder_svg_colour(pic->r, i));
            fprintf(file, "<text class=\"key\" x=\"%d\" y=\"%d\">", x + 17, top + line * LINE + 4);
            recorder_svg_text(file, label);
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
    char named[64];
    const char *unit = recorder_time_unit(r, named, sizeof named);
    size_t length = 0;
    const char *origin = r->origin == NULL ? "" : recorder_entity(r->origin->path, &length);
    recorder_number(first, sizeof first, r->first_time, 7);
    recorder_number(last, sizeof last, r->time, 7);
    snprintf(text, sizeof text, "time %s to %s %.32s, %u samples%s%.*s", first, last, unit,
             (unsigned)r->samples, length > 0 ? ", seen from " : "", recorder_svg_shown(length), origin);
    recorder_svg_text(pic->file, text);
}

static void put_head(const picture *pic)
{
    char title[512], file[1040], ran[64];
    const bp_system_t *s = pic->r->system;
    if (s->api->file->output(s->world, "", file, sizeof file, ran, sizeof ran) != BP_OK)
        ran[0] = '\0';
    snprintf(title, sizeof title, "%.400s%s%s", recorder_text(pic->r, RECORDER_TITLE), ran[0] != '\0' ? ": " : "", ran);
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\"", pic->file);
    fprintf(pic->file, " viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n", pic->width, pic->height,
            pic->width, pic->height);
    fputs("<title>", pic->file);
    recorder_svg_text(pic->file, title);
    fputs("</title>\n", pic->file);
    put_style(pic->file);
    fprintf(pic->file, "<rect width=\"%d\" height=\"%d\" fill=\"#0d1117\"/>\n", pic->width, pic->height);
    fprintf(pic->file, "<text class=\"title\" x=\"%d\" y=\"36\">", MARGIN + LEFT);
    recorder_svg_text(pic->file, title);
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
    recorder_svg_paths(pic, &p);
    recorder_svg_dots(pic, &p);
    if (p.kind == PANEL_RELATIVE)
        recorder_svg_reference(pic, &p);
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
