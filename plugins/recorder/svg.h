/* svg.h - what the files of the picture share: inner to svg.c, svg_paths.c and svg_dots.c.
 *
 * Not here: what is drawn where (panel.h).
 */
#ifndef RECORDER_SVG_H
#define RECORDER_SVG_H

#include "panel.h"

enum {
    SVG_LETTER = 7, /* the width of a letter, about */
    SVG_DOT = 4,
    SVG_RECTANGLES = 256
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
    rectangle taken[SVG_RECTANGLES]; /* by dots and names in the present panel */
    uint32_t taken_count;
    uint32_t padding;
} picture;

/* Text as XML can hold it: a file with half a letter in it would not be shown at all. */
void recorder_svg_text(FILE *file, const char *text);

/* The colour of a source; sources of one label share it. */
const char *recorder_svg_colour(const recorder_state *r, uint32_t source);

/* --- svg_paths.c: the curves and series of a panel --- */

void recorder_svg_paths(const picture *pic, const recorder_panel *p);

/* --- svg_dots.c: where bodies are, and their names --- */

void recorder_svg_dots(picture *pic, const recorder_panel *p);

/* The body that a panel's differences are seen from, in the colour that the body has elsewhere. */
void recorder_svg_reference(picture *pic, const recorder_panel *p);

/* A dot; the dots of the legend are larger than SVG_DOT by one. */
void recorder_svg_dot(FILE *file, int32_t x, int32_t y, int32_t radius, const char *colour);

/* recorder_svg_letters counts the letters of a text in UTF-8; recorder_svg_shown gives as many bytes of a name as are
 * shown. */
int32_t recorder_svg_letters(const char *text);
int recorder_svg_shown(size_t length);

#endif
