/* schema_values.c - the schema of one property: all that may be written for it.
 *
 * Keywords of JSON Schema apply to values of their own kind alone: `minimum` to numbers, `pattern` to strings, `items` to
 * lists. So one flat schema with a list of types says "a number in this range, or a text that looks like one, or null", and
 * editors complete and explain it better than a choice between schemas.
 */
#include "schema.h"

#include "describe.h"
#include "json_output.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER "[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?"
#define WHOLE "[-+]?(0[xX][0-9a-fA-F]+|[0-9]+)"
#define BLANK "[ \\t]*"

static uint32_t parts_of(uint32_t type)
{
    switch (type) {
    case BP_VEC2: return 2;
    case BP_VEC3: return 3;
    case BP_VEC4: case BP_QUAT: case BP_COLOUR: return 4;
    case BP_MAT4: return 16;
    default: return 1;
    }
}

static bool is_whole(uint32_t type)
{
    return type == BP_I32 || type == BP_U32 || type == BP_I64;
}

static bool is_text(uint32_t type)
{
    return type == BP_STRING || type == BP_NAME || type == BP_ENTITY;
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static json_t *limit(const char *text, double otherwise)
{
    return text != NULL ? json_output_cell(text) : otherwise - otherwise == 0.0 ? json_real(otherwise) : json_null();
}

/* `minimum` and `maximum`: the declared ones, else what the type holds. */
static int set_limits(json_t *schema, const bp_field_t *field)
{
    const char *min = field->min, *max = field->max;
    int bad = 0;
    if (field->type == BP_I32) {
        min = min != NULL ? min : "-2147483648";
        max = max != NULL ? max : "2147483647";
    } else if (field->type == BP_U32) {
        min = min != NULL ? min : "0";
        max = max != NULL ? max : "4294967295";
    }
    bool single = field->type != BP_F64 && !is_whole(field->type);
    if (min != NULL || single)
        bad |= json_object_set_new(schema, "minimum", limit(min, -(double)FLT_MAX));
    if (max != NULL || single)
        bad |= json_object_set_new(schema, "maximum", limit(max, (double)FLT_MAX));
    return bad;
}

/* The text form of a vector: numbers separated by blanks or a comma. */
static json_t *vector_pattern(uint32_t type)
{
    char pattern[512];
    uint32_t parts = parts_of(type), least = type == BP_COLOUR ? 3 : parts;
    snprintf(pattern, sizeof pattern, "^%s%s%s((%s,%s|[ \\t]+)%s){%u,%u}%s,?%s$", BLANK, type == BP_COLOUR ? "(#([0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})|" : "",
             NUMBER, BLANK, BLANK, NUMBER, least - 1, parts - 1, type == BP_COLOUR ? ")" : "", BLANK);
    return json_string(pattern);
}

static json_t *number_schema(const bp_field_t *field)
{
    bool whole = is_whole(field->type);
    json_t *schema = json_pack("{s:[s,s,s], s:s}", "type", whole ? "integer" : "number", "string", "null", "pattern",
                               whole ? "^" BLANK WHOLE BLANK "$" : "^" BLANK NUMBER BLANK "$");
    return json_output_checked(schema, schema == NULL ? -1 : set_limits(schema, field));
}

static json_t *vector_schema(const bp_field_t *field)
{
    uint32_t parts = parts_of(field->type);
    json_t *number = json_pack("{s:s}", "type", "number");
    int bad = number == NULL ? -1 : set_limits(number, field);
    return json_pack("{s:[s,s,s], s:o, s:i, s:i, s:o}", "type", "array", "string", "null", "items", json_output_checked(number, bad), "minItems",
                     field->type == BP_COLOUR ? 3 : (int)parts, "maxItems", (int)parts, "pattern", vector_pattern(field->type));
}

/* --- one value ------------------------------------------------------------------------------------------------------ */

static json_t *value_schema(const bp_field_t *field)
{
    if (field->type == BP_BOOL)
        return json_pack("{s:[b,b,s,s,s,s,s,s,s,s,n]}", "enum", 1, 0, "true", "false", "on", "off", "yes", "no", "1", "0");
    if (field->type == BP_NAME)
        return json_pack("{s:[s,s], s:i}", "type", "string", "null", "maxLength", 255);
    if (is_text(field->type))
        return json_pack("{s:[s,s]}", "type", "string", "null");
    return parts_of(field->type) == 1 ? number_schema(field) : vector_schema(field);
}

/* A value, or a list of one for each instance. Lists that begin with a number are a single vector. */
static json_t *value_or_list(const bp_field_t *field)
{
    json_t *list = json_pack("{s:s, s:o}", "type", "array", "items", value_schema(field));
    if (parts_of(field->type) == 1)
        return json_pack("{s:{s:s}, s:o, s:o}", "if", "type", "array", "then", list, "else", value_schema(field));
    return json_pack("{s:{s:s, s:i, s:[{s:s}]}, s:o, s:{s:{s:s}, s:o, s:o}}", "if", "type", "array", "minItems", 1, "items", "type", "number", "then",
                     value_schema(field), "else", "if", "type", "array", "then", list, "else", value_schema(field));
}

/* --- the property ------------------------------------------------------------------------------------------------------ */

static json_t *description(const bp_field_t *field)
{
    char text[512], range[128];
    const char *doc = field->doc != NULL ? field->doc : "", *unit = field->unit;
    describe_range(field, range, sizeof range);
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s", doc, doc[0] != '\0' ? "; " : "", describe_type(field->type), unit != NULL ? ", in " : "",
             unit != NULL ? unit : "", range[0] != '\0' ? ", " : "", range);
    return json_output_text(text);
}

json_t *schema_of_property(const bp_field_t *field, bool each)
{
    json_t *schema = each ? value_or_list(field) : value_schema(field);
    int bad = schema == NULL ? -1 : 0;
    if (bad == 0)
        bad |= json_object_set_new(schema, "description", description(field));
    if (bad == 0 && field->type != BP_ENTITY)
        bad |= json_object_set_new(schema, "default", json_output_value(field->type, describe_initial(field)));
    return json_output_checked(schema, bad);
}
