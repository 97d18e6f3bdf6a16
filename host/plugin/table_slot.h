/* table_slot.h - a table that a plugin offers to others, in a place of its own.
 *
 * The slot keeps a copy of the table, so that whoever holds its address holds no pointer into the plugin's image. A table
 * that has lost its owner keeps its size and version, and its entries do nothing.
 */
#ifndef HOST_PLUGIN_TABLE_SLOT_H
#define HOST_PLUGIN_TABLE_SLOT_H

#include "plugin.h"

enum {
    REGISTRY_TABLE_ROOM = 512, /* least room of a table's slot, so that later versions fit */
    REGISTRY_MAX_TABLE = 64 * 1024
};

/* A table that a plugin offers to others. */
typedef struct table_slot_t {
    char *name;
    plugin_t *owner;
    size_t size; /* room; the table is never larger */
    uint32_t *table;
    uint32_t promised; /* version that a plugin being reloaded offers; 0: none */
} table_slot_t;

/* An empty slot with room for `size` bytes or more; NULL when out of memory. */
table_slot_t *table_slot_new(memory_t *memory, const char *name, uint32_t size);
void table_slot_free(memory_t *memory, table_slot_t *slot);

/* Nobody offers it any more: its entries become do-nothing. */
void table_slot_silence(table_slot_t *slot);

#endif
