/* arguments.h - the command line behind the name of the command.
 *
 * Not here: opening files.
 */
#ifndef HOST_PROGRAM_ARGUMENTS_H
#define HOST_PROGRAM_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct arguments_t {
    const char *ini; /* or another file, see command_t.file */
    uint64_t steps; /* where has_steps */
    bool has_steps;
    bool json;
    bool real_time;
    bool verbose;
    const char *show; /* a path, or NULL */
    const char *trace; /* a file, or NULL */
    bool inspect;   /* with the plugin inspector */
    const char *port; /* the port that the inspector is to have, or NULL */
    const char *record, *resume; /* files, or NULL; one of them at most */
    const char *ini_of; /* --ini of a command with a file that is no ini, or NULL */
    uint64_t to;    /* where has_to */
    bool has_to;
    bool check;
    bool verify;
    bool help;      /* --help was given: the other arguments are ignored */
} arguments_t;

/* Options that a command may take beside --help. */
enum {
    TAKES_STEPS = 1u << 0,
    TAKES_JSON = 1u << 1,
    TAKES_REAL_TIME = 1u << 2, /* --real-time, and with it --show PATH */
    TAKES_TRACE = 1u << 3,     /* --trace FILE */
    TAKES_VERBOSE = 1u << 4,   /* -v, --verbose */
    TAKES_INSPECT = 1u << 5,   /* --inspect [PORT] */
    TAKES_RECORD = 1u << 6,    /* --record FILE, --resume FILE */
    TAKES_REPLAY = 1u << 7,    /* --to N, --check, --ini INI */
    TAKES_VERIFY = 1u << 8     /* --verify */
};

typedef struct command_t {
    const char *name;
    const char *usage; /* "run INI [--steps N] [--json]" */
    const char *about; /* one line */
    const char *help;  /* what --help says below usage and about */
    unsigned takes;    /* TAKES_... */
    const char *file;  /* what its file is, for complaints; NULL: "ini" */
    int (*run)(const arguments_t *arguments);
    int (*run_texts)(int count, char **texts); /* in place of `run`: the command reads its arguments itself */
} command_t;

/* Does --help stand among the texts? Then the other arguments are ignored. */
bool arguments_ask_for_help(int count, char **texts);

/* Read the `count` texts behind the command's name. Complains and returns false where they are not right. */
bool arguments_read(const command_t *command, int count, char **texts, arguments_t *arguments);

/* --- scene arguments --------------------------------------------------------------------------------------------- */

/* The command line of the commands about scenes: compile and schema.
 *
 * Not here: opening files.
 */

typedef struct scene_arguments_t {
    const char *file; /* the one that is no option; NULL where none is given */
    const char *output, *ini, *plugins;
    bool json;
} scene_arguments_t;

enum {
    SCENE_TAKES_OUTPUT = 1u << 0,
    SCENE_TAKES_INI = 1u << 1,
    SCENE_TAKES_PLUGINS = 1u << 2,
    SCENE_TAKES_JSON = 1u << 3
};

/* Read the texts behind the command's name. Complains, ending with `usage`, and returns false where they are not
   right. */
bool scene_arguments_read(const char *usage, unsigned takes, int count, char **texts, scene_arguments_t *arguments);

#endif
