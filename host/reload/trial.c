/* trial.c - the work of a copy of this process, or of a helper, with a candidate, and judging its end.
 *
 * The child has no effect outside: it writes to no file (process.h), removes no copy of a library (loader_t.on_trial),
 * and its log goes nowhere. Its verdict comes over the pipe: a letter, and behind it a reason. Before that come the
 * columns that the change will make (ahead.h), as soon as the child knows them.
 *
 * A helper is told by a file what to build. The file lies beside the copy of the candidate, in a folder that a later
 * process removes where this one is killed.
 *
 * A copy of a process has one thread, and the files and ports of the original. So plugins are paused while the copy is
 * made, and the copy resumes them, with a reason of their own, when the change is made there.
 */
#include "trial.h"

#include "../base/file.h"
#include "../os/files.h"
#include "../os/os.h"
#include "../os/surroundings.h"
#include "../plugin/holdings.h"
#include "../plugin/registry.h"
#include "../plugin/verbs.h"
#include "../property/property.h"
#include "../store/sample.h"
#include "../store/store.h"
#include "ahead.h"
#include "change.h"
#include "lookout.h"
#include "scratch.h"
#include "unload.h"

#include <stdio.h>
#include <string.h>

enum {
    MILLION = 1000000,
    MADE = 4,     /* entities of each component of a candidate */
    TOUCHED = 64, /* entities of the world whose properties are read and written */
    LEAVINGS_LOOKS = 20
};

/* The letter of the verdict; and that of the columns, before the number of their bytes, four bytes itself. */
enum { SAYS_PASSED = '+', SAYS_REFUSED = '?', SAYS_FAILED = '-', SAYS_CANNOT = '0', SAYS_COLUMNS = '#' };
enum { COLUMNS_HEAD = 5 };
BP_STATIC_ASSERT(TRIAL_SAID > COLUMNS_HEAD + AHEAD_TOLD + 1 + TRIAL_REASON, "there is room for all that a child sends");

/* --- every verb of a candidate is called -------------------------------------------------------------------------- */

/* Steps alone do not call all verbs. Entities are made of each component of the candidate, read, written, taken apart
 * and destroyed again; what managers and systems keep is saved, and loaded by one that begins anew; systems are told of
 * the present moment as of one that their world has gone to; reports are asked for. The world is used as its users
 * would: through the store, properties and destruction, which call the verbs. A manager may refuse a call without being
 * at fault, but it and a system must be able to load what they have saved. Values are not judged; the caller looks for
 * crashes. */

/* Read every property, and write the value that was read, where code of the component is called for it: `get` and `set`
 * of own storage, `rows_set`. */
static void touch_properties(world_t *world, const manager_t *manager, const bp_entity_t *entities, uint32_t count)
{
    const component_t *component = manager->component;
    bool called = component->own_storage || component->rows.rows_set != NULL;
    for (uint32_t f = 0; f < component->field_count && called && count > 0; f++) {
        const field_t *field = &component->fields[f];
        bp_property_t property;
        size_t size = (size_t)count * field->size;
        void *values = memory_new(&world->memory, size);
        if (values != NULL &&
            property_resolve(world, entities[0], component->name, field->name, &property) == BP_OK &&
            property_get(world, &property, entities, count, values, field->size) == BP_OK &&
            (field->flags & BP_FIELD_READ_ONLY) == 0)
            property_set(world, &property, entities, count, values, field->size);
        memory_free(&world->memory, values, size);
    }
}

/* Find some living entities, of the first run with the component that has rows. */
static uint32_t find_some(const world_t *world, uint32_t key, bp_entity_t *entities)
{
    const prototypes_t *p = &world->prototypes;
    uint32_t count = 0;
    for (uint32_t r = 0; r < world->run_count && count == 0; r++) {
        const run_t *run = world->runs[r];
        bool has = false;
        for (uint32_t at = run->prototype; at != 0; at = p->items[at].base)
            has = has || p->items[at].key == key;
        for (uint32_t row = 0; row < run->count && has && count < TOUCHED; row++) {
            if (run_entities(run)[row].id != 0)
                entities[count++] = run_entities(run)[row];
        }
    }
    return count;
}

/* Let a manager that begins anew load the state that the one at work has saved, and take its place. */
static bp_result_t load_anew(world_t *world, manager_t *manager, const void *data, size_t size)
{
    const component_t *component = manager->component;
    void *before = manager->verb.handed.state;
    manager->verb.handed.state = NULL;
    bp_result_t result = component->table.start == NULL ? BP_OK : verb_start(component, &manager->verb);
    if (result != BP_OK) {
        manager->verb.handed.state = before;
        return result;
    }
    world->base->error.text[0] = '\0';
    result = verb_load_saved(component, &manager->verb, component->table.version, data, size);
    void *now = manager->verb.handed.state;
    manager->verb.handed.state = before;
    if (component->table.stop != NULL)
        verb_stop(component, &manager->verb);
    manager->verb.handed.state = now;
    return result;
}

static bp_result_t save_and_load(world_t *world, manager_t *manager)
{
    const component_t *component = manager->component;
    void *data = NULL;
    size_t size = 0;
    if (component->saving.save == NULL || component->saving.load == NULL)
        return BP_OK;
    world->base->error.text[0] = '\0';
    bp_result_t result = verb_save(component, &manager->verb, &data, &size);
    if (result == BP_OK)
        result = load_anew(world, manager, data, size);
    memory_free(plugin_account(component->owner), data, size);
    if (result == BP_OK)
        return BP_OK;
    return error_prefix(&world->base->error, result, "component '%s' does not load what it has saved itself: ",
                        component->name);
}

/* The same for a system, whose state a past that is brought back hands over in this way. */
static bp_result_t load_system_anew(unit_t *unit, const void *data, size_t size)
{
    const system_t *system = unit->system;
    error_text_t *error = &unit->schedule->world->base->error;
    void *before = unit->verb.handed.state;
    unit->verb.handed.state = NULL;
    bp_result_t result = system->table.start == NULL ? BP_OK : verb_system_start(system, &unit->verb);
    if (result != BP_OK) {
        unit->verb.handed.state = before;
        return result;
    }
    error->text[0] = '\0';
    result = verb_system_load(system, &unit->verb, data, size);
    void *now = unit->verb.handed.state;
    unit->verb.handed.state = before;
    if (system->table.stop != NULL)
        verb_system_stop(system, &unit->verb);
    unit->verb.handed.state = now;
    return result;
}

static bp_result_t save_and_load_system(unit_t *unit)
{
    const system_t *system = unit->system;
    error_text_t *error = &unit->schedule->world->base->error;
    void *data = NULL;
    size_t size = 0;
    if (system->saving.save == NULL || system->saving.load == NULL || plugin_is_aside(system->owner))
        return BP_OK;
    error->text[0] = '\0';
    bp_result_t result = verb_system_save(system, &unit->verb, &data, &size);
    if (result == BP_OK)
        result = load_system_anew(unit, data, size);
    memory_free(plugin_account(system->owner), data, size);
    return result == BP_OK ? BP_OK : error_prefix(error, result, "system '%s' does not load what it has saved itself: ",
                                                  system->name);
}

static bp_result_t call_manager(world_t *world, manager_t *manager, lookout_t *lookout)
{
    bp_entity_t made[MADE], some[TOUCHED];
    uint32_t key, prototype;
    if (world_key(world, manager->number, 0, &key) != BP_OK)
        return BP_OK;
    touch_properties(world, manager, some, find_some(world, key, some));
    if (store_prototype(world, &key, 1, &prototype) == BP_OK && store_create(world, prototype, made, MADE) == BP_OK) {
        lookout_lay_in(lookout, world);
        touch_properties(world, manager, made, MADE);
    }
    if (manager->component->own_storage)
        world_count(world, manager->number);
    return plugin_is_aside(manager->component->owner) ? BP_OK : save_and_load(world, manager);
}

static bool is_of(const plugin_t *owner, plugin_t *const *candidates, uint32_t count)
{
    bool found = false;
    for (uint32_t i = 0; i < count; i++)
        found = found || candidates[i] == owner;
    return found;
}

/* Make, read, write, save, load, rewind, report. Returns NULL, or the fault where something was wrong though nothing
 * crashed. Between steps. */
static const char *call_all(reload_t *reload, plugin_t *const *candidates, uint32_t count, lookout_t *lookout)
{
    const destruction_t *d = reload->destruction;
    bp_result_t result = BP_OK;
    for (uint32_t w = 0; w < d->world_count && result == BP_OK; w++) {
        world_t *world = d->worlds[w];
        for (uint32_t m = 0; m < world->manager_count && result == BP_OK; m++) {
            manager_t *manager = world->managers[m];
            if (manager->started && is_of(manager->component->owner, candidates, count))
                result = call_manager(world, manager, lookout);
        }
        const schedule_t *schedule = world_handle(world)->schedule;
        for (uint32_t u = 0; u < schedule->count && result == BP_OK; u++) {
            unit_t *unit = schedule->units[u];
            if (unit->system == NULL || !is_of(unit->system->owner, candidates, count))
                continue;
            if (!system_is_output(unit->system))
                result = save_and_load_system(unit);
            unit_call_rewound(unit);
        }
    }
    lookout_lay(lookout);
    if (reload->ask_for_reports != NULL)
        reload->ask_for_reports(reload->loader->host);
    return result == BP_OK ? NULL : reload->base->error.text;
}

/* Take the entities apart and destroy them, some steps later, when systems know them. */
static void take_apart(reload_t *reload, plugin_t *const *candidates, uint32_t count)
{
    destruction_t *d = reload->destruction;
    for (uint32_t w = 0; w < d->world_count; w++) {
        world_t *world = d->worlds[w];
        for (uint32_t k = 0; k < world->prototypes.key_count; k++) {
            const manager_t *manager = world_key_manager(world, k);
            bp_entity_t some[TOUCHED];
            if (!manager->started || !is_of(manager->component->owner, candidates, count))
                continue;
            uint32_t found = find_some(world, k, some);
            if (found > 0 && store_remove(world, k, some, 1) == BP_OK)
                destruction_destroy(d, some + 1, found - 1);
        }
        store_collect_all(world);
    }
}

/* --- in the child ------------------------------------------------------------------------------------------------- */

typedef struct attempt_t {
    trial_t *trial;
    sample_t sample;
} attempt_t;

/* Keep the first error that is logged: after a crash the plugin, which holds the sentence, may be gone. */
static void keep_error(void *context, int32_t level, const char *source, const char *text)
{
    char *kept = context;
    (void)source;
    if (level == BP_LOG_ERROR && kept[0] == '\0')
        snprintf(kept, TRIAL_REASON, "%s", text);
}

static const char *crash_of_any(const loader_t *loader)
{
    for (uint32_t i = 0; i < loader->plugins.count; i++) {
        const char *crash = plugin_crash(loader->plugins.items[i]);
        if (plugin_is_aside(loader->plugins.items[i]) && crash[0] != '\0')
            return crash;
    }
    return NULL;
}

static const char *step_all(reload_t *reload, lookout_t *lookout)
{
    const destruction_t *d = reload->destruction;
    crew_t crew = {.jobs = {.threads = 1}};
    const char *crash = crash_of_any(reload->loader);
    for (uint32_t n = 0; n < TRIAL_STEPS && crash == NULL; n++) {
        posts_run(&reload->loader->posts);
        lookout_lay(lookout);
        for (uint32_t w = 0; w < d->world_count && crash == NULL; w++) {
            if (schedule_step(world_handle(d->worlds[w])->schedule, &crew) != BP_OK)
                return reload->base->error.text;
            crash = crash_of_any(reload->loader);
        }
    }
    return crash;
}

/* Make steps, and then call the candidates' other verbs. */
static const char *use_all(reload_t *reload, plugin_t *const *candidates, uint32_t count, lookout_t *lookout)
{
    const char *trouble = step_all(reload, lookout);
    if (trouble == NULL)
        trouble = call_all(reload, candidates, count, lookout);
    if (trouble == NULL)
        trouble = step_all(reload, lookout);
    if (trouble == NULL) {
        take_apart(reload, candidates, count);
        trouble = step_all(reload, lookout);
    }
    return trouble;
}

/* Trust plugins again that were set aside before: their crashes have nothing to do with the candidate. */
static void forget_crashes(loader_t *loader)
{
    for (uint32_t i = 0; i < loader->plugins.count; i++) {
        if (plugin_is_aside(loader->plugins.items[i]))
            loader->plugins.items[i]->crash[0] = '\0';
    }
    atomic_store(&loader->plugins.crashed, false);
}

/* Unload the candidates completely, with their libraries. Faults in the last calls of the versions before them do not
 * count against the candidates. */
static const char *unload_all(reload_t *reload, plugin_t *const *candidates, uint32_t count, char *error)
{
    const char *crash = NULL;
    reload_accept(reload);
    forget_crashes(reload->loader);
    for (uint32_t i = count; i > 0 && crash == NULL; i--) {
        error[0] = '\0';
        unload_plugin(reload->loader, reload->destruction, candidates[i - 1]);
        crash = atomic_load(&reload->loader->plugins.crashed) ? error : NULL;
    }
    return crash;
}

/* Find what the process holds at the end, when all plugins have been paused, and did not hold at the beginning: the
 * candidates left it. Threads that have been joined are counted by the system a moment longer. */
static const char *find_leavings(reload_t *reload, const os_holdings_t *before, char *text)
{
    os_holdings_t now = {0};
    loader_pause_all(reload->loader, BP_PAUSE_UNLOAD);
    for (uint32_t i = 0; i < LEAVINGS_LOOKS; i++) {
        now = os_holdings_count();
        if (now.files <= before->files && now.threads <= before->threads && now.children <= before->children &&
            now.timers <= before->timers)
            return NULL;
        os_sleep_ns(MILLION);
    }
    const char *what = now.threads > before->threads     ? "threads running"
                       : now.children > before->children ? "processes running"
                       : now.files > before->files       ? "files open"
                                                         : "timers running";
    snprintf(text, TRIAL_REASON, "it leaves %s when it is unloaded", what);
    return text;
}

/* Send which columns the change makes anew, as soon as that is known: the host may begin to make them ready. */
static void tell_columns(process_t *self, const reload_change_t *change)
{
    char head[COLUMNS_HEAD] = {SAYS_COLUMNS};
    memory_t *memory = &change->reload->memory;
    char *told = memory_resize(memory, NULL, 0, AHEAD_TOLD);
    uint32_t size = told == NULL ? 0 : (uint32_t)ahead_tell(change, told, AHEAD_TOLD);
    memcpy(head + 1, &size, sizeof size);
    if (size > 0) {
        process_write(self, head, sizeof head);
        process_write(self, told, size);
    }
    memory_free(memory, told, AHEAD_TOLD);
}

static int try_change(process_t *self, void *data)
{
    const attempt_t *attempt = data;
    char error[TRIAL_REASON] = "";
    lookout_t lookout;
    holdings_seen_t known;
    plugin_t *candidates[RELOAD_MAX_PLUGINS];
    uint32_t count = reload_plugins(attempt->trial->change, candidates);
    reload_t *reload = attempt->trial->reload;
    char verdict = SAYS_PASSED;
    const char *reason = "";
    reload->base->log = (bp_log_i){.context = error, .write = keep_error};
    reload->loader->on_trial = reload->loader->plugins.strict = true;
    if (reload->loader->guard != NULL)
        /* so that for a candidate that hangs the report has the place */
        guard_begin_copy(reload->loader->guard, attempt->trial->deadline_ms / 2 + 1);
    os_holdings_t before = os_holdings_count();
    posts_forget(&reload->loader->posts); /* the original carries them out */
    sample_enter(&attempt->sample);
    forget_crashes(reload->loader);
    holdings_see(&reload->loader->plugins, &known);
    reload->loader->plugins.known = &known;
    lookout_begin(&lookout, reload, candidates, count);
    if (reload_prepare(attempt->trial->change) != BP_OK) {
        verdict = atomic_load(&reload->loader->plugins.crashed) ? SAYS_FAILED : SAYS_REFUSED;
        reason = reload->base->error.text;
    } else {
        tell_columns(self, attempt->trial->change);
        reload_commit(attempt->trial->change);
        lookout_lay_changed(&lookout);
        loader_resume_all(reload->loader, BP_PAUSE_COPY);
        const char *trouble = use_all(reload, candidates, count, &lookout);
        if (trouble == NULL)
            trouble = unload_all(reload, candidates, count, error);
        if (trouble == NULL)
            trouble = find_leavings(reload, &before, error);
        verdict = trouble == NULL ? SAYS_PASSED : SAYS_FAILED;
        reason = trouble == NULL ? "" : trouble;
    }
    lookout_end(&lookout);
    reload->loader->plugins.known = NULL;
    holdings_forget(&reload->loader->plugins, &known);
    process_write(self, &verdict, 1);
    process_write(self, reason, strlen(reason));
    return verdict == SAYS_PASSED ? 0 : 1;
}

/* --- in a helper -------------------------------------------------------------------------------------------------- */

void trial_cannot(process_t *self, const char *why)
{
    const char letter = SAYS_CANNOT;
    process_write(self, &letter, 1);
    process_write(self, why, strlen(why));
}

/* Let the plugins' files be those of the candidates for as long as these are read. */
static void exchange_files(loader_t *loader, const char *const *names, char **paths, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        plugin_t *plugin = loader_find(loader, names[i]);
        if (plugin == NULL)
            continue;
        char **file = plugin->file != NULL ? &plugin->file : &plugin->path, *kept = *file;
        *file = paths[i];
        paths[i] = kept;
    }
}

int trial_here(process_t *self, reload_t *reload, const char *const *names, char **files, uint32_t count, bool lossy,
               uint32_t deadline_ms)
{
    trial_t trial = {.memory = &reload->memory, .reload = reload, .deadline_ms = deadline_ms};
    attempt_t attempt = {.trial = &trial};
    exchange_files(reload->loader, names, files, count);
    bp_result_t result = reload_read(reload, names, count, &trial.change);
    exchange_files(reload->loader, names, files, count);
    if (result != BP_OK) {
        trial_cannot(self, reload->base->error.text);
        return 1;
    }
    if (lossy)
        reload_allow_loss(trial.change);
    return try_change(self, &attempt);
}

/* --- in the host -------------------------------------------------------------------------------------------------- */

static void begin_copy(trial_t *trial)
{
    const destruction_t *d = trial->reload->destruction;
    attempt_t attempt = {.trial = trial};
    loader_pause_all(trial->reload->loader, BP_PAUSE_TRIAL);
    sample_take(&attempt.sample, trial->memory, d->worlds, d->world_count);
    trial->child = process_fork(trial->memory, try_change, &attempt);
    sample_give_back(&attempt.sample);
    loader_resume_all(trial->reload->loader, BP_PAUSE_TRIAL);
}

static void begin_helper(trial_t *trial, const char *helper)
{
    bytes_t scratch;
    error_text_t error = {.calls = NULL};
    bytes_init(&scratch, trial->memory);
    scratch_describe(&scratch, trial->reload, trial->change, trial->deadline_ms);
    int length = snprintf(trial->told, sizeof trial->told, "%s.trial", trial->change->versions[0].copy);
    if (scratch.failed || length < 0 || length >= (int)sizeof trial->told ||
        file_write(trial->told, scratch.start, scratch.size, &error) != BP_OK)
        trial->told[0] = '\0';
    else
        trial->child = process_start_helper(trial->memory, helper, TRIAL_WORD, trial->told);
    bytes_free(&scratch);
    if (trial->child == NULL)
        trial_end(trial);
}

bool trial_begin(trial_t *trial, memory_t *memory, reload_t *reload, reload_change_t *change, uint32_t deadline_ms,
                 const char *helper)
{
    uint64_t began = os_clock_ns();
    *trial = (trial_t){.memory = memory, .reload = reload, .change = change, .deadline_ms = deadline_ms};
    if (helper == NULL)
        begin_copy(trial);
    else
        begin_helper(trial, helper);
    uint64_t now = os_clock_ns();
    trial->stood_ns = now - began;
    trial->since = now / MILLION;
    return trial->child != NULL;
}

void trial_end(trial_t *trial)
{
    process_free(trial->child);
    trial->child = NULL;
    if (trial->told[0] != '\0' && !base_is_copied(trial->reload->base)) /* a copy leaves it to its host's process */
        os_file_remove(trial->told);
    trial->told[0] = '\0';
}

static void hear_child(trial_t *trial)
{
    size_t got;
    char rest[256];
    do {
        size_t room = sizeof trial->said - 1 - trial->said_size;
        got =
            process_read(trial->child, room > 0 ? trial->said + trial->said_size : rest, room > 0 ? room : sizeof rest);
        trial->said_size += room > 0 ? got : 0;
    } while (got > 0);
    trial->said[trial->said_size] = '\0';
}

/* Append the last words of the child's standard error, unless the error contains them. */
static void add_words(trial_t *trial)
{
    error_text_t *error = &trial->reload->base->error;
    const char *words = process_last_words(trial->child);
    size_t used = strlen(error->text);
    if (words[0] != '\0' && strstr(error->text, words) == NULL)
        snprintf(error->text + used, sizeof error->text - used, "; the last that it wrote to stderr: %s", words);
}

/* Where the verdict begins in what the child has said: behind the columns, if it has sent any. Where neither has come
 * as a whole, at the end of what has. */
static size_t verdict_at(const trial_t *trial)
{
    uint32_t size;
    if (trial->said_size == 0 || trial->said[0] != SAYS_COLUMNS)
        return 0;
    if (trial->said_size < COLUMNS_HEAD)
        return trial->said_size;
    memcpy(&size, trial->said + 1, sizeof size);
    return size <= trial->said_size - COLUMNS_HEAD ? COLUMNS_HEAD + size : trial->said_size;
}

/* Judge a child that has ended, by itself or by a fault of the candidate. */
static int judge_child(trial_t *trial, const process_end_t *end)
{
    error_text_t *error = &trial->reload->base->error;
    hear_child(trial);
    const char *verdict = trial->said + verdict_at(trial);
    if (end->state == PROCESS_ENDED && end->code == 0 && verdict[0] == SAYS_PASSED) {
        trial->change->compared = trial->told[0] == '\0'; /* a helper has no instances to compare */
        return TRIAL_PASSED;
    }
    if (end->state == PROCESS_ENDED && verdict[0] == SAYS_CANNOT) {
        log_write(&trial->reload->base->log, BP_LOG_WARNING, "reload",
                  "a helper process cannot try new versions of plugins, so they come in untried: %s", verdict + 1);
        trial->untried = true;
        return TRIAL_PASSED;
    }
    if (end->state == PROCESS_KILLED)
        error_set(error, BP_ERROR_FAILED, "on trial it was ended by %s%s", end->signal,
                  trial->reload->loader->guard == NULL ? "; crash_guard = on tells where" : "");
    else if (end->code == PROCESS_CALLED_EXIT)
        error_set(error, BP_ERROR_FAILED, "on trial it called exit");
    else if (verdict[0] != '\0' && verdict[1] != '\0')
        error_set(error, BP_ERROR_FAILED, "on trial: %s", verdict + 1);
    else
        error_set(error, BP_ERROR_FAILED, "on trial its process ended with %d", end->code);
    trial->refused = end->state == PROCESS_ENDED && verdict[0] == SAYS_REFUSED;
    if (!trial->refused)
        add_words(trial);
    return TRIAL_FAILED;
}

int trial_state(trial_t *trial)
{
    hear_child(trial);
    process_end_t end = process_state(trial->child);
    if (end.state != PROCESS_RUNNING)
        return judge_child(trial, &end);
    if (os_clock_ns() / MILLION - trial->since <= trial->deadline_ms)
        return TRIAL_RUNNING;
    error_set(&trial->reload->base->error, BP_ERROR_FAILED,
              "on trial it had not come through after %u ms (trial_deadline)", trial->deadline_ms);
    return TRIAL_FAILED;
}

const char *trial_told(const trial_t *trial, size_t *size)
{
    uint32_t columns = 0;
    if (trial->said_size > COLUMNS_HEAD && trial->said[0] == SAYS_COLUMNS)
        memcpy(&columns, trial->said + 1, sizeof columns);
    *size = columns <= trial->said_size - COLUMNS_HEAD ? columns : 0;
    return trial->said + COLUMNS_HEAD;
}

int trial_wait(trial_t *trial)
{
    int state;
    bool begun = false, readies = false;
    while ((state = trial_state(trial)) == TRIAL_RUNNING) {
        size_t size;
        const char *told = trial_told(trial, &size);
        if (!begun && size > 0) {
            reload_begin_readying(trial->change, told, size);
            begun = readies = true;
        }
        readies = readies && reload_make_ready(trial->change);
        if (!readies)
            os_sleep_ns(TRIAL_NAP_NS);
    }
    return state;
}
