/* trial.h - a change of plugins tried in a copy of this process, or in a helper process, before it is made here.
 *
 * The copy has all worlds as they are, large runs thinned to a sample of their rows (store/sample.h). The copy reads
 * the candidates in, carries everything over, takes TRIAL_STEPS steps of each world on its one thread, calls every
 * other verb of the candidates, takes TRIAL_STEPS more, unloads the candidates again, down to their
 * destructors, and reports. This process stands still for the sample and the fork alone, and goes on with the old code
 * meanwhile.
 *
 * A helper (scratch.h) does the same with a host like this one, built from its declarations: where the system has no
 * copies of processes, and where the ini says `trial = helper`.
 *
 * Not here: making the change in this process (reload.h); telling of the outcome; building the helper's host
 * (engine/host_helper.c).
 */
#ifndef HOST_RELOAD_TRIAL_H
#define HOST_RELOAD_TRIAL_H

#include "../base/file.h"
#include "process.h"
#include "reload.h"

/* The first argument of a helper for trials; the second is a file (scratch.h). */
#define TRIAL_WORD "--backplane-trial"

enum {
    TRIAL_STEPS = 3,
    TRIAL_DEADLINE_MS = 5000, /* where the caller gives none */
    TRIAL_REASON = 1024,
    TRIAL_SAID = TRIAL_REASON + 17 * 1024, /* most bytes that the copy sends: the columns to make ready, and a reason */
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
    bool untried;            /* passed without having been tried, since no helper could try it */
    bool refused;            /* failed: the candidates were refused, by a rule or by themselves; nothing crashed, hung
                                or ended */
    char said[TRIAL_SAID]; /* bytes received from the child so far */
    size_t said_size;
    char told[FILE_PATH_MAX]; /* the file that a helper reads; "" where there is none */
} trial_t;

/* Begin to try a change that has been read, in a copy of this process, or by the program `helper` where it is not NULL.
 * false where no process can be had. [main], between steps */
bool trial_begin(trial_t *trial, memory_t *memory, reload_t *reload, reload_change_t *change, uint32_t deadline_ms,
                 const char *helper);

/* The state of the trial: TRIAL_... Failed: the error says why. Never waits. [main] */
int trial_state(trial_t *trial);

/* What the copy has told of the columns of the change, for reload_begin_readying; *size bytes, 0 where it has not told
 * of any yet. [main] */
const char *trial_told(const trial_t *trial, size_t *size);

/* Wait until the trial is over, and return its state. Meanwhile columns of the change are made ready. [main] */
int trial_wait(trial_t *trial);

/* Let go of the trial, whatever its outcome; the change stays. [main] */
void trial_end(trial_t *trial);

/* In a helper: try the named plugins' next versions, which lie in `files`, and report. Returns the exit code. The host
 * is lost afterwards. */
int trial_here(process_t *self, reload_t *reload, const char *const *names, char **files, uint32_t count, bool lossy,
               uint32_t deadline_ms);

/* In a helper: report that nothing can be tried, and why. */
void trial_cannot(process_t *self, const char *why);

#endif
