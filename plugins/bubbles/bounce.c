/* bounce.c - bounces sent to other plugins as messages, and counted.
 *
 * In a world that has the component `bounces`, bubbles_avoid sends a message on the channel "bounces" for every time
 * that a sprite bounces off a bubble: the sprite, the place, and the colour that the sprite took. A plugin that makes
 * sounds or sparks of bounces reads the channel in the next step, without a header of this plugin. bubbles_count is
 * such a reader: it keeps how many bounces there have been, for people, recorders and curves. Where the world has no
 * such component nothing is sent.
 *
 * Messages are in the order of the step, on any number of threads, and so are the counts the same.
 */
#include "bubbles.h"

#include <bp_message.h>

#define CHANNEL "bounces"

struct bounce { const bp_entity_t *who; const bp_vec2_t *place; const bp_vec3_t *colour; };

static const bp_term_field_t sent[] = {
    {BP_FIELD_OF(struct bounce, who)}, {BP_FIELD_OF(struct bounce, place)}, {BP_FIELD_OF(struct bounce, colour)}};

static bp_result_t open_channel(bp_system_t *s, const bp_term_field_list_t *fields, bp_channel_o **channel,
                                const bp_message_api **messages)
{
    *messages = s->api->registry->find(s->host, BP_MESSAGE_API, 1);
    if (*messages == NULL)
        return s->api->error->set(s->host, BP_ERROR_NOT_FOUND, "bubbles: this host has no messages");
    return (*messages)->open(s->world, s->plugin, CHANNEL, fields, channel);
}

/* --- sending ------------------------------------------------------------------------------------------------------ */

bp_result_t bubbles_avoid_start(bp_system_t *s)
{
    const bp_term_field_list_t fields = BP_LIST(sent);
    bp_result_t result = bubbles_use_manager(s, "bubble");
    if (result != BP_OK)
        return result;
    bubbles_avoid_t *avoid = s->api->memory->resize(s->plugin, NULL, 0, sizeof *avoid);
    if (avoid == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "bubbles: out of memory at the start of bubbles_avoid");
    *avoid = (bubbles_avoid_t){.bubbles = s->state};
    s->state = avoid;
    result = open_channel(s, &fields, &avoid->bounces, &avoid->messages);
    if (result != BP_OK)
        s->api->memory->resize(s->plugin, avoid, sizeof *avoid, 0);
    return result;
}

void bubbles_avoid_stop(bp_system_t *s)
{
    bubbles_avoid_t *avoid = s->state;
    avoid->messages->close(avoid->bounces);
    s->api->memory->resize(s->plugin, avoid, sizeof *avoid, 0);
}

void bubbles_bounces_send(bubbles_bounces_t *b)
{
    const void *const values[] = {b->who, b->place, b->colour};
    if (b->count > 0)
        b->avoid->messages->send(b->avoid->bounces, b->commands, values, b->count); /* a failure loses these messages */
    b->count = 0;
}

/* --- counting ----------------------------------------------------------------------------------------------------- */

/* This end names the field `who` alone, since only the number of messages is needed. */
static const bp_term_field_t counted[] = {{BP_FIELD_OF(struct bounce, who)}};

typedef struct count_t {
    bp_channel_o *bounces;
    const bp_message_api *messages;
} count_t;

bp_result_t bubbles_count_start(bp_system_t *s)
{
    const bp_term_field_list_t fields = BP_LIST(counted);
    count_t *count = s->api->memory->resize(s->plugin, NULL, 0, sizeof *count);
    if (count == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "bubbles: out of memory at the start of bubbles_count");
    *count = (count_t){.bounces = NULL};
    bp_result_t result = open_channel(s, &fields, &count->bounces, &count->messages);
    if (result != BP_OK)
        s->api->memory->resize(s->plugin, count, sizeof *count, 0);
    else
        s->state = count;
    return result;
}

void bubbles_count_stop(bp_system_t *s)
{
    count_t *count = s->state;
    count->messages->close(count->bounces);
    s->api->memory->resize(s->plugin, count, sizeof *count, 0);
}

void bubbles_count_run(const bp_match_t *match, uint32_t count)
{
    const count_t *c = match->system->state;
    bp_messages_t messages = {.struct_size = sizeof messages};
    BP_COLUMNS(struct bounces, b, match->columns[0]);
    c->messages->read(c->bounces, &messages);
    for (uint32_t i = 0; i < count; i++) { /* there is one: the world's */
        b.last[i] = messages.count;
        b.total[i] += messages.count;
    }
}
