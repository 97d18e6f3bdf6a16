/* report.c - the two receivers of reports.
 *
 * Entries of one unit come one after another; a new world or unit begins a new section. For people a table
 * must be complete before its first line can be printed, and successive values are aligned with each other;
 * so both gather in one table_t, printed when something else begins. The JSON receiver builds its tree at
 * once.
 */
#include "report.h"

#include "json_output.h"
#include "messages.h"
#include "table.h"
#include "terminal.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = 256 };

/* Whose entries are coming in. */
typedef struct section_t {
    char world[NAME_MAX_BYTES];
    char unit[NAME_MAX_BYTES];
    bool open;
} section_t;

/* true where this world and unit begin a new section, which they then do. */
static bool section_begins(section_t *section, const char *world, const char *unit)
{
    if (section->open && strcmp(section->world, world) == 0 && strcmp(section->unit, unit) == 0)
        return false;
    snprintf(section->world, sizeof section->world, "%s", world);
    snprintf(section->unit, sizeof section->unit, "%s", unit);
    section->open = true;
    return true;
}

/* --- for people ----------------------------------------------------------------------------------------- */

typedef struct printer_t {
    section_t section;
    table_t pending;  /* of entries that are not printed yet */
    bool has_pending;
    bool styled;
    bool failed;
} printer_t;

static void print_pending(printer_t *printer)
{
    if (!printer->has_pending)
        return;
    printer->failed |= !table_print(&printer->pending, stdout, "  ", printer->styled);
    table_end(&printer->pending);
    printer->has_pending = false;
    putchar('\n');
}

static void print_section(printer_t *printer, const char *world, const char *unit)
{
    if (!section_begins(&printer->section, world, unit))
        return;
    print_pending(printer);
    printf("%s%s in world %s%s\n", terminal_heading(printer->styled), unit, world,
           terminal_plain(printer->styled));
}

static void print_table(void *context, const char *world, const char *unit, const char *title,
                        const char *const *headers, uint32_t columns)
{
    printer_t *printer = context;
    print_section(printer, world, unit);
    print_pending(printer);
    table_begin(&printer->pending, columns);
    printer->has_pending = true;
    if (title != NULL && title[0] != '\0') {
        fputs("  ", stdout);
        terminal_print(stdout, title);
        fputs(":\n", stdout);
    }
    for (uint32_t i = 0; i < columns; i++)
        table_cell(&printer->pending, headers[i]);
}

static void print_table_row(void *context, const char *const *cells, uint32_t columns)
{
    printer_t *printer = context;
    for (uint32_t i = 0; i < columns; i++)
        table_cell(&printer->pending, cells[i]);
}

static void print_value(void *context, const char *world, const char *unit, const char *name,
                        const char *text)
{
    printer_t *printer = context;
    print_section(printer, world, unit);
    if (!printer->has_pending || !printer->pending.bare) {
        print_pending(printer);
        table_begin_bare(&printer->pending, 2);
        printer->has_pending = true;
    }
    table_cell(&printer->pending, name);
    table_cell(&printer->pending, text);
}

int report_print(const program_t *program, bool styled)
{
    printer_t printer = {.styled = styled};
    bp_report_sink_i sink = {&printer, print_table, print_table_row, print_value};
    bp_host_report(program->host, &sink);
    print_pending(&printer);
    if (!printer.failed)
        return STATUS_FINE;
    complain("out of memory while printing a report");
    return STATUS_FAILED;
}

/* --- as JSON -------------------------------------------------------------------------------------------- */

typedef struct builder_t {
    section_t section;
    json_t *sections; /* the array of all; the rest are borrowed parts of it, NULL after a failure */
    json_t *tables;
    json_t *values;
    json_t *headers;
    json_t *rows;
    int bad;
} builder_t;

static void build_section(builder_t *builder, const char *world, const char *unit)
{
    if (!section_begins(&builder->section, world, unit))
        return;
    json_t *object = json_object();
    builder->tables = json_array();
    builder->values = json_object();
    builder->headers = builder->rows = NULL;
    builder->bad |= json_object_set_new(object, "world", json_output_text(world));
    builder->bad |= json_object_set_new(object, "unit", json_output_text(unit));
    builder->bad |= json_object_set_new(object, "tables", builder->tables);
    builder->bad |= json_object_set_new(object, "values", builder->values);
    builder->bad |= json_array_append_new(builder->sections, object);
}

static void build_table(void *context, const char *world, const char *unit, const char *title,
                        const char *const *headers, uint32_t columns)
{
    builder_t *builder = context;
    build_section(builder, world, unit);
    if (builder->bad != 0)
        return;
    json_t *table = json_object();
    builder->headers = json_array();
    builder->rows = json_array();
    for (uint32_t i = 0; i < columns; i++)
        builder->bad |= json_array_append_new(builder->headers, json_output_text(headers[i]));
    builder->bad |= json_object_set_new(table, "title", json_output_text(title));
    builder->bad |= json_object_set_new(table, "headers", builder->headers);
    builder->bad |= json_object_set_new(table, "rows", builder->rows);
    builder->bad |= json_array_append_new(builder->tables, table);
}

static void build_row(void *context, const char *const *cells, uint32_t columns)
{
    builder_t *builder = context;
    if (builder->bad != 0)
        return;
    json_t *row = json_object();
    for (uint32_t i = 0; i < columns; i++) {
        const char *header = json_string_value(json_array_get(builder->headers, i));
        builder->bad |= json_output_set_unique(row, header, json_output_cell(cells[i]));
    }
    builder->bad |= json_array_append_new(builder->rows, row);
}

static void build_value(void *context, const char *world, const char *unit, const char *name,
                        const char *text)
{
    builder_t *builder = context;
    build_section(builder, world, unit);
    if (builder->bad == 0)
        builder->bad |= json_output_set_unique(builder->values, name, json_output_cell(text));
}

json_t *report_json(const program_t *program)
{
    builder_t builder = {.sections = json_array()};
    builder.bad = builder.sections == NULL;
    bp_report_sink_i sink = {&builder, build_table, build_row, build_value};
    if (builder.bad == 0)
        bp_host_report(program->host, &sink);
    return json_output_checked(builder.sections, builder.bad);
}
