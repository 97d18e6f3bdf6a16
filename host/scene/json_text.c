/* json_text.c - places in a text, as people and editors write them.
 *
 * Items know their offsets; lines and columns are counted only for the one sentence of a failure. A path is followed
 * from the top again for that sentence, so that none has to be kept while all goes well.
 */
#include "../base/error.h"
#include "json.h"

#include <stdarg.h>

/* --- places ------------------------------------------------------------------------------------------------------ */

typedef struct place_t {
    uint64_t line, column; /* counted from 1; columns count characters */
} place_t;

static place_t place_of(const json_text_t *text, size_t offset)
{
    place_t place = {1, 1};
    for (size_t i = 0; i < offset && i < text->size; i++) {
        if (text->bytes[i] == '\n')
            place = (place_t){place.line + 1, 1};
        else if (((unsigned char)text->bytes[i] & 0xC0) != 0x80)
            place.column++;
    }
    return place;
}

static bp_result_t at_place(const json_text_t *text, error_text_t *error, bp_result_t code, size_t offset)
{
    place_t place = place_of(text, offset);
    return error_prefix(error, code, "%s:%llu:%llu: ", text->origin, (unsigned long long)place.line,
                        (unsigned long long)place.column);
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

bp_result_t json_text_read(json_text_t *text, memory_t *memory, const char *origin, const char *bytes, size_t size,
                           error_text_t *error)
{
    json_fault_t fault = {.error = error};
    *text = (json_text_t){.origin = origin, .bytes = bytes, .size = size};
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        text->bytes += 3;
        text->size -= 3;
    }
    bp_result_t result = tree_read(&text->tree, memory, text->bytes, text->size, &fault);
    return result == BP_OK ? BP_OK : at_place(text, error, result, fault.offset);
}

void json_text_free(json_text_t *text)
{
    tree_free(&text->tree);
}

/* --- paths -------------------------------------------------------------------------------------------------------- */

/* The value that a step leads to, and the item to point at: a member's name, or the element itself. NULL where the step
 * does not exist. */
static const tree_item_t *follow(const tree_item_t *from, const json_step_t *step, const tree_item_t **pointed)
{
    size_t index = 0;
    if (!tree_is(from, step->key != NULL ? TREE_OBJECT : TREE_LIST))
        return NULL;
    for (tree_walk_t walk = tree_walk(from); tree_next(&walk); index++) {
        if (step->key != NULL ? strcmp(walk.key->string, step->key) != 0 : index != step->index)
            continue;
        *pointed = step->key != NULL ? walk.key : walk.value;
        return walk.value;
    }
    return NULL;
}

static size_t find_path(const json_text_t *text, const json_step_t *steps, uint32_t count)
{
    const tree_item_t *at = text->tree.items, *pointed = at;
    for (uint32_t i = 0; i < count && at != NULL; i++)
        at = follow(at, &steps[i], &pointed);
    return tree_place(pointed);
}

static void append_steps(text_t *path, const json_step_t *steps, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (steps[i].key != NULL)
            text_append(path, "%s%.80s", i > 0 ? "." : "", steps[i].key);
        else
            text_append(path, "[%zu]", steps[i].index);
    }
}

/* Write a path; one that does not fit loses its beginning, since its end is of more use. */
static void write_path(text_t *path, const json_step_t *steps, uint32_t count)
{
    enum { KEPT = 16 };
    path->length = 0;
    path->chars[0] = '\0';
    append_steps(path, steps, count);
    if (path->length < sizeof path->chars - 1 || count <= KEPT)
        return;
    path->length = 0;
    text_append(path, "...");
    append_steps(path, steps + count - KEPT, KEPT);
}

bp_result_t json_text_fail(const json_text_t *text, error_text_t *error, bp_result_t code, const json_step_t *steps,
                           uint32_t count, const char *format, ...)
{
    error_text_t said;
    text_t path;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said.text, sizeof said.text, format, arguments);
    va_end(arguments);
    write_path(&path, steps, count);
    error_set(error, code, "%s%s%s", path.chars, count > 0 ? ": " : "", said.text);
    return at_place(text, error, code, find_path(text, steps, count));
}

/* --- print ------------------------------------------------------------------------------------------------------- */

/* Values as JSON, from the one grammar of values as text (base/value.h).
 *
 * value_format writes the fewest digits that read back to the same bits, so its numbers are taken as they are.
 */

void print_text(const bp_text_sink_i *sink, const char *text)
{
    sink->write(sink->context, text, strlen(text));
}

void print_format(const bp_text_sink_i *sink, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        sink->write(sink->context, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* Bytes of the UTF-8 sequence at `text`; 0 where there is none. */
static size_t sequence(const unsigned char *text)
{
    size_t length = text[0] < 0x80                      ? 1
                    : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                    : (text[0] & 0xf0) == 0xe0          ? 3
                    : text[0] >= 0xf0 && text[0] < 0xf5 ? 4
                                                        : 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    bool wrong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] >= 0xa0) ||
                 (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] >= 0x90);
    return length > 1 && wrong ? 0 : length;
}

void print_quoted(const bp_text_sink_i *sink, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    print_text(sink, "\"");
    while (*at != '\0') {
        const unsigned char *plain = at;
        size_t length;
        while (*at >= 0x20 && *at != '"' && *at != '\\' && *at != 0x7f && (length = sequence(at)) > 0)
            at += length;
        if (at > plain)
            sink->write(sink->context, (const char *)plain, (size_t)(at - plain));
        if (*at == '\0')
            break;
        if (*at == '"' || *at == '\\')
            print_format(sink, "\\%c", *at);
        else if (*at >= 0x80)
            print_text(sink, "\xef\xbf\xbd");
        else
            print_format(sink, "\\u%04x", *at);
        at++;
    }
    print_text(sink, "\"");
}

static bool is_finite(uint32_t type, const void *value)
{
    for (uint32_t i = 0; i < value_parts(type); i++) {
        double part = value_part(type, value, i);
        if (part - part != 0.0)
            return false;
    }
    return true;
}

void print_json_value(const bp_text_sink_i *sink, const value_context_t *context, uint32_t type, const void *value)
{
    char text[512];
    value_format(context, type, value, text, sizeof text);
    /* no whole number of JSON texts here */
    bool large = type == BP_U64 && value_part(type, value, 0) > 9223372036854775807.0;
    if (text[0] == '#' || large || !is_finite(type, value)) {
        print_quoted(sink, text);
        return;
    }
    if (value_parts(type) <= 1) {
        print_text(sink, text);
        return;
    }
    print_text(sink, "[");
    for (char *at = text, *end; at != NULL; at = end) {
        end = strchr(at, ' ');
        print_format(sink, "%.*s%s", (int)(end == NULL ? strlen(at) : (size_t)(end - at)), at, end == NULL ? "" : ", ");
        end = end == NULL ? NULL : end + 1;
    }
    print_text(sink, "]");
}

void print_json_field(const bp_text_sink_i *sink, const value_context_t *context, const field_t *field,
                      const void *value)
{
    char text[NAMED_MAX_TEXT];
    if (field->named.count == 0) {
        print_json_value(sink, context, field->type, value);
        return;
    }
    field_format(field, context, value, text, sizeof text);
    print_quoted(sink, text);
}

static void gather(void *context, const char *text, size_t length)
{
    print_buffer_t *buffer = context;
    if (buffer->failed)
        return;
    if (buffer->length + length + 1 > buffer->room) {
        size_t room = (buffer->length + length + 1) * 2;
        char *bigger = memory_resize(buffer->memory, buffer->text, buffer->room, room);
        buffer->failed = bigger == NULL;
        if (bigger == NULL)
            return;
        buffer->text = bigger;
        buffer->room = room;
    }
    memcpy(buffer->text + buffer->length, text, length);
    buffer->length += length;
    buffer->text[buffer->length] = '\0';
}

bp_text_sink_i print_into(print_buffer_t *buffer)
{
    return (bp_text_sink_i){.context = buffer, .write = gather};
}

void print_buffer_free(print_buffer_t *buffer)
{
    memory_free(buffer->memory, buffer->text, buffer->room);
    *buffer = (print_buffer_t){.memory = buffer->memory};
}
