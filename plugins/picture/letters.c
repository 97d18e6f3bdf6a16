/* letters.c - letters made of strokes, drawn into pixels.
 *
 * A picture shall look the same on every machine, whichever fonts that has. So the letters are here: lines and arcs on
 * a grid with the baseline at 0, small letters 10 and capitals 14 high, drawn with a round pen. What a text holds
 * beyond ASCII is drawn as a box.
 *
 * A glyph is a text of commands with numbers behind them: `M x y` puts the pen down, `L x y` draws a line, `A x y rx ry
 * from to` a line to an arc around x y and the arc (in degrees, from the right, against the clock where `to` is
 * larger), `O ...` the same with the pen put down at the arc's beginning.
 */
#include "picture.h"

#include <math.h>

enum { SEGMENTS = 128, ARC_DEGREES = 15 };

static const float pen = 1.7f, gap = 3.1f, blank = 5.5f;

typedef struct glyph_t {
    float width;
    const char *path;
} glyph_t;

static const glyph_t glyphs[128] = {
    ['!'] = {0, "M0 14L0 4.5M0 0L0 0.2"},
    ['"'] = {3, "M0 14L0 10.5M3 14L3 10.5"},
    ['#'] = {9, "M1.5 0L3.5 13M6 0L8 13M0 4.3L9 4.3M0.5 8.7L9.5 8.7"},
    ['%'] = {12, "O2.6 11 2.6 3 0 360O9.4 3 2.6 3 0 360M10 14L2 0"},
    ['&'] = {10, "M10 0L2 10.4A4 11.4 2.6 2.6 205 -30L1.2 5.6A3.8 3.4 3.6 3.4 150 310L9.5 7"},
    ['\''] = {0, "M0 14L0 10.5"},
    ['('] = {3, "O4.5 5.5 4.5 10 125 235"},
    [')'] = {3, "O-1.5 5.5 4.5 10 55 -55"},
    ['*'] = {6, "M3 14L3 8M0.4 12.5L5.6 9.5M5.6 12.5L0.4 9.5"},
    ['+'] = {8, "M0 5.5L8 5.5M4 9.5L4 1.5"},
    [','] = {0.5f, "M0.5 0.4L-0.4 -2.6"},
    ['-'] = {5, "M0 5.5L5 5.5"},
    ['.'] = {0, "M0 0L0 0.2"},
    ['/'] = {6, "M0 -1.5L6 15"},
    ['0'] = {8.8f, "O4.4 7 4.4 7 0 360"},
    ['1'] = {4.5f, "M0 11.2L4.5 14L4.5 0"},
    ['2'] = {8.6f, "O4.2 9.8 4.2 4.2 165 -35L0.2 0L8.6 0"},
    ['3'] = {8.3f, "O4 10.6 3.6 3.4 150 -90A4 3.6 4.3 3.6 90 -155"},
    ['4'] = {9, "M6.6 0L6.6 14L0 4.3L9 4.3"},
    ['5'] = {8.6f, "M8 14L1.2 14L0.7 7.4A4.2 4.6 4.4 4.6 140 -150"},
    ['6'] = {8.8f, "O4.4 4.4 4.4 4.4 0 360M6.6 14L0.7 6.4"},
    ['7'] = {8.5f, "M0 14L8.5 14L3 0"},
    ['8'] = {8.6f, "O4.3 10.7 3.6 3.3 0 360O4.3 3.7 4.3 3.7 0 360"},
    ['9'] = {8.8f, "O4.4 9.6 4.4 4.4 0 360M8.1 7.6L2.2 0"},
    [':'] = {0, "M0 0L0 0.2M0 9L0 9.2"},
    [';'] = {0.5f, "M0.5 0.4L-0.4 -2.6M0.5 9L0.5 9.2"},
    ['<'] = {7, "M7 10L0 5.5L7 1"},
    ['='] = {8, "M0 7.5L8 7.5M0 3.5L8 3.5"},
    ['>'] = {7, "M0 10L7 5.5L0 1"},
    ['?'] = {7, "O3.4 10.6 3.4 3.4 170 -50L3.6 4.5M3.6 0L3.6 0.2"},
    ['A'] = {10, "M0 0L5 14L10 0M1.7 4.8L8.3 4.8"},
    ['B'] = {8.8f, "M0 7.4L5 7.4A5 10.7 3.2 3.3 -90 90L0 14L0 0L5 0A5 3.7 3.9 3.7 -90 90"},
    ['C'] = {10, "O6 7 6 7 48 312"},
    ['D'] = {10, "M0 0L0 14L4 14A4 7 6 7 90 -90L0 0"},
    ['E'] = {8, "M8 14L0 14L0 0L8 0M0 7.3L6.5 7.3"},
    ['F'] = {8, "M8 14L0 14L0 0M0 7.3L6.5 7.3"},
    ['G'] = {11.6f, "O6 7 6 7 48 355L7 6.5"},
    ['H'] = {10, "M0 0L0 14M10 0L10 14M0 7.3L10 7.3"},
    ['I'] = {0, "M0 14L0 0"},
    ['J'] = {6, "M6 14L6 4A3 4 3 4 0 -170"},
    ['K'] = {9, "M0 0L0 14M8.6 14L0 5M3.2 8.4L9 0"},
    ['L'] = {7.5f, "M0 14L0 0L7.5 0"},
    ['M'] = {12, "M0 0L0 14L6 4L12 14L12 0"},
    ['N'] = {10, "M0 0L0 14L10 0L10 14"},
    ['O'] = {12, "O6 7 6 7 0 360"},
    ['P'] = {8.8f, "M0 0L0 14L5 14A5 10.3 3.8 3.7 90 -90L0 6.6"},
    ['Q'] = {12, "O6 7 6 7 0 360M7.5 3.5L12 -1"},
    ['R'] = {9.4f, "M0 0L0 14L5 14A5 10.3 3.8 3.7 90 -90L0 6.6M4.6 6.6L9.4 0"},
    ['S'] = {9, "O4.6 10.5 4 3.5 35 270A4.6 3.5 4.4 3.5 90 -145"},
    ['T'] = {10, "M0 14L10 14M5 14L5 0"},
    ['U'] = {10, "M0 14L0 5A5 5 5 5 180 360L10 14"},
    ['V'] = {10, "M0 14L5 0L10 14"},
    ['W'] = {14, "M0 14L3.5 0L7 12L10.5 0L14 14"},
    ['X'] = {10, "M0 0L10 14M0 14L10 0"},
    ['Y'] = {10, "M0 14L5 7L10 14M5 7L5 0"},
    ['Z'] = {9, "M0 14L9 14L0 0L9 0"},
    ['['] = {3, "M3 15L0 15L0 -3L3 -3"},
    [']'] = {3, "M0 15L3 15L3 -3L0 -3"},
    ['_'] = {8, "M0 -2L8 -2"},
    ['a'] = {8, "O4 5 4 5 0 360M8 10L8 0"},
    ['b'] = {8, "M0 14L0 0M0 5O4 5 4 5 0 360"},
    ['c'] = {7.3f, "O4.2 5 4.2 5 45 315"},
    ['d'] = {8, "O4 5 4 5 0 360M8 14L8 0"},
    ['e'] = {8.2f, "M0.2 5.2L8.2 5.2A4.1 5 4.1 5 3 315"},
    ['f'] = {5, "O5 10.8 3.2 3.2 80 180L1.8 0M0 9.6L5 9.6"},
    ['g'] = {8, "O4 5 4 5 0 360M8 10L8 -0.5A4 -0.5 4 3.7 0 -150"},
    ['h'] = {8, "M0 14L0 0M0 5.8A4 5.8 4 4.2 180 0L8 0"},
    ['i'] = {0, "M0 10L0 0M0 13.5L0 13.7"},
    ['j'] = {2, "M2 10L2 -1.5A-0.2 -1.5 2.2 2.5 0 -90M2 13.5L2 13.7"},
    ['k'] = {7.5f, "M0 14L0 0M7 10L0 3.6M2.7 6.1L7.5 0"},
    ['l'] = {1.9f, "M0 14L0 2.2A2 2.2 2 2.2 180 265"},
    ['m'] = {13, "M0 10L0 0M0 6.4A3.25 6.4 3.25 3.6 180 0L6.5 0M6.5 6.4A9.75 6.4 3.25 3.6 180 0L13 0"},
    ['n'] = {8, "M0 10L0 0M0 5.8A4 5.8 4 4.2 180 0L8 0"},
    ['o'] = {8.6f, "O4.3 5 4.3 5 0 360"},
    ['p'] = {8, "O4 5 4 5 0 360M0 10L0 -4"},
    ['q'] = {8, "O4 5 4 5 0 360M8 10L8 -4"},
    ['r'] = {4.6f, "M0 10L0 0M0 5.6A4 5.6 4 4.4 180 80"},
    ['s'] = {6.9f, "O3.6 7.5 3.1 2.5 35 270A3.6 2.5 3.3 2.5 90 -150"},
    ['t'] = {5, "M1.9 13.5L1.9 3A4.6 3 2.7 3 180 285M0 10L5 10"},
    ['u'] = {8, "M0 10L0 4.2A4 4.2 4 4.2 180 360M8 10L8 0"},
    ['v'] = {8, "M0 10L4 0L8 10"},
    ['w'] = {12, "M0 10L3 0L6 9L9 0L12 10"},
    ['x'] = {7.6f, "M0 0L7.6 10M0 10L7.6 0"},
    ['y'] = {8, "M0 10L4.1 0.2M8 10L2.6 -4"},
    ['z'] = {7, "M0 10L7 10L0 0L7 0"},
};

static const glyph_t unknown = {8, "M0 0L0 14L8 14L8 0L0 0"};

/* --- one glyph as segments ---------------------------------------------------------------------------------------- */

typedef struct pen_t {
    float x, y;
    float (*segments)[4];
    uint32_t count;
} pen_t;

static void draw_to(pen_t *p, float x, float y)
{
    if (p->count < SEGMENTS) {
        float *s = p->segments[p->count++];
        s[0] = p->x, s[1] = p->y, s[2] = x, s[3] = y;
    }
    p->x = x, p->y = y;
}

static void draw_arc(pen_t *p, const float *n, bool down)
{
    const float degree = 3.14159265f / 180;
    uint32_t parts = (uint32_t)ceilf(fabsf(n[5] - n[4]) / (float)ARC_DEGREES);
    for (uint32_t i = 0; i <= parts; i++) {
        float angle = (n[4] + (n[5] - n[4]) * (float)i / (float)parts) * degree;
        float x = n[0] + n[2] * cosf(angle), y = n[1] + n[3] * sinf(angle);
        if (i == 0 && down)
            p->x = x, p->y = y;
        else
            draw_to(p, x, y);
    }
}

/* A number of a path; not by strtof, which reads what the locale of the program says. */
static const char *read_number(const char *text, float *number)
{
    float sign = 1, part = 1;
    *number = 0;
    while (*text == ' ')
        text++;
    if (*text == '-')
        sign = -1, text++;
    for (; *text >= '0' && *text <= '9'; text++)
        *number = *number * 10 + (float)(*text - '0');
    for (text += *text == '.'; *text >= '0' && *text <= '9'; text++)
        *number += (part /= 10) * (float)(*text - '0');
    *number *= sign;
    return text;
}

static uint32_t segments_of(const char *path, float segments[SEGMENTS][4])
{
    pen_t p = {.segments = segments};
    while (*path != '\0') {
        char command = *path++;
        float n[6] = {0};
        uint32_t count = command == 'A' || command == 'O' ? 6 : 2;
        for (uint32_t i = 0; i < count; i++)
            path = read_number(path, &n[i]);
        if (command == 'M')
            p.x = n[0], p.y = n[1];
        else if (command == 'L')
            draw_to(&p, n[0], n[1]);
        else
            draw_arc(&p, n, command == 'O');
    }
    return p.count;
}

/* --- pixels ------------------------------------------------------------------------------------------------------- */

static float distance_to(const float s[4], float x, float y)
{
    float dx = s[2] - s[0], dy = s[3] - s[1], length2 = dx * dx + dy * dy;
    float at = length2 > 0 ? ((x - s[0]) * dx + (y - s[1]) * dy) / length2 : 0;
    at = at < 0 ? 0 : at > 1 ? 1 : at;
    float ex = x - s[0] - at * dx, ey = y - s[1] - at * dy;
    return sqrtf(ex * ex + ey * ey);
}

void picture_blend(const picture_canvas *canvas, int32_t column, int32_t row, bp_colour_t colour, float cover)
{
    if (column < 0 || row < 0 || column >= (int32_t)canvas->width || row >= (int32_t)canvas->height || cover <= 0)
        return;
    uint8_t *pixel = canvas->pixels + 3 * ((size_t)row * canvas->width + (size_t)column);
    const float wanted[3] = {colour.r, colour.g, colour.b};
    cover = (cover < 1 ? cover : 1) * colour.a;
    for (size_t c = 0; c < 3; c++)
        pixel[c] = (uint8_t)((float)pixel[c] + (255 * wanted[c] - (float)pixel[c]) * cover + 0.5f);
}

/* With its baseline's beginning at x, y; `unit` pixels for one of the grid. */
static void draw_glyph(const picture_canvas *canvas, const glyph_t *glyph, float x, float y, float unit, float weight,
                       bp_colour_t colour)
{
    float segments[SEGMENTS][4];
    uint32_t count = segments_of(glyph->path, segments);
    float half = fmaxf(pen * weight * unit / 2, 0.55f), reach = half / unit + 1;
    for (int32_t row = (int32_t)(y - (15 + reach) * unit); row <= (int32_t)(y + (4 + reach) * unit) + 1; row++) {
        int32_t last = (int32_t)(x + (glyph->width + 1 + reach) * unit) + 1;
        for (int32_t column = (int32_t)(x - (1 + reach) * unit); column <= last; column++) {
            float near = 1e9f, gx = ((float)column + 0.5f - x) / unit, gy = (y - (float)row - 0.5f) / unit;
            for (uint32_t i = 0; i < count; i++)
                near = fminf(near, distance_to(segments[i], gx, gy));
            picture_blend(canvas, column, row, colour, half - near * unit + 0.5f);
        }
    }
}

static const glyph_t *glyph_of(unsigned char letter)
{
    return letter < 128 && glyphs[letter].path != NULL ? &glyphs[letter] : &unknown;
}

/* The bytes behind the first of a character of UTF-8. */
static bool continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

float picture_text_width(const char *text, float size)
{
    float width = 0;
    for (; *text != '\0'; text++) {
        if (!continues(*text))
            width += *text == ' ' ? blank : glyph_of((unsigned char)*text)->width + gap;
    }
    return width > 0 ? (width - gap) * size / 14 : 0;
}

void picture_text(const picture_canvas *canvas, const char *text, float x, float y, float size, float weight,
                  bp_colour_t colour)
{
    float unit = size / 14;
    for (; *text != '\0'; text++) {
        if (continues(*text))
            continue;
        const glyph_t *glyph = glyph_of((unsigned char)*text);
        if (*text != ' ')
            draw_glyph(canvas, glyph, x, y, unit, weight, colour);
        x += (*text == ' ' ? blank : glyph->width + gap) * unit;
    }
}
