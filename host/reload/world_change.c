/* world_change.c - a change that has been prepared takes place in a world: sides are exchanged, those who hold references are told, and
 * the side that is left over ends.
 *
 * The exchange is its own opposite, and nothing in it can fail (reload.c).
 */
#include "change.h"

#include "../plugin/verbs.h"

/* --- exchange ----------------------------------------------------------------------------------------------------------- */

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

static void recount_keys(world_change_t *w)
{
    prototypes_t *p = &w->world->prototypes;
    for (uint32_t i = 0; i < p->key_count; i++) {
        const manager_change_t *m = world_manager_change(w, i);
        if (m == NULL)
            continue;
        const manager_t *manager = m->manager;
        uint32_t flags = world_key_flags(manager->component, manager->columns, manager->column_count);
        p->keys[i].flags = (uint16_t)((p->keys[i].flags & KEY_GONE) | flags);
        p->keys[i].columns = (uint16_t)manager->column_count;
    }
    prototypes_recount(p);
    for (uint32_t i = 0; i < w->world->run_count; i++)
        w->world->runs[i]->flags = p->items[w->world->runs[i]->prototype].flags;
}

static void recount_telling(bp_world_o *world)
{
    world->telling = 0;
    for (uint32_t i = 0; i < world->manager_count; i++) {
        const manager_t *manager = world->managers[i];
        world->telling += manager->started && manager->component->own_storage && manager->component->table.gc == NULL;
    }
}

static void exchange_unit(world_change_t *w, unit_change_t *u)
{
    if (u->out)
        schedule_put_in(w->world->schedule, u->unit, u->at);
    else
        u->at = schedule_take_out(w->world->schedule, u->unit);
    u->out = !u->out;
}

void worlds_exchange(world_change_t *w)
{
    bp_world_o *world = w->world;
    for (uint32_t i = 0; i < w->manager_count; i++) {
        EXCHANGE(void *, w->managers[i].manager->seen.state, w->managers[i].state);
        exchange_columns(&w->managers[i]);
    }
    for (uint32_t i = 0; i < w->system_count; i++)
        EXCHANGE(void *, w->systems[i].unit->seen.state, w->systems[i].state);
    for (uint32_t i = 0; i < w->unit_count; i++)
        exchange_unit(w, &w->units[i]);
    for (uint32_t i = 0; i < w->shape_count; i++)
        run_shape_exchange(&w->shapes[i]);
    if (w->manager_count > 0) {
        recount_keys(w);
        recount_telling(world);
    }
    if (w->layout != 0)
        EXCHANGE(uint32_t, world->layout, w->layout);
    if (w->manager_count > 0 || w->system_count > 0)
        schedule_unsettle(world->schedule);
}

/* --- telling ------------------------------------------------------------------------------------------------------------- */

static void tell_references(world_change_t *w, const manager_change_t *m, bool back)
{
    bp_world_o *world = w->world;
    const component_change_t *c = m->component;
    bool declared = m->road == ROAD_FIELDS;
    field_moves_t *moves = &world->moves[world->moves_made++ % WORLD_MOVES];
    moves->version = world->ref_version;
    moves->manager = m->manager->seen.component;
    memset(moves->to, FIELD_GONE, sizeof moves->to);
    for (uint32_t i = 0; i < c->source_count && declared; i++) {
        uint32_t old = c->sources[i].old;
        if (old != BP_NONE && c->sources[i].kind == CONVERT_SAME)
            moves->to[back ? i : old] = (uint8_t)(back ? old : i);
    }
}

void worlds_tell(world_change_t *w, bool back)
{
    bp_world_o *world = w->world;
    uint32_t version = world->ref_version;
    for (uint32_t i = 0; i < w->system_count; i++) {
        if (!w->systems[i].keeps_state)
            w->systems[i].unit->told = false; /* a state that began anew has not been told who matches */
    }
    if (w->layout == 0)
        return;
    world_leave_layout(world, w->layout);
    for (uint32_t i = 0; i < world->run_count; i++) {
        if ((int32_t)(world->runs[i]->version - version) > 0)
            version = world->runs[i]->version;
    }
    version = version + 1 == 0 ? 1 : version + 1; /* 0 is what nobody has */
    world->ref_version = version;
    for (uint32_t i = 0; i < world->run_count; i++)
        world->runs[i]->version = version;
    for (uint32_t i = 0; i < w->manager_count; i++) {
        if (w->managers[i].moves || w->managers[i].moved_back)
            tell_references(w, &w->managers[i], back);
    }
}

/* --- end ------------------------------------------------------------------------------------------------------------------- */

/* Has the other side of a system been started? Of one that has gone, the old one is the other once its unit is out. */
static bool has_started(const world_change_t *w, const system_change_t *s)
{
    for (uint32_t i = 0; i < w->unit_count && s->gone; i++) {
        if (w->units[i].unit == s->unit)
            return w->units[i].out;
    }
    return s->started;
}

static void stop_world(reload_change_t *change, world_change_t *w)
{
    (void)change;
    for (uint32_t i = w->system_count; i > 0; i--) {
        system_change_t *s = &w->systems[i - 1];
        if (has_started(w, s) && s->other->table.stop != NULL) {
            system_enter(s);
            verb_system_stop(s->other, &s->unit->seen);
            system_leave(s);
        }
        s->started = false;
    }
    for (uint32_t i = w->manager_count; i > 0; i--) {
        manager_change_t *m = &w->managers[i - 1];
        if (m->started && m->component->other->table.stop != NULL) {
            manager_enter(m);
            verb_stop(m->component->other, &m->manager->seen);
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
    memory_free(memory, m->columns, m->columns == NULL ? 0 : m->column_count * sizeof *m->columns);
    memory_free(memory, m->visible, m->visible == NULL ? 0 : m->visible_count * sizeof *m->visible);
    memory_free(memory, m->picks, m->picks == NULL ? 0 : m->pick_count * sizeof *m->picks);
    memory_free(memory, m->old_slots, m->old_slots == NULL ? 0 : m->old_slot_room * sizeof *m->old_slots);
}

static void free_world(world_change_t *w)
{
    memory_t *memory = &w->world->memory;
    for (uint32_t i = 0; i < w->shape_count; i++)
        run_shape_free(&w->shapes[i], memory, &w->world->base->strings);
    for (uint32_t i = 0; i < w->manager_count; i++)
        free_manager(memory, &w->managers[i]);
    for (uint32_t i = 0; i < w->unit_count; i++) {
        if (w->units[i].out)
            schedule_free_unit(w->world->schedule, w->units[i].unit);
    }
    memory_free(memory, w->shapes, w->shape_capacity * sizeof *w->shapes);
    memory_free(memory, w->shape_of, w->shape_of == NULL ? 0 : w->prototype_count * sizeof *w->shape_of);
    memory_free(memory, w->units, w->unit_capacity * sizeof *w->units);
    memory_free(memory, w->managers, w->managers == NULL ? 0 : w->manager_capacity * sizeof *w->managers);
    memory_free(memory, w->systems, w->systems == NULL ? 0 : w->system_capacity * sizeof *w->systems);
}

void worlds_free(reload_change_t *change)
{
    for (uint32_t i = 0; i < change->world_count; i++)
        free_world(&change->worlds[i]);
    memory_free(&change->reload->memory, change->worlds, change->worlds == NULL ? 0 : change->world_capacity * sizeof *change->worlds);
    change->worlds = NULL;
    change->world_count = 0;
}
