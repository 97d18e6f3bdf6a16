/* live.c - steps at the pace of the clock, for watching and for developing.
 *
 * Each world has a clock of its own: it takes a step whenever the wall clock has passed its time, and where it cannot keep up it is
 * let fall behind rather than taking ever more steps at once. Between steps the host is polled, so that new versions of
 * plugins come in.
 *
 * Ctrl-C ends the loop in good order, for the report to be printed; a second one ends the program. The flag that says so is
 * static, because a signal handler has no other way to tell; nothing else in the program is.
 */
#include "messages.h"
#include "program.h"

#include "../base/os.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

enum {
    BILLION = 1000000000,
    NAP_NS = 2000000,   /* the longest sleep: new files are looked for in between */
    STEPS_AT_ONCE = 8   /* of a world that is behind */
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    interrupted = 1;
    signal(number, SIG_DFL);
}

typedef struct live_t {
    program_t *program;
    uint64_t count, began; /* began: by the clock */
    uint64_t next_show;
    const char *show;
    bool over;             /* all worlds have taken their steps */
    double next;           /* the time at which the next step of any world is due, seconds since the beginning */
} live_t;

/* What is due in one world. Its time counts in units of its own, steps of it in real time: a step rate is steps a second. */
static bp_result_t step_world(live_t *live, bp_world_o *world, double elapsed)
{
    bp_world_stats_t stats;
    bp_step_t clock = {.struct_size = sizeof clock};
    bp_result_t result = BP_OK;
    for (int i = 0; i < STEPS_AT_ONCE && result == BP_OK; i++) {
        bp_world_stats(world, &stats);
        live->program->api->world->clock(world, &clock);
        bool more = live->count == 0 || stats.steps < live->count;
        double due = (double)stats.steps * clock.dt;
        live->over = live->over && !more;
        if (more && (live->next > due || live->next == 0))
            live->next = due;
        if (!more || due > elapsed)
            break;
        result = bp_world_step(world);
    }
    return result;
}

static bp_result_t step_worlds(live_t *live)
{
    const program_t *program = live->program;
    double elapsed = (double)(os_clock_ns() - live->began) / BILLION;
    bp_result_t result = BP_OK;
    bp_world_o *world;
    live->over = true;
    live->next = 0;
    for (uint32_t i = 0; result == BP_OK && (world = program->api->world->at(program->host, i)) != NULL; i++)
        result = step_world(live, world, elapsed);
    return result;
}

static bp_result_t show_path(live_t *live)
{
    const program_t *program = live->program;
    uint64_t now = os_clock_ns();
    char text[1024];
    bp_path_t path;
    if (live->show == NULL || now < live->next_show)
        return BP_OK;
    live->next_show = now + BILLION;
    bp_result_t result = program->api->property->parse_path(program->host, live->show, &path);
    if (result == BP_OK)
        result = program->api->property->get_text(&path, text, sizeof text);
    if (result == BP_OK) {
        printf("%8.1f s  %s = %s\n", (double)(now - live->began) / BILLION, live->show, text);
        fflush(stdout);
    }
    return result;
}

static void nap(const live_t *live)
{
    uint64_t now = os_clock_ns() - live->began, due = (uint64_t)(live->next * BILLION);
    if (due > now)
        os_sleep_ns(due - now < NAP_NS ? due - now : NAP_NS);
}

int program_live(program_t *program, uint64_t count, const char *show)
{
    live_t live = {.program = program, .count = count, .began = os_clock_ns(), .show = show};
    program->talking = true;
    interrupted = 0;
    signal(SIGINT, interrupt);
    bp_result_t result = BP_OK;
    while (result == BP_OK && !live.over && !interrupted) {
        result = show_path(&live);
        if (result == BP_OK)
            result = step_worlds(&live);
        bp_host_poll(program->host);
        if (result == BP_OK && !live.over)
            nap(&live);
    }
    signal(SIGINT, SIG_DFL);
    if (result == BP_OK)
        return STATUS_FINE;
    complain("%s", bp_host_error(program->host));
    return STATUS_FAILED;
}
