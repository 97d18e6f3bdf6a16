/* storm_files.c - all worlds into one file, and out of it; and what fails meanwhile: requests for memory, and calls of
 * the system (tests/system/calls.h).
 *
 * A save that fails leaves the old file or the new one: which, the storm does not ask, and forgets the file. A restore
 * that fails has changed nothing.
 */
#include "../system/calls.h"
#include "storm_model.h"

#include <string.h>

const char *storm_path(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", storm.how->folder, name);
    return path;
}

/* --- what fails --------------------------------------------------------------------------------------------------- */

const char *const storm_calls[STORM_CALLS] = {
    "open", "read", "write", "close", "fsync", "rename", "remove", "mmap", "fork", "pipe", "dlopen", "pthread_create",
    "pthread_mutex_init", "pthread_cond_init", "fstat", "stat", "realpath", "mkdtemp", "flock", "fchmod"};

/* Any call, or the first or second one of a name, since some are rare. */
static void break_call(uint32_t nth)
{
    uint32_t named = storm_below(2 * STORM_CALLS);
    if (named < STORM_CALLS)
        calls_begin_named(storm_calls[named], 1 + (nth % 3 == 0 ? 1u : 0u));
    else
        calls_begin(1 + nth % 40, false);
}

void storm_break(uint32_t most)
{
    heap_t *heap = &storm.rig.heap;
    uint32_t which = storm_below(4), nth = 1 + storm_below(most);
    storm.broken = storm.how->faults && which < 2;
    storm.refused = heap->refused;
    if (storm.broken && which == 0 && storm.how->threads == 1)
        heap->refuse_first = heap->refuse_last = heap->requests + nth;
    else if (storm.broken)
        break_call(nth);
}

void storm_break_threads(void)
{
    static const char *const names[] = {"pthread_create", "pthread_mutex_init", "pthread_cond_init"};
    uint32_t which = storm_below(6);
    storm.refused = storm.rig.heap.refused;
    storm.broken = storm.how->faults && which < COUNT(names);
    if (storm.broken)
        calls_begin_named(names[which], 1);
}

static void count_call(const char *name)
{
    for (uint32_t i = 0; i < STORM_CALLS; i++)
        storm.counts->failed[i] += strcmp(storm_calls[i], name) == 0;
}

bool storm_mend(void)
{
    heap_t *heap = &storm.rig.heap;
    bool memory = heap->refused != storm.refused, call = false;
    bool in_copy = storm.how->trial && heap->refuse_first != 0; /* perhaps */
    if (storm.broken && heap->refuse_first == 0) {
        calls_end();
        call = calls_failed() > 0;
        count_call(calls_first_failed());
    }
    heap->refuse_first = heap->refuse_last = 0;
    storm.broken = false;
    storm.counts->no_memory += memory;
    storm.counts->no_call += call;
    if (memory || call || in_copy)
        storm_apart_failed();
    return memory || call || in_copy;
}

/* --- files -------------------------------------------------------------------------------------------------------- */

void storm_mark(uint32_t e)
{
    uint32_t key = key_of(storm.worlds[0], "mark", "");
    DOES(storm.api->world->add(storm.worlds[0], key, &storm.now.entities[e], 1));
    DOES(storm.api->property->set_named(storm.worlds[0], storm.now.entities[e], "mark", "value", BP_U32, &e));
}

/* Children are marked after the step that bears them: where the host has gone back to that moment, they are not. */
static void mark_all(void)
{
    uint32_t key = key_of(storm.worlds[0], "mark", "");
    for (uint32_t e = 0; e < ENTITIES; e++) {
        if (storm.now.alive[e] && storm.api->world->has(storm.worlds[0], key, &storm.now.entities[e], 1, NULL) == 0)
            storm_mark(e);
    }
}

void storm_save(void)
{
    if (storm.aside)
        return;
    mark_all();
    storm_break(150);
    bp_result_t result = bp_host_save_worlds(storm.host, NULL, 0, storm_path("worlds.scene"));
    bool failed = storm_mend();
    SAYS(result == BP_OK || failed, "save: %s", bp_host_error(storm.host));
    storm.written_fits = result == BP_OK;
    storm.written = storm.now;
}

/* Find all entities by their marks. */
static void find_entities(void)
{
    bp_world_o *world = storm.worlds[0];
    uint32_t found = 0, wanted = 0;
    bp_run_t run;
    for (uint32_t cursor = 0; next_run(world, world_component(&world->rows, "mark"), &cursor, &run) != 0;) {
        for (uint32_t i = 0; i < run.count; i++) {
            uint32_t e = ENTITIES;
            if (run.entities[i].id == 0)
                continue;
            DOES(storm.api->property->get_named(world, run.entities[i], "mark", "value", BP_U32, &e));
            if (e >= CROWD && e < PLACES)
                continue;
            SAYS(e < ENTITIES && storm.now.alive[e], "an entity that was not written has been restored");
            storm.now.entities[e] = run.entities[i];
            found++;
        }
    }
    for (uint32_t e = 0; e < ENTITIES; e++)
        wanted += storm.now.alive[e];
    SAYS(found == wanted, "%u entities are restored, and not %u", found, wanted);
}

/* A child is the entity that has taken its place, or none. */
static bp_entity_t child_now(bp_entity_t child)
{
    for (uint32_t e = 0; e < ENTITIES; e++) {
        if (storm.written.alive[e] && storm.written.entities[e].id == child.id)
            return storm.now.entities[e];
    }
    return (bp_entity_t){0};
}

static void take_over(void)
{
    const state_t old = storm.now;
    storm.now = storm.written;
    storm.now.list = old.list;
    storm.now.gale = old.gale;
    storm.now.den = old.den;
    memcpy(storm.now.order, old.order, sizeof old.order);
    EACH_WORLD(w) {
        storm.now.own[w].messages = old.own[w].messages;
        storm.now.own[w].said = old.own[w].said;
        storm.now.own[w].recounted = old.own[w].recounted;
    }
    find_entities();
    for (uint32_t e = CROWD; e < PLACES; e++)
        memset(storm.now.places[e][0].since, 1, sizeof storm.now.places[e][0].since);
    for (uint32_t e = 0; e < ENTITIES; e++) {
        if (!storm.now.alive[e])
            storm.now.entities[e] = (bp_entity_t){0}; /* ids come once more where a past has been brought back */
        EACH_WORLD(w) {
            place_t *place = &storm.now.places[e][w];
            memset(place->since, 1, sizeof place->since);
            place->gust.child = child_now(place->gust.child);
            for (uint32_t i = 0; i < 2; i++)
                place->den[i].friend = child_now(place->den[i].friend);
        }
    }
}

void storm_restore(void)
{
    bool fits = storm.written_fits && !storm.aside && storm_same_fields(&storm.now.list, &storm.written.list) &&
                storm_gale_like(&storm.now.gale, &storm.written.gale) &&
                storm.now.den.number_type == storm.written.den.number_type &&
                storm.now.den.extra == storm.written.den.extra &&
                memcmp(storm.now.there, storm.written.there, sizeof storm.now.there) == 0;
    if (!fits)
        return;
    mark_all(); /* an entity that a plugin which is unloaded has left in no world would live on */
    storm_break(150);
    bp_result_t result = bp_host_restore_worlds(storm.host, NULL, 0, storm_path("worlds.scene"), 0);
    bool failed = storm_mend();
    SAYS(result == BP_OK || failed, "restore: %s", bp_host_error(storm.host));
    if (result != BP_OK)
        return;
    for (uint32_t e = 0; e < ENTITIES; e++) {
        if (storm.now.alive[e])
            storm_handles_died(e);
    }
    EACH_WORLD(w)
        storm_handles_break(ENTITIES, w);
    storm.counts->restored++;
    take_over();
}

/* An entity from a scene that is written on the spot. */
void storm_spawn(void)
{
    char json[300];
    bp_scene_o *scene;
    bp_spawn_t spawn;
    uint32_t e = storm_free(), w = storm_some_world();
    int32_t power = (int32_t)storm_below(60), number = (int32_t)storm_below(100);
    if (e >= MADE)
        return;
    int length = snprintf(json, sizeof json,
                          "{\"entities\": [{\"components\": {\"gust\": {\"power\": %d}, \"flag\": {}, "
                          "\"den\": {\"number\": %d, \"words\": \"spawned\"}}}]}", power, number);
    DOES(bp_scene_compile_text(storm.host, "storm", json, (size_t)length, &scene));
    storm_break(40);
    bp_result_t result = bp_scene_spawn(scene, storm.worlds[w], 0, &storm.now.entities[e], &spawn);
    bool failed = storm_mend();
    SAYS(result == BP_OK || failed, "spawn: %s", bp_host_error(storm.host));
    bp_scene_close(scene);
    if (result != BP_OK)
        return;
    bp_host_release_spawn(storm.host, spawn);
    storm.now.alive[e] = true;
    storm_mark(e);
    storm_put_in(e, w, GUST);
    storm_put_in(e, w, FLAG);
    storm_put_in(e, w, DEN);
    storm.now.places[e][w].gust.power = power;
    storm.now.places[e][w].den[0].number = number;
    snprintf(storm.now.places[e][w].den[0].text, TEXT, "spawned");
}
