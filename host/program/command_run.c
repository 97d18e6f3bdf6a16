/* command_run.c - `backplane run`: steps, then the report.
 *
 * The number of steps comes from --steps, else from the ini; where neither says it the command asks for it
 * rather than inventing one. Nothing is printed to stdout before all steps are done, so that a failed run
 * leaves no half of a report behind, and --json gives one object or nothing.
 */
#include "figures.h"
#include "json_output.h"
#include "messages.h"
#include "program.h"
#include "report.h"
#include "terminal.h"
#include "trace_file.h"

#include "../base/os.h"

#include <inttypes.h>
#include <stdio.h>

/* What one run came to. */
typedef struct outcome_t {
    uint64_t steps;
    uint64_t nanoseconds; /* by the wall clock, steps only */
} outcome_t;

static int print_for_people(const program_t *program, const outcome_t *outcome)
{
    bool styled = terminal_styled();
    int status = report_print(program, styled);
    if (status == STATUS_FINE)
        status = figures_print_worlds(program, styled);
    putchar('\n');
    if (status == STATUS_FINE)
        status = figures_print_units(program, styled);
    uint32_t entities = program->api->entity->count(program->host);
    printf("\n%" PRIu64 " %s with %" PRIu32 " %s in %.3f s\n", outcome->steps,
           outcome->steps == 1 ? "step" : "steps", entities, entities == 1 ? "entity" : "entities",
           (double)outcome->nanoseconds / 1e9);
    return status;
}

static int print_as_json(const program_t *program, const outcome_t *outcome)
{
    json_t *root = json_object();
    uint32_t entities = program->api->entity->count(program->host);
    int bad = 0;
    bad |= json_object_set_new(root, "backplane", json_output_text(BACKPLANE_VERSION));
    bad |= json_object_set_new(root, "ini", json_output_text(program->ini));
    bad |= json_object_set_new(root, "steps", json_output_count(outcome->steps));
    bad |= json_object_set_new(root, "nanoseconds", json_output_count(outcome->nanoseconds));
    bad |= json_object_set_new(root, "entities", json_output_count(entities));
    bad |= json_object_set_new(root, "worlds", figures_worlds_json(program));
    bad |= json_object_set_new(root, "units", figures_units_json(program));
    bad |= json_object_set_new(root, "reports", report_json(program));
    return json_output_print(json_output_checked(root, bad));
}

static uint64_t most_steps(const program_t *program)
{
    uint64_t most = 0;
    bp_world_o *world;
    for (uint32_t i = 0; (world = program->api->world->at(program->host, i)) != NULL; i++) {
        bp_world_stats_t stats;
        bp_world_stats(world, &stats);
        most = stats.steps > most ? stats.steps : most;
    }
    return most;
}

static int run_steps(program_t *program, const arguments_t *arguments)
{
    outcome_t outcome = {.steps = arguments->steps};
    if (!arguments->has_steps)
        outcome.steps = bp_host_configured_steps(program->host);
    if (!arguments->has_steps && !arguments->real_time && outcome.steps == 0) {
        complain("%s: no number of steps; write \"steps = 1000\" under [host], or give --steps 1000",
                 program->ini);
        return STATUS_BAD_INPUT;
    }
    trace_file_t trace;
    if (arguments->trace != NULL && !trace_file_begin(&trace, program->host, arguments->trace))
        return STATUS_BAD_INPUT;
    uint64_t started = os_clock_ns();
    int status = arguments->real_time ? program_live(program, outcome.steps, arguments->show)
                                      : program_step(program, outcome.steps, !arguments->json);
    outcome.nanoseconds = os_clock_ns() - started;
    if (arguments->real_time)
        outcome.steps = most_steps(program);
    if (arguments->trace != NULL && !trace_file_end(&trace, program->host) && status == STATUS_FINE)
        status = STATUS_FAILED;
    if (status != STATUS_FINE)
        return status;
    return arguments->json ? print_as_json(program, &outcome) : print_for_people(program, &outcome);
}

int command_run(const arguments_t *arguments)
{
    program_t program;
    int status = program_open(&program, arguments->ini);
    if (status != STATUS_FINE)
        return status;
    return program_close(&program, run_steps(&program, arguments));
}
