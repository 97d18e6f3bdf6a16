/* world.c - managers of a world, from their start to their end.
 *
 * A manager keeps its number for the life of the world, and so do keys. A manager that has left keeps its place
 * (started == false): no entity has its components any more, and if its type comes back it gets a new number, because
 * its fields may then be others.
 */
#include "world.h"

#include "../base/error.h"
#include "../plugin/verbs.h"
#include "hooks.h"
#include "notices.h"

const field_t world_slot_field = {.name = "slot", .type = BP_U32, .size = 4, .initial.u32 = BP_NONE};

bp_result_t world_init(world_t *world, const world_parts_t *parts, const char *name, const uint64_t *steps,
                       uint64_t seed, uint32_t layout)
{
    base_t *base = parts->base;
    world->base = base;
    world->entities = parts->entities;
    world->registry = parts->registry;
    world->api = parts->api;
    world->host = parts->host;
    world->layout = world->layout_drawn = world->layout_ranges[0] = layout;
    world->layout_range_count = 1;
    world->ref_version = 1;
    world->moment = 1;
    world->random = base->random + seed;
    memory_init_child(&world->memory, "world", &base->memory);
    lists_init(&world->lists, &world->memory);
    world->holdings = (holdings_t){&base->strings, &world->lists, &world->leavings};
    world->name = memory_copy_text(&world->memory, name);
    world->place = (verb_place_t){world->name, steps};
    if (world->name != NULL && entities_add_pool(world->entities, &world->ids) == BP_OK &&
        prototypes_init(&world->prototypes, &world->memory, base)) {
        world->entities->listeners++;
        return BP_OK;
    }
    entities_drop_pool(world->entities, &world->ids);
    memory_free_text(&world->memory, world->name);
    return error_memory(&base->error, "creating a world");
}

static void stop_manager(world_t *world, manager_t *manager)
{
    if (!manager->started)
        return;
    manager->started = false;
    world->entities->listeners++;
    world_count_manager(world, manager, UINT32_MAX);
    if (manager->component->table.stop != NULL)
        verb_stop(manager->component, &manager->verb);
    unended_free(&manager->unended, &world->memory);
    hooks_forget_untold(world, manager);
    deaths_free(&manager->listener, &world->base->memory);
}

static void free_manager(world_t *world, manager_t *manager)
{
    slot_stamps_free(&manager->stamps, &world->memory);
    deaths_free(&manager->listener, &world->base->memory);
    unended_free(&manager->unended, &world->memory);
    memory_free(&world->memory, manager->column_list, manager->column_count * sizeof *manager->column_list);
    memory_free(&world->memory, manager, sizeof *manager);
}

void world_stop(world_t *world)
{
    for (uint32_t i = world->manager_count; i > 0; i--)
        stop_manager(world, world->managers[i - 1]);
}

void world_end(world_t *world)
{
    memory_t *memory = &world->memory;
    world_stop(world);
    for (uint32_t i = 0; i < world->run_count; i++)
        run_free(world->runs[i], memory, &world->holdings);
    for (uint32_t i = 0; i < world->attic_count; i++)
        run_free(world->attic[i], memory, &world->holdings);
    leavings_free(&world->leavings, memory, &world->holdings);
    lists_free(&world->lists);
    for (uint32_t i = 0; i < world->manager_count; i++)
        free_manager(world, world->managers[i]);
    notices_free(world->notices);
    spots_free(&world->spots, memory);
    prototypes_free(&world->prototypes);
    memory_free(memory, world->managers, world->manager_capacity * sizeof *world->managers);
    records_free(world);
    entities_drop_pool(world->entities, &world->ids);
    world_drop_scratch(world);
    memory_free(memory, world->runs, world->run_capacity * sizeof *world->runs);
    memory_free(memory, world->attic, world->attic_capacity * sizeof *world->attic);
    memory_free(memory, world->holed, world->holed_capacity * sizeof *world->holed);
    memory_free(memory, world->moves, world->moves_capacity * sizeof *world->moves);
    memory_free_text(memory, world->units);
    memory_free_text(memory, world->name);
}

void *world_scratch(world_t *world, size_t size)
{
    world->scratch_used = world->collections;
    if (size <= world->scratch_size)
        return world->scratch;
    world_drop_scratch(world);
    world->scratch = memory_resize(&world->memory, NULL, 0, size);
    world->scratch_size = world->scratch == NULL ? 0 : size;
    return world->scratch;
}

void world_drop_scratch(world_t *world)
{
    memory_free(&world->memory, world->scratch, world->scratch_size);
    world->scratch = NULL;
    world->scratch_size = 0;
}

/* --- managers ------------------------------------------------------------------------------------------------- */

static manager_t *find_manager(const world_t *world, const component_t *component)
{
    for (uint32_t i = 0; i < world->manager_count; i++) {
        if (world->managers[i]->component == component && world->managers[i]->started)
            return world->managers[i];
    }
    return NULL;
}

static manager_t *new_manager(world_t *world, component_t *component)
{
    manager_t *manager = memory_new(&world->memory, sizeof *manager);
    if (manager == NULL)
        return NULL;
    manager->component = component;
    manager->column_count = component->own_storage ? 1 : component_columns(component);
    manager->number = world->manager_count;
    manager->verb.place = &world->place;
    manager->verb.handed = (bp_manager_t){
        .struct_size = sizeof(bp_manager_t),
        .component = world->manager_count,
        .api = world->api,
        .host = world->host,
        .world = world_handle(world),
        .plugin = &component->owner->handed,
        .user = component->table.user,
    };
    if (manager->column_count == 0)
        return manager;
    manager->column_list = memory_new(&world->memory, manager->column_count * sizeof *manager->column_list);
    if (manager->column_list == NULL) {
        memory_free(&world->memory, manager, sizeof *manager);
        return NULL;
    }
    for (uint32_t i = 0; i < manager->column_count; i++)
        manager->column_list[i] = component->own_storage ? &world_slot_field : &component->fields[i];
    manager->columns = manager->column_list;
    return manager;
}

static bp_result_t start_manager(world_t *world, manager_t *manager)
{
    error_text_t *error = &world->base->error;
    const component_t *component = manager->component;
    if (component->table.start != NULL) {
        error->text[0] = '\0';
        bp_result_t result = verb_start(component, &manager->verb);
        if (result != BP_OK && error->text[0] == '\0')
            error_set(error, result, "it gave no reason (code %d)", result);
        if (result != BP_OK)
            return error_prefix(error, result, "component '%s' did not start in world '%s': ", component->name,
                                world->name);
    }
    manager->started = true;
    world->entities->listeners++;
    world_count_manager(world, manager, 1);
    return BP_OK;
}

bp_result_t world_use_component(world_t *world, component_t *component)
{
    error_text_t *error = &world->base->error;
    if (world_holds_rows(world))
        return error_set(error, BP_ERROR_STATE, "world '%s' is in the middle of a step", world->name);
    if (find_manager(world, component) != NULL)
        return error_set(error, BP_ERROR_EXISTS, "world '%s' has component '%s' already", world->name, component->name);
    if (world->manager_count >= WORLD_MAX_MANAGERS)
        return error_set(error, BP_ERROR_LIMIT, "a world has at most %d component managers", WORLD_MAX_MANAGERS);
    manager_t *manager = NULL;
    if (memory_reserve(&world->memory, &world->managers, &world->manager_capacity, world->manager_count + 1u,
                       sizeof *world->managers))
        manager = new_manager(world, component);
    if (manager == NULL)
        return error_memory(error, "bringing a component into a world");
    world->managers[world->manager_count] = manager; /* `start` may ask for stamps of its own, by this number */
    bp_result_t result = start_manager(world, manager);
    if (result != BP_OK)
        free_manager(world, manager);
    else
        world->manager_count++;
    world->roster++;
    return result;
}

/* When a plugin goes its runs stay, empty: replace its fields in them, which are freed. */
static void forget_fields(world_t *world, run_t *run, uint32_t manager)
{
    const prototypes_t *p = &world->prototypes;
    for (uint32_t at = run->prototype; at != 0; at = p->items[at].base) {
        const component_key_t *key = &p->keys[p->items[at].key];
        if (key->manager == manager)
            run_forget_fields(run, &world->memory, p->items[p->items[at].base].columns, key->columns);
    }
}

void world_drop_manager(world_t *world, manager_t *manager)
{
    for (uint32_t i = 0; i < world->prototypes.key_count; i++) {
        if (world->prototypes.keys[i].manager == manager->number)
            world->prototypes.keys[i].flags |= KEY_GONE;
    }
    prototypes_mark_gone(&world->prototypes);
    world->roster++;
    for (uint32_t i = 0; i < world->run_count; i++) {
        world->runs[i]->flags |= world->prototypes.items[world->runs[i]->prototype].flags;
        forget_fields(world, world->runs[i], manager->number);
    }
    stop_manager(world, manager);
    for (uint32_t c = 0; c < manager->column_count; c++)
        manager->column_list[c] = &run_gone_field; /* the plugin's own go with it */
}

uint32_t world_component(world_t *world, const char *type)
{
    nearest_t nearest = {.wanted = type};
    text_t hint;
    for (uint32_t i = 0; i < world->manager_count; i++) {
        if (world->managers[i]->started && strcmp(world->managers[i]->component->name, type) == 0)
            return i;
    }
    for (uint32_t i = 0; i < world->manager_count; i++) {
        if (world->managers[i]->started)
            nearest_consider(&nearest, world->managers[i]->component->name);
    }
    error_set(&world->base->error, BP_ERROR_NOT_FOUND, "world '%s' has no component manager '%s'%s", world->name, type,
              nearest_hint(&nearest, &hint));
    return BP_NONE;
}

/* --- keys ----------------------------------------------------------------------------------------------------- */

uint16_t world_key_flags(const component_t *component)
{
    uint32_t flags = 0;
    if ((component->table.flags & BP_COMPONENT_SINGLE) != 0)
        flags |= KEY_SINGLE;
    if ((component->table.flags & BP_COMPONENT_WORLD) != 0)
        flags |= KEY_WORLD;
    if (component->own_storage)
        flags |= component->storage.gc == NULL ? KEY_OWN_STORAGE | KEY_TELL : KEY_OWN_STORAGE;
    else if ((component->table.flags & BP_COMPONENT_AT_ONCE) != 0)
        flags |= KEY_AT_ONCE;
    if (component->rows.rows_added != NULL || component->rows.rows_removed != NULL)
        flags |= KEY_HOOKED;
    return (uint16_t)flags;
}

bp_result_t world_key(world_t *world, uint32_t component, bp_name_t name, uint32_t *key)
{
    if (component >= world->manager_count || !world->managers[component]->started)
        return error_set(&world->base->error, BP_ERROR_NOT_FOUND, "world '%s' has no component manager number %u",
                         world->name, component);
    const manager_t *manager = world->managers[component];
    if (name == 0) {
        bp_result_t result = names_intern(&world->base->names, manager->component->name, &name, &world->base->error);
        if (result != BP_OK)
            return result;
    }
    if ((manager->component->table.flags & BP_COMPONENT_WORLD) != 0 && name != names_hash(manager->component->name))
        return error_set(&world->base->error, BP_ERROR_ARGUMENT,
                         "component '%s' belongs to worlds, each of which has it once and under this name, not '%s'",
                         manager->component->name, names_text(&world->base->names, name));
    component_key_t made = {.name = name, .manager = component, .columns = (uint16_t)manager->column_count};
    made.flags = world_key_flags(manager->component);
    return prototypes_key(&world->prototypes, made, key);
}

bp_result_t world_key_info(world_t *world, uint32_t key, uint32_t *component, bp_name_t *name)
{
    if (key >= world->prototypes.key_count)
        return error_set(&world->base->error, BP_ERROR_NOT_FOUND, "world '%s' has no key %u", world->name, key);
    *component = world->prototypes.keys[key].manager;
    *name = world->prototypes.keys[key].name;
    return BP_OK;
}

/* --- layouts -------------------------------------------------------------------------------------------------- */

static uint32_t range_size(uint32_t range)
{
    return 1u << 2 * range;
}

BP_STATIC_ASSERT(2 * (WORLD_LAYOUT_RANGES - 1) < 32, "range_size has 32 bits");

/* The first number of a range that the host has not given out. After the largest number the smallest is next. */
static uint32_t give_range(uint32_t size, uint32_t *given)
{
    uint32_t first = UINT32_MAX - *given < size ? 1 : *given + 1;
    *given = first + (size - 1);
    return first;
}

uint32_t world_draw_layout(world_t *world, uint32_t *given)
{
    uint32_t last = world->layout_range_count - 1, used = world->layout_drawn - world->layout_ranges[last] + 1;
    if (used < range_size(last))
        return ++world->layout_drawn;
    if (last + 1 < WORLD_LAYOUT_RANGES)
        world->layout_range_count = ++last + 1;
    world->layout_ranges[last] = give_range(range_size(last), given);
    return world->layout_drawn = world->layout_ranges[last];
}

void world_change_layout(world_t *world, uint32_t layout)
{
    spots_free(&world->spots, &world->memory);
    world->layout = layout;
}

bool world_had_layout(const world_t *world, uint32_t layout)
{
    uint32_t last = world->layout_range_count - 1;
    for (uint32_t i = 0; i < last; i++) {
        if (layout - world->layout_ranges[i] < range_size(i))
            return true;
    }
    return layout - world->layout_ranges[last] <= world->layout_drawn - world->layout_ranges[last];
}

bool world_reserve_moves(world_t *world, uint32_t more)
{
    uint64_t count = (uint64_t)world->moves_made + more;
    return memory_reserve(&world->memory, &world->moves, &world->moves_capacity,
                          count < WORLD_MOVES ? count : WORLD_MOVES, sizeof *world->moves);
}

void world_note_moves(world_t *world, uint32_t manager, const uint8_t *to)
{
    field_moves_t *moves = &world->moves[world->moves_made++ % WORLD_MOVES];
    moves->version = world->ref_version;
    moves->manager = manager;
    memcpy(moves->to, to, sizeof moves->to);
}

/* --- stamps ------------------------------------------------------------------------------------------------------- */

void world_seal(world_t *world)
{
    world->hold = WORLD_SEALED;
    world->care |= WORLD_SEALED;
}

void world_unseal(world_t *world)
{
    world->hold = WORLD_FREE;
    world->care &= ~(uint32_t)WORLD_SEALED;
    world_note_all(world);
}

void world_note_all(world_t *world)
{
    for (uint32_t i = 0; i < world->run_count; i++)
        stamps_note_all(world->runs[i]->stamps);
    for (uint32_t i = 0; i < world->manager_count; i++)
        slot_stamps_note_all(&world->managers[i]->stamps, world->moment);
}

uint64_t world_look(world_t *world)
{
    bool stepping = (world->hold & (WORLD_STEPPING | WORLD_TELLING)) != 0; /* in a step the moments are those of its
                                                                              units */
    return stepping ? world->moment : world->moment++;
}

bp_result_t world_keep_stamps(world_t *world)
{
    error_text_t *error = &world->base->error;
    bool kept = true;
    if (world->hold == WORLD_SEALED)
        return error_set(error, BP_ERROR_STATE, "nothing of world '%s' can change while a reload is being prepared",
                         world->name);
    for (uint32_t i = 0; i < world->run_count && kept && world->stamp_users == 0; i++)
        kept = run_keep_stamps(world->runs[i], &world->memory, &world->moment);
    world->stamp_users++;
    world->askers++;
    world->care |= WORLD_STAMPED;
    if (kept)
        return BP_OK;
    world_release_stamps(world);
    return error_memory(error, "keeping stamps of changes");
}

size_t world_stamp_bytes(const world_t *world)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < world->run_count; i++)
        bytes += stamps_bytes(world->runs[i]->stamps);
    for (uint32_t i = 0; i < world->manager_count; i++)
        bytes += world->managers[i] == NULL ? 0 : slot_stamps_bytes(&world->managers[i]->stamps);
    return bytes;
}

void world_release_stamps(world_t *world)
{
    world->askers--;
    if (--world->stamp_users > 0)
        return;
    world->care &= ~WORLD_STAMPED;
    for (uint32_t i = 0; i < world->run_count; i++)
        run_drop_stamps(world->runs[i], &world->memory);
}

void world_keep_slot_stamps(world_t *world, manager_t *manager)
{
    if (manager->stamps.users++ == 0)
        slot_stamps_note_all(&manager->stamps, world->moment);
    manager->verb.handed.watched = 1;
    world->askers++;
}

void world_release_slot_stamps(world_t *world, manager_t *manager)
{
    uint32_t users = manager->stamps.users - 1;
    if (users == 0)
        slot_stamps_free(&manager->stamps, &world->memory);
    manager->stamps.users = users;
    manager->verb.handed.watched = users > 0;
    world->askers--;
}

/* --- figures -------------------------------------------------------------------------------------------------- */

uint32_t world_count(world_t *world, uint32_t component)
{
    if (component >= world->manager_count || !world->managers[component]->started)
        return 0;
    manager_t *manager = world->managers[component];
    if (manager->component->own_storage)
        return verb_count(manager->component, &manager->verb);
    uint32_t count = 0;
    const prototypes_t *p = &world->prototypes;
    for (uint32_t i = 0; i < world->run_count; i++) {
        for (uint32_t at = world->runs[i]->prototype; at != 0; at = p->items[at].base) {
            if (p->keys[p->items[at].key].manager == component)
                count += world->runs[i]->count - world->runs[i]->holes;
        }
    }
    return count;
}

size_t world_bytes(const world_t *world)
{
    return memory_bytes(&world->memory);
}
