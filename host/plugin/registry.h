/* registry.h - slots: what plugins have brought to a host, keyed by kind and name, each with its owner.
 *
 * A slot lives as long as the registry, at one address. Everyone who uses a component, a system or a table of
 * another plugin holds the slot; only the slot holds addresses inside a plugin's image. When a plugin goes, its
 * slots stay with do-nothing entries; when it comes again, they are filled again.
 *
 * What it does not do: it loads nothing (loader.h) and calls no verb of a plugin.
 */
#ifndef HOST_PLUGIN_REGISTRY_H
#define HOST_PLUGIN_REGISTRY_H

#include "../base/base.h"

typedef struct plugin_t plugin_t;

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

/* What the code of a system takes a component's columns to be, once the component has changed without it. */
typedef struct expected_field_t {
    known_field_t *field;
    uint32_t type;
} expected_field_t;

typedef struct term_t {
    char *component;
    char *instance_text;
    bp_name_t instance; /* 0: any */
    uint32_t flags;
    expected_field_t *expected; /* NULL: the columns as the component declares them */
    uint8_t *order;             /* which column of the component stands for each expected one */
    uint32_t expected_count;
    bool reordered;             /* `order` is not 0, 1, 2 ... */
} term_t;

/* A system. */
typedef struct system_t {
    bp_system_i table;
    char *name, *doc, *before, *after, *reads, *writes;
    plugin_t *owner;
    term_t *terms;
    uint32_t term_count;
} system_t;

/* A table that a plugin offers to others. */
typedef struct table_slot_t {
    char *name;
    plugin_t *owner;
    size_t size; /* room; the table is never larger */
    uint32_t *table;
    uint32_t promised; /* version that a plugin being reloaded offers; 0: none */
} table_slot_t;

/* What a new version of a plugin brings, beside the slots that it will fill. Registrations of an owner whose plugin is being
 * reloaded go there (plugin_replacement). */
typedef struct component_swap_t {
    component_t *slot, other; /* other.owner NULL: the slot is emptied */
    bool same_fields;         /* the slot keeps its fields: both lists say the same */
} component_swap_t;
typedef struct system_swap_t { system_t *slot, other; } system_swap_t;
typedef struct table_swap_t { table_slot_t *slot, other; } table_swap_t;

typedef struct registry_set_t {
    plugin_t *owner;
    component_swap_t *components;
    system_swap_t *systems;
    table_swap_t *tables;
    uint32_t component_count, component_capacity;
    uint32_t system_count, system_capacity;
    uint32_t table_count, table_capacity;
} registry_set_t;

typedef struct registry_t {
    memory_t memory;
    base_t *base;
    component_t **components;
    system_t **systems;
    table_slot_t **tables;
    uint32_t component_count, component_capacity;
    uint32_t system_count, system_capacity;
    uint32_t table_count, table_capacity;
} registry_t;

enum {
    REGISTRY_MAX_FIELDS = 255,      /* of a component */
    REGISTRY_MAX_TERMS = 32,        /* of a system */
    REGISTRY_TABLE_ROOM = 512,      /* least room of a table's slot, so that later versions fit */
    REGISTRY_MAX_TABLE = 64 * 1024
};

void registry_init(registry_t *registry, base_t *base);
void registry_free(registry_t *registry);

/* Fill slots with what a plugin brings. Errors name the component and what is wrong with it. [main] */
bp_result_t registry_add_component(registry_t *registry, plugin_t *owner, const bp_component_i *declared,
                                   uint32_t item_size);
bp_result_t registry_add_system(registry_t *registry, plugin_t *owner, const bp_system_i *declared, uint32_t item_size);
bp_result_t registry_offer(registry_t *registry, plugin_t *owner, const char *name, const void *table);

/* Empty all slots of an owner. [main] */
void registry_sweep(registry_t *registry, const plugin_t *owner);

/* The slot of a name that somebody fills at present; NULL, with an error that suggests the nearest. [main] */
component_t *registry_component(registry_t *registry, const char *name);
system_t *registry_system(registry_t *registry, const char *name);

/* The slot of a table with at least `version`, or NULL without an error. [main] */
const void *registry_table(registry_t *registry, const char *name, uint32_t version);

/* Who offers a table at present, or NULL. [main] */
plugin_t *registry_table_owner(const registry_t *registry, const char *name);

/* Make the tables that an owner offers do-nothing, while it keeps its components and systems. [main] */
void registry_silence_tables(registry_t *registry, const plugin_t *owner);

/* --- reload ------------------------------------------------------------------------------------------------- */

/* An empty set for a plugin: all that it fills now would be emptied. False when out of memory: nothing is held. */
bool registry_set_init(registry_t *registry, registry_set_t *set, plugin_t *owner);
void registry_set_free(registry_t *registry, registry_set_t *set);

/* The slots and the set change places; doing it again brings back what was. Cannot fail. [main] */
void registry_exchange(registry_t *registry, registry_set_t *set);

/* Forget what was promised to those who looked for tables meanwhile. */
void registry_set_keep_promises(registry_set_t *set);

/* The set's content for a slot; NULL where the set does not have it. */
component_t *registry_set_component(const registry_set_t *set, const component_t *slot);
system_t *registry_set_system(const registry_set_t *set, const system_t *slot);

/* Note for every system whose plugin is not part of the present change what it takes the columns of `slot` to be. */
bp_result_t registry_expect(registry_t *registry, const component_t *slot);

/* Work out anew where expected columns are. After every exchange. */
void registry_find_expected(registry_t *registry);

/* What a field is called now, from what it was called; NULL where it has gone. [main] */
const known_field_t *registry_follow(const known_field_t *field);

/* The name of a plugin, for messages; the set that its registrations go to while it is a version that has not come yet, or NULL;
 * whether it is part of the present change. Defined by the loader. */
const char *plugin_name(const plugin_t *plugin);
registry_set_t *plugin_replacement(const plugin_t *plugin);
bool plugin_is_reloading(const plugin_t *plugin);

#endif
