/* bp_field.h - how a plugin declares a field, a property or an option, and how it names one of another plugin's.
 *
 * One declaration serves all three: a stored field of a component is a column of the world's store and a
 * property; a property of a component with storage of its own is served by that component's get and set; an
 * option is a value that the ini gives to a plugin. From it come storage, look-up by name, defaults, range
 * checks, help texts, the console, recording, and migration when a reloaded plugin declares other fields.
 *
 * Code that loops over columns says what they are with a struct of pointers, a pointer for each column; the pointer
 * to const is a column that the loop only reads. BP_FIELD_OF takes name, type and access of a field from a member:
 *
 *     struct body { const float *mass; bp_vec3_t *position; };
 *     static const bp_field_t fields[] = {
 *         {BP_FIELD_OF(struct body, mass), .initial = "1", .min = "0", .unit = "kg", .doc = "inertial mass"},
 *         {BP_FIELD_OF(struct body, position), .unit = "m"},
 *     };
 *     ...
 *         BP_COLUMNS(struct body, c, run->columns);
 *         for (uint32_t i = 0; i < count; i++)
 *             c.position[i].x += ...
 *
 * Where no loop goes over the columns, a field is written out: {.name = "mass", .type = BP_F32, .initial = "1"}.
 *
 * Defaults and limits are text, in the syntax of the console and the ini: "1.5", "0 0 1", "true", "#ff8000",
 * "hello". Text is the same for every type, is checked when the plugin is loaded, and needs no room for
 * constants of every type in the contract.
 *
 * What this header does not do: nested structures are not field types.
 */
#ifndef BP_FIELD_H
#define BP_FIELD_H

#include "bp_types.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BP_FIELD_READ_ONLY = 1u << 0, /* `set` is refused from outside; the plugin itself writes the column */
    BP_FIELD_REQUIRED = 1u << 1,  /* of options: the ini must give it */
    BP_FIELD_PATH = 1u << 2,      /* of string options: the path of a file; one that is relative is made relative to
                                     the ini that gives it. Defaults are taken as they stand. */
    BP_FIELD_PARENT = 1u << 3,    /* of a BP_ENTITY field: the entity that this one is a child of. A scene's `children`
                                     set it, and trees are drawn from it. */
    BP_FIELD_LABEL = 1u << 4,     /* of a BP_STRING field: what people call the entity. Takes the name that a scene
                                     gives to the entity, where the scene does not set it. */
    BP_FIELD_LIST = 1u << 5,      /* each row has any number of values of `type`: its cell is a bp_list_t (bp_list.h),
                                     empty in a new instance. Declared components only */
    BP_FIELD_BITS = 1u << 6,      /* of a field with named values: each is a bit, and a value is any of them combined.
                                     Unsigned types. */
    BP_FIELD_DERIVED = 1u << 7,   /* of a read-only property of storage of its own: it follows from what else there is,
                                     so nothing is lost where a reload or a scene does not bring it back. Of a hidden
                                     field: `rows_added` makes it again (bp_rows_i) */
    BP_FIELD_HIDDEN = 1u << 8     /* of a declared component: a column that is the component's alone, for `simulate`
                                     and the verbs of bp_rows_i. A hidden field is no property, no other code can ask
                                     for it, and scenes leave it out; reloads, snapshots and the history keep it, as its
                                     default where it is also BP_FIELD_DERIVED. Hidden fields come last in their list */
};

/* Of every word of flags in a declaration: a host refuses what sets one of these bits that it does not know, and goes
 * on without one of the others that it does not know. */
#define BP_FLAGS_REQUIRED 0x0000ffffu

/* What code does with a column. */
enum {
    BP_READ = 1u << 0,
    BP_WRITE = 1u << 1 /* writes it, and may read it */
};

/* A field. Every member but name and type may be left out. Texts are copied by the host. What BP_FIELD_OF gives comes
 * first, so that C++ accepts designators after it. */
typedef struct bp_field_t {
    const char *name BP_OR_ZERO;        /* letters, digits, underscore; at most 63 bytes; unique in its list */
    uint32_t type BP_OR_ZERO;           /* BP_BOOL ... BP_DVEC4 */
    uint32_t access BP_OR_ZERO;         /* BP_READ or BP_WRITE: what the component's own `simulate` does with the
                                           column. Zero for all fields of a list: it writes all of them. */
    uint32_t column BP_OR_ZERO;         /* 1 + the place of its pointer in the struct of columns; 0: not said. A list in
                                           another order than the struct is refused. */
    uint32_t flags BP_OR_ZERO;          /* BP_FIELD_... */
    uint32_t count BP_OR_ZERO;          /* values in each cell, packed: a fixed array, at most 65,536; 0 and 1: a
                                           single one */
    uint32_t padding BP_OR_ZERO;
    const char *initial BP_OR_ZERO;     /* value of a new instance; NULL: zero, "", the identity of quat and mat4. Of an
                                           array one value for all its elements, or all of them: "[1, 2, 3]" */
    const char *min BP_OR_ZERO;         /* smallest value of a number, or of each part of a vector, in arrays and lists
                                           of each element; NULL: no limit */
    const char *max BP_OR_ZERO;         /* largest, likewise */
    const char *unit BP_OR_ZERO;        /* "kg", "m/s"; NULL: a bare number */
    const char *doc BP_OR_ZERO;         /* one line for people */
    const char *former_name BP_OR_ZERO; /* what it was called in an earlier version of the plugin; NULL: never
                                           renamed */
    const char *values BP_OR_ZERO;      /* names of an integer's values, and of no others: "idle walking" is 0 and 1,
                                           "idle=3 walking=9" says the numbers; with BP_FIELD_BITS these are those of
                                           bits, and "visible|solid" is 1 | 2. Text has the names. NULL: none */
    void *reserved[2] BP_OR_ZERO;       /* NULL */
} bp_field_t;

/* A list of fields. item_size is what sizeof(bp_field_t) was when the plugin was built: later headers append
 * members, and the host reads each item by the size that its author knew. */
typedef struct bp_field_list_t {
    const bp_field_t *items;
    uint32_t count;
    uint32_t item_size;
} bp_field_list_t;

/* A list from an array: .fields = BP_LIST(fields) */
#define BP_LIST(array) {(array), (uint32_t)(sizeof(array) / sizeof((array)[0])), (uint32_t)sizeof((array)[0])}

#ifdef __cplusplus
}
#endif

/* --- columns by name ---------------------------------------------------------------------------------------------- */

/* The first members of a bp_field_t or a bp_term_field_t, from member `member` of `columns`, a struct of pointers: its
 * name, its type by what the member points to, access by whether that is const, and the place of the member. A column
 * of strings is a `const char **`, one that is only read a `const char *const *`; one of booleans a `bool *`. Before
 * C++20, which brought designators, nothing can follow it within the braces. */
#define BP_FIELD_OF(columns, member) BP_FIELD_AS(columns, member, BP_TYPE_OF(columns, member))

/* The same where the type cannot be seen from the pointer: bp_name_t is a uint64_t to the compiler (BP_U64), and a
 * boolean may be kept as a uint8_t (BP_U8). */
#if defined(__cplusplus) && __cplusplus < 202002L
#define BP_FIELD_AS(columns, member, field_type) \
    #member, (field_type), BP_ACCESS_OF(columns, member), BP_COLUMN_OF(columns, member)
#else
#define BP_FIELD_AS(columns, member, field_type)                                      \
    .name = #member, .type = (field_type), .access = BP_ACCESS_OF(columns, member), \
    .column = BP_COLUMN_OF(columns, member)
#endif

/* An array: the member points to values that lie `count_of_values` to a row, one row after another. A list: the member
 * is a bp_list_t *, and `item_type` the type of its values. */
#if defined(__cplusplus) && __cplusplus < 202002L
#define BP_ARRAY_OF(columns, member, count_of_values) BP_FIELD_OF(columns, member), 0, (count_of_values)
#define BP_LIST_OF(columns, member, item_type) BP_FIELD_AS(columns, member, item_type), BP_FIELD_LIST
#else
#define BP_ARRAY_OF(columns, member, count_of_values) BP_FIELD_OF(columns, member), .count = (count_of_values)
#define BP_LIST_OF(columns, member, item_type) BP_FIELD_AS(columns, member, item_type), .flags = BP_FIELD_LIST
#endif

/* Declare `name`, a struct of pointers of type `columns`, and fill it with as many addresses as it has members, which
 * lie at `addresses`. The addresses are good as long as the run or match that they come from. */
#define BP_COLUMNS(columns, name, addresses) \
    columns name;                            \
    memcpy(&name, (addresses), sizeof name)

/* What BP_FIELD_OF is made of. */
#define BP_COLUMN_OF(columns, member) ((uint32_t)(1 + offsetof(columns, member) / sizeof(void *)))

#ifdef __cplusplus
template <uint32_t number> struct bp_number_t { static constexpr uint32_t VALUE = number; };
bp_number_t<BP_BOOL> bp_type_behind(const bool *);
bp_number_t<BP_I8> bp_type_behind(const int8_t *);
bp_number_t<BP_U8> bp_type_behind(const uint8_t *);
bp_number_t<BP_I16> bp_type_behind(const int16_t *);
bp_number_t<BP_U16> bp_type_behind(const uint16_t *);
bp_number_t<BP_I32> bp_type_behind(const int32_t *);
bp_number_t<BP_U32> bp_type_behind(const uint32_t *);
bp_number_t<BP_I64> bp_type_behind(const int64_t *);
bp_number_t<BP_U64> bp_type_behind(const uint64_t *);
bp_number_t<BP_F32> bp_type_behind(const float *);
bp_number_t<BP_F64> bp_type_behind(const double *);
bp_number_t<BP_VEC2> bp_type_behind(const bp_vec2_t *);
bp_number_t<BP_VEC3> bp_type_behind(const bp_vec3_t *);
bp_number_t<BP_VEC4> bp_type_behind(const bp_vec4_t *);
bp_number_t<BP_DVEC2> bp_type_behind(const bp_dvec2_t *);
bp_number_t<BP_DVEC3> bp_type_behind(const bp_dvec3_t *);
bp_number_t<BP_DVEC4> bp_type_behind(const bp_dvec4_t *);
bp_number_t<BP_QUAT> bp_type_behind(const bp_quat_t *);
bp_number_t<BP_MAT4> bp_type_behind(const bp_mat4_t *);
bp_number_t<BP_COLOUR> bp_type_behind(const bp_colour_t *);
bp_number_t<BP_STRING> bp_type_behind(const char *const *);
bp_number_t<BP_ENTITY> bp_type_behind(const bp_entity_t *);
template <typename pointee> bp_number_t<BP_WRITE> bp_access_through(pointee *);
template <typename pointee> bp_number_t<BP_READ> bp_access_through(const pointee *);
#define BP_TYPE_OF(columns, member) (decltype(bp_type_behind(static_cast<columns *>(nullptr)->member))::VALUE)
#define BP_ACCESS_OF(columns, member) (decltype(bp_access_through(static_cast<columns *>(nullptr)->member))::VALUE)
#else
#define BP_TYPE_OF(columns, member)                                                                                  \
    ((uint32_t)_Generic(*((columns *)0)->member,                                                                     \
        _Bool: BP_BOOL, int8_t: BP_I8, uint8_t: BP_U8, int16_t: BP_I16, uint16_t: BP_U16, int32_t: BP_I32,           \
        uint32_t: BP_U32, int64_t: BP_I64, uint64_t: BP_U64, float: BP_F32, double: BP_F64,                          \
        bp_dvec2_t: BP_DVEC2, bp_dvec3_t: BP_DVEC3, bp_dvec4_t: BP_DVEC4,                                            \
        bp_vec2_t: BP_VEC2, bp_vec3_t: BP_VEC3, bp_vec4_t: BP_VEC4, bp_quat_t: BP_QUAT, bp_mat4_t: BP_MAT4,          \
        bp_colour_t: BP_COLOUR, const char *: BP_STRING, bp_entity_t: BP_ENTITY))
/* Of a pointer and a `void *` the conditional is a `const void *` where the pointer is to const. */
#define BP_ACCESS_OF(columns, member) \
    ((uint32_t)_Generic(1 ? (void *)1 : ((columns *)0)->member, const void *: BP_READ, void *: BP_WRITE))
#endif

#endif
