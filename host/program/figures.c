/* figures.c - figures of worlds and units.
 *
 * People get milliseconds a step, the unit in which they know the time of a frame; JSON gets the nanoseconds and
 * steps as counted, from which a reader computes its own figures. The share of a unit is its part of all time
 * spent in the steps of its world: the rest to 100 % is the host's own work between the units.
 */
#include "figures.h"

#include "json_output.h"
#include "output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Print a table that is complete and release it. */
static int print_and_end(table_t *table, bool styled)
{
    bool fine = table_print(table, stdout, "", styled);
    table_end(table);
    if (fine)
        return STATUS_FINE;
    complain("out of memory while printing a table");
    return STATUS_FAILED;
}

static void cells_of(table_t *table, const char *const *texts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        table_cell(table, texts[i]);
}

/* A cell of milliseconds a step, "-" before the first. */
static void cell_of_step(table_t *table, uint64_t nanoseconds, uint64_t steps)
{
    if (steps == 0)
        table_cell(table, "-");
    else
        table_cellf(table, "%.6f", (double)nanoseconds / (double)steps / 1e6);
}

int figures_print_worlds(const program_t *program, bool styled)
{
    static const char *const headings[] = {"World", "Steps",      "Time", "Entities", "Holes",
                                           "Prototypes", "Runs", "KiB",  "ms/step"};
    enum { COLUMNS = sizeof headings / sizeof headings[0] };
    table_t table;
    table_begin(&table, COLUMNS);
    cells_of(&table, headings, COLUMNS);
    bp_look_world_t stats = {.struct_size = sizeof stats};
    for (uint32_t cursor = 0; program->look->world(program->host, &cursor, &stats);) {
        table_cell(&table, stats.name);
        table_cellf(&table, "%" PRIu64, stats.steps);
        table_cellf(&table, "%g", stats.time);
        table_cellf(&table, "%" PRIu32, stats.entities);
        table_cellf(&table, "%" PRIu32, stats.holes);
        table_cellf(&table, "%" PRIu32, stats.prototypes);
        table_cellf(&table, "%" PRIu32, stats.runs);
        table_cellf(&table, "%.1f", (double)stats.bytes / 1024.0);
        cell_of_step(&table, stats.nanoseconds, stats.steps);
    }
    return print_and_end(&table, styled);
}

static void cells_of_unit(table_t *table, const bp_look_world_t *world, const bp_look_unit_t *stats)
{
    table_cell(table, world->name);
    table_cell(table, stats->name);
    table_cell(table, stats->plugin);
    table_cellf(table, "%" PRIu64, stats->steps);
    table_cellf(table, "%" PRIu64, stats->rows);
    cell_of_step(table, stats->nanoseconds, stats->steps);
    if (world->nanoseconds == 0)
        table_cell(table, "-");
    else
        table_cellf(table, "%.1f %%", 100.0 * (double)stats->nanoseconds / (double)world->nanoseconds);
}

int figures_print_units(const program_t *program, bool styled)
{
    static const char *const headings[] = {"World", "Unit", "Plugin", "Steps", "Rows", "ms/step", "Share"};
    enum { COLUMNS = sizeof headings / sizeof headings[0] };
    table_t table;
    table_begin(&table, COLUMNS);
    cells_of(&table, headings, COLUMNS);
    bp_look_world_t world = {.struct_size = sizeof world};
    bp_look_unit_t unit = {.struct_size = sizeof unit};
    for (uint32_t cursor = 0; program->look->world(program->host, &cursor, &world);)
        for (uint32_t at = 0; program->look->unit(world.world, &at, &unit);)
            cells_of_unit(&table, &world, &unit);
    if (table_rows(&table) > 0)
        return print_and_end(&table, styled);
    table_end(&table);
    return STATUS_FINE;
}

static json_t *world_json(const bp_look_world_t *world)
{
    json_t *object = json_object();
    int bad = 0;
    bad |= json_object_set_new(object, "name", json_output_text(world->name));
    bad |= json_object_set_new(object, "steps", json_output_count(world->steps));
    bad |= json_object_set_new(object, "time", json_real(world->time));
    bad |= json_object_set_new(object, "nanoseconds", json_output_count(world->nanoseconds));
    bad |= json_object_set_new(object, "bytes", json_output_count(world->bytes));
    bad |= json_object_set_new(object, "entities", json_output_count(world->entities));
    bad |= json_object_set_new(object, "holes", json_output_count(world->holes));
    bad |= json_object_set_new(object, "prototypes", json_output_count(world->prototypes));
    bad |= json_object_set_new(object, "runs", json_output_count(world->runs));
    return json_output_checked(object, bad);
}

json_t *figures_worlds_json(const program_t *program)
{
    json_t *list = json_array();
    int bad = 0;
    bp_look_world_t world = {.struct_size = sizeof world};
    for (uint32_t cursor = 0; program->look->world(program->host, &cursor, &world);)
        bad |= json_array_append_new(list, world_json(&world));
    return json_output_checked(list, bad);
}

static json_t *unit_json(const bp_look_world_t *world, const bp_look_unit_t *unit)
{
    json_t *object = json_object();
    int bad = 0;
    bad |= json_object_set_new(object, "world", json_output_text(world->name));
    bad |= json_object_set_new(object, "unit", json_output_text(unit->name));
    bad |= json_object_set_new(object, "plugin", json_output_text(unit->plugin));
    bad |= json_object_set_new(object, "steps", json_output_count(unit->steps));
    bad |= json_object_set_new(object, "nanoseconds", json_output_count(unit->nanoseconds));
    bad |= json_object_set_new(object, "rows", json_output_count(unit->rows));
    return json_output_checked(object, bad);
}

json_t *figures_units_json(const program_t *program)
{
    json_t *list = json_array();
    int bad = 0;
    bp_look_world_t world = {.struct_size = sizeof world};
    bp_look_unit_t unit = {.struct_size = sizeof unit};
    for (uint32_t cursor = 0; program->look->world(program->host, &cursor, &world);)
        for (uint32_t at = 0; program->look->unit(world.world, &at, &unit);)
            bad |= json_array_append_new(list, unit_json(&world, &unit));
    return json_output_checked(list, bad);
}

/* --- of several ranks --------------------------------------------------------------------------------------------- */

static uint64_t number_in(const json_t *object, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(object, name));
}

static void cells_of_counts(table_t *table, const json_t *object, const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        table_cellf(table, "%" PRIu64, number_in(object, names[i]));
}

static int print_rank_worlds(const json_t *worlds, bool styled)
{
    static const char *const headings[] = {"World",      "Rank", "Steps", "Time",   "Entities", "Holes",
                                           "Prototypes", "Runs", "KiB",   "ms/step"};
    enum { COLUMNS = sizeof headings / sizeof headings[0] };
    table_t table;
    table_begin(&table, COLUMNS);
    cells_of(&table, headings, COLUMNS);
    for (size_t i = 0; i < json_array_size(worlds); i++) {
        const json_t *world = json_array_get(worlds, i);
        table_cell(&table, json_string_value(json_object_get(world, "name")));
        cells_of_counts(&table, world, (const char *const[]){"rank", "steps"}, 2);
        table_cellf(&table, "%g", json_real_value(json_object_get(world, "time")));
        cells_of_counts(&table, world, (const char *const[]){"entities", "holes", "prototypes", "runs"}, 4);
        table_cellf(&table, "%.1f", (double)number_in(world, "bytes") / 1024.0);
        cell_of_step(&table, number_in(world, "nanoseconds"), number_in(world, "steps"));
    }
    return print_and_end(&table, styled);
}

static int print_rank_units(const json_t *units, bool styled)
{
    static const char *const headings[] = {"World", "Unit", "Rank", "Plugin", "Steps", "Rows", "ms/step"};
    enum { COLUMNS = sizeof headings / sizeof headings[0] };
    table_t table;
    table_begin(&table, COLUMNS);
    cells_of(&table, headings, COLUMNS);
    for (size_t i = 0; i < json_array_size(units); i++) {
        const json_t *unit = json_array_get(units, i);
        table_cell(&table, json_string_value(json_object_get(unit, "world")));
        table_cell(&table, json_string_value(json_object_get(unit, "unit")));
        cells_of_counts(&table, unit, (const char *const[]){"rank"}, 1);
        table_cell(&table, json_string_value(json_object_get(unit, "plugin")));
        cells_of_counts(&table, unit, (const char *const[]){"steps", "rows"}, 2);
        cell_of_step(&table, number_in(unit, "nanoseconds"), number_in(unit, "steps"));
    }
    return print_and_end(&table, styled);
}

int figures_print_ranks(const json_t *worlds, const json_t *units, bool styled)
{
    int status = print_rank_worlds(worlds, styled);
    putchar('\n');
    return status == STATUS_FINE && json_array_size(units) > 0 ? print_rank_units(units, styled) : status;
}

/* --- report ------------------------------------------------------------------------------------------------------ */

/* The two receivers of reports.
 *
 * Entries of one unit come one after another; a new world or unit begins a new section. For people a table
 * must be complete before its first line can be printed, and successive values are aligned with each other;
 * so both gather in one table_t, printed when something else begins. The JSON receiver builds its tree at
 * once.
 */

enum { NAME_MAX_BYTES = 256 };

/* The world and unit of the entries that are being received. */
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

/* The reports of a host. */
static void report_of_host(void *data, const bp_report_sink_i *sink)
{
    bp_host_report(data, sink);
}

int report_print(const program_t *program, bool styled)
{
    return report_print_from(report_of_host, program->host, styled);
}

int report_print_from(report_source_t source, void *data, bool styled)
{
    printer_t printer = {.styled = styled};
    bp_report_sink_i sink = {.context = &printer, .table = print_table, .row = print_table_row, .value = print_value};
    source(data, &sink);
    print_pending(&printer);
    if (!printer.failed)
        return STATUS_FINE;
    complain("out of memory while printing a report");
    return STATUS_FAILED;
}

/* --- as JSON -------------------------------------------------------------------------------------------- */

typedef struct builder_t {
    section_t section;
    json_t *sections; /* the array of all; the members below are borrowed parts of it, NULL after a failure */
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
    return report_json_from(report_of_host, program->host);
}

json_t *report_json_from(report_source_t source, void *data)
{
    builder_t builder = {.sections = json_array()};
    builder.bad = builder.sections == NULL;
    bp_report_sink_i sink = {.context = &builder, .table = build_table, .row = build_row, .value = build_value};
    if (builder.bad == 0)
        source(data, &sink);
    return json_output_checked(builder.sections, builder.bad);
}
