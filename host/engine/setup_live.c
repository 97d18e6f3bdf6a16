/* setup_live.c - the keys of [host] about crashes and hot reload.
 *
 * Most need another key (a limit needs the guard, a trial needs hot reload); where that other key is not given, the
 * line is refused, since it would have no effect.
 */
#include "../base/file.h"
#include "setup.h"

#include <stdlib.h>

enum { MAX_MS = 3600 * 1000, MAX_PROBATION = 1000000000, PROBATION = 120 /* steps, where the ini does not say */ };

static bp_result_t read_flag(setup_t *s, const char *key, bool *out)
{
    const ini_entry_t *entry = setup_find_entry(s, "host", key);
    if (entry == NULL)
        return BP_OK;
    *out = strcmp(entry->value, "on") == 0;
    if (*out || strcmp(entry->value, "off") == 0)
        return BP_OK;
    return setup_at_line(s, entry->line,
                         error_set(s->error, BP_ERROR_SYNTAX, "%s = %s; write on or off", key, entry->value));
}

/* A count that stays as it is where it is not given. */
static bp_result_t read_number(setup_t *s, const char *key, int64_t least, int64_t most, uint32_t *out)
{
    int64_t value;
    bp_result_t result = setup_read_count(s, key, least, most, &value);
    if (result == BP_OK && setup_find_entry(s, "host", key) != NULL)
        *out = (uint32_t)value;
    return result;
}

static bp_result_t refuse_without(setup_t *s, const char *const *keys, bool given, const char *needed)
{
    for (; *keys != NULL; keys++) {
        const ini_entry_t *entry = setup_find_entry(s, "host", *keys);
        if (entry != NULL && !given)
            return setup_at_line(s, entry->line, error_set(s->error, BP_ERROR_ARGUMENT, "%s needs %s", *keys, needed));
    }
    return BP_OK;
}

/* "try 120". */
static bp_result_t read_reload(setup_t *s, uint32_t *steps)
{
    enum { MAX_STEPS = 1000000 };
    const ini_entry_t *entry = setup_find_entry(s, "host", "reload");
    char *end;
    *steps = 0;
    if (entry == NULL || strcmp(entry->value, "at once") == 0)
        return BP_OK;
    unsigned long count = strncmp(entry->value, "try ", 4) == 0 ? strtoul(entry->value + 4, &end, 10) : 0;
    if (count == 0 || *end != '\0' || count > MAX_STEPS)
        return setup_at_line(s, entry->line,
                             error_set(s->error, BP_ERROR_SYNTAX,
                                       "reload is `at once`, or `try 120` with 1 to %d steps", MAX_STEPS));
    *steps = (uint32_t)count;
    return BP_OK;
}

/* trial = on, off, or helper. */
static bp_result_t read_trial(setup_t *s, bool *trial, bool *helper)
{
    const ini_entry_t *entry = setup_find_entry(s, "host", "trial");
    *helper = entry != NULL && strcmp(entry->value, "helper") == 0;
    *trial = entry == NULL || *helper || strcmp(entry->value, "on") == 0;
    if (*trial || strcmp(entry->value, "off") == 0)
        return BP_OK;
    return setup_at_line(s, entry->line,
                         error_set(s->error, BP_ERROR_SYNTAX, "trial = %s; write on, off or helper", entry->value));
}

static bp_result_t read_desc(setup_t *s, bp_host_desc_t *desc)
{
    static const char *const of_guard[] = {"call_limit", "probation", NULL};
    static const char *const of_reload[] = {"build", "sources", "reload", NULL};
    static const char *const of_trials[] = {"trial", "trial_deadline", NULL};
    bool hot = false, trial = true, helper = false;
    bp_result_t result = read_flag(s, "hot_reload", &hot);
    bool watchful = s->host->watchful || hot, guarded = watchful; /* what is reloaded by itself is guarded and tried */
    if (result == BP_OK)
        result = read_flag(s, "crash_guard", &guarded);
    if (result == BP_OK)
        result = refuse_without(s, of_guard, guarded, "crash_guard = on");
    if (result == BP_OK)
        result = refuse_without(s, of_reload, hot, "hot_reload = on");
    if (result == BP_OK)
        result = refuse_without(s, of_trials, hot || watchful, "hot_reload = on");
    if (result == BP_OK)
        result = read_trial(s, &trial, &helper);
    if (result == BP_OK)
        result = read_number(s, "call_limit", 1, MAX_MS, &desc->call_limit);
    if (result == BP_OK)
        result = read_number(s, "probation", 0, MAX_PROBATION, &desc->probation);
    if (result == BP_OK)
        result = read_number(s, "trial_deadline", 1, MAX_MS, &desc->trial_deadline);
    if (result == BP_OK)
        result = read_number(s, "reload_pause", 1, MAX_MS, &desc->reload_pause);
    if (result == BP_OK)
        result = read_reload(s, &desc->reload_try);
    bool tried = trial && (hot || watchful);
    bool asked = setup_find_entry(s, "host", "crash_guard") != NULL;
    desc->flags = (guarded ? BP_HOST_CRASH_GUARD : watchful ? BP_HOST_CRASH_TELL : 0u) |
                  (hot ? BP_HOST_HOT_RELOAD : 0u) | (tried ? BP_HOST_TRIAL : 0u) |
                  (tried && helper ? BP_HOST_TRIAL_HELPER : 0u) |
                  (watchful && !asked ? BP_HOST_WATCHFUL : 0u);
    return result;
}

static bp_result_t read_build(setup_t *s)
{
    char folder[FILE_PATH_MAX], place[FILE_PATH_MAX];
    const ini_entry_t *build = setup_find_entry(s, "host", "build"), *sources = setup_find_entry(s, "host", "sources");
    if (build == NULL && sources == NULL)
        return BP_OK;
    if (build == NULL || sources == NULL)
        return setup_at_line(s, (build == NULL ? sources : build)->line,
                             error_set(s->error, BP_ERROR_ARGUMENT,
                                       "build, the command, and sources, the folder to watch, need each other"));
    if (!file_path_beside(s->ini.path, sources->value, folder, sizeof folder) ||
        !file_path_beside(s->ini.path, ".", place, sizeof place))
        return setup_at_line(s, sources->line, error_set(s->error, BP_ERROR_LIMIT, "sources: the path is too long"));
    bp_result_t result = hot_build(&s->host->hot, build->value, place, folder);
    if (result != BP_ERROR_STATE)
        return result == BP_OK ? BP_OK : setup_at_line(s, build->line, result);
    log_write(&s->host->base.log, BP_LOG_WARNING, "host", "%s", s->error->text);
    return BP_OK;
}

bp_result_t setup_read_live(setup_t *s)
{
    s->live = (bp_host_desc_t){.probation = PROBATION};
    return read_desc(s, &s->live);
}

/* What sources of plugins are compiled with. */
static bp_result_t read_compilers(setup_t *s)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; source_keys[i] != NULL && result == BP_OK; i++) {
        const ini_entry_t *entry = setup_find_entry(s, "host", source_keys[i]);
        if (entry != NULL && (result = sources_set(&s->host->hot.sources, source_keys[i], entry->value)) != BP_OK)
            setup_at_line(s, entry->line, result);
    }
    return result;
}

bp_result_t setup_live(setup_t *s)
{
    bp_result_t result = read_compilers(s);
    if (result != BP_OK)
        return result;
    if (setup_find_entry(s, "host", "reload") == NULL) /* an ini before this one may have said it */
        s->live.reload_try = (uint32_t)s->host->hot.beside_steps;
    result = host_set_live(s->host, &s->live);
    if (result == BP_OK)
        return read_build(s);
    const ini_entry_t *asked = setup_find_entry(s, "host", "crash_guard");
    asked = asked != NULL ? asked : setup_find_entry(s, "host", "hot_reload");
    return asked != NULL ? setup_at_line(s, asked->line, result) : error_prefix(s->error, result, "%s: ", s->ini.path);
}

void setup_end_live(setup_t *s)
{
    bp_host_o *host = s->host;
    if (host->hot.building && !s->old_building)
        hot_end_build(&host->hot);
    if (host->hot.building && !s->old_command)
        build_drop_command(&host->hot.build);
    if (host->hot.watching && !s->old_watching)
        hot_end(&host->hot);
    host->hot.trying = s->old_trying;
    host->hot.beside_steps = s->old_beside_steps;
    host->hot.sources.settings = s->old_compilers;
    host->reload.pause_limit = s->old_pause_limit;
    host->loader.copies = s->old_copies;
    if (host->loader.guard == s->old_guard)
        return;
    guard_destroy(host->loader.guard);
    host->loader.guard = s->old_guard;
    host->reload.probation_steps = 0;
    host->guarded = false;
    host->call_limit = 0;
}
