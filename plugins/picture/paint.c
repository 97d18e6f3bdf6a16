/* paint.c - from a frame of sprites to pixels.
 *
 * Small sprites are points of light: each adds its colour to the four pixels around it. The brightness of a
 * pixel says how many points there are, since a million of them drawn one over the other would only show the
 * last ones. Large sprites are drawn on top as balls, in their order.
 *
 * A sprite's picture in its atlas is not drawn: there are no textures here. Colours are taken as shown,
 * without a curve.
 */
#include "picture.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A frame's coordinates to pixels of the area: column = x * scale + middle_x, row = middle_y - y * scale. */
typedef struct lens_t {
    float scale, middle_x, middle_y;
    const picture_area *area;
} lens_t;

float picture_scale(const picture_look *look, const picture_area *area)
{
    float across = (float)area->width / (2 * look->view.x), up = (float)area->height / (2 * look->view.y);
    return across < up ? across : up;
}

static lens_t lens_of(const picture_look *look, const picture_area *area)
{
    return (lens_t){.scale = picture_scale(look, area),
                    .middle_x = (float)area->width / 2,
                    .middle_y = (float)area->height / 2,
                    .area = area};
}

static float radius_of(const lens_t *lens, const bp_sprite_t *sprite)
{
    return sprite->scale / 2 * lens->scale;
}

/* Have the colours a value, and the other numbers too? What has none paints nothing. */
static bool is_painted(const bp_sprite_t *sprite)
{
    float sum = fabsf(sprite->red) + fabsf(sprite->green) + fabsf(sprite->blue);
    return sum <= FLT_MAX && sprite->x == sprite->x && sprite->y == sprite->y && sprite->scale == sprite->scale;
}

/* --- points --------------------------------------------------------------------------------------------- */

/* The light that a sprite gives: its colour with less grey in it, and how much of it. */
typedef struct glow_t {
    float colour[3], amount;
} glow_t;

static glow_t glow_of(const picture_look *look, const bp_sprite_t *sprite)
{
    glow_t glow = {.colour = {sprite->red, sprite->green, sprite->blue}};
    float least = fminf(fminf(sprite->red, sprite->green), sprite->blue);
    float most = fmaxf(fmaxf(sprite->red, sprite->green), sprite->blue);
    float colourful = most > 0 ? (most - least) / most : 0, grey = look->vivid * least;
    for (size_t c = 0; c < 3 && most > grey; c++)
        glow.colour[c] = (glow.colour[c] - grey) / (most - grey) * most;
    glow.amount = look->whites + (1 - look->whites) * fminf(2 * colourful, 1);
    return glow;
}

static bool add_light(const lens_t *lens, float *light, float x, float y, const glow_t *glow, float part)
{
    if (!(x >= 0 && x < (float)lens->area->width && y >= 0 && y < (float)lens->area->height))
        return false;
    float *pixel = light + 4 * ((size_t)y * lens->area->width + (size_t)x);
    part *= glow->amount;
    pixel[0] += glow->colour[0] * part;
    pixel[1] += glow->colour[1] * part;
    pixel[2] += glow->colour[2] * part;
    pixel[3] += part;
    return true;
}

/* Add a point of light. False where nothing of the sprite is seen. */
static bool add_point(const picture_look *look, const lens_t *lens, const bp_sprite_t *sprite, float *light)
{
    glow_t glow = glow_of(look, sprite);
    float x = sprite->x * lens->scale + lens->middle_x - 0.5f;
    float y = lens->middle_y - sprite->y * lens->scale - 0.5f;
    float left = floorf(x), top = floorf(y), right_part = x - left, lower_part = y - top;
    bool seen = add_light(lens, light, left, top, &glow, (1 - right_part) * (1 - lower_part));
    seen |= add_light(lens, light, left + 1, top, &glow, right_part * (1 - lower_part));
    seen |= add_light(lens, light, left, top + 1, &glow, (1 - right_part) * lower_part);
    return add_light(lens, light, left + 1, top + 1, &glow, right_part * lower_part) || seen;
}

/* Each of `count` pixels, `stride` floats apart, becomes half of itself and a quarter of each neighbour. */
static void soften_line(float *light, size_t stride, uint32_t count)
{
    float before[4], here[4];
    memcpy(before, light, sizeof before);
    for (uint32_t i = 0; i < count; i++, light += stride) {
        const float *after = i + 1 < count ? light + stride : light;
        memcpy(here, light, sizeof here);
        for (size_t c = 0; c < 4; c++)
            light[c] = here[c] / 2 + (before[c] + after[c]) / 4;
        memcpy(before, here, sizeof before);
    }
}

static void soften(const picture_look *look, const picture_area *area, float *light)
{
    size_t row = (size_t)4 * area->width;
    for (uint32_t i = 0; i < look->softness; i++) {
        for (uint32_t y = 0; y < area->height; y++)
            soften_line(light + y * row, 4, area->width);
        for (uint32_t x = 0; x < area->width; x++)
            soften_line(light + (size_t)4 * x, row, area->height);
    }
}

static uint8_t byte_of(float value)
{
    return (uint8_t)(255 * (value > 0 ? value < 1 ? value : 1 : 0) + 0.5f);
}

static uint8_t *pixel_at(const picture_canvas *canvas, const picture_area *area, size_t column, size_t row)
{
    return canvas->pixels + 3 * ((area->top + row) * canvas->width + area->left + column);
}

/* Light and background together: the more light a pixel has, the less is left of the background. */
static void develop(const picture_look *look, const picture_area *area, const float *light, float per_light,
                    const picture_canvas *canvas)
{
    const float behind[3] = {look->background.r, look->background.g, look->background.b};
    for (size_t i = 0; i < (size_t)area->width * area->height; i++) {
        uint8_t *pixel = pixel_at(canvas, area, i % area->width, i / area->width);
        float amount = light[4 * i + 3], shown = 1 - expf(-amount * per_light);
        for (size_t c = 0; c < 3; c++) {
            float mean = amount > 0 ? light[4 * i + c] / amount : 0;
            pixel[c] = byte_of(behind[c] + (mean - behind[c]) * shown);
        }
    }
}

/* --- balls ---------------------------------------------------------------------------------------------- */

/* A pixel at dx, dy from the middle, in radii: darker towards the rim, with a light from the upper left. */
static float shade(float dx, float dy)
{
    float depth2 = 1 - dx * dx - dy * dy, depth = depth2 > 0 ? sqrtf(depth2) : 0;
    float lit = depth * 0.7f - dx * 0.4f - dy * 0.5f;
    return 0.45f + 0.55f * (lit > 0 ? lit : 0) + (lit > 0.9f ? (lit - 0.9f) * 5 : 0);
}

static void draw_ball(const lens_t *lens, const bp_sprite_t *sprite, const picture_canvas *canvas)
{
    const picture_area *area = lens->area;
    const float colour[3] = {sprite->red, sprite->green, sprite->blue};
    float radius = radius_of(lens, sprite);
    float x = sprite->x * lens->scale + lens->middle_x, y = lens->middle_y - sprite->y * lens->scale;
    float left = fmaxf(floorf(x - radius - 1), 0), right = fminf(x + radius + 1, (float)area->width - 1);
    float top = fmaxf(floorf(y - radius - 1), 0), bottom = fminf(y + radius + 1, (float)area->height - 1);
    for (float row = top; row <= bottom; row++) {
        for (float column = left; column <= right; column++) {
            float dx = column + 0.5f - x, dy = row + 0.5f - y;
            float inside = radius + 0.5f - sqrtf(dx * dx + dy * dy), cover = fminf(fmaxf(inside, 0), 1);
            uint8_t *pixel = pixel_at(canvas, area, (size_t)column, (size_t)row);
            for (size_t c = 0; c < 3; c++) {
                float behind = (float)pixel[c] / 255;
                pixel[c] = byte_of(behind + (colour[c] * shade(dx / radius, dy / radius) - behind) * cover);
            }
        }
    }
}

static void count_ball(picture_counts *counts, const bp_sprite_t *sprite)
{
    counts->balls++;
    if (counts->shown < sizeof counts->colours / sizeof counts->colours[0])
        counts->colours[counts->shown++] = (bp_colour_t){sprite->red, sprite->green, sprite->blue, 1};
}

void picture_paint(const picture_look *look, const picture_area *area, const bp_sprite_t *sprites, uint32_t count,
                   float *light, const picture_canvas *canvas, picture_counts *counts)
{
    size_t pixels = (size_t)area->width * area->height;
    lens_t lens = lens_of(look, area);
    uint32_t points = 0;
    *counts = (picture_counts){.points = 0};
    memset(light, 0, pixels * 4 * sizeof *light);
    for (uint32_t i = 0; i < count; i++) {
        bool point = radius_of(&lens, &sprites[i]) < look->points;
        counts->points += point;
        if (point && is_painted(&sprites[i]))
            points += add_point(look, &lens, &sprites[i], light);
    }
    soften(look, area, light);
    develop(look, area, light, points > 0 ? look->exposure * (float)pixels / (float)points : 0, canvas);
    for (uint32_t i = 0; i < count; i++) {
        if (radius_of(&lens, &sprites[i]) < look->points)
            continue;
        if (is_painted(&sprites[i]))
            draw_ball(&lens, &sprites[i], canvas);
        count_ball(counts, &sprites[i]);
    }
}
