/* probation.c - a change that is taken back within the time after its commit: what was before it is put in place again,
 * instances are made and ended so that storage of its own has those that live now, and listeners are told of the deaths
 * that they have missed.
 *
 * The hidden columns that this needs are kept, and dropped when the time ends, by worlds_exchange.c.
 */
#include "../plugin/verbs.h"
#include "../store/store.h"
#include "change.h"

#include <stdlib.h>

/* --- rollback ---------------------------------------------------------------------------------------------------- */

/* Taking back a change that is on probation: the old code, the old columns, the old state.
 *
 * The order matters. First the old manager ends the instances whose entities have ended, or lost the component, since
 * the commit: they never come back, so this may stay done where the way back fails, and a manager that has room for a
 * certain number gets room for those that came. Then what can fail: instances that were made since the commit are made
 * in the old manager too, with its defaults. Then the columns: hidden old ones come forward, new ones go. Last
 * everything changes sides, as at the commit.
 */

enum { BATCH = 256 };

/* Had the old manager storage of its own, with instances that it still has when the change is taken back? */
static bool keeps_instances(const manager_change_t *m)
{
    return m->road == ROAD_SAVED || m->road == ROAD_PROPERTIES || m->road == ROAD_FROM_OWN;
}

/* --- the slots that instances have in the old manager ----------------------------------------------------------- */

/* A manager whose old code is to come back. */
typedef struct former_t {
    world_change_t *w;
    manager_change_t *m;
} former_t;

/* The hidden column of old slots of a key. */
static uint32_t *hidden_slots(void *context, const run_t *run, uint32_t key)
{
    const former_t *s = context;
    uint32_t first = prototypes_column(&s->w->world->prototypes, run->prototype, key);
    return run->count == 0 ? NULL : run->columns[first + s->m->visible_count];
}

/* Lead a manager's look-ups of slots to the hidden columns. */
static void lead_slots(former_t *s)
{
    s->w->slots_elsewhere =
        (world_slots_i){.manager = s->m->manager->number, .context = s, .slots = hidden_slots};
    s->w->world->slots_elsewhere = &s->w->slots_elsewhere;
}

/* Call `visit` with the hidden column of old slots of each run, and of each name that an instance may have there. */
static void visit_slots(former_t *s, void (*visit)(manager_change_t *m, const run_t *run, const uint32_t *slots,
                                                   void *context), void *context)
{
    const world_t *world = s->w->world;
    const prototypes_t *p = &world->prototypes;
    for (uint32_t r = 0; r < world->run_count; r++) {
        const run_t *run = world->runs[r];
        for (uint32_t at = run->prototype; at != 0 && run->count > 0; at = p->items[at].base) {
            if (world_key_manager(world, p->items[at].key) == s->m->manager)
                visit(s->m, run, hidden_slots(s, run, p->items[at].key), context);
        }
    }
}

/* --- instances that have ended ------------------------------------------------------------------------------------ */

static int descending(const void *a, const void *b)
{
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x > y ? -1 : x < y;
}

static uint32_t find_slot(const uint32_t *slots, uint32_t count, uint32_t slot)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (slots[middle] > slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && slots[low] == slot ? low : BP_NONE;
}

/* Mark in `context` the slots that rows still have, among the old slots, which are in descending order. */
static void strike_out(manager_change_t *m, const run_t *run, const uint32_t *slots, void *context)
{
    uint8_t *used = context;
    for (uint32_t row = 0; row < run->count; row++) {
        uint32_t place =
            run_entities(run)[row].id == 0 ? BP_NONE : find_slot(m->old_slots, m->old_slot_count, slots[row]);
        if (place != BP_NONE)
            used[place] = 1;
    }
}

/* Have the old manager end instances; what it does not end, since its plugin crashes, stays to be ended. */
static void end_slots(world_change_t *w, manager_change_t *m, const uint32_t *slots, uint32_t count)
{
    manager_enter(m);
    verb_made_t made = verb_destroy(m->component->kept, &m->manager->verb, slots, count);
    if (made != VERB_MADE && plugin_is_aside(m->component->version->plugin))
        unended_keep(&m->unended, w->world, m->manager, slots, count, made == VERB_ENDED);
    manager_leave(m);
}

/* `used` has room for a mark of each old slot. The old slots are not known afterwards. */
static void end_dead(world_change_t *w, manager_change_t *m, uint8_t *used)
{
    former_t s = {.w = w, .m = m};
    uint32_t dead = 0;
    if (m->component->kept->storage.gc != NULL)
        return; /* such a manager finds its dead itself */
    qsort(m->old_slots, m->old_slot_count, sizeof *m->old_slots, descending);
    memset(used, 0, m->old_slot_count);
    visit_slots(&s, strike_out, used);
    for (uint32_t i = 0; i < m->old_slot_count; i++) {
        if (used[i] == 0)
            m->old_slots[dead++] = m->old_slots[i];
    }
    if (dead == 0)
        return;
    lead_slots(&s);
    end_slots(w, m, m->old_slots, dead);
    w->world->slots_elsewhere = NULL;
}

static void note_living(manager_change_t *m, const run_t *run, const uint32_t *slots, void *context)
{
    (void)context;
    for (uint32_t row = 0; row < run->count; row++) {
        if (run_entities(run)[row].id != 0 && slots[row] != BP_NONE)
            m->old_slots[m->old_slot_count++] = slots[row];
    }
}

/* The way back has failed: the next way back finds in the old manager the instances that entities still have. There is
 * room for their slots, since there were as many instances before, or more; some may have other slots now. */
static void note_slots_again(world_change_t *w, manager_change_t *m)
{
    former_t s = {.w = w, .m = m};
    m->old_slot_count = 0;
    visit_slots(&s, note_living, NULL);
}

/* --- instances that are missing ----------------------------------------------------------------------------------- */

static bp_result_t make_batch(former_t *s, uint32_t key, uint32_t *slots, const uint32_t *rows,
                              const bp_entity_t *entities, uint32_t count)
{
    world_t *world = s->w->world;
    uint32_t made[BATCH];
    manager_change_t *m = s->m;
    if (!memory_reserve(&world->memory, &m->made, &m->made_capacity, (uint64_t)m->made_count + count, sizeof *m->made))
        return error_memory(&world->base->error, "taking a reload back");
    manager_enter(m);
    reason_await(&world->base->error);
    bp_result_t result = verb_create(m->component->kept, &m->manager->verb, world->prototypes.keys[key].name, entities,
                                     count, NULL, made);
    manager_leave(m);
    reason_given(&world->base->error, result);
    for (uint32_t i = 0; i < count && result == BP_OK; i++) {
        slots[rows[i]] = made[i];
        m->made[m->made_count++] = &slots[rows[i]];
    }
    return result;
}

static bp_result_t make_in_run(former_t *s, run_t *run, uint32_t key)
{
    uint32_t rows[BATCH], count = 0, *slots = hidden_slots(s, run, key);
    bp_entity_t entities[BATCH];
    bp_result_t result = BP_OK;
    for (uint32_t row = 0; row < run->count && result == BP_OK; row++) {
        if (run_entities(run)[row].id != 0 && slots[row] == BP_NONE) {
            rows[count] = row;
            entities[count++] = run_entities(run)[row];
        }
        if (count == BATCH || (count > 0 && row + 1 == run->count)) {
            result = make_batch(s, key, slots, rows, entities, count);
            count = 0;
        }
    }
    return result;
}

/* Rows get "no slot" again where their instance is taken back, so that the next try makes one. */
static void unmake(world_change_t *w, manager_change_t *m)
{
    former_t s = {.w = w, .m = m};
    lead_slots(&s);
    for (uint32_t i = m->made_count; i > 0; i--) {
        uint32_t slot = *m->made[i - 1];
        *m->made[i - 1] = BP_NONE;
        end_slots(w, m, &slot, 1);
    }
    w->world->slots_elsewhere = NULL;
}

/* All that was missing has been made, or something could not be: then what was made is ended in all worlds, since those
 * of it that die before the next try would be unknown to the manager. */
static void end_making(reload_change_t *change, bool good)
{
    error_text_t kept = *change_error(change);
    for (uint32_t i = 0; i < change->world_count; i++) {
        world_change_t *w = &change->worlds[i];
        for (uint32_t k = 0; k < w->manager_count; k++) {
            manager_change_t *m = &w->managers[k];
            if (!good && m->made_count > 0)
                unmake(w, m);
            if (!good && keeps_instances(m))
                note_slots_again(w, m);
            memory_free(&w->world->memory, m->made, m->made_capacity * sizeof *m->made);
            m->made = NULL;
            m->made_count = m->made_capacity = 0;
        }
    }
    *change_error(change) = kept;
}

static bp_result_t make_missing(world_change_t *w, manager_change_t *m)
{
    former_t s = {.w = w, .m = m};
    world_t *world = w->world;
    const prototypes_t *p = &world->prototypes;
    bp_result_t result = BP_OK;
    lead_slots(&s);
    for (uint32_t r = 0; r < world->run_count && result == BP_OK; r++) {
        for (uint32_t at = world->runs[r]->prototype; at != 0 && result == BP_OK && world->runs[r]->count > 0;
             at = p->items[at].base) {
            if (world_manager_change(w, p->items[at].key) == m)
                result = make_in_run(&s, world->runs[r], p->items[at].key);
        }
    }
    world->slots_elsewhere = NULL;
    return result;
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

static uint32_t place_of(const manager_change_t *m, uint32_t old, uint32_t *hidden)
{
    const component_change_t *c = m->component;
    for (uint32_t i = 0; i < c->source_count && m->road == ROAD_FIELDS; i++) {
        if (c->sources[i].old == old && c->sources[i].kind == CONVERT_SAME)
            return i;
    }
    return m->visible_count + (*hidden)++;
}

static void bring_columns_back(world_change_t *w, manager_change_t *m)
{
    run_pick_t picks[REGISTRY_MAX_FIELDS + 1];
    uint32_t hidden = 0;
    for (uint32_t i = 0; i < m->column_count; i++)
        picks[i] = (run_pick_t){place_of(m, i, &hidden), m->columns[i]};
    keep_columns(w, m->manager, m->manager->column_count, picks, m->column_count);
    exchange_columns(m);
    m->moves = false;
    m->moved_back = true;
    recount_columns(w);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

/* Of each manager that still has instances of its own. */
static void end_all_dead(reload_change_t *change, uint8_t *used)
{
    for (uint32_t i = 0; i < change->world_count; i++) {
        world_change_t *w = &change->worlds[i];
        for (uint32_t k = 0; k < w->manager_count; k++) {
            if (keeps_instances(&w->managers[k]))
                end_dead(w, &w->managers[k], used);
        }
    }
}

static bp_result_t make_all_missing(reload_change_t *change)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < change->world_count && result == BP_OK; i++) {
        world_change_t *w = &change->worlds[i];
        for (uint32_t k = 0; k < w->manager_count && result == BP_OK; k++) {
            if (keeps_instances(&w->managers[k]))
                result = make_missing(w, &w->managers[k]);
        }
    }
    end_making(change, result == BP_OK);
    return result;
}

/* The largest number of old slots of a manager. */
static uint32_t most_old_slots(const reload_change_t *change)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < change->world_count; i++) {
        const world_change_t *w = &change->worlds[i];
        for (uint32_t k = 0; k < w->manager_count; k++) {
            if (w->managers[k].old_slot_count > most)
                most = w->managers[k].old_slot_count;
        }
    }
    return most;
}

/* Units of other plugins may have taken the places that units of the old side have left. */
static bool reserve_units(reload_change_t *change)
{
    bool room = true;
    for (uint32_t i = 0; i < change->world_count && room; i++) {
        const world_change_t *w = &change->worlds[i];
        room = w->unit_count == 0 || schedule_reserve_units(w->schedule, w->unit_count);
    }
    return room;
}

/* Bring the instances of storage of its own up to what lives now: what has ended, then what is missing. */
static bp_result_t prepare_back(reload_change_t *change)
{
    uint32_t most = most_old_slots(change);
    uint8_t *used = most > 0 ? memory_new(&change->reload->memory, most) : NULL;
    if (!reserve_units(change) || (most > 0 && used == NULL)) {
        memory_free(&change->reload->memory, used, most);
        return error_memory(change_error(change), "taking a reload back");
    }
    if (most > 0)
        end_all_dead(change, used);
    memory_free(&change->reload->memory, used, most);
    return make_all_missing(change);
}

static void go_back(reload_change_t *change)
{
    for (uint32_t i = 0; i < change->world_count; i++) {
        world_change_t *w = &change->worlds[i];
        for (uint32_t k = 0; k < w->manager_count; k++) {
            if (w->managers[k].moves)
                bring_columns_back(w, &w->managers[k]);
        }
        if (w->layout != 0)
            w->layout = world_draw_layout(w->world, change->reload->layouts);
    }
    change_exchange(change);
    for (uint32_t i = 0; i < change->version_count; i++)
        registry_set_withdraw(&change->versions[i].set);
    for (uint32_t i = 0; i < change->world_count; i++)
        worlds_tell(&change->worlds[i], true);
}

/* --- units of others ---------------------------------------------------------------------------------------------- */

static void visit_systems(const reload_t *reload, void (*visit)(schedule_t *schedule, unit_t *unit))
{
    error_text_t kept = reload->base->error;
    for (uint32_t i = 0; i < reload->destruction->world_count; i++) {
        schedule_t *schedule = world_handle(reload->destruction->worlds[i])->schedule;
        for (uint32_t k = schedule->count; k > 0; k--) {
            if (schedule->units[k - 1]->system != NULL)
                visit(schedule, schedule->units[k - 1]);
        }
    }
    reload->base->error = kept;
}

static void look_at_home(schedule_t *schedule, unit_t *unit)
{
    unit->at_home = schedule_check_system(schedule, unit) == BP_OK;
}

/* A system that has come since the commit may ask for what only the new version has. Without the system the world can
 * step; its name stays wanted, and it comes again with a version that has what it asks for. */
static void let_leave(schedule_t *schedule, unit_t *unit)
{
    const world_t *world = schedule->world;
    if (!unit->at_home || schedule_check_system(schedule, unit) == BP_OK)
        return;
    log_write(&world->base->log, BP_LOG_WARNING, "host",
              "system '%s' of plugin '%s' leaves world '%s', and comes again when it finds what it asks for: %s",
              unit->name, unit->system->owner->name, world->name, world->base->error.text);
    schedule_drop_system(schedule, unit->system);
}

/* --- taking back -------------------------------------------------------------------------------------------------- */

/* Drop the posts of the versions that go: the first `posts` are of those that were in place, later ones of those that
 * were to come back. */
static void drop_posts(reload_change_t *change, uint64_t posts, bool back)
{
    posts_t *all = &change->reload->loader->posts;
    for (uint32_t i = 0; i < change->version_count; i++) {
        const plugin_t *plugin = change->versions[i].plugin;
        if (back)
            posts_drop(all, plugin, 0, posts, "its version is taken back");
        else
            posts_drop(all, plugin, posts, POSTS_END, NULL);
    }
}

/* A version that was set aside when it was replaced is set aside again: the host has trusted it to be asked for its
 * values, and nothing has mended it. */
static void set_aside_again(const reload_change_t *change)
{
    for (uint32_t i = 0; i < change->version_count; i++) {
        plugin_t *plugin = change->versions[i].plugin;
        if (!change->versions[i].was_aside)
            continue;
        plugin_set_aside(plugin);
        registry_silence_tables(change->reload->registry, plugin);
        log_write(&change->reload->base->log, BP_LOG_WARNING, "host",
                  "plugin '%s' %s is set aside, as it was before the reload: %s", plugin->name, plugin->version,
                  plugin_crash(plugin));
    }
}

/* From now on nothing is missed; the caller tells what has been, and frees it. */
static missed_t take_missed(reload_change_t *change)
{
    missed_t missed = change->missed;
    if (missed.count > 0)
        destruction_set_missed(change->reload->destruction, NULL);
    change->missed = (missed_t){.items = NULL};
    return missed;
}

bp_result_t reload_rollback(reload_t *reload)
{
    reload_change_t *change = reload->probation;
    bp_result_t result = reload_check_moment(reload);
    if (result == BP_OK && change == NULL)
        result = error_set(&reload->base->error, BP_ERROR_STATE, "no reload is on probation");
    if (result != BP_OK)
        return result;
    change_pause(change);
    uint64_t posts = posts_count(&reload->loader->posts);
    reload_seal(reload);
    result = prepare_back(change);
    if (result == BP_OK) {
        visit_systems(reload, look_at_home);
        go_back(change);
    }
    reload_unseal(reload);
    drop_posts(change, posts, result == BP_OK);
    if (result != BP_OK) {
        change_resume(change);
        return result;
    }
    set_aside_again(change);
    change_forget_held(change);
    reload->probation = NULL;
    reload->changes++;
    report_rollback(change);
    missed_t missed = take_missed(change);
    change_finish(change, true);
    visit_systems(reload, let_leave);
    worlds_tell_gone(reload);
    destruction_tell_missed(reload->destruction, &missed);
    missed_free(&missed);
    for (uint32_t i = 0; i < reload->destruction->world_count; i++)
        schedule_tell_returned(world_handle(reload->destruction->worlds[i])->schedule);
    return BP_OK;
}
