/* test_sets.c - entity sets: systems are told who comes to match their terms and who no longer does.
 *
 * A naive model knows each entity's components as bits and works out each system's set by asking every entity. Changes
 * come at random, from between steps and from inside them, as batches with second mentions and dead ones in them; after
 * each step what a system has been told must be the set, and no notice may have said anything twice.
 */
#include "../unit/support.h"

#include "../suites.h"
#include "../unit/inspect.h"
#include "../unit/zoo.h"

#include "store/notices.h"

#include <stdlib.h>

/* --- the model ------------------------------------------------------------------------------------------ */

enum { BODY, MARK, FLAG, ONCE, LABEL, POOL, FOG, RAIN, KEYS, MANY = 4000, SYSTEMS = 8 };

static const char *const types[KEYS] = {"body", "mark", "flag", "once", "label", "pool", "fx", "fx"};
static const char *const names[KEYS] = {"", "", "", "", "", "", "fog", "rain"};

typedef struct being_t {
    bp_entity_t entity;
    uint32_t keys;      /* bits */
    bool alive;
    bool told[SYSTEMS]; /* what the systems believe */
} being_t;

static being_t beings[MANY];
static uint32_t being_count;
static uint32_t keys[KEYS];
static uint64_t random_state;
static rig_t rig;
static bp_world_o *world;

static uint32_t below(uint32_t bound)
{
    return bp_random_below(&random_state, bound);
}

/* What a system requires (all of it), and what keeps an entity out; `any` wants one of these. */
typedef struct wish_t { uint32_t all, any, none; } wish_t;

static const wish_t wishes[SYSTEMS] = {
    {1u << BODY, 0, 0},
    {1u << BODY | 1u << MARK, 0, 0},
    {1u << BODY | 1u << MARK, 0, 0},
    {1u << BODY, 0, 1u << MARK},
    {1u << MARK, 0, 0},
    {1u << FOG, 0, 0},
    {0, 1u << FOG | 1u << RAIN, 1u << LABEL},
    {1u << POOL | 1u << ONCE, 0, 0},
};

static bool matches(const being_t *being, const wish_t *wish)
{
    return being->alive && (being->keys & wish->all) == wish->all && (being->keys & wish->none) == 0 &&
           (wish->any == 0 || (being->keys & wish->any) != 0);
}

static being_t *being_of(bp_entity_t e)
{
    for (uint32_t i = 0; i < being_count; i++) {
        if (beings[i].entity.id == e.id)
            return &beings[i];
    }
    return NULL;
}

/* --- the systems ---------------------------------------------------------------------------------------- */

static uint32_t notices, moves_refused;
static void (*inside)(const bp_step_t *step); /* what a step does from within */

static uint32_t number_of(const bp_system_t *s)
{
    return (uint32_t)(uintptr_t)s->state - 1;
}

static void added(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    notices++;
    EXPECT(count > 0, "nobody was added");
    for (uint32_t i = 0; i < count; i++) {
        being_t *being = being_of(entities[i]);
        EXPECT(being != NULL, "a stranger was added");
        EXPECT(!being->told[number_of(s)], "an entity was added twice to %u", number_of(s));
        being->told[number_of(s)] = true;
    }
    moves_refused += s->api->world->add(s->world, keys[FLAG], entities, 1) == BP_ERROR_STATE;
}

static void removed(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    notices++;
    EXPECT(count > 0, "nobody was removed");
    for (uint32_t i = 0; i < count; i++) {
        being_t *being = being_of(entities[i]);
        EXPECT(being != NULL, "a stranger was removed");
        EXPECT(being->told[number_of(s)], "an entity was removed that was not there, from %u", number_of(s));
        being->told[number_of(s)] = false;
    }
}

static void nothing(bp_system_t *s, const bp_step_t *step, const bp_match_t *all, uint32_t count)
{
    (void)s, (void)step, (void)all, (void)count;
}

/* Each match is of entities that the system has been told of, and of all of them. */
static void count_known(bp_system_t *s, const bp_step_t *step, const bp_match_t *all, uint32_t count)
{
    uint32_t seen = 0, wanted = 0;
    (void)step;
    for (uint32_t m = 0; m < count; m++) {
        for (uint32_t i = 0; i < all[m].count; i++) {
            if (all[m].entities[i].id == 0)
                continue;
            const being_t *being = being_of(all[m].entities[i]);
            EXPECT(being != NULL && being->told[number_of(s)], "a match of somebody it was not told of");
            seen++;
        }
    }
    for (uint32_t i = 0; i < being_count; i++)
        wanted += beings[i].told[number_of(s)];
    ck_assert_uint_eq(seen, wanted);
}

static void meddle(bp_system_t *s, const bp_step_t *step, const bp_match_t *all, uint32_t count)
{
    (void)s, (void)all, (void)count;
    if (inside != NULL)
        inside(step);
}

static bp_result_t start_0(bp_system_t *s) { s->state = (void *)1; return BP_OK; }
static bp_result_t start_1(bp_system_t *s) { s->state = (void *)2; return BP_OK; }
static bp_result_t start_2(bp_system_t *s) { s->state = (void *)3; return BP_OK; }
static bp_result_t start_3(bp_system_t *s) { s->state = (void *)4; return BP_OK; }
static bp_result_t start_4(bp_system_t *s) { s->state = (void *)5; return BP_OK; }
static bp_result_t start_5(bp_system_t *s) { s->state = (void *)6; return BP_OK; }
static bp_result_t start_6(bp_system_t *s) { s->state = (void *)7; return BP_OK; }
static bp_result_t start_7(bp_system_t *s) { s->state = (void *)8; return BP_OK; }

static const bp_term_field_t body_mass[] = {{.name = "mass", .type = BP_F32, .access = BP_WRITE}};
static const bp_term_t terms_0[] = {{.component = "body"}};
static const bp_term_t terms_1[] = {{.component = "body", .fields = BP_LIST(body_mass)}, {.component = "mark"}};
static const bp_term_t terms_2[] = {{.component = "mark"}, {.component = "body"}};
static const bp_term_t terms_3[] = {{.component = "body"}, {.component = "mark", .flags = BP_TERM_EXCLUDE}};
static const bp_term_t terms_4[] = {{.component = "body", .flags = BP_TERM_OPTIONAL}, {.component = "mark"}};
static const bp_term_t terms_5[] = {{.component = "fx", .instance = "fog"}};
static const bp_term_t terms_6[] = {{.component = "fx"}, {.component = "label", .flags = BP_TERM_EXCLUDE}};
static const bp_term_t terms_7[] = {{.component = "once"}, {.component = "pool"}};

#define TOLD(n, verb)                                                                              \
    {.name = "told_" #n, .terms = BP_LIST(terms_##n), .start = start_##n, .run_all = verb,         \
     .entities_added = added, .entities_removed = removed}
static const bp_system_i told[SYSTEMS] = {TOLD(0, count_known), TOLD(1, count_known), TOLD(2, count_known),
                                          TOLD(3, count_known), TOLD(4, count_known), TOLD(5, count_known),
                                          TOLD(6, nothing),     TOLD(7, count_known)};
static const bp_system_i meddler[] = {{.name = "meddler", .run_all = meddle}};
static const bp_plugin_head_t telling =
    BP_PLUGIN_HEAD("telling", (&(const bp_plugin_desc_t){.version = "1", .systems = {told, SYSTEMS, sizeof *told}}));
static const bp_plugin_head_t meddling =
    BP_PLUGIN_HEAD("meddling", (&(const bp_plugin_desc_t){.version = "1", .systems = BP_LIST(meddler)}));
static const bp_plugin_head_t *linked[ZOO_PLUGINS + 2];

static void begin(void)
{
    memset(beings, 0, sizeof beings);
    being_count = notices = moves_refused = 0;
    inside = NULL;
    rig_init(&rig);
    memcpy(linked, zoo_plugins, sizeof zoo_plugins);
    linked[ZOO_PLUGINS] = &telling;
    linked[ZOO_PLUGINS + 1] = &meddling;
    rig.desc.static_plugins = linked;
    rig.desc.static_plugin_count = COUNT(linked);
    rig_open(&rig);
    for (uint32_t i = 0; i < COUNT(linked); i++)
        WORKS(rig.host, bp_host_load_plugin(rig.host, linked[i]->name, NULL, 0));
    world = rig_world(&rig, "w");
    for (uint32_t k = 0; k < KEYS; k++)
        keys[k] = key_of(world, types[k], names[k]);
}

static void end(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

static void use(uint32_t system)
{
    WORKS(rig.host, bp_world_use_system(world, told[system].name));
}

/* What the systems of these numbers believe is what the model says. */
static void expect_sets(uint32_t systems)
{
    for (uint32_t s = 0; s < SYSTEMS; s++) {
        for (uint32_t i = 0; i < being_count && (systems >> s & 1) != 0; i++) {
            bool wanted = matches(&beings[i], &wishes[s]);
            EXPECT(beings[i].told[s] == wanted, "system %u %s entity %u, which has components 0x%x", s,
                   wanted ? "was not told of" : "was told of", i, beings[i].keys);
        }
    }
}

static void step(void)
{
    WORKS(rig.host, bp_world_step(world));
}

/* --- changes, between steps and inside ------------------------------------------------------------------ */

/* A new being with these components. */
static being_t *be(bp_entity_t e, uint32_t bits)
{
    EXPECT(being_count < MANY, "too many beings");
    beings[being_count] = (being_t){.entity = e, .keys = bits, .alive = true};
    return &beings[being_count++];
}

static uint32_t prototype_of_bits(uint32_t bits)
{
    uint32_t list[KEYS], count = 0, prototype;
    for (uint32_t k = 0; k < KEYS; k++) {
        if ((bits >> k & 1) != 0)
            list[count++] = keys[k];
    }
    WORKS(rig.host, rig.api->world->prototype(world, list, count, &prototype));
    return prototype;
}

static void create(void)
{
    bp_entity_t e[40];
    uint32_t count = 1 + below(COUNT(e)), bits = below(1u << KEYS);
    WORKS(rig.host, rig.api->world->create(world, prototype_of_bits(bits), e, count));
    for (uint32_t i = 0; i < count; i++)
        be(e[i], bits);
}

/* Some beings that may get, or lose, a component, each once. */
static uint32_t draw(uint32_t key, bool has, bp_entity_t *e, being_t **who, uint32_t most)
{
    uint32_t count = 0, start = being_count > 0 ? below(being_count) : 0;
    for (uint32_t i = 0; i < being_count && count < most; i++) {
        being_t *being = &beings[(start + i) % being_count];
        if (!being->alive || ((being->keys >> key & 1) != 0) != has || below(3) == 0)
            continue;
        who[count] = being;
        e[count++] = being->entity;
    }
    return count;
}

static void change(bool adding)
{
    bp_entity_t e[64];
    being_t *who[64];
    uint32_t key = below(KEYS), count = draw(key, !adding, e, who, 1 + below(COUNT(e)));
    if (count == 0)
        return;
    WORKS(rig.host, adding ? rig.api->world->add(world, keys[key], e, count)
                           : rig.api->world->remove(world, keys[key], e, count));
    for (uint32_t i = 0; i < count; i++)
        who[i]->keys ^= 1u << key;
}

static void destroy(void)
{
    bp_entity_t e[20];
    uint32_t count = 1 + below(COUNT(e));
    for (uint32_t i = 0; i < count; i++)
        e[i] = being_count == 0 ? (bp_entity_t){0} : beings[below(being_count)].entity;
    rig.api->entity->destroy(rig.host, e, count);
    for (uint32_t i = 0; i < count; i++) {
        being_t *being = being_of(e[i]);
        if (being != NULL)
            being->alive = false;
    }
}

static void change_something(void)
{
    uint32_t what = below(8);
    if (what == 0)
        create();
    else if (what < 4)
        change(true);
    else if (what < 7)
        change(false);
    else
        destroy();
}

/* From inside: a batch as it comes, with the dead and with second mentions, and with those that have it already. */
static void change_inside(const bp_step_t *now, uint32_t key, bool adding)
{
    bp_entity_t e[64];
    uint32_t count = being_count == 0 ? 0 : below(COUNT(e));
    for (uint32_t i = 0; i < count; i++)
        e[i] = beings[below(being_count)].entity;
    WORKS(rig.host, adding ? rig.api->command->add(now->commands, keys[key], e, count)
                           : rig.api->command->remove(now->commands, keys[key], e, count));
    for (uint32_t i = 0; i < count; i++) {
        being_t *being = being_of(e[i]);
        if (being->alive)
            being->keys = adding ? being->keys | 1u << key : being->keys & ~(1u << key);
    }
}

static void create_inside(const bp_step_t *now)
{
    bp_entity_t e[10];
    uint32_t count = 1 + below(COUNT(e)), bits = below(1u << KEYS), more = below(KEYS);
    WORKS(rig.host, rig.api->command->create(now->commands, prototype_of_bits(bits), e, count));
    WORKS(rig.host, rig.api->command->add(now->commands, keys[more], e, count));
    for (uint32_t i = 0; i < count; i++)
        be(e[i], bits | 1u << more);
}

static void destroy_inside(const bp_step_t *now)
{
    for (uint32_t i = 0; i < 5 && being_count > 0; i++) {
        being_t *being = &beings[below(being_count)];
        WORKS(rig.host, rig.api->command->destroy(now->commands, &being->entity, 1));
        being->alive = false;
    }
}

static void meddle_at_random(const bp_step_t *now)
{
    for (uint32_t i = below(6); i > 0; i--) {
        uint32_t what = below(6);
        if (what == 0)
            create_inside(now);
        else if (what == 1)
            destroy_inside(now);
        else
            change_inside(now, below(KEYS), what < 4);
    }
}

/* Beings made inside the step before have real entities now. */
static void settle_placeholders(void)
{
    for (uint32_t i = 0; i < being_count; i++) {
        bp_entity_t became;
        if ((beings[i].entity.id >> 32 & 1) != 0)
            continue;
        ck_assert_uint_eq(rig.api->command->created(world, &beings[i].entity, 1, &became), 1);
        beings[i].entity = became;
    }
}

/* --- the tests ------------------------------------------------------------------------------------------ */

static void live(uint32_t rounds, bool from_inside)
{
    uint32_t used = 0;
    inside = from_inside ? meddle_at_random : NULL;
    WORKS(rig.host, bp_world_use_system(world, "meddler"));
    for (uint32_t round = 0; round < rounds && being_count < MANY - 400; round++) {
        for (uint32_t i = below(8); i > 0; i--)
            change_something();
        uint32_t newcomer = below(SYSTEMS);
        if (below(4) == 0 && (used >> newcomer & 1) == 0) {
            use(newcomer);
            used |= 1u << newcomer;
        }
        step();
        settle_placeholders();
        void (*meddling_function)(const bp_step_t *) = inside;
        inside = NULL;
        step(); /* what the step before changed at its end is told at the beginning of this one */
        inside = meddling_function;
        expect_sets(used);
        check_host(rig.host);
    }
    ck_assert_uint_gt(notices, 20);
}

START_TEST(systems_are_told_exactly_who_matches)
{
    random_state = 100u + (uint32_t)_i;
    live(70, false);
    ck_assert_uint_gt(moves_refused, 0);
}
END_TEST

START_TEST(changes_from_inside_a_step_are_told_exactly_too)
{
    random_state = 200u + (uint32_t)_i;
    live(70, true);
}
END_TEST

START_TEST(systems_with_the_same_requirements_share_one_set)
{
    for (uint32_t s = 0; s < SYSTEMS; s++)
        use(s);
    step();
    const schedule_t *schedule = world->schedule;
    ck_assert_uint_eq(schedule->query_count, SYSTEMS); /* one of them is the body's own, which told_0 shares */
    ck_assert_ptr_nonnull(world->rows.notices);
    ck_assert_uint_eq(world->rows.notices->subscription_count, SYSTEMS - 1); /* told_1 and told_2 list the same in
                                                                                another order */
}
END_TEST

START_TEST(a_change_that_is_taken_back_is_not_told)
{
    bp_entity_t e[2];
    use(1);
    WORKS(rig.host, rig.api->world->create(world, prototype_of_bits(1u << BODY), e, 2));
    be(e[0], 1u << BODY), be(e[1], 1u << BODY);
    step();
    ck_assert_uint_eq(notices, 0);
    WORKS(rig.host, rig.api->world->add(world, keys[MARK], e, 2));
    WORKS(rig.host, rig.api->world->remove(world, keys[MARK], e, 2));
    WORKS(rig.host, rig.api->world->add(world, keys[MARK], e, 1));
    rig.api->entity->destroy(rig.host, e, 1);
    step();
    ck_assert_uint_eq(notices, 0);
}
END_TEST

/* Units are settled anew between two steps, as for a snapshot of a world that has got another system: what is to be
 * told is told in the next step, and a change that is taken back until then is not. */
START_TEST(settling_units_anew_tells_nothing_before_its_time)
{
    bp_entity_t e[2];
    use(1);
    WORKS(rig.host, rig.api->world->create(world, prototype_of_bits(1u << BODY), e, 2));
    be(e[0], 1u << BODY), be(e[1], 1u << BODY);
    step();
    WORKS(rig.host, rig.api->world->add(world, keys[MARK], e, 2));
    WORKS(rig.host, bp_world_use_system(world, "meddler"));
    ck_assert_int_eq(schedule_attune(world->schedule), BP_OK);
    ck_assert_uint_eq(notices, 0);
    WORKS(rig.host, rig.api->world->remove(world, keys[MARK], e, 1));
    beings[1].keys |= 1u << MARK;
    step();
    ck_assert_uint_eq(notices, 1);
    expect_sets(1u << 1);
    WORKS(rig.host, rig.api->world->add(world, keys[MARK], e, 1));
    beings[0].keys |= 1u << MARK;
    use(2); /* one more system asks: what has been written down is told now, before the sets are made anew */
    ck_assert_int_eq(schedule_attune(world->schedule), BP_OK);
    step();
    expect_sets(1u << 1 | 1u << 2);
}
END_TEST

START_TEST(nobody_asks_and_nothing_is_written_down)
{
    WORKS(rig.host, bp_world_use_system(world, "meddler"));
    random_state = 3;
    for (uint32_t i = 0; i < 50; i++)
        change_something();
    step();
    ck_assert_ptr_null(world->rows.notices);
    use(0);
    step();
    ck_assert_ptr_nonnull(world->rows.notices);
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "telling"));
    step();
    ck_assert_ptr_null(world->rows.notices);
    for (uint32_t r = 0; r < world->rows.run_count; r++)
        ck_assert_uint_eq(world->rows.runs[r]->signature, 0);
}
END_TEST

/* A term's component leaves the world with the systems that need it, and all come again: it has another number then,
   and the sets are right all the same. */
START_TEST(a_component_that_goes_and_comes_again)
{
    bp_entity_t e[8];
    use(3);
    use(0);
    WORKS(rig.host, rig.api->world->create(world, prototype_of_bits(1u << BODY | 1u << POOL), e, 8));
    for (uint32_t i = 0; i < 8; i++)
        be(e[i], 1u << BODY | 1u << POOL);
    step();
    expect_sets(1u << 3 | 1u);
    WORKS(rig.host, bp_host_unload_plugin_with(rig.host, "zoo"));
    ck_assert_ptr_nonnull(strstr(rig.log.text, "system 'told_3' leaves world 'w'"));
    rig.log = (log_text_t){0};
    WORKS(rig.host, bp_world_step(world));
    for (uint32_t i = 0; i < 8; i++)
        beings[i] = (being_t){.entity = beings[i].entity, .keys = 1u << POOL, .alive = true}; /* systems begin anew */
    WORKS(rig.host, bp_host_load_plugin(rig.host, "zoo", NULL, 0));
    keys[BODY] = key_of(world, "body", "");
    WORKS(rig.host, rig.api->world->add(world, keys[BODY], e, 3));
    for (uint32_t i = 0; i < 3; i++)
        beings[i].keys |= 1u << BODY;
    step();
    expect_sets(1u << 3 | 1u);
    keys[MARK] = key_of(world, "mark", "");
    WORKS(rig.host, rig.api->world->add(world, keys[MARK], e, 1));
    beings[0].keys |= 1u << MARK;
    step();
    expect_sets(1u << 3 | 1u);
}
END_TEST

/* Runs with room for many, of entities that no subscription matches yet: filled one by one, then all of them come to
 * match. */
START_TEST(there_is_room_for_a_notice_of_everybody_however_they_came)
{
    enum { EACH = 100 };
    static const uint32_t kinds[] = {MARK, FLAG, FOG, RAIN};
    bp_entity_t e[EACH];
    use(0);
    step();
    WORKS(rig.host, rig.api->entity->create(rig.host, e, EACH));
    for (uint32_t k = 0; k < COUNT(kinds); k++) {
        WORKS(rig.host, rig.api->world->add(world, keys[kinds[k]], e, EACH));
        WORKS(rig.host, rig.api->world->remove(world, keys[kinds[k]], e, EACH));
    }
    for (uint32_t k = 0; k < COUNT(kinds); k++) {
        uint32_t prototype = prototype_of_bits(1u << kinds[k]);
        for (uint32_t i = 0; i < EACH; i++) {
            WORKS(rig.host, rig.api->world->create(world, prototype, &e[i], 1));
            be(e[i], 1u << kinds[k]);
        }
        check_host(rig.host);
    }
    for (uint32_t i = 0; i < being_count; i++) {
        WORKS(rig.host, rig.api->world->add(world, keys[BODY], &beings[i].entity, 1));
        beings[i].keys |= 1u << BODY;
    }
    step();
    expect_sets(1);
}
END_TEST

/* Entries that say nothing any more are dropped where room is wanted, perhaps all of them; then the first entry is
 * about the entity that had it before. */
START_TEST(a_change_that_makes_room_is_told)
{
    const bp_world_api *api = rig.api->world;
    bp_entity_t one, e[3];
    use(0);
    step();
    WORKS(rig.host, rig.api->entity->create(rig.host, &one, 1));
    being_t *being = be(one, 0);
    uint32_t body = prototype_of_bits(1u << BODY), emptied = 0;
    for (uint32_t round = 0; round < 400; round++) {
        uint32_t before = world->rows.notices->count, count = round % 3;
        WORKS(rig.host, api->add(world, keys[BODY], &one, 1));
        emptied += before > 1 && world->rows.notices->count == 1;
        ck_assert_uint_ge(world->rows.notices->count, 1);
        if (round == 399)
            break;
        WORKS(rig.host, api->remove(world, keys[BODY], &one, 1));
        WORKS(rig.host, api->create(world, body, e, count));
        ck_assert_uint_eq(rig.api->entity->destroy(rig.host, e, count), count);
    }
    ck_assert_uint_gt(emptied, 1);
    being->keys = 1u << BODY;
    step();
    expect_sets(1);
}
END_TEST

/* What has come and gone between two steps is not told, and takes room for as many as there were at one time. */
START_TEST(what_comes_and_goes_between_steps_takes_no_more_room)
{
    enum { EACH = 100 };
    const bp_world_api *api = rig.api->world;
    bp_entity_t e[EACH];
    use(0);
    step();
    uint32_t prototype = prototype_of_bits(1u << BODY);
    for (uint32_t round = 0; round < 100; round++) {
        WORKS(rig.host, api->create(world, prototype, e, EACH));
        if (round % 2 == 0)
            WORKS(rig.host, api->remove(world, keys[BODY], e, EACH));
        ck_assert_uint_eq(rig.api->entity->destroy(rig.host, e, EACH), EACH);
        ck_assert_uint_le(world->rows.notices->entity_capacity, 4 * EACH);
    }
    check_host(rig.host);
    step();
    ck_assert_uint_eq(notices, 0);
}
END_TEST

/* Memory runs out at every request in turn: the change is refused or made, and what is told stays exact. */
START_TEST(notices_are_exact_where_memory_runs_out)
{
    random_state = 9;
    for (uint32_t s = 0; s < SYSTEMS; s++)
        use(s);
    uint32_t refused = 0;
    for (uint32_t round = 0; round < 150; round++) {
        bp_entity_t e[30];
        uint32_t bits = below(1u << KEYS), prototype = prototype_of_bits(bits), key = below(KEYS);
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + 1 + below(4);
        bp_result_t result = rig.api->world->create(world, prototype, e, COUNT(e));
        for (uint32_t i = 0; i < COUNT(e) && result == BP_OK; i++)
            be(e[i], bits);
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + 1 + below(4);
        if (result == BP_OK && (bits >> key & 1) == 0) {
            bp_result_t added_one = rig.api->world->add(world, keys[key], e, COUNT(e));
            for (uint32_t i = 0; i < COUNT(e) && added_one == BP_OK; i++)
                beings[being_count - 1 - i].keys |= 1u << key;
            refused += added_one != BP_OK;
        }
        refused += result != BP_OK;
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + 1 + below(6);
        refused += bp_world_step(world) != BP_OK;
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        destroy();
        step();
        expect_sets((1u << SYSTEMS) - 1);
        check_host(rig.host);
        if (being_count + 100 > MANY)
            break;
    }
    ck_assert_uint_gt(refused, 10);
}
END_TEST

enum { PAGES = 12 };
static bp_entity_t scattered[PAGES * ENTITIES_PAGE];

/* One entity with a body on each of many pages of records, which lie in one slab, and of which a system knows. */
static void scatter(void)
{
    use(0);
    WORKS(rig.host, bp_world_use_system(world, "meddler"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of_bits(1u << MARK), scattered, COUNT(scattered)));
    WORKS(rig.host, rig.api->world->remove(world, keys[MARK], scattered, COUNT(scattered)));
    ck_assert_uint_eq(world->rows.slab_count, 1);
    for (uint32_t i = 0; i < PAGES; i++) {
        be(scattered[i * ENTITIES_PAGE], 1u << BODY);
        WORKS(rig.host, rig.api->world->add(world, keys[BODY], &beings[i].entity, 1));
    }
    step();
    expect_sets(1);
}

/* A page of records without an entity is given back, but not before all deaths have been told: what is written down of
 * one entity is found by places that lie in the page. */
static void destroy_all_but_the_last(const bp_step_t *now)
{
    for (uint32_t i = 0; i + 1 < being_count; i++) {
        WORKS(rig.host, rig.api->command->destroy(now->commands, &beings[i].entity, 1));
        beings[i].alive = false;
    }
}

START_TEST(deaths_are_told_before_the_records_of_the_dead_go)
{
    const world_t *w = &world->rows;
    scatter();
    inside = destroy_all_but_the_last;
    step();
    inside = NULL;
    being_t *last = &beings[PAGES - 1];
    notices = 0;
    WORKS(rig.host, rig.api->world->remove(world, keys[BODY], &last->entity, 1));
    WORKS(rig.host, rig.api->world->add(world, keys[BODY], &last->entity, 1));
    for (uint32_t i = 0; i < PAGES && w->pages_used > PAGES / 2; i++) {
        step();
        expect_sets(1);
    }
    ck_assert_uint_eq(notices, 1);
    ck_assert_uint_eq(w->pages_used, PAGES / 2);
    for (uint32_t i = 0; i < PAGES; i++) { /* others, on pages that have gone and come again, change twice */
        bp_entity_t one = scattered[i * ENTITIES_PAGE + 1];
        WORKS(rig.host, rig.api->world->add(world, keys[BODY], &one, 1));
        WORKS(rig.host, rig.api->world->remove(world, keys[BODY], &one, 1));
        WORKS(rig.host, rig.api->world->add(world, keys[BODY], &one, 1));
        be(one, 1u << BODY);
    }
    step();
    expect_sets(1);
}
END_TEST

/* An entity that has lost its components, with which the page of its records would go, and gets them back. */
static void take_all(const bp_step_t *now)
{
    for (uint32_t i = 0; i < being_count; i++)
        WORKS(rig.host, rig.api->command->remove(now->commands, keys[BODY], &beings[i].entity, 1));
}

START_TEST(what_comes_back_after_its_records_would_have_gone_is_not_told)
{
    scatter();
    inside = take_all;
    step();
    inside = NULL;
    notices = 0;
    for (uint32_t i = 0; i < being_count; i++)
        WORKS(rig.host, rig.api->world->add(world, keys[BODY], &beings[i].entity, 1));
    step();
    ck_assert_uint_eq(notices, 0);
    expect_sets(1);
}
END_TEST

Suite *sets_suite(void)
{
    Suite *suite = suite_create("sets");
    TCase *notices_case = tcase_create("notices");
    tcase_add_checked_fixture(notices_case, begin, end);
    tcase_set_timeout(notices_case, 120);
    tcase_add_loop_test(notices_case, systems_are_told_exactly_who_matches, 0, 6);
    tcase_add_loop_test(notices_case, changes_from_inside_a_step_are_told_exactly_too, 0, 6);
    tcase_add_test(notices_case, systems_with_the_same_requirements_share_one_set);
    tcase_add_test(notices_case, a_change_that_is_taken_back_is_not_told);
    tcase_add_test(notices_case, settling_units_anew_tells_nothing_before_its_time);
    tcase_add_test(notices_case, nobody_asks_and_nothing_is_written_down);
    tcase_add_test(notices_case, a_component_that_goes_and_comes_again);
    tcase_add_test(notices_case, there_is_room_for_a_notice_of_everybody_however_they_came);
    tcase_add_test(notices_case, a_change_that_makes_room_is_told);
    tcase_add_test(notices_case, what_comes_and_goes_between_steps_takes_no_more_room);
    tcase_add_test(notices_case, notices_are_exact_where_memory_runs_out);
    tcase_add_test(notices_case, deaths_are_told_before_the_records_of_the_dead_go);
    tcase_add_test(notices_case, what_comes_back_after_its_records_would_have_gone_is_not_told);
    suite_add_tcase(suite, notices_case);
    return suite;
}
