/* setup_leaving.c - taking components, systems, plugins and worlds out of a host when its ini is done anew.
 *
 * First a check that no part that stays needs a part that goes, then memory is taken, and then taking out cannot fail.
 * Between check and taking out, what goes is marked `leaving`, so that units and managers need no list of their own.
 */
#include "../plugin/loader.h"
#include "../reload/unload.h"
#include "../store/store.h"
#include "setup_again.h"

#include <string.h>

static bool goes_with_plugin(const again_t *a, const plugin_t *owner)
{
    for (uint32_t i = 0; i < a->changes.count; i++) {
        if (a->changes.items[i].what == SETUP_UNLOAD && strcmp(a->changes.items[i].name, owner->name) == 0)
            return true;
    }
    return false;
}

static bool is_dropped(const again_t *a, const char *world, const char *name, bool system)
{
    for (uint32_t i = 0; i < a->changes.count; i++) {
        const setup_change_t *change = &a->changes.items[i];
        if (change->what == SETUP_DROP && change->system == system && strcmp(change->world, world) == 0 &&
            strcmp(change->name, name) == 0)
            return true;
    }
    return false;
}

static bool ends(const again_t *a, const char *world)
{
    for (uint32_t i = 0; i < a->changes.count; i++) {
        if (a->changes.items[i].what == SETUP_END_WORLD && strcmp(a->changes.items[i].world, world) == 0)
            return true;
    }
    return false;
}

/* Mark what is to go out of every world, or take the marks away. */
void setup_mark_leaving(again_t *a, bool leaving)
{
    for (uint32_t w = 0; w < a->s.host->destruction.world_count; w++) {
        bp_world_o *world = host_world(a->s.host, w);
        for (uint32_t i = 0; i < world->rows.manager_count; i++) {
            manager_t *manager = world->rows.managers[i];
            const component_t *component = manager->component;
            manager->leaving = leaving && manager->started &&
                               (goes_with_plugin(a, component->owner) ||
                                is_dropped(a, world->rows.name, component->name, false));
        }
        for (uint32_t i = 0; i < world->schedule->count; i++) {
            unit_t *unit = world->schedule->units[i];
            unit->leaving = leaving && unit->system != NULL &&
                            (goes_with_plugin(a, unit->system->owner) ||
                             is_dropped(a, world->rows.name, unit->system->name, true));
        }
    }
}

static bool stays(const unit_t *unit)
{
    return !unit->leaving && !(unit->manager != NULL && unit->manager->leaving);
}

/* Does a unit that stays need a plugin that goes? */
static bp_result_t check_needs(again_t *a, const bp_world_o *world)
{
    for (uint32_t i = 0; i < a->changes.count; i++) {
        const setup_change_t *change = &a->changes.items[i];
        const plugin_t *plugin =
            change->what == SETUP_UNLOAD ? loader_find(&a->s.host->loader, change->name) : NULL;
        for (uint32_t u = 0; plugin != NULL && u < world->schedule->count; u++) {
            const unit_t *unit = world->schedule->units[u];
            char name[64];
            const char *why = stays(unit) ? schedule_need(unit, plugin, name) : NULL;
            if (why != NULL)
                return again_line(a, change->line,
                                  error_set(a->s.error, BP_ERROR_STATE,
                                            "plugin '%s' is needed: '%s' in world '%s' %s '%s'", plugin->name,
                                            unit->name, world->rows.name, why, name));
        }
    }
    return BP_OK;
}

/* The line of a world's systems, else of its section; 0 where this ini has no such world. */
static uint32_t line_of_world(const again_t *a, const char *world)
{
    char section[SETUP_WORD];
    snprintf(section, sizeof section, "world %s", world);
    const ini_entry_t *systems = setup_find_entry(&a->s, section, "systems");
    for (uint32_t i = 0; i < a->s.ini.section_count && systems == NULL; i++) {
        if (strcmp(a->s.ini.sections[i].name, section) == 0)
            return a->s.ini.sections[i].line;
    }
    return systems == NULL ? 0 : systems->line;
}

/* Components and systems that the ini goes on asking for must still be there. */
static bp_result_t check_words(again_t *a, const bp_world_o *world)
{
    for (uint32_t i = 0; i < world->rows.manager_count; i++) {
        const manager_t *manager = world->rows.managers[i];
        char section[SETUP_WORD], word[SETUP_WORD];
        snprintf(section, sizeof section, "world %s", world->rows.name);
        const ini_entry_t *listed = setup_find_entry(&a->s, section, "components");
        const char *at = listed == NULL || !manager->leaving ? "" : listed->value;
        while ((at = text_next_word(at, word, sizeof word)) != NULL) {
            if (strcmp(word, manager->component->name) == 0)
                return again_line(a, listed->line,
                                  error_set(a->s.error, BP_ERROR_STATE, "component '%s' goes with plugin '%s'", word,
                                            manager->component->owner->name));
        }
    }
    for (uint32_t i = 0; i < world->schedule->count; i++) {
        const unit_t *unit = world->schedule->units[i];
        char section[SETUP_WORD], word[SETUP_WORD];
        snprintf(section, sizeof section, "world %s", world->rows.name);
        const ini_entry_t *listed = setup_find_entry(&a->s, section, "systems");
        const char *at = listed == NULL || !unit->leaving ? "" : listed->value;
        while ((at = text_next_word(at, word, sizeof word)) != NULL) {
            if (strcmp(word, unit->system->name) == 0)
                return again_line(a, listed->line, error_set(a->s.error, BP_ERROR_STATE,
                                                             "system '%s' goes with plugin '%s'", word,
                                                             unit->system->owner->name));
        }
    }
    return BP_OK;
}

/* Could every world of this ini step without the parts that go? In other worlds it is only checked that no unit needs
 * them: such a world need not have been able to step before. */
bp_result_t setup_check_leaving(again_t *a)
{
    bp_result_t result = BP_OK;
    setup_mark_leaving(a, true);
    for (uint32_t w = 0; w < a->s.host->destruction.world_count && result == BP_OK; w++) {
        bp_world_o *world = host_world(a->s.host, w);
        uint32_t line = line_of_world(a, world->rows.name);
        if (ends(a, world->rows.name))
            continue;
        result = check_words(a, world);
        if (result == BP_OK)
            result = check_needs(a, world);
        if (result == BP_OK && line > 0 && (result = schedule_check_leaving(world->schedule)) != BP_OK)
            result = again_line(a, line, result);
    }
    setup_mark_leaving(a, false);
    return result;
}

/* Room for all that goes, in worlds as they are now. */
bp_result_t setup_make_room_to_leave(again_t *a)
{
    bp_result_t result = BP_OK;
    for (uint32_t w = 0; w < a->s.host->destruction.world_count && result == BP_OK; w++) {
        bp_world_o *world = host_world(a->s.host, w);
        if (!ends(a, world->rows.name)) {
            result = store_prepare_strip(&world->rows, NULL, NULL);
            continue;
        }
        ending_t ending = {.world = world, .room = world->rows.occupied + 1};
        if (!memory_reserve(&a->s.ini.memory, &a->endings, &a->ending_capacity, a->ending_count + 1u,
                            sizeof *a->endings) ||
            (ending.entities = memory_resize(&a->s.ini.memory, NULL, 0, ending.room * sizeof *ending.entities)) == NULL)
            return error_memory(a->s.error, "ending a world");
        ending.count = host_list_entities(&world->rows, ending.entities);
        a->endings[a->ending_count++] = ending;
    }
    return result;
}

/* Managers go from the last one on: the order in which room was made for their rows. */
static void strip(again_t *a, bp_world_o *world)
{
    for (uint32_t i = world->schedule->count; i > 0; i--) {
        unit_t *unit = world->schedule->units[i - 1];
        if (unit->leaving) {
            const char *name = unit->system->name;
            schedule_drop_system(world->schedule, unit->system);
            if (is_dropped(a, world->rows.name, name, true))
                wants_drop(&world->wants, name, true);
        }
    }
    for (uint32_t i = world->rows.manager_count; i > 0; i--) {
        manager_t *manager = world->rows.managers[i - 1];
        if (!manager->leaving)
            continue;
        const char *name = manager->component->name;
        store_strip(&world->rows, manager->number);
        world_drop_manager(&world->rows, manager);
        schedule_drop_manager(world->schedule, manager);
        if (is_dropped(a, world->rows.name, name, false))
            wants_drop(&world->wants, name, false);
    }
}

void setup_take_out(again_t *a)
{
    bp_host_o *host = a->s.host;
    for (uint32_t i = host->loader.plugins.count; i > 0; i--) {
        if (goes_with_plugin(a, host->loader.plugins.items[i - 1]))
            loader_pause(host->loader.plugins.items[i - 1], BP_PAUSE_UNLOAD);
    }
    for (uint32_t i = 0; i < a->ending_count; i++) {
        ending_t *ending = &a->endings[i];
        host_clear_world(host, &ending->world->rows, ending->entities, ending->count);
        host_end_world(ending->world);
    }
    for (uint32_t w = 0; w < host->destruction.world_count; w++)
        strip(a, host_world(host, w));
    for (uint32_t i = 0; i < a->changes.count; i++) { /* a dropped name may be wanted without being there */
        const setup_change_t *change = &a->changes.items[i];
        bp_world_o *world = change->what == SETUP_DROP ? again_world(a, change->world) : NULL;
        if (world != NULL)
            wants_drop(&world->wants, change->name, change->system);
    }
    for (uint32_t i = host->loader.plugins.count; i > 0; i--) {
        plugin_t *plugin = host->loader.plugins.items[i - 1];
        if (goes_with_plugin(a, plugin))
            unload_plugin(&host->loader, &host->destruction, plugin);
    }
}
