/* arguments.c - options and the ini.
 *
 * Options may stand before and behind the ini, as `--steps 10` or `--steps=10`; after `--` no text is an option, for an
 * ini with a name that begins with a dash. Every complaint ends with the command's usage.
 */
#include "arguments.h"

#include "output.h"

#include <stddef.h>
#include <string.h>

/* The texts that are left to read. */
typedef struct reader_t {
    const command_t *command;
    char **texts;
    int count;
    int next;
    bool options_over;
} reader_t;

static bool usage(const command_t *command)
{
    complain("usage: backplane %s", command->usage);
    return false;
}

static bool refuse_option(const command_t *command, const char *option, size_t length)
{
    char word[64];
    char hint[96];
    if (length >= sizeof word)
        length = sizeof word - 1;
    memcpy(word, option, length);
    word[length] = '\0';
    guess_t guess = {.wanted = word};
    if (command->takes & TAKES_STEPS)
        guess_consider(&guess, "--steps");
    if (command->takes & TAKES_JSON)
        guess_consider(&guess, "--json");
    if (command->takes & TAKES_REAL_TIME) {
        guess_consider(&guess, "--real-time");
        guess_consider(&guess, "--show");
    }
    if (command->takes & TAKES_TRACE)
        guess_consider(&guess, "--trace");
    if (command->takes & TAKES_VERBOSE)
        guess_consider(&guess, "--verbose");
    if (command->takes & TAKES_INSPECT)
        guess_consider(&guess, "--inspect");
    if (command->takes & TAKES_RECORD) {
        guess_consider(&guess, "--record");
        guess_consider(&guess, "--resume");
    }
    if (command->takes & TAKES_VERIFY)
        guess_consider(&guess, "--verify");
    if (command->takes & TAKES_REPLAY) {
        guess_consider(&guess, "--to");
        guess_consider(&guess, "--check");
        guess_consider(&guess, "--ini");
    }
    guess_consider(&guess, "--help");
    complain("%s knows no option '%s'%s", command->name, word, guess_hint(&guess, hint, sizeof hint));
    return usage(command);
}

static bool read_steps(reader_t *reader, const char *value, arguments_t *arguments)
{
    if (arguments->has_steps) {
        complain("--steps is given twice");
        return usage(reader->command);
    }
    if (value == NULL && reader->next < reader->count)
        value = reader->texts[reader->next++];
    if (value == NULL) {
        complain("--steps needs a number of steps, such as --steps 1000");
        return usage(reader->command);
    }
    if (!numbers_read_count(value, &arguments->steps)) {
        complain("--steps takes a number of steps, such as 1000, not '%s'", value);
        return usage(reader->command);
    }
    arguments->has_steps = true;
    return true;
}

static bool read_show(reader_t *reader, const char *value, arguments_t *arguments)
{
    if (value == NULL && reader->next < reader->count)
        value = reader->texts[reader->next++];
    if (value == NULL || arguments->show != NULL) {
        complain("--show takes one path of a property, such as --show main/earth.body.position");
        return usage(reader->command);
    }
    arguments->show = value;
    return true;
}

static bool read_trace(reader_t *reader, const char *value, arguments_t *arguments)
{
    if (value == NULL && reader->next < reader->count)
        value = reader->texts[reader->next++];
    if (value == NULL || value[0] == '\0' || arguments->trace != NULL) {
        complain("--trace takes one file to write, such as --trace steps.json");
        return usage(reader->command);
    }
    arguments->trace = value;
    return true;
}

/* Read the port of --inspect: the next text, where that is digits alone. An ini with a name of digits alone must stand
 * before --inspect, or behind --. */
static bool read_inspect(reader_t *reader, const char *value, arguments_t *arguments)
{
    uint64_t port = 0;
    if (value == NULL && reader->next < reader->count) {
        const char *next = reader->texts[reader->next];
        if (next[0] != '\0' && next[strspn(next, "0123456789")] == '\0') {
            value = next;
            reader->next++;
        }
    }
    if (arguments->inspect || (value != NULL && (!numbers_read_count(value, &port) || port > 65535))) {
        complain("--inspect is given once, and takes a port from 0 (any that is free) to 65535 or none, such as "
                 "--inspect 15702");
        return usage(reader->command);
    }
    arguments->inspect = true;
    arguments->port = value;
    return true;
}

/* A file that is given once. */
static bool read_file(reader_t *reader, const char *option, const char *value, const char **file)
{
    if (value == NULL && reader->next < reader->count)
        value = reader->texts[reader->next++];
    if (value == NULL || value[0] == '\0' || *file != NULL) {
        complain("%s takes one file, such as %s %s", option, option,
                 strcmp(option, "--ini") == 0 ? "game.ini" : "game.rec");
        return usage(reader->command);
    }
    *file = value;
    return true;
}

static bool read_to(reader_t *reader, const char *value, arguments_t *arguments)
{
    if (value == NULL && reader->next < reader->count)
        value = reader->texts[reader->next++];
    if (value == NULL || arguments->has_to || !numbers_read_count(value, &arguments->to)) {
        complain("--to takes one step, such as --to 1000");
        return usage(reader->command);
    }
    arguments->has_to = true;
    return true;
}

static bool is_option(const char *text, size_t length, const char *option)
{
    return strlen(option) == length && strncmp(text, option, length) == 0;
}

/* Options about recordings; false where it is none of them, else *good says whether it was right. */
static bool read_recording_option(reader_t *reader, const char *text, arguments_t *arguments, bool *good)
{
    const char *equals = strchr(text, '='), *value = equals != NULL ? equals + 1 : NULL;
    size_t length = equals != NULL ? (size_t)(equals - text) : strlen(text);
    unsigned takes = reader->command->takes;
    if ((takes & TAKES_RECORD) && is_option(text, length, "--record"))
        *good = read_file(reader, "--record", value, &arguments->record);
    else if ((takes & TAKES_RECORD) && is_option(text, length, "--resume"))
        *good = read_file(reader, "--resume", value, &arguments->resume);
    else if ((takes & TAKES_REPLAY) && is_option(text, length, "--ini"))
        *good = read_file(reader, "--ini", value, &arguments->ini_of);
    else if ((takes & TAKES_REPLAY) && is_option(text, length, "--to"))
        *good = read_to(reader, value, arguments);
    else if ((takes & TAKES_REPLAY) && strcmp(text, "--check") == 0)
        *good = arguments->check = true;
    else
        return false;
    return true;
}

static bool read_option(reader_t *reader, const char *text, arguments_t *arguments)
{
    bool good;
    if (read_recording_option(reader, text, arguments, &good))
        return good;
    const char *equals = strchr(text, '=');
    size_t length = equals != NULL ? (size_t)(equals - text) : strlen(text);
    unsigned takes = reader->command->takes;
    if ((takes & TAKES_STEPS) && length == 7 && strncmp(text, "--steps", 7) == 0)
        return read_steps(reader, equals != NULL ? equals + 1 : NULL, arguments);
    if ((takes & TAKES_JSON) && strcmp(text, "--json") == 0) {
        arguments->json = true;
        return true;
    }
    if ((takes & TAKES_VERIFY) && strcmp(text, "--verify") == 0) {
        arguments->verify = true;
        return true;
    }
    if ((takes & TAKES_VERBOSE) && (strcmp(text, "-v") == 0 || strcmp(text, "--verbose") == 0)) {
        arguments->verbose = true;
        return true;
    }
    if ((takes & TAKES_REAL_TIME) && strcmp(text, "--real-time") == 0) {
        arguments->real_time = true;
        return true;
    }
    if ((takes & TAKES_REAL_TIME) && length == 6 && strncmp(text, "--show", 6) == 0)
        return read_show(reader, equals != NULL ? equals + 1 : NULL, arguments);
    if ((takes & TAKES_TRACE) && length == 7 && strncmp(text, "--trace", 7) == 0)
        return read_trace(reader, equals != NULL ? equals + 1 : NULL, arguments);
    if ((takes & TAKES_INSPECT) && length == 9 && strncmp(text, "--inspect", 9) == 0)
        return read_inspect(reader, equals != NULL ? equals + 1 : NULL, arguments);
    if (equals != NULL && (takes & TAKES_JSON) && length == 6 && strncmp(text, "--json", 6) == 0) {
        complain("--json takes no value");
        return usage(reader->command);
    }
    return refuse_option(reader->command, text, length);
}

static const char *file_of(const command_t *command)
{
    return command->file == NULL ? "ini" : command->file;
}

static bool read_ini(reader_t *reader, const char *text, arguments_t *arguments)
{
    if (text[0] == '\0') {
        complain("the name of the %s is empty", file_of(reader->command));
        return usage(reader->command);
    }
    if (arguments->ini != NULL) {
        complain("%s takes one %s; here are '%s' and '%s'", reader->command->name, file_of(reader->command),
                 arguments->ini, text);
        return usage(reader->command);
    }
    arguments->ini = text;
    return true;
}

bool arguments_ask_for_help(int count, char **texts)
{
    for (int i = 0; i < count && strcmp(texts[i], "--") != 0; i++)
        if (strcmp(texts[i], "--help") == 0 || strcmp(texts[i], "-h") == 0)
            return true;
    return false;
}

bool arguments_read(const command_t *command, int count, char **texts, arguments_t *arguments)
{
    reader_t reader = {.command = command, .texts = texts, .count = count};
    *arguments = (arguments_t){.help = arguments_ask_for_help(count, texts)};
    if (arguments->help)
        return true;
    while (reader.next < count) {
        const char *text = texts[reader.next++];
        bool option = !reader.options_over && text[0] == '-' && text[1] != '\0';
        if (option && strcmp(text, "--") == 0)
            reader.options_over = true;
        else if (!(option ? read_option(&reader, text, arguments) : read_ini(&reader, text, arguments)))
            return false;
    }
    if (arguments->ini == NULL) {
        if (command->file == NULL)
            complain("%s needs an ini file that says what to load", command->name);
        else
            complain("%s needs the file of a %s", command->name, command->file);
        return usage(command);
    }
    if (arguments->record != NULL && arguments->resume != NULL) {
        complain("give --record or --resume: what is resumed is recorded in the same file");
        return usage(command);
    }
    if (arguments->verify && arguments->real_time) {
        complain("--verify takes each step twice, and keeps no pace: not with --real-time");
        return usage(command);
    }
    if (arguments->show != NULL && !arguments->real_time) {
        complain("--show needs --real-time");
        return usage(command);
    }
    return true;
}

/* --- scene arguments --------------------------------------------------------------------------------------------- */

/* Options with a value, as `-o FILE` or `--ini=FILE`, and one file.
 *
 * After `--` no text is an option, for a file with a name that begins with a dash.
 */

typedef struct scene_option_t {
    const char *name;
    unsigned takes;
    size_t member; /* of scene_arguments_t; SIZE_MAX: takes no value */
} scene_option_t;

static const scene_option_t scene_options[] = {
    {"-o", SCENE_TAKES_OUTPUT, offsetof(scene_arguments_t, output)},
    {"--output", SCENE_TAKES_OUTPUT, offsetof(scene_arguments_t, output)},
    {"--ini", SCENE_TAKES_INI, offsetof(scene_arguments_t, ini)},
    {"--plugins", SCENE_TAKES_PLUGINS, offsetof(scene_arguments_t, plugins)},
    {"--json", SCENE_TAKES_JSON, (size_t)-1},
};

enum { SCENE_OPTIONS = sizeof scene_options / sizeof scene_options[0] };

typedef struct scene_reader_t {
    const char *usage;
    unsigned takes;
    char **texts;
    int count, next;
} scene_reader_t;

static bool scene_usage(const scene_reader_t *reader)
{
    complain("usage: backplane %s", reader->usage);
    return false;
}

static bool refuse_scene_option(const scene_reader_t *reader, const char *text, size_t length)
{
    char word[64], hint[96];
    length = length < sizeof word ? length : sizeof word - 1;
    memcpy(word, text, length);
    word[length] = '\0';
    guess_t guess = {.wanted = word};
    for (size_t i = 0; i < SCENE_OPTIONS; i++) {
        if ((scene_options[i].takes & reader->takes) != 0)
            guess_consider(&guess, scene_options[i].name);
    }
    guess_consider(&guess, "--help");
    complain("there is no option '%s'%s", word, guess_hint(&guess, hint, sizeof hint));
    return scene_usage(reader);
}

static bool set_scene_value(scene_reader_t *reader, const scene_option_t *option, const char *value,
                            scene_arguments_t *arguments)
{
    const char **member = (const char **)(void *)((char *)arguments + option->member);
    if (value == NULL && reader->next < reader->count)
        value = reader->texts[reader->next++];
    if (value == NULL || value[0] == '\0') {
        complain("%s needs a file or folder behind it", option->name);
        return scene_usage(reader);
    }
    if (*member != NULL) {
        complain("%s is given twice", option->name);
        return scene_usage(reader);
    }
    *member = value;
    return true;
}

static bool read_scene_option(scene_reader_t *reader, const char *text, scene_arguments_t *arguments)
{
    const char *equals = text[1] == '-' ? strchr(text, '=') : NULL;
    size_t length = equals != NULL ? (size_t)(equals - text) : strlen(text);
    for (size_t i = 0; i < SCENE_OPTIONS; i++) {
        const scene_option_t *option = &scene_options[i];
        if ((option->takes & reader->takes) == 0 || strlen(option->name) != length ||
            strncmp(option->name, text, length) != 0)
            continue;
        if (option->member != (size_t)-1)
            return set_scene_value(reader, option, equals != NULL ? equals + 1 : NULL, arguments);
        if (equals != NULL)
            complain("%s takes no value", option->name);
        arguments->json = true;
        return equals == NULL || scene_usage(reader);
    }
    return refuse_scene_option(reader, text, length);
}

static bool read_scene_file(const scene_reader_t *reader, const char *text, scene_arguments_t *arguments)
{
    if (text[0] != '\0' && arguments->file == NULL) {
        arguments->file = text;
        return true;
    }
    if (text[0] == '\0')
        complain("the name of the file is empty");
    else
        complain("one file is enough; here are '%s' and '%s'", arguments->file, text);
    return scene_usage(reader);
}

bool scene_arguments_read(const char *usage_text, unsigned takes, int count, char **texts, scene_arguments_t *arguments)
{
    scene_reader_t reader = {.usage = usage_text, .takes = takes, .texts = texts, .count = count};
    bool options_over = false;
    *arguments = (scene_arguments_t){.file = NULL};
    while (reader.next < count) {
        const char *text = texts[reader.next++];
        bool option = !options_over && text[0] == '-' && text[1] != '\0';
        if (option && strcmp(text, "--") == 0)
            options_over = true;
        else if (!(option ? read_scene_option(&reader, text, arguments) : read_scene_file(&reader, text, arguments)))
            return false;
    }
    return true;
}
