/* guard_watch_posix.c - the threads that make guarded calls, and a thread that watches the time of these.
 *
 * A thread counts its calls up at each begin and end. The watcher looks at the counts now and then; where one has not
 * moved for the limit, the watcher signals that thread, again and again, until the handler finds the thread in the
 * plugin's own code.
 *
 * A copy of the process has only the thread that made it. The copy starts a watcher of its own, and begins with a new
 * lock, since any thread may have held the old one at the moment of copying.
 */
#define _GNU_SOURCE 1

#include "guard_posix.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    STACK_BYTES = 64 * 1024, /* of an alternate stack: room for every register there is, and for the unwinder */
    BILLION = 1000000000
};

/* --- threads ------------------------------------------------------------------------------------------------------ */

static void free_stack(thread_t *thread)
{
    if (thread->stack == NULL)
        return;
    stack_t none = {.ss_flags = SS_DISABLE}, present;
    if (sigaltstack(NULL, &present) == 0 && present.ss_sp == thread->stack) /* else the thread has got another one */
        sigaltstack(&none, NULL);
    munmap(thread->stack, STACK_BYTES);
    thread->stack = NULL;
}

void guard_forget_thread(void *data)
{
    thread_t *thread = data;
    pthread_mutex_lock(&guard_process.lock);
    for (thread_t **at = &guard_process.threads; *at != NULL; at = &(*at)->next) {
        if (*at == thread) {
            *at = thread->next;
            break;
        }
    }
    pthread_mutex_unlock(&guard_process.lock);
    free_stack(thread);
    thread->prepared = false;
}

/* Handlers need a stack of their own; an alternate stack that the thread has already will do. */
static void give_stack(thread_t *thread)
{
    stack_t present;
    if (sigaltstack(NULL, &present) == 0 && (present.ss_flags & SS_DISABLE) == 0)
        return;
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return; /* calls are guarded all the same, but for a stack that runs out */
    stack_t ours = {.ss_sp = stack, .ss_size = STACK_BYTES};
    if (sigaltstack(&ours, NULL) == 0)
        thread->stack = stack;
    else
        munmap(stack, STACK_BYTES);
}

#if defined(__SANITIZE_ADDRESS__)
static uintptr_t find_stack(void)
{
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return 0;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    return (uintptr_t)lowest;
}
#else
static uintptr_t find_stack(void) { return 0; }
#endif

void guard_prepare_thread(void)
{
    guard_here.prepared = true;
    guard_here.id = pthread_self();
    guard_here.stack_lowest = find_stack();
    give_stack(&guard_here);
    pthread_mutex_lock(&guard_process.lock);
    guard_here.next = guard_process.threads;
    guard_process.threads = &guard_here;
    pthread_mutex_unlock(&guard_process.lock);
    pthread_setspecific(guard_process.key, &guard_here);
}

/* --- the heap ----------------------------------------------------------------------------------------------------- */

enum {
    HEAP_BLOCK = 5000,       /* bytes: more than a thread keeps at hand for itself */
    HEAP_PATIENCE_MS = 3000
};

/* In the copy: a crash because of a damaged heap ends only the copy, which counts as an answer. */
static void ask_heap(void)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGTRAP, SIGFPE};
    struct sigaction fallback = {.sa_handler = SIG_DFL};
    guard_here.top = NULL;
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
        sigaction(deadly[i], &fallback, NULL);
    void *volatile block = malloc(HEAP_BLOCK);
    free(block);
    _exit(0);
}

/* A copy by the system's own call, since that of the C library would wait for the heap first. */
bool guard_heap_is_free(void)
{
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child < 0)
        return true;
    if (child == 0)
        ask_heap();
    const struct timespec nap = {.tv_nsec = GUARD_MILLION};
    for (uint32_t ms = 0; ms < HEAP_PATIENCE_MS; ms++) {
        if (waitpid(child, NULL, WNOHANG) != 0)
            return true; /* it has ended; an error: other code has waited for it first */
        nanosleep(&nap, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return false;
}

/* --- the watcher -------------------------------------------------------------------------------------------------- */

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / GUARD_MILLION;
}

static bool is_traced(void)
{
    char line[128];
    bool traced = false;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "TracerPid:", 10) == 0)
            traced = line[10 + strspn(line + 10, " \t0\n")] != '\0';
    }
    if (file != NULL)
        fclose(file);
    return traced;
}

/* Signal the threads of this guard that have been in one call for too long. Returns whether there are any. */
static bool signal_late(guard_t *guard)
{
    bool any = false;
    uint64_t now = guard_time_at(&guard->time, now_ms(), guard->limit_ms);
    pthread_mutex_lock(&guard_process.lock);
    for (thread_t *thread = guard_process.threads; thread != NULL; thread = thread->next) {
        uint64_t calls = thread->calls;
        if (thread->active != guard)
            continue;
        if (calls != thread->seen_calls) {
            thread->seen_calls = calls;
            thread->seen_at = now;
        } else if (now - thread->seen_at >= guard->limit_ms && (any || !is_traced())) {
            any = true;
            thread->late_call = calls;
            pthread_sigqueue(thread->id, guard_late_signal(), (union sigval){.sival_ptr = &guard_process});
        }
    }
    pthread_mutex_unlock(&guard_process.lock);
    return any;
}

static void wait_ms(guard_t *guard, uint32_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + (uint64_t)ms * GUARD_MILLION;
    until.tv_sec += (time_t)(ns / BILLION);
    until.tv_nsec = (long)(ns % BILLION);
    pthread_mutex_lock(&guard->lock);
    if (!guard->ending)
        pthread_cond_timedwait(&guard->ended, &guard->lock, &until);
    pthread_mutex_unlock(&guard->lock);
}

static void *watch(void *data)
{
    guard_t *guard = data;
    uint32_t usual = guard->limit_ms / 8 < 1 ? 1 : guard->limit_ms / 8 > 50 ? 50 : guard->limit_ms / 8;
    while (!guard->ending)
        wait_ms(guard, signal_late(guard) ? 1 : usual);
    return NULL;
}

bool guard_start_watcher(guard_t *guard)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&guard->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&guard->lock, NULL);
    sigset_t all, before; /* signals for the process are for its other threads */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&guard->watcher, NULL, watch, guard) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void guard_end_watcher(guard_t *guard)
{
    pthread_mutex_lock(&guard->lock);
    guard->ending = true;
    pthread_cond_signal(&guard->ended);
    pthread_mutex_unlock(&guard->lock);
    pthread_join(guard->watcher, NULL);
}

/* --- in a copy of the process ------------------------------------------------------------------------------------- */

void guard_forget_others(void)
{
    guard_process.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    guard_process.threads = guard_here.prepared ? &guard_here : NULL;
    guard_here.next = NULL;
}

void guard_begin_copy(guard_t *guard, uint32_t limit_ms)
{
    guard->only_tells = false;
    guard->limit_ms = guard->limit_ms == 0 || limit_ms < guard->limit_ms ? limit_ms : guard->limit_ms;
#if !defined(__SANITIZE_THREAD__) /* ThreadSanitizer lets no copy of a process have threads */
    guard_start_watcher(guard);
#endif
}

#endif
