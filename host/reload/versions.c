/* versions.c - the plugins of a change: from their files to versions that are loaded beside the ones at work.
 *
 * The order of the steps is that of plugin/loader.c, and of trust. A version that has been loaded and is not to come is unloaded again; one
 * that has come leaves its predecessor in its place, which ends the same way.
 */
#include "../base/error.h"
#include "../os/os.h"
#include "../plugin/registry.h"
#include "../plugin/verbs.h"
#include "change.h"

/* --- sides ---------------------------------------------------------------------------------------------------------- */

void change_enter(version_t *version)
{
    loader_exchange(version->plugin, &version->kept);
    registry_set_enter(&version->set);
}

void change_leave(version_t *version)
{
    registry_set_leave(&version->set);
    loader_exchange(version->plugin, &version->kept);
}

/* --- files ---------------------------------------------------------------------------------------------------------- */

static bp_result_t unknown_plugin(reload_t *reload, const char *name)
{
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < reload->loader->plugins.count; i++)
        nearest_consider(&nearest, reload->loader->plugins.items[i]->name);
    return error_set(&reload->base->error, BP_ERROR_NOT_FOUND, "no plugin '%s' is loaded%s", name, nearest_hint(&nearest, &hint));
}

static bp_result_t read_one(reload_change_t *change, const char *name)
{
    reload_t *reload = change->reload;
    version_t *version = &change->versions[change->version_count];
    plugin_t *plugin = loader_find(reload->loader, name);
    if (plugin == NULL)
        return unknown_plugin(reload, name);
    for (uint32_t i = 0; i < change->version_count; i++) {
        if (change->versions[i].plugin == plugin)
            return error_set(change_error(change), BP_ERROR_ARGUMENT, "plugin '%s' is named twice", name);
    }
    if (plugin->library == NULL)
        return error_set(change_error(change), BP_ERROR_ARGUMENT, "plugin '%s' is linked into the program; only plugins from files can be reloaded",
                         name);
    bp_result_t result = loader_copy(reload->loader, plugin->path, &version->copy);
    if (result != BP_OK)
        return result;
    version->plugin = plugin;
    snprintf(version->former, sizeof version->former, "%s", plugin->version);
    change->version_count++;
    return BP_OK;
}

static uint32_t place_of(const loader_t *loader, const plugin_t *plugin)
{
    uint32_t at = 0;
    while (loader->plugins.items[at] != plugin)
        at++;
    return at;
}

/* In the order in which they were loaded, whatever that of the names: later ones may use tables of earlier ones. */
static void sort_versions(reload_change_t *change)
{
    const loader_t *loader = change->reload->loader;
    for (uint32_t i = 1; i < change->version_count; i++) {
        for (uint32_t k = i; k > 0; k--) {
            version_t *before = &change->versions[k - 1], *after = &change->versions[k], kept = *after;
            if (place_of(loader, before->plugin) <= place_of(loader, after->plugin))
                break;
            *after = *before;
            *before = kept;
        }
    }
}

bp_result_t versions_read(reload_change_t *change, const char *const *names, uint32_t count)
{
    if (count == 0 || count > RELOAD_MAX_PLUGINS)
        return error_set(change_error(change), BP_ERROR_ARGUMENT, "%u plugins to reload; name 1 to %d", count, RELOAD_MAX_PLUGINS);
    change->versions = memory_new(&change->reload->memory, RELOAD_MAX_PLUGINS * sizeof *change->versions);
    if (change->versions == NULL)
        return error_memory(change_error(change), "reloading");
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < count && result == BP_OK; i++)
        result = read_one(change, names[i]);
    sort_versions(change);
    return result;
}

/* --- opening --------------------------------------------------------------------------------------------------------- */

static bp_result_t load(reload_change_t *change, version_t *version)
{
    loader_t *loader = change->reload->loader;
    plugin_t *plugin = version->plugin;
    void *state = plugin->handed.state;
    version->keeps_state = same_form(plugin->desc.state_form, version->kept.desc.state_form);
    change_enter(version);
    plugin->handed.state = version->keeps_state ? state : NULL;
    bp_result_t result = loader_register(loader, plugin);
    if (result == BP_OK)
        result = loader_run_load(loader, plugin);
    version->loaded = result == BP_OK;
    change_leave(version);
    return result;
}

static bp_result_t open_one(reload_change_t *change, version_t *version)
{
    reload_t *reload = change->reload;
    bp_result_t result = loader_open_version(reload->loader, version->plugin, version->copy, &version->kept);
    if (result != BP_OK)
        return result;
    version->open = true;
    version->copy = NULL;
    if (!registry_set_init(reload->registry, &version->set, version->plugin))
        return error_memory(change_error(change), "reloading");
    result = load(change, version);
    return result == BP_OK || reload->loader->located ? result : error_prefix(change_error(change), result, "%s: ", version->plugin->path);
}

bp_result_t versions_open(reload_change_t *change)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < change->version_count; i++) {
        version_t *version = &change->versions[i];
        version->plugin->reloading = true;
        atomic_store(&version->plugin->changing, os_thread_number());
        version->was_aside = plugin_is_aside(version->plugin);
        if (version->was_aside)
            plugin_trust(version->plugin);
    }
    for (uint32_t i = 0; i < change->version_count && result == BP_OK; i++)
        result = open_one(change, &change->versions[i]);
    return result;
}

/* --- closing --------------------------------------------------------------------------------------------------------- */

static void move_bytes(memory_t *from, memory_t *to)
{
    atomic_fetch_add(&to->bytes, atomic_exchange(&from->bytes, 0));
}

/* Settles what both sides have allocated. Where state goes over, or threads have allocated during the change, what one version has
 * taken and the other gives back cannot be told apart: the version that stays answers for all. Else the version that goes answers
 * for its own. */
static void divide_accounts(version_t *version)
{
    plugin_t *plugin = version->plugin;
    memory_t *goes = atomic_load(&version->kept.account);
    if (goes == NULL)
        return;
    if (version->merges || version->keeps_state || atomic_load(&plugin->mixed))
        move_bytes(goes, atomic_load(&plugin->account));
}

/* The change is over: threads use the account of the version in place again. */
static void end_changing(plugin_t *plugin)
{
    atomic_store(&plugin->changing, 0);
    atomic_store(&plugin->mixed, false);
    move_bytes(&plugin->bystanders, atomic_load(&plugin->account));
}

static void close_one(reload_change_t *change, version_t *version)
{
    loader_t *loader = change->reload->loader;
    if (version->loaded && !version->keeps_state) {
        change_enter(version);
        if (version->plugin->desc.unload != NULL)
            verb_unload(version->plugin);
        change_leave(version);
    }
    version->loaded = false;
    divide_accounts(version);
    registry_set_free(change->reload->registry, &version->set);
    if (version->open && change->state != CHANGE_COMMITTED) {
        /* The file stays for another try. */
        version->copy = version->kept.copy;
        version->kept.copy = NULL;
    }
    if (version->open)
        loader_close_version(loader, &version->kept);
    version->open = false;
}

void versions_close(reload_change_t *change)
{
    for (uint32_t i = change->version_count; i > 0; i--)
        close_one(change, &change->versions[i - 1]);
    for (uint32_t i = 0; i < change->version_count; i++) {
        version_t *version = &change->versions[i];
        version->plugin->reloading = false;
        end_changing(version->plugin);
        if (version->was_aside && change->state != CHANGE_COMMITTED)
            plugin_set_aside(version->plugin);
    }
}

void versions_free(reload_change_t *change)
{
    loader_t *loader = change->reload->loader;
    for (uint32_t i = 0; i < change->version_count; i++) {
        version_t *version = &change->versions[i];
        if (version->copy != NULL)
            loader_remove_copy(loader, version->copy);
        memory_free_text(&loader->memory, version->copy);
    }
    memory_free(&change->reload->memory, change->versions, change->versions == NULL ? 0 : RELOAD_MAX_PLUGINS * sizeof *change->versions);
    change->versions = NULL;
    change->version_count = 0;
}

/* --- plan -------------------------------------------------------------------------------------------------------- */

/* The components of a change: what became of their fields, and who else counts on these.
 *
 * Fields are matched by base/field.h. A component whose list is the same to the letter keeps the list that it has: its columns, what was
 * resolved for them and what other systems know of them are then not touched at all.
 *
 * Systems of plugins outside the change were compiled for the columns as they were. They go on being handed those, in that order, as long
 * as every one is still there with its type; where one is not, the change is refused, since nobody can tell whether their code
 * reads it. The remedy is to reload both together.
 */

component_change_t *plan_of(const reload_change_t *change, const component_t *slot)
{
    for (uint32_t i = 0; i < change->component_count; i++) {
        if (change->components[i].slot == slot)
            return &change->components[i];
    }
    return NULL;
}

/* --- fields ---------------------------------------------------------------------------------------------------------- */

static bool same_field(const field_t *a, const field_t *b)
{
    return strcmp(a->name, b->name) == 0 && a->type == b->type && a->flags == b->flags && strcmp(a->initial_text, b->initial_text) == 0 &&
           strcmp(a->min_text, b->min_text) == 0 && strcmp(a->max_text, b->max_text) == 0 && strcmp(a->unit, b->unit) == 0 &&
           strcmp(a->doc, b->doc) == 0 && strcmp(a->former_name, b->former_name) == 0 && strcmp(a->values_text, b->values_text) == 0;
}

static bool same_fields(const component_t *a, const component_t *b)
{
    bool same = a->field_count == b->field_count && a->own_storage == b->own_storage;
    for (uint32_t i = 0; i < a->field_count && same; i++)
        same = same_field(&a->fields[i], &b->fields[i]);
    return same;
}

static bp_result_t plan_fields(reload_change_t *change, component_change_t *c)
{
    error_text_t *error = change_error(change);
    c->same = same_fields(c->slot, c->kept);
    c->source_count = c->kept->field_count;
    if (c->source_count > 0)
        c->sources = memory_new(&change->reload->memory, c->source_count * sizeof *c->sources);
    if (c->source_count > 0 && c->sources == NULL)
        return error_memory(error, "comparing fields");
    bp_result_t result = convert_plan(c->slot->fields, c->slot->field_count, c->kept->fields, c->kept->field_count, c->sources, error);
    return result == BP_OK ? BP_OK : error_prefix(error, result, "component '%s': ", c->slot->name);
}

/* --- systems of others -------------------------------------------------------------------------------------------------- */

/* Will the field that a system counts on be there, as what it was? */
static bool stays(const component_change_t *c, const expected_field_t *expected)
{
    const known_field_t *now = registry_follow(expected->field);
    if (now == NULL || c->kept->owner == NULL || c->kept->own_storage)
        return false;
    for (uint32_t i = 0; i < c->source_count; i++) {
        if (c->sources[i].old == now->index)
            return c->kept->fields[i].type == expected->type;
    }
    return false;
}

static bp_result_t refuse_for(reload_change_t *change, const component_change_t *c, const system_t *system, const expected_field_t *expected)
{
    const char *owner = system->owner->name;
    return error_set(change_error(change), BP_ERROR_TYPE,
                     "component '%s': field '%s' has gone or is of another type, and system '%s' of plugin '%s' was compiled for it; rebuild that plugin and reload both together: reload %s %s",
                     c->slot->name, expected->field->name, system->name, owner, c->version->plugin->name, owner);
}

static bp_result_t check_term(reload_change_t *change, const component_change_t *c, const system_t *system, const term_t *term, uint32_t *width)
{
    for (uint32_t i = 0; i < term->expected_count; i++) {
        if (!stays(c, &term->expected[i]))
            return refuse_for(change, c, system, &term->expected[i]);
    }
    *width += term->expected_count;
    return BP_OK;
}

static bp_result_t check_systems(reload_change_t *change, const component_change_t *c)
{
    const registry_t *registry = change->reload->registry;
    bp_result_t result = BP_OK;
    for (uint32_t s = 0; s < registry->system_count && result == BP_OK; s++) {
        const system_t *system = registry->systems[s];
        uint32_t width = 0;
        if (system->owner == NULL || system->owner->reloading)
            continue;
        for (uint32_t t = 0; t < system->term_count && result == BP_OK; t++) {
            if (strcmp(system->terms[t].component, c->slot->name) == 0)
                result = check_term(change, c, system, &system->terms[t], &width);
        }
        if (result == BP_OK && width > SCHEDULE_MAX_COLUMNS)
            result = error_set(change_error(change), BP_ERROR_LIMIT,
                               "system '%s' of plugin '%s' works on more than %d columns, whose order cannot be kept; reload it together",
                               system->name, system->owner->name, SCHEDULE_MAX_COLUMNS);
    }
    return result;
}

/* --- all ------------------------------------------------------------------------------------------------------------- */

static bp_result_t plan_one(reload_change_t *change, version_t *version, component_swap_t *swap)
{
    component_change_t *c = &change->components[change->component_count++];
    *c = (component_change_t){.version = version, .slot = swap->slot, .kept = &swap->kept, .is_new = swap->slot->owner == NULL};
    if (c->is_new)
        return BP_OK;
    bp_result_t result = c->kept->owner == NULL ? BP_OK : plan_fields(change, c);
    if (result == BP_OK && !c->same)
        result = registry_expect(change->reload->registry, c->slot);
    if (result == BP_OK && !c->same)
        result = check_systems(change, c);
    swap->same_fields = result == BP_OK && c->same;
    return result;
}

bp_result_t plan_components(reload_change_t *change)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < change->version_count; v++)
        count += change->versions[v].set.component_count;
    change->component_capacity = count + 1u;
    change->components = memory_new(&change->reload->memory, change->component_capacity * sizeof *change->components);
    if (change->components == NULL)
        return error_memory(change_error(change), "reloading");
    bp_result_t result = BP_OK;
    for (uint32_t v = 0; v < change->version_count; v++) {
        registry_set_t *set = &change->versions[v].set;
        for (uint32_t i = 0; i < set->component_count && result == BP_OK; i++)
            result = plan_one(change, &change->versions[v], &set->components[i]);
    }
    return result;
}

void plan_free(reload_change_t *change)
{
    memory_t *memory = &change->reload->memory;
    for (uint32_t i = 0; i < change->component_count; i++) {
        component_change_t *c = &change->components[i];
        memory_free(memory, c->sources, c->source_count * sizeof *c->sources);
    }
    memory_free(memory, change->components, change->components == NULL ? 0 : change->component_capacity * sizeof *change->components);
    change->components = NULL;
    change->component_count = 0;
}
