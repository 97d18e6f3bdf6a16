/* main.c - the program `backplane`: finds the command, runs it, and checks that the output was written.
 *
 * A thin program over libbackplane: everything that it can do, an embedder can do through backplane.h and
 * the tables of bp_api.h, which are all that host/program/ uses (beside the clock and the terminal of
 * os/os.h).
 *
 * Exit status: 0 only if all went well; 1 when something failed while running, the writing of
 * the output included (a full disk shows only when the last buffer is flushed); 2 for bad input.
 */
#include "console.h"
#include "../os/os.h"
#include "output.h"
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char program_about[] =
    "usage: backplane COMMAND ...\n"
    "\n"
    "An entity engine whose components are plugins. An ini file says which plugins are loaded, which worlds\n"
    "there are, and what lives in them.\n"
    "\n"
    "Commands:\n";

static const char program_rest[] =
    "\n"
    "  backplane COMMAND --help   tells more about a command\n"
    "  backplane --version        prints the version\n"
    "  backplane --manual         prints the manual page, for man: backplane --manual | man -l -\n"
    "  backplane --headers        prints the folder with the headers for plugins: cc -I$(backplane --headers)\n"
    "\n"
    "Exit status: 0 all went well, 1 something failed while running, 2 bad arguments, ini or plugin.\n";

static const command_t commands[] = {
    {
        .name = "run",
        .usage = "run INI [--steps N] [--json] [--real-time [--show PATH]] [--inspect [PORT]] "
                 "[--record FILE | --resume FILE] [--verify] [--trace FILE] [-v]",
        .about = "simulate what an ini describes, and report",
        .help = "  --steps N     take N steps, whatever the ini says under [host] steps\n"
                "  --json        print the report as one JSON object\n"
                "  --real-time   take the steps at the pace of the worlds' step rates, for as long as --steps says,\n"
                "                else until Ctrl-C; and tell of plugins that are reloaded. At a terminal commands of\n"
                "                the console can be typed meanwhile\n"
                "  --show PATH   with --real-time: print a property once a second\n"
                "  --inspect     add the plugin inspector, whose page in a browser shows the worlds and lets\n"
                "                them be stopped and changed; its address is printed. PORT is 15702 unless\n"
                "                given, 0 is any that is free. Add --real-time, else the run may be over in a moment.\n"
                "  -v, --verbose print what plugins and the host remark, not only warnings and errors\n"
                "  --trace FILE  write what ran when, on which thread, for Perfetto or chrome://tracing\n"
                "  --record FILE write whole states and what comes from outside, for `replay` and --resume\n"
                "  --verify      take each step twice, on different numbers of threads, and end where they differ\n"
                "  --resume FILE go on where a recorded run was ended, bit for bit, and record on; on several\n"
                "                ranks each has a file of its own (FILE.0of4), and there may be more or fewer ranks\n"
                "\n"
                "Prints what the plugins report, then what the steps of each world and plugin cost.\n"
                "A bar shows the progress when stderr is a terminal.\n",
        .takes = TAKES_STEPS | TAKES_JSON | TAKES_REAL_TIME | TAKES_TRACE | TAKES_VERBOSE | TAKES_INSPECT |
                 TAKES_RECORD | TAKES_VERIFY,
        .run = command_run,
    },
    {
        .name = "replay",
        .usage = "replay FILE [--to N] [--check] [--ini INI] [--json]",
        .about = "compute a recorded run again",
        .help = "  --to N     up to step N, from the nearest whole state before it; else to the end\n"
                "  --check    from the beginning, and compare with each whole state that was recorded\n"
                "  --ini INI  what to set up, where the recorded ini lies elsewhere now\n"
                "  --json     print the result as one JSON object\n"
                "\n"
                "FILE is what `run --record` has written; of one that was cut off what is whole counts. Prints a\n"
                "hash of all that decides how the run goes on: it is the same where everything is. Exit status 1\n"
                "where --check finds a difference, with the fields that differ.\n",
        .takes = TAKES_JSON | TAKES_REPLAY,
        .file = "recording",
        .run = command_replay,
    },
    {
        .name = "bisect",
        .usage = "bisect FILE CONDITION [--ini INI]",
        .about = "find the step of a recorded run at which something came to be so",
        .help = "  --ini INI  what to set up, where the recorded ini lies elsewhere now\n"
                "\n"
                "FILE is what `run --record` has written; CONDITION is what `find` of the console takes, such as\n"
                "'main body.mass > 2', 'any main/*.body.position is nan', 'count main > 1000'. Halves the steps,\n"
                "for what stays true once it is, and prints the first one with the entity, its value there and\n"
                "before. Exit status 1 where it is not so at the end.\n",
        .run_texts = command_bisect,
    },
    {
        .name = "plugins",
        .usage = "plugins INI [--json]",
        .about = "describe the plugins that an ini loads",
        .help = "  --json     print it as one JSON object\n"
                "\n"
                "Prints each plugin with its version and file, its options, its components with their\n"
                "properties (type, default, unit, range), and its systems with what they read and write.\n",
        .takes = TAKES_JSON,
        .run = command_plugins,
    },
    {
        .name = "console",
        .usage = "console INI [-v]",
        .about = "look into the worlds of an ini and change them, by commands",
        .takes = TAKES_VERBOSE,
        .help = "  -v, --verbose print what plugins and the host remark, not only warnings and errors\n"
                "\n"
                "Reads commands, one a line, from the terminal or from a pipe; `help` lists them. From a\n"
                "pipe, the exit status tells whether all of them succeeded.\n"
                "\n"
                "  echo 'get main/earth.body.position' | backplane console game.ini\n",
        .run = command_console,
    },
    {
        .name = "new",
        .usage = "new NAME [--component | --system | --own-storage] [--lang c|c++|rust] [--fields LIST]",
        .about = "make a folder with a plugin of your own in it",
        .help = "  --component    a component with declared fields (so it is without any of the three)\n"
                "  --system       a system that works on the component of another plugin\n"
                "  --own-storage  a component that keeps its instances itself\n"
                "  --lang c|c++|rust  the language of the source; c. In Rust it is a component with declared fields\n"
                "  --fields LIST  its fields, or a system's options: \"hp:f32=100,max:f32,path:vec3[],marks:u8[4]\"\n"
                "\n"
                "Makes the folder NAME with source, Makefile, ini, test and README. The plugin builds, runs, is\n"
                "reloaded when its source is saved, and passes `check` as it stands:\n"
                "\n"
                "  backplane new health --fields \"hp:f32=100\" && make -C health test && make -C health dev\n",
        .run_texts = command_new,
    },
    {
        .name = "check",
        .usage = "check PLUGIN [NAME=VALUE ...] [--level N] [--from OLDER.so] [--needs OTHER.so] [--json]",
        .about = "look into a plugin, and ask of it what every plugin must do",
        .help = "  --level N        how much is asked, 1 to 5; 1\n"
                "  --from OLDER.so  an older version that it must take over from; may be given several times\n"
                "  --needs OTHER.so a plugin to load before it; may be given several times\n"
                "  --json           print the findings as one JSON object\n"
                "\n"
                "Level 1 looks for variables of its own, for what would keep it in memory after a reload, and at\n"
                "what it imports; then loads it, with the options NAME = VALUE, in a process of its own, and lists\n"
                "what it brings. Level 2 asks whether its components do what the contract promises, 3 does random\n"
                "operations against a model, 4 reloads it over itself and over older versions, 5 lets every\n"
                "allocation fail once and compares numbers of threads. Each question is asked in a process of its\n"
                "own, and each finding says what to do. Exit status 1 where it breaks a rule.\n"
                "\n"
                "  backplane check ./health.so --level 5 --from released/health.so\n",
        .run_texts = command_check,
    },
    {
        .name = "dump",
        .usage = "dump SCENE [--json]",
        .about = "show what a compiled scene or a saved world holds",
        .help = "  --json     print it as a scene that can be compiled again\n"
                "\n"
                "Prints what the file holds, then every entity with its components and values. No plugin is\n"
                "needed; fields that are left to their defaults are not in the file, and not shown.\n",
        .takes = TAKES_JSON,
        .file = "scene",
        .run = command_dump,
    },
    {
        .name = "import",
        .usage = "import FILE [-o SCENE.json] [--meshes FOLDER]",
        .about = "turn a glTF, OBJ or COLLADA file into a scene",
        .help = "  -o SCENE.json     the scene to write; without it FILE's name with .json, in the working folder\n"
                "  --meshes FOLDER   where its meshes go, as OBJ files; without it meshes/ beside the scene\n"
                "\n"
                "Nodes become entities with debug_name, transform and mesh. What the scene has no place for is\n"
                "said. Needs the program backplane-import, which `make import` builds where the library assimp\n"
                "is installed; whatever assimp reads can be imported.\n",
        .run_texts = command_import,
    },
    {
        .name = "compile",
        .usage = "compile SCENE.json [-o SCENE.bpe] [--ini INI]",
        .about = "turn a scene that people write into one that is spawned as it is",
        .help = "  -o SCENE.bpe      the file to write; without it SCENE.bpe beside SCENE.json\n"
                "  --ini INI         for the plugins that this ini loads, with their options\n"
                "  --plugins FOLDER  for the plugins in this folder\n"
                "  --json            print the summary as one JSON object\n"
                "\n"
                "Without --ini and --plugins, the plugins count that came with this program. A scene that is\n"
                "wrong gives no file, and a message that begins with file:line:column.\n",
        .run_texts = command_compile,
    },
    {
        .name = "schema",
        .usage = "schema [INI]",
        .about = "print a JSON Schema of scenes, for editors and validators",
        .help = "  --plugins FOLDER  of the plugins in this folder\n"
                "\n"
                "Describes scenes made of the components of the plugins that INI loads; without INI, of those\n"
                "that came with this program. Tell an editor of it, or name it in the scene itself:\n"
                "\n"
                "  backplane schema game.ini > scene.schema.json\n"
                "  {\"$schema\": \"scene.schema.json\", \"entities\": [...]}\n",
        .run_texts = command_schema,
    },
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static int print_program_help(FILE *out)
{
    fputs(program_about, out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-57s %s\n", commands[i].usage, commands[i].about);
    fputs(program_rest, out);
    return STATUS_FINE;
}

static int print_command_help(const command_t *command)
{
    printf("usage: backplane %s\n\n%s\n\n%s", command->usage, command->about, command->help);
    return STATUS_FINE;
}

/* --- the manual page --------------------------------------------------------------------------------------------- */

/* A text as roff takes it: no line begins with a command, and no '-' becomes a hyphen. */
static void print_roff(const char *text)
{
    bool begins = true;
    for (; *text != '\0'; begins = *text++ == '\n') {
        if (begins && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
    }
}

/* Print the commands that can be typed at the prompt, from the table that `help` prints. */
static void print_console_manual(void)
{
    const char *usage, *about;
    fputs(".SH CONSOLE\nWhat\n.B backplane console\ntakes, a line each; at the prompt\n.B help\nlists the same.\n",
          stdout);
    for (uint32_t i = 0; (usage = console_command_usage(i, &about)) != NULL; i++) {
        fputs(".TP\n.B ", stdout);
        print_roff(usage);
        fputs("\n", stdout);
        for (; *about != '\0'; about += strspn(about, " \n")) {
            char line[256];
            snprintf(line, sizeof line, "%.*s", (int)strcspn(about, "\n"), about);
            about += strcspn(about, "\n");
            print_roff(line);
            fputs(*about == '\n' ? "\n.br\n" : "\n", stdout);
        }
    }
}

static int print_manual(void)
{
    printf(".TH BACKPLANE 1 \"\" \"backplane %s\"\n.SH NAME\nbackplane \\- an entity engine whose components are "
           "plugins\n.SH SYNOPSIS\n.B backplane\nCOMMAND ...\n.SH DESCRIPTION\n"
           "An ini file says which plugins are loaded, which worlds there are, and what lives in them.\n.SH COMMANDS\n",
           BACKPLANE_VERSION);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fputs(".SS ", stdout);
        print_roff(commands[i].usage);
        fputs("\n", stdout);
        print_roff(commands[i].about);
        fputs(".\n.PP\n.nf\n", stdout);
        print_roff(commands[i].help);
        fputs(".fi\n", stdout);
    }
    print_console_manual();
    fputs(".SH OPTIONS\n.TP\n.B \\-\\-help\nprints the commands; behind a command, what it takes\n.TP\n"
          ".B \\-\\-version\nprints the version\n.TP\n.B \\-\\-headers\n"
          "prints the folder with the headers for plugins\n.TP\n.B \\-\\-manual\nprints this page, for man\n"
          ".SH EXIT STATUS\n0 all went well, 1 something failed while running, 2 bad arguments, ini or plugin.\n",
          stdout);
    return STATUS_FINE;
}

static int print_version(void)
{
    printf("backplane %s (plugin ABI %u.%u)\n", BACKPLANE_VERSION, BP_ABI_MAJOR, BP_ABI_MINOR);
    return STATUS_FINE;
}

static int refuse_command(const char *word)
{
    char hint[96];
    guess_t guess = {.wanted = word};
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        guess_consider(&guess, commands[i].name);
    guess_consider(&guess, "--help");
    guess_consider(&guess, "--version");
    guess_consider(&guess, "--headers");
    guess_consider(&guess, "--manual");
    guess_hint(&guess, hint, sizeof hint);
    complain("no %s '%s'%s", word[0] == '-' ? "option" : "command", word, hint);
    complain("usage: backplane COMMAND INI ...; see backplane --help");
    return STATUS_BAD_INPUT;
}

static int run_command(const command_t *command, int count, char **texts)
{
    arguments_t arguments;
    if (command->run_texts != NULL)
        return arguments_ask_for_help(count, texts) ? print_command_help(command) : command->run_texts(count, texts);
    if (!arguments_read(command, count, texts, &arguments))
        return STATUS_BAD_INPUT;
    return arguments.help ? print_command_help(command) : command->run(&arguments);
}

static int run_line(int count, char **texts)
{
    if (count < 1) {
        print_program_help(stderr);
        return STATUS_BAD_INPUT;
    }
    if (strcmp(texts[0], "--help") == 0 || strcmp(texts[0], "-h") == 0)
        return print_program_help(stdout);
    if (strcmp(texts[0], "--version") == 0)
        return print_version();
    if (strcmp(texts[0], "--headers") == 0)
        return command_headers();
    if (strcmp(texts[0], "--manual") == 0)
        return print_manual();
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(texts[0], commands[i].name) == 0)
            return run_command(&commands[i], count - 1, texts + 1);
    return refuse_command(texts[0]);
}

/* Was all output written to stdout? Complains where it was not. */
static int finish_output(int status)
{
    bool failed_before = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !failed_before)
        return status;
    complain("the output cannot be written%s%s", errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
    return status == STATUS_FINE ? STATUS_FAILED : status;
}

int main(int count, char **texts)
{
    int helped = bp_helper_run(count, texts, NULL);
    if (helped >= 0)
        return helped;
    os_keep_standard_numbers();
    os_survive_file_limit();
    int status = run_line(count - 1, texts + (count > 0));
    return finish_output(status);
}
