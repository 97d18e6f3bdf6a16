/* registry_add.c - declarations judged at the door, and put where they belong.
 *
 * A plugin was built against a declaration of its own size. As many bytes of it as both know are copied and the rest is zero, here and
 * only here: from the door on, everybody sees declarations of today's size.
 */
#include "registry_add.h"

#include "registry_set.h"

static bp_result_t check_name(registry_t *registry, const char *kind, const char *name, uint32_t item_size, size_t least)
{
    if (item_size < least)
        return error_set(&registry->base->error, BP_ERROR_ABI, "a %s of %u bytes is too small; use BP_LIST", kind, item_size);
    if (name == NULL || !names_is_word(name))
        return error_set(&registry->base->error, BP_ERROR_ARGUMENT, "a %s's name must be 1 to 63 letters, digits or underscores, not '%.40s'",
                         kind, name == NULL ? "" : name);
    return BP_OK;
}

static bp_result_t fill_component(registry_t *registry, plugin_t *owner, const bp_component_i *declared)
{
    component_t *slot;
    bp_result_t result = registry_component_place(registry, NULL, declared->name, &slot);
    if (result != BP_OK)
        return result;
    result = component_declare(registry->base, &registry->memory, owner, declared, slot, slot);
    if (result == BP_OK)
        component_know_fields(slot, NULL);
    return result;
}

bp_result_t registry_add_component(registry_t *registry, plugin_t *owner, const bp_component_i *declared,
                                   uint32_t item_size)
{
    bp_component_i known = {0};
    memcpy(&known, declared, item_size < sizeof known ? item_size : sizeof known);
    bp_result_t result = check_name(registry, "component", known.name, item_size, offsetof(bp_component_i, create));
    if (result != BP_OK)
        return result;
    result = component_check(&registry->base->error, &known);
    if (result == BP_OK)
        result = owner->set != NULL ? registry_replace_component(registry, owner->set, &known) : fill_component(registry, owner, &known);
    return result == BP_OK ? BP_OK : error_prefix(&registry->base->error, result, "component '%s': ", known.name);
}

static bp_result_t fill_system(registry_t *registry, plugin_t *owner, const bp_system_i *declared)
{
    system_t *slot;
    bp_result_t result = registry_system_place(registry, NULL, declared->name, &slot);
    return result != BP_OK ? result : system_declare(registry->base, &registry->memory, owner, declared, slot, slot);
}

bp_result_t registry_add_system(registry_t *registry, plugin_t *owner, const bp_system_i *declared, uint32_t item_size)
{
    bp_system_i known = {0};
    memcpy(&known, declared, item_size < sizeof known ? item_size : sizeof known);
    bp_result_t result = check_name(registry, "system", known.name, item_size, offsetof(bp_system_i, before));
    if (result != BP_OK)
        return result;
    result = system_check(&registry->base->error, &known);
    if (result == BP_OK)
        result = owner->set != NULL ? registry_replace_system(registry, owner->set, &known) : fill_system(registry, owner, &known);
    return result == BP_OK ? BP_OK : error_prefix(&registry->base->error, result, "system '%s': ", known.name);
}

bp_result_t registry_offer(registry_t *registry, plugin_t *owner, const char *name, const void *table)
{
    uint32_t size;
    table_slot_t *slot;
    memcpy(&size, table, sizeof size);
    if (size < 8 || size % 8 != 0 || size > REGISTRY_MAX_TABLE)
        return error_set(&registry->base->error, BP_ERROR_ABI, "table '%s' says it has %u bytes; struct_size must be its sizeof", name, size);
    bp_result_t result = registry_table_place(registry, owner, name, size, &slot);
    if (result != BP_OK)
        return result;
    if (owner->set != NULL)
        return registry_replace_table(registry, owner->set, slot, table);
    memcpy(slot->table, table, size);
    slot->owner = owner;
    return BP_OK;
}
