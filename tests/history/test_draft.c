/* test_draft.c - a host with something changed lives beside the first one, from now on or from the past, and is kept or
 * dropped.
 */
#include "../reload/reload_support.h"
#include "../suites.h"
#include "recall.h"

#include "engine/host.h"
#include "reload/process.h"

#include <bp_history.h>
#include <string.h>

enum { ENTITIES = 6 };

static bp_entity_t entities[ENTITIES];

/* Probes move with their velocity: version 2 has other code, version 3 other fields (reload_probe.h). */
static bp_host_o *open_host_on(rig_t *rig, uint64_t budget, uint32_t threads)
{
    return recall_open_probes(rig, (recall_probes_t){"reload_probe_first", budget, threads, ENTITIES, 0}, entities);
}

static bp_host_o *open_host(rig_t *rig, uint64_t budget)
{
    return open_host_on(rig, budget, 1);
}

/* Calls that succeed, so that all of them can be made again. */
static void act(bp_host_o *host, uint64_t step)
{
    static bp_entity_t made[3];
    const bp_api_t *api = bp_host_api(host);
    bp_world_o *world = api->world->at(host, 0);
    float mass = (float)step / 7;
    if (step % 5 == 1)
        WORKS(host, api->world->create(world, prototype_of(world, "probe", "body", NULL, NULL), made, 3));
    if (step % 5 == 3)
        api->entity->destroy(host, made, 2);
    WORKS(host, api->property->set_named(world, entities[step % ENTITIES], "probe", "mass", BP_F32, &mass));
}

static void go_on(bp_host_o *host, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        act(host, i);
        WORKS(host, bp_host_step(host));
    }
}

static bp_drafted_t read_draft(bp_host_o *host)
{
    bp_drafted_t drafted = {.struct_size = sizeof drafted};
    bp_host_draft_read(host, &drafted);
    return drafted;
}

/* Poll until the draft is level, ready or gone. */
static bp_drafted_t wait_for(bp_host_o *host)
{
    for (uint32_t i = 0; i < 100000; i++) {
        WORKS(host, bp_host_poll(host));
        bp_drafted_t drafted = read_draft(host);
        if (drafted.state >= BP_DRAFT_BESIDE || drafted.state == BP_DRAFT_NONE)
            return drafted;
        WORKS(host, bp_host_wait(host, 1000000));
    }
    ck_abort_msg("the draft does not become level");
    return read_draft(host);
}

static bp_drafted_t wait_until(bp_host_o *host, uint32_t state)
{
    bp_drafted_t drafted = wait_for(host);
    EXPECT(drafted.state == state, "state %u: %s", drafted.state, drafted.text);
    return drafted;
}

static void begin(bp_host_o *host, const char *fixture, uint64_t back, uint64_t steps)
{
    static const char *const names[] = {"probe"};
    const bp_draft_i draft = {
        .struct_size = sizeof draft, .plugins = names, .plugin_count = 1, .back = back, .steps = steps};
    put_plugin(fixture, "probe");
    WORKS(host, bp_host_draft(host, &draft));
}

typedef struct differences_t {
    uint64_t fields, sentences;
    char text[2048];
} differences_t;

static void tell_structure(void *context, const char *world, bp_entity_t entity, const char *text)
{
    differences_t *d = context;
    size_t length = strlen(d->text);
    (void)entity;
    d->sentences++;
    snprintf(d->text + length, sizeof d->text - length, "%s: %s\n", world, text);
}

static void tell_field(void *context, const bp_diff_field_t *field)
{
    differences_t *d = context;
    size_t length = strlen(d->text);
    d->fields++;
    snprintf(d->text + length, sizeof d->text - length, "%s.%s\n", field->component, field->field);
}

static differences_t differences(bp_host_o *host)
{
    differences_t found = {.fields = 0};
    const bp_diff_i sink = {
        .struct_size = sizeof sink, .context = &found, .structure = tell_structure, .field = tell_field};
    WORKS(host, bp_host_draft_differences(host, &sink));
    return found;
}

/* The same steps without a draft come to the same: nothing of the draft reaches the host. */
static uint64_t hash_without(uint64_t budget, uint64_t steps)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, budget);
    go_on(host, 0, steps);
    uint64_t hash = recall_hash(host);
    recall_close(&rig);
    return hash;
}

/* --- beside ------------------------------------------------------------------------------------------------------- */

/* The draft has taken so many steps, all calls with them, and has the same code: so nothing differs. */
static bp_drafted_t expect_level(bp_host_o *host, uint64_t taken)
{
    bp_drafted_t drafted = wait_until(host, BP_DRAFT_BESIDE);
    EXPECT(drafted.taken == taken && drafted.passed == 0, "%llu steps, %s", (unsigned long long)drafted.taken,
           drafted.passed_first);
    differences_t none = differences(host);
    EXPECT(none.fields == 0 && none.sentences == 0, "the same code: %s", none.text);
    return drafted;
}

START_TEST(a_draft_follows_the_host)
{
    rig_t rig;
    uint64_t expected = hash_without(0, 60);
    bp_host_o *host = open_host_on(&rig, 0, recall_threads[_i]);
    go_on(host, 0, 20);
    begin(host, "reload_probe_first", 0, 0);
    uint64_t at = 20;
    for (; read_draft(host).state < BP_DRAFT_BESIDE || at < 40; at++) {
        WORKS(host, bp_host_wait(host, 1000000));
        if (at < 45)
            go_on(host, at, at + 1);
    }
    at = at < 45 ? at : 45;
    bp_drafted_t drafted = expect_level(host, at - 20);
    EXPECT(drafted.with > 0 && drafted.without > 0, "no times");
    go_on(host, at, 60);
    EXPECT(recall_hash(host) == expected, "the draft has reached the host");
    bp_host_draft_drop(host);
    ck_assert_uint_eq(read_draft(host).state, BP_DRAFT_NONE);
    recall_close(&rig);
}
END_TEST

START_TEST(other_code_is_told_apart_and_kept)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, 0);
    go_on(host, 0, 10);
    begin(host, "reload_probe_faster", 0, 5);
    FAILS(host, BP_ERROR_STATE, "not at the same step", bp_host_draft_keep(host));
    while (read_draft(host).state == BP_DRAFT_BEFORE || read_draft(host).state == BP_DRAFT_TRYING)
        WORKS(host, bp_host_wait(host, 1000000));
    go_on(host, 10, 15);
    wait_until(host, BP_DRAFT_READY);
    differences_t found = differences(host);
    EXPECT(found.fields > 0 && strstr(found.text, "probe.position") != NULL, "told: %s", found.text);
    WORKS(host, bp_host_draft_keep(host));
    ck_assert_uint_eq(read_draft(host).state, BP_DRAFT_NONE);
    recall_close(&rig);
}
END_TEST

/* What does not come through its trial never runs beside the host. */
START_TEST(what_fails_its_trial_is_dropped)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, 0);
    go_on(host, 0, 10);
    begin(host, "reload_probe_start_fails", 0, 0);
    bp_drafted_t drafted = wait_until(host, BP_DRAFT_FAILED);
    EXPECT(strstr(drafted.text, "it does not want to") != NULL, "%s", drafted.text);
    FAILS(host, BP_ERROR_STATE, "there is no draft any more", bp_host_draft_keep(host));
    begin(host, "reload_probe_faster", 0, 0);
    WORKS(host, bp_world_drop_system(rig.api->world->at(host, 0), "watcher")); /* the host is another one */
    WORKS(host, bp_host_step(host));
    drafted = wait_until(host, BP_DRAFT_FAILED);
    recall_close(&rig);
}
END_TEST

static const char *version_at_work(bp_host_o *host)
{
    return bp_host_plugin(host, 1, NULL)->desc->version;
}

/* Make steps until something is said, `most` at most; returns how many. */
static uint64_t steps_until(rig_t *rig, uint64_t from, const char *said, uint64_t most)
{
    uint64_t at = from;
    for (; strstr(rig->log.text, said) == NULL && at < from + most; at++) {
        WORKS(rig->host, bp_host_wait(rig->host, 1000000));
        WORKS(rig->host, bp_host_poll(rig->host));
        go_on(rig->host, at, at + 1);
    }
    EXPECT(strstr(rig->log.text, said) != NULL, "'%s' is not said: %s", said, rig->log.text);
    return at - from;
}

/* As an ini says it with `reload = try 5`: what is written anew is a draft for five steps, and comes in then. */
START_TEST(a_file_that_is_written_anew_runs_beside_the_host_before_it_comes_in)
{
    enum { TRIED = 5, MOST = 20000 };
    rig_t rig;
    if (!process_can_fork())
        return;
    bp_host_o *host = recall_open_probes(
        &rig, (recall_probes_t){"reload_probe_first", 0, 1, ENTITIES, BP_HOST_HOT_RELOAD}, entities);
    host->hot.beside_steps = TRIED;
    WORKS(host, bp_host_poll(host));
    ck_assert_str_eq(version_at_work(host), "1");
    put_plugin("reload_probe_start_fails", "probe");
    uint64_t at = steps_until(&rig, 0, "it does not want to", MOST);
    ck_assert_str_eq(version_at_work(host), "1");
    rig.log.text[0] = '\0';
    put_plugin("reload_probe_faster", "probe");
    at += steps_until(&rig, at, "host: 1: reloaded probe 1 -> 2", MOST); /* not as the draft says it before */
    ck_assert_str_eq(version_at_work(host), "2");
    ck_assert_uint_ge(at, TRIED);
    ck_assert_uint_eq(read_draft(host).state, BP_DRAFT_NONE);
    rig.log.text[0] = '\0';
    for (uint32_t i = 0; i < 50; i++) { /* and that was it */
        WORKS(host, bp_host_wait(host, 1000000));
        WORKS(host, bp_host_poll(host));
        ck_assert_uint_eq(read_draft(host).state, BP_DRAFT_NONE);
    }
    rig.log.count = 0;
    recall_close(&rig);
}
END_TEST

/* The process is copied for the trial while no thread of a plugin is at work. */
START_TEST(plugins_are_paused_for_the_trial_of_a_draft)
{
    rig_t rig;
    uint32_t pauses = 0, resumed = 0;
    bp_host_o *host = open_host(&rig, 0);
    WORKS(host, bp_host_load_plugin(host, TEST_FIXTURE_DIR "/napper", NULL, 0));
    go_on(host, 0, 3);
    begin(host, "reload_probe_faster", 0, 0);
    wait_until(host, BP_DRAFT_BESIDE);
    for (const char *at = rig.log.text; (at = strstr(at, "napper: 1: pause 2\n")) != NULL; at++)
        pauses++;
    for (const char *at = rig.log.text; (at = strstr(at, "napper: 1: resume 2\n")) != NULL; at++)
        resumed++;
    EXPECT(pauses == 1 && resumed == 1, "%s", rig.log.text);
    bp_host_draft_drop(host);
    WORKS(host, bp_host_unload_plugin(host, "napper"));
    rig.log.text[0] = '\0';
    rig.log.count = 0;
    recall_close(&rig);
}
END_TEST

/* --- the past ----------------------------------------------------------------------------------------------------- */

START_TEST(the_past_is_edited_and_kept)
{
    rig_t rig;
    uint64_t budget = UINT64_C(1) << 30, expected = hash_without(budget, 60);
    bp_host_o *host = open_host_on(&rig, budget, recall_threads[_i]);
    go_on(host, 0, 50);
    begin(host, "reload_probe_faster", 30, 0);
    while (read_draft(host).state < BP_DRAFT_BEHIND)
        WORKS(host, bp_host_wait(host, 1000000));
    go_on(host, 50, 60); /* it goes on meanwhile */
    bp_drafted_t drafted = wait_for(host);
    EXPECT(drafted.state == BP_DRAFT_BESIDE && drafted.began == 20 && drafted.now == 60, "%s", drafted.text);
    EXPECT(strstr(drafted.differs, "step 21: component 'probe'") != NULL, "told: %s", drafted.differs);
    EXPECT(strstr(drafted.differs, "probe.position") != NULL, "told: %s", drafted.differs);
    EXPECT(recall_hash(host) == expected, "the draft has reached the host");
    EXPECT(differences(host).fields > 0, "no difference");
    WORKS(host, bp_host_draft_keep(host));
    bp_history_t h = recall_history(host);
    EXPECT(h.first == 0 && h.now == 60 && h.last == 60 && h.branches == 1, "at %llu", (unsigned long long)h.now);
    uint64_t kept = recall_hash(host), at_forty;
    EXPECT(kept != expected, "nothing was kept");
    WORKS(host, bp_host_go(host, 40));
    at_forty = recall_hash(host);
    WORKS(host, bp_host_go(host, 10)); /* before the change: the older code */
    WORKS(host, bp_host_go(host, 60));
    EXPECT(recall_hash(host) == kept, "the other past comes to another end");
    WORKS(host, bp_host_branch_to(host, 1));
    EXPECT(recall_hash(host) == expected, "the past that was is another one");
    WORKS(host, bp_host_go(host, 40));
    EXPECT(recall_hash(host) != at_forty, "both pasts are the same");
    recall_close(&rig);
}
END_TEST

/* A host that is made of other parts forgets its past with the next step, and with what is asked of its past before. */
START_TEST(a_draft_of_a_past_that_is_forgotten_cannot_be_kept)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    go_on(host, 0, 20);
    begin(host, "reload_probe_faster", 10, 0);
    wait_until(host, BP_DRAFT_BESIDE);
    WORKS(host, bp_host_load_plugin(host, TEST_FIXTURE_DIR "/napper", NULL, 0));
    uint64_t now = recall_hash(host);
    FAILS(host, BP_ERROR_STATE, "step 10 is not remembered any more", bp_host_draft_keep(host));
    EXPECT(recall_hash(host) == now, "the host is another one");
    ck_assert_uint_eq(read_draft(host).state, BP_DRAFT_BESIDE);
    bp_host_draft_drop(host);
    go_on(host, 20, 22);
    EXPECT(recall_history(host).first == 20, "from %llu", (unsigned long long)recall_history(host).first);
    WORKS(host, bp_host_unload_plugin(host, "napper"));
    recall_close(&rig);
}
END_TEST

static bp_result_t add_mass(void *context, bp_host_o *clone)
{
    const bp_api_t *api = bp_host_api(clone);
    float mass = 1234;
    (void)context;
    return api->property->set_named(api->world->at(clone, 0), entities[0], "probe", "mass", BP_F32, &mass);
}

/* A keyframe is taken after each step; a draft of half of what is remembered then is kept, or there is no room. The
 * host is at the end of its past, or (`here`) in its middle. Returns whether the draft was kept. */
static bool keep_with_room(uint64_t budget, uint64_t here)
{
    rig_t rig;
    bp_entity_t more[400];
    bp_host_o *host = open_host(&rig, 0);
    bp_world_o *world = rig.api->world->at(host, 0);
    WORKS(host, rig.api->world->create(world, prototype_of(world, "probe", "body", NULL, NULL), more, COUNT(more)));
    bp_host_keyframe_every(host, 0);
    if (bp_host_remember(host, budget) != BP_OK) {
        recall_close(&rig);
        return false;
    }
    for (uint32_t i = 0; i < 16; i++)
        WORKS(host, bp_host_step(host));
    bp_history_t h = recall_history(host);
    if (here > 0 && h.first + 2 < here)
        WORKS(host, bp_host_go(host, here));
    h = recall_history(host);
    uint64_t now = recall_hash(host);
    const bp_draft_i draft = {.struct_size = sizeof draft, .back = (h.now - h.first + 1) / 2, .change = add_mass};
    bool kept = draft.back > 0 && bp_host_draft(host, &draft) == BP_OK &&
                wait_for(host).state == BP_DRAFT_BESIDE && bp_host_draft_keep(host) == BP_OK;
    bp_host_draft_drop(host);
    EXPECT(kept || recall_hash(host) == now, "budget %llu: the host has changed", (unsigned long long)budget);
    now = recall_hash(host);
    h = recall_history(host);
    EXPECT(h.first <= h.now && h.now <= h.last && h.bytes <= budget, "budget %llu: %llu to %llu, at %llu",
           (unsigned long long)budget, (unsigned long long)h.first, (unsigned long long)h.last,
           (unsigned long long)h.now);
    if (h.first < h.now && bp_host_go(host, h.first) == BP_OK) {
        WORKS(host, bp_host_go(host, h.now));
        EXPECT(recall_hash(host) == now, "budget %llu: the way there is another one", (unsigned long long)budget);
    }
    for (uint32_t i = 0; i < 3; i++)
        WORKS(host, bp_host_step(host));
    recall_close(&rig);
    return kept;
}

#if defined(BACKPLANE_SANITIZED)
enum { BUDGETS_APART = 30000 };
#else
enum { BUDGETS_APART = 6000 };
#endif

START_TEST(a_draft_is_kept_or_there_is_no_room)
{
    uint32_t kept = 0, count = 0;
    for (uint64_t budget = 40000; budget < 900000; budget += BUDGETS_APART, count++)
        kept += keep_with_room(budget, _i == 0 ? 0 : 10);
    EXPECT(kept > 0 && kept < count, "%u of %u were kept", kept, count);
}
END_TEST

/* The same code: the journal run again comes to the same, whatever came from outside. */
START_TEST(the_same_code_makes_no_difference)
{
    rig_t rig;
    bp_host_o *host = open_host_on(&rig, UINT64_C(1) << 30, recall_threads[_i]);
    go_on(host, 0, 40);
    uint64_t now = recall_hash(host);
    begin(host, "reload_probe_first", 35, 0);
    bp_drafted_t drafted = wait_for(host);
    EXPECT(drafted.state == BP_DRAFT_BESIDE && drafted.differs[0] == '\0' && drafted.passed == 0, "%s%s%s",
           drafted.text, drafted.differs, drafted.passed_first);
    differences_t none = differences(host);
    EXPECT(none.fields == 0 && none.sentences == 0, "%s", none.text);
    WORKS(host, bp_host_draft_keep(host));
    EXPECT(recall_hash(host) == now, "the same past comes to another end");
    FAILS(host, BP_ERROR_RANGE, "what is remembered begins at step 0, 40 back",
          bp_host_draft(host, &(bp_draft_i){.struct_size = sizeof(bp_draft_i),
                                            .plugins = (const char *const[]){"probe"},
                                            .plugin_count = 1,
                                            .back = 41}));
    recall_close(&rig);
}
END_TEST

static bp_result_t end_some(void *context, bp_host_o *clone)
{
    (void)context;
    bp_host_api(clone)->entity->destroy(clone, entities, ENTITIES);
    return BP_OK;
}

/* Commands name entities that are not there in the other past: told, and passed over. */
START_TEST(what_never_came_to_be_is_passed_over)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    bp_world_o *world = rig.api->world->at(host, 0);
    for (uint32_t i = 0; i < 20; i++) {
        float mass = (float)i + 2;
        WORKS(host, rig.api->property->set_named(world, entities[i % ENTITIES], "probe", "mass", BP_F32, &mass));
        WORKS(host, bp_host_step(host));
    }
    const bp_draft_i draft = {.struct_size = sizeof draft, .back = 10, .change = end_some};
    WORKS(host, bp_host_draft(host, &draft));
    bp_drafted_t drafted = wait_for(host);
    EXPECT(drafted.state == BP_DRAFT_BESIDE && drafted.passed >= 10, "%llu passed over",
           (unsigned long long)drafted.passed);
    EXPECT(strstr(drafted.passed_first, "before step 11: ") != NULL, "%s", drafted.passed_first);
    EXPECT(differences(host).sentences > 0, "entities that are not there");
    WORKS(host, bp_host_draft_keep(host));
    uint64_t kept = recall_hash(host);
    WORKS(host, bp_host_go(host, 12));
    WORKS(host, bp_host_go(host, 20));
    EXPECT(recall_hash(host) == kept, "passed over otherwise");
    recall_close(&rig);
}
END_TEST

static bp_result_t end_two(void *context, bp_host_o *clone)
{
    (void)context;
    bp_host_api(clone)->entity->destroy(clone, entities, 2);
    return BP_OK;
}

/* Of several that a call names, those that are there are changed, each by what was meant for it. */
START_TEST(calls_for_some_that_never_came_to_be_are_made_for_the_others)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    const bp_api_t *api = rig.api;
    bp_world_o *world = api->world->at(host, 0);
    float masses[ENTITIES], mass;
    bp_property_t property;
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_step(host));
    for (uint32_t i = 0; i < ENTITIES; i++)
        masses[i] = 100 + (float)i;
    WORKS(host, api->property->resolve(world, entities[0], "probe", "mass", &property));
    WORKS(host, api->property->set(world, &property, entities, ENTITIES, masses, sizeof *masses));
    WORKS(host, api->world->add(world, key_of(world, "mark", ""), entities, ENTITIES));
    WORKS(host, api->world->remove(world, key_of(world, "mark", ""), entities, 2)); /* none of them is there */
    WORKS(host, api->property->set(world, &property, entities, 2, masses, sizeof *masses));
    WORKS(host, bp_host_step(host));
    const bp_draft_i draft = {.struct_size = sizeof draft, .back = 2, .change = end_two};
    WORKS(host, bp_host_draft(host, &draft));
    bp_drafted_t drafted = wait_for(host);
    EXPECT(drafted.state == BP_DRAFT_BESIDE && drafted.passed == 4, "%s%llu passed over", drafted.text,
           (unsigned long long)drafted.passed);
    EXPECT(strstr(drafted.passed_first, "2 of 6 entities are not there") != NULL, "%s", drafted.passed_first);
    WORKS(host, bp_host_draft_keep(host));
    uint32_t alive = api->entity->alive(host, entities, ENTITIES, NULL);
    EXPECT(alive == ENTITIES - 2, "%u are alive", alive);
    for (uint32_t i = 2; i < ENTITIES; i++) {
        WORKS(host, api->property->get_named(world, entities[i], "probe", "mass", BP_F32, &mass));
        EXPECT(mass == masses[i], "%u has %g", i, (double)mass);
    }
    recall_close(&rig);
}
END_TEST

/* --- a step of the past that fails ------------------------------------------------------------------------------- */

struct dot { float *x; };

static const bp_field_t dot_fields[] = {{BP_FIELD_OF(struct dot, x)}};

static void move_dots(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct dot, c, run->columns);
    for (uint32_t i = 0; i < count; i++)
        c.x[i] += 1;
}

static const bp_component_i dots[] = {
    {.name = "dot", .flags = BP_COMPONENT_CONCURRENT, .fields = BP_LIST(dot_fields), .simulate = move_dots}};
static const bp_plugin_head_t dotted =
    BP_PLUGIN_HEAD("dotted", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(dots)}));

static bp_result_t change_nothing(void *context, bp_host_o *clone)
{
    (void)context, (void)clone;
    return BP_OK;
}

/* Two worlds that step side by side, for which each step needs memory; before the sixth step entities came. */
static bp_host_o *open_dotted(rig_t *rig)
{
    static const bp_plugin_head_t *const plugins[] = {&dotted};
    static const char *const names[] = {"one", "two"};
    bp_entity_t made[5];
    rig_open_with(rig, plugins, 1);
    WORKS(rig->host, bp_host_load_plugin(rig->host, "dotted", NULL, 0));
    for (uint32_t w = 0; w < 2; w++)
        WORKS(rig->host, bp_world_use_component(
                             bp_world_create(rig->host, &(bp_world_desc_t){.name = names[w]}), "dot"));
    WORKS(rig->host, bp_host_remember(rig->host, UINT64_C(1) << 30));
    bp_world_o *world = rig->api->world->at(rig->host, 0);
    for (uint32_t i = 0; i < 9; i++) {
        if (i == 5)
            WORKS(rig->host, rig->api->world->create(world, prototype_of(world, "dot", NULL, NULL, NULL), made, 5));
        WORKS(rig->host, bp_host_step(rig->host));
    }
    return rig->host;
}

/* The calls before a step of the past that has failed have been made in the host: a draft of an earlier moment has them
 * too, once that step is taken. */
START_TEST(a_draft_begun_behind_a_step_that_failed_has_the_calls_before_that_step)
{
    const bp_draft_i draft = {.struct_size = sizeof draft, .back = 2, .change = change_nothing};
    uint32_t failed = 0;
    for (uint64_t k = 1; k < 40; k++) {
        rig_t rig;
        bp_host_o *host = open_dotted(&rig);
        WORKS(host, bp_host_go(host, 5));
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = bp_host_step(host);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        if (result != BP_OK && host->history.came) {
            failed++;
            WORKS(host, bp_host_draft(host, &draft));
            WORKS(host, bp_host_step(host));
            bp_drafted_t drafted = wait_until(host, BP_DRAFT_BESIDE);
            EXPECT(drafted.now == 6 && drafted.passed == 0, "at %llu", (unsigned long long)drafted.now);
            differences_t none = differences(host);
            EXPECT(none.fields == 0 && none.sentences == 0, "request %u: %s", (uint32_t)k, none.text);
        }
        recall_close(&rig);
    }
    EXPECT(failed > 0, "no step has failed behind its calls");
}
END_TEST

/* --- changes that meddle with their draft ------------------------------------------------------------------------- */

static bp_host_o *meddled;
static uint32_t meddling;

static bp_result_t meddle(void *context, bp_host_o *clone)
{
    const bp_draft_i other = {.struct_size = sizeof other, .change = meddle};
    (void)context, (void)clone;
    FAILS(meddled, BP_ERROR_STATE, "not while the change of a draft", bp_host_draft(meddled, &other));
    FAILS(meddled, BP_ERROR_STATE, "not while the change of a draft", bp_host_draft_keep(meddled));
    if (meddling == 0)
        bp_host_draft_drop(meddled);
    if (meddling == 1)
        WORKS(meddled, bp_host_remember(meddled, 0)); /* the draft's beginning is forgotten */
    return meddling == 2 ? BP_ERROR_FAILED : BP_OK;
}

/* A draft of the past, or from now on, whose change drops it, has it forgotten, fails, or drops it while it is kept. */
START_TEST(a_change_may_drop_its_draft)
{
    rig_t rig;
    bp_drafted_t drafted = {.struct_size = sizeof drafted};
    meddled = open_host(&rig, UINT64_C(1) << 30);
    meddling = (uint32_t)_i / 2;
    for (uint32_t i = 0; i < 10; i++)
        WORKS(meddled, bp_host_step(meddled));
    uint64_t before = recall_hash(meddled);
    const bp_draft_i draft = {.struct_size = sizeof draft, .back = _i % 2 == 0 ? 5 : 0, .change = meddle};
    WORKS(meddled, bp_host_draft(meddled, &draft));
    drafted = wait_for(meddled);
    if (meddling == 3) {
        ck_assert_uint_eq(drafted.state, BP_DRAFT_BESIDE);
        meddling = 0;
        bp_result_t kept = bp_host_draft_keep(meddled);
        ck_assert_int_eq(kept, BP_OK);
        bp_host_draft_read(meddled, &drafted);
    }
    bool stays = meddling == 1 && draft.back == 0;
    ck_assert_uint_eq(drafted.state, stays ? BP_DRAFT_BESIDE : meddling == 2 ? BP_DRAFT_FAILED : BP_DRAFT_NONE);
    EXPECT(draft.back > 0 || recall_hash(meddled) == before, "the host has changed");
    WORKS(meddled, bp_host_step(meddled));
    WORKS(meddled, bp_host_poll(meddled));
    recall_close(&rig);
}
END_TEST

/* A host that begins to remember counts its moments from the clock of its first world on: after a restore that is less
 * than what a draft began with. */
START_TEST(a_draft_goes_on_where_moments_are_counted_from_elsewhere)
{
    rig_t rig;
    bp_scene_o *early;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    bp_world_o *world = bp_host_api(host)->world->at(host, 0);
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_scene_capture(world, &early));
    for (uint32_t i = 0; i < 20; i++)
        WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_remember(host, 0));
    WORKS(host, bp_scene_restore(early, world, 0));
    begin(host, "reload_probe_first", 0, 0);
    WORKS(host, bp_host_remember(host, UINT64_C(1) << 30));
    for (uint32_t i = 0; i < 3; i++)
        WORKS(host, bp_host_step(host));
    expect_level(host, 3);
    recall_close(&rig);
}
END_TEST

enum { REMEMBERS, FORGETS, RECORDS, HAS_RECORDED, SETTLES, TURNS };

/* A host that forgets has remembered before, and one that settles remembers. */
static bp_host_o *open_for_turn(rig_t *rig, int turn)
{
    return open_host(rig, turn == FORGETS || turn == SETTLES ? UINT64_C(1) << 30 : 0);
}

/* The host begins to keep what happens, or to keep it elsewhere. */
static void take_turn(bp_host_o *host, int turn)
{
    if (turn == REMEMBERS || turn == FORGETS)
        WORKS(host, bp_host_remember(host, turn == REMEMBERS ? UINT64_C(1) << 30 : 0));
    if (turn == RECORDS || turn == HAS_RECORDED)
        WORKS(host, bp_host_record(host, TEST_SCRATCH_DIR "/draft.rec", "test"));
    if (turn == HAS_RECORDED)
        WORKS(host, bp_host_record_end(host));
    if (turn == SETTLES)
        history_settle(&host->history);
}

/* What comes before the host begins to remember or to record, or ends it, comes to the draft too. */
START_TEST(a_draft_knows_what_came_before_the_host_began_to_remember)
{
    rig_t rig;
    bp_host_o *host = open_for_turn(&rig, _i);
    begin(host, "reload_probe_first", 0, 0);
    act(host, 1);
    take_turn(host, _i);
    act(host, 2);
    WORKS(host, bp_host_step(host));
    expect_level(host, 1);
    recall_close(&rig);
}
END_TEST

/* The draft begins between calls that lie between two steps: of a host that remembers, and of one that is recorded. */
START_TEST(calls_before_a_draft_begins_are_not_made_in_it_again)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, _i == 0 ? UINT64_C(1) << 30 : 0);
    if (_i == 1)
        WORKS(host, bp_host_record(host, TEST_SCRATCH_DIR "/before_draft.rec", "test"));
    go_on(host, 0, 7);
    act(host, 1);
    begin(host, "reload_probe_first", 0, 0);
    act(host, 6);
    WORKS(host, bp_host_step(host));
    expect_level(host, 1);
    recall_close(&rig);
}
END_TEST

/* What comes between two steps is made again as a whole or not at all, and told. */
START_TEST(what_is_no_call_is_passed_over_with_the_calls_before_it)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    go_on(host, 0, 7);
    begin(host, "reload_probe_first", 0, 0);
    wait_until(host, BP_DRAFT_BESIDE);
    act(host, 1);
    bp_host_touched(host);
    WORKS(host, bp_host_step(host));
    bp_drafted_t drafted = wait_until(host, BP_DRAFT_BESIDE);
    EXPECT(drafted.taken == 1 && drafted.passed == 1 &&
               strstr(drafted.passed_first, "what came from outside is no call that can be made again") != NULL,
           "%llu passed: %s", (unsigned long long)drafted.passed, drafted.passed_first);
    EXPECT(differences(host).sentences > 0, "the entities that came are there");
    recall_close(&rig);
}
END_TEST

/* A world has begun, which the draft does not have: its steps are none of the draft's. */
START_TEST(a_draft_ends_where_a_world_has_begun_before_the_host_began_to_remember)
{
    rig_t rig;
    bp_host_o *host = open_for_turn(&rig, _i);
    begin(host, "reload_probe_first", 0, 0);
    wait_until(host, BP_DRAFT_BESIDE);
    bp_world_o *extra = bp_world_create(host, &(bp_world_desc_t){.name = "extra"});
    ck_assert_ptr_nonnull(extra);
    take_turn(host, _i);
    WORKS(host, bp_world_step(extra));
    WORKS(host, bp_host_poll(host));
    bp_drafted_t drafted = read_draft(host);
    ck_assert_uint_eq(drafted.state, BP_DRAFT_FAILED);
    EXPECT(strstr(drafted.text, "the host is made of other parts now") != NULL, "%s", drafted.text);
    recall_close(&rig);
}
END_TEST

/* Each allocation of a draft of the past fails once: the host is as it was, and a draft that fails says why. Those of
 * the steps before the change are tried densely, and, of a version that does something else, the last ones, which the
 * search for what differs makes: hardly any of these are made by a plugin that goes on without. */
START_TEST(no_memory_for_a_draft)
{
    enum { ALL, BEFORE, OTHER, DENSE = 45, LAST = 110 };
    static const char *const names[] = {"probe"};
    const bp_draft_i draft = {.struct_size = sizeof draft, .plugins = names, .plugin_count = 1, .back = 6};
    const bool other = _i == OTHER;
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    uint64_t failures = 0, tried = 0;
    if (other)
        put_plugin("reload_probe_faster", "probe");
    go_on(host, 0, 12);
    uint64_t now = recall_hash(host), begun = rig.heap.requests;
    WORKS(host, bp_host_draft(host, &draft));
    uint64_t before = rig.heap.requests - begun;
    bp_drafted_t expected = wait_until(host, BP_DRAFT_BESIDE);
    ck_assert_int_eq(expected.differs[0] != '\0', other);
    bp_host_draft_drop(host);
    uint64_t all = rig.heap.requests - begun;
    uint64_t first = other ? all - LAST : _i == BEFORE ? before + 1 : 1, end = _i == BEFORE ? first + DENSE : all;
    for (uint64_t k = first; k < end; k += _i == ALL ? 1 + k / 25 : 2, tried++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = bp_host_draft(host, &draft);
        while (result == BP_OK && read_draft(host).state < BP_DRAFT_BESIDE && read_draft(host).state != BP_DRAFT_NONE)
            bp_host_wait(host, 1000000);
        bp_drafted_t drafted = read_draft(host);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        EXPECT(recall_hash(host) == now, "request %llu: the host has changed", (unsigned long long)k);
        bool failed = result != BP_OK || drafted.state == BP_DRAFT_FAILED;
        EXPECT(result == BP_OK || bp_host_error(host)[0] != '\0', "it fails without a word");
        EXPECT(drafted.state != BP_DRAFT_FAILED || drafted.text[0] != '\0', "it fails without a word");
        failures += failed;
        bp_host_draft_drop(host);
    }
    EXPECT(_i == ALL ? failures > 60 : _i == BEFORE ? 5 * failures > 2 * tried : 4 * failures > 3 * tried,
           "only %llu of %llu failed", (unsigned long long)failures, (unsigned long long)tried);
    recall_close(&rig);
}
END_TEST

/* Each allocation of telling a draft's differences, and of keeping a draft of the past, fails once: the host is as it
 * was, and the draft is still there, or gone and said to be so; where it is there it is kept when there is memory
 * again. */
START_TEST(no_memory_for_keeping_a_draft)
{
    uint64_t failures = 0, gone = 0, kept_hash = 0;
    bool refused = true;
    for (uint64_t k = 1; refused && k < 20000; k += 1 + k / 20) {
        rig_t rig;
        bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
        go_on(host, 0, 12);
        uint64_t now = recall_hash(host);
        begin(host, "reload_probe_faster", 6, 0);
        wait_until(host, BP_DRAFT_BESIDE);
        rig.heap.refused = 0;
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = BP_OK;
        if (_i == 0) {
            differences_t found = {.fields = 0};
            const bp_diff_i sink = {.struct_size = sizeof sink, .context = &found, .field = tell_field};
            result = bp_host_draft_differences(host, &sink);
        } else {
            result = bp_host_draft_keep(host);
        }
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        refused = rig.heap.refused > 0;
        if (result != BP_OK) {
            EXPECT(refused && bp_host_error(host)[0] != '\0', "request %llu: it fails without a word",
                   (unsigned long long)k);
            EXPECT(recall_hash(host) == now, "request %llu: the host has changed", (unsigned long long)k);
            failures++;
        }
        if (read_draft(host).state == BP_DRAFT_BESIDE) {
            EXPECT(differences(host).fields > 0, "request %llu: no difference", (unsigned long long)k);
            WORKS(host, bp_host_draft_keep(host));
            result = BP_OK;
        } else if (result != BP_OK) {
            FAILS(host, BP_ERROR_STATE, "there is no draft", bp_host_draft_keep(host));
            gone++;
        }
        if (result == BP_OK) {
            kept_hash = kept_hash == 0 ? recall_hash(host) : kept_hash;
            EXPECT(kept_hash != now && recall_hash(host) == kept_hash, "request %llu: something else is kept",
                   (unsigned long long)k);
        }
        WORKS(host, bp_host_step(host));
        recall_close(&rig);
    }
    EXPECT(failures > 10 && gone < failures, "%llu failed, %llu drafts were gone", (unsigned long long)failures,
           (unsigned long long)gone);
}
END_TEST

START_TEST(what_is_no_draft_is_told)
{
    static const char *const names[] = {"probe", "nobody"};
    const bp_draft_i nothing = {.struct_size = sizeof nothing}, past = {.struct_size = sizeof past, .back = 1,
                                                                        .plugins = names, .plugin_count = 1},
                     unknown = {.struct_size = sizeof unknown, .plugins = names, .plugin_count = 2};
    const bp_diff_i sink = {.struct_size = sizeof sink};
    rig_t rig;
    bp_host_o *host = open_host(&rig, 0);
    go_on(host, 0, 3);
    FAILS(host, BP_ERROR_ARGUMENT, "a draft without a change", bp_host_draft(host, &nothing));
    FAILS(host, BP_ERROR_NOT_FOUND, "no plugin 'nobody' is loaded", bp_host_draft(host, &unknown));
    FAILS(host, BP_ERROR_STATE, "the host remembers nothing; [host] history", bp_host_draft(host, &past));
    FAILS(host, BP_ERROR_STATE, "there is no draft", bp_host_draft_keep(host));
    FAILS(host, BP_ERROR_STATE, "there is no draft", bp_host_draft_differences(host, &sink));
    WORKS(host, bp_host_remember(host, UINT64_C(1) << 30));
    go_on(host, 3, 6);
    put_plugin("reload_probe_faster", "probe");
    WORKS(host, bp_host_draft(host, &past));
    FAILS(host, BP_ERROR_STATE, "the draft is not at the same step as the host", bp_host_draft_keep(host));
    FAILS(host, BP_ERROR_STATE, "the draft is not at the same step as the host",
          bp_host_draft_differences(host, &sink));
    wait_until(host, BP_DRAFT_BESIDE);
    WORKS(host, bp_host_remember(host, 0)); /* the draft's beginning is forgotten */
    WORKS(host, bp_host_poll(host));
    bp_result_t kept = bp_host_draft_keep(host);
    EXPECT(kept == BP_ERROR_STATE, "%d: %s", kept, bp_host_error(host));
    WORKS(host, bp_host_step(host));
    recall_close(&rig);
}
END_TEST

/* The draft has nothing to follow any more, and says so before the host takes a step. */
START_TEST(a_draft_ends_where_the_host_becomes_another_one)
{
    static const char *const said[] = {"the host has gone to another time", "the host is made of other parts now",
                                       "the host has gone to another time"};
    rig_t rig;
    bp_snapshot_o *before;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    bp_world_o *extra = bp_world_create(host, &(bp_world_desc_t){.name = "extra"});
    ck_assert_ptr_nonnull(extra);
    go_on(host, 0, 3);
    WORKS(host, bp_host_snapshot(host, &before));
    go_on(host, 3, 6);
    begin(host, "reload_probe_first", 0, 0);
    wait_until(host, BP_DRAFT_BESIDE);
    if (_i == 1)
        bp_world_destroy(extra);
    else
        WORKS(host, _i == 0 ? bp_host_bring_back(host, before) : bp_host_go(host, 4));
    WORKS(host, bp_host_poll(host));
    bp_drafted_t drafted = read_draft(host);
    ck_assert_uint_eq(drafted.state, BP_DRAFT_FAILED);
    EXPECT(strstr(drafted.text, said[_i]) != NULL, "%s", drafted.text);
    bp_snapshot_free(before);
    WORKS(host, bp_host_step(host));
    recall_close(&rig);
}
END_TEST

/* The host looks at its past while a draft of it is kept: what came from outside later than that is not the draft's. */
START_TEST(what_came_after_the_present_is_not_of_a_draft_that_is_kept)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    go_on(host, 0, 20);
    WORKS(host, bp_host_go(host, 12));
    begin(host, "reload_probe_faster", 6, 0);
    wait_until(host, BP_DRAFT_BESIDE);
    uint64_t drafted = recall_hash(host->draft.clone), end;
    WORKS(host, bp_host_draft_keep(host));
    bp_history_t h = recall_history(host);
    EXPECT(h.now == 12 && h.last == 12 && recall_hash(host) == drafted, "at %llu of %llu", (unsigned long long)h.now,
           (unsigned long long)h.last);
    for (uint32_t i = 0; i < 8; i++)
        WORKS(host, bp_host_step(host)); /* nothing comes from outside any more */
    end = recall_hash(host);
    WORKS(host, bp_host_go(host, 12));
    EXPECT(recall_hash(host) == drafted, "the draft's end is another one");
    WORKS(host, bp_host_go(host, 20));
    EXPECT(recall_hash(host) == end, "the steps behind the draft come to another end");
    recall_close(&rig);
}
END_TEST

/* In the draft's version the text is a list of texts. */
START_TEST(values_of_a_property_of_another_shape_are_passed_over)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    bp_world_o *world = rig.api->world->at(host, 0);
    for (uint32_t i = 0; i < 20; i++) {
        const char *label = i % 2 == 0 ? "even" : "odd";
        WORKS(host, rig.api->property->set_named(world, entities[i % ENTITIES], "probe", "label", BP_STRING, &label));
        WORKS(host, bp_host_step(host));
    }
    begin(host, "reload_probe_labels", 10, 0);
    bp_drafted_t drafted = wait_until(host, BP_DRAFT_BESIDE);
    EXPECT(drafted.passed == 10, "%llu passed over", (unsigned long long)drafted.passed);
    EXPECT(strstr(drafted.passed_first, "before step 11: label is of another shape") != NULL, "%s",
           drafted.passed_first);
    recall_close(&rig);
}
END_TEST

/* A host that is recorded, and remembers nothing. */
START_TEST(what_came_before_a_draft_of_a_recorded_host_is_not_passed_over)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, 0);
    WORKS(host, bp_host_record(host, TEST_SCRATCH_DIR "/before_draft.rec", "test"));
    go_on(host, 0, 3);
    bp_host_touched(host);
    begin(host, "reload_probe_first", 0, 0);
    go_on(host, 3, 6);
    expect_level(host, 3);
    WORKS(host, bp_host_record_end(host));
    recall_close(&rig);
}
END_TEST

static bp_result_t forgotten;

static void forget_in_step(void *context, bp_world_o *world, const char *unit, uint32_t is_system)
{
    (void)world, (void)unit, (void)is_system;
    forgotten = bp_host_remember(context, 0);
}

START_TEST(a_draft_stays_where_forgetting_its_past_is_refused)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    const bp_unit_watch_i watch = {.struct_size = sizeof watch, .context = host, .before = forget_in_step};
    go_on(host, 0, 10);
    begin(host, "reload_probe_first", 5, 0);
    wait_until(host, BP_DRAFT_BESIDE);
    WORKS(host, bp_host_watch_units(host, &watch));
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_watch_units(host, NULL));
    ck_assert_int_eq(forgotten, BP_ERROR_STATE);
    ck_assert_uint_eq(wait_for(host).taken, 6);
    recall_close(&rig);
}
END_TEST

START_TEST(a_draft_that_lasts_takes_no_more_memory_with_each_step)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, 0);
    bp_world_o *world = rig.api->world->at(host, 0);
    size_t before = 0;
    begin(host, "reload_probe_first", 0, 0);
    wait_until(host, BP_DRAFT_BESIDE);
    for (uint32_t i = 0; i < 2000; i++) {
        float mass = (float)i;
        WORKS(host, rig.api->property->set_named(world, entities[i % ENTITIES], "probe", "mass", BP_F32, &mass));
        WORKS(host, bp_host_step(host));
        ck_assert_uint_eq(wait_until(host, BP_DRAFT_BESIDE).taken, i + 1);
        before = i == 100 ? rig.heap.bytes : before;
    }
    EXPECT(rig.heap.bytes < before + 4096, "%zu bytes, and %zu at first", rig.heap.bytes, before);
    differences_t none = differences(host);
    EXPECT(none.fields == 0 && none.sentences == 0, "the same code: %s", none.text);
    recall_close(&rig);
}
END_TEST

START_TEST(the_last_sentence_of_the_host_stays_while_a_draft_goes_on)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    go_on(host, 0, 10);
    begin(host, "reload_probe_first", 5, 0);
    FAILS(host, BP_ERROR_NOT_FOUND, "no branch 99 is kept", bp_host_branch_forget(host, 99));
    wait_until(host, BP_DRAFT_BESIDE);
    ck_assert_str_eq(bp_host_error(host), "no branch 99 is kept");
    recall_close(&rig);
}
END_TEST

START_TEST(a_draft_that_waits_to_be_kept_takes_no_more_memory_with_each_step)
{
    rig_t rig;
    const bp_diff_i sink = {.struct_size = sizeof sink};
    bp_host_o *host = open_host(&rig, 0);
    size_t before = 0;
    begin(host, "reload_probe_faster", 0, 3);
    go_on(host, 0, 3);
    ck_assert_uint_eq(wait_until(host, BP_DRAFT_READY).taken, 3);
    for (uint64_t i = 0; i < 2000; i++) {
        WORKS(host, bp_host_step(host));
        ck_assert_uint_eq(wait_until(host, BP_DRAFT_READY).taken, 3);
        before = i == 100 ? rig.heap.bytes : before;
    }
    EXPECT(rig.heap.bytes < before + 4096, "%zu bytes, and %zu at first", rig.heap.bytes, before);
    FAILS(host, BP_ERROR_STATE, "the draft is not at the same step", bp_host_draft_differences(host, &sink));
    WORKS(host, bp_host_draft_keep(host));
    recall_close(&rig);
}
END_TEST

/* The draft ends where the host goes to another time, also where the host has not polled since. */
START_TEST(a_draft_of_another_time_is_not_kept_before_the_next_poll)
{
    rig_t rig;
    const bp_diff_i sink = {.struct_size = sizeof sink};
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    go_on(host, 0, 20);
    uint64_t at_twenty = recall_hash(host);
    begin(host, "reload_probe_faster", _i == 2 ? 0 : 8, 0);
    wait_until(host, BP_DRAFT_BESIDE);
    uint64_t moment = _i == 0 ? 4 : 15; /* before the draft begins, and behind that */
    WORKS(host, bp_host_go(host, moment));
    uint64_t now = recall_hash(host);
    FAILS(host, BP_ERROR_STATE, "the host has gone to another time", bp_host_draft_differences(host, &sink));
    FAILS(host, BP_ERROR_STATE, "the host has gone to another time", bp_host_draft_keep(host));
    bp_history_t h = recall_history(host);
    EXPECT(h.now == moment && h.last == 20 && h.branches == 0 && recall_hash(host) == now, "at %llu of %llu",
           (unsigned long long)h.now, (unsigned long long)h.last);
    ck_assert_uint_eq(wait_for(host).state, BP_DRAFT_FAILED);
    WORKS(host, bp_host_go(host, 20));
    EXPECT(recall_hash(host) == at_twenty, "moment 20 is not what it was");
    recall_close(&rig);
}
END_TEST

/* A draft that waits before it is level with the host: the host goes to the draft's moment, and on from there. */
START_TEST(a_draft_of_the_past_that_is_ready_is_kept)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    go_on(host, 0, 20);
    begin(host, "reload_probe_faster", 8, _i == 0 ? 3 : 8);
    bp_drafted_t drafted = wait_until(host, BP_DRAFT_READY);
    go_on(host, 20, 25);
    WORKS(host, bp_host_poll(host));
    uint64_t left = recall_hash(host), end = recall_hash(host->draft.clone), moment = 12 + drafted.taken;
    ck_assert_uint_eq(drafted.taken, _i == 0 ? 3 : 8);
    WORKS(host, bp_host_draft_keep(host));
    ck_assert_uint_eq(read_draft(host).state, BP_DRAFT_NONE);
    bp_history_t h = recall_history(host);
    EXPECT(h.now == moment && h.last == moment && h.branches == 1 && recall_hash(host) == end, "at %llu of %llu",
           (unsigned long long)h.now, (unsigned long long)h.last);
    WORKS(host, bp_host_step(host));
    uint64_t next = recall_hash(host);
    WORKS(host, bp_host_go(host, 11));
    WORKS(host, bp_host_go(host, moment)); /* computed anew, with the calls of the past */
    EXPECT(recall_hash(host) == end, "the draft's end is another one");
    WORKS(host, bp_host_go(host, moment + 1));
    EXPECT(recall_hash(host) == next, "the step behind the draft comes to another end");
    bp_branch_t branch = {.struct_size = sizeof branch};
    ck_assert_uint_ne(bp_host_branch_at(host, 0, &branch), 0);
    WORKS(host, bp_host_branch_to(host, branch.number));
    EXPECT(recall_history(host).now == 25 && recall_hash(host) == left, "the past that was left is another one");
    recall_close(&rig);
}
END_TEST

START_TEST(a_draft_of_the_past_that_is_ready_is_not_kept_in_another_time)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    go_on(host, 0, 20);
    begin(host, "reload_probe_faster", 8, 3);
    wait_until(host, BP_DRAFT_READY);
    WORKS(host, bp_host_go(host, 15));
    FAILS(host, BP_ERROR_STATE, "the draft has ended: the host has gone to another time", bp_host_draft_keep(host));
    bp_history_t h = recall_history(host);
    EXPECT(h.now == 15 && h.last == 20 && h.branches == 0, "at %llu of %llu", (unsigned long long)h.now,
           (unsigned long long)h.last);
    bp_host_draft_drop(host);
    recall_close(&rig);
}
END_TEST

static void set_aside(void *context, bp_world_o *world, const char *unit, uint32_t is_system)
{
    bp_host_o *host = context;
    (void)world, (void)unit, (void)is_system;
    host->loader.plugins.items[0]->aside = PLUGIN_ASIDE;
}

/* As if a plugin crashed in the next step of the host without the change. */
static bp_result_t set_aside_without_the_change(void *context, bp_host_o *clone)
{
    bp_host_o *host = context;
    const bp_unit_watch_i watch = {.struct_size = sizeof watch, .context = host->draft.same, .before = set_aside};
    (void)clone;
    return bp_host_watch_units(host->draft.same, &watch);
}

START_TEST(a_draft_says_why_the_host_without_the_change_failed)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    const bp_draft_i draft = {
        .struct_size = sizeof draft, .back = 5, .context = host, .change = set_aside_without_the_change};
    go_on(host, 0, 10);
    WORKS(host, bp_host_draft(host, &draft));
    bp_drafted_t drafted = wait_until(host, BP_DRAFT_FAILED);
    EXPECT(strstr(drafted.text, "a plugin has crashed") != NULL, "told: '%s'", drafted.text);
    recall_close(&rig);
}
END_TEST

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static uint32_t probe_key(bp_host_o *host, const char *name)
{
    const bp_api_t *api = bp_host_api(host);
    bp_world_o *world = api->world->at(host, 0);
    bp_name_t interned;
    uint32_t key;
    WORKS(host, api->name->intern(host, name, &interned));
    WORKS(host, api->world->key(world, api->world->component(world, "probe"), interned, &key));
    return key;
}

/* The draft has a key and a prototype more than the host, so that it numbers those that come later otherwise. */
static bp_result_t make_key_and_prototype(void *context, bp_host_o *clone)
{
    const bp_api_t *api = bp_host_api(clone);
    uint32_t key = probe_key(clone, "extra"), prototype;
    (void)context;
    return api->world->prototype(api->world->at(clone, 0), &key, 1, &prototype);
}

static bool has_named(bp_host_o *host, bp_entity_t entity, const char *name)
{
    float mass;
    const bp_api_t *api = bp_host_api(host);
    return api->property->get_named(api->world->at(host, 0), entity, name, "mass", BP_F32, &mass) == BP_OK;
}

/* What a call names it names in the draft too, and in the past that the draft becomes: components under names are added
 * and removed, and entities made, as they were. */
static void expect_late(bp_host_o *host, bp_entity_t made)
{
    EXPECT(has_named(host, entities[0], "late") && !has_named(host, entities[0], "extra"), "added as another one");
    EXPECT(!has_named(host, entities[1], "late") && !has_named(host, entities[1], "extra"), "not removed");
    EXPECT(has_named(host, made, "late") && !has_named(host, made, "extra"), "made with another one");
}

START_TEST(calls_name_the_same_in_a_draft_that_numbers_keys_otherwise)
{
    rig_t rig;
    bp_host_o *host = open_host(&rig, UINT64_C(1) << 30);
    bp_world_o *world = rig.api->world->at(host, 0);
    const bp_draft_i draft = {.struct_size = sizeof draft, .back = 8, .change = make_key_and_prototype};
    bp_entity_t made;
    uint32_t prototype;
    for (uint32_t i = 0; i < 5; i++)
        WORKS(host, bp_host_step(host));
    uint32_t key = probe_key(host, "late");
    WORKS(host, rig.api->world->prototype(world, &key, 1, &prototype));
    WORKS(host, bp_host_step(host));
    WORKS(host, rig.api->world->create(world, prototype, &made, 1));
    WORKS(host, rig.api->world->add(world, key, entities, 2));
    WORKS(host, bp_host_step(host));
    WORKS(host, rig.api->world->remove(world, key, &entities[1], 1));
    for (uint32_t i = 0; i < 4; i++)
        WORKS(host, bp_host_step(host));
    expect_late(host, made);
    WORKS(host, bp_host_draft(host, &draft));
    bp_drafted_t drafted = wait_until(host, BP_DRAFT_BESIDE);
    EXPECT(drafted.passed == 0, "passed over: %s", drafted.passed_first);
    expect_late(host->draft.clone, made);
    uint64_t end = recall_hash(host->draft.clone);
    WORKS(host, bp_host_draft_keep(host));
    expect_late(host, made);
    WORKS(host, bp_host_go(host, 4));
    WORKS(host, bp_host_go(host, 11));
    expect_late(host, made);
    EXPECT(recall_hash(host) == end, "the past computed again comes to another end");
    recall_close(&rig);
}
END_TEST

/* A system that gives component body another name in the fourth step. */
static uint32_t given;

static void give_name(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    bp_name_t name;
    (void)matches, (void)count;
    if (step->number != 3)
        return;
    WORKS(s->host, s->api->name->intern(s->host, "late", &name));
    WORKS(s->host, s->api->world->key(s->world, s->api->world->component(s->world, "body"), name, &given));
}

static const bp_system_i giving[] = {{.name = "give", .run_all = give_name, .keeps = BP_KEEP_NOTHING}};
static const bp_plugin_desc_t giving_desc = {.version = "1", .systems = BP_LIST(giving)};
static const bp_plugin_head_t giving_plugin = BP_PLUGIN_HEAD("giving", &giving_desc);

static bp_result_t drop_giving(void *context, bp_host_o *clone)
{
    (void)context;
    return bp_world_drop_system(bp_host_api(clone)->world->at(clone, 0), "give");
}

/* The host has a name from its code, and a call names a component by that: it is made in a draft too whose code gives
 * no such name, in one of the past and in one that follows the host. */
START_TEST(a_call_by_a_name_that_only_the_code_of_then_gave_is_made_in_a_draft)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin, &giving_plugin};
    rig_t rig;
    float x;
    bool of_the_past = _i == 0;
    bp_draft_i draft = {.struct_size = sizeof draft, .back = of_the_past ? 6 : 0, .change = drop_giving};
    rig_open_with(&rig, plugins, 2);
    recall_open(rig.host);
    bp_world_o *world = rig.api->world->at(rig.host, 0);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "giving", NULL, 0));
    WORKS(rig.host, bp_world_use_system(world, "give"));
    bp_entity_t e = entity_with(world, "mark");
    WORKS(rig.host, bp_host_remember(rig.host, UINT64_C(1) << 30));
    for (uint32_t i = 0; i < 3; i++)
        WORKS(rig.host, bp_host_step(rig.host));
    if (!of_the_past)
        WORKS(rig.host, bp_host_draft(rig.host, &draft));
    WORKS(rig.host, bp_host_step(rig.host));
    WORKS(rig.host, rig.api->world->add(world, given, &e, 1));
    for (uint32_t i = 0; i < 4; i++)
        WORKS(rig.host, bp_host_step(rig.host));
    if (of_the_past)
        WORKS(rig.host, bp_host_draft(rig.host, &draft));
    bp_drafted_t drafted = wait_until(rig.host, BP_DRAFT_BESIDE);
    EXPECT(drafted.passed == 0, "passed over: %s", drafted.passed_first);
    bp_world_o *there = rig.api->world->at(rig.host->draft.clone, 0);
    WORKS(rig.host->draft.clone, rig.api->property->get_named(there, e, "late", "x", BP_F32, &x));
    uint64_t end = recall_hash(rig.host->draft.clone);
    WORKS(rig.host, bp_host_draft_keep(rig.host));
    if (of_the_past) {
        EXPECT(recall_hash(rig.host) == end, "the draft is kept as another one");
        WORKS(rig.host, bp_host_go(rig.host, 1));
        WORKS(rig.host, bp_host_go(rig.host, 8));
        EXPECT(recall_hash(rig.host) == end, "the past computed again comes to another end");
    }
    recall_close(&rig);
}
END_TEST

Suite *draft_suite(void)
{
    Suite *suite = suite_create("draft");
    TCase *tcase = tcase_create("draft");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_draft_follows_the_host, 0, 3);
    tcase_add_loop_test(tcase, a_draft_ends_where_the_host_becomes_another_one, 0, 3);
    tcase_add_test(tcase, other_code_is_told_apart_and_kept);
    tcase_add_test(tcase, what_fails_its_trial_is_dropped);
    tcase_add_test(tcase, a_file_that_is_written_anew_runs_beside_the_host_before_it_comes_in);
    tcase_add_test(tcase, plugins_are_paused_for_the_trial_of_a_draft);
    tcase_add_test(tcase, a_draft_of_a_past_that_is_forgotten_cannot_be_kept);
    tcase_add_loop_test(tcase, a_draft_is_kept_or_there_is_no_room, 0, 2);
    tcase_add_loop_test(tcase, the_past_is_edited_and_kept, 0, 3);
    tcase_add_loop_test(tcase, the_same_code_makes_no_difference, 0, 3);
    tcase_add_loop_test(tcase, a_change_may_drop_its_draft, 0, 8);
    tcase_add_test(tcase, what_never_came_to_be_is_passed_over);
    tcase_add_loop_test(tcase, a_call_by_a_name_that_only_the_code_of_then_gave_is_made_in_a_draft, 0, 2);
    tcase_add_test(tcase, calls_for_some_that_never_came_to_be_are_made_for_the_others);
    tcase_add_test(tcase, a_draft_goes_on_where_moments_are_counted_from_elsewhere);
    tcase_add_loop_test(tcase, a_draft_knows_what_came_before_the_host_began_to_remember, 0, TURNS);
    tcase_add_loop_test(tcase, calls_before_a_draft_begins_are_not_made_in_it_again, 0, 2);
    tcase_add_test(tcase, what_is_no_call_is_passed_over_with_the_calls_before_it);
    tcase_add_loop_test(tcase, a_draft_ends_where_a_world_has_begun_before_the_host_began_to_remember, 0, TURNS);
    tcase_add_loop_test(tcase, no_memory_for_a_draft, 0, 3);
    tcase_add_loop_test(tcase, no_memory_for_keeping_a_draft, 0, 2);
    tcase_add_test(tcase, what_is_no_draft_is_told);
    tcase_add_test(tcase, what_came_after_the_present_is_not_of_a_draft_that_is_kept);
    tcase_add_test(tcase, a_draft_begun_behind_a_step_that_failed_has_the_calls_before_that_step);
    tcase_add_test(tcase, values_of_a_property_of_another_shape_are_passed_over);
    tcase_add_test(tcase, what_came_before_a_draft_of_a_recorded_host_is_not_passed_over);
    tcase_add_test(tcase, a_draft_stays_where_forgetting_its_past_is_refused);
    tcase_add_test(tcase, the_last_sentence_of_the_host_stays_while_a_draft_goes_on);
    tcase_add_test(tcase, a_draft_that_lasts_takes_no_more_memory_with_each_step);
    tcase_add_test(tcase, a_draft_that_waits_to_be_kept_takes_no_more_memory_with_each_step);
    tcase_add_loop_test(tcase, a_draft_of_another_time_is_not_kept_before_the_next_poll, 0, 3);
    tcase_add_test(tcase, a_draft_says_why_the_host_without_the_change_failed);
    tcase_add_loop_test(tcase, a_draft_of_the_past_that_is_ready_is_kept, 0, 2);
    tcase_add_test(tcase, a_draft_of_the_past_that_is_ready_is_not_kept_in_another_time);
    tcase_add_test(tcase, calls_name_the_same_in_a_draft_that_numbers_keys_otherwise);
    suite_add_tcase(suite, tcase);
    return suite;
}
