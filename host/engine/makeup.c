/* makeup.c - images of plugins and lists of names, taken from a host and brought about in it. */
#include "makeup.h"

#include "../base/error.h"
#include "host.h"

#include <string.h>

/* --- images ------------------------------------------------------------------------------------------------------- */

enum { OPTION_TEXTS = 4 };

static const char **text_of(bp_option_t *option, uint32_t number)
{
    const char **texts[OPTION_TEXTS] = {&option->name, &option->value, &option->origin, &option->base};
    return texts[number];
}

void makeup_drop_image(bp_host_o *host, image_t *image)
{
    memory_t *memory = &host->base.memory;
    if (image == NULL || --image->users > 0)
        return;
    if (image->file != NULL)
        loader_remove_copy(&host->loader, image->file);
    memory_free_text(&host->loader.memory, image->file);
    for (uint32_t i = 0; i < image->given_count; i++) {
        for (uint32_t t = 0; t < OPTION_TEXTS; t++)
            memory_free_text(memory, (char *)(uintptr_t)*text_of(&image->given[i], t));
    }
    memory_free(memory, image->given, image->given == NULL ? 0 : image->given_count * sizeof *image->given);
    memory_free(memory, image, sizeof *image);
}

static bool copy_options(memory_t *memory, image_t *image, const plugin_t *plugin)
{
    if (plugin->given_count == 0)
        return true;
    image->given = memory_new(memory, plugin->given_count * sizeof *image->given);
    if (image->given == NULL)
        return false;
    image->given_count = plugin->given_count;
    for (uint32_t i = 0; i < plugin->given_count; i++) {
        for (uint32_t t = 0; t < OPTION_TEXTS; t++) {
            const char *text = *text_of(&plugin->given[i], t);
            if (text != NULL && (*text_of(&image->given[i], t) = memory_copy_text(memory, text)) == NULL)
                return false;
        }
    }
    return true;
}

/* Copy the file that a version was opened from. A version that was opened in place may have been overwritten since:
 * then there is no file. */
static void copy_file(bp_host_o *host, image_t *image, const plugin_t *plugin)
{
    file_stamp_t stamp;
    error_text_t kept = host->base.error;
    bool library = loader_kind(&host->loader, plugin->path, NULL) == NULL;
    const char *from = plugin->copy != NULL ? plugin->copy : plugin->path;
    bool is_it = plugin->copy != NULL ||
                 (file_stamp(plugin->path, &stamp) && memcmp(&stamp, &plugin->stamp, sizeof stamp) == 0);
    if (!is_it || copies_make(&host->loader.files, from, library, &image->file) != BP_OK)
        image->file = NULL;
    host->base.error = kept;
}

static image_t *find_image(const makeup_t *makeup, uint64_t number)
{
    for (uint32_t i = 0; makeup != NULL && number != 0 && i < makeup->plugin_count; i++) {
        if (makeup->plugins[i].image != NULL && makeup->plugins[i].image->number == number)
            return makeup->plugins[i].image;
    }
    return NULL;
}

/* The image of a plugin's version; NULL without memory. A version of this host keeps the number that it has, so that
 * all images of the version have the same one. */
static image_t *image_of(bp_host_o *host, plugin_t *plugin, const makeup_t *like, bool own)
{
    image_t *image = find_image(like, plugin->image);
    if (image != NULL) {
        image->users++;
        return image;
    }
    image = memory_new(&host->base.memory, sizeof *image);
    if (image == NULL)
        return NULL;
    image->users = 1;
    if (!copy_options(&host->base.memory, image, plugin)) {
        makeup_drop_image(host, image);
        return NULL;
    }
    copy_file(host, image, plugin);
    if (!own || plugin->image == 0)
        plugin->image = ++host->images;
    image->number = plugin->image;
    return image;
}

/* --- written down ------------------------------------------------------------------------------------------------- */

void makeup_free(bp_host_o *host, makeup_t *makeup)
{
    memory_t *memory = &host->base.memory;
    if (makeup == NULL)
        return;
    for (uint32_t i = 0; makeup->plugins != NULL && i < makeup->plugin_count; i++) {
        memory_free_text(memory, makeup->plugins[i].name);
        makeup_drop_image(host, makeup->plugins[i].image);
    }
    for (uint32_t i = 0; makeup->worlds != NULL && i < makeup->world_count; i++) {
        wants_free(&makeup->worlds[i].wants);
        wants_free(&makeup->worlds[i].units);
    }
    memory_free(memory, makeup->plugins,
                makeup->plugins == NULL ? 0 : makeup->plugin_count * sizeof *makeup->plugins);
    memory_free(memory, makeup->worlds, makeup->worlds == NULL ? 0 : makeup->world_count * sizeof *makeup->worlds);
    memory_free(memory, makeup, sizeof *makeup);
}

static bool copy_plugins(bp_host_o *host, makeup_t *makeup, const bp_host_o *of, const makeup_t *like)
{
    const plugins_t *plugins = &of->loader.plugins;
    if (plugins->count == 0)
        return true;
    makeup->plugins = memory_new(&host->base.memory, plugins->count * sizeof *makeup->plugins);
    makeup->plugin_count = makeup->plugins == NULL ? 0 : plugins->count;
    for (uint32_t i = 0; i < makeup->plugin_count; i++) {
        plugin_t *plugin = plugins->items[i];
        makeup->plugins[i].name = memory_copy_text(&host->base.memory, plugin->name);
        if (makeup->plugins[i].name == NULL)
            return false;
        if (plugin->path[0] != '\0' && (makeup->plugins[i].image = image_of(host, plugin, like, of == host)) == NULL)
            return false;
    }
    return makeup->plugins != NULL;
}

static bool copy_world(made_world_t *made, const bp_world_o *world, memory_t *memory)
{
    const schedule_t *schedule = world->schedule;
    made->wants.memory = made->units.memory = memory;
    for (uint32_t i = 0; i < world->wants.count; i++) {
        if (!wants_add(&made->wants, world->wants.items[i].name, world->wants.items[i].system))
            return false;
        made->wants.items[i].again = world->wants.items[i].again;
    }
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (!wants_add(&made->units, schedule->units[i]->name, schedule->units[i]->system != NULL))
            return false;
    }
    return true;
}

static bool copy_worlds(bp_host_o *host, makeup_t *makeup, const bp_host_o *of)
{
    uint32_t count = of->destruction.world_count;
    if (count == 0)
        return true;
    makeup->worlds = memory_new(&host->base.memory, count * sizeof *makeup->worlds);
    makeup->world_count = makeup->worlds == NULL ? 0 : count;
    for (uint32_t i = 0; i < makeup->world_count; i++) {
        if (!copy_world(&makeup->worlds[i], host_world(of, i), &host->base.memory))
            return false;
    }
    return makeup->worlds != NULL;
}

bp_result_t makeup_look(bp_host_o *host, const bp_host_o *of, const makeup_t *like, makeup_t **out)
{
    makeup_t *makeup = memory_new(&host->base.memory, sizeof *makeup);
    if (makeup != NULL && copy_plugins(host, makeup, of, like) && copy_worlds(host, makeup, of)) {
        *out = makeup;
        return BP_OK;
    }
    makeup_free(host, makeup);
    return error_memory(&host->base.error, "writing down what the host is made of");
}

static bp_result_t look(void *context, const makeup_t *like, makeup_t **out)
{
    return makeup_look(context, context, like, out);
}

/* --- compared ----------------------------------------------------------------------------------------------------- */

static bool same_units(const made_world_t *made, const schedule_t *schedule)
{
    bool same = made->units.count == schedule->count;
    for (uint32_t i = 0; i < schedule->count && same; i++)
        same = made->units.items[i].system == (schedule->units[i]->system != NULL) &&
               strcmp(made->units.items[i].name, schedule->units[i]->name) == 0;
    return same;
}

static bool has_other_version(const made_plugin_t *made, const plugin_t *plugin)
{
    return made->image != NULL && made->image->number != plugin->image;
}

static bool is(void *context, const makeup_t *makeup)
{
    const bp_host_o *host = context;
    bool same = makeup->plugin_count == host->loader.plugins.count &&
                makeup->world_count == host->destruction.world_count;
    for (uint32_t i = 0; i < makeup->plugin_count && same; i++)
        same = !has_other_version(&makeup->plugins[i], host->loader.plugins.items[i]);
    for (uint32_t i = 0; i < makeup->world_count && same; i++)
        same = same_units(&makeup->worlds[i], host_world(host, i)->schedule);
    return same;
}

/* --- brought about ------------------------------------------------------------------------------------------------ */

static void drop_systems(bp_world_o *world, const made_world_t *made)
{
    for (uint32_t i = world->schedule->count; i > 0; i--) {
        const unit_t *unit = world->schedule->units[i - 1];
        if (unit->system != NULL && !wants_has(&made->units, unit->name, true))
            schedule_drop_system(world->schedule, unit->system);
    }
}

static bp_result_t take_wants(bp_world_o *world, const made_world_t *made)
{
    wants_t next = {.memory = world->wants.memory};
    for (uint32_t i = 0; i < made->wants.count; i++) {
        if (!wants_add(&next, made->wants.items[i].name, made->wants.items[i].system)) {
            wants_free(&next);
            return error_memory(&world->rows.base->error, "going to another time");
        }
        next.items[i].again = made->wants.items[i].again;
    }
    wants_become(&world->wants, &next);
    return BP_OK;
}

static bp_result_t return_versions(bp_host_o *host, const makeup_t *makeup)
{
    reload_kept_t kept[RELOAD_MAX_PLUGINS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < makeup->plugin_count; i++) {
        const made_plugin_t *made = &makeup->plugins[i];
        plugin_t *plugin = host->loader.plugins.items[i];
        if (!has_other_version(made, plugin))
            continue;
        if (made->image->file == NULL)
            return error_set(&host->base.error, BP_ERROR_STATE,
                             "plugin '%s' had another version then, of which no copy could be kept", made->name);
        if (count == RELOAD_MAX_PLUGINS)
            return error_set(&host->base.error, BP_ERROR_LIMIT, "more than %d plugins had other versions then",
                             RELOAD_MAX_PLUGINS);
        kept[count++] = (reload_kept_t){plugin, made->image->file, made->image->given, made->image->given_count,
                                        made->image->number};
    }
    if (count == 0)
        return BP_OK;
    bp_result_t result = reload_return(&host->reload, kept, count);
    for (uint32_t i = 0; i < count && result == BP_OK; i++)
        log_write(&host->base.log, BP_LOG_INFO, "host", "history: plugin '%s' is of version %s here",
                  kept[i].plugin->name, kept[i].plugin->version);
    return result == BP_OK ? BP_OK : error_prefix(&host->base.error, result, "the versions of then: ");
}

static bp_result_t bring_units(bp_world_o *world, const made_world_t *made)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < made->units.count && result == BP_OK; i++) {
        const want_t *unit = &made->units.items[i];
        if (unit->system && !host_has(world, unit->name, true))
            result = bp_world_use_system(world, unit->name);
    }
    if (result == BP_OK && !schedule_arrange_by(world->schedule, &made->units))
        result = error_set(&world->rows.base->error, BP_ERROR_STATE, "world '%s' had other units then",
                           world->rows.name);
    return result == BP_OK ? take_wants(world, made) : result;
}

bp_result_t makeup_become(bp_host_o *host, const makeup_t *makeup)
{
    bp_result_t result = BP_OK;
    if (makeup->plugin_count != host->loader.plugins.count || makeup->world_count != host->destruction.world_count)
        return error_set(&host->base.error, BP_ERROR_STATE, "the host had other plugins or worlds then");
    for (uint32_t i = 0; i < makeup->world_count; i++)
        drop_systems(host_world(host, i), &makeup->worlds[i]);
    result = return_versions(host, makeup);
    for (uint32_t i = 0; i < makeup->world_count && result == BP_OK; i++)
        result = bring_units(host_world(host, i), &makeup->worlds[i]);
    host->wants_seen = host->reload.changes;
    return result;
}

static bp_result_t become(void *context, const makeup_t *makeup)
{
    return makeup_become(context, makeup);
}

static void drop(void *context, makeup_t *makeup)
{
    makeup_free(context, makeup);
}

makers_t makeup_makers(bp_host_o *host)
{
    return (makers_t){.context = host,
                      .look = look,
                      .become = become,
                      .is = is,
                      .drop = drop,
                      .write = makeup_write,
                      .read = makeup_read};
}
