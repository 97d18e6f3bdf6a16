/* copies.c - reading a plugin's file whole, and writing it elsewhere.
 *
 * A file is read twice, and copied only where both readings are equal: a file that is being written meanwhile differs
 * from one reading to the next.
 */
#include "copies.h"

#include "../base/file.h"
#include "../os/os.h"
#include "image.h"

#include <stdio.h>

static void drop_folder(copies_t *copies, copies_folder_t *folder)
{
    if (folder->path != NULL)
        temporary_remove(&folder->owner, folder->path);
    memory_free_text(copies->memory, folder->path);
    folder->path = NULL;
}

void copies_end(copies_t *copies)
{
    for (uint32_t i = 0; i < COPIES_PLACES; i++)
        drop_folder(copies, &copies->folders[i]);
}

void copies_go(copies_t *copies, uint32_t place)
{
    copies->place = place;
}

/* Read a file's bytes (*size + 1 of them are to be freed); of a library, if they are those of a whole plugin. */
static bp_result_t read_file(copies_t *copies, const char *path, bool library, char **bytes, size_t *size)
{
    char why[256];
    error_text_t *error = &copies->base->error;
    bp_result_t result = file_read_plain(copies->memory, path, bytes, size, error);
    if (result != BP_OK || !library || image_check(*bytes, *size, BP_PLUGIN_SYMBOL, why, sizeof why))
        return result;
    memory_free(copies->memory, *bytes, *size + 1);
    return error_set(error, BP_ERROR_ABI, "%s: %s", path, why);
}

bp_result_t copies_judge(copies_t *copies, const char *path)
{
    char *bytes;
    size_t size;
    bp_result_t result = read_file(copies, path, true, &bytes, &size);
    if (result == BP_OK)
        memory_free(copies->memory, bytes, size + 1);
    return result;
}

static bp_result_t read_twice(copies_t *copies, const char *path, bool library, char **bytes, size_t *size)
{
    char *again;
    size_t again_size;
    bp_result_t result = read_file(copies, path, library, bytes, size);
    if (result != BP_OK)
        return result;
    result = file_read_plain(copies->memory, path, &again, &again_size, &copies->base->error);
    if (result == BP_OK) {
        if (again_size != *size || memcmp(again, *bytes, *size) != 0)
            result = error_set(&copies->base->error, BP_ERROR_IO, "%s: it is being written; try again when it is whole",
                               path);
        memory_free(copies->memory, again, again_size + 1);
    }
    if (result != BP_OK)
        memory_free(copies->memory, *bytes, *size + 1);
    return result;
}

static bp_result_t lack_folder(copies_t *copies, const char *plugin)
{
    return error_set(&copies->base->error, BP_ERROR_IO,
                     "%s: there is no folder for a copy of it: neither TMPDIR nor its own folder can be written; "
                     "set TMPDIR to one that can",
                     plugin);
}

/* Find the folder for copies of the file `plugin`: the present folder, or a new one where there is none, where it has
 * been removed, or where it belongs to the process that this one is a copy of. */
static bp_result_t need_folder(copies_t *copies, const char *plugin)
{
    static const char name[] = ".backplane";
    copies_folder_t *folder = &copies->folders[copies->place];
    bool beside = copies->place == COPIES_BESIDE;
    char path[FILE_PATH_MAX], parent[FILE_PATH_MAX];
    if (folder->path != NULL && temporary_is_own(&folder->owner) && !os_path_is_missing(folder->path))
        return BP_OK;
    drop_folder(copies, folder);
    if (beside && !file_path_beside(plugin, ".", parent, sizeof parent))
        return lack_folder(copies, plugin);
    const char *where = beside ? parent : NULL, *called = beside ? name : name + 1;
    uint32_t swept = temporary_sweep(where, called);
    if (swept > 0)
        log_write(&copies->base->log, BP_LOG_INFO, "plugin", "removed %u temporary %s of hosts that were killed", swept,
                  swept == 1 ? "folder" : "folders");
    if (!temporary_create(&folder->owner, where, called, path, sizeof path))
        return lack_folder(copies, plugin);
    folder->path = memory_copy_text(copies->memory, path);
    if (folder->path != NULL)
        return BP_OK;
    temporary_remove(&folder->owner, path);
    return error_memory(&copies->base->error, "copying a plugin");
}

static bp_result_t write_copy(copies_t *copies, const char *plugin, const char *name, const char *bytes, size_t size,
                              char *own)
{
    bp_result_t result = need_folder(copies, plugin);
    if (result != BP_OK)
        return result;
    if (!file_path_join(copies->folders[copies->place].path, name, own, FILE_PATH_MAX))
        return lack_folder(copies, plugin);
    return file_write(own, bytes, size, &copies->base->error);
}

/* Write the copy in TMPDIR, or beside the plugin where TMPDIR is missing, full or not to be written. */
static bp_result_t write_somewhere(copies_t *copies, const char *plugin, const char *name, const char *bytes,
                                   size_t size, char *own)
{
    bp_result_t result = write_copy(copies, plugin, name, bytes, size, own);
    if (result == BP_OK || result == BP_ERROR_MEMORY || copies->place == COPIES_BESIDE)
        return result;
    copies_go(copies, COPIES_BESIDE);
    result = write_copy(copies, plugin, name, bytes, size, own);
    if (result == BP_OK)
        log_write(&copies->base->log, BP_LOG_WARNING, "plugin",
                  "copies of plugins lie in %s, since TMPDIR cannot be written", copies->folders[COPIES_BESIDE].path);
    else
        copies_go(copies, COPIES_TEMPORARY);
    return result;
}

bp_result_t copies_put(copies_t *copies, const char *path, bool library, const char *bytes, size_t size, char **copy)
{
    char stem[128], name[192], own[FILE_PATH_MAX];
    file_stem(path, stem, sizeof stem);
    snprintf(name, sizeof name, "%s.%u%s", stem, ++copies->count, library ? os_library_suffix : ".copy");
    *copy = NULL;
    bp_result_t result = write_somewhere(copies, path, name, bytes, size, own);
    if (result != BP_OK)
        return result;
    *copy = memory_copy_text(copies->memory, own);
    if (*copy != NULL)
        return BP_OK;
    os_file_remove(own);
    return error_memory(&copies->base->error, "copying a plugin");
}

bp_result_t copies_make(copies_t *copies, const char *path, const char *plugin, bool library, char **copy)
{
    char *bytes;
    size_t size;
    bp_result_t result = read_twice(copies, path, library, &bytes, &size);
    if (result != BP_OK)
        return result;
    result = copies_put(copies, plugin, library, bytes, size, copy);
    memory_free(copies->memory, bytes, size + 1);
    return result;
}

/* --- retired ----------------------------------------------------------------------------------------------------- */

/* Remembering images that were closed, and looking for addresses into them in all memory.
 *
 * The system may map another library where a closed one lay. Addresses into the new library are good, so the closed one
 * is not looked for any more.
 */

#if defined(BACKPLANE_AUDIT)

#include "../base/memory.h"

#include <stdio.h>

typedef struct finding_t {
    const base_t *base;
    const retired_image_t *image;
} finding_t;

void retired_add(retired_t *retired, const void *begin, const void *end, const char *name, const char *version)
{
    if (begin == NULL || retired->count == LOADER_RETIRED)
        return;
    retired_image_t *image = &retired->images[retired->count++];
    *image = (retired_image_t){.begin = begin, .end = end};
    snprintf(image->name, sizeof image->name, "%s %.30s", name == NULL ? "?" : name, version == NULL ? "" : version);
}

void retired_taken(retired_t *retired, const void *begin, const void *end)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < retired->count; i++) {
        const retired_image_t image = retired->images[i];
        if ((uintptr_t)begin >= (uintptr_t)image.end || (uintptr_t)image.begin >= (uintptr_t)end)
            retired->images[kept++] = image;
    }
    retired->count = kept;
}

static void log_stale(void *data, const char *account, size_t block_size, size_t offset, uintptr_t address)
{
    const finding_t *f = data;
    log_write(&f->base->log, BP_LOG_ERROR, "audit",
              "memory of '%s' points into the image of '%s', which has gone: byte %zu of a block of %zu bytes, %zu "
              "bytes into the image",
              account, f->image->name, offset, block_size, (size_t)(address - (uintptr_t)f->image->begin));
}

size_t retired_search(retired_t *retired, base_t *base)
{
    size_t found = 0;
    for (uint32_t i = 0; i < retired->count; i++) {
        finding_t f = {base, &retired->images[i]};
        found += audit_search(&base->memory, f.image->begin, f.image->end, log_stale, &f);
    }
    retired->count = 0;
    return found;
}

#else
typedef int retired_nothing_t; /* a file must have at least one declaration */
#endif
