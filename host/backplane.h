/* backplane.h - for embedders: hosts, worlds and steps. The one header of libbackplane beside plugin_api/.
 *
 *     bp_host_o *host = bp_host_create(NULL);
 *     bp_host_load_plugin(host, "plugins/point_mass", NULL, 0);
 *     bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = 60});
 *     bp_world_use_component(world, "point_mass");
 *     ... entities through bp_host_api(host), the same tables that plugins use ...
 *     for (int i = 0; i < 600; i++)
 *         bp_world_step(world);
 *     bp_host_destroy(host);
 *
 * Any number of hosts may live in one process; the library keeps no state outside them. All functions here
 * are [main]: call them from one thread at a time, and not from a plugin's verb or a callback unless the
 * function says so. A failing call changes nothing and leaves a sentence in bp_host_error.
 *
 * A host belongs to the process that has made it. In a copy of that process, made between steps by fork, the host can
 * be stepped (on the calling thread, with the same results), read, changed by its tables, saved and taken back to its
 * past. Loading, reloading, polling and recording answer BP_ERROR_STATE there. bp_host_destroy does nothing in the
 * copy, whose memory goes with it: plugins are not told to stop, since their files and threads are the other process's.
 *
 * Not here: pictures, sound, a main loop; the embedder brings them.
 */
#ifndef BACKPLANE_H
#define BACKPLANE_H

#include <bp_peers.h>
#include <bp_plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BACKPLANE_VERSION "0.1.0"

/* Functions of the library, visible to programs that link it, statically or shared. */
#if defined(_WIN32) && defined(BACKPLANE_SHARED)
#define BACKPLANE_API __declspec(dllimport)
#elif defined(_WIN32) && defined(BACKPLANE_BUILD_SHARED)
#define BACKPLANE_API __declspec(dllexport)
#elif defined(_WIN32)
#define BACKPLANE_API
#else
#define BACKPLANE_API __attribute__((visibility("default")))
#endif

/* --- host -------------------------------------------------------------------------------------------------- */

/* Tables of functions that an embedder hands over (bp_..._i) are read as far as both sides know their members:
 * struct_size is the sizeof of the struct; 0 stands for its size in library version 0.1. bp_allocator_i, bp_log_i and
 * bp_jobs_i are read while a host is made. */

/* Memory. resize allocates (old NULL), resizes and frees (new_size 0); 16-byte aligned; NULL when out of memory,
 * the old block untouched. May be called from job threads. */
typedef struct bp_allocator_i {
    uint32_t struct_size;
    uint32_t padding;
    void *context;
    void *(*resize)(void *context, void *old, size_t old_size, size_t new_size);
} bp_allocator_i;

/* Log lines: `source` is the plugin's name or "host"; `level` is BP_LOG_... May be called from job threads. */
typedef struct bp_log_i {
    uint32_t struct_size;
    uint32_t padding;
    void *context;
    void (*write)(void *context, int32_t level, const char *source, const char *text);
} bp_log_i;

/* Threads. `run` calls job(data, i) for every i from 0 to count - 1, on as many threads as it likes (at most `threads`,
 * the calling one among them), and returns when all are done. The thread that steps calls `run`, for one step at a
 * time. Jobs share out the work among themselves, so any number of jobs may run one after another; but a job that has
 * begun may wait for other jobs that have begun. */
typedef struct bp_jobs_i {
    uint32_t struct_size;
    uint32_t threads;
    void *context;
    void (*run)(void *context, void (*job)(void *data, uint32_t index), void *data, uint32_t count);
} bp_jobs_i;

/* Flags of a host. */
enum {
    BP_HOST_CRASH_GUARD = 1u << 0, /* a crash inside a plugin from a file ends that call and sets the plugin aside; the
                                      host goes on (docs/hot_reload.md; Linux, elsewhere a warning is logged) */
    BP_HOST_COPY_PLUGINS = 1u << 1, /* plugins are opened from copies in a temporary folder, so that their files may be
                                      overwritten while the host runs */
    BP_HOST_HOT_RELOAD = 1u << 2,  /* bp_host_poll watches the plugins' files and reloads what has been written anew;
                                      implies BP_HOST_COPY_PLUGINS */
    BP_HOST_TRIAL = 1u << 3,       /* new versions of plugins, watched or reloaded by hand, are tried first in a copy of
                                      this process (docs/hot_reload.md); where the system has no fork, by a helper */
    BP_HOST_CRASH_TELL = 1u << 4,  /* without the guard: a crash inside a plugin is described in the log - which plugin,
                                      verb, step, function and line - before it ends the program */
    BP_HOST_WATCHFUL = 1u << 5,    /* the default where an ini has no line about crashes: the guard is on, as are trials
                                      of new versions, where the system has them; with `crash_guard = off` crashes are
                                      described in the log */
    BP_HOST_TRIAL_HELPER = 1u << 6 /* with BP_HOST_TRIAL: by a helper on every system (bp_helper_run), which has a host
                                      like this one, but not its data; this process is not copied */
};

/* Everything about a host; all of it may be left zero. */
typedef struct bp_host_desc_t {
    uint32_t struct_size;         /* sizeof(bp_host_desc_t), or 0 */
    uint32_t threads;             /* of the host's own pool, used where `jobs` is NULL; 0: one */
    uint64_t seed;                /* of the random numbers of gc; the same seed gives the same run */
    const bp_allocator_i *allocator; /* NULL: the C library and the system's pages */
    const bp_log_i *log;          /* NULL: warnings and errors to stderr */
    const bp_jobs_i *jobs;        /* NULL: the host's own threads */
    const bp_plugin_head_t *const *static_plugins; /* plugins linked into this program, found by name first */
    uint32_t static_plugin_count;
    uint32_t tag;                 /* 1 to 2047: marks this host's entities; 0: drawn at random */
    uint32_t flags;               /* BP_HOST_... */
    uint32_t call_limit;          /* under the crash guard: milliseconds that a plugin may stay in one call; 0: any */
    uint32_t trial_deadline;      /* milliseconds that a trial may take; 0: 5,000 */
    uint32_t probation;           /* under the crash guard: steps of worlds during which a crash after a reload brings
                                     the version before it back; 0: none */
    uint32_t reload_pause;        /* milliseconds that worlds may stand still for one reload: a reload with a longer
                                     estimate is refused before it begins; 0: any */
    uint32_t reload_try;          /* with hot reload: new versions run beside the host for so many steps, as a draft
                                     (bp_host_draft), before they are let in; 0: they are let in at once */
    uint32_t padding;
    const char *trial_helper;     /* the program that is started as a helper, read while the host is made; NULL:
                                     backplane, beside the running program or beside the library */
} bp_host_desc_t;

/* Create a host. `desc` may be NULL. NULL when out of memory. */
BACKPLANE_API bp_host_o *bp_host_create(const bp_host_desc_t *desc);

/* End all worlds, unload all plugins, newest first, and free everything. NULL is allowed. Memory that a plugin has
 * not given back is reported to the log as its leak. */
BACKPLANE_API void bp_host_destroy(bp_host_o *host);

/* The tables that plugins use, good for as long as the host. */
BACKPLANE_API const bp_api_t *bp_host_api(bp_host_o *host);

/* The sentence of the last failed call, "" at first. */
BACKPLANE_API const char *bp_host_error(bp_host_o *host);

/* Where a program is to be its own helper (bp_host_desc_t.trial_helper), call this first in main, with main's
 * arguments: -1 where the program was not started as a helper. Else the call does a helper's work, and the process ends
 * with it. Of `desc`, which may be NULL, the allocator and the static plugins are used. */
BACKPLANE_API int bp_helper_run(int count, char **texts, const bp_host_desc_t *desc);

/* --- plugins ------------------------------------------------------------------------------------------------- */

/* A value for an option, as text. Handed over in arrays, so its members stay as they are. */
typedef struct bp_option_t {
    const char *name;
    const char *value;
    const char *origin; /* where it stands, for messages: "game.ini:12"; may be NULL */
    const char *base;   /* the file beside which relative paths lie; NULL: the working directory */
} bp_option_t;

/* Load a plugin: by the name of a static one, else by a file's path, with or without the ending of the platform. A
 * relative path is looked up from the working folder of each moment: a program that changes that folder gives absolute
 * ones. The file is judged before the system loads it. A source (.c, .cc, .cpp, .cxx, .rs) is compiled first, which is
 * waited for; where hot reload is on, the source and what it includes are watched, and compiled anew beside the host.
 * What a compiler says goes to the log as it is. */
BACKPLANE_API bp_result_t bp_host_load_plugin(bp_host_o *host, const char *name_or_path, const bp_option_t *options,
                                uint32_t option_count);

/* Set what sources are compiled with, a command of the system's shell or flags for it, by the key that an ini has for
 * that: "cc", "cflags", "cxx", "cxxflags", "rustc", "rustflags"; "" is the default again. For what is compiled from now
 * on. BP_ERROR_ARGUMENT for another key, or a text of more than 511 bytes. */
BACKPLANE_API bp_result_t bp_host_set_compiler(bp_host_o *host, const char *key, const char *text);

/* Compile the source of a plugin and wait for it, and load nothing. The path of the library, which the host removes
 * when it is destroyed, goes to *library. */
BACKPLANE_API bp_result_t bp_host_compile_plugin(bp_host_o *host, const char *path, const char **library);

/* The folder with the headers for plugins, without a separator at its end: beside the program or this library, in an
 * installed tree or in the source tree. BP_ERROR_NOT_FOUND where there is none. Needs no host. */
BACKPLANE_API bp_result_t bp_host_headers(char *folder, size_t size);

/* Unload a plugin: its systems and managers stop in all worlds, their components go, its tables turn into
 * stubs. BP_ERROR_NOT_FOUND where there is none of that name; BP_ERROR_STATE, naming them, where units of other plugins
 * need one of its components or systems: their worlds could not step any more. */
BACKPLANE_API bp_result_t bp_host_unload_plugin(bp_host_o *host, const char *name);

/* Unload a plugin as bp_host_unload_plugin does, and take the systems that need the plugin out of their worlds as well;
 * the log says which. Components of other plugins that need the plugin are refused all the same. */
BACKPLANE_API bp_result_t bp_host_unload_plugin_with(bp_host_o *host, const char *name);

/* The `index`-th plugin, in order of loading, and the file it came from ("" where static); NULL past the last. The head
 * that is returned is the host's own copy: texts, lists, and the items of lists in the sizes that this library knows.
 * The copy is good until the plugin is reloaded or unloaded. `path` may be NULL. */
BACKPLANE_API const bp_plugin_head_t *bp_host_plugin(bp_host_o *host, uint32_t index, const char **path);

/* Why the `index`-th plugin is set aside: how it crashed under the guard. The verbs of a plugin that is set aside are
 * not called any more. NULL for a plugin that works, and past the last. */
BACKPLANE_API const char *bp_host_plugin_crash(bp_host_o *host, uint32_t index);

/* Receives one finding about a plugin: BP_LOG_ERROR a rule of bp_plugin.h that it breaks, BP_LOG_WARNING what may go
 * wrong, BP_LOG_INFO a fact. */
typedef void (*bp_check_callback)(void *data, int32_t level, const char *text);

/* Look into a plugin's file - variables of its own, what would keep it in memory, what it imports - and load it in a
 * copy of this process (on Windows: in a helper, bp_helper_run) to see what it brings. No host is needed, and none is
 * touched. BP_ERROR_FAILED where an error was found. */
BACKPLANE_API bp_result_t bp_check_plugin(const char *path, const bp_option_t *options, uint32_t option_count,
                                          bp_check_callback found, void *data);

/* The same of a plugin that needs others, which are loaded before it, without options. A file whose name does not end
 * as those of libraries do is one that the others open (bp_loader_t), and is not judged as a library. */
BACKPLANE_API bp_result_t bp_check_plugin_beside(const char *path, const char *const *needs, uint32_t need_count,
                                                 const bp_option_t *options, uint32_t option_count,
                                                 bp_check_callback found, void *data);

/* --- reload ------------------------------------------------------------------------------------------------------- */

/* The fate of a field in a reload. */
enum { BP_RELOAD_KEPT = 0, BP_RELOAD_ADDED = 1, BP_RELOAD_DROPPED = 2, BP_RELOAD_RENAMED = 3, BP_RELOAD_CONVERTED = 4,
       BP_RELOAD_LOST = 5,  /* of storage of its own: nothing could set it again */
       BP_RELOAD_HIDDEN = 6 /* it was a property, and is a hidden field with its values now */ };

typedef struct bp_reload_field_t {
    const char *component;
    const char *field;
    const char *former;   /* what it was called, where it was renamed; else "" */
    const char *initial;  /* its default, as text; "": that of its type */
    uint32_t what;        /* BP_RELOAD_... */
    uint32_t old_type;    /* BP_BOOL ...; BP_TYPE_NONE where it was added */
    uint32_t new_type;    /* BP_TYPE_NONE where it was dropped */
    uint32_t old_count;   /* values of a cell: 1, those of an array; 0: any number, a list */
    uint32_t new_count;
    uint32_t lost;        /* elements of each array that have no place in the new one; BP_RELOAD_LOST: how many
                             entities have another value now; with field "", how many instances have gone */
} bp_reload_field_t;

/* The result of a reload. */
typedef struct bp_reload_report_t {
    uint32_t struct_size;  /* sizeof(bp_reload_report_t), or 0 */
    bp_result_t result;
    const char *text;      /* all of it as a block of lines for people; refused: the reason, and what to do */
    uint64_t pause;        /* nanoseconds during which no world could step */
    uint64_t rows;         /* instances of the plugins' components, in all worlds */
    uint32_t worlds;
    uint32_t field_count;
    const bp_reload_field_t *fields;
    uint32_t field_size;   /* bytes from one of them to the next: later libraries append members */
    uint32_t padding;
} bp_reload_report_t;

typedef void (*bp_reloaded_callback)(void *data, const bp_reload_report_t *report);

/* Load the present files of loaded plugins, in place of what is at work: the code, and the data of every world brought
 * into the form that the new code declares (docs/reload.md). Several plugins in one go where they are to change
 * together. All or nothing: on a failure every world, property and reference is as it was, and the old code goes on.
 * Where the host makes trials (BP_HOST_TRIAL) the new versions are tried first, as those of watched files are, and the
 * call waits for the end of the trial: some ten milliseconds more, and trial_deadline at most. All is done at once,
 * which takes longer than a frame where columns of a million rows become others; bp_host_begin_reload lets the worlds
 * go on meanwhile. Between steps only: BP_ERROR_STATE from inside a step, a callback or a verb. `report` may be NULL;
 * the report's texts are good until the next reload or unload. The text also goes to the log. */
BACKPLANE_API bp_result_t bp_host_reload(bp_host_o *host, const char *const *names, uint32_t count,
                                         bp_reload_report_t *report);

/* Reload as bp_host_reload does, also where values may be lost. A component with storage of its own that has neither
 * `save` and `load` nor a `state_form` is carried over by the properties that can be set. Where a read-only property
 * has another value afterwards, or instances are missing, bp_host_reload refuses; bp_host_reload_lossy reloads and
 * reports the loss (BP_RELOAD_LOST). A read-only property that is computed from the others has BP_FIELD_DERIVED, and a
 * component that may lose values and instances has BP_COMPONENT_LOSSY: these losses refuse no reload. */
BACKPLANE_API bp_result_t bp_host_reload_lossy(bp_host_o *host, const char *const *names, uint32_t count,
                                               bp_reload_report_t *report);

enum { BP_RELOAD_LOSSY = 1u << 0 /* as bp_host_reload_lossy: also where values may be lost */ };

/* Reload as bp_host_reload does, beside the steps: the call only asks for the reload, and bp_host_poll does it in the
 * way of watched files, also where none are watched. With BP_HOST_TRIAL the trial runs beside the host. The columns
 * that are converted are made ready in slices of 2 ms between steps, so that the loop stops for less than a frame; for
 * that, without a trial, new versions are opened once more before the change, where there are many instances.
 * `flags`: BP_RELOAD_... or 0. The result goes to the callback of bp_host_on_reload, once for all plugins asked for
 * meanwhile, and to the log. Plugins that are given as their source are compiled before the call comes back.
 * BP_ERROR_NOT_FOUND where one of the plugins is not loaded, BP_ERROR_ARGUMENT for none and for unknown flags: then
 * nothing has been asked for. Between steps only, as bp_host_reload. */
BACKPLANE_API bp_result_t bp_host_begin_reload(bp_host_o *host, const char *const *names, uint32_t count,
                                               uint32_t flags);

/* Do the host's work between steps: carry out tasks that threads of plugins have posted (bp_task.h), see to plugins
 * that have crashed, and go on with hot reload: take in files that are finished, and follow builds and trials. Call
 * bp_host_poll between steps, best after each; results of hot reload are told as by bp_host_on_reload and in the log.
 * Where there is nothing to do the call comes back at once; files are looked at every 2 ms at most. BP_ERROR_STATE from
 * inside a step, a callback or a posted task. */
BACKPLANE_API bp_result_t bp_host_poll(bp_host_o *host);

/* Poll as bp_host_poll does; where there is nothing to do wait once: until something is posted, a file changes,
 * bp_host_wake is called, or so many nanoseconds have passed (UINT64_MAX: without end); then poll again. The call may
 * come back early, for instance where a signal comes: put it into the loop that also looks at the time. BP_ERROR_LIMIT
 * where the system has nothing left to wait with: then the call has only slept, a millisecond at most. */
BACKPLANE_API bp_result_t bp_host_wait(bp_host_o *host, uint64_t nanoseconds);

/* Wait as bp_host_wait does, woken as well when one of up to 8 handles can be read without waiting: file descriptors;
 * on Windows objects that can be waited for. */
BACKPLANE_API bp_result_t bp_host_wait_for(bp_host_o *host, uint64_t nanoseconds, const intptr_t *handles,
                                           uint32_t count);

/* Have a bp_host_wait that waits now come back, or the next one wait not at all. [any] */
BACKPLANE_API void bp_host_wake(bp_host_o *host);

/* Have `callback` called at every reload and every refusal, also of reloads that bp_host_poll or a plugin began. The
 * callback must not change the host. */
BACKPLANE_API bp_result_t bp_host_on_reload(bp_host_o *host, bp_reloaded_callback callback, void *data);

/* --- worlds ---------------------------------------------------------------------------------------------------- */

typedef struct bp_world_desc_t {
    uint32_t struct_size; /* sizeof(bp_world_desc_t), or 0 */
    uint32_t padding;
    const char *name;     /* letters, digits, underscore; unique in the host */
    double step_rate;     /* steps in one unit of the world's time; 0: 60 */
    const char *units;    /* what the world calls the kg, m and s that fields declare: "kg=solar mass, m=au, s=day";
                             NULL: as declared. Only what is printed changes. */
} bp_world_desc_t;

/* Create a world. NULL on failure. */
BACKPLANE_API bp_world_o *bp_world_create(bp_host_o *host, const bp_world_desc_t *desc);
BACKPLANE_API void bp_world_destroy(bp_world_o *world);

/* Bring a component's manager or a system of a loaded plugin into a world, and drop it again: as the entries of the
 * same names of bp_world_api. */
BACKPLANE_API bp_result_t bp_world_use_component(bp_world_o *world, const char *type);
BACKPLANE_API bp_result_t bp_world_use_system(bp_world_o *world, const char *name);
BACKPLANE_API bp_result_t bp_world_drop_component(bp_world_o *world, const char *type);
BACKPLANE_API bp_result_t bp_world_drop_system(bp_world_o *world, const char *name);

/* One step: all units in order, then gc. Not from inside a step of whichever world, a callback or a posted task
 * (BP_ERROR_STATE). The first step settles the order and fails where it cannot be had (names that no unit bears, a
 * circle). */
BACKPLANE_API bp_result_t bp_world_step(bp_world_o *world);

/* One step of every world, in order of creation. Where all units of all worlds are concurrent and none wants
 * commands first, the units of all worlds run side by side, and what comes after them is done world by world: on
 * one thread too, so that results do not depend on threads. */
BACKPLANE_API bp_result_t bp_host_step(bp_host_o *host);

/* --- destruction ----------------------------------------------------------------------------------------------- */

typedef void (*bp_destroyed_callback)(void *data, const bp_entity_t *entities, uint32_t count);

/* Have a batch of entities announced that have just died, as the extension "bp_deaths" of bp_component.h says. `owner`
 * is any address of the embedder's; the host never reads what lies there. Callbacks run in order of registration, after
 * those of managers. */
BACKPLANE_API bp_result_t bp_host_on_destroyed(bp_host_o *host, const void *owner, bp_destroyed_callback callback,
                                               void *data);

/* Drop all callbacks of an owner. May be called from a callback. */
BACKPLANE_API void bp_host_drop_owner(bp_host_o *host, const void *owner);

/* --- ini files ------------------------------------------------------------------------------------------------- */

/* Do what an ini file says: load plugins, create worlds, bring in components and systems, spawn entities. All or
 * nothing: on an error the host is as it was, and bp_host_error begins with "file:line: ". docs/config.md
 * says what an ini may hold. Between steps only, as bp_host_reload. */
BACKPLANE_API bp_result_t bp_host_setup(bp_host_o *host, const char *ini_path);

/* Do what has changed in that file since: options (their plugins are reloaded with them), plugins, worlds, components,
 * systems and their order, step rates, units, scenes and entities that are new. All or nothing, as above; what cannot
 * change while a host runs is refused with all the rest (docs/config.md). `told`, which may be NULL, is given a line
 * about each change, good until the next call of this. Where hot reload is on, bp_host_poll does it by itself when the
 * file has been written, and tells the log. BP_ERROR_NOT_FOUND where the host was not set up from that file. */
BACKPLANE_API bp_result_t bp_host_setup_again(bp_host_o *host, const char *ini_path, const char **told);

/* Only the plugins of an ini file, with their options: for tools that ask what there is and simulate nothing. The whole
 * file must be right all the same, as far as that shows without its worlds. */
BACKPLANE_API bp_result_t bp_host_setup_plugins(bp_host_o *host, const char *ini_path);

/* The number of steps that `steps` under [host] in the ini asked for; 0 where the ini has no such line. */
BACKPLANE_API uint64_t bp_host_configured_steps(bp_host_o *host);

/* --- peers ----------------------------------------------------------------------------------------------------- */

/* The number of processes that do the same ini together (bp_peers.h), 1 where this process is alone; `rank` receives
 * which of them this process is, from 0, and may be NULL. Both are known from the setup that loads the plugin with the
 * table of bp_peers.h on, and then for as long as the host. */
BACKPLANE_API uint32_t bp_host_peers(bp_host_o *host, uint32_t *rank);

/* Send bytes to all peers and receive those of all peers, as bp_peers_api.exchange; a process that is alone receives
 * its own. */
BACKPLANE_API bp_result_t bp_host_exchange(bp_host_o *host, const void *bytes, size_t size, bp_peers_take take,
                                           void *data);

/* Leave the peers, as bp_peers_api.leave: with `failed` before a process ends because something went wrong, which ends
 * the others too. bp_host_destroy leaves in good order, and a setup that fails leaves as failed. */
BACKPLANE_API void bp_host_leave_peers(bp_host_o *host, int32_t failed);

/* --- scenes ------------------------------------------------------------------------------------------------------- */

/* A scene (bp_scene_o) is a block of bytes that docs/scene_blob.md describes: a level, a prefab or a saved world. A
 * scene comes from a file, from memory, from JSON (bp_scene_compile) or from a world (bp_scene_capture), and can be
 * spawned, restored, written and shown. Scenes that are still open are closed with their host. None of these functions
 * may be called from inside a step or a destruction callback (BP_ERROR_STATE). */

/* Open a file. The file is mapped and checked whole: errors name the file, the section and what is wrong. Replace a
 * file that is open by renaming, never in place. A file of JSON is compiled instead, as by bp_scene_compile. */
BACKPLANE_API bp_result_t bp_scene_open(bp_host_o *host, const char *path, bp_scene_o **scene);

/* Open bytes in memory, aligned to 16, which stay the caller's and must stay as they are; `origin` stands for a path in
   messages. */
BACKPLANE_API bp_result_t bp_scene_open_memory(bp_host_o *host, const void *bytes, size_t size, const char *origin,
                                               bp_scene_o **scene);

/* Compile a scene from a JSON file (docs/scenes.md) for the component types of the plugins that are loaded. Nothing is
 * spawned. On an error bp_host_error begins with "file:line:column: ". */
BACKPLANE_API bp_result_t bp_scene_compile(bp_host_o *host, const char *json_path, bp_scene_o **scene);

/* Compile a scene as bp_scene_compile does, from `size` bytes of JSON; `origin` is what messages call the bytes. */
BACKPLANE_API bp_result_t bp_scene_compile_text(bp_host_o *host, const char *origin, const char *json, size_t size,
                                                bp_scene_o **scene);

/* Make a scene of a world as it is: its entities, those without components here that others refer to, every property
 * but derived ones (read only, of components with storage of their own), and its clock. References to the dead become
 * "none". */
BACKPLANE_API bp_result_t bp_scene_capture(bp_world_o *world, bp_scene_o **scene);

/* Close a scene; NULL is allowed. Entities that the scene spawned stay. */
BACKPLANE_API void bp_scene_close(bp_scene_o *scene);

/* The scene's bytes, good until the scene is closed; and writing the bytes to a file: to a file beside it first, which
 * is then renamed into its place, so that a full disk leaves the old file whole. */
BACKPLANE_API const void *bp_scene_bytes(const bp_scene_o *scene, size_t *size);
BACKPLANE_API bp_result_t bp_scene_write(const bp_scene_o *scene, const char *path);

/* How many entities a spawn makes, and how many components they have together. */
BACKPLANE_API uint32_t bp_scene_entity_count(const bp_scene_o *scene);
BACKPLANE_API uint64_t bp_scene_component_count(const bp_scene_o *scene);

/* The worlds that a scene names itself, by number: JSON with "worlds", or a save of several. NULL past the last; at 0
 * already for a scene that comes into whatever world it is spawned into. */
BACKPLANE_API const char *bp_scene_world(const bp_scene_o *scene, uint32_t number);

/* Spawn into a world of the scene's host; as bp_scene_api says, like the four after it. `flags` are BP_SCENE_... For a
 * scene that names its worlds `world` is NULL, and an entity that is in several of them is one. */
BACKPLANE_API bp_result_t bp_scene_spawn(bp_scene_o *scene, bp_world_o *world, uint32_t flags, bp_entity_t *entities,
                                         bp_spawn_t *spawn);
BACKPLANE_API uint32_t bp_host_despawn(bp_host_o *host, bp_spawn_t spawn);
BACKPLANE_API uint32_t bp_host_spawned(bp_host_o *host, bp_spawn_t spawn, bp_entity_t *entities, uint32_t capacity);
BACKPLANE_API void bp_host_release_spawn(bp_host_o *host, bp_spawn_t spawn);

/* Spawn, then take away what the world held before, and set its clock to the scene's if the scene has one. All or
 * nothing. Entities that lived in this world alone die; those that have components in other worlds too lose only those
 * of this one. */
BACKPLANE_API bp_result_t bp_scene_restore(bp_scene_o *scene, bp_world_o *world, uint32_t flags);

/* A scene as text for people, or with BP_DUMP_JSON as the JSON that the compiler reads; piece by piece to `write`.
 * Where it is refused memory, what has been written so far is no whole text. */
enum { BP_DUMP_JSON = 1u << 0 };
typedef struct bp_text_sink_i {
    uint32_t struct_size;
    uint32_t padding;
    void *context;
    void (*write)(void *context, const char *text, size_t length);
} bp_text_sink_i;
BACKPLANE_API bp_result_t bp_scene_dump(const bp_scene_o *scene, uint32_t flags, const bp_text_sink_i *sink);

/* Capture and write; open, restore and close. */
BACKPLANE_API bp_result_t bp_world_save(bp_world_o *world, const char *path);
BACKPLANE_API bp_result_t bp_world_restore(bp_world_o *world, const char *path, uint32_t flags);

/* Several worlds in one file: an entity with components in more than one of them is one entity again after the restore.
 * `worlds` NULL stands for all: of the host, or of the file. Restoring is as bp_scene_restore for each world, all or
 * nothing over all of them; a file has worlds under their names, and those that are not asked for stay in it.
 * BP_ERROR_NOT_FOUND where file or host has no world of a name; BP_ERROR_SYNTAX where it is no such file. */
BACKPLANE_API bp_result_t bp_host_save_worlds(bp_host_o *host, bp_world_o *const *worlds, uint32_t count,
                                              const char *path);
BACKPLANE_API bp_result_t bp_host_restore_worlds(bp_host_o *host, bp_world_o *const *worlds, uint32_t count,
                                                 const char *path, uint32_t flags);

/* --- snapshots --- */

/* A copy of all state that later steps depend on, taken between two steps (docs/history.md). A snapshot belongs to the
 * caller alone: it may outlive its host, and be brought back into another host that is made of the same plugins,
 * worlds, components and systems. None of these functions may be called from inside a step or a destruction callback
 * (BP_ERROR_STATE). */
typedef struct bp_snapshot_o bp_snapshot_o;

/* Take a snapshot. BP_ERROR_STATE where a plugin does not say how its state is kept: the error names all plugins that
 * do not, and what they would have to declare (BP_KEEP_... of bp_component.h). The host may have no worlds, and may
 * have taken any number of steps. */
BACKPLANE_API bp_result_t bp_host_snapshot(bp_host_o *host, bp_snapshot_o **snapshot);

/* Bring a snapshot back: all of it or nothing. The host goes on bit for bit as the host did that the snapshot was taken
 * from. Handles - entities, keys, prototypes, properties, references, spawns - that are older than the snapshot are
 * good as they were then; the number of a younger handle may be given out once more, for another object: compare
 * bp_host_branch to tell them apart. Entities have the tag of the host that they come from. Probations and trials of
 * reloads are ended first. */
BACKPLANE_API bp_result_t bp_host_bring_back(bp_host_o *host, const bp_snapshot_o *snapshot);

/* How often the host has gone to another moment: a handle together with this number is never that of an abandoned
 * future. */
BACKPLANE_API uint64_t bp_host_branch(bp_host_o *host);

/* Free a snapshot; NULL is allowed. */
BACKPLANE_API void bp_snapshot_free(bp_snapshot_o *snapshot);

/* The bytes of a snapshot, good as long as the snapshot: for a file, for another process. bp_snapshot_read checks
 * everything; names are interned in `host`. */
BACKPLANE_API const void *bp_snapshot_bytes(const bp_snapshot_o *snapshot, size_t *size);
BACKPLANE_API bp_result_t bp_snapshot_read(bp_host_o *host, const void *bytes, size_t size, bp_snapshot_o **snapshot);

/* A number that is the same where everything is the same: rows, ids, clocks, random states, states of plugins. `world`
 * NULL: of the whole host. The number depends neither on threads nor on how the host came there. */
BACKPLANE_API uint64_t bp_snapshot_hash(const bp_snapshot_o *snapshot, const char *world);

/* One field of one component, over all entities that have the component in both snapshots. */
typedef struct bp_diff_field_t {
    const char *world;
    const char *component; /* its name in the entities */
    const char *field;
    uint64_t count;        /* entities with different values */
    double largest;        /* of numbers: the largest difference of one part; infinite where one is not finite */
} bp_diff_field_t;

/* One value of one entity. */
typedef struct bp_diff_value_t {
    const char *world;
    const char *component;
    const char *field;
    bp_entity_t entity;
    const char *before;
    const char *after;
} bp_diff_value_t;

/* Receives differences; each function may be NULL. Texts are good during the call. `structure` gets a sentence:
 * worlds and entities that are only in one of the two, components, systems and plugins that came or went, states and
 * messages that differ; of a world, clocks and orders where nothing else does, and likewise of the host (`world` "")
 * ids that are given out. So where hashes differ, something is told. `most` values of each field are told. */
typedef struct bp_diff_i {
    uint32_t struct_size;
    uint32_t most;
    void *context;
    void (*structure)(void *context, const char *world, bp_entity_t entity, const char *text);
    void (*value)(void *context, const bp_diff_value_t *value);
    void (*field)(void *context, const bp_diff_field_t *field);
} bp_diff_i;

/* Tell `sink` what has changed from `before` to `after`, which may be of two hosts. */
BACKPLANE_API bp_result_t bp_snapshot_diff(bp_host_o *host, const bp_snapshot_o *before, const bp_snapshot_o *after,
                                           const bp_diff_i *sink);

/* --- clones ------------------------------------------------------------------------------------------------------- */

/* Make a second host of the same plugins, worlds, components and systems in the same process, as this one is now.
 * The clone goes on bit for bit as this host does, and changes of one do not reach the other. The clone has the code
 * that is at work in this host, also where other files lie at the plugins' paths by now. Plugins that are reloaded in
 * the clone are tried in a copy of the process first, where the system has that.
 *
 * A clone puts nothing out: systems that are output (BP_SYSTEM_OUTPUT) have no state there and are not called, plugins
 * are told BP_PAUSE_COPY in place of BP_PAUSE_LOAD, and no file is kept. A clone has one thread, no past, and none of
 * the callbacks that the embedder has in this host; it writes to the same log. bp_host_destroy ends it, before or after
 * this host; plugins that are linked in and an allocator of the embedder's are borrowed.
 *
 * BP_ERROR_STATE where a plugin does not say how its state is kept, where one is set aside, where several processes run
 * the ini together (bp_peers.h), or where a world has instances of a component and the component's plugin is gone. */
BACKPLANE_API bp_result_t bp_host_clone(bp_host_o *host, bp_host_o **clone);

/* A change to be tried on a clone, and the functions that receive its effects. */
typedef struct bp_host_try_i {
    uint32_t struct_size;         /* sizeof(bp_host_try_i) */
    uint32_t padding;
    uint64_t steps;               /* of all worlds; worlds that all are stopped go on for that */
    void *context;
    /* Change something in the clone: values, entities, plugins reloaded. Where it fails, so does the try, with the
     * sentence of the clone's bp_host_error. */
    bp_result_t (*change)(void *context, bp_host_o *clone);
    const bp_diff_i *differences; /* from how it is without the change to how it is with it; may be NULL */
} bp_host_try_i;

/* What a try has cost: nanoseconds of all steps together. */
typedef struct bp_host_tried_t {
    uint32_t struct_size;         /* sizeof(bp_host_tried_t) */
    uint32_t padding;
    uint64_t without;             /* ... the change */
    uint64_t with;
} bp_host_tried_t;

/* Have a clone take so many steps without a change and so many with it, from the host's present state, and report the
 * differences. The host itself is not changed. A plugin that crashes there is told as an error. `tried` may be NULL. */
BACKPLANE_API bp_result_t bp_host_try(bp_host_o *host, const bp_host_try_i *what, bp_host_tried_t *tried);

/* --- history ---------------------------------------------------------------------------------------------------- */

/* How a host remembers (docs/history.md). Moments are counted by calls that take a step, bp_world_step and
 * bp_host_step; the first moment has as many as the first world has steps. */
typedef struct bp_history_t {
    uint32_t struct_size; /* sizeof(bp_history_t) */
    uint32_t keyframes;   /* whole states that are kept */
    uint64_t first;       /* the first moment that is remembered */
    uint64_t now;         /* the moment at which the host is */
    uint64_t last;
    uint64_t bytes;       /* that keyframes take */
    uint64_t budget;      /* 0: nothing is remembered */
    uint64_t branch;      /* the number of the branch that the present moment is on */
    uint32_t branches;    /* that are kept (bp_host_branch_at) */
    uint32_t padding;
} bp_history_t;

/* Remember from now on, with so many bytes of keyframes; 0: forget all. BP_ERROR_STATE where a plugin does not say
 * how its state is kept; BP_ERROR_LIMIT where one keyframe takes more. On an error the past that there was stays. */
BACKPLANE_API bp_result_t bp_host_remember(bp_host_o *host, uint64_t bytes);

/* Take a keyframe so often, where there are steps to be remembered: 1000 milliseconds unless said otherwise, and less
 * often where a keyframe takes longer than a fortieth of that. 0: after each step. */
BACKPLANE_API void bp_host_keyframe_every(bp_host_o *host, uint32_t milliseconds);

BACKPLANE_API void bp_host_history(bp_host_o *host, bp_history_t *history);

/* Go to a moment: the nearest keyframe before it comes back, and the steps from there are computed once more; systems
 * that are output are left out of these steps and told at the end. Steps taken in the past repeat what happened, calls
 * from outside included; the first new change from outside begins another future, and the old one is kept as a branch.
 * On an error the host is where it was. At a moment of the past the host is as the step before has left it; at the last
 * moment the host has also the changes that came from outside there. */
BACKPLANE_API bp_result_t bp_host_go(bp_host_o *host, uint64_t moment);

/* Begin another future, of which the next step is the first; what comes after now is kept as a branch. */
BACKPLANE_API bp_result_t bp_host_branch_off(bp_host_o *host);

/* A future that was left, and is kept until its memory is wanted. Numbers are never given out twice. */
typedef struct bp_branch_t {
    uint32_t struct_size; /* sizeof(bp_branch_t) */
    uint32_t padding;
    uint64_t number;
    uint64_t parent;      /* the branch that it forks off; that of the present where this one does not fork off a branch
                             that is kept */
    uint64_t fork;        /* the moment of that, ... */
    uint64_t last;        /* ... and the last one */
    uint64_t bytes;       /* that it takes */
} bp_branch_t;

/* The branch of that index, in the order in which they were left; 0 past the last. */
BACKPLANE_API uint32_t bp_host_branch_at(bp_host_o *host, uint32_t index, bp_branch_t *branch);

/* bp_host_branch_to goes to the end of a branch, which from then on is the future of the moments before it; the future
 * that the host has left is kept as a branch, under its own number. BP_ERROR_NOT_FOUND; else as bp_host_go.
 * bp_host_branch_forget forgets a branch, with those that fork off it. */
BACKPLANE_API bp_result_t bp_host_branch_to(bp_host_o *host, uint64_t number);
BACKPLANE_API bp_result_t bp_host_branch_forget(bp_host_o *host, uint64_t number);

/* 1 where moment `moment` of branch `number` is in the past of the present moment, so that a handle of that moment is
 * good now; else 0. An embedder that keeps a handle for long keeps both numbers (bp_history_t.branch, .now) with it.
 * The answer is 0 as well for a number that is known no more: of the futures that ended on the way here before what is
 * remembered, the numbers of the last 64 are known. */
BACKPLANE_API uint32_t bp_host_branch_leads_here(bp_host_o *host, uint64_t number, uint64_t moment);

/* bp_host_mark gives the present moment a name, a word; bp_host_marked finds the moment that a name was given to, the
 * later one where a future that was left came back with the same name. Marks of a future that is left are kept with it,
 * and found when the host has returned there; those of moments that are not remembered any more are forgotten. */
BACKPLANE_API bp_result_t bp_host_mark(bp_host_o *host, const char *name);
BACKPLANE_API bp_result_t bp_host_marked(bp_host_o *host, const char *name, uint64_t *moment);

/* Say that something has been changed past the tables of the contract, in a column for instance, since the last step:
 * the change cannot be computed again, so there will be a keyframe. Changes through the tables need no call. */
BACKPLANE_API void bp_host_touched(bp_host_o *host);

/* --- drafts ------------------------------------------------------------------------------------------------------- */

/* A draft is a second host that lives beside this one with something changed, from now on or from a moment of the past
 * (docs/history.md). The draft takes its steps at each bp_host_poll, between this host's own, for a few milliseconds,
 * until it is level with this host; then it follows step by step, with the calls that this host gets from outside. A
 * call that cannot be made there, because it names entities that never came to be, is passed over and counted. This
 * host goes on as if there were no draft; when it goes to another time, or is made of other parts, the draft ends.
 *
 * A version of a plugin is tried in a copy of the process first. Where the system cannot copy a process, or the version
 * does not come through, the draft ends with BP_DRAFT_FAILED. */
typedef struct bp_draft_i {
    uint32_t struct_size;        /* sizeof(bp_draft_i) */
    uint32_t plugin_count;
    const char *const *plugins;  /* names: their present files in place of the versions of then */
    uint64_t back;               /* so many steps back from now; 0: from now on. Needs a past (bp_host_remember) */
    uint64_t steps;              /* BP_DRAFT_READY after so many; 0: when it is level with the host, for good */
    void *context;
    /* Another change in the clone, made right after the plugins', in a later bp_host_poll; where the draft is from now
     * on, and is kept, also in the host. May be NULL. */
    bp_result_t (*change)(void *context, bp_host_o *clone);
} bp_draft_i;

enum {
    BP_DRAFT_NONE = 0,
    BP_DRAFT_BEFORE = 1, /* on the way to the moment of the change */
    BP_DRAFT_TRYING = 2, /* its plugins are being tried in a copy of the process */
    BP_DRAFT_BEHIND = 3, /* changed, and on the way to the present */
    BP_DRAFT_BESIDE = 4, /* level with the host */
    BP_DRAFT_READY = 5,  /* it has taken its steps, and waits to be kept or dropped */
    BP_DRAFT_FAILED = 6  /* it ended: `text` says why */
};

/* How a draft is. Texts are good until the next poll. */
typedef struct bp_drafted_t {
    uint32_t struct_size;        /* sizeof(bp_drafted_t) */
    uint32_t state;              /* BP_DRAFT_... */
    uint64_t began;              /* the moment of the change, ... */
    uint64_t now;                /* ... and that of the draft */
    uint64_t taken;              /* steps since the change */
    uint64_t passed;             /* how much was passed over; `passed_first` is the first of it, or "" */
    const char *passed_first;
    const char *differs;         /* of a draft of the past: the first step with another result: its unit, field, entity,
                                    the draft's value and that of the past; "": none so far */
    double with, without;        /* milliseconds a step: the draft's, and the host's own meanwhile; 0: none yet */
    const char *text;
} bp_drafted_t;

/* Begin a draft; one that there is goes. BP_ERROR_RANGE where the past does not go back so far, BP_ERROR_NOT_FOUND for
 * plugins, those of bp_host_clone. The rest shows in bp_host_draft_read. */
BACKPLANE_API bp_result_t bp_host_draft(bp_host_o *host, const bp_draft_i *draft);
BACKPLANE_API void bp_host_draft_read(bp_host_o *host, bp_drafted_t *drafted);

/* Report how the draft differs from the host. BP_ERROR_STATE where it is not at the same moment. */
BACKPLANE_API bp_result_t bp_host_draft_differences(bp_host_o *host, const bp_diff_i *sink);

/* bp_host_draft_keep keeps the draft, which is level or ready. Where the draft is from now on, its change is made in
 * the host. Where the draft is of the past, the host goes to the draft's moment (`now`, which may lie before the host's
 * where the draft is ready): the draft's past is the host's from then on, and the past that the host has left is kept
 * as a branch (bp_host_branch_at). On an error the host is as it was; but where plugins have been reloaded and `change`
 * then fails, the plugins stay, as does what `change` had done by then. bp_host_draft_drop ends the draft and changes
 * nothing; from within `change`, when that is over. */
BACKPLANE_API bp_result_t bp_host_draft_keep(bp_host_o *host);
BACKPLANE_API void bp_host_draft_drop(bp_host_o *host);

/* --- recordings --------------------------------------------------------------------------------------------------- */

/* Write down what the host does from now on, in a file in the place of one that is there: keyframes, the steps between
 * them, and what comes from outside (docs/history.md). The file comes into its place when its first keyframe is on the
 * disk; the one that was there is whole until then. After that it is written chunk by chunk with checksums: a process
 * that is killed leaves a file that is good up to the last second or so. `origin` says what the host was set up from; a
 * program that plays the recording reads it there. A failure to write ends the recording with an error in the log, and
 * the host goes on. BP_ERROR_STATE where a plugin does not say how its state is kept, or the host is being recorded
 * already; BP_ERROR_IO. */
BACKPLANE_API bp_result_t bp_host_record(bp_host_o *host, const char *path, const char *origin);

/* Write a keyframe so often to the files that are begun from now on: every 10,000 milliseconds unless said otherwise,
 * and less often where keyframes take long to be written, or would take more than 40,000 bytes a second. 0: after each
 * step. */
BACKPLANE_API void bp_host_record_every(bp_host_o *host, uint32_t milliseconds);

/* End the recording, with a last keyframe. BP_ERROR_IO where something could not be written. BP_OK where the host is
 * not being recorded. */
BACKPLANE_API bp_result_t bp_host_record_end(bp_host_o *host);

/* A recording that is read. The recording belongs to a host, which keeps its errors and gives it memory, and must be
 * closed before the host ends. */
typedef struct bp_recording_o bp_recording_o;

typedef struct bp_recording_t {
    uint32_t struct_size; /* sizeof(bp_recording_t) */
    uint32_t keyframes;
    const char *origin;   /* what the recorded host was set up from */
    uint64_t first;       /* a moment; where the host went back to its past the moments count on */
    uint64_t last;
    uint64_t bytes;       /* of whole chunks */
    uint64_t lost;        /* bytes behind the whole chunks: damaged, or cut off while they were written */
} bp_recording_t;

/* Open a file, and look through all of it. BP_ERROR_SYNTAX where the file is no recording, or is damaged before its
 * first keyframe is whole; a file that is damaged later is good up to there. */
BACKPLANE_API bp_result_t bp_recording_open(bp_host_o *host, const char *path, bp_recording_o **recording);
BACKPLANE_API void bp_recording_info(const bp_recording_o *recording, bp_recording_t *info);

/* The moment of one of the keyframes, the first of which is 0, in the order of the file; several may be of one moment.
 * bp_recording_play brings the host there without taking a step. An index of none: the last moment. Takes as long as
 * there are chunks in front of the keyframe. */
BACKPLANE_API uint64_t bp_recording_keyframe(const bp_recording_o *recording, uint32_t index);

/* Pass over what was recorded after a moment, or after the last one before it at which the file can be ended: returns
 * that moment. bp_recording_resume then goes on there, and overwrites what was passed over. Until then the file is not
 * changed. */
BACKPLANE_API uint64_t bp_recording_cut(bp_recording_o *recording, uint64_t moment);

/* Close a recording; NULL is allowed. */
BACKPLANE_API void bp_recording_close(bp_recording_o *recording);

enum {
    BP_PLAY_CHECK = 1u << 0, /* compare with each keyframe on the way */
    BP_PLAY_ALL = 1u << 1,   /* from the first keyframe, not from the nearest */
    BP_PLAY_HERE = 1u << 2   /* from the moment `here`, at which the host is as bp_recording_play would have left it:
                                from an earlier call, or by a snapshot that has been brought back */
};

/* Options and callbacks of bp_recording_play. Each function may be NULL. */
typedef struct bp_playback_i {
    uint32_t struct_size;
    uint32_t flags;
    void *context;
    void (*step)(void *context, uint64_t moment); /* a step has been taken; the recording must stay open */
    const bp_diff_i *differences;                 /* between the first keyframe that differs and what is computed */
    uint64_t here;                                /* of BP_PLAY_HERE */
} bp_playback_i;

/* Compute a recording again, up to a moment, in a host that is made of the same plugins, worlds, components and
 * systems. Where the recorded host was reloaded, its file has the versions of plugins that were at work, and this host
 * is given the same versions at each moment; where not, the versions that this host has are used. Systems that are
 * output are left out, and told at the end. BP_ERROR_NOT_FOUND for a moment that is not in the recording;
 * BP_ERROR_FAILED for a difference. On an error the host is at some moment in between. `playback` may be NULL. */
BACKPLANE_API bp_result_t bp_recording_play(bp_recording_o *recording, uint64_t moment, const bp_playback_i *playback);

/* Give the host the versions of plugins that the recorded host had at a moment, before the changes from outside at that
 * moment. Does nothing where the host has these versions. Else the entities and states of the host are lost; bring back
 * a snapshot of that moment next. Errors: as bp_recording_play. */
BACKPLANE_API bp_result_t bp_recording_become(bp_recording_o *recording, uint64_t moment);

/* Bring the host to the last moment of the file's undamaged part, and go on recording behind that part. */
BACKPLANE_API bp_result_t bp_recording_resume(bp_recording_o *recording);

/* --- looking closely ---------------------------------------------------------------------------------------------- */

/* Look for units that change values in rows without having declared to write the field (BP_WRITE, `writes`): an error
 * in the log names unit, world, component, field and entity, once for each unit and field. While this goes on units run
 * one after another, and a step takes several times as long. 0 ends the audit. [main], between steps */
enum { BP_AUDIT_WRITES = 1u << 0 };
BACKPLANE_API bp_result_t bp_host_audit(bp_host_o *host, uint32_t flags);

/* `before` and `after` are called around each unit of each step, and units run one after another meanwhile. Both may
 * read everything in the host, and must change nothing. Each may be NULL. */
typedef struct bp_unit_watch_i {
    uint32_t struct_size;
    uint32_t padding;
    void *context;
    void (*before)(void *context, bp_world_o *world, const char *unit, uint32_t is_system);
    void (*after)(void *context, bp_world_o *world, const char *unit, uint32_t is_system);
} bp_unit_watch_i;

/* Watch units from now on; NULL ends it. An audit of writes rests meanwhile. [main], between steps */
BACKPLANE_API bp_result_t bp_host_watch_units(bp_host_o *host, const bp_unit_watch_i *watch);

/* Take one step of every world several times from the same beginning: on `threads` threads (0: four, or one where
 * the host has several itself), in a clone (bp_host_clone) that is made for it, and as bp_host_step does.
 * BP_ERROR_FAILED where one of the first two has other results than the last, or memory lacked for comparing them:
 * the host is then in the state after the last, the error names the first unit and field that differ, and
 * `differences`, which may be NULL, receives the differences at the end. Systems that are output run once. What
 * plugins take from outside through bp_outside is the same in all of them. A host that cannot be cloned takes no
 * step in a clone, and the log says so once. What a reload has on probation is ended first. A step of the past is
 * taken once, as bp_host_step does, where what came from outside then is no call, and at the end of the past where
 * something came from outside there. Other errors are those of a snapshot and of a step: the host is then where it
 * was. */
BACKPLANE_API bp_result_t bp_host_step_twice(bp_host_o *host, uint32_t threads, const bp_diff_i *differences);

/* --- figures ---------------------------------------------------------------------------------------------------- */

/* The cost of one unit of a world's step. */
typedef struct bp_unit_stats_t {
    const char *world;
    const char *unit;      /* name of the system, or of the component that simulates */
    const char *plugin;
    uint64_t steps;
    uint64_t nanoseconds;  /* in all steps together, on all threads together */
    uint64_t rows;         /* rows handed over in the last step */
} bp_unit_stats_t;

/* The `index`-th unit of all worlds, in the order of the step. false past the last. Writes `stats_size` bytes, the
 * sizeof of the program's struct: later headers append members. */
BACKPLANE_API int32_t bp_host_unit_stats_sized(bp_host_o *host, uint32_t index, bp_unit_stats_t *stats,
                                               uint32_t stats_size);

static inline int32_t bp_host_unit_stats(bp_host_o *host, uint32_t index, bp_unit_stats_t *stats)
{
    return bp_host_unit_stats_sized(host, index, stats, (uint32_t)sizeof *stats);
}

/* Figures of one world. */
typedef struct bp_world_stats_t {
    const char *name;
    uint64_t steps;
    double time;
    uint64_t nanoseconds;   /* spent in bp_world_step, all told; a step without units and rows counts as none */
    uint64_t bytes;         /* memory held by the world's records, prototypes and runs */
    uint32_t entities;      /* with components in this world */
    uint32_t holes;         /* rows of the dead, not yet collected */
    uint32_t prototypes;
    uint32_t runs;
} bp_world_stats_t;

/* Write the figures of a world; as for units, as much of the struct as the program knows. */
BACKPLANE_API void bp_world_stats_sized(bp_world_o *world, bp_world_stats_t *stats, uint32_t stats_size);

static inline void bp_world_stats(bp_world_o *world, bp_world_stats_t *stats)
{
    bp_world_stats_sized(world, stats, (uint32_t)sizeof *stats);
}

/* --- looking at steps --------------------------------------------------------------------------------------------- */

enum {
    BP_SLICE_STEP = 0,     /* a step of a world, all told; count: entities with components in it */
    BP_SLICE_UNIT = 1,     /* a unit, or one thread's part of it; count: rows of the unit */
    BP_SLICE_RANGE = 2,    /* one task of a unit that several threads share; count: rows where it is a range, else 0 */
    BP_SLICE_NOTICES = 3,  /* systems are told which entities match; count: entities */
    BP_SLICE_COMMANDS = 4, /* changes that units have recorded are made */
    BP_SLICE_GC = 5,       /* rows and instances of the dead are collected; count: how many */
    BP_SLICE_TOGETHER = 6  /* worlds that step side by side; count: worlds */
};

/* A piece of time on one thread. Slices of one thread nest: two of them are apart, or one lies within the other. */
typedef struct bp_trace_slice_t {
    uint32_t struct_size;
    uint32_t kind;     /* BP_SLICE_... */
    uint32_t thread;   /* 0: the one that called bp_host_trace; other threads in the order in which they were met */
    uint32_t padding;
    const char *world; /* its name; "" where the slice is of no world */
    const char *name;  /* of the unit, or what is done */
    uint64_t begin;    /* nanoseconds since bp_host_trace */
    uint64_t end;
    uint64_t count;
} bp_trace_slice_t;

/* Receives, at the end of each bp_world_step or bp_host_step, its slices in no particular order, good during the
 * call; `lost` is the number of slices for which there was no room (some 32,000 a step). */
typedef struct bp_trace_i {
    uint32_t struct_size;
    uint32_t padding;
    void *context;
    void (*slices)(void *context, const bp_trace_slice_t *slices, uint32_t count, uint64_t lost);
} bp_trace_i;

/* Send slices of all steps of the host to `sink` from now on; NULL ends it, also from within `slices`. Without a sink
 * steps cost nothing more. BP_ERROR_STATE for another sink from within `slices`. */
BACKPLANE_API bp_result_t bp_host_trace(bp_host_o *host, const bp_trace_i *sink);

/* --- report ------------------------------------------------------------------------------------------------------ */

/* Receives what components and systems report (bp_report_api): exactly one of the three is called for each
 * entry, with the unit and world that it comes from. Each may be NULL. */
typedef struct bp_report_sink_i {
    uint32_t struct_size;
    uint32_t padding;
    void *context;
    void (*table)(void *context, const char *world, const char *unit, const char *title, const char *const *headers,
                  uint32_t columns);
    void (*row)(void *context, const char *const *cells, uint32_t columns);
    void (*value)(void *context, const char *world, const char *unit, const char *name, const char *text);
} bp_report_sink_i;

/* Ask every manager and system of every world for its report. */
BACKPLANE_API void bp_host_report(bp_host_o *host, const bp_report_sink_i *sink);

#ifdef __cplusplus
}
#endif
#endif
