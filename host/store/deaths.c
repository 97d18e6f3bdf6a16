/* deaths.c - picking the deaths that a listener asked for from a batch.
 *
 * The entities that refer to the dead are found by a walk through the columns of one field: one walk for each batch,
 * however many die together. A batch of one is compared with each cell; the entities of a larger batch are put into a
 * table by index first.
 */
#include "deaths.h"

#include "world.h"

enum { TABLE = 4096 }; /* twice the largest batch (DESTRUCTION_BATCH) */

typedef struct dead_table_t {
    const bp_entity_t *dead;
    uint32_t count;
    uint16_t places[TABLE]; /* 1 + place in `dead`, 0: free */
} dead_table_t;

void deaths_find(listener_t *l, world_t *world)
{
    const deaths_t *asked = l->asked;
    l->world = world;
    l->manager = BP_NONE;
    for (uint32_t i = 0; asked->which != BP_DEATHS_ALL && i < world->manager_count && l->manager == BP_NONE; i++) {
        if (world->managers[i]->started && strcmp(world->managers[i]->component->name, asked->component) == 0)
            l->manager = i;
    }
    if (l->manager == BP_NONE || asked->which != BP_DEATHS_REFERRED)
        return;
    const component_t *component = world->managers[l->manager]->component;
    l->field = component_find_field(component, names_hash(asked->field), asked->field);
    if (l->field != BP_NONE && deaths_fit(component, l->field)) {
        l->warned = false;
        return;
    }
    l->manager = BP_NONE;
    if (!l->warned)
        log_write(&world->base->log, BP_LOG_WARNING, "host",
                  "world '%s': deaths of entities that '%s.%s' refers to are not told: it is no declared field of type "
                  "entity with a single value",
                  world->name, asked->component, asked->field);
    l->warned = true;
}

void deaths_check(deaths_t *asked, const world_t *world, const char *kind, const char *who)
{
    const registry_t *r = world->registry;
    nearest_t nearest = {.wanted = asked->component};
    text_t hint;
    bool brought = asked->component == NULL; /* it asks for all deaths, or for none */
    for (uint32_t i = 0; i < r->component_count && !brought; i++) {
        if (r->components[i]->owner == NULL)
            continue;
        brought = strcmp(r->components[i]->name, asked->component) == 0;
        nearest_consider(&nearest, r->components[i]->name);
    }
    if (!brought && !asked->warned)
        log_write(&world->base->log, BP_LOG_WARNING, "host",
                  "%s '%s' asks for deaths by component '%s', which no loaded plugin brings%s; it is told of none",
                  kind, who, asked->component, nearest_hint(&nearest, &hint));
    asked->warned = !brought;
}

static bool is_aside(const listener_t *l)
{
    return l->owner != NULL && plugin_is_aside(l->owner);
}

/* Is there still room for a death that is held? */
static bool may_hold(listener_t *l, base_t *base)
{
    if (l->count < DEATHS_HELD_MOST)
        return true;
    if (!l->full)
        log_write(&base->log, BP_LOG_WARNING, "host",
                  "plugin '%s' is set aside, and more deaths than %d wait for a version that works: no more are told",
                  l->owner->name, DEATHS_HELD_MOST);
    l->full = true;
    return false;
}

static bool keep(listener_t *l, bp_entity_t dead, bp_entity_t referrer)
{
    memory_t *memory = &l->world->base->memory;
    if (!memory_reserve(memory, &l->dead, &l->dead_capacity, l->count + 1u, sizeof *l->dead) ||
        !memory_reserve(memory, &l->referrers, &l->referrer_capacity, l->count + 1u, sizeof *l->referrers)) {
        log_write(&l->world->base->log, BP_LOG_ERROR, "host",
                  "world '%s': out of memory; not all deaths of '%s' are told to the listener",
                  l->world->name, l->asked->component);
        return false;
    }
    l->dead[l->count] = dead;
    l->referrers[l->count++] = referrer;
    return true;
}

/* The column of the first component of `manager` from link `at` of a chain on; the link after that component is left in
 * `at`. Returns 0 where the rest of the chain has no such component. */
static uint32_t next_column(const prototypes_t *p, uint32_t manager, uint32_t *at)
{
    uint32_t column = 0;
    while (*at != 0 && column == 0) {
        const prototype_t *item = &p->items[*at];
        if (p->keys[item->key].manager == manager)
            column = p->items[item->base].columns;
        *at = item->base;
    }
    return column;
}

static void gather_with(listener_t *l, const bp_entity_t *dead, uint32_t count)
{
    uint32_t met = 0;
    bool has = false;
    for (uint32_t i = 0; i < count; i++) {
        const record_t *record = world_record(l->world, dead[i]);
        if (record == NULL || record->prototype == 0)
            continue;
        if (record->prototype != met) {
            uint32_t at = met = record->prototype;
            has = next_column(&l->world->prototypes, l->manager, &at) != 0;
        }
        if (has && !keep(l, dead[i], (bp_entity_t){0}))
            return;
    }
}

static void fill_table(dead_table_t *table, const bp_entity_t *dead, uint32_t count)
{
    table->dead = dead;
    table->count = count;
    if (count < 2)
        return;
    memset(table->places, 0, sizeof table->places);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = bp_entity_index(dead[i]) % TABLE;
        while (table->places[place] != 0)
            place = (place + 1) % TABLE;
        table->places[place] = (uint16_t)(i + 1);
    }
}

static bool is_among(const dead_table_t *table, bp_entity_t e)
{
    if (table->count < 2)
        return table->dead[0].id == e.id;
    uint32_t place = bp_entity_index(e) % TABLE;
    while (table->places[place] != 0 && table->dead[table->places[place] - 1].id != e.id)
        place = (place + 1) % TABLE;
    return table->places[place] != 0;
}

static bool gather_column(listener_t *l, const run_t *run, uint32_t column, const dead_table_t *table)
{
    const bp_entity_t *cells = run_cell(run, column, 0), *entities = run_cell(run, 0, 0);
    for (uint32_t row = 0; row < run->count; row++) {
        if (cells[row].id != 0 && is_among(table, cells[row]) &&
            entities_is_alive(l->world->entities, entities[row]) && !keep(l, cells[row], entities[row]))
            return false;
    }
    return true;
}

static void gather_referred(listener_t *l, const bp_entity_t *dead, uint32_t count)
{
    dead_table_t table;
    fill_table(&table, dead, count);
    for (uint32_t r = 0; r < l->world->run_count; r++) {
        const run_t *run = l->world->runs[r];
        uint32_t at = run->prototype, column;
        while (run->count > 0 && (column = next_column(&l->world->prototypes, l->manager, &at)) != 0) {
            if (!gather_column(l, run, column + l->field, &table))
                return;
        }
    }
}

void deaths_gather(listener_t *l, const bp_entity_t *dead, uint32_t count)
{
    if (l->asked->which == BP_DEATHS_ALL || l->manager == BP_NONE)
        return;
    if (is_aside(l) && !may_hold(l, l->world->base))
        return;
    if (l->asked->which == BP_DEATHS_WITH)
        gather_with(l, dead, count);
    else
        gather_referred(l, dead, count);
}

/* The deaths to be told are taken out of the listener before the call: the code that is told of them may destroy more
 * entities, whose deaths are then kept in the listener for a batch of their own. */
static listener_t take(listener_t *l)
{
    listener_t taken = *l;
    l->dead = l->referrers = NULL;
    l->count = l->ready = l->dead_capacity = l->referrer_capacity = 0;
    return taken;
}

static void tell(const listener_t *l, uint32_t from, uint32_t count)
{
    uint32_t which = l->asked->which;
    const bp_death_t batch = {.struct_size = sizeof batch,
                              .count = count,
                              .entities = l->dead + from,
                              .referrers = which == BP_DEATHS_REFERRED ? l->referrers + from : NULL,
                              .world = which == BP_DEATHS_ALL ? NULL : world_handle(l->world)};
    l->tell(l->who, &batch);
}

static bool hold_all(listener_t *l, base_t *base, const bp_entity_t *dead, uint32_t count)
{
    bool room = memory_reserve(&base->memory, &l->dead, &l->dead_capacity, (uint64_t)l->count + count,
                               sizeof *l->dead);
    if (room) {
        memcpy(l->dead + l->count, dead, count * sizeof *dead);
        l->count += count;
    }
    return room;
}

/* What has been taken, from `from` on, is held again, before what has come since. */
static void put_back(listener_t *l, base_t *base, listener_t *taken, uint32_t from)
{
    listener_t since = take(l);
    bool all = l->asked->which == BP_DEATHS_ALL, good = true;
    taken->count -= from;
    memmove(taken->dead, taken->dead + from, taken->count * sizeof *taken->dead);
    if (!all)
        memmove(taken->referrers, taken->referrers + from, taken->count * sizeof *taken->referrers);
    *l = *taken;
    l->ready = 0;
    if (all && since.count > 0)
        good = hold_all(l, base, since.dead, since.count);
    for (uint32_t i = 0; i < since.count && !all && good; i++)
        good = keep(l, since.dead[i], since.referrers[i]);
    if (!good && all)
        log_write(&base->log, BP_LOG_ERROR, "host", "out of memory; not all deaths are told to plugin '%s'",
                  l->owner->name);
    deaths_free(&since, &base->memory);
}

void deaths_tell_all(listener_t *l, base_t *base, const bp_death_t *batch)
{
    if (!is_aside(l))
        l->tell(l->who, batch);
    if (is_aside(l) && may_hold(l, base) && !hold_all(l, base, batch->entities, batch->count))
        log_write(&base->log, BP_LOG_ERROR, "host", "out of memory; not all deaths are told to plugin '%s'",
                  l->owner->name);
}

void deaths_tell_held(listener_t *l, base_t *base, uint32_t most)
{
    if (l->count == 0 || is_aside(l))
        return;
    listener_t taken = take(l);
    l->full = false;
    uint32_t at = 0, count = 0;
    for (; at < taken.count && !is_aside(l); at += is_aside(l) ? 0 : count) {
        count = taken.count - at < most ? taken.count - at : most;
        tell(&taken, at, count);
    }
    if (at < taken.count)
        put_back(l, base, &taken, at);
    else
        deaths_free(&taken, &base->memory);
}

void deaths_tell(listener_t *l)
{
    uint32_t ready = l->ready;
    if (ready == 0 || is_aside(l))
        return;
    base_t *base = l->world->base;
    listener_t taken = take(l);
    for (uint32_t i = ready; i < taken.count; i++) {
        if (!keep(l, taken.dead[i], taken.referrers[i]))
            break;
    }
    tell(&taken, 0, ready);
    taken.count = ready;
    if (is_aside(l))
        put_back(l, base, &taken, 0);
    else
        deaths_free(&taken, &base->memory);
}

void deaths_free(listener_t *l, memory_t *memory)
{
    memory_free(memory, l->dead, l->dead_capacity * sizeof *l->dead);
    memory_free(memory, l->referrers, l->referrer_capacity * sizeof *l->referrers);
    l->dead = l->referrers = NULL;
    l->count = l->ready = l->dead_capacity = l->referrer_capacity = 0;
}
