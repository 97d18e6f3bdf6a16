/* mpi.c - the plugin mpi: one ini on many processes, and on many machines, by MPI (docs/machines.md). */
#include "split.h"

static const bp_table_t tables[] = {BP_TABLE(BP_PEERS_API, 1, mpi_peers, BP_PEERS_RETURNS),
                                     BP_TABLE(BP_SHARER_API, 1, split_sharer, BP_SHARER_RETURNS),
                                     BP_TABLE(BP_VOTER_API, 1, split_voter, BP_VOTER_RETURNS)};

static const bp_field_t options[] = {
    [SPLIT_POSITION] = {.name = "position", .type = BP_STRING,
                        .doc = "of worlds with place = split: COMPONENT.PROPERTY, a vector, where an entity is"},
    [SPLIT_IDENTITY] = {.name = "identity", .type = BP_STRING,
                        .doc = "COMPONENT.PROPERTY of type u64 that is an entity's own on all ranks: audited with it"},
    [SPLIT_HALO] = {.name = "halo", .type = BP_F64, .min = "0", .initial = "0",
                    .doc = "how far from its part a rank has copies of others' entities; 0: none"},
    [SPLIT_UNEVEN] = {.name = "uneven", .type = BP_F64, .min = "0", .initial = "0.2",
                      .doc = "space is cut anew where a rank has more entities than the mean by this part of it"},
    [SPLIT_EVERY] = {.name = "every", .type = BP_U32, .initial = "100", .unit = "steps",
                     .doc = "from one look at that to the next; 0: space is cut once"},
    [SPLIT_AUDIT] = {.name = "audit", .type = BP_BOOL,
                     .doc = "count all entities in each step, and end the job where one is lost or there twice"},
    [SPLIT_COPIED] = {.name = "copied", .type = BP_STRING,
                      .doc = "COMPONENT.PROPERTY ...: what copies have beside what systems ask for by terms; where "
                             "neither says anything: all"},
};

static bp_result_t load(bp_plugin_t *plugin)
{
    bp_result_t result = plugin->state != NULL ? BP_OK : mpi_join(plugin);
    if (result != BP_OK || plugin->state != NULL)
        return result;
    split_worlds *worlds = plugin->api->memory->resize(plugin, NULL, 0, sizeof *worlds);
    if (worlds == NULL)
        return plugin->api->error->set(plugin->host, BP_ERROR_MEMORY, "mpi: out of memory at its start");
    *worlds = (split_worlds){.first = NULL};
    plugin->state = worlds;
    return BP_OK;
}

static void unload(bp_plugin_t *plugin)
{
    split_worlds *worlds = plugin->state;
    plugin->api->memory->resize(plugin, worlds->packed.at, worlds->packed.room, 0);
    plugin->api->memory->resize(plugin, worlds, sizeof *worlds, 0);
    plugin->state = NULL;
}

BP_PLUGIN(mpi) = {
    .version = "1.0",
    .doc = "ranks of one job: started with mpirun, each process does its part of the same ini",
    .systems = {split_systems, 2, (uint32_t)sizeof split_systems[0]},
    .options = BP_LIST(options),
    .tables = BP_LIST(tables),
    .load = load,
    .unload = unload,
    .state_form = BP_STATE_FORM(split_worlds, 2),
    .keeps = BP_KEEP_NOTHING,
};
