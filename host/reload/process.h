/* process.h - other processes: a command of the system's shell that runs beside the host, a copy of the host, and a
 * helper, which is a program that was started for something that may go wrong.
 *
 * Not here: input for a command or a helper; what a helper is asked for (helper.h).
 */
#ifndef HOST_RELOAD_PROCESS_H
#define HOST_RELOAD_PROCESS_H

#include "../base/memory.h"

typedef struct process_t process_t;

enum { PROCESS_RUNNING = 0, PROCESS_ENDED = 1, PROCESS_KILLED = 2 };
enum { PROCESS_CALLED_EXIT = 113 }; /* the exit code of a copy of this process after a call of exit in it */

/* The state of a process. */
typedef struct process_end_t {
    uint32_t state;  /* PROCESS_... */
    int32_t code;    /* ended: its exit code; killed: the signal's number */
    const char *signal; /* killed: the signal's name, "SIGSEGV"; else "" */
} process_end_t;

/* Run a command in the background, in `folder` (NULL: in the working directory). Its output, to whichever stream, is
 * read with process_read. NULL where the command cannot be started. [main] */
process_t *process_start(memory_t *memory, const char *command, const char *folder);

/* Fork: make a copy of this process in which `child` runs; the copy's exit code is the value that `child` returns. All
 * that the child writes with process_write can be read here. In the child only the calling thread exists; standard
 * streams and all other open files lead nowhere, so that nothing that the parent has in buffers can get out; and the
 * child ends without running handlers, also where a plugin calls exit. NULL where no copy can be had; process_can_fork
 * says whether the system has copies at all. What the child writes to its standard error is kept (process_last_words).
 * [main] */
process_t *process_fork(memory_t *memory, int (*child)(process_t *self, void *data), void *data);
bool process_can_fork(void);

/* The third argument of a helper that also writes how it ends, since the system may not tell. */
#define PROCESS_TELLS "tells"

/* Start a program as a helper, in the working directory: `word` and `file` are its arguments, and PROCESS_TELLS where
 * the program itself has set anything for the ends of its processes (SIGCHLD). What it writes with process_write can be
 * read here. NULL where it cannot be started. [main] */
process_t *process_start_helper(memory_t *memory, const char *program, const char *word, const char *file);

/* In a helper: what process_write needs. From now on the standard streams and all other files that were handed down
 * lead nowhere, a call of exit ends this process with PROCESS_CALLED_EXIT, a crash opens no window, and this process
 * ends when the one that started it ends. `tells`: it was given PROCESS_TELLS. NULL where memory is lacking. [main] */
process_t *process_be_helper(memory_t *memory, bool tells);

/* End this process at once, without handlers. */
_Noreturn void process_leave(int code);

/* In the child of process_fork, or in a helper: send bytes to the parent. */
void process_write(process_t *self, const void *bytes, size_t size);

/* Read bytes that the process has written. Returns how many; 0 where there are none at present (or any more). Never
 * waits. [main] */
size_t process_read(process_t *process, void *bytes, size_t size);

/* The last lines, at most some 200 bytes, that a copy of this process has written to its standard error, as one line:
 * what a library says before it ends the process. "" where there are none. Good until the next call. [main] */
const char *process_last_words(process_t *process);

/* Is the process over? Never waits. Output that is left can be read afterwards. [main] */
process_end_t process_state(process_t *process);

/* Let go of a process; one that still runs is killed, with all that it has started. NULL is allowed. [main] */
void process_free(process_t *process);

#endif
