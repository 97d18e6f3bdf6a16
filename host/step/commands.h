/* commands.h - changes of structure that units of a step record, and making them afterwards.
 *
 * Every call of a unit's verb gets a recorder of its own (bp_commands_o) on the stack of the thread that makes the
 * call, so recording takes no lock. The recorder carries the call's number in the step, which does not depend on
 * threads; what was recorded is made in the order of these numbers. Placeholders do not depend on threads either: an id
 * holds the number of the call and the placeholder's number in it, and its generation is even, which no living entity
 * has.
 *
 * Chunks of COMMANDS_KEPT_SIZE bytes and more are pages straight from the system, and each page costs a fault at its
 * first touch. So a step that has made its commands keeps such chunks, and the next step that makes commands frees
 * those that it did not take again.
 *
 * Recording: where memory is lacking for a call the whole call is refused. Making: each command is all or nothing, a
 * failure is a line of the log, and the others are made.
 *
 * Not here: when commands are made (step.c).
 */
#ifndef HOST_STEP_COMMANDS_H
#define HOST_STEP_COMMANDS_H

#include "../store/destruction.h"
#include "messages.h"

enum {
    COMMANDS_MAX_CREATED = 1 << 24, /* placeholders of one call of a verb */
    COMMANDS_MAX_LINES = 8,         /* failures told in one go */
    COMMANDS_KEPT_SIZE = 1 << 18,   /* chunks of so many bytes are kept for the next step, ... */
    COMMANDS_MAX_KEPT = 32          /* ... at most so many */
};

typedef struct commands_chunk_t commands_chunk_t;

/* Where the entities of a call's placeholders are. */
typedef struct commands_created_t {
    uint32_t call;
    uint32_t first, count; /* in commands_t.entities */
} commands_created_t;

typedef struct commands_t {
    memory_t memory;
    world_t *world;
    messages_t *messages;          /* the channels of messages that are sent with commands */
    _Atomic(commands_chunk_t *) recorded; /* first chunk of each call that has recorded something */
    _Atomic(commands_chunk_t *) kept[COMMANDS_MAX_KEPT]; /* chunks of the last step; NULL: none, or taken */
    uint64_t step;                 /* number of the step that records now */
    uint64_t made_step;            /* number of the step that made the commands of the next members: */
    commands_created_t *calls;     /* by number */
    uint32_t call_count, call_capacity;
    bp_entity_t *entities;
    uint32_t entity_count, entity_capacity;
    uint64_t failures;             /* since the world began */
} commands_t;

struct bp_commands_o {
    commands_t *all;
    const char *unit;
    uint32_t call;
    uint32_t created;
    commands_chunk_t *first, *last;
    struct command_t *open; /* recorded last */
};

void commands_init(commands_t *commands, world_t *world, messages_t *messages, memory_t *parent);
void commands_free(commands_t *commands);

/* Brackets around one call of a verb of a unit. [job] */
static inline void commands_begin(struct bp_commands_o *recorder, commands_t *all, const char *unit, uint32_t call)
{
    *recorder = (struct bp_commands_o){.all = all, .unit = unit, .call = call};
}
void commands_keep(struct bp_commands_o *recorder);
static inline void commands_end(struct bp_commands_o *recorder)
{
    if (recorder->first != NULL)
        commands_keep(recorder);
}

/* Has any call recorded a command? [main] */
static inline bool commands_pending(commands_t *commands)
{
    return atomic_load_explicit(&commands->recorded, memory_order_relaxed) != NULL;
}

/* Make all that has been recorded; rows may move. [main] */
void commands_make(commands_t *commands, destruction_t *destruction);

/* Forget what the placeholders of the commands made last became. Needed where the number of the world's next step is
 * set: that step may have the number of the one whose commands were made last, and its placeholders would be taken for
 * those of that step. [main] */
void commands_forget_created(commands_t *commands);

/* As the entries of bp_command_api. [job] */
bp_result_t commands_create(bp_commands_o *recorder, uint32_t prototype, bp_entity_t *entities, uint32_t count);
bp_result_t commands_destroy(bp_commands_o *recorder, const bp_entity_t *entities, uint32_t count);
bp_result_t commands_add(bp_commands_o *recorder, uint32_t key, const bp_entity_t *entities, uint32_t count);
bp_result_t commands_remove(bp_commands_o *recorder, uint32_t key, const bp_entity_t *entities, uint32_t count);
bp_result_t commands_set(bp_commands_o *recorder, const bp_property_t *property, const bp_entity_t *entities,
                         uint32_t count, const void *values, size_t stride);

/* As bp_message_api.send. [job] */
bp_result_t commands_send(bp_commands_o *recorder, const bp_channel_o *channel, const void *const *values,
                          uint32_t count);

uint32_t commands_created(const commands_t *commands, const bp_entity_t *placeholders, uint32_t count,
                          bp_entity_t *entities);

#endif
