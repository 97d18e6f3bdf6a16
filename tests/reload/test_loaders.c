/* test_loaders.c - files that plugins open (bp_loader.h): plugins like any other, as seen from outside.
 *
 * Most of it with the fixture tests/fixtures/opener_code.h in two versions, which complains in the log where a file is
 * not closed by the version that has opened it; the rest with plugins/formula.
 */
#include "../comma.h"
#include "../suites.h"
#include "reload_support.h"

#include "os/os.h"
#include "reload/ahead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECOND = 1000000000, PATIENCE = 60, ROWS = 40 };

static rig_t rig;
static bp_world_o *world;
static bp_entity_t entities[ROWS];
static bool in_place; /* files are opened where they lie, and not as copies */

static void open_host(uint32_t flags)
{
    rig_init(&rig);
    rig.desc.flags = flags | (in_place ? 0u : (uint32_t)BP_HOST_COPY_PLUGINS);
    rig.desc.probation = (flags & BP_HOST_CRASH_GUARD) != 0 ? 10 : 0;
    rig.desc.trial_deadline = 60000; /* also where the machine has much else to do */
    rig_open(&rig);
}

static void forget_log(void)
{
    rig.log.text[0] = '\0';
    rig.log.count = 0;
}

static bp_result_t load(const char *path)
{
    return bp_host_load_plugin(rig.host, path, NULL, 0);
}

/* A world with rows of one component. */
static void make_world(const char *component)
{
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    WORKS(rig.host, bp_world_use_component(world, component));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, component, NULL, NULL, NULL), entities, ROWS));
}

static double value_of(const char *component, const char *field)
{
    double value = -1;
    WORKS(rig.host, rig.api->property->get_named(world, entities[ROWS / 2], component, field, BP_F64, &value));
    return value;
}

static bp_result_t reload(const char *name)
{
    return bp_host_reload(rig.host, &name, 1, NULL);
}

static void expect_plugins(const char *expected)
{
    char text[512] = "";
    const bp_plugin_head_t *head;
    for (uint32_t i = 0; (head = bp_host_plugin(rig.host, i, NULL)) != NULL; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %s", i > 0 ? ", " : "", head->name,
                 head->desc->version);
    ck_assert_str_eq(text, expected);
}

/* The first version of the opener, a file with the number 5, and a world. */
static void begin(uint32_t flags)
{
    open_host(flags);
    WORKS(rig.host, load(put_plugin("opener_first", "opener")));
    WORKS(rig.host, load(scratch_file("yeast.open", "5")));
    make_world("yeast");
    WORKS(rig.host, bp_world_step(world));
    ck_assert(value_of("yeast", "value") == 105);
}

static void end(void)
{
    check_host(rig.host);
    forget_log(); /* of reloads */
    rig_close(&rig);
}

/* What the log was told by reloads, and no complaint of the fixture. */
static void expect_no_complaint(void)
{
    EXPECT(strstr(rig.log.text, "complaint: ") == NULL, "the fixture complains:\n%s", rig.log.text);
    forget_log();
}

/* --- loading ------------------------------------------------------------------------------------------------------ */

START_TEST(a_file_is_a_plugin_like_any_other)
{
    const char *path;
    begin(0);
    expect_plugins("opener 1, yeast 1");
    ck_assert_ptr_nonnull(bp_host_plugin(rig.host, 1, &path));
    EXPECT(strstr(path, "yeast.open") != NULL, "its path is %s", path);
    FAILS(rig.host, BP_ERROR_EXISTS, "a plugin 'yeast' is loaded already", load(scratch_file("yeast.open", "5")));
    FAILS(rig.host, BP_ERROR_STATE, "plugin 'opener' has opened 'yeast'; unload that first",
          bp_host_unload_plugin(rig.host, "opener"));
    WORKS(rig.host, load(scratch_file("mould.open", "7")));
    FAILS(rig.host, BP_ERROR_STATE, "plugin 'opener' has opened 'yeast', 'mould'; unload those first",
          bp_host_unload_plugin_with(rig.host, "opener"));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "yeast"));
    WORKS(rig.host, load(scratch_file("yeast.open", "6")));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "mould"));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "yeast"));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "opener"));
    expect_no_complaint();
    end();
}
END_TEST

START_TEST(what_cannot_be_opened_leaves_nothing_behind)
{
    open_host(0);
    FAILS(rig.host, BP_ERROR_ABI, "not a shared library", load(scratch_file("yeast.open", "5")));
    WORKS(rig.host, load(put_plugin("opener_first", "opener")));
    FAILS(rig.host, BP_ERROR_FAILED, "does not open it and gave no reason", load(scratch_file("yeast.open", "refuse")));
    FAILS(rig.host, BP_ERROR_FAILED, "has opened it and gave no head", load(scratch_file("yeast.open", "headless")));
    FAILS(rig.host, BP_ERROR_ARGUMENT, "it has no proper name", load(scratch_file("no name.open", "5")));
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "there is no such plugin file", load("there/is/none.open"));
    ck_assert(os_folder_create(TEST_SCRATCH_DIR "/shelf.open"));
#ifdef _WIN32 /* there a folder is no file that could be opened */
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "shelf.open", load(TEST_SCRATCH_DIR "/shelf.open"));
#else
    FAILS(rig.host, BP_ERROR_IO, "shelf.open", load(TEST_SCRATCH_DIR "/shelf.open"));
#endif
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "option", bp_host_load_plugin(rig.host, scratch_file("yeast.open", "5"),
                                                                     &(bp_option_t){.name = "x", .value = "1"}, 1));
    expect_plugins("opener 1");
    expect_no_complaint();
    rig_close(&rig);
}
END_TEST

static bp_result_t open_nothing(bp_plugin_t *plugin, const char *path, const char *bytes, size_t size,
                                const bp_plugin_head_t **head, void **content)
{
    (void)plugin, (void)path, (void)bytes, (void)size, (void)head, (void)content;
    return BP_ERROR_FAILED;
}

START_TEST(endings_are_words_of_one_plugin_each)
{
    static const bp_loader_t kinds[][2] = {
        {{.ending = "so", .open = open_nothing}},  {{.ending = "ini", .open = open_nothing}},
        {{.ending = "a.b", .open = open_nothing}}, {{.ending = "abcdefghijklmnop", .open = open_nothing}},
        {{.ending = "mine"}},                      {{.ending = "mine", .open = open_nothing},
                                                    {.ending = "mine", .open = open_nothing}},
        {{.ending = "open", .open = open_nothing}}, {{.ending = "rs", .open = open_nothing}},
    };
    static const char *const reasons[] = {"'.so'", "'.ini'", "'.a.b'", "'.abcdefghijklmnop'", "has no open",
                                          "two loaders of files that end in '.mine'",
                                          "are opened by plugin 'opener' already", "'.rs'"};
    for (uint32_t i = 0; i < COUNT(kinds); i++) {
        bp_plugin_desc_t desc = {.loaders = {kinds[i], i == 5 ? 2 : 1, sizeof kinds[i][0]}};
        bp_plugin_head_t head = BP_PLUGIN_HEAD("wrong", &desc);
        const bp_plugin_head_t *all[] = {&head};
        rig_init(&rig);
        rig.desc.static_plugins = all;
        rig.desc.static_plugin_count = 1;
        rig_open(&rig);
        WORKS(rig.host, load(put_plugin("opener_first", "opener")));
        bp_result_t result = load("wrong");
        EXPECT(result != BP_OK && strstr(bp_host_error(rig.host), reasons[i]) != NULL, "\"%s\" is not in: %s",
               reasons[i], bp_host_error(rig.host));
        rig_close(&rig);
    }
}
END_TEST

static bp_result_t open_always(bp_plugin_t *plugin, const char *path, const char *bytes, size_t size,
                               const bp_plugin_head_t **head, void **content)
{
    static const bp_plugin_desc_t desc = {.version = "1"};
    static const bp_plugin_head_t made = BP_PLUGIN_HEAD("bread", &desc);
    (void)plugin, (void)path, (void)bytes, (void)size, (void)content;
    *head = &made;
    return BP_OK;
}

START_TEST(a_loader_may_leave_out_its_ending_and_close)
{
    static const bp_loader_t kinds[] = {{.open = open_always}};
    static const bp_plugin_desc_t desc = {.version = "1", .loaders = BP_LIST(kinds)};
    static const bp_plugin_head_t head = BP_PLUGIN_HEAD("dough", &desc);
    static const bp_plugin_head_t *const all[] = {&head};
    rig_open_with(&rig, all, 1);
    WORKS(rig.host, load("dough"));
    WORKS(rig.host, load(scratch_file("bread.dough", "")));
    expect_plugins("dough 1, bread 1");
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "bread"));
    expect_plugins("dough 1");
    rig_close(&rig);
}
END_TEST

/* The clone opens what is at work, whatever has been written to the file since. Loops: copies of files, and files in
 * their place. */
START_TEST(a_host_with_files_has_clones)
{
    bp_host_o *clone;
    double value = 0;
    in_place = _i == 1;
    begin(0);
    in_place = false;
    if (_i == 0)
        scratch_file("yeast.open", "refuse");
    WORKS(rig.host, bp_host_clone(rig.host, &clone));
    WORKS(clone, bp_host_step(clone));
    const bp_api_t *api = bp_host_api(clone);
    bp_world_o *twin = api->world->find(clone, "main");
    WORKS(clone, api->property->get_named(twin, entities[ROWS / 2], "yeast", "value", BP_F64, &value));
    ck_assert(value == 110);
    bp_host_destroy(clone);
    ck_assert(value_of("yeast", "value") == 105);
    expect_no_complaint();
    end();
}
END_TEST

START_TEST(an_ini_names_a_file_and_gives_it_options)
{
    char text[1024];
    rig_init(&rig);
    rig_open(&rig);
    put_plugin("opener_first", "opener");
    scratch_file("yeast.open", "5");
    snprintf(text, sizeof text,
             "[host]\nplugins = ./opener yeast.open\n[world main]\nstep_rate = 1\ncomponents = yeast\n"
             "[spawn main one]\ncomponents = yeast\n");
    WORKS(rig.host, bp_host_setup(rig.host, scratch_file("loaders.ini", text)));
    expect_plugins("opener 1, yeast 1");
    snprintf(text, sizeof text, "[host]\nplugins = other.open\n[world second]\n[plugin other]\nx = 1\n");
    scratch_file("other.open", "5");
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "option 'x'", bp_host_setup(rig.host, scratch_file("loaders.ini", text)));
    expect_plugins("opener 1, yeast 1");
    rig_close(&rig);
}
END_TEST

/* --- reloading ---------------------------------------------------------------------------------------------------- */

START_TEST(a_file_is_reloaded_and_its_values_go_over)
{
    begin(_i == 0 ? 0 : BP_HOST_TRIAL);
    scratch_file("yeast.open", "called mass 7");
    WORKS(rig.host, reload("yeast"));
    ck_assert(value_of("yeast", "mass") == 105);
    WORKS(rig.host, bp_world_step(world));
    ck_assert(value_of("yeast", "mass") == 112);
    char *before = describe_host(rig.host);
    scratch_file("yeast.open", "refuse");
    FAILS(rig.host, BP_ERROR_FAILED, "yeast.open: plugin 'opener' does not open it", reload("yeast"));
    char *after = describe_host(rig.host);
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
    WORKS(rig.host, bp_world_step(world));
    ck_assert(value_of("yeast", "mass") == 119);
    expect_no_complaint();
    end();
}
END_TEST

START_TEST(a_file_is_taken_back)
{
    begin(0);
    rig.host->reload.probation_steps = 10;
    scratch_file("yeast.open", "called mass 7");
    WORKS(rig.host, reload("yeast"));
    WORKS(rig.host, bp_world_step(world));
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    WORKS(rig.host, bp_world_step(world));
    ck_assert(value_of("yeast", "value") == 117);
    expect_no_complaint();
    end();
}
END_TEST

START_TEST(a_new_version_of_who_opens_files_opens_them_anew)
{
    bp_result_t refused = _i == 0 ? BP_ERROR_SYNTAX : BP_ERROR_FAILED; /* on trial */
    begin(_i == 0 ? 0 : BP_HOST_TRIAL);
    WORKS(rig.host, load(scratch_file("mould.open", "3")));
    put_plugin("opener_next", "opener");
    WORKS(rig.host, reload("opener"));
    expect_plugins("opener 2, yeast 2, mould 2");
    WORKS(rig.host, bp_world_step(world));
    ck_assert(value_of("yeast", "value") == 115);
    scratch_file("yeast.open", "13"); /* which the second version does not open */
    FAILS(rig.host, refused, "13 is not a number for us", reload("yeast"));
    put_plugin("opener_first", "opener"); /* but the first does */
    WORKS(rig.host, reload("opener"));
    expect_plugins("opener 1, yeast 1, mould 1");
    put_plugin("opener_next", "opener");
    FAILS(rig.host, refused, "13 is not a number for us", reload("opener"));
    expect_plugins("opener 1, yeast 1, mould 1");
    WORKS(rig.host, bp_world_step(world));
    ck_assert(value_of("yeast", "value") == 128);
    expect_no_complaint();
    end();
}
END_TEST

/* Also where another plugin comes before it, and where files are named beside it, in any order. */
START_TEST(who_opens_files_is_found_among_several_plugins_that_are_reloaded)
{
    static const char *const names[][3] = {
        {"mourner", "opener"}, {"opener", "yeast"}, {"yeast", "opener", "mourner"}, {"mourner", "opener", "yeast"}};
    static const uint32_t counts[] = {2, 2, 3, 3};
    open_host(0);
    WORKS(rig.host, load(put_plugin("mourner_first", "mourner")));
    WORKS(rig.host, load(put_plugin("opener_first", "opener")));
    WORKS(rig.host, load(scratch_file("yeast.open", "5")));
    make_world("yeast");
    for (uint32_t i = 0; i < COUNT(counts); i++) {
        put_plugin(i % 2 == 0 ? "opener_next" : "opener_first", "opener");
        WORKS(rig.host, bp_host_reload(rig.host, names[i], counts[i], NULL));
        expect_plugins(i % 2 == 0 ? "mourner 1, opener 2, yeast 2" : "mourner 1, opener 1, yeast 1");
        WORKS(rig.host, bp_world_step(world));
    }
    ck_assert(value_of("yeast", "value") == 130);
    expect_no_complaint();
    end();
}
END_TEST

/* With the plugin itself they are as many as one reload may have, and are taken back together; then one more. */
START_TEST(files_of_a_plugin_are_reloaded_with_it_up_to_the_most_of_one_reload)
{
    char name[32];
    open_host(0);
    WORKS(rig.host, load(put_plugin("opener_first", "opener")));
    for (int i = 1; i <= RELOAD_MAX_PLUGINS; i++) {
        snprintf(name, sizeof name, "yeast_%d.open", i);
        WORKS(rig.host, load(scratch_file(name, "5")));
        if (i != RELOAD_MAX_PLUGINS - 1)
            continue;
        rig.host->reload.probation_steps = 10;
        WORKS(rig.host, reload("opener"));
        WORKS(rig.host, reload_rollback(&rig.host->reload));
    }
    FAILS(rig.host, BP_ERROR_LIMIT, "plugin 'opener' has opened too many files for one reload, of 64 plugins at most",
          reload("opener"));
    WORKS(rig.host, reload("yeast_64"));
    expect_no_complaint();
    end();
}
END_TEST

START_TEST(who_opens_files_is_taken_back_with_them)
{
    begin(0);
    rig.host->reload.probation_steps = 10;
    for (uint32_t round = 0; round < 3; round++) {
        put_plugin("opener_next", "opener");
        WORKS(rig.host, reload("opener"));
        WORKS(rig.host, bp_world_step(world));
        if (round == 1) { /* a change over the one that is on probation */
            scratch_file("yeast.open", "called mass 5");
            WORKS(rig.host, reload("yeast"));
            ck_assert(value_of("yeast", "mass") > 0);
            scratch_file("yeast.open", "5");
            WORKS(rig.host, reload_rollback(&rig.host->reload));
            expect_plugins("opener 2, yeast 2");
            put_plugin("opener_first", "opener");
            WORKS(rig.host, reload("opener"));
            continue;
        }
        WORKS(rig.host, reload_rollback(&rig.host->reload));
        expect_plugins("opener 1, yeast 1");
        WORKS(rig.host, bp_world_step(world));
    }
    expect_no_complaint();
    end();
}
END_TEST

START_TEST(who_does_not_open_such_files_any_more_is_refused)
{
    begin(0);
    char *before = describe_host(rig.host);
    put_bytes("", 0, "opener");
    FAILS(rig.host, BP_ERROR_ABI, "empty", reload("opener"));
    char *after = describe_host(rig.host);
    ck_assert_str_eq(before, after);
    free(after);
    put_plugin("opener_none", "opener");
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "plugin 'opener', which has opened it, does not open such files any more",
          reload("opener"));
    after = describe_host(rig.host);
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
    WORKS(rig.host, bp_world_step(world));
    put_plugin("opener_first", "opener");
    expect_no_complaint();
    end();
}
END_TEST

/* --- crashes ------------------------------------------------------------------------------------------------------ */

#if !defined(_WIN32)
START_TEST(a_crash_while_opening_is_tried_out_elsewhere)
{
    KEEPS_MEMORY();
    begin(BP_HOST_TRIAL);
    scratch_file("yeast.open", "crash");
    bp_result_t result = reload("yeast");
    EXPECT(result == BP_ERROR_FAILED, "%d: %s", result, bp_host_error(rig.host));
    WORKS(rig.host, bp_world_step(world));
    ck_assert(value_of("yeast", "value") == 110);
    scratch_file("yeast.open", "6");
    WORKS(rig.host, reload("yeast"));
    WORKS(rig.host, bp_world_step(world));
    ck_assert(value_of("yeast", "value") == 116);
    end();
}
END_TEST
#endif

START_TEST(a_crash_of_a_file_brings_the_one_before_back)
{
    KEEPS_MEMORY();
    begin(BP_HOST_CRASH_GUARD);
    scratch_file("yeast.open", "fall 7");
    WORKS(rig.host, reload("yeast"));
    bp_world_step(world);
    WORKS(rig.host, bp_host_poll(rig.host));
    EXPECT(strstr(rig.log.text, "crashed in 'simulate' of component 'yeast'") != NULL, "the log:\n%s", rig.log.text);
    double before = value_of("yeast", "value");
    WORKS(rig.host, bp_world_step(world));
    EXPECT(value_of("yeast", "value") == before + 5, "%g %g\n%s", before, value_of("yeast", "value"), rig.log.text);
    ck_assert_ptr_null(bp_host_plugin_crash(rig.host, 0));
    ck_assert_ptr_null(bp_host_plugin_crash(rig.host, 1));
    bp_host_destroy(rig.host);
}
END_TEST

START_TEST(a_crash_while_opening_sets_aside_who_opens)
{
    KEEPS_MEMORY();
    open_host(BP_HOST_CRASH_GUARD);
    WORKS(rig.host, load(put_plugin("opener_first", "opener")));
    FAILS(rig.host, BP_ERROR_FAILED, "plugin 'opener', which opens it, has crashed",
          load(scratch_file("yeast.open", "crash")));
    FAILS(rig.host, BP_ERROR_STATE, "plugin 'opener', which opens such files, has crashed",
          load(scratch_file("yeast.open", "5")));
    bp_host_destroy(rig.host);
}
END_TEST

/* Who opens files works on, where the crash was in the code of another plugin. */
START_TEST(a_crash_of_who_is_asked_while_opening_is_not_that_of_who_opens)
{
    KEEPS_MEMORY();
    open_host(BP_HOST_CRASH_GUARD);
    WORKS(rig.host, load(put_plugin("opener_first", "opener")));
    WORKS(rig.host, load(TEST_FIXTURE_DIR "/crasher"));
    const char *path = scratch_file("yeast.open", "asks");
    char says[600];
    snprintf(says, sizeof says, "%s: a plugin that 'opener', which opens it, had called has crashed", path);
    ck_assert_int_eq(load(path), BP_ERROR_FAILED);
    ck_assert_str_eq(bp_host_error(rig.host), says);
    ck_assert_ptr_null(bp_host_plugin_crash(rig.host, 0));
    ck_assert_ptr_nonnull(bp_host_plugin_crash(rig.host, 1));
    WORKS(rig.host, load(scratch_file("yeast.open", "5")));
    bp_host_destroy(rig.host);
}
END_TEST

/* --- files that are written anew ---------------------------------------------------------------------------------- */

#if !defined(_WIN32)
START_TEST(a_file_that_is_written_anew_comes_in_by_itself)
{
    begin(BP_HOST_HOT_RELOAD);
    WORKS(rig.host, bp_host_poll(rig.host));
    uint64_t until = os_clock_ns() + (uint64_t)PATIENCE * SECOND;
    scratch_file("yeast.open", "called mass 7");
    const char *now = "";
    while (strcmp(now, "mass") != 0) {
        bp_field_t field;
        EXPECT(os_clock_ns() < until, "nothing has come of the new file; the log:\n%s", rig.log.text);
        WORKS(rig.host, bp_host_wait(rig.host, SECOND / 100));
        WORKS(rig.host, rig.api->property->describe(rig.host, "yeast", 0, &field, sizeof field));
        now = field.name;
    }
    ck_assert(value_of("yeast", "mass") == 105);
    expect_no_complaint();
    end();
}
END_TEST
#endif

/* Where columns can be made ready the file is opened twice: to see which, and for the change. So it is where there are
 * enough rows in one world, or in two together. */
START_TEST(a_file_that_is_opened_for_a_change_changes_nothing)
{
    static bp_entity_t crowd[AHEAD_ROWS];
    const char *name = "yeast";
    begin(0);
    uint32_t prototype = prototype_of(world, "yeast", NULL, NULL, NULL);
    if (_i == 1)
        WORKS(rig.host, rig.api->world->create(world, prototype, crowd, AHEAD_ROWS));
    if (_i == 2) {
        bp_world_o *other = bp_world_create(rig.host, &(bp_world_desc_t){.name = "other"});
        WORKS(rig.host, bp_world_use_component(other, "yeast"));
        WORKS(rig.host, rig.api->world->create(world, prototype, crowd, AHEAD_ROWS / 2));
        prototype = prototype_of(other, "yeast", NULL, NULL, NULL);
        WORKS(rig.host, rig.api->world->create(other, prototype, crowd, AHEAD_ROWS / 2));
    }
    scratch_file("yeast.open", "makes 7");
    uint32_t alive = rig.api->entity->count(rig.host);
    WORKS(rig.host, bp_host_begin_reload(rig.host, &name, 1, 0));
    uint64_t until = os_clock_ns() + (uint64_t)PATIENCE * SECOND;
    while (strstr(rig.log.text, "reloaded yeast") == NULL) {
        WORKS(rig.host, bp_host_poll(rig.host));
        os_sleep_ns(SECOND / 1000);
        EXPECT(os_clock_ns() < until, "nothing has come of the new file; the log:\n%s", rig.log.text);
    }
    ck_assert_uint_eq(rig.api->entity->count(rig.host), alive);
    WORKS(rig.host, bp_world_step(world));
    ck_assert(value_of("yeast", "value") == 112);
    expect_no_complaint();
    end();
}
END_TEST

/* --- formulas ----------------------------------------------------------------------------------------------------- */

static const char culture[] = "# Bacteria in a dish.\n"
                              "version 1.2\n"
                              "about \"how things grow\"\n"
                              "component culture \"bacteria\"\n"
                              "  field mass = 1 min 0 unit g \"what they weigh\"\n"
                              "  field rate = 0.5\n"
                              "  field room : f32 = 100\n"
                              "  do mass = mass + rate * mass * (1.25 - 0.25 - mass / room) * dt\n"
                              "component wave\n"
                              "  field height\n"
                              "  do height = max(-2, min(sin(time), 2)) - -abs(exp(0)) / sqrt(4) + log(1) * cos(0)\n";

/* Also in a program that has asked for a locale whose numbers have a comma. */
START_TEST(formulas_are_computed_as_c_does)
{
    ck_assert(_i == 0 || comma_begin("build/scratch"));
    open_host(0);
    WORKS(rig.host, load(TEST_PLUGIN_DIR "/formula"));
    WORKS(rig.host, load(scratch_file("growth.formula", culture)));
    expect_plugins("formula 1.0, growth 1.2");
    make_world("culture");
    double mass = 1;
    for (uint32_t i = 0; i < 20; i++) {
        WORKS(rig.host, bp_world_step(world));
        mass = mass + 0.5 * mass * (1 - mass / 100) * 1;
    }
    ck_assert(value_of("culture", "mass") == mass);
    WORKS(rig.host, bp_world_use_component(world, "wave"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "wave", NULL, NULL, NULL), entities, ROWS));
    WORKS(rig.host, bp_world_step(world));
    ck_assert(value_of("wave", "height") > -0.5 && value_of("wave", "height") < 1.5);
    end();
    comma_end();
}
END_TEST

/* More rows than are computed together, of both types of fields; more terms than there may be values at a time. */
START_TEST(formulas_are_computed_for_each_row)
{
    enum { MANY = 1000 };
    static bp_entity_t e[MANY];
    static const char text[] = "version 1\ncomponent both\nfield small : f32\nfield large\nfield sum\n"
                               "do sum = small + large * 2 + 1 - 1 + 1 - 1 + 1 - 1 + 1 - 1 + 1 - 1 + 1 - 1 + 1 - 1 "
                               "+ 1 - 1 + 1 - 1\n";
    open_host(0);
    WORKS(rig.host, load(TEST_PLUGIN_DIR "/formula"));
    WORKS(rig.host, load(scratch_file("both.formula", text)));
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    WORKS(rig.host, bp_world_use_component(world, "both"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "both", NULL, NULL, NULL), e, MANY));
    for (uint32_t i = 0; i < MANY; i++) {
        WORKS(rig.host, rig.api->property->set_named(world, e[i], "both", "small", BP_F32, &(float){(float)i}));
        WORKS(rig.host, rig.api->property->set_named(world, e[i], "both", "large", BP_F64, &(double){i * 10.0}));
    }
    WORKS(rig.host, bp_world_step(world));
    for (uint32_t i = 0; i < MANY; i++) {
        double sum = 0;
        WORKS(rig.host, rig.api->property->get_named(world, e[i], "both", "sum", BP_F64, &sum));
        EXPECT(sum == i * 21.0, "row %u has %g", i, sum);
    }
    rig_close(&rig);
}
END_TEST

START_TEST(formulas_say_where_they_are_wrong)
{
    static const char *const wrong[][2] = {
        {"", ":1: the file has no component"},
        {"field x\n", ":1: 'field' belongs to a component"},
        {"component\n", ":1: the component's name must follow"},
        {"component a\nfield x = y\n", ":2: 'y' is no number"},
        {"component a\nfield x\nfield x\n", ":3: 'x' is there already"},
        {"component a\nfield dt\n", ":2: 'dt' is there already"},
        {"component a\nfield x : f16\n", ":2: a field is f32 or f64, not 'f16'"},
        {"component a\nfield x = 1 about 2\n", ":2: behind a field's default there may be"},
        {"component a\nfield x = 1 \"text\n", ":2: the text that begins here has no closing"},
        {"component a\nfield x\ndo y = 1\n", ":3: component 'a' has no field 'y'"},
        {"component a\nfield x\ndo x 1\n", ":3: '=' must follow"},
        {"component a\nfield x\ndo x = z\n", ":3: component 'a' has no field 'z'"},
        {"component a\nfield x\ndo x = 1 +\n", ":3: a number, a name or a bracket must follow"},
        {"component a\nfield x\ndo x = (1\n", ":3: a bracket is not closed"},
        {"component a\nfield x\ndo x = tan(1)\n", ":3: there is no function 'tan'"},
        {"component a\nfield x\ndo x = min(1)\n", ":3: min needs two values"},
        {"component a\nfield x\ndo x = 1 2\n", ":3: nothing may follow here, but '2' does"},
        {"component a\nfield x\ndo x = ((((((((((((((((((((1))))))))))))))))))))\n", ":3: the formula is nested more"},
        {"component a\nfield x\ndo x = --------------------1\n", ":3: the formula is nested more"},
        {"what\n", ":1: a line begins with version, about, component, field or do, not 'what'"},
    };
    open_host(0);
    WORKS(rig.host, load(TEST_PLUGIN_DIR "/formula"));
    for (uint32_t i = 0; i < COUNT(wrong); i++)
        FAILS(rig.host, BP_ERROR_SYNTAX, wrong[i][1], load(scratch_file("wrong.formula", wrong[i][0])));
    FAILS(rig.host, BP_ERROR_SYNTAX, "a zero in it", load(scratch_bytes("wrong.formula", "component a\0", 12)));
    FAILS(rig.host, BP_ERROR_EXISTS, "component 'a'",
          load(scratch_file("wrong.formula", "component a\nfield x\ncomponent a\nfield x\n")));
    expect_plugins("formula 1.0");
    rig_close(&rig);
}
END_TEST

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Bytes of a good file are changed, taken out and doubled: it is opened, or refused with a sentence. */
START_TEST(any_bytes_are_formulas_or_refused)
{
    static const char letters[] = "component field do = + - * / ( ) , 0123456789 e.:\"#\n\n minmax";
    uint32_t state = 7, opened = 0;
    open_host(0);
    WORKS(rig.host, load(TEST_PLUGIN_DIR "/formula"));
    for (uint32_t round = 0; round < 1500; round++) {
        char text[sizeof culture + 16];
        size_t length = sizeof culture - 1;
        memcpy(text, culture, sizeof culture);
        for (uint32_t changes = draw(&state) % 4 + 1; changes > 0; changes--) {
            size_t at = draw(&state) % length;
            if (draw(&state) % 3 == 0)
                memmove(text + at, text + at + 1, length-- - at);
            else
                text[at] = letters[draw(&state) % (sizeof letters - 1)];
        }
        if (load(scratch_file("any.formula", text)) == BP_OK) {
            opened++;
            WORKS(rig.host, bp_host_unload_plugin(rig.host, "any"));
        } else {
            ck_assert_uint_gt(strlen(bp_host_error(rig.host)), 0);
        }
    }
    EXPECT(opened > 50, "only %u files were opened", opened);
    forget_log();
    rig_close(&rig);
}
END_TEST

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* Each allocation fails once, while a file is loaded and while it is reloaded: refused, and then done. */
START_TEST(where_memory_is_lacking_a_file_is_refused_and_then_opened)
{
    begin(0);
    put_plugin("opener_next", "opener");
    uint64_t failed = 0;
    for (uint64_t number = 1; number < 4000; number++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + number;
        bp_result_t result = _i == 0 ? reload("opener") : load(scratch_file("mould.open", "3"));
        bool refused = rig.heap.requests >= rig.heap.refuse_first;
        EXPECT(result == BP_OK || result == BP_ERROR_MEMORY, "request %u: %d: %s", (unsigned)number, result,
               bp_host_error(rig.host));
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        if (result == BP_OK && !refused)
            break;
        failed += result != BP_OK;
        if (result == BP_OK && _i == 0)
            put_plugin(number % 2 == 0 ? "opener_next" : "opener_first", "opener");
        else if (result == BP_OK)
            WORKS(rig.host, bp_host_unload_plugin(rig.host, "mould"));
    }
    ck_assert_uint_gt(failed, 10);
    WORKS(rig.host, bp_world_step(world));
    expect_no_complaint();
    end();
}
END_TEST

Suite *loaders_suite(void)
{
    Suite *s = suite_create("loaders");
    TCase *t = tcase_create("loaders");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_file_is_a_plugin_like_any_other);
    tcase_add_test(t, what_cannot_be_opened_leaves_nothing_behind);
    tcase_add_test(t, endings_are_words_of_one_plugin_each);
    tcase_add_test(t, a_loader_may_leave_out_its_ending_and_close);
    tcase_add_loop_test(t, a_host_with_files_has_clones, 0, 2);
    tcase_add_test(t, an_ini_names_a_file_and_gives_it_options);
    tcase_add_loop_test(t, a_file_is_reloaded_and_its_values_go_over, 0, 2);
    tcase_add_test(t, a_file_is_taken_back);
    tcase_add_loop_test(t, a_new_version_of_who_opens_files_opens_them_anew, 0, 2);
    tcase_add_test(t, who_opens_files_is_found_among_several_plugins_that_are_reloaded);
    tcase_add_test(t, files_of_a_plugin_are_reloaded_with_it_up_to_the_most_of_one_reload);
    tcase_add_test(t, who_opens_files_is_taken_back_with_them);
    tcase_add_test(t, who_does_not_open_such_files_any_more_is_refused);
#if !defined(_WIN32) /* a copy of the process, and files that are watched, are there on POSIX systems alone */
    tcase_add_test(t, a_crash_while_opening_is_tried_out_elsewhere);
    tcase_add_test(t, a_file_that_is_written_anew_comes_in_by_itself);
#endif
    tcase_add_loop_test(t, a_file_that_is_opened_for_a_change_changes_nothing, 0, 3);
    tcase_add_test(t, a_crash_of_a_file_brings_the_one_before_back);
    tcase_add_test(t, a_crash_while_opening_sets_aside_who_opens);
    tcase_add_test(t, a_crash_of_who_is_asked_while_opening_is_not_that_of_who_opens);
    tcase_add_loop_test(t, formulas_are_computed_as_c_does, 0, 2);
    tcase_add_test(t, formulas_are_computed_for_each_row);
    tcase_add_test(t, formulas_say_where_they_are_wrong);
    tcase_add_test(t, any_bytes_are_formulas_or_refused);
    tcase_add_loop_test(t, where_memory_is_lacking_a_file_is_refused_and_then_opened, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
