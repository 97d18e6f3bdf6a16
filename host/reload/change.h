/* change.h - what the files of reload/ share: one change, from its files to its end.
 *
 * Plugins, managers and systems keep their addresses through a change; exchanged is their content: the plugin's image,
 * options and account (plugin_t up to `reloading`), the content of slots (registry_set_t), the state of managers and
 * systems, the columns of runs (run_shape_t). There are two sides of each: the side *in place*, which is at work, and
 * the side that the change has *kept* beside it. Exchanging swaps both sides. So before the commit the kept side is the
 * new one, afterwards the old one.
 *
 * Code of either side is called with its side in place: change_enter exchanges a plugin's content for the time of a
 * call, and its caller exchanges the state. So a verb is always handed the same bp_manager_t, bp_system_t and
 * bp_plugin_t, whichever version it is of.
 *
 * Inner to reload/.
 *
 * Not here: the interface for others (reload.h).
 */
#ifndef HOST_RELOAD_CHANGE_H
#define HOST_RELOAD_CHANGE_H

#include "../base/convert.h"
#include "../plugin/loader.h"
#include "../plugin/registry.h"
#include "reload.h"

/* One plugin of a change. */
typedef struct version_t {
    plugin_t *plugin;
    char *copy;          /* the file to open; NULL once `kept` has taken it over */
    uint64_t image;      /* plugin_t.image of the version to come */
    plugin_t kept;
    registry_set_t set;
    char former[64];     /* the version that the plugin had */
    bool open;           /* `kept` is a version that has been opened */
    bool loaded;         /* `load` of the kept version has been called */
    bool keeps_state;    /* the plugin's state goes over as it is */
    bool was_aside;      /* the plugin had crashed; the host trusts it while asking for its values */
    bool merges;         /* some state goes over, so the host cannot tell which version a block of memory belongs to */
    bool ended;          /* `unload` of the kept side has been called, and its account settled */
} version_t;

/* One component of these plugins. */
typedef struct component_change_t {
    version_t *version;
    component_t *slot, *kept;   /* kept->owner NULL: the component has gone */
    bool is_new;                 /* the slot was empty before */
    bool same;                   /* the fields are declared as before, to the letter */
    convert_source_t *sources;   /* where the values of each new field come from */
    uint32_t source_count;
    uint32_t rows;               /* in all worlds */
    bool reads_saved, adopts;    /* for the report: how the instances of own storage went over, ... */
    bool restarts;               /* ... and that state of the manager began anew */
    bool tells_rows;             /* the new version does not know the rows, and is told of them */
    bool begins_anew;            /* no state goes over: the old one has not been told of rows that went, and these have
                                    other fields */
} component_change_t;

/* How a manager's instances and values go over. */
typedef enum road_t {
    ROAD_FIELDS,     /* declared fields: columns */
    ROAD_STATE,      /* own storage, and the state goes over as it is: slots stay */
    ROAD_SAVED,      /* own storage: save, load */
    ROAD_PROPERTIES, /* own storage before and after: property by property */
    ROAD_TO_OWN,     /* declared before, own storage after */
    ROAD_FROM_OWN    /* own storage before, declared after */
} road_t;

/* One manager of a world. */
typedef struct manager_change_t {
    component_change_t *component;
    manager_t *manager;
    road_t road;
    void *state;              /* of the kept side */
    bool started;             /* the kept side has been started, and not stopped */
    bool keeps_state;
    const field_t **columns;  /* of the kept side */
    uint32_t column_count, hidden;
    const field_t **visible;  /* while there are hidden columns: the new columns without them */
    uint32_t visible_count;
    bool moved_back;          /* the columns have been taken back */
    bool moves;               /* the manager's columns become others, as `picks` says */
    run_pick_t *picks;        /* of the new columns, from the old ones, numbers from 0 */
    uint32_t pick_count;
    uint32_t *old_slots;      /* of own storage on probation: all slots that instances had */
    uint32_t old_slot_count, old_slot_room;
    unended_t unended;        /* of the kept side's state, where each side has its own */
    uint32_t **made;          /* on the way back: where the slots of instances made for it stand in hidden columns */
    uint32_t made_count, made_capacity;
} manager_change_t;

/* One system of a world. */
typedef struct system_change_t {
    unit_t *unit;
    version_t *version;
    const system_t *kept;
    void *state;
    bool started, keeps_state;
    known_t known;            /* on probation: what the kept state was told of last */
    bool stopped;             /* `stop` of the kept side has been called */
    bool gone;                /* the new version lacks the system: its unit leaves, and is stopped where it is out in
                                 the end */
} system_change_t;

/* A unit that comes into a world's step, or leaves it: of a component whose new version simulates where the old one did
 * not, or the reverse; or of a system that comes or goes. */
typedef struct unit_change_t {
    unit_t *unit;
    uint32_t at;  /* the unit's place in the step, while the unit is out of it */
    bool out;
} unit_change_t;

typedef struct world_change_t {
    world_t *world;
    schedule_t *schedule;    /* the world's */
    manager_change_t *managers;
    uint32_t manager_count, manager_capacity;
    system_change_t *systems;
    uint32_t system_count, system_capacity;
    unit_change_t *units;
    uint32_t unit_count, unit_capacity;
    run_shape_t *shapes;      /* of the runs that get other columns */
    uint32_t shape_count, shape_capacity;
    uint32_t *shape_of;       /* by prototype: number of the shape of its run + 1; 0: the run stays as it is */
    uint32_t prototype_count; /* of the world when it was prepared */
    bool could_step;          /* the world could step before the change */
    uint32_t layout;          /* the number of the kept side's columns; 0: no column changes */
    spots_t spots;            /* of the kept side */
    world_slots_i slots_elsewhere; /* while code of the kept side runs: the slots of the new instances */
} world_change_t;

enum { CHANGE_READ, CHANGE_PREPARED, CHANGE_COMMITTED };

/* A loss: values of a manager of a world that a change cannot bring back (of a property that cannot be set), or
 * instances. */
typedef struct carry_loss_t {
    const component_change_t *component;
    const char *world;
    const char *field;     /* NULL: instances that no entity of the world has */
    uint32_t type;         /* of the field */
    uint32_t count;        /* entities; or instances */
    bool given;            /* the new manager was given the values, and has not kept them */
    char first[360];       /* the first entity concerned, and its value before and after */
} carry_loss_t;

typedef struct ahead_t ahead_t;
typedef struct filling_t filling_t;
typedef struct ahead_column_t ahead_column_t;

struct reload_change_t {
    reload_t *reload;
    ahead_t *ahead;           /* columns made ready between steps (ahead.h); or NULL */
    int state;
    bool looks;               /* versions are opened to read their declarations; they are not loaded */
    bool lossy;               /* values that cannot be brought back may be lost */
    bool compared;            /* a trial has checked that new managers keep all values that they are given */
    bool anew;                /* nothing is carried over: the caller brings all rows and states back afterwards */
    carry_loss_t *losses;
    uint32_t loss_count, loss_capacity;
    bool hides;               /* columns that go are kept hidden: there will be a probation */
    bool hears_of_deaths;     /* for system_change_t.known */
    missed_t missed;          /* on probation: listeners of the kept sides, and the deaths that they have missed */
    version_t *versions;
    uint32_t version_count;
    component_change_t *components;
    uint32_t component_count, component_capacity;
    world_change_t *worlds;
    uint32_t world_count, world_capacity;
    filling_t *fillings; /* while columns are filled (columns.c) */
    uint32_t filling_count, filling_capacity, fillings_ended;
    uint64_t nanoseconds;     /* spent so far */
    uint64_t began;           /* os_clock_ns when preparing the change began */
    uint64_t posts;           /* how many posts there were before the change was prepared */
    uint64_t steps_left;      /* of the probation */
    char *text;               /* the block of text about the change: room for a head, then the rest */
    size_t text_size, text_length;
    bp_reload_field_t *fields;
    uint32_t field_count, field_capacity;
    bp_reload_report_t report;
};

static inline error_text_t *change_error(const reload_change_t *change)
{
    return &change->reload->base->error;
}

/* To be called before and after a verb that may fail, so that a failure has a sentence, and none of an earlier failure.
   Returns the result. */
static inline void reason_await(error_text_t *error)
{
    error->text[0] = '\0';
}

static inline bp_result_t reason_given(error_text_t *error, bp_result_t result)
{
    if (result != BP_OK && error->text[0] == '\0')
        error_set(error, result, "it gave no reason (code %d)", result);
    return result;
}

/* --- versions.c: plugins ----------------------------------------------------------------------------------------- */

/* Put the kept side of a plugin in place, for calls into it; and back. */
void change_enter(version_t *version);
void change_leave(version_t *version);

bp_result_t versions_read(reload_change_t *change, const char *const *names, uint32_t count);
bp_result_t versions_read_kept(reload_change_t *change, const reload_kept_t *kept, uint32_t count);
bp_result_t versions_open(reload_change_t *change);  /* opened, registered, loaded */
void versions_end(reload_change_t *change);          /* the kept sides end: their `unload` is called */
void versions_close(reload_change_t *change);        /* the kept sides are closed; copies that were not opened stay */
void versions_free(reload_change_t *change);

/* Does a state of form `old` go over unchanged to a version that declares form `new`? */
static inline bool same_form(uint64_t old, uint64_t new)
{
    return old == new && old != 0;
}

/* Does the state of a component go over unchanged? Not where the new version begins to be told of rows: it is told
 * while the change may still be refused, and then the state of the old version must be as it was. */
static inline bool state_goes_over(const component_t *old, const component_t *next)
{
    return same_form(old->table.state_form, next->table.state_form) && old->own_storage == next->own_storage &&
           (old->rows.rows_added != NULL || next->rows.rows_added == NULL);
}

/* --- versions.c: components --------------------------------------------------------------------------------------- */

bp_result_t plan_components(reload_change_t *change);
void plan_free(reload_change_t *change);
component_change_t *plan_of(const reload_change_t *change, const component_t *slot);

/* --- worlds_exchange.c: parts of the change, and putting the kept side in place
 * ----------------------------------------- */

/* The change of the manager of a key; NULL where it is not part of the change. */
manager_change_t *world_manager_change(const world_change_t *w, uint32_t key);

/* How many columns a key has in the shapes. */
uint32_t world_next_width(const world_change_t *w, uint32_t key);

/* The shape of a run and the number of the first column of `key` in it; NULL where the run stays as it is. */
run_shape_t *world_shape(const world_change_t *w, const run_t *run, uint32_t key, uint32_t *first);

/* Put the kept side of a manager or a system in place for a call, or back: to be called in pairs, around change_enter
 * and change_leave. */
void manager_enter(manager_change_t *m);
void manager_leave(manager_change_t *m);
void system_enter(system_change_t *s);
void system_leave(system_change_t *s);

#define EXCHANGE(type, a, b) do { type kept_ = (a); (a) = (b); (b) = kept_; } while (0)

/* --- worlds.c: managers, systems and runs of the worlds, made ready ------------------------------------------- */

bp_result_t worlds_prepare(reload_change_t *change);

/* --- worlds_exchange.c: the exchange, and the end of a side ----------------------------------------------------- */

void worlds_exchange(world_change_t *w);
void worlds_stop(reload_change_t *change);  /* stops the managers and systems that the kept sides have started */
void worlds_free(reload_change_t *change);

/* A world ends: the kept side of the change's part in that world ends too. */
void worlds_forget(reload_change_t *change, const world_t *world);

/* Lead references that were resolved for the old columns to the new ones. Once, after the exchange that stays. */
void worlds_tell(world_change_t *w, bool back);

/* States that were in the care of a version that is set aside may be in that of a sound one: have it end the instances
 * that were to end meanwhile, and tell it of the rows that went. */
void worlds_tell_gone(const reload_t *reload);

/* The lists of a manager's columns change sides. */
void exchange_columns(manager_change_t *m);

/* Drop the shapes after the final exchange; all of their columns are in use then. */
void worlds_drop_shapes(reload_change_t *change);

/* Drop the hidden columns. `next`: a change that has just been committed over this one; NULL where there is none.
 * Managers with columns that `next` has moved have no hidden columns of this change any more. */
void worlds_drop_hidden(reload_change_t *change, reload_change_t *next);

/* Keep in every run, of the `width` columns of the manager's keys, only those in `picks`. Afterwards bring the columns
 * of keys and prototypes in step with recount_columns. */
void keep_columns(world_change_t *w, const manager_t *manager, uint32_t width, const run_pick_t *picks, uint32_t count);
void recount_columns(world_change_t *w);

/* --- columns.c ---------------------------------------------------------------------------------------------------- */

bp_result_t columns_plan(reload_change_t *change, world_change_t *w, manager_change_t *m);

/* The new columns of a key in a run of world `w` are to be filled. All that are listed are filled at once, on the
 * threads of the host, so that many small runs take no longer than a large one. Then the rest is done world by world,
 * on the caller's thread: texts and lists, and the sentence about the first value that does not fit. In the end the
 * list is freed, also after a failure. */
bp_result_t columns_list(reload_change_t *change, const world_change_t *w, const manager_change_t *m,
                         run_shape_t *shape, uint32_t key, uint32_t old_first, uint32_t new_first);
void columns_fill(reload_change_t *change);
bp_result_t columns_end_fill(reload_change_t *change, const world_change_t *w);
void columns_free_list(reload_change_t *change);

/* The sentence about an entity's value that base/field.h refused; returns its result. */
bp_result_t columns_refuse(reload_change_t *change, const world_change_t *w, const manager_change_t *m,
                           bp_entity_t entity, const field_t *old, const field_t *field, const void *value);

/* --- carry.c ------------------------------------------------------------------------------------------------------ */

bp_result_t carry_instances(reload_change_t *change, world_change_t *w, manager_change_t *m);

/* One loss as people read it: "items of 2 entities (the first is ...)". Returns `text`. */
const char *loss_describe(const carry_loss_t *loss, char *text, size_t size);

/* --- pause.c ------------------------------------------------------------------------------------------------------ */

/* How long all worlds will stand still, before columns are made and values carried: logged where that is longer than a
 * frame, and refused (BP_ERROR_LIMIT) where it is longer than the limit. Precondition: worlds_prepare has chosen the
 * roads. */
bp_result_t pause_foresee(reload_change_t *change);

/* `done` of `all` instances of a manager have been carried: refused where the time taken so far says that the limit
 * will not be kept. */
bp_result_t pause_check(reload_change_t *change, const world_change_t *w, const manager_change_t *m, uint32_t done,
                        uint32_t all);

/* --- reload.c ----------------------------------------------------------------------------------------------------- */

/* Seal all worlds, and unseal them. */
void reload_seal(reload_t *reload);
void reload_unseal(reload_t *reload);

/* Exchange both sides of everything that the change contains. Cannot fail. */
void change_exchange(reload_change_t *change);

/* Pause the plugins of the change; resume the versions in place, where they do not run already. */
void change_pause(reload_change_t *change);
void change_resume(reload_change_t *change);

/* Forget the deaths that are held for the versions in place, which are taken back. */
void change_forget_held(const reload_change_t *change);

/* End the kept side, and the change with it. `resumes`: the plugins were paused for that, and what is in place is
 * resumed between both. */
void change_finish(reload_change_t *change, bool resumes);

/* --- report.c ----------------------------------------------------------------------------------------------------- */

/* Put the block and the list of fields together, but for the time taken; free both; complete the block, log it and call
 * the callbacks. */
bp_result_t report_prepare(reload_change_t *change);
void report_free(reload_change_t *change);
void report_finish(reload_change_t *change);
void report_forget(reload_t *reload);
void report_rollback(reload_change_t *change);

#endif
