/* test_conformance.c - every check of host/conformance/conformance.h over every component of every plugin that is
 * built.
 *
 * A test case for each component, so that a failure names it; the checks are the rounds of a loop. Which
 * components there are is found by loading the plugins, when the suite is put together. Fixtures that bring
 * components of every kind run too, and keeper.c once more for each rule that it can break: there the complaint
 * of the check that is there for it is demanded.
 *
 * With BACKPLANE_CONFORMANCE in the environment only the plugin that it names is checked (README.md).
 */
#include "../suites.h"
#include "conformance/conformance.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUBJECTS_MAX = 256, COMPONENTS_MAX = 64 };

/* Known when the suite is put together, read by the tests. */
static conformance_subject_t subjects[SUBJECTS_MAX];
static uint32_t subject_count;
static char troubles[SUBJECTS_MAX][CONFORMANCE_TEXT + 1100];
static uint32_t trouble_count;

static const char keeper_file[] = TEST_FIXTURE_DIR "/keeper";

/* --- tests ----------------------------------------------------------------------------------------- */

/* The round is the number of subject and check in one. */
START_TEST(a_component_does_what_every_component_must)
{
    char complaint[CONFORMANCE_TEXT];
    const conformance_subject_t *subject = &subjects[(uint32_t)_i / conformance_check_count];
    const conformance_check_t *check = &conformance_checks[(uint32_t)_i % conformance_check_count];
    bool good = conformance_run(subject, check, complaint);
    ck_assert_msg(good, "component '%s' of %s: %s: %s", subject->component, subject->plugin, check->name,
                  complaint);
}
END_TEST

START_TEST(a_plugin_can_be_loaded)
{
    ck_abort_msg("%s", troubles[_i]);
}
END_TEST

START_TEST(components_are_found_in_the_plugins)
{
    ck_assert_uint_gt(subject_count, 0);
}
END_TEST

/* The faults of keeper.c in order, from 1 on: the check that is there for it, and words of its complaint. */
static const struct {
    const char *check, *words;
} faults[] = {
    {"begins with the declared defaults", "just created: 'share' is 0 instead of 0.5"},
    {"begins with the declared defaults", "removed and added again: 'number' is"},
    {"adds and removes", "leak: keeper: "},
    {"stops with living instances", "leak: keeper: "},
    {"survives a lack of memory", "leak: keeper: 64 bytes"},
    {"stops with living instances", "memory was given back with another size than it was taken with"},
    {"never mixes entities up", "after random operations: 'number' is"},
    {"gives back what was set in batches", "after setting a batch, value 1 of 2: 'number' is"},
    {"gives back what was set in batches", "get of 'number' writes between the values"},
    {"gives back what was set in batches", "after a batch that was refused, value 0 of"},
    {"survives a lack of memory", "fails in an add (result 0): 601 instances instead of 600"},
    {"gives back what was set", "after setting one property: 'share' is 0.125"},
    {"gives back what was set as text", "by way of its text: 'text' is"},
    {"creates by count", "two instances have slot 1"},
    {"keeps worlds apart", "200 instances in the second world"},
    {"collects the dead in time", "half of them dead: 600 instances are left for"},
    {"collects the dead in time", "instances for 294 living entities"},
    {"creates by count", "after creating: 2 instances instead of 1"},
    {"loads what it saves", "69 instances were loaded, 70 were saved"},
    {"loads what it saves", "after save and load \"\""},
    {"gives back what was set in batches", "set one by one instead of in a batch: 'twice' is"},
    {"survives a lack of memory", "a create that fails leaves no sentence"},
    {"creates with values as by create and set", "created with values 'number' is 5, created and set"},
    {"gives back what was set", "after setting one property: 'label' is 0 instead of"},
    {"gives back what was set as text", "by way of its text: 'text' is"},
    {"keeps arrays and lists", "after setting all: 'grid[11]' is 0 instead of"},
    {"begins with the declared defaults", "just created: 'grid[11]' is 1 instead of 0"},
    {"creates with values as by create and set", "array 'grid' has other values"},
    {"loads what it saves", "after save and load array 'grid' has other values"},
    {"loads what it saves", "save succeeds without memory"},
    {"loads what it saves", "a load that failed leaves"},
    {"creates with values as by create and set", "creating with values failed and left 70"},
    {"steps alike on any number of threads", "'twice' cannot be read: error 13: keeper: the double cannot be told"},
    {"never mixes entities up", "setting a batch fails with 13 and without a sentence"},
    {"collects the dead in time", "after collection: the companion of an entity has tag 1000"},
    {"stops with living instances", "after another world ended: 50 of 150 entities have it instead of 120"},
};
enum { FAULTS = sizeof faults / sizeof faults[0] };

START_TEST(a_component_that_breaks_a_rule_is_complained_about)
{
    conformance_subject_t subject = {.component = "keeper"};
    char complaint[CONFORMANCE_TEXT] = "";
    snprintf(subject.plugin, sizeof subject.plugin, "%s", keeper_file);
    snprintf(subject.options, sizeof subject.options, "fault=%d", _i);
    for (uint32_t i = 0; i < conformance_check_count; i++) {
        if (strcmp(conformance_checks[i].name, faults[_i - 1].check) == 0)
            conformance_run(&subject, &conformance_checks[i], complaint);
    }
    ck_assert_msg(strstr(complaint, faults[_i - 1].words) != NULL, "fault %d of keeper.c: %s: '%s'", _i,
                  faults[_i - 1].check, complaint);
}
END_TEST

START_TEST(there_is_no_fault_that_is_not_tried)
{
    conformance_subject_t subject = {.component = "keeper"};
    char complaint[CONFORMANCE_TEXT];
    snprintf(subject.plugin, sizeof subject.plugin, "%s", keeper_file);
    snprintf(subject.options, sizeof subject.options, "fault=%d", FAULTS + 1);
    ck_assert(!conformance_run(&subject, &conformance_checks[0], complaint));
    ck_assert_msg(strstr(complaint, "range") != NULL, "%s", complaint);
}
END_TEST

/* What random values a component is tried with: texts in UTF-8, some with letters of two bytes, and all names. */
START_TEST(a_component_is_tried_with_whole_letters_and_with_various_names)
{
    conformance_t c = {.host = NULL};
    const conformance_property_t text = {.declared = {.type = BP_STRING}}, name = {.declared = {.type = BP_NAME}};
    conformance_value_t value;
    uint32_t wide = 0, named[CONFORMANCE_LABELS + 1] = {0};
    for (uint32_t i = 0; i < CONFORMANCE_LABELS; i++)
        c.labels[i] = i + 1;
    for (uint64_t seed = 1; seed < 300; seed++) {
        conformance_value(&c, &text, seed, &value);
        for (const char *at = value.value.string; *at != '\0'; at++) {
            if (*at >= ' ' && *at <= '~')
                continue;
            ck_assert_msg(at[0] == '\303' && (unsigned char)at[1] >= 0200 && (unsigned char)at[1] < 0300,
                          "seed %u: '%s'", (unsigned)seed, value.value.string);
            at++;
            wide++;
        }
        conformance_value(&c, &name, seed, &value);
        ck_assert_uint_le(value.value.name, CONFORMANCE_LABELS);
        named[value.value.name]++;
    }
    ck_assert_uint_gt(wide, 0);
    for (uint32_t i = 1; i <= CONFORMANCE_LABELS; i++)
        ck_assert_uint_gt(named[i], 0);
}
END_TEST

/* Values of each type: a default as its declaration writes it, another one, and the first in a complaint. */
START_TEST(a_value_of_each_type_is_understood_compared_and_shown)
{
    static const struct {
        uint32_t type;
        const char *text, *other, *shown;
    } cases[] = {
        {BP_BOOL, "true", "false", "1"},
        {BP_BOOL, "on", "off", "1"},
        {BP_BOOL, "yes", "no", "1"},
        {BP_BOOL, "1", "0", "1"},
        {BP_I8, "-128", "127", "-128"},
        {BP_U8, "0xff", "254", "255"},
        {BP_I16, "-32768", "1", "-32768"},
        {BP_U16, "65535", "1", "65535"},
        {BP_I32, "-2147483648", "1", "-2147483648"},
        {BP_U32, "4294967295", "1", "4294967295"},
        {BP_I64, "-9223372036854775808", "1", "-9223372036854775808"},
        {BP_U64, "18446744073709551615", "1", "18446744073709551615"},
        {BP_F32, "0.5", "0.25", "0.5"},
        {BP_F64, "-1e300", "1", "-1.0000000000000001e+300"},
        {BP_VEC2, "1 2", "1 3", "1 2"},
        {BP_VEC3, "1 2", "1 2 3", "1 2 0"},
        {BP_DVEC3, "1 -2 0.5", "1 2 0.5", "1 -2 0.5"},
        {BP_DVEC4, "1 2", "1 2 0 1", "1 2 0 0"},
        {BP_COLOUR, "#f00", "#f0f", "1 0 0 1"},
        {BP_COLOUR, "#00ff0000", "#0f0", "0 1 0 0"},
        {BP_COLOUR, "1 0.5 0 1", "1 0 0 1", "1 0.5 0 1"},
        {BP_QUAT, "0 0 0 2", "0 0 2 0", "0 0 0 2"},
        {BP_STRING, "a text", "another", "\"a text\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char shown[CONFORMANCE_TEXT];
        conformance_t c = {.host = NULL};
        conformance_value_t one, same, other;
        conformance_property_t p = {.declared = {.type = cases[i].type, .initial = cases[i].text}};
        ck_assert(conformance_default(&c, &p, &one) && conformance_default(&c, &p, &same));
        p.declared.initial = cases[i].other;
        ck_assert(conformance_default(&c, &p, &other));
        ck_assert_str_eq(conformance_show(cases[i].type, &one.value, shown), cases[i].shown);
        ck_assert_msg(conformance_same(cases[i].type, &one.value, &same.value), "%u", (unsigned)i);
        ck_assert_msg(!conformance_same(cases[i].type, &one.value, &other.value), "%u", (unsigned)i);
    }
    const bp_quat_t turn = {0, 0, 0.6f, 0.8f}, longer = {0, 0, 6, 8}, opposite = {0, 0, -0.6f, 0.8f};
    ck_assert(conformance_same(BP_QUAT, &turn, &longer) && !conformance_same(BP_QUAT, &turn, &opposite));
    const char *none = NULL, *empty = "";
    char shown[CONFORMANCE_TEXT];
    ck_assert(!conformance_same(BP_STRING, &none, &empty) && !conformance_same(BP_STRING, &empty, &none));
    ck_assert_str_eq(conformance_show(BP_STRING, &none, shown), "\"(null)\"");
    ck_assert_uint_eq(conformance_size(BP_TYPE_COUNT), 0);
}
END_TEST

START_TEST(an_entity_is_no_default_but_none)
{
    conformance_t c = {.host = NULL};
    conformance_value_t value;
    conformance_property_t p = {.declared = {.type = BP_ENTITY, .initial = "none"}};
    ck_assert(conformance_default(&c, &p, &value));
    ck_assert_uint_eq(value.value.entity.id, 0);
    p.declared.initial = "#0:1";
    ck_assert(!conformance_default(&c, &p, &value));
}
END_TEST

/* --- finding components ---------------------------------------------------------------------------- */

static void add_subjects(const char *needs, const char *plugin, const char *options)
{
    conformance_subject_t like = {.needs = ""};
    char complaint[CONFORMANCE_TEXT];
    snprintf(like.needs, sizeof like.needs, "%s", needs);
    snprintf(like.plugin, sizeof like.plugin, "%s", plugin);
    snprintf(like.options, sizeof like.options, "%s", options);
    uint32_t room = SUBJECTS_MAX - subject_count;
    uint32_t found = conformance_subjects(&like, subjects + subject_count, room, complaint);
    if (found == UINT32_MAX)
        snprintf(troubles[trouble_count++], sizeof troubles[0], "%s cannot be loaded: %s", plugin, complaint);
    else
        subject_count += found < room ? found : room;
}

/* Options that a plugin cannot do without, and those that make more of it testable. */
static const char *options_of(const char *name)
{
    if (strncmp(name, "recorder.", 9) == 0)
        return "properties=main/x.y.z csv=none";
    if (strncmp(name, "picture.", 8) == 0)
        return "file=picture.png";
    return strncmp(name, "mesh.", 5) == 0 ? "folder=" TEST_SOURCE_DIR "/config/meshes" : "";
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The libraries of a folder, in the order of their names, so that rounds mean the same in every run. */
static void add_folder(const char *folder)
{
    char found[COMPONENTS_MAX][64], path[4200];
    const size_t suffix = sizeof TEST_SO - 1;
    uint32_t count = 0;
    DIR *entries = opendir(folder);
    struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL && count < COMPONENTS_MAX) {
        size_t length = strlen(entry->d_name);
        if (length > suffix && length < sizeof found[0] && strcmp(entry->d_name + length - suffix, TEST_SO) == 0)
            memcpy(found[count++], entry->d_name, length + 1);
    }
    if (entries != NULL)
        closedir(entries);
    qsort(found, count, sizeof found[0], by_name);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, found[i]);
        add_subjects("", path, options_of(found[i]));
    }
}

/* "needed.so needed.so plugin.so": the last one is checked. */
static void add_asked(const char *list)
{
    char needs[1024], options[512];
    const char *given = getenv("BACKPLANE_CONFORMANCE_OPTIONS"), *last = strrchr(list, ' ');
    snprintf(needs, sizeof needs, "%.*s", last == NULL ? 0 : (int)(last - list), list);
    snprintf(options, sizeof options, "%s", given == NULL ? "" : given);
    add_subjects(needs, last == NULL ? list : last + 1, options);
}

static void add_cases(Suite *suite)
{
    for (uint32_t i = 0; i < subject_count; i++) {
        TCase *one = tcase_create(subjects[i].component);
        tcase_set_timeout(one, 120);
        tcase_add_loop_test(one, a_component_does_what_every_component_must,
                            (int)(i * conformance_check_count), (int)((i + 1) * conformance_check_count));
        suite_add_tcase(suite, one);
    }
}

Suite *conformance_suite(void)
{
    const char *asked = getenv("BACKPLANE_CONFORMANCE");
    Suite *suite = suite_create("conformance");
    TCase *all = tcase_create("conformance");
    tcase_set_timeout(all, 120);
    subject_count = trouble_count = 0;
    if (asked != NULL) {
        add_asked(asked);
    } else {
        add_folder(TEST_PLUGIN_DIR);
        add_subjects("", "companion", "");
        add_subjects("", keeper_file, "");
        tcase_add_loop_test(all, a_component_that_breaks_a_rule_is_complained_about, 1, FAULTS + 1);
        tcase_add_test(all, a_component_is_tried_with_whole_letters_and_with_various_names);
        tcase_add_test(all, a_value_of_each_type_is_understood_compared_and_shown);
        tcase_add_test(all, an_entity_is_no_default_but_none);
        tcase_add_test(all, there_is_no_fault_that_is_not_tried);
    }
    tcase_add_test(all, components_are_found_in_the_plugins);
    if (trouble_count > 0)
        tcase_add_loop_test(all, a_plugin_can_be_loaded, 0, (int)trouble_count);
    suite_add_tcase(suite, all);
    add_cases(suite);
    return suite;
}
