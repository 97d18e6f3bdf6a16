/* test_helper.c - trials by a helper process, on every system: what goes wrong there is told and changes nothing, and
 * where there is no helper the new version comes in untried, which is told.
 *
 * tests/reload/test_hot.c has the same with files that are watched, and more ways to go wrong; Linux alone.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "reload_support.h"

#include "engine/host.h"
#include "reload/change.h"
#include "reload/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEADLINE_MS = 8000, LIMIT_MS = 3000 };

static const char *const names[] = {"crasher"}, *const both[] = {"companion", "crasher"};
static log_text_t log_text;
static bp_host_o *host;
static bp_world_o *world;
static bp_entity_t plain[4], own[4];

static void make(const char *type, bp_entity_t *entities)
{
    const bp_api_t *api = bp_host_api(host);
    uint32_t key = key_of(world, type, "");
    WORKS(host, api->entity->create(host, entities, 4));
    WORKS(host, api->world->add(world, key, entities, 4));
}

static const bp_allocator_i *allocator; /* NULL: the C library's */
static bool has_companion;               /* a plugin that is loaded before the crasher */
static const bp_option_t *options;       /* two of them, to the crasher; NULL: none */

static void begin(uint32_t flags, const char *helper)
{
    crash_next("nowhere", "null");
    memset(&log_text, 0, sizeof log_text);
    host = bp_host_create(&(bp_host_desc_t){
        .struct_size = sizeof(bp_host_desc_t),
        .log = log_into(&log_text),
        .allocator = allocator,
        .tag = 1,
        .flags = BP_HOST_COPY_PLUGINS | BP_HOST_TRIAL | BP_HOST_TRIAL_HELPER | flags,
        .trial_deadline = DEADLINE_MS,
        .call_limit = options == NULL ? 0 : LIMIT_MS,
        .probation = 20,
        .trial_helper = helper});
    if (has_companion)
        WORKS(host, bp_host_load_plugin(host, put_plugin("companion", "companion"), NULL, 0));
    WORKS(host, bp_host_load_plugin(host, put_plugin("crasher", "crasher"), options, options == NULL ? 0 : 2));
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    WORKS(host, bp_world_use_component(world, "crash_plain"));
    WORKS(host, bp_world_use_component(world, "crash_own"));
    WORKS(host, bp_world_use_system(world, "crash_system"));
    make("crash_plain", plain);
    make("crash_own", own);
    for (int i = 0; i < 3; i++)
        WORKS(host, bp_host_step(host));
}

static float x_now(void)
{
    float x = -1;
    WORKS(host, bp_host_api(host)->property->get_named(world, plain[0], "crash_plain", "x", BP_F32, &x));
    return x;
}

static void expect_each_step(float each)
{
    float x = x_now();
    WORKS(host, bp_host_step(host));
    EXPECT(x_now() == x + each, "a step adds %g, and should add %g", (double)(x_now() - x), (double)each);
}

static bool is_told(const char *part)
{
    return strstr(log_text.text, part) != NULL;
}

static void expect_to_come_in(void)
{
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    expect_each_step(100);
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

/* With a second world: all are described. */
START_TEST(a_version_that_does_well_comes_in)
{
    begin(BP_HOST_CRASH_GUARD, TEST_BACKPLANE);
    bp_world_o *other = bp_world_create(host, &(bp_world_desc_t){.name = "other", .step_rate = 1});
    WORKS(host, bp_world_use_component(other, "crash_plain"));
    put_plugin("crasher_next", "crasher");
    crash_next("wrong_time", "null"); /* where a step of the trial does not have the time that it has here */
    expect_to_come_in();
    EXPECT(!is_told("untried"), "%s", log_text.text);
    bp_host_destroy(host);
}
END_TEST

/* One entity in each combination of parts from `first` on. */
static void combine_parts(const uint32_t *keys, uint32_t key_count, uint32_t first, uint32_t end)
{
    uint32_t some[32], prototype;
    bp_entity_t e;
    for (uint32_t bits = first; bits < end; bits++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < key_count; i++) {
            if ((bits >> i & 1) != 0)
                some[count++] = keys[i];
        }
        WORKS(host, bp_host_api(host)->world->prototype(world, some, count, &prototype));
        WORKS(host, bp_host_api(host)->world->create(world, prototype, &e, 1));
    }
}

/* The helper reads as many as the description says that there are; what lies behind them must be the next world. */
START_TEST(so_many_combinations_of_a_world_are_described_and_no_more)
{
    enum { PARTS = 10, ALL = 1 << PARTS };
    uint32_t keys[PARTS];
    char name[16];
    memory_t memory;
    bytes_t enough, all;
    const reload_change_t change = {.version_count = 0};
    _Static_assert(ALL - 100 > SCRATCH_MOST, "there are more than are described");
    begin(BP_HOST_CRASH_GUARD, TEST_BACKPLANE);
    memory_init(&memory, "test", &(bp_allocator_i){0});
    bytes_init(&enough, &memory);
    bytes_init(&all, &memory);
    for (uint32_t i = 0; i < PARTS; i++) {
        snprintf(name, sizeof name, "part_%u", i);
        keys[i] = key_of(world, "crash_plain", name);
    }
    combine_parts(keys, PARTS, 1, ALL - 100);
    scratch_describe(&enough, &host->reload, &change, DEADLINE_MS);
    combine_parts(keys, PARTS, ALL - 100, ALL);
    scratch_describe(&all, &host->reload, &change, DEADLINE_MS);
    ck_assert(!enough.failed && enough.size == all.size);
    ck_assert(memcmp(enough.start, all.start, all.size) == 0);
    bytes_free(&enough);
    bytes_free(&all);
    bp_host_destroy(host);
}
END_TEST

static void expect_text(reader_t *reader, const char *expected)
{
    const char *text = reader_text(reader);
    ck_assert_str_eq(text, expected);
}

static void expect_number(reader_t *reader, uint32_t expected)
{
    ck_assert_uint_eq(reader_u32(reader), expected);
}

static void expect_options(reader_t *reader, const bp_option_t *expected, uint32_t count)
{
    bp_option_t read[4] = {{.name = NULL}};
    ck_assert_uint_eq(scratch_read_options(reader, read, COUNT(read)), count);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_str_eq(read[i].name, expected[i].name);
        ck_assert_str_eq(read[i].value, expected[i].value);
        ck_assert_pstr_eq(read[i].origin, expected[i].origin);
        ck_assert_pstr_eq(read[i].base, expected[i].base);
    }
}

static const bp_option_t at_work[] = {{.name = "where", .value = "nowhere", .origin = "a.ini:3", .base = "a_folder"},
                                      {.name = "how", .value = "zero"}};
static const bp_option_t coming[] = {{.name = "how", .value = "null", .origin = "b.ini:4"}};

static void expect_plugins(reader_t *reader, bool comes)
{
    expect_number(reader, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const plugin_t *plugin = host->loader.plugins.items[i];
        scratch_plugin_t described = scratch_read_plugin(reader);
        ck_assert_str_eq(described.name, i == 0 ? "crasher" : "point_mass");
        ck_assert_str_eq(described.path, plugin->path);
        ck_assert_str_eq(described.file, "");
        ck_assert(described.copy[0] != '\0' && strcmp(described.copy, plugin->copy) == 0);
        ck_assert(described.comes == (comes && i == 0));
        expect_options(reader, at_work, i == 0 ? 2 : 0);
        expect_options(reader, coming, comes && i == 0 ? 1 : 0);
    }
}

static void expect_world(reader_t *reader, const char *name, double rate, uint64_t steps, const char *units)
{
    double times[2];
    expect_text(reader, name);
    const void *given = reader_take(reader, sizeof times);
    ck_assert_ptr_nonnull(given);
    memcpy(times, given, sizeof times);
    ck_assert(times[0] == rate && times[1] == (double)steps / rate);
    ck_assert_uint_eq(reader_u64(reader), steps);
    expect_text(reader, units);
}

/* What a helper reads is what there is, to the last byte: of two plugins, a change, and two worlds. */
START_TEST(a_description_says_what_there_is_of_a_host_and_nothing_else)
{
    static const char *const wants[] = {"crash_plain", "crash_own", "crash_system", "of_nobody"};
    bool more = _i == 1;
    uint32_t late[2], prototype;
    bp_entity_t made[3];
    memory_t memory;
    bytes_t bytes;
    reload_change_t *change;
    options = at_work;
    begin(more ? BP_HOST_CRASH_GUARD : 0, NULL);
    const bp_api_t *api = bp_host_api(host);
    WORKS(host, bp_host_load_plugin(host, TEST_PLUGIN_DIR "/point_mass" TEST_SO, NULL, 0));
    bp_world_o *other = bp_world_create(host, &(bp_world_desc_t){.name = "other", .step_rate = 4, .units = "s=day"});
    WORKS(host, bp_world_step(other));
    WORKS(host, bp_world_use_system(other, "crash_system")); /* its first unit */
    ck_assert(wants_add(&world->wants, "of_nobody", false));
    late[0] = key_of(world, "crash_plain", "");
    late[1] = key_of(world, "crash_plain", "late");
    WORKS(host, api->world->prototype(world, late, 2, &prototype));
    WORKS(host, api->world->create(world, prototype, made, 1));
    WORKS(host, api->world->prototype(world, late + 1, 1, &prototype)); /* nothing lives in this one */
    WORKS(host, api->world->create(world, prototype, made + 1, 1));
    api->entity->destroy(host, made + 1, 1);
    WORKS(host, bp_world_step(world));
    plugin_t *plugin = loader_find(&host->loader, "crasher");
    plugin->coming = more ? coming : NULL;
    plugin->coming_count = 1;
    WORKS(host, reload_read(&host->reload, names, 1, &change));
    change->lossy = more;
    memory_init(&memory, "test", &(bp_allocator_i){0});
    bytes_init(&bytes, &memory);
    scratch_describe(&bytes, &host->reload, change, DEADLINE_MS);
    ck_assert(!bytes.failed);
    reader_t reader = reader_of(bytes.start, bytes.size);
    expect_text(&reader, SCRATCH_BEGINS);
    expect_number(&reader, more ? SCRATCH_GUARDED | SCRATCH_LOSSY : 0);
    expect_number(&reader, DEADLINE_MS);
    expect_number(&reader, more ? LIMIT_MS : DEADLINE_MS / 2 + 1); /* the shorter one */
    expect_plugins(&reader, more);
    expect_number(&reader, 1);
    expect_text(&reader, "crasher");
    expect_text(&reader, change->versions[0].copy);
    expect_number(&reader, 2);
    expect_world(&reader, "main", 1, 4, "");
    expect_number(&reader, COUNT(wants));
    for (uint32_t i = 0; i < COUNT(wants); i++) {
        expect_text(&reader, wants[i]);
        expect_number(&reader, i == 2);
    }
    expect_number(&reader, 2);
    expect_text(&reader, "crash_plain");
    expect_text(&reader, "crash_own");
    expect_number(&reader, 1);
    expect_text(&reader, "crash_system");
    expect_number(&reader, 3);
    for (uint32_t i = 0; i < 2; i++) {
        expect_number(&reader, 1);
        expect_text(&reader, i == 0 ? "crash_plain" : "crash_own");
        expect_text(&reader, i == 0 ? "crash_plain" : "crash_own");
    }
    expect_number(&reader, 2);
    expect_text(&reader, "crash_plain");
    expect_text(&reader, "late");
    expect_text(&reader, "crash_plain");
    expect_text(&reader, "crash_plain");
    expect_world(&reader, "other", 4, 1, "s=day");
    expect_number(&reader, 1); /* wants; a system */
    expect_text(&reader, "crash_system");
    expect_number(&reader, 1);
    expect_number(&reader, 0); /* components */
    expect_number(&reader, 1);
    expect_text(&reader, "crash_system");
    expect_number(&reader, 0); /* combinations */
    ck_assert(!reader.failed && reader_left(&reader) == 0);
    bytes_free(&bytes);
    reload_discard(change);
    plugin->coming = NULL;
    bp_host_destroy(host);
}
END_TEST

/* Where, how, under the guard or not, and what is told. */
#if defined(_WIN32) /* the system itself ends what crashes while it opens a library */
#define OPENED "the system cannot load it"
#else
#define OPENED "crashed while it was opened"
#endif
#if defined(__SANITIZE_ADDRESS__) /* AddressSanitizer ends the process in its own way */
#define ENDED "on trial its process ended with"
#else
#define ENDED "on trial it was ended by"
#endif
static const struct { const char *where, *how, *told; bool guarded; } harms[] = {
    {"constructor", "null", OPENED, true},
    {"load", "exit", "it called exit", true},
    {"load", "null", ENDED, false},
    {"plain_start", "zero", "crashed in 'start' of component 'crash_plain'", true},
    {"create", "null", "crashed in 'create' of component 'crash_own'", true},
    {"set", "call", "crashed in 'set' of component 'crash_own'", true},
    {"load_saved", "refuse", "component 'crash_own' does not load what it has saved itself", true},
    {"simulate", "loop", "crashed in 'simulate' of component 'crash_plain', world 'main', step 3: it did not", true},
    {"simulate", "behind", "did harm in 'simulate' of component 'crash_plain'", true},
    {"second_step", "sleep", "on trial", true},
    {"report", "stack", "crashed in 'report' of component 'crash_plain'", true},
    {"removed", "illegal", "crashed in 'entities_removed' of system 'crash_system'", true},
    {"unload", "abort", "crashed in 'unload'", true},
    {"destructor", "exit", "it called exit", true},
};

/* Of the second of two plugins that are to come in together. */
START_TEST(what_goes_wrong_in_a_helper_changes_nothing)
{
    has_companion = true;
    begin(harms[_i].guarded ? BP_HOST_CRASH_GUARD : 0, TEST_BACKPLANE);
    char *before = describe_host(host);
    put_plugin("crasher_next", "crasher");
    crash_next(harms[_i].where, harms[_i].how);
    bp_result_t result = bp_host_reload(host, both, COUNT(both), NULL);
    EXPECT(result == BP_ERROR_FAILED, "%s in %s: %d, %s", harms[_i].how, harms[_i].where, result, log_text.text);
    EXPECT(strstr(bp_host_error(host), harms[_i].told) != NULL, "\"%s\" is not in: %s", harms[_i].told,
           bp_host_error(host));
    expect_same(before, describe_host(host), bp_host_error(host));
    expect_each_step(1);
    bp_host_destroy(host);
}
END_TEST

/* Nothing of it stays: the file that told the helper what to build has gone with it. */
static void find_trial(void *data, const char *name)
{
    size_t length = strlen(name);
    *(uint32_t *)data += length > 6 && strcmp(name + length - 6, ".trial") == 0;
}

static void expect_no_trial(void)
{
    uint32_t found = 0;
    ck_assert(os_folder_list(host->loader.files.folders[host->loader.files.place].path, find_trial, &found));
    ck_assert_uint_eq(found, 0);
}

START_TEST(a_trial_leaves_no_file)
{
    begin(BP_HOST_CRASH_GUARD, TEST_BACKPLANE);
    put_plugin("crasher_next", "crasher");
    expect_to_come_in();
    expect_no_trial();
    bp_host_destroy(host);
}
END_TEST

START_TEST(a_change_of_options_is_tried_with_the_options_that_come)
{
    static const bp_option_t wrong[] = {{.name = "wher", .value = "nowhere"}};
    begin(BP_HOST_CRASH_GUARD, TEST_BACKPLANE);
    plugin_t *plugin = loader_find(&host->loader, "crasher");
    plugin->coming = wrong;
    plugin->coming_count = 1;
    bp_result_t result = bp_host_reload(host, names, 1, NULL);
    plugin->coming = NULL;
    EXPECT(result != BP_OK && strstr(bp_host_error(host), "on trial: ") != NULL, "%d: %s", result,
           bp_host_error(host));
    EXPECT(strstr(bp_host_error(host), "wher") != NULL, "%s", bp_host_error(host));
    bp_host_destroy(host);
}
END_TEST

#if !defined(_WIN32)
/* The helper finds another file in the place of the plugin, as one that is written while the trial runs. */
START_TEST(what_a_helper_tries_is_the_file_that_was_read_whatever_lies_there_by_then)
{
    static const char *const fixtures[] = {"crasher", "crasher_next"};
    char script[2048];
    bool harmless = _i == 1;
    has_companion = true;
    const char *path = put_plugin("crasher", "crasher");
    snprintf(script, sizeof script, "#!/bin/sh\ncp '%s/%s.so' '%s.new' && mv '%s.new' '%s'\nexec '%s' \"$@\"\n",
             TEST_FIXTURE_DIR, fixtures[_i], path, path, path, TEST_BACKPLANE);
    const char *program = scratch_file("writer", script);
    ck_assert_int_eq(chmod(program, 0755), 0);
    begin(BP_HOST_CRASH_GUARD, program);
    put_plugin(fixtures[1 - _i], "crasher");
    crash_next("load", "null");
    bp_result_t result = bp_host_reload(host, both, COUNT(both), NULL);
    EXPECT((result == BP_OK) == harmless, "%d: %s", result, bp_host_error(host));
    EXPECT(harmless || strstr(bp_host_error(host), "crashed in 'load'") != NULL, "%s", bp_host_error(host));
    EXPECT(!is_told("untried"), "%s", log_text.text);
    expect_each_step(1);
    bp_host_destroy(host);
}
END_TEST
#endif

/* A program that is no helper: one that is not there, and a file that is no program. */
START_TEST(without_a_helper_there_is_the_copy_or_no_trial_and_it_is_told)
{
    static const char *const programs[] = {TEST_SCRATCH_DIR "/nobody", TEST_SOURCE_DIR "/README.md"};
    begin(BP_HOST_CRASH_GUARD, programs[_i]);
    if (_i == 0)
        EXPECT(is_told(process_can_fork() ? "copies of this process do" : "they come in untried"), "%s",
               log_text.text);
    EXPECT(is_told("this system cannot copy a process") == (_i == 0 && !process_can_fork()), "%s", log_text.text);
    put_plugin("crasher_next", "crasher");
    expect_to_come_in();
    if (_i == 1)
        EXPECT(is_told("no process can be had"), "%s", log_text.text);
    expect_no_trial();
    bp_host_destroy(host);
}
END_TEST

#if !defined(_WIN32)
/* However much a helper says, in however many pieces, what is kept of it is its beginning. */
START_TEST(a_helper_that_does_not_end_talking_is_listened_to_so_far)
{
    const char *program = scratch_file("talker", "#!/bin/sh\n"
                                                 "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do\n"
                                                 "    head -c 10000 /dev/zero | tr '\\0' x\n"
                                                 "done\n"
                                                 "exit 3\n");
    ck_assert_int_eq(chmod(program, 0755), 0);
    begin(BP_HOST_CRASH_GUARD, program);
    char *before = describe_host(host);
    put_plugin("crasher_next", "crasher");
    FAILS(host, BP_ERROR_FAILED, "on trial: xxxxxxxxxx", bp_host_reload(host, names, 1, NULL));
    expect_same(before, describe_host(host), bp_host_error(host));
    expect_each_step(1);
    bp_host_destroy(host);
}
END_TEST
#endif

#if !defined(_WIN32)
#if defined(BACKPLANE_SANITIZED)
enum { DAMAGES = 16 };
#else
enum { DAMAGES = 40 };
#endif

/* A helper that finds its description cut, or with four bytes made larger than anything, or one that is C, at a place
 * that scratch files tell: `damage` in parts of its length, `cut` and `named` in bytes. The whole description is kept
 * beside them. */
static const char *write_damaging_helper(void)
{
    char text[2048], program[1024];
    ck_assert_ptr_nonnull(realpath(TEST_BACKPLANE, program));
    snprintf(text, sizeof text,
             "#!/bin/sh\ncp \"$2\" '%s/description'\n"
             "read how at <'%s/damage'\n"
             "[ $how = cut -o $how = named ] || at=$(($(wc -c <\"$2\") * at / %d))\n"
             "[ $how != named ] || printf C | dd of=\"$2\" bs=1 seek=$at conv=notrunc 2>/dev/null\n"
             "[ $how = damaged -o $how = named ] || head -c $at '%s/description' >\"$2\"\n"
             "[ $how != damaged ] || printf '\\377\\377\\377\\377' |\n"
             "dd of=\"$2\" bs=4 seek=$((at / 4)) conv=notrunc 2>/dev/null\n"
             "exec '%s' \"$@\"\n", TEST_SCRATCH_DIR, TEST_SCRATCH_DIR, DAMAGES, TEST_SCRATCH_DIR, program);
    const char *helper = scratch_file("damaging", text);
    ck_assert_int_eq(chmod(helper, 0755), 0);
    return helper;
}

static void damage(const char *helper, const char *how, int at)
{
    char text[32];
    snprintf(text, sizeof text, "%s %d\n", how, at);
    scratch_file("damage", text);
    begin(BP_HOST_CRASH_GUARD, helper);
    put_plugin("crasher_next", "crasher");
}

/* Where these bytes come for the nth time in the description. */
static int place_of(const char *text, size_t length, int nth)
{
    static char bytes[1 << 16];
    FILE *file = fopen(TEST_SCRATCH_DIR "/description", "rb");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t i = 0; i + length <= size; i++) {
        if (memcmp(bytes + i, text, length) == 0 && --nth == 0)
            return (int)i;
    }
    ck_abort_msg("it is not in the description");
    return 0;
}

/* Where the world "main" begins in the description; the number of worlds stands before it. */
static int place_of_worlds(void)
{
    static const char world_begins[] = "\4\0\0\0main"; /* its terminating 0 counts */
    return place_of(world_begins, sizeof world_begins, 1);
}

/* Cut anywhere, the description is no fault of the candidate: it comes in untried, and that is told. */
START_TEST(a_description_that_is_cut_is_not_held_against_the_candidate)
{
    char helper[1024];
    snprintf(helper, sizeof helper, "%s", write_damaging_helper());
    for (int i = 0; i <= DAMAGES + 1; i++) {
        bool whole = i == DAMAGES;
        damage(helper, i <= DAMAGES ? "part" : "cut", i <= DAMAGES ? i : place_of_worlds() - 2);
        expect_to_come_in();
        EXPECT(is_told("they come in untried: ") != whole, "cut at %d/%d: %s", i, DAMAGES, log_text.text);
        bp_host_destroy(host);
    }
}
END_TEST

/* The plugin that is to be tried has a name of nobody. */
START_TEST(a_candidate_that_a_helper_does_not_know_comes_in_untried)
{
    static const char named[] = "\7\0\0\0crasher";
    char helper[1024];
    snprintf(helper, sizeof helper, "%s", write_damaging_helper());
    for (int i = 0; i < 2; i++) {
        damage(helper, i == 0 ? "cut" : "named", i == 0 ? 1 : place_of(named, sizeof named, 2) + 4);
        expect_to_come_in();
        EXPECT(is_told(i == 0 ? "they come in untried: " : "untried: no plugin 'Crasher' is loaded"), "%s",
               log_text.text);
        bp_host_destroy(host);
    }
}
END_TEST

/* A description with a wrong number is one of another host: the candidate comes in, tried or untried, or is refused by
 * what a host says. The helper does not die of it. */
START_TEST(a_description_that_is_damaged_does_not_end_the_helper)
{
    char helper[1024];
    snprintf(helper, sizeof helper, "%s", write_damaging_helper());
    for (int i = 0; i < DAMAGES; i++) {
        damage(helper, "damaged", i);
        bp_result_t result = bp_host_reload(host, names, 1, NULL);
        EXPECT(result == BP_OK || (strstr(bp_host_error(host), "ended") == NULL &&
                                   strstr(bp_host_error(host), "crashed") == NULL),
               "damaged at %d/%d: %s", i, DAMAGES, bp_host_error(host));
        expect_each_step(result == BP_OK ? 100 : 1);
        bp_host_destroy(host);
    }
}
END_TEST
#endif

#if defined(BACKPLANE_SANITIZED)
enum { APART = 31 };
#else
enum { APART = 7 };
#endif

/* Each request for memory in turn fails, of those that a reload with a trial makes in this process. */
START_TEST(a_trial_for_which_memory_is_lacking_changes_nothing)
{
    enum { MOST = 2000 };
    uint64_t n = 0;
    bool refused = true;
    for (; refused && n < MOST; n++) {
        heap_t heap = {0};
        bp_allocator_i counted = heap_allocator(&heap);
        allocator = &counted;
        begin(BP_HOST_CRASH_GUARD, TEST_BACKPLANE);
        char *before = describe_host(host);
        put_plugin("crasher_next", "crasher");
        heap.refuse_first = heap.refuse_last = heap.requests + 1 + n;
        bp_result_t result = bp_host_reload(host, names, 1, NULL);
        heap.refuse_first = heap.refuse_last = 0;
        refused = heap.refused > 0;
        if (result != BP_OK)
            expect_same(before, describe_host(host), bp_host_error(host));
        else
            free(before);
        expect_each_step(result == BP_OK ? 100 : 1);
        bp_host_destroy(host);
        ck_assert_uint_eq(heap.blocks, 0);
        n += n > 40 ? APART - 1 : 0; /* the first ones are of the trial */
    }
    allocator = NULL;
    EXPECT(n > 10 && n < MOST, "%u requests", (unsigned)n);
}
END_TEST

/* --- what a helper cannot build ----------------------------------------------------------------------------------- */

static const bp_plugin_head_t linked = BP_PLUGIN_HEAD("linked", (&(const bp_plugin_desc_t){.version = "1"}));

/* By a reload at once, and by one beside the steps. */
START_TEST(what_a_helper_cannot_build_is_told_and_not_held_against_the_candidate)
{
    static const bp_plugin_head_t *const heads[] = {&linked};
    uint64_t until = os_clock_ns() + (uint64_t)5 * DEADLINE_MS * 1000000u;
    begin(BP_HOST_CRASH_GUARD, TEST_BACKPLANE);
    host->loader.static_plugins = heads;
    host->loader.static_count = 1;
    WORKS(host, bp_host_load_plugin(host, "linked", NULL, 0));
    put_plugin("crasher_next", "crasher");
    uint64_t changes = host->reload.changes;
    WORKS(host, _i == 0 ? bp_host_reload(host, names, 1, NULL) : bp_host_begin_reload(host, names, 1, 0));
    while (host->reload.changes == changes) {
        EXPECT(os_clock_ns() < until, "it does not come in; the log:\n%s", log_text.text);
        WORKS(host, bp_host_poll(host));
        os_sleep_ns(1000000);
    }
    expect_each_step(100);
    EXPECT(is_told("they come in untried: a plugin that is at work cannot be loaded a second time"), "%s",
           log_text.text);
    bp_host_destroy(host);
}
END_TEST

Suite *helper_suite(void)
{
    Suite *suite = suite_create("helper");
    TCase *trials = tcase_create("trials");
    tcase_set_timeout(trials, 60);
    tcase_add_test(trials, a_version_that_does_well_comes_in);
    tcase_add_test(trials, so_many_combinations_of_a_world_are_described_and_no_more);
    tcase_add_loop_test(trials, a_description_says_what_there_is_of_a_host_and_nothing_else, 0, 2);
    tcase_add_loop_test(trials, what_goes_wrong_in_a_helper_changes_nothing, 0, COUNT(harms));
#if !defined(_WIN32)
    tcase_add_test(trials, a_helper_that_does_not_end_talking_is_listened_to_so_far);
    tcase_add_test(trials, a_description_that_is_cut_is_not_held_against_the_candidate);
    tcase_add_test(trials, a_candidate_that_a_helper_does_not_know_comes_in_untried);
    tcase_add_test(trials, a_description_that_is_damaged_does_not_end_the_helper);
    tcase_add_loop_test(trials, what_a_helper_tries_is_the_file_that_was_read_whatever_lies_there_by_then, 0, 2);
#endif
    tcase_add_test(trials, a_trial_leaves_no_file);
    tcase_add_test(trials, a_trial_for_which_memory_is_lacking_changes_nothing);
    tcase_add_test(trials, a_change_of_options_is_tried_with_the_options_that_come);
    tcase_add_loop_test(trials, without_a_helper_there_is_the_copy_or_no_trial_and_it_is_told, 0, 2);
    tcase_add_loop_test(trials, what_a_helper_cannot_build_is_told_and_not_held_against_the_candidate, 0, 2);
    suite_add_tcase(suite, trials);
    return suite;
}
