/* watch.h - finding files of plugins that have been written anew and are whole.
 *
 * A file counts as finished when its writer has closed it or moved it into place, it has not changed for a moment since
 * (WATCH_QUIET_MS), and its bytes are those of a whole library. Where they are not, the file is given time
 * (WATCH_PATIENCE_MS) to become whole, and is handed over after that all the same, so that the fault is reported. A
 * file that is deleted is waited for; so is its folder.
 *
 * Not here: loading, and what became of a file that was handed over.
 */
#ifndef HOST_RELOAD_WATCH_H
#define HOST_RELOAD_WATCH_H

#include "../plugin/loader.h"
#include "folder.h"

enum {
    WATCH_QUIET_MS = 20,
    WATCH_PATIENCE_MS = 500,
    WATCH_RETRY_MS = 100,    /* between looks whether a folder is back */
    WATCH_LOOK_MS = 20,      /* between comparisons of stamps, where the system gives no notices */
    WATCH_BACKSTOP_MS = 1000 /* the same where the system gives notices: links and network folders give none */
};

typedef struct watched_file_t {
    plugin_t *plugin;
    char *path;
    const char *name;    /* the file's, at the end of path */
    int32_t folder;      /* -1: none, or gone */
    file_stamp_t delivered; /* of the file that was loaded, or handed over last */
    file_stamp_t last;   /* of the file when it was looked at last */
    uint64_t quiet_since; /* ms */
    bool pending;        /* the file has changed since it was handed over */
    bool closed;         /* no process is known to be writing the file */
    bool told;           /* the change was seen by a notice, not only by a stamp */
    bool unknown;        /* the file has not been looked at since it was loaded */
    bool broken;         /* the file was judged since it changed last, and is not whole */
} watched_file_t;

typedef struct file_watch_t {
    memory_t memory;
    loader_t *loader;
    folder_watch_t *folders; /* NULL: stamps only */
    watched_file_t **files;
    uint32_t count, capacity;
    uint64_t looked_at, retried_at; /* ms */
} file_watch_t;

/* Watch the files of the plugins that `loader` has, now and later. [main] */
bp_result_t watch_begin(file_watch_t *watch, loader_t *loader);
void watch_end(file_watch_t *watch);

/* A plugin whose file is finished and has not been handed over yet, or NULL. Never waits; a call costs a system call,
 * and now and then one a file. `now` is a time in milliseconds that never goes back. [main] */
plugin_t *watch_next(file_watch_t *watch, uint64_t now);

/* A plugin's file is being taken in by another way: changes made to it up to now do not lead to handing it over.
   [main] */
void watch_pass_over(file_watch_t *watch, const plugin_t *plugin, uint64_t now);

/* How many milliseconds may pass before files have to be looked at without a notice; 0: some have changed, or are not
 * watched yet. [main] */
uint64_t watch_look_ms(const file_watch_t *watch);

/* Are there files that have changed and are not finished yet, but may be soon? [main] */
bool watch_is_waiting(const file_watch_t *watch);

#endif
