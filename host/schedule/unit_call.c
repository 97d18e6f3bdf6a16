/* unit_call.c - calls into plugins that bring units.
 *
 * Verbs are reached through the slot of the system or the component at each call, so that a slot that has been filled anew is
 * seen at once.
 */
#include "unit_call.h"

#include "../plugin/verbs.h"

bp_result_t unit_call_start(unit_t *unit, bp_world_o *world)
{
    error_text_t *error = &world->base->error;
    unit->seen = (bp_system_t){
        .struct_size = sizeof(bp_system_t),
        .api = world->api,
        .host = world->host,
        .world = world,
        .plugin = &unit->system->owner->seen,
    };
    if (unit->system->table.start == NULL)
        return BP_OK;
    error->text[0] = '\0';
    bp_result_t result = verb_system_start(unit->system, &unit->seen);
    if (result != BP_OK && error->text[0] == '\0')
        error_set(error, result, "it gave no reason (code %d)", result);
    return result == BP_OK ? BP_OK : error_prefix(error, result, "system '%s' did not start in world '%s': ", unit->name,
                                                  world->name);
}

void unit_call_stop(unit_t *unit)
{
    if (unit->system != NULL && unit->system->table.stop != NULL)
        verb_system_stop(unit->system, &unit->seen);
}

void unit_call_simulate(unit_t *unit, const bp_step_t *step, const bp_run_t *run)
{
    verb_simulate(unit->manager->component, &unit->manager->seen, step, run);
}

void unit_call_run(unit_t *unit, const bp_step_t *step, const bp_match_t *match)
{
    verb_run(unit->system, &unit->seen, step, match);
}

void unit_call_run_all(unit_t *unit, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    verb_run_all(unit->system, &unit->seen, step, matches, count);
}

void unit_call_told(unit_t *unit, bool added, const bp_entity_t *entities, uint32_t count)
{
    const bp_system_i *table = &unit->system->table;
    if (added && table->entities_added != NULL)
        verb_entities_added(unit->system, &unit->seen, entities, count);
    else if (!added && table->entities_removed != NULL)
        verb_entities_removed(unit->system, &unit->seen, entities, count);
}

void unit_call_report(unit_t *unit, bp_report_o *report)
{
    if (unit->system != NULL && unit->system->table.report != NULL)
        verb_system_report(unit->system, &unit->seen, report);
}
