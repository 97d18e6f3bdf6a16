/* table_refer.c - the table bp_refer: who refers to an entity, for plugins and embedders. */
#include "table_refer.h"

#include "../step/referrers.h"

static bp_result_t make(bp_world_o *world, const bp_plugin_t *plugin, const char *component, const char *field,
                        bp_refer_o **index)
{
    /* A plugin_t begins with what its verbs are handed. */
    return referrers_make(world, (const plugin_t *)(const void *)plugin, component, field, index);
}

const bp_refer_api host_refer_table = {
    .struct_size = sizeof host_refer_table,
    .version = 1,
    .make = make,
    .end = referrers_end,
    .ask = referrers_ask,
};
