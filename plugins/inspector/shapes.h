/* shapes.h - the types of the contract as data: name, size, parts, and any part as a number.
 *
 * Not here: JSON (values.h).
 */
#ifndef INSPECTOR_SHAPES_H
#define INSPECTOR_SHAPES_H

#include <bp_types.h>

enum { SHAPE_PARTS_MAX = 16 };

/* The kinds of the parts of a type. */
enum { SHAPE_NONE, SHAPE_BOOL, SHAPE_SIGNED, SHAPE_UNSIGNED, SHAPE_REAL, SHAPE_TEXT, SHAPE_NAME, SHAPE_ENTITY };

typedef struct shape_t {
    const char *name;       /* "vec3" */
    const char *part_names; /* "xyz", a letter each; "" where parts have none */
    uint8_t kind;           /* SHAPE_... of each part */
    uint8_t parts;          /* 1 for a type that is no vector */
    uint8_t part_size;      /* bytes */
} shape_t;

/* The shape of a type; a shape of kind SHAPE_NONE for a number that is no type. */
const shape_t *shape_of(uint32_t type);

static inline uint32_t shape_size(uint32_t type)
{
    return (uint32_t)shape_of(type)->parts * shape_of(type)->part_size;
}

/* The number of the part of that name ("x", "g", "7"), BP_NONE where there is none. */
uint32_t shape_part(uint32_t type, const char *name);

/* A part of the value at `cell` as a number; NaN where the part is no number. */
double shape_number(uint32_t type, uint32_t part, const void *cell);

/* The root of the sum of the squares of all parts. */
double shape_length(uint32_t type, const void *cell);

#endif
