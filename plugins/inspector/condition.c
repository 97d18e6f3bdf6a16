/* condition.c - reading and testing conditions (condition.h).
 *
 * Reading is by descent, a function for each line of the grammar. A condition is a tree of nodes in one array:
 *
 *     body.mass > 2 and not mesh         nodes: 0 body.mass > 2    1 has mesh    2 not 1    3 and 0 2    root 3
 *
 * Testing goes through the tree for up to CONDITION_ROWS rows at once; each node leaves one byte a row. Nearly all
 * conditions compare a numeric field with a number; that comparison is a plain loop for each type, which the compiler
 * vectorises. Everything else goes row by row.
 */
#include "condition.h"

#include "shapes.h"

#include <ctype.h>
#include <helpers/bp_real.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODE_AND, NODE_OR, NODE_NOT, NODE_COMPARE };
enum { SIDE_NUMBER, SIDE_TEXT, SIDE_FIELD, SIDE_NONE };
enum { OP_EQUAL, OP_DIFFERENT, OP_LESS, OP_LESS_EQUAL, OP_MORE, OP_MORE_EQUAL, OP_CONTAINS, OP_TRUE };

/* --- reading -------------------------------------------------------------------------------------------------- */

typedef struct reader_t {
    condition_t *condition;
    const char *text, *at;
    char *sentence;
    uint32_t depth;
} reader_t;

/* One side of a comparison. */
typedef struct side_t {
    uint8_t kind;
    uint16_t place;
    double number;
} side_t;

static bool refuse(reader_t *r, const char *what)
{
    if (r->sentence[0] == '\0')
        snprintf(r->sentence, CONDITION_SENTENCE_MAX, "at column %u of the condition: %s",
                 (unsigned)(r->at - r->text) + 1, what);
    return false;
}

static void skip_space(reader_t *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
        r->at++;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Take this symbol, or this word as a whole, where it comes next in the text. */
static bool take(reader_t *r, const char *symbol)
{
    size_t length = strlen(symbol);
    skip_space(r);
    if (strncmp(r->at, symbol, length) != 0 || (in_word(symbol[0]) && in_word(r->at[length])))
        return false;
    r->at += length;
    return true;
}

static bool add_node(reader_t *r, condition_node_t node, uint32_t *place)
{
    condition_t *c = r->condition;
    if (c->node_count == CONDITION_NODES_MAX)
        return refuse(r, "it is too long; at most 64 parts are taken");
    *place = c->node_count;
    c->nodes[c->node_count++] = node;
    return true;
}

static bool read_word(reader_t *r, char *word, size_t size)
{
    size_t length = 0;
    while (in_word(r->at[length]))
        length++;
    if (length == 0)
        return refuse(r, "a name is missing");
    if (length >= size)
        return refuse(r, "this name is too long");
    memcpy(word, r->at, length);
    word[length] = '\0';
    r->at += length;
    return true;
}

static bool add_field(reader_t *r, const condition_field_t *field, side_t *side)
{
    condition_t *c = r->condition;
    for (uint32_t i = 0; i < c->field_count; i++)
        if (strcmp(c->fields[i].component, field->component) == 0 &&
            strcmp(c->fields[i].property, field->property) == 0 &&
            strcmp(c->fields[i].part_name, field->part_name) == 0 && c->fields[i].part == field->part) {
            *side = (side_t){SIDE_FIELD, (uint16_t)i, 0};
            return true;
        }
    if (c->field_count == CONDITION_FIELDS_MAX)
        return refuse(r, "at most 16 different properties are taken");
    *side = (side_t){SIDE_FIELD, (uint16_t)c->field_count, 0};
    c->fields[c->field_count++] = *field;
    return true;
}

/* component [:: name], then .property, then .part or [number]. */
static bool read_field(reader_t *r, condition_field_t *field)
{
    *field = (condition_field_t){.part = CONDITION_HAS};
    if (!read_word(r, field->component, sizeof field->component))
        return false;
    if (r->at[0] == ':' && r->at[1] == ':') {
        size_t length = strlen(field->component);
        if (length + 3 >= sizeof field->component)
            return refuse(r, "this name is too long");
        memcpy(field->component + length, "::", 3);
        r->at += 2;
        if (!read_word(r, field->component + length + 2, sizeof field->component - length - 2))
            return false;
    }
    if (*r->at != '.')
        return true;
    r->at++;
    field->part = CONDITION_WHOLE;
    if (!read_word(r, field->property, sizeof field->property))
        return false;
    if (*r->at == '.') {
        r->at++;
        return read_word(r, field->part_name, sizeof field->part_name);
    }
    if (*r->at != '[')
        return true;
    r->at++;
    if (!read_word(r, field->part_name, sizeof field->part_name))
        return false;
    return *r->at++ == ']' || refuse(r, "']' is missing");
}

static bool read_text(reader_t *r, side_t *side)
{
    condition_t *c = r->condition;
    char quote = *r->at++;
    *side = (side_t){SIDE_TEXT, (uint16_t)c->text_size, 0};
    for (; *r->at != quote; r->at++) {
        if (*r->at == '\0')
            return refuse(r, "the text has no end");
        if (*r->at == '\\' && r->at[1] != '\0')
            r->at++;
        if (c->text_size + 2 >= CONDITION_TEXTS_MAX)
            return refuse(r, "its texts are too long");
        c->texts[c->text_size++] = *r->at;
    }
    r->at++;
    c->texts[c->text_size++] = '\0';
    return true;
}

static bool read_length(reader_t *r, side_t *side)
{
    condition_field_t field;
    skip_space(r);
    if (!read_field(r, &field))
        return false;
    if (field.property[0] == '\0' || field.part_name[0] != '\0')
        return refuse(r, "length takes a vector: length(body.velocity)");
    field.part = CONDITION_LENGTH;
    return (take(r, ")") || refuse(r, "')' is missing")) && add_field(r, &field, side);
}

static bool read_value(reader_t *r, side_t *side)
{
    condition_field_t field;
    char *end;
    skip_space(r);
    if (*r->at == '"' || *r->at == '\'')
        return read_text(r, side);
    if (isdigit((unsigned char)*r->at) || ((*r->at == '-' || *r->at == '+' || *r->at == '.') && r->at[1] != '\0')) {
        *side = (side_t){SIDE_NUMBER, 0, bp_real_read(r->at, &end)};
        if (end == r->at)
            return refuse(r, "this is no number");
        r->at = end;
        return true;
    }
    if (take(r, "true") || take(r, "false")) {
        *side = (side_t){SIDE_NUMBER, 0, r->at[-2] == 'u'};
        return true;
    }
    if (take(r, "none")) {
        *side = (side_t){SIDE_NONE, 0, 0};
        return true;
    }
    const char *before = r->at;
    if (take(r, "length") && take(r, "("))
        return read_length(r, side);
    r->at = before;
    return read_field(r, &field) && add_field(r, &field, side);
}

static bool read_operator(reader_t *r, uint8_t *operator_kind)
{
    static const struct { const char *symbol; uint8_t kind; } operators[] = {
        {"<=", OP_LESS_EQUAL}, {">=", OP_MORE_EQUAL}, {"!=", OP_DIFFERENT}, {"==", OP_EQUAL},
        {"<", OP_LESS}, {">", OP_MORE}, {"=", OP_EQUAL}, {"~", OP_CONTAINS}};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (take(r, operators[i].symbol)) {
            *operator_kind = operators[i].kind;
            return true;
        }
    return false;
}

static bool read_condition(reader_t *r, uint32_t *place);

static bool is_component(const reader_t *r, const side_t *side)
{
    return side->kind == SIDE_FIELD && r->condition->fields[side->place].part == CONDITION_HAS;
}

static bool read_test(reader_t *r, uint32_t *place)
{
    side_t left, right = {SIDE_NUMBER, 0, 0};
    condition_node_t node = {.kind = NODE_COMPARE, .operator_kind = OP_TRUE};
    if (take(r, "("))
        return read_condition(r, place) && (take(r, ")") || refuse(r, "')' is missing"));
    if (!read_value(r, &left))
        return false;
    if (read_operator(r, &node.operator_kind)) {
        if (!read_value(r, &right))
            return false;
        if (is_component(r, &left) || is_component(r, &right))
            return refuse(r, "a component has no value; write component.property");
        if (node.operator_kind == OP_CONTAINS && right.kind != SIDE_TEXT)
            return refuse(r, "behind ~ comes a \"text\"");
    } else if (left.kind != SIDE_FIELD) {
        return refuse(r, "a comparison is missing; write body.mass > 2");
    }
    node.left_kind = left.kind;
    node.right_kind = right.kind;
    node.left = left.place;
    node.right = right.place;
    node.left_number = left.number;
    node.right_number = right.number;
    return add_node(r, node, place);
}

static bool read_not(reader_t *r, uint32_t *place)
{
    uint32_t inner;
    if (!take(r, "not"))
        return read_test(r, place);
    if (++r->depth > CONDITION_DEPTH_MAX)
        return refuse(r, "it is nested too deeply");
    bool read = read_not(r, &inner) &&
                add_node(r, (condition_node_t){.kind = NODE_NOT, .left = (uint16_t)inner}, place);
    r->depth--;
    return read;
}

static bool read_chain(reader_t *r, uint8_t kind, const char *word, bool (*part)(reader_t *, uint32_t *),
                       uint32_t *place)
{
    uint32_t left, right;
    if (!part(r, &left))
        return false;
    while (take(r, word)) {
        if (!part(r, &right) ||
            !add_node(r, (condition_node_t){.kind = kind, .left = (uint16_t)left, .right = (uint16_t)right}, &left))
            return false;
    }
    *place = left;
    return true;
}

static bool read_and(reader_t *r, uint32_t *place)
{
    return read_chain(r, NODE_AND, "and", read_not, place);
}

static bool read_condition(reader_t *r, uint32_t *place)
{
    if (++r->depth > CONDITION_DEPTH_MAX)
        return refuse(r, "it is nested too deeply");
    bool read = read_chain(r, NODE_OR, "or", read_and, place);
    r->depth--;
    return read;
}

bool condition_read(condition_t *condition, const char *text, char sentence[CONDITION_SENTENCE_MAX])
{
    reader_t r = {.condition = condition, .text = text, .at = text, .sentence = sentence};
    sentence[0] = '\0';
    condition->node_count = condition->field_count = condition->text_size = 0;
    if (!read_condition(&r, &condition->root))
        return false;
    skip_space(&r);
    return *r.at == '\0' || refuse(&r, "here it should end; join tests by `and` and `or`");
}

/* --- a component that all matching entities have
 * ---------------------------------------------------------------------- */

static uint32_t certain(const condition_t *c, uint32_t place)
{
    const condition_node_t *node = &c->nodes[place];
    uint32_t left, right;
    switch (node->kind) {
    case NODE_AND:
        left = certain(c, node->left);
        return left != BP_NONE ? left : certain(c, node->right);
    case NODE_OR:
        left = certain(c, node->left);
        right = certain(c, node->right);
        return left != BP_NONE && right != BP_NONE && strcmp(c->fields[left].component, c->fields[right].component) == 0
                   ? left
                   : BP_NONE;
    case NODE_COMPARE:
        if (node->left_kind == SIDE_FIELD)
            return node->left;
        return node->right_kind == SIDE_FIELD ? node->right : BP_NONE;
    default: return BP_NONE;
    }
}

uint32_t condition_certain(const condition_t *condition)
{
    return certain(condition, condition->root);
}

/* --- testing -------------------------------------------------------------------------------------------------- */

typedef struct tester_t {
    const condition_t *condition;
    const condition_column_t *columns;
    const condition_words_t *words;
    uint32_t count;
} tester_t;

#if defined(__GNUC__)
#define INLINED __attribute__((always_inline)) inline
#else
#define INLINED inline
#endif

/* A numeric column against a number. One loop for each type and operator, for the compiler to vectorise where values
 * lie side by side. */
#define COMPARE_LOOP(type, symbol)                                                                           \
    for (uint32_t i = 0; i < count; i++) {                                                                   \
        type v;                                                                                              \
        memcpy(&v, at + i * stride, sizeof v);                                                               \
        mask[i] = v symbol to;                                                                               \
    }                                                                                                        \
    break

#define COMPARE_TYPE(name, type)                                                                                \
    static INLINED void compare_loop_##name(uint8_t op, const char *at, size_t stride, type to, uint32_t count, \
                                            uint8_t *restrict mask)                                             \
    {                                                                                                           \
        switch (op) {                                                                                           \
        case OP_EQUAL: COMPARE_LOOP(type, ==);                                                                  \
        case OP_DIFFERENT: COMPARE_LOOP(type, !=);                                                              \
        case OP_LESS: COMPARE_LOOP(type, <);                                                                    \
        case OP_LESS_EQUAL: COMPARE_LOOP(type, <=);                                                             \
        case OP_MORE: COMPARE_LOOP(type, >);                                                                    \
        default: COMPARE_LOOP(type, >=);                                                                        \
        }                                                                                                       \
    }

/* Numbers that stand alone lie side by side; those that vectors have do not. */
#define COMPARE_DENSE(name, type)                                                                              \
    COMPARE_TYPE(name, type)                                                                                   \
    static void compare_##name(uint8_t op, const char *at, type to, uint32_t count, uint8_t *restrict mask)    \
    {                                                                                                          \
        compare_loop_##name(op, at, sizeof(type), to, count, mask);                                            \
    }

#define COMPARE_STRIDED(name, type)                                                                            \
    COMPARE_TYPE(name, type)                                                                                   \
    static void compare_##name(uint8_t op, const char *at, size_t stride, type to, uint32_t count,             \
                               uint8_t *restrict mask)                                                         \
    {                                                                                                          \
        if (stride == sizeof(type))                                                                            \
            compare_loop_##name(op, at, sizeof(type), to, count, mask);                                        \
        else                                                                                                   \
            compare_loop_##name(op, at, stride, to, count, mask);                                              \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-equal"
COMPARE_STRIDED(f32, float)
COMPARE_STRIDED(f64, double)
COMPARE_DENSE(i32, int32_t)
COMPARE_DENSE(u32, uint32_t)
#pragma GCC diagnostic pop

static bool compare_numbers(uint8_t op, double a, double b)
{
    switch (op) {
    case OP_EQUAL: return a <= b && a >= b;
    case OP_DIFFERENT: return !(a <= b && a >= b);
    case OP_LESS: return a < b;
    case OP_LESS_EQUAL: return a <= b;
    case OP_MORE: return a > b;
    case OP_MORE_EQUAL: return a >= b;
    default: return a < 0 || a > 0;
    }
}

static double number_at(const condition_column_t *column, uint32_t part, uint32_t row)
{
    const char *cell = (const char *)column->values + row * column->stride;
    if (part == CONDITION_LENGTH)
        return shape_length(column->type, cell);
    if (column->type == BP_ENTITY) {
        bp_entity_t entity;
        memcpy(&entity, cell, sizeof entity);
        return entity.id != 0;
    }
    return shape_number(column->type, part < SHAPE_PARTS_MAX ? part : 0, cell);
}

/* --- texts */

bool condition_contains(const char *text, const char *part)
{
    for (; *text != '\0' || *part == '\0'; text++) {
        size_t i = 0;
        while (part[i] != '\0' && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (part[i] == '\0')
            return true;
        if (*text == '\0')
            break;
    }
    return false;
}

static bool compare_texts(uint8_t op, const char *a, const char *b)
{
    int order = strcmp(a, b);
    switch (op) {
    case OP_EQUAL: return order == 0;
    case OP_DIFFERENT: return order != 0;
    case OP_LESS: return order < 0;
    case OP_LESS_EQUAL: return order <= 0;
    case OP_MORE: return order > 0;
    case OP_MORE_EQUAL: return order >= 0;
    case OP_CONTAINS: return condition_contains(a, b);
    default: return a[0] != '\0';
    }
}

static bool is_text(uint32_t type)
{
    return type == BP_STRING || type == BP_NAME || type == BP_ENTITY;
}

/* A row of a column of texts, names or entities against a text. */
static bool compare_text_at(const tester_t *t, uint8_t op, const condition_column_t *column, uint32_t row,
                            const char *text)
{
    const char *cell = (const char *)column->values + row * column->stride;
    bp_value_t value;
    memcpy(&value, cell, 8);
    if (column->type == BP_STRING)
        return compare_texts(op, value.string, text);
    if (column->type == BP_NAME)
        return compare_texts(op, t->words->name(t->words->context, value.name), text);
    bool same = t->words->same(t->words->context, value.entity, text);
    return op == OP_DIFFERENT ? !same : same;
}

/* --- nodes */

static bool has(const condition_column_t *column, uint32_t row)
{
    return column->values != NULL && (column->has == NULL || column->has[row] != 0);
}

/* Take out the rows that lack the column. */
static void mask_missing(const condition_column_t *column, uint32_t count, uint8_t *mask)
{
    if (column->has != NULL)
        for (uint32_t i = 0; i < count; i++)
            mask[i] &= column->has[i];
}

/* A numeric column against a number, by the fast loops; false where there is no fast loop for the column. */
static bool compare_fast(const condition_column_t *column, uint32_t part, uint8_t op, double to, uint32_t count,
                         uint8_t *mask)
{
    const char *at = (const char *)column->values;
    if (op > OP_MORE_EQUAL || part == CONDITION_LENGTH)
        return false;
    if (part < SHAPE_PARTS_MAX) {
        const shape_t *shape = shape_of(column->type);
        at += part * shape->part_size;
        if (shape->part_size == 4)
            compare_f32(op, at, column->stride, (float)to, count, mask);
        else
            compare_f64(op, at, column->stride, to, count, mask);
        return true;
    }
    bool whole = to >= -2147483648.0 && to <= 2147483647.0 && floor(to) >= to && floor(to) <= to;
    switch (column->type) {
    case BP_F32: compare_f32(op, at, column->stride, (float)to, count, mask); return true;
    case BP_F64: compare_f64(op, at, column->stride, to, count, mask); return true;
    case BP_I32:
        if (whole)
            compare_i32(op, at, (int32_t)to, count, mask);
        return whole;
    case BP_U32:
        if (whole && to >= 0)
            compare_u32(op, at, (uint32_t)to, count, mask);
        return whole && to >= 0;
    default: return false;
    }
}

static uint8_t turned(uint8_t op)
{
    switch (op) {
    case OP_LESS: return OP_MORE;
    case OP_LESS_EQUAL: return OP_MORE_EQUAL;
    case OP_MORE: return OP_LESS;
    case OP_MORE_EQUAL: return OP_LESS_EQUAL;
    default: return op;
    }
}

/* Two fields with each other, row by row. */
static void compare_fields(const tester_t *t, const condition_node_t *node, uint8_t *mask)
{
    const condition_column_t *a = &t->columns[node->left], *b = &t->columns[node->right];
    uint32_t part_a = t->condition->fields[node->left].part, part_b = t->condition->fields[node->right].part;
    for (uint32_t i = 0; i < t->count; i++) {
        mask[i] = 0;
        if (!has(a, i) || !has(b, i))
            continue;
        if (a->type == BP_STRING && b->type == BP_STRING) {
            bp_value_t left, right;
            memcpy(&left, (const char *)a->values + i * a->stride, 8);
            memcpy(&right, (const char *)b->values + i * b->stride, 8);
            mask[i] = compare_texts(node->operator_kind, left.string, right.string);
        } else if (is_text(a->type) && a->type == b->type) {
            bool same = memcmp((const char *)a->values + i * a->stride, (const char *)b->values + i * b->stride, 8) ==
                        0;
            mask[i] = node->operator_kind == OP_DIFFERENT ? !same : same;
        } else {
            mask[i] = compare_numbers(node->operator_kind, number_at(a, part_a, i), number_at(b, part_b, i));
        }
    }
}

/* A field with a number, a text, or none. */
static void compare_field(const tester_t *t, uint32_t field, uint8_t op, uint8_t kind, double number, const char *text,
                          uint8_t *mask)
{
    const condition_column_t *column = &t->columns[field];
    uint32_t part = t->condition->fields[field].part;
    memset(mask, 0, t->count);
    if (column->values == NULL)
        return;
    if (part == CONDITION_HAS) {
        memset(mask, 1, t->count);
    } else if (kind == SIDE_NONE) {
        for (uint32_t i = 0; i < t->count; i++) {
            bp_entity_t entity = {1};
            if (column->type == BP_ENTITY)
                memcpy(&entity, (const char *)column->values + i * column->stride, sizeof entity);
            mask[i] = (entity.id == 0) == (op != OP_DIFFERENT);
        }
    } else if (kind == SIDE_TEXT || (op == OP_TRUE && (column->type == BP_STRING || column->type == BP_NAME))) {
        for (uint32_t i = 0; i < t->count; i++)
            mask[i] = is_text(column->type) && has(column, i) && compare_text_at(t, op, column, i, text);
    } else if (!compare_fast(column, part, op, number, t->count, mask)) {
        for (uint32_t i = 0; i < t->count; i++)
            mask[i] = has(column, i) && compare_numbers(op, number_at(column, part, i), number);
    }
    mask_missing(column, t->count, mask);
}

static void compare(const tester_t *t, const condition_node_t *node, uint8_t *mask)
{
    const condition_t *c = t->condition;
    if (node->left_kind == SIDE_FIELD && node->right_kind == SIDE_FIELD)
        compare_fields(t, node, mask);
    else if (node->left_kind == SIDE_FIELD)
        compare_field(t, node->left, node->operator_kind, node->right_kind, node->right_number, c->texts + node->right,
                      mask);
    else if (node->right_kind == SIDE_FIELD)
        compare_field(t, node->right, turned(node->operator_kind), node->left_kind, node->left_number,
                      c->texts + node->left, mask);
    else if (node->left_kind == SIDE_TEXT && node->right_kind == SIDE_TEXT)
        memset(mask, compare_texts(node->operator_kind, c->texts + node->left, c->texts + node->right), t->count);
    else
        memset(mask,
               node->left_kind == node->right_kind &&
                   compare_numbers(node->operator_kind, node->left_number, node->right_number),
               t->count);
}

static void test(const tester_t *t, uint32_t place, uint8_t *mask)
{
    const condition_node_t *node = &t->condition->nodes[place];
    uint8_t other[CONDITION_ROWS];
    switch (node->kind) {
    case NODE_NOT:
        test(t, node->left, mask);
        for (uint32_t i = 0; i < t->count; i++)
            mask[i] ^= 1;
        break;
    case NODE_AND:
    case NODE_OR:
        test(t, node->left, mask);
        test(t, node->right, other);
        for (uint32_t i = 0; i < t->count; i++)
            mask[i] = node->kind == NODE_AND ? mask[i] & other[i] : mask[i] | other[i];
        break;
    default: compare(t, node, mask);
    }
}

void condition_test(const condition_t *condition, const condition_column_t *columns, const condition_words_t *words,
                    uint32_t count, uint8_t *mask)
{
    tester_t t = {condition, columns, words, count};
    test(&t, condition->root, mask);
}
