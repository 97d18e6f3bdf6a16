/* json_scalar.h - texts and numbers of JSON (RFC 8259), read at a place in a text.
 *
 * A cursor goes through a text whose end is known; what is read moves it on. What is not JSON sets the fault: where, and a
 * sentence that says what would be right.
 *
 * What it does not do: it knows no objects and no lists (json_tree.c), and takes no memory: a text is decoded to where the
 * caller says, which needs as many bytes as it has between its quotes at most.
 */
#ifndef HOST_RESOURCE_JSON_SCALAR_H
#define HOST_RESOURCE_JSON_SCALAR_H

#include "../base/base.h"

enum { JSON_MAX_NUMBER = 400 }; /* characters of one that is not whole, where it has to go through strtod */

/* Where and what, where a text is no JSON. */
typedef struct json_fault_t {
    size_t offset;
    error_text_t *error;
} json_fault_t;

typedef struct json_cursor_t {
    const char *start, *at, *end;
    json_fault_t *fault;
} json_cursor_t;

/* Set the fault and return `code`. */
bp_result_t json_fail(json_cursor_t *in, const char *at, bp_result_t code, const char *sentence);

/* Set the fault to "`expected` expected, not ...", of what stands at `at`: a word, a character, or the end. */
bp_result_t json_unexpected(json_cursor_t *in, const char *at, const char *expected);

/* The string whose first quote the cursor is at. It is written to `*out`, decoded and without a zero, and `*out` comes to
 * stand behind it: UTF-8 without zero characters. Errors: SYNTAX. */
bp_result_t json_read_string(json_cursor_t *in, char **out);

/* A number of digits alone, of 64 bits, is whole; any other, and -0, is real. */
typedef struct json_number_t {
    bool is_whole;
    int64_t whole;
    double real;
} json_number_t;

/* The number whose first character, a digit or '-', the cursor is at; a real one is rounded correctly. Errors: SYNTAX, LIMIT. */
bp_result_t json_read_number(json_cursor_t *in, json_number_t *number);

#endif
