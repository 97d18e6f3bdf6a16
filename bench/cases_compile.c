/* cases_compile.c - scenes from JSON: written one by one, and with a count.
 *
 * Each entity has a point_mass with three properties of its own, a render_data under a name of its own, and a
 * debug_name. The floor is the JSON library alone, reading the same text into its tree and freeing it: compiling
 * does that too. The text of the second pair is one entity with a count whose properties are lists.
 */
#include "cases.h"

#include "worlds.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct text_t {
    char *chars;
    size_t size, room;
} text_t;

typedef struct compile_t {
    bp_host_o *host;
    text_t each, count;
} compile_t;

static void append(text_t *text, const char *format, ...)
{
    va_list arguments;
    if (text->room - text->size < 512) {
        text->room = text->room * 2 + 4096;
        text->chars = realloc(text->chars, text->room);
        worlds_must(NULL, text->chars == NULL ? BP_ERROR_MEMORY : BP_OK, "writing JSON");
    }
    va_start(arguments, format);
    text->size += (size_t)vsnprintf(text->chars + text->size, text->room - text->size, format, arguments);
    va_end(arguments);
}

static void write_each(text_t *text, uint32_t size)
{
    append(text, "{\"entities\": [\n");
    for (uint32_t i = 0; i < size; i++) {
        double x = i * 0.37, y = i * 0.011;
        append(text, "  {\"name\": \"thing %u\", \"components\": {", i);
        append(text, "\"body\": {\"type\": \"point_mass\", \"mass\": %.3f, \"position\": [%.4f, %.4f, %u], ",
               1 + y, x, y, i);
        append(text, "\"velocity\": [%.3f, 0, %.3f]}, ", y, x);
        append(text, "\"fog\": {\"type\": \"render_data\", \"colour\": \"#%06x\", \"intensity\": 0.5}, ", i & 0xffffff);
        append(text, "\"debug_name\": {}}}%s\n", i + 1 < size ? "," : "");
    }
    append(text, "]}\n");
}

static void write_list(text_t *text, const char *name, uint32_t size, double factor)
{
    append(text, "\"%s\": [", name);
    for (uint32_t i = 0; i < size; i++)
        append(text, "[%.4f, %.3f, %u]%s", i * factor, i * 0.5, i, i + 1 < size ? "," : "]");
}

static void write_count(text_t *text, uint32_t size)
{
    append(text, "{\"entities\": [{\"name\": \"thing\", \"count\": %u, ", size);
    append(text, "\"components\": {\"body\": {\"type\": \"point_mass\", ");
    write_list(text, "position", size, 0.37);
    append(text, ", ");
    write_list(text, "velocity", size, 0.011);
    append(text, "}, \"fog\": {\"type\": \"render_data\", \"intensity\": 0.5}, \"debug_name\": {}}}]}\n");
}

static void *setup(uint32_t size)
{
    static const char *const plugins[] = {"point_mass", "render_data", "debug_name"};
    compile_t *s = worlds_memory(1, sizeof *s);
    s->host = bp_host_create(NULL);
    worlds_must(NULL, s->host == NULL ? BP_ERROR_MEMORY : BP_OK, "creating a host");
    for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", BENCH_PLUGIN_DIR, plugins[i]);
        worlds_must(s->host, bp_host_load_plugin(s->host, path, NULL, 0), "loading a plugin");
    }
    write_each(&s->each, size);
    write_count(&s->count, size);
    return s;
}

static void teardown(void *state)
{
    compile_t *s = state;
    bp_host_destroy(s->host);
    free(s->each.chars);
    free(s->count.chars);
    free(s);
}

static void read_text(const text_t *text)
{
    json_t *root = json_loadb(text->chars, text->size, JSON_REJECT_DUPLICATES, NULL);
    worlds_must(NULL, root == NULL ? BP_ERROR_MEMORY : BP_OK, "reading JSON");
    json_decref(root);
}

static void compile_text(compile_t *s, const text_t *text)
{
    bp_scene_o *scene;
    worlds_must(s->host, bp_scene_compile_text(s->host, "scene", text->chars, text->size, &scene), "compiling");
    bp_scene_close(scene);
}

static void read_each(void *state)
{
    read_text(&((compile_t *)state)->each);
}

static void compile_each(void *state)
{
    compile_text(state, &((compile_t *)state)->each);
}

static void read_count(void *state)
{
    read_text(&((compile_t *)state)->count);
}

static void compile_count(void *state)
{
    compile_text(state, &((compile_t *)state)->count);
}

static const uint32_t sizes[] = {1000, 10000, 100000, 0};

const group_t group_compile = {
    .name = "compile",
    .sizes = sizes,
    .setup = setup,
    .teardown = teardown,
    .takes_long = true,
    .sides =
        {
            {.name = "jansson_reads_each", .run = read_each},
            {.name = "each", .floor = "jansson_reads_each", .run = compile_each, .bound = AT_MOST_TO(10000, 10000)},
            {.name = "jansson_reads_count", .run = read_count},
            {.name = "count", .floor = "jansson_reads_count", .run = compile_count},
        },
};
