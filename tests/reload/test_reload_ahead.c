/* test_reload_ahead.c - reloads whose columns are made ready between steps: random lists of fields, one reload after
 * another, in worlds that go on meanwhile, against the oracle of patch_lists.h, which knows names and values alone.
 *
 * Between any two slices values are set, entities are created, destroyed and moved from run to run, and steps collect
 * the dead. What a trial's copy would tell comes from a change that is prepared and let go of.
 *
 * AHEAD_ROUNDS is the number of reloads of each test, 40 where it is not set.
 */
#include "../suites.h"
#include "patch_lists.h"
#include "reload_support.h"

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
} model_t;

static uint32_t below(model_t *m, uint32_t bound)
{
    return bp_random_below(&m->random, bound);
}

/* --- the world goes on --------------------------------------------------------------------------------------------- */

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

static void create(model_t *m, bool body, uint32_t count)
{
    uint32_t keys[] = {key_of(m->scene->world, "patch", ""), key_of(m->scene->world, "body", "")}, prototype;
    const bp_world_api *world = m->scene->api->world;
    count = count < MOST - m->count ? count : MOST - m->count;
    WORKS(m->scene->host, world->prototype(m->scene->world, keys, body ? 2 : 1, &prototype));
    WORKS(m->scene->host, world->create(m->scene->world, prototype, m->entities + m->count, count));
    for (uint32_t i = m->count; i < m->count + count; i++) {
        m->has_body[i] = body;
        for (uint32_t f = 0; f < m->list.count; f++)
            m->values[i].of[m->list.fields[f].name] = m->list.fields[f].initial;
    }
    m->count += count;
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

static void go_on(model_t *m)
{
    switch (below(m, 6)) {
    case 0: set_some(m); break;
    case 1: destroy_some(m); break;
    case 2: create(m, below(m, 2) == 0, below(m, below(m, 4) == 0 ? MANY : SOME)); break;
    case 3: move_some(m); break;
    case 4: WORKS(m->scene->host, bp_host_step(m->scene->host)); break;
    default: break;
    }
}

/* --- reloads -------------------------------------------------------------------------------------------------------- */

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

static void reload_once(model_t *m, const patch_file_t *patch)
{
    static char told[AHEAD_TOLD];
    patch_list_t list = patch_next(&m->random, &m->list);
    reload_t *reload = &m->scene->host->reload;
    patch_put(patch, &list);
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

static void open_model(model_t *m, scene_t *scene, patch_file_t *patch)
{
    memset(m, 0, sizeof *m);
    m->scene = scene;
    m->random = 3;
    m->entities = calloc(MOST, sizeof *m->entities);
    m->has_body = calloc(MOST, sizeof *m->has_body);
    m->values = calloc(MOST, sizeof *m->values);
    m->next = calloc(MOST, sizeof *m->next);
    patch_open(patch);
    m->list = patch_next(&m->random, &m->list);
    patch_put(patch, &m->list);
    WORKS(scene->host, bp_host_load_plugin(scene->host, TEST_SCRATCH_DIR "/patch" TEST_SO, NULL, 0));
    WORKS(scene->host, bp_world_use_component(scene->world, "patch"));
    create(m, false, FIRST / 2);
    create(m, true, FIRST / 2);
}

static void close_model(model_t *m, patch_file_t *patch)
{
    free(patch->bytes);
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
    static scene_t scene;
    static model_t model;
    patch_file_t patch;
    jobs_t *pool = NULL;
    bp_jobs_i jobs;
    scene_open(&scene, 1);
    if (_i == 1) {
        WORKS(scene.host, jobs_create(&scene.host->base, 3, &pool));
        jobs = jobs_table(pool);
        scene.host->reload.jobs = &jobs;
    }
    scene.host->reload.probation_steps = _i == 0 ? 0 : 5;
    scene.host->reload.slice_ns = 0;
    open_model(&model, &scene, &patch);
    model.random += (uint64_t)_i;
    for (uint32_t n = 0; n < round_count(); n++) {
        reload_once(&model, &patch);
        if (n % 10 == 0)
            check_host(scene.host);
    }
    ck_assert_uint_gt(model.made, round_count() / 4);
    ck_assert_uint_gt(model.slices, round_count() / 4);
    ck_assert_uint_gt(scene.host->reload.readied, round_count() / 4);
    reload_accept(&scene.host->reload);
    close_model(&model, &patch);
    scene.host->reload.jobs = &scene.host->crew.jobs;
    if (pool != NULL)
        jobs_free(pool);
    scene_close(&scene);
}
END_TEST

Suite *reload_ahead_suite(void)
{
    Suite *suite = suite_create("reload_ahead");
    TCase *random = tcase_create("random");
    tcase_set_timeout(random, 180);
    tcase_add_loop_test(random, columns_that_are_made_ready_while_the_world_goes_on_have_the_values_they_ought_to_have,
                        0, 2);
    suite_add_tcase(suite, random);
    return suite;
}
