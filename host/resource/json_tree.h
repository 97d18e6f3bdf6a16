/* json_tree.h - a JSON text as a tree that lies in one array.
 *
 * An item for each value, in the order of the text: a list is followed by its elements, an object by its members, each a
 * string and a value. 16 bytes an item, which knows where in the text it stands. Strings are decoded into one block; they
 * are UTF-8 without zero characters, so they can be used as C strings.
 *
 *     for (tree_walk_t walk = tree_walk(object); tree_next(&walk);)
 *         ... walk.key->string, walk.value ...
 *
 * What it does not do: it writes no JSON, and does not know what a scene is.
 */
#ifndef HOST_RESOURCE_JSON_TREE_H
#define HOST_RESOURCE_JSON_TREE_H

#include "json_scalar.h"

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

/* Read a text whose top is an object; a member may not stand twice in an object. The text need not end with a zero byte and
 * must stay for as long as tree_text is used. On failure nothing is kept, and the fault says where. Errors: SYNTAX, LIMIT,
 * MEMORY. [main] */
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

/* The number as a double; 0 of what is none. */
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

/* `item` may be NULL, and what has nothing in it. */
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

#endif
