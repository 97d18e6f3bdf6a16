/* condition.h - what `find`, `when` and `bisect` look for: a value of an entity, or how many entities there are.
 *
 *     [any] WORLD COMPONENT.PROPERTY [OP VALUE]      of some entity; without OP: some entity has the property
 *     [any] WORLD/ *.COMPONENT.PROPERTY [OP VALUE]   the same (without the blank before the star)
 *     WORLD/ENTITY.COMPONENT.PROPERTY [OP VALUE]     of the entity that has this name or id at the time
 *     count WORLD [COMPONENT] OP NUMBER              how many entities are in the world, or instances of the component
 *
 * OP is one of < <= = == != >= >, or `is`, with nan or inf as VALUE: one of the numbers of the value is no number, or
 * is infinite. Values are compared as `get` prints them: numbers as numbers, other values as texts, which are equal or
 * not.
 *
 * Not here: which step (console_find.c, replay.c).
 */
#ifndef HOST_PROGRAM_CONDITION_H
#define HOST_PROGRAM_CONDITION_H

#include "console.h"

enum { CONDITION_VALUE = 1024 };

/* A condition. Its texts lie in the line that it was read from. */
typedef struct condition_t {
    bp_world_o *world;
    const char *entity;    /* name or id; NULL: any entity */
    const char *component; /* NULL: of a count, all entities */
    const char *property;  /* NULL: it counts */
    int comparison;
    const char *value; /* NULL: any */
    bool known;        /* some entity has been seen that has the property; of a count: always */
    bp_path_t path;    /* to the entity that was looked at last */
    bool resolved;     /* the path's property has been resolved, for an entity at least */
} condition_t;

/* Read a condition from `rest`; complaints name `command`. */
bool condition_read(console_t *console, const char *command, char *rest, condition_t *condition);

/* What the condition is about, for people: "body.mass", "count main body". */
const char *condition_about(const program_t *program, const condition_t *condition, char *text, size_t size);

/* The value for an entity as text, in CONDITION_VALUE bytes; false: there is none, the text is "". A count is one value
 * of the world, whatever the entity. */
bool condition_value(const program_t *program, condition_t *condition, bp_entity_t entity, char *value);

/* Does the condition hold for an entity? Its value goes to `value`, as by condition_value. */
bool condition_holds_for(const program_t *program, condition_t *condition, bp_entity_t entity, char *value);

/* The next entity that the condition may hold for, from *index on (0 at first), which is moved past it; {0} after the
 * last. Not for a count. */
bp_entity_t condition_next(const program_t *program, const condition_t *condition, uint32_t *index);

/* Does the condition hold now? Then *entity is the first one for which it does ({0} of a count), with its value. */
bool condition_holds(const program_t *program, condition_t *condition, bp_entity_t *entity, char *value);

/* Entities that a condition may be about, with their values where these can be read all at once: as they lie, `size`
 * bytes each, of a property that is neither text nor list. */
enum { CONDITION_BLOCK = 256, CONDITION_RAW = 32 };

typedef struct condition_block_t {
    uint32_t count;
    uint32_t size; /* 0: read them one by one; not all have the property, or have it from the same component */
    bp_entity_t entities[CONDITION_BLOCK];
    uint64_t values[CONDITION_BLOCK * CONDITION_RAW / sizeof(uint64_t)];
} condition_block_t;

/* The next entities, as condition_next gives them; false after the last. */
bool condition_next_block(const program_t *program, condition_t *condition, uint32_t *index, condition_block_t *block);

static inline const void *condition_block_value(const condition_block_t *block, uint32_t i)
{
    return (const char *)block->values + (size_t)i * block->size;
}

/* Why a condition can never have held, to be said where it has not; NULL where it might have. */
const char *condition_fault(const program_t *program, const condition_t *condition, char *text, size_t size);

/* Print the entity and its value at the step where the host is now, the first at which the condition holds; and, to end
 * that line, the value before, "" where there was none. */
bp_entity_t console_print_first(const program_t *program, condition_t *condition, uint64_t now, uint64_t last);
void console_print_before(const char *before);

#endif
