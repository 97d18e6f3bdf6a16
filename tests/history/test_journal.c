/* test_journal.c - calls from outside are made again where the past is computed, each kind of them, to the bit. */
#include "../suites.h"
#include "../unit/support.h"
#include "lies.h"
#include "recall.h"

#include <bp_clock.h>
#include <bp_query.h>
#include <string.h>

enum { STEPS = 48, VISITS = 40 };

static const char scene_text[] =
    "{\"entities\": [{\"components\": {\"body\": {\"y\": 3, \"tag\": \"spawned\"}}},"
    "{\"components\": {\"body\": {\"trail\": [1, 2]}, \"fog\": {\"depth\": 7}}}]}";

typedef struct outside_t {
    rig_t rig;
    bp_host_o *host;
    bp_world_o *world;
    bp_scene_o *scene;
    bp_entity_t entities[64];
    bp_spawn_t spawns[STEPS];
    uint32_t despawned; /* entities; some of a spawn may have been destroyed by systems before */
} outside_t;

static void open_host(outside_t *o, uint64_t budget)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin};
    memset(o, 0, sizeof *o);
    rig_init(&o->rig);
    o->rig.desc.static_plugins = plugins;
    o->rig.desc.static_plugin_count = 1;
    rig_open(&o->rig);
    o->host = o->rig.host;
    recall_open(o->host);
    o->world = bp_host_api(o->host)->world->at(o->host, 0);
    WORKS(o->host, bp_scene_compile_text(o->host, "test", scene_text, sizeof scene_text - 1, &o->scene));
    WORKS(o->host, bp_host_remember(o->host, budget));
}

static void close_host(outside_t *o)
{
    bp_scene_close(o->scene);
    recall_close(&o->rig);
}

static bp_path_t path_of(outside_t *o, bp_entity_t entity, const char *component, const char *property)
{
    bp_path_t path = {.world = o->world, .entity = entity};
    WORKS(o->host, bp_host_api(o->host)->property->resolve(o->world, entity, component, property, &path.property));
    return path;
}

/* Texts, lists, arrays of entities: values of several at once. */
static void set_many(outside_t *o, const bp_entity_t *entities, uint32_t count)
{
    const bp_api_t *api = bp_host_api(o->host);
    const char *tags[8], *notes[] = {"a note", "", "another one that is longer"};
    float trail[8] = {1.5f, -2, 3};
    bp_list_t lists[8];
    bp_property_t property;
    for (uint32_t i = 0; i < count; i++)
        tags[i] = i % 2 == 0 ? "an even one" : "";
    WORKS(o->host, api->property->resolve(o->world, entities[0], "body", "tag", &property));
    WORKS(o->host, api->property->set(o->world, &property, entities, count, tags, sizeof *tags));
    for (uint32_t i = 0; i < count; i++)
        lists[i] = (bp_list_t){notes, i % 4, i % 4};
    WORKS(o->host, api->property->resolve(o->world, entities[0], "body", "notes", &property));
    WORKS(o->host, api->property->set(o->world, &property, entities, count, lists, sizeof *lists));
    for (uint32_t i = 0; i < count; i++)
        lists[i] = (bp_list_t){trail, 3, 3};
    WORKS(o->host, api->property->resolve(o->world, entities[0], "body", "trail", &property));
    WORKS(o->host, api->property->set(o->world, &property, entities, count, lists, sizeof *lists));
    WORKS(o->host, api->property->resolve(o->world, entities[0], "body", "trail[1]", &property));
    WORKS(o->host, api->property->set(o->world, &property, entities, count, trail, sizeof *trail));
}

/* Of those made by calls, some that have a body. */
static uint32_t embodied(const outside_t *o, bp_entity_t *entities, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < COUNT(o->entities) && count < most; i++) {
        bp_property_t x;
        bp_entity_t e = o->entities[i];
        if (e.id != 0 && bp_host_api(o->host)->property->resolve(o->world, e, "body", "x", &x) == BP_OK)
            entities[count++] = e;
    }
    return count;
}

enum { DEEDS = 16 };

/* Every kind of call that is made again. */
static void act(outside_t *o, uint64_t step)
{
    const bp_api_t *api = bp_host_api(o->host);
    const bp_clock_api *clock = api->registry->find(o->host, BP_CLOCK_API, 1);
    bp_world_o *w = o->world;
    bp_entity_t some[8], *made = &o->entities[step * 4 % 60];
    uint32_t keys[2], prototype, count = embodied(o, some, 8);
    float y = (float)step;
    bp_name_t name;
    WORKS(o->host, api->world->key(w, api->world->component(w, "body"), 0, &keys[0]));
    switch (step % DEEDS) {
    case 0:
    case 5:
        WORKS(o->host, api->world->prototype(w, keys, 1, &prototype));
        WORKS(o->host, api->world->create(w, prototype, made, 4));
        break;
    case 1:
        WORKS(o->host, api->name->intern(o->host, step > 20 ? "haze" : "mist", &name));
        WORKS(o->host, api->world->key(w, api->world->component(w, "fog"), name, &keys[1]));
        WORKS(o->host, api->world->prototype(w, keys, 2, &prototype));
        WORKS(o->host, api->world->create(w, prototype, made, 3));
        break;
    case 2:
        WORKS(o->host, api->entity->create(o->host, made, 2));
        WORKS(o->host, api->world->add(w, keys[0], made, 2));
        break;
    case 3: WORKS(o->host, bp_scene_spawn(o->scene, w, 0, NULL, &o->spawns[step])); break;
    case 4: WORKS(o->host, bp_scene_spawn(o->scene, w, 0, made, NULL)); break;
    case 6: WORKS(o->host, bp_scene_spawn(o->scene, w, 0, NULL, NULL)); break;
    case 7: api->entity->destroy(o->host, some, count > 1); break;
    case 8: WORKS(o->host, clock->set_speed(w, 1.0 + (double)step)); break;
    case 9: clock->step(w, step < DEEDS ? 1 : 0); break; /* 0: a stop, so that the world does not step */
    case 10: clock->start(w); break;
    case 11: o->despawned += bp_host_despawn(o->host, o->spawns[step - 8]); break;
    case 13: bp_host_release_spawn(o->host, o->spawns[step - 10]); break;
    case 14:
        if (count > 1) {
            bp_path_t path = path_of(o, some[0], "body", "tag");
            WORKS(o->host, api->property->set_text(&path, "as text"));
            path = path_of(o, some[1], "body", "trail");
            WORKS(o->host, api->property->set_text(&path, "[1, 2, 3]"));
        }
        break;
    default:
        if (count > 1)
            WORKS(o->host, api->world->remove(w, keys[0], some + 1, 1));
        break;
    }
    if (count > 0 && step % DEEDS != 7)
        set_many(o, some, 1);
    if (count > 0 && step % DEEDS < 7) {
        set_many(o, some, count);
        WORKS(o->host, api->property->set_named(w, some[0], "body", "y", BP_F32, &y));
    }
}

static void run(outside_t *o, uint64_t hashes[STEPS + 1], void (*deed)(outside_t *o, uint64_t step))
{
    hashes[0] = recall_hash(o->host);
    for (uint64_t i = 0; i < STEPS; i++) {
        deed(o, i);
        WORKS(o->host, bp_host_step(o->host));
        hashes[i + 1] = recall_hash(o->host);
    }
}

static void visit(outside_t *o, const uint64_t hashes[STEPS + 1])
{
    uint64_t random = 5;
    for (uint32_t v = 0; v < VISITS; v++) {
        uint64_t moment = bp_random_below(&random, STEPS + 1);
        WORKS(o->host, bp_host_go(o->host, moment));
        EXPECT(recall_hash(o->host) == hashes[moment], "visit %u: moment %u is not what it was", v, (uint32_t)moment);
    }
}

START_TEST(calls_are_made_again)
{
    uint64_t without[STEPS + 1], hashes[STEPS + 1];
    outside_t o;
    open_host(&o, 0);
    run(&o, without, act);
    close_host(&o);
    open_host(&o, UINT64_C(1) << 30);
    run(&o, hashes, act);
    EXPECT(memcmp(hashes, without, sizeof hashes) == 0, "a host that remembers goes another way");
    EXPECT(o.despawned > 0, "nobody was despawned");
    EXPECT(recall_history(o.host).keyframes < 4, "%u keyframes for calls that can be made again",
           recall_history(o.host).keyframes);
    visit(&o, hashes);
    close_host(&o);
}
END_TEST

/* What cannot be made again: through a reference, a query that writes, a whole world restored, calls that fail. */
static void act_past_the_journal(outside_t *o, uint64_t step)
{
    static const bp_term_field_t fields[] = {{.name = "x", .type = BP_F32, .access = BP_READ | BP_WRITE}};
    static const bp_term_t terms[] = {{.component = "body", .fields = BP_LIST(fields)}};
    const bp_term_list_t list = BP_LIST(terms);
    const bp_api_t *api = bp_host_api(o->host);
    const bp_query_api *queries = api->registry->find(o->host, BP_QUERY_API, 1);
    bp_query_o *query;
    bp_scene_o *scene;
    switch (step % 6) {
    case 0: WORKS(o->host, bp_scene_spawn(o->scene, o->world, 0, o->entities, NULL)); break;
    case 2:
        WORKS(o->host, queries->make(o->world, NULL, &list, 0, &query));
        WORKS(o->host, queries->begin(query, 0));
        for (const bp_match_t *match = queries->next(query); match != NULL; match = queries->next(query)) {
            for (uint32_t i = 0; i < match->count; i++)
                ((float *)match->columns[0][0])[i] += (float)step;
        }
        queries->end(query);
        break;
    case 3:
        WORKS(o->host, bp_scene_capture(o->world, &scene));
        WORKS(o->host, bp_scene_restore(scene, o->world, 0));
        bp_scene_close(scene);
        break;
    case 4: api->property->set_named(o->world, o->entities[0], "body", "x", BP_I32, &(int32_t){1}); break;
    default: break;
    }
}

START_TEST(what_cannot_be_made_again_is_kept)
{
    uint64_t without[STEPS + 1], hashes[STEPS + 1];
    outside_t o;
    open_host(&o, 0);
    run(&o, without, act_past_the_journal);
    close_host(&o);
    open_host(&o, UINT64_C(1) << 30);
    run(&o, hashes, act_past_the_journal);
    EXPECT(memcmp(hashes, without, sizeof hashes) == 0, "a host that remembers goes another way");
    visit(&o, hashes);
    close_host(&o);
}
END_TEST

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LIES = 150 };
#else
enum { LIES = 2000 };
#endif

START_TEST(calls_that_were_never_made_are_refused_or_made)
{
    static const char path[] = TEST_SCRATCH_DIR "/journal_recording";
    outside_t o;
    open_host(&o, 0);
    WORKS(o.host, bp_host_record(o.host, path, NULL));
    for (uint64_t i = 0; i < DEEDS; i++) {
        act(&o, i);
        WORKS(o.host, bp_host_step(o.host));
    }
    uint64_t end = recall_hash(o.host);
    WORKS(o.host, bp_host_record_end(o.host));
    close_host(&o);
    lies_told_t told = lies_tell(path, LIES, DEEDS);
    ck_assert_uint_eq(told.end, end);
    ck_assert_uint_gt(told.refused, LIES / 4);
    ck_assert_uint_gt(told.played, LIES / 20);
}
END_TEST

START_TEST(the_end_of_the_past_has_what_came_there)
{
    outside_t o;
    open_host(&o, UINT64_C(1) << 30);
    for (uint32_t i = 0; i < 6; i++)
        WORKS(o.host, bp_host_step(o.host));
    act(&o, 0);
    uint64_t end = recall_hash(o.host);
    WORKS(o.host, bp_host_go(o.host, 2));
    for (uint32_t i = 0; i < 4; i++)
        WORKS(o.host, bp_host_step(o.host));
    EXPECT(recall_history(o.host).now == 6 && recall_hash(o.host) == end, "by steps the end is another one");
    WORKS(o.host, bp_host_step(o.host));
    uint64_t seven = recall_hash(o.host);
    WORKS(o.host, bp_host_go(o.host, 1));
    WORKS(o.host, bp_host_go(o.host, 7));
    EXPECT(recall_hash(o.host) == seven, "what was gone along with is not in the past");
    WORKS(o.host, bp_host_go(o.host, 6));
    EXPECT(recall_hash(o.host) != end, "in the past a moment is as the step before has left it");
    close_host(&o);
}
END_TEST

START_TEST(more_calls_at_the_same_moment)
{
    outside_t o;
    open_host(&o, UINT64_C(1) << 30);
    WORKS(o.host, bp_host_step(o.host));
    act(&o, 0);
    WORKS(o.host, bp_host_go(o.host, 0));
    WORKS(o.host, bp_host_go(o.host, 1));
    act(&o, 5);
    act(&o, 2);
    uint64_t end = recall_hash(o.host);
    WORKS(o.host, bp_host_go(o.host, 0));
    WORKS(o.host, bp_host_go(o.host, 1));
    EXPECT(recall_hash(o.host) == end, "calls of two visits");
    bp_host_touched(o.host);
    WORKS(o.host, bp_host_go(o.host, 0));
    WORKS(o.host, bp_host_go(o.host, 1));
    EXPECT(recall_hash(o.host) == end, "calls, and then what cannot be made again");
    close_host(&o);
}
END_TEST

/* No request for memory that fails changes the present, nor what is remembered of it. */
START_TEST(no_memory_for_calls)
{
    for (uint64_t k = 1; k < 60; k++) {
        outside_t o;
        open_host(&o, UINT64_C(1) << 30);
        for (uint64_t i = 0; i < 3; i++) {
            act(&o, i);
            WORKS(o.host, bp_host_step(o.host));
        }
        o.rig.heap.refuse_first = o.rig.heap.refuse_last = o.rig.heap.requests + k;
        bp_entity_t made;
        bp_result_t result = bp_host_api(o.host)->entity->create(o.host, &made, 1);
        if (result == BP_OK)
            result = bp_host_step(o.host);
        o.rig.heap.refuse_first = o.rig.heap.refuse_last = 0;
        uint64_t now = recall_hash(o.host);
        bp_history_t h = recall_history(o.host);
        WORKS(o.host, bp_host_go(o.host, h.first));
        WORKS(o.host, bp_host_go(o.host, h.last));
        EXPECT(recall_hash(o.host) == now, "request %u", (uint32_t)k);
        close_host(&o);
    }
}
END_TEST

Suite *journal_suite(void)
{
    Suite *suite = suite_create("journal");
    TCase *tcase = tcase_create("journal");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, calls_are_made_again);
    tcase_add_test(tcase, what_cannot_be_made_again_is_kept);
    tcase_add_test(tcase, calls_that_were_never_made_are_refused_or_made);
    tcase_add_test(tcase, the_end_of_the_past_has_what_came_there);
    tcase_add_test(tcase, more_calls_at_the_same_moment);
    tcase_add_test(tcase, no_memory_for_calls);
    suite_add_tcase(suite, tcase);
    return suite;
}
