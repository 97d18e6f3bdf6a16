/* console.h - the console's commands, and what they share.
 *
 * What it does not do: it reads no lines (console_lines.h).
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

/* Do one line, which is cut into words in place. false where it failed, which has been complained about. */
bool console_do(console_t *console, char *line);

/* Complain about the present line, with its number where nobody sees it. Returns false. */
bool console_refuse(const console_t *console, const char *format, ...) PRINTS_LIKE(2, 3);

/* The same for two frequent reasons: a quote that is not closed, and memory. */
bool console_refuse_unclosed(const console_t *console);
bool console_refuse_memory(const console_t *console);

/* Cut up to `most` words off the rest; missing ones are NULL. Further words are refused. */
bool console_take_words(const console_t *console, char *rest, char **words, uint32_t most);

/* Completions for a line_completer_t whose context is the console: commands, worlds, plugins and paths. */
void console_complete(void *context, const char *line, const char *word, completions_t *completions);

/* The name of the `index`-th command, NULL past the last. */
const char *console_command_name(uint32_t index);

#endif
