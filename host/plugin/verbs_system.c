/* verbs_system.c - the verbs of systems, under the guard where there is one.
 *
 * In a clone of a host, systems that are output have no state, and none of their verbs is called.
 */
#include "verbs_inner.h"

#define SYSTEM_CALL(...) \
    &(call_t) { .system = system, .plugin = system->owner, .s = &s->handed, .place = s->place, __VA_ARGS__ }

/* In a clone of a host: nothing leaves it, and output that was begun there would take files from the original. */
static bool is_kept_in(const system_t *system)
{
    return system->owner->all->clone && (system->table.flags & BP_SYSTEM_OUTPUT) != 0;
}

static void call_system_start(void *data)
{
    call_t *c = data;
    c->result = c->system->table.start(c->s);
}

bp_result_t verb_system_start(const system_t *system, verb_system_t *s)
{
    if (is_kept_in(system))
        return BP_OK;
    if (system->owner->guard == NULL)
        return system->table.start(&s->handed);
    return verb_call_with_result(SYSTEM_CALL(.result = BP_OK, .rare = true), "start", call_system_start);
}

static void call_system_stop(void *data)
{
    const call_t *c = data;
    c->system->table.stop(c->s);
}

void verb_system_stop(const system_t *system, verb_system_t *s)
{
    if (is_kept_in(system))
        return;
    if (system->owner->guard == NULL)
        system->table.stop(&s->handed);
    else
        verb_call(SYSTEM_CALL(.result = BP_OK, .rare = true), "stop", call_system_stop);
}

static void call_run(void *data)
{
    const call_t *c = data;
    c->system->table.run(c->in, c->count);
}

void verb_run(const system_t *system, verb_system_t *s, const bp_match_t *match)
{
    if (system->owner->guard == NULL)
        system->table.run(match, match->count);
    else
        verb_call(SYSTEM_CALL(.in = match, .count = match->count), "run", call_run);
}

static void call_run_all(void *data)
{
    const call_t *c = data;
    c->system->table.run_all(c->s, c->step, c->in, c->count);
}

void verb_run_all(const system_t *system, verb_system_t *s, const bp_step_t *step, const bp_match_t *matches,
                  uint32_t count)
{
    if (system->owner->guard == NULL)
        system->table.run_all(&s->handed, step, matches, count);
    else
        verb_call(SYSTEM_CALL(.step = step, .in = matches, .count = count), "run_all", call_run_all);
}

static void call_entities_added(void *data)
{
    const call_t *c = data;
    c->system->table.entities_added(c->s, c->in, c->count);
}

void verb_entities_added(const system_t *system, verb_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    if (is_kept_in(system))
        return;
    if (system->owner->guard == NULL)
        system->table.entities_added(&s->handed, entities, count);
    else
        verb_call(SYSTEM_CALL(.in = entities, .count = count), "entities_added", call_entities_added);
}

static void call_entities_removed(void *data)
{
    const call_t *c = data;
    c->system->table.entities_removed(c->s, c->in, c->count);
}

void verb_entities_removed(const system_t *system, verb_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    if (is_kept_in(system))
        return;
    if (system->owner->guard == NULL)
        system->table.entities_removed(&s->handed, entities, count);
    else
        verb_call(SYSTEM_CALL(.in = entities, .count = count), "entities_removed", call_entities_removed);
}

static void call_system_save(void *data)
{
    call_t *c = data;
    c->result = c->system->saving.save(c->s, c->out, c->out_size);
}

bp_result_t verb_system_save(const system_t *system, verb_system_t *s, void **data, size_t *size)
{
    if (system->owner->guard == NULL)
        return system->saving.save(&s->handed, data, size);
    return verb_call_with_result(SYSTEM_CALL(.out = data, .out_size = size), "save", call_system_save);
}

static void call_system_load(void *data)
{
    call_t *c = data;
    c->result = c->system->saving.load(c->s, c->in, c->size);
}

bp_result_t verb_system_load(const system_t *system, verb_system_t *s, const void *data, size_t size)
{
    if (system->owner->guard == NULL)
        return system->saving.load(&s->handed, data, size);
    return verb_call_with_result(SYSTEM_CALL(.in = data, .size = size), "load", call_system_load);
}

static void call_system_died(void *data)
{
    const call_t *c = data;
    c->system->deaths.died(c->s, c->in);
}

void verb_system_died(const system_t *system, verb_system_t *s, const bp_death_t *batch)
{
    if (is_kept_in(system))
        return;
    if (system->owner->guard == NULL)
        system->deaths.died(&s->handed, batch);
    else
        verb_call(SYSTEM_CALL(.in = batch), "died", call_system_died);
}

static void call_rewound(void *data)
{
    const call_t *c = data;
    c->system->rewinding.rewound(c->s, c->in);
}

void verb_rewound(const system_t *system, verb_system_t *s, const bp_step_t *now)
{
    plugins_t *all = system->owner->all;
    if (is_kept_in(system))
        return;
    all->calling++;
    if (system->owner->guard == NULL)
        system->rewinding.rewound(&s->handed, now);
    else
        verb_call(SYSTEM_CALL(.in = now), "rewound", call_rewound);
    all->calling--;
}

static void call_system_report(void *data)
{
    const call_t *c = data;
    c->system->reporting.report(c->s, c->out);
}

void verb_system_report(const system_t *system, verb_system_t *s, bp_report_o *report)
{
    plugins_t *all = system->owner->all;
    if (is_kept_in(system))
        return;
    all->calling++;
    if (system->owner->guard == NULL)
        system->reporting.report(&s->handed, report);
    else
        verb_call(SYSTEM_CALL(.out = report), "report", call_system_report);
    all->calling--;
}
