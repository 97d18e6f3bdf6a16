/* bp_types.h - the plain data that crosses the boundary between host and plugins.
 *
 * Everything here is frozen: these types are passed by value, so neither their size nor the meaning of a
 * member ever changes within ABI major version 2. Numbers are little-endian, addresses have 64 bits: compiled scenes,
 * saves and recordings hold columns as they lie in memory, and are exchanged between machines.
 *
 * Suffixes, here and in all headers beside this one:
 *   _t    plain data                          bp_entity_t, bp_field_t
 *   _o    opaque, owned by the host           bp_world_o
 *   _api  a table of functions, offered       bp_entity_api
 *   _i    a table of functions, implemented   bp_component_i
 *
 * Thread tags stand at the end of a function's comment:
 *   [main]  only from the thread that steps the host, or from a verb that the host calls on that thread
 *   [job]   also from a verb that the host runs on one of its worker threads
 *   [any]   from any thread, at any time between the host's creation and its end
 *
 * What this header does not do: it declares no function that needs linking. A plugin links against nothing.
 */
#ifndef BP_TYPES_H
#define BP_TYPES_H

#include <stddef.h>
#include <stdint.h>

#if defined __BYTE_ORDER__ && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Backplane runs on little-endian processors only: scenes, saves and recordings hold columns as memory does"
#endif
#if UINTPTR_MAX != UINT64_MAX
#error "Backplane runs on 64-bit systems only: the structs of plugin_api have the sizes that 64-bit addresses give them"
#endif

#ifdef __cplusplus
extern "C" {
#define BP_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define BP_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/* Stands behind a member of a struct that plugins write as a constant, and that may be left out of it: C wants nothing
 * there, C++ to be told that the member is then zero. */
#ifdef __cplusplus
#define BP_OR_ZERO {}
#else
#define BP_OR_ZERO
#endif

/* How functions are called across the boundary: part of the type of every function pointer in these headers. BP_CALL
 * names the default, because a compiler may have been told another one. */
#if defined(_WIN32)
#define BP_CALL __cdecl
#else
#define BP_CALL
#endif

/* An entity: a weak reference, never a pointer. The low 32 bits are an index, the high 32 bits a generation
 * that differs for every entity that ever used that index. {0} is "no entity" and is never alive. */
typedef struct bp_entity_t { uint64_t id; } bp_entity_t;

static inline uint32_t bp_entity_index(bp_entity_t e) { return (uint32_t)e.id; }
static inline uint32_t bp_entity_generation(bp_entity_t e) { return (uint32_t)(e.id >> 32); }

/* A name: the 64-bit hash of a text that the host has interned (bp_name_api). 0 is the empty name. Two names
 * are equal when their hashes are: the host refuses to intern a text that has the same hash as another text. */
typedef uint64_t bp_name_t;

typedef struct bp_vec2_t { float x, y; } bp_vec2_t;
typedef struct bp_vec3_t { float x, y, z; } bp_vec3_t;
typedef struct bp_vec4_t { float x, y, z, w; } bp_vec4_t;
typedef struct bp_quat_t { float x, y, z, w; } bp_quat_t;       /* w is the real part */
typedef struct bp_dvec2_t { double x, y; } bp_dvec2_t;
typedef struct bp_dvec3_t { double x, y, z; } bp_dvec3_t;
typedef struct bp_dvec4_t { double x, y, z, w; } bp_dvec4_t;
typedef struct bp_mat4_t { float m[16]; } bp_mat4_t;            /* column-major: m[12..14] is the translation */
typedef struct bp_colour_t { float r, g, b, a; } bp_colour_t;   /* linear, not premultiplied */

/* A list: any number of values of one type, packed, in memory of the host. {NULL, 0, 0} is empty. */
typedef struct bp_list_t {
    void *items;
    uint32_t count;
    uint32_t capacity; /* items for which there is room; the host's */
} bp_list_t;

/* The types of fields, properties and options. Stored in a uint32_t. Each comment names the C type of one element of
 * such a column. */
enum {
    BP_TYPE_NONE = 0,
    BP_BOOL = 1,    /* uint8_t, 0 or 1 */
    BP_I32 = 2,     /* int32_t */
    BP_U32 = 3,     /* uint32_t */
    BP_I64 = 4,     /* int64_t */
    BP_F32 = 5,     /* float */
    BP_F64 = 6,     /* double */
    BP_VEC2 = 7,    /* bp_vec2_t */
    BP_VEC3 = 8,    /* bp_vec3_t */
    BP_VEC4 = 9,    /* bp_vec4_t */
    BP_QUAT = 10,   /* bp_quat_t */
    BP_MAT4 = 11,   /* bp_mat4_t */
    BP_COLOUR = 12, /* bp_colour_t */
    BP_STRING = 13, /* const char *, UTF-8, never NULL; the host owns the characters */
    BP_ENTITY = 14, /* bp_entity_t */
    BP_NAME = 15,   /* bp_name_t */
    BP_I8 = 16,     /* int8_t */
    BP_U8 = 17,     /* uint8_t */
    BP_I16 = 18,    /* int16_t */
    BP_U16 = 19,    /* uint16_t */
    BP_U64 = 20,    /* uint64_t */
    BP_DVEC2 = 21,  /* bp_dvec2_t */
    BP_DVEC3 = 22,  /* bp_dvec3_t */
    BP_DVEC4 = 23,  /* bp_dvec4_t */
    BP_TYPE_COUNT = 24
};

/* Room for one value of any type. */
typedef union bp_value_t {
    uint8_t boolean;
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
    bp_vec2_t vec2;
    bp_vec3_t vec3;
    bp_vec4_t vec4;
    bp_dvec2_t dvec2;
    bp_dvec3_t dvec3;
    bp_dvec4_t dvec4;
    bp_quat_t quat;
    bp_mat4_t mat4;
    bp_colour_t colour;
    const char *string;
    bp_entity_t entity;
    bp_name_t name;
    bp_list_t list;
} bp_value_t;

/* The result of a call. Zero is success; every other value means that nothing was changed, and that the host holds a
 * sentence about it (bp_error_api.last). */
typedef int32_t bp_result_t;
enum {
    BP_OK = 0,
    BP_ERROR_MEMORY = 1,    /* an allocation failed */
    BP_ERROR_ARGUMENT = 2,  /* an argument that no call of this kind can take */
    BP_ERROR_NOT_FOUND = 3, /* no such world, component, property, file ... */
    BP_ERROR_DEAD = 4,      /* the entity is dead, or is another host's */
    BP_ERROR_EXISTS = 5,    /* the name is taken */
    BP_ERROR_TYPE = 6,      /* the value is of another type */
    BP_ERROR_RANGE = 7,     /* the value lies outside the declared range */
    BP_ERROR_LIMIT = 8,     /* a named limit is reached */
    BP_ERROR_ABI = 9,       /* a plugin built for another contract, or no plugin at all */
    BP_ERROR_IO = 10,       /* a file cannot be read or written */
    BP_ERROR_SYNTAX = 11,   /* a text does not follow its grammar */
    BP_ERROR_STATE = 12,    /* not now: for instance from inside a callback that forbids it */
    BP_ERROR_FAILED = 13    /* a verb of a plugin refused */
};

/* "No such index", wherever an index is a uint32_t. */
#define BP_NONE UINT32_MAX

/* Rows, and slots of storage of a component's own, that share the stamp of their last change (bp_changes.h). */
#define BP_STAMP_ROWS 128

/* Opaque: the host's own objects. */
typedef struct bp_host_o bp_host_o;
typedef struct bp_world_o bp_world_o;

/* A number from the sequence of `state` (splitmix64, after Steele, Lea and Flood, "Fast splittable
 * pseudorandom number generators", 2014): small, seedable, and the same on every machine. [any] */
static inline uint64_t bp_random_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* A number from 0 to bound - 1; bound is at least 1. [any] */
static inline uint32_t bp_random_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(((bp_random_next(state) >> 32) * bound) >> 32);
}

BP_STATIC_ASSERT(sizeof(bp_entity_t) == 8, "an entity is 64 bits");
BP_STATIC_ASSERT(sizeof(bp_vec3_t) == 12, "vectors are packed floats");
BP_STATIC_ASSERT(sizeof(bp_dvec3_t) == 24, "vectors are packed doubles");
BP_STATIC_ASSERT(sizeof(bp_mat4_t) == 64, "a matrix is sixteen floats");
BP_STATIC_ASSERT(sizeof(bp_value_t) == 64, "the largest value is a matrix");
BP_STATIC_ASSERT(sizeof(bp_list_t) == 16, "a list takes 16 bytes of a row");
BP_STATIC_ASSERT(sizeof(void *) == 8, "64-bit platforms only");

#ifdef __cplusplus
}
#endif
#endif
