/* console_try.c - what could come, or could have come: changes tried on a clone, and drafts beside the host. */
#include "arguments.h"
#include "console.h"
#include "inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
