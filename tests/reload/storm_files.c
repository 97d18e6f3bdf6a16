/* storm_files.c - all worlds into one file, and out of it; and what fails meanwhile: requests for memory, and calls of
 * the system (tests/system/calls.h).
 *
 * A save that fails leaves the old file or the new one: which, the storm does not ask, and forgets the file. A restore
 * that fails has changed nothing.
 */
#include "../system/calls.h"
#include "storm_model.h"

#include <string.h>

static const char path[] = TEST_SCRATCH_DIR "/storm.scene";

/* --- what fails --------------------------------------------------------------------------------------------------- */

void storm_break(uint32_t most)
{
    heap_t *heap = &storm.rig.heap;
    uint32_t which = storm_below(4), nth = 1 + storm_below(most);
    storm.broken = storm.how->faults && which < 2;
    storm.refused = heap->refused;
    if (storm.broken && which == 0 && storm.how->threads == 1)
        heap->refuse_first = heap->refuse_last = heap->requests + nth;
    else if (storm.broken)
        calls_begin(1 + nth % 40, false);
}

bool storm_mend(void)
{
    heap_t *heap = &storm.rig.heap;
    bool memory = heap->refused != storm.refused, call = false;
    bool in_copy = storm.how->trial && heap->refuse_first != 0; /* perhaps */
    if (storm.broken && heap->refuse_first == 0) {
        calls_end();
        call = calls_failed() > 0;
    }
    heap->refuse_first = heap->refuse_last = 0;
    storm.broken = false;
    storm.counts->no_memory += memory;
    storm.counts->no_call += call;
    return memory || call || in_copy;
}

/* --- files -------------------------------------------------------------------------------------------------------- */

void storm_save(void)
{
    if (storm.aside)
        return;
    storm_break(150);
    bp_result_t result = bp_host_save_worlds(storm.host, NULL, 0, path);
    bool failed = storm_mend();
    SAYS(result == BP_OK || failed, "save: %s", bp_host_error(storm.host));
    storm.written_fits = result == BP_OK;
    storm.written = storm.now;
}

void storm_mark(uint32_t e)
{
    uint32_t key = key_of(storm.worlds[0], "mark", "");
    DOES(storm.api->world->add(storm.worlds[0], key, &storm.now.entities[e], 1));
    DOES(storm.api->property->set_named(storm.worlds[0], storm.now.entities[e], "mark", "value", BP_U32, &e));
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
    for (uint32_t w = 0; w < WORLDS; w++) {
        storm.now.own[w].messages = old.own[w].messages;
        storm.now.own[w].said = old.own[w].said;
        storm.now.own[w].recounted = old.own[w].recounted;
    }
    find_entities();
    for (uint32_t e = 0; e < ENTITIES; e++) {
        if (!storm.now.alive[e])
            storm.now.entities[e] = (bp_entity_t){0}; /* ids come once more where a past has been brought back */
        for (uint32_t w = 0; w < WORLDS; w++) {
            place_t *place = &storm.now.places[e][w];
            memset(place->since, 1, sizeof place->since);
            place->gust.child = child_now(place->gust.child);
        }
    }
}

void storm_restore(void)
{
    bool fits = storm.written_fits && !storm.aside && storm_same_fields(&storm.now.list, &storm.written.list) &&
                storm_gale_like(&storm.now.gale, &storm.written.gale) && storm.now.side == storm.written.side;
    if (!fits)
        return;
    storm_break(150);
    bp_result_t result = bp_host_restore_worlds(storm.host, NULL, 0, path, 0);
    bool failed = storm_mend();
    SAYS(result == BP_OK || failed, "restore: %s", bp_host_error(storm.host));
    if (result != BP_OK)
        return;
    for (uint32_t e = 0; e < ENTITIES; e++) {
        if (storm.now.alive[e])
            storm_handles_died(e);
    }
    for (uint32_t w = 0; w < WORLDS; w++)
        storm_handles_break(ENTITIES, w);
    storm.counts->restored++;
    take_over();
}

/* An entity from a scene that is written on the spot. */
void storm_spawn(void)
{
    char json[200];
    bp_scene_o *scene;
    bp_spawn_t spawn;
    uint32_t e = storm_free(), w = storm.now.side ? storm_below(WORLDS) : 0;
    int32_t power = (int32_t)storm_below(60);
    if (e >= MADE)
        return;
    int length = snprintf(json, sizeof json,
                          "{\"entities\": [{\"components\": {\"gust\": {\"power\": %d}, \"flag\": {}}}]}", power);
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
    storm.now.places[e][w].gust.power = power;
}
