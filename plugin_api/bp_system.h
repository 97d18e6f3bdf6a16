/* bp_system.h - systems: code over the entities that have a set of components.
 *
 * A system says which components it needs, and which of their fields, by name and type. The host hands it runs of
 * entities that have them, as columns of one length and one order: row i of every column belongs to entity i. Where the
 * columns lie is settled once for each combination of components that exists (a prototype), never for each entity.
 *
 *     struct body { bp_vec3_t *velocity; };
 *     struct drag { const float *factor; };
 *     static const bp_term_field_t body[] = {{BP_FIELD_OF(struct body, velocity)}};
 *     static const bp_term_field_t drag[] = {{BP_FIELD_OF(struct drag, factor)}};
 *     static const bp_term_t terms[] = {
 *         {.component = "point_mass", .fields = BP_LIST(body)},
 *         {.component = "drag", .fields = BP_LIST(drag)},
 *     };
 *     static void run(const bp_match_t *match, uint32_t count)
 *     {
 *         BP_COLUMNS(struct body, b, match->columns[0]);
 *         BP_COLUMNS(struct drag, d, match->columns[1]);
 *         for (uint32_t i = 0; i < count; i++) ...
 *     }
 *
 * Fields. The component may have more fields than a term asks for, in any order, and may change those in its next
 * version. A field that is asked for and missing, or of another type, is an error that names the nearest: when the
 * plugin is loaded, when system and component meet in a world, and when the component's plugin is reloaded. A field
 * that the component has renamed (bp_field_t.former_name) is found under its old name.
 *
 * Order in a step: systems and the `simulate` of components are the units of a step. `before` and `after`
 * name units; what is left open follows the order in which the ini (or the embedder) lists them.
 *
 * Threads: a unit that says so (BP_SYSTEM_CONCURRENT, BP_COMPONENT_CONCURRENT) may run beside others, on any
 * thread. Two units conflict where one writes a field that the other reads or writes, by the fields of its terms, or
 * where `reads` and `writes` name the component; those two run one after the other, in the order of the step. A unit
 * that does not say so runs alone, on the main thread. BP_SYSTEM_PARALLEL is about one unit's own ranges. Results are
 * the same bit for bit on any number of threads.
 *
 * Changes of structure wait: a unit records them in step->commands (bp_command_api), and the host makes them
 * when no loop holds columns any more.
 *
 * What belongs to a world and to no entity (gravity's constant, the wind) is a component of the world itself. A term
 * with BP_TERM_WORLD hands it over once a call, beside the columns of the rows:
 *
 *     struct wind { const bp_vec2_t *force; };
 *     static const bp_term_field_t wind[] = {{BP_FIELD_OF(struct wind, force)}};
 *     ... {.component = "wind", .flags = BP_TERM_WORLD, .fields = BP_LIST(wind)} ...
 *         BP_COLUMNS(struct wind, w, match->columns[1]);
 *         bp_vec2_t force = w.force[0];
 *
 * A system may read rows of another world: of the copies that a split world has beside it (docs/machines.md), of a
 * world that others share. Its terms with BP_TERM_BESIDE say what it asks for there, and bp_query_api.beside walks it:
 *
 *     ... {.component = "particle", .flags = BP_TERM_BESIDE, .world = ".halo", .fields = BP_LIST(seen)} ...
 *         if (queries->beside(match->system, 1, &query) == BP_OK && query != NULL && queries->begin(query, 0) == BP_OK)
 *             while ((copies = queries->next(query)) != NULL) ...
 *
 * What this header does not do: a system owns no components; state that it wants to keep lies in s->state.
 */
#ifndef BP_SYSTEM_H
#define BP_SYSTEM_H

#include "bp_component.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- terms ------------------------------------------------------------------------------------------------------ */

enum {
    BP_TERM_OPTIONAL = 1u << 1, /* matched where present; all its columns are NULL where not */
    BP_TERM_EXCLUDE = 1u << 2,  /* entities that have it are left out */
    BP_TERM_BESIDE = 1u << 4,   /* a component of entities in another world, which `world` names; to read only. The
                                   term has no bearing on what matches, and its columns are NULL:
                                   bp_query_api.beside walks the rows. Not with BP_SYSTEM_CONCURRENT. */
    BP_TERM_WORLD = 1u << 3     /* a component of the world itself (BP_COMPONENT_WORLD): it has no bearing on what
                                   matches, and each of its columns is one value, the same in every call. Where all
                                   terms say so there is one match of one row a step: bp_world_api.own. With
                                   BP_TERM_OPTIONAL: columns are NULL where the world lacks it. */
};

enum {
    BP_TERM_FIELD_OPTIONAL = 1u << 15 /* the component may lack the field: then its column is NULL */
};

/* A field that a term asks for: its first members are those of bp_field_t, so that BP_FIELD_OF gives both. */
typedef struct bp_term_field_t {
    const char *name BP_OR_ZERO;
    uint32_t type BP_OR_ZERO;    /* BP_BOOL ...; another one in the component is an error, for an optional field too */
    uint32_t access BP_OR_ZERO;  /* BP_READ or BP_WRITE; 0: BP_READ */
    uint32_t column BP_OR_ZERO;  /* 1 + the place of its pointer in the struct of columns; 0: not said */
    uint32_t flags BP_OR_ZERO;   /* BP_TERM_FIELD_...; BP_FIELD_LIST of a list */
    uint32_t count BP_OR_ZERO;   /* elements of an array; another number in the component is an error; 0 and 1: one
                                    value */
    uint32_t padding BP_OR_ZERO;
} bp_term_field_t;

typedef struct bp_term_field_list_t {
    const bp_term_field_t *items;
    uint32_t count;
    uint32_t item_size;
} bp_term_field_list_t;

/* One component that a system needs. Without fields it asks for the presence of the component alone, and gives slots
 * where the component has storage of its own. */
typedef struct bp_term_t {
    const char *component BP_OR_ZERO;      /* the component's type */
    const char *instance BP_OR_ZERO;       /* its name in the entity, NULL: any; an entity with two gives two matches */
    uint32_t flags BP_OR_ZERO;             /* BP_TERM_... */
    uint32_t padding BP_OR_ZERO;
    bp_term_field_list_t fields BP_OR_ZERO;
    const char *world BP_OR_ZERO;          /* with BP_TERM_BESIDE: the name of that world. A name that begins with a dot
                                              follows that of the system's own: ".halo" is "main.halo" in "main" */
    void *reserved[1] BP_OR_ZERO;          /* NULL */
} bp_term_t;

typedef struct bp_term_list_t {
    const bp_term_t *items;
    uint32_t count;
    uint32_t item_size;
} bp_term_list_t;

/* --- what a system is handed -------------------------------------------------------------------------------------- */

/* One system at work in one world, handed to every verb. */
typedef struct bp_system_t {
    uint32_t struct_size;
    uint32_t padding;
    const struct bp_api_t *api;
    bp_host_o *host;
    bp_world_o *world;
    const struct bp_plugin_t *plugin;
    void *state; /* the system's own; set by `start`, released by `stop` */
    void *user;  /* bp_system_i.user */
} bp_system_t;

/* Rows that match: a whole run, or a range of its rows. Borrowed, aligned and with holes as bp_run_t. */
typedef struct bp_match_t {
    uint32_t struct_size;
    uint32_t count;               /* rows; never 0 */
    uint32_t first;               /* row of the run that row 0 of this range is */
    uint32_t range;               /* number of this call among those of the step for this system: 0, 1, ..., the same on
                                     any number of threads */
    uint32_t prototype;           /* what its entities have (bp_world_api.prototype) */
    uint32_t padding;
    bp_system_t *system;
    const bp_step_t *step;
    const bp_entity_t *entities;
    void *const *const *columns;  /* columns[term][k]: the k-th field that the term asks for; NULL: an optional one that
                                     is absent. A column that is asked for with BP_READ is not to be written.
                                     columns[term] of a term without fields is NULL where the component is absent. */
    const uint32_t *const *slots; /* slots[term]: the slot of each row, where the component has storage of its own;
                                     else NULL */
    bp_lists_o *lists;            /* where lists in these rows get memory during this call */
    void *reserved[5];            /* NULL */
} bp_match_t;

/* One column of a match, as a pointer to `type`: of the k-th field that the term asks for. */
#define BP_TERM_COLUMN(match, type, term, k) ((type *)(match)->columns[(term)][(k)])

/* --- the system --------------------------------------------------------------------------------------------------- */

enum {
    BP_SYSTEM_PARALLEL = 1u << 0,      /* `run` may be called for several ranges at the same time [job] */
    BP_SYSTEM_CONCURRENT = 1u << 1,    /* `run` and `run_all` touch nothing but the system's state, the fields of its
                                          terms and what `reads` and `writes` name, and may run on another thread,
                                          beside units that they do not conflict with [job] */
    BP_SYSTEM_OUTPUT = 1u << 3,        /* it changes nothing in any world, and nothing that other units read: it
                                          records, draws or sends. The system is not called while a past is computed
                                          again. */
    BP_SYSTEM_COMMANDS_FIRST = 1u << 2 /* commands that earlier units of the step have recorded are carried out before
                                          this one runs, instead of at the end of the step */
};

/* "bp_report" of a system: tables and remarks for people at the end of a run (bp_report_api). */
typedef struct bp_system_report_i {
    void (BP_CALL *report)(bp_system_t *s, bp_report_o *report);
} bp_system_report_i;

/* "bp_save" of a system, as that of a component (bp_save_i): its state as one block from bp_memory_api, and back. */
typedef struct bp_system_save_i {
    bp_result_t (BP_CALL *save)(bp_system_t *s, void **data, size_t *size);
    bp_result_t (BP_CALL *load)(bp_system_t *s, const void *data, size_t size);
} bp_system_save_i;

/* "bp_rewind" of a system, mostly of one that says BP_SYSTEM_OUTPUT: its world has gone to another moment, at which
 * `now->number` steps are done. What it has put out about later ones is of a future that may not come. [main] */
typedef struct bp_rewind_i {
    void (BP_CALL *rewound)(bp_system_t *s, const bp_step_t *now);
} bp_rewind_i;

/* "bp_deaths" of a system: as that of a component (bp_deaths_i), with `component` said where it is not BP_DEATHS_ALL. A
 * system that says BP_SYSTEM_OUTPUT is not told while a past is computed again. [main] */
typedef struct bp_system_deaths_i {
    void (BP_CALL *died)(bp_system_t *s, const bp_death_t *batch) BP_OR_ZERO;
    uint32_t which BP_OR_ZERO;
    uint32_t padding BP_OR_ZERO;
    const char *component BP_OR_ZERO;
    const char *field BP_OR_ZERO;
} bp_system_deaths_i;

/* A system. Exactly one of run and run_all is set. */
typedef struct bp_system_i {
    const char *name BP_OR_ZERO;     /* letters, digits, underscore; unique among the host's systems and components;
                                        NULL: the plugin's own name */
    const char *doc BP_OR_ZERO;      /* one line for people */
    uint32_t flags BP_OR_ZERO;       /* BP_SYSTEM_... */
    uint32_t padding BP_OR_ZERO;
    bp_term_list_t terms BP_OR_ZERO; /* none: run_all is called once a step with no matches */
    const char *before BP_OR_ZERO;   /* names of units, separated by spaces, that come later in a step; NULL: none */
    const char *after BP_OR_ZERO;    /* names of units that come earlier */

    /* Names of components of the same world that the system reads, or writes, beside the fields of its terms (through
     * properties or tables; the component's storage or its manager's state); separated by spaces; NULL: none. */
    const char *reads BP_OR_ZERO;
    const char *writes BP_OR_ZERO;

    /* Begin and end of the system in a world, as for components. */
    bp_result_t (BP_CALL *start)(bp_system_t *s) BP_OR_ZERO;
    void (BP_CALL *stop)(bp_system_t *s) BP_OR_ZERO;

    /* A step, for the rows of one match. `count` is match->count, at hand for the compiler. [main], or [job] where
     * parallel or concurrent. */
    void (BP_CALL *run)(const bp_match_t *match, uint32_t count) BP_OR_ZERO;

    /* A step, for all matching rows of the world in one call: for code that sees them together. [main], or [job] where
     * concurrent. */
    void(BP_CALL *run_all)(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count) BP_OR_ZERO;

    /* The entities that match the terms have changed: these do now, those no longer do (dead ones among them). In
     * batches, before the first unit of a step, and after commands that a unit of the step had carried out first;
     * removals come before additions. Exact: an entity is told of once when it comes to match, whatever made it so, and
     * once when it ceases to; what came and went in between is not told. A system that has just come is told of all
     * that match; one that a rollback has brought back is told between steps, of what has changed since it was told
     * last. So is one that says BP_SYSTEM_OUTPUT when its world has gone to another moment; it is told of nothing on
     * the way there. `entities` is borrowed. From here structure cannot be changed (destroying is put off to the end of
     * the step). [main] */
    void (BP_CALL *entities_added)(bp_system_t *s, const bp_entity_t *entities, uint32_t count) BP_OR_ZERO;
    void (BP_CALL *entities_removed)(bp_system_t *s, const bp_entity_t *entities, uint32_t count) BP_OR_ZERO;

    uint64_t state_form BP_OR_ZERO;  /* reload: what s->state is, as in bp_component_i */
    uint32_t keeps BP_OR_ZERO;       /* BP_KEEP_...; without meaning where it says BP_SYSTEM_OUTPUT */
    uint32_t padding_2 BP_OR_ZERO;
    void *user BP_OR_ZERO;           /* handed on as s->user, for code that brings several systems */
    bp_extension_list_t extensions BP_OR_ZERO; /* bp_report, bp_save, bp_rewind, bp_deaths */
    void *reserved[2] BP_OR_ZERO;    /* NULL */
} bp_system_i;

typedef struct bp_system_list_t {
    const bp_system_i *items;
    uint32_t count;
    uint32_t item_size;
} bp_system_list_t;

#ifdef __cplusplus
}
#endif
#endif
