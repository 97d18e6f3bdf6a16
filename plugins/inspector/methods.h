/* methods.h - all methods, by name.
 *
 * Not here: the answer for an unknown name; serve.c sends -32601 with the nearest name.
 */
#ifndef INSPECTOR_METHODS_H
#define INSPECTOR_METHODS_H

#include "ask.h"

/* Lists of methods, each ended by a method without a name. */
extern const method_t brp_methods[];       /* brp.c: the Bevy Remote Protocol */
extern const method_t brp_resources[];     /* brp_resources.c: its resources */
extern const method_t brp_watches[];       /* brp_watch.c: its streams */
extern const method_t backplane_methods[]; /* backplane.c: methods beyond it */
extern const method_t backplane_watches[]; /* backplane_watch.c: its stream */
extern const method_t backplane_host_methods[]; /* backplane_host.c: plugins, clocks, the past */
extern const method_t unit_methods[];           /* units.c: the units of a step, and schedule.* */
extern const method_t change_methods[];         /* change.c: changes that are tried, and reloads */
extern const method_t discover_methods[];  /* discover.c: rpc.discover, registry.schema */

/* Methods not called by name: the answers to POST /mcp and POST /points. */
extern const method_t mcp_method;
extern const method_t points_method;

/* The method of that name, NULL where there is none. */
const method_t *methods_find(const char *name);

/* The `index`-th of all methods, NULL past the last. */
const method_t *methods_at(uint32_t index);

/* The name of the method that is nearest to `name`, NULL where none is near. */
const char *methods_near(const char *name);

#endif
