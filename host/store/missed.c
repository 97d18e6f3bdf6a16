/* missed.c - listeners of versions that are out of their places, and what has died meanwhile (missed.h).
 *
 * One list, in the order of telling: the listeners of a plugin for its worlds stand behind the one that stands for the
 * plugin, and come as worlds come.
 */
#include "missed.h"

#include "world.h"

/* Is it of a plugin that asks in each world, without a world itself? */
static bool is_for_each_world(const missed_listener_t *m)
{
    return m->listener.world == NULL && m->listener.asked->which != BP_DEATHS_ALL;
}

static bool insert(missed_t *missed, uint32_t at, missed_listener_t made)
{
    if (!memory_reserve(&missed->base->memory, &missed->items, &missed->capacity, missed->count + 1u,
                        sizeof *missed->items))
        return false;
    memmove(missed->items + at + 1, missed->items + at, (missed->count - at) * sizeof *missed->items);
    missed->items[at] = made;
    missed->count++;
    return true;
}

bool missed_add(missed_t *missed, const listener_t *listener, world_t *world, const deaths_t *out,
                const plugin_t *through)
{
    missed_listener_t made = {.back = listener->asked, .through = through};
    made.listener = (listener_t){.who = listener->who, .asked = out, .tell = listener->tell, .world = world};
    return insert(missed, missed->count, made);
}

/* Have a listener for the world among those behind `at`, which are of the same plugin. */
static bool need_listener(missed_t *missed, uint32_t at, world_t *world)
{
    missed_listener_t made = missed->items[at];
    uint32_t end = at + 1;
    while (end < missed->count && missed->items[end].listener.who == made.listener.who) {
        if (missed->items[end++].listener.world == world)
            return true;
    }
    made.listener.world = world;
    return insert(missed, end, made);
}

static void tell_lack(const missed_t *missed)
{
    log_write(&missed->base->log, BP_LOG_ERROR, "host",
              "out of memory; where the version before comes back, not all deaths are told to its listeners");
}

/* Is a column of the version before the field that is asked for? */
static bool is_asked(const deaths_t *asked, const field_t *field)
{
    return field->type == BP_ENTITY && field_is_single(field) &&
           (strcmp(field->name, asked->field) == 0 || strcmp(field->former_name, asked->field) == 0);
}

/* A field that the version in place lacks, or has as another type, is a hidden column as long as the version before may
 * come back, which will see what is in that column. */
static void find_hidden(listener_t *l)
{
    const world_t *world = l->world;
    for (uint32_t i = 0; l->asked->which == BP_DEATHS_REFERRED && i < world->manager_count; i++) {
        const manager_t *manager = world->managers[i];
        if (!manager->started || strcmp(manager->component->name, l->asked->component) != 0)
            continue;
        for (uint32_t c = world_visible(manager); c < manager->column_count; c++) {
            if (!is_asked(l->asked, manager->columns[c]))
                continue;
            l->manager = i;
            l->field = c;
        }
    }
}

bool missed_find(missed_t *missed, world_t *const *worlds, uint32_t count)
{
    bool room = true;
    for (uint32_t i = 0; i < missed->count; i++) {
        bool each = is_for_each_world(&missed->items[i]);
        for (uint32_t w = 0; w < count && each; w++)
            room = need_listener(missed, i, worlds[w]) && room;
        listener_t *l = &missed->items[i].listener;
        l->warned = true; /* of a field that is not there now; the version before will warn of its own */
        if (l->world == NULL)
            continue;
        deaths_find(l, l->world);
        find_hidden(l);
    }
    if (!room)
        tell_lack(missed);
    return room;
}

static void keep_all(const missed_t *missed, listener_t *l, const bp_entity_t *dead, uint32_t count)
{
    if (!memory_reserve(&missed->base->memory, &l->dead, &l->dead_capacity, (uint64_t)l->count + count,
                        sizeof *l->dead)) {
        tell_lack(missed);
        return;
    }
    memcpy(l->dead + l->count, dead, count * sizeof *dead);
    l->count += count;
}

/* So a batch more than `most` may be kept, for each listener. */
static void check_most(missed_t *missed)
{
    uint64_t kept = 0;
    for (uint32_t i = 0; i < missed->count; i++)
        kept += missed->items[i].listener.count;
    missed->full = kept > missed->most;
    if (missed->full)
        log_write(&missed->base->log, BP_LOG_WARNING, "host",
                  "%llu deaths wait for the versions before to come back, and no more are kept: their probation ends "
                  "with the next step",
                  (unsigned long long)kept);
}

void missed_gather(missed_t *missed, const bp_entity_t *dead, uint32_t count)
{
    if (missed->full)
        return;
    for (uint32_t i = 0; i < missed->count; i++) {
        listener_t *l = &missed->items[i].listener;
        if (l->asked->which == BP_DEATHS_ALL)
            keep_all(missed, l, dead, count);
        else if (l->world != NULL)
            deaths_gather(l, dead, count);
    }
    check_most(missed);
}

void missed_hear(missed_t *missed)
{
    for (uint32_t i = 0; i < missed->count; i++) {
        const plugin_t *through = missed->items[i].through;
        if (through != NULL && !plugin_is_aside(through))
            missed->items[i].listener.count = 0;
    }
}

static void tell(const missed_listener_t *m, uint32_t most)
{
    const listener_t *l = &m->listener;
    for (uint32_t at = 0, count; at < l->count; at += count) {
        count = l->count - at < most ? l->count - at : most;
        const bp_death_t batch = {.struct_size = sizeof batch,
                                  .count = count,
                                  .entities = l->dead + at,
                                  .referrers = m->back->which == BP_DEATHS_REFERRED ? l->referrers + at : NULL,
                                  .world = m->back->which == BP_DEATHS_ALL ? NULL : world_handle(l->world)};
        l->tell(l->who, &batch);
    }
}

void missed_tell(const missed_t *missed, uint32_t batch)
{
    for (uint32_t i = 0; i < missed->count; i++)
        tell(&missed->items[i], batch);
}

void missed_forget_world(missed_t *missed, const world_t *world)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < missed->count; i++) {
        if (missed->items[i].listener.world == world)
            deaths_free(&missed->items[i].listener, &missed->base->memory);
        else
            missed->items[kept++] = missed->items[i];
    }
    missed->count = kept;
}

void missed_free(missed_t *missed)
{
    for (uint32_t i = 0; i < missed->count; i++)
        deaths_free(&missed->items[i].listener, &missed->base->memory);
    if (missed->base != NULL)
        memory_free(&missed->base->memory, missed->items, missed->capacity * sizeof *missed->items);
    missed->items = NULL;
    missed->count = missed->capacity = 0;
}
