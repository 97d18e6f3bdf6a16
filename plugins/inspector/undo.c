/* undo.c - values as they were before a call set them (undo.h).
 *
 * A value is kept as bp_property_api.get gives it. What get only points to - items of a list, texts - is copied behind
 * it, since a set may free it.
 */
#include "undo.h"

#include "values.h"

#include <stdio.h>

typedef struct undo_t {
    struct undo_t *next; /* set earlier */
    bp_path_t path;
    char *more;          /* items of a list, then texts */
    size_t more_size;
    bp_value_t cell[];   /* path.property.size bytes */
} undo_t;

static size_t size_of(const undo_t *undo)
{
    return sizeof *undo + undo->path.property.size;
}

static void free_undo(const inspector_t *in, undo_t *undo)
{
    allocator_free(&in->allocator, undo->more, undo->more_size);
    allocator_free(&in->allocator, undo, size_of(undo));
}

/* The values of a cell, and how many: those of a list lie elsewhere. */
static char *values_of(undo_t *undo, uint32_t *count)
{
    const bp_property_t *property = &undo->path.property;
    bp_list_t list = {undo->cell, property->element == BP_NONE ? property->count : 1, 0};
    if (values_is_whole(property) && (property->flags & BP_FIELD_LIST))
        memcpy(&list, undo->cell, sizeof list);
    *count = list.count;
    return list.items;
}

/* Copy what the cell points to, and have it point to the copy. False when out of memory. */
static bool copy_more(const inspector_t *in, undo_t *undo)
{
    uint32_t count;
    char *values = values_of(undo, &count);
    bool list = values != (char *)undo->cell, texts = undo->path.property.type == BP_STRING;
    size_t items = list ? (size_t)count * shape_size(undo->path.property.type) : 0;
    undo->more_size = items;
    for (uint32_t i = 0; texts && i < count; i++)
        undo->more_size += strlen(((const char **)(void *)values)[i]) + 1;
    if (undo->more_size == 0)
        return true;
    undo->more = allocator_make(&in->allocator, undo->more_size);
    if (undo->more == NULL)
        return false;
    if (list) {
        memcpy(undo->more, values, items);
        memcpy(undo->cell, &(bp_list_t){undo->more, count, 0}, sizeof(bp_list_t));
        values = undo->more;
    }
    char *at = undo->more + items;
    for (uint32_t i = 0; texts && i < count; i++) {
        const char **text = (const char **)(void *)values + i;
        size_t size = strlen(*text) + 1;
        memcpy(at, *text, size);
        *text = at;
        at += size;
    }
    return true;
}

bool undo_note(ask_t *ask, const bp_path_t *path)
{
    const inspector_t *in = ask->in;
    undo_t *undo = allocator_make(&in->allocator, sizeof *undo + path->property.size);
    if (undo == NULL)
        return ask_fail(ask, RPC_INTERNAL, "out of memory");
    undo->path = *path;
    bp_property_t *property = &undo->path.property;
    if (in->api->property->get(path->world, property, &path->entity, 1, undo->cell, property->size) != BP_OK) {
        free_undo(in, undo); /* setting it fails too, and says why */
        return true;
    }
    if (!copy_more(in, undo)) {
        free_undo(in, undo);
        return ask_fail(ask, RPC_INTERNAL, "out of memory");
    }
    undo->next = ask->undo;
    ask->undo = undo;
    return true;
}

/* Set a value as it was. Nothing is said where its component or its entity has been taken back. */
static void put_back(ask_t *ask, undo_t *undo)
{
    const bp_api_t *api = ask->in->api;
    size_t length = strlen(ask->why);
    bp_result_t result = api->property->set(undo->path.world, &undo->path.property, &undo->path.entity, 1, undo->cell,
                                            undo->path.property.size);
    if (result == BP_ERROR_RANGE)
        snprintf(ask->why + length, sizeof ask->why - length,
                 "; a value that the call has set stays, since its former one is refused: %s",
                 api->error->last(ask->in->host));
}

void undo_end(ask_t *ask)
{
    const inspector_t *in = ask->in;
    for (undo_t *undo; (undo = ask->undo) != NULL;) {
        ask->undo = undo->next;
        if (ask->code != 0)
            put_back(ask, undo);
        free_undo(in, undo);
    }
}
