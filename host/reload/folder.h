/* folder.h - notices about the files of watched folders.
 *
 * Notices come from the system where it has them (inotify on Linux, ReadDirectoryChangesW on Windows). Elsewhere
 * folder_watch_open returns NULL, and callers compare stamps (os/files.h) now and then, which costs a system call a
 * file.
 *
 * Not here: lists of a folder's files, links below a watched folder, and what the files contain.
 */
#ifndef HOST_RELOAD_FOLDER_H
#define HOST_RELOAD_FOLDER_H

#include "../base/memory.h"

typedef struct folder_watch_t folder_watch_t;

enum {
    FOLDER_TOUCHED = 1,  /* the file is being written, or has come or gone: more is to follow */
    FOLDER_FINISHED = 2, /* the writer of the file has closed it, or has moved it into place */
    FOLDER_LOST = 3,     /* the folder itself has gone: there are no more notices about it. name is "" */
    FOLDER_UNSURE = 4    /* notices were lost: look at everything. id is -1 */
};

typedef struct folder_notice_t {
    int32_t id;      /* of the folder */
    uint32_t what;   /* FOLDER_... */
    char name[256];  /* of the file in the folder */
} folder_notice_t;

/* Open a watch. NULL where the system has no notices, or none left to give. [main] */
folder_watch_t *folder_watch_open(memory_t *memory);
void folder_watch_close(folder_watch_t *watch); /* NULL is allowed */

/* Watch the files that lie in a folder. Returns the folder's number, which it keeps when it is added again; -1 where
 * the folder cannot be watched, for instance because it is not there. [main] */
int32_t folder_watch_add(folder_watch_t *watch, const char *folder);

/* Does the system itself say when a writer is done (FOLDER_FINISHED)? Where it does not, a file counts as finished
 * while no process has it open, also between two openings by the same writer. */
bool folder_watch_knows_ends(void);

/* What can be read, or waited for, when there are notices (os_wake_sleep). */
intptr_t folder_watch_handle(const folder_watch_t *watch);

/* The next notice; false where there is none at present. Never waits. [main] */
bool folder_watch_next(folder_watch_t *watch, folder_notice_t *notice);

#endif
