/* check.h - findings about a plugin's file: rules it breaks, and what would keep the plugin from being reloaded.
 *
 * The bytes are read, nothing is run. Of an ELF file everything is looked at; of other files only whether they are
 * whole.
 *
 * Not here: proofs of what the code does; variables in libraries that the plugin uses.
 */
#ifndef HOST_PLUGIN_CHECK_H
#define HOST_PLUGIN_CHECK_H

#include "../base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Receives one finding: BP_LOG_ERROR a broken rule, BP_LOG_WARNING something that may go wrong, BP_LOG_INFO a fact. */
typedef struct check_sink_t {
    void *data;
    void (*find)(void *data, int32_t level, const char *text);
    uint32_t errors; /* findings of BP_LOG_ERROR or above so far */
} check_sink_t;

void check_tell(check_sink_t *sink, int32_t level, const char *format, ...) PRINTF_LIKE(3, 4);

/* Check the bytes of a file. Returns false where they are no whole library. [any] */
bool check_image(const void *bytes, size_t size, check_sink_t *sink);

#endif
