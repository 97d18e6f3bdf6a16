/* jobs.c - workers that wait for a batch and take its jobs one by one.
 *
 * A batch is open while its gate is: `gate` holds the batch's number, whether it is open, and how many workers are
 * inside. A worker enters an open batch once; jobs are handed out by an atomic counter, so a slow job does not delay
 * the other jobs. The caller works too, closes the gate when there are no more jobs, and returns when no worker is
 * inside. A worker that wakes up late finds the gate closed and does not enter, so the caller does not wait for it, and
 * after the return no thread uses the batch.
 *
 * A thread that waits spins a little first, since the next batch of a step comes soon, and then sleeps under the lock.
 * A thread about to sleep sets its flag before it looks at the gate a last time, and a thread that changes the gate
 * looks at the flags afterwards: so either the sleeper sees the changed gate or the other thread sees the flag, and no
 * wake-up is lost. With more threads than processors no thread spins.
 *
 * A copy of the process, made by fork, has the calling thread only, and a worker may have held the lock when it was
 * made: there the caller does all jobs, and neither waits for workers nor uses the lock.
 */
#include "jobs.h"

#include "../os/arithmetic.h"
#include "../os/os.h"

#define OPEN UINT64_C(0x80000000)
#define INSIDE UINT64_C(0x7fffffff)
#define BATCH 32 /* the number lies above this bit */

struct jobs_t {
    base_t *base;
    memory_t memory;
    uint64_t process; /* that has the workers */
    os_lock_t *lock;
    os_thread_t *threads;
    uint32_t worker_count;
    uint32_t spin;
    _Atomic uint64_t gate;
    _Atomic uint32_t sleeping; /* workers asleep, or about to be */
    _Atomic bool waiting;      /* the caller likewise */
    _Atomic bool stopping;
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

static void wake(jobs_t *jobs)
{
    os_lock(jobs->lock);
    os_lock_wake_all(jobs->lock);
    os_unlock(jobs->lock);
}

static bool is_news(jobs_t *jobs, uint64_t seen)
{
    uint64_t gate = atomic_load(&jobs->gate);
    return atomic_load(&jobs->stopping) || (gate >> BATCH != seen && (gate & OPEN) != 0);
}

static void wait_for_news(jobs_t *jobs, uint64_t seen)
{
    for (uint32_t turn = 0; turn < jobs->spin; turn++) {
        if (is_news(jobs, seen))
            return;
        os_relax(turn % OS_SHORT_TURNS);
    }
    os_lock(jobs->lock);
    atomic_fetch_add(&jobs->sleeping, 1);
    while (!is_news(jobs, seen))
        os_lock_wait(jobs->lock);
    atomic_fetch_sub(&jobs->sleeping, 1);
    os_unlock(jobs->lock);
}

/* Enter the batch that is open, if one is; its number, or `seen`. */
static uint64_t enter(jobs_t *jobs, uint64_t seen)
{
    uint64_t gate = atomic_load(&jobs->gate);
    while ((gate & OPEN) != 0 && gate >> BATCH != seen) {
        if (atomic_compare_exchange_weak(&jobs->gate, &gate, gate + 1))
            return gate >> BATCH;
    }
    return seen;
}

static void leave(jobs_t *jobs)
{
    uint64_t gate = atomic_fetch_sub(&jobs->gate, 1) - 1;
    if ((gate & (OPEN | INSIDE)) == 0 && atomic_load(&jobs->waiting))
        wake(jobs);
}

static void worker(void *data)
{
    jobs_t *jobs = data;
    uint64_t seen = 0;
    for (;;) {
        wait_for_news(jobs, seen);
        if (atomic_load(&jobs->stopping))
            return;
        uint64_t batch = enter(jobs, seen);
        if (batch == seen)
            continue;
        seen = batch;
        work(jobs);
        leave(jobs);
    }
}

static void wait_until_empty(jobs_t *jobs)
{
    uint64_t gate = atomic_fetch_and(&jobs->gate, ~OPEN);
    for (uint32_t turn = 0; (gate & INSIDE) != 0 && turn < jobs->spin; turn++) {
        os_relax(turn % OS_SHORT_TURNS);
        gate = atomic_load(&jobs->gate);
    }
    if ((gate & INSIDE) == 0)
        return;
    os_lock(jobs->lock);
    atomic_store(&jobs->waiting, true);
    while ((atomic_load(&jobs->gate) & INSIDE) != 0)
        os_lock_wait(jobs->lock);
    atomic_store(&jobs->waiting, false);
    os_unlock(jobs->lock);
}

static void run(void *context, void (*job)(void *data, uint32_t index), void *data, uint32_t count)
{
    jobs_t *jobs = context;
    jobs->job = job;
    jobs->data = data;
    jobs->count = count;
    atomic_store_explicit(&jobs->next, 0, memory_order_relaxed);
    if (count > 1 && jobs->process != os_process_number()) {
        work(jobs);
        return;
    }
    if (count > 1) {
        uint64_t batch = (atomic_load(&jobs->gate) >> BATCH) + 1;
        batch = batch >> 32 != 0 ? 1 : batch; /* 0 is what a new worker has seen */
        atomic_store(&jobs->gate, batch << BATCH | OPEN);
        if (atomic_load(&jobs->sleeping) > 0)
            wake(jobs);
    }
    work(jobs);
    wait_until_empty(jobs);
}

static bp_result_t start_workers(jobs_t *jobs, uint32_t threads)
{
    while (jobs->worker_count < threads - 1) {
        if (!os_thread_start(&jobs->threads[jobs->worker_count], worker, jobs))
            return error_set(&jobs->base->error, BP_ERROR_LIMIT, "only %u of %u threads could be started",
                             jobs->worker_count + 1, threads);
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
    jobs->process = os_process_number();
    jobs->spin = threads <= os_processor_count() ? JOBS_SPIN : 0;
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
    atomic_store(&jobs->stopping, true);
    if (jobs->lock != NULL)
        wake(jobs);
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

/* --- batches on any table ----------------------------------------------------------------------------------------- */

typedef struct alike_t {
    void (*job)(void *data, uint32_t index);
    void *data;
    uint32_t arithmetic; /* of the thread that waits for the batch */
} alike_t;

static void run_alike(void *data, uint32_t index)
{
    const alike_t *alike = data;
    uint32_t before = arithmetic_begin(alike->arithmetic);
    alike->job(alike->data, index);
    arithmetic_end(before);
}

void jobs_run(const bp_jobs_i *jobs, void (*job)(void *data, uint32_t index), void *data, uint32_t count)
{
    alike_t alike = {job, data, arithmetic_control()};
    jobs->run(jobs->context, run_alike, &alike, count);
}
