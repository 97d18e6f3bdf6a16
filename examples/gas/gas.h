/* gas.h - what the files of the plugin gas share. */
#ifndef GAS_GAS_H
#define GAS_GAS_H

#include <bp_plugin.h>

#include <stdbool.h>

/* The options of the plugin, in the order of declaration. */
enum { GAS_COUNT, GAS_BOX, GAS_FILLED, GAS_SPEED, GAS_RADIUS, GAS_STIFFNESS, GAS_SEED, GAS_SVG };

/* The columns of the component particle. */
struct particle {
    bp_dvec3_t *position;
    bp_dvec3_t *velocity;
    const uint64_t *number;
};

/* A particle as forces see it. */
typedef struct gas_body_t {
    bp_dvec3_t position;
    uint64_t number;
} gas_body_t;

/* The system in one world: room for one step. */
typedef struct gas_t {
    gas_body_t *bodies;     /* the bodies of this world first, then copies of other ranks' bodies */
    gas_body_t *near;       /* neighbours of one body */
    uint32_t *cell_of;      /* of each body */
    uint32_t *order;        /* bodies by their cells */
    uint32_t *first;        /* where each cell begins in `order` */
    uint32_t own, count, room, cells, cell_room;
    bool out_of_memory;     /* the log has been told that memory was missing */
    bool stepped;
} gas_t;

/* Compute the force on each of the first `own` bodies, from all bodies nearer than `radius`, into `forces`; false where
 * there is no memory. The cells of the grid are found anew. */
bool gas_forces(bp_system_t *s, gas_t *gas, bp_dvec3_t *forces);

/* Draw all particles of all ranks to the file of the option svg, each in the colour of its rank. */
void gas_draw(bp_system_t *s);

#endif
