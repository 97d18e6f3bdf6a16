/* json_value.h - one value of JSON as a value of a declared field.
 *
 * Every type is taken in JSON's own form (numbers, true and false, lists of numbers, strings), and as the text that the
 * console and the ini use, in a string: "0 0 1", "#ff8000", "true".
 *
 * What it does not do: entities are referred to by names that only the scene knows; here they stay texts. So do strings
 * and names: whoever writes the blob collects them.
 */
#ifndef HOST_RESOURCE_JSON_VALUE_H
#define HOST_RESOURCE_JSON_VALUE_H

#include "json_tree.h"

/* Read `json` as a value of `field`: its type and its range. For strings, names and entities value->string is the text
 * inside `json`. On failure the error says what would be right, but not where. [main] */
bp_result_t json_value_read(const value_context_t *context, const field_t *field, const tree_item_t *json, bp_value_t *value,
                            error_text_t *error);

/* Is `json` a list with one value for each of several entities, rather than one value? True of every list for a type that
 * is no list itself; else of lists that do not begin with a number. [any] */
bool json_value_is_list(uint32_t type, const tree_item_t *json);

/* "a number", "a string": what a value is, for messages. [any] */
const char *json_value_kind(const tree_item_t *json);

#endif
