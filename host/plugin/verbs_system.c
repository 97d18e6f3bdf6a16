/* verbs_system.c - the verbs of systems, under the guard where there is one. */
#include "verbs.h"

#include "verb_call.h"

#define SYSTEM_CALL(...) \
    &(call_t) { .system = system, .plugin = system->owner, .s = s, __VA_ARGS__ }

static void call_system_start(void *data)
{
    call_t *c = data;
    c->result = c->system->table.start(c->s);
}

bp_result_t verb_system_start(const system_t *system, bp_system_t *s)
{
    if (system->owner->guard == NULL)
        return system->table.start(s);
    return verb_call_with_result(SYSTEM_CALL(.result = BP_OK), "start", call_system_start);
}

static void call_system_stop(void *data)
{
    const call_t *c = data;
    c->system->table.stop(c->s);
}

void verb_system_stop(const system_t *system, bp_system_t *s)
{
    if (system->owner->guard == NULL)
        system->table.stop(s);
    else
        verb_call(SYSTEM_CALL(.result = BP_OK), "stop", call_system_stop);
}

static void call_run(void *data)
{
    const call_t *c = data;
    c->system->table.run(c->s, c->step, c->in);
}

void verb_run(const system_t *system, bp_system_t *s, const bp_step_t *step, const bp_match_t *match)
{
    if (system->owner->guard == NULL)
        system->table.run(s, step, match);
    else
        verb_call(SYSTEM_CALL(.step = step, .in = match), "run", call_run);
}

static void call_run_all(void *data)
{
    const call_t *c = data;
    c->system->table.run_all(c->s, c->step, c->in, c->count);
}

void verb_run_all(const system_t *system, bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    if (system->owner->guard == NULL)
        system->table.run_all(s, step, matches, count);
    else
        verb_call(SYSTEM_CALL(.step = step, .in = matches, .count = count), "run_all", call_run_all);
}

static void call_entities_added(void *data)
{
    const call_t *c = data;
    c->system->table.entities_added(c->s, c->in, c->count);
}

void verb_entities_added(const system_t *system, bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    if (system->owner->guard == NULL)
        system->table.entities_added(s, entities, count);
    else
        verb_call(SYSTEM_CALL(.in = entities, .count = count), "entities_added", call_entities_added);
}

static void call_entities_removed(void *data)
{
    const call_t *c = data;
    c->system->table.entities_removed(c->s, c->in, c->count);
}

void verb_entities_removed(const system_t *system, bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    if (system->owner->guard == NULL)
        system->table.entities_removed(s, entities, count);
    else
        verb_call(SYSTEM_CALL(.in = entities, .count = count), "entities_removed", call_entities_removed);
}

static void call_system_report(void *data)
{
    const call_t *c = data;
    c->system->table.report(c->s, c->out);
}

void verb_system_report(const system_t *system, bp_system_t *s, bp_report_o *report)
{
    if (system->owner->guard == NULL)
        system->table.report(s, report);
    else
        verb_call(SYSTEM_CALL(.out = report), "report", call_system_report);
}
