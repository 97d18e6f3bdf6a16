/* versions.c - the plugins of a change: from their files to versions that are loaded beside the ones at work.
 *
 * The steps and their order are those of plugin/loader.c. A version that has been loaded and is not taken in is
 * unloaded again; where a version is taken in, its predecessor goes to the kept side, and is unloaded in the same way.
 */
#include "../base/error.h"
#include "../os/os.h"
#include "../plugin/registry.h"
#include "../plugin/verbs.h"
#include "../step/queries.h"
#include "change.h"

bool reload_on_probation(const reload_t *reload, const plugin_t *plugin)
{
    const reload_change_t *change = reload->probation;
    for (uint32_t i = 0; change != NULL && i < change->version_count; i++) {
        if (change->versions[i].plugin == plugin)
            return true;
    }
    return false;
}

/* --- sides -------------------------------------------------------------------------------------------------------- */

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

/* --- files -------------------------------------------------------------------------------------------------------- */

static bp_result_t unknown_plugin(reload_t *reload, const char *name)
{
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < reload->loader->plugins.count; i++)
        nearest_consider(&nearest, reload->loader->plugins.items[i]->name);
    return error_set(&reload->base->error, BP_ERROR_NOT_FOUND, "no plugin '%s' is loaded%s", name,
                     nearest_hint(&nearest, &hint));
}

static void note_version(reload_change_t *change, plugin_t *plugin)
{
    version_t *version = &change->versions[change->version_count++];
    version->plugin = plugin;
    snprintf(version->former, sizeof version->former, "%s", plugin->version);
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
    if (plugin->path[0] == '\0')
        return error_set(change_error(change), BP_ERROR_ARGUMENT,
                         "plugin '%s' is linked into the program; only plugins from files can be reloaded", name);
    bp_result_t result = loader_copy(reload->loader, loader_file(plugin), &version->copy);
    if (result != BP_OK)
        return result;
    note_version(change, plugin);
    return BP_OK;
}

static uint32_t place_of(const loader_t *loader, const plugin_t *plugin)
{
    uint32_t at = 0;
    while (loader->plugins.items[at] != plugin)
        at++;
    return at;
}

/* Sort by the order in which the plugins were loaded, whatever the order of the names: later ones may use tables of
 * earlier ones. */
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

static bool is_read(const reload_change_t *change, const plugin_t *plugin)
{
    for (uint32_t i = 0; i < change->version_count; i++) {
        if (change->versions[i].plugin == plugin)
            return true;
    }
    return false;
}

/* Open the files of a plugin anew by its next version, since the verbs of these files are functions of that plugin. */
static bp_result_t read_opened(reload_change_t *change)
{
    const plugins_t *all = &change->reload->loader->plugins;
    bp_result_t result = BP_OK;
    for (uint32_t v = 0; v < change->version_count; v++) {
        for (uint32_t i = 0; i < all->count && result == BP_OK; i++) {
            const plugin_t *plugin = all->items[i];
            if (plugin->opener != change->versions[v].plugin || is_read(change, plugin))
                continue;
            if (change->version_count == RELOAD_MAX_PLUGINS)
                return error_set(change_error(change), BP_ERROR_LIMIT,
                                 "plugin '%s' has opened too many files for one reload, of %d plugins at most",
                                 plugin->opener->name, RELOAD_MAX_PLUGINS);
            result = read_one(change, plugin->name);
        }
    }
    return result;
}

static bp_result_t make_room(reload_change_t *change, uint32_t count)
{
    if (count == 0 || count > RELOAD_MAX_PLUGINS)
        return error_set(change_error(change), BP_ERROR_ARGUMENT, "%u plugins to reload; name 1 to %d", count,
                         RELOAD_MAX_PLUGINS);
    change->versions = memory_new(&change->reload->memory, RELOAD_MAX_PLUGINS * sizeof *change->versions);
    return change->versions == NULL ? error_memory(change_error(change), "reloading") : BP_OK;
}

bp_result_t versions_read_kept(reload_change_t *change, const reload_kept_t *kept, uint32_t count)
{
    loader_t *loader = change->reload->loader;
    bp_result_t result = make_room(change, count);
    for (uint32_t i = 0; i < count && result == BP_OK; i++) {
        version_t *version = &change->versions[change->version_count];
        bool library = loader_kind(loader, kept[i].plugin->path, NULL) == NULL;
        result = copies_make(&loader->files, kept[i].file, kept[i].plugin->path, library, &version->copy);
        version->image = kept[i].image;
        if (result == BP_OK)
            note_version(change, kept[i].plugin);
    }
    sort_versions(change);
    return result;
}

bp_result_t versions_read(reload_change_t *change, const char *const *names, uint32_t count)
{
    bp_result_t result = make_room(change, count);
    for (uint32_t i = 0; i < count && result == BP_OK; i++)
        result = read_one(change, names[i]);
    if (result == BP_OK)
        result = read_opened(change);
    sort_versions(change);
    return result;
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

static bp_result_t load(reload_change_t *change, version_t *version)
{
    loader_t *loader = change->reload->loader;
    plugin_t *plugin = version->plugin;
    void *state = plugin->handed.state;
    version->keeps_state = same_form(plugin->desc.state_form, version->kept.desc.state_form);
    change_enter(version);
    plugin->handed.state = version->keeps_state ? state : NULL;
    bp_result_t result = loader_register(loader, plugin);
    if (result == BP_OK && !change->looks)
        result = loader_run_load(loader, plugin);
    version->loaded = result == BP_OK && !change->looks;
    change_leave(version);
    return result;
}

/* The version of the plugin that has opened a file, or is to open it, where that one changes too; else NULL. */
static version_t *opener_of(reload_change_t *change, const plugin_t *plugin)
{
    for (uint32_t i = 0; i < change->version_count; i++) {
        if (change->versions[i].plugin == plugin->opener && change->versions[i].open)
            return &change->versions[i];
    }
    return NULL;
}

static bp_result_t open_one(reload_change_t *change, version_t *version)
{
    reload_t *reload = change->reload;
    version_t *opener = opener_of(change, version->plugin);
    if (opener != NULL)
        change_enter(opener);
    bp_result_t result = loader_open_version(reload->loader, version->plugin, version->copy, &version->kept);
    if (opener != NULL)
        change_leave(opener);
    if (result != BP_OK)
        return result;
    version->open = true;
    version->copy = NULL;
    version->kept.image = version->image;
    if (!registry_set_init(reload->registry, &version->set, version->plugin))
        return error_memory(change_error(change), "reloading");
    result = load(change, version);
    return result == BP_OK || reload->loader->located
               ? result
               : error_prefix(change_error(change), result, "%s: ", version->plugin->path);
}

bp_result_t versions_open(reload_change_t *change)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < change->version_count; i++) {
        version_t *version = &change->versions[i];
        version->plugin->reloading = true;
        plugin_begin_changing(version->plugin);
        version->was_aside = plugin_is_aside(version->plugin);
        if (version->was_aside)
            plugin_trust(version->plugin);
    }
    for (uint32_t i = 0; i < change->version_count && result == BP_OK; i++)
        result = open_one(change, &change->versions[i]);
    return result;
}

/* --- closing ------------------------------------------------------------------------------------------------------ */

static void move_bytes(memory_t *from, memory_t *to)
{
    atomic_fetch_add(&to->bytes, atomic_exchange(&from->bytes, 0));
}

/* Settle what both sides have allocated. Where state goes over, or threads have allocated during the change, memory
 * that one version has taken and the other gives back cannot be told apart: all of it is counted for the version that
 * stays. Else each version is charged with its own. */
static void divide_accounts(version_t *version)
{
    plugin_t *plugin = version->plugin;
    memory_t *goes = atomic_load(&version->kept.account);
    if (goes == NULL)
        return;
    if (version->merges || version->keeps_state || atomic_load(&plugin->mixed))
        move_bytes(goes, atomic_load(&plugin->account));
}

/* After the change: let threads use the account of the version in place again. */
static void end_changing(plugin_t *plugin)
{
    atomic_store(&plugin->changing, 0);
    atomic_store(&plugin->mixed, false);
    move_bytes(&plugin->bystanders, atomic_load(&plugin->account));
}

/* End the content of a file while the version that opened the file still has its state. */
static void end_content(reload_change_t *change, version_t *version)
{
    version_t *opener = version->kept.opened ? opener_of(change, &version->kept) : NULL;
    if (opener != NULL)
        change_enter(opener);
    content_close(&version->kept);
    if (opener != NULL)
        change_leave(opener);
}

static void end_one(reload_change_t *change, version_t *version)
{
    if (version->ended)
        return;
    if (version->loaded && !version->keeps_state) {
        change_enter(version);
        if (version->plugin->desc.unload != NULL)
            verb_unload(version->plugin);
        change_leave(version);
    }
    version->loaded = false;
    end_content(change, version);
    divide_accounts(version);
    version->ended = true;
}

static void close_one(reload_change_t *change, version_t *version)
{
    loader_t *loader = change->reload->loader;
    end_one(change, version);
    registry_set_free(change->reload->registry, &version->set);
    if (version->open && change->state != CHANGE_COMMITTED) {
        /* The file stays for another try. */
        version->copy = version->kept.copy;
        version->kept.copy = NULL;
    }
    if (version->open)
        loader_close_version(loader, &version->kept);
    version->open = version->ended = false;
}

void versions_end(reload_change_t *change)
{
    for (uint32_t i = change->version_count; i > 0; i--)
        end_one(change, &change->versions[i - 1]);
}

/* Is a plugin part of a change that goes on when this one ends: of one on probation, over which this one was refused,
 * or which was committed over this one? */
static bool goes_on_changing(const reload_change_t *change, const plugin_t *plugin)
{
    return change->reload->probation != change && reload_on_probation(change->reload, plugin);
}

void versions_close(reload_change_t *change)
{
    for (uint32_t i = change->version_count; i > 0; i--)
        close_one(change, &change->versions[i - 1]);
    for (uint32_t i = 0; i < change->version_count; i++) {
        version_t *version = &change->versions[i];
        version->plugin->reloading = goes_on_changing(change, version->plugin);
        if (!version->plugin->reloading)
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
    memory_free(&change->reload->memory, change->versions, RELOAD_MAX_PLUGINS * sizeof *change->versions);
    change->versions = NULL;
    change->version_count = 0;
}

/* --- plan -------------------------------------------------------------------------------------------------------- */

/* The components of a change: where their fields get their values, and which systems depend on these.
 *
 * Fields are matched by base/field.h. A component whose list is the same to the letter keeps its present list: its
 * columns, references resolved for them and other systems' knowledge of them are then not touched at all.
 * A change is refused where a system would not find a field that it asks for; fields that no system asks for may change
 * freely.
 */

component_change_t *plan_of(const reload_change_t *change, const component_t *slot)
{
    for (uint32_t i = 0; i < change->component_count; i++) {
        if (change->components[i].slot == slot)
            return &change->components[i];
    }
    return NULL;
}

/* --- fields ------------------------------------------------------------------------------------------------------- */

static bool same_field(const field_t *a, const field_t *b)
{
    return strcmp(a->name, b->name) == 0 && a->type == b->type && a->flags == b->flags && a->access == b->access &&
           a->column == b->column && a->elements == b->elements && strcmp(a->initial_text, b->initial_text) == 0 &&
           strcmp(a->min_text, b->min_text) == 0 && strcmp(a->max_text, b->max_text) == 0 &&
           strcmp(a->unit, b->unit) == 0 && strcmp(a->doc, b->doc) == 0 &&
           strcmp(a->former_name, b->former_name) == 0 && strcmp(a->values_text, b->values_text) == 0;
}

static bool same_fields(const component_t *a, const component_t *b)
{
    bool same = a->field_count == b->field_count && a->hidden_count == b->hidden_count &&
                a->own_storage == b->own_storage && (a->rows.rows_set == NULL) == (b->rows.rows_set == NULL);
    for (uint32_t i = 0; i < component_columns(a) && same; i++)
        same = same_field(&a->fields[i], &b->fields[i]);
    return same;
}

/* Have rows gone of which the component's state has not been told? */
static bool has_untold(const reload_change_t *change, const component_t *slot)
{
    const destruction_t *d = change->reload->destruction;
    bool any = false;
    for (uint32_t i = 0; i < d->world_count; i++) {
        for (uint32_t k = 0; k < d->worlds[i]->manager_count; k++) {
            const manager_t *manager = d->worlds[i]->managers[k];
            any = any || (manager->component == slot && manager->untold.count > 0);
        }
    }
    return any;
}

/* Is the new version to be told of rows? Then the fields that it rebuilds begin with their defaults. There is no
 * probation where the old version was told of rows and would miss those that come and go meanwhile: where its state
 * does not go over, or the new version lacks these verbs. */
static void plan_rows(reload_change_t *change, component_change_t *c)
{
    const component_t *old = c->slot, *next = c->kept;
    c->begins_anew = !c->same && has_untold(change, old);
    bool goes_over = state_goes_over(old, next) && !c->begins_anew;
    bool stateless = old->table.start == NULL && next->table.start == NULL && old->own_storage == next->own_storage &&
                     !c->begins_anew;
    bool rebuilds = false;
    for (uint32_t i = 0; i < component_columns(next); i++)
        rebuilds = rebuilds || field_is_rebuilt(&next->fields[i]);
    c->tells_rows = next->rows.rows_added != NULL &&
                    (old->rows.rows_added == NULL || !(goes_over || (stateless && !rebuilds)));
    for (uint32_t i = 0; i < c->source_count && c->tells_rows; i++) {
        if (field_is_rebuilt(&next->fields[i])) {
            c->sources[i] = (convert_source_t){.old = BP_NONE, .kind = CONVERT_SAME};
            c->same = false;
        }
    }
    bool followed = (goes_over || stateless) && (old->rows.rows_added == NULL || next->rows.rows_added != NULL) &&
                    (old->rows.rows_removed == NULL || next->rows.rows_removed != NULL);
    bool told = old->rows.rows_added != NULL || old->rows.rows_removed != NULL;
    if (told && !followed)
        change->hides = false;
}

static bp_result_t plan_fields(reload_change_t *change, component_change_t *c)
{
    error_text_t *error = change_error(change);
    c->same = same_fields(c->slot, c->kept);
    c->source_count = component_columns(c->kept);
    if (c->source_count > 0)
        c->sources = memory_new(&change->reload->memory, c->source_count * sizeof *c->sources);
    if (c->source_count > 0 && c->sources == NULL)
        return error_memory(error, "comparing fields");
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < c->source_count && change->anew; i++)
        c->sources[i] = (convert_source_t){.old = BP_NONE, .kind = CONVERT_SAME};
    if (!change->anew)
        result = convert_plan(c->slot->fields, component_columns(c->slot), c->kept->fields, component_columns(c->kept),
                              c->sources, error);
    if (result == BP_OK && !change->anew)
        plan_rows(change, c);
    return result == BP_OK ? BP_OK : error_prefix(error, result, "component '%s': ", c->slot->name);
}

/* --- systems ------------------------------------------------------------------------------------------------------ */

/* A component as it will be after the change; NULL: no loaded plugin will bring it. */
static const component_t *next_component(const reload_change_t *change, const char *name)
{
    const registry_t *registry = change->reload->registry;
    for (uint32_t i = 0; i < registry->component_count; i++) {
        const component_t *slot = registry->components[i];
        const component_change_t *c = plan_of(change, slot);
        const component_t *next = c != NULL ? c->kept : slot;
        if (strcmp(slot->name, name) == 0)
            return next->owner != NULL ? next : NULL;
    }
    return NULL;
}

/* A system as it will be after the change; NULL where the system goes, or no plugin brings it. */
static const system_t *next_system(const reload_change_t *change, const system_t *slot)
{
    for (uint32_t v = 0; v < change->version_count; v++) {
        const system_t *next = registry_set_system(&change->versions[v].set, slot);
        if (next != NULL)
            return next->owner != NULL ? next : NULL;
    }
    return slot->owner != NULL ? slot : NULL;
}

static bp_result_t refuse_for(reload_change_t *change, const system_t *system, const component_t *component,
                              bp_result_t result)
{
    error_text_t *error = change_error(change), kept = *error;
    const char *owner = system->owner->name;
    bool reloaded = false;
    for (uint32_t v = 0; v < change->version_count; v++)
        reloaded = reloaded || change->versions[v].plugin == system->owner;
    if (reloaded)
        return error_prefix(error, result, "system '%s': ", system->name);
    return error_set(error, result,
                     "system '%s' of plugin '%s' cannot go on: %s; rebuild that plugin and reload both together: "
                     "reload %s %s",
                     system->name, owner, kept.text, component->owner->name, owner);
}

/* Check that each system, whether it stays as it is or comes anew, finds the fields that it asks for: systems are bound
   by names. */
static bp_result_t check_systems(reload_change_t *change)
{
    const registry_t *registry = change->reload->registry;
    bp_result_t result = BP_OK;
    for (uint32_t s = 0; s < registry->system_count && result == BP_OK; s++) {
        const system_t *system = next_system(change, registry->systems[s]);
        for (uint32_t t = 0; system != NULL && t < system->term_count && result == BP_OK; t++) {
            const component_t *component = next_component(change, system->terms[t].component);
            result = component == NULL ? BP_OK : term_bind(change_error(change), &system->terms[t], component, NULL);
            if (result != BP_OK)
                result = refuse_for(change, system, component, result);
        }
    }
    return result;
}

static bool is_reloaded(const void *context, const plugin_t *owner)
{
    const reload_change_t *change = context;
    for (uint32_t v = 0; v < change->version_count; v++) {
        if (change->versions[v].plugin == owner)
            return true;
    }
    return false;
}

/* Check kept queries in the same way; those of a plugin that is reloaded itself are left to its next version. */
static bp_result_t check_queries(reload_change_t *change)
{
    const destruction_t *d = change->reload->destruction;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < change->component_count && result == BP_OK; i++) {
        const component_t *component = next_component(change, change->components[i].slot->name);
        for (uint32_t w = 0; component != NULL && w < d->world_count && result == BP_OK; w++)
            result = queries_admit(world_handle(d->worlds[w])->schedule, component, is_reloaded, change);
    }
    return result;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static bp_result_t plan_one(reload_change_t *change, version_t *version, component_swap_t *swap)
{
    component_change_t *c = &change->components[change->component_count++];
    *c = (component_change_t){.version = version,
                              .slot = swap->slot,
                              .kept = &swap->kept,
                              .is_new = swap->slot->owner == NULL};
    if (c->is_new)
        return BP_OK;
    bp_result_t result = c->kept->owner == NULL ? BP_OK : plan_fields(change, c);
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
    if (result == BP_OK)
        result = check_systems(change);
    return result == BP_OK ? check_queries(change) : result;
}

void plan_free(reload_change_t *change)
{
    memory_t *memory = &change->reload->memory;
    for (uint32_t i = 0; i < change->component_count; i++) {
        component_change_t *c = &change->components[i];
        memory_free(memory, c->sources, c->source_count * sizeof *c->sources);
    }
    memory_free(memory, change->components, change->component_capacity * sizeof *change->components);
    change->components = NULL;
    change->component_count = 0;
}
