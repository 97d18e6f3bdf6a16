/* json_output.c - texts to JSON values.
 *
 * Numbers are written with 15 digits: any double carries so many of a decimal text, so 0.1 stays 0.1
 * and does not turn into 0.10000000000000001. A text with a number that a double cannot hold (1e999) stays a string.
 */
#include "json_output.h"

#include "../os/files.h"
#include "output.h"

#include <backplane.h>

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 256, KEY_MAX = 512 };

json_t *json_output_checked(json_t *value, int bad)
{
    if (bad == 0)
        return value;
    json_decref(value);
    return NULL;
}

json_t *json_output_text(const char *text)
{
    if (text == NULL)
        return json_null();
    json_t *string = json_string(text);
    if (string != NULL)
        return string;
    size_t length = strlen(text);
    char *plain = malloc(length + 1);
    if (plain == NULL)
        return NULL;
    for (size_t i = 0; i <= length; i++)
        plain[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    string = json_string(plain);
    free(plain);
    return string;
}

json_t *json_output_count(uint64_t count)
{
    return json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count);
}

static json_t *number_of(const char *text)
{
    if (numbers_is_whole(text)) {
        errno = 0;
        long long whole = strtoll(text, NULL, 10);
        if (errno == 0 && strcmp(text, "-0") != 0)
            return json_integer(whole);
    }
    double real = strtod(text, NULL);
    return real >= -DBL_MAX && real <= DBL_MAX ? json_real(real) : json_output_text(text);
}

json_t *json_output_cell(const char *text)
{
    return text != NULL && numbers_is_number(text) ? number_of(text) : json_output_text(text);
}

static bool is_whole_type(uint32_t type)
{
    return type == BP_I8 || type == BP_U8 || type == BP_I16 || type == BP_U16 || type == BP_I32 || type == BP_U32 ||
           type == BP_I64 || type == BP_U64;
}

/* Plugins may declare numbers in each way that a host reads (value.c): in hexadecimal, with zeros in front. */
json_t *json_output_number(uint32_t type, const char *text)
{
    char *end = NULL;
    if (text == NULL || numbers_is_number(text))
        return json_output_cell(text);
    errno = 0;
    long long whole = is_whole_type(type) ? strtoll(text, &end, numbers_base(text)) : 0;
    double real = is_whole_type(type) ? 0 : strtod(text, &end);
    if (end == text || end[strspn(end, " \t")] != '\0' || errno != 0 || !(real >= -DBL_MAX && real <= DBL_MAX))
        return json_output_text(text);
    return is_whole_type(type) ? json_integer(whole) : json_real(real);
}

/* Cut the next word off `*text`; false where there is none. */
static bool next_word(const char **text, char word[WORD_MAX])
{
    const char *start = *text + strspn(*text, " \t,");
    size_t length = strcspn(start, " \t,");
    *text = start + length;
    if (length >= WORD_MAX)
        length = WORD_MAX - 1;
    memcpy(word, start, length);
    word[length] = '\0';
    return length > 0;
}

static json_t *list_of(const char *text)
{
    char word[WORD_MAX];
    int bad = 0;
    const char *rest = text;
    while (next_word(&rest, word))
        if (!numbers_is_number(word))
            return json_output_text(text);
    json_t *list = json_array();
    rest = text;
    while (bad == 0 && next_word(&rest, word))
        bad = json_array_append_new(list, number_of(word));
    return json_output_checked(list, bad);
}

static json_t *truth_of(const char *text)
{
    static const char *const words[2][4] = {{"false", "off", "no", "0"}, {"true", "on", "yes", "1"}};
    for (int i = 0; i < 8; i++) {
        if (strcmp(text, words[i / 4][i % 4]) == 0)
            return json_boolean(i / 4);
    }
    return json_output_text(text);
}

json_t *json_output_value(uint32_t type, const char *text)
{
    if (text == NULL)
        return json_null();
    switch (type) {
    case BP_BOOL: return truth_of(text);
    case BP_I8:
    case BP_U8:
    case BP_I16:
    case BP_U16:
    case BP_I32:
    case BP_U32:
    case BP_I64:
    case BP_U64:
    case BP_F32:
    case BP_F64: return json_output_number(type, text);
    case BP_VEC2:
    case BP_VEC3:
    case BP_VEC4:
    case BP_DVEC2:
    case BP_DVEC3:
    case BP_DVEC4:
    case BP_QUAT:
    case BP_MAT4:
    case BP_COLOUR: return list_of(text);
    default:
        return json_output_text(text);
    }
}

/* The next value of "[1, 2]" from `*text` on, decoded to `room`, which is as long as the text. False where there is
 * none. */
static bool next_value(const char **text, char *room)
{
    static const char letters[] = "\"\\/nrt", meant[] = "\"\\/\n\r\t";
    const char *at = *text + strspn(*text, " \t,[");
    char *to = room;
    if (*at == '\0' || *at == ']')
        return false;
    bool quoted = *at == '"';
    for (at += quoted; *at != '\0' && (quoted ? *at != '"' : *at != ',' && *at != ']'); at++) {
        const char *letter = quoted && *at == '\\' && at[1] != '\0' ? strchr(letters, at[1]) : NULL;
        *to++ = letter != NULL ? meant[letter - letters] : *at;
        at += letter != NULL;
    }
    at += *at == '"';
    while (!quoted && to > room && (to[-1] == ' ' || to[-1] == '\t'))
        to--;
    *to = '\0';
    *text = at;
    return true;
}

json_t *json_output_values(uint32_t type, const char *text)
{
    if (text == NULL || text[0] != '[')
        return json_output_text(text);
    char *room = malloc(strlen(text) + 1);
    json_t *list = json_array();
    int bad = room == NULL ? -1 : 0;
    while (bad == 0 && next_value(&text, room))
        bad = json_array_append_new(list, json_output_value(type, room));
    free(room);
    return json_output_checked(list, bad);
}

json_t *json_output_words(const char *text)
{
    char word[WORD_MAX];
    int bad = 0;
    json_t *list = json_array();
    while (bad == 0 && text != NULL && next_word(&text, word))
        bad = json_array_append_new(list, json_output_text(word));
    return json_output_checked(list, bad);
}

/* Make a key valid UTF-8: a text that was cut, or a plugin's own, may not be. */
static const char *make_valid(char *key)
{
    json_t *string = json_string(key);
    for (char *c = key; string == NULL && *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    json_decref(string);
    return key;
}

int json_output_set_unique(json_t *object, const char *key, json_t *value)
{
    char numbered[KEY_MAX];
    snprintf(numbered, sizeof numbered, "%s", key);
    for (unsigned i = 2; json_object_get(object, make_valid(numbered)) != NULL; i++)
        snprintf(numbered, sizeof numbered, "%.*s %u", KEY_MAX - 16, key, i);
    return json_object_set_new(object, numbered, value);
}

/* A text as it is written. jansson goes on where there was no memory for a part of it, in json_dumps too, so `failed`
 * is looked at in the end. */
typedef struct written_t {
    char *text;
    size_t length, room;
    bool failed;
} written_t;

static int write_part(const char *bytes, size_t size, void *data)
{
    written_t *w = data;
    if (w->room - w->length <= size) {
        size_t room = 2 * w->room + size + 1;
        char *larger = realloc(w->text, room);
        w->failed = w->failed || larger == NULL;
        if (larger == NULL)
            return -1;
        w->text = larger;
        w->room = room;
    }
    memcpy(w->text + w->length, bytes, size);
    w->length += size;
    w->text[w->length] = '\0';
    return 0;
}

char *json_output_write(const json_t *root, size_t flags)
{
    written_t w = {.text = NULL};
    if (root != NULL && json_dump_callback(root, write_part, &w, flags) == 0 && !w.failed)
        return w.text;
    free(w.text);
    return NULL;
}

int json_output_print(json_t *root)
{
    char *text = json_output_write(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    if (text == NULL) {
        complain("out of memory while writing JSON");
        return STATUS_FAILED;
    }
    puts(text);
    free(text);
    return STATUS_FINE; /* main reports an output that cannot be written, as for all commands */
}

/* --- trace file -------------------------------------------------------------------------------------------------- */

/* One event a line.
 *
 * A slice is an event "X" with its beginning and length in microseconds; threads get their names when they are first
 * met; the entities of a world are a counter, one value a step. Names of worlds, units and what the host does are words
 * and spaces, which JSON takes as they are.
 */

static void name_thread(trace_file_t *trace, uint32_t thread)
{
    char name[32] = "main";
    if (thread > 0)
        snprintf(name, sizeof name, "worker %" PRIu32, thread);
    fprintf(trace->file,
            ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu32 ",\"args\":{\"name\":\"%s\"}}",
            thread, name);
    fprintf(trace->file,
            ",\n{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu32
            ",\"args\":{\"sort_index\":%" PRIu32 "}}",
            thread, thread);
}

static void write_slice(trace_file_t *trace, const bp_trace_slice_t *slice)
{
    static const char *const kinds[] = {"step", "unit", "range", "notices", "commands", "gc", "together"};
    static const char *const counts[] = {"entities", "rows", "rows", "entities", "commands", "collected", "worlds"};
    uint32_t kind = slice->kind < sizeof kinds / sizeof *kinds ? slice->kind : BP_SLICE_UNIT;
    for (; trace->threads <= slice->thread; trace->threads++)
        name_thread(trace, trace->threads);
    fprintf(trace->file,
            ",\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":%" PRIu32
            ",\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"world\":\"%s\",\"%s\":%" PRIu64 "}}",
            slice->name, kinds[kind], slice->thread, (double)slice->begin / 1e3,
            (double)(slice->end - slice->begin) / 1e3, slice->world, counts[kind], slice->count);
    if (kind == BP_SLICE_STEP)
        fprintf(trace->file,
                ",\n{\"name\":\"entities of %s\",\"ph\":\"C\",\"pid\":1,\"ts\":%.3f,\"args\":{\"entities\":%" PRIu64
                "}}",
                slice->world, (double)slice->end / 1e3, slice->count);
}

static void take(void *context, const bp_trace_slice_t *slices, uint32_t count, uint64_t lost)
{
    trace_file_t *trace = context;
    for (uint32_t i = 0; i < count; i++)
        write_slice(trace, &slices[i]);
    trace->lost += lost;
}

bool trace_file_begin(trace_file_t *trace, bp_host_o *host, const char *path)
{
    *trace = (trace_file_t){.path = path, .file = os_file_open(path, "wb")};
    if (trace->file == NULL) {
        complain("%s: the trace cannot be written there", path);
        return false;
    }
    if (bp_host_trace(host, &(bp_trace_i){.context = trace, .slices = take}) != BP_OK) {
        complain("%s", bp_host_error(host));
        fclose(trace->file);
        return false;
    }
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
          "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"backplane\"}}",
          trace->file);
    return true;
}

bool trace_file_end(trace_file_t *trace, bp_host_o *host)
{
    bp_host_trace(host, NULL);
    fprintf(trace->file, "\n],\"otherData\":{\"lost\":%" PRIu64 "}}\n", trace->lost);
    bool whole = ferror(trace->file) == 0;
    whole = fclose(trace->file) == 0 && whole;
    if (!whole)
        complain("%s: the trace could not be written whole", trace->path);
    else if (trace->lost > 0)
        complain("%s: %" PRIu64 " slices found no room and are missing from the trace", trace->path, trace->lost);
    return whole;
}
