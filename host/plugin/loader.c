/* loader.c - from a name to a working plugin, all or nothing.
 *
 * Each step relies only on what the steps before have checked: the file's bytes are read and judged (image.h) before
 * the system's loader sees them, the descriptor is judged as data, the declarations are copied into slots, the options
 * are parsed, and only then is `load` called. Each step can be undone; where one fails, the steps before it are undone
 * in the opposite order.
 */
#include "loader.h"

#include "../base/error.h"
#include "../base/file.h"
#include "../base/strings.h"
#include "../os/files.h"
#include "../os/os.h"
#include "plugin.h"
#include "registry.h"
#include "verbs.h"

#include <stddef.h>

void loader_init(loader_t *loader, base_t *base, registry_t *registry, const bp_api_t *api, bp_host_o *host,
                 const bp_plugin_head_t *const *static_plugins, uint32_t static_count)
{
    memset(loader, 0, sizeof *loader);
    memory_init_child(&loader->memory, "plugins", &base->memory);
    loader->base = loader->plugins.base = base;
    posts_init(&loader->posts, base);
    loader->files = (copies_t){.base = base, .memory = &loader->memory};
    loader->registry = registry;
    loader->api = api;
    loader->host = host;
    loader->static_plugins = static_plugins;
    loader->static_count = static_count;
}

void loader_free(loader_t *loader)
{
    posts_free(&loader->posts);
    copies_end(&loader->files);
    memory_free(&loader->memory, loader->plugins.items, loader->plugins.capacity * sizeof *loader->plugins.items);
    loader->plugins.items = NULL;
    loader->plugins.count = loader->plugins.capacity = 0;
}

plugin_t *loader_find(const loader_t *loader, const char *name)
{
    for (uint32_t i = 0; i < loader->plugins.count; i++) {
        if (strcmp(loader->plugins.items[i]->name, name) == 0)
            return loader->plugins.items[i];
    }
    return NULL;
}

static const bp_plugin_head_t *find_static(const loader_t *loader, const char *name)
{
    for (uint32_t i = 0; i < loader->static_count; i++) {
        if (loader->static_plugins[i]->name != NULL && strcmp(loader->static_plugins[i]->name, name) == 0)
            return loader->static_plugins[i];
    }
    return NULL;
}

bool loader_is_static(const loader_t *loader, const char *name)
{
    return find_static(loader, name) != NULL;
}

/* Is this host a copy in another process, or a clone? Then ports, files and other processes belong to the original
 * host alone. */
static bool is_tried(const loader_t *loader)
{
    return loader->on_trial || loader->plugins.clone;
}

/* Judge a head. `present`: the plugin of which the head is to be the next version, or NULL. */
static bp_result_t judge(loader_t *loader, const bp_plugin_head_t *head, const plugin_t *present)
{
    error_text_t *error = &loader->base->error;
    bp_result_t result = descriptor_judge(error, head);
    if (result != BP_OK)
        return result;
    if (present != NULL && strcmp(present->name, head->name) != 0)
        return error_set(error, BP_ERROR_ARGUMENT, "it is plugin '%s' now; unload '%s' and load it instead", head->name,
                         present->name);
    const plugin_t *twin = loader_find(loader, head->name);
    if (twin != NULL && twin != present)
        return error_set(error, BP_ERROR_EXISTS, "a plugin '%s' is loaded already (%s)", head->name,
                         twin->path[0] != '\0' ? twin->path : "linked in");
    return BP_OK;
}

#if defined(BACKPLANE_AUDIT)
/* Do plugins run that may have threads? Their threads could change blocks during a search. */
static bool have_threads(const loader_t *loader)
{
    for (uint32_t i = 0; i < loader->plugins.count; i++) {
        if (loader->plugins.items[i]->running && loader->plugins.items[i]->desc.pause != NULL)
            return true;
    }
    return false;
}

size_t loader_audit(loader_t *loader)
{
    if (have_threads(loader))
        return 0;
    for (uint32_t i = 0; i < loader->plugins.count; i++)
        retired_taken(&loader->retired, loader->plugins.items[i]->image_begin, loader->plugins.items[i]->image_end);
    return retired_search(&loader->retired, loader->base);
}
#endif

/* Make an account for a version, at an address that never changes. false when out of memory. */
static bool open_account(loader_t *loader, plugin_t *plugin)
{
    memory_t *account = memory_new(&loader->memory, sizeof *account);
    memory_init_child(&plugin->bystanders, "plugin", &loader->base->memory);
    if (account != NULL)
        memory_init_child(account, "plugin", &loader->base->memory);
    atomic_store(&plugin->account, account);
    return account != NULL;
}

static void tell_leak(loader_t *loader, const plugin_t *plugin)
{
    const memory_t *account = atomic_load(&plugin->account);
    size_t left = account == NULL ? 0 : memory_bytes(account) + memory_bytes(&plugin->bystanders);
    if (left > 0)
        log_write(&loader->base->log, BP_LOG_WARNING, plugin->name == NULL ? "plugin" : plugin->name,
                  "%zu bytes of its memory were not given back", left);
}

static void free_content(loader_t *loader, plugin_t *plugin)
{
    memory_t *memory = &loader->memory;
    options_free(memory, plugin);
    tell_leak(loader, plugin);
    library_close(loader, plugin);
    if (plugin->copy != NULL)
        loader_remove_copy(loader, plugin->copy);
    descriptor_free_lists(memory, plugin);
    declared_free(memory, &plugin->declared);
    deaths_release(memory, &plugin->asked_deaths);
    memory_free_text(memory, plugin->copy);
    memory_free_text(memory, plugin->name);
    memory_free_text(memory, plugin->version);
    memory_free_text(memory, plugin->doc);
    memory_free_text(memory, plugin->path);
    memory_free_text(memory, plugin->file);
    memory_free(memory, atomic_load(&plugin->account), sizeof(memory_t));
}

static void free_plugin(loader_t *loader, plugin_t *plugin)
{
    posts_drop(&loader->posts, plugin, 0, POSTS_END, NULL);
    free_content(loader, plugin);
    memory_free(&loader->memory, plugin, sizeof *plugin);
}

bp_result_t loader_register(loader_t *loader, plugin_t *plugin)
{
    const bp_plugin_desc_t *desc = &plugin->desc;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < desc->components.count && result == BP_OK; i++)
        result = registry_add_component(loader->registry, plugin, &desc->components.items[i]);
    for (uint32_t i = 0; i < desc->systems.count && result == BP_OK; i++)
        result = registry_add_system(loader->registry, plugin, &desc->systems.items[i]);
    for (uint32_t i = 0; i < desc->tables.count && result == BP_OK; i++) {
        const char *item = (const char *)desc->tables.items + (size_t)i * desc->tables.item_size;
        result =
            registry_offer(loader->registry, plugin, (const bp_table_t *)(const void *)item, desc->tables.item_size);
    }
    return result;
}

bp_result_t loader_run_load(loader_t *loader, plugin_t *plugin)
{
    error_text_t *error = &loader->base->error;
    if (plugin->desc.load == NULL)
        return BP_OK;
    error->text[0] = '\0';
    plugin->all->calling++;
    bp_result_t result = verb_load(plugin);
    plugin->all->calling--;
    if (result == BP_OK)
        return BP_OK;
    if (error->text[0] == '\0')
        error_set(error, result, "it gave no reason (code %d)", result);
    return error_prefix(error, result, "its load failed: ");
}

/* The last step of loading: let the plugin run. Where that fails, `unload` gives back what `load` has made. */
static bp_result_t run(loader_t *loader, plugin_t *plugin)
{
    error_text_t kept;
    bp_result_t result = loader_resume(loader, plugin, is_tried(loader) ? BP_PAUSE_COPY : BP_PAUSE_LOAD);
    if (result == BP_OK || plugin->desc.unload == NULL)
        return result;
    kept = loader->base->error;
    plugin->all->calling++;
    verb_unload(plugin);
    plugin->all->calling--;
    loader->base->error = kept;
    return result;
}

static bp_result_t bring_in(loader_t *loader, plugin_t *plugin, const bp_plugin_head_t *head,
                            const bp_option_t *options, uint32_t option_count)
{
    bp_result_t result = judge(loader, head, NULL);
    if (result != BP_OK)
        return result;
    result = descriptor_copy(loader, plugin, head);
    if (result == BP_OK)
        result = content_judge(loader, plugin, NULL);
    if (result == BP_OK && !memory_reserve(&loader->memory, &loader->plugins.items, &loader->plugins.capacity,
                                           loader->plugins.count + 1u, sizeof *loader->plugins.items))
        result = error_memory(&loader->base->error, "loading it");
    if (result != BP_OK)
        return result;
    result = options_read(loader->base, &loader->memory, plugin, options, option_count, &loader->located);
    if (result != BP_OK)
        return result;
    result = loader_register(loader, plugin);
    if (result == BP_OK)
        result = loader_run_load(loader, plugin);
    if (result == BP_OK)
        result = run(loader, plugin);
    if (result != BP_OK)
        registry_sweep(loader->registry, plugin);
    else
        loader->plugins.items[loader->plugins.count++] = plugin;
    loader->plugins.roster++;
    return result;
}

/* Make a copy of the plugin's file, or of another host's copy of it, and open it. */
static bp_result_t open_copy(loader_t *loader, plugin_t *plugin, const char *path, const bp_plugin_head_t **head)
{
    bool library = loader_kind(loader, plugin->path, NULL) == NULL; /* `path` may be of another copy */
    bp_result_t result = copies_make(&loader->files, path, loader_file(plugin), library, &plugin->copy);
    if (result != BP_OK)
        return result;
    result = library_open(loader, plugin, plugin->copy, head);
    if (result == BP_OK || plugin->library != NULL)
        return result;
    loader_remove_copy(loader, plugin->copy);
    memory_free_text(&loader->memory, plugin->copy);
    plugin->copy = NULL;
    return result;
}

/* Try a copy beside the plugin where the system does not load the copy in TMPDIR, since TMPDIR may be on a file system
 * from which code may not be run. */
static bp_result_t open_copy_beside(loader_t *loader, plugin_t *plugin, const char *path, const bp_plugin_head_t **head)
{
    copies_go(&loader->files, COPIES_BESIDE);
    bp_result_t result = open_copy(loader, plugin, path, head);
    if (result == BP_OK || plugin->library != NULL)
        log_write(&loader->base->log, BP_LOG_WARNING, "plugin",
                  "copies of plugins lie in %s, since nothing can be run from TMPDIR",
                  loader->files.folders[COPIES_BESIDE].path);
    else
        copies_go(&loader->files, COPIES_TEMPORARY);
    return result;
}

const char *loader_file(const plugin_t *plugin)
{
    return plugin->file != NULL ? plugin->file : plugin->path;
}

/* Note where the plugin lies: `library` is what was made of the source at `path`, or NULL. */
static bp_result_t note_paths(loader_t *loader, plugin_t *plugin, const char *path, const char *library)
{
    plugin->path = memory_copy_text(&loader->memory, path);
    plugin->file = library == NULL ? NULL : memory_copy_text(&loader->memory, library);
    if (plugin->path == NULL || (library != NULL && plugin->file == NULL))
        return error_memory(&loader->base->error, "loading a plugin");
    return BP_OK;
}

static bp_result_t open_file(loader_t *loader, plugin_t *plugin, const char *path, const char *library,
                             const bp_plugin_head_t **head)
{
    bp_result_t result = note_paths(loader, plugin, path, library);
    if (result != BP_OK)
        return result;
    path = loader_file(plugin);
    file_stamp(path, &plugin->stamp);
    if (loader->copies || library != NULL) {
        result = open_copy(loader, plugin, path, head);
        bool loads = result == BP_OK || plugin->library != NULL;
        bool elsewhere = !loads && result == BP_ERROR_IO && loader->files.place == COPIES_TEMPORARY &&
                         loader_kind(loader, path, NULL) == NULL;
        return elsewhere ? open_copy_beside(loader, plugin, path, head) : result;
    }
    result = loader_kind(loader, path, NULL) != NULL ? BP_OK : copies_judge(&loader->files, path);
    return result == BP_OK ? library_open(loader, plugin, path, head) : result;
}

static bool find_file(const char *name, char *path, size_t size)
{
    if (!file_path_beside("", name, path, size))
        return false;
    if (file_exists(path))
        return true;
    size_t length = strlen(path), suffix = strlen(os_library_suffix);
    if (length + suffix >= size)
        return false;
    memcpy(path + length, os_library_suffix, suffix + 1);
    return file_exists(path);
}

static bp_result_t load(loader_t *loader, const char *name_or_path, const char *library, const bp_option_t *options,
                        uint32_t option_count)
{
    error_text_t *error = &loader->base->error;
    char path[FILE_PATH_MAX];
    text_t hint;
    loader->located = false;
    const bp_plugin_head_t *head = library != NULL ? NULL : find_static(loader, name_or_path);
    if (head == NULL && !find_file(name_or_path, path, sizeof path))
        return error_set(error, BP_ERROR_NOT_FOUND, "%s: there is no such plugin file (with or without '%s')%s",
                         name_or_path, os_library_suffix, library_near(name_or_path, &hint));
    plugin_t *plugin = memory_new(&loader->memory, sizeof *plugin);
    if (plugin == NULL)
        return error_memory(error, "loading a plugin");
    plugin->all = &loader->plugins;
    bp_result_t result = open_account(loader, plugin) ? BP_OK : error_memory(error, "loading a plugin");
    if (result != BP_OK) {
        /* nothing has been opened */
    } else if (head == NULL) {
        result = open_file(loader, plugin, library != NULL ? name_or_path : path, library, &head);
    } else {
        plugin->path = memory_copy_text(&loader->memory, "");
        if (plugin->path == NULL)
            result = error_memory(error, "loading a plugin");
    }
    if (result == BP_OK) {
        result = bring_in(loader, plugin, head, options, option_count);
        if (result != BP_OK && !loader->located)
            error_prefix(error, result, "%s: ", name_or_path);
    }
    if (result != BP_OK)
        free_plugin(loader, plugin);
    return result;
}

bp_result_t loader_load(loader_t *loader, const char *name_or_path, const bp_option_t *options, uint32_t option_count)
{
    return load(loader, name_or_path, NULL, options, option_count);
}

bp_result_t loader_load_made(loader_t *loader, const char *path, const char *library, const bp_option_t *options,
                             uint32_t option_count)
{
    return load(loader, path, library, options, option_count);
}

/* Where the other host has opened a copy of the file, this one opens a copy of that copy: so it has the code that is at
 * work there, also where the file at the plugin's path has changed, in an image of its own. Else both have the same
 * image. In a helper that tries something the other host is in another process, and its copy serves both. */
static bp_result_t open_like(loader_t *loader, plugin_t *plugin, const plugin_t *other, const bp_plugin_head_t **head)
{
    bp_result_t result = note_paths(loader, plugin, other->path, other->file);
    if (result != BP_OK)
        return result;
    *head = other->path[0] == '\0' ? find_static(loader, other->name) : NULL;
    if (*head != NULL)
        return BP_OK;
    plugin->stamp = other->stamp;
    plugin->image = other->image;
    if (other->copy == NULL || loader->on_trial)
        return library_open(loader, plugin, other->copy == NULL ? other->path : other->copy, head);
    result = open_copy(loader, plugin, other->copy, head);
    bool loads = result == BP_OK || plugin->library != NULL;
    bool elsewhere = !loads && result == BP_ERROR_IO && loader->files.place == COPIES_TEMPORARY &&
                     loader_kind(loader, plugin->path, NULL) == NULL;
    return elsewhere ? open_copy_beside(loader, plugin, other->copy, head) : result;
}

bp_result_t loader_load_like(loader_t *loader, const plugin_t *other)
{
    error_text_t *error = &loader->base->error;
    const bp_plugin_head_t *head;
    plugin_t *plugin = memory_new(&loader->memory, sizeof *plugin);
    if (plugin == NULL)
        return error_memory(error, "loading a plugin");
    plugin->all = &loader->plugins;
    bp_result_t result = open_account(loader, plugin) ? BP_OK : error_memory(error, "loading a plugin");
    if (result == BP_OK)
        result = open_like(loader, plugin, other, &head);
    if (result == BP_OK)
        result = bring_in(loader, plugin, head, other->given, other->given_count);
    if (result == BP_OK)
        return BP_OK;
    error_prefix(error, result, "%s: ", other->name);
    free_plugin(loader, plugin);
    return result;
}

void loader_unload(loader_t *loader, plugin_t *plugin)
{
    uint32_t at = 0;
    while (loader->plugins.items[at] != plugin)
        at++;
    plugin_t **items = loader->plugins.items;
    memmove(items + at, items + at + 1, (loader->plugins.count - at - 1) * sizeof *items);
    loader->plugins.count--;
    loader->plugins.roster++;
    loader_pause(plugin, BP_PAUSE_UNLOAD);
    plugin->all->calling++;
    if (plugin->desc.unload != NULL)
        verb_unload(plugin);
    plugin->all->calling--;
    posts_drop(&loader->posts, plugin, 0, POSTS_END, "the plugin is unloaded");
    registry_sweep(loader->registry, plugin);
    free_plugin(loader, plugin);
}

/* --- new versions ------------------------------------------------------------------------------------------------- */

/* A helper that tries something is given copies, made by the process that asks. */
bp_result_t loader_copy(loader_t *loader, const char *path, char **copy)
{
    if (loader->on_trial) {
        *copy = memory_copy_text(&loader->memory, path);
        return *copy != NULL ? BP_OK : error_memory(&loader->base->error, "trying a plugin");
    }
    return copies_make(&loader->files, path, path, loader_kind(loader, path, NULL) == NULL, copy);
}

void loader_remove_copy(loader_t *loader, const char *copy)
{
    if (!loader->on_trial && !base_is_copied(loader->base))
        os_file_remove(copy);
}

static bp_result_t open_version(loader_t *loader, const plugin_t *plugin, const char *copy, plugin_t *version)
{
    const bp_plugin_head_t *head;
    bp_result_t result = note_paths(loader, version, plugin->path, plugin->file);
    if (result == BP_OK && !open_account(loader, version))
        result = error_memory(&loader->base->error, "opening a new version");
    if (result != BP_OK)
        return result;
    if (plugin->opener != NULL && loader_kind(loader, plugin->path, NULL) == NULL)
        return error_set(&loader->base->error, BP_ERROR_NOT_FOUND,
                         "%s: plugin '%s', which has opened it, does not open such files any more", plugin->path,
                         plugin->opener->name);
    result = library_open(loader, version, copy, &head);
    if (result != BP_OK)
        return result;
    result = judge(loader, head, plugin);
    if (result == BP_OK)
        result = descriptor_copy(loader, version, head);
    bool other = plugin->coming != NULL;
    if (result == BP_OK)
        result = content_judge(loader, version, plugin);
    if (result == BP_OK)
        result = options_read(loader->base, &loader->memory, version, other ? plugin->coming : plugin->given,
                              other ? plugin->coming_count : plugin->given_count, &loader->located);
    return result == BP_OK || loader->located ? result
                                              : error_prefix(&loader->base->error, result, "%s: ", plugin->path);
}

bp_result_t loader_open_version(loader_t *loader, plugin_t *plugin, char *copy, plugin_t *version)
{
    memset(version, 0, sizeof *version);
    version->all = &loader->plugins;
    loader->located = false;
    bp_result_t result = open_version(loader, plugin, copy, version);
    if (result == BP_OK)
        version->copy = copy;
    else
        loader_close_version(loader, version);
    return result;
}

void loader_close_version(loader_t *loader, plugin_t *version)
{
    free_content(loader, version);
    memset(version, 0, sizeof *version);
}

void loader_exchange(plugin_t *plugin, plugin_t *version)
{
    enum { CONTENT = offsetof(plugin_t, reloading) };
    char kept[CONTENT];
    memcpy(kept, plugin, CONTENT);
    memcpy(plugin, version, CONTENT);
    memcpy(version, kept, CONTENT);
    plugin->head.desc = &plugin->desc;
    version->head.desc = &version->desc;
    plugin->all->roster++;
    memory_t *account = atomic_exchange(&plugin->account, atomic_load(&version->account));
    atomic_store(&version->account, account);
}

/* --- running and paused ------------------------------------------------------------------------------------------- */

void loader_pause(plugin_t *plugin, uint32_t reason)
{
    bool aside = plugin_is_aside(plugin), attended = plugin->attended;
    if (!plugin->running)
        return;
    plugin->running = false;
    if (plugin->desc.pause == NULL)
        return;
    if (aside)
        plugin_trust(plugin);
    plugin->all->calling++;
    verb_pause(plugin, reason);
    plugin->all->calling--;
    if (aside) {
        plugin_set_aside(plugin);
        plugin->attended = attended;
    }
}

bp_result_t loader_resume(loader_t *loader, plugin_t *plugin, uint32_t reason)
{
    error_text_t *error = &loader->base->error;
    if (plugin->running || (is_tried(loader) && reason != BP_PAUSE_COPY) || plugin_is_aside(plugin))
        return BP_OK;
    plugin->running = true;
    if (plugin->desc.resume == NULL)
        return BP_OK;
    error->text[0] = '\0';
    plugin->all->calling++;
    bp_result_t result = verb_resume(plugin, reason);
    plugin->all->calling--;
    if (result == BP_OK)
        return BP_OK;
    plugin->running = false;
    if (error->text[0] == '\0')
        error_set(error, result, "it gave no reason (code %d)", result);
    return error_prefix(error, result, "its resume failed: ");
}

void loader_resume_or_tell(loader_t *loader, plugin_t *plugin, uint32_t reason)
{
    error_text_t *error = &loader->base->error, kept = *error;
    if (loader_resume(loader, plugin, reason) != BP_OK)
        log_write(&loader->base->log, BP_LOG_ERROR, plugin->name, "%s", error->text);
    *error = kept;
}

void loader_pause_all(loader_t *loader, uint32_t reason)
{
    for (uint32_t i = loader->plugins.count; i > 0; i--)
        loader_pause(loader->plugins.items[i - 1], reason);
}

void loader_resume_all(loader_t *loader, uint32_t reason)
{
    for (uint32_t i = 0; i < loader->plugins.count; i++)
        loader_resume_or_tell(loader, loader->plugins.items[i], reason);
}
