/* guard_posix.h - what the parts of the guard share: its frames, its threads, and what belongs to the process.
 *
 * A signal handler gets no context but the signal's. So two objects have to be static: the thread's list of frames
 * (thread-local, in the static block of thread-local memory, so that a handler may read it), and the state of the
 * process that goes with its handlers - the earlier handlers and the threads that have been seen. Nothing of a host is
 * kept in either: hosts are reached through the frames.
 *
 * Not here: the interface for others (guard.h).
 */
#ifndef HOST_PLUGIN_GUARD_POSIX_H
#define HOST_PLUGIN_GUARD_POSIX_H

#include "guard.h"

#if defined(__linux__)

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>

/* The image of a plugin. */
typedef struct guard_image_t {
    uintptr_t begin, end;
    struct guard_image_t *next;
} guard_image_t;

/* Where the code of the program and of the host's library lies, and that of the system's loader of libraries. */
typedef struct guard_host_t {
    uintptr_t begin[2], end[2];
    uintptr_t loader_begin, loader_end;
} guard_host_t;

/* --- guard_posix.c: frames, and what belongs to the process ------------------------------------------------------- */

enum {
    GUARD_SIGNALS = 10,
    GUARD_MILLION = 1000000
};

struct guard_t {
    memory_t *memory;
    guard_image_t *images;
    uint32_t limit_ms; /* 0: none */
    guard_time_t time; /* the watcher's */
    bool only_tells;   /* calls are not ended */
    guard_death_t tell; /* called before a crash ends the process; NULL: none */
    guard_permit_t permit; /* asked where the host uses a bad address; NULL: none */
    void *permit_data;
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
    void *data;
    bool whole;   /* every crash outside the host's code counts as the library's (guard_run_whole) */
    bool running; /* the call has neither returned nor been ended; always false where calls are not ended */
} frame_t;

/* The record of a crash that the handler leaves for guard_run. */
typedef struct found_t {
    int signal, code; /* signal 0: pthread_exit was called, or the thread was cancelled */
    uint32_t access; /* GUARD_... */
    uintptr_t pc, sp, address;
    const guard_image_t *image;
    uintptr_t at; /* address inside `image` */
} found_t;

typedef struct thread_t {
    frame_t *top;
    _Atomic(guard_t *) active;  /* the guard of the newest frame; NULL: none */
    _Atomic uint64_t calls;     /* count of calls begun and ended */
    _Atomic uint64_t late_call; /* the value of `calls` that the watcher found too old */
    bool heap_locked;           /* the crash has left the heap of the C library locked: the process ends */
    uint64_t rows;              /* since the last call that was examined as a whole, ... */
    uint32_t turn, turns;       /* ... and how many calls the next one waits beyond that; how many the last one did */
    uint32_t tries;             /* signals for being late that did not meet the plugin's own code, ... */
    uint64_t tried_call;        /* ... in the call with this value of `calls` */
    bool walking;               /* the stack is being looked at; as it may be broken, a fault ends the walk */
    sigjmp_buf walk_failed;
    found_t found;
    int passing;                /* the signal that an earlier handler is called with; 0: none is */
    uintptr_t passing_from;     /* the frame that calls it */
    bool prepared;
    void *stack;                /* the alternate stack that the guard made; NULL: the thread had one already */
    pthread_t id;
    uintptr_t stack_lowest;     /* address of the thread's stack; 0: not known, nor needed without AddressSanitizer */
    uint64_t seen_calls, seen_at; /* the watcher's: the value of `calls` it saw last, and since when in ms */
    struct thread_t *next;
} thread_t;

/* guard_watch_posix.c: after a crash in the C library, can memory still be allocated? Tried in a copy of the process,
 * which waits for ever where the heap's lock was left locked. For handlers. */
bool guard_heap_is_free(void);

/* Initial-exec: the first touch of other thread-local memory may allocate, which a handler must not. */
extern _Thread_local thread_t guard_here __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* glibc's message when it ends the process: `__abort_msg` points to it, for debuggers and for the guard. */
struct abort_message_t {
    unsigned int size;
    char text[];
};

typedef struct guard_process_t {
    pthread_mutex_t lock;
    uint32_t guards;
    struct sigaction earlier[GUARD_SIGNALS]; /* what the guard's handlers pass on to */
    struct sigaction first[GUARD_SIGNALS];   /* that of the time when none of them could be called by another handler */
    bool left[GUARD_SIGNALS]; /* the guard's handler has stayed below another one, which may call it from then on */
    bool has_key;
    pthread_key_t key;      /* its destructor takes a thread off the list */
    thread_t *threads;
    guard_host_t host;
    atomic_flag told;       /* a crash that ends the process has been told */
    struct abort_message_t **abort_message; /* the C library's; NULL where it has none */
} guard_process_t;

/* The body of guard_run and guard_run_whole. A walk recognises guard_call's frame by the function's address. */
bool guard_call(guard_t *guard, void (*call)(void *data), void *data, guard_crash_t *crash, bool whole);

extern guard_process_t guard_process __attribute__((visibility("hidden")));

static inline int guard_late_signal(void)
{
    return SIGRTMIN + 6;
}

/* --- guard_watch_posix.c: threads, and the time of their calls --------------------------------------------------- */

/* Enter this thread into the list until it ends: give it a stack for handlers, and have its calls watched. */
void guard_prepare_thread(void);
void guard_forget_thread(void *thread);

/* In a copy of the process: forget all threads but this one, which alone exists there, and the lock's owner. */
void guard_forget_others(void);

/* Start the thread that watches the time of a guard's calls. false where no thread can be had. */
bool guard_start_watcher(guard_t *guard);
void guard_end_watcher(guard_t *guard);

#endif
#endif
