/* progress.h - a bar on stderr that tells how far a run is.
 *
 * What it does not do: it writes nothing to anything but a terminal.
 */
#ifndef HOST_PROGRAM_PROGRESS_H
#define HOST_PROGRAM_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct progress_t {
    uint64_t total;
    uint64_t started;  /* by the clock, nanoseconds */
    uint64_t drawn;    /* when it was drawn last */
    atomic_int width;  /* columns that the line on the screen takes; 0: there is none */
    bool shown;        /* is there anybody to see it? */
} progress_t;

/* Begin with `total` steps ahead. Nothing is drawn yet: short runs shall not flicker. */
void progress_begin(progress_t *progress, uint64_t total, bool wanted);

/* `done` steps are done. Draws at most ten times a second. */
void progress_show(progress_t *progress, uint64_t done);

/* Wipe the line away, for something else to be written there; the next progress_show draws it again. May be
 * called from any thread while no other draws. */
void progress_erase(progress_t *progress);

#endif
