/* describe.c - declarations read at their own size, and the words for them.
 *
 * Each list carries the size that an item had when its plugin was built. Copying min(size, known) into a
 * cleared item gives one form for all, as bp_field.h asks of its readers.
 */
#include "describe.h"

#include <stdio.h>
#include <string.h>

static void copy_item(void *item, size_t known, const void *items, uint32_t item_size, uint32_t index)
{
    const char *source = (const char *)items + (size_t)item_size * index;
    memset(item, 0, known);
    memcpy(item, source, item_size < known ? item_size : known);
}

bp_component_i describe_component(const bp_component_list_t *list, uint32_t index)
{
    bp_component_i component;
    copy_item(&component, sizeof component, list->items, list->item_size, index);
    return component;
}

bp_system_i describe_system(const bp_system_list_t *list, uint32_t index)
{
    bp_system_i system;
    copy_item(&system, sizeof system, list->items, list->item_size, index);
    return system;
}

bp_term_t describe_term(const bp_term_list_t *list, uint32_t index)
{
    bp_term_t term;
    copy_item(&term, sizeof term, list->items, list->item_size, index);
    return term;
}

bp_field_t describe_field(const bp_field_list_t *list, uint32_t index)
{
    bp_field_t field;
    copy_item(&field, sizeof field, list->items, list->item_size, index);
    return field;
}

const char *describe_type(uint32_t type)
{
    static const char *const names[BP_TYPE_COUNT] = {
        [BP_TYPE_NONE] = "?", [BP_BOOL] = "bool",     [BP_I32] = "i32",       [BP_U32] = "u32",
        [BP_I64] = "i64",     [BP_F32] = "f32",       [BP_F64] = "f64",       [BP_VEC2] = "vec2",
        [BP_VEC3] = "vec3",   [BP_VEC4] = "vec4",     [BP_QUAT] = "quat",     [BP_MAT4] = "mat4",
        [BP_COLOUR] = "colour", [BP_STRING] = "string", [BP_ENTITY] = "entity", [BP_NAME] = "name",
    };
    return type < BP_TYPE_COUNT ? names[type] : "?";
}

const char *describe_initial(const bp_field_t *field)
{
    if (field->initial != NULL)
        return field->initial;
    switch (field->type) {
    case BP_BOOL: return "false";
    case BP_VEC2: return "0 0";
    case BP_VEC3: return "0 0 0";
    case BP_VEC4: case BP_COLOUR: return "0 0 0 0";
    case BP_QUAT: return "0 0 0 1";
    case BP_MAT4: return "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1";
    case BP_STRING: case BP_ENTITY: case BP_NAME: return "";
    default: return "0";
    }
}

const char *describe_range(const bp_field_t *field, char *text, size_t size)
{
    text[0] = '\0';
    if (field->min != NULL && field->max != NULL)
        snprintf(text, size, "%s to %s", field->min, field->max);
    else if (field->min != NULL)
        snprintf(text, size, "at least %s", field->min);
    else if (field->max != NULL)
        snprintf(text, size, "at most %s", field->max);
    return text;
}
