/* library.c - the shared library of a plugin: from a file to an image in memory, and its end; and the nearest name for
 * a path that does not exist.
 *
 * The guard covers all verbs of the plugin, and the code that runs when the system opens the library and when it closes
 * it (constructors, destructors). A library that crashes at opening is refused; one that crashes at closing stays in
 * memory.
 */
#include "holdings.h"
#include "loader.h"

#include "../base/file.h"
#include "../os/files.h"
#include "../os/os.h"
#include "../os/surroundings.h"

#include <stdio.h>
#include <string.h>

static bp_result_t guard_library(loader_t *loader, plugin_t *plugin)
{
    bool known = os_library_image(plugin->library, &plugin->image_begin, &plugin->image_end);
    if (loader->guard == NULL || !known)
        return BP_OK;
    if (!guard_add_image(loader->guard, plugin->image_begin, plugin->image_end))
        return error_memory(&loader->base->error, "loading a plugin");
    plugin->guard = loader->guard;
    return BP_OK;
}

typedef struct opening_t {
    const char *path;
    char *why;
    size_t size;
    void *handle;
} opening_t;

static void open_it(void *data)
{
    opening_t *opening = data;
    opening->handle = os_library_open(opening->path, opening->why, opening->size);
}

/* Open the library, which runs its constructors. false where the opening was ended by the guard, or is refused because
 * it changed settings of the process; `why` gets the reason. */
static bool open_guarded(loader_t *loader, plugin_t *plugin, const char *path, char *why, size_t size)
{
    guard_crash_t crash;
    char changes[200], came[128];
    holdings_seen_t seen;
    opening_t opening = {.path = path, .why = why, .size = size};
    if (loader->guard == NULL) {
        open_it(&opening);
        plugin->library = opening.handle;
        return true;
    }
    guard_samples(0); /* gives this thread its stack for handlers, which would count as a change by the library */
    holdings_see(&loader->plugins, &seen);
    os_surroundings_t *before = os_surroundings_take(true);
    bool opened = guard_run_whole(loader->guard, open_it, &opening, &crash);
    bool changed = os_surroundings_put_back(before, changes, sizeof changes);
    holdings_note(&loader->plugins, plugin, &seen, came, sizeof came);
    plugin->library = opened ? opening.handle : NULL;
    if (opened && changed && !loader->plugins.strict)
        log_write(&loader->base->log, BP_LOG_WARNING, "host",
                  "plugin '%s' has changed while it was opened: %s; what can be put back has been", plugin->path,
                  changes);
    if (opened && !(changed && loader->plugins.strict))
        return true;
    atomic_store(&loader->plugins.crashed, true);
    snprintf(why, size, "%s%s", opened ? "it changed " : "", opened ? changes : crash.reason);
    return false;
}

bp_result_t library_open(loader_t *loader, plugin_t *plugin, const char *path, const bp_plugin_head_t **head)
{
    char why[512], absolute[FILE_PATH_MAX];
    error_text_t *error = &loader->base->error;
    if (loader_kind(loader, plugin->path, NULL) != NULL)
        return content_open(loader, plugin, path, head);
    /* A bare file name would be searched for among the system's libraries. */
    if (!file_path_join(".", path, absolute, sizeof absolute))
        return error_set(error, BP_ERROR_LIMIT, "%s: the path is too long", path);
    bool opened = open_guarded(loader, plugin, os_path_is_absolute(path) ? path : absolute, why, sizeof why);
    if (!opened)
        return error_set(error, BP_ERROR_FAILED, "%s: it crashed while it was opened, in code that runs then: %s",
                         plugin->path, why);
    if (plugin->library == NULL)
        return error_set(error, BP_ERROR_IO, "%s: the system cannot load it: %s", plugin->path, why);
    *head = os_library_symbol(plugin->library, BP_PLUGIN_SYMBOL);
    if (*head == NULL)
        return error_set(error, BP_ERROR_ABI, "%s: it does not export '" BP_PLUGIN_SYMBOL "'; define it with BP_PLUGIN",
                         plugin->path);
    return guard_library(loader, plugin);
}

static void close_it(void *data)
{
    os_library_close(data);
}

enum { MOST_ENDS = 256 };

typedef struct ends_t {
    void (*functions[MOST_ENDS])(void);
    uint32_t count;
} ends_t;

static void run_ends(void *data)
{
    const ends_t *ends = data;
    for (uint32_t i = 0; i < ends->count; i++)
        ends->functions[i]();
}

/* Close a plugin's own copy of a file, which is open nowhere else: the functions that run at its end are called here,
 * like a verb, so that what is left for the system's loader cannot fail. Where one of them crashes the library is not
 * closed, since functions for the end of the process may still be registered. */
static bool close_copy(guard_t *guard, const plugin_t *plugin, guard_crash_t *crash)
{
    ends_t ends;
    ends.count = os_library_take_ends(plugin->library, ends.functions, MOST_ENDS);
    return (ends.count == 0 || guard_run_whole(guard, run_ends, &ends, crash)) &&
           guard_run_whole(guard, close_it, plugin->library, crash);
}

/* What the log calls it: a library may be refused before it has said its name. */
typedef struct called_t { const char *name, *version; } called_t;

static called_t called(const plugin_t *plugin)
{
    return plugin->name == NULL ? (called_t){plugin->path, "(refused)"} : (called_t){plugin->name, plugin->version};
}

/* Log what functions of a library that run at its end have changed of the process; on trial that is a fault. */
static void tell_changes_of_end(loader_t *loader, const plugin_t *plugin, const char *changes)
{
    if (loader->plugins.strict)
        atomic_store(&loader->plugins.crashed, true);
    log_write(&loader->base->log, loader->plugins.strict ? BP_LOG_ERROR : BP_LOG_WARNING, "host",
              "plugin '%s' %s has changed while it was closed: %s; what can be put back has been", called(plugin).name,
              called(plugin).version, changes);
}

/* Threads of the plugin would run on in memory that is no more there: its library stays. On trial that is a fault. */
static void tell_threads(loader_t *loader, const plugin_t *plugin)
{
    if (loader->plugins.strict)
        atomic_store(&loader->plugins.crashed, true);
    log_write(&loader->base->log, loader->plugins.strict ? BP_LOG_ERROR : BP_LOG_WARNING, "host",
              "plugin '%s' %s: it leaves threads running when it is unloaded; its library stays in memory, since they "
              "would crash without it: end and join them in `pause` or `unload`",
              called(plugin).name, called(plugin).version);
}

/* On trial the whole process is looked at instead (reload/trial.c). Libraries that plugins use keep files for the life
 * of the process, an implementation of MPI for one: that matters where plugins come and go, and not at the end. */
static void tell_left(loader_t *loader, const plugin_t *plugin)
{
    char left[128];
    if (!loader->plugins.strict && holdings_name(plugin, left, sizeof left))
        log_write(&loader->base->log, loader->ending ? BP_LOG_DEBUG : BP_LOG_WARNING, "host",
                  "plugin '%s' %s has been unloaded, and has left: %s", called(plugin).name, called(plugin).version,
                  left);
}

static void close_guarded(loader_t *loader, const plugin_t *plugin)
{
    guard_crash_t crash;
    char changes[128];
    if (loader->guard == NULL) {
        os_library_close(plugin->library);
        return;
    }
    if (holdings_have_threads(plugin)) {
        tell_threads(loader, plugin);
        return;
    }
    guard_samples(0); /* as in open_guarded */
    os_surroundings_t *before = os_surroundings_take(true);
    bool closed = plugin->copy != NULL ? close_copy(loader->guard, plugin, &crash)
                                       : guard_run_whole(loader->guard, close_it, plugin->library, &crash);
    if (os_surroundings_put_back(before, changes, sizeof changes) && closed)
        tell_changes_of_end(loader, plugin, changes);
    tell_left(loader, plugin);
    if (closed)
        return;
    atomic_store(&loader->plugins.crashed, true);
    log_write(&loader->base->log, BP_LOG_ERROR, "host",
              "plugin '%s' %s crashed while it was closed, in code that runs then: %s; it stays in memory",
              called(plugin).name, called(plugin).version, crash.reason);
}

void library_close(loader_t *loader, plugin_t *plugin)
{
    content_close(plugin);
    if (plugin->library != NULL)
        close_guarded(loader, plugin);
    if (plugin->guard != NULL && plugin->opener == NULL)
        guard_drop_image(plugin->guard, plugin->image_begin);
    if (plugin->library == NULL)
        return;
#if defined(BACKPLANE_AUDIT)
    retired_add(&loader->retired, plugin->image_begin, plugin->image_end, plugin->name, plugin->version);
#else
    (void)loader;
#endif
}

/* --- a file that is not there ------------------------------------------------------------------------------------- */

typedef struct looking_t {
    nearest_t nearest;
    char best[FILE_PATH_MAX];
    bool whole; /* names are compared with their endings */
} looking_t;

static void consider(void *data, const char *file)
{
    looking_t *looking = data;
    size_t length = strlen(file), suffix = strlen(os_library_suffix);
    char name[FILE_PATH_MAX];
    if (length <= suffix || length >= sizeof name || strcmp(file + length - suffix, os_library_suffix) != 0)
        return;
    snprintf(name, sizeof name, "%.*s", (int)(looking->whole ? length : length - suffix), file);
    nearest_consider(&looking->nearest, name);
    if (looking->nearest.best == name)
        looking->nearest.best = memcpy(looking->best, name, sizeof looking->best);
}

const char *library_near(const char *path, text_t *hint)
{
    char folder[FILE_PATH_MAX], meant[2 * FILE_PATH_MAX];
    const char *name = path;
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '/' || *at == '\\')
            name = at + 1;
    }
    size_t before = (size_t)(name - path);
    if (before >= sizeof folder)
        return "";
    snprintf(folder, sizeof folder, "%.*s", (int)before, path);
    looking_t looking = {.nearest = {.wanted = name}, .whole = strstr(name, os_library_suffix) != NULL};
    os_folder_list(before == 0 ? "." : folder, consider, &looking);
    if (nearest_hint(&looking.nearest, hint)[0] == '\0')
        return "";
    snprintf(meant, sizeof meant, "%s%s", folder, looking.best);
    *hint = (text_t){.length = 0};
    if (strcmp(meant, path) == 0) /* the file is there, and something else was wrong */
        return "";
    text_append(hint, "; did you mean '%s'?", meant);
    return hint->chars;
}
