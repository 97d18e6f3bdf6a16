/* check.h - what is to be said about a plugin's file: rules it breaks, and what would keep it from being reloaded.
 *
 * The bytes are read, nothing is run. For ELF files; of others only whether they are whole is told.
 *
 * What it does not do: it proves nothing about what the code does, and finds no state that a library hides behind
 * another's.
 */
#ifndef HOST_PLUGIN_CHECK_H
#define HOST_PLUGIN_CHECK_H

#include "../base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Receives one finding: BP_LOG_ERROR a rule that is broken, BP_LOG_WARNING what may go wrong, BP_LOG_INFO a fact. */
typedef struct check_sink_t {
    void *data;
    void (*find)(void *data, int32_t level, const char *text);
    uint32_t errors; /* found so far */
} check_sink_t;

void check_tell(check_sink_t *sink, int32_t level, const char *format, ...) PRINTF_LIKE(3, 4);

/* Check the bytes of a file. false where it is no whole library. [any] */
bool check_image(const void *bytes, size_t size, check_sink_t *sink);

#endif
