/* folder_win32.c - notices by ReadDirectoryChangesW.
 *
 * Each folder has a handle and a request that the system fills in; a request that has been answered is read and then
 * made anew. All requests share one event, which wakes a sleeping thread; each request is then asked whether it was
 * answered. Where the next request resets the event before an answer is read, that answer is read at the next look.
 *
 * The system does not say when a writer is done. A file counts as finished when no process has it open for writing;
 * until then each look asks again.
 */
#include "folder.h"

#include "../base/file.h"
#include "../os/files.h"
#include "../os/os_win32.h"

#include <windows.h>

#include <stdio.h>
#include <string.h>
#include <wchar.h>

enum { ROOM = 4096, FOLDERS = 256, OPEN_FILES = 16, NAME = 256 };

typedef struct folder_t {
    HANDLE handle; /* NULL: the folder has gone */
    OVERLAPPED request;
    char path[FILE_PATH_MAX];
    DWORD length, at; /* of the notices read, and where the next one begins */
    bool asked; /* a request is under way */
    _Alignas(8) char answer[ROOM]; /* belongs to the system while a request is under way */
    char open[OPEN_FILES][NAME];   /* files that a process has open for writing */
    uint32_t open_count;
} folder_t;

struct folder_watch_t {
    memory_t *memory;
    HANDLE event;
    folder_t *folders[FOLDERS]; /* each stays where it is, since the system writes to it */
    uint32_t count;
};

bool folder_watch_knows_ends(void)
{
    return false;
}

folder_watch_t *folder_watch_open(memory_t *memory)
{
    folder_watch_t *watch = memory_new(memory, sizeof *watch);
    if (watch == NULL)
        return NULL;
    watch->memory = memory;
    watch->event = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (watch->event != NULL)
        return watch;
    memory_free(memory, watch, sizeof *watch);
    return NULL;
}

/* Let go of a folder. A request that is under way is waited for, since the system writes into its memory. */
static void leave(folder_t *folder)
{
    DWORD bytes;
    if (folder->handle == NULL)
        return;
    if (folder->asked && CancelIoEx(folder->handle, &folder->request))
        GetOverlappedResult(folder->handle, &folder->request, &bytes, TRUE);
    CloseHandle(folder->handle);
    folder->handle = NULL;
    folder->asked = false;
}

void folder_watch_close(folder_watch_t *watch)
{
    if (watch == NULL)
        return;
    for (uint32_t i = 0; i < watch->count; i++) {
        leave(watch->folders[i]);
        memory_free(watch->memory, watch->folders[i], sizeof *watch->folders[i]);
    }
    CloseHandle(watch->event);
    memory_free(watch->memory, watch, sizeof *watch);
}

intptr_t folder_watch_handle(const folder_watch_t *watch)
{
    return (intptr_t)watch->event;
}

static bool ask(folder_watch_t *watch, folder_t *folder)
{
    const DWORD what = FILE_NOTIFY_CHANGE_FILE_NAME | FILE_NOTIFY_CHANGE_SIZE | FILE_NOTIFY_CHANGE_LAST_WRITE;
    memset(&folder->request, 0, sizeof folder->request);
    folder->request.hEvent = watch->event;
    folder->asked = ReadDirectoryChangesW(folder->handle, folder->answer, ROOM, FALSE, what, NULL, &folder->request,
                                          NULL) != 0;
    return folder->asked;
}

static bool open_folder(folder_watch_t *watch, folder_t *folder)
{
    wchar_t wide[PATH_ROOM];
    const char *path = folder->path[0] == '\0' ? "." : folder->path;
    if (!win32_path(path, wide, PATH_ROOM))
        return false;
    folder->length = folder->at = folder->open_count = 0;
    folder->handle = CreateFileW(wide, FILE_LIST_DIRECTORY, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                 NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OVERLAPPED, NULL);
    if (folder->handle == INVALID_HANDLE_VALUE)
        folder->handle = NULL;
    if (folder->handle != NULL && !ask(watch, folder))
        leave(folder);
    return folder->handle != NULL;
}

int32_t folder_watch_add(folder_watch_t *watch, const char *path)
{
    uint32_t at = 0;
    while (at < watch->count && strcmp(watch->folders[at]->path, path) != 0)
        at++;
    if (at < watch->count)
        return watch->folders[at]->handle != NULL || open_folder(watch, watch->folders[at]) ? (int32_t)at : -1;
    folder_t *folder = at == FOLDERS ? NULL : memory_new(watch->memory, sizeof *folder);
    if (folder == NULL)
        return -1;
    snprintf(folder->path, sizeof folder->path, "%s", path);
    if (!open_folder(watch, folder)) {
        memory_free(watch->memory, folder, sizeof *folder);
        return -1;
    }
    watch->folders[watch->count++] = folder;
    return (int32_t)at;
}

/* --- notices ------------------------------------------------------------------------------------------------------ */

/* The state of a folder's request. */
enum { NO_ANSWER, ANSWERED, OVERFLOWN, FOLDER_GONE };

static int read_answer(folder_watch_t *watch, folder_t *folder)
{
    DWORD bytes = 0;
    if (!folder->asked && !ask(watch, folder))
        return FOLDER_GONE;
    if (!GetOverlappedResult(folder->handle, &folder->request, &bytes, FALSE))
        return GetLastError() == ERROR_IO_INCOMPLETE ? NO_ANSWER : FOLDER_GONE;
    folder->asked = false;
    folder->at = 0;
    folder->length = bytes;
    return bytes > 0 ? ANSWERED : OVERFLOWN;
}

static void remember_open(folder_t *folder, const char *name)
{
    uint32_t at = 0;
    while (at < folder->open_count && strcmp(folder->open[at], name) != 0)
        at++;
    if (at < OPEN_FILES) {
        snprintf(folder->open[at], NAME, "%s", name);
        folder->open_count += at == folder->open_count;
    }
}

static bool is_closed(const folder_t *folder, const char *name)
{
    char path[FILE_PATH_MAX];
    return !file_path_join(folder->path[0] == '\0' ? "." : folder->path, name, path, sizeof path) ||
           file_is_closed(path);
}

/* The next notice of an answer. false where its file has no name in UTF-8 that fits. */
static bool take(folder_t *folder, folder_notice_t *notice)
{
    const FILE_NOTIFY_INFORMATION *about = (const FILE_NOTIFY_INFORMATION *)(const void *)(folder->answer + folder->at);
    int length = WideCharToMultiByte(CP_UTF8, 0, about->FileName, (int)(about->FileNameLength / sizeof(WCHAR)),
                                     notice->name, (int)sizeof notice->name - 1, NULL, NULL);
    notice->name[length < 0 ? 0 : length] = '\0';
    folder->at = about->NextEntryOffset == 0 ? folder->length : folder->at + about->NextEntryOffset;
    bool gone = about->Action == FILE_ACTION_REMOVED || about->Action == FILE_ACTION_RENAMED_OLD_NAME;
    bool closed = gone || is_closed(folder, notice->name);
    if (!closed)
        remember_open(folder, notice->name);
    notice->what = gone || !closed ? FOLDER_TOUCHED : FOLDER_FINISHED;
    return length > 0;
}

/* A file that was open at the last look, and is not any more. */
static bool take_closed(folder_t *folder, folder_notice_t *notice)
{
    for (uint32_t i = 0; i < folder->open_count; i++) {
        if (!is_closed(folder, folder->open[i]))
            continue;
        memcpy(notice->name, folder->open[i], NAME);
        memcpy(folder->open[i], folder->open[--folder->open_count], NAME);
        notice->what = FOLDER_FINISHED;
        return true;
    }
    return false;
}

static bool hear(folder_watch_t *watch, uint32_t number, folder_notice_t *notice)
{
    folder_t *folder = watch->folders[number];
    int came = folder->handle != NULL ? ANSWERED : NO_ANSWER;
    notice->id = (int32_t)number;
    while (came == ANSWERED) {
        while (folder->at < folder->length) {
            if (take(folder, notice))
                return true;
        }
        came = read_answer(watch, folder);
    }
    if (came == NO_ANSWER)
        return folder->handle != NULL && take_closed(folder, notice);
    notice->name[0] = '\0';
    notice->what = came == FOLDER_GONE ? FOLDER_LOST : FOLDER_UNSURE;
    notice->id = came == FOLDER_GONE ? notice->id : -1;
    if (came == FOLDER_GONE)
        leave(folder);
    return true;
}

bool folder_watch_next(folder_watch_t *watch, folder_notice_t *notice)
{
    ResetEvent(watch->event);
    for (uint32_t i = 0; i < watch->count; i++) {
        if (hear(watch, i, notice))
            return true;
    }
    return false;
}
