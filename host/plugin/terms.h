/* terms.h - the terms of systems and queries: the components that they ask for, with fields by name and type.
 *
 * A term is a declaration copied. Binding a term finds, for each field that the term asks for, the number of that field
 * among those that the component declares now. The number depends on both declarations and on nothing else: a name that
 * the component declares stands for that field; a name that it does not declare stands for the field that was formerly
 * called so.
 *
 *     term asks           component declares                      places
 *     position vec3       fixed bool, mass f32, position vec3     2
 *     weight f32                      (mass was formerly weight)  1
 *     charge f32, optional                                        TERM_ABSENT
 *
 * Inner to the host: the terms of systems (slots.h).
 *
 * Not here: matching runs (store/query.h).
 */
#ifndef HOST_PLUGIN_TERMS_H
#define HOST_PLUGIN_TERMS_H

#include "../base/base.h"

enum {
    TERMS_MAX = 32,        /* of one system */
    TERMS_MAX_ASKED = 512, /* fields of all its terms together */
    TERM_ABSENT = 0xffff   /* the place of an optional field that the component lacks */
};

struct component_t;

/* A field that a term asks for. */
typedef struct asked_field_t {
    char *name;
    bp_name_t hash;
    uint32_t type;
    uint32_t access; /* BP_READ, BP_WRITE */
    uint32_t elements; /* of an array; 0: the field is no array */
    bool list;
    bool optional;
} asked_field_t;

typedef struct term_t {
    char *component;
    char *instance_text;
    bp_name_t instance; /* 0: any */
    uint32_t flags;     /* BP_TERM_... */
    char *world;        /* with BP_TERM_BESIDE, else "" */
    asked_field_t *fields;
    uint32_t field_count;
} term_t;

/* Copy a list of terms, all of it or nothing. Errors name the term and the field and say what is wrong. [main] */
bp_result_t terms_copy(base_t *base, memory_t *memory, const bp_term_list_t *list, term_t **terms);
void terms_free(memory_t *memory, term_t *terms, uint32_t count);

/* Find the fields of a term among those that `component` declares. `places` has room for as many, or is NULL. The error
 * is about the first field that is missing, with the nearest name, or that is of another type. [main] */
bp_result_t term_bind(error_text_t *error, const term_t *term, const struct component_t *component, uint16_t *places);

#endif
