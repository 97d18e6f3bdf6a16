/* test_worlds.c - worlds as embedders meet them: made, found, stopped, stepped, measured and ended. */
#include "../suites.h"
#include "inspect.h"
#include "os/os.h"
#include "support.h"
#include "zoo.h"

#include <bp_clock.h>

#include <math.h>
#include <stdio.h>

static rig_t rig;
static const bp_world_api *api;

static void begin(void)
{
    rig_init(&rig);
    rig_open(&rig);
    api = rig.api->world;
}

static void end(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

static void load(const char *name)
{
    WORKS(rig.host, bp_host_load_plugin(rig.host, name, NULL, 0));
}

static bp_world_o *zoo_world(const char *name)
{
    if (loader_find(&rig.host->loader, "zoo") == NULL) {
        load("zoo");
        load("stocks");
    }
    return rig_world(&rig, name);
}

/* --- stopped worlds ----------------------------------------------------------------------------------------------- */

static const bp_clock_api *clocks(void)
{
    const bp_clock_api *found = rig.api->registry->find(rig.host, BP_CLOCK_API, 1);
    ck_assert_ptr_nonnull(found);
    return found;
}

static bp_clock_t clock_of(bp_world_o *world)
{
    bp_clock_t clock = {.struct_size = sizeof clock};
    clocks()->read(world, &clock);
    return clock;
}

START_TEST(a_stopped_world_takes_the_steps_that_it_was_granted_and_no_other)
{
    bp_world_o *world = zoo_world("main"), *other = zoo_world("other");
    ck_assert_uint_eq(clock_of(world).stopped, 0);
    clocks()->stop(world);
    WORKS(rig.host, bp_world_step(world));
    WORKS(rig.host, bp_host_step(rig.host));
    ck_assert_uint_eq(world->clock.steps, 0);
    ck_assert_uint_eq(other->clock.steps, 1);
    clocks()->step(world, 2);
    for (int i = 0; i < 4; i++)
        WORKS(rig.host, bp_host_step(rig.host));
    ck_assert_uint_eq(world->clock.steps, 2);
    ck_assert_uint_eq(clock_of(world).granted, 0);
    ck_assert_uint_eq(clock_of(world).stopped, 1);
    clocks()->step(world, 5);
    clocks()->start(world);
    WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(clock_of(world).granted, 0);
    ck_assert_uint_eq(world->clock.steps, 3);
    ck_assert_uint_eq(other->clock.steps, 5);
}
END_TEST

START_TEST(a_speed_lies_within_its_limits)
{
    bp_world_o *world = zoo_world("main");
    ck_assert(clock_of(world).speed == 1);
    WORKS(rig.host, clocks()->set_speed(world, 0.25));
    SAID(rig.host, BP_ERROR_RANGE, "a speed of 0: it has to lie between 0.000001 and 1000000",
         clocks()->set_speed(world, 0));
    FAILS(rig.host, BP_ERROR_RANGE, "a speed of", clocks()->set_speed(world, (double)NAN)); /* nan or -nan */
    SAID(rig.host, BP_ERROR_RANGE, "a speed of 1e+09: it has to lie between 0.000001 and 1000000",
         clocks()->set_speed(world, 1e9));
    ck_assert(clock_of(world).speed == 0.25);
}
END_TEST

START_TEST(a_table_of_the_host_is_found_up_to_its_version)
{
    ck_assert_ptr_nonnull(rig.api->registry->find(rig.host, BP_CLOCK_API, 0));
    ck_assert_ptr_null(rig.api->registry->find(rig.host, BP_CLOCK_API, 2));
    const bp_clock_api *table = clocks();
    ck_assert_uint_eq(table->struct_size, sizeof *table);
    ck_assert_uint_eq(table->version, 1);
}
END_TEST

/* --- worlds ------------------------------------------------------------------------------------------------------- */

START_TEST(worlds_are_found_by_name_and_in_order)
{
    static const char *const names[] = {"main", "inventory", "menu"};
    bp_world_o *worlds[3];
    for (uint32_t i = 0; i < 3; i++)
        worlds[i] = bp_world_create(rig.host, &(bp_world_desc_t){.name = names[i]});
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_ptr_eq(api->find(rig.host, names[i]), worlds[i]);
        ck_assert_ptr_eq(api->at(rig.host, i), worlds[i]);
        ck_assert_str_eq(api->name(worlds[i]), names[i]);
    }
    ck_assert_ptr_null(api->at(rig.host, 3));
    ck_assert_ptr_null(api->find(rig.host, "mani"));
    ck_assert_str_eq(bp_host_error(rig.host), "there is no world 'mani'; did you mean 'main'?");
    bp_world_destroy(worlds[1]);
    ck_assert_ptr_eq(api->at(rig.host, 1), worlds[2]);
    ck_assert_ptr_null(api->find(rig.host, "inventory"));
    ck_assert_ptr_nonnull(bp_world_create(rig.host, &(bp_world_desc_t){.name = "inventory"}));
}
END_TEST

static const struct {
    bp_world_desc_t desc;
    const char *part;
} bad_worlds[] = {
    {{.name = NULL}, "1 to 63 letters"},
    {{.name = ""}, "1 to 63 letters"},
    {{.name = "a b"}, "not 'a b'"},
    {{.name = "a/b"}, "not 'a/b'"},
    {{.name = "0123456789012345678901234567890123456789012345678901234567890123"}, "1 to 63 letters"},
    {{.name = "there"}, "there is a world 'there' already"},
    {{.name = "w", .step_rate = -1}, "world 'w': -1 steps in a unit of time"},
    {{.name = "w", .step_rate = 2e12}, "up to 1e12"},
};

START_TEST(worlds_that_cannot_be_are_refused)
{
    bp_world_create(rig.host, &(bp_world_desc_t){.name = "there"});
    for (uint32_t i = 0; i < COUNT(bad_worlds); i++) {
        ck_assert_ptr_null(bp_world_create(rig.host, &bad_worlds[i].desc));
        ck_assert_msg(strstr(bp_host_error(rig.host), bad_worlds[i].part) != NULL, "%s",
                      bp_host_error(rig.host));
    }
    ck_assert_ptr_null(bp_world_create(rig.host, &(bp_world_desc_t){.name = "w", .step_rate = (double)NAN}));
    ck_assert_ptr_null(
        bp_world_create(rig.host, &(bp_world_desc_t){.name = "w", .step_rate = (double)INFINITY}));
    ck_assert_ptr_null(api->at(rig.host, 1));
}
END_TEST

/* So many types would take long to declare: the world is made to believe that it has them. */
/* Each request for memory fails once: nothing of the world is left. */
START_TEST(a_world_for_which_memory_is_lacking_is_not_created)
{
    heap_t *heap = &rig.heap;
    bool refused = true;
    uint32_t failures = 0, worlds = rig.host->destruction.world_count;
    for (uint64_t n = 1; refused; n++) {
        uint64_t before = heap->refused;
        heap->refuse_first = heap->refuse_last = heap->requests + n;
        bp_world_o *late = bp_world_create(rig.host, &(bp_world_desc_t){.name = "late"});
        heap->refuse_first = heap->refuse_last = 0;
        refused = heap->refused > before;
        EXPECT((late == NULL) == refused, "request %u: %s", (unsigned)n, bp_host_error(rig.host));
        ck_assert_uint_eq(rig.host->destruction.world_count, worlds + !refused);
        if (refused)
            ck_assert_str_eq(bp_host_error(rig.host), "out of memory while creating a world");
        failures += refused;
    }
    ck_assert_uint_gt(failures, 2);
    check_host(rig.host);
}
END_TEST

START_TEST(a_world_has_65535_managers_and_not_one_more)
{
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "w"});
    load("zoo");
    WORKS(rig.host, bp_world_use_component(world, "flag"));
    ck_assert(memory_reserve(&world->rows.memory, &world->rows.managers, &world->rows.manager_capacity,
                             WORLD_MAX_MANAGERS, sizeof *world->rows.managers));
    for (uint32_t i = 1; i < WORLD_MAX_MANAGERS; i++)
        world->rows.managers[i] = world->rows.managers[0];
    world->rows.manager_count = WORLD_MAX_MANAGERS - 1;
    WORKS(rig.host, bp_world_use_component(world, "mark"));
    ck_assert_uint_eq(api->component(world, "mark"), WORLD_MAX_MANAGERS - 1);
    SAID(rig.host, BP_ERROR_LIMIT, "a world has at most 65535 component managers",
         bp_world_use_component(world, "body"));
    world->rows.managers[1] = world->rows.managers[WORLD_MAX_MANAGERS - 1];
    world->rows.manager_count = 2;
}
END_TEST

START_TEST(worlds_end_with_everything_in_them_in_any_order)
{
    bp_world_o *worlds[4];
    bp_entity_t e[200];
    static const char *const names[] = {"a", "b", "c", "d"};
    for (uint32_t i = 0; i < 4; i++) {
        worlds[i] = zoo_world(names[i]);
        WORKS(rig.host, api->create(worlds[i], prototype_of(worlds[i], "label", "told", "pool", "sample"),
                                    e + 50 * i, 50));
        for (uint32_t k = 0; k < i; k++)
            WORKS(rig.host, api->add(worlds[k], key_of(worlds[k], "once", ""), e + 50 * i, 50));
    }
    rig.api->entity->destroy(rig.host, e, 40);
    static const uint32_t order[] = {2, 0, 3, 1};
    for (uint32_t i = 0; i < 4; i++) {
        bp_world_destroy(worlds[order[i]]);
        check_host(rig.host);
        ck_assert_uint_eq(rig.api->entity->count(rig.host), 160);
    }
    rig.api->entity->destroy(rig.host, e, 200);
}
END_TEST

START_TEST(figures_of_a_world_are_what_is_in_it)
{
    bp_world_o *world = zoo_world("main");
    bp_world_stats_t empty, full;
    bp_entity_t e[1000];
    bp_world_stats(world, &empty);
    ck_assert_str_eq(empty.name, "main");
    ck_assert(empty.entities == 0 && empty.holes == 0 && empty.runs == 0 && empty.prototypes == 1);
    WORKS(rig.host, api->create(world, prototype_of(world, "body", NULL, NULL, NULL), e, 1000));
    rig.api->entity->destroy(rig.host, e, 10);
    bp_world_stats(world, &full);
    ck_assert(full.entities == 990 && full.holes == 10 && full.runs == 1 && full.prototypes == 2);
    ck_assert_uint_ge(full.bytes, empty.bytes + 1000 * (8 + 4 + 36 + 12));
    ck_assert_uint_le(full.bytes, empty.bytes + 3 * 1000 * (8 + 4 + 36 + 12));
}
END_TEST

/* --- keys, stamps and layouts ------------------------------------------------------------------------------------- */

START_TEST(a_key_says_what_its_component_is)
{
    static const struct {
        const char *type;
        uint32_t flags, columns;
    } rows[] = {
        {"body", 0, 4},
        {"label", 0, 4},
        {"fx", 0, 3},
        {"flag", 0, 0},
        {"once", KEY_SINGLE | KEY_AT_ONCE, 4},
        {"bag", 0, 11},
        {"pool", KEY_OWN_STORAGE, 1},
        {"told", KEY_OWN_STORAGE | KEY_TELL, 1},
        {"mute", KEY_OWN_STORAGE | KEY_TELL, 1},
    };
    bp_world_o *world = zoo_world("main");
    const prototypes_t *p = &world->rows.prototypes;
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        uint32_t key = key_of(world, rows[i].type, ""), component;
        bp_name_t name;
        EXPECT(p->keys[key].flags == rows[i].flags, "%s has flags 0x%x", rows[i].type, (unsigned)p->keys[key].flags);
        EXPECT(p->keys[key].columns == rows[i].columns, "%s has %u columns", rows[i].type, p->keys[key].columns);
        WORKS(rig.host, world_key_info(&world->rows, key, &component, &name));
        ck_assert(component == api->component(world, rows[i].type) && name == rig.api->name->hash(rows[i].type));
    }
    uint32_t key = p->key_count, component = world->rows.manager_count;
    SAID(rig.host, BP_ERROR_NOT_FOUND, "world 'main' has no key 9", world_key_info(&world->rows, key, NULL, NULL));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "world 'main' has no component manager number 11",
         api->key(world, component, 0, &key));
    ck_assert_uint_eq(api->count(world, component), 0);
    WORKS(rig.host, bp_world_drop_component(world, "flag"));
    ck_assert_uint_eq(api->component(world, "flag"), BP_NONE);
    SAID(rig.host, BP_ERROR_NOT_FOUND, "world 'main' has no component manager number 3", api->key(world, 3, 0, &key));
    ck_assert_uint_eq(api->count(world, 3), 0);
}
END_TEST

static bp_result_t refuse_silently(bp_manager_t *m)
{
    (void)m;
    return 13;
}

static bp_result_t refuse_shortly(bp_manager_t *m)
{
    return m->api->error->set(m->host, BP_ERROR_FAILED, "x");
}

static const bp_component_i mules[] = {{.name = "mule", .start = refuse_silently},
                                       {.name = "ass", .start = refuse_shortly}};
static const bp_plugin_desc_t stubborn = {.version = "1", .components = BP_LIST(mules)};
static const bp_plugin_head_t stubborn_plugin = BP_PLUGIN_HEAD("stubborn", &stubborn);

/* Whatever was said before is no reason. */
START_TEST(a_component_that_does_not_start_says_why_or_has_no_reason)
{
    const bp_plugin_head_t *plugins[] = {&stubborn_plugin};
    rig_close(&rig);
    rig_open_with(&rig, plugins, COUNT(plugins));
    load("stubborn");
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main", .units = "m=au"});
    size_t bytes = 0;
    for (uint32_t i = 0; i < 2; i++) {
        bp_world_use_component(world, i == 0 ? "" : "something else that there is not");
        SAID(rig.host, 13, "component 'mule' did not start in world 'main': it gave no reason (code 13)",
             bp_world_use_component(world, "mule"));
        SAID(rig.host, BP_ERROR_FAILED, "component 'ass' did not start in world 'main': x",
             bp_world_use_component(world, "ass"));
        ck_assert_uint_eq(world->rows.manager_count, 0);
        ck_assert(i == 0 || world_bytes(&world->rows) == bytes);
        bytes = world_bytes(&world->rows);
    }
}
END_TEST

/* The fields are freed with the plugin; the manager's place stays. */
START_TEST(a_manager_that_has_left_has_no_fields)
{
    bp_world_o *world = zoo_world("main");
    uint32_t number = api->component(world, "label");
    entity_with(world, "label");
    const manager_t *label = world->rows.managers[number];
    uint64_t listeners = world->rows.entities->listeners;
    world_drop_manager(&world->rows, world->rows.managers[api->component(world, "mark")]);
    ck_assert(world->rows.entities->listeners != listeners); /* so that who is told of deaths is found anew */
    WORKS(rig.host, bp_world_drop_component(world, "label"));
    ck_assert(!label->started && world->rows.managers[number] == label);
    for (uint32_t c = 0; c < label->column_count; c++)
        ck_assert_ptr_eq(label->columns[c], &run_gone_field);
}
END_TEST

/* Memory for all rows is taken before the first one moves, holes of the runs that they go to among it. */
START_TEST(a_component_is_dropped_as_a_whole_or_not_at_all_where_memory_ends)
{
    enum { BODIES = 64, DEAD = 10, FLAGGED = 8 };
    uint64_t fails = 0, refused = 0;
    do {
        bp_world_o *world = zoo_world("main");
        bp_entity_t bodies[BODIES], flags[FLAGGED], both[FLAGGED];
        fails++;
        WORKS(rig.host, api->create(world, prototype_of(world, "flag", NULL, NULL, NULL), flags, FLAGGED));
        WORKS(rig.host, api->create(world, prototype_of(world, "flag", "body", NULL, NULL), both, FLAGGED));
        WORKS(rig.host, api->create(world, prototype_of(world, "body", NULL, NULL, NULL), bodies, BODIES));
        ck_assert_uint_eq(rig.api->entity->destroy(rig.host, bodies + 20, DEAD), DEAD);
        uint32_t flag = api->component(world, "flag"), body = api->component(world, "body");
        refused = rig.heap.refused;
        rig.heap.refuse_first = rig.heap.requests + fails;
        rig.heap.refuse_last = UINT64_MAX;
        bp_result_t result = bp_world_drop_component(world, "flag");
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        refused = rig.heap.refused - refused;
        EXPECT(result == BP_OK || (result == BP_ERROR_MEMORY && refused > 0), "request %u refused: %d",
               (unsigned)fails, result);
        EXPECT(api->count(world, flag) == (result == BP_OK ? 0 : 2 * FLAGGED), "request %u refused: %u have it",
               (unsigned)fails, api->count(world, flag));
        ck_assert_uint_eq(api->count(world, body), BODIES - DEAD + FLAGGED);
        check_host(rig.host);
        bp_world_destroy(world);
    } while (refused > 0);
}
END_TEST

START_TEST(what_a_call_works_with_is_kept_for_the_calls_of_100_steps)
{
    bp_world_o *world = zoo_world("main");
    world_t *w = &world->rows;
    bp_entity_t e;
    WORKS(rig.host, api->create(world, prototype_of(world, "body", NULL, NULL, NULL), &e, 1));
    void *scratch = world_scratch(w, 1000);
    ck_assert(scratch != NULL && w->scratch_size == 1000);
    size_t bytes = world_bytes(w);
    uint64_t requests = rig.heap.requests;
    ck_assert(world_scratch(w, 1000) == scratch && world_scratch(w, 1) == scratch && w->scratch_size == 1000);
    ck_assert_uint_eq(rig.heap.requests, requests);
    ck_assert_ptr_nonnull(world_scratch(w, 1001));
    ck_assert(w->scratch_size == 1001 && world_bytes(w) == bytes + 1);
    rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + 1;
    ck_assert_ptr_null(world_scratch(w, 2000));
    rig.heap.refuse_first = 0;
    ck_assert(w->scratch_size == 0 && w->scratch == NULL && world_bytes(w) == bytes - 1000);
    ck_assert_ptr_nonnull(world_scratch(w, 500));
    for (uint32_t i = 0; i < 50; i++)
        WORKS(rig.host, bp_world_step(world));
    world_scratch(w, 400);
    for (uint32_t i = 0; i < WORLD_TRIM_AFTER - 1; i++)
        WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(w->scratch_size, 500);
    WORKS(rig.host, bp_world_step(world));
    ck_assert(w->scratch_size == 0 && w->scratch == NULL);
}
END_TEST

static size_t stamps_of_all_runs(const world_t *w)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < w->run_count; i++)
        bytes += stamps_bytes(w->runs[i]->stamps);
    return bytes;
}

START_TEST(stamps_are_kept_while_anyone_asks_for_them)
{
    bp_world_o *world = zoo_world("main");
    world_t *w = &world->rows;
    bp_entity_t e[300];
    static const char *const types[] = {"body", "mark", "label"};
    for (uint32_t i = 0; i < 3; i++)
        WORKS(rig.host, api->create(world, prototype_of(world, types[i], NULL, NULL, NULL), e + 100 * i, 100));
    manager_t *pool = w->managers[api->component(world, "pool")];
    ck_assert(world_stamp_bytes(w) == 0 && w->askers == 0 && (w->care & WORLD_STAMPED) == 0);
    size_t bytes = world_bytes(w);
    for (uint32_t n = 1; n <= 3; n++) { /* for each of the runs */
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
        SAID(rig.host, BP_ERROR_MEMORY, "out of memory while keeping stamps of changes", world_keep_stamps(w));
        ck_assert(w->stamp_users == 0 && w->askers == 0 && (w->care & WORLD_STAMPED) == 0 && world_bytes(w) == bytes);
        check_host(rig.host);
    }
    rig.heap.refuse_first = 0;
    for (uint32_t users = 1; users <= 3; users++) {
        WORKS(rig.host, world_keep_stamps(w));
        ck_assert(w->stamp_users == users && w->askers == users && (w->care & WORLD_STAMPED) != 0);
        ck_assert(world_stamp_bytes(w) == stamps_of_all_runs(w) && world_bytes(w) == bytes + world_stamp_bytes(w));
        check_host(rig.host);
    }
    uint64_t begun = world_look(w) + 1;
    for (uint32_t users = 1; users <= 2; users++) {
        world_keep_slot_stamps(w, pool);
        ck_assert(w->askers == 3 + users && pool->stamps.users == users && pool->verb.handed.watched == 1);
        ck_assert_uint_eq(pool->stamps.latest, begun);
        world_look(w);
    }
    slot_stamps_note_range(&pool->stamps, &w->memory, 1000, 1, w->moment);
    ck_assert_uint_eq(world_stamp_bytes(w), stamps_of_all_runs(w) + slot_stamps_bytes(&pool->stamps));
    world_release_slot_stamps(w, pool);
    ck_assert(pool->stamps.users == 1 && pool->verb.handed.watched == 1 && slot_stamps_bytes(&pool->stamps) > 0);
    world_release_slot_stamps(w, pool);
    ck_assert(pool->stamps.users == 0 && pool->verb.handed.watched == 0 && slot_stamps_bytes(&pool->stamps) == 0);
    world_seal(w);
    SAID(rig.host, BP_ERROR_STATE, "nothing of world 'main' can change while a reload is being prepared",
         world_keep_stamps(w));
    ck_assert((w->care & WORLD_SEALED) != 0 && w->stamp_users == 3);
    world_look(w);
    world_unseal(w);
    ck_assert((w->care & WORLD_SEALED) == 0 && w->hold == WORLD_FREE);
    for (uint32_t i = 0; i < w->run_count; i++)
        ck_assert_uint_eq(stamps_of_block(w->runs[i]->stamps, 0, 0), w->moment);
    for (uint32_t users = 3; users-- > 0;) {
        world_release_stamps(w);
        ck_assert(w->stamp_users == users && w->askers == users && ((w->care & WORLD_STAMPED) != 0) == (users > 0));
    }
    ck_assert(world_stamp_bytes(w) == 0 && world_bytes(w) == bytes);
}
END_TEST

START_TEST(moments_pass_with_each_look_but_in_a_step)
{
    bp_world_o *world = zoo_world("main");
    world_t *w = &world->rows;
    uint64_t moment = w->moment;
    ck_assert(world_look(w) == moment && world_look(w) == moment + 1 && w->moment == moment + 2);
    for (uint32_t i = 0; i < 2; i++) {
        w->hold = i == 0 ? WORLD_STEPPING : WORLD_TELLING;
        ck_assert(world_look(w) == moment + 2 && w->moment == moment + 2);
    }
    w->hold = WORLD_FREE;
}
END_TEST

START_TEST(a_world_knows_the_layouts_that_it_had)
{
    bp_world_o *world = zoo_world("main");
    world_t *w = &world->rows;
    uint32_t first = w->layout, given = 499, seen[84];
    ck_assert(world_had_layout(w, first) && !world_had_layout(w, 0) && !world_had_layout(w, 500));
    for (uint32_t i = 0; i < 84; i++) { /* 4, 16 and 64: three ranges, with other worlds' numbers between them */
        given += 7;
        seen[i] = world_draw_layout(w, &given);
        world_change_layout(w, seen[i]);
        ck_assert(w->layout == seen[i] && world_had_layout(w, seen[i]) && !world_had_layout(w, seen[i] + 1));
        ck_assert(world_had_layout(w, first) && world_had_layout(w, seen[i / 2]) && !world_had_layout(w, seen[0] - 1));
        ck_assert(i == 0 || seen[i] > seen[i - 1]);
    }
    ck_assert(w->layout_range_count == 4 && !world_had_layout(w, seen[4] - 1) && !world_had_layout(w, seen[20] - 1));
}
END_TEST

START_TEST(numbers_of_layouts_begin_again_behind_the_largest_and_leave_out_0)
{
    bp_world_o *world = zoo_world("main");
    world_t *w = &world->rows;
    uint32_t given = UINT32_MAX - 3;
    ck_assert_uint_eq(world_draw_layout(w, &given), 1); /* four numbers are wanted, and three are left */
    ck_assert_uint_eq(given, 4);
    for (uint32_t i = 2; i <= 4; i++)
        ck_assert_uint_eq(world_draw_layout(w, &given), i);
    given = UINT32_MAX - 16;
    ck_assert_uint_eq(world_draw_layout(w, &given), UINT32_MAX - 15);
    ck_assert(given == UINT32_MAX && !world_had_layout(w, 0));
}
END_TEST

START_TEST(a_world_remembers_few_ranges_of_layouts_however_often_its_layout_changes)
{
    bp_world_o *world = zoo_world("main");
    world_t *w = &world->rows;
    uint32_t given = 499, first = w->layout;
    size_t bytes = world_bytes(w);
    for (uint32_t i = 0; i < 1000000; i++)
        world_change_layout(w, world_draw_layout(w, &given));
    ck_assert(w->layout_range_count == 11 && world_had_layout(w, first) && world_had_layout(w, 500));
    ck_assert_uint_eq(world_bytes(w), bytes);
    for (uint32_t i = 11; i < WORLD_LAYOUT_RANGES; i++)
        w->layout_ranges[i] = 3000000000u;
    w->layout_range_count = WORLD_LAYOUT_RANGES; /* as after a milliard: the last range goes for another of its size */
    w->layout_ranges[WORLD_LAYOUT_RANGES - 1] = 5000000;
    w->layout_drawn = 5000000 + (1u << 30) - 1;
    given = w->layout_drawn;
    ck_assert_uint_eq(world_draw_layout(w, &given), 5000000 + (1u << 30));
    ck_assert(w->layout_range_count == WORLD_LAYOUT_RANGES && !world_had_layout(w, 5000000));
}
END_TEST

/* --- times -------------------------------------------------------------------------------------------------------- */

enum { NAP = 20000000 }; /* nanoseconds */

static void nap(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    (void)s, (void)entities, (void)count;
    os_sleep_ns(NAP);
}

static void nap_at_deaths(void *data, const bp_entity_t *entities, uint32_t count)
{
    (void)data, (void)entities, (void)count;
    os_sleep_ns(NAP);
}

static void end_last(const bp_match_t *match, uint32_t count)
{
    match->system->api->entity->destroy(match->system->host, match->entities + count - 1, 1);
}

static const bp_term_t bodies[] = {{.component = "body"}};
static const bp_system_i sleepers[] = {
    {.name = "sleeper", .terms = BP_LIST(bodies), .run = end_last, .entities_added = nap},
};
static const bp_plugin_desc_t sleeping = {.version = "1", .systems = BP_LIST(sleepers)};
static const bp_plugin_head_t sleeping_plugin = BP_PLUGIN_HEAD("sleeping", &sleeping);

/* What a step spends before its units and after them is the step's, and no unit's. A nap can be longer than it was
 * meant to be, but then all of it is in the step. */
START_TEST(a_unit_is_charged_with_its_own_time_and_the_step_with_all)
{
    bp_entity_t e[10];
    const bp_plugin_head_t *plugins[] = {zoo_plugins[0], &sleeping_plugin};
    rig_close(&rig);
    rig_open_with(&rig, plugins, COUNT(plugins));
    load(zoo_plugins[0]->name);
    load("sleeping");
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    bp_world_stats_t stats;
    WORKS(rig.host, bp_world_step(world));
    WORKS(rig.host, bp_world_step(world));
    bp_world_stats(world, &stats);
    uint64_t before = stats.nanoseconds; /* a world with nothing in it; the first step settles that */
    WORKS(rig.host, bp_world_step(world));
    bp_world_stats(world, &stats);
    ck_assert_uint_eq(stats.nanoseconds, before);
    WORKS(rig.host, bp_world_use_component(world, "body"));
    WORKS(rig.host, bp_world_use_system(world, "sleeper"));
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &rig, nap_at_deaths, NULL));
    for (uint32_t step = 1; step <= 3; step++) { /* each tells of entities that have come, and has one die in the end */
        bp_unit_stats_t unit;
        uint32_t prototype = prototype_of(world, "body", NULL, NULL, NULL);
        WORKS(rig.host, api->create(world, prototype, e, step == 1 ? COUNT(e) : 1));
        WORKS(rig.host, bp_world_step(world));
        bp_world_stats(world, &stats);
        ck_assert_int_eq(bp_host_unit_stats(rig.host, 0, &unit), 1);
        ck_assert_uint_eq(stats.entities, COUNT(e) - 1);
        EXPECT(unit.nanoseconds > 0 && stats.nanoseconds - before >= unit.nanoseconds + 2 * step * (uint64_t)NAP,
               "step %u: %llu ns, the unit %llu", step, (unsigned long long)(stats.nanoseconds - before),
               (unsigned long long)unit.nanoseconds);
    }
}
END_TEST

/* Nothing is told in a world of which no unit wants to know who comes: its first step settles who would be told. */
START_TEST(units_of_a_first_step_took_no_longer_than_the_step)
{
    bp_unit_stats_t unit;
    bp_world_stats_t stats;
    uint64_t units = 0;
    load(zoo_plugins[0]->name);
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "body"));
    entity_with(world, "body");
    WORKS(rig.host, bp_world_step(world));
    bp_world_stats(world, &stats);
    for (uint32_t i = 0; bp_host_unit_stats(rig.host, i, &unit); i++)
        units += unit.nanoseconds;
    EXPECT(units > 0 && units <= stats.nanoseconds, "%llu of %llu", (unsigned long long)units,
           (unsigned long long)stats.nanoseconds);
}
END_TEST

/* A program that was built with earlier headers, whose structs are shorter: nothing is written behind them. And one
 * that was built with later headers: what this host does not know is zero. */
START_TEST(figures_are_written_as_far_as_the_program_knows_them)
{
    struct { bp_world_stats_t stats; uint64_t later; } wide, narrow;
    struct { bp_unit_stats_t stats; uint64_t later; } unit, short_unit;
    const uint32_t known = offsetof(bp_world_stats_t, bytes), steps = offsetof(bp_unit_stats_t, nanoseconds);
    bp_world_o *world = zoo_world("main");
    WORKS(rig.host, bp_world_step(world));
    memset(&wide, 0xab, sizeof wide);
    memset(&narrow, 0xab, sizeof narrow);
    bp_world_stats_sized(world, &wide.stats, sizeof wide);
    ck_assert(wide.later == 0 && wide.stats.steps == 1 && wide.stats.prototypes == 1);
    bp_world_stats_sized(world, &narrow.stats, known);
    ck_assert_int_eq(memcmp(&narrow, &wide, known), 0);
    for (size_t i = known; i < sizeof narrow; i++)
        ck_assert_uint_eq(((unsigned char *)&narrow)[i], 0xab);
    memset(&unit, 0xab, sizeof unit);
    memset(&short_unit, 0xab, sizeof short_unit);
    ck_assert_int_eq(bp_host_unit_stats_sized(rig.host, 0, &unit.stats, sizeof unit), 1);
    ck_assert_uint_eq(unit.later, 0);
    ck_assert_int_eq(bp_host_unit_stats_sized(rig.host, 0, &short_unit.stats, steps), 1);
    ck_assert(short_unit.stats.steps == 1 && strcmp(short_unit.stats.world, "main") == 0);
    for (size_t i = steps; i < sizeof short_unit; i++)
        ck_assert_uint_eq(((unsigned char *)&short_unit)[i], 0xab);
}
END_TEST

/* --- the suite ---------------------------------------------------------------------------------------------------- */

Suite *worlds_suite(void)
{
    Suite *suite = suite_create("worlds");
    TCase *tests = add_case(suite, "worlds", begin, end, 240);
    tcase_add_test(tests, a_stopped_world_takes_the_steps_that_it_was_granted_and_no_other);
    tcase_add_test(tests, a_speed_lies_within_its_limits);
    tcase_add_test(tests, a_table_of_the_host_is_found_up_to_its_version);
    tcase_add_test(tests, worlds_are_found_by_name_and_in_order);
    tcase_add_test(tests, worlds_that_cannot_be_are_refused);
    tcase_add_test(tests, a_world_for_which_memory_is_lacking_is_not_created);
    tcase_add_test(tests, a_world_has_65535_managers_and_not_one_more);
    tcase_add_test(tests, worlds_end_with_everything_in_them_in_any_order);
    tcase_add_test(tests, figures_of_a_world_are_what_is_in_it);
    tcase_add_test(tests, a_key_says_what_its_component_is);
    tcase_add_test(tests, a_component_that_does_not_start_says_why_or_has_no_reason);
    tcase_add_test(tests, a_manager_that_has_left_has_no_fields);
    tcase_add_test(tests, a_component_is_dropped_as_a_whole_or_not_at_all_where_memory_ends);
    tcase_add_test(tests, what_a_call_works_with_is_kept_for_the_calls_of_100_steps);
    tcase_add_test(tests, stamps_are_kept_while_anyone_asks_for_them);
    tcase_add_test(tests, moments_pass_with_each_look_but_in_a_step);
    tcase_add_test(tests, a_world_knows_the_layouts_that_it_had);
    tcase_add_test(tests, numbers_of_layouts_begin_again_behind_the_largest_and_leave_out_0);
    tcase_add_test(tests, a_world_remembers_few_ranges_of_layouts_however_often_its_layout_changes);
    tcase_add_test(tests, a_unit_is_charged_with_its_own_time_and_the_step_with_all);
    tcase_add_test(tests, units_of_a_first_step_took_no_longer_than_the_step);
    tcase_add_test(tests, figures_are_written_as_far_as_the_program_knows_them);
    return suite;
}
