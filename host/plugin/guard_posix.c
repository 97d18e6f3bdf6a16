/* guard_posix.c - the guard on Linux: the handlers, and the call that is ended.
 *
 * guard_run saves its registers (sigsetjmp without the signal mask, some 7 ns) in a frame on its own stack and puts the
 * frame on the thread's list; the handler of a signal that belongs to a plugin jumps back to the newest frame. Handlers
 * run on an alternate stack of each thread's own, since a stack that ran out cannot serve, and with SA_NODEFER, since a
 * handler that jumps does not return, so that the signal would stay blocked. Only the signal for being late stays
 * blocked while a handler runs, until the call has ended: for a thread that got no processor for a while many of these
 * signals wait, and handlers inside handlers would use up the alternate stack.
 *
 * The time limit. The watcher (guard_watch_posix.c) signals a thread that is late, again and again, until the handler
 * finds it in the plugin's own code: there the thread holds no lock of the C library or of the host. Only a thread that
 * is never found there (it sleeps, or waits) is ended in a function of the C library that the plugin has called.
 *
 * While the system opens a library, the library's image is not known yet, and its code is called by the system's
 * loader. A call of guard_run_whole is ended for every crash outside the host's own code, but not for being late while
 * the loader itself works.
 */
#define _GNU_SOURCE 1

#include "guard_posix.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

_Thread_local thread_t guard_here __attribute__((tls_model("initial-exec")));
guard_process_t guard_process = {.lock = PTHREAD_MUTEX_INITIALIZER, .told = ATOMIC_FLAG_INIT};

enum {
    BEYOND = 64 * 1024,     /* bytes behind guard_run's frame at which a walk ends */
    NULL_PAGE = 4096,       /* addresses below are null pointers and members of them */
    STACK_NEAR = 64 * 1024, /* a bad address this near to the stack pointer means that the stack ran out */
    STACK_FORGOTTEN = 8 * 1024 * 1024, /* a call does not use more of the stack than that */
    SAMPLE = 2053,          /* begins and ends of calls from one sample to the next; a prime, so that no verb of a step
                               is always passed over */
    CALL_ROWS = 512,        /* what a call costs, in rows: 190 ns, where the fastest loops take 0.25 ns a row */
    SAMPLE_ROWS = 80000000, /* from one call that is examined as a whole to the next: 20 ms at least, for some 100 us */
    SAMPLE_TURNS = 1021,    /* a prime, and more than a step usually has calls */
    DYING_SECONDS = 5,      /* for logging why the process ends */
    LATE_TRIES = 20         /* signals sent in the hope of finding the thread in the plugin's own code */
};

/* What sigsetjmp of a frame returns. */
enum { BEGINS, IS_ENDED, HAS_RETURNED };

static const int signals[GUARD_SIGNALS] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL, SIGABRT,
                                           SIGTRAP, SIGSYS, SIGPIPE, SIGXFSZ, 0 /* guard_late_signal() */};

static int signal_at(uint32_t i)
{
    return i == GUARD_SIGNALS - 1 ? guard_late_signal() : signals[i];
}

/* --- attribution of a crash
 * ------------------------------------------------------------------------------------------- */

/* For the handlers: all but find_host may be called from one. The compiler's own unwinder walks the stack: it can get
 * from a function of the C library to its caller without frame pointers. The walk begins in the signal's handler, so
 * the frames up to the crash are passed over. After a jump to nowhere there is nothing to unwind from, but the return
 * address is still where the call put it. */

static const guard_image_t *image_at(const guard_image_t *images, uintptr_t address)
{
    for (const guard_image_t *image = images; image != NULL; image = image->next) {
        if (address >= image->begin && address < image->end)
            return image;
    }
    return NULL;
}

static bool is_host(const guard_host_t *host, uintptr_t address)
{
    return (address >= host->begin[0] && address < host->end[0]) ||
           (address >= host->begin[1] && address < host->end[1]);
}

static bool is_loader(const guard_host_t *host, uintptr_t address)
{
    return address >= host->loader_begin && address < host->loader_end;
}

typedef struct search_t {
    guard_host_t *host;
    bool begun;
} search_t;

static int look_at_image(struct dl_phdr_info *info, size_t size, void *data)
{
    search_t *search = data;
    uintptr_t begin = UINTPTR_MAX, end = 0, own = (uintptr_t)guard_call;
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
    if (info->dlpi_addr != 0 && info->dlpi_addr == getauxval(AT_BASE)) {
        search->host->loader_begin = begin;
        search->host->loader_end = end;
    }
    return 0;
}

static void find_host(guard_host_t *host)
{
    dl_iterate_phdr(look_at_image, &(search_t){.host = host});
}

static uintptr_t function_at(uintptr_t address)
{
    return (uintptr_t)_Unwind_FindEnclosingFunction((void *)address);
}

typedef struct walk_t {
    const guard_host_t *host_code;
    const guard_image_t *images;
    void (*call)(void *data);  /* the function that guard_run was told to run */
    uintptr_t pc, end;         /* the instruction; the end of guard_run's frame */
    bool jumped;               /* no code is at pc */

    bool host;                 /* found: the host or the program called the code at pc */
    bool plugin;               /* found: a plugin called the code at pc, */
    const guard_image_t *image; /* from this image; NULL where the plugin's call has left no trace on the stack, */
    uintptr_t at;              /* and from this address in it */

    bool past;                 /* the walk has passed the frames of the handler, which come first */
} walk_t;

/* Decide whether the caller at `address` is a plugin or the host; false where the address is in neither. A verb may end
 * in a call that takes the place of its own frame on the stack: then the first function found is the one that called
 * the verb, or guard_call. Both count as the plugin, since they call nothing else. */
static bool judge_caller(walk_t *walk, uintptr_t address)
{
    walk->at = address;
    walk->image = image_at(walk->images, address);
    walk->plugin = walk->image != NULL;
    if (walk->plugin || !is_host(walk->host_code, address))
        return walk->plugin;
    uintptr_t function = function_at(address);
    walk->plugin = function == (uintptr_t)guard_call || function == (uintptr_t)walk->call;
    walk->host = !walk->plugin;
    return true;
}

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *data)
{
    walk_t *walk = data;
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

/* Find the caller of the code at pc: the innermost image of a plugin, the host or the program on the stack. sp and link
 * are the stack pointer at pc, and the link register where the processor has one, else 0. */
static void look_at_stack(walk_t *walk, uintptr_t sp, uintptr_t link)
{
    if (!walk->jumped)
        _Unwind_Backtrace(look_at_frame, walk);
    else
        judge_caller(walk, (link != 0 ? link : *(const uintptr_t *)sp) - 1);
}

/* Find out from the stack which code called the code at pc. The stack may be damaged: a fault while reading it ends the
 * walk. */
static void walk(walk_t *walk, uintptr_t sp, uintptr_t link)
{
    if (sigsetjmp(guard_here.walk_failed, 0) == 0) {
        guard_here.walking = true;
        look_at_stack(walk, sp, link);
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

/* Has the call's own function, which calls nothing but the plugin, tried to call an address that no memory can have? On
 * x86-64 that fails at the instruction that calls; other processors arrive there, and it is a jump to nowhere. */
static bool called_nowhere(const frame_t *frame, int signal, const siginfo_t *info, uintptr_t pc)
{
#if defined(__x86_64__)
    enum { REX = 0x40, REX_MASK = 0xf0, INDIRECT = 0xff, OPERATION = 0x38, CALL = 0x10, JUMP = 0x20 };
    const unsigned char *at = (const unsigned char *)pc;
    if (signal != SIGSEGV || info->si_code != SI_KERNEL || !is_host(&guard_process.host, pc))
        return false;
    at += (*at & REX_MASK) == REX;
    return at[0] == INDIRECT && ((at[1] & OPERATION) == CALL || (at[1] & OPERATION) == JUMP) &&
           function_at(pc) == (uintptr_t)frame->call;
#else
    (void)frame, (void)signal, (void)info, (void)pc;
    return false;
#endif
}

/* What was an instruction to do at an address that it could not touch? */
static uint32_t access_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    enum { WRITES = 2 };
    return (context->uc_mcontext.gregs[REG_ERR] & WRITES) != 0 ? GUARD_WROTE : GUARD_READ;
#else
    enum { WRITES = 1 << 6 };
    const unsigned char *at = (const unsigned char *)context->uc_mcontext.__reserved;
    for (size_t i = 0; i + sizeof(struct esr_context) <= sizeof context->uc_mcontext.__reserved;) {
        struct esr_context record;
        memcpy(&record, at + i, sizeof record);
        if (record.head.magic == ESR_MAGIC)
            return (record.esr & WRITES) != 0 ? GUARD_WROTE : GUARD_READ;
        if (record.head.magic == 0 || record.head.size == 0)
            break;
        i += record.head.size;
    }
    return GUARD_TOUCHED;
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
    if (signal == SIGSEGV && info->si_code > 0)
        guard_here.found.access = access_of(context);
    guard_here.found.image = image_at(frame->guard->images, r.pc);
    guard_here.found.at = r.pc;
    if (guard_here.found.image != NULL || called_nowhere(frame, signal, info, r.pc))
        return true;
    if (frame->whole && late && is_loader(&guard_process.host, r.pc))
        return false;
    if (is_host(&guard_process.host, r.pc) || (late && guard_here.tries++ < LATE_TRIES))
        return false;
    if (frame->whole)
        return true;
    walk_t found = {
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

/* Is the signal a fault, or one that this process sent to itself? false for one that another process sent. */
static bool is_own(const siginfo_t *info)
{
    return info->si_code > 0 || info->si_pid == getpid();
}

/* An earlier handler may be one that was put over the guard's in the time of other guards, and pass the signal on to
 * the guard's in turn: then the signal is for the handler that was there first. The guard's handler runs in a frame
 * below that of the call of the earlier handler then. Where an earlier handler has left by a jump, the next signal
 * begins at the height of the stack at which that one began, and not below. */
static void call_earlier(int signal, siginfo_t *info, void *context)
{
    uint32_t i = 0;
    while (i < GUARD_SIGNALS - 1 && signals[i] != signal)
        i++;
    int outer = guard_here.passing;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), outer_from = guard_here.passing_from;
    bool again = outer == signal && here < outer_from;
    const struct sigaction *earlier = again ? &guard_process.first[i] : &guard_process.earlier[i];
    guard_here.passing = signal;
    guard_here.passing_from = here;
    if ((earlier->sa_flags & SA_SIGINFO) != 0) {
        earlier->sa_sigaction(signal, info, context);
    } else if (earlier->sa_handler == SIG_DFL || (earlier->sa_handler == SIG_IGN && info->si_code > 0)) {
        /* A fault happens again when the handler returns, and then does what it does without handlers; other signals
           are sent again. */
        struct sigaction fallback = {.sa_handler = SIG_DFL};
        sigaction(signal, &fallback, NULL);
        if (info->si_code <= 0)
            raise(signal);
    } else if (earlier->sa_handler != SIG_IGN) {
        earlier->sa_handler(signal);
    }
    guard_here.passing = outer;
    guard_here.passing_from = outer_from;
}

static void tell(const frame_t *frame, guard_crash_t *crash);

/* Where the signal has no handler but the guard's, the process ends: call `tell` with the reason first. `tell` may wait
 * for locks that the crash has left locked, so an alarm ends the process where it does not return. Only the first crash
 * is told, and none in a call of guard_run_whole, since only its caller knows what the call was for. */
static void tell_death(int signal, bool plugins)
{
    const frame_t *frame = guard_here.top;
    uint32_t i = 0;
    while (i < GUARD_SIGNALS - 1 && signals[i] != signal)
        i++;
    const struct sigaction *earlier = &guard_process.earlier[i];
    if (frame->whole || (!plugins && (signal == SIGPIPE || signal == SIGXFSZ)) || frame->guard->tell == NULL ||
        (earlier->sa_flags & SA_SIGINFO) != 0 || earlier->sa_handler != SIG_DFL ||
        atomic_flag_test_and_set(&guard_process.told))
        return;
    struct sigaction fallback = {.sa_handler = SIG_DFL};
    sigaction(SIGALRM, &fallback, NULL);
    alarm(DYING_SECONDS);
    guard_crash_t crash;
    tell(frame, &crash);
    crash.plugins = plugins;
    crash.heap_locked = guard_here.heap_locked;
    frame->guard->tell(frame->data, &crash);
}

/* Was the code of the C library running, called by the plugin? The library may hold locks then. */
static bool was_in_library(int signal)
{
    return signal == SIGABRT || guard_here.found.at != guard_here.found.pc;
}

/* May the host's code go on, at an address that memory has refused? */
static bool is_permitted(int signal, const siginfo_t *info)
{
    const guard_t *guard = guard_here.top->guard;
    return signal == SIGSEGV && info->si_code == SEGV_ACCERR && guard->permit != NULL &&
           guard->permit(guard->permit_data, info->si_addr);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    if (guard_here.walking)
        siglongjmp(guard_here.walk_failed, 1);
    if (guard_here.top != NULL && is_own(info)) {
        bool plugins = judge(signal, info, context);
        if (!plugins && is_permitted(signal, info)) {
            errno = saved;
            return;
        }
        guard_here.heap_locked = plugins && was_in_library(signal) && !guard_heap_is_free();
        if (plugins && !guard_here.top->guard->only_tells && !guard_here.heap_locked)
            siglongjmp(guard_here.top->back, IS_ENDED);
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
    } else if (guard_here.top != NULL && !guard_here.walking && guard_here.late_call == guard_here.calls) {
        if (guard_here.tried_call != guard_here.calls)
            guard_here.tries = 0;
        guard_here.tried_call = guard_here.calls;
        if (judge(signal, info, context))
            siglongjmp(guard_here.top->back, IS_ENDED);
    }
    errno = saved;
}

void guard_ask(guard_t *guard, guard_permit_t permit, void *data)
{
    guard->permit = permit;
    guard->permit_data = data;
}

void guard_tell_deaths(guard_t *guard, guard_death_t death, bool ends)
{
    guard->tell = death;
    guard->only_tells = !ends;
}

/* --- installing --------------------------------------------------------------------------------------------------- */

__attribute__((destructor)) static void forget_key(void)
{
    if (guard_process.has_key)
        pthread_key_delete(guard_process.key);
}

static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) != 0 &&
           (action->sa_sigaction == on_fault || action->sa_sigaction == on_late);
}

/* Note what the guard's handler of signal number `i` passes on to. Where another one was put over the guard's, and has
 * stayed, it may pass on to the guard's in turn; where it has put that one back, nothing is there but the guard's. */
static void note_earlier(uint32_t i)
{
    struct sigaction present;
    sigaction(signal_at(i), NULL, &present);
    if (is_ours(&present))
        present = guard_process.first[i];
    else if (!guard_process.left[i])
        guard_process.first[i] = present;
    guard_process.earlier[i] = present;
}

static bool is_ignored(uint32_t i)
{
    return (signal_at(i) == SIGPIPE || signal_at(i) == SIGXFSZ) && guard_process.earlier[i].sa_handler == SIG_IGN;
}

static bool install(void)
{
    if (!guard_process.has_key)
        guard_process.has_key = pthread_key_create(&guard_process.key, guard_forget_thread) == 0 &&
                                pthread_atfork(NULL, NULL, guard_forget_others) == 0;
    if (!guard_process.has_key)
        return false;
    find_host(&guard_process.host);
    guard_process.abort_message = dlsym(RTLD_DEFAULT, "__abort_msg");
    for (uint32_t i = 0; i < GUARD_SIGNALS; i++) {
        bool late = signal_at(i) == guard_late_signal();
        struct sigaction action = {.sa_sigaction = late ? on_late : on_fault};
        note_earlier(i);
        if (is_ignored(i))
            continue; /* the call that would raise the signal fails instead, and nothing else happens */
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | (late ? SA_RESTART : SA_NODEFER);
        sigemptyset(&action.sa_mask);
        sigaddset(&action.sa_mask, guard_late_signal());
        sigaction(signal_at(i), &action, NULL);
    }
    return true;
}

/* Put the earlier handlers back, but not for a signal that has got another handler since: that one may call the
 * guard's, which from then on only passes the signal on. */
static void uninstall(void)
{
    for (uint32_t i = 0; i < GUARD_SIGNALS; i++) {
        struct sigaction present;
        sigaction(signal_at(i), NULL, &present);
        if (is_ours(&present))
            sigaction(signal_at(i), &guard_process.earlier[i], NULL);
        else if (!is_ignored(i))
            guard_process.left[i] = true;
        guard_process.earlier[i] = guard_process.first[i];
    }
}

uint32_t guard_limit(const guard_t *guard)
{
    return guard->limit_ms;
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

/* The C library ends a process where an assertion fails, and where it finds its lists of free memory broken. The
 * message is cleared once it is in `reason`, so that a later abort is not reported with it. */
static void tell_abort(char *reason)
{
    struct abort_message_t **place = guard_process.abort_message, *message = place == NULL ? NULL : *place;
    if (message == NULL) {
        snprintf(reason, GUARD_REASON, "SIGABRT: it called abort, or an assertion or the C library did for it");
        return;
    }
    bool heap = strstr(message->text, "Assertion") == NULL && strncmp(message->text, "***", 3) != 0;
    *place = NULL;
    snprintf(reason, GUARD_REASON, "SIGABRT: %s%s", heap ? "heap corruption, found by the C library: " : "",
             message->text);
    for (char *at = reason; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ')
            *at = at[1] == '\0' ? '\0' : ' ';
    }
}

static const char *name_signal(int signal)
{
    switch (signal) {
    case 0: return "it called pthread_exit, or its thread was cancelled";
    case SIGILL: return "SIGILL: an instruction that the processor does not know";
    case SIGTRAP: return "SIGTRAP: a break point where no debugger is";
    case SIGSYS: return "SIGSYS: a system call that is not allowed";
    case SIGPIPE: return "SIGPIPE: it wrote to a pipe or socket that has no reader";
    default: return "SIGXFSZ: it wrote beyond the limit of a file's size";
    }
}

static void tell(const frame_t *frame, guard_crash_t *crash)
{
    const found_t *found = &guard_here.found;
    *crash = (guard_crash_t){.late = found->signal == guard_late_signal(), .plugins = true};
    if (found->image != NULL) {
        crash->code = found->at;
        crash->offset = found->at - found->image->begin;
    }
    if (found->signal == SIGSEGV && found->code > 0 && found->code != SI_KERNEL) {
        crash->address = found->address;
        crash->access = found->access;
    }
    if (crash->late)
        snprintf(crash->reason, GUARD_REASON, "it did not return within %u ms", frame->guard->limit_ms);
    else if (found->signal == SIGABRT)
        tell_abort(crash->reason);
    else if (found->signal == SIGFPE)
        snprintf(crash->reason, GUARD_REASON, "SIGFPE%s",
                 found->code == FPE_INTDIV ? ": it divided an integer by zero" : "");
    else if (found->signal != SIGSEGV && found->signal != SIGBUS)
        snprintf(crash->reason, GUARD_REASON, "%s", name_signal(found->signal));
    else
        tell_address(found, crash->reason);
    size_t length = strlen(crash->reason);
    if (guard_here.heap_locked)
        snprintf(crash->reason + length, GUARD_REASON - length,
                 ", with the heap of the C library locked: nothing can go on");
}

/* Precondition: the call has ended and does not count as running any more. Signals that were still pending for it then
 * do nothing. */
static void unblock_late(void)
{
    sigset_t late;
    sigemptyset(&late);
    sigaddset(&late, guard_late_signal());
    pthread_sigmask(SIG_UNBLOCK, &late, NULL);
}

static void leave(const frame_t *frame)
{
    guard_here.top = frame->below;
    atomic_store_explicit(&guard_here.active, guard_here.top == NULL ? NULL : guard_here.top->guard,
                          memory_order_relaxed);
    atomic_store_explicit(&guard_here.calls, guard_here.calls + 1, memory_order_relaxed);
}

/* AddressSanitizer marks parts of the frames of running functions as forbidden, and takes the marks away where the
 * functions return. A jump from an alternate stack and pthread_exit leave frames without returning, so the marks of all
 * frames below the guarded call's would stay, and forbid access to the frames of the next calls there. Functions that
 * run among such marks are not checked themselves. */
#define UNCHECKED __attribute__((no_sanitize_address))

#if defined(__SANITIZE_ADDRESS__)
UNCHECKED static inline void forget_frames_below(const void *frame)
{
    uintptr_t begin = guard_here.stack_lowest, end = (uintptr_t)frame;
    if (begin < end && end - begin > STACK_FORGOTTEN)
        begin = end - STACK_FORGOTTEN;
    if (begin != 0 && begin < end)
        __asan_unpoison_memory_region((const void *)begin, end - begin);
}
#else
static inline void forget_frames_below(const void *frame) { (void)frame; }
#endif

/* pthread_exit unwinds the stack, and runs the cleanup of each frame that it passes. The cleanup of a frame whose call
 * is running stops the unwinding here: the jump back ends that call instead of the thread. For this cleanup to be run,
 * this file is compiled with -fexceptions. */
UNCHECKED static void meet_unwinding(const frame_t *frame)
{
    if (!frame->running)
        return;
    forget_frames_below(frame);
    guard_here.found = (found_t){.signal = 0};
    siglongjmp(guard_here.top->back, IS_ENDED);
}

/* Damaged code of a library may return with other values in registers that a function must leave as they were. Where
 * constructors and destructors run (guard_run_whole), the call comes back by the saved registers too, and until then
 * its frame is found by the thread's list alone. Other calls, of which there are many, are spared the time. */
__attribute__((noinline)) UNCHECKED bool guard_call(guard_t *guard, void (*call)(void *data), void *data,
                                                    guard_crash_t *crash, bool whole)
{
    __attribute__((cleanup(meet_unwinding))) frame_t frame;
    frame.running = false;
    if (!guard_here.prepared)
        guard_prepare_thread();
    frame.below = guard_here.top;
    frame.guard = guard;
    frame.call = call;
    frame.data = data;
    frame.whole = whole;
    if (!guard->only_tells) {
        switch (sigsetjmp(frame.back, 0)) {
        case BEGINS: break;
        case HAS_RETURNED: leave(&frame); return true;
        default:
            forget_frames_below(&frame);
            frame.running = false;
            tell(&frame, crash);
            leave(&frame);
            unblock_late();
            return false;
        }
    }
    /* In this order: where another host's call calls this one's, that one's watcher must not note the time of the new
     * count, since each goes by a clock of its own. */
    atomic_store_explicit(&guard_here.active, guard, memory_order_relaxed);
    atomic_store_explicit(&guard_here.calls, guard_here.calls + 1, memory_order_relaxed);
    guard_here.top = &frame;
    frame.running = !guard->only_tells;
    call(data);
    guard_here.top->running = false;
    if (guard_here.top->whole && !guard_here.top->guard->only_tells)
        siglongjmp(guard_here.top->back, HAS_RETURNED);
    leave(&frame);
    return true;
}

/* Each one waits for one call more than the last, so that all calls of a step have their turn. */
uint32_t guard_samples(uint32_t rows)
{
    if (!guard_here.prepared)
        guard_prepare_thread();
    guard_here.rows += CALL_ROWS + rows;
    if (guard_here.rows >= SAMPLE_ROWS && guard_here.turn-- == 0) {
        guard_here.rows = 0;
        guard_here.turns = (guard_here.turns + 1) % SAMPLE_TURNS;
        guard_here.turn = guard_here.turns;
        return GUARD_SAMPLE_ALL;
    }
    return atomic_load_explicit(&guard_here.calls, memory_order_relaxed) % SAMPLE == 0 ? GUARD_SAMPLE_THREAD
                                                                                       : GUARD_SAMPLE_NONE;
}

bool guard_run_whole(guard_t *guard, void (*call)(void *data), void *data, guard_crash_t *crash)
{
    return guard_call(guard, call, data, crash, true);
}

bool guard_run(guard_t *guard, void (*call)(void *data), void *data, guard_crash_t *crash)
{
    return guard_call(guard, call, data, crash, false);
}

#endif
