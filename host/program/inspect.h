/* inspect.h - the entities of a world, their names and components, and the meaning of paths.
 *
 * A path reads world/entity.component.property; the shorter forms world/entity and world/entity.component
 * name all components of an entity, or all properties of one. What belongs to the world itself is
 * world.component.property, world.component, or world.
 *
 * Not here: changing anything; every function only reads.
 */
#ifndef HOST_PROGRAM_INSPECT_H
#define HOST_PROGRAM_INSPECT_H

#include "program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WHY_MAX = 512, ENTITY_TEXT_MAX = 32 };

/* One component of an entity. Texts are the host's. */
typedef struct attached_t {
    const char *name; /* its instance name in the entity */
    const char *type;
} attached_t;

/* The components of an entity in a world, in canonical order. */
typedef struct attached_list_t {
    attached_t *items;
    uint32_t count;
} attached_list_t;

/* The name and type of the component that a key of a world stands for. */
attached_t inspect_attached(const program_t *program, bp_world_o *world, uint32_t key);

/* Fill `list`; empty for the dead. false when out of memory. Release it with inspect_release. */
bool inspect_components(const program_t *program, bp_world_o *world, bp_entity_t entity,
                        attached_list_t *list);
void inspect_release(attached_list_t *list);

/* The `index`-th component type of all plugins, NULL past the last. */
const char *inspect_type(const program_t *program, uint32_t index);

/* The debug name of an entity, NULL where it has none. Good until the next call. */
const char *inspect_name(const program_t *program, bp_world_o *world, bp_entity_t entity);

/* The figures of a world. */
bp_look_world_t inspect_figures(const program_t *program, bp_world_o *world);

/* The world of that name. NULL with a sentence in `why`. */
bp_world_o *inspect_world(const program_t *program, const char *name, char why[WHY_MAX]);

typedef enum target_kind_t { TARGET_ENTITY, TARGET_COMPONENT, TARGET_PROPERTY } target_kind_t;

/* The thing that a path names. */
typedef struct target_t {
    target_kind_t kind;
    bp_world_o *world;
    bp_entity_t entity;
    attached_t component; /* where kind is TARGET_COMPONENT */
    bp_path_t path;       /* where kind is TARGET_PROPERTY */
} target_t;

/* The living entity that `text` names in `world`: an id or a debug name. false with a sentence in `why`. */
bool inspect_entity(const program_t *program, bp_world_o *world, const char *text, bp_entity_t *entity,
                    char why[WHY_MAX]);

/* The living entity that `text` names, whatever its world: world/entity, an id, or a debug name that only one in all
 * worlds has. false with a sentence in `why`. */
bool inspect_any_entity(const program_t *program, const char *text, bp_entity_t *entity, char why[WHY_MAX]);

/* Find out what `path` names. false with a sentence in `why`. */
bool inspect_path(const program_t *program, const char *path, target_t *target, char why[WHY_MAX]);

#endif
