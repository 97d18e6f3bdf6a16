/* arithmetic.h - how a thread rounds numbers and treats denormal ones: the settings of its processor.
 *
 * Programs change these settings for threads of their own: sound and games let denormal numbers count as zero, since
 * some processors are slow with them, and calculations with intervals round up or down. Threads that were started
 * before do not follow. A step must have the same results on any number of threads, so all that take part in it have
 * the settings of the thread that steps meanwhile. A step on one thread need not even look, which takes some 6 ns.
 *
 * The settings lie among others in one register of the processor. Whether an exception is trapped is left alone, since
 * it changes no result and helps to find where a number went wrong. On other processors all these functions do nothing.
 */
#ifndef HOST_OS_ARITHMETIC_H
#define HOST_OS_ARITHMETIC_H

#include <stdint.h>

/* What decides about results: rounding; denormal results become zero; denormal operands count as zero; and on ARM that
 * a NaN loses its bits. */
#if defined(__SSE__)
#define ARITHMETIC_RESULTS 0xE040u
#define ARITHMETIC_FLAGS 0x3Fu /* what has happened, which is no setting */
#elif defined(__aarch64__)
#define ARITHMETIC_RESULTS 0x03C80003u
#define ARITHMETIC_FLAGS 0u
#else
#define ARITHMETIC_RESULTS 0u
#define ARITHMETIC_FLAGS 0u
#endif

/* The settings of this thread, with the flags. [any] */
static inline uint32_t arithmetic_control(void)
{
#if defined(__SSE__)
    return __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (uint32_t)control;
#else
    return 0;
#endif
}

static inline void arithmetic_set_control(uint32_t control)
{
#if defined(__SSE__)
    __builtin_ia32_ldmxcsr(control);
#elif defined(__aarch64__)
    uint64_t wide = control;
    __asm__ volatile("msr fpcr, %0" : : "r"(wide));
#else
    (void)control;
#endif
}

/* From now on this thread computes as one with the settings `as` does. Returns those that it had, for arithmetic_end.
 * [any] */
static inline uint32_t arithmetic_begin(uint32_t as)
{
    uint32_t before = arithmetic_control();
    if (((before ^ as) & ARITHMETIC_RESULTS) != 0)
        arithmetic_set_control((before & ~ARITHMETIC_RESULTS) | (as & ARITHMETIC_RESULTS));
    return before;
}

static inline void arithmetic_end(uint32_t before)
{
    arithmetic_begin(before);
}

#endif
