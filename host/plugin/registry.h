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

/* A component type. */
typedef struct component_t {
    bp_component_i table; /* verbs of the owner; name and doc point to the copies below */
    char *name, *doc, *reads, *writes;
    plugin_t *owner;      /* NULL: gone; the table is then all zero but for its name */
    field_t *fields;
    uint32_t field_count;
    bool own_storage;
} component_t;

typedef struct term_t {
    char *component;
    char *instance_text;
    bp_name_t instance; /* 0: any */
    uint32_t flags;
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
} table_slot_t;

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

/* The name of a plugin, for messages; defined by the loader. */
const char *plugin_name(const plugin_t *plugin);

#endif
