/* new.h - the arguments of `backplane new`, and the functions that write a folder with a plugin from them.
 *
 * Inner to new*.c.
 *
 * Not here: loading plugins, hosts; the functions only write text.
 */
#ifndef HOST_PROGRAM_NEW_H
#define HOST_PROGRAM_NEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NEW_NAME_MAX = 63, NEW_FIELDS_MAX = 64, NEW_PATH = 4096 };

typedef enum new_kind_t { NEW_COMPONENT, NEW_SYSTEM, NEW_OWN_STORAGE } new_kind_t;
typedef enum new_language_t { NEW_C, NEW_CXX, NEW_RUST } new_language_t;

/* A type of fields, as the languages call it. */
typedef struct new_type_t {
    const char *name;     /* "f32" */
    uint32_t type;        /* BP_F32 */
    const char *constant; /* "BP_F32" */
    const char *in_c;     /* what a column points to */
    const char *in_rust;
    const char *member;   /* of bp_value_t; used for values of options only */
    uint32_t parts;       /* numbers in a value of a number or vector type; 0: the type is of another kind */
    bool whole;           /* the numbers are integers */
} new_type_t;

typedef struct new_field_t {
    char name[NEW_NAME_MAX + 1];
    const new_type_t *type;
    uint32_t count;      /* of an array; 0: a single value */
    bool list;
    char *initial;       /* NULL: that of the type */
} new_field_t;

typedef struct new_plugin_t {
    char name[NEW_NAME_MAX + 1];
    new_kind_t kind;
    new_language_t language;
    new_field_t fields[NEW_FIELDS_MAX];
    uint32_t field_count;
    uint32_t worked;          /* the field that changes in a step; field_count: none */
    char program[NEW_PATH];   /* this program's file */
} new_plugin_t;

/* --- fields ------------------------------------------------------------------------------------------------------ */

/* Read "hp:f32=100,max:f32,path:vec3[],marks:u8[4]". Complains and returns false where it is not right. */
bool new_fields_read(new_plugin_t *plugin, const char *text);
void new_fields_free(new_plugin_t *plugin);

/* Does the name fit a plugin or a field in this language? Complains where it does not; `what` says what the name is
 * of. */
bool new_name_fits(const new_plugin_t *plugin, const char *name, const char *what);

/* --- text (new_text.c) ------------------------------------------------------------------------------------------- */

/* Text that grows. Where memory runs out the text stays as it is and `failed` says so. */
typedef struct new_text_t {
    char *chars;
    size_t length, room;
    bool failed;
} new_text_t;

void new_text_add(new_text_t *text, const char *more);
void new_text_addf(new_text_t *text, const char *format, ...);

/* Add a template: `@name@` in it is the plugin's name, and so on with each pair of `words`, which ends with NULL. */
void new_text_fill(new_text_t *text, const char *form, const new_plugin_t *plugin, const char *const *words);
void new_text_free(new_text_t *text);

/* --- files ------------------------------------------------------------------------------------------------------- */

/* Write the source, in the plugin's language; and give the name of the source file. */
void new_source_c(const new_plugin_t *plugin, new_text_t *text);
void new_source_rust(const new_plugin_t *plugin, new_text_t *text);
const char *new_source_ending(const new_plugin_t *plugin);

/* Write the files that stand beside the source. */
void new_makefile(const new_plugin_t *plugin, new_text_t *text);
void new_ini(const new_plugin_t *plugin, new_text_t *text);
void new_test(const new_plugin_t *plugin, new_text_t *text);
void new_readme(const new_plugin_t *plugin, new_text_t *text);

/* The property that the plugin's step changes, as a path of its ini: "main/one.health.hp"; "" where there is none. */
void new_watched(const new_plugin_t *plugin, char *path, size_t size);

#endif
