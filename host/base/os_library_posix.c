/* os_library_posix.c - shared libraries on Linux and its relatives: dlopen.
 *
 * All symbols are bound at once, so that what is missing is told when a library is opened, and not by the end of the process at
 * the first call.
 */
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1

#include "os.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#if defined(__linux__)
#include <link.h>
#endif

enum { PATH_ROOM = 4096 };

const char os_library_suffix[] = ".so";

void *os_library_open(const char *path, char *error, size_t size)
{
    /* A name without a slash would be searched for in the system's folders, and "" would be the program. */
    char here[PATH_ROOM];
    if (strchr(path, '/') == NULL) {
        int length = snprintf(here, sizeof here, "./%s", path);
        if (length < 0 || (size_t)length >= sizeof here) {
            snprintf(error, size, "the path is longer than %d bytes", PATH_ROOM - 3);
            return NULL;
        }
        path = here;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(error, size, "%s", reason != NULL ? reason : "the system did not say why");
    }
    return library;
}

void *os_library_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

void os_library_close(void *library)
{
    if (library != NULL)
        dlclose(library);
}

#if defined(__linux__)
typedef struct extent_t {
    ElfW(Addr) base;
    uintptr_t begin, end;
} extent_t;

static int find_extent(struct dl_phdr_info *info, size_t size, void *data)
{
    extent_t *extent = data;
    (void)size;
    if (info->dlpi_addr != extent->base)
        return 0;
    extent->begin = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        uintptr_t at = info->dlpi_addr + part->p_vaddr;
        extent->begin = at < extent->begin ? at : extent->begin;
        extent->end = at + part->p_memsz > extent->end ? at + part->p_memsz : extent->end;
    }
    return 1;
}
#endif

bool os_library_image(void *library, const void **begin, const void **end)
{
#if defined(__linux__)
    struct link_map *map = NULL;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == NULL)
        return false;
    extent_t extent = {.base = map->l_addr};
    if (dl_iterate_phdr(find_extent, &extent) == 0 || extent.begin >= extent.end)
        return false;
    *begin = (const void *)extent.begin;
    *end = (const void *)extent.end;
    return true;
#else
    (void)library, (void)begin, (void)end;
    return false;
#endif
}
