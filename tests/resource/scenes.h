/* scenes.h - blobs that the tests of scenes share.
 *
 * What it does not do: it spawns nothing.
 */
#ifndef TESTS_RESOURCE_SCENES_H
#define TESTS_RESOURCE_SCENES_H

#include "../unit/support.h"

#include "scene/blob_write.h"

/* Memory and errors without a host. */
typedef struct desk_t {
    heap_t heap;
    memory_t memory;
    error_text_t error;
} desk_t;

/* The call works; else the desk's sentence is shown. */
#define WORKS_AT(desk, call)                                                        \
    do {                                                                            \
        bp_result_t result_ = (call);                                               \
        EXPECT(result_ == BP_OK, "%s: %d: %s", #call, result_, (desk)->error.text); \
    } while (0)

void desk_open(desk_t *desk);

/* All memory must be back. */
void desk_close(desk_t *desk);

/* A blob in a block of exactly its size. */
typedef struct blob_bytes_t {
    unsigned char *bytes;
    size_t size;
} blob_bytes_t;

void desk_free(desk_t *desk, blob_bytes_t bytes);

/* One of everything: 3 groups (2 entities with body and two fogs, 3 with nothing, 1 with body and secret), all types of
 * version 1 of the format, a column and a single value of each, opaque bytes, parents, a clock, texts and names. */
blob_bytes_t scene_of_everything(desk_t *desk);

/* Three groups: LEVEL_LOTS entities with body, label, pool and kin; 2 with kin under two names and vault and tag; 3
 * with nothing. The parent of each of the first is the one behind it, that of the last the first with a vault. */
enum { LEVEL_LOTS = 40, LEVEL_ENTITIES = LEVEL_LOTS + 5 };
blob_bytes_t scene_of_a_level(desk_t *desk);

/* The same as contract 1 had it, with bytes that a manager had compiled. */
blob_bytes_t scene_of_an_old_level(desk_t *desk);

/* Compute the checksum anew, for tests that damage what lies behind it. */
void scene_seal(blob_bytes_t bytes);

#endif
