/* folder_none.c - notices about files on other systems than Linux and Windows.
 *
 * folder_watch_open returns NULL, so callers compare stamps (os/files.h); the other functions exist for the linker.
 */
#include "folder.h"

#if !defined(__linux__) && !defined(_WIN32)

bool folder_watch_knows_ends(void)
{
    return false;
}

folder_watch_t *folder_watch_open(memory_t *memory)
{
    (void)memory;
    return NULL;
}

void folder_watch_close(folder_watch_t *watch)
{
    (void)watch;
}

intptr_t folder_watch_handle(const folder_watch_t *watch)
{
    (void)watch;
    return -1;
}

int32_t folder_watch_add(folder_watch_t *watch, const char *folder)
{
    (void)watch, (void)folder;
    return -1;
}

bool folder_watch_next(folder_watch_t *watch, folder_notice_t *notice)
{
    (void)watch, (void)notice;
    return false;
}

#else
typedef int folder_nothing_t; /* a file must have at least one declaration */
#endif
