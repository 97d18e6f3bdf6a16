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

#include <math.h>
#include <string.h>

/* A frame's coordinates to pixels: column = x * scale + middle_x, row = middle_y - y * scale. */
typedef struct lens_t {
    float scale, middle_x, middle_y;
} lens_t;

static lens_t lens_of(const picture_look *look)
{
    float across = (float)look->width / (2 * look->view.x), up = (float)look->height / (2 * look->view.y);
    return (lens_t){.scale = across < up ? across : up,
                    .middle_x = (float)look->width / 2,
                    .middle_y = (float)look->height / 2};
}

static float radius_of(const lens_t *lens, const bp_sprite_t *sprite)
{
    return sprite->scale / 2 * lens->scale;
}

/* --- points --------------------------------------------------------------------------------------------- */

static bool add_light(const picture_look *look, float *light, float x, float y, const bp_sprite_t *sprite,
                      float part)
{
    if (!(x >= 0 && x < (float)look->width && y >= 0 && y < (float)look->height))
        return false;
    float *pixel = light + 4 * ((size_t)y * look->width + (size_t)x);
    pixel[0] += sprite->red * part;
    pixel[1] += sprite->green * part;
    pixel[2] += sprite->blue * part;
    pixel[3] += part;
    return true;
}

/* Add a point of light. False where nothing of the sprite is seen. */
static bool add_point(const picture_look *look, const lens_t *lens, const bp_sprite_t *sprite, float *light)
{
    float x = sprite->x * lens->scale + lens->middle_x - 0.5f;
    float y = lens->middle_y - sprite->y * lens->scale - 0.5f;
    float left = floorf(x), top = floorf(y), right_part = x - left, lower_part = y - top;
    bool seen = add_light(look, light, left, top, sprite, (1 - right_part) * (1 - lower_part));
    seen |= add_light(look, light, left + 1, top, sprite, right_part * (1 - lower_part));
    seen |= add_light(look, light, left, top + 1, sprite, (1 - right_part) * lower_part);
    return add_light(look, light, left + 1, top + 1, sprite, right_part * lower_part) || seen;
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

static void soften(const picture_look *look, float *light)
{
    size_t row = (size_t)4 * look->width;
    for (uint32_t i = 0; i < look->softness; i++) {
        for (uint32_t y = 0; y < look->height; y++)
            soften_line(light + y * row, 4, look->width);
        for (uint32_t x = 0; x < look->width; x++)
            soften_line(light + (size_t)4 * x, row, look->height);
    }
}

static uint8_t byte_of(float value)
{
    return (uint8_t)(255 * (value > 0 ? value < 1 ? value : 1 : 0) + 0.5f);
}

/* Light and background together: the more light a pixel has, the less is left of the background. */
static void develop(const picture_look *look, const float *light, float per_light, uint8_t *pixels)
{
    const float behind[3] = {look->background.r, look->background.g, look->background.b};
    size_t count = (size_t)look->width * look->height;
    for (size_t i = 0; i < count; i++) {
        float amount = light[4 * i + 3], shown = 1 - expf(-amount * per_light);
        for (size_t c = 0; c < 3; c++) {
            float mean = amount > 0 ? light[4 * i + c] / amount : 0;
            pixels[3 * i + c] = byte_of(behind[c] + (mean - behind[c]) * shown);
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

static void draw_ball(const picture_look *look, const lens_t *lens, const bp_sprite_t *sprite,
                      uint8_t *pixels)
{
    const float colour[3] = {sprite->red, sprite->green, sprite->blue};
    float radius = radius_of(lens, sprite);
    float x = sprite->x * lens->scale + lens->middle_x, y = lens->middle_y - sprite->y * lens->scale;
    float left = fmaxf(floorf(x - radius - 1), 0), right = fminf(x + radius + 1, (float)look->width - 1);
    float top = fmaxf(floorf(y - radius - 1), 0), bottom = fminf(y + radius + 1, (float)look->height - 1);
    for (float row = top; row <= bottom; row++) {
        for (float column = left; column <= right; column++) {
            float dx = column + 0.5f - x, dy = row + 0.5f - y;
            float inside = radius + 0.5f - sqrtf(dx * dx + dy * dy), cover = fminf(fmaxf(inside, 0), 1);
            uint8_t *pixel = pixels + 3 * ((size_t)row * look->width + (size_t)column);
            for (size_t c = 0; c < 3; c++) {
                float behind = (float)pixel[c] / 255;
                pixel[c] = byte_of(behind + (colour[c] * shade(dx / radius, dy / radius) - behind) * cover);
            }
        }
    }
}

void picture_paint(const picture_look *look, const bp_sprite_t *sprites, uint32_t count, float *light,
                   uint8_t *pixels)
{
    size_t area = (size_t)look->width * look->height;
    lens_t lens = lens_of(look);
    uint32_t points = 0;
    memset(light, 0, area * 4 * sizeof *light);
    for (uint32_t i = 0; i < count; i++) {
        if (radius_of(&lens, &sprites[i]) < look->points)
            points += add_point(look, &lens, &sprites[i], light);
    }
    soften(look, light);
    develop(look, light, points > 0 ? look->exposure * (float)area / (float)points : 0, pixels);
    for (uint32_t i = 0; i < count; i++) {
        if (radius_of(&lens, &sprites[i]) >= look->points)
            draw_ball(look, &lens, &sprites[i], pixels);
    }
}
