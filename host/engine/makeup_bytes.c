/* makeup_bytes.c - what a host is made of as bytes: for a recording, which another process plays.
 *
 *     plugins  how many; of each its name, and what follows: nothing, since it is linked in; that its version is the
 *              one of the makeup before; that there is no copy of its file; or the options that were given to it and
 *              its file
 *     worlds   how many; of each what is wanted in it, then the units of its step in their order
 *
 * A version that has the options and the bytes of the one at work here is taken for that one, so that a host which is
 * set up from the same files becomes what it is already.
 */
#include "../base/error.h"
#include "../base/file.h"
#include "host.h"
#include "makeup.h"

#include <string.h>

enum { LINKED_IN, AS_BEFORE, NO_FILE, FILE_FOLLOWS, ALIGN = 16, LEAST = 8 /* bytes of any item */ };

/* --- written ------------------------------------------------------------------------------------------------------ */

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

/* --- read --------------------------------------------------------------------------------------------------------- */

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
    return r->failed || (*text = memory_copy_text(&host->base.memory, found)) != NULL;
}

static bp_result_t take_options(bp_host_o *host, reader_t *r, image_t *image)
{
    uint32_t count = reader_count(r, 4 * sizeof(uint32_t));
    if (r->failed)
        return damaged(host);
    image->given = count == 0 ? NULL : memory_new(&host->base.memory, count * sizeof *image->given);
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
    bool library = loader_kind(&host->loader, plugin->path, NULL) == NULL;
    result = copies_put(&host->loader.files, plugin->path, library, bytes, (size_t)size, &image->file);
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
    made->name = memory_copy_text(&host->base.memory, name);
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
    made->image = memory_new(&host->base.memory, sizeof *made->image);
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
    names->memory = &host->base.memory;
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
    makeup->plugins = count == 0 ? NULL : memory_new(&host->base.memory, count * sizeof *makeup->plugins);
    if (count > 0 && makeup->plugins == NULL)
        return lacking(host);
    makeup->plugin_count = count;
    for (uint32_t i = 0; i < count && result == BP_OK; i++)
        result = take_plugin(host, r, i, before, &makeup->plugins[i]);
    count = result == BP_OK ? reader_count(r, LEAST) : 0;
    makeup->worlds = count == 0 ? NULL : memory_new(&host->base.memory, count * sizeof *makeup->worlds);
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
    makeup_t *makeup = memory_new(&host->base.memory, sizeof *makeup);
    if (makeup == NULL)
        return lacking(host);
    bp_result_t result = take_makeup(host, reader, before, makeup);
    if (result == BP_OK)
        *out = makeup;
    else
        makeup_free(host, makeup);
    return result;
}
