/* look.h - worlds, entities, components and fields as the methods want them: by names, as texts, as numbers of the Bevy
 * Remote Protocol. Everything goes over the tables of the contract.
 *
 * Names. A component of an entity has a type ("point_mass") and a name of its own in the entity ("body"). To clients
 * the component is called "point_mass::body", or "point_mass" where both are the same; in questions of clients, the
 * type or the name alone will do. An entity is the number generation << 32 | index, generations counted from 1, as in
 * "#index:generation".
 *
 * Not here: state; nothing is kept from turn to turn, since anything may go between two steps.
 */
#ifndef INSPECTOR_LOOK_H
#define INSPECTOR_LOOK_H

#include "inspector.h"

enum { LOOK_NAME_MAX = 512, LOOK_PARTS_MAX = 64, LOOK_ID_MAX = 48 };

/* The world of that name; "": the first world. NULL where there is no such world. */
bp_world_o *look_world(const inspector_t *in, const char *name);

/* --- types and fields ----------------------------------------------------------------------------------------- */

typedef struct look_type_t {
    const char *name, *doc, *plugin; /* doc and plugin may be "" */
    uint32_t flags;                  /* BP_COMPONENT_... */
} look_type_t;

/* The `index`-th component type of all plugins; false past the last. */
bool look_type(const inspector_t *in, uint32_t index, look_type_t *type);

/* Field number `index` of a type; false past the last. */
bool look_field(const inspector_t *in, const char *type, uint32_t index, bp_field_t *field);

/* The number of the field of that name, BP_NONE where there is none; and the nearest name there is, NULL where none is
 * near. */
uint32_t look_field_named(const inspector_t *in, const char *type, const char *name, bp_field_t *field);
const char *look_field_near(const inspector_t *in, const char *type, const char *name, char near[64]);

/* --- components of entities ----------------------------------------------------------------------------------- */

typedef struct look_part_t {
    uint32_t key, component;
    const char *name, *type; /* good until the next call of the host */
} look_part_t;

/* The components of an entity; at most LOOK_PARTS_MAX are written. */
uint32_t look_parts(const inspector_t *in, bp_world_o *world, bp_entity_t entity, look_part_t parts[LOOK_PARTS_MAX]);

/* The component and the name that a key stands for. */
bool look_part(const inspector_t *in, bp_world_o *world, uint32_t key, look_part_t *part);

/* "type::name", or "type". */
void look_full_name(const look_part_t *part, char name[LOOK_NAME_MAX]);

/* Does a client call the part `wanted`: in full, by its type, or by its name? No part is called anything that the world
 * has dropped. */
bool look_is_called(const look_part_t *part, const char *wanted);

/* --- entities ------------------------------------------------------------------------------------------------- */

/* The number of a world that there is, which no other world of the host has or had; 0: there is no such world. */
uint64_t look_world_number(const inspector_t *in, const bp_world_o *world);

/* The living entity of an index and generation, which may be the one that bears the components of a world itself. {0}
 * where no such entity lives. */
bp_entity_t look_entity(const inspector_t *in, uint32_t index, uint64_t generation);

/* The living entity called "#index:generation", or of that debug name in the world, the first of several. {0} where
 * there is none. */
bp_entity_t look_entity_named(const inspector_t *in, bp_world_o *world, const char *text);

/* The number of an entity for clients. */
uint64_t look_number(const inspector_t *in, bp_entity_t entity);

/* The name of an entity for people (its debug name), NULL where it has no name. Good until the next call of the
 * host. */
const char *look_label(const inspector_t *in, bp_world_o *world, bp_entity_t entity);

/* Write an entity as a JSON number, or null for {0}. */
void look_write_entity(const inspector_t *in, writer_t *w, bp_entity_t entity);

#endif
