/* plan.c - the components of a change: what became of their fields, and who else counts on these.
 *
 * Fields are matched by convert.h. A component whose list is the same to the letter keeps the list that it has: its columns, what was
 * resolved for them and what other systems know of them are then not touched at all.
 *
 * Systems of plugins outside the change were compiled for the columns as they were. They go on being handed those, in that order, as long
 * as every one is still there with its type; where one is not, the change is refused, since nobody can tell whether their code
 * reads it. The remedy is to reload both together.
 */
#include "change.h"

#include "../base/text.h"
#include "../plugin/registry_expected.h"

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
           strcmp(a->doc, b->doc) == 0 && strcmp(a->former_name, b->former_name) == 0;
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
    c->same = same_fields(c->slot, c->other);
    c->source_count = c->other->field_count;
    if (c->source_count > 0)
        c->sources = memory_new(&change->reload->memory, c->source_count * sizeof *c->sources);
    if (c->source_count > 0 && c->sources == NULL)
        return error_memory(error, "comparing fields");
    bp_result_t result = convert_plan(c->slot->fields, c->slot->field_count, c->other->fields, c->other->field_count, c->sources, error);
    return result == BP_OK ? BP_OK : error_prefix(error, result, "component '%s': ", c->slot->name);
}

/* --- systems of others -------------------------------------------------------------------------------------------------- */

/* Will the field that a system counts on be there, as what it was? */
static bool stays(const component_change_t *c, const expected_field_t *expected)
{
    const known_field_t *now = registry_follow(expected->field);
    if (now == NULL || c->other->owner == NULL || c->other->own_storage)
        return false;
    for (uint32_t i = 0; i < c->source_count; i++) {
        if (c->sources[i].old == now->index)
            return c->other->fields[i].type == expected->type;
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
    *c = (component_change_t){.version = version, .slot = swap->slot, .other = &swap->other, .is_new = swap->slot->owner == NULL};
    if (c->is_new)
        return BP_OK;
    bp_result_t result = c->other->owner == NULL ? BP_OK : plan_fields(change, c);
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
