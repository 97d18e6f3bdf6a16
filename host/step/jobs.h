/* jobs.h - a small pool of threads that runs one batch of jobs at a time.
 *
 * The pool implements bp_jobs_i, and an embedder's own bp_jobs_i takes its place: the schedule sees only that table.
 *
 * Not here: queues, priorities, jobs inside jobs.
 */
#ifndef HOST_STEP_JOBS_H
#define HOST_STEP_JOBS_H

#include "../base/base.h"

enum {
    JOBS_MAX_THREADS = 256,
    JOBS_SPIN = 400 /* turns that a thread waits before it sleeps: about what a wake-up costs */
};

typedef struct jobs_t jobs_t;

/* A pool of `threads` threads, the caller's among them (so threads - 1 are started). Errors: memory; limit, where the
 * system gives fewer threads. */
bp_result_t jobs_create(base_t *base, uint32_t threads, jobs_t **out);
void jobs_free(jobs_t *jobs);

/* The pool as the table that the schedule uses. */
bp_jobs_i jobs_table(jobs_t *jobs);

/* Run a batch on such a table, the pool's or the embedder's: all its jobs round numbers, and treat denormal ones, as
 * the calling thread does (arithmetic.h). [main] */
void jobs_run(const bp_jobs_i *jobs, void (*job)(void *data, uint32_t index), void *data, uint32_t count);

#endif
