/* test_several.c - worlds of one file: who lives in two of them is one entity again.
 *
 * The worlds have the components of zoo.h; `label` refers to entities (home), so that it shows who is who across
 * worlds.
 */
#include "../suites.h"
#include "../unit/inspect.h"
#include "../unit/support.h"

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

/* Whoever is in a world, in no particular order. */
static uint32_t list(bp_world_o *world, bp_entity_t *entities, uint32_t room)
{
    EXPECT(world->rows.occupied <= room, "%u entities in world %s", world->rows.occupied, world->rows.name);
    return host_list_entities(&world->rows, entities);
}

/* As `fill` has made them, and nobody else. */
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
    for (uint32_t i = 0; i < 3; i++) { /* over what is there, again and again: nobody is left over */
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
    FAILS(two.host, BP_ERROR_TYPE, "it holds several worlds, which come back together",
          bp_scene_open(two.host, path, &scene));
    bp_world_destroy(third);
    free(before);
    before = describe_host(two.host);
    /* The second world lacks a component: what the first has got goes again. */
    two_t other;
    rig_open_zoo(&other.rig);
    other.host = other.rig.host;
    other.game = rig_world(&other.rig, "game");
    other.bag = bp_world_create(other.host, &(bp_world_desc_t){.name = "bag"});
    bp_entity_t there = entity_with(other.game, "label");
    FAILS(other.host, BP_ERROR_NOT_FOUND, "world bag", bp_host_restore_worlds(other.host, NULL, 0, path, 0));
    ck_assert_uint_eq(other.game->rows.occupied, 1);
    ck_assert_uint_eq(other.rig.api->entity->count(other.host), 1);
    ck_assert_uint_eq(other.rig.api->entity->alive(other.host, &there, 1, NULL), 1);
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

Suite *several_suite(void)
{
    Suite *suite = suite_create("several");
    TCase *tests = tcase_create("worlds of one file");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, who_lives_in_two_worlds_is_one_entity_after_both_come_back, 0, 2);
    tcase_add_test(tests, clocks_and_the_entities_of_worlds_that_are_not_named_stay);
    tcase_add_test(tests, what_cannot_come_back_is_refused_and_nothing_changes);
    tcase_add_test(tests, a_damaged_file_is_refused_or_harmless);
    suite_add_tcase(suite, tests);
    return suite;
}
