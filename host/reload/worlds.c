/* worlds.c - a world made ready for a change: managers and systems that begin beside those at work, runs with other
 * columns.
 *
 * Work that may be refused and costs little comes first: the new code is started, then the columns are made and filled
 * (carry.c). A world is left alone where none of its managers and systems belong to the change. What follows once all
 * worlds are ready is in worlds_exchange.c.
 */
#include "../plugin/verbs.h"
#include "../store/hooks.h"
#include "ahead.h"

/* --- managers ----------------------------------------------------------------------------------------------------- */

static road_t choose_road(const manager_change_t *m)
{
    const component_t *old = m->component->slot, *next = m->component->kept;
    if (!old->own_storage)
        return next->own_storage ? ROAD_TO_OWN : ROAD_FIELDS;
    if (!next->own_storage)
        return ROAD_FROM_OWN;
    if (m->keeps_state)
        return ROAD_STATE;
    return old->saving.save != NULL && next->saving.load != NULL ? ROAD_SAVED : ROAD_PROPERTIES;
}

static bp_result_t start_manager(reload_change_t *change, const world_change_t *w, manager_change_t *m)
{
    error_text_t *error = change_error(change);
    const component_t *kept = m->component->kept;
    bp_result_t result = BP_OK;
    m->state = m->keeps_state ? m->manager->verb.handed.state : NULL;
    if (!m->keeps_state && kept->table.start != NULL) {
        manager_enter(m);
        reason_await(error);
        result = reason_given(error, verb_start(kept, &m->manager->verb));
        manager_leave(m);
        if (result != BP_OK)
            return error_prefix(error, result, "component '%s' did not start in world '%s': ", kept->name,
                                w->world->name);
    }
    m->started = !m->keeps_state;
    m->component->version->merges |= m->keeps_state;
    m->component->restarts |= !m->keeps_state && m->component->slot->table.start != NULL;
    return BP_OK;
}

/* Refuse two components of a kind in one entity, where the new version allows only one. */
static bp_result_t check_single(reload_change_t *change, const world_change_t *w, const manager_change_t *m)
{
    const prototypes_t *p = &w->world->prototypes;
    if (change->anew || (m->component->kept->table.flags & BP_COMPONENT_SINGLE) == 0 ||
        (m->component->slot->table.flags & BP_COMPONENT_SINGLE) != 0)
        return BP_OK;
    for (uint32_t r = 0; r < w->world->run_count; r++) {
        const run_t *run = w->world->runs[r];
        uint32_t found = 0;
        for (uint32_t at = run->prototype; at != 0 && run->count > 0; at = p->items[at].base)
            found += world_key_manager(w->world, p->items[at].key) == m->manager;
        if (found > 1)
            return error_set(change_error(change), BP_ERROR_EXISTS,
                             "component '%s' is single now, but %u entities of world '%s' have several; remove the "
                             "others first",
                             m->component->slot->name, run->count, w->world->name);
    }
    return BP_OK;
}

/* Refuse a component that belonged to entities and belongs to worlds now, or the reverse. */
static bp_result_t check_owner(reload_change_t *change, const world_change_t *w, const manager_change_t *m)
{
    bool now = (m->component->kept->table.flags & BP_COMPONENT_WORLD) != 0;
    if (now == ((m->component->slot->table.flags & BP_COMPONENT_WORLD) != 0))
        return BP_OK;
    return error_set(change_error(change), BP_ERROR_STATE,
                     "component '%s' belongs to %s now, and world '%s' has it as one of %s; drop it there first",
                     m->component->slot->name, now ? "worlds" : "entities", w->world->name,
                     now ? "entities" : "its own");
}

static bp_result_t refuse_gone(reload_change_t *change, const world_change_t *w, const manager_change_t *m)
{
    const char *name = m->component->slot->name;
    return error_set(change_error(change), BP_ERROR_NOT_FOUND,
                     "component '%s' has gone, but world '%s' has its manager, with %u instances; keep it, or unload "
                     "'%s' and load it again",
                     name, w->world->name, world_count(w->world, m->manager->number),
                     m->component->version->plugin->name);
}

static bp_result_t prepare_manager(reload_change_t *change, world_change_t *w, manager_change_t *m)
{
    component_change_t *c = m->component;
    if (c->kept->owner == NULL)
        return refuse_gone(change, w, m);
    m->keeps_state = state_goes_over(c->slot, c->kept) && !c->begins_anew;
    m->road = choose_road(m);
    c->adopts |= m->road == ROAD_STATE;
    c->reads_saved |= m->road == ROAD_SAVED;
    bp_result_t result = check_owner(change, w, m);
    if (result == BP_OK)
        result = check_single(change, w, m);
    if (result == BP_OK)
        result = start_manager(change, w, m);
    bool stay = m->road == ROAD_STATE || (m->road == ROAD_FIELDS && c->same);
    return result != BP_OK || stay ? result : columns_plan(change, w, m);
}

/* --- units -------------------------------------------------------------------------------------------------------- */

static bp_result_t note_unit(reload_change_t *change, world_change_t *w, unit_t *unit, bool out)
{
    if (unit == NULL ||
        !memory_reserve(&w->world->memory, &w->units, &w->unit_capacity, w->unit_count + 1u, sizeof *w->units)) {
        if (unit != NULL && out)
            schedule_free_unit(w->schedule, unit);
        return error_memory(change_error(change), "reloading");
    }
    schedule_t *schedule = w->schedule;
    w->units[w->unit_count++] = (unit_change_t){.unit = unit, .at = schedule->count, .out = out};
    return BP_OK;
}

static unit_t *unit_of(const schedule_t *schedule, const manager_t *manager)
{
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (schedule->units[i]->manager == manager)
            return schedule->units[i];
    }
    return NULL;
}

/* Prepare the unit of a component that simulates in only one of the two versions. */
static bp_result_t prepare_simulate(reload_change_t *change, world_change_t *w, const manager_change_t *m)
{
    unit_t *unit = unit_of(w->schedule, m->manager);
    bool simulates = m->component->kept->table.simulate != NULL;
    if (simulates == (unit != NULL))
        return BP_OK;
    if (!simulates)
        return note_unit(change, w, unit, false);
    return note_unit(change, w, schedule_make_unit(w->schedule, m->manager, w->unit_count + 1u), true);
}

/* While the change is on probation, states that may come back are to be told of what has died. */
static void note_deaths(void *data, const bp_entity_t *dead, uint32_t count)
{
    reload_change_t *change = data;
    for (uint32_t i = 0; i < change->world_count; i++) {
        for (uint32_t k = 0; k < change->worlds[i].system_count; k++)
            known_died(&change->worlds[i].systems[k].known, dead, count);
    }
}

static bool hear_of_deaths(reload_change_t *change)
{
    change->hears_of_deaths =
        change->hears_of_deaths ||
        destruction_add_callback(change->reload->destruction, change, note_deaths, change) == BP_OK;
    return change->hears_of_deaths;
}

static bp_result_t prepare_system(reload_change_t *change, world_change_t *w, system_change_t *s)
{
    error_text_t *error = change_error(change);
    s->gone = s->kept->owner == NULL;
    s->keeps_state = !s->gone && same_form(s->unit->system->table.state_form, s->kept->table.state_form);
    bool may_return = change->hides && !s->keeps_state;
    if (may_return && (!known_mark(&s->known, s->unit) || (s->known.living != NULL && !hear_of_deaths(change))))
        return error_memory(error, "keeping what a system was told");
    if (s->gone)
        return note_unit(change, w, s->unit, false);
    s->state = s->keeps_state ? s->unit->verb.handed.state : NULL;
    s->version->merges |= s->keeps_state;
    if (s->keeps_state || s->kept->table.start == NULL) {
        s->started = !s->keeps_state;
        return BP_OK;
    }
    system_enter(s);
    reason_await(error);
    bp_result_t result = reason_given(error, verb_system_start(s->kept, &s->unit->verb));
    system_leave(s);
    s->started = result == BP_OK;
    if (result == BP_OK)
        return BP_OK;
    return error_prefix(error, result, "system '%s' did not start in world '%s': ", s->kept->name, w->world->name);
}

/* --- deaths ------------------------------------------------------------------------------------------------------- */

/* Listeners of the versions that will be on the kept sides of a probation: what dies then is kept for them. A state
 * that goes over hears of deaths through the new version, if the new version asks for any. */

static bool miss(reload_change_t *change, const version_t *version, listener_t listener, world_t *world,
                 const deaths_t *out, bool hears)
{
    return missed_add(&change->missed, &listener, world, out, hears ? version->plugin : NULL);
}

static bool list_listeners(reload_change_t *change, const world_change_t *w)
{
    bool good = true;
    for (uint32_t i = 0; i < w->manager_count && good; i++) {
        const manager_change_t *m = &w->managers[i];
        const component_change_t *c = m->component;
        if (c->slot->deaths.died != NULL)
            good = miss(change, c->version, destruction_manager_listener(m->manager), w->world,
                        &c->kept->asked_deaths, m->keeps_state && c->kept->deaths.died != NULL);
    }
    for (uint32_t i = 0; i < w->system_count && good; i++) {
        const system_change_t *s = &w->systems[i];
        if (s->unit->system->deaths.died != NULL)
            good = miss(change, s->version, unit_listener(s->unit), w->world, &s->kept->asked_deaths,
                        s->keeps_state && s->kept->deaths.died != NULL);
    }
    return good;
}

static bp_result_t list_all_listeners(reload_change_t *change)
{
    bool good = true;
    change->missed.base = change->reload->base;
    change->missed.most = change->reload->most_missed;
    for (uint32_t i = 0; i < change->world_count && good; i++)
        good = list_listeners(change, &change->worlds[i]);
    for (uint32_t v = 0; v < change->version_count && good; v++) {
        version_t *version = &change->versions[v];
        if (version->plugin->deaths.died != NULL)
            good = miss(change, version, destruction_plugin_listener(version->plugin), NULL,
                        &version->kept.asked_deaths, version->keeps_state && version->kept.deaths.died != NULL);
    }
    return good ? BP_OK : error_memory(change_error(change), "reloading");
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

static bool moves(const world_change_t *w, uint32_t prototype)
{
    const prototypes_t *p = &w->world->prototypes;
    for (uint32_t at = prototype; at != 0; at = p->items[at].base) {
        const manager_change_t *m = world_manager_change(w, p->items[at].key);
        if (m != NULL && m->moves)
            return true;
    }
    return false;
}

/* Pick the columns of a prototype from its end to its beginning; returns their number. */
static uint32_t pick_columns(const world_change_t *w, uint32_t prototype, run_pick_t *picks)
{
    const prototypes_t *p = &w->world->prototypes;
    uint32_t total = 1;
    for (uint32_t at = prototype; at != 0; at = p->items[at].base)
        total += world_next_width(w, p->items[at].key);
    if (picks == NULL || total > PROTOTYPES_MAX_COLUMNS)
        return total;
    uint32_t end = total;
    for (uint32_t at = prototype; at != 0; at = p->items[at].base) {
        const manager_change_t *m = world_manager_change(w, p->items[at].key);
        uint32_t old_first = p->items[p->items[at].base].columns, width = world_next_width(w, p->items[at].key);
        end -= width;
        for (uint32_t c = 0; c < width; c++) {
            run_pick_t pick = m != NULL && m->moves ? m->picks[c] : (run_pick_t){c, NULL};
            pick.from = pick.from == BP_NONE ? BP_NONE : pick.from + old_first;
            picks[end + c] = pick;
        }
    }
    picks[0] = (run_pick_t){0, NULL};
    return total;
}

/* Find the columns of a run that have been made ready before. */
static void pick_ready(const reload_change_t *change, const world_change_t *w, const run_t *run, run_made_t **made,
                       uint32_t count)
{
    const prototypes_t *p = &w->world->prototypes;
    uint32_t end = count;
    for (uint32_t at = run->prototype; at != 0; at = p->items[at].base) {
        uint32_t key = p->items[at].key;
        const manager_change_t *m = world_manager_change(w, key);
        end -= world_next_width(w, key);
        for (uint32_t i = 0; m != NULL && m->moves && m->road == ROAD_FIELDS && i < m->component->source_count; i++)
            made[end + i] = m->picks[i].from == BP_NONE ? ahead_find(change, w, m, run, key, i) : NULL;
    }
}

static bp_result_t shape_run(reload_change_t *change, world_change_t *w, run_t *run)
{
    memory_t *memory = &w->world->memory;
    uint32_t count = pick_columns(w, run->prototype, NULL);
    if (count > PROTOTYPES_MAX_COLUMNS)
        return error_set(change_error(change), BP_ERROR_LIMIT,
                         "entities of world '%s' would have %u fields; %d are the most", w->world->name, count,
                         PROTOTYPES_MAX_COLUMNS);
    run_pick_t *picks = memory_new(memory, count * sizeof *picks);
    run_made_t **ready = change->ahead == NULL ? NULL : memory_new(memory, count * sizeof *ready);
    if (picks == NULL) {
        memory_free(memory, ready, count * sizeof *ready);
        return error_memory(change_error(change), "making other columns");
    }
    pick_columns(w, run->prototype, picks);
    if (ready != NULL)
        pick_ready(change, w, run, ready, count);
    bool made = run_shape_init(&w->shapes[w->shape_count], run, memory, picks, ready, count);
    memory_free(memory, picks, count * sizeof *picks);
    memory_free(memory, ready, count * sizeof *ready);
    if (!made)
        return error_memory(change_error(change), "making other columns");
    w->shape_of[run->prototype] = ++w->shape_count;
    return BP_OK;
}

static bp_result_t list_fillings(reload_change_t *change, world_change_t *w, run_shape_t *shape)
{
    const prototypes_t *p = &w->world->prototypes;
    bp_result_t result = BP_OK;
    for (uint32_t at = shape->run->prototype; at != 0 && result == BP_OK; at = p->items[at].base) {
        const manager_change_t *m = world_manager_change(w, p->items[at].key);
        uint32_t first;
        if (m == NULL || !m->moves || m->road != ROAD_FIELDS)
            continue;
        world_shape(w, shape->run, p->items[at].key, &first);
        result = columns_list(change, w, m, shape, p->items[at].key, p->items[p->items[at].base].columns, first);
    }
    return result;
}

static bp_result_t shape_runs(reload_change_t *change, world_change_t *w)
{
    world_t *world = w->world;
    memory_t *memory = &world->memory;
    bool any = false;
    for (uint32_t i = 0; i < w->manager_count; i++)
        any = any || w->managers[i].moves;
    if (!any)
        return BP_OK;
    w->prototype_count = world->prototypes.count;
    w->shape_of = memory_new(memory, w->prototype_count * sizeof *w->shape_of);
    w->shape_capacity = world->run_count + 1u;
    w->shapes = memory_new(memory, w->shape_capacity * sizeof *w->shapes);
    if (w->shape_of == NULL || w->shapes == NULL)
        return error_memory(change_error(change), "making other columns");
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < world->run_count && result == BP_OK; i++) {
        if (moves(w, world->runs[i]->prototype))
            result = shape_run(change, w, world->runs[i]);
    }
    for (uint32_t i = 0; i < w->shape_count && result == BP_OK; i++)
        result = list_fillings(change, w, &w->shapes[i]);
    return result;
}

static bp_result_t carry_all(reload_change_t *change, world_change_t *w)
{
    bp_result_t result = columns_end_fill(change, w);
    for (uint32_t i = 0; i < w->manager_count && result == BP_OK; i++) {
        if (w->managers[i].moves && w->managers[i].road != ROAD_FIELDS)
            result = carry_instances(change, w, &w->managers[i]);
    }
    return result;
}

/* --- a world ------------------------------------------------------------------------------------------------------ */

static bp_result_t list_parts(reload_change_t *change, world_change_t *w)
{
    world_t *world = w->world;
    const schedule_t *schedule = w->schedule;
    memory_t *memory = &world->memory;
    w->managers = memory_new(memory, (world->manager_count + 1u) * sizeof *w->managers);
    w->system_capacity = schedule->count + world_handle(world)->wants.count + 1u;
    w->systems = memory_new(memory, w->system_capacity * sizeof *w->systems);
    w->manager_capacity = world->manager_count + 1u;
    if (w->managers == NULL || w->systems == NULL)
        return error_memory(change_error(change), "reloading");
    for (uint32_t i = 0; i < world->manager_count; i++) {
        component_change_t *c = world->managers[i]->started ? plan_of(change, world->managers[i]->component) : NULL;
        if (c == NULL)
            continue;
        w->managers[w->manager_count++] = (manager_change_t){.component = c, .manager = world->managers[i]};
        c->rows += world_count(world, i);
    }
    for (uint32_t i = 0; i < schedule->count; i++) {
        unit_t *unit = schedule->units[i];
        for (uint32_t v = 0; v < change->version_count && unit->system != NULL; v++) {
            version_t *version = &change->versions[v];
            if (unit->system->owner == version->plugin)
                w->systems[w->system_count++] =
                    (system_change_t){.unit = unit,
                                      .version = version,
                                      .kept = registry_set_system(&version->set, unit->system)};
        }
    }
    return BP_OK;
}

static bool is_in_step(const schedule_t *schedule, const system_t *system)
{
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (schedule->units[i]->system == system)
            return true;
    }
    return false;
}

/* List systems that the world wants and that no plugin has brought so far; such systems come with the change, and go
 * when it is taken back. */
static bp_result_t list_comers(reload_change_t *change, world_change_t *w, version_t *version)
{
    const wants_t *wants = &world_handle(w->world)->wants;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < version->set.system_count && result == BP_OK; i++) {
        system_swap_t *swap = &version->set.systems[i];
        if (swap->slot->owner != NULL || swap->kept.owner == NULL || !wants_has(wants, swap->slot->name, true) ||
            is_in_step(w->schedule, swap->slot))
            continue;
        unit_t *unit = schedule_make_system_unit(w->schedule, swap->slot, &version->plugin->handed, w->unit_count + 1u);
        result = note_unit(change, w, unit, true);
        if (result != BP_OK)
            break;
        w->units[w->unit_count - 1].at = schedule_place(w->schedule, swap->slot->name);
        w->systems[w->system_count++] = (system_change_t){.unit = unit, .version = version, .kept = &swap->kept};
    }
    return result;
}

/* Reserve a layout for references that others have resolved, and room for telling them, of the change and of its being
 * taken back. */
static bp_result_t reserve_telling(reload_change_t *change, world_change_t *w)
{
    uint32_t changed = 0;
    for (uint32_t i = 0; i < w->manager_count; i++)
        changed += !w->managers[i].component->same || w->managers[i].moves;
    if (changed == 0)
        return BP_OK;
    world_t *world = w->world;
    if (!world_reserve_moves(world, 2 * changed))
        return error_memory(change_error(change), "reloading");
    w->layout = world_draw_layout(world, change->reload->layouts);
    return BP_OK;
}

/* Tell a new version of the rows that there are. The version writes to fields that it rebuilds, which are new columns;
 * so after a refusal nothing has changed. */
static bp_result_t tell_rows(world_change_t *w, manager_change_t *m)
{
    const prototypes_t *p = &w->world->prototypes;
    bp_result_t result = BP_OK;
    for (uint32_t r = 0; r < w->world->run_count && result == BP_OK; r++) {
        run_t *run = w->world->runs[r];
        for (uint32_t at = run->prototype; run->count > 0 && at != 0 && result == BP_OK; at = p->items[at].base) {
            uint32_t key = p->items[at].key, first = p->items[p->items[at].base].columns;
            if (p->keys[key].manager != m->manager->number)
                continue;
            run_shape_t *shape = m->moves ? world_shape(w, run, key, &first) : NULL;
            hooked_rows_t rows = {.manager = m->manager,
                                  .component = m->component->kept,
                                  .field_count = component_columns(m->component->kept),
                                  .key = key,
                                  .run = run,
                                  .columns = (shape == NULL ? run->columns : shape->kept.columns) + first};
            rows.fields = m->manager->columns;
            if (m->moves)
                rows.fields = m->columns;
            manager_enter(m);
            result = hooks_rebuild(w->world, &rows);
            manager_leave(m);
        }
    }
    return result;
}

static bp_result_t tell_all_rows(world_change_t *w)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < w->manager_count && result == BP_OK; i++) {
        if (w->managers[i].component->tells_rows)
            result = tell_rows(w, &w->managers[i]);
    }
    return result;
}

static bp_result_t prepare_world(reload_change_t *change, world_change_t *w)
{
    bp_result_t result = list_parts(change, w);
    for (uint32_t v = 0; v < change->version_count && result == BP_OK; v++)
        result = list_comers(change, w, &change->versions[v]);
    for (uint32_t i = 0; i < w->manager_count && result == BP_OK; i++) {
        result = prepare_manager(change, w, &w->managers[i]);
        if (result == BP_OK)
            result = prepare_simulate(change, w, &w->managers[i]);
    }
    for (uint32_t i = 0; i < w->system_count && result == BP_OK; i++)
        result = prepare_system(change, w, &w->systems[i]);
    return result == BP_OK ? reserve_telling(change, w) : result;
}

bp_result_t worlds_prepare(reload_change_t *change)
{
    destruction_t *d = change->reload->destruction;
    change->worlds = memory_new(&change->reload->memory, (d->world_count + 1u) * sizeof *change->worlds);
    if (change->worlds == NULL)
        return error_memory(change_error(change), "reloading");
    change->world_capacity = d->world_count + 1u;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < d->world_count && result == BP_OK; i++) {
        world_change_t *w = &change->worlds[change->world_count++];
        w->world = d->worlds[i];
        w->schedule = world_handle(w->world)->schedule;
        result = prepare_world(change, w);
    }
    if (result == BP_OK && change->hides)
        result = list_all_listeners(change);
    if (result == BP_OK && !change->anew)
        result = pause_foresee(change);
    for (uint32_t i = 0; i < change->world_count && result == BP_OK; i++)
        result = shape_runs(change, &change->worlds[i]);
    if (result == BP_OK)
        columns_fill(change);
    for (uint32_t i = 0; i < change->world_count && result == BP_OK; i++)
        result = carry_all(change, &change->worlds[i]);
    columns_free_list(change);
    for (uint32_t i = 0; i < change->world_count && result == BP_OK; i++)
        result = tell_all_rows(&change->worlds[i]);
    return result;
}

