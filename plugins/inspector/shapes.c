/* shapes.c - a table of the contract's types (shapes.h). */
#include "shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const shape_t shapes[BP_TYPE_COUNT] = {
    [BP_TYPE_NONE] = {"none", "", SHAPE_NONE, 0, 0},
    [BP_BOOL] = {"bool", "", SHAPE_BOOL, 1, 1},
    [BP_I8] = {"i8", "", SHAPE_SIGNED, 1, 1},
    [BP_I16] = {"i16", "", SHAPE_SIGNED, 1, 2},
    [BP_I32] = {"i32", "", SHAPE_SIGNED, 1, 4},
    [BP_I64] = {"i64", "", SHAPE_SIGNED, 1, 8},
    [BP_U8] = {"u8", "", SHAPE_UNSIGNED, 1, 1},
    [BP_U16] = {"u16", "", SHAPE_UNSIGNED, 1, 2},
    [BP_U32] = {"u32", "", SHAPE_UNSIGNED, 1, 4},
    [BP_U64] = {"u64", "", SHAPE_UNSIGNED, 1, 8},
    [BP_F32] = {"f32", "", SHAPE_REAL, 1, 4},
    [BP_F64] = {"f64", "", SHAPE_REAL, 1, 8},
    [BP_VEC2] = {"vec2", "xy", SHAPE_REAL, 2, 4},
    [BP_VEC3] = {"vec3", "xyz", SHAPE_REAL, 3, 4},
    [BP_VEC4] = {"vec4", "xyzw", SHAPE_REAL, 4, 4},
    [BP_QUAT] = {"quat", "xyzw", SHAPE_REAL, 4, 4},
    [BP_MAT4] = {"mat4", "", SHAPE_REAL, 16, 4},
    [BP_COLOUR] = {"colour", "rgba", SHAPE_REAL, 4, 4},
    [BP_DVEC2] = {"dvec2", "xy", SHAPE_REAL, 2, 8},
    [BP_DVEC3] = {"dvec3", "xyz", SHAPE_REAL, 3, 8},
    [BP_DVEC4] = {"dvec4", "xyzw", SHAPE_REAL, 4, 8},
    [BP_STRING] = {"string", "", SHAPE_TEXT, 1, sizeof(const char *)},
    [BP_ENTITY] = {"entity", "", SHAPE_ENTITY, 1, 8},
    [BP_NAME] = {"name", "", SHAPE_NAME, 1, 8},
};

const shape_t *shape_of(uint32_t type)
{
    return &shapes[type < BP_TYPE_COUNT ? type : BP_TYPE_NONE];
}

uint32_t shape_part(uint32_t type, const char *name)
{
    const shape_t *shape = shape_of(type);
    const char *letter = name[0] != '\0' && name[1] == '\0' ? strchr(shape->part_names, name[0]) : NULL;
    if (letter != NULL && shape->parts > 1)
        return (uint32_t)(letter - shape->part_names);
    size_t digits = strspn(name, "0123456789");
    if (shape->parts < 2 || digits == 0 || digits > 2 || name[digits] != '\0')
        return BP_NONE;
    uint32_t number = (uint32_t)strtoul(name, NULL, 10);
    return number < shape->parts ? number : BP_NONE;
}

static double whole(const shape_t *shape, const void *cell)
{
    bp_value_t value;
    memcpy(&value, cell, shape->part_size);
    switch (shape->part_size) {
    case 1: return shape->kind == SHAPE_SIGNED ? value.i8 : (double)value.u8;
    case 2: return shape->kind == SHAPE_SIGNED ? value.i16 : (double)value.u16;
    case 4: return shape->kind == SHAPE_SIGNED ? value.i32 : (double)value.u32;
    default: return shape->kind == SHAPE_SIGNED ? (double)value.i64 : (double)value.u64;
    }
}

double shape_number(uint32_t type, uint32_t part, const void *cell)
{
    const shape_t *shape = shape_of(type);
    bp_value_t value;
    if (shape->kind == SHAPE_REAL) {
        memcpy(&value, (const char *)cell + (size_t)(part < shape->parts ? part : 0) * shape->part_size,
               shape->part_size);
        return shape->part_size == 4 ? (double)value.f32 : value.f64;
    }
    if (shape->kind == SHAPE_BOOL)
        return *(const unsigned char *)cell != 0;
    return shape->kind == SHAPE_SIGNED || shape->kind == SHAPE_UNSIGNED ? whole(shape, cell) : (double)NAN;
}

double shape_length(uint32_t type, const void *cell)
{
    double sum = 0;
    for (uint32_t i = 0; i < shape_of(type)->parts; i++) {
        double part = shape_number(type, i, cell);
        sum += part * part;
    }
    return sqrt(sum);
}
