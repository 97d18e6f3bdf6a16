/* shell.h - running the built program as its users do, through the shell, and looking at what it printed.
 *
 * What it does not do: no terminal. The program sees files, so it prompts for nothing and draws nothing.
 */
#ifndef TESTS_PROGRAM_SHELL_H
#define TESTS_PROGRAM_SHELL_H

#include <jansson.h>

enum { OUTPUT_MAX = 1 << 18 };

/* What one run of the program came to. */
typedef struct outcome_t {
    int status;
    char out[OUTPUT_MAX];
    char err[OUTPUT_MAX];
} outcome_t;

/* The ini and the input that console() writes. */
extern const char ini_file[], input_file[];

/* Files; a test fails where they cannot be had. `text` has room for OUTPUT_MAX bytes. */
void write_file(const char *path, const char *text);
void read_file(const char *path, char *text);

/* For tcase_add_checked_fixture: the folder that all files lie in. */
void make_scratch_folder(void);

/* Run a line of the shell from the root of the source tree; `backplane` in it means the program. What it came to is
 * good until the next. */
const outcome_t *shell(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;

/* Run the console on `ini` with `input` from a file. */
const outcome_t *console(const char *ini, const char *input);

void expect_in(const char *text, const char *part);
void expect_not_in(const char *text, const char *part);

/* The status is as wanted, and stderr has `message` in it, or nothing at all for NULL. */
void expect(const outcome_t *outcome, int status, const char *message);

/* Bad input: status 2, a message that begins with the program's name, nothing on stdout. */
void expect_refused(const outcome_t *outcome, const char *message);

/* The output as JSON; the caller's. */
json_t *parse_output(const outcome_t *outcome);

/* The object in `list` whose "name" is `name`; members of an object. A test fails where there is none. */
json_t *named(json_t *list, const char *name);
const char *text_of(json_t *object, const char *key);
json_int_t count_of(json_t *object, const char *key);

#endif
