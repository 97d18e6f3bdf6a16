/* host.c - what every file of the host's face asks of it. */
#include "host.h"

const bp_api_t *bp_host_api(bp_host_o *host)
{
    return &host->api;
}

const char *bp_host_error(bp_host_o *host)
{
    return host->base.error.text;
}

path_worlds_t host_worlds(const bp_host_o *host)
{
    return (path_worlds_t){(base_t *)(uintptr_t)&host->base, host->destruction.worlds, host->destruction.world_count};
}

bp_result_t host_refuse_during_step(bp_host_o *host)
{
    if (host->destruction.stepping == 0 && !host->destruction.announcing && !host->entities.sealed)
        return BP_OK;
    return error_set(&host->base.error, BP_ERROR_STATE, "not from inside a step, a destruction callback or a reload");
}
