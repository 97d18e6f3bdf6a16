/* console_commands.h - doing a line, and the names of all commands.
 */
#ifndef HOST_PROGRAM_CONSOLE_COMMANDS_H
#define HOST_PROGRAM_CONSOLE_COMMANDS_H

#include "console.h"

/* Do one line, which is cut into words in place. false where it failed, which has been complained about. */
bool console_do(console_t *console, char *line);

/* The name of the `index`-th command, NULL past the last. */
const char *console_command_name(uint32_t index);

#endif
