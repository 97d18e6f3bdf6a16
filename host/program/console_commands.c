/* console_commands.c - the list of commands, and doing a line.
 *
 * A command cuts its words off the rest of the line, so that `set` can take all of it as one value. One that
 * fails has changed nothing, says so on stderr, and the console goes on.
 */
#include "console_commands.h"

#include "console_look.h"
#include "console_scenes.h"
#include "console_values.h"
#include "numbers.h"
#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

/* --- step, reload -------------------------------------------------------------------------------- */

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
    if (program_step(console->program, count, console->interactive) != STATUS_FINE)
        return false;
    for (uint32_t i = 0; (world = api->at(console->program->host, i)) != NULL; i++) {
        bp_step_t clock = {.struct_size = sizeof clock};
        api->clock(world, &clock);
        printf("%s: step %" PRIu64 ", time %g\n", api->name(world), clock.number, clock.time);
    }
    return true;
}

static bool do_reload(console_t *console, char *rest)
{
    enum { MOST = 16 };
    char *words[MOST] = {NULL};
    const char *names[MOST];
    uint32_t count = 0;
    if (!console_take_words(console, rest, words, MOST))
        return false;
    for (; count < MOST && words[count] != NULL; count++)
        names[count] = words[count];
    if (count == 0)
        return console_refuse(console, "reload which plugin? `plugins` lists them");
    bp_reload_report_t report = {.struct_size = sizeof report};
    if (bp_host_reload(console->program->host, names, count, &report) != BP_OK)
        return console_refuse(console, "not reloaded, and nothing has changed: %s", bp_host_error(console->program->host));
    printf("%s\n", report.text);
    return true;
}

/* --- the list ------------------------------------------------------------------------------------------- */

static const console_command_t commands[] = {
    {"help", "help [COMMAND]", "list the commands, or tell about one", do_help},
    {"plugins", "plugins [NAME]", "list the plugins, or tell all about one", console_plugins},
    {"worlds", "worlds", "list the worlds with their clocks and components", console_worlds},
    {"entities", "entities [WORLD] [N]",
     "list the first N entities (20 where it is not said) of a world, or of each", console_entities},
    {"get", "get PATH",
     "print a property (world/entity.component.property), a component or an entity\n"
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
    {"save", "save WORLD FILE", "write all entities of a world to a file", console_save},
    {"load", "load WORLD FILE",
     "put what a file holds in the place of all that a world holds\n"
     "  FILE is what save wrote, or any scene. Entities that live on in other worlds keep what they have there.",
     console_load},
    {"destroy", "destroy ENTITY ...",
     "end entities, in all worlds\n"
     "  Each stands there as world/entity, as #index:generation, or by a debug name that no other has.",
     console_destroy},
    {"tree", "tree [WORLD] [ENTITY]",
     "draw who is whose child, in each world, in one, or below an entity\n"
     "  Whose child an entity is, a property of a component tells, such as transform.parent.",
     console_tree},
    {"step", "step [N]", "let all worlds take N steps, or one", do_step},
    {"reload", "reload PLUGIN ...", "load the present files of plugins in place of what is at work, worlds and all; several change together", do_reload},
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
