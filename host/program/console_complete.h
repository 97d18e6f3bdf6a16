/* console_complete.h - what TAB offers at the prompt.
 */
#ifndef HOST_PROGRAM_CONSOLE_COMPLETE_H
#define HOST_PROGRAM_CONSOLE_COMPLETE_H

#include "console.h"

/* Completions for a line_completer_t whose context is the console: commands, worlds, plugins and paths. */
void console_complete(void *context, const char *line, const char *word, completions_t *completions);

#endif
