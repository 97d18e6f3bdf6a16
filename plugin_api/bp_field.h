/* bp_field.h - how a plugin declares a field, a property or an option.
 *
 * One declaration serves all three: a stored field of a component is a column of the world's store and a
 * property; a property of a component with storage of its own is served by that component's get and set; an
 * option is a value that the ini gives to a plugin. From it come storage, look-up by name, defaults, range
 * checks, help texts, the console, recording, and migration when a reloaded plugin declares other fields.
 *
 * Defaults and limits are text, in the syntax of the console and the ini: "1.5", "0 0 1", "true", "#ff8000",
 * "hello". Text is the same for every type, is checked when the plugin is loaded, and needs no room for
 * sixteen kinds of constants in the contract.
 *
 *     static const bp_field_t fields[] = {
 *         {.name = "mass", .type = BP_F32, .initial = "1", .min = "0", .unit = "kg", .doc = "inertial mass"},
 *         {.name = "position", .type = BP_VEC3, .unit = "m"},
 *     };
 *
 * What this header does not do: a field has one value. Arrays and nested structures are not field types.
 */
#ifndef BP_FIELD_H
#define BP_FIELD_H

#include "bp_types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BP_FIELD_READ_ONLY = 1u << 0, /* `set` is refused from outside; the plugin itself writes the column */
    BP_FIELD_REQUIRED = 1u << 1,  /* of options: the ini must give it */
    BP_FIELD_PATH = 1u << 2,      /* of string options: the path of a file; one that is relative is made relative to
                                     the ini that gives it. Defaults are taken as they stand. */
    /* since 1.1 */
    BP_FIELD_PARENT = 1u << 3,    /* of a BP_ENTITY field: the entity that this one is a child of. A scene's `children`
                                     set it, and trees are drawn from it. */
    BP_FIELD_LABEL = 1u << 4      /* of a BP_STRING field: what people call the entity. Takes the name that a scene gives
                                     to the entity, where the scene does not set it. */
};

/* A field. Every member but name and type may be left zero. Texts are copied by the host. */
typedef struct bp_field_t {
    const char *name;        /* letters, digits, underscore; at most 63 bytes; unique in its list */
    uint32_t type;           /* BP_BOOL ... BP_NAME */
    uint32_t flags;          /* BP_FIELD_... */
    const char *initial;     /* value of a new instance; NULL: zero, "", the identity of quat and mat4 */
    const char *min;         /* smallest value of a number, or of each part of a vector; NULL: no limit */
    const char *max;         /* largest, likewise */
    const char *unit;        /* "kg", "m/s"; NULL: a bare number */
    const char *doc;         /* one line for people */
    const char *former_name; /* what it was called in an earlier version of the plugin, NULL if never renamed */
} bp_field_t;

/* A list of fields. item_size is what sizeof(bp_field_t) was when the plugin was built: later headers append
 * members, and the host reads each item by the size that its author knew. */
typedef struct bp_field_list_t {
    const bp_field_t *items;
    uint32_t count;
    uint32_t item_size;
} bp_field_list_t;

/* A list from an array: .fields = BP_LIST(fields) */
#define BP_LIST(array) {(array), (uint32_t)(sizeof(array) / sizeof((array)[0])), (uint32_t)sizeof((array)[0])}

#ifdef __cplusplus
}
#endif
#endif
