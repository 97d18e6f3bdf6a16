/* ahead.h - columns of a change that are made ready between steps, before the change is made.
 *
 * Converting the columns of a million instances takes longer than a frame. So, when a trial has passed, the columns
 * that the change will need are made beside those at work: memory is allocated and touched, and values are converted, a
 * slice of AHEAD_SLICE_NS between any two steps, on the threads of the host. A reload by hand, which waits for its
 * trial, does so while it waits (trial_wait). The change itself then takes these columns
 * over and converts again only those blocks of rows that have been written since, as the stamps of the world say
 * (store/stamps.h).
 *
 * The copy of the process in which the change was tried knows which columns these are: it has loaded the new version,
 * and sends the declarations over its pipe (ahead_tell). No code of the new version runs here before the change. Where
 * nothing is tried, the version is opened here for its declarations, and closed again (reload_look_ahead): the
 * library's constructors run twice then.
 *
 * A column that was made ready is only used where it matches: after a change of declarations, of the layout or of the
 * run it is freed, and the change makes the column itself. So the data that the copy has sent influences only the time
 * that the change takes.
 *
 * Runs whose columns share a block (run.h), and those of fewer than AHEAD_LEAST rows, get all their columns anew in the
 * change; of these only memory is made ready: as much as their blocks will need is had and touched
 * (base/superblocks.h).
 *
 * Not here: all runs, where those of the change have fewer than AHEAD_ROWS rows together, and storage of a plugin's
 * own: the change makes both.
 */
#ifndef HOST_RELOAD_AHEAD_H
#define HOST_RELOAD_AHEAD_H

#include "change.h"

enum {
    AHEAD_SLICE_NS = 2000000,
    AHEAD_ROWS = 16384,
    AHEAD_LEAST = 512,
    AHEAD_TOLD = 16 * 1024 /* bytes of declarations at most; columns beyond are made in the change */
};

/* Write down which fields the prepared change makes new columns for. Returns the number of bytes, `room` at most. In
 * the copy of a trial. */
size_t ahead_tell(const reload_change_t *change, char *text, size_t room);

/* Do the change's components have enough rows? */
bool ahead_pays(const reload_change_t *change);

/* Begin to make ready the columns that a copy of this process has sent; any bytes may come. Does nothing where memory
 * is lacking. [main], between steps */
void ahead_begin(reload_change_t *change, const char *told, size_t size);

/* Go on for AHEAD_SLICE_NS. False: all is ready, or a value does not fit, so that the change is to be made, or refused,
 * now. [main], between steps */
bool ahead_slice(reload_change_t *change);

/* Is something ready for field `number` of the next version of a component? [main] */
bool ahead_has(const reload_change_t *change, const component_t *slot, uint32_t number);

/* The memory of the column that is ready for field `number` of the manager's new version, in a run, whose key is `key`;
 * NULL where none is. The column has as much room as the run; the shape of the run takes it over. Precondition: columns
 * were made ready for the change (change->ahead). [main] */
run_made_t *ahead_find(const reload_change_t *change, const world_change_t *w, const manager_change_t *m,
                       const run_t *run, uint32_t key, uint32_t number);

/* The same column, when a shape has taken its memory over; NULL where none was. [any] */
const ahead_column_t *ahead_taken(const reload_change_t *change, const run_t *run, uint32_t key, uint32_t number);

/* From row `row` on, of `count`: the first stretch of rows with values that are not ready, or are out of date. Returns
 * its first row, and in *length how many; row + count where there is none. `old`: the number of the old column in the
 * run. [any] */
uint32_t ahead_next_stale(const ahead_column_t *column, const run_t *run, uint32_t old, uint32_t row, uint32_t count,
                          uint32_t *length);

/* Free the columns that no shape has taken over. May be called at any time. */
void ahead_end(reload_change_t *change);

/* A world ends: nothing is made ready for it any more. */
void ahead_forget_world(reload_change_t *change, const world_t *world);

#endif
