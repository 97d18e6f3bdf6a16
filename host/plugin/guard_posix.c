/* guard_posix.c - the guard on Linux: the handlers, whose crash it is, and the call that is ended.
 *
 * guard_run saves where it is (sigsetjmp without the signal mask, some 7 ns) in a frame on its own stack and puts the
 * frame on the thread's list; the handler of a signal that belongs to a plugin jumps back to the newest frame. Handlers
 * run on an alternate stack of each thread's own, since the one that ran out cannot serve, and with SA_NODEFER, since
 * nobody returns from them to unblock the signal.
 *
 * The time limit. The watcher (below) signals a thread that is late, again and again, until the handler finds
 * it in the plugin's own code: there it holds no lock of the C library or of the host. Only one that never is found
 * there (it sleeps, or waits) is ended in a function of the C library that the plugin has called.
 */
#define _GNU_SOURCE 1

#include "guard.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

/* --- guard walk -------------------------------------------------------------------------------------------------- */

/* Whose code crashed: for the handlers alone.
 *
 * Everything here may be called from a signal handler but guard_find_host. A walk reads a stack that may be ruined: the
 * caller is ready for a fault in it.
 *
 * What it does not do: it changes nothing, and knows no plugin by name.
 */

/* The image of a plugin. */
typedef struct guard_image_t {
    uintptr_t begin, end;
    struct guard_image_t *next;
} guard_image_t;

/* Where the host's own code lies, and the program's. */
typedef struct guard_host_t {
    uintptr_t begin[2], end[2];
} guard_host_t;

static void guard_find_host(guard_host_t *host);
static bool guard_is_host(const guard_host_t *host, uintptr_t address);

/* The image around an address, or NULL. */
static const guard_image_t *guard_image_at(const guard_image_t *images, uintptr_t address);

typedef struct guard_walk_t {
    const guard_host_t *host_code;
    const guard_image_t *images;
    void (*call)(void *data);  /* what guard_run was told to run */
    uintptr_t pc, end;         /* the instruction; the end of guard_run's frame */
    bool jumped;               /* no code is at pc */

    bool host;                 /* found: the host or the program called the code at pc */
    bool plugin;               /* found: a plugin did, from an address in an image: */
    const guard_image_t *image; /* NULL where it has left no trace */
    uintptr_t at;

    bool past;                 /* the frames of the handler, which come first */
} guard_walk_t;

/* Find who called the code at pc: the innermost image of a plugin, the host or the program on the stack. sp and link
 * are the stack pointer at pc, and the link register where the processor has one, else 0. */
static void guard_walk(guard_walk_t *walk, uintptr_t sp, uintptr_t link);

/* --- guard inner ------------------------------------------------------------------------------------------------- */

/* What the parts of the guard share: its frames, its threads, and what belongs to the process.
 *
 * A signal handler gets no context but the signal's. So two things are static, and have to be: the thread's list of
 * frames (thread-local, in the static block of thread-local memory, so that a handler may read it), and what belongs to
 * the process as the handlers themselves do - the earlier handlers and the threads that have been seen. Nothing of a
 * host is kept in either: hosts are reached through the frames.
 */

enum {
    GUARD_SIGNALS = 6,
    GUARD_MILLION = 1000000
};

struct guard_t {
    memory_t *memory;
    guard_image_t *images;
    uint32_t limit_ms; /* 0: none */
    bool only_tells;   /* calls are not ended */
    guard_death_t tell; /* of what ends the process; NULL: nobody is told */
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
static _Thread_local thread_t guard_here __attribute__((tls_model("initial-exec")));

typedef struct guard_process_t {
    pthread_mutex_t lock;
    uint32_t guards;
    struct sigaction earlier[GUARD_SIGNALS];
    bool has_key;
    pthread_key_t key;      /* its destructor takes a thread off the list */
    thread_t *threads;
    guard_host_t host;
} guard_process_t;

static guard_process_t guard_process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static inline int guard_late_signal(void)
{
    return SIGRTMIN + 6;
}

/* This thread is seen from now on, until it ends: it has a stack for handlers, and its calls are watched. */
static void guard_prepare_thread(void);
static void guard_forget_thread(void *thread);

/* In a copy of the process: of the threads only this one is there, and nobody holds the lock. */
static void guard_forget_others(void);

/* The thread that watches the time of a guard's calls. false where none can be had. */
static bool guard_start_watcher(guard_t *guard);
static void guard_end_watcher(guard_t *guard);

/* --- guard walk -------------------------------------------------------------------------------------------------- */

/* Finding on the stack who called the code that crashed.
 *
 * By the compiler's own unwinder, which knows how to get from a function of the C library to its caller without frame
 * pointers. It begins in the signal's handler, so the frames up to the crash are passed over. After a jump to nowhere
 * there is nothing to unwind from, but the address that the jump came from still stands where the call put it.
 */

enum { BEYOND = 64 * 1024 }; /* behind guard_run's frame nothing is looked for */

static const guard_image_t *guard_image_at(const guard_image_t *images, uintptr_t address)
{
    for (const guard_image_t *image = images; image != NULL; image = image->next) {
        if (address >= image->begin && address < image->end)
            return image;
    }
    return NULL;
}

static bool guard_is_host(const guard_host_t *host, uintptr_t address)
{
    return (address >= host->begin[0] && address < host->end[0]) ||
           (address >= host->begin[1] && address < host->end[1]);
}

typedef struct search_t {
    guard_host_t *host;
    bool begun;
} search_t;

static int look_at_image(struct dl_phdr_info *info, size_t size, void *data)
{
    search_t *search = data;
    uintptr_t begin = UINTPTR_MAX, end = 0, own = (uintptr_t)guard_run;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        uintptr_t at = info->dlpi_addr + part->p_vaddr;
        begin = at < begin ? at : begin;
        end = at + part->p_memsz > end ? at + part->p_memsz : end;
    }
    for (int which = 0; which < 2; which++) {
        bool wanted = which == 0 ? !search->begun : own >= begin && own < end; /* the program always comes first */
        search->host->begin[which] = wanted ? begin : search->host->begin[which];
        search->host->end[which] = wanted ? end : search->host->end[which];
    }
    search->begun = true;
    return 0;
}

static void guard_find_host(guard_host_t *host)
{
    dl_iterate_phdr(look_at_image, &(search_t){.host = host});
}

/* Judge who calls from `address`; false where that is neither. A verb may end in a call that takes the place of its own
 * on the stack: then the first one found is the function that called the verb, or guard_run, which call nothing
 * else. */
static bool judge_caller(guard_walk_t *walk, uintptr_t address)
{
    walk->at = address;
    walk->image = guard_image_at(walk->images, address);
    walk->plugin = walk->image != NULL;
    if (walk->plugin || !guard_is_host(walk->host_code, address))
        return walk->plugin;
    uintptr_t function = (uintptr_t)_Unwind_FindEnclosingFunction((void *)address);
    walk->plugin = function == (uintptr_t)guard_run || function == (uintptr_t)walk->call;
    walk->host = !walk->plugin;
    return true;
}

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *data)
{
    guard_walk_t *walk = data;
    int before = 0;
    uintptr_t ip = _Unwind_GetIPInfo(context, &before);
    if (!walk->past) {
        walk->past = ip == walk->pc;
        return _URC_NO_REASON;
    }
    if (ip == 0 || _Unwind_GetCFA(context) > walk->end + BEYOND)
        return _URC_END_OF_STACK;
    return judge_caller(walk, before ? ip : ip - 1) ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static void guard_walk(guard_walk_t *walk, uintptr_t sp, uintptr_t link)
{
    if (!walk->jumped)
        _Unwind_Backtrace(look_at_frame, walk);
    else
        judge_caller(walk, (link != 0 ? link : *(const uintptr_t *)sp) - 1);
}

/* --- guard watch ------------------------------------------------------------------------------------------------- */

/* The threads that make guarded calls, and a thread that watches the time of these.
 *
 * A thread counts its calls up at each begin and end. The watcher looks at the counts now and then; where one has not
 * moved for the limit it signals that thread, again and again, until the handler finds the thread in the plugin's own
 * code.
 *
 * In a copy of the process only the thread that made it is there. The watcher is started anew there; the lock, which
 * any thread may have held at that moment, begins anew too.
 */

enum {
    STACK_BYTES = 64 * 1024, /* of an alternate stack: room for every register there is, and for the unwinder */
    BILLION = 1000000000
};

/* --- threads ------------------------------------------------------------------------------------------------------ */

static void free_stack(thread_t *thread)
{
    if (thread->stack == NULL)
        return;
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    munmap(thread->stack, STACK_BYTES);
    thread->stack = NULL;
}

static void guard_forget_thread(void *data)
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

/* Handlers need a stack of their own; one that the thread has already will do. */
static void give_stack(thread_t *thread)
{
    stack_t present;
    if (sigaltstack(NULL, &present) == 0 && (present.ss_flags & SS_DISABLE) == 0)
        return;
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return; /* guarded all the same, but for a stack that runs out */
    stack_t ours = {.ss_sp = stack, .ss_size = STACK_BYTES};
    if (sigaltstack(&ours, NULL) == 0)
        thread->stack = stack;
    else
        munmap(stack, STACK_BYTES);
}

static void guard_prepare_thread(void)
{
    guard_here.prepared = true;
    guard_here.id = pthread_self();
    give_stack(&guard_here);
    pthread_mutex_lock(&guard_process.lock);
    guard_here.next = guard_process.threads;
    guard_process.threads = &guard_here;
    pthread_mutex_unlock(&guard_process.lock);
    pthread_setspecific(guard_process.key, &guard_here);
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

/* Signal the threads of this guard that have been in one call for too long. Are there any? */
static bool signal_late(const guard_t *guard)
{
    bool any = false;
    uint64_t now = now_ms();
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

static bool guard_start_watcher(guard_t *guard)
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

static void guard_end_watcher(guard_t *guard)
{
    pthread_mutex_lock(&guard->lock);
    guard->ending = true;
    pthread_cond_signal(&guard->ended);
    pthread_mutex_unlock(&guard->lock);
    pthread_join(guard->watcher, NULL);
}

/* --- in a copy of the process ------------------------------------------------------------------------------------- */

static void guard_forget_others(void)
{
    guard_process.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    guard_process.threads = guard_here.prepared ? &guard_here : NULL;
    guard_here.next = NULL;
}

void guard_tell_deaths(guard_t *guard, guard_death_t tell, bool ends)
{
    guard->tell = tell;
    guard->only_tells = !ends;
}

void guard_begin_copy(guard_t *guard, uint32_t limit_ms)
{
    guard->only_tells = false;
    guard->limit_ms = guard->limit_ms == 0 || limit_ms < guard->limit_ms ? limit_ms : guard->limit_ms;
    guard->ending = false;
#if !defined(__SANITIZE_THREAD__) /* which lets no copy of a process have threads */
    guard_start_watcher(guard);
#endif
}

enum {
    NULL_PAGE = 4096,       /* addresses below are null pointers and members of them */
    STACK_NEAR = 64 * 1024, /* a bad address so near the stack's end is the stack's */
    DYING_SECONDS = 5,      /* for saying of what the process dies */
    LATE_TRIES = 20         /* signals in the hope of meeting the plugin's own code */
};

static const int signals[GUARD_SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, 0 /* guard_late_signal() */};

static int signal_at(uint32_t i)
{
    return i == GUARD_SIGNALS - 1 ? guard_late_signal() : signals[i];
}

/* Whose stack calls the code at pc. It may be ruined: what goes wrong on it ends the walk. */
static void walk(guard_walk_t *walk, uintptr_t sp, uintptr_t link)
{
    if (sigsetjmp(guard_here.walk_failed, 0) == 0) {
        guard_here.walking = true;
        guard_walk(walk, sp, link);
    }
    guard_here.walking = false;
}

/* --- the handlers ------------------------------------------------------------------------------------------------- */

typedef struct registers_t {
    uintptr_t pc, sp, link;
} registers_t;

static registers_t registers_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    const greg_t *g = context->uc_mcontext.gregs;
    return (registers_t){(uintptr_t)g[REG_RIP], (uintptr_t)g[REG_RSP], 0};
#else
    const mcontext_t *m = &context->uc_mcontext;
    return (registers_t){(uintptr_t)m->pc, (uintptr_t)m->sp, (uintptr_t)m->regs[30]};
#endif
}

static bool judge(int signal, const siginfo_t *info, const ucontext_t *context)
{
    registers_t r = registers_of(context);
    const frame_t *frame = guard_here.top;
    bool jumped = signal == SIGSEGV && info->si_code > 0 && (uintptr_t)info->si_addr == r.pc;
    bool late = signal == guard_late_signal();
    guard_here.found =
        (found_t){.signal = signal, .code = info->si_code, .pc = r.pc, .sp = r.sp, .address = (uintptr_t)info->si_addr};
    guard_here.found.image = guard_image_at(frame->guard->images, r.pc);
    guard_here.found.at = r.pc;
    if (guard_here.found.image != NULL)
        return true;
    if (guard_is_host(&guard_process.host, r.pc) || (late && guard_here.tries++ < LATE_TRIES))
        return false;
    guard_walk_t found = {
        .host_code = &guard_process.host,
        .images = frame->guard->images,
        .call = frame->call,
        .pc = r.pc,
        .end = (uintptr_t)(frame + 1),
        .jumped = jumped,
    };
    walk(&found, r.sp, r.link);
    guard_here.found.image = found.image;
    guard_here.found.at = found.at;
    return found.plugin || (jumped && !found.host);
}

/* A fault, or a signal that this process sent to itself: not one that another process sent. */
static bool is_own(const siginfo_t *info)
{
    return info->si_code > 0 || info->si_pid == getpid();
}

static void call_earlier(int signal, siginfo_t *info, void *context)
{
    uint32_t i = 0;
    while (i < GUARD_SIGNALS - 1 && signals[i] != signal)
        i++;
    const struct sigaction *earlier = &guard_process.earlier[i];
    if ((earlier->sa_flags & SA_SIGINFO) != 0) {
        earlier->sa_sigaction(signal, info, context);
    } else if (earlier->sa_handler == SIG_DFL || (earlier->sa_handler == SIG_IGN && info->si_code > 0)) {
        /* The fault happens again when the handler returns, and then does what it always did; other signals are sent
           again. */
        struct sigaction fallback = {.sa_handler = SIG_DFL};
        sigaction(signal, &fallback, NULL);
        if (info->si_code <= 0)
            raise(signal);
    } else if (earlier->sa_handler != SIG_IGN) {
        earlier->sa_handler(signal);
    }
}

static void tell(const frame_t *frame, guard_crash_t *crash);

/* Nobody but the system wants this signal, so the process ends: say of what first. That may take locks which the crash
 * has left locked, so an alarm ends the process where it does not come back; and only the first crash is told. */
static void tell_death(int signal, bool plugins)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const frame_t *frame = guard_here.top;
    uint32_t i = 0;
    while (i < GUARD_SIGNALS - 1 && signals[i] != signal)
        i++;
    const struct sigaction *earlier = &guard_process.earlier[i];
    if (frame->guard->tell == NULL || (earlier->sa_flags & SA_SIGINFO) != 0 || earlier->sa_handler != SIG_DFL ||
        atomic_flag_test_and_set(&told))
        return;
    struct sigaction fallback = {.sa_handler = SIG_DFL};
    sigaction(SIGALRM, &fallback, NULL);
    alarm(DYING_SECONDS);
    guard_crash_t crash;
    tell(frame, &crash);
    crash.plugins = plugins;
    frame->guard->tell(frame->data, &crash);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    if (guard_here.walking)
        siglongjmp(guard_here.walk_failed, 1);
    if (guard_here.top != NULL && is_own(info)) {
        bool plugins = judge(signal, info, context);
        if (plugins && !guard_here.top->guard->only_tells)
            siglongjmp(guard_here.top->back, 1);
        tell_death(signal, plugins);
    }
    errno = saved;
    call_earlier(signal, info, context);
}

static void on_late(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    bool ours = info->si_code == SI_QUEUE && info->si_value.sival_ptr == &guard_process;
    if (!ours) {
        call_earlier(signal, info, context);
    } else if (guard_here.top != NULL && !guard_here.walking && guard_here.late_call == guard_here.calls &&
               judge(signal, info, context)) {
        siglongjmp(guard_here.top->back, 1);
    }
    errno = saved;
}

/* --- installing --------------------------------------------------------------------------------------------------- */

__attribute__((destructor)) static void forget_key(void)
{
    if (guard_process.has_key)
        pthread_key_delete(guard_process.key);
}

static bool install(void)
{
    if (!guard_process.has_key)
        guard_process.has_key = pthread_key_create(&guard_process.key, guard_forget_thread) == 0 &&
                                pthread_atfork(NULL, NULL, guard_forget_others) == 0;
    if (!guard_process.has_key)
        return false;
    guard_find_host(&guard_process.host);
    for (uint32_t i = 0; i < GUARD_SIGNALS; i++) {
        bool late = signal_at(i) == guard_late_signal();
        struct sigaction action = {.sa_sigaction = late ? on_late : on_fault};
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | (late ? SA_RESTART : 0);
        sigemptyset(&action.sa_mask);
        sigaction(signal_at(i), &action, &guard_process.earlier[i]);
    }
    return true;
}

/* Not where somebody else has put a handler over ours: it may call ours, which then only passes on. */
static void uninstall(void)
{
    for (uint32_t i = 0; i < GUARD_SIGNALS; i++) {
        struct sigaction present;
        sigaction(signal_at(i), NULL, &present);
        if ((present.sa_flags & SA_SIGINFO) != 0 &&
            (present.sa_sigaction == on_fault || present.sa_sigaction == on_late))
            sigaction(signal_at(i), &guard_process.earlier[i], NULL);
    }
}

bp_result_t guard_create(memory_t *memory, uint32_t limit_ms, error_text_t *error, guard_t **out)
{
    guard_t *guard = memory_new(memory, sizeof *guard);
    if (guard == NULL)
        return error_memory(error, "installing the crash guard");
    guard->memory = memory;
    guard->limit_ms = limit_ms;
    pthread_mutex_lock(&guard_process.lock);
    bool installed = guard_process.guards > 0 || install();
    guard_process.guards += installed;
    pthread_mutex_unlock(&guard_process.lock);
    if (!installed) {
        memory_free(memory, guard, sizeof *guard);
        return error_set(error, BP_ERROR_LIMIT, "the crash guard cannot be had: the process has no thread key left");
    }
    if (limit_ms > 0 && !guard_start_watcher(guard)) {
        guard->limit_ms = 0;
        guard_destroy(guard);
        return error_set(error, BP_ERROR_LIMIT, "the thread that watches the time limit of calls cannot be started");
    }
    *out = guard;
    return BP_OK;
}

void guard_destroy(guard_t *guard)
{
    if (guard == NULL)
        return;
    if (guard->limit_ms > 0)
        guard_end_watcher(guard);
    while (guard->images != NULL)
        guard_drop_image(guard, (const void *)guard->images->begin);
    pthread_mutex_lock(&guard_process.lock);
    bool last = --guard_process.guards == 0;
    if (last)
        uninstall();
    pthread_mutex_unlock(&guard_process.lock);
    if (last && guard_here.prepared) {
        pthread_setspecific(guard_process.key, NULL);
        guard_forget_thread(&guard_here);
    }
    memory_free(guard->memory, guard, sizeof *guard);
}

bool guard_add_image(guard_t *guard, const void *begin, const void *end)
{
    guard_image_t *image = memory_new(guard->memory, sizeof *image);
    if (image == NULL)
        return false;
    *image = (guard_image_t){(uintptr_t)begin, (uintptr_t)end, guard->images};
    guard->images = image;
    return true;
}

void guard_drop_image(guard_t *guard, const void *begin)
{
    for (guard_image_t **at = &guard->images; *at != NULL; at = &(*at)->next) {
        guard_image_t *image = *at;
        if (image->begin != (uintptr_t)begin)
            continue;
        *at = image->next;
        memory_free(guard->memory, image, sizeof *image);
        return;
    }
}

/* --- running a call ----------------------------------------------------------------------------------------------- */

static void tell_address(const found_t *found, char *reason)
{
    uintptr_t address = found->address;
    const char *name = found->signal == SIGBUS ? "SIGBUS" : "SIGSEGV";
    if (found->code <= 0)
        snprintf(reason, GUARD_REASON, "%s, which it sent itself", name);
    else if (address == found->pc && address == 0)
        snprintf(reason, GUARD_REASON, "%s: it called a null pointer", name);
    else if (address == found->pc)
        snprintf(reason, GUARD_REASON, "%s: it jumped to address 0x%" PRIxPTR ", where no code is", name, address);
    else if (found->code == SI_KERNEL)
        snprintf(reason, GUARD_REASON, "%s at an address that no memory can have", name);
    else if (address < NULL_PAGE)
        snprintf(reason, GUARD_REASON, "%s at address 0x%" PRIxPTR " (a null pointer)", name, address);
    else if (address + STACK_NEAR > found->sp && address < found->sp + NULL_PAGE)
        snprintf(reason, GUARD_REASON, "%s: the stack ran out", name);
    else
        snprintf(reason, GUARD_REASON, "%s at address 0x%" PRIxPTR, name, address);
}

static void tell(const frame_t *frame, guard_crash_t *crash)
{
    const found_t *found = &guard_here.found;
    *crash = (guard_crash_t){.late = found->signal == guard_late_signal(), .plugins = true};
    if (found->image != NULL) {
        crash->code = found->at;
        crash->offset = found->at - found->image->begin;
    }
    if (crash->late)
        snprintf(crash->reason, GUARD_REASON, "it did not return within %u ms", frame->guard->limit_ms);
    else if (found->signal == SIGABRT)
        snprintf(crash->reason, GUARD_REASON, "SIGABRT: it called abort, or an assertion or the C library did for it");
    else if (found->signal == SIGFPE)
        snprintf(crash->reason, GUARD_REASON, "SIGFPE%s",
                 found->code == FPE_INTDIV ? ": it divided an integer by zero" : "");
    else if (found->signal == SIGILL)
        snprintf(crash->reason, GUARD_REASON, "SIGILL: an instruction that the processor does not know");
    else
        tell_address(found, crash->reason);
}

static void leave(const frame_t *frame)
{
    guard_here.top = frame->below;
    atomic_store_explicit(&guard_here.active, guard_here.top == NULL ? NULL : guard_here.top->guard,
                          memory_order_relaxed);
    atomic_store_explicit(&guard_here.calls, guard_here.calls + 1, memory_order_relaxed);
}

bool guard_run(guard_t *guard, void (*call)(void *data), void *data, guard_crash_t *crash)
{
    frame_t frame;
    if (!guard_here.prepared)
        guard_prepare_thread();
    frame.below = guard_here.top;
    frame.guard = guard;
    frame.call = call;
    frame.data = data;
    if (!guard->only_tells && sigsetjmp(frame.back, 0) != 0) {
        tell(&frame, crash);
        guard_here.tries = 0;
        leave(&frame);
        return false;
    }
    atomic_store_explicit(&guard_here.calls, guard_here.calls + 1, memory_order_relaxed);
    atomic_store_explicit(&guard_here.active, guard, memory_order_relaxed);
    guard_here.top = &frame;
    call(data);
    leave(&frame);
    return true;
}

#endif
