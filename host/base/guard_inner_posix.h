/* guard_inner_posix.h - what the files of the guard on Linux share: its frames, its threads, and what belongs to the process.
 *
 * A signal handler gets no context but the signal's. So two things are static, and have to be: the thread's list of frames
 * (thread-local, in the static block of thread-local memory, so that a handler may read it), and what belongs to the
 * process as the handlers themselves do - the earlier handlers and the threads that have been seen. Nothing of a host is
 * kept in either: hosts are reached through the frames.
 *
 * Inner to guard_posix.c and guard_watch_posix.c, which include <pthread.h> before it.
 *
 * What it does not do: it is no interface; that is guard.h.
 */
#ifndef HOST_BASE_GUARD_INNER_POSIX_H
#define HOST_BASE_GUARD_INNER_POSIX_H

#include "guard.h"
#include "guard_walk.h"

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>

enum {
    GUARD_SIGNALS = 6,
    GUARD_MILLION = 1000000
};

struct guard_t {
    memory_t *memory;
    guard_image_t *images;
    uint32_t limit_ms; /* 0: none */
    pthread_t watcher;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    atomic_bool ending;
};

typedef struct frame_t {
    sigjmp_buf back;
    struct frame_t *below;
    guard_t *guard;
    void (*call)(void *data);
} frame_t;

/* What the handler leaves for guard_run. */
typedef struct found_t {
    int signal, code;
    uintptr_t pc, sp, address;
    const guard_image_t *image;
    uintptr_t at; /* inside image */
} found_t;

typedef struct thread_t {
    frame_t *top;
    _Atomic(guard_t *) active;  /* of the newest frame */
    _Atomic uint64_t calls;     /* begun and ended */
    _Atomic uint64_t late_call; /* the value of `calls` that the watcher found too old */
    uint32_t tries;
    bool walking;               /* the stack is being looked at: it may be broken */
    sigjmp_buf walk_failed;
    found_t found;
    bool prepared;
    void *stack;                /* NULL: the thread had one of its own */
    pthread_t id;
    uint64_t seen_calls, seen_at; /* the watcher's */
    struct thread_t *next;
} thread_t;

/* Initial-exec: the first touch of other thread-local memory may allocate, which a handler must not. */
extern _Thread_local thread_t guard_here __attribute__((tls_model("initial-exec")));

typedef struct guard_process_t {
    pthread_mutex_t lock;
    uint32_t guards;
    struct sigaction earlier[GUARD_SIGNALS];
    bool has_key;
    pthread_key_t key;      /* its destructor takes a thread off the list */
    thread_t *threads;
    guard_host_t host;
} guard_process_t;

extern guard_process_t guard_process;

static inline int guard_late_signal(void)
{
    return SIGRTMIN + 6;
}

/* --- guard_watch_posix.c ------------------------------------------------------------------------------------------------ */

/* This thread is seen from now on, until it ends: it has a stack for handlers, and its calls are watched. */
void guard_prepare_thread(void);
void guard_forget_thread(void *thread);

/* In a copy of the process: of the threads only this one is there, and nobody holds the lock. */
void guard_forget_others(void);

/* The thread that watches the time of a guard's calls. false where none can be had. */
bool guard_start_watcher(guard_t *guard);
void guard_end_watcher(guard_t *guard);

#endif
