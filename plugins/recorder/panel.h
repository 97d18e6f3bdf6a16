/* panel.h - the panels of a picture: what is drawn in each, and where a value lies in it.
 *
 * First come the planes, for each vector property a plane that fits, or for the first property a plane for each entry
 * of svg_panels; then a panel for each reference (curves that are differences, seen from the reference); then a panel
 * for each scalar property, over time. What worlds measure in other units has panels of its own.
 *
 * Not here: drawing, and where in the picture a panel stands.
 */
#ifndef RECORDER_PANEL_H
#define RECORDER_PANEL_H

#include "recorder.h"

enum { PANEL_PLANE, PANEL_RELATIVE, PANEL_TIMES };

enum {
    PANEL_SIDE = 400,  /* of a panel, in pixels */
    PANEL_TENTHS = 10  /* of a pixel in a pixel */
};

typedef struct recorder_panel {
    int32_t kind;
    int32_t left, top; /* of the frame, in pixels; set when it is drawn */
    uint32_t first;    /* a source that is drawn in it */
    int32_t given;     /* its width is from svg_panels */
    int32_t padding;
    double low_x, high_x, low_y, high_y;
} recorder_panel;

/* The `number`-th panel of the picture; 0 past the last. */
int recorder_find_panel(const recorder_state *r, uint32_t number, recorder_panel *p);

/* The kind of panel that a source is drawn in; -1: in none. */
int recorder_kind(const recorder_source *s);

/* Is a source drawn in this panel? */
int recorder_is_in(const recorder_panel *p, const recorder_state *r, uint32_t source);

/* Where a value lies in the picture, in tenths of a pixel. */
int32_t recorder_across(const recorder_panel *p, double x);
int32_t recorder_down(const recorder_panel *p, double y);

/* On which sides of the panel's window a point lies: 1 left, 2 right, 4 below, 8 above; 0: in it. */
unsigned recorder_sides(const recorder_panel *p, double x, double y);

#endif
