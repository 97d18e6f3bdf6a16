/* slots.h - component types, systems and tables as the registry keeps them.
 *
 * A component type: what its plugin declared, copied, and every field it ever had.
 *
 * Everything that a plugin declares is checked and copied before its slot changes, so that a refused declaration leaves
 * the slot as it was, and afterwards only addresses of functions point into the image.
 *
 * `memory` is the registry's account; `base` has the names, strings and errors. Slots stay where they are.
 *
 * Not here: finding a slot by its name (registry.h).
 */
#ifndef HOST_PLUGIN_SLOTS_H
#define HOST_PLUGIN_SLOTS_H

#include "plugin.h"
#include "terms.h"

enum { REGISTRY_MAX_FIELDS = 255 }; /* of a component */

/* A field that a component declares or has once declared: the record of a name, kept as long as the registry. A
 * resolved property holds this record's address, and finds the field's present place by it. */
typedef struct known_field_t {
    char *name;
    bp_name_t hash;
    const field_t *field;          /* its present declaration, NULL: the component has no such field now */
    uint32_t index;                /* of `field` in the component's list */
    float min_f32, max_f32;        /* those of `field`, here for setting one value without reading `field` */
    struct known_field_t *renamed; /* the field that continues this one under another name; NULL: none */
} known_field_t;

/* Where the verbs of an extension of this name go: as many bytes as both the plugin and the host know. */
typedef struct extension_place_t {
    const char *name;
    void *verbs;
    uint32_t size;
} extension_place_t;

/* Copy the verbs of a list of extensions to their places. An extension without a place is told in the log, or refused
   where it is required. [main] */
bp_result_t extensions_read(base_t *base, const char *plugin, const bp_extension_list_t *list,
                            const extension_place_t *places, uint32_t count);

/* Can a state be kept in the way that a declaration says? `saves`: it has the verbs of bp_save. */
bp_result_t keeping_check(error_text_t *error, uint32_t keeps, uint64_t state_form, bool saves);

/* Copy which deaths are asked for; `own` is the component that asks, NULL for a system and a plugin. What is copied is
 * given back by deaths_release, where copying has failed too. */
bp_result_t deaths_copy(base_t *base, memory_t *memory, const bp_deaths_i *given, const char *own, deaths_t *asked);
void deaths_release(memory_t *memory, deaths_t *asked);

/* Can a component ask for the deaths of entities that this field refers to? */
bool deaths_fit(const struct component_t *component, uint32_t field);

/* The number of the field that a name stands for wherever code asks for fields by name: the field that is called so,
 * else the one that was called so in an earlier version. `hash` is that of the name. BP_NONE where there is neither.
 * [job] while no plugin comes or goes */
uint32_t component_find_field(const struct component_t *component, bp_name_t hash, const char *name);

/* A component type. */
typedef struct component_t {
    bp_component_i table; /* verbs of the owner; name and doc point to the copies below */
    bp_storage_i storage; /* verbs of its own storage, where `own_storage` says that it has one */
    bp_save_i saving;     /* verbs of each extension: NULL where the component does not have it */
    bp_report_i reporting;
    bp_rows_i rows;
    bp_deaths_i deaths;   /* ... and what it is told of: */
    deaths_t asked_deaths;
    int32_t spawn_order;
    char *name, *doc, *reads, *writes;
    plugin_t *owner;      /* NULL: gone; the table is then all zero but for its name */
    field_t *fields;       /* the hidden ones last */
    known_field_t **bound; /* of each field that is not hidden */
    uint32_t field_count;  /* of these */
    uint32_t hidden_count;
    bool own_storage;

    known_field_t **known; /* records of all fields there ever were; from here on, members stay with the slot */
    uint32_t known_count, known_capacity;
} component_t;

/* Fields that are stored in rows, hidden ones too; of declared components. */
static inline uint32_t component_columns(const component_t *component)
{
    return component->field_count + component->hidden_count;
}

/* Copy the declaration of a field, as field_init does; its default strings are counted strings like any other, since
 * rows begin by sharing them. On failure nothing is kept. [main] */
bp_result_t slot_copy_field(base_t *base, memory_t *memory, field_t *field, const bp_field_t *item,
                            uint32_t item_size);
void slot_free_field(base_t *base, memory_t *memory, field_t *field);

/* Cleared memory for a slot of `size` bytes, and a copy of its name; NULL when out of memory: nothing is held. */
void *slot_new(memory_t *memory, size_t size, const char *name, char **copy);

/* An empty slot; NULL when out of memory. A slot is freed when its plugin has gone, so that it is empty again. */
component_t *component_new(memory_t *memory, const char *name);
void component_free(memory_t *memory, component_t *slot);

/* May a component be declared in this way? Its list of fields is judged while it is copied. */
bp_result_t component_check(error_text_t *error, const bp_component_i *declared);

/* Copy a declaration, already checked, to `made`, which has the slot's name, is empty, and may be the slot itself. */
bp_result_t component_declare(base_t *base, memory_t *memory, plugin_t *owner, const bp_component_i *declared,
                              component_t *slot, component_t *made);

/* Free what a slot, or the content for one, holds; the records of names of fields stay. */
void component_empty(base_t *base, memory_t *memory, component_t *slot);

/* Bring the records of fields in step with the fields that the slot declares. The record of a name that is no longer
 * declared leads to the field that declares it as its former name. */
void component_know_fields(component_t *slot);

/* Like component_know_fields, where a list takes the place of another, `before`: the record of a name that goes with
 * `before` leads to the field that has its values, or to none. Records of other names stay, so that
 * component_restore_fields undoes the change when `before` is back. */
void component_succeed_fields(component_t *slot, const component_t *before);
void component_restore_fields(component_t *slot);

/* The slot's earlier list is back for good: the record of a name that only the withdrawn list has leads to the field
 * that its values came from, or to none. */
void component_return_fields(component_t *slot, const component_t *withdrawn);

/* The record of a field's present name, from the record of a former one; NULL where the field has gone. [main] */
const known_field_t *registry_follow(const known_field_t *field);

/* --- system slot ------------------------------------------------------------------------------------------------- */

/* A system as the registry keeps it: what its plugin declared, copied.
 *
 * Not here: matching runs (store/query.h).
 */

/* A system. */
typedef struct system_t {
    bp_system_i table;
    bp_system_report_i reporting; /* verbs of extensions, in these four members: NULL where the system has none */
    bp_system_save_i saving;
    bp_rewind_i rewinding;
    bp_system_deaths_i deaths;
    deaths_t asked_deaths;
    char *name, *doc, *before, *after, *reads, *writes;
    plugin_t *owner;
    term_t *terms;
    uint32_t term_count;
} system_t;

static inline bool system_is_output(const system_t *system)
{
    return (system->table.flags & BP_SYSTEM_OUTPUT) != 0;
}

/* An empty slot, which is empty too when it is freed; NULL when out of memory. */
system_t *system_new(memory_t *memory, const char *name);
void system_free(memory_t *memory, system_t *slot);

/* May a system be declared in this way? Its list of terms is judged while it is copied. */
bp_result_t system_check(error_text_t *error, const bp_system_i *declared);

/* Copy a declaration, already checked, to `made`, which has its slot's name, is empty, and may be the slot itself. */
bp_result_t system_declare(base_t *base, memory_t *memory, plugin_t *owner, const bp_system_i *declared,
                           system_t *made);

/* Free what a slot, or the content for one, holds. */
void system_empty(memory_t *memory, system_t *slot);

/* --- table slot -------------------------------------------------------------------------------------------------- */

/* A table that a plugin offers to others, in a place of its own.
 *
 * The slot keeps a copy of the table, so that users of the table hold the copy's address and none in the plugin's
 * image. A table that has lost its owner keeps its size, its version is 0, and its entries answer as bp_table_t.returns
 * says.
 */

enum {
    TABLE_LEAST_ROOM = 512, /* bytes of a slot, so that most later versions of the table fit; one that does not gets a
                               slot of its own */
    TABLE_MOST = 64 * 1024,
    TABLE_MOST_SLOTS = 8    /* of one name: each has twice the room of the one before, or more */
};

typedef struct table_slot_t {
    char *name;
    error_text_t *error;
    plugin_t *owner;
    size_t size;       /* room in bytes; of a table that is larger, the slot has the entries that fit */
    uint32_t *table;   /* struct_size, version, entries */
    char *returns;     /* a letter for each entry; NULL: the slot was never filled */
    void *refuse;      /* stands for entries with a result, and leaves a sentence; NULL: none can be made */
    uint32_t promised; /* version that a plugin being reloaded offers; 0: none */
} table_slot_t;

/* An empty slot with room for `size` bytes or more; NULL when out of memory. */
table_slot_t *table_slot_new(memory_t *memory, error_text_t *error, const char *name, uint32_t size);
void table_slot_free(memory_t *memory, table_slot_t *slot);

/* May a table be offered in this way? */
bp_result_t table_check(error_text_t *error, const bp_table_t *offered);

/* Put a checked table into a slot, as far as there is room. `returns` is a copy of its letters, which the slot takes
   over. */
void table_slot_fill(memory_t *memory, table_slot_t *slot, plugin_t *owner, const bp_table_t *offered, char *returns);

/* Take a table from its owner: its entries answer that no plugin offers it. */
void table_slot_silence(table_slot_t *slot);

#endif
