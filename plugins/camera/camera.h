/* camera.h - the parts of the plugin: a camera's matrix, the meshes that it sees, and its effects.
 *
 * Not here: state; nothing is kept between calls.
 */
#ifndef CAMERA_CAMERA_H
#define CAMERA_CAMERA_H

#include <bp_plugin.h>
#include <components/camera.h>
#include <components/render_data.h>
#include <components/transform.h>

#include <stdbool.h>

enum { CAMERA_KEYS = 255 }; /* components that an entity can have: docs/scenes.md */

/* As bp_camera_api says. */
bp_result_t camera_matrix(bp_manager_t *m, bp_entity_t camera, bp_mat4_t *view_projection);
bp_result_t camera_draws(bp_manager_t *m, bp_entity_t camera, bp_camera_draw_t *draws, uint32_t capacity,
                         uint32_t *count);
bp_result_t camera_effects(bp_manager_t *m, bp_entity_t camera, bp_camera_effect_t *effects, uint32_t capacity,
                           uint32_t *count);

/* The type of a component of an entity, by its key, and its name there. */
uint32_t camera_component(bp_manager_t *m, uint32_t key, bp_name_t *name);

/* Leave an error with a sentence about the camera's entity. */
bp_result_t camera_refuse(bp_manager_t *m, bp_result_t code, bp_entity_t camera, const char *why);

#endif
