/* vote.c - asking the plugin that votes on changes, if there is one.
 *
 * The voter's table is found anew each time: the plugin may come and go, and may be part of the change. In that case
 * the side in place is asked.
 */
#include "vote.h"

#include "../base/file.h"
#include "../base/strings.h"
#include "change.h"

#include <bp_vote.h>

static const bp_voter_api *find_voter(const reload_change_t *change, const plugin_t **plugin)
{
    const bp_voter_api *voter = registry_table(change->reload->registry, BP_VOTER_API, 1);
    *plugin = registry_table_owner(change->reload->registry, BP_VOTER_API);
    return voter == NULL || voter->version == 0 || *plugin == NULL || plugin_is_aside(*plugin) ? NULL : voter;
}

/* The names and files of a change as one number; never 0. A file that has gone meanwhile counts as an empty one: the
 * preparation is going to report it. */
static uint64_t number_of(const reload_change_t *change)
{
    uint64_t sums[2] = {0, 0};
    for (uint32_t i = 0; i < change->version_count; i++) {
        const version_t *version = &change->versions[i];
        const char *file = version->copy != NULL ? version->copy : version->kept.copy;
        const void *bytes = NULL;
        size_t size = 0;
        sums[1] = hash_bytes(version->plugin->name, strlen(version->plugin->name));
        sums[0] = hash_bytes(sums, sizeof sums);
        if (file == NULL || file_map(file, &bytes, &size, change_error(change)) != BP_OK)
            continue;
        sums[1] = hash_bytes(bytes, size);
        sums[0] = hash_bytes(sums, sizeof sums);
        file_unmap(bytes, size);
    }
    return sums[0] == 0 ? 1 : sums[0];
}

bool vote_may_begin(const reload_change_t *change)
{
    const plugin_t *plugin;
    const bp_voter_api *voter = find_voter(change, &plugin);
    return voter == NULL || voter->ready(&plugin->handed, number_of(change)) != 0;
}

void vote_withdraw(const reload_change_t *change)
{
    const plugin_t *plugin;
    const bp_voter_api *voter = find_voter(change, &plugin);
    if (voter != NULL)
        voter->ready(&plugin->handed, 0);
}

bp_result_t vote_on(const reload_change_t *change, bp_result_t mine)
{
    const plugin_t *plugin;
    const bp_voter_api *voter = find_voter(change, &plugin);
    if (voter == NULL)
        return mine;
    error_text_t kept = *change_error(change);
    uint64_t number = number_of(change);
    *change_error(change) = kept;
    bp_result_t result = voter->vote(&plugin->handed, number, mine);
    return result == BP_OK ? mine : result;
}
