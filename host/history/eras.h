/* eras.h - the host's makeup over time: from which moment on which versions of plugins and which systems were at work.
 *
 *     moment    3 ------ 4 ------ 5 ------ 6 ------ 7
 *     eras      A                 B                      a reload at moment 5
 *     keyframes K                 T                      T: of the state right after the reload
 *
 * An era begins with the change that was made at its moment: the state that the step before has left there still
 * belongs to the era before. A keyframe can be brought back only into a host with the makeup of the keyframe's time; so
 * the host is given that makeup first.
 *
 * The engine writes makeups down and gives them to a host (engine/makeup.h).
 *
 * Invariant: eras are in the order of time, and there is one at least, or none where the host cannot be given another
 * makeup.
 *
 * Not here: worlds, components and plugins that come or go, with which the past begins anew (history.c).
 */
#ifndef HOST_HISTORY_ERAS_H
#define HOST_HISTORY_ERAS_H

#include "../base/bytes.h"
#include "../step/wants.h"

#include <backplane.h>

/* A version of a plugin. Never changes, and is shared. */
typedef struct image_t {
    uint64_t number;
    uint32_t users;
    uint32_t given_count;
    char *file;          /* NULL: could not be copied */
    bp_option_t *given;  /* texts are owned */
} image_t;

typedef struct made_plugin_t {
    char *name;
    image_t *image; /* NULL: linked in */
} made_plugin_t;

typedef struct made_world_t {
    wants_t wants;
    wants_t units;  /* the names of all units of a step, in their order */
} made_world_t;

/* The makeup of a host: its versions of plugins, and its worlds' units. */
typedef struct makeup_t {
    made_plugin_t *plugins;
    made_world_t *worlds;
    uint32_t plugin_count, world_count;
} makeup_t;

/* What the engine does for eras. */
typedef struct makers_t {
    void *context;
    const memory_t *memory; /* the account of all makeups that there are; NULL: there is none */
    /* Write down the host's present makeup. `like`: an earlier one to share parts with; may be NULL. */
    bp_result_t (*look)(void *context, const makeup_t *like, makeup_t **out);
    /* Could the host be given this makeup? Nothing changes. */
    bp_result_t (*check)(void *context, const makeup_t *makeup);
    /* Give the host this makeup. The state of the host is lost, and a keyframe has to be brought back next. */
    bp_result_t (*become)(void *context, const makeup_t *makeup);
    /* Has the host this makeup? */
    bool (*is)(void *context, const makeup_t *makeup);
    void (*drop)(void *context, makeup_t *makeup); /* NULL is allowed */
    /* Write a makeup down as bytes, with the files of its plugins; those that `before` has too are not written again.
     * And read it, in this process or in another one: `before` is the one that was read last. `before` may be NULL. */
    bp_result_t (*write)(void *context, const makeup_t *makeup, const makeup_t *before, bytes_t *bytes);
    bp_result_t (*read)(void *context, reader_t *reader, const makeup_t *before, makeup_t **out);
} makers_t;

typedef struct era_t {
    uint64_t moment;
    makeup_t *makeup;
} era_t;

typedef struct eras_t {
    memory_t *memory;
    makers_t makers; /* all NULL: no eras are kept */
    era_t *items;
    uint32_t count, capacity;
} eras_t;

void eras_init(eras_t *eras, memory_t *memory);
void eras_free(eras_t *eras);

/* Forget all, and begin with the host's present makeup. False without memory: there are no eras afterwards, and nothing
 * may be kept of the time that begins here, since what is kept would be taken for that of a later era. [main] */
bool eras_begin(eras_t *eras, uint64_t moment);

/* An era with the host's present makeup begins at this moment, the last one so far. False without memory: there is no
 * such era. [main] */
bool eras_add(eras_t *eras, uint64_t moment);

/* An era with this makeup begins at this moment; the makeup belongs to the eras then. False without memory. */
bool eras_put(eras_t *eras, uint64_t moment, makeup_t *makeup);

/* The era of a state at a moment: of the state that the step before has left, or (`touched`) of the state after the
 * calls from outside at that moment. NULL where there are no eras. */
const era_t *eras_of(const eras_t *eras, uint64_t moment, bool touched);

/* Has the host the makeup of an era? True of NULL. Could it have it? And give it that makeup. [main], between steps */
bool eras_is(const eras_t *eras, const era_t *era);
bp_result_t eras_check(const eras_t *eras, const era_t *era);
bp_result_t eras_become(const eras_t *eras, const era_t *era);

/* Forget eras that ended before `first`. */
void eras_drop_before(eras_t *eras, uint64_t first);

/* Forget the eras that began at `moment` or later, but for the first. */
void eras_drop_from(eras_t *eras, uint64_t moment);

/* Take the eras that began at `moment` or later, but for the first, out to `to`, which is empty. False without memory:
 * nothing has changed then. */
bool eras_split(eras_t *eras, uint64_t moment, eras_t *to);

/* Put the eras of `from` behind these; `from` is empty afterwards. False without memory: nothing has changed. */
bool eras_join(eras_t *eras, eras_t *from);

#endif
