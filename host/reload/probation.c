/* probation.c - the time after a commit in which it can be taken back, and its end.
 *
 * What has no place in the new lists lies in hidden columns behind the visible ones, in every run that has the component, also in
 * those that have come since: rows of all columns go together. So both ends of a probation are the same thing: of the columns of
 * each key some stay, in some order, and the others go; nothing is allocated, so neither can fail on that account.
 *
 * How a change is taken back is in rollback.c.
 */
#include "change.h"

#include "../plugin/verbs.h"

void worlds_settle_down(reload_change_t *change)
{
    for (uint32_t i = 0; i < change->world_count; i++) {
        world_change_t *w = &change->worlds[i];
        for (uint32_t s = 0; s < w->shape_count; s++)
            run_shape_free(&w->shapes[s], &w->world->memory, &w->world->base->strings);
        w->shape_count = 0;
    }
}

/* --- columns that stay ---------------------------------------------------------------------------------------------------- */

/* From the end of a run to its beginning, so that what is still to come lies where the prototypes say. */
void keep_columns(world_change_t *w, const manager_t *manager, uint32_t width, const run_pick_t *picks, uint32_t count)
{
    bp_world_o *world = w->world;
    const prototypes_t *p = &world->prototypes;
    for (uint32_t r = 0; r < world->run_count; r++) {
        run_t *run = world->runs[r];
        for (uint32_t at = run->prototype; at != 0; at = p->items[at].base) {
            if (world_key_manager(world, p->items[at].key) == manager)
                run_keep(run, &world->memory, &world->base->strings, p->items[p->items[at].base].columns, width, picks, count);
        }
    }
}

void recount_columns(world_change_t *w)
{
    bp_world_o *world = w->world;
    prototypes_t *p = &world->prototypes;
    for (uint32_t k = 0; k < p->key_count; k++) {
        const manager_t *manager = world_key_manager(world, k);
        if (world_manager_change(w, k) == NULL)
            continue;
        p->keys[k].columns = (uint16_t)manager->column_count;
        p->keys[k].flags =
            (uint16_t)((p->keys[k].flags & KEY_GONE) | world_key_flags(manager->component, manager->columns, manager->column_count));
    }
    prototypes_recount(p);
    for (uint32_t r = 0; r < world->run_count; r++)
        world->runs[r]->flags = p->items[world->runs[r]->prototype].flags;
}

static void new_layout(reload_change_t *change, world_change_t *w)
{
    world_leave_layout(w->world, w->world->layout);
    w->world->layout = ++*change->reload->layouts;
    schedule_unsettle(w->world->schedule);
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

void worlds_drop_hidden(reload_change_t *change)
{
    for (uint32_t i = 0; i < change->world_count; i++) {
        world_change_t *w = &change->worlds[i];
        bool any = false;
        for (uint32_t m = 0; m < w->manager_count; m++) {
            if (w->managers[m].manager->hidden == 0)
                continue;
            any = true;
            drop_hidden(w, &w->managers[m]);
            recount_columns(w); /* the next manager's columns have moved */
        }
        if (any)
            new_layout(change, w);
    }
}
