/* program.h - what all commands of `backplane` share: a host set up from an ini, its log, and the commands.
 *
 * What it does not do: it holds no state of its own outside program_t.
 */
#ifndef HOST_PROGRAM_PROGRAM_H
#define HOST_PROGRAM_PROGRAM_H

#include "arguments.h"
#include "progress.h"

#include <backplane.h>

#include <stdatomic.h>
#include <stdbool.h>

typedef struct program_t {
    bp_host_o *host;
    const bp_api_t *api;
    const char *ini;
    progress_t progress;
    bool talking;        /* the log's remarks are printed too, not only warnings and errors */
    atomic_uint errors;  /* lines of level error that the host and its plugins have logged */
} program_t;

/* Create a host and do what `ini` says. On failure complains and returns the status for it, with nothing
 * left to close; else STATUS_FINE. `program` must stay where it is until it is closed. */
int program_open(program_t *program, const char *ini);

/* End the host; returns `status`, or STATUS_FAILED in place of STATUS_FINE where an error has been logged:
 * a plugin that could not write its file says so in the log, and the program must not say that all went
 * well. */
int program_close(program_t *program, int status);

/* Let all worlds take `count` steps, with a progress bar if `bar`. Complains where a step fails. */
int program_step(program_t *program, uint64_t count, bool bar);

/* The same at the pace of the worlds' step rates, `count` steps of each world or, where that is 0, until Ctrl-C; `show` is the path of a
 * property to print once a second, or NULL. Complains where a step fails, or the path is wrong. */
int program_live(program_t *program, uint64_t count, const char *show);

/* The commands. Each returns its status. */
int command_run(const arguments_t *arguments);
int command_plugins(const arguments_t *arguments);
int command_console(const arguments_t *arguments);
int command_import(int count, char **texts);
int command_check(int count, char **texts);

#endif
