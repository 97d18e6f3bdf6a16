/* test_inspector_answers.c - what the inspector answers to those who ask rightly: searches by conditions and by names,
 * trees, values of every form, positions as bytes, schemas, units of a step, resources, tools, files.
 */
#define _POSIX_C_SOURCE 200809L

#include "served_stage.h"

#include "../suites.h"

#include <stdlib.h>

/* --- searches ----------------------------------------------------------------------------------------------------- */

/* The entities of the scene that a condition, or a part of a name, picks. */
START_TEST(searches_find_what_they_describe)
{
    static const struct {
        const char *params, *wanted;
    } rows[] = {
        {"{}", "\"count\":4,"},
        {"{\"where\":\" \"}", "\"count\":4,"},
        {"{\"where\":\"point_mass\"}", "\"id\":\"#0:1\",\"name\":\"sun\"},{\"entity\":4294967297,"},
        {"{\"where\":\"ball\"}", "\"count\":1,"},
        {"{\"where\":\"point_mass::ball\"}", "\"rows\":[{\"entity\":4294967297,\"id\":\"#1:1\",\"name\":\"earth\"}]"},
        {"{\"where\":\"point_mass.mass > 1\"}", "\"count\":2,"},
        {"{\"where\":\"not point_mass\"}", "\"count\":2,"},
        {"{\"where\":\"label.home = 'sun'\"}", "\"rows\":[{\"entity\":4294967300,\"id\":\"#4:1\"}]"},
        {"{\"where\":\"label.home = '#0:1'\"}", "\"count\":1,"},
        {"{\"where\":\"label.home != 'sun'\"}", "\"count\":0,"},
        {"{\"where\":\"label.home = 'earth'\"}", "\"count\":0,"},
        {"{\"where\":\"label.home = '#4:1'\"}", "\"count\":0,"},
        {"{\"where\":\"label.home = none\"}", "\"count\":0,"},
        {"{\"where\":\"transform.parent = none\"}", "\"rows\":[{\"entity\":4294967297,"},
        {"{\"where\":\"transform.parent = 'earth'\"}", "\"rows\":[{\"entity\":4294967298,"},
        {"{\"where\":\"transform.parent = 'nobody'\"}", "\"count\":0,"},
        {"{\"where\":\"label.kind = 'plain' and label.kind\"}", "\"count\":1,"},
        {"{\"where\":\"label.kind ~ 'LAI'\"}", "\"count\":1,"},
        {"{\"where\":\"label.text = 'some'\"}", "\"count\":1,"},
        {"{\"where\":\"length(point_mass.position) > 3 and point_mass.position.z >= 3\"}", "\"count\":1,"},
        {"{\"where\":\"sample.a_dvec3.y = 2 and sample.a_dvec3[0] = 1 and length(sample.a_dvec3) > 2\"}",
         "\"count\":1,"},
        {"{\"where\":\"bag.hits > -1\"}", "\"count\":0,"},
        {"{\"where\":\"bag.slots\"}", "\"count\":0,"},
        {"{\"where\":\"label::label.rank = 0\"}", "\"count\":1,"},
        {"{\"name\":\"AR\"}", "\"rows\":[{\"entity\":4294967297,\"id\":\"#1:1\",\"name\":\"earth\"}]"},
        {"{\"name\":\"n\",\"where\":\"point_mass.mass < 5\"}", "\"count\":0,"},
        {"{\"name\":\"moon\"}", "\"count\":0,"},
        {"{\"from\":3}", "\"from\":3,\"rows\":[{\"entity\":4294967300,\"id\":\"#4:1\"}]}"},
        {"{\"from\":4}", "\"from\":4,\"rows\":[]}"},
        {"{\"from\":4294967295,\"count\":1000}", "\"rows\":[]}"},
        {"{\"count\":0}", "\"rows\":[]}"},
        {"{\"where\":\"sample\",\"values\":[\"sample.a_vec3\",\"sample.a_vec3.y\",\"length(sample.a_vec2)\","
         "\"sample.a_bool\",\"sample.a_string\",\"bag.hits\",\"label.rank\",\"transform.parent\"]}",
         "\"values\":[[1,2,3],2,2.236068,true,\"sample\",null,null,4294967297]"},
    };
    served_t served;
    open_scene(&served);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ask(&served, "backplane.query", rows[i].params, rows[i].wanted);
    close_host(&served);
}
END_TEST

/* Names have at most 255 bytes, and so have parts of them. */
START_TEST(names_are_searched_as_long_as_they_may_be)
{
    char part[300], params[512];
    served_t served;
    open_scene(&served);
    memset(part, 'n', sizeof part);
    part[255] = '\0';
    snprintf(params, sizeof params,
             "{\"entity\":\"#0:1\",\"component\":\"debug_name\",\"path\":\".name\",\"value\":\"%s\"}", part);
    ask(&served, "world.mutate_components", params, "\"result\":null");
    snprintf(params, sizeof params, "{\"name\":\"%s\"}", part);
    ask(&served, "backplane.query", params, "\"count\":1,");
    part[254] = 'x';
    snprintf(params, sizeof params, "{\"name\":\"%s\"}", part);
    ask(&served, "backplane.query", params, "\"count\":0,");
    part[255] = 'x', part[256] = '\0';
    snprintf(params, sizeof params, "{\"name\":\"%s\"}", part);
    ask(&served, "backplane.query", params, "is a part of a name, which has at most 255 bytes");
    close_host(&served);
}
END_TEST

START_TEST(trees_are_gone_through_from_their_roots)
{
    static const struct {
        const char *method, *params, *wanted;
    } rows[] = {
        {"backplane.find", "{\"tree\":true}", "\"set\":1,"},
        {"backplane.progress", "{\"set\":1}", "\"count\":4,\"progress\":1,\"built\":true,\"tree\":true,\"roots\":3"},
        {"backplane.children", "{\"set\":1}", "\"children\":3,\"from\":0,\"rows\":[{\"entity\":4294967296,"},
        {"backplane.children", "{\"set\":1}", "\"name\":\"earth\",\"children\":1},"},
        {"backplane.children", "{\"set\":1,\"from\":2}",
         "\"rows\":[{\"entity\":4294967300,\"id\":\"#4:1\",\"children\":0}]"},
        {"backplane.children", "{\"set\":1,\"from\":3}", "\"rows\":[]"},
        {"backplane.children", "{\"set\":1,\"parent\":\"earth\"}",
         "\"children\":1,\"from\":0,\"rows\":[{\"entity\":4294967298,\"id\":\"#2:1\",\"children\":0}]"},
        {"backplane.children", "{\"set\":1,\"parent\":\"#2:1\"}", "\"rows\":[]"},
        {"backplane.children", "{\"set\":1,\"parent\":\"nobody\"}", "no entity 'nobody' lives"},
        {"backplane.ancestors", "{\"set\":1,\"entity\":\"#2:1\"}", "\"result\":[4294967297]"},
        {"backplane.ancestors", "{\"set\":1,\"entity\":\"earth\"}", "\"result\":[]"},
        {"backplane.ancestors", "{\"set\":1,\"entity\":\"nobody\"}", "no entity 'nobody' lives"},
        {"world.spawn_entity", "{\"components\":{\"transform\":{\"parent\":\"#2:1\"}}}", "\"result\":{\"entity\":"},
        {"backplane.find", "{\"where\":\"transform.parent\",\"tree\":true}", "\"set\":2,"},
        {"backplane.children", "{\"set\":2}", "\"rows\":[{\"entity\":4294967298,\"id\":\"#2:1\",\"children\":1}]"},
        {"backplane.children", "{\"set\":2,\"parent\":\"earth\"}", "\"children\":0,\"from\":0,\"rows\":[]"},
        {"backplane.ancestors", "{\"set\":2,\"entity\":\"sun\"}", "\"result\":[]"},
        {"backplane.find", "{}", "\"set\":3,"},
        {"backplane.children", "{\"set\":3}", "this set is no tree; make it with \\\"tree\\\": true"},
        {"backplane.ancestors", "{\"set\":3,\"entity\":\"#2:1\"}", "\"result\":[]"},
        {"backplane.find", "{\"name\":\"nobody\",\"tree\":true}", "\"set\":4,"},
        {"backplane.children", "{\"set\":4}", "\"roots\":0,\"children\":0,\"from\":0,\"rows\":[]"},
        {"world.reparent_entities", "{\"entities\":[\"#2:1\"]}", "\"result\":null"},
        {"backplane.find", "{\"tree\":true}", "\"set\":5,"},
        {"backplane.progress", "{\"set\":5}", "\"roots\":4"},
        {"world.reparent_entities", "{\"entities\":[\"#2:1\"],\"parent\":\"earth\"}", "\"result\":null"},
    };
    served_t served;
    open_scene(&served);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool makes = strcmp(rows[i].method, "backplane.find") == 0;
        (makes ? ask : ask_of_set)(&served, rows[i].method, rows[i].params, rows[i].wanted);
    }
    close_host(&served);
}
END_TEST

/* --- positions as bytes ------------------------------------------------------------------------------------------- */

typedef struct points_t {
    uint32_t count, all, parts;
    float positions[8][3], colours[8], sizes[8];
    uint32_t names[8][2];
} points_t;

/* What /points answers; at most eight points are read. */
static points_t points_of(const served_t *served, const char *body)
{
    static char bytes[4096];
    points_t points;
    size_t length = 0;
    ssize_t size = -1;
    int client = send_body(served, "/points", body);
    for (int i = 0; i < PATIENCE && size != 0; i++) {
        size = recv(client, bytes + length, sizeof bytes - length, MSG_DONTWAIT);
        length += size > 0 ? (size_t)size : 0;
        if (size < 0)
            must(served, bp_host_wait(served->host, A_MILLISECOND));
    }
    close(client);
    const char *at = bytes;
    while (at < bytes + length && memcmp(at, "\r\n\r\n", 4) != 0)
        at++;
    at += 4;
    ck_assert_msg(memcmp(at, "BPPT", 4) == 0, "%s: %.300s", body, at);
    memcpy(&points.count, at + 4, 4);
    memcpy(&points.all, at + 8, 4);
    memcpy(&points.parts, at + 28, 4);
    ck_assert_uint_le(points.count, 8);
    ck_assert_uint_eq((size_t)(bytes + length - at), 32 + (size_t)points.count * 28);
    at += 32;
    memcpy(points.positions, at, points.count * sizeof points.positions[0]);
    at += points.count * sizeof points.positions[0];
    memcpy(points.colours, at, points.count * sizeof points.colours[0]);
    at += points.count * sizeof points.colours[0];
    memcpy(points.sizes, at, points.count * sizeof points.sizes[0]);
    memcpy(points.names, at + points.count * sizeof points.sizes[0], points.count * sizeof points.names[0]);
    return points;
}

START_TEST(positions_are_given_with_colours_and_sizes)
{
    served_t served;
    open_scene(&served);
    points_t p = points_of(&served, "{\"position\":\"point_mass.position\",\"colour\":\"point_mass.mass\","
                                    "\"size\":\"transform.scale\"}");
    ck_assert_uint_eq(p.count, 2);
    ck_assert_uint_eq(p.all, 4);
    ck_assert_uint_eq(p.parts, 3);
    ck_assert_float_eq(p.positions[0][2], 3);
    ck_assert_float_eq(p.colours[0], 8);
    ck_assert_float_eq(p.colours[1], 2);
    ck_assert_float_eq(p.sizes[0], 0); /* the sun has no transform */
    ck_assert_float_eq_tol(p.sizes[1], 1.7320508f, 1e-6f);
    ck_assert_uint_eq(p.names[1][0], 1);
    ck_assert_uint_eq(p.names[1][1], 1);
    p = points_of(&served, "{\"position\":\"sample.a_vec2\"}");
    ck_assert_uint_eq(p.parts, 2);
    ck_assert_float_eq(p.positions[0][1], 2);
    ck_assert_float_eq(p.positions[0][2], 0);
    p = points_of(&served, "{\"position\":[\"point_mass.position.z\",\"point_mass.mass\"],\"world\":\"main\"}");
    ck_assert_uint_eq(p.count, 2);
    ck_assert_uint_eq(p.parts, 2);
    ck_assert_float_eq(p.positions[0][0], 3);
    ck_assert_float_eq(p.positions[0][1], 8);
    p = points_of(&served, "{\"position\":[\"body.mass\",\"label.rank\",\"sample.a_f32\"]}"); /* no entity has all */
    ck_assert_uint_eq(p.count, 0);
    p = points_of(&served, "{\"position\":\"point_mass.position\",\"box\":[0.5,0,0,1,2,3]}");
    ck_assert_uint_eq(p.count, 1);
    ck_assert_uint_eq(p.names[0][0], 0);
    p = points_of(&served, "{\"position\":\"point_mass.position\",\"most\":1}");
    ck_assert_uint_lt(p.count, 2);
    close_host(&served);
}
END_TEST

/* Entities of another world, and those without the position, make no place for points scarce. */
START_TEST(positions_are_thinned_out_by_those_that_have_them)
{
    enum { OTHERS = 1000, TIMES = 25, MOST = 3, FAR = 4 };
    bp_entity_t others[OTHERS];
    uint32_t sum = 0;
    uint32_t key, prototype;
    served_t served;
    open_scene(&served);
    const bp_api_t *api = bp_host_api(served.host);
    bp_world_o *world = bp_world_create(served.host, &(bp_world_desc_t){.name = "other", .step_rate = 60});
    ck_assert_ptr_nonnull(world);
    must(&served, bp_world_use_component(world, "point_mass"));
    must(&served, api->world->key(world, api->world->component(world, "point_mass"), 0, &key));
    must(&served, api->world->prototype(world, &key, 1, &prototype));
    must(&served, api->world->create(world, prototype, others, OTHERS));
    must(&served, api->world->key(served.world, api->world->component(served.world, "point_mass"), 0, &key));
    must(&served, api->world->prototype(served.world, &key, 1, &prototype));
    points_t p = points_of(&served, "{\"position\":\"point_mass.position\",\"most\":2}");
    ck_assert_uint_eq(p.count, 2);
    p = points_of(&served, "{\"position\":\"sample.a_vec2\",\"most\":1}");
    ck_assert_uint_eq(p.count, 1);
    for (uint32_t i = 0; i < TIMES * (MOST + 1); i++) { /* never more than are wanted, and not far fewer */
        char body[160];
        snprintf(body, sizeof body,
                 "{\"position\":\"point_mass.position\",\"size\":\"point_mass.mass\",\"most\":%u}",
                 i % (MOST + 1));
        p = points_of(&served, body);
        ck_assert_uint_le(p.count, i % (MOST + 1));
        for (uint32_t k = 0; k < p.count; k++)
            ck_assert(p.names[k][1] == 1 && p.sizes[k] > 0);
        sum += p.count;
        if (i % (MOST + 1) == MOST)
            must(&served, api->world->create(served.world, prototype, others, 1));
    }
    ck_assert_uint_gt(sum, TIMES * MOST);
    must(&served, api->world->create(served.world, prototype, others, FAR));
    for (uint32_t i = 0; i < FAR; i++) { /* a box in which there are few shows all of these */
        char params[160], body[160];
        char name[32];
        api->entity->format(served.host, others[i], name, sizeof name);
        snprintf(params, sizeof params, "{\"path\":\"main/%s.point_mass.position\",\"value\":[%u,0,0]}", name,
                 100 + i);
        ask(&served, "backplane.set", params, "\"result\":null");
        snprintf(body, sizeof body, "{\"position\":\"point_mass.position\",\"most\":1,\"box\":[%u,0,0,%u,0,0]}",
                 100 + i, 100 + i);
        p = points_of(&served, body);
        ck_assert_uint_eq(p.count, 1);
        ck_assert_uint_eq(p.names[0][0], strtoul(name + 1, NULL, 10));
    }
    close_host(&served);
}
END_TEST

START_TEST(positions_that_are_none_are_refused)
{
    static const struct {
        const char *body, *wanted;
    } rows[] = {
        {"{}", "/points: \\\"position\\\" is missing; write component.property"},
        {"[]", "a batch has at least one call"},
        {"[1]", "\\\"position\\\" is missing"},
        {"{\"position\":5}", "\\\"position\\\" is missing"},
        {"{\"position\":[]}", "\\\"position\\\" is a vector, or an array of two or three numbers"},
        {"{\"position\":[\"a.b\"]}", "\\\"position\\\" is a vector, or an array of two or three numbers"},
        {"{\"position\":[\"body.mass\",5]}", "\\\"position\\\" is missing"},
        {"{\"position\":[\"body.mass\",\"body.mas\"]}", "did you mean 'mass'?"},
        {"{\"position\":\"body\"}", "this is no property"},
        {"{\"position\":\"body.mass\"}", "body.mass is a f32; a position is a vector of two or three"},
        {"{\"position\":\"sample.a_vec4\"}", "sample.a_vec4 is a vec4; a position is a vector of two or three"},
        {"{\"position\":\"body.position\",\"world\":\"nowhere\"}", "there is no world 'nowhere'"},
        {"{\"position\":\"body.position\",\"colour\":5}", "\\\"colour\\\" has to be a text"},
        {"{\"position\":\"body.position\",\"colour\":\"body.mas\"}", "did you mean 'mass'?"},
        {"{\"position\":\"body.position\",\"size\":\"body\"}", "this is no property"},
        {"{\"position\":\"body.position\",\"most\":2000001}",
         "\\\"most\\\" has to be a whole number from 0 to 2000000" },
        {"{\"position\":\"body.position\",\"box\":5}", "\\\"box\\\" is an array of six numbers"},
        {"{\"position\":\"body.position\",\"box\":[0,0,0,1,1]}", "\\\"box\\\" is an array of six numbers"},
        {"{\"position\":\"body.position\",\"box\":[0,0,0,1,1,\"far\"]}", "\\\"box\\\" is an array of six numbers"},
        {"{", "line 1, column 1"},
    };
    served_t served;
    open_scene(&served);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *answer = whole(&served, send_body(&served, "/points", rows[i].body));
        ck_assert_msg(strncmp(answer, "HTTP/1.1 400 ", 13) == 0 && strstr(answer, rows[i].wanted) != NULL,
                      "%s: instead of %s came %.1000s", rows[i].body, rows[i].wanted, answer);
    }
    close_host(&served);
}
END_TEST

/* --- types and units ---------------------------------------------------------------------------------------------- */

START_TEST(types_and_units_are_told)
{
    static const struct {
        const char *method, *params, *wanted;
    } rows[] = {
        {"registry.schema", "{}", "\"colour\":{\"shortPath\":\"colour\",\"typePath\":\"colour\",\"kind\":\"Value\","
                                  "\"type\":\"array\",\"items\":{\"type\":{\"$ref\":\"#/$defs/f32\"}}}"},
        {"registry.schema", "{}", "\"dvec3\":{\"shortPath\":\"dvec3\",\"typePath\":\"dvec3\",\"kind\":\"Value\","
                                  "\"type\":\"array\",\"items\":{\"type\":{\"$ref\":\"#/$defs/f64\"}}}"},
        {"registry.schema", "{}",
         "\"i8\":{\"shortPath\":\"i8\",\"typePath\":\"i8\",\"kind\":\"Value\",\"type\":\"int\"}"},
        {"registry.schema", "{}", "\"point_mass::ball\":{\"shortPath\":\"point_mass::ball\""},
        {"registry.schema", "{}", "\"slots\":{\"type\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/u16\"}},"},
        {"registry.schema", "{}",
         "\"words\":{\"type\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/string\"}},"},
        {"registry.schema", "{}", "\"a_reading\":{\"type\":{\"$ref\":\"#/$defs/f32\"},\"typePath\":\"a_reading\","
                                  "\"readOnly\":true}"},
        {"registry.schema", "{}", "\"mass\":{\"type\":{\"$ref\":\"#/$defs/f32\"},\"typePath\":\"mass\","
                                  "\"description\":\"inertia\",\"unit\":\"kg\"}"},
        {"registry.schema", "{}", "\"reflectTypes\":[\"Resource\",\"Serialize\",\"Deserialize\"]"},
        {"registry.schema", "{\"with_crates\":[\"gravity\",5]}", "\"result\":{\"gravity_law\":{"},
        {"registry.schema", "{\"withCrates\":[\"nothing\"]}", "\"result\":{}"},
        {"registry.schema", "{\"with_crates\":[\"gravity\"],\"without_crates\":[\"gravity\",5]}", "\"result\":{}"},
        {"registry.schema", "{\"with_crates\":[\"zoo\"],\"withoutCrates\":[\"gravity\"]}", "\"result\":{\"body\":{"},
        {"backplane.types", "{\"world\":\"main\"}", "\"name\":\"slots\",\"type\":\"array of 5 u16\",\"parts\":1,"},
        {"backplane.types", "{}", "\"name\":\"hits\",\"type\":\"list of f32\",\"parts\":1,"},
        {"backplane.types", "{}", "\"name\":\"a_mood\",\"type\":\"u8\",\"parts\":1,\"initial\":\"glad\",\"values\":"},
        {"backplane.types", "{}", "\"name\":\"parent\",\"type\":\"entity\",\"parts\":1,"},
        {"backplane.types", "{}", "\"parent\":true"},
        {"backplane.types", "{}", "\"label\":true"},
        {"backplane.types", "{}", "\"plugin\":\"gravity\",\"single\":false,\"world\":true"},
        {"backplane.components", "{}", "{\"name\":\"ball\",\"type\":\"point_mass\",\"component\":\"point_mass::ball\","
                                       "\"count\":1}"},
        {"backplane.plugins", "{}", "\"systems\":[\"gravity\"]"},
        {"backplane.systems", "{}", "\"name\":\"gravity\",\"plugin\":\"gravity\",\"kind\":\"system\""},
        {"backplane.systems", "{}", "\"waits_for\":[{\"unit\":\"gravity\",\"because_of\":\"point_mass.position\"}]"},
        {"schedule.list", "{}", "\"schedule_labels\":[\"step\"]"},
        {"schedule.graph", "{\"schedule_label\":\"step\"}", "\"dependency\":[[{\"System\":"},
        {"schedule.graph", "{\"schedule_label\":\"step\"}",
         ",\"reads_inverted\":false,\"writes_inverted\":false,\"archetypal\":[]},\"filter_sets\":[]}]},{\"name\":"},
    };
    served_t served;
    open_scene(&served);
    must(&served, bp_world_use_system(served.world, "gravity"));
    must(&served, bp_host_step(served.host)); /* at which the schedule is made */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *answer = whole(&served, send_call(&served, rows[i].method, rows[i].params));
        ck_assert_msg(strstr(answer, rows[i].wanted) != NULL, "%s %s lacks %s: %.2000s", rows[i].method, rows[i].params,
                      rows[i].wanted, answer);
    }
    close_host(&served);
}
END_TEST

START_TEST(a_world_without_units_has_an_empty_schedule)
{
    served_t served;
    open_bare_host(&served, NULL);
    served.world = bp_world_create(served.host, &(bp_world_desc_t){.name = "main", .step_rate = 60});
    load(&served, "0.5");
    ask(&served, "schedule.list", "{}", "\"schedule_labels\":[],\"unavailable_schedule_labels\":[],"
                                        "\"empty_schedule_labels\":[\"step\"]");
    ask(&served, "schedule.graph", "{\"schedule_label\":\"step\"}", "\"systems\":[],");
    ask(&served, "backplane.systems", "{}", "\"result\":[]");
    ask(&served, "backplane.names", "{\"entities\":[4294967296]}", "\"result\":[null]");
    close_host(&served);
}
END_TEST

/* --- components and resources ------------------------------------------------------------------------------------- */

START_TEST(values_are_read_and_set_in_many_ways)
{
    static const struct {
        const char *method, *params, *wanted;
    } rows[] = {
        {"world.get_components", "{\"entity\":\"earth\",\"components\":[\"ball\",\"point_mass\"],\"strict\":true}",
         "\"result\":{\"ball\":{\"mass\":2,"},
        {"world.get_components",
         "{\"entity\":\"#2:1\",\"components\":[\"bevy_ecs::hierarchy::ChildOf\"],\"strict\":true}",
         "\"result\":{\"bevy_ecs::hierarchy::ChildOf\":4294967297}"},
        {"world.get_components", "{\"entity\":\"sun\",\"components\":[\"bevy_ecs::name::Name\"],\"strict\":true}",
         "\"result\":{\"bevy_ecs::name::Name\":\"sun\"}"},
        {"world.get_components",
         "{\"entity\":\"sun\",\"components\":[\"bevy_ecs::hierarchy::ChildOf\"],\"strict\":true}",
         "the entity has no component 'bevy_ecs::hierarchy::ChildOf'"},
        {"world.query", "{\"data\":{\"components\":[\"bevy_ecs::hierarchy::ChildOf\"]}}",
         "\"result\":[{\"entity\":4294967298,"},
        {"world.query", "{\"data\":{},\"filter\":{\"with\":[\"bevy_ecs::name::Name\"],\"without\":[\"transform\"]}}",
         "\"result\":[{\"entity\":4294967296,\"components\":{}}]"},
        {"world.get_components", "{\"entity\":\"earth\"}", "\"result\":{\"components\":{},\"errors\":{}}"},
        {"world.get_components", "{\"entity\":\"earth\",\"components\":null,\"strict\":true}", "\"result\":{}"},
        {"world.query", "null", "\"result\":[{\"entity\":4294967296,\"components\":{}},"},
        {"world.query", "{\"data\":{\"option\":[\"label\"],\"has\":[]},\"filter\":{\"with\":[\"body\"]}}",
         "\"result\":[{\"entity\":4294967300,\"components\":{\"label\":{\"text\":\"some\","},
        {"world.query", "{\"data\":null,\"filter\":{\"with\":null,\"without\":[\"transform\",\"label\"]}}",
         "\"result\":[{\"entity\":4294967296,\"components\":{}}]"},
        {"world.query", "{\"data\":{\"has\":[\"nothing\"]},\"filter\":{\"with\":[\"label\"]}}",
         "\"has\":{\"nothing\":false}"},
        {"world.query", "{\"data\":{},\"filter\":{\"with\":[\"nothing\"]}}", "\"result\":[]"},
        {"world.spawn_entity", "{}", "\"result\":{\"entity\":"},
        {"world.spawn_entity", "null", "\"result\":{\"entity\":"},
        {"world.remove_components", "{\"entity\":\"earth\"}", "\"result\":null"},
        {"world.insert_components",
         "{\"entity\":\"sun\",\"components\":{\"point_mass\":{\"mass\":4,\"position\":{\"y\":9}}}}",
         "\"result\":null"},
        {"backplane.get", "{\"path\":\"main/sun.point_mass.position\"}",
         "\"value\":[1,9,3],\"text\":\"1 9 3\",\"type\":\"vec3\""},
        {"backplane.get", "{\"path\":\"main/#2:1.bag.slots\"}", "\"value\":[1,2,3,4,5],"},
        {"backplane.get", "{\"path\":\"main/#2:1.sample.a_quat\"}", "\"value\":[0,0,0,1],"},
        {"backplane.set", "{\"path\":\"main/sun.point_mass.mass\",\"value\":\"12\"}", "\"result\":null"},
        {"backplane.set", "{\"path\":\"main/#2:1.sample.an_entity\",\"value\":\"earth\"}", "\"result\":null"},
        {"backplane.get", "{\"path\":\"main/#2:1.sample.an_entity\"}", "\"value\":4294967297,"},
        {"backplane.set", "{\"path\":\"main/#2:1.sample.a_name\",\"value\":\"\"}", "\"result\":null"},
        {"backplane.get", "{\"path\":\"main/#2:1.sample.a_name\"}", "\"value\":\"\","},
        {"backplane.names", "{\"entities\":[4294967296,4294967297,4294967298,4294967299]}",
         "\"result\":[\"sun\",\"earth\",null,null]"},
        {"backplane.names", "{\"entities\":[\"#1:1\",\"sun\",\"nobody\",\"#3:1\"]}",
         "\"result\":[\"earth\",\"sun\",null,null]"},
        {"world.insert_resources", "{\"resource\":\"gravity_law\",\"value\":{\"softening\":0.5}}", "\"result\":null"},
        {"world.list_resources", "{}", "\"result\":[\"gravity_law\"]"},
        {"world.mutate_resources", "{\"resource\":\"gravity_law\",\"path\":\".softening\",\"value\":0.25}",
         "\"result\":null"},
        {"world.mutate_resources", "{\"resource\":\"gravity_law\",\"path\":\".softening\"}",
         "the parameter \\\"value\\\" is missing"},
        {"world.mutate_resources", "{\"resource\":\"gravity_law\",\"path\":\"\",\"value\":1}", "names no property"},
        {"world.mutate_resources", "{\"resource\":\"gravity_law\",\"value\":1}", "\\\"path\\\" is missing"},
        {"world.mutate_resources", "{\"resource\":\"gravity_law\",\"path\":\".softening\",\"value\":-1}", "-23402"},
        {"world.get_resources", "{\"resource\":\"gravity_law\"}", "\"softening\":0.25"},
        {"world.insert_resources", "{\"resource\":\"gravity_law\",\"value\":{\"softening\":0.75}}", "\"result\":null"},
        {"world.get_resources", "{\"resource\":\"gravity_law\"}", "\"softening\":0.75"},
        {"world.remove_resources", "{\"resource\":\"gravity_law\"}", "\"result\":null"},
        {"world.remove_resources", "{\"resource\":\"gravity_law\"}", "-23502"},
        {"backplane.try", "{\"values\":[{\"path\":\"main/#2:1.sample.a_bool\",\"value\":false},"
                          "{\"path\":\"main/#2:1.sample.a_string\",\"value\":\"tried\"},"
                          "{\"path\":\"main/#2:1.sample.a_f64\",\"value\":2.5},"
                          "{\"path\":\"main/sun.point_mass.mass\",\"value\":\"3\"}],\"steps\":0}",
         "\"steps\":0,"},
        {"backplane.keep", "{}", "\"report\":\"\""},
        {"backplane.get", "{\"path\":\"main/#2:1.sample.a_bool\"}", "\"value\":false,"},
        {"backplane.get", "{\"path\":\"main/#2:1.sample.a_string\"}", "\"value\":\"tried\","},
        {"backplane.get", "{\"path\":\"main/sun.point_mass.mass\"}", "\"value\":3,"},
        {"backplane.speed", "{\"speed\":2}", "\"result\":null"},
        {"backplane.worlds", "{}", "\"paused\":false,\"speed\":2"},
        {"backplane.pause", "{}", "\"result\":null"},
        {"backplane.pause", "{\"world\":\"main\"}", "\"result\":null"},
        {"backplane.step", "{\"steps\":3}", "\"result\":null"},
        {"backplane.pause", "{}", "\"result\":null"},
        {"backplane.worlds", "{}", "\"step\":0,"},
        {"backplane.branch_off", "{}", "\"result\":null"}, /* there is no past */
        {"backplane.ranks", "{}", "\"result\":[]"},
    };
    served_t served;
    open_scene(&served);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *answer = whole(&served, send_call(&served, rows[i].method, rows[i].params));
        ck_assert_msg(strstr(answer, rows[i].wanted) != NULL, "%s %s: instead of %s came %.1500s", rows[i].method,
                      rows[i].params, rows[i].wanted, answer);
    }
    close_host(&served);
}
END_TEST

/* An entity may have several components of a type: what is inserted under the type's name is the one that bears it. */
START_TEST(components_of_one_type_are_told_apart)
{
    static const struct {
        const char *method, *params, *wanted;
    } rows[] = {
        {"world.spawn_entity",
         "{\"components\":{\"debug_name\":{\"name\":\"many\"},\"label::a\":{\"rank\":1},\"label\":{\"rank\":2},"
         "\"label::b\":{\"rank\":3}}}",
         "\"result\":{\"entity\":"},
        {"backplane.get", "{\"path\":\"main/many.a.rank\"}", "\"value\":1,"},
        {"backplane.get", "{\"path\":\"main/many.label.rank\"}", "\"value\":2,"},
        {"backplane.get", "{\"path\":\"main/many.b.rank\"}", "\"value\":3,"},
        {"world.insert_components", "{\"entity\":\"many\",\"components\":{\"label\":{\"rank\":5}}}", "\"result\":null"},
        {"world.get_components", "{\"entity\":\"many\",\"components\":[\"label\"]}", "\"rank\":5"},
        {"backplane.get", "{\"path\":\"main/many.a.rank\"}", "\"value\":1,"},
        {"backplane.get", "{\"path\":\"main/many.b.rank\"}", "\"value\":3,"},
        {"world.insert_components", "{\"entity\":\"many\",\"components\":{\"b\":{\"rank\":6}}}", "\"result\":null"},
        {"backplane.get", "{\"path\":\"main/many.b.rank\"}", "\"value\":6,"},
        {"world.insert_components", "{\"entity\":\"earth\",\"components\":{\"point_mass\":{\"mass\":3}}}",
         "\"result\":null"},
        {"backplane.get", "{\"path\":\"main/earth.ball.mass\"}", "\"value\":3,"},
    };
    served_t served;
    open_scene(&served);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ask(&served, rows[i].method, rows[i].params, rows[i].wanted);
    close_host(&served);
}
END_TEST

/* A text may be longer than any that fits a buffer: it is told whole, and can be set again. */
START_TEST(a_long_value_is_told_as_a_whole_text)
{
    enum { LETTERS = 3000 };
    static char params[LETTERS + 200], wanted[LETTERS + 40];
    served_t served;
    open_scene(&served);
    int length = snprintf(params, sizeof params, "{\"path\":\"main/#2:1.sample.a_string\",\"value\":\"");
    memset(params + length, 'x', LETTERS);
    strcpy(params + length + LETTERS, "\"}");
    ask(&served, "backplane.set", params, "\"result\":null");
    length = snprintf(wanted, sizeof wanted, "\"text\":\"");
    memset(wanted + length, 'x', LETTERS);
    strcpy(wanted + length + LETTERS, "\",");
    ask(&served, "backplane.get", "{\"path\":\"main/#2:1.sample.a_string\"}", wanted);
    close_host(&served);
}
END_TEST

/* --- tools and files ---------------------------------------------------------------------------------------------- */

/* Messages of MCP, and bodies of JSON-RPC that are unusual, each with the status and a part of the answer. */
START_TEST(messages_are_answered_by_their_protocol)
{
#define INITIALIZE(version) "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"initialize\",\"params\":" version "}"
#define TOOL(name, arguments)                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":\"t\",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\",\"arguments\":" \
    arguments "}}"
    static const struct {
        const char *place, *body, *status, *wanted;
    } rows[] = {
        {"/mcp", INITIALIZE("{\"protocolVersion\":\"2025-06-18\"}"), "200", "\"protocolVersion\":\"2025-06-18\""},
        {"/mcp", INITIALIZE("{\"protocolVersion\":\"1999\"}"), "200", "\"protocolVersion\":\"2025-11-25\""},
        {"/mcp", INITIALIZE("null"), "200", "\"id\":1.5,\"result\":{\"protocolVersion\":\"2025-11-25\""},
        {"/mcp", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", "202", "Content-Length: 0"},
        {"/mcp", "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{}}", "202", "Content-Length: 0"},
        {"/mcp", "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", "200", "\"id\":null,\"result\":{}"},
        {"/mcp", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "200", "\"result\":{}"},
        {"/mcp", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", "200", "\"name\":\"list_worlds\""},
        {"/mcp", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}", "200", "this server has tools only"},
        {"/mcp", "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "200", "\\\"jsonrpc\\\" has to be"},
        {"/mcp", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", "400",
         "this version of the protocol has no batches"},
        {"/mcp", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", "200", "there is no tool ''"},
        {"/mcp", TOOL("list_world", "{}"), "200", "there is no tool 'list_world'; did you mean 'list_worlds'?"},
        {"/mcp", TOOL("quite_something_else", "{}"), "200", "there is no tool 'quite_something_else'\""},
        {"/mcp", TOOL("get", "5"), "200", "the parameter \\\"path\\\" is missing"},
        {"/mcp", TOOL("get", "{\"path\":\"main/sun.point_mass.mas\"}"), "200", "\"isError\":true"},
        {"/mcp", TOOL("set", "{\"path\":\"main/sun.point_mass.mass\",\"value\":-1}"), "200", "\"isError\":true"},
        {"/mcp", TOOL("set", "{\"path\":\"main/sun.point_mass.mass\",\"value\":9}"), "200",
         "\"structuredContent\":{\"result\":null},\"isError\":false"},
        {"/mcp", TOOL("get", "{\"path\":\"main/sun.point_mass.mass\"}"), "200", "\"structuredContent\":{\"value\":9,"},
        {"/mcp", TOOL("query", "{\"where\":\"point_mass.mass > 8\"}"), "200", "\"structuredContent\":{\"set\":"},
        {"/mcp", TOOL("query", "{\"where\":\"point_mass.mass >\"}"), "200", "\"isError\":true"},
        {"/mcp", TOOL("go", "{\"step\":5}"), "200", "the host remembers nothing"},
        {"/", "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"backplane.info\",\"params\":null}", "200",
         "\"id\":1.5,\"result\""},
        {"/", "{\"jsonrpc\":\"2.0\",\"id\":\"a\\tb\\\"\",\"method\":\"backplane.info\"}", "200",
         "\"id\":\"a\\tb\\\"\",\"result\""},
        {"/", "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0000b\",\"method\":\"backplane.info\"}", "200", "line 1, column 32"},
        {"/", "{\"jsonrpc\":\"2.0\",\"method\":\"backplane.info\"}", "200", "\"id\":null,\"result\""},
        {"/", "{\"jsonrpc\":\"2.0\",\"method\":\"backplane.pause\"}", "200", "\"id\":null,\"result\":null"},
        {"/", "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"backplane.info\"}", "200",
         "\\\"id\\\" is a text, a number or null"},
        {"/", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"backplane.info\",\"params\":[]}", "200",
         "\\\"params\\\" has to be an object"},
        {"/", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"backplane.pause\"},5,"
              "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"backplane.query\",\"params\":{\"count\":0}},"
              "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"world.list_components+watch\","
              "\"params\":{\"entity\":\"sun\"}}]",
         "200", "\"id\":1,\"result\":null},{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"},
        {"/world/nowhere", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"backplane.info\"}", "200",
         "there is no world 'nowhere'"},
        {"/world/main", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"backplane.info\"}", "200", "\"inspector\":"},
        {"/world/", "{}", "404", "there is /, the page"},
        {"/world/main/more", "{}", "404", "there is /, the page"},
        {"/else", "{}", "404", "there is /, the page"},
    };
    served_t served;
    open_scene(&served);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *answer = whole(&served, send_body(&served, rows[i].place, rows[i].body));
        ck_assert_msg(strncmp(answer + strlen("HTTP/1.1 "), rows[i].status, 3) == 0 &&
                          strstr(answer, rows[i].wanted) != NULL,
                      "%s %s: instead of %s, %s came %.1500s", rows[i].place, rows[i].body, rows[i].status,
                      rows[i].wanted, answer);
    }
    close_host(&served);
}
END_TEST

/* Requests as they are sent, with the line of the status and a part of the answer. HOST stands in the place of the
 * header of this server. */
START_TEST(requests_of_http_are_answered_with_their_status)
{
    static const struct {
        const char *head, *status, *wanted;
    } rows[] = {
        {"GET / HTTP/1.1\r\nAccept-Encoding: gzip\r\nIf-None-Match: \"other\"\r\n", "200", "Content-Encoding: gzip"},
        {"GET / HTTP/1.1\r\n", "406", "the page is kept compressed"},
        {"GET / HTTP/1.1\r\nAccept-Encoding: br\r\n", "406", "the page is kept compressed"},
        {"HEAD / HTTP/1.1\r\nAccept-Encoding: gzip\r\n", "200", "Content-Type: text/html"},
        {"HEAD /app.js HTTP/1.1\r\nAccept-Encoding: gzip\r\n", "200", "javascript"},
        {"GET /mcp HTTP/1.1\r\n", "405", "Allow: POST"},
        {"PUT / HTTP/1.1\r\nContent-Length: 0\r\n", "405", "Allow: GET, HEAD, POST"},
        {"POST /app.js HTTP/1.1\r\nContent-Length: 0\r\n", "405", "Allow: GET, HEAD"},
        {"POST / HTTP/1.1\r\nContent-Length: 0\r\n", "200", "-32600"},
        {"POST / HTTP/1.1\r\nContent-Length: 1000000000\r\n", "413", "a body has at most 1 MiB"},
        {"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1048577\r\n", "413", "a body has at most 1 MiB"},
        {"POST / HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n", "400", "told in two ways"},
        {"POST / HTTP/1.1\r\nOrigin: a\r\nOrigin: b\r\nContent-Length: 0\r\n", "400", "stands twice"},
        {"POST / HTTP/1.1\r\nOrigin: http://evil\r\nContent-Length: 0\r\n", "403", "pages of other sites may not call"},
        {"POST / HTTP/1.1\r\nOrigin: http://127.0.0.1:PORT\r\nContent-Length: 0\r\n", "200", "-32600"},
    };
    served_t served;
    char request[512], port[8];
    open_scene(&served);
    snprintf(port, sizeof port, "%u", served.port);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *own = strstr(rows[i].head, "PORT");
        int before = (int)(own == NULL ? strlen(rows[i].head) : (size_t)(own - rows[i].head));
        int length = snprintf(request, sizeof request, "%.*s%s%sHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n",
                              before, rows[i].head, own == NULL ? "" : port, own == NULL ? "" : own + 4, port);
        const char *answer = whole(&served, send_bytes(&served, request, (size_t)length));
        ck_assert_msg(strncmp(answer, "HTTP/1.1 ", 9) == 0 && strncmp(answer + 9, rows[i].status, 3) == 0 &&
                          strstr(answer, rows[i].wanted) != NULL,
                      "%s instead of %s, %s came %.1000s", rows[i].head, rows[i].status, rows[i].wanted, answer);
    }
    close_host(&served);
}
END_TEST

/* A client that sends all of a body before it reads is told too that the body is too large, whether its length is told
 * or not; the next request is answered. */
START_TEST(a_body_that_is_too_large_is_refused_with_a_sentence)
{
    static const char *const lengths[] = {"Content-Length: 1048577", "Transfer-Encoding: chunked"};
    enum { TOO_MUCH = (1 << 20) + 1, HEAD = 256 };
    served_t served;
    char *request = malloc(TOO_MUCH + HEAD);
    ck_assert_ptr_nonnull(request);
    open_scene(&served);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        int length = snprintf(request, HEAD,
                              "POST / HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n%s\r\n\r\n%s", served.port,
                              lengths[i], i == 1 ? "100001\r\n" : "");
        memset(request + length, ' ', TOO_MUCH);
        size_t size = (size_t)length + TOO_MUCH;
        memcpy(request + size, "\r\n0\r\n\r\n", 7);
        const char *answer = whole(&served, send_bytes(&served, request, size + (i == 1 ? 7 : 0)));
        ck_assert_msg(strncmp(answer, "HTTP/1.1 413 ", 13) == 0 && strstr(answer, "a body has at most 1 MiB") != NULL,
                      "%s: %.1000s", lengths[i], answer);
    }
    ask(&served, "backplane.worlds", "{}", "\"name\":\"main\"");
    free(request);
    close_host(&served);
}
END_TEST

/* What belongs to other worlds is none of what there is. */
START_TEST(positions_are_counted_among_the_entities_of_their_world)
{
    served_t served;
    uint32_t key, prototype;
    bp_entity_t others[3];
    open_scene(&served);
    const bp_api_t *api = bp_host_api(served.host);
    bp_world_o *other = bp_world_create(served.host, &(bp_world_desc_t){.name = "other", .step_rate = 60});
    must(&served, bp_world_use_component(other, "point_mass"));
    must(&served, api->world->key(other, api->world->component(other, "point_mass"), 0, &key));
    must(&served, api->world->prototype(other, &key, 1, &prototype));
    must(&served, api->world->create(other, prototype, others, 3));
    const char *rest = "\"position\":\"point_mass.position\",\"colour\":\"point_mass.mass\","
                       "\"size\":\"point_mass.mass\"";
    char body[256];
    snprintf(body, sizeof body, "{\"world\":\"main\",%s}", rest);
    points_t p = points_of(&served, body);
    ck_assert_uint_eq(p.count, 2);
    ck_assert_uint_eq(p.all, 4);
    snprintf(body, sizeof body, "{\"world\":\"other\",%s}", rest);
    p = points_of(&served, body);
    ck_assert_uint_eq(p.count, 3);
    ck_assert_uint_eq(p.all, 3);
    close_host(&served);
}
END_TEST

Suite *inspector_answers_suite(void)
{
    Suite *suite = suite_create("inspector_answers");
    TCase *tcase = tcase_create("answers");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, searches_find_what_they_describe);
    tcase_add_test(tcase, names_are_searched_as_long_as_they_may_be);
    tcase_add_test(tcase, trees_are_gone_through_from_their_roots);
    tcase_add_test(tcase, positions_are_given_with_colours_and_sizes);
    tcase_add_test(tcase, positions_are_thinned_out_by_those_that_have_them);
    tcase_add_test(tcase, positions_are_counted_among_the_entities_of_their_world);
    tcase_add_test(tcase, positions_that_are_none_are_refused);
    tcase_add_test(tcase, a_body_that_is_too_large_is_refused_with_a_sentence);
    tcase_add_test(tcase, types_and_units_are_told);
    tcase_add_test(tcase, a_world_without_units_has_an_empty_schedule);
    tcase_add_test(tcase, values_are_read_and_set_in_many_ways);
    tcase_add_test(tcase, components_of_one_type_are_told_apart);
    tcase_add_test(tcase, a_long_value_is_told_as_a_whole_text);
    tcase_add_test(tcase, messages_are_answered_by_their_protocol);
    tcase_add_test(tcase, requests_of_http_are_answered_with_their_status);
    suite_add_tcase(suite, tcase);
    return suite;
}
