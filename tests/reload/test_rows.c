/* test_rows.c - components that are told of their rows (bp_rows_i) and have hidden fields: through every way in which
 * rows come, go and are set, with refusals and failing allocations, over snapshots and reloads.
 *
 * The component is tests/fixtures/ledger.h: what it knows is compared with what the world has.
 */
#include "../fixtures/ledger.h"
#include "../suites.h"
#include "reload_support.h"

#include <bp_inline.h>
#include <bp_query.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rig_t rig;
static bp_host_o *host;
static const bp_api_t *api;
static bp_world_o *world;
static uint32_t key, body;

static ledger_t *ledger(void)
{
    return state_of(world, "ledger");
}

static void open_file(const char *ledger_file, uint32_t flags)
{
    rig_init(&rig);
    rig.desc.flags = flags;
    rig_open(&rig);
    host = rig.host;
    api = rig.api;
    for (uint32_t i = 0; i < ZOO_PLUGINS; i++)
        WORKS(host, bp_host_load_plugin(host, zoo_plugins[i]->name, NULL, 0));
    WORKS(host, bp_host_load_plugin(host, put_plugin(ledger_file, "ledger"), NULL, 0));
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    WORKS(host, bp_world_use_component(world, "body"));
    WORKS(host, bp_world_use_component(world, "fx")); /* storage of its own */
    WORKS(host, bp_world_use_component(world, "ledger"));
    key = key_of(world, "ledger", "");
    body = key_of(world, "body", "");
}

static void open_with(uint32_t flags)
{
    open_file("ledger_first", flags);
}

static void begin(void)
{
    open_with(0);
}

static void end(void)
{
    check_host(host);
    rig_close(&rig);
}

/* --- what it knows, and what there is ---------------------------------------------------------------------------- */

static uint32_t count_columns(void)
{
    return world->rows.managers[api->world->component(world, "ledger")]->column_count;
}

/* The ledger knows exactly the rows that there are, and each by the slot that it has written. */
static void expect_known(void)
{
    const ledger_t *l = ledger();
    uint32_t component = api->world->component(world, "ledger"), rows = 0, slots = count_columns() - 1;
    bp_run_t run;
    EXPECT(l->wrong == 0, "%u rows came or went that should not", l->wrong);
    for (uint32_t cursor = 0; next_run(world, component, &cursor, &run) != 0;) {
        for (uint32_t i = 0; i < run.count; i++) {
            if (run.entities[i].id == 0)
                continue;
            uint32_t slot = ((const uint32_t *)run.columns[slots])[i];
            EXPECT(slot > 0 && slot <= LEDGER_ROOM && l->known[slot - 1].id == run.entities[i].id, "row %u has slot %u",
                   i, slot);
            rows++;
        }
    }
    EXPECT(rows == l->count, "it knows %u rows, and there are %u", l->count, rows);
}

static float amount_of(bp_entity_t e)
{
    float value;
    WORKS(host, api->property->get_named(world, e, "ledger", "amount", BP_F32, &value));
    return value;
}

/* A hidden field of an entity, by its place in the list. */
static uint32_t hidden_of(bp_entity_t e, uint32_t field)
{
    bp_run_t run;
    for (uint32_t cursor = 0; next_run(world, api->world->component(world, "ledger"), &cursor, &run) != 0;) {
        for (uint32_t i = 0; i < run.count; i++) {
            if (run.entities[i].id == e.id)
                return ((const uint32_t *)run.columns[field])[i];
        }
    }
    ck_abort_msg("the entity has no ledger");
    return 0;
}

static void make(bp_entity_t *e, uint32_t count)
{
    WORKS(host, api->world->create(world, prototype_of(world, "ledger", NULL, NULL, NULL), e, count));
}

/* --- coming and going --------------------------------------------------------------------------------------------- */

enum { CROWD = 300 };
static bp_entity_t crowd[CROWD];
static bool living[CROWD], member[CROWD];

static uint32_t pick(uint64_t *random, bp_entity_t *batch, uint32_t *numbers, bool wanted)
{
    uint32_t count = 0, most = 1 + bp_random_below(random, bp_random_below(random, 3) == 0 ? 60 : 3);
    uint32_t begin_at = bp_random_below(random, CROWD);
    for (uint32_t i = 0; i < CROWD && count < most; i++) {
        uint32_t n = (begin_at + i) % CROWD;
        if (living[n] && member[n] == wanted && bp_random_below(random, 3) > 0) {
            batch[count] = crowd[n];
            numbers[count++] = n;
        }
    }
    return count;
}

static void churn_once(uint64_t *random)
{
    bp_entity_t batch[CROWD];
    uint32_t numbers[CROWD], what = bp_random_below(random, 6), count;
    float amount = (float)bp_random_below(random, 8) - 1; /* below 0 is refused */
    bool member_now = what == 0;
    bp_result_t result = BP_OK;
    bp_property_t property;
    if (bp_random_below(random, 6) == 0)
        ledger()->refuse = 1 + bp_random_below(random, 2);
    if (bp_random_below(random, 4) == 0) {
        rig.heap.refuse_first = rig.heap.requests + 1 + bp_random_below(random, 12);
        rig.heap.refuse_last = rig.heap.refuse_first + bp_random_below(random, 3);
    }
    switch (what) {
    case 0:
        count = pick(random, batch, numbers, false);
        result = api->world->add(world, key, batch, count);
        break;
    case 1:
        count = pick(random, batch, numbers, true);
        result = api->world->remove(world, key, batch, count);
        break;
    case 2: /* they move to other runs, of which the component is not told */
        count = pick(random, batch, numbers, bp_random_below(random, 2) == 0);
        if (count > 0 && api->world->has(world, body, batch, count, NULL) == 0)
            api->world->add(world, body, batch, count);
        else if (count > 0 && api->world->has(world, body, batch, count, NULL) == count)
            api->world->remove(world, body, batch, count);
        count = 0;
        break;
    case 3:
        count = pick(random, batch, numbers, bp_random_below(random, 2) == 0);
        api->entity->destroy(host, batch, count);
        for (uint32_t i = 0; i < count; i++)
            living[numbers[i]] = member[numbers[i]] = false;
        count = 0;
        break;
    case 4:
        count = 0;
        for (uint32_t i = 0; i < CROWD; i++) {
            if (!living[i])
                numbers[count++] = i;
        }
        result = api->world->create(
            world, prototype_of(world, "ledger", bp_random_below(random, 2) == 0 ? "body" : "fx", NULL, NULL), batch,
            count);
        for (uint32_t i = 0; i < count && result == BP_OK; i++) {
            crowd[numbers[i]] = batch[i];
            living[numbers[i]] = member[numbers[i]] = true;
        }
        count = 0;
        break;
    default:
        count = pick(random, batch, numbers, true);
        if (count > 0 && api->property->resolve(world, batch[0], "ledger", "amount", &property) == BP_OK) {
            float before = amount_of(batch[count - 1]);
            result = api->property->set(world, &property, batch, count, &amount, 0);
            rig.heap.refuse_first = 0;
            EXPECT(result != BP_OK || amount >= 0, "debts");
            EXPECT(amount_of(batch[count - 1]) == (result == BP_OK ? amount : before), "half a set");
        }
        count = 0;
        break;
    }
    rig.heap.refuse_first = 0;
    ledger()->refuse = 0;
    for (uint32_t i = 0; i < count && result == BP_OK; i++)
        member[numbers[i]] = member_now;
}

START_TEST(it_knows_the_rows_that_there_are_whatever_happens)
{
    uint64_t random = 4711;
    memset(living, 0, sizeof living);
    memset(member, 0, sizeof member);
    for (uint32_t round = 0; round < 4000; round++) {
        churn_once(&random);
        if (round % 7 == 0)
            WORKS(host, bp_world_step(world));
        if (round % 5 != 0)
            continue;
        expect_known();
        for (uint32_t i = 0; i < CROWD; i++)
            EXPECT(!living[i] || (api->world->has(world, key, &crowd[i], 1, NULL) == 1) == member[i],
                   "round %u: entity %u is not what it was", round, i);
    }
    ck_assert(ledger()->calls > 500 && ledger()->sets > 50);
    memset(rig.log.text, 0, sizeof rig.log.text);
    rig.log.count = 0;
}
END_TEST

START_TEST(rows_go_with_the_component_with_their_entity_and_with_the_plugin)
{
    bp_entity_t e[20];
    make(e, COUNT(e));
    ck_assert_uint_eq(ledger()->calls, 1); /* a batch is one call */
    ck_assert_uint_eq(ledger()->count, 20);
    WORKS(host, api->world->remove(world, key, e, 3));
    ck_assert_uint_eq(ledger()->count, 17);
    api->entity->destroy(host, &e[5], 2);
    ck_assert_uint_eq(ledger()->count, 15);
    expect_known();
    ck_assert_uint_eq(hidden_of(e[10], 3), 7);
    WORKS(host, bp_world_step(world));
    ck_assert_uint_eq(hidden_of(e[10], 3), 107); /* simulate has hidden columns too */
    WORKS(host, bp_world_drop_component(world, "ledger"));
    ck_assert_uint_eq(api->entity->count(host), 18);
    WORKS(host, bp_world_use_component(world, "ledger"));
    key = key_of(world, "ledger", "");
    make(e, 5);
    expect_known();
    WORKS(host, bp_host_unload_plugin(host, "ledger"));
}
END_TEST

/* Entities that live in another world too do not die, but their rows go. */
START_TEST(rows_of_a_world_that_is_restored_go_from_entities_that_live_on)
{
    bp_entity_t e[600];
    bp_scene_o *scene;
    bp_world_o *other = bp_world_create(host, &(bp_world_desc_t){.name = "other"});
    WORKS(host, bp_world_use_component(other, "body"));
    make(e, COUNT(e));
    WORKS(host, bp_scene_capture(world, &scene));
    WORKS(host, api->world->add(other, key_of(other, "body", ""), e, COUNT(e) / 2));
    for (uint32_t i = 0; i < 2; i++) {
        WORKS(host, bp_scene_restore(scene, world, 0));
        ck_assert_uint_eq(ledger()->count, COUNT(e));
        ck_assert_uint_eq(api->world->has(world, key, e, COUNT(e), NULL), 0);
        ck_assert_uint_eq(api->entity->alive(host, e, COUNT(e), NULL), COUNT(e) / 2);
        ck_assert_uint_eq(api->world->has(other, key_of(other, "body", ""), e, COUNT(e), NULL), COUNT(e) / 2);
        expect_known();
    }
    bp_scene_close(scene);
}
END_TEST

/* Entities that lie in consecutive rows, with others between them that have no such component, or are none. */
START_TEST(rows_go_in_any_order_with_others_between_them)
{
    bp_entity_t e[9], others[3], ghost = {0};
    make(e, COUNT(e));
    WORKS(host, api->world->create(world, prototype_of(world, "body", NULL, NULL, NULL), others, COUNT(others)));
    const bp_entity_t batch[] = {others[0], e[0], e[1],  e[2], others[1], e[3],
                                 e[4],      ghost, e[8], e[7], others[2], e[6]};
    ck_assert_uint_eq(api->entity->destroy(host, batch, COUNT(batch)), COUNT(batch) - 1);
    ck_assert_uint_eq(ledger()->count, 1);
    expect_known();
}
END_TEST

/* --- values ------------------------------------------------------------------------------------------------------- */

START_TEST(what_is_set_is_told_and_may_be_refused)
{
    bp_entity_t e[4];
    bp_property_t amount, label, item, items;
    float values[] = {3, 4, 5, -1}, one = 9;
    int32_t number = 12;
    const char *texts[] = {"fine", "good", "well", "bad"};
    make(e, COUNT(e));
    WORKS(host, api->property->resolve(world, e[0], "ledger", "amount", &amount));
    WORKS(host, api->property->resolve(world, e[0], "ledger", "label", &label));
    WORKS(host, api->property->resolve(world, e[0], "ledger", "items[1]", &item));
    WORKS(host, api->property->resolve(world, e[0], "ledger", "items", &items));
    SAID(host, BP_ERROR_FAILED, "component 'ledger' of world 'main': no debts",
         api->property->set(world, &amount, e, 4, values, sizeof *values));
    FAILS(host, BP_ERROR_FAILED, "no bad", api->property->set(world, &label, e, 4, texts, sizeof *texts));
    ck_assert(amount_of(e[0]) == 1 && hidden_of(e[0], 3) == 7 && ledger()->sets == 0);
    WORKS(host, api->property->set(world, &amount, e, 3, values, sizeof *values));
    WORKS(host, api->property->set(world, &amount, &e[3], 1, &one, 0)); /* the short way too */
    WORKS(host, api->property->set_named(world, e[3], "ledger", "amount", BP_F32, &one));
    ck_assert(amount_of(e[2]) == 5 && amount_of(e[3]) == 9 && ledger()->sets == 5);
    ck_assert(hidden_of(e[0], 3) == 8 && hidden_of(e[3], 3) == 9);
    WORKS(host, api->property->set(world, &label, e, 3, texts, sizeof *texts));
    ck_assert_uint_eq(hidden_of(e[0], 3), 10);
    WORKS(host, api->property->set(world, &item, e, 2, &number, 0)); /* appended to the one that rows_added made */
    int32_t read = 0;
    WORKS(host, api->property->get(world, &item, e, 1, &read, sizeof read));
    ck_assert_int_eq(read, 12); /* the element, and not where the list lies */
    ck_assert_ptr_null(bp_property_cell(world, &item, e[0]));
    ledger()->refuse = 1;
    FAILS(host, BP_ERROR_FAILED, "not now", api->property->set(world, &item, e, 2, &values[0], 0));
    bp_property_t far;
    WORKS(host, api->property->resolve(world, e[0], "ledger", "items[7]", &far));
    FAILS(host, BP_ERROR_NOT_FOUND, "none of number 7", api->property->set(world, &far, e, 2, &number, 0));
    bp_list_t list;
    WORKS(host, api->property->get(world, &items, e, 1, &list, sizeof list));
    ck_assert(list.count == 2 && ((const int32_t *)list.items)[0] == 1 && ((const int32_t *)list.items)[1] == 12);
    bp_path_t path;
    WORKS(host, api->property->parse_path(host, "main/#0:1.ledger.label", &path));
    WORKS(host, api->property->set_text(&path, "by text"));
    FAILS(host, BP_ERROR_FAILED, "no bad", api->property->set_text(&path, "bad"));
    expect_known();
    for (uint32_t n = 1; n < 40; n++) { /* each allocation refused once: all or nothing */
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
        float before = amount_of(e[0]), last = amount_of(e[3]), next = (float)n;
        bp_result_t result = api->property->set(world, &amount, e, 4, &next, 0);
        rig.heap.refuse_first = 0;
        ck_assert(amount_of(e[0]) == (result == BP_OK ? next : before));
        ck_assert(amount_of(e[3]) == (result == BP_OK ? next : last));
    }
}
END_TEST

/* Rows that are set count as written, those of their block with them, and no others. */
START_TEST(what_is_set_has_changed_since_then)
{
    enum { MANY = 5 * BP_STAMP_ROWS };
    static bp_entity_t e[MANY];
    const float values[] = {5, 6};
    world_t *w = &world->rows;
    bp_property_t amount;
    make(e, MANY);
    WORKS(host, world_keep_stamps(w));
    WORKS(host, api->property->resolve(world, e[0], "ledger", "amount", &amount));
    const record_t *record = world_record(w, e[3 * BP_STAMP_ROWS + 7]);
    const run_t *run = world_run(w, record->prototype);
    uint64_t since = world_look(w);
    uint32_t count;
    ck_assert_uint_eq(stamps_next(run->stamps, NULL, 0, since, 0, run->count, &count), BP_NONE);
    WORKS(host, api->property->set(world, &amount, &e[3 * BP_STAMP_ROWS + 7], 2, values, sizeof *values));
    ck_assert_uint_eq(stamps_next(run->stamps, NULL, 0, since, 0, run->count, &count),
                      record->row / BP_STAMP_ROWS * BP_STAMP_ROWS);
    ck_assert_uint_eq(count, BP_STAMP_ROWS);
    world_release_stamps(w);
}
END_TEST

/* Whichever memory is lacking: nothing is set, nothing told, and nothing of the copies stays. */
START_TEST(without_memory_nothing_is_set)
{
    enum { MANY = 20000 };
    static int32_t many[MANY + 1];
    static const char *const texts[] = {"a text that is not there yet", "another one", "a third"};
    const bp_list_t list = {.items = many, .count = MANY}, longer = {.items = many, .count = MANY + 1};
    const float amounts[] = {5, 6, 7};
    const struct { const char *field; const void *value; uint32_t first, count; size_t stride; } sets[] = {
        {"amount", amounts, 0, 3, sizeof *amounts}, {"label", texts, 0, 3, sizeof *texts}, {"items", &longer, 0, 3, 0},
        {"items[20001]", many, 1, 1, 0}, {"items[20000]", many, 0, 3, 0}};
    bp_entity_t e[3];
    bp_property_t property;
    make(e, COUNT(e));
    WORKS(host, api->property->resolve(world, e[1], "ledger", "items", &property));
    WORKS(host, api->property->set(world, &property, &e[1], 1, &list, 0)); /* which is copied aside, too */
    for (uint32_t i = 0; i < COUNT(sets); i++) {
        uint32_t refused = 0;
        WORKS(host, api->property->resolve(world, e[0], "ledger", sets[i].field, &property));
        for (uint64_t n = 1;; n++) {
            char *before = describe_host(host);
            size_t bytes = rig.heap.bytes;
            rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
            bp_result_t result = api->property->set(world, &property, &e[sets[i].first], sets[i].count, sets[i].value,
                                                    sets[i].stride);
            rig.heap.refuse_first = rig.heap.refuse_last = 0;
            if (result == BP_OK) {
                free(before);
                break;
            }
            ck_assert_int_eq(result, BP_ERROR_MEMORY);
            ck_assert_ptr_nonnull(strstr(bp_host_error(host), "out of memory while "));
            ck_assert_uint_eq(rig.heap.bytes, bytes);
            expect_same(before, describe_host(host), sets[i].field);
            refused++;
        }
        EXPECT(refused > 0, "%s", sets[i].field);
        expect_known();
    }
    EXPECT(amount_of(e[0]) == 5 && amount_of(e[2]) == 7, "the amounts are others");
    for (uint32_t i = 0; i < COUNT(e); i++) {
        bp_list_t have;
        const char *text;
        WORKS(host, api->property->resolve(world, e[i], "ledger", "items", &property));
        WORKS(host, api->property->get(world, &property, &e[i], 1, &have, sizeof have));
        ck_assert_uint_eq(have.count, i == 1 ? MANY + 2 : MANY + 1);
        WORKS(host, api->property->get_named(world, e[i], "ledger", "label", BP_STRING, &text));
        ck_assert_str_eq(text, texts[i]);
    }
}
END_TEST

/* Calls under the guard go another way. */
START_TEST(what_comes_and_what_is_set_may_be_refused_under_the_guard_too)
{
    bp_entity_t e[4], other;
    bp_property_t amount;
    float values[] = {3, 4, 5, -1};
    end();
    open_with(BP_HOST_CRASH_GUARD);
    make(e, COUNT(e));
    WORKS(host, api->property->resolve(world, e[0], "ledger", "amount", &amount));
    FAILS(host, BP_ERROR_FAILED, "no debts", api->property->set(world, &amount, e, 4, values, sizeof *values));
    ck_assert(amount_of(e[0]) == 1 && ledger()->sets == 0);
    WORKS(host, api->property->set(world, &amount, e, 3, values, sizeof *values));
    ck_assert(amount_of(e[2]) == 5 && ledger()->sets == 3);
    WORKS(host, api->entity->create(host, &other, 1));
    ledger()->refuse = 1;
    FAILS(host, BP_ERROR_FAILED, "not now", api->world->add(world, key, &other, 1));
    ck_assert_uint_eq(api->world->has(world, key, &other, 1, NULL), 0);
    expect_known();
}
END_TEST

/* Storage of its own is asked last: rows that have been told of by then go again, and that is told too. */
START_TEST(rows_that_a_component_with_storage_of_its_own_refuses_are_taken_back)
{
    bp_entity_t e[5];
    WORKS(host, bp_world_use_component(world, "told"));
    stock_t *stock = state_of(world, "told");
    uint32_t both = prototype_of(world, "ledger", "told", NULL, NULL);
    make(e, 2);
    stock->refuse_creates = 1;
    ck_assert_int_ne(api->world->create(world, both, e + 2, 3), BP_OK);
    expect_known();
    ck_assert_uint_eq(ledger()->count, 2);
    stock->refuse_creates = 0;
    WORKS(host, api->world->create(world, both, e + 2, 3));
    expect_known();
    ck_assert_uint_eq(ledger()->count, 5);
}
END_TEST

START_TEST(hidden_fields_are_seen_by_nobody)
{
    bp_entity_t e;
    bp_property_t property;
    bp_field_t field;
    make(&e, 1);
    FAILS(host, BP_ERROR_NOT_FOUND, "no property 'touched'",
          api->property->resolve(world, e, "ledger", "touched", &property));
    WORKS(host, api->property->describe(host, "ledger", 2, &field, sizeof field));
    FAILS(host, BP_ERROR_NOT_FOUND, "", api->property->describe(host, "ledger", 3, &field, sizeof field));
    bp_ref_t ref = {.entity = e, .field = key << 8 | 3};
    ck_assert_ptr_null(api->world->ref(world, &ref));
    const bp_term_field_t asked[] = {{.name = "touched", .type = BP_U32}};
    const bp_term_t terms[] = {{.component = "ledger", .fields = BP_LIST(asked)}};
    const bp_term_list_t list = BP_LIST(terms);
    const bp_query_api *queries = api->registry->find(host, BP_QUERY_API, 1);
    bp_query_o *query;
    FAILS(host, BP_ERROR_NOT_FOUND, "touched", queries->make(world, NULL, &list, 0, &query));
}
END_TEST

START_TEST(what_is_told_of_rows_may_not_move_them)
{
    bp_entity_t e[2];
    make(e, 2);
    for (uint32_t round = 0; round < 3; round++) {
        float amount = 4;
        ledger()->try_in = world;
        if (round == 0)
            make(&e[1], 1);
        else if (round == 1)
            WORKS(host, api->property->set_named(world, e[1], "ledger", "amount", BP_F32, &amount));
        else
            WORKS(host, api->world->remove(world, key, &e[1], 1));
        ck_assert_ptr_null(ledger()->try_in);
        for (uint32_t i = 0; i < 5; i++)
            EXPECT(ledger()->tried[i] == BP_ERROR_STATE, "round %u: %u came to %u", round, i, ledger()->tried[i]);
        ck_assert_uint_eq(ledger()->tried[5], BP_OK);
    }
    expect_known();
}
END_TEST

START_TEST(a_scene_that_is_refused_leaves_nothing)
{
    bp_scene_o *scene;
    static const char text[] =
        "{\"entities\": [{\"count\": 5, \"components\": {\"ledger\": {\"amount\": 2}}},"
        " {\"components\": {\"body\": {}, \"ledger\": {\"amount\": 3, \"label\": \"two\"}}}]}";
    bp_result_t made = bp_scene_compile_text(host, "crowd", text, sizeof text - 1, &scene);
    ck_assert_msg(made == BP_OK, "%s", bp_host_error(host));
    ledger()->refuse = 2;
    FAILS(host, BP_ERROR_FAILED, "not now", bp_scene_spawn(scene, world, 0, NULL, NULL));
    ck_assert_uint_eq(api->entity->count(host), 0);
    expect_known();
    bp_entity_t e[6];
    WORKS(host, bp_scene_spawn(scene, world, 0, e, NULL));
    ck_assert(ledger()->count == 6 && amount_of(e[5]) == 3 && hidden_of(e[5], 3) == 7);
    expect_known();
    WORKS(host, bp_scene_restore(scene, world, 0));
    ck_assert_uint_eq(ledger()->count, 6);
    expect_known();
    bp_scene_close(scene);
}
END_TEST

/* --- snapshots ---------------------------------------------------------------------------------------------------- */

START_TEST(a_host_that_goes_back_tells_a_state_that_is_made_anew)
{
    bp_entity_t e[30], others[2][5]; /* rows of several runs */
    bp_snapshot_o *then, *again;
    make(e, COUNT(e));
    for (uint32_t i = 0; i < 2; i++)
        WORKS(host, api->world->create(world, prototype_of(world, "ledger", i == 0 ? "body" : "fx", NULL, NULL),
                                       others[i], COUNT(others[i])));
    api->entity->destroy(host, e, 4);
    WORKS(host, bp_world_step(world));
    WORKS(host, bp_host_snapshot(host, &then));
    make(e, 3);
    WORKS(host, api->world->remove(world, key, &e[10], 5));
    WORKS(host, bp_world_step(world));
    WORKS(host, bp_host_bring_back(host, then));
    ck_assert(ledger()->count == 36 && hidden_of(e[20], 3) == 107);
    expect_known();
    WORKS(host, bp_host_snapshot(host, &again));
    ck_assert_uint_eq(bp_snapshot_hash(then, NULL), bp_snapshot_hash(again, NULL)); /* whatever the slots are now */
    bp_snapshot_free(then);
    bp_snapshot_free(again);
}
END_TEST

/* --- reloads ------------------------------------------------------------------------------------------------------ */

static bp_result_t reload(const char *fixture)
{
    const char *name = "ledger";
    put_plugin(fixture, "ledger");
    return bp_host_reload(host, &name, 1, NULL);
}

START_TEST(a_reload_tells_rows_to_a_state_that_does_not_know_them)
{
    bp_entity_t e[40];
    make(e, COUNT(e));
    WORKS(host, api->world->add(world, body, e, 10));
    api->entity->destroy(host, &e[20], 6);
    WORKS(host, bp_world_step(world));
    ledger()->calls = 5;
    WORKS(host, reload("ledger_kept")); /* the list goes over, and hidden fields with it */
    ck_assert(ledger()->calls == 5 && hidden_of(e[30], 4) == 107);
    expect_known();
    FAILS(host, BP_ERROR_FAILED, "not these", reload("ledger_refuses"));
    ck_assert(ledger()->calls == 5 && hidden_of(e[30], 4) == 107 && count_columns() == 6);
    expect_known();
    WORKS(host, reload("ledger_anew"));
    ck_assert(ledger()->calls == 2 && hidden_of(e[30], 3) == 107); /* one for each run */
    expect_known();
    make(e, 5);
    api->entity->destroy(host, e, 2);
    expect_known();
    WORKS(host, reload("ledger_first")); /* of the same fields, and of another form */
    expect_known();
    rig.log.count = 0;
    memset(rig.log.text, 0, sizeof rig.log.text);
}
END_TEST

/* It is told of the rows of one run before those of another one are refused: in a state of its own, since the old one
 * goes on. */
START_TEST(a_state_of_which_a_refused_version_would_be_told_of_rows_stays_as_it_was)
{
    bp_entity_t e[40];
    float debts = -1;
    open_file("ledger_untold", 0);
    make(e, COUNT(e));
    WORKS(host, api->world->add(world, body, e, 10));
    WORKS(host, api->property->set_named(world, e[3], "ledger", "amount", BP_F32, &debts));
    const ledger_t *old = ledger();
    ledger()->sets = 42;
    FAILS(host, BP_ERROR_FAILED, "no debts", reload("ledger_kept"));
    ck_assert(ledger() == old && old->sets == 42 && old->count == 0 && old->calls == 0);
    WORKS(host, api->property->set_named(world, e[3], "ledger", "amount", BP_F32, &(float){0}));
    WORKS(host, reload("ledger_kept"));
    ck_assert(ledger()->sets == 0 && ledger()->count == COUNT(e));
    expect_known();
    WORKS(host, reload("ledger_first")); /* told before and after: the state goes over */
    ck_assert(ledger()->calls == 2);
    expect_known();
    rig.log.count = 0;
    memset(rig.log.text, 0, sizeof rig.log.text);
    end();
}
END_TEST

START_TEST(each_allocation_of_such_a_reload_may_fail)
{
    static int32_t many[20000]; /* a list that takes memory when it is copied */
    const bp_list_t list = {.items = many, .count = COUNT(many)};
    bp_entity_t e[40];
    bp_property_t items;
    uint32_t failed = 0;
    make(e, COUNT(e));
    WORKS(host, api->property->resolve(world, e[3], "ledger", "items", &items));
    WORKS(host, api->property->set(world, &items, &e[3], 1, &list, 0));
    for (uint32_t n = 0; failed == n; n++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + 1 + n;
        ledger()->calls = 77;
        bp_result_t result = reload("ledger_anew");
        rig.heap.refuse_first = 0;
        failed += result != BP_OK;
        ck_assert(result == BP_OK || ledger()->calls == 77);
        expect_known();
    }
    ck_assert(failed > 5);
    rig.log.count = 0;
    memset(rig.log.text, 0, sizeof rig.log.text);
}
END_TEST

/* A probation would leave the list of the old version behind what comes and goes: so there is none. Where the list goes
 * over there is one. */
START_TEST(a_version_comes_back_with_the_rows_that_there_are)
{
    bp_entity_t e[10];
    host->reload.probation_steps = 20;
    make(e, COUNT(e));
    WORKS(host, reload("ledger_kept"));
    ck_assert_ptr_nonnull(host->reload.probation);
    api->entity->destroy(host, e, 3);
    make(e, 2);
    WORKS(host, reload_rollback(&host->reload));
    expect_known();
    ck_assert_uint_eq(count_columns(), 5);
    WORKS(host, reload("ledger_anew"));
    ck_assert_ptr_null(host->reload.probation);
    expect_known();
    rig.log.count = 0;
    memset(rig.log.text, 0, sizeof rig.log.text);
}
END_TEST

/* --- texts -------------------------------------------------------------------------------------------------------- */

struct tag { bp_list_t *names; };
static const bp_field_t tag_fields[] = {{BP_LIST_OF(struct tag, names, BP_STRING)}};
static const char *last_told;

static bp_result_t tag_set(const bp_run_t *rows, uint32_t count, uint32_t field)
{
    BP_COLUMNS(struct tag, c, rows->columns);
    const bp_list_t *list = &c.names[count - 1];
    ck_assert_uint_eq(field, 0);
    last_told = ((const char *const *)list->items)[list->count - 1];
    return BP_OK;
}

static const bp_rows_i tag_rows = {.rows_set = tag_set};
static const bp_extension_t with_tag_rows[] = {{BP_EXTENSION("bp_rows", tag_rows)}};
static const bp_component_i tag_components[] = {{.fields = BP_LIST(tag_fields), .extensions = BP_LIST(with_tag_rows)}};
static const bp_plugin_head_t tag =
    BP_PLUGIN_HEAD("tag", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(tag_components)}));

START_TEST(texts_of_a_list_are_set_one_by_one_and_told)
{
    static const bp_plugin_head_t *const linked[] = {&tag};
    const char *text = "first", *back;
    char changing[16] = "second";
    bp_entity_t e[2];
    rig_t *other = calloc(1, sizeof *other);
    ck_assert_ptr_nonnull(other);
    rig_open_with(other, linked, 1);
    WORKS(other->host, bp_host_load_plugin(other->host, "tag", NULL, 0));
    bp_world_o *w = bp_world_create(other->host, &(bp_world_desc_t){.name = "main"});
    WORKS(other->host, bp_world_use_component(w, "tag"));
    WORKS(other->host, other->api->world->create(w, prototype_of(w, "tag", NULL, NULL, NULL), e, 2));
    const bp_property_api *p = other->api->property;
    WORKS(other->host, p->set_named(w, e[0], "tag", "names[0]", BP_STRING, &text));
    ck_assert_str_eq(last_told, "first");
    text = changing;
    WORKS(other->host, p->set_named(w, e[0], "tag", "names[1]", BP_STRING, &text));
    WORKS(other->host, p->set_named(w, e[1], "tag", "names[0]", BP_STRING, &text));
    snprintf(changing, sizeof changing, "other"); /* the list has its own copies */
    WORKS(other->host, p->get_named(w, e[0], "tag", "names[1]", BP_STRING, &back));
    ck_assert_str_eq(back, "second");
    WORKS(other->host, p->set_named(w, e[0], "tag", "names[0]", BP_STRING, &text)); /* in place of another one */
    WORKS(other->host, p->get_named(w, e[0], "tag", "names[0]", BP_STRING, &back));
    ck_assert_str_eq(back, "other");
    WORKS(other->host, p->get_named(w, e[1], "tag", "names[0]", BP_STRING, &back));
    ck_assert_str_eq(back, "second");
    uint32_t refused = 0;
    char long_text[64];
    for (uint32_t i = 1; i < 40; i++) { /* appended without memory: no text of a list that was refused stays */
        char place[32];
        snprintf(place, sizeof place, "names[%u]", i);
        snprintf(long_text, sizeof long_text, "a text that is not there before the turn of number %u", i);
        text = long_text;
        for (uint64_t n = 1;; n++) {
            other->heap.refuse_first = other->heap.refuse_last = other->heap.requests + n;
            bp_result_t result = p->set_named(w, e[1], "tag", place, BP_STRING, &text);
            other->heap.refuse_first = other->heap.refuse_last = 0;
            check_host(other->host);
            if (result == BP_OK)
                break;
            ck_assert_int_eq(result, BP_ERROR_MEMORY);
            refused++;
        }
    }
    ck_assert_uint_gt(refused, 40);
    check_host(other->host);
    rig_close(other);
    free(other);
}
END_TEST

/* --- two that are told ------------------------------------------------------------------------------------------- */

static uint32_t pair_rows[2], pair_refuses;
static bool pair_says_why;
static void *const *pair_columns[2]; /* where the rows were that it took last */

static bp_result_t take(uint32_t which, const bp_run_t *rows, uint32_t count)
{
    if (pair_refuses == which + 1 && pair_says_why)
        return rows->manager->api->error->set(rows->manager->host, BP_ERROR_FAILED, "not now");
    if (pair_refuses == which + 1)
        return BP_ERROR_FAILED;
    pair_rows[which] += count;
    pair_columns[which] = rows->columns;
    return BP_OK;
}

/* Rows that are taken back are told as they were when they came: with the same columns. */
static void leave(uint32_t which, const bp_run_t *rows, uint32_t count)
{
    EXPECT(pair_refuses == 0 || rows->columns == pair_columns[which], "rows of others are taken back");
    EXPECT(rows->lists != NULL, "lists of rows that go cannot be changed");
    pair_rows[which] -= count;
}

static bp_result_t even_added(const bp_run_t *rows, uint32_t count) { return take(0, rows, count); }
static bp_result_t odd_added(const bp_run_t *rows, uint32_t count) { return take(1, rows, count); }

static void even_removed(const bp_run_t *rows, uint32_t count) { leave(0, rows, count); }
static void odd_removed(const bp_run_t *rows, uint32_t count) { leave(1, rows, count); }

static const bp_rows_i even_rows = {.rows_added = even_added, .rows_removed = even_removed};
static const bp_rows_i odd_rows = {.rows_added = odd_added, .rows_removed = odd_removed};
static const bp_extension_t even_extensions[] = {{BP_EXTENSION("bp_rows", even_rows)}};
static const bp_extension_t odd_extensions[] = {{BP_EXTENSION("bp_rows", odd_rows)}};
static const bp_component_i pair_components[] = {
    {.name = "even", .fields = BP_LIST(tag_fields), .extensions = BP_LIST(even_extensions)},
    {.name = "odd", .fields = BP_LIST(tag_fields), .extensions = BP_LIST(odd_extensions)},
};
static const bp_plugin_head_t pair =
    BP_PLUGIN_HEAD("pair", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(pair_components)}));

/* Whichever of them is asked first: what the one has taken before the other refuses is taken back. */
START_TEST(rows_that_one_component_refuses_are_taken_back_from_another)
{
    static const bp_plugin_head_t *const linked[] = {&pair};
    static rig_t rigged;
    bp_entity_t e[3];
    pair_rows[0] = pair_rows[1] = 0;
    rig_open_with(&rigged, linked, 1);
    WORKS(rigged.host, bp_host_load_plugin(rigged.host, "pair", NULL, 0));
    bp_world_o *w = bp_world_create(rigged.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rigged.host, bp_world_use_component(w, "even"));
    WORKS(rigged.host, bp_world_use_component(w, "odd"));
    uint32_t both = prototype_of(w, "even", "odd", NULL, NULL);
    for (uint32_t i = 0; i < 4; i++) {
        char reason[128];
        pair_refuses = 1 + i % 2;
        pair_says_why = i < 2;
        snprintf(reason, sizeof reason, "component '%s' of world 'main': %s", pair_refuses == 1 ? "even" : "odd",
                 pair_says_why ? "not now" : "it gave no reason (code 13)");
        SAID(rigged.host, BP_ERROR_FAILED, reason, rigged.api->world->create(w, both, e, COUNT(e)));
        ck_assert(pair_rows[0] == 0 && pair_rows[1] == 0);
        ck_assert_uint_eq(rigged.api->entity->count(rigged.host), 0);
    }
    pair_refuses = 0;
    WORKS(rigged.host, rigged.api->world->create(w, both, e, COUNT(e)));
    ck_assert(pair_rows[0] == COUNT(e) && pair_rows[1] == COUNT(e));
    ck_assert_ptr_null(strstr(bp_host_error(rigged.host), "gave no reason"));
    ck_assert_uint_eq(rigged.api->entity->destroy(rigged.host, e, COUNT(e)), COUNT(e));
    ck_assert(pair_rows[0] == 0 && pair_rows[1] == 0);
    check_host(rigged.host);
    rig_close(&rigged);
}
END_TEST

/* --- what is refused ---------------------------------------------------------------------------------------------- */

static bp_result_t added(const bp_run_t *rows, uint32_t count)
{
    (void)rows, (void)count;
    return BP_OK;
}

static bp_result_t begin_state(bp_manager_t *m)
{
    (void)m;
    return BP_OK;
}

static const bp_rows_i some_rows = {.rows_added = added};
static const bp_extension_t with_rows[] = {{BP_EXTENSION("bp_rows", some_rows)}};

static void expect_refused(const bp_component_i *component, const char *why)
{
    const bp_plugin_desc_t desc = {.version = "1", .components = {component, 1, sizeof *component}};
    const bp_plugin_head_t bad = BP_PLUGIN_HEAD("bad", &desc), *const linked[] = {&bad};
    bp_host_o *other = bp_host_create(&(bp_host_desc_t){.static_plugins = linked, .static_plugin_count = 1});
    ck_assert_int_ne(bp_host_load_plugin(other, "bad", NULL, 0), BP_OK);
    EXPECT(strstr(bp_host_error(other), why) != NULL, "\"%s\" is not in: %s", why, bp_host_error(other));
    bp_host_destroy(other);
}

START_TEST(declarations_that_cannot_be_are_refused)
{
    const bp_field_t first[] = {{.name = "a", .type = BP_I32, .flags = BP_FIELD_HIDDEN}, {.name = "b", .type = BP_I32}};
    const bp_field_t text[] = {{.name = "a", .type = BP_STRING, .flags = BP_FIELD_HIDDEN | BP_FIELD_DERIVED}};
    const bp_field_t made[] = {{.name = "a", .type = BP_I32, .flags = BP_FIELD_HIDDEN | BP_FIELD_DERIVED}};
    const bp_field_t parent[] = {{.name = "a", .type = BP_ENTITY, .flags = BP_FIELD_HIDDEN | BP_FIELD_PARENT}};
    expect_refused(&(bp_component_i){.fields = BP_LIST(first)}, "hidden ones come last");
    expect_refused(&(bp_component_i){.fields = BP_LIST(text), .extensions = BP_LIST(with_rows)}, "no text and no list");
    expect_refused(&(bp_component_i){.fields = BP_LIST(made)}, "rows_added of the extension bp_rows");
    expect_refused(&(bp_component_i){.fields = BP_LIST(made), .extensions = BP_LIST(with_rows), .start = begin_state,
                                     .keeps = BP_KEEP_NOTHING}, "BP_KEEP_ANEW");
    expect_refused(&(bp_component_i){.fields = BP_LIST(parent)}, "its manager alone sees");
}
END_TEST

Suite *rows_suite(void)
{
    Suite *suite = suite_create("rows");
    TCase *tests = tcase_create("rows");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_set_timeout(tests, 240);
    tcase_add_test(tests, it_knows_the_rows_that_there_are_whatever_happens);
    tcase_add_test(tests, rows_go_with_the_component_with_their_entity_and_with_the_plugin);
    tcase_add_test(tests, rows_of_a_world_that_is_restored_go_from_entities_that_live_on);
    tcase_add_test(tests, rows_go_in_any_order_with_others_between_them);
    tcase_add_test(tests, what_is_set_is_told_and_may_be_refused);
    tcase_add_test(tests, what_is_set_has_changed_since_then);
    tcase_add_test(tests, without_memory_nothing_is_set);
    tcase_add_test(tests, what_comes_and_what_is_set_may_be_refused_under_the_guard_too);
    tcase_add_test(tests, rows_that_a_component_with_storage_of_its_own_refuses_are_taken_back);
    tcase_add_test(tests, hidden_fields_are_seen_by_nobody);
    tcase_add_test(tests, what_is_told_of_rows_may_not_move_them);
    tcase_add_test(tests, a_scene_that_is_refused_leaves_nothing);
    tcase_add_test(tests, a_host_that_goes_back_tells_a_state_that_is_made_anew);
    tcase_add_test(tests, a_reload_tells_rows_to_a_state_that_does_not_know_them);
    tcase_add_test(tests, each_allocation_of_such_a_reload_may_fail);
    tcase_add_test(tests, a_version_comes_back_with_the_rows_that_there_are);
    tcase_add_test(tests, texts_of_a_list_are_set_one_by_one_and_told);
    tcase_add_test(tests, rows_that_one_component_refuses_are_taken_back_from_another);
    tcase_add_test(tests, declarations_that_cannot_be_are_refused);
    suite_add_tcase(suite, tests);
    TCase *alone = tcase_create("alone");
    tcase_set_timeout(alone, 240);
    tcase_add_test(alone, a_state_of_which_a_refused_version_would_be_told_of_rows_stays_as_it_was);
    suite_add_tcase(suite, alone);
    return suite;
}
