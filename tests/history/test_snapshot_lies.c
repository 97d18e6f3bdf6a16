/* test_snapshot_lies.c - snapshots of which a few numbers lie, and all lengths fit, and such calls of a journal: each
 * is refused with a sentence where the lie would lead out of a block, or to a host that cannot be.
 *
 * A snapshot has no checksum, so what reads it has to check each number that it follows.
 */
#include "engine/host.h"
#include "history/journal.h"
#include "history/snapshot.h"
#include "lies.h"
#include "recall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 16, PHASE = 16 };

/* The bytes of a snapshot, and what was read of them: `read` points into them. */
typedef struct lie_t {
    rig_t rig;
    bp_host_o *host;
    memory_t memory;
    char *bytes; /* malloc */
    size_t size;
    snapshot_t read;
} lie_t;

static void open_host(lie_t *l)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin};
    rig_init(&l->rig);
    l->rig.desc.static_plugins = plugins;
    l->rig.desc.static_plugin_count = 1;
    rig_open(&l->rig);
    l->host = l->rig.host;
    recall_open(l->host);
    WORKS(l->host, bp_host_step(l->host));
}

static void write_down(lie_t *l)
{
    bp_snapshot_o *taken;
    uint64_t length;
    error_text_t error = {.text = ""};
    WORKS(l->host, bp_host_snapshot(l->host, &taken));
    const void *bytes = bp_snapshot_bytes(taken, &l->size);
    l->bytes = malloc(l->size);
    ck_assert_ptr_nonnull(l->bytes);
    memcpy(l->bytes, bytes, l->size);
    bp_snapshot_free(taken);
    memcpy(&length, l->bytes, sizeof length);
    memory_init(&l->memory, "lies", &l->rig.allocator);
    ck_assert_int_eq(snapshot_open(&l->read, &l->memory, &error, l->bytes + HEAD, (size_t)length), BP_OK);
}

/* Put bytes in at a place; so many that what comes behind them stays aligned. */
static void insert(lie_t *l, size_t at, const void *more, size_t size)
{
    uint64_t length;
    ck_assert_uint_eq(size % PHASE, 0);
    snapshot_close(&l->read);
    char *bytes = realloc(l->bytes, l->size + size);
    ck_assert_ptr_nonnull(bytes);
    memmove(bytes + at + size, bytes + at, l->size - at);
    memcpy(bytes + at, more, size);
    memcpy(&length, bytes, sizeof length);
    length += size;
    memcpy(bytes, &length, sizeof length);
    l->bytes = bytes;
    l->size += size;
}

static size_t place_of(const lie_t *l, const void *in_bytes)
{
    return (size_t)((const char *)in_bytes - l->bytes);
}

static uint32_t u32_at(const lie_t *l, size_t at)
{
    uint32_t number;
    memcpy(&number, l->bytes + at, sizeof number);
    return number;
}

static void set_u32(lie_t *l, size_t at, uint32_t number)
{
    memcpy(l->bytes + at, &number, sizeof number);
}

static void refused(lie_t *l)
{
    bp_snapshot_o *read;
    FAILS(l->host, BP_ERROR_SYNTAX, "is damaged", bp_snapshot_read(l->host, l->bytes, l->size, &read));
}

static void end(lie_t *l)
{
    snapshot_close(&l->read);
    free(l->bytes);
    rig_close(&l->rig);
}

/* --- ids ---------------------------------------------------------------------------------------------------------- */

/* The pages that belong to pools lie behind the floors of pages that were given up. */
START_TEST(owners_of_more_pages_than_there_are_ids_are_refused)
{
    enum { PAGES = 1 << 16 };
    lie_t l = {.size = 0};
    open_host(&l);
    write_down(&l);
    size_t at = place_of(&l, l.read.floors) + l.read.floor_count * sizeof(uint32_t);
    ck_assert_uint_eq(u32_at(&l, at), l.read.owner_count);
    uint32_t *owners = calloc(PAGES, sizeof *owners);
    ck_assert_ptr_nonnull(owners);
    set_u32(&l, at, l.read.owner_count + PAGES);
    insert(&l, at + sizeof(uint32_t), owners, PAGES * sizeof *owners);
    refused(&l);
    free(owners);
    end(&l);
}
END_TEST

/* An id of a world's own pool is free in one place: once in the list of those that were in use, or among those that
 * never were. */
START_TEST(an_id_that_a_pool_gives_out_twice_is_refused)
{
    lie_t l = {.size = 0};
    bp_entity_t made[3];
    open_host(&l);
    for (int i = 0; i < 3; i++)
        made[i] = entity_with(l.rig.api->world->at(l.host, 1), "body");
    ck_assert_uint_eq(l.rig.api->entity->destroy(l.host, made, 3), 3);
    write_down(&l);
    const kept_pool_t *pool = l.read.pools;
    while (pool < l.read.pools + l.read.pool_count && pool->count < 3)
        pool++;
    ck_assert(pool < l.read.pools + l.read.pool_count && pool->fresh < pool->fresh_end);
    set_u32(&l, place_of(&l, pool->free), _i == 0 ? pool->free[1] : pool->fresh);
    refused(&l);
    end(&l);
}
END_TEST

/* Ids of hosts differ in their upper bits alone; with others set nothing that has a row would be alive. */
START_TEST(a_tag_that_no_host_has_is_refused)
{
    enum { TAG_AT = 24 };
    lie_t l = {.size = 0};
    open_host(&l);
    write_down(&l);
    ck_assert_uint_eq(u32_at(&l, TAG_AT), l.read.entity_base);
    set_u32(&l, TAG_AT, l.read.entity_base + 1);
    refused(&l);
    end(&l);
}
END_TEST

/* --- states ------------------------------------------------------------------------------------------------------- */

static bp_result_t load_held(bp_plugin_t *plugin)
{
    static uint32_t held;
    plugin->state = &held;
    return BP_OK;
}

/* Whole plugins keep their state as bytes or not at all. A snapshot that says of such another one is not followed to
 * functions that a plugin does not have. */
START_TEST(the_state_of_a_plugin_that_is_kept_as_those_of_components_is_refused)
{
    static const bp_plugin_desc_t desc = {.version = "1", .load = load_held, .keeps = BP_KEEP_PLAIN,
                                          .state_form = BP_STATE_FORM(uint32_t, 1)};
    static const bp_plugin_head_t head = BP_PLUGIN_HEAD("holder", &desc);
    static const uint32_t others[] = {BP_KEEP_ANEW, BP_KEEP_SAVED};
    static const bp_plugin_head_t *const plugins[] = {&head};
    lie_t l = {.size = 0};
    bp_snapshot_o *read;
    rig_open_with(&l.rig, plugins, 1);
    l.host = l.rig.host;
    WORKS(l.host, bp_host_load_plugin(l.host, "holder", NULL, 0));
    ck_assert_ptr_nonnull(bp_world_create(l.host, &(bp_world_desc_t){.name = "main"}));
    write_down(&l);
    ck_assert_uint_eq(l.read.plugins[0].state.road, BP_KEEP_PLAIN);
    size_t at = place_of(&l, l.read.plugins[0].state.data) - 2 * sizeof(uint64_t);
    while (u32_at(&l, at) != BP_KEEP_PLAIN || u32_at(&l, at + sizeof(uint32_t)) != 1) /* there is one */
        at--; /* it lies behind texts */
    set_u32(&l, at, others[_i]);
    WORKS(l.host, bp_snapshot_read(l.host, l.bytes, l.size, &read));
    FAILS(l.host, BP_ERROR_STATE, "the state of 'holder' was kept in another way", bp_host_bring_back(l.host, read));
    bp_snapshot_free(read);
    end(&l);
}
END_TEST

/* --- clocks ------------------------------------------------------------------------------------------------------- */

/* Rate, time and speed lie behind the name of a world. */
START_TEST(clocks_that_no_world_has_are_refused)
{
    static const double rates[] = {0, -60, INFINITY, NAN}, speeds[] = {0, -1, 1e-7, 1e7, INFINITY, NAN};
    lie_t l = {.size = 0};
    open_host(&l);
    write_down(&l);
    const kept_world_t *world = &l.read.worlds[1];
    char *clock = l.bytes + place_of(&l, world->name) + strlen(world->name) + 1;
    double good[3], bad[3];
    memcpy(good, clock, sizeof good);
    EXPECT(good[0] == 60 && good[2] == 1, "a rate of %g, a speed of %g", good[0], good[2]);
    for (uint32_t i = 0; i < COUNT(rates) + COUNT(speeds); i++) {
        memcpy(bad, good, sizeof good);
        if (i < COUNT(rates))
            bad[0] = rates[i];
        else
            bad[2] = speeds[i - COUNT(rates)];
        memcpy(clock, bad, sizeof bad);
        refused(&l);
    }
    memcpy(clock, good, sizeof good);
    clock[sizeof good + sizeof(uint64_t) - 1] = '\x80'; /* of steps */
    refused(&l);
    end(&l);
}
END_TEST

/* --- notices ------------------------------------------------------------------------------------------------------ */

enum { NUMBERS = 9, STRETCHES = 5, HOPS = 8 }; /* of notices, in front of their signatures */

/* Where the numbers of the first world's notices begin. */
static size_t place_of_notices(const lie_t *l)
{
    const kept_notices_t *n = &l->read.worlds[0].notices;
    const uint32_t numbers[NUMBERS] = {n->present,       n->words,      n->subscriptions, n->signature_count, n->count,
                                       n->stretch_count, n->kind_count, n->indexed,       n->hop_count};
    size_t at = place_of(l, n->signatures) - sizeof numbers;
    for (size_t back = 0; back < 8; back++) {
        if (memcmp(l->bytes + at - back, numbers, sizeof numbers) == 0)
            return at - back;
    }
    ck_abort_msg("there are no notices");
    return 0;
}

/* A world in which moves wait to be told, all of one kind. */
static void open_with_notices(lie_t *l)
{
    open_host(l);
    for (uint32_t i = 0; i < 3; i++)
        entity_with(l->rig.api->world->at(l->host, 0), "fog");
    write_down(l);
    const kept_notices_t *n = &l->read.worlds[0].notices;
    EXPECT(n->present != 0 && n->indexed == 0 && n->stretch_count == 1 && n->count == 3, "%u stretches of %u",
           n->stretch_count, n->count);
}

/* There is room for as many stretches as entities wait. */
START_TEST(more_stretches_of_moves_than_entities_are_refused)
{
    enum { MORE = 1 << 14 };
    lie_t l = {.size = 0};
    open_with_notices(&l);
    hop_t *hops = calloc(MORE, sizeof *hops);
    ck_assert_ptr_nonnull(hops);
    size_t at = place_of_notices(&l), first = place_of(&l, l.read.worlds[0].notices.hops);
    set_u32(&l, at + STRETCHES * sizeof(uint32_t), 1 + MORE);
    set_u32(&l, at + HOPS * sizeof(uint32_t), 1 + MORE);
    insert(&l, first, hops, MORE * sizeof *hops);
    refused(&l);
    free(hops);
    end(&l);
}
END_TEST

/* A stretch that holds nothing would be overwritten before it is read, when each entity gets its own hop. */
START_TEST(stretches_of_moves_without_entities_are_refused)
{
    lie_t l = {.size = 0};
    open_with_notices(&l);
    const hop_t hops[2] = {{0, 0}, {0, 0}};
    size_t at = place_of_notices(&l), first = place_of(&l, l.read.worlds[0].notices.hops);
    set_u32(&l, at + STRETCHES * sizeof(uint32_t), 3);
    set_u32(&l, at + HOPS * sizeof(uint32_t), 3);
    insert(&l, first, hops, sizeof hops);
    refused(&l);
    end(&l);
}
END_TEST

/* --- holes -------------------------------------------------------------------------------------------------------- */

/* The runs with holes lie behind three numbers and how many they are. */
START_TEST(runs_with_holes_that_there_are_not_or_that_are_named_twice_are_refused)
{
    enum { BODIES = 40 };
    bp_entity_t made[BODIES];
    lie_t l = {.size = 0};
    open_host(&l);
    bp_world_o *world = l.rig.api->world->at(l.host, 0);
    WORKS(l.host, l.rig.api->world->create(world, prototype_of(world, "body", NULL, NULL, NULL), made, BODIES));
    ck_assert_uint_eq(l.rig.api->entity->destroy(l.host, made, 3), 3);
    write_down(&l);
    const kept_world_t *w = &l.read.worlds[0];
    ck_assert_uint_eq(w->holed_count, 1);
    const uint32_t numbers[] = {w->occupied, w->holed_next, w->holed_lost, w->holed_count, w->holed[0]};
    size_t at = HEAD;
    for (; memcmp(l.bytes + at, numbers, sizeof numbers) != 0; at++)
        ck_assert_uint_lt(at + sizeof numbers, l.size);
    at += 4 * sizeof(uint32_t);
    const uint32_t wrong[] = {w->run_count, w->run_count + 64, 1u << 24, UINT32_MAX};
    for (uint32_t i = 0; i < COUNT(wrong); i++) {
        set_u32(&l, at, wrong[i]);
        refused(&l);
    }
    const uint32_t again[] = {w->holed[0], w->holed[0], w->holed[0], w->holed[0]};
    set_u32(&l, at, w->holed[0]);
    set_u32(&l, at - sizeof(uint32_t), 1 + COUNT(again));
    insert(&l, at, again, sizeof again);
    refused(&l);
    end(&l);
}
END_TEST

/* --- messages ----------------------------------------------------------------------------------------------------- */

static void put_field(bytes_t *b, const char *name, uint32_t type, uint32_t count, uint32_t offset)
{
    bytes_text(b, name);
    bytes_u32(b, type);
    bytes_u32(b, count);
    bytes_u32(b, offset);
}

static void put_channel(bytes_t *b, const char *name, uint32_t size, uint32_t fields, uint32_t count)
{
    bytes_text(b, name);
    bytes_u32(b, size);
    bytes_u32(b, fields);
    bytes_u32(b, count);
}

static void put_records(bytes_t *b, const void *records, size_t size)
{
    bytes_align(b, 8);
    bytes_put(b, records, size);
}

/* Give the first world of the snapshot channels, which it has none of; `b` begins as aligned as the place at which they
 * are to lie, and gets another channel that brings its length to a multiple of 16. */
static void insert_channels(lie_t *l, size_t at, uint32_t count, bytes_t *b)
{
    static const char zeros[PHASE];
    size_t phase = at % PHASE;
    put_channel(b, "last", 1, 1, 0);
    size_t counted = b->size - sizeof(uint32_t);
    put_field(b, "flag", BP_BOOL, 1, 0);
    bytes_align(b, 8);
    uint32_t lacking = (uint32_t)((PHASE + phase - b->size % PHASE) % PHASE);
    ck_assert(!b->failed);
    memcpy(b->start + counted, &lacking, sizeof lacking);
    bytes_put(b, zeros, lacking);
    set_u32(l, at - sizeof(uint32_t), count + 1);
    insert(l, at, b->start + phase, b->size - phase);
}

/* The channels of the first world, of which there are none, end where its notices begin. */
static size_t begin_channels(lie_t *l, bytes_t *b)
{
    static const char zeros[PHASE];
    open_with_notices(l);
    size_t at = place_of_notices(l);
    ck_assert_uint_eq(u32_at(l, at - sizeof(uint32_t)), 0);
    bytes_init(b, &l->memory);
    bytes_put(b, zeros, at % PHASE);
    return at;
}

START_TEST(a_channel_that_is_there_twice_is_refused)
{
    enum { MANY = 4096 };
    lie_t l = {.size = 0};
    bytes_t b;
    uint32_t *numbers = calloc(MANY, sizeof *numbers);
    ck_assert_ptr_nonnull(numbers);
    size_t at = begin_channels(&l, &b);
    put_channel(&b, "news", 4, 1, MANY);
    put_field(&b, "age", BP_U32, 1, 0);
    put_records(&b, numbers, MANY * sizeof *numbers);
    put_channel(&b, "news", 8, 1, 1);
    put_field(&b, "mass", BP_F64, 1, 0);
    put_records(&b, numbers, 8);
    insert_channels(&l, at, 2, &b);
    refused(&l);
    bytes_free(&b);
    free(numbers);
    end(&l);
}
END_TEST

START_TEST(a_channel_that_lies_is_refused)
{
    static const struct {
        const char *channel, *field;
        uint32_t size, fields, count, type, values, offset;
    } lying[] = {
        {"no word", "age", 4, 1, 1, BP_U32, 1, 0},   {"", "age", 4, 1, 1, BP_U32, 1, 0},
        {"news", "no word", 4, 1, 1, BP_U32, 1, 0},  {"news", "", 4, 1, 1, BP_U32, 1, 0},
        {"news", "age", 0, 0, 1, BP_U32, 1, 0},      {"news", "age", 4, BP_MESSAGE_MOST_FIELDS + 1, 1, BP_U32, 1, 0},
        {"news", "age", 4, 1, 1, BP_U32, 0, 0},      {"news", "age", 1 << 19, 1, 0, BP_U32, 65537, 0},
        {"news", "age", 4, 1, 1, BP_U32, 2, 0},      {"news", "age", 4, 1, 1, BP_U32, 1, 1},
        {"news", "age", 4, 1, 1, BP_U32, 1, 1u << 31}, {"news", "age", 8, 1, 1, BP_STRING, 1, 0},
        {"news", "age", 4, 1, 1, 0xffff, 1, 0},
    };
    for (uint32_t i = 0; i <= COUNT(lying); i++) {
        static const char zeros[16];
        lie_t l = {.size = 0};
        bytes_t b;
        bp_snapshot_o *read;
        size_t at = begin_channels(&l, &b);
        if (i == COUNT(lying)) {
            put_channel(&b, "news", 4, 1, 1);
            put_field(&b, "age", BP_U32, 1, 0);
            put_records(&b, zeros, 4);
        } else {
            put_channel(&b, lying[i].channel, lying[i].size, lying[i].fields, lying[i].count);
            for (uint32_t f = 0; f < lying[i].fields; f++)
                put_field(&b, lying[i].field, lying[i].type, lying[i].values, lying[i].offset);
            put_records(&b, zeros, (size_t)lying[i].size * lying[i].count);
        }
        insert_channels(&l, at, 1, &b);
        if (i == COUNT(lying)) { /* the same without a lie */
            WORKS(l.host, bp_snapshot_read(l.host, l.bytes, l.size, &read));
            bp_snapshot_free(read);
        } else {
            EXPECT(bp_snapshot_read(l.host, l.bytes, l.size, &read) == BP_ERROR_SYNTAX, "channel %u is believed", i);
        }
        bytes_free(&b);
        end(&l);
    }
}
END_TEST

/* A channel has two fields of one name while a plugin that has changed the field's type is on probation. */
START_TEST(fields_of_one_name_have_their_own_values_back)
{
    static const struct {
        float old;
        uint32_t padding;
        double now;
    } record = {2.5f, 0, 7.25};
    lie_t l = {.size = 0};
    bytes_t b;
    bp_snapshot_o *read;
    float old;
    double now;
    size_t at = begin_channels(&l, &b);
    put_channel(&b, "news", sizeof record, 2, 1);
    put_field(&b, "mass", BP_F32, 1, 0);
    put_field(&b, "mass", BP_F64, 1, 8);
    put_records(&b, &record, sizeof record);
    insert_channels(&l, at, 1, &b);
    WORKS(l.host, bp_snapshot_read(l.host, l.bytes, l.size, &read));
    WORKS(l.host, bp_host_bring_back(l.host, read));
    bp_snapshot_free(read);
    free(l.bytes);
    write_down(&l);
    const kept_channel_t *news = l.read.worlds[0].channels;
    ck_assert_str_eq(news->name, "news");
    ck_assert(news->count == 1 && news->field_count == 2 && news->fields[1].type == BP_F64);
    memcpy(&old, news->records + news->fields[0].offset, sizeof old);
    memcpy(&now, news->records + news->fields[1].offset, sizeof now);
    EXPECT(old == record.old && now == record.now, "the message has %g and %g", (double)old, now);
    bytes_free(&b);
    end(&l);
}
END_TEST

/* --- calls -------------------------------------------------------------------------------------------------------- */

/* A length that puts the next call at an odd place, and a clock that no world has. */
START_TEST(a_call_that_lies_is_refused_and_changes_nothing)
{
    enum { CALL = 16, LENGTH_AT = 8, SPEED_AT = 28 };
    static const double speeds[] = {0, -1, 1e-7, 1e7, INFINITY, NAN};
    lie_t l = {.size = 0};
    bytes_t calls;
    open_host(&l);
    parts_t parts = host_parts(l.host);
    memory_init(&l.memory, "lies", &l.rig.allocator);
    bytes_init(&calls, &l.memory);
    journal_clock(&calls, l.rig.api->world->at(l.host, 0));
    WORKS(l.host, journal_make(&parts, calls.start, calls.size));
    uint64_t now = recall_hash(l.host), length = CALL - 4;
    for (uint32_t i = 0; i < COUNT(speeds); i++) {
        memcpy(calls.start + SPEED_AT, &speeds[i], sizeof speeds[i]);
        FAILS(l.host, BP_ERROR_SYNTAX, "damaged", journal_make(&parts, calls.start, calls.size));
    }
    calls.size = 0;
    journal_create_entities(&calls, 1);
    memcpy(calls.start + LENGTH_AT, &length, sizeof length);
    FAILS(l.host, BP_ERROR_SYNTAX, "damaged", journal_make(&parts, calls.start, CALL + (size_t)length));
    EXPECT(recall_hash(l.host) == now, "a call that was refused has changed something");
    bytes_free(&calls);
    end(&l);
}
END_TEST

void lies_add_snapshots(Suite *suite)
{
    TCase *tcase = add_case(suite, "lies", NULL, NULL, 20);
    tcase_add_test(tcase, owners_of_more_pages_than_there_are_ids_are_refused);
    tcase_add_loop_test(tcase, an_id_that_a_pool_gives_out_twice_is_refused, 0, 2);
    tcase_add_test(tcase, a_tag_that_no_host_has_is_refused);
    tcase_add_loop_test(tcase, the_state_of_a_plugin_that_is_kept_as_those_of_components_is_refused, 0, 2);
    tcase_add_test(tcase, clocks_that_no_world_has_are_refused);
    tcase_add_test(tcase, more_stretches_of_moves_than_entities_are_refused);
    tcase_add_test(tcase, stretches_of_moves_without_entities_are_refused);
    tcase_add_test(tcase, a_channel_that_is_there_twice_is_refused);
    tcase_add_test(tcase, a_channel_that_lies_is_refused);
    tcase_add_test(tcase, runs_with_holes_that_there_are_not_or_that_are_named_twice_are_refused);
    tcase_add_test(tcase, fields_of_one_name_have_their_own_values_back);
    tcase_add_test(tcase, a_call_that_lies_is_refused_and_changes_nothing);
}
