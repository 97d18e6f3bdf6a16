/* posts.h - what threads have asked the main thread for: tasks by name, with bytes, until they are carried out or
 * dropped.
 *
 * Any thread puts posts down; only the main thread takes them. What is put down goes to a list by one atomic exchange,
 * without a lock: so a copy of the process that is made in the middle of it holds a list that is whole. What the main
 * thread has taken it keeps, oldest first, until it is carried out.
 *
 * A post holds the address of the plugin, which stays through changes of its version, and the name of a task, which is
 * looked up when it is carried out. Whoever frees a plugin_t drops its posts first.
 *
 * What it does not do: it decides not when tasks are carried out; engine/ and reload/ do.
 */
#ifndef HOST_PLUGIN_POSTS_H
#define HOST_PLUGIN_POSTS_H

#include "../os/os.h"
#include "plugin.h"

typedef struct post_t post_t;

typedef struct posts_t {
    memory_t memory;
    base_t *base;
    _Atomic(post_t *) put;     /* newest first */
    atomic_size_t bytes;       /* of all that are not carried out */
    post_t *first, *last;      /* taken, oldest first */
    uint64_t taken;            /* so far */
    bool running;              /* a task is being carried out */
    os_wake_t *wake;           /* what the main thread sleeps on, from its first sleep on; or NULL */
    atomic_bool sleeping;      /* it does, or is about to */
    atomic_bool woken;         /* somebody wants it to come back */
} posts_t;

void posts_init(posts_t *posts, base_t *base);
void posts_free(posts_t *posts); /* nothing may be posted any more; what is left is dropped */

/* As bp_task_api.post. [any] */
bp_result_t posts_put(posts_t *posts, plugin_t *plugin, const char *task, const void *bytes, size_t size);

/* Carry out what has been put down by now, one after another. Returns how many there were, those that had to be
 * dropped among them; 0 from inside a task. [main], between steps */
uint32_t posts_run(posts_t *posts);

/* How many have been taken, when all that are there now are among them: for posts_drop. [main] */
uint64_t posts_count(posts_t *posts);

/* Drop those of a plugin that come after the first `from`. `why` is told in the log, as the end of a sentence ("it is
 * unloaded"); NULL: nothing is told. [main] */
void posts_drop(posts_t *posts, const plugin_t *plugin, uint64_t from, const char *why);

/* Drop all of all plugins, without a word. [main] */
void posts_forget(posts_t *posts);

/* --- waiting ------------------------------------------------------------------------------------------------------ */

/* Sleep until something is posted, posts_wake is called, a handle can be read or the time has passed; not at all where
 * there are posts. `readable` gets a bit for each handle, as from os_wake_sleep. BP_ERROR_LIMIT where the system has
 * nothing to sleep on: then this thread has slept for a millisecond, or less. [main] */
bp_result_t posts_sleep(posts_t *posts, uint64_t nanoseconds, const intptr_t *handles, uint32_t count,
                        uint32_t *readable);

/* Wake the main thread, or keep it from its next sleep. [any] */
void posts_wake(posts_t *posts);

#endif
