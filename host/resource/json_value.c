/* json_value.c - JSON to typed values, and what to say where they do not fit.
 *
 * JSON knows one kind of number; the tree tells those with a dot or an exponent apart, which no user means. So 3.0 is a whole
 * number as good as 3 (as JSON Schema has it too), as long as nothing is lost: beyond 2^53 a double no longer holds every
 * whole number, and only digits alone do.
 */
#include "json_value.h"

#include "../base/text.h"

#include <math.h>

static const double most_exact = 9007199254740992.0; /* 2^53 */
static const double first_too_large = 3.4028235677973366e38; /* rounds to no float any more */

const char *json_value_kind(const tree_item_t *json)
{
    switch (tree_kind(json)) {
    case TREE_OBJECT: return "an object";
    case TREE_LIST: return "a list";
    case TREE_STRING: return "a string";
    case TREE_INTEGER: return "a whole number";
    case TREE_REAL: return "a number";
    case TREE_TRUE: case TREE_FALSE: return "true or false";
    default: return "null";
    }
}

bool json_value_is_list(uint32_t type, const tree_item_t *json)
{
    if (!tree_is(json, TREE_LIST))
        return false;
    bool of_numbers = value_parts(type) > 1 && tree_count(json) > 0 && tree_is_number(json + 1);
    return !of_numbers;
}

/* What is right, in JSON's own words. */
static const char *form_of(uint32_t type)
{
    switch (type) {
    case BP_BOOL: return "true or false";
    case BP_I32: return "a whole number from -2147483648 to 2147483647";
    case BP_U32: return "a whole number from 0 to 4294967295";
    case BP_I64: return "a whole number of 64 bits";
    case BP_F32: case BP_F64: return "a number";
    case BP_VEC2: return "a list of 2 numbers, like [0, 1]";
    case BP_VEC3: return "a list of 3 numbers, like [0, 0, 1]";
    case BP_VEC4: return "a list of 4 numbers, like [0, 0, 0, 1]";
    case BP_QUAT: return "a list of 4 numbers x y z w, like [0, 0, 0, 1]";
    case BP_MAT4: return "a list of 16 numbers, column by column";
    case BP_COLOUR: return "a string like \"#ff8000\" or a list of 3 or 4 numbers";
    case BP_STRING: return "a string";
    case BP_ENTITY: return "the name of an entity in a string, or null";
    default: return "a name in a string";
    }
}

static bp_result_t wrong_type(const field_t *field, const tree_item_t *json, error_text_t *error)
{
    return error_set(error, BP_ERROR_TYPE, "%s takes %s (type %s), not %s", field->name, form_of(field->type),
                     value_type_name(field->type), json_value_kind(json));
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static bool whole_number(const tree_item_t *json, int64_t *out)
{
    if (tree_is(json, TREE_INTEGER)) {
        *out = json->integer;
        return true;
    }
    double real = tree_number(json);
    if (!(fabs(real) <= most_exact) || floor(real) < real)
        return false;
    *out = (int64_t)real;
    return true;
}

static bp_result_t wrong_part(const field_t *field, uint32_t part, const tree_item_t *json, error_text_t *error)
{
    return error_set(error, BP_ERROR_TYPE, "%s takes %s (type %s), and item %u of this list is %s", field->name, form_of(field->type),
                     value_type_name(field->type), part, json_value_kind(json));
}

/* One number as a part of a value of `field`, of the scalar type `type`. */
static bp_result_t read_number(const field_t *field, uint32_t type, const tree_item_t *json, void *out, error_text_t *error)
{
    int64_t whole = 0;
    double real = tree_number(json);
    if (!tree_is_number(json))
        return wrong_type(field, json, error);
    if (type == BP_F64) {
        memcpy(out, &real, sizeof real);
        return BP_OK;
    }
    if (type == BP_F32 && !(fabs(real) < first_too_large))
        return error_set(error, BP_ERROR_RANGE, "%s = %g does not fit into a number of type f32, at most 3.4028235e38", field->name, real);
    if (type == BP_F32) {
        memcpy(out, &(float){(float)real}, sizeof(float));
        return BP_OK;
    }
    bool fits = whole_number(json, &whole);
    fits = fits && (type != BP_I32 || (whole >= INT32_MIN && whole <= INT32_MAX));
    fits = fits && (type != BP_U32 || (whole >= 0 && whole <= UINT32_MAX));
    if (!fits)
        return error_set(error, BP_ERROR_RANGE, "%s = %.17g is not %s (type %s)", field->name, real, form_of(field->type),
                         value_type_name(field->type));
    memcpy(out, &whole, type == BP_I64 ? sizeof whole : sizeof(int32_t)); /* the low half comes first, see below */
    return BP_OK;
}

static uint32_t part_of(uint32_t type)
{
    return type == BP_I32 || type == BP_U32 || type == BP_I64 || type == BP_F64 ? type : BP_F32;
}

static bp_result_t read_parts(const field_t *field, const tree_item_t *json, bp_value_t *value, error_text_t *error)
{
    uint32_t parts = value_parts(field->type);
    uint32_t given = tree_count(json), part = 0;
    if (!tree_is(json, TREE_LIST))
        return wrong_type(field, json, error);
    bool colour = field->type == BP_COLOUR;
    if (given != parts && !(colour && given == 3))
        return error_set(error, BP_ERROR_TYPE, "%s takes %s (type %s), not a list of %u", field->name, form_of(field->type),
                         value_type_name(field->type), given);
    float numbers[16] = {0, 0, 0, colour ? 1.0f : 0.0f};
    for (tree_walk_t walk = tree_walk(json); tree_next(&walk); part++) {
        bp_result_t result = tree_is_number(walk.value) ? read_number(field, BP_F32, walk.value, &numbers[part], error)
                                                        : wrong_part(field, part, walk.value, error);
        if (result != BP_OK)
            return result;
    }
    memcpy(value, numbers, parts * sizeof(float));
    return BP_OK;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static bool is_text(uint32_t type)
{
    return type == BP_STRING || type == BP_NAME || type == BP_ENTITY;
}

static bp_result_t read_text(const field_t *field, const tree_item_t *json, bp_value_t *value, error_text_t *error)
{
    if (!tree_is(json, TREE_STRING))
        return wrong_type(field, json, error);
    if (field->type == BP_NAME && json->extent > NAMES_MAX_LENGTH)
        return error_set(error, BP_ERROR_LIMIT, "%s: a name has at most %d bytes", field->name, NAMES_MAX_LENGTH);
    value->string = json->string;
    return BP_OK;
}

static bp_result_t read_string_form(const value_context_t *context, const field_t *field, const tree_item_t *json, bp_value_t *value,
                                    error_text_t *error)
{
    bp_result_t result = value_parse(context, field->type, json->string, value, error);
    return result == BP_OK ? BP_OK : error_prefix(error, result, "%s: ", field->name);
}

bp_result_t json_value_read(const value_context_t *context, const field_t *field, const tree_item_t *json, bp_value_t *value,
                            error_text_t *error)
{
    bp_result_t result;
    memset(value, 0, sizeof *value);
    if (is_text(field->type))
        return read_text(field, json, value, error);
    if (tree_is(json, TREE_STRING))
        result = read_string_form(context, field, json, value, error);
    else if (field->type == BP_BOOL && !tree_is(json, TREE_TRUE) && !tree_is(json, TREE_FALSE))
        result = wrong_type(field, json, error);
    else if (field->type == BP_BOOL)
        result = (value->boolean = tree_is(json, TREE_TRUE), BP_OK);
    else if (value_parts(field->type) == 1)
        result = read_number(field, part_of(field->type), json, value, error);
    else
        result = read_parts(field, json, value, error);
    return result == BP_OK ? field_check(field, value, error) : result;
}
