/* console_history.c - going back and forth in what the host remembers, and trying what could come. */
#include "arguments.h"
#include "console.h"
#include "inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bp_history_t console_read_history(const console_t *console)
{
    bp_history_t history = {.struct_size = sizeof history};
    bp_host_history(console->program->host, &history);
    return history;
}

bool console_remembers(const console_t *console)
{
    if (console_read_history(console).budget > 0)
        return true;
    return console_refuse(console,
        "the host remembers nothing; [host] history = 512 MiB in the ini says that it is to");
}

/* Several ranks go together, or none does. */
static bool go(console_t *console, uint64_t moment)
{
    bp_history_t before = console_read_history(console);
    if (console->program->ranks > 1 &&
        !console_all_can(console, moment >= before.first && moment <= before.last))
        return console_refuse(console, "step %" PRIu64 " is not remembered by all ranks; here steps %" PRIu64
                              " to %" PRIu64 " are", moment, before.first, before.last);
    if (bp_host_go(console->program->host, moment) != BP_OK)
        return console_refuse(console, "%s", bp_host_error(console->program->host));
    bp_history_t history = console_read_history(console);
    printf("at step %" PRIu64 " of %" PRIu64 "\n", history.now, history.last);
    return true;
}

bool console_history(console_t *console, char *rest)
{
    if (!console_takes_nothing(console, rest) || !console_remembers(console))
        return false;
    bp_history_t h = console_read_history(console);
    printf("steps %" PRIu64 " to %" PRIu64 ", at %" PRIu64 "; %" PRIu32 " %s, %.1f of %.1f MiB\n", h.first, h.last,
        h.now,
           h.keyframes, h.keyframes == 1 ? "keyframe" : "keyframes", (double)h.bytes / 1048576,
           (double)h.budget / 1048576);
    return true;
}

static bool read_number(console_t *console, char *rest, const char *what, uint64_t *count, bool *given)
{
    char *word;
    if (!console_take_words(console, rest, &word, 1) || !console_remembers(console))
        return false;
    *given = word != NULL;
    if (word != NULL && !numbers_read_count(word, count))
        return console_refuse(console, "'%s' is no number of a %s", word, what);
    return true;
}

static bool read_steps(console_t *console, char *rest, uint64_t *count, bool *given)
{
    return read_number(console, rest, "step", count, given);
}

bool console_back(console_t *console, char *rest)
{
    uint64_t count = 1;
    bool given;
    if (!read_steps(console, rest, &count, &given))
        return false;
    bp_history_t h = console_read_history(console);
    if (count > (console->program->ranks > 1 ? h.now : h.now - h.first))
        return console_refuse(console, "what is remembered begins at step %" PRIu64 ", %" PRIu64 " back", h.first,
                              h.now - h.first);
    return go(console, h.now - count);
}

bool console_forward(console_t *console, char *rest)
{
    uint64_t count = 0;
    bool given;
    if (!read_steps(console, rest, &count, &given))
        return false;
    bp_history_t h = console_read_history(console);
    return go(console, given && count < h.last - h.now ? h.now + count : h.last);
}

bool console_goto(console_t *console, char *rest)
{
    char *word;
    uint64_t moment;
    if (!console_take_words(console, rest, &word, 1) || !console_remembers(console))
        return false;
    if (word == NULL)
        return console_refuse(console, "go where? To the number of a step, or to the name of a mark");
    bool known = numbers_read_count(word, &moment) ||
                 bp_host_marked(console->program->host, word, &moment) == BP_OK;
    if (!known && console->program->ranks > 1)
        moment = UINT64_MAX; /* other ranks may know it, and wait */
    else if (!known)
        return console_refuse(console, "%s", bp_host_error(console->program->host));
    return go(console, moment);
}

/* --- branch, mark ------------------------------------------------------------------------------------------------- */

static bool has_branch(bp_host_o *host, uint64_t number)
{
    bp_branch_t branch = {.struct_size = sizeof branch};
    for (uint32_t i = 0; bp_host_branch_at(host, i, &branch) != 0; i++)
        if (branch.number == number)
            return true;
    return false;
}

/* Without a number: begin another future here. */
bool console_branch(console_t *console, char *rest)
{
    bp_host_o *host = console->program->host;
    uint64_t number;
    bool given;
    if (!read_number(console, rest, "branch", &number, &given))
        return false;
    if (given && console->program->ranks > 1 && !console_all_can(console, has_branch(host, number)))
        return console_refuse(console, "branch %" PRIu64 " is not kept by all ranks", number);
    if ((given ? bp_host_branch_to(host, number) : bp_host_branch_off(host)) != BP_OK)
        return console_refuse(console, "%s", bp_host_error(host));
    bp_history_t h = console_read_history(console);
    if (given)
        printf("branch %" PRIu64 ": at step %" PRIu64 " of %" PRIu64 "\n", h.branch, h.now, h.last);
    else
        printf("another future begins at step %" PRIu64 "\n", h.now);
    return true;
}

bool console_branches(console_t *console, char *rest)
{
    bp_branch_t branch = {.struct_size = sizeof branch};
    if (!console_takes_nothing(console, rest) || !console_remembers(console))
        return false;
    bp_history_t h = console_read_history(console);
    printf("%" PRIu64 ": steps %" PRIu64 " to %" PRIu64 ", the present one\n", h.branch, h.first, h.last);
    for (uint32_t i = 0; bp_host_branch_at(console->program->host, i, &branch) != 0; i++)
        printf("%" PRIu64 ": steps %" PRIu64 " to %" PRIu64 ", off branch %" PRIu64 ", %.1f MiB\n", branch.number,
               branch.fork, branch.last, branch.parent, (double)branch.bytes / 1048576);
    return true;
}

bool console_mark(console_t *console, char *rest)
{
    char *word;
    if (!console_take_words(console, rest, &word, 1))
        return false;
    if (word == NULL)
        return console_refuse(console, "under which name?");
    if (bp_host_mark(console->program->host, word) != BP_OK)
        return console_refuse(console, "%s", bp_host_error(console->program->host));
    return true;
}
