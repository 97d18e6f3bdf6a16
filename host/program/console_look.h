/* console_look.h - commands that list what there is: plugins, worlds, entities, figures.
 *
 * Each takes the rest of its line, and returns false where it failed, which has been complained about.
 */
#ifndef HOST_PROGRAM_CONSOLE_LOOK_H
#define HOST_PROGRAM_CONSOLE_LOOK_H

#include "console.h"

bool console_plugins(console_t *console, char *rest);
bool console_worlds(console_t *console, char *rest);
bool console_entities(console_t *console, char *rest);
bool console_stats(console_t *console, char *rest);
bool console_report(console_t *console, char *rest);

#endif
