/* scratch.h - a living host described in bytes, so that a helper process can build one like it from the declarations.
 *
 * Described are the plugins with the files that are at work and their options; the worlds with their components,
 * systems, rates and units; which combinations of components entities have; and the change: which plugins, and from
 * which files. Not described: values, entities, states, and what plugins have done from code. So a helper shows what
 * new code does with newly made instances, not with the instances of this host.
 *
 * The bytes are for a process of the same program on the same machine, and begin with the version of both.
 *
 * Not here: building from the description (engine/host_helper.c), starting the helper (trial.c).
 */
#ifndef HOST_RELOAD_SCRATCH_H
#define HOST_RELOAD_SCRATCH_H

#include "../base/bytes.h"
#include "reload.h"

#define SCRATCH_BEGINS "backplane scratch 3, " BACKPLANE_VERSION

enum {
    SCRATCH_GUARDED = 1u << 0, /* flags of a description: under the crash guard */
    SCRATCH_LOSSY = 1u << 1,   /* values that cannot be brought back may be lost */
    SCRATCH_MOST = 512,        /* combinations of components that are described of a world */
    SCRATCH_ROWS = 8           /* entities made of each */
};

/* Append the description of the host and of a change that has been read; bytes->failed where memory is lacking.
 * [main] */
void scratch_describe(bytes_t *bytes, const reload_t *reload, const reload_change_t *change, uint32_t deadline_ms);

/* Options, as other descriptions have them too. */
void scratch_put_options(bytes_t *bytes, const bp_option_t *options, uint32_t count);

/* Read up to `room` of them, and pass over the others. Returns how many. Texts lie in the description. */
uint32_t scratch_read_options(reader_t *reader, bp_option_t *options, uint32_t room);

/* A plugin as it is described; the options given to it follow, and then those that come with the change. Texts lie in
 * the description. */
typedef struct scratch_plugin_t {
    const char *name, *path;
    const char *file; /* the library that was made of the source at `path`; "": `path` is a plugin's file itself */
    const char *copy; /* "" where the file itself was opened */
    bool comes;       /* other options come with the change */
} scratch_plugin_t;

scratch_plugin_t scratch_read_plugin(reader_t *reader);

#endif
