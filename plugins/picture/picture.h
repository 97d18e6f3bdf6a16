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
    PICTURE_SOFTNESS,
    PICTURE_WHITES,
    PICTURE_VIVID,
    PICTURE_TITLE,
    PICTURE_ZOOM,
    PICTURE_POINTS_ARE,
    PICTURE_BALLS_ARE
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
    float whites;           /* the part of their light that points without a colour keep */
    float vivid;            /* the part of their grey that points lose */
    float zoom;             /* units of the frame for one of the world */
    const char *title;      /* "": no labels at all */
    const char *points_are, *balls_are;
} picture_look;

/* Where the frame is drawn: all of the picture, or what the labels leave of it. */
typedef struct picture_area {
    uint32_t left, top, width, height;
} picture_area;

/* Red, green and blue bytes, rows from the top. */
typedef struct picture_canvas {
    uint8_t *pixels;
    uint32_t width, height;
} picture_canvas;

/* What was painted. */
typedef struct picture_counts {
    uint32_t points, balls, shown; /* shown: of the colours that are given */
    bp_colour_t colours[8];        /* of the first balls */
} picture_counts;

/* paint.c: the frame into the area of the canvas. `light` is room for 4 floats a pixel of the area. */
void picture_paint(const picture_look *look, const picture_area *area, const bp_sprite_t *sprites, uint32_t count,
                   float *light, const picture_canvas *canvas, picture_counts *counts);
float picture_scale(const picture_look *look, const picture_area *area); /* pixels for a unit of the frame */

/* labels.c: does the picture have labels (a title is given, and there is room); the area that the labels leave; and the
 * labels around it, `when` among them. */
bool picture_is_labelled(const picture_look *look);
picture_area picture_inside(const picture_look *look);
void picture_label(const picture_canvas *canvas, const picture_look *look, const picture_area *area,
                   const picture_counts *counts, const char *when);

/* letters.c: a text with its baseline at y, capitals `size` pixels high; how wide it is; and part of a pixel. */
void picture_text(const picture_canvas *canvas, const char *text, float x, float y, float size, float weight,
                  bp_colour_t colour);
float picture_text_width(const char *text, float size);
void picture_blend(const picture_canvas *canvas, int32_t column, int32_t row, bp_colour_t colour, float cover);

/* png.c: both return false with a sentence in `message`. The file appears when it is whole. */
bool picture_try(const char *path, char message[PICTURE_MESSAGE]);
bool picture_write(const bp_system_t *s, const char *path, const uint8_t *pixels, uint32_t width, uint32_t height,
                   char message[PICTURE_MESSAGE]);

#endif
