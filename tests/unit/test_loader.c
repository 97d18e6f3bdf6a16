/* test_loader.c - plugins brought in, paused, copied and taken out, seen from inside their host: what a refusal says,
 * which verbs are called, what becomes of the copies of files.
 */
#include "../suites.h"
#include "support.h"

#include "engine/host.h"
#include "os/files.h"
#include "os/os.h"
#include "plugin/loader.h"

#include <bp_loader.h>
#include <bp_task.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char companion[] = TEST_FIXTURE_DIR "/companion" TEST_SO;
static rig_t rig;

/* --- a plugin that refuses ---------------------------------------------------------------------------------------- */

/* What each verb of `moody` answers and says; what has been called. */
static struct {
    bp_result_t load, resume;
    const char *load_says, *resume_says;
    bool aside, attended; /* as `pause` has found its plugin */
    bool posts;           /* `load` posts a task */
    char called[64];
} mood;

static plugin_t *paused; /* the plugin that a test pauses */

static bp_result_t answer(const bp_plugin_t *plugin, const char *verb, bp_result_t result, const char *says)
{
    strcat(mood.called, verb);
    return says != NULL ? plugin->api->error->set(plugin->host, result, says) : result;
}

static bp_result_t moody_load(bp_plugin_t *plugin)
{
    if (mood.posts)
        ck_assert_int_eq(posts_put(&rig.host->loader.posts, (plugin_t *)(void *)plugin, "x", NULL, 0), BP_OK);
    return answer(plugin, "load ", mood.load, mood.load_says);
}

static void moody_unload(bp_plugin_t *plugin)
{
    answer(plugin, "unload ", BP_ERROR_IO, "its end says something else");
}

static void moody_pause(bp_plugin_t *plugin, uint32_t reason)
{
    char verb[16];
    snprintf(verb, sizeof verb, "pause %u ", reason);
    answer(plugin, verb, BP_OK, NULL);
    mood.aside = paused != NULL && plugin_is_aside(paused);
    mood.attended = paused != NULL && paused->attended;
}

static bp_result_t moody_resume(bp_plugin_t *plugin, uint32_t reason)
{
    char verb[16];
    snprintf(verb, sizeof verb, "resume %u ", reason);
    return answer(plugin, verb, mood.resume, mood.resume_says);
}

static const bp_component_i moody_components[] = {{.name = "moody"}};
static const bp_field_t moody_options[] = {{.name = "number", .type = BP_U8},
                                           {.name = "file", .type = BP_STRING, .flags = BP_FIELD_PATH}};
static const bp_plugin_head_t moody =
    BP_PLUGIN_HEAD("moody", (&(const bp_plugin_desc_t){.components = BP_LIST(moody_components),
                                                       .options = BP_LIST(moody_options),
                                                       .load = moody_load,
                                                       .unload = moody_unload,
                                                       .pause = moody_pause,
                                                       .resume = moody_resume}));
static const bp_plugin_head_t plain =
    BP_PLUGIN_HEAD("plain", (&(const bp_plugin_desc_t){.version = "1.5", .doc = "has no verbs"}));
static const bp_plugin_head_t eager = BP_PLUGIN_HEAD("eager", (&(const bp_plugin_desc_t){.load = moody_load}));
static const bp_plugin_head_t stubborn =
    BP_PLUGIN_HEAD("stubborn", (&(const bp_plugin_desc_t){.resume = moody_resume}));

/* What a plugin can bring beside components: tables, loaders, a listener to deaths. */
typedef struct numbers_t {
    uint32_t struct_size, version;
    uint64_t (*number)(void);
} numbers_t;

static uint64_t number(void)
{
    return 42;
}

static void plugin_died(bp_plugin_t *plugin, const bp_death_t *batch)
{
    (void)plugin, (void)batch;
}

static bp_result_t open_nothing(bp_plugin_t *plugin, const char *path, const char *bytes, size_t size,
                                const bp_plugin_head_t **head, void **content)
{
    (void)plugin, (void)path, (void)bytes, (void)size, (void)head, (void)content;
    return BP_ERROR_FAILED;
}

static uint32_t tasks_run;

static void count_task(bp_plugin_t *plugin, const void *bytes, size_t size)
{
    (void)plugin, (void)bytes, (void)size;
    tasks_run++;
}

static const bp_task_t tasks[] = {{.name = "count", .run = count_task}};
static const numbers_t numbers = {.number = number};
static const bp_table_t tables[] = {BP_TABLE("first_numbers", 1, numbers, "c"),
                                    BP_TABLE("second_numbers", 1, numbers, "c")};
static const bp_loader_t loaders[] = {{.ending = "aa", .open = open_nothing},
                                      {.ending = "fifteen_letters", .open = open_nothing}};
static const bp_plugin_deaths_i deaths = {.died = plugin_died, .which = BP_DEATHS_WITH, .component = "moody"};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_deaths", deaths)}};
static const bp_plugin_head_t rich =
    BP_PLUGIN_HEAD("rich", (&(const bp_plugin_desc_t){.version = "2.5",
                                                      .doc = "brings much",
                                                      .tables = BP_LIST(tables),
                                                      .loaders = BP_LIST(loaders),
                                                      .tasks = BP_LIST(tasks),
                                                      .extensions = BP_LIST(extensions)}));
static const bp_plugin_head_t *const plugins[] = {&plain, &moody, &eager, &stubborn, &rich};

static void begin(void)
{
    memset(&mood, 0, sizeof mood);
    paused = NULL;
    rig_init(&rig);
    rig_open_with(&rig, plugins, COUNT(plugins));
}

static void end(void)
{
    rig_close(&rig);
}

static plugin_t *plugin_at(const rig_t *of, uint32_t at)
{
    ck_assert_uint_lt(at, of->host->loader.plugins.count);
    return of->host->loader.plugins.items[at];
}

/* The sentence of something earlier is never the reason. */
START_TEST(the_reason_of_a_refusal_is_what_the_plugin_says_or_that_it_says_nothing)
{
    static const struct {
        bp_result_t load, resume;
        const char *load_says, *resume_says, *sentence, *called;
    } cases[] = {
        {BP_ERROR_IO, BP_OK, "no key", NULL, "moody: its load failed: no key", "load "},
        {BP_ERROR_IO, BP_OK, NULL, NULL, "moody: its load failed: it gave no reason (code 7)", "load "},
        {BP_OK, BP_ERROR_IO, NULL, "no spring", "moody: its resume failed: no spring", "load resume 0 unload "},
        {BP_OK, BP_ERROR_IO, NULL, NULL, "moody: its resume failed: it gave no reason (code 7)",
         "load resume 0 unload "},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        char sentence[128];
        begin();
        uint32_t roster = rig.host->loader.plugins.roster;
        FAILS(rig.host, BP_ERROR_NOT_FOUND, "there is no", bp_host_load_plugin(rig.host, "nothing/there", NULL, 0));
        mood.load = cases[i].load;
        mood.resume = cases[i].resume;
        mood.load_says = cases[i].load_says;
        mood.resume_says = cases[i].resume_says;
        ck_assert_int_eq(bp_host_load_plugin(rig.host, "moody", NULL, 0), BP_ERROR_IO);
        const char *code = strchr(cases[i].sentence, '7');
        snprintf(sentence, sizeof sentence, "%s", cases[i].sentence);
        if (code != NULL)
            snprintf(sentence, sizeof sentence, "%.*s%d%s", (int)(code - cases[i].sentence), cases[i].sentence,
                     BP_ERROR_IO, code + 1);
        ck_assert_str_eq(bp_host_error(rig.host), sentence);
        ck_assert_str_eq(mood.called, cases[i].called);
        ck_assert_uint_eq(rig.host->loader.plugins.count, 0);
        ck_assert_uint_ne(rig.host->loader.plugins.roster, roster);
        ck_assert_uint_eq(rig.host->loader.plugins.calling, 0);
        ck_assert_ptr_null(registry_component(&rig.host->registry, "moody"));
        mood.load = mood.resume = BP_OK;
        mood.called[0] = '\0';
        WORKS(rig.host, bp_host_load_plugin(rig.host, "moody", NULL, 0));
        roster = rig.host->loader.plugins.roster;
        WORKS(rig.host, bp_host_unload_plugin(rig.host, "moody"));
        ck_assert_uint_ne(rig.host->loader.plugins.roster, roster);
        ck_assert_uint_eq(rig.host->loader.plugins.calling, 0);
        ck_assert_str_eq(mood.called, "load resume 0 pause 4 unload ");
        end();
    }
}
END_TEST

/* The sentence is that of the last call that failed, or there is none. */
START_TEST(a_plugin_that_loads_is_not_told_to_have_failed)
{
    char before[128];
    begin();
    mood.load = BP_ERROR_IO;
    ck_assert_int_eq(bp_host_load_plugin(rig.host, "eager", NULL, 0), BP_ERROR_IO);
    snprintf(before, sizeof before, "%s", bp_host_error(rig.host));
    mood.load = BP_OK;
    WORKS(rig.host, bp_host_load_plugin(rig.host, "eager", NULL, 0));
    const char *after = bp_host_error(rig.host);
    EXPECT(after[0] == '\0' || strcmp(after, before) == 0, "%s", after);
    ck_assert_str_eq(mood.called, "load load ");
    end();
}
END_TEST

/* Also where there is nothing to be undone by the plugin. */
START_TEST(a_plugin_without_unload_that_does_not_resume_is_refused)
{
    begin();
    mood.resume = BP_ERROR_IO;
    mood.resume_says = "no spring";
    ck_assert_int_eq(bp_host_load_plugin(rig.host, "stubborn", NULL, 0), BP_ERROR_IO);
    ck_assert_str_eq(bp_host_error(rig.host), "stubborn: its resume failed: no spring");
    ck_assert_uint_eq(rig.host->loader.plugins.count, 0);
    end();
}
END_TEST

START_TEST(what_a_refused_plugin_has_posted_is_dropped)
{
    begin();
    mood.posts = true;
    mood.load = BP_ERROR_IO;
    ck_assert_int_eq(bp_host_load_plugin(rig.host, "moody", NULL, 0), BP_ERROR_IO);
    ck_assert_uint_eq(posts_count(&rig.host->loader.posts), 1);
    ck_assert_ptr_null(rig.host->loader.posts.first);
    end();
}
END_TEST

/* The list of posts goes on where those at its end, at its beginning or all have been dropped. */
START_TEST(posts_of_other_plugins_are_carried_out_in_order_where_some_are_dropped)
{
    static const char *const orders[] = {"rm", "mr", "rmr", "mrm", "m", "rr", "mmrmm"};
    begin();
    WORKS(rig.host, bp_host_load_plugin(rig.host, "moody", NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "rich", NULL, 0));
    posts_t *posts = &rig.host->loader.posts;
    for (uint32_t i = 0; i < COUNT(orders); i++) {
        uint32_t stays = 1;
        for (const char *at = orders[i]; *at != '\0'; at++) {
            bool rich_one = *at == 'r';
            stays += rich_one;
            ck_assert_int_eq(posts_put(posts, plugin_at(&rig, rich_one), rich_one ? "count" : "x", NULL, 0), BP_OK);
        }
        posts_drop(posts, plugin_at(&rig, 0), 0, POSTS_END, NULL);
        ck_assert_int_eq(posts_put(posts, plugin_at(&rig, 1), "count", NULL, 0), BP_OK);
        tasks_run = 0;
        ck_assert_uint_eq(posts_run(posts), stays);
        ck_assert_uint_eq(tasks_run, stays);
        ck_assert_uint_eq(posts_run(posts), 0);
        ck_assert_uint_eq(atomic_load(&posts->bytes), 0);
    }
    end();
}
END_TEST

/* With each request for memory refused in turn. */
START_TEST(a_plugin_that_is_linked_in_lacks_memory)
{
    uint64_t refused = 1;
    begin();
    for (uint64_t n = 1; refused != 0; n++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
        bp_result_t result = bp_host_load_plugin(rig.host, "moody", NULL, 0);
        refused = rig.heap.requests >= rig.heap.refuse_first;
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        ck_assert_int_eq(result, refused != 0 ? BP_ERROR_MEMORY : BP_OK);
        ck_assert_uint_eq(rig.host->loader.plugins.count, refused != 0 ? 0 : 1);
        ck_assert_ptr_eq(strstr(mood.called, "load "), refused != 0 ? NULL : mood.called);
    }
    end();
}
END_TEST

/* Texts and lists are the host's own, so that they can be read when the plugin's image has gone. */
START_TEST(what_is_known_of_a_plugin_lies_in_the_host)
{
    begin();
    WORKS(rig.host, bp_host_load_plugin(rig.host, "plain", NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "rich", NULL, 0));
    const plugin_t *p = plugin_at(&rig, 1);
    ck_assert_str_eq(p->name, "rich");
    ck_assert_str_eq(p->version, "2.5");
    ck_assert_str_eq(p->doc, "brings much");
    ck_assert(p->name != rich.name && p->version != rich.desc->version && p->doc != rich.desc->doc);
    ck_assert_ptr_eq(p->head.name, p->name);
    ck_assert_ptr_eq(p->head.desc, &p->desc);
    ck_assert_ptr_eq(p->desc.version, p->version);
    ck_assert_ptr_eq(p->desc.doc, p->doc);
    ck_assert_ptr_eq(p->handed.name, p->name);
    ck_assert_ptr_eq(atomic_load(&p->account)->name, p->name);
    ck_assert(p->head.magic == rich.magic && p->head.abi_major == rich.abi_major);
    ck_assert(p->desc.tables.items != tables && p->desc.loaders.items != loaders);
    ck_assert_ptr_null(p->deaths.component);
    ck_assert_ptr_null(p->deaths.field);
    ck_assert_str_eq(p->asked_deaths.component, "moody");
    ck_assert_uint_eq(p->asked_deaths.which, BP_DEATHS_WITH);
    for (uint32_t i = 0; i < COUNT(tables); i++) {
        const numbers_t *found = rig.api->registry->find(rig.host, tables[i].name, 1);
        ck_assert(found != NULL && found != &numbers && found->number() == 42);
    }
    end();
}
END_TEST

/* Slashes name the same folder, however many there are. */
START_TEST(a_library_of_a_nearly_equal_name_is_told_where_there_is_one_and_its_path_has_room)
{
    static const char slip[] = "compnion";
    char path[2 * FILE_PATH_MAX];
    text_t hint;
    ck_assert_str_eq(library_near(TEST_FIXTURE_DIR "/qwxyzzyqwx", &hint), "");
#if defined(_WIN32)
    const size_t least = FILE_PATH_MAX; /* the system has no folders of so long a path */
#else
    const size_t least = FILE_PATH_MAX - 1;
#endif
    for (size_t room = least; room <= FILE_PATH_MAX; room++) {
        memset(path, '/', sizeof path);
        memcpy(path, TEST_FIXTURE_DIR, strlen(TEST_FIXTURE_DIR));
        memcpy(path + room, slip, sizeof slip);
        EXPECT((library_near(path, &hint)[0] == '\0') == (room == FILE_PATH_MAX), "%u", (uint32_t)room);
    }
}
END_TEST

/* By what stands behind the last point of a file's name, in whichever folder. */
START_TEST(a_file_is_opened_by_the_plugin_that_has_said_its_ending)
{
    static const struct { const char *path; int loader; } cases[] = {
        {"x.aa", 0}, {"folder/x.fifteen_letters", 1}, {"x.fifteen_letters.aa", 0}, {"x.aa.b", -1}, {"x.aa/file", -1},
        {"x.aa\\file", -1},
        {"x.aa/y.fifteen_letters", 1}, {"aa", -1}, {".aa", 0}, {"x.", -1}, {"", -1}};
    begin();
    WORKS(rig.host, bp_host_load_plugin(rig.host, "plain", NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "rich", NULL, 0));
    const plugin_t *p = plugin_at(&rig, 1);
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        plugin_t *opener = NULL;
        const bp_loader_t *kind = loader_kind(&rig.host->loader, cases[i].path, &opener);
        const bp_loader_t *wanted = cases[i].loader < 0 ? NULL : &p->desc.loaders.items[cases[i].loader];
        EXPECT(kind == wanted && (opener == p) == (wanted != NULL), "%s", cases[i].path);
        EXPECT(loader_kind(&rig.host->loader, cases[i].path, NULL) == wanted, "%s", cases[i].path);
    }
    end();
}
END_TEST

START_TEST(a_path_in_an_option_that_is_too_long_is_refused)
{
    static char base[5000];
    const bp_option_t option = {"file", "a.txt", NULL, base};
    begin();
    memset(base, 'x', sizeof base - 1);
    base[sizeof base - 3] = '/';
    ck_assert_int_eq(bp_host_load_plugin(rig.host, "moody", &option, 1), BP_ERROR_LIMIT);
    ck_assert_str_eq(bp_host_error(rig.host), "moody: option 'file' of plugin 'moody': the path is too long");
    end();
}
END_TEST

/* An option with a place says where it stands; what comes afterwards begins with the plugin's name again. */
START_TEST(a_refusal_begins_with_the_place_of_an_option_or_with_the_plugin)
{
    const bp_option_t placed = {"number", "300", "game.ini:3", NULL}, bare = {"number", "300", NULL, NULL};
    begin();
    ck_assert_int_eq(bp_host_load_plugin(rig.host, "moody", &placed, 1), BP_ERROR_TYPE);
    const char *sentence = bp_host_error(rig.host);
    ck_assert_msg(strncmp(sentence, "game.ini:3: option 'number' of plugin 'moody': ", 47) == 0, "%s", sentence);
    ck_assert_int_eq(bp_host_load_plugin(rig.host, "moody", &bare, 1), BP_ERROR_TYPE);
    ck_assert_msg(strncmp(sentence, "moody: option 'number' of plugin 'moody': ", 42) == 0, "%s", sentence);
    end();
}
END_TEST

/* --- paused ------------------------------------------------------------------------------------------------------- */

/* `pause` is called, as of a plugin that is sound, since its threads may run; then all is as it was. */
START_TEST(a_plugin_that_is_set_aside_is_paused_and_stays_set_aside)
{
    for (uint32_t attended = 0; attended < 2; attended++) {
        begin();
        WORKS(rig.host, bp_host_load_plugin(rig.host, "moody", NULL, 0));
        paused = plugin_at(&rig, 0);
        plugin_set_aside(paused);
        paused->attended = attended != 0;
        mood.called[0] = '\0';
        mood.aside = mood.attended = true;
        loader_pause(paused, BP_PAUSE_RELOAD);
        ck_assert(!mood.aside && !mood.attended);
        ck_assert(plugin_is_aside(paused));
        ck_assert_int_eq(paused->attended, attended != 0);
        loader_pause(paused, BP_PAUSE_RELOAD);
        WORKS(rig.host, loader_resume(&rig.host->loader, paused, BP_PAUSE_RELOAD));
        ck_assert(!paused->running);
        plugin_trust(paused);
        WORKS(rig.host, loader_resume(&rig.host->loader, paused, BP_PAUSE_RELOAD));
        WORKS(rig.host, loader_resume(&rig.host->loader, paused, BP_PAUSE_RELOAD));
        loader_pause(paused, BP_PAUSE_RELOAD);
        ck_assert_uint_eq(rig.host->loader.plugins.calling, 0);
        char wanted[64];
        snprintf(wanted, sizeof wanted, "pause %u resume %u pause %u ", BP_PAUSE_RELOAD, BP_PAUSE_RELOAD,
                 BP_PAUSE_RELOAD);
        ck_assert_str_eq(mood.called, wanted);
        end();
    }
}
END_TEST

/* A plugin that does not resume is told in the log, and the sentence of the call under way stays. */
START_TEST(a_resume_that_fails_is_told_and_changes_no_sentence)
{
    begin();
    WORKS(rig.host, bp_host_load_plugin(rig.host, "moody", NULL, 0));
    plugin_t *plugin = plugin_at(&rig, 0);
    loader_pause_all(&rig.host->loader, BP_PAUSE_RELOAD);
    ck_assert(!plugin->running);
    error_set(&rig.host->base.error, BP_ERROR_IO, "of the call under way");
    mood.resume = BP_ERROR_FAILED;
    mood.resume_says = "no spring";
    loader_resume_all(&rig.host->loader, BP_PAUSE_RELOAD);
    ck_assert(!plugin->running);
    ck_assert_str_eq(bp_host_error(rig.host), "of the call under way");
    ck_assert_msg(strstr(rig.log.text, "its resume failed: no spring") != NULL, "%s", rig.log.text);
    mood.resume_says = NULL;
    ck_assert_int_eq(loader_resume(&rig.host->loader, plugin, BP_PAUSE_RELOAD), BP_ERROR_FAILED);
    ck_assert_msg(strstr(bp_host_error(rig.host), "its resume failed: it gave no reason (code ") != NULL, "%s",
                  bp_host_error(rig.host));
    rig.log.text[0] = '\0';
    rig.log.count = 0;
    mood.resume = BP_OK;
    mood.resume_says = NULL;
    loader_resume_all(&rig.host->loader, BP_PAUSE_RELOAD);
    ck_assert(plugin->running);
    end();
}
END_TEST

/* In a copy of the process, and in a clone, plugins run only where they are told that it is a copy. */
START_TEST(on_trial_a_plugin_is_resumed_for_a_copy_alone)
{
    for (uint32_t clone = 0; clone < 2; clone++) {
        begin();
        loader_t *loader = &rig.host->loader;
        loader->on_trial = clone == 0;
        loader->plugins.clone = clone != 0;
        WORKS(rig.host, bp_host_load_plugin(rig.host, "moody", NULL, 0));
        char wanted[64];
        snprintf(wanted, sizeof wanted, "load resume %u ", BP_PAUSE_COPY);
        ck_assert_str_eq(mood.called, wanted);
        loader_pause(plugin_at(&rig, 0), BP_PAUSE_RELOAD);
        WORKS(rig.host, loader_resume(loader, plugin_at(&rig, 0), BP_PAUSE_RELOAD));
        ck_assert(!plugin_at(&rig, 0)->running);
        WORKS(rig.host, loader_resume(loader, plugin_at(&rig, 0), BP_PAUSE_COPY));
        ck_assert(plugin_at(&rig, 0)->running);
        loader->on_trial = loader->plugins.clone = false;
        end();
    }
}
END_TEST

/* --- files and copies --------------------------------------------------------------------------------------------- */

static bool same_stamp(const file_stamp_t *a, const file_stamp_t *b)
{
    return a->size == b->size && a->written == b->written && a->id == b->id;
}

/* Also where there is no guard. */
START_TEST(a_library_is_closed_when_its_plugin_goes)
{
    begin();
    WORKS(rig.host, bp_host_load_plugin(rig.host, companion, NULL, 0));
    const void *image = plugin_at(&rig, 0)->image_begin;
    ck_assert(os_can_read(image, 1));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "companion"));
    ck_assert(!os_can_read(image, 1));
    end();
}
END_TEST

/* The copy of a plugin's file goes with the plugin; on trial it is another process's, and stays. */
START_TEST(a_copy_of_a_file_goes_with_its_plugin)
{
    char path[1024], *copy;
    file_stamp_t stamp;
    begin();
    loader_t *loader = &rig.host->loader;
    loader->copies = true;
    WORKS(rig.host, bp_host_load_plugin(rig.host, companion, NULL, 0));
    plugin_t *plugin = plugin_at(&rig, 0);
    ck_assert(file_stamp(companion, &stamp) && same_stamp(&stamp, &plugin->stamp));
    ck_assert_str_eq(plugin->path, companion);
    ck_assert_str_eq(loader_file(plugin), companion);
    ck_assert_ptr_nonnull(plugin->copy);
    snprintf(path, sizeof path, "%s", plugin->copy);
    ck_assert(file_exists(path));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "companion"));
    ck_assert(!file_exists(path));

    WORKS(rig.host, loader_copy(loader, companion, &copy));
    ck_assert_str_ne(copy, companion);
    loader->on_trial = true;
    loader_remove_copy(loader, copy);
    ck_assert(file_exists(copy));
    char *same;
    WORKS(rig.host, loader_copy(loader, copy, &same));
    ck_assert_str_eq(same, copy);
    memory_free_text(&loader->memory, same);
    rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + 1;
    FAILS(rig.host, BP_ERROR_MEMORY, "out of memory while trying a plugin", loader_copy(loader, copy, &same));
    rig.heap.refuse_first = 0;
    loader->on_trial = false;
    loader_remove_copy(loader, copy);
    ck_assert(!file_exists(copy));
    memory_free_text(&loader->memory, copy);
    end();
}
END_TEST

/* --- versions ----------------------------------------------------------------------------------------------------- */

static bool is_empty(const plugin_t *version)
{
    static const plugin_t empty;
    return memcmp(version, &empty, sizeof empty) == 0;
}

START_TEST(a_version_is_opened_beside_the_plugin_and_changes_places_with_it)
{
    static plugin_t version;
    const bp_option_t wrong = {"none", "1", NULL, NULL};
    char sentence[512], path[1024], *copy;
    begin();
    loader_t *loader = &rig.host->loader;
    WORKS(rig.host, bp_host_load_plugin(rig.host, companion, NULL, 0));
    plugin_t *plugin = plugin_at(&rig, 0);
    WORKS(rig.host, loader_copy(loader, companion, &copy));

    memset(&version, 0x5a, sizeof version);
    plugin->coming = &wrong;
    plugin->coming_count = 1;
    loader->located = true; /* of an option that was refused before */
    ck_assert_int_eq(loader_open_version(loader, plugin, copy, &version), BP_ERROR_NOT_FOUND);
    snprintf(sentence, sizeof sentence, "%s: plugin 'companion' has no option 'none' (it has none)", companion);
    ck_assert_str_eq(bp_host_error(rig.host), sentence);
    ck_assert(is_empty(&version));
    ck_assert(file_exists(copy));

    memset(&version, 0x5a, sizeof version);
    plugin->coming = NULL;
    plugin->coming_count = 0;
    WORKS(rig.host, loader_open_version(loader, plugin, copy, &version));
    ck_assert_ptr_eq(version.copy, copy);
    snprintf(path, sizeof path, "%s", copy);
    void *first = plugin->library, *second = version.library;
    memory_t *of_first = atomic_load(&plugin->account), *of_second = atomic_load(&version.account);
    ck_assert(first != second && of_first != of_second);
    for (uint32_t turn = 0; turn < 2; turn++) {
        uint32_t roster = loader->plugins.roster;
        loader_exchange(plugin, &version);
        ck_assert_uint_ne(loader->plugins.roster, roster);
        ck_assert_ptr_eq(plugin->library, turn == 0 ? second : first);
        ck_assert_ptr_eq(version.library, turn == 0 ? first : second);
        ck_assert_ptr_eq(atomic_load(&plugin->account), turn == 0 ? of_second : of_first);
        ck_assert_ptr_eq(atomic_load(&version.account), turn == 0 ? of_first : of_second);
        ck_assert_ptr_eq(plugin->head.desc, &plugin->desc);
        ck_assert_ptr_eq(version.head.desc, &version.desc);
    }
    loader_close_version(loader, &version);
    ck_assert(is_empty(&version));
    ck_assert(!file_exists(path));
    end();
}
END_TEST

/* --- like another host -------------------------------------------------------------------------------------------- */

/* Equal texts in places of their own, or none on both sides. */
static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : a != b && strcmp(a, b) == 0;
}

/* Load what `rig` has loaded into a second host, with each request for memory refused in turn. What is said goes to
 * `said`, each sentence once in a row. */
static void load_like(bool copies, char *said, size_t size)
{
    const plugin_t *original = plugin_at(&rig, 0);
    char last[512] = "";
    rig_t second;
    rig_init(&second);
    rig_open_with(&second, plugins, COUNT(plugins));
    second.host->loader.copies = copies;
    said[0] = '\0';
    for (uint64_t n = 1; n < 500; n++) {
        second.heap.refuse_first = second.heap.refuse_last = second.heap.requests + n;
        bp_result_t result = loader_load_like(&second.host->loader, original);
        bool asked = second.heap.requests >= second.heap.refuse_first;
        second.heap.refuse_first = second.heap.refuse_last = 0;
        if (!asked) {
            WORKS(second.host, result);
            break;
        }
        EXPECT(result == BP_ERROR_MEMORY, "request %d: %d: %s", (int)n, result, bp_host_error(second.host));
        ck_assert_uint_eq(second.host->loader.plugins.count, 0);
        if (strcmp(last, bp_host_error(second.host)) != 0)
            snprintf(said + strlen(said), size - strlen(said), "%s\n", bp_host_error(second.host));
        snprintf(last, sizeof last, "%s", bp_host_error(second.host));
    }
    const plugin_t *made = plugin_at(&second, 0);
    ck_assert_str_eq(made->name, original->name);
    ck_assert_str_eq(made->version, original->version);
    ck_assert_str_eq(made->path, original->path);
    ck_assert(same_stamp(&made->stamp, &original->stamp));
    ck_assert_uint_eq(made->image, original->image);
    ck_assert_uint_eq(made->given_count, original->given_count);
    for (uint32_t i = 0; i < made->given_count; i++) {
        const bp_option_t *a = &made->given[i], *b = &original->given[i];
        EXPECT(same_text(a->name, b->name) && same_text(a->value, b->value) && same_text(a->origin, b->origin) &&
               same_text(a->base, b->base), "option %u", i);
    }
    if (made->given_count > 0) {
        ck_assert_uint_eq(made->handed.options[0].u8, 6);
        ck_assert_str_eq(made->handed.options[1].string, "b/a.txt");
    }
    ck_assert_int_eq(made->copy != NULL, original->copy != NULL);
    EXPECT(made->copy == NULL || strcmp(made->copy, original->copy) != 0, "both hosts have one copy");
    EXPECT(made->library == NULL || (made->library == original->library) == (original->copy == NULL),
           "the image is that of the other host, or is not");
    rig_close(&second);
}

START_TEST(what_another_host_has_loaded_is_loaded_like_it_or_refused_with_a_sentence)
{
    static char said[8192];
    static const bp_option_t given[] = {
        {"number", "5", NULL, NULL}, {"file", "a.txt", "b/game.ini:3", "b/game.ini"}, {"number", "6", NULL, NULL}};
    static const char first[] = "out of memory while loading a plugin\n"
                                "companion: out of memory while loading a plugin\ncompanion: ";
    static const char of_copies[] = TEST_SO ": out of memory while reading it\n"
                                    "companion: out of memory while copying a plugin\n"
                                    "companion: out of memory while loading it\n";
    begin();
    WORKS(rig.host, bp_host_load_plugin(rig.host, "moody", given, 3));
    load_like(false, said, sizeof said);
    ck_assert_str_eq(said, "out of memory while loading a plugin\n"
                           "moody: out of memory while loading a plugin\n"
                           "moody: out of memory while loading it\n"
                           "moody: out of memory while copying what it brings\n"
                           "moody: out of memory while loading it\n"
                           "moody: out of memory while reading its options\n"
                           "moody: its option list: out of memory while copying a field's declaration\n"
                           "moody: b/game.ini:3: out of memory while reading options\n"
                           "moody: component 'moody': out of memory while registering a component\n");
    end();
    for (uint32_t copies = 0; copies < 2; copies++) {
        begin();
        rig.host->loader.copies = copies != 0;
        WORKS(rig.host, bp_host_load_plugin(rig.host, companion, NULL, 0));
        plugin_at(&rig, 0)->image = 77;
        load_like(copies != 0, said, sizeof said);
        EXPECT(strncmp(said, first, strlen(first)) == 0, "%s", said);
        EXPECT(strstr(said, of_copies) != NULL || copies == 0, "%s", said);
        end();
    }
}
END_TEST

Suite *loader_suite(void)
{
    Suite *suite = suite_create("loader");
    TCase *all = add_case(suite, "loader", NULL, NULL, 60);
    tcase_add_test(all, the_reason_of_a_refusal_is_what_the_plugin_says_or_that_it_says_nothing);
    tcase_add_test(all, a_plugin_that_loads_is_not_told_to_have_failed);
    tcase_add_test(all, a_plugin_without_unload_that_does_not_resume_is_refused);
    tcase_add_test(all, what_a_refused_plugin_has_posted_is_dropped);
    tcase_add_test(all, posts_of_other_plugins_are_carried_out_in_order_where_some_are_dropped);
    tcase_add_test(all, a_plugin_that_is_linked_in_lacks_memory);
    tcase_add_test(all, what_is_known_of_a_plugin_lies_in_the_host);
    tcase_add_test(all, a_library_of_a_nearly_equal_name_is_told_where_there_is_one_and_its_path_has_room);
    tcase_add_test(all, a_file_is_opened_by_the_plugin_that_has_said_its_ending);
    tcase_add_test(all, a_path_in_an_option_that_is_too_long_is_refused);
    tcase_add_test(all, a_refusal_begins_with_the_place_of_an_option_or_with_the_plugin);
    tcase_add_test(all, a_plugin_that_is_set_aside_is_paused_and_stays_set_aside);
    tcase_add_test(all, a_resume_that_fails_is_told_and_changes_no_sentence);
    tcase_add_test(all, on_trial_a_plugin_is_resumed_for_a_copy_alone);
    tcase_add_test(all, a_library_is_closed_when_its_plugin_goes);
    tcase_add_test(all, a_copy_of_a_file_goes_with_its_plugin);
    tcase_add_test(all, a_version_is_opened_beside_the_plugin_and_changes_places_with_it);
    tcase_add_test(all, what_another_host_has_loaded_is_loaded_like_it_or_refused_with_a_sentence);
    return suite;
}
