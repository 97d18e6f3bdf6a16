/* migrants.c - entities that go from one rank to another, and what refers to them.
 *
 * An entity that leaves loses its components in the world that is split. Where fields of the host can refer to
 * entities, and where these may live in other worlds too, it stays as a stand-in, so that references to it stay good:
 * another rank is told of them by its durable number, and an entity that comes back is the stand-in again. Stand-ins
 * that nothing refers to are ended from time to time. When the entity dies where it is, all stand-ins for it die.
 *
 * Entities that arrive are made by commands of the first of the two systems. In the second one all of them are there,
 * so that their fields can refer to each other in any order of arrival.
 */
#include "split.h"

#include <stdlib.h>
#include <string.h>

enum { AHEAD = 8 }; /* entities ahead for which numbers are prefetched */

size_t split_begin_block(split_t *split, split_bytes *out, const split_kind *kind, const split_block *block)
{
    size_t at = out->size, text = kind == NULL ? 0 : strlen(kind->text) + 1;
    split_block head = *block;
    head.text_bytes = (uint32_t)split_filled(text);
    split_append_bytes(split, out, &head, sizeof head);
    if (kind != NULL)
        split_append_bytes(split, out, kind->text, text);
    return at;
}

void split_end_block(split_bytes *out, size_t at)
{
    uint64_t size = out->size - at;
    memcpy(out->at + at, &size, sizeof size);
}

bool split_next_block(split_t *split, split_reading *reading)
{
    while (reading->from + 1 < split->ranks && reading->at == split->in_at[reading->from + 1])
        reading->from++;
    if (reading->at >= split->in_at[split->ranks])
        return false;
    memcpy(&reading->block, split->in.at + reading->at, sizeof reading->block);
    reading->block_at = reading->at;
    reading->body = reading->at + sizeof reading->block + reading->block.text_bytes;
    reading->at += (size_t)reading->block.size;
    reading->kind = BP_NONE;
    if (reading->block.text_bytes > 0) {
        const split_kind *kind =
            split_kind_named(split, split->in.at + reading->block_at + sizeof reading->block);
        reading->kind = (uint32_t)(kind - split->kinds);
    }
    return true;
}

/* --- leaving ------------------------------------------------------------------------------------------------------ */

void split_pack_migrants(split_t *split, split_kind *kind, const bp_entity_t *entities, const uint32_t *rows,
                         uint32_t count, uint32_t to)
{
    split_bytes *out = &split->out[to];
    if (count == 0)
        return;
    size_t before = split_begin_block(split, out, kind, &(split_block){.what = SPLIT_MIGRANTS, .count = count});
    char *ids = split_append(split, out, count * sizeof(uint64_t));
    for (uint32_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            durable_expect_index(&split->durable, bp_entity_index(entities[rows[i + AHEAD]]));
        uint64_t id = split_number(split, entities[rows[i]]);
        memcpy(ids + i * sizeof id, &id, sizeof id);
    }
    double began = split_seconds();
    for (uint32_t c = 0; c < kind->column_count; c++)
        split_pack_rows(split, out, kind, &kind->columns[c], entities, rows, count);
    split->copying += split_seconds() - began;
    split_end_block(out, before);
    split->moved += out->size - before;
    split->migrated += out->size - before;
    split->left += count;
}

/* Commands that cannot be recorded have no sentence of the host's: memory is what they lack. */
static void recorded(split_t *split, bp_result_t result)
{
    if (result != BP_OK)
        split_fail(split, "out of memory for what goes from rank to rank");
}

void split_leave(split_t *split, bp_commands_o *commands, const split_kind *kind, const bp_entity_t *entities,
                 uint32_t count)
{
    const bp_command_api *command = split->system->api->command;
    if (!split->refers)
        recorded(split, command->destroy(commands, entities, count));
    for (uint32_t k = 0; k < kind->key_count && split->refers; k++)
        recorded(split, command->remove(commands, kind->keys[k], entities, count));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = bp_entity_index(entities[i]);
        if (i + AHEAD < count)
            durable_expect(&split->durable, durable_known(&split->durable, bp_entity_index(entities[i + AHEAD])));
        if (split->refers)
            split_know(split, index, split_number(split, entities[i]), true);
        else
            durable_forget(&split->durable, index);
    }
}

/* --- coming ------------------------------------------------------------------------------------------------------- */

static split_arrival *add_arrival(split_t *split, const split_reading *reading)
{
    if (split->arrival_count == split->arrival_room) {
        uint32_t room = split->arrival_room * 2 + 8;
        split_arrival *all = split_resize(split, split->arrivals, split->arrival_room * sizeof *all,
                                          room * sizeof *all);
        split->arrivals = all;
        split->arrival_room = room;
    }
    split_arrival *arrival = &split->arrivals[split->arrival_count++];
    *arrival = (split_arrival){.at = reading->body, .kind = reading->kind, .count = reading->block.count};
    arrival->first = split->arrived.size;
    split_append(split, &split->arrived, arrival->count * sizeof(bp_entity_t));
    return arrival;
}

/* The entities of an arrival; good until another one is added. */
static bp_entity_t *arrived(const split_t *split, const split_arrival *arrival)
{
    return (bp_entity_t *)(void *)(split->arrived.at + arrival->first);
}

static uint64_t id_at(const split_t *split, size_t at, uint32_t index)
{
    uint64_t id;
    memcpy(&id, split->in.at + at + (size_t)index * sizeof id, sizeof id);
    return id;
}

/* Add a component, or make entities: by commands in a step, at once between steps. */
static void add_key(split_t *split, bp_commands_o *commands, uint32_t key, const bp_entity_t *e)
{
    const bp_api_t *api = split->system->api;
    if (commands != NULL)
        recorded(split, api->command->add(commands, key, e, 1));
    else
        split_done(split, api->world->add(split->world, key, e, 1));
}

static void make_entities(split_t *split, bp_commands_o *commands, uint32_t prototype, bp_entity_t *made,
                          uint32_t count)
{
    const bp_api_t *api = split->system->api;
    if (commands != NULL && count > 0)
        recorded(split, api->command->create(commands, prototype, made, count));
    else if (count > 0)
        split_done(split, api->world->create(split->world, prototype, made, count));
}

/* Entities that have a stand-in are that; the others are made, together. The order is that of their block. */
static void make_arrival(split_t *split, split_arrival *arrival, bp_commands_o *commands)
{
    const split_kind *kind = &split->kinds[arrival->kind];
    bp_entity_t *entities = arrived(split, arrival);
    uint32_t made = 0;
    for (uint32_t i = 0; i < arrival->count; i++) {
        uint32_t index = split->refers ? durable_find(&split->durable, id_at(split, arrival->at, i)) : BP_NONE;
        bp_entity_t e = {0};
        if (index != BP_NONE)
            e = split->system->api->entity->at(split->system->host, index);
        entities[i] = e;
        made += e.id == 0;
        for (uint32_t k = 0; k < kind->key_count && e.id != 0; k++)
            add_key(split, commands, kind->keys[k], &e);
    }
    split->values.size = 0;
    bp_entity_t *coming = (bp_entity_t *)(void *)split_append(split, &split->values, (made + 1) * sizeof *coming);
    make_entities(split, commands, kind->prototype, coming, made);
    for (uint32_t i = 0; i < arrival->count; i++)
        if (entities[i].id == 0)
            entities[i] = *coming++;
    split->came += arrival->count;
}

static void bury(split_t *split, const split_reading *reading)
{
    for (uint32_t i = 0; i < reading->block.count; i++) {
        uint64_t id = id_at(split, reading->body, i);
        uint32_t index = durable_find(&split->durable, id);
        split_append_bytes(split, &split->buried, &id, sizeof id);
        if (index == BP_NONE || !durable_is_elsewhere(&split->durable, index))
            continue;
        split_end(split, split->system->api->entity->at(split->system->host, index));
    }
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

void split_receive_migrants(split_t *split, bp_commands_o *commands)
{
    split_reading reading = {0};
    split->arrival_count = 0;
    split->arrived.size = 0;
    while (split_next_block(split, &reading)) {
        if (reading.block.what == SPLIT_MIGRANTS)
            make_arrival(split, add_arrival(split, &reading), commands);
        if (reading.block.what == SPLIT_DEATHS)
            bury(split, &reading);
    }
    if (split->buried.size > 0)
        qsort(split->buried.at, split->buried.size / sizeof(uint64_t), sizeof(uint64_t), compare_ids);
}

static void settle_arrival(split_t *split, split_arrival *arrival)
{
    split_kind *kind = &split->kinds[arrival->kind];
    const char *at = split->in.at + arrival->at + (size_t)arrival->count * sizeof(uint64_t);
    double began = split_seconds();
    for (uint32_t c = 0; c < kind->column_count; c++) {
        split_column *column = &kind->columns[c];
        const void *cells = split_unpack_column(split, column, at, arrival->count);
        split_set(split, column, false, arrived(split, arrival), arrival->count, cells);
        at = split_skip_column(at);
    }
    split->copying += split_seconds() - began;
}

/* Those of an arrival that were made are there by now: their handles take the place of the placeholders. */
static void find_made(split_t *split, split_arrival *arrival)
{
    const bp_api_t *api = split->system->api;
    bp_entity_t *entities = arrived(split, arrival);
    split->values.size = 0;
    bp_entity_t *made = (bp_entity_t *)(void *)split_append(split, &split->values, arrival->count * sizeof *made);
    memset(made, 0, arrival->count * sizeof *made);
    if (arrival->count > 0)
        api->command->created(split->world, entities, arrival->count, made);
    for (uint32_t i = 0; i < arrival->count; i++)
        if (made[i].id != 0)
            entities[i] = made[i];
    if (api->entity->alive(split->system->host, entities, arrival->count, NULL) != arrival->count)
        split_fail(split, "what has come from another rank was not created");
}

/* First all get to be known by their numbers, then their values are set, some of which may refer to others. */
void split_settle_migrants(split_t *split)
{
    for (uint32_t a = 0; a < split->arrival_count; a++) {
        split_arrival *arrival = &split->arrivals[a];
        find_made(split, arrival);
        const bp_entity_t *entities = arrived(split, arrival);
        for (uint32_t i = 0; i < arrival->count; i++) {
            uint32_t index = bp_entity_index(entities[i]);
            if (i + AHEAD < arrival->count) {
                durable_expect_index(&split->durable, bp_entity_index(entities[i + AHEAD]));
                durable_expect(&split->durable, id_at(split, arrival->at, i + AHEAD));
            }
            split_know(split, index, id_at(split, arrival->at, i), false);
        }
    }
    for (uint32_t a = 0; a < split->arrival_count; a++)
        settle_arrival(split, &split->arrivals[a]);
    split->arrival_count = 0;
}

/* --- deaths ------------------------------------------------------------------------------------------------------- */

void split_died(bp_system_t *s, const bp_death_t *batch)
{
    split_t *split = s->state;
    for (uint32_t i = 0; i < batch->count && split->begun; i++) {
        uint32_t index = bp_entity_index(batch->entities[i]);
        uint64_t id = durable_known(&split->durable, index);
        bool told = id != 0 && split->refers && split->ranks > 1 && !durable_is_elsewhere(&split->durable, index);
        durable_forget(&split->durable, index);
        if (!told)
            continue;
        if (split->dead_count == split->dead_room) {
            uint32_t room = split->dead_room * 2 + 64;
            uint64_t *dead = split_resize(split, split->dead, split->dead_room * sizeof *dead, room * sizeof *dead);
            split->dead = dead;
            split->dead_room = room;
        }
        split->dead[split->dead_count++] = id;
    }
}

void split_pack_deaths(split_t *split)
{
    const split_block block = {.what = SPLIT_DEATHS, .count = split->dead_count};
    size_t size = split->dead_count * sizeof *split->dead;
    split->buried.size = 0;
    split_append_bytes(split, &split->buried, split->dead, size);
    for (uint32_t to = 0; to < split->ranks && split->dead_count > 0; to++) {
        if (to == split->rank)
            continue;
        size_t at = split_begin_block(split, &split->out[to], NULL, &block);
        split_append_bytes(split, &split->out[to], split->dead, size);
        split_end_block(&split->out[to], at);
    }
    split->dead_count = 0;
}

/* --- sweeping ----------------------------------------------------------------------------------------------------- */

static void mark(unsigned char *marked, uint32_t bound, const char *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bp_entity_t e;
        memcpy(&e, values + i * sizeof e, sizeof e);
        if (e.id != 0 && bp_entity_index(e) < bound)
            marked[bp_entity_index(e)] = 1;
    }
}

/* What `count` cells of a field refer to. */
static void mark_cells(const bp_field_t *field, const char *cells, uint32_t count, unsigned char *marked,
                       uint32_t bound)
{
    uint32_t each = field->count > 1 ? field->count : 1;
    if ((field->flags & BP_FIELD_LIST) == 0)
        mark(marked, bound, cells, (size_t)count * each);
    for (uint32_t i = 0; i < count && (field->flags & BP_FIELD_LIST) != 0; i++) {
        bp_list_t list;
        memcpy(&list, cells + (size_t)i * sizeof list, sizeof list);
        mark(marked, bound, list.items, list.count);
    }
}

/* A field of a component with storage of its own, or of the world's own entity: asked for one by one. */
static void mark_properties(split_t *split, bp_world_o *world, const char *name, const bp_field_t *field,
                            const bp_entity_t *entities, uint32_t count, unsigned char *marked, uint32_t bound)
{
    const bp_property_api *property = split->system->api->property;
    bp_property_t handle;
    for (uint32_t i = 0; i < count; i++) {
        if (entities[i].id == 0 || property->resolve(world, entities[i], name, field->name, &handle) != BP_OK)
            continue;
        split->cells.size = 0;
        char *cell = split_append(split, &split->cells, handle.size);
        if (property->get(world, &handle, &entities[i], 1, cell, handle.size) == BP_OK)
            mark_cells(field, cell, 1, marked, bound);
    }
}

static void mark_rows(split_t *split, bp_world_o *world, const bp_look_component_t *component,
                      const bp_look_prototype_t *rows, unsigned char *marked, uint32_t bound)
{
    bp_field_t field;
    for (uint32_t i = 0; split->system->api->property->describe(split->system->host, component->type, i, &field,
                                                                (uint32_t)sizeof field) == BP_OK; i++) {
        if (field.type != BP_ENTITY)
            continue;
        const char *cells = split->look->column(world, rows->prototype, component->key, i);
        if (cells != NULL)
            mark_cells(&field, cells, rows->row_count, marked, bound);
        else
            mark_properties(split, world, component->name, &field, rows->entities, rows->row_count, marked, bound);
    }
}

static void mark_world(split_t *split, bp_world_o *world, unsigned char *marked, uint32_t bound)
{
    bp_look_component_t component = {.struct_size = sizeof component};
    bp_look_prototype_t rows = {.struct_size = sizeof rows};
    bp_entity_t own = split->system->api->world->own(world);
    const bp_look_prototype_t single = {.prototype = BP_NONE, .entities = &own, .row_count = own.id != 0};
    for (uint32_t cursor = 0; split->look->component(world, &cursor, &component);) {
        for (uint32_t at = 0; split->look->prototype(world, &at, &rows);) {
            uint32_t keys[SPLIT_KEYS], count = split->look->keys(world, rows.prototype, keys, SPLIT_KEYS);
            bool has = false;
            for (uint32_t k = 0; k < count && k < SPLIT_KEYS; k++)
                has |= keys[k] == component.key;
            if (has)
                mark_rows(split, world, &component, &rows, marked, bound);
        }
        mark_rows(split, world, &component, &single, marked, bound);
    }
}

/* Has the entity components in a world other than the two? */
static bool lives_elsewhere(split_t *split, bp_entity_t entity)
{
    const bp_world_api *api = split->system->api->world;
    bp_world_o *world;
    for (uint32_t w = 0; (world = api->at(split->system->host, w)) != NULL; w++)
        if (world != split->world && world != split->halo && api->keys_of(world, entity, NULL, 0) > 0)
            return true;
    return false;
}

void split_sweep(split_t *split)
{
    const bp_api_t *api = split->system->api;
    uint32_t bound = api->entity->bound(split->system->host);
    unsigned char *marked = split_resize(split, NULL, 0, bound + 1);
    bp_world_o *world;
    memset(marked, 0, bound + 1);
    for (uint32_t w = 0; (world = api->world->at(split->system->host, w)) != NULL; w++)
        mark_world(split, world, marked, bound);
    for (uint32_t i = 0; i < bound; i++) {
        bp_entity_t e = {0};
        if (!marked[i] && durable_is_elsewhere(&split->durable, i))
            e = api->entity->at(split->system->host, i);
        if (e.id != 0 && api->world->keys_of(split->world, e, NULL, 0) == 0 &&
            api->world->keys_of(split->halo, e, NULL, 0) == 0 && !lives_elsewhere(split, e))
            split_end(split, e);
    }
    split_resize(split, marked, bound + 1, 0);
}
