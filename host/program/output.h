/* output.h - the program's messages beside its results: complaints, guesses, the exit status.
 *
 * Not here: ending the program; a function that complains returns a status.
 */
#ifndef HOST_PROGRAM_OUTPUT_H
#define HOST_PROGRAM_OUTPUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__MINGW_PRINTF_FORMAT) /* of <stdio.h>: which printf that is */
#define PRINTS_LIKE(text, first) __attribute__((format(__MINGW_PRINTF_FORMAT, text, first)))
#elif defined(__GNUC__)
#define PRINTS_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTS_LIKE(text, first)
#endif

/* The results of a command, as exit status. */
enum {
    STATUS_FINE = 0,
    STATUS_FAILED = 1,   /* something went wrong while running, or the output could not be written */
    STATUS_BAD_INPUT = 2 /* bad arguments, a bad ini, a plugin that cannot be loaded */
};

/* Print "backplane: ..." and a line end to stderr, after all that has gone to stdout so far. */
void complain(const char *format, ...) PRINTS_LIKE(1, 2);

/* Write complaints, and lines like them, to `text` in place of stderr, for the caller to print later; cut where there
 * is no room. NULL ends it. */
void output_hold(char *text, size_t size);

/* Have complaints say "backplane: rank 2: ..." from now on, where several processes write to one terminal, and leave
 * styles out. */
void output_name_rank(uint32_t rank);

/* Print as complain does, but without "backplane: ": a further line of a message, or a line of the log. */
void remark(const char *format, ...) PRINTS_LIKE(1, 2);

/* The word nearest to a misspelt one. Begin with {.wanted = word}. */
typedef struct guess_t {
    const char *wanted;
    const char *best; /* NULL while nothing is near enough */
    size_t distance;
} guess_t;

/* Consider one candidate; the guess keeps its address, so the text must live as long as the guess. */
void guess_consider(guess_t *guess, const char *candidate);

/* Write "; did you mean 'steps'?", or "" where nothing was near enough. Returns `text`. */
const char *guess_hint(const guess_t *guess, char *text, size_t size);

/* --- terminal ---------------------------------------------------------------------------------------------------- */

/* How output looks on a terminal: bold text, and control characters made visible.
 *
 * Not here: moving the cursor.
 */

/* May escape sequences be written to stdout? Yes on a terminal that knows them, and where NO_COLOR is not set. */
bool terminal_styled(void);

/* The sequences that begin and end a heading; "" where `styled` is false. */
const char *terminal_heading(bool styled);
const char *terminal_plain(bool styled);

/* Number of bytes that `text` has once its control characters are written as \n, \t or \x1b: names and
 * texts come from files, and must neither break a line nor contain escape sequences for the terminal. `shown` has room
 * for that many bytes and a closing zero. */
size_t terminal_shown_length(const char *text);
void terminal_show(const char *text, char *shown);

/* Print a text, with control characters made visible as in terminal_show. */
void terminal_print(FILE *out, const char *text);

/* --- table ------------------------------------------------------------------------------------------------------- */

/* A table of texts, printed with aligned columns.
 *
 *     table_t table;
 *     table_begin(&table, 2);
 *     table_cell(&table, "Body");
 *     table_cell(&table, "Period");
 *     table_cell(&table, "Earth");
 *     table_cellf(&table, "%.2f", period);
 *     bool fine = table_print(&table, stdout, "  ", styled);
 *     table_end(&table);
 *
 * Columns of numbers stand right-aligned, others left-aligned. A table remembers that memory ran out;
 * table_print then says so.
 *
 * Not here: wrapping; long cells make long lines.
 */

typedef struct table_t {
    char **cells; /* row after row; the first row is the heading, unless bare */
    size_t count;
    size_t room;
    uint32_t columns;
    bool bare;    /* names and values: no heading, nothing right-aligned */
    bool failed;  /* an allocation failed: cells are missing */
} table_t;

/* An empty table of `columns` columns, at least one; a bare one has no heading. */
void table_begin(table_t *table, uint32_t columns);
void table_begin_bare(table_t *table, uint32_t columns);

/* Append a cell: a copy of `text`, control characters made visible. The first `columns` cells are the
 * heading. */
void table_cell(table_t *table, const char *text);
void table_cellf(table_t *table, const char *format, ...) PRINTS_LIKE(2, 3);

/* Number of rows, the heading not counted. */
size_t table_rows(const table_t *table);

/* Print heading and rows, `indent` before each line. false, with nothing printed, where memory ran out. */
bool table_print(const table_t *table, FILE *out, const char *indent, bool styled);

void table_end(table_t *table);

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* Texts that are numbers: counts that users type, and cells of tables.
 *
 * Not here: reading values of properties; the library does that.
 */

/* A number of things: digits only, up to the largest uint64_t. false where `text` is no such thing. */
bool numbers_read_count(const char *text, uint64_t *count);

/* Is all of `text` one decimal number, such as -1, 0.5 or 2.1e-7? "007", "1 %" and "nan" are not. */
bool numbers_is_number(const char *text);

/* Is `text`, which is a number, one without a fraction and exponent? */
bool numbers_is_whole(const char *text);

/* The base of a whole number as plugins declare them: 16 behind 0x, else 10, also where it begins with a zero. */
int numbers_base(const char *text);

/* --- progress ---------------------------------------------------------------------------------------------------- */

/* A bar on stderr that tells how far a run is.
 *
 * Not here: output to anything but a terminal; there the bar draws nothing.
 */

typedef struct progress_t {
    uint64_t total;
    uint64_t started;  /* by the clock, nanoseconds */
    uint64_t drawn;    /* when the bar was drawn last */
    atomic_int width;  /* columns that the line on the screen takes; 0: no line is there */
    bool shown;        /* is there a terminal to draw the bar on? */
} progress_t;

/* Begin with `total` steps ahead. Nothing is drawn yet, so that short runs show no bar. */
void progress_begin(progress_t *progress, uint64_t total, bool wanted);

/* `done` steps are done. Draws at most ten times a second. */
void progress_show(progress_t *progress, uint64_t done);

/* Wipe the line away, for something else to be written there; the next progress_show draws it again. May be
 * called from any thread while no other draws. */
void progress_erase(progress_t *progress);

#endif
