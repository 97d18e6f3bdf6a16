/* test_recordings.c - runs that are recorded, computed again and resumed, as people do it. */
#include "../suites.h"
#include "../unit/support.h"
#include "shell.h"

#include <string.h>

#define RECORDING TEST_SCRATCH_DIR "/program.rec"

static const char sun[] = "config/solar_system.ini";

/* What `replay` says at its end, behind "hash ". */
static void take_hash(const outcome_t *outcome, char hash[17])
{
    const char *at = strstr(outcome->out, "hash ");
    EXPECT(at != NULL, "no hash in %s", outcome->out);
    snprintf(hash, 17, "%s", at + 5);
}

static void whole_run(char hash[17])
{
    expect(shell("backplane run %s --steps 30000 --record %s > /dev/null", sun, RECORDING), 0, NULL);
    expect(shell("backplane replay %s --check", RECORDING), 0, NULL);
    take_hash(shell("backplane replay %s", RECORDING), hash);
}

START_TEST(a_run_is_computed_again)
{
    char hash[17], again[17];
    whole_run(hash);
    const outcome_t *outcome = shell("backplane replay %s --check --json", RECORDING);
    expect(outcome, 0, NULL);
    json_t *root = parse_output(outcome);
    EXPECT(strcmp(text_of(root, "hash"), hash) == 0 && count_of(root, "step") == 30000, "%s", outcome->out);
    EXPECT(strcmp(text_of(root, "ini"), sun) == 0 && count_of(root, "lost") == 0, "%s", outcome->out);
    json_decref(root);
    take_hash(shell("backplane replay %s --to 29999", RECORDING), again);
    EXPECT(strcmp(hash, again) != 0, "two steps with one hash");
}
END_TEST

/* Killed at whatever moment: what is there goes on to the same end. */
START_TEST(a_killed_run_is_resumed)
{
    static const char *const moments[] = {"0.02", "0.05", "0.1"};
    char hash[17], again[17];
    whole_run(hash);
    shell("timeout -s KILL %s '" TEST_BACKPLANE "' run %s --steps 3000000 --record %s || true", moments[_i], sun,
          RECORDING);
    const outcome_t *outcome = shell("backplane run %s --steps 30000 --resume %s > /dev/null", sun, RECORDING);
    if (outcome->status == 2) { /* before the first keyframe */
        expect_in(outcome->err, "program.rec: is ");
        return;
    }
    expect(outcome, 0, "goes on behind step");
    expect(shell("backplane replay %s --check", RECORDING), 0, NULL);
    take_hash(shell("backplane replay %s --to 30000", RECORDING), again);
    EXPECT(strcmp(hash, again) == 0, "resumed it comes to %s, not to %s", again, hash);
}
END_TEST

START_TEST(steps_are_taken_twice)
{
    expect(shell("backplane run %s --steps 50 --verify", sun), 0, NULL);
    expect_refused(shell("backplane run %s --steps 50 --verify --real-time", sun), "not with --real-time");
    write_file(TEST_SCRATCH_DIR "/audited.ini", "[host]\naudit = reads\n");
    expect_refused(shell("backplane run %s --steps 1", TEST_SCRATCH_DIR "/audited.ini"),
                   "audited.ini:2: audit is writes, or off; not 'reads'");
}
END_TEST

/* A plugin that counts in a variable of its own does something else when a step is taken again. */
START_TEST(a_step_that_comes_to_something_else_is_told_with_what_differs)
{
    write_file(TEST_SCRATCH_DIR "/counting.ini", "[host]\nplugins = ./counting.so\n"
                                                 "[world main]\nstep_rate = 64\ncomponents = spin\n"
                                                 "[spawn main wheels]\ncount = 1\ncomponents = spin\n");
    expect(shell("sed 's/float dt = /static int calls;\\n    float dt = (float)++calls * /' examples/plugin/spin.c | "
                 "cc -shared -fPIC -I plugin_api -x c - -o '" TEST_SCRATCH_DIR "/counting.so'"), 0, NULL);
    for (int count = 1; count <= 2; count++) {
        expect(shell("sed -i 's/^count.*/count = %d/' '" TEST_SCRATCH_DIR "/counting.ini'", count), 0, NULL);
        const outcome_t *outcome = shell("backplane run '" TEST_SCRATCH_DIR "/counting.ini' --steps 5 --verify");
        expect(outcome, 1, "component 'spin' of world 'main' writes something else");
        expect_in(outcome->err, count == 1 ? "  main: spin.angle differs in 1 entity, by 0.0"
                                           : "  main: spin.angle differs in 2 entities, by 0.0");
        ck_assert_str_eq(outcome->out, "");
    }
}
END_TEST

/* Every plugin that an ini of ours loads says how it is kept. */
START_TEST(a_game_is_recorded)
{
    static const char small[] = TEST_SCRATCH_DIR "/few_bubbles.ini";
    char hash[17], again[17];
    expect(shell("sed 's/1000000/3000/; s,build/bubbles,%s/few_bubbles,' config/bubbles.ini > %s", TEST_SCRATCH_DIR,
                 small),
           0, NULL);
    expect(shell("backplane run %s --steps 40 --verify --record %s > /dev/null", small, RECORDING), 0, NULL);
    take_hash(shell("backplane replay %s --check", RECORDING), hash);
    shell("head -c 200000 %s > %s.cut", RECORDING, RECORDING);
    expect(shell("backplane run %s --steps 40 --resume %s.cut > /dev/null", small, RECORDING), 0,
           "; what came after it is not whole\n");
    take_hash(shell("backplane replay %s.cut --check", RECORDING), again);
    EXPECT(strcmp(hash, again) == 0, "resumed it comes to %s, not to %s", again, hash);
}
END_TEST

START_TEST(a_recording_is_looked_through)
{
    expect(shell("backplane run %s --steps 2000 --record %s > /dev/null", sun, RECORDING), 0, NULL);
    const outcome_t *outcome = shell("backplane bisect %s main orbit.revolutions '>=' 1", RECORDING);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, " of 2000: ");
    expect_in(outcome->out, " moon orbit.revolutions = 1, before 0\n"
                            "  written by system orbit_measure: #4:1 moon 0 -> 1\n");
    outcome = shell("backplane bisect %s main body.mass '>=' 1 --ini %s", RECORDING, sun);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "at step 0 of 2000: ");
    expect_in(outcome->out, " sun body.mass = 1\n");
    expect(shell("backplane bisect --ini=%s %s main body.mass '>=' 1", sun, RECORDING), 0, NULL);
    expect(shell("backplane bisect %s main body.mass '>' 9", RECORDING), 1, "it is not so at the end");
    expect(shell("backplane bisect %s main body.age", RECORDING), 1,
           "no entity of world 'main' has a property body.age");
    expect_refused(shell("backplane bisect %s main", RECORDING), "bisect needs a world and a property");
    expect_refused(shell("backplane bisect %s", RECORDING), "usage: backplane bisect FILE");
    expect_refused(shell("backplane bisect %s main body.mass $(printf '%%05000d' 1)", RECORDING),
                   "usage: backplane bisect");
    expect_refused(shell("backplane bisect %s main body.mass --ini", RECORDING), "usage: backplane bisect FILE");
    expect_refused(shell("backplane bisect %s.gone main body.mass", RECORDING), "cannot be opened");
}
END_TEST

/* A wheel turns 1/60 at each step. Several keyframes, since what is resumed begins with one; the last steps come after
 * the last keyframe, since the file is cut there. */
START_TEST(each_step_of_a_recording_can_be_looked_for)
{
    write_file(TEST_SCRATCH_DIR "/wheel.ini", "[host]\nplugins = ./wheel.so\n"
                                              "[world main]\nstep_rate = 64\ncomponents = spin\n"
                                              "[spawn main wheels]\ncount = 5\ncomponents = spin\n");
    static const char run[] = "backplane run '" TEST_SCRATCH_DIR "/wheel.ini' --steps %d %s '" TEST_SCRATCH_DIR
                              "/wheel.rec' >/dev/null";
    expect(shell("cc -shared -fPIC -I plugin_api -o '" TEST_SCRATCH_DIR "/wheel.so' examples/plugin/spin.c"), 0,
           NULL);
    expect(shell(run, 1, "--record"), 0, NULL);
    for (int steps = 40; steps <= 160; steps += 40) {
        char expected[64];
        snprintf(expected, sizeof expected, "wheel.rec: goes on behind step %d\n", steps > 40 ? steps - 40 : 1);
        expect(shell(run, steps, "--resume"), 0, expected);
    }
    shell("cd '" TEST_SCRATCH_DIR "' && truncate -s -64 wheel.rec");
    expect(shell("backplane replay '" TEST_SCRATCH_DIR "/wheel.rec' >/dev/null"), 0,
           "bytes are not whole, and left out");
    for (int step = 1; step <= 160; step += step % 40 == 39 ? 1 : 13) {
        char expected[64];
        const outcome_t *outcome = shell("backplane bisect '" TEST_SCRATCH_DIR "/wheel.rec' 'main spin.angle >= %.6f'",
                                         step / 64.0);
        expect(outcome, 0, NULL);
        snprintf(expected, sizeof expected, "at step %d of 160: #0:1 spin.angle = ", step);
        expect_in(outcome->out, expected);
        expect_in(outcome->out, "written by component spin: #0:1 ");
    }
}
END_TEST

/* A plugin that does something else where a variable of the environment is set: what a keyframe holds is not come to
 * again. */
START_TEST(steps_that_come_to_something_else_than_recorded_are_told)
{
    static const char run[] = "backplane run '" TEST_SCRATCH_DIR "/still.ini' --steps %d %s '" TEST_SCRATCH_DIR
                              "/still.rec' >/dev/null";
    write_file(TEST_SCRATCH_DIR "/still.ini", "[host]\nplugins = ./still.so\n"
                                              "[world main]\nstep_rate = 64\ncomponents = spin\n"
                                              "[spawn main wheels]\ncomponents = spin\n");
    expect(shell("sed 's/float dt = /char *getenv(const char *);\\n    float dt = (getenv(\"STILL\") ? 0 : 1) * /' "
                 "examples/plugin/spin.c | cc -shared -fPIC -I plugin_api -x c - -o '" TEST_SCRATCH_DIR "/still.so'"),
           0, NULL);
    expect(shell(run, 1, "--record"), 0, NULL);
    expect(shell(run, 100, "--resume"), 0, "goes on behind step 1");
    expect(shell(run, 101, "--resume"), 0, "goes on behind step 100");
    expect(shell("export STILL=1; backplane bisect '" TEST_SCRATCH_DIR "/still.rec' 'main spin.angle >= 1'"), 1,
           "still.rec: it was so at a keyframe, and is not where the steps before are computed again; see `backplane "
           "replay ");
    expect(shell("export STILL=1; backplane replay '" TEST_SCRATCH_DIR "/still.rec' --check"), 1,
           "what is computed differs from what was recorded");
    expect(shell("backplane replay '" TEST_SCRATCH_DIR "/still.rec' --check"), 0, NULL);
}
END_TEST

START_TEST(a_change_is_tried_and_kept)
{
    static const char ini[] = "[host]\nplugins = point_mass\n"
                              "[world main]\nstep_rate = 1\ncomponents = point_mass\n"
                              "[spawn main one]\ncount = 2\ncomponents = point_mass\n"
                              "point_mass.velocity = 1 0 0\n";
    static const char lines[] = "step 3\ntry 10 set main/#1:1.point_mass.mass 5\nget main/#1:1.point_mass.mass\n"
                                "keep\nget main/#1:1.point_mass.mass\ntry 4 set main/#1:1.point_mass.mass 5\n"
                                "try 2 reload point_mass\ntry 0 create main 2 point_mass\n";
    const outcome_t *outcome = console(ini, lines);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "in the clone, and not in this host: reloaded point_mass ");
    expect_in(outcome->out, "point_mass.mass differs in 1 entity, by 4 at most\n10 steps later; `keep` makes the "
                            "change\n1\n5\nno difference 4 steps later");
    expect_in(outcome->out, "no difference 2 steps later");
    expect_in(outcome->out, "has come\n0 steps later");
    expect(console(ini, "keep\n"), 1, "nothing has been tried");
    expect(console(ini, "try\n"), 1, "for how many steps");
    expect(console(ini, "try x set\n"), 1, "'x' is no number of steps");
    expect(console(ini, "try 3\n"), 1, "try which change?");
    expect(console(ini, "try 3 get main/#1:1.point_mass.mass\n"), 1, "'get' changes nothing");
    expect(console(ini, "try 3 set main/#9:1.point_mass.mass 1\n"), 1, "#9:1");
}
END_TEST

/* Reloaded while it is recorded, with a field of another type; what lies at the plugin's path afterwards is the later
 * version. */
START_TEST(a_recording_goes_over_a_reload)
{
    static const char build[] = "cc -shared -fPIC -I plugin_api -x c - -o '" TEST_SCRATCH_DIR "/spin.new' && "
                                "mv '" TEST_SCRATCH_DIR "/spin.new' '" TEST_SCRATCH_DIR "/spin.so'";
    static const char other[] = "sed -e 's/const float \\*speed/const double *rate/' "
                                "-e 's/speed), /rate), .former_name = \"speed\", /' "
                                "-e 's/c.speed\\[i\\]/(float)c.rate[i]/' examples/plugin/spin.c";
    write_file(TEST_SCRATCH_DIR "/spin.ini", "[host]\nplugins = ./spin\nhot_reload = on\nsteps = 3000\n"
                                             "[world main]\nstep_rate = 1000\ncomponents = spin\n"
                                             "[spawn main wheels]\ncount = 5\ncomponents = spin\n");
    expect(shell("cat examples/plugin/spin.c | %s", build), 0, NULL);
    const outcome_t *outcome = shell("(sleep 0.5; %s | %s) & backplane run '" TEST_SCRATCH_DIR "/spin.ini' --real-time "
                                     "--record '" TEST_SCRATCH_DIR "/spin.rec' </dev/null; wait", other, build);
    expect(outcome, 0, "converted  rate, from f32 to f64; it was called speed");
    expect(shell("backplane replay '" TEST_SCRATCH_DIR "/spin.rec' --check"), 0, NULL);
    outcome = shell("backplane bisect '" TEST_SCRATCH_DIR "/spin.rec' 'main spin.rate > 0'");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, " of 3000: #0:1 spin.rate = 1\n");
    outcome = shell("backplane bisect '" TEST_SCRATCH_DIR "/spin.rec' 'main spin.angle >= 2.95'");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "written by component spin: #0:1 2.94");
}
END_TEST

/* Trials need copies of the process, and crashes are recovered from. */
#if defined(__linux__) && !defined(BACKPLANE_SANITIZED)
#define TESTS_BESIDE

/* A first version that crashes only after its trial, and a second one that does not. */
START_TEST(a_version_is_tried_beside_the_run_and_then_let_in)
{
    static const char said[] = TEST_SCRATCH_DIR "/beside.err";
    char text[OUTPUT_MAX];
    write_file(TEST_SCRATCH_DIR "/beside.ini", "[host]\nplugins = ./spin\nhot_reload = on\nreload = try 60\n"
                                               "[world main]\nstep_rate = 500\ncomponents = spin\n"
                                               "[spawn main wheels]\ncount = 5\ncomponents = spin\n");
    shell("s='" TEST_SCRATCH_DIR "'; e='%s'; : >$e\n"
          "put() { sed \"$@\" examples/plugin/spin.c | cc -shared -fPIC -I plugin_api -x c - -o $s/spin.new\n"
          "        mv $s/spin.new $s/spin.so; }\n"
          "told() { for i in $(seq 300); do if grep -q \"$1\" $e; then return; fi; sleep 0.1; done; }\n"
          "put ''\n"
          "'" TEST_BACKPLANE "' run $s/beside.ini --real-time --steps 100000000 2>$e >$s/beside.out </dev/null &\n"
          "run=$!\n"
          "sleep 0.3\n"
          "put 's/\"1.0\"/\"1.1\"/; s/    float dt/    static int calls;\\n    if (++calls > 40)\\n"
          "        __builtin_trap();\\n    float dt/'\n"
          "told 'draft: dropped'\n"
          "put 's/\"1.0\"/\"1.2\"/'\n"
          "told '^backplane: host: reloaded'\n"
          "kill $run; wait $run; true", said);
    read_file(said, text);
    expect_in(text, "in the draft, and not in this host: reloaded spin 1.0 -> 1.1");
    expect_in(text, "in the draft, and not in this host: plugin 'spin' 1.1 crashed in 'simulate'");
    expect_in(text, "draft: dropped: a plugin has crashed");
    expect_not_in(text, "backplane: host: reloaded spin 1.0 -> 1.1");
    expect_in(text, "in the draft, and not in this host: reloaded spin 1.0 -> 1.2");
    expect_in(text, "draft: 60 steps beside the host: ");
    expect_in(text, "\nbackplane: host: reloaded spin 1.0 -> 1.2");
}
END_TEST

#endif

START_TEST(the_first_step_is_found)
{
    static const char ini[] = "[host]\nplugins = point_mass\nhistory = 64 MiB\n"
                              "[world main]\nstep_rate = 1\ncomponents = point_mass\n"
                              "[spawn main one]\ncount = 3\ncomponents = point_mass\n"
                              "point_mass.velocity = 1 0 0\n";
    static const char lines[] = "step 10\nset main/#1:1.point_mass.mass 5\nstep 30\n"
                                "set main/#2:1.point_mass.mass 7\nstep 10\nset main/#1:1.point_mass.mass 1\nstep 5\n"
                                "when main point_mass.mass > 4\nforward\n"
                                "when main point_mass.position = 3 0 0\nforward\n"
                                "bisect main point_mass.mass = 7\nforward\n"
                                "when main point_mass.mass > 9\nbisect main point_mass.mass > 9\n"
                                "bisect main point_mass.mass > 0\n";
    const outcome_t *outcome = console(ini, lines);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "at step 11 of 55: #1:1 point_mass.mass = 5, before 1\n"
                            "  written from outside: #1:1 1 -> 5\n");
    expect_in(outcome->out, "at step 3 of 55: #0:1 point_mass.position = 3 0 0, before 2 0 0\n"
                            "  written by component point_mass: #0:1 2 0 0 -> 3 0 0; #1:1 2 0 0 -> 3 0 0; "
                            "#2:1 2 0 0 -> 3 0 0\n");
    expect_in(outcome->out, "at step 41 of 55: #2:1 point_mass.mass = 7, before 1\n");
    expect_in(outcome->out, "never in steps 0 to 55\n");
    expect_in(outcome->out, "not at the end, and so nothing to look for in steps 0 to 55\n");
    expect_in(outcome->out, "at step 0 of 55: #0:1 point_mass.mass = 1\n");
    expect(console(ini, "step 3\nwhen main point_mass\n"), 1, "when needs a world and a property");
    expect(console(ini, "step 3\nwhen main point_mass.age > 3\n"), 1,
           "at none of these steps: no entity of world 'main' has a property point_mass.age");
    expect(console(ini, "bisect main point_mass.mass ~ 3\n"), 1, "such as bisect main body.mass > 2");
    expect(console("[world main]\n", "when main body.mass > 3\n"), 1, "the host remembers nothing");
}
END_TEST

/* One entity among others, a count, and a value that is no number: each with who made it so. */
START_TEST(conditions_are_of_one_entity_of_any_or_of_how_many)
{
    static const char ini[] = "[host]\nplugins = point_mass debug_name\nhistory = 64 MiB\n"
                              "[world main]\nstep_rate = 1\ncomponents = point_mass debug_name\n"
                              "[spawn main one]\ncomponents = point_mass name:debug_name\nname.name = one\n"
                              "point_mass.velocity = 1 0 0\n"
                              "[spawn main two]\ncomponents = point_mass name:debug_name\nname.name = two\n"
                              "point_mass.velocity = 2 0 0\n";
    static const char lines[] =
        "step 10\ncreate main 5 point_mass\nstep 10\n"
        "set main/two.point_mass.position 3e38 0 0\nset main/two.point_mass.velocity 3e38 0 0\nstep 2\n"
        "set main/two.point_mass.velocity -3e38 0 0\nset main/two.point_mass.acceleration -3e38 0 0\nstep 8\n"
        "find count main = 7\nfind count main point_mass > 7\nfind main/one.point_mass.position = 30 0 0\n"
        "find any main/*.point_mass.position is nan\nfind main/two.point_mass.position is inf\n"
        "when main/two.point_mass.position is inf\nforward\n"
        "when main/one.point_mass.position = 4 0 0\nforward\nwhen main/two.point_mass.position = 4 0 0\nforward\n"
        "when count main > 2\nforward\nbisect count main point_mass >= 7\nforward\n"
        "when any main/*.point_mass.position is nan\nforward\nbisect main point_mass.position is nan\nforward\n"
        "when main/three.point_mass.mass > 0\n";
    const outcome_t *outcome = console(ini, lines);
    expect(outcome, 1, "at none of these steps: world 'main' has no entity 'three' with a property point_mass.mass");
    expect_in(outcome->out, "7: it is so\n7: it is not so\n");
    expect_in(outcome->out, "  #0:1  one  30 0 0\n1 entity\n  #1:1  two  ");
    expect_in(outcome->out, "nan 0 0\n1 entity\n0 entities\n"); /* a sign before nan is the processor's affair */
    expect_in(outcome->out, "at step 4 of 30: #0:1 one point_mass.position = 4 0 0, before 3 0 0\n"
                            "  written by component point_mass: #0:1 one 3 0 0 -> 4 0 0\n");
    expect_in(outcome->out, "at step 2 of 30: #1:1 two point_mass.position = 4 0 0, before 2 0 0\n");
    expect_in(outcome->out, "at step 11 of 30: count main = 7, before 2\n  written from outside: 2 -> 7\n");
    expect_in(outcome->out, "at step 11 of 30: count main point_mass = 7, before 2\n  written from outside: 2 -> 7\n");
    expect_in(outcome->out, "at step 21 of 30: #1:1 two point_mass.position = inf 0 0, before 40 0 0\n");
    const char *first = strstr(outcome->out, "at step 23 of 30: #1:1 two point_mass.position = ");
    EXPECT(first != NULL && strstr(first + 1, "at step 23 of 30: #1:1 two point_mass.position = ") != NULL, "%s",
           outcome->out);
}
END_TEST

static const struct { const char *line, *message; } bad_conditions[] = {
    {"find main point_mass.mass > heavy", "'heavy' is not a number, which is what > compares with"},
    {"find main point_mass.mass = heavy", "'heavy' is not a number, as point_mass.mass is"},
    {"find main point_mass.mass is heavy", "a value is nan or inf; for others write = heavy"},
    {"find any main/one.point_mass.mass", "any, or 'one': write one of both"},
    {"find main/one.point_mass", "find needs a world and a property"},
    {"find main/one", "find needs a world and a property"},
    {"find any", "find needs a world and a property"},
    {"find count", "count needs a world and a number, such as find count main > 1000"},
    {"find count main", "count needs a world and a number"},
    {"find count main point_mass", "count needs a world and a number"},
    {"find count main > many", "'many' is not a number, which is what count compares with"},
    {"find count main point_mas > 2", "point_mass"},
    {"find count main > ", "compare it with what?"},
    {"find count mane > 2", "main"},
    {"find mane/one.point_mass.mass", "main"},
};

START_TEST(a_condition_that_nothing_can_meet_is_refused)
{
    static const char ini[] = "[host]\nplugins = point_mass\n[world main]\ncomponents = point_mass\n"
                              "[spawn main one]\ncomponents = point_mass\n";
    expect(console(ini, bad_conditions[_i].line), 1, bad_conditions[_i].message);
}
END_TEST

START_TEST(what_is_wrong_is_told)
{
    char hash[17];
    whole_run(hash);
    expect_refused(shell("backplane replay %s --to 30001", RECORDING), "those from 0 to 30000 are");
    expect_refused(shell("backplane replay %s", sun), "is no recording");
    expect_refused(shell("backplane replay no_such.rec"), "no_such.rec: cannot be opened");
    expect_refused(shell("backplane replay %s --to soon", RECORDING), "--to takes one step");
    expect_refused(shell("backplane replay %s --chekc", RECORDING), "did you mean '--check'?");
    expect_refused(shell("backplane replay %s --ini no_such.ini", RECORDING), "give --ini INI");
    expect(shell("backplane replay %s --ini config/bubbles.ini", RECORDING), 1, "the host had 5 plugins then and has");
    expect_refused(shell("backplane run %s --record a --resume b", sun), "give --record or --resume");
    expect_refused(shell("backplane run %s --resume", sun), "--resume takes one file");
    expect_refused(shell("backplane run config/bubbles.ini --steps 1 --resume %s", RECORDING),
                   "program.rec: moment 30000: the host had 5 plugins then and has");
    expect(shell("backplane run %s --steps 1 --record /dev/full", sun), 1, "/dev/full: cannot be written");
}
END_TEST

Suite *recordings_suite(void)
{
    Suite *suite = suite_create("recordings");
    TCase *tcase = tcase_create("recordings");
    tcase_add_checked_fixture(tcase, make_scratch_folder, NULL);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_run_is_computed_again);
    tcase_add_test(tcase, steps_that_come_to_something_else_than_recorded_are_told);
    tcase_add_loop_test(tcase, a_killed_run_is_resumed, 0, 3);
    tcase_add_test(tcase, steps_are_taken_twice);
    tcase_add_test(tcase, a_step_that_comes_to_something_else_is_told_with_what_differs);
    tcase_add_test(tcase, a_game_is_recorded);
    tcase_add_test(tcase, a_recording_goes_over_a_reload);
#if defined(TESTS_BESIDE)
    tcase_add_test(tcase, a_version_is_tried_beside_the_run_and_then_let_in);
#endif
    tcase_add_test(tcase, the_first_step_is_found);
    tcase_add_test(tcase, conditions_are_of_one_entity_of_any_or_of_how_many);
    tcase_add_loop_test(tcase, a_condition_that_nothing_can_meet_is_refused, 0,
                        sizeof bad_conditions / sizeof bad_conditions[0]);
    tcase_add_test(tcase, a_recording_is_looked_through);
    tcase_add_test(tcase, each_step_of_a_recording_can_be_looked_for);
    tcase_add_test(tcase, a_change_is_tried_and_kept);
    tcase_add_test(tcase, what_is_wrong_is_told);
    suite_add_tcase(suite, tcase);
    return suite;
}
