/* replay.h - a host in which a recording is computed again, for the commands that do so.
 *
 * Not here: what is done with it (replay.c, bisect.c).
 */
#ifndef HOST_PROGRAM_REPLAY_H
#define HOST_PROGRAM_REPLAY_H

#include "program.h"

typedef struct replay_t {
    program_t program;
    bp_recording_t info; /* its struct_size is set before replay_open */
    uint64_t from;       /* the moment from which progress is counted */
    uint64_t hash;
} replay_t;

/* Set a host up as the recorded one was, by the ini that the recording names or by `ini_of` where that is not NULL, and
 * open its recording. Complains; where the status is not STATUS_FINE, nothing is left to close. */
int replay_open(replay_t *replay, const char *file, const char *ini_of, bp_recording_o **recording);

#endif
