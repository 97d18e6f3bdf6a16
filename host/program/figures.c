/* figures.c - figures of worlds and units.
 *
 * People get milliseconds a step, which is what they compare with a frame; JSON gets the nanoseconds and
 * steps as counted, from which any reader makes what it needs. The share of a unit is its part of all time
 * spent in the steps of its world: what is missing from 100 % is the host's own work between the units.
 */
#include "figures.h"

#include "json_output.h"
#include "messages.h"
#include "table.h"

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
    bp_world_o *world;
    for (uint32_t i = 0; (world = program->api->world->at(program->host, i)) != NULL; i++) {
        bp_world_stats_t stats;
        bp_world_stats(world, &stats);
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

/* Nanoseconds spent in all steps of the world of that name. */
static uint64_t world_nanoseconds(const program_t *program, const char *name)
{
    bp_world_stats_t stats = {0};
    bp_world_o *world = program->api->world->find(program->host, name);
    if (world != NULL)
        bp_world_stats(world, &stats);
    return stats.nanoseconds;
}

static void cells_of_unit(table_t *table, const program_t *program, const bp_unit_stats_t *stats)
{
    table_cell(table, stats->world);
    table_cell(table, stats->unit);
    table_cell(table, stats->plugin);
    table_cellf(table, "%" PRIu64, stats->steps);
    table_cellf(table, "%" PRIu64, stats->rows);
    cell_of_step(table, stats->nanoseconds, stats->steps);
    uint64_t all = world_nanoseconds(program, stats->world);
    if (all == 0)
        table_cell(table, "-");
    else
        table_cellf(table, "%.1f %%", 100.0 * (double)stats->nanoseconds / (double)all);
}

int figures_print_units(const program_t *program, bool styled)
{
    static const char *const headings[] = {"World", "Unit", "Plugin", "Steps", "Rows", "ms/step", "Share"};
    enum { COLUMNS = sizeof headings / sizeof headings[0] };
    table_t table;
    table_begin(&table, COLUMNS);
    cells_of(&table, headings, COLUMNS);
    bp_unit_stats_t stats;
    for (uint32_t i = 0; bp_host_unit_stats(program->host, i, &stats); i++)
        cells_of_unit(&table, program, &stats);
    if (table_rows(&table) > 0)
        return print_and_end(&table, styled);
    table_end(&table);
    return STATUS_FINE;
}

static json_t *world_json(bp_world_o *world)
{
    bp_world_stats_t stats;
    bp_world_stats(world, &stats);
    json_t *object = json_object();
    int bad = 0;
    bad |= json_object_set_new(object, "name", json_output_text(stats.name));
    bad |= json_object_set_new(object, "steps", json_output_count(stats.steps));
    bad |= json_object_set_new(object, "time", json_real(stats.time));
    bad |= json_object_set_new(object, "nanoseconds", json_output_count(stats.nanoseconds));
    bad |= json_object_set_new(object, "bytes", json_output_count(stats.bytes));
    bad |= json_object_set_new(object, "entities", json_output_count(stats.entities));
    bad |= json_object_set_new(object, "holes", json_output_count(stats.holes));
    bad |= json_object_set_new(object, "prototypes", json_output_count(stats.prototypes));
    bad |= json_object_set_new(object, "runs", json_output_count(stats.runs));
    return json_output_checked(object, bad);
}

json_t *figures_worlds_json(const program_t *program)
{
    json_t *list = json_array();
    int bad = 0;
    bp_world_o *world;
    for (uint32_t i = 0; (world = program->api->world->at(program->host, i)) != NULL; i++)
        bad |= json_array_append_new(list, world_json(world));
    return json_output_checked(list, bad);
}

static json_t *unit_json(const bp_unit_stats_t *stats)
{
    json_t *object = json_object();
    int bad = 0;
    bad |= json_object_set_new(object, "world", json_output_text(stats->world));
    bad |= json_object_set_new(object, "unit", json_output_text(stats->unit));
    bad |= json_object_set_new(object, "plugin", json_output_text(stats->plugin));
    bad |= json_object_set_new(object, "steps", json_output_count(stats->steps));
    bad |= json_object_set_new(object, "nanoseconds", json_output_count(stats->nanoseconds));
    bad |= json_object_set_new(object, "rows", json_output_count(stats->rows));
    return json_output_checked(object, bad);
}

json_t *figures_units_json(const program_t *program)
{
    json_t *list = json_array();
    int bad = 0;
    bp_unit_stats_t stats;
    for (uint32_t i = 0; bp_host_unit_stats(program->host, i, &stats); i++)
        bad |= json_array_append_new(list, unit_json(&stats));
    return json_output_checked(list, bad);
}
