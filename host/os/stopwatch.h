/* stopwatch.h - a clock for the lengths of short times, such as those of a step and of its units.
 *
 * Two readings of the system's clock take more than half of the time of a step with few rows (bench, step/system). A
 * processor that counts time at one rate, whatever it does (x86-64 says whether its time stamp counter is such), is
 * asked directly, for less than half of that. Elsewhere the stopwatch is the system's clock.
 *
 * The rate is measured once in a process, in less than a millisecond, to one in a thousand or better; so the stopwatch
 * is not for times that are compared with others of the system's clock. Its zero is anywhere.
 */
#ifndef HOST_OS_STOPWATCH_H
#define HOST_OS_STOPWATCH_H

#include "os.h"

#include <stdatomic.h>

#if defined(__x86_64__)
#define STOPWATCH_COUNTER 1
#else
#define STOPWATCH_COUNTER 0
#endif

/* Nanoseconds of one count, times 2^32; 0: not measured yet; STOPWATCH_NONE: the system's clock is read instead. */
#define STOPWATCH_NONE 1u
extern _Atomic uint64_t stopwatch_rate;

/* Measure the rate, if that has not been done in this process; before that the stopwatch must not be read. [any] */
void stopwatch_begin(void);

/* Nanoseconds since some moment. [any] */
static inline uint64_t stopwatch_ns(void)
{
#if STOPWATCH_COUNTER
    __extension__ typedef unsigned __int128 product_t;
    uint64_t rate = atomic_load_explicit(&stopwatch_rate, memory_order_relaxed);
    if (rate > STOPWATCH_NONE)
        return (uint64_t)((product_t)__builtin_ia32_rdtsc() * rate >> 32);
#endif
    return os_clock_ns();
}

/* The nanoseconds between two readings: 0 where the counter went back, as it may while the machine sleeps. */
static inline uint64_t stopwatch_between(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

#endif
