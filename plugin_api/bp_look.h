/* bp_look.h - looking at everything: worlds, component types, components, prototypes with their rows, systems, units,
 * plugins.
 *
 *     const bp_look_api *look = (const bp_look_api *)api->registry->find(host, BP_LOOK_API, 1);
 *     bp_look_plugin_t plugin = {.struct_size = sizeof plugin};
 *     for (uint32_t cursor = 0; look->plugin(host, &cursor, &plugin);)
 *         printf("%s %s\n", plugin.name, plugin.version);
 *
 * Every list is walked likewise: with a cursor that is 0 at first, until the entry returns 0. The caller sets
 * struct_size of what is written to its sizeof, so that what later headers append is written as far as the caller knows
 * it. Texts and arrays are the host's: texts are good until a plugin is loaded, reloaded or unloaded, rows until the
 * structure of their world changes.
 *
 * All entries are for tools (consoles, inspectors, scripts): they may be called between steps and from any verb on the
 * main thread, they change nothing, and a walk over what changes meanwhile may miss or repeat some of it. All are
 * [main].
 *
 * What this header does not do: values of single entities are the subject of bp_property_api, clocks of bp_clock.h.
 */
#ifndef BP_LOOK_H
#define BP_LOOK_H

#include "bp_system.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_LOOK_API "bp_look"

/* A world, as it stands between two steps. */
typedef struct bp_look_world_t {
    uint32_t struct_size;
    uint32_t entities;      /* with components in this world */
    bp_world_o *world;
    const char *name;
    uint64_t steps;         /* done */
    double time, step_rate; /* steps in a unit of time */
    uint64_t nanoseconds;   /* spent in steps, all told; a step without units and rows counts as none */
    uint64_t bytes;         /* held by its records, prototypes and rows */
    uint32_t holes;         /* rows of the dead that are not yet collected */
    uint32_t prototypes;    /* combinations of components that entities have or had */
    uint32_t structure;     /* another number after entities have come, gone, or changed their components; it may also
                               change without that */
    uint32_t padding;
    const char *units;      /* what it calls kg, m and s: "kg=solar mass, m=au, s=day"; "": as fields declare them */
    uint32_t runs;          /* arrays of rows: of the prototypes that have had entities */
    uint32_t padding_2;
    uint64_t number;        /* counted from 1; no other world of this host has it, or had it before it was destroyed */
} bp_look_world_t;

enum {
    BP_LOOK_STORAGE = 1u << 0,  /* it has storage of its own */
    BP_LOOK_SIMULATES = 1u << 1 /* it has a loop */
};

/* A component type that a plugin brings. Its fields are told by bp_property_api.describe. */
typedef struct bp_look_type_t {
    uint32_t struct_size;
    uint32_t flags;       /* BP_COMPONENT_... */
    const char *name, *doc, *plugin;
    uint32_t field_count;
    uint32_t padding;
    uint32_t version;     /* as it is declared */
    uint32_t traits;      /* BP_LOOK_STORAGE, BP_LOOK_SIMULATES */
} bp_look_type_t;

/* A system that a plugin brings. */
typedef struct bp_look_system_t {
    uint32_t struct_size;
    uint32_t flags;       /* BP_SYSTEM_... */
    const char *name, *doc, *plugin;
    const char *before, *after; /* names of units; "": none */
    uint32_t term_count;
    uint32_t padding;
} bp_look_system_t;

/* A term of a system. */
typedef struct bp_look_term_t {
    uint32_t struct_size;
    uint32_t flags;       /* BP_TERM_... */
    const char *component;
    const char *instance; /* "": any */
    uint32_t field_count;
    uint32_t padding;
    const char *world;    /* of BP_TERM_BESIDE, as it is declared; else "" */
} bp_look_term_t;

/* A component of a world as its entities bear it: a type under a name. */
typedef struct bp_look_component_t {
    uint32_t struct_size;
    uint32_t key;         /* bp_world_api.key */
    const char *name;     /* in the entity */
    const char *type;
    uint32_t component;   /* number of its manager */
    uint32_t entities;    /* that have it */
} bp_look_component_t;

/* Entities that have the same components, and their rows. A row with entity {0} is a hole. */
typedef struct bp_look_prototype_t {
    uint32_t struct_size;
    uint32_t prototype;           /* bp_world_api.prototype */
    const bp_entity_t *entities;  /* of each row */
    uint32_t row_count;           /* holes among them */
    uint32_t hole_count;
    uint32_t key_count;
    uint32_t padding;
} bp_look_prototype_t;

enum {
    BP_LOOK_SYSTEM = 1u << 0,     /* a system; else a component that simulates */
    BP_LOOK_PARALLEL = 1u << 1,   /* its rows are cut into ranges for several threads */
    BP_LOOK_CONCURRENT = 1u << 2, /* may run beside others */
    BP_LOOK_ASIDE = 1u << 3       /* its plugin has crashed, and it is not called any more */
};

/* A unit of a world's step. Units come in the order of the step once that has been settled, by the first step. */
typedef struct bp_look_unit_t {
    uint32_t struct_size;
    uint32_t flags;        /* BP_LOOK_... */
    const char *name, *doc, *plugin;
    uint64_t steps;        /* that it ran in */
    uint64_t nanoseconds;  /* in all of them together, on all threads together */
    uint64_t rows;         /* handed over in the last step */
    uint32_t segment;      /* units of one segment may run side by side; those of the next wait for all of them */
    uint32_t padding;
} bp_look_unit_t;

/* A plugin. */
typedef struct bp_look_plugin_t {
    uint32_t struct_size;
    uint32_t option_count;
    const char *name, *version, *doc;
    const char *path;      /* of its file; "": linked into the program */
    const char *crash;     /* how it crashed, and was set aside; NULL: it works */
    uint32_t abi_major, abi_minor; /* of the headers that it was built with */
} bp_look_plugin_t;

/* An option of a plugin: its declaration and its value as text. */
typedef struct bp_look_option_t {
    uint32_t struct_size;
    uint32_t padding;
    bp_field_t field;
    char value[256];       /* may be cut */
} bp_look_option_t;

enum {
    BP_LOOK_READS = 1u << 0,
    BP_LOOK_WRITES = 1u << 1
};

/* A part of a component that a unit touches. */
typedef struct bp_look_access_t {
    uint32_t struct_size;
    uint32_t flags;        /* BP_LOOK_READS, BP_LOOK_WRITES */
    const char *type;      /* of the component */
    const char *field;     /* "": the rest of the component, its manager's own storage and state */
} bp_look_access_t;

/* A unit that another one waits for. */
typedef struct bp_look_wait_t {
    uint32_t struct_size;
    uint32_t unit;         /* its place in the order of the step, from 0 */
    const char *type;      /* the component that both touch, and at least one of them writes; "": there is none, and the
                              order is a wish of one of the two (`before`, `after`) */
    const char *field;     /* the first such field of it; "": the rest of the component */
} bp_look_wait_t;

/* A change of code: plugins that were reloaded, that were refused, or that were taken back on probation. */
typedef struct bp_look_reload_t {
    uint32_t struct_size;
    bp_result_t result;    /* BP_OK: reloaded */
    uint64_t number;       /* counted from 1 since the host was made */
    uint64_t pause;        /* nanoseconds that the worlds stood still */
    int64_t when;          /* seconds since 1970 (UTC) */
    const char *text;      /* what became of each field, or the reason; lines for people; a long one ends with "..." */
} bp_look_reload_t;

typedef struct bp_look_api {
    uint32_t struct_size;
    uint32_t version;

    uint32_t (BP_CALL *world)(bp_host_o *host, uint32_t *cursor, bp_look_world_t *out);
    uint32_t (BP_CALL *type)(bp_host_o *host, uint32_t *cursor, bp_look_type_t *out);
    uint32_t (BP_CALL *plugin)(bp_host_o *host, uint32_t *cursor, bp_look_plugin_t *out);

    /* Options of the plugin of that name. */
    uint32_t (BP_CALL *option)(bp_host_o *host, const char *plugin, uint32_t *cursor, bp_look_option_t *out);

    uint32_t (BP_CALL *component)(bp_world_o *world, uint32_t *cursor, bp_look_component_t *out);
    uint32_t (BP_CALL *unit)(bp_world_o *world, uint32_t *cursor, bp_look_unit_t *out);

    /* Prototypes that have rows. */
    uint32_t (BP_CALL *prototype)(bp_world_o *world, uint32_t *cursor, bp_look_prototype_t *out);

    /* The keys of a prototype's components in canonical order. Returns how many there are; at most `capacity` are
     * written. */
    uint32_t (BP_CALL *keys)(bp_world_o *world, uint32_t prototype, uint32_t *keys, uint32_t capacity);

    /* The cells of a declared field in the rows of a prototype: row 0, the others behind it. A cell is a value as
     * bp_types.h says for its type; of an array all its values, packed; of a list a bp_list_t, for reading. NULL where
     * the prototype lacks the key or has no rows, and for components with storage of their own. */
    const void *(BP_CALL *column)(bp_world_o *world, uint32_t prototype, uint32_t key, uint32_t field);

    /* The unit that a field declares, in the units of a world: "m/s^2" is "au/day^2" where the world's metre is the au
     * and its second the day. A program that prints a unit beside a value prints this text. `declared` NULL is "". At
     * most `size` bytes are written, with the closing zero; returns how long the whole is. */
    uint32_t (BP_CALL *unit_text)(bp_world_o *world, const char *declared, char *text, uint32_t size);

    /* What the unit at a place of the order of a step (from 0, as `unit` tells them) reads and writes, field by field.
     * Known once the order has been settled, by the first step after a change; nothing is told before. */
    uint32_t (BP_CALL *access)(bp_world_o *world, uint32_t unit, uint32_t *cursor, bp_look_access_t *out);

    /* The earlier units of the step that the unit at a place of the order must not overtake, and why. A unit that may
     * not run beside others waits for all earlier ones; those are not told here unless there is a reason. */
    uint32_t (BP_CALL *wait)(bp_world_o *world, uint32_t unit, uint32_t *cursor, bp_look_wait_t *out);

    /* The last reloads, the oldest first: the host remembers 16 of them. Their texts are good until the next reload. */
    uint32_t (BP_CALL *reload)(bp_host_o *host, uint32_t *cursor, bp_look_reload_t *out);

    /* Systems of all plugins; the terms of one by its name; and the fields that its term number `term` asks for, of
     * which `out_size` bytes are written, the sizeof of the caller's bp_term_field_t. */
    uint32_t (BP_CALL *system)(bp_host_o *host, uint32_t *cursor, bp_look_system_t *out);
    uint32_t (BP_CALL *term)(bp_host_o *host, const char *system, uint32_t *cursor, bp_look_term_t *out);
    uint32_t (BP_CALL *asked)(bp_host_o *host, const char *system, uint32_t term, uint32_t *cursor,
                              bp_term_field_t *out, uint32_t out_size);
} bp_look_api;

#ifdef __cplusplus
}
#endif
#endif
