/* guard_walk.h - whose code crashed: for the guard's handlers (guard_posix.c) alone.
 *
 * Everything here may be called from a signal handler but guard_find_host. A walk reads a stack that may be ruined: the caller
 * is ready for a fault in it.
 *
 * What it does not do: it changes nothing, and knows no plugin by name.
 */
#ifndef HOST_BASE_GUARD_WALK_H
#define HOST_BASE_GUARD_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* The image of a plugin. */
typedef struct guard_image_t {
    uintptr_t begin, end;
    struct guard_image_t *next;
} guard_image_t;

/* Where the host's own code lies, and the program's. */
typedef struct guard_host_t {
    uintptr_t begin[2], end[2];
} guard_host_t;

void guard_find_host(guard_host_t *host);
bool guard_is_host(const guard_host_t *host, uintptr_t address);

/* The image around an address, or NULL. */
const guard_image_t *guard_image_at(const guard_image_t *images, uintptr_t address);

typedef struct guard_walk_t {
    const guard_host_t *host_code;
    const guard_image_t *images;
    void (*call)(void *data);  /* what guard_run was told to run */
    uintptr_t pc, end;         /* the instruction; the end of guard_run's frame */
    bool jumped;               /* no code is at pc */

    bool host;                 /* found: the host or the program called the code at pc */
    bool plugin;               /* found: a plugin did, from an address in an image: */
    const guard_image_t *image; /* NULL where it has left no trace */
    uintptr_t at;

    bool past;                 /* the frames of the handler, which come first */
} guard_walk_t;

/* Find who called the code at pc: the innermost image of a plugin, the host or the program on the stack. sp and link are
 * the stack pointer at pc, and the link register where the processor has one, else 0. */
void guard_walk(guard_walk_t *walk, uintptr_t sp, uintptr_t link);

#endif
