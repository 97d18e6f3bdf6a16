/* serve.h - what the stepping thread does for the inspector between two steps.
 *
 * What it does not do: it knows no method (methods.h).
 */
#ifndef INSPECTOR_SERVE_H
#define INSPECTOR_SERVE_H

#include "ask.h"

/* Go on with requests, streams and sets until `budget_ns` have passed; at least one thing is done. Calls for another
 * turn where something is left. */
void serve_turn(inspector_t *in, uint64_t budget_ns);

/* Drop everything, the server having stopped. */
void serve_end(inspector_t *in);

#endif
