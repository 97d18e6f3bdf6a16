/* ini.c - inih underneath, line numbers and continuation on top.
 *
 * inih hands over values as it reads lines, but does not say which line. So lines are fed to it one by one from a
 * reader of ours, which counts them, notes section headers, and refuses lines longer than inih's buffer (it would cut
 * them silently). A continuation line arrives as the same key again; the reader knows it by its white space.
 */
#include "ini.h"

#include "../base/file.h"

#include <ini.h>
#include <stdio.h>

enum { MOST_BYTES = 16 * 1024 * 1024 }; /* of a file: one that never ends, such as a device, ends there */

typedef struct reader_t {
    ini_t *ini;
    base_t *base;
    const char *at;
    uint32_t line;
    bool continues; /* the present line begins with white space */
    bp_result_t result;
} reader_t;

static bp_result_t fail(reader_t *r, bp_result_t code, const char *what)
{
    if (r->result == BP_OK)
        r->result = error_set(&r->base->error, code, "%s:%u: %s", r->ini->path, r->line, what);
    return r->result;
}

/* Words with one blank between them, so that "[ plugin  gravity ]" is the section "plugin gravity". */
static void join_words(const char *text, size_t length, char *out)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        bool blank = text[i] == ' ' || text[i] == '\t';
        if (!blank)
            out[used++] = text[i];
        else if (used > 0 && out[used - 1] != ' ')
            out[used++] = ' ';
    }
    if (used > 0 && out[used - 1] == ' ')
        used--;
    out[used] = '\0';
}

static void note_section(reader_t *r, const char *line, size_t length)
{
    ini_t *ini = r->ini;
    bool keys = ini->count > 0 && ini->entries[ini->count - 1].section_number == ini->section_count;
    if (r->continues && keys)
        return; /* inih takes such a line as the continuation of a value, whatever is in it */
    if (r->line == 1 && length >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0) {
        line += 3;
        length -= 3;
    }
    for (; length > 0 && (*line == ' ' || *line == '\t'); length--)
        line++;
    const char *end = memchr(line, ']', length);
    if (length == 0 || line[0] != '[' || end == NULL)
        return;
    const char *behind = end + 1, *last = line + length;
    while (behind < last && (*behind == ' ' || *behind == '\t' || *behind == '\r'))
        behind++;
    if (behind < last && *behind != ';' && *behind != '#') {
        fail(r, BP_ERROR_SYNTAX, "something stands behind the ] of a section; begin a new line");
        return;
    }
    if (!memory_reserve(&ini->memory, &ini->sections, &ini->section_capacity, ini->section_count + 1u,
                        sizeof *ini->sections)) {
        fail(r, BP_ERROR_MEMORY, "out of memory while reading the file");
        return;
    }
    char name[INI_LINE_BYTES + 1];
    join_words(line + 1, (size_t)(end - line) - 1, name);
    char *copy = memory_copy_text(&ini->memory, name);
    if (copy == NULL) {
        fail(r, BP_ERROR_MEMORY, "out of memory while reading the file");
        return;
    }
    ini->sections[ini->section_count++] = (ini_section_t){copy, r->line};
}

/* inih's reader: the next line into `buffer`. */
static char *next_line(char *buffer, int room, void *stream)
{
    reader_t *r = stream;
    if (*r->at == '\0' || r->result != BP_OK)
        return NULL;
    size_t length = strcspn(r->at, "\n");
    r->line++;
    r->continues = r->at[0] == ' ' || r->at[0] == '\t';
    if (length > INI_LINE_BYTES || (int)length + 2 > room) {
        char text[160];
        snprintf(text, sizeof text,
                 "the line has %zu bytes, at most %d are read; go on in a further line that begins with a blank",
                 length, INI_LINE_BYTES);
        fail(r, BP_ERROR_LIMIT, text);
        return NULL;
    }
    note_section(r, r->at, length);
    memcpy(buffer, r->at, length);
    r->at += length;
    if (*r->at == '\n')
        buffer[length++] = *r->at++;
    buffer[length] = '\0';
    return buffer;
}

/* Bytes of a continuation line before its comment, which not every version of inih takes off. */
static size_t without_comment(const char *text)
{
    size_t length = 0;
    while (text[length] != '\0' &&
           !(text[length] == ';' && (length == 0 || text[length - 1] == ' ' || text[length - 1] == '\t')))
        length++;
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    return length;
}

static bool extend_value(ini_t *ini, const char *more)
{
    ini_entry_t *entry = &ini->entries[ini->count - 1];
    size_t old = strlen(entry->value), added = without_comment(more);
    if (added == 0)
        return true;
    char *longer = memory_resize(&ini->memory, entry->value, old + 1, old + added + 2);
    if (longer == NULL)
        return false;
    longer[old] = ' ';
    memcpy(longer + old + 1, more, added);
    longer[old + 1 + added] = '\0';
    entry->value = longer;
    return true;
}

static bool add_entry(ini_t *ini, const char *section, const char *key, const char *value, uint32_t line)
{
    if (!memory_reserve(&ini->memory, &ini->entries, &ini->capacity, ini->count + 1u, sizeof *ini->entries))
        return false;
    ini_entry_t *e = &ini->entries[ini->count++];
    *e = (ini_entry_t){
        .section = memory_copy_text(&ini->memory, section),
        .key = memory_copy_text(&ini->memory, key),
        .value = memory_copy_text(&ini->memory, value),
        .line = line,
        .section_number = ini->section_count,
    };
    return e->section != NULL && e->key != NULL && e->value != NULL;
}

/* inih's handler: one key and value. Returns 0 to stop. */
static int take(void *user, const char *section, const char *key, const char *value)
{
    reader_t *r = user;
    ini_t *ini = r->ini;
    (void)section; /* cut at 50 bytes by inih; ours is whole */
    if (r->continues && ini->count > 0 && ini->entries[ini->count - 1].section_number == ini->section_count) {
        if (!extend_value(ini, value))
            fail(r, BP_ERROR_MEMORY, "out of memory while reading the file");
        return r->result == BP_OK;
    }
    for (uint32_t i = ini->count; i > 0 && ini->entries[i - 1].section_number == ini->section_count; i--) {
        if (strcmp(ini->entries[i - 1].key, key) == 0) {
            char text[160];
            snprintf(text, sizeof text, "'%.60s' is given a second time (first in line %u)", key,
                     ini->entries[i - 1].line);
            fail(r, BP_ERROR_EXISTS, text);
            return 0;
        }
    }
    const char *name = ini->section_count == 0 ? "" : ini->sections[ini->section_count - 1].name;
    if (!add_entry(ini, name, key, value, r->line))
        fail(r, BP_ERROR_MEMORY, "out of memory while reading the file");
    return r->result == BP_OK;
}

static bp_result_t zero_byte(reader_t *r)
{
    r->line = 1;
    for (const char *at = r->at; *at != '\0'; at++)
        r->line += *at == '\n';
    return fail(r, BP_ERROR_SYNTAX, "it holds a zero byte, so it is no text");
}

bp_result_t ini_read(ini_t *ini, base_t *base, const char *path)
{
    char *bytes;
    size_t size;
    memset(ini, 0, sizeof *ini);
    memory_init_child(&ini->memory, "ini", &base->memory);
    bp_result_t result = file_read_most(&ini->memory, path, MOST_BYTES, &bytes, &size, &base->error);
    if (result != BP_OK)
        return result;
    ini->path = memory_copy_text(&ini->memory, path);
    reader_t r = {.ini = ini, .base = base, .at = bytes};
    if (ini->path == NULL)
        r.result = error_set(&base->error, BP_ERROR_MEMORY, "%s: out of memory while reading it", path);
    else if (strlen(bytes) != size)
        r.result = zero_byte(&r);
    else {
        int bad_line = ini_parse_stream(next_line, &r, take, &r);
        r.line = bad_line > 0 ? (uint32_t)bad_line : r.line;
        if (bad_line != 0)
            fail(&r, BP_ERROR_SYNTAX, "this is neither [section] nor key = value");
    }
    memory_free(&ini->memory, bytes, size + 1);
    if (r.result != BP_OK)
        ini_free(ini);
    return r.result;
}

void ini_free(ini_t *ini)
{
    memory_t *memory = &ini->memory;
    for (uint32_t i = 0; i < ini->count; i++) {
        memory_free_text(memory, ini->entries[i].section);
        memory_free_text(memory, ini->entries[i].key);
        memory_free_text(memory, ini->entries[i].value);
    }
    for (uint32_t i = 0; i < ini->section_count; i++)
        memory_free_text(memory, ini->sections[i].name);
    memory_free(memory, ini->entries, ini->capacity * sizeof *ini->entries);
    memory_free(memory, ini->sections, ini->section_capacity * sizeof *ini->sections);
    memory_free_text(memory, ini->path);
    memset(ini, 0, sizeof *ini);
}
