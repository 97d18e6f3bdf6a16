/* vote.h - whoever has a say in changes of plugins is asked (bp_vote.h).
 *
 * What it does not do: it makes no change.
 */
#ifndef HOST_RELOAD_VOTE_H
#define HOST_RELOAD_VOTE_H

#include "reload.h"

/* May this change, which has been read, be prepared now? Yes where nobody votes. [main] */
bool vote_may_begin(const reload_change_t *change);

/* It waits no longer, and will not be prepared. [main] */
void vote_withdraw(const reload_change_t *change);

/* It is prepared, or could not be. What it comes to; the error says why where that is not BP_OK. [main] */
bp_result_t vote_on(const reload_change_t *change, bp_result_t mine);

#endif
