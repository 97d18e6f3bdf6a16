/* guard_walk_posix.c - finding on the stack who called the code that crashed.
 *
 * The compiler's own unwinder walks the stack: it can get from a function of the C library to its caller without frame
 * pointers. The walk begins in the signal's handler, so the frames up to the crash are passed over. After a jump to
 * nowhere there is nothing to unwind from, but the address that the jump came from still stands where the call put it.
 */
#define _GNU_SOURCE 1

#include "guard_posix.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <link.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <unwind.h>

enum { BEYOND = 64 * 1024 }; /* bytes behind guard_run's frame at which a walk ends */

const guard_image_t *guard_image_at(const guard_image_t *images, uintptr_t address)
{
    for (const guard_image_t *image = images; image != NULL; image = image->next) {
        if (address >= image->begin && address < image->end)
            return image;
    }
    return NULL;
}

bool guard_is_host(const guard_host_t *host, uintptr_t address)
{
    return (address >= host->begin[0] && address < host->end[0]) ||
           (address >= host->begin[1] && address < host->end[1]);
}

bool guard_is_loader(const guard_host_t *host, uintptr_t address)
{
    return address >= host->loader_begin && address < host->loader_end;
}

typedef struct search_t {
    guard_host_t *host;
    bool begun;
} search_t;

static int look_at_image(struct dl_phdr_info *info, size_t size, void *data)
{
    search_t *search = data;
    uintptr_t begin = UINTPTR_MAX, end = 0, own = (uintptr_t)guard_call;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        uintptr_t at = info->dlpi_addr + part->p_vaddr;
        begin = at < begin ? at : begin;
        end = at + part->p_memsz > end ? at + part->p_memsz : end;
    }
    for (int which = 0; which < 2; which++) {
        bool wanted = which == 0 ? !search->begun : own >= begin && own < end; /* the program always comes first */
        search->host->begin[which] = wanted ? begin : search->host->begin[which];
        search->host->end[which] = wanted ? end : search->host->end[which];
    }
    search->begun = true;
    if (info->dlpi_addr != 0 && info->dlpi_addr == getauxval(AT_BASE)) {
        search->host->loader_begin = begin;
        search->host->loader_end = end;
    }
    return 0;
}

void guard_find_host(guard_host_t *host)
{
    dl_iterate_phdr(look_at_image, &(search_t){.host = host});
}

uintptr_t guard_function_at(uintptr_t address)
{
    return (uintptr_t)_Unwind_FindEnclosingFunction((void *)address);
}

/* Judge who calls from `address`; false where the address is neither a plugin's nor the host's. A verb may end in a
 * call that takes the place of its own frame on the stack: then the first function found is the one that called the
 * verb, or guard_call. Both count as the plugin, since they call nothing else. */
static bool judge_caller(guard_walk_t *walk, uintptr_t address)
{
    walk->at = address;
    walk->image = guard_image_at(walk->images, address);
    walk->plugin = walk->image != NULL;
    if (walk->plugin || !guard_is_host(walk->host_code, address))
        return walk->plugin;
    uintptr_t function = guard_function_at(address);
    walk->plugin = function == (uintptr_t)guard_call || function == (uintptr_t)walk->call;
    walk->host = !walk->plugin;
    return true;
}

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *data)
{
    guard_walk_t *walk = data;
    int before = 0;
    uintptr_t ip = _Unwind_GetIPInfo(context, &before);
    if (!walk->past) {
        walk->past = ip == walk->pc;
        return _URC_NO_REASON;
    }
    if (ip == 0 || _Unwind_GetCFA(context) > walk->end + BEYOND)
        return _URC_END_OF_STACK;
    return judge_caller(walk, before ? ip : ip - 1) ? _URC_END_OF_STACK : _URC_NO_REASON;
}

void guard_walk(guard_walk_t *walk, uintptr_t sp, uintptr_t link)
{
    if (!walk->jumped)
        _Unwind_Backtrace(look_at_frame, walk);
    else
        judge_caller(walk, (link != 0 ? link : *(const uintptr_t *)sp) - 1);
}

#endif
