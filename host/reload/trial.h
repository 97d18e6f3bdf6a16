/* trial.h - a change of plugins tried in a copy of this process, before it is made here.
 *
 * The copy has all worlds as they are, large runs thinned to a sample of their rows (store/sample.h). The copy reads
 * the candidates in, carries everything over, takes TRIAL_STEPS steps of each world on its one thread, calls every
 * other verb of the candidates (exercise.h), takes TRIAL_STEPS more, unloads the candidates again, down to their
 * destructors, and reports. This process stands still for the sample and the fork alone, and goes on with the old code
 * meanwhile.
 *
 * Not here: making the change in this process (reload.h); telling of the outcome.
 */
#ifndef HOST_RELOAD_TRIAL_H
#define HOST_RELOAD_TRIAL_H

#include "process.h"
#include "reload.h"

enum {
    TRIAL_STEPS = 3,
    TRIAL_DEADLINE_MS = 5000, /* where the caller gives none */
    TRIAL_REASON = 1024,
    TRIAL_SAID = TRIAL_REASON + 16 * 1024, /* what the copy says at most: a reason, or what to make ready */
    TRIAL_NAP_NS = 500000     /* between two looks of trial_wait */
};

enum { TRIAL_RUNNING, TRIAL_PASSED, TRIAL_FAILED };

typedef struct trial_t {
    memory_t *memory;
    reload_t *reload;
    reload_change_t *change; /* the owner's */
    process_t *child;        /* NULL: no trial is under way */
    uint32_t deadline_ms;
    uint64_t since;          /* ms */
    uint64_t stood_ns;       /* how long this process stood still for the trial */
    bool refused;            /* failed: the candidates were refused, by a rule or by themselves; nothing crashed, hung
                                or ended */
    char said[TRIAL_SAID]; /* bytes received from the child so far */
    size_t said_size;
} trial_t;

/* Begin to try a change that has been read. false where no process can be had. [main], between steps */
bool trial_begin(trial_t *trial, memory_t *memory, reload_t *reload, reload_change_t *change, uint32_t deadline_ms);

/* The state of the trial: TRIAL_... Failed: the error says why. Never waits. [main] */
int trial_state(trial_t *trial);

/* What the copy has told of a trial that has passed, for reload_begin_readying; *size bytes. [main] */
const char *trial_told(const trial_t *trial, size_t *size);

/* Wait until the trial is over, and return its state. [main] */
int trial_wait(trial_t *trial);

/* Let go of the trial, whatever its outcome; the change stays. [main] */
void trial_end(trial_t *trial);

#endif
