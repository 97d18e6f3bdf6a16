/* image_inner.h - what the checkers of image.h share: a library's bytes, ranges in them, and refusals.
 *
 * For the checkers (image.c, image_elf.c, image_elf_symbols.c, image_pe.c) only; others include image.h.
 *
 * Not here: any file format.
 */
#ifndef HOST_PLUGIN_IMAGE_INNER_H
#define HOST_PLUGIN_IMAGE_INNER_H

#include "../base/error.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The bytes to judge, the symbol they must export, and room for the sentence that refuses them. */
typedef struct image_t {
    const unsigned char *bytes;
    uint64_t size;
    const char *symbol;
    char *why;
    size_t why_size;
} image_t;

/* An image that is ready to be judged, with an empty sentence. */
image_t image_begin(const void *bytes, size_t size, const char *symbol, char *why, size_t why_size);

/* Write the sentence that refuses the library, and return false. */
bool image_refuse(const image_t *image, const char *format, ...) PRINTF_LIKE(2, 3);

/* The refusals that all formats share: a part that ends behind the file's end; a file that begins like something else;
 * a library for another machine; a library without the symbol. */
bool image_refuse_cut(const image_t *image, const char *what, uint64_t offset, uint64_t bytes);
bool image_refuse_kind(const image_t *image);
bool image_refuse_machine(const image_t *image, const char *theirs, const char *ours);
bool image_refuse_symbol(const image_t *image);

/* Is the text at `offset` the same as `wanted`, its zero byte included? */
bool image_text_is(const image_t *image, uint64_t offset, const char *wanted);

/* Do `bytes` bytes from `offset` lie within `size`? By subtraction: no sum that could overflow. */
static inline bool image_fits(uint64_t offset, uint64_t bytes, uint64_t size)
{
    return offset <= size && bytes <= size - offset;
}

/* Copy a record out, since it may stand in the file at any alignment. The caller has checked the range. */
static inline void image_copy(const image_t *image, uint64_t offset, void *out, size_t bytes)
{
    memcpy(out, image->bytes + offset, bytes);
}

static inline bool is_power_of_two(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

#endif
