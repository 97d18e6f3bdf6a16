/* blob_write.h - making a blob: describe it, fill its columns in place, end it.
 *
 *     blob_writer_t w;
 *     blob_write_begin(&w, memory, &desc, error);          types, fields, groups: now everything has its place
 *     float *mass = blob_column(&w, BODY, MASS);           values are written where they stay
 *     for (...) mass[blob_first(&w, group, part) + row] = ...;
 *     uint32_t *texts = blob_column(&w, NAME, TEXT);
 *     blob_string(&w, "earth", &texts[i], error);
 *     blob_write_end(&w, &bytes, &size, error);            strings behind, checksum in front
 *
 * The compiler and the saving of worlds both write through here, so there is one layout and one place that knows it.
 * Columns start out as zero bytes: the empty string, no entity, false. The same input gives the same bytes.
 *
 * Not here: checks of values and of instance names that must be unique in a group (blob_open), writing files.
 */
#ifndef HOST_SCENE_BLOB_WRITE_H
#define HOST_SCENE_BLOB_WRITE_H

#include "blob.h"

typedef struct blob_field_desc_t {
    const char *name;
    uint32_t type; /* BP_BOOL ... */
    uint32_t kind; /* BLOB_COLUMN, or BLOB_ONE where all instances have one value. Leave a field out to mean its
                      default. */
    uint32_t flags;      /* BLOB_BITS, BLOB_LIST */
    uint32_t elements;   /* of an array; 0: the field is no array */
    const char *values;  /* the names of its values; NULL: none */
    uint64_t items;      /* of a list: how many there are in all cells */
} blob_field_desc_t;

/* The description of a component's field. */
blob_field_desc_t blob_field_described(const field_t *field, uint32_t kind);

typedef struct blob_component_desc_t {
    const char *type;
    const blob_field_desc_t *fields;
    uint32_t field_count;
    uint32_t version;
    uint32_t flags;        /* BLOB_OPAQUE: without fields; BLOB_WORLD */
    uint32_t padding;
    uint64_t opaque_bytes; /* blob_opaque_room of every instance, added up */
} blob_component_desc_t;

typedef struct blob_part_desc_t {
    uint32_t component; /* its number among the components */
    uint32_t padding;
    const char *text;   /* the instance's name; NULL: `name` is known already and its text, if any, is given to
                           blob_name */
    bp_name_t name;
} blob_part_desc_t;

typedef struct blob_group_desc_t {
    const blob_part_desc_t *parts;
    uint32_t part_count;
    uint32_t rows; /* entities */
} blob_group_desc_t;

/* The description of the blob's contents. blob_write_begin reads the description and keeps no address of it. The same
 * type may come twice among the components, for instance to keep one value for all in some groups and a column in
 * others. */
typedef struct blob_desc_t {
    const blob_component_desc_t *components;
    const blob_group_desc_t *groups;
    uint32_t component_count;
    uint32_t group_count;
    bool parents;   /* with a parents section */
    bool clock;     /* with steps, time, step_rate */
    uint64_t steps;
    double time, step_rate;
} blob_desc_t;

typedef struct blob_writer_t {
    memory_t *memory;
    unsigned char *block; /* all but names and strings */
    size_t size;
    blob_info_t info;     /* of the sections in `block` */
    char *strings;
    size_t strings_used, strings_room;
    uint64_t *string_buckets;  /* open addressing: high half of the hash << 32 | offset; 0 free */
    uint32_t string_bucket_count, string_count;
    uint32_t *names;         /* offsets of the texts listed */
    uint32_t name_count, name_capacity;
    uint32_t *name_buckets;    /* the same as a set; open addressing, 0 free */
    uint32_t name_bucket_count;
    uint64_t *opaque_used;   /* of each component: where its next bytes go */
} blob_writer_t;

/* Lay out and allocate. Errors: MEMORY; LIMIT; ARGUMENT (a part of a component that the description lacks, a number
 * that is no type, an opaque component with fields). On failure nothing is kept. [main] */
bp_result_t blob_write_begin(blob_writer_t *w, memory_t *memory, const blob_desc_t *desc, error_text_t *error);

/* The place for a field's values: one cell for each instance, or one for all. The place does not move until the blob is
 * ended. For a field of lists the cells hold where each list begins (blob_list_starts), one more than there are
 * lists. */
void *blob_column(blob_writer_t *w, uint32_t component, uint32_t field);

/* The values of all lists of a field. */
void *blob_column_items(blob_writer_t *w, uint32_t component, uint32_t field);

/* The first instance of a part of a group among those of its component. */
uint32_t blob_first(const blob_writer_t *w, uint32_t group, uint32_t part);

/* For each entity its parent's number + 1, or 0. NULL where the description has no parents. */
uint32_t *blob_parents(blob_writer_t *w);

/* Put a text into the string table, once however often it comes; *offset is what a string's cell holds. Errors: MEMORY;
 * LIMIT past 4 GiB of texts. [main] */
bp_result_t blob_string(blob_writer_t *w, const char *text, uint32_t *offset, error_text_t *error);

/* As blob_string, for many texts. Faster than one at a time: look-ups overlap. */
bp_result_t blob_strings(blob_writer_t *w, const char *const *texts, uint32_t count, uint32_t *offsets,
                         error_text_t *error);

/* The name of a text, which is listed so that a reader can intern it. */
bp_result_t blob_name(blob_writer_t *w, const char *text, bp_name_t *name, error_text_t *error);

/* Room that the opaque bytes of one instance take. */
static inline uint64_t blob_opaque_room(uint64_t size)
{
    return blob_align(size, BLOB_ALIGN_SMALL);
}

/* The opaque bytes of an instance, at most once each; an instance that is left out has none. Errors: ARGUMENT where the
 * bytes are more than was described. */
bp_result_t blob_opaque(blob_writer_t *w, uint32_t component, uint32_t instance, const void *data, size_t size,
                        error_text_t *error);

/* The whole blob, in a block from `memory` that is now the caller's. The writer has ended then, on failure too.
 * [main] */
bp_result_t blob_write_end(blob_writer_t *w, void **bytes, size_t *size, error_text_t *error);

/* Drop the writer and all that was written. Allowed after a failure and after the end. */
void blob_write_drop(blob_writer_t *w);

#endif
