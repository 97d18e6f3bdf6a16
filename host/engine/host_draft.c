/* host_draft.c - drafts for embedders: begun, read, compared, kept and dropped. */
#include "../base/error.h"
#include "../history/branches.h"
#include "../history/compare.h"
#include "host.h"
#include "makeup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- beginning ---------------------------------------------------------------------------------------------------- */

static bp_result_t copy_names(bp_host_o *host, const bp_draft_i *what)
{
    draft_t *d = &host->draft;
    if (what->plugin_count == 0)
        return BP_OK;
    d->plugins = memory_new(&host->base.memory, what->plugin_count * sizeof *d->plugins);
    d->plugin_count = d->plugins == NULL ? 0 : what->plugin_count;
    for (uint32_t i = 0; i < d->plugin_count; i++) {
        d->plugins[i] = memory_copy_text(&host->base.memory, what->plugins[i]);
        if (d->plugins[i] == NULL)
            return error_memory(&host->base.error, "beginning a draft");
    }
    return d->plugins == NULL ? error_memory(&host->base.error, "beginning a draft") : BP_OK;
}

static bp_result_t check(bp_host_o *host, const bp_draft_i *what)
{
    const history_t *h = &host->history;
    error_text_t *error = &host->base.error;
    if (what->plugin_count == 0 && what->change == NULL)
        return error_set(error, BP_ERROR_ARGUMENT, "a draft without a change");
    for (uint32_t i = 0; i < what->plugin_count; i++) {
        if (loader_find(&host->loader, what->plugins[i]) == NULL)
            return error_set(error, BP_ERROR_NOT_FOUND, "no plugin '%.63s' is loaded", what->plugins[i]);
    }
    if (what->back > 0 && h->budget == 0)
        return error_set(error, BP_ERROR_STATE,
                         "the host remembers nothing; [host] history = 512 MiB in the ini says that it is to");
    if (what->back > h->now - h->first)
        return error_set(error, BP_ERROR_RANGE, "what is remembered begins at step %" PRIu64 ", %" PRIu64 " back",
                         h->first, h->now - h->first);
    return BP_OK;
}

/* A clone of the host as it was at a keyframe, made of what the host was made of then. */
static bp_result_t clone_past(bp_host_o *host, const keyframe_t *keyframe)
{
    draft_t *d = &host->draft;
    bytes_t names;
    const era_t *era = eras_of(&host->history.eras, keyframe->moment, keyframe->touched);
    bp_result_t result = host_clone_parts(host, &d->clone);
    if (result != BP_OK)
        return result;
    bytes_init(&names, &host->base.memory);
    snapshot_put_names(&host->base, &names);
    reader_t reader = reader_of(names.start, names.size);
    parts_t parts = host_parts(d->clone);
    result = names.failed ? error_memory(&d->clone->base.error, "beginning a draft")
                          : snapshot_read_names(&d->clone->base, &reader);
    bytes_free(&names);
    if (result == BP_OK && era != NULL)
        result = makeup_become(d->clone, era->makeup);
    if (result == BP_OK)
        result = keyframe_bring_back(&host->history.store, &parts, keyframe);
    return result == BP_OK ? BP_OK : error_set(&host->base.error, result, "%s", d->clone->base.error.text);
}

static bp_result_t begin_in_the_past(bp_host_o *host)
{
    draft_t *d = &host->draft;
    const keyframe_t *keyframe = history_keyframe(&host->history, d->began);
    if (keyframe == NULL)
        return error_set(&host->base.error, BP_ERROR_STATE, "step %" PRIu64 " cannot be computed any more", d->began);
    uint64_t from = keyframe->moment;
    bool came = keyframe->touched;
    bp_result_t result = clone_past(host, keyframe);
    if (result == BP_OK)
        history_feed_past(&host->history, &d->feed, from, came);
    return result;
}

/* Log lines of the draft are marked as the draft's: otherwise its reload and its crashes would look like the host's. */
static void say(void *context, int32_t level, const char *source, const char *text)
{
    const bp_host_o *host = context;
    log_write(&host->base.log, level, source, "in the draft, and not in this host: %s", text);
}

bp_result_t draft_begin(bp_host_o *host, const bp_draft_i *what, bool automatic)
{
    draft_t *d = &host->draft;
    bp_result_t result = host_refuse_change(host);
    if (result == BP_OK && d->altering)
        result = error_set(&host->base.error, BP_ERROR_STATE, "not while the change of a draft is being made");
    if (result == BP_OK)
        result = check(host, what);
    if (result != BP_OK)
        return result;
    draft_free(host);
    draft_init(host);
    history_settle(&host->history);
    d->automatic = automatic;
    d->back = what->back;
    d->steps = what->steps;
    d->began = host->history.now - what->back;
    d->alter = what->change;
    d->context = what->context;
    d->of = &host->destruction;
    result = copy_names(host, what);
    if (result == BP_OK)
        result = d->back > 0 ? begin_in_the_past(host) : bp_host_clone(host, &d->clone);
    if (result != BP_OK) {
        draft_free(host);
        return result;
    }
    d->clone->base.log = (bp_log_i){.struct_size = sizeof(bp_log_i), .context = host, .write = say};
    history_feed(&host->history, &d->feed);
    d->state = BP_DRAFT_BEFORE;
    return BP_OK;
}

bp_result_t bp_host_draft(bp_host_o *host, const bp_draft_i *draft)
{
    bp_draft_i known;
    host_read_part(&known, draft, sizeof known);
    return draft_begin(host, &known, false);
}

bool draft_watched(bp_host_o *host, const char *const *names, uint32_t count, uint64_t steps)
{
    const bp_draft_i what = {.plugins = names, .plugin_count = count, .steps = steps};
    return draft_begin(host, &what, true) == BP_OK;
}

/* --- looking ------------------------------------------------------------------------------------------------------ */

static double per_step(uint64_t ns, uint64_t steps)
{
    return steps == 0 ? 0 : (double)ns / 1e6 / (double)steps;
}

void bp_host_draft_read(bp_host_o *host, bp_drafted_t *drafted)
{
    const draft_t *d = &host->draft;
    uint32_t size = drafted->struct_size;
    bp_drafted_t now = {.struct_size = size,
                        .state = d->state,
                        .began = d->began,
                        .now = d->began + d->taken,
                        .taken = d->taken,
                        .passed = d->passed,
                        .passed_first = d->passed_first,
                        .differs = d->differs,
                        .with = per_step(d->ns, d->timed),
                        .without = per_step(d->feed.ns, d->feed.steps),
                        .text = d->why};
    memcpy(drafted, &now, size < sizeof now ? size : sizeof now);
}

static bp_result_t refuse_unless(bp_host_o *host, bool level)
{
    const draft_t *d = &host->draft;
    if (!draft_is_on(host))
        return error_set(&host->base.error, BP_ERROR_STATE, "there is no draft%s%s",
                         d->state == BP_DRAFT_FAILED ? " any more: " : "", d->state == BP_DRAFT_FAILED ? d->why : "");
    if (level && d->feed.broken == NULL)
        return BP_OK;
    if ((d->state != BP_DRAFT_READY || d->back > 0) && d->feed.broken != NULL)
        return error_set(&host->base.error, BP_ERROR_STATE, "the draft has ended: %s", d->feed.broken);
    return error_set(&host->base.error, BP_ERROR_STATE,
                     "the draft is not at the same step as the host: each bp_host_poll brings it closer");
}

bp_result_t bp_host_draft_differences(bp_host_o *host, const bp_diff_i *sink)
{
    const draft_t *d = &host->draft;
    bp_result_t result = host_refuse_change(host);
    if (result == BP_OK)
        result = refuse_unless(host, (d->state == BP_DRAFT_BESIDE || d->state == BP_DRAFT_READY) &&
                                         d->next == d->feed.count);
    bp_snapshot_o *own = NULL, *other = NULL;
    if (result == BP_OK)
        result = bp_host_snapshot(host, &own);
    if (result == BP_OK) {
        result = bp_host_snapshot(d->clone, &other);
        if (result != BP_OK)
            error_set(&host->base.error, result, "%s", d->clone->base.error.text);
    }
    if (result == BP_OK)
        result = bp_snapshot_diff(host, own, other, sink);
    bp_snapshot_free(own);
    bp_snapshot_free(other);
    return result;
}

/* --- keeping ------------------------------------------------------------------------------------------------------ */

/* From now on: the change is made here. */
static bp_result_t make_change(bp_host_o *host)
{
    draft_t *d = &host->draft;
    bp_result_t result = BP_OK;
    if (d->plugin_count > 0)
        result = bp_host_reload(host, (const char *const *)(uintptr_t)d->plugins, d->plugin_count, NULL);
    return result == BP_OK ? draft_alter(d, host) : result;
}

static bp_result_t bring_names(bp_host_o *host, const bp_host_o *from)
{
    bytes_t names;
    bytes_init(&names, &host->base.memory);
    snapshot_put_names(&from->base, &names);
    reader_t reader = reader_of(names.start, names.size);
    bp_result_t result = names.failed ? error_memory(&host->base.error, "keeping a draft")
                                      : snapshot_read_names(&host->base, &reader);
    bytes_free(&names);
    return result;
}

/* The draft's past becomes a branch. *number: of it. */
static bp_result_t add_branch(bp_host_o *host, uint64_t *number)
{
    draft_t *d = &host->draft;
    history_t *h = &host->history;
    const era_t *last = h->eras.count > 0 ? &h->eras.items[h->eras.count - 1] : NULL;
    keyframe_t ends;
    makeup_t *makeup;
    parts_t parts = host_parts(d->clone);
    bp_result_t result = bring_names(host, d->clone);
    if (result == BP_OK)
        result = makeup_look(host, d->clone, last == NULL ? NULL : last->makeup, &makeup);
    if (result != BP_OK)
        return result;
    result = history_take_other(h, &parts, &ends);
    if (result != BP_OK) {
        h->eras.makers.drop(h->eras.makers.context, makeup);
        return error_set(&host->base.error, result, "%s", d->clone->base.error.text);
    }
    *number = history_add_future(h, d->began, d->began + d->taken, &parts, makeup, d->changed, ends);
    d->has_changed = false;
    return *number != 0 ? BP_OK
                        : error_set(&host->base.error, BP_ERROR_LIMIT,
                                    "there is no room for another past; [host] history says how much there is");
}

static bp_result_t go_there(bp_host_o *host)
{
    draft_t *d = &host->draft;
    uint64_t number;
    history_settle(&host->history); /* where the host is made of other parts it forgets its past */
    if (d->began < host->history.first || !d->has_changed)
        return error_set(&host->base.error, BP_ERROR_STATE, "step %" PRIu64 " is not remembered any more", d->began);
    bp_result_t result = add_branch(host, &number);
    if (result != BP_OK && !d->has_changed) { /* its beginning went with the branch that there was no room for */
        snprintf(d->why, sizeof d->why, "%.500s", host->base.error.text);
        draft_end(host);
        d->state = BP_DRAFT_FAILED;
    }
    if (result != BP_OK)
        return result;
    draft_end(host); /* its beginning belongs to the branch */
    d->state = BP_DRAFT_NONE;
    result = bp_host_branch_to(host, number);
    if (result != BP_OK)
        branches_drop(&host->history, number);
    return result;
}

bp_result_t bp_host_draft_keep(bp_host_o *host)
{
    draft_t *d = &host->draft;
    bp_result_t result = host_refuse_change(host);
    if (result == BP_OK && d->altering)
        result = error_set(&host->base.error, BP_ERROR_STATE, "not while the change of a draft is being made");
    bool fit = d->state == BP_DRAFT_READY || (d->state == BP_DRAFT_BESIDE && d->next == d->feed.count);
    bool ready = d->state == BP_DRAFT_READY && d->back == 0; /* its change is made anew, whenever that is */
    if (result == BP_OK && !ready)
        result = refuse_unless(host, fit);
    if (result == BP_OK)
        result = d->back > 0 ? go_there(host) : make_change(host);
    if (result == BP_OK || d->dropped)
        draft_free(host);
    return result;
}

void bp_host_draft_drop(bp_host_o *host)
{
    draft_drop(host);
}
