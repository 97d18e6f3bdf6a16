/* files.h - files as the system has them: whole files, paths, folders, stamps, and temporary folders with their owners.
 *
 * Implemented twice, in files_posix.c and files_win32.c; the build compiles one of them.
 *
 * Not here: reading and writing text (base/file.h does that, with standard C); watching files (reload/folder.h).
 */
#ifndef HOST_OS_FILES_H
#define HOST_OS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* --- os_file: whole files ---------------------------------------------------------------------------------- */

/* Map a file's bytes for reading, page-aligned; of an empty file *size is 0. Changing the file in place changes
 * the mapped bytes, and cutting it off takes pages away: replace such files by renaming, as os_file_replace does. NULL
 * on failure, with the system's sentence in `error`. [main] */
const void *os_file_map(const char *path, size_t *size, char *error, size_t error_size);
void os_file_unmap(const void *bytes, size_t size);

/* Put a file with these bytes in the place of `path`; on failure the present file stays as it is. The bytes are written
 * beside it as `path`.part, brought to the disk, and then renamed. A link is followed; a `path` that is no plain file
 * (a device, a pipe) is written to directly. A .part that a killed process has left is written over; a .part that
 * another process is still writing after half a second is an error. false on failure, with the system's sentence; then
 * nothing is left beside `path`. [main] */
bool os_file_replace(const char *path, const void *bytes, size_t size, char *error, size_t error_size);

/* Like os_file_replace, for a file that the caller has written and closed: `part`, in the same folder, is brought to
 * the disk and takes the place of `path`. On failure `part` is removed. [main] */
bool os_file_keep(const char *part, const char *path, char *error, size_t error_size);

/* fopen and remove, of paths as this program has them: UTF-8, and of any length that the system takes; on Windows
 * whatever the program's manifest says. [any] */
FILE *os_file_open(const char *path, const char *mode);
bool os_file_remove(const char *path);

/* Bring what has been written to a file, and flushed, to the disk. True also for what has no disk: a pipe, a device.
 * false on failure, with errno. [main] */
bool os_stream_sync(FILE *file);

/* Read and write on from that many bytes behind its beginning. [main] */
bool os_stream_seek(FILE *file, uint64_t at);

/* --- os_path: paths and folders ----------------------------------------------------------------------------- */

bool os_path_is_absolute(const char *path);

/* The last separator of a path, on Windows also a backslash; NULL where there is none. */
const char *os_path_separator(const char *path);

/* Is there something at `path` that is neither a plain file nor a folder: a pipe, a device? Opening it may wait for
   ever. */
bool os_path_is_special(const char *path);

/* Is nothing at `path`? False where the system cannot tell. [any] */
bool os_path_is_missing(const char *path);

/* The folder of the running program, with no separator at its end; false where the system does not tell. */
bool os_program_folder(char *path, size_t size);

/* The folder of the shared library that this code lies in; where it is linked into the program, the program's. False
 * where the system does not tell. */
bool os_library_folder(char *path, size_t size);

/* Make a folder, its parent being there. True also where there is one already. [any] */
bool os_folder_create(const char *path);

/* May libraries that lie in a folder be loaded, as far as the system tells? False on a file system mounted "noexec";
 * true where that is not known. [any] */
bool os_folder_runs_code(const char *path);

/* Call see(data, name) for everything in a folder but "." and "..", in no particular order. False where it cannot be
 * read. [any] */
bool os_folder_list(const char *path, void (*see)(void *data, const char *name), void *data);

/* --- file_stamp: has a file changed? ------------------------------------------------------------------------------ */

/* Tells one state of a file from another: as long as its stamps are equal the file has not been written. */
typedef struct file_stamp_t {
    uint64_t size, written, id; /* written: in nanoseconds, as fine as the file system is; id: of the file behind the
                                   path */
} file_stamp_t;

/* false where there is no such file (the stamp is then all zero). [main] */
bool file_stamp(const char *path, file_stamp_t *stamp);

/* true where no process has the file open for writing, and where the system cannot tell. [main] */
bool file_is_closed(const char *path);

/* --- temporary: folders that go with their process ---------------------------------------------------------------- */

/* Folders of this process among the system's temporary ones, and those that dead processes have left.
 *
 * A folder has an owner: the process that made it holds a lock on a file in it until the process ends, in whatever way.
 * So an owner is dead exactly when its lock can be taken. Only then is a folder removed, and only if it is this user's,
 * no other user may write to it, and it has nothing but plain files in it. Links are not followed.
 *
 * `parent` is the folder in which such folders are made and looked for; NULL: TMPDIR, or the system's own.
 *
 * Not here: looking in any other place than `parent`.
 */

typedef struct temporary_t {
    intptr_t owner; /* the file that is locked, as the system knows it; -1: none */
    uint64_t process; /* that has made the folder (os_process_number) */
} temporary_t;

/* Make a folder, its name beginning with `name`, and write its path; false where it cannot be had. [any] */
bool temporary_create(temporary_t *folder, const char *parent, const char *name, char *path, size_t size);

/* Has this process made the folder? A copy of the process, made by fork, has not. [any] */
bool temporary_is_own(const temporary_t *folder);

/* Remove it, and the plain files in it. What cannot be removed is left to a later sweep: its owner is gone. A folder
 * that another process has made stays. [any] */
void temporary_remove(temporary_t *folder, const char *path);

/* Remove the folders of that name with dead owners, and the files in them; returns how many folders. [any] */
uint32_t temporary_sweep(const char *parent, const char *name);

#endif
