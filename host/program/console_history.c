/* console_history.c - going back and forth in what the host remembers; changes tried on a clone, and drafts beside the
 * host. */
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
        moment = UINT64_MAX; /* other ranks may know the moment, and wait for this one */
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
    uint64_t number;
    if (!console_take_words(console, rest, &word, 1))
        return false;
    if (word == NULL)
        return console_refuse(console, "under which name?");
    if (numbers_read_count(word, &number)) /* `goto` would go to the step */
        return console_refuse(console, "'%s' is the number of a step; a mark needs a letter", word);
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
    printf("%s%s%s%s%s\n", world, world[0] != '\0' ? ": " : "", entity.id != 0 ? id : "", entity.id != 0 ? " " : "",
           text);
}

static void print_field(void *context, const bp_diff_field_t *field)
{
    trying_t *t = context;
    t->told++;
    printf("%s: %s.%s differs in %" PRIu64 " %s", field->world, field->component, field->field, field->count,
           field->count == 1 ? "entity" : "entities");
    printf(field->largest > 0 ? ", by %.6g at most\n" : "\n", field->largest);
}

/* --- drafts ------------------------------------------------------------------------------------------------------- */

enum { SHOWN = 10, PATIENCE_NS = 5000000 };

static bp_drafted_t read_draft(const console_t *console)
{
    bp_drafted_t drafted = {.struct_size = sizeof drafted};
    bp_host_draft_read(console->program->host, &drafted);
    return drafted;
}

/* Have the draft come to the present. */
static bp_drafted_t await_draft(const console_t *console)
{
    bp_host_poll(console->program->host);
    bp_drafted_t drafted = read_draft(console);
    while (drafted.state == BP_DRAFT_BEFORE || drafted.state == BP_DRAFT_TRYING || drafted.state == BP_DRAFT_BEHIND) {
        bp_host_wait(console->program->host, PATIENCE_NS);
        drafted = read_draft(console);
    }
    return drafted;
}

static bool tell_draft(console_t *console)
{
    trying_t t = {.console = console};
    const bp_diff_i differences = {.struct_size = sizeof differences,
                                   .most = SHOWN,
                                   .context = &t,
                                   .structure = print_structure,
                                   .field = print_field};
    bp_drafted_t drafted = await_draft(console);
    if (drafted.state == BP_DRAFT_FAILED)
        return console_refuse(console, "the draft was dropped: %s", drafted.text);
    if (drafted.differs[0] != '\0')
        printf("first at %s\n", drafted.differs);
    if (drafted.passed > 0)
        printf("passed over: %" PRIu64 "; first %s\n", drafted.passed, drafted.passed_first);
    if (bp_host_draft_differences(console->program->host, &differences) != BP_OK)
        return console_refuse(console, "%s", bp_host_error(console->program->host));
    printf("%s%" PRIu64 " %s beside the host%s\n", t.told == 0 ? "no difference " : "", drafted.taken,
           drafted.taken == 1 ? "step" : "steps",
           drafted.state == BP_DRAFT_READY ? "; that was all: `keep` or `drop`" : "; `keep` or `drop`");
    if (console->interactive && drafted.with > 0)
        printf("%.3g ms a step, the host's own %.3g\n", drafted.with, drafted.without);
    return true;
}

void console_follow_draft(console_t *console)
{
    uint32_t state = read_draft(console).state;
    if (state != BP_DRAFT_NONE && state != BP_DRAFT_FAILED)
        tell_draft(console);
}

/* "30" steps, or "10s" of the first world's time. */
static bool read_back(console_t *console, const char *word, uint64_t *steps)
{
    const bp_api_t *api = console->program->api;
    bp_world_o *world = api->world->at(console->program->host, 0);
    bp_step_t clock = {.struct_size = sizeof clock, .dt = 1};
    char *end;
    if (numbers_read_count(word, steps))
        return true;
    double time = strtod(word, &end);
    if (world == NULL || end == word || strcmp(end, "s") != 0 || !(time > 0 && time < 1e9))
        return console_refuse(console, "'%s' is neither a number of steps, such as 600, nor a time, such as 10s", word);
    api->world->clock(world, &clock);
    *steps = (uint64_t)(time / clock.dt + 0.5);
    return true;
}

bool console_draft(console_t *console, const char *const *names, uint32_t count, const char *back, uint64_t steps)
{
    bp_draft_i draft = {
        .struct_size = sizeof draft, .plugins = names, .plugin_count = count, .steps = steps};
    if (back != NULL && !read_back(console, back, &draft.back))
        return false;
    if (bp_host_draft(console->program->host, &draft) != BP_OK)
        return console_refuse(console, "%s", bp_host_error(console->program->host));
    if (back != NULL)
        return tell_draft(console);
    bp_drafted_t drafted = await_draft(console);
    if (drafted.state == BP_DRAFT_FAILED)
        return console_refuse(console, "the draft was dropped: %s", drafted.text);
    printf("it runs beside the host now; `step` lets both go on\n");
    return true;
}

bool console_drop_draft(console_t *console)
{
    if (read_draft(console).state == BP_DRAFT_NONE)
        return console_refuse(console, "drop which component or system?");
    bp_host_draft_drop(console->program->host);
    printf("dropped\n");
    return true;
}

static bool keep_draft(console_t *console)
{
    bool follows = console->program->follows;
    console->program->follows = false;
    bp_result_t result = bp_host_draft_keep(console->program->host);
    console->program->follows = follows;
    if (result != BP_OK)
        return console_refuse(console, "not kept: %s", bp_host_error(console->program->host));
    bp_history_t h = {.struct_size = sizeof h};
    bp_host_history(console->program->host, &h);
    printf(h.budget > 0 ? "kept: branch %" PRIu64 ", at step %" PRIu64 "\n" : "kept\n", h.branch, h.now);
    return true;
}

/* try NAME ... STEPS */
static bool try_beside(console_t *console, char *first, char *rest)
{
    enum { MOST = 16 };
    const char *names[MOST + 1] = {first};
    uint32_t count = 1;
    uint64_t steps;
    char *word;
    words_end_t end;
    while ((end = console_words_next(&rest, &word)) == WORDS_FOUND && count <= MOST)
        names[count++] = word;
    if (end == WORDS_FOUND)
        return console_refuse(console, "more than %d plugins", MOST);
    if (end != WORDS_OVER)
        return console_refuse_unclosed(console);
    if (count < 2 || !numbers_read_count(names[count - 1], &steps) || steps == 0)
        return console_refuse(console,
                              "'%s' is no number of steps; it is try 60 set ..., or try PLUGIN 60 for a plugin", first);
    return console_draft(console, names, count - 1, NULL, steps);
}

bool console_try(console_t *console, char *rest)
{
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
        return try_beside(console, word, rest);
    rest += strspn(rest, " \t");
    if (!console_may_try(console, rest))
        return false;
    t.line = rest;
    char *kept = copy_text(rest);
    if (kept == NULL)
        return console_refuse_memory(console);
    bool follows = console->program->follows;
    console->program->follows = false; /* a reload of the clone is not reported as one of the host */
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
    if (read_draft(console).state != BP_DRAFT_NONE)
        return keep_draft(console);
    char *line = console->tried;
    if (line == NULL)
        return console_refuse(console, "nothing has been tried since the last keep");
    console->tried = NULL;
    bool fine = console_do(console, line);
    free(line);
    return fine;
}
