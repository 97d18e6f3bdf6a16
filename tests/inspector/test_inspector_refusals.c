/* test_inspector_refusals.c - requests that the inspector refuses: parameters that are missing or of another type,
 * names of nothing, entities that have died, values that do not fit. Each is answered with the sentence that helps, and
 * has changed nothing, also where the first half of it could have been carried out.
 */
#define _POSIX_C_SOURCE 200809L

#include "served_stage.h"

#include "../suites.h"

#include <stdlib.h>

/* Everything of the world that a client can see, but the number that changes with each change of its structure; a text
 * that the caller frees. */
static char *all_of(const served_t *served)
{
    static const char *const asked[][2] = {{"world.query", "{\"data\":{\"option\":\"all\"}}"},
                                           {"world.list_resources", "{}"},
                                           {"world.get_resources", "{\"resource\":\"gravity_law\"}"},
                                           {"world.list_components", "{}"},
                                           {"backplane.reloads", "{}"}};
    size_t length = 0;
    char *all = malloc(1);
    ck_assert_ptr_nonnull(all);
    all[0] = '\0';
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        const char *answer = whole(served, send_call(served, asked[i][0], asked[i][1]));
        const char *body = strstr(answer, "\r\n\r\n");
        ck_assert_ptr_nonnull(body);
        all = realloc(all, length + strlen(body) + 1);
        ck_assert_ptr_nonnull(all);
        memcpy(all + length, body, strlen(body) + 1);
        length += strlen(body);
    }
    return all;
}

typedef struct refusal_t {
    const char *method, *params, *says;
} refusal_t;

/* Each is refused, with what it says, and changes nothing. All that are not are told. */
static void are_refused(const served_t *served, const char *place, const refusal_t *rows, size_t count)
{
    char *before = all_of(served);
    char wrong[3500] = ""; /* Check takes no longer ones */
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(wrong), room = sizeof wrong - length;
        const char *answer = whole(served, send_to(served, place, rows[i].method, rows[i].params));
        if (strstr(answer, "\"error\":{\"code\":") == NULL || strstr(answer, rows[i].says) == NULL)
            snprintf(wrong + length, room, "\n%s %s: instead of %s came %s", rows[i].method, rows[i].params,
                     rows[i].says, strstr(answer, "\r\n\r\n"));
        char *after = all_of(served);
        size_t same = 0;
        while (before[same] != '\0' && before[same] == after[same])
            same++;
        if (before[same] != after[same])
            snprintf(wrong + length, room, "\n%s %s has changed %.100s to %.100s", rows[i].method, rows[i].params,
                     before + same, after + same);
        free(before);
        before = after;
    }
    free(before);
    ck_assert_msg(wrong[0] == '\0', "%s", wrong);
}

#define ARE_REFUSED(served, place, rows) are_refused(served, place, rows, sizeof(rows) / sizeof((rows)[0]))

START_TEST(parameters_of_another_type_are_told)
{
    static const refusal_t rows[] = {
        {"world.get_resources", "{\"resource\":5}", "\\\"resource\\\" has to be a text"},
        {"world.get_resources", "{}", "the parameter \\\"resource\\\" is missing; it takes resource"},
        {"backplane.speed", "{\"speed\":\"fast\"}", "\\\"speed\\\" has to be a number"},
        {"backplane.speed", "{\"speed\":-1}", "-32602"},
        {"backplane.speed", "{\"speed\":2,\"world\":\"nowhere\"}", "there is no world 'nowhere'"},
        {"backplane.step", "{\"steps\":-1}", "\\\"steps\\\" has to be a whole number from 0 to 9223372036854775807"},
        {"backplane.step", "{\"steps\":1.5}", "has to be a whole number"},
        {"backplane.step", "{\"world\":\"nowhere\"}", "there is no world 'nowhere'; backplane.worlds lists them"},
        {"backplane.pause", "{\"world\":5}", "\\\"world\\\" has to be a text"},
        {"backplane.run", "{\"world\":\"nowhere\"}", "there is no world 'nowhere'"},
        {"backplane.ranks", "{\"world\":\"nowhere\"}", "there is no world 'nowhere'"},
        {"backplane.types", "{\"world\":\"nowhere\"}", "there is no world 'nowhere'"},
        {"backplane.components", "{\"world\":\"nowhere\"}", "there is no world 'nowhere'"},
        {"backplane.systems", "{\"world\":\"nowhere\"}", "there is no world 'nowhere'"},
        {"backplane.names", "{\"world\":\"nowhere\",\"entities\":[]}", "there is no world 'nowhere'"},
        {"backplane.names", "{}", "\\\"entities\\\" is an array of at most 1000 entities"},
        {"backplane.names", "{\"entities\":5}", "\\\"entities\\\" is an array of at most 1000 entities"},
        {"backplane.go", "{}", "the parameter \\\"step\\\" is missing"},
        {"backplane.go", "{\"step\":\"first\"}", "\\\"step\\\" has to be a whole number"},
        {"world.get_components", "{\"entity\":\"sun\",\"components\":[\"point_mass\"],\"strict\":1}",
         "\\\"strict\\\" has to be true or false"},
        {"schedule.graph", "{}", "the parameter \\\"schedule_label\\\" is missing"},
        {"schedule.graph", "{\"schedule_label\":\"Update\"}",
         "there is no schedule 'Update'; a world has one, 'step'"},
        {"backplane.info", "[1]", "\\\"params\\\" has to be an object"},
        {"backplane.wolrds", "{}", "there is no method 'backplane.wolrds'; did you mean 'backplane.worlds'?"},
        {"what.is.it.that.nothing.is.like", "{}",
         "there is no method 'what.is.it.that.nothing.is.like'; rpc.discover"},
    };
    served_t served;
    open_scene(&served);
    ARE_REFUSED(&served, "/", rows);
    ARE_REFUSED(&served, "/world/main", rows);
    close_host(&served);
}
END_TEST

START_TEST(entities_that_are_none_are_told)
{
    static const refusal_t rows[] = {
        {"backplane.entity", "{}", "the parameter \\\"entity\\\" is missing"},
        {"backplane.entity", "{\"entity\":null}", "the parameter \\\"entity\\\" is missing"},
        {"backplane.entity", "{\"entity\":true}", "an entity is a number, \\\"#index:generation\\\", or its name"},
        {"backplane.entity", "{\"entity\":1.5}", "an entity is a number"},
        {"backplane.entity", "{\"entity\":\"nobody\"}", "no entity 'nobody' lives in this world"},
        {"backplane.entity", "{\"entity\":\"\"}", "no entity '' lives in this world"},
        {"backplane.entity", "{\"entity\":\"#3:1\"}", "no entity '#3:1' lives"},
        {"backplane.entity", "{\"entity\":4294967299}", "entity 4294967299 (#3:1) is dead, or never lived"},
        {"backplane.entity", "{\"entity\":-1}", "-23401"},
        {"backplane.entity", "{\"entity\":0}", "entity 0 (#0:0) is dead, or never lived"},
        {"backplane.entity", "{\"entity\":\"#\"}", "no entity '#' lives"},
        {"backplane.entity", "{\"entity\":\"#~:1\"}", "no entity '#~:1' lives"},
        {"backplane.entity", "{\"entity\":\"#0\"}", "no entity '#0' lives"},
        {"backplane.entity", "{\"entity\":\"#0:\"}", "no entity '#0:' lives"},
        {"backplane.entity", "{\"entity\":\"#0:~\"}", "no entity '#0:~' lives"},
        {"backplane.entity", "{\"entity\":\"#0:1 \"}", "no entity '#0:1 ' lives"},
        {"backplane.entity", "{\"entity\":\"#4294967296:1\"}", "no entity '#4294967296:1' lives"},
        {"backplane.entity", "{\"entity\":\"#77:1\"}", "no entity '#77:1' lives"},
        {"backplane.entity", "{\"entity\":\"sun\",\"world\":\"nowhere\"}", "there is no world 'nowhere'"},
        {"world.despawn_entity", "{\"entity\":\"#3:1\"}", "no entity '#3:1' lives"},
        {"world.insert_components", "{\"entity\":\"#3:1\",\"components\":{\"label\":{}}}", "no entity '#3:1' lives"},
        {"world.remove_components", "{\"entity\":\"#3:1\",\"components\":[\"label\"]}", "no entity '#3:1' lives"},
        {"world.mutate_components", "{\"entity\":\"#3:1\",\"component\":\"label\",\"path\":\".rank\",\"value\":1}",
         "no entity '#3:1' lives"},
        {"world.reparent_entities", "{\"entities\":[\"#2:1\"],\"parent\":\"#3:1\"}", "no entity '#3:1' lives"},
        {"world.list_components+watch", "{\"entity\":\"#3:1\"}", "no entity '#3:1' lives"},
        {"world.get_components+watch", "{\"entity\":\"#3:1\",\"components\":[]}", "no entity '#3:1' lives"},
        {"backplane.watch+watch", "{\"entity\":\"#3:1\"}", "no entity '#3:1' lives"},
        {"backplane.watch+watch", "{\"values\":[{\"entity\":\"#3:1\",\"property\":\"label.rank\"}]}",
         "no entity '#3:1' lives"},
        {"backplane.get", "{\"path\":\"main/#3:1.point_mass.mass\"}", "-23403"},
        {"backplane.set", "{\"path\":\"main/#3:1.point_mass.mass\",\"value\":1}", "-23403"},
    };
    served_t served;
    open_scene(&served);
    ARE_REFUSED(&served, "/", rows);
    close_host(&served);
}
END_TEST

/* The first half of each could be carried out. */
START_TEST(what_is_refused_half_way_has_changed_nothing)
{
    static const refusal_t rows[] = {
        {"world.spawn_entity", "{\"components\":{\"label\":{\"rank\":3},\"bag\":5}}",
         "the value of 'bag' is an object of its fields"},
        {"world.spawn_entity", "{\"components\":{\"label\":{\"rank\":3},\"lable\":{}}}",
         "there is no component type 'lable'; did you mean 'label'?"},
        {"world.spawn_entity", "{\"components\":{\"label\":{\"rank\":3,\"rnak\":3}}}", "-23403"},
        {"world.spawn_entity", "{\"components\":{\"label\":{\"rank\":3,\"text\":3}}}", "this is no string"},
        {"world.spawn_entity", "{\"components\":{\"fx\":{}}}",
         "this world has no 'fx'; add it to the world's components"},
        {"world.spawn_entity", "{\"components\":{\"label::one\":{\"rank\":3},\"label::two\":{\"rank\":11}}}",
         "-23402"},
        {"world.insert_components", "{\"entity\":\"#4:1\",\"components\":{\"bag\":{},\"sample\":5}}",
         "the value of 'sample' is an object"},
        {"world.insert_components", "{\"entity\":\"#4:1\",\"components\":{\"bag\":{\"hits\":[1]},\"fx\":{}}}",
         "this world has no 'fx'"},
        {"world.insert_components", "{\"entity\":\"#4:1\",\"components\":{\"bag\":{},\"label\":{\"rank\":11}}}",
         "-23402"},
        {"world.insert_components", "{\"entity\":\"#4:1\",\"components\":{\"label\":{\"rank\":2,\"text\":5}}}",
         "this is no string"},
        {"world.insert_components",
         "{\"entity\":\"#4:1\",\"components\":{\"label\":{\"rank\":2},\"body\":{\"mass\":-1}}}",
         "-23402"},
        {"world.insert_components",
         "{\"entity\":\"#2:1\",\"components\":{\"bag\":{\"hits\":[4,5],\"slots\":[9,8,7,6,5],\"words\":[\"x\",\"y\"],"
         "\"marks\":[-1,1,1]}}}",
         "-23402"},
        {"world.insert_components",
         "{\"entity\":\"#2:1\",\"components\":{\"sample\":{\"a_vec3\":[4,5,6],\"a_string\":\"new\",\"a_name\":\"new\","
         "\"an_entity\":\"sun\",\"a_bool\":false,\"a_u64\":9,\"a_mood\":\"glum\"}}}",
         "-23402"},
        {"world.remove_components", "{\"entity\":\"#4:1\",\"components\":[\"label\",\"nothing\"]}",
         "there is no component 'nothing'"},
        {"world.remove_components", "{\"entity\":\"#4:1\",\"components\":[\"label\",\"bag\"]}",
         "the entity has no component 'bag'"},
        {"world.reparent_entities", "{\"entities\":[\"#2:1\",\"#3:1\"]}", "no entity '#3:1' lives"},
        {"world.insert_components", "{\"entity\":\"sun\",\"components\":{\"gravity_law\":{}}}", "gravity_law"},
        {"world.reparent_entities", "{\"entities\":[\"#2:1\",\"sun\"]}",
         "the entity has no component with a parent"},
        {"world.reparent_entities", "{\"entities\":[\"#2:1\",\"earth\"],\"parent\":\"#2:1\"}",
         "an entity cannot be its own parent"},
        {"world.insert_resources",
         "{\"resource\":\"gravity_law\",\"value\":{\"softening\":1,\"constant\":\"heavy\"}}",
         "'heavy' is not a number"},
        {"world.mutate_components",
         "{\"entity\":\"#2:1\",\"component\":\"sample\",\"path\":\".a_vec2\",\"value\":[1,51]}",
         "-23402"},
    };
    served_t served;
    open_scene(&served);
    ARE_REFUSED(&served, "/", rows);
    ask(&served, "world.insert_resources", "{\"resource\":\"gravity_law\",\"value\":{\"softening\":0.5}}",
        "\"result\":null");
    ARE_REFUSED(&served, "/", rows);
    close_host(&served);
}
END_TEST

START_TEST(names_of_nothing_are_told_with_what_is_near)
{
    static const refusal_t rows[] = {
        {"world.get_components", "{\"entity\":\"sun\",\"components\":[\"bag\"],\"strict\":true}",
         "the entity has no component 'bag'"},
        {"world.query", "{\"data\":{\"has\":[5]}}", "\\\"has\\\" has to be an array of names"},
        {"world.query", "{\"data\":{\"option\":[5]}}", "\\\"option\\\" has to be an array of names"},
        {"world.query", "{\"data\":{\"option\":\"some\"}}", "\\\"option\\\" has to be an array of names"},
        {"world.query", "{\"data\":{},\"filter\":{\"with\":5}}", "\\\"with\\\" has to be an array of names"},
        {"world.query", "{\"data\":{},\"filter\":{\"without\":5}}", "\\\"without\\\" has to be an array of names"},
        {"world.query", "{\"data\":{},\"strict\":5}", "\\\"strict\\\" has to be true or false"},
        {"world.query", "{\"data\":{\"option\":[\"nothing\"]},\"strict\":true}", "there is no component 'nothing'"},
        {"world.query", "{\"data\":{\"has\":[\"nothing\"]},\"strict\":true}", "there is no component 'nothing'"},
        {"world.query", "{\"data\":{},\"filter\":{\"with\":[\"nothing\"]},\"strict\":true}",
         "there is no component 'nothing'"},
        {"world.query", "{\"data\":{},\"filter\":{\"without\":[\"nothing\"]},\"strict\":true}",
         "there is no component 'nothing'"},
        {"world.mutate_components", "{\"entity\":\"sun\",\"component\":\"bag\",\"path\":\".hits\",\"value\":[]}",
         "the entity has no component 'bag'"},
        {"world.mutate_components", "{\"entity\":\"sun\",\"component\":5,\"path\":\".hits\",\"value\":[]}",
         "\\\"component\\\" has to be a text"},
        {"world.mutate_components", "{\"entity\":\"sun\",\"component\":\"point_mass\",\"path\":\"\",\"value\":1}",
         "the path '' names no property; write .mass or .position.x"},
        {"world.mutate_components", "{\"entity\":\"sun\",\"component\":\"point_mass\",\"path\":\".\",\"value\":1}",
         "names no property"},
        {"world.mutate_components",
         "{\"entity\":\"sun\",\"component\":\"point_mass\",\"path\":\".mass.\",\"value\":1}",
         "a f32 has no part '.'"},
        {"world.mutate_components",
         "{\"entity\":\"sun\",\"component\":\"point_mass\",\"path\":\".position[3]\",\"value\":1}",
         "a vec3 has no part '[3]'"},
        {"world.mutate_components",
         "{\"entity\":\"sun\",\"component\":\"point_mass\",\"path\":\".position[\",\"value\":1}",
         "a vec3 has no part '['"},
        {"world.mutate_components",
         "{\"entity\":\"sun\",\"component\":\"point_mass\",\"path\":\".position[1x]\",\"value\":1}",
         "a vec3 has no part '[1x]'"},
        {"world.mutate_components",
         "{\"entity\":\"sun\",\"component\":\"point_mass\",\"path\":\".position[111]\",\"value\":1}",
         "a vec3 has no part '[111]'"},
        {"world.get_resources", "{\"resource\":\"gravity_lwa\"}",
         "there is no resource 'gravity_lwa'; did you mean 'gravity_law'?"},
        {"world.get_resources", "{\"resource\":\"point_mass\"}", "there is no resource 'point_mass'"},
        {"world.get_resources", "{\"resource\":\"gravity_law\"}", "this world does not use 'gravity_law'"},
        {"world.remove_resources", "{\"resource\":\"gravity_law\"}", "this world does not use 'gravity_law'"},
        {"world.mutate_resources", "{\"resource\":\"gravity_law\",\"path\":\".softening\",\"value\":1}",
         "this world does not use 'gravity_law'; world.insert_resources makes it"},
        {"world.insert_resources", "{\"resource\":\"gravity_lwa\",\"value\":{}}", "did you mean 'gravity_law'?"},
        {"world.insert_resources", "{\"resource\":\"gravity_law\",\"value\":5}",
         "the value of 'gravity_law' is an object of its fields"},
        {"world.insert_resources", "{\"resource\":\"gravity_law\",\"value\":{\"softening\":-1}}", "-23402"},
        {"backplane.find", "{\"where\":5}", "\\\"where\\\" has to be a text"},
        {"backplane.find", "{\"name\":5}", "\\\"name\\\" has to be a text"},
        {"backplane.find", "{\"tree\":5}", "\\\"tree\\\" has to be true or false"},
        {"backplane.find", "{\"world\":\"nowhere\"}", "there is no world 'nowhere'"},
        {"backplane.find", "{\"where\":\"point_mass.mass >\"}", "at column 18 of the condition: a name is missing"},
        {"backplane.find", "{\"where\":\"point_mas.mass > 1\"}",
         "no entity of this world has a component 'point_mas'; did you mean 'point_mass'?"},
        {"backplane.find", "{\"where\":\"completely_else > 1\"}", "a component has no value"},
        {"backplane.find", "{\"where\":\"completely_else\"}",
         "no entity of this world has a component 'completely_else'\""},
        {"backplane.find", "{\"where\":\"point_mass.mas > 1\"}",
         "point_mass has no property 'mas'; did you mean 'mass'?"},
        {"backplane.find", "{\"where\":\"point_mass.quite_else > 1\"}", "point_mass has no property 'quite_else'\""},
        {"backplane.find", "{\"where\":\"point_mass.position.q > 1\"}",
         "point_mass.position is a vec3 and has no part 'q'"},
        {"backplane.find", "{\"where\":\"length(point_mass.mass) > 1\"}",
         "point_mass.mass is a f32; only vectors have a length"},
        {"backplane.query", "{\"values\":5}", "\\\"values\\\" is an array of at most 16 properties"},
        {"backplane.query", "{\"values\":[5]}", "\\\"values\\\" is an array of texts"},
        {"backplane.query", "{\"values\":[\"point_mass\"]}", "this is no property; write component.property"},
        {"backplane.query", "{\"values\":[\"point_mass.mass > 1 and label\"]}", "this is no property"},
        {"backplane.query", "{\"values\":[\"point_mass.mass > label.rank\"]}", "this is no property"},
        {"backplane.query", "{\"values\":[\"point_mass.mass >\"]}", "a name is missing"},
        {"backplane.query",
         "{\"values\":[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\","
                            "\"a\",\"a\",\"a\",\"a\"]}",
         "\\\"values\\\" is an array of at most 16 properties"},
        {"backplane.query", "{\"from\":-1}", "\\\"from\\\" has to be a whole number from 0 to 4294967295"},
        {"backplane.query", "{\"count\":1001}", "\\\"count\\\" has to be a whole number from 0 to 1000"},
        {"backplane.query", "{\"where\":\"nothing\"}", "no entity of this world has a component 'nothing'"},
        {"backplane.progress", "{\"set\":1000000}",
         "this set is not kept any more; make a new one by backplane.find"},
        {"backplane.progress", "{}", "the parameter \\\"set\\\" is missing"},
        {"backplane.rows", "{\"set\":1000000}", "this set is not kept any more"},
        {"backplane.children", "{\"set\":1000000}", "this set is not kept any more"},
        {"backplane.ancestors", "{\"set\":1000000,\"entity\":\"sun\"}", "this set is not kept any more"},
        {"backplane.get", "{}", "the parameter \\\"path\\\" is missing"},
        {"backplane.get", "{\"path\":5}", "\\\"path\\\" has to be a text"},
        {"backplane.get", "{\"path\":\"main/sun.point_mass.mas\"}", "-23403"},
        {"backplane.set", "{\"path\":\"main/sun.point_mass.mass\"}", "the parameter \\\"value\\\" is missing"},
        {"backplane.set", "{\"path\":\"main/sun.point_mass.mass\",\"value\":{}}", "this is no f32"},
        {"backplane.try", "{\"values\":5}", "\\\"values\\\" is an array of at most 64 objects with path and value"},
        {"backplane.try", "{\"values\":[5]}", "each of \\\"values\\\" has a path and a value"},
        {"backplane.try", "{\"values\":[{\"path\":\"main/sun.point_mass.position\",\"value\":[1,true,3]}]}",
         "a value is an array of at most"},
        {"backplane.try", "{\"values\":[{\"path\":\"main/sun.point_mass.mass\",\"value\":{}}]}",
         "a value is a number, true or false, an array of numbers, or a text of at most 511 bytes"},
        {"backplane.try", "{\"plugins\":5}", "\\\"plugins\\\" is an array of at most 64 names"},
        {"backplane.try", "{\"plugins\":[5]}", "\\\"plugins\\\" is an array of names"},
        {"backplane.try", "{\"values\":[{\"path\":\"main/sun.point_mass.mass\",\"value\":1}],\"steps\":1000001}",
         "\\\"steps\\\" has to be a whole number from 0 to 1000000"},
        {"backplane.try", "{\"values\":[{\"path\":\"main/sun.point_mass.mass\",\"value\":-1}]}", "-3260"},
        {"backplane.rewatch", "{}", "the parameter \\\"watch\\\" is missing"},
        {"backplane.rewatch", "{\"watch\":77}", "there is no such stream; backplane.watch+watch begins one"},
        {"backplane.watch+watch", "{\"world\":\"nowhere\"}", "there is no world 'nowhere'"},
        {"backplane.watch+watch", "{\"every_ms\":60001}",
         "\\\"every_ms\\\" has to be a whole number from 0 to 60000"},
        {"backplane.watch+watch", "{\"values\":5}", "\\\"values\\\" is an array of at most 256 properties"},
        {"backplane.watch+watch", "{\"values\":[{\"entity\":\"sun\"}]}", "each of \\\"values\\\" is {"},
        {"backplane.watch+watch", "{\"values\":[{\"property\":\"point_mass.mass\"}]}", "each of \\\"values\\\" is {"},
        {"backplane.watch+watch", "{\"values\":[{\"entity\":\"sun\",\"property\":\"point_mass.mas\"}]}",
         "did you mean 'mass'?"},
        {"world.get_components+watch", "{\"entity\":\"sun\"}", "\\\"components\\\" has to be an array of names"},
        {"world.get_components+watch", "{\"entity\":\"sun\",\"components\":[5]}",
         "\\\"components\\\" has to be an array of names"},
        {"world.get_components+watch", "{\"entity\":\"sun\",\"components\":[],\"strict\":5}",
         "\\\"strict\\\" has to be true or false"},
    };
    served_t served;
    open_scene(&served);
    ARE_REFUSED(&served, "/", rows);
    close_host(&served);
}
END_TEST

/* Lists of more than is taken: `count` times `item`, with commas between. */
START_TEST(lists_that_are_too_long_are_refused)
{
    static const struct {
        const char *method, *begin, *item, *end, *says;
        int count;
    } rows[] = {
        {"backplane.names", "{\"entities\":[", "0", "]}", "is an array of at most 1000 entities", 1001},
        {"backplane.watch+watch", "{\"values\":[", "0", "]}", "is an array of at most 256 properties", 257},
        {"backplane.try", "{\"values\":[", "0", "]}", "is an array of at most 64 objects", 65},
        {"backplane.try", "{\"plugins\":[", "\"a\"", "]}", "is an array of at most 64 names", 65},
        {"backplane.try", "{\"values\":[{\"path\":\"a\",\"value\":[", "0.12345678901234567", "]}]}",
         "a value is an array of at most", 30},
        {"backplane.try", "{\"values\":[{\"path\":\"a\",\"value\":\"", "long", "\"}]}",
         "a text of at most 511 bytes", 130},
        {"world.spawn_entity", "{\"components\":{\"label\":{}", "", "}}",
         "an entity takes at most 64 components here", 65},
        {"world.spawn_entity", "{\"components\":{\"label::", "longlonglong", "\":{}}}", "is longer than 255 bytes", 30},
    };
    static char params[8000];
    served_t served;
    open_scene(&served);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *at = params + snprintf(params, sizeof params, "%s", rows[i].begin);
        for (int k = 0; k < rows[i].count; k++) {
            size_t room = sizeof params - (size_t)(at - params);
            if (rows[i].item[0] == '\0')
                at += snprintf(at, room, ",\"label::a%d\":{}", k);
            else
                at += snprintf(at, room, k > 0 && rows[i].item[0] != 'l' ? ",%s" : "%s", rows[i].item);
        }
        snprintf(at, sizeof params - (size_t)(at - params), "%s", rows[i].end);
        refusal_t row = {rows[i].method, params, rows[i].says};
        are_refused(&served, "/", &row, 1);
    }
    close_host(&served);
}
END_TEST

/* Components that are named twice are taken once, and what the world has dropped is named by nothing. */
START_TEST(components_that_have_gone_are_not_named)
{
    static const refusal_t rows[] = {
        {"backplane.find", "{\"where\":\"gravity_law.softening > 1\"}",
         "no entity of this world has a component 'gravity_law'"},
        {"backplane.find", "{\"where\":\"fx.strength > 1\"}", "no entity of this world has a component 'fx'"},
    };
    served_t served;
    open_scene(&served);
    ask(&served, "world.insert_resources", "{\"resource\":\"gravity_law\",\"value\":{}}", "\"result\":null");
    ask(&served, "world.list_resources", "{}", "\"result\":[\"gravity_law\"]");
    ask(&served, "world.remove_resources", "{\"resource\":\"gravity_law\"}", "\"result\":null");
    ask(&served, "world.spawn_entity",
        "{\"components\":{\"label::brief\":{},\"debug_name\":{\"name\":\"brief\"}}}", "\"entity\":");
    ask(&served, "world.list_components", "{}",
        "[\"point_mass\",\"debug_name\",\"transform\",\"body\",\"label\",\"sample\",\"bag\",\"point_mass::ball\","
        "\"label::brief\"]");
    ask(&served, "world.despawn_entity", "{\"entity\":\"brief\"}", "\"result\":null");
    ask(&served, "world.list_components", "{}", "\"bag\",\"point_mass::ball\"]");
    ask(&served, "world.remove_components", "{\"entity\":\"#4:1\",\"components\":[\"label\",\"body\",\"label\"]}",
        "\"result\":null");
    must(&served, bp_world_use_component(served.world, "fx"));
    ask(&served, "world.insert_components", "{\"entity\":\"#4:1\",\"components\":{\"fx::glow\":{}}}",
        "\"result\":null");
    ask(&served, "backplane.query", "{\"where\":\"glow.strength > 0\"}", "\"count\":1");
    ask(&served, "world.remove_components", "{\"entity\":\"#4:1\",\"components\":[\"glow\"]}", "\"result\":null");
    must(&served, bp_world_drop_component(served.world, "fx"));
    ARE_REFUSED(&served, "/", rows);
    close_host(&served);
}
END_TEST

Suite *inspector_refusals_suite(void)
{
    Suite *suite = suite_create("inspector_refusals");
    TCase *tcase = tcase_create("refused");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, parameters_of_another_type_are_told);
    tcase_add_test(tcase, entities_that_are_none_are_told);
    tcase_add_test(tcase, what_is_refused_half_way_has_changed_nothing);
    tcase_add_test(tcase, names_of_nothing_are_told_with_what_is_near);
    tcase_add_test(tcase, lists_that_are_too_long_are_refused);
    tcase_add_test(tcase, components_that_have_gone_are_not_named);
    suite_add_tcase(suite, tcase);
    return suite;
}
