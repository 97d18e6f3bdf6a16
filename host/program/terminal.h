/* terminal.h - how output looks on a terminal: bold text, and control characters made visible.
 *
 * What it does not do: it moves no cursor.
 */
#ifndef HOST_PROGRAM_TERMINAL_H
#define HOST_PROGRAM_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* May escape sequences be written to stdout? On a terminal that knows them, and where NO_COLOR is not set. */
bool terminal_styled(void);

/* The sequences that begin and end a heading; "" where `styled` is false. */
const char *terminal_heading(bool styled);
const char *terminal_plain(bool styled);

/* Number of bytes that `text` has once its control characters are written as \n, \t or \x1b: names and
 * texts come from files, and must neither break a line nor command a terminal. `shown` has room for that
 * many bytes and a closing zero. */
size_t terminal_shown_length(const char *text);
void terminal_show(const char *text, char *shown);

/* Print a text likewise. */
void terminal_print(FILE *out, const char *text);

#endif
