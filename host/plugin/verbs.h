/* verbs.h - the one way in which the host calls a plugin: every verb of a component, a system or the plugin itself.
 *
 * Nothing else in the host calls through a slot's table (tools/check_verbs.sh looks). With a crash guard
 * (loader_t.guard) each call runs under it: a crash in the plugin ends the call, is told in the log, and the plugin is
 * *set aside* at once: from then on its verbs are not called, and the functions here answer in its place: nothing done,
 * 0, or an error that says so. Without a guard, and for plugins that are linked in, a function here is the call and
 * nothing more.
 *
 * Callers must know which verbs a table has: an entry that is NULL is not to be called through here.
 *
 * A verb that is appended to the contract needs a function here.
 *
 * Not here: what the host does about a plugin that has crashed; it decides that between steps.
 */
#ifndef HOST_PLUGIN_VERBS_H
#define HOST_PLUGIN_VERBS_H

#include "guard.h"
#include "registry.h"

/* Where a verb is called, for the report of a crash. */
typedef struct verb_place_t {
    const char *world;     /* its name */
    const uint64_t *steps; /* that the world has made */
} verb_place_t;

/* The argument of the verbs of a component in a world, and of those of a system; and where the call is made. */
typedef struct verb_manager_t {
    bp_manager_t handed;
    const verb_place_t *place;
} verb_manager_t;

/* What has become of a call that cannot refuse. */
typedef enum verb_made_t {
    VERB_MADE,
    VERB_ENDED, /* by the guard, before it returned */
    VERB_NOT_MADE /* the plugin is set aside */
} verb_made_t;

typedef struct verb_system_t {
    bp_system_t handed;
    const verb_place_t *place;
} verb_system_t;

/* The plugin itself. */
bp_result_t verb_load(plugin_t *plugin);
void verb_unload(plugin_t *plugin);
void verb_pause(plugin_t *plugin, uint32_t reason);
bp_result_t verb_resume(plugin_t *plugin, uint32_t reason);
void verb_plugin_died(plugin_t *plugin, const bp_death_t *batch);
void verb_task(plugin_t *plugin, const bp_task_t *task, const void *bytes, size_t size);

/* Have a plugin open a file of a kind of its own, and close what it has made of one. Errors have a sentence. */
bp_result_t verb_open(plugin_t *opener, const bp_loader_t *kind, const char *path, const char *bytes, size_t size,
                      const bp_plugin_head_t **head, void **content);
void verb_close(plugin_t *opener, const bp_loader_t *kind, void *content);

/* The verbs of a component manager, each called with m->handed. Threads as bp_component.h says. */
bp_result_t verb_start(const component_t *component, verb_manager_t *m);
void verb_stop(const component_t *component, verb_manager_t *m);
void verb_simulate(const component_t *component, verb_manager_t *m, const bp_run_t *run);
bp_result_t verb_create(const component_t *component, verb_manager_t *m, bp_name_t instance,
                        const bp_entity_t *entities, uint32_t count, const void *const *columns, uint32_t *slots);
verb_made_t verb_destroy(const component_t *component, verb_manager_t *m, const uint32_t *slots, uint32_t count);
bp_result_t verb_get(const component_t *component, verb_manager_t *m, uint32_t field, const uint32_t *slots,
                     uint32_t count, void *values, size_t stride);
bp_result_t verb_set(const component_t *component, verb_manager_t *m, uint32_t field, const uint32_t *slots,
                     uint32_t count, const void *values, size_t stride);
uint32_t verb_count(const component_t *component, verb_manager_t *m);
uint32_t verb_gc(const component_t *component, verb_manager_t *m, uint64_t *random);
void verb_died(const component_t *component, verb_manager_t *m, const bp_death_t *batch);
bp_result_t verb_rows_added(const component_t *component, verb_manager_t *m, const bp_run_t *rows);
verb_made_t verb_rows_removed(const component_t *component, verb_manager_t *m, const bp_run_t *rows);
bp_result_t verb_rows_set(const component_t *component, verb_manager_t *m, const bp_run_t *rows, uint32_t field);
bp_result_t verb_save(const component_t *component, verb_manager_t *m, void **data, size_t *size);
bp_result_t verb_load_saved(const component_t *component, verb_manager_t *m, uint32_t version, const void *data,
                            size_t size);
void verb_report(const component_t *component, verb_manager_t *m, bp_report_o *report);

/* A system. */
bp_result_t verb_system_start(const system_t *system, verb_system_t *s);
void verb_system_stop(const system_t *system, verb_system_t *s);
void verb_run(const system_t *system, verb_system_t *s, const bp_match_t *match);
void verb_run_all(const system_t *system, verb_system_t *s, const bp_step_t *step, const bp_match_t *matches,
                  uint32_t count);
void verb_entities_added(const system_t *system, verb_system_t *s, const bp_entity_t *entities, uint32_t count);
void verb_entities_removed(const system_t *system, verb_system_t *s, const bp_entity_t *entities, uint32_t count);
bp_result_t verb_system_save(const system_t *system, verb_system_t *s, void **data, size_t *size);
bp_result_t verb_system_load(const system_t *system, verb_system_t *s, const void *data, size_t size);
void verb_system_died(const system_t *system, verb_system_t *s, const bp_death_t *batch);
void verb_rewound(const system_t *system, verb_system_t *s, const bp_step_t *now);
void verb_system_report(const system_t *system, verb_system_t *s, bp_report_o *report);

/* For guard_tell_deaths, called before the process dies: the log says which plugin, verb, step, function and line. */
void verb_tell_death(void *data, const guard_crash_t *crash);

/* Call function(data), which calls entries of a table that `owner` offers, as a verb named `what`. false where the call
 * was ended, or where the owner is set aside. */
bool verb_of_table(plugin_t *owner, const char *what, void (*function)(void *data), void *data);

#endif
