/* process_posix.c - fork, sh -c, posix_spawn, and a pipe.
 *
 * A process gets a group of its own, so that killing it takes along the processes that it started (a compiler below
 * make below a shell).
 *
 * What has left the group of a copy or of a helper, or has lost its parent, is found below it (Linux): a copy adopts
 * orphans, and kills all below it as its last act; process_free does so for a copy that still runs. Those of a copy
 * that the system ends are no longer below it.
 *
 * The copy of this process must write to no file. Its descriptors other than the pipe are replaced by /dev/null, so
 * that buffers of the C library that were filled before the fork are not written a second time. And a handler that is
 * registered last, and so runs first, turns exit into _exit.
 *
 * How a process has ended is asked of the system, which tells it once, to the part of the program that asks first. A
 * program that ignores SIGCHLD, or waits for all its processes whenever one has ended, leaves nothing to ask for. So
 * where a program has set anything for that signal, a command and a copy also write how they end into a pipe.
 *
 * The standard error of a copy is a pipe of its own that takes what fits and never blocks; the end of it is kept, since
 * libraries write there why they end a process. The C library would write to the terminal, and is told to use standard
 * error.
 */
#define _GNU_SOURCE 1

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <dirent.h>
#include <sys/prctl.h>
#endif

enum { WORDS = 240, TOLD = 3 /* the descriptor by which a shell tells how a command has ended */ };

#define TELLS_BY "BACKPLANE_TELLS" /* a variable of the environment of a copy or a helper */

/* A shell that runs the command `$1` by another one, and writes down how that has ended. */
static const char telling_shell[] = "\"$0\" -c \"$1\" 3>&-; ended=$?; echo $ended >&3; exit $ended";

struct process_t {
    memory_t *memory;
    pid_t maker; /* the process that has started this one: copies of it that others make leave it alone */
    pid_t pid;
    int errors;            /* a copy's standard error; -1: none */
    char words[WORDS];     /* its end */
    size_t word_count;
    char last_words[WORDS + 1];
    int pipe; /* the parent's end; in the child, its own */
    int told; /* what the child writes at its end; -1: nothing */
    int tell; /* the child's end of that; in the parent until the child is there; -1: none */
    process_end_t end;
    bool copy; /* made by process_fork: the processes that it has started end with it */
};

/* Ends with the number of a standard file that the program has closed get another number: a child leads its standard
 * files into pipes, which would end such an end, or be undone by its close-on-exec flag. */
static bool leave_standard_files(int ends[2])
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] > STDERR_FILENO)
            continue;
        int moved = fcntl(ends[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (moved < 0) {
            close(ends[0]);
            close(ends[1]);
            return false;
        }
        close(ends[i]);
        ends[i] = moved;
    }
    return true;
}

static bool make_pipe(int ends[2])
{
    if (pipe(ends) != 0 || !leave_standard_files(ends))
        return false;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return true;
}

/* May the system have nothing to tell of processes that have ended? */
static bool others_wait(void)
{
    struct sigaction how;
    return sigaction(SIGCHLD, NULL, &how) == 0 && (how.sa_handler != SIG_DFL || (how.sa_flags & SA_NOCLDWAIT) != 0);
}

static process_t *new_process(memory_t *memory, int ends[2])
{
    int told[2];
    process_t *process = memory_new(memory, sizeof *process);
    if (process != NULL && !make_pipe(ends)) {
        memory_free(memory, process, sizeof *process);
        return NULL;
    }
    if (process != NULL) {
        process->memory = memory;
        process->maker = getpid();
        process->pipe = ends[0];
        process->errors = process->told = process->tell = -1;
        process->end.signal = "";
        if (others_wait() && make_pipe(told)) {
            process->told = told[0];
            process->tell = told[1];
        }
    }
    return process;
}

static void close_file(int file)
{
    if (file >= 0)
        close(file);
}

/* In the parent, after a fork. */
static process_t *keep(process_t *process, pid_t pid, const int ends[2])
{
    close(ends[1]);
    close_file(process->tell);
    process->tell = -1;
    if (pid > 0) {
        process->pid = pid;
        setpgid(pid, pid); /* the child does this too, since either may come first */
        return process;
    }
    close(ends[0]);
    close_file(process->errors);
    close_file(process->told);
    memory_free(process->memory, process, sizeof *process);
    return NULL;
}

static void unblock_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

process_t *process_start(memory_t *memory, const char *command, const char *folder)
{
    int ends[2];
    process_t *process = new_process(memory, ends);
    if (process == NULL)
        return NULL;
    pid_t pid = fork();
    if (pid != 0)
        return keep(process, pid, ends);
    setpgid(0, 0);
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, 0);
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    unblock_signals();
    signal(SIGCHLD, SIG_DFL); /* compilers wait for processes of theirs */
    if (folder != NULL && chdir(folder) != 0)
        _exit(127);
    if (process->tell >= 0) {
        dup2(process->tell, TOLD);
        fcntl(TOLD, F_SETFD, 0);
        execl("/bin/sh", "sh", "-c", telling_shell, "/bin/sh", command, (char *)NULL);
    }
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* --- a copy of this process
 * ------------------------------------------------------------------------------------------ */

static void cover(int fd, int nothing, const process_t *self, int errors)
{
    if (fd != nothing && fd != self->pipe && fd != self->tell && fd != errors && fcntl(fd, F_GETFD) != -1)
        dup2(nothing, fd);
}

/* Cover every descriptor that is open, by the list that the system keeps, else by trying the first thousand. */
static void cover_files(const process_t *self, int errors)
{
    int nothing = open("/dev/null", O_RDWR);
#if defined(__linux__)
    DIR *list = opendir("/proc/self/fd");
    const struct dirent *entry;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && fd != dirfd(list))
            cover(fd, nothing, self, errors);
    }
    if (list != NULL) {
        closedir(list);
        return;
    }
#endif
    for (int fd = 0; fd < 1024; fd++)
        cover(fd, nothing, self, errors);
}

/* Kill what a process has started, and what these have started, of whatever group or session they are. Without memory
 * of the heap, since a copy does so as its last act. */
static void kill_below(pid_t pid)
{
#if defined(__linux__)
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count;
    int child = 0; /* a number may begin in one portion and end in the next */
    while (file >= 0 && (count = read(file, text, sizeof text)) > 0) {
        for (ssize_t i = 0; i < count; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                child = child * 10 + (text[i] - '0');
            } else if (child > 1) {
                kill_below(child);
                kill(child, SIGKILL);
                child = 0;
            }
        }
    }
    if (file >= 0)
        close(file);
#else
    (void)pid;
#endif
}

/* Processes whose parent has ended become children of this one, so that none gets away from the count of what a
 * candidate leaves, or from kill_below. */
static void adopt_orphans(void)
{
#if defined(__linux__)
    prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
}

/* In a copy, or a helper: where it tells how it ends, -1: nowhere. That is written down in its environment, since a
 * library keeps no state, and `exit` hands nothing to what it calls. */
static void tell_at_end(int file)
{
    char text[16];
    snprintf(text, sizeof text, "%d", file);
    if (file < 0)
        unsetenv(TELLS_BY);
    else
        setenv(TELLS_BY, text, 1);
}

_Noreturn void process_leave(int code)
{
    char text[16];
    const char *file = getenv(TELLS_BY);
    kill_below(getpid());
    int length = snprintf(text, sizeof text, "%d\n", code);
    if (file != NULL && write(atoi(file), text, (size_t)length) != length)
        _exit(code); /* the parent has gone */
    _exit(code);
}

/* Registered for exit, which would write out the parent's buffers and run its handlers. The code that exit was called
   with is not known here. */
static void end_at_once(void)
{
    process_leave(PROCESS_CALLED_EXIT);
}

/* In the child: its standard error. */
static void speak_into(int errors)
{
    if (errors < 0)
        return;
    fcntl(errors, F_SETFL, O_NONBLOCK);
    dup2(errors, STDERR_FILENO);
    setenv("LIBC_FATAL_STDERR_", "1", 1);
}

/* The record of a copy, which ends with the processes that it has started; and a pipe for its standard error, -1 where
 * there is none. */
static process_t *new_copy(memory_t *memory, int ends[2], int errors[2])
{
    process_t *process = new_process(memory, ends);
    if (process == NULL)
        return NULL;
    process->copy = true;
    if (!make_pipe(errors))
        errors[0] = errors[1] = -1;
    process->errors = errors[0];
    return process;
}

process_t *process_fork(memory_t *memory, int (*child)(process_t *self, void *data), void *data)
{
    int ends[2], errors[2];
    process_t *process = new_copy(memory, ends, errors);
    if (process == NULL)
        return NULL;
    pid_t parent = getpid(), pid = fork();
    if (pid != 0) {
        if (errors[1] >= 0)
            close(errors[1]);
        return keep(process, pid, ends);
    }
    setpgid(0, 0);
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
#else
    (void)parent;
#endif
    adopt_orphans();
    atexit(end_at_once);
    process->pipe = ends[1];
    tell_at_end(process->tell);
    cover_files(process, errors[1]);
    speak_into(errors[1]);
    process_leave(child(process, data));
}

bool process_can_fork(void)
{
    return true;
}

/* --- a helper ----------------------------------------------------------------------------------------------------- */

extern char **environ;

/* The standard error of a helper: the pipe `errors`, or nothing where that is -1. */
static bool lead_errors(posix_spawn_file_actions_t *files, int errors)
{
    return (errors < 0 ? posix_spawn_file_actions_addopen(files, 2, "/dev/null", O_WRONLY, 0)
                       : posix_spawn_file_actions_adddup2(files, errors, 2)) == 0;
}

/* posix_spawn, since fork copies the page tables of a large host to no purpose. */
static bool spawn(pid_t *pid, const char *program, char *const *arguments, int pipe, int errors, int tell)
{
    sigset_t none;
    posix_spawnattr_t how;
    posix_spawn_file_actions_t files;
    sigemptyset(&none);
    if (posix_spawnattr_init(&how) != 0)
        return false;
    if (posix_spawn_file_actions_init(&files) != 0) {
        posix_spawnattr_destroy(&how);
        return false;
    }
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    bool good = posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                   POSIX_SPAWN_SETSIGDEF) == 0 &&
                posix_spawnattr_setsigmask(&how, &none) == 0 && posix_spawnattr_setsigdefault(&how, &ends) == 0 &&
                posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) == 0 &&
                posix_spawn_file_actions_adddup2(&files, pipe, 1) == 0 &&
                lead_errors(&files, errors) &&
                (tell < 0 || posix_spawn_file_actions_adddup2(&files, tell, TOLD) == 0) &&
                posix_spawn(pid, program, &files, &how, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return good;
}

process_t *process_start_helper(memory_t *memory, const char *program, const char *word, const char *file)
{
    int ends[2], errors[2];
    pid_t pid;
    char tells[] = PROCESS_TELLS;
    char *arguments[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)word, (char *)(uintptr_t)file, NULL, NULL};
    process_t *process = new_copy(memory, ends, errors);
    if (process == NULL)
        return NULL;
    arguments[3] = process->tell < 0 ? NULL : tells;
    if (!spawn(&pid, program, arguments, ends[1], errors[1], process->tell))
        pid = -1;
    if (errors[1] >= 0)
        close(errors[1]);
    return keep(process, pid, ends);
}

process_t *process_be_helper(memory_t *memory, bool tells)
{
    process_t *process = memory_new(memory, sizeof *process);
    if (process == NULL)
        return NULL;
    process->memory = memory;
    process->errors = process->told = -1;
    process->tell = tells ? TOLD : -1;
    tell_at_end(process->tell);
    process->pipe = fcntl(1, F_DUPFD_CLOEXEC, 3);
    if (process->pipe < 0) {
        memory_free(memory, process, sizeof *process);
        return NULL;
    }
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    adopt_orphans();
    atexit(end_at_once);
    cover_files(process, STDERR_FILENO);
    fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK); /* as speak_into does for a copy */
    setenv("LIBC_FATAL_STDERR_", "1", 1);
    return process;
}

void process_write(process_t *self, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t written = write(self->pipe, at, size);
        if (written <= 0 && errno != EINTR)
            return;
        at += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
}

/* --- reading, ending ---------------------------------------------------------------------------------------------- */

size_t process_read(process_t *process, void *bytes, size_t size)
{
    ssize_t got = read(process->pipe, bytes, size);
    return got > 0 ? (size_t)got : 0;
}

/* Keep the end of what the child has written to its standard error. */
static void hear_words(process_t *process)
{
    char some[1024];
    ssize_t got;
    while (process->errors >= 0 && (got = read(process->errors, some, sizeof some)) > 0) {
        size_t fresh = (size_t)got > WORDS ? WORDS : (size_t)got, kept = process->word_count;
        kept = kept + fresh > WORDS ? WORDS - fresh : kept;
        memmove(process->words, process->words + process->word_count - kept, kept);
        memcpy(process->words + kept, some + (size_t)got - fresh, fresh);
        process->word_count = kept + fresh;
    }
}

const char *process_last_words(process_t *process)
{
    hear_words(process);
    const char *first = process->words, *end = first + process->word_count;
    while (end > first && (unsigned char)end[-1] <= ' ')
        end--;
    const char *line = process->word_count == WORDS ? memchr(first, '\n', (size_t)(end - first)) : NULL;
    first = line != NULL ? line + 1 : first; /* the line before is not whole */
    size_t length = (size_t)(end - first);
    for (size_t i = 0; i < length; i++)
        process->last_words[i] = (unsigned char)first[i] < ' ' ? ' ' : first[i];
    process->last_words[length] = '\0';
    return process->last_words;
}

static const char *signal_name(int number)
{
    static const struct { int number; const char *name; } names[] = {
        {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"},
        {SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"}, {SIGPIPE, "SIGPIPE"}, {SIGTRAP, "SIGTRAP"}, {SIGINT, "SIGINT"},
        {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"},   {SIGALRM, "SIGALRM"}, {SIGHUP, "SIGHUP"},
        {SIGQUIT, "SIGQUIT"}, {SIGUSR1, "SIGUSR1"}, {SIGUSR2, "SIGUSR2"}, {SIGPROF, "SIGPROF"}, {SIGSTOP, "SIGSTOP"},
        {SIGTSTP, "SIGTSTP"}, {SIGTTIN, "SIGTTIN"}, {SIGTTOU, "SIGTTOU"}, {SIGVTALRM, "SIGVTALRM"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].number == number)
            return names[i].name;
    }
    return "a signal";
}

/* Wait for a process that has been killed, also where signals interrupt that: otherwise the process would stay in the
 * system's list until this program ends. */
static void wait_out(pid_t pid)
{
    pid_t waited;
    do
        waited = waitpid(pid, NULL, 0);
    while (waited < 0 && errno == EINTR);
}

/* A copy or a helper that has been stopped would not come to an end: it is killed, and the signal that stopped it is
 * what ended it. */
static void end_stopped(process_t *process)
{
    siginfo_t stopped = {.si_pid = 0};
    if (!process->copy || process->end.state != PROCESS_RUNNING ||
        waitid(P_PID, (id_t)process->pid, &stopped, WSTOPPED | WNOHANG) != 0 || stopped.si_pid == 0)
        return;
    kill_below(process->pid);
    kill(-process->pid, SIGKILL);
    kill(process->pid, SIGKILL);
    wait_out(process->pid);
    process->end = (process_end_t){PROCESS_KILLED, stopped.si_status, signal_name(stopped.si_status)};
}

/* Another part of the program has waited for the process: how has it ended, by its own words? */
static process_end_t end_told(const process_t *process)
{
    char text[16];
    ssize_t length = process->told < 0 ? 0 : read(process->told, text, sizeof text - 1);
    if (length <= 0)
        return (process_end_t){PROCESS_KILLED, 0, "a signal that another part of the program was told of"};
    text[length] = '\0';
    return (process_end_t){PROCESS_ENDED, atoi(text), ""};
}

process_end_t process_state(process_t *process)
{
    int status;
    if (process->maker != getpid())
        return process->end;
    hear_words(process); /* so that there is room for more */
    end_stopped(process);
    siginfo_t over = {.si_pid = 0};
    /* While the process has not been waited for, no other group can have its number. */
    if (process->copy && process->end.state == PROCESS_RUNNING &&
        waitid(P_PID, (id_t)process->pid, &over, WEXITED | WNOHANG | WNOWAIT) == 0 && over.si_pid != 0)
        kill(-process->pid, SIGKILL);
    pid_t waited = process->end.state == PROCESS_RUNNING ? waitpid(process->pid, &status, WNOHANG) : 0;
    if (waited < 0 && errno == ECHILD)
        process->end = end_told(process);
    if (waited != process->pid)
        return process->end;
    if (WIFSIGNALED(status))
        process->end = (process_end_t){PROCESS_KILLED, WTERMSIG(status), signal_name(WTERMSIG(status))};
    else
        process->end = (process_end_t){PROCESS_ENDED, WEXITSTATUS(status), ""};
    return process->end;
}

void process_free(process_t *process)
{
    if (process == NULL)
        return;
    if (process_state(process).state == PROCESS_RUNNING && process->maker == getpid()) {
        if (process->copy)
            kill_below(process->pid);
        kill(-process->pid, SIGKILL);
        kill(process->pid, SIGKILL);
        wait_out(process->pid);
    }
    close(process->pipe);
    close_file(process->errors);
    close_file(process->told);
    memory_free(process->memory, process, sizeof *process);
}
