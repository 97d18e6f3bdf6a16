/* test_compile.c - scenes that are right: what each thing that may be said comes to in the blob. */
#include "../suites.h"
#include "stage.h"

#include "scene/blob.h"

#include <stdlib.h>
#include <string.h>

static stage_t stage;

static void begin(void)
{
    stage_open(&stage);
}

static void end(void)
{
    stage_close(&stage);
}

#define GIVES(scene, text) stage_expects(&stage, scene, text)

START_TEST(an_empty_scene_has_no_entities)
{
    GIVES("{}", "");
    GIVES("{'entities': [], 'prototypes': {}}", "");
    GIVES("{'world': {}}", "");
    GIVES("{'world': {'// remark': 1, '$ignored': []}, 'entities': [{}]}", "0:\n");
    GIVES("\xEF\xBB\xBF {'$schema': 'x.json', '// remark': [1, {}]}", "");
}
END_TEST

START_TEST(a_component_s_type_is_said_or_is_its_name)
{
    GIVES("{'entities': [{'components': {'body': {}, 'fog': {'type': 'fx'}, 'haze': {'type': 'fx'}}}, {}]}",
          "0: body() fog:fx() haze:fx()\n1:\n");
}
END_TEST

START_TEST(every_type_is_read_in_json_s_form)
{
    GIVES("{'entities': [{'name': 'me', 'components': {'sample': {'a_bool': false, 'a_i32': -100, 'a_u32': 1e2, "
          "'a_i64': -9223372036854775808,"
          "'a_f32': 0.5, 'a_f64': 3, 'a_vec2': [50, -1], 'a_vec3': [0, 1.5, 2], 'a_vec4': [1, 2, 3, 4], 'a_quat': [0, "
          "0, 1, 0],"
          "'a_mat4': [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], 'a_colour': [0.5, 0, 1], 'a_string': "
          "'caf\\u00e9 \\'quoted\\'',"
          "'an_entity': 'me', 'a_name': 'n'}}}]}",
          "0: sample(a_bool=false a_i32=-100 a_u32=100 a_i64=-9223372036854775808 a_f32=0.5 a_f64=3 a_vec2=50 -1 "
          "a_vec3=0 1.5 2 a_vec4=1 2 3 4 "
          "a_quat=0 0 1 0 a_mat4=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 a_colour=0.5 0 1 1 a_string='caf\xC3\xA9 "
          "\"quoted\"' an_entity=#0 a_name=n)\n");
}
END_TEST

START_TEST(small_large_and_double_types_are_read_in_json_s_form_and_as_text)
{
    GIVES("{'entities': [{'components': {'sample': {'an_i8': -128, 'a_u8': 255.0, 'an_i16': -32768, 'a_u16': 6e4, "
          "'a_u64': 9223372036854775807,"
          "'a_dvec2': [0.5, 2], 'a_dvec3': [1, 2, 1e300], 'a_dvec4': [0, -1, 2, 3]}}},"
          "{'components': {'sample': {'an_i8': '-0x10', 'a_u8': '1', 'an_i16': '7', 'a_u16': '0', 'a_u64': "
          "'18446744073709551615',"
          "'a_dvec2': '1 2', 'a_dvec3': '1,2,3', 'a_dvec4': '4 3 2 1'}}}]}",
          "0: sample(an_i8=-128 a_u8=255 an_i16=-32768 a_u16=60000 a_u64=9223372036854775807 a_dvec2=0.5 2 a_dvec3=1 2 "
          "1.0000000000000001e+300 "
          "a_dvec4=0 -1 2 3)\n"
          "1: sample(an_i8=-16 a_u8=1 an_i16=7 a_u16=0 a_u64=18446744073709551615 a_dvec2=1 2 a_dvec3=1 2 3 a_dvec4=4 "
          "3 2 1)\n");
}
END_TEST

START_TEST(named_values_are_read_by_name_and_number)
{
    GIVES("{'entities': [{'components': {'sample': {'a_mood': 'cross', 'a_level': -1, 'some_flags': 'red | green'}}},"
          "{'components': {'sample': {'a_mood': 0, 'a_level': 'high', 'some_flags': 513}}},"
          "{'count': 2, 'components': {'sample': {'a_mood': ['calm', '6'], 'some_flags': [0, 'blue']}}}]}",
          "0: sample(a_mood=6 a_level=-1 some_flags=3)\n1: sample(a_mood=0 a_level=1 some_flags=513)\n"
          "2: sample(a_mood=0 a_level=0 some_flags=0)\n3: sample(a_mood=6 a_level=0 some_flags=512)\n");
}
END_TEST

START_TEST(every_type_is_read_as_text)
{
    GIVES("{'entities': [{'components': {'sample': {'a_bool': 'off', 'a_i32': '0x10', 'a_u32': '7', 'a_i64': '1', "
          "'a_f32': '1.5', 'a_f64': '2',"
          "'a_vec2': '1, 2', 'a_vec3': '0 0 1', 'a_vec4': '1 2 3 4', 'a_quat': '0 0 0 1', 'a_colour': '#ff0000', "
          "'an_entity': 'none'}}}]}",
          "0: sample(a_bool=false a_i32=16 a_u32=7 a_i64=1 a_f32=1.5 a_f64=2 a_vec2=1 2 a_vec3=0 0 1 a_vec4=1 2 3 4 "
          "a_quat=0 0 0 1 "
          "a_colour=1 0 0 1 an_entity=none)\n");
}
END_TEST

START_TEST(null_gives_the_default_back)
{
    GIVES("{'prototypes': {'p': {'components': {'body': {'mass': 5, 'position': [1, 1, 1]}}}},"
          " 'entities': [{'extends': 'p', 'components': {'body': {'mass': null}}}, {'extends': 'p'}]}",
          "0: body(mass=1 position=1 1 1)\n1: body(mass=5 position=1 1 1)\n");
}
END_TEST

START_TEST(what_is_not_said_is_left_to_the_plugin)
{
    GIVES("{'entities': [{'components': {'body': {'mass': 1}, 'label': {}}}, {'components': {'body': {'mass': 1}, "
          "'label': {}}}]}",
          "0: body(mass=1) label()\n1: body(mass=1) label()\n");
}
END_TEST

START_TEST(prototypes_extend_and_override_each_other)
{
    GIVES("{'prototypes': {"
          "  'c': {'extends': 'b', 'components': {'body': {'mass': 3}, 'flag': null}},"
          "  'a': {'components': {'body': {'mass': 1, 'position': [1, 2, 3]}}},"
          "  'b': {'extends': 'a', 'components': {'flag': {}, 'fog': {'type': 'fx', 'strength': 1}}}},"
          " 'entities': [{'extends': 'c'}, {'extends': 'c', 'components': {'fog': {'strength': 0}}}]}",
          "0: body(mass=3 position=1 2 3) fog:fx(strength=1)\n1: body(mass=3 position=1 2 3) fog:fx(strength=0)\n");
}
END_TEST

START_TEST(an_entity_removes_and_adds_components)
{
    GIVES("{'prototypes': {'p': {'components': {'body': {'mass': 2}, 'mark': {'value': 4}}}},"
          " 'entities': [{'extends': 'p', 'components': {'body': null}}, {'extends': 'p', 'components': {'flag': "
          "{}}}]}",
          "0: mark(value=4)\n1: body(mass=2) flag() mark(value=4)\n");
}
END_TEST

START_TEST(entities_with_the_same_components_lie_together)
{
    GIVES("{'entities': [{'components': {'mark': {'value': 1}, 'flag': {}}}, {'components': {'flag': {}}},"
          " {'components': {'flag': {}, 'mark': {'value': 2}}}]}",
          "0: flag() mark(value=1)\n1: flag() mark(value=2)\n2: flag()\n");
}
END_TEST

START_TEST(children_know_their_parents)
{
    GIVES("{'entities': [{'name': 'root', 'components': {'pose': {}}, 'children': ["
          "   {'components': {'pose': {'place': [1, 0, 0]}}, 'children': [{'components': {'flag': {}}}]},"
          "   {'components': {'pose': {}}}]}]}",
          "0: pose(place=0 0 0)\n1: pose(place=1 0 0) < 0\n2: pose(place=0 0 0) < 0\n3: flag() < 1\n");
}
END_TEST

START_TEST(a_parent_may_be_a_property_instead)
{
    GIVES("{'entities': [{'components': {'pose': {'parent': 'root'}}}, {'name': 'root', 'components': {'pose': {}}}]}",
          "0: pose() < 1\n1: pose()\n");
}
END_TEST

START_TEST(two_parents_are_kept_apart)
{
    GIVES("{'entities': [{'components': {'pose': {'parent': 'a'}, 'other': {'type': 'pose', 'parent': 'b'}}}, {'name': "
          "'a'}, {'name': 'b'}]}",
          "0: pose(parent=#1) other:pose(parent=#2) < 1\n1:\n2:\n");
}
END_TEST

START_TEST(a_label_is_the_entity_s_name_unless_said)
{
    GIVES("{'entities': [{'name': 'earth', 'components': {'tag': {}}}, {'name': 'mars', 'components': {'tag': {'name': "
          "'red'}}},"
          " {'components': {'tag': {}}}, {'name': 'venus', 'components': {'tag': {'name': null}}}]}",
          "0: tag(name='earth')\n1: tag(name='red')\n2: tag(name='')\n3: tag(name='')\n");
}
END_TEST

START_TEST(a_count_makes_many)
{
    GIVES("{'entities': [{'name': 'moon', 'count': 3, 'components': {'tag': {}, 'body': {'mass': [1, 2, 3], "
          "'position': [[0, 0, 0], null, '1 1 1'],"
          " 'velocity': [7, 7, 7]}, 'fog': {'type': 'fx', 'colour': ['#ff0000', [0, 0, 0], null]}}}]}",
          "0: body(mass=1 position=0 0 0 velocity=7 7 7) fog:fx(colour=1 0 0 1) tag(name='moon[0]')\n"
          "1: body(mass=2 position=0 0 0 velocity=7 7 7) fog:fx(colour=0 0 0 1) tag(name='moon[1]')\n"
          "2: body(mass=3 position=1 1 1 velocity=7 7 7) fog:fx(colour=0.0627451017 0.125490203 0.188235298 1) "
          "tag(name='moon[2]')\n");
}
END_TEST

START_TEST(a_count_of_one_is_no_count)
{
    GIVES("{'entities': [{'name': 'moon', 'count': 1, 'components': {'tag': {}, 'mark': {'value': [5]}}}]}",
          "0: mark(value=5) tag(name='moon')\n");
}
END_TEST

START_TEST(children_are_made_for_each_of_a_count)
{
    GIVES("{'entities': [{'name': 'car', 'count': 2, 'components': {'flag': {}}, 'children': ["
          "  {'name': 'wheel', 'count': 3, 'components': {'tag': {}, 'mark': {'value': [1, 2, 3]}}}]}]}",
          "0: flag()\n1: flag()\n"
          "2: mark(value=1) tag(name='wheel[0][0]') < 0\n3: mark(value=2) tag(name='wheel[0][1]') < 0\n4: "
          "mark(value=3) tag(name='wheel[0][2]') < 0\n"
          "5: mark(value=1) tag(name='wheel[1][0]') < 1\n6: mark(value=2) tag(name='wheel[1][1]') < 1\n7: "
          "mark(value=3) tag(name='wheel[1][2]') < 1\n");
}
END_TEST

START_TEST(references_name_entities_before_and_behind)
{
    GIVES("{'entities': [{'name': 'a', 'components': {'label': {'home': 'b'}}}, {'name': 'b', 'components': {'label': "
          "{'home': 'a'}}},"
          " {'components': {'label': {'home': ''}}}, {'components': {'label': {'home': null}}}]}",
          "0: label(home=#1)\n1: label(home=#0)\n2: label(home=none)\n3: label(home=none)\n");
}
END_TEST

START_TEST(references_name_one_of_a_count)
{
    GIVES("{'entities': [{'name': 'm', 'count': 3, 'components': {'label': {'home': ['m[2]', 'm[0]', '']}}},"
          " {'components': {'label': {'home': 'm[1]'}}}]}",
          "0: label(home=#2)\n1: label(home=#0)\n2: label(home=none)\n3: label(home=#1)\n");
}
END_TEST

START_TEST(references_inside_a_count_stay_inside)
{
    GIVES("{'entities': [{'name': 'car', 'count': 2, 'components': {'label': {'home': 'wheel[1]'}}, 'children': ["
          "  {'name': 'wheel', 'count': 2, 'components': {'label': {'home': ['car', 'axle']}}},"
          "  {'name': 'axle', 'components': {'label': {'home': 'wheel[1][0]'}}}]}]}",
          "0: label(home=#3)\n1: label(home=#5)\n"
          "2: label(home=#0) < 0\n3: label(home=#6) < 0\n4: label(home=#1) < 1\n5: label(home=#7) < 1\n"
          "6: label(home=#4) < 0\n7: label(home=#4) < 1\n");
}
END_TEST

START_TEST(references_in_prototypes_are_those_of_who_extends_them)
{
    GIVES("{'prototypes': {'p': {'components': {'label': {'home': 'root'}}}}, 'entities': [{'extends': 'p'}, {'name': "
          "'root'}]}",
          "0: label(home=#1)\n1:\n");
}
END_TEST

START_TEST(a_name_may_look_like_one_of_a_count)
{
    GIVES("{'entities': [{'name': 'x[7]'}, {'name': 'x'}, {'components': {'label': {'home': 'x[7]'}}}]}",
          "0:\n1:\n2: label(home=#0)\n");
}
END_TEST

START_TEST(types_come_in_spawn_order)
{
    bp_scene_o *made = stage_compile(&stage, "{'entities': [{'components': {'tag': {}, 'body': {}, 'pose': {}}}]}");
    size_t size;
    const void *bytes = bp_scene_bytes(made, &size);
    blob_t blob;
    memory_t memory;
    error_text_t error = {.calls = NULL};
    memory_init(&memory, "test", &(bp_allocator_i){.resize = NULL});
    ck_assert_int_eq(blob_open(&blob, &memory, bytes, size, "blob", &error), BP_OK);
    const char *const expected[] = {"pose", "body", "tag"};
    for (uint32_t i = 0; i < COUNT(expected); i++)
        ck_assert_str_eq(blob_text(&blob, blob.components[i].type), expected[i]);
    ck_assert_uint_eq(bp_scene_entity_count(made), 1);
    ck_assert_uint_eq(bp_scene_component_count(made), 3);
    bp_scene_close(made);
}
END_TEST

START_TEST(what_is_alike_is_written_once)
{
    bp_scene_o *many = stage_compile(&stage, "{'entities': [{'count': 100000, 'components': {'sample': {'a_string': "
                                             "'x'}, 'body': {'mass': 2}}},"
                                             " {'components': {'body': {'mass': 3}}}]}");
    size_t size;
    bp_scene_bytes(many, &size);
    ck_assert_uint_eq(bp_scene_entity_count(many), 100001);
    ck_assert_uint_lt(size, 8192);
    bp_scene_close(many);
}
END_TEST

START_TEST(a_name_with_numbers_that_no_instance_has_is_free)
{
    GIVES("{'entities': [{'name': 'car', 'count': 2, 'children': [{'name': 'wheel', 'count': 4}]},"
          "{'name': 'wheel[2][0]'}, {'name': 'wheel[0][4]'}, {'name': 'car[2]'}]}",
          "0:\n1:\n2:\n3:\n4:\n5: < 0\n6: < 0\n7: < 0\n8: < 0\n9: < 1\n10: < 1\n11: < 1\n12: < 1\n");
}
END_TEST

START_TEST(null_for_each_instance_gives_lists_their_default)
{
    static const char text[] = "{'entities': [{'count': 2, 'components': {'bag': {'hits': [null, null]}}},"
                               "{'count': 2, 'components': {'bag': {'hits': [null, [1, 2]]}}}]}";
    bp_scene_o *scene = stage_compile(&stage, text);
    ck_assert_uint_eq(bp_scene_entity_count(scene), 4);
    bp_scene_close(scene);
}
END_TEST

/* A scene of entities with a list of eight numbers each, the same one or each its own. */
static size_t size_with_lists(bool same)
{
    enum { BAGS = 200 };
    static char text[BAGS * 96];
    size_t used = (size_t)snprintf(text, sizeof text, "{'entities': [{}"), size;
    for (int i = 0; i < BAGS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 ", {'components': {'bag': {'hits': [%d, 1, 2, 3, 4, 5, 6, 7]}}}", same ? 0 : i);
    snprintf(text + used, sizeof text - used, "]}");
    bp_scene_o *scene = stage_compile(&stage, text);
    bp_scene_bytes(scene, &size);
    bp_scene_close(scene);
    return size;
}

START_TEST(equal_lists_are_written_once)
{
    size_t own = size_with_lists(false), same = size_with_lists(true);
    EXPECT(same + 199 * 8 * sizeof(float) <= own, "%zu and %zu", same, own);
}
END_TEST

START_TEST(the_same_scene_gives_the_same_bytes)
{
    const char *scene = "{'entities': [{'count': 5, 'components': {'sample': {'a_name': 'q'}, 'label': {'home': "
                        "null}}}, {'components': {'flag': {}}}]}";
    stage_t other;
    stage_open(&other);
    bp_scene_o *a = stage_compile(&stage, scene), *b = stage_compile(&other, scene);
    size_t size, other_size;
    const void *bytes = bp_scene_bytes(a, &size), *others = bp_scene_bytes(b, &other_size);
    ck_assert_uint_eq(size, other_size);
    ck_assert_mem_eq(bytes, others, size);
    bp_scene_close(a);
    bp_scene_close(b);
    stage_close(&other);
}
END_TEST

START_TEST(a_scene_is_opened_from_json_as_from_a_blob)
{
    static const char json[] = "{\"entities\": [{\"components\": {\"mark\": {\"value\": 4}}}]}";
    bp_scene_o *scene = NULL;
    char path[1100];
    snprintf(path, sizeof path, "%s", scratch_file("opened.json", json));
    WORKS(stage.host, bp_scene_open(stage.host, path, &scene));
    ck_assert_uint_eq(bp_scene_entity_count(scene), 1);
    snprintf(path, sizeof path, "%s", scratch_file("opened.bpe", ""));
    WORKS(stage.host, bp_scene_write(scene, path));
    bp_scene_close(scene);
    WORKS(stage.host, bp_scene_open(stage.host, path, &scene));
    char *said = stage_describe(scene);
    ck_assert_str_eq(said, "0: mark(value=4)\n");
    free(said);
    bp_scene_close(scene);
    WORKS(stage.host, bp_scene_open(stage.host, scratch_file("no_ending", json), &scene));
    bp_scene_close(scene);
    FAILS(stage.host, BP_ERROR_SYNTAX, "the text is empty",
          bp_scene_open(stage.host, scratch_file("empty.json", ""), &scene));
}
END_TEST

Suite *compile_suite(void)
{
    Suite *suite = suite_create("compile");
    TCase *tcase = tcase_create("scenes");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, an_empty_scene_has_no_entities);
    tcase_add_test(tcase, a_component_s_type_is_said_or_is_its_name);
    tcase_add_test(tcase, every_type_is_read_in_json_s_form);
    tcase_add_test(tcase, small_large_and_double_types_are_read_in_json_s_form_and_as_text);
    tcase_add_test(tcase, named_values_are_read_by_name_and_number);
    tcase_add_test(tcase, every_type_is_read_as_text);
    tcase_add_test(tcase, null_gives_the_default_back);
    tcase_add_test(tcase, what_is_not_said_is_left_to_the_plugin);
    tcase_add_test(tcase, prototypes_extend_and_override_each_other);
    tcase_add_test(tcase, an_entity_removes_and_adds_components);
    tcase_add_test(tcase, entities_with_the_same_components_lie_together);
    tcase_add_test(tcase, children_know_their_parents);
    tcase_add_test(tcase, a_parent_may_be_a_property_instead);
    tcase_add_test(tcase, two_parents_are_kept_apart);
    tcase_add_test(tcase, a_label_is_the_entity_s_name_unless_said);
    tcase_add_test(tcase, a_count_makes_many);
    tcase_add_test(tcase, a_count_of_one_is_no_count);
    tcase_add_test(tcase, children_are_made_for_each_of_a_count);
    tcase_add_test(tcase, references_name_entities_before_and_behind);
    tcase_add_test(tcase, references_name_one_of_a_count);
    tcase_add_test(tcase, references_inside_a_count_stay_inside);
    tcase_add_test(tcase, references_in_prototypes_are_those_of_who_extends_them);
    tcase_add_test(tcase, a_name_may_look_like_one_of_a_count);
    tcase_add_test(tcase, types_come_in_spawn_order);
    tcase_add_test(tcase, what_is_alike_is_written_once);
    tcase_add_test(tcase, a_name_with_numbers_that_no_instance_has_is_free);
    tcase_add_test(tcase, null_for_each_instance_gives_lists_their_default);
    tcase_add_test(tcase, equal_lists_are_written_once);
    tcase_add_test(tcase, the_same_scene_gives_the_same_bytes);
    tcase_add_test(tcase, a_scene_is_opened_from_json_as_from_a_blob);
    suite_add_tcase(suite, tcase);
    return suite;
}
