/* world_parts.c - finding one's way in what a change is to a world, and standing on its other side for a call.
 *
 * Whatever prepares, carries, exchanges or takes back goes through here; nothing here goes there.
 */
#include "change.h"

/* --- sides ----------------------------------------------------------------------------------------------------------- */

void manager_enter(manager_change_t *m)
{
    change_enter(m->component->version);
    EXCHANGE(void *, m->manager->seen.state, m->state);
}

void manager_leave(manager_change_t *m)
{
    EXCHANGE(void *, m->manager->seen.state, m->state);
    change_leave(m->component->version);
}

void system_enter(system_change_t *s)
{
    change_enter(s->version);
    EXCHANGE(void *, s->unit->seen.state, s->state);
}

void system_leave(system_change_t *s)
{
    EXCHANGE(void *, s->unit->seen.state, s->state);
    change_leave(s->version);
}

/* --- finding ---------------------------------------------------------------------------------------------------------- */

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
