/* setup_again.h - an ini that is done anew: what its files share.
 *
 * Inner to setup_again.c and setup_leaving.c.
 */
#ifndef HOST_ENGINE_SETUP_AGAIN_H
#define HOST_ENGINE_SETUP_AGAIN_H

#include "setup.h"

/* A component or a system that has been brought into a world that was there before. */
typedef struct used_t {
    bp_world_o *world;
    const setup_change_t *change;
} used_t;

/* The entities of a world that ends. */
typedef struct ending_t {
    bp_world_o *world;
    bp_entity_t *entities;
    uint32_t count, room;
} ending_t;

typedef struct again_t {
    setup_t s;
    setup_ini_t *was;
    setup_changes_t changes;
    used_t *used;
    uint32_t used_count, used_capacity;
    ending_t *endings;
    uint32_t ending_count, ending_capacity;
    char **units;       /* texts to come, one for each change */
    jobs_t *pool;       /* threads to come; NULL: none are needed, or they are there */
    bool reloaded;      /* plugins with other options have been reloaded, which can be taken back */
} again_t;

/* Put the file and the line (0: the file alone) before the error's sentence; returns `result`. */
bp_result_t again_line(again_t *a, uint32_t line, bp_result_t result);

/* The world of that name; NULL where there is none. */
bp_world_o *again_world(const again_t *a, const char *name);

/* Mark what is to go out of every world, or take the marks away. */
void setup_mark_leaving(again_t *a, bool leaving);

/* Can every world step without the parts that go, and does no other plugin need them? On an error nothing has
 * changed. */
bp_result_t setup_check_leaving(again_t *a);

/* Take the memory that leaving needs, in worlds as they are now. Errors: memory. */
bp_result_t setup_make_room_to_leave(again_t *a);

/* Take out what goes. Preconditions: room has been made, and what goes is marked. Cannot fail. */
void setup_take_out(again_t *a);

#endif
