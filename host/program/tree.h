/* tree.h - the entities of a world as a tree.
 *
 * Not here: properties; `get` shows them.
 */
#ifndef HOST_PROGRAM_TREE_H
#define HOST_PROGRAM_TREE_H

#include "program.h"

#include <stdbool.h>
#include <stdint.h>

/* Print the entities of a world, or, where `top` is not {0}, `top` and its descendants. Lines of a terminal that shows
 * UTF-8 are drawn with its line characters. false when out of memory. */
bool tree_print(const program_t *program, bp_world_o *world, bp_entity_t top);

/* --- family ------------------------------------------------------------------------------------------------------ */

/* The parent of each entity of a world, and the names of entities for people.
 *
 * Both come from flags of declared fields, of any plugin: BP_FIELD_PARENT and BP_FIELD_LABEL. An entity with several
 * such components goes by the first, in canonical order, that says something.
 *
 * Not here: following changes. Collect again after any change.
 */

/* Fields with a flag, found out key by key. Begin with {.program, .world, .flag, .type}; end with marks_free. */
typedef struct marks_t {
    const program_t *program;
    bp_world_o *world;
    uint32_t flag;  /* BP_FIELD_PARENT or BP_FIELD_LABEL */
    uint32_t type;  /* the type that the field must have */
    struct mark_t *marks; /* by key */
    uint32_t count;
    bool failed;    /* memory ran out: answers may be missing */
} marks_t;

/* Read the marked field of an entity to `value`; false where the entity has no such field, or an empty value (no text,
 * no entity). A string is good until the next call. */
bool marks_read(marks_t *marks, bp_entity_t entity, bp_value_t *value);
void marks_free(marks_t *marks);

/* The entities with components in a world, by index. The numbers in the lists are places in `entities`. */
typedef struct family_t {
    bp_entity_t *entities;
    uint32_t *parents;  /* BP_NONE: a root */
    uint32_t *first;    /* the children of i are children[first[i]] to children[first[i + 1] - 1] */
    uint32_t *children; /* in order of entity index */
    uint32_t count;
} family_t;

/* Collect the family of a world. false when out of memory, with nothing to release. A parent that is dead, or not in
 * this world, counts as none. */
bool family_collect(const program_t *program, bp_world_o *world, family_t *family);
void family_free(family_t *family);

/* Where an entity stands in the list, BP_NONE where it does not. */
uint32_t family_find(const family_t *family, bp_entity_t entity);

#endif
