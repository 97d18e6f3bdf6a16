/* test_messages.c - messages between plugins: who gets what, when, in which order, on any number of threads, and what
 * becomes of messages under way when a host is written down, brought back, or short of memory.
 *
 * The rows of `emitter` send what they are; `collect` reads it a step later and adds it up so that order counts.
 */
#include "../reload/reload_support.h"
#include "../suites.h"
#include "../unit/inspect.h"
#include "../unit/support.h"

#include <bp_message.h>

#include <stdlib.h>
#include <string.h>

/* Of MANY rows, the messages of one call take more than COMMANDS_KEPT_SIZE bytes on 4 threads too. */
enum { ROWS = 9000, MANY = 200000 };

/* --- the plugin --------------------------------------------------------------------------------------------------- */

typedef struct ends_t {
    const bp_message_api *api;
    bp_channel_o *channel;
} ends_t;

/* What was read in the last step, and a sum in which order counts. */
typedef struct reading_t {
    ends_t ends;
    uint64_t sum;
    uint32_t count;
} reading_t;

static const bp_term_field_t all_fields[] = {{.name = "from", .type = BP_ENTITY}, {.name = "what", .type = BP_F32}};
static const bp_term_field_t what_field[] = {{.name = "what", .type = BP_F32}};
static bool creates, quiet;
static bp_channel_o *several; /* an end with an array of entities; NULL: none */
static bp_channel_o *bulky;   /* an end with messages of 256 KiB; NULL: none */

static bp_result_t open_end(const bp_api_t *api, bp_world_o *world, const bp_plugin_t *plugin,
                            const bp_term_field_list_t *list, ends_t *ends)
{
    ends->api = api->registry->find(plugin->host, BP_MESSAGE_API, 1);
    return ends->api->open(world, plugin, "news", list, &ends->channel);
}

static bp_result_t emit_start(bp_system_t *s)
{
    const bp_term_field_list_t list = BP_LIST(all_fields);
    s->state = s->api->memory->resize(s->plugin, NULL, 0, sizeof(ends_t));
    return open_end(s->api, s->world, s->plugin, &list, s->state);
}

static void emit_stop(bp_system_t *s)
{
    const ends_t *ends = s->state;
    ends->api->close(ends->channel);
    s->api->memory->resize(s->plugin, s->state, sizeof(ends_t), 0);
}

static void emit(const bp_match_t *match, uint32_t count)
{
    const ends_t *ends = match->system->state;
    const float *weight = BP_TERM_COLUMN(match, const float, 0, 0);
    for (uint32_t i = 0; i < count && !quiet; i++) {
        float value = weight[i] + (float)match->step->number;
        const void *values[] = {&match->entities[i], &value};
        EXPECT(ends->api->send(ends->channel, match->step->commands, values, 1) == BP_OK, "not sent");
    }
    const void *columns[] = {match->entities, weight}; /* and all once more, in bulk */
    EXPECT(ends->api->send(ends->channel, match->step->commands, columns, quiet ? 1 : count) == BP_OK,
           "not sent");
    if (bulky != NULL) {
        const void *nothing[] = {NULL};
        EXPECT(ends->api->send(bulky, match->step->commands, nothing, 1) == BP_OK, "not sent");
    }
    if (creates) {
        bp_entity_t made;
        const void *values[] = {&made, NULL};
        match->system->api->command->create(match->step->commands, 0, &made, 1);
        EXPECT(ends->api->send(ends->channel, match->step->commands, values, 1) == BP_OK, "not sent");
        if (several != NULL) {
            bp_entity_t all[] = {made, {0}, made};
            const void *arrays[] = {all};
            EXPECT(ends->api->send(several, match->step->commands, arrays, 1) == BP_OK, "not sent");
        }
    }
}

static bp_result_t collect_start(bp_system_t *s)
{
    const bp_term_field_list_t list = BP_LIST(what_field);
    reading_t *reading = s->api->memory->resize(s->plugin, NULL, 0, sizeof *reading);
    memset(reading, 0, sizeof *reading);
    s->state = reading;
    return open_end(s->api, s->world, s->plugin, &list, &reading->ends);
}

static void collect_stop(bp_system_t *s)
{
    const reading_t *reading = s->state;
    reading->ends.api->close(reading->ends.channel);
    s->api->memory->resize(s->plugin, s->state, sizeof *reading, 0);
}

static reading_t last;

static void collect(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    reading_t *reading = s->state;
    bp_messages_t all = {.struct_size = sizeof all};
    (void)step, (void)matches, (void)count;
    reading->ends.api->read(reading->ends.channel, &all);
    for (uint32_t i = 0; i < all.count; i++) {
        uint32_t bits;
        memcpy(&bits, bp_message_value(&all, i, 0), sizeof bits);
        reading->sum = reading->sum * UINT64_C(0x9E3779B97F4A7C15) + bits;
    }
    reading->count = all.count;
    last = *reading;
}

/* A system that opens no end itself, and has nothing that is kept. */
static void speak(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    const bp_message_api *api = s->api->registry->find(s->host, BP_MESSAGE_API, 1);
    const bp_entity_t all[3] = {{0}};
    const void *arrays[] = {all};
    (void)matches, (void)count;
    EXPECT(api->send(several, step->commands, arrays, 1) == BP_OK, "not sent");
}

/* A state that is brought back beside the one in place, and looks into the channel meanwhile. */
static bp_result_t scout_start(bp_manager_t *m)
{
    const bp_term_field_list_t list = BP_LIST(what_field);
    ends_t ends;
    bp_result_t result = open_end(m->api, m->world, m->plugin, &list, &ends);
    if (result == BP_OK)
        ends.api->close(ends.channel);
    return result;
}

static bp_result_t scout_save(bp_manager_t *m, void **data, size_t *size)
{
    *data = m->api->memory->resize(m->plugin, NULL, 0, *size = 1);
    *(char *)*data = 0;
    return BP_OK;
}

static bp_result_t scout_load(bp_manager_t *m, uint32_t version, const void *data, size_t size)
{
    (void)m, (void)version, (void)data;
    return size == 1 ? BP_OK : BP_ERROR_SYNTAX;
}

static const bp_save_i scout_saves = {.save = scout_save, .load = scout_load};
static const bp_extension_t scout_extensions[] = {{BP_EXTENSION("bp_save", scout_saves)}};
static const bp_field_t emitter_fields[] = {{.name = "weight", .type = BP_F32}};
static const bp_component_i components[] = {
    {.name = "emitter", .fields = BP_LIST(emitter_fields)},
    {.name = "scout", .start = scout_start, .keeps = BP_KEEP_SAVED, .extensions = BP_LIST(scout_extensions)},
};
static const bp_term_field_t weight[] = {{.name = "weight", .type = BP_F32}};
static const bp_term_t terms[] = {{.component = "emitter", .fields = BP_LIST(weight)}};
static const bp_system_i systems[] = {
    {.name = "collect", .run_all = collect, .start = collect_start, .stop = collect_stop, .keeps = BP_KEEP_NOTHING},
    {.name = "emit", .flags = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT, .terms = BP_LIST(terms), .run = emit,
     .start = emit_start, .stop = emit_stop, .keeps = BP_KEEP_ANEW},
    {.name = "speak", .run_all = speak, .keeps = BP_KEEP_NOTHING},
};
static const bp_plugin_head_t mail = BP_PLUGIN_HEAD("mail", (&(const bp_plugin_desc_t){.version = "1",
                                          .components = BP_LIST(components), .systems = BP_LIST(systems)}));

/* --- the rig ------------------------------------------------------------------------------------------------------ */

typedef struct post_t {
    rig_t rig;
    bp_world_o *world;
    bp_entity_t *entities;
    const bp_message_api *api;
} post_t;

static void post_open(post_t *p, uint32_t threads, uint32_t rows)
{
    static const bp_plugin_head_t *const linked[] = {&mail};
    memset(p, 0, sizeof *p);
    creates = quiet = false;
    several = bulky = NULL;
    last = (reading_t){.count = 0};
    rig_init(&p->rig);
    p->rig.desc.static_plugins = linked;
    p->rig.desc.static_plugin_count = 1;
    p->rig.desc.threads = threads;
    if (threads > 1)
        p->rig.desc.allocator = NULL; /* the heap of rigs is for one thread */
    rig_open(&p->rig);
    WORKS(p->rig.host, bp_host_load_plugin(p->rig.host, "mail", NULL, 0));
    p->world = bp_world_create(p->rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(p->rig.host, bp_world_use_component(p->world, "emitter"));
    WORKS(p->rig.host, bp_world_use_system(p->world, "collect"));
    WORKS(p->rig.host, bp_world_use_system(p->world, "emit"));
    p->entities = malloc((rows + 1u) * sizeof *p->entities);
    WORKS(p->rig.host, p->rig.api->world->create(p->world, prototype_of(p->world, "emitter", NULL, NULL, NULL),
                                                 p->entities, rows));
    for (uint32_t i = 0; i < rows; i++) {
        float value = (float)i;
        WORKS(p->rig.host, p->rig.api->property->set_named(p->world, p->entities[i], "emitter", "weight", BP_F32,
                                                           &value));
    }
    p->api = p->rig.api->registry->find(p->rig.host, BP_MESSAGE_API, 1);
}

static void post_close(post_t *p)
{
    free(p->entities);
    check_host(p->rig.host);
    rig_close(&p->rig);
}

static uint64_t sum_on(uint32_t threads, uint32_t rows)
{
    post_t p;
    post_open(&p, threads, rows);
    for (uint32_t i = 0; i < 4; i++)
        WORKS(p.rig.host, bp_world_step(p.world));
    uint64_t sum = last.sum;
    ck_assert_uint_eq(last.count, 2 * rows);
    post_close(&p);
    return sum;
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

START_TEST(what_is_sent_is_read_in_the_next_step_and_then_gone)
{
    post_t p;
    bp_channel_o *mine;
    bp_messages_t all = {.struct_size = sizeof all};
    const bp_term_field_list_t list = BP_LIST(all_fields);
    post_open(&p, 1, 3);
    WORKS(p.rig.host, p.api->open(p.world, NULL, "news", &list, &mine));
    p.api->read(mine, &all);
    ck_assert_uint_eq(all.count, 0);
    WORKS(p.rig.host, bp_world_step(p.world));
    ck_assert_uint_eq(last.count, 0);
    p.api->read(mine, &all);
    ck_assert_uint_eq(all.count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        const bp_entity_t *from = bp_message_value(&all, i, 0);
        const float *what = bp_message_value(&all, i, 1);
        ck_assert(from->id == p.entities[i % 3].id && *what == (float)(i % 3));
    }
    WORKS(p.rig.host, bp_world_step(p.world));
    ck_assert_uint_eq(last.count, 6);
    p.rig.api->entity->destroy(p.rig.host, p.entities, 3);
    WORKS(p.rig.host, bp_world_step(p.world));
    ck_assert_uint_eq(last.count, 6);
    WORKS(p.rig.host, bp_world_step(p.world));
    ck_assert_uint_eq(last.count, 0);
    p.api->close(mine);
    p.api->close(NULL);
    post_close(&p);
}
END_TEST

START_TEST(the_order_is_the_same_on_any_number_of_threads)
{
    uint32_t rows = _i == 0 ? ROWS : MANY;
    uint64_t one = sum_on(1, rows);
    ck_assert_uint_eq(sum_on(2, rows), one);
    ck_assert_uint_eq(sum_on(4, rows), one);
}
END_TEST

/* Such blocks are pages of the system where the embedder has no allocator, with a fault for each page that is touched
 * the first time. */
START_TEST(many_messages_take_no_large_blocks_in_each_step_and_keep_none_that_is_not_needed)
{
    enum { LARGE = 256 * 1024 };
    post_t p;
    post_open(&p, 1, MANY);
    for (uint32_t i = 0; i < 3; i++)
        WORKS(p.rig.host, bp_world_step(p.world));
    p.rig.heap.largest = 0;
    for (uint32_t i = 0; i < 3; i++)
        WORKS(p.rig.host, bp_world_step(p.world));
    ck_assert_msg(p.rig.heap.largest < LARGE, "a block of %zu bytes", p.rig.heap.largest);
    size_t many = p.rig.heap.bytes;
    quiet = true;
    WORKS(p.rig.host, bp_world_step(p.world));
    ck_assert_msg(p.rig.heap.bytes + 2 * LARGE < many, "%zu bytes of %zu are left", p.rig.heap.bytes, many);
    post_close(&p);
}
END_TEST

/* Room for more of the same is taken where messages are small. */
START_TEST(one_large_message_takes_the_memory_of_a_few)
{
    enum { KIB = 1024, NUMBERS = 256 * KIB / 32 };
    static const bp_term_field_t sheet[] = {{.name = "sheet", .type = BP_DVEC4, .count = NUMBERS}};
    const bp_term_field_list_t list = BP_LIST(sheet);
    bp_messages_t all = {.struct_size = sizeof all};
    post_t p;
    post_open(&p, 1, 2);
    WORKS(p.rig.host, p.api->open(p.world, NULL, "sheets", &list, &bulky));
    p.rig.heap.largest = 0;
    WORKS(p.rig.host, bp_world_step(p.world));
    ck_assert_msg(p.rig.heap.largest <= 4 * 256 * KIB, "a block of %zu bytes", p.rig.heap.largest);
    p.api->read(bulky, &all);
    ck_assert_uint_eq(all.count, 1);
    ck_assert_uint_eq(all.stride, 256 * KIB);
    post_close(&p);
}
END_TEST

START_TEST(placeholders_become_the_entities)
{
    post_t p;
    bp_channel_o *mine;
    bp_messages_t all = {.struct_size = sizeof all};
    const bp_term_field_list_t list = BP_LIST(all_fields);
    static const bp_term_field_t who[] = {{.name = "who", .type = BP_ENTITY, .count = 3}};
    const bp_term_field_list_t of_who = BP_LIST(who);
    post_open(&p, 1, 2);
    creates = true;
    WORKS(p.rig.host, p.api->open(p.world, NULL, "news", &list, &mine));
    WORKS(p.rig.host, p.api->open(p.world, NULL, "births", &of_who, &several));
    WORKS(p.rig.host, bp_world_step(p.world));
    p.api->read(mine, &all);
    ck_assert_uint_eq(all.count, 5);
    const bp_entity_t *made = bp_message_value(&all, 4, 0);
    ck_assert_uint_eq(p.rig.api->entity->alive(p.rig.host, made, 1, NULL), 1);
    ck_assert_float_eq(*(const float *)bp_message_value(&all, 4, 1), 0);
    bp_entity_t one = *made;
    p.api->read(several, &all);
    ck_assert_uint_eq(all.count, 1);
    made = bp_message_value(&all, 0, 0);
    ck_assert(p.rig.api->entity->alive(p.rig.host, made, 1, NULL) == 1 && made[0].id == one.id);
    ck_assert(made[1].id == 0 && made[2].id == one.id);
    post_close(&p);
}
END_TEST

START_TEST(a_channel_has_the_fields_of_all_who_name_it)
{
    static const bp_term_field_t more[] = {{.name = "flag", .type = BP_U8},
                                           {.name = "grid", .type = BP_F64, .count = 3},
                                           {.name = "what", .type = BP_F32},
                                           {.name = "dark", .type = BP_BOOL},
                                           {.name = "way", .type = BP_VEC3}};
    static const bp_term_field_t wrong[] = {{.name = "what", .type = BP_F64}};
    static const bp_term_field_t text[] = {{.name = "text", .type = BP_STRING}};
    static const bp_term_field_t twice[] = {{.name = "a", .type = BP_I32}, {.name = "a", .type = BP_I32}};
    const bp_term_field_list_t list = BP_LIST(more), of_wrong = BP_LIST(wrong), of_text = BP_LIST(text),
                               of_twice = BP_LIST(twice), none = {0};
    post_t p;
    bp_channel_o *mine, *no = NULL;
    bp_messages_t all = {.struct_size = sizeof all};
    post_open(&p, 1, 3);
    WORKS(p.rig.host, bp_world_step(p.world)); /* what is under way gets the new fields, too */
    WORKS(p.rig.host, p.api->open(p.world, NULL, "news", &list, &mine));
    p.api->read(mine, &all);
    ck_assert_uint_eq(all.count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        const double *grid = bp_message_value(&all, i, 1);
        ck_assert(*(const uint8_t *)bp_message_value(&all, i, 0) == 0 && grid[0] == 0 && grid[2] == 0);
        ck_assert_float_eq(*(const float *)bp_message_value(&all, i, 2), (float)(i % 3));
        ck_assert_uint_eq((uintptr_t)grid % 8, 0);
        ck_assert_uint_eq((uintptr_t)bp_message_value(&all, i, 4) % 4, 0);
    }
    WORKS(p.rig.host, bp_world_step(p.world));
    ck_assert_uint_eq(last.count, 6);
    FAILS(p.rig.host, BP_ERROR_TYPE, "channel 'news' of world 'main' has field 'what' as 1 f32, not as 1 f64",
          p.api->open(p.world, NULL, "news", &of_wrong, &no));
    ck_assert_int_eq(p.api->open(p.world, NULL, "other", &of_text, &no), BP_ERROR_TYPE);
    ck_assert_int_eq(p.api->open(p.world, NULL, "other", &of_twice, &no), BP_ERROR_EXISTS);
    ck_assert_int_eq(p.api->open(p.world, NULL, "other", &none, &no), BP_ERROR_ARGUMENT);
    ck_assert_int_eq(p.api->open(p.world, NULL, "two words", &list, &no), BP_ERROR_ARGUMENT);
    ck_assert_int_eq(p.api->send(mine, NULL, NULL, 1), BP_ERROR_STATE);
    ck_assert_ptr_null(no);
    post_close(&p); /* which closes what is open */
}
END_TEST

START_TEST(messages_under_way_are_kept_and_come_back)
{
    post_t p;
    bp_snapshot_o *snapshot, *again, *read;
    size_t size;
    post_open(&p, 1, 100);
    for (uint32_t i = 0; i < 3; i++)
        WORKS(p.rig.host, bp_world_step(p.world));
    WORKS(p.rig.host, bp_host_snapshot(p.rig.host, &snapshot));
    uint64_t then = bp_snapshot_hash(snapshot, NULL);
    WORKS(p.rig.host, bp_world_step(p.world));
    uint64_t sum = last.sum;
    p.rig.api->entity->destroy(p.rig.host, p.entities, 100);
    for (uint32_t i = 0; i < 3; i++)
        WORKS(p.rig.host, bp_world_step(p.world));
    ck_assert_uint_eq(last.count, 0);
    const void *bytes = bp_snapshot_bytes(snapshot, &size);
    WORKS(p.rig.host, bp_snapshot_read(p.rig.host, bytes, size, &read));
    WORKS(p.rig.host, bp_host_bring_back(p.rig.host, read));
    WORKS(p.rig.host, bp_host_snapshot(p.rig.host, &again));
    ck_assert_uint_eq(bp_snapshot_hash(again, NULL), then);
    last.count = 0;
    WORKS(p.rig.host, bp_world_step(p.world));
    ck_assert_uint_eq(last.count, 200);
    (void)sum;
    bp_snapshot_free(snapshot);
    bp_snapshot_free(again);
    bp_snapshot_free(read);
    post_close(&p);
}
END_TEST

static void list_structure(void *context, const char *world, bp_entity_t entity, const char *text)
{
    char *list = context;
    size_t length = strlen(list);
    (void)entity;
    snprintf(list + length, 256 - length, "%s: %s\n", world, text);
}

/* `quiet` sends other messages; the sender has no state, and the reader does not say what it has. */
START_TEST(messages_that_differ_are_told)
{
    post_t p;
    bp_snapshot_o *before, *after;
    char list[256] = "";
    const bp_diff_i sink = {.struct_size = sizeof sink, .most = 9, .context = list, .structure = list_structure};
    post_open(&p, 1, 2);
    quiet = true;
    WORKS(p.rig.host, bp_world_step(p.world));
    WORKS(p.rig.host, bp_host_snapshot(p.rig.host, &before));
    quiet = false;
    WORKS(p.rig.host, bp_world_step(p.world));
    WORKS(p.rig.host, bp_host_snapshot(p.rig.host, &after));
    WORKS(p.rig.host, bp_snapshot_diff(p.rig.host, before, after, &sink));
    ck_assert_str_eq(list, "main: the messages of channel news differ\n");
    list[0] = '\0';
    WORKS(p.rig.host, bp_snapshot_diff(p.rig.host, after, after, &sink));
    ck_assert_str_eq(list, "");
    bp_snapshot_free(before);
    bp_snapshot_free(after);
    post_close(&p);
}
END_TEST

START_TEST(messages_come_back_where_managers_open_and_close_ends_meanwhile)
{
    static const bp_term_field_t extra[] = {{.name = "extra", .type = BP_U32}};
    const bp_term_field_list_t list = BP_LIST(extra);
    bp_snapshot_o *snapshot;
    bp_channel_o *mine;
    post_t p;
    post_open(&p, 1, 100);
    WORKS(p.rig.host, bp_world_use_component(p.world, "scout"));
    WORKS(p.rig.host, p.api->open(p.world, NULL, "news", &list, &mine));
    WORKS(p.rig.host, bp_world_step(p.world));
    WORKS(p.rig.host, bp_host_snapshot(p.rig.host, &snapshot));
    p.api->close(mine);
    WORKS(p.rig.host, bp_host_bring_back(p.rig.host, snapshot));
    WORKS(p.rig.host, bp_world_step(p.world));
    ck_assert_uint_eq(last.count, 200);
    bp_snapshot_free(snapshot);
    post_close(&p);
}
END_TEST

/* An end that names all fields writes whole records; when a field comes back beside them it does so no longer. */
START_TEST(a_field_that_has_come_back_is_zero_in_messages_that_do_not_name_it)
{
    static const bp_term_field_t who[] = {{.name = "who", .type = BP_ENTITY, .count = 3}};
    static const bp_term_field_t extra[] = {{.name = "extra", .type = BP_U64}};
    const bp_term_field_list_t of_who = BP_LIST(who), of_extra = BP_LIST(extra);
    bp_messages_t all = {.struct_size = sizeof all};
    bp_snapshot_o *snapshot;
    bp_channel_o *mine;
    post_t p;
    post_open(&p, 1, 2);
    WORKS(p.rig.host, bp_world_drop_system(p.world, "emit")); /* which would open an end anew when it is brought back */
    WORKS(p.rig.host, bp_world_drop_system(p.world, "collect"));
    WORKS(p.rig.host, bp_world_use_system(p.world, "speak"));
    WORKS(p.rig.host, p.api->open(p.world, NULL, "words", &of_who, &several));
    WORKS(p.rig.host, p.api->open(p.world, NULL, "words", &of_extra, &mine));
    WORKS(p.rig.host, bp_host_snapshot(p.rig.host, &snapshot));
    p.api->close(mine); /* and its field goes */
    WORKS(p.rig.host, bp_host_bring_back(p.rig.host, snapshot));
    WORKS(p.rig.host, bp_world_step(p.world));
    WORKS(p.rig.host, p.api->open(p.world, NULL, "words", &of_extra, &mine));
    p.api->read(mine, &all);
    ck_assert_uint_eq(all.count, 1);
    ck_assert_uint_eq(*(const uint64_t *)bp_message_value(&all, 0, 0), 0);
    bp_snapshot_free(snapshot);
    post_close(&p);
}
END_TEST

START_TEST(a_damaged_block_of_messages_is_refused)
{
    post_t p;
    bp_snapshot_o *snapshot, *read;
    size_t size;
    uint64_t random = 5;
    post_open(&p, 1, 4);
    WORKS(p.rig.host, bp_world_step(p.world));
    WORKS(p.rig.host, bp_host_snapshot(p.rig.host, &snapshot));
    const char *bytes = bp_snapshot_bytes(snapshot, &size);
    char *bad = malloc(size);
    for (uint32_t round = 0; round < 3000; round++) {
        memcpy(bad, bytes, size);
        bad[bp_random_below(&random, (uint32_t)size)] ^= (char)(1u << bp_random_below(&random, 8));
        if (bp_snapshot_read(p.rig.host, bad, size, &read) == BP_OK) {
            bp_host_bring_back(p.rig.host, read); /* whatever it answers, nothing is followed that is not there */
            bp_snapshot_free(read);
            WORKS(p.rig.host, bp_host_bring_back(p.rig.host, snapshot));
        }
    }
    memset(p.rig.log.text, 0, sizeof p.rig.log.text);
    p.rig.log.count = 0;
    free(bad);
    bp_snapshot_free(snapshot);
    post_close(&p);
}
END_TEST

START_TEST(each_allocation_may_fail)
{
    const bp_term_field_list_t list = BP_LIST(all_fields);
    uint64_t refused = 0;
    for (uint64_t at = 1; at < 60; at++) {
        post_t p;
        bp_channel_o *mine = NULL;
        post_open(&p, 1, 40);
        p.rig.heap.refuse_first = p.rig.heap.requests + at;
        p.rig.heap.refuse_last = p.rig.heap.requests + at;
        bp_result_t result = p.api->open(p.world, NULL, "fresh", &list, &mine);
        ck_assert(result == BP_OK || (result == BP_ERROR_MEMORY && mine == NULL));
        refused = p.rig.heap.refused;
        p.rig.heap.refuse_first = 0;
        if (result != BP_OK)
            WORKS(p.rig.host, p.api->open(p.world, NULL, "fresh", &list, &mine));
        post_close(&p);
        if (refused == 0)
            return;
    }
    ck_abort_msg("opening takes no end of allocations");
}
END_TEST

START_TEST(without_memory_messages_are_lost_and_the_log_says_how_many)
{
    post_t p;
    post_open(&p, 1, 1);
    messages_t *messages = &p.world->schedule->messages;
    pipe_t *pipe = messages_find(messages, "news");
    char record[64] = {0};
    p.rig.heap.refuse_first = p.rig.heap.requests + 1;
    p.rig.heap.refuse_last = UINT64_MAX;
    messages_put(messages, pipe, record, 1);
    p.rig.heap.refuse_first = 0;
    WORKS(p.rig.host, bp_world_step(p.world));
    ck_assert_msg(strstr(p.rig.log.text, "1 messages of channel 'news' are lost") != NULL, "%s", p.rig.log.text);
    memset(p.rig.log.text, 0, sizeof p.rig.log.text);
    p.rig.log.count = 0;
    post_close(&p);
}
END_TEST

START_TEST(a_plugin_that_goes_leaves_the_channel_to_others)
{
    post_t p;
    bp_channel_o *mine;
    bp_messages_t all = {.struct_size = sizeof all};
    const bp_term_field_list_t list = BP_LIST(what_field);
    post_open(&p, 1, 5);
    WORKS(p.rig.host, p.api->open(p.world, NULL, "news", &list, &mine));
    WORKS(p.rig.host, bp_world_step(p.world));
    WORKS(p.rig.host, bp_host_unload_plugin(p.rig.host, "mail"));
    p.api->read(mine, &all);
    ck_assert_uint_eq(all.count, 10);
    ck_assert_ptr_eq(p.world->schedule->messages.ends, mine);
    ck_assert_ptr_null(mine->next);
    WORKS(p.rig.host, bp_world_step(p.world));
    p.api->read(mine, &all);
    ck_assert_uint_eq(all.count, 0);
    post_close(&p);
}
END_TEST

/* --- over reloads ------------------------------------------------------------------------------------------------- */

/* A host with version 1 of the fixture crier at work in a world, and an end of the program that reads its number. */
typedef struct street_t {
    rig_t rig;
    bp_world_o *world;
    const bp_message_api *api;
    bp_channel_o *end;
} street_t;

static bp_channel_o *name_loud(street_t *s, uint32_t type)
{
    const bp_term_field_t field[] = {{.name = "loud", .type = type}};
    const bp_term_field_list_t list = BP_LIST(field);
    bp_channel_o *end = NULL;
    WORKS(s->rig.host, s->api->open(s->world, NULL, "cries", &list, &end));
    return end;
}

static void street_open(street_t *s)
{
    static const bp_term_field_t version[] = {{.name = "version", .type = BP_U32}};
    const bp_term_field_list_t list = BP_LIST(version);
    rig_init(&s->rig);
    s->rig.desc.flags = BP_HOST_COPY_PLUGINS;
    rig_open(&s->rig);
    WORKS(s->rig.host, bp_host_load_plugin(s->rig.host, put_plugin("crier_first", "crier"), NULL, 0));
    s->world = bp_world_create(s->rig.host, &(bp_world_desc_t){.name = "main"});
    s->api = s->rig.api->registry->find(s->rig.host, BP_MESSAGE_API, 1);
    WORKS(s->rig.host, bp_world_use_system(s->world, "cry"));
    WORKS(s->rig.host, s->api->open(s->world, NULL, "cries", &list, &s->end));
    WORKS(s->rig.host, bp_world_step(s->world));
}

static void street_close(street_t *s)
{
    s->rig.log.text[0] = '\0'; /* of reloads */
    s->rig.log.count = 0;
    rig_close(&s->rig);
}

static bp_result_t change_crier(street_t *s, const char *fixture)
{
    static const char *const names[] = {"crier"};
    put_plugin(fixture, "crier");
    return bp_host_reload(s->rig.host, names, 1, NULL);
}

/* The one message that can be read is of this version. */
static void expect_cry(street_t *s, uint32_t version)
{
    bp_messages_t all = {.struct_size = sizeof all};
    s->api->read(s->end, &all);
    ck_assert_uint_eq(all.count, 1);
    ck_assert_uint_eq(*(const uint32_t *)bp_message_value(&all, 0, 0), version);
}

static double loudness(street_t *s, uint32_t type)
{
    bp_channel_o *end = name_loud(s, type);
    bp_messages_t all = {.struct_size = sizeof all};
    s->api->read(end, &all);
    ck_assert_uint_eq(all.count, 1);
    const void *value = bp_message_value(&all, 0, 0);
    double loud = type == BP_F64 ? *(const double *)value : (double)*(const float *)value;
    s->api->close(end);
    return loud;
}

static uint64_t hash_of(street_t *s)
{
    bp_snapshot_o *snapshot;
    WORKS(s->rig.host, bp_host_snapshot(s->rig.host, &snapshot));
    uint64_t hash = bp_snapshot_hash(snapshot, NULL);
    bp_snapshot_free(snapshot);
    return hash;
}

/* What a version has sent can be read after it has gone; the next one sends through an end of its own, or through the
 * one that has gone over to it. */
START_TEST(what_was_sent_before_a_reload_is_read_after_it)
{
    static const char *const next[] = {"crier_louder", "crier_same_state"};
    street_t s;
    street_open(&s);
    expect_cry(&s, 1);
    WORKS(s.rig.host, change_crier(&s, next[_i]));
    expect_cry(&s, 1);
    WORKS(s.rig.host, bp_world_step(s.world));
    expect_cry(&s, _i == 0 ? 2 : 4);
    WORKS(s.rig.host, bp_host_unload_plugin(s.rig.host, "crier"));
    expect_cry(&s, _i == 0 ? 2 : 4);
    street_close(&s);
}
END_TEST

START_TEST(a_field_that_a_plugin_alone_names_changes_its_type_with_it)
{
    street_t s;
    street_open(&s);
    s.rig.host->reload.probation_steps = 5;
    for (uint32_t round = 0; round < 3; round++) {
        WORKS(s.rig.host, bp_world_step(s.world));
        ck_assert(loudness(&s, BP_F32) == 2);
        WORKS(s.rig.host, change_crier(&s, "crier_louder"));
        expect_cry(&s, 1);
        WORKS(s.rig.host, bp_world_step(s.world));
        ck_assert(loudness(&s, BP_F64) == 4);
        WORKS(s.rig.host, reload_rollback(&s.rig.host->reload));
        expect_cry(&s, 2);
    }
    WORKS(s.rig.host, change_crier(&s, "crier_louder"));
    for (uint32_t i = 0; i < 8; i++) /* beyond the end of the probation */
        WORKS(s.rig.host, bp_world_step(s.world));
    ck_assert(loudness(&s, BP_F64) == 4);
    const bp_term_field_t was[] = {{.name = "loud", .type = BP_F32}};
    const bp_term_field_list_t list = BP_LIST(was);
    bp_channel_o *end;
    FAILS(s.rig.host, BP_ERROR_TYPE, "'loud' as 1 f64, not as 1 f32",
          s.api->open(s.world, NULL, "cries", &list, &end));
    street_close(&s);
}
END_TEST

START_TEST(a_field_that_others_name_keeps_its_type)
{
    street_t s;
    street_open(&s);
    bp_channel_o *end = name_loud(&s, BP_F32);
    uint64_t before = hash_of(&s);
    FAILS(s.rig.host, BP_ERROR_TYPE, "'loud' as 1 f32, not as 1 f64", change_crier(&s, "crier_louder"));
    ck_assert(hash_of(&s) == before);
    expect_cry(&s, 1);
    s.api->close(end);
    WORKS(s.rig.host, change_crier(&s, "crier_louder"));
    ck_assert_uint_eq(messages_find(&s.world->schedule->messages, "cries")->field_count, 2); /* one of each name */
    street_close(&s);
}
END_TEST

/* Also where messages are under way, whose records have become wider for a moment. */
START_TEST(a_version_that_is_refused_leaves_no_field_behind)
{
    street_t s;
    street_open(&s);
    uint64_t before = hash_of(&s);
    for (uint32_t i = 0; i < 3; i++) {
        FAILS(s.rig.host, BP_ERROR_FAILED, "the third one does not start", change_crier(&s, "crier_start_fails"));
        ck_assert(hash_of(&s) == before);
        expect_cry(&s, 1);
        ck_assert(loudness(&s, BP_F32) == 2);
    }
    WORKS(s.rig.host, bp_world_step(s.world));
    expect_cry(&s, 1);
    street_close(&s);
}
END_TEST

/* Also where the last message with something in that field went some steps after the last end that named the field. */
START_TEST(a_field_that_no_end_names_and_no_message_has_may_be_of_another_type)
{
    static const bp_term_field_t as_number[] = {{.name = "from", .type = BP_F64}};
    const bp_term_field_list_t number = BP_LIST(as_number), what = BP_LIST(what_field);
    bp_channel_o *mine, *other;
    post_t p;
    post_open(&p, 1, 3);
    WORKS(p.rig.host, p.api->open(p.world, NULL, "news", &what, &mine));
    WORKS(p.rig.host, bp_world_step(p.world));
    WORKS(p.rig.host, bp_host_unload_plugin(p.rig.host, "mail"));
    FAILS(p.rig.host, BP_ERROR_TYPE, "'from' as 1 entity, not as 1 f64",
          p.api->open(p.world, NULL, "news", &number, &other));
    WORKS(p.rig.host, bp_world_step(p.world));
    WORKS(p.rig.host, p.api->open(p.world, NULL, "news", &number, &other));
    post_close(&p);
}
END_TEST

/* Nothing but their number is in messages of zeros. */
START_TEST(messages_of_zeros_stay_when_the_last_end_is_closed)
{
    static const bp_term_field_t who[] = {{.name = "who", .type = BP_ENTITY, .count = 3}};
    const bp_term_field_list_t list = BP_LIST(who);
    bp_messages_t all = {.struct_size = sizeof all};
    bp_channel_o *later;
    post_t p;
    post_open(&p, 1, 1);
    WORKS(p.rig.host, p.api->open(p.world, NULL, "births", &list, &several));
    WORKS(p.rig.host, bp_world_use_system(p.world, "speak"));
    WORKS(p.rig.host, bp_world_step(p.world));
    p.api->close(several);
    WORKS(p.rig.host, p.api->open(p.world, NULL, "births", &list, &later));
    p.api->read(later, &all);
    ck_assert_uint_eq(all.count, 1);
    ck_assert_uint_eq(((const bp_entity_t *)bp_message_value(&all, 0, 0))[2].id, 0);
    several = later;
    WORKS(p.rig.host, bp_world_step(p.world));
    p.api->read(later, &all);
    ck_assert_uint_eq(all.count, 1);
    post_close(&p);
}
END_TEST

/* A field that nobody names any more goes with the next end that is opened or closed; where there is no memory for the
 * message without it, with a later one. */
START_TEST(a_field_goes_when_there_is_memory_for_the_messages_without_it)
{
    static const bp_term_field_t who[] = {{.name = "who", .type = BP_ENTITY, .count = 3}};
    static const bp_term_field_t age[] = {{.name = "age", .type = BP_U32}};
    const bp_term_field_list_t named = BP_LIST(who), kept = BP_LIST(age);
    bp_messages_t all = {.struct_size = sizeof all};
    bp_channel_o *later, *newest;
    post_t p;
    post_open(&p, 1, 1);
    WORKS(p.rig.host, p.api->open(p.world, NULL, "births", &named, &several));
    WORKS(p.rig.host, p.api->open(p.world, NULL, "births", &kept, &later));
    WORKS(p.rig.host, bp_world_use_system(p.world, "speak"));
    WORKS(p.rig.host, bp_world_step(p.world));
    const pipe_t *pipe = messages_find(&p.world->schedule->messages, "births");
    ck_assert_uint_eq(pipe->field_count, 2);
    p.rig.heap.refuse_first = p.rig.heap.requests + 1;
    p.rig.heap.refuse_last = UINT64_MAX;
    p.api->close(several);
    p.rig.heap.refuse_first = p.rig.heap.refuse_last = 0;
    several = NULL;
    ck_assert_uint_gt(p.rig.heap.refused, 0);
    ck_assert_uint_eq(pipe->field_count, 2);
    p.api->read(later, &all);
    ck_assert_uint_eq(all.count, 1);
    ck_assert_uint_eq(*(const uint32_t *)bp_message_value(&all, 0, 0), 0);
    WORKS(p.rig.host, p.api->open(p.world, NULL, "births", &kept, &newest));
    ck_assert_uint_eq(pipe->field_count, 1);
    p.api->read(newest, &all);
    ck_assert_uint_eq(all.count, 1);
    post_close(&p);
}
END_TEST

Suite *messages_suite(void)
{
    Suite *suite = suite_create("messages");
    TCase *tests = tcase_create("messages");
    tcase_set_timeout(tests, 240);
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, what_is_sent_is_read_in_the_next_step_and_then_gone);
    tcase_add_loop_test(tests, the_order_is_the_same_on_any_number_of_threads, 0, 2);
    tcase_add_test(tests, many_messages_take_no_large_blocks_in_each_step_and_keep_none_that_is_not_needed);
    tcase_add_test(tests, one_large_message_takes_the_memory_of_a_few);
    tcase_add_test(tests, placeholders_become_the_entities);
    tcase_add_test(tests, a_channel_has_the_fields_of_all_who_name_it);
    tcase_add_test(tests, messages_under_way_are_kept_and_come_back);
    tcase_add_test(tests, messages_that_differ_are_told);
    tcase_add_test(tests, messages_come_back_where_managers_open_and_close_ends_meanwhile);
    tcase_add_test(tests, a_field_that_has_come_back_is_zero_in_messages_that_do_not_name_it);
    tcase_add_test(tests, a_damaged_block_of_messages_is_refused);
    tcase_add_test(tests, each_allocation_may_fail);
    tcase_add_test(tests, without_memory_messages_are_lost_and_the_log_says_how_many);
    tcase_add_test(tests, a_plugin_that_goes_leaves_the_channel_to_others);
    tcase_add_loop_test(tests, what_was_sent_before_a_reload_is_read_after_it, 0, 2);
    tcase_add_test(tests, a_field_that_a_plugin_alone_names_changes_its_type_with_it);
    tcase_add_test(tests, a_field_that_others_name_keeps_its_type);
    tcase_add_test(tests, a_version_that_is_refused_leaves_no_field_behind);
    tcase_add_test(tests, a_field_that_no_end_names_and_no_message_has_may_be_of_another_type);
    tcase_add_test(tests, messages_of_zeros_stay_when_the_last_end_is_closed);
    tcase_add_test(tests, a_field_goes_when_there_is_memory_for_the_messages_without_it);
    return suite;
}
