/* guard.h - run one call of a plugin so that a crash inside it ends that call, not the process.
 *
 * While guard_run runs a call, the call is ended by a bad address, a division by zero, an illegal instruction, abort, a
 * stack that runs out, a jump to nowhere, a trap, a forbidden system call, a write to a pipe without a reader or beyond
 * the limit of a file's size, pthread_exit; and, with a time limit, by not returning in time. guard_run then returns
 * false and the reason. Calls nest; every thread has calls of its own.
 *
 * Attribution. The guard knows the images of plugins (guard_add_image). A crash counts as a plugin's where the
 * instruction lies in such an image, or where the stack shows that a plugin's image called the function around the
 * instruction before the host or the program did: memcpy called by a plugin is the plugin's, the host's own code called
 * by a plugin is not. A crash that is not a plugin's goes to the handler that the signal had before, as if there were
 * no guard.
 *
 * A time limit is watched by a thread of the guard's own that counts calls: the cost of a call does not depend on
 * whether there is a limit. While a debugger is attached no call is ended for being late.
 *
 * Not here: restoring what an ended call had changed, freeing what it had taken, releasing locks that it held; guards
 * on other systems than Linux on x86-64 and aarch64 and Windows on x86-64, where guard_create says so. Further limits
 * of the guard: docs/hot_reload.md.
 */
#ifndef HOST_PLUGIN_GUARD_H
#define HOST_PLUGIN_GUARD_H

#include "../base/error.h"
#include "../base/memory.h"

typedef struct guard_t guard_t;

enum { GUARD_REASON = 256 };
enum { GUARD_TOUCHED /* not known */, GUARD_READ, GUARD_WROTE };

/* How a call was ended, or what was found wrong with it. */
typedef struct guard_crash_t {
    char reason[GUARD_REASON]; /* "SIGSEGV at address 0x10 (a null pointer)", "it did not return within 500 ms" */
    uintptr_t code;            /* the address of the instruction inside an image; 0 where none was found */
    uintptr_t offset;          /* of `code` in its image, from where the image begins */
    uintptr_t address;         /* that could not be touched; 0: something else has ended the call */
    uint32_t access;           /* GUARD_...: what was to be done there */
    bool late;                 /* the time limit ended the call */
    bool plugins;              /* the crash was a plugin's, not the host's own */
    bool heap_locked;          /* no memory can be had from the C library any more: the process ends, guard or not */
    bool harm;                 /* the call has done what a call must not do, and has returned or was ended for it */
} guard_crash_t;

/* May the host go on with a write to an address that memory refuses? It may have been allowed meanwhile. Called in a
 * handler of a signal. */
typedef bool (*guard_permit_t)(void *data, const void *address);

/* Called with a crash that is about to end the process; `data` is that of the call in which the crash happened. */
typedef void (*guard_death_t)(void *data, const guard_crash_t *crash);

/* Install the guard's handlers, and with `limit_ms` above 0 start the thread that watches the time. Errors: memory;
 * state, where this system or build has no guard; limit, where the system lacks a thread key or a thread. [main] */
bp_result_t guard_create(memory_t *memory, uint32_t limit_ms, error_text_t *error, guard_t **out);

/* Put the earlier handlers back, once the last guard of the process goes. No call may be running. NULL is allowed.
   [main] */
void guard_destroy(guard_t *guard);

/* Have `tell` called before the process dies of a signal, raised while a call was running, that no handler but the
 * guard's has asked for: in the signal's handler, with some seconds to live. With `ends` false no call is ended, so
 * every crash is such a death; guard_run then costs next to nothing, and time limits are not watched. To be called
 * before the first call. On Windows nothing is told. [main] */
void guard_tell_deaths(guard_t *guard, guard_death_t tell, bool ends);

/* Watch the time of calls in a copy of this process (reload/process.h), which has none of its other threads: with the
 * guard's limit or this one, whichever is less. To be called once, before the first call in the copy. */
void guard_begin_copy(guard_t *guard, uint32_t limit_ms);

/* The limit of a call in milliseconds that was given to guard_create; 0: none, also where it cannot be watched.
 * [main] */
uint32_t guard_limit(const guard_t *guard);

/* From now on ask `permit` about a bad address that code of the host was using, called by a plugin or not, in a guarded
 * call. NULL: the host crashes. While no call is running. [main] */
void guard_ask(guard_t *guard, guard_permit_t permit, void *data);

/* Tell the guard that the image of a plugin lies from `begin` up to `end`. false: out of memory. No call of this guard
 * may be running on another thread. [main] */
bool guard_add_image(guard_t *guard, const void *begin, const void *end);
void guard_drop_image(guard_t *guard, const void *begin);

/* Like guard_run, for a call in which the system opens or closes a library. The library's image is not known yet, and
 * its code is called by the system's loader, so every crash outside the host's own code counts as the library's. The
 * loader may keep locks that it held when the call was ended: then the library stays in memory, and so do those closed
 * later. On Windows the call runs without a guard. [main] */
bool guard_run_whole(guard_t *guard, void (*call)(void *data), void *data, guard_crash_t *crash);

enum { GUARD_SAMPLE_NONE, GUARD_SAMPLE_THREAD, GUARD_SAMPLE_ALL };

/* Is the next call of this thread, which is handed so many rows, one of the few that may be examined at more cost? One
 * in some thousand: what belongs to the thread; one after some 80 million rows, where a call counts as CALL_ROWS of
 * them: what belongs to the process, which costs some 100 us. By count alone, so it is the same in each run. [any] */
uint32_t guard_samples(uint32_t rows);

/* Run call(data). Returns false where the call was ended, and only then writes *crash: what ended it. [any] */
bool guard_run(guard_t *guard, void (*call)(void *data), void *data, guard_crash_t *crash);

/* --- guard_time: the time that counts for a limit ----------------------------------------------------------------- */

/* A process may stand still for any time: it is stopped (Ctrl-Z), its container or virtual machine is paused, the
 * computer sleeps. The thread that watches a limit stands still then too. So of the time between two of its looks at
 * most a quarter of the limit counts. The looks are at most an eighth of the limit apart. */
typedef struct guard_time_t {
    uint64_t looked_at; /* by the system's clock, in ms */
    uint64_t counted;   /* ms */
} guard_time_t;

/* The milliseconds that count, at the look of this moment. */
static inline uint64_t guard_time_at(guard_time_t *time, uint64_t now, uint32_t limit_ms)
{
    uint64_t passed = now - time->looked_at, most = limit_ms / 4 < 1 ? 1 : limit_ms / 4;
    time->looked_at = now;
    time->counted += passed < most ? passed : most;
    return time->counted;
}

#endif
