/* destruction.c - killing and announcing.
 *
 * Destroying must not fail for want of memory, so batches are copied and sifted in a block on the stack. Only entities
 * that die inside a callback are queued; without memory for the queue their deaths are announced on the spot.
 */
#include "destruction.h"

#include "../plugin/verbs.h"
#include "own.h"
#include "store.h"

enum { WAITING_KEPT = 8192 /* entities for which there is room from step to step, to wait for the end of each */ };

void destruction_init(destruction_t *d, base_t *base, entities_t *entities)
{
    static const plugins_t none = {.count = 0};
    memset(d, 0, sizeof *d);
    memory_init_child(&d->memory, "destruction", &base->memory);
    d->base = base;
    d->entities = entities;
    d->plugins = &none;
    d->listened = entities->listeners - 1;
}

static void free_plugin_listener(destruction_t *d, plugin_listener_t *p)
{
    deaths_free(&p->listener, &d->base->memory);
    memory_free(&d->memory, p, sizeof *p);
}

void destruction_free(destruction_t *d)
{
    memory_free(&d->memory, d->worlds, d->world_capacity * sizeof *d->worlds);
    memory_free(&d->memory, d->names, d->name_capacity * sizeof *d->names);
    memory_free(&d->memory, d->listeners, d->listener_capacity * sizeof *d->listeners);
    for (uint32_t i = 0; i < d->plugin_listener_count; i++)
        free_plugin_listener(d, d->plugin_listeners[i]);
    memory_free(&d->memory, d->plugin_listeners, d->plugin_listener_capacity * sizeof *d->plugin_listeners);
    memory_free(&d->memory, d->callbacks, d->callback_capacity * sizeof *d->callbacks);
    memory_free(&d->memory, d->queue, (size_t)d->queue_capacity * sizeof *d->queue);
    memory_free(&d->memory, d->waiting, (size_t)d->waiting_capacity * sizeof *d->waiting);
}

bp_result_t destruction_add_world(destruction_t *d, world_t *world)
{
    if (!memory_reserve(&d->memory, &d->worlds, &d->world_capacity, d->world_count + 1u, sizeof *d->worlds) ||
        !memory_reserve(&d->memory, &d->names, &d->name_capacity, d->world_count + 1u, sizeof *d->names))
        return error_memory(&d->base->error, "creating a world");
    world->number = d->world_count++;
    d->worlds[world->number] = world;
    d->names[world->number] = names_hash(world->name);
    return BP_OK;
}

world_t *destruction_find_world(const destruction_t *d, const char *name)
{
    bp_name_t hash = names_hash(name);
    for (uint32_t i = 0; i < d->world_count; i++) {
        if (d->names[i] == hash && strcmp(d->worlds[i]->name, name) == 0)
            return d->worlds[i];
    }
    return NULL;
}

void destruction_remove_world(destruction_t *d, const world_t *world)
{
    d->world_count--;
    for (uint32_t i = world->number; i < d->world_count; i++) {
        d->worlds[i] = d->worlds[i + 1];
        d->names[i] = d->names[i + 1];
        d->worlds[i]->number = i;
    }
    for (uint32_t i = 0; i < d->plugin_listener_count; i++) {
        listener_t *listener = &d->plugin_listeners[i]->listener;
        if (listener->world == world) {
            deaths_free(listener, &world->base->memory);
            listener->world = NULL; /* the listener is freed when listeners are found anew */
        }
    }
    if (d->missed != NULL)
        missed_forget_world(d->missed, world);
}

/* --- announcing ------------------------------------------------------------------------------------------------ */

typedef bool (*visit_listener_t)(destruction_t *d, listener_t *listener, const bp_death_t *batch);

static void tell_manager(void *who, const bp_death_t *batch)
{
    manager_t *manager = who;
    verb_died(manager->component, &manager->verb, batch);
}

listener_t destruction_manager_listener(manager_t *manager)
{
    return (listener_t){.who = manager,
                        .owner = manager->component->owner,
                        .asked = &manager->component->asked_deaths,
                        .tell = tell_manager};
}

/* Call `function` for all listeners that asked for deaths, in the order in which they are told, until it returns false.
 * What each of them asked for is looked up anew. */
static bool visit_all(destruction_t *d, visit_listener_t function, const bp_death_t *batch)
{
    bool goes_on = true;
    for (uint32_t w = 0; w < d->world_count && goes_on; w++) {
        world_t *world = d->worlds[w];
        for (uint32_t m = 0; goes_on && m < world->manager_count; m++) {
            manager_t *manager = world->managers[m];
            if (!manager->started || manager->component->deaths.died == NULL)
                continue;
            listener_t own = destruction_manager_listener(manager);
            manager->listener.who = own.who;
            manager->listener.owner = own.owner;
            manager->listener.asked = own.asked;
            manager->listener.tell = own.tell;
            deaths_find(&manager->listener, world);
            goes_on = function(d, &manager->listener, batch);
        }
        listener_t *listener;
        for (uint32_t u = 0; goes_on && d->unit != NULL && d->unit(world, u, &listener); u++) {
            if (listener == NULL)
                continue;
            deaths_find(listener, world);
            goes_on = function(d, listener, batch);
        }
    }
    return goes_on;
}

static bool list_listener(destruction_t *d, listener_t *listener, const bp_death_t *batch)
{
    (void)batch;
    if (!memory_reserve(&d->memory, &d->listeners, &d->listener_capacity, d->listener_count + 1u,
                        sizeof *d->listeners))
        return false;
    d->listeners[d->listener_count++] = listener;
    return true;
}

/* A number that changes whenever a manager, unit or plugin that may ask for deaths comes or goes. */
static inline uint32_t roster(const destruction_t *d)
{
    return d->entities->listeners + d->plugins->roster;
}

static uint32_t plugin_count(const destruction_t *d)
{
    return d->plugins->count;
}

static void tell_plugin(void *who, const bp_death_t *batch)
{
    verb_plugin_died(who, batch);
}

listener_t destruction_plugin_listener(plugin_t *plugin)
{
    return (listener_t){.who = plugin, .owner = plugin, .asked = &plugin->asked_deaths, .tell = tell_plugin};
}

static bool asks(const plugin_t *plugin)
{
    return plugin->deaths.died != NULL;
}

/* Is that plugin still there, and does it ask by a component or a field, in a world, or for all deaths, in none? */
static bool is_wanted(const destruction_t *d, const plugin_listener_t *p)
{
    uint32_t at = 0, count = plugin_count(d);
    while (at < count && d->plugins->items[at] != p->plugin)
        at++;
    return at < count && asks(p->plugin) &&
           (p->listener.world == NULL) == (p->plugin->asked_deaths.which == BP_DEATHS_ALL);
}

static bool need_plugin_listener(destruction_t *d, plugin_t *plugin, world_t *world)
{
    for (uint32_t i = 0; i < d->plugin_listener_count; i++) {
        plugin_listener_t *p = d->plugin_listeners[i];
        if (p->plugin == plugin && p->listener.world == world) {
            deaths_find(&p->listener, world);
            return true;
        }
    }
    plugin_listener_t *made = NULL;
    if (memory_reserve(&d->memory, &d->plugin_listeners, &d->plugin_listener_capacity, d->plugin_listener_count + 1u,
                       sizeof *d->plugin_listeners))
        made = memory_new(&d->memory, sizeof *made);
    if (made == NULL)
        return false;
    made->plugin = plugin;
    made->listener = destruction_plugin_listener(plugin);
    deaths_find(&made->listener, world);
    d->plugin_listeners[d->plugin_listener_count++] = made;
    return true;
}

/* The same for plugins: listeners of plugins that have gone are freed, and each plugin that asks by a component or a
 * field gets a listener for each world; one that asks for all deaths has one, without a world. */
static bool find_plugins(destruction_t *d)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->plugin_listener_count; i++) {
        plugin_listener_t *p = d->plugin_listeners[i];
        if (is_wanted(d, p))
            d->plugin_listeners[kept++] = p;
        else
            free_plugin_listener(d, p);
    }
    d->plugin_listener_count = kept;
    d->asking = d->missed != NULL;
    bool room = true;
    for (uint32_t i = 0; i < plugin_count(d); i++) {
        plugin_t *plugin = d->plugins->items[i];
        d->asking += asks(plugin);
        if (room && asks(plugin) && plugin->asked_deaths.which == BP_DEATHS_ALL)
            room = need_plugin_listener(d, plugin, NULL);
        for (uint32_t w = 0; room && asks(plugin) && plugin->asked_deaths.which != BP_DEATHS_ALL && w < d->world_count;
             w++)
            room = need_plugin_listener(d, plugin, d->worlds[w]);
    }
    return room;
}

/* Make the list of listeners anew, where managers, units or plugins have come or gone. False when out of memory. */
static bool find_listeners(destruction_t *d)
{
    if (d->listened == roster(d))
        return true;
    d->listener_count = 0;
    bool kept = d->missed == NULL || missed_find(d->missed, d->worlds, d->world_count);
    if (!find_plugins(d) || !visit_all(d, list_listener, NULL) || !kept)
        return false;
    d->listened = roster(d);
    return true;
}

/* Call `function` for all listeners but those of plugins. Where memory is lacking for their list, they are visited
 * where they are. */
static void for_all(destruction_t *d, visit_listener_t function, const bp_death_t *batch)
{
    if (!find_listeners(d)) {
        visit_all(d, function, batch);
        return;
    }
    for (uint32_t i = 0; i < d->listener_count; i++)
        function(d, d->listeners[i], batch);
}

static bool gather_for(destruction_t *d, listener_t *listener, const bp_death_t *batch)
{
    (void)d;
    deaths_gather(listener, batch->entities, batch->count);
    return true;
}

/* What the listener has kept so far is told with the batch that is announced now. */
static bool make_ready(destruction_t *d, listener_t *listener, const bp_death_t *batch)
{
    (void)d, (void)batch;
    listener->ready = listener->count;
    return true;
}

/* A listener that is told cannot bring or end managers, units, worlds or plugins (destruction_t.announcing), so that
 * the list of listeners stays as it is. */
static bool tell_listener(destruction_t *d, listener_t *listener, const bp_death_t *batch)
{
    if (listener->asked->which == BP_DEATHS_ALL)
        deaths_tell_all(listener, d->base, batch);
    else
        deaths_tell(listener);
    return true;
}

static void tell_plugins(destruction_t *d, const bp_death_t *batch)
{
    for (uint32_t i = 0; i < plugin_count(d); i++) {
        plugin_t *plugin = d->plugins->items[i];
        bool all = asks(plugin) && plugin->asked_deaths.which == BP_DEATHS_ALL;
        for (uint32_t k = 0; k < d->plugin_listener_count; k++) {
            listener_t *listener = &d->plugin_listeners[k]->listener;
            if (d->plugin_listeners[k]->plugin != plugin)
                continue;
            if (all && listener->world == NULL)
                deaths_tell_all(listener, d->base, batch);
            else if (listener->world != NULL)
                deaths_tell(listener);
            all = all && listener->world != NULL;
        }
        if (all) /* there was no memory for its listener */
            verb_plugin_died(plugin, batch);
    }
}

static void announce_batch(destruction_t *d, const bp_entity_t *entities, uint32_t count)
{
    const bp_death_t batch = {.struct_size = sizeof batch, .count = count, .entities = entities};
    for_all(d, make_ready, &batch);
    for (uint32_t i = 0; i < d->plugin_listener_count; i++)
        make_ready(d, &d->plugin_listeners[i]->listener, &batch);
    for_all(d, tell_listener, &batch);
    if (d->asking > 0)
        tell_plugins(d, &batch);
    for (uint32_t i = 0; i < d->callback_count; i++) {
        destroyed_callback_t c = d->callbacks[i];
        if (c.owner != NULL)
            c.callback(c.data, entities, count);
    }
}

static void forget_dropped_callbacks(destruction_t *d)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->callback_count; i++) {
        if (d->callbacks[i].owner != NULL)
            d->callbacks[kept++] = d->callbacks[i];
    }
    d->callback_count = kept;
}

/* Announce the entities that callbacks have destroyed meanwhile, until the queue is empty. */
static void announce_queue(destruction_t *d)
{
    while (d->queue_count > 0) {
        bp_entity_t *batch = d->queue;
        uint32_t count = d->queue_count, capacity = d->queue_capacity;
        d->queue = NULL;
        d->queue_count = d->queue_capacity = 0;
        announce_batch(d, batch, count);
        memory_free(&d->memory, batch, (size_t)capacity * sizeof *batch);
    }
}

/* The end of an announcement: of what callbacks have destroyed, and with it of all that has died. */
static void end_announcing(destruction_t *d)
{
    announce_queue(d);
    d->announcing = false;
    forget_dropped_callbacks(d);
    if (d->missed != NULL)
        missed_hear(d->missed);
}

void destruction_set_missed(destruction_t *d, missed_t *missed)
{
    d->missed = missed;
    d->entities->listeners++;
}

void destruction_tell_missed(destruction_t *d, const missed_t *missed)
{
    d->announcing = true;
    missed_tell(missed, DESTRUCTION_BATCH);
    end_announcing(d);
}

static bool tell_held(destruction_t *d, listener_t *listener, const bp_death_t *batch)
{
    (void)batch;
    deaths_tell_held(listener, d->base, DESTRUCTION_BATCH);
    return true;
}

void destruction_tell_held(destruction_t *d)
{
    d->announcing = true;
    for_all(d, tell_held, NULL);
    for (uint32_t i = 0; i < d->plugin_listener_count; i++)
        tell_held(d, &d->plugin_listeners[i]->listener, NULL);
    end_announcing(d);
}

void destruction_forget_held(destruction_t *d, const plugin_t *plugin)
{
    for (uint32_t i = 0; i < d->plugin_listener_count; i++) {
        if (d->plugin_listeners[i]->plugin == plugin)
            deaths_free(&d->plugin_listeners[i]->listener, &d->base->memory);
    }
}

static void announce(destruction_t *d, const bp_entity_t *entities, uint32_t count)
{
    if (d->announcing) {
        uint64_t needed = (uint64_t)d->queue_count + count;
        if (memory_reserve(&d->memory, &d->queue, &d->queue_capacity, needed, sizeof *d->queue)) {
            memcpy(d->queue + d->queue_count, entities, count * sizeof *entities);
            d->queue_count += count;
        } else {
            announce_batch(d, entities, count);
        }
        return;
    }
    d->announcing = true;
    announce_batch(d, entities, count);
    end_announcing(d);
}

/* --- killing ---------------------------------------------------------------------------------------------------- */

static const record_page_t *records_of(const entities_t *entities, bp_entity_t e)
{
    return entities->pages[bp_entity_index(e) / ENTITIES_PAGE];
}

/* In a host of many worlds hardly anything of a world is in the near caches when its entities die. What a death asks of
 * the world is fetched together: else the death would wait for each of these lines by itself. */
static inline void fetch_world(const world_t *world)
{
    PREFETCH(world);
    PREFETCH(&world->prototypes);
    PREFETCH(&world->occupied);
    PREFETCH(&world->holed);
}

enum {
    FETCH_FROM = 64,  /* entities of a batch from which on fetching their rows is worth it */
    FETCH_MOST = 128, /* entities whose rows are fetched: on a longer way the processor fetches ahead by itself */
    FETCH_EACH = 20   /* entities that are ended while what a step has fetched arrives */
};

/* The same for the rows of entities, where they lie behind those of the first one, in steps: each step finds the places
 * to fetch in what the steps before have fetched, if that has arrived meanwhile. */
static void fetch_rows(const destruction_t *d, const bp_entity_t *batch, uint32_t count, uint32_t step)
{
    uint32_t index = bp_entity_index(batch[0]);
    const record_page_t *page = index < d->entities->bound ? d->entities->pages[index / ENTITIES_PAGE] : NULL;
    if (page == NULL)
        return;
    const record_t *record = &page->records[index % ENTITIES_PAGE];
    count = count < FETCH_MOST ? count : FETCH_MOST;
    if (step == 0) {
        PREFETCH(page);
        PREFETCH(record);
        entities_fetch(d->entities, batch, count);
        return;
    }
    const world_t *world = page->world;
    if (step == 1) {
        fetch_world(world);
        for (uint32_t i = 0; i < count; i += 64 / sizeof *record)
            PREFETCH_TO_WRITE(&page->records[bp_entity_index(batch[i]) % ENTITIES_PAGE]);
        return;
    }
    const prototype_t *prototype = &world->prototypes.items[record->prototype];
    if (step == 2) {
        PREFETCH(prototype);
        PREFETCH(&world->pages[index / ENTITIES_PAGE - world->first_page]);
        return;
    }
    const run_t *run = prototype->run;
    if (run == NULL)
        return;
    if (step == 3) {
        PREFETCH(run);
        PREFETCH(&run->hole_set);
        PREFETCH(&run->stamps);
        return;
    }
    for (uint32_t row = record->row; row < record->row + count && row < run->count; row += 64 / sizeof *batch)
        PREFETCH_TO_WRITE(&run_entities(run)[row]);
    PREFETCH(&run->hole_set.words[record->row / 64]);
}

/* Copy a batch, and end entities from its head on, as entities_end. In a host of several worlds their rows are fetched
 * meanwhile. */
static uint32_t copy_and_end(const destruction_t *d, const bp_entity_t *entities, bp_entity_t *batch, uint32_t count)
{
    if (d->world_count == 1 || count < FETCH_FROM) {
        memcpy(batch, entities, count * sizeof *batch);
        return entities_end(d->entities, batch, count);
    }
    uint32_t ended = 0;
    fetch_rows(d, entities, count, 0);
    memcpy(batch, entities, count * sizeof *batch);
    for (uint32_t step = 1; step <= 3; step++) {
        ended += entities_end(d->entities, batch + ended, FETCH_EACH);
        fetch_rows(d, batch, count, step);
    }
    ended += entities_end(d->entities, batch + ended, count - ended);
    fetch_rows(d, batch, count, 4);
    return ended;
}

/* Copy a batch, end all of its entities that live, and move them to its front. Returns how many there were. */
static uint32_t sift(const destruction_t *d, const bp_entity_t *entities, bp_entity_t *batch, uint32_t count)
{
    uint32_t kept = copy_and_end(d, entities, batch, count);
    for (uint32_t i = kept + 1; i < count; i++) {
        if (entities_end(d->entities, &batch[i], 1) > 0)
            batch[kept++] = batch[i];
    }
    return kept;
}

/* How many entities from the first on have indices of the same page. */
static uint32_t in_page(const bp_entity_t *dead, uint32_t count)
{
    uint32_t first = bp_entity_index(dead[0]) / ENTITIES_PAGE, n = 1;
    for (uint32_t others = 0; n + 8 <= count; n += 8) { /* eight at a time, without a branch for each */
        for (uint32_t i = n; i < n + 8; i++)
            others |= bp_entity_index(dead[i]) / ENTITIES_PAGE ^ first;
        if (others != 0)
            break;
    }
    while (n < count && bp_entity_index(dead[n]) / ENTITIES_PAGE == first)
        n++;
    return n;
}

/* Tell each world in which some of the dead are. Consecutive entities that share a page of records, or that are in one
 * and the same world only, are told in one call. */
static void forget(const destruction_t *d, const bp_entity_t *dead, uint32_t count)
{
    for (uint32_t i = 0, n; i < count; i += n) {
        const record_page_t *page = records_of(d->entities, dead[i]);
        n = 1;
        if (page == NULL)
            continue;
        fetch_world(page->world);
        for (n = in_page(dead + i, count - i); i + n < count; n += in_page(dead + i + n, count - i - n)) {
            const record_page_t *other = records_of(d->entities, dead[i + n]);
            if (other == NULL || other->world != page->world || other->next != NULL || page->next != NULL)
                break;
        }
        /* A verb that is called here can create a world, and end none: pages may come behind these, and none goes. */
        for (; page != NULL; page = page->next)
            store_forget(page->world, dead + i, n);
    }
}

NOT_INLINED static void gather(destruction_t *d, const bp_entity_t *dead, uint32_t count)
{
    const bp_death_t batch = {.struct_size = sizeof batch, .count = count, .entities = dead};
    for_all(d, gather_for, &batch);
    for (uint32_t i = 0; i < d->plugin_listener_count; i++) {
        if (d->plugin_listeners[i]->listener.world != NULL)
            gather_for(d, &d->plugin_listeners[i]->listener, &batch);
    }
    if (d->missed != NULL)
        missed_gather(d->missed, dead, count);
}

static inline void bury(destruction_t *d, const bp_entity_t *dead, uint32_t count)
{
    /* Four numbers, all of them 0 where no listener is to be told: joined, they cost one branch. */
    bool told = (d->callback_count | d->listener_count | d->asking | (d->listened ^ roster(d))) != 0;
    if (told)
        gather(d, dead, count);
    if (d->world_count == 1)
        store_forget(d->worlds[0], dead, count);
    else
        forget(d, dead, count);
    if (told)
        announce(d, dead, count);
}

/* Destroy one entity. A function of its own, since batches need a copy on the stack. */
static uint32_t destroy_one(destruction_t *d, bp_entity_t e)
{
    if (!entities_end_one(d->entities, e))
        return 0;
    bury(d, &e, 1);
    return 1;
}

/* Can a batch die without any world or listener being told? Looking is worth its time only for batches with at least as
 * many entities as there are worlds. */
static bool unnoticed(const destruction_t *d, uint32_t count)
{
    if (d->callback_count > 0 || d->listener_count > 0 || d->asking > 0 || d->listened != roster(d) ||
        count < d->world_count)
        return false;
    for (uint32_t w = 0; w < d->world_count; w++) {
        if (d->worlds[w]->occupied > 0)
            return false;
    }
    return true;
}

NOT_INLINED static uint32_t destroy_now(destruction_t *d, const bp_entity_t *entities, uint32_t count)
{
    bp_entity_t dead[DESTRUCTION_BATCH];
    uint32_t died = 0;
    if (unnoticed(d, count))
        died = entities_end(d->entities, entities, count);
    for (uint32_t i = died; i < count;) {
        uint32_t taken = count - i < DESTRUCTION_BATCH ? count - i : DESTRUCTION_BATCH;
        uint32_t kept = sift(d, entities + i, dead, taken);
        if (kept > 0)
            bury(d, dead, kept);
        died += kept;
        i += taken;
    }
    return died;
}

void destruction_seal(destruction_t *d, bool sealed)
{
    d->entities->sealed = sealed;
    for (uint32_t i = 0; i < d->world_count; i++) {
        world_t *world = d->worlds[i];
        world->hold = sealed ? WORLD_SEALED : WORLD_FREE;
        world->care = sealed ? world->care | WORLD_SEALED : world->care & ~(uint32_t)WORLD_SEALED;
    }
}

NOT_INLINED static uint32_t refuse(const destruction_t *d)
{
    error_set(&d->base->error, BP_ERROR_STATE, "no entity can be destroyed while a %s",
              d->entities->sealed ? "reload is being prepared, or the host written down or brought back"
                                  : "component is told of its rows");
    return 0;
}

static uint32_t destroy(destruction_t *d, const bp_entity_t *entities, uint32_t count);

/* The same where the host has entities that must not die: those of worlds' own components are passed over, and entities
 * that are being made are refused. */
NOT_INLINED static uint32_t destroy_others(destruction_t *d, const bp_entity_t *entities, uint32_t count)
{
    uint32_t died = 0;
    if (d->entities->sealed || d->entities->told > 0)
        return refuse(d);
    bp_entity_t making = entities_in_making(d->entities, entities, count);
    if (making.id != 0) {
        entities_refuse_making(d->entities, making);
        return 0;
    }
    for (uint32_t first = 0, end; first < count; first = end + 1) {
        end = first;
        while (end < count && !own_is(d->entities, entities[end]))
            end++;
        died += end > first ? destroy(d, entities + first, end - first) : 0;
    }
    return died;
}

uint32_t destruction_destroy(destruction_t *d, const bp_entity_t *entities, uint32_t count)
{
    if (d->entities->sealed || (d->entities->told | d->entities->owned | d->entities->makings) > 0)
        return destroy_others(d, entities, count);
    return destroy(d, entities, count);
}

static uint32_t destroy(destruction_t *d, const bp_entity_t *entities, uint32_t count)
{
    if (d->stepping == 0)
        return count == 1 ? destroy_one(d, entities[0]) : destroy_now(d, entities, count);
    if (count == 0)
        return 0;
    uint64_t needed = (uint64_t)d->waiting_count + count;
    if (!memory_reserve(&d->memory, &d->waiting, &d->waiting_capacity, needed, sizeof *d->waiting)) {
        error_memory(&d->base->error, "destroying entities during a step");
        return 0;
    }
    memcpy(d->waiting + d->waiting_count, entities, count * sizeof *entities);
    d->waiting_count += count;
    return entities_alive(d->entities, entities, count, NULL);
}

void destruction_make_waiting(destruction_t *d)
{
    destroy_now(d, d->waiting, d->waiting_count);
    d->waiting_count = 0;
    if (d->waiting_capacity <= WAITING_KEPT)
        return;
    memory_free(&d->memory, d->waiting, (size_t)d->waiting_capacity * sizeof *d->waiting);
    d->waiting = NULL;
    d->waiting_capacity = 0;
}

uint32_t destruction_pause(destruction_t *d)
{
    uint32_t stepping = d->stepping;
    d->stepping = 0;
    return stepping;
}

void destruction_resume(destruction_t *d, uint32_t stepping)
{
    d->stepping = stepping;
}

/* --- callbacks -------------------------------------------------------------------------------------------------- */

bp_result_t destruction_add_callback(destruction_t *d, const void *owner, bp_destroyed_callback callback, void *data)
{
    if (owner == NULL || callback == NULL)
        return error_set(&d->base->error, BP_ERROR_ARGUMENT, "a destruction callback needs an owner and a function");
    if (!memory_reserve(&d->memory, &d->callbacks, &d->callback_capacity, d->callback_count + 1u, sizeof *d->callbacks))
        return error_memory(&d->base->error, "registering a destruction callback");
    d->callbacks[d->callback_count++] = (destroyed_callback_t){owner, callback, data};
    return BP_OK;
}

void destruction_drop_owner(destruction_t *d, const void *owner)
{
    for (uint32_t i = 0; i < d->callback_count; i++) {
        if (d->callbacks[i].owner == owner)
            d->callbacks[i].owner = NULL;
    }
    if (!d->announcing)
        forget_dropped_callbacks(d);
}
