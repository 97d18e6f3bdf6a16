/* several.h - the worlds of one file: a blob for each, and which of their entities are the same.
 *
 *   head     32 bytes, as of a blob (blob.h), with a magic of its own
 *   worlds   a count, how many entities are in several of them, and a record for each world
 *   blobs    one for each world, each at a multiple of 64: what a save of that world alone would hold
 *   shared   for each entity of a blob the number, plus 1, that it has among those in several worlds, or 0; at a
 *            multiple of 64
 *
 * The layout is canonical, as that of a blob: a reader computes every offset.
 *
 * Not here: worlds (engine/host_several.c), what stands in a blob (blob_open).
 */
#ifndef HOST_SCENE_SEVERAL_H
#define HOST_SCENE_SEVERAL_H

#include "blob.h"

#define SEVERAL_MAGIC "\x89" "BPW\r\n\x1a\n"
#define SEVERAL_VERSION 1u

enum { SEVERAL_NAME = 72, SEVERAL_MOST = 4096 /* worlds */ };

/* One world that is being written to a file. */
typedef struct several_world_t {
    const char *name;
    const void *bytes; /* its blob */
    size_t size;
    const bp_entity_t *entities; /* by number in the blob */
    uint32_t count;
} several_world_t;

/* Make the bytes of a file from worlds; a block from `memory`, the caller's. Errors: MEMORY. [main] */
bp_result_t several_write(memory_t *memory, const several_world_t *worlds, uint32_t count, void **bytes, size_t *size,
                          error_text_t *error);

/* One world in a file. */
typedef struct several_part_t {
    const char *name;
    const void *bytes;
    size_t size;
    const uint32_t *shared; /* by number in the blob: a number + 1, or 0 */
    uint32_t count;         /* entities */
} several_part_t;

typedef struct several_t {
    uint32_t count;  /* worlds */
    uint32_t shared; /* entities that are in several */
    const unsigned char *bytes;
} several_t;

/* Is it such a file, by how it begins? */
bool several_is_one(const void *bytes, size_t size);

/* Check everything but the blobs. The bytes stay the caller's. Errors: SYNTAX, ABI. [main] */
bp_result_t several_open(several_t *several, const void *bytes, size_t size, const char *origin, error_text_t *error);
several_part_t several_part(const several_t *several, uint32_t number);

#endif
