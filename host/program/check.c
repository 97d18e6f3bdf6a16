/* check.c - `backplane check`: a plugin's file is examined and tried, in levels.
 *
 *   1 it loads, and has nothing that would disturb a reload (bp_check_plugin_beside)
 *   2  its components do what the contract promises
 *   3  random operations against a model
 *   4  it is reloaded over itself, and over the older versions that are given
 *   5  every allocation fails once; any number of threads gives the same values
 *
 * The questions of levels 2 to 5 are those of host/conformance/, which the project's own tests ask too. Each question
 * is asked in a process of its own: this program is started again, is told which question to ask, and writes the
 * complaint to a file. So a plugin that crashes, hangs or ends the process is one finding among others. A process that
 * takes too long ends itself by a thread that looks at the time.
 */
#include "../conformance/conformance.h"
#include "../os/files.h"
#include "../os/os.h"
#include "json_output.h"
#include "output.h"
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64, FILES_MAX = 16, PATH_ROOM = 4096, COMPONENTS_MAX = 256, LEVELS = 5 };
enum { PATIENCE_S = 120, STATUS_HUNG = 77, ARGUMENTS_MAX = OPTIONS_MAX + 2 * FILES_MAX + 16 };

static const char usage[] = "check PLUGIN [NAME=VALUE ...] [--level N] [--from OLDER.so ...] [--needs OTHER.so ...] "
                            "[--json]";

typedef struct check_t {
    const char *file, *shown; /* the plugin's file; what was typed, which may be its source */
    const char *options[OPTIONS_MAX];  /* NAME=VALUE */
    const char *from[FILES_MAX], *needs[FILES_MAX];
    uint32_t option_count, from_count, need_count;
    uint32_t level;
    bool json;
    const char *question, *component, *answer; /* of a process that asks one question */

    json_t *findings;
    uint32_t errors, asked;
    int bad;                      /* JSON could not be made */
    char folder[PATH_ROOM / 2];   /* where answers and copies are written */
    char answer_file[PATH_ROOM], place[PATH_ROOM];
    char program[PATH_ROOM];
} check_t;

/* --- findings ---------------------------------------------------------------------------------------------------- */

typedef struct finding_t {
    int32_t severity; /* BP_LOG_... */
    uint32_t level;
    const char *component, *question, *text, *advice; /* "" where there is none */
} finding_t;

static void print_finding(const finding_t *f)
{
    const char *kind = f->severity >= BP_LOG_ERROR ? "error: " : f->severity == BP_LOG_WARNING ? "warning: " : "";
    if (f->component[0] == '\0')
        printf("  %s%s\n", kind, f->text);
    else
        printf("  %slevel %u: component '%s': %s: %s\n", kind, f->level, f->component, f->question, f->text);
    if (f->advice[0] != '\0')
        printf("    what to do: %s\n", f->advice);
    fflush(stdout);
}

static void add_finding(check_t *check, const finding_t *f)
{
    static const char *const kinds[] = {"remark", "remark", "warning", "error"};
    check->errors += f->severity >= BP_LOG_ERROR;
    if (!check->json) {
        print_finding(f);
        return;
    }
    json_t *object = json_object();
    int bad = 0;
    bad |= json_object_set_new(object, "severity",
                               json_output_text(kinds[f->severity < 0 ? 0 : f->severity > 3 ? 3 : f->severity]));
    bad |= json_object_set_new(object, "level", json_output_count(f->level));
    bad |= json_object_set_new(object, "component",
                               f->component[0] == '\0' ? json_null() : json_output_text(f->component));
    bad |= json_object_set_new(object, "check", f->question[0] == '\0' ? json_null() : json_output_text(f->question));
    bad |= json_object_set_new(object, "text", json_output_text(f->text));
    bad |= json_object_set_new(object, "advice", f->advice[0] == '\0' ? json_null() : json_output_text(f->advice));
    check->bad |= json_array_append_new(check->findings, json_output_checked(object, bad));
}

static void hear(void *data, int32_t level, const char *text)
{
    add_finding(data, &(finding_t){level, 1, "", "", text, ""});
}

static void tell_error(check_t *check, uint32_t level, const char *text)
{
    add_finding(check, &(finding_t){BP_LOG_ERROR, level, "", "", text, ""});
}

/* --- arguments --------------------------------------------------------------------------------------------------- */

static bool refuse(void)
{
    complain("usage: backplane %s", usage);
    return false;
}

/* The text behind an option: after '=', or the next one. NULL with a complaint. */
static const char *value_of(const char *option, int count, char **texts, int *at)
{
    size_t length = strlen(option);
    if (texts[*at][length] == '=')
        return texts[*at] + length + 1;
    if (*at + 1 < count)
        return texts[++*at];
    complain("%s needs a value behind it", option);
    refuse();
    return NULL;
}

static bool is_option(const char *text, const char *option)
{
    size_t length = strlen(option);
    return strncmp(text, option, length) == 0 && (text[length] == '\0' || text[length] == '=');
}

/* A file behind --from or --needs. */
static bool read_file(const char *option, const char **files, uint32_t *file_count, int count, char **texts, int *at)
{
    const char *file = value_of(option, count, texts, at);
    if (file != NULL && *file_count == FILES_MAX) {
        complain("%s is given at most %d times", option, FILES_MAX);
        return refuse();
    }
    if (file != NULL)
        files[(*file_count)++] = file;
    return file != NULL;
}

static bool read_level(check_t *check, const char *text)
{
    if (text[0] >= '1' && text[0] <= '0' + LEVELS && text[1] == '\0') {
        check->level = (uint32_t)(text[0] - '0');
        return true;
    }
    complain("--level takes a number from 1 to %d, not '%s'", LEVELS, text);
    return refuse();
}

static bool refuse_option(const char *text)
{
    static const char *const known[] = {"--level", "--from", "--needs", "--json", "--help"};
    char word[64], hint[96];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, "="), text);
    guess_t guess = {.wanted = word};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        guess_consider(&guess, known[i]);
    complain("check knows no option '%s'%s", word, guess_hint(&guess, hint, sizeof hint));
    return refuse();
}

static bool read_word(check_t *check, int count, char **texts, int *at)
{
    char *text = texts[*at];
    const char *value;
    if (strcmp(text, "--json") == 0)
        return check->json = true;
    if (is_option(text, "--level"))
        return (value = value_of("--level", count, texts, at)) != NULL && read_level(check, value);
    if (is_option(text, "--from"))
        return read_file("--from", check->from, &check->from_count, count, texts, at);
    if (is_option(text, "--needs"))
        return read_file("--needs", check->needs, &check->need_count, count, texts, at);
    if (strcmp(text, "--ask") == 0 && *at + 3 < count) { /* one question: question, component, answer file */
        check->question = texts[++*at];
        check->component = texts[++*at];
        check->answer = texts[++*at];
        return true;
    }
    if (text[0] == '-')
        return refuse_option(text);
    if (check->file == NULL) {
        check->file = text;
        return true;
    }
    if (strchr(text, '=') == NULL || text[0] == '=') {
        complain("'%s' is no option; write NAME=VALUE", text);
        return false;
    }
    if (check->option_count == OPTIONS_MAX) {
        complain("at most %d options", OPTIONS_MAX);
        return false;
    }
    check->options[check->option_count++] = text;
    return true;
}

static bool read_arguments(check_t *check, int count, char **texts)
{
    for (int at = 0; at < count; at++) {
        if (!read_word(check, count, texts, &at))
            return false;
    }
    if (check->file == NULL) {
        complain("check needs the file of a plugin; usage: backplane %s", usage);
        return false;
    }
    if (check->level == 0)
        check->level = check->from_count > 0 ? 4 : 1;
    return true;
}

/* --- one question, in a process of its own ----------------------------------------------------------------------- */

/* Texts with line ends between them. */
static bool join(char *to, size_t size, const char *const *texts, uint32_t count)
{
    size_t length = 0;
    to[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        int more = snprintf(to + length, size - length, "%s\n", texts[i]);
        if (more < 0 || (size_t)more >= size - length)
            return false;
        length += (size_t)more;
    }
    return true;
}

static void end_what_hangs(void *data)
{
    (void)data;
    for (int second = 0; second < PATIENCE_S; second++)
        os_sleep_ns(UINT64_C(1000000000));
    _Exit(STATUS_HUNG);
}

static bool describe_subject(const check_t *check, conformance_subject_t *subject)
{
    *subject = (conformance_subject_t){.needs = ""};
    snprintf(subject->component, sizeof subject->component, "%s", check->component);
    snprintf(subject->plugin, sizeof subject->plugin, "%s", check->file);
    snprintf(subject->next, sizeof subject->next, "%s", check->from_count > 0 ? check->from[0] : "");
    return join(subject->needs, sizeof subject->needs, check->needs, check->need_count) &&
           join(subject->options, sizeof subject->options, check->options, check->option_count);
}

/* Before the name of a component that belongs to worlds, in the answer to "list". */
#define OF_WORLD "*"

/* Ask the question and write the answer: '+' and what was asked for, or '!' and a complaint. An empty file means that
 * the process has not come so far. */
static void answer(const check_t *check, FILE *out)
{
    static conformance_subject_t found[COMPONENTS_MAX];
    static conformance_subject_t subject;
    char complaint[CONFORMANCE_TEXT] = "";
    if (!describe_subject(check, &subject)) {
        fputs("!the options and files given are too long", out);
        return;
    }
    if (strcmp(check->question, "list") == 0) {
        uint32_t count = conformance_subjects(&subject, found, COMPONENTS_MAX, complaint);
        if (count == UINT32_MAX)
            fprintf(out, "!%s", complaint);
        else
            putc('+', out);
        for (uint32_t i = 0; count != UINT32_MAX && i < count && i < COMPONENTS_MAX; i++)
            fprintf(out, "%s%s\n", found[i].of_world ? OF_WORLD : "", found[i].component);
        return;
    }
    uint32_t number = (uint32_t)strtoul(check->question, NULL, 10);
    bool good = number < conformance_check_count && conformance_run(&subject, &conformance_checks[number], complaint);
    fprintf(out, "%c%s", good ? '+' : '!', complaint);
}

static int ask_here(const check_t *check)
{
    os_thread_t watcher;
    FILE *out = os_file_open(check->answer, "wb");
    if (out == NULL)
        return STATUS_FAILED;
    os_thread_start(&watcher, end_what_hangs, NULL);
    answer(check, out);
    fclose(out);
    _Exit(STATUS_FINE); /* without waiting for the watcher thread, which sleeps */
}

/* --- asking other processes -------------------------------------------------------------------------------------- */

/* Start this program with a question. `file` is the plugin, `next` a newer version that comes over it, or NULL. Writes
 * its answer, or a sentence about the process's end, to `text`; false where that is a complaint. */
static bool ask(const check_t *check, const char *question, const char *component, const char *file, const char *next,
                char *text, size_t size)
{
    const char *arguments[ARGUMENTS_MAX] = {check->program, "check", "--ask", question, component, check->answer_file};
    uint32_t count = 6;
    int status = 0;
    arguments[count++] = file;
    if (next != NULL) {
        arguments[count++] = "--from";
        arguments[count++] = next;
    }
    for (uint32_t i = 0; i < check->need_count; i++) {
        arguments[count++] = "--needs";
        arguments[count++] = check->needs[i];
    }
    for (uint32_t i = 0; i < check->option_count; i++)
        arguments[count++] = check->options[i];
    arguments[count] = NULL;
    os_file_remove(check->answer_file);
    fflush(stdout);
    text[0] = '\0';
    if (!os_program_run(check->program, arguments, &status)) {
        snprintf(text, size, "no process can be had to ask in");
        return false;
    }
    if (status == STATUS_HUNG)
        snprintf(text, size, "it has not come to an end after %d s", PATIENCE_S);
    else if (status < -255) /* Windows: the number of an exception */
        snprintf(text, size, "it crashed (exception 0x%08x)", (unsigned)status);
    else if (status < 0)
        snprintf(text, size, "it crashed (signal %d)", -status);
    else if (status != 0)
        snprintf(text, size, "it ended the process with %d", status);
    if (status != 0)
        return false;
    FILE *in = os_file_open(check->answer_file, "rb");
    text[in == NULL ? 0 : fread(text, 1, size - 1, in)] = '\0';
    if (in != NULL)
        fclose(in);
    bool good = text[0] == '+';
    if (good || text[0] == '!')
        memmove(text, text + 1, strlen(text));
    else
        snprintf(text, size, "it ended the process");
    return good;
}

static bool copy_file(const char *from, const char *to)
{
    char why[256];
    size_t size;
    const void *bytes = os_file_map(from, &size, why, sizeof why);
    bool good = bytes != NULL && os_file_replace(to, bytes, size, why, sizeof why);
    if (bytes != NULL)
        os_file_unmap(bytes, size);
    return good;
}

static void ask_one(check_t *check, uint32_t number, const char *component, const char *older)
{
    const conformance_check_t *question = &conformance_checks[number];
    char digits[16], text[CONFORMANCE_TEXT + PATH_ROOM], said[CONFORMANCE_TEXT + 64];
    bool good;
    snprintf(digits, sizeof digits, "%u", number);
    if (older != NULL && !copy_file(older, check->place))
        return; /* look_for_gone has told */
    check->asked++;
    good = ask(check, digits, component, older != NULL ? check->place : check->file, older != NULL ? check->file : NULL,
               said, sizeof said);
    if (good || (older != NULL && strstr(said, "brings no component") != NULL))
        return; /* the older version had no such component */
    snprintf(text, sizeof text, "%s%s%s%s", older != NULL ? "from " : "", older != NULL ? older : "",
             older != NULL ? ": " : "", said);
    add_finding(check, &(finding_t){BP_LOG_ERROR, question->level, component, question->name, text, question->advice});
}

static void ask_component(check_t *check, const char *component, bool of_world)
{
    uint32_t errors = check->errors, asked = check->asked;
    for (uint32_t level = 2; level <= check->level; level++) {
        for (uint32_t i = 0; i < conformance_check_count; i++) {
            bool reloads = conformance_checks[i].run == check_reload ||
                           conformance_checks[i].run == check_worlds_are_reloaded_with_it;
            if (conformance_checks[i].level != level || conformance_checks[i].asks_worlds != of_world)
                continue;
            ask_one(check, i, component, NULL);
            for (uint32_t f = 0; f < check->from_count && reloads; f++)
                ask_one(check, i, component, check->from[f]);
        }
    }
    if (!check->json && check->level > 1 && check->errors == errors)
        printf("  component '%s': %u checks up to level %u, and nothing to complain of\n", component,
               check->asked - asked, check->level);
}

/* Is the name one of a list with line ends between its names? */
static bool lists(const char *list, const char *name, size_t length)
{
    for (const char *at = list; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
        if (strcspn(at, "\n") == length && memcmp(at, name, length) == 0)
            return true;
    }
    return false;
}

/* Does the plugin, which brings the components of `list`, still bring those of an older version? */
static void look_for_gone(check_t *check, const char *older, const char *list)
{
    char before[COMPONENTS_MAX * 64], text[PATH_ROOM + sizeof before];
    if (!copy_file(older, check->place)) {
        snprintf(text, sizeof text, "the older version %s cannot be read", older);
        tell_error(check, 4, text);
        return;
    }
    if (!ask(check, "list", "", check->place, NULL, before, sizeof before)) {
        snprintf(text, sizeof text, "the components of the older version %s cannot be asked: %s", older, before);
        tell_error(check, 4, text);
        return;
    }
    for (const char *name = before; *name != '\0'; name += strcspn(name, "\n"), name += *name == '\n') {
        int length = (int)strcspn(name, "\n");
        if (lists(list, name, (size_t)length))
            continue;
        int mark = strncmp(name, OF_WORLD, strlen(OF_WORLD)) == 0 ? (int)strlen(OF_WORLD) : 0;
        snprintf(text, sizeof text, "from %s: component '%.*s' has gone: a world that has it refuses this version",
                 older, length - mark, name + mark);
        add_finding(check, &(finding_t){BP_LOG_ERROR, 4, "", "", text, "keep the component under its name, if only to "
                                                                       "read what it holds; or call the plugin "
                                                                       "otherwise"});
    }
}

static void ask_all(check_t *check)
{
    char list[COMPONENTS_MAX * 64], text[sizeof list + 64];
    if (!ask(check, "list", "", check->file, NULL, list, sizeof list)) {
        snprintf(text, sizeof text, "its components cannot be asked: %s", list);
        tell_error(check, 2, text);
        return;
    }
    if (list[0] == '\0')
        add_finding(check, &(finding_t){BP_LOG_INFO, 2, "", "", "it brings no component: levels 2 to 5 have nothing to "
                                                                "ask", ""});
    for (uint32_t f = 0; f < check->from_count && check->level >= 4; f++)
        look_for_gone(check, check->from[f], list);
    for (char *name = list, *end; *name != '\0'; name = end + 1) {
        end = strchr(name, '\n');
        if (end == NULL)
            break;
        *end = '\0';
        bool of_world = strncmp(name, OF_WORLD, strlen(OF_WORLD)) == 0;
        ask_component(check, name + (of_world ? strlen(OF_WORLD) : 0), of_world);
    }
}

static void ask_in_folder(check_t *check)
{
    temporary_t owner;
    char folder[PATH_ROOM / 2 - 64];
    const char *name = os_path_separator(check->file);
    if (!os_program_folder(folder, sizeof folder) ||
        !temporary_create(&owner, NULL, "backplane-check-", check->folder, sizeof check->folder)) {
        tell_error(check, 2, "no folder can be had for the answers of processes");
        return;
    }
    snprintf(check->program, sizeof check->program, "%s/backplane%s", folder, os_program_suffix);
    snprintf(check->answer_file, sizeof check->answer_file, "%s/answer", check->folder);
    snprintf(check->place, sizeof check->place, "%s/%.200s", check->folder, name == NULL ? check->file : name + 1);
    ask_all(check);
    os_file_remove(check->answer_file);
    os_file_remove(check->place);
    temporary_remove(&owner, check->folder);
}

/* --- all --------------------------------------------------------------------------------------------------------- */

static int finish(check_t *check)
{
    int status = check->errors == 0 ? STATUS_FINE : STATUS_FAILED;
    if (!check->json) {
        if (check->errors == 0)
            puts("  nothing of it troubles a reload");
        return status;
    }
    json_t *root = json_object();
    check->bad |= json_object_set_new(root, "backplane", json_output_text(BACKPLANE_VERSION));
    check->bad |= json_object_set_new(root, "plugin", json_output_text(check->shown));
    check->bad |= json_object_set_new(root, "level", json_output_count(check->level));
    check->bad |= json_object_set_new(root, "asked", json_output_count(check->asked));
    check->bad |= json_object_set_new(root, "findings", check->findings);
    check->bad |= json_object_set_new(root, "passed", json_boolean(check->errors == 0));
    int printed = json_output_print(json_output_checked(root, check->bad));
    return printed != STATUS_FINE ? printed : status;
}

static void look_and_ask(check_t *check)
{
    bp_option_t options[OPTIONS_MAX];
    char names[OPTIONS_MAX][64];
    for (uint32_t i = 0; i < check->option_count; i++) {
        const char *equals = strchr(check->options[i], '=');
        snprintf(names[i], sizeof names[i], "%.*s", (int)(equals - check->options[i]), check->options[i]);
        options[i] = (bp_option_t){.name = names[i], .value = equals + 1};
    }
    if (!check->json)
        printf("%s\n", check->shown);
    bp_check_plugin_beside(check->file, check->needs, check->need_count, options, check->option_count, hear, check);
    if (check->level > 1)
        ask_in_folder(check);
}

/* --- sources ------------------------------------------------------------------------------------------------------ */

/* The library that is made of a source takes its place; a library stays. false where a source does not compile. */
static bool compile_one(check_t *check, bp_host_o *host, const char **file)
{
    bp_result_t result = bp_host_compile_plugin(host, *file, file);
    if (result == BP_OK || result == BP_ERROR_ARGUMENT)
        return true;
    if (!check->json)
        printf("%s\n", check->shown);
    tell_error(check, 1, bp_host_error(host));
    return false;
}

static bool compile_all(check_t *check, bp_host_o *host)
{
    bool good = compile_one(check, host, &check->file);
    for (uint32_t i = 0; i < check->from_count && good; i++)
        good = compile_one(check, host, &check->from[i]);
    for (uint32_t i = 0; i < check->need_count && good; i++)
        good = compile_one(check, host, &check->needs[i]);
    return good;
}

/* A compiler's lines are printed unchanged. */
static void say(void *context, int32_t level, const char *source, const char *text)
{
    (void)context;
    if (strcmp(source, "build") == 0)
        remark("%s", text);
    else if (level >= BP_LOG_WARNING)
        complain("%s: %s", source, text);
}

/* The compiled library is removed with the host that has compiled it. */
static int run(check_t *check)
{
    const bp_log_i log = {.write = say};
    const bp_host_desc_t desc = {.struct_size = sizeof desc, .log = &log};
    bp_host_o *host = bp_host_create(&desc);
    check->shown = check->file;
    check->findings = json_array();
    if (host == NULL) {
        complain("out of memory");
        json_decref(check->findings);
        return STATUS_FAILED;
    }
    if (compile_all(check, host))
        look_and_ask(check);
    int status = finish(check);
    if (!check->json)
        json_decref(check->findings);
    bp_host_destroy(host);
    return status;
}

int command_check(int count, char **texts)
{
    check_t *check = calloc(1, sizeof *check);
    if (check == NULL) {
        complain("out of memory");
        return STATUS_FAILED;
    }
    int status = STATUS_BAD_INPUT;
    if (read_arguments(check, count, texts))
        status = check->question != NULL ? ask_here(check) : run(check);
    free(check);
    return status;
}
