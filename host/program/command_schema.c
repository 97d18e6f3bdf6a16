/* command_schema.c - `backplane schema`: what scenes may hold, for editors and validators. */
#include "json_output.h"
#include "messages.h"
#include "schema.h"
#include "scene_arguments.h"

#include <stddef.h>

static const char usage[] = "schema [INI | --plugins FOLDER]";

int command_schema(int count, char **texts)
{
    scene_arguments_t arguments;
    program_t program;
    if (!scene_arguments_read(usage, SCENE_TAKES_PLUGINS, count, texts, &arguments))
        return STATUS_BAD_INPUT;
    if (arguments.file != NULL && arguments.plugins != NULL) {
        complain("give an ini or --plugins, not both");
        complain("usage: backplane %s", usage);
        return STATUS_BAD_INPUT;
    }
    int status = program_open_plugins(&program, arguments.file, arguments.plugins);
    return status != STATUS_FINE ? status : program_close(&program, json_output_print(schema_of_scenes(&program)));
}
