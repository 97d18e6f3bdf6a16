/* scratch.c - the description of a host, in the order in which a helper needs it.
 *
 *     text     SCRATCH_BEGINS
 *     u32      flags; milliseconds of the whole trial, and of a call
 *     plugins  how many; of each name, path, file, copy, options given, whether whether other options come with the
 *              change, and these
 *     change   how many; of each the plugin's name, and the file to open
 *     worlds   how many; of each name, rate, time, steps, units; wants; components; systems; combinations, each as a
 *              list of the component's name and the instance's
 */
#include "scratch.h"

#include "change.h"

#include <string.h>

void scratch_put_options(bytes_t *bytes, const bp_option_t *options, uint32_t count)
{
    bytes_u32(bytes, count);
    for (uint32_t i = 0; i < count; i++) {
        bytes_text(bytes, options[i].name);
        bytes_text(bytes, options[i].value == NULL ? "" : options[i].value);
        bytes_text(bytes, options[i].origin == NULL ? "" : options[i].origin);
        bytes_text(bytes, options[i].base == NULL ? "" : options[i].base);
    }
}

static void put_plugin(bytes_t *bytes, const plugin_t *plugin)
{
    bytes_text(bytes, plugin->name);
    bytes_text(bytes, plugin->path);
    bytes_text(bytes, plugin->file == NULL ? "" : plugin->file);
    bytes_text(bytes, plugin->copy == NULL ? "" : plugin->copy);
    bytes_u32(bytes, plugin->coming != NULL);
    scratch_put_options(bytes, plugin->given, plugin->given_count);
    scratch_put_options(bytes, plugin->coming, plugin->coming == NULL ? 0 : plugin->coming_count);
}

static uint32_t count_started(const world_t *world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->manager_count; i++)
        count += world->managers[i]->started;
    return count;
}

static uint32_t count_systems(const schedule_t *schedule)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < schedule->count; i++)
        count += schedule->units[i]->system != NULL;
    return count;
}

static bool is_lived_in(const world_t *world, uint32_t prototype)
{
    const prototype_t *p = &world->prototypes.items[prototype];
    return p->run != NULL && p->run->count > 0 && p->key_count > 0 && (p->flags & KEY_GONE) == 0;
}

/* The chain of a prototype, down to the one of no components. */
static void put_combination(bytes_t *bytes, const world_t *world, uint32_t prototype)
{
    const prototypes_t *p = &world->prototypes;
    bytes_u32(bytes, p->items[prototype].key_count);
    for (uint32_t at = prototype; at != 0; at = p->items[at].base) {
        const component_key_t *key = &p->keys[p->items[at].key];
        bytes_text(bytes, world->managers[key->manager]->component->name);
        bytes_text(bytes, names_text(&world->base->names, key->name));
    }
}

static void put_combinations(bytes_t *bytes, const world_t *world)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < world->prototypes.count && count < SCRATCH_MOST; i++)
        count += is_lived_in(world, i);
    bytes_u32(bytes, count);
    for (uint32_t i = 1; i < world->prototypes.count && count > 0; i++) {
        if (!is_lived_in(world, i))
            continue;
        put_combination(bytes, world, i);
        count--;
    }
}

static void put_world(bytes_t *bytes, const world_t *world)
{
    const bp_world_o *handle = world_handle(world);
    double times[] = {handle->clock.step_rate, handle->clock.time};
    bytes_text(bytes, world->name);
    bytes_put(bytes, times, sizeof times);
    bytes_u64(bytes, handle->clock.steps);
    bytes_text(bytes, world->units == NULL ? "" : world->units);
    bytes_u32(bytes, handle->wants.count);
    for (uint32_t i = 0; i < handle->wants.count; i++) {
        bytes_text(bytes, handle->wants.items[i].name);
        bytes_u32(bytes, handle->wants.items[i].system);
    }
    bytes_u32(bytes, count_started(world));
    for (uint32_t i = 0; i < world->manager_count; i++) {
        if (world->managers[i]->started)
            bytes_text(bytes, world->managers[i]->component->name);
    }
    bytes_u32(bytes, count_systems(handle->schedule));
    for (uint32_t i = 0; i < handle->schedule->count; i++) {
        if (handle->schedule->units[i]->system != NULL)
            bytes_text(bytes, handle->schedule->units[i]->name);
    }
    put_combinations(bytes, world);
}

void scratch_describe(bytes_t *bytes, const reload_t *reload, const reload_change_t *change, uint32_t deadline_ms)
{
    const plugins_t *plugins = &reload->loader->plugins;
    const destruction_t *d = reload->destruction;
    const guard_t *guard = reload->loader->guard;
    uint32_t call_ms = deadline_ms / 2 + 1, limit = guard != NULL ? guard_limit(guard) : 0;
    bytes_text(bytes, SCRATCH_BEGINS);
    bytes_u32(bytes, (guard != NULL ? SCRATCH_GUARDED : 0u) | (change->lossy ? SCRATCH_LOSSY : 0u));
    bytes_u32(bytes, deadline_ms);
    bytes_u32(bytes, limit > 0 && limit < call_ms ? limit : call_ms);
    bytes_u32(bytes, plugins->count);
    for (uint32_t i = 0; i < plugins->count; i++)
        put_plugin(bytes, plugins->items[i]);
    bytes_u32(bytes, change->version_count);
    for (uint32_t i = 0; i < change->version_count; i++) {
        bytes_text(bytes, change->versions[i].plugin->name);
        bytes_text(bytes, change->versions[i].copy);
    }
    bytes_u32(bytes, d->world_count);
    for (uint32_t i = 0; i < d->world_count; i++)
        put_world(bytes, d->worlds[i]);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

scratch_plugin_t scratch_read_plugin(reader_t *reader)
{
    scratch_plugin_t plugin = {.name = reader_text(reader)};
    plugin.path = reader_text(reader);
    plugin.file = reader_text(reader);
    plugin.copy = reader_text(reader);
    plugin.comes = reader_u32(reader) != 0;
    return plugin;
}

uint32_t scratch_read_options(reader_t *reader, bp_option_t *options, uint32_t room)
{
    uint32_t count = reader_count(reader, 4 * sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++) {
        bp_option_t option = {.name = reader_text(reader)};
        option.value = reader_text(reader);
        option.origin = reader_text(reader);
        option.base = reader_text(reader);
        option.origin = option.origin[0] == '\0' ? NULL : option.origin;
        option.base = option.base[0] == '\0' ? NULL : option.base;
        if (i < room)
            options[i] = option;
    }
    return count < room ? count : room;
}
