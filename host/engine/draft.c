/* draft.c - a draft from its clone to its end: what it waits for, its steps, and the differences between the two hosts.
 *
 * The hosts may be made of different versions of the same plugins. Compared are the values of fields that both have; a
 * difference is told with the unit of the step that wrote the first of them.
 */
#include "draft.h"

#include "../base/error.h"
#include "../history/branches.h"
#include "../history/compare.h"
#include "../history/numbers.h"
#include "../os/os.h"
#include "../reload/process.h"
#include "host.h"
#include "makeup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SLICE_NS = 8000000 }; /* of the host's time that a poll may take for the draft, beyond one step */

void draft_init(bp_host_o *host)
{
    host->draft = (draft_t){.state = BP_DRAFT_NONE};
    feed_init(&host->draft.feed, &host->base.memory);
    for (uint32_t i = 0; i < 2; i++)
        bytes_init(&host->draft.states[i], &host->base.memory);
}

static void end_same(draft_t *d)
{
    bp_host_destroy(d->same);
    d->same = NULL;
    for (uint32_t i = 0; i < 2; i++)
        bytes_free(&d->states[i]);
}

/* Free what the draft holds; its state and texts stay, to be read. */
void draft_end(bp_host_o *host)
{
    draft_t *d = &host->draft;
    if (host->history.feed == &d->feed)
        history_feed(&host->history, NULL);
    if (d->change != NULL) {
        trial_end(&d->trial);
        reload_discard(d->change);
    }
    d->change = NULL;
    end_same(d);
    bp_host_destroy(d->clone);
    d->clone = NULL;
    feed_free(&d->feed);
    if (d->has_changed)
        keyframe_free(&host->history.store, &d->changed);
    d->has_changed = false;
    for (uint32_t i = 0; i < d->plugin_count; i++)
        memory_free_text(&host->base.memory, d->plugins[i]);
    memory_free(&host->base.memory, d->plugins, d->plugin_count * sizeof *d->plugins);
    d->plugins = NULL;
    d->plugin_count = 0;
}

void draft_free(bp_host_o *host)
{
    draft_end(host);
    host->draft.state = BP_DRAFT_NONE;
}

void draft_drop(bp_host_o *host)
{
    if (host->draft.altering)
        host->draft.dropped = true;
    else
        draft_free(host);
}

bp_result_t draft_alter(draft_t *d, bp_host_o *altered)
{
    if (d->alter == NULL)
        return BP_OK;
    d->altering = true;
    bp_result_t result = d->alter(d->context, altered);
    d->altering = false;
    return result;
}

static void fail(bp_host_o *host, const char *why)
{
    draft_t *d = &host->draft;
    snprintf(d->why, sizeof d->why, "%.500s", why);
    draft_end(host);
    d->state = BP_DRAFT_FAILED;
    log_write(&host->base.log, d->automatic ? BP_LOG_WARNING : BP_LOG_INFO, "host", "draft: dropped: %s", d->why);
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

static void pass_over(void *context, const char *why)
{
    draft_t *d = context;
    if (d->passed++ == 0)
        snprintf(d->passed_first, sizeof d->passed_first, "before step %" PRIu64 ": %.200s",
                 d->feed.items[d->next].moment + 1, why);
}

bp_result_t draft_make_calls(draft_t *d, bp_host_o *host, const feed_step_t *step, bool tells)
{
    const journal_pass_i pass = {.context = d, .passed = pass_over, .of = d->of, .makes_keys = d->back == 0};
    parts_t parts = host_parts(host);
    const char *bytes = d->feed.bytes.start;
    bool own = host == d->clone;
    bp_result_t result = BP_OK;
    if (own && tells && step->unknown)
        pass_over(d, "what came from outside is no call that can be made again");
    if (step->size > 0) {
        uint64_t passed = d->passed;
        result = journal_make_most(&parts, bytes + step->calls, (size_t)step->size, own ? &pass : NULL);
        d->passed = tells ? d->passed : passed;
    }
    if (result == BP_OK && !outside_give(&host->history.outside, bytes + step->inputs, (size_t)step->input_size))
        result = error_memory(&host->base.error, "giving plugins what they took from outside");
    return result;
}

static bool has_crashed(const bp_host_o *host)
{
    for (uint32_t i = 0; i < host->loader.plugins.count; i++) {
        if (plugin_is_aside(host->loader.plugins.items[i]))
            return true;
    }
    return false;
}

bp_result_t draft_take_step(bp_host_o *host, const feed_step_t *step)
{
    bp_result_t result = step->world == BP_NONE ? bp_host_step(host) : bp_world_step(host_world(host, step->world));
    if (result == BP_OK && has_crashed(host))
        result = error_set(&host->base.error, BP_ERROR_FAILED, "a plugin has crashed");
    return result;
}

bp_result_t draft_write_state(bp_host_o *host, bytes_t *state)
{
    parts_t parts = host_parts(host);
    state->size = 0;
    return snapshot_take(&parts, state);
}

/* Names of components that only code of then has given: calls that come later may use them. These names are there from
 * the beginning of a past that the draft may become, so that this past is computed again with them. */
static void bring_keys(const draft_t *d)
{
    const destruction_t *in = &d->clone->destruction;
    for (uint32_t i = 0; i < d->of->world_count && i < in->world_count; i++)
        numbers_bring_keys(d->of->worlds[i], in->worlds[i]);
}

static bp_result_t go_one_step(draft_t *d, bp_host_o *host, history_t *of, uint32_t number)
{
    const feed_step_t *step = &d->feed.items[number];
    bp_result_t result = draft_make_calls(d, host, step, true);
    if (result == BP_OK && host == d->clone && d->back > 0 && step->moment == d->began && d->state == BP_DRAFT_BEHIND) {
        parts_t parts = host_parts(host);
        bring_keys(d);
        result = history_take_other(of, &parts, &d->changed);
        d->has_changed = result == BP_OK;
    }
    return result == BP_OK ? draft_take_step(host, step) : result;
}

/* Take the next step in both, and compare. Where the results differ, find the unit that made the difference; the second
 * host is then not needed any more. */
static bp_result_t go_in_step(bp_host_o *host)
{
    draft_t *d = &host->draft;
    const feed_step_t *step = &d->feed.items[d->next];
    bytes_t after[2];
    uint64_t fields = 0;
    bytes_init(&after[0], &host->base.memory);
    bytes_init(&after[1], &host->base.memory);
    bp_result_t result = go_one_step(d, d->same, &host->history, d->next);
    if (result == BP_OK)
        result = go_one_step(d, d->clone, &host->history, d->next);
    if (result == BP_OK)
        result = draft_write_state(d->same, &after[0]);
    if (result == BP_OK)
        result = draft_write_state(d->clone, &after[1]);
    if (result == BP_OK)
        result = draft_compare_states(host, &after[0], &after[1], &fields);
    if (result == BP_OK && fields > 0) {
        d->differs_at = step->moment + 1;
        result = draft_find_unit(host, d, d->states, after, step);
    }
    for (uint32_t i = 0; i < 2; i++) {
        bytes_free(&d->states[i]);
        d->states[i] = after[i];
    }
    if (fields > 0 && result == BP_OK) /* otherwise its sentence may be the reason that is told (go_on) */
        end_same(d);
    return result;
}

/* --- the change --------------------------------------------------------------------------------------------------- */

static bp_result_t begin_trial(bp_host_o *host)
{
    draft_t *d = &host->draft;
    bp_host_o *clone = d->clone;
    bp_result_t result = process_can_fork()
                             ? reload_read(&clone->reload, (const char *const *)(uintptr_t)d->plugins, d->plugin_count,
                                           &d->change)
                             : error_set(&clone->base.error, BP_ERROR_STATE,
                                         "this system cannot copy a process to try a version in, and no other version "
                                         "comes into a draft");
    if (result != BP_OK)
        return result;
    loader_pause_all(&host->loader, BP_PAUSE_TRIAL); /* no thread of a plugin may be at work while the process is copied
                                                        */
    bool begun = trial_begin(&d->trial, &clone->base.memory, &clone->reload, d->change, clone->hot.deadline_ms,
                             NULL);
    loader_resume_all(&host->loader, BP_PAUSE_TRIAL);
    if (!begun)
        return error_set(&clone->base.error, BP_ERROR_STATE, "no process can be had to try the version in");
    d->state = BP_DRAFT_TRYING;
    return BP_OK;
}

/* Both hosts at the change: with it, and without. */
static bp_result_t begin_comparing(bp_host_o *host)
{
    draft_t *d = &host->draft;
    uint64_t fields = 0;
    if (d->same == NULL)
        return BP_OK;
    bp_result_t result = draft_write_state(d->same, &d->states[0]);
    if (result == BP_OK)
        result = draft_write_state(d->clone, &d->states[1]);
    if (result == BP_OK)
        result = draft_compare_states(host, &d->states[0], &d->states[1], &fields);
    if (result == BP_OK && fields > 0) {
        d->differs_at = d->began;
        snprintf(d->differs, sizeof d->differs, "step %" PRIu64 ": by the change itself", d->began);
        end_same(d);
    }
    return result;
}

/* The host without the change is made before it. */
static bp_result_t keep_same(bp_host_o *host)
{
    draft_t *d = &host->draft;
    return d->back == 0 ? BP_OK : bp_host_clone(d->clone, &d->same);
}

/* Make the rest of the change, by the caller's `alter`. Then the draft goes on. */
static bp_result_t alter(bp_host_o *host)
{
    draft_t *d = &host->draft;
    bp_result_t result = draft_alter(d, d->clone);
    d->state = BP_DRAFT_BEHIND;
    if (d->dropped)
        return BP_ERROR_STATE;
    return result == BP_OK ? begin_comparing(host) : result;
}

static bp_result_t follow_trial(bp_host_o *host)
{
    draft_t *d = &host->draft;
    int state = trial_state(&d->trial);
    if (state == TRIAL_RUNNING)
        return BP_OK;
    trial_end(&d->trial);
    bp_result_t result = state == TRIAL_PASSED ? keep_same(host) : BP_ERROR_FAILED;
    if (result == BP_OK)
        result = reload_prepare(d->change);
    if (result == BP_OK)
        reload_commit(d->change);
    else
        return result;
    d->change = NULL;
    host_bring_wanted(d->clone);
    return alter(host);
}

/* The clone has come to the moment of the change. */
static bp_result_t change(bp_host_o *host)
{
    draft_t *d = &host->draft;
    if (d->plugin_count > 0)
        return begin_trial(host);
    bp_result_t result = keep_same(host);
    return result == BP_OK ? alter(host) : result;
}

/* --- going on ----------------------------------------------------------------------------------------------------- */

/* The first step that comes after the change. Of a draft from now on that is the first of all, whatever its moment is:
 * where the host begins to remember meanwhile, its moments are counted from another number on. */
static uint32_t change_at(const draft_t *d)
{
    bool first = d->back == 0 || d->feed.count == 0 || d->began < d->feed.items[0].moment;
    return first ? 0 : (uint32_t)(d->began - d->feed.items[0].moment);
}

static bp_result_t go_one(bp_host_o *host)
{
    draft_t *d = &host->draft;
    bp_result_t result;
    uint64_t began = os_clock_ns();
    if (d->state == BP_DRAFT_BEFORE) {
        if (d->next == change_at(d))
            return change(host);
        result = go_one_step(d, d->clone, &host->history, d->next);
        d->next++;
        return result;
    }
    if (d->same != NULL) {
        result = go_in_step(host);
    } else {
        result = go_one_step(d, d->clone, &host->history, d->next);
        d->ns += os_clock_ns() - began;
        d->timed++;
    }
    d->next++;
    d->taken++;
    if (d->steps != 0 && d->taken == d->steps)
        d->state = BP_DRAFT_READY;
    return result;
}

bool draft_is_on(const bp_host_o *host)
{
    uint32_t state = host->draft.state;
    return state != BP_DRAFT_NONE && state != BP_DRAFT_FAILED;
}

bool draft_is_busy(const bp_host_o *host)
{
    const draft_t *d = &host->draft;
    return d->state == BP_DRAFT_BEFORE || (d->state == BP_DRAFT_BEHIND && d->next < d->feed.count);
}

static void tell(const bp_host_o *host)
{
    const draft_t *d = &host->draft;
    uint64_t own = host->draft.feed.steps;
    log_write(&host->base.log, BP_LOG_INFO, "host",
              "draft: %" PRIu64 " steps beside the host: %.3g ms a step, and the host's own %.3g", d->taken,
              d->timed > 0 ? (double)d->ns / 1e6 / (double)d->timed : 0,
              own > 0 ? (double)d->feed.ns / 1e6 / (double)own : 0);
}

/* A draft that was begun by the watch of files is kept or dropped here, without a call of the embedder. */
static void decide(bp_host_o *host)
{
    tell(host);
    bp_result_t result = bp_host_draft_keep(host);
    if (result != BP_OK)
        log_write(&host->base.log, BP_LOG_WARNING, "host", "draft: not kept: %s", host->base.error.text);
}

static void go_on(bp_host_o *host)
{
    draft_t *d = &host->draft;
    uint64_t began = os_clock_ns();
    bp_result_t result = BP_OK;
    if (d->feed.broken != NULL) {
        fail(host, d->feed.broken);
        return;
    }
    d->clone->base.error.text[0] = host->base.error.text[0] = '\0';
    if (d->state == BP_DRAFT_TRYING)
        result = follow_trial(host);
    d->state = d->state == BP_DRAFT_BESIDE && d->next < d->feed.count ? BP_DRAFT_BEHIND : d->state;
    while (result == BP_OK && draft_is_busy(host)) {
        result = go_one(host);
        if (os_clock_ns() - began > SLICE_NS)
            break;
    }
    if (d->dropped) {
        draft_free(host);
        return;
    }
    if (result != BP_OK) {
        const char *own = d->clone->base.error.text;
        fail(host, own[0] != '\0' ? own : d->same != NULL && d->same->base.error.text[0] != '\0'
                                              ? d->same->base.error.text
                                              : host->base.error.text);
        return;
    }
    if (d->state == BP_DRAFT_BEHIND && d->next == d->feed.count)
        d->state = BP_DRAFT_BESIDE;
    if (d->state == BP_DRAFT_BESIDE) { /* which may last for good */
        feed_forget(&d->feed);
        d->next = 0;
    }
    if (d->state == BP_DRAFT_READY && d->automatic)
        decide(host);
}

/* A draft that is ready takes none of the host's later steps: they are not kept, and it is not level any more. */
static void fall_behind(draft_t *d)
{
    feed_forget(&d->feed);
    d->next = UINT32_MAX;
}

void draft_go_on(bp_host_o *host)
{
    const draft_t *d = &host->draft;
    char *text = host->base.error.text, told[sizeof host->base.error.text];
    if (d->state == BP_DRAFT_READY && d->next != d->feed.count)
        fall_behind(&host->draft);
    if (d->state == BP_DRAFT_NONE || d->state == BP_DRAFT_READY || d->state == BP_DRAFT_FAILED)
        return;
    memcpy(told, text, sizeof told); /* of the last call that failed; this is none */
    go_on(host);
    memcpy(text, told, sizeof told);
}

/* --- differences: values ------------------------------------------------------------------------------------------ */

typedef struct found_t {
    const char *wanted; /* the field that a sentence is wanted about; NULL: any */
    uint64_t fields;
    bool any, exact;
    char world[64], component[64], field[64], before[96], after[96];
    bp_entity_t entity;
} found_t;

static void note_field(void *context, const bp_diff_field_t *field)
{
    (void)field;
    ((found_t *)context)->fields++;
}

static void note_value(void *context, const bp_diff_value_t *value)
{
    found_t *f = context;
    bool exact = f->wanted == NULL || strcmp(f->wanted, value->field) == 0;
    if (f->any && (f->exact || !exact))
        return;
    f->any = true;
    f->exact = exact;
    f->entity = value->entity;
    snprintf(f->world, sizeof f->world, "%s", value->world);
    snprintf(f->component, sizeof f->component, "%s", value->component);
    snprintf(f->field, sizeof f->field, "%s", value->field);
    snprintf(f->before, sizeof f->before, "%s", value->before);
    snprintf(f->after, sizeof f->after, "%s", value->after);
}

static bp_result_t compare_states(bp_host_o *host, const bytes_t *a, const bytes_t *b, found_t *found)
{
    const bp_diff_i sink = {.most = 1, .context = found, .value = note_value, .field = note_field};
    snapshot_t before, after;
    bp_result_t result = snapshot_open(&before, &host->base.memory, &host->base.error, a->start, a->size);
    if (result != BP_OK)
        return result;
    result = snapshot_open(&after, &host->base.memory, &host->base.error, b->start, b->size);
    if (result == BP_OK && !snapshot_diff(&host->base, &before, &after, &sink))
        result = error_memory(&host->base.error, "comparing two pasts");
    snapshot_close(&after);
    snapshot_close(&before);
    return result;
}

bp_result_t draft_compare_states(bp_host_o *host, const bytes_t *a, const bytes_t *b, uint64_t *fields)
{
    found_t found = {.fields = 0};
    bp_result_t result = compare_states(host, a, b, &found);
    *fields = found.fields;
    return result;
}

/* --- differences: units ------------------------------------------------------------------------------------------- */

static const char *field_of(const audit_result_t *r, const char **component)
{
    const manager_t *manager = r->unit->schedule->world->managers[r->manager];
    *component = manager->component->name;
    return manager->columns[r->column]->name;
}

static bool is_same_place(const audit_result_t *a, const audit_result_t *b)
{
    const char *first, *second;
    const char *field = field_of(a, &first), *other = field_of(b, &second);
    return strcmp(a->unit->name, b->unit->name) == 0 && strcmp(field, other) == 0 && strcmp(first, second) == 0 &&
           strcmp(a->unit->schedule->world->name, b->unit->schedule->world->name) == 0;
}

/* The first result of `b` that differs from that in `a`; NULL: the results that both have are equal. */
static const audit_result_t *find_other(const audit_t *a, const audit_t *b)
{
    for (uint32_t i = 0; i < b->result_count; i++) {
        for (uint32_t k = 0; k < a->result_count; k++) {
            if (is_same_place(&a->results[k], &b->results[i]) && a->results[k].hash != b->results[i].hash)
                return &b->results[i];
        }
    }
    return NULL;
}

static bp_result_t bring_back(bp_host_o *host, const bytes_t *state)
{
    parts_t parts = host_parts(host);
    snapshot_t snapshot;
    bp_result_t result = snapshot_open(&snapshot, &host->base.memory, &host->base.error, state->start, state->size);
    if (result != BP_OK)
        return result;
    result = snapshot_restore(&parts, &snapshot);
    snapshot_close(&snapshot);
    return result;
}

/* The step once more, with what each unit writes taken down. */
static bp_result_t step_again(draft_t *d, bp_host_o *host, const bytes_t *before, const feed_step_t *step,
                              audit_t *audit)
{
    bp_result_t result = bring_back(host, before);
    if (result == BP_OK)
        result = draft_make_calls(d, host, step, false);
    if (result == BP_OK)
        result = host_expect_results(host, audit);
    host->crew.audit = audit;
    if (result == BP_OK)
        result = draft_take_step(host, step);
    host->crew.audit = NULL;
    return result;
}

static void write_sentence(bp_host_o *host, draft_t *d, const feed_step_t *step, const audit_result_t *unit,
                           const found_t *found)
{
    char who[32];
    text_t by = {.length = 0};
    const char *component;
    by.chars[0] = '\0';
    if (unit != NULL) {
        const char *field = field_of(unit, &component);
        text_append(&by, ": %s '%s' of world '%s' writes something else, first in %s.%s",
                    unit->unit->system != NULL ? "system" : "component", unit->unit->name,
                    unit->unit->schedule->world->name, component, field);
    } else {
        text_append(&by, ": not by a unit that writes to rows, but by commands, a state, or storage of its own");
    }
    value_format(&host->base.values, BP_ENTITY, &found->entity, who, sizeof who);
    snprintf(d->differs, sizeof d->differs, "step %" PRIu64 "%.200s; %s of %s is %s, and was %s", step->moment + 1,
             by.chars, found->field, who, found->after, found->before);
}

bp_result_t draft_find_unit(bp_host_o *host, draft_t *d, const bytes_t before[2], const bytes_t after[2],
                            const feed_step_t *step)
{
    audit_t audits[2];
    found_t found = {.fields = 0};
    const char *component;
    audit_init(&audits[0], &d->same->base, false);
    audit_init(&audits[1], &d->clone->base, false);
    bp_result_t result = step_again(d, d->same, &before[0], step, &audits[0]);
    if (result == BP_OK)
        result = step_again(d, d->clone, &before[1], step, &audits[1]);
    const audit_result_t *unit = result == BP_OK ? find_other(&audits[0], &audits[1]) : NULL;
    found.wanted = unit != NULL ? field_of(unit, &component) : NULL;
    if (result == BP_OK)
        result = compare_states(host, &after[0], &after[1], &found);
    if (result == BP_OK)
        write_sentence(host, d, step, unit, &found);
    audit_free(&audits[0]);
    audit_free(&audits[1]);
    return result;
}
