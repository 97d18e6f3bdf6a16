/* table.c - tables of texts.
 *
 * All cells are kept until the table is printed, since the width of a column is known only then. Widths are
 * counted in characters, not bytes: "Å" takes one place. A column is right-aligned when every cell of it is
 * a number, a number with "%" behind it, or says that there is none ("" or "-"), and at least one is a
 * number.
 *
 * A cell that cannot be stored would shift all that follow, so from the first failure on nothing is appended.
 */
#include "table.h"

#include "numbers.h"
#include "terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    CELL_FORMATTED_MAX = 512, /* bytes of a cell from table_cellf; what is longer is cut */
    GAP = 2                   /* blanks between columns */
};

void table_begin(table_t *table, uint32_t columns)
{
    *table = (table_t){.columns = columns};
}

void table_begin_bare(table_t *table, uint32_t columns)
{
    *table = (table_t){.columns = columns, .bare = true};
}

static bool make_room(table_t *table)
{
    if (table->count < table->room)
        return true;
    size_t room = table->room == 0 ? 64 : table->room * 2;
    char **cells = realloc(table->cells, room * sizeof *cells);
    if (cells == NULL)
        return false;
    table->cells = cells;
    table->room = room;
    return true;
}

void table_cell(table_t *table, const char *text)
{
    if (table->failed)
        return;
    char *cell = make_room(table) ? malloc(terminal_shown_length(text) + 1) : NULL;
    if (cell == NULL) {
        table->failed = true;
        return;
    }
    terminal_show(text, cell);
    table->cells[table->count++] = cell;
}

void table_cellf(table_t *table, const char *format, ...)
{
    char text[CELL_FORMATTED_MAX];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    table_cell(table, text);
}

size_t table_rows(const table_t *table)
{
    size_t rows = table->count / table->columns;
    return rows == 0 || table->bare ? rows : rows - 1;
}

static size_t characters_in(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static bool is_figure(const char *cell)
{
    char number[64];
    size_t length = strlen(cell);
    if (length == 0 || length >= sizeof number || cell[length - 1] != '%')
        return numbers_is_number(cell);
    memcpy(number, cell, length);
    number[length - 1] = '\0';
    if (length > 1 && number[length - 2] == ' ')
        number[length - 2] = '\0';
    return numbers_is_number(number);
}

typedef struct column_t {
    size_t width;
    bool right;
} column_t;

static column_t measure(const table_t *table, uint32_t index)
{
    column_t column = {.width = 0};
    bool figures = true;
    for (size_t i = index; i < table->count; i += table->columns) {
        const char *cell = table->cells[i];
        size_t width = characters_in(cell);
        if (width > column.width)
            column.width = width;
        if (i < table->columns || cell[0] == '\0' || strcmp(cell, "-") == 0)
            continue;
        bool figure = is_figure(cell);
        figures = figures && figure;
        column.right = column.right || figure;
    }
    column.right = column.right && figures && !table->bare;
    return column;
}

static void print_row(const table_t *table, size_t first, const column_t *columns, FILE *out)
{
    size_t owed = 0; /* blanks that are printed only if something follows them */
    for (uint32_t i = 0; i < table->columns; i++) {
        const char *cell = table->cells[first + i];
        size_t missing = columns[i].width - characters_in(cell);
        if (columns[i].right)
            owed += missing;
        if (cell[0] != '\0') {
            fprintf(out, "%*s%s", (int)owed, "", cell);
            owed = 0;
        }
        owed += (columns[i].right ? 0 : missing) + GAP;
    }
}

bool table_print(const table_t *table, FILE *out, const char *indent, bool styled)
{
    column_t *columns = table->failed ? NULL : malloc(table->columns * sizeof *columns);
    if (columns == NULL)
        return false;
    for (uint32_t i = 0; i < table->columns; i++)
        columns[i] = measure(table, i);
    for (size_t first = 0; first + table->columns <= table->count; first += table->columns) {
        bool heading = first == 0 && !table->bare;
        fputs(indent, out);
        fputs(terminal_heading(heading && styled), out);
        print_row(table, first, columns, out);
        fputs(terminal_plain(heading && styled), out);
        fputc('\n', out);
    }
    free(columns);
    return true;
}

void table_end(table_t *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    table_begin(table, table->columns);
}
