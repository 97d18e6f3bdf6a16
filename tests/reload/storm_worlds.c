/* storm_worlds.c - plugins that are unloaded and loaded anew, and worlds that end and begin.
 *
 * A world that begins uses all components and systems. A plugin that is loaded anew has lost its instances, in the
 * model too.
 */
#include "storm_model.h"

#include <string.h>

static const char *const world_names[WORLDS] = {"main", "side", "third", "fourth"};

/* By the first component of their plugin. */
static const struct { const char *name; uint32_t of; } systems[] = {
    {"census", GUST}, {"blow", GUST}, {"hear", GUST}, {"shift", GUST}, {"divide", GUST}, {"dig", DEN}};

/* It comes in again, or has done so. */
static bp_result_t there(bp_result_t result)
{
    return result == BP_ERROR_EXISTS ? BP_OK : result;
}

void storm_use_all(uint32_t w)
{
    for (uint32_t kind = SECOND; kind < KINDS; kind++) {
        if (kind < PLAIN || storm.how->crashes)
            STORM_INSIST(there(bp_world_use_component(storm.worlds[w], storm_types[kind])));
    }
    STORM_INSIST(bp_world_use_component(storm.worlds[w], "tally"));
    for (uint32_t i = 0; i < COUNT(systems); i++)
        STORM_INSIST(bp_world_use_system(storm.worlds[w], systems[i].name));
}

/* `first` to `last`: what its components are. */
static void load_anew(const char *name, const char *file, uint32_t first, uint32_t last)
{
    DOES(bp_host_unload_plugin_with(storm.host, name)); /* the system `dig` goes with the plugin gale */
    storm.kept_fits = false; /* another manager takes the place of the one that has gone */
    for (uint32_t e = 0; e < PLACES; e++) {
        for (uint32_t i = 0; i < WORLDS * KINDS; i++) {
            if (i % KINDS >= first && i % KINDS <= last)
                storm_take_out(e, i / KINDS, i % KINDS);
        }
    }
    if (first == GUST)
        storm_handles_alone();
    STORM_INSIST(bp_host_load_plugin(storm.host, file, NULL, 0));
    EACH_WORLD(w) {
        for (uint32_t kind = first; kind <= last; kind++)
            STORM_INSIST(there(bp_world_use_component(storm.worlds[w], storm_types[kind])));
        for (uint32_t i = 0; i < COUNT(systems); i++) {
            if (systems[i].of == first || first == GUST)
                STORM_INSIST(there(bp_world_use_system(storm.worlds[w], systems[i].name)));
        }
        if (first == GUST)
            storm.now.own[w] = (world_state_t){.messages = storm.now.own[w].messages, .said = storm.now.own[w].said};
        if (first == GUST)
            STORM_INSIST(there(bp_world_use_component(storm.worlds[w], "tally")));
    }
    storm_handles_came_again(first, last);
    storm_past_renewed();
}

void storm_unload_and_load(void)
{
    switch (storm_below(4)) {
    case 0: load_anew("patch", storm_path("patch" TEST_SO), PATCH, SECOND); break;
    case 1: load_anew("gale", storm_path("gale" TEST_SO), GUST, EDDY); break;
    case 2: load_anew("den", storm_path("den" TEST_SO), DEN, LAIR); break;
    default: load_anew("keeper", storm_path("keeper" TEST_SO), KEEPER, KEEPER); break;
    }
}

void storm_make_world(uint32_t w)
{
    storm.worlds[w] = bp_world_create(storm.host, &(bp_world_desc_t){.name = world_names[w], .step_rate = 10});
    SAYS(storm.worlds[w] != NULL, "%s", bp_host_error(storm.host));
    storm.now.there[w] = true;
    storm.now.order[storm.now.order_count++] = w;
    storm.now.own[w] = (world_state_t){0};
}

static void begin_world(uint32_t w)
{
    storm_make_world(w);
    storm.kept_fits = false; /* in the world that was written down there may be more, of plugins that have gone */
    storm_use_all(w);
    storm_handles_make(w);
    storm.counts->worlds++;
}

static void end_world(uint32_t w)
{
    uint32_t at = 0;
    storm_handles_forget(w);
    bp_world_destroy(storm.worlds[w]);
    storm.worlds[w] = NULL;
    storm.now.there[w] = false;
    while (storm.now.order[at] != w)
        at++;
    storm.now.order_count--;
    memmove(&storm.now.order[at], &storm.now.order[at + 1], (storm.now.order_count - at) * sizeof storm.now.order[0]);
    for (uint32_t e = 0; e < ENTITIES; e++)
        memset(&storm.now.places[e][w], 0, sizeof storm.now.places[e][w]);
}

void storm_end_or_begin_world(void)
{
    uint32_t w = 1 + storm_below(WORLDS - 1);
    if (storm.aside)
        return;
    if (storm.now.there[w])
        end_world(w);
    else
        begin_world(w);
    storm_past_renewed();
}
