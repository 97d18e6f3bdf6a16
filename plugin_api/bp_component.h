/* bp_component.h - the component manager: what a plugin implements to bring a kind of component.
 *
 * A component is not an object: the host knows only the verbs of its manager, and calls each with a batch. There are
 * two ways to write a manager:
 *
 * 1. Declared (most managers). List the fields and leave `storage` out: the world stores them as a
 *    structure of arrays, one aligned column a field, and everything else follows from the declaration. Write
 *    `simulate`, a loop over the columns of one run:
 *
 *        struct mass { const float *mass; bp_vec3_t *position; const bp_vec3_t *velocity; };
 *        static const bp_field_t fields[] = {
 *            {BP_FIELD_OF(struct mass, mass), .initial = "1"}, {BP_FIELD_OF(struct mass, position)}, ...
 *        };
 *        static void simulate(const bp_run_t *run, uint32_t count)
 *        {
 *            BP_COLUMNS(struct mass, c, run->columns);
 *            float dt = (float)run->step->dt;
 *            for (uint32_t i = 0; i < count; i++)
 *                c.position[i].x += c.velocity[i].x * dt;
 *        }
 *
 * 2. Own storage (bp_storage_i). The manager keeps its instances where and as it likes, in slots
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
 * Verbs that few managers need are named extensions (bp_extension_t); a host need not know every extension.
 *
 * What this header does not do: it says nothing of code that works on several components (bp_system.h).
 */
#ifndef BP_COMPONENT_H
#define BP_COMPONENT_H

#include "bp_field.h"
#include "bp_list.h"

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
    void *user;                        /* bp_component_i.user */
    uint32_t watched;                  /* storage of its own: not 0 while stamps of the instances are kept: then tell
                                          changes by bp_world_api.instances_changed */
    uint32_t padding;
} bp_manager_t;

/* One step of a world. */
typedef struct bp_step_t {
    uint32_t struct_size;
    uint32_t padding;
    uint64_t number; /* steps done before this one */
    double dt;       /* length of this step, in the world's unit of time */
    double time;     /* the world's time at the beginning of the step */
    bp_commands_o *commands; /* where the verb that receives this records changes of structure (bp_command_api); its
                                own, good until it returns. NULL where no unit runs. */
    uint64_t moment; /* the stamp of what this unit writes, while the world keeps stamps (bp_changes.h) */
} bp_step_t;

/* Rows of entities that have the same components, as columns of one length: a whole run, or a range of its rows.
 * Borrowed: good until the verb that received it returns.
 * Every column of a run is aligned to 16 bytes, and to 64 bytes where the run has 16 rows or more, as are ranges; no
 * two columns overlap, so `restrict` is right. A row with entity {0} is a hole left by a dead entity; its columns hold
 * valid values, so a loop need not skip it. */
typedef struct bp_run_t {
    uint32_t struct_size;
    uint32_t count;              /* rows; never 0, but for a manager with storage of its own */
    uint32_t first;              /* row of the run that row 0 of this range is */
    uint32_t range;              /* number of this call among those of the step for this component: 0, 1, ..., the same
                                    on any number of threads */
    uint32_t prototype;          /* what its entities have (bp_world_api.prototype) */
    uint32_t padding;
    bp_manager_t *manager;
    const bp_step_t *step;
    const bp_entity_t *entities; /* the entity of each row */
    void *const *columns;        /* one for each declared field, in the order of declaration; own storage: NULL */
    const uint32_t *slots;       /* own storage: the slot of each row; else NULL */
    bp_name_t instance;          /* the name of the component in its entities ("fog") */
    bp_lists_o *lists;           /* where lists in these rows get memory during this call */
    void *reserved[4];           /* NULL */
} bp_run_t;

/* One column of a run, as a pointer to `type`. */
#define BP_COLUMN(run, type, index) ((type *)(run)->columns[(index)])

enum {
    BP_COMPONENT_AT_ONCE = 1u << 1,    /* declared fields: collect a dead entity's row at its death */
    BP_COMPONENT_PARALLEL = 1u << 2,   /* `simulate` may run for several ranges at the same time [job] */
    BP_COMPONENT_SINGLE = 1u << 3,     /* at most one instance an entity */
    BP_COMPONENT_LOSSY = 1u << 5,      /* storage of its own: a reload may go through although instances or read-only
                                          properties do not come back; it tells what is lost */
    BP_COMPONENT_CONCURRENT = 1u << 4, /* `simulate` touches nothing but its component, with the access that the fields
                                          say, its manager's state, and what `reads` and `writes` name; it may run on
                                          another thread, beside units that it does not conflict with [job] */
    BP_COMPONENT_WORLD = 1u << 6       /* declared fields: the world itself has it, once, from use_component on, and no
                                          entity does. Its values are properties of bp_world_api.own, under the type's
                                          name; systems get at them by a term that says BP_TERM_WORLD, and scenes, saves
                                          and reloads know them. A change of this flag is no reload: drop it first. */
};

/* The form of a state, for state_form: its size and a number, which you raise when the meaning of its members changes
 * and its size does not. Never 0. */
#define BP_STATE_FORM(type, number) ((uint64_t)(number) << 32 | (uint64_t)sizeof(type))

/* How a state is kept where a host remembers (docs/history.md), so that it can be brought back as it was. A manager
 * without `start` and without storage of its own has no state, and may leave `keeps` 0. Where any other manager leaves
 * it 0, the host does not switch its history on, and says which `keeps` is missing. */
enum {
    BP_KEEP_UNSAID = 0,
    BP_KEEP_NOTHING = 1, /* later steps do not depend on the state: it is left as it is */
    BP_KEEP_ANEW = 2,    /* all in it is found again in the world: when the world has gone back, `start` makes another
                            state, and `stop` ends the one before, which stays where `start` fails (a line of the log
                            says so). A system is told of all that match then, by either state. Not with storage of its
                            own. */
    BP_KEEP_PLAIN = 3,   /* `start` makes one block of as many bytes as state_form says, without addresses in it, and it
                            stays where it is: its bytes are copied */
    BP_KEEP_SAVED = 4    /* by the extension "bp_save", which then leaves nothing out: what it has loaded goes on bit by
                            bit as what it has saved. `load` is called in a state that `start` has just made beside the
                            present one, and asks nothing of the world. */
};

/* --- extensions ------------------------------------------------------------------------------------------------- */

enum {
    BP_EXTENSION_REQUIRED = 1u << 0 /* refuse the plugin where the host does not know the extension; else the log says
                                       so and the host goes on without it */
};

/* Verbs that few managers need, under a name. */
typedef struct bp_extension_t {
    const char *name;  /* "bp_save" */
    uint32_t flags;    /* BP_EXTENSION_... */
    uint32_t size;     /* of what `verbs` points to */
    const void *verbs; /* the struct that the extension's name stands for */
} bp_extension_t;

typedef struct bp_extension_list_t {
    const bp_extension_t *items;
    uint32_t count;
    uint32_t item_size;
} bp_extension_list_t;

/* One extension of a list: {BP_EXTENSION("bp_save", save_verbs)} */
#define BP_EXTENSION(extension, table) (extension), 0, (uint32_t)sizeof(table), &(table)

/* "bp_save" of a component with storage of its own: reload. `save` writes everything to one block from bp_memory_api;
 * `load` of the next version gets it with the `version` that wrote it, in a manager just started. All or
 * nothing. Instances keep their slots, or `load` tells with instances_moved where they lie now. Left out: the host
 * carries the instances over by their properties. */
typedef struct bp_save_i {
    bp_result_t (BP_CALL *save)(bp_manager_t *m, void **data, size_t *size);
    bp_result_t (BP_CALL *load)(bp_manager_t *m, uint32_t version, const void *data, size_t size);
} bp_save_i;

/* "bp_report" of a component: tables and remarks for people at the end of a run (bp_report_api). */
typedef struct bp_report_i {
    void (BP_CALL *report)(bp_manager_t *m, bp_report_o *report);
} bp_report_i;

/* "bp_spawn_order" of a component: scenes make instances of a smaller order first; left out: 0. */
typedef struct bp_spawn_order_i {
    int32_t order;
} bp_spawn_order_i;

/* "bp_rows" of a declared component: to be told of its rows, in batches. `rows` has all columns, hidden ones too, which
 * may be written, lists and texts among them; rows->step is NULL, and rows->prototype BP_NONE where the entities have
 * several. A refusal (with a sentence, bp_error_api.set) leaves everything as it was. What loops and queries write is
 * not told. Meanwhile rows of the world stay where they are, no entity can be destroyed, and properties of components
 * with these verbs cannot be set (BP_ERROR_STATE). [main]
 *
 * A new state is told of all rows that are there: after a reload where it did not go over (state_form), and where a
 * host goes back to a moment, of BP_KEEP_ANEW. So are hidden fields that are BP_FIELD_DERIVED told to be made again. Of
 * what `rows_added` writes then, only these stay, and after going back a refusal is a line of the log. At `stop` rows
 * are not told. */
typedef struct bp_rows_i {
    /* Rows that come, with their values: defaults, or those of a scene. The entities live; the rows are theirs when
     * this returns BP_OK. */
    bp_result_t (BP_CALL *rows_added)(const bp_run_t *rows, uint32_t count) BP_OR_ZERO;

    /* Rows that go, with the component or with their entity, while their values are still there. */
    void (BP_CALL *rows_removed)(const bp_run_t *rows, uint32_t count) BP_OR_ZERO;

    /* Field `field` of these rows has been set as a property, or an element of it; rows have the new value. */
    bp_result_t (BP_CALL *rows_set)(const bp_run_t *rows, uint32_t count, uint32_t field) BP_OR_ZERO;
} bp_rows_i;

/* Which deaths the verb is told of. */
enum {
    BP_DEATHS_ALL = 0,     /* of all entities of the host, whatever components they had in whichever world */
    BP_DEATHS_WITH = 1,    /* of entities that had the component `component` in this world */
    BP_DEATHS_REFERRED = 2 /* of entities that field `field` of the component `component` refers to in this world: a
                              declared field of type BP_ENTITY with a single value. Each batch that dies looks through
                              that column once; destroy many together. */
};

/* A batch of entities that have just died. `alive` already says no, and their components have gone. */
typedef struct bp_death_t {
    uint32_t struct_size;
    uint32_t count;
    const bp_entity_t *entities;
    const bp_entity_t *referrers; /* BP_DEATHS_REFERRED: referrers[i] lived when entities[i] died, and its field still
                                     holds entities[i]; a referrer that has the component under several names can come
                                     once for each. Else NULL. */
    bp_world_o *world;            /* BP_DEATHS_WITH and BP_DEATHS_REFERRED: where the component was; else NULL */
} bp_death_t;

/* "bp_deaths" of a component, in bp_system.h of a system, and in bp_plugin.h of a plugin: to be told of deaths in
 * batches, when they die. First the worlds forget the dead (`destroy` of storage); then managers are told, world by
 * world, in the order in which they came, and after those of a world its systems in the order of the step; then
 * plugins in the order in which they were loaded; then embedders (bp_host_on_destroyed). The verb may create and
 * destroy entities: what it destroys is announced in a batch of its own after this one. A reload takes over what the
 * next version asks for; with the plugin it ends. Where memory is lacking for it, deaths that are not BP_DEATHS_ALL
 * may go untold, and the log says so.
 *
 * A version that comes back when its successor is taken back is told of the deaths that its state has missed
 * meanwhile, in the order in which they were; their referrers may have died since. */
typedef struct bp_deaths_i {
    void (BP_CALL *died)(bp_manager_t *m, const bp_death_t *batch) BP_OR_ZERO;
    uint32_t which BP_OR_ZERO;        /* BP_DEATHS_... */
    uint32_t padding BP_OR_ZERO;
    const char *component BP_OR_ZERO; /* type; NULL: its own */
    const char *field BP_OR_ZERO;     /* of BP_DEATHS_REFERRED; a former name does, as in a term */
} bp_deaths_i;

/* --- storage of its own ------------------------------------------------------------------------------------------ */

/* The verbs of a manager that stores its instances itself. */
typedef struct bp_storage_i {
    uint32_t struct_size BP_OR_ZERO; /* sizeof(bp_storage_i) */
    uint32_t padding BP_OR_ZERO;

    /* Make `count` instances named `instance`, one for each entity, and write the slot of each to `slots`. `columns` is
     * NULL, or has an entry for each declared field: NULL, or `count` packed values, already checked for type and
     * range. What has no values begins with its default. Fields of type BP_ENTITY never have any here: what refers to
     * other entities is set by `set` when all of them exist. All or nothing: on an error there are as many instances as
     * before. The host has checked that the entities live and that the name is free. New entities can neither be
     * destroyed nor be given or deprived of components before all of their components are there (BP_ERROR_STATE). */
    bp_result_t (BP_CALL *create)(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                                  const void *const *columns, uint32_t *slots) BP_OR_ZERO;

    /* End the instances in `slots`. The slots come in descending order and without duplicates, so ending one
     * after another by swap-erase (last one into the hole) is right. Cannot fail. */
    void (BP_CALL *destroy)(bp_manager_t *m, const uint32_t *slots, uint32_t count) BP_OR_ZERO;

    /* Read or write field number `field` of the instances in `slots`. `values` points to the first value;
     * each next one lies `stride` bytes further. Types as in bp_types.h. A string read is good until the
     * manager is called again; a string written is the caller's, copy it. `set` is all or nothing where it can
     * fail; ranges have been checked. Either may be left out where there is no property to read or write. From within
     * them, and from `count`, nothing else can be changed (BP_ERROR_STATE). */
    bp_result_t (BP_CALL *get)(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                               size_t stride) BP_OR_ZERO;
    bp_result_t (BP_CALL *set)(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                               const void *values, size_t stride) BP_OR_ZERO;

    /* Number of instances, those of dead entities that are not yet collected among them. */
    uint32_t (BP_CALL *count)(bp_manager_t *m) BP_OR_ZERO;

    /* Collect instances of dead entities: random ones (bp_random_below on *random, so that runs repeat), until
     * four living ones in a row. Returns how many were ended. Leave it out to be told at once by `destroy`. */
    uint32_t (BP_CALL *gc)(bp_manager_t *m, uint64_t *random) BP_OR_ZERO;
} bp_storage_i;

/* --- the component ----------------------------------------------------------------------------------------------- */

/* A component manager. Every member may be left out. */
typedef struct bp_component_i {
    const char *name BP_OR_ZERO;          /* letters, digits, underscore; unique among the host's components and
                                             systems; NULL: the plugin's own name */
    const char *doc BP_OR_ZERO;           /* one line for people */
    uint32_t version BP_OR_ZERO;          /* of the saved form, see bp_save_i */
    uint32_t flags BP_OR_ZERO;            /* BP_COMPONENT_... */
    bp_field_list_t fields BP_OR_ZERO;    /* columns (declared) or properties (own storage) */

    /* Names of further components of the same world that `simulate` reads, and writes, beside its own;
     * separated by spaces; NULL: none. The order of a step follows from them, see bp_system.h. */
    const char *reads BP_OR_ZERO;
    const char *writes BP_OR_ZERO;

    /* Begin and end of a manager in a world. `start` may set m->state; where it fails it leaves nothing
     * behind, and `stop` is not called. At `stop` instances may still exist: the manager frees them. */
    bp_result_t (BP_CALL *start)(bp_manager_t *m) BP_OR_ZERO;
    void (BP_CALL *stop)(bp_manager_t *m) BP_OR_ZERO;

    /* Steps: called for each run of living or dead rows that have this component; a run may be handed
     * over in several ranges. `count` is run->count, at hand for the compiler. Own storage: called once a step with no
     * rows: count 0, entities and columns NULL. [main], or [job] where parallel or concurrent. */
    void (BP_CALL *simulate)(const bp_run_t *run, uint32_t count) BP_OR_ZERO;

    const bp_storage_i *storage BP_OR_ZERO; /* NULL: declared */

    /* Reload: what m->state is (BP_STATE_FORM). Where the next version of the plugin says the same, the state goes over
     * to it as it is, with everything in it, and neither `stop` nor `start` is called. 0, and where the next version
     * begins to be told of rows (bp_rows_i): `start` of the next version makes a state of its own. State that goes over
     * holds no address inside the plugin's image: no function, no literal. */
    uint64_t state_form BP_OR_ZERO;
    uint32_t keeps BP_OR_ZERO;            /* BP_KEEP_... */
    uint32_t padding BP_OR_ZERO;

    void *user BP_OR_ZERO;                /* handed on as m->user, for code that brings several components */
    bp_extension_list_t extensions BP_OR_ZERO; /* bp_save, bp_report, bp_spawn_order, bp_deaths,
                                                    bp_rows */
    void *reserved[2] BP_OR_ZERO;         /* NULL */
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
