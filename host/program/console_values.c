/* console_values.c - properties printed and set.
 *
 * `get` prints a single value bare, in the very form that `set` takes, for scripts; `get` of a component or
 * an entity prints a table for people.
 */
#include "console_values.h"

#include "describe.h"
#include "inspect.h"
#include "table.h"
#include "terminal.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_TEXT_MAX = 1024 }; /* bytes of a value that is not a string: sixteen numbers fit well */

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
