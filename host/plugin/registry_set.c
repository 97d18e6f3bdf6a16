/* registry_set.c - a new version of a plugin beside the slots that it will fill.
 *
 * A set holds, for every slot that the plugin fills now or will fill, the content that the slot gets. Exchanging swaps
 * contents: the slot has the new, the set the old; exchanged once more, all is as it was. The exchange allocates and
 * frees nothing, so it cannot fail, and old contents stay whole as long as the set.
 *
 * Slots that are made for names new to the registry are empty until the exchange: nobody can tell that they are there.
 * The slot of a table that the new version promises is handed out before the exchange, because plugins that are
 * reloaded together may need each other's tables at their start; where that slot is new it is silent until the
 * exchange.
 */
#include "registry_set.h"

/* --- sets --------------------------------------------------------------------------------------------------------- */

static component_t *add_component(registry_t *registry, registry_set_t *set, component_t *slot)
{
    if (!memory_reserve(&registry->memory, &set->components, &set->component_capacity, set->component_count + 1u,
                        sizeof *set->components))
        return NULL;
    component_swap_t *swap = &set->components[set->component_count++];
    *swap = (component_swap_t){.slot = slot, .kept = {.name = slot->name, .table = {.name = slot->name}}};
    return &swap->kept;
}

static system_t *add_system(registry_t *registry, registry_set_t *set, system_t *slot)
{
    if (!memory_reserve(&registry->memory, &set->systems, &set->system_capacity, set->system_count + 1u,
                        sizeof *set->systems))
        return NULL;
    system_swap_t *swap = &set->systems[set->system_count++];
    *swap = (system_swap_t){.slot = slot, .kept = {.name = slot->name, .table = {.name = slot->name}}};
    return &swap->kept;
}

/* Make the content that a table's slot is to get: at first the same table, silenced. */
static table_slot_t *add_table(registry_t *registry, registry_set_t *set, table_slot_t *slot)
{
    memory_t *memory = &registry->memory;
    if (!memory_reserve(memory, &set->tables, &set->table_capacity, set->table_count + 1u, sizeof *set->tables))
        return NULL;
    uint32_t *table = memory_new(memory, slot->size);
    char *returns = slot->returns == NULL ? NULL : memory_copy_text(memory, slot->returns);
    if (table == NULL || (returns == NULL && slot->returns != NULL)) {
        memory_free(memory, table, table == NULL ? 0 : slot->size);
        memory_free_text(memory, returns);
        return NULL;
    }
    memcpy(table, slot->table, slot->size);
    table_swap_t *swap = &set->tables[set->table_count++];
    *swap = (table_swap_t){.slot = slot,
                           .kept = {.name = slot->name,
                                    .error = slot->error,
                                    .size = slot->size,
                                    .table = table,
                                    .returns = returns,
                                    .refuse = slot->refuse}};
    table_slot_silence(&swap->kept);
    return &swap->kept;
}

bool registry_set_init(registry_t *registry, registry_set_t *set, plugin_t *owner)
{
    bool good = true;
    memset(set, 0, sizeof *set);
    set->registry = registry;
    set->owner = owner;
    for (uint32_t i = 0; i < registry->component_count && good; i++)
        good = registry->components[i]->owner != owner || add_component(registry, set, registry->components[i]) != NULL;
    for (uint32_t i = 0; i < registry->system_count && good; i++)
        good = registry->systems[i]->owner != owner || add_system(registry, set, registry->systems[i]) != NULL;
    for (uint32_t i = 0; i < registry->table_count && good; i++)
        good = registry->tables[i]->owner != owner || add_table(registry, set, registry->tables[i]) != NULL;
    if (!good)
        registry_set_free(registry, set);
    return good;
}

void registry_set_free(registry_t *registry, registry_set_t *set)
{
    memory_t *memory = &registry->memory;
    for (uint32_t i = 0; i < set->component_count; i++)
        component_empty(registry->base, &registry->memory, &set->components[i].kept);
    for (uint32_t i = 0; i < set->system_count; i++)
        system_empty(&registry->memory, &set->systems[i].kept);
    for (uint32_t i = 0; i < set->table_count; i++) {
        memory_free(memory, set->tables[i].kept.table, set->tables[i].kept.size);
        memory_free_text(memory, set->tables[i].kept.returns);
        set->tables[i].slot->promised = 0;
    }
    memory_free(memory, set->components, set->component_capacity * sizeof *set->components);
    memory_free(memory, set->systems, set->system_capacity * sizeof *set->systems);
    memory_free(memory, set->tables, set->table_capacity * sizeof *set->tables);
    memset(set, 0, sizeof *set);
}

void registry_set_enter(registry_set_t *set)
{
    set->next = set->registry->entered;
    set->registry->entered = set;
}

void registry_set_leave(registry_set_t *set)
{
    registry_set_t **at = &set->registry->entered;
    while (*at != set)
        at = &(*at)->next;
    *at = set->next;
}

registry_set_t *registry_set_of(const registry_t *registry, const plugin_t *owner)
{
    registry_set_t *set = registry->entered;
    while (set != NULL && set->owner != owner)
        set = set->next;
    return set;
}

static component_t *find_component(const registry_set_t *set, const component_t *slot)
{
    for (uint32_t i = 0; i < set->component_count; i++) {
        if (set->components[i].slot == slot)
            return &set->components[i].kept;
    }
    return NULL;
}

system_t *registry_set_system(const registry_set_t *set, const system_t *slot)
{
    for (uint32_t i = 0; i < set->system_count; i++) {
        if (set->systems[i].slot == slot)
            return &set->systems[i].kept;
    }
    return NULL;
}

static table_slot_t *find_table(const registry_set_t *set, const table_slot_t *slot)
{
    for (uint32_t i = 0; i < set->table_count; i++) {
        if (set->tables[i].slot == slot)
            return &set->tables[i].kept;
    }
    return NULL;
}

/* --- declarations that go to a set -------------------------------------------------------------------------------- */

bp_result_t registry_replace_component(registry_t *registry, registry_set_t *set, const bp_component_i *declared)
{
    component_t *slot;
    bp_result_t result = registry_component_place(registry, set->owner, declared->name, &slot);
    if (result != BP_OK)
        return result;
    component_t *made = find_component(set, slot);
    if (made != NULL && made->owner != NULL)
        return error_set(&registry->base->error, BP_ERROR_EXISTS, "the plugin brings two components of that name");
    if (made == NULL)
        made = add_component(registry, set, slot);
    if (made == NULL)
        return error_memory(&registry->base->error, "registering a component");
    return component_declare(registry->base, &registry->memory, set->owner, declared, slot, made);
}

bp_result_t registry_replace_system(registry_t *registry, registry_set_t *set, const bp_system_i *declared)
{
    system_t *slot;
    bp_result_t result = registry_system_place(registry, set->owner, declared->name, &slot);
    if (result != BP_OK)
        return result;
    system_t *made = registry_set_system(set, slot);
    if (made != NULL && made->owner != NULL)
        return error_set(&registry->base->error, BP_ERROR_EXISTS, "the plugin brings two systems of that name");
    if (made == NULL)
        made = add_system(registry, set, slot);
    if (made == NULL)
        return error_memory(&registry->base->error, "registering a system");
    return system_declare(registry->base, &registry->memory, set->owner, declared, slot, made);
}

/* Put a table into the set for one slot. A slot without an owner is silent until the exchange, but gets the form of the
   promised table now, for a plugin that finds the slot at its start. */
static bool replace_in(registry_t *registry, registry_set_t *set, table_slot_t *slot, const bp_table_t *offered)
{
    memory_t *memory = &registry->memory;
    const char *returns = offered->returns == NULL ? "" : offered->returns;
    table_slot_t *made = find_table(set, slot);
    if (made == NULL)
        made = add_table(registry, set, slot);
    char *copy = made == NULL ? NULL : memory_copy_text(memory, returns);
    char *promise = copy == NULL || slot->owner != NULL ? NULL : memory_copy_text(memory, returns);
    if (copy == NULL || (slot->owner == NULL && promise == NULL)) {
        memory_free_text(memory, copy);
        return false;
    }
    if (promise != NULL) {
        table_slot_fill(memory, slot, NULL, offered, promise);
        table_slot_silence(slot);
    }
    table_slot_fill(memory, made, set->owner, offered, copy);
    slot->promised = offered->version;
    return true;
}

bp_result_t registry_replace_table(registry_t *registry, registry_set_t *set, const bp_table_t *offered)
{
    bool good = true;
    for (uint32_t i = 0; i < registry->table_count && good; i++) {
        if (strcmp(registry->tables[i]->name, offered->name) == 0)
            good = replace_in(registry, set, registry->tables[i], offered);
    }
    for (uint32_t i = 0; i < set->table_count && !good; i++) {
        if (strcmp(set->tables[i].slot->name, offered->name) == 0) {
            table_slot_silence(&set->tables[i].kept);
            set->tables[i].slot->promised = 0;
        }
    }
    return good ? BP_OK : error_memory(&registry->base->error, "offering a table");
}

/* --- exchanging --------------------------------------------------------------------------------------------------- */

static void swap_bytes(void *a, void *b, size_t size)
{
    unsigned char *x = a, *y = b;
    for (size_t i = 0; i < size; i++) {
        unsigned char kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
}

/* Exchange everything but what stays with the slot (the known fields). Where both lists of fields say the same, the
 * slot keeps its lists too, since columns hold their addresses. */
static void exchange_component(component_swap_t *swap)
{
    swap_bytes(swap->slot, &swap->kept, offsetof(component_t, known));
    if (swap->same_fields) {
        swap_bytes(&swap->slot->fields, &swap->kept.fields, sizeof swap->slot->fields);
        swap_bytes(&swap->slot->bound, &swap->kept.bound, sizeof swap->slot->bound);
    } else if (swap->exchanged) {
        component_restore_fields(swap->slot);
    } else {
        component_succeed_fields(swap->slot, &swap->kept);
    }
    swap->exchanged = !swap->exchanged;
}

void registry_exchange(registry_set_t *set)
{
    for (uint32_t i = 0; i < set->component_count; i++)
        exchange_component(&set->components[i]);
    for (uint32_t i = 0; i < set->system_count; i++)
        swap_bytes(set->systems[i].slot, &set->systems[i].kept, sizeof(system_t));
    for (uint32_t i = 0; i < set->table_count; i++) {
        table_swap_t *swap = &set->tables[i];
        plugin_t *owner = swap->slot->owner;
        swap->slot->owner = swap->kept.owner;
        swap->kept.owner = owner;
        swap_bytes(swap->slot->table, swap->kept.table, swap->slot->size);
        swap_bytes(&swap->slot->returns, &swap->kept.returns, sizeof swap->slot->returns);
    }
}

void registry_set_withdraw(registry_set_t *set)
{
    for (uint32_t i = 0; i < set->component_count; i++) {
        component_swap_t *swap = &set->components[i];
        if (!swap->same_fields)
            component_return_fields(swap->slot, &swap->kept);
    }
}

void registry_set_keep_promises(registry_set_t *set)
{
    for (uint32_t i = 0; i < set->table_count; i++)
        set->tables[i].slot->promised = 0;
}
