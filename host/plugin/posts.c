/* posts.c - a list that any thread fills, and carrying out the tasks in it.
 *
 * A thread that puts a post looks afterwards whether the main thread sleeps. The main thread says that it is about to
 * sleep before looking a last time whether there is a post. So either the thread sees that the main thread sleeps, or
 * the main thread sees the post.
 */
#include "posts.h"

#include "verbs.h"

#include <string.h>

enum { NAME_ROOM = 64, NAP_NS = 1000000 };

struct post_t {
    post_t *next;
    plugin_t *plugin;
    size_t size;
    uint64_t number; /* in the order of taking, from 0 */
    char task[NAME_ROOM];
    _Alignas(16) unsigned char bytes[];
};

void posts_init(posts_t *posts, base_t *base)
{
    memset(posts, 0, sizeof *posts);
    memory_init_child(&posts->memory, "posts", &base->memory);
    posts->base = base;
}

void posts_free(posts_t *posts)
{
    posts_forget(posts);
    os_wake_destroy(posts->wake);
    posts->wake = NULL;
}

/* --- putting ------------------------------------------------------------------------------------------------------ */

static size_t bytes_of(const post_t *post)
{
    return sizeof *post + post->size;
}

static void free_post(posts_t *posts, post_t *post)
{
    atomic_fetch_sub(&posts->bytes, bytes_of(post));
    memory_free(&posts->memory, post, bytes_of(post));
}

void posts_wake(posts_t *posts)
{
    atomic_store(&posts->woken, true);
    if (atomic_load(&posts->sleeping))
        os_wake_signal(posts->wake);
}

bp_result_t posts_put(posts_t *posts, plugin_t *plugin, const char *task, const void *bytes, size_t size)
{
    size_t length = task == NULL ? 0 : strlen(task);
    if (length == 0 || length >= NAME_ROOM || (bytes == NULL && size > 0))
        return BP_ERROR_ARGUMENT;
    if (size > BP_TASK_MOST_BYTES)
        return BP_ERROR_LIMIT;
    size_t room = sizeof(post_t) + size;
    if (atomic_fetch_add(&posts->bytes, room) + room > BP_TASK_MOST_BYTES) {
        atomic_fetch_sub(&posts->bytes, room);
        return BP_ERROR_LIMIT;
    }
    post_t *post = memory_resize(&posts->memory, NULL, 0, room);
    if (post == NULL) {
        atomic_fetch_sub(&posts->bytes, room);
        return BP_ERROR_MEMORY;
    }
    post->plugin = plugin;
    post->size = size;
    memcpy(post->task, task, length + 1);
    if (size > 0)
        memcpy(post->bytes, bytes, size);
    post_t *before = atomic_load_explicit(&posts->put, memory_order_relaxed);
    do
        post->next = before;
    while (!atomic_compare_exchange_weak(&posts->put, &before, post));
    if (atomic_load(&posts->sleeping))
        os_wake_signal(posts->wake);
    return BP_OK;
}

/* --- taking ------------------------------------------------------------------------------------------------------- */

/* Move the posts that have been put to the end of those taken before. */
static void take(posts_t *posts)
{
    post_t *post = atomic_exchange(&posts->put, NULL), *newest = post, *oldest = NULL;
    while (post != NULL) {
        post_t *next = post->next;
        post->next = oldest;
        oldest = post;
        post = next;
    }
    if (oldest == NULL)
        return;
    *(posts->first == NULL ? &posts->first : &posts->last->next) = oldest;
    posts->last = newest;
    for (post = oldest; post != NULL; post = post->next)
        post->number = posts->taken++;
}

uint64_t posts_count(posts_t *posts)
{
    take(posts);
    return posts->taken;
}

static post_t *take_first(posts_t *posts)
{
    post_t *post = posts->first;
    posts->first = post->next;
    if (posts->first == NULL)
        posts->last = NULL;
    return post;
}

static void tell_dropped(posts_t *posts, const plugin_t *plugin, const char *task, uint32_t count, const char *why)
{
    if (count == 0 || why == NULL)
        return;
    log_write(&posts->base->log, BP_LOG_WARNING, plugin->name, "%u posted %s not carried out (%s'%s'): %s", count,
              count == 1 ? "task was" : "tasks were", count == 1 ? "" : "the first is ", task, why);
}

void posts_drop(posts_t *posts, const plugin_t *plugin, uint64_t from, uint64_t end, const char *why)
{
    post_t *post, *next, *first = NULL, *last = NULL;
    char task[NAME_ROOM] = "";
    uint32_t dropped = 0;
    take(posts);
    for (post = posts->first; post != NULL; post = next) {
        next = post->next;
        post->next = NULL;
        if (post->plugin != plugin || post->number < from || post->number >= end) {
            *(first == NULL ? &first : &last->next) = post;
            last = post;
            continue;
        }
        if (dropped++ == 0)
            memcpy(task, post->task, sizeof task);
        free_post(posts, post);
    }
    posts->first = first;
    posts->last = last;
    tell_dropped(posts, plugin, task, dropped, why);
}

void posts_forget(posts_t *posts)
{
    take(posts);
    while (posts->first != NULL)
        free_post(posts, take_first(posts));
}

/* --- carrying out ------------------------------------------------------------------------------------------------- */

static const bp_task_t *find_task(const plugin_t *plugin, const char *name)
{
    for (uint32_t i = 0; i < plugin->desc.tasks.count; i++) {
        if (strcmp(plugin->desc.tasks.items[i].name, name) == 0)
            return &plugin->desc.tasks.items[i];
    }
    return NULL;
}

static void carry_out(posts_t *posts, const post_t *post)
{
    plugin_t *plugin = post->plugin;
    const bp_task_t *task = find_task(plugin, post->task);
    if (task == NULL)
        tell_dropped(posts, plugin, post->task, 1, "the plugin declares no task of that name");
    else
        verb_task(plugin, task, post->size > 0 ? post->bytes : NULL, post->size);
}

/* Drop the posts of a plugin that has crashed. The log is told once only, since its threads may go on posting. */
static void drop_of_crashed(posts_t *posts, plugin_t *plugin)
{
    posts_drop(posts, plugin, 0, POSTS_END, plugin->told_dropped ? NULL : "the plugin has crashed, and is set aside");
    plugin->told_dropped = true;
}

/* A post that a task puts is not carried out in this call, but in the next. */
uint32_t posts_run(posts_t *posts)
{
    if (posts->running || (posts->first == NULL && atomic_load(&posts->put) == NULL))
        return 0;
    uint64_t end = posts_count(posts);
    uint32_t count = 0;
    posts->running = true;
    for (; posts->first != NULL && posts->first->number < end; count++) {
        plugin_t *plugin = posts->first->plugin;
        if (plugin_is_aside(plugin)) {
            drop_of_crashed(posts, plugin);
            continue;
        }
        post_t *post = take_first(posts);
        carry_out(posts, post);
        free_post(posts, post);
        plugin->told_dropped = false;
    }
    posts->running = false;
    return count;
}

/* --- waiting ------------------------------------------------------------------------------------------------------ */

static bool is_awaited(posts_t *posts)
{
    return posts->first == NULL && atomic_load(&posts->put) == NULL && !atomic_load(&posts->woken);
}

bp_result_t posts_sleep(posts_t *posts, uint64_t nanoseconds, const intptr_t *handles, uint32_t count,
                        uint32_t *readable)
{
    *readable = 0;
    if (posts->wake == NULL)
        posts->wake = os_wake_create();
    if (posts->wake == NULL) {
        os_sleep_ns(nanoseconds < NAP_NS ? nanoseconds : NAP_NS);
        return error_set(&posts->base->error, BP_ERROR_LIMIT, "the system has nothing left to wait with");
    }
    atomic_store(&posts->sleeping, true);
    if (is_awaited(posts))
        *readable = os_wake_sleep(posts->wake, nanoseconds, handles, count);
    atomic_store(&posts->sleeping, false);
    atomic_store(&posts->woken, false);
    return BP_OK;
}
