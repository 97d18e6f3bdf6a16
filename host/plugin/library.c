/* library.c - from a file to an image in memory, and its end.
 *
 * The plugin's verbs are guarded from before the first of them runs.
 */
#include "library.h"

#include "../base/file.h"
#include "../base/os.h"

static bp_result_t guard_library(loader_t *loader, plugin_t *plugin)
{
    bool known = os_library_image(plugin->library, &plugin->image_begin, &plugin->image_end);
    if (loader->guard == NULL || !known)
        return BP_OK;
    if (!guard_add_image(loader->guard, plugin->image_begin, plugin->image_end))
        return error_memory(&loader->base->error, "loading a plugin");
    plugin->guard = loader->guard;
    return BP_OK;
}

bp_result_t library_open(loader_t *loader, plugin_t *plugin, const char *path, const bp_plugin_desc_t **desc)
{
    char why[512], absolute[FILE_PATH_MAX];
    error_text_t *error = &loader->base->error;
    /* A bare file name would be searched for among the system's libraries. */
    if (!file_path_join(".", path, absolute, sizeof absolute))
        return error_set(error, BP_ERROR_LIMIT, "%s: the path is too long", path);
    plugin->library = os_library_open(os_path_is_absolute(path) ? path : absolute, why, sizeof why);
    if (plugin->library == NULL)
        return error_set(error, BP_ERROR_IO, "%s: the system cannot load it: %s", plugin->path, why);
    *desc = os_library_symbol(plugin->library, BP_PLUGIN_SYMBOL);
    if (*desc == NULL)
        return error_set(error, BP_ERROR_ABI, "%s: it does not export '" BP_PLUGIN_SYMBOL "'; define it with BP_PLUGIN", plugin->path);
    return guard_library(loader, plugin);
}

void library_close(loader_t *loader, plugin_t *plugin)
{
    if (plugin->guard != NULL)
        guard_drop_image(plugin->guard, plugin->image_begin);
    if (plugin->library == NULL)
        return;
    os_library_close(plugin->library);
#if defined(BACKPLANE_AUDIT)
    retired_add(&loader->retired, plugin->image_begin, plugin->image_end, plugin->name, plugin->version);
#else
    (void)loader;
#endif
}
