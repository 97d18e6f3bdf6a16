/* needs.c - which units of a world cannot run without a plugin; asked before the plugin is unloaded.
 *
 * A unit needs a plugin where one of its terms requires a component of it, or where the unit names a component or
 * system of the plugin under reads, writes, before or after: without that name the world would refuse to step
 * (schedule.c).
 */
#include "schedule.h"

#include <stdio.h>
#include <string.h>

static bool owns_component(const registry_t *registry, const plugin_t *plugin, const char *name)
{
    for (uint32_t i = 0; i < registry->component_count; i++) {
        if (registry->components[i]->owner == plugin && strcmp(registry->components[i]->name, name) == 0)
            return true;
    }
    return false;
}

static bool owns_system(const registry_t *registry, const plugin_t *plugin, const char *name)
{
    for (uint32_t i = 0; i < registry->system_count; i++) {
        if (registry->systems[i]->owner == plugin && strcmp(registry->systems[i]->name, name) == 0)
            return true;
    }
    return false;
}

/* The first name of a list that is the plugin's; systems count where `systems` says so. */
static bool names_one(const registry_t *registry, const plugin_t *plugin, const char *list, bool systems, char name[64])
{
    while ((list = text_next_word(list, name, 64)) != NULL) {
        if (owns_component(registry, plugin, name) || (systems && owns_system(registry, plugin, name)))
            return true;
    }
    return false;
}

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

const char *schedule_need(const unit_t *unit, const plugin_t *plugin, char name[64])
{
    const registry_t *registry = unit->schedule->world->registry;
    const system_t *system = unit->system;
    const component_t *component = unit->manager == NULL ? NULL : unit->manager->component;
    if ((system != NULL ? system->owner : component->owner) == plugin)
        return NULL;
    for (uint32_t i = 0; system != NULL && i < system->term_count; i++) {
        const term_t *term = &system->terms[i];
        if ((term->flags & (BP_TERM_OPTIONAL | BP_TERM_EXCLUDE | BP_TERM_BESIDE)) != 0 ||
            !owns_component(registry, plugin, term->component))
            continue;
        snprintf(name, 64, "%s", term->component);
        return "works on its component";
    }
    if (names_one(registry, plugin, or_empty(system != NULL ? system->table.reads : component->table.reads), false,
                  name))
        return "reads its component";
    if (names_one(registry, plugin, or_empty(system != NULL ? system->table.writes : component->table.writes), false,
                  name))
        return "writes its component";
    if (system != NULL && names_one(registry, plugin, or_empty(system->table.before), true, name))
        return "comes before its";
    if (system != NULL && names_one(registry, plugin, or_empty(system->table.after), true, name))
        return "comes after its";
    return NULL;
}
