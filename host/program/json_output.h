/* json_output.h - functions for JSON that the commands need beside jansson.
 *
 *     int bad = 0;
 *     json_t *object = json_object();
 *     bad |= json_object_set_new(object, "name", json_output_text(name));
 *     bad |= ...
 *     return json_output_checked(object, bad);
 *
 * jansson's setters take NULL for a value that could not be made and then return -1, so one check at the end
 * of an object is enough.
 *
 * Not here: reading JSON.
 */
#ifndef HOST_PROGRAM_JSON_OUTPUT_H
#define HOST_PROGRAM_JSON_OUTPUT_H

#include <backplane.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* `value`, or NULL, with `value` released, where `bad` is not 0. */
json_t *json_output_checked(json_t *value, int bad);

/* A string; bytes that are not UTF-8 become '?'. A missing text is null. */
json_t *json_output_text(const char *text);

/* A count. Numbers above 2^63 - 1 become 2^63 - 1. */
json_t *json_output_count(uint64_t count);

/* A number where the text is one, else a string; null for NULL. */
json_t *json_output_cell(const char *text);

/* A number that a plugin declares for a field of that type, such as its least one; a string where the text is none,
 * null for NULL. */
json_t *json_output_number(uint32_t type, const char *text);

/* A value of a property type given as text: bool, number, list of numbers; a string where the text has
 * another form (colours such as #ff8000) or the type is one of texts. */
json_t *json_output_value(uint32_t type, const char *text);

/* The values of an array or a list, from its text: "[1, 2]", "[\"a\", plain]". A string where the text has another
 * form. */
json_t *json_output_values(uint32_t type, const char *text);

/* The array of the words of `text`, which are separated by spaces; empty for NULL. */
json_t *json_output_words(const char *text);

/* Set a key that may be taken already: then " 2", " 3" ... is put behind the key. */
int json_output_set_unique(json_t *object, const char *key, json_t *value);

/* `root` as a text, the caller's; NULL where `root` is NULL or memory is short. `flags` are jansson's. */
char *json_output_write(const json_t *root, size_t flags);

/* Print `root` and release it: all of it, or, where `root` is NULL or memory is short, nothing, after a complaint.
 * Returns the status. */
int json_output_print(json_t *root);

/* --- trace file -------------------------------------------------------------------------------------------------- */

/* The slices of a run's steps as a file for Perfetto and chrome://tracing.
 *
 * The format is the JSON of Chrome's trace events:
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 * The file is written step by step, so a long run takes no memory.
 *
 * Not here: setting up and the report; the file has steps alone.
 */

typedef struct trace_file_t {
    FILE *file;
    const char *path;
    uint32_t threads; /* named so far */
    uint64_t lost;
    bool failed;
} trace_file_t;

/* Begin to write to `path`. Complains and returns false where that cannot be. `trace` must stay where it is until it is
   ended. */
bool trace_file_begin(trace_file_t *trace, bp_host_o *host, const char *path);

/* End the file. Complains and returns false where it could not be written whole. */
bool trace_file_end(trace_file_t *trace, bp_host_o *host);

#endif
