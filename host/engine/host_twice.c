/* host_twice.c - checks of steps: which values units write, and the same step on another number of threads and in a
 * clone.
 *
 * The steps for comparison come first and are undone: history, recording and output systems are not told of them. Data
 * from outside is taken by the first step, and given to the others.
 */
#include "../history/compare.h"
#include "host.h"

#include <inttypes.h>
#include <stdio.h>

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

/* The steps: one on other threads that is undone, the host's own, and one in a clone. */
enum { ASIDE, OWN, CLONE, SIDES };

/* One host after a step. */
typedef struct side_t {
    bp_host_o *host;    /* NULL: this step was not taken */
    audit_t audit;
    bytes_t bytes;
    snapshot_t snapshot;
    uint32_t threads;
    bool taken;
} side_t;

typedef struct twice_t {
    bp_host_o *host;
    parts_t parts;
    bytes_t before, taken; /* the state; what came from outside */
    side_t sides[SIDES];
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

/* A step with its results taken down, and the host after it. Where that fails `taken` says whether the host has taken
 * the step. */
static bp_result_t step_once(side_t *side)
{
    bp_host_o *host = side->host;
    parts_t parts = host_parts(host);
    bp_result_t result = host_expect_results(host, &side->audit);
    if (result != BP_OK)
        return result;
    host->crew.audit = &side->audit;
    result = bp_host_step(host);
    side->taken = result == BP_OK;
    if (result == BP_OK)
        result = snapshot_take(&parts, &side->bytes);
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

/* Bring the host back to the state before the step aside. Where memory lacks that is tried once more: what has been
 * reserved by then stays; and a last time without what the step has left to be compared with. */
static bp_result_t undo_aside(twice_t *t)
{
    bp_result_t back = go_back(t);
    if (back == BP_ERROR_MEMORY)
        back = go_back(t);
    if (back != BP_ERROR_MEMORY)
        return back;
    snapshot_close(&t->sides[ASIDE].snapshot);
    bytes_free(&t->sides[ASIDE].bytes);
    go_back(t);
    return back;
}

/* The step on other threads. Afterwards the host is brought back to the state before. */
static bp_result_t step_aside(twice_t *t)
{
    bp_host_o *host = t->host;
    bp_jobs_i jobs = host->crew.jobs;
    outside_t *outside = &host->history.outside;
    bool recomputing = host->crew.recomputing, going = host->history.going, notes = outside->notes;
    if (!history_give_inputs(&host->history))
        return error_memory(&host->base.error, "giving plugins what they took from outside");
    outside->notes = true;
    outside->copy = &t->taken;
    host->crew.jobs = t->sides[ASIDE].threads > 1 ? jobs_table(host->other_pool) : (bp_jobs_i){.threads = 1};
    host->crew.recomputing = host->history.going = true;
    bp_result_t result = snapshot_suspend_outputs(&t->parts);
    if (result == BP_OK)
        result = history_bring_calls(&host->history, &t->parts);
    if (result == BP_OK)
        result = step_once(&t->sides[ASIDE]);
    outside_end(outside);
    outside->notes = notes;
    outside->copy = NULL;
    if (result == BP_OK && (t->taken.failed || !outside_give(outside, t->taken.start, t->taken.size)))
        result = error_memory(&host->base.error, "keeping what plugins take from outside");
    host->crew.jobs = jobs;
    host->crew.recomputing = recomputing;
    char told[sizeof host->base.error.text];
    memcpy(told, host->base.error.text, sizeof told);
    bp_result_t back = undo_aside(t);
    if (result != BP_OK)
        memcpy(host->base.error.text, told, sizeof told);
    host->history.going = going;
    return result != BP_OK ? result : back;
}

/* Lines of a clone's log are dropped: the host logs the same. */
static void say_nothing(void *context, int32_t level, const char *source, const char *text)
{
    (void)context, (void)level, (void)source, (void)text;
}

/* The step in a clone of the host, which is made for this step alone and freed after it. Where the host cannot be
 * cloned the log says so once. */
static bp_result_t step_in_a_clone(twice_t *t)
{
    side_t *side = &t->sides[CLONE];
    bp_host_o *host = t->host;
    bp_result_t result = bp_host_clone(host, &side->host);
    if (result == BP_ERROR_STATE) {
        if (!host->tells_no_clone)
            log_write(&host->base.log, BP_LOG_WARNING, "host", "steps are not taken in a clone too: %s",
                      host->base.error.text);
        host->tells_no_clone = true;
        side->host = NULL;
        return BP_OK;
    }
    if (result != BP_OK)
        return result;
    side->host->base.log = (bp_log_i){.struct_size = sizeof(bp_log_i), .write = say_nothing};
    audit_init(&side->audit, &side->host->base, false);
    if (!outside_give(&side->host->history.outside, t->taken.start, t->taken.size))
        return error_memory(&host->base.error, "giving plugins what they took from outside");
    const parts_t parts = host_parts(side->host);
    result = history_bring_calls(&host->history, &parts);
    if (result == BP_OK)
        result = step_once(side);
    return result == BP_OK ? result : error_set(&host->base.error, result, "in a clone: %s",
                                                side->host->base.error.text);
}

/* The first unit with different results, in the order of the step. */
static const audit_result_t *find_difference(const side_t *other, const side_t *own)
{
    const audit_t *a = &other->audit, *b = &own->audit;
    for (uint32_t i = 0; i < a->result_count && i < b->result_count; i++) {
        if (a->results[i].hash != b->results[i].hash)
            return &b->results[i];
    }
    return NULL;
}

static bp_result_t compare(twice_t *t, uint32_t with, uint64_t step, const bp_diff_i *differences)
{
    error_text_t *error = &t->host->base.error;
    const side_t *other = &t->sides[with], *own = &t->sides[OWN];
    if (other->host == NULL)
        return BP_OK;
    const audit_result_t *first = find_difference(other, own);
    const snapshot_t *a = &other->snapshot, *b = &own->snapshot;
    if (first == NULL && snapshot_hash(a) == snapshot_hash(b))
        return BP_OK;
    bp_diff_i known;
    host_read_part(&known, differences, sizeof known);
    snapshot_diff(&t->host->base, a, b, &known);
    char where[64] = "in a clone than in the host itself";
    if (with == ASIDE)
        snprintf(where, sizeof where, "on %u threads than on %u", other->threads, own->threads);
    if (first == NULL)
        return error_set(error, BP_ERROR_FAILED,
                         "step %" PRIu64 " comes to another end %s, though units write the same fields in rows: "
                         "storage of a component's own, a state, commands or what comes after the units differs",
                         step, where);
    const world_t *world = first->unit->schedule->world;
    const manager_t *manager = world->managers[first->manager];
    return error_set(error, BP_ERROR_FAILED,
                     "step %" PRIu64 ": %s '%s' of world '%s' writes something else %s, first in %s.%s", step,
                     first->unit->system != NULL ? "system" : "component", first->unit->name, world->name, where,
                     manager->component->name, manager->columns[first->column]->name);
}

/* The step that stays. An error other than BP_ERROR_FAILED would say that the host is where it was. */
static bp_result_t step_own(twice_t *t, uint64_t step)
{
    bp_result_t result = step_once(&t->sides[OWN]);
    if (result == BP_OK || !t->sides[OWN].taken)
        return result;
    return error_prefix(&t->host->base.error, BP_ERROR_FAILED,
                        "step %" PRIu64 " has been taken, and cannot be compared: ", step);
}

static void free_all(twice_t *t)
{
    for (uint32_t i = 0; i < SIDES; i++) {
        snapshot_close(&t->sides[i].snapshot);
        bytes_free(&t->sides[i].bytes);
        audit_free(&t->sides[i].audit);
    }
    bytes_free(&t->before);
    bytes_free(&t->taken);
    bp_host_destroy(t->sides[CLONE].host);
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
    if (!history_can_compare(&host->history))
        return bp_host_step(host);
    memory_t *memory = &host->base.memory;
    audit_t *audit = host->crew.audit;
    reload_accept(&host->reload); /* a snapshot does not have the columns that a reload on probation keeps hidden */
    twice_t t = {.host = host, .parts = host_parts(host)};
    t.sides[ASIDE].host = t.sides[OWN].host = host;
    uint64_t step = host->destruction.world_count > 0 ? host_world(host, 0)->clock.steps : 0;
    bytes_init(&t.before, memory);
    bytes_init(&t.taken, memory);
    for (uint32_t i = 0; i < SIDES; i++) {
        audit_init(&t.sides[i].audit, &host->base, false);
        bytes_init(&t.sides[i].bytes, memory);
        t.sides[i].threads = i == ASIDE ? threads : own;
    }
    result = snapshot_check(&t.parts);
    if (result == BP_OK)
        result = snapshot_take(&t.parts, &t.before);
    if (result == BP_OK)
        result = step_aside(&t);
    if (result == BP_OK)
        result = step_in_a_clone(&t);
    if (result == BP_OK)
        result = step_own(&t, step);
    host->crew.audit = audit;
    for (uint32_t i = 0; i < SIDES && result == BP_OK; i++)
        result = i == OWN ? BP_OK : compare(&t, i, step, differences);
    outside_end(&host->history.outside); /* where no step was taken, nothing is left to be given to the next one */
    free_all(&t);
    return result;
}
