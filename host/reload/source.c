/* source.c - from a source to a command of the shell, and from that to a library in a folder of this process.
 *
 * The library keeps the name of its source, since the plugin gets its name from the file. Two sources of one name get
 * libraries of different names: the second one has a number behind it.
 */
#include "source.h"

#include "../base/file.h"
#include "../os/os.h"
#include "process.h"

#include <stdio.h>
#include <string.h>

enum { NAP_NS = 2000000, NOT_FOUND_BY_SHELL = 127 };

typedef struct language_t {
    uint32_t compiler, flags; /* SOURCE_... */
    const char *command, *usual; /* without a setting */
} language_t;

#if defined(_WIN32)
static const char c_compiler[] = "gcc", cxx_compiler[] = "g++";
#else
static const char c_compiler[] = "cc", cxx_compiler[] = "c++";
#endif

static const language_t c_language = {SOURCE_CC, SOURCE_CFLAGS, c_compiler, "-O2 -g -Wall"};
static const language_t cxx_language = {SOURCE_CXX, SOURCE_CXXFLAGS, cxx_compiler, "-std=c++20 -O2 -g -Wall"};
static const language_t rust_language = {SOURCE_RUSTC, SOURCE_RUSTFLAGS, "rustc", "-O -g"};

const char *const source_keys[] = {"cc", "cflags", "cxx", "cxxflags", "rustc", "rustflags", NULL};

static const language_t *language_of(const char *path)
{
    static const struct { const char *ending; const language_t *language; } endings[] = {
        {".c", &c_language},     {".cc", &cxx_language},  {".cpp", &cxx_language},
        {".cxx", &cxx_language}, {".rs", &rust_language},
    };
    char stem[FILE_PATH_MAX];
    file_stem(path, stem, sizeof stem);
    const char *ending = strrchr(path, '.');
    bool hidden = ending == NULL || strchr(ending, '/') != NULL || strchr(ending, '\\') != NULL || stem[0] == '.';
    for (size_t i = 0; !hidden && i < sizeof endings / sizeof endings[0]; i++) {
        if (strcmp(ending, endings[i].ending) == 0)
            return endings[i].language;
    }
    return NULL;
}

bool source_is(const char *path)
{
    return language_of(path) != NULL;
}

/* --- the folder --------------------------------------------------------------------------------------------------- */

void sources_init(sources_t *sources, loader_t *loader)
{
    memset(sources, 0, sizeof *sources);
    memory_init_child(&sources->memory, "sources", &loader->base->memory);
    sources->loader = loader;
}

/* The path of NAME.d beside NAME.so, in which the compiler lists the files that it has read. */
static bool rules_of(const char *library, char *path, size_t size)
{
    size_t length = strlen(library) - strlen(os_library_suffix);
    int written = snprintf(path, size, "%.*s.d", (int)length, library);
    return written > 0 && (size_t)written < size;
}

void sources_free(sources_t *sources)
{
    for (uint32_t i = 0; i < sources->count; i++) {
        memory_free_text(&sources->memory, sources->made[i].source);
        memory_free_text(&sources->memory, sources->made[i].library);
    }
    memory_free(&sources->memory, sources->made, sources->capacity * sizeof *sources->made);
    sources->made = NULL;
    sources->count = sources->capacity = 0;
    if (sources->folder != NULL)
        temporary_remove(&sources->owner, sources->folder); /* with what compilers that were ended have left in it */
    memory_free_text(&sources->memory, sources->folder);
    sources->folder = NULL;
}

/* A folder below `parent` (NULL: TMPDIR) that libraries can be written to and loaded from. */
static bool make_folder(sources_t *sources, const char *parent, const char *name, char *path, size_t size)
{
    temporary_sweep(parent, name);
    if (!temporary_create(&sources->owner, parent, name, path, size))
        return false;
    if (os_folder_runs_code(path))
        return true;
    temporary_remove(&sources->owner, path);
    return false;
}

/* The folder below TMPDIR; beside the source where TMPDIR cannot be written, or where code on its file system may not
 * be run. */
static bool make_folder_for(sources_t *sources, const char *source, char *path, size_t size)
{
    static const char name[] = ".backplane-made";
    char parent[FILE_PATH_MAX];
    if (make_folder(sources, NULL, name + 1, path, size))
        return true;
    if (!file_path_beside(source, ".", parent, sizeof parent) || !make_folder(sources, parent, name, path, size))
        return false;
    log_write(&sources->loader->base->log, BP_LOG_WARNING, "plugin",
              "compiled plugins lie in %s, since TMPDIR cannot be written, or no code be run from there", path);
    return true;
}

/* The folder, made anew where it has been removed; the paths of libraries are good only while it stays. */
static bp_result_t need_folder(sources_t *sources, const char *source)
{
    char path[FILE_PATH_MAX];
    error_text_t *error = &sources->loader->base->error;
    if (sources->folder != NULL && !os_path_is_missing(sources->folder))
        return BP_OK;
    if (sources->folder != NULL)
        return os_folder_create(sources->folder)
                   ? BP_OK
                   : error_set(error, BP_ERROR_IO, "the folder of compiled plugins, %s, is gone", sources->folder);
    if (!make_folder_for(sources, source, path, sizeof path))
        return error_set(error, BP_ERROR_IO,
                         "%s: there is no folder for the plugin that is compiled of it: neither TMPDIR nor the folder "
                         "of the source can be written and run from; set TMPDIR to one that can",
                         source);
    sources->folder = memory_copy_text(&sources->memory, path);
    if (sources->folder != NULL)
        return BP_OK;
    temporary_remove(&sources->owner, path);
    return error_memory(error, "compiling a plugin");
}

static source_made_t *find_made(const sources_t *sources, const char *path)
{
    for (uint32_t i = 0; i < sources->count; i++) {
        if (strcmp(sources->made[i].source, path) == 0)
            return &sources->made[i];
    }
    return NULL;
}

static bool is_taken(const sources_t *sources, const char *library)
{
    for (uint32_t i = 0; i < sources->count; i++) {
        if (strcmp(sources->made[i].library, library) == 0)
            return true;
    }
    return false;
}

static bool name_library(const sources_t *sources, const char *path, char *library, size_t size)
{
    char stem[256], name[320];
    file_stem(path, stem, sizeof stem);
    for (uint32_t number = 1; number <= sources->count + 1; number++) {
        if (number == 1)
            snprintf(name, sizeof name, "%s%s", stem, os_library_suffix);
        else
            snprintf(name, sizeof name, "%s-%u%s", stem, number, os_library_suffix);
        if (!file_path_join(sources->folder, name, library, size))
            return false;
        if (!is_taken(sources, library))
            return true;
    }
    return false;
}

static bp_result_t need_made(sources_t *sources, const char *path, source_made_t **out)
{
    char library[FILE_PATH_MAX];
    error_text_t *error = &sources->loader->base->error;
    bp_result_t result = need_folder(sources, path);
    if (result != BP_OK || (*out = find_made(sources, path)) != NULL)
        return result;
    if (!name_library(sources, path, library, sizeof library))
        return error_set(error, BP_ERROR_LIMIT, "%s: the path is too long", path);
    source_made_t made = {.source = memory_copy_text(&sources->memory, path),
                          .library = memory_copy_text(&sources->memory, library)};
    if (made.source != NULL && made.library != NULL &&
        memory_reserve(&sources->memory, &sources->made, &sources->capacity, sources->count + 1u,
                       sizeof *sources->made)) {
        *out = &sources->made[sources->count++];
        **out = made;
        return BP_OK;
    }
    memory_free_text(&sources->memory, made.source);
    memory_free_text(&sources->memory, made.library);
    return error_memory(error, "compiling a plugin");
}

/* --- the headers -------------------------------------------------------------------------------------------------- */

static bool holds_headers(const char *base, const char *place, char *folder, size_t size)
{
    char file[FILE_PATH_MAX];
    int length = snprintf(folder, size, "%s/%s", base, place);
    if (length < 0 || (size_t)length >= size)
        return false;
    length = snprintf(file, sizeof file, "%s/bp_plugin.h", folder);
    return length > 0 && (size_t)length < sizeof file && file_exists(file);
}

bool source_headers(char *folder, size_t size)
{
    /* Beside an installed program or library; beside the source tree's build folder, or one within it. */
    static const char *const places[] = {"../include/backplane", "../../include/backplane", "../plugin_api",
                                         "../../plugin_api"};
    char program[FILE_PATH_MAX - 64], library[FILE_PATH_MAX - 64];
    bool has_program = os_program_folder(program, sizeof program);
    bool has_library = os_library_folder(library, sizeof library);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if ((has_program && holds_headers(program, places[i], folder, size)) ||
            (has_library && holds_headers(library, places[i], folder, size)))
            return true;
    }
    return false;
}

/* --- the command -------------------------------------------------------------------------------------------------- */

/* A command as it grows; what does not fit leaves `size` in `length`. */
typedef struct command_t {
    char *chars;
    size_t size, length;
} command_t;

static void put(command_t *command, const char *text)
{
    size_t length = strlen(text);
    if (command->length + length >= command->size) {
        command->length = command->size;
        return;
    }
    memcpy(command->chars + command->length, text, length + 1);
    command->length += length;
}

/* A text as one word of the shell, or the end of one. */
static void put_word(command_t *command, const char *text)
{
#if defined(_WIN32)
    put(command, "\"");
    put(command, text);
    put(command, "\"");
#else
    put(command, "'");
    for (; *text != '\0'; text++)
        put(command, *text == '\'' ? "'\\''" : (const char[]){*text, '\0'});
    put(command, "'");
#endif
}

/* The source: a path that begins with a minus is no option. */
static void put_source(command_t *command, const char *path)
{
    put(command, path[0] == '-' ? " ./" : " ");
    put_word(command, path);
    put(command, " ");
}

static const char *setting(const sources_t *sources, uint32_t key, const char *usual)
{
    return sources->settings.text[key][0] != '\0' ? sources->settings.text[key] : usual;
}

/* `headers` "": they lie where pkg-config knows. Libraries that a setting names come behind what needs them. */
static void put_c(command_t *command, const sources_t *sources, const language_t *language, const source_made_t *made,
                  const char *headers)
{
    char rules[FILE_PATH_MAX] = "";
    const char *compiler = setting(sources, language->compiler, language->command);
    rules_of(made->library, rules, sizeof rules);
    put(command, compiler);
    put(command, headers[0] == '\0' ? " -shared -fPIC $(pkg-config --cflags backplane)" : " -shared -fPIC -I");
    if (headers[0] != '\0')
        put_word(command, headers);
    put_source(command, made->source);
#if !defined(_WIN32)
    if (language == &cxx_language) { /* unique symbols would keep each version in memory for ever */
        put(command, "$(");
        put(command, compiler);
        put(command, " -fno-gnu-unique -E -x c++ /dev/null >/dev/null 2>&1 && echo -fno-gnu-unique) ");
    }
#endif
    put(command, setting(sources, language->flags, language->usual));
    put(command, " -lm -MMD -MF ");
    put_word(command, rules);
    put(command, " -o ");
    put_word(command, made->library);
}

static void put_rust(command_t *command, const sources_t *sources, const source_made_t *made, const char *headers)
{
    char rules[FILE_PATH_MAX] = "", stem[256];
    rules_of(made->library, rules, sizeof rules);
    file_stem(made->source, stem, sizeof stem);
#if defined(_WIN32)
    put(command, "set BACKPLANE_HEADERS=");
    put(command, headers);
    put(command, "&& ");
#else
    put(command, "BACKPLANE_HEADERS=");
    put_word(command, headers);
    put(command, " ");
#endif
    put(command, setting(sources, SOURCE_RUSTC, rust_language.command));
    put(command, " --edition 2021 --crate-type cdylib -C panic=abort -C link-arg=-lc --crate-name ");
    put_word(command, stem);
    put_source(command, made->source);
    put(command, setting(sources, SOURCE_RUSTFLAGS, rust_language.usual));
    put(command, " --out-dir "); /* of what is made on the way */
    put_word(command, sources->folder);
    put(command, " --emit=link=");
    put_word(command, made->library);
    put(command, ",dep-info=");
    put_word(command, rules);
}

/* A compiler's temporary files go to this process's folder, so that they are removed also where the compiler is
 * killed. */
static void put_folder(command_t *command, const sources_t *sources)
{
#if !defined(_WIN32)
    put(command, "TMPDIR=");
    put_word(command, sources->folder);
    put(command, "; export TMPDIR; ");
#else
    (void)command, (void)sources;
#endif
}

bp_result_t sources_command(sources_t *sources, const char *path, char *text, size_t size)
{
    char headers[FILE_PATH_MAX] = "";
    error_text_t *error = &sources->loader->base->error;
    const source_made_t *made = find_made(sources, path);
    const language_t *language = language_of(path);
    command_t command = {.chars = text, .size = size};
    bool known = source_headers(headers, sizeof headers);
    if (made == NULL || language == NULL)
        return error_set(error, BP_ERROR_NOT_FOUND, "%s: it has not been compiled before", path);
    if (!known && (language == &rust_language || strcmp(os_library_suffix, ".dll") == 0))
        return error_set(error, BP_ERROR_NOT_FOUND,
                         "%s: the headers for plugins are neither beside the program nor beside the library", path);
    if (!known)
        headers[0] = '\0';
    put_folder(&command, sources);
    if (language == &rust_language)
        put_rust(&command, sources, made, headers);
    else
        put_c(&command, sources, language, made, headers);
    return command.length < size ? BP_OK : error_set(error, BP_ERROR_LIMIT, "%s: the command that compiles it has more "
                                                     "than %zu bytes", path, size - 1);
}

bp_result_t sources_set(sources_t *sources, const char *key, const char *text)
{
    error_text_t *error = &sources->loader->base->error;
    for (uint32_t i = 0; i < SOURCE_KEYS; i++) {
        if (strcmp(source_keys[i], key) != 0)
            continue;
        if (strlen(text) >= SOURCE_SETTING)
            return error_set(error, BP_ERROR_ARGUMENT, "%s: at most %d bytes", key, SOURCE_SETTING - 1);
        snprintf(sources->settings.text[i], SOURCE_SETTING, "%s", text);
        return BP_OK;
    }
    return error_set(error, BP_ERROR_ARGUMENT,
                     "'%s' is no setting of a compiler; there are cc, cflags, cxx, cxxflags, rustc, rustflags", key);
}

/* --- compiling ---------------------------------------------------------------------------------------------------- */

void source_tell(base_t *base, const char *output)
{
    while (*output != '\0') {
        size_t length = strcspn(output, "\n");
        if (length > 0)
            log_write(&base->log, BP_LOG_WARNING, "build", "%.*s", (int)(length < 800 ? length : 800), output);
        output += length + (output[length] == '\n');
    }
}

/* The first line of a compiler that speaks of an error; else the first line. */
static void find_complaint(const char *output, char *line, size_t size)
{
    const char *error = strstr(output, "error"), *begin = output;
    for (const char *at = output; error != NULL && at < error; at++) {
        if (*at == '\n')
            begin = at + 1;
    }
    size_t length = strcspn(begin, "\n");
    snprintf(line, size, "%.*s", (int)(length < size ? length : size - 1), begin);
}

/* Wait for a compiler and keep what it says, as far as there is room. `output` is cleared, and ends with a zero. */
static process_end_t wait_for(process_t *process, char *output, size_t size)
{
    char rest[512];
    size_t length = 0, got;
    process_end_t end = {.state = PROCESS_RUNNING};
    for (bool over = false; !over; over = end.state != PROCESS_RUNNING) {
        end = process_state(process);
        while ((got = process_read(process, length + 1 < size ? output + length : rest,
                                   length + 1 < size ? size - 1 - length : sizeof rest)) > 0)
            length += length + 1 < size ? got : 0;
        if (end.state == PROCESS_RUNNING)
            os_sleep_ns(NAP_NS);
    }
    return end;
}

static bp_result_t judge_end(const sources_t *sources, const char *path, const process_end_t *end, const char *output)
{
    char complaint[256];
    error_text_t *error = &sources->loader->base->error;
    const language_t *language = language_of(path);
    const char *compiler = setting(sources, language->compiler, language->command);
    if (end->state != PROCESS_ENDED)
        return error_set(error, BP_ERROR_FAILED, "%s: its compiler was ended by %s", path, end->signal);
    if (end->code == 0 && file_exists(find_made(sources, path)->library))
        return BP_OK;
    if (end->code == 0)
        return error_set(error, BP_ERROR_FAILED, "%s: '%s' has made no library of it", path, compiler);
    if (end->code == NOT_FOUND_BY_SHELL)
        return error_set(error, BP_ERROR_NOT_FOUND,
                         "%s: there is no compiler '%s' to make a plugin of it; install one, or say which by %s = in "
                         "[host]", path, compiler, source_keys[language->compiler]);
    find_complaint(output, complaint, sizeof complaint);
    return error_set(error, BP_ERROR_FAILED, "%s: it does not compile ('%s' ended with %d)%s%s", path, compiler,
                     end->code, complaint[0] == '\0' ? "" : ": ", complaint);
}

static bp_result_t compile(sources_t *sources, const char *path, char *output)
{
    char command[SOURCE_COMMAND];
    bp_result_t result = sources_command(sources, path, command, sizeof command);
    if (result != BP_OK)
        return result;
    sources_begin(sources, path);
    process_t *process = process_start(&sources->memory, command, NULL);
    if (process == NULL)
        return error_set(&sources->loader->base->error, BP_ERROR_FAILED,
                         "%s: its compiler cannot be started: no process can be had", path);
    process_end_t end = wait_for(process, output, SOURCE_OUTPUT);
    source_tell(sources->loader->base, output);
    result = judge_end(sources, path, &end, output);
    process_free(process);
    return result;
}

bp_result_t sources_compile(sources_t *sources, const char *path, const char **library)
{
    error_text_t *error = &sources->loader->base->error;
    source_made_t *made;
    if (!file_exists(path))
        return error_set(error, BP_ERROR_NOT_FOUND, "%s: there is no such source", path);
    bp_result_t result = need_made(sources, path, &made);
    if (result != BP_OK)
        return result;
    *library = made->library;
    char *output = memory_new(&sources->memory, SOURCE_OUTPUT);
    if (output == NULL)
        return error_memory(error, "compiling a plugin");
    result = compile(sources, path, output);
    memory_free(&sources->memory, output, SOURCE_OUTPUT);
    return result;
}

void sources_begin(sources_t *sources, const char *path)
{
    source_made_t *made = find_made(sources, path);
    if (made != NULL)
        file_stamp(path, &made->stamp);
}

bool sources_is_stale(const sources_t *sources, const char *path)
{
    file_stamp_t stamp;
    const source_made_t *made = find_made(sources, path);
    return made != NULL && file_stamp(path, &stamp) && memcmp(&stamp, &made->stamp, sizeof stamp) != 0;
}
