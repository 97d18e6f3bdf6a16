/* test_manual.c - the manuals tell of everything that there is: console commands, keys of inis, targets of make.
 *
 * The program is asked what it knows; what it answers is looked for in docs/ and in `make help`.
 */
#include "../suites.h"
#include "shell.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text_of_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be read", path);
    char *text = calloc(1, 1 << 20);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_gt(fread(text, 1, (1 << 20) - 1, file), 0);
    fclose(file);
    return text;
}

START_TEST(each_command_of_the_console_stands_in_its_manual_as_help_writes_it)
{
    char *manual = text_of_file(TEST_SOURCE_DIR "/docs/program.md");
    char row[256], help[OUTPUT_MAX];
    uint32_t count = 0;
    const outcome_t *outcome = console("[host]\n", "help\n");
    expect(outcome, 0, NULL);
    snprintf(help, sizeof help, "%s", outcome->out);
    for (char *line = strtok(help, "\n"); line != NULL; line = strtok(NULL, "\n"), count++) {
        char *end = strstr(line, "  ");
        ck_assert_ptr_nonnull(end);
        *end = '\0';
        snprintf(row, sizeof row, "\n| `%s` |", line);
        ck_assert_msg(strstr(manual, row) != NULL, "docs/program.md has no row \"%s\"", row + 1);
    }
    ck_assert_uint_ge(count, 20);
    free(manual);
}
END_TEST

/* The manual page is made from the table of `help`; here it is read as man does, but for the lines' ends. */
START_TEST(each_command_of_the_console_stands_in_the_manual_page)
{
    char help[OUTPUT_MAX], row[256], page[OUTPUT_MAX];
    uint32_t count = 0;
    expect(shell("backplane --manual | sed 's/\\\\-/-/g; s/\\\\&//g; s/\\\\e/\\\\/g' "
                 ">'" TEST_SCRATCH_DIR "/manual.page'"),
           0, NULL);
    read_file(TEST_SCRATCH_DIR "/manual.page", page);
    const outcome_t *outcome = console("[host]\n", "help\n");
    expect(outcome, 0, NULL);
    snprintf(help, sizeof help, "%s", outcome->out);
    for (char *line = strtok(help, "\n"); line != NULL; line = strtok(NULL, "\n"), count++) {
        char *end = strstr(line, "  ");
        ck_assert_ptr_nonnull(end);
        *end = '\0';
        for (end += 1; *end == ' '; end++)
            continue;
        snprintf(row, sizeof row, "\n.TP\n.B %s\n%s", line, end);
        ck_assert_msg(strstr(page, row) != NULL, "the manual page has not:%s", row);
    }
    ck_assert_uint_ge(count, 20);
    expect_in(page, "\n.SH OPTIONS\n");
}
END_TEST

/* The other way round: what the manual tells of, the table of `help` has, written in the same way. */
START_TEST(the_manual_of_the_console_tells_of_no_command_that_is_not_there)
{
    char *manual = text_of_file(TEST_SOURCE_DIR "/docs/program.md");
    char help[OUTPUT_MAX + 1], line[256];
    uint32_t count = 0;
    const outcome_t *outcome = console("[host]\n", "help\n");
    expect(outcome, 0, NULL);
    snprintf(help, sizeof help, "\n%s", outcome->out);
    char *rows = strstr(manual, "\n## `backplane console`"), *end = rows == NULL ? NULL : strstr(rows + 1, "\n## ");
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    for (char *row = strstr(rows, "\n| `"); row != NULL; row = strstr(row + 1, "\n| `"), count++) {
        char *usage = row + strlen("\n| `");
        snprintf(line, sizeof line, "\n%.*s  ", (int)strcspn(usage, "`"), usage);
        ck_assert_msg(strstr(help, line) != NULL, "docs/program.md tells of%s, and help does not", line);
    }
    ck_assert_uint_ge(count, 20);
    free(manual);
}
END_TEST

enum { KEYS_MAX = 64, KEY_MAX = 64 };

typedef struct keys_t {
    char texts[KEYS_MAX][KEY_MAX];
    uint32_t count;
} keys_t;

static void add_key(keys_t *keys, const char *key, size_t length)
{
    ck_assert(keys->count < KEYS_MAX && length < KEY_MAX);
    snprintf(keys->texts[keys->count++], KEY_MAX, "%.*s", (int)length, key);
}

static bool has_key(const keys_t *keys, const char *key)
{
    uint32_t i = 0;
    while (i < keys->count && strcmp(keys->texts[i], key) != 0)
        i++;
    return i < keys->count;
}

/* The keys of the rows from "| `[world NAME]` |" to the next section's row, where the table of sections has them. */
static void read_manual(const char *manual, const char *section, keys_t *keys)
{
    char first[64];
    snprintf(first, sizeof first, "\n| `%s` | `", section);
    const char *row = strstr(manual, first);
    ck_assert_msg(row != NULL, "docs/config.md has no section %s", section);
    for (const char *key = row + strlen(first);; key = row + strlen("\n| | `")) {
        add_key(keys, key, strcspn(key, "`"));
        row = strchr(key, '\n');
        if (row == NULL || strncmp(row, "\n| | `", strlen("\n| | `")) != 0)
            return;
    }
}

/* The keys that the program has, as its complaint about an unknown one lists them. */
static void read_known(const char *ini, const char *before, const char *after, keys_t *keys)
{
    const outcome_t *outcome = console(ini, "");
    expect(outcome, 2, before);
    char *list = strstr(outcome->err, before) + strlen(before), *end = strstr(list, after);
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    for (char *key = strtok(list, ", "); key != NULL; key = strtok(NULL, ", ")) {
        if (strcmp(key, "nor") != 0)
            add_key(keys, key, strlen(key));
    }
}

START_TEST(the_manual_of_the_ini_has_the_keys_that_the_program_has_and_no_others)
{
    static const struct {
        const char *section, *ini, *before, *after;
    } cases[] = {
        {"[host]", "[host]\nno_such_key = 1\n", "(known: ", ")"},
        {"[world NAME]", "[world main]\nno_such_key = 1\n", "(known: ", ")"},
        {"[spawn WORLD LABEL]", "[world main]\n[spawn main x]\nno_such_key = 1\n", "is neither ", "COMPONENT.PROPERTY"},
    };
    char *manual = text_of_file(TEST_SOURCE_DIR "/docs/config.md");
    keys_t told = {.count = 0}, known = {.count = 0};
    read_manual(manual, cases[_i].section, &told);
    read_known(cases[_i].ini, cases[_i].before, cases[_i].after, &known);
    ck_assert_uint_ge(known.count, 3);
    for (uint32_t i = 0; i < known.count; i++)
        ck_assert_msg(has_key(&told, known.texts[i]), "docs/config.md does not tell of %s in %s", known.texts[i],
                      cases[_i].section);
    for (uint32_t i = 0; i < told.count; i++)
        ck_assert_msg(has_key(&known, told.texts[i]) || strcmp(told.texts[i], "INSTANCE.PROPERTY") == 0,
                      "docs/config.md tells of %s in %s, which no ini takes", told.texts[i], cases[_i].section);
    free(manual);
}
END_TEST

START_TEST(each_command_of_the_program_stands_in_its_manual)
{
    char *manual = text_of_file(TEST_SOURCE_DIR "/docs/program.md");
    char line[64];
    const outcome_t *outcome = shell("backplane --help | sed -n '/^  backplane/d; s/^  \\([a-z]*\\) [A-Z[].*/\\1/p'");
    expect(outcome, 0, NULL);
    char words[OUTPUT_MAX];
    ck_assert_str_ne(outcome->out, "");
    snprintf(words, sizeof words, "%s", outcome->out);
    for (char *word = strtok(words, "\n"); word != NULL; word = strtok(NULL, "\n")) {
        snprintf(line, sizeof line, "\nbackplane %s ", word);
        ck_assert_msg(strstr(manual, line) != NULL, "docs/program.md does not tell of backplane %s", word);
    }
    free(manual);
}
END_TEST

/* The page has a heading for each command, with what it takes, and below it what it is for: as --help lists them. */
START_TEST(each_command_of_the_program_heads_its_part_of_the_manual_page)
{
    static char page[OUTPUT_MAX], list[OUTPUT_MAX], line[1024];
    uint32_t count = 0, listed = 0;
    expect(shell("backplane --manual | sed 's/\\\\-/-/g; s/\\\\&//g; s/\\\\e/\\\\/g' "
                 ">'" TEST_SCRATCH_DIR "/manual.page'"),
           0, NULL);
    read_file(TEST_SCRATCH_DIR "/manual.page", page);
    /* blanks between the two columns become one */
    const outcome_t *outcome = shell("backplane --help | sed -n '/^Commands:/,/^$/{s/   */ /gp}'");
    expect(outcome, 0, NULL);
    snprintf(list, sizeof list, "%s", outcome->out);
    for (const char *at = strchr(list, '\n'); at != NULL; at = strchr(at + 1, '\n'))
        listed++;
    for (char *usage = strstr(page, "\n.SS "); usage != NULL; usage = strstr(usage, "\n.SS "), count++) {
        usage += strlen("\n.SS ");
        char *about = strchr(usage, '\n');
        ck_assert(about != NULL && about > usage);
        int length = (int)strcspn(about + 1, "\n");
        ck_assert_msg(strncmp(about + 1 + length, "\n.PP\n.nf\n  ", strlen("\n.PP\n.nf\n  ")) == 0, "%.200s", usage);
        snprintf(line, sizeof line, " %.*s %.*s\n", (int)(about - usage), usage, length - 1, about + 1);
        ck_assert_msg(strstr(list, line) != NULL, "--help does not list:%s", line);
    }
    ck_assert_uint_ge(count, 10);
    ck_assert_uint_eq(count, listed);
}
END_TEST

/* Options, as `backplane COMMAND --help` has them, in the manual page and in the pages of docs/. */
START_TEST(each_option_that_help_tells_of_stands_in_the_manual_page_and_in_docs)
{
    char options[OUTPUT_MAX];
    uint32_t count = 0;
    expect(shell("backplane --manual | sed 's/\\\\-/-/g; s/\\\\&//g' >'" TEST_SCRATCH_DIR "/manual.page'; "
                 "cat docs/*.md >'" TEST_SCRATCH_DIR "/docs.pages'"),
           0, NULL);
    const outcome_t *outcome =
        shell("{ backplane --help; for command in $(backplane --help | "
              "sed -n '/^  backplane/d; s/^  \\([a-z]*\\) [A-Z[].*/\\1/p'); do "
              "backplane $command --help || exit 1; done; } | sed 's/man -l//' | "
              "grep -oE -- '(^|[^a-z-])--?[a-z][a-z-]*' | "
              "grep -oE -- '--?[a-z-]+' | sort -u");
    expect(outcome, 0, NULL);
    snprintf(options, sizeof options, "%s", outcome->out);
    for (char *option = strtok(options, "\n"); option != NULL; option = strtok(NULL, "\n"), count++) {
        ck_assert_msg(shell("grep -qE -- '%s([^a-z-]|$)' '" TEST_SCRATCH_DIR "/manual.page'", option)->status == 0,
                      "the manual page has no %s", option);
        ck_assert_msg(shell("grep -qE -- '%s([^a-z-]|$)' '" TEST_SCRATCH_DIR "/docs.pages'", option)->status == 0,
                      "no page of docs/ has %s", option);
    }
    ck_assert_uint_ge(count, 20);
}
END_TEST

START_TEST(each_script_that_a_page_names_can_be_run)
{
    const outcome_t *outcome =
        shell("for script in $(grep -ohE '(tests|tools)/[a-z_/]+\\.sh' README.md docs/*.md | sort -u) "
              "tests/scripts/*.sh; do test -x $script || echo \"$script\"; done");
    expect(outcome, 0, NULL);
    ck_assert_msg(outcome->out[0] == '\0', "not executable, or not there: %s", outcome->out);
}
END_TEST

START_TEST(make_help_tells_of_each_target)
{
    char *makefile = text_of_file(TEST_SOURCE_DIR "/Makefile");
    char *targets = strstr(makefile, "\n.PHONY:");
    ck_assert_ptr_nonnull(targets);
    targets += strlen("\n.PHONY:");
    *strchr(targets, '\n') = '\0';
    const outcome_t *outcome = shell("unset MAKEFLAGS MFLAGS MAKELEVEL; make -s help");
    expect(outcome, 0, NULL);
    for (char *target = strtok(targets, " "); target != NULL; target = strtok(NULL, " ")) {
        char word[64];
        snprintf(word, sizeof word, "make %s", strcmp(target, "all") == 0 ? "" : target);
        ck_assert_msg(strstr(outcome->out, word) != NULL, "make help does not tell of make %s", target);
    }
    free(makefile);
}
END_TEST

START_TEST(the_history_of_the_prompt_is_kept_from_one_console_to_the_next)
{
    static const char lines[] = TEST_SCRATCH_DIR "/history.in", kept[] = TEST_SCRATCH_DIR "/history.kept";
    if (shell("command -v script")->status != 0)
        return;
    expect(shell("rm -f '%s'; grep -q LIBEDIT Makefile", kept), 0, NULL);
    write_file(ini_file, "[host]\n");
    for (int i = 0; i < 2; i++) {
        write_file(lines, i == 0 ? "worlds\nquit\n" : "stats\nquit\n");
        shell("BACKPLANE_HISTORY='%s' TERM=xterm script -qec \"'" TEST_BACKPLANE "' console '%s'\" /dev/null <'%s'",
              kept,
              ini_file, lines);
    }
    const outcome_t *outcome = shell("cat '%s'", kept);
    expect_in(outcome->out, "worlds");
    expect_in(outcome->out, "stats");
    expect(shell("BACKPLANE_HISTORY= HOME='" TEST_SCRATCH_DIR "/none' TERM=xterm script -qec \"'" TEST_BACKPLANE
                 "' console '%s'\" /dev/null <'%s' >/dev/null; ! test -e '" TEST_SCRATCH_DIR "/none'",
                 ini_file, lines),
           0, NULL);
}
END_TEST

Suite *manual_suite(void)
{
    Suite *suite = suite_create("manual");
    TCase *test_case = tcase_create("manual");
    tcase_add_checked_fixture(test_case, make_scratch_folder, NULL);
    tcase_add_test(test_case, each_command_of_the_console_stands_in_its_manual_as_help_writes_it);
    tcase_add_test(test_case, each_command_of_the_console_stands_in_the_manual_page);
    tcase_add_test(test_case, the_manual_of_the_console_tells_of_no_command_that_is_not_there);
    tcase_add_loop_test(test_case, the_manual_of_the_ini_has_the_keys_that_the_program_has_and_no_others, 0, 3);
    tcase_add_test(test_case, each_command_of_the_program_stands_in_its_manual);
    tcase_add_test(test_case, each_command_of_the_program_heads_its_part_of_the_manual_page);
    tcase_add_test(test_case, each_option_that_help_tells_of_stands_in_the_manual_page_and_in_docs);
    tcase_add_test(test_case, each_script_that_a_page_names_can_be_run);
    tcase_add_test(test_case, make_help_tells_of_each_target);
    tcase_add_test(test_case, the_history_of_the_prompt_is_kept_from_one_console_to_the_next);
    suite_add_tcase(suite, test_case);
    return suite;
}
