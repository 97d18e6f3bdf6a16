/* hot.c - the driver of hot reload: one candidate at a time, from its file to its change.
 *
 * The state is a change between reload_read and reload_commit, with a child while it is on trial. Everything that the child does is its own:
 * it writes to no file (process.h), removes no copy of a library (loader_t.on_trial), and what it logs goes nowhere; what it has to
 * say comes over the pipe, "ok" or a reason.
 */
#include "hot.h"

#include "../base/os.h"
#include "../plugin/verbs.h"

#include <stdio.h>
#include <string.h>

enum { MILLION = 1000000 };

void hot_init(hot_t *hot, reload_t *reload)
{
    memset(hot, 0, sizeof *hot);
    hot->reload = reload;
    hot->base = reload->base;
    memory_init_child(&hot->memory, "hot reload", &reload->base->memory);
}

void hot_end(hot_t *hot)
{
    hot_cancel(hot);
    if (hot->watching)
        watch_end(&hot->watch);
    hot->watching = false;
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
}

bp_result_t hot_begin(hot_t *hot, bool trying, uint32_t deadline_ms)
{
    if (hot->watching)
        return BP_OK;
    bp_result_t result = watch_begin(&hot->watch, hot->reload->loader);
    hot->watching = result == BP_OK;
    hot->trying = trying && process_can_fork();
    hot->deadline_ms = deadline_ms > 0 ? deadline_ms : HOT_DEADLINE_MS;
    if (hot->watching && trying && !hot->trying)
        log_write(&hot->base->log, BP_LOG_INFO, "reload", "this system cannot copy a process: new versions of plugins come in untried");
    return result;
}

bp_result_t hot_build(hot_t *hot, const char *command, const char *sources)
{
    if (hot->building)
        return BP_OK;
    bp_result_t result = build_begin(&hot->build, hot->reload->loader, command, sources);
    hot->building = result == BP_OK;
    return result;
}

/* --- in the child ------------------------------------------------------------------------------------------------------ */

static void run_here(void *context, void (*job)(void *data, uint32_t index), void *data, uint32_t count)
{
    (void)context;
    for (uint32_t i = 0; i < count; i++)
        job(data, i);
}

static void say_nothing(void *context, int32_t level, const char *source, const char *text)
{
    (void)context, (void)level, (void)source, (void)text;
}

static const char *crash_of_any(const loader_t *loader)
{
    for (uint32_t i = 0; i < loader->count; i++) {
        const char *crash = plugin_crash(loader->plugins[i]);
        if (plugin_is_aside(loader->plugins[i]) && crash[0] != '\0')
            return crash;
    }
    return NULL;
}

static const char *step_all(hot_t *hot)
{
    const destruction_t *d = hot->reload->destruction;
    crew_t crew = {.jobs = {.threads = 1, .run = run_here}};
    const char *crash = crash_of_any(hot->reload->loader);
    for (uint32_t n = 0; n < HOT_TRIAL_STEPS && crash == NULL; n++) {
        for (uint32_t w = 0; w < d->world_count && crash == NULL; w++) {
            if (schedule_step(d->worlds[w]->schedule, &crew) != BP_OK)
                return hot->base->error.text;
            crash = crash_of_any(hot->reload->loader);
        }
    }
    return crash;
}

/* Plugins that were set aside before have nothing to do with the candidate. */
static void forget_crashes(loader_t *loader)
{
    for (uint32_t i = 0; i < loader->count; i++) {
        if (plugin_is_aside(loader->plugins[i]))
            loader->plugins[i]->crash[0] = '\0';
    }
}

static int try_candidate(process_t *self, void *data)
{
    hot_t *hot = data;
    const char *reason = NULL;
    hot->base->log = (bp_log_i){NULL, say_nothing};
    hot->reload->loader->on_trial = true;
    forget_crashes(hot->reload->loader);
    if (reload_prepare(hot->change) != BP_OK) {
        reason = hot->base->error.text;
    } else {
        reload_commit(hot->change);
        reason = step_all(hot);
    }
    const char *verdict = reason == NULL ? "ok" : reason;
    process_write(self, verdict, strlen(verdict));
    return reason == NULL ? 0 : 1;
}

/* --- in the host --------------------------------------------------------------------------------------------------------- */

static void drop_change(hot_t *hot)
{
    process_free(hot->child);
    reload_discard(hot->change);
    hot->child = NULL;
    hot->change = NULL;
}

void hot_cancel(hot_t *hot)
{
    drop_change(hot);
}

/* The reason is the present error. */
static void refuse(hot_t *hot, bp_result_t result)
{
    const char *name = hot->candidate;
    drop_change(hot);
    reload_tell_refusal(hot->reload, &name, 1, hot->fork_ns, result);
}

static void make_change(hot_t *hot)
{
    reload_change_t *change = hot->change;
    bp_result_t result = reload_prepare(change);
    if (result != BP_OK) {
        refuse(hot, result);
        return;
    }
    hot->change = NULL;
    process_free(hot->child);
    hot->child = NULL;
    reload_commit(change);
}

static void begin_trial(hot_t *hot)
{
    uint64_t began = os_clock_ns();
    hot->said_size = 0;
    hot->child = process_fork(&hot->memory, try_candidate, hot);
    hot->child_since = os_clock_ns() / MILLION;
    hot->fork_ns = os_clock_ns() - began;
    if (hot->child == NULL) {
        log_write(&hot->base->log, BP_LOG_WARNING, "reload", "no process can be had to try the new '%s' in: it comes in untried", hot->candidate);
        make_change(hot);
    }
}

static void begin_change(hot_t *hot, const plugin_t *plugin)
{
    const char *name = plugin->name;
    snprintf(hot->candidate, sizeof hot->candidate, "%s", plugin->name);
    hot->fork_ns = 0;
    bp_result_t result = reload_read(hot->reload, &name, 1, &hot->change);
    if (result != BP_OK) {
        hot->change = NULL;
        refuse(hot, result);
    } else if (hot->trying) {
        begin_trial(hot);
    } else {
        make_change(hot);
    }
}

static void hear_child(hot_t *hot)
{
    size_t got;
    char rest[256];
    do {
        size_t room = sizeof hot->said - 1 - hot->said_size;
        got = process_read(hot->child, room > 0 ? hot->said + hot->said_size : rest, room > 0 ? room : sizeof rest);
        hot->said_size += room > 0 ? got : 0;
    } while (got > 0);
    hot->said[hot->said_size] = '\0';
}

/* The child has ended: by itself, or by what the candidate did to it. */
static void judge_child(hot_t *hot, const process_end_t *end)
{
    error_text_t *error = &hot->base->error;
    hear_child(hot);
    if (end->state == PROCESS_ENDED && end->code == 0 && strcmp(hot->said, "ok") == 0) {
        make_change(hot);
        return;
    }
    if (end->state == PROCESS_KILLED)
        error_set(error, BP_ERROR_FAILED, "on trial it was ended by %s; crash_guard = on tells where", end->signal);
    else if (end->code == PROCESS_CALLED_EXIT)
        error_set(error, BP_ERROR_FAILED, "on trial it called exit");
    else if (hot->said_size > 0)
        error_set(error, BP_ERROR_FAILED, "on trial: %s", hot->said);
    else
        error_set(error, BP_ERROR_FAILED, "on trial its process ended with %d", end->code);
    refuse(hot, BP_ERROR_FAILED);
}

static void follow_trial(hot_t *hot, uint64_t now)
{
    hear_child(hot);
    process_end_t end = process_state(hot->child);
    if (end.state != PROCESS_RUNNING) {
        judge_child(hot, &end);
    } else if (now - hot->child_since > hot->deadline_ms) {
        refuse(hot, error_set(&hot->base->error, BP_ERROR_FAILED, "on trial it had not come through after %u ms (trial_deadline)",
                              hot->deadline_ms));
    }
}

void hot_poll(hot_t *hot)
{
    uint64_t now = os_clock_ns() / MILLION;
    if (now - hot->polled_at < HOT_POLL_MS)
        return;
    hot->polled_at = now;
    if (hot->building)
        build_poll(&hot->build, now);
    if (hot->child != NULL) {
        follow_trial(hot, now);
        return;
    }
    const plugin_t *plugin = hot->watching ? watch_next(&hot->watch, now) : NULL;
    if (plugin != NULL)
        begin_change(hot, plugin);
}
