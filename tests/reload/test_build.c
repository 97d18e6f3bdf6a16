/* test_build.c - plugins that a command builds when their sources are saved (`build` and `sources` of an ini): what
 * becomes of the command is told, and neither memory that lacks nor a folder that goes ends the watching.
 *
 * Commands that really build something are in tests/scripts/hot_reload.sh.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "../system/calls.h"
#include "reload_support.h"

#include "engine/host.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 6000 /* naps */, NAP = 10000000 };

#define SOURCES TEST_SCRATCH_DIR "/build_sources"
#define SHARED TEST_SCRATCH_DIR "/build_shared"

static rig_t rig;
static uint32_t saved;
static bool has_companion; /* of open_host: a second plugin is there, with a folder of its own */

static void forget_log(void)
{
    rig.log.text[0] = '\0';
    rig.log.count = 0;
}

/* The source is saved, and is another one each time. */
static void save(const char *name)
{
    char text[64];
    snprintf(text, sizeof text, "version %u\n", saved++);
    scratch_file(name, text);
}

static void save_source(void)
{
    save("build_sources/probe/probe.c");
}

static void open_host(const char *command)
{
    char ini[512];
    mkdir(SOURCES, 0755);
    mkdir(SOURCES "/probe", 0755);
    save_source();
    put_plugin("reload_probe_first", "probe");
    if (has_companion) {
        mkdir(SOURCES "/companion", 0755);
        put_plugin("companion", "companion");
    }
    snprintf(ini, sizeof ini,
             "[host]\nplugins = ./probe%s\nhot_reload = on\nbuild = %s\nsources = build_sources\n"
             "[world main]\ncomponents = probe\n",
             has_companion ? " ./companion" : "", command);
    rig_init(&rig);
    rig_open(&rig);
    WORKS(rig.host, bp_host_setup(rig.host, scratch_file("build.ini", ini)));
    forget_log();
}

static void close_host(void)
{
    forget_log();
    rig_close(&rig);
}

static void wait_for(const char *words)
{
    for (uint32_t i = 0; i < PATIENCE && strstr(rig.log.text, words) == NULL; i++) {
        WORKS(rig.host, bp_host_poll(rig.host));
        WORKS(rig.host, bp_host_wait(rig.host, NAP));
    }
    EXPECT(strstr(rig.log.text, words) != NULL, "it is not said that %s, but: %s", words, rig.log.text);
}

/* For a while, and until nothing is being built, or will be: a plugin is built once more where its files look newer
 * than its library, and `true` makes none. */
static void wait_until_idle(void)
{
    for (uint32_t i = 0; i < PATIENCE && (i < 15 || build_is_waiting(&rig.host->hot.build)); i++) {
        WORKS(rig.host, bp_host_poll(rig.host));
        WORKS(rig.host, bp_host_wait(rig.host, NAP));
    }
}

START_TEST(what_becomes_of_a_command_is_told)
{
    static const char *const commands[][2] = {
        {"true {plugin}", "'probe' is built"},
        {"printf %300000d 1; true {plugin}", "'probe' is built"}, /* more than is kept, or than a pipe takes */
        {"false {plugin}", "'probe' could not be built (the command ended with 1)"},
        {"kill -9 $$ {plugin}", "'probe' could not be built (the command was ended by SIGKILL)"},
    };
    for (size_t i = 0; i < COUNT(commands); i++) {
        open_host(commands[i][0]);
        WORKS(rig.host, bp_host_poll(rig.host));
        save_source();
        wait_for(commands[i][1]);
        close_host();
    }
}
END_TEST

START_TEST(what_a_command_says_is_told_once)
{
    open_host("echo the compiler of {plugin} speaks; false");
    WORKS(rig.host, bp_host_poll(rig.host));
    for (int i = 0; i < 3; i++) {
        forget_log();
        save_source();
        wait_for("'probe' could not be built (the command ended with 1)");
        const char *said = strstr(rig.log.text, "the compiler of probe speaks");
        ck_assert_msg(said != NULL && strstr(said + 1, "the compiler of probe speaks") == NULL, "%s", rig.log.text);
    }
    close_host();
    char command[200]; /* what is kept ends between the bytes that come one by one */
    snprintf(command, sizeof command,
             "head -c %d /dev/zero | tr '\\0' '\\n'; for i in a b c d; do printf $i; sleep 0.05; done; false {plugin}",
             SOURCE_OUTPUT - 1 - 2);
    open_host(command);
    WORKS(rig.host, bp_host_poll(rig.host));
    save_source();
    wait_for("'probe' could not be built (the command ended with 1)");
    EXPECT(strstr(rig.log.text, "build: 2: ab\n") != NULL, "%s", rig.log.text);
    close_host();
}
END_TEST

/* Before the host asks whether the command has ended: let it speak, and wait until it has. */
static void let_speak(void *spoken, const char *call, bool change)
{
    siginfo_t over;
    (void)call, (void)change;
    if (*(bool *)spoken)
        return;
    *(bool *)spoken = true;
    scratch_file("build_may_speak", "");
    ck_assert_int_eq(waitid(P_ALL, 0, &over, WEXITED | WNOWAIT), 0);
}

/* What comes between the last look at its output and its end. */
START_TEST(the_last_words_of_a_command_are_told)
{
    bool spoken = false;
    remove(TEST_SCRATCH_DIR "/build_may_speak");
    open_host("while [ ! -e build_may_speak ]; do sleep 0.01; done; echo last words of {plugin}");
    WORKS(rig.host, bp_host_poll(rig.host));
    save_source();
    calls_begin_coded("waitpid", 0, false, 0);
    calls_before_each(let_speak, &spoken);
    wait_for("'probe' is built");
    calls_end();
    ck_assert(spoken);
    EXPECT(strstr(rig.log.text, "last words of probe") != NULL, "%s", rig.log.text);
    close_host();
}
END_TEST

START_TEST(a_command_that_cannot_be_started_is_told_and_tried_when_the_source_is_saved_again)
{
    open_host("true {plugin}");
    WORKS(rig.host, bp_host_poll(rig.host));
    save_source();
    calls_begin_coded("fork", 1, true, EAGAIN);
    wait_for("'probe' cannot be built: its command cannot be started");
    calls_end();
    save_source();
    wait_for("'probe' is built");
    close_host();
}
END_TEST

/* With the name in its places it has more bytes than any command may have. What is said is about that. */
START_TEST(a_command_that_is_too_long_is_told)
{
    static char command[SOURCE_COMMAND + 16];
    open_host("true {plugin}");
    memory_t *memory = &rig.host->hot.build.memory;
    memset(command, 'x', sizeof command - 1);
    memory_free_text(memory, rig.host->hot.build.command);
    rig.host->hot.build.command = memory_copy_text(memory, command);
    WORKS(rig.host, bp_host_poll(rig.host));
    save_source();
    wait_for("'probe' cannot be built: its command has more than 8128 bytes");
    close_host();
}
END_TEST

START_TEST(a_folder_of_sources_may_go_and_come_back)
{
    open_host("true {plugin}");
    WORKS(rig.host, bp_host_poll(rig.host));
    for (int i = 0; i < 2; i++) {
        const char *folder = i == 0 ? SOURCES "/probe" : SOURCES;
        ck_assert_int_eq(rename(folder, TEST_SCRATCH_DIR "/build_away"), 0);
        for (int k = 0; k < 20; k++) {
            WORKS(rig.host, bp_host_poll(rig.host));
            WORKS(rig.host, bp_host_wait(rig.host, NAP));
        }
        ck_assert_int_eq(rename(TEST_SCRATCH_DIR "/build_away", folder), 0);
        forget_log();
        for (int k = 0; k < PATIENCE && strstr(rig.log.text, "'probe' is built") == NULL; k++) {
            if (k % 100 == 0) /* it is looked for again now and then */
                save(i == 0 ? "build_sources/probe/probe.c" : "build_sources/probe.c");
            WORKS(rig.host, bp_host_poll(rig.host));
            WORKS(rig.host, bp_host_wait(rig.host, NAP));
        }
        ck_assert_msg(strstr(rig.log.text, "'probe' is built") != NULL, "%d: %s", i, rig.log.text);
    }
    close_host();
}
END_TEST

/* One that is made there, and renamed as `mv` does. */
START_TEST(a_folder_among_the_sources_is_no_source_whatever_its_name)
{
    open_host("true {plugin}");
    WORKS(rig.host, bp_host_poll(rig.host));
    ck_assert_int_eq(mkdir(SOURCES "/probe/parts", 0755), 0);
    ck_assert_int_eq(rename(SOURCES "/probe/parts", SOURCES "/probe/parts.c"), 0);
    for (int k = 0; k < 10; k++) {
        WORKS(rig.host, bp_host_poll(rig.host));
        WORKS(rig.host, bp_host_wait(rig.host, NAP));
        ck_assert(!build_is_waiting(&rig.host->hot.build));
    }
    EXPECT(rig.log.text[0] == '\0', "%s", rig.log.text);
    ck_assert_int_eq(rmdir(SOURCES "/probe/parts.c"), 0);
    save_source();
    wait_for("'probe' is built");
    close_host();
}
END_TEST

/* As when another state of the sources is checked out: nobody saves them once more after that. */
START_TEST(a_folder_of_sources_that_is_replaced_is_built)
{
    open_host("true {plugin}");
    WORKS(rig.host, bp_host_poll(rig.host));
    ck_assert_int_eq(remove(SOURCES "/probe/probe.c"), 0);
    ck_assert_int_eq(rmdir(SOURCES "/probe"), 0);
    mkdir(SOURCES "/probe", 0755);
    save_source();
    wait_for("'probe' is built");
    close_host();
}
END_TEST

/* A file beside the sources of plugins that the compiler has read, as the rule says that it has left. Its folder goes
 * and comes back, or is not there at first: nothing else is saved. */
START_TEST(a_folder_that_a_command_reads_from_may_go_and_come_back)
{
    bool at_first = _i == 0;
    scratch_file("probe.d", "probe.so: build_sources/probe/probe.c \\\n  build_shared/shared.h\n");
    ck_assert_int_eq(system("rm -rf '" SHARED "'"), 0); /* a test that was ended may have left files there */
    if (at_first) {
        mkdir(SHARED, 0755);
        save("build_shared/shared.h");
    }
    open_host("true {plugin}");
    for (int k = 0; k < 20; k++) {
        if (k == 5 && at_first) {
            ck_assert_int_eq(remove(SHARED "/shared.h"), 0);
            ck_assert_int_eq(rmdir(SHARED), 0);
        }
        WORKS(rig.host, bp_host_poll(rig.host));
        WORKS(rig.host, bp_host_wait(rig.host, NAP));
    }
    forget_log();
    mkdir(SHARED, 0755);
    save("build_shared/shared.h");
    wait_for("'probe' is built");
    forget_log();
    save("build_shared/shared.h"); /* and is watched again */
    wait_for("'probe' is built");
    close_host();
    remove(TEST_SCRATCH_DIR "/probe.d");
}
END_TEST

/* The command names a file that is not watched yet, and the file is written between the library and the end of the
 * command. The clock of files may be coarse. */
START_TEST(a_file_that_a_command_reads_first_and_that_changes_meanwhile_is_not_missed)
{
    mkdir(SHARED, 0755);
    save("build_shared/shared.h");
    remove(TEST_SCRATCH_DIR "/probe.d");
    scratch_file("build_it.sh", "touch $1.so\nprintf \"$1.so: build_shared/shared.h\\n\" > $1.d\nsleep 0.2\n"
                                "test -e $1.twice || echo version > build_shared/shared.h\ntouch $1.twice\n");
    open_host("sh build_it.sh {plugin}");
    remove(TEST_SCRATCH_DIR "/probe.twice");
    WORKS(rig.host, bp_host_poll(rig.host));
    save_source();
    wait_for("'probe' is built");
    forget_log();
    wait_for("'probe' is built");
    forget_log();
    for (int k = 0; k < 60; k++) { /* and not for ever */
        WORKS(rig.host, bp_host_poll(rig.host));
        WORKS(rig.host, bp_host_wait(rig.host, NAP));
    }
    ck_assert_ptr_null(strstr(rig.log.text, "'probe' is built"));
    close_host();
    remove(TEST_SCRATCH_DIR "/probe.d");
    remove(TEST_SCRATCH_DIR "/probe.twice");
}
END_TEST

/* What is saved, by its way: a source in the folder of the plugin, one beside these folders, a file that the command
 * has read, and a source in a folder that is another one since. */
static void save_for(const char *plugin, int way)
{
    char name[128], folder[1024];
    snprintf(name, sizeof name, "build_sources/%s/%s.c", plugin, plugin);
    if (way == 1)
        snprintf(name, sizeof name, "build_sources/%s.c", plugin);
    if (way == 2)
        snprintf(name, sizeof name, "build_shared/%s.h", plugin);
    if (way == 3) {
        snprintf(folder, sizeof folder, "%s/%s", TEST_SCRATCH_DIR, name);
        ck_assert_int_eq(remove(folder), 0);
        snprintf(folder, sizeof folder, "%s/%s", SOURCES, plugin);
        ck_assert_int_eq(rmdir(folder), 0);
        mkdir(folder, 0755);
    }
    save(name);
}

START_TEST(a_plugin_is_built_for_what_is_its_own_and_no_other_one)
{
    static const char *const plugins[] = {"probe", "companion"};
    char built[2][64];
    has_companion = true;
    mkdir(SHARED, 0755);
    for (uint32_t i = 0; i < 2; i++) {
        char rule[128], name[32];
        snprintf(built[i], sizeof built[i], "'%s' is built", plugins[i]);
        snprintf(name, sizeof name, "build_shared/%s.h", plugins[i]);
        save(name);
        snprintf(rule, sizeof rule, "%s.so: \\\n  %s\n", plugins[i], name);
        snprintf(name, sizeof name, "%s.d", plugins[i]);
        scratch_file(name, rule);
    }
    open_host("true {plugin}");
    WORKS(rig.host, bp_host_poll(rig.host));
    for (int way = 0; way < 4; way++) {
        for (uint32_t i = 0; i < 2; i++) {
            forget_log();
            save_for(plugins[i], way);
            wait_for(built[i]);
            wait_until_idle();
            EXPECT(strstr(rig.log.text, built[1 - i]) == NULL, "way %d, for %s: %s", way, plugins[i], rig.log.text);
        }
    }
    close_host();
    for (uint32_t i = 0; i < 2; i++) {
        char name[1024];
        snprintf(name, sizeof name, "%s/%s.d", TEST_SCRATCH_DIR, plugins[i]);
        remove(name);
        snprintf(name, sizeof name, "%s/%s.h", SHARED, plugins[i]);
        remove(name);
    }
    rmdir(SHARED);
}
END_TEST

/* Nothing would load what the command makes of it. */
START_TEST(a_plugin_that_is_linked_in_is_not_built)
{
    open_host("true {plugin}");
    WORKS(rig.host, bp_host_load_plugin(rig.host, "zoo", NULL, 0));
    WORKS(rig.host, bp_host_poll(rig.host));
    save("build_sources/zoo.c");
    save("build_sources/probe.c");
    wait_for("'probe' is built");
    EXPECT(strstr(rig.log.text, "'zoo'") == NULL, "%s", rig.log.text);
    close_host();
}
END_TEST

/* A rule lists the first file, and the second one is what another rule makes, or a remark. */
START_TEST(a_plugin_is_built_for_the_files_that_its_rule_lists)
{
    static const char *const rules[][2] = {
        {"shared.h", "probe.so: build_shared/shared.h\nbuild_shared/other.h :\n"},
        {"shared.h", "probe.so: build_shared/shared.h \t \nbuild_shared/other.h :\n"},
        {"shared.h", "probe.so probe.d: \\\r\n build_shared/shared.h\r\nbuild_shared/other.h :\r\n"},
        {"shared.h", "# of build_shared/other.h\nprobe.so:\\\n  build_shared/shared.h  # build_shared/other.h\n"},
        {"of two words.h", "probe.so : build_shared/of\\ two\\ words.h\n\nbuild_shared/other.h: build_shared\n"},
        {"#$.h", "probe.so : build_shared/\\#$$.h"},
    };
    char listed[64];
    mkdir(SHARED, 0755);
    for (uint32_t i = 0; i < COUNT(rules); i++) {
        snprintf(listed, sizeof listed, "build_shared/%s", rules[i][0]);
        save(listed);
        save("build_shared/other.h");
        scratch_file("probe.d", rules[i][1]);
        open_host("true {plugin}");
        WORKS(rig.host, bp_host_poll(rig.host));
        save("build_shared/other.h");
        for (int k = 0; k < 40; k++) {
            WORKS(rig.host, bp_host_poll(rig.host));
            WORKS(rig.host, bp_host_wait(rig.host, NAP));
        }
        EXPECT(strstr(rig.log.text, "'probe' is built") == NULL, "rule %u: %s", i, rig.log.text);
        save(listed);
        wait_for("'probe' is built");
        close_host();
        snprintf(listed, sizeof listed, "%s/%s", SHARED, rules[i][0]);
        remove(listed);
    }
    remove(TEST_SCRATCH_DIR "/probe.d");
    remove(SHARED "/other.h");
    rmdir(SHARED);
}
END_TEST

/* Of what is done at polls: a change that could not be noted is noted when the source is saved again. */
START_TEST(memory_that_lacks_while_sources_are_watched_does_not_end_it)
{
    uint32_t refused = 0;
    for (uint32_t nth = 1;; nth++) {
        open_host("true {plugin}");
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + nth;
        for (int k = 0; k < 12; k++) {
            if (k == 1)
                save_source();
            bp_host_poll(rig.host);
            WORKS(rig.host, bp_host_wait(rig.host, NAP));
        }
        rig.heap.refuse_first = 0;
        bool was = rig.heap.refused > 0;
        refused += was;
        forget_log();
        for (int k = 0; k < PATIENCE && strstr(rig.log.text, "'probe' is built") == NULL; k++) {
            if (k % 100 == 0)
                save_source();
            WORKS(rig.host, bp_host_poll(rig.host));
            WORKS(rig.host, bp_host_wait(rig.host, NAP));
        }
        ck_assert_msg(strstr(rig.log.text, "'probe' is built") != NULL, "request %u: %s", nth, rig.log.text);
        close_host();
        if (!was)
            break;
    }
    ck_assert_uint_ge(refused, 3);
}
END_TEST

/* Each request in turn: then it is as it was, and the same command can be set; where nothing has been watched before,
 * and where sources of plugins are. */
START_TEST(a_command_for_which_memory_lacks_is_not_set)
{
    uint32_t failed = 0;
    for (uint64_t nth = 1, refused = 1; refused > 0; nth++) {
        rig_init(&rig);
        rig_open(&rig);
        hot_t *hot = &rig.host->hot;
        if (_i == 1)
            WORKS(rig.host, build_begin(&hot->build, &rig.host->loader, &hot->sources));
        hot->building = _i == 1;
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + nth;
        bp_result_t result = hot_build(hot, "true {plugin}", "a_folder", "a_folder/sources");
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        refused = rig.heap.refused;
        EXPECT((result != BP_OK) == (refused > 0), "request %u: %d", (unsigned)nth, result);
        ck_assert(hot->building == (_i == 1 || result == BP_OK));
        ck_assert((hot->build.command != NULL) == (result == BP_OK));
        ck_assert((hot->build.folder != NULL) == (result == BP_OK));
        failed += result != BP_OK;
        WORKS(rig.host, hot_build(hot, "true {plugin}", "a_folder", "a_folder/sources"));
        ck_assert(hot->building && strcmp(hot->build.sources, "a_folder/sources") == 0);
        rig_close(&rig);
    }
    ck_assert_uint_ge(failed, 2);
}
END_TEST

Suite *build_suite(void)
{
    Suite *suite = suite_create("build");
    TCase *tests = add_case(suite, "build", NULL, NULL, 200);
    tcase_add_test(tests, what_becomes_of_a_command_is_told);
    tcase_add_test(tests, what_a_command_says_is_told_once);
    tcase_add_test(tests, the_last_words_of_a_command_are_told);
    tcase_add_test(tests, a_command_that_cannot_be_started_is_told_and_tried_when_the_source_is_saved_again);
    tcase_add_test(tests, a_command_that_is_too_long_is_told);
    tcase_add_test(tests, a_folder_of_sources_may_go_and_come_back);
    tcase_add_test(tests, a_folder_among_the_sources_is_no_source_whatever_its_name);
    tcase_add_test(tests, a_folder_of_sources_that_is_replaced_is_built);
    tcase_add_loop_test(tests, a_folder_that_a_command_reads_from_may_go_and_come_back, 0, 2);
    tcase_add_test(tests, a_file_that_a_command_reads_first_and_that_changes_meanwhile_is_not_missed);
    tcase_add_loop_test(tests, a_command_for_which_memory_lacks_is_not_set, 0, 2);
    tcase_add_test(tests, a_plugin_is_built_for_what_is_its_own_and_no_other_one);
    tcase_add_test(tests, a_plugin_that_is_linked_in_is_not_built);
    tcase_add_test(tests, a_plugin_is_built_for_the_files_that_its_rule_lists);
    tcase_add_test(tests, memory_that_lacks_while_sources_are_watched_does_not_end_it);
    return suite;
}
