/* setup.c - doing what an ini file says: the functions of backplane.h about configuration.
 *
 * Three passes: every section and key is checked against what is known, with the nearest name where it is not; then
 * plugins are loaded and worlds made; then entities are spawned and the steps settled. On a failure all that this file
 * brought is taken back, newest first, and the host is as it was. docs/config.md is the manual.
 */
#include "setup.h"

#include "../base/error.h"
#include "../base/file.h"
#include "../os/files.h"
#include "../os/os.h"
#include "../plugin/loader.h"

#include <stdio.h>
#include <stdlib.h>

/* --- [host] and plugins ------------------------------------------------------------------------------------------- */

/* "512 MiB" as bytes. */
static bp_result_t read_history(setup_t *s)
{
    static const struct { const char *name; uint32_t shift; } units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
    const ini_entry_t *entry = setup_find_entry(s, "host", "history");
    char *end;
    s->history = 0;
    if (entry == NULL)
        return BP_OK;
    unsigned long long count = strtoull(entry->value, &end, 10);
    bool digits = entry->value[0] >= '0' && entry->value[0] <= '9';
    end += strspn(end, " ");
    for (uint32_t i = 0; digits && i < 3; i++) {
        if (strcmp(end, units[i].name) == 0 && count <= UINT64_MAX >> 34) {
            s->history = (uint64_t)count << units[i].shift;
            return BP_OK;
        }
    }
    if (digits && count == 0 && *end == '\0')
        return BP_OK;
    return setup_at_line(s, entry->line, error_set(s->error, BP_ERROR_SYNTAX,
                                                   "history is how much memory the past may take: 512 MiB, or 0"));
}

/* Seconds from keyframe to keyframe. */
static bp_result_t read_keyframes(setup_t *s)
{
    const ini_entry_t *entry = setup_find_entry(s, "host", "keyframe_every");
    bp_value_t value = {.f64 = 1};
    bp_result_t result = setup_read_value(s, entry, BP_F64, &value);
    if (result == BP_OK && !(value.f64 >= 0 && value.f64 <= 86400))
        result = setup_at_line(s, entry->line, error_set(s->error, BP_ERROR_RANGE,
                                                         "keyframe_every is 0 to 86400 seconds, not %s", entry->value));
    s->keyframe_ms = (uint32_t)(value.f64 * 1000);
    return result;
}

static bp_result_t read_audit(setup_t *s)
{
    const ini_entry_t *entry = setup_find_entry(s, "host", "audit");
    s->audit = entry != NULL && strcmp(entry->value, "writes") == 0;
    if (entry == NULL || s->audit || strcmp(entry->value, "off") == 0)
        return BP_OK;
    return setup_at_line(s, entry->line, error_set(s->error, BP_ERROR_SYNTAX,
                                                   "audit is writes, or off; not '%.40s'", entry->value));
}

bp_result_t setup_read_host(setup_t *s)
{
    int64_t threads = 0;
    const ini_entry_t *path = setup_find_entry(s, "host", "plugin_path");
    s->plugin_path = path == NULL ? "" : path->value;
    bp_result_t result = setup_read_count(s, "steps", 0, INT64_MAX, &s->steps);
    if (result == BP_OK)
        result = setup_read_count(s, "threads", 1, JOBS_MAX_THREADS, &threads);
    if (result == BP_OK)
        result = setup_read_count(s, "seed", 0, INT64_MAX, &s->seed);
    if (result == BP_OK)
        result = read_history(s);
    if (result == BP_OK)
        result = read_keyframes(s);
    if (result == BP_OK)
        result = read_audit(s);
    s->threads = (uint32_t)threads;
    return result == BP_OK ? setup_read_live(s) : result;
}

static bp_result_t take_host(setup_t *s)
{
    bp_result_t result = setup_live(s);
    if (result != BP_OK)
        return result;
    if (setup_find_entry(s, "host", "steps") != NULL)
        s->host->steps = (uint64_t)s->steps;
    if (setup_find_entry(s, "host", "seed") != NULL)
        s->host->base.random = (uint64_t)s->seed;
    return BP_OK;
}

static bool plugin_file(const char *folder, const char *name, char *path)
{
    char joined[FILE_PATH_MAX];
    if (!file_path_join(folder, name, joined, sizeof joined))
        return false;
    int n = snprintf(path, FILE_PATH_MAX, "%s%s", joined, os_library_suffix);
    return n > 0 && n < FILE_PATH_MAX && file_exists(path);
}

/* The folders in which plugins are looked for that an ini names, where it does not say plugin_path: beside the program,
 * where programs are installed, and beside the library, for programs of embedders. False past the last. */
static bool usual_folder(uint32_t number, char *folder, size_t size)
{
    static const char *const below[] = {"plugins", "../lib/backplane/plugins", "backplane/plugins", "plugins"};
    char base[FILE_PATH_MAX - 64];
    folder[0] = '\0';
    if (number >= sizeof below / sizeof below[0])
        return false;
    if (number < 2 ? os_program_folder(base, sizeof base) : os_library_folder(base, sizeof base))
        snprintf(folder, size, "%s/%s", base, below[number]);
    return true;
}

/* Where a plugin of a list lies: itself where static, beside the ini where it is a path, else in the usual folders. */
static bool find_plugin(setup_t *s, const char *name, char *path)
{
    char folder[FILE_PATH_MAX];
    if (loader_is_static(&s->host->loader, name)) {
        snprintf(path, FILE_PATH_MAX, "%s", name);
        return true;
    }
    if (strchr(name, '/') != NULL || strchr(name, '\\') != NULL || strchr(name, '.') != NULL)
        return file_path_beside(s->ini.path, name, path, FILE_PATH_MAX);
    if (s->plugin_path[0] != '\0')
        return file_path_beside(s->ini.path, s->plugin_path, folder, sizeof folder) && plugin_file(folder, name, path);
    for (uint32_t i = 0; usual_folder(i, folder, sizeof folder); i++) {
        if (folder[0] != '\0' && plugin_file(folder, name, path))
            return true;
    }
    return false;
}

/* The plugin of a folder with the name nearest to one that is not there. */
typedef struct near_plugin_t {
    nearest_t nearest;
    char best[SETUP_WORD];
} near_plugin_t;

static void consider_plugin(void *data, const char *file)
{
    near_plugin_t *near = data;
    char stem[SETUP_WORD];
    if (strstr(file, os_library_suffix) == NULL)
        return;
    file_stem(file, stem, sizeof stem);
    near->nearest.best = near->nearest.best == NULL ? NULL : near->best;
    nearest_consider(&near->nearest, stem);
    if (near->nearest.best == stem)
        near->nearest.best = memcpy(near->best, stem, sizeof stem);
}

static const char *nearest_plugin(const setup_t *s, const char *name, text_t *hint)
{
    char folder[FILE_PATH_MAX];
    near_plugin_t near = {.nearest = {.wanted = name}};
    if (s->plugin_path[0] != '\0') {
        if (file_path_beside(s->ini.path, s->plugin_path, folder, sizeof folder))
            os_folder_list(folder, consider_plugin, &near);
    } else {
        for (uint32_t i = 0; usual_folder(i, folder, sizeof folder); i++)
            os_folder_list(folder, consider_plugin, &near);
    }
    return nearest_hint(&near.nearest, hint);
}

static bp_result_t plugin_not_found(setup_t *s, const char *name)
{
    text_t room;
    const char *hint = nearest_plugin(s, name, &room);
    if (s->plugin_path[0] != '\0')
        return error_set(s->error, BP_ERROR_NOT_FOUND, "there is no plugin file %s%s in plugin_path %s%s", name,
                         os_library_suffix, s->plugin_path, hint);
    return error_set(s->error, BP_ERROR_NOT_FOUND,
                     "there is no plugin file %s%s in the folder plugins/ beside the program nor in "
                     "../lib/backplane/plugins, nor in backplane/plugins beside the library; set plugin_path, or give "
                     "its path%s",
                     name, os_library_suffix, hint);
}

void setup_collect_options(const setup_t *s, const char *plugin, setup_options_t *options)
{
    char section[SETUP_WORD + 8];
    snprintf(section, sizeof section, "plugin %s", plugin);
    options->count = 0;
    for (uint32_t i = 0; i < s->ini.count && options->count < REGISTRY_MAX_FIELDS; i++) {
        const ini_entry_t *e = &s->ini.entries[i];
        if (strcmp(e->section, section) != 0)
            continue;
        char *origin = options->origins[options->count];
        snprintf(origin, sizeof options->origins[0], "%s:%u", s->ini.path, e->line);
        options->items[options->count++] = (bp_option_t){e->key, e->value, origin, s->ini.path};
    }
}

bp_result_t setup_load_plugin(setup_t *s, const char *name, uint32_t line)
{
    char path[FILE_PATH_MAX], stem[SETUP_WORD];
    setup_options_t options;
    if (!find_plugin(s, name, path))
        return setup_at_line(s, line, plugin_not_found(s, name));
    file_stem(name, stem, sizeof stem);
    setup_collect_options(s, stem, &options);
    bp_result_t result = host_load_file(s->host, path, options.items, options.count);
    return result == BP_OK ? BP_OK : setup_at_line(s, line, result);
}

bp_result_t setup_check_plugin_sections(setup_t *s, const char *list)
{
    for (uint32_t i = 0; i < s->ini.section_count; i++) {
        char words[3][SETUP_WORD] = {"", "", ""}, word[FILE_PATH_MAX], stem[SETUP_WORD];
        setup_section_words(s->ini.sections[i].name, words);
        bool listed = strcmp(words[0], "plugin") != 0;
        nearest_t nearest = {.wanted = words[1]};
        char near[SETUP_WORD] = "";
        for (const char *at = list; !listed && (at = text_next_word(at, word, sizeof word)) != NULL;) {
            file_stem(word, stem, sizeof stem);
            listed = strcmp(stem, words[1]) == 0;
            uint32_t before = nearest.distance;
            bool first = nearest.best == NULL;
            nearest_consider(&nearest, stem);
            if (first || nearest.distance < before)
                memcpy(near, stem, sizeof near);
        }
        text_t hint;
        nearest.best = nearest.best == NULL ? NULL : near;
        if (!listed)
            return setup_at_line(s, s->ini.sections[i].line,
                                 error_set(s->error, BP_ERROR_NOT_FOUND,
                                           "[plugin %s] configures a plugin that [host] plugins does not list%s",
                                           words[1], nearest_hint(&nearest, &hint)));
    }
    return BP_OK;
}

static bp_result_t load_plugins(setup_t *s)
{
    const ini_entry_t *entry = setup_find_entry(s, "host", "plugins");
    const char *at = entry == NULL ? "" : entry->value;
    char word[FILE_PATH_MAX];
    bp_result_t result = setup_check_plugin_sections(s, at);
    while (result == BP_OK && (at = text_next_word(at, word, sizeof word)) != NULL)
        if ((result = setup_load_plugin(s, word, entry->line)) == BP_OK)
            result = setup_meet_peers(s, entry->line);
    return result;
}

/* --- worlds ------------------------------------------------------------------------------------------------------- */

static bp_result_t use_all(setup_t *s, bp_world_o *world, const ini_entry_t *entry,
                           bp_result_t (*use)(bp_world_o *, const char *))
{
    char word[SETUP_WORD];
    const char *at = entry == NULL ? "" : entry->value;
    while ((at = text_next_word(at, word, sizeof word)) != NULL) {
        bp_result_t result = use(world, word);
        if (result != BP_OK)
            return setup_at_line(s, entry->line, result);
    }
    return BP_OK;
}

/* The world of copies beside one that is split: the same components, and no systems. */
static bp_result_t make_halo(setup_t *s, const ini_section_t *section, const bp_world_desc_t *desc, bp_world_o *world)
{
    char name[SETUP_WORD + 8];
    bp_world_o *halo;
    bp_world_desc_t beside = *desc;
    snprintf(name, sizeof name, "%s.halo", desc->name);
    beside.name = name;
    bp_result_t result = host_create_world(s->host, &beside, &halo);
    if (result != BP_OK)
        return setup_at_line(s, section->line, result);
    result = use_all(s, halo, setup_find_entry(s, section->name, "components"), bp_world_use_component);
    return result == BP_OK ? setup_split(s, world, halo, setup_find_entry(s, section->name, "place")->line) : result;
}

bp_result_t setup_read_rate(setup_t *s, const char *section, double *out)
{
    const ini_entry_t *rate = setup_find_entry(s, section, "step_rate");
    bp_value_t value = {.f64 = 60.0};
    bp_result_t result = setup_read_value(s, rate, BP_F64, &value);
    if (result == BP_OK && !(value.f64 > 0.0 && value.f64 <= 1e12))
        result = setup_at_line(s, rate->line,
                               error_set(s->error, BP_ERROR_RANGE,
                                         "step_rate = %s must be greater than 0, and at most 1e12", rate->value));
    *out = value.f64;
    return result;
}

bp_result_t setup_make_world(setup_t *s, const ini_section_t *section)
{
    char words[3][SETUP_WORD] = {"", "", ""};
    setup_section_words(section->name, words);
    double rate;
    bp_result_t result = setup_read_rate(s, section->name, &rate);
    if (result != BP_OK)
        return result;
    bp_world_o *world;
    const ini_entry_t *units = setup_find_entry(s, section->name, "units");
    const bp_world_desc_t desc = {.name = words[1], .step_rate = rate, .units = units == NULL ? NULL : units->value};
    setup_place_t place;
    result = setup_place(s, section->name, &place);
    if (result != BP_OK || !place.here)
        return result;
    result = host_create_world(s->host, &desc, &world);
    if (result != BP_OK)
        return setup_at_line(s, result == BP_ERROR_SYNTAX && units != NULL ? units->line : section->line, result);
    result = use_all(s, world, setup_find_entry(s, section->name, "components"), bp_world_use_component);
    if (result == BP_OK && place.split)
        result = make_halo(s, section, &desc, world);
    return result != BP_OK ? result
                           : use_all(s, world, setup_find_entry(s, section->name, "systems"), bp_world_use_system);
}

static bp_result_t make_worlds(setup_t *s)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->ini.section_count && result == BP_OK; i++) {
        if (setup_is_kind(s->ini.sections[i].name, "world"))
            result = setup_make_world(s, &s->ini.sections[i]);
    }
    return result;
}

/* Settle the steps of the new worlds, so that what is wrong with them is told now and not in the first step. */
static bp_result_t settle_all(setup_t *s)
{
    for (uint32_t i = s->old_worlds; i < s->host->destruction.world_count; i++) {
        const bp_world_o *world = host_world(s->host, i);
        bp_result_t result = schedule_settle(world->schedule);
        if (result == BP_OK)
            continue;
        char section[SETUP_WORD];
        snprintf(section, sizeof section, "world %s", world->rows.name);
        const ini_entry_t *systems = setup_find_entry(s, section, "systems");
        return systems == NULL ? error_prefix(s->error, result, "%s: ", s->ini.path)
                               : setup_at_line(s, systems->line, result);
    }
    return BP_OK;
}

static bp_result_t make_threads(setup_t *s)
{
    const ini_entry_t *entry = setup_find_entry(s, "host", "threads");
    bp_result_t result = entry == NULL ? BP_OK : host_make_threads(s->host, s->threads, &s->pool);
    return result == BP_OK ? BP_OK : setup_at_line(s, entry->line, result);
}

static void take_threads(setup_t *s)
{
    if (s->pool != NULL)
        host_take_threads(s->host, s->threads, s->pool);
    s->pool = NULL;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

bp_result_t setup_check_repeats(setup_t *s)
{
    for (uint32_t i = 0; i < s->ini.section_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(s->ini.sections[i].name, s->ini.sections[j].name) == 0)
                return setup_at_line(s, s->ini.sections[i].line,
                                     error_set(s->error, BP_ERROR_EXISTS, "section [%s] stands already in line %u",
                                               s->ini.sections[i].name, s->ini.sections[j].line));
        }
    }
    return BP_OK;
}

void setup_undo(setup_t *s)
{
    error_text_t kept = *s->error; /* errors of plugins that are unloaded must not hide the reason */
    destruction_t *d = &s->host->destruction;
    bool worlds = d->world_count > s->old_worlds;
    history_undo_begin(&s->host->history);
    if (s->met)
        bp_host_leave_peers(s->host, 1);
    setup_end_spawned(s);
    for (uint32_t i = s->host->loader.plugins.count; i > s->old_plugins; i--)
        loader_pause(s->host->loader.plugins.items[i - 1], BP_PAUSE_UNLOAD);
    while (d->world_count > s->old_worlds)
        host_end_world(world_handle(d->worlds[d->world_count - 1]));
    while (s->host->loader.plugins.count > s->old_plugins)
        loader_unload(&s->host->loader, s->host->loader.plugins.items[s->host->loader.plugins.count - 1]);
    setup_end_live(s);
    if (s->pool != NULL)
        jobs_free(s->pool);
    s->pool = NULL;
    s->host->steps = s->old_steps;
    s->host->base.random = s->old_random;
    history_undo_end(&s->host->history, worlds);
    *s->error = kept;
}

static bp_result_t set_up_worlds(setup_t *s)
{
    bp_result_t result = make_worlds(s);
    if (result == BP_OK)
        result = setup_spawn_scenes(s);
    if (result == BP_OK)
        result = setup_spawn_host_scenes(s);
    if (result == BP_OK)
        result = setup_spawn_all(s);
    if (result == BP_OK)
        result = settle_all(s);
    if (result == BP_OK)
        result = make_threads(s);
    return result;
}

void setup_begin(setup_t *s, bp_host_o *host)
{
    *s = (setup_t){
        .host = host,
        .error = &host->base.error,
        .old_plugins = host->loader.plugins.count,
        .old_worlds = host->destruction.world_count,
        .old_steps = host->steps,
        .old_random = host->base.random,
        .old_guard = host->loader.guard,
        .old_copies = host->loader.copies,
        .old_watching = host->hot.watching,
        .old_trying = host->hot.trying,
        .old_beside_steps = host->hot.beside_steps,
        .old_pause_limit = host->reload.pause_limit,
        .old_building = host->hot.building,
        .old_command = host->hot.building && host->hot.build.command != NULL,
        .old_compilers = host->hot.sources.settings,
    };
}

static bp_result_t set_up_history(setup_t *s)
{
    bp_result_t result = s->history == 0 ? BP_OK : bp_host_remember(s->host, s->history);
    if (result != BP_OK)
        return setup_at_line(s, setup_find_entry(s, "host", "history")->line, result);
    if (setup_find_entry(s, "host", "keyframe_every") != NULL)
        bp_host_keyframe_every(s->host, s->keyframe_ms);
    return s->audit ? bp_host_audit(s->host, BP_AUDIT_WRITES) : BP_OK;
}

static bp_result_t set_up(bp_host_o *host, const char *ini_path, bool plugins_only)
{
    setup_t s;
    file_stamp_t stamp;
    bp_result_t result = host_refuse_change(host);
    if (result != BP_OK)
        return result;
    setup_begin(&s, host);
    file_stamp(ini_path, &stamp);
    result = ini_read(&s.ini, &host->base, ini_path);
    if (result != BP_OK)
        return result;
    result = setup_check_names(&s);
    if (result == BP_OK)
        result = setup_check_repeats(&s);
    if (result == BP_OK)
        result = setup_make_room(&s);
    if (result == BP_OK)
        result = setup_read_host(&s);
    if (result == BP_OK)
        result = take_host(&s);
    if (result == BP_OK)
        result = load_plugins(&s);
    if (result == BP_OK)
        result = setup_compare_peers(&s);
    if (result == BP_OK && !plugins_only)
        result = set_up_worlds(&s);
    if (result == BP_OK && !plugins_only)
        result = set_up_history(&s);
    if (result != BP_OK)
        setup_undo(&s);
    else
        take_threads(&s);
    setup_release_spawned(&s);
    setup_release_peers(&s);
    if (result == BP_OK && !plugins_only)
        setup_remember(&s, &stamp);
    else
        ini_free(&s.ini);
    return result;
}

bp_result_t bp_host_setup(bp_host_o *host, const char *ini_path)
{
    return set_up(host, ini_path, false);
}

bp_result_t bp_host_setup_plugins(bp_host_o *host, const char *ini_path)
{
    return set_up(host, ini_path, true);
}

/* --- setup ini --------------------------------------------------------------------------------------------------- */

/* Sections and keys of an ini: which ones there may be, and reading one.
 *
 * Names are checked before anything is done, so that a misspelt one is an error at once, with the nearest right name.
 */

bp_result_t setup_at_line(setup_t *s, uint32_t line, bp_result_t result)
{
    size_t length = strlen(s->ini.path);
    if (strncmp(s->error->text, s->ini.path, length) == 0 && s->error->text[length] == ':')
        return result;
    return error_prefix(s->error, result, "%s:%u: ", s->ini.path, line);
}

/* --- names -------------------------------------------------------------------------------------------------------- */

const char *const setup_host_keys[] = {"plugins",        "plugin_path", "steps",     "threads",    "seed", "history",
                                        "crash_guard",    "call_limit",  "probation", "hot_reload", "trial",
                                        "trial_deadline", "reload_pause", "build",    "sources",    "audit",
                                         "keyframe_every", "cc",         "cflags",    "cxx",        "cxxflags",
                                         "rustc",          "rustflags",  "scenes",    "reload",     NULL};
static const char *const world_keys[] = {"step_rate", "units", "place", "components", "systems", "scenes", NULL};

uint32_t setup_section_words(const char *section, char words[3][SETUP_WORD])
{
    uint32_t count = 0;
    char word[SETUP_WORD];
    while ((section = text_next_word(section, word, sizeof word)) != NULL && count < 4) {
        if (count < 3)
            memcpy(words[count], word, sizeof word);
        count++;
    }
    return count;
}

bool setup_is_kind(const char *section, const char *kind)
{
    char words[3][SETUP_WORD] = {"", "", ""};
    setup_section_words(section, words);
    return strcmp(words[0], kind) == 0;
}

static bp_result_t check_section(setup_t *s, const ini_section_t *section)
{
    static const struct { const char *kind; uint32_t words; const char *form;
    } kinds[] = {
        {"host", 1, "[host]"},
        {"plugin", 2, "[plugin NAME]"},
        {"world", 2, "[world NAME]"},
        {"spawn", 3, "[spawn WORLD LABEL]"},
    };
    char words[3][SETUP_WORD] = {"", "", ""};
    uint32_t count = setup_section_words(section->name, words);
    nearest_t nearest = {.wanted = words[0]};
    text_t hint;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        nearest_consider(&nearest, kinds[i].kind);
        if (strcmp(words[0], kinds[i].kind) != 0)
            continue;
        if (count == kinds[i].words)
            return BP_OK;
        return setup_at_line(s, section->line,
                             error_set(s->error, BP_ERROR_SYNTAX, "section [%s]; write %s", section->name,
                                       kinds[i].form));
    }
    return setup_at_line(s, section->line,
                         error_set(s->error, BP_ERROR_NOT_FOUND,
                                   "unknown section [%s]%s (there are host, plugin, world and spawn)", section->name,
                                   nearest_hint(&nearest, &hint)));
}

static bp_result_t check_key(setup_t *s, const ini_entry_t *entry, const char *const *known)
{
    nearest_t nearest = {.wanted = entry->key};
    text_t hint, all = {.length = 0};
    all.chars[0] = '\0';
    for (size_t i = 0; known[i] != NULL; i++) {
        if (strcmp(entry->key, known[i]) == 0)
            return BP_OK;
        nearest_consider(&nearest, known[i]);
        text_append(&all, "%s%s", i > 0 ? ", " : "", known[i]);
    }
    return setup_at_line(s, entry->line,
                         error_set(s->error, BP_ERROR_NOT_FOUND, "unknown key '%s' in [%s]%s (known: %s)", entry->key,
                                   entry->section, nearest_hint(&nearest, &hint), all.chars));
}

bp_result_t setup_check_names(setup_t *s)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->ini.section_count && result == BP_OK; i++)
        result = check_section(s, &s->ini.sections[i]);
    for (uint32_t i = 0; i < s->ini.count && result == BP_OK; i++) {
        const ini_entry_t *entry = &s->ini.entries[i];
        if (entry->section[0] == '\0')
            result =
                setup_at_line(s, entry->line,
                              error_set(s->error, BP_ERROR_SYNTAX, "'%s' stands before the first section", entry->key));
        else if (setup_is_kind(entry->section, "host"))
            result = check_key(s, entry, setup_host_keys);
        else if (setup_is_kind(entry->section, "world"))
            result = check_key(s, entry, world_keys);
    }
    return result;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

const ini_entry_t *setup_find_entry(const setup_t *s, const char *section, const char *key)
{
    for (uint32_t i = 0; i < s->ini.count; i++) {
        if (strcmp(s->ini.entries[i].section, section) == 0 && strcmp(s->ini.entries[i].key, key) == 0)
            return &s->ini.entries[i];
    }
    return NULL;
}

bp_result_t setup_read_value(setup_t *s, const ini_entry_t *entry, uint32_t type, bp_value_t *value)
{
    if (entry == NULL)
        return BP_OK;
    bp_result_t result = value_parse(&s->host->base.values, type, entry->value, value, s->error);
    if (result == BP_OK)
        return BP_OK;
    error_prefix(s->error, result, "%s = ", entry->key);
    return setup_at_line(s, entry->line, result);
}

bp_result_t setup_read_count(setup_t *s, const char *key, int64_t least, int64_t most, int64_t *out)
{
    const ini_entry_t *entry = setup_find_entry(s, "host", key);
    bp_value_t value = {.i64 = 0};
    bp_result_t result = setup_read_value(s, entry, BP_I64, &value);
    if (result == BP_OK && entry != NULL && (value.i64 < least || value.i64 > most))
        result = setup_at_line(s, entry->line,
                               error_set(s->error, BP_ERROR_RANGE, "%s = %s is outside its range, %lld to %lld", key,
                                         entry->value, (long long)least, (long long)most));
    *out = value.i64;
    return result;
}
