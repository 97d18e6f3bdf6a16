/* disk.h - what would be found in a folder after a power cut, at any moment.
 *
 * A model beside the real folder, kept by calls.c. Of each file it holds the bytes that programs see and those that are
 * on the disk for certain (at its last fsync); of the folder the names as programs see them, the names that are certain
 * (at its last fsync), and the changes between the two in order.
 *
 * A power cut leaves the names after the first n of those changes, for any n; and of each file with unsynced writes all
 * of them, none, the first half, or its new length filled with zeros. A new file whose writes are all lost is empty.
 *
 *     save:          open x.part   write   fsync    rename x.part -> x    fsync of the folder
 *     may be found:  old x         old x   old x    old x or new x        new x
 *
 * Paths may be relative to the folder that the process is in.
 *
 * What it does not do: one folder, no folders in it, no links; files are changed by one thread.
 */
#ifndef TESTS_SYSTEM_DISK_H
#define TESTS_SYSTEM_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file as it is found after a power cut; bytes NULL: there is none of that name. */
typedef struct disk_file_t {
    const void *bytes;
    size_t size;
} disk_file_t;

/* Begin with what lies in the folder, all of it on the disk. After every change from now on `cut` is called once for
 * each state that a power cut at this moment could leave; disk_found looks into that state. */
void disk_begin(const char *folder, void (*cut)(void *data), void *data);
void disk_end(void);

/* In `cut`: the file of this name in the state at hand. */
disk_file_t disk_found(const char *name);

/* In `cut`: the state in words, for messages. */
const char *disk_state(void);

/* Call `cut` for what a power cut could leave now. */
void disk_cut(void);

/* How many states have been looked at, and at how many moments. */
uint32_t disk_states(void);
uint32_t disk_cuts(void);

/* --- for calls.c: what has been done for good --------------------------------------------------------------------- */

void disk_opened(int file, const char *path, int flags);
void disk_wrote(int file, const void *bytes, size_t size);
void disk_truncated(int file, size_t size);
void disk_synced(int file);
void disk_closed(int file);
void disk_renamed(const char *from, const char *to);
void disk_removed(const char *path);

#endif
