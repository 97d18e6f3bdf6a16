/* build.h - rebuilding a plugin when one of its sources has been saved.
 *
 * The sources of plugin NAME are the files of the folder SOURCES/NAME, and SOURCES/NAME.c and .h. When one of them has
 * been written, or another file that the compiler has read (NAME.d beside NAME.so, as gcc -MMD writes it), and a moment
 * has passed, the command is run beside the host, {plugin} in it replaced by NAME; one at a time. The command's output
 * goes to the log when it fails, and when it warns. The file that the command makes is noticed by the watch (watch.h).
 *
 * Needs notices about files (folder.h), so on Linux only at present: build_begin says so elsewhere.
 *
 * Not here: knowledge of compilers; whether there is anything to build (the command is run in any case).
 */
#ifndef HOST_RELOAD_BUILD_H
#define HOST_RELOAD_BUILD_H

#include "../plugin/loader.h"
#include "folder.h"
#include "process.h"

enum {
    BUILD_SETTLE_MS = 10,
    BUILD_RETRY_MS = 250,    /* between two looks whether a missing folder has come */
    BUILD_OUTPUT = 16 * 1024 /* bytes kept of a command's output, from its beginning */
};

/* A file that the compiler has read for a plugin. */
typedef struct build_header_t {
    char plugin[64];
    char file[256];
    int32_t folder; /* its number from folder_watch_add */
} build_header_t;

typedef struct build_t {
    memory_t memory;
    loader_t *loader;
    folder_watch_t *folders;
    char *command, *folder, *sources; /* folder: where the command runs */
    char (*dirty)[64];        /* names of plugins whose sources have changed */
    uint32_t dirty_count, dirty_capacity;
    char (*known)[64];        /* names of plugins whose folders are watched; the folders' numbers are in known_ids */
    int32_t *known_ids;
    uint32_t known_count, known_capacity, id_capacity;
    build_header_t *headers;
    uint32_t header_count, header_capacity;
    int32_t sources_id;
    uint64_t quiet_since, retried_at, started; /* ms */
    process_t *process;
    char building[64];
    char *output;
    size_t output_size;
} build_t;

/* Texts are copied; the command runs in `folder`, and `sources` is a folder too, both as seen from the working
 * directory. Errors: memory; state, where the system gives no notices; argument, where the command has no {plugin}.
 * [main] */
bp_result_t build_begin(build_t *build, loader_t *loader, const char *command, const char *folder, const char *sources);
void build_end(build_t *build); /* kills a command that runs */

/* Does a command run, or will one soon? [main] */
bool build_is_waiting(const build_t *build);

/* Begin, follow and end commands. Never waits. `now` in milliseconds. [main] */
void build_poll(build_t *build, uint64_t now);

#endif
