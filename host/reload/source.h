/* source.h - plugins that are given as their source: compiled into a library of this host's own, which is then a
 * plugin's file like any other.
 *
 * `plugins = ./spin.c` in an ini: the compiler of the source's language makes a library in a temporary folder of this
 * process, and a list of the files that it has read, for build.h to watch. The plugin is known by the path of its
 * source (plugin_t.path); what is opened, watched for its being finished, tried and carried over is the library
 * (plugin_t.file). Compilers and their flags are commands of the system's shell that the embedder or the ini sets: cc,
 * cflags, cxx, cxxflags, rustc, rustflags.
 *
 * The headers of the contract are found beside this program or this library, in an installed tree or in the source
 * tree; else by pkg-config.
 *
 * Not here: compiling beside the host when a source is saved (build.h); plugins of several source files.
 */
#ifndef HOST_RELOAD_SOURCE_H
#define HOST_RELOAD_SOURCE_H

#include "../os/files.h"
#include "../plugin/loader.h"

enum {
    SOURCE_CC, SOURCE_CFLAGS, SOURCE_CXX, SOURCE_CXXFLAGS, SOURCE_RUSTC, SOURCE_RUSTFLAGS, SOURCE_KEYS,
    SOURCE_SETTING = 512,  /* bytes of a setting's text */
    SOURCE_COMMAND = 8192, /* bytes of a command: no more can be run on Windows */
    SOURCE_OUTPUT = 16 * 1024 /* bytes kept of what a compiler says, from its beginning */
};

/* The names of the settings, as an ini has them, by SOURCE_...; NULL behind the last. */
extern const char *const source_keys[];

/* The commands and flags of the compilers; "": the default. */
typedef struct source_settings_t {
    char text[SOURCE_KEYS][SOURCE_SETTING];
} source_settings_t;

/* A source that has been compiled, or that the compiler has refused. */
typedef struct source_made_t {
    char *source, *library;
    file_stamp_t stamp; /* of the source, before the compiler read it last */
} source_made_t;

typedef struct sources_t {
    memory_t memory;
    loader_t *loader;
    source_settings_t settings;
    char *folder; /* of the libraries; NULL until there is one */
    temporary_t owner;
    source_made_t *made;
    uint32_t count, capacity;
} sources_t;

void sources_init(sources_t *sources, loader_t *loader);
void sources_free(sources_t *sources); /* removes what has been made */

/* Is it the path of a source, by its ending: .c, .cc, .cpp, .cxx, .rs? [any] */
bool source_is(const char *path);

/* Set what a compiler is called with, by a key of source_keys; "" is the default again. Errors: argument. [main] */
bp_result_t sources_set(sources_t *sources, const char *key, const char *text);

/* Compile a source and wait for the end of that; the library's path goes to *library, good until sources_free. What the
 * compiler says goes to the log, as it says it; where it fails its first line with an error is in the sentence too, and
 * a library that was made before stays. [main] */
bp_result_t sources_compile(sources_t *sources, const char *path, const char **library);

/* The command that compiles a source which has been compiled before, for the system's shell. Errors: limit, not found.
 * [main] */
bp_result_t sources_command(sources_t *sources, const char *path, char *command, size_t size);

/* Note that a compiler begins to read the source now. [main] */
void sources_begin(sources_t *sources, const char *path);

/* Has the source been written since a compiler began to read it? [main] */
bool sources_is_stale(const sources_t *sources, const char *path);

/* Hand the lines of a compiler to the log, as they are. [main] */
void source_tell(base_t *base, const char *output);

/* Find the folder with the headers of the contract, without a separator at its end: beside the program or the library,
 * in an installed tree or in a source tree. [any] */
bool source_headers(char *folder, size_t size);

#endif
