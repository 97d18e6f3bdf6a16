/* process_win32.c - a command by cmd.exe, a helper, and a pipe; no copy of this process, which Windows does not have.
 *
 * A command or a helper runs in a job object that is closed with it, so that the processes which it has started go too;
 * a helper's job goes also with the host, however that ends. Both inherit their standard files and no other
 * handles.
 */
#include "process.h"

#include "../os/os_win32.h"

#include <windows.h>

#include <stdio.h>
#include <stdlib.h>

enum { COMMAND_ROOM = 8192 };

struct process_t {
    memory_t *memory;
    HANDLE process, pipe, job;
    process_end_t end;
};

/* A job that ends with its last handle, which is the host's. */
static HANDLE make_job(void)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {
        .BasicLimitInformation.LimitFlags =
            JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION};
    HANDLE job = CreateJobObjectW(NULL, NULL);
    if (job != NULL)
        SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    return job;
}

static bool start(process_t *process, wchar_t *line, const wchar_t *folder)
{
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    HANDLE theirs;
    PROCESS_INFORMATION made;
    if (!CreatePipe(&process->pipe, &theirs, &inherited, 0))
        return false;
    SetHandleInformation(process->pipe, HANDLE_FLAG_INHERIT, 0);
    bool started = win32_start(line, folder, CREATE_NO_WINDOW | CREATE_SUSPENDED, NULL, theirs, theirs, &made);
    CloseHandle(theirs);
    if (!started) {
        CloseHandle(process->pipe);
        return false;
    }
    process->process = made.hProcess;
    process->job = make_job();
    if (process->job != NULL)
        AssignProcessToJobObject(process->job, made.hProcess);
    ResumeThread(made.hThread);
    CloseHandle(made.hThread);
    return true;
}

/* `length` is that of the text, or what snprintf has said of it. */
static process_t *start_text(memory_t *memory, const char *text, int length, const char *folder)
{
    wchar_t line[COMMAND_ROOM], place[COMMAND_ROOM];
    if (length < 0 || length >= COMMAND_ROOM || MultiByteToWideChar(CP_UTF8, 0, text, -1, line, COMMAND_ROOM) == 0)
        return NULL;
    if (folder != NULL && MultiByteToWideChar(CP_UTF8, 0, folder, -1, place, COMMAND_ROOM) == 0)
        return NULL;
    process_t *process = memory_new(memory, sizeof *process);
    if (process == NULL)
        return NULL;
    process->memory = memory;
    process->end.signal = "";
    if (start(process, line, folder == NULL ? NULL : place))
        return process;
    memory_free(memory, process, sizeof *process);
    return NULL;
}

process_t *process_start(memory_t *memory, const char *command, const char *folder)
{
    char text[COMMAND_ROOM];
    return start_text(memory, text, snprintf(text, sizeof text, "cmd.exe /s /c \"%s\"", command), folder);
}

/* No path has a quote in it here, and none of these ends with a backslash. */
process_t *process_start_helper(memory_t *memory, const char *program, const char *word, const char *file)
{
    char text[COMMAND_ROOM];
    return start_text(memory, text, snprintf(text, sizeof text, "\"%s\" %s \"%s\"", program, word, file), NULL);
}

static void end_at_once(void)
{
    process_leave(PROCESS_CALLED_EXIT);
}

process_t *process_be_helper(memory_t *memory, bool tells)
{
    (void)tells; /* the system tells all ends */
    process_t *process = memory_new(memory, sizeof *process);
    if (process == NULL)
        return NULL;
    HANDLE self = GetCurrentProcess();
    process->memory = memory;
    if (!DuplicateHandle(self, GetStdHandle(STD_OUTPUT_HANDLE), self, &process->pipe, 0, FALSE,
                         DUPLICATE_SAME_ACCESS)) {
        memory_free(memory, process, sizeof *process);
        return NULL;
    }
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    atexit(end_at_once);
    FILE *out = freopen("NUL", "w", stdout), *errors = freopen("NUL", "w", stderr);
    if (out != NULL && errors != NULL)
        return process;
    process_leave(1);
}

void process_leave(int code)
{
    TerminateProcess(GetCurrentProcess(), (UINT)code);
    abort();
}

process_t *process_fork(memory_t *memory, int (*child)(process_t *self, void *data), void *data)
{
    (void)memory, (void)child, (void)data;
    return NULL;
}

bool process_can_fork(void)
{
    return false;
}

void process_write(process_t *self, const void *bytes, size_t size)
{
    const char *at = bytes;
    DWORD written;
    for (; size > 0 && WriteFile(self->pipe, at, (DWORD)size, &written, NULL); at += written)
        size -= written;
}

const char *process_last_words(process_t *process)
{
    (void)process;
    return "";
}

size_t process_read(process_t *process, void *bytes, size_t size)
{
    DWORD there = 0, got = 0, wanted = size < 65536 ? (DWORD)size : 65536;
    if (!PeekNamedPipe(process->pipe, NULL, 0, NULL, &there, NULL) || there == 0)
        return 0;
    return ReadFile(process->pipe, bytes, there < wanted ? there : wanted, &got, NULL) ? got : 0;
}

/* The exception that an exit code stands for; NULL for any other code. */
static const char *exception_name(DWORD code)
{
    static const struct { DWORD code; const char *name; } names[] = {
        {EXCEPTION_ACCESS_VIOLATION, "an access violation"},
        {EXCEPTION_STACK_OVERFLOW, "a stack overflow"},
        {EXCEPTION_INT_DIVIDE_BY_ZERO, "a division by zero"},
        {EXCEPTION_ILLEGAL_INSTRUCTION, "an illegal instruction"},
        {EXCEPTION_PRIV_INSTRUCTION, "a privileged instruction"},
        {EXCEPTION_BREAKPOINT, "a breakpoint"},
        {0xC0000374, "a damaged heap"},
        {0xC0000409, "an overrun of the stack"},
        {0x40000015, "abort"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].code == code)
            return names[i].name;
    }
    return code >= 0xC0000000 && code < OS_NEGATIVE ? "an exception" : NULL;
}

process_end_t process_state(process_t *process)
{
    DWORD code;
    if (process->end.state != PROCESS_RUNNING || WaitForSingleObject(process->process, 0) != WAIT_OBJECT_0 ||
        !GetExitCodeProcess(process->process, &code))
        return process->end;
    const char *exception = exception_name(code);
    process->end = exception != NULL ? (process_end_t){PROCESS_KILLED, (int32_t)code, exception}
                                     : (process_end_t){PROCESS_ENDED, (int32_t)code, ""};
    return process->end;
}

void process_free(process_t *process)
{
    if (process == NULL)
        return;
    if (process_state(process).state == PROCESS_RUNNING) {
        if (process->job != NULL)
            TerminateJobObject(process->job, 1);
        TerminateProcess(process->process, 1);
        WaitForSingleObject(process->process, INFINITE);
    }
    if (process->job != NULL)
        CloseHandle(process->job);
    CloseHandle(process->process);
    CloseHandle(process->pipe);
    memory_free(process->memory, process, sizeof *process);
}
