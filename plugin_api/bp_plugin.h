/* bp_plugin.h - the one header that a plugin includes, and the one symbol that it exports.
 *
 * A plugin is a shared library that exports one constant, its head: which contract it was built for, what it is
 * called, and where the descriptor of what it brings lies. The host judges this data before any code of the plugin
 * runs.
 *
 *     #include <bp_plugin.h>
 *     ...
 *     static const bp_component_i components[] = {{.name = "spin", .fields = BP_LIST(fields), .simulate = simulate}};
 *     BP_PLUGIN(spin) = {.version = "1.0", .components = BP_LIST(components)};
 *
 * Build it with `cc -shared -fPIC -I plugin_api spin.c -o spin.so`. The same source, compiled with
 * -DBP_STATIC_PLUGINS, gives an object that is linked into the program instead; the embedder names its head
 * (bp_plugin_spin) in bp_host_desc_t.static_plugins.
 *
 * Rules. No mutable static data: state lies in memory that the host gives (bp_manager_t.state,
 * bp_plugin_t.state), so that a reload finds it and two hosts do not share it. Threads, ports and files that are open
 * for writing are taken by `resume` and given back by `pause`.
 *
 * Versions. ABI major changes when an existing meaning does; minor grows when something is appended. A host takes
 * plugins of its own major. A plugin that was built with headers of a later minor works as long as it needs nothing
 * that the host lacks: `least_minor` says what it cannot do without.
 *
 * What this header does not do: it holds no tables (bp_api.h).
 */
#ifndef BP_PLUGIN_H
#define BP_PLUGIN_H

#include "bp_api.h"
#include "bp_loader.h"
#include "bp_task.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_ABI_MAJOR 2u
#define BP_ABI_MINOR 0u
#define BP_PLUGIN_MAGIC UINT64_C(0x324E474C50504B42) /* "BKPPLGN2" */

/* A plugin at work in one host, reachable from every manager and system of it. */
typedef struct bp_plugin_t {
    uint32_t struct_size;
    uint32_t option_count;
    const bp_api_t *api;
    bp_host_o *host;
    const char *name;
    const bp_value_t *options; /* values of the declared options, in the order of declaration */
    void *state;               /* the plugin's own, shared by all worlds; set by `load`, released by `unload` */
    void *user;                /* what bp_loader_t.open has made of its file; NULL: it is a library */
} bp_plugin_t;

/* Why a plugin is paused or resumed. */
enum {
    BP_PAUSE_LOAD = 0,    /* resume: it has been loaded */
    BP_PAUSE_RELOAD = 1,  /* pause: another version is to come, or to come back. resume: this version has come, has come
                             back, or stays because the other one was refused. */
    BP_PAUSE_TRIAL = 2,   /* the process is copied, and this is the original */
    BP_PAUSE_COPY = 3,    /* resume: this is the copy, in which a new version is tried for some steps, and in which
                             threads may be started; ports, files and other processes belong to the original. Or it is
                             a host that was made like another one in the same process, to try something there. */
    BP_PAUSE_UNLOAD = 4,  /* pause: it is about to be unloaded. resume: it could not be, for want of memory. */
    BP_PAUSE_SNAPSHOT = 5 /* what is saved is copied: threads that change it stop; ports stay open */
};

/* "bp_deaths" of a plugin: as that of a component (bp_deaths_i), in all worlds, with `component` said where it is not
 * BP_DEATHS_ALL. For data about entities that a plugin keeps outside all components: caches, tables for others.
 * [main] */
typedef struct bp_plugin_deaths_i {
    void (BP_CALL *died)(bp_plugin_t *plugin, const bp_death_t *batch) BP_OR_ZERO;
    uint32_t which BP_OR_ZERO;
    uint32_t padding BP_OR_ZERO;
    const char *component BP_OR_ZERO;
    const char *field BP_OR_ZERO;
} bp_plugin_deaths_i;

/* What a plugin brings. All of it may be left out. */
typedef struct bp_plugin_desc_t {
    const char *version BP_OR_ZERO;        /* of the plugin, free text */
    const char *doc BP_OR_ZERO;            /* one line for people */
    uint64_t flags_required BP_OR_ZERO;    /* a host that does not know one of these refuses the plugin; none yet */
    uint64_t flags BP_OR_ZERO;             /* a host that does not know one of these goes on without it; none yet */
    uint32_t least_minor BP_OR_ZERO;       /* the first minor of this ABI major that has all that the plugin needs */
    uint32_t padding BP_OR_ZERO;

    bp_component_list_t components BP_OR_ZERO;
    bp_system_list_t systems BP_OR_ZERO;
    bp_field_list_t options BP_OR_ZERO;    /* what the ini may give under [plugin NAME] */
    bp_table_list_t tables BP_OR_ZERO;     /* for other plugins; offered before `load` is called */
    bp_task_list_t tasks BP_OR_ZERO;       /* that its threads may post (bp_task.h) */

    /* Called once after the options are set and before anything else; may set plugin->state and find
     * tables. Where it fails it leaves nothing behind, and the plugin is not loaded. [main] */
    bp_result_t (BP_CALL *load)(bp_plugin_t *plugin) BP_OR_ZERO;

    /* Called last, after the managers and systems in all worlds have stopped. [main] */
    void (BP_CALL *unload)(bp_plugin_t *plugin) BP_OR_ZERO;

    /* For resources that only one version, or one process, can have at a time: threads, ports, files open for writing.
     * `resume` takes them, `pause` gives them back, and when `pause` returns no thread of the plugin runs. A plugin
     * begins paused and ends paused: `load` and `unload`, all verbs during a change of versions, and the copying of the
     * process for a trial find it so, whether its state goes over or not. `reason` is BP_PAUSE_...
     *
     * Where the `resume` that follows `load` fails the plugin is not loaded. After that a failure is told in the log,
     * and the plugin goes on without. Plugins are paused newest first and resumed oldest first. [main] */
    void (BP_CALL *pause)(bp_plugin_t *plugin, uint32_t reason) BP_OR_ZERO;
    bp_result_t (BP_CALL *resume)(bp_plugin_t *plugin, uint32_t reason) BP_OR_ZERO;

    /* Reload: what plugin->state is, as in bp_component_i. Where it goes over, `load` of the next version is called
     * with it set and leaves it alone; `unload` of the version before is not called. */
    uint64_t state_form BP_OR_ZERO;
    uint32_t keeps BP_OR_ZERO;             /* BP_KEEP_NOTHING or BP_KEEP_PLAIN, of a plugin with `load` */
    uint32_t padding_2 BP_OR_ZERO;

    bp_loader_list_t loaders BP_OR_ZERO;   /* kinds of files that it opens (bp_loader.h) */
    bp_extension_list_t extensions BP_OR_ZERO; /* bp_deaths */
    void *reserved[2] BP_OR_ZERO;          /* NULL */
} bp_plugin_desc_t;

/* The exported constant. Its first 24 bytes keep their places in every version of the contract. */
typedef struct bp_plugin_head_t {
    uint64_t magic;        /* BP_PLUGIN_MAGIC; its last byte is the major as a digit */
    uint32_t struct_size;  /* sizeof(bp_plugin_head_t) */
    uint32_t pointer_size; /* sizeof(void *) */
    uint32_t abi_major;
    uint32_t abi_minor;    /* of the headers that it was built with */
    const char *name;      /* as the file, without its ending; letters, digits, underscore */
    const bp_plugin_desc_t *desc;
    uint32_t desc_size;    /* sizeof(bp_plugin_desc_t) */
    uint32_t padding;
} bp_plugin_head_t;

/* A head as an initialiser, for a program that makes descriptors of its own: a name and the address of what it
   brings. */
#define BP_PLUGIN_HEAD(plugin_name, plugin_desc)                                                             \
    {                                                                                                        \
        BP_PLUGIN_MAGIC, (uint32_t)sizeof(bp_plugin_head_t), (uint32_t)sizeof(void *), BP_ABI_MAJOR, BP_ABI_MINOR, \
            (plugin_name), (plugin_desc), (uint32_t)sizeof(bp_plugin_desc_t), 0                              \
    }

#if defined(_WIN32)
#define BP_EXPORT __declspec(dllexport)
#define BP_HIDDEN
#else
#define BP_EXPORT __attribute__((visibility("default")))
#define BP_HIDDEN __attribute__((visibility("hidden")))
#endif

/* The name of the exported symbol; the definition of it, of which the descriptor's braces are the rest. */
#define BP_PLUGIN_SYMBOL "bp_plugin"
#ifdef BP_STATIC_PLUGINS
#define BP_PLUGIN(plugin_name) BP_PLUGIN_PARTS(plugin_name, bp_plugin_##plugin_name)
#define BP_PLUGIN_VISIBLE
#else
#define BP_PLUGIN(plugin_name) BP_PLUGIN_PARTS(plugin_name, bp_plugin)
#define BP_PLUGIN_VISIBLE BP_EXPORT
#endif
#define BP_PLUGIN_PARTS(plugin_name, symbol)                                                       \
    BP_PLUGIN_EXTERN BP_HIDDEN const bp_plugin_desc_t bp_plugin_desc_##plugin_name;                \
    BP_PLUGIN_EXTERN BP_PLUGIN_VISIBLE const bp_plugin_head_t symbol;                              \
    const bp_plugin_head_t symbol = BP_PLUGIN_HEAD(#plugin_name, &bp_plugin_desc_##plugin_name);   \
    const bp_plugin_desc_t bp_plugin_desc_##plugin_name
#ifdef __cplusplus
#define BP_PLUGIN_EXTERN extern "C"
#else
#define BP_PLUGIN_EXTERN extern
#endif

BP_STATIC_ASSERT(offsetof(bp_plugin_head_t, struct_size) == 8, "the beginning of a head is frozen");
BP_STATIC_ASSERT(offsetof(bp_plugin_head_t, pointer_size) == 12, "the beginning of a head is frozen");
BP_STATIC_ASSERT(offsetof(bp_plugin_head_t, abi_major) == 16, "the beginning of a head is frozen");
BP_STATIC_ASSERT(offsetof(bp_plugin_head_t, abi_minor) == 20, "the beginning of a head is frozen");

#ifdef __cplusplus
}
#endif
#endif
