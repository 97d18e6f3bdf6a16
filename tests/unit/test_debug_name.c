/* test_debug_name.c - the names of entities that debug_name keeps: who is found by which name, and for how long. */
#include "../suites.h"
#include "plugin_stage.h"

#include <components/debug_name.h>

/* --- debug_name --------------------------------------------------------------------------------------------------- */

static const bp_debug_name_api *names;

static void begin_names(void)
{
    begin(0);
    use("debug_name");
    names = api->registry->find(host, BP_DEBUG_NAME_API, 1);
    ck_assert_ptr_nonnull(names);
}

static uint32_t count_named(const char *text)
{
    return names->find(manager_of(world, "debug_name"), text, NULL, 0);
}

START_TEST(entities_are_found_by_name_in_order_of_index)
{
    enum { COUNT = 500 };
    static bp_entity_t e[COUNT], found[COUNT];
    begin_names();
    create("debug_name", e, COUNT);
    for (uint32_t i = COUNT; i-- > 0;)
        set_text(e[i], "debug_name", "name", i % 5 == 0 ? "tree" : "stone");
    bp_manager_t *m = manager_of(world, "debug_name");
    ck_assert_uint_eq(names->find(m, "tree", found, COUNT), 100);
    for (uint32_t i = 0; i < 100; i++)
        ck_assert_uint_eq(found[i].id, e[i * 5].id);
    ck_assert_uint_eq(names->find(m, "tree", found, 3), 100); /* little room: the first ones */
    ck_assert_uint_eq(found[2].id, e[10].id);
    ck_assert_uint_eq(names->find(m, "tre", found, COUNT), 0);
    ck_assert_uint_eq(names->find(m, "", found, COUNT), 0);
    ck_assert_str_eq(names->name(m, e[5]), "tree");
    end();
}
END_TEST

START_TEST(a_renamed_entity_is_found_by_its_new_name_only)
{
    bp_entity_t e, found;
    begin_names();
    create("debug_name", &e, 1);
    set_text(e, "debug_name", "name", "caterpillar");
    set_text(e, "debug_name", "name", "butterfly");
    bp_manager_t *m = manager_of(world, "debug_name");
    ck_assert_uint_eq(count_named("caterpillar"), 0);
    ck_assert_uint_eq(names->find(m, "butterfly", &found, 1), 1);
    ck_assert_uint_eq(found.id, e.id);
    set_text(e, "debug_name", "name", "");
    ck_assert_uint_eq(count_named("butterfly"), 0);
    ck_assert_str_eq(names->name(m, e), "");
    end();
}
END_TEST

START_TEST(the_dead_are_not_found_and_nobody_inherits_their_names)
{
    enum { COUNT = 3000 };
    static bp_entity_t e[COUNT], heirs[COUNT];
    begin_names();
    create("debug_name", e, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        set_text(e[i], "debug_name", "name", "ghost");
    ck_assert_uint_eq(count_named("ghost"), COUNT);
    api->entity->destroy(host, e, COUNT - 1);
    ck_assert_uint_eq(count_named("ghost"), 1); /* though no step has collected them yet */
    ck_assert_ptr_null(names->name(manager_of(world, "debug_name"), e[0]));
    create("debug_name", heirs, COUNT);
    ck_assert_uint_eq(count_named("ghost"), 1);
    steps(50);
    ck_assert_uint_eq(count_named("ghost"), 1);
    ck_assert_str_eq(names->name(manager_of(world, "debug_name"), e[COUNT - 1]), "ghost");
    OK(api->world->remove(world, key_of("debug_name"), &e[COUNT - 1], 1));
    ck_assert_uint_eq(count_named("ghost"), 0);
    end();
}
END_TEST

START_TEST(a_path_finds_an_entity_by_its_name)
{
    bp_entity_t e[2];
    bp_path_t path;
    begin_names();
    create("debug_name", e, 2);
    set_text(e[0], "debug_name", "name", "earth");
    set_text(e[1], "debug_name", "name", "mars");
    OK(api->property->parse_path(host, "main/mars.debug_name.name", &path));
    ck_assert_uint_eq(path.entity.id, e[1].id);
    REFUSED(BP_ERROR_NOT_FOUND, "'venus'",
            api->property->parse_path(host, "main/venus.debug_name.name", &path));
    set_text(e[1], "debug_name", "name", "earth");
    REFUSED(BP_ERROR_ARGUMENT, "2 entities",
            api->property->parse_path(host, "main/earth.debug_name.name", &path));
    end();
}
END_TEST

START_TEST(a_name_has_at_most_255_bytes)
{
    bp_entity_t e;
    char text[257];
    const char *cell = text;
    begin_names();
    create("debug_name", &e, 1);
    memset(text, 'x', 256);
    text[256] = '\0';
    REFUSED(BP_ERROR_LIMIT, "255",
            api->property->set_named(world, e, "debug_name", "name", BP_STRING, &cell));
    ck_assert_str_eq(names->name(manager_of(world, "debug_name"), e), "");
    text[255] = '\0';
    set_text(e, "debug_name", "name", text);
    ck_assert_uint_eq(count_named(text), 1);
    end();
}
END_TEST

START_TEST(worlds_have_names_of_their_own)
{
    bp_entity_t e, found;
    begin_names();
    create("debug_name", &e, 1);
    bp_world_o *other = bp_world_create(host, &(bp_world_desc_t){.name = "inventory"});
    OK(bp_world_use_component(other, "debug_name"));
    OK(api->world->add(other, key_in(other, "debug_name", ""), &e, 1));
    set_text(e, "debug_name", "name", "pickaxe");
    const char *icon = "pickaxe_icon";
    OK(api->property->set_named(other, e, "debug_name", "name", BP_STRING, &icon));
    ck_assert_uint_eq(count_named("pickaxe_icon"), 0);
    ck_assert_uint_eq(names->find(manager_of(other, "debug_name"), "pickaxe_icon", &found, 1), 1);
    ck_assert_uint_eq(found.id, e.id);
    end();
}
END_TEST

static uint64_t hash_now(bp_snapshot_o **kept)
{
    bp_snapshot_o *snapshot;
    ck_assert_int_eq(bp_host_snapshot(host, &snapshot), BP_OK);
    uint64_t hash = bp_snapshot_hash(snapshot, NULL);
    if (kept != NULL)
        *kept = snapshot;
    else
        bp_snapshot_free(snapshot);
    return hash;
}

/* Where names lie in the block of texts, and when that is made anew, goes on as it would have. */
START_TEST(names_go_on_to_the_last_byte_after_going_back)
{
    enum { COUNT = 8, TURNS = 40 };
    bp_entity_t e[COUNT];
    bp_snapshot_o *before;
    uint64_t hashes[TURNS];
    begin_names();
    create("debug_name", e, COUNT);
    set_text(e[0], "debug_name", "name", "first");
    set_text(e[0], "debug_name", "name", "second"); /* the first text is garbage now */
    hash_now(&before);
    for (uint32_t again = 0; again < 2; again++) {
        for (uint32_t turn = 0; turn < TURNS; turn++) {
            char text[32];
            snprintf(text, sizeof text, "name number %u", turn);
            set_text(e[turn % COUNT], "debug_name", "name", text);
            uint64_t hash = hash_now(NULL);
            if (again == 1)
                ck_assert_uint_eq(hash, hashes[turn]);
            hashes[turn] = hash;
        }
        ck_assert_int_eq(bp_host_bring_back(host, before), BP_OK);
    }
    bp_snapshot_free(before);
    end();
}
END_TEST

/* A snapshot whose block of texts does not hold what it says is refused: names set later would be written behind it. */
START_TEST(texts_of_a_damaged_snapshot_are_refused)
{
    static const char name[] = "a name of some length";
    const uint64_t texts[] = {1 + sizeof name, 0, 256}; /* used, garbage among them, room */
    const uint64_t damages[] = {1, 1 + sizeof name, UINT64_MAX};
    bp_entity_t e;
    bp_snapshot_o *taken, *damaged;
    size_t size, at = 0;
    begin_names();
    create("debug_name", &e, 1);
    set_text(e, "debug_name", "name", name);
    hash_now(&taken);
    const char *bytes = bp_snapshot_bytes(taken, &size);
    while (at + sizeof texts <= size && memcmp(bytes + at, texts, sizeof texts) != 0)
        at += sizeof *texts;
    ck_assert_uint_le(at + sizeof texts, size);
    char *copy = malloc(size);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, size);
    memcpy(copy + at + sizeof *texts, &damages[_i], sizeof *damages);
    OK(bp_snapshot_read(host, copy, size, &damaged));
    ck_assert_int_eq(bp_host_bring_back(host, damaged), BP_ERROR_FAILED);
    ck_assert_uint_eq(count_named(name), 1);
    bp_snapshot_free(damaged);
    bp_snapshot_free(taken);
    free(copy);
    end();
}
END_TEST

START_TEST(the_table_of_an_unloaded_plugin_does_nothing)
{
    bp_entity_t e;
    begin_names();
    create("debug_name", &e, 1);
    set_text(e, "debug_name", "name", "x");
    bp_manager_t *m = manager_of(world, "debug_name");
    OK(bp_host_unload_plugin(host, "debug_name"));
    ck_assert_ptr_null(api->registry->find(host, BP_DEBUG_NAME_API, 1));
    ck_assert_uint_eq(names->find(m, "x", &e, 1), 0);
    ck_assert_ptr_null(names->name(m, e));
    load("debug_name", NULL, 0);
    ck_assert_ptr_eq(api->registry->find(host, BP_DEBUG_NAME_API, 1), names);
    end();
}
END_TEST

Suite *debug_name_suite(void)
{
    Suite *suite = suite_create("debug_name");
    TCase *tests = tcase_create("debug_name");
    tcase_add_test(tests, entities_are_found_by_name_in_order_of_index);
    tcase_add_test(tests, a_renamed_entity_is_found_by_its_new_name_only);
    tcase_add_test(tests, the_dead_are_not_found_and_nobody_inherits_their_names);
    tcase_add_test(tests, a_path_finds_an_entity_by_its_name);
    tcase_add_test(tests, a_name_has_at_most_255_bytes);
    tcase_add_test(tests, worlds_have_names_of_their_own);
    tcase_add_test(tests, names_go_on_to_the_last_byte_after_going_back);
    tcase_add_loop_test(tests, texts_of_a_damaged_snapshot_are_refused, 0, 3);
    tcase_add_test(tests, the_table_of_an_unloaded_plugin_does_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}
