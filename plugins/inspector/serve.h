/* serve.h - the inspector's work on the stepping thread between two steps.
 *
 * Not here: methods (methods.h).
 */
#ifndef INSPECTOR_SERVE_H
#define INSPECTOR_SERVE_H

#include "ask.h"

/* Go on with requests, streams and sets until `budget_ns` have passed; at least one thing is done. Where work is left
 * the function asks for another turn. */
void serve_turn(inspector_t *in, uint64_t budget_ns);

/* Drop everything, after the server has stopped. */
void serve_end(inspector_t *in);

#endif
