/* vote.h - asking a plugin that has a say in changes of plugins (bp_vote.h).
 *
 * Not here: making the change (reload.h).
 */
#ifndef HOST_RELOAD_VOTE_H
#define HOST_RELOAD_VOTE_H

#include "reload.h"

/* May this change, which has been read, be prepared now? Yes where no plugin votes. [main] */
bool vote_may_begin(const reload_change_t *change);

/* Tell the voter that the change waits no longer, and will not be prepared. [main] */
void vote_withdraw(const reload_change_t *change);

/* Have a change voted on that has been prepared, or could not be (`mine`). Returns the outcome of the vote; the error
 * says why where that is not BP_OK. [main] */
bp_result_t vote_on(const reload_change_t *change, bp_result_t mine);

#endif
