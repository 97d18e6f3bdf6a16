/* bp_component.h - the component manager: what a plugin implements to bring a kind of component.
 *
 * A component is not an object. It is whatever its manager says it is; the host knows only verbs, and calls
 * each with a batch. There are two roads:
 *
 * 1. Declared (most managers). List the fields and leave the storage verbs empty: the world stores them as a
 *    structure of arrays, one aligned column a field, and everything else follows from the declaration. Write
 *    `simulate`, a loop over the columns of one run:
 *
 *        enum { MASS, POSITION, VELOCITY, ACCELERATION };
 *        static void simulate(bp_manager_t *m, const bp_step_t *step, const bp_run_t *run)
 *        {
 *            float *v = BP_COLUMN(run, float, VELOCITY);
 *            ...
 *            for (size_t i = 0; i < 3u * run->count; i++) ...
 *        }
 *
 * 2. Own storage (BP_COMPONENT_OWN_STORAGE). The manager keeps its instances where and as it likes, in slots
 *    numbered from 0: `create` answers with the slot of each new instance, the world remembers it beside the
 *    entity (so that look-up costs the same on both roads and no manager needs a map of its own), and `get`
 *    and `set` serve the declared fields. A manager that moves an instance to another slot says so with
 *    bp_world_api.instances_moved.
 *
 * Death. An entity that dies has no components from that moment on. For declared components the row is left
 * as a hole (its entity is {0}) and collected a little later: random rows, until four living ones in a row.
 * BP_COMPONENT_AT_ONCE asks for collection at once. A manager with its own storage is told at once, by
 * `destroy`, unless it has `gc`: then it collects its dead itself, likewise.
 *
 * Threads. All verbs are called on the main thread, but for `simulate` of a manager that says
 * BP_COMPONENT_PARALLEL: that one may be called for several ranges of rows at the same time; and
 * BP_COMPONENT_CONCURRENT: that one may be called while other units run. The two are independent of each
 * other.
 *
 * What this header does not do: it says nothing of code that works on several components (bp_system.h).
 */
#ifndef BP_COMPONENT_H
#define BP_COMPONENT_H

#include "bp_field.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bp_api_t;
struct bp_plugin_t;
typedef struct bp_report_o bp_report_o;
typedef struct bp_commands_o bp_commands_o;

/* One component manager at work in one world. Made by the host, handed to every verb; lives from before
 * `start` until after `stop`. */
typedef struct bp_manager_t {
    uint32_t struct_size;
    uint32_t component;                /* the manager's number in its world */
    const struct bp_api_t *api;        /* the host's tables (bp_api.h) */
    bp_host_o *host;
    bp_world_o *world;
    const struct bp_plugin_t *plugin;  /* the plugin: its options and its state */
    void *state;                       /* the manager's own; set by `start`, released by `stop` */
} bp_manager_t;

/* One step of a world. */
typedef struct bp_step_t {
    uint32_t struct_size;
    uint32_t padding;
    uint64_t number; /* steps done before this one */
    double dt;       /* length of this step, in the world's unit of time */
    double time;     /* the world's time at the beginning of the step */
    /* since 1.1 */
    bp_commands_o *commands; /* where the verb that receives this records changes of structure (bp_command_api); its own,
                                good until it returns. NULL where no unit runs. */
} bp_step_t;

/* Rows of entities that have the same components: columns of one length. Borrowed: good until the verb that
 * received it returns, or until it creates, destroys, adds or removes.
 * Every column is aligned to 16 bytes, and to 64 bytes where the run has 16 rows or more; no two columns of a
 * run overlap, so `restrict` is right. A row whose entity is {0} is a hole left by a dead entity; its columns
 * hold values that may be computed with. */
typedef struct bp_run_t {
    uint32_t struct_size;
    uint32_t count;              /* rows; never 0 */
    const bp_entity_t *entities; /* the entity of each row */
    void *const *columns;        /* one for each declared field, in the order of declaration;
                                    own storage: columns[0] is a uint32_t column of slots */
    bp_name_t instance;          /* the name of the component in its entities ("fog") */
} bp_run_t;

/* The column of field `index` of a run, as a pointer to `type`. */
#define BP_COLUMN(run, type, index) ((type *)(run)->columns[(index)])

enum {
    BP_COMPONENT_OWN_STORAGE = 1u << 0, /* the manager stores its instances itself */
    BP_COMPONENT_AT_ONCE = 1u << 1,     /* declared fields: collect a dead entity's row at its death */
    BP_COMPONENT_PARALLEL = 1u << 2,    /* `simulate` may run for several ranges at the same time [job] */
    BP_COMPONENT_SINGLE = 1u << 3,      /* at most one instance an entity */
    /* since 1.1 */
    BP_COMPONENT_CONCURRENT = 1u << 4   /* `simulate` touches nothing but this component and what `reads` and `writes`
                                           name, and may run on another thread, beside units that it does not
                                           conflict with [job] */
};

/* The form of a state, for state_form: its size and a number, which you raise when the meaning of its members changes and
 * its size does not. Never 0. */
#define BP_STATE_FORM(type, number) ((uint64_t)(number) << 32 | (uint64_t)sizeof(type))

/* A component manager. Every member but name may be left zero. */
typedef struct bp_component_i {
    const char *name;       /* letters, digits, underscore; unique in the host */
    const char *doc;        /* one line for people */
    uint32_t version;       /* of the saved form, see save and load */
    uint32_t flags;         /* BP_COMPONENT_... */
    bp_field_list_t fields; /* columns (declared) or properties (own storage) */

    /* Begin and end of a manager in a world. `start` may set m->state; where it fails it leaves nothing
     * behind, and `stop` is not called. At `stop` instances may still exist: the manager frees them. */
    bp_result_t (BP_CALL *start)(bp_manager_t *m);
    void (BP_CALL *stop)(bp_manager_t *m);

    /* Steps: called once for each run of living or dead rows that have this component; a run may be handed
     * over in several ranges. Own storage: called once a step with run NULL. [main], or [job] where parallel. */
    void (BP_CALL *simulate)(bp_manager_t *m, const bp_step_t *step, const bp_run_t *run);

    /* --- own storage only, from here to gc ------------------------------------------------------------- */

    /* Make `count` instances named `instance`, one for each entity, all with their default values, and write
     * the slot of each to `slots`. All or nothing: on an error there are as many instances as before. The
     * host has checked that the entities live and that the name is free. */
    bp_result_t (BP_CALL *create)(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                                  uint32_t *slots);

    /* End the instances in `slots`. The slots come in descending order and without duplicates, so ending one
     * after another by swap-erase (last one into the hole) is right. Cannot fail. */
    void (BP_CALL *destroy)(bp_manager_t *m, const uint32_t *slots, uint32_t count);

    /* Read or write field number `field` of the instances in `slots`. `values` points to the first value;
     * each next one lies `stride` bytes further. Types as in bp_types.h. A string read is good until the
     * manager is called again; a string written is the caller's, copy it. `set` is all or nothing where it can
     * fail; ranges have been checked. */
    bp_result_t (BP_CALL *get)(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                               size_t stride);
    bp_result_t (BP_CALL *set)(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                               const void *values, size_t stride);

    /* Number of instances, those of dead entities that are not yet collected among them. */
    uint32_t (BP_CALL *count)(bp_manager_t *m);

    /* Collect instances of dead entities: random ones (bp_random_below on *random, so that runs repeat), until
     * four living ones in a row. Returns how many were ended. Leave it out to be told at once by `destroy`. */
    uint32_t (BP_CALL *gc)(bp_manager_t *m, uint64_t *random);

    /* --- any manager, all optional ----------------------------------------------------------------------- */

    /* A batch of entities that have just died, whatever components they had, for managers that refer to
     * entities other than their own. `alive` already says no. May create and destroy entities: what it
     * destroys is announced in a batch of its own after this one. */
    void (BP_CALL *entities_destroyed)(bp_manager_t *m, const bp_entity_t *entities, uint32_t count);

    /* Scene compiler: turn the text of one component's description into `*size` bytes at `*data`, from
     * bp_memory_api. Managers that only declare fields need none. */
    bp_result_t (BP_CALL *compile)(bp_manager_t *m, const char *json, void **data, size_t *size);

    /* Bulk creation from what `compile` made: `count` instances, the bytes of the i-th at data[i]. As
     * `create` otherwise. Smaller spawn_order first. */
    bp_result_t (BP_CALL *spawn)(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                                 const void *const *data, const size_t *sizes, uint32_t *slots);
    int32_t spawn_order;
    uint32_t padding;

    /* Reload of a manager with its own storage: `save` writes everything to one block from bp_memory_api;
     * `load` of the next version gets it with the `version` that wrote it, in a manager just started. All or
     * nothing. Instances keep their slots, or `load` tells with instances_moved where they lie now. Left out: the host
     * carries the instances over by their properties. */
    bp_result_t (BP_CALL *save)(bp_manager_t *m, void **data, size_t *size);
    bp_result_t (BP_CALL *load)(bp_manager_t *m, uint32_t version, const void *data, size_t size);

    /* Tables and remarks for people at the end of a run (bp_report_api). */
    void (BP_CALL *report)(bp_manager_t *m, bp_report_o *report);

    /* --- since 1.1 ------------------------------------------------------------------------------------------ */

    /* Own storage, optional: bulk creation with values. As `create`, then `set` of every field f whose columns[f]
     * is not NULL, columns[f] being `count` packed values, already checked against range and type; but in one
     * pass, and all or nothing. Fields of type BP_ENTITY are never among them: what refers to other entities is
     * set by `set` when all of them exist. Left out: the host does it with `create` and `set`. */
    bp_result_t (BP_CALL *create_with)(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                                       const void *const *columns, uint32_t *slots);

    /* Names of further components of the same world that `simulate` reads, and writes, beside its own;
     * separated by spaces; NULL: none. The order of a step follows from them, see bp_system.h. */
    const char *reads;
    const char *writes;

    /* Reload: what m->state is (BP_STATE_FORM). Where the next version of the plugin says the same, the state goes over to it
     * as it is, with everything in it, and neither `stop` nor `start` is called. 0: `start` of the next version makes
     * a state of its own. State that goes over holds no address inside the plugin's image: no function, no literal. */
    uint64_t state_form;
} bp_component_i;

typedef struct bp_component_list_t {
    const bp_component_i *items;
    uint32_t count;
    uint32_t item_size;
} bp_component_list_t;

#ifdef __cplusplus
}
#endif
#endif
