/* scene_no_json.c - what stands in for json_*.c where the library is built without jansson: on Windows, for now.
 *
 * Blobs are spawned there as everywhere; JSON is compiled to them elsewhere.
 */
#include "scene_compile.h"

bp_result_t scene_compile(base_t *base, memory_t *memory, const registry_t *registry, const scene_managers_i *managers,
                          const char *origin, const char *json, size_t size, void **bytes, size_t *blob_size)
{
    (void)memory, (void)registry, (void)managers, (void)json, (void)size, (void)bytes, (void)blob_size;
    return error_set(&base->error, BP_ERROR_ABI,
                     "%s: this library was built without jansson and reads no JSON; compile the scene with `backplane compile` elsewhere, "
                     "and use the .bpe file", origin);
}
