/* console_values.h - commands that print and set values.
 *
 * Each takes the rest of its line, and returns false where it failed, which has been complained about.
 */
#ifndef HOST_PROGRAM_CONSOLE_VALUES_H
#define HOST_PROGRAM_CONSOLE_VALUES_H

#include "console.h"

bool console_get(console_t *console, char *rest);
bool console_set(console_t *console, char *rest);

#endif
