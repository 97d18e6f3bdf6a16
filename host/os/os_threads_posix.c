/* os_threads_posix.c - threads, locks and os_wake_t, on Linux and its relatives: pthreads.
 *
 * A new thread takes its entry and data from the starter's stack, and the starter waits until it has: so
 * starting a thread allocates nothing here. Only a lock does, since its header keeps it opaque.
 */
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1

#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BILLION = 1000000000 };

struct os_lock_t {
    pthread_mutex_t mutex;
    pthread_cond_t woken;
};

static bool lock_init(os_lock_t *lock)
{
    if (pthread_mutex_init(&lock->mutex, NULL) != 0)
        return false;
    if (pthread_cond_init(&lock->woken, NULL) == 0)
        return true;
    pthread_mutex_destroy(&lock->mutex);
    return false;
}

static void lock_end(os_lock_t *lock)
{
    pthread_cond_destroy(&lock->woken);
    pthread_mutex_destroy(&lock->mutex);
}

typedef struct start_t {
    void (*entry)(void *data);
    void *data;
    os_lock_t lock;
    bool taken;
} start_t;

static void *thread_main(void *argument)
{
    start_t *start = argument;
    void (*entry)(void *data) = start->entry;
    void *data = start->data;
    os_lock(&start->lock);
    start->taken = true;
    os_lock_wake_all(&start->lock);
    os_unlock(&start->lock);
    entry(data);
    return NULL;
}

bool os_thread_start(os_thread_t *thread, void (*entry)(void *data), void *data)
{
    start_t start = {.entry = entry, .data = data};
    if (!lock_init(&start.lock))
        return false;
    pthread_t id;
    bool started = pthread_create(&id, NULL, thread_main, &start) == 0;
    if (started) {
        thread->handle = (void *)id;
        os_lock(&start.lock);
        while (!start.taken)
            os_lock_wait(&start.lock);
        os_unlock(&start.lock);
    }
    lock_end(&start.lock);
    return started;
}

void os_thread_join(os_thread_t thread)
{
    pthread_join((pthread_t)thread.handle, NULL);
}

uint64_t os_thread_number(void)
{
    return (uint64_t)(uintptr_t)(void *)pthread_self();
}

uint64_t os_process_number(void)
{
    return (uint64_t)getpid();
}

void os_relax(uint32_t turn)
{
    if (turn >= OS_SHORT_TURNS) {
        sched_yield();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* The processors this process may run on, which in a container are often fewer than the machine has. */
uint32_t os_processor_count(void)
{
#if defined(__linux__)
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0)
        return (uint32_t)CPU_COUNT(&allowed);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}

os_lock_t *os_lock_create(void)
{
    os_lock_t *lock = malloc(sizeof *lock);
    if (lock != NULL && !lock_init(lock)) {
        free(lock);
        return NULL;
    }
    return lock;
}

void os_lock_destroy(os_lock_t *lock)
{
    if (lock == NULL)
        return;
    lock_end(lock);
    free(lock);
}

void os_lock(os_lock_t *lock)
{
    pthread_mutex_lock(&lock->mutex);
}

void os_unlock(os_lock_t *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

void os_lock_wait(os_lock_t *lock)
{
    pthread_cond_wait(&lock->woken, &lock->mutex);
}

void os_lock_wake_all(os_lock_t *lock)
{
    pthread_cond_broadcast(&lock->woken);
}

/* --- wake -------------------------------------------------------------------------------------------------------- */

/* A pipe: a signaller writes a byte, which stays until the sleeper has woken. A pipe that is full has been signalled,
 * so a byte that does not fit is not missed. */

struct os_wake_t {
    int ends[2]; /* read, write */
};

static bool open_pipe(int ends[2])
{
    if (pipe(ends) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    }
    return true;
}

os_wake_t *os_wake_create(void)
{
    os_wake_t *wake = malloc(sizeof *wake);
    if (wake != NULL && !open_pipe(wake->ends)) {
        free(wake);
        return NULL;
    }
    return wake;
}

void os_wake_destroy(os_wake_t *wake)
{
    if (wake == NULL)
        return;
    close(wake->ends[0]);
    close(wake->ends[1]);
    free(wake);
}

void os_wake_signal(os_wake_t *wake)
{
    ssize_t written;
    do
        written = write(wake->ends[1], "", 1);
    while (written < 0 && errno == EINTR);
}

/* poll counts milliseconds; ppoll, where it is, nanoseconds. */
static int poll_ns(struct pollfd *polled, uint32_t count, uint64_t nanoseconds)
{
#if defined(__linux__)
    struct timespec time = {.tv_sec = (time_t)(nanoseconds / BILLION), .tv_nsec = (long)(nanoseconds % BILLION)};
    return ppoll(polled, count, nanoseconds == UINT64_MAX ? NULL : &time, NULL);
#else
    uint64_t milliseconds = (nanoseconds + 999999) / 1000000;
    return poll(polled, count, nanoseconds == UINT64_MAX ? -1 : milliseconds > INT_MAX ? INT_MAX : (int)milliseconds);
#endif
}

uint32_t os_wake_sleep(os_wake_t *wake, uint64_t nanoseconds, const intptr_t *handles, uint32_t count)
{
    struct pollfd polled[1 + OS_WAKE_MOST] = {{.fd = wake->ends[0], .events = POLLIN}};
    char bytes[64];
    uint32_t readable = 0;
    count = count < OS_WAKE_MOST ? count : OS_WAKE_MOST;
    for (uint32_t i = 0; i < count; i++)
        polled[1 + i] = (struct pollfd){.fd = (int)handles[i], .events = POLLIN};
    if (poll_ns(polled, 1 + count, nanoseconds) <= 0)
        return 0;
    while (polled[0].revents != 0 && read(wake->ends[0], bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        ; /* one read, unless many have signalled */
    for (uint32_t i = 0; i < count; i++)
        readable |= (uint32_t)(polled[1 + i].revents != 0) << i;
    return readable;
}
