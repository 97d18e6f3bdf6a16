/* save_values.c - reading the values of a field, whoever stores them, and turning entities into numbers.
 *
 * A part's rows are read in stretches between holes: declared fields where they lie, fields of managers with storage of their own through
 * `get`, in blocks, or straight into the blob where its form of the type is the contract's.
 */
#include "../plugin/verbs.h"
#include "save_plan.h"

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
    bp_result_t result = verb_get(manager->component, &manager->seen, w->field, slots, count, to, manager->component->fields[w->field].size);
    if (result != BP_OK && error->text[0] == '\0')
        error_set(error, result, "it gave no reason (code %d)", result);
    return result == BP_OK ? BP_OK : error_prefix(error, result, "world '%s': %s: ", w->s->world->name, manager->component->name);
}

static bp_result_t walk_own(walk_t *w, const uint32_t *slots, save_values_t *values)
{
    const field_t *field = &w->component->manager->component->fields[w->field];
    if (w->into != NULL)
        return get(w, slots, values->count, w->into + (size_t)values->instance * field->size);
    bp_result_t result = BP_OK;
    save_values_t block = {.values = w->s->scratch, .instance = values->instance, .entity = values->entity};
    for (uint32_t done = 0; done < values->count && result == BP_OK && !w->ended; done += block.count) {
        block.count = values->count - done < SAVE_BLOCK ? values->count - done : SAVE_BLOCK;
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

bp_result_t save_walk(save_t *s, const save_component_t *c, uint32_t field, void *into, save_visit_t visit, void *context)
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

/* --- numbers of entities --------------------------------------------------------------------------------------------------- */

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
    if (!grow_extras(s) || !memory_reserve(s->memory, &s->extras, &s->extra_capacity, s->extra_count + UINT64_C(1), sizeof *s->extras))
        return false;
    uint32_t at = extra_slot(s, e);
    if (s->extra_slots[at] != 0)
        return true;
    s->extras[s->extra_count++] = e;
    s->extra_slots[at] = s->extra_count;
    return true;
}
