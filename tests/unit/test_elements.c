/* test_elements.c - single values of arrays and lists, where they are not simply cells: in storage of a component's
 * own, in components that are told of what is set, and where memory is lacking.
 */
#include "../suites.h"
#include "inspect.h"
#include "support.h"
#include "zoo.h"

#include <bp_plugin.h>
#include <bp_changes.h>
#include <helpers/bp_columns.h>
#include <helpers/bp_slots.h>
#include <string.h>

enum { MARKS = 3, WIDE = 20, MANY = 8, TOO_MUCH = 99 /* a first mark that a shelf refuses */ };

/* --- a component with storage of its own, and one that is told ---------------------------------------------------- */

typedef struct marks_t { float of[MARKS]; } marks_t;
typedef struct wide_t { float of[WIDE]; } wide_t;

enum { COLUMN_MARKS = BP_SLOTS_FIRST, COLUMN_WIDE, COLUMNS_END };
static const uint32_t sizes[COLUMNS_END] = {[COLUMN_MARKS] = sizeof(marks_t), [COLUMN_WIDE] = sizeof(wide_t)};

typedef struct shelf_t {
    bp_slots_t slots;
    uint32_t refuse_sets; /* the set of this number from now on is refused; 0: none */
} shelf_t;

static bp_result_t start(bp_manager_t *m)
{
    shelf_t *shelf = m->state = m->api->memory->resize(m->plugin, NULL, 0, sizeof *shelf);
    if (shelf == NULL)
        return m->api->error->set(m->host, BP_ERROR_MEMORY, "shelf");
    memset(shelf, 0, sizeof *shelf);
    bp_slots_init(&shelf->slots, sizes + BP_SLOTS_FIRST, COLUMNS_END - BP_SLOTS_FIRST);
    return BP_OK;
}

static void stop(bp_manager_t *m)
{
    bp_slots_free(m, m->state);
    m->state = m->api->memory->resize(m->plugin, m->state, sizeof(shelf_t), 0);
}

static char *value_at(bp_manager_t *m, uint32_t field, uint32_t slot)
{
    bp_slots_t *slots = m->state;
    return field == 0 ? (char *)&BP_SLOTS(marks_t, slots, COLUMN_MARKS)[slot]
                      : (char *)&BP_SLOTS(wide_t, slots, COLUMN_WIDE)[slot];
}

static size_t size_of(uint32_t field)
{
    return field == 0 ? sizeof(marks_t) : sizeof(wide_t);
}

static bp_property_t *peeks; /* a property that `create` asks for, of entities that do not have it yet; NULL: none */
static bp_result_t peeked[2];

/* What is said of entities that are being created. */
static void peek(bp_manager_t *m, const bp_entity_t *entities)
{
    float value = 1;
    peeked[0] = m->api->property->get(m->world, peeks, entities, 1, &value, sizeof value);
    peeked[1] = m->api->property->set(m->world, peeks, entities, 1, &value, sizeof value);
}

static void destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    bp_slots_destroy(m, m->state, slots, count, NULL);
}

static uint32_t count_items(bp_manager_t *m)
{
    return ((const bp_slots_t *)m->state)->count;
}

static bp_result_t get(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                       size_t stride)
{
    for (uint32_t i = 0; i < count; i++)
        memcpy((char *)values + i * stride, value_at(m, field, slots[i]), size_of(field));
    return BP_OK;
}

static bp_result_t set(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, const void *values,
                       size_t stride)
{
    shelf_t *shelf = m->state;
    bool full = shelf->refuse_sets > 0 && --shelf->refuse_sets == 0;
    for (uint32_t i = 0; i < count && field == 0; i++)
        full = full || ((const marks_t *)(const void *)((const char *)values + i * stride))->of[0] == TOO_MUCH;
    if (full)
        return m->api->error->set(m->host, BP_ERROR_FAILED, "the shelf is full");
    for (uint32_t i = 0; i < count; i++)
        memcpy(value_at(m, field, slots[i]), (const char *)values + i * stride, size_of(field));
    return BP_OK;
}

static const bp_field_t shelf_fields[] = {
    {.name = "marks", .type = BP_F32, .count = MARKS, .initial = "[1, 2, 3]", .min = "0", .max = "100"},
    {.name = "wide", .type = BP_F32, .count = WIDE},
};

static bp_result_t create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                          const void *const *columns, uint32_t *slots)
{
    if (peeks != NULL)
        peek(m, entities);
    bp_result_t result = bp_slots_reserve(m, m->state, instance, count);
    if (result != BP_OK)
        return result;
    bp_slots_append(m->state, instance, entities, count, slots);
    for (uint32_t i = 0; i < count; i++) {
        *(marks_t *)(void *)value_at(m, 0, slots[i]) = (marks_t){{1, 2, 3}};
        *(wide_t *)(void *)value_at(m, 1, slots[i]) = (wide_t){{0.5f}};
    }
    return bp_columns_set(m, set, shelf_fields, COUNT(shelf_fields), columns, slots, count);
}

static uint32_t told; /* rows of which rack was told that they are set */

static bp_result_t rows_added(const bp_run_t *rows, uint32_t count)
{
    (void)rows, (void)count;
    return BP_OK;
}

static void rows_removed(const bp_run_t *rows, uint32_t count)
{
    (void)rows, (void)count;
}

static bp_result_t rows_set(const bp_run_t *rows, uint32_t count, uint32_t field)
{
    (void)rows, (void)field;
    told += count;
    return BP_OK;
}

static const bp_storage_i storage = {.struct_size = sizeof storage, .create = create, .destroy = destroy, .get = get,
                                     .set = set, .count = count_items};
static const bp_storage_i fixed_storage = {.struct_size = sizeof storage, .create = create, .destroy = destroy,
                                           .get = get, .count = count_items};
static const bp_rows_i rows_verbs = {.rows_added = rows_added, .rows_removed = rows_removed, .rows_set = rows_set};
static const bp_extension_t rack_extensions[] = {{BP_EXTENSION("bp_rows", rows_verbs)}};
static const bp_field_t rack_fields[] = {
    {.name = "marks", .type = BP_F32, .count = MARKS, .initial = "[1, 2, 3]", .min = "0", .max = "100"},
    {.name = "words", .type = BP_STRING, .count = 2, .initial = "[left, right]"},
};
static const bp_component_i components[] = {
    {.name = "shelf", .fields = BP_LIST(shelf_fields), .start = start, .stop = stop, .storage = &storage},
    {.name = "rack", .fields = BP_LIST(rack_fields), .extensions = BP_LIST(rack_extensions)},
    {.name = "plinth", .fields = BP_LIST(shelf_fields), .start = start, .stop = stop, .storage = &fixed_storage},
};
static const bp_plugin_desc_t furniture = {.version = "1", .components = BP_LIST(components)};
static const bp_plugin_head_t head = BP_PLUGIN_HEAD("furniture", &furniture);

/* --- the rig ------------------------------------------------------------------------------------------------------ */

static rig_t rig;
static bp_world_o *world;
static const bp_property_api *api;
static bp_entity_t shelves[MANY];

static void begin(void)
{
    static const bp_plugin_head_t *plugins[ZOO_PLUGINS + 1];
    rig_init(&rig);
    memcpy(plugins, zoo_plugins, sizeof zoo_plugins);
    plugins[ZOO_PLUGINS] = &head;
    rig.desc.static_plugins = plugins;
    rig.desc.static_plugin_count = COUNT(plugins);
    rig_open(&rig);
    for (uint32_t i = 0; i < COUNT(plugins); i++)
        WORKS(rig.host, bp_host_load_plugin(rig.host, plugins[i]->name, NULL, 0));
    world = rig_world(&rig, "main");
    WORKS(rig.host, bp_world_use_component(world, "shelf"));
    WORKS(rig.host, bp_world_use_component(world, "rack"));
    WORKS(rig.host, bp_world_use_component(world, "plinth"));
    api = rig.api->property;
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "shelf", NULL, NULL, NULL), shelves, MANY));
}

static void end(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

static bp_property_t resolve(bp_entity_t e, const char *component, const char *property)
{
    bp_property_t resolved;
    WORKS(rig.host, api->resolve(world, e, component, property, &resolved));
    return resolved;
}

static void expect_marks(bp_entity_t e, const char *component, float first, float second, float third)
{
    bp_property_t marks = resolve(e, component, "marks");
    marks_t read;
    WORKS(rig.host, api->get(world, &marks, &e, 1, &read, sizeof read));
    ck_assert(read.of[0] == first && read.of[1] == second && read.of[2] == third);
}

/* --- storage of its own ------------------------------------------------------------------------------------------- */

START_TEST(one_value_of_an_array_in_own_storage_is_set_and_the_others_stay)
{
    bp_property_t second = resolve(shelves[0], "shelf", "marks[1]");
    struct { float value, other; } wide[MANY];
    float first[MANY];
    for (uint32_t i = 0; i < MANY; i++)
        wide[i].value = 10 + (float)i;
    bp_manager_t *shelf = rig.api->world->manager(world, rig.api->world->component(world, "shelf"));
    const bp_changes_api *changes = rig.api->registry->find(rig.host, BP_CHANGES_API, 1);
    bp_slot_stamps_t stamps = {.struct_size = sizeof stamps};
    WORKS(rig.host, changes->keep(shelf));
    uint64_t since = changes->look(world);
    WORKS(rig.host, api->set(world, &second, shelves, MANY, wide, sizeof wide[0]));
    changes->slots(shelf, &stamps);
    ck_assert(stamps.latest > since && bp_slot_stamp(&stamps, 0) > since);
    changes->release(shelf);
    for (uint32_t i = 0; i < MANY; i++)
        expect_marks(shelves[i], "shelf", 1, 10 + (float)i, 3);
    WORKS(rig.host, api->get(world, &second, shelves, MANY, first, sizeof first[0]));
    memset(wide, 0, sizeof wide);
    WORKS(rig.host, api->get(world, &second, shelves, MANY, wide, sizeof wide[0]));
    for (uint32_t i = 0; i < MANY; i++)
        ck_assert(first[i] == 10 + (float)i && wide[i].value == first[i] && wide[i].other == 0);
}
END_TEST

START_TEST(one_entity_without_the_array_refuses_all)
{
    bp_property_t last = resolve(shelves[0], "shelf", "marks[2]");
    bp_entity_t some[] = {shelves[0], entity_with(world, "body"), shelves[1]};
    float values[] = {7, 7, 7}, before = 5;
    SAID(rig.host, BP_ERROR_NOT_FOUND, "entity #8:1 has no component 'shelf' in world 'main' (it has body)",
         api->set(world, &last, some, 3, values, sizeof values[0]));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "entity #8:1 has no component 'shelf' in world 'main' (it has body)",
         api->get(world, &last, some + 1, 1, &before, sizeof before));
    ck_assert(before == 5);
    values[2] = 101;
    some[1] = shelves[2];
    SAID(rig.host, BP_ERROR_RANGE, "marks = 101 is outside its range: at least 0 and at most 100",
         api->set(world, &last, some, 3, values, sizeof values[0]));
    for (uint32_t i = 0; i < 3; i++)
        expect_marks(shelves[i], "shelf", 1, 2, 3);
    rig.api->entity->destroy(rig.host, &shelves[1], 1);
    some[1] = shelves[1];
    SAID(rig.host, BP_ERROR_DEAD, "entity #1:1 is dead", api->get(world, &last, some + 1, 1, &before, sizeof before));
}
END_TEST

START_TEST(a_component_that_refuses_an_element_is_heard)
{
    bp_property_t first = resolve(shelves[0], "shelf", "marks[0]");
    float values[] = {7, 8};
    ((shelf_t *)state_of(world, "shelf"))->refuse_sets = 1;
    SAID(rig.host, BP_ERROR_FAILED, "the shelf is full", api->set(world, &first, shelves, 2, values, sizeof(float)));
    expect_marks(shelves[0], "shelf", 1, 2, 3);
    expect_marks(shelves[1], "shelf", 1, 2, 3);
}
END_TEST

START_TEST(an_element_that_a_component_refuses_of_one_entity_is_set_in_none)
{
    bp_property_t first = resolve(shelves[0], "shelf", "marks[0]");
    float values[] = {7, TOO_MUCH, 8};
    SAID(rig.host, BP_ERROR_FAILED, "the shelf is full", api->set(world, &first, shelves, 3, values, sizeof(float)));
    for (uint32_t i = 0; i < 3; i++)
        expect_marks(shelves[i], "shelf", 1, 2, 3);
}
END_TEST

START_TEST(a_component_that_sets_nothing_sets_no_element)
{
    bp_entity_t e = entity_with(world, "plinth");
    bp_property_t all = resolve(e, "plinth", "marks"), first = resolve(e, "plinth", "marks[0]");
    marks_t marks = {{7, 8, 9}};
    SAID(rig.host, BP_ERROR_ARGUMENT, "plinth has no property that can be set",
         api->set(world, &all, &e, 1, &marks, sizeof marks));
    SAID(rig.host, BP_ERROR_ARGUMENT, "plinth has no property that can be set",
         api->set(world, &first, &e, 1, &marks, sizeof marks.of[0]));
    expect_marks(e, "plinth", 1, 2, 3);
}
END_TEST

/* A scene hands a component with storage of its own the arrays of all new instances, one behind the other. */
START_TEST(arrays_in_own_storage_come_with_a_scene)
{
    static const char json[] = "{\"entities\": [{\"components\": {\"shelf\": {\"marks\": [4, 5, 6]}}},"
                               " {\"components\": {\"shelf\": {\"marks\": [7, 8, 9]}}}]}";
    bp_scene_o *scene;
    bp_entity_t e[2];
    WORKS(rig.host, bp_scene_compile_text(rig.host, "shelves", json, sizeof json - 1, &scene));
    WORKS(rig.host, bp_scene_spawn(scene, world, 0, e, NULL));
    expect_marks(e[0], "shelf", 4, 5, 6);
    expect_marks(e[1], "shelf", 7, 8, 9);
    bp_scene_close(scene);
}
END_TEST

/* An array that is larger than any one value. */
START_TEST(large_arrays_are_written_and_read_as_text)
{
    char text[256], expected[256] = "[0.5";
    bp_path_t path = {.world = world, .entity = shelves[0], .property = resolve(shelves[0], "shelf", "wide")};
    for (uint32_t i = 1; i < WIDE; i++)
        strcat(expected, ", 0");
    strcat(expected, "]");
    WORKS(rig.host, api->get_text(&path, text, sizeof text));
    ck_assert_str_eq(text, expected);
    expected[1] = '7';
    WORKS(rig.host, api->set_text(&path, expected));
    WORKS(rig.host, api->get_text(&path, text, sizeof text));
    ck_assert_str_eq(text, expected);
}
END_TEST

/* --- components that are told ------------------------------------------------------------------------------------- */

START_TEST(an_element_out_of_range_does_not_reach_a_component_that_is_told)
{
    bp_entity_t e = entity_with(world, "rack");
    bp_property_t second = resolve(e, "rack", "marks[1]");
    float good = 50, bad = 101;
    told = 0;
    SAID(rig.host, BP_ERROR_RANGE, "marks = 101 is outside its range: at least 0 and at most 100",
         api->set(world, &second, &e, 1, &bad, sizeof bad));
    expect_marks(e, "rack", 1, 2, 3);
    ck_assert_uint_eq(told, 0);
    WORKS(rig.host, api->set(world, &second, &e, 1, &good, sizeof good));
    expect_marks(e, "rack", 1, 50, 3);
    ck_assert_uint_eq(told, 1);
}
END_TEST

START_TEST(who_lacks_a_component_that_is_told_refuses_all)
{
    bp_entity_t e[] = {entity_with(world, "rack"), entity_with(world, "body"), entity_with(world, "rack")};
    float values[] = {50, 50, 50};
    told = 0;
    for (uint32_t i = 0; i < 2; i++) {
        bp_property_t marks = resolve(e[0], "rack", "marks[1]");
        FAILS(rig.host, i == 0 ? BP_ERROR_NOT_FOUND : BP_ERROR_DEAD, i == 0 ? "rack" : "is dead",
              api->set(world, &marks, e, 3, values, sizeof values[0]));
        expect_marks(e[0], "rack", 1, 2, 3);
        expect_marks(e[2], "rack", 1, 2, 3);
        rig.api->entity->destroy(rig.host, &e[1], 1);
    }
    ck_assert_uint_eq(told, 0);
}
END_TEST

/* --- texts -------------------------------------------------------------------------------------------------------- */

START_TEST(a_text_that_is_no_value_of_an_element_says_of_which_field)
{
    bp_entity_t bag = entity_with(world, "bag");
    bp_path_t path = {.world = world, .entity = bag, .property = resolve(bag, "bag", "slots[1]")};
    char text[32];
    SAID(rig.host, BP_ERROR_TYPE, "slots: 'many' is not a whole number from 0 to 65535 (type u16)",
         api->set_text(&path, "many"));
    WORKS(rig.host, api->get_text(&path, text, sizeof text));
    ck_assert_str_eq(text, "2");
    WORKS(rig.host, bp_world_drop_component(world, "bag"));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "component 'bag' has left world 'main'", api->set_text(&path, "4"));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "component 'bag' has left world 'main'",
         api->get_text(&path, text, sizeof text));
}
END_TEST

START_TEST(a_path_whose_property_was_never_resolved_is_neither_read_nor_set)
{
    bp_path_t path = {.world = world, .entity = shelves[0]};
    char text[32];
    SAID(rig.host, BP_ERROR_ARGUMENT, "the property was not resolved in world 'main'",
         api->get_text(&path, text, sizeof text));
    SAID(rig.host, BP_ERROR_ARGUMENT, "the property was not resolved in world 'main'", api->set_text(&path, "4"));
}
END_TEST

START_TEST(elements_of_those_who_lack_the_component_are_not_read)
{
    bp_entity_t bag = entity_with(world, "bag"), body = entity_with(world, "body");
    bp_property_t slot = resolve(bag, "bag", "slots[1]");
    uint16_t value = 77;
    SAID(rig.host, BP_ERROR_NOT_FOUND, "entity #9:1 has no component 'bag' in world 'main' (it has body)",
         api->get(world, &slot, &body, 1, &value, sizeof value));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "entity #9:1 has no component 'bag' in world 'main' (it has body)",
         api->set(world, &slot, &body, 1, &value, sizeof value));
    ck_assert_uint_eq(value, 77);
}
END_TEST

/* An instance that is being created has no slot yet. */
START_TEST(elements_in_own_storage_of_an_entity_that_is_being_created_are_refused)
{
    bp_property_t second = resolve(shelves[0], "shelf", "marks[1]");
    bp_entity_t more;
    peeks = &second;
    peeked[0] = peeked[1] = BP_OK;
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "shelf", NULL, NULL, NULL), &more, 1));
    peeks = NULL;
    ck_assert_int_eq(peeked[0], BP_ERROR_STATE);
    ck_assert_int_eq(peeked[1], BP_ERROR_STATE);
    expect_marks(more, "shelf", 1, 2, 3);
}
END_TEST

/* --- failing memory ----------------------------------------------------------------------------------------------- */

typedef struct attempt_t { const char *component, *whole, *element; } attempt_t;

static const attempt_t attempts[] = {{"bag", "tags", "tags[0]"},
                                     {"bag", "words", "words[1]"},
                                     {"bag", "hits", "hits[0]"},
                                     {"bag", "words", "words"},
                                     {"rack", "words", "words"},
                                     {"shelf", "marks", "marks[1]"}};
static const void *attempt_values[COUNT(attempts)];

/* The values of a field in all entities, as one text. */
static void write_all(const attempt_t *attempt, const bp_entity_t *all, char *text, size_t size)
{
    text[0] = '\0';
    for (uint32_t i = 0; i < MANY; i++) {
        bp_path_t path = {.world = world, .entity = all[i],
                          .property = resolve(all[i], attempt->component, attempt->whole)};
        size_t used = strlen(text);
        WORKS(rig.host, api->get_text(&path, text + used, size - used));
    }
}

/* Set an element, or a whole array, in eight entities, the request `fails` for memory being refused; was one? */
static bool set_without_memory(uint32_t n, const bp_entity_t *all, uint64_t fails)
{
    char before[1024], after[1024];
    bp_property_t p = resolve(all[0], attempts[n].component, attempts[n].element);
    uint64_t refused = rig.heap.refused;
    uint32_t texts = rig.host->base.strings.count;
    write_all(&attempts[n], all, before, sizeof before);
    rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + fails;
    bp_result_t result = api->set(world, &p, all, MANY, attempt_values[n], p.size);
    rig.heap.refuse_first = rig.heap.refuse_last = 0;
    write_all(&attempts[n], all, after, sizeof after);
    ck_assert_msg((result == BP_OK) == (strcmp(before, after) != 0), "%s: %d, %s, then %s", attempts[n].element, result,
                  before, after);
    ck_assert(result == BP_OK || (result == BP_ERROR_MEMORY && rig.host->base.strings.count == texts));
    return rig.heap.refused > refused;
}

/* Whichever request fails, all entities have the new value, or none. */
START_TEST(without_memory_no_element_of_any_entity_is_set)
{
    static const char *const words[MANY] = {"one word that is set", "another", "third", "4", "5", "6", "7", "8"};
    static const char *const others[MANY] = {"A", "B", "C", "D", "E", "F", "G", "H"};
    const char *pairs[MANY * 2];
    static const float numbers[MANY] = {10, 20, 30, 40, 50, 60, 70, 80};
    for (uint32_t i = 0; i < MANY * 2; i++)
        pairs[i] = i % 2 == 0 ? words[i / 2] : others[i / 2];
    const void *const values[] = {words, words, numbers, pairs, pairs, numbers};
    memcpy(attempt_values, values, sizeof values);
    bp_entity_t bags[MANY], racks[MANY];
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "bag", NULL, NULL, NULL), bags, MANY));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "rack", NULL, NULL, NULL), racks, MANY));
    char first = attempts[_i].component[0];
    const bp_entity_t *all = first == 's' ? shelves : first == 'r' ? racks : bags;
    uint64_t fails = 1;
    while (set_without_memory((uint32_t)_i, all, fails))
        fails++;
    ck_assert_uint_gt(fails, 1); /* else nothing was refused */
}
END_TEST

/* Reading and writing the text of a large array takes a block. */
START_TEST(without_memory_large_arrays_are_neither_read_nor_set)
{
    char text[256], before[256];
    bp_path_t path = {.world = world, .entity = shelves[0], .property = resolve(shelves[0], "shelf", "wide")};
    WORKS(rig.host, api->get_text(&path, before, sizeof before));
    rig.heap.refuse_first = rig.heap.requests + 1;
    rig.heap.refuse_last = UINT64_MAX;
    SAID(rig.host, BP_ERROR_MEMORY, "out of memory while reading a property", api->get_text(&path, text, sizeof text));
    SAID(rig.host, BP_ERROR_MEMORY, "out of memory while reading a property", api->set_text(&path, "[1]"));
    rig.heap.refuse_first = rig.heap.refuse_last = 0;
    WORKS(rig.host, api->get_text(&path, text, sizeof text));
    ck_assert_str_eq(text, before);
}
END_TEST

Suite *elements_suite(void)
{
    Suite *suite = suite_create("elements");
    TCase *tests = add_case(suite, "elements", begin, end, 20);
    tcase_add_test(tests, one_value_of_an_array_in_own_storage_is_set_and_the_others_stay);
    tcase_add_test(tests, one_entity_without_the_array_refuses_all);
    tcase_add_test(tests, a_component_that_refuses_an_element_is_heard);
    tcase_add_test(tests, an_element_that_a_component_refuses_of_one_entity_is_set_in_none);
    tcase_add_test(tests, a_component_that_sets_nothing_sets_no_element);
    tcase_add_test(tests, arrays_in_own_storage_come_with_a_scene);
    tcase_add_test(tests, large_arrays_are_written_and_read_as_text);
    tcase_add_test(tests, an_element_out_of_range_does_not_reach_a_component_that_is_told);
    tcase_add_test(tests, who_lacks_a_component_that_is_told_refuses_all);
    tcase_add_test(tests, a_text_that_is_no_value_of_an_element_says_of_which_field);
    tcase_add_test(tests, a_path_whose_property_was_never_resolved_is_neither_read_nor_set);
    tcase_add_test(tests, elements_of_those_who_lack_the_component_are_not_read);
    tcase_add_test(tests, elements_in_own_storage_of_an_entity_that_is_being_created_are_refused);
    tcase_add_loop_test(tests, without_memory_no_element_of_any_entity_is_set, 0, COUNT(attempts));
    tcase_add_test(tests, without_memory_large_arrays_are_neither_read_nor_set);
    return suite;
}
