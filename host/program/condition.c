/* condition.c - reading a condition, and testing whether it holds. */
#include "condition.h"
#include "inspect.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum comparison_t { LESS, AT_MOST, EQUAL, UNLIKE, AT_LEAST, GREATER, IS, COMPARISONS } comparison_t;

static const char *const comparison_texts[COMPARISONS] = {"<", "<=", "=", "!=", ">=", ">", "is"};

/* --- reading ------------------------------------------------------------------------------------------------------ */

static bool read_comparison(const char *text, int *comparison)
{
    for (int i = 0; i < COMPARISONS; i++) {
        if (strcmp(text, comparison_texts[i]) == 0 || (i == EQUAL && strcmp(text, "==") == 0)) {
            *comparison = i;
            return true;
        }
    }
    return false;
}

/* "OP VALUE", where `word` is OP. */
static bool read_limit(console_t *console, const char *command, const char *word, char *rest, condition_t *c)
{
    char *value = NULL;
    words_end_t end = console_words_value(rest, &value);
    if (!read_comparison(word, &c->comparison))
        return console_refuse(console, "'%s' is none of < <= = != >= > is, such as %s main body.mass > 2", word,
                              command);
    if (end == WORDS_UNCLOSED)
        return console_refuse_unclosed(console);
    if (end != WORDS_FOUND)
        return console_refuse(console, "compare it with what? such as %s main body.mass > 2", command);
    if (c->comparison == IS && strcmp(value, "nan") != 0 && strcmp(value, "inf") != 0)
        return console_refuse(console, "'is %s': a value is nan or inf; for others write = %s", value, value);
    bool ordered = c->comparison != IS && c->comparison != EQUAL && c->comparison != UNLIKE;
    if ((ordered || c->property == NULL) && !numbers_is_number(value))
        return console_refuse(console, "'%s' is not a number, which is what %s compares with", value,
                              c->property == NULL ? "count" : comparison_texts[c->comparison]);
    c->value = value;
    return true;
}

static char *next_word(char **rest)
{
    char *word;
    return console_words_next(rest, &word) == WORDS_FOUND ? word : NULL;
}

static bool find_world(console_t *console, const char *name, condition_t *c)
{
    char why[WHY_MAX];
    c->world = inspect_world(console->program, name, why);
    return c->world != NULL || console_refuse(console, "%s", why);
}

/* Behind "count". */
static bool read_count(console_t *console, const char *command, char *rest, condition_t *c)
{
    int comparison;
    const char *world = next_word(&rest), *word = world == NULL ? NULL : next_word(&rest);
    c->known = true;
    if (world != NULL && word != NULL && !read_comparison(word, &comparison)) {
        c->component = word;
        word = next_word(&rest);
    }
    if (word == NULL)
        return console_refuse(console, "count needs a world and a number, such as %s count main > 1000", command);
    if (!find_world(console, world, c))
        return false;
    if (c->component != NULL && console->program->api->world->component(c->world, c->component) == BP_NONE)
        return console_refuse(console, "%s", bp_host_error(console->program->host));
    return read_limit(console, command, word, rest, c);
}

/* "ENTITY.COMPONENT.PROPERTY", behind a world and a slash. */
static bool cut_path(char *text, condition_t *c)
{
    char *last = strrchr(text, '.');
    if (last == NULL)
        return false;
    *last = '\0';
    char *first = strrchr(text, '.');
    if (first == NULL)
        return false;
    *first = '\0';
    c->entity = strcmp(text, "*") == 0 ? NULL : text;
    c->component = first + 1;
    c->property = last + 1;
    return true;
}

/* "COMPONENT.PROPERTY". */
static bool cut_property(char *text, condition_t *c)
{
    char *dot = text == NULL ? NULL : strchr(text, '.');
    if (dot == NULL)
        return false;
    *dot = '\0';
    c->component = text;
    c->property = dot + 1;
    return true;
}

bool condition_read(console_t *console, const char *command, char *rest, condition_t *c)
{
    *c = (condition_t){.value = NULL};
    char *world = next_word(&rest);
    if (world != NULL && strcmp(world, "count") == 0)
        return read_count(console, command, rest, c);
    bool any = world != NULL && strcmp(world, "any") == 0;
    if (any)
        world = next_word(&rest);
    char *slash = world == NULL ? NULL : strchr(world, '/');
    if (slash != NULL)
        *slash = '\0';
    bool fine = slash != NULL ? cut_path(slash + 1, c) : world != NULL && cut_property(next_word(&rest), c);
    if (!fine)
        return console_refuse(console, "%s needs a world and a property, such as %s main body.mass > 2", command,
                              command);
    if (any && c->entity != NULL)
        return console_refuse(console, "any, or '%s': write one of both", c->entity);
    if (!find_world(console, world, c))
        return false;
    const char *word = next_word(&rest);
    return word == NULL || read_limit(console, command, word, rest, c);
}

const char *condition_about(const program_t *program, const condition_t *c, char *text, size_t size)
{
    if (c->property != NULL)
        snprintf(text, size, "%s.%s", c->component, c->property);
    else
        snprintf(text, size, "count %s%s%s", program->api->world->name(c->world), c->component != NULL ? " " : "",
                 c->component != NULL ? c->component : "");
    return text;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

/* Is one of the words of a text, such as a vector's numbers, nan or inf? */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        bool begins = at == text || !isalnum((unsigned char)at[-1]);
        if (begins && !isalnum((unsigned char)at[length]))
            return true;
    }
    return false;
}

/* -1, 0 or 1: how two whole numbers of any length compare. A double has 53 bits. */
static int compare_wholes(const char *a, const char *b)
{
    bool negative_a = *a == '-', negative_b = *b == '-';
    a += *a == '-' || *a == '+';
    b += *b == '-' || *b == '+';
    size_t length_a = strlen(a), length_b = strlen(b);
    int order = length_a != length_b ? (length_a < length_b ? -1 : 1) : strcmp(a, b);
    if (strcmp(a, "0") == 0 && strcmp(b, "0") == 0)
        return 0;
    if (negative_a != negative_b)
        return negative_a ? -1 : 1;
    return negative_a ? (order < 0) - (order > 0) : (order > 0) - (order < 0);
}

static bool compares(const condition_t *c, const char *left)
{
    const char *right = c->value;
    bool numbers = c->comparison != IS && numbers_is_number(left) && numbers_is_number(right);
    bool wholes = numbers && numbers_is_whole(left) && numbers_is_whole(right);
    double a = numbers && !wholes ? strtod(left, NULL) : 0, b = numbers && !wholes ? strtod(right, NULL) : 0;
    if (wholes)
        a = compare_wholes(left, right);
    switch ((comparison_t)c->comparison) {
    case LESS: return numbers && a < b;
    case AT_MOST: return numbers && a <= b;
    case AT_LEAST: return numbers && a >= b;
    case GREATER: return numbers && a > b;
    case UNLIKE: return numbers ? a < b || a > b : strcmp(left, right) != 0;
    case IS: return has_word(left, right);
    default: return numbers ? !(a < b || a > b) : strcmp(left, right) == 0;
    }
}

static void count_of(const program_t *program, const condition_t *c, char *value)
{
    const bp_world_api *api = program->api->world;
    uint32_t component = c->component == NULL ? BP_NONE : api->component(c->world, c->component);
    uint32_t count = c->component == NULL ? inspect_figures(program, c->world).entities
                     : component == BP_NONE ? 0 : api->count(c->world, component);
    snprintf(value, CONDITION_VALUE, "%" PRIu32, count);
}

/* Read by the property that was resolved for another entity, which serves most entities; else resolve. */
bool condition_value(const program_t *program, condition_t *c, bp_entity_t entity, char *value)
{
    const bp_property_api *api = program->api->property;
    if (c->property == NULL) {
        count_of(program, c, value);
        return true;
    }
    c->path.world = c->world;
    c->path.entity = entity;
    value[0] = '\0';
    if (c->resolved && api->get_text(&c->path, value, CONDITION_VALUE) == BP_OK)
        return true;
    bp_property_t property;
    value[0] = '\0';
    if (api->resolve(c->world, entity, c->component, c->property, &property) != BP_OK)
        return false;
    c->path.property = property;
    c->resolved = true;
    return api->get_text(&c->path, value, CONDITION_VALUE) == BP_OK;
}

bool condition_holds_for(const program_t *program, condition_t *c, bp_entity_t entity, char *value)
{
    if (!condition_value(program, c, entity, value))
        return false;
    c->known = true;
    return c->value == NULL || compares(c, value);
}

/* A condition on numbers: most entities can be ruled out by the bytes of the value, without its text. */
typedef struct limit_t {
    int comparison;
    uint32_t type;
    double limit;
} limit_t;

static bool reads_numbers(const condition_t *c, limit_t *limit)
{
    const bp_property_t *p = &c->path.property;
    bool wanted = c->value != NULL && (c->comparison == IS || numbers_is_number(c->value));
    *limit = (limit_t){.comparison = c->comparison,
                       .type = p->type,
                       .limit = wanted && c->comparison != IS ? strtod(c->value, NULL) : 0};
    return wanted && (p->type == BP_F32 || p->type == BP_F64 || p->type == BP_I32 || p->type == BP_U32) &&
           (p->flags & BP_FIELD_LIST) == 0 && (p->element != BP_NONE || p->count <= 1);
}

static double number_of(uint32_t type, const void *value)
{
    union { float f32; double f64; int32_t i32; uint32_t u32; } v;
    memcpy(&v, value, type == BP_F64 ? sizeof v.f64 : sizeof v.u32);
    return type == BP_F32 ? (double)v.f32 : type == BP_F64 ? v.f64 : type == BP_I32 ? (double)v.i32 : (double)v.u32;
}

/* Can the condition be ruled out without the value's text? A number has to be clearly on the wrong side: near the
 * value that is compared with, the text decides. */
static bool is_ruled_out(const limit_t *l, double number)
{
    bool clear = fabs(number - l->limit) > 1e-5 * (fabs(number) + fabs(l->limit));
    if (l->comparison == IS ? !(fabs(number) <= 1.7e308) : !clear)
        return false;
    switch ((comparison_t)l->comparison) {
    case LESS: case AT_MOST: return number > l->limit;
    case AT_LEAST: case GREATER: return number < l->limit;
    case UNLIKE: return false;
    default: return true;
    }
}

bp_entity_t condition_next(const program_t *program, const condition_t *c, uint32_t *index)
{
    char why[WHY_MAX];
    bp_entity_t entity = {0};
    if (c->entity == NULL)
        return program->api->world->next(c->world, index);
    if (*index == 0 && !inspect_entity(program, c->world, c->entity, &entity, why))
        entity = (bp_entity_t){0};
    *index = 1;
    return entity;
}

/* Resolve the property for the first of some entities that has it. */
static void resolve_for_some(const program_t *program, condition_t *c, const condition_block_t *block)
{
    char value[CONDITION_VALUE];
    for (uint32_t i = 0; i < block->count && !c->resolved; i++)
        condition_value(program, c, block->entities[i], value);
}

bool condition_next_block(const program_t *program, condition_t *c, uint32_t *index, condition_block_t *block)
{
    bp_entity_t entity;
    block->count = block->size = 0;
    while (block->count < CONDITION_BLOCK && (entity = condition_next(program, c, index)).id != 0)
        block->entities[block->count++] = entity;
    resolve_for_some(program, c, block);
    bp_property_t *p = &c->path.property;
    bool lies = c->resolved && p->size <= CONDITION_RAW && p->type != BP_STRING && (p->flags & BP_FIELD_LIST) == 0;
    if (lies && block->count > 0 &&
        program->api->property->get(c->world, p, block->entities, block->count, block->values, p->size) == BP_OK) {
        block->size = p->size;
        c->known = true;
    }
    return block->count > 0;
}

enum { LANES = 32 };

/* Is one of LANES numbers within bounds, or no number? Of a fixed count, so that compilers make vectors of the loop. */
static bool any_of_f32(const float *numbers, float low, float high)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < LANES; i++)
        found |= !((numbers[i] < low) | (numbers[i] > high));
    return found != 0;
}

static bool any_of_f64(const double *numbers, double low, double high)
{
    uint64_t found = 0;
    for (uint32_t i = 0; i < LANES; i++)
        found |= !((numbers[i] < low) | (numbers[i] > high));
    return found != 0;
}

/* Is some number of a column within bounds, or no number? */
static bool any_within(uint32_t type, const void *cells, uint32_t count, double low, double high)
{
    const float *f32 = cells;
    const double *f64 = cells;
    uint32_t i = 0;
    for (; (type == BP_F32 || type == BP_F64) && count - i >= LANES; i += LANES) {
        if (type == BP_F32 ? any_of_f32(f32 + i, (float)low, (float)high) : any_of_f64(f64 + i, low, high))
            return true;
    }
    for (; i < count; i++) {
        size_t size = type == BP_F64 ? sizeof(double) : sizeof(float);
        double number = number_of(type, (const char *)cells + i * size);
        if (!(number < low || number > high))
            return true;
    }
    return false;
}

/* Numbers between *low and *high may fulfil the condition, others do not. The bounds let more numbers in, since a value
 * is compared by its text, which is rounded. */
static void bounds_of(const limit_t *l, double *low, double *high)
{
    double near = 3e-5 * fabs(l->limit);
    *low = l->comparison == LESS || l->comparison == AT_MOST ? -HUGE_VAL : l->limit - near;
    *high = l->comparison == AT_LEAST || l->comparison == GREATER ? HUGE_VAL : l->limit + near;
}

/* Might a row of a prototype fulfil a condition on numbers? */
static bool may_hold_in(const program_t *program, const condition_t *c, const bp_look_prototype_t *rows,
                        const limit_t *limit)
{
    double low, high;
    const bp_property_t *p = &c->path.property;
    const void *cells = program->look->column(c->world, rows->prototype, p->key, p->field);
    bounds_of(limit, &low, &high);
    if (cells != NULL)
        return any_within(limit->type, cells, rows->row_count, low, high);
    bp_property_t other;
    for (uint32_t i = 0; i < rows->row_count; i++) {
        if (rows->entities[i].id != 0)
            return program->api->property->resolve(c->world, rows->entities[i], c->component, c->property, &other) ==
                   BP_OK;
    }
    return false;
}

/* One pass over the columns: false where the condition holds for no entity; true where it may hold, or that is not
 * known. */
static bool may_hold(const program_t *program, const condition_t *c)
{
    limit_t limit;
    uint32_t cursor = 0;
    bp_look_prototype_t rows = {.struct_size = sizeof rows};
    if (!c->resolved || c->entity != NULL || !reads_numbers(c, &limit) || c->path.property.element != BP_NONE ||
        limit.comparison == UNLIKE || limit.comparison == IS)
        return true;
    while (program->look->prototype(c->world, &cursor, &rows)) {
        if (may_hold_in(program, c, &rows, &limit))
            return true;
    }
    return false;
}

bool condition_holds(const program_t *program, condition_t *c, bp_entity_t *entity, char *value)
{
    condition_block_t block;
    uint32_t index = 0;
    *entity = (bp_entity_t){0};
    if (c->property == NULL)
        return condition_holds_for(program, c, *entity, value);
    if (!may_hold(program, c))
        return false;
    while (condition_next_block(program, c, &index, &block)) {
        limit_t limit = {0};
        bool numbers = block.size > 0 && reads_numbers(c, &limit);
        for (uint32_t i = 0; i < block.count; i++) {
            bool out = numbers && is_ruled_out(&limit, number_of(limit.type, condition_block_value(&block, i)));
            if (out || !condition_holds_for(program, c, block.entities[i], value))
                continue;
            *entity = block.entities[i];
            return true;
        }
    }
    return false;
}

const char *condition_fault(const program_t *program, const condition_t *c, char *text, size_t size)
{
    const char *world = program->api->world->name(c->world);
    bool number = c->resolved && (c->path.property.type == BP_F32 || c->path.property.type == BP_F64) &&
                  (c->path.property.flags & BP_FIELD_LIST) == 0 && c->path.property.count <= 1;
    if (!c->known && c->resolved)
        snprintf(text, size, "%s.%s cannot be read of any entity of world '%s'", c->component, c->property, world);
    else if (!c->known && c->entity != NULL)
        snprintf(text, size, "world '%s' has no entity '%s' with a property %s.%s", world, c->entity, c->component,
                 c->property);
    else if (!c->known)
        snprintf(text, size, "no entity of world '%s' has a property %s.%s", world, c->component, c->property);
    else if (number && c->value != NULL && c->comparison != IS && !numbers_is_number(c->value))
        snprintf(text, size, "'%s' is not a number, as %s.%s is", c->value, c->component, c->property);
    else
        return NULL;
    return text;
}
