/* test_clone.c - a second host made of a first one goes on as it does, and what is tried there leaves the first alone.
 */
#include "../reload/reload_support.h"
#include "../suites.h"
#include "recall.h"

#include <bp_clock.h>
#include <bp_history.h>
#include <stdio.h>
#include <string.h>

static bp_host_o *open_host(rig_t *rig)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin};
    rig_open_with(rig, plugins, 1);
    recall_open(rig->host);
    return rig->host;
}

static void go_on(bp_host_o *host, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        recall_act(host, i, 5);
        WORKS(host, bp_host_step(host));
    }
}

/* --- exact -------------------------------------------------------------------------------------------------------- */

enum { MANY = 3000 };

/* Columns that a clone copies from where they lie, with holes, in pages of records that do not follow each other. */
static void fill(bp_host_o *host)
{
    const bp_api_t *api = bp_host_api(host);
    bp_world_o *world = api->world->at(host, 0);
    bp_entity_t entities[MANY];
    for (uint32_t i = 0; i < MANY; i++)
        entities[i] = entity_with(world, i / 700 % 2 == 0 ? "body" : "mark");
    for (uint32_t i = 0; i < MANY; i += 3)
        EXPECT(api->entity->destroy(host, &entities[i], 1) == 1, "it lived");
}

START_TEST(a_clone_goes_on_as_the_first)
{
    rig_t rig;
    bp_host_o *clone, *second;
    bp_host_o *host = open_host(&rig);
    if (_i == 1)
        fill(host);
    go_on(host, 0, 30);
    if (_i == 1)
        fill(host);
    uint64_t now = recall_hash(host);
    scribe_state_t *scribe = recall_scribe;
    uint64_t runs = scribe->runs;
    WORKS(host, bp_host_clone(host, &clone));
    EXPECT(recall_hash(clone) == now, "the clone is another one");
    go_on(clone, 30, 50);
    EXPECT(recall_hash(host) == now, "the clone has reached the first");
    EXPECT(recall_scribe == scribe && scribe->runs == runs, "output of a clone");
    WORKS(clone, bp_host_clone(clone, &second));
    go_on(host, 30, 60);
    go_on(second, 50, 60);
    bp_host_destroy(clone);
    EXPECT(recall_hash(second) == recall_hash(host), "the clone of a clone goes on otherwise");
    bp_host_destroy(second);
    rig_close(&rig);
}
END_TEST

/* Units and components that came in another order than a fresh world would have them, and one that is gone. */
START_TEST(a_history_of_parts_is_no_matter)
{
    rig_t rig;
    bp_host_o *clone;
    bp_snapshot_o *now;
    bp_host_o *host = open_host(&rig);
    bp_world_o *main = rig.api->world->at(host, 0);
    go_on(host, 0, 12);
    WORKS(host, bp_world_drop_system(main, "watcher"));
    WORKS(host, bp_world_drop_component(main, "mark"));
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_world_use_component(main, "mark"));
    WORKS(host, bp_world_use_system(main, "watcher"));
    for (uint32_t i = 0; i < 5; i++)
        WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_snapshot(host, &now)); /* systems that are kept anew ask for the key of the component of now */
    WORKS(host, bp_host_bring_back(host, now));
    bp_snapshot_free(now);
    WORKS(host, bp_host_clone(host, &clone));
    EXPECT(recall_hash(clone) == recall_hash(host), "the clone is another one");
    for (uint32_t i = 0; i < 8; i++) {
        WORKS(host, bp_host_step(host));
        WORKS(clone, bp_host_step(clone));
    }
    EXPECT(recall_hash(clone) == recall_hash(host), "the clone goes on otherwise");
    bp_host_destroy(clone);
    recall_close(&rig); /* breed asks for a component that is gone, and is told so */
}
END_TEST

/* A component that was unloaded has come again with other fields: no clone can have those of the first one, and none
 * needs them. */
START_TEST(a_component_that_came_again_with_other_fields_is_cloned)
{
    rig_t rig;
    bp_host_o *clone;
    bp_entity_t entities[5];
    const recall_probes_t what = {.fixture = "reload_probe_first", .count = 5};
    bp_host_o *host = recall_open_probes(&rig, what, entities);
    bp_world_o *world = rig.api->world->at(host, 0);
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_unload_plugin_with(host, "probe"));
    WORKS(host, bp_host_load_plugin(host, put_plugin("reload_probe_reordered", "probe"), NULL, 0));
    WORKS(host, bp_world_use_component(world, "probe"));
    bp_entity_t e = entity_with(world, "probe");
    WORKS(host, bp_host_clone(host, &clone));
    EXPECT(recall_hash(clone) == recall_hash(host), "the clone is another one");
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(rig.api->entity->destroy(host, &e, i == 1), i == 1);
        ck_assert_uint_eq(rig.api->entity->destroy(clone, &e, i == 1), i == 1);
        WORKS(host, bp_host_step(host));
        WORKS(clone, bp_host_step(clone));
        EXPECT(recall_hash(clone) == recall_hash(host), "the clone goes on otherwise");
    }
    bp_host_destroy(clone);
    recall_close(&rig);
}
END_TEST

/* Each allocation of cloning fails once: the first host is as it was, and nothing is left behind. */
START_TEST(no_memory_for_a_clone)
{
    rig_t rig;
    bp_host_o *clone;
    bp_host_o *host = open_host(&rig);
    go_on(host, 0, 10);
    uint64_t now = recall_hash(host), failures = 0;
    for (uint64_t k = 1; k < 4000; k++) {
        uint64_t refused = rig.heap.refused;
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = bp_host_clone(host, &clone);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        EXPECT(recall_hash(host) == now, "request %llu: the host has changed", (unsigned long long)k);
        if (result == BP_OK)
            bp_host_destroy(clone);
        else
            EXPECT(bp_host_error(host)[0] != '\0', "request %llu fails without a word", (unsigned long long)k);
        failures += result != BP_OK;
        if (rig.heap.refused == refused)
            break;
    }
    EXPECT(failures > 100, "only %llu requests failed", (unsigned long long)failures);
    recall_close(&rig);
}
END_TEST

/* --- trying ------------------------------------------------------------------------------------------------------- */

typedef struct told_t {
    char text[4096];
    uint64_t count;
} told_t;

static void tell_structure(void *context, const char *world, bp_entity_t entity, const char *text)
{
    told_t *told = context;
    size_t length = strlen(told->text);
    (void)entity;
    snprintf(told->text + length, sizeof told->text - length, "%s: %s\n", world, text);
}

static void tell_field(void *context, const bp_diff_field_t *field)
{
    told_t *told = context;
    size_t length = strlen(told->text);
    told->count += field->count;
    snprintf(told->text + length, sizeof told->text - length, "%s: %s.%s\n", field->world, field->component,
             field->field);
}

static bp_result_t set_probe(void *context, bp_host_o *clone)
{
    const bp_api_t *api = bp_host_api(clone);
    float mass = 77;
    return api->property->set_named(api->world->at(clone, 0), *(const bp_entity_t *)context, "probe", "mass", BP_F32,
                                    &mass);
}

static bp_result_t reload_probe(void *context, bp_host_o *clone)
{
    static const char *const names[] = {"probe"};
    (void)context;
    return bp_host_reload(clone, names, 1, NULL);
}

static bp_result_t change_nothing(void *context, bp_host_o *clone)
{
    (void)context, (void)clone;
    return BP_OK;
}

static bp_host_o *open_probes(rig_t *rig, bp_entity_t entities[3])
{
    bp_world_o *world;
    rig_init(rig);
    rig->desc.flags = BP_HOST_COPY_PLUGINS;
    rig_open(rig);
    WORKS(rig->host, bp_host_load_plugin(rig->host, put_plugin("reload_probe_first", "probe"), NULL, 0));
    world = bp_world_create(rig->host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig->host, bp_world_use_component(world, "probe"));
    WORKS(rig->host, rig->api->world->create(world, prototype_of(world, "probe", NULL, NULL, NULL), entities, 3));
    WORKS(rig->host, bp_host_step(rig->host));
    return rig->host;
}

START_TEST(what_is_tried_is_told_and_leaves_the_host_alone)
{
    rig_t rig;
    bp_entity_t entities[3];
    told_t told = {.count = 0};
    const bp_diff_i sink = {.most = 3, .context = &told, .structure = tell_structure, .field = tell_field};
    bp_host_try_i what = {.struct_size = sizeof what, .steps = 5, .context = &entities[1], .differences = &sink};
    bp_host_tried_t tried = {.struct_size = sizeof tried};
    bp_host_o *host = open_probes(&rig, entities);
    uint64_t now = recall_hash(host);
    what.change = change_nothing;
    WORKS(host, bp_host_try(host, &what, &tried));
    EXPECT(told.text[0] == '\0', "nothing was changed, and yet: %s", told.text);
    what.change = set_probe;
    WORKS(host, bp_host_try(host, &what, &tried));
    ck_assert_str_eq(told.text, "main: probe.mass\n");
    ck_assert_uint_eq(told.count, 1);
    EXPECT(tried.with > 0 && tried.without > 0, "no times");
    EXPECT(recall_hash(host) == now, "trying has changed the host");
    what.context = &(bp_entity_t){.id = 12345};
    EXPECT(bp_host_try(host, &what, NULL) != BP_OK, "an entity that is not there");
    EXPECT(strncmp(bp_host_error(host), "the change: ", 12) == 0, "%s", bp_host_error(host));
    EXPECT(recall_hash(host) == now, "trying has changed the host");
    rig_close(&rig);
}
END_TEST

static bp_result_t set_velocity(void *context, bp_host_o *clone)
{
    const bp_api_t *api = bp_host_api(clone);
    bp_vec3_t velocity = {70, 80, 90};
    return api->property->set_named(api->world->at(clone, 0), *(const bp_entity_t *)context, "probe", "velocity",
                                    BP_VEC3, &velocity);
}

/* Where all worlds stand, the clone's are let go, since nothing would come of the change; where one of them goes on, or
 * has been granted a step, those that are stopped stay so in the clone. */
START_TEST(worlds_that_are_stopped_stay_so_in_what_is_tried_but_where_all_of_them_stand)
{
    static const struct {
        bool stopped[2], granted[2], moves;
    } cases[] = {
        {{false, false}, {false, false}, true}, {{true, false}, {false, false}, false},
        {{false, true}, {false, false}, true},  {{true, true}, {false, false}, true},
        {{true, true}, {false, true}, false},   {{true, true}, {true, false}, true},
    };
    rig_t rig;
    bp_entity_t entities[3];
    told_t told = {.count = 0};
    const bp_diff_i sink = {.most = 3, .context = &told, .structure = tell_structure, .field = tell_field};
    const bp_host_try_i what = {.struct_size = sizeof what, .steps = 5, .change = set_velocity,
                                .context = &entities[1], .differences = &sink};
    bp_host_o *host = open_probes(&rig, entities);
    bp_world_o *worlds[] = {rig.api->world->at(host, 0), bp_world_create(host, &(bp_world_desc_t){.name = "side"})};
    const bp_clock_api *clocks = (const bp_clock_api *)rig.api->registry->find(host, BP_CLOCK_API, 1);
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        for (uint32_t w = 0; w < COUNT(worlds); w++) {
            (cases[i].stopped[w] ? clocks->stop : clocks->start)(worlds[w]);
            if (cases[i].granted[w])
                clocks->step(worlds[w], 1);
        }
        uint64_t now = recall_hash(host);
        told.text[0] = '\0';
        WORKS(host, bp_host_try(host, &what, NULL));
        EXPECT(strstr(told.text, "main: probe.velocity\n") != NULL, "case %u: %s", i, told.text);
        EXPECT((strstr(told.text, "main: probe.position\n") != NULL) == cases[i].moves, "case %u: %s", i, told.text);
        EXPECT(recall_hash(host) == now, "trying has changed the host");
        for (uint32_t w = 0; w < COUNT(worlds); w++)
            clocks->start(worlds[w]);
    }
    rig_close(&rig);
}
END_TEST

/* The clone has the version that is at work, though another file lies at its path. */
START_TEST(another_version_is_tried)
{
    rig_t rig;
    bp_entity_t entities[3];
    told_t told = {.count = 0};
    const bp_diff_i sink = {.most = 30, .context = &told, .structure = tell_structure, .field = tell_field};
    bp_host_try_i what = {.struct_size = sizeof what, .steps = 2, .change = change_nothing, .differences = &sink};
    bp_host_o *host = open_probes(&rig, entities), *clone;
    uint64_t now = recall_hash(host);
    put_plugin("reload_probe_reshaped", "probe");
    WORKS(host, bp_host_try(host, &what, NULL));
    EXPECT(told.text[0] == '\0', "the version of the file, not that at work: %s", told.text);
    WORKS(host, bp_host_clone(host, &clone));
    what.change = reload_probe;
    WORKS(host, bp_host_try(host, &what, NULL));
    EXPECT(strstr(told.text, "field probe.drag has come") != NULL, "no word of the new field: %s", told.text);
    EXPECT(strstr(told.text, "field probe.velocity is not there any more") != NULL, "nor of the old: %s", told.text);
    EXPECT(recall_hash(host) == now, "trying has changed the host");
    WORKS(host, reload_probe(NULL, host));
    WORKS(host, bp_host_step(host));
    EXPECT(recall_hash(clone) == now, "a reload of the first host has reached its clone");
    WORKS(clone, bp_host_step(clone));
    put_plugin("refuses", "probe");
    EXPECT(bp_host_try(host, &what, NULL) != BP_OK, "a plugin that is none");
    EXPECT(strstr(bp_host_error(host), "the change: ") != NULL, "%s", bp_host_error(host));
    WORKS(host, bp_host_step(host));
    bp_host_destroy(clone);
    recall_close(&rig);
}
END_TEST

/* --- wished by plugins -------------------------------------------------------------------------------------------- */

static float mass_of(const rig_t *rig, bp_entity_t entity)
{
    float mass = 0;
    bp_world_o *world = rig->api->world->at(rig->host, 0);
    WORKS(rig->host, rig->api->property->get_named(world, entity, "probe", "mass", BP_F32, &mass));
    return mass;
}

START_TEST(a_wished_change_is_tried_and_made)
{
    rig_t rig;
    bp_entity_t entities[3];
    static const char *const plugins[] = {"probe"};
    static const bp_change_value_t two[] = {{"main/#0:1.probe.mass", "5"}, {"main/#1:1.probe.mass", "6"}};
    static const bp_change_value_t wrong[] = {{"main/#0:1.probe.mass", "50"}, {"main/#1:1.probe.mass", "heavy"}};
    bp_change_t change = {.struct_size = sizeof change, .values = two, .value_count = 2, .steps = 4};
    bp_changed_t changed = {.struct_size = sizeof changed};
    bp_difference_t difference = {.struct_size = sizeof difference};
    bp_host_o *host = open_probes(&rig, entities);
    const bp_history_api *history = (const bp_history_api *)rig.api->registry->find(host, BP_HISTORY_API, 2);
    FAILS(host, BP_ERROR_STATE, "no change has been tried", history->make_change(host, NULL));
    FAILS(host, BP_ERROR_ARGUMENT, "without plugins and values",
          history->try_change(host, &(bp_change_t){.struct_size = sizeof change}));
    uint64_t now = recall_hash(host);
    WORKS(host, history->try_change(host, &change));
    history->read_change(host, &changed);
    ck_assert_uint_eq(changed.state, BP_CHANGE_WAITS);
    WORKS(host, bp_host_poll(host));
    history->read_change(host, &changed);
    ck_assert_uint_eq(changed.state, BP_CHANGE_TRIED);
    EXPECT(changed.result == BP_OK && changed.differences == 1 && changed.steps == 4, "%s", changed.text);
    EXPECT(history->difference(host, 0, &difference) && !history->difference(host, 1, &difference), "one difference");
    EXPECT(strcmp(difference.field, "mass") == 0 && difference.count == 2, "%s", difference.field);
    EXPECT(recall_hash(host) == now, "trying has changed the host");
    WORKS(host, history->make_change(host, NULL));
    WORKS(host, bp_host_poll(host));
    EXPECT(mass_of(&rig, entities[0]) == 5 && mass_of(&rig, entities[1]) == 6, "the change was not made");
    change.values = wrong;
    WORKS(host, history->make_change(host, &change));
    WORKS(host, bp_host_poll(host));
    history->read_change(host, &changed);
    EXPECT(changed.result != BP_OK && strstr(changed.text, "heavy") != NULL, "%s", changed.text);
    EXPECT(mass_of(&rig, entities[0]) == 5, "half of a change was made");
    put_plugin("reload_probe_reshaped", "probe");
    change = (bp_change_t){.struct_size = sizeof change, .plugins = plugins, .plugin_count = 1};
    WORKS(host, history->make_change(host, &change));
    WORKS(host, bp_host_poll(host));
    history->read_change(host, &changed);
    EXPECT(changed.result == BP_OK && strstr(changed.text, "drag") != NULL, "%s", changed.text);
    recall_close(&rig);
}
END_TEST

/* Each allocation fails once: a change is made whole, or it is told that it is not. */
START_TEST(no_memory_for_a_wished_change)
{
    rig_t rig;
    bp_entity_t entities[3];
    static const bp_change_value_t two[] = {{"main/#0:1.probe.mass", "5"}, {"main/#1:1.probe.mass", "5"}};
    static const bp_change_value_t back[] = {{"main/#0:1.probe.mass", "1"}, {"main/#1:1.probe.mass", "1"}};
    bp_change_t change = {.struct_size = sizeof change, .values = two, .value_count = 2, .steps = 1};
    bp_changed_t changed = {.struct_size = sizeof changed};
    bp_host_o *host = open_probes(&rig, entities);
    const bp_history_api *history = (const bp_history_api *)rig.api->registry->find(host, BP_HISTORY_API, 2);
    uint32_t failures = 0;
    for (uint64_t k = 1; k < 4000; k++) {
        uint64_t refused = rig.heap.refused;
        bool makes = k % 2 == 0;
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k / 2;
        bp_result_t result = makes ? history->make_change(host, &change) : history->try_change(host, &change);
        if (result == BP_OK)
            WORKS(host, bp_host_poll(host));
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        history->read_change(host, &changed);
        bool made = result == BP_OK && changed.result == BP_OK && makes;
        EXPECT((mass_of(&rig, entities[0]) == 5) == made && (mass_of(&rig, entities[1]) == 5) == made,
               "request %llu: half of a change", (unsigned long long)k);
        EXPECT(result != BP_OK || changed.result == BP_OK || changed.text[0] != '\0', "it fails without a word");
        failures += result != BP_OK || changed.result != BP_OK;
        if (made) {
            change.values = back;
            WORKS(host, history->make_change(host, &change));
            WORKS(host, bp_host_poll(host));
            change.values = two;
        }
        if (makes && rig.heap.refused == refused)
            break;
    }
    EXPECT(failures > 20, "only %u requests failed", failures);
    recall_close(&rig);
}
END_TEST

static const bp_history_api *wishing;
static bool wishes_same;
static uint32_t wishes;

/* The plugin's reload is over, and the values that go with it are not set yet. */
static void wish_another(void *data, const bp_reload_report_t *report)
{
    static const bp_change_value_t other = {"main/#0:1.probe.mass", "9"};
    const bp_change_t change = {.struct_size = sizeof change, .values = &other, .value_count = 1};
    (void)report;
    if (wishes++ == 0)
        WORKS(data, wishing->make_change(data, wishes_same ? NULL : &change));
}

START_TEST(a_change_that_is_wished_while_another_one_is_made_comes_next)
{
    rig_t rig;
    bp_entity_t entities[3];
    static const char *const plugins[] = {"probe"};
    static const bp_change_value_t two[] = {{"main/#0:1.probe.mass", "5"}, {"main/#1:1.probe.mass", "6"}};
    const bp_change_t change = {.struct_size = sizeof change,
                                .plugins = plugins,
                                .plugin_count = 1,
                                .values = two,
                                .value_count = 2};
    bp_changed_t changed = {.struct_size = sizeof changed};
    bp_host_o *host = open_probes(&rig, entities);
    wishing = (const bp_history_api *)rig.api->registry->find(host, BP_HISTORY_API, 2);
    wishes_same = _i == 1;
    wishes = 0;
    WORKS(host, bp_host_on_reload(host, wish_another, host));
    put_plugin("reload_probe_faster", "probe");
    WORKS(host, wishing->make_change(host, &change));
    WORKS(host, bp_host_poll(host));
    EXPECT(mass_of(&rig, entities[0]) == 5 && mass_of(&rig, entities[1]) == 6, "the change was not made");
    wishing->read_change(host, &changed);
    ck_assert_uint_eq(changed.state, BP_CHANGE_WAITS);
    WORKS(host, bp_host_poll(host));
    wishing->read_change(host, &changed);
    EXPECT(changed.state == BP_CHANGE_MADE && changed.result == BP_OK, "%s", changed.text);
    EXPECT(mass_of(&rig, entities[0]) == (wishes_same ? 5 : 9) && wishes == (wishes_same ? 2 : 1),
           "it is not the one that was wished");
    recall_close(&rig);
}
END_TEST

Suite *clone_suite(void)
{
    Suite *suite = suite_create("clone");
    TCase *exact = tcase_create("exact");
    tcase_set_timeout(exact, 120);
    tcase_add_loop_test(exact, a_clone_goes_on_as_the_first, 0, 2);
    tcase_add_test(exact, a_history_of_parts_is_no_matter);
    tcase_add_test(exact, a_component_that_came_again_with_other_fields_is_cloned);
    tcase_add_test(exact, no_memory_for_a_clone);
    suite_add_tcase(suite, exact);
    TCase *trying = tcase_create("trying");
    tcase_set_timeout(trying, 60);
    tcase_add_test(trying, what_is_tried_is_told_and_leaves_the_host_alone);
    tcase_add_test(trying, worlds_that_are_stopped_stay_so_in_what_is_tried_but_where_all_of_them_stand);
    tcase_add_test(trying, another_version_is_tried);
    tcase_add_test(trying, a_wished_change_is_tried_and_made);
    tcase_add_test(trying, no_memory_for_a_wished_change);
    tcase_add_loop_test(trying, a_change_that_is_wished_while_another_one_is_made_comes_next, 0, 2);
    suite_add_tcase(suite, trying);
    return suite;
}
