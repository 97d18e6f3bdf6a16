/* path.h - texts that name one property of one entity: world/entity.component.property.
 *
 * The entity is a debug name or #index:generation. Debug names come from the plugin that offers the table "debug_name";
 * without one only the # form is understood. A debug name may contain dots and slashes: the world ends at the first
 * slash, the component begins after the last dot but one.
 *
 * What belongs to a world itself (BP_COMPONENT_WORLD) is world.component.property, without a slash.
 *
 * Not here: patterns, lists of paths.
 */
#ifndef HOST_PROPERTY_PATH_H
#define HOST_PROPERTY_PATH_H

#include "../store/destruction.h"
#include "property.h"

/* The worlds in which a path may lie. Borrowed. */
typedef struct path_worlds_t {
    base_t *base;
    const destruction_t *of;
} path_worlds_t;

/* The world of a name, or NULL with an error that suggests the nearest. [main] */
world_t *path_world(const path_worlds_t *worlds, const char *name);

/* As bp_property_api.parse_path, get_text and set_text. [main] */
bp_result_t path_parse(const path_worlds_t *worlds, const char *text, bp_path_t *path);
bp_result_t path_get_text(const bp_path_t *path, char *text, size_t size);

/* As bp_property_api.format. [main] */
bp_result_t path_format(bp_world_o *world, const bp_property_t *property, const void *value, char *text, size_t size);

bp_result_t path_set_text(const bp_path_t *path, const char *text);

#endif
