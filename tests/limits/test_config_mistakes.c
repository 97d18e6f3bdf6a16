/* test_config_mistakes.c - wrong inis: every mistake is told with its line and leaves the host as it was.
 *
 * A mistake is a line of the table `mistakes`: the ini, and the sentence that it must give. Each is tried in a fresh
 * host and in one that has plugins, worlds and entities already; afterwards the host must be as before, take a good
 * ini, and end with all memory back and an empty log. Mistakes are also made by machine: an ini cut at every byte, with
 * every byte replaced, and put together at random.
 */
#include "../suites.h"
#include "base/file.h"
#include "config_stage.h"

#include "engine/host.h"

/* --- mistakes ----------------------------------------------------------------------------------------------------- */

typedef struct mistake_t {
    const char *ini;
    bp_result_t code;
    uint32_t line;
    const char *sentence; /* behind "file:line: "; @: the entity spawned first; % at its end: and so on */
} mistake_t;

#define NO_SECTION "this is neither [section] nor key = value"
#define NO_PATH "set plugin_path, or give its path"
#define HISTORY "history is how much memory the past may take: 512 MiB, or 0"
#define HOST_KEYS "(known: plugins, plugin_path, steps, threads, seed, history, crash_guard, call_limit, probation, " \
                  "hot_reload, trial, trial_deadline, reload_pause, build, sources, audit, keyframe_every, " \
                  "cc, cflags, cxx, cxxflags, rustc, rustflags, scenes, reload)"
static const mistake_t mistakes[] = {
    /* lines */
    {"[host\n", BP_ERROR_SYNTAX, 1, NO_SECTION},
    {"\n; rem\n[host]\nsteps\n", BP_ERROR_SYNTAX, 4, NO_SECTION},
    {"[host]\nsteps = 1\nnonsense\nmore nonsense\n", BP_ERROR_SYNTAX, 3, NO_SECTION},
    {"[host]\r\nsteps = 1\r\nnonsense", BP_ERROR_SYNTAX, 3, NO_SECTION},
    {"\xEF\xBB\xBF[host]\nnonsense\n", BP_ERROR_SYNTAX, 2, NO_SECTION},
    {"\xEF\xBB\xBF\xEF\xBB\xBF[host]\n", BP_ERROR_SYNTAX, 1, NO_SECTION},
    {"[host]\n;" X190 "\n", BP_ERROR_LIMIT, 2,
     "the line has 191 bytes, at most 190 are read; go on in a further line that begins with a blank"},
    {"[host]\nseed = 1\nplugins = " X190 X190, BP_ERROR_LIMIT, 3,
     "the line has 390 bytes, at most 190 are read; go on in a further line that begins with a blank"},
    {"[" X190 "]\n", BP_ERROR_LIMIT, 1, "the line has 192 bytes, at most 190 are read; %"},

    {"[host]\nplugins = zoo\n  = 3\n[worl a]\n", BP_ERROR_NOT_FOUND, 4,
     "unknown section [worl a]; did you mean 'world'? (there are host, plugin, world and spawn)"},

    /* sections */
    {"steps = 1\n[host]\n", BP_ERROR_SYNTAX, 1, "'steps' stands before the first section"},
    {"# a comment\n\nname: value\n", BP_ERROR_SYNTAX, 3, "'name' stands before the first section"},
    {"[hots]\n", BP_ERROR_NOT_FOUND, 1,
     "unknown section [hots]; did you mean 'host'? (there are host, plugin, world and spawn)"},
    {"[host]\n[wolrd w]\n", BP_ERROR_NOT_FOUND, 2,
     "unknown section [wolrd w]; did you mean 'world'? (there are host, plugin, world and spawn)"},
    {"[scene]\na = b\n", BP_ERROR_NOT_FOUND, 1,
     "unknown section [scene] (there are host, plugin, world and spawn)"},
    {"[]\n", BP_ERROR_NOT_FOUND, 1, "unknown section [] (there are host, plugin, world and spawn)"},
    {"[host]\n\n[host main]\n", BP_ERROR_SYNTAX, 3, "section [host main]; write [host]"},
    {"[world]\n", BP_ERROR_SYNTAX, 1, "section [world]; write [world NAME]"},
    {"[world a b]\n", BP_ERROR_SYNTAX, 1, "section [world a b]; write [world NAME]"},
    {"[plugin]\n", BP_ERROR_SYNTAX, 1, "section [plugin]; write [plugin NAME]"},
    {"[plugin a b]\n", BP_ERROR_SYNTAX, 1, "section [plugin a b]; write [plugin NAME]"},
    {"[spawn w]\n", BP_ERROR_SYNTAX, 1, "section [spawn w]; write [spawn WORLD LABEL]"},
    {"[spawn w s t u v]\n", BP_ERROR_SYNTAX, 1, "section [spawn w s t u v]; write [spawn WORLD LABEL]"},
    {"[host]\n\n[world w]\n[host]\n", BP_ERROR_EXISTS, 4, "section [host] stands already in line 1"},
    {"[host]\n[ host ]\n", BP_ERROR_EXISTS, 2, "section [host] stands already in line 1"},
    {"[world w]\n[world v]\n[world   w]\n", BP_ERROR_EXISTS, 3, "section [world w] stands already in line 1"},
    {PLUGINS "[plugin crew]\na_u32 = 1\n[plugin crew]\nan_i32 = 1\n", BP_ERROR_EXISTS, 5,
     "section [plugin crew] stands already in line 3"},
    {SPAWN "[spawn w s]\n", BP_ERROR_EXISTS, 6, "section [spawn w s] stands already in line 5"},

    /* builds */
    {"[host]\nhot_reload = on\nbuild = make {plugin}\n", BP_ERROR_ARGUMENT, 3,
     "build, the command, and sources, the folder to watch, need each other"},
    {"[host]\nhot_reload = on\nsources = src\n", BP_ERROR_ARGUMENT, 3,
     "build, the command, and sources, the folder to watch, need each other"},
    {"[host]\nhot_reload = on\nbuild = make\nsources = src\n", BP_ERROR_ARGUMENT, 3,
     "the command 'make' lacks {plugin}, which stands for the plugin's name"},
    {"[host]\nbuild = make {plugin}\nsources = src\n", BP_ERROR_ARGUMENT, 2, "build needs hot_reload = on"},
    {"[host]\nhot_reload = on\nreload = now\n", BP_ERROR_SYNTAX, 3,
     "reload is `at once`, or `try 120` with 1 to 1000000 steps"},
    {"[host]\nhot_reload = on\nreload = try 12x\n", BP_ERROR_SYNTAX, 3, "reload is `at once`, or `try 120` %"},
    {"[host]\nhot_reload = on\nreload = try 1000001\n", BP_ERROR_SYNTAX, 3, "reload is `at once`, or `try 120` %"},
    {"[host]\nhot_reload = on\ntrial = maybe\n", BP_ERROR_SYNTAX, 3, "trial = maybe; write on, off or helper"},
    {"[host]\nhot_reload = yes\n", BP_ERROR_SYNTAX, 2, "hot_reload = yes; write on or off"},
    {"[host]\ncflags = -O2\ncxxflags = -I" X60 "\n -I" X60 X60 "\n -I" X60 X60 "\n -I" X60 X60 "\n -I" X60 X60 "\n",
     BP_ERROR_ARGUMENT, 3,
     "cxxflags: at most %"},

    {"[host]\nhot_reload = on\nbuild = make {plugin}\nsources = " X60 X60 X60 "\n " X60 X60 X60 "\n " X60 X60 X60
     "\n " X60 X60 X60 "\n " X60 X60 X60 "\n " X60 X60 X60, BP_ERROR_LIMIT, 4, "sources: the path is too long"},

    /* keys */
    {"[host]\nstep = 4\n", BP_ERROR_NOT_FOUND, 2,
     "unknown key 'step' in [host]; did you mean 'steps'? " HOST_KEYS},
    {"[host]\nwindow_title = x\n", BP_ERROR_NOT_FOUND, 2, "unknown key 'window_title' in [host] " HOST_KEYS},
    {"[host]\n= 4\n", BP_ERROR_NOT_FOUND, 2, "unknown key '' in [host] " HOST_KEYS},
    {"[host]\nSteps = 4\n", BP_ERROR_NOT_FOUND, 2,
     "unknown key 'Steps' in [host]; did you mean 'steps'? " HOST_KEYS},
    {"[world w]\nstep_rat = 4\n", BP_ERROR_NOT_FOUND, 2,
     "unknown key 'step_rat' in [world w]; did you mean 'step_rate'? (known: step_rate, units, place, components, "
     "systems, scenes)"},
    {"[host]\nsteps = 4\nseed = 1\nsteps = 4\n", BP_ERROR_EXISTS, 4,
     "'steps' is given a second time (first in line 2)"},
    {"[world w]\nsystems = a\n\nsystems:b\n", BP_ERROR_EXISTS, 4,
     "'systems' is given a second time (first in line 2)"},
    {SPAWN "components = body\nbody.mass = 1\nbody.mass = 1\n", BP_ERROR_EXISTS, 8,
     "'body.mass' is given a second time (first in line 7)"},

    /* values of [host] */
    {"[host]\nsteps = many\n", BP_ERROR_TYPE, 2,
     "steps = 'many' is not a whole number of 64 bits (type i64)"},
    {"[host]\nsteps =\n", BP_ERROR_TYPE, 2, "steps = '' is not a whole number of 64 bits (type i64)"},
    {"[host]\nsteps = 1.5\n", BP_ERROR_TYPE, 2, "steps = '1.5' is not a whole number of 64 bits (type i64)"},
    {"[host]\nsteps = 1 2\n", BP_ERROR_TYPE, 2, "steps = '1 2' is not a whole number of 64 bits (type i64)"},
    {"[host]\nsteps = 1\n  000\n", BP_ERROR_TYPE, 2,
     "steps = '1 000' is not a whole number of 64 bits (type i64)"},
    {"[host]\nsteps = -1\n", BP_ERROR_RANGE, 2, "steps = -1 is outside its range, 0 to 9223372036854775807"},
    {"[host]\nsteps = 9223372036854775808\n", BP_ERROR_TYPE, 2,
     "steps = '9223372036854775808' is not a whole number of 64 bits (type i64)"},
    {"[host]\nseed = 5\nthreads = 257\n", BP_ERROR_RANGE, 3, "threads = 257 is outside its range, %"},
    {"[host]\nthreads = -1\n", BP_ERROR_RANGE, 2, "threads = -1 is outside its range, %"},
    {"[host]\nthreads = all\n", BP_ERROR_TYPE, 2,
     "threads = 'all' is not a whole number of 64 bits (type i64)"},
    {"[host]\nsteps = 3\nthreads = 3\nseed = -5\n", BP_ERROR_RANGE, 4,
     "seed = -5 is outside its range, 0 to 9223372036854775807"},
    {"[host]\nhistory = 512\n", BP_ERROR_SYNTAX, 2, HISTORY},
    {"[host]\nhistory = MiB\n", BP_ERROR_SYNTAX, 2, HISTORY},
    {"[host]\nhistory = -1 MiB\n", BP_ERROR_SYNTAX, 2, HISTORY},
    {"[host]\nhistory = 0 TiB\n", BP_ERROR_SYNTAX, 2, HISTORY},
    {"[host]\nhistory = 18446744073709551615 GiB\n", BP_ERROR_SYNTAX, 2, HISTORY},
    {"[host]\nhistory = 1 MiB\nkeyframe_every = 86401\n", BP_ERROR_RANGE, 3,
     "keyframe_every is 0 to 86400 seconds, not 86401"},
    {"[host]\nkeyframe_every = -1\n", BP_ERROR_RANGE, 2, "keyframe_every is 0 to 86400 seconds, not -1"},
    {"[host]\nkeyframe_every = often\n", BP_ERROR_TYPE, 2, "keyframe_every = 'often' is not a number (type f64)"},
    {"[host]\naudit = all\n", BP_ERROR_SYNTAX, 2, "audit is writes, or off; not 'all'"},

    /* plugins */
    {"[host]\nplugins = crew nosuch\n", BP_ERROR_NOT_FOUND, 2,
     "there is no plugin file nosuch.so in the folder plugins/ beside the program nor in "
     "../lib/backplane/plugins, nor in backplane/plugins beside the library; " NO_PATH},
    {"[host]\nseed = 1\nplugins =\n\tcrew\n\tnosuch\n", BP_ERROR_NOT_FOUND, 3,
     "there is no plugin file nosuch.so in %"},
    {"[host]\nplugin_path = ../fixtures\nplugins = nosuch\n", BP_ERROR_NOT_FOUND, 3,
     "there is no plugin file nosuch.so in plugin_path ../fixtures"},
    {"[host]\nplugins = crew picky\nplugin_path = nowhere\n", BP_ERROR_NOT_FOUND, 2,
     "there is no plugin file picky.so in plugin_path nowhere"},
    {"[host]\nplugins = ../fixtures/nosuch\n", BP_ERROR_NOT_FOUND, 2,
     SCRATCH "/../fixtures/nosuch: there is no such plugin file (with or without '.so')"},
    {"[host]\nplugins = nosuch.so\n", BP_ERROR_NOT_FOUND, 2,
     SCRATCH "/nosuch.so: there is no such plugin file (with or without '.so')"},
    {"[host]\nplugins = zoo ./mistake.ini\n", BP_ERROR_ABI, 2, SCRATCH "/./mistake.ini: %"},
    {"[host]\nplugins = zoo\n  ../fixtures\n", BP_ERROR_IO, 2, SCRATCH "/../fixtures: %"},
    {"[host]\nplugins = zoo zoo\n", BP_ERROR_EXISTS, 2, "zoo: a plugin 'zoo' is loaded already (linked in)"},
    {"[host]\nplugins = zoo ../fixtures/refuses\n", BP_ERROR_FAILED, 2,
     SCRATCH "/../fixtures/refuses: its load failed: the moon is in the wrong house; wait a month"},
    {"[plugin crew]\na_u32 = 5\n", BP_ERROR_NOT_FOUND, 1,
     "[plugin crew] configures a plugin that [host] plugins does not list"},
    {PLUGINS "[plugin crow]\na_u32 = 5\n", BP_ERROR_NOT_FOUND, 3,
     "[plugin crow] configures a plugin that [host] plugins does not list; did you mean 'crew'?"},

    /* options */
    {PLUGINS "[plugin crew]\na_bool = on\nan_i23 = 5\n", BP_ERROR_NOT_FOUND, 5,
     "plugin 'crew' has no option 'an_i23'; did you mean 'an_i32'? (it has a_bool, an_i32, a_u32, an_i64, "
     "an_f32, an_f64, a_vec3, "
     "a_colour, a_text, a_name, a_path)"},
    {"[plugin bare]\n\nsail = 1\n[host]\nplugins = bare\n", BP_ERROR_NOT_FOUND, 3,
     "plugin 'bare' has no option 'sail' (it has none)"},
    {PLUGINS "[plugin crew]\na_bool = perhaps\n", BP_ERROR_TYPE, 4,
     "option 'a_bool' of plugin 'crew': 'perhaps' is not true or false (type bool)"},
    {PLUGINS "[plugin crew]\nan_i32 = 2147483648\n", BP_ERROR_TYPE, 4,
     "option 'an_i32' of plugin 'crew': '2147483648' is not a whole number from -2147483648 to 2147483647 "
     "(type i32)"},
    {PLUGINS "[plugin crew]\nan_i32 = 6\n", BP_ERROR_RANGE, 4,
     "option 'an_i32' of plugin 'crew': an_i32 = 6 is outside its range: at least -5 and at most 5"},
    {PLUGINS "[plugin crew]\na_u32 = -1\n", BP_ERROR_TYPE, 4,
     "option 'a_u32' of plugin 'crew': '-1' is not a whole number from 0 to 4294967295 (type u32)"},
    {PLUGINS "[plugin crew]\nan_i64 = 1e3\n", BP_ERROR_TYPE, 4,
     "option 'an_i64' of plugin 'crew': '1e3' is not a whole number of 64 bits (type i64)"},
    {PLUGINS "[plugin crew]\nan_f32 = 1e39\n", BP_ERROR_TYPE, 4,
     "option 'an_f32' of plugin 'crew': '1e39' is not a number (type f32)"},
    {PLUGINS "[plugin crew]\nan_f32 = -0.5\n", BP_ERROR_RANGE, 4,
     "option 'an_f32' of plugin 'crew': an_f32 = -0.5 is outside its range: at least 0 m"},
    {PLUGINS "[plugin crew]\nan_f64 = nan\n", BP_ERROR_TYPE, 4,
     "option 'an_f64' of plugin 'crew': 'nan' is not a number (type f64)"},
    {PLUGINS "[plugin crew]\nan_f64 = 1001\n", BP_ERROR_RANGE, 4,
     "option 'an_f64' of plugin 'crew': an_f64 = 1001 is outside its range: at most 1e3"},
    {PLUGINS "[plugin crew]\na_vec3 = 1 2\n", BP_ERROR_TYPE, 4,
     "option 'a_vec3' of plugin 'crew': '1 2' is not 3 numbers, like 0 0 1 (type vec3)"},
    {PLUGINS "[plugin crew]\na_vec3 = 0 2 0\n", BP_ERROR_RANGE, 4,
     "option 'a_vec3' of plugin 'crew': a_vec3 = 2 is outside its range: at most 1"},
    {PLUGINS "[plugin crew]\na_colour = #12345\n", BP_ERROR_TYPE, 4,
     "option 'a_colour' of plugin 'crew': '#12345' is not #rrggbb, #rrggbbaa, or 3 or 4 numbers (type "
     "colour)"},
    {PLUGINS "[plugin crew]\na_text = fine\na_name = " X60 "\n " X60 "\n " X60 "\n " X60 X10 X10 "\n",
     BP_ERROR_LIMIT, 5,
     "option 'a_name' of plugin 'crew': the name 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' is longer "
     "than 255 bytes"},
    {"[host]\nplugins = crew strict\n", BP_ERROR_ARGUMENT, 2,
     "strict: option 'sail' (string) must be given: what to set"},
    {"[host]\n\nplugins = strict\n[plugin strict]\nsail = jib\n", BP_ERROR_ARGUMENT, 3,
     "strict: option 'crew' (u32) must be given: how many"},
    {"[host]\nplugins = strict\n[plugin strict]\nsail = jib\ncrew = 0\n", BP_ERROR_RANGE, 5,
     "option 'crew' of plugin 'strict': crew = 0 is outside its range: at least 1"},
    {"[host]\nplugins = ../fixtures/picky\n[plugin picky]\nratio = 2\n", BP_ERROR_RANGE, 4,
     "option 'ratio' of plugin 'picky': ratio = 2 is outside its range: at least 0 and at most 1"},
    {"[host]\nplugins = ../fixtures/picky.so\n[plugin picky]\nratio = 1\n", BP_ERROR_ARGUMENT, 2,
     SCRATCH "/../fixtures/picky.so: option 'rounds' (u32) must be given: how often to go round"},
    {"[host]\nplugins = ../fixtures/picky\n[plugin picky]\nrounds = 2\nfile = " X60 "\n " X190 "\n " X190
     "\n " X190 "\n " X190 "\n " X190,
     BP_ERROR_LIMIT, 6, "the line has 191 bytes, %"},
    {"[host]\nplugins = ../fixtures/picky\n[plugin picky]\nrounds = 2\nfile = " X60 "\n " X60 X60 X60
     "\n " X60 X60 X60 "\n " X60 X60 X60 "\n " X60 X60 X60 "\n " X60 X60 X60 "\n " X60 X60 X60,
     BP_ERROR_LIMIT, 5, "option 'file' of plugin 'picky': the path is too long"},

    {"[world w]\nplace = {rank:" X60 X60 X10 "\n " X60 X60 X60 "\n " X60 X60 X60 "\n " X60 X60 X60 "\n " X60 X60 X60
     "\n " X60 X60 X60 "}\n", BP_ERROR_LIMIT, 2, "place: what stands in braces is too long"},

    /* worlds */
    {"[world w]\nstep_rate = fast\n", BP_ERROR_TYPE, 2, "step_rate = 'fast' is not a number (type f64)"},
    {"[world w]\n\nstep_rate = 0\n", BP_ERROR_RANGE, 3,
     "step_rate = 0 must be greater than 0, and at most 1e12"},
    {"[world w]\nstep_rate = -50\n", BP_ERROR_RANGE, 2,
     "step_rate = -50 must be greater than 0, and at most 1e12"},
    {"[world w]\nstep_rate = 1.1e12\n", BP_ERROR_RANGE, 2,
     "step_rate = 1.1e12 must be greater than 0, and at most 1e12"},
    {"[world w]\nstep_rate = inf\n", BP_ERROR_TYPE, 2, "step_rate = 'inf' is not a number (type f64)"},
    {"[world v]\n[world " X60 "xxxx]\n", BP_ERROR_ARGUMENT, 2,
     "a world's name must be 1 to 63 letters, digits or underscores, not "
     "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'"},
    {"[world a.b]\n", BP_ERROR_ARGUMENT, 1,
     "a world's name must be 1 to 63 letters, digits or underscores, not 'a.b'"},
    {PLUGINS "[world w]\ncomponents = body bodi\n", BP_ERROR_NOT_FOUND, 4,
     "no loaded plugin brings a component 'bodi'; did you mean 'body'?"},
    {"[host]\nplugins = zoo\n[world w]\nsystems = walk\n", BP_ERROR_NOT_FOUND, 4,
     "no loaded plugin brings a system 'walk'"},
    {PLUGINS "[world w]\nsystems = body\n", BP_ERROR_NOT_FOUND, 4, "no loaded plugin brings a system 'body'"},
    {PLUGINS "[world w]\nsystems = wlak\n", BP_ERROR_NOT_FOUND, 4,
     "no loaded plugin brings a system 'wlak'; did you mean 'walk'?"},
    {PLUGINS "[world w]\ncomponents = walk\n", BP_ERROR_NOT_FOUND, 4,
     "no loaded plugin brings a component 'walk'%"},
    {PLUGINS "[world w]\ncomponents = body\n flag body\n", BP_ERROR_EXISTS, 4,
     "world 'w' has component 'body' already"},
    {WORLD "systems = walk walk\n", BP_ERROR_EXISTS, 5, "world 'w' has system 'walk' already"},
    {PLUGINS "[world w]\ncomponents = body grump\n", BP_ERROR_FAILED, 4,
     "component 'grump' did not start in world 'w': not today"},
    {PLUGINS "[world w]\ncomponents = body sphinx\n", BP_ERROR_FAILED, 4,
     "component 'sphinx' did not start in world 'w': it gave no reason (code 13)"},
    {WORLD "systems = walk sulk\n", BP_ERROR_FAILED, 5,
     "system 'sulk' did not start in world 'w': not today"},
    {WORLD "systems = mum\n", BP_ERROR_FAILED, 5,
     "system 'mum' did not start in world 'w': it gave no reason (code 13)"},
    {PLUGINS "[world w]\ncomponents = label\nsystems = walk\n", BP_ERROR_NOT_FOUND, 5,
     "system 'walk' works on component 'body', which world 'w' lacks; add it to the world's components"},
    {WORLD "systems = walk\n[world v]\nsystems = hen lead\n[spawn w s]\ncomponents = body\n",
     BP_ERROR_NOT_FOUND, 7,
     "system 'lead' works on component 'body', which world 'v' lacks; add it to the world's components"},
    {WORLD "systems = lost\n", BP_ERROR_NOT_FOUND, 5,
     "system 'lost' wants to run after 'nobody', which no loaded plugin brings"},
    {WORLD "systems = hen egg\n", BP_ERROR_STATE, 5,
     "world 'w': the wishes of hen, egg to run before and after each other form a circle: 'egg' runs before 'hen' "
     "(before of 'egg'), 'hen' runs before 'egg' (before of 'hen')"},

    /* scenes */
    {WORLD "scenes = nowhere.json\n", BP_ERROR_IO, 5, SCRATCH "/nowhere.json: cannot be opened%"},
    {WORLD "scenes = nowhere.bpe\n", BP_ERROR_IO, 5, SCRATCH "/nowhere.bpe: cannot be opened%"},
    {WORLD "scenes = two.json\n  two.json\n  nowhere.json\n", BP_ERROR_IO, 5, SCRATCH "/nowhere.json: %"},
    {WORLD "scenes = two.json broken.json\n", BP_ERROR_NOT_FOUND, 5, SCRATCH "/broken.json:2:%"},
    {WORLD "scenes = two.json broken.bpe\n", BP_ERROR_SYNTAX, 5, SCRATCH "/broken.bpe: %"},
    {WORLD "scenes = two.json\n[world v]\ncomponents = label\nscenes = two.json\n", BP_ERROR_NOT_FOUND, 8,
     SCRATCH "/two.json: %"},
    {WORLD "scenes = two.json\nsystems = lost\n", BP_ERROR_NOT_FOUND, 6,
     "system 'lost' wants to run after 'nobody', which no loaded plugin brings"},
    {WORLD "scenes = two.json\n[spawn w s]\ncount = few\n", BP_ERROR_TYPE, 7,
     "count = 'few' is not a whole number from 0 to 4294967295 (type u32)"},

    {"[host]\nplugins = zoo stocks\nscenes = two.json\n[world w]\ncomponents = body label pool\n", BP_ERROR_ARGUMENT, 3,
     SCRATCH "/two.json: a scene that names no worlds needs one to be spawned into (in an ini: scenes of [world ...])"},
    {"[host]\nplugins = zoo stocks\nscenes = worlds.json\n[world w]\ncomponents = body label\n", BP_ERROR_NOT_FOUND, 3,
     SCRATCH "/worlds.json: it has a world 'v', and there is none of that name"},
    {"[host]\nplugins = zoo stocks\nscenes = worlds.json\n[world w]\ncomponents = body\n[world v]\n",
     BP_ERROR_NOT_FOUND, 3, SCRATCH "/worlds.json: world v: %"},
    {"[host]\nplugins = zoo stocks\nscenes = worlds.json\n[world w]\ncomponents = body\n[world v]\n"
     "components = label\nscenes = worlds.json\n", BP_ERROR_TYPE, 8,
     SCRATCH "/worlds.json: it holds several worlds, which come together: %"},

    /* spawning */
    {WORLD "[spawn ww s]\n", BP_ERROR_NOT_FOUND, 5, "there is no world 'ww'; did you mean 'w'?"},
    {"[spawn w s]\n", BP_ERROR_NOT_FOUND, 1, "there is no world 'w'%"},
    {SPAWN "count = few\n", BP_ERROR_TYPE, 6,
     "count = 'few' is not a whole number from 0 to 4294967295 (type u32)"},
    {SPAWN "count = -1\n", BP_ERROR_TYPE, 6,
     "count = '-1' is not a whole number from 0 to 4294967295 (type u32)"},
    {SPAWN "count = 4294967296\n", BP_ERROR_TYPE, 6,
     "count = '4294967296' is not a whole number from 0 to 4294967295 (type u32)"},
    {SPAWN "count = 1\ncomponents = bdy\n", BP_ERROR_NOT_FOUND, 7,
     "world 'w' has no component manager 'bdy'; did you mean 'body'?"},
    {SPAWN "components = body flag\n", BP_ERROR_NOT_FOUND, 6, "world 'w' has no component manager 'flag'%"},
    {SPAWN "components = hull:boddy\n", BP_ERROR_NOT_FOUND, 6,
     "world 'w' has no component manager 'boddy'; did you mean 'body'?"},
    {SPAWN "components = hull:\n", BP_ERROR_NOT_FOUND, 6, "world 'w' has no component manager ''%"},
    {SPAWN "components = hull:body:label\n", BP_ERROR_NOT_FOUND, 6,
     "world 'w' has no component manager 'body:label'"},
    {SPAWN "components = :body\n", BP_ERROR_ARGUMENT, 6,
     "'' is no name for a component; use letters, digits and underscores"},
    {SPAWN "components = a-b:body\n", BP_ERROR_ARGUMENT, 6,
     "'a-b' is no name for a component; use letters, digits and underscores"},
    {SPAWN "components = " X60 "xxxx:body\n", BP_ERROR_ARGUMENT, 6,
     "'" X60 "xxxx' is no name for a component; use letters, digits and underscores"},
    {SPAWN "components = body, label, body\n", BP_ERROR_EXISTS, 6,
     "the entity already has a component named 'body'"},
    {SPAWN "components = it:body it:label\n", BP_ERROR_EXISTS, 6,
     "the entity already has a component named 'it'"},
    {SPAWN "components = a:once b:once\n", BP_ERROR_EXISTS, 6,
     "the entity already has this component, as 'a', and may have only one"},
    {SPAWN "components = body\nmass = 1\n", BP_ERROR_SYNTAX, 7,
     "'mass' is neither count, entities, components nor COMPONENT.PROPERTY"},
    {SPAWN "components = body\n[spawn w t]\nentities = w u\ncomponents = label\n", BP_ERROR_NOT_FOUND, 8,
     "entities = w u: no [spawn w u] is spawned before this one"},
    {SPAWN "components = body\n[spawn w t]\nentities = w t\ncomponents = label\n", BP_ERROR_NOT_FOUND, 8,
     "entities = w t: no [spawn w t] is spawned before this one"},
    {SPAWN "components = body\n[spawn w t]\ncount = 2\nentities = w s\n", BP_ERROR_ARGUMENT, 8,
     "count and entities: either some are made, or they are those of another [spawn]"},
    {SPAWN "components = body\n[spawn w t]\nentities = w s\ncomponents = body\n", BP_ERROR_EXISTS, 8, "%"},
    {SPAWN "components = body\nboody.mass = 1\n", BP_ERROR_NOT_FOUND, 7,
     "entity @ has no component 'boody' in world 'w'; did you mean 'body'? (it has body)"},
    {SPAWN "body.mass = 1\n", BP_ERROR_NOT_FOUND, 6, "entity @ has no component 'body' in world 'w'%"},
    {SPAWN "components = hull:body\nbody.mass = 1\n", BP_ERROR_NOT_FOUND, 7,
     "entity @ has no component 'body' in world 'w' (it has hull)"},
    {SPAWN "components = body\nbody.masss = 1\n", BP_ERROR_NOT_FOUND, 7,
     "no property 'masss' in body; did you mean 'mass'? (it has mass, position, velocity, acceleration)"},
    {SPAWN "components = body\n.mass = 3\n", BP_ERROR_NOT_FOUND, 7,
     "entity @ has no component '' in world 'w'%"},
    {SPAWN "components = body\nbody. = 1\n", BP_ERROR_NOT_FOUND, 7, "no property '' in body (it has mass, %"},
    {SPAWN "components = body\nbody.mass = heavy\n", BP_ERROR_TYPE, 7,
     "body.mass = 'heavy' is not a number (type f32)"},
    {SPAWN "components = body\nbody.mass = 1 2\n", BP_ERROR_TYPE, 7,
     "body.mass = '1 2' is not a number (type f32)"},
    {SPAWN "components = body\nbody.mass = 2\nbody.position = 1 2\n", BP_ERROR_TYPE, 8,
     "body.position = '1 2' is not 3 numbers, like 0 0 1 (type vec3)"},
    {SPAWN "count = 3\ncomponents = body\nbody.mass = -1\n", BP_ERROR_RANGE, 8,
     "mass = -1 is outside its range: at least 0 kg"},
    {SPAWN "components = label\nlabel.rank = 11\n", BP_ERROR_RANGE, 7,
     "rank = 11 is outside its range: at least -10 and at most 10"},
    {SPAWN "components = label\nlabel.home = #1\n", BP_ERROR_TYPE, 7,
     "label.home = '#1' is not #index:generation or none (type entity)"},
    {SPAWN "components = sample\nsample.a_reading = 4\n", BP_ERROR_ARGUMENT, 7,
     "property 'a_reading' is read only"},
    {SPAWN "components = sample\nsample.a_bool = maybe\n", BP_ERROR_TYPE, 7,
     "sample.a_bool = 'maybe' is not true or false (type bool)"},
    {SPAWN "components = sample\nsample.a_quat = 0 0 1\n", BP_ERROR_TYPE, 7,
     "sample.a_quat = '0 0 1' is not 4 numbers x y z w, like 0 0 0 1 (type quat)"},
    {SPAWN "components = sample\nsample.a_mat4 = 1 0 0 0\n", BP_ERROR_TYPE, 7,
     "sample.a_mat4 = '1 0 0 0' is not 16 numbers, column by column (type mat4)"},
    {SPAWN "components = pool\npool.number = 1001\n", BP_ERROR_RANGE, 7,
     "number = 1001 is outside its range: at least -1000 and at most 1000"},
    {SPAWN "components = pool\npool.serial = 1\n", BP_ERROR_ARGUMENT, 7, "property 'serial' is read only"},
    {SPAWN "components = mute\nmute.number = 1\n", BP_ERROR_ARGUMENT, 7,
     "mute has no property that can be set"},
    {SPAWN "count = 5\ncomponents = body pool\n[spawn w t]\ncomponents = pool\npool.number = x\n",
     BP_ERROR_TYPE, 10, "pool.number = 'x' is not a whole number of 64 bits (type i64)"},
};

/* "file:line: sentence", with the first entity put in. Returns whether the end is open. */
static int fill_sentence(const mistake_t *m, const char *path, const char *first, char *text, size_t size)
{
    int n = snprintf(text, size, "%s:%u: ", path, m->line);
    for (const char *at = m->sentence; *at != '\0' && *at != '%'; at++)
        n += *at == '@' ? snprintf(text + n, size - (size_t)n, "%s", first)
                        : snprintf(text + n, size - (size_t)n, "%c", *at);
    return strchr(m->sentence, '%') != NULL;
}

static void make_mistake(const mistake_t *m, const char *first)
{
    char wanted[2048];
    write_scenes();
    state_t before = take_state();
    char *seen = describe_host(rig.host);
    const char *path = scratch_file("mistake.ini", m->ini);
    int open = fill_sentence(m, path, first, wanted, sizeof wanted);
    bp_result_t result = bp_host_setup(rig.host, path);
    const char *said = bp_host_error(rig.host);
    ck_assert_msg(result == m->code, "%d instead of %d: %s", result, m->code, said);
    ck_assert_msg(strstr(said + 1, path) == NULL, "the file is named twice: %s", said);
    ck_assert_msg(open ? strncmp(said, wanted, strlen(wanted)) == 0 : strcmp(said, wanted) == 0,
                  "said:   %s\nwanted: %s", said, wanted);
    expect_state(&before, m->ini);
    expect_same(seen, describe_host(rig.host), m->ini);
    check_host(rig.host);
}

#if defined(BACKPLANE_SANITIZED)
enum { MISTAKES_EACH = 2 }; /* one half of the mistakes meets a host without entities, and the other one a busy one */
#else
enum { MISTAKES_EACH = 1 };
#endif

START_TEST(a_mistake_is_told_with_its_line_and_changes_nothing)
{
    open_host();
    make_mistake(&mistakes[_i * MISTAKES_EACH], "#0:1");
    expect_good_host();
    rig_close(&rig);
}
END_TEST

START_TEST(a_mistake_leaves_a_busy_host_alone)
{
    open_busy_host();
    make_mistake(&mistakes[(_i + 1) * MISTAKES_EACH - 1], "#1024:1"); /* a second world has pages of its own */
    WORKS(rig.host, bp_host_step(rig.host));
    expect_good_host();
    rig_close(&rig);
}
END_TEST

/* --- files that are none ------------------------------------------------------------------------------------------ */

#define EXPECT_NO_FILE(code, path, part)                                                                     \
    do {                                                                                                     \
        state_t before_ = take_state();                                                                      \
        FAILS(rig.host, code, part, bp_host_setup(rig.host, path));                                          \
        EXPECT(strncmp(bp_host_error(rig.host), path, strlen(path)) == 0, "%s", bp_host_error(rig.host));    \
        expect_state(&before_, path);                                                                        \
    } while (0)

START_TEST(a_file_that_is_not_there_is_told)
{
    open_busy_host();
    EXPECT_NO_FILE(BP_ERROR_IO, SCRATCH "/nowhere.ini", "cannot be opened");
    EXPECT_NO_FILE(BP_ERROR_IO, SCRATCH "/nowhere/at/all.ini", "cannot be opened");
    EXPECT_NO_FILE(BP_ERROR_IO, "", "cannot be opened");
    expect_good_host();
    rig_close(&rig);
}
END_TEST

START_TEST(a_folder_is_no_ini)
{
    open_busy_host();
    EXPECT_NO_FILE(BP_ERROR_IO, SCRATCH, "cannot be");
    rig_close(&rig);
}
END_TEST

START_TEST(a_file_without_an_end_is_no_ini)
{
    if (!file_exists("/dev/zero"))
        return;
    rig_open_zoo(&rig);
    FAILS(rig.host, BP_ERROR_LIMIT, "/dev/zero: has more than 16777216 bytes", bp_host_setup(rig.host, "/dev/zero"));
    rig_close(&rig);
}
END_TEST

START_TEST(a_zero_byte_is_no_text)
{
    static const char bytes[] = "[host]\nsteps = 3\n\0seed = 4\n";
    open_busy_host();
    for (size_t size = sizeof bytes - 1; size > 17; size--)
        EXPECT_NO_FILE(BP_ERROR_SYNTAX, scratch_bytes("zero.ini", bytes, size), "zero byte");
    EXPECT_NO_FILE(BP_ERROR_SYNTAX, scratch_bytes("zero.ini", "", 1), "zero byte");
    rig_close(&rig);
}
END_TEST

/* --- large numbers ------------------------------------------------------------------------------------------------ */

START_TEST(a_count_beyond_all_memory_is_told_with_its_line)
{
    static const char *const counts[] = {"4294967295", "4294967294", "1000000000"};
    open_busy_host();
    for (uint32_t i = 0; i < COUNT(counts); i++) {
        char ini[512], start[1100];
        state_t before = take_state();
        snprintf(ini, sizeof ini, SPAWN "count = 2\n[spawn w t]\ncomponents = body\ncount = %s\n", counts[i]);
        const char *path = scratch_file("huge.ini", ini);
        bp_result_t result = bp_host_setup(rig.host, path);
        EXPECT(result == BP_ERROR_MEMORY || result == BP_ERROR_LIMIT, "%d: %s", result,
               bp_host_error(rig.host));
        expect_state(&before, ini);
        snprintf(start, sizeof start, "%s:", path);
        EXPECT(strncmp(bp_host_error(rig.host), start, strlen(start)) == 0, "%s", bp_host_error(rig.host));
        long line = strtol(bp_host_error(rig.host) + strlen(start), NULL, 10);
        EXPECT(line >= 7 && line <= 9, "it is no matter of line %ld: %s", line, bp_host_error(rig.host));
    }
    expect_good_host();
    rig_close(&rig);
}
END_TEST

START_TEST(an_entity_may_have_255_components_and_no_more)
{
    static char ini[1 << 14];
    open_host();
    for (int count = 255; count <= 256; count++) {
        int n = snprintf(ini, sizeof ini,
                         "[host]\nplugins = %s\n[world w%d]\ncomponents = %s\n[spawn w%d s]\ncomponents =",
                         count == 255 ? "zoo" : "", count, "flag", count);
        for (int i = 0; i < count; i++)
            n += snprintf(ini + n, sizeof ini - (size_t)n, "%sn%d:flag", i % 10 == 0 ? "\n " : " ", i);
        snprintf(ini + n, sizeof ini - (size_t)n, "\n");
        if (count == 255)
            WORKS(rig.host, bp_host_setup(rig.host, scratch_file("many.ini", ini)));
        else
            FAILS(rig.host, BP_ERROR_LIMIT, "many.ini:6: an entity has at most 255 components",
                  bp_host_setup(rig.host, scratch_file("many.ini", ini)));
    }
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 1);
    rig_close(&rig);
}
END_TEST

START_TEST(hot_reload_of_an_ini_that_is_refused_is_off_again)
{
    rig_open_zoo(&rig);
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "late.ini:4:",
          bp_host_setup(rig.host, scratch_file("late.ini",
                                               "[host]\nhot_reload = on\n[world w]\ncomponents = nobody\n")));
    ck_assert(!rig.host->hot.watching);
    WORKS(rig.host, bp_host_setup(rig.host, scratch_file("late.ini", "[host]\nhot_reload = on\n")));
    ck_assert(rig.host->hot.watching);
    rig_close(&rig);
}
END_TEST

/* `reload` is said once; an ini that does not say it leaves it, also one that says hot_reload again. */
START_TEST(a_later_ini_leaves_how_versions_come_in)
{
    rig_open_zoo(&rig);
    WORKS(rig.host, bp_host_setup(rig.host, scratch_file("try.ini", "[host]\nhot_reload = on\nreload = try 20\n")));
    ck_assert_uint_eq(rig.host->hot.beside_steps, 20);
    WORKS(rig.host, bp_host_setup(rig.host, scratch_file("late.ini", "[host]\nhot_reload = on\n")));
    ck_assert_uint_eq(rig.host->hot.beside_steps, 20);
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "late.ini:5:",
          bp_host_setup(rig.host, scratch_file("late.ini", "[host]\nhot_reload = on\nreload = try 30\n"
                                                           "[world w]\ncomponents = nobody\n")));
    ck_assert_uint_eq(rig.host->hot.beside_steps, 20);
    WORKS(rig.host, bp_host_setup(rig.host, scratch_file("late.ini", "[host]\nhot_reload = on\nreload = at once\n")));
    ck_assert_uint_eq(rig.host->hot.beside_steps, 0);
    rig_close(&rig);
}
END_TEST

/* A past that cannot be kept, because a component does not say how to keep its state, is found out last. */
START_TEST(an_ini_whose_past_cannot_be_kept_leaves_the_host_as_it_was)
{
    open_busy_host();
    char *before = describe_host(rig.host);
    ck_assert_int_ne(bp_host_setup(rig.host, scratch_file("late.ini", "[host]\nthreads = 3\ncrash_guard = on\n"
                                                                      "call_limit = 50\nhistory = 1 MiB\n"
                                                                      "plugins = stocks\n"
                                                                      "[world w]\ncomponents = pool\n")),
                     BP_OK);
    EXPECT(strstr(bp_host_error(rig.host), "late.ini:5: ") != NULL, "%s", bp_host_error(rig.host));
    expect_same(before, describe_host(rig.host), "a past that cannot be kept");
    ck_assert(rig.host->loader.guard == NULL && !rig.host->guarded && rig.host->call_limit == 0);
    check_host(rig.host);
    expect_good_host();
    rig_close(&rig);
}
END_TEST

/* The worst place for a mistake is the last line of an otherwise good ini; spawned into an old world, too. */
START_TEST(a_mistake_in_the_last_line_undoes_all_before_it)
{
    open_busy_host();
    char *before = describe_host(rig.host);
    FAILS(rig.host, BP_ERROR_RANGE, "late.ini:14: mass = -1 is outside its range",
          bp_host_setup(rig.host,
                        scratch_file("late.ini", SPAWN "count = 500\ncomponents = body pool label\n"
                                                       "pool.text = one of many\nlabel.text = another\n"
                                                       "[spawn old more]\ncount = 7\n[spawn w t]\n"
                                                       "components = pool hull:body\nhull.mass = -1\n")));
    expect_same(before, describe_host(rig.host), "a mistake in the last line");
    check_host(rig.host);
    expect_good_host();
    rig_close(&rig);
}
END_TEST

/* --- mistakes by machine ------------------------------------------------------------------------------------------ */

/* Set up in the host at hand: it works, or the error has a line that there is, and nothing has changed. */
static void try_bytes(const char *bytes, size_t size)
{
    const char *path = scratch_bytes("broken.ini", bytes, size);
    state_t before = take_state();
    if (bp_host_setup(rig.host, path) == BP_OK)
        return;
    const char *said = bp_host_error(rig.host);
    long line = strncmp(said, path, strlen(path)) == 0 && said[strlen(path)] == ':'
                    ? strtol(said + strlen(path) + 1, NULL, 10)
                    : 0;
    EXPECT(line >= 1 && line <= 41, "no line: %s in\n%.*s", said, (int)size, bytes);
    expect_state(&before, "a broken ini");
}

START_TEST(an_ini_cut_anywhere_works_or_is_refused_whole)
{
    for (size_t size = 0; size < sizeof whole; size++) {
        open_host();
        try_bytes(whole, size < sizeof whole - 1 ? size : sizeof whole - 1);
        rig_close(&rig);
    }
}
END_TEST

#if defined(BACKPLANE_SANITIZED)
enum { OTHERS = 15, APART = 5 }; /* each byte is replaced, by three of them */
#else
enum { OTHERS = 15, APART = 1 };
#endif

START_TEST(an_ini_with_any_byte_replaced_works_or_is_refused_whole)
{
    static const char others[] = "\n\r[]=: ;#.\t,0-x\xFF";
    char bytes[sizeof whole];
    for (size_t i = (size_t)_i % APART; i < sizeof whole - 1; i += APART) {
        memcpy(bytes, whole, sizeof whole);
        bytes[i] = others[_i];
        open_host();
        try_bytes(bytes, sizeof whole - 1);
        rig_close(&rig);
    }
}
END_TEST

START_TEST(random_pieces_of_an_ini_work_or_are_refused_whole)
{
    static const char *const pieces[] = {
        "[host]", "[world a]", "[spawn a x]", "[plugin zoo]", "plugins",   "components", "=",
        ":",      "zoo",       "body",        "\n",           "\n ",       ";",          "#",
        "[",      "]",         " ",           "count",        "body.mass", "3",          "\r\n",
        ",",      "\xFF",      ".",
    };
    uint64_t random = 21;
    for (uint32_t round = 0; round < 2000; round++) {
        char text[600] = "";
        size_t used = 0;
        for (uint32_t i = 0; i < 40; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s",
                                     pieces[bp_random_below(&random, COUNT(pieces))]);
        open_host();
        try_bytes(text, used);
        rig_close(&rig);
    }
}
END_TEST

Suite *config_mistakes_suite(void)
{
    Suite *suite = suite_create("config_mistakes");
    TCase *bad = tcase_create("mistakes"), *broken = tcase_create("broken");
    const int all = (int)COUNT(mistakes);
    tcase_add_loop_test(bad, a_mistake_is_told_with_its_line_and_changes_nothing, 0, (all - 1) / MISTAKES_EACH + 1);
    tcase_add_loop_test(bad, a_mistake_leaves_a_busy_host_alone, 0, all / MISTAKES_EACH);
    tcase_add_test(bad, a_file_that_is_not_there_is_told);
    tcase_add_test(bad, a_folder_is_no_ini);
    tcase_add_test(bad, a_file_without_an_end_is_no_ini);
    tcase_add_test(bad, a_zero_byte_is_no_text);
    tcase_add_test(bad, a_count_beyond_all_memory_is_told_with_its_line);
    tcase_add_test(bad, an_entity_may_have_255_components_and_no_more);
    tcase_add_test(bad, hot_reload_of_an_ini_that_is_refused_is_off_again);
    tcase_add_test(bad, a_later_ini_leaves_how_versions_come_in);
    tcase_add_test(bad, a_mistake_in_the_last_line_undoes_all_before_it);
    tcase_add_test(bad, an_ini_whose_past_cannot_be_kept_leaves_the_host_as_it_was);
    suite_add_tcase(suite, bad);
    tcase_add_test(broken, an_ini_cut_anywhere_works_or_is_refused_whole);
    tcase_add_loop_test(broken, an_ini_with_any_byte_replaced_works_or_is_refused_whole, 0, OTHERS);
    tcase_add_test(broken, random_pieces_of_an_ini_work_or_are_refused_whole);
    tcase_set_timeout(broken, 60);
    suite_add_tcase(suite, broken);
    return suite;
}
