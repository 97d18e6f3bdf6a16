/* shell.c - running the built program as its users do, through the shell.
 *
 * Input, output and errors go through files of the scratch folder: pipes would need a reader for each while the program
 * runs.
 *
 * TEST_BACKPLANE is the program's path, TEST_SOURCE_DIR the root of the source tree, TEST_SCRATCH_DIR a folder for
 * files.
 */
#define _XOPEN_SOURCE 700

#include "shell.h"

#include <check.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { COMMAND_MAX = 2048 };

/* A folder of the programs' own for temporary files: a program that begins removes what killed ones have left, and says
 * so, which other tests that run at the same time would cause. */
#define TEMPORARY TEST_SCRATCH_DIR "/temporary"

static const char output_file[] = TEST_SCRATCH_DIR "/program.out";
static const char error_file[] = TEST_SCRATCH_DIR "/program.err";
const char input_file[] = TEST_SCRATCH_DIR "/program.in";
const char ini_file[] = TEST_SCRATCH_DIR "/program.ini";

static outcome_t last; /* each test runs in a process of its own */

void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    ck_assert_msg(file != NULL, "%s cannot be written", path);
    ck_assert_uint_eq(fwrite(text, 1, strlen(text), file), strlen(text));
    ck_assert_int_eq(fclose(file), 0);
}

void read_file(const char *path, char *text)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be read", path);
    size_t length = fread(text, 1, OUTPUT_MAX - 1, file);
    text[length] = '\0';
    fclose(file);
}

void make_scratch_folder(void)
{
    ck_assert_msg(mkdir(TEST_SCRATCH_DIR, 0777) == 0 || errno == EEXIST, "%s: %s", TEST_SCRATCH_DIR, strerror(errno));
}

const outcome_t *shell(const char *format, ...)
{
    char line[COMMAND_MAX];
    char command[2 * COMMAND_MAX], *temporary;
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    make_scratch_folder();
    ck_assert_msg(mkdir(TEMPORARY, 0777) == 0 || errno == EEXIST, "%s: %s", TEMPORARY, strerror(errno));
    temporary = realpath(TEMPORARY, NULL);
    ck_assert_ptr_nonnull(temporary);
    int length = snprintf(command, sizeof command,
                          "cd '" TEST_SOURCE_DIR "' && export TMPDIR='%s' && "
                          "backplane() { '" TEST_BACKPLANE "' \"$@\"; } && "
                          "{ %s ; } > '%s' 2> '%s'",
                          temporary, line, output_file, error_file);
    free(temporary);
    ck_assert_int_lt(length, (int)sizeof command);
    int ended = system(command);
    ck_assert_msg(WIFEXITED(ended), "ended by a signal: %s", line);
    last.status = WEXITSTATUS(ended);
    read_file(output_file, last.out);
    read_file(error_file, last.err);
    return &last;
}

const outcome_t *console(const char *ini, const char *input)
{
    write_file(ini_file, ini);
    write_file(input_file, input);
    return shell("backplane console '%s' < '%s'", ini_file, input_file);
}

void expect_in(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in:\n%s", part, text);
}

void expect_not_in(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) == NULL, "\"%s\" is in:\n%s", part, text);
}

void expect(const outcome_t *outcome, int status, const char *message)
{
    ck_assert_msg(outcome->status == status, "status %d instead of %d; stderr:\n%s", outcome->status, status,
                  outcome->err);
    if (message == NULL)
        ck_assert_str_eq(outcome->err, "");
    else
        expect_in(outcome->err, message);
}

void expect_refused(const outcome_t *outcome, const char *message)
{
    expect(outcome, 2, message);
    ck_assert_msg(strncmp(outcome->err, "backplane: ", 11) == 0, "%s", outcome->err);
    ck_assert_str_eq(outcome->out, "");
}

json_t *parse_output(const outcome_t *outcome)
{
    json_error_t error;
    json_t *root = json_loads(outcome->out, 0, &error);
    ck_assert_msg(root != NULL, "line %d: %s in:\n%s", error.line, error.text, outcome->out);
    return root;
}

json_t *named(json_t *list, const char *name)
{
    size_t index;
    json_t *item;
    json_array_foreach(list, index, item)
    {
        const char *text = json_string_value(json_object_get(item, "name"));
        if (text != NULL && strcmp(text, name) == 0)
            return item;
    }
    ck_abort_msg("nothing is called %s", name);
    return NULL;
}

const char *text_of(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    ck_assert_msg(text != NULL, "%s is no string", key);
    return text;
}

json_int_t count_of(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_integer(value), "%s is no integer", key);
    return json_integer_value(value);
}
