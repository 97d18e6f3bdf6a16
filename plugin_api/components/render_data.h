/* render_data.h - the fields of the component render_data: settings of screen effects, for renderers.
 *
 * An entity may have several, each under a name of its own; "fog" and "vignette" are two that most renderers
 * know. What a setting means depends on the effect:
 *
 *   fog       a pixel at distance d is mixed with `colour` by
 *             intensity * clamp((d - near) / (far - near), 0, 1) ^ exponent
 *   vignette  a pixel at distance r from the middle (1 in the corners) is mixed with `colour` by
 *             intensity * smoothstep(radius - softness / 2, radius + softness / 2, r)
 *
 * Effects are applied in ascending `order`; a mix is linear and clamped to 0..1. Settings that an effect does
 * not mention are free for other effects.
 *
 * What it does not do: the engine draws nothing. The plugin camera lists the settings of a camera in order (camera.h).
 */
#ifndef BP_COMPONENTS_RENDER_DATA_H
#define BP_COMPONENTS_RENDER_DATA_H

#include "../bp_component.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_RENDER_DATA "render_data"

/* Its fields, in the order of declaration. */
enum {
    BP_RENDER_DATA_ENABLED = 0,   /* uint8_t */
    BP_RENDER_DATA_EFFECT = 1,    /* bp_name_t; 0: the component's own name in its entity */
    BP_RENDER_DATA_ORDER = 2,     /* int32_t */
    BP_RENDER_DATA_INTENSITY = 3, /* float, from 0 */
    BP_RENDER_DATA_COLOUR = 4,    /* bp_colour_t */
    BP_RENDER_DATA_NEAR = 5,      /* float, m, from 0 */
    BP_RENDER_DATA_FAR = 6,       /* float, m, from 0 */
    BP_RENDER_DATA_EXPONENT = 7,  /* float, from 0 */
    BP_RENDER_DATA_RADIUS = 8,    /* float, from 0; 1 reaches the corners */
    BP_RENDER_DATA_SOFTNESS = 9   /* float, 0 to 1 */
};

#ifdef __cplusplus
}
#endif
#endif
