/* plugin.h - what the host knows of a plugin, and of all its plugins together.
 *
 * A plugin_t never moves: managers, systems and slots hold its address. The members that belong to one version of the
 * plugin stand in front of `reloading`, and change places with the next version's as a whole (loader_exchange).
 *
 * Memory. Each version has an account, an object that never moves and goes with its version. Threads of the plugin may
 * allocate at any time, also while an exchange is under way; memory taken then is counted in `bystanders`, since the
 * host cannot tell which version such a thread belongs to. Only the thread that makes the change uses the accounts of
 * both sides (plugin_account), once no other thread is within a call that may use one of them (plugin_begin_changing).
 *
 * A plugin is *set aside* when it has crashed: its verbs are not called any more (verbs.h).
 *
 * Not here: loading (loader.h), and calls of a plugin (verbs.h).
 */
#ifndef HOST_PLUGIN_PLUGIN_H
#define HOST_PLUGIN_PLUGIN_H

#include "../base/base.h"
#include "../os/files.h"
#include "../os/surroundings.h"
#include "declared.h"
#include "guard.h"

#include <stdatomic.h>

typedef struct plugin_t plugin_t;

enum { PLUGIN_SOUND, PLUGIN_CRASHING /* its crash is being written down */, PLUGIN_ASIDE };

/* What a call of a plugin is handed of rows, for a watcher. */
enum { CALL_NO_ROWS, CALL_UNIT /* what a unit has declared */, CALL_OWN_ROWS /* rows of its own component */ };

typedef struct call_view_t {
    const plugin_t *plugin;
    const struct component_t *component; /* called, or NULL */
    const struct system_t *system;       /* called, or NULL */
    const struct verb_place_t *place;    /* NULL: in no world */
    uint32_t rows;                       /* CALL_... */
    uint32_t prototype;                  /* of the rows that it is handed; 0: none, or several */
    uint32_t count;                      /* of these rows, where they lie one behind another ... */
    const bp_entity_t *entities;         /* ... from this one on; else NULL */
} call_view_t;

/* A watcher of guarded calls, told before each call and after it; where a call has called the host, which has called a
 * plugin again, only the outermost call is watched, and `within` is told of the others. `before` returns whether the
 * call is looked at; if not, few of the process's settings are compared around it. `after` returns whether all is well;
 * if not, it writes the fault to `reason`, and the plugin is set aside as for a crash. `explain` may find better words
 * for an address that a call could not touch. */
typedef struct call_watch_t {
    void *data;
    bool (*before)(void *data, const call_view_t *call);
    void (*within)(void *data, const call_view_t *call);
    bool (*after)(void *data, char *reason, size_t size);
    void (*explain)(void *data, guard_crash_t *crash);
    uint32_t depth;
} call_watch_t;

/* Files, threads, processes and timers: those of the process, and those that a plugin holds (holdings.h). */
typedef struct holdings_seen_t {
    os_holding_t *items; /* NULL: not known */
    uint32_t count;
} holdings_seen_t;

enum { PLUGIN_HELD_MOST = 24 };

typedef struct held_t {
    os_holding_t items[PLUGIN_HELD_MOST];
    uint32_t count;
} held_t;

/* The plugins of a host. */
typedef struct plugins_t {
    base_t *base;
    plugin_t **items;         /* in order of loading */
    uint32_t count, capacity;
    uint32_t roster;          /* another number where a plugin, or a version of one, has come or gone */
    bool strict;              /* in the copy of a trial: a call that changes the process's settings counts as a crash */
    const holdings_seen_t *known; /* in the copy of a trial: what there was at its beginning; else NULL */
    call_watch_t *watch;      /* NULL: none. Set only while one thread alone calls plugins */
    atomic_flag examining;    /* a call is examined as a whole (guard_samples), which one thread at a time does */
    uint32_t calling;         /* depth of calls of load, unload, pause, resume, of create, destroy and gc of own
                                 storage, of report and rewound: from within them no plugin is loaded or unloaded, no
                                 component or system is brought in or dropped, and no world steps */
    bool clone;               /* of a host that was made from another one (engine/host_clone.c): systems that are output
                                 have no state there, and none of their verbs is called */
    atomic_bool crashed;      /* some plugins have been set aside that the host has not looked at yet */
} plugins_t;

/* The deaths that a component, system or plugin asks for: BP_DEATHS_... Texts are copies, NULL: none. */
typedef struct deaths_t {
    uint32_t which;
    char *component, *field;
    bool warned; /* the log has been told that no plugin brings the component */
} deaths_t;

struct plugin_t {
    bp_plugin_t handed;       /* the argument of the plugin's verbs */
    bp_plugin_head_t head;    /* a copy; its name and descriptor are those below */
    bp_plugin_desc_t desc;    /* a copy, with copies of lists and texts (declared.h): only functions lie in the image */
    declared_t declared;
    bp_plugin_deaths_i deaths; /* the verb of that extension; NULL where it has none */
    deaths_t asked_deaths;
    char *name, *version, *doc, *path;
    char *file;               /* the library that the host has made of the source at `path`; NULL: `path` is a plugin's
                                 file itself */
    char *copy;               /* path of the copy that was opened; NULL: `path` itself was */
    void *library;            /* NULL: linked in */
    const void *image_begin, *image_end; /* where the library's image lies; NULL where not known */
    plugin_t *opener;         /* the plugin that has opened the file; NULL: the system has, or it is not open */
    bp_loader_t kind;         /* that loader; its text is not to be read */
    void *content;            /* what the loader has made of the file */
    bool opened;              /* the loader has opened the file, and has not closed it yet */
    plugins_t *all;           /* the host's plugins, this one among them unless it is a version that is not in place */
    guard_t *guard;           /* guards calls of the verbs (verbs.h); NULL: they are just called */
    _Atomic uint32_t aside;   /* PLUGIN_...: has the plugin crashed, so that its verbs are not called any more? */
    char crash[512];          /* the sentence about the crash */
    bool attended;            /* the host has dealt with the crash: the plugin stays set aside */
    bool running;             /* resumed, and not paused since */
    field_t *options;
    bp_value_t *option_values;
    char **option_texts;      /* owned texts of string options */
    bp_option_t *given;       /* the options as they were given, texts copied: for the next version */
    uint32_t given_count;
    held_t held;              /* what has come of the process in calls of this version */
    uint64_t image;           /* number of the image of this version that makeups keep (engine/makeup.h); 0: none */

    bool reloading;           /* from here on: of the plugin, whatever its version */
    _Atomic(memory_t *) account; /* of the version in place; exchanged with the content, but as one word */
    _Atomic uint64_t changing; /* number of the thread that changes the plugin's version; 0: none does */
    memory_t bystanders;      /* memory that other threads have taken since that change began, less what they have
                                 given back */
    _Atomic uint32_t allocating; /* threads within plugin_resize */
    atomic_bool mixed;        /* other threads have allocated during a change: which version a block belongs to cannot
                                 be told any more */
    bool told_dropped;        /* the log has been told that tasks posted since the crash are dropped */
    file_stamp_t stamp;       /* of the plugin's file just before it was read first */
    const bp_option_t *coming; /* what the next version is given in place of `given`, while a reload brings it, ... */
    uint32_t coming_count;     /* ... or NULL */
};

/* Is the plugin set aside? And why: the sentence that is also in the log. [any] */
bool plugin_is_aside(const plugin_t *plugin);
const char *plugin_crash(const plugin_t *plugin);

/* The account of the version in place. NULL while there is none yet. [main] */
memory_t *plugin_account(plugin_t *plugin);

/* memory_resize in the account of the plugin, on whatever thread calls. [any] */
void *plugin_resize(plugin_t *plugin, void *old, size_t old_size, size_t new_size);

/* From now on only this thread uses the accounts of the plugin's versions. Waits for calls of plugin_resize on other
   threads; not for longer than a tenth of a second, since a thread that was ended within one never leaves it. [main] */
void plugin_begin_changing(plugin_t *plugin);

/* Let the host call a plugin again that was set aside, still guarded, so that its instances and state can be saved.
 * [main] */
void plugin_trust(plugin_t *plugin);

/* Set the plugin aside again after plugin_trust. [main] */
void plugin_set_aside(plugin_t *plugin);

#endif
