/* memory.h - one form of allocator for all memory of the library, with an account for each subsystem.
 *
 * A memory_t is a named account on an allocator. One function allocates, resizes and frees; the caller passes
 * the old size, so blocks carry no headers. Accounts form a tree: bytes that a child takes are also counted at its
 * parent. At the end of a host, and at a plugin's unload, an account must stand at zero; remaining bytes are reported
 * with the account's name.
 *
 * Without an allocator of the embedder's, blocks of MEMORY_LARGE bytes and more come straight from the system
 * as pages: such blocks arrive cleared, grow by remapping rather than copying, and the part of them that was never
 * touched costs no memory. From MEMORY_HUGE on huge pages are asked for, which halves the cost of first touch and of
 * random access (docs/store.md); smaller blocks would waste more than they gain.
 *
 * Not here: arenas, garbage collection, alignment beyond 16 bytes.
 */
#ifndef HOST_BASE_MEMORY_H
#define HOST_BASE_MEMORY_H

#include <backplane.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    MEMORY_LARGE = 256 * 1024,     /* from here on blocks are pages */
    MEMORY_HUGE = 4 * 1024 * 1024, /* from here on huge pages are asked for */
    MEMORY_WORTH_ASKING = 256 * 1024 * 1024 /* from here on memory_could_hold asks the system */
};

typedef struct memory_t {
    const char *name;
    struct memory_t *parent;
    bp_allocator_i allocator; /* resize NULL: the C library and the system's pages */
    struct superblocks_t *superblocks; /* superblocks.h; NULL: there are none */
    atomic_size_t bytes;
    atomic_size_t refused; /* requests for which there was no memory */
#if defined(BACKPLANE_AUDIT)
    struct audit_t *audit; /* of a root: its blocks (memory.h); NULL: not known */
#endif
} memory_t;

/* An account on `allocator` (its resize may be NULL), or a child of `parent` with the parent's allocator. The
 * name is borrowed. */
void memory_init(memory_t *memory, const char *name, const bp_allocator_i *allocator);
void memory_init_child(memory_t *memory, const char *name, memory_t *parent);

/* Allocate (old NULL, old_size 0), resize, or free (new_size 0, returns NULL). 16-byte aligned. NULL when out of
 * memory: the old block is untouched. New bytes are not cleared. [any] */
void *memory_resize(memory_t *memory, void *old, size_t old_size, size_t new_size);

/* Like memory_resize, with new bytes cleared; costs nothing for pages fresh from the system. [any] */
void *memory_resize_cleared(memory_t *memory, void *old, size_t old_size, size_t new_size);

/* Could so many more bytes be written to? To be called before gigabytes are filled: a system may grant memory that it
 * does not have, and end the process that writes to it. Where the answer is no, `*available` is how many bytes there
 * are. True where an allocator of the embedder's decides, and for less than MEMORY_WORTH_ASKING. [any] */
bool memory_could_hold(const memory_t *memory, uint64_t bytes, uint64_t *available);

/* Are blocks of this size pages straight from the system? */
bool memory_is_pages(const memory_t *memory, size_t size);

/* Count bytes of a block that was taken elsewhere for the account: its size was `old_size` and is now `new_size`. */
void memory_count(memory_t *memory, size_t old_size, size_t new_size);
void memory_note(memory_t *memory, const void *old, void *block, size_t old_size, size_t new_size);

/* Bytes now held. */
size_t memory_bytes(const memory_t *memory);

/* How many requests of the account and its children there was no memory for, since it began. [any] */
size_t memory_refused(const memory_t *memory);

/* Count a request for which there was no memory elsewhere. [any] */
void memory_refuse(memory_t *memory);

/* A cleared object, or NULL; and its end (NULL is allowed, whatever the size). */
void *memory_new(memory_t *memory, size_t size);
void memory_free(memory_t *memory, void *block, size_t size);

/* A copy of `text`; freed by memory_free_text. NULL when out of memory. */
char *memory_copy_text(memory_t *memory, const char *text);
void memory_free_text(memory_t *memory, char *text);

/* Make room for `needed` items in a growing array. `items` is the address of the array's pointer; the pointer and
 * `*capacity` change together, or not at all (false: out of memory). Grows by doubling. */
bool memory_reserve(memory_t *memory, void *items, uint32_t *capacity, uint64_t needed, size_t item_size);

/* Give back most of the room of such an array that `count` items do not need; a little is left, for one item more at
 * least. Nothing changes where that is little already, or where the allocator cannot do it. */
void memory_give_back(memory_t *memory, void *items, uint32_t *capacity, uint32_t count, size_t item_size);

/* --- audit ------------------------------------------------------------------------------------------------------- */

/* The audit finds memory of a host that still points into an image that was unloaded. Builds with BACKPLANE_AUDIT only.
 *
 * In such builds every block that a host's accounts hold is known (memory.c notes it), with the account's name, so that
 * all blocks can be searched for addresses of a range. Other builds do not have these functions.
 *
 * Not here: stacks, and memory that a plugin has from the C library.
 */

#if defined(BACKPLANE_AUDIT)


typedef struct audit_t audit_t;

/* Know the blocks of `root` and of its children from now on. Without memory for that nothing is known. [main] */
void audit_begin(memory_t *root);
void audit_end(memory_t *root);

/* memory.c: a block has come, changed or gone. [any] */
void audit_note(memory_t *memory, const void *old, const void *block, size_t size);

/* Call `found` for every word in a known block that lies in the range. Returns how many there are. Nothing may allocate
 * meanwhile. [main] */
typedef void (*audit_found)(void *data, const char *account, size_t block_size, size_t offset, uintptr_t address);
size_t audit_search(memory_t *root, const void *begin, const void *end, audit_found found, void *data);

#endif

#endif
