/* bp_history.h - what a host remembers, for plugins: how far back, and going there.
 *
 *     const bp_history_api *history = (const bp_history_api *)api->registry->find(host, BP_HISTORY_API, 1);
 *     bp_past_t past = {.struct_size = sizeof past};
 *     history->read(host, &past);
 *     if (past.budget > 0)
 *         history->wish(host, past.now - 100);
 *
 * A host remembers where its program says so (`[host] history` in an ini, bp_host_remember). Moments are counted by
 * steps. Going to a moment takes steps and replaces the state of whole worlds, so it is not done while a verb runs,
 * which would return into another state. A verb, most often a posted task, calls `wish`; the host goes there at the end
 * of the bp_host_poll or bp_host_wait that is under way, or else of the next one, and `read` then tells the result.
 *
 * In the same way a plugin has something tried: values, or other versions of plugins. A second host, exactly like this
 * one, takes some steps with the change and without, and what differs is listed. A plugin also asks for a change in
 * this host (`make_change`), since a verb must not reload plugins itself.
 *
 * What this header does not do: it gives no snapshots and no clones; embedders have them (bp_host_snapshot,
 * bp_host_clone).
 */
#ifndef BP_HISTORY_H
#define BP_HISTORY_H

#include "bp_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_HISTORY_API "bp_history"

/* What is remembered, and what became of the last wish. */
typedef struct bp_past_t {
    uint32_t struct_size; /* sizeof(bp_past_t) */
    uint32_t keyframes;   /* whole states that are kept */
    uint64_t first;       /* the moments that are remembered ... */
    uint64_t now;         /* ... and where the host is among them */
    uint64_t last;
    uint64_t bytes;       /* that keyframes take */
    uint64_t budget;      /* 0: nothing is remembered */
    uint32_t wished;      /* 1: there is a wish that has not been carried out yet */
    bp_result_t result;   /* of the last wish that was; BP_OK before the first */
    const char *why;      /* the sentence for it, "" where it is BP_OK; good until the next poll */
} bp_past_t;

/* A property, as people write its path, and its value as text (set_text of bp_property_api). */
typedef struct bp_change_value_t {
    const char *path;
    const char *value;
} bp_change_value_t;

/* A change: first the present files of plugins in the place of the versions at work, then values. */
typedef struct bp_change_t {
    uint32_t struct_size;  /* sizeof(bp_change_t) */
    uint32_t plugin_count;
    const char *const *plugins; /* names */
    const bp_change_value_t *values;
    uint32_t value_count;
    uint32_t padding;
    uint64_t steps;        /* to be taken where it is tried; worlds that all are stopped go on for that */
} bp_change_t;

/* What became of a change that was wished. */
enum { BP_CHANGE_NONE = 0, BP_CHANGE_WAITS = 1, BP_CHANGE_TRIED = 2, BP_CHANGE_MADE = 3 };

typedef struct bp_changed_t {
    uint32_t struct_size;  /* sizeof(bp_changed_t) */
    uint32_t state;        /* BP_CHANGE_... */
    bp_result_t result;    /* where it does not wait */
    uint32_t differences;  /* how many there are (bp_history_api.difference) */
    const char *text;      /* the sentence for a failure; of plugins reloaded here, what became of their fields; or "";
                              good until the next poll, as are all texts of differences */
    uint64_t steps;        /* that were tried, ... */
    uint64_t without;      /* ... and how many nanoseconds they took together without the change, ... */
    uint64_t with;         /* ... and with it */
} bp_changed_t;

/* One difference between how it is without a change and with it. */
typedef struct bp_difference_t {
    uint32_t struct_size;  /* sizeof(bp_difference_t) */
    uint32_t padding;
    const char *world;
    const char *component; /* its name in the entities; "" where `text` says what is different */
    const char *field;
    const char *text;      /* a sentence: entities and fields that came or went; else "" */
    bp_entity_t entity;    /* of the sentence; or none */
    uint64_t count;        /* entities with different values */
    double largest;        /* of numbers: the largest difference of one part; infinite where one is not finite */
} bp_difference_t;

/* A future that was left. Numbers are never given out twice. */
typedef struct bp_left_t {
    uint32_t struct_size; /* sizeof(bp_left_t) */
    uint32_t padding;
    uint64_t number;
    uint64_t parent;      /* the future that it forks off; that of the present where none that is kept is meant */
    uint64_t fork;        /* the moment of that, ... */
    uint64_t last;        /* ... and the last one */
    uint64_t bytes;       /* that it takes */
} bp_left_t;

/* All entries: [main], at any time. */
typedef struct bp_history_api {
    uint32_t struct_size;
    uint32_t version;

    /* Write past->struct_size bytes, which the caller has set to its sizeof. */
    void (BP_CALL *read)(bp_host_o *host, bp_past_t *past);

    /* Go to a moment when the host polls. A wish replaces one that has not been carried out. Worlds that are stopped
     * stay stopped; the others go on from there, and repeat what was remembered until the host is changed from outside,
     * or takes a step while a world is stopped that went on then: with that step another future begins. BP_ERROR_STATE
     * where nothing is remembered, BP_ERROR_RANGE for a moment that is not; a moment that cannot be computed any more
     * shows when the wish is carried out. */
    bp_result_t (BP_CALL *wish)(bp_host_o *host, uint64_t moment);

    /* Begin another future, of which the next step is the first; what comes after now is kept as a branch. From a step
     * or a callback: BP_ERROR_STATE. */
    bp_result_t (BP_CALL *branch_off)(bp_host_o *host);

    /* --- since version 2 --- */

    /* Have a change tried when the host polls; what it says is copied. Replaces one that waits; while one is being
     * carried out, comes next, at the next poll. Nothing is remembered for that. Errors show in `read_change`; here
     * BP_ERROR_ARGUMENT and BP_ERROR_MEMORY. */
    bp_result_t (BP_CALL *try_change)(bp_host_o *host, const bp_change_t *change);

    /* Have a change made in this host when it polls, all of it or nothing; but where plugins have been reloaded and a
     * value then cannot be set, the plugins stay as they are now. NULL: the change that was tried or wished last;
     * BP_ERROR_STATE where there is none. */
    bp_result_t (BP_CALL *make_change)(bp_host_o *host, const bp_change_t *change);

    /* What became of it; writes as many bytes as changed->struct_size, which the caller has set to its sizeof, says.
     * And the `index`-th difference; 0 past the last. */
    void (BP_CALL *read_change)(bp_host_o *host, bp_changed_t *changed);
    uint32_t (BP_CALL *difference)(bp_host_o *host, uint32_t index, bp_difference_t *difference);

    /* --- since version 3 --- */

    /* Give the present moment a name, a word, for people and for `marked`: an event, a level, the beginning of a fight.
     * A name that is given again means the later moment. BP_ERROR_ARGUMENT for what is no word; BP_ERROR_STATE where
     * nothing is remembered, and from a step or a callback. */
    bp_result_t (BP_CALL *mark)(bp_host_o *host, const char *name);

    /* The moment of a name, to be wished for. BP_ERROR_NOT_FOUND where no moment of the present line has it. */
    bp_result_t (BP_CALL *marked)(bp_host_o *host, const char *name, uint64_t *moment);

    /* --- since version 4 --- */

    /* The futures that were left and are kept, in the order in which they were left: writes left->struct_size bytes,
     * which the caller has set to its sizeof; 0 past the last. */
    uint32_t (BP_CALL *left)(bp_host_o *host, uint32_t index, bp_left_t *left);

    /* Go to the end of such a future when the host polls: from then on it is what comes after the moments before it,
     * and the one that is left is kept in its turn. Otherwise as `wish`. BP_ERROR_NOT_FOUND where it is not kept. */
    bp_result_t (BP_CALL *wish_left)(bp_host_o *host, uint64_t number);
} bp_history_api;

#ifdef __cplusplus
}
#endif
#endif
