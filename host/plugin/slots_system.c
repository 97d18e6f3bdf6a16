/* slots_system.c - declarations of systems and of tables copied into their slots.
 *
 * A system's declaration is copied term by term (terms.h). A table's slot keeps its address for as long as the host
 * lives, whichever plugin fills it.
 */
#include "slots.h"

#include "../os/os.h"

/* --- system slot ------------------------------------------------------------------------------------------------- */

/* A system's declaration copied into its slot, term by term. */

bp_result_t system_check(error_text_t *error, const bp_system_i *declared)
{
    if ((declared->run == NULL) == (declared->run_all == NULL))
        return error_set(error, BP_ERROR_ARGUMENT, "exactly one of run and run_all must be set");
    if (declared->terms.count == 0 && declared->run != NULL)
        return error_set(error, BP_ERROR_ARGUMENT, "run needs terms; a system without terms has run_all");
    uint32_t known = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT | BP_SYSTEM_COMMANDS_FIRST | BP_SYSTEM_OUTPUT;
    if ((declared->flags & BP_FLAGS_REQUIRED & ~known) != 0)
        return error_set(error, BP_ERROR_ABI, "unknown flags 0x%x", declared->flags & BP_FLAGS_REQUIRED & ~known);
    if (declared->terms.count == 0 && (declared->entities_added != NULL || declared->entities_removed != NULL))
        return error_set(error, BP_ERROR_ARGUMENT, "entities_added and entities_removed need terms to match");
    return BP_OK;
}

static void free_system_texts(memory_t *memory, system_t *slot)
{
    terms_free(memory, slot->terms, slot->term_count);
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
    return slot->doc != NULL && slot->before != NULL && slot->after != NULL && slot->reads != NULL &&
           slot->writes != NULL;
}

void system_empty(memory_t *memory, system_t *slot)
{
    free_system_texts(memory, slot);
    slot->owner = NULL;
    slot->table = (bp_system_i){.name = slot->name};
    slot->reporting = (bp_system_report_i){0};
    slot->saving = (bp_system_save_i){0};
    slot->rewinding = (bp_rewind_i){0};
    slot->deaths = (bp_system_deaths_i){0};
    deaths_release(memory, &slot->asked_deaths);
}

/* Check a system that reads other worlds: it may be handed rows only where some of its terms are of its own world, and
 * must run alone in its step, since units beside it could write in those worlds. */
static bp_result_t check_beside(error_text_t *error, const bp_system_i *declared, const system_t *made)
{
    uint32_t beside = 0;
    for (uint32_t t = 0; t < made->term_count; t++)
        beside += (made->terms[t].flags & BP_TERM_BESIDE) != 0;
    if (beside > 0 && (declared->flags & BP_SYSTEM_CONCURRENT) != 0)
        return error_set(error, BP_ERROR_ARGUMENT,
                         "a system that reads another world runs alone; leave out BP_SYSTEM_CONCURRENT");
    if (beside > 0 && beside == made->term_count &&
        (declared->run != NULL || declared->entities_added != NULL || declared->entities_removed != NULL))
        return error_set(error, BP_ERROR_ARGUMENT,
                         "all its terms name other worlds, so that no rows match; run, entities_added and "
                         "entities_removed need a term of its own world");
    return BP_OK;
}

bp_result_t system_declare(base_t *base, memory_t *memory, plugin_t *owner, const bp_system_i *declared,
                           system_t *made)
{
    const extension_place_t places[] = {{"bp_report", &made->reporting, sizeof made->reporting},
                                        {"bp_save", &made->saving, sizeof made->saving},
                                        {"bp_deaths", &made->deaths, sizeof made->deaths},
                                        {"bp_rewind", &made->rewinding, sizeof made->rewinding}};
    bp_result_t result =
        extensions_read(base, owner->name, &declared->extensions, places, sizeof places / sizeof places[0]);
    if (result == BP_OK)
        result = keeping_check(&base->error, declared->keeps, declared->state_form, made->saving.save != NULL &&
                                                                                        made->saving.load != NULL);
    if (result == BP_OK)
        result = deaths_copy(base, memory, (const bp_deaths_i *)(const void *)&made->deaths, NULL, &made->asked_deaths);
    made->deaths.component = made->deaths.field = NULL; /* which lie in the plugin's image */
    if (result == BP_OK)
        result = terms_copy(base, memory, &declared->terms, &made->terms);
    made->term_count = made->terms == NULL ? 0 : declared->terms.count;
    if (result == BP_OK)
        result = check_beside(&base->error, declared, made);
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
    made->table.extensions = (bp_extension_list_t){0};
    made->owner = owner;
    return BP_OK;
}

system_t *system_new(memory_t *memory, const char *name)
{
    char *copy;
    system_t *slot = slot_new(memory, sizeof *slot, name, &copy);
    if (slot != NULL)
        slot->name = copy;
    return slot;
}

void system_free(memory_t *memory, system_t *slot)
{
    memory_free_text(memory, slot->name);
    memory_free(memory, slot, sizeof *slot);
}

/* --- table slot -------------------------------------------------------------------------------------------------- */

/* Slots of tables, and the functions that stand for the entries of a table that has lost its owner.
 *
 * One function stands for entries of any type, because a caller passes and cleans up all arguments itself on the
 * platforms we know, and because results are void, integers or pointers (bp_table_t). An entry that returns a
 * bp_result_t has to leave a sentence, and so must know its slot without reading arguments: for that a function is made
 * for each slot (os_function_make). Where none can be made, the result comes without a sentence.
 */

enum { TABLE_HEAD = 8 }; /* struct_size and version */

static uint64_t answer_zero(void)
{
    return 0;
}

static uint64_t answer_state(void)
{
    return (uint64_t)BP_ERROR_STATE;
}

static uint64_t refuse(void *data)
{
    const table_slot_t *slot = data;
    return (uint64_t)error_set(slot->error, BP_ERROR_STATE,
                               "no plugin offers the table '%s' at present: the one that did is unloaded or set aside",
                               slot->name);
}

static void free_returns(memory_t *memory, table_slot_t *slot)
{
    memory_free_text(memory, slot->returns);
    slot->returns = NULL;
}

void table_slot_free(memory_t *memory, table_slot_t *slot)
{
    free_returns(memory, slot);
    os_function_free(slot->refuse);
    memory_free_text(memory, slot->name);
    memory_free(memory, slot->table, slot->table == NULL ? 0 : slot->size);
    memory_free(memory, slot, sizeof *slot);
}

table_slot_t *table_slot_new(memory_t *memory, error_text_t *error, const char *name, uint32_t size)
{
    table_slot_t *slot = memory_new(memory, sizeof *slot);
    if (slot == NULL)
        return NULL;
    slot->error = error;
    slot->size = size < TABLE_LEAST_ROOM ? TABLE_LEAST_ROOM : size;
    slot->name = memory_copy_text(memory, name);
    slot->table = memory_new(memory, slot->size);
    slot->refuse = os_function_make(refuse, slot);
    if (slot->name != NULL && slot->table != NULL)
        return slot;
    table_slot_free(memory, slot);
    return NULL;
}

bp_result_t table_check(error_text_t *error, const bp_table_t *offered)
{
    if (offered->name == NULL || !names_is_word(offered->name))
        return error_set(error, BP_ERROR_ARGUMENT,
                         "a table's name must be 1 to 63 letters, digits or underscores, not '%.40s'",
                         offered->name == NULL ? "" : offered->name);
    if (strncmp(offered->name, "bp_", 3) == 0)
        return error_set(error, BP_ERROR_ARGUMENT, "table '%s': names that begin with 'bp_' are the host's own",
                         offered->name);
    if (offered->version == 0)
        return error_set(error, BP_ERROR_ARGUMENT, "table '%s' says version 0; versions begin with 1", offered->name);
    if (offered->entries == NULL || offered->size < TABLE_HEAD || offered->size % sizeof(void *) != 0 ||
        offered->size > TABLE_MOST)
        return error_set(error, BP_ERROR_ABI,
                         "table '%s' says it has %u bytes; use BP_TABLE (at most %d bytes are allowed)", offered->name,
                         offered->size, TABLE_MOST);
    size_t entries = (offered->size - TABLE_HEAD) / sizeof(void *),
           letters = offered->returns == NULL ? 0 : strlen(offered->returns);
    if (letters != entries)
        return error_set(error, BP_ERROR_ARGUMENT,
                         "table '%s' has %zu entries, and %zu letters that say what they return", offered->name,
                         entries, letters);
    if (entries > 0 && strspn(offered->returns, "rcpn") != letters)
        return error_set(error, BP_ERROR_ARGUMENT,
                         "table '%s': the letter '%c' stands for no kind of result; r, c, p and n do", offered->name,
                         offered->returns[strspn(offered->returns, "rcpn")]);
    return BP_OK;
}

/* struct_size stays, so that users of the slot read a table of the same size. An entry that is NULL stays NULL. */
void table_slot_silence(table_slot_t *slot)
{
    uint64_t (*zero)(void) = answer_zero, (*state)(void) = answer_state, (*entry)(void);
    slot->owner = NULL;
    slot->table[1] = 0;
    for (uint32_t i = 0, at = TABLE_HEAD; at < slot->table[0]; i++, at += (uint32_t)sizeof entry) {
        char *place = (char *)slot->table + at;
        memcpy(&entry, place, sizeof entry);
        if (entry == NULL)
            continue;
        if (slot->returns[i] != 'r')
            memcpy(place, &zero, sizeof zero);
        else if (slot->refuse != NULL)
            memcpy(place, &slot->refuse, sizeof slot->refuse);
        else
            memcpy(place, &state, sizeof state);
    }
}

void table_slot_fill(memory_t *memory, table_slot_t *slot, plugin_t *owner, const bp_table_t *offered, char *returns)
{
    uint32_t size = offered->size < slot->size ? offered->size : (uint32_t)slot->size;
    table_slot_silence(slot); /* so that no entries of a longer, earlier table stay behind the end of this one */
    free_returns(memory, slot);
    slot->returns = returns;
    memcpy((char *)slot->table + TABLE_HEAD, (const char *)offered->entries + TABLE_HEAD, size - TABLE_HEAD);
    slot->table[0] = size;
    slot->table[1] = offered->version;
    slot->owner = owner;
}
