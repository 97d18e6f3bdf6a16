/* console_look.c - plugins, worlds and entities as tables, entities as trees, values, and the figures of a run. */
#include "console.h"
#include "figures.h"
#include "inspect.h"
#include "output.h"
#include "plugin_list.h"
#include "tree.h"

#include <bp_look.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTITIES_SHOWN = 20 }; /* where `entities` is given no number */

bool console_plugins(console_t *console, char *rest)
{
    char *name;
    char hint[96];
    bp_look_plugin_t plugin = {.struct_size = sizeof plugin};
    if (!console_take_words(console, rest, &name, 1))
        return false;
    if (name == NULL)
        return plugin_list_print_short(console->program, console->styled) == STATUS_FINE;
    guess_t guess = {.wanted = name};
    for (uint32_t cursor = 0; console->program->look->plugin(console->program->host, &cursor, &plugin);) {
        if (strcmp(plugin.name, name) == 0)
            return plugin_list_print_one(console->program, &plugin, console->styled) == STATUS_FINE;
        guess_consider(&guess, plugin.name);
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
        program->api->world->clock(world, &clock);
        bp_look_world_t figures = inspect_figures(program, world);
        types_of_world(program, world, types, sizeof types);
        table_cell(&table, figures.name);
        table_cellf(&table, "%" PRIu64, clock.number);
        table_cellf(&table, "%g", clock.time);
        table_cellf(&table, "%g", clock.dt);
        table_cellf(&table, "%" PRIu32, figures.entities);
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
    table_t table;
    uint32_t index = 0;
    bp_look_world_t figures = inspect_figures(program, world);
    printf("%s: %" PRIu32 " %s\n", figures.name, figures.entities, figures.entities == 1 ? "entity" : "entities");
    table_begin(&table, 3);
    table_cell(&table, "Entity");
    table_cell(&table, "Name");
    table_cell(&table, "Components");
    uint32_t shown = 0;
    for (; shown < most; shown++) {
        bp_entity_t entity = program->api->world->next(world, &index);
        if (entity.id == 0)
            break;
        add_entity(&table, program, world, entity);
    }
    bool fine = shown == 0 || table_print(&table, stdout, "  ", console->styled);
    table_end(&table);
    if (fine && figures.entities > shown)
        printf("  ... and %" PRIu32 " more\n", figures.entities - shown);
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

/* --- values ------------------------------------------------------------------------------------------------------ */

/* Properties printed and set.
 *
 * `get` prints a single value bare, in the very form that `set` takes, for scripts; `get` of a component or
 * an entity prints a table for people.
 */

enum {
    VALUE_TEXT_MAX = 1024, /* bytes of a value that is not a string: sixteen numbers fit well */
    VALUES_SHOWN = 72      /* bytes of an array or a list in a table; `get` of it alone shows all */
};

/* Does the path name all values of an array or a list? */
static bool is_whole(const bp_property_t *property)
{
    return property->element == BP_NONE && property->count != 1;
}

/* The value that a path names: *text points to `room`, or to the host's own string. */
static bool value_text(const program_t *program, const bp_path_t *path, char *room, const char **text)
{
    const bp_property_api *api = program->api->property;
    bp_property_t property = path->property;
    *text = room;
    if (property.type == BP_STRING && !is_whole(&property))
        return api->get(path->world, &property, &path->entity, 1, (void *)text, sizeof *text) == BP_OK;
    return api->get_text(path, room, VALUE_TEXT_MAX) == BP_OK;
}

/* All values of an array or a list, however many; NULL where they cannot be read, or `*starved` of memory. */
static char *values_text(const program_t *program, const bp_path_t *path, bool *starved)
{
    char *text = NULL;
    *starved = false;
    for (size_t size = VALUE_TEXT_MAX;; size *= 4) {
        char *larger = realloc(text, size);
        *starved = larger == NULL;
        if (*starved || program->api->property->get_text(path, larger, size) != BP_OK) {
            free(larger != NULL ? larger : text);
            return NULL;
        }
        text = larger;
        if (strlen(text) < size - 1)
            return text;
    }
}

static bool refuse_last(console_t *console)
{
    return console_refuse(console, "%s", console->program->api->error->last(console->program->host));
}

static bool print_values(console_t *console, const bp_path_t *path)
{
    bool starved;
    char *text = values_text(console->program, path, &starved);
    if (text == NULL)
        return starved ? console_refuse_memory(console) : refuse_last(console);
    terminal_print(stdout, text);
    putchar('\n');
    free(text);
    return true;
}

static bool print_value(console_t *console, const bp_path_t *path)
{
    char room[VALUE_TEXT_MAX];
    const char *text;
    if (is_whole(&path->property))
        return print_values(console, path);
    if (!value_text(console->program, path, room, &text))
        return refuse_last(console);
    terminal_print(stdout, text);
    putchar('\n');
    return true;
}

/* Shorten the text of an array or a list to its beginning, for a table. No character is cut in two. */
static void shorten(char *text)
{
    size_t length = strlen(text);
    if (length <= VALUES_SHOWN)
        return;
    length = VALUES_SHOWN - 4;
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    strcpy(text + length, " ...");
}

/* The unit of a field as the world calls it. */
static void unit_text(const program_t *program, bp_world_o *world, const char *declared, char *text, uint32_t size)
{
    const bp_look_api *look = program->api->registry->find(program->host, BP_LOOK_API, 1);
    text[0] = '\0';
    if (look != NULL)
        look->unit_text(world, declared, text, size);
}

/* A row for one property. The texts of `field` are good only until the next call, so what comes last is
 * read last: the cells before the value copy them, those behind it are copied first. */
static bool add_property(table_t *table, const program_t *program, const target_t *target, const char *prefix,
                         const bp_field_t *field)
{
    bp_path_t path = {.world = target->world, .entity = target->entity};
    char unit[96];
    char about[256];
    char room[VALUE_TEXT_MAX];
    const char *text;
    char shape[64];
    describe_shape(field, shape, sizeof shape);
    bool read_only = (field->flags & BP_FIELD_READ_ONLY) != 0;
    char name[64];
    snprintf(name, sizeof name, "%s", field->name);
    unit_text(program, target->world, field->unit, unit, sizeof unit);
    snprintf(about, sizeof about, "%s", field->doc != NULL ? field->doc : "");
    if (program->api->property->resolve(target->world, target->entity, target->component.name, name,
                                        &path.property) != BP_OK ||
        !value_text(program, &path, room, &text))
        return false;
    if (is_whole(&path.property))
        shorten(room);
    table_cellf(table, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", name);
    table_cell(table, text);
    table_cell(table, unit);
    table_cellf(table, "%s%s", shape, read_only ? ", read only" : "");
    table_cell(table, about);
    return true;
}

static bool add_component(table_t *table, const program_t *program, const target_t *target,
                          const char *prefix)
{
    bp_field_t field;
    for (uint32_t i = 0;; i++) {
        field = (bp_field_t){0};
        if (program->api->property->describe(program->host, target->component.type, i, &field, sizeof field) != BP_OK)
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

bool console_get(console_t *console, char *rest)
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

bool console_set(console_t *console, char *rest)
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

/* --- tree --------------------------------------------------------------------------------------------------------- */

static bool draw_tree(console_t *console, bp_world_o *world, bp_entity_t top)
{
    return tree_print(console->program, world, top) || console_refuse_memory(console);
}

/* Words of `tree`: a world, a world and an entity, or both as world/entity. */
bool console_tree(console_t *console, char *rest)
{
    const bp_world_api *api = console->program->api->world;
    char *words[2];
    char why[WHY_MAX];
    bp_entity_t top = {0};
    target_t target;
    if (!console_take_words(console, rest, words, 2))
        return false;
    if (words[0] == NULL) {
        bp_world_o *world;
        bool fine = true;
        for (uint32_t i = 0; fine && (world = api->at(console->program->host, i)) != NULL; i++)
            fine = draw_tree(console, world, top);
        return fine;
    }
    if (words[1] == NULL && strchr(words[0], '/') != NULL) {
        if (!inspect_path(console->program, words[0], &target, why))
            return console_refuse(console, "%s", why);
        if (target.kind != TARGET_ENTITY)
            return console_refuse(console, "'%s' names no entity, but something of one", words[0]);
        return draw_tree(console, target.world, target.entity);
    }
    bp_world_o *world = inspect_world(console->program, words[0], why);
    if (world == NULL || (words[1] != NULL && !inspect_entity(console->program, world, words[1], &top, why)))
        return console_refuse(console, "%s", why);
    return draw_tree(console, world, top);
}
