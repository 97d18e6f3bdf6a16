/* bp_task.h - asking for the main thread: tasks that a plugin declares, and that any of its threads posts.
 *
 *     static void answer(bp_plugin_t *plugin, const void *bytes, size_t size) { ... worlds may be looked at ... }
 *     static const bp_task_t tasks[] = {{.name = "answer", .run = answer}};
 *     BP_PLUGIN(door) = {.tasks = BP_LIST(tasks), .load = load, ...};
 *
 *     in load:      door->posting = (const bp_task_api *)plugin->api->registry->find(plugin->host, BP_TASK_API, 1);
 *     on a thread:  door->posting->post(plugin, "answer", &question, sizeof question);
 *
 * A task is carried out on the main thread, between steps, within bp_host_poll and bp_host_wait: also while all worlds
 * are stopped. Programs poll before each step and wait where there is nothing else to do.
 *
 * A post holds the name of the task and a copy of the bytes, and no address of the plugin's code. What threads of one
 * version of a plugin have posted is carried out by that version before another one takes its place, and what a task
 * itself posts meanwhile by the next.
 *
 * What this header does not do: it starts no threads; plugins do, in `resume` (bp_plugin.h).
 */
#ifndef BP_TASK_H
#define BP_TASK_H

#include "bp_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bp_plugin_t;

/* A task that may be posted. */
typedef struct bp_task_t {
    const char *name BP_OR_ZERO; /* letters, digits, underscore; unique in the plugin; NULL: the plugin's own name */

    /* Called once for each post, those of one thread in the order in which it posted them. `bytes` are aligned to 16
     * and good until `run` returns; NULL where size is 0. `run` may do what may be done between steps, but for what
     * brings or ends plugins, and for stepping, polling and waiting (BP_ERROR_STATE). [main] */
    void (BP_CALL *run)(struct bp_plugin_t *plugin, const void *bytes, size_t size) BP_OR_ZERO;
} bp_task_t;

typedef struct bp_task_list_t {
    const bp_task_t *items;
    uint32_t count;
    uint32_t item_size;
} bp_task_list_t;

#define BP_TASK_API "bp_task"

/* Bytes that posts may hold together, of all plugins of a host, before they are carried out. */
#define BP_TASK_MOST_BYTES 67108864u

/* Found by name: bp_registry_api.find(host, BP_TASK_API, 1). */
typedef struct bp_task_api {
    uint32_t struct_size;
    uint32_t version;

    /* Have `task` carried out by the main thread with a copy of `size` bytes. Returns before it is: BP_OK says that it
     * has been put down. What cannot be carried out is dropped, and the log says so: a task that the plugin does not
     * declare by then, a plugin that has crashed or is unloaded. Where the whole host ends, the log does not. A thread
     * of the plugin may call it from `resume` to `pause`, a verb at any time. BP_ERROR_ARGUMENT: no name, or no bytes
     * though there is a size; BP_ERROR_MEMORY; BP_ERROR_LIMIT: BP_TASK_MOST_BYTES are waiting. An error leaves no
     * sentence. [any] */
    bp_result_t (BP_CALL *post)(const struct bp_plugin_t *plugin, const char *task, const void *bytes, size_t size);
} bp_task_api;

#ifdef __cplusplus
}
#endif
#endif
