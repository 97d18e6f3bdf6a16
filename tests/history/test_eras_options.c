/* test_eras_options.c - options are part of a plugin's version: going back and forth over a change of options, in the
 * past that a host remembers and in recordings; and what a host is made of as bytes, damaged and without memory.
 *
 * The plugins are the real ones from their files, set up by an ini that is changed while its host runs.
 */
#include "../suites.h"
#include "../unit/support.h"
#include "recall.h"

#include "engine/host.h"
#include "engine/makeup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 12, AT = 5 }; /* the options change behind that step */

static const char file[] = TEST_SCRATCH_DIR "/eras_options";
static char ini[1024];

/* With a softening of gravity the plugin orbit, which is loaded before it, has another constant too. */
static void write_ini(const char *options)
{
    char text[1024];
    snprintf(text, sizeof text,
             "[host]\nplugin_path = ../plugins\nplugins = point_mass orbit gravity\nhistory = 16 MiB\n"
             "[plugin orbit]\n%s[plugin gravity]\n%s"
             "[world main]\nstep_rate = 8\ncomponents = point_mass\nsystems = gravity\n"
             "[spawn main a]\ncomponents = point_mass\n"
             "[spawn main b]\ncomponents = point_mass\npoint_mass.mass = 2\npoint_mass.position = 3 0 0\n",
             strstr(options, "softening") != NULL ? "constant = 0.0004\n" : "", options);
    snprintf(ini, sizeof ini, "%s", scratch_file("eras_options.ini", text));
}

static const char *const options[] = {"constant = 1\n", "constant = 2\nsoftening = 0.5\n"};

static bp_host_o *open_host(rig_t *rig, const char *given)
{
    rig_init(rig);
    rig->desc.flags = BP_HOST_COPY_PLUGINS;
    rig_open(rig);
    write_ini(given);
    WORKS(rig->host, bp_host_setup(rig->host, ini));
    return rig->host;
}

static void change_options(bp_host_o *host, const char *given)
{
    write_ini(given);
    WORKS(host, bp_host_setup_again(host, ini, NULL));
}

/* How many options the version at work was given, by which the versions here differ. */
static uint32_t options_given(const bp_host_o *host)
{
    const plugin_t *orbit = host->loader.plugins.items[1], *gravity = host->loader.plugins.items[2];
    ck_assert(strcmp(orbit->name, "orbit") == 0 && strcmp(gravity->name, "gravity") == 0);
    ck_assert_uint_eq(orbit->given_count, gravity->given_count - 1);
    ck_assert(orbit->coming == NULL && gravity->coming == NULL); /* nothing of it stays for a later reload */
    return gravity->given_count;
}

static void run(bp_host_o *host, uint64_t hashes[STEPS + 1])
{
    hashes[0] = recall_hash(host);
    for (uint32_t i = 0; i < STEPS; i++) {
        if (i == AT)
            change_options(host, options[1]);
        WORKS(host, bp_host_step(host));
        hashes[i + 1] = recall_hash(host);
    }
}

START_TEST(each_moment_has_its_options)
{
    uint64_t hashes[STEPS + 1], random = 4;
    rig_t rig;
    bp_host_o *host = open_host(&rig, options[0]);
    run(host, hashes);
    for (uint32_t v = 0; v < 30; v++) {
        uint64_t moment = bp_random_below(&random, STEPS + 1);
        WORKS(host, bp_host_go(host, moment));
        EXPECT(recall_hash(host) == hashes[moment], "moment %u is not what it was", (uint32_t)moment);
        ck_assert_uint_eq(options_given(host), moment > AT ? 2 : 1);
        if (moment < STEPS) {
            WORKS(host, bp_host_step(host));
            EXPECT(recall_hash(host) == hashes[moment + 1], "a step from %u on is not what it was", (uint32_t)moment);
        }
    }
    recall_close(&rig);
}
END_TEST

/* Played by a host with the options of the beginning, with those of the end, and with others: an option of another
 * name, one of another value, and one more. */
START_TEST(a_recording_has_the_options_of_each_moment)
{
    static const char *const here[] = {"constant = 1\n", "constant = 2\nsoftening = 0.5\n", "softening = 7\n",
                                        "constant = 9\n", "constant = 1\nsoftening = 9\n"};
    uint64_t hashes[STEPS + 1], random = 9;
    bp_recording_o *recording;
    rig_t rig;
    bp_host_o *host = open_host(&rig, options[0]);
    bp_host_record_every(host, 10000);
    WORKS(host, bp_host_record(host, file, "a test"));
    run(host, hashes);
    WORKS(host, bp_host_record_end(host));
    recall_close(&rig);
    host = open_host(&rig, here[_i]);
    WORKS(host, bp_recording_open(host, file, &recording));
    for (uint32_t v = 0; v < 20; v++) {
        uint64_t moment = v == 0 ? AT - 1 : v == 1 ? STEPS : bp_random_below(&random, STEPS + 1);
        WORKS(host, bp_recording_play(recording, moment, NULL));
        EXPECT(recall_hash(host) == hashes[moment], "moment %u is not what it was", (uint32_t)moment);
        if (moment < AT || moment > AT)
            ck_assert_uint_eq(options_given(host), moment > AT ? 2 : 1);
    }
    bp_recording_close(recording);
    recall_close(&rig);
}
END_TEST

/* --- as bytes ----------------------------------------------------------------------------------------------------- */

/* The makeup of a host as bytes. */
static void write_makeup(bp_host_o *host, bytes_t *bytes)
{
    makeup_t *makeup;
    bytes_init(bytes, &host->base.memory);
    WORKS(host, makeup_look(host, host, NULL, &makeup));
    WORKS(host, makeup_write(host, makeup, NULL, bytes));
    makeup_free(host, makeup);
}

static bp_result_t read_makeup(bp_host_o *host, const char *bytes, size_t size)
{
    makeup_t *makeup = NULL;
    reader_t reader = reader_of(bytes, size);
    bp_result_t result = makeup_read(host, &reader, NULL, &makeup);
    if (result == BP_OK)
        makeup_free(host, makeup);
    return result;
}

/* Cut anywhere outside of the plugins' files, which have no structure here, and with each word there made larger than
 * anything: refused with a sentence, and nothing is kept; or, where the word is no count, read. */
START_TEST(a_makeup_that_is_damaged_is_refused)
{
    rig_t rig;
    bytes_t bytes;
    bp_host_o *host = open_host(&rig, options[1]);
    write_makeup(host, &bytes);
    size_t held = rig.heap.bytes;
    char *copy = malloc(bytes.size);
    ck_assert_ptr_nonnull(copy);
    uint32_t refused = 0;
    WORKS(host, read_makeup(host, bytes.start, bytes.size));
    for (size_t at = 0; at < bytes.size; at += 4) {
        if (at == 512)
            at = bytes.size - 512; /* the parts of the last plugin's file there are few */
        FAILS(host, BP_ERROR_SYNTAX, "what the recorded host was made of is damaged",
              read_makeup(host, bytes.start, at));
        memcpy(copy, bytes.start, bytes.size);
        memset(copy + at, 0xff, 4);
        bp_host_api(host)->error->set(host, BP_OK, "nothing was said");
        bp_result_t result = read_makeup(host, copy, bytes.size);
        EXPECT(result == BP_OK || strcmp(bp_host_error(host), "nothing was said") != 0, "at %zu: no sentence", at);
        refused += result != BP_OK;
        EXPECT(rig.heap.bytes == held, "at %zu: %zu bytes are kept", at, rig.heap.bytes - held);
    }
    ck_assert_uint_gt(refused, 10);
    free(copy);
    bytes_free(&bytes);
    recall_close(&rig);
}
END_TEST

START_TEST(no_memory_for_a_makeup)
{
    rig_t rig;
    bytes_t bytes;
    makeup_t *makeup = NULL;
    bp_host_o *host = open_host(&rig, options[_i]);
    write_makeup(host, &bytes);
    size_t held = rig.heap.bytes;
    for (uint32_t which = 0; which < 2; which++) {
        uint32_t refused = 0;
        bp_result_t result = BP_ERROR_MEMORY;
        for (uint64_t k = 1; result != BP_OK || rig.heap.refused > 0; k++) {
            EXPECT(k < 500, "a makeup that never comes");
            rig.heap.refused = 0;
            rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + k;
            makeup = NULL;
            result = which == 0 ? makeup_look(host, host, NULL, &makeup)
                                : read_makeup(host, bytes.start, bytes.size);
            rig.heap.refuse_first = rig.heap.refuse_last = 0;
            EXPECT(result == BP_OK || strstr(bp_host_error(host), "out of memory") != NULL, "request %u: %s",
                   (uint32_t)k, bp_host_error(host));
            if (result == BP_OK)
                makeup_free(host, makeup);
            refused += rig.heap.refused > 0;
            EXPECT(rig.heap.bytes == held, "request %u: %zu bytes are kept", (uint32_t)k, rig.heap.bytes - held);
        }
        ck_assert_uint_gt(refused, 8);
    }
    bytes_free(&bytes);
    recall_close(&rig);
}
END_TEST

/* One change of an ini takes a system out, and brings another one in; the next one exchanges their places: there are as
 * many as before. In the third world they are all that steps, so that the first that does so comes and goes. */
START_TEST(each_moment_has_the_systems_that_the_ini_had)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin};
    static const char *const systems[] = {"breed reader", "watcher reader", "reader watcher"};
    static const char *const alone[] = {"reader", "foggy reader", "foggy"};
    uint64_t hashes[31], random = 6;
    char text[512];
    rig_t rig;
    rig_init(&rig);
    rig.desc.flags = BP_HOST_COPY_PLUGINS;
    rig.desc.static_plugins = plugins;
    rig.desc.static_plugin_count = 1;
    rig_open(&rig);
    for (uint64_t i = 0; i < 30; i++) {
        if (i % 10 == 0) {
            snprintf(text, sizeof text,
                     "[host]\nplugins = recall\nhistory = 64 MiB\n[world main]\ncomponents = body fog mark\n"
                     "systems = %s\n[world side]\ncomponents = body fog mark\n"
                     "[world alone]\ncomponents = fog mark\nsystems = %s\n", systems[i / 10], alone[i / 10]);
            snprintf(ini, sizeof ini, "%s", scratch_file("eras_options.ini", text));
            WORKS(rig.host, i == 0 ? bp_host_setup(rig.host, ini) : bp_host_setup_again(rig.host, ini, NULL));
        }
        hashes[i] = i == 0 ? recall_hash(rig.host) : hashes[i];
        recall_act(rig.host, i, 8);
        WORKS(rig.host, bp_host_step(rig.host));
        hashes[i + 1] = recall_hash(rig.host);
    }
    ck_assert_uint_eq(recall_history(rig.host).first, 0);
    for (uint32_t v = 0; v < 60; v++) {
        uint64_t moment = bp_random_below(&random, 31);
        WORKS(rig.host, bp_host_go(rig.host, moment));
        EXPECT(recall_hash(rig.host) == hashes[moment], "moment %llu is not what it was", (unsigned long long)moment);
    }
    rig_close(&rig);
}
END_TEST

Suite *eras_options_suite(void)
{
    Suite *suite = suite_create("eras_options");
    TCase *tcase = tcase_create("eras options");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, each_moment_has_its_options);
    tcase_add_test(tcase, each_moment_has_the_systems_that_the_ini_had);
    tcase_add_loop_test(tcase, a_recording_has_the_options_of_each_moment, 0, 5);
    tcase_add_test(tcase, a_makeup_that_is_damaged_is_refused);
    tcase_add_loop_test(tcase, no_memory_for_a_makeup, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}
