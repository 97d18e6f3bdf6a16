/* test_commands.c - commands that fail and the commands beside them; steps that have less memory than they need; and
 * systems that change another world when they are told something.
 *
 * Each test declares the systems that it needs as a plugin of its own, beside the zoo.
 */
#include "../suites.h"
#include "../unit/inspect.h"
#include "../unit/support.h"
#include "../unit/zoo.h"

#include <bp_clock.h>
#include <string.h>

/* --- the rig ------------------------------------------------------------------------------------------------------ */

static rig_t rig;
static bp_world_o *world;
static bp_plugin_desc_t own;
static const bp_plugin_head_t own_head = BP_PLUGIN_HEAD("own", &own);

/* A pool of two threads that is none: all jobs run here, so that the heap of the rig will do. */
static void run_here(void *context, void (*job)(void *data, uint32_t index), void *data, uint32_t count)
{
    (void)context;
    while (count > 0)
        job(data, --count);
}

static void open_with(const bp_system_i *systems, uint32_t count)
{
    static const bp_plugin_head_t *plugins[ZOO_PLUGINS + 1];
    static const bp_jobs_i jobs = {.threads = 2, .run = run_here};
    rig_init(&rig);
    own = (bp_plugin_desc_t){.version = "1", .systems = {systems, count, sizeof *systems}};
    memcpy(plugins, zoo_plugins, sizeof zoo_plugins);
    plugins[ZOO_PLUGINS] = &own_head;
    rig.desc.static_plugins = plugins;
    rig.desc.static_plugin_count = COUNT(plugins);
    rig.desc.jobs = &jobs;
    rig_open(&rig);
    for (uint32_t i = 0; i < COUNT(plugins); i++)
        WORKS(rig.host, bp_host_load_plugin(rig.host, plugins[i]->name, NULL, 0));
    world = rig_world(&rig, "main");
}

static void forget_log(void)
{
    rig.log.text[0] = '\0';
    rig.log.count = 0;
}

/* The log has `count` lines, each about a command of the system. */
static void expect_failures(uint32_t count, const char *part)
{
    uint32_t lines = 0;
    for (const char *at = rig.log.text; (at = strstr(at, "world 'main', a command of 'recorder': ")) != NULL; at++)
        lines++;
    ck_assert_msg(lines == count && rig.log.count == count, "%u lines:\n%s", rig.log.count, rig.log.text);
    ck_assert_msg(strstr(rig.log.text, part) != NULL, "%s", rig.log.text);
    forget_log();
}

static void close_rig(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

/* --- a command that fails ----------------------------------------------------------------------------------------- */

enum { SOME = 6 };

static bp_entity_t some[SOME], made[SOME];
static bp_property_t number;
static uint32_t pool_key, pool_prototype;
static void (*record)(const bp_command_api *command, bp_commands_o *commands);

static void record_all(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)matches, (void)count;
    if (record != NULL)
        record(s->api->command, step->commands);
}

static const bp_system_i recorder[] = {{.name = "recorder", .run_all = record_all}};

static void open_recorder(const char *type)
{
    open_with(recorder, 1);
    WORKS(rig.host, bp_world_use_system(world, "recorder"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, type, NULL, NULL, NULL), some, SOME));
    pool_key = key_of(world, "pool", "");
    pool_prototype = prototype_of(world, "pool", NULL, NULL, NULL);
}

static void step_with(void (*what)(const bp_command_api *command, bp_commands_o *commands))
{
    record = what;
    WORKS(rig.host, bp_world_step(world));
    record = NULL;
}

static void set_one_by_one(const bp_command_api *command, bp_commands_o *commands)
{
    for (uint32_t i = 0; i < SOME; i++) {
        int64_t value = i % 2 == 0 ? 100 + i : 5000; /* at most 1000 */
        WORKS(rig.host, command->set(commands, &number, &some[i], 1, &value, sizeof value));
    }
}

static void set_in_pairs(const bp_command_api *command, bp_commands_o *commands)
{
    const int64_t values[SOME] = {1, 2, 3, 5000, 4, 6};
    for (uint32_t i = 0; i < SOME; i += 2)
        WORKS(rig.host, command->set(commands, &number, &some[i], 2, &values[i], sizeof values[0]));
}

static void expect_number(uint32_t i, int64_t wanted)
{
    int64_t value;
    WORKS(rig.host, rig.api->property->get(world, &number, &some[i], 1, &value, sizeof value));
    ck_assert_msg(value == wanted, "entity %u: %lld instead of %lld", i, (long long)value, (long long)wanted);
}

START_TEST(a_value_out_of_range_does_not_take_those_of_other_calls_with_it)
{
    open_recorder("pool");
    WORKS(rig.host, rig.api->property->resolve(world, some[0], "pool", "number", &number));
    step_with(set_one_by_one);
    expect_failures(SOME / 2, "5000");
    for (uint32_t i = 0; i < SOME; i++)
        expect_number(i, i % 2 == 0 ? 100 + i : 5);
    step_with(set_in_pairs); /* of a call that fails nothing is set */
    expect_failures(1, "5000");
    const int64_t wanted[SOME] = {1, 2, 102, 5, 4, 6};
    for (uint32_t i = 0; i < SOME; i++)
        expect_number(i, wanted[i]);
    close_rig();
}
END_TEST

static void add_one_by_one(const bp_command_api *command, bp_commands_o *commands)
{
    for (uint32_t i = 0; i < SOME; i++)
        WORKS(rig.host, command->add(commands, pool_key, &some[i], 1));
}

static void add_in_pairs(const bp_command_api *command, bp_commands_o *commands)
{
    for (uint32_t i = 0; i < SOME; i += 2)
        WORKS(rig.host, command->add(commands, pool_key, &some[i], 2));
}

START_TEST(an_entity_that_a_manager_refuses_does_not_take_those_of_other_calls_with_it)
{
    uint8_t has[SOME];
    open_recorder("body");
    stock_t *pool = state_of(world, "pool");
    rig.api->entity->destroy(rig.host, &some[0], 1); /* passed over */
    pool->refuse_creates = 2; /* the batch, and the first of it that lives */
    step_with(add_one_by_one);
    expect_failures(1, "told to refuse");
    ck_assert_uint_eq(rig.api->world->has(world, pool_key, some, SOME, has), SOME - 2);
    ck_assert(!has[0] && !has[1] && has[2]);
    WORKS(rig.host, rig.api->world->remove(world, pool_key, some + 2, SOME - 2));
    pool->refuse_creates = 1;
    step_with(add_in_pairs);
    expect_failures(1, "told to refuse");
    ck_assert_uint_eq(rig.api->world->has(world, pool_key, some, SOME, has), SOME - 2);
    ck_assert(!has[1] && has[2] && has[3]);
    close_rig();
}
END_TEST

static void create_in_pairs(const bp_command_api *command, bp_commands_o *commands)
{
    for (uint32_t i = 0; i < SOME; i += 2)
        WORKS(rig.host, command->create(commands, pool_prototype, &made[i], 2));
}

START_TEST(a_creation_that_a_manager_refuses_does_not_take_those_of_other_calls_with_it)
{
    bp_entity_t became[SOME];
    open_recorder("body");
    ((stock_t *)state_of(world, "pool"))->refuse_creates = 2; /* all of them, and the first call alone */
    step_with(create_in_pairs);
    expect_failures(1, "told to refuse");
    ck_assert_uint_eq(rig.api->command->created(world, made, SOME, became), SOME - 2);
    for (uint32_t i = 0; i < SOME; i++)
        ck_assert_uint_eq(rig.api->entity->alive(rig.host, &became[i], 1, NULL), i >= 2);
    close_rig();
}
END_TEST

/* --- placeholders ------------------------------------------------------------------------------------------------- */

enum { AROUND = 256 }; /* steps after which placeholders are called the same again */

static bp_entity_t early;
static uint32_t early_count;

static void create_and_ask(const bp_command_api *command, bp_commands_o *commands)
{
    WORKS(rig.host, command->create(commands, 0, made, 1));
    early_count = command->created(world, made, 1, &early);
}

START_TEST(what_a_placeholder_of_this_step_becomes_is_not_known_before_it_is_made)
{
    bp_entity_t first, second;
    open_recorder("body");
    step_with(create_and_ask);
    ck_assert_uint_eq(rig.api->command->created(world, made, 1, &first), 1);
    for (uint32_t i = 1; i < AROUND; i++)
        step_with(NULL);
    step_with(create_and_ask);
    ck_assert_uint_eq(early_count, 0);
    ck_assert_uint_eq(early.id, 0);
    ck_assert_uint_eq(rig.api->command->created(world, made, 1, &second), 1);
    ck_assert_uint_ne(first.id, second.id);
    close_rig();
}
END_TEST

static void create_and_refer(const bp_command_api *command, bp_commands_o *commands)
{
    WORKS(rig.host, command->create(commands, 0, made, SOME));
    WORKS(rig.host, command->set(commands, &number, some, SOME, made, sizeof made[0]));
}

/* `number` is a reference here. */
START_TEST(each_placeholder_among_the_values_of_one_call_becomes_its_entity)
{
    bp_entity_t created[SOME], referred[SOME];
    open_recorder("label");
    WORKS(rig.host, rig.api->property->resolve(world, some[0], "label", "home", &number));
    step_with(create_and_refer);
    ck_assert_uint_eq(rig.api->command->created(world, made, SOME, created), SOME);
    WORKS(rig.host, rig.api->property->get(world, &number, some, SOME, referred, sizeof referred[0]));
    for (uint32_t i = 0; i < SOME; i++)
        ck_assert_uint_eq(referred[i].id, created[i].id);
    close_rig();
}
END_TEST

/* --- memory that lacks in the middle of a step -------------------------------------------------------------------- */

enum { KINDS = 40, CROWD = 700 };

static uint32_t kinds[KINDS];
static bool grows;
static uint32_t seen_together, seen_in_ranges;

static void grow(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    static bp_entity_t crowd[CROWD];
    (void)matches, (void)count;
    for (uint32_t k = 0; k < KINDS && grows; k++)
        s->api->command->create(step->commands, kinds[k], crowd, CROWD); /* or there is no memory */
}

static void look_together(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step;
    seen_together = 0;
    for (uint32_t m = 0; m < count; m++)
        seen_together += matches[m].count;
}

static void look_in_ranges(const bp_match_t *match, uint32_t count)
{
    (void)match;
    seen_in_ranges += count;
}

static const bp_term_t body_term[] = {{.component = "body"}};
static const bp_system_i growing[] = {
    {.name = "grow", .run_all = grow},
    {.name = "together", .flags = BP_SYSTEM_COMMANDS_FIRST, .terms = BP_LIST(body_term), .run_all = look_together},
    {.name = "ranges", .flags = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT, .terms = BP_LIST(body_term),
     .run = look_in_ranges},
};

/* A host whose world gets many kinds of entities in the middle of its first step, in which the request of that number
 * is refused. Returns whether there was such a request. */
static bool grow_without(uint64_t request)
{
    open_with(growing, COUNT(growing));
    uint32_t keys[2] = {key_of(world, "body", "")};
    for (uint32_t k = 0; k < KINDS; k++) {
        char name[16];
        snprintf(name, sizeof name, "fog_%u", k);
        keys[1] = key_of(world, "fx", name);
        WORKS(rig.host, rig.api->world->prototype(world, keys, 2, &kinds[k]));
    }
    for (uint32_t i = 0; i < COUNT(growing); i++)
        WORKS(rig.host, bp_world_use_system(world, growing[i].name));
    grows = true;
    seen_together = seen_in_ranges = 0;
    rig.heap.refused = 0;
    rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + request;
    bp_result_t result = bp_world_step(world);
    rig.heap.refuse_first = rig.heap.refuse_last = 0;
    bool refused = rig.heap.refused > 0;
    EXPECT(result == BP_OK || (refused && result == BP_ERROR_MEMORY), "%d: %s", result, bp_host_error(rig.host));
    EXPECT(refused || seen_together == KINDS * CROWD, "%u were seen", seen_together);
    grows = false;
    seen_in_ranges = 0;
    uint32_t there = rig.api->world->count(world, rig.api->world->component(world, "body"));
    WORKS(rig.host, bp_world_step(world));
    EXPECT(seen_together == there && seen_in_ranges == there, "request %llu: %u and %u of %u are seen",
           (unsigned long long)request, seen_together, seen_in_ranges, there);
    forget_log(); /* of what was refused */
    close_rig();
    return refused;
}

START_TEST(a_step_that_grows_while_memory_lacks_writes_nowhere_else)
{
    uint64_t request = 1;
    while (grow_without(request))
        request++;
    ck_assert_uint_gt(request, KINDS);
}
END_TEST

/* --- a system that is told, and changes another world ------------------------------------------------------------- */

enum { FEW_KINDS = 8, MANY = 5000 };

static bp_world_o *other;
static bool fills;

static void fill_other(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    static bp_entity_t crowd[MANY];
    (void)entities, (void)count;
    for (uint32_t k = 0; k < FEW_KINDS && fills; k++)
        WORKS(s->host, s->api->world->create(other, kinds[k], crowd, MANY));
    fills = false;
}

static const bp_term_t label_term[] = {{.component = "label"}};
static const bp_term_t flag_term[] = {{.component = "flag"}};
static const bp_term_t mark_term[] = {{.component = "mark"}};
static const bp_system_i telling[] = {
    {.name = "told_of_labels", .flags = BP_SYSTEM_CONCURRENT, .terms = BP_LIST(label_term), .run_all = look_together,
     .entities_added = fill_other},
    {.name = "told_of_flags", .flags = BP_SYSTEM_CONCURRENT, .terms = BP_LIST(flag_term), .run_all = look_together,
     .entities_added = fill_other},
    {.name = "marks", .flags = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT, .terms = BP_LIST(mark_term),
     .run = look_in_ranges},
};

static bp_world_o *world_of_two(const char *name, const char *first, const char *second)
{
    bp_world_o *one = bp_world_create(rig.host, &(bp_world_desc_t){.name = name});
    ck_assert_ptr_nonnull(one);
    WORKS(rig.host, bp_world_use_component(one, first));
    WORKS(rig.host, bp_world_use_component(one, second));
    return one;
}

/* Which systems are told changes between two steps, so they are told of what has come before the next one begins. The
 * world that is filled then has not stepped yet. */
START_TEST(worlds_side_by_side_have_room_for_what_a_system_that_is_told_has_put_into_another)
{
    open_with(telling, COUNT(telling));
    const bp_clock_api *clocks = rig.api->registry->find(rig.host, BP_CLOCK_API, 1);
    bp_world_o *told = world_of_two("told", "label", "flag");
    other = world_of_two("filled", "mark", "fx");
    clocks->stop(world);
    clocks->stop(other);
    uint32_t keys[2] = {key_of(other, "mark", "")};
    for (uint32_t k = 0; k < FEW_KINDS; k++) {
        char name[16];
        bp_entity_t first;
        snprintf(name, sizeof name, "fog_%u", k);
        keys[1] = key_of(other, "fx", name);
        WORKS(rig.host, rig.api->world->prototype(other, keys, 2, &kinds[k]));
        WORKS(rig.host, rig.api->world->create(other, kinds[k], &first, 1));
    }
    WORKS(rig.host, bp_world_use_system(told, "told_of_labels"));
    WORKS(rig.host, bp_world_use_system(other, "marks"));
    WORKS(rig.host, bp_host_step(rig.host));
    entity_with(told, "label");
    WORKS(rig.host, bp_world_use_system(told, "told_of_flags"));
    clocks->start(other);
    fills = true;
    seen_in_ranges = 0;
    WORKS(rig.host, bp_host_step(rig.host));
    ck_assert(!fills);
    ck_assert_uint_eq(seen_in_ranges, FEW_KINDS * (MANY + 1));
    bp_world_destroy(told);
    bp_world_destroy(other);
    close_rig();
}
END_TEST

/* --- the suite ---------------------------------------------------------------------------------------------------- */

Suite *commands_suite(void)
{
    Suite *suite = suite_create("commands");
    TCase *tests = tcase_create("commands");
    tcase_set_timeout(tests, 240);
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, a_value_out_of_range_does_not_take_those_of_other_calls_with_it);
    tcase_add_test(tests, an_entity_that_a_manager_refuses_does_not_take_those_of_other_calls_with_it);
    tcase_add_test(tests, a_creation_that_a_manager_refuses_does_not_take_those_of_other_calls_with_it);
    tcase_add_test(tests, what_a_placeholder_of_this_step_becomes_is_not_known_before_it_is_made);
    tcase_add_test(tests, each_placeholder_among_the_values_of_one_call_becomes_its_entity);
    tcase_add_test(tests, a_step_that_grows_while_memory_lacks_writes_nowhere_else);
    tcase_add_test(tests, worlds_side_by_side_have_room_for_what_a_system_that_is_told_has_put_into_another);
    return suite;
}
