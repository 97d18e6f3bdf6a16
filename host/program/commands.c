/* commands.c - the commands that are short: compile, dump, import, plugins, run, schema. */
#include "../os/files.h"
#include "../os/os.h"
#include "arguments.h"
#include "figures.h"
#include "job.h"
#include "json_output.h"
#include "output.h"
#include "plugin_list.h"
#include "program.h"
#include "ranks.h"
#include "schema.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- compile ----------------------------------------------------------------------------------------------------- */

/* `backplane compile`: a scene of JSON to a blob.
 *
 * The output replaces an older one only when it is whole (bp_scene_write), so after a wrong scene the older file is
 * still there.
 */

enum { PATH_ROOM = 4096 };

static const char compile_usage[] = "compile SCENE.json [-o SCENE.bpe] [--ini INI | --plugins FOLDER] [--json]";

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
    printf("%s: %u %s, %llu %s, %zu bytes; %.1f ms\n", arguments->output, entities,
           entities == 1 ? "entity" : "entities", (unsigned long long)components,
           components == 1 ? "component" : "components", bytes, milliseconds);
    return STATUS_FINE;
}

static void say_where_from(const program_t *program, const scene_arguments_t *arguments)
{
    program_say_passed_over(program);
    if (arguments->ini == NULL && arguments->plugins == NULL)
        complain("only the plugins that came with this program were asked; --ini INI asks those of an ini, --plugins "
                 "FOLDER those of a folder");
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
            say_where_from(program, arguments); /* a type is unknown: a plugin that was not loaded may have it */
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
    if (!scene_arguments_read(compile_usage,
                              SCENE_TAKES_OUTPUT | SCENE_TAKES_INI | SCENE_TAKES_PLUGINS | SCENE_TAKES_JSON, count,
                              texts, &arguments))
        return STATUS_BAD_INPUT;
    if (arguments.file == NULL || (arguments.ini != NULL && arguments.plugins != NULL)) {
        complain(arguments.file == NULL ? "compile needs a scene" : "give --ini or --plugins, not both");
        complain("usage: backplane %s", compile_usage);
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

/* --- dump -------------------------------------------------------------------------------------------------------- */

/* `backplane dump`: a scene blob as text, or as the JSON that it could have been compiled from.
 *
 * No plugin is loaded: a blob says by itself what its fields are called and of which type they are.
 */

static void print(void *context, const char *text, size_t length)
{
    fwrite(text, 1, length, context);
}

int command_dump(const arguments_t *arguments)
{
    bp_host_o *host = bp_host_create(NULL);
    if (host == NULL) {
        complain("out of memory");
        return STATUS_FAILED;
    }
    bp_text_sink_i out = {.context = stdout, .write = print};
    bp_scene_o *scene;
    int status = STATUS_FINE;
    if (bp_scene_open(host, arguments->ini, &scene) != BP_OK)
        status = STATUS_BAD_INPUT;
    else if (bp_scene_dump(scene, arguments->json ? BP_DUMP_JSON : 0, &out) != BP_OK)
        status = STATUS_FAILED;
    if (status != STATUS_FINE)
        complain("%s", bp_host_error(host));
    bp_host_destroy(host);
    return status;
}

/* --- import ------------------------------------------------------------------------------------------------------ */

/* `backplane import`: runs backplane-import, which lies beside this program.
 *
 * Reading the files of other programs needs a large library, and such files make such libraries crash. With a program
 * of its own the engine is built without the library, and a crash only ends that program, with a sentence from this
 * one. Its arguments are handed on as they are.
 */

static bool find_program(char *path, size_t size)
{
    char folder[PATH_ROOM];
    if (!os_program_folder(folder, sizeof folder))
        return false;
    int length = snprintf(path, size, "%s/backplane-import%s", folder, os_program_suffix);
    if (length < 0 || (size_t)length >= size)
        return false;
    FILE *file = os_file_open(path, "rb");
    if (file == NULL)
        return false;
    fclose(file);
    return true;
}

static int refuse_missing(void)
{
    complain("import needs the program backplane-import beside this one, which is built where the library assimp is: "
             "install it (Debian: libassimp-dev) and run `make import`");
    return STATUS_FAILED;
}

static int run(const char *path, const char *const *arguments)
{
    int status;
    fflush(stdout);
    if (!os_program_run(path, arguments, &status)) {
        complain("%s cannot be started", path);
        return STATUS_FAILED;
    }
    if (status >= 0)
        return status;
    complain("import was ended by signal %d: the file is more than the library assimp can take; nothing was written",
             -status);
    return STATUS_FAILED;
}

int command_import(int count, char **texts)
{
    char path[PATH_ROOM];
    if (!find_program(path, sizeof path))
        return refuse_missing();
    const char **arguments = calloc((size_t)count + 2, sizeof *arguments);
    if (arguments == NULL) {
        complain("out of memory");
        return STATUS_FAILED;
    }
    arguments[0] = path;
    for (int i = 0; i < count; i++)
        arguments[i + 1] = texts[i];
    int status = run(path, arguments);
    free(arguments);
    return status;
}

/* --- plugins ----------------------------------------------------------------------------------------------------- */

/* `backplane plugins`: what an ini loads.
 *
 * The ini is carried out as `run` would do it, worlds and entities included, and not only its list of plugins:
 * options are checked by the plugins themselves, and a user who asks for the list of plugins should see errors of the
 * ini.
 */

static int print_plugins_as_json(const program_t *program)
{
    json_t *root = json_object();
    int bad = 0;
    bad |= json_object_set_new(root, "backplane", json_output_text(BACKPLANE_VERSION));
    bad |= json_object_set_new(root, "ini", json_output_text(program->ini));
    bad |= json_object_set_new(root, "plugins", plugin_list_json(program));
    return json_output_print(json_output_checked(root, bad));
}

int command_plugins(const arguments_t *arguments)
{
    program_t program;
    int status = program_open(&program, arguments->ini, false);
    if (status != STATUS_FINE)
        return status;
    status = arguments->json ? print_plugins_as_json(&program) : plugin_list_print(&program, terminal_styled());
    return program_close(&program, status);
}

/* --- run --------------------------------------------------------------------------------------------------------- */

/* `backplane run`: steps, then the report.
 *
 * The number of steps comes from --steps, else from the ini; where neither gives it the command fails and asks for
 * --steps. Nothing is printed to stdout before all steps are done, so that a failed run prints no part of a report, and
 * --json prints one object or nothing.
 */

/* The result of one run. */
typedef struct outcome_t {
    uint64_t steps;
    uint64_t nanoseconds; /* by the wall clock, steps only */
} outcome_t;

static int print_for_people(const program_t *program, const outcome_t *outcome)
{
    bool styled = terminal_styled();
    int status = report_print(program, styled);
    if (status == STATUS_FINE)
        status = figures_print_worlds(program, styled);
    putchar('\n');
    if (status == STATUS_FINE)
        status = figures_print_units(program, styled);
    uint32_t entities = program->api->entity->count(program->host);
    printf("\n%" PRIu64 " %s with %" PRIu32 " %s in %.3f s\n", outcome->steps,
           outcome->steps == 1 ? "step" : "steps", entities, entities == 1 ? "entity" : "entities",
           (double)outcome->nanoseconds / 1e9);
    return status;
}

static int print_run_as_json(const program_t *program, const outcome_t *outcome)
{
    json_t *root = json_object();
    uint32_t entities = program->api->entity->count(program->host);
    int bad = 0;
    bad |= json_object_set_new(root, "backplane", json_output_text(BACKPLANE_VERSION));
    bad |= json_object_set_new(root, "ini", json_output_text(program->ini));
    bad |= json_object_set_new(root, "steps", json_output_count(outcome->steps));
    bad |= json_object_set_new(root, "nanoseconds", json_output_count(outcome->nanoseconds));
    bad |= json_object_set_new(root, "entities", json_output_count(entities));
    bad |= json_object_set_new(root, "worlds", figures_worlds_json(program));
    bad |= json_object_set_new(root, "units", figures_units_json(program));
    bad |= json_object_set_new(root, "reports", report_json(program));
    return json_output_print(json_output_checked(root, bad));
}

static uint64_t most_steps(const program_t *program)
{
    uint64_t most = 0;
    bp_world_o *world;
    for (uint32_t i = 0; (world = program->api->world->at(program->host, i)) != NULL; i++) {
        bp_step_t clock = {.struct_size = sizeof clock};
        program->api->world->clock(world, &clock);
        most = clock.number > most ? clock.number : most;
    }
    return most;
}

/* Begin to record, or go on where a recording ends: `*done` steps have been taken then. */
static int begin_recording(program_t *program, const arguments_t *arguments, uint64_t *done)
{
    const char *path = arguments->record != NULL ? arguments->record : arguments->resume;
    if (path != NULL && job_is_concerned(program, path))
        return job_begin_recording(program, arguments, done);
    bp_recording_o *recording = NULL;
    bp_recording_t info = {.struct_size = sizeof info};
    bp_result_t result = BP_OK;
    if (arguments->record != NULL)
        result = bp_host_record(program->host, arguments->record, program->ini);
    if (arguments->resume != NULL)
        result = bp_recording_open(program->host, arguments->resume, &recording);
    if (recording != NULL) {
        bp_recording_info(recording, &info);
        *done = info.last - info.first;
        result = bp_recording_resume(recording);
        if (result == BP_OK)
            remark("%s: goes on behind step %" PRIu64 "%s", arguments->resume, info.last,
                   info.lost > 0 ? "; what came after it is not whole" : "");
        bp_recording_close(recording);
    }
    if (result == BP_OK)
        return STATUS_FINE;
    complain("%s%s%s", recording != NULL ? arguments->resume : "", recording != NULL ? ": " : "",
             bp_host_error(program->host));
    return result == BP_ERROR_MEMORY || result == BP_ERROR_IO ? STATUS_FAILED : STATUS_BAD_INPUT;
}

static int run_steps(program_t *program, const arguments_t *arguments)
{
    outcome_t outcome = {.steps = arguments->steps};
    uint64_t done = 0;
    if (!arguments->has_steps)
        outcome.steps = bp_host_configured_steps(program->host);
    if (!arguments->has_steps && !arguments->real_time && outcome.steps == 0) {
        complain("%s: no number of steps; write \"steps = 1000\" under [host], or give --steps 1000",
                 program->ini);
        return STATUS_BAD_INPUT;
    }
    if (program->ranks > 1 && arguments->verify) {
        complain("a run on several ranks is not verified: run it on one");
        return STATUS_BAD_INPUT;
    }
    int status = begin_recording(program, arguments, &done);
    if (status != STATUS_FINE)
        return status;
    uint64_t last = arguments->has_steps || outcome.steps > 0 ? outcome.steps : UINT64_MAX;
    outcome.steps = outcome.steps > done ? outcome.steps - done : 0;
    trace_file_t trace;
    const char *trace_path = program->rank == 0 ? arguments->trace : NULL; /* one file, so one writer */
    if (trace_path != NULL && !trace_file_begin(&trace, program->host, trace_path))
        return STATUS_BAD_INPUT;
    uint64_t started = os_clock_ns();
    status = arguments->real_time ? program_live(program, last, arguments->show, arguments->json)
                                  : program_step(program, outcome.steps, !arguments->json, arguments->verify);
    outcome.nanoseconds = os_clock_ns() - started;
    if (bp_host_record_end(program->host) != BP_OK && status == STATUS_FINE) {
        complain("%s", bp_host_error(program->host));
        status = STATUS_FAILED;
    }
    if (arguments->real_time)
        outcome.steps = most_steps(program);
    if (trace_path != NULL && !trace_file_end(&trace, program->host) && status == STATUS_FINE)
        status = STATUS_FAILED;
    if (status != STATUS_FINE)
        return status;
    if (program->ranks > 1)
        return ranks_print(program, outcome.steps, outcome.nanoseconds, arguments->json);
    return arguments->json ? print_run_as_json(program, &outcome) : print_for_people(program, &outcome);
}

/* Have the host remember its steps, for the time line of the page. Where plugins do not say how they are kept the host
 * remembers nothing, and the page has no time line. */
static void remember(const program_t *program)
{
    enum { MEBIBYTE = 1048576, MOST = 256 };
    bp_history_t history = {.struct_size = sizeof history};
    bp_host_history(program->host, &history);
    if (history.budget == 0)
        (void)bp_host_remember(program->host, (uint64_t)MOST * MEBIBYTE);
}

/* Add the plugin inspector to the plugins that the ini has brought. The inspector tells its address in the log. */
static int add_inspector(program_t *program, const char *port)
{
    bp_look_plugin_t plugin = {.struct_size = sizeof plugin};
    const bp_option_t option = {.name = "port", .value = port};
    for (uint32_t cursor = 0; program->look->plugin(program->host, &cursor, &plugin);) {
        if (strcmp(plugin.name, "inspector") != 0)
            continue;
        if (port == NULL)
            return STATUS_FINE;
        complain("--inspect %s: the ini loads the inspector itself; give its port there, under [plugin inspector]",
                 port);
        return STATUS_BAD_INPUT;
    }
    int status = program_add_plugin(program, "inspector", &option, port != NULL);
    if (status == STATUS_FINE && program->ranks == 1) /* one rank alone cannot go back in time */
        remember(program);
    if (status == STATUS_FINE)
        bp_host_poll(program->host); /* during this call the inspector begins to listen, or logs why it cannot */
    return status == STATUS_FINE && atomic_load(&program->errors) > 0 ? STATUS_BAD_INPUT : status;
}

int command_run(const arguments_t *arguments)
{
    program_t program;
    bool talking = arguments->real_time || arguments->verbose || arguments->inspect;
    int status = program_open(&program, arguments->ini, talking);
    if (status != STATUS_FINE)
        return status;
    program.follows = true; /* results of reloads are printed without -v, above all refusals */
    if (arguments->inspect && program.rank == 0) /* the page of rank 0 also shows the other ranks */
        status = add_inspector(&program, arguments->port);
    if (status != STATUS_FINE)
        return program_close(&program, status);
    return program_close(&program, run_steps(&program, arguments));
}

/* --- schema ------------------------------------------------------------------------------------------------------ */

/* `backplane schema`: what scenes may hold, for editors and validators. */

static const char schema_usage[] = "schema [INI | --plugins FOLDER]";

int command_schema(int count, char **texts)
{
    scene_arguments_t arguments;
    program_t program;
    if (!scene_arguments_read(schema_usage, SCENE_TAKES_PLUGINS, count, texts, &arguments))
        return STATUS_BAD_INPUT;
    if (arguments.file != NULL && arguments.plugins != NULL) {
        complain("give an ini or --plugins, not both");
        complain("usage: backplane %s", schema_usage);
        return STATUS_BAD_INPUT;
    }
    int status = program_open_plugins(&program, arguments.file, arguments.plugins);
    return status != STATUS_FINE ? status : program_close(&program, json_output_print(schema_of_scenes(&program)));
}
