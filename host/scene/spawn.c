/* spawn.c - carrying a plan out, and taking it back.
 *
 * Rows come first, since they only use memory that has been taken already; declared fields are copied column by column
 * from where they lie in the blob. Then managers with storage of their own are called, each with whole parts: the
 * larger the batch, the better they can use it. Strings are counted in the host's pool; as equal texts of a blob are
 * one offset, a small cache saves most look-ups.
 *
 * Invariant for taking back: once rows are appended, every column of them is filled, with something that can be
 * released; a string that could not be had is the empty one. Parts whose instances exist are marked, and only those are
 * ended.
 */
#include "spawn.h"

#include "../plugin/verbs.h"
#include "../store/hooks.h"
#include "../store/own.h"
#include "spawn_plan.h"

#include <inttypes.h>

enum { TEXTS_CACHED = 256 };

typedef struct spawn_t {
    spawn_plan_t plan;
    char *scratch;        /* texts and repeated values for one part of own storage */
    size_t scratch_size;
    uint32_t *slots;      /* for the largest type of own storage */
    bp_entity_t *targets; /* likewise: the entities that its instances refer to */
    bool out_of_memory;
    bp_entity_t *made;    /* those that did not live already; NULL where none did */
    uint32_t made_count;
    bp_entity_t stand_in; /* its row holds the values for the world itself until the spawn has succeeded; {0}: none */
    bool has_texts;       /* from here on nothing is set before the first text is asked for */
    struct {
        uint32_t offset; /* 0: none */
        const char *string;
    } texts[TEXTS_CACHED];
} spawn_t;

/* --- declared fields: into the columns of runs -------------------------------------------------------------------- */

/* The shared string of a text of the blob, counted. Where there is no memory, the empty string, and the lack is noted
 * in `out_of_memory`. */
static const char *acquire(spawn_t *s, uint32_t offset)
{
    uint32_t at = (offset * 0x9E3779B9u) >> 24;
    if (!s->has_texts)
        memset(s->texts, 0, sizeof s->texts);
    s->has_texts = true;
    if (offset != 0 && s->texts[at].offset == offset) {
        strings_retain(s->texts[at].string, 1);
        return s->texts[at].string;
    }
    const char *string = strings_acquire(&s->plan.world->base->strings, blob_text(s->plan.blob, offset));
    if (string == NULL) {
        s->out_of_memory = true;
        return strings_empty;
    }
    s->texts[at].offset = offset;
    s->texts[at].string = string;
    return string;
}

static void fill_strings(spawn_t *s, const char **cells, const uint32_t *offsets, bool one, uint32_t count)
{
    if (one && count > 0) {
        const char *string = acquire(s, offsets[0]);
        strings_retain(string, count - 1);
        for (uint32_t i = 0; i < count; i++)
            cells[i] = string;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        cells[i] = acquire(s, offsets[i]);
}

static inline bp_entity_t entity_of(const spawn_plan_t *plan, uint32_t number)
{
    return number == 0 ? (bp_entity_t){0} : plan->entities[number - 1];
}

/* The numbers + 1 that a field of entities has for a part, and how far apart they lie. */
static const uint32_t *numbers_of(const spawn_plan_t *plan, const plan_part_t *part, const source_t *source,
                                  uint32_t *step)
{
    *step = source->kind == SOURCE_ONE ? 0 : 1;
    if (source->kind == SOURCE_PARENTS)
        return plan->blob->parents + plan_group(plan, part)->first_entity;
    const uint32_t *numbers = source->values;
    return source->kind == SOURCE_ONE ? numbers : numbers + plan_blob_part(plan, part)->first_instance;
}

static void fill_entities(const spawn_plan_t *plan, const plan_part_t *part, const source_t *source, bp_entity_t *cells,
                          uint32_t count)
{
    uint32_t step;
    const uint32_t *numbers = numbers_of(plan, part, source, &step);
    for (uint32_t i = 0; i < count; i++)
        cells[i] = entity_of(plan, numbers[(size_t)i * step]);
}

/* --- cells of arrays and lists ------------------------------------------------------------------------------------ */

/* Values of a blob as a cell has them, one after another, up to `most`. */
static void translate(spawn_t *s, const field_t *field, const char *items, uint32_t count, void *to)
{
    const uint32_t *numbers = (const uint32_t *)(const void *)items;
    for (uint32_t i = 0; i < count && field->type == BP_STRING; i++)
        ((const char **)to)[i] = acquire(s, numbers[i]);
    for (uint32_t i = 0; i < count && field->type == BP_ENTITY; i++)
        ((bp_entity_t *)to)[i] = entity_of(&s->plan, numbers[i]);
    if (count > 0 && field->type != BP_STRING && field->type != BP_ENTITY)
        memcpy(to, items, (size_t)count * field_item_size(field));
}

/* Fill a cell that is a list; where memory is lacking the list stays empty, and the lack is noted in
 * `out_of_memory`. */
static void fill_list(spawn_t *s, const field_t *field, const char *items, uint32_t count, bp_list_t *cell)
{
    *cell = (bp_list_t){NULL, 0, 0};
    if (count == 0)
        return;
    if (!lists_reserve(&s->plan.world->lists, cell, field_item_size(field), count)) {
        s->out_of_memory = true;
        return;
    }
    translate(s, field, items, count, cell->items);
    cell->count = count;
}

/* Fill a cell that is an array: `count` values from `items`, and defaults for the elements that are left. */
static void fill_array(spawn_t *s, const field_t *field, const char *items, uint32_t count, char *cell)
{
    uint32_t size = field_item_size(field), room = field->elements > 0 ? field->elements : 1;
    count = count < room ? count : room;
    translate(s, field, items, count, cell);
    for (uint32_t i = count; i < room; i++) {
        const char *text;
        memcpy(cell + (size_t)i * size, field_initial(field, i), size);
        if (field->type != BP_STRING)
            continue;
        memcpy(&text, field_initial(field, i), sizeof text);
        strings_retain(text, 1);
    }
}

static void fill_cells(spawn_t *s, const field_t *field, const source_t *source, uint32_t first, char *cells,
                       uint32_t count)
{
    uint32_t size = blob_value_size(field->type), items;
    for (uint32_t i = 0; i < count; i++) {
        const char *values = source_items(source, source->kind == SOURCE_ONE ? 0 : first + i, size, &items);
        char *cell = cells + (size_t)i * field->size;
        if (field_is_list(field))
            fill_list(s, field, values, items, (bp_list_t *)(void *)cell);
        else
            fill_array(s, field, values, items, cell);
    }
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

static void fill_column(spawn_t *s, const plan_part_t *part, const field_t *field, const source_t *source, run_t *run,
                        uint32_t column)
{
    const store_batch_t *batch = &s->plan.batches[part->group];
    uint32_t first = plan_blob_part(&s->plan, part)->first_instance, row = batch->first_row, count = batch->count;
    void *cells = run_cell(run, column, row);
    bool one = source->kind == SOURCE_ONE;
    if (source->kind == SOURCE_DEFAULT)
        run_fill(run, column, column + 1, row, count);
    else if (source->kind != SOURCE_PARENTS && (!field_is_single(field) || source->starts != NULL || source->each != 1))
        fill_cells(s, field, source, first, cells, count);
    else if (field->type == BP_STRING)
        fill_strings(s, cells, (const uint32_t *)source->values + (one ? 0 : first), one, count);
    else if (field->type == BP_ENTITY)
        fill_entities(&s->plan, part, source, cells, count);
    else if (one)
        run_fill_with(run, column, row, count, source->values);
    else
        memcpy(cells, (const char *)source->values + (size_t)first * field->size, (size_t)count * field->size);
}

static void fill_part(spawn_t *s, uint32_t p, run_t *run)
{
    const plan_part_t *part = &s->plan.parts[p];
    const plan_component_t *component = &s->plan.components[s->plan.blob->parts[p].component];
    if (part->key == BP_NONE)
        return;
    const component_t *type = component->manager->component;
    const store_batch_t *batch = &s->plan.batches[part->group];
    uint32_t visible = type->own_storage ? 1 : type->field_count, columns = component->manager->column_count;
    if (type->own_storage) /* no slot yet */
        run_fill_with(run, part->column, batch->first_row, batch->count, &(uint32_t){BP_NONE});
    for (uint32_t f = 0; f < type->field_count && !type->own_storage; f++)
        fill_column(s, part, &type->fields[f], &component->sources[f], run, part->column + f);
    if (columns > visible) /* hidden ones, of fields or, while a probation lasts, of the version before */
        run_fill(run, part->column + visible, part->column + columns, batch->first_row, batch->count);
}

/* The entities of a group: the values of the group are put into their rows. */
static const bp_entity_t *entities_of(const spawn_t *s, uint32_t g)
{
    return g == s->plan.own_group ? &s->stand_in : s->plan.entities + s->plan.blob->groups[g].first_entity;
}

static void append_groups(spawn_t *s)
{
    for (uint32_t g = 0; g < s->plan.blob->info->group_count; g++) {
        const blob_group_t *group = &s->plan.blob->groups[g];
        store_batch_t *batch = &s->plan.batches[g];
        store_append(s->plan.world, batch, entities_of(s, g));
        for (uint32_t p = 0; batch->count > 0 && p < group->part_count; p++)
            fill_part(s, group->first_part + p, world_run(s->plan.world, batch->prototype));
    }
}

/* --- declared components that are told of rows ------------------------------------------------------------------- */

static bp_result_t tell_part(spawn_t *s, plan_part_t *part, const plan_component_t *component)
{
    const store_batch_t *batch = &s->plan.batches[part->group];
    if (part->key == BP_NONE || batch->count == 0 || component->manager->component->rows.rows_added == NULL)
        return BP_OK;
    run_t *run = world_run(s->plan.world, batch->prototype);
    bp_result_t result = hooks_added(s->plan.world, part->key, run, batch->first_row, batch->count);
    part->told = result == BP_OK;
    return result == BP_OK ? BP_OK : error_prefix(&s->plan.world->base->error, result, "%s: ", s->plan.origin);
}

static bp_result_t tell_rows(spawn_t *s)
{
    bp_result_t result = BP_OK;
    for (uint32_t p = 0; p < s->plan.blob->info->part_count && result == BP_OK; p++)
        result = tell_part(s, &s->plan.parts[p], &s->plan.components[s->plan.blob->parts[p].component]);
    return result;
}

static void untell_rows(spawn_t *s)
{
    for (uint32_t p = s->plan.blob->info->part_count; p > 0; p--) {
        const plan_part_t *part = &s->plan.parts[p - 1];
        const store_batch_t *batch = &s->plan.batches[part->group];
        if (part->told)
            hooks_removed(s->plan.world, part->key, world_run(s->plan.world, batch->prototype), batch->first_row,
                          batch->count);
    }
}

/* --- own storage: managers ---------------------------------------------------------------------------------------- */

static uint32_t *slots_of(const spawn_t *s, const plan_part_t *part)
{
    const store_batch_t *batch = &s->plan.batches[part->group];
    return run_cell(world_run(s->plan.world, batch->prototype), part->column, batch->first_row);
}

/* Have the cells of a source as many values as those of the field, which are numbers? */
static bool is_alike(const field_t *field, const source_t *source)
{
    return source->starts == NULL && source->each == (field->elements > 0 ? field->elements : 1);
}

/* Bytes of scratch that creating a part takes. */
static size_t scratch_for(const plan_component_t *component, uint32_t rows)
{
    size_t bytes = 0;
    for (uint32_t f = 0; f < component->manager->component->field_count; f++) {
        const field_t *field = &component->manager->component->fields[f];
        bool pointers = field->type == BP_STRING, repeated = component->sources[f].kind == SOURCE_ONE;
        if (pointers || repeated || !is_alike(field, &component->sources[f]))
            bytes += (size_t)blob_align((uint64_t)rows * field->size, BLOB_ALIGN_SMALL);
    }
    return bytes;
}

/* The values of a field for one part, packed, as the contract has them; NULL where they are the default or refer to
   entities. */
static const void *part_values(spawn_t *s, const plan_part_t *part, const field_t *field, const source_t *source,
                               char **scratch)
{
    uint32_t rows = plan_group(&s->plan, part)->rows, first = plan_blob_part(&s->plan, part)->first_instance;
    bool one = source->kind == SOURCE_ONE;
    if (source->kind == SOURCE_DEFAULT || field->type == BP_ENTITY)
        return NULL;
    if (!one && field->type != BP_STRING && is_alike(field, source))
        return (const char *)source->values + (size_t)first * field->size;
    char *values = *scratch;
    *scratch += blob_align((uint64_t)rows * field->size, BLOB_ALIGN_SMALL);
    if (!is_alike(field, source)) {
        fill_cells(s, field, source, first, values, rows);
        return values;
    }
    if (field->type == BP_STRING) {
        const uint32_t *offsets = source->values;
        const char **texts = (const char **)(void *)values;
        for (uint32_t i = 0; i < rows; i++)
            texts[i] = blob_text(s->plan.blob, offsets[one ? 0 : first + i]);
        return values;
    }
    for (uint32_t i = 0; i < rows; i++)
        value_copy(values + (size_t)i * field->size, source->values, field->size);
    return values;
}

/* The name by which people know an entity of the blob: the value of a field that is flagged as a label; "" where the
 * entity has no such field. */
static const char *label_of(const spawn_t *s, uint32_t group, uint32_t row)
{
    const blob_group_t *g = &s->plan.blob->groups[group];
    for (uint32_t p = g->first_part; p < g->first_part + g->part_count; p++) {
        const blob_part_t *part = &s->plan.blob->parts[p];
        const plan_component_t *component = &s->plan.components[part->component];
        uint32_t fields = component->manager == NULL ? 0 : component->manager->component->field_count;
        for (uint32_t f = 0; f < fields; f++) {
            const field_t *field = &component->manager->component->fields[f];
            const source_t *source = &component->sources[f];
            if ((field->flags & BP_FIELD_LABEL) == 0 || source->kind == SOURCE_DEFAULT || source->starts != NULL)
                continue;
            const uint32_t *offsets = source->values;
            return blob_text(s->plan.blob, offsets[source->kind == SOURCE_ONE ? 0 : part->first_instance + row]);
        }
    }
    return "";
}

/* A batch has been refused, and not for want of memory: find the row that is at fault. Each row is tried alone, up to
 * the first that is refused again; returns its number, with its sentence as the error. BP_NONE where there is none. */
static uint32_t find_refused(spawn_t *s, const plan_part_t *part, manager_t *manager, const bp_entity_t *entities,
                             const void *const *columns)
{
    const component_t *type = manager->component;
    bp_name_t name = plan_blob_part(&s->plan, part)->name;
    uint32_t rows = plan_group(&s->plan, part)->rows;
    for (uint32_t row = 0; row < rows && !plugin_is_aside(type->owner); row++) {
        const void *cells[REGISTRY_MAX_FIELDS + 1];
        uint32_t slot = BP_NONE;
        for (uint32_t f = 0; f < type->field_count; f++)
            cells[f] = columns[f] == NULL ? NULL : (const char *)columns[f] + (size_t)row * type->fields[f].size;
        if (verb_create(type, &manager->verb, name, entities + row, 1, cells, &slot) != BP_OK)
            return row;
        store_destroy_slots(s->plan.world, manager, &slot, 1);
    }
    return BP_NONE;
}

static bp_result_t refuse_instances(spawn_t *s, const plan_part_t *part, manager_t *manager,
                                    const bp_entity_t *entities, const void *const *columns, bp_result_t result)
{
    error_text_t *error = &s->plan.world->base->error, kept = *error;
    uint32_t row = plan_group(&s->plan, part)->rows > 1 && result != BP_ERROR_MEMORY
                       ? find_refused(s, part, manager, entities, columns)
                       : 0;
    if (row == BP_NONE || error->text[0] == '\0')
        *error = kept;
    if (error->text[0] == '\0')
        error_set(error, result, "it gave no reason (code %d)", result);
    const char *type = manager->component->name;
    size_t length = strlen(type);
    if (strncmp(error->text, type, length) != 0 || error->text[length] != ':') /* it may begin so already */
        error_prefix(error, result, "%s: ", type);
    if (row == BP_NONE || result == BP_ERROR_MEMORY)
        return result;
    const char *label = label_of(s, part->group, row);
    if (label[0] != '\0')
        return error_prefix(error, result, "entity '%.63s': ", label);
    return error_prefix(error, result, "entity %u: ", plan_group(&s->plan, part)->first_entity + row);
}

static bp_result_t create_instances_of(spawn_t *s, plan_part_t *part, const plan_component_t *component,
                                       const bp_entity_t *entities)
{
    const void *columns[REGISTRY_MAX_FIELDS + 1];
    manager_t *manager = component->manager;
    const component_t *type = manager->component;
    char *scratch = s->scratch;
    for (uint32_t f = 0; f < type->field_count; f++)
        columns[f] = part_values(s, part, &type->fields[f], &component->sources[f], &scratch);
    bp_result_t result = verb_create(type, &manager->verb, plan_blob_part(&s->plan, part)->name, entities,
                                     plan_group(&s->plan, part)->rows, columns, slots_of(s, part));
    part->created = result == BP_OK;
    if (result != BP_OK)
        return refuse_instances(s, part, manager, entities, columns, result);
    world_note_slots(s->plan.world, manager, slots_of(s, part), plan_group(&s->plan, part)->rows);
    return BP_OK;
}

static bp_result_t create_part(spawn_t *s, uint32_t c, uint32_t p)
{
    plan_part_t *part = &s->plan.parts[p];
    const plan_component_t *component = &s->plan.components[c];
    const blob_group_t *group = plan_group(&s->plan, part);
    const bp_entity_t *entities = s->plan.entities + group->first_entity;
    if (part->key == BP_NONE || group->rows == 0)
        return BP_OK;
    error_text_t *error = &s->plan.world->base->error;
    error->text[0] = '\0';
    bp_result_t result = create_instances_of(s, part, component, entities);
    return result == BP_OK ? BP_OK : error_prefix(error, result, "%s: ", s->plan.origin);
}

static bool is_called(const spawn_plan_t *plan, uint32_t c)
{
    const manager_t *manager = plan->components[c].manager;
    return manager != NULL && manager->component->own_storage;
}

static bp_result_t create_instances(spawn_t *s)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->plan.blob->info->component_count && result == BP_OK; i++) {
        uint32_t c = s->plan.order[i];
        const plan_component_t *component = &s->plan.components[c];
        for (uint32_t p = 0; is_called(&s->plan, c) && p < component->part_count && result == BP_OK; p++)
            result = create_part(s, c, s->plan.by_component[component->first_part + p]);
    }
    return result;
}

/* --- own storage: references, when all entities exist
 * --------------------------------------------------------------- */

/* Gather slots and targets of all instances that refer to an entity; with `all`, which is set where "no entity" is not
 * the default, of every instance. */
static uint32_t gather_references(spawn_t *s, const plan_component_t *component, const source_t *source, bool all)
{
    uint32_t found = 0;
    for (uint32_t p = 0; p < component->part_count; p++) {
        const plan_part_t *part = &s->plan.parts[s->plan.by_component[component->first_part + p]];
        if (part->key == BP_NONE || plan_group(&s->plan, part)->rows == 0)
            continue;
        uint32_t step;
        const uint32_t *numbers = numbers_of(&s->plan, part, source, &step), *slots = slots_of(s, part);
        for (uint32_t i = 0; i < plan_group(&s->plan, part)->rows; i++) {
            uint32_t number = numbers[(size_t)i * step];
            if (number == 0 && !all)
                continue;
            s->slots[found] = slots[i];
            s->targets[found++] = entity_of(&s->plan, number);
        }
    }
    return found;
}

static bp_result_t set_references(spawn_t *s, uint32_t c)
{
    const plan_component_t *component = &s->plan.components[c];
    manager_t *manager = component->manager;
    const component_t *type = manager->component;
    bp_result_t result = BP_OK;
    for (uint32_t f = 0; f < type->field_count && result == BP_OK; f++) {
        const field_t *field = &type->fields[f];
        if (field->type != BP_ENTITY || component->sources[f].kind == SOURCE_DEFAULT)
            continue;
        uint32_t count = gather_references(s, component, &component->sources[f], !field->initial_is_zero);
        if (count > 0 && type->storage.set == NULL)
            result = error_set(&s->plan.world->base->error, BP_ERROR_TYPE,
                               "it has no property that can be set, but values for '%s'", field->name);
        else if (count > 0)
            result = verb_set(type, &manager->verb, f, s->slots, count, s->targets, sizeof *s->targets);
        world_note_slots(s->plan.world, manager, s->slots, count);
    }
    return result == BP_OK ? BP_OK
                           : error_prefix(&s->plan.world->base->error, result, "%s: %s: ", s->plan.origin, type->name);
}

static bp_result_t set_all_references(spawn_t *s)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->plan.blob->info->component_count && result == BP_OK; i++) {
        uint32_t c = s->plan.order[i];
        const manager_t *manager = s->plan.components[c].manager;
        if (manager != NULL && manager->component->own_storage)
            result = set_references(s, c);
    }
    return result;
}

/* --- taking back -------------------------------------------------------------------------------------------------- */

static void end_instances(spawn_t *s)
{
    for (uint32_t i = s->plan.blob->info->component_count; i > 0; i--) {
        plan_component_t *component = &s->plan.components[s->plan.order[i - 1]];
        for (uint32_t p = component->part_count; p > 0; p--) {
            const plan_part_t *part = &s->plan.parts[s->plan.by_component[component->first_part + p - 1]];
            if (!part->created)
                continue;
            /* A copy of the slots, since slots that the manager moves meanwhile are written to the rows. */
            uint32_t rows = plan_group(&s->plan, part)->rows;
            memcpy(s->slots, slots_of(s, part), rows * sizeof *s->slots);
            store_destroy_slots(s->plan.world, component->manager, s->slots, rows);
        }
    }
}

static void take_back(spawn_t *s)
{
    const blob_info_t *info = s->plan.blob->info;
    world_t *world = s->plan.world;
    end_instances(s);
    untell_rows(s);
    for (uint32_t g = info->group_count; g > 0; g--)
        store_retract(world, &s->plan.batches[g - 1], entities_of(s, g - 1));
    if (s->plan.own_group != BP_NONE)
        s->plan.entities[s->plan.blob->groups[s->plan.own_group].first_entity] = s->stand_in;
    const bp_entity_t *made = s->made != NULL ? s->made : s->plan.entities;
    uint32_t count = s->made != NULL ? s->made_count : info->entity_count;
    for (uint32_t done = 0; done < count; done++)
        done += entities_end(world->entities, made + done, count - done);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static bool take_scratch(spawn_t *s)
{
    const spawn_plan_t *plan = &s->plan;
    uint32_t largest = plan->largest_type;
    for (uint32_t p = 0; p < plan->blob->info->part_count; p++) {
        uint32_t c = plan->blob->parts[p].component, rows = plan_group(plan, &plan->parts[p])->rows;
        if (plan->parts[p].key == BP_NONE || !is_called(plan, c))
            continue;
        size_t bytes = scratch_for(&plan->components[c], rows);
        s->scratch_size = bytes > s->scratch_size ? bytes : s->scratch_size;
        largest = rows > largest ? rows : largest;
    }
    s->plan.largest_type = largest;
    memory_t *memory = &plan->world->memory;
    s->scratch = memory_resize(memory, NULL, 0, s->scratch_size + 1);
    s->slots = memory_resize(memory, NULL, 0, (largest + (size_t)1) * sizeof *s->slots);
    s->targets = memory_resize(memory, NULL, 0, (largest + (size_t)1) * sizeof *s->targets);
    return s->scratch != NULL && s->slots != NULL && s->targets != NULL;
}

static void free_scratch(spawn_t *s)
{
    memory_t *memory = &s->plan.world->memory;
    memory_free(memory, s->scratch, s->scratch_size + 1);
    memory_free(memory, s->slots, (s->plan.largest_type + (size_t)1) * sizeof *s->slots);
    memory_free(memory, s->targets, (s->plan.largest_type + (size_t)1) * sizeof *s->targets);
}

/* Refuse a spawn that needs more memory than there is, before anything is written: a few bytes of a blob may ask for
 * more than any machine has. */
static bp_result_t check_room(const spawn_t *s)
{
    world_t *world = s->plan.world;
    uint64_t needed = spawn_plan_bytes(&s->plan), available;
    if (memory_could_hold(&world->memory, needed, &available))
        return BP_OK;
    return error_set(&world->base->error, BP_ERROR_MEMORY,
                     "its %u entities take some %" PRIu64 " MiB of memory, and no more than %" PRIu64 " MiB can be had",
                     s->plan.blob->info->entity_count, needed >> 20, available >> 20);
}

/* All of them; or those that are not there yet, with records for the others. */
static bp_result_t make_entities(spawn_t *s, uint32_t given)
{
    world_t *world = s->plan.world;
    uint32_t total = s->plan.blob->info->entity_count, next = 0;
    if (given == 0)
        return store_make_entities(world, s->plan.entities, total);
    s->made_count = total - given;
    s->made = memory_new(&world->memory, (s->made_count + (size_t)1) * sizeof *s->made);
    bool good = s->made != NULL;
    good = good && store_reserve_living(world, s->plan.entities, total);
    bp_result_t result = good ? store_make_entities(world, s->made, s->made_count) : BP_ERROR_MEMORY;
    for (uint32_t i = 0; i < total && result == BP_OK; i++) {
        if (s->plan.entities[i].id == 0)
            s->plan.entities[i] = s->made[next++];
    }
    return result;
}

static bp_result_t make_room(spawn_t *s, uint32_t given)
{
    world_t *world = s->plan.world;
    const blob_info_t *info = s->plan.blob->info;
    bp_result_t result = check_room(s);
    if (result != BP_OK)
        return result;
    result = take_scratch(s) ? store_prepare_append(world, s->plan.batches, info->group_count, info->entity_count)
                             : BP_ERROR_MEMORY;
    if (result == BP_OK)
        result = make_entities(s, given);
    if (result == BP_ERROR_MEMORY)
        error_set(&world->base->error, result, "out of memory for its %u entities", info->entity_count);
    if (result == BP_OK && s->plan.own_group != BP_NONE) {
        bp_entity_t *own = &s->plan.entities[s->plan.blob->groups[s->plan.own_group].first_entity];
        s->stand_in = *own;
        *own = world->own;
    }
    return result;
}

static bp_result_t carry_out(spawn_t *s, uint32_t given)
{
    world_t *world = s->plan.world;
    bp_result_t result = make_room(s, given);
    if (result != BP_OK)
        return error_prefix(&world->base->error, result, "%s: ", s->plan.origin);
    world->hold = WORLD_SPAWNING; /* managers are called, and rows must not move */
    append_groups(s);
    result = s->out_of_memory ? error_memory(&world->base->error, "spawning texts") : tell_rows(s);
    new_ones_t making;
    entities_make(world->entities, &making, s->plan.entities, s->plan.blob->info->entity_count);
    if (result == BP_OK)
        result = create_instances(s);
    if (result == BP_OK)
        result = set_all_references(s);
    if (result != BP_OK)
        take_back(s);
    entities_made(world->entities, &making);
    world->hold = WORLD_FREE;
    return result;
}

bp_result_t spawn_blob_onto(world_t *world, const blob_t *blob, const char *origin, uint32_t flags,
                            bp_entity_t *entities, uint32_t given, bp_entity_t *own)
{
    *own = (bp_entity_t){0};
    if (world_holds_rows(world))
        return store_refuse_held(world);
    spawn_t s;
    memset(&s, 0, offsetof(spawn_t, texts));
    bp_result_t result = spawn_plan(&s.plan, world, blob, origin, flags);
    if (result != BP_OK)
        return result;
    s.plan.entities = entities;
    result = carry_out(&s, given);
    if (result == BP_OK && s.plan.own_group != BP_NONE)
        *own = s.stand_in;
    free_scratch(&s);
    memory_free(&world->memory, s.made, s.made == NULL ? 0 : (s.made_count + (size_t)1) * sizeof *s.made);
    spawn_plan_free(&s.plan);
    return result;
}

bp_result_t spawn_check(world_t *world, const blob_t *blob, const char *origin, uint32_t flags, bool rows)
{
    spawn_plan_t plan;
    flags |= SPAWN_QUIET | (rows ? 0 : SPAWN_NO_ROWS);
    bp_result_t result = world_holds_rows(world) ? store_refuse_held(world)
                                                 : spawn_plan(&plan, world, blob, origin, flags);
    if (result == BP_OK)
        spawn_plan_free(&plan);
    return result;
}

bp_result_t spawn_blob(world_t *world, const blob_t *blob, const char *origin, uint32_t flags, bp_entity_t *entities)
{
    bp_entity_t own;
    bp_result_t result = spawn_blob_onto(world, blob, origin, flags, entities, 0, &own);
    if (result == BP_OK && own.id != 0)
        own_replace(world, own);
    return result;
}
