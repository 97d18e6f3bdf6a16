/* makeup.c - images of plugins and lists of names, taken from a host and brought about in it; and as bytes, for a
 * recording, which another process plays:
 *
 *     plugins  how many; of each its name, and what follows: nothing, since it is linked in; that its version is the
 *              one of the makeup before; that there is no copy of its file; or the options that were given to it and
 *              its file
 *     worlds   how many; of each what is wanted in it, then the units of its step in their order
 *
 * A version of which the bytes have the options and the file of the one at work here is taken for that one, so that a
 * host which is set up from the same files keeps its versions.
 */
#include "makeup.h"

#include "../base/error.h"
#include "../base/file.h"
#include "host.h"

#include <string.h>

/* --- images ------------------------------------------------------------------------------------------------------- */

enum { OPTION_TEXTS = 4 };

/* What follows the name of a plugin in the bytes. */
enum { LINKED_IN, AS_BEFORE, NO_FILE, FILE_FOLLOWS, ALIGN = 16, LEAST = 8 /* bytes of any item */ };

static const char **text_of(bp_option_t *option, uint32_t number)
{
    const char **texts[OPTION_TEXTS] = {&option->name, &option->value, &option->origin, &option->base};
    return texts[number];
}

void makeup_drop_image(bp_host_o *host, image_t *image)
{
    memory_t *memory = &host->makeups;
    if (image == NULL || --image->users > 0)
        return;
    if (image->file != NULL)
        loader_remove_copy(&host->loader, image->file);
    memory_free_text(memory, image->file);
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

/* The copy of a file belongs to the image from now on, as does its path. False without memory: the copy is removed, and
 * the error is set. */
static bool own_copy(bp_host_o *host, image_t *image, char *copy)
{
    image->file = memory_copy_text(&host->makeups, copy);
    if (image->file == NULL) {
        loader_remove_copy(&host->loader, copy);
        error_memory(&host->base.error, "keeping a copy of a plugin's file");
    }
    memory_free_text(&host->loader.memory, copy);
    return image->file != NULL;
}

/* Is the file still there that the version was opened from? A version that was opened in place may have been
 * overwritten since. */
static bool has_file(const plugin_t *plugin)
{
    file_stamp_t stamp;
    return plugin->copy != NULL ||
           (file_stamp(plugin->path, &stamp) && memcmp(&stamp, &plugin->stamp, sizeof stamp) == 0);
}

/* Copy the file that a version was opened from. Where that cannot be done there is no file, and the log is told. */
static void copy_file(bp_host_o *host, image_t *image, const plugin_t *plugin)
{
    error_text_t kept = host->base.error;
    char *copy = NULL;
    bool library = loader_kind(&host->loader, plugin->path, NULL) == NULL;
    const char *from = plugin->copy != NULL ? plugin->copy : plugin->path;
    bool is_it = has_file(plugin);
    const char *why = is_it ? host->base.error.text : "it has been overwritten since it was opened";
    if (!is_it || copies_make(&host->loader.files, from, plugin->path, library, &copy) != BP_OK ||
        !own_copy(host, image, copy))
        log_write(&host->base.log, BP_LOG_WARNING, "host", "history: the file of plugin '%s' could not be copied (%s): "
                  "once the plugin has another version, there is no going back to this one", plugin->name, why);
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
 * all images of the version have the same one. A file that could not be copied is copied now if it can be. */
static image_t *image_of(bp_host_o *host, plugin_t *plugin, const makeup_t *like, bool own)
{
    image_t *image = find_image(like, plugin->image);
    if (image != NULL) {
        image->users++;
        if (image->file == NULL && has_file(plugin))
            copy_file(host, image, plugin);
        return image;
    }
    image = memory_new(&host->makeups, sizeof *image);
    if (image == NULL)
        return NULL;
    image->users = 1;
    if (!copy_options(&host->makeups, image, plugin)) {
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
    memory_t *memory = &host->makeups;
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
    makeup->plugins = memory_new(&host->makeups, plugins->count * sizeof *makeup->plugins);
    makeup->plugin_count = makeup->plugins == NULL ? 0 : plugins->count;
    for (uint32_t i = 0; i < makeup->plugin_count; i++) {
        plugin_t *plugin = plugins->items[i];
        makeup->plugins[i].name = memory_copy_text(&host->makeups, plugin->name);
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
    makeup->worlds = memory_new(&host->makeups, count * sizeof *makeup->worlds);
    makeup->world_count = makeup->worlds == NULL ? 0 : count;
    for (uint32_t i = 0; i < makeup->world_count; i++) {
        if (!copy_world(&makeup->worlds[i], host_world(of, i), &host->makeups))
            return false;
    }
    return makeup->worlds != NULL;
}

bp_result_t makeup_look(bp_host_o *host, const bp_host_o *of, const makeup_t *like, makeup_t **out)
{
    makeup_t *makeup = memory_new(&host->makeups, sizeof *makeup);
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

/* A plugin that has crashed is opened anew, also where it is of that version. */
static bool is_opened_anew(const made_plugin_t *made, const plugin_t *plugin)
{
    return has_other_version(made, plugin) || (made->image != NULL && plugin_is_aside(plugin));
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
        if (is_opened_anew(made, plugin))
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

/* Are the parts at hand that the host would be given? */
static bp_result_t check(void *context, const makeup_t *makeup)
{
    bp_host_o *host = context;
    uint32_t count = 0;
    if (makeup->plugin_count != host->loader.plugins.count || makeup->world_count != host->destruction.world_count)
        return error_set(&host->base.error, BP_ERROR_STATE, "the host had other plugins or worlds then");
    for (uint32_t i = 0; i < makeup->plugin_count; i++) {
        const made_plugin_t *made = &makeup->plugins[i];
        const plugin_t *plugin = host->loader.plugins.items[i];
        if (!is_opened_anew(made, plugin))
            continue;
        if (made->image->file == NULL)
            return error_set(&host->base.error, BP_ERROR_STATE,
                             "plugin '%s' %s, of which no copy could be kept", made->name,
                             has_other_version(made, plugin) ? "had another version then" : "has crashed in a version");
        if (++count > RELOAD_MAX_PLUGINS)
            return error_set(&host->base.error, BP_ERROR_LIMIT, "more than %d plugins had other versions then",
                             RELOAD_MAX_PLUGINS);
    }
    return BP_OK;
}

bp_result_t makeup_become(bp_host_o *host, const makeup_t *makeup)
{
    bp_result_t result = check(host, makeup);
    if (result != BP_OK)
        return result;
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
                      .memory = &host->makeups,
                      .look = look,
                      .check = check,
                      .become = become,
                      .is = is,
                      .drop = drop,
                      .write = makeup_write,
                      .read = makeup_read};
}

/* --- as bytes: written -------------------------------------------------------------------------------------------- */

static void put_text(bytes_t *bytes, const char *text)
{
    bytes_u32(bytes, text != NULL);
    if (text != NULL)
        bytes_text(bytes, text);
}

static void put_options(bytes_t *bytes, const image_t *image)
{
    bytes_u32(bytes, image->given_count);
    for (uint32_t i = 0; i < image->given_count; i++) {
        put_text(bytes, image->given[i].name);
        put_text(bytes, image->given[i].value);
        put_text(bytes, image->given[i].origin);
        put_text(bytes, image->given[i].base);
    }
}

static const image_t *image_in(const makeup_t *makeup, const char *plugin)
{
    for (uint32_t i = 0; makeup != NULL && i < makeup->plugin_count; i++) {
        if (strcmp(makeup->plugins[i].name, plugin) == 0)
            return makeup->plugins[i].image;
    }
    return NULL;
}

static bp_result_t put_plugin(bp_host_o *host, bytes_t *bytes, const made_plugin_t *made, const makeup_t *before)
{
    const image_t *image = made->image;
    memory_t *memory = &host->base.memory;
    char *file;
    size_t size;
    bytes_text(bytes, made->name);
    if (image == NULL || image == image_in(before, made->name) || image->file == NULL) {
        bytes_u32(bytes, image == NULL ? LINKED_IN : image->file == NULL ? NO_FILE : AS_BEFORE);
        return BP_OK;
    }
    bp_result_t result = file_read_plain(memory, image->file, &file, &size, &host->base.error);
    if (result != BP_OK)
        return result;
    bytes_u32(bytes, FILE_FOLLOWS);
    put_options(bytes, image);
    bytes_u64(bytes, size);
    bytes_align(bytes, ALIGN);
    bytes_put(bytes, file, size);
    memory_free(memory, file, size + 1);
    return BP_OK;
}

static void put_names(bytes_t *bytes, const wants_t *names)
{
    bytes_u32(bytes, names->count);
    for (uint32_t i = 0; i < names->count; i++) {
        bytes_text(bytes, names->items[i].name);
        bytes_u32(bytes, names->items[i].system);
        bytes_u32(bytes, names->items[i].again);
    }
}

bp_result_t makeup_write(void *context, const makeup_t *makeup, const makeup_t *before, bytes_t *bytes)
{
    bp_host_o *host = context;
    bp_result_t result = BP_OK;
    bytes_u32(bytes, makeup->plugin_count);
    for (uint32_t i = 0; i < makeup->plugin_count && result == BP_OK; i++)
        result = put_plugin(host, bytes, &makeup->plugins[i], before);
    bytes_u32(bytes, makeup->world_count);
    for (uint32_t i = 0; i < makeup->world_count; i++) {
        put_names(bytes, &makeup->worlds[i].wants);
        put_names(bytes, &makeup->worlds[i].units);
    }
    return result == BP_OK && bytes->failed ? error_memory(&host->base.error, "writing down plugins") : result;
}

/* --- as bytes: read ----------------------------------------------------------------------------------------------- */

static bp_result_t damaged(bp_host_o *host)
{
    return error_set(&host->base.error, BP_ERROR_SYNTAX, "what the recorded host was made of is damaged");
}

static bp_result_t lacking(bp_host_o *host)
{
    return error_memory(&host->base.error, "reading what the recorded host was made of");
}

/* A text of an option, or NULL; false where memory lacks. */
static bool take_text(bp_host_o *host, reader_t *r, const char **text)
{
    *text = NULL;
    if (reader_u32(r) == 0)
        return true;
    const char *found = reader_text(r);
    return r->failed || (*text = memory_copy_text(&host->makeups, found)) != NULL;
}

static bp_result_t take_options(bp_host_o *host, reader_t *r, image_t *image)
{
    uint32_t count = reader_count(r, 4 * sizeof(uint32_t));
    if (r->failed)
        return damaged(host);
    image->given = count == 0 ? NULL : memory_new(&host->makeups, count * sizeof *image->given);
    if (count > 0 && image->given == NULL)
        return lacking(host);
    image->given_count = count;
    for (uint32_t i = 0; i < count; i++) {
        bp_option_t *option = &image->given[i];
        if (!take_text(host, r, &option->name) || !take_text(host, r, &option->value) ||
            !take_text(host, r, &option->origin) || !take_text(host, r, &option->base))
            return lacking(host);
    }
    return r->failed ? damaged(host) : BP_OK;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Has the plugin at work these options and this file? */
static bool is_at_work(bp_host_o *host, const plugin_t *plugin, const image_t *image, const char *bytes, size_t size)
{
    char *own;
    size_t own_size;
    bool same = plugin->given_count == image->given_count;
    for (uint32_t i = 0; i < image->given_count && same; i++)
        same = same_text(plugin->given[i].name, image->given[i].name) &&
               same_text(plugin->given[i].value, image->given[i].value);
    if (!same || file_read_plain(&host->base.memory, plugin->copy != NULL ? plugin->copy : plugin->path, &own,
                                 &own_size, &host->base.error) != BP_OK)
        return false;
    same = own_size == size && memcmp(own, bytes, size) == 0;
    memory_free(&host->base.memory, own, own_size + 1);
    return same;
}

static bp_result_t take_file(bp_host_o *host, reader_t *r, plugin_t *plugin, image_t *image)
{
    bp_result_t result = take_options(host, r, image);
    if (result != BP_OK)
        return result;
    uint64_t size = reader_u64(r);
    reader_align(r, ALIGN);
    const char *bytes = reader_take(r, size);
    if (bytes == NULL)
        return damaged(host);
    char *copy = NULL;
    bool library = loader_kind(&host->loader, plugin->path, NULL) == NULL;
    result = copies_put(&host->loader.files, plugin->path, library, bytes, (size_t)size, &copy);
    if (result == BP_OK && !own_copy(host, image, copy))
        result = lacking(host);
    if (result == BP_OK && plugin->image == 0 && is_at_work(host, plugin, image, bytes, (size_t)size))
        plugin->image = ++host->images;
    if (result == BP_OK)
        image->number = is_at_work(host, plugin, image, bytes, (size_t)size) ? plugin->image : ++host->images;
    return result;
}

static bp_result_t take_plugin(bp_host_o *host, reader_t *r, uint32_t number, const makeup_t *before,
                               made_plugin_t *made)
{
    const char *name = reader_text(r);
    uint32_t kind = reader_u32(r);
    if (r->failed || kind > FILE_FOLLOWS)
        return damaged(host);
    made->name = memory_copy_text(&host->makeups, name);
    if (made->name == NULL)
        return lacking(host);
    plugin_t *plugin = number < host->loader.plugins.count ? host->loader.plugins.items[number] : NULL;
    if (plugin == NULL || strcmp(plugin->name, name) != 0)
        return error_set(&host->base.error, BP_ERROR_STATE,
                         "the recorded host had the plugin '%s' at place %u, and this one has not", name, number + 1);
    if (kind == LINKED_IN)
        return BP_OK;
    if (kind == AS_BEFORE) {
        made->image = (image_t *)(uintptr_t)image_in(before, name);
        if (made->image == NULL)
            return damaged(host);
        made->image->users++;
        return BP_OK;
    }
    made->image = memory_new(&host->makeups, sizeof *made->image);
    if (made->image == NULL)
        return lacking(host);
    made->image->users = 1;
    if (kind == FILE_FOLLOWS)
        return take_file(host, r, plugin, made->image);
    made->image->number = ++host->images;
    return BP_OK;
}

static bp_result_t take_names(bp_host_o *host, reader_t *r, wants_t *names)
{
    uint32_t count = reader_count(r, LEAST);
    names->memory = &host->makeups;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = reader_text(r);
        bool system = reader_u32(r) != 0, again = reader_u32(r) != 0;
        if (r->failed)
            return damaged(host);
        uint32_t at = names->count;
        if (!wants_add(names, name, system))
            return lacking(host);
        if (names->count > at)
            names->items[at].again = again;
    }
    return r->failed ? damaged(host) : BP_OK;
}

static bp_result_t take_makeup(bp_host_o *host, reader_t *r, const makeup_t *before, makeup_t *makeup)
{
    bp_result_t result = BP_OK;
    uint32_t count = reader_count(r, LEAST);
    makeup->plugins = count == 0 ? NULL : memory_new(&host->makeups, count * sizeof *makeup->plugins);
    if (count > 0 && makeup->plugins == NULL)
        return lacking(host);
    makeup->plugin_count = count;
    for (uint32_t i = 0; i < count && result == BP_OK; i++)
        result = take_plugin(host, r, i, before, &makeup->plugins[i]);
    count = result == BP_OK ? reader_count(r, LEAST) : 0;
    makeup->worlds = count == 0 ? NULL : memory_new(&host->makeups, count * sizeof *makeup->worlds);
    if (count > 0 && makeup->worlds == NULL)
        return lacking(host);
    makeup->world_count = count;
    for (uint32_t i = 0; i < count && result == BP_OK; i++) {
        result = take_names(host, r, &makeup->worlds[i].wants);
        if (result == BP_OK)
            result = take_names(host, r, &makeup->worlds[i].units);
    }
    return result == BP_OK && r->failed ? damaged(host) : result;
}

bp_result_t makeup_read(void *context, reader_t *reader, const makeup_t *before, makeup_t **out)
{
    bp_host_o *host = context;
    makeup_t *makeup = memory_new(&host->makeups, sizeof *makeup);
    if (makeup == NULL)
        return lacking(host);
    bp_result_t result = take_makeup(host, reader, before, makeup);
    if (result == BP_OK)
        *out = makeup;
    else
        makeup_free(host, makeup);
    return result;
}
