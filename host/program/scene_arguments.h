/* scene_arguments.h - the command line of the commands about scenes: compile and schema.
 *
 * What it does not do: it opens no file.
 */
#ifndef HOST_PROGRAM_SCENE_ARGUMENTS_H
#define HOST_PROGRAM_SCENE_ARGUMENTS_H

#include <stdbool.h>

typedef struct scene_arguments_t {
    const char *file; /* the one that is no option; NULL where none is given */
    const char *output, *ini, *plugins;
    bool json;
} scene_arguments_t;

enum {
    SCENE_TAKES_OUTPUT = 1u << 0,
    SCENE_TAKES_INI = 1u << 1,
    SCENE_TAKES_PLUGINS = 1u << 2,
    SCENE_TAKES_JSON = 1u << 3
};

/* Read the texts behind the command's name. Complains, ending with `usage`, and returns false where they are not right. */
bool scene_arguments_read(const char *usage, unsigned takes, int count, char **texts, scene_arguments_t *arguments);

#endif
