/* table_share.c - the table bp_share: what is asked about worlds that several ranks share, passed on to the plugin that
 * shares them. The plugin's table is found anew each time: the plugin may come and go. */
#include "../base/error.h"
#include "host.h"

#include <bp_share.h>

static const bp_sharer_api *find_sharer(bp_host_o *host, const bp_plugin_t **plugin)
{
    const bp_sharer_api *sharer = registry_table(&host->registry, BP_SHARER_API, 1);
    const plugin_t *owner = registry_table_owner(&host->registry, BP_SHARER_API);
    if (sharer == NULL || sharer->version == 0 || owner == NULL || plugin_is_aside(owner))
        return NULL;
    *plugin = &owner->handed;
    return sharer;
}

static uint64_t durable(bp_world_o *world, bp_entity_t entity)
{
    const bp_plugin_t *plugin;
    const bp_sharer_api *sharer = find_sharer(world->rows.host, &plugin);
    return sharer == NULL ? 0 : sharer->durable(plugin, world, entity);
}

static uint32_t found(bp_world_o *world, uint64_t number, bp_entity_t *entity)
{
    const bp_plugin_t *plugin;
    const bp_sharer_api *sharer = find_sharer(world->rows.host, &plugin);
    *entity = (bp_entity_t){0};
    return sharer == NULL ? 0 : sharer->found(plugin, world, number, entity);
}

static uint32_t part(bp_world_o *world, uint32_t rank, bp_part_t *out)
{
    const bp_plugin_t *plugin;
    const bp_sharer_api *sharer = find_sharer(world->rows.host, &plugin);
    return sharer == NULL ? 0 : sharer->part(plugin, world, rank, out);
}

static bp_result_t refuse(bp_host_o *host)
{
    return error_set(&host->base.error, BP_ERROR_STATE, "no plugin of this host shares worlds with other ranks");
}

static bp_result_t pack(bp_host_o *host, const void **bytes, size_t *size)
{
    const bp_plugin_t *plugin;
    const bp_sharer_api *sharer = find_sharer(host, &plugin);
    *bytes = NULL;
    *size = 0;
    return sharer == NULL ? refuse(host) : sharer->pack(plugin, bytes, size);
}

static bp_result_t join(bp_host_o *host, uint32_t keeps_own, const bp_parcel_t *parcels, uint32_t count)
{
    const bp_plugin_t *plugin;
    const bp_sharer_api *sharer = find_sharer(host, &plugin);
    return sharer == NULL ? refuse(host) : sharer->join(plugin, keeps_own, parcels, count);
}

const bp_share_api host_share_table = {
    .struct_size = sizeof host_share_table,
    .version = 1,
    .durable = durable,
    .found = found,
    .part = part,
    .pack = pack,
    .join = join,
};
