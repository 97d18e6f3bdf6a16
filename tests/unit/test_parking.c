/* test_parking.c - indices of the dead when most have died: memory is given back, and no id comes twice.
 *
 * What each index was last used for is written down in an array of the test's own: an id is new where its generation is
 * above the last one of its index, and then no handle of the dead can be taken for the living.
 */
#include "support.h"

#include "../suites.h"
#include "inspect.h"
#include "store/notices.h"
#include "store/parking.h"
#include "zoo.h"

#include <stdlib.h>
#include <string.h>

enum { WORLDS = 3, MOST = 200000, INDICES = 1 << 19, DEAD = 50000, STEPS = 600 };

/* A host with one world or three, and the entities that live there. */
typedef struct place_t {
    rig_t rig;
    bp_world_o *worlds[WORLDS];
    uint32_t world_count;
    uint64_t random;
    bp_entity_t living[MOST], dead[DEAD];
    uint32_t living_count, died;
    uint32_t last[INDICES]; /* the last generation of each index */
    uint64_t ids;           /* a sum of all ids, in order */
} place_t;

static place_t place;

static entities_t *entities_of(place_t *p)
{
    return &p->rig.host->entities;
}

/* --- a system that destroys and is told --------------------------------------------------------------------------- */

static uint64_t told;            /* a sum of the ids of which the system has been told */
static uint32_t told_count;
static const bp_entity_t *doomed; /* what it destroys in a step, the last one first */
static uint32_t doomed_count;

static void mourner_removed(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    (void)s;
    for (uint32_t i = 0; i < count; i++)
        told += entities[i].id;
    told_count += count;
}

static void mourner_run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)step, (void)matches, (void)count;
    for (; doomed_count > 0; doomed_count--)
        s->api->entity->destroy(s->host, &doomed[doomed_count - 1], 1);
}

/* Which entity of each index a second system has been told to have a mark. */
static bp_entity_t *known;
static const size_t known_size = INDICES * sizeof *known;

static void know_nobody(void)
{
    if (known == NULL)
        known = room_of(known_size);
    memset(known, 0, known_size);
}

static void keeper_added(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    (void)s;
    for (uint32_t i = 0; i < count; i++) {
        bp_entity_t *e = &known[bp_entity_index(entities[i])];
        EXPECT(e->id == 0, "it is told of index %u twice", bp_entity_index(entities[i]));
        *e = entities[i];
    }
}

static void keeper_removed(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    (void)s;
    for (uint32_t i = 0; i < count; i++) {
        bp_entity_t *e = &known[bp_entity_index(entities[i])];
        EXPECT(e->id == entities[i].id, "it is told of the end of what it did not know");
        *e = (bp_entity_t){0};
    }
}

static void keeper_run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

static const bp_term_t marked[] = {{.component = "mark"}};
static const bp_system_i mourner[] = {{.name = "mourner", .terms = BP_LIST(marked), .run_all = mourner_run,
                                       .entities_removed = mourner_removed, .keeps = BP_KEEP_NOTHING},
                                      {.name = "keeper", .terms = BP_LIST(marked), .run_all = keeper_run,
                                       .entities_added = keeper_added, .entities_removed = keeper_removed,
                                       .keeps = BP_KEEP_NOTHING}};
static const bp_plugin_head_t mourning =
    BP_PLUGIN_HEAD("mourning", (&(const bp_plugin_desc_t){.version = "1", .systems = BP_LIST(mourner)}));

/* --- places ------------------------------------------------------------------------------------------------------- */

static void open(place_t *p, uint32_t worlds)
{
    static const char *const names[] = {"a", "b", "c"};
    static const bp_plugin_head_t *plugins[ZOO_PLUGINS + 1];
    memset(p, 0, sizeof *p);
    rig_init(&p->rig);
    memcpy(plugins, zoo_plugins, sizeof zoo_plugins);
    plugins[ZOO_PLUGINS] = &mourning;
    p->rig.desc.static_plugins = plugins;
    p->rig.desc.static_plugin_count = COUNT(plugins);
    rig_open(&p->rig);
    WORKS(p->rig.host, bp_host_load_plugin(p->rig.host, "zoo", NULL, 0));
    for (; p->world_count < worlds; p->world_count++) {
        bp_world_o *world = bp_world_create(p->rig.host, &(bp_world_desc_t){.name = names[p->world_count]});
        WORKS(p->rig.host, bp_world_use_component(world, "mark"));
        p->worlds[p->world_count] = world;
    }
    p->random = 5;
}

static void close(place_t *p)
{
    check_host(p->rig.host);
    rig_close(&p->rig);
}

/* After each step there is memory for each death, and for the fresh indices that are promised. */
static void step(place_t *p, uint32_t steps)
{
    const entities_t *e = entities_of(p);
    for (uint32_t i = 0; i < steps; i++) {
        for (uint32_t w = 0; w < p->world_count; w++) {
            WORKS(p->rig.host, bp_world_step(p->worlds[w]));
            EXPECT(e->bound <= e->capacity && e->capacity <= e->room, "%u of %u of %u", e->bound, e->capacity, e->room);
            EXPECT((uint64_t)e->queue_room + e->parked_count >= e->capacity, "%u and %u for %u", e->queue_room,
                   e->parked_count, e->capacity);
        }
    }
}

static void note(place_t *p, const bp_entity_t *made, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = bp_entity_index(made[i]);
        EXPECT(index < INDICES, "index %u", index);
        EXPECT(bp_entity_generation(made[i]) > p->last[index], "index %u: generation %u after %u", index,
               bp_entity_generation(made[i]), p->last[index]);
        p->last[index] = bp_entity_generation(made[i]);
        p->ids = p->ids * 31 + made[i].id;
    }
}

/* Entities come: through a world, with a component or without, or (world_count) through none. */
static void come_to(place_t *p, uint32_t world, uint32_t count)
{
    bp_entity_t *made = p->living + p->living_count;
    ck_assert_uint_le(p->living_count + count, MOST);
    if (world == p->world_count) {
        WORKS(p->rig.host, p->rig.api->entity->create(p->rig.host, made, count));
    } else {
        uint32_t prototype = world % 2 == 0 ? prototype_of(p->worlds[world], "mark", NULL, NULL, NULL) : 0;
        WORKS(p->rig.host, p->rig.api->world->create(p->worlds[world], prototype, made, count));
    }
    note(p, made, count);
    p->living_count += count;
}

static void come(place_t *p, uint32_t count)
{
    come_to(p, bp_random_below(&p->random, p->world_count + 1), count);
}

/* The entities from `first` on die, `count` of them. */
static void die(place_t *p, uint32_t first, uint32_t count)
{
    ck_assert_uint_eq(p->rig.api->entity->destroy(p->rig.host, p->living + first, count), count);
    for (uint32_t i = 0; i < count; i++)
        p->dead[p->died++ % DEAD] = p->living[first + i];
    p->living_count -= count;
    memmove(p->living + first, p->living + first + count, (p->living_count - first) * sizeof *p->living);
}

/* Exchange the living at random, so that any of them may lie last. */
static void shuffle(place_t *p)
{
    for (uint32_t i = p->living_count; i > 1; i--) {
        uint32_t at = bp_random_below(&p->random, i);
        bp_entity_t e = p->living[i - 1];
        p->living[i - 1] = p->living[at];
        p->living[at] = e;
    }
}

/* Asked in a batch, one by one, and without a call. */
static void expect_who_lives(place_t *p)
{
    const bp_entity_api *api = p->rig.api->entity;
    uint32_t dead = p->died < DEAD ? p->died : DEAD;
    bp_living_t living = bp_living_of(api, p->rig.host);
    ck_assert_uint_eq(api->alive(p->rig.host, p->living, p->living_count, NULL), p->living_count);
    ck_assert_uint_eq(api->alive(p->rig.host, p->dead, dead, NULL), 0);
    for (uint32_t i = 0; i < dead; i++)
        EXPECT(bp_is_alive(&living, p->dead[i]) == 0, "a dead entity lives");
    for (uint32_t i = 0; i < p->living_count; i++)
        EXPECT(bp_is_alive(&living, p->living[i]) == 1, "a living entity is dead");
    ck_assert_uint_eq(api->count(p->rig.host), p->living_count);
}

/* --- ids ---------------------------------------------------------------------------------------------------------- */

typedef struct seen_t {
    uint32_t parked, given_up, brought_back;
} seen_t;

/* Crowds of any size come in portions, most of them go, in order or at random, and the worlds step for a while. */
static void wave(place_t *p, seen_t *seen)
{
    const entities_t *e = entities_of(p);
    uint32_t aim = bp_random_below(&p->random, 60000), rest = bp_random_below(&p->random, 4);
    uint32_t before = e->bound, due = parking_is_due(e);
    while (p->living_count < aim) {
        uint32_t most = bp_random_below(&p->random, 3) == 0 ? 3 : 9000, count = 1 + bp_random_below(&p->random, most);
        for (uint32_t i = 0; most == 3 && i < 50; i++)
            come_to(p, i % (p->world_count + 1), 1);
        come(p, count);
    }
    check_host(p->rig.host); /* also before a step has looked after what waits */
    seen->brought_back += due && e->bound > before && e->bound <= e->reached * ENTITIES_PAGE;
    if (bp_random_below(&p->random, 2) == 0)
        shuffle(p);
    rest = rest == 0 ? 0 : p->living_count / (1u << 2 * rest);
    while (p->living_count > rest) {
        uint32_t left = p->living_count - rest, count = 1 + bp_random_below(&p->random, left < 5000 ? left : 5000);
        die(p, p->living_count - count, count);
    }
    for (uint32_t s = bp_random_below(&p->random, 90); s > 0; s--) {
        uint32_t bound = e->bound;
        step(p, 1);
        seen->parked += e->parked_count > 0;
        seen->given_up += e->bound < bound;
    }
}

START_TEST(no_id_comes_twice_when_indices_are_parked_and_pages_given_up)
{
    seen_t seen = {0};
    open(&place, _i == 0 ? 1 : WORLDS);
    place.random = 100 + (uint64_t)_i;
    for (uint32_t round = 0; round < 90; round++) {
        wave(&place, &seen);
        expect_who_lives(&place);
        check_host(place.rig.host);
    }
    EXPECT(seen.parked > 100 && seen.given_up > 15 && seen.brought_back > 5, "parked %u, given up %u, brought back %u",
           seen.parked, seen.given_up, seen.brought_back);
    close(&place);
}
END_TEST

/* A page is given up and comes back so often that its floor is near the last life: what is left are lives that were
 * never given out, and then fresh pages. */
START_TEST(pages_that_come_back_have_lives_left_that_were_never_given_out)
{
    enum { CROWD = 60000, TURNS = 4 };
    open(&place, 1);
    come_to(&place, 1, CROWD);
    die(&place, 0, CROWD);
    entities_t *e = entities_of(&place);
    for (uint32_t i = 0; i < CROWD; i += 7) /* one life is left, or two or three */
        e->lives[i] = 2u * (ENTITY_MAX_LIFE - 1 - i % 3) - 1;
    memset(place.last, 0, sizeof place.last);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        step(&place, 100);
        check_host(place.rig.host);
        come_to(&place, 1, CROWD);
        expect_who_lives(&place);
        die(&place, 0, CROWD);
    }
    for (uint32_t i = 0; i < CROWD; i++)
        EXPECT(place.last[i] < (1u << ENTITY_COUNTER_BITS) * 2, "index %u has outlived its generations", i);
    step(&place, 100);
    close(&place);
}
END_TEST

START_TEST(a_page_with_an_index_that_is_used_up_stays)
{
    enum { CROWD = 60000, PAGE = 30 };
    open(&place, 1);
    come_to(&place, 1, CROWD);
    entities_t *e = entities_of(&place);
    uint32_t index = PAGE * ENTITIES_PAGE + 5, base = place.rig.host->base.values.entity_base;
    e->lives[index] = 2 * (ENTITY_MAX_LIFE - 1);
    place.living[index].id = (uint64_t)(e->lives[index] + 1 + base) << 32 | index;
    die(&place, 0, CROWD);
    step(&place, STEPS);
    ck_assert_uint_eq(e->bound, (PAGE + 1) * ENTITIES_PAGE);
    place.last[index] = UINT32_MAX; /* none may follow */
    for (uint32_t turn = 0; turn < 3; turn++) {
        come_to(&place, 1, CROWD);
        expect_who_lives(&place);
        die(&place, 0, CROWD);
        step(&place, 50);
    }
    close(&place);
}
END_TEST

/* --- memory ------------------------------------------------------------------------------------------------------- */

static size_t bytes_of(place_t *p)
{
    return memory_bytes(&entities_of(p)->memory);
}

/* What may be left beside twice the bytes of the living: indices that wait, whatever lives, and arrays that begin with
 * some size. */
enum { REST = 40 * PARKING_KEPT, REST_OF_A_WORLD = 40 * PARKING_POOL_KEPT };

static void expect_little_left(place_t *p)
{
    size_t each = p->world_count > 1 ? 12 : 8;
    check_host(p->rig.host);
    EXPECT(bytes_of(p) <= 2 * each * p->living_count + REST + p->world_count * REST_OF_A_WORLD,
           "%zu bytes for %u that live among %u", bytes_of(p), p->living_count, entities_of(p)->bound);
}

START_TEST(memory_of_the_indices_of_the_dead_is_given_back)
{
    uint32_t worlds = _i == 0 ? 1 : WORLDS;
    open(&place, worlds);
    for (uint32_t turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < MOST / 2000; i++)
            come_to(&place, i % (worlds + 1), 2000);
        size_t before = bytes_of(&place);
        ck_assert_uint_gt(before, 6u * MOST);
        die(&place, MOST / 20, MOST - MOST / 20);
        step(&place, STEPS);
        expect_little_left(&place);
        die(&place, 0, place.living_count);
        step(&place, STEPS);
        expect_little_left(&place);
        ck_assert_uint_lt(bytes_of(&place), before / 4);
    }
    close(&place);
}
END_TEST

/* Entities that live on among the dead hold what says so of the others, but not the queue. */
START_TEST(the_queue_is_given_back_where_a_few_live_on_anywhere)
{
    open(&place, 1);
    come_to(&place, 1, MOST);
    shuffle(&place);
    die(&place, 0, MOST - MOST / 200);
    step(&place, STEPS);
    const entities_t *e = entities_of(&place);
    ck_assert_uint_gt(e->bound, MOST - 3000);
    EXPECT(e->queue_room <= 4 * PARKING_KEPT, "room for %u indices that wait", e->queue_room);
    ck_assert_uint_gt(e->parked_count, MOST * 9u / 10);
    check_host(place.rig.host);
    come_to(&place, 1, MOST - place.living_count); /* all of them are used again, before fresh ones */
    ck_assert_uint_le(e->bound, MOST + ENTITIES_MIN_FREE + ENTITIES_PAGE);
    expect_who_lives(&place);
    close(&place);
}
END_TEST

/* A few thousand live at the end of all indices, and come and go: those that come get low indices, and in the end all
 * of them have. */
START_TEST(high_indices_die_out)
{
    enum { FEW = 3000, EACH = 60 };
    uint32_t worlds = _i == 0 ? 1 : 2, by = _i == 0 ? 1 : 0;
    open(&place, worlds);
    come_to(&place, by, MOST);
    die(&place, 0, MOST - FEW);
    for (uint32_t i = 0; i < 1500; i++) {
        for (uint32_t k = 0; k < EACH; k++)
            die(&place, bp_random_below(&place.random, place.living_count), 1);
        come_to(&place, by, EACH);
        step(&place, 1);
    }
    EXPECT(entities_of(&place)->bound <= 40 * ENTITIES_PAGE, "%u indices for %u that live", entities_of(&place)->bound,
           place.living_count);
    expect_who_lives(&place);
    close(&place);
}
END_TEST

/* Crowds that come and go in worlds, while some stay, use the same indices again. */
/* The same where all low pages have been another world's, whose entities are gone. */
START_TEST(a_world_takes_low_pages_in_place_of_its_high_ones)
{
    enum { FEW = 3000, EACH = 60 };
    open(&place, 2);
    come_to(&place, 1, MOST - FEW);
    come_to(&place, 0, FEW);
    die(&place, 0, MOST - FEW);
    for (uint32_t i = 0; i < 1500; i++) {
        for (uint32_t k = 0; k < EACH; k++)
            die(&place, bp_random_below(&place.random, place.living_count), 1);
        come_to(&place, 0, EACH);
        step(&place, 1);
    }
    EXPECT(entities_of(&place)->bound <= 40 * ENTITIES_PAGE, "%u indices for %u that live", entities_of(&place)->bound,
           place.living_count);
    expect_who_lives(&place);
    close(&place);
}
END_TEST

START_TEST(crowds_of_worlds_use_the_same_indices_again)
{
    enum { CROWD = 30000, STAY = 50 };
    uint32_t bound = 0;
    open(&place, WORLDS);
    for (uint32_t round = 0; round < 20; round++) {
        uint32_t first = place.living_count;
        come_to(&place, round % WORLDS, CROWD);
        come_to(&place, (round + 1) % WORLDS, STAY);
        die(&place, first, CROWD);
        step(&place, 100);
        if (round == 5)
            bound = entities_of(&place)->bound;
    }
    EXPECT(entities_of(&place)->bound <= bound + 20 * STAY + 8 * ENTITIES_PAGE, "%u indices after %u",
           entities_of(&place)->bound, bound);
    close(&place);
}
END_TEST

/* An entity at the end holds the bound; pages that a world's dead have left serve another world, whose entities would
 * else lie behind it. */
START_TEST(pages_that_left_a_world_serve_another_one)
{
    enum { CROWD = 60000, OTHERS = 40000 };
    open(&place, WORLDS);
    come_to(&place, 0, CROWD);
    come_to(&place, 1, 10);
    die(&place, 0, CROWD);
    step(&place, 100);
    uint32_t bound = entities_of(&place)->bound;
    ck_assert_uint_gt(bound, CROWD);
    come_to(&place, 2, OTHERS);
    ck_assert_uint_eq(entities_of(&place)->bound, bound);
    for (uint32_t i = 10; i < 10 + OTHERS; i++)
        EXPECT(entities_owner(entities_of(&place), bp_entity_index(place.living[i])) == &place.worlds[2]->rows.ids,
               "entity %u lies in a page of another world", i);
    expect_who_lives(&place);
    close(&place);
}
END_TEST

/* Park all indices that wait in the queue, as steps would. */
static void park_all(entities_t *e)
{
    for (; e->queue_count > 0; e->queue_count--) {
        uint32_t index = e->queue[e->queue_head];
        e->queue_head = e->queue_head + 1 == e->queue_size ? 0 : e->queue_head + 1;
        e->lives[index] ^= ENTITIES_PARKED;
        e->parked[index / ENTITIES_PAGE]++;
        e->parked_count++;
        e->parked_common++;
    }
    e->parked_from = 0;
    entities_settle(e);
}

/* A page that is parked as a whole, and is the only one, is enough for a world that needs a page; one that lacks a
 * single index is not. */
START_TEST(a_world_takes_the_only_page_that_is_parked_as_a_whole)
{
    enum { PAGES = 4 };
    for (uint32_t lacking = 0; lacking < 2; lacking++) {
        open(&place, WORLDS);
        entities_t *e = entities_of(&place);
        come_to(&place, WORLDS, PAGES * ENTITIES_PAGE);
        ck_assert_uint_eq(bp_entity_index(place.living[0]), 0);
        die(&place, 2 * ENTITIES_PAGE, ENTITIES_PAGE - lacking);
        park_all(e);
        check_host(place.rig.host);
        uint32_t bound = e->bound;
        entity_pool_t *pool = &place.worlds[1]->rows.ids;
        ck_assert_int_eq(parking_bring_pool(e, pool), lacking == 0);
        ck_assert_uint_eq(pool->pages, lacking == 0 ? 1 : 0);
        ck_assert_uint_eq(e->bound, bound);
        check_host(place.rig.host);
        come_to(&place, 1, 10);
        for (uint32_t i = place.living_count - 10; i < place.living_count; i++)
            ck_assert_int_eq(bp_entity_index(place.living[i]) / ENTITIES_PAGE == 2, lacking == 0);
        expect_who_lives(&place);
        close(&place);
    }
}
END_TEST

/* Pages that came to a world from others count as its own: the indices of its dead are parked. */
START_TEST(a_world_whose_pages_all_came_from_others_keeps_few_free_indices)
{
    enum { PAGES = 6, CROWD = PAGES * ENTITIES_PAGE - ENTITIES_POOL_MIN_FREE - 8 };
    open(&place, WORLDS);
    entities_t *e = entities_of(&place);
    come_to(&place, WORLDS, PAGES * ENTITIES_PAGE);
    die(&place, 0, PAGES * ENTITIES_PAGE);
    park_all(e);
    come_to(&place, 1, CROWD);
    const entity_pool_t *pool = &place.worlds[1]->rows.ids;
    ck_assert_uint_eq(pool->pages, PAGES);
    ck_assert_uint_eq(e->bound, PAGES * ENTITIES_PAGE);
    ck_assert_uint_eq(e->parked_count, 0);
    die(&place, 0, CROWD);
    ck_assert_uint_gt(pool->count, PARKING_POOL_KEPT);
    step(&place, 100);
    EXPECT(pool->count <= PARKING_POOL_KEPT, "%u indices wait for a world of nobody", pool->count);
    check_host(place.rig.host);
    close(&place);
}
END_TEST

/* When indices of a world are brought back fewer fresh ones can be given out before the queue needs memory. */
START_TEST(indices_that_a_world_brings_back_leave_room_for_fewer_fresh_ones)
{
    enum { PARKED = 500, FRESH = 2 };
    open(&place, WORLDS);
    entities_t *e = entities_of(&place);
    entity_pool_t *pool = &place.worlds[0]->rows.ids;
    come_to(&place, 0, 600);
    die(&place, 0, 600);
    uint32_t first = pool->head;
    for (uint32_t i = 0; i < PARKED; i++) {
        uint32_t index = entities_pool_take(e, pool);
        ck_assert_uint_eq(index / ENTITIES_PAGE, first / ENTITIES_PAGE);
        e->lives[index] ^= ENTITIES_PARKED;
        e->parked[index / ENTITIES_PAGE]++;
        e->parked_count++;
        pool->parked++;
    }
    ck_assert(entities_grow(e, e->bound + 2 * PARKED, 0));
    ck_assert(entities_move_queue(e, e->bound + FRESH, e->queue_count + FRESH));
    entities_settle(e);
    ck_assert_uint_eq(e->capacity, e->bound + FRESH + PARKED);
    check_host(place.rig.host);
    ck_assert(parking_bring_pool(e, pool));
    ck_assert_uint_eq(e->parked_count, 0);
    ck_assert_uint_eq(e->capacity, e->bound + FRESH);
    check_host(place.rig.host);
    close(&place);
}
END_TEST

/* So many that a step takes no longer where there are many. */
START_TEST(a_step_gives_up_64_pages_and_one_in_32)
{
    enum { CROWD = 190000 };
    open(&place, 1);
    entities_t *e = entities_of(&place);
    come_to(&place, 1, CROWD);
    die(&place, 0, CROWD);
    uint32_t most = 0;
    for (uint32_t i = 0; i < STEPS && e->bound > 0; i++) {
        uint32_t pages = e->bound / ENTITIES_PAGE + (e->bound % ENTITIES_PAGE != 0);
        step(&place, 1);
        uint32_t given = pages - e->bound / ENTITIES_PAGE, allowed = 64 + pages / 32;
        ck_assert_uint_le(given, allowed);
        most = given > most && given == allowed ? given : most;
    }
    ck_assert_uint_gt(most, 64);
    close(&place);
}
END_TEST

/* What is given back in a step is bounded, as is what the queue takes when indices come back into it. */
START_TEST(memory_of_very_many_is_given_back_in_portions)
{
    enum { MANY = 900000, BACK = 12000 };
    rig_t rig;
    bp_entity_t *all = calloc(MANY, sizeof *all);
    rig_init(&rig);
    rig_open(&rig);
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    const entities_t *e = &rig.host->entities;
    WORKS(rig.host, rig.api->entity->create(rig.host, all, MANY));
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, all, MANY - 1), MANY - 1); /* the last one holds the bound */
    for (uint32_t i = 0; i < STEPS; i++)
        WORKS(rig.host, bp_world_step(world));
    ck_assert(e->bound == MANY && e->parked_count > MANY - 2 * PARKING_KEPT && e->queue_room < MANY / 10);
    WORKS(rig.host, rig.api->entity->create(rig.host, all, BACK));
    uint32_t used = e->bound - e->parked_count;
    EXPECT(used > BACK && e->queue_room <= 2 * used, "%u places for %u indices", e->queue_room, used);
    check_host(rig.host);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, all, BACK), BACK);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, all + MANY - 1, 1), 1);
    uint32_t portions = 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        uint32_t room = e->room, most = room / PARKING_TRIM_SHARE + PARKING_TRIM;
        WORKS(rig.host, bp_world_step(world));
        EXPECT(e->room <= room && room - e->room <= most, "step %u: %u indices after %u", i, e->room, room);
        portions += room - e->room == most;
    }
    ck_assert_uint_gt(portions, 0);
    EXPECT(e->room < MANY / 20, "room for %u indices is left for %u", e->room, e->bound);
    check_host(rig.host);
    rig_close(&rig);
    free(all);
}
END_TEST

/* The ring that a batch has made wide takes fresh memory after a while, where blocks are pages of the system's. */
START_TEST(a_queue_that_was_long_once_moves_into_fresh_memory)
{
    rig_t rig;
    bp_entity_t *all = calloc(MOST, sizeof *all);
    rig_init(&rig);
    rig.desc.allocator = NULL;
    rig_open(&rig);
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    const entities_t *e = &rig.host->entities;
    for (uint32_t turn = 0; turn < 2; turn++) {
        WORKS(rig.host, rig.api->entity->create(rig.host, all, MOST));
        if (turn == 0)
            ck_assert_uint_eq(rig.api->entity->destroy(rig.host, all, MOST), MOST);
    }
    ck_assert_uint_gt(e->queue_widest, MOST / 2);
    for (uint32_t i = 0; i < 2 * PARKING_CALM; i++)
        WORKS(rig.host, bp_world_step(world));
    EXPECT(e->queue_widest <= PARKING_WIDE, "%u places of the queue in use for %u", e->queue_widest, e->queue_count);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, all, MOST), MOST); /* still without memory */
    check_host(rig.host);
    rig_close(&rig);
    free(all);
}
END_TEST

/* Every request of a creation is refused once: it is made as a whole, or not at all, and goes on where it may. */
START_TEST(without_memory_indices_are_brought_back_later)
{
    enum { CROWD = 100000 };
    uint32_t refused = 0;
    open(&place, WORLDS);
    for (uint32_t turn = 0; turn < 12; turn++) {
        heap_t *heap = &place.rig.heap;
        uint32_t by = turn % (WORLDS + 1), living = place.living_count;
        come_to(&place, by, CROWD);
        die(&place, living, CROWD);
        heap->refuse_first = turn % 2 == 0 ? 0 : heap->requests + 1;
        heap->refuse_last = turn % 2 == 0 ? 0 : UINT64_MAX;
        step(&place, 200);
        heap->refuse_first = heap->refuse_last = 0;
        check_host(place.rig.host);
        for (uint32_t k = 1; k < 12; k++) {
            bp_entity_t *made = place.living + living;
            heap->refuse_first = heap->refuse_last = heap->requests + k;
            bp_result_t result = by < WORLDS ? place.rig.api->world->create(place.worlds[by], 0, made, CROWD / 2)
                                             : place.rig.api->entity->create(place.rig.host, made, CROWD / 2);
            heap->refuse_first = heap->refuse_last = 0;
            check_host(place.rig.host);
            if (result == BP_OK) {
                note(&place, made, CROWD / 2);
                place.living_count += CROWD / 2;
                break;
            }
            ck_assert_int_eq(result, BP_ERROR_MEMORY);
            refused++;
        }
        expect_who_lives(&place);
        die(&place, living, place.living_count - living);
        come_to(&place, by, 10);
    }
    ck_assert_uint_gt(refused, 0);
    close(&place);
}
END_TEST

/* --- going back --------------------------------------------------------------------------------------------------- */

/* The same waves from the same moment on; returns what came of them. */
static uint64_t waves(place_t *p)
{
    seen_t seen = {0};
    for (uint32_t i = 0; i < 8; i++)
        wave(p, &seen);
    return p->ids;
}

/* What a place knew at a moment, in a host that has gone back to it. */
static void remember(place_t *p, const place_t *then)
{
    rig_t rig = p->rig;
    bp_world_o *worlds[WORLDS];
    memcpy(worlds, p->worlds, sizeof worlds);
    *p = *then;
    p->rig = rig;
    memcpy(p->worlds, worlds, sizeof worlds);
}

/* From a moment at which indices are parked and pages given up: in the same host, where more or less is parked by then,
 * and in another one. */
START_TEST(the_same_ids_come_after_the_host_has_gone_back)
{
    place_t *const before = room_of(sizeof *before), *const other = room_of(sizeof *other);
    bp_snapshot_o *taken, *read;
    seen_t seen = {0};
    uint32_t worlds = _i % 2 == 0 ? 1 : WORLDS;
    open(&place, worlds);
    place.random = 7 + (uint64_t)_i;
    for (uint32_t round = 0; round < 5; round++)
        wave(&place, &seen);
    die(&place, 0, place.living_count - place.living_count / 4);
    step(&place, 5);
    const entities_t *e = entities_of(&place);
    while (e->parked_count < 3000 || (uint64_t)e->reached * ENTITIES_PAGE < e->bound + 3 * ENTITIES_PAGE) {
        wave(&place, &seen);
        step(&place, 10);
    }
    WORKS(place.rig.host, bp_host_snapshot(place.rig.host, &taken));
    *before = place;
    uint64_t ids = waves(&place);
    for (uint32_t turn = 0; turn < 2; turn++) {
        WORKS(place.rig.host, bp_host_bring_back(place.rig.host, taken));
        check_host(place.rig.host);
        remember(&place, before);
        ck_assert_uint_eq(waves(&place), ids);
        if (turn == 0)
            come_to(&place, 0, MOST - place.living_count); /* more indices than ever */
    }
    size_t size;
    const void *bytes = bp_snapshot_bytes(taken, &size);
    open(other, worlds);
    come_to(other, worlds, 90000);
    WORKS(other->rig.host, bp_snapshot_read(other->rig.host, bytes, size, &read));
    WORKS(other->rig.host, bp_host_bring_back(other->rig.host, read));
    check_host(other->rig.host);
    remember(other, before);
    ck_assert_uint_eq(waves(other), ids);
    bp_snapshot_free(taken);
    bp_snapshot_free(read);
    close(other);
    close(&place);
}
END_TEST

static void expect_to_be_told(place_t *p, uint64_t ids, uint32_t count)
{
    told = told_count = 0;
    step(p, 1);
    ck_assert_uint_eq(told_count, count);
    EXPECT(told == ids, "it was told of others");
    check_host(p->rig.host);
}

static void open_with_mourner(place_t *p)
{
    open(p, 1);
    WORKS(p->rig.host, bp_host_load_plugin(p->rig.host, "mourning", NULL, 0));
    WORKS(p->rig.host, bp_world_use_system(p->worlds[0], "mourner"));
    step(p, 1);
}

/* What systems are to be told is about entities that there have been. `dead` are two that lie one behind the other,
 * with indices below `reached`. */
static void expect_strangers_refused(const char *bytes, size_t size, const bp_entity_t dead[2], uint32_t reached)
{
    const bp_entity_t strangers[] = {
        {0}, {dead[0].id - bp_entity_index(dead[0]) + reached}, {dead[0].id | UINT32_MAX}};
    bp_snapshot_o *read;
    size_t at = 0;
    while (memcmp(bytes + at, dead, 2 * sizeof *dead) != 0)
        at += sizeof(uint32_t);
    char *copy = malloc(size);
    memcpy(copy, bytes, size);
    for (uint32_t i = 0; i < COUNT(strangers); i++) {
        memcpy(copy + at, &strangers[i], sizeof *strangers);
        EXPECT(bp_snapshot_read(place.rig.host, copy, size, &read) == BP_ERROR_SYNTAX, "stranger %u is believed", i);
    }
    const bp_entity_t last = {strangers[1].id - 1};
    memcpy(copy + at, &last, sizeof last);
    WORKS(place.rig.host, bp_snapshot_read(place.rig.host, copy, size, &read));
    bp_snapshot_free(read);
    free(copy);
}

/* Pages of indices may be given up in the very step at whose end the entities die: a system is told of them in the next
 * one, in a host that has gone back too, and in another one that never had so many indices. */
START_TEST(deaths_are_told_after_going_back_though_their_indices_have_been_given_up)
{
    enum { CROWD = 20000 };
    bp_snapshot_o *taken, *read;
    open_with_mourner(&place);
    come_to(&place, 0, CROWD + 1);
    step(&place, 1);
    bp_host_o *host = place.rig.host;
    const entities_t *e = entities_of(&place);
    uint64_t ids = 0;
    doomed = place.living + 1;
    doomed_count = CROWD;
    for (uint32_t i = 0; i < CROWD; i++)
        ids += doomed[i].id;
    step(&place, 1);
    const bp_entity_t dead[] = {place.living[CROWD], place.living[CROWD - 1]};
    ck_assert_uint_eq(e->living, 1);
    ck_assert_uint_lt(e->bound, bp_entity_index(dead[0]) / ENTITIES_PAGE * ENTITIES_PAGE);
    if (_i == 1) { /* one entity changes twice: each one that is written down is found by its place then */
        uint32_t key = key_of(place.worlds[0], "mark", "");
        WORKS(host, place.rig.api->world->remove(place.worlds[0], key, place.living, 1));
        WORKS(host, place.rig.api->world->add(place.worlds[0], key, place.living, 1));
    }
    ck_assert_uint_eq(world_of(place.worlds[0])->notices->indexed, _i == 1);
    WORKS(host, bp_host_snapshot(host, &taken));
    expect_to_be_told(&place, ids, CROWD);
    WORKS(host, bp_host_bring_back(host, taken));
    expect_to_be_told(&place, ids, CROWD);
    place_t *const other = room_of(sizeof *other);
    size_t size;
    const char *bytes = bp_snapshot_bytes(taken, &size);
    expect_strangers_refused(bytes, size, dead, e->reached * ENTITIES_PAGE);
    open_with_mourner(other);
    WORKS(other->rig.host, bp_snapshot_read(other->rig.host, bytes, size, &read));
    WORKS(other->rig.host, bp_host_bring_back(other->rig.host, read));
    expect_to_be_told(other, ids, CROWD);
    bp_snapshot_free(taken);
    bp_snapshot_free(read);
    close(other);
    close(&place);
}
END_TEST

/* --- who is told of crowds ---------------------------------------------------------------------------------------- */

static void expect_known(place_t *p, uint32_t key)
{
    static uint8_t has[MOST];
    uint32_t count = p->rig.api->world->has(p->worlds[0], key, p->living, p->living_count, has), seen = 0;
    for (uint32_t i = 0; i < p->living_count; i++) {
        bp_entity_t e = known[bp_entity_index(p->living[i])];
        EXPECT(has[i] == (e.id == p->living[i].id), "entity %u %s", i, has[i] ? "is not known" : "is known");
    }
    for (uint32_t i = 0; i < INDICES; i++)
        seen += known[i].id != 0;
    ck_assert_uint_eq(seen, count);
}

/* A part of the living gets or loses the mark, some of them twice. */
static void change_marks(place_t *p, uint32_t key)
{
    static uint8_t *has;
    static bp_entity_t *lose, *get;
    if (has == NULL) {
        has = room_of(MOST * sizeof *has);
        lose = room_of(MOST * sizeof *lose);
        get = room_of(MOST * sizeof *get);
    }
    const bp_world_api *api = p->rig.api->world;
    uint32_t count = bp_random_below(&p->random, p->living_count / 2 + 1), lost = 0, got = 0;
    if (count > 3000 && bp_random_below(&p->random, 3) > 0)
        count = 1 + bp_random_below(&p->random, 20);
    uint32_t first = bp_random_below(&p->random, p->living_count - count + 1);
    api->has(p->worlds[0], key, p->living + first, count, has);
    for (uint32_t i = 0; i < count; i++) {
        if (has[i])
            lose[lost++] = p->living[first + i];
        else
            get[got++] = p->living[first + i];
    }
    WORKS(p->rig.host, api->remove(p->worlds[0], key, lose, lost));
    WORKS(p->rig.host, api->add(p->worlds[0], key, get, got));
    if (bp_random_below(&p->random, 2) == 0)
        WORKS(p->rig.host, api->add(p->worlds[0], key, lose, lost / 2));
}

START_TEST(systems_are_told_exactly_of_crowds_that_come_and_go)
{
    place_t *const then = room_of(sizeof *then);
    bp_entity_t *const known_then = room_of(known_size), *const victims = room_of(MOST * sizeof *victims);
    bp_snapshot_o *taken = NULL;
    open(&place, _i % 2 == 0 ? 1 : WORLDS);
    bp_host_o *host = place.rig.host;
    know_nobody();
    place.random = 1000 + (uint64_t)_i;
    uint64_t *random = &place.random, more = 77 + (uint64_t)_i;
    WORKS(host, bp_host_load_plugin(host, "mourning", NULL, 0));
    WORKS(host, bp_world_use_system(place.worlds[0], "mourner"));
    WORKS(host, bp_world_use_system(place.worlds[0], "keeper"));
    step(&place, 1);
    uint32_t key = key_of(place.worlds[0], "mark", "");
    for (uint32_t round = 0; round < 60; round++) {
        uint32_t what = bp_random_below(random, 8);
        if (what < 2 && place.living_count < 40000)
            come(&place, 1 + bp_random_below(random, what == 0 ? 30 : 15000));
        else if (what == 2)
            shuffle(&place);
        else if (what < 5)
            change_marks(&place, key);
        else if (what == 5)
            die(&place, 0, bp_random_below(random, place.living_count + 1));
        else if (what == 6) { /* in the step */
            doomed_count = bp_random_below(random, place.living_count + 1);
            place.living_count -= doomed_count;
            memcpy(victims, place.living + place.living_count, doomed_count * sizeof *victims);
            doomed = victims;
        }
        for (uint32_t s = bp_random_below(random, what == 5 ? 60 : 4); s > 0; s--)
            step(&place, 1);
        if (doomed_count > 0)
            step(&place, 1);
        check_host(host);
        if (bp_random_below(&more, 6) == 0) {
            bp_snapshot_free(taken);
            WORKS(host, bp_host_snapshot(host, &taken));
            memcpy(known_then, known, known_size);
            *then = place;
        } else if (taken != NULL && bp_random_below(&more, 6) == 0) {
            WORKS(host, bp_host_bring_back(host, taken));
            memcpy(known, known_then, known_size);
            rig_t rig = place.rig;
            place = *then;
            place.rig = rig;
            place.random = more;
            check_host(host);
        }
        if (bp_random_below(random, 2) == 0) {
            step(&place, 1);
            expect_known(&place, key);
        }
    }
    bp_snapshot_free(taken);
    close(&place);
}
END_TEST

/* Numbers about parked indices and pages that were given up contradict the others when one of their bits is another. */
/* Nor does a world keep room for notices about many that have died. */
START_TEST(room_for_notices_about_crowds_is_given_back)
{
    enum { CROWD = 100000, CALM = 150 };
    static bp_entity_t crowd[CROWD];
    open(&place, 1);
    bp_world_o *world = place.worlds[0];
    WORKS(place.rig.host, bp_host_load_plugin(place.rig.host, "mourning", NULL, 0));
    know_nobody();
    WORKS(place.rig.host, bp_world_use_system(world, "keeper"));
    const bp_world_api *api = place.rig.api->world;
    uint32_t prototype = prototype_of(world, "mark", NULL, NULL, NULL);
    for (uint32_t turn = 0; turn < 2; turn++) {
        WORKS(place.rig.host, api->create(world, prototype, crowd, CROWD));
        step(&place, CALM);
        const notices_t *n = world->rows.notices;
        ck_assert(n != NULL && n->entity_capacity >= CROWD);
        ck_assert_ptr_eq(n->memory.parent, &world->rows.memory);
        check_host(place.rig.host);
        place.rig.api->entity->destroy(place.rig.host, crowd, CROWD);
        step(&place, CALM);
        EXPECT(memory_bytes(&n->memory) < 4 * CROWD, "%zu bytes for nobody", memory_bytes(&n->memory));
        check_host(place.rig.host);
    }
    close(&place);
}
END_TEST

START_TEST(a_snapshot_that_contradicts_itself_about_parked_indices_is_refused)
{
    bp_snapshot_o *taken, *read;
    open(&place, 1);
    come_to(&place, 1, 60000);
    die(&place, 5000, 55000);
    do
        step(&place, 1);
    while (place.rig.host->entities.reached * ENTITIES_PAGE <= place.rig.host->entities.bound);
    const entities_t *e = entities_of(&place);
    WORKS(place.rig.host, bp_host_snapshot(place.rig.host, &taken));
    size_t size, at = 0;
    const char *bytes = bp_snapshot_bytes(taken, &size);
    uint32_t wanted[] = {e->parked_count, e->reached, e->reached - e->bound / ENTITIES_PAGE};
    while (memcmp(bytes + at, wanted, sizeof wanted) != 0)
        at += sizeof(uint32_t);
    char *copy = malloc(size);
    for (uint32_t bit = 0; bit < 3 * 32; bit++) {
        memcpy(copy, bytes, size);
        copy[at + bit / 8] ^= (char)(1 << bit % 8);
        EXPECT(bp_snapshot_read(place.rig.host, copy, size, &read) == BP_ERROR_SYNTAX, "bit %u is believed", bit);
    }
    uint32_t odd = 3, parked;
    memcpy(copy, bytes, size);
    memcpy(copy + at + 12, &odd, sizeof odd);
    EXPECT(bp_snapshot_read(place.rig.host, copy, size, &read) == BP_ERROR_SYNTAX, "a floor is odd");
    memcpy(copy, bytes, size);
    memcpy(&parked, copy + at, sizeof parked);
    ck_assert_uint_eq(parked, e->parked_count);
    uint32_t queued;
    memcpy(&queued, copy + at - sizeof queued, sizeof queued);
    /* An index that waits is parked, too. */
    copy[at - (e->queue_count + e->bound - queued) * sizeof queued + 3] ^= (char)0x80;
    parked++;
    memcpy(copy + at, &parked, sizeof parked);
    EXPECT(bp_snapshot_read(place.rig.host, copy, size, &read) == BP_ERROR_SYNTAX, "an index waits and is parked");
    free(copy);
    bp_snapshot_free(taken);
    close(&place);
}
END_TEST

Suite *parking_suite(void)
{
    Suite *suite = suite_create("parking");
    TCase *ids = add_case(suite, "ids", NULL, NULL, 120);
    tcase_add_loop_test(ids, no_id_comes_twice_when_indices_are_parked_and_pages_given_up, 0, 3);
    tcase_add_test(ids, pages_that_come_back_have_lives_left_that_were_never_given_out);
    tcase_add_test(ids, a_page_with_an_index_that_is_used_up_stays);
    TCase *memory = add_case(suite, "memory", NULL, NULL, 120);
    tcase_add_loop_test(memory, memory_of_the_indices_of_the_dead_is_given_back, 0, 2);
    tcase_add_test(memory, the_queue_is_given_back_where_a_few_live_on_anywhere);
    tcase_add_loop_test(memory, high_indices_die_out, 0, 2);
    tcase_add_test(memory, a_world_takes_low_pages_in_place_of_its_high_ones);
    tcase_add_test(memory, crowds_of_worlds_use_the_same_indices_again);
    tcase_add_test(memory, pages_that_left_a_world_serve_another_one);
    tcase_add_test(memory, a_world_takes_the_only_page_that_is_parked_as_a_whole);
    tcase_add_test(memory, a_world_whose_pages_all_came_from_others_keeps_few_free_indices);
    tcase_add_test(memory, indices_that_a_world_brings_back_leave_room_for_fewer_fresh_ones);
    tcase_add_test(memory, a_step_gives_up_64_pages_and_one_in_32);
    tcase_add_test(memory, memory_of_very_many_is_given_back_in_portions);
    tcase_add_test(memory, a_queue_that_was_long_once_moves_into_fresh_memory);
    tcase_add_test(memory, without_memory_indices_are_brought_back_later);
    TCase *back = add_case(suite, "back", NULL, NULL, 120);
    tcase_add_loop_test(back, the_same_ids_come_after_the_host_has_gone_back, 0, 4);
    tcase_add_loop_test(back, deaths_are_told_after_going_back_though_their_indices_have_been_given_up, 0, 2);
    tcase_add_loop_test(back, systems_are_told_exactly_of_crowds_that_come_and_go, 62, 66);
    tcase_add_test(back, room_for_notices_about_crowds_is_given_back);
    tcase_add_test(back, a_snapshot_that_contradicts_itself_about_parked_indices_is_refused);
    return suite;
}
