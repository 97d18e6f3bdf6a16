/* compile.h - the entity compiler: scenes that people write as JSON, to blobs.
 *
 * docs/scenes.md describes what a scene may hold, blob.h the form of the blob.
 *
 * The host is as it was before, whether compiling succeeds or not.
 *
 * Not here: creating entities (spawn.h).
 */
#ifndef HOST_SCENE_COMPILE_H
#define HOST_SCENE_COMPILE_H

#include "../plugin/registry.h"
#include "../plugin/verbs.h"

/* Compile `size` bytes of JSON, called `origin` in messages, to a blob in a block from `memory` that is then the
 * caller's. On failure nothing is kept and the error begins with "origin:line:column: ". [main] */
bp_result_t scene_compile(base_t *base, memory_t *memory, const registry_t *registry, const char *origin,
                          const char *json, size_t size, void **bytes, size_t *blob_size);

#endif
