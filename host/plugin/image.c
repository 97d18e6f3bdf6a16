/* image.c - choosing the checker of this platform, and the refusals that the checkers share.
 *
 * The checkers of ELF and PE are compiled everywhere, so that both can be tested anywhere; the linker drops the one
 * that is not called.
 */
#include "image.h"

#include "image_inner.h"

#include <stdarg.h>
#include <stdio.h>

#if defined(__APPLE__)
/* Is this a 64-bit Mach-O library or bundle? Judged by the magic and by the fourth word, which gives the kind of
 * file. */
static bool check_mach(const void *bytes, size_t size, const char *symbol, char *why, size_t why_size)
{
    const image_t image = image_begin(bytes, size, symbol, why, why_size);
    uint32_t words[4] = {0};
    if (size >= 32)
        memcpy(words, bytes, sizeof words);
    if (words[0] != 0xfeedfacf)
        return image_refuse_kind(&image);
    if (words[3] != 6 && words[3] != 8)
        return image_refuse(&image, "a program, not a shared library; link it with -shared");
    return true;
}
#endif

bool image_check(const void *bytes, size_t size, const char *symbol, char *why, size_t why_size)
{
#if defined(_WIN32)
    return image_check_pe(bytes, size, symbol, why, why_size);
#elif defined(__APPLE__)
    return check_mach(bytes, size, symbol, why, why_size);
#else
    return image_check_elf(bytes, size, symbol, why, why_size);
#endif
}

/* --- image file -------------------------------------------------------------------------------------------------- */

/* How a library is refused.
 *
 * The sentences tell apart only what a program's user can do something about; any other fault is "damaged".
 */

image_t image_begin(const void *bytes, size_t size, const char *symbol, char *why, size_t why_size)
{
    if (why_size > 0)
        why[0] = '\0';
    return (image_t){bytes, size, symbol, why, why_size};
}

bool image_refuse(const image_t *image, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(image->why, image->why_size, format, arguments);
    va_end(arguments);
    return false;
}

bool image_refuse_cut(const image_t *image, const char *what, uint64_t offset, uint64_t bytes)
{
    if (bytes > UINT64_MAX - offset)
        return image_refuse(image, "damaged: %s ends beyond the largest number", what);
    return image_refuse(image, "cut short: %s ends at byte %" PRIu64 " of a file of %" PRIu64, what,
                        offset + bytes, image->size);
}

/* The platform on which libraries begin with these bytes. */
static const char *platform_of(const image_t *image)
{
    if (image->size >= 4 && memcmp(image->bytes, "\177ELF", 4) == 0)
        return ", as libraries for Linux do";
    if (image->size >= 4 && memcmp(image->bytes, "\317\372\355\376", 4) == 0)
        return ", as libraries for macOS do";
    if (image->size >= 2 && memcmp(image->bytes, "MZ", 2) == 0)
        return ", as libraries for Windows do";
    return "";
}

/* Refuse a file that is no library of this platform: the sentence shows the first bytes as a C string would. */
bool image_refuse_kind(const image_t *image)
{
    char shown[8 * 4 + 1] = "";
    size_t used = 0;
    if (image->size == 0)
        return image_refuse(image, "not a shared library: it is empty");
    for (size_t i = 0; i < image->size && i < 8; i++) {
        unsigned char c = image->bytes[i];
        bool plain = c >= ' ' && c < 127 && c != '"' && c != '\\';
        used += (size_t)snprintf(shown + used, sizeof shown - used, plain ? "%c" : "\\x%02x", c);
    }
    return image_refuse(image, "not a shared library: it begins with \"%s\"%s", shown, platform_of(image));
}

bool image_refuse_machine(const image_t *image, const char *theirs, const char *ours)
{
    return image_refuse(image, "built for %s, this host is %s", theirs, ours);
}

bool image_refuse_symbol(const image_t *image)
{
    return image_refuse(image, "does not export the symbol %s", image->symbol);
}

bool image_text_is(const image_t *image, uint64_t offset, const char *wanted)
{
    size_t length = strlen(wanted) + 1;
    return image_fits(offset, length, image->size) && memcmp(image->bytes + offset, wanted, length) == 0;
}
