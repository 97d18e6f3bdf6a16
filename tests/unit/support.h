/* support.h - what the tests of the host share: hosts whose memory and log are watched.
 *
 * A rig is a host with an allocator that checks every size it is told, moves every block it resizes and
 * fills new memory with a pattern; rig_close then wants all of it back and an empty log. Tests that need
 * another kind of host set rig.desc before rig_open, or make hosts of their own.
 *
 * What it does not do: it declares no components (zoo.h), and its heap is for one thread.
 */
#ifndef TESTS_UNIT_SUPPORT_H
#define TESTS_UNIT_SUPPORT_H

#include <backplane.h>
#include <check.h>
#include <stdbool.h>
#include <stdio.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
/* From here on: a plugin that has crashed keeps what it holds, which is no leak to be told of. */
#define KEEPS_MEMORY() __lsan_disable()
#else
#define KEEPS_MEMORY() ((void)0)
#endif

/* An allocator that counts, and fails on demand. Requests are counted from 1; freeing is no request. */
typedef struct heap_t {
    size_t bytes, blocks;
    uint64_t requests;
    uint64_t refuse_first, refuse_last; /* requests of these numbers fail; 0: none */
    uint64_t refused;
    size_t largest; /* block asked for since a test set this to 0 */
} heap_t;

bp_allocator_i heap_allocator(heap_t *heap);

/* Log lines, one after another as "source: level: text\n". */
typedef struct log_text_t {
    char text[4096];
    uint32_t count;
    bp_log_i target; /* what log_into hands out */
} log_text_t;

const bp_log_i *log_into(log_text_t *log);

typedef struct rig_t {
    heap_t heap;
    bp_allocator_i allocator; /* of the heap */
    log_text_t log;
    bp_host_desc_t desc; /* what rig_open made the host from */
    bp_host_o *host;
    const bp_api_t *api;
} rig_t;

/* A host with the rig's heap and log, seed 1, tag 1 and the plugins of zoo.h linked in, none of them
 * loaded. */
void rig_init(rig_t *rig);
void rig_open(rig_t *rig);

/* The same with these plugins linked in, in place of those of zoo.h. */
void rig_open_with(rig_t *rig, const bp_plugin_head_t *const *plugins, uint32_t count);

/* rig_init, rig_open, and all plugins of zoo.h loaded. */
void rig_open_zoo(rig_t *rig);

/* A world with every component of zoo.h. */
bp_world_o *rig_world(rig_t *rig, const char *name);

/* End the host; its memory must be back and its log empty. */
void rig_close(rig_t *rig);

/* The key of a component under an instance name; name "" is the type's own. */
uint32_t key_of(bp_world_o *world, const char *type, const char *name);

/* The prototype of up to four types under their own names; NULL ends the list early. */
uint32_t prototype_of(bp_world_o *world, const char *a, const char *b, const char *c, const char *d);

/* Walk the runs that have a component, as the host keeps them: begin with *cursor 0, stop when it returns 0. */
uint32_t next_run(bp_world_o *world, uint32_t component, uint32_t *cursor, bp_run_t *run);

/* The host's tables, host and last sentence, from a world. */
const bp_api_t *api_of(bp_world_o *world);
bp_host_o *host_of(bp_world_o *world);

/* One entity with one component; the state of a type's manager. */
bp_entity_t entity_with(bp_world_o *world, const char *type);
void *state_of(bp_world_o *world, const char *type);

/* Write `text` to `name` in the scratch folder; returns the file's path, good until the next call. */
const char *scratch_file(const char *name, const char *text);
const char *scratch_bytes(const char *name, const void *bytes, size_t size);

/* What has been written to a file that tmpfile made, as a text that the caller frees; closes the file. */
char *take_text(FILE *file, size_t *size);

/* The bytes of a library that a test is about to change: a library of Windows holds a checksum, which 0 says is not
 * there; of others nothing is changed. */
void forget_checksum(void *bytes, size_t size);

/* Memory of zeros that stays until the process ends, for the large arrays of a test. Those that are static are searched
 * for leaks at the end of every test of the program; this, at the end of those that have asked. */
void *room_of(size_t size);

/* A case of a suite: each of its tests runs between `begin` and `end`, and may take so many seconds. */
TCase *add_case(Suite *suite, const char *name, void (*begin)(void), void (*end)(void), int seconds);

/* As ck_assert_msg, for loops: Check takes a note of every assertion, which is slow; this one only speaks
 * up. */
#define EXPECT(condition, ...)         \
    do {                               \
        if (!(condition))              \
            ck_abort_msg(__VA_ARGS__); \
    } while (0)

/* The call succeeds; else the host's sentence is shown. */
#define WORKS(host, call)                                                            \
    do {                                                                             \
        bp_result_t result_ = (call);                                                \
        EXPECT(result_ == BP_OK, "%s: %d: %s", #call, result_, bp_host_error(host)); \
    } while (0)

/* The call fails with this code, and the host's sentence has `part` in it. */
#define FAILS(host, code, part, call)                                                                      \
    do {                                                                                                   \
        bp_result_t result_ = (call);                                                                      \
        EXPECT(result_ == (code), "%s: %d instead of %s: %s", #call, result_, #code, bp_host_error(host)); \
        EXPECT(strstr(bp_host_error(host), (part)) != NULL, "\"%s\" is not in: %s", (part),                \
               bp_host_error(host));                                                                       \
    } while (0)

/* The call fails with this code, and this is the host's whole sentence. */
#define SAID(host, code, whole, call)                                                                           \
    do {                                                                                                        \
        bp_result_t result_ = (call);                                                                           \
        EXPECT(result_ == (code), "%s: %d instead of %s: %s", #call, result_, #code, bp_host_error(host));      \
        EXPECT(strcmp(bp_host_error(host), (whole)) == 0, "\"%s\" is not: %s", (whole), bp_host_error(host)); \
    } while (0)

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

#if defined(__linux__)
/* How many maps of this process have `with` in their line of /proc/self/maps. */
uint32_t count_maps(const char *with);
#endif

#endif
