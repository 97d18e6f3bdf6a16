/* content.c - files that plugins open: from a file to a descriptor, by the loader of another plugin, and its end.
 *
 * The loader is found by the ending of the file's name, among those of the plugins in place: while a change prepares
 * the next version of a plugin, the code that opens a file for that version puts the version in place first
 * (reload/versions.c). The content of an opened file remembers its opener and the function that closes the file, since
 * another version may open such files by the time that this one is closed.
 */
#include "../base/file.h"
#include "../os/files.h"
#include "../os/os.h"
#include "loader.h"
#include "verbs.h"

enum { ENDING = 15 };

/* The ending of a file's name, without the dot; "" where it has none. */
static const char *ending_of(const char *path)
{
    const char *ending = "";
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '/' || *at == '\\')
            ending = "";
        else if (*at == '.')
            ending = at + 1;
    }
    return ending;
}

static const bp_loader_t *kind_of(const plugin_t *plugin, const char *ending)
{
    for (uint32_t i = 0; i < plugin->desc.loaders.count; i++) {
        if (strcmp(plugin->desc.loaders.items[i].ending, ending) == 0)
            return &plugin->desc.loaders.items[i];
    }
    return NULL;
}

const bp_loader_t *loader_kind(const loader_t *loader, const char *path, plugin_t **opener)
{
    const char *ending = ending_of(path);
    for (uint32_t i = 0; i < loader->plugins.count; i++) {
        const bp_loader_t *kind = kind_of(loader->plugins.items[i], ending);
        if (kind != NULL && opener != NULL)
            *opener = loader->plugins.items[i];
        if (kind != NULL)
            return kind;
    }
    return NULL;
}

bp_result_t content_judge(const loader_t *loader, const plugin_t *plugin, const plugin_t *present)
{
    static const char *const taken[] = {"so", "dll", "dylib", "ini", "c", "cc", "cpp", "cxx", "rs"};
    error_text_t *error = &loader->base->error;
    for (uint32_t i = 0; i < plugin->desc.loaders.count; i++) {
        const bp_loader_t *kind = &plugin->desc.loaders.items[i];
        bool word = names_is_word(kind->ending) && strlen(kind->ending) <= ENDING;
        for (uint32_t k = 0; k < sizeof taken / sizeof taken[0]; k++)
            word = word && strcmp(kind->ending, taken[k]) != 0;
        if (!word)
            return error_set(error, BP_ERROR_ARGUMENT,
                             "it opens files that end in '.%.40s'; an ending is 1 to %d letters, digits or "
                             "underscores, and not that of libraries, inis or sources",
                             kind->ending, ENDING);
        if (kind->open == NULL)
            return error_set(error, BP_ERROR_ARGUMENT, "its loader of files that end in '.%s' has no open",
                             kind->ending);
        if (kind_of(plugin, kind->ending) != kind)
            return error_set(error, BP_ERROR_EXISTS, "it has two loaders of files that end in '.%s'", kind->ending);
        for (uint32_t k = 0; k < loader->plugins.count; k++) {
            const plugin_t *other = loader->plugins.items[k];
            if (other != present && kind_of(other, kind->ending) != NULL)
                return error_set(error, BP_ERROR_EXISTS, "files that end in '.%s' are opened by plugin '%s' already",
                                 kind->ending, other->name);
        }
    }
    return BP_OK;
}

bp_result_t content_open(loader_t *loader, plugin_t *plugin, const char *path, const bp_plugin_head_t **head)
{
    error_text_t *error = &loader->base->error;
    const bp_loader_t *kind = loader_kind(loader, plugin->path, &plugin->opener);
    char *bytes;
    size_t size;
    if (plugin_is_aside(plugin->opener))
        return error_set(error, BP_ERROR_STATE, "%s: plugin '%s', which opens such files, has crashed", plugin->path,
                         plugin->opener->name);
    bp_result_t result = file_read_plain(&loader->memory, path, &bytes, &size, error);
    if (result != BP_OK)
        return result;
    plugin->kind = *kind;
    plugin->guard = plugin->opener->guard;
    *head = NULL;
    result = verb_open(plugin->opener, kind, plugin->path, bytes, size, head, &plugin->content);
    plugin->opened = result == BP_OK;
    if (result == BP_OK && *head == NULL)
        result = error_set(error, BP_ERROR_FAILED, "%s: plugin '%s' has opened it and gave no head", plugin->path,
                           plugin->opener->name);
    memory_free(&loader->memory, bytes, size + 1);
    return result;
}

void content_close(plugin_t *plugin)
{
    if (plugin->opened && plugin->kind.close != NULL)
        verb_close(plugin->opener, &plugin->kind, plugin->content);
    plugin->opened = false;
    plugin->content = NULL;
}
