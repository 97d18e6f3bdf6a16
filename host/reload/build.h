/* build.h - rebuilding a plugin when one of its sources has been saved.
 *
 * A plugin that was given as its source (source.h) is rebuilt by its compiler. For the others there may be one command:
 * the sources of plugin NAME are the files of the folder SOURCES/NAME, and SOURCES/NAME.c and .h, and {plugin} in the
 * command stands for NAME. When one of them has been written, or another file that the compiler has read (NAME.d beside
 * NAME.so, as gcc -MMD writes it), and a moment has passed, the command is run beside the host; one at a time. The
 * command's output goes to the log when it fails, and when it warns. The file that the command makes is noticed by the
 * watch (watch.h).
 *
 * Needs notices about files (folder.h), so on Linux and Windows only: build_begin says so elsewhere.
 *
 * Not here: knowledge of compilers (source.h); whether there is anything to build (the command is run in any case).
 */
#ifndef HOST_RELOAD_BUILD_H
#define HOST_RELOAD_BUILD_H

#include "folder.h"
#include "process.h"
#include "source.h"

enum {
    BUILD_SETTLE_MS = 10,
    BUILD_RETRY_MS = 250     /* between two looks whether a missing folder has come */
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
    sources_t *made;
    folder_watch_t *folders;
    char *command, *folder, *sources; /* folder: where the command runs; all NULL where there is no command */
    char (*dirty)[64];        /* names of plugins with changed sources */
    uint32_t dirty_count, dirty_capacity;
    char (*known)[64];        /* names of plugins with watched folders; the folders' numbers are in known_ids, ... */
    int32_t *known_ids;
    bool *known_caught;       /* ... and here which are built once more since a file was newer than the library */
    uint32_t known_count, known_capacity, id_capacity, caught_capacity;
    build_header_t *headers;
    uint32_t header_count, header_capacity;
    int32_t sources_id;
    uint64_t made_at;         /* of the library whose list of files is being read */
    bool newer;               /* one of these files has been written since then */
    uint64_t quiet_since, retried_at, started; /* ms */
    process_t *process;
    char building[64];
    char *output;
    size_t output_size;
} build_t;

/* Watch the sources of plugins that `made` has compiled, or will. Errors: memory; state, where the system gives no
 * notices. [main] */
bp_result_t build_begin(build_t *build, loader_t *loader, sources_t *made);

/* Have all other plugins built by a command. Texts are copied; the command runs in `folder`, and `sources` is a folder
 * too, both as seen from the working directory. Errors: memory; argument, where the command has no {plugin}. [main] */
bp_result_t build_set_command(build_t *build, const char *command, const char *folder, const char *sources);
void build_drop_command(build_t *build);

void build_end(build_t *build); /* kills a command that runs */

/* Does a command run, or will one soon? [main] */
bool build_is_waiting(const build_t *build);

/* A plugin that is a source was compiled otherwise, or has come: watch what its compiler has read. A command that
 * builds the plugin at present is ended. [main] */
void build_learn(build_t *build, const plugin_t *plugin, uint64_t now);

/* Begin, follow and end commands. Never waits. `now` in milliseconds. [main] */
void build_poll(build_t *build, uint64_t now);

#endif
