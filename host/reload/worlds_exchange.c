/* worlds_exchange.c - a change that has been prepared takes place in a world: sides are exchanged, holders of
 * references are told, and the side that is left over ends.
 *
 * Exchanging twice changes nothing, and an exchange cannot fail (reload.c). Here is also how the change's part of a
 * manager, key or run of a world is found, and how its kept side is put in place for a call: preparing, carrying,
 * exchanging and taking back use these functions, which use none of those.
 *
 * During a probation columns without a place in the new lists are hidden columns behind the visible ones, in every run
 * that has the component, also in runs that have come since: rows of all columns go together. So both ends of a
 * probation do the same thing: of the columns of each key some stay, in some order, and the others go. Nothing is
 * allocated for that, so neither end can fail for want of memory there.
 */
#include "../plugin/verbs.h"
#include "../store/hooks.h"
#include "../store/store.h"
#include "change.h"

/* --- sides -------------------------------------------------------------------------------------------------------- */

void manager_enter(manager_change_t *m)
{
    change_enter(m->component->version);
    EXCHANGE(void *, m->manager->verb.handed.state, m->state);
    m->manager->verb.handed.user = m->component->kept->table.user;
}

void manager_leave(manager_change_t *m)
{
    m->manager->verb.handed.user = m->component->slot->table.user;
    EXCHANGE(void *, m->manager->verb.handed.state, m->state);
    change_leave(m->component->version);
}

void system_enter(system_change_t *s)
{
    change_enter(s->version);
    EXCHANGE(void *, s->unit->verb.handed.state, s->state);
    s->unit->verb.handed.user = s->kept->table.user;
}

void system_leave(system_change_t *s)
{
    s->unit->verb.handed.user = s->unit->system->table.user;
    EXCHANGE(void *, s->unit->verb.handed.state, s->state);
    change_leave(s->version);
}

/* --- finding ------------------------------------------------------------------------------------------------------ */

manager_change_t *world_manager_change(const world_change_t *w, uint32_t key)
{
    const manager_t *manager = world_key_manager(w->world, key);
    for (uint32_t i = 0; i < w->manager_count; i++) {
        if (w->managers[i].manager == manager)
            return &w->managers[i];
    }
    return NULL;
}

uint32_t world_next_width(const world_change_t *w, uint32_t key)
{
    const manager_change_t *m = world_manager_change(w, key);
    return m != NULL && m->moves ? m->column_count : w->world->prototypes.keys[key].columns;
}

run_shape_t *world_shape(const world_change_t *w, const run_t *run, uint32_t key, uint32_t *first)
{
    const prototypes_t *p = &w->world->prototypes;
    if (run->prototype >= w->prototype_count || w->shape_of[run->prototype] == 0)
        return NULL;
    *first = 1;
    for (uint32_t at = run->prototype; at != 0; at = p->items[at].base) {
        if (p->items[at].key < key)
            *first += world_next_width(w, p->items[at].key);
    }
    return &w->shapes[w->shape_of[run->prototype] - 1];
}

/* --- exchange ----------------------------------------------------------------------------------------------------- */

void exchange_columns(manager_change_t *m)
{
    manager_t *manager = m->manager;
    if (!m->moves)
        return;
    EXCHANGE(const field_t **, manager->column_list, m->columns);
    EXCHANGE(uint32_t, manager->column_count, m->column_count);
    EXCHANGE(uint32_t, manager->hidden, m->hidden);
    manager->columns = manager->column_list;
}

void recount_columns(world_change_t *w)
{
    prototypes_t *p = &w->world->prototypes;
    for (uint32_t k = 0; k < p->key_count; k++) {
        const manager_change_t *m = world_manager_change(w, k);
        if (m == NULL)
            continue;
        const manager_t *manager = m->manager;
        p->keys[k].flags = (uint16_t)((p->keys[k].flags & KEY_GONE) | world_key_flags(manager->component));
        p->keys[k].columns = (uint16_t)manager->column_count;
    }
    prototypes_recount(p);
    for (uint32_t r = 0; r < w->world->run_count; r++)
        w->world->runs[r]->flags = p->items[w->world->runs[r]->prototype].flags;
}

static void recount_telling(world_t *world)
{
    world->entities->listeners++;
    world->telling = world->collecting = 0;
    for (uint32_t i = 0; i < world->manager_count; i++) {
        if (world->managers[i]->started)
            world_count_manager(world, world->managers[i], 1);
    }
}

static void exchange_unit(world_change_t *w, unit_change_t *u)
{
    if (u->out)
        schedule_put_in(w->schedule, u->unit, u->at);
    else
        u->at = schedule_take_out(w->schedule, u->unit);
    u->out = !u->out;
}

void worlds_exchange(world_change_t *w)
{
    world_t *world = w->world;
    for (uint32_t i = 0; i < w->manager_count; i++) {
        EXCHANGE(void *, w->managers[i].manager->verb.handed.state, w->managers[i].state);
        w->managers[i].manager->verb.handed.user = w->managers[i].manager->component->table.user;
        if (!w->managers[i].keeps_state)
            EXCHANGE(unended_t, w->managers[i].manager->unended, w->managers[i].unended);
        exchange_columns(&w->managers[i]);
    }
    for (uint32_t i = 0; i < w->system_count; i++) {
        EXCHANGE(void *, w->systems[i].unit->verb.handed.state, w->systems[i].state);
        w->systems[i].unit->verb.handed.user = w->systems[i].unit->system->table.user;
    }
    for (uint32_t i = 0; i < w->unit_count; i++)
        exchange_unit(w, &w->units[i]);
    for (uint32_t i = 0; i < w->shape_count; i++)
        run_shape_exchange(&w->shapes[i]);
    if (w->manager_count > 0) {
        recount_columns(w);
        recount_telling(world);
    }
    if (w->layout != 0) {
        EXCHANGE(uint32_t, world->layout, w->layout);
        EXCHANGE(spots_t, world->spots, w->spots);
    }
    if (w->manager_count > 0 || w->system_count > 0)
        schedule_unsettle(w->schedule);
}

/* --- telling ------------------------------------------------------------------------------------------------------ */

static void tell_references(world_change_t *w, const manager_change_t *m, bool back)
{
    uint8_t to[REGISTRY_MAX_FIELDS];
    const component_change_t *c = m->component;
    bool declared = m->road == ROAD_FIELDS;
    memset(to, FIELD_GONE, sizeof to);
    for (uint32_t i = 0; i < c->source_count && declared; i++) {
        uint32_t old = c->sources[i].old;
        if (old != BP_NONE && c->sources[i].kind == CONVERT_SAME)
            to[back ? i : old] = (uint8_t)(back ? old : i);
    }
    world_note_moves(w->world, m->manager->number, to);
}

void worlds_tell(world_change_t *w, bool back)
{
    world_t *world = w->world;
    uint32_t version = world->ref_version;
    for (uint32_t i = 0; i < w->system_count; i++) {
        system_change_t *s = &w->systems[i];
        if (s->keeps_state)
            continue;
        s->unit->told = false; /* a state that began anew has not been told which entities match */
        if (back)
            known_return(&s->known, s->unit);
        else
            known_free(&s->unit->known, world);
    }
    if (w->layout == 0)
        return;
    spots_free(&w->spots, &world->memory);
    for (uint32_t i = 0; i < world->run_count; i++) {
        if ((int32_t)(world->runs[i]->version - version) > 0)
            version = world->runs[i]->version;
    }
    version = version + 1 == 0 ? 1 : version + 1; /* no run has version 0 */
    world->ref_version = version;
    for (uint32_t i = 0; i < world->run_count; i++)
        world->runs[i]->version = version;
    for (uint32_t i = 0; i < w->manager_count; i++) {
        if (w->managers[i].moves || w->managers[i].moved_back)
            tell_references(w, &w->managers[i], back);
    }
}

void worlds_tell_gone(const reload_t *reload)
{
    const destruction_t *d = reload->destruction;
    for (uint32_t i = 0; i < d->world_count; i++) {
        world_t *world = d->worlds[i];
        for (uint32_t k = 0; k < world->manager_count; k++) {
            unended_tell(world, world->managers[k]);
            hooks_tell_untold(world, world->managers[k]);
        }
    }
}

/* --- end ---------------------------------------------------------------------------------------------------------- */

/* Has the kept side of a system been started? A system that has gone: its old side is kept once its unit is out. */
static bool has_started(const world_change_t *w, const system_change_t *s)
{
    for (uint32_t i = 0; i < w->unit_count && s->gone; i++) {
        if (w->units[i].unit == s->unit)
            return w->units[i].out;
    }
    return s->started;
}

static void stop_system(const world_change_t *w, system_change_t *s)
{
    if (s->stopped || !has_started(w, s))
        return;
    s->started = false;
    s->stopped = true;
    if (s->kept->table.stop == NULL)
        return;
    system_enter(s);
    verb_system_stop(s->kept, &s->unit->verb);
    system_leave(s);
}

static void stop_world(reload_change_t *change, world_change_t *w)
{
    (void)change;
    for (uint32_t i = w->system_count; i > 0; i--)
        stop_system(w, &w->systems[i - 1]);
    for (uint32_t i = w->manager_count; i > 0; i--) {
        manager_change_t *m = &w->managers[i - 1];
        if (m->started && m->component->kept->table.stop != NULL) {
            manager_enter(m);
            verb_stop(m->component->kept, &m->manager->verb);
            manager_leave(m);
        }
        m->started = false;
    }
}

void worlds_stop(reload_change_t *change)
{
    for (uint32_t i = change->world_count; i > 0; i--)
        stop_world(change, &change->worlds[i - 1]);
}

static void free_manager(memory_t *memory, manager_change_t *m)
{
    memory_free(memory, m->columns, m->column_count * sizeof *m->columns);
    memory_free(memory, m->visible, m->visible_count * sizeof *m->visible);
    memory_free(memory, m->picks, m->pick_count * sizeof *m->picks);
    memory_free(memory, m->old_slots, m->old_slot_room * sizeof *m->old_slots);
    unended_free(&m->unended, memory);
}

static void free_world(world_change_t *w)
{
    memory_t *memory = &w->world->memory;
    for (uint32_t i = 0; i < w->shape_count; i++)
        run_shape_free(&w->shapes[i], memory, &w->world->holdings);
    for (uint32_t i = 0; i < w->manager_count; i++)
        free_manager(memory, &w->managers[i]);
    for (uint32_t i = 0; i < w->system_count; i++)
        known_free(&w->systems[i].known, w->world);
    for (uint32_t i = 0; i < w->unit_count; i++) {
        if (w->units[i].out)
            schedule_free_unit(w->schedule, w->units[i].unit);
    }
    spots_free(&w->spots, memory);
    memory_free(memory, w->shapes, w->shape_capacity * sizeof *w->shapes);
    memory_free(memory, w->shape_of, w->prototype_count * sizeof *w->shape_of);
    memory_free(memory, w->units, w->unit_capacity * sizeof *w->units);
    memory_free(memory, w->managers, w->manager_capacity * sizeof *w->managers);
    memory_free(memory, w->systems, w->system_capacity * sizeof *w->systems);
}

void worlds_forget(reload_change_t *change, const world_t *world)
{
    uint32_t at = 0;
    while (at < change->world_count && change->worlds[at].world != world)
        at++;
    if (at == change->world_count)
        return;
    stop_world(change, &change->worlds[at]);
    free_world(&change->worlds[at]);
    change->world_count--;
    memmove(change->worlds + at, change->worlds + at + 1, (change->world_count - at) * sizeof *change->worlds);
}

void worlds_free(reload_change_t *change)
{
    if (change->hears_of_deaths)
        destruction_drop_owner(change->reload->destruction, change);
    change->hears_of_deaths = false;
    if (change->reload->destruction->missed == &change->missed)
        destruction_set_missed(change->reload->destruction, NULL);
    missed_free(&change->missed);
    for (uint32_t i = 0; i < change->world_count; i++)
        free_world(&change->worlds[i]);
    memory_free(&change->reload->memory, change->worlds, change->world_capacity * sizeof *change->worlds);
    change->worlds = NULL;
    change->world_count = 0;
}

/* --- columns that stay -------------------------------------------------------------------------------------------- */

/* Goes from the end of a run to its beginning, so that the columns still to be treated lie where the prototypes say. */
void keep_columns(world_change_t *w, const manager_t *manager, uint32_t width, const run_pick_t *picks, uint32_t count)
{
    world_t *world = w->world;
    const prototypes_t *p = &world->prototypes;
    for (uint32_t r = 0; r < world->run_count; r++) {
        run_t *run = world->runs[r];
        for (uint32_t at = run->prototype; at != 0; at = p->items[at].base) {
            if (world_key_manager(world, p->items[at].key) == manager)
                run_keep(run, &world->memory, &world->holdings, p->items[p->items[at].base].columns, width, picks,
                         count);
        }
    }
    for (uint32_t i = 0; i < manager->untold.count; i++)
        run_keep(manager->untold.items[i].rows, &world->memory, &world->holdings, 1, width, picks, count);
}

static void new_layout(reload_change_t *change, world_change_t *w)
{
    world_change_layout(w->world, world_draw_layout(w->world, change->reload->layouts));
    schedule_unsettle(w->schedule);
}

static void drop_hidden(world_change_t *w, manager_change_t *m)
{
    manager_t *manager = m->manager;
    run_pick_t picks[REGISTRY_MAX_FIELDS + 1];
    for (uint32_t i = 0; i < m->visible_count; i++)
        picks[i] = (run_pick_t){i, m->visible[i]};
    keep_columns(w, manager, manager->column_count, picks, m->visible_count);
    memory_free(&w->world->memory, manager->column_list, manager->column_count * sizeof *manager->column_list);
    manager->column_list = NULL;
    if (m->visible_count > 0) {
        manager->column_list = m->visible;
        m->visible = NULL;
    }
    manager->columns = manager->column_list;
    manager->column_count = m->visible_count;
    manager->hidden = 0;
}

/* The part of a later change that has moved a manager's columns; NULL where the change has left them alone. */
static manager_change_t *moved_by(reload_change_t *next, const world_t *world, const manager_t *manager)
{
    for (uint32_t i = 0; next != NULL && i < next->world_count; i++) {
        for (uint32_t m = 0; next->worlds[i].world == world && m < next->worlds[i].manager_count; m++) {
            manager_change_t *found = &next->worlds[i].managers[m];
            if (found->manager == manager && found->moves)
                return found;
        }
    }
    return NULL;
}

/* Keep the visible columns of the later change; it has no hidden ones of this change, since none went into its
 * shapes. */
static void keep_visible(world_change_t *w, manager_change_t *m, manager_change_t *next)
{
    if (next->hidden == 0)
        return;
    memory_free(&w->world->memory, next->columns, next->column_count * sizeof *next->columns);
    next->columns = m->visible;
    next->column_count = m->visible_count;
    next->hidden = 0;
    m->visible = NULL;
}

void worlds_drop_hidden(reload_change_t *change, reload_change_t *next)
{
    for (uint32_t i = 0; i < change->world_count; i++) {
        world_change_t *w = &change->worlds[i];
        bool any = false;
        for (uint32_t m = 0; m < w->manager_count; m++) {
            manager_change_t *over = moved_by(next, w->world, w->managers[m].manager);
            if (over != NULL)
                keep_visible(w, &w->managers[m], over);
            if (over != NULL || w->managers[m].manager->hidden == 0)
                continue;
            any = true;
            drop_hidden(w, &w->managers[m]);
            recount_columns(w); /* the next manager's columns have moved */
        }
        if (any)
            new_layout(change, w);
    }
}

/* --- shapes ------------------------------------------------------------------------------------------------------- */

void worlds_drop_shapes(reload_change_t *change)
{
    for (uint32_t i = 0; i < change->world_count; i++) {
        world_change_t *w = &change->worlds[i];
        for (uint32_t s = 0; s < w->shape_count; s++)
            run_shape_free(&w->shapes[s], &w->world->memory, &w->world->holdings);
        w->shape_count = 0;
    }
}
