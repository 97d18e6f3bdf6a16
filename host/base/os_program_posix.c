/* os_program_posix.c - running other programs on Linux and its relatives: posix_spawn. */
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1

#include "os.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

const char os_program_suffix[] = "";

bool os_program_run(const char *path, const char *const *arguments, int *status)
{
    pid_t child, ended;
    int how;
    union {
        const char *const *ours;
        char *const *theirs; /* which the system does not write to */
    } texts = {.ours = arguments};
    if (posix_spawn(&child, path, NULL, NULL, texts.theirs, environ) != 0)
        return false;
    do
        ended = waitpid(child, &how, 0);
    while (ended < 0 && errno == EINTR);
    if (ended != child)
        return false;
    *status = WIFSIGNALED(how) ? -WTERMSIG(how) : WEXITSTATUS(how);
    return true;
}
