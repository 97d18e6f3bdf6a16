/* guard_win32.c - the guard on Windows: the vectored handler, the attribution of a crash, and the call that is ended.
 *
 * guard_run saves its registers with _setjmp in a frame on its own stack and puts the frame on the thread's list. The
 * vectored handler sees an exception before anything else does; where the exception belongs to a plugin, the handler
 * writes the newest frame's registers into the exception's context and lets the system continue there. No stack is
 * unwound for that, so ending a call works where the stack is damaged. A stack that ran out keeps some room for the
 * handler (SetThreadStackGuarantee), and gets its guard page back once the call has been left.
 *
 * abort is no exception here, but a function of the C library that calls the handler of SIGABRT, which guard_create
 * sets. An abort in a plugin with a C library of its own is not noticed.
 *
 * The time limit. The watcher stops a thread that is late, again and again, until it finds the thread in the plugin's
 * own code. There the thread holds no lock of the system, the C library or the host, and is made to go on at its newest
 * frame. A call that waits in the system is not ended: a new context has no effect until the wait ends.
 *
 * Thread-local memory of the compiler is made at its first touch, which a handler must not do. So threads are found
 * through a fibre-local slot, whose callback also tells of a thread's end.
 */
#define WIN32_LEAN_AND_MEAN
#define _WIN32_WINNT 0x0602

#include "guard.h"

#if defined(_WIN32) && defined(__x86_64__)

#include <windows.h>

#include <inttypes.h>
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLE = 2053 /* begins and ends of calls from one sample to the next */ };

enum {
    NULL_PAGE = 65536,         /* addresses below are null pointers and members of them: nothing is mapped there */
    STACK_FOR_HANDLER = 65536, /* bytes that a stack which ran out keeps for the handler */
    FRAMES_MOST = 256          /* frames of a stack that are looked at */
};

typedef struct image_t {
    uintptr_t begin, end;
    struct image_t *next;
} image_t;

struct guard_t {
    memory_t *memory;
    image_t *images;
    uint32_t limit_ms; /* 0: none */
    guard_time_t time; /* the watcher's */
    HANDLE watcher, ending;
    guard_permit_t permit; /* asked where the host uses a bad address; NULL: none */
    void *permit_data;
};

typedef struct frame_t {
    jmp_buf back;
    struct frame_t *below;
    guard_t *guard;
    void (*call)(void *data);
} frame_t;

/* The record of a crash that the handler, or the watcher, leaves for guard_run. */
typedef struct found_t {
    DWORD code;          /* of the exception; 0: abort, or the time limit */
    bool late;           /* the time limit ended the call */
    uintptr_t pc, address;
    uint32_t access;     /* GUARD_... */
    const image_t *image;
    uintptr_t at;        /* address inside `image` */
} found_t;

typedef struct thread_t {
    frame_t *top;
    _Atomic(guard_t *) active;    /* the guard of the newest frame; NULL: none */
    _Atomic uint64_t calls;       /* count of calls begun and ended */
    bool walking;                 /* a stack is being looked at; as it may be broken, a fault ends the walk */
    jmp_buf walk_failed;
    found_t found;
    HANDLE handle;
    uint64_t seen_calls, seen_at; /* the watcher's: the value of `calls` it saw last, and since when in ms */
    struct thread_t *next;
} thread_t;

/* The guard's state of the process, to which the handlers belong too. No host is kept here: hosts are reached
 * through the frames. */
typedef struct process_guard_t {
    SRWLOCK lock;
    uint32_t guards;
    DWORD slot; /* holds each thread's thread_t; FLS_OUT_OF_INDEXES: no slot yet */
    void *handler;
    void (*earlier_abort)(int number);
    thread_t *threads;
    image_t host[2]; /* the program, and the library that this code is in */
} process_guard_t;

static process_guard_t process_guard = {.lock = SRWLOCK_INIT, .slot = FLS_OUT_OF_INDEXES};

static thread_t *this_thread(void)
{
    return process_guard.slot == FLS_OUT_OF_INDEXES ? NULL : FlsGetValue(process_guard.slot);
}

/* --- attribution of a crash
 * --------------------------------------------------------------------------------------------------- */

static const image_t *image_at(const image_t *images, uintptr_t address)
{
    for (const image_t *image = images; image != NULL; image = image->next) {
        if (address >= image->begin && address < image->end)
            return image;
    }
    return NULL;
}

static bool is_host(uintptr_t address)
{
    const image_t *host = process_guard.host;
    return (address >= host[0].begin && address < host[0].end) || (address >= host[1].begin && address < host[1].end);
}

static image_t image_of(HMODULE module)
{
    const char *base = (const char *)module;
    const IMAGE_DOS_HEADER *dos = (const IMAGE_DOS_HEADER *)(const void *)base;
    const IMAGE_NT_HEADERS64 *headers = (const IMAGE_NT_HEADERS64 *)(const void *)(base + dos->e_lfanew);
    return (image_t){(uintptr_t)base, (uintptr_t)base + headers->OptionalHeader.SizeOfImage, NULL};
}

static void find_host(void)
{
    HMODULE own = NULL;
    process_guard.host[0] = image_of(GetModuleHandleW(NULL));
    if (GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                           (const wchar_t *)(const void *)&process_guard, &own))
        process_guard.host[1] = image_of(own);
}

static uintptr_t function_around(uintptr_t address)
{
    DWORD64 base;
    const RUNTIME_FUNCTION *function = RtlLookupFunctionEntry(address, &base, NULL);
    return function == NULL ? 0 : (uintptr_t)base + function->BeginAddress;
}

/* Go one frame outwards. Where no function is around the instruction, the return address lies on top of the stack. */
static void step_out(CONTEXT *context)
{
    DWORD64 base, established;
    void *data = NULL;
    RUNTIME_FUNCTION *function = RtlLookupFunctionEntry(context->Rip, &base, NULL);
    if (function != NULL) {
        RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, context->Rip, function, context, &data, &established, NULL);
        return;
    }
    context->Rip = *(const uintptr_t *)(uintptr_t)context->Rsp;
    context->Rsp += sizeof(uintptr_t);
}

typedef struct walk_t {
    CONTEXT context;
    const frame_t *frame;
    const image_t *image; /* found: the plugin's, and the address in it; NULL where the call has left no trace */
    uintptr_t at;
    bool plugin, host;
} walk_t;

/* Find the innermost image of a plugin, the host or the program on the stack. The host's own function that ran the call
 * counts as the plugin: a verb may end in a call that takes the place of its own frame on the stack. */
static void look_outwards(walk_t *w)
{
    for (uint32_t i = 0; i < FRAMES_MOST && !w->plugin && !w->host; i++) {
        step_out(&w->context);
        uintptr_t pc = (uintptr_t)w->context.Rip - 1;
        if (w->context.Rip == 0)
            return;
        w->image = image_at(w->frame->guard->images, pc);
        w->at = pc;
        w->plugin = w->image != NULL;
        if (!w->plugin && is_host(pc)) {
            uintptr_t function = function_around(pc);
            w->plugin = function == function_around((uintptr_t)guard_run) ||
                        function == function_around((uintptr_t)w->frame->call);
            w->host = !w->plugin;
        }
    }
}

/* Look outwards along a stack that may be damaged: a fault while reading it ends the walk. */
static void walk(thread_t *walker, walk_t *w)
{
    if (_setjmp(walker->walk_failed, NULL) == 0) {
        walker->walking = true;
        look_outwards(w);
    }
    walker->walking = false;
}

/* --- going back --------------------------------------------------------------------------------------------------- */

/* Let a context go on where _setjmp was called, as if it returned 1. */
static void go_back(const jmp_buf back, CONTEXT *context)
{
    const _JUMP_BUFFER *saved = (const _JUMP_BUFFER *)(const void *)back;
    M128A *xmm = &context->Xmm6;
    context->Rax = 1;
    context->Rbx = saved->Rbx;
    context->Rsp = saved->Rsp;
    context->Rbp = saved->Rbp;
    context->Rsi = saved->Rsi;
    context->Rdi = saved->Rdi;
    context->R12 = saved->R12;
    context->R13 = saved->R13;
    context->R14 = saved->R14;
    context->R15 = saved->R15;
    context->Rip = saved->Rip;
    memcpy(xmm, &saved->Xmm6, 10 * sizeof *xmm);
    context->EFlags &= ~0x400u; /* the direction of string instructions */
}

/* --- the handlers ------------------------------------------------------------------------------------------------- */

static bool is_fault(DWORD code)
{
    return code == EXCEPTION_ACCESS_VIOLATION || code == EXCEPTION_IN_PAGE_ERROR ||
           code == EXCEPTION_INT_DIVIDE_BY_ZERO || code == EXCEPTION_INT_OVERFLOW ||
           code == EXCEPTION_FLT_DIVIDE_BY_ZERO || code == EXCEPTION_FLT_INVALID_OPERATION ||
           code == EXCEPTION_ILLEGAL_INSTRUCTION || code == EXCEPTION_PRIV_INSTRUCTION ||
           code == EXCEPTION_STACK_OVERFLOW || code == EXCEPTION_DATATYPE_MISALIGNMENT ||
           code == EXCEPTION_BREAKPOINT;
}

/* Does the crash at this context belong to a plugin? `jumped`: no code is there. */
static bool judge(thread_t *thread, const CONTEXT *context, bool jumped)
{
    const frame_t *frame = thread->top;
    uintptr_t pc = (uintptr_t)context->Rip;
    thread->found.pc = thread->found.at = pc;
    thread->found.image = image_at(frame->guard->images, pc);
    if (thread->found.image != NULL)
        return true;
    if (is_host(pc))
        return false;
    walk_t w = {.context = *context, .frame = frame};
    walk(thread, &w);
    thread->found.image = w.image;
    thread->found.at = w.at;
    return w.plugin || (jumped && !w.host);
}

/* May the host's code go on, at an address that memory has refused? */
static bool is_permitted(const thread_t *thread)
{
    const guard_t *guard = thread->top->guard;
    return thread->found.code == EXCEPTION_ACCESS_VIOLATION && thread->found.address != 0 && guard->permit != NULL &&
           guard->permit(guard->permit_data, (const void *)thread->found.address);
}

static LONG CALLBACK on_exception(EXCEPTION_POINTERS *happened)
{
    const EXCEPTION_RECORD *record = happened->ExceptionRecord;
    DWORD saved = GetLastError();
    thread_t *thread = is_fault(record->ExceptionCode) ? this_thread() : NULL;
    LONG answer = EXCEPTION_CONTINUE_SEARCH;
    if (thread != NULL && thread->walking) {
        go_back(thread->walk_failed, happened->ContextRecord);
        answer = EXCEPTION_CONTINUE_EXECUTION;
    } else if (thread != NULL && thread->top != NULL) {
        uintptr_t address = record->NumberParameters >= 2 ? record->ExceptionInformation[1] : 0;
        thread->found = (found_t){.code = record->ExceptionCode, .address = address};
        if (record->NumberParameters >= 2 && record->ExceptionInformation[0] <= 1)
            thread->found.access = record->ExceptionInformation[0] == 1 ? GUARD_WROTE : GUARD_READ;
        bool jumped = record->NumberParameters >= 2 && address == (uintptr_t)happened->ContextRecord->Rip;
        if (judge(thread, happened->ContextRecord, jumped)) {
            go_back(thread->top->back, happened->ContextRecord);
            answer = EXCEPTION_CONTINUE_EXECUTION;
        } else if (is_permitted(thread)) {
            answer = EXCEPTION_CONTINUE_EXECUTION;
        }
    }
    SetLastError(saved);
    return answer;
}

/* Called by the C library for abort, after it has forgotten this handler (so ask for SIGABRT again where the process
 * lives on). An abort that is not a plugin's goes on as if there were no guard. */
static void on_abort(int number)
{
    thread_t *thread = this_thread();
    CONTEXT here;
    if (thread != NULL && thread->top != NULL && !thread->walking) {
        RtlCaptureContext(&here);
        thread->found = (found_t){.code = 0};
        walk_t w = {.context = here, .frame = thread->top};
        while (is_host((uintptr_t)w.context.Rip) && w.context.Rip != 0)
            step_out(&w.context); /* out of this function */
        walk(thread, &w);
        if (w.plugin) {
            signal(SIGABRT, on_abort);
            thread->found.image = w.image;
            thread->found.at = thread->found.pc = w.at;
            go_back(thread->top->back, &here);
            RtlRestoreContext(&here, NULL);
        }
    }
    if (process_guard.earlier_abort != SIG_DFL && process_guard.earlier_abort != SIG_IGN)
        process_guard.earlier_abort(number);
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

/* The callback of the slot: for a thread that ends, or for all threads at the end of the slot. */
static void CALLBACK forget_thread(void *data)
{
    thread_t *thread = data;
    if (thread == NULL)
        return;
    AcquireSRWLockExclusive(&process_guard.lock);
    for (thread_t **at = &process_guard.threads; *at != NULL; at = &(*at)->next) {
        if (*at == thread) {
            *at = thread->next;
            break;
        }
    }
    ReleaseSRWLockExclusive(&process_guard.lock);
    if (thread->handle != NULL)
        CloseHandle(thread->handle);
    HeapFree(GetProcessHeap(), 0, thread);
}

/* Enter this thread into the list. NULL where there is no memory: then the call runs without a guard. */
static thread_t *prepare_thread(void)
{
    thread_t *thread = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, sizeof *thread);
    ULONG room = STACK_FOR_HANDLER;
    if (thread == NULL)
        return NULL;
    if (!FlsSetValue(process_guard.slot, thread)) {
        HeapFree(GetProcessHeap(), 0, thread);
        return NULL;
    }
    if (!DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(), &thread->handle, 0, FALSE,
                         DUPLICATE_SAME_ACCESS))
        thread->handle = NULL; /* calls are guarded all the same, but for the time */
    SetThreadStackGuarantee(&room);
    AcquireSRWLockExclusive(&process_guard.lock);
    thread->next = process_guard.threads;
    process_guard.threads = thread;
    ReleaseSRWLockExclusive(&process_guard.lock);
    return thread;
}

/* --- the watcher -------------------------------------------------------------------------------------------------- */

static void end_call(thread_t *thread, CONTEXT *context, const image_t *image)
{
    uintptr_t pc = (uintptr_t)context->Rip;
    thread->found = (found_t){.late = true, .pc = pc, .image = image, .at = pc};
    go_back(thread->top->back, context);
    SetThreadContext(thread->handle, context);
}

/* Is a stopped thread still in the call that was found to be late? If so, `context` says where it stands. */
static bool is_in_call(const thread_t *thread, CONTEXT *context)
{
    context->ContextFlags = CONTEXT_FULL;
    return GetThreadContext(thread->handle, context) && thread->calls == thread->seen_calls && thread->top != NULL;
}

static void end_late(thread_t *thread)
{
    CONTEXT context;
    if (SuspendThread(thread->handle) == (DWORD)-1)
        return;
    if (is_in_call(thread, &context)) {
        const image_t *image = image_at(thread->top->guard->images, (uintptr_t)context.Rip);
        if (image != NULL)
            end_call(thread, &context, image);
    }
    ResumeThread(thread->handle);
}

/* End the calls of this guard that have run for too long, where that can be done now. Returns whether there are any. */
static bool end_all_late(guard_t *guard)
{
    bool any = false;
    uint64_t now = guard_time_at(&guard->time, GetTickCount64(), guard->limit_ms);
    AcquireSRWLockExclusive(&process_guard.lock);
    for (thread_t *thread = process_guard.threads; thread != NULL; thread = thread->next) {
        uint64_t calls = thread->calls;
        if (thread->active != guard || thread->handle == NULL)
            continue;
        if (calls != thread->seen_calls) {
            thread->seen_calls = calls;
            thread->seen_at = now;
        } else if (now - thread->seen_at >= guard->limit_ms && !IsDebuggerPresent()) {
            any = true;
            end_late(thread);
        }
    }
    ReleaseSRWLockExclusive(&process_guard.lock);
    return any;
}

static DWORD WINAPI watch(void *data)
{
    guard_t *guard = data;
    DWORD usual = guard->limit_ms / 8 < 1 ? 1 : guard->limit_ms / 8 > 50 ? 50 : guard->limit_ms / 8;
    bool late = false;
    while (WaitForSingleObject(guard->ending, late ? 1 : usual) == WAIT_TIMEOUT)
        late = end_all_late(guard);
    return 0;
}

static bool start_watcher(guard_t *guard)
{
    guard->ending = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (guard->ending != NULL)
        guard->watcher = CreateThread(NULL, 0, watch, guard, 0, NULL);
    return guard->watcher != NULL;
}

static void end_watcher(guard_t *guard)
{
    if (guard->watcher != NULL) {
        SetEvent(guard->ending);
        WaitForSingleObject(guard->watcher, INFINITE);
        CloseHandle(guard->watcher);
    }
    if (guard->ending != NULL)
        CloseHandle(guard->ending);
}

/* --- installing --------------------------------------------------------------------------------------------------- */

static bool install(void)
{
    if (process_guard.slot == FLS_OUT_OF_INDEXES)
        process_guard.slot = FlsAlloc(forget_thread);
    if (process_guard.slot == FLS_OUT_OF_INDEXES)
        return false;
    find_host();
    process_guard.handler = AddVectoredExceptionHandler(1, on_exception);
    if (process_guard.handler == NULL)
        return false;
    process_guard.earlier_abort = signal(SIGABRT, on_abort);
    return true;
}

/* Remove the handlers, but not that of SIGABRT where it has got another one since. */
static void uninstall(void)
{
    RemoveVectoredExceptionHandler(process_guard.handler);
    void (*present)(int number) = signal(SIGABRT, process_guard.earlier_abort);
    if (present != on_abort)
        signal(SIGABRT, present);
}

/* Free the slot before this image goes: the slot's callback lies in the image, which may go before the threads do. */
__attribute__((destructor)) static void forget_slot(void)
{
    if (process_guard.slot != FLS_OUT_OF_INDEXES)
        FlsFree(process_guard.slot);
    process_guard.slot = FLS_OUT_OF_INDEXES;
}

bp_result_t guard_create(memory_t *memory, uint32_t limit_ms, error_text_t *error, guard_t **out)
{
    guard_t *guard = memory_new(memory, sizeof *guard);
    if (guard == NULL)
        return error_memory(error, "installing the crash guard");
    *guard = (guard_t){.memory = memory, .limit_ms = limit_ms};
    AcquireSRWLockExclusive(&process_guard.lock);
    bool installed = process_guard.guards > 0 || install();
    process_guard.guards += installed;
    ReleaseSRWLockExclusive(&process_guard.lock);
    if (!installed) {
        memory_free(memory, guard, sizeof *guard);
        return error_set(error, BP_ERROR_LIMIT, "the crash guard cannot be had: the process has no slot left for it");
    }
    if (limit_ms > 0 && !start_watcher(guard)) {
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
    end_watcher(guard);
    while (guard->images != NULL)
        guard_drop_image(guard, (const void *)guard->images->begin);
    AcquireSRWLockExclusive(&process_guard.lock);
    if (--process_guard.guards == 0)
        uninstall();
    ReleaseSRWLockExclusive(&process_guard.lock);
    memory_free(guard->memory, guard, sizeof *guard);
}

uint32_t guard_limit(const guard_t *guard)
{
    return guard->limit_ms;
}

void guard_begin_copy(guard_t *guard, uint32_t limit_ms)
{
    (void)guard, (void)limit_ms; /* there are no copies of a process here */
}

bool guard_add_image(guard_t *guard, const void *begin, const void *end)
{
    image_t *image = memory_new(guard->memory, sizeof *image);
    if (image == NULL)
        return false;
    *image = (image_t){(uintptr_t)begin, (uintptr_t)end, guard->images};
    guard->images = image;
    return true;
}

void guard_drop_image(guard_t *guard, const void *begin)
{
    for (image_t **at = &guard->images; *at != NULL; at = &(*at)->next) {
        image_t *image = *at;
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
    const char *name =
        found->code == EXCEPTION_IN_PAGE_ERROR ? "EXCEPTION_IN_PAGE_ERROR" : "EXCEPTION_ACCESS_VIOLATION";
    uintptr_t address = found->address;
    if (address == found->pc && address == 0)
        snprintf(reason, GUARD_REASON, "%s: it called a null pointer", name);
    else if (address == found->pc)
        snprintf(reason, GUARD_REASON, "%s: it jumped to address 0x%" PRIxPTR ", where no code is", name, address);
    else if (address == UINTPTR_MAX)
        snprintf(reason, GUARD_REASON, "%s at an address that no memory can have", name);
    else
        snprintf(reason, GUARD_REASON, "%s at address 0x%" PRIxPTR "%s", name, address,
                 address < NULL_PAGE ? " (a null pointer)" : "");
}

static void describe(const frame_t *frame, const found_t *found, guard_crash_t *crash)
{
    static const struct { DWORD code; const char *text; } others[] = {
        {EXCEPTION_INT_DIVIDE_BY_ZERO, "EXCEPTION_INT_DIVIDE_BY_ZERO: it divided an integer by zero"},
        {EXCEPTION_STACK_OVERFLOW, "EXCEPTION_STACK_OVERFLOW: the stack ran out"},
        {EXCEPTION_ILLEGAL_INSTRUCTION,
         "EXCEPTION_ILLEGAL_INSTRUCTION: an instruction that the processor does not know"},
        {EXCEPTION_BREAKPOINT, "EXCEPTION_BREAKPOINT: a break point where no debugger is"},
        {0, "SIGABRT: it called abort, or an assertion or the C library did for it"},
    };
    *crash = (guard_crash_t){.late = found->late, .plugins = true};
    if (found->image != NULL) {
        crash->code = found->at;
        crash->offset = found->at - found->image->begin;
    }
    if (found->late) {
        snprintf(crash->reason, GUARD_REASON, "it did not return within %u ms", frame->guard->limit_ms);
        return;
    }
    if (found->code == EXCEPTION_ACCESS_VIOLATION || found->code == EXCEPTION_IN_PAGE_ERROR) {
        tell_address(found, crash->reason);
        crash->address = found->address;
        crash->access = found->access;
        return;
    }
    snprintf(crash->reason, GUARD_REASON, "the exception 0x%08lx", found->code);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (others[i].code == found->code)
            snprintf(crash->reason, GUARD_REASON, "%s", others[i].text);
    }
}

static void leave(thread_t *thread, const frame_t *frame)
{
    thread->top = frame->below;
    atomic_store_explicit(&thread->active, thread->top == NULL ? NULL : thread->top->guard, memory_order_relaxed);
    atomic_store_explicit(&thread->calls, thread->calls + 1, memory_order_relaxed);
}

bool guard_run(guard_t *guard, void (*call)(void *data), void *data, guard_crash_t *crash)
{
    frame_t frame;
    thread_t *thread = this_thread();
    if (thread == NULL && (thread = prepare_thread()) == NULL) {
        call(data);
        return true;
    }
    frame.below = thread->top;
    frame.guard = guard;
    frame.call = call;
    if (_setjmp(frame.back, NULL) != 0) {
        thread = this_thread();
        describe(&frame, &thread->found, crash);
        leave(thread, &frame);
        if (thread->found.code == EXCEPTION_STACK_OVERFLOW)
            _resetstkoflw();
        return false;
    }
    atomic_store_explicit(&thread->calls, thread->calls + 1, memory_order_relaxed);
    atomic_store_explicit(&thread->active, guard, memory_order_relaxed);
    thread->top = &frame;
    call(data);
    leave(thread, &frame);
    return true;
}

/* Not guarded here: the system's loader must not be left in the middle, since every other thread of the process would
 * wait for it. */
bool guard_run_whole(guard_t *guard, void (*call)(void *data), void *data, guard_crash_t *crash)
{
    (void)guard, (void)crash;
    call(data);
    return true;
}

/* What belongs to the process is not looked at here: listing threads takes the system milliseconds. */
uint32_t guard_samples(uint32_t rows)
{
    const thread_t *thread = this_thread();
    (void)rows;
    return thread != NULL && atomic_load_explicit(&thread->calls, memory_order_relaxed) % SAMPLE == 0
               ? GUARD_SAMPLE_THREAD
               : GUARD_SAMPLE_NONE;
}

void guard_ask(guard_t *guard, guard_permit_t permit, void *data)
{
    guard->permit = permit;
    guard->permit_data = data;
}

/* Does nothing here: crashes that end the process are told by the system alone. */
void guard_tell_deaths(guard_t *guard, guard_death_t tell, bool ends)
{
    (void)guard, (void)tell, (void)ends;
}

#endif
