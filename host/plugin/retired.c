/* retired.c - remembering images that have gone, and looking for them in all memory.
 *
 * The system may put another library where one has gone. Addresses into that one are good, so what was there before is not looked for.
 */
#include "retired.h"

#if defined(BACKPLANE_AUDIT)

#include "../base/audit.h"

#include <stdio.h>

typedef struct finding_t {
    const base_t *base;
    const retired_image_t *image;
} finding_t;

void retired_add(retired_t *retired, const void *begin, const void *end, const char *name, const char *version)
{
    if (begin == NULL || retired->count == LOADER_RETIRED)
        return;
    retired_image_t *image = &retired->images[retired->count++];
    *image = (retired_image_t){.begin = begin, .end = end};
    snprintf(image->name, sizeof image->name, "%s %.30s", name == NULL ? "?" : name, version == NULL ? "" : version);
}

void retired_taken(retired_t *retired, const void *begin, const void *end)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < retired->count; i++) {
        const retired_image_t image = retired->images[i];
        if ((uintptr_t)begin >= (uintptr_t)image.end || (uintptr_t)image.begin >= (uintptr_t)end)
            retired->images[kept++] = image;
    }
    retired->count = kept;
}

static void log_stale(void *data, const char *account, size_t block_size, size_t offset, uintptr_t address)
{
    const finding_t *f = data;
    log_write(&f->base->log, BP_LOG_ERROR, "audit",
              "memory of '%s' points into the image of '%s', which has gone: byte %zu of a block of %zu bytes, %zu bytes into the image", account,
              f->image->name, offset, block_size, (size_t)(address - (uintptr_t)f->image->begin));
}

size_t retired_search(retired_t *retired, base_t *base)
{
    size_t found = 0;
    for (uint32_t i = 0; i < retired->count; i++) {
        finding_t f = {base, &retired->images[i]};
        found += audit_search(&base->memory, f.image->begin, f.image->end, log_stale, &f);
    }
    retired->count = 0;
    return found;
}

#else
typedef int retired_nothing_t; /* a file must declare something */
#endif
