/* console_scenes.h - commands of the console that work on many entities at a time.
 *
 * Each takes the rest of its line, and returns false where it failed, which has been complained about; then nothing has
 * changed.
 *
 * What it does not do: single values (console_values.h).
 */
#ifndef HOST_PROGRAM_CONSOLE_SCENES_H
#define HOST_PROGRAM_CONSOLE_SCENES_H

#include "console.h"

bool console_spawn(console_t *console, char *rest);
bool console_despawn(console_t *console, char *rest);
bool console_save(console_t *console, char *rest);
bool console_load(console_t *console, char *rest);
bool console_destroy(console_t *console, char *rest);
bool console_tree(console_t *console, char *rest);

#endif
