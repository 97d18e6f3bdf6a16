/* console.h - what the commands of the console share: its state, complaints, and words.
 *
 * What it does not do: it reads no lines (console_lines.h) and knows no command (console_commands.h).
 */
#ifndef HOST_PROGRAM_CONSOLE_H
#define HOST_PROGRAM_CONSOLE_H

#include "console_lines.h"
#include "console_words.h"
#include "messages.h"
#include "program.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct console_t {
    program_t *program;
    uint64_t line;    /* number of the present line, from 1 */
    bool interactive;
    bool styled;
    bool over;        /* quit was asked for */
    bp_spawn_t *spawns; /* what `spawn` brought, number 1 first; {0}: despawned */
    uint32_t spawn_count, spawn_room;
} console_t;

/* Complain about the present line, with its number where nobody sees it. Returns false. */
bool console_refuse(const console_t *console, const char *format, ...) PRINTS_LIKE(2, 3);

/* The same for two frequent reasons: a quote that is not closed, and memory. */
bool console_refuse_unclosed(const console_t *console);
bool console_refuse_memory(const console_t *console);

/* Cut up to `most` words off the rest; missing ones are NULL. Further words are refused. */
bool console_take_words(const console_t *console, char *rest, char **words, uint32_t most);

/* For commands that take none. */
bool console_takes_nothing(const console_t *console, char *rest);

#endif
