/* several.c - the layout of a file of several worlds, written and read.
 *
 * All entities are sorted by their ids, so that the places of one entity in several worlds lie side by side.
 */
#include "several.h"

#include "../base/error.h"
#include "../base/strings.h"

#include <stdlib.h>

typedef struct several_info_t {
    uint32_t worlds, shared;
    uint64_t reserved[3];
} several_info_t;

typedef struct several_record_t {
    char name[SEVERAL_NAME]; /* with its zero */
    uint64_t blob, size;     /* where it begins, and its bytes */
    uint64_t list;           /* where its numbers begin */
    uint32_t entities, reserved;
} several_record_t;

BP_STATIC_ASSERT(sizeof(several_info_t) == 32 && sizeof(several_record_t) == 104,
                 "the layout of files does not change");

enum { HEAD = sizeof(blob_head_t), RECORDS = sizeof(blob_head_t) + sizeof(several_info_t) };

static const several_record_t *records_of(const unsigned char *bytes)
{
    return (const several_record_t *)(const void *)(bytes + RECORDS);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

typedef struct place_t {
    uint64_t id;
    uint32_t world, number;
} place_t;

static int compare_places(const void *a, const void *b)
{
    const place_t *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->world < y->world ? -1 : x->world > y->world;
}

/* Fill the lists of shared numbers; returns how many there are. */
static uint32_t number_shared(place_t *places, size_t count, uint32_t *const *lists)
{
    uint32_t shared = 0;
    qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && places[end].id == places[i].id;)
            end++;
        shared += end - i > 1;
        for (size_t k = i; k < end; k++)
            lists[places[k].world][places[k].number] = end - i > 1 ? shared : 0;
    }
    return shared;
}

static uint64_t lay_out(several_record_t *records, const several_world_t *worlds, uint32_t count)
{
    uint64_t end = RECORDS + (uint64_t)count * sizeof *records;
    for (uint32_t i = 0; i < count; i++) {
        records[i] = (several_record_t){.blob = blob_align(end, BLOB_ALIGN),
                                        .size = worlds[i].size,
                                        .entities = worlds[i].count};
        size_t length = strlen(worlds[i].name);
        memcpy(records[i].name, worlds[i].name, length < SEVERAL_NAME ? length : SEVERAL_NAME - 1);
        records[i].list = blob_align(records[i].blob + records[i].size, BLOB_ALIGN);
        end = records[i].list + (uint64_t)records[i].entities * sizeof(uint32_t);
    }
    return end;
}

static void fill(unsigned char *bytes, uint64_t size, const several_world_t *worlds, uint32_t count, place_t *places,
                 uint32_t **lists)
{
    several_info_t info = {.worlds = count};
    const several_record_t *records = records_of(bytes);
    size_t at = 0;
    for (uint32_t w = 0; w < count; w++) {
        memcpy(bytes + records[w].blob, worlds[w].bytes, worlds[w].size);
        lists[w] = (uint32_t *)(void *)(bytes + records[w].list);
        for (uint32_t i = 0; i < worlds[w].count; i++)
            places[at++] = (place_t){worlds[w].entities[i].id, w, i};
    }
    info.shared = number_shared(places, at, lists);
    memcpy(bytes + HEAD, &info, sizeof info);
    blob_head_t head = {.byte_order = BLOB_BYTE_ORDER, .version = SEVERAL_VERSION, .size = size};
    memcpy(head.magic, SEVERAL_MAGIC, sizeof head.magic);
    head.checksum = hash_bytes(bytes + HEAD, (size_t)size - HEAD);
    memcpy(bytes, &head, sizeof head);
}

bp_result_t several_write(memory_t *memory, const several_world_t *worlds, uint32_t count, void **out, size_t *out_size,
                          error_text_t *error)
{
    size_t entities = 0, record_size = (count + (size_t)1) * sizeof(several_record_t);
    for (uint32_t i = 0; i < count; i++)
        entities += worlds[i].count;
    several_record_t *records = memory_new(memory, record_size);
    uint64_t size = records == NULL ? 0 : lay_out(records, worlds, count);
    size_t place_size = (entities + 1) * sizeof(place_t), list_size = (count + (size_t)1) * sizeof(uint32_t *);
    place_t *places = memory_resize(memory, NULL, 0, place_size);
    uint32_t **lists = memory_new(memory, list_size);
    unsigned char *bytes = records == NULL ? NULL : memory_resize_cleared(memory, NULL, 0, (size_t)size);
    bool good = records != NULL && places != NULL && lists != NULL && bytes != NULL;
    if (good) {
        memcpy(bytes + RECORDS, records, count * sizeof *records);
        fill(bytes, size, worlds, count, places, lists);
        *out = bytes;
        *out_size = (size_t)size;
    } else {
        memory_free(memory, bytes, (size_t)size);
    }
    memory_free(memory, records, record_size);
    memory_free(memory, places, place_size);
    memory_free(memory, lists, list_size);
    return good ? BP_OK : error_memory(error, "saving several worlds");
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

bool several_is_one(const void *bytes, size_t size)
{
    return size >= sizeof(blob_head_t) && memcmp(bytes, SEVERAL_MAGIC, sizeof SEVERAL_MAGIC - 1) == 0;
}

static bp_result_t broken(const char *origin, error_text_t *error, const char *what)
{
    return error_set(error, BP_ERROR_SYNTAX, "%s: a damaged file of several worlds: %s", origin, what);
}

static const char *check_record(const several_t *s, uint32_t number, uint64_t *end, uint64_t size)
{
    const several_record_t *r = &records_of(s->bytes)[number];
    if (memchr(r->name, '\0', SEVERAL_NAME) == NULL || r->name[0] == '\0')
        return "a world without a name";
    if (r->blob != blob_align(*end, BLOB_ALIGN) || r->blob > size || r->size > size - r->blob)
        return "a world that lies elsewhere";
    if (r->list != blob_align(r->blob + r->size, BLOB_ALIGN) || r->list > size ||
        r->entities > (size - r->list) / sizeof(uint32_t))
        return "a list of entities that lies elsewhere";
    const uint32_t *list = (const uint32_t *)(const void *)(s->bytes + r->list);
    for (uint32_t i = 0; i < r->entities; i++) {
        if (list[i] > s->shared)
            return "an entity with a number that there is not";
    }
    for (uint32_t i = 0; i < number; i++) {
        if (strcmp(records_of(s->bytes)[i].name, r->name) == 0)
            return "two worlds of one name";
    }
    *end = r->list + (uint64_t)r->entities * sizeof(uint32_t);
    return NULL;
}

bp_result_t several_open(several_t *several, const void *bytes, size_t size, const char *origin, error_text_t *error)
{
    const blob_head_t *head = bytes;
    *several = (several_t){.bytes = bytes};
    if (!several_is_one(bytes, size))
        return error_set(error, BP_ERROR_SYNTAX, "%s: it is no file of several worlds", origin);
    if (head->byte_order != BLOB_BYTE_ORDER || head->version != SEVERAL_VERSION)
        return error_set(error, BP_ERROR_ABI,
                         "%s: several worlds in version %u of their format; this program reads version %u", origin,
                         head->version, SEVERAL_VERSION);
    if (size < RECORDS || head->size != size)
        return broken(origin, error, "it is cut short");
    if (head->checksum != hash_bytes(several->bytes + HEAD, size - HEAD))
        return broken(origin, error, "its checksum is another one");
    const several_info_t *info = (const several_info_t *)(const void *)(several->bytes + HEAD);
    uint64_t end = RECORDS + (uint64_t)info->worlds * sizeof(several_record_t);
    several->count = info->worlds;
    several->shared = info->shared;
    if (info->worlds > SEVERAL_MOST || end > size || info->shared > size)
        return broken(origin, error, "it counts more than it holds");
    for (uint32_t i = 0; i < several->count; i++) {
        const char *what = check_record(several, i, &end, size);
        if (what != NULL)
            return broken(origin, error, what);
    }
    return end == size ? BP_OK : broken(origin, error, "something stands behind its end");
}

several_part_t several_part(const several_t *several, uint32_t number)
{
    const several_record_t *r = &records_of(several->bytes)[number];
    return (several_part_t){.name = r->name,
                            .bytes = several->bytes + r->blob,
                            .size = (size_t)r->size,
                            .shared = (const uint32_t *)(const void *)(several->bytes + r->list),
                            .count = r->entities};
}
