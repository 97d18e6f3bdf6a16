/* test_reload_faults.c - a fault at every step of a reload: each time the whole host is as it was, to the last value.
 *
 * The steps: the file is not there, cut short, overwritten while it is read, not loadable, no plugin; each request for
 * memory in turn, alone and with all after it; `load` and `start` that fail are in test_reload.c, those that crash with
 * the crash guard's tests.
 */
#include "../suites.h"
#include "reload_support.h"

#include "os/os.h"

#include <stdlib.h>
#include <string.h>

#if defined(BACKPLANE_SANITIZED)
enum { NEXT = 9 }; /* a sample: sanitizers are slow */
#else
enum { NEXT = 1 };
#endif

static scene_t scene;
static const char *const probe[] = {"probe"};

static void open_1(void)
{
    scene_open(&scene, PROBE_FIRST);
}

static void close_scene(void)
{
    check_host(scene.host);
    scene_close(&scene);
}

static void expect_no_trace(char **before, const char *what)
{
    char *after = describe_host(scene.host);
    EXPECT(strcmp(*before, after) == 0, "%s has left a trace", what);
    free(*before);
    *before = after;
}

/* --- files --------------------------------------------------------------------------------------------------- */

START_TEST(a_file_cut_short_at_any_length_is_refused)
{
    size_t size;
    char *bytes = fixture_bytes("reload_probe_reshaped", &size), what[64];
    char *before = describe_host(scene.host);
    for (size_t length = 0; length < size; length += length < 1024 ? 37 : 311) {
        put_bytes(bytes, length, "probe");
        bp_result_t result = bp_host_reload(scene.host, probe, 1, NULL);
        EXPECT(result != BP_OK, "%zu of %zu bytes were taken for a plugin", length, size);
        snprintf(what, sizeof what, "a file of %zu bytes", length);
        if (length % 8 == 0)
            expect_no_trace(&before, what);
        scene_clear_log(&scene);
    }
    expect_no_trace(&before, "files cut short");
    free(before);
    put_bytes(bytes, size, "probe");
    WORKS(scene.host, bp_host_reload(scene.host, probe, 1, NULL));
    free(bytes);
}
END_TEST

START_TEST(a_file_with_an_empty_tail_is_refused)
{
    size_t size;
    char *bytes = fixture_bytes("reload_probe_reshaped", &size), *cut = malloc(size);
    char *before = describe_host(scene.host);
    ck_assert_ptr_nonnull(cut);
    for (size_t length = size / 8; length < size - 64; length += 997) {
        memset(cut, 0, size);
        memcpy(cut, bytes, length);
        put_bytes(cut, size, "probe");
        EXPECT(bp_host_reload(scene.host, probe, 1, NULL) != BP_OK, "zeros from %zu on were taken for a plugin",
               length);
        scene_clear_log(&scene);
    }
    expect_no_trace(&before, "files with empty tails");
    free(before);
    free(bytes);
    free(cut);
}
END_TEST

typedef struct writer_t {
    char *versions[2];
    size_t sizes[2];
    _Atomic int over;
} writer_t;

/* Overwrites the file in place, again and again, a piece at a time. */
static void overwrite(void *data)
{
    writer_t *w = data;
    for (int n = 0; w->over == 0; n++) {
        FILE *file = fopen(TEST_SCRATCH_DIR "/probe" TEST_SO, "r+b");
        if (file == NULL)
            continue;
        setvbuf(file, NULL, _IONBF, 0);
        for (size_t at = 0; at < w->sizes[n % 2] && w->over == 0; at += 512) {
            size_t piece = w->sizes[n % 2] - at < 512 ? w->sizes[n % 2] - at : 512;
            fwrite(w->versions[n % 2] + at, 1, piece, file);
        }
        fclose(file);
    }
}

START_TEST(a_file_that_is_overwritten_while_it_is_read_does_no_harm)
{
    /* Two files of one plugin that differ in their texts alone, so that any mixture of them can be loaded: what is
     * tested is that the host never works on bytes that change under it. */
    writer_t w = {.over = 0};
    os_thread_t thread;
    size_t size;
    w.versions[0] = fixture_bytes("reload_probe_reordered", &w.sizes[0]);
    w.versions[1] = fixture_bytes("reload_probe_reordered", &w.sizes[1]);
    for (size_t i = 0; i + 8 < w.sizes[1]; i++) {
        if (memcmp(w.versions[1] + i, "extra", 6) == 0)
            memcpy(w.versions[1] + i, "other", 6);
    }
    free(fixture_bytes("reload_probe_reordered", &size));
    put_bytes(w.versions[0], w.sizes[0], "probe");
    uint32_t taken = 0, refused = 0;
    ck_assert(os_thread_start(&thread, overwrite, &w));
    for (int n = 0; n < 60; n++) {
        bp_result_t result = bp_host_reload(scene.host, probe, 1, NULL);
        taken += result == BP_OK;
        refused += result != BP_OK;
        EXPECT(result == BP_OK || result == BP_ERROR_IO || result == BP_ERROR_ABI, "%d: %s", result,
               bp_host_error(scene.host));
        scene_clear_log(&scene);
        EACH_PROBE(&scene, i)
            EXPECT(probe_f32(&scene, i, "mass") == 2.0f + (float)i, "the mass of %u", i);
    }
    w.over = 1;
    os_thread_join(thread);
    ck_assert_uint_eq(taken + refused, 60);
    free(w.versions[0]);
    free(w.versions[1]);
}
END_TEST

START_TEST(what_is_no_plugin_is_refused)
{
    static const char text[] = "this is no library";
    char *before = describe_host(scene.host);
    put_bytes(text, sizeof text, "probe");
    FAILS(scene.host, BP_ERROR_ABI, "probe" TEST_SO, bp_host_reload(scene.host, probe, 1, NULL));
    put_plugin("no_symbol", "probe");
    FAILS(scene.host, BP_ERROR_ABI, "bp_plugin", bp_host_reload(scene.host, probe, 1, NULL));
    expect_no_trace(&before, "a file that is no plugin");
    free(before);
    scene_clear_log(&scene);
}
END_TEST

#if defined(__linux__)
/* A library whose table of hashes (DT_GNU_HASH) has another hash for the symbol: it is there, and the system does not
 * find it. */
START_TEST(a_symbol_that_the_system_does_not_find_is_none)
{
    size_t size;
    uint32_t hash = 5381, changed = 0;
    char *bytes = fixture_bytes(probe_fixture(PROBE_FASTER), &size), *before = describe_host(scene.host);
    for (const char *c = "bp_plugin"; *c != '\0'; c++)
        hash = hash * 33 + (unsigned char)*c;
    for (size_t at = 0; at + sizeof hash <= size; at += sizeof hash) {
        uint32_t word;
        memcpy(&word, bytes + at, sizeof word);
        if ((word | 1) != (hash | 1))
            continue;
        word ^= 2;
        memcpy(bytes + at, &word, sizeof word);
        changed++;
    }
    ck_assert_uint_eq(changed, 1);
    put_bytes(bytes, size, "probe");
    FAILS(scene.host, BP_ERROR_ABI, "it does not export 'bp_plugin'", bp_host_reload(scene.host, probe, 1, NULL));
    expect_no_trace(&before, "a file with a symbol that is not found");
    free(before);
    free(bytes);
    scene_clear_log(&scene);
}
END_TEST
#endif

/* --- memory ---------------------------------------------------------------------------------------------------- */

/* Every request of a reload from one version to another fails once; alone, or with all after it. What it can do
 * without comes after all that the new version needs, but for the next step's order, which is found in the end. */
static void starve(int from, int version, bool all_after)
{
    heap_t *heap = &scene.rig.heap;
    char *before = describe_host(scene.host), what[64];
    uint32_t refused = 0, spared = 0;
    for (uint64_t nth = 1; nth < 5000; nth += nth < 150 ? NEXT : 3 * NEXT) {
        heap->refused = 0;
        scene.api->error->set(scene.host, BP_OK, "nothing was said");
        heap->refuse_first = heap->requests + nth;
        heap->refuse_last = all_after ? UINT64_MAX : heap->refuse_first;
        bp_result_t result = scene_reload(&scene, version);
        heap->refuse_first = heap->refuse_last = 0;
        if (heap->refused == 0) {
            ck_assert_int_eq(result, BP_OK);
            break;
        }
        if (result == BP_OK) {
            spared++;
            free(before);
            WORKS(scene.host, scene_reload(&scene, from));
            before = describe_host(scene.host);
            continue;
        }
        EXPECT(spared == 0 || strstr(bp_host_error(scene.host), " a step") != NULL,
               "%u requests before %u could be refused, and that is not: %s", spared, (unsigned)nth,
               bp_host_error(scene.host));
        refused++;
        EXPECT(result == BP_ERROR_MEMORY || result == BP_ERROR_IO || result == BP_ERROR_ABI, "request %u: %d: %s",
               (unsigned)nth, result, bp_host_error(scene.host));
        EXPECT(strstr(bp_host_error(scene.host), "memory") != NULL, "request %u: %s", (unsigned)nth,
               bp_host_error(scene.host));
        snprintf(what, sizeof what, "request %u without memory", (unsigned)nth);
        check_host(scene.host);
        if (nth % 17 == 0 || nth < 20)
            expect_no_trace(&before, what);
    }
    ck_assert_uint_gt(refused, 30 / NEXT);
    free(before);
}

START_TEST(without_memory_nothing_changes)
{
    static const struct { int from, to; uint32_t probation; bool all;
    } cases[] = {
        {PROBE_FIRST, PROBE_FASTER, 0, false}, {PROBE_FIRST, PROBE_RESHAPED, 0, false},
        {PROBE_FIRST, PROBE_RESHAPED, 0, true}, {PROBE_FIRST, PROBE_REORDERED, 5, false},
        {PROBE_FIRST, PROBE_OWN, 0, false}, {PROBE_OWN, PROBE_OWN, 5, false}, {PROBE_OWN, PROBE_FIRST, 0, true},
    };
    if (cases[_i].from != PROBE_FIRST)
        WORKS(scene.host, scene_reload(&scene, cases[_i].from));
    scene.host->reload.probation_steps = cases[_i].probation;
    starve(cases[_i].from, cases[_i].to, cases[_i].all);
    reload_accept(&scene.host->reload);
}
END_TEST

START_TEST(a_plugin_with_options_and_systems_starves_likewise)
{
    static const char *const both[] = {"reload_reader", "probe"};
    heap_t *heap = &scene.rig.heap;
    WORKS(scene.host, bp_host_load_plugin(scene.host, put_plugin("reload_reader", "reload_reader"), NULL, 0));
    WORKS(scene.host, bp_world_use_component(scene.world, "seen"));
    WORKS(scene.host, bp_world_use_system(scene.world, "look"));
    WORKS(scene.host, bp_host_step(scene.host));
    char *before = describe_host(scene.host);
    put_plugin("reload_probe_reordered", "probe");
    for (uint64_t nth = 1; nth < 5000; nth += NEXT) {
        heap->refused = 0;
        heap->refuse_first = heap->refuse_last = heap->requests + nth;
        bp_result_t result = bp_host_reload(scene.host, both, 2, NULL);
        heap->refuse_first = heap->refuse_last = 0;
        scene_clear_log(&scene);
        if (heap->refused == 0) {
            ck_assert_int_eq(result, BP_OK);
            break;
        }
        if (result == BP_OK) {
            free(before);
            before = describe_host(scene.host);
        }
        put_plugin(nth % 2 == 0 ? "reload_probe_reordered" : "reload_probe_first", "probe");
        check_host(scene.host);
        if (nth % 11 == 0 && result != BP_OK)
            expect_no_trace(&before, "a request without memory");
    }
    free(before);
    scene_clear_log(&scene);
}
END_TEST

/* Where a plugin is loaded though memory is lacking at some request, it has the options that it was given. */
START_TEST(a_plugin_that_is_loaded_has_its_options_whichever_request_fails)
{
    static const bp_option_t options[] = {{.name = "where", .value = "nowhere at all"},
                                          {.name = "how", .value = "not at all"}};
    heap_t *heap = &scene.rig.heap;
    const char *path = TEST_FIXTURE_DIR "/crasher" TEST_SO;
    bool refused = true;
    uint32_t failed = 0;
    for (uint64_t nth = 1; refused; nth++) {
        heap->refused = 0;
        heap->refuse_first = heap->refuse_last = heap->requests + nth;
        bp_result_t result = bp_host_load_plugin(scene.host, path, options, 2);
        heap->refuse_first = heap->refuse_last = 0;
        refused = heap->refused > 0;
        failed += result != BP_OK;
        scene_clear_log(&scene);
        ck_assert(refused || result == BP_OK);
        if (result != BP_OK)
            continue;
        const plugin_t *plugin = loader_find(&scene.host->loader, "crasher");
        for (uint32_t i = 0; i < 2; i++)
            ck_assert_str_eq(plugin->option_values[i].string, options[i].value);
        WORKS(scene.host, bp_host_unload_plugin(scene.host, "crasher"));
    }
    ck_assert_uint_gt(failed, 10);
}
END_TEST

Suite *reload_faults_suite(void)
{
    Suite *suite = suite_create("reload_faults");
    TCase *files = tcase_create("files");
    tcase_add_checked_fixture(files, open_1, close_scene);
    tcase_set_timeout(files, 30);
    tcase_add_test(files, a_file_cut_short_at_any_length_is_refused);
    tcase_add_test(files, a_file_with_an_empty_tail_is_refused);
    tcase_add_test(files, a_file_that_is_overwritten_while_it_is_read_does_no_harm);
    tcase_add_test(files, what_is_no_plugin_is_refused);
#if defined(__linux__)
    tcase_add_test(files, a_symbol_that_the_system_does_not_find_is_none);
#endif
    suite_add_tcase(suite, files);
    TCase *memory = tcase_create("memory");
    tcase_add_checked_fixture(memory, open_1, close_scene);
    tcase_set_timeout(memory, 60);
    tcase_add_loop_test(memory, without_memory_nothing_changes, 0, 7);
    tcase_add_test(memory, a_plugin_with_options_and_systems_starves_likewise);
    tcase_add_test(memory, a_plugin_that_is_loaded_has_its_options_whichever_request_fails);
    suite_add_tcase(suite, memory);
    return suite;
}
