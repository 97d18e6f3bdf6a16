/* loader.h - plugins: found, judged, opened, configured, loaded; and unloaded again.
 *
 * A plugin that loads has gone through all of these steps; one that fails at any of them leaves nothing behind.
 * Code of the plugin runs only in the last.
 *
 * What it does not do: worlds. Whoever unloads a plugin has first taken its managers and systems out of them.
 */
#ifndef HOST_PLUGIN_LOADER_H
#define HOST_PLUGIN_LOADER_H

#include "../base/guard.h"
#include "registry.h"

#include <stdatomic.h>

enum { PLUGIN_SOUND, PLUGIN_CRASHING /* its crash is being written down */, PLUGIN_ASIDE };

struct plugin_t {
    bp_plugin_t seen;         /* what the plugin's verbs are handed */
    bp_plugin_desc_t desc;    /* a copy, texts copied; lists and verbs still point into the image */
    memory_t memory;          /* the account of what the plugin allocates */
    char *name, *version, *doc, *path;
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
} loader_t;

/* The parts and the static list are borrowed. */
void loader_init(loader_t *loader, base_t *base, registry_t *registry, const bp_api_t *api, bp_host_o *host,
                 const bp_plugin_desc_t *const *static_plugins, uint32_t static_count);
void loader_free(loader_t *loader); /* no plugin may be loaded */

/* As bp_host_load_plugin. [main] */
bp_result_t loader_load(loader_t *loader, const char *name_or_path, const bp_option_t *options, uint32_t option_count);

/* Unload, freeing the plugin; a leak of its memory is logged. [main] */
void loader_unload(loader_t *loader, plugin_t *plugin);

/* The plugin of a name, or NULL without an error; whether a static plugin has that name. [main] */
plugin_t *loader_find(const loader_t *loader, const char *name);
bool loader_is_static(const loader_t *loader, const char *name);

#endif
