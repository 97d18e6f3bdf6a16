/* test_reload_ahead.c - reloads whose columns are made ready between steps: random lists of fields, one reload after
 * another, in worlds that go on meanwhile, against the oracle of patch_lists.h, which knows names and values alone.
 *
 * Between any two slices values are set, entities are created, destroyed and moved from run to run, by calls and by
 * commands that a system records, scenes are spawned and despawned, and steps collect the dead. What a trial's copy
 * would tell comes from a change that is prepared and let go of.
 *
 * AHEAD_ROUNDS is the number of reloads of each test, 40 where it is not set.
 */
#include "../suites.h"
#include "patch_lists.h"
#include "reload_support.h"

#include "os/os.h"
#include "base/superblocks.h"
#include "reload/ahead.h"
#include "step/jobs.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 40000, MOST = 90000, SOME = 300, MANY = 3000 };

typedef struct model_t {
    scene_t *scene;
    patch_list_t list;
    bp_entity_t *entities;
    bool *has_body;
    patch_values_t *values, *next; /* of the names in the list */
    uint32_t count;
    uint64_t random;
    uint32_t made, refused, slices;
    bool recording; /* the next step is one in which the clerk records commands */
    uint32_t recorded, orders, spawned; /* recorded: creations in that step */
} model_t;

static scene_t scene;
static model_t model;
static patch_file_t patch;

static uint32_t below(model_t *m, uint32_t bound)
{
    return bp_random_below(&m->random, bound);
}

/* --- the world goes on -------------------------------------------------------------------------------------------- */

/* A value that almost any type can hold; seldom any. */
static patch_value_t any_value(model_t *m, uint32_t type)
{
    if (type == BP_STRING || below(m, 4000) == 0)
        return patch_random_value(&m->random, type);
    patch_value_t v;
    memset(&v, 0, sizeof v);
    for (uint32_t i = 0; i < patch_parts(type); i++)
        v.part[i] = below(m, 2);
    return v;
}

static void set_some(model_t *m)
{
    for (uint32_t n = m->list.count == 0 ? 0 : below(m, SOME); n > 0; n--) {
        uint32_t e = below(m, m->count);
        const patch_field_t *field = &m->list.fields[below(m, m->list.count)];
        char name[PATCH_TEXT];
        bp_value_t value;
        patch_name(field->name, name);
        m->values[e].of[field->name] = any_value(m, field->type);
        patch_pack(&m->values[e].of[field->name], field->type, &value);
        WORKS(m->scene->host, m->scene->api->property->set_named(m->scene->world, m->entities[e], "patch", name,
                                                                 field->type, &value));
    }
}

/* Entities that the host has made with the defaults. */
static void add_to_model(model_t *m, bool body, uint32_t count)
{
    for (uint32_t i = m->count; i < m->count + count; i++) {
        m->has_body[i] = body;
        for (uint32_t f = 0; f < m->list.count; f++)
            m->values[i].of[m->list.fields[f].name] = m->list.fields[f].initial;
    }
    m->count += count;
}

static void create(model_t *m, bool body, uint32_t count)
{
    uint32_t keys[] = {key_of(m->scene->world, "patch", ""), key_of(m->scene->world, "body", "")}, prototype;
    const bp_world_api *world = m->scene->api->world;
    count = count < MOST - m->count ? count : MOST - m->count;
    WORKS(m->scene->host, world->prototype(m->scene->world, keys, body ? 2 : 1, &prototype));
    WORKS(m->scene->host, world->create(m->scene->world, prototype, m->entities + m->count, count));
    add_to_model(m, body, count);
}

static void forget(model_t *m, uint32_t e)
{
    m->count--;
    m->entities[e] = m->entities[m->count];
    m->has_body[e] = m->has_body[m->count];
    m->values[e] = m->values[m->count];
}

static void destroy_some(model_t *m)
{
    for (uint32_t n = below(m, SOME); n > 0 && m->count > FIRST / 2; n--) {
        uint32_t e = below(m, m->count);
        ck_assert_uint_eq(m->scene->api->entity->destroy(m->scene->host, &m->entities[e], 1), 1);
        forget(m, e);
    }
}

static void move_some(model_t *m)
{
    uint32_t body = key_of(m->scene->world, "body", "");
    for (uint32_t n = below(m, SOME); n > 0; n--) {
        uint32_t e = below(m, m->count);
        if (m->has_body[e])
            WORKS(m->scene->host, m->scene->api->world->remove(m->scene->world, body, &m->entities[e], 1));
        else
            WORKS(m->scene->host, m->scene->api->world->add(m->scene->world, body, &m->entities[e], 1));
        m->has_body[e] = !m->has_body[e];
    }
}

/* --- commands ----------------------------------------------------------------------------------------------------- */

enum { ORDERS = 40 };

/* Record that a field of an entity, or of one to come, is set. */
static void record_value(model_t *m, bp_commands_o *commands, const bp_property_t *property, uint32_t e,
                         const patch_field_t *field)
{
    bp_value_t value;
    m->values[e].of[field->name] = any_value(m, field->type);
    patch_pack(&m->values[e].of[field->name], field->type, &value);
    WORKS(m->scene->host,
          m->scene->api->command->set(commands, property, &m->entities[e], 1, &value, sizeof value));
}

static void record_changes(model_t *m, bp_commands_o *commands, const bp_property_t *property,
                           const patch_field_t *field)
{
    const bp_command_api *command = m->scene->api->command;
    uint32_t body = key_of(m->scene->world, "body", "");
    for (uint32_t n = below(m, ORDERS); n > 0 && field != NULL; n--)
        record_value(m, commands, property, below(m, m->count), field);
    for (uint32_t n = below(m, ORDERS); n > 0; n--) {
        uint32_t e = below(m, m->count);
        WORKS(m->scene->host, (m->has_body[e] ? command->remove : command->add)(commands, body, &m->entities[e], 1));
        m->has_body[e] = !m->has_body[e];
    }
    for (uint32_t n = below(m, ORDERS); n > 0 && m->count > FIRST / 2; n--) {
        uint32_t e = below(m, m->count);
        WORKS(m->scene->host, command->destroy(commands, &m->entities[e], 1));
        forget(m, e);
    }
}

/* What the system of the plugin "clerk" does in a step in which it is asked to. */
static void record(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t match_count)
{
    model_t *m = &model;
    const bp_api_t *api = m->scene->api;
    const patch_field_t *field = m->list.count == 0 ? NULL : &m->list.fields[below(m, m->list.count)];
    uint32_t key, prototype, first, count = below(m, ORDERS);
    bp_property_t property;
    char name[PATCH_TEXT];
    (void)s, (void)matches, (void)match_count;
    if (!m->recording)
        return;
    if (field != NULL) {
        patch_name(field->name, name);
        WORKS(m->scene->host, api->property->resolve(m->scene->world, m->entities[0], "patch", name, &property));
    }
    record_changes(m, step->commands, &property, field);
    key = key_of(m->scene->world, "patch", "");
    WORKS(m->scene->host, api->world->prototype(m->scene->world, &key, 1, &prototype));
    count = count < MOST - m->count ? count : MOST - m->count;
    first = m->count;
    WORKS(m->scene->host, api->command->create(step->commands, prototype, m->entities + first, count));
    add_to_model(m, false, count);
    for (uint32_t e = first; e < m->count && field != NULL; e += 2)
        record_value(m, step->commands, &property, e, field);
    m->recorded = count;
    m->orders++;
}

static const bp_system_i systems[] = {{.name = "clerk", .run_all = record, .keeps = BP_KEEP_NOTHING}};
static const bp_plugin_head_t clerk =
    BP_PLUGIN_HEAD("clerk", (&(const bp_plugin_desc_t){.version = "1", .systems = BP_LIST(systems)}));

/* A step whose commands change values and structure; those who were created have their numbers after it. */
static void order(model_t *m)
{
    static bp_entity_t became[ORDERS];
    m->recording = true;
    WORKS(m->scene->host, bp_host_step(m->scene->host));
    m->recording = false;
    bp_entity_t *last = m->entities + m->count - m->recorded;
    ck_assert_uint_eq(m->scene->api->command->created(m->scene->world, last, m->recorded, became), m->recorded);
    memcpy(last, became, m->recorded * sizeof *last);
}

/* --- scenes ------------------------------------------------------------------------------------------------------- */

enum { SPAWNED = 3 };

/* A scene that knows a field of the versions at work comes in; now and then it goes again at once. */
static void spawn(model_t *m)
{
    static const char form[] = "{\"entities\": [{\"components\": {\"patch\": {%s}}}, {\"components\": {\"patch\": {}}},"
                               " {\"components\": {\"patch\": {}, \"body\": {}}}]}";
    const patch_field_t *field = m->list.count == 0 ? NULL : &m->list.fields[below(m, m->list.count)];
    char text[256], value[64] = "", name[PATCH_TEXT];
    bp_host_o *host = m->scene->host;
    uint32_t first = m->count;
    bp_scene_o *prefab;
    bp_spawn_t all;
    if (m->count + SPAWNED > MOST)
        return;
    bool said = field != NULL && patch_parts(field->type) == 1;
    if (said) {
        patch_name(field->name, name);
        snprintf(value, sizeof value, "\"%s\": %s", name, field->type == BP_BOOL ? "true" : "1");
    }
    int size = snprintf(text, sizeof text, form, value);
    WORKS(host, bp_scene_compile_text(host, "prefab", text, (size_t)size, &prefab));
    WORKS(host, bp_scene_spawn(prefab, m->scene->world, 0, m->entities + first, &all));
    bp_scene_close(prefab);
    if (below(m, 4) == 0) {
        ck_assert_uint_eq(bp_host_despawn(host, all), SPAWNED);
        return;
    }
    add_to_model(m, false, SPAWNED - 1);
    add_to_model(m, true, 1);
    if (said)
        m->values[first].of[field->name].part[0] = 1;
    m->spawned += SPAWNED;
}

static void go_on(model_t *m)
{
    switch (below(m, 8)) {
    case 0: set_some(m); break;
    case 1: destroy_some(m); break;
    case 2: create(m, below(m, 2) == 0, below(m, below(m, 4) == 0 ? MANY : SOME)); break;
    case 3: move_some(m); break;
    case 4: WORKS(m->scene->host, bp_host_step(m->scene->host)); break;
    case 5: order(m); break;
    case 6: spawn(m); break;
    default: break;
    }
}

/* --- reloads ------------------------------------------------------------------------------------------------------ */

static void expect_values(model_t *m)
{
    for (uint32_t f = 0; f < m->list.count; f++) {
        const patch_field_t *field = &m->list.fields[f];
        char name[PATCH_TEXT];
        patch_name(field->name, name);
        for (uint32_t e = 0; e < m->count; e++) {
            bp_value_t value;
            WORKS(m->scene->host, m->scene->api->property->get_named(m->scene->world, m->entities[e], "patch", name,
                                                                     field->type, &value));
            EXPECT(patch_same(&m->values[e].of[field->name], field->type, &value),
                   "reload %u: %s (type %u) of %u is not %g '%s'", m->made + m->refused, name, field->type, e,
                   m->values[e].of[field->name].part[0], m->values[e].of[field->name].text);
        }
    }
}

static reload_change_t *read_change(model_t *m)
{
    static const char *const names[] = {"patch"};
    reload_change_t *change = NULL;
    WORKS(m->scene->host, reload_read(&m->scene->host->reload, names, 1, &change));
    return change;
}

/* What the copy of a trial would tell; no bytes where the change would be refused. */
static size_t tell(model_t *m, char *told)
{
    reload_change_t *change = read_change(m);
    size_t size = reload_prepare(change) == BP_OK ? ahead_tell(change, told, AHEAD_TOLD) : 0;
    reload_discard(change);
    return size;
}

static void take_list(model_t *m, const patch_list_t *list)
{
    patch_values_t *kept = m->values;
    m->values = m->next;
    m->next = kept;
    m->list = *list;
}

static void reload_once(model_t *m, const patch_file_t *file)
{
    static char told[AHEAD_TOLD];
    patch_list_t list = patch_next(&m->random, &m->list);
    reload_t *reload = &m->scene->host->reload;
    patch_put(file, &list);
    size_t size = tell(m, told);
    reload_change_t *change = read_change(m);
    reload_begin_readying(change, told, size);
    while (reload_make_ready(change)) {
        m->slices++;
        for (uint32_t n = below(m, 3); n > 0; n--)
            go_on(m);
    }
    for (uint32_t n = below(m, 3); n > 0; n--)
        go_on(m);
    bool possible = patch_foresee(&m->list, m->values, &list, m->next, m->count);
    bp_result_t result = reload_prepare(change);
    EXPECT(possible == (result == BP_OK), "reload %u: %s", m->made + m->refused,
           result == BP_OK ? "it was taken" : bp_host_error(m->scene->host));
    if (result == BP_OK)
        reload_commit(change);
    else
        reload_discard(change);
    ck_assert_ptr_null(reload->readies);
    m->made += possible;
    m->refused += !possible;
    if (possible)
        take_list(m, &list);
    scene_clear_log(m->scene);
    expect_values(m);
}

static void open_model(model_t *m)
{
    memset(m, 0, sizeof *m);
    m->scene = &scene;
    m->random = 3;
    m->entities = calloc(MOST, sizeof *m->entities);
    m->has_body = calloc(MOST, sizeof *m->has_body);
    m->values = calloc(MOST, sizeof *m->values);
    m->next = calloc(MOST, sizeof *m->next);
    patch_open(&patch);
    m->list = patch_next(&m->random, &m->list);
    patch_put(&patch, &m->list);
    WORKS(scene.host, bp_host_load_plugin(scene.host, TEST_SCRATCH_DIR "/patch" TEST_SO, NULL, 0));
    WORKS(scene.host, bp_world_use_component(scene.world, "patch"));
    create(m, false, FIRST / 2);
    create(m, true, FIRST / 2);
}

static void close_model(model_t *m)
{
    free(patch.bytes);
    free(m->entities);
    free(m->has_body);
    free(m->values);
    free(m->next);
}

static uint32_t round_count(void)
{
    const char *asked = getenv("AHEAD_ROUNDS");
    return asked != NULL ? (uint32_t)strtoul(asked, NULL, 10) : 40;
}

/* 0: one thread, no probation; 1: three threads and a probation. */
START_TEST(columns_that_are_made_ready_while_the_world_goes_on_have_the_values_they_ought_to_have)
{
    jobs_t *pool = NULL;
    bp_jobs_i jobs;
    scene_open_with(&scene, PROBE_FIRST, &clerk);
    WORKS(scene.host, bp_world_use_system(scene.world, "clerk"));
    if (_i == 1) {
        WORKS(scene.host, jobs_create(&scene.host->base, 3, &pool));
        jobs = jobs_table(pool);
        scene.host->reload.jobs = &jobs;
    }
    scene.host->reload.probation_steps = _i == 0 ? 0 : 5;
    scene.host->reload.slice_ns = 0;
    open_model(&model);
    model.random += (uint64_t)_i;
    for (uint32_t n = 0; n < round_count(); n++) {
        reload_once(&model, &patch);
        if (n % 10 == 0)
            check_host(scene.host);
    }
    ck_assert_uint_gt(model.made, round_count() / 4);
    ck_assert_uint_gt(model.slices, round_count() / 4);
    ck_assert_uint_gt(model.orders, 0);
    ck_assert_uint_gt(model.spawned, 0);
    ck_assert_uint_gt(scene.host->reload.readied, round_count() / 4);
    reload_accept(&scene.host->reload);
    close_model(&model);
    scene.host->reload.jobs = &scene.host->crew.jobs;
    if (pool != NULL)
        jobs_free(pool);
    scene_close(&scene);
}
END_TEST

/* --- what comes between ------------------------------------------------------------------------------------------- */

enum { FIELD_A = 0, FIELD_B = 1, FIELD_C = 2 };

/* Begin to make columns ready for the version that has been put. */
static reload_change_t *begin_readying(model_t *m)
{
    static char told[AHEAD_TOLD];
    size_t size = tell(m, told);
    reload_change_t *change = read_change(m);
    reload_begin_readying(change, told, size);
    return change;
}

static void make_all_ready(reload_change_t *change)
{
    while (reload_make_ready(change)) {}
}

/* A world whose 40,000 patches have the fields of `first`, and a change to `next` under way, for which columns are
 * made ready. */
static reload_change_t *begin_change(const patch_list_t *first, const patch_list_t *next)
{
    model_t *m = &model;
    memset(m, 0, sizeof *m);
    scene_open(&scene, PROBE_FIRST);
    scene.host->reload.slice_ns = 0;
    m->scene = &scene;
    m->entities = calloc(MOST, sizeof *m->entities);
    m->has_body = calloc(MOST, sizeof *m->has_body);
    m->values = calloc(MOST, sizeof *m->values);
    m->next = calloc(MOST, sizeof *m->next);
    m->list = *first;
    patch_open(&patch);
    patch_put(&patch, first);
    WORKS(scene.host, bp_host_load_plugin(scene.host, TEST_SCRATCH_DIR "/patch" TEST_SO, NULL, 0));
    WORKS(scene.host, bp_world_use_component(scene.world, "patch"));
    create(m, false, FIRST);
    if (next == NULL)
        return NULL;
    patch_put(&patch, next);
    return begin_readying(m);
}

static patch_list_t one_field(uint32_t type, double initial)
{
    return (patch_list_t){.count = 1,
                          .fields = {{FIELD_A, PATCH_NAMES, type, {.part = {initial}}}}};
}

static void set_first(model_t *m, uint32_t entity, double number)
{
    bp_value_t value;
    char name[PATCH_TEXT];
    patch_name(FIELD_A, name);
    m->values[entity].of[FIELD_A].part[0] = number;
    patch_pack(&m->values[entity].of[FIELD_A], m->list.fields[0].type, &value);
    WORKS(m->scene->host, m->scene->api->property->set_named(m->scene->world, m->entities[entity], "patch", name,
                                                             m->list.fields[0].type, &value));
}

static void expect_list(model_t *m, const patch_list_t *list)
{
    ck_assert(patch_foresee(&m->list, m->values, list, m->next, m->count));
    take_list(m, list);
    expect_values(m);
}

static void finish(model_t *m)
{
    ck_assert_ptr_null(m->scene->host->reload.readies);
    reload_accept(&m->scene->host->reload);
    close_model(m);
    scene_close(m->scene);
}

/* Commit the change, which brings the fields of `next`, and end the world. */
static void commit_and_finish(reload_change_t *change, const patch_list_t *next)
{
    reload_commit(change);
    expect_list(&model, next);
    finish(&model);
}

START_TEST(a_value_that_does_not_fit_is_told_by_the_change_if_it_is_still_there)
{
    patch_list_t first = one_field(BP_F64, 1), next = one_field(BP_I32, 1);
    reload_change_t *change = begin_change(&first, &next);
    set_first(&model, 30000, 0.5);
    make_all_ready(change);
    if (_i == 0) {
        FAILS(scene.host, BP_ERROR_RANGE, "field 'field_a' holds 0.5", reload_prepare(change));
        reload_discard(change);
        expect_values(&model);
    } else {
        set_first(&model, 30000, 7);
        WORKS(scene.host, reload_prepare(change));
        reload_commit(change);
        expect_list(&model, &next);
    }
    finish(&model);
}
END_TEST

/* A value that is set after its row was made ready, and does not fit. */
START_TEST(a_value_that_came_too_late_is_found)
{
    patch_list_t first = one_field(BP_F64, 1), next = one_field(BP_I32, 1);
    reload_change_t *change = begin_change(&first, &next);
    make_all_ready(change);
    set_first(&model, _i == 0 ? 0 : FIRST - 1, 1e10);
    FAILS(scene.host, BP_ERROR_RANGE, "field 'field_a' holds 10000000000", reload_prepare(change));
    ck_assert_uint_eq(scene.host->reload.readied, 1);
    reload_discard(change);
    expect_values(&model);
    finish(&model);
}
END_TEST

START_TEST(a_change_that_is_let_go_of_leaves_no_trace)
{
    patch_list_t first = one_field(BP_F64, 1), next = one_field(BP_I32, 1);
    reload_change_t *change = begin_change(&first, &next);
    reload_make_ready(change);
    ck_assert_uint_eq(scene.world->rows.stamp_users, 1);
    reload_discard(change);
    ck_assert_uint_eq(scene.world->rows.stamp_users, 0);
    expect_values(&model);
    finish(&model);
}
END_TEST

/* The version on probation is taken back while columns are made ready for the next one: the old column is another, and
 * the one that had its number is gone. */
START_TEST(a_version_that_is_taken_back_meanwhile_takes_what_is_ready_with_it)
{
    static const char *const names[] = {"patch"};
    patch_list_t first = one_field(BP_F32, 3), next = one_field(BP_I32, 0);
    patch_list_t between = {.count = 2,
                            .fields = {{FIELD_B, PATCH_NAMES, BP_U8, {.part = {5}}},
                                       {FIELD_A, PATCH_NAMES, BP_F64, {.part = {3}}}}};
    begin_change(&first, NULL);
    scene.host->reload.probation_steps = 50;
    patch_put(&patch, &between);
    WORKS(scene.host, bp_host_reload(scene.host, names, 1, NULL));
    patch_put(&patch, &next);
    reload_change_t *change = begin_readying(&model);
    for (int i = 0; i < _i; i++)
        reload_make_ready(change);
    WORKS(scene.host, reload_rollback(&scene.host->reload));
    make_all_ready(change);
    WORKS(scene.host, reload_prepare(change));
    ck_assert_uint_eq(scene.host->reload.readied, 0);
    commit_and_finish(change, &next);
}
END_TEST

/* The same over and over, in the middle of a column, which is given back once: the account of the world's memory stays
 * what it is. Of texts few cells are made ready at once. */
START_TEST(what_is_taken_back_with_a_version_is_given_back_once)
{
    static const char *const names[] = {"patch"};
    patch_list_t first = one_field(BP_F32, 3), between = one_field(BP_F64, 3);
    patch_list_t next = {.count = 2,
                         .fields = {{FIELD_B, PATCH_NAMES, BP_STRING, {.text = "new"}},
                                    {FIELD_A, PATCH_NAMES, BP_F64, {.part = {3}}}}};
    size_t bytes[6];
    begin_change(&first, NULL);
    scene.host->reload.probation_steps = 50;
    for (uint32_t round = 0; round < COUNT(bytes); round++) {
        patch_put(&patch, &between);
        WORKS(scene.host, bp_host_reload(scene.host, names, 1, NULL));
        patch_put(&patch, &next);
        reload_change_t *change = begin_readying(&model);
        ck_assert(reload_make_ready(change));
        WORKS(scene.host, reload_rollback(&scene.host->reload));
        make_all_ready(change);
        size_t held = memory_bytes(&scene.world->rows.memory);
        reload_discard(change);
        bytes[round] = memory_bytes(&scene.world->rows.memory);
        ck_assert_uint_lt(held - bytes[round], FIRST * sizeof(char *)); /* the column was given back before */
    }
    ck_assert_uint_eq(bytes[5], bytes[3]);
    expect_values(&model);
    finish(&model);
}
END_TEST

/* Another world with as many patches. */
static bp_world_o *create_other(uint32_t rows)
{
    static bp_entity_t there[FIRST];
    uint32_t key, prototype;
    bp_world_o *other = bp_world_create(scene.host, &(bp_world_desc_t){.name = "other"});
    WORKS(scene.host, bp_world_use_component(other, "patch"));
    key = key_of(other, "patch", "");
    WORKS(scene.host, scene.api->world->prototype(other, &key, 1, &prototype));
    WORKS(scene.host, scene.api->world->create(other, prototype, there, rows));
    return other;
}

/* In runs that have enough rows for that, and a block for each column: a row has 16 bytes. */
START_TEST(columns_are_made_ready_in_all_worlds)
{
    enum { SPLIT_ROWS = RUN_SPLIT_BYTES / 16 };
    static const uint32_t rows[] = {FIRST, SPLIT_ROWS + 16, SPLIT_ROWS / 2};
    patch_list_t first = one_field(BP_F64, 1), next = one_field(BP_I32, 1);
    begin_change(&first, NULL);
    create_other(rows[_i]);
    patch_put(&patch, &next);
    reload_change_t *change = begin_readying(&model);
    make_all_ready(change);
    WORKS(scene.host, reload_prepare(change));
    ck_assert_uint_eq(scene.host->reload.readied, rows[_i] < SPLIT_ROWS ? 1 : 2);
    commit_and_finish(change, &next);
}
END_TEST

/* Rows of small runs are made in the change; the memory that they will need is there before. */
START_TEST(memory_is_made_ready_for_many_small_runs)
{
    enum { WORLDS = 80, ROWS = RUN_SPLIT_BYTES / 16 / 4 * 3 };
    static bp_entity_t there[ROWS];
    patch_list_t first = one_field(BP_F64, 1), next = one_field(BP_I32, 1);
    begin_change(&first, NULL);
    superblocks_t *superblocks = scene.host->reload.memory.superblocks;
    superblocks->allowed = true; /* above the allocator of the test too */
    for (uint32_t w = 0; w < WORLDS; w++) {
        char name[16];
        uint32_t prototype;
        snprintf(name, sizeof name, "small_%u", w);
        bp_world_o *small = bp_world_create(scene.host, &(bp_world_desc_t){.name = name});
        WORKS(scene.host, bp_world_use_component(small, "patch"));
        uint32_t key = key_of(small, "patch", "");
        WORKS(scene.host, scene.api->world->prototype(small, &key, 1, &prototype));
        WORKS(scene.host, scene.api->world->create(small, prototype, there, ROWS));
    }
    uint32_t before = superblocks->count;
    patch_put(&patch, &next);
    reload_change_t *change = begin_readying(&model);
    make_all_ready(change);
    uint32_t held = superblocks->count - before;
    ck_assert_uint_gt(held, WORLDS * ROWS * 20 / SUPERBLOCKS_BYTES);
    if (_i == 0) {
        reload_discard(change);
        ck_assert_uint_eq(superblocks->count, before);
        expect_values(&model);
        finish(&model);
        return;
    }
    WORKS(scene.host, reload_prepare(change));
    ck_assert_uint_le(superblocks->count, before + held); /* all that is needed was there */
    ck_assert_uint_eq(scene.host->reload.readied, 1);
    commit_and_finish(change, &next);
}
END_TEST

/* One is converted, and one comes with a default that is not zero. */
START_TEST(columns_of_all_fields_are_made_ready)
{
    patch_list_t first = one_field(BP_F64, 1);
    patch_list_t next = {.count = 2,
                         .fields = {{FIELD_A, PATCH_NAMES, BP_I32, {.part = {1}}},
                                    {FIELD_B, PATCH_NAMES, BP_F64, {.part = {3}}}}};
    begin_change(&first, NULL);
    patch_put(&patch, &next);
    reload_change_t *change = begin_readying(&model);
    make_all_ready(change);
    WORKS(scene.host, reload_prepare(change));
    ck_assert_uint_eq(scene.host->reload.readied, 2);
    commit_and_finish(change, &next);
}
END_TEST

START_TEST(a_world_may_end_while_columns_are_made_ready_for_it)
{
    patch_list_t first = one_field(BP_F64, 1), next = one_field(BP_I32, 1);
    begin_change(&first, NULL);
    bp_world_o *other = create_other(FIRST);
    patch_put(&patch, &next);
    reload_change_t *change = begin_readying(&model);
    for (int i = 0; i < _i; i++)
        reload_make_ready(change);
    bp_world_destroy(other);
    make_all_ready(change);
    WORKS(scene.host, reload_prepare(change));
    ck_assert_uint_eq(scene.host->reload.readied, 1);
    commit_and_finish(change, &next);
}
END_TEST

/* What a copy tells may be anything. */
START_TEST(what_was_told_may_be_nonsense)
{
    static char told[AHEAD_TOLD];
    patch_list_t first = one_field(BP_F64, 1), next = one_field(BP_I32, 1);
    uint64_t random = 5;
    begin_change(&first, NULL);
    patch_put(&patch, &next);
    size_t size = tell(&model, told);
    ck_assert_uint_gt(size, 0);
    for (uint32_t n = 0; n < 600; n++) {
        char other[AHEAD_TOLD];
        memcpy(other, told, size);
        for (uint32_t k = n == 0 ? 0 : 1 + bp_random_below(&random, 3); k > 0; k--)
            other[bp_random_below(&random, (uint32_t)size)] = (char)bp_random_next(&random);
        reload_change_t *change = read_change(&model);
        reload_begin_readying(change, other, n < 50 ? bp_random_below(&random, (uint32_t)size + 1) : size);
        while (reload_make_ready(change))
            ;
        if (n % 50 == 49) {
            WORKS(scene.host, reload_prepare(change));
        }
        reload_discard(change);
    }
    expect_values(&model);
    finish(&model);
}
END_TEST

/* A field as a copy tells of it: the component, five numbers, five texts. */
enum { NUMBER, OLD, TYPE, FLAGS, ELEMENTS, NUMBERS };
enum { NAME, INITIAL, LEAST, MOST_TEXT, VALUES, TEXTS };

typedef struct told_t {
    const char *component;
    uint32_t numbers[NUMBERS];
    const char *texts[TEXTS];
} told_t;

static told_t read_told(const char *told)
{
    told_t t = {.component = told};
    told += strlen(told) + 1;
    memcpy(t.numbers, told, sizeof t.numbers);
    told += sizeof t.numbers;
    for (uint32_t i = 0; i < TEXTS; i++, told += strlen(told) + 1)
        t.texts[i] = told;
    return t;
}

static size_t write_told(char *told, const told_t *t)
{
    size_t size = strlen(t->component) + 1;
    memcpy(told, t->component, size);
    memcpy(told + size, t->numbers, sizeof t->numbers);
    size += sizeof t->numbers;
    for (uint32_t i = 0; i < TEXTS; i++) {
        memcpy(told + size, t->texts[i], strlen(t->texts[i]) + 1);
        size += strlen(t->texts[i]) + 1;
    }
    return size;
}

/* The file may have become another one since it was tried: where one part of the declaration differs, or the old
 * column, what was made ready is not taken, and the values are what they ought to be. */
START_TEST(columns_are_taken_only_by_the_declaration_that_they_were_made_for)
{
    static const struct { int number; uint32_t to; int text; const char *becomes, *component; } others[] = {
        {-1, 0, -1, NULL, NULL}, /* the same */
        {NUMBER, 1, -1, NULL, NULL},
        {OLD, BP_NONE, -1, NULL, NULL},
        {OLD, 7, -1, NULL, NULL},
        {TYPE, BP_I64, -1, NULL, NULL},
        {TYPE, 0x5eed, -1, NULL, NULL},
        {FLAGS, BP_FIELD_READ_ONLY, -1, NULL, NULL},
        {ELEMENTS, 2, -1, NULL, NULL},
        {-1, 0, INITIAL, "2", NULL},
        {-1, 0, INITIAL, "much", NULL},
        {-1, 0, LEAST, "0", NULL},
        {-1, 0, MOST_TEXT, "100000", NULL},
        {-1, 0, VALUES, "one=1", NULL},
        {-1, 0, -1, NULL, "nobody"},
        {-1, 0, -1, NULL, "probe"},
    };
    static char told[AHEAD_TOLD], told_otherwise[AHEAD_TOLD];
    patch_list_t first = one_field(BP_F64, 1), next = one_field(BP_I32, 1);
    begin_change(&first, NULL);
    patch_put(&patch, &next);
    size_t size = tell(&model, told);
    ck_assert_uint_gt(size, 0);
    for (uint32_t i = 0; i < COUNT(others); i++) {
        told_t t = read_told(told);
        if (others[i].number >= 0)
            t.numbers[others[i].number] = others[i].to;
        if (others[i].text >= 0)
            t.texts[others[i].text] = others[i].becomes;
        if (others[i].component != NULL)
            t.component = others[i].component;
        reload_change_t *change = read_change(&model);
        scene.host->reload.readied = 0;
        reload_begin_readying(change, told_otherwise, write_told(told_otherwise, &t));
        make_all_ready(change);
        WORKS(scene.host, reload_prepare(change));
        EXPECT(scene.host->reload.readied == (i == 0), "%u: %u columns that were made ready are taken", i,
               (unsigned)scene.host->reload.readied);
        if (i + 1 == COUNT(others))
            commit_and_finish(change, &next);
        else
            reload_discard(change);
    }
}
END_TEST

/* What does not fit into the room for it is not told, and a host reads no more fields than it makes ready. */
START_TEST(what_is_told_is_whole_fields_and_not_without_end)
{
    static char told[AHEAD_TOLD], many[1 << 16];
    patch_list_t first = one_field(BP_F64, 1), next = one_field(BP_I32, 1);
    begin_change(&first, NULL);
    patch_put(&patch, &next);
    size_t size = tell(&model, told), length = 0;
    ck_assert_uint_gt(size, 0);
    reload_change_t *change = read_change(&model);
    WORKS(scene.host, reload_prepare(change));
    for (size_t room = 0; room <= size; room++)
        ck_assert_uint_eq(ahead_tell(change, many, room), room < size ? 0 : size);
    reload_discard(change);
    for (; length + size <= sizeof many; length += size)
        memcpy(many + length, told, size);
    scene.host->reload.readied = 0;
    change = read_change(&model);
    reload_begin_readying(change, many, length);
    make_all_ready(change);
    WORKS(scene.host, reload_prepare(change));
    ck_assert_uint_eq(scene.host->reload.readied, 1);
    commit_and_finish(change, &next);
}
END_TEST

/* Each request for memory in turn fails, from the beginning of making ready to the change. The next version has another
 * type (0), or a text that has to be copied beside (1). */
START_TEST(without_memory_columns_are_made_in_the_change)
{
    static char told[AHEAD_TOLD];
    patch_list_t first = one_field(BP_F64, 1), next = one_field(BP_I32, 1);
    if (_i == 1)
        next.fields[next.count++] = (patch_field_t){FIELD_B, PATCH_NAMES, BP_STRING, {.text = "to begin with"}};
    begin_change(&first, NULL);
    patch_put(&patch, &next);
    size_t size = tell(&model, told);
    heap_t *heap = &scene.rig.heap;
    uint32_t failed = 0;
    bool refused = true;
    for (uint32_t n = 1; refused; n++) {
        reload_change_t *change = read_change(&model);
        uint64_t before = heap->refused;
        heap->refuse_first = heap->refuse_last = heap->requests + n;
        reload_begin_readying(change, told, size);
        while (reload_make_ready(change))
            ;
        heap->refuse_first = heap->refuse_last = 0;
        refused = heap->refused > before;
        failed += refused;
        WORKS(scene.host, reload_prepare(change));
        reload_discard(change);
        ck_assert_uint_eq(scene.world->rows.stamp_users, 0);
    }
    ck_assert_uint_gt(failed, 5);
    expect_values(&model);
    finish(&model);
}
END_TEST

#if !defined(_WIN32)
/* A host of the kind that programs open, whose plugin has this list, and a world with FIRST entities. */
static bp_world_o *open_rows(uint32_t flags, const patch_list_t *list, bp_entity_t *entities, log_text_t *text)
{
    uint32_t key, prototype;
    patch_open(&patch);
    patch_put(&patch, list);
    bp_host_o *host =
        bp_host_create(&(bp_host_desc_t){.threads = 2, .flags = flags, .log = log_into(text)});
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    host->reload.slice_ns = 0;
    WORKS(host, bp_host_load_plugin(host, TEST_SCRATCH_DIR "/patch" TEST_SO, NULL, 0));
    WORKS(host, bp_world_use_component(world, "patch"));
    key = key_of(world, "patch", "");
    WORKS(host, bp_host_api(host)->world->prototype(world, &key, 1, &prototype));
    WORKS(host, bp_host_api(host)->world->create(world, prototype, entities, FIRST));
    return world;
}

/* The change has taken over a column that was made ready, and all values are 3, now of this type. */
static void expect_readied(bp_world_o *world, const bp_entity_t *entities, uint32_t type)
{
    bp_host_o *host = world->rows.host;
    ck_assert_uint_eq(host->reload.readied, 1);
    ck_assert_uint_eq(world->rows.stamp_users, 0);
    for (uint32_t e = 0; e < FIRST; e++) {
        bp_value_t value;
        WORKS(host, bp_host_api(host)->property->get_named(world, entities[e], "patch", "field_a", type, &value));
        ck_assert(type == BP_F64 ? value.f64 == 3 : value.i32 == 3);
    }
    check_host(host);
    free(patch.bytes);
    bp_host_destroy(host);
}

/* As it goes by itself: the file is written anew, tried in a copy of the process (0) or not tried (1), made ready for,
 * and comes in. */
START_TEST(a_file_that_is_watched_comes_in_with_columns_made_ready)
{
    patch_list_t first = one_field(BP_F64, 3), next = one_field(BP_I32, 1);
    static bp_entity_t entities[FIRST];
    log_text_t text;
    uint32_t told = 0;
    bp_world_o *world =
        open_rows(BP_HOST_HOT_RELOAD | (_i == 0 ? (uint32_t)BP_HOST_TRIAL : 0u), &first, entities, &text);
    bp_host_o *host = world->rows.host;
    WORKS(host, bp_host_step(host));
    WORKS(host, bp_host_poll(host));
    patch_put(&patch, &next);
    for (uint32_t i = 0; told == 0 && i < 20000; i++) {
        told = (uint32_t)(host->reload.last.result != BP_OK || host->reload.changes > 0);
        WORKS(host, bp_host_step(host));
        os_sleep_ns(1000000);
        WORKS(host, bp_host_poll(host));
        ck_assert_uint_eq(host->hot.readies ? world->rows.stamp_users : 1, 1);
    }
    ck_assert_msg(host->reload.changes == 1, "%s", text.text);
    expect_readied(world, entities, BP_I32);
}
END_TEST

/* By hand, while the copy is still at work; where that has ended first, another reload is made, since a machine may be
 * busy with other things. */
START_TEST(a_reload_by_hand_makes_columns_ready_while_it_is_tried)
{
    static const char *const names[] = {"patch"};
    static bp_entity_t entities[FIRST];
    patch_list_t lists[] = {one_field(BP_F64, 3), one_field(BP_I32, 1)};
    log_text_t text;
    uint32_t reloads = 0;
    bp_world_o *world = open_rows(BP_HOST_COPY_PLUGINS | BP_HOST_TRIAL, &lists[0], entities, &text);
    bp_host_o *host = world->rows.host;
    while (host->reload.readied == 0 && reloads++ < 100) {
        patch_put(&patch, &lists[reloads % 2]);
        WORKS(host, bp_host_reload(host, names, 1, NULL));
        reload_accept(&host->reload);
    }
    expect_readied(world, entities, lists[reloads % 2].fields[0].type);
}
END_TEST
#endif

Suite *reload_ahead_suite(void)
{
    Suite *suite = suite_create("reload_ahead");
    TCase *random = tcase_create("random");
    tcase_set_timeout(random, 180);
#if defined(BACKPLANE_SANITIZED) /* one takes a minute there */
    enum { SEEDS = 1 };
#else
    enum { SEEDS = 2 };
#endif
    tcase_add_loop_test(random, columns_that_are_made_ready_while_the_world_goes_on_have_the_values_they_ought_to_have,
                        0, SEEDS);
    suite_add_tcase(suite, random);
    TCase *between = tcase_create("between");
    tcase_set_timeout(between, 60);
    tcase_add_loop_test(between, a_value_that_does_not_fit_is_told_by_the_change_if_it_is_still_there, 0, 2);
    tcase_add_loop_test(between, a_value_that_came_too_late_is_found, 0, 2);
    tcase_add_test(between, a_change_that_is_let_go_of_leaves_no_trace);
    tcase_add_loop_test(between, a_version_that_is_taken_back_meanwhile_takes_what_is_ready_with_it, 0, 3);
    tcase_add_test(between, columns_of_all_fields_are_made_ready);
    tcase_add_loop_test(between, columns_are_made_ready_in_all_worlds, 0, 3);
    tcase_add_loop_test(between, memory_is_made_ready_for_many_small_runs, 0, 2);
    tcase_add_test(between, what_is_taken_back_with_a_version_is_given_back_once);
    tcase_add_loop_test(between, a_world_may_end_while_columns_are_made_ready_for_it, 0, 3);
    tcase_add_test(random, what_was_told_may_be_nonsense);
    tcase_add_test(random, columns_are_taken_only_by_the_declaration_that_they_were_made_for);
    tcase_add_test(random, what_is_told_is_whole_fields_and_not_without_end);
    tcase_add_loop_test(between, without_memory_columns_are_made_in_the_change, 0, 2);
#if !defined(_WIN32)
    tcase_add_loop_test(between, a_file_that_is_watched_comes_in_with_columns_made_ready, 0, 2);
    tcase_add_test(between, a_reload_by_hand_makes_columns_ready_while_it_is_tried);
#endif
    suite_add_tcase(suite, between);
    return suite;
}
