/* messages.h - channels of a world (bp_message.h): the records sent in this step, and those sent in the last one.
 *
 * A message is a record of the channel's fields, in the order in which the fields were first named, each at a multiple
 * of its alignment. Channels live as long as their world; the ends that plugins hold come and go. The fields of a
 * channel change between steps only, so records that are on their way in a step have its form.
 *
 * A message is recorded with the commands of the call that sends it (commands.h), which sets its order, and is put into
 * the channel when the commands are made. At the end of the step the sent records become the records that can be read.
 *
 * Not here: which verbs may send (commands.h).
 */
#ifndef HOST_STEP_MESSAGES_H
#define HOST_STEP_MESSAGES_H

#include "../plugin/plugin.h"
#include "../store/world.h"

#include <bp_message.h>

typedef struct message_field_t {
    char name[64];
    uint32_t type, count; /* of values: 1, or those of an array */
    uint32_t offset;
} message_field_t;

typedef struct records_of_messages_t {
    char *records;
    uint32_t count, capacity;
} message_records_t;

typedef struct pipe_t {
    char *name;
    message_field_t *fields;
    uint32_t field_count, field_capacity;
    uint32_t size;                /* of a record */
    message_records_t sent, read; /* in this step; in the last one */
    uint32_t lost;                /* of those sent in this step */
} pipe_t;

struct bp_channel_o {
    bp_channel_o *next;
    struct messages_t *all;
    const plugin_t *owner; /* NULL: the program */
    pipe_t *pipe;
    uint32_t *places;      /* of its fields among those of the channel */
    uint32_t *offsets;     /* in a record */
    uint32_t *sizes;       /* of values */
    uint32_t field_count;
    bool whole;            /* the end names all bytes of a record */
};

typedef struct messages_t {
    memory_t *memory;
    world_t *world;
    pipe_t **pipes;        /* in the order in which they were made */
    uint32_t count, capacity;
    bp_channel_o *ends;
} messages_t;

void messages_init(messages_t *messages, world_t *world, memory_t *memory);
void messages_free(messages_t *messages);

/* As the entries of bp_message_api; the caller has made sure that this is between steps. [main] */
bp_result_t messages_open(messages_t *messages, const plugin_t *owner, const char *name,
                          const bp_term_field_list_t *fields, bp_channel_o **channel);
void messages_close(bp_channel_o *channel);

/* Close the ends of a plugin. [main] */
void messages_close_of(messages_t *messages, const plugin_t *owner);

void messages_read(const bp_channel_o *channel, bp_messages_t *messages);

/* Write the records of what an end sends. [job] */
void messages_record(const bp_channel_o *channel, const void *const *values, char *records, uint32_t count);

/* Put sent records into their channel, as far as there is memory. [main] */
void messages_put(messages_t *messages, pipe_t *pipe, const char *records, uint32_t count);

/* At the end of a step: the records that were sent become those that can be read. [main] */
void messages_turn(messages_t *messages);

/* A channel of that name with these fields, which is made where it is missing, and gets the fields that it lacks.
 * Errors: type, memory. [main] */
bp_result_t messages_need(messages_t *messages, const char *name, const message_field_t *fields, uint32_t count,
                          pipe_t **pipe);

/* The channel of that name; NULL: there is none. */
pipe_t *messages_find(const messages_t *messages, const char *name);

/* A field of a channel; NULL: the channel has none of that name. */
message_field_t *messages_field(const pipe_t *pipe, const char *name);

/* The field of that name and type, of as many values; NULL: there is none. While a plugin is reloaded, a channel may
 * have a field of the name that is of another type. */
message_field_t *messages_field_like(const pipe_t *pipe, const message_field_t *like);

/* Bytes of a value of a field, all values of an array together. */
uint32_t message_field_size(const message_field_t *field);

#endif
