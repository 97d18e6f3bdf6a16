/* guard_posix.c - the guard on Linux: signal handlers, alternate stacks, a thread that watches the time.
 *
 * guard_run saves where it is (sigsetjmp without the signal mask, some 7 ns) in a frame on its own stack and puts the frame on
 * the thread's list; the handler of a signal that belongs to a plugin jumps back to the newest frame. Handlers run on an alternate
 * stack of each thread's own, since the one that ran out cannot serve, and with SA_NODEFER, since nobody returns from them to
 * unblock the signal.
 *
 * A handler gets no context but the signal's. So two things here are static, and have to be: the thread's list of frames
 * (thread-local, in the static block of thread-local memory, so that a handler may read it), and what belongs to the
 * process as the handlers themselves do - the earlier handlers and the threads that have been seen. Nothing of a host is
 * kept in either: hosts are reached through the frames.
 *
 * The time limit. A thread counts its calls up at each begin and end. The watcher looks at the counts now and then; where one
 * has not moved for the limit it signals that thread, again and again, until the handler finds the thread in the plugin's own
 * code: there it holds no lock of the C library or of the host. Only one that never is found there (it sleeps, or waits)
 * is ended in a function of the C library that the plugin has called.
 */
#define _GNU_SOURCE 1

#include "guard.h"
#include "guard_walk.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    STACK_BYTES = 64 * 1024,    /* of an alternate stack: room for every register there is, and for the unwinder */
    NULL_PAGE = 4096,           /* addresses below are null pointers and members of them */
    STACK_NEAR = 64 * 1024,     /* a bad address so near the stack's end is the stack's */
    LATE_TRIES = 20,            /* signals in the hope of meeting the plugin's own code */
    SIGNALS = 6,
    MILLION = 1000000,
    BILLION = 1000000000
};

static const int signals[SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, 0 /* late_signal() */};

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
static _Thread_local thread_t here __attribute__((tls_model("initial-exec")));

static struct {
    pthread_mutex_t lock;
    uint32_t guards;
    struct sigaction earlier[SIGNALS];
    bool has_key;
    pthread_key_t key;      /* its destructor takes a thread off the list */
    thread_t *threads;
    guard_host_t host;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int late_signal(void)
{
    return SIGRTMIN + 6;
}

static int signal_at(uint32_t i)
{
    return i == SIGNALS - 1 ? late_signal() : signals[i];
}

/* Whose stack calls the code at pc. It may be ruined: what goes wrong on it ends the walk. */
static void walk(guard_walk_t *walk, uintptr_t sp, uintptr_t link)
{
    if (sigsetjmp(here.walk_failed, 0) == 0) {
        here.walking = true;
        guard_walk(walk, sp, link);
    }
    here.walking = false;
}

/* --- the handlers ---------------------------------------------------------------------------------------------------- */

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
    const frame_t *frame = here.top;
    bool jumped = signal == SIGSEGV && info->si_code > 0 && (uintptr_t)info->si_addr == r.pc;
    bool late = signal == late_signal();
    here.found = (found_t){.signal = signal, .code = info->si_code, .pc = r.pc, .sp = r.sp, .address = (uintptr_t)info->si_addr};
    here.found.image = guard_image_at(frame->guard->images, r.pc);
    here.found.at = r.pc;
    if (here.found.image != NULL)
        return true;
    if (guard_is_host(&process.host, r.pc) || (late && here.tries++ < LATE_TRIES))
        return false;
    guard_walk_t found = {
        .host_code = &process.host,
        .images = frame->guard->images,
        .call = frame->call,
        .pc = r.pc,
        .end = (uintptr_t)(frame + 1),
        .jumped = jumped,
    };
    walk(&found, r.sp, r.link);
    here.found.image = found.image;
    here.found.at = found.at;
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
    while (i < SIGNALS - 1 && signals[i] != signal)
        i++;
    const struct sigaction *earlier = &process.earlier[i];
    if ((earlier->sa_flags & SA_SIGINFO) != 0) {
        earlier->sa_sigaction(signal, info, context);
    } else if (earlier->sa_handler == SIG_DFL || (earlier->sa_handler == SIG_IGN && info->si_code > 0)) {
        /* The fault happens again when the handler returns, and then does what it always did; other signals are sent again. */
        struct sigaction fallback = {.sa_handler = SIG_DFL};
        sigaction(signal, &fallback, NULL);
        if (info->si_code <= 0)
            raise(signal);
    } else if (earlier->sa_handler != SIG_IGN) {
        earlier->sa_handler(signal);
    }
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    if (here.walking)
        siglongjmp(here.walk_failed, 1);
    if (here.top != NULL && is_own(info) && judge(signal, info, context))
        siglongjmp(here.top->back, 1);
    errno = saved;
    call_earlier(signal, info, context);
}

static void on_late(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    bool ours = info->si_code == SI_QUEUE && info->si_value.sival_ptr == &process;
    if (!ours) {
        call_earlier(signal, info, context);
    } else if (here.top != NULL && !here.walking && here.late_call == here.calls && judge(signal, info, context)) {
        siglongjmp(here.top->back, 1);
    }
    errno = saved;
}

/* --- threads --------------------------------------------------------------------------------------------------------- */

static void free_stack(thread_t *thread)
{
    if (thread->stack == NULL)
        return;
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    munmap(thread->stack, STACK_BYTES);
    thread->stack = NULL;
}

static void forget_thread(void *data)
{
    thread_t *thread = data;
    pthread_mutex_lock(&process.lock);
    for (thread_t **at = &process.threads; *at != NULL; at = &(*at)->next) {
        if (*at == thread) {
            *at = thread->next;
            break;
        }
    }
    pthread_mutex_unlock(&process.lock);
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

static void prepare_thread(void)
{
    here.prepared = true;
    here.id = pthread_self();
    give_stack(&here);
    pthread_mutex_lock(&process.lock);
    here.next = process.threads;
    process.threads = &here;
    pthread_mutex_unlock(&process.lock);
    pthread_setspecific(process.key, &here);
}

__attribute__((destructor)) static void forget_key(void)
{
    if (process.has_key)
        pthread_key_delete(process.key);
}

/* --- the watcher ------------------------------------------------------------------------------------------------------ */

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / MILLION;
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
    pthread_mutex_lock(&process.lock);
    for (thread_t *thread = process.threads; thread != NULL; thread = thread->next) {
        uint64_t calls = thread->calls;
        if (thread->active != guard)
            continue;
        if (calls != thread->seen_calls) {
            thread->seen_calls = calls;
            thread->seen_at = now;
        } else if (now - thread->seen_at >= guard->limit_ms && (any || !is_traced())) {
            any = true;
            thread->late_call = calls;
            pthread_sigqueue(thread->id, late_signal(), (union sigval){.sival_ptr = &process});
        }
    }
    pthread_mutex_unlock(&process.lock);
    return any;
}

static void wait_ms(guard_t *guard, uint32_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + (uint64_t)ms * MILLION;
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

static bool start_watcher(guard_t *guard)
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

static void end_watcher(guard_t *guard)
{
    pthread_mutex_lock(&guard->lock);
    guard->ending = true;
    pthread_cond_signal(&guard->ended);
    pthread_mutex_unlock(&guard->lock);
    pthread_join(guard->watcher, NULL);
}

/* --- installing ------------------------------------------------------------------------------------------------------- */

static bool install(void)
{
    if (!process.has_key)
        process.has_key = pthread_key_create(&process.key, forget_thread) == 0;
    if (!process.has_key)
        return false;
    guard_find_host(&process.host);
    for (uint32_t i = 0; i < SIGNALS; i++) {
        bool late = signal_at(i) == late_signal();
        struct sigaction action = {.sa_sigaction = late ? on_late : on_fault};
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | (late ? SA_RESTART : 0);
        sigemptyset(&action.sa_mask);
        sigaction(signal_at(i), &action, &process.earlier[i]);
    }
    return true;
}

/* Not where somebody else has put a handler over ours: it may call ours, which then only passes on. */
static void uninstall(void)
{
    for (uint32_t i = 0; i < SIGNALS; i++) {
        struct sigaction present;
        sigaction(signal_at(i), NULL, &present);
        if ((present.sa_flags & SA_SIGINFO) != 0 && (present.sa_sigaction == on_fault || present.sa_sigaction == on_late))
            sigaction(signal_at(i), &process.earlier[i], NULL);
    }
}

bp_result_t guard_create(memory_t *memory, uint32_t limit_ms, error_text_t *error, guard_t **out)
{
    guard_t *guard = memory_new(memory, sizeof *guard);
    if (guard == NULL)
        return error_memory(error, "installing the crash guard");
    guard->memory = memory;
    guard->limit_ms = limit_ms;
    pthread_mutex_lock(&process.lock);
    bool installed = process.guards > 0 || install();
    process.guards += installed;
    pthread_mutex_unlock(&process.lock);
    if (!installed) {
        memory_free(memory, guard, sizeof *guard);
        return error_set(error, BP_ERROR_LIMIT, "the crash guard cannot be had: the process has no thread key left");
    }
    if (limit_ms > 0 && !start_watcher(guard)) {
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
        end_watcher(guard);
    while (guard->images != NULL)
        guard_drop_image(guard, (const void *)guard->images->begin);
    pthread_mutex_lock(&process.lock);
    bool last = --process.guards == 0;
    if (last)
        uninstall();
    pthread_mutex_unlock(&process.lock);
    if (last && here.prepared) {
        pthread_setspecific(process.key, NULL);
        forget_thread(&here);
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

/* --- running a call ---------------------------------------------------------------------------------------------------- */

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
    const found_t *found = &here.found;
    *crash = (guard_crash_t){.late = found->signal == late_signal()};
    if (found->image != NULL) {
        crash->code = found->at;
        crash->offset = found->at - found->image->begin;
    }
    if (crash->late)
        snprintf(crash->reason, GUARD_REASON, "it did not return within %u ms", frame->guard->limit_ms);
    else if (found->signal == SIGABRT)
        snprintf(crash->reason, GUARD_REASON, "SIGABRT: it called abort, or an assertion or the C library did for it");
    else if (found->signal == SIGFPE)
        snprintf(crash->reason, GUARD_REASON, "SIGFPE%s", found->code == FPE_INTDIV ? ": it divided an integer by zero" : "");
    else if (found->signal == SIGILL)
        snprintf(crash->reason, GUARD_REASON, "SIGILL: an instruction that the processor does not know");
    else
        tell_address(found, crash->reason);
}

static void leave(const frame_t *frame)
{
    here.top = frame->below;
    atomic_store_explicit(&here.active, here.top == NULL ? NULL : here.top->guard, memory_order_relaxed);
    atomic_store_explicit(&here.calls, here.calls + 1, memory_order_relaxed);
}

bool guard_run(guard_t *guard, void (*call)(void *data), void *data, guard_crash_t *crash)
{
    frame_t frame;
    if (!here.prepared)
        prepare_thread();
    frame.below = here.top;
    frame.guard = guard;
    frame.call = call;
    if (sigsetjmp(frame.back, 0) != 0) {
        tell(&frame, crash);
        here.tries = 0;
        leave(&frame);
        return false;
    }
    atomic_store_explicit(&here.calls, here.calls + 1, memory_order_relaxed);
    atomic_store_explicit(&here.active, guard, memory_order_relaxed);
    here.top = &frame;
    call(data);
    leave(&frame);
    return true;
}

#endif
