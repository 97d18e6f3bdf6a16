/* lookout.h - what is looked at around calls of a plugin on trial: memory beside the rows, and rows that a call
 * may not write.
 *
 * In the copy of a trial, or in its helper. The columns of the worlds are laid between closed pages (store/fence.h);
 * the room behind those for which there are none is filled with a pattern (store/slack.h). During a call of a candidate
 * the columns that the call may not write are closed to writing, in turn. A call may write what its unit has declared;
 * the rows of its own component that it is told of; what it was handed for writing by a query or by ref_write; and what
 * the host writes for it.
 *
 * To look at a call takes longer than most calls. So after the first LOOKOUT_ALL calls fewer are looked at: of one
 * kind, of a component or system, with rows or without, the first LOOKOUT_FIRST, and then each LOOKOUT_EACH-th. Where
 * there are very many worlds or combinations of components the trial comes to its end all the same. Crashes are found
 * in all calls. A verb that is called seldom may do harm in any world: around the first LOOKOUT_WHOLE calls of a kind
 * of the candidates that are handed no rows everything is looked at.
 *
 * Not here: settings of the process (plugin/verb_call.c); values (reload_prepare).
 */
#ifndef HOST_RELOAD_LOOKOUT_H
#define HOST_RELOAD_LOOKOUT_H

#include "../store/fence.h"
#include "../store/slack.h"
#include "reload.h"

enum { LOOKOUT_ALL = 512, LOOKOUT_FIRST = 128, LOOKOUT_EACH = 64, LOOKOUT_WHOLE = 32, LOOKOUT_KINDS = 256 };

/* Calls of one kind. */
typedef struct lookout_kind_t {
    const plugin_t *plugin;
    const struct component_t *component;
    const struct system_t *system;
    uint32_t rows;  /* CALL_... */
    uint32_t calls; /* so far; 0: this is no kind's yet */
} lookout_kind_t;

typedef struct lookout_t {
    reload_t *reload;
    plugin_t *const *candidates;
    uint32_t count;
    slack_t slack;
    fence_t fence;
    call_watch_t watch;
    handing_t handing;
    uint64_t all_calls; /* so far */
    lookout_kind_t kinds[LOOKOUT_KINDS]; /* by a hash; where that part is full, kinds are counted together */
    bool looks, whole; /* at the present call; at all columns and runs */
} lookout_t;

/* Look at calls of plugins from now on. `candidates` must stay. Between calls. */
void lookout_begin(lookout_t *lookout, reload_t *reload, plugin_t *const *candidates, uint32_t count);

/* The change has been made: lay the columns that came with it. A part of the places was kept for them. */
void lookout_lay_changed(lookout_t *lookout);

/* Lay the columns that have moved, or are new, between closed pages. To be called now and then, between calls.
 * lookout_lay_in: those of one world, where only that one has been worked on. */
void lookout_lay(lookout_t *lookout);
void lookout_lay_in(lookout_t *lookout, world_t *world);

void lookout_end(lookout_t *lookout);

#endif
