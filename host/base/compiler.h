/* compiler.h - what gcc and clang can be told that the language has no words for. Elsewhere it is left unsaid.
 *
 * What it does not do: nothing here changes what code means.
 */
#ifndef HOST_BASE_COMPILER_H
#define HOST_BASE_COMPILER_H

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#define NOT_INLINED __attribute__((noinline))
#define ALWAYS_INLINED __attribute__((always_inline))
#else
#define PREFETCH(address) ((void)(address))
#define NOT_INLINED
#define ALWAYS_INLINED
#endif

#endif
