/* console_loading.c - what the console does with plugins, and with what they bring: load, unload, reload, use, drop.
 *
 * Every command is all or nothing: the library takes back what it could not finish.
 */
#include "console.h"

#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64 };

/* --- load, unload ------------------------------------------------------------------------------------------------ */

bool console_load_plugin(console_t *console, char *rest)
{
    bp_option_t options[OPTIONS_MAX];
    char *file, *word;
    uint32_t count = 0;
    words_end_t end = console_words_next(&rest, &file);
    if (end != WORDS_FOUND)
        return console_refuse(console, "load_plugin needs the file of a plugin, such as load_plugin ./spin.so");
    while ((end = console_words_next(&rest, &word)) == WORDS_FOUND) {
        char *equals = strchr(word, '=');
        if (count == OPTIONS_MAX)
            return console_refuse(console, "more than %d options", OPTIONS_MAX);
        if (equals == NULL || equals == word)
            return console_refuse(console, "'%s' is no option; write NAME=VALUE, in quotes where it holds blanks",
                                  word);
        *equals = '\0';
        options[count++] = (bp_option_t){.name = word, .value = equals + 1};
    }
    if (end == WORDS_UNCLOSED)
        return console_refuse_unclosed(console);
    if (bp_host_load_plugin(console->program->host, file, options, count) != BP_OK)
        return console_refuse(console, "%s", bp_host_error(console->program->host));
    bp_look_plugin_t plugin = {.struct_size = sizeof plugin};
    for (uint32_t cursor = 0; console->program->look->plugin(console->program->host, &cursor, &plugin);) {
    }
    printf("loaded %s\n", plugin.name); /* the last one */
    return true;
}

bool console_unload_plugin(console_t *console, char *rest)
{
    char *words[2];
    if (!console_take_words(console, rest, words, 2))
        return false;
    if (words[0] == NULL || (words[1] != NULL && strcmp(words[1], "--with") != 0))
        return console_refuse(console, "write unload_plugin PLUGIN, or unload_plugin PLUGIN --with to take the systems "
                                       "that need it out of their worlds too");
    bp_result_t result = words[1] == NULL ? bp_host_unload_plugin(console->program->host, words[0])
                                          : bp_host_unload_plugin_with(console->program->host, words[0]);
    return result == BP_OK ||
           console_refuse(console, "%s%s", bp_host_error(console->program->host),
                          result == BP_ERROR_STATE && words[1] == NULL ? " (unload_plugin NAME --with)" : "");
}

/* --- reload ------------------------------------------------------------------------------------------------------ */

static bool reload_ini(const console_t *console, const char *const *names, uint32_t count)
{
    const char *told;
    if (count > 1)
        return console_refuse(console, "an ini is reloaded by itself: reload %s", names[0]);
    if (bp_host_setup_again(console->program->host, names[0], &told) != BP_OK)
        return console_refuse(console, "not done anew, and nothing has changed: %s",
                              bp_host_error(console->program->host));
    printf("%s\n", told);
    return true;
}

static void hear_reload(void *data, const bp_reload_report_t *report)
{
    console_news_t *news = ((console_t *)data)->news;
    if (news == NULL || news->told)
        return;
    size_t size = strlen(report->text) + 1;
    *news = (console_news_t){.told = true, .result = report->result, .text = malloc(size)};
    if (news->text != NULL)
        memcpy(news->text, report->text, size);
}

/* Reload while the run goes on, and answer when it is done. */
static bool reload_live(console_t *console, const char *const *names, uint32_t count, bool lossy)
{
    console_news_t news = {.told = false};
    bp_host_o *host = console->program->host;
    if (!console->hears && bp_host_on_reload(host, hear_reload, console) != BP_OK)
        return console_refuse(console, "not reloaded: %s", bp_host_error(host));
    console->hears = true;
    if (bp_host_begin_reload(host, names, count, lossy ? BP_RELOAD_LOSSY : 0) != BP_OK)
        return console_refuse(console, "not reloaded, and nothing has changed: %s", bp_host_error(host));
    console->news = &news;
    while (!news.told && live_turn(console->live, NULL)) {
    }
    console->news = NULL;
    if (news.told && news.result == BP_OK)
        printf("%s\n", news.text == NULL ? "reloaded" : news.text);
    else if (news.told)
        console_refuse(console, "%s", news.text == NULL ? "not reloaded" : news.text);
    free(news.text);
    return news.told && news.result == BP_OK;
}

/* On several ranks: each of them asks, and they change together, between two of the steps that follow (bp_vote.h). The
 * result is printed then. */
static bool reload_on_ranks(console_t *console, const char *const *names, uint32_t count, bool lossy)
{
    bp_host_o *host = console->program->host;
    if (bp_host_begin_reload(host, names, count, lossy ? BP_RELOAD_LOSSY : 0) != BP_OK)
        return console_refuse(console, "not reloaded, and nothing has changed: %s", bp_host_error(host));
    printf("asked for: the ranks change together at one of the next steps\n");
    return true;
}

bool console_reload(console_t *console, char *rest)
{
    enum { MOST = 16 };
    char *words[MOST] = {NULL};
    const char *names[MOST];
    uint32_t count = 0;
    if (!console_take_words(console, rest, words, MOST))
        return false;
    for (; count < MOST && words[count] != NULL; count++)
        names[count] = words[count];
    if (count > 2 && strcmp(names[count - 2], "--back") == 0 && console->program->ranks > 1)
        return console_refuse(console, "--back: not on several ranks: a clone cannot talk to the other ranks");
    if (count > 2 && strcmp(names[count - 2], "--back") == 0)
        return console_draft(console, names, count - 2, names[count - 1], 0);
    bool lossy = count > 1 && strcmp(names[count - 1], "--lossy") == 0;
    count -= lossy;
    if (count == 0)
        return console_refuse(console, "reload which plugin, or ini? `plugins` lists them");
    size_t length = strlen(names[0]);
    bool is_ini = length > 4 && strcmp(names[0] + length - 4, ".ini") == 0;
    if (console->program->ranks > 1)
        return is_ini ? console_refuse(console, "an ini is for all ranks from their start; begin them anew with it")
                      : reload_on_ranks(console, names, count, lossy);
    if (is_ini)
        return reload_ini(console, names, count);
    bp_reload_report_t report = {.struct_size = sizeof report};
    bool follows = console->program->follows;
    console->program->follows = false; /* the report is printed below, as the answer */
    if (console->live != NULL && !console->in_clone) {
        bool done = reload_live(console, names, count, lossy);
        console->program->follows = follows;
        return done;
    }
    bp_result_t result =
        (lossy ? bp_host_reload_lossy : bp_host_reload)(console->program->host, names, count, &report);
    console->program->follows = follows;
    if (result != BP_OK)
        return console_refuse(console, "not reloaded, and nothing has changed: %s",
                              bp_host_error(console->program->host));
    printf("%s%s\n", console->in_clone ? "in the clone, and not in this host: " : "", report.text);
    return true;
}

/* --- use, drop ---------------------------------------------------------------------------------------------------- */

/* The world of a name, or the only one. NULL with a complaint. */
static bp_world_o *find_world(const console_t *console, const char *name)
{
    const bp_world_api *api = console->program->api->world;
    bp_host_o *host = console->program->host;
    bp_world_o *world = name != NULL ? api->find(host, name) : api->at(host, 0);
    if (name == NULL && world != NULL && api->at(host, 1) != NULL) {
        console_refuse(console, "in which world? `worlds` lists them");
        return NULL;
    }
    if (world == NULL)
        console_refuse(console, "no world '%s'; `worlds` lists them", name != NULL ? name : "");
    return world;
}

/* A name is a system's or a component's, never both. */
static bool use_or_drop(console_t *console, char *rest, bool use)
{
    const bp_world_api *api = console->program->api->world;
    char *words[2] = {NULL, NULL};
    if (!console_take_words(console, rest, words, 2))
        return false;
    if (words[0] == NULL)
        return use ? console_refuse(console, "use which component or system?") : console_drop_draft(console);
    bp_world_o *world = find_world(console, words[1]);
    if (world == NULL)
        return false;
    bp_result_t result = use ? api->use_system(world, words[0]) : api->drop_system(world, words[0]);
    if (result == BP_ERROR_NOT_FOUND)
        result = use ? api->use_component(world, words[0]) : api->drop_component(world, words[0]);
    if (result == BP_ERROR_NOT_FOUND && use)
        return console_refuse(console, "no plugin brings a component or a system '%s'; `plugins` tells what they bring",
                              words[0]);
    if (result != BP_OK)
        return console_refuse(console, "%s", bp_host_error(console->program->host));
    printf("world %s %s %s\n", api->name(world), use ? "uses" : "has dropped", words[0]);
    return true;
}

bool console_use(console_t *console, char *rest)
{
    return use_or_drop(console, rest, true);
}

bool console_drop(console_t *console, char *rest)
{
    return use_or_drop(console, rest, false);
}
