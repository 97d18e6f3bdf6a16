/* hash.c - XXH3 as a function of its own.
 *
 * The library is used as a header; here it is compiled once for whole files, where its loops over long inputs matter.
 * names.c keeps a copy of its own that is inlined for short texts.
 */
#include "hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_bytes(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}
