/* jobs.c - workers that wait for a batch and take its jobs one by one.
 *
 * A batch is announced under the lock by counting up `batch`; each worker joins each batch once. Jobs are handed out by
 * an atomic counter, so a slow job holds up nobody else. The caller works too, and returns when all workers have
 * left the batch: then nothing of it is in use any more.
 */
#include "jobs.h"

#include "../base/os.h"

struct jobs_t {
    base_t *base;
    memory_t memory;
    os_lock_t *lock;
    os_thread_t *threads;
    uint32_t worker_count;
    uint64_t batch;   /* number of the present batch */
    uint32_t working; /* workers still in it */
    bool stopping;
    void (*job)(void *data, uint32_t index);
    void *data;
    uint32_t count;
    _Atomic uint32_t next;
};

static void work(jobs_t *jobs)
{
    for (;;) {
        uint32_t i = atomic_fetch_add_explicit(&jobs->next, 1, memory_order_relaxed);
        if (i >= jobs->count)
            return;
        jobs->job(jobs->data, i);
    }
}

static void worker(void *data)
{
    jobs_t *jobs = data;
    uint64_t seen = 0;
    os_lock(jobs->lock);
    for (;;) {
        while (jobs->batch == seen && !jobs->stopping)
            os_lock_wait(jobs->lock);
        if (jobs->stopping)
            break;
        seen = jobs->batch;
        os_unlock(jobs->lock);
        work(jobs);
        os_lock(jobs->lock);
        if (--jobs->working == 0)
            os_lock_wake_all(jobs->lock);
    }
    os_unlock(jobs->lock);
}

static void run(void *context, void (*job)(void *data, uint32_t index), void *data, uint32_t count)
{
    jobs_t *jobs = context;
    os_lock(jobs->lock);
    jobs->job = job;
    jobs->data = data;
    jobs->count = count;
    atomic_store_explicit(&jobs->next, 0, memory_order_relaxed);
    jobs->working = jobs->worker_count;
    jobs->batch++;
    os_lock_wake_all(jobs->lock);
    os_unlock(jobs->lock);
    work(jobs);
    os_lock(jobs->lock);
    while (jobs->working > 0)
        os_lock_wait(jobs->lock);
    os_unlock(jobs->lock);
}

static bp_result_t start_workers(jobs_t *jobs, uint32_t threads)
{
    while (jobs->worker_count < threads - 1) {
        if (!os_thread_start(&jobs->threads[jobs->worker_count], worker, jobs))
            return error_set(&jobs->base->error, BP_ERROR_LIMIT, "only %u of %u threads could be started", jobs->worker_count + 1, threads);
        jobs->worker_count++;
    }
    return BP_OK;
}

bp_result_t jobs_create(base_t *base, uint32_t threads, jobs_t **out)
{
    jobs_t *jobs = memory_new(&base->memory, sizeof *jobs);
    if (jobs == NULL)
        return error_memory(&base->error, "starting threads");
    jobs->base = base;
    memory_init_child(&jobs->memory, "jobs", &base->memory);
    jobs->lock = os_lock_create();
    jobs->threads = memory_new(&jobs->memory, threads * sizeof *jobs->threads);
    bool room = jobs->lock != NULL && jobs->threads != NULL;
    bp_result_t result = room ? start_workers(jobs, threads) : error_memory(&base->error, "starting threads");
    if (result != BP_OK)
        jobs_free(jobs);
    else
        *out = jobs;
    return result;
}

void jobs_free(jobs_t *jobs)
{
    if (jobs->lock != NULL) {
        os_lock(jobs->lock);
        jobs->stopping = true;
        os_lock_wake_all(jobs->lock);
        os_unlock(jobs->lock);
    }
    for (uint32_t i = 0; i < jobs->worker_count; i++)
        os_thread_join(jobs->threads[i]);
    if (jobs->lock != NULL)
        os_lock_destroy(jobs->lock);
    memory_free(&jobs->memory, jobs->threads, memory_bytes(&jobs->memory));
    memory_free(&jobs->base->memory, jobs, sizeof *jobs);
}

bp_jobs_i jobs_table(jobs_t *jobs)
{
    return (bp_jobs_i){.context = jobs, .threads = jobs->worker_count + 1, .run = run};
}
