/* scenes.h - the scenes that a host has open, and the lists of spawned entities.
 *
 * A scene owns its bytes (mapped, or a block of the host's) or borrows them. A scene that its user does not close is
 * closed with the host. A spawn handle is a place in a table with a generation, so a stale handle leads to no spawn.
 *
 * Not here: spawning (spawn.h), destroying (destruction.h).
 */
#ifndef HOST_SCENE_SCENES_H
#define HOST_SCENE_SCENES_H

#include "several.h"

typedef enum scene_bytes_t { SCENE_BORROWED, SCENE_MAPPED, SCENE_OWNED } scene_bytes_t;

/* A scene of several worlds has `several` and a blob for each; of its own `blob` only bytes and size are then set. */
struct bp_scene_o {
    blob_t blob;
    several_t several; /* bytes NULL: it is of one world */
    blob_t *parts;
    bp_host_o *host;
    struct scenes_t *scenes;
    bp_scene_o *next, **link; /* of the host's list */
    char *origin;             /* path, or a text in its place, for messages */
    scene_bytes_t bytes;
};

typedef struct spawned_t {
    bp_entity_t *entities; /* NULL: the place is free */
    uint32_t count;
    uint32_t generation;
    uint32_t next_free;
} spawned_t;

typedef struct scenes_t {
    memory_t memory;
    base_t *base;
    bp_host_o *host;
    bp_scene_o *open;
    spawned_t *spawns;
    uint32_t spawn_count, spawn_capacity;
    uint32_t first_free; /* BP_NONE: none */
} scenes_t;

void scenes_init(scenes_t *scenes, base_t *base, bp_host_o *host);
void scenes_free(scenes_t *scenes);

static inline bool scenes_is_several(const bp_scene_o *scene)
{
    return scene->several.bytes != NULL;
}

/* The blobs of a scene: as many as it has worlds. */
static inline uint32_t scenes_parts(const bp_scene_o *scene)
{
    return scenes_is_several(scene) ? scene->several.count : 1;
}
static inline const blob_t *scenes_part(const bp_scene_o *scene, uint32_t number)
{
    return scenes_is_several(scene) ? &scene->parts[number] : &scene->blob;
}

/* Set the error of a call that needs a scene of one world, for a scene of several. */
bp_result_t scenes_refuse_several(const bp_scene_o *scene, const char *instead);

/* Open a file, or bytes that are borrowed. Errors: IO, those of blob_open and several_open. [main] */
bp_result_t scenes_open(scenes_t *scenes, const char *path, bp_scene_o **scene);
bp_result_t scenes_borrow(scenes_t *scenes, const void *bytes, size_t size, const char *origin, bp_scene_o **scene);

/* Make a scene of a block that blob_write_end has just made from `scenes->memory`; the block belongs to the scene from
 * now on, and is freed on failure too. Errors: MEMORY. [main] */
bp_result_t scenes_adopt(scenes_t *scenes, void *bytes, size_t size, const char *origin, bp_scene_o **scene);

void scenes_close(bp_scene_o *scene);

/* Take the memory for a list of `count` entities; *entities is to be filled. Errors: MEMORY, LIMIT. [main] */
bp_result_t scenes_new_spawn(scenes_t *scenes, uint32_t count, bp_entity_t **entities, bp_spawn_t *spawn);

/* The list of a spawn, or NULL where the handle is of no spawn (any more). [main] */
const spawned_t *scenes_spawned(const scenes_t *scenes, bp_spawn_t spawn);
void scenes_release(scenes_t *scenes, bp_spawn_t spawn);

/* scenes_take: end a handle and hand its list over to the caller. The function after it frees such a list. */
bp_entity_t *scenes_take(scenes_t *scenes, bp_spawn_t spawn, uint32_t *count);
void scenes_free_list(scenes_t *scenes, bp_entity_t *entities, uint32_t count);

#endif
