/* storm.h - everything that a host may go through, in any order, against a plain model of names and values.
 *
 * A storm is a list of events, drawn from one seed. Each event has a random state of its own, so that a list from which
 * events are taken away still means what it meant: a failure can be shortened (test_storm.c).
 *
 * Not here: which seeds are run, processes, shortening.
 */
#ifndef TESTS_RELOAD_STORM_H
#define TESTS_RELOAD_STORM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct storm_event_t {
    uint32_t kind;
    uint32_t padding;
    uint64_t random;
} storm_event_t;

enum { STORM_MOST = 400 };

/* How the host is made. */
typedef struct storm_host_t {
    uint32_t threads;
    uint32_t range; /* rows of a range at least, so that few rows are several tasks; 0: as the host has it */
    bool crashes; /* with a plugin that crashes; without it, and with a past to go back to */
    bool trial;   /* new versions are tried in a copy of the process; what crashes does so there alone then */
    const char *folder; /* for its files */
    bool faults;  /* calls of the system fail now and then; requests for memory too, with one thread */
} storm_host_t;

/* What can fail below a host, apart from memory: the names of calls of the system (tests/system/calls.h). */
enum { STORM_CALLS = 20 };
extern const char *const storm_calls[STORM_CALLS];

/* How often what has happened, so that a test can say that it has tested something. */
typedef struct storm_count_t {
    uint32_t reloads, refusals, rollbacks, crashes, brought_back, restored, no_memory, no_call;
    uint32_t visits, steps_again, branches; /* moments gone to, steps taken again there, futures left */
    uint32_t worlds, leaps;                 /* begun; of the clock */
    uint32_t slices;                        /* reloads beside the steps */
    uint32_t crowds, crowd_reloads;         /* crowds that were made; reloads of their values */
    uint32_t clones, tries, twice, drafts, played; /* beside the host; recordings played */
    uint32_t failed[STORM_CALLS];           /* how often which call has failed */
} storm_count_t;

/* The events of a seed. Returns how many. */
uint32_t storm_draw(uint64_t seed, const storm_host_t *how, storm_event_t events[STORM_MOST]);

const char *storm_name(uint32_t kind);

/* Go through the events in a host of its own. What goes wrong is told to `give_up`, which does not return. The number
 * that comes back depends on the events alone, and on whether there are faults. */
uint64_t storm_go(const storm_host_t *how, const storm_event_t *events, uint32_t count, storm_count_t *counts,
                  void (*give_up)(uint32_t event, const char *what));

#endif
