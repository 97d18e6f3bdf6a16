/* table_slot.c - slots of tables, and the entries of one that has lost its owner.
 *
 * All do-nothing entries are one function that returns zero; it stands in for entries of any type because a caller passes and
 * cleans up all arguments itself on the platforms we know, and because results are void, integers or pointers (bp_api.h).
 */
#include "table_slot.h"

static uint64_t answer_zero(void)
{
    return 0;
}

void table_slot_free(memory_t *memory, table_slot_t *slot)
{
    memory_free_text(memory, slot->name);
    memory_free(memory, slot->table, slot->size);
    memory_free(memory, slot, sizeof *slot);
}

table_slot_t *table_slot_new(memory_t *memory, const char *name, uint32_t size)
{
    table_slot_t *slot = memory_new(memory, sizeof *slot);
    if (slot == NULL)
        return NULL;
    slot->size = size < REGISTRY_TABLE_ROOM ? REGISTRY_TABLE_ROOM : size;
    slot->name = memory_copy_text(memory, name);
    slot->table = memory_new(memory, slot->size);
    if (slot->name != NULL && slot->table != NULL)
        return slot;
    table_slot_free(memory, slot);
    return NULL;
}

/* Entries become do-nothing; size and version stay, so that whoever holds the slot reads a table of the same form. */
void table_slot_silence(table_slot_t *slot)
{
    uint64_t (*stub)(void) = answer_zero;
    slot->owner = NULL;
    for (size_t at = 8; at + sizeof stub <= slot->table[0]; at += sizeof stub)
        memcpy((char *)slot->table + at, &stub, sizeof stub);
}
