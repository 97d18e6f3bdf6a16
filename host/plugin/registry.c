/* registry.c - finding slots, making new ones, and sweeping them; and a new version of a plugin beside the slots that
 * it will fill.
 *
 * Slots are separate allocations behind arrays of pointers: an array may grow, a slot never moves.
 *
 * A set holds, for every slot that the plugin fills now or will fill, the content that the slot gets. Exchanging swaps
 * contents: the slot has the new, the set the old; exchanged a second exchange restores the first state. The exchange
 * allocates and frees nothing, so it cannot fail, and old contents stay whole as long as the set.
 *
 * Slots that are made for names new to the registry are empty until the exchange, and look-ups do not find them. The
 * slot of a table that the new version promises is handed out before the exchange, because plugins that are reloaded
 * together may need each other's tables at their start; where that slot is new it is silent until the exchange.
 */
#include "registry.h"

#include "../base/error.h"

void registry_init(registry_t *registry, base_t *base)
{
    memset(registry, 0, sizeof *registry);
    memory_init_child(&registry->memory, "registry", &base->memory);
    registry->base = base;
}

/* --- slots, filled or not ----------------------------------------------------------------------------------------- */

static component_t *component_slot(const registry_t *registry, const char *name)
{
    for (uint32_t i = 0; i < registry->component_count; i++) {
        if (strcmp(registry->components[i]->name, name) == 0)
            return registry->components[i];
    }
    return NULL;
}

static system_t *system_slot(const registry_t *registry, const char *name)
{
    for (uint32_t i = 0; i < registry->system_count; i++) {
        if (strcmp(registry->systems[i]->name, name) == 0)
            return registry->systems[i];
    }
    return NULL;
}

/* A table that has outgrown its slot has several slots: the last one has room for all of the table. */
static table_slot_t *table_slot(const registry_t *registry, const char *name)
{
    for (uint32_t i = registry->table_count; i > 0; i--) {
        if (strcmp(registry->tables[i - 1]->name, name) == 0)
            return registry->tables[i - 1];
    }
    return NULL;
}

static component_t *add_component(registry_t *registry, const char *name)
{
    if (!memory_reserve(&registry->memory, &registry->components, &registry->component_capacity,
                        registry->component_count + 1u, sizeof *registry->components))
        return NULL;
    component_t *slot = component_new(&registry->memory, name);
    if (slot != NULL)
        registry->components[registry->component_count++] = slot;
    return slot;
}

static system_t *add_system(registry_t *registry, const char *name)
{
    if (!memory_reserve(&registry->memory, &registry->systems, &registry->system_capacity, registry->system_count + 1u,
                        sizeof *registry->systems))
        return NULL;
    system_t *slot = system_new(&registry->memory, name);
    if (slot != NULL)
        registry->systems[registry->system_count++] = slot;
    return slot;
}

static table_slot_t *add_table(registry_t *registry, const char *name, uint32_t size)
{
    if (!memory_reserve(&registry->memory, &registry->tables, &registry->table_capacity, registry->table_count + 1u,
                        sizeof *registry->tables))
        return NULL;
    table_slot_t *slot = table_slot_new(&registry->memory, &registry->base->error, name, size);
    if (slot != NULL)
        registry->tables[registry->table_count++] = slot;
    return slot;
}

static bp_result_t place_of_component(registry_t *registry, const plugin_t *owner, const char *name, component_t **slot)
{
    error_text_t *error = &registry->base->error;
    *slot = component_slot(registry, name);
    if (*slot != NULL && (*slot)->owner != NULL && (*slot)->owner != owner)
        return error_set(error, BP_ERROR_EXISTS, "plugin '%s' already brings a component of that name",
                         (*slot)->owner->name);
    if (system_slot(registry, name) != NULL)
        return error_set(error, BP_ERROR_EXISTS, "a system has that name");
    if (*slot == NULL)
        *slot = add_component(registry, name);
    return *slot != NULL ? BP_OK : error_memory(error, "registering a component");
}

static bp_result_t place_of_system(registry_t *registry, const plugin_t *owner, const char *name, system_t **slot)
{
    error_text_t *error = &registry->base->error;
    *slot = system_slot(registry, name);
    if (*slot != NULL && (*slot)->owner != NULL && (*slot)->owner != owner)
        return error_set(error, BP_ERROR_EXISTS, "plugin '%s' already brings a system of that name",
                         (*slot)->owner->name);
    if (component_slot(registry, name) != NULL)
        return error_set(error, BP_ERROR_EXISTS, "a component has that name");
    if (*slot == NULL)
        *slot = add_system(registry, name);
    return *slot != NULL ? BP_OK : error_memory(error, "registering a system");
}

/* Find or make a slot of that name with room for `size` bytes, where `owner` may put its table. */
static bp_result_t place_table(registry_t *registry, const plugin_t *owner, const char *name, uint32_t size)
{
    error_text_t *error = &registry->base->error;
    const table_slot_t *slot = table_slot(registry, name);
    const plugin_t *offers = registry_table_owner(registry, name);
    if (offers != NULL && offers != owner)
        return error_set(error, BP_ERROR_EXISTS, "plugin '%s' already offers a table '%s'", offers->name, name);
    if (slot == NULL)
        slot = add_table(registry, name, size);
    else if (slot->size < size)
        slot = add_table(registry, name, size < 2 * slot->size ? (uint32_t)(2 * slot->size) : size);
    return slot != NULL ? BP_OK : error_memory(error, "offering a table");
}

/* --- slots that a plugin fills ------------------------------------------------------------------------------------ */

component_t *registry_component(registry_t *registry, const char *name)
{
    component_t *slot = component_slot(registry, name);
    if (slot != NULL && slot->owner != NULL)
        return slot;
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < registry->component_count; i++) {
        if (registry->components[i]->owner != NULL)
            nearest_consider(&nearest, registry->components[i]->name);
    }
    error_set(&registry->base->error, BP_ERROR_NOT_FOUND, "no loaded plugin brings a component '%s'%s", name,
              nearest_hint(&nearest, &hint));
    return NULL;
}

system_t *registry_system(registry_t *registry, const char *name)
{
    system_t *slot = system_slot(registry, name);
    if (slot != NULL && slot->owner != NULL)
        return slot;
    nearest_t nearest = {.wanted = name};
    text_t hint;
    for (uint32_t i = 0; i < registry->system_count; i++) {
        if (registry->systems[i]->owner != NULL)
            nearest_consider(&nearest, registry->systems[i]->name);
    }
    error_set(&registry->base->error, BP_ERROR_NOT_FOUND, "no loaded plugin brings a system '%s'%s", name,
              nearest_hint(&nearest, &hint));
    return NULL;
}

const void *registry_table(registry_t *registry, const char *name, uint32_t version)
{
    for (uint32_t i = registry->table_count; i > 0; i--) {
        const table_slot_t *slot = registry->tables[i - 1];
        bool offered =
            (slot->promised != 0 && slot->promised >= version) || (slot->owner != NULL && slot->table[1] >= version);
        if (offered && strcmp(slot->name, name) == 0)
            return slot->table;
    }
    return NULL;
}

plugin_t *registry_table_owner(const registry_t *registry, const char *name)
{
    for (uint32_t i = 0; i < registry->table_count; i++) {
        if (registry->tables[i]->owner != NULL && strcmp(registry->tables[i]->name, name) == 0)
            return registry->tables[i]->owner;
    }
    return NULL;
}

/* --- emptying ----------------------------------------------------------------------------------------------------- */

void registry_silence_tables(registry_t *registry, const plugin_t *owner)
{
    for (uint32_t i = 0; i < registry->table_count; i++) {
        if (registry->tables[i]->owner == owner)
            table_slot_silence(registry->tables[i]);
    }
}

void registry_sweep(registry_t *registry, const plugin_t *owner)
{
    for (uint32_t i = 0; i < registry->component_count; i++) {
        if (registry->components[i]->owner == owner)
            component_empty(registry->base, &registry->memory, registry->components[i]);
    }
    for (uint32_t i = 0; i < registry->system_count; i++) {
        if (registry->systems[i]->owner == owner)
            system_empty(&registry->memory, registry->systems[i]);
    }
    registry_silence_tables(registry, owner);
}

void registry_free(registry_t *registry)
{
    memory_t *memory = &registry->memory;
    for (uint32_t i = 0; i < registry->component_count; i++)
        component_free(memory, registry->components[i]);
    for (uint32_t i = 0; i < registry->system_count; i++)
        system_free(memory, registry->systems[i]);
    for (uint32_t i = 0; i < registry->table_count; i++)
        table_slot_free(memory, registry->tables[i]);
    memory_free(memory, registry->components, registry->component_capacity * sizeof *registry->components);
    memory_free(memory, registry->systems, registry->system_capacity * sizeof *registry->systems);
    memory_free(memory, registry->tables, registry->table_capacity * sizeof *registry->tables);
}

/* --- sets --------------------------------------------------------------------------------------------------------- */

static component_t *add_component_to_set(registry_t *registry, registry_set_t *set, component_t *slot)
{
    if (!memory_reserve(&registry->memory, &set->components, &set->component_capacity, set->component_count + 1u,
                        sizeof *set->components))
        return NULL;
    component_swap_t *swap = &set->components[set->component_count++];
    *swap = (component_swap_t){.slot = slot, .kept = {.name = slot->name, .table = {.name = slot->name}}};
    return &swap->kept;
}

static system_t *add_system_to_set(registry_t *registry, registry_set_t *set, system_t *slot)
{
    if (!memory_reserve(&registry->memory, &set->systems, &set->system_capacity, set->system_count + 1u,
                        sizeof *set->systems))
        return NULL;
    system_swap_t *swap = &set->systems[set->system_count++];
    *swap = (system_swap_t){.slot = slot, .kept = {.name = slot->name, .table = {.name = slot->name}}};
    return &swap->kept;
}

/* Make the content that a table's slot is to get: at first the same table, silenced. */
static table_slot_t *add_table_to_set(registry_t *registry, registry_set_t *set, table_slot_t *slot)
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
        good = registry->components[i]->owner != owner ||
               add_component_to_set(registry, set, registry->components[i]) != NULL;
    for (uint32_t i = 0; i < registry->system_count && good; i++)
        good = registry->systems[i]->owner != owner || add_system_to_set(registry, set, registry->systems[i]) != NULL;
    for (uint32_t i = 0; i < registry->table_count && good; i++)
        good = registry->tables[i]->owner != owner || add_table_to_set(registry, set, registry->tables[i]) != NULL;
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

static bp_result_t replace_component(registry_t *registry, registry_set_t *set, const bp_component_i *declared)
{
    component_t *slot;
    bp_result_t result = place_of_component(registry, set->owner, declared->name, &slot);
    if (result != BP_OK)
        return result;
    component_t *made = find_component(set, slot);
    if (made != NULL && made->owner != NULL)
        return error_set(&registry->base->error, BP_ERROR_EXISTS, "the plugin brings two components of that name");
    if (made == NULL)
        made = add_component_to_set(registry, set, slot);
    if (made == NULL)
        return error_memory(&registry->base->error, "registering a component");
    return component_declare(registry->base, &registry->memory, set->owner, declared, slot, made);
}

static bp_result_t replace_system(registry_t *registry, registry_set_t *set, const bp_system_i *declared)
{
    system_t *slot;
    bp_result_t result = place_of_system(registry, set->owner, declared->name, &slot);
    if (result != BP_OK)
        return result;
    system_t *made = registry_set_system(set, slot);
    if (made != NULL && made->owner != NULL)
        return error_set(&registry->base->error, BP_ERROR_EXISTS, "the plugin brings two systems of that name");
    if (made == NULL)
        made = add_system_to_set(registry, set, slot);
    if (made == NULL)
        return error_memory(&registry->base->error, "registering a system");
    return system_declare(registry->base, &registry->memory, set->owner, declared, made);
}

/* Put a table into the set for one slot. A slot without an owner is silent until the exchange, but gets the form of the
   promised table now, for a plugin that finds the slot at its start. */
static bool replace_in(registry_t *registry, registry_set_t *set, table_slot_t *slot, const bp_table_t *offered)
{
    memory_t *memory = &registry->memory;
    const char *returns = offered->returns == NULL ? "" : offered->returns;
    table_slot_t *made = find_table(set, slot);
    if (made == NULL)
        made = add_table_to_set(registry, set, slot);
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

static bp_result_t replace_table(registry_t *registry, registry_set_t *set, const bp_table_t *offered)
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

/* Exchange all members but those that stay with the slot (the known fields). Where both lists of fields are equal, the
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

/* --- declarations ------------------------------------------------------------------------------------------------- */

/* Declarations are judged, and copied into their slots or into a set. */

static bp_result_t check_name(registry_t *registry, const char *kind, const char *name)
{
    if (name == NULL || !names_is_word(name))
        return error_set(&registry->base->error, BP_ERROR_ARGUMENT,
                         "a %s's name must be 1 to 63 letters, digits or underscores, not '%.40s'", kind,
                         name == NULL ? "" : name);
    return BP_OK;
}

static bp_result_t fill_component(registry_t *registry, plugin_t *owner, const bp_component_i *declared)
{
    component_t *slot;
    bp_result_t result = place_of_component(registry, NULL, declared->name, &slot);
    if (result != BP_OK)
        return result;
    result = component_declare(registry->base, &registry->memory, owner, declared, slot, slot);
    if (result == BP_OK)
        component_know_fields(slot);
    return result;
}

bp_result_t registry_add_component(registry_t *registry, plugin_t *owner, const bp_component_i *declared)
{
    registry_set_t *set = registry_set_of(registry, owner);
    bp_result_t result = check_name(registry, "component", declared->name);
    if (result != BP_OK)
        return result;
    result = component_check(&registry->base->error, declared);
    if (result == BP_OK)
        result = set != NULL ? replace_component(registry, set, declared)
                             : fill_component(registry, owner, declared);
    return result == BP_OK ? BP_OK : error_prefix(&registry->base->error, result, "component '%s': ", declared->name);
}

/* Do the components that are known by now have the fields that the system asks for? */
static bp_result_t bind_known(registry_t *registry, const system_t *system)
{
    bp_result_t result = BP_OK;
    for (uint32_t t = 0; t < system->term_count && result == BP_OK; t++) {
        const component_t *component = component_slot(registry, system->terms[t].component);
        if (component != NULL && component->owner != NULL)
            result = term_bind(&registry->base->error, &system->terms[t], component, NULL);
    }
    return result;
}

static bp_result_t fill_system(registry_t *registry, plugin_t *owner, const bp_system_i *declared)
{
    system_t *slot;
    bp_result_t result = place_of_system(registry, NULL, declared->name, &slot);
    if (result == BP_OK)
        result = system_declare(registry->base, &registry->memory, owner, declared, slot);
    if (result != BP_OK)
        return result;
    result = bind_known(registry, slot);
    if (result != BP_OK)
        system_empty(&registry->memory, slot);
    return result;
}

bp_result_t registry_add_system(registry_t *registry, plugin_t *owner, const bp_system_i *declared)
{
    registry_set_t *set = registry_set_of(registry, owner);
    bp_result_t result = check_name(registry, "system", declared->name);
    if (result != BP_OK)
        return result;
    result = system_check(&registry->base->error, declared);
    if (result == BP_OK)
        result =
            set != NULL ? replace_system(registry, set, declared) : fill_system(registry, owner, declared);
    return result == BP_OK ? BP_OK : error_prefix(&registry->base->error, result, "system '%s': ", declared->name);
}

/* The letters of a table are copied for each of its slots first, so that nothing can fail once the first slot is
 * filled. */
static bp_result_t fill_table(registry_t *registry, plugin_t *owner, const bp_table_t *offered)
{
    memory_t *memory = &registry->memory;
    const char *returns = offered->returns == NULL ? "" : offered->returns;
    char *copies[TABLE_MOST_SLOTS];
    uint32_t count = 0, filled = 0;
    bool good = true;
    for (uint32_t i = 0; i < registry->table_count && good; i++) {
        if (strcmp(registry->tables[i]->name, offered->name) == 0)
            good = (copies[count++] = memory_copy_text(memory, returns)) != NULL;
    }
    for (uint32_t i = 0; i < registry->table_count && good; i++) {
        if (strcmp(registry->tables[i]->name, offered->name) == 0)
            table_slot_fill(memory, registry->tables[i], owner, offered, copies[filled++]);
    }
    for (uint32_t i = 0; i < count && !good; i++)
        memory_free_text(memory, copies[i]);
    return good ? BP_OK : error_memory(&registry->base->error, "offering a table");
}

bp_result_t registry_offer(registry_t *registry, plugin_t *owner, const bp_table_t *offered, uint32_t item_size)
{
    bp_table_t known = {0};
    memcpy(&known, offered, item_size < sizeof known ? item_size : sizeof known);
    bp_result_t result = table_check(&registry->base->error, &known);
    if (result == BP_OK)
        result = place_table(registry, owner, known.name, known.size);
    if (result != BP_OK)
        return result;
    registry_set_t *set = registry_set_of(registry, owner);
    return set != NULL ? replace_table(registry, set, &known) : fill_table(registry, owner, &known);
}
