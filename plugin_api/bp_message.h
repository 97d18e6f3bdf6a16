/* bp_message.h - messages between plugins: sent in a step, read in the next one by each plugin that opened the channel.
 *
 *     struct hit { const bp_entity_t *who; const float *damage; };
 *     static const bp_term_field_t hit[] = {{BP_FIELD_OF(struct hit, who)}, {BP_FIELD_OF(struct hit, damage)}};
 *     const bp_term_field_list_t fields = BP_LIST(hit);
 *     const bp_message_api *messages = api->registry->find(host, BP_MESSAGE_API, 1);
 *     messages->open(s->world, s->plugin, "hits", &fields, &channel);           in `start`
 *
 *     const void *values[] = {&who, &damage};                                   in a step
 *     messages->send(channel, step->commands, values, 1);
 *
 *     bp_messages_t all = {.struct_size = sizeof all};                          in the next one, in any plugin
 *     messages->read(channel, &all);
 *     for (uint32_t i = 0; i < all.count; i++)
 *         damage = *(const float *)bp_message_value(&all, i, 1);
 *
 * A channel belongs to a world and has a name. A plugin that opens it names the fields that it sends or reads, by name
 * and type; the channel has all fields that its ends have named, and a message is zero in those that its sender did not
 * name. So plugins need no header of each other, and no order of loading.
 *
 * Messages are in the order of commands (bp_command_api), which is the same on any number of threads: unit by unit,
 * within a unit match by match and range by range, within a call in the order of sending. Messages can be read from the
 * end of the step in which they were sent to the end of the next one, and are gone then. Between two steps messages are
 * part of the state of the world, and are kept where a host remembers (docs/history.md).
 *
 * Fields are of all types but strings and lists. Placeholders of commands->create in BP_ENTITY fields become the
 * entities, or {0} where creation failed.
 *
 * Not here: messages to other worlds, and calls that return an answer at once (tables of plugins, bp_api.h).
 */
#ifndef BP_MESSAGE_H
#define BP_MESSAGE_H

#include "bp_system.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_MESSAGE_API "bp_message"

/* Fields of one channel. */
#define BP_MESSAGE_MOST_FIELDS 64u

/* One end of a channel: what `open` returned to one plugin or embedder. */
typedef struct bp_channel_o bp_channel_o;

/* The messages that can be read. Borrowed: as long as the step; between steps until the next one begins, and until an
 * end of a channel is opened or closed, by whomever and also with its plugin, or the host goes to another time. */
typedef struct bp_messages_t {
    uint32_t struct_size;    /* the caller's sizeof, said by the caller: as many bytes are written */
    uint32_t count;
    uint32_t stride;         /* bytes from one message to the next */
    uint32_t field_count;
    const void *first;       /* NULL where there is none */
    const uint32_t *offsets; /* in a message, of each field that this end has named */
} bp_messages_t;

/* Field `field` of message `index`: a value as bp_types.h says for its type, of an array all its values. [job] */
static inline const void *bp_message_value(const bp_messages_t *messages, uint32_t index, uint32_t field)
{
    return (const char *)messages->first + (size_t)index * messages->stride + messages->offsets[field];
}

typedef struct bp_message_api {
    uint32_t struct_size;
    uint32_t version;

    /* Open the channel `name` (a word) of a world; it is made where there is none. `fields` are copied; their access
     * and flags mean nothing here. `plugin` is the one that asks, NULL for an embedder: with the plugin, or with the
     * world, this end is closed at the latest. Between steps. BP_ERROR_TYPE: a field is of another type or number of
     * values in the channel already, or of a type that messages do not have; BP_ERROR_LIMIT; BP_ERROR_ARGUMENT;
     * BP_ERROR_STATE in the middle of a step; BP_ERROR_MEMORY. [main] */
    bp_result_t (BP_CALL *open)(bp_world_o *world, const struct bp_plugin_t *plugin, const char *name,
                                const bp_term_field_list_t *fields, bp_channel_o **channel);

    /* Close an end, between steps. What was sent through it stays to be read. NULL is allowed. [main] */
    void (BP_CALL *close)(bp_channel_o *channel);

    /* Send `count` messages. values[k] points to `count` packed values of the k-th field that this end has named; NULL:
     * zero. The values are copied. `commands` is step->commands of the verb that is running, in the channel's world
     * (BP_ERROR_ARGUMENT); BP_ERROR_STATE where it is NULL; BP_ERROR_MEMORY: nothing of this call is sent. Where memory
     * is lacking at the end of the step, messages are lost and the log says how many. [job] */
    bp_result_t (BP_CALL *send)(bp_channel_o *channel, bp_commands_o *commands, const void *const *values,
                                uint32_t count);

    /* What was sent in the last step that has ended, by all ends, this one's too. How long it is good says
     * bp_messages_t. [job] */
    void (BP_CALL *read)(const bp_channel_o *channel, bp_messages_t *messages);
} bp_message_api;

#ifdef __cplusplus
}
#endif
#endif
