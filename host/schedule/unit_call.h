/* unit_call.h - the one place where verbs of a plugin's units are called.
 *
 * Whoever wants to be around each such call (a guard against crashes, a measure, a check) puts it here. What is handed over
 * has been made ready by unit_run.c.
 *
 * What it does not do: it decides nothing about when or on which rows.
 */
#ifndef HOST_SCHEDULE_UNIT_CALL_H
#define HOST_SCHEDULE_UNIT_CALL_H

#include "schedule.h"

/* Begin and end of a system in its world; a component's manager is started and stopped by the world. An error says why, and
 * in which world. [main] */
bp_result_t unit_call_start(unit_t *unit, bp_world_o *world);
void unit_call_stop(unit_t *unit);

/* A step. [main], or [job] where the unit allows it */
void unit_call_simulate(unit_t *unit, const bp_step_t *step, const bp_run_t *run);
void unit_call_run(unit_t *unit, const bp_step_t *step, const bp_match_t *match);
void unit_call_run_all(unit_t *unit, const bp_step_t *step, const bp_match_t *matches, uint32_t count);

/* A system is told who matches now, or no longer does; nothing where it does not ask. [main] */
void unit_call_told(unit_t *unit, bool added, const bp_entity_t *entities, uint32_t count);

/* A system's part of a report; nothing for a component, whose manager is asked elsewhere. [main] */
void unit_call_report(unit_t *unit, bp_report_o *report);

#endif
