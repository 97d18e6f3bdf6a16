/* loader.c - from a name to a working plugin, all or nothing.
 *
 * The order of the steps is the order of trust: the file's bytes are read and judged (image.h) before the system's
 * loader sees them, the descriptor is judged as data, the declarations are copied into slots, the options are parsed
 * and only then is `load` called. Each step has its undo, and a failure runs them backwards.
 *
 * A plugin_t never moves: managers and systems hold its address.
 */
#include "loader.h"

#include "../base/audit.h"
#include "../base/file.h"
#include "../base/os.h"
#include "../base/text.h"
#include "image.h"
#include "verbs.h"

void loader_init(loader_t *loader, base_t *base, registry_t *registry, const bp_api_t *api, bp_host_o *host,
                 const bp_plugin_desc_t *const *static_plugins, uint32_t static_count)
{
    memset(loader, 0, sizeof *loader);
    memory_init_child(&loader->memory, "plugins", &base->memory);
    loader->base = base;
    loader->registry = registry;
    loader->api = api;
    loader->host = host;
    loader->static_plugins = static_plugins;
    loader->static_count = static_count;
}

void loader_free(loader_t *loader)
{
    if (loader->folder != NULL)
        os_folder_remove(loader->folder);
    memory_free_text(&loader->memory, loader->folder);
    loader->folder = NULL;
    memory_free(&loader->memory, loader->plugins, loader->capacity * sizeof *loader->plugins);
    loader->plugins = NULL;
    loader->count = loader->capacity = 0;
}

const char *plugin_name(const plugin_t *plugin)
{
    return plugin->name;
}

registry_set_t *plugin_replacement(const plugin_t *plugin)
{
    return plugin->set;
}

bool plugin_is_reloading(const plugin_t *plugin)
{
    return plugin->reloading;
}

plugin_t *loader_find(const loader_t *loader, const char *name)
{
    for (uint32_t i = 0; i < loader->count; i++) {
        if (strcmp(loader->plugins[i]->name, name) == 0)
            return loader->plugins[i];
    }
    return NULL;
}

static const bp_plugin_desc_t *find_static(const loader_t *loader, const char *name)
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

/* --- the descriptor ------------------------------------------------------------------------------------------------ */

/* Bytes of a descriptor of ABI 1.0: what is appended later may be missing. */
#define DESC_1_0 (offsetof(bp_plugin_desc_t, unload) + sizeof(void *))

static bp_result_t judge_abi(error_text_t *error, const bp_plugin_desc_t *desc)
{
    if (desc->magic != BP_PLUGIN_MAGIC)
        return error_set(error, BP_ERROR_ABI, "its '" BP_PLUGIN_SYMBOL "' is no plugin descriptor (wrong magic); begin it with BP_PLUGIN_HEAD");
    if (desc->pointer_size != sizeof(void *))
        return error_set(error, BP_ERROR_ABI, "it was built for pointers of %u bytes; this host has %zu", desc->pointer_size,
                         sizeof(void *));
    if (desc->abi_major != BP_ABI_MAJOR || desc->abi_minor > BP_ABI_MINOR)
        return error_set(error, BP_ERROR_ABI, "it was built for ABI %u.%u, which is too %s; this host has %u.%u: rebuild it with these headers",
                         desc->abi_major, desc->abi_minor, desc->abi_major < BP_ABI_MAJOR ? "old" : "new", BP_ABI_MAJOR,
                         BP_ABI_MINOR);
    if (desc->struct_size < DESC_1_0)
        return error_set(error, BP_ERROR_ABI, "its descriptor has %u bytes; ABI 1.0 has %u", desc->struct_size, (unsigned)DESC_1_0);
    return BP_OK;
}

/* `present`: the plugin of which it is to be the next version, or NULL. */
static bp_result_t judge(loader_t *loader, const bp_plugin_desc_t *desc, const plugin_t *present)
{
    error_text_t *error = &loader->base->error;
    bp_result_t result = judge_abi(error, desc);
    if (result != BP_OK)
        return result;
    if (desc->name == NULL || !names_is_word(desc->name))
        return error_set(error, BP_ERROR_ARGUMENT, "it has no proper name; a name is 1 to 63 letters, digits or underscores");
    if (desc->flags != 0)
        return error_set(error, BP_ERROR_ABI, "it has unknown flags 0x%llx", (unsigned long long)desc->flags);
    if ((desc->components.count > 0 && desc->components.items == NULL) ||
        (desc->systems.count > 0 && desc->systems.items == NULL) || (desc->options.count > 0 && desc->options.items == NULL))
        return error_set(error, BP_ERROR_ABI, "a list of its descriptor has a count but no items; use BP_LIST");
    if (present != NULL && strcmp(present->name, desc->name) != 0)
        return error_set(error, BP_ERROR_ARGUMENT, "it is plugin '%s' now; unload '%s' and load it instead", desc->name, present->name);
    const plugin_t *twin = loader_find(loader, desc->name);
    if (twin != NULL && twin != present)
        return error_set(error, BP_ERROR_EXISTS, "a plugin '%s' is loaded already (%s)", desc->name,
                         twin->path[0] != '\0' ? twin->path : "linked in");
    return BP_OK;
}

/* --- options --------------------------------------------------------------------------------------------------------- */

static void free_options(loader_t *loader, plugin_t *plugin)
{
    uint32_t count = plugin->seen.option_count;
    for (uint32_t i = 0; i < count && plugin->options != NULL; i++)
        field_free(&plugin->options[i], &loader->memory);
    for (uint32_t i = 0; i < count && plugin->option_texts != NULL; i++)
        memory_free_text(&loader->memory, plugin->option_texts[i]);
    memory_free(&loader->memory, plugin->options, count * sizeof *plugin->options);
    memory_free(&loader->memory, plugin->option_values, count * sizeof *plugin->option_values);
    memory_free(&loader->memory, plugin->option_texts, count * sizeof *plugin->option_texts);
}

static bp_result_t declare_options(loader_t *loader, plugin_t *plugin)
{
    const bp_field_list_t *list = &plugin->desc.options;
    error_text_t *error = &loader->base->error;
    if (list->count == 0)
        return BP_OK;
    if (list->count > REGISTRY_MAX_FIELDS || list->item_size < offsetof(bp_field_t, initial))
        return error_set(error, BP_ERROR_ABI, "its list of options says %u items of %u bytes; use BP_LIST", list->count, list->item_size);
    plugin->seen.option_count = list->count;
    plugin->options = memory_new(&loader->memory, list->count * sizeof *plugin->options);
    plugin->option_values = memory_new(&loader->memory, list->count * sizeof *plugin->option_values);
    plugin->option_texts = memory_new(&loader->memory, list->count * sizeof *plugin->option_texts);
    if (plugin->options == NULL || plugin->option_values == NULL || plugin->option_texts == NULL)
        return error_memory(error, "reading its options");
    plugin->seen.options = plugin->option_values;
    for (uint32_t i = 0; i < list->count; i++) {
        const char *item = (const char *)list->items + (size_t)i * list->item_size;
        bp_result_t result = field_init(&plugin->options[i], &loader->memory, &loader->base->values,
                                        (const bp_field_t *)(const void *)item, list->item_size, error);
        for (uint32_t j = 0; j < i && result == BP_OK; j++) {
            if (plugin->options[j].hash == plugin->options[i].hash)
                result = error_set(error, BP_ERROR_EXISTS, "two options are called '%s'", plugin->options[i].name);
        }
        if (result != BP_OK)
            return error_prefix(error, result, "its option list: ");
        plugin->option_values[i] = plugin->options[i].initial;
    }
    return BP_OK;
}

static bp_result_t unknown_option(loader_t *loader, const plugin_t *plugin, const bp_option_t *option)
{
    nearest_t nearest = {.wanted = option->name};
    text_t hint, known = {.length = 0};
    known.chars[0] = '\0';
    for (uint32_t i = 0; i < plugin->seen.option_count; i++) {
        nearest_consider(&nearest, plugin->options[i].name);
        text_append(&known, "%s%s", i > 0 ? ", " : "", plugin->options[i].name);
    }
    return error_set(&loader->base->error, BP_ERROR_NOT_FOUND, "plugin '%s' has no option '%s'%s (it has %s)", plugin->name, option->name,
                     nearest_hint(&nearest, &hint), known.length > 0 ? known.chars : "none");
}

static bp_result_t set_option(loader_t *loader, plugin_t *plugin, const bp_option_t *option, uint32_t index)
{
    const field_t *field = &plugin->options[index];
    error_text_t *error = &loader->base->error;
    bp_value_t value;
    bp_result_t result = value_parse(&loader->base->values, field->type, option->value, &value, error);
    if (result == BP_OK)
        result = field_check(field, &value, error);
    if (result != BP_OK)
        return error_prefix(error, result, "option '%s' of plugin '%s': ", field->name, plugin->name);
    if (field->type == BP_STRING) {
        char path[FILE_PATH_MAX];
        bool is_path = (field->flags & BP_FIELD_PATH) != 0 && option->value[0] != '\0' && option->base != NULL;
        if (is_path && !file_path_beside(option->base, option->value, path, sizeof path))
            return error_set(error, BP_ERROR_LIMIT, "option '%s' of plugin '%s': the path is too long", field->name, plugin->name);
        char *text = memory_copy_text(&loader->memory, is_path ? path : option->value);
        if (text == NULL)
            return error_memory(error, "reading options");
        memory_free_text(&loader->memory, plugin->option_texts[index]);
        plugin->option_texts[index] = text;
        value.string = text;
    }
    plugin->option_values[index] = value;
    return BP_OK;
}

static bp_result_t find_and_set(loader_t *loader, plugin_t *plugin, const bp_option_t *option)
{
    uint32_t i = 0;
    while (i < plugin->seen.option_count && strcmp(plugin->options[i].name, option->name) != 0)
        i++;
    bp_result_t result = i < plugin->seen.option_count ? set_option(loader, plugin, option, i) : unknown_option(loader, plugin, option);
    if (result == BP_OK || option->origin == NULL)
        return result;
    loader->located = true;
    return error_prefix(&loader->base->error, result, "%s: ", option->origin);
}

static void free_given(loader_t *loader, plugin_t *plugin)
{
    for (uint32_t i = 0; i < plugin->given_count; i++) {
        const bp_option_t *o = &plugin->given[i];
        const char *const texts[] = {o->name, o->value, o->origin, o->base};
        for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
            memory_free_text(&loader->memory, (char *)(uintptr_t)texts[t]);
    }
    memory_free(&loader->memory, plugin->given, plugin->given_count * sizeof *plugin->given);
    plugin->given = NULL;
    plugin->given_count = 0;
}

static bool copy_text(loader_t *loader, const char *text, const char **copy)
{
    *copy = text == NULL ? NULL : memory_copy_text(&loader->memory, text);
    return text == NULL || *copy != NULL;
}

static bool keep_given(loader_t *loader, plugin_t *plugin, const bp_option_t *options, uint32_t count)
{
    if (count == 0)
        return true;
    plugin->given = memory_new(&loader->memory, count * sizeof *plugin->given);
    if (plugin->given == NULL)
        return false;
    plugin->given_count = count;
    for (uint32_t i = 0; i < count; i++) {
        bp_option_t *o = &plugin->given[i];
        if (!copy_text(loader, options[i].name, &o->name) || !copy_text(loader, options[i].value, &o->value) ||
            !copy_text(loader, options[i].origin, &o->origin) || !copy_text(loader, options[i].base, &o->base))
            return false;
    }
    return true;
}

static bp_result_t read_options(loader_t *loader, plugin_t *plugin, const bp_option_t *options, uint32_t count)
{
    bp_result_t result = keep_given(loader, plugin, options, count) ? declare_options(loader, plugin)
                                                                   : error_memory(&loader->base->error, "reading its options");
    for (uint32_t i = 0; i < count && result == BP_OK; i++)
        result = find_and_set(loader, plugin, &options[i]);
    for (uint32_t i = 0; i < plugin->seen.option_count && result == BP_OK; i++) {
        bool given = (plugin->options[i].flags & BP_FIELD_REQUIRED) == 0;
        for (uint32_t j = 0; j < count && !given; j++)
            given = strcmp(options[j].name, plugin->options[i].name) == 0;
        if (!given)
            result = error_set(&loader->base->error, BP_ERROR_ARGUMENT, "option '%s' (%s) must be given: %s", plugin->options[i].name,
                               value_type_name(plugin->options[i].type), plugin->options[i].doc);
    }
    return result;
}

/* --- loading --------------------------------------------------------------------------------------------------------- */

static void close_library(plugin_t *plugin)
{
    if (plugin->guard != NULL)
        guard_drop_image(plugin->guard, plugin->image_begin);
    if (plugin->library == NULL)
        return;
    os_library_close(plugin->library);
#if defined(BACKPLANE_AUDIT)
    loader_t *loader = plugin->loader;
    if (loader == NULL || plugin->image_begin == NULL || loader->retired_count == LOADER_RETIRED)
        return;
    struct retired_t *retired = &loader->retired[loader->retired_count++];
    retired->begin = plugin->image_begin;
    retired->end = plugin->image_end;
    snprintf(retired->name, sizeof retired->name, "%s %.30s", plugin->name == NULL ? "?" : plugin->name, plugin->version == NULL ? "" : plugin->version);
#endif
}

#if defined(BACKPLANE_AUDIT)
typedef struct finding_t {
    const loader_t *loader;
    const struct retired_t *retired;
} finding_t;

static void log_stale(void *data, const char *account, size_t block_size, size_t offset, uintptr_t address)
{
    const finding_t *f = data;
    log_write(&f->loader->base->log, BP_LOG_ERROR, "audit",
              "memory of '%s' points into the image of '%s', which has gone: byte %zu of a block of %zu bytes, %zu bytes into the image", account,
              f->retired->name, offset, block_size, (size_t)(address - (uintptr_t)f->retired->begin));
}

/* Another image may lie in its place by now. */
static bool is_taken(const loader_t *loader, const struct retired_t *retired)
{
    for (uint32_t i = 0; i < loader->count; i++) {
        const plugin_t *p = loader->plugins[i];
        if ((uintptr_t)p->image_begin < (uintptr_t)retired->end && (uintptr_t)retired->begin < (uintptr_t)p->image_end)
            return true;
    }
    return false;
}

size_t loader_audit(loader_t *loader)
{
    size_t found = 0;
    for (uint32_t i = 0; i < loader->retired_count; i++) {
        finding_t f = {loader, &loader->retired[i]};
        if (!is_taken(loader, f.retired))
            found += audit_search(&loader->base->memory, f.retired->begin, f.retired->end, log_stale, &f);
    }
    loader->retired_count = 0;
    return found;
}
#endif

/* Have the plugin's verbs guarded, where there is a guard, from before the first of them runs. */
static bp_result_t guard_library(loader_t *loader, plugin_t *plugin)
{
    plugin->loader = loader;
    bool known = os_library_image(plugin->library, &plugin->image_begin, &plugin->image_end);
    if (loader->guard == NULL || !known)
        return BP_OK;
    if (!guard_add_image(loader->guard, plugin->image_begin, plugin->image_end))
        return error_memory(&loader->base->error, "loading a plugin");
    plugin->guard = loader->guard;
    return BP_OK;
}

static void free_content(loader_t *loader, plugin_t *plugin)
{
    memory_t *memory = &loader->memory;
    free_options(loader, plugin);
    free_given(loader, plugin);
    if (memory_bytes(&plugin->memory) > 0)
        log_write(&loader->base->log, BP_LOG_WARNING, plugin->name == NULL ? "plugin" : plugin->name,
                  "%zu bytes of its memory were not given back", memory_bytes(&plugin->memory));
    close_library(plugin);
    if (plugin->copy != NULL)
        loader_remove_copy(loader, plugin->copy);
    memory_free_text(memory, plugin->copy);
    memory_free_text(memory, plugin->name);
    memory_free_text(memory, plugin->version);
    memory_free_text(memory, plugin->doc);
    memory_free_text(memory, plugin->path);
}

static void free_plugin(loader_t *loader, plugin_t *plugin)
{
    free_content(loader, plugin);
    memory_free(&loader->memory, plugin, sizeof *plugin);
}

static bool copy_desc(loader_t *loader, plugin_t *plugin, const bp_plugin_desc_t *desc)
{
    memory_t *memory = &loader->memory;
    memcpy(&plugin->desc, desc, desc->struct_size < sizeof plugin->desc ? desc->struct_size : sizeof plugin->desc);
    plugin->name = memory_copy_text(memory, desc->name);
    plugin->version = memory_copy_text(memory, desc->version == NULL ? "" : desc->version);
    plugin->doc = memory_copy_text(memory, desc->doc == NULL ? "" : desc->doc);
    if (plugin->name == NULL || plugin->version == NULL || plugin->doc == NULL)
        return false;
    plugin->desc.name = plugin->memory.name = plugin->name;
    plugin->desc.version = plugin->version;
    plugin->desc.doc = plugin->doc;
    plugin->seen = (bp_plugin_t){
        .struct_size = sizeof(bp_plugin_t), .api = loader->api, .host = loader->host, .name = plugin->name};
    return true;
}

bp_result_t loader_register(loader_t *loader, plugin_t *plugin)
{
    const bp_plugin_desc_t *desc = &plugin->desc;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < desc->components.count && result == BP_OK; i++) {
        const char *item = (const char *)desc->components.items + (size_t)i * desc->components.item_size;
        result = registry_add_component(loader->registry, plugin, (const bp_component_i *)(const void *)item, desc->components.item_size);
    }
    for (uint32_t i = 0; i < desc->systems.count && result == BP_OK; i++) {
        const char *item = (const char *)desc->systems.items + (size_t)i * desc->systems.item_size;
        result = registry_add_system(loader->registry, plugin, (const bp_system_i *)(const void *)item, desc->systems.item_size);
    }
    return result;
}

bp_result_t loader_run_load(loader_t *loader, plugin_t *plugin)
{
    error_text_t *error = &loader->base->error;
    if (plugin->desc.load == NULL)
        return BP_OK;
    error->text[0] = '\0';
    bp_result_t result = verb_load(plugin);
    if (result == BP_OK)
        return BP_OK;
    if (error->text[0] == '\0')
        error_set(error, result, "it gave no reason (code %d)", result);
    return error_prefix(error, result, "its load failed: ");
}

static bp_result_t bring_in(loader_t *loader, plugin_t *plugin, const bp_plugin_desc_t *desc, const bp_option_t *options,
                            uint32_t option_count)
{
    bp_result_t result = judge(loader, desc, NULL);
    if (result != BP_OK)
        return result;
    if (!copy_desc(loader, plugin, desc) ||
        !memory_reserve(&loader->memory, &loader->plugins, &loader->capacity, loader->count + 1u, sizeof *loader->plugins))
        return error_memory(&loader->base->error, "loading it");
    result = read_options(loader, plugin, options, option_count);
    if (result != BP_OK)
        return result;
    result = loader_register(loader, plugin);
    if (result == BP_OK)
        result = loader_run_load(loader, plugin);
    if (result != BP_OK)
        registry_sweep(loader->registry, plugin);
    else
        loader->plugins[loader->count++] = plugin;
    return result;
}

/* The bytes of a file (free size + 1), if they are those of a whole plugin. */
static bp_result_t read_file(loader_t *loader, const char *path, char **bytes, size_t *size)
{
    char why[256];
    error_text_t *error = &loader->base->error;
    bp_result_t result = file_read(&loader->memory, path, bytes, size, error);
    if (result != BP_OK || image_check(*bytes, *size, BP_PLUGIN_SYMBOL, why, sizeof why))
        return result;
    memory_free(&loader->memory, *bytes, *size + 1);
    return error_set(error, BP_ERROR_ABI, "%s: %s", path, why);
}

/* A file that is being written while it is read differs from itself. */
static bp_result_t read_twice(loader_t *loader, const char *path, char **bytes, size_t *size)
{
    char *again;
    size_t again_size;
    bp_result_t result = read_file(loader, path, bytes, size);
    if (result != BP_OK)
        return result;
    result = file_read(&loader->memory, path, &again, &again_size, &loader->base->error);
    if (result == BP_OK) {
        if (again_size != *size || memcmp(again, *bytes, *size) != 0)
            result = error_set(&loader->base->error, BP_ERROR_IO, "%s: it is being written; try again when it is whole", path);
        memory_free(&loader->memory, again, again_size + 1);
    }
    if (result != BP_OK)
        memory_free(&loader->memory, *bytes, *size + 1);
    return result;
}

static bp_result_t open_library(loader_t *loader, plugin_t *plugin, const char *path, const bp_plugin_desc_t **desc)
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

static bp_result_t open_file(loader_t *loader, plugin_t *plugin, const char *path, const bp_plugin_desc_t **desc)
{
    char *bytes;
    size_t size;
    bp_result_t result = BP_OK;
    plugin->path = memory_copy_text(&loader->memory, path);
    if (plugin->path == NULL)
        return error_memory(&loader->base->error, "loading a plugin");
    file_stamp(path, &plugin->stamp);
    if (loader->copies && loader_copy(loader, path, &plugin->copy) == BP_OK) {
        result = open_library(loader, plugin, plugin->copy, desc);
        if (result == BP_OK || plugin->library != NULL)
            return result;
        loader_remove_copy(loader, plugin->copy); /* where temporary files may not be run, the file itself is opened */
        memory_free_text(&loader->memory, plugin->copy);
        plugin->copy = NULL;
    }
    result = read_file(loader, path, &bytes, &size);
    if (result != BP_OK)
        return result;
    memory_free(&loader->memory, bytes, size + 1);
    return open_library(loader, plugin, path, desc);
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

bp_result_t loader_load(loader_t *loader, const char *name_or_path, const bp_option_t *options, uint32_t option_count)
{
    error_text_t *error = &loader->base->error;
    char path[FILE_PATH_MAX];
    loader->located = false;
    const bp_plugin_desc_t *desc = find_static(loader, name_or_path);
    if (desc == NULL && !find_file(name_or_path, path, sizeof path))
        return error_set(error, BP_ERROR_NOT_FOUND, "%s: there is no such plugin file (with or without '%s')", name_or_path, os_library_suffix);
    plugin_t *plugin = memory_new(&loader->memory, sizeof *plugin);
    if (plugin == NULL)
        return error_memory(error, "loading a plugin");
    memory_init_child(&plugin->memory, "plugin", &loader->base->memory);
    plugin->loader = loader;
    bp_result_t result = BP_OK;
    if (desc == NULL) {
        result = open_file(loader, plugin, path, &desc);
    } else {
        plugin->path = memory_copy_text(&loader->memory, "");
        if (plugin->path == NULL)
            result = error_memory(error, "loading a plugin");
    }
    if (result == BP_OK) {
        result = bring_in(loader, plugin, desc, options, option_count);
        if (result != BP_OK && !loader->located)
            error_prefix(error, result, "%s: ", name_or_path);
    }
    if (result != BP_OK)
        free_plugin(loader, plugin);
    return result;
}

void loader_unload(loader_t *loader, plugin_t *plugin)
{
    uint32_t at = 0;
    while (loader->plugins[at] != plugin)
        at++;
    memmove(loader->plugins + at, loader->plugins + at + 1, (loader->count - at - 1) * sizeof *loader->plugins);
    loader->count--;
    if (plugin->desc.unload != NULL)
        verb_unload(plugin);
    registry_sweep(loader->registry, plugin);
    free_plugin(loader, plugin);
}

/* --- new versions ---------------------------------------------------------------------------------------------------- */

static bool need_folder(loader_t *loader)
{
    char path[FILE_PATH_MAX];
    if (loader->folder != NULL)
        return true;
    if (!os_folder_create_temporary("backplane", path, sizeof path))
        return false;
    loader->folder = memory_copy_text(&loader->memory, path);
    if (loader->folder == NULL)
        os_folder_remove(path);
    return loader->folder != NULL;
}

bp_result_t loader_copy(loader_t *loader, const char *path, char **copy)
{
    char stem[128], name[192], own[FILE_PATH_MAX], *bytes;
    size_t size;
    error_text_t *error = &loader->base->error;
    bp_result_t result = read_twice(loader, path, &bytes, &size);
    if (result != BP_OK)
        return result;
    file_stem(path, stem, sizeof stem);
    snprintf(name, sizeof name, "%s.%u%s", stem, ++loader->copy_count, os_library_suffix);
    *copy = NULL;
    if (!need_folder(loader) || !file_path_join(loader->folder, name, own, sizeof own))
        result = error_set(error, BP_ERROR_IO, "%s: there is no folder for a copy of it; set TMPDIR to one that can be written", path);
    if (result == BP_OK)
        result = file_write(own, bytes, size, error);
    memory_free(&loader->memory, bytes, size + 1);
    if (result != BP_OK)
        return result;
    *copy = memory_copy_text(&loader->memory, own);
    if (*copy != NULL)
        return BP_OK;
    loader_remove_copy(loader, own);
    return error_memory(error, "copying a plugin");
}

void loader_remove_copy(loader_t *loader, const char *copy)
{
    if (!loader->on_trial)
        remove(copy);
}

static bp_result_t open_version(loader_t *loader, const plugin_t *plugin, const char *copy, plugin_t *version)
{
    const bp_plugin_desc_t *desc;
    version->path = memory_copy_text(&loader->memory, plugin->path);
    if (version->path == NULL)
        return error_memory(&loader->base->error, "opening a new version");
    bp_result_t result = open_library(loader, version, copy, &desc);
    if (result != BP_OK)
        return result;
    result = judge(loader, desc, plugin);
    if (result == BP_OK && !copy_desc(loader, version, desc))
        result = error_memory(&loader->base->error, "opening a new version");
    if (result == BP_OK)
        result = read_options(loader, version, plugin->given, plugin->given_count);
    return result == BP_OK || loader->located ? result : error_prefix(&loader->base->error, result, "%s: ", plugin->path);
}

bp_result_t loader_open_version(loader_t *loader, plugin_t *plugin, char *copy, plugin_t *version)
{
    memset(version, 0, sizeof *version);
    memory_init_child(&version->memory, "plugin", &loader->base->memory);
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
}
