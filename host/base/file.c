/* file.c - reading with standard C, paths as plain text.
 *
 * '/' separates on every platform; '\' is also understood where a path comes in, since Windows users write it.
 */
#include "file.h"

#include "../os/files.h"
#include "../os/os.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { GUESS = 1 << 16 };

static bool is_at_end(FILE *file)
{
    int next = getc(file);
    if (next != EOF)
        ungetc(next, file);
    return next == EOF;
}

/* How many bytes the file says that it has; GUESS where it does not say, as pipes and files of the system's do not; 0
 * where none can be read, as of a folder, which says anything. */
static size_t bytes_told(FILE *file)
{
    long bytes = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    rewind(file);
    return is_at_end(file) ? 0 : bytes > 0 ? (size_t)bytes : GUESS;
}

/* What the file says of its size is where to begin, no more: it may grow or shrink meanwhile. */
static bp_result_t read_open(memory_t *memory, FILE *file, size_t most, char **bytes, size_t *size)
{
    size_t told = bytes_told(file), used = 0;
    size_t capacity = (told <= most ? told : most + 1) + 1; /* one byte too many, and the zero */
    char *block = memory_resize(memory, NULL, 0, capacity);
    while (block != NULL) {
        used += fread(block + used, 1, capacity - 1 - used, file);
        if (used < capacity - 1 || used > most || is_at_end(file))
            break;
        size_t more = most - used < capacity ? most - used + 1 : capacity;
        char *bigger = memory_resize(memory, block, capacity, capacity + more);
        if (bigger == NULL)
            memory_free(memory, block, capacity);
        block = bigger;
        capacity += more;
    }
    if (block == NULL)
        return BP_ERROR_MEMORY;
    bp_result_t result = ferror(file) ? BP_ERROR_IO : used > most ? BP_ERROR_LIMIT : BP_ERROR_MEMORY;
    char *fitted = result != BP_ERROR_MEMORY ? NULL
                   : capacity == used + 1    ? block
                                             : memory_resize(memory, block, capacity, used + 1);
    if (fitted == NULL) {
        memory_free(memory, block, capacity);
        return result;
    }
    fitted[used] = '\0';
    *bytes = fitted;
    *size = used;
    return BP_OK;
}

bp_result_t file_read(memory_t *memory, const char *path, char **bytes, size_t *size, error_text_t *error)
{
    return file_read_most(memory, path, SIZE_MAX, bytes, size, error);
}

bp_result_t file_read_most(memory_t *memory, const char *path, size_t most, char **bytes, size_t *size,
                           error_text_t *error)
{
    errno = 0;
    FILE *file = os_file_open(path, "rb");
    if (file == NULL)
        return error_set(error, BP_ERROR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    bp_result_t result = read_open(memory, file, most, bytes, size);
    int reason = errno;
    fclose(file);
    if (result == BP_ERROR_MEMORY)
        return error_set(error, result, "%s: out of memory while reading it", path);
    if (result == BP_ERROR_LIMIT)
        return error_set(error, result, "%s: has more than %zu bytes, the most that is read", path, most);
    if (result != BP_OK)
        return error_set(error, result, "%s: cannot be read: %s", path, strerror(reason));
    return BP_OK;
}

bp_result_t file_read_plain(memory_t *memory, const char *path, char **bytes, size_t *size, error_text_t *error)
{
    if (os_path_is_special(path))
        return error_set(error, BP_ERROR_IO, "%s: is a pipe or a device, not a file", path);
    return file_read(memory, path, bytes, size, error);
}

bp_result_t file_map(const char *path, const void **bytes, size_t *size, error_text_t *error)
{
    char reason[256];
    *bytes = os_file_map(path, size, reason, sizeof reason);
    return *bytes != NULL ? BP_OK : error_set(error, BP_ERROR_IO, "%s: cannot be opened: %s", path, reason);
}

void file_unmap(const void *bytes, size_t size)
{
    os_file_unmap(bytes, size);
}

bp_result_t file_replace(const char *path, const void *bytes, size_t size, error_text_t *error)
{
    char reason[256];
    if (os_file_replace(path, bytes, size, reason, sizeof reason))
        return BP_OK;
    return error_set(error, BP_ERROR_IO, "%s: cannot be written: %s", path, reason);
}

bp_result_t file_keep(const char *part, const char *path, error_text_t *error)
{
    char reason[256];
    if (os_file_keep(part, path, reason, sizeof reason))
        return BP_OK;
    return error_set(error, BP_ERROR_IO, "%s: cannot be replaced: %s", path, reason);
}

bp_result_t file_write(const char *path, const void *bytes, size_t size, error_text_t *error)
{
    errno = 0;
    FILE *file = os_file_open(path, "wb");
    if (file == NULL)
        return error_set(error, BP_ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
    bool written = fwrite(bytes, 1, size, file) == size;
    written = fclose(file) == 0 && written;
    if (written)
        return BP_OK;
    int reason = errno;
    os_file_remove(path);
    return error_set(error, BP_ERROR_IO, "%s: cannot be written: %s", path, strerror(reason));
}

bool file_exists(const char *path)
{
    if (os_path_is_special(path))
        return true;
    FILE *file = os_file_open(path, "rb");
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

static const char *last_separator(const char *path)
{
    const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');
    return back > slash ? back : slash;
}

bool file_path_beside(const char *base_file, const char *path, char *out, size_t size)
{
    const char *end = last_separator(base_file);
    int folder = os_path_is_absolute(path) || end == NULL ? 0 : (int)(end - base_file + 1);
    int length = snprintf(out, size, "%.*s%s", folder, base_file, path);
    return length >= 0 && (size_t)length < size;
}

bool file_path_join(const char *folder, const char *name, char *out, size_t size)
{
    int length = snprintf(out, size, "%s/%s", folder, name);
    return length >= 0 && (size_t)length < size;
}

void file_stem(const char *path, char *out, size_t size)
{
    const char *end = last_separator(path);
    const char *name = end == NULL ? path : end + 1;
    const char *dot = strrchr(name, '.');
    size_t length = dot == NULL || dot == name ? strlen(name) : (size_t)(dot - name);
    snprintf(out, size, "%.*s", (int)length, name);
}
