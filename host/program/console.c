/* console.c - the list of commands, doing a line, and a talk of many lines.
 *
 * A command cuts its words off the rest of the line, so that `set` can take all of it as one value. A command that
 * fails has changed nothing and complains on stderr, and the console goes on.
 */
#include "console.h"

#include "../os/os.h"
#include "output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- commands ---------------------------------------------------------------------------------------------------- */

typedef struct console_command_t {
    const char *name;
    const char *usage;
    const char *about;
    bool (*run)(console_t *console, char *rest);
} console_command_t;

static const console_command_t *command_at(uint32_t index);
static const console_command_t *find_command(const console_t *console, const char *name);

/* --- help, quit ----------------------------------------------------------------------------------------- */

static bool do_help(console_t *console, char *rest)
{
    char *name;
    const console_command_t *command;
    if (!console_take_words(console, rest, &name, 1))
        return false;
    if (name != NULL) {
        command = find_command(console, name);
        if (command != NULL)
            printf("%s\n  %s\n", command->usage, command->about);
        return command != NULL;
    }
    table_t table;
    table_begin_bare(&table, 2);
    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        table_cell(&table, command->usage);
        table_cellf(&table, "%.*s", (int)strcspn(command->about, "\n"), command->about);
    }
    bool fine = table_print(&table, stdout, "", console->styled);
    table_end(&table);
    return fine || console_refuse_memory(console);
}

static bool do_quit(console_t *console, char *rest)
{
    console->over = console_takes_nothing(console, rest);
    return console->over;
}

/* --- step ----------------------------------------------------------------------------------------- */

static bool do_step(console_t *console, char *rest)
{
    const bp_world_api *api = console->program->api->world;
    char *word;
    uint64_t count = 1;
    bp_world_o *world;
    if (!console_take_words(console, rest, &word, 1))
        return false;
    if (word != NULL && !numbers_read_count(word, &count))
        return console_refuse(console, "'%s' is no number of steps", word);
    for (uint64_t done = 0, stride = console_watch_stride(console, count); done < count || done == 0; done += stride) {
        uint64_t steps = count - done < stride ? count - done : stride;
        if (program_step(console->program, steps, console->interactive, false) != STATUS_FINE)
            return false;
        console_show_watched(console);
        if (stride == 0)
            break;
    }
    for (uint32_t i = 0; (world = api->at(console->program->host, i)) != NULL; i++) {
        bp_step_t clock = {.struct_size = sizeof clock};
        api->clock(world, &clock);
        printf("%s: step %" PRIu64 ", time %g\n", api->name(world), clock.number, clock.time);
    }
    console_follow_draft(console);
    return true;
}

/* --- the list ------------------------------------------------------------------------------------------- */

static const console_command_t commands[] = {
    {"help", "help [COMMAND]", "list the commands, or tell about one", do_help},
    {"plugins", "plugins [NAME]", "list the plugins, or tell all about one", console_plugins},
    {"worlds", "worlds", "list the worlds with their clocks and components", console_worlds},
    {"entities", "entities [WORLD] [N]", "list the first N entities (20 where it is not said) of a world, or of each",
     console_entities},
    {"get", "get PATH",
     "print a property (world/entity.component.property), a component or an entity; of the world itself: "
     "world.component.property\n"
     "  The entity stands there by its debug name or as #index:generation, the component by its name in the\n"
     "  entity; put a path that holds blanks in double quotes.",
     console_get},
    {"set", "set PATH VALUE",
     "set a property to a value such as 1.5, \"0 0 1\" or true\n"
     "  The value is the rest of the line; double quotes around it are needed only for the empty text and\n"
     "  for blanks at its ends.",
     console_set},
    {"spawn", "spawn SCENE [WORLD]",
     "bring a scene into a world, all of it or nothing\n"
     "  SCENE is a file of scene JSON, or a compiled or saved scene. Prints the number to despawn it by.",
     console_spawn},
    {"despawn", "despawn NUMBER", "destroy what a spawn brought, as far as it still lives", console_despawn},
    {"save", "save WORLD[+WORLD ...] FILE",
     "write all entities of a world, or of several, to a file\n"
     "  `all` stands for all worlds. An entity of several worlds is one entity again when they are loaded together.",
     console_save},
    {"load", "load WORLD[+WORLD ...] FILE",
     "put what a file holds in the place of all that a world holds\n"
     "  FILE is what save wrote, or any scene. Entities that live on in other worlds keep what they have there.\n"
     "  A file of several worlds is loaded as `load all FILE`, or with the worlds wanted: load game+inventory FILE.\n"
     "  `load ./spin.so` and `load ./spin.c` are `load_plugin`.",
     console_load},
    {"create", "create WORLD [N] [COMPONENT ...]",
     "make an entity, or N of them, with components such as body:point_mass\n"
     "  A component is INSTANCE:TYPE, or TYPE where the instance is called like it. Prints the entities.",
     console_create},
    {"add", "add WORLD/ENTITY COMPONENT ...",
     "give an entity further components\n"
     "  The entity stands there as world/entity; a component is INSTANCE:TYPE, or TYPE.",
     console_add},
    {"remove", "remove PATH", "take a component away: world/entity.component", console_remove},
    {"find", "find CONDITION",
     "list the entities whose property is so: find main body.mass > 2\n"
     "  WORLD PROPERTY [OP VALUE]        find main body.mass > 2, or any main/*.body.mass > 2\n"
     "  WORLD/ENTITY.PROPERTY [OP VALUE] find main/earth.body.mass > 2\n"
     "  count WORLD [COMPONENT] OP N     find count main > 1000\n"
     "  OP is one of < <= = != >= >, or `is`: is nan, is inf. Without it, all that have the property.",
     console_find},
    {"watch", "watch [PATH]",
     "print a property whenever steps are taken, up to 20 times in each `step`; without PATH: now\n"
     "  `unwatch` ends it.",
     console_watch},
    {"unwatch", "unwatch [PATH]", "watch a property no more, or none at all", console_unwatch},
    {"load_plugin", "load_plugin FILE [NAME=VALUE ...]", "load a plugin, with options\n"
     "  FILE is a library, or a source in C, C++ or Rust, which is compiled.",
     console_load_plugin},
    {"unload_plugin", "unload_plugin PLUGIN [--with]",
     "unload a plugin that no other needs; --with: and take the systems that need it out of their worlds",
     console_unload_plugin},
    {"destroy", "destroy ENTITY ...",
     "end entities, in all worlds\n"
     "  Each stands there as world/entity, as #index:generation, or by a debug name that no other has.",
     console_destroy},
    {"tree", "tree [WORLD] [ENTITY]",
     "draw which entity is a child of which, in each world, in one, or below an entity\n"
     "  The parent of an entity is what a property of a component says, such as transform.parent.",
     console_tree},
    {"step", "step [N]", "let all worlds take N steps, or one", do_step},
    {"history", "history", "print which steps the host remembers, and where it is", console_history},
    {"back", "back [N]", "go N steps back, or one", console_back},
    {"forward", "forward [N]", "go N steps forward in what is remembered, or to its end", console_forward},
    {"goto", "goto STEP", "go to a step that is remembered, or to a mark", console_goto},
    {"branch", "branch [NUMBER]", "begin another future here; or return to one that was left", console_branch},
    {"branches", "branches", "list the futures that were left and are kept", console_branches},
    {"when", "when CONDITION",
     "go to the first step that is remembered at which a condition of `find` holds", console_when},
    {"bisect", "bisect CONDITION",
     "the same in a few visits, for what stays true once it is", console_bisect},
    {"mark", "mark NAME", "give this step a name, for goto", console_mark},
    {"try", "try STEPS COMMAND ... or PLUGIN ... STEPS",
     "have a clone of the host take so many steps with a change and without, and tell in what they differ\n"
     "  COMMAND changes something: set, create, add, remove, destroy, spawn, load, reload, use, drop, load_plugin or\n"
     "  unload_plugin. The host itself stays as it is; `keep` makes the change there.\n"
     "  With plugins before the number, their present files run beside the host for so many steps, while it goes on.",
     console_try},
    {"keep", "keep", "make the change that was tried last, in the host itself; or go on with the draft", console_keep},
    {"reload", "reload PLUGIN ... [--lossy] [--back N] or INI",
     "load the present files of plugins in place of what is at work, worlds and all; several change together\n"
     "  Where values would be lost that nothing can set again it is refused, but with --lossy: then it says which.\n"
     "  --back N: as if they had been there N steps ago, or for 10s: a draft of that past is computed, for `keep`.\n"
     "  With the ini that the console was started with: do what has changed in it, all of it or nothing.",
     console_reload},
    {"use", "use NAME [WORLD]",
     "bring a component or a system of a loaded plugin into a world\n"
     "  It comes in again by itself where it goes, with its plugin or by a reload, and is there later.",
     console_use},
    {"drop", "drop [NAME [WORLD]]",
     "take a component, with all its instances, or a system out of a world; without a name: drop the draft",
     console_drop},
    {"stats", "stats", "print what worlds hold and what plugins cost", console_stats},
    {"report", "report", "print what components and systems report", console_report},
    {"quit", "quit", "end the console", do_quit},
};

static const console_command_t *command_at(uint32_t index)
{
    return index < sizeof commands / sizeof commands[0] ? &commands[index] : NULL;
}

const char *console_command_name(uint32_t index)
{
    const console_command_t *command = command_at(index);
    return command != NULL ? command->name : NULL;
}

const char *console_command_usage(uint32_t index, const char **about)
{
    const console_command_t *command = command_at(index);
    if (command != NULL)
        *about = command->about;
    return command != NULL ? command->usage : NULL;
}

/* NULL, with a complaint, where there is none of that name. */
static const console_command_t *find_command(const console_t *console, const char *name)
{
    char hint[96];
    guess_t guess = {.wanted = name};
    const console_command_t *command;
    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (strcmp(command->name, name) == 0)
            return command;
        guess_consider(&guess, command->name);
    }
    guess_hint(&guess, hint, sizeof hint);
    console_refuse(console, "no command '%s'%s", name, guess.best != NULL ? hint : "; help lists them");
    return NULL;
}

bool console_do(console_t *console, char *line)
{
    char *word;
    char *rest = line;
    if (line[strspn(line, " \t")] == '#')
        return true;
    words_end_t end = console_words_next(&rest, &word);
    if (end == WORDS_OVER)
        return true;
    if (end == WORDS_UNCLOSED)
        return console_refuse_unclosed(console);
    const console_command_t *command = find_command(console, word);
    return command != NULL && command->run(console, rest);
}

/* Does the command change something in the host, and nothing outside of the host? */
static bool changes(const console_command_t *command)
{
    static bool (*const those[])(console_t *console, char *rest) = {
        console_set,  console_spawn, console_load, console_create, console_add,         console_remove, console_destroy,
        console_reload,    console_use,        console_drop,      console_load_plugin, console_unload_plugin};
    size_t at = 0;
    while (at < sizeof those / sizeof those[0] && those[at] != command->run)
        at++;
    return at < sizeof those / sizeof those[0];
}

bool console_changes(const char *line)
{
    const char *at = line + strspn(line, " \t\r\n\v\f");
    const console_command_t *command;
    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        size_t length = strlen(command->name);
        if (strncmp(at, command->name, length) == 0 && strchr(" \t\r\n\v\f", at[length]) != NULL)
            return changes(command);
    }
    return false;
}

bool console_may_try(const console_t *console, const char *line)
{
    char copy[1024], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%s", line);
    if (console_words_next(&rest, &word) != WORDS_FOUND)
        return console_refuse(console, "try which change? For instance: try 60 set main/earth.body.mass 1");
    const console_command_t *command = find_command(console, word);
    if (command != NULL && !changes(command))
        return console_refuse(console, "'%s' changes nothing in the host, and cannot be tried", word);
    return command != NULL;
}

/* --- console ----------------------------------------------------------------------------------------------------- */

/* `backplane console`: lines in, answers out.
 *
 * A command that fails does not end the console. With input from a pipe stderr may not be read, so the exit status
 * tells of the failure; at a prompt the user has seen the complaint, and the status is 0. Answers are flushed line by
 * line, for programs that talk to the console through two pipes.
 */

/* Do lines until there are no more, or stdout can no longer be written. */
static bool do_lines(console_t *console, lines_t *lines)
{
    bool fine = true;
    while (!console->over) {
        char *line;
        line_end_t end = lines_next(lines, &line);
        if (end == LINES_OVER)
            break;
        console->line++;
        if (end == LINE_READ)
            fine &= console->program->ranks > 1 ? console_ranks_do(console, line) : console_do(console, line);
        else if (end == LINE_TOO_LONG)
            fine = console_refuse(console, "the line is longer than %d bytes", LINE_BYTES_MAX);
        else
            return console_refuse(console, "the commands cannot be read");
        if (fflush(stdout) != 0)
            break; /* finish_output complains (main.c) */
    }
    return fine;
}

enum { NAP_NS = 10000000 }; /* between looks at an input that cannot be waited for */

/* A console that waits for a line. */
typedef struct talk_t {
    console_t console;
    lines_t *lines;
} talk_t;

/* Do the host's work between two lines (tasks of plugins, new versions of them), and the steps that are due, until a
 * line can be read. */
static bool wait_for_input(void *context)
{
    talk_t *talk = context;
    bp_host_o *host = talk->console.program->host;
    intptr_t input = os_input_handle();
    bool more = true;
    if (talk->console.program->ranks > 1)
        os_sleep_ns(NAP_NS); /* the other ranks wait for a line, and ranks poll together only */
    else if (talk->console.live != NULL)
        more = live_turn(talk->console.live, input >= 0 ? &input : NULL);
    else if (input >= 0)
        bp_host_wait_for(host, UINT64_MAX, &input, 1);
    else
        bp_host_wait(host, NAP_NS);
    lines_show(talk->lines);
    return more;
}

static void make_room(void *context)
{
    talk_t *talk = context;
    lines_hide(talk->lines);
}

static void show_watched(void *context)
{
    talk_t *talk = context;
    if (talk->console.watch_count == 0)
        return;
    lines_hide(talk->lines);
    console_show_watched(&talk->console);
}

static int hold_talk(talk_t *talk)
{
    program_t *program = talk->console.program;
    const program_prompt_t prompt = {talk, make_room, show_watched};
    line_completer_t completer = {&talk->console, console_complete};
    line_waiter_t waiter = {talk, wait_for_input};
    console_t *console = &talk->console;
    talk->lines = lines_open(&completer, &waiter);
    if (talk->lines == NULL) {
        complain("out of memory while starting");
        return STATUS_FAILED;
    }
    console->interactive = lines_interactive(talk->lines);
    if (console->interactive)
        printf("help lists the commands, quit ends the %s\n", talk->console.live != NULL ? "run" : "console");
    program->prompt = &prompt;
    bool fine = do_lines(console, talk->lines);
    if (program->ranks > 1)
        console_ranks_end(console);
    program->prompt = NULL;
    lines_close(talk->lines);
    free(console->spawns);
    free(console->tried);
    for (uint32_t i = 0; i < console->watch_count; i++)
        free(console->watched[i]);
    return fine || console->interactive ? STATUS_FINE : STATUS_FAILED;
}

int program_live(program_t *program, uint64_t last, const char *show, bool quiet)
{
    talk_t talk = {.console = {.program = program, .styled = terminal_styled()}};
    int status = STATUS_FINE;
    talk.console.live = live_begin(program, last, show);
    if (talk.console.live == NULL)
        return STATUS_FAILED;
    if (!quiet && program->ranks == 1 && os_is_terminal(0) && os_is_terminal(1))
        status = hold_talk(&talk);
    else
        while (live_turn(talk.console.live, NULL)) {
        }
    int ended = live_end(talk.console.live);
    return ended != STATUS_FINE ? ended : status;
}

int command_console(const arguments_t *arguments)
{
    program_t program;
    int status = program_open(&program, arguments->ini, arguments->verbose);
    if (status != STATUS_FINE)
        return status;
    program.follows = true;
    talk_t talk = {.console = {.program = &program, .styled = terminal_styled()}};
    if (program.rank == 0)
        return program_close(&program, hold_talk(&talk));
    return program_close(&program, console_ranks_follow(&talk.console) ? STATUS_FINE : STATUS_FAILED);
}
