/* patch_lists.h - random lists of fields, plugins that declare them, and what names and values alone say of a reload.
 *
 * A list becomes a plugin without a compiler: it is written into the file of the fixture reload_patch. What follows
 * from one list after another is foretold from names and values; nothing here knows columns, runs or plans, and the
 * rules of conversion are written down once more, from docs/reload.md.
 *
 * `random` is a state of bp_random_below. Names are numbers below PATCH_NAMES, which stands for none.
 *
 * What it does not do: it asks no host for anything.
 */
#ifndef TESTS_RELOAD_PATCH_LISTS_H
#define TESTS_RELOAD_PATCH_LISTS_H

#include <backplane.h>
#include <stdbool.h>

enum { PATCH_FIELDS = 10, PATCH_NAMES = 14, PATCH_TEXT = 24 };

typedef struct patch_value_t {
    double part[4];
    char text[PATCH_TEXT];
} patch_value_t;

typedef struct patch_field_t {
    uint32_t name;
    uint32_t former;
    uint32_t type;
    patch_value_t initial;
} patch_field_t;

typedef struct patch_list_t {
    patch_field_t fields[PATCH_FIELDS];
    uint32_t count;
} patch_list_t;

/* What one instance has, by name. */
typedef struct patch_values_t {
    patch_value_t of[PATCH_NAMES];
} patch_values_t;

typedef struct patch_file_t {
    char *bytes; /* the fixture's; the caller frees them */
    size_t size;
    char *texts[PATCH_FIELDS][3], *types[PATCH_FIELDS], *count; /* where the marks are */
} patch_file_t;

/* How many numbers a value of a type has; a text has none. */
uint32_t patch_parts(uint32_t type);

/* A value of a type, small, so that conversions often fit. */
patch_value_t patch_random_value(uint64_t *random, uint32_t type);

/* The list after this one: changed here and there, as versions of a plugin are, or new altogether. */
patch_list_t patch_next(uint64_t *random, const patch_list_t *before);

/* The field of a name, or NULL. */
const patch_field_t *patch_find(const patch_list_t *list, uint32_t name);

/* The old field that goes on as `field`: of its own name, else of its former one, unless that is still a field's name.
 * NULL: `field` is new. */
const patch_field_t *patch_source(const patch_list_t *old, const patch_list_t *list, const patch_field_t *field);

/* The name of the field that goes on from the old one of this name, and back: PATCH_NAMES where there is none, or
 * `name` is that. `same`: of the same type alone. */
uint32_t patch_after(const patch_list_t *old, const patch_list_t *list, uint32_t name, bool same);
uint32_t patch_before(const patch_list_t *old, const patch_list_t *list, uint32_t name, bool same);

/* What the values of `rows` instances come to under the next list; false where it must be refused. */
bool patch_foresee(const patch_list_t *old, const patch_values_t *values, const patch_list_t *list,
                   patch_values_t *next, uint32_t rows);

/* Read the fixture; put the plugin "patch" with that list in place. */
void patch_open(patch_file_t *file);
void patch_put(const patch_file_t *file, const patch_list_t *list);

/* A name's text, of PATCH_TEXT bytes. The bytes of a value of a type; a value as the contract passes it, its text still
 * the value's; are both the same? */
void patch_name(uint32_t name, char *text);
size_t patch_size(uint32_t type);
void patch_pack(const patch_value_t *v, uint32_t type, bp_value_t *value);
bool patch_same(const patch_value_t *v, uint32_t type, const bp_value_t *value);

#endif
