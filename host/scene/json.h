/* json.h - texts and numbers of JSON (RFC 8259), read at a place in a text.
 *
 * A cursor goes through a text whose end is known; reading moves the cursor on. Text that is not JSON sets the fault:
 * the place, and a sentence that says what would be right.
 *
 * No memory is taken: a string is decoded to where the caller says, and needs at most as many bytes as it has between
 * its quotes.
 *
 * Not here: objects and lists (tree_read).
 */
#ifndef HOST_SCENE_JSON_H
#define HOST_SCENE_JSON_H

#include "../base/base.h"

enum { JSON_MAX_NUMBER = 400 }; /* characters of one that is not whole, where it has to go through strtod */

/* The place and the kind of a fault in a text that is no JSON. */
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

/* Set the fault to "`expected` expected, not ...", naming the text at `at`: a word, a character, or the end. */
bp_result_t json_unexpected(json_cursor_t *in, const char *at, const char *expected);

/* Read the string at the cursor, which is at its first quote. Its decoded bytes are written to `*out` without a closing
 * zero, and `*out` is moved behind them: UTF-8 without zero characters. Errors: SYNTAX. */
bp_result_t json_read_string(json_cursor_t *in, char **out);

/* A number of digits alone, of 64 bits, is whole; any other, and -0, is real. */
typedef struct json_number_t {
    bool is_whole;
    int64_t whole;
    double real;
} json_number_t;

/* Read the number at the cursor, which is at its first character, a digit or '-'; a real one is rounded correctly.
   Errors: SYNTAX, LIMIT. */
bp_result_t json_read_number(json_cursor_t *in, json_number_t *number);

/* --- tree -------------------------------------------------------------------------------------------------------- */

/* A JSON text as a tree that lies in one array.
 *
 * An item for each value, in the order of the text: a list is followed by its elements, an object by its members, each
 * a string and a value. An item has 16 bytes and holds its place in the text. Strings are decoded into one block;
 * decoded strings are UTF-8 without zero characters, so they can be used as C strings.
 *
 *     for (tree_walk_t walk = tree_walk(object); tree_next(&walk);)
 *         ... walk.key->string, walk.value ...
 *
 * Not here: writing JSON (print_json_value), the meaning of scenes (compile.h).
 */

enum {
    TREE_MAX_DEPTH = 1024,              /* objects and lists within each other */
    TREE_MAX_BYTES = 512 * 1024 * 1024, /* of text */
    TREE_MAX_ITEMS = 64 * 1024 * 1024
};

typedef enum tree_kind_t {
    TREE_NULL,
    TREE_FALSE,
    TREE_TRUE,
    TREE_INTEGER, /* digits alone, of 64 bits */
    TREE_REAL,    /* any other number */
    TREE_STRING,
    TREE_LIST,
    TREE_OBJECT
} tree_kind_t;

typedef struct tree_item_t {
    uint32_t place_and_kind; /* offset in the text << 3 | kind */
    uint32_t extent;         /* of a string: its bytes; else the items of this value, itself among them */
    union {
        int64_t integer;
        double real;
        const char *string;
        struct {
            uint32_t count; /* members or elements */
            uint32_t end;   /* offset behind the closing bracket */
        };
    };
} tree_item_t;

BP_STATIC_ASSERT(sizeof(tree_item_t) == 16, "large scenes have millions of items");

typedef struct tree_t {
    memory_t *memory;
    tree_item_t *items; /* the first is the whole */
    uint32_t count, capacity;
    char *strings;
    size_t strings_size;
} tree_t;

/* Read a text whose top is an object; a member may not stand twice in an object. The text need not end with a zero byte
 * and must stay for as long as tree_text is used. On failure nothing is kept, and the fault says where. Errors: SYNTAX,
 * LIMIT, MEMORY. [main] */
bp_result_t tree_read(tree_t *tree, memory_t *memory, const char *bytes, size_t size, json_fault_t *fault);
void tree_free(tree_t *tree);

static inline tree_kind_t tree_kind(const tree_item_t *item)
{
    return (tree_kind_t)(item->place_and_kind & 7);
}

static inline size_t tree_place(const tree_item_t *item)
{
    return item->place_and_kind >> 3;
}

static inline bool tree_is(const tree_item_t *item, tree_kind_t kind)
{
    return tree_kind(item) == kind;
}

static inline bool tree_is_number(const tree_item_t *item)
{
    return tree_is(item, TREE_INTEGER) || tree_is(item, TREE_REAL);
}

/* The number as a double; 0 of an item that is no number. */
static inline double tree_number(const tree_item_t *item)
{
    return tree_is(item, TREE_REAL) ? item->real : tree_is(item, TREE_INTEGER) ? (double)item->integer : 0.0;
}

/* Members of an object or elements of a list; 0 of anything else. */
static inline uint32_t tree_count(const tree_item_t *item)
{
    return tree_kind(item) >= TREE_LIST ? item->count : 0;
}

/* The item behind a value and all that is in it. */
static inline const tree_item_t *tree_behind(const tree_item_t *item)
{
    return item + (tree_is(item, TREE_STRING) ? 1 : item->extent);
}

/* The value of a member of an object, NULL where it has none of that name. */
const tree_item_t *tree_member(const tree_item_t *object, const char *name);

/* Walks through an object or a list: begin with tree_walk, go on while tree_next. `key` is NULL in a list. */
typedef struct tree_walk_t {
    const tree_item_t *key, *value;
    const tree_item_t *next;
    uint32_t left;
    bool members;
} tree_walk_t;

/* `item` may be NULL, or a value without members or elements. */
static inline tree_walk_t tree_walk(const tree_item_t *item)
{
    uint32_t count = item == NULL ? 0 : tree_count(item);
    return (tree_walk_t){.next = item + (count > 0), .left = count, .members = count > 0 && tree_is(item, TREE_OBJECT)};
}

static inline bool tree_next(tree_walk_t *walk)
{
    if (walk->left == 0)
        return false;
    walk->left--;
    if (walk->members)
        walk->key = walk->next++;
    walk->value = walk->next;
    walk->next = tree_behind(walk->value);
    return true;
}

/* The text of a value as it stands, `*size` bytes of the text that was read. */
const char *tree_text(const tree_item_t *item, const char *bytes, size_t *size);

/* --- text -------------------------------------------------------------------------------------------------------- */

/* A JSON text with its name, and sentences about places in it.
 *
 * An error in a scene is reported in one sentence that begins with the place: "file:line:column: " where the text is no
 * JSON, "file:line:column: entities[3].components.body.mass: " where it is JSON and means nothing.
 *
 * Not here: the meaning of scenes (compile.h).
 */

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
bp_result_t json_text_read(json_text_t *text, memory_t *memory, const char *origin, const char *bytes, size_t size,
                           error_text_t *error);
void json_text_free(json_text_t *text);

/* Set the error to "file:line:column: path: sentence" and return `code`. Where a step of the path does not exist, the
 * place is that of the last step that does. [main] */
bp_result_t json_text_fail(const json_text_t *text, error_text_t *error, bp_result_t code, const json_step_t *steps,
                           uint32_t count, const char *format, ...) PRINTF_LIKE(6, 7);

/* --- print ------------------------------------------------------------------------------------------------------- */

/* Texts of scenes for people and for JSON, piece by piece into a sink.
 *
 * Not here: indentation, the grammar of the whole text (the caller keeps both).
 */

void print_text(const bp_text_sink_i *sink, const char *text);
void print_format(const bp_text_sink_i *sink, const char *format, ...) PRINTF_LIKE(2, 3);

/* A text in quotes, as JSON has it. Bytes that are no UTF-8 become U+FFFD. */
void print_quoted(const bp_text_sink_i *sink, const char *text);

/* A number, bool, vector or colour as JSON: numbers bare, vectors as arrays; a number that is not finite, and a u64
 * beyond the largest i64, in quotes. */
void print_json_value(const bp_text_sink_i *sink, const value_context_t *context, uint32_t type, const void *value);

/* As print_json_value, but a value that has a name is written as that name. */
void print_json_field(const bp_text_sink_i *sink, const value_context_t *context, const field_t *field,
                      const void *value);

/* A sink that gathers in a block of `memory`. `failed`: out of memory, and texts printed later are lost. */
typedef struct print_buffer_t {
    memory_t *memory;
    char *text; /* ends with a zero byte once something has been printed */
    size_t length, room;
    bool failed;
} print_buffer_t;
bp_text_sink_i print_into(print_buffer_t *buffer);
void print_buffer_free(print_buffer_t *buffer);

#endif
