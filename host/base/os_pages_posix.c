/* os_pages_posix.c - pages on Linux and its relatives: mmap.
 *
 * A block of pages is one private anonymous mapping of its bytes rounded up to whole pages. Its owner only
 * ever promises the bytes that were asked for, so what stands between them and the end of the last page is
 * cleared at growth: it may hold what the block held before it shrank.
 *
 * mremap moves page tables instead of bytes, but refuses a block whose parts have come to differ (huge
 * pages asked for behind a part of it), and only Linux has it: then the block is copied.
 */
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1

#include "os.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

size_t os_page_size(void)
{
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : 4096;
}

/* 0 where `bytes` is 0 or too large to be rounded up. */
static size_t whole_pages(size_t bytes)
{
    size_t page = os_page_size();
    return bytes > SIZE_MAX - page ? 0 : (bytes + page - 1) / page * page;
}

void *os_pages_alloc(size_t bytes)
{
    size_t whole = whole_pages(bytes);
    if (whole == 0)
        return NULL;
    void *block = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

static void *copy_pages(void *old, size_t old_bytes, size_t new_bytes)
{
    void *block = os_pages_alloc(new_bytes);
    if (block == NULL)
        return NULL;
    memcpy(block, old, old_bytes < new_bytes ? old_bytes : new_bytes);
    os_pages_free(old, old_bytes);
    return block;
}

static void *move_pages(void *old, size_t old_whole, size_t new_whole)
{
#if defined(MREMAP_MAYMOVE)
    void *block = mremap(old, old_whole, new_whole, MREMAP_MAYMOVE);
    return block == MAP_FAILED ? NULL : block;
#else
    if (new_whole > old_whole)
        return NULL;
    return munmap((char *)old + new_whole, old_whole - new_whole) == 0 ? old : NULL;
#endif
}

void *os_pages_resize(void *old, size_t old_bytes, size_t new_bytes)
{
    size_t old_whole = whole_pages(old_bytes), new_whole = whole_pages(new_bytes);
    if (new_whole == 0)
        return NULL;
    char *block = old_whole == new_whole ? old : move_pages(old, old_whole, new_whole);
    if (block == NULL)
        return copy_pages(old, old_bytes, new_bytes);
    if (new_bytes > old_bytes) {
        size_t end = new_bytes < old_whole ? new_bytes : old_whole;
        memset(block + old_bytes, 0, end - old_bytes);
    }
    return block;
}

void os_pages_free(void *block, size_t bytes)
{
    if (block != NULL)
        munmap(block, whole_pages(bytes));
}

#if defined(MADV_POPULATE_WRITE) || defined(MADV_HUGEPAGE)
/* Advise on every page that the range touches. What a hint comes to is nobody's business. */
static void advise(void *start, size_t bytes, int advice)
{
    uintptr_t page = os_page_size(), first = (uintptr_t)start / page * page;
    if (bytes == 0)
        return;
    int saved = errno;
    madvise((void *)first, (uintptr_t)start - first + bytes, advice);
    errno = saved;
}
#endif

void os_pages_huge(void *start, size_t bytes)
{
#if defined(MADV_HUGEPAGE)
    advise(start, bytes, MADV_HUGEPAGE);
#else
    (void)start, (void)bytes;
#endif
}

bool os_pages_inherit(void *block, size_t bytes, bool inherited)
{
#if defined(MADV_DONTFORK) && defined(MADV_DOFORK)
    int saved = errno;
    bool done = madvise(block, whole_pages(bytes), inherited ? MADV_DOFORK : MADV_DONTFORK) == 0;
    errno = saved;
    return done;
#else
    (void)block, (void)bytes, (void)inherited;
    return false;
#endif
}
