/* test_program_memory.c - the program is refused memory, one request at a time, by refuse.c in front of the C library.
 *
 * A case is a command. It runs undisturbed, which tells from which places it asks for memory behind the setting up of a
 * host (suite memory_failure has that); then the first request of each place is refused, one in each run. Places at
 * which a case before with the same command was refused are passed over. A run prints what the undisturbed one does,
 * or ends with status 1 or 2 and says that memory was short; it never ends by a signal. Where it makes files, then
 * there is none of them.
 *
 * TEST_BACKPLANE is the program's path, TEST_SCRATCH_DIR a folder for files.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#if defined(BACKPLANE_SANITIZED)
enum { CASES_RUN = 0 }; /* the sanitizers want to be first in front of the C library */
#else
enum { CASES_RUN = 1 };
#endif

enum { PLACES = 4096, ARGUMENTS = 10 };

/* The number of the first request of a place, and the number of the place (refuse.c). */
typedef struct place_t {
    unsigned long first, place;
} place_t;

static const char refuse_library[] = TEST_SCRATCH_DIR "/refuse.so";
static const char told_file[] = TEST_SCRATCH_DIR "/refuse.told";
static const char out_file[] = TEST_SCRATCH_DIR "/refuse.out";
static const char err_file[] = TEST_SCRATCH_DIR "/refuse.err";
static const char small_ini[] = TEST_SCRATCH_DIR "/refuse.ini";
static const char bare_ini[] = TEST_SCRATCH_DIR "/refuse_bare.ini";
static const char scene_file[] = TEST_SCRATCH_DIR "/refuse.json";
static const char compiled_file[] = TEST_SCRATCH_DIR "/refuse.bpe";
static const char lines_file[] = TEST_SCRATCH_DIR "/refuse.in";
static const char cargo_file[] = TEST_SCRATCH_DIR "/refuse_cargo/cargo.so";
static const char cargo_ini[] = TEST_SCRATCH_DIR "/refuse_cargo.ini";
static const char recording_file[] = TEST_SCRATCH_DIR "/refuse.rec";
static const char second_file[] = TEST_SCRATCH_DIR "/refuse_second.rec";
static const char made_folder[] = TEST_SCRATCH_DIR "/refuse_made";
static const char seen_file[] = TEST_SCRATCH_DIR "/refuse.seen"; /* places of the cases before: each has a process */
static const char trace_file[] = TEST_SCRATCH_DIR "/refuse_trace.json";

static const char world_text[] =
    "[host]\nplugins = point_mass debug_name\nhistory = 8 MiB\nsteps = 1\n"
    "[world main]\nstep_rate = 10\ncomponents = point_mass debug_name\n"
    "[spawn main earth]\ncomponents = body:point_mass name:debug_name\nbody.mass = 3\nbody.velocity = 1 0 0\n"
    "name.name = earth\n";
static const char bare_text[] = "[host]\n";
static const char cargo_text[] = "[host]\nplugins = ./refuse_cargo/cargo.so\n";
static const char scene_text[] =
    "{\"prototypes\": {\"ball\": {\"components\": {\"body\": {\"type\": \"point_mass\", \"mass\": 2}}}},\n"
    " \"entities\": [{\"name\": \"a\", \"extends\": \"ball\", \"components\": {\"debug_name\": {\"name\": \"x\"}}},\n"
    "              {\"count\": 3, \"extends\": \"ball\", \"components\": {\"body\": {\"mass\": [1, 2, 3]}}}]}\n";

/* SAME: what it prints is the same each time. ALONE: no host is set up by the ini first. MAKES: it makes files, in an
 * empty folder in which it is started. FINDS: what it finds is its result, on stdout; where it says
 * that all is well, it has loaded the plugin. It does that in a copy of itself, whose requests are not told. */
enum { SAME = 1, ALONE = 2, MAKES = 4, FINDS = 8 };

typedef struct memory_case_t {
    const char *arguments[ARGUMENTS];
    const char *lines; /* for stdin */
    unsigned how;
} memory_case_t;

static const memory_case_t cases[] = {
    {{"plugins", small_ini}, "", SAME},
    {{"plugins", small_ini, "--json"}, "", SAME},
    {{"run", small_ini, "--json"}, "", 0},
    {{"run", small_ini, "--steps", "2"}, "", 0},
    {{"schema", small_ini}, "", SAME},
    {{"compile", scene_file, "-o", compiled_file, "--ini", small_ini, "--json"}, "", ALONE},
    {{"dump", compiled_file}, "", SAME | ALONE},
    {{"dump", compiled_file, "--json"}, "", SAME | ALONE},
    {{"plugins", cargo_ini, "--json"}, "", SAME},
    {{"schema", cargo_ini}, "", SAME},
    {{"replay", recording_file, "--check", "--json"}, "", 0},
    {{"bisect", recording_file, "main body.mass > 2"}, "", 0},
    {{"bisect", recording_file, "main body.position != 0 0 0"}, "", 0},
    {{"run", small_ini, "--trace", trace_file, "--record", second_file}, "", 0},
    {{"console", small_ini}, "worlds\nentities\ntree main\nget main/earth\nget main/earth.body.mass\nplugins\n", SAME},
    {{"console", small_ini}, "create main 3 body:point_mass\nadd main/earth other:point_mass\n"
     "set main/earth.body.mass 5\nfind main body.mass > 1\nremove main/earth.other\ndestroy earth\n", SAME},
    {{"console", small_ini}, "watch main/earth.body.mass\nstep 3\nmark here\nback 2\nset main/earth.body.mass 7\n"
     "branches\nbranch 1\ngoto here\nwhen main body.mass > 2\nbisect main body.mass > 2\nunwatch\n", 0},
    {{"console", small_ini}, "worlds\nstats\nreport\nget main/earth.body\nspawn " TEST_SCRATCH_DIR "/refuse.json\n"
     "despawn 1\nsave main " TEST_SCRATCH_DIR "/refuse_saved.bpe\nload main " TEST_SCRATCH_DIR "/refuse_saved.bpe\n"
     "plugins point_mass\n", 0},
    {{"new", "a"}, "", SAME | ALONE | MAKES},
    {{"new", "a", "--fields", "hp:f32=100,l:vec3[],m:u8[4]=7,s:string=x,who:entity,on:bool"}, "", SAME | ALONE | MAKES},
    {{"new", "a", "--fields", "p:vec3=1 2 3,n:u16", "--lang", "c++"}, "", SAME | ALONE | MAKES},
    {{"new", "a", "--system", "--fields", "much:f64=0.25,count:u32=3,text:string=abc"}, "", SAME | ALONE | MAKES},
    {{"new", "a", "--own-storage", "--fields", "on:bool=yes,n:i16=-3,v:vec2=1 2,q:quat,e:entity"}, "",
     SAME | ALONE | MAKES},
    {{"new", "a", "--lang", "rust", "--fields", "hp:f32=100,l:vec3[],m:u8[4]=7,s:string=x,who:entity"}, "",
     SAME | ALONE | MAKES},
    {{"new", "a", "--lang", "rust", "--system"}, "", SAME | ALONE | MAKES},
    {{"new", "a", "--lang", "rust", "--own-storage", "--fields", "on:bool=yes,n:i16=-3,v:vec2=1 2,q:quat,e:entity"}, "",
     SAME | ALONE | MAKES},
    {{"console", small_ini}, "step 30\nwhen main body.position != 0 0 0\nforward\nbisect main body.position != 0 0 0\n"
     "forward\nwhen count main > 0\nforward\nfind main body.position != 0 0 0\n", 0},
    {{"console", small_ini}, "create main 70 body:point_mass\nadd main/#5:1 name:debug_name\n"
     "set main/#5:1.name.name x\nget main/#5:1\nremove main/#5:1.name\ndestroy #5:1 #6:1\n", SAME},
    {{"console", small_ini}, "try 2 set main/earth.body.mass 9\nkeep\ndrop point_mass main\nhistory\n", 0},
    {{"console", small_ini}, "help\nhelp set\nfind main body.mass > 1\nstep 2\ntree\n", SAME},
    {{"run", small_ini, "--real-time", "--steps", "1"}, "", 0},
    {{"schema", "--plugins", TEST_SCRATCH_DIR "/refuse_cargo"}, "", SAME | ALONE},
    {{"plugins", bare_ini, "--json"}, "", SAME | ALONE},
    {{"console", bare_ini}, "worlds\n", SAME | ALONE},
    {{"check", cargo_file, "--json"}, "", ALONE | FINDS},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* --- one run ------------------------------------------------------------------------------------------------------ */

/* Run the case with the request of number `nth` refused; its status as wait gives it. With 0 for it none is, and places
 * behind `start` requests are told. */
static int run_case(const memory_case_t *one, unsigned long nth, unsigned long start)
{
    char program[PATH_MAX], library[PATH_MAX], told[PATH_MAX], number[32];
    char *arguments[ARGUMENTS + 2] = {program};
    ck_assert_ptr_nonnull(realpath(TEST_BACKPLANE, program));
    ck_assert_ptr_nonnull(realpath(refuse_library, library));
    write_file(told_file, "");
    ck_assert_ptr_nonnull(realpath(told_file, told));
    snprintf(number, sizeof number, "%lu", start);
    unsetenv("BACKPLANE_PLACES");
    if (nth == 0)
        setenv("BACKPLANE_PLACES", number, 1);
    for (int i = 0; i < ARGUMENTS; i++)
        arguments[i + 1] = (char *)(uintptr_t)one->arguments[i];
    snprintf(number, sizeof number, "%lu", nth);
    setenv("BACKPLANE_REFUSE", number, 1);
    setenv("BACKPLANE_REFUSED", told, 1);
    setenv("LD_PRELOAD", library, 1);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, lines_file, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_addopen(&files, 2, err_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if ((one->how & MAKES) != 0)
        posix_spawn_file_actions_addchdir_np(&files, made_folder);
    pid_t child;
    int status = -1;
    ck_assert_int_eq(posix_spawn(&child, program, &files, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&files);
    unsetenv("LD_PRELOAD");
    while (waitpid(child, &status, 0) < 0)
        ck_assert_int_eq(errno, EINTR);
    return status;
}

/* What refuse.c told: how many requests there were, whether the wanted one was among them, and the places. */
static unsigned long requests(bool *refused, place_t *places, unsigned *count)
{
    static char text[OUTPUT_MAX];
    read_file(told_file, text);
    *refused = strstr(text, "refused") != NULL;
    *count = 0;
    for (char *at = strchr(text, '\n'); at != NULL && at[1] != '\0' && *count < PLACES; at = strchr(at + 1, '\n')) {
        place_t *place = &places[(*count)++];
        place->first = strtoul(at + 1, &at, 10);
        place->place = strtoul(at, &at, 10);
    }
    return strtoul(text, NULL, 10);
}

enum { FEWEST = 8 /* places that are tried in a case, where it has so many */ };

/* Leave out the places of cases before that had the same command, but for some where there are few others, and add the
 * others to them. */
static unsigned leave_out_seen(const memory_case_t *one, place_t *places, unsigned count)
{
    static char text[OUTPUT_MAX];
    unsigned kept = 0, left = count; /* left: so many would be kept if no further one were left out */
    read_file(seen_file, text);
    FILE *file = fopen(seen_file, "a");
    ck_assert_ptr_nonnull(file);
    for (unsigned i = 0; i < count; i++) {
        char line[64];
        snprintf(line, sizeof line, "\n%s %lu\n", one->arguments[0], places[i].place);
        bool seen = strstr(text, line) != NULL;
        if (seen && left > FEWEST) {
            left--;
            continue;
        }
        if (!seen)
            fputs(line, file);
        places[kept++] = places[i];
    }
    ck_assert_int_eq(fclose(file), 0);
    return kept;
}

enum { AT_THE_END = 16 };

/* How many requests are surely made to set a host up: those of a console that reads no line, without its last ones,
 * which are the console's own and of the end. */
static unsigned long requests_of_start(void)
{
    static place_t places[PLACES];
    bool refused;
    unsigned count;
    write_file(lines_file, "");
    ck_assert_int_eq(run_case(&(memory_case_t){.arguments = {"console", small_ini}}, 0, 0), 0);
    return requests(&refused, places, &count) - AT_THE_END;
}

static void empty_made_folder(void)
{
    if (rmdir(made_folder) == 0 && mkdir(made_folder, 0777) == 0)
        return;
    expect(shell("rm -rf '%s' && mkdir '%s'", made_folder, made_folder), 0, NULL);
}

static bool prints_json(const memory_case_t *one)
{
    bool json = strcmp(one->arguments[0], "schema") == 0;
    for (int i = 0; i < ARGUMENTS && one->arguments[i] != NULL; i++)
        json = json || strcmp(one->arguments[i], "--json") == 0;
    return json;
}

static void check_refused_run(const memory_case_t *one, unsigned long nth, int status, const char *undisturbed)
{
    static char out[OUTPUT_MAX], err[OUTPUT_MAX];
    read_file(out_file, out);
    read_file(err_file, err);
    ck_assert_msg(WIFEXITED(status), "%s, request %lu: ended by signal %d\n%s", one->arguments[0], nth,
                  WTERMSIG(status), err);
    if (WEXITSTATUS(status) == 0) {
        ck_assert_msg((one->how & SAME) == 0 || strcmp(out, undisturbed) == 0,
                      "%s, request %lu: all is said to be well, with\n%s",
                      one->arguments[0], nth, out);
        ck_assert_msg((one->how & FINDS) == 0 || strstr(out, ", for ABI ") != NULL,
                      "%s, request %lu: it passes, with\n%s", one->arguments[0], nth, out);
        return;
    }
    /* What is remembered of the past is let go first, and that is told. */
    bool said = strstr(err, "memory") != NULL || strstr(err, "the past begins anew") != NULL ||
                strstr(err, "the one that was is forgotten") != NULL ||
                ((one->how & FINDS) != 0 && strstr(out, "memory") != NULL);
    ck_assert_msg(WEXITSTATUS(status) <= 2 && said, "%s, request %lu: status %d, and only\n%s",
                  one->arguments[0], nth, WEXITSTATUS(status), err);
    size_t length = strlen(out);
    ck_assert_msg(!prints_json(one) || length == 0 || (length > 2 && strcmp(out + length - 2, "}\n") == 0),
                  "%s, request %lu: a part of an object was printed:\n%s", one->arguments[0], nth, out);
    if ((one->how & MAKES) != 0)
        ck_assert_msg(rmdir(made_folder) == 0, "request %lu: files were left", nth);
}

START_TEST(a_command_that_is_refused_memory_says_so)
{
    static char undisturbed[OUTPUT_MAX];
    static place_t places[PLACES], none[PLACES];
    const memory_case_t *one = &cases[_i];
    bool refused = true;
    unsigned count, no_count;
    empty_made_folder();
    if (_i == 0)
        write_file(seen_file, "");
    unsigned long start = (one->how & ALONE) != 0 ? 0 : requests_of_start(), failed = 0;
    write_file(lines_file, one->lines);
    ck_assert_int_eq(run_case(one, 0, start), 0);
    read_file(out_file, undisturbed);
    unsigned long all = requests(&refused, places, &count);
    ck_assert_msg(count > 0 && !refused, "%lu requests, %lu of them to start", all, start);
    count = leave_out_seen(one, places, count);
    for (unsigned i = 0; i < count; i++) {
        if ((one->how & MAKES) != 0)
            empty_made_folder();
        int status = run_case(one, places[i].first, 0);
        requests(&refused, none, &no_count);
        ck_assert_msg(refused || (one->how & FINDS) != 0, "request %lu of %lu was not made", places[i].first, all);
        check_refused_run(one, places[i].first, status, undisturbed);
        failed += status != 0;
    }
    ck_assert_uint_ge(failed, 1);
}
END_TEST

static void make_files(void)
{
    make_scratch_folder();
    write_file(small_ini, world_text);
    write_file(scene_file, scene_text);
    write_file(cargo_ini, cargo_text);
    write_file(bare_ini, bare_text);
    expect(shell("mkdir -p '" TEST_SCRATCH_DIR "/refuse_cargo' && ${CC:-cc} -O1 -shared -fPIC tests/preload/refuse.c "
                 "-o '%s' && ${CC:-cc} -shared -fPIC -I plugin_api tests/program/plugins/cargo.c -o '%s'",
                 refuse_library, cargo_file), 0, NULL);
    expect(shell("rm -f '%s'; backplane run '%s' --steps 30 --record '%s' >/dev/null", recording_file, small_ini,
                 recording_file), 0, NULL);
    expect(shell("backplane compile '%s' -o '%s' --ini '%s' >/dev/null", scene_file, compiled_file, small_ini), 0,
           NULL);
}

Suite *program_memory_suite(void)
{
    Suite *suite = suite_create("program_memory");
    TCase *tests = tcase_create("requests are refused");
    tcase_set_timeout(tests, 120);
    if (CASES_RUN) {
        tcase_add_unchecked_fixture(tests, make_files, NULL);
        tcase_add_loop_test(tests, a_command_that_is_refused_memory_says_so, 0, CASES);
    }
    suite_add_tcase(suite, tests);
    return suite;
}
