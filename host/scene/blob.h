/* blob.h - the binary form of scenes, prefabs and saved worlds (.bpe), and the check that comes before its use.
 *
 * One block of bytes, read or mapped and used where it lies: offsets instead of pointers, everything little-endian and
 * aligned. By component type, not by entity: for each type its instances' values as columns. docs/scene_blob.md has the
 * same as a table.
 *
 *   head        32 bytes: magic, byte order, version, size, checksum of everything behind the head
 *   info        from byte 32 on: counts, clock, and the section table; up to byte 256
 *   groups      one record each: entities with the same components under the same names lie together, in a row
 *   parts       one record each: a component of a group under its instance name
 *   components  one record each: type, version, fields, number of instances
 *   fields      one record each: name, type, and where its values are
 *   parents     for each entity the number of its parent plus 1, or 0; empty where no entity has a parent
 *   data        the values: columns, single values, opaque bytes
 *   names       the texts of all bp_name_t in the blob, as offsets into strings
 *   strings     texts with a zero byte behind each; offset 0 is the empty text
 *
 * The layout is canonical: sections follow each other in this order, each at the next multiple of 64; within data,
 * values follow in the order of their fields, columns at multiples of 64, single values at multiples of 16. Offsets are
 * stored for other programs that look into a blob; the reader computes them and refuses a file that says otherwise. So
 * nothing overlaps, and nothing hides in gaps.
 *
 * The instances of a component are numbered group by group, within a group part by part, within a part by entity. So a
 * part's rows are consecutive instances and consecutive entities, and no list of entity indices is needed.
 *
 * A value in a column is as bp_types.h says, but: a string is a uint32_t offset into strings; an entity is a uint32_t,
 * its number in the blob plus 1, or 0 for none. A name is its 64-bit hash. A field that a component's plugin has and
 * the blob has not takes its default; a field that names the parent (BP_FIELD_PARENT) takes the entity's parent from
 * the parents section.
 *
 * A blob says the least version that has all its features, so that older programs can read it where they know these.
 *
 * Not here: plugins; whether a type exists and a value is in range (the spawner finds out).
 */
#ifndef HOST_SCENE_BLOB_H
#define HOST_SCENE_BLOB_H

#include "../base/base.h"

#define BLOB_MAGIC "\x89" "BPE\r\n\x1a\n" /* a transfer as text would break it */
#define BLOB_BYTE_ORDER 0x01020304u
#define BLOB_VERSION 2u /* the newest; version 1 has no types behind BP_NAME, and of fields no flags, elements and named
                           values */
#define BLOB_FIRST_SECTION 256u

enum {
    BLOB_ALIGN = 64,        /* of sections and columns */
    BLOB_ALIGN_SMALL = 16,  /* of single values and of each instance's opaque bytes */
    BLOB_MAX_PARTS = 255,   /* of a group: components of one entity */
    BLOB_MAX_FIELDS = 255   /* of a component */
};

enum {
    BLOB_GROUPS,
    BLOB_PARTS,
    BLOB_COMPONENTS,
    BLOB_FIELDS,
    BLOB_PARENTS,
    BLOB_DATA,
    BLOB_NAMES,
    BLOB_STRINGS,
    BLOB_SECTIONS
};

/* In blob_info_t.flags. */
enum { BLOB_HAS_CLOCK = 1u << 0 /* steps, time and step_rate are those of a saved world */ };

/* In blob_component_t.flags. */
enum {
    BLOB_OPAQUE = 1u << 0, /* no fields: each instance has bytes that only its manager understands (compile, spawn) */
    BLOB_WORLD = 1u << 1   /* it belongs to the world itself: one instance; a spawn gives its values to the world */
};

/* In blob_field_t.flags. */
enum {
    BLOB_BITS = 1u << 0, /* the named values are bits */
    BLOB_LIST = 1u << 1  /* each cell has any number of values */
};

/* blob_field_t.kind. */
enum {
    BLOB_COLUMN = 0, /* a value for each instance */
    BLOB_ONE = 1     /* one value, which all instances have */
};

typedef struct blob_head_t {
    unsigned char magic[8];
    uint32_t byte_order;
    uint32_t version;
    uint64_t size;     /* of the whole blob */
    uint64_t checksum; /* hash_bytes of bytes 32 to size - 1 */
} blob_head_t;

typedef struct blob_section_t {
    uint64_t offset; /* from the blob's first byte */
    uint64_t size;
} blob_section_t;

typedef struct blob_info_t {
    uint32_t entity_count;
    uint32_t group_count;
    uint32_t part_count;
    uint32_t component_count;
    uint32_t field_count;
    uint32_t name_count;
    uint32_t flags;
    uint32_t reserved;
    uint64_t steps;
    double time;
    double step_rate;
    uint64_t reserved_too;
    blob_section_t sections[BLOB_SECTIONS];
} blob_info_t;

typedef struct blob_group_t {
    uint32_t first_entity;
    uint32_t rows;
    uint32_t first_part;
    uint32_t part_count;
} blob_group_t;

typedef struct blob_part_t {
    bp_name_t name;          /* of the instance; never 0; unique in its group */
    uint32_t component;
    uint32_t first_instance; /* of the component's instances: this part has that instance and the next rows - 1 */
} blob_part_t;

typedef struct blob_component_t {
    uint32_t type; /* its name, in strings */
    uint32_t version;
    uint32_t flags;
    uint32_t first_field;
    uint32_t field_count;
    uint32_t instance_count;
    uint64_t index_offset;  /* opaque: a blob_opaque_t for each instance */
    uint64_t opaque_offset; /* ... and where the bytes of all of them are, ... */
    uint64_t opaque_size;   /* ... with those that align them */
} blob_component_t;

typedef struct blob_field_t {
    uint32_t name;   /* in strings */
    uint16_t type;   /* BP_BOOL ... BP_DVEC4 */
    uint16_t flags;
    uint16_t kind;
    uint16_t more;   /* values in each cell, less one: of arrays */
    uint32_t values; /* in strings: the names of an integer's values (named.h) */
    uint64_t offset; /* of the values, from the blob's first byte */
    uint64_t size;   /* bytes of all of them */
} blob_field_t;

typedef struct blob_opaque_t {
    uint64_t offset; /* from opaque_offset; a multiple of 16. Instances may share bytes. */
    uint64_t size;
} blob_opaque_t;

BP_STATIC_ASSERT(sizeof(blob_head_t) == 32 && sizeof(blob_info_t) == 192, "the layout of files does not change");
BP_STATIC_ASSERT(sizeof(blob_group_t) == 16 && sizeof(blob_part_t) == 16, "the layout of files does not change");
BP_STATIC_ASSERT(sizeof(blob_component_t) == 48 && sizeof(blob_field_t) == 32, "the layout of files does not change");

/* A blob that has been checked: pointers into its bytes. */
typedef struct blob_t {
    const unsigned char *bytes;
    size_t size;
    const blob_head_t *head;
    const blob_info_t *info;
    const blob_group_t *groups;
    const blob_part_t *parts;
    const blob_component_t *components;
    const blob_field_t *fields;
    const uint32_t *parents; /* NULL where no entity has a parent */
    const uint32_t *names;
    const char *strings;
    size_t strings_size;
} blob_t;

/* Check everything about a block of bytes aligned to 16, and find its parts. The block is the caller's and must stay as
 * it is for as long as the blob is used. `origin` is the file's path, for messages, which name the section and the
 * fault. Errors: SYNTAX for bytes that are no blob or a broken one, ABI for one of another version or byte order,
 * MEMORY. [main] */
bp_result_t blob_open(blob_t *blob, memory_t *memory, const void *bytes, size_t size, const char *origin,
                      error_text_t *error);

/* Find the parts as blob_open does, but without the check, in bytes that blob_write_end has just made. [main] */
void blob_trust(blob_t *blob, const void *bytes, size_t size);

/* Is an entity its own ancestor? `parents` are numbers + 1, none greater than `count`. false with *cycle unset: out of
 * memory. [main] */
bool blob_find_cycle(memory_t *memory, const uint32_t *parents, uint32_t count, bool *cycle);

/* Bytes of one value of a type as it lies in a blob; 0 for a number that is no type. [any] */
uint32_t blob_value_size(uint32_t type);

/* The least version of the format that has a field like this one. [any] */
static inline uint32_t blob_field_version(const blob_field_t *field)
{
    return field->type > BP_NAME || field->flags != 0 || field->more != 0 || field->values != 0 ? 2 : 1;
}

static inline const char *blob_text(const blob_t *blob, uint32_t offset)
{
    return blob->strings + offset;
}

static inline bool blob_is_list(const blob_field_t *field)
{
    return (field->flags & BLOB_LIST) != 0;
}

/* Cells of a field: as many as the component has instances, or one. */
static inline uint32_t blob_cells(const blob_field_t *field, uint32_t instances)
{
    return field->kind == BLOB_ONE ? 1 : instances;
}

/* Bytes of a cell; a list's cells have no size. */
static inline uint64_t blob_cell_size(const blob_field_t *field)
{
    return (uint64_t)blob_value_size(field->type) * (field->more + 1u);
}

/* The values of a field: of all cells, one after another; of lists first where each begins, see blob_list_items. */
static inline const void *blob_values(const blob_t *blob, const blob_field_t *field)
{
    return blob->bytes + field->offset;
}

/* The opaque bytes of an instance. */
static inline const void *blob_opaque_bytes(const blob_t *blob, const blob_component_t *component, uint32_t instance,
                                            size_t *size)
{
    const blob_opaque_t *index = (const blob_opaque_t *)(const void *)(blob->bytes + component->index_offset);
    *size = (size_t)index[instance].size;
    return blob->bytes + component->opaque_offset + index[instance].offset;
}

/* Where the values of each cell of a field of lists begin, counted in values, and at the end how many there are. */
static inline const uint64_t *blob_list_starts(const blob_t *blob, const blob_field_t *field)
{
    return (const uint64_t *)(const void *)(blob->bytes + field->offset);
}

/* --- the layout, for the writer and the check --------------------------------------------------------------------- */

static inline uint64_t blob_align(uint64_t offset, uint64_t to)
{
    return (offset + to - 1) / to * to;
}

static inline uint64_t blob_field_align(const blob_field_t *field)
{
    return field->kind == BLOB_ONE ? BLOB_ALIGN_SMALL : BLOB_ALIGN;
}

/* How far behind a list field's beginning its values lie. [any] */
static inline uint64_t blob_list_head(const blob_field_t *field, uint32_t instances)
{
    return blob_align((blob_cells(field, instances) + UINT64_C(1)) * sizeof(uint64_t), blob_field_align(field));
}

/* Where the values of a field lie when the bytes before them end at `end`; *size are all their bytes. `items` counts
 * the values of lists. [any] */
static inline uint64_t blob_place_field(const blob_field_t *field, uint32_t instances, uint64_t items, uint64_t end,
                                        uint64_t *size)
{
    if (blob_is_list(field))
        *size = blob_list_head(field, instances) + items * blob_value_size(field->type);
    else
        *size = blob_cell_size(field) * blob_cells(field, instances);
    return blob_align(end, blob_field_align(field));
}

/* The values of all lists of a field, one after another. */
static inline const void *blob_list_items(const blob_t *blob, const blob_field_t *field, uint32_t instances)
{
    return blob->bytes + field->offset + blob_list_head(field, instances);
}

#endif
