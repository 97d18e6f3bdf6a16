/* ranks.h - a run of several processes: which rank this process is, and one result of all ranks.
 *
 * Not here: starting processes; mpirun does (docs/machines.md).
 */
#ifndef HOST_PROGRAM_RANKS_H
#define HOST_PROGRAM_RANKS_H

#include "program.h"

/* From now on complaints and lines of the log say which rank they come from, where there are several. */
void ranks_introduce(program_t *program);

/* Print the results of all ranks, on rank 0: with `json` as one object. All ranks call it. */
int ranks_print(program_t *program, uint64_t steps, uint64_t nanoseconds, bool json);

#endif
