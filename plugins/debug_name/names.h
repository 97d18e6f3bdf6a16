/* names.h - the names of one world: slots, their texts, and the index from a text to the slots that bear it.
 *
 * Slots are those of bp_slots.h. A name of 0 bytes is no text at all: such slots are in no index and are never
 * found.
 *
 * Not here: whether entities live.
 */
#ifndef DEBUG_NAME_NAMES_H
#define DEBUG_NAME_NAMES_H

#include <helpers/bp_slots.h>
#include <components/debug_name.h>

#include <stdbool.h>

enum { DEBUG_NAME_MAX = 255 }; /* bytes of a name */

/* Columns. The columns from HASH on exist once the first search has been made. */
enum {
    TEXT = BP_SLOTS_FIRST, /* uint64_t, offset into texts; 0 is the empty text */
    HASH,                  /* uint32_t, of the text */
    NEXT,                  /* uint32_t, as PREVIOUS: neighbours in the bucket, BP_NONE at its ends */
    PREVIOUS,
    COLUMNS_END
};

typedef struct debug_name_names_t {
    bp_slots_t slots;
    uint32_t *bucket;      /* first slot of each bucket, BP_NONE where empty */
    uint32_t bucket_count; /* a power of two, or 0: there is no index at present */
    uint32_t padding;
    char *texts;           /* closed by zeros, one after another */
    size_t texts_used, texts_capacity;
    size_t texts_garbage;  /* bytes of texts_used that no slot refers to any more */
} debug_name_names_t;

/* The form of the whole state, for reloads: raise the number when a column, or a member, changes its meaning and not
 * its size. */
typedef struct debug_name_form_t {
    debug_name_names_t names;
    uint64_t columns[COLUMNS_END];
} debug_name_form_t;

#define DEBUG_NAME_FORM BP_STATE_FORM(debug_name_form_t, 1)

void debug_name_begin(debug_name_names_t *names);

/* Free all memory. */
void debug_name_free(bp_manager_t *m, debug_name_names_t *names);

/* New slots with the texts `values` (const char *, packed), or with empty names where `values` is NULL. All or nothing;
 * memory, limit. */
bp_result_t debug_name_create(bp_manager_t *m, debug_name_names_t *names, bp_name_t instance,
                              const bp_entity_t *entities, uint32_t count, const void *values, uint32_t *slots);

/* Give the slots new texts (values: const char *, `stride` bytes apart). All or nothing; memory, limit. */
bp_result_t debug_name_set(bp_manager_t *m, debug_name_names_t *names, const uint32_t *slots, uint32_t count,
                           const void *values, size_t stride);

/* The verbs save and load: slots and texts; the index is made anew where it is wanted. */
bp_result_t debug_name_save(bp_manager_t *m, void **data, size_t *size);
bp_result_t debug_name_load(bp_manager_t *m, uint32_t version, const void *data, size_t size);

/* Keep the index right when a slot ends, and when one moves (bp_slots_hooks_t). */
void debug_name_ended(bp_manager_t *m, uint32_t slot);
void debug_name_moved(bp_manager_t *m, uint32_t from, uint32_t to);

/* The text of a slot, good until the next set. */
const char *debug_name_text(const debug_name_names_t *names, uint32_t slot);

/* Walk the slots with that text, in any order; BP_NONE at the end. The empty text is never found. The first search
 * makes the index; where there is no memory for it, every slot is looked at. */
uint32_t debug_name_first(bp_manager_t *m, debug_name_names_t *names, const char *text);
uint32_t debug_name_next(const debug_name_names_t *names, uint32_t slot, const char *text);

#endif
