/* bp_plugin.h - the one header that a plugin includes, and the one symbol that it exports.
 *
 * A plugin is a shared library that exports one constant: what it is called, which contract it was built for
 * and what it brings. The host judges this data before any code of the plugin runs.
 *
 *     #include <bp_plugin.h>
 *     ...
 *     static const bp_component_i components[] = {{.name = "spin", .fields = BP_LIST(fields), .simulate = simulate}};
 *     BP_PLUGIN(spin) = {BP_PLUGIN_HEAD, .name = "spin", .version = "1.0", .components = BP_LIST(components)};
 *
 * Build it with `cc -shared -fPIC -I plugin_api spin.c -o spin.so`. The same source, compiled with
 * -DBP_STATIC_PLUGINS, gives an object that is linked into the program instead; the embedder names it in
 * bp_host_desc_t.static_plugins.
 *
 * Rules. No mutable static data: state lies in memory that the host gives (bp_manager_t.state,
 * bp_plugin_t.state), so that a reload finds it and two hosts do not share it. No threads or signal handlers
 * that outlive `unload`.
 *
 * Versions. ABI major changes when an existing meaning does; minor grows when something is appended. A host
 * takes plugins of its own major with a minor up to its own.
 */
#ifndef BP_PLUGIN_H
#define BP_PLUGIN_H

#include "bp_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_ABI_MAJOR 1u
#define BP_ABI_MINOR 1u
#define BP_PLUGIN_MAGIC UINT64_C(0x314E474C50504B42) /* "BKPPLGN1" */

/* A plugin at work in one host, reachable from every manager and system of it. */
typedef struct bp_plugin_t {
    uint32_t struct_size;
    uint32_t option_count;
    const bp_api_t *api;
    bp_host_o *host;
    const char *name;
    const bp_value_t *options; /* values of the declared options, in the order of declaration */
    void *state;               /* the plugin's own, shared by all worlds; set by `load`, released by `unload` */
} bp_plugin_t;

/* The exported constant. The members up to abi_minor keep their places for ever; the rest grows at its end. */
typedef struct bp_plugin_desc_t {
    uint64_t magic;        /* BP_PLUGIN_MAGIC */
    uint32_t struct_size;  /* sizeof(bp_plugin_desc_t) */
    uint32_t pointer_size; /* sizeof(void *) */
    uint32_t abi_major;
    uint32_t abi_minor;

    const char *name;    /* as the file, without its ending; letters, digits, underscore */
    const char *version; /* of the plugin, free text */
    const char *doc;     /* one line for people */
    uint64_t flags;      /* none yet: 0 */

    bp_component_list_t components;
    bp_system_list_t systems;
    bp_field_list_t options; /* what the ini may give under [plugin NAME] */

    /* Called once after the options are set and before anything else; may set plugin->state, find and offer
     * tables. Where it fails it leaves nothing behind, and the plugin is not loaded. [main] */
    bp_result_t (*load)(bp_plugin_t *plugin);

    /* Called last, after the managers and systems in all worlds have stopped. [main] */
    void (*unload)(bp_plugin_t *plugin);

    /* since 1.1 */

    /* Reload: what plugin->state is, as in bp_component_i. Where it goes over, `load` of the next version is called with it
     * set, offers its tables and leaves the state alone; `unload` of the version before is not called. */
    uint64_t state_form;
} bp_plugin_desc_t;

/* The first members of every descriptor. */
#define BP_PLUGIN_HEAD \
    BP_PLUGIN_MAGIC, (uint32_t)sizeof(bp_plugin_desc_t), (uint32_t)sizeof(void *), BP_ABI_MAJOR, BP_ABI_MINOR

#if defined(_WIN32)
#define BP_EXPORT __declspec(dllexport)
#else
#define BP_EXPORT __attribute__((visibility("default")))
#endif

/* The name of the exported symbol, and the definition of it. */
#define BP_PLUGIN_SYMBOL "bp_plugin"
#ifdef __cplusplus
#define BP_PLUGIN_LINKAGE extern "C"
#else
#define BP_PLUGIN_LINKAGE extern
#endif
#ifdef BP_STATIC_PLUGINS
#define BP_PLUGIN(plugin_name)                                               \
    BP_PLUGIN_LINKAGE const bp_plugin_desc_t bp_plugin_##plugin_name;        \
    const bp_plugin_desc_t bp_plugin_##plugin_name
#else
#define BP_PLUGIN(plugin_name)                                               \
    BP_PLUGIN_LINKAGE BP_EXPORT const bp_plugin_desc_t bp_plugin;            \
    BP_EXPORT const bp_plugin_desc_t bp_plugin
#endif

BP_STATIC_ASSERT(offsetof(bp_plugin_desc_t, struct_size) == 8, "the head of a descriptor is frozen");
BP_STATIC_ASSERT(offsetof(bp_plugin_desc_t, pointer_size) == 12, "the head of a descriptor is frozen");
BP_STATIC_ASSERT(offsetof(bp_plugin_desc_t, abi_major) == 16, "the head of a descriptor is frozen");
BP_STATIC_ASSERT(offsetof(bp_plugin_desc_t, abi_minor) == 20, "the head of a descriptor is frozen");
BP_STATIC_ASSERT(offsetof(bp_plugin_desc_t, name) == 24, "the head of a descriptor is frozen");

#ifdef __cplusplus
}
#endif
#endif
