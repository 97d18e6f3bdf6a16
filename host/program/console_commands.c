/* console_commands.c - what can be asked and done at the prompt.
 *
 * A command cuts its words off the rest of the line, so that `set` can take all of it as one value. One that
 * fails has changed nothing, says so on stderr, and the console goes on.
 *
 * `get` prints a single value bare, in the very form that `set` takes, for scripts; `get` of a component or
 * an entity prints a table for people.
 */
#include "console.h"

#include "console_scenes.h"
#include "console_words.h"
#include "describe.h"
#include "figures.h"
#include "inspect.h"
#include "messages.h"
#include "numbers.h"
#include "plugin_list.h"
#include "report.h"
#include "table.h"
#include "terminal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    ENTITIES_SHOWN = 20, /* where `entities` is given no number */
    MESSAGE_MAX = 1024,
    VALUE_TEXT_MAX = 1024 /* bytes of a value that is not a string: sixteen numbers fit well */
};

typedef struct console_command_t {
    const char *name;
    const char *usage;
    const char *about;
    bool (*run)(console_t *console, char *rest);
} console_command_t;

static const console_command_t *command_at(uint32_t index);
static const console_command_t *find_command(const console_t *console, const char *name);

bool console_refuse(const console_t *console, const char *format, ...)
{
    char text[MESSAGE_MAX];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (console->interactive)
        complain("%s", text);
    else
        complain("line %" PRIu64 ": %s", console->line, text);
    return false;
}

bool console_refuse_unclosed(const console_t *console)
{
    return console_refuse(console, "a quoted word ends with a quote, and a blank or nothing behind it");
}

bool console_refuse_memory(const console_t *console)
{
    return console_refuse(console, "out of memory");
}

bool console_take_words(const console_t *console, char *rest, char **words, uint32_t most)
{
    char *word = NULL;
    words_end_t end = WORDS_FOUND;
    for (uint32_t i = 0; i < most; i++) {
        end = console_words_next(&rest, &word);
        words[i] = end == WORDS_FOUND ? word : NULL;
        if (end == WORDS_UNCLOSED)
            return console_refuse_unclosed(console);
    }
    end = console_words_next(&rest, &word);
    return end == WORDS_OVER || console_refuse(console, "'%s' is one word too many", word);
}

/* For commands that take none. */
static bool takes_nothing(const console_t *console, char *rest)
{
    return console_take_words(console, rest, NULL, 0);
}

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
    console->over = takes_nothing(console, rest);
    return console->over;
}

/* --- plugins, worlds, entities -------------------------------------------------------------------------- */

static bool do_plugins(console_t *console, char *rest)
{
    char *name;
    char hint[96];
    const char *path;
    const bp_plugin_desc_t *desc;
    if (!console_take_words(console, rest, &name, 1))
        return false;
    if (name == NULL)
        return plugin_list_print_short(console->program, console->styled) == STATUS_FINE;
    guess_t guess = {.wanted = name};
    for (uint32_t i = 0; (desc = bp_host_plugin(console->program->host, i, &path)) != NULL; i++) {
        if (strcmp(desc->name, name) == 0)
            return plugin_list_print_one(desc, path, bp_host_plugin_crash(console->program->host, i), console->styled) == STATUS_FINE;
        guess_consider(&guess, desc->name);
    }
    return console_refuse(console, "no plugin '%s' is loaded%s", name, guess_hint(&guess, hint, sizeof hint));
}

/* The component types of a world, separated by spaces. */
static void types_of_world(const program_t *program, bp_world_o *world, char *text, size_t size)
{
    size_t length = 0;
    const char *type;
    text[0] = '\0';
    for (uint32_t i = 0; (type = inspect_type(program, i)) != NULL && length < size; i++)
        if (program->api->world->component(world, type) != BP_NONE)
            length += (size_t)snprintf(text + length, size - length, "%s%s", length > 0 ? " " : "", type);
}

static bool do_worlds(console_t *console, char *rest)
{
    static const char *const headings[] = {"World", "Steps", "Time", "Step length", "Entities", "Components"};
    const program_t *program = console->program;
    char types[512];
    table_t table;
    bp_world_o *world;
    if (!takes_nothing(console, rest))
        return false;
    table_begin(&table, 6);
    for (uint32_t i = 0; i < 6; i++)
        table_cell(&table, headings[i]);
    for (uint32_t i = 0; (world = program->api->world->at(program->host, i)) != NULL; i++) {
        bp_step_t clock = {.struct_size = sizeof clock};
        bp_world_stats_t stats;
        program->api->world->clock(world, &clock);
        bp_world_stats(world, &stats);
        types_of_world(program, world, types, sizeof types);
        table_cell(&table, stats.name);
        table_cellf(&table, "%" PRIu64, clock.number);
        table_cellf(&table, "%g", clock.time);
        table_cellf(&table, "%g", clock.dt);
        table_cellf(&table, "%" PRIu32, stats.entities);
        table_cell(&table, types);
    }
    bool fine = table_print(&table, stdout, "", console->styled);
    table_end(&table);
    return fine || console_refuse_memory(console);
}

/* "body:point_mass name:debug_name", as an ini has it. */
static void components_text(const attached_list_t *list, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < list->count && length < size; i++) {
        const attached_t *item = &list->items[i];
        bool same = strcmp(item->name, item->type) == 0;
        length += (size_t)snprintf(text + length, size - length, "%s%s%s%s", i > 0 ? " " : "", item->name,
                                   same ? "" : ":", same ? "" : item->type);
    }
}

static void add_entity(table_t *table, const program_t *program, bp_world_o *world, bp_entity_t entity)
{
    char id[ENTITY_TEXT_MAX];
    char components[512];
    attached_list_t list;
    program->api->entity->format(program->host, entity, id, sizeof id);
    const char *name = inspect_name(program, world, entity);
    table_cell(table, id);
    table_cell(table, name != NULL ? name : "");
    if (!inspect_components(program, world, entity, &list))
        table->failed = true;
    components_text(&list, components, sizeof components);
    table_cell(table, components);
    inspect_release(&list);
}

static bool print_entities(console_t *console, bp_world_o *world, uint64_t most)
{
    const program_t *program = console->program;
    bp_world_stats_t stats;
    table_t table;
    uint32_t index = 0;
    bp_world_stats(world, &stats);
    printf("%s: %" PRIu32 " %s\n", stats.name, stats.entities, stats.entities == 1 ? "entity" : "entities");
    table_begin(&table, 3);
    table_cell(&table, "Entity");
    table_cell(&table, "Name");
    table_cell(&table, "Components");
    uint32_t shown = 0;
    for (; shown < most; shown++) {
        bp_entity_t entity = inspect_next(program, world, &index);
        if (entity.id == 0)
            break;
        add_entity(&table, program, world, entity);
    }
    bool fine = shown == 0 || table_print(&table, stdout, "  ", console->styled);
    table_end(&table);
    if (fine && stats.entities > shown)
        printf("  ... and %" PRIu32 " more\n", stats.entities - shown);
    return fine || console_refuse_memory(console);
}

/* Words of `entities`: a world, a number, or both. A world may bear a number as its name. */
static bool do_entities(console_t *console, char *rest)
{
    const program_t *program = console->program;
    char *words[2];
    char why[WHY_MAX];
    uint64_t most = ENTITIES_SHOWN;
    bp_world_o *world = NULL;
    if (!console_take_words(console, rest, words, 2))
        return false;
    bool only_number = words[0] != NULL && words[1] == NULL && numbers_read_count(words[0], &most) &&
                       program->api->world->find(program->host, words[0]) == NULL;
    if (words[0] != NULL && !only_number) {
        most = ENTITIES_SHOWN;
        world = inspect_world(program, words[0], why);
        if (world == NULL)
            return console_refuse(console, "%s", why);
    }
    if (words[1] != NULL && !numbers_read_count(words[1], &most))
        return console_refuse(console, "'%s' is no number of entities to show", words[1]);
    bool fine = true;
    if (world != NULL)
        return print_entities(console, world, most);
    for (uint32_t i = 0; fine && (world = program->api->world->at(program->host, i)) != NULL; i++)
        fine = print_entities(console, world, most);
    return fine;
}

/* --- get, set ------------------------------------------------------------------------------------------- */

/* The value that a path names: *text points to `room`, or to the host's own string. */
static bool value_text(const program_t *program, const bp_path_t *path, char *room, const char **text)
{
    const bp_property_api *api = program->api->property;
    bp_property_t property = path->property;
    *text = room;
    if (property.type == BP_STRING)
        return api->get(path->world, &property, &path->entity, 1, (void *)text, sizeof *text) == BP_OK;
    return api->get_text(path, room, VALUE_TEXT_MAX) == BP_OK;
}

static bool print_value(console_t *console, const bp_path_t *path)
{
    char room[VALUE_TEXT_MAX];
    const char *text;
    if (!value_text(console->program, path, room, &text))
        return console_refuse(console, "%s", console->program->api->error->last(console->program->host));
    terminal_print(stdout, text);
    putchar('\n');
    return true;
}

/* A row for one property. The texts of `field` are good only until the next call, so what comes last is
 * read last: the cells before the value copy them, those behind it are copied first. */
static bool add_property(table_t *table, const program_t *program, const target_t *target, const char *prefix,
                         const bp_field_t *field)
{
    bp_path_t path = {.world = target->world, .entity = target->entity};
    char unit[64];
    char about[256];
    char room[VALUE_TEXT_MAX];
    const char *text;
    uint32_t type = field->type;
    bool read_only = (field->flags & BP_FIELD_READ_ONLY) != 0;
    char name[64];
    snprintf(name, sizeof name, "%s", field->name);
    snprintf(unit, sizeof unit, "%s", field->unit != NULL ? field->unit : "");
    snprintf(about, sizeof about, "%s", field->doc != NULL ? field->doc : "");
    if (program->api->property->resolve(target->world, target->entity, target->component.name, name,
                                        &path.property) != BP_OK ||
        !value_text(program, &path, room, &text))
        return false;
    table_cellf(table, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", name);
    table_cell(table, text);
    table_cell(table, unit);
    table_cellf(table, "%s%s", describe_type(type), read_only ? ", read only" : "");
    table_cell(table, about);
    return true;
}

static bool add_component(table_t *table, const program_t *program, const target_t *target,
                          const char *prefix)
{
    bp_field_t field;
    for (uint32_t i = 0;; i++) {
        field = (bp_field_t){0};
        if (program->api->property->describe(program->host, target->component.type, i, &field) != BP_OK)
            return true;
        if (!add_property(table, program, target, prefix, &field))
            return false;
    }
}

static bool add_all_components(table_t *table, const program_t *program, const target_t *target)
{
    attached_list_t list;
    target_t one = *target;
    bool fine = true;
    if (!inspect_components(program, target->world, target->entity, &list)) {
        table->failed = true;
        return true;
    }
    for (uint32_t i = 0; i < list.count && fine; i++) {
        one.component = list.items[i];
        fine = add_component(table, program, &one, one.component.name);
    }
    inspect_release(&list);
    return fine;
}

static bool print_properties(console_t *console, const target_t *target)
{
    static const char *const headings[] = {"Property", "Value", "Unit", "Type", "About"};
    const program_t *program = console->program;
    table_t table;
    table_begin(&table, 5);
    for (uint32_t i = 0; i < 5; i++)
        table_cell(&table, headings[i]);
    bool read = target->kind == TARGET_COMPONENT ? add_component(&table, program, target, "")
                                                 : add_all_components(&table, program, target);
    bool fine = read && table_rows(&table) > 0 && table_print(&table, stdout, "", console->styled);
    bool empty = read && !table.failed && table_rows(&table) == 0;
    table_end(&table);
    if (!read)
        return console_refuse(console, "%s", program->api->error->last(program->host));
    if (empty)
        puts("no properties");
    return fine || empty || console_refuse_memory(console);
}

static bool do_get(console_t *console, char *rest)
{
    char *path;
    char why[WHY_MAX];
    target_t target;
    if (!console_take_words(console, rest, &path, 1))
        return false;
    if (path == NULL)
        return console_refuse(console, "get needs a path, such as get main/earth.body.mass");
    if (!inspect_path(console->program, path, &target, why))
        return console_refuse(console, "%s", why);
    if (target.kind == TARGET_PROPERTY)
        return print_value(console, &target.path);
    return print_properties(console, &target);
}

static bool do_set(console_t *console, char *rest)
{
    const bp_api_t *api = console->program->api;
    char *path_text;
    char *value;
    bp_path_t path;
    words_end_t end = console_words_next(&rest, &path_text);
    if (end == WORDS_FOUND)
        end = console_words_value(rest, &value);
    if (end == WORDS_UNCLOSED)
        return console_refuse_unclosed(console);
    if (end == WORDS_OVER)
        return console_refuse(console, "set needs a path and a value, such as set main/earth.body.mass 1");
    if (api->property->parse_path(console->program->host, path_text, &path) != BP_OK ||
        api->property->set_text(&path, value) != BP_OK)
        return console_refuse(console, "%s", api->error->last(console->program->host));
    return true;
}

/* --- step, stats, report -------------------------------------------------------------------------------- */

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

static bool do_stats(console_t *console, char *rest)
{
    if (!takes_nothing(console, rest))
        return false;
    if (figures_print_worlds(console->program, console->styled) != STATUS_FINE)
        return false;
    putchar('\n');
    return figures_print_units(console->program, console->styled) == STATUS_FINE;
}

static bool do_report(console_t *console, char *rest)
{
    return takes_nothing(console, rest) && report_print(console->program, console->styled) == STATUS_FINE;
}

/* --- the list ------------------------------------------------------------------------------------------- */

static const console_command_t commands[] = {
    {"help", "help [COMMAND]", "list the commands, or tell about one", do_help},
    {"plugins", "plugins [NAME]", "list the plugins, or tell all about one", do_plugins},
    {"worlds", "worlds", "list the worlds with their clocks and components", do_worlds},
    {"entities", "entities [WORLD] [N]",
     "list the first N entities (20 where it is not said) of a world, or of each", do_entities},
    {"get", "get PATH",
     "print a property (world/entity.component.property), a component or an entity\n"
     "  The entity stands there by its debug name or as #index:generation, the component by its name in the\n"
     "  entity; put a path that holds blanks in double quotes.",
     do_get},
    {"set", "set PATH VALUE",
     "set a property to a value such as 1.5, \"0 0 1\" or true\n"
     "  The value is the rest of the line; double quotes around it are needed only for the empty text and\n"
     "  for blanks at its ends.",
     do_set},
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
    {"stats", "stats", "print what worlds hold and what plugins cost", do_stats},
    {"report", "report", "print what components and systems report", do_report},
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
