/* json_text.h - a JSON text: judged, read, and asked where in it something stands.
 *
 * Whatever is wrong with a scene gets one sentence that begins with the place: "file:line:column: " where the text is no
 * JSON, "file:line:column: entities[3].components.body.mass: " where it is JSON and means nothing.
 *
 * What it does not do: it does not know what a scene is.
 */
#ifndef HOST_RESOURCE_JSON_TEXT_H
#define HOST_RESOURCE_JSON_TEXT_H

#include "../base/base.h"

#include <jansson.h>

enum {
    JSON_TEXT_MAX_DEPTH = 1024,               /* objects and lists within each other */
    JSON_TEXT_MAX_BYTES = 1024 * 1024 * 1024,
    JSON_TEXT_MAX_MIB = 4096                  /* that jansson may take for what it reads, by a cautious estimate */
};

typedef struct json_text_t {
    const char *origin; /* the file, or what the caller calls the text; borrowed */
    const char *bytes;  /* borrowed; without the byte order mark that some editors write */
    size_t size;
    json_t *root;       /* an object */
} json_text_t;

/* One step of a path: into a member of an object, or, where key is NULL, into an element of a list. */
typedef struct json_step_t {
    const char *key;
    size_t index;
} json_step_t;

/* Read a text whose top is an object. `origin` and `bytes` must stay until json_text_free. On failure nothing is kept.
 * Errors: syntax (and what jansson refuses: numbers that no double or 64-bit integer holds, a member that stands twice,
 * bytes that are not UTF-8), limit, memory. [main] */
bp_result_t json_text_read(json_text_t *text, const char *origin, const char *bytes, size_t size, error_text_t *error);
void json_text_free(json_text_t *text);

/* Free a text that json_dumps has made. */
void json_text_release(char *text);

/* Set the error to "file:line:column: path: sentence" and return `code`. Where the path leads nowhere, the place is that of
 * the last step that exists. [main] */
bp_result_t json_text_fail(const json_text_t *text, error_text_t *error, bp_result_t code, const json_step_t *steps,
                           uint32_t count, const char *format, ...) PRINTF_LIKE(6, 7);

#endif
