/* console_look.c - plugins, worlds and entities as tables, and the figures of a run. */
#include "console_look.h"

#include "figures.h"
#include "inspect.h"
#include "numbers.h"
#include "plugin_list.h"
#include "report.h"
#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ENTITIES_SHOWN = 20 }; /* where `entities` is given no number */

bool console_plugins(console_t *console, char *rest)
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

bool console_worlds(console_t *console, char *rest)
{
    static const char *const headings[] = {"World", "Steps", "Time", "Step length", "Entities", "Components"};
    const program_t *program = console->program;
    char types[512];
    table_t table;
    bp_world_o *world;
    if (!console_takes_nothing(console, rest))
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
bool console_entities(console_t *console, char *rest)
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

bool console_stats(console_t *console, char *rest)
{
    if (!console_takes_nothing(console, rest))
        return false;
    if (figures_print_worlds(console->program, console->styled) != STATUS_FINE)
        return false;
    putchar('\n');
    return figures_print_units(console->program, console->styled) == STATUS_FINE;
}

bool console_report(console_t *console, char *rest)
{
    return console_takes_nothing(console, rest) && report_print(console->program, console->styled) == STATUS_FINE;
}
