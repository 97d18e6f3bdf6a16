/* bp_outside.h - what a plugin takes from outside of its host: the time of day, a file, a socket, a random device.
 *
 *     static bp_result_t ask(void *context, void *bytes, size_t room, size_t *size)
 *     {
 *         struct timespec now;
 *         timespec_get(&now, TIME_UTC);
 *         *size = sizeof now.tv_sec;
 *         memcpy(bytes, &now.tv_sec, *size);
 *         return BP_OK;
 *     }
 *
 *     const bp_outside_api *outside = (const bp_outside_api *)api->registry->find(host, BP_OUTSIDE_API, 1);
 *     bp_taking_i taking = {.struct_size = sizeof taking, .take = ask};
 *     time_t seconds;
 *     size_t size;
 *     outside->take(host, "weather.time", &taking, &seconds, sizeof seconds, &size);
 *
 * A step can be taken once more: after a return to an earlier moment it is computed again, a recording is played, a
 * version of a plugin is tried on a second host. All input of the step must then be the same. The world's state is;
 * data from outside is, where it is taken through this table: the host writes down the data, and returns that when the
 * step is taken again, without calling `take` of bp_taking_i.
 *
 * What this header does not do: it reads no clock and no file by itself; and what a plugin sends to the outside belongs
 * in a system that is output (BP_SYSTEM_OUTPUT).
 */
#ifndef BP_OUTSIDE_H
#define BP_OUTSIDE_H

#include "bp_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_OUTSIDE_API "bp_outside"

/* How something is taken from outside. */
typedef struct bp_taking_i {
    uint32_t struct_size; /* sizeof(bp_taking_i) */
    uint32_t padding;
    void *context;
    /* Write at most `room` bytes, and how many there are. Where the step is taken again this is not called. */
    bp_result_t (BP_CALL *take)(void *context, void *bytes, size_t room, size_t *size);
} bp_taking_i;

typedef struct bp_outside_api {
    uint32_t struct_size;
    uint32_t version;

    /* Take something from outside: `bytes` and `size` are what taking->take has written, now or when the step was taken
     * first; so is the result. `name` says what it is, and is the caller's own ("plugin.what"): of one name, things are
     * given in the order in which they were taken in the step, so units that run side by side need a name each. At most
     * 16 MiB a call (BP_ERROR_LIMIT).
     *
     * Between steps taking->take is called and nothing is written down: what the caller then changes in a world is
     * remembered as a change from outside. [job], in a step; [main] else */
    bp_result_t (BP_CALL *take)(bp_host_o *host, const char *name, const bp_taking_i *taking, void *bytes, size_t room,
                                size_t *size);
} bp_outside_api;

#ifdef __cplusplus
}
#endif
#endif
