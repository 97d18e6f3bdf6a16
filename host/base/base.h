/* base.h - what every part of one host shares: its memory, errors, log, names, strings and random numbers.
 *
 * One base_t lives in each host; parts keep a pointer to it. There is no other way to reach these things, so two
 * hosts in one process share nothing.
 *
 * Not here: knowledge of what the parts of a host are.
 */
#ifndef HOST_BASE_BASE_H
#define HOST_BASE_BASE_H

#include "error.h"
#include "field.h"
#include "memory.h"
#include "superblocks.h"
#include "strings.h"
#include "../os/os.h"

/* Told of each address of values that code of a plugin is given to write to, but for what its units have declared. */
typedef struct handing_t {
    void (*hands)(void *data, void *values);
    void *data;
} handing_t;

typedef struct base_t {
    memory_t memory;
    superblocks_t superblocks;  /* where rows and records of worlds lie that are too small for pages of their own */
    error_text_t error;
    bp_log_i log;
    names_t names;
    strings_t strings;
    value_context_t values;
    uint64_t random;    /* of gc */
    uint64_t process;   /* that made the host (os_process_number) */
    struct handing_t *handing; /* in the copy of a trial; else NULL */
    uint32_t attention; /* BASE_...: conditions that a changing call of a plugin must check first */
} base_t;

/* Is this process a copy, made by fork, of the one that has made the host? Threads, files, folders and processes that
 * the host had then belong to that one. [any] */
static inline bool base_is_copied(const base_t *base)
{
    return base->process != os_process_number();
}

/* No flag of a property, nor of world_t.care, is one of these bits. */
enum {
    BASE_REMEMBERED = 1u << 17, /* the host's history is told of changes from outside */
    BASE_ASKED = 1u << 18,      /* `get`, `set` or `count` of storage, or `save` or `load` of a state, is under way on
                                   the thread that steps the host: nothing may change */
    BASE_MAKING = 1u << 19      /* managers make instances of new entities, which are not to be changed before all are
                                   there (entities_t.making) */
};

/* --- compiler ---------------------------------------------------------------------------------------------------- */

/* Hints to gcc and clang for which C has no words. With other compilers these macros expand to nothing.
 *
 * Not here: macros that change the meaning of code.
 */

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#define PREFETCH_TO_WRITE(address) __builtin_prefetch(address, 1)
#define NOT_INLINED __attribute__((noinline))
#define ALWAYS_INLINED __attribute__((always_inline))
#else
#define PREFETCH(address) ((void)(address))
#define PREFETCH_TO_WRITE(address) ((void)(address))
#define NOT_INLINED
#define ALWAYS_INLINED
#endif

/* The number of the lowest, and of the highest, bit that is 1. `bits` is not 0. */
static inline uint32_t lowest_bit(uint64_t bits)
{
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctzll(bits);
#else
    uint32_t at = 0;
    while ((bits >> at & 1) == 0)
        at++;
    return at;
#endif
}

static inline uint32_t highest_bit(uint64_t bits)
{
#if defined(__GNUC__)
    return 63 - (uint32_t)__builtin_clzll(bits);
#else
    uint32_t at = 63;
    while ((bits >> at & 1) == 0)
        at--;
    return at;
#endif
}

#endif
