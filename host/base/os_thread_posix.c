/* os_thread_posix.c - threads and locks on Linux and its relatives: pthreads.
 *
 * A new thread takes its entry and data from the starter's stack, and the starter waits until it has: so
 * starting a thread allocates nothing here. Only a lock does, since its header keeps it opaque.
 */
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1

#include "os.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

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
