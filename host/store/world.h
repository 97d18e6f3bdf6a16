/* world.h - a world: its managers, its entity index and the rows of its entities.
 *
 * Each world has its own managers, prototypes and runs; entities are the host's, and one entity may have components in
 * several worlds. A record says where an entity is in this world: its generation, its prototype, its row (records.h). A
 * record with another generation than the entity's belongs to another entity.
 *
 * Invariants
 *   - record r of a living entity e: r.generation is e's, run(r.prototype)->entities[r.row] is e;
 *   - a row's entity is alive, or {0} (a hole: its entity died or has moved to another run); the last row's is alive;
 *   - prototype 0 has no run: an entity without components has a cleared record or none.
 *
 * Not here: steps (step/), living entities (entities.h; destruction.h tells a world of deaths).
 */
#ifndef HOST_STORE_WORLD_H
#define HOST_STORE_WORLD_H

#include "../plugin/registry.h"
#include "../plugin/verbs.h"
#include "entities.h"
#include "../base/leavings.h"
#include "deaths.h"
#include "prototypes.h"
#include "records.h"
#include "run.h"
#include "spots.h"
#include "unended.h"

/* Rows that went while the plugin of their component was set aside, so that it was not told: copies with all of the
 * manager's columns (hooks.h). There are at most as many as there were rows, since none can come meanwhile. */
typedef struct untold_rows_t {
    run_t *rows;
    uint32_t key, prototype; /* as told */
} untold_rows_t;

typedef struct untold_t {
    untold_rows_t *items;
    uint32_t count, capacity;
} untold_t;

/* A component manager in a world. Never moves. */
typedef struct manager_t {
    verb_manager_t verb; /* what the plugin's verbs are called with */
    uint32_t number;     /* in its world */
    component_t *component;
    const field_t *const *columns; /* the fields stored in rows: the declared ones, or the slot of own storage */
    const field_t **column_list;
    uint32_t column_count;
    uint32_t hidden; /* how many of `columns`, the last ones, are columns of the version before, while the present one
                        is on probation */
    slot_stamps_t stamps; /* storage of its own: when instances were written last */
    uint32_t keepers, row_keepers; /* users of bp_changes; those that keep stamps of the world's rows too */
    listener_t listener;  /* of deaths, where its component asks for them */
    unended_t unended;    /* storage of its own: instances of the state that are still to be ended */
    untold_t untold;      /* declared: rows of which the state has not been told that they went */
    bool started;
    bool leaving;         /* about to be dropped: checks treat the world as if it had no such manager */
    uint32_t written_as;  /* its number in the snapshot that is being written, BP_NONE: it is not written down */
} manager_t;

/* The new places of the fields of a component after a change of its declaration, for references that were made
 * before. */
enum { WORLD_MOVES = 64, FIELD_GONE = 0xff };

typedef struct field_moves_t {
    uint32_t version; /* the version that all runs of the world got with the change */
    uint32_t manager;
    uint8_t to[REGISTRY_MAX_FIELDS]; /* the new number of each field, by its old one; FIELD_GONE: the field has gone, or
                                        is of another type */
} field_moves_t;

/* Slots of a manager with storage of its own that do not lie in the world's columns. While a world has one, the slots
 * of that manager's instances are asked for and moved there, and its columns are left alone. */
typedef struct world_slots_i {
    uint32_t manager;
    void *context;
    uint32_t *(*slots)(void *context, const run_t *run, uint32_t key); /* of each row; NULL: none */
} world_slots_i;

enum {
    WORLD_MAX_MANAGERS = 65535,
    WORLD_LAYOUT_RANGES = 16,
    WORLD_GC_ROWS_ALIVE = 4,     /* random collection of a run ends at so many living rows in a row, ... */
    WORLD_GC_RANDOM = 64,        /* ... or when it has found so many holes */
    WORLD_GC_RUNS = 64,          /* runs with holes visited in one step, and of more than these ... */
    WORLD_GC_RUNS_SHARE = 256,   /* ... one in so many */
    WORLD_GC_ROWS = 4096,        /* rows that may move in one step, all runs together, ... */
    WORLD_GC_OWN_SHARE = 384,    /* ... beside one in so many of each run */
    WORLD_GC_FEW_SHARE = 128,    /* one hole in so many rows is left to random collection, ... */
    WORLD_GC_KEPT_SHARE = 8,     /* ... and one in so many to entities to come, while others die */
    WORLD_TRIM_VISITS = 64,      /* one run in so many is looked at in a step, whether it has too much room */
    WORLD_TRIM_AFTER = 100,      /* steps that a run may have too much room, and that scratch waits for the next call */
    WORLD_TRIM_SHARE = 64,       /* one byte in so many of the world's may be given back in a step, and ... */
    WORLD_TRIM_BYTES = 1 << 20   /* ... so many */
};

/* Why the rows of a world must stay where they are. WORLD_SEALED is a bit that flags of properties have as well: in a
 * sealed world all of them are read-only, and one test sees both. */
typedef enum world_hold_t {
    WORLD_FREE = 0, /* rows may move */
    WORLD_SEALED = BP_FIELD_READ_ONLY, /* a reload is prepared or taken back: nothing changes through the tables of the
                                          contract */
    WORLD_STEPPING = 1 << 1, /* units run, and hold columns */
    WORLD_TELLING = 1 << 2,  /* new systems are told which entities match */
    WORLD_SPAWNING = 1 << 3, /* a scene is spawned, and managers are called */
    WORLD_TOLD = 1 << 4      /* a component is told of its rows */
} world_hold_t;

/* In world_t.care, beside WORLD_SEALED: code that sets a value must stamp it. No flag of a property is this bit. */
#define WORLD_STAMPED 0x10000u

typedef struct world_t {
    record_t **pages;          /* of records, by entity index (records.h); these four are bp_world_head_t */
    uint32_t page_count, first_page;
    uint32_t layout;           /* of the columns that are in place; unique in the host, and never given out twice
                                  (world_draw_layout) */
    spots_t spots;             /* of that layout */
    world_hold_t hold;
    uint32_t care;             /* conditions that a call must check first: WORLD_SEALED, WORLD_STAMPED */
    uint64_t moment;           /* the stamp of what is written now */
    uint32_t stamp_users;      /* users of stamps of rows; 0: runs have none */
    uint32_t askers;           /* users of stamps, of rows or of slots */
    bool kept_for_history;     /* the host's history is a user of stamps of rows */
    bool laid;                 /* in the copy of a trial: columns may lie outside of their runs' blocks (fence.h) */

    base_t *base;
    entities_t *entities;
    registry_t *registry;
    bp_host_o *host;
    uint32_t number;           /* among the worlds of the host, in order of creation (destruction.h) */
    const bp_api_t *api;
    memory_t memory;
    record_slab_t *slabs;      /* that pages of records come from */
    uint32_t slab_count, slab_capacity;
    uint32_t pages_used;       /* in the directory, of ... */
    uint32_t pages_held;       /* ... so many in all slabs */
    uint32_t give_back_next;   /* the place in the directory that is looked at next, whether its page can go */
    lists_t lists;             /* the memory of all lists in rows */
    holdings_t holdings;       /* what cells hold: the host's strings, and these lists */
    leavings_t leavings;       /* columns that have left */
    int64_t blocks_aside;      /* blocks of lists in columns beside the runs, which a reload has made */
    char *name;
    char *units;               /* what this world calls kg, m and s (base/units.h); NULL: as declared */
    verb_place_t place;        /* where a crash happened, for messages */

    manager_t **managers;
    uint32_t manager_count, manager_capacity;
    uint32_t roster;           /* another number where a manager has come or gone */
    uint32_t telling;          /* managers that are told of deaths, ... */
    uint32_t collecting;       /* ... and those that collect their dead themselves, after steps */

    prototypes_t prototypes;
    uint32_t occupied;         /* entities with components */
    entity_pool_t ids;         /* indices for entities that are created through this world */
    bp_entity_t own;           /* the entity with the components of the world itself (own.h); {0}: none */
    bool owning;               /* its components are being brought in; at other times adding them is refused */

    run_t **runs;              /* all, in order of creation; only appended to */
    uint32_t run_count, run_capacity;
    run_t **attic;             /* empty runs that have left the world as it went back: references may look at them */
    uint32_t attic_count, attic_capacity;
    struct notices_t *notices; /* NULL: no system asks for entities that begin or cease to match */
    run_t **holed;             /* runs with holes; as many as fit, see holed_lost */
    uint32_t holed_count, holed_capacity, holed_next;
    bool holed_lost;           /* a run with holes could not be listed: look at all */
    bool tended;               /* set by store_collect where it has moved or freed something */
    uint32_t collections;      /* after steps, so far */
    uint32_t trim_next;        /* the run that is looked at next, whether it has too much room */

    uint32_t layout_ranges[WORLD_LAYOUT_RANGES]; /* numbers that the host has given it for its layouts: 4 to the power
                                                    of i from layout_ranges[i] on; ... */
    uint32_t layout_range_count, layout_drawn; /* ... and the last of them that was drawn */
    field_moves_t *moves;      /* a ring of the last WORLD_MOVES; it has room for fewer until there are so many */
    uint32_t moves_capacity;
    uint32_t moves_made;       /* all told */
    uint32_t ref_version;      /* the version of the last of these moves; 1 before the first */
    uint32_t never;            /* 0: what references compare with that refer to nothing */
    void *scratch;             /* for the calculations of one call (world_scratch) */
    size_t scratch_size;
    uint32_t scratch_used;     /* `collections` at the last of these calls */
    const world_slots_i *slots_elsewhere; /* NULL: all slots lie in columns */

    uint64_t random;           /* of the collection */
} world_t;

BP_STATIC_ASSERT(offsetof(world_t, first_page) == offsetof(bp_world_head_t, first_page),
                 "a world begins with its head");
BP_STATIC_ASSERT(offsetof(world_t, layout) == offsetof(bp_world_head_t, layout), "a world begins with its head");

/* A world as plugins hold it begins with its world_t (step/schedule.h). */
static inline bp_world_o *world_handle(const world_t *world)
{
    return (bp_world_o *)(uintptr_t)world;
}

static inline world_t *world_of(bp_world_o *handle)
{
    return (world_t *)(void *)handle;
}

/* The parts that a world shares with all other worlds of its host. */
typedef struct world_parts_t {
    base_t *base;
    entities_t *entities;
    registry_t *registry;
    const bp_api_t *api;
    bp_host_o *host;
} world_parts_t;

/* Make a cleared world_t a world without managers; `steps` is where its steps are counted, `seed` goes into its random
   numbers, and `layout` is a number that the host has given to no world. Errors: memory; nothing is held then. */
bp_result_t world_init(world_t *world, const world_parts_t *parts, const char *name, const uint64_t *steps,
                       uint64_t seed, uint32_t layout);

/* Stops all managers, newest first; and frees what the world holds, after that where it has not been done. */
void world_stop(world_t *world);
void world_end(world_t *world);

/* Bring in the manager of a component. [main] */
bp_result_t world_use_component(world_t *world, component_t *component);

/* Stop a manager for good, when no entity has its components any more (store_strip). [main] */
void world_drop_manager(world_t *world, manager_t *manager);

/* Are rows of a component looked at when they are about to go: by the component itself, or for fields that it makes
 * again (hooks_removed)? Hidden fields come last. */
static inline bool world_looks_at_leaving(const component_t *component)
{
    bool looks = component->rows.rows_removed != NULL;
    for (uint32_t i = component_columns(component); !looks && i > 0 && field_is_hidden(&component->fields[i - 1]); i--)
        looks = field_is_rebuilt(&component->fields[i - 1]);
    return looks;
}

/* A manager that has started is among those that are told of deaths, or that look for their dead: one more of these, or
 * (UINT32_MAX) one fewer. */
static inline void world_count_manager(world_t *world, const manager_t *manager, uint32_t by)
{
    if (manager->component->storage.gc != NULL)
        world->collecting += by;
    else if (manager->component->own_storage || world_looks_at_leaving(manager->component))
        world->telling += by;
}

/* Columns of a component that its code knows of. */
static inline uint32_t world_visible(const manager_t *manager)
{
    return manager->column_count - manager->hidden;
}

/* Must rows stay where they are, for any of the reasons? */
static inline bool world_holds_rows(const world_t *world)
{
    return world->hold != WORLD_FREE;
}

/* Refuse changes through the tables of the contract until the world is unsealed. From the unsealing on all values count
 * as written anew, since a reload may write any of them. [main] */
void world_seal(world_t *world);
void world_unseal(world_t *world);

/* --- stamps ------------------------------------------------------------------------------------------------------- */

/* The present moment, for a caller that looks at values now and will ask later for the values written since: all writes
 * from now on have a later stamp; within a step, the writes of later units. [main] */
uint64_t world_look(world_t *world);

/* world_keep_stamps: runs keep stamps for one user more; all values count as written now. Errors: memory, nothing has
 * changed then; state, while the world is sealed. world_release_stamps: one user fewer. [main] */
bp_result_t world_keep_stamps(world_t *world);
void world_release_stamps(world_t *world);

/* The bytes that the stamps of a world take. */
size_t world_stamp_bytes(const world_t *world);

/* Keep, or release, stamps in the same way for the instances of a manager with storage of its own. */
void world_keep_slot_stamps(world_t *world, manager_t *manager);
void world_release_slot_stamps(world_t *world, manager_t *manager);

/* All values of the world count as written now. [main] */
void world_note_all(world_t *world);

/* Instances have been written, made or ended. [main] */
static inline void world_note_slots(world_t *world, manager_t *manager, const uint32_t *slots, uint32_t count)
{
    if (manager->stamps.users > 0)
        slot_stamps_note(&manager->stamps, &world->memory, slots, count, world->moment);
}

/* Draw a number for another layout of the world, which is never 0. `given` is the last number that the host has given
 * to a world. The world is given numbers in ranges, each four times as long as the one before, so that it remembers few
 * ranges however often its layout changes. */
uint32_t world_draw_layout(world_t *world, uint32_t *given);

/* Leave the present layout for one that was drawn. Properties that were resolved for the present one are resolved anew
 * at their next use. */
void world_change_layout(world_t *world, uint32_t layout);

/* Write down the new places of the fields of a manager's component, for references made before: `to` has
 * REGISTRY_MAX_FIELDS places. The version is that of the world's references (ref_version). Room for it must have been
 * reserved: world_reserve_moves, for `more` of these. */
bool world_reserve_moves(world_t *world, uint32_t more);
void world_note_moves(world_t *world, uint32_t manager, const uint8_t *to);

/* Was `layout` drawn for this world? [job] */
bool world_had_layout(const world_t *world, uint32_t layout);

/* The field of a slot, which rows store for a component with storage of its own; and the flags of a manager's keys. */
extern const field_t world_slot_field;
uint16_t world_key_flags(const component_t *component);

/* The manager of a type in this world: its number, or BP_NONE with an error that says what the world has. [main] */
uint32_t world_component(world_t *world, const char *type);

/* As bp_world_api.key. */
bp_result_t world_key(world_t *world, uint32_t component, bp_name_t name, uint32_t *key);
bp_result_t world_key_info(world_t *world, uint32_t key, uint32_t *component, bp_name_t *name);

/* Entities with components, without world_t.own. */
static inline uint32_t world_entities(const world_t *world)
{
    return world->occupied - (world->own.id != 0);
}

/* The manager of a key. */
static inline manager_t *world_key_manager(const world_t *world, uint32_t key)
{
    return world->managers[world->prototypes.keys[key].manager];
}

/* The record of an index, for reading only; a cleared record where the world has none for the index. */
static inline record_t *world_record_at(const world_t *world, uint32_t index)
{
    uint32_t page = index / ENTITIES_PAGE - world->first_page;
    const record_t *records = page < world->page_count ? world->pages[page] : unused_records;
    return (record_t *)(uintptr_t)&records[index % ENTITIES_PAGE];
}

enum { WORLD_NEAR = 8 }; /* pages of records that the near caches hold */

/* Is fetching records early worth its instructions? */
static inline bool world_is_far(const world_t *world)
{
    return world->pages_used > WORLD_NEAR;
}

/* The place of a world's records, read once for loops in which it does not change, which a compiler cannot know. */
typedef struct records_view_t {
    record_t *const *pages;
    uint32_t count, first;
} records_view_t;

static inline records_view_t world_records(const world_t *world)
{
    return (records_view_t){world->pages, world->page_count, world->first_page};
}

/* As world_record_at. */
static inline record_t *records_at(records_view_t view, uint32_t index)
{
    uint32_t page = index / ENTITIES_PAGE - view.first;
    const record_t *records = page < view.count ? view.pages[page] : unused_records;
    return (record_t *)(uintptr_t)&records[index % ENTITIES_PAGE];
}

/* The record of an index that can be written to; NULL where there is none yet. */
static inline record_t *world_writable_record(const world_t *world, uint32_t index)
{
    uint32_t page = index / ENTITIES_PAGE - world->first_page;
    if (page >= world->page_count || world->pages[page] == unused_records)
        return NULL;
    return &world->pages[page][index % ENTITIES_PAGE];
}

/* Can it be written to: is it no record of an index for which the world has none? */
static inline bool world_may_write(const record_t *record)
{
    return (uintptr_t)record - (uintptr_t)unused_records >= ENTITIES_PAGE * sizeof *record;
}

/* Is there a record for the index that can be written to? */
static inline bool world_has_record(const world_t *world, uint32_t index)
{
    return world_writable_record(world, index) != NULL;
}

/* The record of an entity for which there is one that can be written to. */
static inline record_t *world_own_record(const world_t *world, bp_entity_t e)
{
    uint32_t index = bp_entity_index(e);
    return &world->pages[index / ENTITIES_PAGE - world->first_page][index % ENTITIES_PAGE];
}

/* Where an entity is, or NULL where it has no components here (or is dead). [job] */
static inline record_t *world_record(const world_t *world, bp_entity_t e)
{
    uint32_t index = bp_entity_index(e), page = index / ENTITIES_PAGE - world->first_page;
    if (page >= world->page_count)
        return NULL;
    record_t *record = &world->pages[page][index % ENTITIES_PAGE];
    /* A record of generation 0 is no entity's, so a handle of that generation has none. */
    return record->generation == bp_entity_generation(e) && bp_entity_generation(e) != 0 ? record : NULL;
}

static inline run_t *world_run(const world_t *world, uint32_t prototype)
{
    return world->prototypes.items[prototype].run;
}

/* Number of instances of a component type. [main] */
uint32_t world_count(world_t *world, uint32_t component);

/* At least `size` bytes for what one call works out, good until the next call of this function; NULL when out of
 * memory. The bytes are kept for the calls of the next steps, since fresh memory costs more than what is worked out in
 * it, and given back when WORLD_TRIM_AFTER steps have passed without a call. [main] */
void *world_scratch(world_t *world, size_t size);
void world_drop_scratch(world_t *world);

/* Bytes held by records, prototypes and runs. [main] */
size_t world_bytes(const world_t *world);

#endif
