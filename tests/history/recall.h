/* recall.h - a plugin with everything that a host can have to remember, and calls from outside to go with it.
 *
 * `body` is stored by the world, with strings and lists; `fog` by itself, in slots that are collected lazily; `mark`
 * goes at once. `breed` records commands on any number of threads, `reader` asks what became of placeholders and has
 * its commands made first, `watcher` is told who matches, `scribe` is output. States are kept in every way there is.
 *
 * What happens depends on steps, entities and states alone, so two hosts that are treated alike are alike.
 */
#ifndef TESTS_HISTORY_RECALL_H
#define TESTS_HISTORY_RECALL_H

#include "../unit/support.h"

extern const bp_plugin_head_t recall_plugin;

typedef struct scribe_state_t {
    uint64_t runs, rewound, last;
} scribe_state_t;

/* The state of scribe, the last one that was started. */
extern scribe_state_t *recall_scribe;

/* Worlds `main` and `side` with all of it. */
void recall_open(bp_host_o *host);

/* Threads of hosts in tests that are made thrice. */
static const uint32_t recall_threads[] = {1, 2, 4};

/* A host with these worlds, and with `count` entities in the first of them that have the component of plugin "probe":
 * `fixture` is its file, one of those versions that differ in code, fields, systems and in how instances are stored
 * (reload_probe.h). The host remembers `budget` bytes of its past; 0: nothing. */
typedef struct recall_probes_t {
    const char *fixture;
    uint64_t budget;
    uint32_t threads, count; /* 0 threads: one */
    uint32_t flags;          /* of the host, beside BP_HOST_COPY_PLUGINS */
} recall_probes_t;

bp_host_o *recall_open_probes(rig_t *rig, recall_probes_t what, bp_entity_t *entities);

/* What comes from outside before step `step`, by the same numbers for the same step. */
void recall_act(bp_host_o *host, uint64_t step, uint64_t seed);

/* The hash of all that a snapshot of the host holds now. */
uint64_t recall_hash(bp_host_o *host);

/* What the host says of its history. */
bp_history_t recall_history(bp_host_o *host);

/* As rig_close. What a future that was forgotten has said to the log is of no interest. */
void recall_close(rig_t *rig);

#endif
