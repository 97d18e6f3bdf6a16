/* table_outside.c - the table bp_outside: what plugins take from outside, in a step and between steps. */
#include "../base/error.h"
#include "host.h"

enum { MOST = 16 * 1024 * 1024 };

static bp_result_t take(bp_host_o *host, const char *name, const bp_taking_i *taking, void *bytes, size_t room,
                        size_t *size)
{
    *size = 0;
    if (name == NULL || taking == NULL || taking->struct_size < sizeof *taking || taking->take == NULL)
        return error_set(&host->base.error, BP_ERROR_ARGUMENT, "something is taken from outside with a name and a way");
    if (room > MOST)
        return error_set(&host->base.error, BP_ERROR_LIMIT, "'%.60s': %zu bytes from outside at once; %d are the most",
                         name, room, MOST);
    if (host->destruction.stepping != 0)
        return outside_take(&host->history.outside, name, taking, bytes, room, size);
    history_take_unseen(&host->history);
    bp_result_t result = taking->take(taking->context, bytes, room, size);
    *size = *size > room ? room : *size;
    return result;
}

const bp_outside_api host_outside_table = {.struct_size = sizeof host_outside_table, .version = 1, .take = take};
