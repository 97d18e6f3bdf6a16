/* strings.h - names, which are interned texts; counted strings; and the hash under both.
 *
 * A name is the 64-bit hash of its text.
 *
 * Comparing names is comparing integers; the table exists to turn a name back into text, and to be sure that no
 * two texts share a hash. Interned texts stay for as long as the table. The hash is XXH3 (64 bits, seed 0), which
 * is the same on every platform: names may be stored in files.
 *
 * Not here: counting names, which stay for ever. Texts that change often belong among the strings below.
 */
#ifndef HOST_BASE_STRINGS_H
#define HOST_BASE_STRINGS_H

#include "error.h"
#include "memory.h"

#include <stddef.h>
#include <stdint.h>

enum { NAMES_MAX_LENGTH = 255 };

typedef struct names_entry_t {
    bp_name_t name;
    char *text;
} names_entry_t;

typedef struct names_t {
    memory_t memory;
    names_entry_t *entries; /* open addressing, linear probing; a power of two; name 0 is empty */
    uint32_t capacity;
    uint32_t count;
} names_t;

void names_init(names_t *names, memory_t *parent);
void names_free(names_t *names);

/* The name of a text. "" is 0. [any] */
bp_name_t names_hash(const char *text);

/* Intern a text of at most NAMES_MAX_LENGTH bytes. Errors: memory, limit, a collision of hashes. [main] */
bp_result_t names_intern(names_t *names, const char *text, bp_name_t *name, error_text_t *error);

/* The text of a name, "" of 0, "?" of one never interned. [main] */
const char *names_text(const names_t *names, bp_name_t name);

/* Is it a word as plugins, components, fields and worlds are called: letters, digits and '_', 1 to 63? [any] */
bool names_is_word(const char *text);

/* --- strings ----------------------------------------------------------------------------------------------------- */

/* Counted, shared, immutable strings, which cells of BP_STRING columns point to.
 *
 * A string is a `const char *` with its count in front of it, so that plugins read the column directly. Equal
 * strings are one string. The empty string is not counted and never freed.
 *
 * Not here: other threads; all calls are [main].
 */

struct string_header_t;

typedef struct strings_t {
    memory_t memory;
    struct string_header_t **buckets; /* a power of two */
    uint32_t capacity;
    uint32_t count;
} strings_t;

void strings_init(strings_t *strings, memory_t *parent);
void strings_free(strings_t *strings);

/* The empty string that all empty cells share. */
extern const char strings_empty[1];

/* The shared string equal to `text`, counted once more. NULL when out of memory. */
const char *strings_acquire(strings_t *strings, const char *text);

/* Count a string that is already shared once more, `times` over. Cannot fail. */
void strings_retain(const char *string, uint32_t times);

/* Count it once less; the last one frees it. */
void strings_release(strings_t *strings, const char *string);

/* How often a string is counted, for checks of that; 0 of the empty one. */
uint32_t strings_uses(const char *string);

/* --- hash -------------------------------------------------------------------------------------------------------- */

/* The hash of bytes, for checksums and tables: XXH3, 64 bits, seed 0.
 *
 * The same on every platform and in every version of the library, so it may be stored in files.
 *
 * Not here: protection against forgery; a file with a right checksum is still checked.
 */

/* The hash of `size` bytes, of any alignment. [any] */
uint64_t hash_bytes(const void *bytes, size_t size);

#endif
