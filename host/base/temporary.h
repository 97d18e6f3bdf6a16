/* temporary.h - folders of this process among the system's temporary ones, and those that dead processes have left.
 *
 * A folder has an owner: the process that made it holds a lock on a file in it for as long as it lives, however it ends. So
 * whether an owner is dead needs no guess: his lock can be had. Only then is a folder removed, and only if it is this user's, nobody
 * else may write to it, and nothing but plain files lies in it. Links are not followed.
 *
 * What it does not do: it looks only where temporary folders are made now, TMPDIR or what the system has for it.
 */
#ifndef HOST_BASE_TEMPORARY_H
#define HOST_BASE_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct temporary_t {
    intptr_t owner; /* the file that is locked, as the system knows it; -1: none */
} temporary_t;

/* Make a folder, its name beginning with `name`, and write its path; false where it cannot be had. [any] */
bool temporary_create(temporary_t *folder, const char *name, char *path, size_t size);

/* Remove it, empty as it was made. [any] */
void temporary_remove(temporary_t *folder, const char *path);

/* Remove the folders of that name whose owners are dead, with what is in them; returns how many. [any] */
uint32_t temporary_sweep(const char *name);

#endif
