/* storm_model.h - what a storm's host should have, and the comparison with what it has.
 *
 * The model knows, for each entity, world and component, whether it is there and what its values are by name; and what
 * a rollback and a snapshot would bring back. Rows, columns, slots and layouts are unknown to it.
 *
 * Inner to storm.c and storm_model.c.
 */
#ifndef TESTS_RELOAD_STORM_MODEL_H
#define TESTS_RELOAD_STORM_MODEL_H

#include "patch_lists.h"
#include "reload_support.h"
#include "storm.h"

enum { WORLDS = 2, ENTITIES = 16, TEXT = 16 };

/* What an entity may have. The first two are instances of one component. */
enum { PATCH, SECOND, FLAG, KEEPER, PLAIN, OWN, KINDS };
enum { OF_NONE, OF_PATCH, OF_KEEPER, OF_CRASHER };

typedef struct keeper_values_t {
    int32_t number;
    char text[TEXT];
} keeper_values_t;

/* An entity in a world. */
typedef struct place_t {
    bool has[KINDS], since[KINDS]; /* since: made after the commit of what is on probation */
    patch_values_t patch[2];
    keeper_values_t keeper;
    float x;
} place_t;

typedef struct state_t {
    bp_entity_t entities[ENTITIES];
    bool alive[ENTITIES];
    place_t places[ENTITIES][WORLDS];
    patch_list_t list;
    bool side; /* the second world is there */
} state_t;

typedef struct storm_t {
    const storm_host_t *how;
    rig_t rig;
    bp_host_o *host;
    const bp_api_t *api;
    bp_world_o *worlds[WORLDS];
    patch_file_t file;
    state_t now, before, kept; /* before: at the commit of what is on probation; kept: when the snapshot was taken */
    bp_snapshot_o *snapshot;
    bool kept_fits;            /* the host's worlds are made of what they were made of when it was taken */
    uint32_t probation;        /* OF_...: what was on probation last */
    int version, former;       /* of crasher; the one that a rollback brings */
    bool aside, armed;         /* crasher has crashed; will crash in its next step */
    bool ghosts;               /* it was not told of all deaths */
    uint64_t random, hash;
    uint32_t event;
    storm_count_t *counts;
    void (*give_up)(uint32_t event, const char *what);
} storm_t;

extern storm_t storm;
extern const char *const storm_types[KINDS];

/* The storm ends here, with this sentence. */
void storm_broken(const char *format, ...);

#define SAYS(condition, ...) do { if (!(condition)) storm_broken(__VA_ARGS__); } while (0)
#define DOES(call) SAYS((call) == BP_OK, "%s: %s", #call, bp_host_error(storm.host))

/* The name of the component in entities. */
const char *storm_name_of(uint32_t kind);

/* A value of the host's. */
float storm_x_of(uint32_t entity, uint32_t world);

/* All values, and how many instances there are, are those of the model. */
void storm_compare(void);

#endif
