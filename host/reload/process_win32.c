/* process_win32.c - a command by cmd.exe and a pipe; no copy of this process, which Windows does not have.
 *
 * The command runs in a job object that is closed with it, so that the processes which it has started go too.
 */
#include "process.h"

#include <windows.h>

#include <stdio.h>

enum { COMMAND_ROOM = 8192 };

struct process_t {
    memory_t *memory;
    HANDLE process, pipe, job;
    process_end_t end;
};

static bool start(process_t *process, wchar_t *line, const wchar_t *folder)
{
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    HANDLE theirs;
    PROCESS_INFORMATION made;
    if (!CreatePipe(&process->pipe, &theirs, &inherited, 0))
        return false;
    SetHandleInformation(process->pipe, HANDLE_FLAG_INHERIT, 0);
    STARTUPINFOW how = {.cb = sizeof how, .dwFlags = STARTF_USESTDHANDLES, .hStdOutput = theirs, .hStdError = theirs};
    bool started =
        CreateProcessW(NULL, line, NULL, NULL, TRUE, CREATE_NO_WINDOW | CREATE_SUSPENDED, NULL, folder, &how, &made);
    CloseHandle(theirs);
    if (!started) {
        CloseHandle(process->pipe);
        return false;
    }
    process->process = made.hProcess;
    process->job = CreateJobObjectW(NULL, NULL);
    if (process->job != NULL)
        AssignProcessToJobObject(process->job, made.hProcess);
    ResumeThread(made.hThread);
    CloseHandle(made.hThread);
    return true;
}

process_t *process_start(memory_t *memory, const char *command, const char *folder)
{
    wchar_t line[COMMAND_ROOM], place[COMMAND_ROOM];
    char text[COMMAND_ROOM];
    int length = snprintf(text, sizeof text, "cmd.exe /s /c \"%s\"", command);
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
    (void)self, (void)bytes, (void)size;
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

process_end_t process_state(process_t *process)
{
    DWORD code;
    if (process->end.state == PROCESS_RUNNING && WaitForSingleObject(process->process, 0) == WAIT_OBJECT_0 &&
        GetExitCodeProcess(process->process, &code))
        process->end = (process_end_t){PROCESS_ENDED, (int32_t)code, ""};
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
