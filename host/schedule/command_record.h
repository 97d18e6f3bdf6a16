/* command_record.h - what a recorded command looks like.
 *
 * Inner to commands.c and commands_make.c. Commands lie one behind the other in chunks that never move, so that texts can be
 * pointed to.
 */
#ifndef HOST_SCHEDULE_COMMAND_RECORD_H
#define HOST_SCHEDULE_COMMAND_RECORD_H

#include "commands.h"

enum { COMMAND_CREATE, COMMAND_DESTROY, COMMAND_ADD, COMMAND_REMOVE, COMMAND_SET };

/* A command, followed by `capacity` entities (none of COMMAND_CREATE) and as many values (of COMMAND_SET). */
typedef struct command_t {
    uint32_t kind;
    uint32_t key;      /* or prototype */
    uint32_t count, capacity;
    uint32_t size;     /* of a value */
    uint32_t padding;
    size_t bytes;      /* all told */
    bp_property_t property;
} command_t;

struct commands_chunk_t {
    commands_chunk_t *next;      /* of the same call */
    commands_chunk_t *next_call; /* in the first chunk of a call: the next call's, ... */
    const char *unit;            /* ... and whose it was */
    uint32_t call, created;
    size_t size, used;           /* bytes, with this */
};

BP_STATIC_ASSERT(sizeof(command_t) % 8 == 0 && sizeof(commands_chunk_t) % 8 == 0, "commands begin at multiples of 8");

static inline bp_entity_t *command_entities(command_t *command)
{
    return (bp_entity_t *)(void *)(command + 1);
}

static inline char *command_values(command_t *command)
{
    return (char *)(command_entities(command) + command->capacity);
}

/* Placeholders: an even generation, which counts calls from 1; an index of 8 bits of the step's number and 24 of its own. */
static inline bp_entity_t command_placeholder(uint64_t step, uint32_t call, uint32_t index)
{
    return (bp_entity_t){(uint64_t)(call + 1) << 33 | (step & 0xff) << 24 | index};
}

static inline bool command_is_placeholder(bp_entity_t e)
{
    return (e.id >> 32 & 1) == 0 && e.id >> 32 != 0;
}

#endif
