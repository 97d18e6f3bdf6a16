/* trace_file.h - the slices of a run's steps as a file for Perfetto and chrome://tracing.
 *
 * The format is the JSON of Chrome's trace events:
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU It is written step by step, so a long run
 * takes no memory.
 *
 * What it does not do: it says nothing of setting up and of the report, only of steps.
 */
#ifndef HOST_PROGRAM_TRACE_FILE_H
#define HOST_PROGRAM_TRACE_FILE_H

#include <backplane.h>

#include <stdbool.h>
#include <stdio.h>

typedef struct trace_file_t {
    FILE *file;
    const char *path;
    uint32_t threads; /* named so far */
    uint64_t lost;
    bool failed;
} trace_file_t;

/* Begin to write to `path`. Complains and returns false where that cannot be. `trace` must stay where it is until it is ended. */
bool trace_file_begin(trace_file_t *trace, bp_host_o *host, const char *path);

/* End the file. Complains and returns false where it could not be written whole. */
bool trace_file_end(trace_file_t *trace, bp_host_o *host);

#endif
