/* bp_system.h - systems: code over the entities that have a set of components.
 *
 * A system says which components it needs, and the host hands it runs of entities that have them, as columns of
 * one length and one order: row i of every column belongs to entity i. Which components those are is settled
 * once for each combination of components that exists (a prototype), never for each entity.
 *
 *     static const bp_term_t terms[] = {
 *         {.component = "point_mass", .flags = BP_TERM_WRITE},
 *         {.component = "drag"},
 *     };
 *     static void run(bp_system_t *s, const bp_step_t *step, const bp_match_t *match)
 *     {
 *         bp_vec3_t *velocity = BP_TERM_COLUMN(match, bp_vec3_t, 0, VELOCITY);
 *         const float *drag = BP_TERM_COLUMN(match, float, 1, FACTOR);
 *         for (uint32_t i = 0; i < match->count; i++) ...
 *     }
 *
 * Order in a step: systems and the `simulate` of components are the units of a step. `before` and `after`
 * name units; what is left open follows the order in which the ini (or the embedder) lists them.
 *
 * Threads: a unit that says so (BP_SYSTEM_CONCURRENT, BP_COMPONENT_CONCURRENT) may run beside others, on any
 * thread. Two units conflict where one writes a component that the other reads or writes, by its terms,
 * `reads` and `writes`; those two run one after the other, in the order of the step. A unit that does not say
 * so runs alone, on the main thread. BP_SYSTEM_PARALLEL is about one unit's own ranges. Results are the same
 * bit for bit on any number of threads.
 *
 * Changes of structure wait: a unit records them in step->commands (bp_command_api), and the host makes them
 * when no loop holds columns any more.
 *
 * What this header does not do: a system owns no components; state that it wants to keep lies in s->state.
 */
#ifndef BP_SYSTEM_H
#define BP_SYSTEM_H

#include "bp_component.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BP_TERM_WRITE = 1u << 0,    /* the system writes the columns of this component; else it only reads */
    BP_TERM_OPTIONAL = 1u << 1, /* matched where present; its columns are NULL where not */
    BP_TERM_EXCLUDE = 1u << 2   /* entities that have it are left out */
};

/* One component that a system needs. */
typedef struct bp_term_t {
    const char *component; /* the component's type */
    const char *instance;  /* its name in the entity, NULL: any; an entity with two gives two matches */
    uint32_t flags;        /* BP_TERM_... */
    uint32_t padding;
} bp_term_t;

typedef struct bp_term_list_t {
    const bp_term_t *items;
    uint32_t count;
    uint32_t item_size;
} bp_term_list_t;

/* Rows that match. Borrowed, aligned and with holes as bp_run_t. */
typedef struct bp_match_t {
    uint32_t struct_size;
    uint32_t count;               /* rows; never 0 */
    const bp_entity_t *entities;
    void *const *const *columns;  /* columns[term][field]; columns[term] is NULL for an absent optional and for
                                     an excluded term; own storage: columns[term][0] is a uint32_t column of slots */
} bp_match_t;

/* The column of `field` of the component of `term`, as a pointer to `type`. */
#define BP_TERM_COLUMN(match, type, term, field) ((type *)(match)->columns[(term)][(field)])

/* One system at work in one world, handed to every verb. */
typedef struct bp_system_t {
    uint32_t struct_size;
    uint32_t padding;
    const struct bp_api_t *api;
    bp_host_o *host;
    bp_world_o *world;
    const struct bp_plugin_t *plugin;
    void *state; /* the system's own; set by `start`, released by `stop` */
} bp_system_t;

enum {
    BP_SYSTEM_PARALLEL = 1u << 0,      /* `run` may be called for several ranges at the same time [job] */
    /* since 1.1 */
    BP_SYSTEM_CONCURRENT = 1u << 1,    /* `run` and `run_all` touch nothing but the system's state, its terms and what
                                          `reads` and `writes` name, and may run on another thread, beside units that
                                          they do not conflict with [job] */
    BP_SYSTEM_COMMANDS_FIRST = 1u << 2 /* commands that earlier units of the step have recorded are carried out before
                                          this one runs, instead of at the end of the step */
};

/* A system. Exactly one of run and run_all is set. */
typedef struct bp_system_i {
    const char *name;     /* letters, digits, underscore; unique among the host's systems and components */
    const char *doc;      /* one line for people */
    uint32_t flags;       /* BP_SYSTEM_... */
    uint32_t padding;
    bp_term_list_t terms; /* none: run_all is called once a step with no matches */
    const char *before;   /* names of units, separated by spaces, that come later in a step; NULL: none */
    const char *after;    /* names of units that come earlier */

    /* Begin and end of the system in a world, as for components. */
    bp_result_t (BP_CALL *start)(bp_system_t *s);
    void (BP_CALL *stop)(bp_system_t *s);

    /* A step, for one run of matching rows. [main], or [job] where parallel. */
    void (BP_CALL *run)(bp_system_t *s, const bp_step_t *step, const bp_match_t *match);

    /* A step, for all matching rows of the world in one call: for code that sees them together. [main] */
    void (BP_CALL *run_all)(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count);

    /* Tables and remarks for people at the end of a run (bp_report_api). */
    void (BP_CALL *report)(bp_system_t *s, bp_report_o *report);

    /* --- since 1.1 ------------------------------------------------------------------------------------------ */

    /* Names of components of the same world that the system reads, or writes, beside its terms (through
     * properties or references, of entities that need not match); separated by spaces; NULL: none. */
    const char *reads;
    const char *writes;

    /* The entities that match the terms have changed: these do now, those no longer do (dead ones among
     * them). In batches, before the first unit of a step, and after commands that a unit of the step had
     * carried out first; removals come before additions. Exact: an entity is told of once when it comes to
     * match, whatever made it so, and once when it ceases to; what came and went in between is not told. A
     * system that has just come is told of all that match. `entities` is borrowed. From here structure cannot
     * be changed (destroying is put off to the end of the step). [main] */
    void (BP_CALL *entities_added)(bp_system_t *s, const bp_entity_t *entities, uint32_t count);
    void (BP_CALL *entities_removed)(bp_system_t *s, const bp_entity_t *entities, uint32_t count);

    /* Reload: what s->state is, as in bp_component_i. */
    uint64_t state_form;
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
