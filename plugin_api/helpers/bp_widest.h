/* bp_widest.h - one word before a loop over columns: as many values at a time as the processor takes.
 *
 *     #include <helpers/bp_widest.h>
 *
 *     BP_WIDEST
 *     static void advance(float *restrict position, const float *restrict velocity, float dt, size_t count)
 *     {
 *         for (size_t i = 0; i < count; i++)
 *             position[i] += velocity[i] * dt;
 *     }
 *
 * A plugin is built for the oldest processor of its platform, which has vectors of 4 floats; processors of today have
 * vectors of 8 or 16. Where compiler and C library can do it (gcc, x86-64, glibc), the function behind BP_WIDEST exists
 * three times, for 4, 8 and 16 floats at a time, and is chosen once, when the plugin is loaded. With gcc the word also
 * asks for vectors where the flags do not (-O2), and forbids making one operation of a * b + c, which would round once
 * instead of twice: so results are the same bits on every processor, whatever the flags. What the function calls has to
 * be `static inline`, or a builtin: only what is compiled into the function is compiled three times.
 *
 * Elsewhere there is one version. clang is told not to make one operation of a * b + c either, from the word to the end
 * of the file; clang finds vectors with -O2, but its way to make several versions (release 14) does not link where two
 * files have a function of the same name. With other compilers the word is empty.
 *
 * A function for which 16 floats at a time do not pay, because its loop moves values across a vector, is better off
 * with BP_WIDEST_8. Measure.
 *
 * What this header does not do: it is no part of the boundary between host and plugin. The header is compiled into the
 * plugin, and a later version may change it.
 */
#ifndef BP_HELPERS_WIDEST_H
#define BP_HELPERS_WIDEST_H

#include <stddef.h> /* the C library says here which one it is */

/* What gcc is told of the function in every build that optimises. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define BP_WIDEST_LOOPS optimize("tree-vectorize", "vect-cost-model=dynamic", "fp-contract=off")
#endif

/* Several versions are not made under sanitizers: what chooses one would run before the sanitizer has started. */
#if defined(BP_WIDEST_LOOPS) && defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define BP_WIDEST __attribute__((target_clones("avx512f", "avx2", "default"), BP_WIDEST_LOOPS))
#define BP_WIDEST_8 __attribute__((target_clones("avx2", "default"), BP_WIDEST_LOOPS))
#elif defined(BP_WIDEST_LOOPS)
#define BP_WIDEST __attribute__((BP_WIDEST_LOOPS))
#define BP_WIDEST_8 BP_WIDEST
#elif defined(__clang__)
#define BP_WIDEST _Pragma("clang fp contract(off)")
#define BP_WIDEST_8 BP_WIDEST
#else
#define BP_WIDEST
#define BP_WIDEST_8
#endif

#endif
