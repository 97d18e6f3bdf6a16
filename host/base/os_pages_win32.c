/* os_pages_win32.c - pages on Windows: VirtualAlloc.
 *
 * A block of pages is one reservation, wholly committed at first. It shrinks by giving back its last pages
 * (the reservation stays, addresses are free) and grows into a new block by copying, because nothing here
 * moves pages. What stands between a block's bytes and the end of its last page is cleared at growth: it
 * may hold what the block held before it shrank.
 */
#include "os.h"

#include <windows.h>

#include <string.h>

size_t os_page_size(void)
{
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    return system.dwPageSize;
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
    return whole == 0 ? NULL : VirtualAlloc(NULL, whole, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

static void *copy_pages(void *old, size_t old_bytes, size_t new_bytes)
{
    void *block = os_pages_alloc(new_bytes);
    if (block == NULL)
        return NULL;
    memcpy(block, old, old_bytes);
    os_pages_free(old, old_bytes);
    return block;
}

void *os_pages_resize(void *old, size_t old_bytes, size_t new_bytes)
{
    size_t old_whole = whole_pages(old_bytes), new_whole = whole_pages(new_bytes);
    if (new_whole == 0)
        return NULL;
    if (new_whole > old_whole)
        return copy_pages(old, old_bytes, new_bytes);
    if (new_whole < old_whole) /* only a saving: where it fails, the pages stay until the block is freed */
        (void)VirtualFree((char *)old + new_whole, old_whole - new_whole, MEM_DECOMMIT);
    if (new_bytes > old_bytes)
        memset((char *)old + old_bytes, 0, new_bytes - old_bytes);
    return old;
}

void os_pages_free(void *block, size_t bytes)
{
    (void)bytes;
    if (block != NULL)
        VirtualFree(block, 0, MEM_RELEASE);
}

/* Large pages need a privilege that users do not have. */
void os_pages_huge(void *start, size_t bytes)
{
    (void)start, (void)bytes;
}

bool os_pages_inherit(void *block, size_t bytes, bool inherited)
{
    (void)block, (void)bytes, (void)inherited;
    return false; /* no process is ever copied here */
}
