/* host_plugins.c - plugins for embedders: loaded, unloaded, reloaded, listed.
 *
 * Each function ends what it would invalidate: trials that refer to a plugin, a probation that would bring a version
 * back.
 */
#include "../base/error.h"
#include "../base/file.h"
#include "../os/os.h"
#include "../plugin/loader.h"
#include "../plugin/verbs.h"
#include "../reload/process.h"
#include "../reload/unload.h"
#include "helper.h"
#include "host.h"

#include <stdio.h>
#include <string.h>

bp_result_t host_load_file(bp_host_o *host, const char *name_or_path, const bp_option_t *options,
                           uint32_t option_count)
{
    if (source_is(name_or_path) && !loader_is_static(&host->loader, name_or_path))
        return hot_load_source(&host->hot, name_or_path, options, option_count);
    return loader_load(&host->loader, name_or_path, options, option_count);
}

bp_result_t bp_host_load_plugin(bp_host_o *host, const char *name_or_path, const bp_option_t *options,
                                uint32_t option_count)
{
    bp_result_t result = host_refuse_change(host);
    if (result == BP_OK)
        result = host_load_file(host, name_or_path, options, option_count);
    if (result == BP_OK)
        reload_accept(&host->reload); /* the plugin's systems are compiled for the present fields */
    if (result == BP_OK)
        host_bring_wanted(host);
    return result;
}

/* --- sources ------------------------------------------------------------------------------------------------------ */

bp_result_t bp_host_set_compiler(bp_host_o *host, const char *key, const char *text)
{
    return sources_set(&host->hot.sources, key, text);
}

bp_result_t bp_host_compile_plugin(bp_host_o *host, const char *path, const char **library)
{
    if (!source_is(path))
        return error_set(&host->base.error, BP_ERROR_ARGUMENT,
                         "%s: it is no source of a plugin; those end in .c, .cc, .cpp, .cxx or .rs", path);
    bp_result_t result = host_refuse_in_copy(host);
    return result == BP_OK ? sources_compile(&host->hot.sources, path, library) : result;
}

bp_result_t bp_host_headers(char *folder, size_t size)
{
    return source_headers(folder, size) ? BP_OK : BP_ERROR_NOT_FOUND;
}

/* --- unloading ---------------------------------------------------------------------------------------------------- */

static bp_result_t unknown_plugin(bp_host_o *host, const char *name)
{
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < host->loader.plugins.count; i++)
        nearest_consider(&nearest, host->loader.plugins.items[i]->name);
    return error_set(&host->base.error, BP_ERROR_NOT_FOUND, "no plugin '%s' is loaded%s", name,
                     nearest_hint(&nearest, &hint));
}

/* Name the units that need the plugin: all of them, or (`components_alone`) the components, which
 * bp_host_unload_plugin_with does not take out. Returns how many there are. */
static uint32_t list_needs(bp_host_o *host, const plugin_t *plugin, bool components_alone, text_t *list)
{
    uint32_t count = 0;
    list->length = 0;
    list->chars[0] = '\0';
    for (uint32_t w = 0; w < host->destruction.world_count; w++) {
        const schedule_t *schedule = host_world(host, w)->schedule;
        for (uint32_t i = 0; i < schedule->count; i++) {
            const unit_t *unit = schedule->units[i];
            char name[64];
            const char *why = components_alone && unit->system != NULL ? NULL : schedule_need(unit, plugin, name);
            if (why == NULL)
                continue;
            text_append(list, "%s%s '%s' in world '%s' %s '%s'", count++ > 0 ? "; " : "",
                        unit->system != NULL ? "system" : "component", unit->name, schedule->world->name, why, name);
        }
    }
    return count;
}

static bp_result_t refuse_needed(bp_host_o *host, const plugin_t *plugin, bool with)
{
    text_t list;
    if (list_needs(host, plugin, with, &list) == 0)
        return BP_OK;
    return error_set(&host->base.error, BP_ERROR_STATE, "plugin '%s' is needed: %s%s", plugin->name, list.chars,
                     with ? "" : "; unload those plugins first, or it with these systems");
}

/* Refuse with the names of the plugins that this one has opened and that are still loaded. */
static bp_result_t refuse_opener(bp_host_o *host, const plugin_t *plugin)
{
    text_t list = {.length = 0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < host->loader.plugins.count; i++) {
        if (host->loader.plugins.items[i]->opener == plugin)
            text_append(&list, "%s'%s'", count++ > 0 ? ", " : "", host->loader.plugins.items[i]->name);
    }
    if (count == 0)
        return BP_OK;
    return error_set(&host->base.error, BP_ERROR_STATE, "plugin '%s' has opened %s; unload %s first", plugin->name,
                     list.chars, count == 1 ? "that" : "those");
}

static void take_out_needy(bp_host_o *host, const plugin_t *plugin)
{
    for (uint32_t w = 0; w < host->destruction.world_count; w++) {
        schedule_t *schedule = host_world(host, w)->schedule;
        for (uint32_t i = schedule->count; i > 0; i--) {
            const unit_t *unit = schedule->units[i - 1];
            char name[64];
            const char *why = unit->system == NULL ? NULL : schedule_need(unit, plugin, name);
            if (why == NULL)
                continue;
            log_write(&host->base.log, BP_LOG_WARNING, "host",
                      "system '%s' leaves world '%s' with plugin '%s': it %s '%s'", unit->name, schedule->world->name,
                      plugin->name, why, name);
            schedule_drop_system(schedule, unit->system);
        }
    }
}

static bp_result_t unload(bp_host_o *host, const char *name, bool with)
{
    bp_result_t result = host_refuse_change(host);
    plugin_t *plugin = loader_find(&host->loader, name);
    if (plugin == NULL)
        return unknown_plugin(host, name);
    if (result == BP_OK)
        result = refuse_opener(host, plugin);
    if (result == BP_OK)
        result = refuse_needed(host, plugin, with);
    if (result == BP_OK) {
        hot_cancel(&host->hot);
        reload_accept(&host->reload);
    }
    if (result == BP_OK)
        result = unload_prepare(&host->destruction, plugin);
    if (result != BP_OK)
        return result;
    take_out_needy(host, plugin);
    history_lose_part(&host->history);
    return unload_plugin(&host->loader, &host->destruction, plugin);
}

bp_result_t bp_host_unload_plugin(bp_host_o *host, const char *name)
{
    return unload(host, name, false);
}

bp_result_t bp_host_unload_plugin_with(bp_host_o *host, const char *name)
{
    return unload(host, name, true);
}

static void copy_report(const reload_t *reload, bp_reload_report_t *report)
{
    if (report == NULL)
        return;
    uint32_t size =
        report->struct_size != 0 && report->struct_size < sizeof *report ? report->struct_size : sizeof *report;
    memcpy(report, &reload->last, size);
    report->struct_size = size;
}

static void look_after_changes(bp_host_o *host)
{
    if (host->wants_seen != host->reload.changes)
        host_bring_wanted(host);
}

static bp_result_t reload(bp_host_o *host, const char *const *names, uint32_t count, bool lossy,
                          bp_reload_report_t *report)
{
    bp_result_t result = host->using ? reload_refuse_moment(&host->reload) : host_refuse_in_copy(host);
    if (result != BP_OK)
        reload_tell_refusal(&host->reload, names, count, 0, result);
    else
        result = hot_reload(&host->hot, names, count, lossy);
    copy_report(&host->reload, report);
    error_text_t kept = host->base.error; /* what follows must not replace the reason of a refusal */
    if (host_refuse_from_inside(host) == BP_OK) {
        host_attend_crashes(host);
        look_after_changes(host);
    }
    if (result != BP_OK)
        host->base.error = kept;
    return result;
}

bp_result_t bp_host_reload(bp_host_o *host, const char *const *names, uint32_t count, bp_reload_report_t *report)
{
    return reload(host, names, count, false, report);
}

bp_result_t bp_host_reload_lossy(bp_host_o *host, const char *const *names, uint32_t count, bp_reload_report_t *report)
{
    return reload(host, names, count, true, report);
}

bp_result_t bp_host_begin_reload(bp_host_o *host, const char *const *names, uint32_t count, uint32_t flags)
{
    if ((flags & ~(uint32_t)BP_RELOAD_LOSSY) != 0)
        return error_set(&host->base.error, BP_ERROR_ARGUMENT, "a reload is begun with flags that are not known: 0x%x",
                         (unsigned)flags);
    if (host->using)
        return reload_refuse_moment(&host->reload);
    bp_result_t result = host_refuse_in_copy(host);
    return result == BP_OK ? hot_ask(&host->hot, names, count, (flags & BP_RELOAD_LOSSY) != 0) : result;
}

bp_result_t bp_host_on_reload(bp_host_o *host, bp_reloaded_callback callback, void *data)
{
    return reload_add_callback(&host->reload, callback, data);
}

const bp_plugin_head_t *bp_host_plugin(bp_host_o *host, uint32_t index, const char **path)
{
    if (index >= host->loader.plugins.count)
        return NULL;
    if (path != NULL)
        *path = host->loader.plugins.items[index]->path;
    return &host->loader.plugins.items[index]->head;
}

/* --- live -------------------------------------------------------------------------------------------------------- */

/* The functions of backplane.h for plugins that crash and change while the host runs.
 *
 * The parts do the work: the guard ends calls (plugin/verb_call.c), hot reload brings new versions (reload/hot.c). The
 * consequence of a crash is decided here, since only the host knows both parts: within the probation of a reload the
 * version before comes back; otherwise the plugin stays set aside until a version is loaded that works.
 */

enum { HOST_WAIT_MOST = 8, INI_LOOK_NS = 250000000 /* the folders of inis are not watched */ };
BP_STATIC_ASSERT((int)HOT_HANDLES + (int)HOST_WAIT_MOST <= (int)OS_WAKE_MOST, "all of them are slept on together");

/* Let the guard end calls that crash, or else only log crashes. Where the system has no guard a warning is logged, but
 * only where the embedder or the ini asked for the guard itself (not by BP_HOST_WATCHFUL). */
static bp_result_t set_guard(bp_host_o *host, const bp_host_desc_t *desc)
{
    bool ends = (desc->flags & BP_HOST_CRASH_GUARD) != 0;
    error_text_t *error = &host->base.error;
    bp_result_t result = guard_create(&host->base.memory, ends ? desc->call_limit : 0, error, &host->loader.guard);
    if (result == BP_OK) {
        guard_tell_deaths(host->loader.guard, verb_tell_death, ends);
        host->reload.probation_steps = ends ? desc->probation : 0;
        host->guarded = ends;
        host->call_limit = ends ? desc->call_limit : 0;
    }
    if (result != BP_ERROR_STATE || !ends || (desc->flags & BP_HOST_WATCHFUL) != 0)
        return result == BP_ERROR_STATE ? BP_OK : result;
    log_write(&host->base.log, BP_LOG_WARNING, "host", "%s", error->text);
    return BP_OK;
}

void host_try_changes(bp_host_o *host, const bp_host_desc_t *desc)
{
    char helper[FILE_PATH_MAX];
    bool asked = (desc->flags & BP_HOST_TRIAL_HELPER) != 0;
    bool found = (asked || !process_can_fork()) && helper_find(host->trial_helper, helper, sizeof helper);
    if (asked && !found)
        log_write(&host->base.log, BP_LOG_WARNING, "reload",
                  "there is no program 'backplane%s' beside this one or beside the library that could try new versions "
                  "of plugins: %s", os_program_suffix,
                  process_can_fork() ? "copies of this process do" : "they come in untried");
    hot_try(&host->hot, desc->trial_deadline, found ? helper : NULL);
}

bp_result_t host_set_live(bp_host_o *host, const bp_host_desc_t *desc)
{
    bp_result_t result = BP_OK;
    if (desc->reload_pause > 0)
        host->reload.pause_limit = desc->reload_pause;
    if ((desc->flags & (BP_HOST_CRASH_GUARD | BP_HOST_CRASH_TELL)) != 0 && host->loader.guard == NULL)
        result = set_guard(host, desc);
    if (result == BP_OK && (desc->flags & BP_HOST_TRIAL) != 0 && !host->hot.watching && !host->hot.trying)
        host_try_changes(host, desc);
    if (result != BP_OK || (desc->flags & BP_HOST_HOT_RELOAD) == 0)
        return result;
    host->loader.copies = true;
    host->hot.beside_steps = desc->reload_try;
    host->hot.beside = draft_watched;
    return hot_begin(&host->hot);
}

const char *bp_host_plugin_crash(bp_host_o *host, uint32_t index)
{
    bool aside = index < host->loader.plugins.count && plugin_is_aside(host->loader.plugins.items[index]);
    return aside ? plugin_crash(host->loader.plugins.items[index]) : NULL;
}

/* Leave a plugin set aside. Its tables, which other plugins call directly, are replaced by stubs. */
static void leave_aside(bp_host_o *host, plugin_t *plugin)
{
    plugin->attended = true;
    registry_silence_tables(&host->registry, plugin);
    log_write(&host->base.log, BP_LOG_WARNING, "host",
              "plugin '%s' is set aside: nothing of it is called any more, and its components stay as they are",
              plugin->name);
}

bp_result_t host_take_versions_back(bp_host_o *host)
{
    bp_result_t result = reload_rollback(&host->reload);
    if (result == BP_OK)
        history_remade(&host->history);
    return result;
}

static bool bring_back(bp_host_o *host, const plugin_t *plugin)
{
    if (!reload_on_probation(&host->reload, plugin))
        return false;
    if (host_take_versions_back(host) == BP_OK) {
        history_taken_back(&host->history);
        log_write(&host->base.log, BP_LOG_WARNING, "host",
                  "plugin '%s' has crashed on probation: the version before is back, with its columns%s", plugin->name,
                  plugin_is_aside(plugin) ? ", and is set aside, as it was" : "");
        return true;
    }
    log_write(&host->base.log, BP_LOG_WARNING, "host", "the version before of plugin '%s' cannot be brought back: %s",
              plugin->name, host->base.error.text);
    return false;
}

void host_attend_crashes(bp_host_o *host)
{
#if defined(BACKPLANE_AUDIT)
    if (host->destruction.stepping == 0 && host->loader.retired.count > 0 && host->reload.probation == NULL) {
        for (uint32_t i = 0; i < host->destruction.world_count; i++)
            property_cache_forget(&host_world(host, i)->names);
        loader_audit(&host->loader);
    }
#endif
    if (host->destruction.stepping != 0 ||
        !atomic_load_explicit(&host->loader.plugins.crashed, memory_order_relaxed) ||
        !atomic_exchange(&host->loader.plugins.crashed, false))
        return;
    for (uint32_t i = 0; i < host->loader.plugins.count; i++) {
        plugin_t *plugin = host->loader.plugins.items[i];
        if (plugin_is_aside(plugin) && !plugin->attended && !bring_back(host, plugin))
            leave_aside(host, plugin);
    }
}

/* Poll once. Tasks come first, so that plugins that are reloaded afterwards need not wait for them. Returns how many
 * tasks there were. */
static uint32_t poll_once(bp_host_o *host)
{
    host_attend_crashes(host);
    uint32_t tasks = posts_run(&host->loader.posts);
    if (tasks > 0)
        host_attend_crashes(host);
    host_go_where_wished(host);
    wished_change_carry_out(host);
    draft_go_on(host);
    hot_poll(&host->hot);
    look_after_changes(host);
    host_follow_inis(host);
    return tasks;
}

bp_result_t bp_host_poll(bp_host_o *host)
{
    bp_result_t result = host_refuse_change(host);
    if (result == BP_OK)
        poll_once(host);
    return result;
}

/* Sleep once. Files that change just after hot reload has looked at them are looked at when it does so again. */
static bp_result_t sleep_once(bp_host_o *host, uint64_t nanoseconds, const intptr_t *others, uint32_t other_count)
{
    intptr_t handles[HOT_HANDLES + HOST_WAIT_MOST];
    uint32_t readable, count;
    uint64_t began = os_clock_ns(), until = hot_sleep(&host->hot, handles, &count);
    if (host->hot.watching && host->ini_count > 0 && until > INI_LOOK_NS)
        until = INI_LOOK_NS;
    if (draft_is_busy(host) || host->draft.state == BP_DRAFT_TRYING)
        until = draft_is_busy(host) ? 0 : TRIAL_NAP_NS;
    if (other_count > 0)
        memcpy(handles + count, others, other_count * sizeof *others);
    bp_result_t result = posts_sleep(&host->loader.posts, nanoseconds < until ? nanoseconds : until, handles,
                                     count + other_count, &readable);
    uint64_t passed = os_clock_ns() - began, due = hot_due(&host->hot);
    if (result == BP_OK && readable != 0 && readable >> count == 0 && due > 0 && passed < nanoseconds)
        result = posts_sleep(&host->loader.posts, due < nanoseconds - passed ? due : nanoseconds - passed, others,
                             other_count, &readable);
    return result;
}

bp_result_t bp_host_wait_for(bp_host_o *host, uint64_t nanoseconds, const intptr_t *handles, uint32_t count)
{
    bp_result_t result = host_refuse_change(host);
    if (result != BP_OK)
        return result;
    if (count > HOST_WAIT_MOST)
        return error_set(&host->base.error, BP_ERROR_LIMIT, "%u handles to wait for; at most %d are allowed", count,
                         HOST_WAIT_MOST);
    if (poll_once(host) > 0 || nanoseconds == 0)
        return BP_OK;
    result = sleep_once(host, nanoseconds, handles, count);
    poll_once(host);
    return result;
}

bp_result_t bp_host_wait(bp_host_o *host, uint64_t nanoseconds)
{
    return bp_host_wait_for(host, nanoseconds, NULL, 0);
}

void bp_host_wake(bp_host_o *host)
{
    posts_wake(&host->loader.posts);
}
