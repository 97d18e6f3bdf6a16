/* save_fields.c - how each field is saved; decided before the blob is laid out.
 *
 * A field of which all instances have one value is one value in the blob; for most other fields the first two values
 * differ, which ends the comparison. References are read first, since entities without components that they mention
 * become part of the blob. The parents section takes its values from the first field that names the parent; that field,
 * and any other with the same values, need not be written again.
 */
#include "../plugin/verbs.h"
#include "json.h"
#include "save_plan.h"

enum { TEXT_COMPARED = 256 };

static const component_t *type_of(const save_component_t *c)
{
    return c->manager->component;
}

/* Is the field saved, because a spawn of the blob can set it? */
static bool is_saved(const component_t *type, const field_t *field)
{
    if (!type->own_storage)
        return true;
    bool settable = type->storage.set != NULL || field->type != BP_ENTITY;
    return type->storage.get != NULL && settable && (field->flags & BP_FIELD_READ_ONLY) == 0;
}

/* --- references --------------------------------------------------------------------------------------------------- */

typedef struct references_t {
    bool any;
    bool out_of_memory;
} references_t;

static bool note_reference(save_t *s, bp_entity_t target, references_t *references)
{
    if (target.id == 0)
        return true;
    const record_t *record = world_record(s->world, target);
    bool lives = (record != NULL && record->prototype != 0) || entities_is_alive(s->world->entities, target);
    references->any = references->any || lives;
    if (!lives || (record != NULL && record->prototype != 0) || save_note_extra(s, target))
        return true;
    references->out_of_memory = true;
    return false;
}

static bool note_references(save_t *s, const field_t *field, const save_values_t *values, void *context)
{
    references_t *references = context;
    bool good = true;
    for (uint32_t i = 0; i < values->count && good; i++) {
        uint32_t count;
        const bp_entity_t *targets = field_items(field, (const char *)values->values + (size_t)i * field->size, &count);
        references->any = references->any || (field_is_list(field) && count > 0);
        for (uint32_t k = 0; k < count && good; k++)
            good = note_reference(s, targets[k], references);
    }
    return good;
}

static bp_result_t find_references(save_t *s, save_component_t *c)
{
    const component_t *type = type_of(c);
    bp_result_t result = BP_OK;
    for (uint32_t f = 0; f < type->field_count && result == BP_OK; f++) {
        references_t references = {.any = false};
        if (type->fields[f].type != BP_ENTITY || c->fates[f] == SAVE_NOT)
            continue;
        result = save_walk(s, c, f, NULL, note_references, &references);
        if (references.out_of_memory)
            result = error_memory(&s->world->base->error, "saving a world");
        c->fates[f] = references.any ? SAVE_COLUMN : SAVE_ONE;
    }
    return result;
}

/* --- parents ------------------------------------------------------------------------------------------------------ */

static bool take_parents(save_t *s, const field_t *field, const save_values_t *values, void *context)
{
    const bp_entity_t *parents = values->values;
    (void)field, (void)context;
    for (uint32_t i = 0; i < values->count; i++) {
        uint32_t *parent = &s->parents[values->entity + i];
        if (*parent == 0)
            *parent = save_number(s, parents[i]);
    }
    return true;
}

static bool compare_parents(save_t *s, const field_t *field, const save_values_t *values, void *context)
{
    const bp_entity_t *parents = values->values;
    bool *same = context;
    (void)field;
    for (uint32_t i = 0; i < values->count && *same; i++)
        *same = save_number(s, parents[i]) == (s->has_parents ? s->parents[values->entity + i] : 0);
    return *same;
}

static bool says_parent(const save_component_t *c, uint32_t f)
{
    return (type_of(c)->fields[f].flags & BP_FIELD_PARENT) != 0 && c->fates[f] != SAVE_NOT;
}

/* Drop the parents section where the parents form a circle, as fields of a plugin may: that would be no hierarchy, so
 * that only the columns are written. */
static bp_result_t judge_parents(save_t *s)
{
    bool cycle;
    if (!blob_find_cycle(s->memory, s->parents, s->rows + s->extra_count, &cycle))
        return error_memory(&s->world->base->error, "saving a world");
    s->has_parents = !cycle;
    return BP_OK;
}

static bp_result_t find_parents(save_t *s)
{
    size_t size = ((size_t)s->rows + s->extra_count + 1) * sizeof *s->parents;
    for (uint32_t i = 0; i < s->component_count; i++) {
        const save_component_t *c = &s->components[i];
        for (uint32_t f = 0; f < type_of(c)->field_count; f++) {
            if (!says_parent(c, f) || c->fates[f] != SAVE_COLUMN)
                continue;
            s->parents = memory_new(s->memory, size);
            if (s->parents == NULL)
                return error_memory(&s->world->base->error, "saving a world");
            bp_result_t result = save_walk(s, c, f, NULL, take_parents, NULL);
            return result == BP_OK ? judge_parents(s) : result;
        }
    }
    return BP_OK;
}

/* Leave out fields that name the parent and in all values equal the parents of the blob: a spawn sets them from the
 * parents section. */
static bp_result_t drop_parent_fields(save_t *s)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->component_count; i++) {
        save_component_t *c = &s->components[i];
        for (uint32_t f = 0; f < type_of(c)->field_count && result == BP_OK; f++) {
            bool same = type_of(c)->fields[f].initial_is_zero;
            if (!says_parent(c, f) || !same)
                continue;
            result = save_walk(s, c, f, NULL, compare_parents, &same);
            if (result == BP_OK && same)
                c->fates[f] = SAVE_NOT;
        }
    }
    return result;
}

/* --- one value for all -------------------------------------------------------------------------------------------- */

typedef struct first_t {
    bool known, same;
    bp_value_t value;
    char text[TEXT_COMPARED]; /* a manager's texts are good until its next call */
} first_t;

static bool compare_texts(const save_values_t *values, first_t *first)
{
    const char *const *texts = values->values;
    if (!first->known) {
        first->known = true;
        first->same = strlen(texts[0]) < sizeof first->text;
        if (first->same)
            memcpy(first->text, texts[0], strlen(texts[0]) + 1);
    }
    for (uint32_t i = 0; i < values->count && first->same; i++)
        first->same = strcmp(texts[i], first->text) == 0;
    return first->same;
}

/* Are all lists empty? Arrays are not compared: equal arrays in all instances are too rare to be worth the search. */
static bool compare_lists(const field_t *field, const save_values_t *values, first_t *first)
{
    first->same = field_is_list(field);
    for (uint32_t i = 0; i < values->count && first->same; i++) {
        uint32_t count;
        field_items(field, (const char *)values->values + (size_t)i * field->size, &count);
        first->same = count == 0;
    }
    return first->same;
}

static bool compare(save_t *s, const field_t *field, const save_values_t *values, void *context)
{
    first_t *first = context;
    (void)s;
    if (!field_is_single(field))
        return compare_lists(field, values, first);
    if (field->type == BP_STRING)
        return compare_texts(values, first);
    if (!first->known) {
        first->known = first->same = true;
        memcpy(&first->value, values->values, field->size);
    }
    /* All cells equal the first one where the first cell does and each other cell equals the one before it. */
    const char *cells = values->values;
    first->same = memcmp(cells, &first->value, field->size) == 0 &&
                  memcmp(cells, cells + field->size, (size_t)(values->count - 1) * field->size) == 0;
    return first->same;
}

static bp_result_t find_single_values(save_t *s, save_component_t *c)
{
    bp_result_t result = BP_OK;
    for (uint32_t f = 0; f < type_of(c)->field_count && result == BP_OK; f++) {
        first_t first;
        if (c->fates[f] == SAVE_NOT || type_of(c)->fields[f].type == BP_ENTITY)
            continue;
        first.known = first.same = false;
        result = save_walk(s, c, f, NULL, compare, &first);
        c->fates[f] = first.same ? SAVE_ONE : SAVE_COLUMN;
    }
    return result;
}

/* --- fields that are not saved
   -------------------------------------------------------------------------------------------- */

static bool count_changed(save_t *s, const field_t *field, const save_values_t *values, void *context)
{
    uint32_t *changed = context;
    (void)s;
    for (uint32_t i = 0; i < values->count; i++) {
        const char *cell = (const char *)values->values + (size_t)i * field->size;
        if (field->type == BP_STRING)
            *changed += strcmp(*(const char *const *)(const void *)cell, field->initial_text) != 0;
        else
            *changed += memcmp(cell, &field->initial, field->size) != 0;
    }
    return true;
}

/* Warn of fields that are not saved: the spawned instances begin with the default of a field that cannot be set. */
static bp_result_t tell_left_out(save_t *s, const save_component_t *c)
{
    const component_t *type = type_of(c);
    bp_result_t result = BP_OK;
    bool allowed = !type->own_storage || type->storage.get == NULL || (type->table.flags & BP_COMPONENT_LOSSY) != 0;
    for (uint32_t f = 0; f < type->field_count && result == BP_OK && !allowed; f++) {
        uint32_t changed = 0;
        if (c->fates[f] != SAVE_NOT || (type->fields[f].flags & BP_FIELD_DERIVED) != 0 ||
            !field_is_single(&type->fields[f]))
            continue;
        result = save_walk(s, c, f, NULL, count_changed, &changed);
        if (changed > 0)
            log_write(&s->world->base->log, BP_LOG_WARNING, "save",
                      "world '%s': property '%s' of component '%s' is not saved, since nothing can set it: lost for %u "
                      "of %u entities",
                      s->world->name, type->fields[f].name, type->name, changed, c->instances);
    }
    return result;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static bp_result_t plan_component(save_t *s, save_component_t *c)
{
    const component_t *type = type_of(c);
    for (uint32_t f = 0; f < type->field_count; f++)
        c->fates[f] = is_saved(type, &type->fields[f]) ? SAVE_COLUMN : SAVE_NOT;
    bp_result_t result = tell_left_out(s, c);
    if (result == BP_OK)
        result = find_references(s, c);
    return result == BP_OK ? find_single_values(s, c) : result;
}

static bool count_items(save_t *s, const field_t *field, const save_values_t *values, void *context)
{
    uint64_t *items = context;
    (void)s;
    for (uint32_t i = 0; i < values->count; i++) {
        uint32_t count;
        field_items(field, (const char *)values->values + (size_t)i * field->size, &count);
        *items += count;
    }
    return true;
}

static bp_result_t describe_fields(save_t *s, save_component_t *c)
{
    const component_t *type = type_of(c);
    bp_result_t result = BP_OK;
    for (uint32_t f = 0; f < type->field_count && result == BP_OK; f++) {
        if (c->fates[f] == SAVE_NOT)
            continue;
        if (field_is_list(&type->fields[f]))
            result = save_walk(s, c, f, NULL, count_items, &c->items[f]);
        c->blob_fields[f] = c->desc_count;
        c->descs[c->desc_count] =
            blob_field_described(&type->fields[f], c->fates[f] == SAVE_ONE ? BLOB_ONE : BLOB_COLUMN);
        c->descs[c->desc_count++].items = c->items[f];
    }
    return result;
}

bp_result_t save_plan_fields(save_t *s)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->component_count && result == BP_OK; i++)
        result = plan_component(s, &s->components[i]);
    if (result == BP_OK)
        result = find_parents(s);
    if (result == BP_OK)
        result = drop_parent_fields(s);
    for (uint32_t i = 0; i < s->component_count && result == BP_OK; i++)
        result = describe_fields(s, &s->components[i]);
    return result;
}

/* --- save values ------------------------------------------------------------------------------------------------- */

/* Reading the values of a field, from rows or from a manager, and turning entities into numbers.
 *
 * A part's rows are read in stretches between holes: declared fields where they lie, fields of managers with storage of
 * their own through `get`, in blocks, or straight into the blob where its form of the type is the contract's.
 */

/* The next living rows of a run from *row on; 0 past the last. */
static uint32_t next_stretch(const run_t *run, uint32_t *row)
{
    const bp_entity_t *entities = run_entities(run);
    if (run->holes == 0) {
        uint32_t left = run->count - *row;
        return left;
    }
    while (*row < run->count && entities[*row].id == 0)
        ++*row;
    uint32_t end = *row;
    while (end < run->count && entities[end].id != 0)
        end++;
    return end - *row;
}

typedef struct walk_t {
    save_t *s;
    const save_component_t *component;
    uint32_t field;
    char *into;
    save_visit_t visit;
    void *context;
    bool ended;
} walk_t;

static bp_result_t get(const walk_t *w, const uint32_t *slots, uint32_t count, void *to)
{
    manager_t *manager = w->component->manager;
    error_text_t *error = &w->s->world->base->error;
    error->text[0] = '\0';
    bp_result_t result = verb_get(manager->component, &manager->verb, w->field, slots, count, to,
                                  manager->component->fields[w->field].size);
    if (result != BP_OK && error->text[0] == '\0')
        error_set(error, result, "it gave no reason (code %d)", result);
    return result == BP_OK
               ? BP_OK
               : error_prefix(error, result, "world '%s': %s: ", w->s->world->name, manager->component->name);
}

static bp_result_t walk_own(walk_t *w, const uint32_t *slots, save_values_t *values)
{
    const field_t *field = &w->component->manager->component->fields[w->field];
    if (w->into != NULL)
        return get(w, slots, values->count, w->into + (size_t)values->instance * field->size);
    bp_result_t result = BP_OK;
    size_t fit = w->s->scratch_size / field->size;
    uint32_t most = fit < SAVE_BLOCK ? (uint32_t)fit : SAVE_BLOCK;
    save_values_t block = {.values = w->s->scratch, .instance = values->instance, .entity = values->entity};
    for (uint32_t done = 0; done < values->count && result == BP_OK && !w->ended; done += block.count) {
        block.count = values->count - done < most ? values->count - done : most;
        result = get(w, slots + done, block.count, w->s->scratch);
        if (result == BP_OK)
            w->ended = !w->visit(w->s, field, &block, w->context);
        block.instance += block.count;
        block.entity += block.count;
    }
    return result;
}

static bp_result_t walk_stretch(walk_t *w, const save_part_t *part, uint32_t row, save_values_t *values)
{
    const component_t *type = w->component->manager->component;
    const run_t *run = w->s->groups[part->group].run;
    if (type->own_storage)
        return walk_own(w, run_cell(run, part->column, row), values);
    const field_t *field = &type->fields[w->field];
    values->values = run_cell(run, part->column + w->field, row);
    if (w->into != NULL)
        memcpy(w->into + (size_t)values->instance * field->size, values->values, (size_t)values->count * field->size);
    else
        w->ended = !w->visit(w->s, field, values, w->context);
    return BP_OK;
}

bp_result_t save_walk(save_t *s, const save_component_t *c, uint32_t field, void *into, save_visit_t visit,
                      void *context)
{
    walk_t w = {.s = s, .component = c, .field = field, .into = into, .visit = visit, .context = context};
    bp_result_t result = BP_OK;
    for (uint32_t p = 0; p < c->part_count; p++) {
        const save_part_t *part = &s->parts[s->by_component[c->first_part + p]];
        const save_group_t *group = &s->groups[part->group];
        save_values_t values = {.instance = part->first, .entity = group->first_entity};
        for (uint32_t row = 0; (values.count = next_stretch(group->run, &row)) > 0; row += values.count) {
            result = walk_stretch(&w, part, row, &values);
            if (result != BP_OK || w.ended)
                return result;
            values.instance += values.count;
            values.entity += values.count;
        }
    }
    return BP_OK;
}

/* --- numbers of entities ------------------------------------------------------------------------------------------ */

static uint32_t extra_slot(const save_t *s, bp_entity_t e)
{
    uint32_t at = (uint32_t)((e.id * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (s->extra_slot_count - 1);
    while (s->extra_slots[at] != 0 && s->extras[s->extra_slots[at] - 1].id != e.id)
        at = (at + 1) & (s->extra_slot_count - 1);
    return at;
}

uint32_t save_number(const save_t *s, bp_entity_t e)
{
    if (e.id == 0)
        return 0;
    const record_t *record = world_record(s->world, e);
    if (record != NULL && record->prototype != 0) {
        const save_group_t *group = &s->groups[s->group_of[record->prototype]];
        return 1 + group->first_entity + (group->ranks != NULL ? group->ranks[record->row] : record->row);
    }
    if (s->extra_slot_count == 0 || !entities_is_alive(s->world->entities, e))
        return 0;
    uint32_t found = s->extra_slots[extra_slot(s, e)];
    return found == 0 ? 0 : s->rows + found;
}

static bool grow_extras(save_t *s)
{
    if ((uint64_t)(s->extra_count + 1) * 2 < s->extra_slot_count)
        return true;
    uint32_t old = s->extra_slot_count, count = old == 0 ? 64 : old * 2;
    uint32_t *slots = count == 0 ? NULL : memory_new(s->memory, count * sizeof *slots);
    if (slots == NULL)
        return false;
    memory_free(s->memory, s->extra_slots, old * sizeof *slots);
    s->extra_slots = slots;
    s->extra_slot_count = count;
    for (uint32_t i = 0; i < s->extra_count; i++)
        slots[extra_slot(s, s->extras[i])] = i + 1;
    return true;
}

bool save_note_extra(save_t *s, bp_entity_t e)
{
    if (!grow_extras(s) ||
        !memory_reserve(s->memory, &s->extras, &s->extra_capacity, s->extra_count + UINT64_C(1), sizeof *s->extras))
        return false;
    uint32_t at = extra_slot(s, e);
    if (s->extra_slots[at] != 0)
        return true;
    s->extras[s->extra_count++] = e;
    s->extra_slots[at] = s->extra_count;
    return true;
}
