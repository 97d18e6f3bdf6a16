/* test_check.c - bp_check_plugin finds what would trouble a reload, and leaves good plugins alone. */
#include "../suites.h"
#include "../system/calls.h"
#include "../unit/support.h"

#if defined(__linux__)
#include <elf.h>
#endif
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static char found[16384];
static uint32_t counts[4];

static void note(void *data, int32_t level, const char *text)
{
    size_t length = strlen(found);
    (void)data;
    counts[level]++;
    snprintf(found + length, sizeof found - length, "%d %s\n", (int)level, text);
}

static bp_result_t check(const char *path, const char *where, const char *how)
{
    bp_option_t options[] = {{.name = "where", .value = where}, {.name = "how", .value = how}};
    found[0] = '\0';
    memset(counts, 0, sizeof counts);
    return bp_check_plugin(path, options, where != NULL ? 2 : 0, note, NULL);
}

static void expect(const char *part)
{
    EXPECT(strstr(found, part) != NULL, "\"%s\" is not among the findings:\n%s", part, found);
}

START_TEST(plugins_that_follow_the_rules_have_no_errors)
{
    static const char *const names[] = {"point_mass", "transform", "mesh", "debug_name", "render_data", "gravity"};
    char path[1024];
    for (uint32_t i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s" TEST_SO, TEST_PLUGIN_DIR, names[i]);
        bp_result_t result = check(path, NULL, NULL);
#if !defined(BACKPLANE_SANITIZED) /* sanitizers bring state of their own */
        EXPECT(result == BP_OK && counts[BP_LOG_ERROR] == 0, "%s:\n%s", path, found);
#else
        (void)result;
#endif
        expect(names[i]);
    }
    expect("system 'gravity'");
}
END_TEST

START_TEST(what_a_plugin_needs_is_loaded_before_it_and_not_told_of)
{
    static const char *const needs[] = {TEST_PLUGIN_DIR "/debug_name" TEST_SO, TEST_PLUGIN_DIR "/mesh" TEST_SO};
    found[0] = '\0';
    memset(counts, 0, sizeof counts);
    bp_check_plugin_beside(TEST_PLUGIN_DIR "/point_mass" TEST_SO, needs, COUNT(needs), NULL, 0, note, NULL);
    expect("plugin 'point_mass'");
    expect("component 'point_mass': 4 properties");
    ck_assert_ptr_null(strstr(found, "debug_name"));
    ck_assert_ptr_null(strstr(found, "component 'mesh'"));
}
END_TEST

START_TEST(a_component_whose_instances_a_reload_cannot_carry_is_warned_of)
{
    check(TEST_FIXTURE_DIR "/hoard" TEST_SO, NULL, NULL);
    expect("2 component 'hoard' has neither `save` and `load`, nor a `state_form`, nor properties that can be set");
}
END_TEST

START_TEST(a_property_that_neither_a_reload_nor_a_saved_world_can_bring_back_is_warned_of)
{
    check(TEST_FIXTURE_DIR "/purse" TEST_SO, NULL, NULL);
    expect("2 component 'purse': nothing can set property 'items', so a reload that would lose it is refused, and a "
           "saved world cannot bring it back");
    EXPECT(strstr(found, "component 'derived_purse': nothing") == NULL, "%s", found);
}
END_TEST

START_TEST(every_broken_rule_is_found)
{
    ck_assert_int_eq(check(TEST_FIXTURE_DIR "/stateful" TEST_SO, NULL, NULL), BP_ERROR_FAILED);
    expect("3 'counter' can be written (4 bytes in .bss)");
    expect("3 'filled' can be written (4 bytes in .data)");
    expect("3 'each' is a variable of each thread (.tbss)");
    expect("3 'only_one' is unique in the process");
    expect(" functions of it run when the file is opened");
    EXPECT(strstr(found, "a signal handler must not outlive") != NULL, "%s", found);
    expect("2 it uses 'exit'");
    expect("1 it exports 'extra_export'");
    expect("1 plugin 'stateful' 1.0, for ABI");
    EXPECT(strstr(found, "constant") == NULL, "what is const is no error:\n%s", found);
}
END_TEST

#if defined(__linux__) && __SIZEOF_POINTER__ == 8
/* A copy of a good plugin with one more entry at the end of the table that its linker has left for the loader. */
static const char *with_dynamic(int64_t tag, uint64_t value)
{
    enum { MOST = 1 << 22 };
    static char *bytes;
    bytes = bytes != NULL ? bytes : room_of(MOST);
    const uint64_t more[] = {(uint64_t)tag, value, 0, 0};
    FILE *file = fopen(TEST_PLUGIN_DIR "/point_mass" TEST_SO, "rb");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(bytes, 1, MOST, file);
    fclose(file);
    const Elf64_Ehdr *head = (const void *)bytes;
    const Elf64_Phdr *parts = (const void *)(bytes + head->e_phoff);
    for (uint32_t i = 0; i < head->e_phnum; i++) {
        if (parts[i].p_type != PT_DYNAMIC)
            continue;
        char *at = bytes + parts[i].p_offset, *end = at + parts[i].p_filesz;
        while (((const Elf64_Dyn *)(const void *)at)->d_tag != DT_NULL)
            at += sizeof(Elf64_Dyn);
        ck_assert(end - at >= (ptrdiff_t)sizeof more);
        memcpy(at, more, sizeof more);
    }
    return scratch_bytes("marked" TEST_SO, bytes, size);
}

/* Whatever comes before them in that table. */
START_TEST(marks_of_the_linker_that_no_plugin_may_have_are_found)
{
    static const struct { int64_t tag; uint64_t value; const char *said; } marks[] = {
        {DT_TEXTREL, 0, "3 its code is changed at opening"},
        {DT_FLAGS, DF_TEXTREL, "3 its code is changed at opening"},
        {DT_FLAGS_1, DF_1_NODELETE, "3 it is linked to stay in memory for ever"},
        {DT_FLAGS, DF_BIND_NOW, NULL},
        {DT_FLAGS_1, DF_1_NOW, NULL},
    };
    for (uint32_t i = 0; i < COUNT(marks); i++) {
        check(with_dynamic(marks[i].tag, marks[i].value), NULL, NULL);
        if (marks[i].said != NULL)
            expect(marks[i].said);
        else
            EXPECT(strstr(found, "its code is changed") == NULL && strstr(found, "for ever") == NULL, "%s", found);
    }
}
END_TEST
#endif

START_TEST(what_goes_wrong_while_loading_is_found_and_survived)
{
    static const char *const ways[][3] = {
        {"load", "null", "crashed in 'load': "},
        {"load", "stack", "the stack ran out"},
        {"load", "exit", "it calls exit"},
        {"load", "host", "loading and unloading it "},
        {"unload", "abort", "crashed in 'unload'"},
    };
    ck_assert_int_eq(check(TEST_FIXTURE_DIR "/crasher" TEST_SO, ways[_i][0], ways[_i][1]), BP_ERROR_FAILED);
    expect(ways[_i][2]);
}
END_TEST

START_TEST(a_crash_is_said_once)
{
    check(TEST_FIXTURE_DIR "/crasher" TEST_SO, "load", "null");
    const char *first = strstr(found, "crashed in 'load'");
    ck_assert_ptr_nonnull(first);
    EXPECT(strstr(first + 1, "crashed in 'load'") == NULL, "%s", found);
}
END_TEST

START_TEST(what_is_no_library_is_refused)
{
    ck_assert_int_eq(check(scratch_file("no" TEST_SO, "hello"), NULL, NULL), BP_ERROR_ABI);
    expect("3 not a shared library");
    ck_assert_int_eq(check(TEST_SCRATCH_DIR "/there_is_none" TEST_SO, NULL, NULL), BP_ERROR_IO);
    ck_assert_uint_eq(counts[BP_LOG_ERROR], 1);
    check(TEST_FIXTURE_DIR "/hoart" TEST_SO, NULL, NULL);
    expect("; did you mean '" TEST_FIXTURE_DIR "/hoard" TEST_SO "'?");
}
END_TEST

/* What a plugin brings is seen in a copy of the process, or else here: the same is found, and that is told. */
START_TEST(a_plugin_is_looked_at_where_no_copy_of_the_process_can_be_had)
{
    static const char told[] = "2 no other process can be had to load it in, so it is loaded in this one\n";
    static char in_a_copy[sizeof found];
    const char *path = TEST_FIXTURE_DIR "/purse" TEST_SO;
    bp_result_t wanted = check(path, NULL, NULL);
    memcpy(in_a_copy, found, sizeof found);
    uint32_t descriptors = calls_descriptors();
    calls_begin_named("fork", 1);
    bp_result_t result = check(path, NULL, NULL);
    calls_end();
    ck_assert_uint_eq(calls_failed(), 1);
    ck_assert_int_eq(result, wanted);
    ck_assert_uint_eq(calls_descriptors(), descriptors);
    expect(told);
    expect("component 'purse'");
    char *said = strstr(found, told);
    memmove(said, said + sizeof told - 1, strlen(said + sizeof told - 1) + 1);
    ck_assert_str_eq(found, in_a_copy);
}
END_TEST

Suite *check_suite(void)
{
    Suite *suite = suite_create("check");
    TCase *plugins = tcase_create("plugins");
    tcase_add_test(plugins, a_property_that_neither_a_reload_nor_a_saved_world_can_bring_back_is_warned_of);
    tcase_add_test(plugins, what_a_plugin_needs_is_loaded_before_it_and_not_told_of);
    tcase_add_test(plugins, a_component_whose_instances_a_reload_cannot_carry_is_warned_of);
    tcase_add_test(plugins, plugins_that_follow_the_rules_have_no_errors);
    tcase_add_test(plugins, every_broken_rule_is_found);
#if defined(__linux__) && __SIZEOF_POINTER__ == 8
    tcase_add_test(plugins, marks_of_the_linker_that_no_plugin_may_have_are_found);
#endif
    tcase_add_loop_test(plugins, what_goes_wrong_while_loading_is_found_and_survived, 0, 5);
    tcase_add_test(plugins, what_is_no_library_is_refused);
    tcase_add_test(plugins, a_plugin_is_looked_at_where_no_copy_of_the_process_can_be_had);
    tcase_add_test(plugins, a_crash_is_said_once);
    suite_add_tcase(suite, plugins);
    return suite;
}
