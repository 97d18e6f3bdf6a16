/* cases_messages.c - the cost of a message of 16 bytes, sent in one step and read in the next one.
 *
 * A system sends as many messages as the size says, and adds up those of the step before, once with a call for all of
 * them and once with a call for each. The figure is a whole step, divided by the messages. There is no floor: the bound
 * is a time.
 */
#include "cases.h"

#include "worlds.h"

#include <bp_message.h>
#include <stdlib.h>

enum { MOST_TIMES = 32 };

typedef struct note_t {
    uint64_t number;
    double value;
} note_t;

typedef struct telling_t {
    const bp_message_api *api;
    bp_channel_o *channel;
    uint64_t *numbers;
    double *values, sum;
    uint32_t count;
    bool one_by_one;
} telling_t;

static telling_t telling; /* static, as the plugin is linked in and only one course runs at a time */

static bp_result_t open_channel(bp_system_t *s)
{
    static const bp_term_field_t fields[] = {{.name = "number", .type = BP_U64}, {.name = "value", .type = BP_F64}};
    const bp_term_field_list_t list = BP_LIST(fields);
    telling.api = (const bp_message_api *)s->api->registry->find(s->host, BP_MESSAGE_API, 1);
    return telling.api->open(s->world, s->plugin, "notes", &list, &telling.channel);
}

static void send_and_read(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    bp_messages_t all = {.struct_size = sizeof all};
    uint32_t batch = telling.one_by_one ? 1 : telling.count;
    (void)matches, (void)count;
    for (uint32_t i = 0; i < telling.count; i += batch) {
        const void *values[] = {telling.numbers + i, telling.values + i};
        worlds_must(s->host, telling.api->send(telling.channel, step->commands, values, batch), "sending");
    }
    telling.api->read(telling.channel, &all);
    for (uint32_t i = 0; i < all.count; i++)
        telling.sum += *(const double *)bp_message_value(&all, i, 1);
}

static const bp_system_i systems[] = {{.name = "tell", .start = open_channel, .run_all = send_and_read}};
static const bp_plugin_head_t plugin =
    BP_PLUGIN_HEAD("telling", (&(const bp_plugin_desc_t){.version = "1", .systems = BP_LIST(systems)}));
static const bp_plugin_head_t *const plugins[] = {&plugin};

static void measure_steps(results_t *results, const char *name, bp_host_o *host, bp_world_o *world, uint32_t times,
                          bound_t bound)
{
    double took[MOST_TIMES];
    uint32_t size = telling.count;
    for (uint32_t i = 0; i < times + 2; i++) { /* two that are not counted: the channel gets its memory */
        uint64_t began = measure_now();
        worlds_must(host, bp_world_step(world), "a step");
        if (i >= 2)
            took[i - 2] = (double)(measure_now() - began) / (double)size;
    }
    measure_put(results, "messages", name, size, UNIT_NS, took, NULL, times, bound);
}

static void run(results_t *results, uint32_t size, uint32_t times)
{
    uint32_t count = times < MOST_TIMES ? times : MOST_TIMES;
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.static_plugins = plugins, .static_plugin_count = 1});
    telling = (telling_t){.count = size};
    telling.numbers = worlds_memory(size, sizeof *telling.numbers);
    telling.values = worlds_memory(size, sizeof *telling.values);
    for (uint32_t i = 0; i < size; i++) {
        telling.numbers[i] = i;
        telling.values[i] = 0.5 * i;
    }
    worlds_must(host, bp_host_load_plugin(host, "telling", NULL, 0), "loading");
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = 60});
    worlds_must(host, bp_world_use_system(world, "tell"), "a system");
    measure_steps(results, "in_bulk", host, world, count, (bound_t)AT_MOST(20));
    telling.one_by_one = true;
    measure_steps(results, "one_a_call", host, world, count, (bound_t){.kind = BOUND_NONE});
    bp_host_destroy(host);
    free(telling.numbers);
    free(telling.values);
}

static const uint32_t sizes[] = {10000, 100000, 0};

const course_t course_messages = {"messages", sizes, run};
