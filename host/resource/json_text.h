/* json_text.h - a JSON text with its name, and sentences about places in it.
 *
 * Whatever is wrong with a scene gets one sentence that begins with the place: "file:line:column: " where the text is no
 * JSON, "file:line:column: entities[3].components.body.mass: " where it is JSON and means nothing.
 *
 * What it does not do: it does not know what a scene is.
 */
#ifndef HOST_RESOURCE_JSON_TEXT_H
#define HOST_RESOURCE_JSON_TEXT_H

#include "json_tree.h"

typedef struct json_text_t {
    const char *origin; /* the file, or what the caller calls the text; borrowed */
    const char *bytes;  /* borrowed; without the byte order mark that some editors write */
    size_t size;
    tree_t tree;        /* its top is an object */
} json_text_t;

/* One step of a path: into a member of an object, or, where key is NULL, into an element of a list. */
typedef struct json_step_t {
    const char *key;
    size_t index;
} json_step_t;

/* Read a text whose top is an object. `origin` and `bytes` must stay until json_text_free. On failure nothing is kept.
 * Errors: those of tree_read. [main] */
bp_result_t json_text_read(json_text_t *text, memory_t *memory, const char *origin, const char *bytes, size_t size, error_text_t *error);
void json_text_free(json_text_t *text);

/* Set the error to "file:line:column: path: sentence" and return `code`. Where the path leads nowhere, the place is that of
 * the last step that exists. [main] */
bp_result_t json_text_fail(const json_text_t *text, error_text_t *error, bp_result_t code, const json_step_t *steps,
                           uint32_t count, const char *format, ...) PRINTF_LIKE(6, 7);

#endif
