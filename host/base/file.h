/* file.h - whole files and their paths.
 *
 * Not here: lists of folders; watching files.
 */
#ifndef HOST_BASE_FILE_H
#define HOST_BASE_FILE_H

#include "error.h"
#include "memory.h"

enum { FILE_PATH_MAX = 1024 };

/* Read a whole file into a block from `memory`, a zero byte behind it that `size` does not count (free size + 1
 * bytes). The error names the path and the reason. [main] */
bp_result_t file_read(memory_t *memory, const char *path, char **bytes, size_t *size, error_text_t *error);

/* Like file_read, but of a file of more than `most` bytes no more than that is read: BP_ERROR_LIMIT. [main] */
bp_result_t file_read_most(memory_t *memory, const char *path, size_t most, char **bytes, size_t *size,
                           error_text_t *error);

/* Like file_read, for a plain file only: a pipe or a device is refused, since reading it could wait without end.
 * [main] */
bp_result_t file_read_plain(memory_t *memory, const char *path, char **bytes, size_t *size, error_text_t *error);

/* A file's bytes, mapped for reading (os_file_map), and their end. The error names the path and the reason. [main] */
bp_result_t file_map(const char *path, const void **bytes, size_t *size, error_text_t *error);
void file_unmap(const void *bytes, size_t size);

/* Replace a file; on failure the old file is still there (os_file_replace). The error names the path and the reason.
 * [main] */
bp_result_t file_replace(const char *path, const void *bytes, size_t size, error_text_t *error);

/* Put a file that was written and closed in the place of `path` (os_file_keep). The error names the path and the
   reason. [main] */
bp_result_t file_keep(const char *part, const char *path, error_text_t *error);

/* Write a new file that no other process reads yet, and that need not survive a crash of the machine. On failure no
   part of the file is left. [main] */
bp_result_t file_write(const char *path, const void *bytes, size_t size, error_text_t *error);

/* Can the file be opened for reading? A pipe or a device counts as there, and is not opened. */
bool file_exists(const char *path);

/* Write `path`, as seen from the folder of `base_file`, to `out`; absolute paths stay as they are. False where it
 * would be longer than `size`. */
bool file_path_beside(const char *base_file, const char *path, char *out, size_t size);

/* folder + "/" + name; false where too long. */
bool file_path_join(const char *folder, const char *name, char *out, size_t size);

/* The last part of a path, without its ending: the name of the plugin that a file is. */
void file_stem(const char *path, char *out, size_t size);

#endif
