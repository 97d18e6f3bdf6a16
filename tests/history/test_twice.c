/* test_twice.c - units that do not do what they have declared, and steps that come to other results when taken again.
 */
#include "../suites.h"
#include "../unit/support.h"
#include "recall.h"

#include <stdio.h>
#include <string.h>

/* --- a plugin with faults ----------------------------------------------------------------------------------------- */

struct grain { float *x; const float *y; const char *const *tag; uint32_t *n; };

static const bp_field_t fields[] = {
    {BP_FIELD_OF(struct grain, x)},
    {BP_FIELD_OF(struct grain, y), .initial = "1"},
    {BP_FIELD_OF(struct grain, tag), .initial = "sand"},
    {BP_FIELD_OF(struct grain, n)},
    {.name = "marks", .type = BP_U32, .flags = BP_FIELD_LIST},
};

static void simulate(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct grain, c, run->columns);
    for (uint32_t i = 0; i < count; i++)
        c.x[i] += c.y[i];
}

/* Rows are numbered in the order in which they come, from 1 on; the numbers are made again where they are lost, in
 * another order perhaps, and rows of the dead have none. */
struct sieve { float *x; uint32_t *place; };

static const bp_field_t sieve_fields[] = {
    {BP_FIELD_OF(struct sieve, x)},
    {BP_FIELD_OF(struct sieve, place), .flags = BP_FIELD_HIDDEN | BP_FIELD_DERIVED},
};

static bp_result_t sieve_start(bp_manager_t *m)
{
    m->state = m->api->memory->resize(m->plugin, NULL, 0, sizeof(uint32_t));
    if (m->state == NULL)
        return BP_ERROR_MEMORY;
    *(uint32_t *)m->state = 0;
    return BP_OK;
}

static void sieve_stop(bp_manager_t *m)
{
    m->state = m->api->memory->resize(m->plugin, m->state, sizeof(uint32_t), 0);
}

static bp_result_t sieve_added(const bp_run_t *rows, uint32_t count)
{
    BP_COLUMNS(struct sieve, c, rows->columns);
    for (uint32_t i = 0; i < count; i++)
        c.place[i] = ++*(uint32_t *)rows->manager->state;
    return BP_OK;
}

static void sieve_simulate(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct sieve, c, run->columns);
    for (uint32_t i = 0; i < count; i++)
        c.x[i] += c.place[i] > 0 ? 7 : 0;
}

static const bp_rows_i sieve_rows = {.rows_added = sieve_added};
static const bp_extension_t sieve_extensions[] = {{BP_EXTENSION("bp_rows", sieve_rows)}};

static const bp_component_i components[] = {
    {.name = "grain", .flags = BP_COMPONENT_PARALLEL, .fields = BP_LIST(fields), .simulate = simulate},
    {.name = "sieve", .fields = BP_LIST(sieve_fields), .start = sieve_start, .stop = sieve_stop,
     .simulate = sieve_simulate, .keeps = BP_KEEP_ANEW, .extensions = BP_LIST(sieve_extensions)},
};

static const bp_term_field_t y_read[] = {{.name = "y", .type = BP_F32}};
static const bp_term_t reads_y[] = {{.component = "grain", .fields = BP_LIST(y_read)}};
static const bp_term_field_t n_written[] = {{.name = "n", .type = BP_U32, .access = BP_READ | BP_WRITE}};
static const bp_term_field_t marks_written[] = {
    {.name = "marks", .type = BP_U32, .flags = BP_FIELD_LIST, .access = BP_READ | BP_WRITE}};
static const bp_term_t writes_marks[] = {{.component = "grain", .fields = BP_LIST(marks_written)}};
static const bp_term_t writes_n[] = {{.component = "grain", .fields = BP_LIST(n_written)}};

/* Writes what it has only asked to read, from step 2 on, in the third row. */
static void steal(const bp_match_t *match, uint32_t count)
{
    float *y = (float *)(uintptr_t)match->columns[0][0];
    if (match->step->number >= 2 && match->first == 0 && count > 2)
        y[2] += 1;
}

/* Counts on in a variable of its own, which is neither in the world nor in a state. */
static uint32_t counted;

static void count_on(const bp_match_t *match, uint32_t count)
{
    uint32_t *n = match->columns[0][0];
    for (uint32_t i = 0; i < count && match->step->number >= 3; i++)
        n[i] = counted++;
}

/* The same, in a list of the last row. */
static void mark(const bp_match_t *match, uint32_t count)
{
    bp_list_t *marks = match->columns[0][0];
    if (match->step->number >= 3)
        ck_assert_ptr_nonnull(bp_list_append(match->lists, &marks[count - 1], &counted, sizeof counted));
    counted++;
}

/* Writes what its state says, of which the plugin says that it bears on nothing. */
static uint32_t starts;

static bp_result_t root_start(bp_system_t *s)
{
    uint32_t *state = s->api->memory->resize(s->plugin, NULL, 0, sizeof *state);
    if (state == NULL)
        return BP_ERROR_MEMORY;
    *state = ++starts;
    s->state = state;
    return BP_OK;
}

static void root_stop(bp_system_t *s)
{
    s->state = s->api->memory->resize(s->plugin, s->state, sizeof(uint32_t), 0);
}

static void root_run(const bp_match_t *match, uint32_t count)
{
    uint32_t *n = match->columns[0][0];
    for (uint32_t i = 0; i < count && match->step->number >= 3; i++)
        n[i] = *(const uint32_t *)match->system->state;
}

static const bp_system_i systems[] = {
    {.name = "rooted", .terms = BP_LIST(writes_n), .run = root_run, .start = root_start, .stop = root_stop,
     .keeps = BP_KEEP_NOTHING},
    {.name = "thief", .terms = BP_LIST(reads_y), .flags = BP_SYSTEM_PARALLEL, .run = steal},
    {.name = "heir", .terms = BP_LIST(reads_y), .flags = BP_SYSTEM_PARALLEL, .run = steal},
    {.name = "counter", .terms = BP_LIST(writes_n), .run = count_on, .after = "thief"},
    {.name = "marker", .terms = BP_LIST(writes_marks), .run = mark},
};

static const bp_plugin_desc_t desc = {.version = "1", .components = BP_LIST(components), .systems = BP_LIST(systems)};
static const bp_plugin_head_t faulty_plugin = BP_PLUGIN_HEAD("faulty", &desc);

/* --- hosts -------------------------------------------------------------------------------------------------------- */

static void open_host(rig_t *rig, uint32_t threads)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin, &faulty_plugin};
    rig_init(rig);
    rig->desc.allocator = NULL; /* the rig's heap is for one thread */
    rig->desc.static_plugins = plugins;
    rig->desc.static_plugin_count = COUNT(plugins);
    rig->desc.threads = threads;
    rig_open(rig);
}

/* Grains, more than one range of them, and a system. */
static void open_faulty(rig_t *rig, const char *system)
{
    static bp_entity_t entities[5000];
    uint32_t key, prototype;
    open_host(rig, 2);
    WORKS(rig->host, bp_host_load_plugin(rig->host, "faulty", NULL, 0));
    bp_world_o *world = bp_world_create(rig->host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig->host, bp_world_use_component(world, "grain"));
    if (system != NULL)
        WORKS(rig->host, bp_world_use_system(world, system));
    WORKS(rig->host, rig->api->world->key(world, rig->api->world->component(world, "grain"), 0, &key));
    WORKS(rig->host, rig->api->world->prototype(world, &key, 1, &prototype));
    WORKS(rig->host, rig->api->world->create(world, prototype, entities, COUNT(entities)));
}

START_TEST(what_is_not_declared_is_told_once)
{
    rig_t rig;
    open_faulty(&rig, "thief");
    WORKS(rig.host, bp_host_audit(rig.host, BP_AUDIT_WRITES));
    FAILS(rig.host, BP_ERROR_ARGUMENT, "flags 0x8", bp_host_audit(rig.host, 8));
    for (uint32_t i = 0; i < 2; i++)
        WORKS(rig.host, bp_host_step(rig.host));
    EXPECT(rig.log.count == 0, "before the theft: %s", rig.log.text);
    for (uint32_t i = 0; i < 3; i++)
        WORKS(rig.host, bp_host_step(rig.host));
    EXPECT(rig.log.count == 1 &&
               strstr(rig.log.text, "system 'thief' of world 'main' has changed grain.y of entity #2:1") != NULL,
           "%u lines: %s", rig.log.count, rig.log.text);
    WORKS(rig.host, bp_host_audit(rig.host, 0));
    WORKS(rig.host, bp_host_step(rig.host));
    recall_close(&rig);
}
END_TEST

/* A system in the place of one that has gone is another one, also where it lies at the same address. */
START_TEST(who_comes_after_one_who_was_told_is_told_too)
{
    rig_t rig;
    open_faulty(&rig, "thief");
    bp_world_o *world = rig.api->world->at(rig.host, 0);
    WORKS(rig.host, bp_host_audit(rig.host, BP_AUDIT_WRITES));
    for (uint32_t i = 0; i < 5; i++)
        WORKS(rig.host, bp_host_step(rig.host));
    ck_assert_uint_eq(rig.log.count, 1);
    for (uint32_t i = 0; i < 8; i++) {
        WORKS(rig.host, bp_world_drop_system(world, i % 2 == 0 ? "thief" : "heir"));
        WORKS(rig.host, bp_world_use_system(world, i % 2 == 0 ? "heir" : "thief"));
        WORKS(rig.host, bp_host_step(rig.host));
        EXPECT(rig.log.count == 2 && strstr(rig.log.text, "system 'heir' of world 'main' has changed grain.y") != NULL,
               "round %u, %u lines: %s", i, rig.log.count, rig.log.text);
    }
    recall_close(&rig);
}
END_TEST

START_TEST(what_is_declared_is_not_told)
{
    rig_t rig;
    open_host(&rig, 2);
    recall_open(rig.host);
    WORKS(rig.host, bp_host_audit(rig.host, BP_AUDIT_WRITES));
    for (uint64_t i = 0; i < 30; i++) {
        recall_act(rig.host, i, 6);
        WORKS(rig.host, bp_host_step(rig.host));
    }
    EXPECT(strstr(rig.log.text, "audit") == NULL, "%s", rig.log.text);
    recall_close(&rig);
}
END_TEST

typedef struct told_t {
    uint32_t fields;
    char name[64];
} told_t;

static void tell_field(void *context, const bp_diff_field_t *field)
{
    told_t *told = context;
    told->fields++;
    snprintf(told->name, sizeof told->name, "%s", field->field);
}

START_TEST(a_unit_that_does_not_repeat_itself_is_named)
{
    static const char *const units[][2] = {{"counter", "n"}, {"marker", "marks"}};
    char sentence[160];
    rig_t rig;
    told_t told = {0};
    const bp_diff_i sink = {.context = &told, .field = tell_field};
    snprintf(sentence, sizeof sentence,
             "step 3: system '%s' of world 'main' writes something else on 1 threads than on 2, first in grain.%s",
             units[_i][0], units[_i][1]);
    open_faulty(&rig, units[_i][0]);
    for (uint32_t i = 0; i < 3; i++)
        WORKS(rig.host, bp_host_step_twice(rig.host, 0, &sink));
    FAILS(rig.host, BP_ERROR_FAILED, sentence, bp_host_step_twice(rig.host, 0, &sink));
    EXPECT(told.fields == 1 && strcmp(told.name, units[_i][1]) == 0, "%u fields, %s", told.fields, told.name);
    bp_step_t now = {.struct_size = sizeof now};
    rig.api->world->clock(rig.api->world->at(rig.host, 0), &now);
    EXPECT(now.number == 4, "it is behind the step");
    FAILS(rig.host, BP_ERROR_LIMIT, "at most", bp_host_step_twice(rig.host, 100000, NULL));
    recall_close(&rig);
}
END_TEST

START_TEST(a_unit_that_does_otherwise_in_a_clone_is_named)
{
    rig_t rig;
    told_t told = {0};
    const bp_diff_i sink = {.context = &told, .field = tell_field};
    open_faulty(&rig, "rooted");
    for (uint32_t i = 0; i < 3; i++)
        WORKS(rig.host, bp_host_step_twice(rig.host, 0, &sink));
    FAILS(rig.host, BP_ERROR_FAILED,
          "step 3: system 'rooted' of world 'main' writes something else in a clone than in the host itself, first in "
          "grain.n", bp_host_step_twice(rig.host, 0, &sink));
    EXPECT(told.fields == 1 && strcmp(told.name, "n") == 0, "%u fields, %s", told.fields, told.name);
    bp_step_t now = {.struct_size = sizeof now};
    rig.api->world->clock(rig.api->world->at(rig.host, 0), &now);
    EXPECT(now.number == 4, "it is behind the step");
    recall_close(&rig);
}
END_TEST

/* Taken twice, a host comes to where it comes anyway; its history and its output know of one step. */
START_TEST(honest_units_pass)
{
    static const uint32_t threads[][2] = {{1, 0}, {1, 3}, {4, 0}, {2, 4}};
    uint64_t hashes[30];
    rig_t rig;
    open_host(&rig, 1);
    recall_open(rig.host);
    for (uint64_t i = 0; i < COUNT(hashes); i++) {
        recall_act(rig.host, i, 6);
        WORKS(rig.host, bp_host_step(rig.host));
        hashes[i] = recall_hash(rig.host);
    }
    recall_close(&rig);
    open_host(&rig, threads[_i][0]);
    recall_open(rig.host);
    WORKS(rig.host, bp_host_remember(rig.host, UINT64_C(1) << 30));
    for (uint64_t i = 0; i < COUNT(hashes); i++) {
        recall_act(rig.host, i, 6);
        WORKS(rig.host, bp_host_step_twice(rig.host, threads[_i][1], NULL));
        EXPECT(recall_hash(rig.host) == hashes[i], "step %u comes to something else", (uint32_t)i);
    }
    EXPECT(recall_scribe->runs == COUNT(hashes), "output ran %u times", (uint32_t)recall_scribe->runs);
    WORKS(rig.host, bp_host_go(rig.host, 7));
    EXPECT(recall_hash(rig.host) == hashes[6], "the past is another one");
    recall_close(&rig);
}
END_TEST

/* A snapshot does not have the values that a component makes again. After going back they are there in rows of the
 * living alone, and rows of the dead have none before either: what loops make of them there is the same. */
START_TEST(what_is_made_again_has_its_default_in_rows_of_the_dead)
{
    rig_t rig;
    bp_entity_t entities[40];
    uint32_t key, prototype;
    open_host(&rig, 2);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "faulty", NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "sieve"));
    WORKS(rig.host, rig.api->world->key(world, rig.api->world->component(world, "sieve"), 0, &key));
    WORKS(rig.host, rig.api->world->prototype(world, &key, 1, &prototype));
    WORKS(rig.host, rig.api->world->create(world, prototype, entities, COUNT(entities)));
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, entities + 3, 20), 20);
    WORKS(rig.host, bp_host_step_twice(rig.host, 0, NULL));
    float x;
    WORKS(rig.host, rig.api->property->get_named(world, entities[0], "sieve", "x", BP_F32, &x));
    ck_assert_float_eq(x, 7);
    rig_close(&rig);
}
END_TEST

/* The threads of the other step are kept for the next one, and others come in their place. */
START_TEST(the_other_step_may_have_another_number_of_threads_each_time)
{
    static const uint32_t others[] = {2, 2, 3, 1, 2, 4, 0, 3};
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin};
    rig_t rig;
    rig_open_with(&rig, plugins, 1);
    recall_open(rig.host);
    for (uint32_t i = 0; i < COUNT(others); i++) {
        recall_act(rig.host, i, 6);
        WORKS(rig.host, bp_host_step_twice(rig.host, others[i], NULL));
    }
    recall_close(&rig);
}
END_TEST

START_TEST(no_memory_for_what_threads_of_the_other_step_say)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin};
    rig_t rig;
    rig_open_with(&rig, plugins, 1);
    recall_open(rig.host);
    uint64_t before = recall_hash(rig.host);
    rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + 1;
    FAILS(rig.host, BP_ERROR_MEMORY, "making room for what threads say", bp_host_step_twice(rig.host, 3, NULL));
    rig.heap.refuse_first = rig.heap.refuse_last = 0;
    EXPECT(recall_hash(rig.host) == before, "the host is elsewhere");
    WORKS(rig.host, bp_host_step(rig.host));
    recall_close(&rig);
}
END_TEST

START_TEST(no_memory_for_the_other_step)
{
    uint64_t refused = 0;
    for (uint64_t k = 1; k < 1400; k += 1 + k / 100) {
        static const bp_plugin_head_t *const plugins[] = {&recall_plugin};
        rig_t rig;
        rig_open_with(&rig, plugins, 1);
        recall_open(rig.host);
        recall_act(rig.host, 1, 6);
        recall_act(rig.host, 2, 6);
        WORKS(rig.host, bp_host_step(rig.host));
        uint64_t before = recall_hash(rig.host);
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
        bp_result_t result = bp_host_step_twice(rig.host, 1, NULL);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        bp_step_t now = {.struct_size = sizeof now};
        rig.api->world->clock(rig.api->world->at(rig.host, 0), &now);
        bool taken = result == BP_OK || result == BP_ERROR_FAILED; /* where memory lacked in one of them they differ */
        EXPECT(taken ? now.number == 2 : recall_hash(rig.host) == before, "request %u: %s: the host is elsewhere",
               (uint32_t)k, bp_host_error(rig.host));
        refused += rig.heap.refused;
        WORKS(rig.host, bp_host_step_twice(rig.host, 1, NULL));
        recall_close(&rig);
    }
    EXPECT(refused > 20, "%u requests were refused", (uint32_t)refused);
}
END_TEST

Suite *twice_suite(void)
{
    Suite *suite = suite_create("twice");
    TCase *tcase = tcase_create("twice");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, what_is_not_declared_is_told_once);
    tcase_add_test(tcase, who_comes_after_one_who_was_told_is_told_too);
    tcase_add_test(tcase, what_is_declared_is_not_told);
    tcase_add_loop_test(tcase, a_unit_that_does_not_repeat_itself_is_named, 0, 2);
    tcase_add_test(tcase, a_unit_that_does_otherwise_in_a_clone_is_named);
    tcase_add_loop_test(tcase, honest_units_pass, 0, 4);
    tcase_add_test(tcase, what_is_made_again_has_its_default_in_rows_of_the_dead);
    tcase_add_test(tcase, the_other_step_may_have_another_number_of_threads_each_time);
    tcase_add_test(tcase, no_memory_for_what_threads_of_the_other_step_say);
    tcase_add_test(tcase, no_memory_for_the_other_step);
    suite_add_tcase(suite, tcase);
    return suite;
}
