/* plugin.h - what the host knows of a plugin, and of all its plugins together.
 *
 * A plugin_t never moves: managers, systems and slots hold its address. What belongs to one version of it stands in
 * front of `reloading`, and changes places with the next version's as a whole (loader_exchange).
 *
 * Memory. Each version has an account, an object that never moves and goes with its version. Threads of the plugin may
 * allocate at any time, also while an exchange is under way; what they take then goes to `bystanders`, since nothing
 * says which version they belong to. Only the thread that makes the change uses the accounts of both sides
 * (plugin_account); it begins when no other thread is within a call that may use one of them (plugin_begin_changing).
 *
 * A plugin is *set aside* when it has crashed: its verbs are not called any more (verbs.h).
 *
 * What it does not do: nothing is loaded here (loader.h), and nothing of a plugin is called.
 */
#ifndef HOST_PLUGIN_PLUGIN_H
#define HOST_PLUGIN_PLUGIN_H

#include "../base/base.h"
#include "../os/files.h"
#include "declared.h"
#include "guard.h"

#include <stdatomic.h>

typedef struct plugin_t plugin_t;

enum { PLUGIN_SOUND, PLUGIN_CRASHING /* its crash is being written down */, PLUGIN_ASIDE };

/* Somebody who looks at what guarded calls do: before each, and after it; where a call has called the host, which has
 * called a plugin again, only the outermost is looked at. `after` says whether all is well, or else in `reason` what
 * is not, and the plugin is set aside as for a crash. */
typedef struct call_watch_t {
    void *data;
    void (*before)(void *data);
    bool (*after)(void *data, char *reason, size_t size);
    uint32_t depth;
} call_watch_t;

/* The plugins of a host. */
typedef struct plugins_t {
    base_t *base;
    plugin_t **items;         /* in order of loading */
    uint32_t count, capacity;
    bool strict;              /* what a call changes of the process is a crash: in the copy of a trial */
    call_watch_t *watch;      /* NULL: nobody looks. Only while one thread alone calls plugins */
    uint32_t calling;         /* verbs are being called from which plugins are not brought or ended, and no world steps:
                                 load, unload, pause, resume; create and destroy of own storage */
    atomic_bool crashed;      /* some have been set aside that the host has not looked at yet */
} plugins_t;

struct plugin_t {
    bp_plugin_t handed;       /* what the plugin's verbs are handed */
    bp_plugin_head_t head;    /* a copy; its name and descriptor are those here: */
    bp_plugin_desc_t desc;    /* a copy; what it leads to is copied too (declared.h), only functions lie in the image */
    declared_t declared;
    char *name, *version, *doc, *path;
    char *copy;               /* the file of its own that was opened; NULL: `path` itself */
    void *library;            /* NULL: linked in */
    const void *image_begin, *image_end; /* where that lies; NULL where not known */
    plugins_t *all;           /* itself among them, unless it is a version beside */
    guard_t *guard;           /* its verbs are called under it (verbs.h); NULL: just called */
    _Atomic uint32_t aside;   /* PLUGIN_...: it has crashed, and its verbs are not called any more */
    char crash[512];          /* how */
    bool attended;            /* the host has brought back what there was to bring back */
    bool running;             /* resumed, and not paused since */
    field_t *options;
    bp_value_t *option_values;
    char **option_texts;      /* owned texts of string options */
    bp_option_t *given;       /* the options as they were given, texts copied: for the next version */
    uint32_t given_count;

    bool reloading;           /* from here on: of the plugin, whatever its version */
    _Atomic(memory_t *) account; /* of the version in place; exchanged with the content, but as one word */
    _Atomic uint64_t changing; /* number of the thread that changes the plugin's version; 0: none does */
    memory_t bystanders;      /* what other threads have taken since that change began, less what they have given
                                 back */
    _Atomic uint32_t allocating; /* threads within plugin_resize */
    atomic_bool mixed;        /* they have: what belongs to which version cannot be told any more */
    bool told_dropped;        /* the log has been told that what it posts is dropped since it crashed */
    file_stamp_t stamp;       /* of its file just before it was read first */
};

/* Is the plugin set aside? Why: the sentence that the log has got too. [any] */
bool plugin_is_aside(const plugin_t *plugin);
const char *plugin_crash(const plugin_t *plugin);

/* The account of the version in place. NULL while there is none yet. [main] */
memory_t *plugin_account(plugin_t *plugin);

/* memory_resize for what the calling thread allocates in the name of the plugin. [any] */
void *plugin_resize(plugin_t *plugin, void *old, size_t old_size, size_t new_size);

/* From now on only this thread uses the accounts of the plugin's versions. Waits for calls of plugin_resize on other
   threads; not for longer than a tenth of a second, since a thread that was ended within one never leaves it. [main] */
void plugin_begin_changing(plugin_t *plugin);

/* Let the host call a plugin again that was set aside, still guarded: for whoever saves what can be saved. [main] */
void plugin_trust(plugin_t *plugin);

/* The end of that trust: it is set aside as it was. [main] */
void plugin_set_aside(plugin_t *plugin);

#endif
