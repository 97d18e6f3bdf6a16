/* retired.h - images of plugins that were closed, for the audit: nothing in the host's memory may point into one.
 *
 * Only in builds with BACKPLANE_AUDIT.
 *
 * What it does not do: it knows blocks, not types; base/audit.h has the search.
 */
#ifndef HOST_PLUGIN_RETIRED_H
#define HOST_PLUGIN_RETIRED_H

#if defined(BACKPLANE_AUDIT)

#include "../base/base.h"

enum { LOADER_RETIRED = 64 }; /* images closed between two audits: further ones are not looked for */

typedef struct retired_image_t {
    const void *begin, *end;
    char name[64];
} retired_image_t;

typedef struct retired_t {
    retired_image_t images[LOADER_RETIRED];
    uint32_t count;
} retired_t;

/* An image has been closed; NULL texts were not known yet. */
void retired_add(retired_t *retired, const void *begin, const void *end, const char *name, const char *version);

/* An image lies from `begin` to `end` now: what has gone and lay there is not looked for, since addresses into it are good. */
void retired_taken(retired_t *retired, const void *begin, const void *end);

/* Look for addresses inside the images in all memory of the host, log whose they are, and forget the images. Returns how many
 * addresses there were. [main] */
size_t retired_search(retired_t *retired, base_t *base);

#endif
#endif
