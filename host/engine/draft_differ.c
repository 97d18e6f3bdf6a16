/* draft_differ.c - in what two hosts differ that are made of other versions of the same plugins: values of fields that
 * both have, and the unit of a step that wrote the first of them.
 */
#include "../base/error.h"
#include "../history/compare.h"
#include "draft.h"
#include "host.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- values ------------------------------------------------------------------------------------------------------- */

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

/* --- units -------------------------------------------------------------------------------------------------------- */

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

/* The first result of `b` that is another one than in `a`; NULL: those that both have are the same. */
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
