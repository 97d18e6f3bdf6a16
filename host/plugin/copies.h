/* copies.h - a file of its own for each version of a plugin, since the same path opened twice gives the old image.
 *
 * The files lie in a folder of this process's own among the temporary ones (TMPDIR), which is there from the first copy
 * on. Folders that killed hosts have left are removed then. If the folder has been removed it is made anew. Where
 * TMPDIR is missing, full, or on a file system from which nothing may be run, the folder lies beside the plugin; where
 * that cannot be had either, there is no copy: the plugin's own file is never opened instead, since overwriting it
 * would end the host.
 *
 * What it does not do: it opens no library.
 */
#ifndef HOST_PLUGIN_COPIES_H
#define HOST_PLUGIN_COPIES_H

#include "../base/base.h"
#include "../os/files.h"

/* A folder for copies. */
typedef struct copies_folder_t {
    char *path; /* NULL until there is one */
    temporary_t owner;
} copies_folder_t;

enum { COPIES_TEMPORARY, COPIES_BESIDE, COPIES_PLACES };

typedef struct copies_t {
    base_t *base;
    memory_t *memory;
    copies_folder_t folders[COPIES_PLACES]; /* in TMPDIR; beside the plugin that was copied first when TMPDIR did not
                                               serve */
    uint32_t place;    /* which of them new copies go to: COPIES_... */
    uint32_t count;    /* made so far */
} copies_t;

/* The folders go, where they are empty. */
void copies_end(copies_t *copies);

/* Is the file whole, and a plugin's? By its bytes; nothing of it is run. [main] */
bp_result_t copies_judge(copies_t *copies, const char *path);

/* Read a file whole, judge it, and write it to a file of its own, whose path goes to *copy (memory_free_text).
   [main] */
bp_result_t copies_make(copies_t *copies, const char *path, char **copy);

/* Where new copies go from now on. A copy in TMPDIR that the system does not load may be loaded from elsewhere.
   [main] */
void copies_go(copies_t *copies, uint32_t place);

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

/* An image lies from `begin` to `end` now: what has gone and lay there is not looked for, since addresses into it are
   good. */
void retired_taken(retired_t *retired, const void *begin, const void *end);

/* Look for addresses inside the images in all memory of the host, log whose they are, and forget the images. Returns
 * how many addresses there were. [main] */
size_t retired_search(retired_t *retired, base_t *base);

#endif

#endif
