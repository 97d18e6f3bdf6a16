/* test_behind.c - a new version that writes behind the last row of a column, before the first one, or to a column that
 * it may not write, is found out on trial, whichever of its verbs does so, and refused; the rows of the host are what
 * they were. One that writes as it may comes in.
 *
 * The plugin is tests/fixtures/crasher.h: told to, it looks its component's rows up as any plugin may, and writes there
 * or beside. Of rows that several calls are handed, range by range, tests/fixtures/ranges.h writes those of another
 * call.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "reload_support.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 100 /* more than the trial destroys */, BEFORE = 3 /* steps before the trial */, DEADLINE_MS = 20000 };

static const char *const names[] = {"companion", "crasher"}; /* what is on trial: the second one does harm */
static log_text_t log_text;
static bp_host_o *host;
static bp_world_o *world;
static bool makes_more;
static uint32_t crowd;   /* so many worlds with rows of crash_plain are there first */
static bool is_wide; /* the rows have so many columns that each of them cannot get pages of its own */
static uint32_t plain; /* the prototype of crash_plain */

/* Each verb, and how its call is named in what is told. Not `unload`, and not `stop` of the component itself: its rows
 * have gone by then. */
static const char *const verbs[][2] = {
    {"simulate", "'simulate' of component 'crash_plain'"},
    {"second_step", "'simulate' of component 'crash_plain'"},
    {"run_all", "'run_all' of system 'crash_system'"},
    {"plain_start", "'start' of component 'crash_plain'"},
    {"system_start", "'start' of system 'crash_system'"},
    {"load", "'load'"},
    {"create", "'create' of component 'crash_own'"},
    {"destroy", "'destroy' of component 'crash_own'"},
    {"get", "'get' of component 'crash_own'"},
    {"set", "'set' of component 'crash_own'"},
    {"count", "'count' of component 'crash_own'"},
    {"save", "'save' of component 'crash_own'"},
    {"load_saved", "'load' of component 'crash_own'"},
    {"system_save", "'save' of system 'crash_system'"},
    {"system_load", "'load' of system 'crash_system'"},
    {"rewound", "'rewound' of system 'crash_system'"},
    {"rows_added", "'rows_added' of component 'crash_told'"},
    {"rows_set", "'rows_set' of component 'crash_told'"},
    {"rows_removed", "'rows_removed' of component 'crash_told'"},
    {"added", "'entities_added' of system 'crash_system'"},
    {"removed", "'entities_removed' of system 'crash_system'"},
    {"died", "'died' of component 'crash_plain'"},
    {"report", "'report' of component 'crash_plain'"},
    {"own_stop", "'stop' of component 'crash_own'"},
};

static void make(const char *type, uint32_t count)
{
    static const char *const names_of_wide[] = {"", "a", "b", "c", "d"};
    bp_entity_t entities[ROWS];
    uint32_t keys[1 + COUNT(names_of_wide)] = {key_of(world, type, "")}, prototype;
    for (uint32_t i = 0; i < COUNT(names_of_wide) && is_wide; i++)
        keys[1 + i] = key_of(world, "wide", names_of_wide[i]);
    WORKS(host, bp_host_api(host)->world->prototype(world, keys, is_wide ? COUNT(keys) : 1, &prototype));
    WORKS(host, bp_host_api(host)->world->create(world, prototype, entities, count));
}

/* A plugin of the test's own: in the first step of a trial its system makes so many more rows that those that are there
 * move. */
static void make_more(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    bp_entity_t entities[4 * ROWS];
    (void)matches, (void)count;
    if (step->number == BEFORE && s->api->command->create(step->commands, plain, entities, 4 * ROWS) != BP_OK)
        abort();
}

static const bp_system_i more_systems[] = {{.name = "make_more", .run_all = make_more}};
static const bp_plugin_head_t more = BP_PLUGIN_HEAD(
    "more", (&(const bp_plugin_desc_t){.version = "1", .systems = BP_LIST(more_systems)}));
static const bp_plugin_head_t *linked[] = {&more};

static void open_host(void)
{
    unsetenv("CRASHER_WHERE");
    host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log_text),
                                            .static_plugins = linked,
                                            .static_plugin_count = COUNT(linked),
                                            .tag = 1,
                                            .flags = BP_HOST_CRASH_GUARD | BP_HOST_COPY_PLUGINS | BP_HOST_TRIAL,
                                            .trial_deadline = DEADLINE_MS});
    WORKS(host, bp_host_load_plugin(host, put_plugin("companion", "beside"), NULL, 0));
    WORKS(host, bp_host_load_plugin(host, put_plugin("crasher", "behind"), NULL, 0));
    for (uint32_t i = 0; i < crowd; i++) {
        char name[16];
        snprintf(name, sizeof name, "crowd%u", i);
        world = bp_world_create(host, &(bp_world_desc_t){.name = name, .step_rate = 1});
        WORKS(host, bp_world_use_component(world, "crash_plain"));
        make("crash_plain", ROWS);
    }
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    WORKS(host, bp_world_use_component(world, "crash_plain"));
    WORKS(host, bp_world_use_component(world, "crash_told"));
    WORKS(host, bp_world_use_component(world, "crash_own"));
    WORKS(host, bp_world_use_system(world, "crash_system"));
    if (makes_more) {
        WORKS(host, bp_host_load_plugin(host, "more", NULL, 0));
        WORKS(host, bp_world_use_system(world, "make_more"));
    }
    if (is_wide) {
        WORKS(host, bp_host_load_plugin(host, put_plugin("wide_first", "wide"), NULL, 0));
        WORKS(host, bp_world_use_component(world, "wide"));
    }
    plain = prototype_of(world, "crash_plain", NULL, NULL, NULL);
    make("crash_plain", ROWS);
    make("crash_told", 4);
    make("crash_own", 4);
    for (int i = 0; i < BEFORE; i++)
        WORKS(host, bp_host_step(host));
}

/* Have the new version write in one of its verbs, and expect a refusal that says what. */
static void expect_refusal(const char *const verb[2], const char *how, const char *const said[2])
{
    char named[200];
    open_host();
    char *before = describe_host(host);
    setenv("CRASHER_WHERE", verb[0], 1);
    setenv("CRASHER_HOW", how, 1);
    put_plugin("crasher_next", "behind");
    bp_result_t result = bp_host_reload(host, names, COUNT(names), NULL);
    EXPECT(result != BP_OK, "'%s' writes %s, and it came in", verb[0], how);
    snprintf(named, sizeof named, "did harm in %s", verb[1]);
    EXPECT(strstr(bp_host_error(host), named) != NULL && strstr(bp_host_error(host), said[0]) != NULL &&
               strstr(bp_host_error(host), said[1]) != NULL,
           "%s, %s: %s", verb[0], how, bp_host_error(host));
    char *after = describe_host(host);
    ck_assert_str_eq(before, after);
    check_host(host);
}

START_TEST(a_verb_that_writes_one_past_a_column_is_found_on_trial_and_refused)
{
    expect_refusal(verbs[_i], "behind",
                   (const char *const[]){"it wrote behind the last of ", "of the column 'x' of 'crash_plain'"});
    unsetenv("CRASHER_WHERE");
    put_plugin("crasher_next", "behind");
    WORKS(host, bp_host_reload(host, names, COUNT(names), NULL));
    WORKS(host, bp_host_step(host));
    check_host(host);
    bp_host_destroy(host);
}
END_TEST

/* What is said of each way. */
static const char *const ways[][3] = {
    {"far_behind", "it wrote behind the last of %u rows, to row 20%u ", "of the column 'x' of 'crash_plain'"},
    {"before", "it wrote before the first of %u rows, 4 bytes before ", "of the column 'x' of 'crash_plain'"},
    {"far_before", "it wrote before the first of %u rows, 80000 bytes before ", "of the column 'x' of 'crash_plain'"},
    {"undeclared", "it wrote to row 0 of %u of the column 'x' of 'crash_plain', ", "has not declared to write"},
    {"entity", "it wrote to row 0 of %u of the column of the entities, ", "which no plugin may write"},
};

/* Verbs with different rights: how many of the ways are wrong there, and how many rows there are by then. */
static const struct { const char *verb[2]; uint32_t wrong, rows; } writers[] = {
    {{"simulate", "'simulate' of component 'crash_plain'"}, 3, ROWS}, /* it may write its own rows */
    {{"run_all", "'run_all' of system 'crash_system'"}, COUNT(ways), ROWS},
    {{"system_start", "'start' of system 'crash_system'"}, COUNT(ways), ROWS},
    {{"create", "'create' of component 'crash_own'"}, COUNT(ways), ROWS},
    {{"count", "'count' of component 'crash_own'"}, COUNT(ways), ROWS},
    {{"rows_set", "'rows_set' of component 'crash_told'"}, COUNT(ways), ROWS + 4},
    {{"report", "'report' of component 'crash_plain'"}, COUNT(ways), ROWS + 4},
};

START_TEST(writes_far_from_a_column_and_to_columns_of_others_are_found_on_trial)
{
    for (uint32_t way = 0; way < writers[_i].wrong; way++) {
        char said[120];
        snprintf(said, sizeof said, ways[way][1], writers[_i].rows, writers[_i].rows);
        expect_refusal(writers[_i].verb, ways[way][0], (const char *const[]){said, ways[way][2]});
        bp_host_destroy(host);
    }
}
END_TEST

/* The room behind such columns is looked at. */
START_TEST(a_write_behind_rows_of_very_many_columns_is_found_on_trial)
{
    static const char *const said[] = {"it wrote behind the last of 100 rows, to row 100 of ",
                                       "of the column 'x' of 'crash_plain'"};
    is_wide = true;
    for (uint32_t verb = 0; verb < 3; verb++) {
        expect_refusal(verbs[verb], "behind", said);
        bp_host_destroy(host);
    }
}
END_TEST

/* Verbs that are called for the first time when a trial has called `simulate` of all those worlds several times, and
 * looks at some calls only by then. */
START_TEST(in_a_host_of_many_worlds_harm_in_a_verb_that_is_called_late_is_found_on_trial)
{
    static const char *const said[] = {"it wrote behind the last of ", "of the column 'x' of 'crash_plain'"};
    static const char *const late[][2] = {{"count", "'count' of component 'crash_own'"},
                                          {"own_stop", "'stop' of component 'crash_own'"}};
    crowd = 300;
    for (uint32_t verb = 0; verb < COUNT(late); verb++) {
        expect_refusal(late[verb], "behind", said);
        bp_host_destroy(host);
    }
}
END_TEST

START_TEST(a_write_beside_rows_that_have_moved_in_a_step_of_the_trial_is_found)
{
    static const char *const second[2] = {"fifth_step", "'simulate' of component 'crash_plain'"};
    char said[120];
    makes_more = true;
    for (uint32_t way = 0; way < 3; way++) {
        snprintf(said, sizeof said, ways[way][1], 5 * ROWS, 5 * ROWS);
        expect_refusal(second, ways[way][0], (const char *const[]){said, ways[way][2]});
        bp_host_destroy(host);
    }
}
END_TEST

/* The verb before it has made a row more. */
START_TEST(a_write_to_rows_that_have_moved_in_a_verb_of_the_trial_is_found_in_the_next_one)
{
    static const char *const report[2] = {"report", "'report' of component 'crash_plain'"};
    const uint32_t rows = ROWS + 4 + 1;
    char said[120];
    setenv("CRASHER_MAKES", "one", 1);
    for (uint32_t way = 3; way < COUNT(ways); way++) {
        snprintf(said, sizeof said, ways[way][1], rows, rows);
        expect_refusal(report, ways[way][0], (const char *const[]){said, ways[way][2]});
        bp_host_destroy(host);
    }
}
END_TEST

START_TEST(a_version_that_writes_what_it_may_write_comes_in)
{
    static const char *const free_to[] = {"simulate", "run_all", "report"};
    open_host();
    setenv("CRASHER_WHERE", free_to[_i], 1);
    setenv("CRASHER_HOW", "rightly", 1);
    put_plugin("crasher_next", "behind");
    WORKS(host, bp_host_reload(host, names, COUNT(names), NULL));
    WORKS(host, bp_host_step(host));
    check_host(host);
    bp_host_destroy(host);
}
END_TEST

/* --- rows beside those that a call was handed --------------------------------------------------------------------- */

enum { STRIP = 2048 /* rows, in four ranges */ };

static void open_ranges(void)
{
    static bp_entity_t entities[STRIP];
    static float numbers[STRIP];
    bp_property_t y;
    unsetenv("RANGES_BESIDE");
    host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log_text),
                                            .tag = 1,
                                            .flags = BP_HOST_CRASH_GUARD | BP_HOST_COPY_PLUGINS | BP_HOST_TRIAL,
                                            .trial_deadline = DEADLINE_MS});
    WORKS(host, bp_host_load_plugin(host, put_plugin("ranges_first", "ranges"), NULL, 0));
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    WORKS(host, bp_world_use_component(world, "strip"));
    WORKS(host, bp_world_use_system(world, "stripes"));
    const bp_api_t *api = bp_host_api(host);
    WORKS(host, api->world->create(world, prototype_of(world, "strip", NULL, NULL, NULL), entities, STRIP));
    for (uint32_t i = 0; i < STRIP; i++)
        numbers[i] = (float)i;
    WORKS(host, api->property->resolve(world, (bp_entity_t){0}, "strip", "y", &y));
    WORKS(host, api->property->set(world, &y, entities, STRIP, numbers, sizeof numbers[0]));
    WORKS(host, bp_host_step(host));
}

/* Who writes, how its call is named, and what is said: of the first row that is found. */
static const char *const strides[][3] = {
    {"component", "'simulate' of component 'strip'", "it wrote to row 511 of the column 'x' of 'strip', and was handed "
                                                     "rows 512 to 1023"},
    {"component_behind", "'simulate' of component 'strip'", "it wrote to row 512 of the column 'x' of 'strip', and was "
                                                            "handed rows 0 to 511"},
    {"system", "'run' of system 'stripes'", "it wrote to row 511 of the column 'x' of 'strip', and was handed rows 512 "
                                            "to 1023"},
    {"system_behind", "'run' of system 'stripes'", "it wrote to row 512 of the column 'x' of 'strip', and was handed "
                                                   "rows 0 to 511"},
};

START_TEST(a_write_to_rows_of_another_range_is_found_on_trial_and_refused)
{
    static const char *const plugin[] = {"ranges"};
    open_ranges();
    char *before = describe_host(host);
    setenv("RANGES_BESIDE", strides[_i][0], 1);
    put_plugin("ranges_next", "ranges");
    bp_result_t result = bp_host_reload(host, plugin, 1, NULL);
    EXPECT(result != BP_OK, "%s writes beside its rows, and it came in", strides[_i][0]);
    EXPECT(strstr(bp_host_error(host), strides[_i][1]) != NULL && strstr(bp_host_error(host), strides[_i][2]) != NULL,
           "%s: %s", strides[_i][0], bp_host_error(host));
    ck_assert_str_eq(before, describe_host(host));
    unsetenv("RANGES_BESIDE");
    WORKS(host, bp_host_reload(host, plugin, 1, NULL));
    WORKS(host, bp_host_step(host));
    check_host(host);
    bp_host_destroy(host);
}
END_TEST

Suite *behind_suite(void)
{
    Suite *suite = suite_create("behind");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, a_verb_that_writes_one_past_a_column_is_found_on_trial_and_refused, 0, COUNT(verbs));
    tcase_add_loop_test(all, writes_far_from_a_column_and_to_columns_of_others_are_found_on_trial, 0, COUNT(writers));
    tcase_add_test(all, a_write_behind_rows_of_very_many_columns_is_found_on_trial);
    tcase_add_test(all, in_a_host_of_many_worlds_harm_in_a_verb_that_is_called_late_is_found_on_trial);
    tcase_add_test(all, a_write_beside_rows_that_have_moved_in_a_step_of_the_trial_is_found);
    tcase_add_test(all, a_write_to_rows_that_have_moved_in_a_verb_of_the_trial_is_found_in_the_next_one);
    tcase_add_loop_test(all, a_version_that_writes_what_it_may_write_comes_in, 0, 3);
    tcase_add_loop_test(all, a_write_to_rows_of_another_range_is_found_on_trial_and_refused, 0, COUNT(strides));
    suite_add_tcase(suite, all);
    return suite;
}
