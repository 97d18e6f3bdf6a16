/* registry_expected.c - noting what systems expect, and finding it again. */
#include "registry_expected.h"

static bp_result_t expect(registry_t *registry, const component_t *slot, term_t *term)
{
    uint32_t count = slot->field_count;
    if (count == 0)
        return BP_OK;
    term->expected = memory_new(&registry->memory, count * sizeof *term->expected);
    term->order = memory_new(&registry->memory, count);
    if (term->expected == NULL || term->order == NULL) {
        memory_free(&registry->memory, term->expected, term->expected == NULL ? 0 : count * sizeof *term->expected);
        memory_free(&registry->memory, term->order, term->order == NULL ? 0 : count);
        term->expected = NULL;
        term->order = NULL;
        return error_memory(&registry->base->error, "noting what systems expect");
    }
    term->expected_count = count;
    for (uint32_t i = 0; i < count; i++) {
        term->expected[i] = (expected_field_t){slot->bound[i], slot->fields[i].type};
        term->order[i] = (uint8_t)i;
    }
    return BP_OK;
}

bp_result_t registry_expect(registry_t *registry, const component_t *slot)
{
    bp_result_t result = BP_OK;
    for (uint32_t s = 0; s < registry->system_count; s++) {
        system_t *system = registry->systems[s];
        if (system->owner == NULL || system->owner->reloading || slot->own_storage)
            continue;
        for (uint32_t t = 0; t < system->term_count && result == BP_OK; t++) {
            term_t *term = &system->terms[t];
            if (term->expected == NULL && (term->flags & BP_TERM_EXCLUDE) == 0 && strcmp(term->component, slot->name) == 0)
                result = expect(registry, slot, term);
        }
    }
    return result;
}

void registry_find_expected(registry_t *registry)
{
    for (uint32_t s = 0; s < registry->system_count; s++) {
        for (uint32_t t = 0; t < registry->systems[s]->term_count; t++) {
            term_t *term = &registry->systems[s]->terms[t];
            term->reordered = false;
            for (uint32_t i = 0; i < term->expected_count; i++) {
                const known_field_t *now = registry_follow(term->expected[i].field);
                term->order[i] = (uint8_t)(now == NULL ? 0 : now->index);
                term->reordered = term->reordered || term->order[i] != i;
            }
        }
    }
}
