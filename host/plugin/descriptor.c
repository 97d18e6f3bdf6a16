/* descriptor.c - the descriptor of a plugin: judged as data, then copied into the host's own lists.
 *
 * The magic, the sizes, the versions, the name and the lists are judged in this order, since each can be read only if
 * those before it are right. Items are copied at the host's size: members that newer headers have appended are cut off,
 * so that the rest of the host reads items of one size.
 *
 * Not here: declarations of fields and terms (declared.c), files and options (loader.c, options.c).
 */
#include "loader.h"

#include "../base/error.h"
#include "../base/strings.h"
#include "../os/os.h"
#include "plugin.h"

/* --- judged ------------------------------------------------------------------------------------------------------- */

enum {
    HEAD_2_0 = sizeof(bp_plugin_head_t), /* bytes in ABI 2.0: members appended later may be missing */
    DESC_2_0 = sizeof(bp_plugin_desc_t)
};

/* A head of any contract begins with a magic that differs in its last byte, the major as a digit. */
static bool is_head(uint64_t magic)
{
    return ((magic ^ BP_PLUGIN_MAGIC) & UINT64_C(0x00FFFFFFFFFFFFFF)) == 0;
}

static bp_result_t refuse_address(error_text_t *error, const char *what, const void *address)
{
    return error_set(error, BP_ERROR_ABI,
                     "%s lies at %p, where nothing can be read: its file is damaged, or the address is none", what,
                     address);
}

static bp_result_t judge_head(error_text_t *error, const bp_plugin_head_t *head)
{
    if (!os_can_read(head, HEAD_2_0))
        return refuse_address(error, "its '" BP_PLUGIN_SYMBOL "'", (const void *)head);
    if (!is_head(head->magic))
        return error_set(error, BP_ERROR_ABI,
                         "its '" BP_PLUGIN_SYMBOL "' is no head of a plugin (wrong magic); define it with BP_PLUGIN");
    if (head->pointer_size != sizeof(void *))
        return error_set(error, BP_ERROR_ABI, "it was built for pointers of %u bytes; this host has %zu",
                         head->pointer_size, sizeof(void *));
    if (head->abi_major != BP_ABI_MAJOR)
        return error_set(error, BP_ERROR_ABI,
                         "it was built for contract %u; this host has contract %u: rebuild it with this version's "
                         "headers",
                         head->abi_major, BP_ABI_MAJOR);
    if (head->magic != BP_PLUGIN_MAGIC)
        return error_set(error, BP_ERROR_ABI,
                         "its '" BP_PLUGIN_SYMBOL
                         "' has the magic of another contract than the %u that it says; define it with BP_PLUGIN",
                         head->abi_major);
    if (head->struct_size < HEAD_2_0)
        return error_set(error, BP_ERROR_ABI,
                         "its head has %u bytes; ABI 2.0 has %d: rebuild it with this version's headers",
                         head->struct_size, HEAD_2_0);
    if (head->desc == NULL || head->desc_size < DESC_2_0)
        return error_set(error, BP_ERROR_ABI,
                         "its descriptor has %u bytes; ABI 2.0 has %d: rebuild it with this version's headers",
                         head->desc == NULL ? 0 : head->desc_size, DESC_2_0);
    return BP_OK;
}

bp_result_t descriptor_judge(error_text_t *error, const bp_plugin_head_t *head)
{
    bp_result_t result = judge_head(error, head);
    if (result != BP_OK)
        return result;
    const bp_plugin_desc_t *desc = head->desc;
    if (!os_can_read(desc, DESC_2_0))
        return refuse_address(error, "its descriptor", (const void *)desc);
    const char *const texts[] = {head->name, desc->version, desc->doc};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!declared_can_read_text(texts[i]))
            return refuse_address(error, "a text of its descriptor", texts[i]);
    }
    if (head->name == NULL || !names_is_word(head->name))
        return error_set(error, BP_ERROR_ARGUMENT,
                         "it has no proper name; a name is 1 to 63 letters, digits or underscores");
    if (desc->least_minor > BP_ABI_MINOR)
        return error_set(error, BP_ERROR_ABI, "it needs ABI %u.%u; this host has %u.%u", BP_ABI_MAJOR,
                         desc->least_minor, BP_ABI_MAJOR, BP_ABI_MINOR);
    if (desc->flags_required != 0)
        return error_set(error, BP_ERROR_ABI, "it needs what its flags 0x%llx stand for, which this host does not know",
                         (unsigned long long)desc->flags_required);
    if ((desc->components.count > 0 && desc->components.items == NULL) ||
        (desc->systems.count > 0 && desc->systems.items == NULL) ||
        (desc->options.count > 0 && desc->options.items == NULL) ||
        (desc->tables.count > 0 && desc->tables.items == NULL) ||
        (desc->tasks.count > 0 && desc->tasks.items == NULL) ||
        (desc->loaders.count > 0 && desc->loaders.items == NULL))
        return error_set(error, BP_ERROR_ABI, "a list of its descriptor has a count but no items; use BP_LIST");
    return BP_OK;
}

/* --- copied ------------------------------------------------------------------------------------------------------- */

void descriptor_free_lists(memory_t *memory, plugin_t *plugin)
{
    memory_free(memory, (void *)(uintptr_t)plugin->desc.components.items,
                plugin->desc.components.count * sizeof(bp_component_i));
    memory_free(memory, (void *)(uintptr_t)plugin->desc.systems.items,
                plugin->desc.systems.count * sizeof(bp_system_i));
    memory_free(memory, (void *)(uintptr_t)plugin->desc.tasks.items, plugin->desc.tasks.count * sizeof(bp_task_t));
    memory_free(memory, (void *)(uintptr_t)plugin->desc.loaders.items,
                plugin->desc.loaders.count * sizeof(bp_loader_t));
}

/* Copy a list as items of the host's size, where it has any. Items must not be smaller; what is larger is cut off. An
   item without a name gets the plugin's. */
static bp_result_t copy_list(loader_t *loader, const char *kind, const char *name, const void *items, uint32_t count,
                             uint32_t item_size, size_t known, void **copy)
{
    if (count == 0)
        return BP_OK;
    if (item_size < known)
        return error_set(&loader->base->error, BP_ERROR_ABI,
                         "a %s of %u bytes is too small; use BP_LIST, and rebuild it with this version's headers", kind,
                         item_size);
    if (!os_can_read(items, (size_t)count * item_size))
        return refuse_address(&loader->base->error, "a list of its descriptor", items);
    char *made = memory_new(&loader->memory, count * known);
    if (made == NULL)
        return error_memory(&loader->base->error, "copying what it brings");
    for (uint32_t i = 0; i < count; i++) {
        char *item = made + i * known;
        const char *given;
        memcpy(item, (const char *)items + (size_t)i * item_size, known);
        memcpy(&given, item, sizeof given);
        memcpy(item, given == NULL ? &name : &given, sizeof name);
    }
    *copy = made;
    return BP_OK;
}

static bp_result_t check_tasks(loader_t *loader, const plugin_t *plugin)
{
    error_text_t *error = &loader->base->error;
    const bp_task_t *tasks = plugin->desc.tasks.items;
    for (uint32_t i = 0; i < plugin->desc.tasks.count; i++) {
        if (!names_is_word(tasks[i].name))
            return error_set(error, BP_ERROR_ARGUMENT,
                             "a task's name must be 1 to 63 letters, digits or underscores, not '%.40s'",
                             tasks[i].name);
        if (tasks[i].run == NULL)
            return error_set(error, BP_ERROR_ARGUMENT, "task '%s' has no function", tasks[i].name);
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(tasks[k].name, tasks[i].name) == 0)
                return error_set(error, BP_ERROR_ARGUMENT, "two tasks are called '%s'", tasks[i].name);
        }
    }
    return BP_OK;
}

static bp_result_t copy_lists(loader_t *loader, plugin_t *plugin, const bp_plugin_desc_t *desc)
{
    void *components = NULL, *systems = NULL, *tasks = NULL, *loaders = NULL;
    const bp_component_list_t *c = &desc->components;
    const bp_system_list_t *s = &desc->systems;
    const bp_task_list_t *t = &desc->tasks;
    const bp_loader_list_t *l = &desc->loaders;
    bp_result_t result = declared_judge_lists(&loader->base->error, plugin, desc);
    if (result != BP_OK)
        return result;
    result =
        copy_list(loader, "component", plugin->name, c->items, c->count, c->item_size, sizeof *c->items, &components);
    plugin->desc.components = (bp_component_list_t){components, components == NULL ? 0 : c->count, sizeof *c->items};
    if (result == BP_OK)
        result =
            copy_list(loader, "system", plugin->name, s->items, s->count, s->item_size, sizeof *s->items, &systems);
    plugin->desc.systems = (bp_system_list_t){systems, systems == NULL ? 0 : s->count, sizeof *s->items};
    if (result == BP_OK)
        result = copy_list(loader, "task", plugin->name, t->items, t->count, t->item_size, sizeof *t->items, &tasks);
    plugin->desc.tasks = (bp_task_list_t){tasks, tasks == NULL ? 0 : t->count, sizeof *t->items};
    if (result == BP_OK)
        result =
            copy_list(loader, "loader", plugin->name, l->items, l->count, l->item_size, sizeof *l->items, &loaders);
    plugin->desc.loaders = (bp_loader_list_t){loaders, loaders == NULL ? 0 : l->count, sizeof *l->items};
    if (result == BP_OK)
        result = declared_judge_items(&loader->base->error, plugin, &plugin->desc);
    if (result == BP_OK)
        result = declared_copy(&loader->base->error, &loader->memory, &plugin->desc, &plugin->declared);
    return result == BP_OK ? check_tasks(loader, plugin) : result;
}

/* Of a whole plugin there is no `save`, and its `load` is no `start` that could be called again. */
static bp_result_t check_keeping(error_text_t *error, const bp_plugin_desc_t *desc)
{
    if (desc->load == NULL)
        return BP_OK;
    if (desc->keeps == BP_KEEP_ANEW || desc->keeps == BP_KEEP_SAVED)
        return error_set(error, BP_ERROR_ARGUMENT,
                         "it keeps its own state by BP_KEEP_%s, which is for components and systems; a whole plugin "
                         "keeps it by BP_KEEP_PLAIN, or says BP_KEEP_NOTHING",
                         desc->keeps == BP_KEEP_ANEW ? "ANEW" : "SAVED");
    return keeping_check(error, desc->keeps, desc->state_form, true);
}

/* Read the extensions of the plugin's descriptor that the host knows by name. */
static bp_result_t read_extensions(loader_t *loader, plugin_t *plugin)
{
    const extension_place_t places[] = {{"bp_deaths", &plugin->deaths, sizeof plugin->deaths}};
    bp_result_t result = extensions_read(loader->base, plugin->name, &plugin->desc.extensions, places, 1);
    if (result == BP_OK)
        result = deaths_copy(loader->base, &loader->memory, (const bp_deaths_i *)(const void *)&plugin->deaths, NULL,
                             &plugin->asked_deaths);
    plugin->deaths.component = plugin->deaths.field = NULL; /* which lie in the plugin's image */
    return result;
}

bp_result_t descriptor_copy(loader_t *loader, plugin_t *plugin, const bp_plugin_head_t *head)
{
    memory_t *memory = &loader->memory;
    const bp_plugin_desc_t *desc = head->desc;
    memcpy(&plugin->head, head, sizeof plugin->head);
    memcpy(&plugin->desc, desc, head->desc_size < sizeof plugin->desc ? head->desc_size : sizeof plugin->desc);
    plugin->desc.components.count = plugin->desc.systems.count = plugin->desc.tasks.count = 0;
    plugin->desc.loaders = (bp_loader_list_t){NULL, 0, 0};
    plugin->desc.components.items = NULL;
    plugin->desc.systems.items = NULL;
    plugin->desc.tasks.items = NULL;
    plugin->name = memory_copy_text(memory, head->name);
    plugin->version = memory_copy_text(memory, desc->version == NULL ? "" : desc->version);
    plugin->doc = memory_copy_text(memory, desc->doc == NULL ? "" : desc->doc);
    if (plugin->name == NULL || plugin->version == NULL || plugin->doc == NULL)
        return error_memory(&loader->base->error, "loading it");
    plugin->head.name = atomic_load(&plugin->account)->name = plugin->name;
    plugin->head.desc = &plugin->desc;
    plugin->desc.version = plugin->version;
    plugin->desc.doc = plugin->doc;
    plugin->handed = (bp_plugin_t){.struct_size = sizeof(bp_plugin_t),
                                   .api = loader->api,
                                   .host = loader->host,
                                   .name = plugin->name,
                                   .user = plugin->content};
    bp_result_t result = check_keeping(&loader->base->error, &plugin->desc);
    if (result == BP_OK)
        result = copy_lists(loader, plugin, desc);
    return result == BP_OK ? read_extensions(loader, plugin) : result;
}
