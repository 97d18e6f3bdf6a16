/* host.h - the host: all parts of the engine put together.
 *
 * Only here do all parts meet. The host owns one of each part, in the order in which they need each other, and hands
 * calls from lower to upper parts down as tables.
 */
#ifndef HOST_ENGINE_HOST_H
#define HOST_ENGINE_HOST_H

#include "../history/history.h"
#include "../property/path.h"
#include "../reload/hot.h"
#include "../scene/scenes.h"
#include "../step/audit.h"
#include "../step/jobs.h"
#include "../step/schedule.h"
#include "../step/trace.h"
#include "../store/destruction.h"

#include "draft.h"
#include "wished_change.h"

#include <bp_look.h>
#include <bp_peers.h>
#include <bp_share.h>

struct bp_host_o {
    base_t base;
    registry_t registry;
    entities_t entities;
    loader_t loader;
    destruction_t destruction; /* knows the worlds */
    scenes_t scenes;
    reload_t reload;
    hot_t hot;
    bp_api_t api;
    crew_t crew;
    jobs_t *pool;              /* NULL: the embedder's, or one thread */
    bool watchful; /* BP_HOST_WATCHFUL */
    bool guarded;              /* calls that crash are ended, ... */
    uint32_t call_limit;       /* ... and those that take longer; 0: none */
    bool own_jobs;             /* jobs are the host's own */
    uint32_t layouts;          /* the last number of a layout given to a world */
    uint64_t worlds_made;
    uint64_t steps;            /* configured by an ini */
    uint32_t rank, ranks;      /* this process among its peers; both stay when the plugin that knows them goes */
    history_t history;
    audit_t audit;             /* of writes; asked where crew.audit is set */
    audit_t watch;             /* of units, in its place */
    bool audits;               /* the audit of writes is on, also while units are watched in its place */
    bool tells_no_clone;       /* the log has a line saying that bp_host_step_twice takes no step in a clone */
    jobs_t *other_pool;        /* another number of threads, for bp_host_step_twice; NULL until it is first needed */
    uint32_t other_threads;
    struct {
        bool waits;
        uint64_t moment;       /* ... or, where it is not 0, to the end of ... */
        uint64_t left;         /* ... the branch of that number */
        bp_result_t result;    /* of the last one that was carried out, ... */
        char why[256];         /* ... and the sentence for it; may be cut */
        bool holds;            /* at this moment the clocks are not those of the past (bp_world_o.in_the_past): */
        uint64_t at, branch;
    } wish;                    /* to go elsewhere in the past (table_history.c) */
    wished_change_t wished;    /* a change that a plugin wants to have tried, or made */
    wished_change_t wished_next; /* the next one, wished while that one is being carried out */
    draft_t draft;             /* lives beside this host */
    uint64_t images;           /* of plugins that have been kept so far (makeup.h) */
    memory_t makeups;          /* the account of all makeups */
    uint32_t wants_seen;       /* changes of plugins after which worlds have been looked at (use.c) */
    bool using;                /* something comes into a world, or is dropped */
    struct setup_ini_t *inis;  /* that it was set up from (setup_again.c) */
    uint32_t ini_count, ini_capacity;
    uint64_t inis_seen;        /* ms: when they were looked at last */
    char trial_helper[FILE_PATH_MAX]; /* the program that the embedder names; "": none */
    char *told;                /* the lines about the last setup from a changed ini */
    size_t told_size;
};

/* For functions that `get`, `set` and `count` of storage, and `save` and `load` of a state, must not call: leaves the
 * sentence and returns BP_ERROR_STATE. */
bp_result_t host_refuse_asked(bp_host_o *host);

/* For functions that must not be called inside a step or a destruction callback: BP_ERROR_STATE where it is so. */
bp_result_t host_refuse_during_step(bp_host_o *host);

/* Like host_refuse_during_step; refuses also calls from verbs that run while plugins, parts of plugins, or instances of
 * storage of their own, come and go: worlds are half made then, and are neither looked at as a whole nor replaced. */
bp_result_t host_refuse_from_verb(bp_host_o *host);

/* End a world, whatever is under way. */
void host_end_world(bp_world_o *world);

/* Like host_refuse_from_verb; refuses also calls from a posted task. Neither may load or unload plugins, step, or
 * poll. */
bp_result_t host_refuse_from_inside(bp_host_o *host);

/* For functions that must not be called in a copy, made by fork, of the process that has made the host:
 * BP_ERROR_STATE there. A copy may step the host, look at it and save it, and changes its plugins in no way: the files
 * that are watched and built, and the processes that try and build, are those of the other process. */
bp_result_t host_refuse_in_copy(bp_host_o *host);

/* Like host_refuse_from_inside and host_refuse_in_copy together. */
bp_result_t host_refuse_change(bp_host_o *host);

/* The tables of the contract (tables.c), and two that are found by their names (look.c). */
bp_api_t host_tables(void);
extern const bp_look_api host_look_table;
extern const bp_history_api host_history_table; /* table_history.c */

/* The parts of a host that a snapshot is made of (host_history.c). */
parts_t host_parts(bp_host_o *host);

/* A second host that is made of the same, without a state; and one that goes on from a snapshot of this one
 * (host_clone.c). Errors are those of the host. [main] */
bp_result_t host_clone_parts(bp_host_o *host, bp_host_o **clone);
bp_result_t host_clone(bp_host_o *host, const bp_snapshot_o *snapshot, bp_host_o **clone);

/* A snapshot that refers to the host's columns instead of copying them, good until the host changes
 * (snapshot_take_in_place): for making a clone. [main] */
bp_result_t host_snapshot_in_place(bp_host_o *host, bp_snapshot_o **out);

/* Bring back a snapshot of another host; names that this host does not know yet are interned. [main] */
bp_result_t host_bring_over(bp_host_o *host, const bp_snapshot_o *snapshot);

/* Go to the moment that a plugin has wished, where one has. [main], between steps */
void host_go_where_wished(bp_host_o *host);

/* A step is about to be taken, and the host may still be where a plugin has wished to be. Worlds stand and run there as
 * they did before the wish. Where that is not as it was at that moment, the step is another one: the difference counts
 * as a change from outside. [main] */
void host_step_where_wished(bp_host_o *host);

/* Remember nothing yet; the history is told of reloads from now on. Errors: memory. */
bp_result_t host_init_history(bp_host_o *host);

/* The world of a number, in order of creation. */
static inline bp_world_o *host_world(const bp_host_o *host, uint32_t index)
{
    return world_handle(host->destruction.worlds[index]);
}

/* Load a plugin by its name, its file or its source (host_plugins.c). [main], between steps */
bp_result_t host_load_file(bp_host_o *host, const char *name_or_path, const bp_option_t *options,
                           uint32_t option_count);

/* To be called after plugins have come or changed: bring the components and systems that a world was told to use and
 * lacks into that world (use.c). [main], between steps */
void host_bring_wanted(bp_host_o *host);

/* The worlds, for paths. */
path_worlds_t host_worlds(const bp_host_o *host);

/* As bp_world_create, with the result (host.c). */
bp_result_t host_create_world(bp_host_o *host, const bp_world_desc_t *desc, bp_world_o **out);

/* Turn the crash guard and hot reload on, as the flags of a host ask for them (host_plugins.c). For plugins that are
 * loaded from now on; a guard or reload that is on already stays as it is. Where the system has no guard a warning is
 * logged. [main] */
bp_result_t host_set_live(bp_host_o *host, const bp_host_desc_t *desc);

/* Have new versions tried first, in the way that the flags ask for and the system has (host_plugins.c). [main] */
void host_try_changes(bp_host_o *host, const bp_host_desc_t *desc);

/* Between steps: see to plugins that have crashed since; in builds with BACKPLANE_AUDIT also look for addresses into
 * images that have gone. [main] */
void host_attend_crashes(bp_host_o *host);

/* Bring back the versions before those on probation (reload_rollback), which the history is told of. [main] */
bp_result_t host_take_versions_back(bp_host_o *host);
#if defined(BACKPLANE_AUDIT)
enum { HOST_AUDITS = 1 };
#else
enum { HOST_AUDITS = 0 };
#endif

/* host_twice.c: have an audit expect the results of all units of the next step of each world. Errors: those of settling
 * a step; memory. [main], between steps */
bp_result_t host_expect_results(bp_host_o *host, audit_t *audit);

/* Read an embedder's table of functions as far as both sides know it: `known` is its size here. Missing
 * members are zero; so are all members where `given` is NULL. */
void host_read_part(void *part, const void *given, size_t known);

/* Run with `threads` threads of the host's own (host.c); in two halves, of which the first may fail: a pool (NULL where
 * none is needed, or it is there), and its taking over. [main] */
bp_result_t host_set_threads(bp_host_o *host, uint32_t threads);
bp_result_t host_make_threads(bp_host_o *host, uint32_t threads, jobs_t **pool);
void host_take_threads(bp_host_o *host, uint32_t threads, jobs_t *pool);

/* All entities with components in a world, for which there is room: world_t.occupied and no more (host_scenes.c). And
 * clearing a world: of the entities that are given, those of this world alone die, those that have components in other
 * worlds too only lose those of this one; cannot fail. [main], between steps */
uint32_t host_list_entities(const world_t *world, bp_entity_t *entities);
void host_clear_world(bp_host_o *host, world_t *world, bp_entity_t *entities, uint32_t count);

/* A scene of several worlds (host_several.c): how many entities it has; into the worlds that it names; in the place of
 * what they hold: those of `worlds`, or all that it names where that is NULL. */
uint32_t host_count_several(const bp_scene_o *scene);
bp_result_t host_spawn_several(const bp_scene_o *scene, uint32_t flags, bp_entity_t *entities, bp_spawn_t *spawn);
bp_result_t host_restore_several(const bp_scene_o *scene, bp_world_o *const *worlds, uint32_t count, uint32_t flags);

/* The clock of a world as a blob has it, where it has one (host_scenes.c). */
void host_set_clock(bp_world_o *world, const blob_info_t *info);

/* Has the world a component or a system of that name? And the end of one that has just come into it, which no entity
 * has any more: as if it had never come; cannot fail (use.c). [main], between steps */
bool host_has(const bp_world_o *world, const char *name, bool system);
void host_take_back(bp_world_o *world, const char *name, bool system);

/* Inis that the host was set up from, for the next look at them (setup_again.c): forget them all; and look whether one
 * has been written anew, where hot reload is on. */
void host_forget_inis(bp_host_o *host);
void host_follow_inis(bp_host_o *host);

/* Is the file at `path` a scene in JSON rather than a blob? By its name, or by how it begins. */
bool host_scene_is_json(const char *path);

/* A report under way: the sink, and the unit that is asked. */
struct bp_report_o {
    const bp_report_sink_i *sink;
    const char *world, *unit;
    uint32_t columns;
};

#endif
