/* output.c - complaints on stderr and the nearest known word.
 *
 * stdout is flushed before every complaint: where both go to one file or terminal, a complaint then comes after the
 * output that was printed before it.
 *
 * The texts that a message quotes come from files and lines of input, so control characters are made visible. A message
 * is written by one call, since log lines may come from several threads at a time.
 *
 * The distance of two words is the number of letters to insert, drop, replace or swap with their neighbour
 * ("--jsno" is one slip from "--json", not two). A guess is offered where it needs at most one change in three letters.
 */
#include "output.h"

#include "../os/os.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MESSAGE_MAX = 2048, /* bytes; what is longer is cut */
    WORD_MAX = 64       /* longer words get no guess */
};

/* The words that complaints begin with. Static, since a process has one rank for as long as it runs. */
static char complaint_head[32] = "backplane: ";

/* Where complaints are held, without the rank in front, and how much room there is. Static, since the process has one
 * stderr. */
static char *held;
static size_t held_size;

void output_hold(char *text, size_t size)
{
    held = text;
    held_size = size;
}

static void print(const char *head, const char *format, va_list values)
{
    char text[MESSAGE_MAX];
    char shown[4 * MESSAGE_MAX]; /* a byte is shown by four characters at most */
    vsnprintf(text, sizeof text, format, values);
    terminal_show(text, shown);
    if (held != NULL) {
        size_t used = strlen(held);
        snprintf(held + used, held_size - used, "%s%s\n", head == complaint_head ? "backplane: " : head,
                 shown);
        return;
    }
    fflush(stdout);
    fprintf(stderr, "%s%s\n", head, shown);
}

static bool is_rank; /* mpirun gives each rank a terminal of its own, also where the output goes to a file */

void output_name_rank(uint32_t rank)
{
    is_rank = true;
    snprintf(complaint_head, sizeof complaint_head, "backplane: rank %" PRIu32 ": ", rank);
}

void complain(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print(complaint_head, format, values);
    va_end(values);
}

void remark(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print("", format, values);
    va_end(values);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Three rows of the table of distances are enough: the present one and, for swaps, the two before it. */
static size_t distance_of(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_MAX + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *above_that = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]), 1 + least(above[j], row[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], above_that[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

void guess_consider(guess_t *guess, const char *candidate)
{
    size_t wanted = strlen(guess->wanted);
    size_t length = strlen(candidate);
    if (wanted > WORD_MAX || length > WORD_MAX)
        return;
    size_t distance = distance_of(guess->wanted, wanted, candidate, length);
    size_t longer = wanted > length ? wanted : length;
    if (3 * distance > longer + 1)
        return;
    if (guess->best == NULL || distance < guess->distance) {
        guess->best = candidate;
        guess->distance = distance;
    }
}

const char *guess_hint(const guess_t *guess, char *text, size_t size)
{
    text[0] = '\0';
    if (guess->best != NULL)
        snprintf(text, size, "; did you mean '%s'?", guess->best);
    return text;
}

/* --- terminal ---------------------------------------------------------------------------------------------------- */

/* Bold headings where they can be had, and texts with control characters made visible.
 *
 * Escape sequences go to stdout only when stdout is a terminal, TERM does not say that the terminal is a dumb one, and
 * NO_COLOR is not set (no-color.org: any value but the empty one). On Windows a console takes them only
 * when it has been switched over; Windows Terminal, which says so in WT_SESSION, always does.
 */

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0';
}

static bool terminal_knows_sequences(void)
{
#ifdef _WIN32
    return is_set("WT_SESSION");
#else
    const char *kind = getenv("TERM");
    return kind != NULL && kind[0] != '\0' && strcmp(kind, "dumb") != 0;
#endif
}

bool terminal_styled(void)
{
    return !is_rank && os_is_terminal(1) && !is_set("NO_COLOR") && terminal_knows_sequences();
}

const char *terminal_heading(bool styled)
{
    return styled ? "\033[1m" : "";
}

const char *terminal_plain(bool styled)
{
    return styled ? "\033[0m" : "";
}

/* Write the shown form of the next byte of `*text` (of the next two, for the control characters that UTF-8
 * writes as C2 80 to C2 9F) to `room`, step past it and return its length. Other bytes of UTF-8 letters
 * pass. */
static size_t show_next(const char **text, char room[5])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char byte = (unsigned char)*(*text)++;
    unsigned char next = (unsigned char)**text;
    bool two = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    if (!two && byte >= 0x20 && byte != 0x7f) {
        room[0] = (char)byte;
        return 1;
    }
    room[0] = '\\';
    if (byte == '\n' || byte == '\t') {
        room[1] = byte == '\n' ? 'n' : 't';
        return 2;
    }
    if (two) {
        byte = next;
        ++*text;
    }
    room[1] = 'x';
    room[2] = digits[byte >> 4];
    room[3] = digits[byte & 15];
    return 4;
}

size_t terminal_shown_length(const char *text)
{
    char room[5];
    size_t length = 0;
    while (*text != '\0')
        length += show_next(&text, room);
    return length;
}

void terminal_show(const char *text, char *shown)
{
    while (*text != '\0') {
        char room[5];
        size_t length = show_next(&text, room);
        memcpy(shown, room, length);
        shown += length;
    }
    *shown = '\0';
}

void terminal_print(FILE *out, const char *text)
{
    while (*text != '\0') {
        char room[5];
        size_t length = show_next(&text, room);
        fwrite(room, 1, length, out);
    }
}

/* --- table ------------------------------------------------------------------------------------------------------- */

/* Tables of texts.
 *
 * All cells are kept until the table is printed, since the width of a column is known only then. Widths are
 * counted in characters, not bytes: "Å" takes one place. A column is right-aligned when every cell of it is
 * a number, a number with "%" behind it, or says that there is none ("" or "-"), and at least one is a
 * number.
 *
 * A cell that cannot be stored would shift all that follow, so from the first failure on nothing is appended.
 */

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

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* The grammar of numbers.
 *
 * strtod and strtoull are too willing for both jobs here: the one takes "inf", "0x10" and " 1", the other
 * "-1", which it turns into eighteen trillion million steps. So the form is checked here: for cells the form that JSON
 * has (with a plus sign allowed), because a cell that is a number becomes one in JSON; "007" is no number, since it may
 * be a name.
 */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool numbers_read_count(const char *text, uint64_t *count)
{
    uint64_t sum = 0;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (!is_digit(*text))
            return false;
        uint64_t digit = (uint64_t)(*text - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *count = sum;
    return true;
}

/* Past the digits at `text`; NULL where there are none. */
static const char *skip_digits(const char *text)
{
    if (!is_digit(*text))
        return NULL;
    while (is_digit(*text))
        text++;
    return text;
}

bool numbers_is_number(const char *text)
{
    if (*text == '-' || *text == '+')
        text++;
    if (text[0] == '0' && is_digit(text[1]))
        return false;
    text = skip_digits(text);
    if (text != NULL && *text == '.')
        text = skip_digits(text + 1);
    if (text != NULL && (*text == 'e' || *text == 'E')) {
        text++;
        text = skip_digits(*text == '-' || *text == '+' ? text + 1 : text);
    }
    return text != NULL && *text == '\0';
}

int numbers_base(const char *text)
{
    text += strspn(text, " \t");
    text += *text == '-' || *text == '+';
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
}

bool numbers_is_whole(const char *text)
{
    return strpbrk(text, ".eE") == NULL;
}

/* --- progress ---------------------------------------------------------------------------------------------------- */

/* The progress bar.
 *
 * Drawn with a carriage return and blanks only, no escape sequences: the bar looks the same on every terminal,
 * and NO_COLOR does not concern it. The line ends one column before the edge, where some terminals would
 * begin a new line. The terminal's width is asked for at each drawing, so that the bar follows a window
 * that is resized.
 */

enum { BAR_MAX = 40, LINE_MAX_BYTES = 256 };

static const uint64_t second = UINT64_C(1000000000);
static const uint64_t pause_between = UINT64_C(100000000);

void progress_begin(progress_t *progress, uint64_t total, bool wanted)
{
    *progress = (progress_t){.total = total, .shown = wanted && total > 0 && os_is_terminal(2)};
    if (progress->shown)
        progress->started = progress->drawn = os_clock_ns();
}

/* "  1 h 02 min left" */
static void remaining_text(const progress_t *progress, uint64_t done, uint64_t now, char *text, size_t size)
{
    double elapsed = (double)(now - progress->started);
    double left = elapsed / (double)done * (double)(progress->total - done) / (double)second;
    uint64_t seconds = left < 1e9 ? (uint64_t)(left + 0.5) : (uint64_t)1e9;
    if (seconds < 60)
        snprintf(text, size, "%" PRIu64 " s left", seconds);
    else if (seconds < 3600)
        snprintf(text, size, "%" PRIu64 " min %02" PRIu64 " s left", seconds / 60, seconds % 60);
    else
        snprintf(text, size, "%" PRIu64 " h %02" PRIu64 " min left", seconds / 3600, seconds / 60 % 60);
}

static int bar_text(const progress_t *progress, uint64_t done, char *text)
{
    double part = (double)done / (double)progress->total;
    int filled = (int)(part * (double)BAR_MAX);
    int length = 0;
    text[length++] = '[';
    for (int i = 0; i < BAR_MAX; i++)
        text[length++] = i < filled ? '#' : '.';
    text[length++] = ']';
    return length + snprintf(text + length, 8, " %3d%%", (int)(part * 100));
}

static void draw(progress_t *progress, uint64_t done, uint64_t now)
{
    char left[64];
    char line[LINE_MAX_BYTES];
    remaining_text(progress, done, now, left, sizeof left);
    int length = bar_text(progress, done, line);
    length += snprintf(line + length, sizeof line - (size_t)length, "  step %" PRIu64 " of %" PRIu64 "  %s",
                       done, progress->total, left);
    int columns = os_terminal_columns(2);
    if (columns > 1 && length > columns - 1)
        length = columns - 1;
    int before = atomic_exchange(&progress->width, length);
    fprintf(stderr, "\r%.*s%*s", length, line, before > length ? before - length : 0, "");
    fflush(stderr);
}

void progress_show(progress_t *progress, uint64_t done)
{
    if (!progress->shown || done == 0)
        return;
    uint64_t now = os_clock_ns();
    if (now - progress->drawn < pause_between)
        return;
    progress->drawn = now;
    draw(progress, done, now);
}

void progress_erase(progress_t *progress)
{
    int width = atomic_exchange(&progress->width, 0);
    if (width == 0)
        return;
    fprintf(stderr, "\r%*s\r", width, "");
    fflush(stderr);
}
