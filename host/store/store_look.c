/* store_look.c - looking up the components of an entity, their slots, and the place of a field.
 *
 * Each look-up goes from the entity's record to its prototype, and from there to a column of the prototype's run. Slots
 * of storage of its own lie in columns of the world, but for those of a manager that keeps them elsewhere while a
 * reload is prepared (world_slots_i).
 *
 * A reference that was made before a change of declarations is led to the new place of its field (field_moves_t).
 */
#include "store.h"

#include <string.h>

enum { HAS_FEW = 32, HAS_MET = 64 };

/* Has a prototype the key? A function of its own, since loops that ask it seldom have few registers to spare. */
NOT_INLINED static bool prototype_has(const world_t *world, uint32_t prototype, uint32_t key)
{
    return prototype != 0 && prototypes_column(&world->prototypes, prototype, key) != 0;
}

/* The same as store_has for a batch that is worth remembering which prototypes met lately have the key. */
static uint32_t has_many(const world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count, uint8_t *has)
{
    const records_view_t records = world_records(world);
    uint32_t met[HAS_MET] = {0}, found = 0; /* prototype 0, which has no components, stands for none yet */
    uint8_t answers[HAS_MET] = {0};
    for (uint32_t i = 0; i < count; i++) {
        const record_t *record = records_at(records, bp_entity_index(entities[i]));
        uint32_t prototype = record->generation == bp_entity_generation(entities[i]) ? record->prototype : 0,
                 slot = prototype % HAS_MET;
        if (met[slot] != prototype) {
            met[slot] = prototype;
            answers[slot] = prototype_has(world, prototype, key);
        }
        if (has != NULL)
            has[i] = answers[slot];
        found += answers[slot];
    }
    return found;
}

uint32_t store_has(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count, uint8_t *has)
{
    if (count > HAS_FEW)
        return has_many(world, key, entities, count, has);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const record_t *record = world_record(world, entities[i]);
        bool yes = record != NULL && prototypes_column(&world->prototypes, record->prototype, key) != 0;
        if (has != NULL)
            has[i] = yes;
        found += yes;
    }
    return found;
}

/* The column of the slots of `key` in a run where it is number `number`; NULL where there is none. */
static uint32_t *slot_column(const world_t *world, const run_t *run, uint32_t key, uint32_t number)
{
    const world_slots_i *elsewhere = world->slots_elsewhere;
    if (elsewhere != NULL && elsewhere->manager == world->prototypes.keys[key].manager)
        return elsewhere->slots(elsewhere->context, run, key);
    return run->columns[number];
}

static uint32_t find_slots_elsewhere(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count,
                                     uint32_t *slots)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const record_t *record = world_record(world, entities[i]);
        uint32_t number = record == NULL ? 0 : prototypes_column(&world->prototypes, record->prototype, key);
        const uint32_t *column =
            number == 0 ? NULL : slot_column(world, world_run(world, record->prototype), key, number);
        slots[i] = column == NULL ? BP_NONE : column[record->row];
        found += slots[i] != BP_NONE;
    }
    return found;
}

uint32_t store_slots(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count, uint32_t *slots)
{
    uint32_t found = 0;
    if (world->slots_elsewhere != NULL && key < world->prototypes.key_count &&
        world->prototypes.keys[key].manager == world->slots_elsewhere->manager)
        return find_slots_elsewhere(world, key, entities, count, slots);
    bool own = key < world->prototypes.key_count && world_key_manager(world, key)->component->own_storage;
    for (uint32_t i = 0; i < count; i++) {
        const record_t *record = world_record(world, entities[i]);
        uint32_t column = record == NULL || !own ? 0 : prototypes_column(&world->prototypes, record->prototype, key);
        slots[i] = BP_NONE;
        if (column == 0)
            continue;
        memcpy(&slots[i], run_cell(world_run(world, record->prototype), column, record->row), sizeof *slots);
        found += slots[i] != BP_NONE; /* an instance that is being made has no slot yet */
    }
    return found;
}

uint32_t store_keys_of(world_t *world, bp_entity_t entity, uint32_t *keys, uint32_t capacity)
{
    const record_t *record = world_record(world, entity);
    if (record == NULL)
        return 0;
    const prototypes_t *p = &world->prototypes;
    uint32_t count = p->items[record->prototype].key_count, at = count;
    for (uint32_t i = record->prototype; i != 0; i = p->items[i].base) {
        if (--at < capacity)
            keys[at] = p->items[i].key;
    }
    return count;
}

/* The living entity at an index, where it has components in the world; else {0}. */
static bp_entity_t listed_at(const world_t *world, uint32_t index)
{
    bp_entity_t e = entities_at(world->entities, index);
    return e.id != world->own.id && world_record(world, e) != NULL ? e : (bp_entity_t){0};
}

bp_entity_t store_next(const world_t *world, uint32_t *index)
{
    uint32_t first = world->first_page * ENTITIES_PAGE, bound = first + world->page_count * ENTITIES_PAGE;
    uint32_t i = *index > first ? *index : first;
    bp_entity_t found = {0};
    while (i < bound && found.id == 0) {
        if (world_has_record(world, i))
            found = listed_at(world, i++);
        else
            i = (i / ENTITIES_PAGE + 1) * ENTITIES_PAGE;
    }
    *index = i;
    return found;
}

void store_instances_moved(world_t *world, manager_t *manager, const bp_entity_t *entities,
                           const bp_name_t *names, const uint32_t *slots, uint32_t count)
{
    const prototypes_t *p = &world->prototypes;
    for (uint32_t i = 0; i < count; i++) {
        const record_t *record = world_record(world, entities[i]);
        for (uint32_t at = record == NULL ? 0 : record->prototype; at != 0; at = p->items[at].base) {
            const component_key_t *key = &p->keys[p->items[at].key];
            if (key->name != names[i] || key->manager != manager->number)
                continue;
            uint32_t *column = slot_column(world, world_run(world, record->prototype), p->items[at].key,
                                           p->items[p->items[at].base].columns);
            if (column != NULL)
                column[record->row] = slots[i];
            stamps_note(world_run(world, record->prototype)->stamps, p->items[p->items[at].base].columns, record->row,
                        1);
            break;
        }
    }
    world_note_slots(world, manager, slots, count);
}

/* Where the fields of a component have gone since the reference was made, if they have. False where its field has
 * gone. */
static bool follow_moves(const world_t *world, bp_ref_t *ref)
{
    uint32_t key = ref->field >> 8, field = ref->field & 0xff,
             kept = world->moves_made < WORLD_MOVES ? world->moves_made : WORLD_MOVES;
    if (ref->version == NULL || world->moves_made == 0 || key >= world->prototypes.key_count || field == FIELD_GONE)
        return field != FIELD_GONE;
    for (uint32_t i = world->moves_made - kept; i < world->moves_made && field != FIELD_GONE; i++) {
        const field_moves_t *moves = &world->moves[i % WORLD_MOVES];
        bool before = (int32_t)(moves->version - ref->expected) > 0;
        if (before && i > 0 && i + WORLD_MOVES == world->moves_made)
            field = FIELD_GONE; /* moves before this one are no longer in the ring, so where the field went is not
                                   known */
        else if (before && moves->manager == world->prototypes.keys[key].manager)
            field = moves->to[field];
    }
    ref->field = key << 8 | field;
    return field != FIELD_GONE;
}

void *store_ref(world_t *world, bp_ref_t *ref)
{
    const record_t *record = world_record(world, ref->entity);
    bool there = follow_moves(world, ref);
    uint32_t key = ref->field >> 8, field = ref->field & 0xff;
    ref->version = &world->never;
    ref->expected = world->ref_version;
    ref->value = NULL;
    if (!there || record == NULL || key >= world->prototypes.key_count ||
        (world->prototypes.keys[key].flags & KEY_OWN_STORAGE) != 0)
        return NULL;
    const manager_t *manager = world_key_manager(world, key);
    uint32_t column = prototypes_column(&world->prototypes, record->prototype, key);
    if (column == 0 || field >= manager->component->field_count)
        return NULL;
    run_t *run = world_run(world, record->prototype);
    ref->version = &run->version;
    ref->expected = run->version;
    ref->value = run_cell(run, column + field, record->row);
    return ref->value;
}

void *store_ref_write(world_t *world, bp_ref_t *ref)
{
    void *value = world->hold == WORLD_SEALED ? NULL : store_ref(world, ref);
    if (value == NULL)
        return NULL;
    const record_t *record = world_record(world, ref->entity);
    const run_t *run = world_run(world, record->prototype);
    if (run->stamps != NULL)
        stamps_note(run->stamps, prototypes_column(&world->prototypes, record->prototype, ref->field >> 8) +
                                     (ref->field & 0xff), record->row, 1);
    if (world->base->handing != NULL)
        world->base->handing->hands(world->base->handing->data, value);
    return value;
}
