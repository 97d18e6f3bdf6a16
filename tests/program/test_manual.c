/* test_manual.c - the manuals tell of everything that there is: console commands, keys of inis, targets of make.
 *
 * The program is asked what it knows; what it answers is looked for in docs/ and in `make help`.
 */
#include "../suites.h"
#include "shell.h"

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

START_TEST(each_key_of_an_ini_stands_in_its_manual)
{
    static const char *const sections[] = {"[host]\nno_such_key = 1\n", "[world main]\nno_such_key = 1\n"};
    char *manual = text_of_file(TEST_SOURCE_DIR "/docs/config.md");
    char cell[128];
    const outcome_t *outcome = console(sections[_i], "");
    expect(outcome, 2, "(known: ");
    char *list = strstr(outcome->err, "(known: ") + strlen("(known: ");
    *strchr(list, ')') = '\0';
    for (char *key = strtok(list, ", "); key != NULL; key = strtok(NULL, ", ")) {
        snprintf(cell, sizeof cell, "| `%s` |", key);
        ck_assert_msg(strstr(manual, cell) != NULL, "docs/config.md does not tell of %s", key);
    }
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
    tcase_add_loop_test(test_case, each_key_of_an_ini_stands_in_its_manual, 0, 2);
    tcase_add_test(test_case, each_command_of_the_program_stands_in_its_manual);
    tcase_add_test(test_case, each_option_that_help_tells_of_stands_in_the_manual_page_and_in_docs);
    tcase_add_test(test_case, each_script_that_a_page_names_can_be_run);
    tcase_add_test(test_case, make_help_tells_of_each_target);
    tcase_add_test(test_case, the_history_of_the_prompt_is_kept_from_one_console_to_the_next);
    suite_add_tcase(suite, test_case);
    return suite;
}
