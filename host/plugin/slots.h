/* slots.h - component types, systems and tables as the registry keeps them.
 *
 * A component type: what its plugin declared, copied, and every field it ever had.
 *
 * Everything that a plugin declares is checked and copied before its slot changes, so that a refused declaration leaves
 * the slot as it was, and nothing but function addresses points into the image afterwards.
 *
 * `memory` is the registry's account; `base` has the names, strings and errors. Slots stay where they are.
 *
 * What it does not do: it finds no slot by its name (registry.h).
 */
#ifndef HOST_PLUGIN_SLOTS_H
#define HOST_PLUGIN_SLOTS_H

#include "plugin.h"
#include "terms.h"

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

/* Where the verbs of an extension go that is known by this name: as many bytes as both sides know. */
typedef struct extension_place_t {
    const char *name;
    void *verbs;
    uint32_t size;
} extension_place_t;

/* Copy what a list of extensions has. One that has no place here is told in the log, or refused where it is required.
   [main] */
bp_result_t extensions_read(base_t *base, const char *plugin, const bp_extension_list_t *list,
                            const extension_place_t *places, uint32_t count);

/* Of which deaths a component or a system is told; of BP_DEATHS_... Texts are copies, NULL: none. */
typedef struct deaths_t {
    uint32_t which;
    char *component, *field;
} deaths_t;

/* Can deaths be told by what this field refers to? */
bool deaths_fit(const struct component_t *component, uint32_t field);

/* A component type. */
typedef struct component_t {
    bp_component_i table; /* verbs of the owner; name and doc point to the copies below */
    bp_storage_i storage; /* ... of storage of its own, */
    bp_save_i saving;     /* ... and of its extensions: NULL where it has none */
    bp_report_i reporting;
    bp_deaths_i deaths;   /* ... and what it is told of: */
    deaths_t asked_deaths;
    int32_t spawn_order;
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
bp_result_t component_declare(base_t *base, memory_t *memory, plugin_t *owner, const bp_component_i *declared,
                              component_t *slot, component_t *made);

/* Free what a slot, or what is to come into one, holds; names of fields that were known stay known. */
void component_empty(base_t *base, memory_t *memory, component_t *slot);

/* Bring what is known of fields in step with what the slot declares. A name that has gone is known as the field that
 * says that it was called so. */
void component_know_fields(component_t *slot);

/* The same where a list takes the place of another, `before`: a name that goes with it is known as the field that has
 * its values, or as gone. What is known of other names stays; so component_restore_fields undoes it when `before` is
 * back. */
void component_succeed_fields(component_t *slot, const component_t *before);
void component_restore_fields(component_t *slot);

/* The list of before is back for good: a name that only the withdrawn list has is known as the field that its values
 * came from, or as gone. */
void component_return_fields(component_t *slot, const component_t *withdrawn);

/* What a field is called now, from what it was called; NULL where it has gone. [main] */
const known_field_t *registry_follow(const known_field_t *field);

/* --- system slot ------------------------------------------------------------------------------------------------- */

/* A system as the registry keeps it: what its plugin declared, copied.
 *
 * What it does not do: it matches no runs (store/query.h).
 */

/* A system. */
typedef struct system_t {
    bp_system_i table;
    bp_system_report_i reporting; /* NULL where it has none, ... */
    bp_system_save_i saving;      /* ... as these */
    bp_rewind_i rewinding;
    bp_system_deaths_i deaths;
    deaths_t asked_deaths;
    char *name, *doc, *before, *after, *reads, *writes;
    plugin_t *owner;
    term_t *terms;
    uint32_t term_count;
} system_t;

/* An empty slot; NULL when out of memory. */
system_t *system_new(memory_t *memory, const char *name);
void system_free(memory_t *memory, system_t *slot);

/* May a system be declared so? Its list of terms is judged while it is copied. */
bp_result_t system_check(error_text_t *error, const bp_system_i *declared);

/* Copy a declaration, already checked, to `made`, which is empty and may be the slot itself. */
bp_result_t system_declare(base_t *base, memory_t *memory, plugin_t *owner, const bp_system_i *declared,
                           const system_t *slot, system_t *made);

/* Free what a slot, or what is to come into one, holds. */
void system_empty(memory_t *memory, system_t *slot);

/* --- table slot -------------------------------------------------------------------------------------------------- */

/* A table that a plugin offers to others, in a place of its own.
 *
 * The slot keeps a copy of the table, so that whoever holds its address holds no pointer into the plugin's image. A
 * table that has lost its owner keeps its size, its version is 0, and its entries answer as bp_table_t.returns says.
 */

enum {
    TABLE_LEAST_ROOM = 512, /* bytes of a slot, so that most later versions fit; one that does not gets a slot of its
                               own */
    TABLE_MOST = 64 * 1024,
    TABLE_MOST_SLOTS = 8    /* of one name: each has twice the room of the one before, or more */
};

typedef struct table_slot_t {
    char *name;
    error_text_t *error;
    plugin_t *owner;
    size_t size;       /* room; where the table is larger, the entries that fit */
    uint32_t *table;   /* struct_size, version, entries */
    char *returns;     /* of the entries, a letter each; NULL: it has none yet */
    void *refuse;      /* what stands for an entry that returns a result: leaves a sentence; NULL: it cannot be made */
    uint32_t promised; /* version that a plugin being reloaded offers; 0: none */
} table_slot_t;

/* An empty slot with room for `size` bytes or more; NULL when out of memory. */
table_slot_t *table_slot_new(memory_t *memory, error_text_t *error, const char *name, uint32_t size);
void table_slot_free(memory_t *memory, table_slot_t *slot);

/* May a table be offered so? */
bp_result_t table_check(error_text_t *error, const bp_table_t *offered);

/* Put a checked table into a slot, as far as there is room. `returns` is a copy of its letters, which the slot takes
   over. */
void table_slot_fill(memory_t *memory, table_slot_t *slot, plugin_t *owner, const bp_table_t *offered, char *returns);

/* No plugin offers it any more: the entries answer for it. */
void table_slot_silence(table_slot_t *slot);

#endif
