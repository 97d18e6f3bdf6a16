/* distance.c - by how much cells differ: part by part, and many cells of floats at once. */
#include "distance.h"

#include <math.h>
#include <string.h>

/* --- one cell ----------------------------------------------------------------------------------------------------- */

/* One part of a value as a number; false where the part is no number. */
static bool part_of(uint32_t type, const char *cell, size_t size, uint32_t part, double *number)
{
    union { float f; double d; int32_t i32; uint32_t u32; int16_t i16; uint16_t u16; int8_t
        i8; uint8_t u8; } v;
    size_t width;
    switch (type) {
    case BP_F32: case BP_VEC2: case BP_VEC3: case BP_VEC4: case BP_QUAT: case BP_MAT4: case BP_COLOUR: case BP_I32:
    case BP_U32: width = 4; break;
    case BP_F64: case BP_DVEC2: case BP_DVEC3: case BP_DVEC4: width = 8; break;
    case BP_I16: case BP_U16: width = 2; break;
    case BP_I8: case BP_U8: case BP_BOOL: width = 1; break;
    default: return false;
    }
    if ((part + 1) * width > size)
        return false;
    memcpy(&v, cell + part * width, width);
    switch (type) {
    case BP_I32: *number = v.i32; break;
    case BP_U32: *number = v.u32; break;
    case BP_I16: *number = v.i16; break;
    case BP_U16: *number = v.u16; break;
    case BP_I8: *number = v.i8; break;
    case BP_U8: case BP_BOOL: *number = v.u8; break;
    default: *number = width == 4 ? (double)v.f : v.d; break;
    }
    return true;
}

/* Of whole numbers of 64 bits, of which a double does not hold each. */
static double distance_of_long(uint32_t type, const char *a, const char *b, size_t size)
{
    uint64_t largest = 0;
    for (size_t i = 0; i + sizeof largest <= size; i += sizeof largest) {
        uint64_t x, y;
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        if (type == BP_I64) { /* in the order of numbers without a sign */
            x ^= UINT64_C(1) << 63;
            y ^= UINT64_C(1) << 63;
        }
        uint64_t between = x > y ? x - y : y - x;
        largest = between > largest ? between : largest;
    }
    return (double)largest;
}

static double distance_of_parts(uint32_t type, const char *a, const char *b, size_t size)
{
    double largest = 0, x, y;
    for (uint32_t part = 0; part_of(type, a, size, part, &x) && part_of(type, b, size, part, &y); part++) {
        double between = fabs(x - y);
        if (memcmp(&x, &y, sizeof x) != 0 && !(between <= 1.7976931348623157e308))
            return INFINITY;
        largest = between > largest ? between : largest;
    }
    return largest;
}

bool distance_is_of_floats(uint32_t type)
{
    switch (type) {
    case BP_F32: case BP_VEC2: case BP_VEC3: case BP_VEC4: case BP_QUAT: case BP_MAT4: case BP_COLOUR: return true;
    default: return false;
    }
}

/* As distance_of_parts, of cells of floats: the difference of most fields, which a switch for each part would take long
 * for. NAN: there is none, or it is infinite. */
static double distance_of_floats(const char *a, const char *b, size_t size)
{
    double largest = 0;
    bool finite = true;
    for (size_t i = 0; i < size; i += sizeof(float)) {
        float x, y;
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        double between = fabs((double)x - (double)y);
        largest = between > largest ? between : largest;
        finite = finite && between <= 1.7976931348623157e308;
    }
    return finite ? largest : NAN;
}

double distance_of_cells(uint32_t type, const char *a, const char *b, size_t size)
{
    if (type == BP_I64 || type == BP_U64)
        return distance_of_long(type, a, b, size);
    double between = distance_is_of_floats(type) ? distance_of_floats(a, b, size) : -1;
    return between >= 0 ? between : distance_of_parts(type, a, b, size); /* no floats, or some that are not finite */
}

/* --- many cells of floats ----------------------------------------------------------------------------------------- */

/* Loops without a way out, which compilers make vectors of, tell whether there is a larger difference at all: first of
 * differences that are rounded to floats, since rounding keeps the order, then of exact ones. A NaN compares as not
 * below anything, and so counts as larger. */

static bool may_be_larger(const char *a, const char *b, size_t parts, float than)
{
    uint32_t larger = 0;
    for (size_t i = 0; i < parts; i++) {
        float x, y;
        memcpy(&x, a + i * sizeof x, sizeof x);
        memcpy(&y, b + i * sizeof y, sizeof y);
        larger |= !(fabsf(x - y) < than);
    }
    return larger != 0;
}

static bool is_larger(const char *a, const char *b, size_t parts, double than)
{
    uint64_t larger = 0;
    for (size_t i = 0; i < parts; i++) {
        float x, y;
        memcpy(&x, a + i * sizeof x, sizeof x);
        memcpy(&y, b + i * sizeof y, sizeof y);
        larger |= !(fabs((double)x - (double)y) <= than);
    }
    return larger != 0;
}

bool distance_of_many_floats(const char *a, const char *b, uint32_t rows, size_t width, double *largest)
{
    size_t size = rows * width, parts = size / sizeof(float);
    if (!may_be_larger(a, b, parts, (float)*largest) || !is_larger(a, b, parts, *largest))
        return true;
    double between = distance_of_floats(a, b, size);
    if (!(between >= 0))
        return false;
    *largest = between > *largest ? between : *largest;
    return true;
}

/* How many cells differ in any bit. */
static inline uint32_t count_different(const char *a, const char *b, uint32_t rows, size_t width)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < rows; row++, a += width, b += width) {
        uint32_t bits = 0;
        for (size_t i = 0; i < width; i += sizeof bits) {
            uint32_t x, y;
            memcpy(&x, a + i, sizeof x);
            memcpy(&y, b + i, sizeof y);
            bits |= x ^ y;
        }
        count += bits != 0;
    }
    return count;
}

uint32_t distance_count(const char *a, const char *b, uint32_t rows, size_t width)
{
    switch (width / sizeof(float)) { /* widths that are known while this is compiled */
    case 1: return count_different(a, b, rows, sizeof(float));
    case 2: return count_different(a, b, rows, 2 * sizeof(float));
    case 3: return count_different(a, b, rows, 3 * sizeof(float));
    case 4: return count_different(a, b, rows, 4 * sizeof(float));
    default: return count_different(a, b, rows, width);
    }
}
