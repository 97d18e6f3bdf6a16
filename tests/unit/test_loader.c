/* test_loader.c - plugins brought in, paused, copied and taken out, seen from inside their host: what a refusal says,
 * which verbs are called, what becomes of the copies of files.
 */
#include "../suites.h"
#include "support.h"

#include "engine/host.h"
#include "os/files.h"
#include "plugin/loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char companion[] = TEST_FIXTURE_DIR "/companion" TEST_SO;
static rig_t rig;

/* --- a plugin that refuses ---------------------------------------------------------------------------------------- */

/* What each verb of `moody` answers and says; what has been called. */
static struct {
    bp_result_t load, resume;
    const char *load_says, *resume_says;
    bool aside, attended; /* as `pause` has found its plugin */
    char called[64];
} mood;

static plugin_t *paused; /* the plugin that a test pauses */

static bp_result_t answer(const bp_plugin_t *plugin, const char *verb, bp_result_t result, const char *says)
{
    strcat(mood.called, verb);
    return says != NULL ? plugin->api->error->set(plugin->host, result, says) : result;
}

static bp_result_t moody_load(bp_plugin_t *plugin)
{
    return answer(plugin, "load ", mood.load, mood.load_says);
}

static void moody_unload(bp_plugin_t *plugin)
{
    answer(plugin, "unload ", BP_ERROR_IO, "its end says something else");
}

static void moody_pause(bp_plugin_t *plugin, uint32_t reason)
{
    char verb[16];
    snprintf(verb, sizeof verb, "pause %u ", reason);
    answer(plugin, verb, BP_OK, NULL);
    mood.aside = paused != NULL && plugin_is_aside(paused);
    mood.attended = paused != NULL && paused->attended;
}

static bp_result_t moody_resume(bp_plugin_t *plugin, uint32_t reason)
{
    char verb[16];
    snprintf(verb, sizeof verb, "resume %u ", reason);
    return answer(plugin, verb, mood.resume, mood.resume_says);
}

static const bp_component_i moody_components[] = {{.name = "moody"}};
static const bp_field_t moody_options[] = {{.name = "number", .type = BP_U8}};
static const bp_plugin_head_t moody =
    BP_PLUGIN_HEAD("moody", (&(const bp_plugin_desc_t){.components = BP_LIST(moody_components),
                                                       .options = BP_LIST(moody_options),
                                                       .load = moody_load,
                                                       .unload = moody_unload,
                                                       .pause = moody_pause,
                                                       .resume = moody_resume}));
static const bp_plugin_head_t plain =
    BP_PLUGIN_HEAD("plain", (&(const bp_plugin_desc_t){.version = "1.5", .doc = "has no verbs"}));
static const bp_plugin_head_t *const plugins[] = {&plain, &moody};

static void begin(void)
{
    memset(&mood, 0, sizeof mood);
    paused = NULL;
    rig_init(&rig);
    rig_open_with(&rig, plugins, COUNT(plugins));
}

static void end(void)
{
    rig_close(&rig);
}

static plugin_t *plugin_at(const rig_t *of, uint32_t at)
{
    ck_assert_uint_lt(at, of->host->loader.plugins.count);
    return of->host->loader.plugins.items[at];
}

/* The sentence of something earlier is never the reason. */
START_TEST(the_reason_of_a_refusal_is_what_the_plugin_says_or_that_it_says_nothing)
{
    static const struct {
        bp_result_t load, resume;
        const char *load_says, *resume_says, *sentence, *called;
    } cases[] = {
        {BP_ERROR_IO, BP_OK, "no key", NULL, "moody: its load failed: no key", "load "},
        {BP_ERROR_IO, BP_OK, NULL, NULL, "moody: its load failed: it gave no reason (code 7)", "load "},
        {BP_OK, BP_ERROR_IO, NULL, "no spring", "moody: its resume failed: no spring", "load resume 0 unload "},
        {BP_OK, BP_ERROR_IO, NULL, NULL, "moody: its resume failed: it gave no reason (code 7)",
         "load resume 0 unload "},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        char sentence[128];
        begin();
        uint32_t roster = rig.host->loader.plugins.roster;
        FAILS(rig.host, BP_ERROR_NOT_FOUND, "there is no", bp_host_load_plugin(rig.host, "nothing/there", NULL, 0));
        mood.load = cases[i].load;
        mood.resume = cases[i].resume;
        mood.load_says = cases[i].load_says;
        mood.resume_says = cases[i].resume_says;
        ck_assert_int_eq(bp_host_load_plugin(rig.host, "moody", NULL, 0), BP_ERROR_IO);
        snprintf(sentence, sizeof sentence, "%.*s%d%s", (int)strcspn(cases[i].sentence, "7"), cases[i].sentence,
                 BP_ERROR_IO, cases[i].sentence + strcspn(cases[i].sentence, "7") + 1);
        ck_assert_str_eq(bp_host_error(rig.host),
                         strchr(cases[i].sentence, '7') != NULL ? sentence : cases[i].sentence);
        ck_assert_str_eq(mood.called, cases[i].called);
        ck_assert_uint_eq(rig.host->loader.plugins.count, 0);
        ck_assert_uint_ne(rig.host->loader.plugins.roster, roster);
        ck_assert_uint_eq(rig.host->loader.plugins.calling, 0);
        ck_assert_ptr_null(registry_component(&rig.host->registry, "moody"));
        mood.load = mood.resume = BP_OK;
        mood.called[0] = '\0';
        WORKS(rig.host, bp_host_load_plugin(rig.host, "moody", NULL, 0));
        roster = rig.host->loader.plugins.roster;
        WORKS(rig.host, bp_host_unload_plugin(rig.host, "moody"));
        ck_assert_uint_ne(rig.host->loader.plugins.roster, roster);
        ck_assert_uint_eq(rig.host->loader.plugins.calling, 0);
        ck_assert_str_eq(mood.called, "load resume 0 pause 4 unload ");
        end();
    }
}
END_TEST

/* An option with a place says where it stands; what comes afterwards begins with the plugin's name again. */
START_TEST(a_refusal_begins_with_the_place_of_an_option_or_with_the_plugin)
{
    const bp_option_t placed = {"number", "300", "game.ini:3", NULL}, bare = {"number", "300", NULL, NULL};
    begin();
    ck_assert_int_eq(bp_host_load_plugin(rig.host, "moody", &placed, 1), BP_ERROR_TYPE);
    const char *sentence = bp_host_error(rig.host);
    ck_assert_msg(strncmp(sentence, "game.ini:3: option 'number' of plugin 'moody': ", 47) == 0, "%s", sentence);
    ck_assert_int_eq(bp_host_load_plugin(rig.host, "moody", &bare, 1), BP_ERROR_TYPE);
    ck_assert_msg(strncmp(sentence, "moody: option 'number' of plugin 'moody': ", 42) == 0, "%s", sentence);
    end();
}
END_TEST

/* --- paused ------------------------------------------------------------------------------------------------------- */

/* `pause` is called, as of a plugin that is sound, since its threads may run; then all is as it was. */
START_TEST(a_plugin_that_is_set_aside_is_paused_and_stays_set_aside)
{
    for (uint32_t attended = 0; attended < 2; attended++) {
        begin();
        WORKS(rig.host, bp_host_load_plugin(rig.host, "moody", NULL, 0));
        paused = plugin_at(&rig, 0);
        plugin_set_aside(paused);
        paused->attended = attended != 0;
        mood.called[0] = '\0';
        mood.aside = mood.attended = true;
        loader_pause(paused, BP_PAUSE_RELOAD);
        ck_assert(!mood.aside && !mood.attended);
        ck_assert(plugin_is_aside(paused));
        ck_assert_int_eq(paused->attended, attended != 0);
        loader_pause(paused, BP_PAUSE_RELOAD);
        WORKS(rig.host, loader_resume(&rig.host->loader, paused, BP_PAUSE_RELOAD));
        ck_assert(!paused->running);
        plugin_trust(paused);
        WORKS(rig.host, loader_resume(&rig.host->loader, paused, BP_PAUSE_RELOAD));
        WORKS(rig.host, loader_resume(&rig.host->loader, paused, BP_PAUSE_RELOAD));
        loader_pause(paused, BP_PAUSE_RELOAD);
        ck_assert_uint_eq(rig.host->loader.plugins.calling, 0);
        char wanted[64];
        snprintf(wanted, sizeof wanted, "pause %u resume %u pause %u ", BP_PAUSE_RELOAD, BP_PAUSE_RELOAD,
                 BP_PAUSE_RELOAD);
        ck_assert_str_eq(mood.called, wanted);
        end();
    }
}
END_TEST

/* A plugin that does not resume is told in the log, and the sentence of the call under way stays. */
START_TEST(a_resume_that_fails_is_told_and_changes_no_sentence)
{
    begin();
    WORKS(rig.host, bp_host_load_plugin(rig.host, "moody", NULL, 0));
    plugin_t *plugin = plugin_at(&rig, 0);
    loader_pause_all(&rig.host->loader, BP_PAUSE_RELOAD);
    ck_assert(!plugin->running);
    error_set(&rig.host->base.error, BP_ERROR_IO, "of the call under way");
    mood.resume = BP_ERROR_FAILED;
    mood.resume_says = "no spring";
    loader_resume_all(&rig.host->loader, BP_PAUSE_RELOAD);
    ck_assert(!plugin->running);
    ck_assert_str_eq(bp_host_error(rig.host), "of the call under way");
    ck_assert_msg(strstr(rig.log.text, "its resume failed: no spring") != NULL, "%s", rig.log.text);
    rig.log.text[0] = '\0';
    rig.log.count = 0;
    mood.resume = BP_OK;
    mood.resume_says = NULL;
    loader_resume_all(&rig.host->loader, BP_PAUSE_RELOAD);
    ck_assert(plugin->running);
    end();
}
END_TEST

/* In a copy of the process, and in a clone, plugins run only where they are told that it is a copy. */
START_TEST(on_trial_a_plugin_is_resumed_for_a_copy_alone)
{
    for (uint32_t clone = 0; clone < 2; clone++) {
        begin();
        loader_t *loader = &rig.host->loader;
        loader->on_trial = clone == 0;
        loader->plugins.clone = clone != 0;
        WORKS(rig.host, bp_host_load_plugin(rig.host, "moody", NULL, 0));
        char wanted[64];
        snprintf(wanted, sizeof wanted, "load resume %u ", BP_PAUSE_COPY);
        ck_assert_str_eq(mood.called, wanted);
        loader_pause(plugin_at(&rig, 0), BP_PAUSE_RELOAD);
        WORKS(rig.host, loader_resume(loader, plugin_at(&rig, 0), BP_PAUSE_RELOAD));
        ck_assert(!plugin_at(&rig, 0)->running);
        WORKS(rig.host, loader_resume(loader, plugin_at(&rig, 0), BP_PAUSE_COPY));
        ck_assert(plugin_at(&rig, 0)->running);
        loader->on_trial = loader->plugins.clone = false;
        end();
    }
}
END_TEST

/* --- files and copies --------------------------------------------------------------------------------------------- */

static bool same_stamp(const file_stamp_t *a, const file_stamp_t *b)
{
    return a->size == b->size && a->written == b->written && a->id == b->id;
}

/* The copy of a plugin's file goes with the plugin; on trial it is another process's, and stays. */
START_TEST(a_copy_of_a_file_goes_with_its_plugin)
{
    char path[1024], *copy;
    file_stamp_t stamp;
    begin();
    loader_t *loader = &rig.host->loader;
    loader->copies = true;
    WORKS(rig.host, bp_host_load_plugin(rig.host, companion, NULL, 0));
    plugin_t *plugin = plugin_at(&rig, 0);
    ck_assert(file_stamp(companion, &stamp) && same_stamp(&stamp, &plugin->stamp));
    ck_assert_str_eq(plugin->path, companion);
    ck_assert_str_eq(loader_file(plugin), companion);
    ck_assert_ptr_nonnull(plugin->copy);
    snprintf(path, sizeof path, "%s", plugin->copy);
    ck_assert(file_exists(path));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "companion"));
    ck_assert(!file_exists(path));

    WORKS(rig.host, loader_copy(loader, companion, &copy));
    ck_assert_str_ne(copy, companion);
    loader->on_trial = true;
    loader_remove_copy(loader, copy);
    ck_assert(file_exists(copy));
    char *same;
    WORKS(rig.host, loader_copy(loader, copy, &same));
    ck_assert_str_eq(same, copy);
    memory_free_text(&loader->memory, same);
    rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + 1;
    FAILS(rig.host, BP_ERROR_MEMORY, "out of memory while trying a plugin", loader_copy(loader, copy, &same));
    rig.heap.refuse_first = 0;
    loader->on_trial = false;
    loader_remove_copy(loader, copy);
    ck_assert(!file_exists(copy));
    memory_free_text(&loader->memory, copy);
    end();
}
END_TEST

/* --- like another host -------------------------------------------------------------------------------------------- */

/* Load what `rig` has loaded into a second host, with each request for memory refused in turn. What is said goes to
 * `said`, each sentence once in a row. */
static void load_like(bool copies, char *said, size_t size)
{
    const plugin_t *original = plugin_at(&rig, 0);
    char last[512] = "";
    rig_t second;
    rig_init(&second);
    rig_open_with(&second, plugins, COUNT(plugins));
    second.host->loader.copies = copies;
    said[0] = '\0';
    for (uint64_t n = 1; n < 500; n++) {
        second.heap.refuse_first = second.heap.refuse_last = second.heap.requests + n;
        bp_result_t result = loader_load_like(&second.host->loader, original);
        bool asked = second.heap.requests >= second.heap.refuse_first;
        second.heap.refuse_first = second.heap.refuse_last = 0;
        if (!asked) {
            WORKS(second.host, result);
            break;
        }
        EXPECT(result == BP_ERROR_MEMORY, "request %d: %d: %s", (int)n, result, bp_host_error(second.host));
        ck_assert_uint_eq(second.host->loader.plugins.count, 0);
        if (strcmp(last, bp_host_error(second.host)) != 0)
            snprintf(said + strlen(said), size - strlen(said), "%s\n", bp_host_error(second.host));
        snprintf(last, sizeof last, "%s", bp_host_error(second.host));
    }
    const plugin_t *made = plugin_at(&second, 0);
    ck_assert_str_eq(made->name, original->name);
    ck_assert_str_eq(made->version, original->version);
    ck_assert_str_eq(made->path, original->path);
    ck_assert(same_stamp(&made->stamp, &original->stamp));
    ck_assert_uint_eq(made->image, original->image);
    ck_assert_uint_eq(made->given_count, original->given_count);
    ck_assert_int_eq(made->copy != NULL, original->copy != NULL);
    EXPECT(made->copy == NULL || strcmp(made->copy, original->copy) != 0, "both hosts have one copy");
    EXPECT(made->library == NULL || (made->library == original->library) == (original->copy == NULL),
           "the image is that of the other host, or is not");
    rig_close(&second);
}

START_TEST(what_another_host_has_loaded_is_loaded_like_it_or_refused_with_a_sentence)
{
    static char said[8192];
    static const bp_option_t number = {"number", "5", NULL, NULL};
    static const char first[] = "out of memory while loading a plugin\n"
                                "companion: out of memory while loading a plugin\ncompanion: ";
    static const char of_copies[] = TEST_SO ": out of memory while reading it\n"
                                    "companion: out of memory while copying a plugin\n"
                                    "companion: out of memory while loading it\n";
    begin();
    WORKS(rig.host, bp_host_load_plugin(rig.host, "moody", &number, 1));
    load_like(false, said, sizeof said);
    ck_assert_str_eq(said, "out of memory while loading a plugin\n"
                           "moody: out of memory while loading a plugin\n"
                           "moody: out of memory while loading it\n"
                           "moody: out of memory while copying what it brings\n"
                           "moody: out of memory while loading it\n"
                           "moody: out of memory while reading its options\n"
                           "moody: its option list: out of memory while copying a field's declaration\n"
                           "moody: component 'moody': out of memory while registering a component\n");
    end();
    for (uint32_t copies = 0; copies < 2; copies++) {
        begin();
        rig.host->loader.copies = copies != 0;
        WORKS(rig.host, bp_host_load_plugin(rig.host, companion, NULL, 0));
        plugin_at(&rig, 0)->image = 77;
        load_like(copies != 0, said, sizeof said);
        EXPECT(strncmp(said, first, strlen(first)) == 0, "%s", said);
        EXPECT(strstr(said, of_copies) != NULL || copies == 0, "%s", said);
        end();
    }
}
END_TEST

Suite *loader_suite(void)
{
    Suite *suite = suite_create("loader");
    TCase *all = add_case(suite, "loader", NULL, NULL, 60);
    tcase_add_test(all, the_reason_of_a_refusal_is_what_the_plugin_says_or_that_it_says_nothing);
    tcase_add_test(all, a_refusal_begins_with_the_place_of_an_option_or_with_the_plugin);
    tcase_add_test(all, a_plugin_that_is_set_aside_is_paused_and_stays_set_aside);
    tcase_add_test(all, a_resume_that_fails_is_told_and_changes_no_sentence);
    tcase_add_test(all, on_trial_a_plugin_is_resumed_for_a_copy_alone);
    tcase_add_test(all, a_copy_of_a_file_goes_with_its_plugin);
    tcase_add_test(all, what_another_host_has_loaded_is_loaded_like_it_or_refused_with_a_sentence);
    return suite;
}
