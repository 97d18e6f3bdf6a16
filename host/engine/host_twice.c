/* host_twice.c - steps that are looked at closely: what units write, and the same step on another number of threads.
 *
 * The first of the two steps leaves no trace: no history, no recording and no output system hears of it.
 */
#include "../history/compare.h"
#include "host.h"

#include <inttypes.h>

enum { OTHER_THREADS = 4 };

bp_result_t bp_host_audit(bp_host_o *host, uint32_t flags)
{
    bp_result_t result = host_refuse_during_step(host);
    if (result != BP_OK)
        return result;
    if ((flags & ~(uint32_t)BP_AUDIT_WRITES) != 0)
        return error_set(&host->base.error, BP_ERROR_ARGUMENT, "an audit has flags 0x%x, which mean nothing", flags);
    audit_free(&host->audit);
    host->audits = flags != 0;
    if (host->watch.watch.struct_size == 0)
        host->crew.audit = host->audits ? &host->audit : NULL;
    return BP_OK;
}

bp_result_t bp_host_watch_units(bp_host_o *host, const bp_unit_watch_i *watch)
{
    bp_result_t result = host_refuse_during_step(host);
    if (result != BP_OK)
        return result;
    host_read_part(&host->watch.watch, watch, sizeof host->watch.watch);
    host->watch.watch.struct_size = watch != NULL ? (uint32_t)sizeof *watch : 0;
    host->crew.audit = watch != NULL ? &host->watch : host->audits ? &host->audit : NULL;
    return BP_OK;
}

/* One host after a step. */
typedef struct side_t {
    audit_t audit;
    bytes_t bytes;
    snapshot_t snapshot;
    uint32_t threads;
} side_t;

typedef struct twice_t {
    bp_host_o *host;
    parts_t parts;
    bytes_t before;
    side_t sides[2]; /* the one that never was, and the other */
} twice_t;

static bp_result_t find_threads(bp_host_o *host, uint32_t threads)
{
    if (threads > JOBS_MAX_THREADS)
        return error_set(&host->base.error, BP_ERROR_LIMIT, "%u threads; at most %d are allowed", threads,
                         JOBS_MAX_THREADS);
    if (threads <= 1 || host->other_threads == threads)
        return BP_OK;
    if (!error_reserve_calls(&host->base.error, &host->base.memory,
                             1 + (threads > host->crew.jobs.threads ? threads : host->crew.jobs.threads)))
        return error_memory(&host->base.error, "making room for what threads say");
    jobs_t *pool;
    bp_result_t result = jobs_create(&host->base, threads, &pool);
    if (result != BP_OK)
        return result;
    if (host->other_pool != NULL)
        jobs_free(host->other_pool);
    host->other_pool = pool;
    host->other_threads = threads;
    return BP_OK;
}

bp_result_t host_expect_results(bp_host_o *host, audit_t *audit)
{
    bp_result_t result = BP_OK;
    audit_clear(audit);
    for (uint32_t i = 0; i < host->destruction.world_count && result == BP_OK; i++) {
        result = schedule_prepare(host_world(host, i)->schedule);
        if (result == BP_OK)
            result = audit_expect(audit, host_world(host, i)->schedule);
    }
    return result;
}

/* A step with its results taken down, and the host after it. */
static bp_result_t step_once(twice_t *t, side_t *side)
{
    bp_host_o *host = t->host;
    bp_result_t result = host_expect_results(host, &side->audit);
    if (result != BP_OK)
        return result;
    host->crew.audit = &side->audit;
    result = bp_host_step(host);
    if (result == BP_OK)
        result = snapshot_take(&t->parts, &side->bytes);
    return result != BP_OK ? result
                           : snapshot_open(&side->snapshot, &host->base.memory, &host->base.error, side->bytes.start,
                                           side->bytes.size);
}

static bp_result_t go_back(twice_t *t)
{
    snapshot_t snapshot;
    bp_result_t result = snapshot_open(&snapshot, &t->host->base.memory, &t->host->base.error, t->before.start,
                                       t->before.size);
    if (result != BP_OK)
        return result;
    result = snapshot_restore(&t->parts, &snapshot);
    snapshot_close(&snapshot);
    return result;
}

/* On other threads, as if it had never been. */
static bp_result_t step_aside(twice_t *t)
{
    bp_host_o *host = t->host;
    bp_jobs_i jobs = host->crew.jobs;
    bool recomputing = host->crew.recomputing, going = host->history.going;
    host->crew.jobs = t->sides[0].threads > 1 ? jobs_table(host->other_pool) : (bp_jobs_i){.threads = 1};
    host->crew.recomputing = host->history.going = true;
    bp_result_t result = step_once(t, &t->sides[0]);
    host->crew.jobs = jobs;
    host->crew.recomputing = recomputing;
    char told[sizeof host->base.error.text];
    memcpy(told, host->base.error.text, sizeof told);
    bp_result_t back = go_back(t);
    if (result != BP_OK)
        memcpy(host->base.error.text, told, sizeof told);
    host->history.going = going;
    return result != BP_OK ? result : back;
}

/* The first unit whose results differ, in the order of the step. */
static const audit_result_t *find_difference(const twice_t *t)
{
    const audit_t *a = &t->sides[0].audit, *b = &t->sides[1].audit;
    for (uint32_t i = 0; i < a->result_count && i < b->result_count; i++) {
        if (a->results[i].hash != b->results[i].hash)
            return &b->results[i];
    }
    return NULL;
}

static bp_result_t compare(twice_t *t, uint64_t step, const bp_diff_i *differences)
{
    error_text_t *error = &t->host->base.error;
    const audit_result_t *first = find_difference(t);
    const snapshot_t *a = &t->sides[0].snapshot, *b = &t->sides[1].snapshot;
    if (first == NULL && snapshot_hash(a) == snapshot_hash(b))
        return BP_OK;
    bp_diff_i known;
    host_read_part(&known, differences, sizeof known);
    snapshot_diff(&t->host->base, a, b, &known);
    if (first == NULL)
        return error_set(error, BP_ERROR_FAILED,
                         "step %" PRIu64 " comes to another end on %u threads than on %u, though units write the same "
                         "fields in rows: storage of a component's own, a state, commands or what comes after the "
                         "units differs", step, t->sides[0].threads, t->sides[1].threads);
    const world_t *world = first->unit->schedule->world;
    const manager_t *manager = world->managers[first->manager];
    return error_set(error, BP_ERROR_FAILED,
                     "step %" PRIu64 ": %s '%s' of world '%s' writes something else on %u threads than on %u, first in "
                     "%s.%s", step, first->unit->system != NULL ? "system" : "component", first->unit->name,
                     world->name, t->sides[0].threads, t->sides[1].threads, manager->component->name,
                     manager->columns[first->column]->name);
}

bp_result_t bp_host_step_twice(bp_host_o *host, uint32_t threads, const bp_diff_i *differences)
{
    bp_result_t result = host_refuse_from_inside(host);
    uint32_t own = host->crew.jobs.threads > 1 ? host->crew.jobs.threads : 1;
    threads = threads != 0 ? threads : own > 1 ? 1 : OTHER_THREADS;
    if (result == BP_OK)
        result = find_threads(host, threads);
    if (result != BP_OK)
        return result;
    memory_t *memory = &host->base.memory;
    audit_t *audit = host->crew.audit;
    reload_accept(&host->reload); /* as whoever goes back ends it: what it keeps hidden is in no snapshot */
    twice_t t = {.host = host, .parts = host_parts(host)};
    uint64_t step = host->destruction.world_count > 0 ? host_world(host, 0)->clock.steps : 0;
    bytes_init(&t.before, memory);
    for (uint32_t i = 0; i < 2; i++) {
        audit_init(&t.sides[i].audit, &host->base, false);
        bytes_init(&t.sides[i].bytes, memory);
        t.sides[i].threads = i == 0 ? threads : own;
    }
    result = snapshot_check(&t.parts);
    if (result == BP_OK)
        result = snapshot_take(&t.parts, &t.before);
    if (result == BP_OK)
        result = step_aside(&t);
    if (result == BP_OK)
        result = step_once(&t, &t.sides[1]);
    host->crew.audit = audit;
    if (result == BP_OK)
        result = compare(&t, step, differences);
    for (uint32_t i = 0; i < 2; i++) {
        snapshot_close(&t.sides[i].snapshot);
        bytes_free(&t.sides[i].bytes);
        audit_free(&t.sides[i].audit);
    }
    bytes_free(&t.before);
    return result;
}
