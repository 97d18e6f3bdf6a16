/* host.c - the host: its beginning and end, its figures, its worlds and steps, and the checks that its functions
 * share. */
#include "host.h"

#include "../base/memory.h"
#include "../base/units.h"
#include "../os/stopwatch.h"
#include "../plugin/loader.h"
#include "../plugin/verbs.h"
#include "../step/schedule_inner.h"

const bp_api_t *bp_host_api(bp_host_o *host)
{
    return &host->api;
}

const char *bp_host_error(bp_host_o *host)
{
    return host->base.error.text;
}

path_worlds_t host_worlds(const bp_host_o *host)
{
    return (path_worlds_t){(base_t *)(uintptr_t)&host->base, &host->destruction};
}

bp_result_t host_refuse_asked(bp_host_o *host)
{
    return error_set(&host->base.error, BP_ERROR_STATE,
                     "nothing can change while a component with storage of its own gives or takes values or counts, or "
                     "a state is written down or read");
}

bp_result_t host_refuse_during_step(bp_host_o *host)
{
    if ((host->base.attention & BASE_ASKED) != 0)
        return host_refuse_asked(host);
    if (host->destruction.stepping == 0 && !host->destruction.announcing && !host->entities.sealed)
        return BP_OK;
    return error_set(&host->base.error, BP_ERROR_STATE, "not from inside a step, a destruction callback or a reload");
}

static bool is_in_verb(const bp_host_o *host)
{
    return host->using || host->loader.plugins.calling > 0;
}

NOT_INLINED static bp_result_t refuse_from_verb(bp_host_o *host)
{
    return error_set(&host->base.error, BP_ERROR_STATE, "not while plugins, or what they bring, come or go");
}

bp_result_t host_refuse_from_verb(bp_host_o *host)
{
    bp_result_t result = host_refuse_during_step(host);
    return result == BP_OK && is_in_verb(host) ? refuse_from_verb(host) : result;
}

bp_result_t host_refuse_from_inside(bp_host_o *host)
{
    bp_result_t result = host_refuse_during_step(host);
    if (result == BP_OK && host->loader.posts.running)
        result = error_set(&host->base.error, BP_ERROR_STATE, "not from inside a posted task");
    return result == BP_OK && is_in_verb(host) ? refuse_from_verb(host) : result;
}

bp_result_t host_refuse_in_copy(bp_host_o *host)
{
    if (!base_is_copied(&host->base))
        return BP_OK;
    return error_set(&host->base.error, BP_ERROR_STATE,
                     "not in a copy (fork) of the process that has made the host; there it can be stepped, read and "
                     "saved");
}

bp_result_t host_refuse_change(bp_host_o *host)
{
    bp_result_t result = host_refuse_from_inside(host);
    return result == BP_OK ? host_refuse_in_copy(host) : result;
}

/* --- host life --------------------------------------------------------------------------------------------------- */

/* A host's beginning and end.
 *
 * The parts of a host are made in the order in which they need each other and ended in the opposite one: schedules
 * before worlds, worlds before plugins, plugins before the registry, everything before the base; the accounts of the
 * base must then stand at zero.
 */

/* A host's entities carry a tag, so that another host can tell that they are not its own. The next host mostly lies at
 * the address of one that has ended, so the moment counts too. */
static uint32_t draw_tag(const bp_host_o *host)
{
    uint64_t state = (uint64_t)(uintptr_t)host ^ os_clock_ns() ^ os_process_number() << 32;
    return 1 + bp_random_below(&state, ENTITY_MAX_TAG);
}

/* The numbers of layouts of a host begin anywhere, so that a property that was resolved in another host, or in one that
 * there was at the same address, is found to be of none of its worlds. */
static uint32_t draw_layouts(const bp_host_o *host)
{
    uint64_t state = (uint64_t)(uintptr_t)host ^ os_clock_ns();
    return bp_random_below(&state, UINT32_MAX);
}

void host_read_part(void *part, const void *given, size_t known)
{
    uint32_t says;
    memset(part, 0, known);
    if (given == NULL)
        return;
    memcpy(&says, given, sizeof says);
    memcpy(part, given, says != 0 && says < known ? says : known);
}

static void init_base(bp_host_o *host, const bp_host_desc_t *desc, const bp_allocator_i *allocator)
{
    base_t *base = &host->base;
    memory_init(&base->memory, "host", allocator);
#if defined(BACKPLANE_AUDIT)
    audit_begin(&base->memory);
#endif
    memory_init_child(&host->makeups, "makeups", &base->memory);
    superblocks_init(&base->superblocks, &base->memory);
    host_read_part(&base->log, desc->log, sizeof base->log);
    base->random = desc->seed;
    base->process = os_process_number();
    names_init(&base->names, &base->memory);
    strings_init(&base->strings, &base->memory);
    uint32_t tag = desc->tag >= 1 && desc->tag <= ENTITY_MAX_TAG ? desc->tag : draw_tag(host);
    base->values = (value_context_t){.names = &base->names, .entity_base = tag << ENTITY_COUNTER_BITS};
}

bp_result_t host_make_threads(bp_host_o *host, uint32_t threads, jobs_t **pool)
{
    *pool = NULL;
    if (threads > JOBS_MAX_THREADS)
        return error_set(&host->base.error, BP_ERROR_LIMIT, "%u threads; at most %d are allowed", threads,
                         JOBS_MAX_THREADS);
    uint32_t callers = 1 + (host->own_jobs ? threads : host->crew.jobs.threads);
    if (!error_reserve_calls(&host->base.error, &host->base.memory, callers))
        return error_memory(&host->base.error, "making room for what threads say");
    if (!host->own_jobs || threads <= 1 || host->crew.jobs.threads == threads)
        return BP_OK;
    return jobs_create(&host->base, threads, pool);
}

void host_take_threads(bp_host_o *host, uint32_t threads, jobs_t *pool)
{
    if (!host->own_jobs || host->crew.jobs.threads == threads)
        return;
    if (host->pool != NULL)
        jobs_free(host->pool);
    host->pool = pool;
    host->crew.jobs = pool == NULL ? (bp_jobs_i){.threads = 1} : jobs_table(pool);
}

bp_result_t host_set_threads(bp_host_o *host, uint32_t threads)
{
    jobs_t *pool;
    bp_result_t result = host_make_threads(host, threads, &pool);
    if (result == BP_OK && threads > 1)
        host_take_threads(host, threads, pool);
    return result;
}

static void *default_resize(const bp_allocator_i *allocator, void *old, size_t old_size, size_t new_size)
{
    memory_t once;
    memory_init(&once, "once", allocator);
    return old == NULL ? memory_resize_cleared(&once, NULL, 0, new_size)
                       : memory_resize(&once, old, old_size, new_size);
}

static void drop_table(void *context, const char *world, const char *unit, const char *title,
                       const char *const *headers, uint32_t columns)
{
    (void)context, (void)world, (void)unit, (void)title, (void)headers, (void)columns;
}

static void drop_row(void *context, const char *const *cells, uint32_t columns)
{
    (void)context, (void)cells, (void)columns;
}

static void drop_value(void *context, const char *world, const char *unit, const char *name, const char *text)
{
    (void)context, (void)world, (void)unit, (void)name, (void)text;
}

static void ask_for_reports(bp_host_o *host)
{
    bp_host_report(host, &(bp_report_sink_i){.table = drop_table, .row = drop_row, .value = drop_value});
}

bp_host_o *bp_host_create(const bp_host_desc_t *desc)
{
    bp_host_desc_t known = {0};
    if (desc != NULL)
        memcpy(&known, desc,
               desc->struct_size != 0 && desc->struct_size < sizeof known ? desc->struct_size : sizeof known);
    bp_allocator_i allocator;
    host_read_part(&allocator, known.allocator, sizeof allocator);
    bp_host_o *host = default_resize(&allocator, NULL, 0, sizeof *host);
    if (host == NULL)
        return NULL;
    stopwatch_begin();
    host->layouts = draw_layouts(host);
    init_base(host, &known, &allocator);
    registry_init(&host->registry, &host->base);
    entities_init(&host->entities, &host->base);
    destruction_init(&host->destruction, &host->base, &host->entities);
    host->destruction.unit = schedule_listener;
    host->destruction.plugins = &host->loader.plugins;
    scenes_init(&host->scenes, &host->base, host);
    host->api = host_tables();
    loader_init(&host->loader, &host->base, &host->registry, &host->api, host, known.static_plugins,
                known.static_plugin_count);
    host->loader.copies = (known.flags & BP_HOST_COPY_PLUGINS) != 0;
    reload_init(&host->reload, &host->base, &host->registry, &host->loader, &host->destruction, &host->layouts);
    host->reload.ask_for_reports = ask_for_reports;
    host->reload.jobs = &host->crew.jobs;
    hot_init(&host->hot, &host->reload);
    bp_result_t history = host_init_history(host);
    draft_init(host);
    audit_init(&host->audit, &host->base, true);
    audit_init(&host->watch, &host->base, false);
    host_read_part(&host->crew.jobs, known.jobs, sizeof host->crew.jobs);
    host->own_jobs = host->crew.jobs.run == NULL;
    if (host->own_jobs)
        host->crew.jobs.threads = 1;
    host->ranks = 1;
    snprintf(host->trial_helper, sizeof host->trial_helper, "%s", known.trial_helper == NULL ? "" : known.trial_helper);
    host->watchful = (known.flags & BP_HOST_WATCHFUL) != 0;
    if (history != BP_OK || host_set_live(host, &known) != BP_OK || host_set_threads(host, known.threads) != BP_OK) {
        bp_host_destroy(host);
        return NULL;
    }
    return host;
}

void bp_host_destroy(bp_host_o *host)
{
    if (host == NULL || base_is_copied(&host->base))
        return;
    draft_free(host);
    history_record_end(&host->history);
    history_free(&host->history);
    wished_change_free(&host->wished, &host->base.memory);
    wished_change_free(&host->wished_next, &host->base.memory);
    hot_free(&host->hot);
    loader_pause_all(&host->loader, BP_PAUSE_UNLOAD);
    posts_forget(&host->loader.posts); /* dropped without a line in the log: the whole host ends */
    reload_free(&host->reload);
    while (host->destruction.world_count > 0)
        host_end_world(host_world(host, host->destruction.world_count - 1));
    bp_host_leave_peers(host, 0);
    host->loader.ending = true;
    while (host->loader.plugins.count > 0)
        loader_unload(&host->loader, host->loader.plugins.items[host->loader.plugins.count - 1]);
    if (host->pool != NULL)
        jobs_free(host->pool);
    if (host->other_pool != NULL)
        jobs_free(host->other_pool);
    audit_free(&host->audit);
    host_forget_inis(host);
    if (host->crew.trace != NULL)
        trace_free(host->crew.trace, &host->base);
    guard_destroy(host->loader.guard);
    loader_free(&host->loader);
    sources_free(&host->hot.sources); /* copies of the libraries may have lain in their folder */
    scenes_free(&host->scenes);
    destruction_free(&host->destruction);
    entities_free(&host->entities);
    registry_free(&host->registry);
    error_free_calls(&host->base.error, &host->base.memory);
    strings_free(&host->base.strings);
    names_free(&host->base.names);
    superblocks_free(&host->base.superblocks);
    if (memory_bytes(&host->base.memory) > 0)
        log_write(&host->base.log, BP_LOG_WARNING, "host", "%zu bytes were not given back",
                  memory_bytes(&host->base.memory));
#if defined(BACKPLANE_AUDIT)
    audit_end(&host->base.memory);
#endif
    bp_allocator_i allocator = host->base.memory.allocator;
    default_resize(&allocator, host, sizeof *host, 0);
}

/* --- host figures ------------------------------------------------------------------------------------------------ */

/* An embedder's view of a host at work: slices of steps, figures, reports.
 *
 * Figures are counted in every step, so asking for them measures nothing more; slices are put down only while a sink is
 * set.
 */

bp_result_t bp_host_trace(bp_host_o *host, const bp_trace_i *sink)
{
    bp_result_t result = host_refuse_from_inside(host);
    if (result != BP_OK)
        return result;
    bp_trace_i known;
    host_read_part(&known, sink, sizeof known);
    if (sink != NULL && known.slices == NULL)
        return error_set(&host->base.error, BP_ERROR_ARGUMENT, "looking at steps needs a function that takes slices");
    if (host->crew.trace != NULL && trace_is_telling(host->crew.trace)) {
        if (sink != NULL)
            return error_set(&host->base.error, BP_ERROR_STATE, "not from the function that takes slices");
        trace_end_later(host->crew.trace);
        return BP_OK;
    }
    trace_t *trace = sink == NULL ? NULL : trace_create(&host->base, &known);
    if (sink != NULL && trace == NULL)
        return error_memory(&host->base.error, "beginning to look at steps");
    if (host->crew.trace != NULL)
        trace_free(host->crew.trace, &host->base);
    host->crew.trace = trace;
    return BP_OK;
}

uint64_t bp_host_configured_steps(bp_host_o *host)
{
    return host->steps;
}

/* Write as much of a struct as the caller knows; members that the host does not know are zero. */
static void hand_over(void *out, uint32_t out_size, const void *known, size_t known_size)
{
    memset(out, 0, out_size);
    memcpy(out, known, out_size < known_size ? out_size : known_size);
}

int32_t bp_host_unit_stats_sized(bp_host_o *host, uint32_t index, bp_unit_stats_t *stats, uint32_t stats_size)
{
    for (uint32_t w = 0; w < host->destruction.world_count; w++) {
        const bp_world_o *world = host_world(host, w);
        const schedule_t *schedule = world->schedule;
        if (index >= schedule->count) {
            index -= schedule->count;
            continue;
        }
        const unit_t *unit = schedule->units[index];
        const plugin_t *owner = unit->system != NULL ? unit->system->owner : unit->manager->component->owner;
        bp_unit_stats_t known = {world->rows.name, unit->name, owner->name, unit->steps, unit->nanoseconds, unit->rows};
        hand_over(stats, stats_size, &known, sizeof known);
        return 1;
    }
    return 0;
}

void bp_world_stats_sized(bp_world_o *world, bp_world_stats_t *stats, uint32_t stats_size)
{
    bp_world_stats_t known = {
        .name = world->rows.name,
        .steps = world->clock.steps,
        .time = world->clock.time,
        .nanoseconds = world->clock.nanoseconds,
        .bytes = world_bytes(&world->rows),
        .entities = world_entities(&world->rows),
        .prototypes = world->rows.prototypes.count,
        .runs = world->rows.run_count,
    };
    for (uint32_t i = 0; i < world->rows.run_count; i++)
        known.holes += world->rows.runs[i]->holes;
    hand_over(stats, stats_size, &known, sizeof known);
}

static void report_world(bp_world_o *world, const bp_report_sink_i *sink)
{
    const schedule_t *schedule = world->schedule;
    bp_report_o report = {.sink = sink, .world = world->rows.name};
    for (uint32_t i = 0; i < world->rows.manager_count; i++) {
        manager_t *manager = world->rows.managers[i];
        report.unit = manager->component->name;
        if (manager->started && manager->component->reporting.report != NULL)
            verb_report(manager->component, &manager->verb, &report);
    }
    for (uint32_t i = 0; i < schedule->count; i++) {
        unit_t *unit = schedule->units[i];
        report.unit = unit->name;
        unit_call_report(unit, &report);
    }
}

void bp_host_report(bp_host_o *host, const bp_report_sink_i *sink)
{
    bp_report_sink_i known;
    host_read_part(&known, sink, sizeof known);
    for (uint32_t w = 0; w < host->destruction.world_count; w++)
        report_world(host_world(host, w), &known);
}

/* --- host worlds ------------------------------------------------------------------------------------------------- */

/* Worlds for embedders: made and stepped.
 *
 * The components and systems that worlds use are the subject of use.c. After each step the host sees to its outcome:
 * slices are handed out, crashes looked at, a probation counted.
 */

/* May a world have this name? A word; or a word with .halo behind it, for the copies beside a world that is split
 * (docs/machines.md). */
static bool is_world_name(const char *name)
{
    char word[128];
    const char *halo = strstr(name, ".halo");
    if (halo == NULL || halo[sizeof ".halo" - 1] != '\0' || (size_t)(halo - name) >= sizeof word)
        return names_is_word(name);
    memcpy(word, name, (size_t)(halo - name));
    word[halo - name] = '\0';
    return names_is_word(word);
}

static bp_result_t check_world(bp_host_o *host, const bp_world_desc_t *desc)
{
    error_text_t *error = &host->base.error;
    bp_result_t result = host_refuse_during_step(host);
    if (result != BP_OK)
        return result;
    if (desc->name == NULL || !is_world_name(desc->name))
        return error_set(error, BP_ERROR_ARGUMENT,
                         "a world's name must be 1 to 63 letters, digits or underscores, not '%.40s'",
                         desc->name == NULL ? "" : desc->name);
    if (destruction_find_world(&host->destruction, desc->name) != NULL)
        return error_set(error, BP_ERROR_EXISTS, "there is a world '%s' already", desc->name);
    if (!(desc->step_rate >= 0.0) || desc->step_rate > 1e12)
        return error_set(error, BP_ERROR_RANGE,
                         "world '%s': %g steps in a unit of time; the step rate lies above 0, up to 1e12", desc->name,
                         desc->step_rate);
    if (desc->units != NULL && units_check(desc->units, error) != BP_OK)
        return error_prefix(error, BP_ERROR_SYNTAX, "world '%s': ", desc->name);
    return BP_OK;
}

bp_result_t host_create_world(bp_host_o *host, const bp_world_desc_t *desc, bp_world_o **out)
{
    bp_world_desc_t known = {0};
    memcpy(&known, desc, desc->struct_size != 0 && desc->struct_size < sizeof known ? desc->struct_size : sizeof known);
    bp_result_t result = check_world(host, &known);
    if (result != BP_OK)
        return result;
    double rate = known.step_rate > 0.0 ? known.step_rate : 60.0;
    const world_parts_t parts = {&host->base, &host->entities, &host->registry, &host->api, host};
    bp_world_o *world = schedule_create_world(&parts, &host->destruction, known.name, rate, host->worlds_made + 1,
                                              host->layouts % UINT32_MAX + 1); /* not 0 */
    if (world == NULL)
        return BP_ERROR_MEMORY;
    if (known.units != NULL && known.units[0] != '\0')
        world->rows.units = memory_copy_text(&world->rows.memory, known.units);
    result = known.units != NULL && known.units[0] != '\0' && world->rows.units == NULL
                 ? error_memory(&host->base.error, "creating a world")
                 : destruction_add_world(&host->destruction, &world->rows);
    if (result != BP_OK) {
        schedule_free_world(world);
        return result;
    }
    history_add_world(&host->history, &world->rows);
    host->layouts = world->rows.layout;
    /* Not before: a world that could not be made must not change the random numbers of the next. */
    world->made = ++host->worlds_made;
    *out = world;
    return BP_OK;
}

bp_world_o *bp_world_create(bp_host_o *host, const bp_world_desc_t *desc)
{
    bp_world_o *world;
    return host_create_world(host, desc, &world) == BP_OK ? world : NULL;
}

void bp_world_destroy(bp_world_o *world)
{
    if (world != NULL && host_refuse_from_verb(world->rows.host) == BP_OK)
        host_end_world(world);
}

void host_end_world(bp_world_o *world)
{
    history_lose_part(&world->rows.host->history);
    reload_forget_world(&world->rows.host->reload, &world->rows);
    destruction_remove_world(&world->rows.host->destruction, &world->rows);
    schedule_free_world(world);
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

static bp_result_t after_step(bp_host_o *host, uint32_t world, bp_result_t result)
{
    if (host->crew.trace != NULL && !trace_is_telling(host->crew.trace) && !trace_flush(host->crew.trace)) {
        trace_free(host->crew.trace, &host->base);
        host->crew.trace = NULL;
    }
    if (HOST_AUDITS || atomic_load_explicit(&host->loader.plugins.crashed, memory_order_relaxed))
        host_attend_crashes(host);
    if (result == BP_OK && host->destruction.stepping == 0)
        reload_step_done(&host->reload);
    if (result == BP_OK)
        history_end_step(&host->history, world);
    else if (host->destruction.stepping == 0)
        outside_end(&host->history.outside); /* what a step took that failed is none of the next one's */
    return result;
}

bp_result_t bp_world_step(bp_world_o *world)
{
    bp_result_t result = host_refuse_from_inside(world->rows.host);
    if (result != BP_OK)
        return result;
    if (!world_clock_runs(&world->clock))
        return BP_OK;
    if (world->rows.host->wish.holds)
        host_step_where_wished(world->rows.host);
    error_begin_step(&world->rows.host->base.error);
    uint32_t number = world->rows.number;
    history_begin_step(&world->rows.host->history, number);
    return after_step(world->rows.host, number, schedule_step(world->schedule, &world->rows.host->crew));
}

static bool runs(const bp_host_o *host, uint32_t index)
{
    return world_clock_runs(&host_world(host, index)->clock);
}

/* May the units of all worlds that are not stopped run side by side? The answer must not depend on
 * the number of threads. */
static bool may_step_together(const bp_host_o *host)
{
    uint32_t running = 0;
    bool together = true;
    for (uint32_t i = 0; i < host->destruction.world_count; i++)
        if (runs(host, i)) {
            running++;
            together = together && host_world(host, i)->schedule->all_concurrent;
        }
    return together && running > 1;
}

static bp_result_t step_together(bp_host_o *host)
{
    uint32_t room = host->destruction.world_count, count = 0;
    schedule_t **schedules = memory_resize(&host->base.memory, NULL, 0, room * sizeof *schedules);
    if (schedules == NULL)
        return error_memory(&host->base.error, "stepping worlds side by side");
    for (uint32_t i = 0; i < room; i++)
        if (runs(host, i))
            schedules[count++] = host_world(host, i)->schedule;
    bp_result_t result = schedule_step_together(schedules, count, &host->crew);
    memory_free(&host->base.memory, schedules, room * sizeof *schedules);
    return result;
}

/* Are all worlds stopped? Then bp_host_step takes no step, and the history gets no moment. */
static bool all_stand(const bp_host_o *host)
{
    uint32_t standing = 0;
    while (standing < host->destruction.world_count && !runs(host, standing))
        standing++;
    return standing > 0 && standing == host->destruction.world_count;
}

bp_result_t bp_host_step(bp_host_o *host)
{
    bp_result_t result = host_refuse_from_inside(host);
    if (result == BP_OK && all_stand(host))
        return BP_OK;
    if (result == BP_OK) {
        if (host->wish.holds)
            host_step_where_wished(host);
        error_begin_step(&host->base.error);
        history_begin_step(&host->history, BP_NONE);
    }
    for (uint32_t i = 0; i < host->destruction.world_count && result == BP_OK; i++)
        if (runs(host, i))
            result = schedule_prepare(host_world(host, i)->schedule);
    if (result == BP_OK && may_step_together(host))
        return after_step(host, BP_NONE, step_together(host));
    bool any = false;
    for (uint32_t i = 0; i < host->destruction.world_count && result == BP_OK; i++)
        if (runs(host, i)) {
            result = schedule_step(host_world(host, i)->schedule, &host->crew);
            any = any || result == BP_OK;
        }
    if (any && result != BP_OK)
        history_touch_always(&host->history); /* some worlds are a step further, and the host is not */
    return after_step(host, BP_NONE, result);
}

/* --- destruction -------------------------------------------------------------------------------------------------- */

bp_result_t bp_host_on_destroyed(bp_host_o *host, const void *owner, bp_destroyed_callback callback, void *data)
{
    return destruction_add_callback(&host->destruction, owner, callback, data);
}

void bp_host_drop_owner(bp_host_o *host, const void *owner)
{
    destruction_drop_owner(&host->destruction, owner);
}
