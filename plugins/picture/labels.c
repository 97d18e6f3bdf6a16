/* labels.c - what stands around the picture: a title, the step, a scale on two sides, and a legend.
 *
 * All sizes are parts of the picture's height, so a picture of twice the size looks alike.
 */
#include "picture.h"

#include <helpers/bp_real.h>
#include <math.h>
#include <stdio.h>

static const bp_colour_t bright = {0.95f, 0.96f, 0.99f, 1}, quiet = {0.62f, 0.66f, 0.76f, 1},
                         line = {0.62f, 0.66f, 0.76f, 0.45f};

bool picture_is_labelled(const picture_look *look)
{
    return look->title[0] != '\0' && look->width >= look->height / 2 && look->height >= 100;
}

picture_area picture_inside(const picture_look *look)
{
    float unit = (float)look->height / 100;
    if (!picture_is_labelled(look))
        return (picture_area){0, 0, look->width, look->height};
    picture_area area = {.left = (uint32_t)(6.8f * unit), .top = (uint32_t)(10.5f * unit)};
    area.width = look->width - area.left - (uint32_t)(3 * unit);
    area.height = look->height - area.top - (uint32_t)(12 * unit);
    return area;
}

static void fill(const picture_canvas *canvas, float left, float top, float right, float bottom, bp_colour_t colour)
{
    for (int32_t row = (int32_t)floorf(top); row < (int32_t)ceilf(bottom); row++) {
        float down = fminf((float)row + 1, bottom) - fmaxf((float)row, top);
        for (int32_t column = (int32_t)floorf(left); column < (int32_t)ceilf(right); column++)
            picture_blend(canvas, column, row, colour,
                          down * (fminf((float)column + 1, right) - fmaxf((float)column, left)));
    }
}

static void disc(const picture_canvas *canvas, float x, float y, float radius, bp_colour_t colour)
{
    for (int32_t row = (int32_t)(y - radius) - 1; row <= (int32_t)(y + radius) + 1; row++) {
        for (int32_t column = (int32_t)(x - radius) - 1; column <= (int32_t)(x + radius) + 1; column++) {
            float dx = (float)column + 0.5f - x, dy = (float)row + 0.5f - y;
            picture_blend(canvas, column, row, colour, radius - sqrtf(dx * dx + dy * dy) + 0.5f);
        }
    }
}

/* The distance of marks on a scale of which `seen` is shown: 1, 2 or 5 times a power of ten, so that there are some
 * eight of them. */
static float marks_of(float seen)
{
    float power = powf(10, floorf(log10f(seen / 8))), part = seen / 8 / power;
    return power * (part < 1.5f ? 1 : part < 3.5f ? 2 : part < 7.5f ? 5 : 10);
}

static void draw_scale(const picture_canvas *canvas, const picture_look *look, const picture_area *area, bool upright)
{
    float unit = (float)look->height / 100, size = 1.9f * unit, thin = fmaxf(0.1f * unit, 1);
    float pixels = picture_scale(look, area), half = (float)(upright ? area->height : area->width) / 2;
    float per_unit = pixels * look->zoom, step = marks_of(2 * half / per_unit);
    float middle = (float)(upright ? area->top : area->left) + half;
    float foot = (float)(area->top + area->height), left = (float)area->left;
    int32_t most = (int32_t)floorf(half / per_unit / step + 1e-4f);
    for (int32_t i = -most; i <= most; i++) {
        char text[32];
        snprintf(text, sizeof text, "%g", (double)((float)i * step));
        bp_real_dot(text);
        float wide = picture_text_width(text, size);
        float at = middle + (upright ? -1.0f : 1.0f) * (float)i * step * per_unit;
        if (upright)
            fill(canvas, left - 0.8f * unit, at - thin / 2, left, at + thin / 2, quiet);
        else
            fill(canvas, at - thin / 2, foot, at + thin / 2, foot + 0.8f * unit, quiet);
        picture_text(canvas, text, upright ? left - 1.6f * unit - wide : at - wide / 2,
                     upright ? at + size / 2 : foot + 1.6f * unit + size, size, 1, quiet);
    }
}

static void draw_frame(const picture_canvas *canvas, const picture_look *look, const picture_area *area)
{
    float thin = fmaxf(0.12f * (float)look->height / 100, 1);
    float left = (float)area->left, top = (float)area->top, right = left + (float)area->width,
          foot = top + (float)area->height;
    fill(canvas, left - thin, top - thin, right + thin, top, line);
    fill(canvas, left - thin, foot, right + thin, foot + thin, line);
    fill(canvas, left - thin, top, left, foot, line);
    fill(canvas, right, top, right + thin, foot, line);
}

/* "1,000,000 sprites". */
static void counted(char *text, size_t size, uint32_t count, const char *what)
{
    char digits[32], grouped[48];
    int length = snprintf(digits, sizeof digits, "%u", (unsigned)count), used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            grouped[used++] = ',';
        grouped[used++] = digits[i];
    }
    grouped[used] = '\0';
    snprintf(text, size, "%s %.300s", grouped, what);
}

/* A few balls in their colours, and points of light; behind each what they are. */
static void draw_legend(const picture_canvas *canvas, const picture_look *look, const picture_area *area,
                        const picture_counts *counts)
{
    float unit = (float)look->height / 100, size = 2.2f * unit, x = (float)area->left;
    float y = (float)look->height - 2.2f * unit, middle = y - size / 2;
    char text[400];
    for (uint32_t i = 0; i < 3 && i < counts->shown; i++, x += 1.9f * unit) {
        disc(canvas, x + 0.9f * unit, middle, 0.95f * unit, counts->colours[i]);
        disc(canvas, x + 0.6f * unit, middle - 0.3f * unit, 0.25f * unit, (bp_colour_t){1, 1, 1, 0.7f});
    }
    counted(text, sizeof text, counts->balls, look->balls_are);
    picture_text(canvas, text, x + 1.2f * unit, y, size, 1, bright);
    x += 1.2f * unit + picture_text_width(text, size) + 4 * unit;
    for (uint32_t i = 0; i < 14; i++) {
        uint32_t mixed = i * 2654435761u;
        bp_colour_t colour = counts->shown > 0 ? counts->colours[i % counts->shown] : bright;
        float right = (float)(mixed >> 24) / 64, down = (float)(mixed >> 16 & 255) / 128 - 1;
        disc(canvas, x + right * unit, middle + down * unit, 0.2f * unit, colour);
    }
    counted(text, sizeof text, counts->points, look->points_are);
    picture_text(canvas, text, x + 5.2f * unit, y, size, 1, bright);
}

void picture_label(const picture_canvas *canvas, const picture_look *look, const picture_area *area,
                   const picture_counts *counts, const char *when)
{
    float unit = (float)look->height / 100, size = 3.4f * unit, small = 2.2f * unit;
    float right = (float)(area->left + area->width);
    picture_text(canvas, look->title, (float)area->left, 6.9f * unit, size, 1.15f, bright);
    picture_text(canvas, when, right - picture_text_width(when, small), (float)look->height - 2.2f * unit, small, 1,
                 quiet);
    draw_frame(canvas, look, area);
    draw_scale(canvas, look, area, false);
    draw_scale(canvas, look, area, true);
    draw_legend(canvas, look, area, counts);
}
