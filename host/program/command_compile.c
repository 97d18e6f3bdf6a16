/* command_compile.c - `backplane compile`: a scene of JSON to a blob.
 *
 * The output replaces an older one only when it is whole (bp_scene_write), so a scene that is wrong leaves what was there.
 */
#include "json_output.h"
#include "messages.h"
#include "program.h"
#include "scene_arguments.h"

#include "../base/os.h"

#include <stdio.h>
#include <string.h>

enum { PATH_ROOM = 4096 };

static const char usage[] = "compile SCENE.json [-o SCENE.bpe] [--ini INI | --plugins FOLDER] [--json]";

/* SCENE.bpe beside SCENE.json. */
static bool name_output(const char *scene, char *path, size_t size)
{
    size_t length = strlen(scene);
    if (length > 5 && strcmp(scene + length - 5, ".json") == 0)
        length -= 5;
    int written = snprintf(path, size, "%.*s.bpe", (int)length, scene);
    return written > 0 && (size_t)written < size;
}

static int print_json(const scene_arguments_t *arguments, const bp_scene_o *scene, size_t bytes, double milliseconds)
{
    json_t *root = json_object();
    int bad = 0;
    bad |= json_object_set_new(root, "scene", json_output_text(arguments->file));
    bad |= json_object_set_new(root, "blob", json_output_text(arguments->output));
    bad |= json_object_set_new(root, "entities", json_output_count(bp_scene_entity_count(scene)));
    bad |= json_object_set_new(root, "components", json_output_count(bp_scene_component_count(scene)));
    bad |= json_object_set_new(root, "bytes", json_output_count(bytes));
    bad |= json_object_set_new(root, "milliseconds", json_real(milliseconds));
    return json_output_print(json_output_checked(root, bad));
}

static int print_summary(const scene_arguments_t *arguments, const bp_scene_o *scene, double milliseconds)
{
    size_t bytes;
    bp_scene_bytes(scene, &bytes);
    if (arguments->json)
        return print_json(arguments, scene, bytes, milliseconds);
    uint32_t entities = bp_scene_entity_count(scene);
    uint64_t components = bp_scene_component_count(scene);
    printf("%s: %u %s, %llu %s, %zu bytes; %.1f ms\n", arguments->output, entities, entities == 1 ? "entity" : "entities",
           (unsigned long long)components, components == 1 ? "component" : "components", bytes, milliseconds);
    return STATUS_FINE;
}

static int compile(const program_t *program, const scene_arguments_t *arguments)
{
    bp_scene_o *scene;
    uint64_t begin = os_clock_ns();
    bp_result_t result = bp_scene_compile(program->host, arguments->file, &scene);
    double milliseconds = (double)(os_clock_ns() - begin) / 1e6;
    if (result != BP_OK) {
        complain("%s", bp_host_error(program->host));
        if (result == BP_ERROR_NOT_FOUND && strstr(bp_host_error(program->host), " type '") != NULL)
            program_say_passed_over(program); /* a type is unknown: perhaps one of them has it */
        return result == BP_ERROR_MEMORY ? STATUS_FAILED : STATUS_BAD_INPUT;
    }
    result = bp_scene_write(scene, arguments->output);
    int status = result == BP_OK ? print_summary(arguments, scene, milliseconds) : STATUS_FAILED;
    if (result != BP_OK)
        complain("%s", bp_host_error(program->host));
    bp_scene_close(scene);
    return status;
}

int command_compile(int count, char **texts)
{
    scene_arguments_t arguments;
    program_t program;
    char output[PATH_ROOM];
    if (!scene_arguments_read(usage, SCENE_TAKES_OUTPUT | SCENE_TAKES_INI | SCENE_TAKES_PLUGINS | SCENE_TAKES_JSON, count, texts, &arguments))
        return STATUS_BAD_INPUT;
    if (arguments.file == NULL || (arguments.ini != NULL && arguments.plugins != NULL)) {
        complain(arguments.file == NULL ? "compile needs a scene" : "give --ini or --plugins, not both");
        complain("usage: backplane %s", usage);
        return STATUS_BAD_INPUT;
    }
    if (arguments.output == NULL && !name_output(arguments.file, output, sizeof output)) {
        complain("the name of the scene is too long");
        return STATUS_BAD_INPUT;
    }
    arguments.output = arguments.output != NULL ? arguments.output : output;
    int status = program_open_plugins(&program, arguments.ini, arguments.plugins);
    return status != STATUS_FINE ? status : program_close(&program, compile(&program, &arguments));
}
