/* test_stamps.c - change stamps: every value that differs from the one at the last look is told, and values that were
 * not written are not.
 *
 * The first is tried with random operations: all cells of all runs, and all instances with storage of their own, are
 * copied at a moment, and compared after some operations. The second with few rows and one change at a time.
 */
#include "../suites.h"
#include "churn.h"
#include "inspect.h"
#include "zoo.h"

#include "../../host/store/world.h"

#include <bp_changes.h>
#include <stdlib.h>
#include <string.h>

/* --- random operations ------------------------------------------------------------------------------------------- */

enum { RUNS = 4096, STOCKS = 3 };

static const char *const stock_types[STOCKS] = {"pool", "told", "mute"};

typedef struct copy_t {
    uint32_t count;
    char *columns[64];
} copy_t;

/* What a world was when one looked. */
typedef struct look_t {
    uint64_t moment;
    uint32_t run_count;
    copy_t runs[RUNS];
    bp_manager_t *managers[STOCKS];
    stock_item_t *items[STOCKS];
    uint32_t item_count[STOCKS];
} look_t;

static void *copy_of(const void *from, size_t size)
{
    void *copy = malloc(size + 1);
    ck_assert_ptr_nonnull(copy);
    if (size > 0)
        memcpy(copy, from, size);
    return copy;
}

static void forget(look_t *look)
{
    for (uint32_t r = 0; r < look->run_count; r++) {
        for (uint32_t c = 0; c < COUNT(look->runs[r].columns); c++)
            free(look->runs[r].columns[c]);
    }
    for (uint32_t s = 0; s < STOCKS; s++)
        free(look->items[s]);
    memset(look->runs, 0, sizeof look->runs);
    memset(look->items, 0, sizeof look->items);
}

static void look_at(look_t *look, bp_world_o *handle, const bp_changes_api *changes)
{
    const world_t *world = world_of(handle);
    look->moment = changes->look(handle);
    look->run_count = world->run_count;
    ck_assert_uint_le(world->run_count, RUNS);
    for (uint32_t r = 0; r < world->run_count; r++) {
        const run_t *run = world->runs[r];
        EXPECT(run->stamps != NULL, "run %u has no stamps", r);
        look->runs[r].count = run->count;
        for (uint32_t c = 0; c < run->column_count && run->count > 0; c++)
            look->runs[r].columns[c] = copy_of(run->columns[c], (size_t)run->count * run->sizes[c]);
    }
    for (uint32_t s = 0; s < STOCKS; s++) {
        const bp_world_api *api = api_of(handle)->world;
        bp_manager_t *m = api->manager(handle, api->component(handle, stock_types[s]));
        const stock_t *stock = m->state;
        if (m != look->managers[s])
            WORKS(host_of(handle), changes->keep(m));
        look->managers[s] = m;
        look->item_count[s] = stock->count;
        look->items[s] = copy_of(stock->items, stock->count * sizeof *stock->items);
    }
}

static void check_rows(const look_t *look, const world_t *world, uint32_t r)
{
    const run_t *run = world->runs[r];
    const copy_t *was = &look->runs[r];
    for (uint32_t row = 0; row < run->count; row++) {
        for (uint32_t c = 0; c < run->column_count; c++) {
            size_t size = run->sizes[c];
            bool same = r < look->run_count && row < was->count &&
                        memcmp(was->columns[c] + row * size, run_cell(run, c, row), size) == 0;
            EXPECT(same || stamps_of_block(run->stamps, c, row / BP_STAMP_ROWS) > look->moment,
                   "run %u, row %u of %u, column %u has changed, and its stamp does not say so", r, row, run->count, c);
        }
    }
}

static void check_instances(const look_t *look, bp_world_o *world, const bp_changes_api *changes, uint32_t s)
{
    const bp_world_api *api = api_of(world)->world;
    bp_slot_stamps_t stamps = {.struct_size = sizeof stamps};
    if (look->managers[s] != api->manager(world, api->component(world, stock_types[s])))
        return; /* its plugin has gone and come again */
    const stock_t *stock = look->managers[s]->state;
    changes->slots(look->managers[s], &stamps);
    EXPECT(stock->count == look->item_count[s] || stamps.latest > look->moment, "another number of %s", stock_types[s]);
    for (uint32_t i = 0; i < stock->count; i++) {
        const stock_item_t *was = &look->items[s][i], *is = &stock->items[i];
        bool same = i < look->item_count[s] && was->entity.id == is->entity.id && was->number == is->number &&
                    was->instance == is->instance && was->serial == is->serial;
        EXPECT(same || bp_slot_stamp(&stamps, i) > look->moment, "slot %u of %s has changed unseen", i, stock_types[s]);
    }
}

/* Loops: four seeds, with few entities and with many, on 1, 2 and 4 threads. */
START_TEST(whatever_has_changed_is_told)
{
    static churn_t churn;
    look_t *const looks = room_of(MODEL_WORLDS * sizeof *looks);
    static rig_t rig;
    rig_init(&rig);
    rig.desc.threads = 1u << _i / 4;
    if (_i >= 4)
        rig.desc.allocator = NULL; /* the heap of rigs is for one thread */
    rig_open(&rig);
    for (uint32_t i = 0; i < ZOO_PLUGINS; i++)
        WORKS(rig.host, bp_host_load_plugin(rig.host, zoo_plugins[i]->name, NULL, 0));
    churn_open(&churn, &rig, 7000 + (uint64_t)_i % 4, _i % 2 == 0 ? 40 : 2500);
    const bp_changes_api *changes = churn.model.api->registry->find(churn.model.host, BP_CHANGES_API, 1);
    for (uint32_t w = 0; w < MODEL_WORLDS; w++) {
        bp_world_o *world = churn.model.worlds[w];
        const bp_world_api *api = churn.model.api->world;
        WORKS(churn.model.host, changes->keep(api->manager(world, api->component(world, "body"))));
    }
    for (uint32_t round = 0; round < 60; round++) {
        for (uint32_t w = 0; w < MODEL_WORLDS; w++)
            look_at(&looks[w], churn.model.worlds[w], changes);
        for (uint32_t i = 0; i < 1 + round % 12; i++)
            churn_once(&churn);
        for (uint32_t w = 0; w < MODEL_WORLDS; w++) {
            const world_t *world = world_of(churn.model.worlds[w]);
            for (uint32_t r = 0; r < world->run_count; r++)
                check_rows(&looks[w], world, r);
            for (uint32_t s = 0; s < STOCKS; s++)
                check_instances(&looks[w], churn.model.worlds[w], changes, s);
            forget(&looks[w]);
        }
    }
    model_compare(&churn.model);
    churn_close(&churn);
    rig_close(&rig);
}
END_TEST

/* --- one change at a time ---------------------------------------------------------------------------------------- */

enum { ROWS = 1000 };

typedef struct place_t {
    rig_t rig;
    bp_world_o *world;
    const bp_changes_api *changes;
    bp_manager_t *body;
    uint32_t key, prototype;
    uint64_t since;
    bp_entity_t entities[ROWS];
} place_t;

static void place_fill(place_t *p)
{
    const bp_world_api *api = p->rig.api->world;
    p->world = rig_world(&p->rig, "main");
    p->changes = p->rig.api->registry->find(p->rig.host, BP_CHANGES_API, 1);
    p->body = api->manager(p->world, api->component(p->world, "body"));
    p->key = key_of(p->world, "body", "");
    p->prototype = prototype_of(p->world, "body", NULL, NULL, NULL);
    WORKS(p->rig.host, api->create(p->world, p->prototype, p->entities, ROWS));
    WORKS(p->rig.host, p->changes->keep(p->body));
    p->since = p->changes->look(p->world);
}

static void place_open(place_t *p)
{
    rig_open_zoo(&p->rig);
    place_fill(p);
}

/* The stretches of rows of a field that have changed since the last question, as text: "128+128 900+100". */
static const char *told(place_t *p, uint32_t field)
{
    static char text[256];
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t row = 0, count; (count = p->changes->rows(p->world, p->prototype, p->key, field, p->since, &row)) > 0;
         row += count)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%u+%u", length > 0 ? " " : "", row, count);
    return text;
}

static void set_mass(place_t *p, uint32_t i)
{
    float mass = 3;
    WORKS(p->rig.host,
          p->rig.api->property->set_named(p->world, p->entities[i], "body", "mass", BP_F32, &mass));
}

START_TEST(a_set_tells_its_block_and_its_field)
{
    static place_t p;
    place_open(&p);
    ck_assert_str_eq(told(&p, BODY_MASS), "");
    set_mass(&p, 130);
    set_mass(&p, 130); /* by another way than the first time */
    ck_assert_str_eq(told(&p, BODY_MASS), "128+128");
    ck_assert_str_eq(told(&p, BODY_POSITION), "");
    set_mass(&p, 256);
    set_mass(&p, 999);
    ck_assert_str_eq(told(&p, BODY_MASS), "128+256 896+104");
    p.since = p.changes->look(p.world);
    ck_assert_str_eq(told(&p, BODY_MASS), "");
    rig_close(&p.rig);
}
END_TEST

START_TEST(a_batch_tells_its_blocks)
{
    static place_t p;
    static bp_vec3_t positions[300];
    bp_property_t position;
    place_open(&p);
    const bp_property_api *api = p.rig.api->property;
    WORKS(p.rig.host, api->resolve(p.world, p.entities[0], "body", "position", &position));
    WORKS(p.rig.host, api->set(p.world, &position, p.entities + 100, 300, positions, sizeof *positions));
    ck_assert_str_eq(told(&p, BODY_POSITION), "0+512");
    ck_assert_str_eq(told(&p, BODY_MASS), "");
    rig_close(&p.rig);
}
END_TEST

START_TEST(elements_and_texts_tell_their_blocks)
{
    static place_t p;
    bp_property_t element;
    place_open(&p);
    const bp_property_api *api = p.rig.api->property;
    uint32_t bag = prototype_of(p.world, "bag", NULL, NULL, NULL), row = 0;
    uint16_t value = 5;
    WORKS(p.rig.host, p.rig.api->world->create(p.world, bag, p.entities, ROWS));
    p.since = p.changes->look(p.world);
    WORKS(p.rig.host, api->resolve(p.world, p.entities[700], "bag", "slots[1]", &element));
    ck_assert_uint_eq(element.type, BP_U16);
    WORKS(p.rig.host, api->set(p.world, &element, &p.entities[700], 1, &value, sizeof value));
    uint32_t count = p.changes->rows(p.world, bag, key_of(p.world, "bag", ""), BAG_SLOTS, p.since, &row);
    ck_assert_uint_eq(row, 640);
    ck_assert_uint_eq(count, 128);
    row = 0;
    ck_assert_uint_eq(p.changes->rows(p.world, bag, key_of(p.world, "bag", ""), BAG_MARKS, p.since, &row), 0);
    rig_close(&p.rig);
}
END_TEST

START_TEST(other_rows_are_told_for_every_field)
{
    static place_t p;
    place_open(&p);
    p.rig.api->entity->destroy(p.rig.host, &p.entities[300], 1);
    ck_assert_str_eq(told(&p, BODY_MASS), "256+128");
    ck_assert_str_eq(told(&p, BODY_POSITION), "256+128");
    p.since = p.changes->look(p.world);
    WORKS(p.rig.host, p.rig.api->world->create(p.world, p.prototype, p.entities, 1)); /* in the hole */
    ck_assert_str_eq(told(&p, BODY_POSITION), "256+128");
    p.since = p.changes->look(p.world);
    WORKS(p.rig.host, p.rig.api->world->add(p.world, key_of(p.world, "flag", ""), &p.entities[1], 1));
    ck_assert_str_eq(told(&p, BODY_POSITION), "0+128");
    p.since = p.changes->look(p.world);
    WORKS(p.rig.host, p.rig.api->world->remove(p.world, key_of(p.world, "flag", ""), &p.entities[1], 1));
    ck_assert_str_ne(told(&p, BODY_POSITION), "");
    rig_close(&p.rig);
}
END_TEST

START_TEST(a_step_tells_what_units_say_that_they_write)
{
    static place_t p;
    place_open(&p);
    WORKS(p.rig.host, bp_world_step(p.world));
    ck_assert_str_eq(told(&p, BODY_POSITION), "0+1000");
    p.since = p.changes->look(p.world);
    ck_assert_str_eq(told(&p, BODY_POSITION), "");
    rig_close(&p.rig);
}
END_TEST

static void do_nothing(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

static const bp_system_i rewriter[] = {
    {.name = "rewriter", .writes = "bag", .run_all = do_nothing, .keeps = BP_KEEP_NOTHING}};
static const bp_plugin_head_t rewriting =
    BP_PLUGIN_HEAD("rewriting", (&(const bp_plugin_desc_t){.version = "1", .systems = BP_LIST(rewriter)}));

/* A unit that names a component as a whole may have written each of its fields, in all combinations, and no other. */
START_TEST(a_step_tells_all_fields_of_a_component_that_a_unit_names)
{
    static place_t p;
    static const bp_plugin_head_t *plugins[ZOO_PLUGINS + 1];
    bp_entity_t bags[50];
    rig_init(&p.rig);
    memcpy(plugins, zoo_plugins, sizeof zoo_plugins);
    plugins[ZOO_PLUGINS] = &rewriting;
    p.rig.desc.static_plugins = plugins;
    p.rig.desc.static_plugin_count = COUNT(plugins);
    rig_open(&p.rig);
    for (uint32_t i = 0; i < COUNT(plugins); i++)
        WORKS(p.rig.host, bp_host_load_plugin(p.rig.host, plugins[i]->name, NULL, 0));
    place_fill(&p);
    const uint32_t prototypes[] = {prototype_of(p.world, "bag", NULL, NULL, NULL),
                                   prototype_of(p.world, "mark", "bag", "body", NULL)};
    for (uint32_t i = 0; i < COUNT(prototypes); i++)
        WORKS(p.rig.host, p.rig.api->world->create(p.world, prototypes[i], bags, COUNT(bags)));
    p.key = key_of(p.world, "bag", "");
    for (uint32_t asked = 0; asked < 2; asked++) {
        WORKS(p.rig.host, bp_world_step(p.world));
        p.since = p.changes->look(p.world);
        WORKS(p.rig.host, bp_world_step(p.world));
        for (uint32_t field = BAG_SLOTS; field <= BAG_NAMES; field++) {
            for (uint32_t i = 0; i < COUNT(prototypes); i++) {
                p.prototype = prototypes[i];
                ck_assert_str_eq(told(&p, field), asked == 0 ? "" : "0+50");
            }
        }
        if (asked == 0)
            WORKS(p.rig.host, bp_world_use_system(p.world, "rewriter"));
    }
    p.key = key_of(p.world, "mark", "");
    ck_assert_str_eq(told(&p, 0), "");
    rig_close(&p.rig);
}
END_TEST

START_TEST(a_writing_reference_tells_its_block)
{
    static place_t p;
    place_open(&p);
    const bp_world_api *api = p.rig.api->world;
    bp_ref_t ref = {.entity = p.entities[500], .field = p.key << 8 | BODY_MASS};
    ck_assert_ptr_nonnull(bp_ref_get(api, p.world, &ref));
    ck_assert_str_eq(told(&p, BODY_MASS), "");
    ck_assert_ptr_nonnull(api->ref_write(p.world, &ref));
    ck_assert_str_eq(told(&p, BODY_MASS), "384+128");
    ck_assert_str_eq(told(&p, BODY_POSITION), "");
    p.since = p.changes->look(p.world);
    ck_assert_ptr_nonnull(api->ref_write(p.world, &ref)); /* once more, by the same handle */
    ck_assert_str_eq(told(&p, BODY_MASS), "384+128");
    rig_close(&p.rig);
}
END_TEST

/* By slot, for a component with storage of its own: the manager says which instances it has written. */
START_TEST(instances_that_their_manager_has_written_are_told)
{
    static place_t p;
    bp_slot_stamps_t stamps = {.struct_size = sizeof stamps};
    place_open(&p);
    const bp_world_api *api = p.rig.api->world;
    bp_manager_t *pool = api->manager(p.world, api->component(p.world, "pool"));
    WORKS(p.rig.host, api->create(p.world, prototype_of(p.world, "pool", NULL, NULL, NULL), p.entities, ROWS));
    /* All that there is counts as written when the first caller begins to ask, and not when another one does. */
    p.since = p.changes->look(p.world);
    WORKS(p.rig.host, p.changes->keep(pool));
    p.changes->slots(pool, &stamps);
    ck_assert(stamps.latest > p.since && stamps.rest > p.since && bp_slot_stamp(&stamps, 5) > p.since);
    p.since = p.changes->look(p.world);
    WORKS(p.rig.host, p.changes->keep(pool));
    p.changes->slots(pool, &stamps);
    ck_assert(stamps.latest <= p.since && stamps.rest <= p.since && bp_slot_stamp(&stamps, 5) <= p.since);
    api->instances_changed(pool, (const uint32_t[]){5}, 1);
    p.changes->release(pool);
    p.changes->slots(pool, &stamps);
    ck_assert(stamps.latest > p.since && stamps.rest <= p.since && bp_slot_stamp(&stamps, 5) > p.since);
    p.since = p.changes->look(p.world);
    api->instances_changed(pool, (const uint32_t[]){700, 5}, 2);
    p.changes->slots(pool, &stamps);
    ck_assert_uint_gt(bp_slot_stamp(&stamps, 5), p.since);
    ck_assert_uint_le(bp_slot_stamp(&stamps, 128), p.since);
    ck_assert_uint_gt(bp_slot_stamp(&stamps, 700), p.since);
    ck_assert_uint_gt(stamps.latest, p.since);
    p.since = p.changes->look(p.world);
    api->instances_changed_range(pool, 255, 2);
    p.changes->slots(pool, &stamps);
    ck_assert_uint_le(bp_slot_stamp(&stamps, 5), p.since);
    ck_assert_uint_gt(bp_slot_stamp(&stamps, 255), p.since);
    ck_assert_uint_gt(bp_slot_stamp(&stamps, 256), p.since);
    ck_assert_uint_le(bp_slot_stamp(&stamps, 384), p.since);
    rig_close(&p.rig);
}
END_TEST

/* Components that want stamps of their own values from their beginning to their end. */
static bp_result_t watch(bp_manager_t *m)
{
    const bp_changes_api *changes = m->api->registry->find(m->host, BP_CHANGES_API, 1);
    return changes->keep(m);
}

static void watch_no_more(bp_manager_t *m)
{
    const bp_changes_api *changes = m->api->registry->find(m->host, BP_CHANGES_API, 1);
    changes->release(m);
}

static bp_result_t make_nothing(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                                const void *const *columns, uint32_t *slots)
{
    (void)instance, (void)entities, (void)columns;
    for (uint32_t i = 0; i < count; i++)
        slots[i] = i;
    m->api->world->instances_changed_range(m, 0, count);
    return BP_OK;
}

static void end_nothing(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    (void)m, (void)slots, (void)count;
}

static uint32_t count_nothing(bp_manager_t *m)
{
    (void)m;
    return 0;
}

static const bp_storage_i nothing_storage = {.struct_size = sizeof nothing_storage, .create = make_nothing,
                                             .destroy = end_nothing, .count = count_nothing};
static const bp_field_t watched_fields[] = {{.name = "number", .type = BP_U32}};
static const bp_component_i watched_list[] = {
    {.name = "diary", .fields = BP_LIST(watched_fields), .start = watch, .stop = watch_no_more},
    {.name = "ledger", .start = watch, .stop = watch_no_more, .storage = &nothing_storage},
};
static const bp_plugin_head_t watched =
    BP_PLUGIN_HEAD("watched", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(watched_list)}));

START_TEST(a_component_asks_for_stamps_of_its_own_when_it_starts)
{
    static const bp_plugin_head_t *const plugins[] = {&watched};
    static const char *const types[] = {"ledger", "diary"};
    rig_t rig;
    rig_open_with(&rig, plugins, COUNT(plugins));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "watched", NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    const bp_changes_api *changes = rig.api->registry->find(rig.host, BP_CHANGES_API, 1);
    for (uint32_t i = 0; i < COUNT(types); i++)
        WORKS(rig.host, bp_world_use_component(world, types[i]));
    uint64_t since = changes->look(world);
    bp_entity_t page = entity_with(world, "diary");
    entity_with(world, "ledger");
    uint32_t prototype = prototype_of(world, "diary", NULL, NULL, NULL), row = 0;
    ck_assert_uint_eq(changes->rows(world, prototype, key_of(world, "diary", ""), 0, since, &row), 1);
    bp_manager_t *ledger = rig.api->world->manager(world, rig.api->world->component(world, "ledger"));
    bp_slot_stamps_t stamps = {.struct_size = sizeof stamps};
    changes->slots(ledger, &stamps);
    ck_assert(ledger->watched != 0 && stamps.latest > since);
    since = changes->look(world);
    row = 0;
    ck_assert_uint_eq(changes->rows(world, prototype, key_of(world, "diary", ""), 0, since, &row), 0);
    rig.api->entity->destroy(rig.host, &page, 1);
    for (uint32_t i = 0; i < COUNT(types); i++)
        WORKS(rig.host, bp_world_drop_component(world, types[i]));
    check_host(rig.host);
    rig_close(&rig);
}
END_TEST

/* Who asks for stamps of a component of another plugin may say that it asks no more when that plugin has gone. */
START_TEST(stamps_of_a_component_that_has_gone_are_released_as_its_own)
{
    static place_t p;
    place_open(&p);
    const bp_world_api *api = p.rig.api->world;
    bp_manager_t *pool = api->manager(p.world, api->component(p.world, "pool"));
    WORKS(p.rig.host, p.changes->keep(pool));
    p.changes->release(p.body);
    WORKS(p.rig.host, bp_host_unload_plugin(p.rig.host, "stocks"));
    p.changes->release(pool);
    check_host(p.rig.host);
    WORKS(p.rig.host, p.changes->keep(p.body));
    p.since = p.changes->look(p.world);
    set_mass(&p, 130);
    ck_assert_str_eq(told(&p, BODY_MASS), "128+128");
    rig_close(&p.rig);
}
END_TEST

/* What a reload has done to values is not written down one by one. */
START_TEST(all_values_count_as_written_when_a_world_is_unsealed)
{
    static place_t p;
    bp_slot_stamps_t stamps = {.struct_size = sizeof stamps};
    place_open(&p);
    world_t *w = world_of(p.world);
    const bp_world_api *api = p.rig.api->world;
    bp_manager_t *pool = api->manager(p.world, api->component(p.world, "pool"));
    WORKS(p.rig.host, api->create(p.world, prototype_of(p.world, "pool", NULL, NULL, NULL), p.entities, ROWS));
    WORKS(p.rig.host, p.changes->keep(pool));
    api->instances_changed(pool, (const uint32_t[]){700}, 1);
    p.since = p.changes->look(p.world);
    ck_assert_str_eq(told(&p, BODY_MASS), "");
    world_seal(w);
    ck_assert(world_holds_rows(w) && w->hold == WORLD_SEALED && (w->care & WORLD_SEALED) != 0);
    FAILS(p.rig.host, BP_ERROR_STATE, "while a reload is being prepared", p.changes->keep(p.body));
    ck_assert_str_eq(told(&p, BODY_MASS), "");
    world_unseal(w);
    ck_assert(!world_holds_rows(w) && (w->care & WORLD_SEALED) == 0);
    ck_assert_str_eq(told(&p, BODY_MASS), "0+1000");
    ck_assert_str_eq(told(&p, BODY_POSITION), "0+1000");
    p.changes->slots(pool, &stamps);
    ck_assert(stamps.latest > p.since && stamps.rest > p.since);
    for (uint32_t slot = 0; slot < ROWS; slot += 100)
        ck_assert_uint_gt(bp_slot_stamp(&stamps, slot), p.since);
    rig_close(&p.rig);
}
END_TEST

START_TEST(where_nobody_asks_all_is_told_and_nothing_kept)
{
    static place_t p;
    place_open(&p);
    WORKS(p.rig.host, p.changes->keep(p.body));
    p.changes->release(p.body);
    ck_assert_str_eq(told(&p, BODY_MASS), "");
    p.changes->release(p.body);
    ck_assert_ptr_null(world_of(p.world)->runs[0]->stamps);
    ck_assert_str_eq(told(&p, BODY_MASS), "0+1000");
    WORKS(p.rig.host, p.changes->keep(p.body));
    uint32_t row = ROWS;
    ck_assert_uint_eq(p.changes->rows(p.world, p.prototype, p.key, BODY_MASS, 0, &row), 0);
    row = 0;
    ck_assert_uint_eq(p.changes->rows(p.world, 9999, p.key, BODY_MASS, 0, &row), 0);
    ck_assert_uint_eq(p.changes->rows(p.world, p.prototype, 9999, BODY_MASS, 0, &row), 0);
    ck_assert_uint_eq(p.changes->rows(p.world, p.prototype, p.key, 9999, 0, &row), 0);
    ck_assert_uint_eq(p.changes->rows(p.world, p.prototype, p.key, BODY_MASS, 0, &row), ROWS);
    rig_close(&p.rig);
}
END_TEST

START_TEST(a_release_too_many_takes_nobodys_stamps)
{
    place_t p;
    place_open(&p);
    ck_assert_int_eq(world_keep_stamps(world_of(p.world)), BP_OK); /* as a query does */
    p.changes->release(p.body);
    p.changes->release(p.body);
    ck_assert_ptr_nonnull(world_of(p.world)->runs[0]->stamps);
    ck_assert_uint_eq(world_of(p.world)->askers, 1);
    world_release_stamps(world_of(p.world));
    ck_assert_uint_eq(world_of(p.world)->askers, 0);
    WORKS(p.rig.host, p.changes->keep(p.body));
    ck_assert_ptr_nonnull(world_of(p.world)->runs[0]->stamps);
    rig_close(&p.rig);
}
END_TEST

/* Whichever allocation fails: stamps are kept, or all is as it was. */
START_TEST(stamps_are_kept_or_not_when_memory_is_short)
{
    static place_t p;
    bp_entity_t more[300];
    place_open(&p);
    p.changes->release(p.body);
    for (uint64_t n = 1;; n++) {
        p.rig.heap.refuse_first = p.rig.heap.refuse_last = p.rig.heap.requests + n;
        bp_result_t result = p.changes->keep(p.body);
        p.rig.heap.refuse_first = p.rig.heap.refuse_last = 0;
        ck_assert_int_eq(world_of(p.world)->runs[0]->stamps != NULL, result == BP_OK);
        if (result == BP_OK)
            break;
        ck_assert_int_eq(result, BP_ERROR_MEMORY);
    }
    p.since = p.changes->look(p.world);
    uint64_t n = 1;
    for (;; n++) {
        p.rig.heap.refuse_first = p.rig.heap.refuse_last = p.rig.heap.requests + n;
        bp_result_t result = p.rig.api->world->create(p.world, p.prototype, more, 300);
        p.rig.heap.refuse_first = p.rig.heap.refuse_last = 0;
        if (result == BP_OK)
            break;
        ck_assert_int_eq(result, BP_ERROR_MEMORY);
        ck_assert_str_eq(told(&p, BODY_MASS), "");
    }
    ck_assert_uint_gt(n, 2);
    ck_assert_str_eq(told(&p, BODY_MASS), "896+404");
    rig_close(&p.rig);
}
END_TEST

/* Slots are written one by one, in ranges and all together, while they are asked for; where memory lacks, all behind
 * the last block count as written. */
START_TEST(stamps_of_slots_are_never_earlier_than_their_writes)
{
    enum { BLOCKS = 40, SLOTS = BLOCKS * BP_STAMP_ROWS };
    static uint64_t written[BLOCKS + 1];
    heap_t heap = {0};
    memory_t memory;
    slot_stamps_t stamps = {0};
    bp_allocator_i allocator = heap_allocator(&heap);
    uint64_t random = 3, latest = 0, exact = 0;
    memory_init(&memory, "slots", &allocator);
    slot_stamps_note_range(&stamps, &memory, 0, 10, 5);
    ck_assert(stamps.latest == 0 && stamps.count == 0); /* nobody asks */
    for (uint64_t now = 10; now < 3000; now++) {
        uint32_t slots[8], count = bp_random_below(&random, 9), first = bp_random_below(&random, SLOTS);
        uint32_t most = bp_random_below(&random, 4) == 0 ? 1000 : 100, n = bp_random_below(&random, most);
        uint32_t limit = (uint32_t)(now / 60 + 2) * BP_STAMP_ROWS, refused = 0;
        limit = limit < SLOTS ? limit : SLOTS;
        if (now % 500 == 10) { /* they are asked for anew */
            slot_stamps_free(&stamps, &memory);
            ck_assert(heap.bytes == 0 && stamps.latest == 0 && stamps.count == 0 && stamps.users == 0);
            stamps.users = 1;
            slot_stamps_note_all(&stamps, now);
            for (uint32_t b = 0; b <= BLOCKS; b++)
                written[b] = now;
            latest = now;
        }
        heap.refuse_first = bp_random_below(&random, 3) == 0 ? heap.requests + 1 : 0;
        heap.refuse_last = heap.refuse_first;
        first %= limit;
        n = n < limit - first ? n : limit - first;
        switch (bp_random_below(&random, 12)) {
        case 0:
            slot_stamps_note_all(&stamps, now);
            for (uint32_t b = 0; b <= BLOCKS; b++)
                written[b] = now;
            latest = now;
            break;
        case 1:
        case 2:
        case 3:
            slot_stamps_note_range(&stamps, &memory, first, n, now);
            for (uint32_t i = first; i < first + n; i++)
                written[i / BP_STAMP_ROWS] = now;
            latest = n > 0 ? now : latest;
            break;
        default:
            for (uint32_t i = 0; i < count; i++) {
                slots[i] = bp_random_below(&random, limit);
                written[slots[i] / BP_STAMP_ROWS] = now;
            }
            slot_stamps_note(&stamps, &memory, slots, count, now);
            latest = count > 0 ? now : latest;
            break;
        }
        refused = heap.refused > 0;
        heap.refused = 0;
        ck_assert(stamps.latest == latest && heap.bytes == slot_stamps_bytes(&stamps));
        ck_assert(refused == 0 || stamps.rest == now);
        for (uint32_t b = 0; b < BLOCKS; b++) {
            uint64_t stamp = b < stamps.count ? stamps.blocks[b] : stamps.rest;
            EXPECT(stamp >= written[b] && stamp <= now, "block %u was written at %u, and has the stamp %u", b,
                   (unsigned)written[b], (unsigned)stamp);
            exact += stamp == written[b];
        }
    }
    ck_assert_uint_gt(exact, 2990 * BLOCKS / 2); /* and mostly no later */
    slot_stamps_free(&stamps, &memory);
    ck_assert_uint_eq(heap.bytes, 0);
}
END_TEST

Suite *stamps_suite(void)
{
    Suite *suite = suite_create("stamps");
    TCase *tests = tcase_create("stamps");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, whatever_has_changed_is_told, 0, 12);
    tcase_add_test(tests, a_set_tells_its_block_and_its_field);
    tcase_add_test(tests, a_batch_tells_its_blocks);
    tcase_add_test(tests, elements_and_texts_tell_their_blocks);
    tcase_add_test(tests, other_rows_are_told_for_every_field);
    tcase_add_test(tests, a_step_tells_what_units_say_that_they_write);
    tcase_add_test(tests, a_step_tells_all_fields_of_a_component_that_a_unit_names);
    tcase_add_test(tests, a_writing_reference_tells_its_block);
    tcase_add_test(tests, instances_that_their_manager_has_written_are_told);
    tcase_add_test(tests, a_component_asks_for_stamps_of_its_own_when_it_starts);
    tcase_add_test(tests, stamps_of_a_component_that_has_gone_are_released_as_its_own);
    tcase_add_test(tests, all_values_count_as_written_when_a_world_is_unsealed);
    tcase_add_test(tests, where_nobody_asks_all_is_told_and_nothing_kept);
    tcase_add_test(tests, a_release_too_many_takes_nobodys_stamps);
    tcase_add_test(tests, stamps_are_kept_or_not_when_memory_is_short);
    tcase_add_test(tests, stamps_of_slots_are_never_earlier_than_their_writes);
    suite_add_tcase(suite, tests);
    return suite;
}
