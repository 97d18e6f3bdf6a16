/* ranks.c - the results of several ranks, gathered by rank 0 into one report.
 *
 * Every rank sends figures and reports as JSON; rank 0 prints all of them. A table that several ranks report under the
 * same title becomes one with the rank in its first column. Values that differ become a table with a line for each
 * rank, so that a sweep over parameters is one table; a value that is the same everywhere is printed once.
 */
#include "ranks.h"

#include "figures.h"
#include "json_output.h"
#include "output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ranks_introduce(program_t *program)
{
    uint32_t rank;
    program->ranks = bp_host_peers(program->host, &rank);
    program->rank = rank;
    if (program->ranks > 1)
        output_name_rank(rank);
}

/* --- the report of a rank --------------------------------------------------------------------------------------- */

/* Reports as they come: [{world, unit, tables: [{title, headers: [], rows: [[]]}], values: [[name, text]]}]. */
typedef struct told_t {
    json_t *sections;
    json_t *section, *table; /* borrowed: the last section and the last table */
    int bad;
} told_t;

static json_t *texts(const char *const *cells, uint32_t count)
{
    json_t *list = json_array();
    int bad = 0;
    for (uint32_t i = 0; i < count; i++)
        bad |= json_array_append_new(list, json_output_text(cells[i]));
    return json_output_checked(list, bad);
}

static bool is_of(const json_t *section, const char *world, const char *unit)
{
    return strcmp(json_string_value(json_object_get(section, "world")), world) == 0 &&
           strcmp(json_string_value(json_object_get(section, "unit")), unit) == 0;
}

static void tell_section(told_t *told, const char *world, const char *unit)
{
    if (told->bad != 0 || (told->section != NULL && is_of(told->section, world, unit)))
        return;
    told->section = json_object();
    told->bad |= json_object_set_new(told->section, "world", json_output_text(world));
    told->bad |= json_object_set_new(told->section, "unit", json_output_text(unit));
    told->bad |= json_object_set_new(told->section, "tables", json_array());
    told->bad |= json_object_set_new(told->section, "values", json_array());
    told->bad |= json_array_append_new(told->sections, told->section);
}

static void tell_table(void *context, const char *world, const char *unit, const char *title,
                       const char *const *headers, uint32_t columns)
{
    told_t *told = context;
    tell_section(told, world, unit);
    if (told->bad != 0)
        return;
    told->table = json_object();
    told->bad |= json_object_set_new(told->table, "title", json_output_text(title == NULL ? "" : title));
    told->bad |= json_object_set_new(told->table, "headers", texts(headers, columns));
    told->bad |= json_object_set_new(told->table, "rows", json_array());
    told->bad |= json_array_append_new(json_object_get(told->section, "tables"), told->table);
}

static void tell_row(void *context, const char *const *cells, uint32_t columns)
{
    told_t *told = context;
    if (told->bad == 0)
        told->bad |= json_array_append_new(json_object_get(told->table, "rows"), texts(cells, columns));
}

static void tell_value(void *context, const char *world, const char *unit, const char *name, const char *text)
{
    told_t *told = context;
    tell_section(told, world, unit);
    if (told->bad == 0)
        told->bad |= json_array_append_new(json_object_get(told->section, "values"),
                                           texts((const char *const[]){name, text}, 2));
}

static json_t *all_of_this_rank(program_t *program, uint64_t nanoseconds)
{
    told_t told = {.sections = json_array()};
    told.bad = told.sections == NULL;
    const bp_report_sink_i sink = {.context = &told, .table = tell_table, .row = tell_row, .value = tell_value};
    bp_host_report(program->host, &sink);
    json_t *root = json_object();
    int bad = told.bad;
    bad |= json_object_set_new(root, "rank", json_output_count(program->rank));
    bad |= json_object_set_new(root, "nanoseconds", json_output_count(nanoseconds));
    bad |= json_object_set_new(root, "entities", json_output_count(program->api->entity->count(program->host)));
    bad |= json_object_set_new(root, "worlds", figures_worlds_json(program));
    bad |= json_object_set_new(root, "units", figures_units_json(program));
    bad |= json_object_set_new(root, "reports", told.sections);
    return json_output_checked(root, bad);
}

/* --- reports of all ----------------------------------------------------------------------------------------------- */

/* All that rank 0 has received: `ranks` is an array with the report of each rank. */
typedef struct gathered_t {
    json_t *ranks;
    int bad;
} gathered_t;

static const json_t *section_of(const json_t *rank, const char *world, const char *unit)
{
    const json_t *sections = json_object_get(rank, "reports");
    for (size_t i = 0; i < json_array_size(sections); i++)
        if (is_of(json_array_get(sections, i), world, unit))
            return json_array_get(sections, i);
    return NULL;
}

static bool same_table(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "title"), json_object_get(b, "title")) &&
           json_equal(json_object_get(a, "headers"), json_object_get(b, "headers"));
}

/* The table of that title and headers in a section, the `nth` of them; NULL where there is none. */
static const json_t *table_of(const json_t *section, const json_t *wanted, uint32_t nth)
{
    const json_t *tables = json_object_get(section, "tables");
    for (size_t i = 0; i < json_array_size(tables); i++)
        if (same_table(json_array_get(tables, i), wanted) && nth-- == 0)
            return json_array_get(tables, i);
    return NULL;
}

static uint32_t number_of_table(const json_t *section, size_t index)
{
    const json_t *tables = json_object_get(section, "tables");
    uint32_t before = 0;
    for (size_t i = 0; i < index; i++)
        before += same_table(json_array_get(tables, i), json_array_get(tables, index));
    return before;
}

enum { CELLS_MOST = 64 };

typedef struct replay_t {
    const gathered_t *all;
    const bp_report_sink_i *sink;
    const char *world, *unit;
} replay_t;

/* Cells with the rank before them, where `rank` is not NULL. */
static uint32_t copy_cells(const char **cells, const char *rank, const json_t *list)
{
    uint32_t count = 0;
    if (rank != NULL)
        cells[count++] = rank;
    for (size_t i = 0; i < json_array_size(list) && count < CELLS_MOST; i++)
        cells[count++] = json_string_value(json_array_get(list, i));
    return count;
}

static void replay_rows(const replay_t *replay, const json_t *table, const char *rank)
{
    const char *cells[CELLS_MOST];
    const json_t *rows = json_object_get(table, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        uint32_t count = copy_cells(cells, rank, json_array_get(rows, i));
        replay->sink->row(replay->sink->context, cells, count);
    }
}

/* The same table of all ranks from `first` on. */
static void replay_table(const replay_t *replay, size_t first, const json_t *table, uint32_t nth)
{
    const char *cells[CELLS_MOST];
    uint32_t having = 0;
    for (size_t r = 0; r < json_array_size(replay->all->ranks); r++)
        having += table_of(section_of(json_array_get(replay->all->ranks, r), replay->world, replay->unit), table,
                           nth) != NULL;
    uint32_t count = copy_cells(cells, having > 1 ? "rank" : NULL, json_object_get(table, "headers"));
    replay->sink->table(replay->sink->context, replay->world, replay->unit,
                        json_string_value(json_object_get(table, "title")), cells, count);
    for (size_t r = first; r < json_array_size(replay->all->ranks); r++) {
        char number[24];
        const json_t *section = section_of(json_array_get(replay->all->ranks, r), replay->world, replay->unit);
        const json_t *theirs = section == NULL ? NULL : table_of(section, table, nth);
        snprintf(number, sizeof number, "%zu", r);
        if (theirs != NULL)
            replay_rows(replay, theirs, having > 1 ? number : NULL);
    }
}

static void replay_tables(const replay_t *replay)
{
    for (size_t r = 0; r < json_array_size(replay->all->ranks); r++) {
        const json_t *section = section_of(json_array_get(replay->all->ranks, r), replay->world, replay->unit);
        const json_t *tables = json_object_get(section, "tables");
        for (size_t i = 0; i < json_array_size(tables); i++) {
            uint32_t nth = number_of_table(section, i);
            bool told = false;
            for (size_t before = 0; before < r && !told; before++)
                told = table_of(section_of(json_array_get(replay->all->ranks, before), replay->world, replay->unit),
                                json_array_get(tables, i), nth) != NULL;
            if (!told)
                replay_table(replay, r, json_array_get(tables, i), nth);
        }
    }
}

/* A value of one rank, NULL where it has none of that name. */
static const char *value_of(const replay_t *replay, size_t rank, const char *name)
{
    const json_t *values =
        json_object_get(section_of(json_array_get(replay->all->ranks, rank), replay->world, replay->unit), "values");
    for (size_t i = 0; i < json_array_size(values); i++)
        if (strcmp(json_string_value(json_array_get(json_array_get(values, i), 0)), name) == 0)
            return json_string_value(json_array_get(json_array_get(values, i), 1));
    return NULL;
}

/* Do all ranks that have the unit have a value of that name, and the same one? */
static bool is_common(const replay_t *replay, const char *name)
{
    const char *first = NULL;
    for (size_t r = 0; r < json_array_size(replay->all->ranks); r++) {
        const char *text = value_of(replay, r, name);
        if (section_of(json_array_get(replay->all->ranks, r), replay->world, replay->unit) == NULL)
            continue;
        if (text == NULL || (first != NULL && strcmp(first, text) != 0))
            return false;
        first = text;
    }
    return true;
}

/* Go through the values, each at the rank that has it first: tell those that are the same everywhere, and put the names
 * of the others into `names`. Returns how many. */
static uint32_t sort_values(const replay_t *replay, const char **names)
{
    uint32_t count = 0;
    for (size_t r = 0; r < json_array_size(replay->all->ranks); r++) {
        const json_t *values =
            json_object_get(section_of(json_array_get(replay->all->ranks, r), replay->world, replay->unit), "values");
        for (size_t i = 0; i < json_array_size(values); i++) {
            const char *name = json_string_value(json_array_get(json_array_get(values, i), 0));
            bool known = false;
            for (size_t before = 0; before < r && !known; before++)
                known = value_of(replay, before, name) != NULL;
            if (!known && is_common(replay, name))
                replay->sink->value(replay->sink->context, replay->world, replay->unit, name,
                                    value_of(replay, r, name));
            else if (!known && count < CELLS_MOST - 1)
                names[count++] = name;
        }
    }
    return count;
}

static void replay_values(const replay_t *replay)
{
    const char *cells[CELLS_MOST] = {"rank"}, *names[CELLS_MOST];
    uint32_t count = sort_values(replay, names);
    if (count == 0)
        return;
    memcpy(cells + 1, names, count * sizeof *names);
    replay->sink->table(replay->sink->context, replay->world, replay->unit, "by rank", cells, count + 1);
    for (size_t r = 0; r < json_array_size(replay->all->ranks); r++) {
        char number[24];
        if (section_of(json_array_get(replay->all->ranks, r), replay->world, replay->unit) == NULL)
            continue;
        snprintf(number, sizeof number, "%zu", r);
        cells[0] = number;
        for (uint32_t i = 0; i < count; i++) {
            const char *text = value_of(replay, r, names[i]);
            cells[i + 1] = text == NULL ? "-" : text;
        }
        replay->sink->row(replay->sink->context, cells, count + 1);
    }
}

/* Every unit once, by the rank that has it first. */
static void replay_all(void *data, const bp_report_sink_i *sink)
{
    const gathered_t *all = data;
    for (size_t r = 0; r < json_array_size(all->ranks); r++) {
        const json_t *sections = json_object_get(json_array_get(all->ranks, r), "reports");
        for (size_t i = 0; i < json_array_size(sections); i++) {
            const json_t *section = json_array_get(sections, i);
            replay_t replay = {all, sink, json_string_value(json_object_get(section, "world")),
                               json_string_value(json_object_get(section, "unit"))};
            bool told = false;
            for (size_t before = 0; before < r && !told; before++)
                told = section_of(json_array_get(all->ranks, before), replay.world, replay.unit) != NULL;
            if (told)
                continue;
            replay_tables(&replay);
            replay_values(&replay);
        }
    }
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static void BP_CALL take(void *data, uint32_t rank, const void *bytes, size_t size)
{
    gathered_t *all = data;
    json_t *told = json_loadb(bytes, size, 0, NULL);
    (void)rank;
    all->bad |= told == NULL ? -1 : json_array_append_new(all->ranks, told);
}

static uint64_t count_in(const json_t *object, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(object, name));
}

/* The lists of all ranks in one, each object with its rank. */
static json_t *lists_of_all(const gathered_t *all, const char *name)
{
    json_t *list = json_array();
    int bad = 0;
    for (size_t r = 0; r < json_array_size(all->ranks); r++) {
        json_t *theirs = json_object_get(json_array_get(all->ranks, r), name);
        for (size_t i = 0; i < json_array_size(theirs); i++) {
            json_t *object = json_array_get(theirs, i);
            bad |= json_object_set_new(object, "rank", json_output_count(r));
            bad |= json_array_append(list, object);
        }
    }
    return json_output_checked(list, bad);
}

typedef struct totals_t {
    uint64_t steps, nanoseconds, entities;
} totals_t;

static int print_json(const program_t *program, gathered_t *all, const totals_t *totals)
{
    json_t *root = json_object();
    int bad = 0;
    bad |= json_object_set_new(root, "backplane", json_output_text(BACKPLANE_VERSION));
    bad |= json_object_set_new(root, "ini", json_output_text(program->ini));
    bad |= json_object_set_new(root, "ranks", json_output_count(program->ranks));
    bad |= json_object_set_new(root, "steps", json_output_count(totals->steps));
    bad |= json_object_set_new(root, "nanoseconds", json_output_count(totals->nanoseconds));
    bad |= json_object_set_new(root, "entities", json_output_count(totals->entities));
    bad |= json_object_set_new(root, "worlds", lists_of_all(all, "worlds"));
    bad |= json_object_set_new(root, "units", lists_of_all(all, "units"));
    bad |= json_object_set_new(root, "reports", report_json_from(replay_all, all));
    return json_output_print(json_output_checked(root, bad));
}

static int print_tables(const program_t *program, gathered_t *all, const totals_t *totals)
{
    const bool styled = false; /* under mpirun stdout is a terminal, also where mpirun's own output is a file */
    json_t *worlds = lists_of_all(all, "worlds"), *units = lists_of_all(all, "units");
    int status = worlds != NULL && units != NULL ? report_print_from(replay_all, all, styled) : STATUS_FAILED;
    if (status == STATUS_FINE)
        status = figures_print_ranks(worlds, units, styled);
    json_decref(worlds);
    json_decref(units);
    if (status == STATUS_FINE)
        printf("\n%" PRIu64 " %s on %" PRIu32 " ranks with %" PRIu64 " %s in %.3f s\n", totals->steps,
               totals->steps == 1 ? "step" : "steps", program->ranks, totals->entities,
               totals->entities == 1 ? "entity" : "entities", (double)totals->nanoseconds / 1e9);
    return status;
}

static int print_gathered(const program_t *program, gathered_t *all, uint64_t steps, bool json)
{
    totals_t totals = {.steps = steps};
    for (size_t r = 0; r < json_array_size(all->ranks); r++) {
        const json_t *rank = json_array_get(all->ranks, r);
        uint64_t nanoseconds = count_in(rank, "nanoseconds");
        totals.nanoseconds = nanoseconds > totals.nanoseconds ? nanoseconds : totals.nanoseconds;
        totals.entities += count_in(rank, "entities");
    }
    return json ? print_json(program, all, &totals) : print_tables(program, all, &totals);
}

int ranks_print(program_t *program, uint64_t steps, uint64_t nanoseconds, bool json)
{
    gathered_t all = {.ranks = json_array()};
    json_t *mine = all_of_this_rank(program, nanoseconds);
    char *text = json_output_write(mine, JSON_COMPACT);
    int status = STATUS_FAILED;
    json_decref(mine);
    if (text == NULL || all.ranks == NULL)
        complain("out of memory while gathering what the ranks have to report");
    else if (bp_host_exchange(program->host, text, strlen(text), take, &all) != BP_OK)
        complain("the reports of the ranks cannot be gathered: %s", bp_host_error(program->host));
    else if (program->rank != 0)
        status = STATUS_FINE;
    else if (all.bad != 0)
        complain("out of memory while gathering what the ranks have to report");
    else
        status = print_gathered(program, &all, steps, json);
    json_decref(all.ranks);
    free(text);
    return status;
}
