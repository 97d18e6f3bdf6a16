/* helper.h - the program that is started as a helper process, and what it does there.
 *
 * A helper is started for work that may crash, hang or end its process, where this process cannot be copied: trials of
 * new versions (reload/trial.h), and loading a plugin to check it (host_check.c). Its second argument is the path of a
 * file that describes the work.
 *
 * Inner to engine/.
 */
#ifndef HOST_ENGINE_HELPER_H
#define HOST_ENGINE_HELPER_H

#include "../base/file.h"
#include "../os/files.h"
#include "../reload/process.h"
#include "host.h"

/* The first argument of a helper that checks a plugin. */
#define HELPER_CHECK "--backplane-check"

/* A file that a helper reads, in a folder of its own; all zero but for the account: there is none. */
typedef struct helper_file_t {
    memory_t *memory;
    temporary_t owner;
    char folder[FILE_PATH_MAX], path[FILE_PATH_MAX];
} helper_file_t;

/* Find the program: `given`, where it is not NULL; else backplane beside the running program or beside the library.
 * false where there is none. [any] */
bool helper_find(const char *given, char *path, size_t size);

/* A plugin that is to be loaded, and the files of plugins that must be loaded before it. */
typedef struct helper_checked_t {
    const char *path;
    const char *const *needs;
    uint32_t need_count;
    const bp_option_t *options;
    uint32_t option_count;
} helper_checked_t;

/* Start a helper that checks a plugin. NULL where none can be started. Call helper_file_remove afterwards. [main] */
process_t *helper_check(helper_file_t *file, const helper_checked_t *checked);
void helper_file_remove(helper_file_t *file);

/* In the helper: load the plugin and write what is found to `self`. Returns the exit code (host_check.c). */
int host_check_here(process_t *self, const helper_checked_t *checked);

#endif
