/* bp_share.h - worlds that several ranks share: the numbers by which all of them know entities, and each rank's part.
 *
 *     const bp_share_api *shares = (const bp_share_api *)api->registry->find(host, BP_SHARE_API, 1);
 *     uint64_t number = shares->durable(world, entity);
 *     ...
 *     if (shares->found(world, number, &entity)) ...
 *
 * A handle means an entity of one host. Where several hosts have parts of one world (bp_peers.h), an entity goes from
 * one to the other, and its handle does not: its durable number does. A manager, system or plugin that keeps handles in
 * a state of its own keeps durable numbers instead in such a world.
 *
 * Plugins and embedders call the host's table "bp_share". The host passes its calls on to the plugin that shares worlds
 * (plugins/mpi), which offers the table "sharer"; the host calls the sharer's entries with that plugin. Without such a
 * plugin no world is shared.
 *
 * What this header does not do: it sends nothing; that is the sharer's work.
 */
#ifndef BP_SHARE_H
#define BP_SHARE_H

#include "bp_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bp_plugin_t;

#define BP_SHARE_API "bp_share"
#define BP_SHARER_API "sharer"
#define BP_SHARER_RETURNS "cccrr"

/* What a rank has packed of the worlds that ranks share. */
typedef struct bp_parcel_t {
    const void *bytes; /* aligned to 8 */
    size_t size;
} bp_parcel_t;

/* What a rank has of a shared world. */
typedef struct bp_part_t {
    uint32_t struct_size; /* sizeof(bp_part_t) */
    uint32_t padding;
    uint64_t step;        /* of the world, when the ranks compared: numbers are of then */
    uint64_t entities;    /* its own */
    uint64_t copies;      /* of others' */
    uint64_t sent;        /* bytes, to all others, from the beginning on */
    double low[3], high[3]; /* its part of space; infinite at the outside */
} bp_part_t;

/* The host's table. All entries: [main]. */
typedef struct bp_share_api {
    uint32_t struct_size;
    uint32_t version;

    /* The number by which all ranks know an entity that lives here, the same as long as the entity lives, wherever it
     * is. 0 where the world is not shared, or the entity is dead. */
    uint64_t (BP_CALL *durable)(bp_world_o *world, bp_entity_t entity);

    /* The handle here of the entity with that number, in `*entity`: one of this rank's own, the copy of another rank's,
     * or a stand-in that something here refers to it by; {0} where there is none, and then 0 is returned. */
    uint32_t (BP_CALL *found)(bp_world_o *world, uint64_t durable, bp_entity_t *entity);

    /* What a rank had of a shared world when the ranks last compared their parts, as all of them know it: writes
     * part->struct_size bytes, which the caller has set to its sizeof. 0 where the world is not shared, the ranks have
     * not compared yet, or there is no such rank. */
    uint32_t (BP_CALL *part)(bp_world_o *world, uint32_t rank, bp_part_t *part);

    /* For resuming a recording on another number of ranks (`--resume`). `pack`: everything that this rank has of worlds
     * that are shared, as bytes that are good until the next call. `join`: this host has been brought to what some rank
     * of another job was, and becomes the rank that it is now. Where keeps_own is 0, what it has of shared worlds is
     * another rank's, and goes; then the entities of parcels come in; the next step deals them out. All ranks call
     * `join`. Between steps. BP_ERROR_STATE where no plugin shares worlds. */
    bp_result_t (BP_CALL *pack)(bp_host_o *host, const void **bytes, size_t *size);
    bp_result_t (BP_CALL *join)(bp_host_o *host, uint32_t keeps_own, const bp_parcel_t *parcels, uint32_t count);
} bp_share_api;

/* The sharer's table: the same, asked of the plugin that offers it. Only one plugin of a host may offer it. [main] */
typedef struct bp_sharer_api {
    uint32_t struct_size;
    uint32_t version;

    uint64_t (BP_CALL *durable)(const struct bp_plugin_t *plugin, bp_world_o *world, bp_entity_t entity);
    uint32_t (BP_CALL *found)(const struct bp_plugin_t *plugin, bp_world_o *world, uint64_t durable,
                              bp_entity_t *entity);
    uint32_t (BP_CALL *part)(const struct bp_plugin_t *plugin, bp_world_o *world, uint32_t rank, bp_part_t *part);
    bp_result_t (BP_CALL *pack)(const struct bp_plugin_t *plugin, const void **bytes, size_t *size);
    bp_result_t (BP_CALL *join)(const struct bp_plugin_t *plugin, uint32_t keeps_own, const bp_parcel_t *parcels,
                                uint32_t count);
} bp_sharer_api;

#ifdef __cplusplus
}
#endif
#endif
