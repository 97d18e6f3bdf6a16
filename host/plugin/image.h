/* image.h - judge the bytes of a shared library before the system's loader sees them.
 *
 * A system's loader does not check a file: a library that is cut short, or that is still being copied, ends the process
 * inside dlopen or LoadLibrary. Here the file is read as bytes, so that only a whole library reaches the loader.
 *
 * Any bytes at all may be passed, at any alignment. Nothing is allocated, and nothing of the library is run.
 *
 * Not here: proof that a library is good. A changed byte of code, or a relocation that points to the wrong place inside
 * the image, cannot be recognised; for that the library is tried in another process.
 */
#ifndef HOST_PLUGIN_IMAGE_H
#define HOST_PLUGIN_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Are these the bytes of a complete 64-bit shared library for this platform and machine, which exports `symbol`? If
 * not, `why` tells the reason in one sentence without a full stop, fit to stand behind "path: "; otherwise `why` is "".
 * On Apple's systems only the kind of file is looked at. [any] */
bool image_check(const void *bytes, size_t size, const char *symbol, char *why, size_t why_size);

/* Like image_check for one format, whatever the platform: ELF (POSIX systems) and PE32+ (Windows), both for the machine
 * that this host was built for. [any] */
bool image_check_elf(const void *bytes, size_t size, const char *symbol, char *why, size_t why_size);
bool image_check_pe(const void *bytes, size_t size, const char *symbol, char *why, size_t why_size);

#endif
