/* system_slot.c - a system's declaration copied into its slot, term by term. */
#include "system_slot.h"

static void free_terms(memory_t *memory, term_t *terms, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t expected = terms[i].expected_count;
        memory_free(memory, terms[i].expected, terms[i].expected == NULL ? 0 : expected * sizeof *terms[i].expected);
        memory_free(memory, terms[i].order, terms[i].order == NULL ? 0 : expected);
        memory_free_text(memory, terms[i].component);
        memory_free_text(memory, terms[i].instance_text);
    }
    memory_free(memory, terms, count * sizeof *terms);
}

static bp_result_t copy_term(base_t *base, memory_t *memory, term_t *term, const bp_term_t *declared)
{
    error_text_t *error = &base->error;
    uint32_t known = BP_TERM_WRITE | BP_TERM_OPTIONAL | BP_TERM_EXCLUDE;
    if (declared->component == NULL || !names_is_word(declared->component))
        return error_set(error, BP_ERROR_ARGUMENT, "a term names no component");
    if ((declared->flags & ~known) != 0 || (declared->flags & known) == (BP_TERM_EXCLUDE | BP_TERM_OPTIONAL))
        return error_set(error, BP_ERROR_ARGUMENT, "term '%s' has flags 0x%x, which mean nothing together", declared->component,
                         declared->flags);
    const char *instance = declared->instance == NULL ? "" : declared->instance;
    bp_result_t result = names_intern(&base->names, instance, &term->instance, error);
    if (result != BP_OK)
        return result;
    term->flags = declared->flags;
    term->component = memory_copy_text(memory, declared->component);
    term->instance_text = memory_copy_text(memory, instance);
    if (term->component == NULL || term->instance_text == NULL)
        return error_memory(error, "registering a system");
    return BP_OK;
}

/* Does a term keep out just what another one requires? An excluded instance leaves others of its component. */
static bool contradict(const term_t *required, const term_t *excluded)
{
    return (required->flags & (BP_TERM_OPTIONAL | BP_TERM_EXCLUDE)) == 0 && (excluded->flags & BP_TERM_EXCLUDE) != 0 &&
           strcmp(required->component, excluded->component) == 0 &&
           (excluded->instance_text[0] == '\0' || strcmp(required->instance_text, excluded->instance_text) == 0);
}

static bp_result_t check_terms(error_text_t *error, const term_t *terms, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < count; k++) {
            if (contradict(&terms[i], &terms[k]))
                return error_set(error, BP_ERROR_ARGUMENT, "its terms %u and %u require and exclude '%s', so nothing can ever match; leave one of them out",
                                 i, k, terms[i].component);
        }
    }
    return BP_OK;
}

static bp_result_t copy_terms(base_t *base, memory_t *memory, const bp_term_list_t *list, term_t **terms)
{
    error_text_t *error = &base->error;
    *terms = NULL;
    if (list->count == 0)
        return BP_OK;
    if (list->count > REGISTRY_MAX_TERMS)
        return error_set(error, BP_ERROR_LIMIT, "%u terms; at most %d are allowed", list->count, REGISTRY_MAX_TERMS);
    if (list->items == NULL || list->item_size < offsetof(bp_term_t, padding))
        return error_set(error, BP_ERROR_ABI, "the list of terms says %u items of %u bytes; use BP_LIST", list->count,
                         list->item_size);
    term_t *copy = memory_new(memory, list->count * sizeof *copy);
    if (copy == NULL)
        return error_memory(error, "registering a system");
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < list->count && result == BP_OK; i++) {
        const char *item = (const char *)list->items + (size_t)i * list->item_size;
        result = copy_term(base, memory, &copy[i], (const bp_term_t *)(const void *)item);
    }
    if (result == BP_OK)
        result = check_terms(error, copy, list->count);
    if (result != BP_OK)
        free_terms(memory, copy, list->count);
    else
        *terms = copy;
    return result;
}

bp_result_t system_check(error_text_t *error, const bp_system_i *declared)
{
    if ((declared->run == NULL) == (declared->run_all == NULL))
        return error_set(error, BP_ERROR_ARGUMENT, "exactly one of run and run_all must be set");
    if (declared->terms.count == 0 && declared->run != NULL)
        return error_set(error, BP_ERROR_ARGUMENT, "run needs terms; a system without terms has run_all");
    uint32_t known = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT | BP_SYSTEM_COMMANDS_FIRST;
    if ((declared->flags & ~known) != 0)
        return error_set(error, BP_ERROR_ABI, "unknown flags 0x%x", declared->flags & ~known);
    if (declared->terms.count == 0 && (declared->entities_added != NULL || declared->entities_removed != NULL))
        return error_set(error, BP_ERROR_ARGUMENT, "entities_added and entities_removed need terms to match");
    return BP_OK;
}

static void free_system_texts(memory_t *memory, system_t *slot)
{
    free_terms(memory, slot->terms, slot->term_count);
    memory_free_text(memory, slot->doc);
    memory_free_text(memory, slot->before);
    memory_free_text(memory, slot->after);
    memory_free_text(memory, slot->reads);
    memory_free_text(memory, slot->writes);
    slot->terms = NULL;
    slot->term_count = 0;
    slot->doc = slot->before = slot->after = slot->reads = slot->writes = NULL;
}

static bool copy_system_texts(memory_t *memory, system_t *slot, const bp_system_i *declared)
{
    slot->doc = memory_copy_text(memory, declared->doc == NULL ? "" : declared->doc);
    slot->before = memory_copy_text(memory, declared->before == NULL ? "" : declared->before);
    slot->after = memory_copy_text(memory, declared->after == NULL ? "" : declared->after);
    slot->reads = memory_copy_text(memory, declared->reads == NULL ? "" : declared->reads);
    slot->writes = memory_copy_text(memory, declared->writes == NULL ? "" : declared->writes);
    return slot->doc != NULL && slot->before != NULL && slot->after != NULL && slot->reads != NULL && slot->writes != NULL;
}

void system_empty(memory_t *memory, system_t *slot)
{
    free_system_texts(memory, slot);
    slot->owner = NULL;
    slot->table = (bp_system_i){.name = slot->name};
}

bp_result_t system_declare(base_t *base, memory_t *memory, plugin_t *owner, const bp_system_i *declared, const system_t *slot,
                                 system_t *made)
{
    made->name = slot->name;
    bp_result_t result = copy_terms(base, memory, &declared->terms, &made->terms);
    made->term_count = made->terms == NULL ? 0 : declared->terms.count;
    if (result == BP_OK && !copy_system_texts(memory, made, declared))
        result = error_memory(&base->error, "registering a system");
    if (result != BP_OK) {
        system_empty(memory, made);
        return result;
    }
    made->table = *declared;
    made->table.name = made->name;
    made->table.doc = made->doc;
    made->table.before = made->before;
    made->table.after = made->after;
    made->table.reads = made->reads;
    made->table.writes = made->writes;
    made->table.terms = (bp_term_list_t){0};
    made->owner = owner;
    return BP_OK;
}

system_t *system_new(memory_t *memory, const char *name)
{
    system_t *slot = memory_new(memory, sizeof *slot);
    if (slot == NULL)
        return NULL;
    slot->name = memory_copy_text(memory, name);
    if (slot->name != NULL)
        return slot;
    memory_free(memory, slot, sizeof *slot);
    return NULL;
}

void system_free(memory_t *memory, system_t *slot)
{
    system_empty(memory, slot);
    memory_free_text(memory, slot->name);
    memory_free(memory, slot, sizeof *slot);
}
