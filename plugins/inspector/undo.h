/* undo.h - values that a call has replaced, put back where the call fails.
 *
 * A call that sets several values is refused at the first that does not fit; the earlier ones are what they were then.
 *
 * Not here: components that were added, and entities that were made; the methods that do so take those back.
 */
#ifndef INSPECTOR_UNDO_H
#define INSPECTOR_UNDO_H

#include "ask.h"

/* Remember the present value of a property that is about to be set; false, with the error left, when out of memory. */
bool undo_note(ask_t *ask, const bp_path_t *path);

/* The call is over: put the values back where it has failed, the last one first, and forget them. */
void undo_end(ask_t *ask);

#endif
