/* sprite.h - the fields of the component sprite, and the frame that its plugin fills at every step.
 *
 *     const bp_sprite_api *sprites = api->registry->find(host, BP_SPRITE_API, 1);
 *     bp_manager_t *m = api->world->manager(world, api->world->component(world, BP_SPRITE));
 *     uint32_t count;
 *     const bp_sprite_t *frame = sprites->frame(m, &count);
 *     upload(frame, count * sizeof *frame);
 *
 * A frame is what a renderer copies to the graphics card: one bp_sprite_t for each entity that has `position`
 * and `sprite`, packed, floats only. Its layout is that of A. Pranckevicius, "Entity Component Systems & Data
 * Oriented Design" (Unity Training Academy, 2018). Their order is that of the rows, which changes when
 * entities end.
 *
 * What it does not do: it draws nothing, and knows no textures; `index` is a number in the renderer's atlas.
 */
#ifndef BP_COMPONENTS_SPRITE_H
#define BP_COMPONENTS_SPRITE_H

#include "../bp_component.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_SPRITE "sprite"
#define BP_SPRITE_API "sprite"

/* Its fields, in the order of declaration. */
enum {
    BP_SPRITE_COLOUR = 0, /* bp_vec3_t: red, green and blue, from 0 to 1 */
    BP_SPRITE_INDEX = 1,  /* int32_t, from 0 */
    BP_SPRITE_SCALE = 2   /* float, from 0: how wide, in units of the world */
};

/* One sprite of a frame. Lengths are those of the world times the plugin's option `zoom`. */
typedef struct bp_sprite_t {
    float x, y;
    float scale;
    float red, green, blue;
    float index;
} bp_sprite_t;

/* What its entries return, for the `returns` of bp_table_t. */
#define BP_SPRITE_RETURNS "p"

typedef struct bp_sprite_api {
    uint32_t struct_size;
    uint32_t version;

    /* The frame of the last step, and how many sprites it has; NULL and 0 before the first step and where the
     * world has no system that fills it. Good until the next step. [main] */
    const bp_sprite_t *(BP_CALL *frame)(bp_manager_t *m, uint32_t *count);
} bp_sprite_api;

BP_STATIC_ASSERT(sizeof(bp_sprite_t) == 28, "a sprite of a frame is seven floats");

#ifdef __cplusplus
}
#endif
#endif
