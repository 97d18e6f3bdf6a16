/* copies.h - a file of its own for each version of a plugin, since the same path opened twice gives the old image.
 *
 * The files lie in a folder of this process's own among the temporary ones (TMPDIR). The folder is made for the first
 * copy, when folders that killed hosts have left are removed too, and is made anew where it has been removed. Where
 * TMPDIR is missing, full, or on a file system from which nothing may be run, the folder lies beside the plugin. Where
 * no folder can be had there either, there is no copy: the plugin's own file is never opened instead, since overwriting
 * an opened file would end the host.
 *
 * Not here: opening libraries (loader.h).
 */
#ifndef HOST_PLUGIN_COPIES_H
#define HOST_PLUGIN_COPIES_H

#include "../base/base.h"
#include "../os/files.h"

/* One folder for copies. */
typedef struct copies_folder_t {
    char *path; /* NULL until the folder is made */
    temporary_t owner;
} copies_folder_t;

enum { COPIES_TEMPORARY, COPIES_BESIDE, COPIES_PLACES };

typedef struct copies_t {
    base_t *base;
    memory_t *memory;
    copies_folder_t folders[COPIES_PLACES]; /* in TMPDIR; beside the plugin that was copied first when TMPDIR did not
                                               serve */
    uint32_t place;    /* of the folder that new copies go to: COPIES_... */
    uint32_t count;    /* of copies made so far */
} copies_t;

/* Remove the folders, where they are empty. */
void copies_end(copies_t *copies);

/* Is the file whole, and a plugin's? Judged by its bytes; nothing of the file is run. [main] */
bp_result_t copies_judge(copies_t *copies, const char *path);

/* Read a file whole, judge it where it is a library, and write it to a file of its own. The path of that file goes to
 * *copy (memory_free_text). `plugin` is the plugin's path, beside which the copy lies where TMPDIR cannot be written;
 * `path` may be a copy in TMPDIR. [main] */
bp_result_t copies_make(copies_t *copies, const char *path, const char *plugin, bool library, char **copy);

/* Write bytes that were a plugin's file to a file of their own, likewise; `path` is the plugin's. [main] */
bp_result_t copies_put(copies_t *copies, const char *path, bool library, const char *bytes, size_t size, char **copy);

/* Have new copies go to the folder of `place` from now on: where the system does not load a copy in TMPDIR, a copy
   elsewhere may load. [main] */
void copies_go(copies_t *copies, uint32_t place);

/* --- retired ----------------------------------------------------------------------------------------------------- */

/* Images of plugins that were closed, for the audit: nothing in the host's memory may point into one.
 *
 * Only in builds with BACKPLANE_AUDIT.
 *
 * Not here: types of what the memory holds, since blocks are searched as bytes; the search itself (base/memory.h).
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

/* Remember that an image has been closed. A text may be NULL where the plugin was closed before it was known. */
void retired_add(retired_t *retired, const void *begin, const void *end, const char *name, const char *version);

/* An image lies from `begin` to `end` from now on: closed images that lay there are not looked for any more, since
   addresses into that memory are good again. */
void retired_taken(retired_t *retired, const void *begin, const void *end);

/* Look for addresses inside the remembered images in all memory of the host, log the account of the block and the
 * plugin of the image for each, and forget the images. Returns how many addresses were found. [main] */
size_t retired_search(retired_t *retired, base_t *base);

#endif

#endif
