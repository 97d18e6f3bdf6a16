/* component_slot.h - a component type as the registry keeps it: what its plugin declared, copied, and every field it ever had.
 *
 * Everything that a plugin declares is checked and copied before its slot changes, so that a refused declaration leaves the slot
 * as it was, and nothing but function addresses points into the image afterwards.
 *
 * `memory` is the registry's account; `base` has the names, strings and errors. Slots stay where they are.
 *
 * What it does not do: it finds no slot by its name (registry.h).
 */
#ifndef HOST_PLUGIN_COMPONENT_SLOT_H
#define HOST_PLUGIN_COMPONENT_SLOT_H

#include "plugin.h"

enum { REGISTRY_MAX_FIELDS = 255 }; /* of a component */

/* A field that a component declares or has once declared: what is known of a name, for as long as the registry. Whoever
 * resolved a property holds this, and finds from it where the field is now. */
typedef struct known_field_t {
    char *name;
    bp_name_t hash;
    const field_t *field;          /* its present declaration, NULL: the component has no such field now */
    uint32_t index;                /* of `field` in the component's list */
    struct known_field_t *renamed; /* what it is called now, where it has gone under another name */
} known_field_t;

/* A component type. */
typedef struct component_t {
    bp_component_i table; /* verbs of the owner; name and doc point to the copies below */
    char *name, *doc, *reads, *writes;
    plugin_t *owner;      /* NULL: gone; the table is then all zero but for its name */
    field_t *fields;
    known_field_t **bound; /* of each field */
    uint32_t field_count;
    bool own_storage;

    known_field_t **known; /* all that ever were; these stay with the slot */
    uint32_t known_count, known_capacity;
} component_t;

/* An empty slot; NULL when out of memory. */
component_t *component_new(memory_t *memory, const char *name);
void component_free(base_t *base, memory_t *memory, component_t *slot);

/* May a component be declared so? Its list of fields is judged while it is copied. */
bp_result_t component_check(error_text_t *error, const bp_component_i *declared);

/* Copy a declaration, already checked, to `made`, which is empty and may be the slot itself. */
bp_result_t component_declare(base_t *base, memory_t *memory, plugin_t *owner, const bp_component_i *declared, component_t *slot,
                              component_t *made);

/* Free what a slot, or what is to come into one, holds; names of fields that were known stay known. */
void component_empty(base_t *base, memory_t *memory, component_t *slot);

/* Bring what is known of fields in step with what the slot declares; `before`: what it declared, or NULL. */
void component_know_fields(component_t *slot, const component_t *before);

/* What a field is called now, from what it was called; NULL where it has gone. [main] */
const known_field_t *registry_follow(const known_field_t *field);

#endif
