/* print.c - values as JSON, from the one grammar of values as text (base/value.h).
 *
 * value_format writes the fewest digits that read back to the same bits, so its numbers are taken as they are.
 */
#include "print.h"

#include <stdarg.h>

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
    size_t length = text[0] < 0x80 ? 1 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2 : (text[0] & 0xf0) == 0xe0 ? 3 : text[0] >= 0xf0 && text[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    bool wrong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] >= 0xa0) || (text[0] == 0xf0 && text[1] < 0x90) ||
                 (text[0] == 0xf4 && text[1] >= 0x90);
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
    if (text[0] == '#' || !is_finite(type, value)) {
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
    return (bp_text_sink_i){buffer, gather};
}

void print_buffer_free(print_buffer_t *buffer)
{
    memory_free(buffer->memory, buffer->text, buffer->room);
    *buffer = (print_buffer_t){.memory = buffer->memory};
}
