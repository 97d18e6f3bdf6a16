/* join.c - the table of bp_share.h: numbers of entities, parts of ranks; and what a rank has of split worlds is handed
 * to other ranks between steps, where a job goes on from what was written down on another number of ranks.
 *
 * A parcel holds for each split world: a head, its name, then blocks of migrants (migrants.c).
 */
#include "split.h"

#include <stdio.h>
#include <string.h>

typedef struct parcel_head {
    uint64_t size;     /* of all that follows, up to the next head */
    uint64_t made;     /* numbers that the rank had given (durable.h) */
    uint64_t name_size;
} parcel_head;

/* Called for every kind of a split world with the rows of all its entities. */
static void each_kind(split_t *split, split_bytes *rows,
                      void (*call)(split_t *split, split_kind *kind, const bp_entity_t *entities, const uint32_t *rows,
                                   uint32_t count))
{
    bp_look_prototype_t found = {.struct_size = sizeof found};
    for (uint32_t cursor = 0; split->look->prototype(split->world, &cursor, &found);) {
        split_kind *kind = found.row_count == 0 ? NULL : split_kind_of(split, found.prototype);
        rows->size = 0;
        for (uint32_t i = 0; i < found.row_count && kind != NULL; i++)
            if (found.entities[i].id != 0)
                memcpy(split_append(split, rows, sizeof i), &i, sizeof i);
        if (kind != NULL && rows->size > 0)
            call(split, kind, found.entities, (const uint32_t *)(const void *)rows->at,
                 (uint32_t)(rows->size / sizeof(uint32_t)));
    }
}

static void pack_kind(split_t *split, split_kind *kind, const bp_entity_t *entities, const uint32_t *rows,
                      uint32_t count)
{
    split_pack_migrants(split, kind, entities, rows, count, 0);
}

static void pack_world(split_t *split, split_bytes *parcel)
{
    const char *name = split->system->api->world->name(split->world);
    parcel_head head = {.name_size = strlen(name) + 1};
    split_bytes rows = {0};
    uint64_t left = split->left, moved = split->moved, migrated = split->migrated;
    split->out[0].size = 0;
    each_kind(split, &rows, pack_kind);
    split->left = left; /* these entities have not gone to another rank */
    split->moved = moved;
    split->migrated = migrated;
    head.made = split->durable.made;
    head.size = sizeof head + split_filled((size_t)head.name_size) + split->out[0].size;
    split_append_bytes(split, parcel, &head, sizeof head);
    split_append_bytes(split, parcel, name, (size_t)head.name_size);
    split_append_bytes(split, parcel, split->out[0].at, split->out[0].size);
    split_resize(split, rows.at, rows.room, 0);
}

static bp_result_t BP_CALL pack(const bp_plugin_t *plugin, const void **bytes, size_t *size)
{
    split_worlds *worlds = plugin->state;
    worlds->packed.size = 0;
    for (split_t *split = worlds->first; split != NULL; split = split->next) {
        split_take_kept(split);
        if (split->begun)
            pack_world(split, &worlds->packed);
    }
    *bytes = worlds->packed.at;
    *size = worlds->packed.size;
    return BP_OK;
}

/* --- joining ------------------------------------------------------------------------------------------------------ */

/* Entities of these rows are another rank's. */
static void give_up_kind(split_t *split, split_kind *kind, const bp_entity_t *entities, const uint32_t *rows,
                         uint32_t count)
{
    const bp_api_t *api = split->system->api;
    split->values.size = 0;
    bp_entity_t *gone = (bp_entity_t *)(void *)split_append(split, &split->values, count * sizeof *gone);
    for (uint32_t i = 0; i < count; i++)
        gone[i] = entities[rows[i]];
    for (uint32_t k = 0; k < kind->key_count; k++)
        split_done(split, api->world->remove(split->world, kind->keys[k], gone, count));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = bp_entity_index(gone[i]);
        uint64_t id = split_number(split, gone[i]);
        if (split->refers) {
            split_know(split, index, id, true);
            continue;
        }
        durable_forget(&split->durable, index);
        split_end(split, gone[i]);
    }
}

/* The part of a parcel that is of this world; NULL where there is none. */
static const char *part_of(const split_t *split, const void *parcel, size_t size, parcel_head *head)
{
    const char *at = parcel, *end = at + size, *name = split->system->api->world->name(split->world);
    for (; at < end; at += head->size) {
        memcpy(head, at, sizeof *head);
        if (strcmp(at + sizeof *head, name) == 0)
            return at;
    }
    return NULL;
}

static void take_part(split_t *split, const char *part, const parcel_head *head)
{
    size_t names = sizeof *head + split_filled((size_t)head->name_size);
    split->in.size = 0;
    split_append_bytes(split, &split->in, part + names, (size_t)head->size - names);
    split->in_at[0] = 0;
    for (uint32_t r = 1; r <= split->ranks; r++)
        split->in_at[r] = split->in.size;
    uint64_t came = split->came;
    split->buried.size = 0;
    split_receive_migrants(split, NULL);
    split_settle_migrants(split);
    split->came = came;
    split->durable.made = head->made > split->durable.made ? head->made : split->durable.made;
}

static void join_world(split_t *split, uint32_t keeps_own, const bp_parcel_t *parcels, uint32_t count)
{
    split_bytes rows = {0};
    bp_host_o *host = split->system->host;
    split_take_kept(split);
    split_forget_kinds(split);
    split_change_ranks(split, mpi_peers.count(host));
    split->rank = mpi_peers.rank(host);
    if (!split->begun)
        return; /* all ranks still have all entities */
    if (!keeps_own)
        each_kind(split, &rows, give_up_kind);
    split_resize(split, rows.at, rows.room, 0);
    for (uint32_t i = 0; i < count; i++) {
        parcel_head head;
        const char *part = part_of(split, parcels[i].bytes, parcels[i].size, &head);
        if (part != NULL)
            take_part(split, part, &head);
    }
    if (split->ranks > 1)
        split->durable.made = split_greatest(split, split->durable.made);
    else
        cut_space(NULL, 0, 1, split->nodes, split->parts);
    split->uneven = true;
}

static bp_result_t BP_CALL join(const bp_plugin_t *plugin, uint32_t keeps_own, const bp_parcel_t *parcels,
                                uint32_t count)
{
    const split_worlds *worlds = plugin->state;
    for (split_t *split = worlds->first; split != NULL; split = split->next)
        join_world(split, keeps_own, parcels, count);
    return BP_OK;
}

/* --- numbers and parts -------------------------------------------------------------------------------------------- */

split_t *split_of(const bp_plugin_t *plugin, const bp_world_o *world)
{
    split_t *split = ((const split_worlds *)plugin->state)->first;
    while (split != NULL && split->world != world)
        split = split->next;
    return split;
}

static uint64_t BP_CALL durable(const bp_plugin_t *plugin, bp_world_o *world, bp_entity_t entity)
{
    split_t *split = split_of(plugin, world);
    if (split == NULL || !split->begun || plugin->api->entity->alive(plugin->host, &entity, 1, NULL) != 1)
        return 0;
    return durable_of(&split->durable, entity, split->rank);
}

static uint32_t BP_CALL found(const bp_plugin_t *plugin, bp_world_o *world, uint64_t number, bp_entity_t *entity)
{
    const split_t *split = split_of(plugin, world);
    uint32_t index = split == NULL || !split->begun ? BP_NONE : durable_find(&split->durable, number);
    *entity = index == BP_NONE ? (bp_entity_t){0} : plugin->api->entity->at(plugin->host, index);
    return entity->id != 0;
}

static uint32_t BP_CALL part(const bp_plugin_t *plugin, bp_world_o *world, uint32_t rank, bp_part_t *out)
{
    const split_t *split = split_of(plugin, world);
    uint32_t size = out->struct_size;
    if (split == NULL || !split->begun || split->compared == 0 || rank >= split->ranks)
        return 0;
    const split_figures *figures = &split->figures[rank];
    bp_part_t now = {.struct_size = size, .step = split->compared - 1, .entities = figures->entities,
                     .copies = figures->copies, .sent = figures->sent};
    memcpy(now.low, split->parts[rank].low, sizeof now.low);
    memcpy(now.high, split->parts[rank].high, sizeof now.high);
    memcpy(out, &now, size < sizeof now ? size : sizeof now);
    return 1;
}

const bp_sharer_api split_sharer = {.durable = durable, .found = found, .part = part, .pack = pack, .join = join};
