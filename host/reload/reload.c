/* reload.c - a change from its files to its end.
 *
 * Invariant: until the commit everything of a change lies beside the parts at work, so undoing it means freeing it. An
 * exchange is undone by a second one. At the end of preparing all sides are exchanged for a moment, so that the worlds
 * settle their steps with the new units and report what is wrong, and exchanged back. After that no step can fail.
 *
 * A change that is prepared while another one is on probation lies beside both. Its shapes are made without the hidden
 * columns of the managers that it moves, and with those of the others; so the probation goes on where the change is
 * refused, and ends in the commit.
 */
#include "../os/os.h"
#include "../plugin/registry.h"
#include "../store/hooks.h"
#include "../store/world_check.h"
#include "ahead.h"

void reload_init(reload_t *reload, base_t *base, registry_t *registry, loader_t *loader, destruction_t *destruction,
                 uint32_t *layouts)
{
    memset(reload, 0, sizeof *reload);
    memory_init_child(&reload->memory, "reload", &base->memory);
    reload->base = base;
    reload->registry = registry;
    reload->loader = loader;
    reload->destruction = destruction;
    reload->layouts = layouts;
    reload->slice_ns = AHEAD_SLICE_NS;
    reload->most_missed = RELOAD_MOST_MISSED;
}

void reload_free(reload_t *reload)
{
    reload_accept(reload);
    report_forget(reload);
}

/* --- sides -------------------------------------------------------------------------------------------------------- */

void change_exchange(reload_change_t *change)
{
    for (uint32_t i = 0; i < change->version_count; i++) {
        loader_exchange(change->versions[i].plugin, &change->versions[i].kept);
        registry_exchange(&change->versions[i].set);
    }
    for (uint32_t i = 0; i < change->world_count; i++)
        worlds_exchange(&change->worlds[i]);
    change->reload->destruction->entities->listeners++; /* other versions may ask for other deaths */
}

void reload_seal(reload_t *reload)
{
    destruction_t *d = reload->destruction;
    for (uint32_t i = 0; i < d->world_count; i++)
        world_seal(d->worlds[i]);
    d->entities->sealed = true;
}

void reload_unseal(reload_t *reload)
{
    destruction_t *d = reload->destruction;
    for (uint32_t i = 0; i < d->world_count; i++)
        world_unseal(d->worlds[i]);
    d->entities->sealed = false;
}

/* In builds with BACKPLANE_AUDIT: check the worlds, once no change holds columns beside theirs any more (lists in such
 * columns are blocks of the worlds too). */
static void assert_worlds(const reload_t *reload)
{
    const destruction_t *d = reload->destruction;
    for (uint32_t i = 0; i < d->world_count; i++)
        world_assert(d->worlds[i]);
}

bp_result_t reload_refuse_moment(const reload_t *reload)
{
    return error_set(&reload->base->error, BP_ERROR_STATE,
                     "plugins are reloaded between steps: not from inside one, nor from a callback or a verb");
}

bp_result_t reload_check_moment(const reload_t *reload)
{
    const destruction_t *d = reload->destruction;
    bool held = (reload->base->attention & BASE_ASKED) != 0 || d->stepping != 0 || d->announcing ||
                d->entities->sealed || reload->loader->plugins.calling > 0;
    if (reload->loader->posts.running)
        return error_set(&reload->base->error, BP_ERROR_STATE,
                         "plugins are reloaded between steps: not from inside a posted task");
    for (uint32_t i = 0; i < d->world_count; i++)
        held = held || world_holds_rows(d->worlds[i]);
    return held ? reload_refuse_moment(reload) : BP_OK;
}

/* --- the end of one side ------------------------------------------------------------------------------------------ */

/* Call the code of the kept side for the last time. Its errors must not replace the reason of a failure. */
static void stop_kept_side(reload_change_t *change)
{
    error_text_t kept = *change_error(change);
    reload_seal(change->reload);
    worlds_stop(change);
    versions_end(change);
    reload_unseal(change->reload);
    *change_error(change) = kept;
}

/* End the kept side, and free all that the change holds but its files. */
static void end_kept_side(reload_change_t *change)
{
    stop_kept_side(change);
    error_text_t kept = *change_error(change);
    reload_seal(change->reload); /* functions that run when an image is closed are code of the plugin too */
    worlds_free(change);
    plan_free(change);
    versions_close(change);
    reload_unseal(change->reload);
    *change_error(change) = kept;
}

static void free_change(reload_change_t *change)
{
    ahead_end(change);
    versions_free(change);
    memory_free(&change->reload->memory, change->losses, change->loss_capacity * sizeof *change->losses);
    memory_free(&change->reload->memory, change, sizeof *change);
}

void change_pause(reload_change_t *change)
{
    for (uint32_t i = change->version_count; i > 0; i--)
        loader_pause(change->versions[i - 1].plugin, BP_PAUSE_RELOAD);
}

void change_resume(reload_change_t *change)
{
    for (uint32_t i = 0; i < change->version_count; i++)
        loader_resume_or_tell(change->reload->loader, change->versions[i].plugin, BP_PAUSE_RELOAD);
}

void change_finish(reload_change_t *change, bool resumes)
{
    end_kept_side(change);
    if (resumes)
        change_resume(change);
    free_change(change);
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

static bp_result_t begin_change(reload_t *reload, reload_change_t **out)
{
    bp_result_t result = reload_check_moment(reload);
    if (result != BP_OK)
        return result;
    *out = memory_new(&reload->memory, sizeof **out);
    if (*out == NULL)
        return error_memory(&reload->base->error, "reloading");
    (*out)->reload = reload;
    return BP_OK;
}

bp_result_t reload_read(reload_t *reload, const char *const *names, uint32_t count, reload_change_t **out)
{
    uint64_t began = os_clock_ns();
    reload_change_t *change;
    bp_result_t result = begin_change(reload, &change);
    if (result != BP_OK)
        return result;
    result = versions_read(change, names, count);
    change->nanoseconds = os_clock_ns() - began;
    if (result != BP_OK)
        free_change(change);
    else
        *out = change;
    return result;
}

static bool can_step(const world_change_t *w)
{
    return (w->manager_count > 0 || w->system_count > 0) && schedule_prepare(w->schedule) == BP_OK;
}

/* Change sides, let the worlds say whether they can step, and change back. A world that could not step before need not
 * be able to afterwards. */
static bp_result_t rehearse(reload_change_t *change)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < change->world_count; i++)
        change->worlds[i].could_step = can_step(&change->worlds[i]);
    change_exchange(change);
    for (uint32_t i = 0; i < change->world_count && result == BP_OK; i++) {
        if (change->worlds[i].could_step)
            result = schedule_prepare(change->worlds[i].schedule);
    }
    change_exchange(change);
    return result;
}

static bp_result_t check_plugins(const reload_change_t *change)
{
    const loader_t *loader = change->reload->loader;
    for (uint32_t i = 0; i < change->version_count; i++) {
        uint32_t at = 0;
        while (at < loader->plugins.count && loader->plugins.items[at] != change->versions[i].plugin)
            at++;
        if (at == loader->plugins.count)
            return error_set(change_error(change), BP_ERROR_NOT_FOUND,
                             "a plugin that was to be reloaded has been unloaded meanwhile");
    }
    return BP_OK;
}

static bp_result_t prepare(reload_change_t *change)
{
    bp_result_t result = versions_open(change);
    if (result == BP_OK)
        result = plan_components(change);
    if (result == BP_OK)
        result = worlds_prepare(change);
    if (result == BP_OK && !change->anew)
        result = report_prepare(change);
    return result == BP_OK ? rehearse(change) : result;
}

/* Let go of a prepared change: the versions at work go on. Posts of the versions that are discarded are dropped with
 * them. */
static void let_go(reload_change_t *change)
{
    end_kept_side(change);
    ahead_end(change);
    report_free(change); /* what was noted on the way must not be told of another try */
    change->loss_count = 0;
    for (uint32_t i = 0; i < change->version_count; i++)
        posts_drop(&change->reload->loader->posts, change->versions[i].plugin, change->posts, POSTS_END, NULL);
    change_resume(change);
    assert_worlds(change->reload);
}

void reload_begin_readying(reload_change_t *change, const char *told, size_t size)
{
    ahead_begin(change, told, size);
}

bool reload_make_ready(reload_change_t *change)
{
    return ahead_slice(change);
}

static bp_result_t look(reload_change_t *change, char *told, size_t *size)
{
    bp_result_t result = versions_open(change);
    if (result == BP_OK)
        result = plan_components(change);
    if (result == BP_OK)
        *size = ahead_tell(change, told, AHEAD_TOLD);
    return result;
}

bp_result_t reload_look_ahead(reload_change_t *change)
{
    reload_t *reload = change->reload;
    uint64_t began = os_clock_ns();
    size_t size = 0;
    error_text_t kept = *change_error(change);
    if (!ahead_pays(change) || reload_check_moment(reload) != BP_OK || check_plugins(change) != BP_OK)
        return BP_OK; /* the change will say what is wrong */
    char *told = memory_new(&reload->memory, AHEAD_TOLD);
    if (told == NULL)
        return BP_OK;
    change->looks = true;
    reload_seal(reload);
    bp_result_t result = look(change, told, &size);
    reload_unseal(reload);
    end_kept_side(change);
    change->looks = false;
    change->nanoseconds += os_clock_ns() - began;
    if (result == BP_OK)
        ahead_begin(change, told, size);
    memory_free(&reload->memory, told, AHEAD_TOLD);
    if (result == BP_OK || atomic_load(&reload->loader->plugins.crashed))
        return result;
    *change_error(change) = kept;
    return BP_OK;
}

void reload_leave_later(reload_t *reload, bool later)
{
    for (uint32_t i = 0; i < reload->destruction->world_count; i++)
        reload->destruction->worlds[i]->leavings.open = later;
}

bool reload_let_leave(reload_t *reload)
{
    const destruction_t *d = reload->destruction;
    uint64_t began = os_clock_ns();
    for (uint32_t i = 0; i < d->world_count; i++) {
        uint64_t spent = os_clock_ns() - began, left = spent < reload->slice_ns ? reload->slice_ns - spent : 0;
        world_t *world = d->worlds[i];
        if (world->leavings.count > 0 && leavings_slice(&world->leavings, &world->memory, &world->holdings, left))
            return true;
    }
    return false;
}

void reload_allow_loss(reload_change_t *change)
{
    change->lossy = true;
}

bp_result_t reload_prepare(reload_change_t *change)
{
    reload_t *reload = change->reload;
    uint64_t began = os_clock_ns();
    bp_result_t result = reload_check_moment(reload);
    if (result == BP_OK)
        result = check_plugins(change);
    if (result != BP_OK)
        return result;
    change->hides = reload->probation_steps > 0 && !change->anew;
    change->began = began;
    change_pause(change);
    posts_run(&reload->loader->posts); /* carried out by the versions that have posted them */
    change->posts = posts_count(&reload->loader->posts);
    reload_seal(reload);
    result = prepare(change);
    reload_unseal(reload);
    change->nanoseconds += os_clock_ns() - began;
    if (result == BP_OK)
        change->state = CHANGE_PREPARED;
    else
        let_go(change);
    return result;
}

static void tell(reload_change_t *change)
{
    for (uint32_t i = 0; i < change->version_count; i++)
        registry_set_keep_promises(&change->versions[i].set);
    for (uint32_t i = 0; i < change->world_count; i++)
        worlds_tell(&change->worlds[i], false);
}

/* Does the state that deaths were held for go over to a version that is told of the same? */
static bool hears(bool keeps_state, const deaths_t *asked, const deaths_t *next, bool told)
{
    return keeps_state && told && asked->which == next->which;
}

/* Deaths that are held for other states are forgotten: all of them where the change is taken back (missed.h has those
 * of the state that comes back). */
static void forget_held(const reload_change_t *change, bool all)
{
    memory_t *memory = &change->reload->base->memory;
    for (uint32_t i = 0; i < change->world_count; i++) {
        world_change_t *w = &change->worlds[i];
        for (uint32_t k = 0; k < w->manager_count; k++) {
            const manager_change_t *m = &w->managers[k];
            const component_t *next = m->component->kept;
            if (all || !hears(m->keeps_state, &m->component->slot->asked_deaths, &next->asked_deaths,
                              next->deaths.died != NULL))
                deaths_free(&m->manager->listener, memory);
        }
        for (uint32_t k = 0; k < w->system_count; k++) {
            const system_change_t *s = &w->systems[k];
            if (all || !hears(s->keeps_state, &s->unit->system->asked_deaths, &s->kept->asked_deaths,
                              s->kept->deaths.died != NULL))
                deaths_free(&s->unit->listener, memory);
        }
    }
    for (uint32_t i = 0; i < change->version_count; i++) {
        const version_t *v = &change->versions[i];
        if (all || !hears(v->keeps_state, &v->plugin->asked_deaths, &v->kept.asked_deaths,
                          v->kept.deaths.died != NULL))
            destruction_forget_held(change->reload->destruction, v->plugin);
    }
}

void change_forget_held(const reload_change_t *change)
{
    forget_held(change, true);
}

/* A state that is told of all rows anew, and one that the caller brings back, has nothing to hear of what went while
 * the plugin was set aside. */
static void forget_gone(const reload_change_t *change)
{
    for (uint32_t i = 0; i < change->world_count; i++) {
        world_change_t *w = &change->worlds[i];
        for (uint32_t k = 0; k < w->manager_count; k++) {
            manager_t *manager = w->managers[k].manager;
            if (change->anew)
                unended_free(&manager->unended, &w->world->memory);
            if (change->anew || w->managers[k].component->tells_rows || w->managers[k].component->begins_anew)
                hooks_forget_untold(w->world, manager);
        }
        for (uint32_t k = 0; k < w->system_count && change->anew; k++) {
            unit_t *unit = w->systems[k].unit;
            if (!system_is_output(unit->system)) /* such a one is suspended while a host goes elsewhere */
                known_free(&unit->known, w->world);
        }
    }
}

void reload_commit(reload_change_t *change)
{
    reload_t *reload = change->reload;
    uint64_t began = os_clock_ns();
    bool probation = change->hides;
    reload->changes++;
    reload_change_t *before = reload->probation;
    reload->probation = NULL;
    if (before != NULL)
        stop_kept_side(before); /* now: memory that it gives back belongs to the version that is still in place */
    bool aside = false;
    for (uint32_t i = 0; i < change->version_count; i++)
        aside = aside || change->versions[i].was_aside;
    forget_gone(change);
    forget_held(change, change->anew);
    change_exchange(change);
    tell(change);
    if (before != NULL)
        worlds_drop_hidden(before, change);
    change->state = CHANGE_COMMITTED;
    if (probation) {
        worlds_drop_shapes(change);
        destruction_set_missed(reload->destruction, change->missed.count > 0 ? &change->missed : NULL);
        change->steps_left = reload->probation_steps;
        reload->probation = change;
    } else {
        end_kept_side(change);
    }
    ahead_end(change);
    if (before != NULL) {
        end_kept_side(before);
        free_change(before);
    }
    change_resume(change);
    worlds_tell_gone(reload);
    if (aside)
        destruction_tell_held(reload->destruction);
    change->nanoseconds += os_clock_ns() - began;
    assert_worlds(reload);
    if (!change->anew)
        report_finish(change);
    if (!probation)
        free_change(change);
}

bp_result_t reload_return(reload_t *reload, const reload_kept_t *kept, uint32_t count)
{
    static const bp_option_t none; /* NULL would leave a plugin the options that it has now */
    reload_change_t *change;
    bp_result_t result = begin_change(reload, &change);
    if (result != BP_OK)
        return result;
    change->anew = change->lossy = true;
    for (uint32_t i = 0; i < count; i++) {
        kept[i].plugin->coming = kept[i].given != NULL ? kept[i].given : &none;
        kept[i].plugin->coming_count = kept[i].given_count;
    }
    result = versions_read_kept(change, kept, count);
    if (result == BP_OK)
        result = reload_prepare(change);
    if (result == BP_OK)
        reload_commit(change);
    else
        reload_discard(change);
    for (uint32_t i = 0; i < count; i++)
        kept[i].plugin->coming = NULL;
    return result;
}

uint32_t reload_plugins(const reload_change_t *change, plugin_t **plugins)
{
    for (uint32_t i = 0; i < change->version_count; i++)
        plugins[i] = change->versions[i].plugin;
    return change->version_count;
}

uint64_t reload_stood_ns(const reload_change_t *change)
{
    return change->nanoseconds;
}

void reload_discard(reload_change_t *change)
{
    if (change == NULL)
        return;
    if (change->state == CHANGE_PREPARED)
        let_go(change);
    free_change(change);
}

/* --- probation ---------------------------------------------------------------------------------------------------- */

void reload_accept(reload_t *reload)
{
    reload_change_t *change = reload->probation;
    if (change == NULL)
        return;
    reload->probation = NULL;
    worlds_drop_hidden(change, NULL);
    change_finish(change, false); /* the version at work has been resumed long ago, and may be paused to go */
}

void reload_forget_world(reload_t *reload, const world_t *world)
{
    if (reload->readies != NULL)
        ahead_forget_world(reload->readies, world);
    if (reload->probation == NULL)
        return;
    error_text_t kept = reload->base->error;
    reload_seal(reload);
    worlds_forget(reload->probation, world);
    reload_unseal(reload);
    reload->base->error = kept;
}

void reload_shorten_probation(reload_t *reload)
{
    if (--reload->probation->steps_left == 0 || reload->probation->missed.full)
        reload_accept(reload);
}
