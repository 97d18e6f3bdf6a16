/* test_reload_report.c - reports of reloads, compared as a whole: the text for people, and the same as data.
 *
 * The time that a reload took is put out of the texts before.
 */
#include "../suites.h"
#include "../system/calls.h"
#include "reload_support.h"

#include "os/os.h"

#include <bp_look.h>
#include <stdlib.h>
#include <string.h>

#define LEAP (10 * UINT64_C(1000000000)) /* nanoseconds */

static scene_t scene;
static char told[8192]; /* what the callback was told last, without the time */
static uint32_t told_times;

/* Put T in the place of the digits behind each "pause ". */
static const char *without_time(const char *text, char *out, size_t size)
{
    const char *pause = strstr(text, "pause ");
    if (pause == NULL)
        snprintf(out, size, "%s", text);
    else
        snprintf(out, size, "%.*sT%s", (int)(pause + 6 - text), text, pause + 6 + strspn(pause + 6, "0123456789."));
    return out;
}

static void keep_told(void *data, const bp_reload_report_t *report)
{
    (void)data;
    ck_assert_uint_eq(report->struct_size, sizeof *report);
    without_time(report->text, told, sizeof told);
    told_times++;
}

static void begin(void)
{
    scene_open(&scene, PROBE_FIRST);
    WORKS(scene.host, bp_host_on_reload(scene.host, keep_told, NULL));
    WORKS(scene.host, bp_host_load_plugin(scene.host, put_plugin("told_first", "told"), NULL, 0));
    WORKS(scene.host, bp_world_use_component(scene.world, "told_fields"));
    for (uint32_t i = 0; i < 3; i++)
        entity_with(scene.world, "told_fields");
    told_times = 0;
}

static void end(void)
{
    reload_accept(&scene.host->reload);
    check_host(scene.host);
    scene_close(&scene);
}

/* Lines of both texts side by side, so that a difference is told by its line. */
static void expect_text(const char *text, const char *wanted)
{
    char line[2048], other[2048];
    for (uint32_t number = 1; strcmp(text, wanted) != 0; number++) {
        size_t length = strcspn(text, "\n"), wanted_length = strcspn(wanted, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        snprintf(other, sizeof other, "%.*s", (int)wanted_length, wanted);
        EXPECT(strcmp(line, other) == 0, "line %u: '%.900s' instead of '%.900s'", number, line, other);
        EXPECT(text[length] == wanted[wanted_length], "line %u is the last of one alone", number);
        text += length + 1;
        wanted += wanted_length + 1;
    }
}

/* The report, what the callback was told and what the look remembers are the same. */
static void expect_report(const bp_reload_report_t *report, const char *wanted)
{
    char text[8192], kept[2048];
    bp_look_reload_t look = {.struct_size = sizeof look};
    const bp_look_api *api = scene.api->registry->find(scene.host, BP_LOOK_API, 1);
    ck_assert_uint_eq(report->struct_size, sizeof *report);
    expect_text(without_time(report->text, text, sizeof text), wanted);
    ck_assert_str_eq(told, text);
    ck_assert_uint_eq(told_times, 1);
    for (uint32_t cursor = 0; api->reload(scene.host, &cursor, &look);)
        look.struct_size = sizeof look; /* the last one is the newest */
    ck_assert_int_eq(look.result, report->result);
    ck_assert_uint_eq(look.pause, report->pause);
    if (strlen(wanted) < 1400)
        expect_text(without_time(look.text, kept, sizeof kept), wanted);
    told_times = 0;
}

static bp_result_t reload_all(const char *const *names, uint32_t count, bool lossy, bp_reload_report_t *report)
{
    *report = (bp_reload_report_t){.struct_size = sizeof *report};
    return lossy ? bp_host_reload_lossy(scene.host, names, count, report)
                 : bp_host_reload(scene.host, names, count, report);
}

static void count_one(void *data, const char *name)
{
    *(uint32_t *)data += name[0] != '.'; /* the folder has a file that says whose it is */
}

/* Copies of files of plugins; what is not at work has none. */
static uint32_t count_copies(void)
{
    const copies_t *copies = &scene.host->loader.files;
    uint32_t count = 0;
    if (copies->folders[copies->place].path != NULL) /* made for the first copy */
        ck_assert(os_folder_list(copies->folders[copies->place].path, count_one, &count));
    return count;
}

#define HUNDRED "a hundred bytes of a default that is as long as a few lines of a book are, since texts may be long. "
#define LONG HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED

static const char told_text[] =
    "reloaded told 2.4 -> 2.5: pause T ms, 3 rows in 2 worlds\n"
    "  component told_fields, 3 instances\n"
    "    kept       kept, as_well, pairs\n"
    "    added      fresh (f32), with default 0.5\n"
    "    added      bare (string), with its type's default\n"
    "    renamed    new_name, which was old_name\n"
    "    converted  grows, from i32 to i64\n"
    "    converted  turned, from f32 to f64; it was called turns\n"
    "    converted  row, from array of 5 u8 to array of 3 u8; the last 2 of each are dropped\n"
    "    converted  longer, from array of 2 u8 to array of 3 u8\n"
    "    converted  many, from list of u16 to list of u32\n"
    "    converted  one, from f32 to list of f32\n"
    "    added      words (string), with default " LONG "\n"
    "    renamed    shown, which was hidden\n"
    "    converted  seen, from u8 to u16; it was called veiled\n"
    "    dropped    goes (vec3)\n"
    "    dropped    go_too (array of 4 u16)\n"
    "    dropped    go_all (list of name)\n"
    "    hidden     hides (f64); its values stay\n"
    "    hidden     hides_too (array of 2 u8); its values stay; the last 1 of each are dropped\n"
    "  component told_still, 0 instances: fields as they were\n"
    "  component told_before has gone\n"
    "  component told_after is new: worlds may bring it in\n"
    "  system told_goes has gone\n"
    "  system told_stays\n"
    "  system told_comes is new: worlds may bring it in";

static const bp_reload_field_t told_fields[] = {
    {"told_fields", "fresh", "", "0.5", BP_RELOAD_ADDED, BP_TYPE_NONE, BP_F32, 1, 1, 0},
    {"told_fields", "kept", "", "3", BP_RELOAD_KEPT, BP_F32, BP_F32, 1, 1, 0},
    {"told_fields", "bare", "", "", BP_RELOAD_ADDED, BP_TYPE_NONE, BP_STRING, 1, 1, 0},
    {"told_fields", "new_name", "old_name", "", BP_RELOAD_RENAMED, BP_F32, BP_F32, 1, 1, 0},
    {"told_fields", "grows", "", "", BP_RELOAD_CONVERTED, BP_I32, BP_I64, 1, 1, 0},
    {"told_fields", "turned", "turns", "", BP_RELOAD_CONVERTED, BP_F32, BP_F64, 1, 1, 0},
    {"told_fields", "as_well", "", "", BP_RELOAD_KEPT, BP_ENTITY, BP_ENTITY, 1, 1, 0},
    {"told_fields", "row", "", "", BP_RELOAD_CONVERTED, BP_U8, BP_U8, 5, 3, 2},
    {"told_fields", "longer", "", "", BP_RELOAD_CONVERTED, BP_U8, BP_U8, 2, 3, 0},
    {"told_fields", "many", "", "", BP_RELOAD_CONVERTED, BP_U16, BP_U32, 0, 0, 0},
    {"told_fields", "one", "", "", BP_RELOAD_CONVERTED, BP_F32, BP_F32, 1, 0, 0},
    {"told_fields", "pairs", "", "", BP_RELOAD_KEPT, BP_VEC2, BP_VEC2, 2, 2, 0},
    {"told_fields", "words", "", LONG, BP_RELOAD_ADDED, BP_TYPE_NONE, BP_STRING, 1, 1, 0},
    {"told_fields", "shown", "hidden", "", BP_RELOAD_RENAMED, BP_U8, BP_U8, 1, 1, 0},
    {"told_fields", "seen", "veiled", "", BP_RELOAD_CONVERTED, BP_U8, BP_U16, 1, 1, 0},
    {"told_fields", "goes", "", "", BP_RELOAD_DROPPED, BP_VEC3, BP_TYPE_NONE, 1, 1, 0},
    {"told_fields", "go_too", "", "", BP_RELOAD_DROPPED, BP_U16, BP_TYPE_NONE, 4, 1, 0},
    {"told_fields", "go_all", "", "", BP_RELOAD_DROPPED, BP_NAME, BP_TYPE_NONE, 0, 1, 0},
    {"told_fields", "hides", "", "", BP_RELOAD_HIDDEN, BP_F32, BP_F64, 1, 1, 0},
    {"told_fields", "hides_too", "", "", BP_RELOAD_HIDDEN, BP_U8, BP_U8, 3, 2, 1},
    {"told_still", "number", "", "", BP_RELOAD_KEPT, BP_U32, BP_U32, 1, 1, 0},
};

static void expect_fields(const bp_reload_report_t *report, const bp_reload_field_t *wanted, uint32_t count)
{
    ck_assert_uint_eq(report->field_count, count);
    ck_assert_uint_eq(report->field_size, sizeof *wanted);
    for (uint32_t i = 0; i < count; i++) {
        const bp_reload_field_t *f = &report->fields[i], *w = &wanted[i];
        EXPECT(strcmp(f->component, w->component) == 0 && strcmp(f->field, w->field) == 0, "%u: %s of %s", i, f->field,
               f->component);
        EXPECT(strcmp(f->former, w->former) == 0 && strcmp(f->initial, w->initial) == 0, "%s: '%s', '%s'", f->field,
               f->former, f->initial);
        EXPECT(f->what == w->what && f->old_type == w->old_type && f->new_type == w->new_type, "%s: %u, %u to %u",
               f->field, f->what, f->old_type, f->new_type);
        EXPECT(f->old_count == w->old_count && f->new_count == w->new_count && f->lost == w->lost, "%s: %u to %u, %u",
               f->field, f->old_count, f->new_count, f->lost);
    }
}

START_TEST(what_becomes_of_every_field_component_and_system_is_told_in_words_and_as_data)
{
    static const char *const names[] = {"told"};
    bp_reload_report_t report;
    put_plugin("told_next", "told");
    WORKS(scene.host, reload_all(names, 1, false, &report));
    expect_report(&report, told_text);
    uint32_t copies = count_copies();
    ck_assert_int_eq(report.result, BP_OK);
    ck_assert(report.rows == 3 && report.worlds == 2 && report.pause > 0);
    expect_fields(&report, told_fields, COUNT(told_fields));
    put_plugin("told_next", "told");
    WORKS(scene.host, reload_all(names, 1, false, &report));
    expect_report(&report, "reloaded told 2.5 -> 2.5: pause T ms, 3 rows in 2 worlds\n"
                           "  component told_fields, 3 instances: fields as they were\n"
                           "  component told_still, 0 instances: fields as they were\n"
                           "  component told_after, 0 instances: fields as they were\n"
                           "  system told_stays\n"
                           "  system told_comes");
    ck_assert_uint_eq(count_copies(), copies);
}
END_TEST

/* Each allocation that fails while the report is made refuses the reload, and the report before stays readable. */
START_TEST(a_report_for_which_there_is_no_memory_refuses_the_reload)
{
    static const char *const names[] = {"told"};
    bp_reload_report_t report;
    uint32_t of_reports = 0;
    put_plugin("told_next", "told");
    for (uint64_t request = 1;; request++) {
        scene.rig.heap.refuse_first = scene.rig.heap.refuse_last = scene.rig.heap.requests + request;
        scene.rig.heap.refused = 0;
        bp_result_t result = reload_all(names, 1, false, &report);
        scene.rig.heap.refuse_first = scene.rig.heap.refuse_last = 0;
        if (result == BP_OK)
            break;
        scene_clear_log(&scene);
        ck_assert_uint_gt(scene.rig.heap.refused, 0);
        of_reports += strcmp(bp_host_error(scene.host), "out of memory while reporting a reload") == 0;
        told_times = 0;
    }
    ck_assert_uint_gt(of_reports, 4);
    expect_report(&report, told_text);
}
END_TEST

START_TEST(a_refusal_names_what_was_to_be_reloaded_and_why_nothing_has_changed)
{
    static const char *const names[] = {"told", "nonesuch"};
    bp_reload_report_t report;
    uint32_t copies = count_copies();
    FAILS(scene.host, BP_ERROR_NOT_FOUND, "", reload_all(names, 2, false, &report));
    expect_report(&report, "not reloaded: told nonesuch (pause T ms); nothing has changed\n"
                           "  no plugin 'nonesuch' is loaded");
    ck_assert(report.result == BP_ERROR_NOT_FOUND && report.field_count == 0 && report.fields == NULL);
    ck_assert(report.rows == 0 && report.worlds == 0);
    FAILS(scene.host, BP_ERROR_ARGUMENT, "", reload_all((const char *const[]){"told", "told"}, 2, false, &report));
    expect_report(&report, "not reloaded: told told (pause T ms); nothing has changed\n"
                           "  plugin 'told' is named twice");
    FAILS(scene.host, BP_ERROR_ARGUMENT, "", reload_all(names, 0, false, &report));
    expect_report(&report, "not reloaded: (pause T ms); nothing has changed\n  0 plugins to reload; name 1 to 64");
    ck_assert_uint_eq(count_copies(), copies);
    scene_clear_log(&scene);
}
END_TEST

START_TEST(several_plugins_are_told_each_with_its_versions)
{
    static const char *const names[] = {"told", "mourner"};
    bp_reload_report_t report;
    WORKS(scene.host, bp_host_load_plugin(scene.host, put_plugin("mourner_first", "mourner"), NULL, 0));
    put_plugin("mourner_next", "mourner");
    WORKS(scene.host, reload_all(names, 2, false, &report));
    expect_report(&report, "reloaded told mourner: pause T ms, 3 rows in 2 worlds\n"
                           "  plugin told: 2.4 -> 2.4\n"
                           "  component told_fields, 3 instances: fields as they were\n"
                           "  component told_still, 0 instances: fields as they were\n"
                           "  component told_before, 0 instances: fields as they were\n"
                           "  system told_goes\n"
                           "  system told_stays\n"
                           "  plugin mourner: 1 -> 2\n"
                           "  component mourner, 0 instances: fields as they were");
}
END_TEST

START_TEST(a_version_that_is_taken_back_is_told)
{
    static const char *const names[] = {"told"};
    bp_reload_report_t report;
    put_plugin("told_next", "told");
    scene.host->reload.probation_steps = 5;
    WORKS(scene.host, reload_all(names, 1, false, &report));
    EXPECT(strstr(told, "2.4 -> 2.5: pause T ms, 3 rows in 2 worlds, on probation\n") != NULL, "%s", told);
    told_times = 0;
    WORKS(scene.host, reload_rollback(&scene.host->reload));
    expect_report(&scene.host->reload.last, "taken back: told (2.4 is at work again, instead of 2.5)");
    ck_assert_int_eq(scene.host->reload.last.result, BP_ERROR_FAILED);
    scene_clear_log(&scene);
}
END_TEST

/* Storage of its own, whose values would be lost. */
START_TEST(values_that_are_lost_are_told_where_they_may_be)
{
    static const char *const names[] = {"forgetful"};
    const float level = 3;
    bp_entity_t e[2];
    char text[512], who[2][32];
    bp_reload_report_t report;
    WORKS(scene.host, bp_host_load_plugin(scene.host, put_plugin("forgetful", "forgetful"), NULL, 0));
    WORKS(scene.host, bp_world_use_component(scene.world, "forgetful"));
    for (uint32_t i = 0; i < 2; i++) {
        e[i] = entity_with(scene.world, "forgetful");
        WORKS(scene.host, scene.api->property->set_named(scene.world, e[i], "forgetful", "level", BP_F32, &level));
        value_format(&scene.host->base.values, BP_ENTITY, &e[i], who[i], sizeof who[i]);
    }
    WORKS(scene.host, scene.api->property->set_named(scene.world, e[1], "forgetful", "depth", BP_F32, &level));
    FAILS(scene.host, BP_ERROR_FAILED, "", reload_all(names, 1, false, &report));
    snprintf(text, sizeof text,
             "not reloaded: forgetful (pause T ms); nothing has changed\n"
             "  component 'forgetful', world 'main': it would lose level of 2 entities (the first is %s: 3 before, 0 "
             "after), and 1 more property, though it was given the values: `create` keeps those of its columns, and "
             "`set` all that it takes; or let it go with `reload forgetful --lossy`",
             who[0]);
    expect_report(&report, text);
    scene_clear_log(&scene);
    WORKS(scene.host, reload_all(names, 1, true, &report));
    snprintf(text, sizeof text,
             "reloaded forgetful 1.0 -> 1.0: pause T ms, 2 rows in 2 worlds\n"
             "  component forgetful, 2 instances: the same fields; carried over by properties\n"
             "    lost       level of 2 entities (the first is %s: 3 before, 0 after), in world main\n"
             "    lost       depth of 1 entity (%s: 3 before, 0 after), in world main",
             who[0], who[1]);
    expect_report(&report, text);
    static const bp_reload_field_t fields[] = {
        {"forgetful", "level", "", "", BP_RELOAD_KEPT, BP_F32, BP_F32, 1, 1, 0},
        {"forgetful", "depth", "", "", BP_RELOAD_KEPT, BP_F32, BP_F32, 1, 1, 0},
        {"forgetful", "level", "", "", BP_RELOAD_LOST, BP_F32, BP_F32, 1, 1, 2},
        {"forgetful", "depth", "", "", BP_RELOAD_LOST, BP_F32, BP_F32, 1, 1, 1},
    };
    expect_fields(&report, fields, COUNT(fields));
}
END_TEST

/* In which way instances have come to the new version. */
START_TEST(how_instances_have_gone_over_is_told)
{
    static const struct {
        int version;
        const char *how;
    } ways[] = {
        {PROBE_FASTER, "fields as they were"},
        {PROBE_OWN, "carried over by properties"},
        {PROBE_OWN_SAVED, ": fields as they were; carried over by properties"},
        {PROBE_OWN_SAVED, ": fields as they were; saved by the old code and loaded by the new"},
        {PROBE_OWN_KEPT, ": fields as they were; carried over by properties"},
        {PROBE_OWN_KEPT, ": fields as they were; its state went over as it is"},
        {PROBE_FIRST, "; carried over by properties"},
    };
    static const char *const names[] = {"probe"};
    for (uint32_t i = 0; i < COUNT(ways); i++) {
        bp_reload_report_t report;
        put_plugin(probe_fixture(ways[i].version), "probe");
        WORKS(scene.host, reload_all(names, 1, false, &report));
        const char *line = strstr(report.text, "component probe, ");
        EXPECT(line != NULL, "%s", report.text);
        size_t length = strcspn(line, "\n"), wanted = strlen(ways[i].how);
        EXPECT(length > wanted && strncmp(line + length - wanted, ways[i].how, wanted) == 0, "%u: '%.*s'", i,
               (int)length, line);
        ck_assert_uint_eq(told_times, i + 1);
    }
    scene_clear_log(&scene);
}
END_TEST

#ifndef _WIN32
/* Before each call of the system the clock goes ahead, so that all parts of a reload take far longer than the host. */
static void let_time_go(void *data, const char *call, bool change)
{
    uint32_t *times = data;
    (void)call, (void)change;
    calls_clock_leaps(LEAP);
    ++*times;
}

START_TEST(the_pause_that_is_told_is_all_the_time_that_the_worlds_stood_still)
{
    uint32_t times = 0;
    bp_reload_report_t report = {.struct_size = sizeof report};
    put_plugin("told_next", "told");
    calls_begin(0, false);
    calls_before_each(let_time_go, &times);
    WORKS(scene.host, bp_host_reload(scene.host, (const char *const[]){"told"}, 1, &report));
    calls_end();
    ck_assert_uint_gt(times, 3);
    ck_assert_uint_eq(report.pause / LEAP, times);
    scene_clear_log(&scene);
}
END_TEST
#endif

Suite *reload_report_suite(void)
{
    Suite *suite = suite_create("reload_report");
    TCase *tests = add_case(suite, "reports", begin, end, 30);
    tcase_add_test(tests, what_becomes_of_every_field_component_and_system_is_told_in_words_and_as_data);
    tcase_add_test(tests, a_report_for_which_there_is_no_memory_refuses_the_reload);
    tcase_add_test(tests, a_refusal_names_what_was_to_be_reloaded_and_why_nothing_has_changed);
    tcase_add_test(tests, several_plugins_are_told_each_with_its_versions);
    tcase_add_test(tests, a_version_that_is_taken_back_is_told);
    tcase_add_test(tests, values_that_are_lost_are_told_where_they_may_be);
    tcase_add_test(tests, how_instances_have_gone_over_is_told);
#ifndef _WIN32
    tcase_add_test(tests, the_pause_that_is_told_is_all_the_time_that_the_worlds_stood_still);
#endif
    return suite;
}
