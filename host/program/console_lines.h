/* console_lines.h - where the console's lines come from: a person at a terminal, or a pipe.
 *
 * With a person, and a build that has libedit, lines are edited, kept in a history and completed with TAB;
 * without libedit there is a prompt only. A pipe gets neither.
 *
 * Not here: the meaning of a line (console.h).
 */
#ifndef HOST_PROGRAM_CONSOLE_LINES_H
#define HOST_PROGRAM_CONSOLE_LINES_H

#include <stdbool.h>
#include <stddef.h>

enum {
    LINE_BYTES_MAX = 65535,  /* longest line, its end not counted */
    COMPLETIONS_MAX = 256,   /* completions offered at most */
    COMPLETION_BYTES_MAX = 256
};

/* Words that may stand where the last one stands. */
typedef struct completions_t {
    char texts[COMPLETIONS_MAX][COMPLETION_BYTES_MAX];
    bool final[COMPLETIONS_MAX]; /* the word is complete: a blank follows */
    size_t count;
} completions_t;

/* Offer `before` and `text` put together; a text that is too long, there already, or one too many, is left out. */
void completions_add(completions_t *completions, const char *before, const char *text, bool final);

/* Asks for completions: `line` is the line up to the cursor, `word` where its last word begins. */
typedef struct line_completer_t {
    void *context;
    void (*complete)(void *context, const char *line, const char *word, completions_t *completions);
} line_completer_t;

typedef struct lines_t lines_t;

typedef enum line_end_t { LINE_READ, LINE_TOO_LONG, LINES_OVER, LINES_BROKEN } line_end_t;

/* The console's work until stdin can be read: `wait` comes back then, or earlier. false: no further line is wanted, as
 * if the input were at its end. */
typedef struct line_waiter_t {
    void *context;
    bool (*wait)(void *context);
} line_waiter_t;

/* Lines of stdin, which no other code may read meanwhile. `completer` and `waiter` must live as long as they do. NULL
 * when out of memory. */
lines_t *lines_open(const line_completer_t *completer, const line_waiter_t *waiter);
void lines_close(lines_t *lines);

/* Is there a person at the other end? */
bool lines_interactive(const lines_t *lines);

/* Take the prompt, with what has been typed behind it, off the screen, so that something else can be printed there; and
 * put both below that. Nothing happens where no line is being read, or stdin is no terminal. */
void lines_hide(lines_t *lines);
void lines_show(lines_t *lines);

/* The next line without its end; the caller may write to the line, which is good until the next call. LINE_TOO_LONG:
 * the line has been skipped. LINES_BROKEN: the input cannot be read. */
line_end_t lines_next(lines_t *lines, char **line);

#endif
