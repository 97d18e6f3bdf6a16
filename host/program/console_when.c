/* console_when.c - the first step at which something is so, among those that the host remembers; and who wrote it. */
#include "condition.h"
#include "inspect.h"
#include "output.h"
#include "writers.h"

#include <inttypes.h>
#include <stdio.h>

static bool hold_at(console_t *console, condition_t *c, uint64_t moment, bool *holds)
{
    char value[CONDITION_VALUE];
    if (bp_host_go(console->program->host, moment) != BP_OK)
        return console_refuse(console, "%s", bp_host_error(console->program->host));
    bp_entity_t entity;
    *holds = condition_holds(console->program, c, &entity, value);
    return true;
}

bp_entity_t console_print_first(const program_t *program, condition_t *c, uint64_t now, uint64_t last)
{
    char id[ENTITY_TEXT_MAX], value[CONDITION_VALUE], about[WHY_MAX];
    bp_entity_t entity;
    condition_holds(program, c, &entity, value);
    const char *name = entity.id == 0 ? NULL : inspect_name(program, c->world, entity);
    program->api->entity->format(program->host, entity, id, sizeof id);
    printf("at step %" PRIu64 " of %" PRIu64 ": %s%s%s%s%s = ", now, last, entity.id != 0 ? id : "",
           name != NULL ? " " : "", name != NULL ? name : "", entity.id != 0 ? " " : "",
           condition_about(program, c, about, sizeof about));
    terminal_print(stdout, value);
    return entity;
}

void console_print_before(const char *before)
{
    fputs(before[0] != '\0' ? ", before " : "", stdout);
    terminal_print(stdout, before);
    putchar('\n');
}

/* The host is at the first step at which the condition holds: tell whose value fits, what the value was before, and who
 * wrote it. The step is taken once more for that. */
static bool tell_first(console_t *console, condition_t *c)
{
    const program_t *program = console->program;
    bp_history_t h = console_read_history(console);
    char before[CONDITION_VALUE] = "";
    writers_t writers;
    bp_entity_t entity = console_print_first(program, c, h.now, h.last);
    bool back = h.now > h.first && bp_host_go(program->host, h.now - 1) == BP_OK;
    if (back)
        condition_holds_for(program, c, entity, before);
    console_print_before(before);
    if (!back)
        return true;
    bool watched = writers_begin(&writers, program, c);
    bool returned = bp_host_go(program->host, h.now) == BP_OK;
    if (!watched)
        return console_refuse_memory(console);
    bool whole = writers_end(&writers);
    if (returned && whole)
        writers_print(&writers);
    writers_free(&writers);
    if (!returned)
        return console_refuse(console, "%s", bp_host_error(program->host));
    return whole || console_refuse_memory(console);
}

/* Nothing was found: back to where the host was. */
static bool return_to(console_t *console, const bp_history_t *h, const condition_t *c, const char *why)
{
    if (bp_host_go(console->program->host, h->now) != BP_OK)
        return console_refuse(console, "%s", bp_host_error(console->program->host));
    char fault[WHY_MAX];
    if (condition_fault(console->program, c, fault, sizeof fault) != NULL)
        return console_refuse(console, "at none of these steps: %s", fault);
    printf("%s in steps %" PRIu64 " to %" PRIu64 "\n", why, h->first, h->last);
    return true;
}

bool console_when(console_t *console, char *rest)
{
    condition_t condition;
    if (!console_remembers(console) || !condition_read(console, "when", rest, &condition))
        return false;
    bp_history_t h = console_read_history(console);
    for (uint64_t moment = h.first; moment <= h.last; moment++) {
        bool holds;
        if (!hold_at(console, &condition, moment, &holds))
            return false;
        if (holds)
            return tell_first(console, &condition);
    }
    return return_to(console, &h, &condition, "never");
}

bool console_bisect(console_t *console, char *rest)
{
    condition_t condition;
    bool holds;
    if (!console_remembers(console) || !condition_read(console, "bisect", rest, &condition))
        return false;
    bp_history_t h = console_read_history(console);
    uint64_t before = h.first, at = h.last;
    if (!hold_at(console, &condition, at, &holds))
        return false;
    if (!holds)
        return return_to(console, &h, &condition, "not at the end, and so nothing to look for");
    if (!hold_at(console, &condition, before, &holds))
        return false;
    at = holds ? before : at;
    while (at - before > 1) {
        uint64_t middle = before + (at - before) / 2;
        if (!hold_at(console, &condition, middle, &holds))
            return false;
        *(holds ? &at : &before) = middle;
    }
    return hold_at(console, &condition, at, &holds) && tell_first(console, &condition);
}
