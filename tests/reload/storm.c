/* storm.c - the host, the model, and what each event does to both.
 *
 * Six plugins: `patch`, whose fields are another random list after each reload; `keeper`, which has storage of its own
 * and goes over by `save` and `load`; `gale`, whose systems write, send, make and end (storm_gale.c); `den`, whose
 * storage of its own is another after each reload (storm_den.c); `crasher`, which has fields and storage of its own, in
 * two versions, and crashes when it is told to; and `zoo`, which is linked in.
 * Up to four worlds, of which all but the first come and go.
 *
 * After each event every value of the model is compared with the host's (storm_model.h).
 */
#define _GNU_SOURCE 1

#include "../system/calls.h"
#include "storm_model.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
/* A plugin that has crashed keeps what it holds: that is no leak to be told of. */
#define KEEPS_MEMORY() __lsan_disable()
#else
#define KEEPS_MEMORY() ((void)0)
#endif

enum { ROWS = ENTITIES * WORLDS * 2, PROBATION = 8, EVENTS = 80 };

static const char *const instances[KINDS] = {"", "second", "", "", "", "", "", "lair", "", ""};
static const char *const world_names[WORLDS] = {"main", "side", "third", "fourth"};

static uint32_t below(uint32_t bound)
{
    return bp_random_below(&storm.random, bound);
}

uint32_t storm_below(uint32_t bound)
{
    return below(bound);
}

/* --- what there is ------------------------------------------------------------------------------------------------ */

uint32_t storm_some_world(void)
{
    return storm.now.order[below(storm.now.order_count)];
}

uint32_t storm_some_entity(void)
{
    uint32_t first = below(ENTITIES);
    for (uint32_t i = 0; i < ENTITIES; i++) {
        if (storm.now.alive[(first + i) % ENTITIES])
            return (first + i) % ENTITIES;
    }
    return ENTITIES;
}

static bool may_have(uint32_t kind)
{
    return kind < PLAIN || (storm.how->crashes && !storm.aside);
}

static bool on_probation(uint32_t what)
{
    return storm.host->reload.probation != NULL && storm.probation == what;
}

uint32_t storm_key(uint32_t world, uint32_t kind)
{
    return key_of(storm.worlds[world], storm_types[kind], instances[kind]);
}

/* --- entities and values ------------------------------------------------------------------------------------------ */

static void take_out(uint32_t e, uint32_t w, uint32_t kind)
{
    storm.now.places[e][w].has[kind] = false;
    if (kind == GUST)
        storm_handles_break(e, w);
}

void storm_put_in(uint32_t e, uint32_t w, uint32_t kind)
{
    place_t *place = &storm.now.places[e][w];
    place->has[kind] = place->since[kind] = true;
    if (kind == KEEPER)
        place->keeper = (keeper_values_t){.number = 5};
    if (kind == GUST)
        place->gust = (gust_t){.power = storm.now.gale.initial};
    if (kind == DEN || kind == LAIR)
        storm_den_begin(&place->den[kind - DEN]);
    if (kind == PLAIN)
        place->x = 1;
    for (uint32_t f = 0; f < storm.now.list.count && kind <= SECOND; f++)
        place->patch[kind].of[storm.now.list.fields[f].name] = storm.now.list.fields[f].initial;
}

/* What can fail has done nothing where it does, for want of memory or of a call. True: it has gone through. */
static bool done_or_broken(bp_result_t result, const char *what)
{
    bool failed = storm_mend();
    SAYS(result == BP_OK || failed, "%s: %s", what, bp_host_error(storm.host));
    return result == BP_OK;
}

static void add(uint32_t e, uint32_t w, uint32_t kind)
{
    uint32_t key = storm_key(w, kind);
    storm_break(8);
    if (done_or_broken(storm.api->world->add(storm.worlds[w], key, &storm.now.entities[e], 1), "add"))
        storm_put_in(e, w, kind);
}

uint32_t storm_free(void)
{
    uint32_t e = 0;
    while (e < ENTITIES && storm.now.alive[e])
        e++;
    return e;
}

void storm_die(uint32_t e)
{
    storm_handles_died(e);
    EACH_WORLD(w)
        storm_handles_break(e, w);
    storm.now.alive[e] = false;
    storm.ghosts = storm.ghosts || storm.aside;
    storm.died = true;
    memset(storm.now.places[e], 0, sizeof storm.now.places[e]);
}

static void create(void)
{
    uint32_t e = storm_free();
    if (e >= MADE)
        return;
    storm_break(3);
    if (!done_or_broken(storm.api->entity->create(storm.host, &storm.now.entities[e], 1), "create"))
        return;
    storm.now.alive[e] = true;
    storm_mark(e);
    EACH_WORLD(w) {
        for (uint32_t kind = 0; kind < KINDS; kind++) {
            bool wanted = below(3) > 0;
            if (wanted && may_have(kind))
                add(e, w, kind);
        }
    }
}

static void destroy(void)
{
    uint32_t e = storm_some_entity();
    if (e == ENTITIES)
        return;
    storm_break(3); /* without memory too */
    uint32_t ended = storm.api->entity->destroy(storm.host, &storm.now.entities[e], 1);
    storm_mend();
    SAYS(ended == 1, "entity %u did not live", e);
    storm_die(e);
}

static void add_or_remove(void)
{
    uint32_t e = storm_some_entity(), w = storm_some_world(), kind = below(KINDS);
    if (e == ENTITIES || !may_have(kind))
        return;
    if (!storm.now.places[e][w].has[kind]) {
        add(e, w, kind);
        return;
    }
    uint32_t key = storm_key(w, kind);
    storm_break(8);
    if (done_or_broken(storm.api->world->remove(storm.worlds[w], key, &storm.now.entities[e], 1), "remove"))
        take_out(e, w, kind);
}

static void write_patch(uint32_t e, uint32_t w, uint32_t kind)
{
    if (storm.now.list.count == 0)
        return;
    const patch_field_t *field = &storm.now.list.fields[below(storm.now.list.count)];
    patch_value_t *known = &storm.now.places[e][w].patch[kind].of[field->name];
    char name[PATCH_TEXT];
    bp_value_t value;
    patch_name(field->name, name);
    patch_value_t next = patch_random_value(&storm.random, field->type);
    patch_pack(&next, field->type, &value);
    storm_break(4);
    if (done_or_broken(storm.api->property->set_named(storm.worlds[w], storm.now.entities[e], storm_name_of(kind), name,
                                                      field->type, &value), "set"))
        *known = next;
}

static void write_keeper(uint32_t e, uint32_t w)
{
    keeper_values_t *known = &storm.now.places[e][w].keeper;
    bp_entity_t entity = storm.now.entities[e];
    const char *text = known->text;
    known->number = (int32_t)below(2001) - 1000;
    snprintf(known->text, sizeof known->text, "text %u", below(1000));
    DOES(storm.api->property->set_named(storm.worlds[w], entity, "keeper", "number", BP_I32, &known->number));
    DOES(storm.api->property->set_named(storm.worlds[w], entity, "keeper", "text", BP_STRING, &text));
    SAYS(storm.api->property->set_named(storm.worlds[w], entity, "keeper", "text", BP_STRING, &(const char *){"!"}) ==
             BP_ERROR_ARGUMENT,
         "a text is not refused");
}

static void write_value(void)
{
    for (uint32_t n = 1 + below(6); n > 0; n--) {
        uint32_t e = storm_some_entity(), w = storm_some_world(), kind = below(PLAIN + 1u);
        if (e == ENTITIES || !storm.now.places[e][w].has[kind])
            continue;
        if (kind <= SECOND)
            write_patch(e, w, kind);
        else if (kind == KEEPER)
            write_keeper(e, w);
        else if (kind == GUST)
            storm_gale_write(e, w);
        else if (kind == DEN || kind == LAIR)
            storm_den_write(e, w, kind);
        else if (kind == PLAIN)
            DOES(storm.api->property->set_named(storm.worlds[w], storm.now.entities[e], "crash_plain", "x", BP_F32,
                                                &(float){storm.now.places[e][w].x = (float)below(50)}));
    }
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

static int crasher_version(void)
{
    const bp_plugin_head_t *head;
    for (uint32_t i = 0; (head = bp_host_plugin(storm.host, i, NULL)) != NULL; i++) {
        if (strcmp(head->name, "crasher") == 0) {
            storm.aside = bp_host_plugin_crash(storm.host, i) != NULL;
            return head->desc->version[0] - '0';
        }
    }
    return 0;
}

/* What has crashed has perhaps counted some of its rows before, and only in one of the worlds. */
static void read_x_again(uint32_t e, uint32_t w)
{
    place_t *place = &storm.now.places[e][w];
    if (!place->has[PLAIN])
        return;
    float x = storm_x_of(e, w);
    SAYS(x == place->x || x == place->x + 100, "x was %g before the crash, and is %g", (double)place->x, (double)x);
    place->x = x;
}

static void after_crash(bool may_come_back)
{
    storm.counts->crashes++;
    int version = crasher_version();
    SAYS(storm.aside || (may_come_back && version == storm.former), "crasher %d goes on after a crash", version);
    storm.version = version;
    storm.ghosts = storm.ghosts || (storm.aside && storm.died); /* in this step, perhaps after the crash */
    if (!storm.aside)
        storm.counts->rollbacks++;
    if (!storm.aside)
        storm.probation = OF_NONE;
    for (uint32_t e = 0; e < ENTITIES; e++) {
        EACH_WORLD(w)
            read_x_again(e, w);
    }
}

/* Work of a few entities is not worth waking threads for, and they would never be used: have the host expect that it
 * takes long. */
static void share_work(void)
{
    EACH_WORLD(w) {
        schedule_t *schedule = storm.worlds[w]->schedule;
        for (uint32_t i = 0; i < schedule->count; i++) {
            schedule->units[i]->expected = PACE_LONG_NS;
            schedule->units[i]->steps += schedule->units[i]->steps == 0;
        }
        for (uint32_t i = 0; i < schedule->segment_count; i++)
            pace_forget(&schedule->segments[i].pace);
        pace_forget(&schedule->together);
    }
}

static void step_once(void)
{
    bool whole = storm.now.order_count == 1 || below(3) > 0, rows = false, may_come_back = on_probation(OF_CRASHER);
    uint32_t only = whole ? WORLDS : storm_some_world();
    for (uint32_t e = 0; e < ENTITIES; e++) {
        EACH_WORLD(w)
            rows = rows || (storm.now.places[e][w].has[PLAIN] && (whole || w == only));
    }
    storm.died = false;
    if (storm.how->threads > 1)
        share_work();
    if (whole)
        DOES(bp_host_step(storm.host));
    else
        DOES(bp_world_step(storm.worlds[only]));
    if (!storm_past_stepped(only)) {
        for (uint32_t i = 0; i < storm.now.order_count; i++) {
            if (whole || storm.now.order[i] == only)
                storm_gale_step(storm.now.order[i]);
        }
        storm_gale_born();
        storm_past_remember();
    }
    if (storm.version == 2 && storm.armed && rows && !storm.aside) {
        after_crash(may_come_back);
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
    for (uint32_t n = 1 + below(4); n > 0; n--)
        step_once();
}

/* --- reloads ------------------------------------------------------------------------------------------------------ */

void storm_begin_probation(uint32_t what)
{
    storm.before = storm.now;
    storm.former = storm.version;
    storm.probation = what;
    for (uint32_t e = 0; e < ENTITIES; e++) {
        for (uint32_t w = 0; w < WORLDS; w++)
            memset(storm.now.places[e][w].since, 0, sizeof storm.now.places[e][w].since);
    }
}

/* `possible`: by what the model says; then only lack of memory or a call that fails is a reason to refuse. */
bool storm_reload(const char *name, bool possible)
{
    storm.host->reload.probation_steps = below(4) == 0 ? 0 : PROBATION;
    uint32_t files = calls_descriptors();
    storm_break(150);
    bp_result_t result = bp_host_reload(storm.host, &name, 1, NULL);
    bool failed = storm_mend();
    if (failed && storm.folders == 0 && calls_descriptors() == files + 1)
        files += ++storm.folders; /* which holds a file open */
    SAYS(result == BP_OK || calls_descriptors() == files, "a reload of %s that is refused leaves files open", name);
    /* Where no copy of the process can be had a version comes in untried, and crashes later or not at all. */
    bool untried = storm.how->trial && failed && strcmp(name, "crasher") == 0;
    SAYS(result != BP_OK || possible || untried, "a reload of %s that is impossible went through", name);
    SAYS(result == BP_OK || !possible || failed, "reload %s: %s", name, bp_host_error(storm.host));
    storm.counts->reloads += result == BP_OK;
    storm.counts->refusals += result != BP_OK;
    return result == BP_OK;
}

/* All values of patch, one instance after another; into, or out of, the model. */
static uint32_t gather(patch_values_t *rows, bool out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        place_t *place = &storm.now.places[i / 2 / WORLDS][i / 2 % WORLDS];
        if (!place->has[i % 2])
            continue;
        if (out)
            place->patch[i % 2] = rows[count];
        else
            rows[count] = place->patch[i % 2];
        count++;
    }
    return count;
}

/* Where there are no instances types alone decide: a row whose values can become whatever their types can. */
static uint32_t gather_any(patch_values_t *row)
{
    memset(row, 0, sizeof *row);
    for (uint32_t f = 0; f < storm.now.list.count; f++) {
        const patch_field_t *field = &storm.now.list.fields[f];
        if (patch_parts(field->type) > 1)
            row->of[field->name] = field->initial; /* so that parts may go */
    }
    return 1;
}

static void reload_patch(void)
{
    static patch_values_t rows[ROWS], next[ROWS];
    patch_list_t list = patch_next(&storm.random, &storm.now.list);
    memset(next, 0, sizeof next);
    uint32_t count = gather(rows, false);
    count = count > 0 ? count : gather_any(rows);
    bool possible = patch_foresee(&storm.now.list, rows, &list, next, count);
    patch_put(&storm.file, &list);
    if (storm_reload("patch", possible)) {
        storm_begin_probation(OF_PATCH);
        gather(next, true);
        storm.now.list = list;
    }
    patch_put(&storm.file, &storm.now.list); /* what is there when it is loaded anew */
}

static void reload_keeper(void)
{
    if (storm_reload("keeper", true))
        storm_begin_probation(OF_KEEPER);
}

static void reload_gale(void)
{
    gale_t old = storm.now.gale;
    storm.now.gale = storm_gale_next();
    storm_gale_put();
    gale_t next = storm.now.gale;
    storm.now.gale = old;
    if (storm_reload("gale", true)) {
        storm_begin_probation(OF_GALE);
        storm.now.gale = next;
        for (uint32_t w = 0; w < WORLDS && next.form != old.form; w++)
            storm.now.own[w].recounted = false;
    } else {
        storm_gale_put();
    }
}

static void tell_crasher(const char *where, const char *how)
{
    setenv("CRASHER_WHERE", where, 1);
    setenv("CRASHER_HOW", how, 1);
}

/* Where a version crashes so that it is refused: with a trial it may also be behind the commit. */
static const char *bad_place(void)
{
    static const char *const places[] = {"load", "plain_start", "report", "plain_stop", "unload"};
    return places[below(storm.how->trial ? COUNT(places) : 2)];
}

static void reload_crasher(void)
{
    static const char *const hows[] = {"null", "abort", "call"};
    bool to_next = below(3) > 0, bad = to_next && below(4) == 0;
    if (!storm.how->crashes)
        return;
    put_plugin(to_next ? "crasher_next" : "crasher", "crasher");
    if (bad)
        tell_crasher(bad_place(), hows[below(3)]);
    if (storm_reload("crasher", !bad)) {
        storm_begin_probation(OF_CRASHER);
        storm.aside = false;
        storm.version = to_next ? 2 : 1;
    }
    storm.armed = below(2) == 0 && !storm.how->trial;
    tell_crasher(storm.armed ? "simulate" : "nowhere", hows[below(3)]);
}

/* --- the version before ------------------------------------------------------------------------------------------- */

static void patch_back(place_t *place, const place_t *old, const patch_list_t *list)
{
    patch_values_t values;
    for (uint32_t kind = PATCH; kind <= SECOND; kind++) {
        memset(&values, 0, sizeof values);
        for (uint32_t f = 0; f < storm.before.list.count; f++) {
            const patch_field_t *field = &storm.before.list.fields[f];
            uint32_t after = patch_after(&storm.before.list, list, field->name, true);
            values.of[field->name] = after != PATCH_NAMES        ? place->patch[kind].of[after]
                                     : place->since[kind] ? field->initial
                                                          : old->patch[kind].of[field->name];
        }
        place->patch[kind] = values;
    }
}

static void keeper_back(place_t *place, const place_t *old)
{
    if (place->since[KEEPER])
        place->keeper = (keeper_values_t){.number = 5};
    else
        place->keeper = old->keeper;
}

static void take_gale_back(void)
{
    for (uint32_t w = 0; w < WORLDS && storm.now.gale.form != storm.before.gale.form; w++)
        storm.now.own[w].recounted = true;
    storm.now.gale = storm.before.gale;
    storm_gale_put();
}

static void take_back(void)
{
    const patch_list_t list = storm.now.list;
    uint32_t what = storm.probation;
    if (storm.host->reload.probation == NULL || storm.aside)
        return;
    DOES(host_take_versions_back(storm.host));
    storm.counts->rollbacks++;
    storm.probation = OF_NONE;
    for (uint32_t e = 0; e < ENTITIES; e++) {
        EACH_WORLD(w) {
            place_t *place = &storm.now.places[e][w];
            if (what == OF_PATCH)
                patch_back(place, &storm.before.places[e][w], &list);
            if (what == OF_KEEPER)
                keeper_back(place, &storm.before.places[e][w]);
        }
    }
    if (what == OF_PATCH)
        storm.now.list = storm.before.list;
    if (what == OF_PATCH)
        patch_put(&storm.file, &storm.now.list);
    if (what == OF_GALE)
        take_gale_back();
    if (what == OF_DEN)
        storm_den_back();
    if (what == OF_CRASHER)
        storm.version = crasher_version();
    SAYS(what != OF_CRASHER || storm.version == storm.former, "version %d is back", storm.version);
}

/* --- plugins and worlds that come and go -------------------------------------------------------------------------- */

/* By the first component of their plugin. */
static const struct { const char *name; uint32_t of; } systems[] = {
    {"census", GUST}, {"blow", GUST}, {"hear", GUST}, {"shift", GUST}, {"divide", GUST}, {"dig", DEN}};

/* Until it has gone through; what has failed before has left nothing. */
#define INSIST(call) do { storm_break(60); } while (!done_or_broken((call), #call))

/* It comes in again, or has done so. */
static bp_result_t there(bp_result_t result)
{
    return result == BP_ERROR_EXISTS ? BP_OK : result;
}

static void use_all(uint32_t w)
{
    for (uint32_t kind = SECOND; kind < KINDS; kind++) {
        if (kind < PLAIN || storm.how->crashes)
            INSIST(there(bp_world_use_component(storm.worlds[w], storm_types[kind])));
    }
    INSIST(bp_world_use_component(storm.worlds[w], "tally"));
    for (uint32_t i = 0; i < COUNT(systems); i++)
        INSIST(bp_world_use_system(storm.worlds[w], systems[i].name));
}

/* `first` to `last`: what its components are. */
static void load_anew(const char *name, const char *file, uint32_t first, uint32_t last)
{
    DOES(bp_host_unload_plugin_with(storm.host, name)); /* the system `dig` goes with the plugin gale */
    storm.kept_fits = false; /* another manager takes the place of the one that has gone */
    for (uint32_t e = 0; e < ENTITIES; e++) {
        for (uint32_t i = 0; i < WORLDS * KINDS; i++) {
            if (i % KINDS >= first && i % KINDS <= last)
                take_out(e, i / KINDS, i % KINDS);
        }
    }
    if (first == GUST)
        storm_handles_alone();
    INSIST(bp_host_load_plugin(storm.host, file, NULL, 0));
    EACH_WORLD(w) {
        for (uint32_t kind = first; kind <= last; kind++)
            INSIST(there(bp_world_use_component(storm.worlds[w], storm_types[kind])));
        for (uint32_t i = 0; i < COUNT(systems); i++) {
            if (systems[i].of == first || first == GUST)
                INSIST(there(bp_world_use_system(storm.worlds[w], systems[i].name)));
        }
        if (first == GUST)
            storm.now.own[w] = (world_state_t){.messages = storm.now.own[w].messages, .said = storm.now.own[w].said};
        if (first == GUST)
            INSIST(there(bp_world_use_component(storm.worlds[w], "tally")));
    }
    storm_handles_came_again(first, last);
    storm_past_renewed();
}

static void unload_and_load(void)
{
    switch (below(4)) {
    case 0: load_anew("patch", storm_path("patch" TEST_SO), PATCH, SECOND); break;
    case 1: load_anew("gale", storm_path("gale" TEST_SO), GUST, EDDY); break;
    case 2: load_anew("den", storm_path("den" TEST_SO), DEN, LAIR); break;
    default: load_anew("keeper", storm_path("keeper" TEST_SO), KEEPER, KEEPER); break;
    }
}

static bp_world_o *make_world(const char *name)
{
    bp_world_o *world = bp_world_create(storm.host, &(bp_world_desc_t){.name = name, .step_rate = 10});
    SAYS(world != NULL, "%s", bp_host_error(storm.host));
    return world;
}

static void begin_world(uint32_t w)
{
    storm.worlds[w] = make_world(world_names[w]);
    storm.now.there[w] = true;
    storm.now.order[storm.now.order_count++] = w;
    storm.now.own[w] = (world_state_t){0};
    storm.kept_fits = false; /* in the world that was written down there may be more, of plugins that have gone */
    use_all(w);
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

static void end_or_begin_world(void)
{
    uint32_t w = 1 + below(WORLDS - 1);
    if (storm.aside)
        return;
    if (storm.now.there[w])
        end_world(w);
    else
        begin_world(w);
    storm_past_renewed();
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
    calls_clock_leaps((uint64_t)below(10000) * UINT64_C(1000000000));
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

typedef struct kind_t {
    const char *name;
    void (*happen)(void);
    uint32_t weight;
} kind_t;

static const kind_t kinds[] = {
    {"create", create, 8},
    {"destroy", destroy, 4},
    {"add or remove", add_or_remove, 8},
    {"write", write_value, 10},
    {"step", step, 8},
    {"reload patch", reload_patch, 6},
    {"reload keeper", reload_keeper, 3},
    {"reload gale", reload_gale, 4},
    {"reload den", storm_den_reload, 6},
    {"reload crasher", reload_crasher, 6},
    {"take back", take_back, 4},
    {"unload and load", unload_and_load, 1},
    {"end or begin a world", end_or_begin_world, 2},
    {"take a snapshot", storm_take_snapshot, 4},
    {"bring back", storm_bring_back, 6},
    {"remember", storm_remember, 4},
    {"visit", storm_visit, 8},
    {"save", storm_save, 3},
    {"restore", storm_restore, 6},
    {"refer", refer, 4},
    {"spawn", storm_spawn, 3},
    {"the clock leaps", leap, 1},
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

/* Where something fails meanwhile nothing is left, and it is done once more. */
static void make_host(const storm_host_t *how)
{
    rig_t *rig = &storm.rig;
    rig_init(rig);
    if (how->threads > 1)
        rig->desc.allocator = NULL; /* the rig's heap is for one thread */
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
    tell_crasher("nowhere", "null");
    INSIST(bp_host_load_plugin(storm.host, zoo_plugins[0]->name, NULL, 0));
    patch_open(&storm.file);
    patch_put(&storm.file, &storm.now.list);
    INSIST(bp_host_load_plugin(storm.host, storm_path("patch" TEST_SO), NULL, 0));
    const char *keeper = put_plugin("keeper", "keeper");
    INSIST(bp_host_load_plugin(storm.host, keeper, NULL, 0));
    storm_gale_open();
    INSIST(bp_host_load_plugin(storm.host, storm_path("gale" TEST_SO), NULL, 0));
    storm_den_open();
    INSIST(bp_host_load_plugin(storm.host, storm_path("den" TEST_SO), NULL, 0));
    const char *crasher = put_plugin("crasher", "crasher");
    if (how->crashes)
        INSIST(bp_host_load_plugin(storm.host, crasher, NULL, 0));
    storm.worlds[0] = make_world(world_names[0]);
    storm.now.there[0] = true;
    storm.now.order_count = 1;
    DOES(bp_world_use_component(storm.worlds[0], "mark"));
    use_all(0);
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
