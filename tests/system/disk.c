/* disk.c - files by number, names as pairs of a text and a file, changes of names as a list.
 *
 * Descriptors are asked after a write where it ended.
 */
#define _GNU_SOURCE 1

#include "disk.h"

#include "../unit/support.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 64, NAMES = 32, CHANGES = 32, DESCRIPTORS = 256, NAME_ROOM = 256, FOLDER_ROOM = 1024 };

typedef struct bytes_t {
    char *data;
    size_t size;
} bytes_t;

typedef struct inode_t {
    bytes_t now, safe; /* as programs see it; as it is on the disk */
    bool unsynced;
} inode_t;

typedef struct name_t {
    char text[NAME_ROOM]; /* "": unused */
    int inode;
} name_t;

typedef struct change_t {
    char name[NAME_ROOM];
    int inode; /* -1: the name goes */
    bool with_next; /* a rename is two changes that come together */
} change_t;

enum { NOT_OURS = -1, FOLDER = -2 };
typedef enum fate_t { ALL_LOST, HALF_KEPT, ZEROS, ALL_KEPT, FATES } fate_t;
static const char *const fate_names[] = {"what was not synced is lost", "half of what was not synced is there",
                                         "what was not synced is zeros", "all that was written is there"};

static struct {
    bool on;
    char folder[FOLDER_ROOM];
    void (*cut)(void *data);
    void *data;
    inode_t inodes[FILES];
    int inode_count;
    name_t now[NAMES], safe[NAMES], state[NAMES];
    change_t changes[CHANGES];
    int change_count;
    int open[DESCRIPTORS]; /* inodes, or NOT_OURS, or FOLDER, the folder itself */
    fate_t fate;
    int done; /* changes of names that the state at hand has */
    bytes_t found;
    uint32_t states, cuts;
} disk;

static void set_bytes(bytes_t *bytes, const void *data, size_t size)
{
    char *copy = malloc(size + 1);
    EXPECT(copy != NULL, "no memory for the model of the disk");
    if (size > 0)
        memcpy(copy, data, size);
    free(bytes->data);
    *bytes = (bytes_t){copy, size};
}

/* A path from the root on; in `room`, where it is given from the folder that the process is in. */
static const char *whole_path(const char *path, char room[FOLDER_ROOM + NAME_ROOM])
{
    if (path[0] == '/' || getcwd(room, FOLDER_ROOM) == NULL)
        return path;
    size_t length = strlen(room);
    snprintf(room + length, FOLDER_ROOM + NAME_ROOM - length, "/%s", path);
    return room;
}

/* The part of a path behind the folder, NULL for what lies elsewhere. */
static const char *name_of(const char *given)
{
    static _Thread_local char room[2][FOLDER_ROOM + NAME_ROOM]; /* a renaming asks for two */
    static _Thread_local uint32_t turn;
    size_t length = strlen(disk.folder);
    const char *path = whole_path(given, room[turn++ % 2]);
    if (!disk.on || strncmp(path, disk.folder, length) != 0 || path[length] != '/' ||
        strchr(path + length + 1, '/') != NULL)
        return NULL;
    return path + length + 1;
}

static name_t *find(name_t *names, const char *text)
{
    for (int i = 0; i < NAMES; i++)
        if (strcmp(names[i].text, text) == 0)
            return &names[i];
    return NULL;
}

static void put(name_t *names, const char *text, int inode)
{
    name_t *name = find(names, text);
    if (name == NULL)
        name = inode < 0 ? NULL : find(names, "");
    if (inode < 0 && name != NULL)
        name->text[0] = '\0';
    if (inode < 0)
        return;
    EXPECT(name != NULL && strlen(text) < NAME_ROOM, "the model of the disk has no room for '%s'", text);
    strcpy(name->text, text);
    name->inode = inode;
}

static void change(const char *text, int inode, bool with_next)
{
    EXPECT(disk.change_count < CHANGES, "more names have changed than the model of the disk can hold");
    change_t *c = &disk.changes[disk.change_count++];
    *c = (change_t){.inode = inode, .with_next = with_next};
    snprintf(c->name, sizeof c->name, "%s", text);
    put(disk.now, text, inode);
}

static int new_inode(void)
{
    EXPECT(disk.inode_count < FILES, "more files than the model of the disk can hold");
    inode_t *inode = &disk.inodes[disk.inode_count];
    set_bytes(&inode->now, "", 0);
    set_bytes(&inode->safe, "", 0);
    return disk.inode_count++;
}

static void read_file(const char *name)
{
    char path[FOLDER_ROOM + NAME_ROOM], room[4096];
    snprintf(path, sizeof path, "%s/%s", disk.folder, name);
    FILE *file = fopen(path, "rb");
    EXPECT(file != NULL, "%s cannot be read", path);
    int number = new_inode();
    inode_t *inode = &disk.inodes[number];
    for (size_t got = fread(room, 1, sizeof room, file); got > 0; got = fread(room, 1, sizeof room, file)) {
        char *bigger = realloc(inode->now.data, inode->now.size + got + 1);
        EXPECT(bigger != NULL, "no memory for the model of the disk");
        memcpy(bigger + inode->now.size, room, got);
        inode->now = (bytes_t){bigger, inode->now.size + got};
    }
    fclose(file);
    set_bytes(&inode->safe, inode->now.data, inode->now.size);
    put(disk.now, name, number);
    put(disk.safe, name, number);
}

void disk_begin(const char *folder, void (*cut)(void *data), void *data)
{
    disk_end();
    snprintf(disk.folder, sizeof disk.folder, "%s", folder);
    disk.cut = cut;
    disk.data = data;
    for (int i = 0; i < DESCRIPTORS; i++)
        disk.open[i] = NOT_OURS;
    DIR *list = opendir(folder);
    EXPECT(list != NULL, "%s cannot be read", folder);
    for (const struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list))
        if (entry->d_name[0] != '.')
            read_file(entry->d_name);
    closedir(list);
    disk.on = true;
}

void disk_end(void)
{
    for (int i = 0; i < disk.inode_count; i++) {
        free(disk.inodes[i].now.data);
        free(disk.inodes[i].safe.data);
    }
    free(disk.found.data);
    memset(&disk, 0, sizeof disk);
}

/* --- power cuts --------------------------------------------------------------------------------------------------- */

static void take_names(int changes)
{
    memcpy(disk.state, disk.safe, sizeof disk.state);
    for (int i = 0; i < changes; i++)
        put(disk.state, disk.changes[i].name, disk.changes[i].inode);
    disk.done = changes;
}

static bool any_unsynced(void)
{
    for (int i = 0; i < disk.inode_count; i++)
        if (disk.inodes[i].unsynced)
            return true;
    return false;
}

void disk_cut(void)
{
    fate_t first = any_unsynced() ? ALL_LOST : ALL_KEPT;
    disk.cuts++;
    for (int done = 0; done <= disk.change_count; done++) {
        if (done > 0 && disk.changes[done - 1].with_next)
            continue;
        take_names(done);
        for (fate_t fate = first; fate < FATES; fate++) {
            disk.fate = fate;
            disk.states++;
            disk.cut(disk.data);
        }
    }
}

static void keep_half(const inode_t *inode)
{
    size_t size = inode->now.size,
           half = inode->safe.size < size ? inode->safe.size + (size - inode->safe.size) / 2 : size / 2;
    set_bytes(&disk.found, inode->now.data, half > inode->safe.size ? half : inode->safe.size);
    if (half <= inode->safe.size) {
        memcpy(disk.found.data, inode->safe.data, inode->safe.size);
        memcpy(disk.found.data, inode->now.data, half);
    }
}

static void keep_zeros(const inode_t *inode)
{
    set_bytes(&disk.found, inode->now.data, inode->now.size);
    memset(disk.found.data, 0, inode->now.size);
    memcpy(disk.found.data, inode->safe.data, inode->safe.size < inode->now.size ? inode->safe.size : inode->now.size);
}

disk_file_t disk_found(const char *text)
{
    const name_t *name = find(disk.state, text);
    if (name == NULL)
        return (disk_file_t){NULL, 0};
    const inode_t *inode = &disk.inodes[name->inode];
    const bytes_t *bytes = !inode->unsynced || disk.fate == ALL_KEPT ? &inode->now
                           : disk.fate == ALL_LOST                   ? &inode->safe
                                                                     : &disk.found;
    if (bytes == &disk.found && disk.fate == HALF_KEPT)
        keep_half(inode);
    else if (bytes == &disk.found)
        keep_zeros(inode);
    return (disk_file_t){bytes->data, bytes->size};
}

const char *disk_state(void)
{
    static char text[160];
    snprintf(text, sizeof text, "%d of %d changes of names are on the disk, %s", disk.done, disk.change_count,
             fate_names[disk.fate]);
    return text;
}

uint32_t disk_states(void)
{
    return disk.states;
}

uint32_t disk_cuts(void)
{
    return disk.cuts;
}

/* --- what has been done ------------------------------------------------------------------------------------------- */

static int opened(int file)
{
    return disk.on && file >= 0 && file < DESCRIPTORS ? disk.open[file] : NOT_OURS;
}

static inode_t *inode_of(int file)
{
    return opened(file) >= 0 ? &disk.inodes[disk.open[file]] : NULL;
}

static bool is_folder(const char *given)
{
    char room[FOLDER_ROOM + NAME_ROOM];
    const char *path = whole_path(given, room);
    size_t length = strlen(disk.folder);
    const char *rest = path + length;
    return strncmp(path, disk.folder, length) == 0 &&
           (strcmp(rest, "") == 0 || strcmp(rest, "/") == 0 || strcmp(rest, "/.") == 0);
}

void disk_opened(int file, const char *path, int flags)
{
    if (!disk.on || file < 0)
        return;
    EXPECT(file < DESCRIPTORS, "more open files than the model of the disk can hold");
    const char *text = name_of(path);
    disk.open[file] = is_folder(path) ? FOLDER : NOT_OURS;
    if (text == NULL || is_folder(path))
        return;
    const name_t *name = find(disk.now, text);
    bool fresh = name == NULL;
    int inode = fresh ? new_inode() : name->inode;
    disk.open[file] = inode;
    if (fresh)
        change(text, inode, false);
    else if ((flags & O_TRUNC) != 0)
        disk_truncated(file, 0);
    if (fresh)
        disk_cut();
}

void disk_wrote(int file, const void *bytes, size_t size)
{
    inode_t *inode = inode_of(file);
    if (inode == NULL)
        return;
    off_t place = lseek(file, 0, SEEK_CUR);
    EXPECT(place >= (off_t)size, "the system does not tell where something was written");
    size_t end = (size_t)place;
    if (end > inode->now.size) {
        char *bigger = realloc(inode->now.data, end + 1);
        EXPECT(bigger != NULL, "no memory for the model of the disk");
        memset(bigger + inode->now.size, 0, end - inode->now.size);
        inode->now = (bytes_t){bigger, end};
    }
    memcpy(inode->now.data + end - size, bytes, size);
    inode->unsynced = true;
    disk_cut();
}

void disk_truncated(int file, size_t size)
{
    inode_t *inode = inode_of(file);
    if (inode == NULL || inode->now.size == size)
        return;
    EXPECT(size < inode->now.size, "the model of the disk lets files be cut, not grown");
    inode->now.size = size;
    inode->unsynced = true;
    disk_cut();
}

void disk_synced(int file)
{
    if (opened(file) == NOT_OURS)
        return;
    if (opened(file) == FOLDER) {
        memcpy(disk.safe, disk.now, sizeof disk.safe);
        disk.change_count = 0;
    } else {
        inode_t *inode = inode_of(file);
        set_bytes(&inode->safe, inode->now.data, inode->now.size);
        inode->unsynced = false;
    }
    disk_cut();
}

void disk_closed(int file)
{
    if (opened(file) != NOT_OURS)
        disk.open[file] = NOT_OURS;
}

void disk_renamed(const char *from, const char *to)
{
    const char *old = name_of(from), *new = name_of(to);
    if (old == NULL && new == NULL)
        return;
    const name_t *name = old == NULL ? NULL : find(disk.now, old);
    EXPECT(new != NULL && name != NULL, "the model of the disk knows one folder: %s was renamed to %s", from, to);
    change(new, name->inode, true);
    change(old, -1, false);
    disk_cut();
}

void disk_removed(const char *path)
{
    const char *text = name_of(path);
    if (text == NULL || find(disk.now, text) == NULL)
        return;
    change(text, -1, false);
    disk_cut();
}
