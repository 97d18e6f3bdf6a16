/* process.h - other processes: a command of the system's shell that runs beside us, and a copy of ourselves.
 *
 * What it does not do: it feeds nothing to a command, and knows no way to run one without a shell.
 */
#ifndef HOST_RELOAD_PROCESS_H
#define HOST_RELOAD_PROCESS_H

#include "../base/memory.h"

typedef struct process_t process_t;

enum { PROCESS_RUNNING = 0, PROCESS_ENDED = 1, PROCESS_KILLED = 2 };
enum { PROCESS_CALLED_EXIT = 113 }; /* the exit code of a copy of ourselves in which somebody called exit */

/* What a process has come to. */
typedef struct process_end_t {
    uint32_t state;  /* PROCESS_... */
    int32_t code;    /* ended: its exit code; killed: the signal's number */
    const char *signal; /* killed: the signal's name, "SIGSEGV"; else "" */
} process_end_t;

/* Run a command in the background; what it prints, to whichever stream, is read with process_read. NULL where it cannot
 * be started. It runs in `folder`; NULL: in the
 * working directory. [main] */
process_t *process_start(memory_t *memory, const char *command, const char *folder);

/* Fork: a copy of this process, in which `child` runs and whose exit code is what it returns; everything that the child
 * writes with process_write can be read here. In the child only the calling thread exists, standard streams and all
 * other files that were open lead nowhere, so that nothing that the parent has in buffers can get out, and it ends
 * without ado, even where somebody calls exit. NULL where it cannot be had; process_can_fork says whether the system
 * has it at all. [main] */
process_t *process_fork(memory_t *memory, int (*child)(process_t *self, void *data), void *data);
bool process_can_fork(void);

/* In the child of process_fork: bytes for the parent. */
void process_write(process_t *self, const void *bytes, size_t size);

/* Bytes that it has written: their number, 0 where there are none at present (or any more). Never waits. [main] */
size_t process_read(process_t *process, void *bytes, size_t size);

/* Is it over? Never waits. Read what is left afterwards. [main] */
process_end_t process_state(process_t *process);

/* Let go of it; one that still runs is killed, with all that it has started. NULL is allowed. [main] */
void process_free(process_t *process);

#endif
