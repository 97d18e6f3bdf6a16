/* json_tree.c - reading JSON (RFC 8259) in one pass, without recursion.
 *
 * A tree costs 16 bytes an item and as many bytes of text as the input has at most, all from the caller's account; the nesting
 * is a stack of numbers; and every item knows its place. Why no library does this: docs/dependencies.md, with figures.
 * Tests compare it with the library that the program uses, on everything that either takes or refuses.
 */
#include "json_tree.h"

#include "../base/hash.h"

typedef struct reader_t {
    json_cursor_t in;
    tree_t *tree;
    char *strings; /* behind the last one */
    uint32_t depth;
    uint32_t open[TREE_MAX_DEPTH]; /* items of the containers that are not closed yet */
} reader_t;

static void skip_blanks(reader_t *r)
{
    while (r->in.at < r->in.end && (*r->in.at == ' ' || *r->in.at == '\n' || *r->in.at == '\t' || *r->in.at == '\r'))
        r->in.at++;
}

/* A new item for what begins at r->in.at; NULL with an error. Good until the next one. */
static tree_item_t *add_item(reader_t *r, tree_kind_t kind, bp_result_t *result)
{
    tree_t *tree = r->tree;
    if (tree->count == TREE_MAX_ITEMS)
        *result = json_fail(&r->in, r->in.at, BP_ERROR_LIMIT, "a text has at most 67108864 values; divide it, or say `count` for what is alike");
    else if (!memory_reserve(tree->memory, &tree->items, &tree->capacity, (uint64_t)tree->count + 1, sizeof *tree->items))
        *result = json_fail(&r->in, r->in.at, BP_ERROR_MEMORY, "out of memory while reading it");
    if (*result != BP_OK)
        return NULL;
    tree_item_t *item = &tree->items[tree->count++];
    *item = (tree_item_t){.place_and_kind = (uint32_t)(r->in.at - r->in.start) << 3 | kind, .extent = 1};
    return item;
}

/* --- texts, numbers, words -------------------------------------------------------------------------------------------------- */

static bp_result_t read_string(reader_t *r)
{
    bp_result_t result = BP_OK;
    tree_item_t *item = add_item(r, TREE_STRING, &result);
    char *begin = r->strings;
    if (item != NULL)
        result = json_read_string(&r->in, &r->strings);
    if (result != BP_OK)
        return result;
    item->string = begin;
    item->extent = (uint32_t)(r->strings - begin);
    *r->strings++ = '\0';
    return BP_OK;
}

static bp_result_t read_number(reader_t *r)
{
    bp_result_t result = BP_OK;
    json_number_t number;
    tree_item_t *item = add_item(r, TREE_INTEGER, &result);
    if (item != NULL)
        result = json_read_number(&r->in, &number);
    if (result != BP_OK)
        return result;
    if (number.is_whole) {
        item->integer = number.whole;
        return BP_OK;
    }
    item->place_and_kind ^= TREE_INTEGER ^ TREE_REAL;
    item->real = number.real;
    return BP_OK;
}

static bp_result_t read_word(reader_t *r)
{
    static const struct { const char *word; size_t length; tree_kind_t kind; } words[] = {
        {"null", 4, TREE_NULL}, {"true", 4, TREE_TRUE}, {"false", 5, TREE_FALSE}};
    bp_result_t result = BP_OK;
    for (size_t i = 0; i < 3; i++) {
        if ((size_t)(r->in.end - r->in.at) < words[i].length || memcmp(r->in.at, words[i].word, words[i].length) != 0)
            continue;
        add_item(r, words[i].kind, &result);
        r->in.at += words[i].length;
        return result;
    }
    return json_unexpected(&r->in, r->in.at, "a value");
}

/* --- objects and lists ------------------------------------------------------------------------------------------------------ */

static bp_result_t open_container(reader_t *r, tree_kind_t kind)
{
    bp_result_t result = BP_OK;
    if (r->depth == TREE_MAX_DEPTH)
        return json_fail(&r->in, r->in.at, BP_ERROR_LIMIT, "objects and lists lie within each other more than 1024 deep");
    if (add_item(r, kind, &result) == NULL)
        return result;
    r->open[r->depth++] = r->tree->count - 1;
    r->in.at++;
    return BP_OK;
}

static bp_result_t refuse_twin(reader_t *r, const tree_item_t *key)
{
    r->in.fault->offset = tree_place(key);
    return error_set(r->in.fault->error, BP_ERROR_SYNTAX, "the member '%.60s' stands in this object twice", key->string);
}

static bool same_key(const tree_item_t *a, const tree_item_t *b)
{
    return a->extent == b->extent && memcmp(a->string, b->string, a->extent) == 0;
}

enum { FEW_MEMBERS = 16 };

static bp_result_t find_twins_of_few(reader_t *r, const tree_item_t *object)
{
    const tree_item_t *keys[FEW_MEMBERS];
    uint32_t count = 0;
    for (tree_walk_t walk = tree_walk(object); tree_next(&walk); count++) {
        for (uint32_t i = 0; i < count; i++) {
            if (same_key(keys[i], walk.key))
                return refuse_twin(r, walk.key);
        }
        keys[count] = walk.key;
    }
    return BP_OK;
}

static bp_result_t find_twins(reader_t *r, const tree_item_t *object)
{
    if (object->count <= FEW_MEMBERS)
        return find_twins_of_few(r, object);
    uint32_t room = 64;
    while (room < 2 * object->count)
        room *= 2;
    uint32_t *slots = memory_new(r->tree->memory, (size_t)room * sizeof *slots); /* item + 1 */
    if (slots == NULL)
        return json_fail(&r->in, r->in.at, BP_ERROR_MEMORY, "out of memory while reading it");
    bp_result_t result = BP_OK;
    for (tree_walk_t walk = tree_walk(object); result == BP_OK && tree_next(&walk);) {
        uint32_t i = (uint32_t)hash_bytes(walk.key->string, walk.key->extent) & (room - 1);
        while (slots[i] != 0 && !same_key(&r->tree->items[slots[i] - 1], walk.key))
            i = (i + 1) & (room - 1);
        if (slots[i] != 0)
            result = refuse_twin(r, walk.key);
        slots[i] = (uint32_t)(walk.key - r->tree->items) + 1;
    }
    memory_free(r->tree->memory, slots, (size_t)room * sizeof *slots);
    return result;
}

static bp_result_t close_container(reader_t *r)
{
    uint32_t number = r->open[--r->depth];
    tree_item_t *item = &r->tree->items[number];
    item->extent = r->tree->count - number;
    item->end = (uint32_t)(++r->in.at - r->in.start);
    return tree_is(item, TREE_OBJECT) ? find_twins(r, item) : BP_OK;
}

static bp_result_t read_key(reader_t *r)
{
    if (r->in.at == r->in.end || *r->in.at != '"')
        return json_unexpected(&r->in, r->in.at, "a member's name in quotes");
    bp_result_t result = read_string(r);
    if (result != BP_OK)
        return result;
    skip_blanks(r);
    if (r->in.at == r->in.end || *r->in.at != ':')
        return json_unexpected(&r->in, r->in.at, "':'");
    r->in.at++;
    skip_blanks(r);
    return BP_OK;
}

static bp_result_t read_value(reader_t *r)
{
    char c = r->in.at < r->in.end ? *r->in.at : '\0';
    if (c == '{' || c == '[')
        return open_container(r, c == '{' ? TREE_OBJECT : TREE_LIST);
    if (c == '"')
        return read_string(r);
    return c == '-' || (c >= '0' && c <= '9') ? read_number(r) : read_word(r);
}

/* The next member or element of the innermost container, or its end. */
static bp_result_t read_next(reader_t *r)
{
    tree_item_t *top = &r->tree->items[r->open[r->depth - 1]];
    bool object = tree_is(top, TREE_OBJECT);
    bp_result_t result = BP_OK;
    skip_blanks(r);
    if (r->in.at < r->in.end && *r->in.at == (object ? '}' : ']'))
        return close_container(r);
    if (top->count > 0) {
        if (r->in.at == r->in.end || *r->in.at != ',')
            return json_unexpected(&r->in, r->in.at, object ? "',' or '}'" : "',' or ']'");
        r->in.at++;
        skip_blanks(r);
    }
    top->count++;
    if (object)
        result = read_key(r);
    return result == BP_OK ? read_value(r) : result;
}

static bp_result_t read_all(reader_t *r)
{
    skip_blanks(r);
    if (r->in.at == r->in.end)
        return json_fail(&r->in, r->in.at, BP_ERROR_SYNTAX, "the text is empty; an object is expected, which begins with '{'");
    if (*r->in.at != '{')
        return json_unexpected(&r->in, r->in.at, "an object, which begins with '{',");
    bp_result_t result = open_container(r, TREE_OBJECT);
    while (result == BP_OK && r->depth > 0)
        result = read_next(r);
    if (result != BP_OK)
        return result;
    skip_blanks(r);
    return r->in.at == r->in.end ? BP_OK : json_unexpected(&r->in, r->in.at, "the end of the text");
}

bp_result_t tree_read(tree_t *tree, memory_t *memory, const char *bytes, size_t size, json_fault_t *fault)
{
    reader_t r = {.tree = tree, .in = {.start = bytes, .at = bytes, .end = bytes + size, .fault = fault}};
    *tree = (tree_t){.memory = memory, .strings_size = size + 1};
    fault->offset = 0;
    if (size > TREE_MAX_BYTES)
        return error_set(fault->error, BP_ERROR_LIMIT, "a text has at most %d MiB", TREE_MAX_BYTES / (1024 * 1024));
    tree->strings = memory_resize(memory, NULL, 0, tree->strings_size);
    r.strings = tree->strings;
    bp_result_t result = tree->strings == NULL ? json_fail(&r.in, bytes, BP_ERROR_MEMORY, "out of memory while reading it") : read_all(&r);
    if (result != BP_OK)
        tree_free(tree);
    return result;
}

void tree_free(tree_t *tree)
{
    memory_free(tree->memory, tree->items, (size_t)tree->capacity * sizeof *tree->items);
    memory_free(tree->memory, tree->strings, tree->strings_size);
    tree->items = NULL;
    tree->strings = NULL;
    tree->count = tree->capacity = 0;
}

/* --- asking ------------------------------------------------------------------------------------------------------------------ */

const tree_item_t *tree_member(const tree_item_t *object, const char *name)
{
    if (!tree_is(object, TREE_OBJECT))
        return NULL;
    for (tree_walk_t walk = tree_walk(object); tree_next(&walk);) {
        if (strcmp(walk.key->string, name) == 0)
            return walk.value;
    }
    return NULL;
}

const char *tree_text(const tree_item_t *item, const char *bytes, size_t *size)
{
    const char *begin = bytes + tree_place(item), *end = begin + 1;
    if (tree_kind(item) >= TREE_LIST)
        end = bytes + item->end;
    else if (tree_is(item, TREE_STRING))
        for (; *end != '"'; end++)
            end += *end == '\\';
    else
        while ((*end >= '0' && *end <= '9') || (*end >= 'a' && *end <= 'z') || *end == '+' || *end == '-' || *end == '.' || *end == 'E')
            end++;
    *size = (size_t)(end - begin) + tree_is(item, TREE_STRING);
    return begin;
}
