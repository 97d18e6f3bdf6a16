/* lies.c - one or a few bytes of one chunk are changed at a time, then all checksums are computed anew. */
#include "lies.h"

#include "../unit/inspect.h"
#include "recall.h"

#include <base/strings.h>
#include <history/recording.h>

#include <stdlib.h>
#include <string.h>

enum { PLACES = 4096, MOST_BYTES = 1 << 24, LARGEST_BLOCK = 64 << 20 };

static size_t padded(uint64_t size)
{
    return ((size_t)size + 15) / 16 * 16;
}

/* Give every chunk the checksum that belongs to what is in it. */
static void sum_anew(char *bytes, size_t size)
{
    uint64_t before = 0;
    for (size_t at = 0; at + sizeof(chunk_t) <= size;) {
        chunk_t chunk;
        memcpy(&chunk, bytes + at, sizeof chunk);
        if (chunk.size > size - at - sizeof chunk)
            return;
        const char *behind = bytes + at + sizeof chunk;
        uint64_t words[2] = {0, chunk.size == 0 ? 0 : hash_bytes(behind, (size_t)chunk.size)};
        chunk.sum = before;
        words[0] = hash_bytes(&chunk, sizeof chunk);
        before = chunk.sum = hash_bytes(words, sizeof words);
        memcpy(bytes + at, &chunk, sizeof chunk);
        at += sizeof chunk + padded(chunk.size);
    }
}

/* Small chunks meet as many lies as large ones. */
static void lie(char *bytes, size_t size, uint64_t *random)
{
    size_t places[PLACES], count = 0;
    chunk_t chunk;
    for (size_t at = 0; at + sizeof chunk <= size && count < PLACES; at += sizeof chunk + padded(chunk.size)) {
        memcpy(&chunk, bytes + at, sizeof chunk);
        places[count++] = at;
    }
    size_t at = places[bp_random_below(random, (uint32_t)count)];
    memcpy(&chunk, bytes + at, sizeof chunk);
    char *inside = bytes + at + sizeof chunk;
    for (uint32_t left = 1 + bp_random_below(random, 3); left > 0 && chunk.size > 0; left--) {
        uint32_t place = bp_random_below(random, (uint32_t)chunk.size);
        int byte = bp_random_below(random, 2) == 0 ? inside[place] ^ (1 << bp_random_below(random, 8))
                                                   : (int)bp_random_below(random, 256);
        inside[place] = (char)byte;
    }
    if (chunk.size < 8 || bp_random_below(random, 8) > 0)
        return;
    size_t before = padded(chunk.size); /* this one ends early */
    chunk.size -= bp_random_below(random, (uint32_t)(chunk.size + 15) % 16 + 1);
    memset(inside + chunk.size, 0, before - (size_t)chunk.size);
    memcpy(bytes + at, &chunk, sizeof chunk);
}

/* --- played ------------------------------------------------------------------------------------------------------- */

/* The rig's memory, but no block of gigabytes, which a wrong count may ask for. */
static bp_allocator_i heap_of_rig;

static void *resize_within_reason(void *context, void *old, size_t old_size, size_t new_size)
{
    return new_size > LARGEST_BLOCK ? NULL : heap_of_rig.resize(context, old, old_size, new_size);
}

static void open_host(rig_t *rig)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin};
    rig_init(rig);
    rig->desc.static_plugins = plugins;
    rig->desc.static_plugin_count = 1;
    heap_of_rig = rig->allocator;
    rig->allocator.resize = resize_within_reason;
    rig_open(rig);
    recall_open(rig->host);
}

/* Play the file for at most so many steps; `what` is for sentences. */
static bp_result_t play(bp_host_o *host, const char *path, uint64_t steps, const char *what)
{
    const bp_playback_i check = {.struct_size = sizeof check, .flags = BP_PLAY_CHECK | BP_PLAY_ALL};
    bp_recording_t info = {.struct_size = sizeof info};
    bp_recording_o *recording;
    bp_result_t result = bp_recording_open(host, path, &recording);
    if (result != BP_OK) {
        EXPECT(strstr(bp_host_error(host), path) != NULL, "%s: %s", what, bp_host_error(host));
        return result;
    }
    bp_recording_info(recording, &info);
    uint64_t to = info.last - info.first > steps ? info.first + steps : info.last;
    result = bp_recording_play(recording, to, &check);
    EXPECT(result == BP_OK || bp_host_error(host)[0] != '\0', "%s: no sentence", what);
    bp_recording_close(recording);
    return result;
}

static char *read_whole(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    char *bytes = malloc(MOST_BYTES);
    EXPECT(in != NULL && bytes != NULL, "%s", path);
    *size = fread(bytes, 1, MOST_BYTES, in);
    fclose(in);
    return bytes;
}

lies_told_t lies_tell(const char *path, uint32_t count, uint64_t steps)
{
    lies_told_t told = {0};
    uint64_t random = 77;
    size_t size;
    char *good = read_whole(path, &size), *bytes = malloc(size);
    rig_t rig;
    ck_assert_ptr_nonnull(bytes);
    open_host(&rig);
    for (uint32_t i = 0; i < count; i++) {
        char what[32], name[64];
        snprintf(what, sizeof what, "lie %u", i);
        snprintf(name, sizeof name, "lies_%s", strrchr(path, '/') + 1);
        memcpy(bytes, good, size);
        if (i > 0)
            lie(bytes, size, &random);
        sum_anew(bytes, size);
        EXPECT(i > 0 || memcmp(bytes, good, size) == 0, "a checksum is another one");
        bp_result_t result = play(rig.host, scratch_bytes(name, bytes, size), steps, what);
        EXPECT(i > 0 || result == BP_OK, "what does not lie: %s", bp_host_error(rig.host));
        told.refused += result != BP_OK;
        told.played += result == BP_OK;
        if (i % 50 != 0)
            continue;
        check_host(rig.host);
        WORKS(rig.host, play(rig.host, path, steps, "the truth"));
        uint64_t end = recall_hash(rig.host);
        EXPECT(i == 0 || end == told.end, "after lie %u the truth is another one", i);
        told.end = end;
    }
    free(good);
    free(bytes);
    rig.log.count = 0;
    recall_close(&rig);
    return told;
}
