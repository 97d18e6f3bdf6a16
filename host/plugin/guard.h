/* guard.h - run one call of a plugin so that a crash inside it ends that call, not the process.
 *
 * While guard_run runs a call, these end it: a bad address, a division by zero, an illegal instruction, abort, a stack
 * that runs out, a jump to nowhere, a trap, a forbidden system call, a write to a pipe that nobody reads or beyond the
 * limit of a file's size, pthread_exit; and, with a time limit, not coming back. guard_run then returns false and tells
 * what happened. Calls nest; every thread has calls of its own.
 *
 * Whose crash it is. The guard knows the images of plugins (guard_add_image). A crash counts as a plugin's where the
 * instruction lies in such an image, or where the stack shows that a plugin's image called the function it lies in
 * before the host or the program did: memcpy called by a plugin is the plugin's, the host's own code called by a plugin
 * is not. What is not a plugin's goes to whoever handled that signal before, as if there were no guard.
 *
 * A time limit is watched by a thread of the guard's own that counts calls: what a call costs does not depend on it.
 * Where a debugger is attached nothing is ended for being late.
 *
 * What it does not do: it restores nothing that the call had changed, frees nothing that it had taken, and releases no
 * lock that it held. Linux on x86-64 and aarch64 and Windows on x86-64 only so far: elsewhere guard_create says so.
 * What else it cannot do: docs/hot_reload.md.
 */
#ifndef HOST_PLUGIN_GUARD_H
#define HOST_PLUGIN_GUARD_H

#include "../base/error.h"
#include "../base/memory.h"

typedef struct guard_t guard_t;

enum { GUARD_REASON = 160 };

/* What ended a call. */
typedef struct guard_crash_t {
    char reason[GUARD_REASON]; /* "SIGSEGV at address 0x10 (a null pointer)", "it did not return within 500 ms" */
    uintptr_t code;            /* the address of the instruction inside an image; 0 where none was found */
    uintptr_t offset;          /* of `code` in its image, from where the image begins */
    bool late;                 /* ended by the time limit */
    bool plugins;              /* it was a plugin's, not the host's own */
    bool harm;                 /* the call returned, but has done what it must not */
} guard_crash_t;

/* Told of what is about to end the process, before that: `data` is that of the call in which it happened. */
typedef void (*guard_death_t)(void *data, const guard_crash_t *crash);

/* Install the guard's handlers, and with `limit_ms` above 0 start the thread that watches the time. Errors: memory;
 * state, where the system or this build has no guard. [main] */
bp_result_t guard_create(memory_t *memory, uint32_t limit_ms, error_text_t *error, guard_t **out);

/* Put the earlier handlers back, once the last guard of the process goes. No call may be running. NULL is allowed.
   [main] */
void guard_destroy(guard_t *guard);

/* Before the process dies of a signal that no handler but the guard's has wanted, while a call was running, `tell` is
 * called: in the signal's handler, with some seconds to live. `ends` false: no call is ended, so every crash is such a
 * death, and guard_run costs next to nothing; time limits are not watched. Before the first call. [main] */
void guard_tell_deaths(guard_t *guard, guard_death_t tell, bool ends);

/* In a copy of this process (reload/process.h), which has none of its other threads: watch the time there too, with the
 * limit that it has or this one, whichever is less. Once, before the first call there. */
void guard_begin_copy(guard_t *guard, uint32_t limit_ms);

/* The image of a plugin lies from `begin` up to `end`. false: out of memory. No call of this guard may be running on
 * another thread. [main] */
bool guard_add_image(guard_t *guard, const void *begin, const void *end);
void guard_drop_image(guard_t *guard, const void *begin);

/* The same for a call in which the system opens or closes a library: its image is not known yet, and its code is called
 * by the system's loader, so whatever goes wrong in it outside the host's own code is the library's. The loader may
 * keep what it held where it was ended: the library stays in memory then, and so do those closed later. [main] */
bool guard_run_whole(guard_t *guard, void (*call)(void *data), void *data, guard_crash_t *crash);

/* Is the next call of this thread one of those, one in some thousand, that may be looked at for longer? [any] */
bool guard_samples(void);

/* Run call(data). false where it was ended: then *crash says by what. `crash` is written only then. [any] */
bool guard_run(guard_t *guard, void (*call)(void *data), void *data, guard_crash_t *crash);

#endif
