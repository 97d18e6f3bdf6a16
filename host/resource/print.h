/* print.h - texts of scenes for people and for JSON, piece by piece into a sink.
 *
 * What it does not do: it keeps no indentation and checks no grammar; who prints knows where he is.
 */
#ifndef HOST_RESOURCE_PRINT_H
#define HOST_RESOURCE_PRINT_H

#include "../base/base.h"

void print_text(const bp_text_sink_i *sink, const char *text);
void print_format(const bp_text_sink_i *sink, const char *format, ...) PRINTF_LIKE(2, 3);

/* A text in quotes, as JSON has it. Bytes that are no UTF-8 become U+FFFD. */
void print_quoted(const bp_text_sink_i *sink, const char *text);

/* A number, bool, vector or colour as JSON: numbers bare, vectors as arrays, what is not finite in quotes. */
void print_json_value(const bp_text_sink_i *sink, const value_context_t *context, uint32_t type, const void *value);

/* A sink that gathers in a block of `memory`. `failed`: out of memory, and what came later is lost. */
typedef struct print_buffer_t {
    memory_t *memory;
    char *text; /* ends with a zero byte once something has been printed */
    size_t length, room;
    bool failed;
} print_buffer_t;
bp_text_sink_i print_into(print_buffer_t *buffer);
void print_buffer_free(print_buffer_t *buffer);

#endif
