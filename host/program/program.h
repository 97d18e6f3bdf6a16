/* program.h - what all commands of `backplane` share: a host set up from an ini, its log, and the commands.
 *
 * Not here: state; all of it lies in program_t, apart from the flag that Ctrl-C sets (program.c).
 */
#ifndef HOST_PROGRAM_PROGRAM_H
#define HOST_PROGRAM_PROGRAM_H

#include "arguments.h"
#include "output.h"

#include <backplane.h>
#include <bp_look.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A prompt on the same screen, and the functions that it needs called. */
typedef struct program_prompt_t {
    void *context;
    void (*make_room)(void *context);   /* something is about to be printed */
    void (*each_second)(void *context); /* of --real-time */
} program_prompt_t;

typedef struct program_t {
    bp_host_o *host;
    const bp_api_t *api;
    const bp_look_api *look;
    const char *ini;
    uint32_t rank, ranks; /* this process among those that do the ini together (ranks.h); 0 of 1 */
    progress_t progress;
    const program_prompt_t *prompt; /* NULL: none */
    bool follows;        /* results of reloads of plugins and inis are printed without `talking` too */
    bool talking;        /* the log's remarks are printed too, not only warnings and errors */
    char passed_over[1024]; /* plugins of a folder that could not be loaded, and why; may be cut */
    atomic_uint errors;  /* lines of level error that the host and its plugins have logged */
} program_t;

/* Create a host with nothing in it. Complains and returns STATUS_FAILED where there is no memory. */
int program_create(program_t *program, const char *ini);

/* Create a host and do what `ini` says; `talking`: remarks of the log are printed too. On failure complains and returns
 * the status for it, with nothing left to close; else STATUS_FINE. `program` must stay where it is until it is
 * closed. */
int program_open(program_t *program, const char *ini, bool talking);

/* Create a host with plugins alone, for commands that simulate nothing: those of `ini`; or, where it is NULL, all that
 * lie in `folder`; or, where `folder` is NULL too, those that came with the program (plugins/ beside it, or
 * ../lib/backplane/plugins). Of a folder, plugins that cannot be loaded are passed over (most want options that an ini
 * would give): program_say_passed_over complains of them. Otherwise as program_open. */
int program_open_plugins(program_t *program, const char *ini, const char *folder);
void program_say_passed_over(const program_t *program);

/* Load one more plugin of those that came with the program. Complains where the plugin cannot be loaded; returns as
 * program_open. */
int program_add_plugin(program_t *program, const char *name, const bp_option_t *options, uint32_t count);

/* End the host; returns `status`, or STATUS_FAILED in place of STATUS_FINE where an error has been logged:
 * a plugin that could not write its file only logs that, and the program must not end with status 0. */
int program_close(program_t *program, int status);

/* Let all worlds take `count` steps, with a progress bar if `bar`; with `verify` each of them twice
 * (bp_host_step_twice). Complains where a step fails or differs. */
int program_step(program_t *program, uint64_t count, bool bar, bool verify);

/* Receives differences of two hosts and prints them to stderr, field by field. */
extern const bp_diff_i program_differences;

/* Steps at the pace of the worlds' step rates, until each world has taken its step number `last` (those before a run
 * was resumed are counted; UINT64_MAX: no end but Ctrl-C); `show` is the path of a property to print once a second, or
 * NULL. Between live_begin and live_end, which returns the status, live_turn takes the steps that are due, and waits
 * until others are, or `input` can be read (NULL: none). live_turn returns false at the end; where a step fails or the
 * path is wrong, after a complaint. live_begin returns NULL where there is no memory, with a complaint. */
typedef struct live_t live_t;
live_t *live_begin(program_t *program, uint64_t last, const char *show);
bool live_turn(live_t *live, const intptr_t *input);
int live_end(live_t *live);

/* All of that; at a terminal, unless it is `quiet`, with the console's prompt below the output (console.c). */
int program_live(program_t *program, uint64_t last, const char *show, bool quiet);

/* The commands. Each returns its status. */
int command_run(const arguments_t *arguments);
int command_replay(const arguments_t *arguments);
int command_bisect(int count, char **texts);
int command_plugins(const arguments_t *arguments);
int command_console(const arguments_t *arguments);
int command_dump(const arguments_t *arguments);
int command_import(int count, char **texts);
int command_new(int count, char **texts);
int command_headers(void); /* backplane --headers */
int command_check(int count, char **texts);
int command_compile(int count, char **texts);
int command_schema(int count, char **texts);

#endif
