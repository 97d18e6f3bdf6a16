/* journal.h - calls from outside, written down so that they can be made once more.
 *
 * A call is written before it is made, with all its arguments: entities, numbers of keys and prototypes, values with
 * their texts and lists, the bytes of scenes. Made again in a host in the same state, the call has the same effect.
 * Only the outermost call is written: when it is made again, plugins' callbacks inside it make their calls again.
 *
 * Calls lie one behind the other, each at a multiple of 16, and hold no address: another process can make them, where
 * names have been interned.
 *
 * Not here: when calls are written and made (history.h, recording.h).
 */
#ifndef HOST_HISTORY_JOURNAL_H
#define HOST_HISTORY_JOURNAL_H

#include "restore.h"

/* Append one call. A failure shows in `bytes->failed`. [main] */
void journal_create_entities(bytes_t *bytes, uint32_t count);
void journal_destroy(bytes_t *bytes, const bp_entity_t *entities, uint32_t count);
void journal_key(bytes_t *bytes, bp_world_o *world, uint32_t component, bp_name_t name);
void journal_prototype(bytes_t *bytes, bp_world_o *world, const uint32_t *keys, uint32_t count);
void journal_create(bytes_t *bytes, bp_world_o *world, uint32_t prototype, uint32_t count);
void journal_add(bytes_t *bytes, bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count);
void journal_remove(bytes_t *bytes, bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count);

/* The clock as the call has left it: unlike the others, this call is written after it was made. */
void journal_clock(bytes_t *bytes, bp_world_o *world);

/* Values of `count` entities; the property has been resolved. Where the property cannot be set, nothing is written. */
void journal_set(bytes_t *bytes, bp_world_o *world, bp_property_t *property, const bp_entity_t *entities,
                 uint32_t count, const void *values, size_t stride);
void journal_set_named(bytes_t *bytes, bp_world_o *world, bp_entity_t entity, const char *component,
                       const char *property, uint32_t type, const void *value);
void journal_set_text(bytes_t *bytes, const bp_path_t *path, const char *text);

/* What plugins take from outside in the next step (outside.h). */
void journal_inputs(bytes_t *bytes, const bytes_t *inputs);

/* How a spawn leaves its list of entities: none was asked for, one was made, or one was made and released. */
enum { JOURNAL_UNLISTED = 0, JOURNAL_LISTED = 1, JOURNAL_RELEASED = 2 };
void journal_spawn(bytes_t *bytes, const bp_scene_o *scene, bp_world_o *world, uint32_t flags, uint32_t list);
void journal_despawn(bytes_t *bytes, bp_spawn_t spawn);
void journal_release(bytes_t *bytes, bp_spawn_t spawn);

/* Make calls again; `bytes` lie at a multiple of 16. BP_ERROR_SYNTAX where the bytes are damaged; else the error of the
 * first call that fails; the calls before that one have been made. [main], between steps */
bp_result_t journal_make(const parts_t *parts, const void *bytes, size_t size);

/* The same, but calls that fail, and entities that are not alive, are passed over, and that is told with a sentence.
 * Fails where the bytes are damaged, and for want of memory. [main], between steps */
typedef struct journal_pass_i {
    void *context;
    void (*passed)(void *context, const char *why);
    const destruction_t *of; /* in whose worlds the calls were made, which number components, keys and prototypes
                                otherwise (numbers.h); NULL: the host's own */
    bool makes_keys;         /* a key that only those worlds have is made */
} journal_pass_i;

bp_result_t journal_make_most(const parts_t *parts, const void *bytes, size_t size, const journal_pass_i *pass);

/* Write other numbers of components, keys and prototypes into calls that were made in the worlds of `of`: those that
 * the worlds of `in` have for the same, BP_NONE where they have none. `bytes` are whole calls, as above. */
void journal_renumber(void *bytes, size_t size, const destruction_t *of, const destruction_t *in);

/* Spawn a scene, and list its entities as `list` says; `entities` receives the entities where that is not NULL, and
 * `spawn` the handle of JOURNAL_LISTED. Errors: those of spawning. [main] */
bp_result_t journal_spawn_scene(scenes_t *scenes, const bp_scene_o *scene, world_t *world, uint32_t flags,
                                uint32_t list, bp_entity_t *entities, bp_spawn_t *spawn);

/* End the entities of a spawn and its list. Returns how many died. [main] */
uint32_t journal_despawn_list(scenes_t *scenes, destruction_t *destruction, bp_spawn_t spawn);

#endif
