/* scene_arguments.c - options with a value, as `-o FILE` or `--ini=FILE`, and one file.
 *
 * After `--` nothing is an option, for a file whose name begins with a dash.
 */
#include "scene_arguments.h"

#include "messages.h"

#include <stddef.h>
#include <string.h>

typedef struct option_t {
    const char *name;
    unsigned takes;
    size_t member; /* of scene_arguments_t; SIZE_MAX: takes no value */
} option_t;

static const option_t options[] = {
    {"-o", SCENE_TAKES_OUTPUT, offsetof(scene_arguments_t, output)},
    {"--output", SCENE_TAKES_OUTPUT, offsetof(scene_arguments_t, output)},
    {"--ini", SCENE_TAKES_INI, offsetof(scene_arguments_t, ini)},
    {"--plugins", SCENE_TAKES_PLUGINS, offsetof(scene_arguments_t, plugins)},
    {"--json", SCENE_TAKES_JSON, (size_t)-1},
};

enum { OPTIONS = sizeof options / sizeof options[0] };

typedef struct reader_t {
    const char *usage;
    unsigned takes;
    char **texts;
    int count, next;
} reader_t;

static bool usage(const reader_t *reader)
{
    complain("usage: backplane %s", reader->usage);
    return false;
}

static bool refuse_option(const reader_t *reader, const char *text, size_t length)
{
    char word[64], hint[96];
    length = length < sizeof word ? length : sizeof word - 1;
    memcpy(word, text, length);
    word[length] = '\0';
    guess_t guess = {.wanted = word};
    for (size_t i = 0; i < OPTIONS; i++) {
        if ((options[i].takes & reader->takes) != 0)
            guess_consider(&guess, options[i].name);
    }
    guess_consider(&guess, "--help");
    complain("there is no option '%s'%s", word, guess_hint(&guess, hint, sizeof hint));
    return usage(reader);
}

static bool set_value(reader_t *reader, const option_t *option, const char *value, scene_arguments_t *arguments)
{
    const char **member = (const char **)(void *)((char *)arguments + option->member);
    if (value == NULL && reader->next < reader->count)
        value = reader->texts[reader->next++];
    if (value == NULL || value[0] == '\0') {
        complain("%s needs a file or folder behind it", option->name);
        return usage(reader);
    }
    if (*member != NULL) {
        complain("%s is given twice", option->name);
        return usage(reader);
    }
    *member = value;
    return true;
}

static bool read_option(reader_t *reader, const char *text, scene_arguments_t *arguments)
{
    const char *equals = text[1] == '-' ? strchr(text, '=') : NULL;
    size_t length = equals != NULL ? (size_t)(equals - text) : strlen(text);
    for (size_t i = 0; i < OPTIONS; i++) {
        const option_t *option = &options[i];
        if ((option->takes & reader->takes) == 0 || strlen(option->name) != length || strncmp(option->name, text, length) != 0)
            continue;
        if (option->member != (size_t)-1)
            return set_value(reader, option, equals != NULL ? equals + 1 : NULL, arguments);
        if (equals != NULL)
            complain("%s takes no value", option->name);
        arguments->json = true;
        return equals == NULL || usage(reader);
    }
    return refuse_option(reader, text, length);
}

static bool read_file(const reader_t *reader, const char *text, scene_arguments_t *arguments)
{
    if (text[0] != '\0' && arguments->file == NULL) {
        arguments->file = text;
        return true;
    }
    if (text[0] == '\0')
        complain("the name of the file is empty");
    else
        complain("one file is enough; here are '%s' and '%s'", arguments->file, text);
    return usage(reader);
}

bool scene_arguments_read(const char *usage_text, unsigned takes, int count, char **texts, scene_arguments_t *arguments)
{
    reader_t reader = {.usage = usage_text, .takes = takes, .texts = texts, .count = count};
    bool options_over = false;
    *arguments = (scene_arguments_t){.file = NULL};
    while (reader.next < count) {
        const char *text = texts[reader.next++];
        bool option = !options_over && text[0] == '-' && text[1] != '\0';
        if (option && strcmp(text, "--") == 0)
            options_over = true;
        else if (!(option ? read_option(&reader, text, arguments) : read_file(&reader, text, arguments)))
            return false;
    }
    return true;
}
