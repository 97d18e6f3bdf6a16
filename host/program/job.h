/* job.h - recordings of a run of several ranks: a file of each rank; beginning them, and resuming them on the same or
 * another number of ranks.
 *
 * Not here: recordings of a run that is one process.
 */
#ifndef HOST_PROGRAM_JOB_H
#define HOST_PROGRAM_JOB_H

#include "arguments.h"
#include "program.h"

/* Is a recording of that path a matter of several ranks: of this run, or of the one that wrote it? */
bool job_is_concerned(const program_t *program, const char *path);

/* Begin to record, or go on with what was recorded: `*done` steps have been taken then. All ranks call it. Complains
 * where that fails, and returns the status. */
int job_begin_recording(program_t *program, const arguments_t *arguments, uint64_t *done);

#endif
