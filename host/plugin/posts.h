/* posts.h - tasks that threads have posted for the main thread, by name and with bytes, until they are carried out or
 * dropped.
 *
 * Any thread puts posts; only the main thread takes them. A post goes to a list by one atomic exchange, without a lock,
 * so a copy of the process that is made in the middle of it holds a list that is whole. The main thread keeps the posts
 * it has taken, oldest first, until they are carried out.
 *
 * A post holds the address of the plugin, which stays through changes of its version, and the name of a task, which is
 * looked up when the post is carried out. Before a plugin_t is freed its posts must be dropped.
 *
 * Not here: when tasks are carried out (engine/, reload/).
 */
#ifndef HOST_PLUGIN_POSTS_H
#define HOST_PLUGIN_POSTS_H

#include "../os/os.h"
#include "plugin.h"

typedef struct post_t post_t;

typedef struct posts_t {
    memory_t memory;
    base_t *base;
    _Atomic(post_t *) put;     /* not yet taken, newest first */
    atomic_size_t bytes;       /* of all posts that are not carried out */
    post_t *first, *last;      /* taken, oldest first */
    uint64_t taken;            /* count of posts taken so far */
    bool running;              /* a task is being carried out */
    os_wake_t *wake;           /* for the main thread to sleep on, made at its first sleep; NULL before */
    atomic_bool sleeping;      /* the main thread sleeps, or is about to */
    atomic_bool woken;         /* posts_wake has been called since the last sleep */
} posts_t;

void posts_init(posts_t *posts, base_t *base);
void posts_free(posts_t *posts); /* nothing may be posted any more; what is left is dropped */

/* As bp_task_api.post. [any] */
bp_result_t posts_put(posts_t *posts, plugin_t *plugin, const char *task, const void *bytes, size_t size);

/* Carry out the tasks that have been posted until now, one after another. Returns how many there were, with one for
 * each time that posts of a plugin set aside were dropped; 0 from inside a task. [main], between steps */
uint32_t posts_run(posts_t *posts);

/* Take all posts; return how many have been taken so far, for `from` and `end` of posts_drop. [main] */
uint64_t posts_count(posts_t *posts);

/* Drop the posts of a plugin that come after the first `from` of all and are among the first `end`. `why` is told in
 * the log, as the end of a sentence ("it is unloaded"); NULL: nothing is told. [main] */
#define POSTS_END UINT64_MAX
void posts_drop(posts_t *posts, const plugin_t *plugin, uint64_t from, uint64_t end, const char *why);

/* Drop all posts of all plugins; nothing is told. [main] */
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
