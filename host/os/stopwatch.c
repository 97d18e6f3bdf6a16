/* stopwatch.c - measuring how fast the processor's counter counts. */
#include "stopwatch.h"

_Atomic uint64_t stopwatch_rate;

#if STOPWATCH_COUNTER
#include <cpuid.h>

enum { LONG_ENOUGH_NS = 100000, TRIES = 5 };

/* The counter and the system's clock at the same moment. */
typedef struct both_t { uint64_t count, ns; } both_t;

/* Does the counter count at one rate in all states of the processor? */
static bool is_steady(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
}

/* The best of a few tries: another program may run between two readings. */
static both_t read_both(void)
{
    both_t best = {0, 0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = __builtin_ia32_rdtsc(), ns = os_clock_ns(), after = __builtin_ia32_rdtsc();
        if (after - before < least) {
            least = after - before;
            best = (both_t){before + least / 2, ns};
        }
    }
    return best;
}

static uint64_t measure(void)
{
    both_t first = read_both(), last = first;
    while (last.ns - first.ns < LONG_ENOUGH_NS)
        last = read_both();
    uint64_t counts = last.count - first.count, ns = last.ns - first.ns;
    return counts > 0 && counts < UINT32_MAX && ns < UINT32_MAX ? (ns << 32) / counts : STOPWATCH_NONE;
}

/* Readings by different rates cannot be compared: where two threads come at once, what the first has found stays. */
void stopwatch_begin(void)
{
    uint64_t unknown = 0;
    if (atomic_load(&stopwatch_rate) == unknown)
        atomic_compare_exchange_strong(&stopwatch_rate, &unknown, is_steady() ? measure() : STOPWATCH_NONE);
}

#else

void stopwatch_begin(void) {}

#endif
