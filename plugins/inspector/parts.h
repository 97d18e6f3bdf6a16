/* parts.h - whole components of entities as JSON objects of their fields: written, inserted, and their names listed.
 *
 * Not here: single properties (values.h).
 */
#ifndef INSPECTOR_PARTS_H
#define INSPECTOR_PARTS_H

#include "ask.h"
#include "look.h"

/* Two components that every client of Bevy's asks for, made from declared fields: the name from the field that is an
 * entity's label, the parent from the field that names an entity's parent. Both can be read, not inserted. */
#define PARTS_NAME "bevy_ecs::name::Name"
#define PARTS_PARENT "bevy_ecs::hierarchy::ChildOf"

/* The component of an entity that a client calls `wanted`: in full, or by its type or name alone. NULL: none. */
const look_part_t *parts_find(const look_part_t *parts, uint32_t count, const char *wanted);

/* Has the entity a component called `wanted`, the two above among them? And write the component's value; false, with
 * nothing written, where the entity lacks it. */
bool parts_has(const inspector_t *in, bp_world_o *world, bp_entity_t entity, const look_part_t *parts, uint32_t count,
               const char *wanted);
bool parts_write_called(const inspector_t *in, writer_t *w, bp_world_o *world, bp_entity_t entity,
                        const look_part_t *parts, uint32_t count, const char *wanted);

/* Is it the name of a type, of a component that entities of the world have, or of one of the two above? */
bool parts_known(const inspector_t *in, bp_world_o *world, const char *wanted);

/* The field that holds an entity's parent: the name of its component and the field's own. False where the entity has no
 * such field. */
bool parts_parent_field(const inspector_t *in, const look_part_t *parts, uint32_t count, const look_part_t **part,
                        bp_field_t *field);

/* Write all fields of a component; a field that cannot be read is null. */
void parts_write(const inspector_t *in, writer_t *w, bp_world_o *world, bp_entity_t entity, const look_part_t *part);

/* Give an entity of the ask's world the components of an object {name: {field: value}}: components that the entity
 * lacks are added, and the fields that are named are set. False, with the error left, where that fails; components that
 * were added are then taken away again. */
bool parts_insert(ask_t *ask, bp_entity_t entity, const json_t *components);

/* Write the names of all components that entities of this world can have, as an array: types, and "type::name" of those
 * in use. */
void parts_write_known(const inspector_t *in, writer_t *w, bp_world_o *world);

/* Cut ".position.x" into "position" and ".x". */
enum { PARTS_PROPERTY_MAX = 64 };
bool parts_cut_path(ask_t *ask, const char *path, char property[PARTS_PROPERTY_MAX], const char **rest);

#endif
