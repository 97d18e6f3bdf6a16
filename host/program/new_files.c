/* new_files.c - the files beside the source of a new plugin: Makefile, ini, test, README. */
#include "new.h"

#include <stdio.h>
#include <string.h>

const char *new_source_ending(const new_plugin_t *plugin)
{
    return plugin->language == NEW_RUST ? "rs" : plugin->language == NEW_CXX ? "cpp" : "c";
}

void new_watched(const new_plugin_t *plugin, char *path, size_t size)
{
    path[0] = '\0';
    if (plugin->kind == NEW_SYSTEM)
        snprintf(path, size, "main/one.point_mass.velocity");
    else if (plugin->worked < plugin->field_count)
        snprintf(path, size, "main/one.%s.%s", plugin->name, plugin->fields[plugin->worked].name);
}

/* --- the Makefile ------------------------------------------------------------------------------------------------ */

static const char makefile_head[] =
    "# make          build the plugin, @name@.so\n"
    "# make check    build it, and ask of it what every plugin must do\n"
    "# make test     that, and its own test\n"
    "# make run      run @name@.ini for ten seconds of its time, as fast as it goes\n"
    "# make dev      run it at the pace of the clock; save @file@, and the running world goes on with what you saved\n"
    "# make console  look into it and change it by commands\n"
    "\n"
    "# The program backplane: the one that made this folder, or where that is gone the one that is found as a "
    "command.\n"
    "# Another: make BACKPLANE=/path/to/backplane\n"
    "BACKPLANE ?= $(shell if [ -x '@program@' ]; then echo '@program@'; else echo backplane; fi)\n";

static const char makefile_compiled[] =
    "HEADERS   := $(shell '$(BACKPLANE)' --headers)\n"
    "@flags_name@ ?= -O2 -g -Wall -Wextra\n"
    "@unique@"
    "\n"
    "@name@.so: @file@ Makefile\n"
    "\t@[ -n \"$(HEADERS)\" ] || { echo 'no program \"$(BACKPLANE)\"; say where it is: make BACKPLANE=...'; exit 1; }\n"
    "\t$(@compiler@) -std=@standard@ $(@flags_name@)@take_unique@ -shared -fPIC -I'$(HEADERS)' -MMD -MP -MF @name@.d "
    "-MT $@ $< -o $@\n"
    "\n";

/* Symbols that are unique in a process would keep each version of the plugin in memory for ever. */
static const char makefile_unique[] =
    "# g++ would keep each version of the plugin in memory for ever; clang++ does not, and does not know the option.\n"
    "UNIQUE    := $(shell $(CXX) -fno-gnu-unique -E -x c++ /dev/null >/dev/null 2>&1 && echo -fno-gnu-unique)\n";

static const char makefile_rust[] =
    "HEADERS   := $(shell '$(BACKPLANE)' --headers)\n"
    "RUSTC     ?= rustc\n"
    "RUSTFLAGS ?= -O -g\n"
    "\n"
    "@name@.so: @file@ Makefile\n"
    "\t@[ -n \"$(HEADERS)\" ] || { echo 'no program \"$(BACKPLANE)\"; say where it is: make BACKPLANE=...'; exit 1; }\n"
    "\tBACKPLANE_HEADERS='$(HEADERS)' $(RUSTC) --edition 2021 --crate-type cdylib --crate-name @name@ -C panic=abort "
    "-C link-arg=-lc $(RUSTFLAGS) $< -o $@\n"
    "\n";

static const char makefile_tail[] =
    ".PHONY: check test run dev console clean\n"
    "\n"
    "# For versions that you have given out: --from released/@name@.so\n"
    "check: @name@.so\n"
    "\t'$(BACKPLANE)' check ./@name@.so --level 5\n"
    "\n"
    "test: check\n"
    "\tsh ./test.sh '$(BACKPLANE)'\n"
    "\n"
    "run: @name@.so\n"
    "\t'$(BACKPLANE)' run @name@.ini --steps 600\n"
    "\n"
    "dev: @name@.so\n"
    "\t'$(BACKPLANE)' run @name@.ini --real-time@show@\n"
    "\n"
    "console: @name@.so\n"
    "\t'$(BACKPLANE)' console @name@.ini\n"
    "\n"
    "clean:\n"
    "\trm -f @name@.so @name@.d\n"
    "@include@";

/* A path as it stands between single quotes in a command of make. One that holds such a quote finds no program. */
static void quote_program(const char *path, new_text_t *text)
{
    for (; *path != '\0'; path++) {
        const char letter[] = {*path, '\0'};
        new_text_add(text, *path == '$' ? "$$" : letter);
    }
}

void new_makefile(const new_plugin_t *plugin, new_text_t *text)
{
    new_text_t program = {.chars = NULL};
    char file[NEW_NAME_MAX + 8], watched[256], show[300] = "", include[NEW_NAME_MAX + 24] = "";
    quote_program(plugin->program, &program);
    bool cxx = plugin->language == NEW_CXX, rust = plugin->language == NEW_RUST;
    snprintf(file, sizeof file, "%s.%s", plugin->name, new_source_ending(plugin));
    if (!rust)
        snprintf(include, sizeof include, "\n-include %s.d\n", plugin->name);
    new_watched(plugin, watched, sizeof watched);
    if (watched[0] != '\0')
        snprintf(show, sizeof show, " --show %s", watched);
    const char *const words[] = {
        "file", file, "program", program.failed ? "" : program.chars,
        "flags_name", cxx ? "CXXFLAGS" : "CFLAGS", "compiler", cxx ? "CXX" : "CC",
        "unique", cxx ? makefile_unique : "", "take_unique", cxx ? " $(UNIQUE)" : "",
        "standard", cxx ? "c++20" : "c11", "show", show, "include", include, NULL,
    };
    new_text_fill(text, makefile_head, plugin, words);
    new_text_fill(text, rust ? makefile_rust : makefile_compiled, plugin, words);
    new_text_fill(text, makefile_tail, plugin, words);
    text->failed = text->failed || program.failed;
    new_text_free(&program);
}

/* --- the ini ----------------------------------------------------------------------------------------------------- */

static const char ini_host[] =
    "; A world with the plugin @name@ in it: make run, make dev, make console.\n"
    "\n"
    "[host]\n"
    "plugins = ./@name@@others@ debug_name\n"
    "hot_reload = on                 ; the files of plugins are watched, and reloaded when they are written anew,\n"
    "build = make -s {plugin}.so     ; which this does when a source is saved\n"
    "sources = .\n";

static const char ini_component[] =
    "\n"
    "[world main]\n"
    "step_rate = 60\n"
    "components = @name@ debug_name\n"
    "\n"
    "[spawn main one]\n"
    "components = @name@ debug_name\n"
    "debug_name.name = one\n"
    "\n"
    "[spawn main crowd]\n"
    "count = 1000\n"
    "components = @name@\n";

static const char ini_system[] =
    "\n"
    "[world main]\n"
    "step_rate = 60\n"
    "components = point_mass debug_name\n"
    "systems = @name@\n"
    "\n"
    "[spawn main one]\n"
    "components = point_mass debug_name\n"
    "debug_name.name = one\n"
    "point_mass.velocity = 1 0 0\n"
    "\n"
    "[spawn main crowd]\n"
    "count = 1000\n"
    "components = point_mass\n"
    "point_mass.velocity = 0 2 0\n";

void new_ini(const new_plugin_t *plugin, new_text_t *text)
{
    bool system = plugin->kind == NEW_SYSTEM;
    const char *const words[] = {"others", system ? " point_mass" : "", NULL};
    new_text_fill(text, ini_host, plugin, words);
    new_text_fill(text, system ? ini_system : ini_component, plugin, words);
}

/* --- the test ---------------------------------------------------------------------------------------------------- */

static const char test_head[] =
    "#!/bin/sh\n"
    "# test.sh [BACKPLANE] - is @name@ what it should be? make test runs this.\n"
    "#\n"
    "# Commands go to the console of @name@.ini; what it answers is compared. Add yours.\n"
    "set -eu\n"
    "\n"
    "backplane=${1:-backplane}\n"
    "ask() { printf '%s\\n' \"$@\" | \"$backplane\" console @name@.ini; }\n"
    "fail() { echo \"test.sh: $*\"; exit 1; }\n"
    "\n";

static const char test_watched[] =
    "before=$(ask 'get @watched@')\n"
    "after=$(ask 'step 60' 'get @watched@' | tail -n 1)\n"
    "[ \"$before\" != \"$after\" ] || fail \"after a second of steps @watched@ is still $before\"\n"
    "\n"
    "# The file loaded anew over itself: nothing is lost.\n"
    "reloaded=$(ask 'step 60' 'reload @name@' 'get @watched@' | tail -n 1)\n"
    "[ \"$reloaded\" = \"$after\" ] || fail \"@watched@ was $after, and is $reloaded after a reload\"\n";

static const char test_plain[] =
    "ask 'step 60' 'get main/one.@name@' 'reload @name@' 'get main/one.@name@' >/dev/null || fail \"it cannot be "
    "stepped, read and reloaded\"\n";

void new_test(const new_plugin_t *plugin, new_text_t *text)
{
    char watched[256];
    new_watched(plugin, watched, sizeof watched);
    const char *const words[] = {"watched", watched, NULL};
    new_text_fill(text, test_head, plugin, words);
    new_text_fill(text, watched[0] != '\0' ? test_watched : test_plain, plugin, words);
    new_text_add(text, "echo passed\n");
}

/* --- the README -------------------------------------------------------------------------------------------------- */

static const char readme[] =
    "# @name@\n"
    "\n"
    "A plugin for Backplane: @kind@. Say here what it is for.\n"
    "\n"
    "```sh\n"
    "make          # build @name@.so\n"
    "make test     # have it checked, and run test.sh\n"
    "make dev      # run @name@.ini; save @file@, and the running world goes on with what you saved\n"
    "make console  # look into the world and change it: get, set, step, help\n"
    "```\n"
    "\n"
    "| file | |\n"
    "| --- | --- |\n"
    "| `@file@` | the plugin |\n"
    "| `@name@.ini` | a world to try it in |\n"
    "| `test.sh` | what `make test` asks of it |\n"
    "\n"
    "For others to use it `@name@.so` is all they need: they put it beside their ini and write `plugins = ./@name@`.\n";

void new_readme(const new_plugin_t *plugin, new_text_t *text)
{
    static const char *const kinds[] = {
        [NEW_COMPONENT] = "a component",
        [NEW_SYSTEM] = "a system over a component of another plugin",
        [NEW_OWN_STORAGE] = "a component that keeps its instances itself",
    };
    char file[NEW_NAME_MAX + 8];
    snprintf(file, sizeof file, "%s.%s", plugin->name, new_source_ending(plugin));
    const char *const words[] = {
        "file", file, "kind", kinds[plugin->kind],
        NULL,
    };
    new_text_fill(text, readme, plugin, words);
}
