/* image.c - which checker is this platform's.
 *
 * The checkers of ELF and PE are compiled everywhere, so that both can be tested anywhere; the linker
 * drops the one that nobody calls.
 */
#include "image.h"

#include "image_file.h"

#if defined(__APPLE__)
/* A 64-bit Mach-O library or bundle: its magic, and the fourth word that says so. */
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
