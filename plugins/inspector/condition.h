/* condition.h - conditions on entities, as people write them: read once, then tested for many rows at a time.
 *
 *     body.mass > 2
 *     length(body.velocity) >= 0.01 and not transform
 *     name.name ~ "moon" or body.position.x < -1.5 and (mesh or sprite)
 *
 *     condition  = and { "or" and }            and = not { "and" not }          not = "not" not | test
 *     test       = "(" condition ")" | component | value [ operator value ]
 *     value      = number | "text" | true | false | none | component.property [ .part | [number] ] | length( ... )
 *     operator   = = == != < <= > >= ~         (~: the text is contained, upper or lower case)
 *
 * A component is called by its type, by its name in the entity, or in full ("point_mass::body"). A test with a
 * component alone asks whether an entity has it. A comparison with a property that an entity lacks is false.
 *
 * Not here: arithmetic, worlds; the caller hands in columns.
 */
#ifndef INSPECTOR_CONDITION_H
#define INSPECTOR_CONDITION_H

#include <bp_types.h>

#include <stdbool.h>

enum {
    CONDITION_NODES_MAX = 64,
    CONDITION_FIELDS_MAX = 16,
    CONDITION_TEXTS_MAX = 1024, /* bytes of all texts together */
    CONDITION_DEPTH_MAX = 24,
    CONDITION_NAME_MAX = 128,
    CONDITION_ROWS = 1024,      /* rows that are tested at a time, at most */
    CONDITION_SENTENCE_MAX = 256
};

/* Values of `part` beside the numbers of parts: the field's whole value, its length, or its presence. */
#define CONDITION_WHOLE UINT32_MAX
#define CONDITION_LENGTH (UINT32_MAX - 1)
#define CONDITION_HAS (UINT32_MAX - 2)

/* A property that a condition asks for; with part CONDITION_HAS, a component. */
typedef struct condition_field_t {
    char component[CONDITION_NAME_MAX];
    char property[CONDITION_NAME_MAX]; /* "": the component's presence */
    char part_name[16]; /* "x", "2"; "" for none. The caller turns it into `part`, since that needs the type */
    uint32_t part;                     /* number of a part, or CONDITION_... */
} condition_field_t;

typedef struct condition_node_t {
    uint8_t kind, operator_kind;
    uint8_t left_kind, right_kind; /* the kinds of the two sides of a comparison */
    uint16_t left, right;          /* numbers of nodes; in a comparison, of fields and texts */
    double left_number, right_number;
} condition_node_t;

typedef struct condition_t {
    condition_node_t nodes[CONDITION_NODES_MAX];
    condition_field_t fields[CONDITION_FIELDS_MAX];
    char texts[CONDITION_TEXTS_MAX];
    uint32_t node_count, field_count, text_size;
    uint32_t root;
} condition_t;

/* Read a condition. False with a sentence that says where the condition goes wrong. */
bool condition_read(condition_t *condition, const char *text, char sentence[CONDITION_SENTENCE_MAX]);

/* The values of one field for the rows that are tested. */
typedef struct condition_column_t {
    const void *values;    /* row i at (char *)values + i * stride; NULL: no row has it */
    size_t stride;
    uint32_t type;         /* BP_BOOL ...; without meaning for CONDITION_HAS */
    const uint8_t *has;    /* 1 where a row has the field; NULL: all rows have it */
} condition_column_t;

/* How texts of entities are compared: the name that an entity is called by is written to `text`. */
typedef struct condition_words_t {
    void *context;
    bool (*same)(void *context, bp_entity_t entity, const char *text);
    const char *(*name)(void *context, bp_name_t name);
} condition_words_t;

/* mask[i] = 1 where row i satisfies the condition, for `count` rows of at most CONDITION_ROWS. `columns` has one entry
 * for each field. */
void condition_test(const condition_t *condition, const condition_column_t *columns, const condition_words_t *words,
                    uint32_t count, uint8_t *mask);

/* Is `part` contained in `text`, upper or lower case? */
bool condition_contains(const char *text, const char *part);

/* A field of a component that every entity which satisfies the condition has, so that only entities with that component
 * need to be tested; BP_NONE where there is no such component. */
uint32_t condition_certain(const condition_t *condition);

#endif
