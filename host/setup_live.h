/* setup_live.h - the keys of [host] about crashes and hot reload.
 *
 * Inner to setup*.c.
 */
#ifndef HOST_SETUP_LIVE_H
#define HOST_SETUP_LIVE_H

#include "setup_ini.h"

/* The crash guard and hot reload as [host] asks for them; and what this has turned on, off again. */
bp_result_t setup_live(setup_t *s);
void setup_end_live(setup_t *s);

#endif
