/* picture.h - what the files of the plugin picture share.
 *
 * Not here: anything for other plugins.
 */
#ifndef PICTURE_PICTURE_H
#define PICTURE_PICTURE_H

#include <bp_plugin.h>
#include <components/sprite.h>

#include <stdbool.h>

/* The options of the plugin, in the order of declaration. */
enum {
    PICTURE_FILE,
    PICTURE_WIDTH,
    PICTURE_HEIGHT,
    PICTURE_VIEW,
    PICTURE_BACKGROUND,
    PICTURE_POINTS,
    PICTURE_EXPOSURE,
    PICTURE_SOFTNESS
};

#define PICTURE_MESSAGE 512 /* bytes of a sentence */

/* How a frame becomes pixels. */
typedef struct picture_look {
    uint32_t width, height;
    bp_vec2_t view;         /* half of what is seen, around 0 0, in units of the frame */
    bp_colour_t background;
    float points;           /* sprites with a smaller radius, in pixels, are points of light */
    float exposure;         /* of the points of light: 1 shows the mean density at two thirds of their colour */
    uint32_t softness;      /* how often the points' light is spread to neighbouring pixels */
} picture_look;

/* paint.c: red, green and blue bytes, rows from the top. `light` is room for width * height * 4 floats. */
void picture_paint(const picture_look *look, const bp_sprite_t *sprites, uint32_t count, float *light,
                   uint8_t *pixels);

/* png.c: both return false with a sentence in `message`. The file appears when it is whole. */
bool picture_try(const char *path, char message[PICTURE_MESSAGE]);
bool picture_write(const bp_system_t *s, const char *path, const uint8_t *pixels, uint32_t width, uint32_t height,
                   char message[PICTURE_MESSAGE]);

#endif
