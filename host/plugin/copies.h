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
#include "../base/temporary.h"

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

#endif
