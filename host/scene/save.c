/* save.c - writing a world's runs as the groups of a blob, column by column.
 *
 * The store keeps entities with the same components together, as a blob does: each run with living rows is a group, and
 * its columns are copied where they lie without holes. Values change their form in three types only: strings become
 * offsets, entities numbers, and the texts of names are listed.
 */
#include "save.h"

#include "save_plan.h"

/* --- groups, parts, components ------------------------------------------------------------------------------------ */

static size_t scratch_size(const save_t *s)
{
    size_t most = SAVE_SCRATCH;
    for (uint32_t m = 0; m < s->world->manager_count; m++) {
        const component_t *type = s->world->managers[m]->component;
        for (uint32_t f = 0; f < type->field_count; f++)
            most = type->fields[f].size > most ? type->fields[f].size : most;
    }
    return most;
}

static bool allocate(save_t *s)
{
    const world_t *world = s->world;
    uint64_t parts = 0;
    for (uint32_t i = 0; i < world->run_count; i++)
        parts += world->prototypes.items[world->runs[i]->prototype].key_count;
    s->prototype_count = world->prototypes.count;
    s->manager_count = world->manager_count;
    s->groups = memory_new(s->memory, (world->run_count + (size_t)1) * sizeof *s->groups);
    s->group_of = memory_new(s->memory, s->prototype_count * sizeof *s->group_of);
    s->component_of = memory_new(s->memory, (s->manager_count + (size_t)1) * sizeof *s->component_of);
    s->components = memory_new(s->memory, (s->manager_count + (size_t)1) * sizeof *s->components);
    s->part_room = (size_t)parts + 1;
    s->parts = parts >= UINT32_MAX ? NULL : memory_new(s->memory, s->part_room * sizeof *s->parts);
    s->by_component = parts >= UINT32_MAX ? NULL : memory_new(s->memory, s->part_room * sizeof *s->by_component);
    s->scratch_size = scratch_size(s);
    s->scratch = memory_new(s->memory, s->scratch_size);
    return s->groups != NULL && s->group_of != NULL && s->component_of != NULL && s->components != NULL &&
           s->parts != NULL && s->by_component != NULL && s->scratch != NULL;
}

static bool rank_rows(save_t *s, save_group_t *group)
{
    const run_t *run = group->run;
    if (run->holes == 0)
        return true;
    group->ranks = memory_resize(s->memory, NULL, 0, run->count * sizeof *group->ranks);
    if (group->ranks == NULL)
        return false;
    for (uint32_t row = 0, rank = 0; row < run->count; row++) {
        group->ranks[row] = rank;
        rank += run_entities(run)[row].id != 0;
    }
    return true;
}

static bool new_component(save_t *s, uint32_t manager)
{
    save_component_t *c = &s->components[s->component_count];
    s->component_of[manager] = s->component_count++;
    c->manager = s->world->managers[manager];
    uint32_t fields = c->manager->component->field_count;
    c->fates = memory_new(s->memory, fields + (size_t)1);
    c->blob_fields = memory_new(s->memory, (fields + (size_t)1) * sizeof *c->blob_fields);
    c->items = memory_new(s->memory, (fields + (size_t)1) * sizeof *c->items);
    c->descs = memory_new(s->memory, (fields + (size_t)1) * sizeof *c->descs);
    return c->fates != NULL && c->blob_fields != NULL && c->items != NULL && c->descs != NULL;
}

/* The parts of a group in the canonical order of its prototype's keys. */
static bool add_parts(save_t *s, uint32_t g)
{
    const prototypes_t *p = &s->world->prototypes;
    save_group_t *group = &s->groups[g];
    uint32_t prototype = group->run->prototype, count = p->items[prototype].key_count, at = s->part_count + count;
    group->first_part = s->part_count;
    group->part_count = count;
    s->part_count += count;
    for (uint32_t i = prototype; i != 0; i = p->items[i].base) {
        uint32_t manager = p->keys[p->items[i].key].manager;
        if (s->component_of[manager] == BP_NONE && !new_component(s, manager))
            return false;
        s->parts[--at] = (save_part_t){.group = g,
                                       .component = s->component_of[manager],
                                       .column = p->items[p->items[i].base].columns};
    }
    for (uint32_t i = 0; i < count; i++) {
        save_part_t *part = &s->parts[group->first_part + i];
        save_component_t *c = &s->components[part->component];
        part->first = c->instances;
        c->instances += group->rows;
        c->part_count++;
    }
    return true;
}

static void list_parts(save_t *s)
{
    uint32_t at = 0;
    for (uint32_t c = 0; c < s->component_count; c++) {
        s->components[c].first_part = at;
        at += s->components[c].part_count;
        s->components[c].part_count = 0;
    }
    for (uint32_t p = 0; p < s->part_count; p++) {
        save_component_t *c = &s->components[s->parts[p].component];
        s->by_component[c->first_part + c->part_count++] = p;
    }
}

static bp_result_t plan_groups(save_t *s)
{
    world_t *world = s->world;
    if (!allocate(s))
        return error_memory(&world->base->error, "saving a world");
    memset(s->group_of, 0xff, s->prototype_count * sizeof *s->group_of);
    memset(s->component_of, 0xff, s->manager_count * sizeof *s->component_of);
    for (uint32_t i = 0; i < world->run_count; i++) {
        const run_t *run = world->runs[i];
        if (run->count == run->holes)
            continue;
        save_group_t *group = &s->groups[s->group_count];
        *group = (save_group_t){.run = run, .first_entity = s->rows, .rows = run->count - run->holes};
        s->group_of[run->prototype] = s->group_count++;
        s->rows += group->rows;
        if (!rank_rows(s, group) || !add_parts(s, s->group_count - 1))
            return error_memory(&world->base->error, "saving a world");
    }
    list_parts(s);
    return BP_OK;
}

/* --- the description of the blob ---------------------------------------------------------------------------------- */

static blob_component_desc_t describe_component(const save_component_t *c)
{
    const component_t *type = c->manager->component;
    return (blob_component_desc_t){.type = type->name,
                                   .version = type->table.version,
                                   .flags = (type->table.flags & BP_COMPONENT_WORLD) != 0 ? BLOB_WORLD : 0u,
                                   .fields = c->descs,
                                   .field_count = c->desc_count};
}

static void describe_group(const save_t *s, const save_group_t *group, blob_part_desc_t *parts)
{
    const prototypes_t *p = &s->world->prototypes;
    uint32_t at = group->part_count;
    for (uint32_t i = group->run->prototype; i != 0; i = p->items[i].base) {
        bp_name_t name = p->keys[p->items[i].key].name;
        at--;
        parts[at] = (blob_part_desc_t){.component = s->parts[group->first_part + at].component, .name = name};
    }
}

static bp_result_t begin(save_t *s, blob_component_desc_t *components, blob_group_desc_t *groups,
                         blob_part_desc_t *parts)
{
    world_t *world = s->world;
    for (uint32_t c = 0; c < s->component_count; c++)
        components[c] = describe_component(&s->components[c]);
    for (uint32_t g = 0; g < s->group_count; g++) {
        const save_group_t *group = &s->groups[g];
        describe_group(s, group, parts + group->first_part);
        groups[g] = (blob_group_desc_t){parts + group->first_part, group->part_count, group->rows};
    }
    groups[s->group_count] = (blob_group_desc_t){.rows = s->extra_count};
    const blob_desc_t desc = {
        .components = components,
        .groups = groups,
        .component_count = s->component_count,
        .group_count = s->group_count + (s->extra_count > 0),
        .parents = s->has_parents,
        .clock = true,
        .steps = s->clock->steps,
        .time = s->clock->time,
        .step_rate = s->clock->step_rate,
    };
    return blob_write_begin(&s->writer, s->memory, &desc, &world->base->error);
}

static bp_result_t lay_out(save_t *s)
{
    size_t component_size = (s->component_count + (size_t)1) * sizeof(blob_component_desc_t);
    size_t group_size = (s->group_count + (size_t)1) * sizeof(blob_group_desc_t);
    size_t part_size = (s->part_count + (size_t)1) * sizeof(blob_part_desc_t);
    blob_component_desc_t *components = memory_new(s->memory, component_size);
    blob_group_desc_t *groups = memory_new(s->memory, group_size);
    blob_part_desc_t *parts = memory_new(s->memory, part_size);
    bool good = components != NULL && groups != NULL && parts != NULL;
    bp_result_t result =
        good ? begin(s, components, groups, parts) : error_memory(&s->world->base->error, "saving a world");
    memory_free(s->memory, components, component_size);
    memory_free(s->memory, groups, group_size);
    memory_free(s->memory, parts, part_size);
    return result;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

typedef struct fill_t {
    unsigned char *column;
    uint64_t *starts;      /* of lists, and where their values go ... */
    unsigned char *items;
    uint64_t at;           /* ... and how many there are so far */
    bp_result_t result;
    bool one;              /* only the first */
    bp_name_t listed[64];  /* names whose texts are listed, by their low bits */
} fill_t;

static bool fill_numbers(save_t *s, uint32_t *to, const save_values_t *values)
{
    const bp_entity_t *targets = values->values;
    for (uint32_t i = 0; i < values->count; i++)
        to[i] = save_number(s, targets[i]);
    return true;
}

static bp_result_t list_name(save_t *s, bp_name_t name, fill_t *fill)
{
    bp_name_t *listed = fill == NULL ? NULL : &fill->listed[name % (sizeof fill->listed / sizeof fill->listed[0])];
    if (name == 0 || (listed != NULL && *listed == name))
        return BP_OK;
    if (listed != NULL)
        *listed = name;
    const char *text = names_text(&s->world->base->names, name);
    bp_name_t same;
    if (names_hash(text) != name) /* the name's text is not known */
        return BP_OK;
    return blob_name(&s->writer, text, &same, &s->world->base->error);
}

static bool fill_names(save_t *s, bp_name_t *to, const save_values_t *values, fill_t *fill)
{
    const bp_name_t *names = values->values;
    for (uint32_t i = 0; i < values->count && fill->result == BP_OK; i++) {
        to[i] = names[i];
        fill->result = list_name(s, names[i], fill);
    }
    return fill->result == BP_OK;
}

/* Values one after another, in the blob's form. */
static bool fill_items(save_t *s, const field_t *field, void *to, const save_values_t *some, fill_t *fill)
{
    if (field->type == BP_ENTITY)
        return fill_numbers(s, to, some);
    if (field->type == BP_NAME)
        return fill_names(s, to, some, fill);
    if (field->type == BP_STRING)
        return (fill->result = blob_strings(&s->writer, some->values, some->count, to, &s->world->base->error)) ==
               BP_OK;
    if (some->count > 0)
        memcpy(to, some->values, (size_t)some->count * field_item_size(field));
    return true;
}

/* Cells with several values each. */
static bool fill_cells(save_t *s, const field_t *field, const save_values_t *values, fill_t *fill)
{
    uint32_t size = blob_value_size(field->type), count = fill->one ? 1 : values->count;
    bool more = true;
    for (uint32_t i = 0; i < count && more; i++) {
        save_values_t some = *values;
        unsigned char *to = fill->column + (fill->one ? 0 : ((size_t)values->instance + i) * field->elements * size);
        some.values = field_items(field, (const char *)values->values + (size_t)i * field->size, &some.count);
        if (field_is_list(field)) {
            fill->starts[values->instance + i] = fill->at;
            to = fill->items + fill->at * size;
            fill->at += some.count;
        }
        more = fill_items(s, field, to, &some, fill);
    }
    return more && !fill->one;
}

static bool fill_values(save_t *s, const field_t *field, const save_values_t *values, void *context)
{
    fill_t *fill = context;
    save_values_t some = *values;
    if (!field_is_single(field))
        return fill_cells(s, field, values, fill);
    if (fill->one)
        some.count = some.count > 1 ? 1 : some.count;
    void *to = fill->column + (fill->one ? 0 : (size_t)values->instance * blob_value_size(field->type));
    return fill_items(s, field, to, &some, fill) && !fill->one;
}

static bp_result_t fill_field(save_t *s, uint32_t number, uint32_t f)
{
    const save_component_t *c = &s->components[number];
    const field_t *field = &c->manager->component->fields[f];
    fill_t fill = {.column = blob_column(&s->writer, number, c->blob_fields[f]), .one = c->fates[f] == SAVE_ONE};
    bool as_it_is = !fill.one && field->type != BP_ENTITY && field->type != BP_NAME && field->type != BP_STRING &&
                    !field_is_list(field);
    if (field_is_list(field) && fill.one)
        return BP_OK; /* all lists are empty */
    if (field_is_list(field)) {
        fill.starts = blob_column(&s->writer, number, c->blob_fields[f]);
        fill.items = blob_column_items(&s->writer, number, c->blob_fields[f]);
    }
    bp_result_t result = save_walk(s, c, f, as_it_is ? fill.column : NULL, fill_values, &fill);
    if (fill.starts != NULL)
        fill.starts[c->instances] = fill.at;
    return result != BP_OK ? result : fill.result;
}

static bp_result_t fill_component(save_t *s, uint32_t number)
{
    const save_component_t *c = &s->components[number];
    bp_result_t result = BP_OK;
    for (uint32_t f = 0; f < c->manager->component->field_count && result == BP_OK; f++) {
        if (c->fates[f] != SAVE_NOT)
            result = fill_field(s, number, f);
    }
    return result;
}

/* The texts of instance names. */
static bp_result_t list_instances(save_t *s)
{
    const prototypes_t *p = &s->world->prototypes;
    bp_result_t result = BP_OK;
    for (uint32_t g = 0; g < s->group_count; g++) {
        for (uint32_t i = s->groups[g].run->prototype; i != 0 && result == BP_OK; i = p->items[i].base)
            result = list_name(s, p->keys[p->items[i].key].name, NULL);
    }
    return result;
}

/* Write all values into the blob that has been begun. */
static bp_result_t write_values(save_t *s)
{
    bp_result_t result = list_instances(s);
    for (uint32_t i = 0; i < s->component_count && result == BP_OK; i++)
        result = fill_component(s, i);
    uint32_t *parents = blob_parents(&s->writer);
    if (parents != NULL)
        memcpy(parents, s->parents, ((size_t)s->rows + s->extra_count) * sizeof *parents);
    return result;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static void free_component(save_t *s, save_component_t *c)
{
    uint32_t fields = c->manager->component->field_count;
    memory_free(s->memory, c->fates, fields + (size_t)1);
    memory_free(s->memory, c->blob_fields, (fields + (size_t)1) * sizeof *c->blob_fields);
    memory_free(s->memory, c->items, (fields + (size_t)1) * sizeof *c->items);
    memory_free(s->memory, c->descs, (fields + (size_t)1) * sizeof *c->descs);
}

static void free_save(save_t *s)
{
    memory_t *memory = s->memory;
    for (uint32_t i = 0; i < s->component_count; i++)
        free_component(s, &s->components[i]);
    for (uint32_t g = 0; g < s->group_count; g++)
        memory_free(memory, s->groups[g].ranks, s->groups[g].run->count * sizeof(uint32_t));
    memory_free(memory, s->groups, (s->world->run_count + (size_t)1) * sizeof *s->groups);
    memory_free(memory, s->group_of, s->prototype_count * sizeof *s->group_of);
    memory_free(memory, s->component_of, (s->manager_count + (size_t)1) * sizeof *s->component_of);
    memory_free(memory, s->components, (s->manager_count + (size_t)1) * sizeof *s->components);
    memory_free(memory, s->parts, s->part_room * sizeof *s->parts);
    memory_free(memory, s->by_component, s->part_room * sizeof *s->by_component);
    memory_free(memory, s->scratch, s->scratch_size);
    memory_free(memory, s->extras, s->extra_capacity * sizeof *s->extras);
    memory_free(memory, s->extra_slots, s->extra_slot_count * sizeof *s->extra_slots);
    memory_free(memory, s->parents, ((size_t)s->rows + s->extra_count + 1) * sizeof *s->parents);
}

static bp_result_t list_entities(const save_t *s, bp_entity_t **entities, uint32_t *count)
{
    uint32_t at = 0;
    *count = s->rows + s->extra_count;
    *entities = memory_resize(s->memory, NULL, 0, (*count + (size_t)1) * sizeof **entities);
    if (*entities == NULL)
        return error_memory(&s->world->base->error, "saving a world");
    for (uint32_t g = 0; g < s->group_count; g++) {
        const run_t *run = s->groups[g].run;
        for (uint32_t row = 0; row < run->count; row++) {
            if (run_entities(run)[row].id != 0)
                (*entities)[at++] = run_entities(run)[row];
        }
    }
    if (s->extra_count > 0)
        memcpy(*entities + at, s->extras, s->extra_count * sizeof **entities);
    return BP_OK;
}

bp_result_t save_world(world_t *world, const world_clock_t *clock, memory_t *memory, void **bytes, size_t *size)
{
    return save_world_listed(world, clock, memory, bytes, size, NULL, NULL);
}

bp_result_t save_world_listed(world_t *world, const world_clock_t *clock, memory_t *memory, void **bytes, size_t *size,
                              bp_entity_t **entities, uint32_t *entity_count)
{
    save_t s = {.world = world, .clock = clock, .memory = memory};
    bp_result_t result = plan_groups(&s);
    if (result == BP_OK)
        result = save_plan_fields(&s);
    if (result == BP_OK)
        result = lay_out(&s);
    if (result == BP_OK) {
        result = write_values(&s);
        if (result == BP_OK)
            result = blob_write_end(&s.writer, bytes, size, &world->base->error);
        else
            blob_write_drop(&s.writer);
    }
    if (result == BP_OK && entities != NULL && (result = list_entities(&s, entities, entity_count)) != BP_OK)
        memory_free(memory, *bytes, *size);
    free_save(&s);
    return result;
}
