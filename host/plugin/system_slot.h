/* system_slot.h - a system as the registry keeps it: what its plugin declared, copied.
 *
 * As component_slot.h.
 *
 * What it does not do: it matches no runs (entity/query.h).
 */
#ifndef HOST_PLUGIN_SYSTEM_SLOT_H
#define HOST_PLUGIN_SYSTEM_SLOT_H

#include "component_slot.h"

enum { REGISTRY_MAX_TERMS = 32 }; /* of a system */

/* What the code of a system takes a component's columns to be, once the component has changed without it. */
typedef struct expected_field_t {
    known_field_t *field;
    uint32_t type;
} expected_field_t;

typedef struct term_t {
    char *component;
    char *instance_text;
    bp_name_t instance; /* 0: any */
    uint32_t flags;
    expected_field_t *expected; /* NULL: the columns as the component declares them */
    uint8_t *order;             /* which column of the component stands for each expected one */
    uint32_t expected_count;
    bool reordered;             /* `order` is not 0, 1, 2 ... */
} term_t;

/* A system. */
typedef struct system_t {
    bp_system_i table;
    char *name, *doc, *before, *after, *reads, *writes;
    plugin_t *owner;
    term_t *terms;
    uint32_t term_count;
} system_t;

/* An empty slot; NULL when out of memory. */
system_t *system_new(memory_t *memory, const char *name);
void system_free(memory_t *memory, system_t *slot);

/* May a system be declared so? Its list of terms is judged while it is copied. */
bp_result_t system_check(error_text_t *error, const bp_system_i *declared);

/* Copy a declaration, already checked, to `made`, which is empty and may be the slot itself. */
bp_result_t system_declare(base_t *base, memory_t *memory, plugin_t *owner, const bp_system_i *declared, const system_t *slot,
                           system_t *made);

/* Free what a slot, or what is to come into one, holds. */
void system_empty(memory_t *memory, system_t *slot);

#endif
