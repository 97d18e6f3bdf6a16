/* test_new.c - `backplane new`: folders with plugins in them, built, checked, run and reloaded as they stand.
 *
 * Everything goes through the shell, make and the system's compilers, as for a user; in TEST_SCRATCH_DIR/new.
 */
#include "../suites.h"
#include "shell.h"

#include <stdlib.h>
#include <string.h>

/* Where the folders are made. `backplane` is the function of shell.h, whose path may be relative to the tree's root. */
#define FOLDER TEST_SCRATCH_DIR "/new"
#define IN_FOLDER                                                                                          \
    "unset MAKEFLAGS MFLAGS MAKELEVEL; program=$(realpath '" TEST_BACKPLANE "'); backplane() { $program \"$@\"; }; " \
    "cd '" FOLDER "' && "

static void empty_folder(void)
{
    make_scratch_folder();
    ck_assert_int_eq(system("rm -rf '" FOLDER "' && mkdir '" FOLDER "'"), 0);
}

/* --- what is made works ------------------------------------------------------------------------------------------ */

/* Each language and kind, with fields of many types; then more of the same, since compilers take a second for each. */
enum { MADE_FIRST = 19 };

static const char *const made[] = {
    "a",
    "a --lang c++",
    "a --system",
    "a --system --lang c++",
    "a --own-storage",
    "a --own-storage --lang c++",
    "a --fields 'x:f64,b:bool=true,p:vec3=0 0 1,q:quat,m:mat4,c:colour=#ff8000,s:string=a \"b\" "
    "\\\\,who:entity,n:name'",
    "a --lang=c++ --fields 'b:bool,s:string=hello,who:entity,n:name,l:vec3[],m:u8[4]=7,t:string[]'",
    "a --fields 'x:u8[4]=[1,2, 3 ,4],v:vec3[2]=[1 2 3, 4 5 6],n:name[2]=[\"q, \\\"x\", y ],c:colour[2]=[#f00, 1 0 0]'",
    "a --lang rust --fields 'n:name[2]=[x, y],s:string[2]=[a b, c],t:u16[3]=[1, 2, 3]'",
    "a --own-storage --fields 'on:bool=yes,n:i16=-3,f:f32=0.25,d:f64=1e3,v:vec2=1 2,q:quat,e:entity'",
    "a --lang rust",
    "a --lang=rust --component --fields 'hp:f32=100,b:bool=true,s:string=a \"b\" \\\\ \xc3\xa4,who:entity,l:vec3[],"
    "m:u8[4]=7'",
    "a --lang rust --fields 'n:u16=65535,text:string[]'",
    "a --lang rust --system --fields 'how_much:f64=0.25,count:u32=3,text:string=abc'",
    "a --lang rust --own-storage --fields 'on:bool=yes,n:i16=-3,f:f32=.25,d:f64=1e3,v:vec2=1 +2,q:quat,e:entity'",
    "a --fields 'l:vec3[],m:u8[4]=7,s:string[],who:entity,on:bool,c:colour'",
    "a --fields 'text:string'",
    "a --own-storage --fields 'on:bool'",
    /* Only with TESTS_ALL=1: */
    "a --component --lang=c",
    "a --fields 'hp:f32=100,max:f32'",
    "a --fields 'p:dvec3=1,2,3, v:i8=-1,w:u64'",
    "a --fields 'p:vec3=0,0,1'",
    "a --lang c++ --fields 'n:name[2]=[x, y],f:f64[3]=[1e3, -.5, 2]'",
    "a --fields 'x:f32,on:bool[2]=[true, false],t:string[2]=[\"a, b]\", c], p:dvec2=1, -2'",
    "a --own-storage --fields 'n:i32=010,v:vec2=00 -01.5'",
    "a --fields 'n:u16=3,text:string'",
    "a --own-storage --lang c++ --fields 'e:entity,v:dvec3=1 2.5 3,q:quat,on:bool'",
    "a --system --fields 'count:u32=3,text:string=abc'",
    "a --lang rust --fields 'p:dvec3=1 2 3,n:i16=3,c:colour=#ff8000'",
    "a --lang rust --fields 'text:string'",
    "a --lang rust --system",
    "a --lang rust --own-storage",
    "a --lang rust --own-storage --fields 'on:bool'",
    "a --system --fields 'how_much:f64=0.25,colour:colour=#ff0000'",
};

START_TEST(what_is_made_builds_without_a_warning_passes_check_runs_and_reloads)
{
    empty_folder();
    if (strstr(made[_i], "rust") != NULL && system("command -v rustc >/dev/null 2>&1") != 0) {
        puts("Rust is skipped: there is no rustc");
        return;
    }
    const outcome_t *outcome = shell(IN_FOLDER "backplane new %s", made[_i]);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "make -C a test ");
    expect_in(outcome->out, "make -C a dev ");
    outcome = shell(IN_FOLDER "make -s -C a test");
    expect(outcome, 0, NULL); /* with nothing on stderr: no warning */
    expect_in(outcome->out, "nothing of it troubles a reload");
    expect_not_in(outcome->out, "warning");
    expect_in(outcome->out, "passed");
    outcome = shell(IN_FOLDER "make -s -C a run");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "600 steps");
}
END_TEST

/* Names that mean something elsewhere. */
START_TEST(a_plugin_may_be_called_name_or_as_one_that_comes_with_the_program)
{
    empty_folder();
    static const char *const names[] = {"name", "point_mass"};
    expect(shell(IN_FOLDER "backplane new %s", names[_i]), 0, NULL);
    const outcome_t *outcome = shell(IN_FOLDER "make -s -C %s test", names[_i]);
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "passed");
}
END_TEST

/* The name of a type that C++ has, and C has by a header. */
START_TEST(a_plugin_of_truth_values_includes_what_its_language_needs)
{
    empty_folder();
    expect(shell(IN_FOLDER "backplane new a --fields 'on:bool,x:f32' && backplane new b --fields 'x:f32' && "
                           "backplane new c --lang c++ --fields 'on:bool,x:f32'"), 0, NULL);
    expect(shell(IN_FOLDER "grep -q stdbool.h a/a.c && ! grep -q stdbool.h b/b.c c/c.cpp"), 0, NULL);
}
END_TEST

START_TEST(defaults_and_fields_are_those_that_were_asked_for)
{
    empty_folder();
    static const char *const kinds[] = {"--component", "--own-storage", "--lang rust --own-storage"};
    if (strstr(kinds[_i], "rust") != NULL && system("command -v rustc >/dev/null 2>&1") != 0) {
        puts("Rust is skipped: there is no rustc");
        return;
    }
    expect(shell(IN_FOLDER "backplane new Health %s --fields 'hp:f32=100,max:f32=250,at:vec3=1 2 3,Max_2:i16=+5,"
                           "yes:bool=on,one:bool=1,sure:bool=true,off:bool=no,few:f32=-.5' >out",
                 kinds[_i]),
           0, NULL);
    expect(shell(IN_FOLDER "make -s -C Health"), 0, NULL);
    const outcome_t *outcome =
        shell(IN_FOLDER "{ for f in hp max at Max_2 yes one sure off few; do echo get main/one.Health.$f; done; "
                        "printf 'step 60\\nget main/one.Health.hp\\n'; } | backplane console Health/Health.ini");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "100\n250\n1 2 3\n5\ntrue\ntrue\ntrue\nfalse\n-0.5\n");
    expect_in(outcome->out, "\nmain: step 60, time 1\n101.00");
}
END_TEST

START_TEST(the_program_may_lie_where_its_path_has_blanks)
{
    empty_folder();
    expect(shell(IN_FOLDER "mkdir -p 'my $games (2)/bin' && cp $program ${program%%/*}/libbackplane.so* "
                           "'my $games (2)/bin' && cp -r ${program%%/*}/plugins 'my $games (2)/bin' && "
                           "cp -r \"$(backplane --headers)\" 'my $games (2)/plugin_api'"), 0, NULL);
    static const char *const kinds[] = {"", "--lang rust"};
    if (kinds[_i][0] != '\0' && system("command -v rustc >/dev/null 2>&1") != 0) {
        puts("Rust is skipped: there is no rustc");
        return;
    }
    expect(shell(IN_FOLDER "'./my $games (2)/bin/backplane' new a %s && grep -q games a/Makefile", kinds[_i]), 0, NULL);
    const outcome_t *outcome = shell(IN_FOLDER "make -s -C a test");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "passed");
    expect_in(shell(IN_FOLDER "make -C a run")->out, "600 steps");
}
END_TEST

START_TEST(a_saved_source_is_built_and_comes_in_wherever_the_program_was_started)
{
    empty_folder();
    expect(shell(IN_FOLDER "backplane new health --fields 'hp:f32' && make -s -C health"), 0, NULL);
    const outcome_t *outcome =
        shell(IN_FOLDER "{ n=0; while [ $n -lt 250 ] && ! grep -qs 'reloaded' said; do "
                        "[ $((n %% 50)) != 5 ] || sed -i.old 's/\"0.1\"/\"0.2\"/' health/health.c; "
                        "echo 'step 1'; echo plugins; sleep 0.1; n=$((n + 1)); done; } | "
                        "backplane console health/health.ini | sed -u 's/^health  *0.2 /reloaded: /' >said; cat said");
    expect(outcome, 0, "reloaded health 0.1 -> 0.2");
    expect_in(outcome->out, "reloaded: ");
}
END_TEST

/* The compiler says which they are: health.d, beside health.so. */
START_TEST(a_saved_header_that_the_source_includes_is_built_too)
{
    empty_folder();
    expect(shell(IN_FOLDER "backplane new health --fields 'hp:f32' && mkdir shared && "
                           "echo '#define RELEASE \"0.1\"' >shared/release.h && "
                           "sed -i -e 's,#include <bp_plugin.h>,&\\n#include \"../shared/release.h\",' "
                           "-e 's/\"0.1\"/RELEASE/' health/health.c && make -s -C health"),
           0, NULL);
    const outcome_t *outcome =
        shell(IN_FOLDER "{ n=0; while [ $n -lt 250 ] && ! grep -qs 'reloaded' said; do "
                        "[ $((n %% 50)) != 5 ] || echo '#define RELEASE \"0.2\"' >shared/release.h; "
                        "echo 'step 1'; echo plugins; sleep 0.1; n=$((n + 1)); done; } | "
                        "backplane console health/health.ini | sed -u 's/^health  *0.2 /reloaded: /' >said; cat said");
    expect(outcome, 0, "reloaded health 0.1 -> 0.2");
    expect_in(outcome->out, "reloaded: ");
}
END_TEST

/* --- what people meet next --------------------------------------------------------------------------------------- */

START_TEST(a_field_with_another_name_is_found_by_its_former_one_in_inis_and_scenes)
{
    empty_folder();
    expect(shell(IN_FOLDER "backplane new a --fields hp:f32 >/dev/null && sed -i 's/hp), .doc/hp), .former_name = "
                           "\"life\", .doc/' a/a.c && make -s -C a && "
                           "printf '[spawn main x]\\ncomponents = a\\na.life = 7\\n' >>a/a.ini"),
           0, NULL);
    expect(shell(IN_FOLDER "echo '{\"entities\":[{\"components\":{\"a\":{\"life\":8}}}]}' >s.json; "
                           "echo '{\"entities\":[{\"components\":{\"a\":{\"life\":8,\"hp\":9}}}]}' >both.json"),
           0, NULL);
    const outcome_t *outcome =
        shell(IN_FOLDER "printf 'get main/#1001:1.a.hp\\nspawn s.json\\nget main/#1002:1.a.hp\\n"
                        "set main/#1002:1.a.life 3\\nget main/#1002:1.a.hp\\n' | backplane console a/a.ini");
    expect(outcome, 0, "a.ini:22: 'life' of a is called 'hp' now");
    expect_in(outcome->err, "a scene says 'life' of a, which is called 'hp' now");
    ck_assert_str_eq(outcome->out, "7\nspawn 1: 1 entity in main\n8\n3\n");
    expect(shell(IN_FOLDER "echo 'spawn both.json' | backplane console a/a.ini"), 1,
           "'life' is what 'hp' was called; only one of them can be given");
}
END_TEST

START_TEST(a_field_may_be_called_type)
{
    empty_folder();
    expect(shell(IN_FOLDER "backplane new a --fields type:u32=3 >/dev/null && make -s -C a && "
                           "printf '[spawn main x]\\ncomponents = a\\na.type = 7\\n' >>a/a.ini && "
                           "echo '{\"entities\":[{\"components\":{\"a\":{\"type\":8}}},"
                           "{\"components\":{\"b\":{\"type\":\"a\"}}}]}' >s.json"),
           0, NULL);
    const outcome_t *outcome =
        shell(IN_FOLDER "printf 'get main/one.a.type\\nget main/#1001:1.a.type\\nspawn s.json\\n"
                        "get main/#1002:1.a.type\\nget main/#1003:1.b.type\\n' | "
                        "backplane console a/a.ini");
    expect(outcome, 0, NULL);
    ck_assert_str_eq(outcome->out, "3\n7\nspawn 1: 2 entities in main\n8\n3\n");
}
END_TEST

START_TEST(check_tells_what_to_do_about_names_options_and_leaks)
{
    empty_folder();
    expect(shell(IN_FOLDER "backplane new a >/dev/null && make -s -C a && cp a/a.so other.so"), 0, NULL);
    expect_in(shell(IN_FOLDER "backplane check other.so")->out, "the file is called 'other' and its plugin 'a'");
    ck_assert_int_eq(shell(IN_FOLDER "backplane check other.so")->status, 1);
    static const char leak[] = "#include <bp_plugin.h>\n"
                               "static bp_result_t load(bp_plugin_t *p) { p->api->memory->resize(p, NULL, 0, 100); "
                               "return BP_OK; }\n"
                               "static const bp_field_t options[] = {{.name = \"file\", .type = BP_STRING,\n"
                               ".flags = BP_FIELD_REQUIRED}};\n"
                               "BP_PLUGIN(leak) = {.version = \"1\", .options = BP_LIST(options), .load = load};\n";
    write_file(FOLDER "/leak.c", leak);
    expect(shell(IN_FOLDER "${CC:-cc} -shared -fPIC -I$(backplane --headers) leak.c -o leak.so"), 0, NULL);
    expect_in(shell(IN_FOLDER "backplane check leak.so")->out, "(give options behind the file, as NAME=VALUE)");
    expect_in(shell(IN_FOLDER "backplane check leak.so file=x | grep -c 'given back'")->out, "1\n");
}
END_TEST

START_TEST(check_passes_what_the_run_time_library_of_cxx_brings)
{
    empty_folder();
    if (shell("command -v g++")->status != 0)
        return;
    expect(shell(IN_FOLDER "backplane new a --lang c++ >/dev/null && sed -i -e 's/#include <bp_plugin.h>/&\\n#include "
                           "<map>\\n#include <stdexcept>\\n#include <string>/' -e 's/^    BP_COLUMNS.*/&\\n    "
                           "std::map<std::string, float> m;\\n    try { m.at(\"x\"); } catch (const "
                           "std::out_of_range \\&) { m[\"x\"] = 1; }/' a/a.cpp"),
           0, NULL);
    const outcome_t *outcome = shell(IN_FOLDER "make -s -C a test CXX=g++");
    expect(outcome, 0, NULL);
    expect_in(outcome->out, "nothing of it troubles a reload");
    expect(shell(IN_FOLDER "sed -i 's/^static void simulate/static int counted;\\n&/; s/^    float dt/    "
                           "counted++;\\n&/' "
                           "a/a.cpp; make -s -C a CXX=g++"),
           0, NULL);
    expect_in(shell(IN_FOLDER "backplane check a/a.so")->out, "counted");
}
END_TEST

START_TEST(what_is_misspelt_or_missing_gets_a_hint)
{
    empty_folder();
    expect(shell(IN_FOLDER "backplane new a >/dev/null && make -s -C a && sed -i 's/debug_name$/debug_nme/' a/a.ini"),
           0,
           NULL);
    expect(shell(IN_FOLDER "backplane run a/a.ini --steps 1"), 2, "did you mean 'debug_name'?");
    expect(shell(IN_FOLDER "echo '{\"entities\":[{\"components\":{\"a\":{}}}]}' >s.json; backplane compile s.json"), 2,
           "--ini INI asks those of an ini");
    expect(shell(IN_FOLDER "echo '{\"entities\":[{\"components\":{\"a\":{}}}]}' >s.json; backplane compile s.json "
                           "--ini a/a.ini; sed -i s/debug_nme/debug_name/ a/a.ini; backplane compile s.json --ini "
                           "a/a.ini"),
           0, "did you mean 'debug_name'?");
}
END_TEST

START_TEST(remarks_of_plugins_are_shown_where_they_are_wanted)
{
    empty_folder();
    expect(shell(IN_FOLDER "backplane new a >/dev/null && sed -i 's/^static void simulate/static bp_result_t load"
                           "(bp_plugin_t *p) { p->api->error->log(p, BP_LOG_INFO, \"here I am\"); return BP_OK; }"
                           "\\n\\n&/; s/BP_LIST(components)}/BP_LIST(components), .load = load}/' a/a.c; make -s -C a"),
           0, NULL);
    expect(shell(IN_FOLDER "backplane run a/a.ini --steps 1"), 0, NULL);
    expect(shell(IN_FOLDER "backplane run a/a.ini --steps 1 -v"), 0, "backplane: a: here I am\n");
    expect(shell(IN_FOLDER "echo quit | backplane console --verbose a/a.ini"), 0, "backplane: a: here I am\n");
}
END_TEST

/* --- what is refused --------------------------------------------------------------------------------------------- */

static const struct {
    const char *line, *message;
} refused[] = {
    {"", "new needs a name for the plugin"},
    {"a b", "one name is enough; here are 'a' and 'b'"},
    {"2fast", "'2fast' is no name for a plugin"},
    {"a-b", "'a-b' is no name for a plugin"},
    {"../a", "'../a' is no name for a plugin"},
    {"''", "the name of a plugin has 1 to 63 letters; here are 0"},
    {"int", "'int' is a word of the language C itself"},
    {"debug_name", "'debug_name' is a plugin that the new one is tried with: choose another name"},
    {"point_mass --system", "'point_mass' is a plugin that the new one is tried with"},
    {"class --lang c++", "'class' is a word of the language C++ itself"},
    {"a --compnent", "new knows no option '--compnent'; did you mean '--component'?"},
    {"a --system --component", "--system and --component: a plugin begins as one of them"},
    {"a --lang pascal", "not 'pascal'"},
    {"a --lang", "--lang needs a value behind it"},
    {"a --fields", "--fields needs a value behind it"},
    {"a --fields hp:f32 --fields max:f32", "--fields is given twice"},
    {"a --fields hp", "'hp' has no type; write NAME:TYPE"},
    {"a --fields hp:float", "there is no type 'float'"},
    {"a --fields hp:f23", "there is no type 'f23'; did you mean 'f32'?"},
    {"a --fields hp:f32,hp:f64", "two fields are called 'hp'"},
    {"a --fields while:f32", "'while' is a word of the language C itself, so no field can be called so"},
    {"a --fields 'hp:f32[0]'", "write [] behind the type for a list"},
    {"a --fields 'hp:f32[70000]'", "at most [65536]"},
    {"a --fields 'hp:f32['", "write [] behind the type for a list"},
    {"a --own-storage --fields 'hp:string'", "begin with --component"},
    {"a --own-storage --fields 'hp:f32[]'", "begin with --component"},
    {"a --system --fields 'hp:f32[3]'", "are options that the ini gives"},
    {"a --fields ''", "has no type"},
    {"a --fields hp:f32=much", "component 'a': field 'hp': 'much' is not a number (type f32)"},
    {"a --own-storage --fields hp:i8=200", "'200' is not a whole number from -128 to 127 (type i8)"},
    {"a --lang rust --system --fields how_much:f64=much", "field 'how_much': 'much' is not a number (type f64)"},
};

START_TEST(what_is_wrong_is_said_and_nothing_is_written)
{
    empty_folder();
    expect_refused(shell(IN_FOLDER "backplane new %s", refused[_i].line), refused[_i].message);
    expect_in(shell(IN_FOLDER "ls -A | wc -l")->out, "0");
}
END_TEST

START_TEST(nothing_that_is_there_is_written_over)
{
    empty_folder();
    expect(shell(IN_FOLDER "mkdir a && echo mine >a/Makefile && echo mine >b"), 0, NULL);
    expect(shell(IN_FOLDER "backplane new a"), 1, "there is a folder a already, and something in it; nothing was "
                                                  "written");
    expect(shell(IN_FOLDER "backplane new b"), 1, "there is a file b already; nothing was written");
    ck_assert_str_eq(shell(IN_FOLDER "ls; ls a; cat a/Makefile b")->out, "a\nb\nMakefile\nmine\nmine\n");
    expect(shell(IN_FOLDER "mkdir c && backplane new c && test -f c/c.c"), 0, NULL);
}
END_TEST

START_TEST(a_folder_that_cannot_be_written_is_said)
{
    empty_folder();
    expect(shell(IN_FOLDER "backplane new a/b"), 2, "'a/b' is no name for a plugin");
    expect(shell(IN_FOLDER "rm -rf gone && mkdir gone && cd gone && rmdir ../gone && backplane new a"), 1,
           "the folder a cannot be made here");
}
END_TEST

START_TEST(the_headers_are_where_the_program_says)
{
    expect(shell("test -f \"$(backplane --headers)/bp_plugin.h\""), 0, NULL);
    expect_in(shell("backplane --help")->out, "new NAME [--component");
    expect_in(shell("backplane new --help")->out, "--fields LIST");
}
END_TEST

Suite *new_suite(void)
{
    Suite *suite = suite_create("new");
    TCase *made_case = tcase_create("made");
    tcase_set_timeout(made_case, 30);
    tcase_add_loop_test(made_case, what_is_made_builds_without_a_warning_passes_check_runs_and_reloads, 0,
                        getenv("TESTS_ALL") == NULL ? MADE_FIRST : (int)(sizeof made / sizeof made[0]));
    tcase_add_loop_test(made_case, a_plugin_may_be_called_name_or_as_one_that_comes_with_the_program, 0, 2);
    tcase_add_test(made_case, a_plugin_of_truth_values_includes_what_its_language_needs);
    tcase_add_loop_test(made_case, defaults_and_fields_are_those_that_were_asked_for, 0, 3);
    tcase_add_loop_test(made_case, the_program_may_lie_where_its_path_has_blanks, 0, 2);
    tcase_add_test(made_case, a_saved_header_that_the_source_includes_is_built_too);
    tcase_add_test(made_case, a_saved_source_is_built_and_comes_in_wherever_the_program_was_started);
    suite_add_tcase(suite, made_case);
    TCase *next = tcase_create("next");
    tcase_set_timeout(next, 30);
    tcase_add_test(next, a_field_may_be_called_type);
    tcase_add_test(next, a_field_with_another_name_is_found_by_its_former_one_in_inis_and_scenes);
    tcase_add_test(next, check_tells_what_to_do_about_names_options_and_leaks);
    tcase_add_test(next, check_passes_what_the_run_time_library_of_cxx_brings);
    tcase_add_test(next, what_is_misspelt_or_missing_gets_a_hint);
    tcase_add_test(next, remarks_of_plugins_are_shown_where_they_are_wanted);
    suite_add_tcase(suite, next);
    TCase *refused_case = tcase_create("refused");
    tcase_add_loop_test(refused_case, what_is_wrong_is_said_and_nothing_is_written, 0,
                        sizeof refused / sizeof refused[0]);
    tcase_add_test(refused_case, nothing_that_is_there_is_written_over);
    tcase_add_test(refused_case, a_folder_that_cannot_be_written_is_said);
    tcase_add_test(refused_case, the_headers_are_where_the_program_says);
    suite_add_tcase(suite, refused_case);
    return suite;
}
