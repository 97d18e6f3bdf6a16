/* bp_loader.h - opening files of a kind of one's own: scripts, tables, formulas, each of which is a plugin.
 *
 *     static bp_result_t open(bp_plugin_t *plugin, const char *path, const char *bytes, size_t size,
 *                             const bp_plugin_head_t **head, void **content) { ... }
 *     static const bp_loader_t loaders[] = {{.ending = "formula", .open = open, .close = close}};
 *     BP_PLUGIN(formula) = {.loaders = BP_LIST(loaders)};
 *
 * From then on `plugins = formula growth.formula` in an ini loads both: the library `formula`, and what it makes of the
 * file growth.formula. A file that has been opened is a plugin like any other: it has options, components, systems,
 * tables and tasks; it is listed, watched, tried, checked, migrated, taken back and unloaded by itself. Its verbs are
 * functions of the plugin that has opened it, and know which file they work for by `user`: of bp_component_i, handed on
 * as m->user; of bp_system_i, as s->user; for those of the plugin itself plugin->user is the `content` of its file.
 *
 * A reload of a plugin that has opened files opens these anew with its next version, in the same change: all of them
 * come in, or none. While files that it has opened are loaded it cannot be unloaded.
 *
 * What this header does not do: it brings no language. plugins/formula is one.
 */
#ifndef BP_LOADER_H
#define BP_LOADER_H

#include "bp_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bp_plugin_t;
struct bp_plugin_head_t;

/* A kind of files that a plugin opens. */
typedef struct bp_loader_t {
    const char *ending BP_OR_ZERO; /* of their names, without the dot: 1 to 15 letters, digits or underscores, other
                                      than those of libraries, of inis and of sources (c, cc, cpp, cxx, rs), which the
                                      host compiles; of one plugin of a host only. NULL: the
                                      plugin's own name */

    /* Make a plugin of the `size` bytes of the file at `path`; they are good until it returns, and a zero follows them.
     * `head` becomes the address of what BP_PLUGIN would have made, with the file's name without its ending as its name
     * (BP_PLUGIN_HEAD gives one). The head and all that it leads to stay as they are until `close`. `content` is handed
     * to that, and is plugin->user of what was made. Any bytes at all may come. Where they are refused nothing is left
     * behind; the sentence (bp_error_api.set) says where and why: "growth.formula:7: ...". No plugins are brought, no
     * worlds changed. `plugin` is the one that opens. A new version of a file is opened while the one before is at
     * work. [main] */
    bp_result_t (BP_CALL *open)(struct bp_plugin_t *plugin, const char *path, const char *bytes, size_t size,
                                const struct bp_plugin_head_t **head, void **content) BP_OR_ZERO;

    /* The end of what `open` has made: nothing of it is called or read any more. [main] */
    void (BP_CALL *close)(struct bp_plugin_t *plugin, void *content) BP_OR_ZERO;
} bp_loader_t;

typedef struct bp_loader_list_t {
    const bp_loader_t *items;
    uint32_t count;
    uint32_t item_size;
} bp_loader_list_t;

#ifdef __cplusplus
}
#endif
#endif
