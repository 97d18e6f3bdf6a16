/* console_lines.c - lines from a pipe, from a plain prompt, or edited with libedit.
 *
 * libedit is used through its own interface (histedit.h) and not through the one that imitates another library: that
 * one keeps its state in global variables, histedit.h in an object of the caller.
 *
 * Editing needs a terminal for input and output. The history is kept in a file from one console to the next
 * (history_file); where that file cannot be written the history lives as long as the console. A user's ~/.editrc is
 * followed, as by other programs that use libedit.
 *
 * Each line is copied to a buffer of this file, so that the commands may cut it into words in place.
 */
#include "console_lines.h"

#include "../os/files.h"
#include "../os/os.h"
#include "console.h"
#include "inspect.h"
#include "plugin_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef BACKPLANE_LIBEDIT
#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <wchar.h>
#endif

static const char prompt_text[] = "backplane> ";

struct lines_t {
    const line_completer_t *completer;
    const line_waiter_t *waiter;
    bool interactive;
    bool reading, hidden; /* a line is being read; the prompt is off the screen meanwhile */
    bool closed;          /* no further line is wanted */
#ifdef BACKPLANE_LIBEDIT
    EditLine *editor; /* NULL: plain lines */
    History *history;
#endif
    completions_t completions;
    char line[LINE_BYTES_MAX + 1];
};

void completions_add(completions_t *completions, const char *before, const char *text, bool final)
{
    if (completions->count == COMPLETIONS_MAX)
        return;
    char *to = completions->texts[completions->count];
    int length = snprintf(to, COMPLETION_BYTES_MAX, "%s%s", before, text);
    if (length < 0 || length >= COMPLETION_BYTES_MAX)
        return;
    for (size_t i = 0; i < completions->count; i++)
        if (strcmp(completions->texts[i], to) == 0)
            return;
    completions->final[completions->count++] = final;
}

bool lines_interactive(const lines_t *lines)
{
    return lines->interactive;
}

/* --- plain lines ---------------------------------------------------------------------------------------- */

/* The next byte; EOF also where no more is wanted. Nothing of stdin is kept in a buffer, so that the system can be
 * asked whether there is more. */
static int read_byte(lines_t *lines)
{
    while (!os_input_ready()) {
        lines->closed = !lines->waiter->wait(lines->waiter->context);
        if (lines->closed)
            return EOF;
    }
    return getchar();
}

/* Read up to the end of the line. A zero byte in it becomes '?', which no command holds. */
static line_end_t read_plain(lines_t *lines, char **line)
{
    size_t length = 0;
    bool too_long = false;
    int c = read_byte(lines);
    if (c == EOF)
        return ferror(stdin) ? LINES_BROKEN : LINES_OVER;
    for (; c != EOF && c != '\n'; c = read_byte(lines)) {
        too_long = too_long || length == LINE_BYTES_MAX;
        if (!too_long)
            lines->line[length++] = c == '\0' ? '?' : (char)c;
    }
    lines->line[length] = '\0';
    *line = lines->line;
    return too_long ? LINE_TOO_LONG : LINE_READ;
}

static line_end_t prompt_and_read(lines_t *lines, char **line)
{
    if (lines->interactive) {
        fputs(prompt_text, stdout);
        fflush(stdout);
    }
    line_end_t end = read_plain(lines, line);
    if (end == LINES_OVER && lines->interactive)
        putchar('\n');
    return end;
}

/* --- edited lines --------------------------------------------------------------------------------------- */

#ifdef BACKPLANE_LIBEDIT

enum { HISTORY_LINES = 500, HISTORY_PATH = 4096 };

static char *prompt(EditLine *editor)
{
    (void)editor;
    return (char *)(uintptr_t)prompt_text; /* libedit asks for char * and only reads it */
}

/* Bytes that all completions begin with. */
static size_t common_length(const completions_t *completions)
{
    size_t length = strlen(completions->texts[0]);
    for (size_t i = 1; i < completions->count; i++)
        for (size_t at = 0; at < length; at++)
            if (completions->texts[i][at] != completions->texts[0][at])
                length = at;
    return length;
}

static void print_choices(const completions_t *completions)
{
    int columns = os_terminal_columns(1);
    size_t widest = 0;
    for (size_t i = 0; i < completions->count; i++)
        if (strlen(completions->texts[i]) > widest)
            widest = strlen(completions->texts[i]);
    size_t across = (size_t)(columns > 0 ? columns : 80) / (widest + 2);
    across = across == 0 ? 1 : across;
    for (size_t i = 0; i < completions->count; i++)
        printf("%s%-*s", i % across == 0 ? "\n" : "", (int)widest + 2, completions->texts[i]);
    putchar('\n');
    fflush(stdout);
}

/* Put what all completions share behind the `typed` bytes of the word; show them where that is nothing new.
 */
static unsigned char insert_completion(EditLine *editor, const completions_t *completions, size_t typed)
{
    char rest[COMPLETION_BYTES_MAX + 1];
    if (completions->count == 0)
        return CC_REFRESH_BEEP;
    size_t length = common_length(completions);
    if (length == typed && completions->count > 1) { /* all of them begin with what was typed */
        print_choices(completions);
        return CC_REDISPLAY;
    }
    bool final = completions->count == 1 && completions->final[0];
    const char *missing = completions->texts[0] + typed;
    snprintf(rest, sizeof rest, "%.*s%s", (int)(length - typed), missing, final ? " " : "");
    if (rest[0] == '\0')
        return CC_NORM;
    return el_insertstr(editor, rest) == 0 ? CC_REFRESH : CC_REFRESH_BEEP;
}

/* Complete the last word of the line, as libedit's answer to the TAB key. */
static unsigned char complete(EditLine *editor, int key)
{
    void *data = NULL;
    (void)key;
    if (el_get(editor, EL_CLIENTDATA, &data) != 0 || data == NULL)
        return CC_ERROR;
    lines_t *lines = data;
    const LineInfo *info = el_line(editor);
    size_t length = (size_t)(info->cursor - info->buffer);
    if (length > LINE_BYTES_MAX)
        return CC_ERROR;
    memcpy(lines->line, info->buffer, length);
    lines->line[length] = '\0';
    size_t start = length;
    while (start > 0 && lines->line[start - 1] != ' ' && lines->line[start - 1] != '\t')
        start--;
    lines->completions.count = 0;
    const line_completer_t *completer = lines->completer;
    completer->complete(completer->context, lines->line, lines->line + start, &lines->completions);
    return insert_completion(editor, &lines->completions, length - start);
}

/* libedit wants letters, which may be several bytes. */
static int read_letter(EditLine *editor, wchar_t *letter)
{
    mbstate_t state = {0};
    void *data = NULL;
    if (el_get(editor, EL_CLIENTDATA, &data) != 0 || data == NULL)
        return -1;
    for (;;) {
        int c = read_byte(data);
        char byte = (char)c;
        if (c == EOF && ferror(stdin) && errno == EINTR) {
            clearerr(stdin);
            el_set(editor, EL_REFRESH);
            continue;
        }
        if (c == EOF)
            return ferror(stdin) ? -1 : 0;
        size_t length = mbrtowc(letter, &byte, 1, &state);
        if (length <= 1)
            return 1;
        if (length == (size_t)-1)
            state = (mbstate_t){0}; /* no letter: passed over */
    }
}

/* Where the history is kept: the file that BACKPLANE_HISTORY names, empty: nowhere; else backplane/history in the
 * user's folder for states. false where it is kept nowhere. */
static bool history_file(char *path, size_t size)
{
    const char *given = getenv("BACKPLANE_HISTORY"), *states = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char folder[HISTORY_PATH - 32];
    int length;
    if (given != NULL) {
        length = snprintf(path, size, "%s", given);
        return length > 0 && (size_t)length < size;
    }
    if (states != NULL && states[0] == '/')
        length = snprintf(folder, sizeof folder, "%s", states);
    else if (home != NULL && home[0] == '/')
        length = snprintf(folder, sizeof folder, "%s/.local/state", home);
    else
        return false;
    if (length < 0 || (size_t)length >= sizeof folder)
        return false;
    for (char *at = strchr(folder + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        os_folder_create(folder);
        *at = '/';
    }
    os_folder_create(folder);
    snprintf(path, size, "%s/backplane", folder);
    if (!os_folder_create(path))
        return false;
    snprintf(path, size, "%s/backplane/history", folder);
    return true;
}

static void load_history(lines_t *lines)
{
    char path[HISTORY_PATH];
    HistEvent event;
    if (history_file(path, sizeof path))
        history(lines->history, &event, H_LOAD, path);
}

/* Write the history to its file. Lines that another console has written there meanwhile are lost: the file has those of
 * the console that ended last. */
static void save_history(lines_t *lines)
{
    char path[HISTORY_PATH];
    HistEvent event;
    if (history_file(path, sizeof path))
        history(lines->history, &event, H_SAVE, path);
}

static void open_editor(lines_t *lines)
{
    HistEvent event;
    setlocale(LC_CTYPE, ""); /* letters beyond ASCII are moved over as one; numbers keep their point */
    lines->history = history_init();
    lines->editor = lines->history != NULL ? el_init("backplane", stdin, stdout, stderr) : NULL;
    if (lines->editor == NULL)
        return;
    history(lines->history, &event, H_SETSIZE, HISTORY_LINES);
    history(lines->history, &event, H_SETUNIQUE, 1);
    load_history(lines);
    el_set(lines->editor, EL_CLIENTDATA, lines);
    el_set(lines->editor, EL_GETCFN, read_letter);
    el_set(lines->editor, EL_PROMPT, prompt);
    el_set(lines->editor, EL_EDITOR, "emacs");
    el_set(lines->editor, EL_SIGNAL, 1);
    el_set(lines->editor, EL_HIST, history, lines->history);
    el_set(lines->editor, EL_ADDFN, "complete", "complete the word before the cursor", complete);
    el_set(lines->editor, EL_BIND, "^I", "complete", NULL);
    el_source(lines->editor, NULL);
}

static void close_editor(lines_t *lines)
{
    if (lines->editor != NULL)
        el_end(lines->editor);
    if (lines->history != NULL)
        history_end(lines->history);
}

static line_end_t read_edited(lines_t *lines, char **line)
{
    HistEvent event;
    int count = 0;
    const char *text = el_gets(lines->editor, &count);
    if (text == NULL || count <= 0) {
        putchar('\n');
        return count < 0 && !lines->closed ? LINES_BROKEN : LINES_OVER;
    }
    size_t length = strcspn(text, "\r\n");
    if (length > LINE_BYTES_MAX)
        return LINE_TOO_LONG;
    memcpy(lines->line, text, length);
    lines->line[length] = '\0';
    if (lines->line[strspn(lines->line, " \t")] != '\0')
        history(lines->history, &event, H_ENTER, lines->line);
    *line = lines->line;
    save_history(lines); /* after each line, since the process may be killed at any time */
    return LINE_READ;
}

#endif

/* --- either --------------------------------------------------------------------------------------------- */

lines_t *lines_open(const line_completer_t *completer, const line_waiter_t *waiter)
{
    lines_t *lines = calloc(1, sizeof *lines);
    if (lines == NULL)
        return NULL;
    lines->completer = completer;
    lines->waiter = waiter;
    setvbuf(stdin, NULL, _IONBF, 0);
    lines->interactive = os_is_terminal(0) && os_is_terminal(1);
#ifdef BACKPLANE_LIBEDIT
    if (lines->interactive)
        open_editor(lines);
#endif
    return lines;
}

void lines_close(lines_t *lines)
{
#ifdef BACKPLANE_LIBEDIT
    close_editor(lines);
#endif
    free(lines);
}

static line_end_t read_line(lines_t *lines, char **line)
{
#ifdef BACKPLANE_LIBEDIT
    if (lines->editor != NULL)
        return read_edited(lines, line);
#endif
    return prompt_and_read(lines, line);
}

line_end_t lines_next(lines_t *lines, char **line)
{
    lines->reading = true;
    lines->hidden = false;
    line_end_t end = read_line(lines, line);
    lines->reading = false;
    return end;
}

void lines_hide(lines_t *lines)
{
    if (!lines->interactive || !lines->reading || lines->hidden)
        return;
    lines->hidden = true;
    fputs("\r\033[K", stdout);
    fflush(stdout);
}

void lines_show(lines_t *lines)
{
    if (!lines->hidden)
        return;
    lines->hidden = false;
    fflush(stdout);
#ifdef BACKPLANE_LIBEDIT
    if (lines->editor != NULL) {
        el_set(lines->editor, EL_REFRESH);
        return;
    }
#endif
    fputs(prompt_text, stdout);
    fflush(stdout);
}

/* --- complete ---------------------------------------------------------------------------------------------------- */

/* The words that TAB offers at the prompt.
 *
 * A path is completed part by part: world, then "/" and the entity's debug name, then "." and the
 * component, then "." and the property; the dots are typed by the user, because an entity or a component
 * alone is a path too. Behind a world, "." in place of "/" leads to the components of the world itself.
 * Names that would have to be quoted are not offered.
 */

enum { ENTITIES_SEARCHED = 100000 }; /* looked at for their names: a key press must not take seconds */

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static void offer_commands(const char *word, completions_t *completions)
{
    const char *name;
    for (uint32_t i = 0; (name = console_command_name(i)) != NULL; i++)
        if (begins_with(name, word))
            completions_add(completions, "", name, true);
}

static void offer_plugins(const program_t *program, const char *word, completions_t *completions)
{
    bp_look_plugin_t plugin = {.struct_size = sizeof plugin};
    for (uint32_t cursor = 0; program->look->plugin(program->host, &cursor, &plugin);)
        if (begins_with(plugin.name, word))
            completions_add(completions, "", plugin.name, true);
}

/* Worlds as words of their own, or as beginnings of paths. */
static void offer_worlds(const program_t *program, const char *word, bool of_path, completions_t *completions)
{
    bp_world_o *world;
    for (uint32_t i = 0; (world = program->api->world->at(program->host, i)) != NULL; i++) {
        const char *name = program->api->world->name(world);
        if (begins_with(name, word))
            completions_add(completions, name, of_path ? "/" : "", !of_path);
    }
}

/* `before` is the path so far, `start` what has been typed of the entity. */
static void offer_entities(const program_t *program, bp_world_o *world, const char *before, const char *start,
                           completions_t *completions)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < ENTITIES_SEARCHED && completions->count < COMPLETIONS_MAX; i++) {
        char id[ENTITY_TEXT_MAX];
        bp_entity_t entity = program->api->world->next(world, &index);
        if (entity.id == 0)
            return;
        program->api->entity->format(program->host, entity, id, sizeof id);
        const char *name = start[0] == '#' ? id : inspect_name(program, world, entity);
        if (name != NULL && name[0] != '\0' && begins_with(name, start) && strpbrk(name, " \t\"") == NULL)
            completions_add(completions, before, name, false);
    }
}

static void offer_components(const program_t *program, const target_t *target, const char *before,
                             const char *start, completions_t *completions)
{
    attached_list_t list;
    if (!inspect_components(program, target->world, target->entity, &list))
        return;
    for (uint32_t i = 0; i < list.count; i++)
        if (begins_with(list.items[i].name, start))
            completions_add(completions, before, list.items[i].name, false);
    inspect_release(&list);
}

static void offer_properties(const program_t *program, const target_t *target, const char *before,
                             const char *start, completions_t *completions)
{
    bp_field_t field;
    for (uint32_t i = 0;; i++) {
        if (program->api->property->describe(program->host, target->component.type, i, &field, sizeof field) != BP_OK)
            return;
        if (begins_with(field.name, start))
            completions_add(completions, before, field.name, true);
    }
}

/* `path`, of less than COMPLETION_BYTES_MAX bytes, is cut up to write the parts apart. */
static void offer_path(const program_t *program, char *path, completions_t *completions)
{
    char before[COMPLETION_BYTES_MAX];
    char why[WHY_MAX];
    target_t target;
    char *slash = strchr(path, '/');
    char *dot = strrchr(slash != NULL ? slash : path, '.');
    if (slash == NULL && dot == NULL) {
        offer_worlds(program, path, true, completions);
        return;
    }
    size_t kept = (size_t)((dot != NULL ? dot : slash) + 1 - path);
    memcpy(before, path, kept);
    before[kept] = '\0';
    if (dot == NULL) {
        *slash = '\0';
        bp_world_o *world = inspect_world(program, path, why);
        if (world != NULL)
            offer_entities(program, world, before, slash + 1, completions);
        return;
    }
    *dot = '\0';
    if (!inspect_path(program, path, &target, why))
        return;
    if (target.kind == TARGET_ENTITY)
        offer_components(program, &target, before, dot + 1, completions);
    else if (target.kind == TARGET_COMPONENT)
        offer_properties(program, &target, before, dot + 1, completions);
}

static void offer_path_copy(const program_t *program, const char *word, completions_t *completions)
{
    char path[COMPLETION_BYTES_MAX];
    if (strlen(word) >= sizeof path)
        return;
    memcpy(path, word, strlen(word) + 1);
    offer_path(program, path, completions);
}

static bool is_one_of(const char *command, const char *const *names)
{
    while (*names != NULL && strcmp(*names, command) != 0)
        names++;
    return *names != NULL;
}

/* Offer words for the place behind the command. */
static void offer_second(const program_t *program, const char *command, const char *word, completions_t *completions)
{
    static const char *const of_worlds[] = {"entities", "save", "load", "tree", NULL};
    static const char *const of_paths[] = {"get", "set", "tree", NULL};
    bool path = strchr(word, '/') != NULL;
    if (strcmp(command, "help") == 0)
        offer_commands(word, completions);
    else if (strcmp(command, "plugins") == 0)
        offer_plugins(program, word, completions);
    else if (!path && is_one_of(command, of_worlds))
        offer_worlds(program, word, false, completions);
    else if (is_one_of(command, of_paths))
        offer_path_copy(program, word, completions);
}

/* Offer the values of the property that `path` names, as far as they have names. `path` is cut up. */
static void offer_values(const program_t *program, char *path, const char *word, completions_t *completions)
{
    char why[WHY_MAX];
    target_t target;
    bp_field_t field;
    described_value_t value = {.number = -1};
    char *dot = strrchr(path, '.');
    if (dot == NULL)
        return;
    *dot = '\0';
    if (!inspect_path(program, path, &target, why) || target.kind != TARGET_COMPONENT)
        return;
    for (uint32_t i = 0;
         program->api->property->describe(program->host, target.component.type, i, &field, sizeof field) == BP_OK;
         i++) {
        const char *values = strcmp(field.name, dot + 1) == 0 ? field.values : NULL;
        while (describe_value(&values, &value)) {
            if (begins_with(value.name, word))
                completions_add(completions, "", value.name, true);
        }
    }
}

/* Offer words for the place behind the command's first word, which is `second`, and may be cut up. */
static void offer_third(const program_t *program, const char *command, char *second, const char *word,
                        completions_t *completions)
{
    char why[WHY_MAX];
    bp_world_o *world = strcmp(command, "tree") == 0 ? inspect_world(program, second, why) : NULL;
    if (strcmp(command, "spawn") == 0)
        offer_worlds(program, word, false, completions);
    else if (strcmp(command, "set") == 0)
        offer_values(program, second, word, completions);
    else if (world != NULL)
        offer_entities(program, world, "", word, completions);
}

void console_complete(void *context, const char *line, const char *word, completions_t *completions)
{
    const console_t *console = context;
    char command[16], second[256];
    const char *start = line + strspn(line, " \t");
    size_t length = strcspn(start, " \t");
    if (start >= word) {
        offer_commands(word, completions);
        return;
    }
    snprintf(command, sizeof command, "%.*s", length < sizeof command ? (int)length : 0, start);
    if (strcmp(command, "destroy") == 0) { /* any number of entities */
        offer_path_copy(console->program, word, completions);
        return;
    }
    start += length + strspn(start + length, " \t");
    if (start == word) {
        offer_second(console->program, command, word, completions);
        return;
    }
    length = strcspn(start, " \t");
    snprintf(second, sizeof second, "%.*s", length < sizeof second ? (int)length : 0, start);
    if (start + length + strspn(start + length, " \t") == word)
        offer_third(console->program, command, second, word, completions);
}
