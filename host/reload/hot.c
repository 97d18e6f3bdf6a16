/* hot.c - the driver of hot reload: one set of candidates at a time, from their files to their change.
 *
 * The state is a list of plugins with new files, and, once these are complete, a change between reload_read and
 * reload_commit with a trial. The names stay on the list until their change has been made or refused, so that a change
 * which is let go of begins anew.
 */
#include "hot.h"

#include "../os/os.h"
#include "vote.h"

#include <stdio.h>
#include <string.h>

enum { MILLION = 1000000 };

void hot_init(hot_t *hot, reload_t *reload)
{
    memset(hot, 0, sizeof *hot);
    hot->reload = reload;
    hot->base = reload->base;
    memory_init_child(&hot->memory, "hot reload", &reload->base->memory);
    sources_init(&hot->sources, reload->loader);
}

/* Empty the list, after its versions have come in or have been refused. */
static void clear_list(hot_t *hot)
{
    hot->fresh = hot->count = 0;
    hot->asked = hot->lossy = hot->alone = false;
}

void hot_end(hot_t *hot)
{
    hot_cancel(hot);
    if (hot->watching)
        watch_end(&hot->watch);
    hot->watching = false;
    hot->waiting_count = 0;
    clear_list(hot);
}

void hot_end_build(hot_t *hot)
{
    if (hot->building)
        build_end(&hot->build);
    hot->building = false;
}

void hot_free(hot_t *hot)
{
    hot_end_build(hot);
    hot_end(hot);
    memory_free(&hot->memory, hot->waiting, hot->waiting_capacity * sizeof *hot->waiting);
    hot->waiting = NULL;
    hot->waiting_capacity = 0;
}

void hot_try(hot_t *hot, uint32_t deadline_ms, const char *helper)
{
    hot->trying = helper != NULL || process_can_fork();
    hot->deadline_ms = deadline_ms > 0 ? deadline_ms : TRIAL_DEADLINE_MS;
    snprintf(hot->helper, sizeof hot->helper, "%s", helper == NULL ? "" : helper);
    if (!hot->trying)
        log_write(&hot->base->log, BP_LOG_INFO, "reload",
                  "this system cannot copy a process, and there is no program 'backplane%s' beside this one or beside "
                  "the library that could try new versions of plugins: they come in untried", os_program_suffix);
}

/* --- sources ------------------------------------------------------------------------------------------------------ */

static bool has_sources(const hot_t *hot)
{
    const plugins_t *plugins = &hot->reload->loader->plugins;
    for (uint32_t i = 0; i < plugins->count; i++) {
        if (plugins->items[i]->file != NULL)
            return true;
    }
    return false;
}

/* Where files are watched, watch the sources that plugins were given as. */
static void follow_sources(hot_t *hot)
{
    error_text_t kept = hot->base->error;
    if (!hot->watching || hot->building || hot->deaf || !has_sources(hot))
        return;
    hot->building = build_begin(&hot->build, hot->reload->loader, &hot->sources) == BP_OK;
    hot->deaf = !hot->building;
    if (hot->deaf)
        log_write(&hot->base->log, BP_LOG_WARNING, "host", "%s; 'reload NAME' compiles a plugin's source anew",
                  hot->base->error.text);
    hot->base->error = kept;
}

bp_result_t hot_load_source(hot_t *hot, const char *path, const bp_option_t *options, uint32_t option_count)
{
    const char *library;
    loader_t *loader = hot->reload->loader;
    bp_result_t result = sources_compile(&hot->sources, path, &library);
    if (result == BP_OK)
        result = loader_load_made(loader, path, library, options, option_count);
    if (result != BP_OK)
        return result;
    const plugin_t *plugin = loader->plugins.items[loader->plugins.count - 1];
    uint64_t now = os_clock_ns() / MILLION;
    follow_sources(hot);
    if (hot->watching) /* the folder of the libraries is watched perhaps: this one is not new any more */
        watch_pass_over(&hot->watch, plugin, now);
    if (hot->building)
        build_learn(&hot->build, plugin, now);
    return BP_OK;
}

/* Compile the sources among these plugins, and wait. */
static bp_result_t compile_named(hot_t *hot, const char *const *names, uint32_t count)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < count && result == BP_OK; i++) {
        const char *library;
        plugin_t *plugin = loader_find(hot->reload->loader, names[i]);
        if (plugin == NULL || plugin->file == NULL)
            continue;
        if (hot->building)
            build_learn(&hot->build, plugin, os_clock_ns() / MILLION); /* so that no other compiler writes the file */
        result = sources_compile(&hot->sources, plugin->path, &library);
        if (result == BP_OK && hot->building)
            build_learn(&hot->build, plugin, os_clock_ns() / MILLION);
        if (result == BP_OK && strcmp(library, plugin->file) != 0) { /* a clone's library, made by the original host */
            char *file = memory_copy_text(&hot->reload->loader->memory, library);
            if (file == NULL)
                return error_memory(&hot->base->error, "compiling a plugin");
            memory_free_text(&hot->reload->loader->memory, plugin->file);
            plugin->file = file;
        }
    }
    return result;
}

/* --- on and off --------------------------------------------------------------------------------------------------- */

bp_result_t hot_begin(hot_t *hot)
{
    if (hot->watching)
        return BP_OK;
    bp_result_t result = watch_begin(&hot->watch, hot->reload->loader);
    hot->watching = result == BP_OK;
    follow_sources(hot);
    return result;
}

bp_result_t hot_build(hot_t *hot, const char *command, const char *folder, const char *sources)
{
    if (hot->building && hot->build.command != NULL)
        return BP_OK;
    bool began = !hot->building;
    bp_result_t result = began ? build_begin(&hot->build, hot->reload->loader, &hot->sources) : BP_OK;
    if (result != BP_OK)
        return result;
    result = build_set_command(&hot->build, command, folder, sources);
    hot->building = true;
    if (result != BP_OK && began)
        hot_end_build(hot);
    return result;
}

/* --- lists of names ----------------------------------------------------------------------------------------------- */

static bool is_listed(const hot_t *hot, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(hot->names[i].chars, name) == 0)
            return true;
    }
    return false;
}

static void list(hot_t *hot, const char *name)
{
    if (hot->count < RELOAD_MAX_PLUGINS && !is_listed(hot, hot->count, name))
        snprintf(hot->names[hot->count++].chars, sizeof hot->names[0].chars, "%s", name);
}

static void unlist(hot_t *hot, const char *name)
{
    for (uint32_t i = hot->fresh; i > 0; i--) {
        if (strcmp(hot->names[i - 1].chars, name) != 0)
            continue;
        hot->fresh--;
        hot->count--;
        memmove(&hot->names[i - 1], &hot->names[i], (hot->count - (i - 1)) * sizeof *hot->names);
    }
}

static void unlist_unloaded(hot_t *hot)
{
    for (uint32_t i = hot->fresh; i > 0; i--) {
        if (loader_find(hot->reload->loader, hot->names[i - 1].chars) == NULL)
            unlist(hot, hot->names[i - 1].chars);
    }
}

static void stop_waiting(hot_t *hot, const char *name)
{
    for (uint32_t i = hot->waiting_count; i > 0; i--) {
        if (strcmp(hot->waiting[i - 1].name.chars, name) == 0)
            hot->waiting[i - 1] = hot->waiting[--hot->waiting_count];
    }
}

/* Was this waiting plugin refused together with one that has a new file now? */
static bool shares_set(const hot_t *hot, const hot_waiting_t *waiting)
{
    for (uint32_t i = 0; i < hot->waiting_count; i++) {
        if (waiting->set != 0 && hot->waiting[i].set == waiting->set &&
            is_listed(hot, hot->fresh, hot->waiting[i].name.chars))
            return true;
    }
    return false;
}

/* List the waiting plugins that may come in with the new files. */
static void list_waiting(hot_t *hot)
{
    for (uint32_t i = 0; i < hot->waiting_count; i++) {
        const hot_waiting_t *waiting = &hot->waiting[i];
        if ((waiting->refused || shares_set(hot, waiting)) &&
            loader_find(hot->reload->loader, waiting->name.chars) != NULL)
            list(hot, waiting->name.chars);
    }
}

/* Let the plugins with refused files wait. A plugin for which memory is lacking does not wait; it is tried again when
   its file is written again. */
static void let_wait(hot_t *hot, bool refused)
{
    uint32_t set = hot->fresh > 1 ? ++hot->sets : 0;
    for (uint32_t i = 0; i < hot->fresh; i++) {
        stop_waiting(hot, hot->names[i].chars);
        if ((set != 0 || refused) && memory_reserve(&hot->memory, &hot->waiting, &hot->waiting_capacity,
                                                    hot->waiting_count + 1u, sizeof *hot->waiting))
            hot->waiting[hot->waiting_count++] = (hot_waiting_t){hot->names[i], set, refused};
    }
}

/* --- one change --------------------------------------------------------------------------------------------------- */

static void drop_change(hot_t *hot)
{
    if (hot->waits)
        vote_withdraw(hot->change);
    hot->waits = hot->readies = false;
    trial_end(&hot->trial);
    reload_discard(hot->change);
    hot->change = NULL;
    hot->count = hot->fresh;
}

void hot_cancel(hot_t *hot)
{
    drop_change(hot);
}

static uint32_t point_to_names(const hot_t *hot, const char **names)
{
    for (uint32_t i = 0; i < hot->count; i++)
        names[i] = hot->names[i].chars;
    return hot->count;
}

/* Refuse the change; the reason is the present error. `refused`: the reason is neither a crash nor a hang. The worlds
 * have stood still for the trial to begin, and for what this process has done for the change itself. */
static void refuse(hot_t *hot, bp_result_t result, bool refused)
{
    const char *names[RELOAD_MAX_PLUGINS];
    error_text_t *error = &hot->base->error;
    uint64_t stood_ns = hot->trial.stood_ns + (hot->change == NULL ? 0 : reload_stood_ns(hot->change));
    hot->alone = hot->count > hot->fresh;
    drop_change(hot);
    if (hot->alone)
        return;
    uint32_t count = point_to_names(hot, names);
    if (refused)
        error_set(error, result, "%s\n  it is tried again together with whatever is written anew next", error->text);
    let_wait(hot, refused);
    clear_list(hot);
    reload_tell_refusal(hot->reload, names, count, stood_ns, result);
}

static void make_change(hot_t *hot)
{
    reload_change_t *change = hot->change;
    hot->waits = !vote_may_begin(change);
    if (hot->waits)
        return;
    bp_result_t result = vote_on(change, reload_prepare(change));
    if (result != BP_OK) {
        refuse(hot, result, !atomic_load(&hot->reload->loader->plugins.crashed));
        return;
    }
    hot->change = NULL;
    trial_end(&hot->trial);
    for (uint32_t i = 0; i < hot->count; i++)
        stop_waiting(hot, hot->names[i].chars);
    clear_list(hot);
    reload_commit(change);
}

static bool begin_trial(hot_t *hot, reload_change_t *change)
{
    hot->trial.stood_ns = 0;
    if (!hot->trying)
        return false;
    if (trial_begin(&hot->trial, &hot->memory, hot->reload, change, hot->deadline_ms,
                    hot->helper[0] == '\0' ? NULL : hot->helper))
        return true;
    log_write(&hot->base->log, BP_LOG_WARNING, "reload",
              "no process can be had to try new versions of plugins in: they come in untried");
    return false;
}

/* Have the versions run beside the host as a draft; when it has taken its steps, the draft is kept, which calls
 * hot_reload. */
static void begin_beside(hot_t *hot)
{
    const char *names[RELOAD_MAX_PLUGINS];
    uint32_t count = point_to_names(hot, names);
    if (!hot->beside(hot->reload->loader->host, names, count, hot->beside_steps))
        reload_tell_refusal(hot->reload, names, count, 0, BP_ERROR_FAILED);
    clear_list(hot);
}

/* Make columns ready for the change between steps, and then the change. */
static void make_ready(hot_t *hot)
{
    hot->readies = reload_make_ready(hot->change);
    if (!hot->readies)
        make_change(hot);
}

static void begin_untried(hot_t *hot)
{
    bp_result_t result = reload_look_ahead(hot->change);
    if (result == BP_OK)
        make_ready(hot);
    else
        refuse(hot, result, false);
}

static void begin_change(hot_t *hot)
{
    const char *names[RELOAD_MAX_PLUGINS];
    if (!hot->alone && !hot->asked)
        list_waiting(hot);
    hot->alone = false;
    if (hot->beside_steps > 0 && !hot->asked) {
        begin_beside(hot);
        return;
    }
    reload_leave_later(hot->reload, true);
    hot->leaves = true;
    uint64_t began = os_clock_ns();
    bp_result_t result = reload_read(hot->reload, names, point_to_names(hot, names), &hot->change);
    if (result != BP_OK) {
        hot->change = NULL;
        hot->trial.stood_ns = os_clock_ns() - began;
        refuse(hot, result, false);
        return;
    }
    if (hot->lossy)
        reload_allow_loss(hot->change);
    if (!begin_trial(hot, hot->change))
        begin_untried(hot);
}

static void begin_readying(hot_t *hot)
{
    size_t size;
    const char *told = trial_told(&hot->trial, &size);
    bool untried = hot->trial.untried;
    if (!untried)
        reload_begin_readying(hot->change, told, size);
    trial_end(&hot->trial);
    if (untried)
        begin_untried(hot);
    else
        make_ready(hot);
}

static void follow_trial(hot_t *hot)
{
    int state = trial_state(&hot->trial);
    if (state == TRIAL_PASSED)
        begin_readying(hot);
    else if (state == TRIAL_FAILED)
        refuse(hot, BP_ERROR_FAILED, hot->trial.refused);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

/* Gather finished files, until there are no more, or none that will be finished soon. Returns whether to go on. */
static bool gather(hot_t *hot, uint64_t now)
{
    const plugin_t *plugin;
    bool alone = hot->alone || hot->asked;
    while (!alone && hot->fresh < RELOAD_MAX_PLUGINS && (plugin = watch_next(&hot->watch, now)) != NULL) {
        if (hot->fresh == 0)
            hot->gathering_since = now;
        list(hot, plugin->name);
        hot->fresh = hot->count;
    }
    if (hot->fresh == 0 ||
        (!alone && watch_is_waiting(&hot->watch) && now - hot->gathering_since < HOT_GATHER_MS))
        return false;
    unlist_unloaded(hot);
    if (hot->fresh == 0)
        clear_list(hot);
    return hot->fresh > 0;
}

/* Ask once more whether the change may begin; at every poll, since voters count the questions. A file that is written
 * anew meanwhile takes the place of the waiting change. */
static void follow_vote(hot_t *hot, uint64_t now)
{
    make_change(hot);
    const plugin_t *plugin = hot->waits && hot->watching ? watch_next(&hot->watch, now) : NULL;
    if (plugin == NULL)
        return;
    drop_change(hot);
    list(hot, plugin->name);
    hot->fresh = hot->count;
    hot->gathering_since = now;
}

/* Go on letting go of columns that have left, until nothing is under way that could send more. */
static void follow_leavings(hot_t *hot)
{
    hot->leaving = reload_let_leave(hot->reload);
    hot->leaves = hot->leaving || hot->change != NULL || hot->reload->probation != NULL;
    if (!hot->leaves)
        reload_leave_later(hot->reload, false);
}

void hot_poll(hot_t *hot)
{
    uint64_t now = os_clock_ns() / MILLION;
    if (hot->waits) {
        follow_vote(hot, now);
        return;
    }
    if (now - hot->polled_at < HOT_POLL_MS)
        return;
    hot->polled_at = now;
    if (hot->building)
        build_poll(&hot->build, now);
    if (hot->readies) {
        make_ready(hot);
    } else if (hot->trial.child != NULL) {
        follow_trial(hot);
    } else if ((hot->watching || hot->asked) && gather(hot, now)) {
        begin_change(hot);
    }
    if (hot->leaves)
        follow_leavings(hot);
}

uint64_t hot_due(const hot_t *hot)
{
    uint64_t now = os_clock_ns(), due = (hot->polled_at + HOT_POLL_MS) * MILLION;
    return due > now ? due - now : 0;
}

/* Is something under way in another process or in files that wakes no handle? */
static bool is_busy(const hot_t *hot)
{
    return hot->trial.child != NULL || hot->readies || hot->leaving || hot->fresh > 0 || hot->alone ||
           (hot->watching && watch_look_ms(&hot->watch) == 0) ||
           (hot->building && build_is_waiting(&hot->build));
}

uint64_t hot_sleep(const hot_t *hot, intptr_t handles[HOT_HANDLES], uint32_t *count)
{
    uint64_t ms = hot->building ? BUILD_RETRY_MS : WATCH_BACKSTOP_MS;
    *count = 0;
    if (!hot->watching && !hot->building && hot->trial.child == NULL && !hot->readies && !hot->leaving &&
        !hot->asked)
        return UINT64_MAX;
    if (is_busy(hot))
        return (uint64_t)HOT_POLL_MS * MILLION;
    if (hot->building)
        handles[(*count)++] = folder_watch_handle(hot->build.folders);
    if (hot->watching) {
        uint64_t look = watch_look_ms(&hot->watch);
        ms = look < ms ? look : ms;
    }
    if (hot->watching && hot->watch.folders != NULL)
        handles[(*count)++] = folder_watch_handle(hot->watch.folders);
    return ms * MILLION;
}

/* --- by hand ------------------------------------------------------------------------------------------------------ */

/* Note that the files are read now: what was written to them before need not be handed over by the watch. */
static void pass_over(hot_t *hot, const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count && hot->watching; i++) {
        const plugin_t *plugin = loader_find(hot->reload->loader, names[i]);
        if (plugin != NULL)
            watch_pass_over(&hot->watch, plugin, os_clock_ns() / MILLION);
    }
}

bp_result_t hot_ask(hot_t *hot, const char *const *names, uint32_t count, bool lossy)
{
    bp_result_t result = reload_check_moment(hot->reload);
    for (uint32_t i = 0; i < count && result == BP_OK; i++) {
        if (loader_find(hot->reload->loader, names[i]) == NULL)
            result = error_set(&hot->base->error, BP_ERROR_NOT_FOUND, "no plugin '%s' is loaded", names[i]);
    }
    if (result == BP_OK && (count == 0 || hot->fresh + count > RELOAD_MAX_PLUGINS))
        result = error_set(&hot->base->error, BP_ERROR_ARGUMENT, "1 to %d plugins are reloaded at once",
                           RELOAD_MAX_PLUGINS);
    if (result == BP_OK)
        result = compile_named(hot, names, count);
    if (result != BP_OK)
        return result;
    pass_over(hot, names, count);
    hot_cancel(hot);
    for (uint32_t i = 0; i < count; i++)
        list(hot, names[i]);
    hot->fresh = hot->count;
    hot->asked = true;
    hot->lossy = hot->lossy || lossy;
    return BP_OK;
}

static bp_result_t reload_all(hot_t *hot, const char *const *names, uint32_t count, bool lossy)
{
    reload_change_t *change;
    bp_result_t result = reload_check_moment(hot->reload);
    if (result != BP_OK)
        return result;
    result = compile_named(hot, names, count);
    if (result != BP_OK)
        return result;
    pass_over(hot, names, count);
    reload_leave_later(hot->reload, false); /* the program may never poll */
    result = reload_read(hot->reload, names, count, &change);
    if (result != BP_OK)
        return result;
    hot_cancel(hot);
    if (lossy)
        reload_allow_loss(change);
    if (begin_trial(hot, change) && trial_wait(&hot->trial) != TRIAL_PASSED)
        result = BP_ERROR_FAILED;
    trial_end(&hot->trial);
    if (result == BP_OK && !vote_may_begin(change)) {
        vote_withdraw(change);
        result = error_set(&hot->base->error, BP_ERROR_STATE,
                           "it is not for this host alone to change: write the files anew, with hot_reload = on");
    } else if (result == BP_OK) {
        result = vote_on(change, reload_prepare(change));
    }
    error_text_t kept = hot->base->error;
    if (result == BP_OK)
        reload_commit(change);
    else
        reload_discard(change);
    if (result != BP_OK)
        hot->base->error = kept;
    return result;
}

bp_result_t hot_reload(hot_t *hot, const char *const *names, uint32_t count, bool lossy)
{
    uint64_t began = os_clock_ns();
    bp_result_t result = reload_all(hot, names, count, lossy);
    if (result != BP_OK) {
        reload_tell_refusal(hot->reload, names, count, os_clock_ns() - began, result);
        return result;
    }
    for (uint32_t i = 0; i < count; i++) {
        stop_waiting(hot, names[i]);
        unlist(hot, names[i]);
    }
    if (hot->fresh == 0)
        clear_list(hot);
    return result;
}
