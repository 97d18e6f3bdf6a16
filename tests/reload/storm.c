/* storm.c - the host of a storm, its steps, and which events are drawn.
 *
 * Six plugins: `patch`, whose fields are another random list after each reload; `keeper`, which has storage of its own
 * and goes over by `save` and `load`; `gale`, whose systems write, send, make and end (storm_gale.c); `den`, whose
 * storage of its own is another after each reload (storm_den.c); `crasher`, which has fields and storage of its own, in
 * two versions, and crashes when it is told to; and `zoo`, which is linked in.
 * Up to four worlds, of which all but the first come and go.
 *
 * After each event every value of the model is compared with the host's (storm_model.h).
 */
#include "../system/calls.h"
#include "storm_model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 80 };

static const char *const instances[KINDS] = {"", "second", "", "", "", "", "", "lair", "", ""};

uint32_t storm_below(uint32_t bound)
{
    return bp_random_below(&storm.random, bound);
}

/* --- what there is ------------------------------------------------------------------------------------------------ */

uint32_t storm_some_world(void)
{
    return storm.now.order[storm_below(storm.now.order_count)];
}

uint32_t storm_some_entity(void)
{
    uint32_t first = storm_below(ENTITIES);
    for (uint32_t i = 0; i < ENTITIES; i++) {
        if (storm.now.alive[(first + i) % ENTITIES])
            return (first + i) % ENTITIES;
    }
    return ENTITIES;
}

bool storm_may_have(uint32_t kind)
{
    return kind < PLAIN || (storm.how->crashes && !storm.aside);
}

bool storm_on_probation(uint32_t what)
{
    return storm.host->reload.probation != NULL && storm.probation == what;
}

bool storm_done(bp_result_t result, const char *what)
{
    bool failed = storm_mend();
    SAYS(result == BP_OK || failed, "%s: %s", what, bp_host_error(storm.host));
    return result == BP_OK;
}

uint32_t storm_key(uint32_t world, uint32_t kind)
{
    return key_of(storm.worlds[world], storm_types[kind], instances[kind]);
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

/* Work of a few entities is not worth waking threads for, and they would never be used: have the host expect that it
 * takes long. */
void storm_share_work(void)
{
    EACH_WORLD(w) {
        schedule_t *schedule = storm.worlds[w]->schedule;
        if (storm.how->range > 0)
            schedule->least_range = storm.how->range;
        if (storm.how->threads == 1)
            continue;
        for (uint32_t i = 0; i < schedule->count; i++) {
            schedule->units[i]->expected = PACE_LONG_NS;
            schedule->units[i]->steps += schedule->units[i]->steps == 0;
        }
        for (uint32_t i = 0; i < schedule->segment_count; i++)
            pace_forget(&schedule->segments[i].pace);
        pace_forget(&schedule->together);
    }
}

void storm_stepped(uint32_t only)
{
    if (storm_past_stepped(only))
        return;
    for (uint32_t i = 0; i < storm.now.order_count; i++) {
        if (only == WORLDS || storm.now.order[i] == only)
            storm_gale_step(storm.now.order[i]);
    }
    storm_gale_born();
    storm_past_remember();
}

void storm_step_of(uint32_t only)
{
    bool whole = only == WORLDS, rows = false;
    bool may_come_back = storm_on_probation(OF_CRASHER);
    for (uint32_t e = 0; e < ENTITIES; e++) {
        EACH_WORLD(w)
            rows = rows || (storm.now.places[e][w].has[PLAIN] && (whole || w == only));
    }
    storm.died = false;
    storm_share_work();
    if (whole)
        DOES(bp_host_step(storm.host));
    else
        DOES(bp_world_step(storm.worlds[only]));
    storm_stepped(only);
    if (storm.version == 2 && storm.armed && rows && !storm.aside) {
        storm_after_crash(may_come_back);
        return;
    }
    for (uint32_t e = 0; e < ENTITIES && !storm.aside && storm.how->crashes; e++) {
        EACH_WORLD(w) {
            if (storm.now.places[e][w].has[PLAIN] && (whole || w == only))
                storm.now.places[e][w].x += storm.version == 2 ? 100.0f : 1.0f;
        }
    }
}

static void step(void)
{
    for (uint32_t n = 1 + storm_below(4); n > 0; n--)
        storm_step_of(storm.now.order_count == 1 || storm_below(3) > 0 ? WORLDS : storm_some_world());
}

/* --- more --------------------------------------------------------------------------------------------------------- */

bool storm_same_fields(const patch_list_t *a, const patch_list_t *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; i < a->count && same; i++)
        same = a->fields[i].name == b->fields[i].name && a->fields[i].type == b->fields[i].type;
    return same;
}

static void refer(void)
{
    uint32_t e = storm_some_entity(), w = storm_some_world();
    if (e < ENTITIES)
        storm_handles_refer(e, w);
}

/* As where the machine has slept. */
static void leap(void)
{
    storm.counts->leaps++;
    calls_clock_leaps((uint64_t)storm_below(10000) * UINT64_C(1000000000));
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

typedef struct kind_t {
    const char *name;
    void (*happen)(void);
    uint32_t weight;
} kind_t;

static const kind_t kinds[] = {
    {"create", storm_create, 8},
    {"destroy", storm_destroy, 4},
    {"add or remove", storm_add_or_remove, 8},
    {"write", storm_write_value, 10},
    {"crowd", storm_crowd, 4},
    {"step", step, 8},
    {"reload patch", storm_reload_patch, 6},
    {"reload keeper", storm_reload_keeper, 3},
    {"reload gale", storm_reload_gale, 4},
    {"reload den", storm_den_reload, 6},
    {"reload crasher", storm_reload_crasher, 6},
    {"take back", storm_take_back, 4},
    {"unload and load", storm_unload_and_load, 1},
    {"end or begin a world", storm_end_or_begin_world, 2},
    {"take a snapshot", storm_take_snapshot, 4},
    {"bring back", storm_bring_back, 6},
    {"remember", storm_remember, 4},
    {"visit", storm_visit, 8},
    {"save", storm_save, 3},
    {"restore", storm_restore, 6},
    {"refer", refer, 4},
    {"spawn", storm_spawn, 3},
    {"the clock leaps", leap, 1},
    {"clone", storm_clone, 3},
    {"try", storm_try, 3},
    {"step twice", storm_step_twice, 3},
    {"draft", storm_draft, 6},
    {"record", storm_record, 4},
    {"audit", storm_audit, 1},
};

const char *storm_name(uint32_t kind)
{
    return kinds[kind].name;
}

uint32_t storm_draw(uint64_t seed, const storm_host_t *how, storm_event_t events[STORM_MOST])
{
    uint64_t random = (seed + 1) * UINT64_C(0xD1342543DE82EF95) ^ seed << 20 ^ (how->crashes ? 1u : 0u);
    uint32_t weights = 0, count = EVENTS + bp_random_below(&random, EVENTS);
    for (uint32_t i = 0; i < COUNT(kinds); i++)
        weights += kinds[i].weight;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t kind = 0, left = bp_random_below(&random, weights);
        while (left >= kinds[kind].weight)
            left -= kinds[kind++].weight;
        uint64_t high = bp_random_below(&random, UINT32_MAX);
        uint64_t low = bp_random_below(&random, UINT32_MAX);
        events[n] = (storm_event_t){.kind = n < 3 ? 0 : kind, .random = high << 32 | low};
    }
    return count;
}

/* The rig's heap is for one thread; a step that is taken twice (storm_step_twice) has some of its own. */
static void *resize_in_turn(void *context, void *old, size_t old_size, size_t new_size)
{
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    const bp_allocator_i *heap = context;
    pthread_mutex_lock(&turn);
    void *block = heap->resize(heap->context, old, old_size, new_size);
    pthread_mutex_unlock(&turn);
    return block;
}

/* Where something fails meanwhile nothing is left, and it is done once more. */
static void make_host(const storm_host_t *how)
{
    rig_t *rig = &storm.rig;
    rig_init(rig);
    storm.in_turn = (bp_allocator_i){.context = &rig->allocator, .resize = resize_in_turn};
    /* On several threads, requests of a step would come in another order each time, and others of them be refused. */
    rig->desc.allocator = how->threads > 1 ? NULL : &storm.in_turn;
    rig->desc.threads = how->threads;
    rig->desc.flags = BP_HOST_COPY_PLUGINS | (how->crashes ? BP_HOST_CRASH_GUARD : 0) |
                      (how->trial ? BP_HOST_TRIAL : 0);
    bool failed = true;
    while (failed && storm.host == NULL) {
        storm_break_threads();
        storm.host = bp_host_create(&rig->desc);
        failed = storm_mend();
    }
    SAYS(storm.host != NULL, "a host cannot be made");
    rig->host = storm.host;
    storm.api = rig->api = bp_host_api(storm.host);
}

static void open_host(const storm_host_t *how)
{
    make_host(how);
    storm_reload_open();
    storm_tell_crasher("nowhere", "null");
    STORM_INSIST(bp_host_load_plugin(storm.host, zoo_plugins[0]->name, NULL, 0));
    patch_open(&storm.file);
    patch_put(&storm.file, &storm.now.list);
    STORM_INSIST(bp_host_load_plugin(storm.host, storm_path("patch" TEST_SO), NULL, 0));
    const char *keeper = put_plugin("keeper", "keeper");
    STORM_INSIST(bp_host_load_plugin(storm.host, keeper, NULL, 0));
    storm_gale_open();
    STORM_INSIST(bp_host_load_plugin(storm.host, storm_path("gale" TEST_SO), NULL, 0));
    storm_den_open();
    STORM_INSIST(bp_host_load_plugin(storm.host, storm_path("den" TEST_SO), NULL, 0));
    const char *crasher = put_plugin("crasher", "crasher");
    if (how->crashes)
        STORM_INSIST(bp_host_load_plugin(storm.host, crasher, NULL, 0));
    storm_make_world(0);
    DOES(bp_world_use_component(storm.worlds[0], "mark"));
    storm_use_all(0);
    storm_handles_open();
    storm_handles_make(0);
}

uint64_t storm_go(const storm_host_t *how, const storm_event_t *events, uint32_t count, storm_count_t *counts,
                  void (*give_up)(uint32_t event, const char *what))
{
    memset(&storm, 0, sizeof storm);
    if (how->crashes)
        KEEPS_MEMORY();
    storm.how = how;
    storm.counts = counts;
    storm.give_up = give_up;
    storm.version = 1;
    storm.hash = UINT64_C(0xcbf29ce484222325);
    storm.random = count > 0 ? events[0].random ^ UINT64_C(0x9E3779B97F4A7C15) : 1;
    storm_past_open();
    storm_apart_open();
    open_host(how);
    storm_compare();
    for (storm.event = 0; storm.event < count; storm.event++) {
        storm.random = events[storm.event].random;
        kinds[events[storm.event].kind].happen();
        storm_compare();
    }
    uint32_t crashes = counts->crashes + (how->crashes ? 1u : 0u);
    bp_snapshot_free(storm.snapshot);
    bp_host_destroy(storm.host);
    SAYS(crashes > 0 || storm.rig.heap.bytes == 0, "%zu bytes are left", storm.rig.heap.bytes);
    free(storm.file.bytes);
    return storm.hash;
}
