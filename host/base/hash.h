/* hash.h - the hash of bytes, for checksums and tables: XXH3, 64 bits, seed 0.
 *
 * The same on every platform and in every version of the library, so it may be stored in files.
 *
 * What it does not do: it keeps nobody out who means harm; a file with a right checksum is still checked.
 */
#ifndef HOST_BASE_HASH_H
#define HOST_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of `size` bytes, of any alignment. [any] */
uint64_t hash_bytes(const void *bytes, size_t size);

#endif
