/* formula.h - components written as formulas: the plugin that is made of a file, and its parts.
 *
 * A file becomes a bp_formula_t: the head and descriptor of a plugin, with a program for each component that changes
 * fields. All of it lies in blocks that the file owns and that are freed with it.
 *
 * Inner to plugins/formula; docs/loaders.md has the language.
 */
#ifndef FORMULA_H
#define FORMULA_H

#include <bp_plugin.h>

#include <stdbool.h>

enum {
    FORMULA_DEPTH = 16, /* values at a time that an expression may need, and how deep it may nest */
    FORMULA_ROWS = 128  /* that are computed together */
};

typedef enum formula_op_t {
    FORMULA_NUMBER,
    FORMULA_FIELD,
    FORMULA_DT,
    FORMULA_TIME,
    FORMULA_STORE, /* the value goes to field `index` */
    FORMULA_NEGATE,
    FORMULA_ADD,
    FORMULA_SUBTRACT,
    FORMULA_MULTIPLY,
    FORMULA_DIVIDE,
    FORMULA_MIN,
    FORMULA_MAX,
    FORMULA_SIN,
    FORMULA_COS,
    FORMULA_SQRT,
    FORMULA_EXP,
    FORMULA_LOG,
    FORMULA_ABS
} formula_op_t;

typedef struct formula_step_t {
    formula_op_t op;
    uint32_t index; /* of a field */
    double number;
} formula_step_t;

/* A component: fields, all of them numbers, and what is done with them in a step. Its place does not change, since the
 * manager is handed it as `user`. */
typedef struct formula_component_t {
    const char *name, *doc;
    bp_field_t *fields;
    formula_step_t *steps;
    uint32_t field_count, step_count;
} formula_component_t;

/* A block of memory in the chain of a file's blocks. */
typedef struct formula_block_t {
    struct formula_block_t *next;
    size_t size;
} formula_block_t;

typedef struct bp_formula_t {
    const bp_plugin_t *plugin; /* that has opened it */
    formula_block_t *blocks;
    const char *name, *version, *doc;
    formula_component_t **components;
    uint32_t component_count;
    bp_component_i *declared;
    bp_plugin_desc_t desc;
    bp_plugin_head_t head;
} bp_formula_t;

/* Cleared memory that lasts as long as the file; NULL: none is left. */
void *formula_take(bp_formula_t *file, size_t size);

/* Room for one more item in an array of `count`. NULL: none is left, and the array is as it was. */
void *formula_grow(bp_formula_t *file, void *items, uint32_t count, size_t item_size);

/* Read a file's text, which ends with a zero. Errors have a sentence with path and line. */
bp_result_t formula_read(bp_formula_t *file, const char *path, const char *text);

/* A component's `simulate`. */
void formula_simulate(const bp_run_t *run, uint32_t count);

#endif
