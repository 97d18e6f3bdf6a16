/* storm_model.h - what a storm's host should have, and the comparison with what it has.
 *
 * The model knows, for each entity, world and component, whether it is there and what its values are by name; and what
 * a rollback and a snapshot would bring back. Rows, columns, slots and layouts are unknown to it.
 *
 * Inner to storm.c and the files beside it; a function is in the file that its paragraph names.
 */
#ifndef TESTS_RELOAD_STORM_MODEL_H
#define TESTS_RELOAD_STORM_MODEL_H

#include "../fixtures/den_data.h"
#include "../fixtures/gale_data.h"
#include "patch_lists.h"
#include "reload_support.h"
#include "storm.h"

/* MADE: by embedders; the others are children. CROWD and the place behind it: for many (storm_crowd.c). */
enum { WORLDS = 4, MADE = 14, ENTITIES = 24, CROWD = ENTITIES, CROWDS = 2, PLACES = CROWD + CROWDS, TEXT = 16 };

/* What an entity may have. The first two are instances of one component, DEN and LAIR of another; the last two are the
 * crasher's. */
enum { PATCH, SECOND, FLAG, KEEPER, GUST, EDDY, DEN, LAIR, PLAIN, OWN, KINDS };
enum { OF_NONE, OF_PATCH, OF_KEEPER, OF_GALE, OF_DEN, OF_CRASHER };

typedef struct keeper_values_t {
    int32_t number;
    char text[TEXT];
} keeper_values_t;

typedef struct gust_t {
    int32_t power;
    uint32_t heard;
    int64_t sum;
    bp_entity_t child;
    int32_t trail[GALE_LAST];
    uint32_t trail_count;
} gust_t;

/* What the storm has written into the plugin's file: numbers, defaults, the order of fields, and how its state goes
 * over. */
typedef struct gale_t {
    int32_t rate, limit, modulus, initial;
    uint32_t order, extra, form, keeps;
} gale_t;

/* What the storm has written into the plugin den: how it keeps its instances, and how they go over (den_data.h). */
typedef struct den_t {
    int32_t grows, initial;
    uint32_t lies, order, number_type, extra, form, keeps, refuses;
    bool saves, turns, collects;
} den_t;

typedef struct den_values_t {
    double number, weight, extra;
    bp_entity_t friend;
    char text[TEXT];
} den_values_t;

/* What a world itself has. */
typedef struct world_state_t {
    uint32_t steps, present;  /* the tally */
    bool recounted;           /* the census came back with a state that has been told of some twice (docs/systems.md) */
    bool unknown;             /* it has written `present` since */
    uint32_t messages;        /* of the last step */
    int64_t said;             /* the sum of what they say */
} world_state_t;

/* An entity in a world. */
typedef struct place_t {
    bool has[KINDS], since[KINDS]; /* since: made after the commit of what is on probation */
    patch_values_t patch[2];
    keeper_values_t keeper;
    gust_t gust;
    den_values_t den[2];
    float x;
} place_t;

typedef struct state_t {
    bp_entity_t entities[ENTITIES];
    bool alive[ENTITIES];
    place_t places[PLACES][WORLDS];
    uint32_t crowd[CROWDS];               /* entities that have the place CROWD, and the one behind it */
    world_state_t own[WORLDS];
    patch_list_t list;
    gale_t gale;
    den_t den;
    bool there[WORLDS];                   /* the first one always */
    uint32_t order[WORLDS], order_count;  /* of the worlds in the host */
} state_t;

#define EACH_WORLD(w) for (uint32_t w = 0; w < WORLDS; w++) if (storm.now.there[w])

typedef struct storm_t {
    const storm_host_t *how;
    rig_t rig;
    bp_allocator_i in_turn;    /* the rig's heap, for several threads */
    bp_host_o *host;
    const bp_api_t *api;
    bp_world_o *worlds[WORLDS];
    patch_file_t file;
    state_t now, before, kept; /* before: at the commit of what is on probation; kept: when the snapshot was taken */
    state_t written;           /* when the worlds were saved */
    bool written_fits;         /* their file is whole, for all that is known */
    bool broken;               /* a request for memory or a call of the system fails now */
    uint64_t refused;          /* requests for memory, before */
    uint32_t folders;          /* that copies of plugins lie in, beside the first: where that one has failed */
    bp_snapshot_o *snapshot;
    bool kept_fits;            /* the host's worlds are made of what they were made of when it was taken */
    uint32_t probation;        /* OF_...: what was on probation last */
    int version, former;       /* of crasher; the one that a rollback brings */
    bool aside, armed;         /* crasher has crashed; will crash in its next step */
    bool ghosts;               /* it was not told of all deaths */
    bool died;                 /* an entity, in the last step or since */
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

/* A random number of the event; a living entity, or ENTITIES; a world that is there (storm.c). */
uint32_t storm_below(uint32_t bound);
uint32_t storm_some_entity(void);
uint32_t storm_some_world(void);

/* Take a step of one world; WORLDS: of all. `stepped`: the host has taken it. (storm.c) */
void storm_step_of(uint32_t only);
void storm_stepped(uint32_t only);
void storm_share_work(void); /* before a step: threads take part, however little there is to do */

/* Hosts beside the host (storm_apart.c). `failed`: memory has lacked, or a call of the system has failed; `renewed`:
 * the host is made of other parts; `look`: after each event and each step. */
void storm_apart_open(void);
void storm_apart_failed(void);
void storm_apart_renewed(void);
void storm_apart_look(void);
void storm_clone(void);
void storm_try(void);
void storm_step_twice(void);
void storm_draft(void);
bool storm_drafts(void); /* is there a draft, which goes on in each poll? */
void storm_record(void);
void storm_audit(void);

/* May entities have it now? Is that plugin on probation? (storm.c) */
bool storm_may_have(uint32_t kind);
bool storm_on_probation(uint32_t what);

/* What can fail has done nothing where it does, for want of memory or of a call. True: it has gone through.
 * STORM_INSIST does it until it has. (storm.c) */
bool storm_done(bp_result_t result, const char *what);
#define STORM_INSIST(call) do { storm_break(60); } while (!storm_done((call), #call))

/* Entities and values, in the host and in the model (storm_entities.c). */
void storm_create(void);
void storm_destroy(void);
void storm_add_or_remove(void);
void storm_write_value(void);

/* Of the model alone (storm_entities.c): a component comes or goes, an entity dies; `storm_free` is a place for one
 * more, or ENTITIES. */
void storm_put_in(uint32_t entity, uint32_t world, uint32_t kind);
void storm_take_out(uint32_t entity, uint32_t world, uint32_t kind);
void storm_die(uint32_t entity);
uint32_t storm_free(void);

/* Plugins loaded anew, worlds that end and begin (storm_worlds.c). `make`: a world in which nothing is used yet. */
void storm_unload_and_load(void);
void storm_end_or_begin_world(void);
void storm_make_world(uint32_t world);
void storm_use_all(uint32_t world);

/* A fixture's file, changed at its marks, and put in the plugin's place (storm_fixture.c). A text has STORM_MARKED
 * bytes. */
enum { STORM_MARKED = 16 };
void storm_fixture_open(const char *fixture);
void storm_fixture_put(const void *mark, size_t length, const void *bytes, size_t size);
void storm_fixture_number(uint32_t mark, uint32_t number);
void storm_fixture_wide(uint64_t mark, uint64_t number);
void storm_fixture_text(const char *mark, const char *text);
void storm_fixture_close(const char *as);

/* The plugin gale, and what a step of it comes to (storm_gale.c). */
void storm_gale_open(void);
void storm_gale_put(void);                  /* its file, as the model has it */
gale_t storm_gale_next(void);
bool storm_gale_like(const gale_t *a, const gale_t *b); /* declare the same */
void storm_gale_write(uint32_t entity, uint32_t world);
void storm_gale_step(uint32_t world);
void storm_gale_born(void);                 /* after a step of any worlds: children are taken into the model */
void storm_gale_compare(uint32_t entity, uint32_t world);
void storm_gale_compare_world(uint32_t world);

/* The plugin den (storm_den.c). */
void storm_den_open(void);
void storm_den_put(void);
bool storm_den_like(const den_t *a, const den_t *b);
void storm_den_begin(den_values_t *values); /* what a new instance has */
void storm_den_reload(void);
void storm_den_back(void);                  /* the version before, of the state storm.before */
void storm_den_write(uint32_t entity, uint32_t world, uint32_t kind);
void storm_den_step(uint32_t world);
void storm_den_dig(uint32_t entity, uint32_t world, int32_t power);
void storm_den_compare(uint32_t entity, uint32_t world, uint32_t kind);

/* A reload of the plugin that the storm has put in place (storm_reload.c): possible, by what the model says when it is
 * over? True: it has gone through; then what may be taken back begins. */
void storm_reload_open(void);
bool storm_reload(const char *name, bool (*possible)(void));
void storm_begin_probation(uint32_t what);
void storm_reload_patch(void);
void storm_reload_keeper(void);
void storm_reload_gale(void);
void storm_take_back(void);

/* The plugin crasher (storm_crasher.c): which version is there; where it is to crash, and how; `after_crash`: what a
 * crash in a step has left, where the version before may have come back. */
int storm_crasher_version(void);
void storm_tell_crasher(const char *where, const char *how);
void storm_reload_crasher(void);
void storm_after_crash(bool may_come_back);

/* The past (storm_past.c): snapshots, going to moments and branches. `stepped`: after each call that takes a step;
 * `renewed`: the host is made of other parts, or has been brought back. */
void storm_take_snapshot(void);
void storm_bring_back(void);
void storm_remember(void);
void storm_visit(void);
bool storm_past_stepped(uint32_t world);
void storm_past_remember(void);
void storm_past_open(void);
void storm_past_look(void);
void storm_past_renewed(void);
bool storm_past_is_behind(void);    /* is the host at a moment that is not the last one? */
/* The host has put down what it is made of, and begins a past that is to begin; or, where something has `failed`, it
 * begins that perhaps with the next step, and forgets it here. */
void storm_past_settled(bool failed);
void storm_past_doubt(void);        /* perhaps what came from outside could not be kept */
bool storm_past_reaches_back(void); /* is there a moment before this one? */

/* The number of a component in a world. */
uint32_t storm_key(uint32_t world, uint32_t kind);

/* A file of the storm's; good until the next call. */
const char *storm_path(const char *name);

/* All worlds into a file, and out of it (storm_files.c). */
void storm_save(void);
void storm_restore(void);
void storm_spawn(void);

/* Something fails in what comes next, perhaps; storm_mend says whether it has. */
void storm_break(uint32_t most); /* within so many requests */
void storm_break_threads(void);  /* what a host needs at its beginning */
bool storm_mend(void);

/* Handles that are kept (storm_handles.c). `break`: an entity, or with ENTITIES all, has lost the component for a
 * while; `alone`: the plugin gale has gone. */
void storm_handles_open(void);
void storm_handles_make(uint32_t world);
void storm_handles_forget(uint32_t world);
void storm_handles_died(uint32_t entity);
void storm_handles_break(uint32_t entity, uint32_t world);
void storm_handles_went_back(void);
void storm_handles_refer(uint32_t entity, uint32_t world);
void storm_handles_use(void);
void storm_handles_alone(void);
void storm_handles_came_again(uint32_t first, uint32_t last); /* kinds, of a plugin that was unloaded */

/* Have two lists the same fields, in the same order? */
bool storm_same_fields(const patch_list_t *a, const patch_list_t *b);

/* Write the place of an entity into its component `mark`, by which it is found when its world has been restored. */
void storm_mark(uint32_t entity);

/* More for the hash of the storm. */
void storm_mix(const void *bytes, size_t size);

/* A value of the host's. */
float storm_x_of(uint32_t entity, uint32_t world);

/* Many entities that are alike (storm_crowd.c). */
void storm_crowd(void);
void storm_crowd_compare(void);

/* The patches of an entity are those of a place; `mix`: they count for the hash of the storm (storm_model.c). */
void storm_compare_patches(bp_entity_t entity, uint32_t place, uint32_t world, bool mix);

/* All values, and how many instances there are, are those of the model. */
void storm_compare(void);

#endif
