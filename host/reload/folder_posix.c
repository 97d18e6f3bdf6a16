/* folder_posix.c - notices by inotify.
 *
 * The folder is watched, not the file: a watch belongs to one file, so it would end when that file is replaced by
 * another. One read takes many notices, which are handed out one by one from a buffer.
 */
#define _GNU_SOURCE 1

#include "folder.h"

#include <string.h>

#if defined(__linux__)

#include <errno.h>
#include <limits.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { ROOM = 4096 };

struct folder_watch_t {
    memory_t *memory;
    int fd;
    uint32_t length, at; /* of the notices read */
    _Alignas(struct inotify_event) char bytes[ROOM];
};

bool folder_watch_knows_ends(void)
{
    return true;
}

folder_watch_t *folder_watch_open(memory_t *memory)
{
    folder_watch_t *watch = memory_new(memory, sizeof *watch);
    if (watch == NULL)
        return NULL;
    watch->memory = memory;
    watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch->fd >= 0)
        return watch;
    memory_free(memory, watch, sizeof *watch);
    return NULL;
}

void folder_watch_close(folder_watch_t *watch)
{
    if (watch == NULL)
        return;
    close(watch->fd);
    memory_free(watch->memory, watch, sizeof *watch);
}

intptr_t folder_watch_handle(const folder_watch_t *watch)
{
    return watch->fd;
}

int32_t folder_watch_add(folder_watch_t *watch, const char *folder)
{
    uint32_t mask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF |
                    IN_MOVE_SELF;
    return inotify_add_watch(watch->fd, folder[0] == '\0' ? "." : folder, mask | IN_ONLYDIR);
}

static bool take(folder_watch_t *watch, struct inotify_event *event, folder_notice_t *notice)
{
    if (watch->length - watch->at < sizeof *event) {
        ssize_t got = read(watch->fd, watch->bytes, sizeof watch->bytes);
        watch->at = 0;
        watch->length = got > 0 ? (uint32_t)got : 0;
        if (got <= 0)
            return false;
    }
    memcpy(event, watch->bytes + watch->at, sizeof *event);
    const char *name = watch->bytes + watch->at + sizeof *event;
    size_t length = event->len > 0 ? strnlen(name, event->len) : 0;
    length = length < sizeof notice->name ? length : sizeof notice->name - 1;
    memcpy(notice->name, name, length);
    notice->name[length] = '\0';
    watch->at += (uint32_t)sizeof *event + event->len;
    return true;
}

bool folder_watch_next(folder_watch_t *watch, folder_notice_t *notice)
{
    struct inotify_event event;
    while (take(watch, &event, notice)) {
        notice->id = event.wd;
        if ((event.mask & IN_Q_OVERFLOW) != 0) {
            notice->id = -1;
            notice->what = FOLDER_UNSURE;
        } else if ((event.mask & IN_MOVE_SELF) != 0) {
            inotify_rm_watch(watch->fd, event.wd); /* gives IN_IGNORED: the folder has gone from its path */
            continue;
        } else if ((event.mask & IN_IGNORED) != 0) {
            notice->what = FOLDER_LOST;
        } else if ((event.mask & (IN_ISDIR | IN_DELETE_SELF)) != 0) {
            continue;
        } else {
            notice->what = (event.mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0 ? FOLDER_FINISHED : FOLDER_TOUCHED;
        }
        return true;
    }
    return false;
}

#endif
