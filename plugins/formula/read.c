/* read.c - the text of a file of formulas: line by line, and expressions by recursive descent.
 *
 * Invariant: while an expression is read, `depth` is the number of values that the steps so far leave, and neither it
 * nor the nesting goes above FORMULA_DEPTH. The first error ends the reading; its sentence has path and line.
 */
#include "formula.h"

#include <helpers/bp_real.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64, MOST_FIELDS = 255 };

typedef struct reading_t {
    bp_formula_t *file;
    const char *path, *at;
    uint32_t line;
    formula_component_t *component; /* of the lines that follow; NULL: none yet */
    uint32_t depth, nesting;
    bp_result_t result;
} reading_t;

static bp_result_t refuse(reading_t *r, const char *format, ...)
{
    char text[512];
    const bp_plugin_t *plugin = r->file->plugin;
    int length = snprintf(text, sizeof text, "%.300s:%u: ", r->path, r->line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    if (r->result == BP_OK)
        r->result = plugin->api->error->set(plugin->host, BP_ERROR_SYNTAX, text);
    return r->result;
}

static bp_result_t lack_memory(reading_t *r)
{
    return r->result = BP_ERROR_MEMORY;
}

/* --- words -------------------------------------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(reading_t *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
        r->at++;
    if (*r->at == '#')
        r->at += strcspn(r->at, "\n");
}

/* How much of what comes next is shown: the line, and not much of it. */
static int rest(const reading_t *r)
{
    size_t length = strcspn(r->at, "\r\n");
    return length < 20 ? (int)length : 20;
}

/* Is this the next character? Then go past it. */
static bool take(reading_t *r, char c)
{
    skip_blanks(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static bool at_end(reading_t *r)
{
    skip_blanks(r);
    return *r->at == '\n' || *r->at == '\0';
}

/* The next word; "" where there is none. */
static const char *take_word(reading_t *r, char word[WORD])
{
    size_t length = 0;
    skip_blanks(r);
    while (is_letter(r->at[length]) || (length > 0 && is_digit(r->at[length])))
        length++;
    if (length >= WORD)
        refuse(r, "'%.20s...' is too long for a name, of at most %d letters", r->at, WORD - 1);
    size_t kept = length < WORD ? length : WORD - 1;
    memcpy(word, r->at, kept);
    word[kept] = '\0';
    r->at += length;
    return word;
}

static const char *keep(reading_t *r, const char *text, size_t length)
{
    char *copy = formula_take(r->file, length + 1);
    if (copy == NULL)
        lack_memory(r);
    else
        memcpy(copy, text, length);
    return copy;
}

/* The same, which must be there. */
static const char *need_name(reading_t *r, const char *what)
{
    char word[WORD];
    take_word(r, word);
    if (word[0] == '\0')
        refuse(r, "%s must follow, made of letters, digits and underscores", what);
    return keep(r, word, strlen(word));
}

/* Anything up to the next blank: a unit, a version, a number as people write it. */
static const char *need_piece(reading_t *r, const char *what)
{
    skip_blanks(r);
    size_t length = strcspn(r->at, " \t\r\n#");
    if (length == 0)
        refuse(r, "%s must follow", what);
    const char *copy = keep(r, r->at, length);
    r->at += length;
    return copy;
}

/* A number, as its text. */
static const char *need_number(reading_t *r)
{
    const char *text = need_piece(r, "a number");
    char *end = NULL;
    if (text != NULL && r->result == BP_OK && (bp_real_read(text, &end), *end != '\0'))
        refuse(r, "'%.40s' is no number", text);
    return text;
}

/* "text for people", which may be missing. */
static const char *take_doc(reading_t *r)
{
    if (!take(r, '"'))
        return NULL;
    size_t length = strcspn(r->at, "\"\n");
    if (r->at[length] != '"')
        refuse(r, "the text that begins here has no closing quotation mark");
    const char *copy = keep(r, r->at, length);
    r->at += length + (r->at[length] == '"');
    return copy;
}

/* --- expressions -------------------------------------------------------------------------------------------------- */

static void read_sum(reading_t *r);

/* One step of the program; `change` is what it does to the number of values. */
static void put(reading_t *r, formula_step_t step, int change)
{
    formula_component_t *c = r->component;
    formula_step_t *steps = formula_grow(r->file, c->steps, c->step_count, sizeof *steps);
    if (r->result != BP_OK)
        return;
    if (steps == NULL) {
        lack_memory(r);
        return;
    }
    c->steps = steps;
    c->steps[c->step_count++] = step;
    r->depth = (uint32_t)((int)r->depth + change);
    if (r->depth > FORMULA_DEPTH)
        refuse(r, "the formula needs more than %d values at a time; take it apart", FORMULA_DEPTH);
}

static uint32_t find_field(const formula_component_t *c, const char *name)
{
    uint32_t i = 0;
    while (i < c->field_count && strcmp(c->fields[i].name, name) != 0)
        i++;
    return i;
}

static void read_arguments(reading_t *r, const char *name, formula_op_t op, bool two)
{
    read_sum(r);
    if (two && !take(r, ','))
        refuse(r, "%s needs two values, with a comma between them", name);
    if (two)
        read_sum(r);
    if (!take(r, ')'))
        refuse(r, "the values of %s need a closing bracket", name);
    put(r, (formula_step_t){.op = op}, two ? -1 : 0);
}

static void read_call(reading_t *r, const char *name)
{
    static const struct { const char *name; formula_op_t op; bool two; } functions[] = {
        {"sin", FORMULA_SIN, false}, {"cos", FORMULA_COS, false}, {"sqrt", FORMULA_SQRT, false},
        {"exp", FORMULA_EXP, false}, {"log", FORMULA_LOG, false}, {"abs", FORMULA_ABS, false},
        {"min", FORMULA_MIN, true},  {"max", FORMULA_MAX, true},
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            read_arguments(r, name, functions[i].op, functions[i].two);
            return;
        }
    }
    refuse(r, "there is no function '%s' (there are sin, cos, sqrt, exp, log, abs, min, max)", name);
}

static void read_name(reading_t *r)
{
    char name[WORD];
    take_word(r, name);
    if (take(r, '(')) {
        read_call(r, name);
        return;
    }
    uint32_t field = find_field(r->component, name);
    if (field < r->component->field_count)
        put(r, (formula_step_t){.op = FORMULA_FIELD, .index = field}, 1);
    else if (strcmp(name, "dt") == 0)
        put(r, (formula_step_t){.op = FORMULA_DT}, 1);
    else if (strcmp(name, "time") == 0)
        put(r, (formula_step_t){.op = FORMULA_TIME}, 1);
    else
        refuse(r, "component '%s' has no field '%s' above this line", r->component->name, name);
}

static void read_number(reading_t *r)
{
    char *end;
    double number = bp_real_read(r->at, &end);
    r->at = end;
    put(r, (formula_step_t){.op = FORMULA_NUMBER, .number = number}, 1);
}

/* A number, a name, a call, or what is in brackets; a sign before it. */
static void read_value(reading_t *r)
{
    if (++r->nesting > FORMULA_DEPTH)
        refuse(r, "the formula is nested more than %d deep; take it apart", FORMULA_DEPTH);
    skip_blanks(r);
    if (r->result != BP_OK) {
        /* said already */
    } else if (take(r, '-')) {
        read_value(r);
        put(r, (formula_step_t){.op = FORMULA_NEGATE}, 0);
    } else if (take(r, '(')) {
        read_sum(r);
        if (!take(r, ')'))
            refuse(r, "a bracket is not closed");
    } else if (is_digit(*r->at) || (*r->at == '.' && is_digit(r->at[1]))) {
        read_number(r);
    } else if (is_letter(*r->at)) {
        read_name(r);
    } else {
        refuse(r, "a number, a name or a bracket must follow, not '%.*s'", rest(r), r->at);
    }
    r->nesting--;
}

static void read_product(reading_t *r)
{
    read_value(r);
    while (r->result == BP_OK) {
        formula_op_t op = FORMULA_MULTIPLY;
        if (!take(r, '*')) {
            if (!take(r, '/'))
                return;
            op = FORMULA_DIVIDE;
        }
        read_value(r);
        put(r, (formula_step_t){.op = op}, -1);
    }
}

static void read_sum(reading_t *r)
{
    read_product(r);
    while (r->result == BP_OK) {
        formula_op_t op = FORMULA_ADD;
        if (!take(r, '+')) {
            if (!take(r, '-'))
                return;
            op = FORMULA_SUBTRACT;
        }
        read_product(r);
        put(r, (formula_step_t){.op = op}, -1);
    }
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

static void read_component(reading_t *r)
{
    bp_formula_t *file = r->file;
    formula_component_t *c = formula_take(file, sizeof *c);
    formula_component_t **components =
        formula_grow(file, file->components, file->component_count, sizeof(formula_component_t *));
    if (c == NULL || components == NULL) {
        lack_memory(r);
        return;
    }
    c->name = need_name(r, "the component's name");
    c->doc = take_doc(r);
    file->components = components;
    file->components[file->component_count++] = c;
    r->component = c;
}

/* What may stand behind a field's default. */
static void read_remarks(reading_t *r, bp_field_t *field)
{
    char word[WORD];
    while (r->result == BP_OK && !at_end(r)) {
        if (*r->at == '"') {
            field->doc = take_doc(r);
            return;
        }
        take_word(r, word);
        if (strcmp(word, "min") == 0)
            field->min = need_number(r);
        else if (strcmp(word, "max") == 0)
            field->max = need_number(r);
        else if (strcmp(word, "unit") == 0)
            field->unit = need_piece(r, "the unit");
        else if (strcmp(word, "was") == 0)
            field->former_name = need_name(r, "what the field was called");
        else
            refuse(r, "behind a field's default there may be min, max, unit, was, and \"a text\", not '%.*s'",
                   word[0] == '\0' ? rest(r) : WORD, word[0] == '\0' ? r->at : word);
    }
}

static void read_field(reading_t *r)
{
    formula_component_t *c = r->component;
    bp_field_t field = {.type = BP_F64, .access = BP_READ, .initial = "0"};
    field.name = need_name(r, "the field's name");
    if (r->result != BP_OK)
        return;
    if (find_field(c, field.name) < c->field_count || strcmp(field.name, "dt") == 0 || strcmp(field.name, "time") == 0)
        refuse(r, "'%s' is there already", field.name);
    if (c->field_count == MOST_FIELDS)
        refuse(r, "a component has at most %d fields", MOST_FIELDS);
    if (take(r, ':')) {
        char type[WORD];
        take_word(r, type);
        field.type = strcmp(type, "f32") == 0 ? BP_F32 : BP_F64;
        if (field.type == BP_F64 && strcmp(type, "f64") != 0)
            refuse(r, "a field is f32 or f64, not '%s'", type);
    }
    if (take(r, '='))
        field.initial = need_number(r);
    read_remarks(r, &field);
    bp_field_t *fields = formula_grow(r->file, c->fields, c->field_count, sizeof *fields);
    if (fields == NULL) {
        lack_memory(r);
        return;
    }
    c->fields = fields;
    c->fields[c->field_count++] = field;
}

static void read_do(reading_t *r)
{
    char name[WORD];
    take_word(r, name);
    uint32_t field = find_field(r->component, name);
    if (field == r->component->field_count)
        refuse(r, "component '%s' has no field '%s' above this line", r->component->name, name);
    else if (!take(r, '='))
        refuse(r, "'=' must follow");
    read_sum(r);
    put(r, (formula_step_t){.op = FORMULA_STORE, .index = field}, -1);
    if (r->result == BP_OK)
        r->component->fields[field].access = BP_READ | BP_WRITE;
}

static void read_line(reading_t *r)
{
    char word[WORD];
    if (at_end(r))
        return;
    take_word(r, word);
    bool inside = strcmp(word, "field") == 0 || strcmp(word, "do") == 0;
    if (inside && r->component == NULL)
        refuse(r, "'%s' belongs to a component; begin with component NAME", word);
    else if (strcmp(word, "component") == 0)
        read_component(r);
    else if (strcmp(word, "field") == 0)
        read_field(r);
    else if (strcmp(word, "do") == 0)
        read_do(r);
    else if (strcmp(word, "version") == 0)
        r->file->version = need_piece(r, "the version");
    else if (strcmp(word, "about") == 0)
        r->file->doc = take_doc(r);
    else
        refuse(r, "a line begins with version, about, component, field or do, not '%.*s'",
               word[0] == '\0' ? rest(r) : WORD, word[0] == '\0' ? r->at : word);
    if (r->result == BP_OK && !at_end(r))
        refuse(r, "nothing may follow here, but '%.*s' does", rest(r), r->at);
}

/* The file's name without folders and ending. */
static void read_file_name(reading_t *r)
{
    const char *name = r->path;
    for (const char *at = r->path; *at != '\0'; at++)
        name = *at == '/' || *at == '\\' ? at + 1 : name;
    const char *dot = strrchr(name, '.');
    r->file->name = keep(r, name, dot == NULL ? strlen(name) : (size_t)(dot - name));
}

bp_result_t formula_read(bp_formula_t *file, const char *path, const char *text)
{
    reading_t r = {.file = file, .path = path, .at = text, .line = 1, .result = BP_OK};
    read_file_name(&r);
    while (r.result == BP_OK) {
        read_line(&r);
        if (r.result != BP_OK || *r.at == '\0')
            break;
        r.at++;
        r.line++;
    }
    if (r.result == BP_OK && file->component_count == 0)
        refuse(&r, "the file has no component; write component NAME");
    return r.result;
}
