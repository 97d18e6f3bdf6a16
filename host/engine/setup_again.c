/* setup_again.c - doing what has changed in an ini while its host runs: all of it, or nothing.
 *
 * Parts that may fail come first, and each of them can be taken back:
 *
 *   bring    plugins, worlds, components, systems and entities that come
 *   check can every world step without the parts that go, and does no other plugin need them?
 *   reload plugins with changed options, as a reload does it: tried where the host tries, all together
 *   room     memory for taking out what goes; where it lacks the reload is taken back too
 *
 * Then what goes is taken out, and rates, units and the keys of [host] are set, which cannot fail.
 *
 * The host keeps each ini that it was set up from, as it was then: the file is compared with its former content
 * (setup_changes.c), not with the host, so that changes made since by calls or at a console stay.
 */
#include "../base/error.h"
#include "../os/os.h"
#include "../plugin/loader.h"
#include "../store/store.h"
#include "setup_again.h"

#include <stdio.h>
#include <string.h>

enum { LOOK_MS = 100, MILLION = 1000000 };

bp_result_t again_line(again_t *a, uint32_t line, bp_result_t result)
{
    return line > 0 ? setup_at_line(&a->s, line, result) : error_prefix(a->s.error, result, "%s: ", a->s.ini.path);
}

bp_world_o *again_world(const again_t *a, const char *name)
{
    const world_t *world = destruction_find_world(&a->s.host->destruction, name);
    return world == NULL ? NULL : world_handle(world);
}

/* --- coming ------------------------------------------------------------------------------------------------------- */

static bp_result_t load(again_t *a, const setup_change_t *change)
{
    bp_host_o *host = a->s.host;
    bp_result_t result = setup_load_plugin(&a->s, change->name, change->line);
    if (result == BP_OK && registry_table(&host->registry, BP_PEERS_API, 1) != NULL)
        result = again_line(a, change->line,
                            error_set(a->s.error, BP_ERROR_STATE, "ranks meet when a program starts, and not later"));
    return result;
}

static bp_result_t use(again_t *a, const setup_change_t *change)
{
    bp_world_o *world = again_world(a, change->world);
    if (world == NULL)
        return again_line(a, change->line, error_set(a->s.error, BP_ERROR_NOT_FOUND, "there is no world '%s' any more",
                                                     change->world));
    if (host_has(world, change->name, change->system))
        return BP_OK; /* it was brought in by a call or a command before */
    if (!memory_reserve(&a->s.ini.memory, &a->used, &a->used_capacity, a->used_count + 1u, sizeof *a->used))
        return error_memory(a->s.error, "doing an ini anew");
    bp_result_t result = (change->system ? bp_world_use_system : bp_world_use_component)(world, change->name);
    if (result != BP_OK)
        return again_line(a, change->line, result);
    a->used[a->used_count++] = (used_t){world, change};
    return BP_OK;
}

static bp_result_t spawn_scene(again_t *a, const setup_change_t *change)
{
    bp_world_o *world = again_world(a, change->world);
    if (change->world[0] == '\0')
        return setup_spawn_scene(&a->s, NULL, change->name, change->line);
    return world == NULL ? BP_OK : setup_spawn_scene(&a->s, &world->rows, change->name, change->line);
}

static bp_result_t bring_one(again_t *a, const setup_change_t *change, setup_what_t what)
{
    if (change->what != what)
        return BP_OK;
    switch (what) {
    case SETUP_LOAD:
        return load(a, change);
    case SETUP_WORLD:
        return setup_make_world(&a->s, change->section);
    case SETUP_USE:
        return use(a, change);
    case SETUP_SCENE:
        return spawn_scene(a, change);
    case SETUP_SPAWN:
        return setup_spawn(&a->s, change->section);
    default:
        return BP_OK;
    }
}

static bp_result_t bring_all(again_t *a, setup_what_t what)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < a->changes.count && result == BP_OK; i++)
        result = bring_one(a, &a->changes.items[i], what);
    return result;
}

/* Is a key of [host] among what has changed? */
static bool has_changed(const again_t *a, const char *key)
{
    for (uint32_t i = 0; i < a->changes.count; i++) {
        if (a->changes.items[i].what == SETUP_HOST && strcmp(a->changes.items[i].name, key) == 0)
            return true;
    }
    return false;
}

static bool comes_or_goes(const again_t *a)
{
    for (uint32_t i = 0; i < a->changes.count; i++) {
        if (a->changes.items[i].what != SETUP_LATER && a->changes.items[i].what != SETUP_HOST &&
            a->changes.items[i].what != SETUP_RATE)
            return true;
    }
    return false;
}

static bp_result_t bring(again_t *a)
{
    bp_result_t result = BP_OK;
    if (comes_or_goes(a)) { /* a trial and a probation need the present parts */
        hot_cancel(&a->s.host->hot);
        reload_accept(&a->s.host->reload);
    }
    result = bring_all(a, SETUP_LOAD);
    if (result == BP_OK)
        result = bring_all(a, SETUP_WORLD);
    if (result == BP_OK)
        result = bring_all(a, SETUP_USE);
    if (result == BP_OK)
        result = setup_spawn_scenes(&a->s);
    if (result == BP_OK)
        result = bring_all(a, SETUP_SCENE);
    if (result == BP_OK)
        result = bring_all(a, SETUP_SPAWN);
    return result == BP_OK && has_changed(a, "threads") ? host_make_threads(a->s.host, a->s.threads, &a->pool) : result;
}

static void take_back(again_t *a)
{
    error_text_t kept = *a->s.error;
    setup_end_spawned(&a->s);
    for (uint32_t i = a->used_count; i > 0; i--) {
        store_collect_all(&a->used[i - 1].world->rows);
        host_take_back(a->used[i - 1].world, a->used[i - 1].change->name, a->used[i - 1].change->system);
    }
    a->used_count = 0;
    *a->s.error = kept;
    setup_undo(&a->s);
    if (a->pool != NULL)
        jobs_free(a->pool);
    a->pool = NULL;
}


/* --- options ------------------------------------------------------------------------------------------------------ */

static bp_result_t read_options(again_t *a, plugin_t *plugin)
{
    setup_options_t *options = memory_new(&a->s.ini.memory, sizeof *options);
    if (options == NULL)
        return error_memory(a->s.error, "reading options");
    setup_collect_options(&a->s, plugin->name, options);
    plugin->coming = options->items;
    plugin->coming_count = options->count;
    return BP_OK;
}

static void forget_options(again_t *a)
{
    for (uint32_t i = 0; i < a->s.host->loader.plugins.count; i++) {
        plugin_t *plugin = a->s.host->loader.plugins.items[i];
        memory_free(&a->s.ini.memory, (void *)(uintptr_t)plugin->coming,
                    plugin->coming == NULL ? 0 : sizeof(setup_options_t));
        plugin->coming = NULL;
        plugin->coming_count = 0;
    }
}

static bool goes(const again_t *a)
{
    for (uint32_t i = 0; i < a->changes.count; i++) {
        setup_what_t what = a->changes.items[i].what;
        if (what == SETUP_DROP || what == SETUP_UNLOAD || what == SETUP_END_WORLD)
            return true;
    }
    return false;
}

/* Plugins with changed options are reloaded, all at once. Where parts go afterwards, for which memory may be lacking,
 * the reload is kept on probation until then. */
static bp_result_t reload_changed(again_t *a)
{
    bp_host_o *host = a->s.host;
    const char *names[RELOAD_MAX_PLUGINS];
    uint32_t count = 0, line = 0;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < a->changes.count && result == BP_OK; i++) {
        const setup_change_t *change = &a->changes.items[i];
        plugin_t *plugin = change->what == SETUP_OPTIONS ? loader_find(&host->loader, change->name) : NULL;
        if (plugin == NULL)
            continue;
        if (count == RELOAD_MAX_PLUGINS) {
            result = again_line(a, change->line, error_set(a->s.error, BP_ERROR_LIMIT,
                                "options of more than %d plugins have changed, as many as are reloaded at once; change "
                                "those of '%s' and of what follows when the others are done",
                                RELOAD_MAX_PLUGINS, change->name));
            break;
        }
        line = line == 0 ? change->line : line;
        names[count++] = plugin->name;
        result = read_options(a, plugin);
    }
    if (result == BP_OK && count > 0) {
        uint32_t steps = host->reload.probation_steps;
        host->reload.probation_steps = goes(a) && steps == 0 ? 1 : steps;
        result = hot_reload(&host->hot, names, count, false);
        host->reload.probation_steps = steps;
        a->reloaded = result == BP_OK;
        if (result != BP_OK)
            result = again_line(a, line, result);
    }
    forget_options(a);
    return result;
}

/* Do worlds have other systems or components afterwards, or systems in another order? */
static bool changes_steps(const again_t *a)
{
    for (uint32_t i = 0; i < a->changes.count; i++) {
        setup_what_t what = a->changes.items[i].what;
        if (what == SETUP_USE || what == SETUP_DROP || what == SETUP_ORDER || what == SETUP_UNLOAD)
            return true;
    }
    return false;
}

/* --- what cannot fail --------------------------------------------------------------------------------------------- */

static bp_result_t copy_units(again_t *a)
{
    bool fine = true;
    a->units = memory_new(&a->s.ini.memory, (a->changes.count + 1u) * sizeof *a->units);
    for (uint32_t i = 0; a->units != NULL && i < a->changes.count; i++) {
        const setup_change_t *change = &a->changes.items[i];
        bp_world_o *world = change->what == SETUP_UNITS ? again_world(a, change->world) : NULL;
        char section[SETUP_WORD];
        snprintf(section, sizeof section, "world %s", change->world);
        const ini_entry_t *units = setup_find_entry(&a->s, section, "units");
        if (world != NULL && units != NULL && units->value[0] != '\0')
            fine = (a->units[i] = memory_copy_text(&world->rows.memory, units->value)) != NULL && fine;
    }
    return a->units != NULL && fine ? BP_OK : error_memory(a->s.error, "doing an ini anew");
}

static void set_host(again_t *a, const setup_change_t *change)
{
    bp_host_o *host = a->s.host;
    bool trial = (a->s.live.flags & BP_HOST_TRIAL) != 0;
    if (strcmp(change->name, "steps") == 0)
        host->steps = (uint64_t)a->s.steps;
    else if (strcmp(change->name, "threads") == 0)
        host_take_threads(host, a->s.threads > 1 ? a->s.threads : 1, a->pool);
    else if (strcmp(change->name, "audit") == 0)
        bp_host_audit(host, a->s.audit ? BP_AUDIT_WRITES : 0);
    else if (strcmp(change->name, "probation") == 0 && (a->s.live.flags & BP_HOST_CRASH_GUARD) != 0)
        host->reload.probation_steps = a->s.live.probation;
    else if (strcmp(change->name, "reload_pause") == 0)
        host->reload.pause_limit = a->s.live.reload_pause;
    else if (strcmp(change->name, "reload") == 0)
        host->hot.beside_steps = a->s.live.reload_try;
    else if (trial)
        host_try_changes(host, &a->s.live);
    else
        host->hot.trying = false;
}

static void set_world(again_t *a, const setup_change_t *change, char **units)
{
    bp_world_o *world = again_world(a, change->world);
    char section[SETUP_WORD];
    double rate = 0;
    snprintf(section, sizeof section, "world %s", change->world);
    const ini_entry_t *systems = setup_find_entry(&a->s, section, "systems");
    if (world == NULL)
        return;
    if (change->what == SETUP_RATE && setup_read_rate(&a->s, section, &rate) == BP_OK) {
        world->clock.step_rate = rate;
        world_clock_settle(&world->clock);
    }
    if (change->what == SETUP_UNITS) {
        memory_free_text(&world->rows.memory, world->rows.units);
        world->rows.units = *units;
        *units = NULL;
    }
    if (systems != NULL && (change->what == SETUP_ORDER || (change->what == SETUP_USE && change->system))) {
        wants_order(&world->wants, systems->value);
        schedule_sort(world->schedule);
    }
}

static void set_all(again_t *a)
{
    for (uint32_t i = 0; i < a->changes.count; i++) {
        if (a->changes.items[i].what == SETUP_HOST)
            set_host(a, &a->changes.items[i]);
        else
            set_world(a, &a->changes.items[i], &a->units[i]);
    }
    a->pool = NULL;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static bp_result_t read_again(again_t *a)
{
    setup_t *s = &a->s;
    bp_result_t result = setup_check_names(s);
    if (result == BP_OK)
        result = setup_check_repeats(s);
    if (result == BP_OK)
        result = setup_read_host(s);
    if (result == BP_OK)
        result = setup_compare_peers(s); /* fills in the values in braces, for one rank */
    return result == BP_OK ? setup_compare(s, &a->was->ini, &a->changes) : result;
}

/* Keep the sentences about this change until the next change. */
static bp_result_t tell(again_t *a)
{
    bp_host_o *host = a->s.host;
    char head[FILE_PATH_MAX + 64];
    snprintf(head, sizeof head, "%s: %u %s\n", a->s.ini.path, a->changes.count,
             a->changes.count == 1 ? "change" : "changes");
    if (a->changes.count == 0)
        snprintf(head, sizeof head, "%s: nothing has changed\n", a->s.ini.path);
    size_t length = strlen(head), size = length + a->changes.told.size;
    char *text = memory_resize(&host->base.memory, NULL, 0, size);
    if (text == NULL)
        return error_memory(a->s.error, "doing an ini anew");
    memcpy(text, head, length);
    if (a->changes.told.size > 0)
        memcpy(text + length, a->changes.told.start, a->changes.told.size);
    text[size - 1] = '\0'; /* in place of the last line's end */
    memory_free(&host->base.memory, host->told, host->told_size);
    host->told = text;
    host->told_size = size;
    return BP_OK;
}

static bp_result_t change_host(again_t *a)
{
    bp_host_o *host = a->s.host;
    bp_result_t result = bring(a);
    if (result == BP_OK)
        result = copy_units(a);
    if (result == BP_OK)
        result = setup_check_leaving(a);
    if (result == BP_OK)
        result = tell(a);
    if (result == BP_OK)
        result = reload_changed(a);
    setup_mark_leaving(a, true);
    if (result == BP_OK && (result = setup_make_room_to_leave(a)) != BP_OK && a->reloaded) {
        error_text_t kept = *a->s.error;
        if (host_take_versions_back(host) != BP_OK)
            log_write(&host->base.log, BP_LOG_ERROR, "host",
                      "%s is refused, but the options that it changes stay as it has them: %s", a->s.ini.path,
                      host->base.error.text);
        *a->s.error = kept;
    }
    if (result != BP_OK) {
        setup_mark_leaving(a, false);
        take_back(a);
        return result;
    }
    if (goes(a))
        reload_accept(&host->reload);
    setup_take_out(a);
    set_all(a);
    if (changes_steps(a))
        history_remade(&host->history); /* also where there are as many systems as before */
    host_bring_wanted(host);
    return BP_OK;
}

static void release(again_t *a)
{
    memory_t *memory = &a->s.ini.memory;
    for (uint32_t i = 0; a->units != NULL && i < a->changes.count; i++) {
        bp_world_o *world = a->units[i] == NULL ? NULL : again_world(a, a->changes.items[i].world);
        if (world != NULL)
            memory_free_text(&world->rows.memory, a->units[i]);
    }
    memory_free(memory, a->units, a->units == NULL ? 0 : (a->changes.count + 1u) * sizeof *a->units);
    for (uint32_t i = 0; i < a->ending_count; i++)
        memory_free(memory, a->endings[i].entities, a->endings[i].room * sizeof(bp_entity_t));
    memory_free(memory, a->endings, a->ending_capacity * sizeof *a->endings);
    memory_free(memory, a->used, a->used_capacity * sizeof *a->used);
    setup_release_changes(&a->s, &a->changes);
    setup_release_spawned(&a->s);
    setup_release_peers(&a->s);
}

/* The same file, however its path is written. */
static setup_ini_t *find_ini(bp_host_o *host, const char *path)
{
    file_stamp_t wanted, stamp;
    bool there = file_stamp(path, &wanted) && wanted.id != 0;
    for (uint32_t i = 0; i < host->ini_count; i++) {
        if (strcmp(host->inis[i].ini.path, path) == 0)
            return &host->inis[i];
    }
    for (uint32_t i = 0; there && i < host->ini_count; i++) {
        if (file_stamp(host->inis[i].ini.path, &stamp) && stamp.id == wanted.id)
            return &host->inis[i];
    }
    return NULL;
}

static bp_result_t unknown_ini(bp_host_o *host, const char *path)
{
    if (host->ini_count == 0)
        return error_set(&host->base.error, BP_ERROR_NOT_FOUND, "%s: this host was set up from no ini", path);
    return error_set(&host->base.error, BP_ERROR_NOT_FOUND, "%s: this host was set up from %s", path,
                     host->inis[0].ini.path);
}

static bp_result_t set_up_again(bp_host_o *host, setup_ini_t *was)
{
    again_t a = {.was = was};
    setup_begin(&a.s, host);
    file_stamp(was->ini.path, &was->stamp);
    was->last = was->stamp;
    if (was->met)
        return error_set(&host->base.error, BP_ERROR_STATE,
                         "%s: ranks that do an ini together read it when they start, and not again", was->ini.path);
    bp_result_t result = ini_read(&a.s.ini, &host->base, was->ini.path);
    if (result != BP_OK)
        return result;
    result = read_again(&a);
    if (result == BP_OK) {
        history_touch_always(&host->history);
        result = change_host(&a);
    }
    release(&a);
    if (result != BP_OK) {
        size_t length = strlen(was->ini.path);
        bool located = strncmp(a.s.error->text, was->ini.path, length) == 0 && a.s.error->text[length] == ':';
        ini_free(&a.s.ini);
        return located ? result : error_prefix(a.s.error, result, "%s: ", was->ini.path);
    }
    ini_free(&was->ini);
    was->ini = a.s.ini;
    return BP_OK;
}

bp_result_t bp_host_setup_again(bp_host_o *host, const char *ini_path, const char **told)
{
    bp_result_t result = host_refuse_change(host);
    setup_ini_t *was = result == BP_OK ? find_ini(host, ini_path) : NULL;
    if (result == BP_OK)
        result = was == NULL ? unknown_ini(host, ini_path) : set_up_again(host, was);
    if (told != NULL)
        *told = result == BP_OK ? host->told : "";
    return result;
}

/* --- which inis --------------------------------------------------------------------------------------------------- */

bp_result_t setup_make_room(setup_t *s)
{
    bp_host_o *host = s->host;
    if (memory_reserve(&host->base.memory, &host->inis, &host->ini_capacity, host->ini_count + 1u, sizeof *host->inis))
        return BP_OK;
    return error_prefix(s->error, error_memory(s->error, "setting up a host"), "%s: ", s->ini.path);
}

void setup_remember(setup_t *s, const file_stamp_t *stamp)
{
    s->host->inis[s->host->ini_count++] = (setup_ini_t){s->ini, s->met, *stamp, *stamp};
}

void host_forget_inis(bp_host_o *host)
{
    while (host->ini_count > 0)
        ini_free(&host->inis[--host->ini_count].ini);
    memory_free(&host->base.memory, host->inis, host->ini_capacity * sizeof *host->inis);
    memory_free(&host->base.memory, host->told, host->told_size);
    host->inis = NULL;
    host->told = NULL;
    host->told_size = host->ini_capacity = 0;
}

static bool same_stamp(const file_stamp_t *a, const file_stamp_t *b)
{
    return a->size == b->size && a->written == b->written && a->id == b->id;
}

/* Do an ini anew if it has changed since it was read and has not been written since the last look. An ini that was
 * refused is tried again only after it has been written again. */
static void follow(bp_host_o *host, setup_ini_t *was)
{
    file_stamp_t stamp;
    bool there = file_stamp(was->ini.path, &stamp), still = same_stamp(&stamp, &was->last);
    was->last = stamp;
    if (!there || !still || same_stamp(&stamp, &was->stamp) || !file_is_closed(was->ini.path))
        return;
    bp_result_t result = set_up_again(host, was);
    if (result == BP_OK)
        log_write(&host->base.log, BP_LOG_INFO, "host", "%s", host->told);
    else
        log_write(&host->base.log, BP_LOG_WARNING, "host", "the ini is not done anew, and nothing has changed: %s",
                  host->base.error.text);
}

void host_follow_inis(bp_host_o *host)
{
    uint64_t now = os_clock_ns() / MILLION;
    if (!host->hot.watching || now - host->inis_seen < LOOK_MS)
        return;
    host->inis_seen = now;
    for (uint32_t i = 0; i < host->ini_count; i++)
        follow(host, &host->inis[i]);
}
