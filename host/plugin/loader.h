/* loader.h - plugins: found, judged, opened, configured, loaded; and unloaded again.
 *
 * A plugin that loads has gone through all of these steps; one that fails at any of them leaves nothing behind.
 * Code of the plugin runs only in the last.
 *
 * What it does not do: worlds. Whoever unloads a plugin has first taken its managers and systems out of them.
 */
#ifndef HOST_PLUGIN_LOADER_H
#define HOST_PLUGIN_LOADER_H

#include "../base/folder.h"
#include "../base/guard.h"
#include "registry.h"

#include <stdatomic.h>

enum { LOADER_RETIRED = 64 }; /* images closed between two audits: further ones are not looked for */
enum { PLUGIN_SOUND, PLUGIN_CRASHING /* its crash is being written down */, PLUGIN_ASIDE };

struct plugin_t {
    bp_plugin_t seen;         /* what the plugin's verbs are handed */
    bp_plugin_desc_t desc;    /* a copy, texts copied; lists and verbs still point into the image */
    memory_t memory;          /* the account of what the plugin allocates */
    char *name, *version, *doc, *path;
    char *copy;               /* the file of its own that was opened; NULL: `path` itself */
    void *library;            /* NULL: linked in */
    const void *image_begin, *image_end; /* where that lies; NULL where not known */
    struct loader_t *loader;
    guard_t *guard;           /* its verbs are called under it (verbs.h); NULL: just called */
    _Atomic uint32_t aside;   /* PLUGIN_...: it has crashed, and its verbs are not called any more */
    char crash[512];          /* how */
    bool seen_to;             /* the host has seen to it */
    field_t *options;
    bp_value_t *option_values;
    char **option_texts;      /* owned texts of string options */
    bp_option_t *given;       /* the options as they were given, texts copied: for the next version */
    uint32_t given_count;
    registry_set_t *set;      /* where its registrations go while it is a new version that has not come yet; else NULL */

    bool reloading;           /* from here on: of the plugin, whatever its version */
    file_stamp_t stamp;       /* of its file just before it was read first */
};

typedef struct loader_t {
    memory_t memory;
    base_t *base;
    registry_t *registry;
    const bp_api_t *api;      /* handed to plugins */
    bp_host_o *host;
    const bp_plugin_desc_t *const *static_plugins;
    uint32_t static_count;
    plugin_t **plugins;       /* in order of loading */
    uint32_t count, capacity;
    bool located;             /* the present error already says where it is */
    guard_t *guard;           /* of plugins from files; NULL: none */
    atomic_bool crashes;      /* plugins have been set aside that the host has not seen to yet */
#if defined(BACKPLANE_AUDIT)
    struct retired_t {        /* images closed since the last audit */
        const void *begin, *end;
        char name[64];
    } retired[LOADER_RETIRED];
    uint32_t retired_count;
#endif
    bool on_trial;            /* in a process that only tries something out: no file is removed */
    bool copies;              /* open copies of files, so that the files themselves may be overwritten */
    char *folder;             /* of the copies; NULL until there is one */
    uint32_t copy_count;      /* made so far */
} loader_t;

/* The parts and the static list are borrowed. */
void loader_init(loader_t *loader, base_t *base, registry_t *registry, const bp_api_t *api, bp_host_o *host,
                 const bp_plugin_desc_t *const *static_plugins, uint32_t static_count);
void loader_free(loader_t *loader); /* no plugin may be loaded */

/* As bp_host_load_plugin. [main] */
bp_result_t loader_load(loader_t *loader, const char *name_or_path, const bp_option_t *options, uint32_t option_count);

/* Unload, freeing the plugin; a leak of its memory is logged. [main] */
void loader_unload(loader_t *loader, plugin_t *plugin);

/* --- new versions ------------------------------------------------------------------------------------------------ */

/* Read a plugin's file whole, judge it, and write it to a file of its own, whose path goes to *copy (memory_free_text).
 * No code of it runs. [main] */
bp_result_t loader_copy(loader_t *loader, const char *path, char **copy);

#if defined(BACKPLANE_AUDIT)
/* Look for addresses inside images that were closed since the last time, in all memory of the host, and log whose they are. Between
 * steps. Returns how many there were. [main] */
size_t loader_audit(loader_t *loader);
#endif

/* Remove such a file. */
void loader_remove_copy(loader_t *loader, const char *copy);

/* Open a copy as the next version of `plugin`: judged, its options read from the texts given to the present one. Its
 * components and systems are not registered, and `load` is not called. Takes the path over. On failure `version` is empty and the
 * path still the caller's. [main] */
bp_result_t loader_open_version(loader_t *loader, plugin_t *plugin, char *copy, plugin_t *version);

/* Close it and free what it holds; what it has not given back is logged. The copy is removed. */
void loader_close_version(loader_t *loader, plugin_t *version);

/* The plugin and a version of it change places; those who know the plugin by its address see the other. */
void loader_exchange(plugin_t *plugin, plugin_t *version);

/* Register what the plugin brings (its present version); call its load. Errors as in loader_load. [main] */
bp_result_t loader_register(loader_t *loader, plugin_t *plugin);
bp_result_t loader_run_load(loader_t *loader, plugin_t *plugin);

/* The plugin of a name, or NULL without an error; whether a static plugin has that name. [main] */
plugin_t *loader_find(const loader_t *loader, const char *name);
bool loader_is_static(const loader_t *loader, const char *name);

#endif
