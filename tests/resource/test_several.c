/* test_several.c - worlds of one file: who lives in two of them is one entity again.
 *
 * The worlds have the components of zoo.h; `label` refers to entities (home), so that it shows who is who across
 * worlds.
 */
#include "../suites.h"
#include "../unit/inspect.h"
#include "../unit/support.h"
#include "../unit/zoo.h"
#include "stage.h"

#include "base/strings.h"
#include "engine/host.h"
#include "scene/several.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char path[512];

typedef struct two_t {
    rig_t rig;
    bp_host_o *host;
    bp_world_o *game, *bag;
} two_t;

static void open_two(two_t *two)
{
    rig_open_zoo(&two->rig);
    two->host = two->rig.host;
    two->game = rig_world(&two->rig, "game");
    two->bag = rig_world(&two->rig, "bag");
    snprintf(path, sizeof path, "%s", scratch_file("several.bpe", "nothing yet"));
}

static void put_into(two_t *two, bp_world_o *world, const char *type, const bp_entity_t *entities, uint32_t count)
{
    WORKS(two->host, two->rig.api->world->add(world, key_of(world, type, ""), entities, count));
}

static void set_text(two_t *two, bp_world_o *world, bp_entity_t e, const char *text, bp_entity_t home)
{
    WORKS(two->host, two->rig.api->property->set_named(world, e, "label", "text", BP_STRING, &text));
    WORKS(two->host, two->rig.api->property->set_named(world, e, "label", "home", BP_ENTITY, &home));
}

/* Four in the game, all with a body; the first two are in the bag too, with labels, and one more that is only there.
 * Each label's home is the next one of the game. */
static void fill(two_t *two)
{
    bp_entity_t e[4], alone;
    WORKS(two->host, two->rig.api->entity->create(two->host, e, 4));
    WORKS(two->host, two->rig.api->entity->create(two->host, &alone, 1));
    put_into(two, two->game, "body", e, 4);
    put_into(two, two->bag, "label", e, 2);
    put_into(two, two->bag, "label", &alone, 1);
    for (uint32_t i = 0; i < 4; i++) {
        float mass = (float)(i + 1);
        WORKS(two->host, two->rig.api->property->set_named(two->game, e[i], "body", "mass", BP_F32, &mass));
    }
    set_text(two, two->bag, e[0], "first", e[1]);
    set_text(two, two->bag, e[1], "second", e[2]);
    set_text(two, two->bag, alone, "alone", e[0]);
}

/* The entities of a world, in no particular order. */
static uint32_t list(bp_world_o *world, bp_entity_t *entities, uint32_t room)
{
    EXPECT(world->rows.occupied <= room, "%u entities in world %s", world->rows.occupied, world->rows.name);
    return host_list_entities(&world->rows, entities);
}

/* The worlds have the entities that `fill` has made, and no others. */
static void expect_filled(two_t *two)
{
    bp_entity_t e[8], home;
    const char *text;
    float mass;
    ck_assert_uint_eq(list(two->game, e, 8), 4);
    uint32_t count = list(two->bag, e, 8);
    ck_assert_uint_eq(count, 3);
    ck_assert_uint_eq(two->rig.api->entity->count(two->host), 5);
    for (uint32_t i = 0; i < count; i++) {
        WORKS(two->host, two->rig.api->property->get_named(two->bag, e[i], "label", "text", BP_STRING, &text));
        WORKS(two->host, two->rig.api->property->get_named(two->bag, e[i], "label", "home", BP_ENTITY, &home));
        WORKS(two->host, two->rig.api->property->get_named(two->game, home, "body", "mass", BP_F32, &mass));
        float expected = strcmp(text, "alone") == 0 ? 1 : strcmp(text, "first") == 0 ? 2 : 3;
        EXPECT(mass == expected, "the home of '%s' has mass %g", text, (double)mass);
        if (strcmp(text, "alone") == 0)
            continue;
        WORKS(two->host, two->rig.api->property->get_named(two->game, e[i], "body", "mass", BP_F32, &mass));
        EXPECT(mass == expected - 1, "'%s' has mass %g in the game", text, (double)mass);
    }
    check_host(two->host);
}

START_TEST(who_lives_in_two_worlds_is_one_entity_after_both_come_back)
{
    two_t two;
    open_two(&two);
    fill(&two);
    expect_filled(&two);
    bp_world_o *worlds[] = {two.bag, two.game};
    WORKS(two.host, bp_host_save_worlds(two.host, _i == 0 ? NULL : worlds, 2, path));
    for (uint32_t i = 0; i < 3; i++) { /* over what is there, again and again: no entity is left over */
        WORKS(two.host, bp_host_restore_worlds(two.host, i == 1 ? NULL : worlds, 2, path, 0));
        expect_filled(&two);
        WORKS(two.host, bp_host_step(two.host));
    }
    rig_close(&two.rig);
    two_t other;
    rig_open_zoo(&other.rig);
    other.host = other.rig.host;
    other.game = rig_world(&other.rig, "game");
    other.bag = rig_world(&other.rig, "bag");
    WORKS(other.host, bp_host_restore_worlds(other.host, NULL, 0, path, 0));
    expect_filled(&other);
    rig_close(&other.rig);
}
END_TEST

START_TEST(clocks_and_the_entities_of_worlds_that_are_not_named_stay)
{
    two_t two;
    bp_entity_t kept;
    bp_world_stats_t stats;
    open_two(&two);
    fill(&two);
    bp_world_o *third = rig_world(&two.rig, "third");
    WORKS(two.host, bp_world_step(two.game));
    WORKS(two.host, bp_host_save_worlds(two.host, NULL, 0, path));
    kept = entity_with(third, "body");
    put_into(&two, two.game, "body", &kept, 1);
    WORKS(two.host, bp_host_step(two.host));
    bp_world_o *worlds[] = {two.game, two.bag};
    WORKS(two.host, bp_host_restore_worlds(two.host, worlds, 2, path, 0));
    bp_world_stats(two.game, &stats);
    ck_assert_uint_eq(stats.steps, 1);
    bp_world_stats(third, &stats);
    ck_assert_uint_eq(stats.steps, 1);
    ck_assert_uint_eq(stats.entities, 1);
    ck_assert_uint_eq(two.rig.api->entity->alive(two.host, &kept, 1, NULL), 1);
    ck_assert_uint_eq(two.game->rows.occupied, 4);
    rig_close(&two.rig);
}
END_TEST

START_TEST(what_cannot_come_back_is_refused_and_nothing_changes)
{
    two_t two;
    bp_scene_o *scene;
    open_two(&two);
    fill(&two);
    WORKS(two.host, bp_host_save_worlds(two.host, NULL, 0, path));
    bp_world_o *third = rig_world(&two.rig, "third");
    char *before = describe_host(two.host);
    bp_world_o *absent[] = {two.game, third}, *twice[] = {two.game, two.game};
    FAILS(two.host, BP_ERROR_NOT_FOUND, "it has no world 'third'",
          bp_host_restore_worlds(two.host, absent, 2, path, 0));
    FAILS(two.host, BP_ERROR_ARGUMENT, "world 'game' is named twice",
          bp_host_restore_worlds(two.host, twice, 2, path, 0));
    FAILS(two.host, BP_ERROR_IO, "no_such", bp_host_restore_worlds(two.host, NULL, 0, "no_such.bpe", 0));
    WORKS(two.host, bp_scene_open(two.host, path, &scene));
    FAILS(two.host, BP_ERROR_TYPE, "it names them itself", bp_scene_spawn(scene, two.game, 0, NULL, NULL));
    FAILS(two.host, BP_ERROR_NOT_FOUND, "it has no world 'third'", bp_scene_restore(scene, third, 0));
    bp_scene_close(scene);
    bp_world_destroy(third);
    free(before);
    before = describe_host(two.host);
    /* The second world lacks a component: the first is left as it is, rows of the dead too. */
    two_t other;
    rig_open_zoo(&other.rig);
    other.host = other.rig.host;
    other.game = rig_world(&other.rig, "game");
    other.bag = bp_world_create(other.host, &(bp_world_desc_t){.name = "bag"});
    bp_entity_t there = entity_with(other.game, "label"), dead = entity_with(other.game, "label");
    bp_entity_t last = entity_with(other.game, "label");
    ck_assert_uint_eq(other.rig.api->entity->destroy(other.host, &dead, 1), 1);
    uint64_t random = other.game->rows.random;
    FAILS(two.host, BP_ERROR_ARGUMENT, "world 'game' is another host's",
          bp_host_restore_worlds(two.host, (bp_world_o *[]){two.bag, other.game}, 2, path, 0));
    FAILS(two.host, BP_ERROR_ARGUMENT, "world 'game' is another host's",
          bp_host_save_worlds(two.host, (bp_world_o *[]){two.bag, other.game}, 2, path));
    FAILS(other.host, BP_ERROR_NOT_FOUND, "world bag", bp_host_restore_worlds(other.host, NULL, 0, path, 0));
    bp_world_stats_t stats;
    bp_world_stats(other.game, &stats);
    EXPECT(stats.holes == 1 && other.game->rows.random == random, "rows of the dead have been collected");
    ck_assert_uint_eq(other.game->rows.occupied, 2);
    ck_assert_uint_eq(other.rig.api->entity->count(other.host), 2);
    ck_assert_uint_eq(other.rig.api->entity->alive(other.host, (bp_entity_t[]){there, last}, 2, NULL), 2);
    /* What does not fit is left out where that is asked for, and told once though it is looked at twice. */
    WORKS(other.host, bp_host_restore_worlds(other.host, NULL, 0, path, BP_SCENE_SKIP));
    const char *told = strstr(other.rig.log.text, "world bag: label is left out");
    EXPECT(told != NULL && strstr(told + 15, "label is left out") == NULL, "told: %s", other.rig.log.text);
    memset(&other.rig.log.text, 0, sizeof other.rig.log.text);
    other.rig.log.count = 0;
    check_host(other.host);
    rig_close(&other.rig);
    expect_same(before, describe_host(two.host), "a refusal");
    rig_close(&two.rig);
}
END_TEST

/* A file with one byte changed, and with the checksum made right again: refused, or harmless. */
START_TEST(a_damaged_file_is_refused_or_harmless)
{
    two_t two;
    open_two(&two);
    fill(&two);
    WORKS(two.host, bp_host_save_worlds(two.host, NULL, 0, path));
    char *good = malloc(1 << 16);
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(good);
    ck_assert_ptr_nonnull(file);
    size_t size = fread(good, 1, 1 << 16, file);
    fclose(file);
    ck_assert_uint_gt(size, 1000);
    ck_assert_uint_lt(size, 1 << 16);
    unsigned char *bytes = malloc(size);
    uint32_t refused = 0;
    for (size_t at = 0; at < size; at += at < 400 ? 1 : 7) {
        for (uint32_t right = 0; right < 2; right++) {
            several_t several;
            memcpy(bytes, good, size);
            bytes[at] ^= (unsigned char)(1u << (at % 8));
            uint64_t sum = hash_bytes(bytes + sizeof(blob_head_t), size - sizeof(blob_head_t));
            if (right == 1)
                memcpy(bytes + offsetof(blob_head_t, checksum), &sum, sizeof sum);
            bp_result_t result = several_open(&several, bytes, size, "damaged", &two.host->base.error);
            refused += result != BP_OK;
            EXPECT(right == 1 || result != BP_OK, "byte %zu is changed, and nobody sees it", at);
            if (result != BP_OK)
                continue;
            scratch_bytes("several_damaged.bpe", bytes, size);
            bp_host_restore_worlds(two.host, NULL, 0, TEST_SCRATCH_DIR "/several_damaged.bpe", 0);
            check_host(two.host);
        }
    }
    for (size_t cut = 0; cut < size; cut += cut < 400 ? 1 : 61) {
        several_t several;
        ck_assert_int_ne(several_open(&several, good, cut, "cut", &two.host->base.error), BP_OK);
    }
    ck_assert_uint_gt(refused, 400);
    free(bytes);
    free(good);
    rig_close(&two.rig);
}
END_TEST

/* --- scenes that name their worlds -------------------------------------------------------------------------------- */

/* In the game a mother with a child, and three coins; in the bag the child, the coins with a label each, and a tag
 * whose home is the mother, who is not in the bag. */
static const char in_json[] =
    "{'prototypes': {'labelled': {'components': {'label': {}}}}, 'worlds': {"
    " 'game': {'entities': ["
    "  {'name': 'mother', 'components': {'body': {'mass': 1}}, 'children': ["
    "   {'name': 'child', 'components': {'body': {'mass': 2}}}]},"
    "  {'name': 'coin', 'count': 3, 'components': {'body': {'mass': [10, 20, 30]}}}]},"
    " 'bag': {'entities': ["
    "  {'entity': 'coin', 'extends': 'labelled', 'components': {'label': {'text': ['a', 'b', 'c'],"
    "   'home': ['child', 'coin[2]', 'coin[0]']}}},"
    "  {'entity': 'child', 'extends': 'labelled', 'components': {'label': {'text': 'd', 'home': 'child'}}},"
    "  {'name': 'tag', 'components': {'label': {'text': 'e', 'home': 'mother'}}}]}}}";

static bp_scene_o *compile_worlds(two_t *two, const char *quoted)
{
    bp_scene_o *scene = NULL;
    char *json = stage_json(quoted);
    WORKS(two->host, bp_scene_compile_text(two->host, "worlds", json, strlen(json), &scene));
    free(json);
    return scene;
}

/* What came of in_json: by its texts, who is who. */
static void expect_spawned(two_t *two, uint32_t times)
{
    static const float masses[] = {10, 20, 30, 2, 0}, homes[] = {2, 30, 10, 2, 1};
    bp_entity_t e[64], home;
    const char *text;
    float mass;
    ck_assert_uint_eq(list(two->game, e, 64), 5 * times);
    ck_assert_uint_eq(two->rig.api->entity->count(two->host), 6 * times);
    uint32_t count = list(two->bag, e, 64);
    ck_assert_uint_eq(count, 5 * times);
    for (uint32_t i = 0; i < count; i++) {
        WORKS(two->host, two->rig.api->property->get_named(two->bag, e[i], "label", "text", BP_STRING, &text));
        WORKS(two->host, two->rig.api->property->get_named(two->bag, e[i], "label", "home", BP_ENTITY, &home));
        uint32_t who = (uint32_t)(text[0] - 'a');
        WORKS(two->host, two->rig.api->property->get_named(two->game, home, "body", "mass", BP_F32, &mass));
        EXPECT(mass == homes[who], "the home of '%s' has mass %g", text, (double)mass);
        if (who == 4)
            continue; /* the tag is in the bag alone */
        WORKS(two->host, two->rig.api->property->get_named(two->game, e[i], "body", "mass", BP_F32, &mass));
        EXPECT(mass == masses[who], "'%s' has mass %g in the game", text, (double)mass);
    }
    check_host(two->host);
}

START_TEST(a_scene_names_its_worlds_and_puts_one_entity_into_several)
{
    two_t two;
    open_two(&two);
    bp_scene_o *scene = compile_worlds(&two, in_json), *again;
    bp_entity_t entities[6], listed[8];
    bp_spawn_t spawn;
    ck_assert_uint_eq(bp_scene_entity_count(scene), 6);
    ck_assert_uint_eq(bp_scene_component_count(scene), 10);
    ck_assert_str_eq(bp_scene_world(scene, 0), "game");
    ck_assert_str_eq(bp_scene_world(scene, 1), "bag");
    ck_assert_ptr_null(bp_scene_world(scene, 2));
    WORKS(two.host, bp_scene_spawn(scene, NULL, 0, entities, &spawn));
    expect_spawned(&two, 1);
    ck_assert_uint_eq(two.rig.api->entity->alive(two.host, entities, 6, NULL), 6);
    ck_assert_uint_eq(bp_host_spawned(two.host, spawn, listed, 8), 6);
    ck_assert_mem_eq(entities, listed, sizeof entities);
    WORKS(two.host, bp_scene_write(scene, path)); /* the compiled file is the same scene */
    WORKS(two.host, bp_scene_open(two.host, path, &again));
    WORKS(two.host, bp_scene_spawn(again, NULL, 0, NULL, NULL));
    expect_spawned(&two, 2);
    ck_assert_uint_eq(bp_host_despawn(two.host, spawn), 6);
    expect_spawned(&two, 1);
    WORKS(two.host, bp_host_save_worlds(two.host, NULL, 0, path)); /* so is what a save of the worlds writes */
    WORKS(two.host, bp_host_restore_worlds(two.host, NULL, 0, path, 0));
    expect_spawned(&two, 1);
    bp_scene_close(scene);
    bp_scene_close(again);
    rig_close(&two.rig);
}
END_TEST

/* All worlds of the host are more than a file that is read may hold. */
START_TEST(more_worlds_than_a_file_may_hold_are_not_saved)
{
    rig_t rig;
    char name[32];
    rig_open_zoo(&rig);
    const char *file = scratch_file("too_many.bpe", "nothing yet");
    for (uint32_t i = 0; i <= SEVERAL_MOST; i++) {
        snprintf(name, sizeof name, "w%u", i);
        ck_assert_ptr_nonnull(bp_world_create(rig.host, &(bp_world_desc_t){.name = name}));
    }
    FAILS(rig.host, BP_ERROR_LIMIT, "4097 worlds; a file holds at most 4096",
          bp_host_save_worlds(rig.host, NULL, 0, file));
    rig_close(&rig);
}
END_TEST

static void append_text(void *context, const char *text, size_t length)
{
    char *all = context;
    size_t used = strlen(all);
    ck_assert_uint_lt(used + length, 1 << 15);
    memcpy(all + used, text, length);
    all[used + length] = '\0';
}

START_TEST(what_is_shown_of_several_worlds_compiles_to_the_same_worlds)
{
    static char first[1 << 15], second[1 << 15], plain[1 << 15];
    two_t two;
    open_two(&two);
    bp_scene_o *scene = compile_worlds(&two, in_json), *again;
    first[0] = second[0] = plain[0] = '\0';
    bp_scene_dump(scene, BP_DUMP_JSON, &(bp_text_sink_i){.struct_size = sizeof(bp_text_sink_i), .context = first,
                                                         .write = append_text});
    WORKS(two.host, bp_scene_compile_text(two.host, "shown", first, strlen(first), &again));
    bp_scene_dump(again, BP_DUMP_JSON, &(bp_text_sink_i){.struct_size = sizeof(bp_text_sink_i), .context = second,
                                                         .write = append_text});
    WORKS(two.host, bp_scene_spawn(again, NULL, 0, NULL, NULL));
    expect_spawned(&two, 1);
    bp_scene_dump(again, 0, &(bp_text_sink_i){.struct_size = sizeof(bp_text_sink_i), .context = plain,
                                              .write = append_text});
    ck_assert_ptr_nonnull(strstr(plain, "2 worlds; 5 of the entities in several of them"));
    ck_assert_ptr_nonnull(strstr(plain, "entity 0, s0 of those in several worlds"));
    ck_assert_ptr_nonnull(strstr(first, "\"entity\": \"s"));
    bp_scene_close(scene);
    bp_scene_close(again);
    rig_close(&two.rig);
}
END_TEST

static const char in_three[] =
    "{'worlds': {"
    " 'game': {'entities': [{'name': 'one', 'components': {'body': {}, 'pool': {}}}, {'name': 'two'}]},"
    " 'bag': {'entities': [{'entity': 'one', 'components': {'label': {}, 'pool': {}}},"
    "  {'entity': 'two', 'components': {'pool': {'text': 'x'}}}, {'components': {'pool': {}, 'label': {}}}]}}}";

/* The last world's manager refuses when all entities and rows are there, some of them in worlds before. */
START_TEST(a_scene_whose_last_world_refuses_leaves_no_trace)
{
    two_t two;
    open_two(&two);
    bp_scene_o *scene = compile_worlds(&two, in_three);
    WORKS(two.host, bp_scene_spawn(scene, NULL, 0, NULL, NULL));
    ck_assert_uint_eq(two.rig.api->entity->count(two.host), 3);
    char *before = describe_host(two.host);
    bp_manager_t *pool = two.rig.api->world->manager(two.bag, two.rig.api->world->component(two.bag, "pool"));
    for (uint32_t i = 0; i < 3; i++) {
        ((stock_t *)pool->state)->refuse_creates = 1;
        FAILS(two.host, BP_ERROR_FAILED, "told to refuse", bp_scene_spawn(scene, NULL, 0, NULL, NULL));
        check_host(two.host);
    }
    expect_same(before, describe_host(two.host), "a refusal");
    ck_assert_uint_eq(two.rig.api->entity->count(two.host), 3);
    WORKS(two.host, bp_scene_spawn(scene, NULL, 0, NULL, NULL));
    ck_assert_uint_eq(two.rig.api->entity->count(two.host), 6);
    bp_scene_close(scene);
    rig_close(&two.rig);
}
END_TEST

/* Where a later world lacks a component not even a prototype is left in the first one: prototypes would have other
 * numbers from then on than in a host in which nothing was tried. */
START_TEST(a_scene_whose_last_world_lacks_a_component_makes_no_prototype)
{
    two_t two;
    open_two(&two);
    bp_scene_o *scene = compile_worlds(&two, "{'worlds': {'game': {'entities': [{'components': {'body': {}}}]},"
                                             " 'bag': {'entities': [{'components': {'label': {}}}]}}}");
    WORKS(two.host, bp_world_drop_component(two.bag, "label"));
    uint32_t before = two.game->rows.prototypes.count;
    FAILS(two.host, BP_ERROR_NOT_FOUND, "world 'bag' does not use it", bp_scene_spawn(scene, NULL, 0, NULL, NULL));
    ck_assert_uint_eq(two.game->rows.prototypes.count, before);
    bp_scene_close(scene);
    rig_close(&two.rig);
}
END_TEST

/* A file of the two worlds without entities: restoring it takes all entities away. */
static const char *empty_worlds(two_t *two)
{
    bp_scene_o *scene = compile_worlds(two, "{'worlds': {'game': {}, 'bag': {}}}");
    WORKS(two->host, bp_scene_write(scene, path));
    bp_scene_close(scene);
    return path;
}

START_TEST(every_allocation_may_fail)
{
    two_t two;
    open_two(&two);
    heap_t *heap = &two.rig.heap;
    char *json = stage_json(in_json);
    for (uint64_t nth = 1, done = 0; done == 0; nth++) {
        bp_scene_o *scene = NULL;
        uint64_t refused = heap->refused;
        heap->refuse_first = heap->requests + nth;
        heap->refuse_last = _i == 1 ? UINT64_MAX : heap->refuse_first;
        bp_result_t result = bp_scene_compile_text(two.host, "worlds", json, strlen(json), &scene);
        if (result == BP_OK)
            result = bp_scene_spawn(scene, NULL, 0, NULL, NULL);
        heap->refuse_first = 0;
        done = heap->refused == refused;
        EXPECT(result == BP_OK || result == BP_ERROR_MEMORY, "request %u: %d, %s", (unsigned)nth, result,
               bp_host_error(two.host));
        ck_assert_uint_eq(two.rig.api->entity->count(two.host), result == BP_OK ? 6 : 0);
        check_host(two.host);
        if (result == BP_OK)
            WORKS(two.host, bp_host_restore_worlds(two.host, NULL, 0, empty_worlds(&two), 0));
        bp_scene_close(scene);
        ck_assert_uint_lt(nth, 10000);
    }
    free(json);
    rig_close(&two.rig);
}
END_TEST

/* Someone who is in one world twice: no file of ours says so, and none that says so is taken. */
START_TEST(an_entity_that_is_in_a_world_twice_is_refused)
{
    static unsigned char bytes[1 << 14];
    two_t two;
    several_t several;
    size_t size;
    bp_scene_o *scene, *wrong;
    open_two(&two);
    scene = compile_worlds(&two, in_json);
    const void *good = bp_scene_bytes(scene, &size);
    ck_assert_uint_lt(size, sizeof bytes);
    unsigned char *aligned = bytes + (16 - (uintptr_t)bytes % 16) % 16;
    memcpy(aligned, good, size);
    WORKS(two.host, several_open(&several, aligned, size, "wrong", &two.host->base.error));
    uint32_t *numbers = (uint32_t *)(uintptr_t)several_part(&several, 1).shared;
    numbers[1] = numbers[0];
    uint64_t sum = hash_bytes(aligned + sizeof(blob_head_t), size - sizeof(blob_head_t));
    memcpy(aligned + offsetof(blob_head_t, checksum), &sum, sizeof sum);
    WORKS(two.host, bp_scene_open_memory(two.host, aligned, size, "wrong", &wrong));
    FAILS(two.host, BP_ERROR_SYNTAX, "an entity that is there twice", bp_scene_spawn(wrong, NULL, 0, NULL, NULL));
    ck_assert_uint_eq(two.rig.api->entity->count(two.host), 0);
    check_host(two.host);
    bp_scene_close(wrong);
    bp_scene_close(scene);
    rig_close(&two.rig);
}
END_TEST

static const bp_field_t sky_fields[] = {{.name = "hour", .type = BP_U32, .initial = "6"}};
static const bp_field_t stone_fields[] = {{.name = "weight", .type = BP_U32, .initial = "3"}};
static const bp_component_i sky_components[] = {
    {.name = "sky", .flags = BP_COMPONENT_WORLD, .fields = BP_LIST(sky_fields)},
    {.name = "stone", .fields = BP_LIST(stone_fields)}};
static const bp_plugin_desc_t sky_desc = {.version = "1.0", .components = BP_LIST(sky_components)};
static const bp_plugin_head_t sky_plugin = BP_PLUGIN_HEAD("sky", &sky_desc);

/* What belongs to a world is in no other world: a file that says so is refused. */
START_TEST(what_belongs_to_a_world_is_no_entity_of_another)
{
    static const bp_plugin_head_t *const plugins[] = {&sky_plugin};
    static const char quoted[] = "{'worlds': {"
        " 'one': {'entities': [{'name': 'a', 'components': {'stone': {}}}], 'world': {'sky': {'hour': 7}}},"
        " 'two': {'entities': [{'entity': 'a', 'components': {'stone': {}}}], 'world': {'sky': {'hour': 8}}}}}";
    static unsigned char bytes[1 << 14];
    rig_t rig;
    several_t several;
    size_t size;
    bp_scene_o *scene, *wrong;
    rig_open_with(&rig, plugins, 1);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "sky", NULL, 0));
    for (uint32_t w = 0; w < 2; w++) {
        bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = w == 0 ? "one" : "two"});
        WORKS(rig.host, bp_world_use_component(world, "sky"));
        WORKS(rig.host, bp_world_use_component(world, "stone"));
    }
    char *json = stage_json(quoted);
    WORKS(rig.host, bp_scene_compile_text(rig.host, "worlds", json, strlen(json), &scene));
    const void *good = bp_scene_bytes(scene, &size);
    ck_assert_uint_lt(size, sizeof bytes - 16);
    unsigned char *aligned = bytes + (16 - (uintptr_t)bytes % 16) % 16;
    for (uint32_t w = 0; w < 3; w++) { /* the sky of the first, of the second, of both */
        memcpy(aligned, good, size);
        WORKS(rig.host, several_open(&several, aligned, size, "wrong", &rig.host->base.error));
        for (uint32_t n = 0; n < 2; n++) {
            uint32_t *numbers = (uint32_t *)(uintptr_t)several_part(&several, n).shared;
            ck_assert_uint_eq(several_part(&several, n).count, 2);
            for (uint32_t i = 0; i < 2; i++)
                numbers[i] = (numbers[i] != 0) != (w == n || w == 2) ? 1 : 0;
        }
        uint64_t sum = hash_bytes(aligned + sizeof(blob_head_t), size - sizeof(blob_head_t));
        memcpy(aligned + offsetof(blob_head_t, checksum), &sum, sizeof sum);
        WORKS(rig.host, bp_scene_open_memory(rig.host, aligned, size, "wrong", &wrong));
        FAILS(rig.host, BP_ERROR_SYNTAX, "belongs to the world itself", bp_scene_spawn(wrong, NULL, 0, NULL, NULL));
        ck_assert_uint_eq(rig.api->entity->count(rig.host), 0);
        check_host(rig.host);
        bp_scene_close(wrong);
    }
    bp_scene_close(scene);
    free(json);
    rig_close(&rig);
}
END_TEST

Suite *several_suite(void)
{
    Suite *suite = suite_create("several");
    TCase *tests = tcase_create("worlds of one file");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, who_lives_in_two_worlds_is_one_entity_after_both_come_back, 0, 2);
    tcase_add_test(tests, clocks_and_the_entities_of_worlds_that_are_not_named_stay);
    tcase_add_test(tests, what_cannot_come_back_is_refused_and_nothing_changes);
    tcase_add_test(tests, a_damaged_file_is_refused_or_harmless);
    tcase_add_test(tests, a_scene_names_its_worlds_and_puts_one_entity_into_several);
    tcase_add_test(tests, what_is_shown_of_several_worlds_compiles_to_the_same_worlds);
    tcase_add_test(tests, a_scene_whose_last_world_refuses_leaves_no_trace);
    tcase_add_test(tests, a_scene_whose_last_world_lacks_a_component_makes_no_prototype);
    tcase_add_loop_test(tests, every_allocation_may_fail, 0, 2);
    tcase_add_test(tests, an_entity_that_is_in_a_world_twice_is_refused);
    tcase_add_test(tests, what_belongs_to_a_world_is_no_entity_of_another);
    tcase_add_test(tests, more_worlds_than_a_file_may_hold_are_not_saved);
    suite_add_tcase(suite, tests);
    return suite;
}
