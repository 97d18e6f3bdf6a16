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

static bool go(console_t *console, uint64_t moment)
{
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

static bool read_steps(console_t *console, char *rest, uint64_t *count, bool *given)
{
    char *word;
    if (!console_take_words(console, rest, &word, 1) || !console_remembers(console))
        return false;
    *given = word != NULL;
    if (word != NULL && !numbers_read_count(word, count))
        return console_refuse(console, "'%s' is no number of steps", word);
    return true;
}

bool console_back(console_t *console, char *rest)
{
    uint64_t count = 1;
    bool given;
    if (!read_steps(console, rest, &count, &given))
        return false;
    bp_history_t h = console_read_history(console);
    if (count > h.now - h.first)
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
    if (!numbers_read_count(word, &moment) && bp_host_marked(console->program->host, word, &moment) != BP_OK)
        return console_refuse(console, "%s", bp_host_error(console->program->host));
    return go(console, moment);
}

/* --- branch, mark ------------------------------------------------------------------------------------------------- */

bool console_branch(console_t *console, char *rest)
{
    if (!console_takes_nothing(console, rest) || !console_remembers(console))
        return false;
    if (bp_host_branch_off(console->program->host) != BP_OK)
        return console_refuse(console, "%s", bp_host_error(console->program->host));
    printf("another future begins at step %" PRIu64 "\n", console_read_history(console).now);
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

/* --- try ---------------------------------------------------------------------------------------------------------- */

typedef struct trying_t {
    console_t *console;
    const char *line;
    bool refused; /* the change was not made, which has been complained about */
    uint32_t told;
} trying_t;

/* NULL where there is no memory. */
static char *copy_text(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    return copy == NULL ? NULL : strcpy(copy, text);
}

/* The line is done by a console of the clone. */
static bp_result_t change(void *context, bp_host_o *clone)
{
    trying_t *t = context;
    program_t program = {.host = clone, .api = bp_host_api(clone), .ini = t->console->program->ini, .ranks = 1};
    program.look = program.api->registry->find(clone, BP_LOOK_API, 1);
    console_t console = {.program = &program, .line = t->console->line, .interactive = t->console->interactive,
                         .in_clone = true};
    char *line = copy_text(t->line);
    t->refused = line == NULL ? !console_refuse_memory(t->console) : !console_do(&console, line);
    free(line);
    free(console.spawns);
    return t->refused ? BP_ERROR_FAILED : BP_OK;
}

static void print_structure(void *context, const char *world, bp_entity_t entity, const char *text)
{
    trying_t *t = context;
    char id[64];
    t->console->program->api->entity->format(t->console->program->host, entity, id, sizeof id);
    t->told++;
    printf("%s: %s%s%s\n", world, entity.id != 0 ? id : "", entity.id != 0 ? " " : "", text);
}

static void print_field(void *context, const bp_diff_field_t *field)
{
    trying_t *t = context;
    t->told++;
    printf("%s: %s.%s differs in %" PRIu64 " %s", field->world, field->component, field->field, field->count,
           field->count == 1 ? "entity" : "entities");
    printf(field->largest > 0 ? ", by %.6g at most\n" : "\n", field->largest);
}

bool console_try(console_t *console, char *rest)
{
    enum { SHOWN = 10 };
    trying_t t = {.console = console};
    const bp_diff_i differences = {
        .most = SHOWN, .context = &t, .structure = print_structure, .field = print_field};
    bp_host_try_i what = {.struct_size = sizeof what, .context = &t, .change = change, .differences = &differences};
    bp_host_tried_t tried = {.struct_size = sizeof tried};
    char *word;
    if (console_words_next(&rest, &word) != WORDS_FOUND)
        return console_refuse(console, "try for how many steps, and which change? For instance: try 60 set "
                                       "main/earth.body.mass 1");
    if (!numbers_read_count(word, &what.steps))
        return console_refuse(console, "'%s' is no number of steps", word);
    rest += strspn(rest, " \t");
    if (!console_may_try(console, rest))
        return false;
    t.line = rest;
    char *kept = copy_text(rest);
    if (kept == NULL)
        return console_refuse_memory(console);
    bool follows = console->program->follows;
    console->program->follows = false; /* a reload of the clone is none of the host */
    bp_result_t result = bp_host_try(console->program->host, &what, &tried);
    console->program->follows = follows;
    if (result != BP_OK) {
        free(kept);
        return t.refused ? false : console_refuse(console, "%s", bp_host_error(console->program->host));
    }
    free(console->tried);
    console->tried = kept;
    printf("%s%" PRIu64 " %s later; `keep` makes the change\n", t.told == 0 ? "no difference " : "", what.steps,
           what.steps == 1 ? "step" : "steps");
    if (console->interactive && what.steps > 0)
        printf("%.3g ms a step with the change, %.3g without\n", (double)tried.with / 1e6 / (double)what.steps,
               (double)tried.without / 1e6 / (double)what.steps);
    return true;
}

bool console_keep(console_t *console, char *rest)
{
    if (!console_takes_nothing(console, rest))
        return false;
    char *line = console->tried;
    if (line == NULL)
        return console_refuse(console, "nothing has been tried since the last keep");
    console->tried = NULL;
    bool fine = console_do(console, line);
    free(line);
    return fine;
}
