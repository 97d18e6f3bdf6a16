/* order.c - settling: what each unit works on, and the order of units in a step.
 *
 * Terms become numbers of managers, names of other units are looked up, and units are sorted: always the first in the order
 * given that no other unplaced unit must precede. Nothing changes where it fails.
 */
#include "schedule.h"

#include "../base/text.h"

static bp_result_t settle_term(bp_world_o *world, const unit_t *unit, const term_t *term, query_term_t *settled)
{
    settled->flags = term->flags;
    settled->instance = term->instance;
    settled->manager = world_component(world, term->component);
    if (settled->manager != BP_NONE)
        settled->width = world->managers[settled->manager]->column_count;
    else if ((term->flags & (BP_TERM_OPTIONAL | BP_TERM_EXCLUDE)) == 0)
        return error_set(&world->base->error, BP_ERROR_NOT_FOUND, "system '%s' works on component '%s', which world '%s' lacks; add it to the world's components",
                         unit->name, term->component, world->name);
    return BP_OK;
}

static bp_result_t settle_unit(bp_world_o *world, unit_t *unit)
{
    query_free(&unit->query);
    if (unit->manager != NULL) {
        unit->query.term_count = 1;
        unit->query.terms[0] = (query_term_t){.manager = unit->manager->seen.component, .width = unit->manager->column_count};
        return BP_OK;
    }
    bp_result_t result = BP_OK;
    unit->query.term_count = unit->system->term_count;
    for (uint32_t t = 0; t < unit->system->term_count && result == BP_OK; t++)
        result = settle_term(world, unit, &unit->system->terms[t], &unit->query.terms[t]);
    return result;
}

static bool lists(const char *list, const char *name)
{
    char word[64];
    while ((list = text_next_word(list, word, sizeof word)) != NULL) {
        if (strcmp(word, name) == 0)
            return true;
    }
    return false;
}

static bool known_somewhere(const bp_world_o *world, const char *name)
{
    const registry_t *r = world->registry;
    for (uint32_t i = 0; i < r->component_count; i++) {
        if (r->components[i]->owner != NULL && strcmp(r->components[i]->name, name) == 0)
            return true;
    }
    for (uint32_t i = 0; i < r->system_count; i++) {
        if (r->systems[i]->owner != NULL && strcmp(r->systems[i]->name, name) == 0)
            return true;
    }
    return false;
}

static bp_result_t check_names(const bp_world_o *world, const unit_t *unit, const char *list, const char *which)
{
    char word[64];
    while ((list = text_next_word(list, word, sizeof word)) != NULL) {
        if (!known_somewhere(world, word))
            return error_set(&world->base->error, BP_ERROR_NOT_FOUND, "system '%s' wants to run %s '%s', which no loaded plugin brings", unit->name,
                             which, word);
    }
    return BP_OK;
}

static bool comes_before(const unit_t *a, const unit_t *b)
{
    return (a->system != NULL && lists(a->system->table.before, b->name)) ||
           (b->system != NULL && lists(b->system->table.after, a->name));
}

/* The first unit, in the order given, that no other unplaced unit must precede. */
static uint32_t next_unit(const schedule_t *schedule)
{
    for (uint32_t i = 0; i < schedule->count; i++) {
        bool free = !schedule->units[i]->placed;
        for (uint32_t j = 0; j < schedule->count && free; j++)
            free = j == i || schedule->units[j]->placed || !comes_before(schedule->units[j], schedule->units[i]);
        if (free)
            return i;
    }
    return BP_NONE;
}

static bp_result_t circle(const schedule_t *schedule)
{
    text_t names = {.length = 0};
    names.chars[0] = '\0';
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (!schedule->units[i]->placed)
            text_append(&names, "%s%s", names.length > 0 ? ", " : "", schedule->units[i]->name);
    }
    return error_set(&schedule->world->base->error, BP_ERROR_STATE, "world '%s': the wishes of %s to run before and after each other form a circle",
                     schedule->world->name, names.chars);
}

static bp_result_t order(schedule_t *schedule)
{
    unit_t **ordered = memory_resize(&schedule->memory, NULL, 0, (schedule->count + 1u) * sizeof *ordered);
    if (ordered == NULL)
        return error_memory(&schedule->world->base->error, "ordering a step");
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < schedule->count; i++)
        schedule->units[i]->placed = false;
    for (uint32_t i = 0; i < schedule->count && result == BP_OK; i++) {
        uint32_t next = next_unit(schedule);
        if (next == BP_NONE) {
            result = circle(schedule);
        } else {
            ordered[i] = schedule->units[next];
            ordered[i]->placed = true;
        }
    }
    if (result == BP_OK && schedule->count > 0)
        memcpy(schedule->units, ordered, schedule->count * sizeof *ordered);
    memory_free(&schedule->memory, ordered, (schedule->count + 1u) * sizeof *ordered);
    return result;
}

bp_result_t schedule_settle(schedule_t *schedule)
{
    bp_result_t result = BP_OK;
    if (schedule->settled)
        return BP_OK;
    for (uint32_t i = 0; i < schedule->count && result == BP_OK; i++) {
        unit_t *unit = schedule->units[i];
        result = settle_unit(schedule->world, unit);
        if (result == BP_OK && unit->system != NULL)
            result = check_names(schedule->world, unit, unit->system->table.before, "before");
        if (result == BP_OK && unit->system != NULL)
            result = check_names(schedule->world, unit, unit->system->table.after, "after");
    }
    if (result == BP_OK)
        result = order(schedule);
    schedule->settled = result == BP_OK;
    return result;
}
