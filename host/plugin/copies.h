/* copies.h - a file of its own for each version of a plugin, since the same path opened twice gives the old image.
 *
 * The files lie in a folder of this process's own among the temporary ones, which is there from the first copy on. Those that killed
 * hosts have left are removed then.
 *
 * What it does not do: it opens no library.
 */
#ifndef HOST_PLUGIN_COPIES_H
#define HOST_PLUGIN_COPIES_H

#include "../base/base.h"
#include "../os/files.h"

typedef struct copies_t {
    base_t *base;
    memory_t *memory;
    char *folder;      /* NULL until there is one */
    temporary_t owner; /* of it */
    uint32_t count;    /* made so far */
} copies_t;

/* The folder goes, where it is empty. */
void copies_end(copies_t *copies);

/* Is the file whole, and a plugin's? By its bytes; nothing of it is run. [main] */
bp_result_t copies_judge(copies_t *copies, const char *path);

/* Read a file whole, judge it, and write it to a file of its own, whose path goes to *copy (memory_free_text). [main] */
bp_result_t copies_make(copies_t *copies, const char *path, char **copy);

/* --- retired ----------------------------------------------------------------------------------------------------- */

/* Images of plugins that were closed, for the audit: nothing in the host's memory may point into one.
 *
 * Only in builds with BACKPLANE_AUDIT.
 *
 * What it does not do: it knows blocks, not types; base/memory.h has the search.
 */

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
