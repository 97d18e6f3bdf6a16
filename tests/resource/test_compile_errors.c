/* test_compile_errors.c - scenes that are wrong: each is refused with its place, what is wrong and what would be right,
 * and nothing is left behind. */
#include "../suites.h"
#include "stage.h"

#include "scene/compile_inner.h"

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

typedef struct fault_t {
    const char *scene;
    bp_result_t code;
    const char *says; /* after "scene:" */
} fault_t;

static void refuse(const fault_t *fault)
{
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "scene:%s", fault->says);
    stage_refuses(&stage, fault->code, fault->scene, sentence);
}

/* --- no JSON ------------------------------------------------------------------------------------------------------ */

static const fault_t syntax[] = {
    {"", BP_ERROR_SYNTAX, "1:1: the text is empty; an object is expected, which begins with '{'"},
    {" \n\t\n ", BP_ERROR_SYNTAX, "3:2: the text is empty"},
    {"[]", BP_ERROR_SYNTAX, "1:1: an object, which begins with '{', expected, not '['"},
    {"\n  12", BP_ERROR_SYNTAX, "2:3: an object, which begins with '{', expected, not '1'"},
    {"'x'", BP_ERROR_SYNTAX, "1:1: an object, which begins with '{', expected, not '\"'"},
    {"{", BP_ERROR_SYNTAX, "1:2: a member's name in quotes expected, but here the text ends"},
    {"{\n'entities': [\n  {,\n", BP_ERROR_SYNTAX, "3:4: a member's name in quotes expected, not ','"},
    {"{'entities': []} x", BP_ERROR_SYNTAX, "1:18: the end of the text expected, not 'x'"},
    {"{'entities': [],}", BP_ERROR_SYNTAX, "1:17: a member's name in quotes expected, not '}'"},
    {"{'entities': nul}", BP_ERROR_SYNTAX, "1:14: a value expected, not 'nul'"},
    {"{'entities': [{'name': 'a\tb'}]}", BP_ERROR_SYNTAX,
     "1:26: the control character 0x09 in a string; write it as \\u0009"},
    {"{'entities': [{'name': 'a\\u0000b'}]}", BP_ERROR_SYNTAX, "1:26: \\u0000 cannot be part of a text here"},
    {"{'entities': [{'name': '\xff'}]}", BP_ERROR_SYNTAX, "1:25: the byte 0xff is not UTF-8 here"},
    {"{'entities': [{'name': '\xc0\xaf'}]}", BP_ERROR_SYNTAX, "1:25: the byte 0xc0 is not UTF-8 here"},
    {"{'entities': [{'name': '\\ud800'}]}", BP_ERROR_SYNTAX, "1:25: the first half of a surrogate pair stands alone"},
    {"{'entities': [{'count': 1, 'count': 2}]}", BP_ERROR_SYNTAX,
     "1:28: the member 'count' stands in this object twice"},
    {"{'entities': [{'components': {'mark': {'value': NaN}}}]}", BP_ERROR_SYNTAX, "1:49: a value expected, not 'NaN'"},
    {"{'entities': [{'components': {'mark': {'value': 01}}}]}", BP_ERROR_SYNTAX,
     "1:49: a number does not begin with 0, unless a dot follows"},
    {"{'entities': [{'count': 99999999999999999999}]}", BP_ERROR_SYNTAX,
     "1:25: the whole number is too large: they go from -9223372036854775808 to 9223372036854775807; others have a dot "
     "or an e"},
    {"{'entities': [{'count': 1e999}]}", BP_ERROR_SYNTAX,
     "1:25: the number is larger than any: the largest is 1.8e308"},
};

START_TEST(what_is_no_json_is_refused_with_line_and_column)
{
    refuse(&syntax[_i]);
}
END_TEST

START_TEST(a_zero_byte_ends_nothing)
{
    static const char scene[] = "{\"entities\": [\0]}";
    bp_scene_o *blob = NULL;
    FAILS(stage.host, BP_ERROR_SYNTAX,
          "scene:1:15: ", bp_scene_compile_text(stage.host, "scene", scene, sizeof scene - 1, &blob));
}
END_TEST

START_TEST(a_missing_file_is_named)
{
    bp_scene_o *blob = NULL;
    FAILS(stage.host, BP_ERROR_IO, "nowhere/scene.json: cannot be opened",
          bp_scene_compile(stage.host, "nowhere/scene.json", &blob));
}
END_TEST

START_TEST(a_file_is_named_with_line_and_column)
{
    bp_scene_o *blob = NULL;
    const char *path = scratch_file("wrong.json", "{\n\"entities\": [\n  {\"components\": {\"bodi\": {}}}\n]}");
    char sentence[1100];
    snprintf(sentence, sizeof sentence, "%s:3:19: entities[0].components.bodi: ", path);
    FAILS(stage.host, BP_ERROR_NOT_FOUND, sentence, bp_scene_compile(stage.host, path, &blob));
}
END_TEST

/* --- depth and size ----------------------------------------------------------------------------------------------- */

/* `depth` lists in a list in the scene's object. */
static char *nested(uint32_t depth, const char *open, const char *close)
{
    size_t size = 64 + depth * (strlen(open) + strlen(close));
    char *text = malloc(size), *at = text;
    at += sprintf(at, "{'//': ");
    for (uint32_t i = 0; i < depth; i++)
        at += sprintf(at, "%s", open);
    at += sprintf(at, "1");
    for (uint32_t i = 0; i < depth; i++)
        at += sprintf(at, "%s", close);
    sprintf(at, "}");
    return text;
}

START_TEST(depth_has_a_limit)
{
    char *deep = nested(TREE_MAX_DEPTH - 1, "[", "]"), *deeper = nested(TREE_MAX_DEPTH, "[", "]");
    bp_scene_o *blob = stage_compile(&stage, deep);
    bp_scene_close(blob);
    stage_refuses(&stage, BP_ERROR_LIMIT, deeper,
                  "scene:1:1031: objects and lists lie within each other more than 1024 deep");
    free(deep);
    free(deeper);
    deeper = nested(TREE_MAX_DEPTH, "{'a':", "}");
    stage_refuses(&stage, BP_ERROR_LIMIT, deeper, "scene:1:");
    free(deeper);
}
END_TEST

START_TEST(children_may_go_as_deep_as_json)
{
    const uint32_t deepest = (TREE_MAX_DEPTH - 1) / 2; /* each is an object in a list, but for the last also with
                                                          components */
    char *scene = malloc(64 * deepest);
    strcpy(scene, "{'entities': ");
    char *at = scene + strlen(scene);
    for (uint32_t i = 0; i < deepest; i++)
        at += sprintf(at, "[{%s'children': ", i + 1 < deepest ? "'components': {'pose': {}}, " : "");
    at += sprintf(at, "[]");
    for (uint32_t i = 0; i < deepest; i++)
        at += sprintf(at, "}]");
    strcpy(at, "}");
    char *last = strstr(scene, "[]");
    memcpy(last, "0 ", 2); /* one list less: the limit is reached exactly */
    stage_refuses(&stage, BP_ERROR_TYPE, scene, "scene:1:");
    ck_assert_ptr_nonnull(
        strstr(bp_host_error(stage.host), ".children[0].children: 'children' takes a list of entities"));
    free(scene);
}
END_TEST

/* So many megabytes of `unit` behind some text. */
static void refuse_flood(size_t megabytes, const char *begin_with, const char *unit, bp_result_t code,
                         const char *sentence)
{
    const size_t size = megabytes << 20, length = strlen(unit), start = strlen(begin_with);
    char *text = malloc(size);
    bp_scene_o *blob = NULL;
    memcpy(text, begin_with, start);
    memcpy(text + start, unit, length);
    for (size_t filled = start + length, n; filled < size; filled += n) {
        n = (filled - start) / length * length < size - filled ? (filled - start) / length * length : size - filled;
        memcpy(text + filled, text + start, n);
    }
    FAILS(stage.host, code, sentence, bp_scene_compile_text(stage.host, "scene", text, size, &blob));
    free(text);
}

START_TEST(a_flood_of_brackets_is_refused)
{
    refuse_flood(100, "", "[", BP_ERROR_SYNTAX, "scene:1:1: an object, which begins with");
    refuse_flood(100, "{\"entities\": ", "[", BP_ERROR_LIMIT, "more than 1024 deep");
    refuse_flood(4, "{\"entities\": [", "[],", BP_ERROR_SYNTAX, "',' or ']' expected, but here the text ends");
    refuse_flood(4, "{\"entities\": [", "{},", BP_ERROR_SYNTAX, "scene:1:419430");
    refuse_flood(100, "{\"entities\": [", "{\"a\":", BP_ERROR_LIMIT, "more than 1024 deep");
}
END_TEST

/* --- JSON that is no scene ---------------------------------------------------------------------------------------- */

#define ONE(components) "{'entities': [{'components': {" components "}}]}"

static const fault_t structure[] = {
    {"{'entites': []}", BP_ERROR_NOT_FOUND,
     "1:2: entites: a scene has no 'entites'; did you mean 'entities'? (it has prototypes, entities, world, worlds)"},
    {"{'entities': {}}", BP_ERROR_TYPE, "1:2: entities: 'entities' takes a list of entities, not an object"},
    {"{'entities': [{}, 3]}", BP_ERROR_TYPE,
     "1:19: entities[1]: an entity is an object, {\"components\": {...}}, not a whole number"},
    {"{'entities': [{'child': []}]}", BP_ERROR_NOT_FOUND,
     "1:16: entities[0].child: an entity has no 'child' (it has name, extends, components, children, count)"},
    {"{'entities': [{'componets': {}}]}", BP_ERROR_NOT_FOUND,
     "1:16: entities[0].componets: an entity has no 'componets'; did you mean 'components'?"},
    {"{'entities': [{'children': {}}]}", BP_ERROR_TYPE,
     "1:16: entities[0].children: 'children' takes a list of entities, not an object"},
    {"{'entities': [{'children': [{}, {'children': [7]}]}]}", BP_ERROR_TYPE,
     "1:47: entities[0].children[1].children[0]: an entity is an object"},
    {"{'entities': [{'components': []}]}", BP_ERROR_TYPE, "1:16: entities[0].components: 'components' takes an object"},
    {ONE("'body': 3"), BP_ERROR_TYPE,
     "1:31: entities[0].components.body: a component is an object of its properties, or null, not a whole number"},
    {ONE("'my body': {'type': 'body'}"), BP_ERROR_ARGUMENT,
     "1:31: entities[0].components.my body: 'my body' is no name for a component"},
    {ONE("'': {}"), BP_ERROR_ARGUMENT, "1:31: entities[0].components.: '' is no name for a component"},
    {ONE("'bodi': {}"), BP_ERROR_NOT_FOUND,
     "1:31: entities[0].components.bodi: a component needs a \"type\", unless it is called by its type; there is no "
     "type 'bodi'; did you mean 'body'? (there are "},
    {ONE("'fog': {'type': 'fxx'}"), BP_ERROR_NOT_FOUND,
     "1:39: entities[0].components.fog.type: no loaded plugin has a component type 'fxx'; did you mean 'fx'? (there "
     "are pose, bag, body"},
    {ONE("'fog': {'type': 5}"), BP_ERROR_TYPE,
     "1:39: entities[0].components.fog.type: \"type\" takes the name of a component type in a string, not a whole "
     "number"},
    {ONE("'body': null"), BP_ERROR_NOT_FOUND,
     "1:31: entities[0].components.body: null removes an inherited component, and no 'body' is inherited"},
    {ONE("'once': {}, 'twice': {'type': 'once'}"), BP_ERROR_EXISTS,
     "1:16: entities[0].components: 'once' and 'twice' are both a once, of which an entity has one at most"},
    {"{'entities': [{'name': 3}]}", BP_ERROR_TYPE,
     "1:16: entities[0].name: 'name' takes a name in a string, not a whole number"},
    {"{'entities': [{'name': ''}]}", BP_ERROR_LIMIT, "1:16: entities[0].name: a name has 1 to 255 bytes"},
    {"{'entities': [{'name': 'none'}]}", BP_ERROR_ARGUMENT,
     "1:16: entities[0].name: 'none' is the value of a property that refers to no entity"},
    {"{'entities': [{'name': 'a'}, {'children': [{'name': 'a'}]}]}", BP_ERROR_EXISTS,
     "1:45: entities[1].children[0].name: another entity is called 'a' already; names are unique in a scene"},
    {"{'entities': [{'name': 'b', 'count': 2, 'children': [{'name': 'a', 'count': 3}]}, {'name': 'a[1][2]'}]}",
     BP_ERROR_EXISTS, "1:84: entities[1].name: 'a[1][2]' is what an instance of 'a' is called"},
    {"{'entities': [{'name': 'a', 'count': 2}, {'name': 'a[1]'}]}", BP_ERROR_EXISTS,
     "1:43: entities[1].name: 'a[1]' is what an instance of 'a' is called, which has a count; choose another name"},
};

START_TEST(a_structure_that_is_no_scene_is_refused_with_its_path)
{
    refuse(&structure[_i]);
}
END_TEST

static const fault_t prototypes[] = {
    {"{'prototypes': []}", BP_ERROR_TYPE, "1:2: prototypes: 'prototypes' takes an object"},
    {"{'prototypes': {'p': 1}}", BP_ERROR_TYPE, "1:17: prototypes.p: a prototype is an object, not a whole number"},
    {"{'prototypes': {'': {}}}", BP_ERROR_LIMIT, "1:17: prototypes.: a prototype's name has 1 to 255 bytes"},
    {"{'prototypes': {'p': {'children': []}}}", BP_ERROR_NOT_FOUND,
     "1:23: prototypes.p.children: a prototype has no 'children' (it has extends, components)"},
    {"{'prototypes': {'p': {'extends': 'rok'}, 'rock': {}}}", BP_ERROR_NOT_FOUND,
     "1:23: prototypes.p.extends: the scene has no prototype 'rok'; did you mean 'rock'?"},
    {"{'prototypes': {'rock': {}}, 'entities': [{'extends': 'rok'}]}", BP_ERROR_NOT_FOUND,
     "1:44: entities[0].extends: the scene has no prototype 'rok'; did you mean 'rock'?"},
    {"{'entities': [{'extends': ['a', 'b']}]}", BP_ERROR_TYPE,
     "1:16: entities[0].extends: 'extends' takes a name in a string, not a list"},
    {"{'prototypes': {'a': {'extends': 'a'}}}", BP_ERROR_ARGUMENT,
     "1:23: prototypes.a.extends: prototypes extend each other in a circle: a -> a"},
    {"{'prototypes': {'z': {'extends': 'a'}, 'a': {'extends': 'b'}, 'b': {'extends': 'c'}, 'c': {'extends': 'a'}}}",
     BP_ERROR_ARGUMENT, "1:46: prototypes.a.extends: prototypes extend each other in a circle: a -> b -> c -> a"},
    {"{'prototypes': {'p': {'components': {'body': {'mas': 1}}}}}", BP_ERROR_NOT_FOUND,
     "1:47: prototypes.p.components.body.mas: no property 'mas' in body; did you mean 'mass'? (it has mass, position, "
     "velocity, acceleration)"},
    {"{'prototypes': {'p': {'components': {'fog': {'type': 'fx'}}}}, 'entities': [{'extends': 'p', 'components': "
     "{'fog': {'type': 'body'}}}]}",
     BP_ERROR_TYPE,
     "1:117: entities[0].components.fog.type: the inherited 'fog' is a fx; give the other component another name, and "
     "remove this one with null"},
    {"{'prototypes': {'p': {'components': {'fog': {'type': 'fx'}}}}, 'entities': [{'extends': 'p', 'components': "
     "{'fig': null}}]}",
     BP_ERROR_NOT_FOUND,
     "1:109: entities[0].components.fig: null removes an inherited component, and no 'fig' is inherited; did you mean "
     "'fog'?"},
    {"{'prototypes': {'p': {'components': {'mark': {'value': [1, 2]}}}}}", BP_ERROR_TYPE,
     "1:47: prototypes.p.components.mark.value: value takes a whole number from 0 to 4294967295 (type u32), not a "
     "list"},
    {"{'prototypes': {'p': {'components': {'label': {'home': 'x'}}}}, 'entities': [{'extends': 'p'}]}",
     BP_ERROR_NOT_FOUND, "1:48: prototypes.p.components.label.home: the scene has no entity 'x'"},
};

START_TEST(prototypes_that_are_wrong_are_refused)
{
    refuse(&prototypes[_i]);
}
END_TEST

static const fault_t counts[] = {
    {"{'entities': [{'body': {'mass': 3}}]}", BP_ERROR_NOT_FOUND,
     "1:16: entities[0].body: 'body' is a component; components stand in \"components\": {\"body\": {...}}"},
    {"{'entities': [{'torso': {'type': 'body'}}]}", BP_ERROR_NOT_FOUND,
     "1:16: entities[0].torso: 'torso' is a component; components stand in"},
    {"{'prototypes': {'p': {'body': {}}}}", BP_ERROR_NOT_FOUND,
     "1:23: prototypes.p.body: 'body' is a component; components stand in"},
    {"{'entities': [{'count': 0}]}", BP_ERROR_RANGE,
     "1:16: entities[0].count: 'count' takes a whole number from 1 to 4294967294"},
    {"{'entities': [{'count': -1}]}", BP_ERROR_RANGE, "1:16: entities[0].count: 'count' takes"},
    {"{'entities': [{'count': 1.5}]}", BP_ERROR_RANGE, "1:16: entities[0].count: 'count' takes"},
    {"{'entities': [{'count': 1e30}]}", BP_ERROR_RANGE, "1:16: entities[0].count: 'count' takes"},
    {"{'entities': [{'count': '3'}]}", BP_ERROR_TYPE, "1:16: entities[0].count: 'count' takes"},
    {"{'entities': [{'count': null}]}", BP_ERROR_TYPE, "1:16: entities[0].count: 'count' takes"},
    {"{'entities': [{'count': 4294967295}]}", BP_ERROR_RANGE,
     "1:16: entities[0].count: 'count' takes a whole number from 1 to 4294967294"},
    {"{'entities': [{'count': 70000, 'children': [{'count': 70000}]}]}", BP_ERROR_LIMIT,
     "1:46: entities[0].children[0].count: with this the scene has more than 4294967294 entities"},
    {"{'entities': [{'count': 3, 'components': {'mark': {'value': [1, 2]}}}]}", BP_ERROR_ARGUMENT,
     "1:52: entities[0].components.mark.value: value has 2 values for 3 instances (count is 3)"},
    {"{'entities': [{'count': 3, 'components': {'body': {'position': [[1, 2, 3]]}}}]}", BP_ERROR_ARGUMENT,
     "1:52: entities[0].components.body.position: position has 1 values for 3 instances (count is 3)"},
    {"{'entities': [{'count': 2, 'components': {'mark': {'value': []}}}]}", BP_ERROR_ARGUMENT,
     "1:52: entities[0].components.mark.value: value has 0 values for 2 instances"},
    {"{'entities': [{'count': 2, 'components': {'body': {'position': [[1, 2, 3], [1, 2]]}}}]}", BP_ERROR_TYPE,
     "1:76: entities[0].components.body.position[1]: position takes a list of 3 numbers, like [0, 0, 1] (type vec3), "
     "not a list of 2"},
    {"{'entities': [{'count': 2, 'components': {'mark': {'value': [1, -1]}}}]}", BP_ERROR_RANGE,
     "1:65: entities[0].components.mark.value[1]: value = -1 is not a whole number from 0 to 4294967295"},
    {"{'entities': [{'components': {'mark': {'value': [1]}}}]}", BP_ERROR_TYPE,
     "1:40: entities[0].components.mark.value: value takes one value; a list gives one to each instance where the "
     "entity has a \"count\""},
};

START_TEST(counts_that_contradict_are_refused)
{
    refuse(&counts[_i]);
}
END_TEST

#define SAMPLE(property) "{'entities': [{'components': {'sample': {" property "}}}]}"
#define AT "1:42: entities[0].components.sample."

static const fault_t values[] = {
    {SAMPLE("'a_f33': 1"), BP_ERROR_NOT_FOUND,
     AT "a_f33: no property 'a_f33' in sample; did you mean 'a_f32'? (it has a_bool, "},
    {SAMPLE("'a_reading': 1"), BP_ERROR_ARGUMENT, AT "a_reading: a_reading is read only: its plugin sets it"},
    {SAMPLE("'a_bool': 1"), BP_ERROR_TYPE, AT "a_bool: a_bool takes true or false (type bool), not a whole number"},
    {SAMPLE("'a_bool': 'maybe'"), BP_ERROR_TYPE, AT "a_bool: a_bool: 'maybe' is not true or false (type bool)"},
    {SAMPLE("'a_f32': true"), BP_ERROR_TYPE, AT "a_f32: a_f32 takes a number (type f32), not true or false"},
    {SAMPLE("'a_f32': {}"), BP_ERROR_TYPE, AT "a_f32: a_f32 takes a number (type f32), not an object"},
    {SAMPLE("'a_f32': 3.5e38"), BP_ERROR_RANGE, AT "a_f32: a_f32 = 3.5e+38 does not fit into a number of type f32"},
    {SAMPLE("'a_f32': -1e300"), BP_ERROR_RANGE, AT "a_f32: a_f32 = -1e+300 does not fit"},
    {SAMPLE("'a_f32': 'nan'"), BP_ERROR_TYPE, AT "a_f32: a_f32: 'nan' is not a number"},
    {SAMPLE("'a_i32': 2147483648"), BP_ERROR_RANGE,
     AT "a_i32: a_i32 = 2147483648 is not a whole number from -2147483648 to 2147483647 (type i32)"},
    {SAMPLE("'a_i32': -2147483649"), BP_ERROR_RANGE, AT "a_i32: a_i32 = -2147483649 is not"},
    {SAMPLE("'a_i32': 1.5"), BP_ERROR_RANGE, AT "a_i32: a_i32 = 1.5 is not a whole number"},
    {SAMPLE("'a_i32': 101"), BP_ERROR_RANGE,
     AT "a_i32: a_i32 = 101 is outside its range: at least -100 and at most 100"},
    {SAMPLE("'a_i32': '101'"), BP_ERROR_RANGE, AT "a_i32: a_i32 = 101 is outside its range"},
    {SAMPLE("'a_u32': -1"), BP_ERROR_RANGE, AT "a_u32: a_u32 = -1 is not a whole number from 0 to 4294967295"},
    {SAMPLE("'a_u8': 256"), BP_ERROR_RANGE, AT "a_u8: a_u8 = 256 is not a whole number from 0 to 255 (type u8)"},
    {SAMPLE("'an_i8': -129"), BP_ERROR_RANGE, AT "an_i8: an_i8 = -129 is not a whole number from -128 to 127"},
    {SAMPLE("'an_i8': 101"), BP_ERROR_RANGE, AT "an_i8: an_i8 = 101 is outside its range: at most 100"},
    {SAMPLE("'a_mood': 'gald'"), BP_ERROR_TYPE,
     AT "a_mood: a_mood: 'gald' is none of its values; did you mean 'glad'? (it has calm, glad, cross)"},
    {SAMPLE("'a_mood': 1"), BP_ERROR_RANGE, AT "a_mood: a_mood = 1 is none of its values (it has calm, glad, cross)"},
    {SAMPLE("'a_mood': true"), BP_ERROR_TYPE, AT "a_mood: a_mood takes one of its values in a string or a number"},
    {SAMPLE("'some_flags': 'red|yellow'"), BP_ERROR_TYPE,
     AT "some_flags: some_flags: 'yellow' is none of its flags (it has red, green, blue)"},
    {SAMPLE("'some_flags': 4"), BP_ERROR_RANGE, AT "some_flags: some_flags = 4 is none of its flags"},
    {SAMPLE("'a_u64': -1"), BP_ERROR_RANGE,
     AT "a_u64: a_u64 = -1 is not a whole number from 0 to 18446744073709551615"},
    {SAMPLE("'a_u64': 18446744073709551615"), BP_ERROR_SYNTAX, "1:51: the whole number is too large"},
    {SAMPLE("'a_dvec2': [1, -1001]"), BP_ERROR_RANGE,
     AT "a_dvec2: a_dvec2 = -1001 is outside its range: at least -1000"},
    {SAMPLE("'a_dvec3': [1, 2]"), BP_ERROR_TYPE,
     AT "a_dvec3: a_dvec3 takes a list of 3 numbers, like [0, 0, 1] (type dvec3), not a list of 2"},
    {SAMPLE("'a_u32': 4294967296"), BP_ERROR_RANGE, AT "a_u32: a_u32 = 4294967296 is not"},
    {SAMPLE("'a_i64': 1e17"), BP_ERROR_RANGE, AT "a_i64: a_i64 = 1e+17 is not a whole number of 64 bits"},
    {SAMPLE("'a_vec2': [1]"), BP_ERROR_TYPE,
     AT "a_vec2: a_vec2 takes a list of 2 numbers, like [0, 1] (type vec2), not a list of 1"},
    {SAMPLE("'a_vec2': [1, 51]"), BP_ERROR_RANGE, AT "a_vec2: a_vec2 = 51 is outside its range: at most 50"},
    {SAMPLE("'a_vec3': 1"), BP_ERROR_TYPE,
     AT "a_vec3: a_vec3 takes a list of 3 numbers, like [0, 0, 1] (type vec3), not a whole number"},
    {SAMPLE("'a_vec3': [1, '2', 3]"), BP_ERROR_TYPE,
     AT "a_vec3: a_vec3 takes a list of 3 numbers, like [0, 0, 1] (type vec3), and item 1 of this list is a string"},
    {SAMPLE("'a_vec3': [[1, 2, 3]]"), BP_ERROR_TYPE, AT "a_vec3: "},
    {SAMPLE("'a_mat4': [1, 2, 3]"), BP_ERROR_TYPE, AT "a_mat4: a_mat4 takes a list of 16 numbers"},
    {SAMPLE("'a_colour': '#12345'"), BP_ERROR_TYPE, AT "a_colour: a_colour: '#12345' is not #rrggbb"},
    {SAMPLE("'a_colour': [1, 2]"), BP_ERROR_TYPE,
     AT
     "a_colour: a_colour takes a string like \"#ff8000\" or a list of 3 or 4 numbers (type colour), not a list of 2"},
    {SAMPLE("'a_colour': [1, -1, 0]"), BP_ERROR_RANGE, AT "a_colour: a_colour = -1 is outside its range"},
    {SAMPLE("'a_string': 5"), BP_ERROR_TYPE, AT "a_string: a_string takes a string (type string), not a whole number"},
    {SAMPLE("'a_name': [5]"), BP_ERROR_TYPE, AT "a_name: "},
    {SAMPLE("'an_entity': 5"), BP_ERROR_TYPE,
     AT "an_entity: an_entity takes the name of an entity in a string, or null (type entity), not a whole number"},
    {SAMPLE("'an_entity': 'nobody'"), BP_ERROR_NOT_FOUND, AT "an_entity: the scene has no entity 'nobody'"},
};

START_TEST(values_that_do_not_fit_are_refused)
{
    refuse(&values[_i]);
}
END_TEST

static const fault_t references[] = {
    {"{'entities': [{'name': 'earth'}, {'components': {'label': {'home': 'eart'}}}]}", BP_ERROR_NOT_FOUND,
     "1:60: entities[1].components.label.home: the scene has no entity 'eart'; did you mean 'earth'?"},
    {"{'entities': [{'name': 'm', 'count': 3}, {'components': {'label': {'home': 'm'}}}]}", BP_ERROR_NOT_FOUND,
     "1:68: entities[1].components.label.home: 'm' stands for 3 entities, since there is a count; say which: m[0] to "
     "m[2]"},
    {"{'entities': [{'name': 'm', 'count': 3}, {'components': {'label': {'home': 'm[3]'}}}]}", BP_ERROR_RANGE,
     "1:68: entities[1].components.label.home: 'm[3]': the count is 3, so the numbers go from 0 to 2"},
    {"{'entities': [{'name': 'm', 'count': 3}, {'components': {'label': {'home': 'm[0][1]'}}}]}", BP_ERROR_NOT_FOUND,
     "1:68: entities[1].components.label.home: 'm' has 1 counts, so 'm[0][1]' names no entity"},
    {"{'entities': [{'name': 'm'}, {'components': {'label': {'home': 'm[0]'}}}]}", BP_ERROR_NOT_FOUND,
     "1:56: entities[1].components.label.home: 'm' has 0 counts, so 'm[0]' names no entity"},
    {"{'entities': [{'name': 'm', 'count': 2, 'components': {'label': {'home': ['m[0]', 'n']}}}]}", BP_ERROR_NOT_FOUND,
     "1:83: entities[0].components.label.home[1]: the scene has no entity 'n'"},
    {"{'entities': [{'name': 'car', 'count': 2, 'children': [{'name': 'wheel', 'count': 4}]}, {'components': {'label': "
     "{'home': 'wheel[1]'}}}]}",
     BP_ERROR_NOT_FOUND,
     "1:115: entities[1].components.label.home: 'wheel' stands for 8 entities, since there is a count; say which: "
     "wheel[0][0] to wheel[1][3]"},
    {"{'entities': [{'name': 'a', 'children': [{'components': {'pose': {'parent': 'a'}}}]}]}", BP_ERROR_ARGUMENT,
     "1:67: entities[0].children[0].components.pose.parent: the entity stands among the children of another, which is "
     "its parent; remove 'parent'"},
    {"{'entities': [{'name': 'a', 'components': {'pose': {'parent': 'b'}}}, {'name': 'b', 'components': {'pose': "
     "{'parent': 'a'}}}]}",
     BP_ERROR_ARGUMENT,
     "1:29: entities[0].components: 'a' is among its own parents: it is a child of 'b', which is below it"},
    {"{'entities': [{'name': 'a', 'components': {'pose': {'parent': 'a'}}}]}", BP_ERROR_ARGUMENT,
     "1:29: entities[0].components: the entity is its own parent"},
};

START_TEST(references_that_lead_nowhere_are_refused)
{
    refuse(&references[_i]);
}
END_TEST

/* --- limits ------------------------------------------------------------------------------------------------------- */

START_TEST(an_entity_has_at_most_255_components)
{
    char scene[16384] = "{'entities': [{'components': {";
    for (int i = 0; i < 255; i++)
        sprintf(scene + strlen(scene), "%s'f%d': {'type': 'flag'}", i > 0 ? ", " : "", i);
    size_t length = strlen(scene);
    strcat(scene, "}}]}");
    bp_scene_o *blob = stage_compile(&stage, scene);
    ck_assert_uint_eq(bp_scene_component_count(blob), 255);
    bp_scene_close(blob);
    strcpy(scene + length, ", 'last': {'type': 'flag'}}}]}");
    stage_refuses(&stage, BP_ERROR_LIMIT, scene, "scene:1:");
    ck_assert_ptr_nonnull(strstr(bp_host_error(stage.host), "components.last: an entity has at most 255 components"));
}
END_TEST

START_TEST(names_have_a_longest)
{
    static const char *const forms[] = {
        "{'entities': [{'name': '%0*d'}]}",
        "{'entities': [{'components': {'sample': {'a_name': '%0*d'}}}]}",
        "{'prototypes': {'%0*d': {}}}",
    };
    for (uint32_t i = 0; i < COUNT(forms); i++) {
        char scene[1024];
        sprintf(scene, forms[i], 255, 0);
        bp_scene_o *blob = stage_compile(&stage, scene);
        bp_scene_close(blob);
        sprintf(scene, forms[i], 256, 0);
        stage_refuses(&stage, BP_ERROR_LIMIT, scene, "scene:1:");
    }
}
END_TEST

START_TEST(counts_lie_in_each_other_sixteen_deep)
{
    char scene[2048] = "{'entities': ";
    for (int i = 0; i < SCENE_MAX_DIMENSIONS; i++)
        strcat(scene, "[{'count': 2, 'children': ");
    size_t length = strlen(scene);
    strcat(scene, "[]");
    for (int i = 0; i < SCENE_MAX_DIMENSIONS; i++)
        strcat(scene, "}]");
    strcat(scene, "}");
    bp_scene_o *blob = stage_compile(&stage, scene);
    ck_assert_uint_eq(bp_scene_entity_count(blob), (2u << SCENE_MAX_DIMENSIONS) - 2);
    bp_scene_close(blob);
    char rest[256];
    strcpy(rest, scene + length + 2);
    sprintf(scene + length, "[{'count': 2}]%s", rest);
    stage_refuses(&stage, BP_ERROR_LIMIT, scene, "scene:1:");
    ck_assert_ptr_nonnull(strstr(bp_host_error(stage.host), "count: counts lie within each other more than 16 deep"));
}
END_TEST

START_TEST(the_largest_scene_is_one_line)
{
    stage_refuses(&stage, BP_ERROR_NOT_FOUND, "{'entities': [{'count': 4294967294, 'components': {'no': {}}}]}",
                  "scene:1:52: ");
}
END_TEST

/* --- places ------------------------------------------------------------------------------------------------------- */

START_TEST(places_are_found_behind_escapes_and_nested_things)
{
    static const char scene[] = "{\"// \\\"remark\\\" {\": [\"]}\", {\"a\": [1, {}]}],\r\n"
                                " \"entities\": [\n"
                                "  {\"name\": \"x{[\", \"components\": {}},\n"
                                "  {\"compo\\u006eents\": {\"lab\\u0065l\" : {\"\\u0072ank\":\n"
                                "\t11}}}]}";
    bp_scene_o *blob = NULL;
    FAILS(stage.host, BP_ERROR_RANGE, "scene:4:40: entities[1].components.label.rank: rank = 11 is outside its range",
          bp_scene_compile_text(stage.host, "scene", scene, strlen(scene), &blob));
}
END_TEST

START_TEST(columns_count_characters)
{
    static const char scene[] = "{\"entities\": [{\"name\": \"\xC3\xA9\xE2\x82\xAC\", \"count\": 0}]}";
    bp_scene_o *blob = NULL;
    FAILS(stage.host, BP_ERROR_RANGE,
          "scene:1:30: ", bp_scene_compile_text(stage.host, "scene", scene, strlen(scene), &blob));
}
END_TEST

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* Each allocation of a scene with everything in it is refused once, alone or with all that follow; then the scene
   compiles. */
static void refuse_each(bool all_from_there)
{
    static const char scene[] =
        "{'prototypes': {'p': {'components': {'sample': {'a_name': 'n', 'a_string': 's'}}}, 'q': {'extends': 'p'}},"
        " 'entities': [{'name': 'a', 'extends': 'q', 'count': 3, 'components': {'tag': {}, 'mark': {'value': [1, 2, "
        "3]}}, 'children': ["
        "   {'name': 'b', 'components': {'pose': {}, 'label': {'home': 'a'}}}]}, {'extends': 'p', 'components': "
        "{'pose': {'parent': 'b[1]'}}}]}";
    heap_t *heap = &stage.rig.heap;
    char *json = stage_json(scene);
    for (uint64_t nth = 1;; nth++) {
        bp_scene_o *made = NULL;
        uint64_t refused = heap->refused;
        size_t bytes = heap->bytes;
        heap->refuse_first = heap->requests + nth;
        heap->refuse_last = all_from_there ? UINT64_MAX : heap->refuse_first;
        bp_result_t result = bp_scene_compile_text(stage.host, "scene", json, strlen(json), &made);
        heap->refuse_first = 0;
        if (heap->refused == refused) {
            ck_assert_int_eq(result, BP_OK);
            ck_assert_uint_gt(nth, 20);
            bp_scene_close(made);
            break;
        }
        const char *said = bp_host_error(stage.host);
        if (result == BP_OK) { /* done without, at the price of speed */
            bp_scene_close(made);
            continue;
        }
        EXPECT(result == BP_ERROR_MEMORY && made == NULL, "request %u: %d, %s", (unsigned)nth, result, said);
        EXPECT(strstr(said, "out of memory") != NULL, "request %u says: %s", (unsigned)nth, said);
        EXPECT(heap->bytes <= bytes + 4096, "request %u leaves %zu bytes", (unsigned)nth,
               heap->bytes - bytes); /* interned names */
    }
    free(json);
}

START_TEST(every_allocation_may_fail)
{
    refuse_each(false);
    refuse_each(true);
}
END_TEST

Suite *compile_errors_suite(void)
{
    Suite *suite = suite_create("compile_errors");
    TCase *tcase = tcase_create("errors");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_set_timeout(tcase, 30);
    tcase_add_loop_test(tcase, what_is_no_json_is_refused_with_line_and_column, 0, (int)COUNT(syntax));
    tcase_add_test(tcase, a_zero_byte_ends_nothing);
    tcase_add_test(tcase, a_missing_file_is_named);
    tcase_add_test(tcase, a_file_is_named_with_line_and_column);
    tcase_add_test(tcase, depth_has_a_limit);
    tcase_add_test(tcase, children_may_go_as_deep_as_json);
    tcase_add_test(tcase, a_flood_of_brackets_is_refused);
    tcase_add_loop_test(tcase, a_structure_that_is_no_scene_is_refused_with_its_path, 0, (int)COUNT(structure));
    tcase_add_loop_test(tcase, prototypes_that_are_wrong_are_refused, 0, (int)COUNT(prototypes));
    tcase_add_loop_test(tcase, counts_that_contradict_are_refused, 0, (int)COUNT(counts));
    tcase_add_loop_test(tcase, values_that_do_not_fit_are_refused, 0, (int)COUNT(values));
    tcase_add_loop_test(tcase, references_that_lead_nowhere_are_refused, 0, (int)COUNT(references));
    tcase_add_test(tcase, an_entity_has_at_most_255_components);
    tcase_add_test(tcase, names_have_a_longest);
    tcase_add_test(tcase, counts_lie_in_each_other_sixteen_deep);
    tcase_add_test(tcase, the_largest_scene_is_one_line);
    tcase_add_test(tcase, places_are_found_behind_escapes_and_nested_things);
    tcase_add_test(tcase, columns_count_characters);
    tcase_add_test(tcase, every_allocation_may_fail);
    suite_add_tcase(suite, tcase);
    return suite;
}
