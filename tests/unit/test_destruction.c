/* test_destruction.c - the death of entities: who is told, when and in which order. How the rows of the dead are
 * collected is the subject of test_collection.c.
 *
 * A plugin of its own stands here: `witness` is told of every death in its world, `reaper` destroys from
 * inside a step. What they and the embedder's callbacks see goes into one list, in order.
 */
#include "support.h"

#include "../suites.h"
#include "inspect.h"
#include "zoo.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_SEEN = 40000, MOST_CALLS = 4000 };

/* One announcement: to whom, and which entities. */
typedef struct call_t {
    const char *to;
    uint32_t first, count; /* in seen */
} call_t;

static call_t calls[MOST_CALLS];
static bp_entity_t seen[MOST_SEEN];
static uint32_t call_count, seen_count, depth, deepest;

/* What a listener does next when it is told; NULL: nothing. */
static void (*when_told)(const char *who, const bp_entity_t *entities, uint32_t count);

static void note(const char *to, const bp_entity_t *entities, uint32_t count)
{
    EXPECT(call_count < MOST_CALLS && seen_count + count <= MOST_SEEN, "too many announcements");
    EXPECT(count > 0, "nobody has died");
    calls[call_count++] = (call_t){to, seen_count, count};
    memcpy(seen + seen_count, entities, count * sizeof *entities);
    seen_count += count;
    depth++;
    deepest = depth > deepest ? depth : deepest;
    if (when_told != NULL)
        when_told(to, entities, count);
    depth--;
}

/* --- the plugin ----------------------------------------------------------------------------------------- */

static void witness_told(bp_manager_t *m, const bp_death_t *batch)
{
    note(m->api->world->name(m->world), batch->entities, batch->count);
}

/* What the reaper does in each of its turns. */
static void (*in_step)(bp_world_o *world, const char *who);

static void reaper_simulate(const bp_run_t *run, uint32_t count)
{
    (void)count;
    if (in_step != NULL)
        in_step(run->manager->world, "simulate");
}

static void reap_run(const bp_match_t *match, uint32_t count)
{
    (void)count;
    if (in_step != NULL)
        in_step(match->system->world, "run");
}

static void reap_all(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)step, (void)matches, (void)count;
    if (in_step != NULL)
        in_step(s->world, "run_all");
}

/* Who ask for some deaths only: `with` for those of bodies, `friend` for those that its field refers to, a system for
 * those of friends. */
static bp_entity_t referrers[MOST_SEEN];

static void with_told(bp_manager_t *m, const bp_death_t *batch)
{
    EXPECT(batch->referrers == NULL, "referrers where nobody asked for them");
    note(strcmp(m->api->world->name(m->world), "first") == 0 ? "with" : "with in second", batch->entities,
         batch->count);
}

static void friend_told(bp_manager_t *m, const bp_death_t *batch)
{
    (void)m;
    memcpy(referrers + seen_count, batch->referrers, batch->count * sizeof *referrers);
    note("friend", batch->entities, batch->count);
}

static void system_told(bp_system_t *s, const bp_death_t *batch)
{
    (void)s;
    note("system", batch->entities, batch->count);
}

static void do_nothing(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

static const bp_field_t friend_fields[] = {{.name = "hands", .type = BP_I32},
                                           {.name = "to", .type = BP_ENTITY, .former_name = "towards"}};
static const bp_deaths_i with_deaths = {.died = with_told, .which = BP_DEATHS_WITH, .component = "body"};
static const bp_deaths_i friend_deaths = {.died = friend_told, .which = BP_DEATHS_REFERRED, .field = "to"};
static const bp_system_deaths_i system_deaths = {.died = system_told, .which = BP_DEATHS_WITH, .component = "friend"};
static const bp_extension_t with_extensions[] = {{BP_EXTENSION("bp_deaths", with_deaths)}};
static const bp_extension_t friend_extensions[] = {{BP_EXTENSION("bp_deaths", friend_deaths)}};
static const bp_extension_t system_extensions[] = {{BP_EXTENSION("bp_deaths", system_deaths)}};

/* A component with storage of its own, whose verb is called while entities die. */
static void (*when_emptied)(bp_world_o *world);
static uint32_t boxes;

static bp_result_t box_create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                              const void *const *columns, uint32_t *slots)
{
    (void)m, (void)instance, (void)entities, (void)columns;
    for (uint32_t i = 0; i < count; i++)
        slots[i] = boxes++;
    return BP_OK;
}

static void box_destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    (void)slots;
    boxes -= count;
    if (when_emptied != NULL)
        when_emptied(m->world);
}

static uint32_t box_count(bp_manager_t *m)
{
    (void)m;
    return boxes;
}

static const bp_storage_i box_storage = {
    .struct_size = sizeof box_storage, .create = box_create, .destroy = box_destroy, .count = box_count};

static const bp_deaths_i witness_deaths = {.died = witness_told};
static const bp_extension_t witness_extensions[] = {{BP_EXTENSION("bp_deaths", witness_deaths)}};
static const bp_component_i death_components[] = {
    {.name = "witness", .extensions = BP_LIST(witness_extensions)},
    {.name = "reaper", .simulate = reaper_simulate},
    {.name = "with", .extensions = BP_LIST(with_extensions)},
    {.name = "friend", .fields = BP_LIST(friend_fields), .extensions = BP_LIST(friend_extensions)},
    {.name = "box", .storage = &box_storage},
};
static const bp_term_t terms[] = {{.component = "reaper"}};
static const bp_system_i death_systems[] = {
    {.name = "reap", .terms = BP_LIST(terms), .run = reap_run},
    {.name = "reap_all", .terms = BP_LIST(terms), .run_all = reap_all},
    {.name = "listen", .run_all = do_nothing, .extensions = BP_LIST(system_extensions)},
};
static const bp_plugin_head_t death = BP_PLUGIN_HEAD("death", (&(const bp_plugin_desc_t){.version = "1",
                                       .components = BP_LIST(death_components),
                                       .systems = BP_LIST(death_systems)}));

/* Plugins that ask for themselves: one for all deaths, one for bodies, one for whom a field refers to. */
static void plugin_told(bp_plugin_t *plugin, const bp_death_t *batch)
{
    static const char *const askers[] = {"clerk", "coroner", "heir", "nephew"}; /* whose own texts go with them */
    uint32_t who = 0;
    while (strcmp(askers[who], plugin->name) != 0)
        who++;
    if (batch->referrers != NULL)
        memcpy(referrers + seen_count, batch->referrers, batch->count * sizeof *referrers);
    note(askers[who], batch->entities, batch->count);
    if (batch->world != NULL)
        note(plugin->api->world->name(batch->world), batch->entities, batch->count);
}

#define ASKING(plugin, ...)                                                                                   \
    static const bp_plugin_deaths_i plugin##_deaths = {.died = plugin_told, __VA_ARGS__};                     \
    static const bp_extension_t plugin##_asks[] = {{BP_EXTENSION("bp_deaths", plugin##_deaths)}};             \
    static const bp_plugin_head_t plugin = BP_PLUGIN_HEAD(                                                    \
        #plugin, (&(const bp_plugin_desc_t){.version = "1", .extensions = BP_LIST(plugin##_asks)}))
ASKING(clerk, .which = BP_DEATHS_ALL);
ASKING(coroner, .which = BP_DEATHS_WITH, .component = "body");
ASKING(heir, .which = BP_DEATHS_REFERRED, .component = "friend", .field = "to");
ASKING(nephew, .which = BP_DEATHS_REFERRED, .component = "friend", .field = "towards");
ASKING(vague, .which = BP_DEATHS_WITH);
ASKING(mistaken, .which = BP_DEATHS_WITH, .component = "bodi");
enum { ASKERS = 6 };
static const bp_plugin_head_t *plugins[ZOO_PLUGINS + 1 + ASKERS];

/* --- the rig -------------------------------------------------------------------------------------------- */

static rig_t rig;
static bp_world_o *world, *other;
static const bp_entity_api *entities_api;
static const bp_world_api *api;

static void use_death(bp_world_o *w)
{
    WORKS(rig.host, bp_world_use_component(w, "witness"));
    WORKS(rig.host, bp_world_use_component(w, "reaper"));
    WORKS(rig.host, bp_world_use_system(w, "reap"));
    WORKS(rig.host, bp_world_use_system(w, "reap_all"));
}

static void begin(void)
{
    call_count = seen_count = depth = deepest = 0;
    when_told = NULL;
    in_step = NULL;
    when_emptied = NULL;
    boxes = 0;
    rig_init(&rig);
    memcpy(plugins, zoo_plugins, sizeof zoo_plugins);
    plugins[ZOO_PLUGINS] = &death;
    plugins[ZOO_PLUGINS + 1] = &clerk;
    plugins[ZOO_PLUGINS + 2] = &coroner;
    plugins[ZOO_PLUGINS + 3] = &heir;
    plugins[ZOO_PLUGINS + 4] = &vague;
    plugins[ZOO_PLUGINS + 5] = &nephew;
    plugins[ZOO_PLUGINS + 6] = &mistaken;
    rig.desc.static_plugins = plugins;
    rig.desc.static_plugin_count = COUNT(plugins);
    rig_open(&rig);
    for (uint32_t i = 0; i < COUNT(plugins) - ASKERS; i++)
        WORKS(rig.host, bp_host_load_plugin(rig.host, plugins[i]->name, NULL, 0));
    world = rig_world(&rig, "first");
    other = rig_world(&rig, "second");
    use_death(world);
    use_death(other);
    api = rig.api->world;
    entities_api = rig.api->entity;
}

static void end(void)
{
    when_told = NULL;
    check_host(rig.host);
    rig_close(&rig);
}

static void tell(void *data, const bp_entity_t *entities, uint32_t count)
{
    note(data, entities, count);
}

static void use_some(bp_world_o *w)
{
    WORKS(rig.host, bp_world_use_component(w, "with"));
    WORKS(rig.host, bp_world_use_component(w, "friend"));
    WORKS(rig.host, bp_world_use_system(w, "listen"));
}

/* How often `who` was told of `e`. */
static uint32_t told_of(const char *who, bp_entity_t e, bp_entity_t by)
{
    uint32_t times = 0;
    for (uint32_t c = 0; c < call_count; c++) {
        for (uint32_t i = calls[c].first; i < calls[c].first + calls[c].count && strcmp(calls[c].to, who) == 0; i++)
            times += seen[i].id == e.id && (by.id == 0 || referrers[i].id == by.id);
    }
    return times;
}

static char owner_a, owner_b;
static char name_a[] = "a", name_b[] = "b", name_c[] = "c";

static void make_bodies(bp_entity_t *e, uint32_t count)
{
    WORKS(rig.host, api->create(world, prototype_of(world, "body", NULL, NULL, NULL), e, count));
}

static void expect_calls(const char *const *to, uint32_t count)
{
    ck_assert_uint_eq(call_count, count);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_str_eq(calls[i].to, to[i]);
}

/* How many times an entity was announced to the listener `to`. */
static uint32_t times_told(const char *to, bp_entity_t e)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < call_count; i++) {
        for (uint32_t k = 0; k < calls[i].count && strcmp(calls[i].to, to) == 0; k++)
            times += seen[calls[i].first + k].id == e.id;
    }
    return times;
}

/* --- announcements -------------------------------------------------------------------------------------- */

START_TEST(managers_are_told_before_callbacks_and_these_in_order)
{
    bp_entity_t e[3];
    make_bodies(e, 3);
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &owner_b, tell, name_b));
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &owner_a, tell, name_a));
    ck_assert_uint_eq(entities_api->destroy(rig.host, e, 3), 3);
    expect_calls((const char *const[]){"first", "second", "b", "a"}, 4);
    for (uint32_t i = 0; i < call_count; i++) {
        ck_assert_uint_eq(calls[i].count, 3);
        ck_assert_int_eq(memcmp(seen + calls[i].first, e, sizeof e), 0);
    }
}
END_TEST

START_TEST(the_list_of_those_that_are_told_has_room_for_a_few_and_is_made_once)
{
    bp_entity_t e[2];
    make_bodies(e, 2);
    rig.heap.largest = 0;
    ck_assert_uint_eq(entities_api->destroy(rig.host, e, 1), 1);
    expect_calls((const char *const[]){"first", "second"}, 2);
    ck_assert_uint_gt(rig.heap.largest, 0);
    ck_assert_uint_lt(rig.heap.largest, 4096);
    rig.heap.largest = 0;
    ck_assert_uint_eq(entities_api->destroy(rig.host, e + 1, 1), 1);
    ck_assert_uint_eq(rig.heap.largest, 0);
}
END_TEST

START_TEST(each_death_of_a_long_and_mixed_batch_is_announced_once)
{
    enum { MANY = 5000, BATCH = 3 * MANY };
    static bp_entity_t e[MANY], batch[BATCH];
    static uint8_t times[MANY];
    uint64_t random = 5;
    memset(times, 0, sizeof times);
    make_bodies(e, MANY);
    for (uint32_t i = 0; i < BATCH; i++)
        batch[i] = bp_random_below(&random, 20) == 0 ? (bp_entity_t){0} : e[bp_random_below(&random, MANY)];
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &owner_a, tell, name_a));
    uint32_t died = entities_api->destroy(rig.host, batch, BATCH), told = 0;
    ck_assert_uint_eq(died, MANY - entities_api->count(rig.host));
    for (uint32_t i = 0; i < call_count; i++) {
        for (uint32_t k = 0; k < calls[i].count && calls[i].to == name_a; k++) {
            times[bp_entity_index(seen[calls[i].first + k])]++;
            told++;
        }
    }
    ck_assert_uint_eq(told, died);
    for (uint32_t i = 0; i < MANY; i++)
        EXPECT(times[i] == (entities_api->alive(rig.host, &e[i], 1, NULL) == 0),
               "entity %u was told %u times", i, times[i]);
}
END_TEST

START_TEST(destroying_nobody_is_not_announced)
{
    bp_entity_t e[2];
    make_bodies(e, 2);
    entities_api->destroy(rig.host, e, 1);
    call_count = 0;
    ck_assert_uint_eq(entities_api->destroy(rig.host, e, 1), 0);
    ck_assert_uint_eq(entities_api->destroy(rig.host, NULL, 0), 0);
    ck_assert_uint_eq(call_count, 0);
}
END_TEST

static bp_entity_t watched;

static void expect_nothing_left(const char *who, const bp_entity_t *entities, uint32_t count)
{
    uint32_t keys[4];
    float mass;
    (void)who;
    ck_assert_uint_eq(entities_api->alive(rig.host, entities, count, NULL), 0);
    ck_assert_uint_eq(api->has(world, key_of(world, "body", ""), entities, count, NULL), 0);
    ck_assert_uint_eq(api->slots(world, key_of(world, "told", ""), entities, 1, keys), 0);
    ck_assert_uint_eq(api->keys_of(world, watched, keys, 4), 0);
    SAID(rig.host, BP_ERROR_DEAD, "entity #4:1 is dead",
         rig.api->property->get_named(world, watched, "body", "mass", BP_F32, &mass));
    SAID(rig.host, BP_ERROR_DEAD, "entity #4:1 is dead", api->add(world, key_of(world, "flag", ""), &watched, 1));
}

START_TEST(the_dead_have_no_components_when_they_are_announced)
{
    bp_entity_t e[10];
    WORKS(rig.host, api->create(world, prototype_of(world, "body", "told", "pool", "once"), e, 10));
    WORKS(rig.host, api->add(other, key_of(other, "body", ""), e, 10));
    watched = e[4];
    when_told = expect_nothing_left;
    ck_assert_uint_eq(entities_api->destroy(rig.host, e, 10), 10);
    ck_assert_uint_eq(call_count, 2);
    ck_assert_uint_eq(other->rows.occupied, 0);
}
END_TEST

/* A plugin walks a run and has its entities destroyed: the very column is the batch. */
START_TEST(the_entities_of_a_run_may_be_destroyed_through_it)
{
    static const char *const types[] = {"body", "once"};
    for (uint32_t t = 0; t < COUNT(types); t++) {
        enum { MANY = 5000 };
        static bp_entity_t e[MANY];
        uint32_t cursor = 0;
        bp_run_t run;
        WORKS(rig.host, api->create(world, prototype_of(world, types[t], NULL, NULL, NULL), e, MANY));
        call_count = seen_count = 0;
        ck_assert_uint_eq(next_run(world, api->component(world, types[t]), &cursor, &run), 1);
        ck_assert_uint_eq(entities_api->destroy(rig.host, run.entities, run.count), MANY);
        ck_assert_uint_eq(entities_api->count(rig.host), 0);
        for (uint32_t i = 0; i < MANY; i += 97)
            ck_assert_uint_eq(times_told("first", e[i]), 1);
        check_host(rig.host);
        store_collect_all(&world->rows);
    }
}
END_TEST

/* --- callbacks that do things --------------------------------------------------------------------------- */

static bp_entity_t chain[1000];

static void destroy_next(const char *who, const bp_entity_t *entities, uint32_t count)
{
    if (strcmp(who, "first") != 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = bp_entity_index(entities[i]);
        if (index + 1 < COUNT(chain)) {
            ck_assert_uint_eq(entities_api->destroy(rig.host, &chain[index + 1], 1), 1);
            ck_assert_uint_eq(entities_api->alive(rig.host, &chain[index + 1], 1, NULL), 0);
        }
    }
}

START_TEST(what_a_callback_destroys_dies_at_once_and_is_announced_afterwards)
{
    make_bodies(chain, COUNT(chain));
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &owner_a, tell, name_a));
    when_told = destroy_next;
    ck_assert_uint_eq(entities_api->destroy(rig.host, chain, 1), 1);
    ck_assert_uint_eq(entities_api->count(rig.host), 0);
    ck_assert_uint_eq(call_count, 3 * COUNT(chain));
    ck_assert_uint_eq(deepest, 1);
    for (uint32_t i = 0; i < call_count; i++) {
        ck_assert_str_eq(calls[i].to, i % 3 == 0 ? "first" : i % 3 == 1 ? "second" : "a");
        ck_assert_uint_eq(seen[calls[i].first].id, chain[i / 3].id);
    }
}
END_TEST

static void destroy_far(const char *who, const bp_entity_t *entities, uint32_t count)
{
    if (count == 1 && entities[0].id == chain[0].id)
        ck_assert_uint_eq(
            entities_api->destroy(rig.host, chain + (strcmp(who, "first") == 0 ? 100 : 200), 100), 100);
}

START_TEST(what_two_callbacks_destroy_is_announced_in_one_batch)
{
    make_bodies(chain, COUNT(chain));
    when_told = destroy_far;
    entities_api->destroy(rig.host, chain, 1);
    ck_assert_uint_eq(call_count, 4);
    ck_assert_uint_eq(calls[2].count, 200);
    ck_assert_uint_eq(seen[calls[2].first].id, chain[100].id);
    ck_assert_uint_eq(seen[calls[2].first + 100].id, chain[200].id);
}
END_TEST

START_TEST(without_memory_for_a_queue_everything_is_announced_all_the_same)
{
    make_bodies(chain, COUNT(chain));
    when_told = destroy_far;
    rig.heap.refuse_first = 1;
    rig.heap.refuse_last = UINT64_MAX;
    ck_assert_uint_eq(entities_api->destroy(rig.host, chain, 1), 1);
    rig.heap.refuse_first = 0;
    ck_assert_uint_gt(rig.heap.refused, 0);
    ck_assert_uint_eq(times_told("first", chain[0]), 1);
    for (uint32_t i = 100; i < 200; i++) {
        EXPECT(times_told("first", chain[i]) == 1 && times_told("second", chain[i]) == 1, "entity %u", i);
    }
}
END_TEST

static bp_entity_t created[64];
static uint32_t created_count;

static void create_others(const char *who, const bp_entity_t *entities, uint32_t count)
{
    (void)entities, (void)count;
    if (strcmp(who, "first") != 0 || created_count + 8 > COUNT(created))
        return;
    WORKS(rig.host,
          api->create(world, prototype_of(world, "body", "told", "once", NULL), created + created_count, 8));
    WORKS(rig.host, api->add(other, key_of(other, "label", ""), created + created_count, 8));
    WORKS(rig.host, api->remove(world, key_of(world, "body", ""), created + created_count, 4));
    created_count += 8;
}

START_TEST(a_callback_may_create_and_change)
{
    bp_entity_t e[30];
    created_count = 0;
    WORKS(rig.host, api->create(world, prototype_of(world, "body", "told", "once", NULL), e, 30));
    when_told = create_others;
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert_uint_eq(entities_api->destroy(rig.host, e + 2 * i, 3), i == 0 ? 3 : 2);
        check_host(rig.host);
    }
    ck_assert_uint_eq(entities_api->alive(rig.host, created, COUNT(created), NULL), COUNT(created));
    ck_assert_uint_eq(api->has(world, key_of(world, "body", ""), created, COUNT(created), NULL),
                      COUNT(created) / 2);
    ck_assert_uint_eq(api->has(other, key_of(other, "label", ""), created, COUNT(created), NULL),
                      COUNT(created));
}
END_TEST

/* A pair of entities is destroyed whole: each callback destroys the partners, some of which are already
 * dead. */
static void destroy_partners(const char *who, const bp_entity_t *entities, uint32_t count)
{
    (void)who;
    for (uint32_t i = 0; i < count; i++)
        entities_api->destroy(rig.host, &chain[bp_entity_index(entities[i]) ^ 1], 1);
}

START_TEST(callbacks_that_destroy_each_others_victims_come_to_an_end)
{
    make_bodies(chain, COUNT(chain));
    when_told = destroy_partners;
    bp_entity_t batch[] = {chain[0], chain[1], chain[2], chain[5], chain[998]};
    ck_assert_uint_eq(entities_api->destroy(rig.host, batch, COUNT(batch)), COUNT(batch));
    ck_assert_uint_eq(entities_api->count(rig.host), COUNT(chain) - 8);
    for (uint32_t i = 0; i < COUNT(chain); i++)
        EXPECT(times_told("second", chain[i]) == (i < 6 || i > 997), "entity %u", i);
}
END_TEST

/* --- owners --------------------------------------------------------------------------------------------- */

START_TEST(an_owner_that_is_dropped_is_not_called_again)
{
    bp_entity_t e[2];
    make_bodies(e, 2);
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &owner_a, tell, name_a));
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &owner_b, tell, name_b));
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &owner_a, tell, name_c));
    entities_api->destroy(rig.host, e, 1);
    expect_calls((const char *const[]){"first", "second", "a", "b", "c"}, 5);
    bp_host_drop_owner(rig.host, &owner_a);
    bp_host_drop_owner(rig.host, &owner_a);
    bp_host_drop_owner(rig.host, NULL);
    ck_assert_uint_eq(rig.host->destruction.callback_count, 1);
    entities_api->destroy(rig.host, e + 1, 1);
    expect_calls((const char *const[]){"first", "second", "a", "b", "c", "first", "second", "b"}, 8);
}
END_TEST

static void drop_a(const char *who, const bp_entity_t *entities, uint32_t count)
{
    (void)entities, (void)count;
    if (strcmp(who, "b") == 0)
        bp_host_drop_owner(rig.host, &owner_a);
}

START_TEST(an_owner_may_be_dropped_inside_a_callback)
{
    bp_entity_t e[2];
    make_bodies(e, 2);
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &owner_a, tell, name_a));
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &owner_b, tell, name_b));
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &owner_a, tell, name_c));
    when_told = drop_a;
    entities_api->destroy(rig.host, e, 1);
    expect_calls((const char *const[]){"first", "second", "a", "b"}, 4);
    entities_api->destroy(rig.host, e + 1, 1);
    ck_assert_uint_eq(call_count, 7);
    ck_assert_uint_eq(rig.host->destruction.callback_count, 1);
}
END_TEST

static void drop_self_and_destroy(const char *who, const bp_entity_t *entities, uint32_t count)
{
    (void)entities, (void)count;
    if (strcmp(who, "a") != 0)
        return;
    bp_host_drop_owner(rig.host, &owner_a);
    entities_api->destroy(rig.host, &chain[500], 1);
}

START_TEST(an_owner_that_drops_itself_is_not_told_of_what_it_destroyed)
{
    make_bodies(chain, COUNT(chain));
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &owner_a, tell, name_a));
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &owner_b, tell, name_b));
    when_told = drop_self_and_destroy;
    entities_api->destroy(rig.host, chain, 1);
    expect_calls((const char *const[]){"first", "second", "a", "b", "first", "second", "b"}, 7);
}
END_TEST

static void register_more(const char *who, const bp_entity_t *entities, uint32_t count)
{
    (void)entities, (void)count;
    for (uint32_t i = 0; i < 100 && strcmp(who, "a") == 0; i++)
        WORKS(rig.host, bp_host_on_destroyed(rig.host, &owner_b, tell, name_b));
}

START_TEST(callbacks_may_be_registered_inside_a_callback)
{
    bp_entity_t e[2];
    make_bodies(e, 2);
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &owner_a, tell, name_a));
    when_told = register_more;
    entities_api->destroy(rig.host, e, 1);
    when_told = NULL;
    call_count = 0;
    entities_api->destroy(rig.host, e + 1, 1);
    ck_assert_uint_eq(call_count, 103);
    ck_assert_str_eq(calls[2].to, "a");
    ck_assert_str_eq(calls[102].to, "b");
}
END_TEST

START_TEST(a_callback_needs_an_owner_and_a_function)
{
    rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + 1;
    SAID(rig.host, BP_ERROR_MEMORY, "out of memory while registering a destruction callback",
         bp_host_on_destroyed(rig.host, &owner_a, tell, NULL));
    rig.heap.refuse_first = rig.heap.refuse_last = 0;
    SAID(rig.host, BP_ERROR_ARGUMENT, "a destruction callback needs an owner and a function",
         bp_host_on_destroyed(rig.host, NULL, tell, NULL));
    SAID(rig.host, BP_ERROR_ARGUMENT, "a destruction callback needs an owner and a function",
         bp_host_on_destroyed(rig.host, &owner_a, NULL, NULL));
}
END_TEST

static void try_what_is_forbidden(const char *who, const bp_entity_t *entities, uint32_t count)
{
    (void)who, (void)entities, (void)count;
    SAID(rig.host, BP_ERROR_STATE, "not from inside a step, a destruction callback or a reload",
         bp_host_load_plugin(rig.host, "zoo", NULL, 0));
    SAID(rig.host, BP_ERROR_STATE, "not from inside a step, a destruction callback or a reload",
         bp_host_unload_plugin(rig.host, "zoo"));
    ck_assert_ptr_null(bp_world_create(rig.host, &(bp_world_desc_t){.name = "new"}));
    SAID(rig.host, BP_ERROR_STATE, "not from inside a step, a destruction callback or a reload",
         bp_host_step(rig.host));
}

START_TEST(a_callback_may_not_load_unload_create_worlds_or_step_the_host)
{
    bp_entity_t e;
    make_bodies(&e, 1);
    when_told = try_what_is_forbidden;
    entities_api->destroy(rig.host, &e, 1);
    ck_assert_uint_eq(call_count, 2);
}
END_TEST

/* --- during a step -------------------------------------------------------------------------------------- */

enum { CROWD = 20000 };
static bp_entity_t crowd[CROWD];
static uint32_t turns;

static void destroy_in_step(bp_world_o *stepping, const char *who)
{
    bp_entity_t batch[] = {chain[10 * turns], chain[10 * turns], chain[10 * turns + 1], {0}};
    ck_assert_ptr_eq(stepping, world);
    (void)who;
    ck_assert_uint_eq(entities_api->destroy(rig.host, batch, COUNT(batch)), 3);
    ck_assert_uint_eq(entities_api->alive(rig.host, batch, 3, NULL), 3);
    ck_assert_uint_eq(api->has(world, key_of(world, "body", ""), batch, 3, NULL), 3);
    ck_assert_uint_eq(call_count, 0);
    turns++;
}

START_TEST(destroying_during_a_step_waits_for_its_end)
{
    static const char *const order[] = {"first", "second"};
    turns = 0;
    make_bodies(chain, COUNT(chain));
    entity_with(world, "reaper");
    in_step = destroy_in_step;
    WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(turns, 3);
    expect_calls(order, 2);
    ck_assert_uint_eq(calls[0].count, 6);
    for (uint32_t i = 0; i < 30; i++)
        ck_assert_uint_eq(entities_api->alive(rig.host, &chain[i], 1, NULL), i % 10 > 1);
    in_step = NULL;
    WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(call_count, 2);
}
END_TEST

static void destroy_many_in_step(bp_world_o *stepping, const char *who)
{
    (void)stepping;
    if (strcmp(who, "simulate") != 0)
        return;
    ck_assert_uint_eq(entities_api->destroy(rig.host, NULL, 0), 0);
    ck_assert_uint_eq(entities_api->destroy(rig.host, crowd, CROWD), CROWD);
}

/* The list of those that wait keeps room for few. */
START_TEST(a_list_of_many_that_waited_for_the_end_of_a_step_is_given_back)
{
    entity_with(world, "reaper");
    WORKS(rig.host, bp_world_step(world));
    size_t before = memory_bytes(&rig.host->destruction.memory);
    WORKS(rig.host, entities_api->create(rig.host, crowd, CROWD));
    in_step = destroy_many_in_step;
    WORKS(rig.host, bp_world_step(world));
    in_step = NULL;
    ck_assert_uint_eq(entities_api->alive(rig.host, crowd, CROWD, NULL), 0);
    ck_assert_uint_le(memory_bytes(&rig.host->destruction.memory), before + 65536);
}
END_TEST

static void destroy_without_memory(bp_world_o *stepping, const char *who)
{
    (void)stepping, (void)who;
    rig.heap.refuse_first = 1;
    rig.heap.refuse_last = UINT64_MAX;
    ck_assert_uint_eq(entities_api->destroy(rig.host, chain, 500), 0);
    ck_assert_ptr_nonnull(strstr(bp_host_error(rig.host), "out of memory"));
    rig.heap.refuse_first = 0;
}

START_TEST(destroying_during_a_step_without_memory_destroys_nobody)
{
    make_bodies(chain, COUNT(chain));
    entity_with(world, "reaper");
    in_step = destroy_without_memory;
    WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(entities_api->alive(rig.host, chain, COUNT(chain), NULL), COUNT(chain));
    ck_assert_uint_eq(call_count, 0);
}
END_TEST

START_TEST(what_dies_at_the_end_of_a_step_may_destroy_and_create_too)
{
    turns = 0;
    created_count = 0;
    make_bodies(chain, COUNT(chain));
    entity_with(world, "reaper");
    in_step = destroy_in_step;
    when_told = create_others;
    WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(created_count, 8);
    ck_assert_uint_eq(entities_api->alive(rig.host, created, 8, NULL), 8);
}
END_TEST

/* --- worlds that end ------------------------------------------------------------------------------------ */

/* Of a batch of which almost all have no component. Nobody is told, so that there is a short way. */
START_TEST(the_only_row_of_a_world_goes_with_its_entity)
{
    static rig_t quiet;
    bp_entity_t e[8];
    rig_open_with(&quiet, zoo_plugins, ZOO_PLUGINS);
    for (uint32_t i = 0; i < ZOO_PLUGINS; i++)
        WORKS(quiet.host, bp_host_load_plugin(quiet.host, zoo_plugins[i]->name, NULL, 0));
    bp_world_o *w = bp_world_create(quiet.host, &(bp_world_desc_t){.name = "main"});
    WORKS(quiet.host, bp_world_use_component(w, "body"));
    uint32_t key = key_of(w, "body", "");
    for (uint32_t i = 0; i < COUNT(e); i++) {
        WORKS(quiet.host, quiet.api->entity->create(quiet.host, e, COUNT(e)));
        WORKS(quiet.host, quiet.api->world->add(w, key, &e[i], 1));
        ck_assert_uint_eq(quiet.api->entity->destroy(quiet.host, e, COUNT(e)), COUNT(e));
        ck_assert_uint_eq(w->rows.occupied, 0);
        check_host(quiet.host);
    }
    rig_close(&quiet);
}
END_TEST

START_TEST(entities_outlive_a_world_that_ends)
{
    bp_entity_t e[10];
    make_bodies(e, 10);
    WORKS(rig.host, api->add(other, key_of(other, "told", ""), e, 10));
    bp_world_destroy(other);
    ck_assert_uint_eq(entities_api->alive(rig.host, e, 10, NULL), 10);
    ck_assert_uint_eq(entities_api->destroy(rig.host, e, 10), 10);
    expect_calls((const char *const[]){"first"}, 1);
}
END_TEST

/* --- the suite ------------------------------------------------------------------------------------------ */

static TCase *new_case(Suite *suite, const char *name)
{
    return add_case(suite, name, begin, end, 240);
}

static void add_callbacks(TCase *tests)
{
    tcase_add_test(tests, what_a_callback_destroys_dies_at_once_and_is_announced_afterwards);
    tcase_add_test(tests, what_two_callbacks_destroy_is_announced_in_one_batch);
    tcase_add_test(tests, without_memory_for_a_queue_everything_is_announced_all_the_same);
    tcase_add_test(tests, a_callback_may_create_and_change);
    tcase_add_test(tests, callbacks_that_destroy_each_others_victims_come_to_an_end);
    tcase_add_test(tests, an_owner_that_is_dropped_is_not_called_again);
    tcase_add_test(tests, an_owner_may_be_dropped_inside_a_callback);
    tcase_add_test(tests, an_owner_that_drops_itself_is_not_told_of_what_it_destroyed);
    tcase_add_test(tests, callbacks_may_be_registered_inside_a_callback);
    tcase_add_test(tests, a_callback_needs_an_owner_and_a_function);
    tcase_add_test(tests, a_callback_may_not_load_unload_create_worlds_or_step_the_host);
}

/* --- some deaths ------------------------------------------------------------------------------------------- */

START_TEST(who_asks_for_a_component_or_a_field_is_told_of_these_deaths_alone)
{
    const bp_entity_t anybody = {0};
    bp_entity_t e[6];
    use_some(world);
    WORKS(rig.host, bp_world_use_component(other, "with"));
    uint32_t body = key_of(world, "body", ""), friends = key_of(world, "friend", "");
    WORKS(rig.host, entities_api->create(rig.host, e, COUNT(e)));
    WORKS(rig.host, api->add(world, body, &e[0], 2));
    WORKS(rig.host, api->add(other, key_of(other, "body", ""), &e[2], 1));
    WORKS(rig.host, api->add(world, friends, &e[3], 3));
    const bp_entity_t refers[] = {e[0], e[0], e[2]};
    for (uint32_t i = 0; i < 3; i++)
        WORKS(rig.host, rig.api->property->set_named(world, e[3 + i], "friend", "to", BP_ENTITY, &refers[i]));
    ck_assert_uint_eq(entities_api->destroy(rig.host, &e[5], 1), 1); /* who refers to a living one */
    ck_assert_uint_eq(told_of("system", e[5], anybody), 1);
    ck_assert_uint_eq(told_of("friend", e[2], anybody), 0);
    ck_assert_uint_eq(entities_api->destroy(rig.host, e, 3), 3);
    ck_assert(told_of("with", e[0], anybody) == 1 && told_of("with", e[1], anybody) == 1);
    ck_assert(told_of("with", e[2], anybody) == 0 && told_of("with in second", e[2], anybody) == 1);
    ck_assert(told_of("friend", e[0], e[3]) == 1 && told_of("friend", e[0], e[4]) == 1);
    ck_assert(told_of("friend", e[1], anybody) == 0 && told_of("friend", e[2], anybody) == 0);
    ck_assert_uint_eq(told_of("first", e[0], anybody), 1);
    call_count = seen_count = 0; /* they still say e[0], who is told of once only */
    ck_assert_uint_eq(entities_api->destroy(rig.host, &e[3], 1), 1);
    ck_assert_uint_eq(told_of("friend", e[0], anybody), 0);
    ck_assert_uint_eq(told_of("system", e[3], anybody), 1);
}
END_TEST

/* Against one loop over all entities, with batches of all sizes, in which referrers die too. */
START_TEST(referrers_are_those_that_a_look_at_everybody_finds)
{
    enum { MANY = 3000 };
    static bp_entity_t e[MANY], to[MANY];
    static bool dead[MANY], dies[MANY];
    uint64_t random = 77;
    use_some(world);
    WORKS(rig.host, entities_api->create(rig.host, e, MANY));
    WORKS(rig.host, api->add(world, key_of(world, "friend", ""), e, MANY));
    for (uint32_t i = 0; i < MANY; i++) {
        to[i] = e[bp_random_below(&random, MANY)];
        WORKS(rig.host, rig.api->property->set_named(world, e[i], "friend", "to", BP_ENTITY, &to[i]));
    }
    memset(dead, 0, sizeof dead);
    for (uint32_t round = 0; round < 6; round++) {
        static bp_entity_t batch[MANY];
        uint32_t count = 0, wanted = 0, told = 0;
        for (uint32_t i = 0; i < MANY; i++) {
            dies[i] = !dead[i] && bp_random_below(&random, 1000) < (round % 3 == 0 ? 1u : 60u * round);
            if (dies[i])
                batch[count++] = e[i];
        }
        call_count = seen_count = 0;
        ck_assert_uint_eq(entities_api->destroy(rig.host, batch, count), count);
        for (uint32_t i = 0; i < MANY; i++)
            dead[i] = dead[i] || dies[i];
        for (uint32_t i = 0; i < MANY; i++) {
            uint32_t target = bp_entity_index(to[i]) - bp_entity_index(e[0]);
            bool expected = !dead[i] && dies[target];
            wanted += expected;
            EXPECT(told_of("friend", to[i], e[i]) == (expected ? 1 : 0), "round %u, entity %u", round, i);
        }
        for (uint32_t c = 0; c < call_count; c++)
            told += strcmp(calls[c].to, "friend") == 0 ? calls[c].count : 0;
        ck_assert_uint_eq(told, wanted);
    }
}
END_TEST

/* The dead of a batch are looked up by their indices, of which several may have one place: others then lie in the
 * places behind it, which go on at the beginning. */
START_TEST(referrers_are_found_where_indices_of_the_dead_have_one_place)
{
    enum { PLACES = 4096, MANY = 4 * PLACES };
    static const uint32_t dies[] = {PLACES - 1, 2 * PLACES - 1, PLACES, 3 * PLACES - 1, 1, PLACES + 1},
                          lives[] = {0, 4 * PLACES - 1, 2 * PLACES, 2 * PLACES + 1, 2, 5};
    static bp_entity_t e[MANY];
    bp_entity_t dead[COUNT(dies)], by[COUNT(dies) + COUNT(lives)];
    use_some(world);
    WORKS(rig.host, entities_api->create(rig.host, e, MANY));
    WORKS(rig.host, entities_api->create(rig.host, by, COUNT(by)));
    WORKS(rig.host, api->add(world, key_of(world, "friend", ""), by, COUNT(by)));
    for (uint32_t i = 0; i < COUNT(by); i++) {
        bp_entity_t to = e[i < COUNT(dies) ? dies[i] : lives[i - COUNT(dies)]];
        WORKS(rig.host, rig.api->property->set_named(world, by[i], "friend", "to", BP_ENTITY, &to));
    }
    for (uint32_t i = 0; i < COUNT(dies); i++)
        dead[i] = e[dies[_i == 0 ? i : COUNT(dies) - 1 - i]];
    ck_assert_uint_eq(entities_api->destroy(rig.host, dead, COUNT(dead)), COUNT(dead));
    for (uint32_t i = 0; i < COUNT(by); i++) {
        uint32_t told = i < COUNT(dies) ? told_of("friend", e[dies[i]], by[i])
                                        : told_of("friend", e[lives[i - COUNT(dies)]], (bp_entity_t){0});
        EXPECT(told == (i < COUNT(dies) ? 1 : 0), "referrer %u is told of %u times", i, told);
    }
}
END_TEST

/* A batch of two is looked up in a table, too, and a batch of one is not. */
START_TEST(referrers_to_few_that_die_are_found)
{
    enum { MANY = 60 };
    bp_entity_t e[MANY], by[MANY];
    use_some(world);
    WORKS(rig.host, entities_api->create(rig.host, e, MANY));
    WORKS(rig.host, entities_api->create(rig.host, by, MANY));
    WORKS(rig.host, api->add(world, key_of(world, "friend", ""), by, MANY));
    for (uint32_t i = 0; i < MANY; i++)
        WORKS(rig.host, rig.api->property->set_named(world, by[i], "friend", "to", BP_ENTITY, &e[i]));
    for (uint32_t i = 0, count; i < MANY; i += count) {
        count = 1 + i % 3;
        call_count = seen_count = 0;
        ck_assert_uint_eq(entities_api->destroy(rig.host, &e[i], count), count);
        for (uint32_t k = 0; k < MANY; k++)
            EXPECT(told_of("friend", e[k], by[k]) == (k >= i && k < i + count), "%u of %u from %u on", k, count, i);
    }
}
END_TEST

static void destroy_the_next(const char *who, const bp_entity_t *entities, uint32_t count)
{
    if (strcmp(who, "with") == 0 && bp_entity_index(entities[count - 1]) + 1 < entities_api->bound(rig.host)) {
        bp_entity_t next = entities_api->at(rig.host, bp_entity_index(entities[count - 1]) + 1);
        entities_api->destroy(rig.host, &next, 1);
    }
}

/* Entities with a body, of which the first is destroyed, and each other one by the listener that is told of the one
 * before. */
static void make_and_end_one_by_one(bp_entity_t *e, uint32_t count)
{
    WORKS(rig.host, entities_api->create(rig.host, e, count));
    WORKS(rig.host, api->add(world, key_of(world, "body", ""), e, count));
    when_told = destroy_the_next;
    entities_api->destroy(rig.host, e, 1);
    when_told = NULL;
    ck_assert_uint_eq(deepest, 1);
    ck_assert_uint_eq(entities_api->count(rig.host), 0);
}

START_TEST(what_the_told_destroy_is_told_in_batches_of_its_own)
{
    bp_entity_t e[50];
    const bp_entity_t anybody = {0};
    use_some(world);
    make_and_end_one_by_one(e, COUNT(e));
    for (uint32_t i = 0; i < COUNT(e); i++)
        EXPECT(told_of("with", e[i], anybody) == 1 && told_of("first", e[i], anybody) == 1, "entity %u", i);
}
END_TEST

START_TEST(who_asked_for_deaths_is_told_no_more_when_it_has_gone)
{
    bp_entity_t e[3];
    use_some(world);
    WORKS(rig.host, entities_api->create(rig.host, e, COUNT(e)));
    WORKS(rig.host, api->add(world, key_of(world, "body", ""), e, COUNT(e)));
    WORKS(rig.host, bp_world_drop_component(world, "with"));
    WORKS(rig.host, bp_world_drop_system(world, "listen"));
    entities_api->destroy(rig.host, e, 1);
    ck_assert_uint_eq(told_of("with", e[0], (bp_entity_t){0}), 0);
    WORKS(rig.host, bp_world_use_component(world, "with"));
    entities_api->destroy(rig.host, &e[1], 1);
    ck_assert_uint_eq(told_of("with", e[1], (bp_entity_t){0}), 1);
    WORKS(rig.host, bp_world_drop_component(world, "body"));
    entities_api->destroy(rig.host, &e[2], 1);
    ck_assert_uint_eq(told_of("with", e[2], (bp_entity_t){0}), 0);
}
END_TEST

/* Nobody dies between its going and its coming, so that the list of listeners has not been made anew meanwhile. */
START_TEST(who_comes_in_place_of_a_listener_is_told)
{
    const bp_entity_t anybody = {0};
    bp_entity_t e[3];
    use_some(world);
    WORKS(rig.host, entities_api->create(rig.host, e, COUNT(e)));
    WORKS(rig.host, api->add(world, key_of(world, "body", ""), e, COUNT(e)));
    WORKS(rig.host, api->add(world, key_of(world, "friend", ""), e, COUNT(e)));
    entities_api->destroy(rig.host, e, 1);
    check_host(rig.host);
    ck_assert(told_of("with", e[0], anybody) == 1 && told_of("system", e[0], anybody) == 1);
    WORKS(rig.host, bp_world_drop_component(world, "with"));
    WORKS(rig.host, bp_world_use_component(world, "with"));
    check_host(rig.host);
    entities_api->destroy(rig.host, &e[1], 1);
    check_host(rig.host);
    ck_assert(told_of("with", e[1], anybody) == 1 && told_of("system", e[1], anybody) == 1);
    WORKS(rig.host, bp_world_drop_system(world, "listen"));
    WORKS(rig.host, bp_world_use_system(world, "listen"));
    check_host(rig.host);
    entities_api->destroy(rig.host, &e[2], 1);
    check_host(rig.host);
    ck_assert(told_of("with", e[2], anybody) == 1 && told_of("system", e[2], anybody) == 1);
}
END_TEST

/* While a host is written down or copied, nothing of it changes, whoever asks for it. */
START_TEST(nothing_of_a_sealed_host_changes)
{
    static const char sealed[] = "while a reload is being prepared, or the host written down";
    bp_entity_t e[3], more;
    float mass = 3;
    make_bodies(e, COUNT(e));
    uint32_t body = prototype_of(world, "body", NULL, NULL, NULL), key = key_of(world, "mark", "");
    bp_world_o *const worlds[] = {world, other};
    destruction_seal(&rig.host->destruction, true);
    for (uint32_t i = 0; i < COUNT(worlds); i++)
        FAILS(rig.host, BP_ERROR_STATE, sealed, api->create(worlds[i], i == 0 ? body : 0, &more, 1));
    FAILS(rig.host, BP_ERROR_STATE, sealed, api->add(world, key, e, 1));
    FAILS(rig.host, BP_ERROR_STATE, sealed, api->add(world, key, e, 3));
    FAILS(rig.host, BP_ERROR_STATE, sealed, api->remove(world, key_of(world, "body", ""), e, 1));
    SAID(rig.host, BP_ERROR_STATE,
         "nothing of world 'first' can change while a reload is being prepared, or the host written down or brought "
         "back",
         rig.api->property->set_named(world, e[0], "body", "mass", BP_F32, &mass));
    ck_assert_uint_eq(entities_api->destroy(rig.host, e, 3), 0);
    ck_assert(strstr(bp_host_error(rig.host), "no entity can be destroyed while a reload") != NULL);
    FAILS(rig.host, BP_ERROR_STATE, sealed, store_prepare_strip(&world->rows, NULL, NULL));
    FAILS(rig.host, BP_ERROR_STATE, sealed, store_strip(&world->rows, 0));
    ck_assert_uint_eq(api->count(world, 0), 3);
    destruction_seal(&rig.host->destruction, false);
    WORKS(rig.host, rig.api->property->set_named(world, e[0], "body", "mass", BP_F32, &mass));
    for (uint32_t i = 0; i < COUNT(worlds); i++)
        WORKS(rig.host, api->create(worlds[i], i == 0 ? body : 0, &more, 1));
    WORKS(rig.host, api->add(world, key, e, 1));
    ck_assert_uint_eq(entities_api->destroy(rig.host, e, 3), 3);
}
END_TEST

START_TEST(without_memory_for_what_was_asked_the_dead_are_dead_and_the_log_says_so)
{
    bp_entity_t e[64], friends[64];
    use_some(world);
    WORKS(rig.host, entities_api->create(rig.host, e, COUNT(e)));
    WORKS(rig.host, entities_api->create(rig.host, friends, COUNT(friends)));
    WORKS(rig.host, api->add(world, key_of(world, "body", ""), e, COUNT(e)));
    WORKS(rig.host, api->add(world, key_of(world, "friend", ""), friends, COUNT(friends)));
    for (uint32_t i = 0; i < COUNT(friends); i++)
        WORKS(rig.host, rig.api->property->set_named(world, friends[i], "friend", "to", BP_ENTITY, &e[i]));
    rig.heap.refuse_first = rig.heap.requests + 1;
    rig.heap.refuse_last = UINT64_MAX;
    ck_assert_uint_eq(entities_api->destroy(rig.host, e, COUNT(e)), COUNT(e));
    rig.heap.refuse_first = 0;
    ck_assert_uint_eq(told_of("first", e[9], (bp_entity_t){0}), 1);
    EXPECT(strstr(rig.log.text, "out of memory; not all deaths of 'body' are told") != NULL, "%s", rig.log.text);
    EXPECT(strstr(rig.log.text, "out of memory; not all deaths of 'friend' are told") != NULL, "%s", rig.log.text);
    ck_assert_uint_eq(rig.log.count, 2); /* once for each who asked */
    memset(rig.log.text, 0, sizeof rig.log.text);
    rig.log.count = 0;
}
END_TEST

/* A listener whose component has no such field is told of nothing, and the log says so once, until it has had one. */
START_TEST(a_field_by_which_no_deaths_can_be_asked_for_is_warned_of_once_while_it_is_so)
{
    static const struct { const char *field; uint32_t lines; } asked_for[] = {
        {"hands", 1}, {"hands", 1}, {"nothing", 1}, {"to", 1}, {"hands", 2}, {"towards", 2}, {"nothing", 3}};
    char component[] = "friend", field[16] = "";
    deaths_t asked = {.which = BP_DEATHS_REFERRED, .component = component, .field = field};
    listener_t listener = {.asked = &asked};
    use_some(world);
    uint32_t before = rig.log.count;
    for (uint32_t i = 0; i < COUNT(asked_for); i++) {
        bool good = strncmp(asked_for[i].field, "to", 2) == 0;
        snprintf(field, sizeof field, "%s", asked_for[i].field);
        deaths_find(&listener, world_of(world));
        EXPECT((listener.manager != BP_NONE) == good, "field '%s'", field);
        EXPECT(rig.log.count - before == asked_for[i].lines, "line %u: %s", i, rig.log.text);
    }
    ck_assert_ptr_nonnull(strstr(rig.log.text,
                                 "world 'first': deaths of entities that 'friend.hands' refers to are not told: it is "
                                 "no declared field of type entity with a single value"));
    memset(rig.log.text, 0, sizeof rig.log.text);
    rig.log.count = 0;
}
END_TEST

static void load_asker(const char *name)
{
    WORKS(rig.host, bp_host_load_plugin(rig.host, name, NULL, 0));
}

static void make_world(bp_world_o *of)
{
    (void)of;
    ck_assert_ptr_nonnull(bp_world_create(rig.host, &(bp_world_desc_t){.name = "late"}));
}

/* Listeners are then found anew between a death and its announcement. */
START_TEST(a_world_that_is_made_while_an_instance_ends_keeps_nobody_from_being_told)
{
    bp_entity_t e[2];
    load_asker("coroner");
    WORKS(rig.host, bp_world_use_component(world, "with"));
    WORKS(rig.host, bp_world_use_component(world, "box"));
    WORKS(rig.host, entities_api->create(rig.host, e, COUNT(e)));
    WORKS(rig.host, api->add(world, key_of(world, "body", ""), e, COUNT(e)));
    WORKS(rig.host, api->add(world, key_of(world, "box", ""), e, 1));
    when_emptied = make_world;
    for (uint32_t i = 0; i < COUNT(e); i++) {
        call_count = seen_count = 0;
        ck_assert_uint_eq(entities_api->destroy(rig.host, &e[i], 1), 1);
        expect_calls((const char *const[]){"first", "with", "second", "coroner", "first"}, 5);
        ck_assert_uint_eq(told_of("coroner", e[i], (bp_entity_t){0}), 1);
    }
    ck_assert_str_eq(host_world(rig.host, 2)->rows.name, "late");
}
END_TEST

START_TEST(plugins_ask_for_themselves_and_are_told_after_systems_and_before_embedders)
{
    const bp_entity_t anybody = {0};
    bp_entity_t e[5], late;
    load_asker("heir");
    load_asker("clerk");
    load_asker("coroner");
    use_some(world);
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &owner_a, tell, name_a));
    WORKS(rig.host, entities_api->create(rig.host, e, COUNT(e)));
    uint32_t body = key_of(world, "body", "");
    WORKS(rig.host, api->add(world, body, &e[0], 2));
    WORKS(rig.host, api->add(other, key_of(other, "body", ""), &e[1], 2));
    WORKS(rig.host, api->add(world, key_of(world, "friend", ""), &e[4], 1));
    WORKS(rig.host, rig.api->property->set_named(world, e[4], "friend", "to", BP_ENTITY, &e[0]));
    ck_assert_uint_eq(entities_api->destroy(rig.host, e, 3), 3);
    expect_calls((const char *const[]){"first", "with", "friend", "second", "heir", "first", "clerk", "coroner",
                                       "first", "coroner", "second", "a"}, 12);
    ck_assert(told_of("heir", e[0], e[4]) == 1 && told_of("heir", e[1], anybody) == 0);
    ck_assert(told_of("coroner", e[0], anybody) == 1 && told_of("coroner", e[1], anybody) == 2); /* in both worlds */
    ck_assert(told_of("coroner", e[2], anybody) == 1 && told_of("clerk", e[2], anybody) == 1);
    bp_world_o *third = rig_world(&rig, "third"); /* worlds that come and go */
    WORKS(rig.host, entities_api->create(rig.host, &late, 1));
    WORKS(rig.host, api->add(third, key_of(third, "body", ""), &late, 1));
    entities_api->destroy(rig.host, &late, 1);
    ck_assert_uint_eq(told_of("third", late, anybody), 1);
    bp_world_destroy(third);
    bp_world_destroy(other);
    other = NULL;
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "clerk"));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "coroner"));
    call_count = seen_count = 0;
    entities_api->destroy(rig.host, &e[3], 1);
    expect_calls((const char *const[]){"first", "a"}, 2);
}
END_TEST

/* As a term may: who was built before a field was renamed is told as before. */
/* The component has another number in the world then, and its listener is found anew. */
START_TEST(a_plugin_is_told_by_a_component_that_has_gone_and_come_again)
{
    bp_entity_t e[2];
    load_asker("coroner");
    for (uint32_t i = 0; i < COUNT(e); i++) {
        make_bodies(&e[i], 1);
        ck_assert_uint_eq(entities_api->destroy(rig.host, &e[i], 1), 1);
        ck_assert_uint_eq(told_of("coroner", e[i], (bp_entity_t){0}), 1);
        WORKS(rig.host, bp_world_drop_component(world, "body"));
        WORKS(rig.host, bp_world_use_component(world, "body"));
    }
}
END_TEST

START_TEST(who_listens_to_a_world_for_a_plugin_goes_with_the_world)
{
    bp_entity_t e[2];
    load_asker("coroner");
    load_asker("heir");
    make_bodies(e, COUNT(e));
    entities_api->destroy(rig.host, e, 1);
    ck_assert_uint_eq(rig.host->destruction.plugin_listener_count, 4);
    bp_world_destroy(_i == 0 ? other : world);
    call_count = seen_count = 0; /* what was noted has the name of the world, which has gone too */
    entities_api->destroy(rig.host, &e[1], 1);
    ck_assert_uint_eq(told_of("coroner", e[1], (bp_entity_t){0}), _i == 0); /* it was a body of the first world */
    ck_assert_uint_eq(rig.host->destruction.plugin_listener_count, 2);
}
END_TEST

/* Entities in no world die together without a look at the worlds: not where one is told of all deaths. */
START_TEST(a_batch_in_no_world_is_told_to_each_that_asks_alone)
{
    enum { MANY = 64 };
    static const bp_plugin_head_t *const linked[] = {&clerk, &death};
    static rig_t alone;
    bp_entity_t e[MANY];
    const char *who = _i == 0 ? "a" : _i == 1 ? "clerk" : "one"; /* a component is noted by its world */
    rig_open_with(&alone, linked, COUNT(linked));
    bp_world_o *one = bp_world_create(alone.host, &(bp_world_desc_t){.name = "one"});
    if (_i == 0)
        WORKS(alone.host, bp_host_on_destroyed(alone.host, &owner_a, tell, name_a));
    else
        WORKS(alone.host, bp_host_load_plugin(alone.host, _i == 1 ? "clerk" : "death", NULL, 0));
    if (_i == 2)
        WORKS(alone.host, bp_world_use_component(one, "witness"));
    for (uint32_t round = 0; round < 2; round++) {
        call_count = seen_count = 0;
        WORKS(alone.host, alone.api->entity->create(alone.host, e, MANY));
        ck_assert_uint_eq(alone.api->entity->destroy(alone.host, e, MANY), MANY);
        for (uint32_t i = 0; i < MANY; i++)
            ck_assert_uint_eq(told_of(who, e[i], (bp_entity_t){0}), 1);
    }
    rig_close(&alone);
}
END_TEST

START_TEST(the_first_plugin_of_a_host_may_ask_too)
{
    static const bp_plugin_head_t *const linked[] = {&clerk};
    static rig_t alone;
    bp_entity_t e[2];
    rig_open_with(&alone, linked, COUNT(linked));
    WORKS(alone.host, bp_host_load_plugin(alone.host, "clerk", NULL, 0));
    WORKS(alone.host, alone.api->entity->create(alone.host, e, COUNT(e)));
    for (uint32_t i = 0; i < COUNT(e); i++) {
        ck_assert_uint_eq(alone.api->entity->destroy(alone.host, &e[i], 1), 1);
        ck_assert_uint_eq(told_of("clerk", e[i], (bp_entity_t){0}), 1);
    }
    check_host(alone.host);
    rig_close(&alone);
}
END_TEST

START_TEST(deaths_are_asked_for_by_the_former_name_of_a_field_too)
{
    bp_entity_t e[2];
    load_asker("heir");
    load_asker("nephew");
    use_some(world);
    WORKS(rig.host, entities_api->create(rig.host, e, COUNT(e)));
    WORKS(rig.host, api->add(world, key_of(world, "friend", ""), &e[1], 1));
    WORKS(rig.host, rig.api->property->set_named(world, e[1], "friend", "to", BP_ENTITY, &e[0]));
    ck_assert_uint_eq(entities_api->destroy(rig.host, &e[0], 1), 1);
    ck_assert(told_of("heir", e[0], e[1]) == 1 && told_of("nephew", e[0], e[1]) == 1);
    ck_assert_uint_eq(rig.log.count, 0);
}
END_TEST

/* A plugin that brings the component may come later, so a step is awaited. */
START_TEST(a_component_that_no_plugin_brings_is_told_to_who_asks_for_its_deaths)
{
    static const char said[] = "plugin 'mistaken' asks for deaths by component 'bodi', which no loaded plugin brings; "
                               "did you mean 'body'?; it is told of none";
    WORKS(rig.host, bp_host_load_plugin(rig.host, "coroner", NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "mistaken", NULL, 0));
    ck_assert_uint_eq(rig.log.count, 0);
    for (uint32_t i = 0; i < 3; i++)
        WORKS(rig.host, bp_host_step(rig.host));
    use_some(world);
    WORKS(rig.host, bp_host_step(rig.host));
    EXPECT(strstr(rig.log.text, said) != NULL, "%s", rig.log.text);
    ck_assert_uint_eq(rig.log.count, 1);
    rig.log.text[0] = '\0';
    rig.log.count = 0;
}
END_TEST

START_TEST(a_plugin_that_asks_for_what_cannot_be_told_is_refused)
{
    ck_assert_int_eq(bp_host_load_plugin(rig.host, "vague", NULL, 0), BP_ERROR_ARGUMENT);
    ck_assert_str_eq(bp_host_error(rig.host), "vague: it asks for deaths by a component and does not say which");
}
END_TEST

/* What a plugin is told of it may destroy more of: batches do not nest. Without memory all are told of all. */
START_TEST(a_plugin_that_is_told_may_destroy_and_memory_may_be_lacking)
{
    const bp_entity_t anybody = {0};
    bp_entity_t e[64];
    load_asker("clerk");
    load_asker("coroner");
    use_some(world);
    make_and_end_one_by_one(e, COUNT(e));
    for (uint32_t i = 0; i < COUNT(e); i++)
        EXPECT(told_of("coroner", e[i], anybody) == 1 && told_of("clerk", e[i], anybody) == 1, "%u", i);
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "coroner"));
    load_asker("heir");
    WORKS(rig.host, entities_api->create(rig.host, e, COUNT(e)));
    rig.heap.refuse_first = rig.heap.requests + 1;
    rig.heap.refuse_last = UINT64_MAX;
    ck_assert_uint_eq(entities_api->destroy(rig.host, e, COUNT(e)), COUNT(e));
    rig.heap.refuse_first = 0;
    for (uint32_t i = 0; i < COUNT(e); i++)
        EXPECT(told_of("clerk", e[i], anybody) == 1, "%u", i);
    memset(rig.log.text, 0, sizeof rig.log.text);
    rig.log.count = 0;
}
END_TEST

Suite *destruction_suite(void)
{
    Suite *suite = suite_create("destruction");
    TCase *announcing = new_case(suite, "announcing");
    tcase_add_test(announcing, managers_are_told_before_callbacks_and_these_in_order);
    tcase_add_test(announcing, each_death_of_a_long_and_mixed_batch_is_announced_once);
    tcase_add_test(announcing, the_list_of_those_that_are_told_has_room_for_a_few_and_is_made_once);
    tcase_add_test(announcing, destroying_nobody_is_not_announced);
    tcase_add_test(announcing, the_dead_have_no_components_when_they_are_announced);
    tcase_add_test(announcing, the_entities_of_a_run_may_be_destroyed_through_it);
    add_callbacks(new_case(suite, "callbacks"));
    TCase *steps = new_case(suite, "steps");
    TCase *some = new_case(suite, "some");
    tcase_add_test(some, who_asks_for_a_component_or_a_field_is_told_of_these_deaths_alone);
    tcase_add_test(some, referrers_are_those_that_a_look_at_everybody_finds);
    tcase_add_loop_test(some, referrers_are_found_where_indices_of_the_dead_have_one_place, 0, 2);
    tcase_add_test(some, referrers_to_few_that_die_are_found);
    tcase_add_test(some, what_the_told_destroy_is_told_in_batches_of_its_own);
    tcase_add_test(some, who_asked_for_deaths_is_told_no_more_when_it_has_gone);
    tcase_add_test(some, who_comes_in_place_of_a_listener_is_told);
    tcase_add_test(some, nothing_of_a_sealed_host_changes);
    tcase_add_test(some, without_memory_for_what_was_asked_the_dead_are_dead_and_the_log_says_so);
    tcase_add_test(some, a_field_by_which_no_deaths_can_be_asked_for_is_warned_of_once_while_it_is_so);
    tcase_add_test(some, a_world_that_is_made_while_an_instance_ends_keeps_nobody_from_being_told);
    tcase_add_test(some, plugins_ask_for_themselves_and_are_told_after_systems_and_before_embedders);
    tcase_add_test(some, a_plugin_is_told_by_a_component_that_has_gone_and_come_again);
    tcase_add_loop_test(some, who_listens_to_a_world_for_a_plugin_goes_with_the_world, 0, 2);
    tcase_add_loop_test(some, a_batch_in_no_world_is_told_to_each_that_asks_alone, 0, 3);
    tcase_add_test(some, the_first_plugin_of_a_host_may_ask_too);
    tcase_add_test(some, deaths_are_asked_for_by_the_former_name_of_a_field_too);
    tcase_add_test(some, a_component_that_no_plugin_brings_is_told_to_who_asks_for_its_deaths);
    tcase_add_test(some, a_plugin_that_asks_for_what_cannot_be_told_is_refused);
    tcase_add_test(some, a_plugin_that_is_told_may_destroy_and_memory_may_be_lacking);
    tcase_add_test(steps, destroying_during_a_step_waits_for_its_end);
    tcase_add_test(steps, a_list_of_many_that_waited_for_the_end_of_a_step_is_given_back);
    tcase_add_test(steps, destroying_during_a_step_without_memory_destroys_nobody);
    tcase_add_test(steps, what_dies_at_the_end_of_a_step_may_destroy_and_create_too);
    TCase *worlds = new_case(suite, "worlds");
    tcase_add_test(worlds, the_only_row_of_a_world_goes_with_its_entity);
    tcase_add_test(worlds, entities_outlive_a_world_that_ends);
    return suite;
}
