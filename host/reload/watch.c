/* watch.c - from notices and stamps to files that are finished.
 *
 * Notices say when something happens; stamps say whether a file is another than the one handed over last. Both lead to
 * the same state: a file is pending from its first change until it is handed over, and each further change begins the
 * wait anew.
 * Linkers differ: GNU ld unlinks, creates and writes many times, gold writes through a mapping, lld writes aside and
 * renames; all of them end with a close or a rename. The settling time and the judging are there for writers that close
 * the file in between.
 */
#include "watch.h"

#include "../base/file.h"
#include "../plugin/image.h"

#include <string.h>

bp_result_t watch_begin(file_watch_t *watch, loader_t *loader)
{
    memset(watch, 0, sizeof *watch);
    memory_init_child(&watch->memory, "watch", &loader->base->memory);
    watch->loader = loader;
    watch->folders = folder_watch_knows_ends() ? folder_watch_open(&watch->memory) : NULL;
    return BP_OK;
}

static void forget(file_watch_t *watch, uint32_t at)
{
    watched_file_t *w = watch->files[at];
    watch->files[at] = watch->files[--watch->count];
    memory_free_text(&watch->memory, w->path);
    memory_free(&watch->memory, w, sizeof *w);
}

void watch_end(file_watch_t *watch)
{
    while (watch->count > 0)
        forget(watch, watch->count - 1);
    memory_free(&watch->memory, watch->files, watch->capacity * sizeof *watch->files);
    folder_watch_close(watch->folders);
    memset(watch, 0, sizeof *watch);
}

/* --- which files -------------------------------------------------------------------------------------------------- */

static const char *file_name(const char *path)
{
    const char *name = path;
    for (const char *at = path; *at != '\0'; at++)
        name = *at == '/' || *at == '\\' ? at + 1 : name;
    return name;
}

static void watch_folder(file_watch_t *watch, watched_file_t *w)
{
    char folder[FILE_PATH_MAX];
    size_t length = (size_t)(w->name - w->path);
    w->folder = -1;
    if (watch->folders == NULL || length >= sizeof folder)
        return;
    memcpy(folder, w->path, length);
    folder[length] = '\0';
    w->folder = folder_watch_add(watch->folders, folder);
}

/* Add a plugin's file, to be compared with its stamp at loading, since it may have been written anew meanwhile. */
static bool add(file_watch_t *watch, plugin_t *plugin)
{
    if (!memory_reserve(&watch->memory, &watch->files, &watch->capacity, watch->count + 1u, sizeof *watch->files))
        return false;
    watched_file_t *w = memory_new(&watch->memory, sizeof *w);
    if (w == NULL)
        return false;
    w->path = memory_copy_text(&watch->memory, loader_file(plugin));
    if (w->path == NULL) {
        memory_free(&watch->memory, w, sizeof *w);
        return false;
    }
    w->plugin = plugin;
    w->name = file_name(w->path);
    watch_folder(watch, w);
    w->delivered = w->last = plugin->stamp;
    w->unknown = true;
    watch->files[watch->count++] = w;
    return true;
}

static bool is_loaded(const file_watch_t *watch, const watched_file_t *w)
{
    for (uint32_t i = 0; i < watch->loader->plugins.count; i++) {
        if (watch->loader->plugins.items[i] == w->plugin)
            return strcmp(loader_file(w->plugin), w->path) == 0;
    }
    return false;
}

static bool is_watched(const file_watch_t *watch, const plugin_t *plugin)
{
    for (uint32_t i = 0; i < watch->count; i++) {
        if (watch->files[i]->plugin == plugin)
            return true;
    }
    return false;
}

/* Follow the loader's list of plugins. A plugin that memory does not suffice for is tried again at the next call. */
static void follow(file_watch_t *watch)
{
    for (uint32_t i = watch->count; i > 0; i--) {
        if (!is_loaded(watch, watch->files[i - 1]))
            forget(watch, i - 1);
    }
    for (uint32_t i = 0; i < watch->loader->plugins.count; i++) {
        plugin_t *plugin = watch->loader->plugins.items[i];
        if (plugin->path[0] != '\0' && !is_watched(watch, plugin))
            add(watch, plugin);
    }
}

/* --- what happens to files ---------------------------------------------------------------------------------------- */

static void disturb(watched_file_t *w, bool closed, bool told, uint64_t now)
{
    w->pending = true;
    w->closed = closed;
    w->told = told || w->told;
    w->broken = false;
    w->quiet_since = now;
}

/* Has a file changed since it was looked at last? A file that is known to be written at present is left alone. */
static void look(watched_file_t *w, uint64_t now)
{
    file_stamp_t stamp;
    bool there = file_stamp(w->path, &stamp), writing = w->pending && !w->closed;
    if (memcmp(&stamp, &w->last, sizeof stamp) == 0)
        return;
    w->last = stamp;
    if (there && !writing)
        disturb(w, true, false, now);
}

static void look_at_all(file_watch_t *watch, uint64_t now)
{
    watch->looked_at = now;
    for (uint32_t i = 0; i < watch->count; i++)
        look(watch->files[i], now);
}

/* Notices were lost, perhaps also that of a writer's end: treat every file as changed and closed. */
static void doubt_all(file_watch_t *watch, uint64_t now)
{
    for (uint32_t i = 0; i < watch->count; i++)
        disturb(watch->files[i], true, false, now);
}

/* The file has gone, or cannot be read just now. Nothing is waited for until it comes back, and it counts as another
 * one then. */
static void note_gone(watched_file_t *w, const file_stamp_t *stamp)
{
    w->last = *stamp;
    w->pending = w->told = false;
}

static bool has_gone(watched_file_t *w)
{
    file_stamp_t stamp;
    if (file_stamp(w->path, &stamp))
        return false;
    note_gone(w, &stamp);
    return true;
}

static void hear(file_watch_t *watch, const folder_notice_t *notice, uint64_t now)
{
    for (uint32_t i = 0; i < watch->count; i++) {
        watched_file_t *w = watch->files[i];
        if (w->folder != notice->id)
            continue;
        if (notice->what == FOLDER_LOST) {
            w->folder = -1;
            w->closed = true; /* of a writer's end nothing would be heard */
        } else if (strcmp(w->name, notice->name) == 0 && (notice->what == FOLDER_FINISHED || !has_gone(w))) {
            disturb(w, notice->what == FOLDER_FINISHED, notice->what == FOLDER_FINISHED, now);
        }
    }
}

static void hear_all(file_watch_t *watch, uint64_t now)
{
    folder_notice_t notice;
    while (folder_watch_next(watch->folders, &notice)) {
        if (notice.what == FOLDER_UNSURE)
            doubt_all(watch, now);
        else
            hear(watch, &notice, now);
    }
}

/* Folders that were deleted may be back, with or without the file. */
static void retry_folders(file_watch_t *watch, uint64_t now)
{
    watch->retried_at = now;
    for (uint32_t i = 0; i < watch->count; i++) {
        watched_file_t *w = watch->files[i];
        if (w->folder != -1)
            continue;
        watch_folder(watch, w);
        if (w->folder != -1)
            look(w, now);
    }
}

/* --- finished files ----------------------------------------------------------------------------------------------- */

/* Is the file whole? A file that no system's loader opens counts as whole once it has not been written for a while;
 * only the plugin that opens it can judge more. */
static bool is_whole(file_watch_t *watch, const watched_file_t *w)
{
    char *bytes, why[256];
    size_t size;
    error_text_t ignored = {.calls = NULL};
    if (w->plugin->opener != NULL)
        return true;
    if (file_read_plain(&watch->memory, w->path, &bytes, &size, &ignored) != BP_OK)
        return false;
    bool whole = image_check(bytes, size, BP_PLUGIN_SYMBOL, why, sizeof why);
    memory_free(&watch->memory, bytes, size + 1);
    return whole;
}

/* Is it time to hand this file over? */
static bool is_finished(file_watch_t *watch, watched_file_t *w, uint64_t now)
{
    file_stamp_t stamp;
    if (!w->pending || !w->closed || now - w->quiet_since < WATCH_QUIET_MS)
        return false;
    if (!file_stamp(w->path, &stamp)) {
        note_gone(w, &stamp);
        return false;
    }
    if (memcmp(&stamp, &w->last, sizeof stamp) != 0 || !file_is_closed(w->path)) {
        w->last = stamp;
        disturb(w, true, false, now);
        return false;
    }
    if (!w->told && memcmp(&stamp, &w->delivered, sizeof stamp) == 0) {
        w->pending = false; /* the file is the same as before */
        return false;
    }
    w->broken = w->broken || !is_whole(watch, w);
    if (w->broken && now - w->quiet_since < WATCH_PATIENCE_MS)
        return false;
    w->delivered = stamp;
    w->pending = w->told = false;
    return true;
}

plugin_t *watch_next(file_watch_t *watch, uint64_t now)
{
    if (watch->folders != NULL)
        hear_all(watch, now); /* before it looks for new plugins: their files are compared with what was loaded */
    follow(watch);
    if (watch->folders != NULL && now - watch->retried_at >= WATCH_RETRY_MS)
        retry_folders(watch, now);
    if (now - watch->looked_at >= (watch->folders != NULL ? WATCH_BACKSTOP_MS : WATCH_LOOK_MS))
        look_at_all(watch, now);
    for (uint32_t i = 0; i < watch->count; i++) {
        if (watch->files[i]->unknown)
            look(watch->files[i], now);
        watch->files[i]->unknown = false;
        if (is_finished(watch, watch->files[i], now))
            return watch->files[i]->plugin;
    }
    return NULL;
}

void watch_pass_over(file_watch_t *watch, const plugin_t *plugin, uint64_t now)
{
    follow(watch);
    if (watch->folders != NULL)
        hear_all(watch, now);
    for (uint32_t i = 0; i < watch->count; i++) {
        watched_file_t *w = watch->files[i];
        if (w->plugin != plugin || (w->pending && !w->closed))
            continue; /* its writer is still writing */
        w->pending = w->told = w->unknown = false;
        file_stamp(w->path, &w->last);
        w->delivered = w->last;
    }
}

uint64_t watch_look_ms(const file_watch_t *watch)
{
    uint64_t ms = watch->folders != NULL ? WATCH_BACKSTOP_MS : WATCH_LOOK_MS;
    for (uint32_t i = 0; i < watch->loader->plugins.count; i++) {
        const plugin_t *plugin = watch->loader->plugins.items[i];
        if (plugin->path[0] != '\0' && !is_watched(watch, plugin))
            return 0;
    }
    for (uint32_t i = 0; i < watch->count; i++) {
        if (watch->files[i]->pending)
            return 0;
        if (watch->files[i]->folder == -1 && ms > WATCH_RETRY_MS)
            ms = WATCH_RETRY_MS;
    }
    return ms;
}

bool watch_is_waiting(const file_watch_t *watch)
{
    for (uint32_t i = 0; i < watch->count; i++) {
        if (watch->files[i]->pending && !watch->files[i]->broken)
            return true;
    }
    return false;
}
