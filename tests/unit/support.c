/* support.c - the watched heap, the log and hosts over them.
 *
 * The heap keeps a header of 16 bytes in front of each block: the size, so that a caller who forgets what
 * it asked for is found at once, and a mark that a freed block has lost. Resizing always moves, so that the sanitizers
 * find uses of an old address; new bytes are filled, so that tests find code that relies on cleared memory. Freed bytes
 * are filled too, and behind each block are some more: an address that is read from either is one that no memory can
 * have, and what is written behind a block is found when it is freed. AddressSanitizer finds both itself. Blocks of
 * more than MOST bytes are refused, since they would be filled too: that takes seconds, and more memory than many
 * machines have. Damaged input may ask for such blocks.
 */
#include "support.h"

#include "zoo.h"

#include "step/schedule.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TEST_SCRATCH_DIR
#error "TEST_SCRATCH_DIR is the folder for files of tests"
#endif

/* --- large arrays ----------------------------------------------------------------------------------------- */

typedef struct room_t {
    struct room_t *next;
    max_align_t bytes[];
} room_t;

void *room_of(size_t size)
{
    static room_t *rooms;
    room_t *room = calloc(1, sizeof *room + size);
    EXPECT(room != NULL, "no memory for %zu bytes", size);
    room->next = rooms;
    rooms = room;
    return room->bytes;
}

/* --- heap ----------------------------------------------------------------------------------------------- */

/* Blocks are filled with patterns, so that bytes are seen that are read before they are written, or after they are
 * freed. Of a large one both ends: a page that nothing else touches costs more than all else that is done with it. With
 * AddressSanitizer, which watches what is behind a block and what is freed, little. */
#if defined(__SANITIZE_ADDRESS__)
enum { BEHIND = 0, FILLED = 4 << 10, FILLED_FREED = 0 };
#else
enum { BEHIND = 64, FILLED = 256 << 10, FILLED_FREED = 256 << 10 };
#endif

enum { HEADER = 16, PATTERN = 0xA5, FREED = 0x5A, MOST = 256 << 20 };
static const size_t living_mark = 0x4B434F4C42;

static void fill_ends(char *block, size_t size, int pattern, size_t most)
{
    if (size <= 2 * most) {
        memset(block, pattern, size);
    } else {
        memset(block, pattern, most);
        memset(block + size - most, pattern, most);
    }
}

/* The request is counted. Is it one of those that are to fail? */
static bool is_refused(heap_t *heap, size_t size)
{
    heap->requests++;
    heap->largest = size > heap->largest ? size : heap->largest;
    bool refused = heap->refuse_first != 0 && heap->requests >= heap->refuse_first &&
                   heap->requests <= heap->refuse_last;
    heap->refused += refused ? 1 : 0;
    return refused;
}

static char *begin_block(heap_t *heap, char *start, size_t size)
{
    const size_t header[2] = {size, living_mark};
    memcpy(start, header, sizeof header);
    heap->bytes += size;
    heap->blocks++;
    return start + HEADER;
}

static void check_block(const char *block, size_t size)
{
    size_t header[2], behind = BEHIND;
    memcpy(header, block - HEADER, sizeof header);
    EXPECT(header[1] == living_mark, "a block is freed that is none");
    EXPECT(header[0] == size, "a block of %zu bytes is freed as one of %zu", header[0], size);
    for (size_t i = 0; i < behind; i++)
        EXPECT((unsigned char)block[size + i] == PATTERN, "byte %zu behind a block of %zu bytes is written to", i,
               size);
}

/* The block has been checked. Returns where its memory begins. */
static char *end_block(heap_t *heap, char *block, size_t size)
{
    memset(block - HEADER, 0, HEADER);
    heap->bytes -= size;
    heap->blocks--;
    return block - HEADER;
}

/* Large blocks that become smaller mostly stay where they are, as those of a C library do. */
static char *shrink_block(heap_t *heap, char *block, size_t old_size, size_t new_size)
{
    char *start = end_block(heap, block, old_size);
    char *moved = realloc(start, HEADER + new_size + BEHIND);
    start = moved != NULL ? moved : start;
    memset(start + HEADER + new_size, PATTERN, BEHIND);
    return begin_block(heap, start, new_size);
}

static void *heap_resize(void *context, void *old, size_t old_size, size_t new_size)
{
    heap_t *heap = context;
    EXPECT(old != NULL || old_size == 0, "no block has %zu bytes", old_size);
    if (new_size > 0 && (is_refused(heap, new_size) || new_size > MOST))
        return NULL;
    if (old != NULL)
        check_block(old, old_size);
    if (new_size > 2 * FILLED && new_size < old_size)
        return shrink_block(heap, old, old_size, new_size);
    char *block = NULL;
    if (new_size > 0) {
        char *start = malloc(HEADER + new_size + BEHIND);
        if (start == NULL)
            return NULL;
        fill_ends(start + HEADER, new_size + BEHIND, PATTERN, FILLED);
        block = begin_block(heap, start, new_size);
    }
    if (old != NULL && block != NULL)
        memcpy(block, old, old_size < new_size ? old_size : new_size);
    if (old != NULL) {
        fill_ends(old, old_size, FREED, FILLED_FREED);
        free(end_block(heap, old, old_size));
    }
    return block;
}

bp_allocator_i heap_allocator(heap_t *heap)
{
    return (bp_allocator_i){.context = heap, .resize = heap_resize};
}

/* --- log ------------------------------------------------------------------------------------------------ */

/* What hosts of other processes have left behind when they were killed depends on what runs beside this test. */
static bool is_about_others(const char *text)
{
    return strncmp(text, "removed ", 8) == 0 && strstr(text, " of hosts that were killed") != NULL;
}

static void write_line(void *context, int32_t level, const char *source, const char *text)
{
    log_text_t *log = context;
    if (is_about_others(text))
        return;
    size_t used = strlen(log->text);
    snprintf(log->text + used, sizeof log->text - used, "%s: %d: %s\n", source, level, text);
    log->count++;
}

const bp_log_i *log_into(log_text_t *log)
{
    log->target = (bp_log_i){.struct_size = sizeof log->target, .context = log, .write = write_line};
    return &log->target;
}

/* --- rigs ----------------------------------------------------------------------------------------------- */

void rig_init(rig_t *rig)
{
    memset(rig, 0, sizeof *rig);
    rig->allocator = heap_allocator(&rig->heap);
    rig->desc = (bp_host_desc_t){
        .struct_size = sizeof(bp_host_desc_t),
        .seed = 1,
        .tag = 1,
        .allocator = &rig->allocator,
        .log = log_into(&rig->log),
        .static_plugins = zoo_plugins,
        .static_plugin_count = ZOO_PLUGINS,
    };
}

void rig_open(rig_t *rig)
{
    rig->host = bp_host_create(&rig->desc);
    ck_assert_ptr_nonnull(rig->host);
    rig->api = bp_host_api(rig->host);
}

void rig_open_with(rig_t *rig, const bp_plugin_head_t *const *plugins, uint32_t count)
{
    rig_init(rig);
    rig->desc.static_plugins = plugins;
    rig->desc.static_plugin_count = count;
    rig_open(rig);
}

void rig_open_zoo(rig_t *rig)
{
    rig_init(rig);
    rig_open(rig);
    for (uint32_t i = 0; i < ZOO_PLUGINS; i++)
        WORKS(rig->host, bp_host_load_plugin(rig->host, zoo_plugins[i]->name, NULL, 0));
}

bp_world_o *rig_world(rig_t *rig, const char *name)
{
    bp_world_o *world = bp_world_create(rig->host, &(bp_world_desc_t){.name = name, .step_rate = 50});
    EXPECT(world != NULL, "%s", bp_host_error(rig->host));
    for (uint32_t i = 0; zoo_components[i] != NULL; i++)
        WORKS(rig->host, bp_world_use_component(world, zoo_components[i]));
    return world;
}

void rig_close(rig_t *rig)
{
    bp_host_destroy(rig->host);
    EXPECT(rig->log.count == 0, "the log has: %s", rig->log.text);
    EXPECT(rig->heap.bytes == 0, "%zu bytes in %zu blocks are left", rig->heap.bytes, rig->heap.blocks);
}

/* --- short cuts ----------------------------------------------------------------------------------------- */

const bp_api_t *api_of(bp_world_o *world)
{
    return world->rows.api;
}

bp_host_o *host_of(bp_world_o *world)
{
    return world->rows.host;
}

uint32_t key_of(bp_world_o *world, const char *type, const char *name)
{
    uint32_t key;
    bp_name_t interned;
    uint32_t component = world->rows.api->world->component(world, type);
    EXPECT(component != BP_NONE, "%s", bp_host_error(world->rows.host));
    WORKS(world->rows.host, world->rows.api->name->intern(world->rows.host, name, &interned));
    WORKS(world->rows.host, world->rows.api->world->key(world, component, interned, &key));
    return key;
}

uint32_t prototype_of(bp_world_o *world, const char *a, const char *b, const char *c, const char *d)
{
    const char *const types[] = {a, b, c, d};
    uint32_t keys[COUNT(types)], count = 0, prototype;
    while (count < COUNT(types) && types[count] != NULL) {
        keys[count] = key_of(world, types[count], "");
        count++;
    }
    WORKS(world->rows.host, world->rows.api->world->prototype(world, keys, count, &prototype));
    return prototype;
}

bp_entity_t entity_with(bp_world_o *world, const char *type)
{
    bp_entity_t e;
    WORKS(world->rows.host, world->rows.api->world->create(world, prototype_of(world, type, NULL, NULL, NULL), &e, 1));
    return e;
}

void *state_of(bp_world_o *world, const char *type)
{
    bp_manager_t *manager = world->rows.api->world->manager(world, world->rows.api->world->component(world, type));
    ck_assert_ptr_nonnull(manager);
    return manager->state;
}

const char *scratch_bytes(const char *name, const void *bytes, size_t size)
{
    static char path[1024];
    snprintf(path, sizeof path, TEST_SCRATCH_DIR "/%s", name);
    FILE *file = fopen(path, "wb");
    EXPECT(file != NULL, "%s cannot be written", path);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

const char *scratch_file(const char *name, const char *text)
{
    return scratch_bytes(name, text, strlen(text));
}

char *take_text(FILE *file, size_t *size)
{
    ck_assert_ptr_nonnull(file);
    long length = ftell(file);
    ck_assert_int_ge(length, 0);
    char *text = malloc((size_t)length + 1);
    ck_assert_ptr_nonnull(text);
    rewind(file);
    *size = fread(text, 1, (size_t)length, file);
    ck_assert_uint_eq(*size, (size_t)length);
    text[*size] = '\0';
    fclose(file);
    return text;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* The cursor counts pairs of run and key: its high bits are the run, its low 8 bits the key's place in the chain. */
uint32_t next_run(bp_world_o *handle, uint32_t component, uint32_t *cursor, bp_run_t *view)
{
    const world_t *world = &handle->rows;
    const prototypes_t *p = &world->prototypes;
    for (uint32_t r = *cursor >> 8, skip = *cursor & 0xff; r < world->run_count; r++, skip = 0) {
        const run_t *run = world->runs[r];
        uint32_t place = 0;
        for (uint32_t at = run->prototype; at != 0 && run->count > 0; at = p->items[at].base, place++) {
            if (place < skip || p->keys[p->items[at].key].manager != component)
                continue;
            const manager_t *manager = world->managers[component];
            uint32_t first = p->items[p->items[at].base].columns;
            *cursor = r << 8 | (place + 1);
            *view = (bp_run_t){
                .struct_size = sizeof *view,
                .count = run->count,
                .manager = &world->managers[component]->verb.handed,
                .lists = &handle->rows.lists.outside.seen,
                .entities = run_entities(run),
                .prototype = run->prototype,
                .columns = manager->component->own_storage ? NULL : run->columns + first,
                .slots = manager->component->own_storage ? run->columns[first] : NULL,
                .instance = p->keys[p->items[at].key].name,
            };
            return 1;
        }
    }
    return 0;
}

/* --- Windows files ------------------------------------------------------------------------------------------------ */

void forget_checksum(void *bytes, size_t size)
{
    enum { WHERE_HEADER = 0x3c, WHERE_CHECKSUM = 0x58 };
    unsigned char *at = bytes;
    uint32_t header = 0;
    if (size < 2 || memcmp(at, "MZ", 2) != 0)
        return;
    ck_assert_uint_ge(size, WHERE_HEADER + sizeof header);
    memcpy(&header, at + WHERE_HEADER, sizeof header);
    ck_assert_uint_ge(size, (size_t)header + WHERE_CHECKSUM + sizeof header);
    memset(at + header + WHERE_CHECKSUM, 0, sizeof header);
}

TCase *add_case(Suite *suite, const char *name, void (*begin)(void), void (*end)(void), int seconds)
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, begin, end);
    tcase_set_timeout(tests, seconds);
    suite_add_tcase(suite, tests);
    return tests;
}

#if defined(__linux__)
uint32_t count_maps(const char *with)
{
    char line[4096];
    uint32_t count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof line, maps) != NULL)
        count += strstr(line, with) != NULL;
    fclose(maps);
    return count;
}
#endif
