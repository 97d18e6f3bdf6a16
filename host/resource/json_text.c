/* json_text.c - jansson with a guard in front of it and a finger on the line behind it.
 *
 * Before jansson sees a text, one pass over its bytes counts how deep it goes and what it will cost: jansson needs some
 * 130 bytes for "[]", so a hundred megabytes of brackets would take gigabytes, and it reads lists within lists by recursion.
 * What is too much is refused here, before any of it is paid.
 *
 * jansson keeps no positions. Only a failure needs one, and then the text is known to be JSON; so a scanner that trusts its
 * syntax follows the path from the beginning to the place. It runs once, for the one sentence.
 *
 * jansson takes its memory by malloc, whatever the host's allocator is: its hook is global to the process, and the library
 * keeps no state outside hosts. So the tree of a scene is on no account of the host's while it is compiled; an allocation
 * that fails in jansson is an error like any other.
 */
#include "json_text.h"

#include "../base/text.h"

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

/* --- the guard --------------------------------------------------------------------------------------------------- */

/* Bytes that jansson takes for what a character begins, its allocator's share included. Measured with jansson 2.14 and glibc
 * 2.36, rounded up: a list 136 and 40 for each number in it, an object 232 and 128 for each member, a string 48 more. */
enum { OBJECT_COST = 240, LIST_COST = 168, VALUE_COST = 40, MEMBER_COST = 80, STRING_COST = 48 };

/* The end of the string whose opening quote is at `at`: the offset of its closing quote, or the text's end. */
static size_t string_end(const json_text_t *text, size_t at)
{
    for (at++; at < text->size && text->bytes[at] != '"'; at++)
        at += text->bytes[at] == '\\';
    return at < text->size ? at : text->size;
}

static bp_result_t too_deep(const json_text_t *text, size_t at, error_text_t *error)
{
    error_set(error, BP_ERROR_LIMIT, "objects and lists lie within each other more than %d deep", JSON_TEXT_MAX_DEPTH);
    return at_place(text, error, BP_ERROR_LIMIT, at);
}

static bp_result_t too_costly(const json_text_t *text, size_t at, error_text_t *error)
{
    error_set(error, BP_ERROR_LIMIT,
              "reading this far would take more than %d MiB of memory; divide the scene, or say `count` for what is alike",
              JSON_TEXT_MAX_MIB);
    return at_place(text, error, BP_ERROR_LIMIT, at);
}

static bp_result_t guard(const json_text_t *text, error_text_t *error)
{
    uint32_t depth = 0;
    uint64_t cost = 0;
    for (size_t i = 0; i < text->size; i++) {
        switch (text->bytes[i]) {
        case '"': cost += STRING_COST, i = string_end(text, i); break;
        case '{': cost += OBJECT_COST, depth++; break;
        case '[': cost += LIST_COST, depth++; break;
        case ':': cost += MEMBER_COST; break;
        case ',': cost += VALUE_COST; break;
        case '}': case ']': depth -= depth > 0; break;
        default: break;
        }
        if (depth > JSON_TEXT_MAX_DEPTH)
            return too_deep(text, i, error);
        if (cost > (uint64_t)JSON_TEXT_MAX_MIB << 20)
            return too_costly(text, i, error);
    }
    return BP_OK;
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_blanks(const json_text_t *text, size_t at)
{
    while (at < text->size && is_blank(text->bytes[at]))
        at++;
    return at;
}

static bp_result_t refuse_top(const json_text_t *text, size_t at, error_text_t *error)
{
    if (at == text->size)
        error_set(error, BP_ERROR_SYNTAX, "the text is empty; a scene is an object: {\"entities\": [...]}");
    else
        error_set(error, BP_ERROR_SYNTAX, "a scene is an object, {\"entities\": [...]}, and begins with {");
    return at_place(text, error, BP_ERROR_SYNTAX, at);
}

/* jansson names the token that it did not like, which may be long. */
static bp_result_t refuse_syntax(const json_text_t *text, const json_error_t *found, error_text_t *error)
{
    bp_result_t code = json_error_code(found) == json_error_out_of_memory ? BP_ERROR_MEMORY : BP_ERROR_SYNTAX;
    if (code == BP_ERROR_MEMORY)
        return error_set(error, code, "%s: out of memory while reading it", text->origin);
    error_set(error, code, "%s", found->text);
    if (json_error_code(found) == json_error_numeric_overflow)
        error_set(error, code, "%s; whole numbers go to 9223372036854775807, others (with a dot or an e) to 1.8e308", found->text);
    return error_prefix(error, code, "%s:%d:%d: ", text->origin, found->line > 0 ? found->line : 1,
                        found->column > 0 ? found->column : 1);
}

static bp_result_t parse(json_text_t *text, error_text_t *error)
{
    json_error_t found;
    memset(&found, 0, sizeof found);
    text->root = json_loadb(text->bytes, text->size, JSON_REJECT_DUPLICATES, &found);
    return text->root == NULL ? refuse_syntax(text, &found, error) : BP_OK;
}

bp_result_t json_text_read(json_text_t *text, const char *origin, const char *bytes, size_t size, error_text_t *error)
{
    *text = (json_text_t){.origin = origin, .bytes = bytes, .size = size};
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        text->bytes += 3;
        text->size -= 3;
    }
    if (size > JSON_TEXT_MAX_BYTES)
        return error_set(error, BP_ERROR_LIMIT, "%s: a scene has at most %d MiB of text", origin, JSON_TEXT_MAX_BYTES / (1024 * 1024));
    size_t top = skip_blanks(text, 0);
    if (top == text->size || text->bytes[top] != '{')
        return refuse_top(text, top, error);
    bp_result_t result = guard(text, error);
    return result == BP_OK ? parse(text, error) : result;
}

void json_text_free(json_text_t *text)
{
    json_decref(text->root);
    text->root = NULL;
}

void json_text_release(char *text)
{
    json_malloc_t take;
    json_free_t give;
    json_get_alloc_funcs(&take, &give);
    give(text);
}

/* --- finding a path again ------------------------------------------------------------------------------------------ */

/* Behind the value that begins at `at`. */
static size_t skip_value(const json_text_t *text, size_t at)
{
    uint32_t depth = 0;
    for (; at < text->size; at++) {
        char c = text->bytes[at];
        if (c == '"')
            at = string_end(text, at);
        else if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']' || c == ',') && depth == 0)
            return at;
        else if (c == '}' || c == ']')
            depth--;
        if (depth == 0 && (c == '"' || c == '}' || c == ']'))
            return at + 1;
    }
    return at;
}

/* Is the string between the quotes at `from` and `end` this key? Escapes are left to jansson. */
static bool is_key(const json_text_t *text, size_t from, size_t end, const char *key)
{
    size_t length = end - from - 1;
    if (memchr(text->bytes + from + 1, '\\', length) == NULL)
        return length == strlen(key) && memcmp(text->bytes + from + 1, key, length) == 0;
    json_t *string = json_loadb(text->bytes + from, end + 1 - from, JSON_DECODE_ANY, NULL);
    bool same = string != NULL && json_is_string(string) && strcmp(json_string_value(string), key) == 0;
    json_decref(string);
    return same;
}

/* The value of a member of the object at `*at`. */
static bool step_into_member(const json_text_t *text, size_t *at, const char *key)
{
    size_t i = skip_blanks(text, *at + 1);
    while (i < text->size && text->bytes[i] == '"') {
        size_t start = i, end = string_end(text, i);
        size_t value = skip_blanks(text, skip_blanks(text, end + 1) + 1);
        if (end >= text->size || value >= text->size)
            return false;
        if (is_key(text, i, end, key)) {
            *at = start;
            return true;
        }
        i = skip_blanks(text, skip_value(text, value));
        if (i >= text->size || text->bytes[i] != ',')
            return false;
        i = skip_blanks(text, i + 1);
    }
    return false;
}

static bool step_into_element(const json_text_t *text, size_t *at, size_t index)
{
    size_t i = skip_blanks(text, *at + 1);
    for (size_t n = 0; i < text->size && text->bytes[i] != ']'; n++) {
        if (n == index) {
            *at = i;
            return true;
        }
        i = skip_blanks(text, skip_value(text, i));
        if (i >= text->size || text->bytes[i] != ',')
            return false;
        i = skip_blanks(text, i + 1);
    }
    return false;
}

/* A member's place is its key; to go on from there, its value. */
static size_t value_of_member(const json_text_t *text, size_t at)
{
    size_t colon = skip_blanks(text, string_end(text, at) + 1);
    return skip_blanks(text, colon + 1);
}

static size_t find_path(const json_text_t *text, const json_step_t *steps, uint32_t count)
{
    size_t at = skip_blanks(text, 0);
    bool member = false;
    for (uint32_t i = 0; i < count; i++) {
        size_t value = member ? value_of_member(text, at) : at;
        if (value >= text->size || text->bytes[value] != (steps[i].key != NULL ? '{' : '['))
            return at;
        size_t next = value;
        if (!(steps[i].key != NULL ? step_into_member(text, &next, steps[i].key) : step_into_element(text, &next, steps[i].index)))
            return at;
        at = next;
        member = steps[i].key != NULL;
    }
    return at;
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

/* A path that does not fit keeps its end, which says more than its beginning. */
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
