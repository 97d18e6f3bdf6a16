/* bp_clock.h - stopping worlds, letting them go on, single steps, and how fast a world follows real time.
 *
 *     const bp_clock_api *clocks = (const bp_clock_api *)api->registry->find(host, BP_CLOCK_API, 1);
 *     clocks->stop(world);
 *     clocks->step(world, 10);
 *
 * A stopped world takes no step: bp_world_step and bp_host_step pass it over and succeed, so that a debugger, an
 * inspector or a system can hold a world in any program. Steps that were granted to the world are taken by those calls,
 * one in each; after the last one it is passed over again.
 *
 * What this header does not do: it takes no step itself, and it does not stop plugins' threads.
 */
#ifndef BP_CLOCK_H
#define BP_CLOCK_H

#include "bp_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_CLOCK_API "bp_clock"

/* How a world's clock stands. */
typedef struct bp_clock_t {
    uint32_t struct_size; /* sizeof(bp_clock_t) */
    uint32_t stopped;     /* 1: it takes no steps but those granted */
    uint64_t granted;     /* steps that it may still take though stopped */
    double speed;         /* of programs that let worlds follow real time: 2 is twice as fast. 1 at first */
} bp_clock_t;

/* All entries: [main], also from within a step: what they say holds from the next step on. Verbs that change nothing
 * (`get`, `set`, `count`, `save` and `load` of a state), and those of a version that a reload prepares, set no clock:
 * nothing happens then, and bp_error_api.last says so. */
typedef struct bp_clock_api {
    uint32_t struct_size;
    uint32_t version;

    /* Write clock->struct_size bytes, which the caller has set to its sizeof. */
    void (BP_CALL *read)(bp_world_o *world, bp_clock_t *clock);

    /* Stop the world, and take back what was granted; let it go on. */
    void (BP_CALL *stop)(bp_world_o *world);
    void (BP_CALL *start)(bp_world_o *world);

    /* Stop the world and grant it `count` more steps. */
    void (BP_CALL *step)(bp_world_o *world, uint64_t count);

    /* From 1/1,000,000 to 1,000,000; else BP_ERROR_RANGE, and the speed stays. BP_ERROR_STATE as above. */
    bp_result_t (BP_CALL *set_speed)(bp_world_o *world, double speed);
} bp_clock_api;

#ifdef __cplusplus
}
#endif
#endif
