/* loader.h - plugins: found, judged, opened, configured, loaded; and unloaded again.
 *
 * A plugin that loads has gone through all of these steps; a plugin that fails at any of them leaves nothing behind.
 * Code of the plugin runs only in the last step.
 *
 * Not here: worlds. A caller that unloads a plugin must first take its managers and systems out of all worlds.
 */
#ifndef HOST_PLUGIN_LOADER_H
#define HOST_PLUGIN_LOADER_H

#include "../base/error.h"
#include "copies.h"
#include "plugin.h"
#include "posts.h"
#include "registry.h"

#include <bp_plugin.h>

/* The plugins of a host, and what loading them needs. */
typedef struct loader_t {
    memory_t memory;
    base_t *base;
    struct registry_t *registry;
    const bp_api_t *api;      /* handed to plugins */
    bp_host_o *host;
    const bp_plugin_head_t *const *static_plugins;
    uint32_t static_count;
    plugins_t plugins;
    posts_t posts;            /* tasks that threads of plugins have asked for */
    bool located;             /* the present error already has a file and line */
    guard_t *guard;           /* guards plugins from files; NULL: none */
#if defined(BACKPLANE_AUDIT)
    retired_t retired;        /* images closed since the last audit */
#endif
    bool on_trial;            /* in a process that only tries something out: no file is removed, and plugins are told
                                 so */
    bool ending;              /* the whole host ends, and mostly its process: what plugins leave is no warning */
    bool copies;              /* open copies of files, so that the files themselves may be overwritten */
    copies_t files;           /* those copies */
} loader_t;

/* The base, the registry, the API and the list of static plugins are borrowed. */
void loader_init(loader_t *loader, base_t *base, registry_t *registry, const bp_api_t *api, bp_host_o *host,
                 const bp_plugin_head_t *const *static_plugins, uint32_t static_count);
void loader_free(loader_t *loader); /* no plugin may be loaded */

/* As bp_host_load_plugin. [main] */
bp_result_t loader_load(loader_t *loader, const char *name_or_path, const bp_option_t *options, uint32_t option_count);

/* The same for the source at `path`, of which the host has made `library`. A copy of that is opened in any case.
 * [main] */
bp_result_t loader_load_made(loader_t *loader, const char *path, const char *library, const bp_option_t *options,
                             uint32_t option_count);

/* The file that a plugin's next version is read from: its own, or the library that was made of its source. [any] */
const char *loader_file(const plugin_t *plugin);

/* Load what another loader of this process has loaded: the version of the plugin that is at work there, with the
 * options that were given to it. [main] */
bp_result_t loader_load_like(loader_t *loader, const plugin_t *other);

/* Unload, freeing the plugin; a leak of its memory is logged. [main] */
void loader_unload(loader_t *loader, plugin_t *plugin);

/* --- new versions ------------------------------------------------------------------------------------------------ */

/* Read a plugin's file whole, judge it, and write it to a file of its own. The path of that file goes to *copy
 * (memory_free_text). No code of it runs. On trial, in a process for that alone, `path` is such a file already.
 * [main] */
bp_result_t loader_copy(loader_t *loader, const char *path, char **copy);

#if defined(BACKPLANE_AUDIT)
/* Look for addresses inside images that were closed since the last audit, in all memory of the host, and log the
 * account of the block in which each lies. To be called between steps. Returns how many there were; 0 while plugins run
 * that may have threads: then the images are looked for at a later audit. [main] */
size_t loader_audit(loader_t *loader);
#endif

/* The loader of files with the ending of `path`, among those of the plugins as they are in place, and its plugin; NULL
 * without an error where no plugin opens such files. [main] */
const bp_loader_t *loader_kind(const loader_t *loader, const char *path, plugin_t **opener);

/* Remove a file that loader_copy has made; in a copy of the process, on trial or elsewhere, the file stays. */
void loader_remove_copy(loader_t *loader, const char *copy);

/* Open a copy as the next version of `plugin`: judge it, and read its options from the texts given to the present
 * version, or from those that are coming (plugin_t.coming). Its components and systems are not registered, and `load`
 * is not called. On success the version takes over the path `copy`; on failure `version` is empty and the path still
 * the caller's. [main] */
bp_result_t loader_open_version(loader_t *loader, plugin_t *plugin, char *copy, plugin_t *version);

/* Close a version and free what it holds; memory that it has not given back is logged. The copy is removed. */
void loader_close_version(loader_t *loader, plugin_t *version);

/* The contents of a plugin and of a version of it change places: the plugin's address then leads to the other
 * version. */
void loader_exchange(plugin_t *plugin, plugin_t *version);

/* Register what the plugin brings (its present version); call its load. Errors as in loader_load. [main] */
bp_result_t loader_register(loader_t *loader, plugin_t *plugin);
bp_result_t loader_run_load(loader_t *loader, plugin_t *plugin);

/* --- running and paused ------------------------------------------------------------------------------------------- */

/* Pause a plugin, also one that is set aside, since its threads may still run; resume a plugin. A plugin that is
 * paused, or runs, already is left alone, and one that is set aside is not resumed. On trial, in a copy of the process,
 * nothing is resumed but for BP_PAUSE_COPY. [main] */
void loader_pause(plugin_t *plugin, uint32_t reason);
bp_result_t loader_resume(loader_t *loader, plugin_t *plugin, uint32_t reason);

/* Resume where a failure does not change what has happened: a failure is told in the log. [main] */
void loader_resume_or_tell(loader_t *loader, plugin_t *plugin, uint32_t reason);

/* Pause all plugins, the newest first; resume all plugins, the oldest first. [main] */
void loader_pause_all(loader_t *loader, uint32_t reason);
void loader_resume_all(loader_t *loader, uint32_t reason);

/* The plugin of a name, or NULL without an error; whether a static plugin has that name. [main] */
plugin_t *loader_find(const loader_t *loader, const char *name);
bool loader_is_static(const loader_t *loader, const char *name);

/* --- library ----------------------------------------------------------------------------------------------------- */

/* The shared library of a plugin: opened with its descriptor found and its image guarded, and closed again. */

/* Open the file at `path`, which has been judged; messages call it plugin->path. After an error call library_close all
 * the same. [main] */
bp_result_t library_open(loader_t *loader, plugin_t *plugin, const char *path, const bp_plugin_head_t **head);

void library_close(loader_t *loader, plugin_t *plugin);

/* "; did you mean './corrupt'?" for the path of a plugin's file that is not there, with or without its ending: the file
 * of its folder with the nearest name. "" where none is near. The text lies in `hint`. */
const char *library_near(const char *path, text_t *hint);

/* --- content ----------------------------------------------------------------------------------------------------- */

/* The same for a file that another plugin opens. Precondition: the version of that plugin which is to open the file is
 * in place. [main] */
bp_result_t content_open(loader_t *loader, plugin_t *plugin, const char *path, const bp_plugin_head_t **head);

/* Does nothing where the file is not open. */
void content_close(plugin_t *plugin);

/* May a plugin open files with the endings that it declares? Not with an ending that another plugin opens; `present` as
 * in loader_open_version, or NULL. [main] */
bp_result_t content_judge(const loader_t *loader, const plugin_t *plugin, const plugin_t *present);

/* --- options ----------------------------------------------------------------------------------------------------- */

/* A plugin's options: those it declares, those it was given, and the resulting values.
 *
 * The options given are kept as text, for the next version of the plugin to read in its own way.
 */

/* Read `options`, as texts, by what the plugin's descriptor declares. On failure options_free tidies up; *located: the
 * error has the option's bp_option_t.origin already. [main] */
bp_result_t options_read(base_t *base, memory_t *memory, plugin_t *plugin, const bp_option_t *options, uint32_t count,
                         bool *located);

void options_free(memory_t *memory, plugin_t *plugin);

/* --- descriptor -------------------------------------------------------------------------------------------------- */

/* Judging a plugin's head and descriptor as data, before any code of the plugin runs. */

/* Was the plugin built for this host, does it have a name, and do its lists have items? [any] */
bp_result_t descriptor_judge(error_text_t *error, const bp_plugin_head_t *head);

/* Copy a head that has been judged, its descriptor and their lists into `plugin`, while its account is open: as many
 * bytes as both know; the rest is zero. After a failure too the lists are freed by descriptor_free_lists, the texts
 * with the plugin. [main] */
bp_result_t descriptor_copy(loader_t *loader, plugin_t *plugin, const bp_plugin_head_t *head);
void descriptor_free_lists(memory_t *memory, plugin_t *plugin);

#endif
