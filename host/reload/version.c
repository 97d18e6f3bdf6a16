/* version.c - the plugins of a change: from their files to versions that are loaded beside the ones at work.
 *
 * The order of the steps is that of loader.c, and of trust. A version that has been loaded and is not to come is unloaded again; one
 * that has come leaves its predecessor in its place, which ends the same way.
 */
#include "change.h"

#include "../base/text.h"
#include "../plugin/verbs.h"

/* --- sides ---------------------------------------------------------------------------------------------------------- */

void change_enter(version_t *version)
{
    loader_exchange(version->plugin, &version->other);
    version->plugin->set = &version->set;
}

void change_leave(version_t *version)
{
    version->plugin->set = NULL;
    loader_exchange(version->plugin, &version->other);
}

/* --- files ---------------------------------------------------------------------------------------------------------- */

static bp_result_t unknown_plugin(reload_t *reload, const char *name)
{
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < reload->loader->count; i++)
        nearest_consider(&nearest, reload->loader->plugins[i]->name);
    return error_set(&reload->base->error, BP_ERROR_NOT_FOUND, "no plugin '%s' is loaded%s", name, nearest_hint(&nearest, &hint));
}

static bp_result_t read_one(reload_change_t *change, const char *name)
{
    reload_t *reload = change->reload;
    version_t *version = &change->versions[change->version_count];
    plugin_t *plugin = loader_find(reload->loader, name);
    if (plugin == NULL)
        return unknown_plugin(reload, name);
    for (uint32_t i = 0; i < change->version_count; i++) {
        if (change->versions[i].plugin == plugin)
            return error_set(change_error(change), BP_ERROR_ARGUMENT, "plugin '%s' is named twice", name);
    }
    if (plugin->library == NULL)
        return error_set(change_error(change), BP_ERROR_ARGUMENT, "plugin '%s' is linked into the program; only plugins from files can be reloaded",
                         name);
    bp_result_t result = loader_copy(reload->loader, plugin->path, &version->copy);
    if (result != BP_OK)
        return result;
    version->plugin = plugin;
    snprintf(version->former, sizeof version->former, "%s", plugin->version);
    change->version_count++;
    return BP_OK;
}

static uint32_t place_of(const loader_t *loader, const plugin_t *plugin)
{
    uint32_t at = 0;
    while (loader->plugins[at] != plugin)
        at++;
    return at;
}

/* In the order in which they were loaded, whatever that of the names: later ones may use tables of earlier ones. */
static void sort_versions(reload_change_t *change)
{
    const loader_t *loader = change->reload->loader;
    for (uint32_t i = 1; i < change->version_count; i++) {
        for (uint32_t k = i; k > 0; k--) {
            version_t *before = &change->versions[k - 1], *after = &change->versions[k], kept = *after;
            if (place_of(loader, before->plugin) <= place_of(loader, after->plugin))
                break;
            *after = *before;
            *before = kept;
        }
    }
}

bp_result_t versions_read(reload_change_t *change, const char *const *names, uint32_t count)
{
    if (count == 0 || count > RELOAD_MAX_PLUGINS)
        return error_set(change_error(change), BP_ERROR_ARGUMENT, "%u plugins to reload; name 1 to %d", count, RELOAD_MAX_PLUGINS);
    change->versions = memory_new(&change->reload->memory, RELOAD_MAX_PLUGINS * sizeof *change->versions);
    if (change->versions == NULL)
        return error_memory(change_error(change), "reloading");
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < count && result == BP_OK; i++)
        result = read_one(change, names[i]);
    sort_versions(change);
    return result;
}

/* --- opening --------------------------------------------------------------------------------------------------------- */

static bp_result_t load(reload_change_t *change, version_t *version)
{
    loader_t *loader = change->reload->loader;
    plugin_t *plugin = version->plugin;
    void *state = plugin->seen.state;
    version->keeps_state = same_form(plugin->desc.state_form, version->other.desc.state_form);
    change_enter(version);
    plugin->seen.state = version->keeps_state ? state : NULL;
    bp_result_t result = loader_register(loader, plugin);
    if (result == BP_OK)
        result = loader_run_load(loader, plugin);
    version->loaded = result == BP_OK;
    change_leave(version);
    return result;
}

static bp_result_t open_one(reload_change_t *change, version_t *version)
{
    reload_t *reload = change->reload;
    bp_result_t result = loader_open_version(reload->loader, version->plugin, version->copy, &version->other);
    if (result != BP_OK)
        return result;
    version->open = true;
    version->copy = NULL;
    if (!registry_set_init(reload->registry, &version->set, version->plugin))
        return error_memory(change_error(change), "reloading");
    result = load(change, version);
    return result == BP_OK || reload->loader->located ? result : error_prefix(change_error(change), result, "%s: ", version->plugin->path);
}

bp_result_t versions_open(reload_change_t *change)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < change->version_count; i++) {
        version_t *version = &change->versions[i];
        version->plugin->reloading = true;
        version->was_aside = plugin_is_aside(version->plugin);
        if (version->was_aside)
            plugin_trust(version->plugin);
    }
    for (uint32_t i = 0; i < change->version_count && result == BP_OK; i++)
        result = open_one(change, &change->versions[i]);
    return result;
}

/* --- closing --------------------------------------------------------------------------------------------------------- */

/* What one version has allocated and the other goes on with cannot be told apart: whoever stays answers for all. */
static void merge_accounts(version_t *version)
{
    atomic_size_t *stays = &version->plugin->memory.bytes, *goes = &version->other.memory.bytes;
    atomic_fetch_add(stays, atomic_exchange(goes, 0));
}

static void close_one(reload_change_t *change, version_t *version)
{
    loader_t *loader = change->reload->loader;
    if (version->loaded && !version->keeps_state) {
        change_enter(version);
        if (version->plugin->desc.unload != NULL)
            verb_unload(version->plugin);
        change_leave(version);
    }
    version->loaded = false;
    if (version->merges || version->keeps_state)
        merge_accounts(version);
    registry_set_free(change->reload->registry, &version->set);
    if (version->open && change->state != CHANGE_COMMITTED) {
        /* The file stays for another try. */
        version->copy = version->other.copy;
        version->other.copy = NULL;
    }
    if (version->open)
        loader_close_version(loader, &version->other);
    version->open = false;
}

void versions_close(reload_change_t *change)
{
    for (uint32_t i = change->version_count; i > 0; i--)
        close_one(change, &change->versions[i - 1]);
    for (uint32_t i = 0; i < change->version_count; i++) {
        version_t *version = &change->versions[i];
        version->plugin->reloading = false;
        if (version->was_aside && change->state != CHANGE_COMMITTED)
            plugin_set_aside(version->plugin);
    }
}

void versions_free(reload_change_t *change)
{
    loader_t *loader = change->reload->loader;
    for (uint32_t i = 0; i < change->version_count; i++) {
        version_t *version = &change->versions[i];
        if (version->copy != NULL)
            loader_remove_copy(loader, version->copy);
        memory_free_text(&loader->memory, version->copy);
    }
    memory_free(&change->reload->memory, change->versions, change->versions == NULL ? 0 : RELOAD_MAX_PLUGINS * sizeof *change->versions);
    change->versions = NULL;
    change->version_count = 0;
}
