/* os_copy.c - copies past the caches, by what the processor has for it.
 *
 * A plain copy of more than the caches hold reads each line that it is about to write, and displaces lines that will be
 * read soon. Stores past the caches do neither; keyframes of large columns are copied so (history/pieces.c).
 */
#include "os.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__SSE2__)

enum { AWAY = 64 }; /* a line of the cache */

void os_copy_away(void *to, const void *from, size_t size)
{
    char *at = to;
    const char *bytes = from;
    if ((uintptr_t)to % sizeof(__m128i) != 0) {
        memcpy(to, from, size);
        return;
    }
    for (; size >= AWAY; size -= AWAY, at += AWAY, bytes += AWAY) {
        for (size_t i = 0; i < AWAY; i += sizeof(__m128i)) {
            __m128i value;
            memcpy(&value, bytes + i, sizeof value);
            _mm_stream_si128((__m128i *)(void *)(at + i), value);
        }
    }
    memcpy(at, bytes, size);
    _mm_sfence(); /* other threads see these bytes before what is written after them */
}

#else

void os_copy_away(void *to, const void *from, size_t size)
{
    memcpy(to, from, size);
}

#endif
