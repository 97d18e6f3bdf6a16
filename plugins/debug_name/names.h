/* names.h - storage of the plugin debug_name: slots, their texts, and the index from text to slots.
 *
 * What it does not do: it does not know who is alive, and tells the world nothing.
 */
#ifndef DEBUG_NAME_NAMES_H
#define DEBUG_NAME_NAMES_H

#include <bp_plugin.h>
#include <components/debug_name.h>

#include <stdbool.h>

enum { DEBUG_NAME_MAX = 255 }; /* bytes of a name */

typedef struct debug_name_names_t {
    uint32_t count;
    uint32_t capacity;     /* 0 or a power of two: also the number of buckets */
    void *buffer;          /* holds the arrays from here to `bucket` */
    bp_entity_t *entity;
    bp_name_t *instance;   /* name of the component in its entity */
    uint64_t *text;        /* offset into texts; 0 is the empty text */
    uint32_t *hash;        /* of the text */
    uint32_t *next, *prev; /* neighbours in the bucket, BP_NONE at its ends */
    uint32_t *bucket;      /* first slot of each, BP_NONE where empty */
    char *texts;           /* closed by zeros, one after another */
    size_t texts_used, texts_capacity;
    size_t texts_garbage;  /* bytes of texts_used that no slot refers to any more */
} debug_name_names_t;

/* Free all memory. */
void debug_name_free(bp_manager_t *m, debug_name_names_t *names);

/* Room for `more` slots. Errors: memory, limit. */
bp_result_t debug_name_reserve(bp_manager_t *m, debug_name_names_t *names, uint32_t more);

/* A new slot with the empty name; there must be room. */
uint32_t debug_name_append(debug_name_names_t *names, bp_entity_t entity, bp_name_t instance);

/* End a slot; the last one takes its place. */
void debug_name_erase(debug_name_names_t *names, uint32_t slot);

/* The text of a slot, good until the next set. */
const char *debug_name_text(const debug_name_names_t *names, uint32_t slot);

/* Give the slots new texts (values: const char *, `stride` bytes apart). All or nothing; memory, limit. */
bp_result_t debug_name_set(bp_manager_t *m, debug_name_names_t *names, const uint32_t *slots, uint32_t count,
                           const void *values, size_t stride);

/* Walk the slots with that text, in any order; BP_NONE at the end. The empty text is never found. */
uint32_t debug_name_first(bp_manager_t *m, const debug_name_names_t *names, const char *text);
uint32_t debug_name_next(const debug_name_names_t *names, uint32_t slot, const char *text);

#endif
