/* test_sources.c - plugins that are given as their source, but for real compilers (tests/scripts/sources.sh has those).
 *
 * The compiler is a script that copies a fixture to where the library belongs, and may be told to fail; so each
 * allocation can be refused in turn without waiting for a compiler some hundred times.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "../system/calls.h"
#include "reload_support.h"

#include "base/file.h"
#include "engine/host.h"
#include "os/os.h"
#include "os/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECOND = 1000000000, PATIENCE = 60, MOST_REQUESTS = 4000 };

static rig_t rig;
static char source[512], header[512], compiler[1024];

enum { NOTHING };

/* What compiles from now on: a version of the probe, or NOTHING, with a complaint; point_mass of the other source. */
static void be_compiler_of(int version)
{
    char text[2048];
    snprintf(text, sizeof text,
             "for last; do rules=$before; before=$last; done\n"
             "case \"$*\" in *point_mass.c*) cp '%s/point_mass.so' \"$last.new\"\n"
             "    mv \"$last.new\" \"$last\"; exit;; esac\n"
             "rules=$(echo \"$last\" | sed 's/so$/d/')\n"
             "printf '# made : of x\\n%%s %%s.d : %%s \\\\\\n %%s\\n\\nx.h:\\n' \"$last\" \"$last\" "
             "'%s' '%s' >\"$rules\"\n"
             "if [ %d = 0 ]; then echo 'probe.c:7:3: error: nothing is right'; exit 1; fi\n"
             "cp '%s/%s.so' \"$last.new\" && mv \"$last.new\" \"$last\"\n",
             TEST_PLUGIN_DIR, source, header, version, TEST_FIXTURE_DIR,
             version == NOTHING ? "" : probe_fixture(version));
    scratch_file("compiler.new", text);
    ck_assert(move_over(TEST_SCRATCH_DIR "/compiler.new", TEST_SCRATCH_DIR "/compiler"));
}

static void prepare(void)
{
    snprintf(source, sizeof source, "%s", scratch_file("probe.c", "the source\n"));
    snprintf(header, sizeof header, "%s", scratch_file("probe_part.h", "a part of the source\n"));
    snprintf(compiler, sizeof compiler, "sh '%s/compiler'", TEST_SCRATCH_DIR);
    be_compiler_of(PROBE_FIRST);
}

static void begin(uint32_t flags)
{
    prepare();
    rig_init(&rig);
    rig.desc.flags = flags;
    rig_open(&rig);
    WORKS(rig.host, bp_host_set_compiler(rig.host, "cc", compiler));
}

static const char *version_of(bp_host_o *host)
{
    const char *path;
    const bp_plugin_head_t *head = bp_host_plugin(host, 0, &path);
    ck_assert_ptr_nonnull(head);
    ck_assert_str_eq(path, source);
    return head->desc->version;
}

static void poll_for(uint64_t ms);

static void forget_log(void)
{
    rig.log.text[0] = '\0';
    rig.log.count = 0;
}

START_TEST(a_source_is_a_plugin_that_reload_compiles_anew)
{
    const char *name = "probe";
    begin(0);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    ck_assert_str_eq(version_of(rig.host), "1");
    be_compiler_of(PROBE_FASTER);
    WORKS(rig.host, bp_host_reload(rig.host, &name, 1, NULL));
    ck_assert_str_eq(version_of(rig.host), "2");
    be_compiler_of(NOTHING);
    FAILS(rig.host, BP_ERROR_FAILED, "probe.c:7:3: error: nothing is right",
          bp_host_reload(rig.host, &name, 1, NULL));
    ck_assert_ptr_nonnull(strstr(rig.log.text, "build: 2: probe.c:7:3: error: nothing is right\n"));
    forget_log();
    ck_assert_str_eq(version_of(rig.host), "2");
    WORKS(rig.host, bp_host_unload_plugin(rig.host, name));
    FAILS(rig.host, BP_ERROR_FAILED, "it does not compile", bp_host_load_plugin(rig.host, source, NULL, 0));
    forget_log();
    be_compiler_of(PROBE_RESHAPED);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    ck_assert_str_eq(version_of(rig.host), "3");
    rig_close(&rig);
}
END_TEST

/* An ini is done whole or not at all: also the command that it wants plugins built by. */
START_TEST(the_command_of_an_ini_that_is_refused_builds_nothing)
{
    const char *path = TEST_SCRATCH_DIR "/refused.ini", *mark = TEST_SCRATCH_DIR "/refused.mark";
    begin(BP_HOST_HOT_RELOAD);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, TEST_PLUGIN_DIR "/point_mass.so", NULL, 0));
    scratch_file("refused.ini", "[host]\nhot_reload = on\nbuild = echo {plugin} >refused.mark\nsources = .\n"
                                "[world other]\ncomponents = none_such\n");
    remove(mark);
    for (uint32_t turn = 0; turn < 2; turn++) {
        FAILS(rig.host, BP_ERROR_NOT_FOUND, "none_such", bp_host_setup(rig.host, path));
        poll_for(600); /* by then the folder of sources would be watched */
        scratch_file("point_mass.c", "saved\n");
        poll_for(600);
        ck_assert_int_ne(access(mark, F_OK), 0);
    }
    forget_log();
    rig_close(&rig);
}
END_TEST

/* Has it worked, or failed for want of memory, or because no process could be had without? */
static bool tells_of_memory(bp_host_o *host, bp_result_t result)
{
    return result == BP_OK || result == BP_ERROR_MEMORY ||
           strstr(bp_host_error(host), "its compiler cannot be started") != NULL;
}

START_TEST(every_allocation_fails_once_while_a_source_is_loaded)
{
    uint64_t refused = 1;
    begin(0);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "probe"));
    for (bool failed = true; failed; refused++) {
        bp_host_o *host;
        heap_t *heap = &rig.heap;
        rig_close(&rig);
        begin(0);
        host = rig.host;
        heap->refuse_first = heap->refuse_last = heap->requests + refused;
        bp_result_t result = bp_host_load_plugin(host, source, NULL, 0);
        failed = heap->refused > 0;
        heap->refuse_first = heap->refuse_last = 0;
        EXPECT(refused < MOST_REQUESTS, "there is no end to it");
        EXPECT((result == BP_OK || failed) && tells_of_memory(host, result), "request %d: %d: %s", (int)refused,
               result, bp_host_error(host));
        EXPECT((bp_host_plugin(host, 0, NULL) == NULL) == (result != BP_OK), "request %d: half of it is loaded",
               (int)refused);
        if (result != BP_OK)
            WORKS(host, bp_host_load_plugin(host, source, NULL, 0));
        forget_log(); /* a copy may have gone elsewhere */
    }
    ck_assert_uint_gt(refused, 10);
    rig_close(&rig);
}
END_TEST

START_TEST(every_allocation_fails_once_while_a_source_is_reloaded)
{
    const char *name = "probe";
    bool failed = true;
    begin(0);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    be_compiler_of(PROBE_FASTER);
    for (uint64_t refused = 1; failed; refused++) {
        uint64_t before = rig.heap.refused;
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + refused;
        bp_result_t result = bp_host_reload(rig.host, &name, 1, NULL);
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        failed = rig.heap.refused > before;
        EXPECT(refused < MOST_REQUESTS, "there is no end to it");
        EXPECT(result != BP_OK || strcmp(version_of(rig.host), "2") == 0, "request %d", (int)refused);
        EXPECT(result == BP_OK || strcmp(version_of(rig.host), "1") == 0, "request %d", (int)refused);
        EXPECT(tells_of_memory(rig.host, result), "request %d: %d: %s", (int)refused, result,
               bp_host_error(rig.host));
        if (result == BP_OK && failed) { /* what may be missing was missing */
            be_compiler_of(PROBE_FIRST);
            WORKS(rig.host, bp_host_reload(rig.host, &name, 1, NULL));
            be_compiler_of(PROBE_FASTER);
        }
    }
    forget_log();
    rig_close(&rig);
}
END_TEST

/* Poll until the plugin has that version. */
static void await(const char *version)
{
    uint64_t began = os_clock_ns();
    while (strcmp(version_of(rig.host), version) != 0) {
        WORKS(rig.host, bp_host_poll(rig.host));
        os_sleep_ns(1000000);
        EXPECT(os_clock_ns() - began < (uint64_t)PATIENCE * SECOND, "'%s' does not come: %s", version, rig.log.text);
    }
}

static void poll_for(uint64_t ms)
{
    for (uint64_t end = os_clock_ns() + ms * 1000000; os_clock_ns() < end; os_sleep_ns(1000000))
        WORKS(rig.host, bp_host_poll(rig.host));
}

START_TEST(a_source_that_is_saved_comes_in_by_itself_and_so_does_what_it_includes)
{
    begin(BP_HOST_HOT_RELOAD);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    poll_for(300);
    ck_assert_str_eq(version_of(rig.host), "1");
    ck_assert_ptr_null(strstr(rig.log.text, "reloaded")); /* for having been loaded */
    be_compiler_of(PROBE_FASTER);
    scratch_file("probe.c", "the source, saved\n");
    await("2");
    be_compiler_of(PROBE_RESHAPED);
    scratch_file("probe_part.h", "a part of the source, saved\n");
    await("3");
    forget_log();
    be_compiler_of(NOTHING);
    scratch_file("probe.c", "the source, with a mistake\n");
    poll_for(300);
    ck_assert_str_eq(version_of(rig.host), "3");
    ck_assert_ptr_nonnull(strstr(rig.log.text, "probe.c:7:3: error: nothing is right\n"));
    ck_assert_ptr_nonnull(strstr(rig.log.text, "'probe' could not be built"));
    be_compiler_of(PROBE_FASTER);
    scratch_file("probe.c", "the source, right again\n");
    await("2");
    forget_log();
    be_compiler_of(PROBE_FIRST); /* by hand, while a save has not been seen yet */
    scratch_file("probe.c", "the source, saved once more\n");
    WORKS(rig.host, bp_host_reload(rig.host, (const char *const[]){"probe"}, 1, NULL));
    ck_assert_str_eq(version_of(rig.host), "1");
    poll_for(300);
    EXPECT(strstr(rig.log.text, "is built") == NULL, "it was compiled twice:\n%s", rig.log.text);
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "probe"));
    scratch_file("probe.c", "the source of nobody\n");
    for (int i = 0; i < 100; i++) {
        WORKS(rig.host, bp_host_poll(rig.host));
        os_sleep_ns(1000000);
    }
    ck_assert_ptr_null(bp_host_plugin(rig.host, 0, NULL));
    forget_log();
    be_compiler_of(PROBE_RESHAPED);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    poll_for(300);
    ck_assert_str_eq(rig.log.text, ""); /* its folder was watched already: it is not new for having been loaded */
    ck_assert_str_eq(version_of(rig.host), "3");
    rig_close(&rig);
}
END_TEST

static uint32_t times_in_log(const char *part)
{
    uint32_t times = 0;
    for (const char *at = rig.log.text; (at = strstr(at, part)) != NULL; at++)
        times++;
    return times;
}

/* As files have that are brought back from elsewhere: another source, which is older than what was made of the one
 * before. */
static const struct timespec long_ago[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};

/* The source is saved once it is watched, or (_i == 1) before, while nobody heard of it. */
START_TEST(sources_that_are_there_when_watching_begins_are_watched)
{
    bool before = _i == 1;
    begin(0);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    ck_assert(!rig.host->hot.building);
    be_compiler_of(PROBE_FASTER);
    if (before) {
        scratch_file("probe.c", "another source\n");
        ck_assert_int_eq(utimensat(AT_FDCWD, source, long_ago, 0), 0);
    }
    WORKS(rig.host, hot_begin(&rig.host->hot));
    ck_assert(rig.host->hot.building && rig.host->hot.watching);
    if (!before)
        scratch_file("probe.c", "another source\n");
    await("2");
    forget_log();
    rig_close(&rig);
}
END_TEST

/* That is told, and is no error of what was asked for. */
START_TEST(where_no_folder_can_be_watched_a_source_comes_in_by_hand)
{
    const char *name = "probe";
    begin(BP_HOST_HOT_RELOAD);
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "no plugin 'probe' is loaded", bp_host_reload(rig.host, &name, 1, NULL));
    forget_log();
    calls_begin_coded("inotify_init1", 1, true, EMFILE);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    ck_assert_uint_eq(calls_failed(), 1);
    calls_end();
    ck_assert_str_eq(rig.log.text, "host: 2: this system tells nothing of changed files, so plugins are not rebuilt by "
                                   "themselves; 'reload NAME' compiles a plugin's source anew\n");
    ck_assert_str_eq(bp_host_error(rig.host), "no plugin 'probe' is loaded");
    be_compiler_of(PROBE_FASTER);
    WORKS(rig.host, bp_host_reload(rig.host, &name, 1, NULL));
    ck_assert_str_eq(version_of(rig.host), "2");
    forget_log();
    rig_close(&rig);
}
END_TEST

START_TEST(sources_that_are_saved_together_are_compiled_once_each)
{
    begin(BP_HOST_HOT_RELOAD);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, scratch_file("point_mass.c", "another source\n"), NULL, 0));
    poll_for(300);
    forget_log();
    be_compiler_of(PROBE_FASTER);
    for (int i = 0; i < 3; i++) {
        scratch_file("point_mass.c", "another source, saved\n");
        scratch_file("probe.c", "the source, saved\n");
    }
    await("2");
    for (int i = 0; i < PATIENCE * 1000 && times_in_log("'point_mass' is built") == 0; i++)
        poll_for(1);
    poll_for(300);
    EXPECT(times_in_log("'point_mass' is built") == 1 && times_in_log("'probe' is built") == 1, "%s", rig.log.text);
    forget_log();
    scratch_file("probe.c", "the source, saved again\n");
    scratch_file("point_mass.c", "another source, saved again\n");
    WORKS(rig.host, bp_host_reload(rig.host, (const char *const[]){"probe"}, 1, NULL));
    for (int i = 0; i < PATIENCE * 1000 && times_in_log("'point_mass' is built") == 0; i++)
        poll_for(1);
    poll_for(100); /* what was compiled by hand is not compiled once more, and the other one is */
    EXPECT(times_in_log("'point_mass' is built") == 1 && times_in_log("'probe' is built") == 0, "%s", rig.log.text);
    for (int i = 0; i < 3; i++) /* the compiler of this one lists nothing */
        WORKS(rig.host, bp_host_reload(rig.host, (const char *const[]){"point_mass"}, 1, NULL));
    uint32_t listed = 0;
    for (uint32_t i = 0; i < rig.host->hot.build.header_count; i++)
        listed += strcmp(rig.host->hot.build.headers[i].plugin, "point_mass") == 0;
    ck_assert_uint_eq(listed, 1);
    forget_log();
    rig_close(&rig);
}
END_TEST

/* What the source includes by now is saved, and the source comes in anew; then the host goes. */
static void save_other_part(void)
{
    be_compiler_of(PROBE_RESHAPED);
    scratch_file("another_part.h", "another part of the source, saved\n");
    await("3");
    forget_log();
    rig_close(&rig);
}

START_TEST(what_a_source_includes_since_it_was_saved_is_watched)
{
    begin(BP_HOST_HOT_RELOAD);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    poll_for(300);
    snprintf(header, sizeof header, "%s", scratch_file("another_part.h", "another part of the source\n"));
    be_compiler_of(PROBE_FASTER);
    scratch_file("probe.c", "the source, with another part\n");
    await("2");
    poll_for(100);
    save_other_part();
}
END_TEST

/* Also a plugin that was loaded before: with its source it may include another file meanwhile. */
START_TEST(what_a_source_includes_is_watched_once_it_is_loaded_again)
{
    begin(BP_HOST_HOT_RELOAD);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    poll_for(20);
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "probe"));
    snprintf(header, sizeof header, "%s", scratch_file("another_part.h", "another part of the source\n"));
    be_compiler_of(PROBE_FASTER);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    save_other_part();
}
END_TEST

/* As when another state of the sources is checked out: the folder is another one before anything has been noticed, or
 * (_i == 1) is missing for a while. */
START_TEST(a_folder_of_what_a_source_includes_may_be_replaced)
{
    static const char part[] = TEST_SCRATCH_DIR "/parts/part.h", parts[] = TEST_SCRATCH_DIR "/parts";
    mkdir(parts, 0755);
    begin(BP_HOST_HOT_RELOAD);
    snprintf(header, sizeof header, "%s", scratch_file("parts/part.h", "a part of the source\n"));
    be_compiler_of(PROBE_FIRST);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    poll_for(300);
    be_compiler_of(PROBE_FASTER);
    ck_assert(remove(part) == 0 && rmdir(parts) == 0);
    if (_i == 1)
        poll_for(3 * BUILD_RETRY_MS);
    ck_assert_int_eq(mkdir(parts, 0755), 0);
    scratch_file("parts/part.h", "another part of the source\n");
    ck_assert_int_eq(utimensat(AT_FDCWD, part, long_ago, 0), 0);
    await("2");
    forget_log();
    rig_close(&rig);
    ck_assert(remove(part) == 0 && rmdir(parts) == 0);
}
END_TEST

/* Also that of the source itself, where its compiler lists nothing that it has read. */
START_TEST(the_folder_of_a_source_may_be_replaced)
{
    static const char part[] = TEST_SCRATCH_DIR "/parts/point_mass.c", parts[] = TEST_SCRATCH_DIR "/parts";
    mkdir(parts, 0755);
    begin(BP_HOST_HOT_RELOAD);
    WORKS(rig.host, bp_host_load_plugin(rig.host, scratch_file("parts/point_mass.c", "a source\n"), NULL, 0));
    ck_assert(remove(part) == 0 && rmdir(parts) == 0);
    poll_for(20);
    ck_assert_int_eq(mkdir(parts, 0755), 0);
    scratch_file("parts/point_mass.c", "a source\n");
    forget_log();
    for (int i = 0; i < PATIENCE * 1000 && times_in_log("'point_mass' is built") == 0; i++)
        poll_for(1);
    ck_assert_uint_eq(times_in_log("'point_mass' is built"), 1);
    forget_log();
    rig_close(&rig);
    ck_assert(remove(part) == 0 && rmdir(parts) == 0);
}
END_TEST

/* In a list of files compilers write "\ " for a space, "\#" for a # and "$$" for a $. */
START_TEST(what_a_source_includes_is_watched_whatever_its_name)
{
    static const char *const part[] = {"a part.h", "part#1.h", "$part$.h", "part.inl", "part", "#part"};
    static const char *const written[] = {"a\\ part.h", "part\\#1.h", "$$part$$.h", "part.inl", "part", "\\#part"};
    begin(BP_HOST_HOT_RELOAD);
    scratch_file(part[_i], "a part of the source\n");
    snprintf(header, sizeof header, "%s/%s", TEST_SCRATCH_DIR, written[_i]);
    be_compiler_of(PROBE_FIRST);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    poll_for(300);
    forget_log();
    be_compiler_of(PROBE_FASTER);
    scratch_file(part[_i], "a part of the source, saved\n");
    await("2");
    forget_log();
    rig_close(&rig);
}
END_TEST

/* As on a file system whose clock goes ahead: such a source is newer than its library however often it is compiled. */
START_TEST(sources_of_the_future_are_compiled_once_more_each)
{
    const struct timespec later[2] = {{.tv_sec = 4000000000}, {.tv_sec = 4000000000}};
    begin(BP_HOST_HOT_RELOAD);
    const char *second = scratch_file("point_mass.c", "another source\n");
    ck_assert_int_eq(utimensat(AT_FDCWD, second, later, 0), 0);
    ck_assert_int_eq(utimensat(AT_FDCWD, source, later, 0), 0);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, second, NULL, 0));
    for (int i = 0; i < PATIENCE * 1000 && times_in_log("'point_mass' is built") == 0; i++)
        poll_for(1);
    poll_for(1000);
    EXPECT(times_in_log("'point_mass' is built") == 1 && times_in_log("'probe' is built") == 1, "%s", rig.log.text);
    forget_log();
    rig_close(&rig);
}
END_TEST

START_TEST(a_reload_by_hand_ends_the_compiler_that_runs)
{
    char text[1024];
    begin(BP_HOST_HOT_RELOAD);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    remove(TEST_SCRATCH_DIR "/started");
    remove(TEST_SCRATCH_DIR "/go_on");
    snprintf(text, sizeof text, "touch '%s/started'\nwhile ! test -e '%s/go_on'; do sleep 0.01; done\n"
             "echo 'probe.c:1:1: warning: late'\nexit 1\n", TEST_SCRATCH_DIR, TEST_SCRATCH_DIR);
    scratch_file("compiler.new", text);
    ck_assert(move_over(TEST_SCRATCH_DIR "/compiler.new", TEST_SCRATCH_DIR "/compiler"));
    scratch_file("probe.c", "the source, saved\n");
    for (int i = 0; access(TEST_SCRATCH_DIR "/started", F_OK) != 0; i++) {
        poll_for(1);
        EXPECT(i < PATIENCE * 1000, "the compiler does not start:\n%s", rig.log.text);
    }
    be_compiler_of(PROBE_FASTER);
    WORKS(rig.host, bp_host_reload(rig.host, (const char *const[]){"probe"}, 1, NULL));
    ck_assert_str_eq(version_of(rig.host), "2");
    scratch_file("go_on", "");
    poll_for(300);
    EXPECT(strstr(rig.log.text, "late") == NULL, "the compiler of before went on:\n%s", rig.log.text);
    ck_assert_str_eq(version_of(rig.host), "2");
    forget_log();
    rig_close(&rig);
}
END_TEST

/* Loaded, or (_i == 1) reloaded by hand. What is saved comes before the library, so their times say nothing. */
START_TEST(a_source_that_is_saved_while_it_is_compiled_by_hand_is_compiled_once_more)
{
    static const char inner[] = TEST_SCRATCH_DIR "/compiler.inner", once[] = TEST_SCRATCH_DIR "/saved_once";
    char text[2048];
    begin(BP_HOST_HOT_RELOAD);
    remove(once);
    if (_i == 1) {
        WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
        poll_for(100);
    }
    ck_assert(move_over(TEST_SCRATCH_DIR "/compiler", inner));
    snprintf(text, sizeof text,
             "test -e '%s' || echo 'the source, saved meanwhile' >'%s'\ntouch '%s'\nsh '%s' \"$@\"\n",
             once, source, once, inner);
    scratch_file("compiler", text);
    forget_log();
    if (_i == 1)
        WORKS(rig.host, bp_host_reload(rig.host, (const char *const[]){"probe"}, 1, NULL));
    else
        WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    ck_assert_uint_eq(times_in_log("'probe' is built"), 0);
    for (int i = 0; i < 200 && times_in_log("'probe' is built") == 0; i++)
        poll_for(10);
    poll_for(100);
    EXPECT(times_in_log("'probe' is built") == 1, "%s", rig.log.text);
    forget_log();
    rig_close(&rig);
}
END_TEST

START_TEST(a_clone_compiles_for_itself)
{
    bp_host_o *clone;
    const char *name = "probe";
    begin(0);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    WORKS(rig.host, bp_host_clone(rig.host, &clone));
    ck_assert_str_eq(version_of(clone), "1");
    be_compiler_of(PROBE_FASTER);
    WORKS(clone, bp_host_reload(clone, &name, 1, NULL));
    ck_assert_str_eq(version_of(clone), "2");
    ck_assert_str_eq(version_of(rig.host), "1");
    bp_host_destroy(clone);
    WORKS(rig.host, bp_host_reload(rig.host, &name, 1, NULL));
    ck_assert_str_eq(version_of(rig.host), "2");
    forget_log();
    rig_close(&rig);
}
END_TEST

START_TEST(what_is_no_compiler_and_what_is_no_source_is_told)
{
    const char *library;
    char long_text[600];
    begin(0);
    FAILS(rig.host, BP_ERROR_ARGUMENT, "there are cc, cflags, cxx, cxxflags, rustc, rustflags",
          bp_host_set_compiler(rig.host, "compiler", "cc"));
    memset(long_text, 'x', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    FAILS(rig.host, BP_ERROR_ARGUMENT, "at most 511 bytes", bp_host_set_compiler(rig.host, "cc", long_text));
    FAILS(rig.host, BP_ERROR_ARGUMENT, "it is no source", bp_host_compile_plugin(rig.host, "probe.so", &library));
    FAILS(rig.host, BP_ERROR_ARGUMENT, "it is no source", bp_host_compile_plugin(rig.host, "a.c/probe", &library));
    FAILS(rig.host, BP_ERROR_ARGUMENT, "it is no source", bp_host_compile_plugin(rig.host, ".c", &library));
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "there is no such source",
          bp_host_compile_plugin(rig.host, "nowhere.c", &library));
    WORKS(rig.host, bp_host_set_compiler(rig.host, "cc", "exit 127;"));
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "there is no compiler", bp_host_load_plugin(rig.host, source, NULL, 0));
    WORKS(rig.host, bp_host_set_compiler(rig.host, "cc", "kill -9 $$;"));
    FAILS(rig.host, BP_ERROR_FAILED, "SIGKILL", bp_host_load_plugin(rig.host, source, NULL, 0));
    WORKS(rig.host, bp_host_set_compiler(rig.host, "cc", "sh -c true"));
    FAILS(rig.host, BP_ERROR_FAILED, "has made no library of it", bp_host_load_plugin(rig.host, source, NULL, 0));
    rig_close(&rig);
}
END_TEST

/* The source is loaded and compiled anew though TMPDIR is `folder`, which is of no use; nothing stays beside it, nor in
 * TMPDIR. */
static void works_beside_the_source(const char *folder)
{
    const char *name = "probe";
    char made[700], tried[700];
    snprintf(tried, sizeof tried, "test -z \"$(ls -A '%s' 2>/dev/null)\"", folder);
    snprintf(made, sizeof made, "test -z \"$(ls -A '%s' | grep backplane-)\"", TEST_SCRATCH_DIR);
    setenv("TMPDIR", folder, 1);
    begin(BP_HOST_COPY_PLUGINS);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    EXPECT(strstr(rig.log.text, "since TMPDIR cannot be written, or no code be run from there") != NULL,
           "it is not said:\n%s", rig.log.text);
    be_compiler_of(PROBE_FASTER);
    WORKS(rig.host, bp_host_reload(rig.host, &name, 1, NULL));
    ck_assert_str_eq(version_of(rig.host), "2");
    EXPECT(system(made) != 0, "nothing lies beside %s", source);
    forget_log();
    rig_close(&rig);
    unsetenv("TMPDIR");
    EXPECT(system(made) == 0, "libraries are left beside %s", source);
    EXPECT(system(tried) == 0, "a folder is left in %s", folder);
}

START_TEST(where_tmpdir_is_of_no_use_what_is_compiled_lies_beside_its_source)
{
    char folder[600];
    snprintf(folder, sizeof folder, "%s/there/is/none", TEST_SCRATCH_DIR);
    works_beside_the_source(folder);
    snprintf(folder, sizeof folder, "%s/barred", TEST_SCRATCH_DIR);
    ck_assert(os_folder_create(folder));
    ck_assert(os_folder_runs_code(folder));
    if (mount("none", folder, "tmpfs", MS_NOEXEC, NULL) != 0)
        return; /* only the administrator can mount */
    bool told = !os_folder_runs_code(folder);
    if (told)
        works_beside_the_source(folder);
    umount2(folder, MNT_DETACH);
    ck_assert_msg(told, "a file system that code may not be run from is not noticed");
}
END_TEST

START_TEST(where_no_folder_is_of_use_a_source_is_not_loaded_and_that_is_told)
{
    char folder[600], inside[700];
    snprintf(folder, sizeof folder, "%s/read_only", TEST_SCRATCH_DIR);
    snprintf(inside, sizeof inside, "%s/probe.c", folder);
    begin(0);
    ck_assert(os_folder_create(folder));
    if (mount("none", folder, "tmpfs", 0, NULL) != 0) {
        rig_close(&rig); /* only the administrator can mount */
        return;
    }
    FILE *file = fopen(inside, "wb");
    if (file != NULL)
        fclose(file);
    setenv("TMPDIR", folder, 1);
    bool sealed = mount("none", folder, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL) == 0;
    bp_result_t result = bp_host_load_plugin(rig.host, inside, NULL, 0);
    umount2(folder, MNT_DETACH);
    unsetenv("TMPDIR");
    ck_assert(file != NULL && sealed);
    FAILS(rig.host, BP_ERROR_IO, "neither TMPDIR nor the folder of the source can be written and run from", result);
    WORKS(rig.host, bp_host_load_plugin(rig.host, source, NULL, 0));
    rig_close(&rig);
}
END_TEST

/* A compiler of any language: copies the probe to where the library belongs, and writes down where it was to put other
 * files, where the headers of Rust are, and its arguments. */
static void be_compiler_of_any_language(void)
{
    char text[2048];
    snprintf(text, sizeof text,
             "for last; do :; done\n"
             "case \"$last\" in --emit=link=*) last=${last#--emit=link=}; last=${last%%,dep-info=*}; esac\n"
             "echo \"TMPDIR=$TMPDIR BACKPLANE_HEADERS=$BACKPLANE_HEADERS $*\" >'%s/arguments'\n"
             "cp '%s/%s.so' \"$last\"\n",
             TEST_SCRATCH_DIR, TEST_FIXTURE_DIR, probe_fixture(PROBE_FIRST));
    scratch_file("compiler", text);
    for (size_t i = 0; i < 3; i++)
        WORKS(rig.host, bp_host_set_compiler(rig.host, (const char *const[]){"cc", "cxx", "rustc"}[i], compiler));
}

/* The file of the library that is made of a source, after the last slash. */
static const char *made_of(const char *name)
{
    const char *library = "";
    char path[600];
    snprintf(path, sizeof path, "%s/%s", TEST_SCRATCH_DIR, name);
    WORKS(rig.host, bp_host_compile_plugin(rig.host, path, &library));
    EXPECT(access(library, R_OK) == 0, "of %s there is no %s", name, library);
    return strrchr(library, '/') + 1;
}

/* Write `pattern` with the folder of what is compiled for %F, that of the headers for %H, the source for %S, and what
 * the caller gives to compilers of the language for %O. */
static void write_expected(char *text, size_t size, const char *pattern, const char *headers, const char *name,
                           const char *given)
{
    size_t length = 0;
    for (const char *at = pattern; *at != '\0' && length < size; at++) {
        bool mark = *at == '%';
        at += mark;
        if (!mark)
            length += (size_t)snprintf(text + length, size - length, "%c", *at);
        else if (*at == 'S')
            length += (size_t)snprintf(text + length, size - length, "%s/%s", TEST_SCRATCH_DIR, name);
        else
            length += (size_t)snprintf(text + length, size - length, "%s",
                                       *at == 'F' ? rig.host->hot.sources.folder : *at == 'H' ? headers : given);
    }
    ck_assert_uint_lt(length, size);
}

/* By the ending of its name, which a folder's or a hidden file's is not. */
START_TEST(a_source_is_known_by_its_ending)
{
    static const char *const sources[] = {"a.c", "./a.cc", "a.b.cpp", "folder.x/a.cxx", "/a.rs"};
    static const char *const others[] = {"", "c", ".c", ".a.c", "folder/.c", "folder/.a.rs", "folder.c/a",
                                         "folder.c\\a", "a.C", "a.h", "a.so", "a.c.x", "a.c."};
    for (uint32_t i = 0; i < COUNT(sources); i++)
        EXPECT(source_is(sources[i]), "'%s' is no source", sources[i]);
    for (uint32_t i = 0; i < COUNT(others); i++)
        EXPECT(!source_is(others[i]), "'%s' is a source", others[i]);
}
END_TEST

START_TEST(a_source_is_compiled_by_the_compiler_of_its_language)
{
    static const char *const cases[][4] = {
        {"speech.c", "cflags", "-O2 -g -Wall",
         "TMPDIR=%F BACKPLANE_HEADERS= -shared -fPIC -I%H %S %O -lm -MMD -MF %F/speech.d -o %F/speech.so\n"},
        {"speech.cpp", "cxxflags", "-std=c++20 -O2 -g -Wall",
         "TMPDIR=%F BACKPLANE_HEADERS= -shared -fPIC -I%H %S -fno-gnu-unique %O -lm -MMD -MF %F/speech-2.d -o "
         "%F/speech-2.so\n"},
        {"speech.rs", "rustflags", "-O -g",
         "TMPDIR=%F BACKPLANE_HEADERS=%H --edition 2021 --crate-type cdylib -C panic=abort -C link-arg=-lc "
         "--crate-name speech %S %O --out-dir %F --emit=link=%F/speech-3.so,dep-info=%F/speech-3.d\n"},
    };
    static const char *const given[] = {"", "--an-option", "x", ""}; /* none at first, and none again */
    char headers[FILE_PATH_MAX], header_file[FILE_PATH_MAX + 16];
    ck_assert(source_headers(headers, sizeof headers));
    snprintf(header_file, sizeof header_file, "%s/bp_plugin.h", headers);
    ck_assert_int_eq(access(header_file, R_OK), 0);
    begin(0);
    be_compiler_of_any_language();
    for (size_t i = 0; i < COUNT(cases); i++) {
        char arguments[16384], expected[16384], *text;
        scratch_file(cases[i][0], "a source\n");
        for (size_t k = 0; k < COUNT(given); k++) {
            if (k > 0)
                WORKS(rig.host, bp_host_set_compiler(rig.host, cases[i][1], given[k]));
            made_of(cases[i][0]);
            FILE *file = fopen(TEST_SCRATCH_DIR "/arguments", "r");
            text = file == NULL ? NULL : fgets(arguments, sizeof arguments, file);
            ck_assert_ptr_nonnull(text);
            fclose(file);
            write_expected(expected, sizeof expected, cases[i][3], headers, cases[i][0],
                           given[k][0] != '\0' ? given[k] : cases[i][2]);
            ck_assert_str_eq(text, expected);
        }
    }
    rig_close(&rig);
}
END_TEST

START_TEST(sources_of_one_name_get_libraries_of_different_names)
{
    static const char *const names[] = {"twin.c", "twin-2.c", "twins/twin.c", "twin.cpp"};
    static const char *const made[] = {"twin.so", "twin-2.so", "twin-3.so", "twin-4.so"};
    begin(0);
    be_compiler_of_any_language();
    ck_assert(os_folder_create(TEST_SCRATCH_DIR "/twins"));
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < COUNT(names); i++) {
            scratch_file(names[i], "a source\n");
            ck_assert_str_eq(made_of(names[i]), made[i]);
        }
    }
    rig_close(&rig);
}
END_TEST

START_TEST(the_folder_of_what_is_compiled_is_made_anew_where_it_has_been_removed)
{
    const char *library;
    char command[1200], tmp[600], away[700];
    snprintf(tmp, sizeof tmp, "%s/temporary_sources", TEST_SCRATCH_DIR);
    snprintf(away, sizeof away, "%s.away", tmp);
    ck_assert(os_folder_create(tmp));
    setenv("TMPDIR", tmp, 1);
    begin(0);
    WORKS(rig.host, bp_host_compile_plugin(rig.host, source, &library));
    snprintf(command, sizeof command, "rm -r '%.*s'", (int)(strrchr(library, '/') - library), library);
    ck_assert_int_eq(system(command), 0);
    WORKS(rig.host, bp_host_compile_plugin(rig.host, source, &library));
    ck_assert_int_eq(access(library, R_OK), 0);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(rename(tmp, away), 0);
    FAILS(rig.host, BP_ERROR_IO, "the folder of compiled plugins", bp_host_compile_plugin(rig.host, source, &library));
    ck_assert_int_eq(rename(away, tmp), 0);
    WORKS(rig.host, bp_host_compile_plugin(rig.host, source, &library));
    rig_close(&rig);
    unsetenv("TMPDIR");
}
END_TEST

/* The folder that a process has made for what it compiles, and left when it was killed. */
static void leave_folder(char *path)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        temporary_t folder;
        if (!temporary_create(&folder, NULL, "backplane-made", path, 600))
            _exit(1);
        (void)!write(ends[1], path, strlen(path) + 1);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    ck_assert_int_gt(read(ends[0], path, 600), 0);
    close(ends[0]);
    close(ends[1]);
}

START_TEST(what_a_killed_host_has_compiled_is_removed_by_the_next_one_that_compiles)
{
    char left[600], tmp[600];
    const char *library;
    snprintf(tmp, sizeof tmp, "%s/left_sources", TEST_SCRATCH_DIR);
    ck_assert(os_folder_create(tmp));
    setenv("TMPDIR", tmp, 1);
    leave_folder(left);
    ck_assert_int_eq(access(left, F_OK), 0);
    begin(0);
    WORKS(rig.host, bp_host_compile_plugin(rig.host, source, &library));
    ck_assert_int_ne(access(left, F_OK), 0);
    rig_close(&rig);
    unsetenv("TMPDIR");
}
END_TEST

/* Write the path of folder `part`, `times` one in the other, below the scratch folder; they are made. */
static void nest(char *path, size_t size, const char *part, int times)
{
    size_t length = (size_t)snprintf(path, size, "%s", TEST_SCRATCH_DIR);
    for (int i = 0; i < times; i++) {
        length += (size_t)snprintf(path + length, size - length, "/%s", part);
        ck_assert(length < size && os_folder_create(path));
    }
}

START_TEST(what_makes_too_long_a_path_or_command_is_not_compiled)
{
    const char *library;
    char part[200], folder[1000], path[1500];
    begin(0); /* a quote takes four bytes in a word of the shell */
    memset(part, '\'', sizeof part);
    part[sizeof part - 1] = '\0';
    nest(folder, sizeof folder, part, 3);
    snprintf(path, sizeof path, "%s/quoted.c", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    setenv("TMPDIR", folder, 1);
    FAILS(rig.host, BP_ERROR_LIMIT, "the command that compiles it has more than 8191 bytes",
          bp_host_compile_plugin(rig.host, path, &library));
    rig_close(&rig);
    begin(0);
    nest(folder, sizeof folder, ".", (int)(900 - strlen(TEST_SCRATCH_DIR)) / 2);
    setenv("TMPDIR", folder, 1);
    memset(path, 'n', 230);
    strcpy(path + 230, ".c");
    FAILS(rig.host, BP_ERROR_LIMIT, "the path is too long",
          bp_host_compile_plugin(rig.host, scratch_file(path, "a source\n"), &library));
    WORKS(rig.host, bp_host_compile_plugin(rig.host, source, &library));
    rig_close(&rig);
    unsetenv("TMPDIR");
}
END_TEST

START_TEST(of_what_a_compiler_says_the_line_with_the_error_is_told_however_much_it_says)
{
    const char *library;
    begin(0);
    WORKS(rig.host, bp_host_set_compiler(rig.host, "cc", "exit 3;"));
    FAILS(rig.host, BP_ERROR_FAILED, "ended with 3)", bp_host_compile_plugin(rig.host, source, &library));
    ck_assert_ptr_null(strstr(bp_host_error(rig.host), "ended with 3):"));
    WORKS(rig.host, bp_host_set_compiler(rig.host, "cc", "printf 'it says\\n\\nand more\\n'; exit 3;"));
    FAILS(rig.host, BP_ERROR_FAILED, "ended with 3): it says", bp_host_compile_plugin(rig.host, source, &library));
    forget_log();
    WORKS(rig.host, bp_host_set_compiler(rig.host, "cc",
                                         "printf 'in a header\\nin another\\nprobe.c:7: error: '; "
                                         "head -c 200000 /dev/zero | tr '\\0' y; exit 3;"));
    FAILS(rig.host, BP_ERROR_FAILED, "ended with 3): probe.c:7: error: yyyy",
          bp_host_compile_plugin(rig.host, source, &library));
    ck_assert_ptr_nonnull(strstr(rig.log.text, "build: 2: in another\nbuild: 2: probe.c:7: error: yyyy"));
    forget_log();
    char command[200]; /* what is kept ends between the bytes that come one by one */
    snprintf(command, sizeof command,
             "head -c %d /dev/zero | tr '\\0' '\\n'; for i in a b c d; do printf $i; sleep 0.05; done; exit 3;",
             SOURCE_OUTPUT - 1 - 2);
    WORKS(rig.host, bp_host_set_compiler(rig.host, "cc", command));
    FAILS(rig.host, BP_ERROR_FAILED, "ended with 3)", bp_host_compile_plugin(rig.host, source, &library));
    EXPECT(strstr(rig.log.text, "build: 2: ab\n") != NULL, "%s", rig.log.text);
    forget_log();
    rig_close(&rig);
}
END_TEST

Suite *sources_suite(void)
{
    Suite *suite = suite_create("sources");
    TCase *test_case = tcase_create("sources");
    tcase_set_timeout(test_case, 60);
    tcase_add_test(test_case, a_source_is_a_plugin_that_reload_compiles_anew);
    tcase_add_test(test_case, every_allocation_fails_once_while_a_source_is_loaded);
    tcase_add_test(test_case, every_allocation_fails_once_while_a_source_is_reloaded);
    tcase_add_test(test_case, a_source_that_is_saved_comes_in_by_itself_and_so_does_what_it_includes);
    tcase_add_test(test_case, the_command_of_an_ini_that_is_refused_builds_nothing);
    tcase_add_loop_test(test_case, sources_that_are_there_when_watching_begins_are_watched, 0, 2);
    tcase_add_test(test_case, where_no_folder_can_be_watched_a_source_comes_in_by_hand);
    tcase_add_test(test_case, sources_that_are_saved_together_are_compiled_once_each);
    tcase_add_test(test_case, what_a_source_includes_since_it_was_saved_is_watched);
    tcase_add_test(test_case, what_a_source_includes_is_watched_once_it_is_loaded_again);
    tcase_add_loop_test(test_case, a_folder_of_what_a_source_includes_may_be_replaced, 0, 2);
    tcase_add_test(test_case, the_folder_of_a_source_may_be_replaced);
    tcase_add_loop_test(test_case, what_a_source_includes_is_watched_whatever_its_name, 0, 6);
    tcase_add_test(test_case, sources_of_the_future_are_compiled_once_more_each);
    tcase_add_test(test_case, a_reload_by_hand_ends_the_compiler_that_runs);
    tcase_add_loop_test(test_case, a_source_that_is_saved_while_it_is_compiled_by_hand_is_compiled_once_more, 0, 2);
    tcase_add_test(test_case, a_clone_compiles_for_itself);
    tcase_add_test(test_case, what_is_no_compiler_and_what_is_no_source_is_told);
    tcase_add_test(test_case, where_tmpdir_is_of_no_use_what_is_compiled_lies_beside_its_source);
    tcase_add_test(test_case, where_no_folder_is_of_use_a_source_is_not_loaded_and_that_is_told);
    tcase_add_test(test_case, a_source_is_known_by_its_ending);
    tcase_add_test(test_case, a_source_is_compiled_by_the_compiler_of_its_language);
    tcase_add_test(test_case, sources_of_one_name_get_libraries_of_different_names);
    tcase_add_test(test_case, the_folder_of_what_is_compiled_is_made_anew_where_it_has_been_removed);
    tcase_add_test(test_case, what_a_killed_host_has_compiled_is_removed_by_the_next_one_that_compiles);
    tcase_add_test(test_case, what_makes_too_long_a_path_or_command_is_not_compiled);
    tcase_add_test(test_case, of_what_a_compiler_says_the_line_with_the_error_is_told_however_much_it_says);
    suite_add_tcase(suite, test_case);
    return suite;
}
