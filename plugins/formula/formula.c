/* formula.c - the plugin that opens files of formulas: each is a plugin with components (docs/loaders.md).
 *
 *     component culture "bacteria that double until there is no room"
 *       field mass = 1 min 0 unit g "what they weigh"
 *       field rate = 0.02
 *       do mass = mass + rate * mass * dt
 *
 * The fields are declared fields as those of any component, in columns of the world. All components share one
 * `simulate`, which finds its program in m->user.
 */
#include "formula.h"

#include <string.h>

/* --- memory ------------------------------------------------------------------------------------------------------- */

void *formula_take(bp_formula_t *file, size_t size)
{
    size_t whole = sizeof(formula_block_t) + size;
    formula_block_t *block = file->plugin->api->memory->resize(file->plugin, NULL, 0, whole);
    if (block == NULL)
        return NULL;
    memset(block, 0, whole);
    *block = (formula_block_t){.next = file->blocks, .size = whole};
    file->blocks = block;
    return block + 1;
}

/* Arrays have room for a power of two. */
void *formula_grow(bp_formula_t *file, void *items, uint32_t count, size_t item_size)
{
    if (count > 0 && (count & (count - 1)) != 0)
        return items;
    void *more = formula_take(file, (count == 0 ? 1 : (size_t)count * 2) * item_size);
    if (more != NULL && count > 0)
        memcpy(more, items, count * item_size);
    return more;
}

static void end_file(bp_plugin_t *plugin, void *content)
{
    bp_formula_t *file = content;
    while (file->blocks != NULL) {
        formula_block_t *block = file->blocks;
        file->blocks = block->next;
        plugin->api->memory->resize(plugin, block, block->size, 0);
    }
    plugin->api->memory->resize(plugin, file, sizeof *file, 0);
}

/* --- what it brings ----------------------------------------------------------------------------------------------- */

static bp_component_i declare(formula_component_t *component)
{
    return (bp_component_i){
        .name = component->name,
        .doc = component->doc,
        .flags = BP_COMPONENT_PARALLEL | BP_COMPONENT_CONCURRENT,
        .fields = {component->fields, component->field_count, (uint32_t)sizeof *component->fields},
        .simulate = component->step_count > 0 ? formula_simulate : NULL,
        .user = component,
    };
}

static bp_result_t make_head(bp_formula_t *file)
{
    uint32_t count = file->component_count;
    file->declared = formula_take(file, count * sizeof *file->declared);
    if (file->declared == NULL)
        return BP_ERROR_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        file->declared[i] = declare(file->components[i]);
    file->desc = (bp_plugin_desc_t){
        .version = file->version,
        .doc = file->doc,
        .components = {file->declared, count, (uint32_t)sizeof *file->declared},
    };
    file->head = (bp_plugin_head_t)BP_PLUGIN_HEAD(file->name, &file->desc);
    return BP_OK;
}

static bp_result_t open_file(bp_plugin_t *plugin, const char *path, const char *bytes, size_t size,
                             const bp_plugin_head_t **head, void **content)
{
    if (memchr(bytes, '\0', size) != NULL)
        return plugin->api->error->set(plugin->host, BP_ERROR_SYNTAX, "a file of formulas has a zero in it");
    bp_formula_t *file = plugin->api->memory->resize(plugin, NULL, 0, sizeof *file);
    if (file == NULL)
        return plugin->api->error->set(plugin->host, BP_ERROR_MEMORY, "out of memory while opening formulas");
    *file = (bp_formula_t){.plugin = plugin};
    bp_result_t result = formula_read(file, path, bytes);
    if (result == BP_OK)
        result = make_head(file);
    if (result == BP_ERROR_MEMORY)
        plugin->api->error->set(plugin->host, result, "out of memory while opening formulas");
    if (result != BP_OK) {
        end_file(plugin, file);
        return result;
    }
    *head = &file->head;
    *content = file;
    return BP_OK;
}

static const bp_loader_t loaders[] = {{.ending = "formula", .open = open_file, .close = end_file}};

BP_PLUGIN(formula) = {
    .version = "1.0", .doc = "opens files of formulas: components without a compiler", .loaders = BP_LIST(loaders)};
