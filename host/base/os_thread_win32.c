/* os_thread_win32.c - threads and locks on Windows: SRW locks.
 *
 * A new thread takes its entry and data from the starter's stack, and the starter waits until it has: so
 * starting a thread allocates nothing here. Only a lock does, since its header keeps it opaque.
 */
#define _WIN32_WINNT 0x0602

#include "os.h"

#include <windows.h>

#include <process.h>
#include <stdlib.h>

typedef struct start_t {
    void (*entry)(void *data);
    void *data;
    HANDLE taken; /* an event: once it is set, this record may be gone */
} start_t;

static unsigned __stdcall thread_main(void *argument)
{
    start_t *start = argument;
    void (*entry)(void *data) = start->entry;
    void *data = start->data;
    SetEvent(start->taken);
    entry(data);
    return 0;
}

bool os_thread_start(os_thread_t *thread, void (*entry)(void *data), void *data)
{
    start_t start = {.entry = entry, .data = data, .taken = CreateEventW(NULL, TRUE, FALSE, NULL)};
    if (start.taken == NULL)
        return false;
    uintptr_t handle = _beginthreadex(NULL, 0, thread_main, &start, 0, NULL);
    if (handle != 0) {
        thread->handle = (void *)handle;
        WaitForSingleObject(start.taken, INFINITE);
    }
    CloseHandle(start.taken);
    return handle != 0;
}

void os_thread_join(os_thread_t thread)
{
    WaitForSingleObject(thread.handle, INFINITE);
    CloseHandle(thread.handle);
}

uint64_t os_thread_number(void)
{
    return GetCurrentThreadId();
}

void os_relax(uint32_t turn)
{
    if (turn >= OS_SHORT_TURNS)
        SwitchToThread();
    else
        YieldProcessor();
}

uint32_t os_processor_count(void)
{
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    return system.dwNumberOfProcessors;
}

struct os_lock_t {
    SRWLOCK mutex;
    CONDITION_VARIABLE woken;
};

os_lock_t *os_lock_create(void)
{
    os_lock_t *lock = malloc(sizeof *lock);
    if (lock == NULL)
        return NULL;
    InitializeSRWLock(&lock->mutex);
    InitializeConditionVariable(&lock->woken);
    return lock;
}

void os_lock_destroy(os_lock_t *lock)
{
    free(lock);
}

void os_lock(os_lock_t *lock)
{
    AcquireSRWLockExclusive(&lock->mutex);
}

void os_unlock(os_lock_t *lock)
{
    ReleaseSRWLockExclusive(&lock->mutex);
}

void os_lock_wait(os_lock_t *lock)
{
    SleepConditionVariableSRW(&lock->woken, &lock->mutex, INFINITE, 0);
}

void os_lock_wake_all(os_lock_t *lock)
{
    WakeAllConditionVariable(&lock->woken);
}
