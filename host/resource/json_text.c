/* json_text.c - places in a text, as people and editors write them.
 *
 * Items know their offsets; lines and columns are counted only for the one sentence of a failure. So is a path followed again
 * from the top: while all goes well nobody keeps one.
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

/* --- reading ----------------------------------------------------------------------------------------------------- */

bp_result_t json_text_read(json_text_t *text, memory_t *memory, const char *origin, const char *bytes, size_t size, error_text_t *error)
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

/* --- paths ---------------------------------------------------------------------------------------------------------- */

/* The value that a step leads to, and what to point at: a member's name, an element itself. NULL where it leads nowhere. */
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
