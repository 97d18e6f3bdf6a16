/* test_properties.c - values by name, by key, by column and as text; and every wrong question.
 *
 * What goes right is tried for each type and each shape of batch; what goes wrong must say what exists, and
 * change nothing. A plugin of its own offers the table debug_name, so that paths can be spelt with names.
 */
#include "support.h"

#include "../suites.h"
#include "inspect.h"
#include "zoo.h"

#include "engine/host.h"
#include "plugin/registry.h"

#include <components/debug_name.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- a plugin with names -------------------------------------------------------------------------------- */

static const bp_field_t naming_fields[] = {{.name = "name", .type = BP_STRING}};
static const bp_field_t dot_fields[] = {{.name = "x", .type = BP_U32}};
static const bp_component_i naming_components[] = {{.name = "debug_name", .fields = BP_LIST(naming_fields)},
                                                   {.name = "dot", .fields = BP_LIST(dot_fields)}};

static uint32_t find_named(bp_manager_t *m, const char *text, bp_entity_t *entities, uint32_t capacity)
{
    uint32_t cursor = 0, found = 0;
    bp_run_t run;
    while (next_run(m->world, m->component, &cursor, &run) != 0) {
        const char *const *names = BP_COLUMN(&run, const char *const, 0);
        for (uint32_t i = 0; i < run.count; i++) {
            if (run.entities[i].id == 0 || strcmp(names[i], text) != 0)
                continue;
            if (found < capacity)
                entities[found] = run.entities[i];
            found++;
        }
    }
    return found;
}

static const char *name_of(bp_manager_t *m, bp_entity_t entity)
{
    uint32_t cursor = 0;
    bp_run_t run;
    while (next_run(m->world, m->component, &cursor, &run) != 0) {
        for (uint32_t i = 0; i < run.count; i++) {
            if (run.entities[i].id == entity.id)
                return BP_COLUMN(&run, const char *const, 0)[i];
        }
    }
    return NULL;
}

static const bp_debug_name_api naming_table = {.find = find_named, .name = name_of};
static const bp_table_t naming_tables[] = {BP_TABLE(BP_DEBUG_NAME_API, 1, naming_table, BP_DEBUG_NAME_RETURNS)};

static const bp_plugin_head_t naming = BP_PLUGIN_HEAD("naming", (&(const bp_plugin_desc_t){.version = "1",
                                        .components = BP_LIST(naming_components), .tables = BP_LIST(naming_tables)}));
static const bp_plugin_head_t *plugins[ZOO_PLUGINS + 1];

/* --- the rig -------------------------------------------------------------------------------------------- */

static rig_t rig;
static bp_world_o *world;
static const bp_world_api *worlds;
static const bp_property_api *api;

static void begin(void)
{
    rig_init(&rig);
    memcpy(plugins, zoo_plugins, sizeof zoo_plugins);
    plugins[ZOO_PLUGINS] = &naming;
    rig.desc.static_plugins = plugins;
    rig.desc.static_plugin_count = COUNT(plugins);
    rig_open(&rig);
    for (uint32_t i = 0; i < COUNT(plugins); i++)
        WORKS(rig.host, bp_host_load_plugin(rig.host, plugins[i]->name, NULL, 0));
    world = rig_world(&rig, "main");
    worlds = rig.api->world;
    api = rig.api->property;
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

/* --- one value ------------------------------------------------------------------------------------------ */

typedef struct sample_t {
    const char *name;
    uint32_t type;
    const char *first, *second; /* the default, and another value, as text */
} sample_t;

static const sample_t samples[] = {
    {"a_bool", BP_BOOL, "true", "false"},
    {"a_i32", BP_I32, "-7", "100"},
    {"a_u32", BP_U32, "7", "1000"},
    {"a_i64", BP_I64, "-700000000000", "9223372036854775807"},
    {"a_f32", BP_F32, "0.1", "-2.5"},
    {"a_f64", BP_F64, "0.1", "1e+300"},
    {"a_vec2", BP_VEC2, "1 2", "50 -3"},
    {"a_vec3", BP_VEC3, "1 2 3", "0 0 1"},
    {"a_vec4", BP_VEC4, "1 2 3 4", "4 3 2 1"},
    {"a_quat", BP_QUAT, "0 0 0 1", "1 0 0 0"},
    {"a_mat4", BP_MAT4, "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"},
    {"a_colour", BP_COLOUR, "1 0.5019608 0 1", "0 0 0 0"},
    {"a_string", BP_STRING, "sample", "another, with blanks"},
    {"an_entity", BP_ENTITY, "none", "#0:1"},
    {"a_name", BP_NAME, "sample", "other"},
    {"an_i8", BP_I8, "-7", "100"},
    {"a_u8", BP_U8, "7", "255"},
    {"an_i16", BP_I16, "-700", "-32768"},
    {"a_u16", BP_U16, "700", "60000"},
    {"a_u64", BP_U64, "10000000000000000000", "18446744073709551615"},
    {"a_dvec2", BP_DVEC2, "1 0.1", "1e+300 -0.25"},
    {"a_dvec3", BP_DVEC3, "1 2 0.1", "0.3 1e-300 7"},
    {"a_dvec4", BP_DVEC4, "0.1 2 3 4", "4 3 2 0.1"},
    {"a_mood", BP_U8, "glad", "cross"},
    {"a_level", BP_I16, "none", "low"},
    {"some_flags", BP_U16, "red|blue", "red|green|blue"},
};

START_TEST(each_type_is_set_and_got_in_every_way)
{
    const sample_t *s = &samples[_i];
    bp_entity_t e = entity_with(world, "sample");
    bp_property_t p = resolve(e, "sample", s->name);
    bp_value_t first, second, back;
    char path_text[64], text[128];
    bp_path_t path;
    ck_assert_uint_eq(p.type, s->type);
    ck_assert_uint_eq(p.size, value_size(s->type));
    snprintf(path_text, sizeof path_text, "main/#0:1.sample.%s", s->name);
    WORKS(rig.host, api->parse_path(rig.host, path_text, &path));
    WORKS(rig.host, api->get_text(&path, text, sizeof text));
    ck_assert_str_eq(text, s->first);
    WORKS(rig.host, api->get(world, &p, &e, 1, &first, p.size));
    WORKS(rig.host, api->set_text(&path, s->second));
    WORKS(rig.host, api->get_text(&path, text, sizeof text));
    ck_assert_str_eq(text, s->second);
    WORKS(rig.host, api->get_named(world, e, "sample", s->name, s->type, &second));
    ck_assert(s->type == BP_STRING || memcmp(&first, &second, p.size) != 0);
    if (s->type == BP_STRING)
        first.string = s->first;
    WORKS(rig.host, api->set(world, &p, &e, 1, &first, p.size));
    WORKS(rig.host, api->get_text(&path, text, sizeof text));
    ck_assert_str_eq(text, s->first);
    if (s->type == BP_STRING)
        second.string = s->second;
    WORKS(rig.host, api->set_named(world, e, "sample", s->name, s->type, &second));
    WORKS(rig.host, api->get(world, &p, &e, 1, &back, p.size));
    ck_assert(s->type == BP_STRING ? strcmp(back.string, s->second) == 0
                                   : memcmp(&back, &second, p.size) == 0);
    WORKS(rig.host, api->format(world, &p, &back, text, sizeof text));
    ck_assert_str_eq(text, s->second);
    WORKS(rig.host, api->format(world, &p, &first, text, sizeof text));
    ck_assert_str_eq(text, s->first);
}
END_TEST

START_TEST(a_text_is_cut_at_its_room)
{
    bp_entity_t e = entity_with(world, "sample");
    bp_path_t path;
    char text[8] = "#######";
    WORKS(rig.host, api->parse_path(rig.host, "main/#0:1.sample.a_string", &path));
    WORKS(rig.host, api->get_text(&path, text, 4));
    ck_assert_str_eq(text, "sam");
    ck_assert_int_eq(text[4], '#');
    (void)e;
}
END_TEST

/* --- columns -------------------------------------------------------------------------------------------- */

enum { MANY = 3000 };
static bp_entity_t many[MANY];

/* Bodies in four prototypes, every third of them dead. */
static uint32_t make_many(void)
{
    static const char *const seconds[] = {NULL, "label", "flag", "told"};
    uint32_t living = 0;
    for (uint32_t i = 0; i < MANY; i++)
        WORKS(rig.host, worlds->create(world, prototype_of(world, "body", seconds[i / 50 % 4], NULL, NULL),
                                       &many[i], 1));
    for (uint32_t i = 0; i < MANY; i++) {
        if (i % 3 == 0)
            rig.api->entity->destroy(rig.host, &many[i], 1);
        else
            many[living++] = many[i];
    }
    return living;
}

static void reorder(bp_entity_t *e, uint32_t count, uint32_t how)
{
    uint64_t random = how;
    for (uint32_t i = count; how > 0 && i > 1; i--) {
        uint32_t k = how == 1 ? 0 : bp_random_below(&random, i);
        bp_entity_t swapped = e[i - 1];
        e[i - 1] = e[k];
        e[k] = swapped;
    }
}

START_TEST(columns_of_any_length_order_and_stride_are_set_and_got)
{
    static const size_t strides[] = {sizeof(bp_vec3_t), 16, 28, 0};
    static unsigned char values[MANY * 28], back[MANY * 28];
    static bp_entity_t in_order[MANY];
    uint32_t living = make_many();
    uint64_t random = 3;
    memcpy(in_order, many, sizeof many);
    bp_property_t position = resolve(many[0], "body", "position");
    for (uint32_t round = 0; round < 4 * 60; round++) {
        uint32_t count = 1 + (round < 100 ? round : bp_random_below(&random, living));
        size_t stride = strides[round % 4], got = strides[round / 4 % 3];
        memcpy(many, in_order, sizeof many);
        reorder(many, round % 8 == 7 ? living / 2 : living, round % 5);
        for (uint32_t i = 0; i < count; i++) {
            bp_vec3_t v = {(float)round, (float)(stride == 0 ? 0 : i), 7};
            memcpy(values + i * stride, &v, sizeof v);
        }
        memset(back, 0x55, sizeof back);
        rig.heap.refuse_first = round % 3 == 2 ? rig.heap.requests + 1 : 0; /* it needs no memory */
        rig.heap.refuse_last = UINT64_MAX;
        WORKS(rig.host, api->set(world, &position, many, count, values, stride));
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        WORKS(rig.host, api->get(world, &position, many, count, back, got));
        for (uint32_t i = 0; i < count; i++) {
            EXPECT(memcmp(values + i * stride, back + i * got, sizeof(bp_vec3_t)) == 0,
                   "round %u, value %u of %u", round, i, count);
            for (size_t k = sizeof(bp_vec3_t); k < got; k++)
                EXPECT(back[i * got + k] == 0x55, "what lies between the values has changed");
        }
    }
}
END_TEST

/* Without memory for the places of all cells, and with it. */
START_TEST(single_numbers_are_set_and_got_in_any_order)
{
    static float values[MANY], back[MANY];
    uint32_t living = make_many();
    bp_property_t mass = resolve(many[0], "body", "mass");
    for (uint32_t round = 0; round < 4; round++) {
        reorder(many, living, 2 + round);
        for (uint32_t i = 0; i < living; i++)
            values[i] = (float)(round * MANY + i);
        rig.heap.refuse_first = round < 2 ? rig.heap.requests + 1 : 0;
        rig.heap.refuse_last = UINT64_MAX;
        WORKS(rig.host, api->set(world, &mass, many, living, values, sizeof *values));
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        WORKS(rig.host, api->get(world, &mass, many, living, back, sizeof *back));
        ck_assert_mem_eq(back, values, living * sizeof *values);
    }
}
END_TEST

/* A batch goes on as its own entities say, whatever lies before it in the caller's array. */
START_TEST(a_batch_behind_others_is_got_by_its_own_entities)
{
    enum { SOME = 16 };
    bp_entity_t e[4 * SOME], array[3 * SOME];
    float values[4 * SOME], back[2 * SOME];
    WORKS(rig.host, worlds->create(world, prototype_of(world, "body", NULL, NULL, NULL), e, 4 * SOME));
    bp_property_t mass = resolve(e[0], "body", "mass");
    for (uint32_t i = 0; i < 4 * SOME; i++)
        values[i] = (float)i;
    WORKS(rig.host, api->set(world, &mass, e, 4 * SOME, values, sizeof *values));
    for (uint32_t i = 0; i < SOME; i++) {
        array[i] = e[i];
        array[SOME + i] = e[2 * SOME + i];
        array[2 * SOME + i] = e[i * 3];
    }
    WORKS(rig.host, api->get(world, &mass, array + SOME, 2 * SOME, back, sizeof *back));
    for (uint32_t i = 0; i < SOME; i++)
        ck_assert(back[i] == values[2 * SOME + i] && back[SOME + i] == values[i * 3]);
}
END_TEST

START_TEST(a_property_resolved_once_serves_all_entities_of_its_world)
{
    bp_entity_t e[4] = {entity_with(world, "body"), entity_with(world, "sample"), {0}, {0}};
    bp_property_t mass = resolve(e[0], "body", "mass");
    uint32_t body = key_of(world, "body", "");
    float value = 4, back;
    WORKS(rig.host, worlds->add(world, body, &e[1], 1));
    WORKS(rig.host, worlds->create(world, prototype_of(world, "label", "body", "fx", "told"), &e[2], 2));
    for (uint32_t i = 0; i < 4; i++) {
        WORKS(rig.host, api->set(world, &mass, &e[i], 1, &value, 0));
        WORKS(rig.host, api->get_named(world, e[i], "body", "mass", BP_F32, &back));
        ck_assert(back == 4);
    }
}
END_TEST

START_TEST(an_address_is_given_only_where_it_is_known)
{
    bp_entity_t e[3] = {entity_with(world, "body"), entity_with(world, "body"), entity_with(world, "label")},
                none = {0};
    bp_property_t mass = resolve(e[0], "body", "mass");
    float value;
    ck_assert_ptr_null(bp_property_cell(world, &mass, e[0]));
    WORKS(rig.host, api->get(world, &mass, e, 1, &value, 0));
    bp_ref_t ref = {.entity = e[1], .field = key_of(world, "body", "") << 8 | BODY_MASS};
    ck_assert_ptr_nonnull(bp_property_cell(world, &mass, e[0]));
    ck_assert_ptr_eq(bp_property_cell(world, &mass, e[1]), bp_ref_get(worlds, world, &ref));
    ck_assert_ptr_null(bp_property_cell(world, &mass, e[2]));
    ck_assert_ptr_null(bp_property_cell(world, &mass, none));
    ck_assert_ptr_null(bp_property_cell(world, &mass, (bp_entity_t){UINT64_MAX}));
    bp_property_t later = mass; /* as a host resolves it that keeps rows in another way */
    later.host.found.known = BP_INLINE_LAYOUT + 1;
    ck_assert_ptr_null(bp_property_cell(world, &later, e[0]));
    WORKS(rig.host, api->get(world, &later, e, 1, &value, 0));
    bp_world_o *other = rig_world(&rig, "other");
    WORKS(rig.host, worlds->add(other, key_of(other, "body", ""), e, 3));
    ck_assert_ptr_null(bp_property_cell(other, &mass, e[0]));
    WORKS(rig.host, worlds->add(world, key_of(world, "flag", ""), e, 1));
    ck_assert_ptr_null(bp_property_cell(world, &mass, e[0]));
    rig.api->entity->destroy(rig.host, &e[1], 1);
    ck_assert_ptr_null(bp_property_cell(world, &mass, e[1]));
}
END_TEST

/* --- strings -------------------------------------------------------------------------------------------- */

START_TEST(a_string_may_be_set_from_a_string_that_was_read)
{
    bp_entity_t e[40];
    WORKS(rig.host, worlds->create(world, prototype_of(world, "label", NULL, NULL, NULL), e, 40));
    const char *text = "a text that only one label has";
    WORKS(rig.host, api->set_named(world, e[0], "label", "text", BP_STRING, &text));
    bp_property_t p = resolve(e[0], "label", "text");
    WORKS(rig.host, api->get(world, &p, e, 1, &text, sizeof text));
    WORKS(rig.host, api->set(world, &p, e, 1, &text, sizeof text));
    WORKS(rig.host, api->set(world, &p, e, 40, &text, 0));
    const char *texts[40];
    WORKS(rig.host, api->get(world, &p, e, 40, texts, sizeof texts[0]));
    for (uint32_t i = 0; i < 40; i++)
        ck_assert_str_eq(texts[i], "a text that only one label has");
    bp_entity_t twice[] = {e[3], e[4], e[3]};
    const char *three[] = {"x", "y", texts[0]};
    WORKS(rig.host, api->set(world, &p, twice, 3, three, sizeof three[0]));
    WORKS(rig.host, api->get(world, &p, e, 40, texts, sizeof texts[0]));
    ck_assert_str_eq(texts[3], "a text that only one label has");
    ck_assert_str_eq(texts[4], "y");
    check_host(rig.host);
}
END_TEST

START_TEST(a_cell_is_assigned_a_counted_copy)
{
    bp_entity_t e = entity_with(world, "label");
    bp_ref_t ref = {.entity = e, .field = key_of(world, "label", "") << 8 | LABEL_TEXT};
    char text[] = "assigned";
    WORKS(rig.host, rig.api->name->assign(rig.host, worlds->ref_write(world, &ref), text));
    memset(text, 'x', sizeof text - 1);
    const char *back;
    WORKS(rig.host, api->get_named(world, e, "label", "text", BP_STRING, &back));
    ck_assert_str_eq(back, "assigned");
    rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + 1;
    SAID(rig.host, BP_ERROR_MEMORY, "out of memory while setting a string",
         rig.api->name->assign(rig.host, worlds->ref_write(world, &ref), "new"));
    ck_assert_str_eq(back, "assigned");
    WORKS(rig.host, rig.api->name->assign(rig.host, worlds->ref_write(world, &ref), ""));
    check_host(rig.host);
}
END_TEST

/* --- own storage ---------------------------------------------------------------------------------------- */

START_TEST(own_storage_serves_its_properties_by_column)
{
    enum { ITEMS = 500 };
    static bp_entity_t e[ITEMS];
    static int64_t numbers[ITEMS], back[2 * ITEMS];
    WORKS(rig.host, worlds->create(world, prototype_of(world, "pool", NULL, NULL, NULL), e, ITEMS / 2));
    WORKS(rig.host,
          worlds->create(world, prototype_of(world, "body", "pool", NULL, NULL), e + ITEMS / 2, ITEMS / 2));
    bp_property_t number = resolve(e[0], "pool", "number"), text = resolve(e[0], "pool", "text");
    for (uint32_t i = 0; i < ITEMS; i++)
        numbers[i] = (int64_t)i - 250;
    reorder(e, ITEMS, 4);
    WORKS(rig.host, api->set(world, &number, e, ITEMS, numbers, sizeof numbers[0]));
    WORKS(rig.host, api->get(world, &number, e, ITEMS, back, 16));
    for (uint32_t i = 0; i < ITEMS; i++)
        ck_assert_int_eq(back[2 * i], numbers[i]);
    const char *same = "the same for all", *read;
    WORKS(rig.host, api->set(world, &text, e, ITEMS, &same, 0));
    for (uint32_t i = 0; i < ITEMS; i += 50) {
        WORKS(rig.host, api->get(world, &text, &e[i], 1, &read, 0));
        ck_assert_str_eq(read, same);
    }
}
END_TEST

START_TEST(own_storage_refuses_as_declared_fields_do)
{
    bp_entity_t e = entity_with(world, "pool"), mute = entity_with(world, "mute"),
                label = entity_with(world, "label");
    bp_property_t number = resolve(e, "pool", "number"), fixed = resolve(mute, "mute", "number");
    int64_t value = 1001;
    SAID(rig.host, BP_ERROR_RANGE, "number = 1001 is outside its range: at least -1000 and at most 1000",
         api->set(world, &number, &e, 1, &value, 8));
    SAID(rig.host, BP_ERROR_ARGUMENT, "property 'serial' is read only",
         api->set_named(world, e, "pool", "serial", BP_U32, &value));
    SAID(rig.host, BP_ERROR_ARGUMENT, "mute has no property that can be set",
         api->set(world, &fixed, &mute, 1, &(int64_t){1}, 8));
    bp_entity_t batch[] = {e, label};
    SAID(rig.host, BP_ERROR_NOT_FOUND, "entity #2:1 has no component 'pool' in world 'main' (it has label)",
         api->set(world, &number, batch, 2, &(int64_t){1}, 0));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "entity #2:1 has no component 'pool' in world 'main' (it has label)",
         api->get(world, &number, &label, 1, &value, 8));
    WORKS(rig.host, api->get(world, &number, &e, 1, &value, 8));
    ck_assert_int_eq(value, 5);
}
END_TEST

/* --- wrong questions ------------------------------------------------------------------------------------ */

START_TEST(wrong_names_are_told_the_nearest_and_what_exists)
{
    bp_entity_t e = entity_with(world, "body"), bare;
    bp_property_t p;
    memset(&p, 0x3c, sizeof p);
    bp_property_t before = p;
    WORKS(rig.host, worlds->add(world, key_of(world, "fx", "fog"), &e, 1));
    WORKS(rig.host, rig.api->entity->create(rig.host, &bare, 1));
    SAID(rig.host, BP_ERROR_NOT_FOUND,
         "no property 'masss' in body; did you mean 'mass'? (it has mass, position, velocity, acceleration)",
         api->resolve(world, e, "body", "masss", &p));
    SAID(rig.host, BP_ERROR_NOT_FOUND,
         "entity #0:1 has no component 'bodi' in world 'main'; did you mean 'body'? (it has fog, body)",
         api->resolve(world, e, "bodi", "mass", &p));
    SAID(rig.host, BP_ERROR_NOT_FOUND,
         "entity #0:1 has no component 'frog' in world 'main'; did you mean 'fog'? (it has fog, body)",
         api->resolve(world, e, "frog", "strength", &p));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "entity #1:1 has no component 'body' in world 'main' (it has none there)",
         api->resolve(world, bare, "body", "mass", &p));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "no property '' in body (it has mass, position, velocity, acceleration)",
         api->resolve(world, e, "body", "", &p));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "entity #0:1 has no component '' in world 'main' (it has fog, body)",
         api->resolve(world, e, "", "mass", &p));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "no property 'mass' in flag (it has none)",
         api->resolve(world, entity_with(world, "flag"), "flag", "mass", &p));
    ck_assert_int_eq(memcmp(&p, &before, sizeof p), 0);
}
END_TEST

/* What there is may have a name of one letter. */
START_TEST(the_shortest_names_are_told_as_what_exists)
{
    bp_entity_t e;
    bp_property_t p;
    WORKS(rig.host, bp_world_use_component(world, "dot"));
    WORKS(rig.host, rig.api->entity->create(rig.host, &e, 1));
    WORKS(rig.host, worlds->add(world, key_of(world, "dot", "d"), &e, 1));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "no property 'position' in dot (it has x)",
         api->resolve(world, e, "d", "position", &p));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "entity #0:1 has no component 'position' in world 'main' (it has d)",
         api->resolve(world, e, "position", "x", &p));
}
END_TEST

/* Of an entity of a prototype that a property has not met before, and of one that it has. */
START_TEST(one_value_of_four_bytes_is_read_and_written_where_it_belongs)
{
    struct { float value; unsigned char behind[4]; } one;
    bp_entity_t e[4], label = entity_with(world, "label");
    for (uint32_t kind = 0; kind < 3; kind++) {
        WORKS(rig.host, worlds->create(world, prototype_of(world, "body", kind == 0 ? NULL : "flag",
                                                           kind < 2 ? NULL : "mark", NULL), e, 4));
        bp_property_t p = resolve(e[0], "body", "mass"), q = p;
        for (uint32_t i = 0; i < 3; i++) {
            memset(&one, 0xEE, sizeof one);
            one.value = (float)(5 + i);
            WORKS(rig.host, api->set(world, &p, &e[i], 1, &one, 4));
            for (uint32_t k = 0; k < 4; k++) {
                float expected = k <= i ? (float)(5 + k) : 1;
                memset(&one, 0xEE, sizeof one);
                WORKS(rig.host, api->get(world, &q, &e[k], 1, &one, 4));
                EXPECT(one.value == expected && one.behind[0] == 0xEE, "value %u is %g", k, (double)one.value);
            }
            SAID(rig.host, BP_ERROR_NOT_FOUND, "entity #0:1 has no component 'body' in world 'main' (it has label)",
                 api->set(world, &p, &label, 1, &one, 4));
            SAID(rig.host, BP_ERROR_NOT_FOUND, "entity #0:1 has no component 'body' in world 'main' (it has label)",
                 api->get(world, &q, &label, 1, &one, 4));
        }
        for (uint32_t k = 0; k < 4; k++) {
            WORKS(rig.host, api->get_named(world, e[k], "body", "mass", BP_F32, &one.value));
            ck_assert(one.value == (k < 3 ? (float)(5 + k) : 1));
        }
    }
}
END_TEST

START_TEST(without_an_entity_a_name_must_mean_one_type)
{
    bp_entity_t none = {0};
    bp_property_t p;
    SAID(rig.host, BP_ERROR_NOT_FOUND, "no entity of world 'main' has had a component 'body'",
         api->resolve(world, none, "body", "mass", &p));
    bp_entity_t e = entity_with(world, "body");
    WORKS(rig.host, api->resolve(world, none, "body", "mass", &p));
    WORKS(rig.host, api->set(world, &p, &e, 1, &(float){3}, 4));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "no entity of world 'main' has had a component 'boddy'; did you mean 'body'?",
         api->resolve(world, none, "boddy", "mass", &p));
    key_of(world, "fx", "part");
    WORKS(rig.host, api->resolve(world, none, "part", "strength", &p));
    key_of(world, "label", "part");
    SAID(rig.host, BP_ERROR_ARGUMENT,
         "'part' is a fx in some entities of world 'main' and a label in others; say which entity",
         api->resolve(world, none, "part", "strength", &p));
}
END_TEST

START_TEST(the_wrong_type_is_refused_by_name)
{
    bp_entity_t e = entity_with(world, "body");
    float value = 5;
    double wide = 5;
    SAID(rig.host, BP_ERROR_TYPE, "property 'mass' is a f32, not a f64",
         api->set_named(world, e, "body", "mass", BP_F64, &wide));
    SAID(rig.host, BP_ERROR_TYPE, "property 'mass' is a f32, not a f64",
         api->get_named(world, e, "body", "mass", BP_F64, &wide));
    SAID(rig.host, BP_ERROR_TYPE, "property 'mass' is a f32, not a ?",
         api->get_named(world, e, "body", "mass", 99, &wide));
    WORKS(rig.host, api->get_named(world, e, "body", "mass", BP_F32, &value));
    ck_assert(value == 1 && wide == 5);
}
END_TEST

START_TEST(the_dead_the_foreign_and_nobody_have_no_properties)
{
    bp_entity_t e = entity_with(world, "body"), dead = entity_with(world, "body");
    bp_property_t mass = resolve(e, "body", "mass");
    bp_entity_t foreign = {e.id + (UINT64_C(1) << 53)};
    float value = 9;
    rig.api->entity->destroy(rig.host, &dead, 1);
    const struct { bp_entity_t e; const char *part; } cases[] = {
        {dead, "entity #1:1 is dead"}, {foreign, "entity 0040000100000000 belongs to another host"},
        {{0}, "no entity is given (its id is 0)"}};
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        bp_property_t p;
        bp_entity_t batch[] = {e, cases[i].e};
        SAID(rig.host, BP_ERROR_DEAD, cases[i].part, api->get(world, &mass, &cases[i].e, 1, &value, 4));
        SAID(rig.host, BP_ERROR_DEAD, cases[i].part, api->set(world, &mass, &cases[i].e, 1, &value, 4));
        SAID(rig.host, BP_ERROR_DEAD, cases[i].part, api->set(world, &mass, batch, 2, &value, 0));
        SAID(rig.host, BP_ERROR_DEAD, cases[i].part,
              api->get_named(world, cases[i].e, "body", "mass", BP_F32, &value));
        SAID(rig.host, BP_ERROR_DEAD, cases[i].part,
              api->set_named(world, cases[i].e, "body", "mass", BP_F32, &value));
        if (cases[i].e.id != 0)
            SAID(rig.host, BP_ERROR_DEAD, cases[i].part,
                  api->resolve(world, cases[i].e, "body", "mass", &p));
    }
    WORKS(rig.host, api->get(world, &mass, &e, 1, &value, 4));
    ck_assert(value == 1);
}
END_TEST

/* Whether a {0}, a dead one or one without the component: wherever it stands, the batch is refused. */
START_TEST(one_wrong_entity_anywhere_refuses_a_set_and_stops_a_get)
{
    static float values[MANY], back[MANY];
    static const char *texts[MANY];
    uint32_t living = make_many();
    bp_entity_t label = entity_with(world, "label"), wrong[] = {{0}, many[MANY - 1], label};
    bp_property_t mass = resolve(many[0], "body", "mass");
    rig.api->entity->destroy(rig.host, &many[--living], 1);
    wrong[1] = many[living];
    for (uint32_t i = 0; i < MANY; i++) {
        values[i] = 5;
        texts[i] = "text";
    }
    for (uint32_t round = 0; round < 120; round++) {
        uint32_t at = round * 3 % living, kind = round % 3;
        reorder(many, living, round % 4);
        bp_entity_t kept = many[at];
        many[at] = wrong[kind];
        bp_result_t code = kind == 2 ? BP_ERROR_NOT_FOUND : BP_ERROR_DEAD;
        FAILS(rig.host, code, "", api->set(world, &mass, many, living, values, sizeof values[0]));
        FAILS(rig.host, code, "", api->get(world, &mass, many, living, back, sizeof back[0]));
        many[at] = kept;
        WORKS(rig.host, api->get(world, &mass, many, living, back, sizeof back[0]));
        for (uint32_t i = 0; i < living; i++)
            EXPECT(back[i] == 1, "a refused set has set %u", i);
    }
    bp_property_t text = resolve(label, "label", "text");
    bp_entity_t pair[] = {label, {0}};
    SAID(rig.host, BP_ERROR_DEAD, "no entity is given (its id is 0)",
         api->set(world, &text, pair, 2, texts, sizeof texts[0]));
}
END_TEST

/* A row that is followed by a hole, and a batch in which the entity is followed by {0}. */
START_TEST(no_entity_is_not_the_hole_behind_a_row)
{
    bp_entity_t e[20];
    float values[20] = {0};
    WORKS(rig.host, worlds->create(world, prototype_of(world, "body", "label", NULL, NULL), e, 20));
    bp_property_t mass = resolve(e[0], "body", "mass"), text = resolve(e[0], "label", "text");
    rig.api->entity->destroy(rig.host, &e[1], 1);
    rig.api->entity->destroy(rig.host, &e[12], 1);
    e[1] = e[12] = (bp_entity_t){0};
    const char *same = "text";
    for (uint32_t first = 0; first < 12; first += 2) {
        SAID(rig.host, BP_ERROR_DEAD, "no entity is given (its id is 0)",
             api->get(world, &mass, e + first, 20 - first, values, 4));
        SAID(rig.host, BP_ERROR_DEAD, "no entity is given (its id is 0)",
             api->set(world, &mass, e + first, 20 - first, values, 4));
        SAID(rig.host, BP_ERROR_DEAD, "no entity is given (its id is 0)",
             api->set(world, &text, e + first, 20 - first, &same, 0));
    }
}
END_TEST

START_TEST(one_value_out_of_range_refuses_a_set)
{
    bp_entity_t e[50];
    WORKS(rig.host, worlds->create(world, prototype_of(world, "sample", "label", "body", NULL), e, 50));
    static const struct { const char *component, *property; float bad; const char *part; } cases[] = {
        {"body", "mass", -1, "mass = -1 is outside its range: at least 0 kg"},
        {"body", "mass", NAN, "mass = "},
        {"sample", "a_colour", -0.5f, "a_colour = -0.5 is outside"},
        {"sample", "a_vec2", 51, "a_vec2 = 51 is outside its range: at most 50"},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        float values[50 * 4];
        bp_property_t p = resolve(e[0], cases[i].component, cases[i].property);
        for (uint32_t at = 0; at < 50 * p.size / 4; at += 7) {
            char *before = describe_host(rig.host);
            for (uint32_t k = 0; k < COUNT(values); k++)
                values[k] = 0.25f;
            values[at] = cases[i].bad;
            FAILS(rig.host, BP_ERROR_RANGE, cases[i].part, api->set(world, &p, e, 50, values, p.size));
            expect_same(before, describe_host(rig.host), cases[i].part);
        }
        FAILS(rig.host, BP_ERROR_RANGE, cases[i].part,
              api->set(world, &p, e, 1, (float[4]){cases[i].bad, cases[i].bad, 0, 0}, p.size));
    }
    int32_t ranks[50] = {0};
    ranks[49] = 11;
    bp_property_t rank = resolve(e[0], "label", "rank");
    SAID(rig.host, BP_ERROR_RANGE, "rank = 11 is outside its range: at least -10 and at most 10",
         api->set(world, &rank, e, 50, ranks, sizeof ranks[0]));
    SAID(rig.host, BP_ERROR_RANGE, "rank = 11 is outside its range: at least -10 and at most 10",
         api->set_named(world, e[3], "label", "rank", BP_I32, &ranks[49]));
    WORKS(rig.host, api->set(world, &rank, e, 49, ranks, sizeof ranks[0]));
}
END_TEST

START_TEST(what_is_read_only_is_not_set)
{
    bp_entity_t e = entity_with(world, "sample");
    bp_property_t p = resolve(e, "sample", "a_reading");
    float value = 8;
    bp_path_t path;
    ck_assert_uint_eq(p.flags & BP_FIELD_READ_ONLY, BP_FIELD_READ_ONLY);
    SAID(rig.host, BP_ERROR_ARGUMENT, "property 'a_reading' is read only", api->set(world, &p, &e, 1, &value, 4));
    WORKS(rig.host, api->get(world, &p, &e, 1, &value, 4));
    SAID(rig.host, BP_ERROR_ARGUMENT, "property 'a_reading' is read only", api->set(world, &p, &e, 1, &value, 4));
    SAID(rig.host, BP_ERROR_ARGUMENT, "property 'a_reading' is read only",
         api->set_named(world, e, "sample", "a_reading", BP_F32, &value));
    WORKS(rig.host, api->parse_path(rig.host, "main/#0:1.sample.a_reading", &path));
    SAID(rig.host, BP_ERROR_ARGUMENT, "property 'a_reading' is read only", api->set_text(&path, "8"));
    ck_assert(value == 3);
}
END_TEST

START_TEST(a_property_of_another_world_is_refused)
{
    bp_world_o *other = rig_world(&rig, "other");
    bp_entity_t e = entity_with(world, "body");
    WORKS(rig.host, worlds->add(other, key_of(other, "body", ""), &e, 1));
    bp_property_t mass = resolve(e, "body", "mass");
    float value = 2;
    WORKS(rig.host, api->get(world, &mass, &e, 1, &value, 4));
    SAID(rig.host, BP_ERROR_ARGUMENT, "the property was not resolved in world 'other'",
         api->get(other, &mass, &e, 1, &value, 4));
    SAID(rig.host, BP_ERROR_ARGUMENT, "the property was not resolved in world 'other'",
         api->set(other, &mass, &e, 1, &value, 4));
    bp_property_t blank = {0};
    SAID(rig.host, BP_ERROR_ARGUMENT, "the property was not resolved in world 'main'",
         api->get(world, &blank, &e, 1, &value, 4));
}
END_TEST

START_TEST(a_property_of_another_host_is_refused)
{
    rig_t second;
    rig_init(&second);
    second.desc.static_plugins = plugins;
    second.desc.static_plugin_count = COUNT(plugins);
    rig_open(&second);
    for (uint32_t i = 0; i < COUNT(plugins); i++)
        WORKS(second.host, bp_host_load_plugin(second.host, plugins[i]->name, NULL, 0));
    bp_world_o *there = rig_world(&second, "main");
    bp_entity_t e = entity_with(world, "body"), other;
    WORKS(second.host, second.api->entity->create(second.host, &other, 1));
    WORKS(second.host, second.api->world->add(there, key_of(there, "sample", ""), &other, 1));
    bp_property_t mass = resolve(e, "body", "mass");
    float value = 2;
    WORKS(rig.host, api->get(world, &mass, &e, 1, &value, 4));
    SAID(second.host, BP_ERROR_ARGUMENT, "the property was not resolved in world 'main'",
         second.api->property->get(there, &mass, &other, 1, &value, 4));
    SAID(second.host, BP_ERROR_ARGUMENT, "the property was not resolved in world 'main'",
         second.api->property->set(there, &mass, &other, 1, &value, 4));
    ck_assert(bp_property_cell(there, &mass, other) == NULL);
    rig_close(&second);
}
END_TEST

/* --- two names ------------------------------------------------------------------------------------------ */

/* More pairs than the cache has room for, in a buffer whose address stays the same while its text changes. */
START_TEST(many_pairs_of_names_are_told_apart)
{
    enum { NAMES = 300 };
    bp_entity_t e;
    char name[80];
    WORKS(rig.host, rig.api->entity->create(rig.host, &e, 1));
    for (uint32_t i = 0; i < 250; i++) {
        snprintf(name, sizeof name, "part%u%s", i,
                 i % 50 == 7 ? "-with-a-name-of-more-than-sixty-four-bytes-all-told-to-be-sure-of-it" : "");
        WORKS(rig.host, worlds->add(world, key_of(world, i % 2 == 0 ? "mark" : "fx", name), &e, 1));
    }
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 250; i++) {
            uint32_t value = i + round;
            double strength = i / 250.0;
            snprintf(name, sizeof name, "part%u%s", i,
                     i % 50 == 7 ? "-with-a-name-of-more-than-sixty-four-bytes-all-told-to-be-sure-of-it"
                                 : "");
            if (i % 2 == 0)
                WORKS(rig.host, api->set_named(world, e, name, "value", BP_U32, &value));
            else
                WORKS(rig.host, api->set_named(world, e, name, "strength", BP_F64, &strength));
        }
        for (uint32_t i = 0; i < 250; i++) {
            uint32_t value = 0;
            double strength = -1;
            snprintf(name, sizeof name, "part%u%s", i,
                     i % 50 == 7 ? "-with-a-name-of-more-than-sixty-four-bytes-all-told-to-be-sure-of-it"
                                 : "");
            if (i % 2 == 0)
                WORKS(rig.host, api->get_named(world, e, name, "value", BP_U32, &value));
            else
                WORKS(rig.host, api->get_named(world, e, name, "strength", BP_F64, &strength));
            EXPECT(i % 2 == 0 ? value == i + round : strength == i / 250.0, "%s has the value of another",
                   name);
        }
    }
}
END_TEST

/* "part" is a body in one entity and a label in the other. */
START_TEST(one_name_may_mean_different_types_in_different_entities)
{
    bp_entity_t e[2];
    WORKS(rig.host, rig.api->entity->create(rig.host, e, 2));
    WORKS(rig.host, worlds->add(world, key_of(world, "fx", "part"), &e[0], 1));
    WORKS(rig.host, worlds->add(world, key_of(world, "mark", "part"), &e[1], 1));
    for (uint32_t i = 0; i < 4; i++) {
        double strength;
        uint32_t value;
        WORKS(rig.host, api->get_named(world, e[0], "part", "strength", BP_F64, &strength));
        WORKS(rig.host, api->get_named(world, e[1], "part", "value", BP_U32, &value));
        SAID(rig.host, BP_ERROR_NOT_FOUND, "no property 'value' in fx (it has enabled, colour, strength)",
             api->get_named(world, e[0], "part", "value", BP_U32, &value));
        SAID(rig.host, BP_ERROR_NOT_FOUND, "no property 'strength' in mark (it has value)",
             api->get_named(world, e[1], "part", "strength", BP_F64, &strength));
    }
}
END_TEST

/* --- plugins that go ------------------------------------------------------------------------------------ */

START_TEST(a_property_whose_plugin_has_gone_is_refused)
{
    bp_entity_t e = entity_with(world, "body"), pool = entity_with(world, "pool");
    bp_property_t mass = resolve(e, "body", "mass"),
                  text = resolve(entity_with(world, "label"), "label", "text");
    bp_property_t number = resolve(pool, "pool", "number");
    float value = 2;
    const char *string = "s";
    bp_path_t path;
    WORKS(rig.host, api->get(world, &mass, &e, 1, &value, 4));
    WORKS(rig.host, api->parse_path(rig.host, "main/#0:1.body.mass", &path));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "zoo"));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "stocks"));
    for (uint32_t again = 0; again < 2; again++) {
        char out[16];
        SAID(rig.host, BP_ERROR_NOT_FOUND, "component 'body' has left world 'main'",
             api->get(world, &mass, &e, 1, &value, 4));
        SAID(rig.host, BP_ERROR_NOT_FOUND, "component 'body' has left world 'main'",
             api->set(world, &mass, &e, 1, &value, 4));
        SAID(rig.host, BP_ERROR_NOT_FOUND, "component 'label' has left world 'main'",
             api->set(world, &text, &e, 1, &string, 8));
        SAID(rig.host, BP_ERROR_NOT_FOUND, "component 'pool' has left world 'main'",
             api->set(world, &number, &pool, 1, &(int64_t){1}, 8));
        SAID(rig.host, BP_ERROR_NOT_FOUND, "component 'pool' has left world 'main'",
             api->get(world, &number, &pool, 1, &(int64_t){1}, 8));
        SAID(rig.host, BP_ERROR_NOT_FOUND, "component 'body' has left world 'main'",
             api->get_text(&path, out, sizeof out));
        SAID(rig.host, BP_ERROR_NOT_FOUND, "component 'body' has left world 'main'", api->set_text(&path, "much"));
        SAID(rig.host, BP_ERROR_NOT_FOUND, "component 'body' has left world 'main'",
             api->format(world, &mass, &value, out, sizeof out));
        SAID(rig.host, BP_ERROR_NOT_FOUND, "entity #0:1 has no component 'body' in world 'main' (it has none there)",
             api->get_named(world, e, "body", "mass", BP_F32, &value));
        ck_assert_ptr_null(bp_property_cell(world, &mass, e));
        if (again == 0) {
            WORKS(rig.host, bp_host_load_plugin(rig.host, "zoo", NULL, 0));
            WORKS(rig.host, bp_host_load_plugin(rig.host, "stocks", NULL, 0));
            WORKS(rig.host, bp_world_use_component(world, "body"));
        }
    }
    WORKS(rig.host, worlds->add(world, key_of(world, "body", ""), &e, 1));
    WORKS(rig.host, api->get_named(world, e, "body", "mass", BP_F32, &value));
    ck_assert(value == 1);
    SAID(rig.host, BP_ERROR_NOT_FOUND, "component 'body' has left world 'main'",
         api->get(world, &mass, &e, 1, &value, 4));
}
END_TEST

/* --- paths ---------------------------------------------------------------------------------------------- */

static bp_entity_t named(const char *name)
{
    bp_entity_t e;
    WORKS(rig.host, worlds->create(world, prototype_of(world, "body", "debug_name", NULL, NULL), &e, 1));
    WORKS(rig.host, api->set_named(world, e, "debug_name", "name", BP_STRING, &name));
    return e;
}

START_TEST(paths_find_entities_by_name_or_number)
{
    static const char *const names[] = {"earth", "a.b", "x/y", "with blank", "a.body.mass", "#", " "};
    char text[80];
    bp_path_t path;
    WORKS(rig.host, bp_world_use_component(world, "debug_name"));
    for (uint32_t i = 0; i < COUNT(names); i++) {
        bp_entity_t e = named(names[i]);
        if (names[i][0] == '#')
            continue;
        snprintf(text, sizeof text, "main/%s.body.mass", names[i]);
        WORKS(rig.host, api->parse_path(rig.host, text, &path));
        ck_assert_uint_eq(path.entity.id, e.id);
        ck_assert_ptr_eq(path.world, world);
    }
    WORKS(rig.host, api->parse_path(rig.host, "main/#2:1.body.position", &path));
    ck_assert_uint_eq(bp_entity_index(path.entity), 2);
    WORKS(rig.host, api->set_text(&path, "1, 2, 3"));
    WORKS(rig.host, api->get_text(&path, text, sizeof text));
    ck_assert_str_eq(text, "1 2 3");
}
END_TEST

typedef struct path_case_t {
    const char *path;
    bp_result_t code;
    const char *part;
} path_case_t;

#define NO_PATH(path)                                                                                         \
    "'" path "' is not a path; write world/entity.component.property, or world.component.property for what belongs " \
    "to the world itself"

static const path_case_t bad_paths[] = {
    {"", BP_ERROR_SYNTAX, NO_PATH("")},
    {"main", BP_ERROR_SYNTAX, NO_PATH("main")},
    {"main/earth", BP_ERROR_SYNTAX, NO_PATH("main/earth")},
    {"main/earth.body", BP_ERROR_SYNTAX, NO_PATH("main/earth.body")},
    {"/earth.body.mass", BP_ERROR_SYNTAX, NO_PATH("/earth.body.mass")},
    {"main/.body.mass", BP_ERROR_SYNTAX, NO_PATH("main/.body.mass")},
    {"main/earth..mass", BP_ERROR_SYNTAX, NO_PATH("main/earth..mass")},
    {"main/earth.body.", BP_ERROR_SYNTAX, NO_PATH("main/earth.body.")},
    {"earth.body.mass", BP_ERROR_SYNTAX, NO_PATH("earth.body.mass")},
    {"main.body.", BP_ERROR_SYNTAX, NO_PATH("main.body.")},
    {"main..mass", BP_ERROR_SYNTAX, NO_PATH("main..mass")},
    {"mian/earth.body.mass", BP_ERROR_NOT_FOUND,
     "mian/earth.body.mass: there is no world 'mian'; did you mean 'main'?"},
    {"main/mars.body.mass", BP_ERROR_NOT_FOUND,
     "main/mars.body.mass: no entity of world 'main' is called 'mars'"},
    {"main/erth.body.mass", BP_ERROR_NOT_FOUND,
     "main/erth.body.mass: no entity of world 'main' is called 'erth'; did you mean 'earth'?"},
    {"main/twin.body.mass", BP_ERROR_ARGUMENT,
     "main/twin.body.mass: 2 entities of world 'main' are called 'twin'; write #index:generation"},
    {"main/#7.body.mass", BP_ERROR_TYPE, "main/#7.body.mass: '#7' is not #index:generation or none (type entity)"},
    {"main/#7:1.body.mass", BP_ERROR_DEAD, "main/#7:1.body.mass: entity #7:1 was never created"},
    {"main/#3:1.body.mass", BP_ERROR_DEAD, "main/#3:1.body.mass: entity #3:1 is dead"},
    {"main/#0:2.body.mass", BP_ERROR_DEAD, "main/#0:2.body.mass: entity #0:2 is dead"},
    {"main/earth.bodi.mass", BP_ERROR_NOT_FOUND,
     "main/earth.bodi.mass: entity #0:1 has no component 'bodi' in world 'main'; did you mean 'body'? (it has "
     "debug_name, body)"},
    {"main/earth.body.mas", BP_ERROR_NOT_FOUND,
     "main/earth.body.mas: no property 'mas' in body; did you mean 'mass'? (it has mass, position, velocity, "
     "acceleration)"},
};

START_TEST(a_wrong_path_says_which_part_is_wrong)
{
    bp_path_t path;
    memset(&path, 0x2b, sizeof path);
    bp_path_t before = path;
    WORKS(rig.host, bp_world_use_component(world, "debug_name"));
    named("earth");
    named("twin");
    named("twin");
    bp_entity_t dead = named("mars");
    rig.api->entity->destroy(rig.host, &dead, 1);
    SAID(rig.host, bad_paths[_i].code, bad_paths[_i].part,
         api->parse_path(rig.host, bad_paths[_i].path, &path));
    ck_assert_int_eq(memcmp(&path, &before, sizeof path), 0);
}
END_TEST

/* As in a step in which that plugin has crashed, whose tables are emptied after the step. */
START_TEST(who_knows_names_and_has_crashed_is_not_asked)
{
    bp_path_t path;
    WORKS(rig.host, bp_world_use_component(world, "debug_name"));
    bp_entity_t earth = named("earth");
    plugin_t *names = registry_table_owner(&rig.host->registry, BP_DEBUG_NAME_API);
    ck_assert_ptr_nonnull(names);
    names->guard = (guard_t *)(void *)&path; /* no more than that there is one */
    plugin_set_aside(names);
    SAID(rig.host, BP_ERROR_FAILED,
         "main/earth.body.mass: the plugin that knows entities by their names has crashed; write #index:generation",
         api->parse_path(rig.host, "main/earth.body.mass", &path));
    plugin_trust(names);
    names->guard = NULL;
    WORKS(rig.host, api->parse_path(rig.host, "main/earth.body.mass", &path));
    ck_assert_uint_eq(path.entity.id, earth.id);
}
END_TEST

START_TEST(a_reference_is_set_by_name_or_number)
{
    static const struct {
        const char *text;
        bp_result_t code;
        const char *part;
    } rows[] = {
        {"erth", BP_ERROR_NOT_FOUND, "home: no entity of world 'main' is called 'erth'; did you mean 'earth'?"},
        {"twin", BP_ERROR_ARGUMENT, "home: 2 entities of world 'main' are called 'twin'; write #index:generation"},
        {"#7", BP_ERROR_TYPE, "home: '#7' is not #index:generation or none (type entity)"},
        {"", BP_ERROR_TYPE, "home: '' is not #index:generation or none (type entity)"},
    };
    bp_path_t path;
    char text[32];
    WORKS(rig.host, bp_world_use_component(world, "debug_name"));
    bp_entity_t earth = named("earth"), moon;
    named("twin");
    named("twin");
    WORKS(rig.host, worlds->create(world, prototype_of(world, "label", "debug_name", NULL, NULL), &moon, 1));
    WORKS(rig.host, api->set_named(world, moon, "debug_name", "name", BP_STRING, &(const char *){"moon"}));
    WORKS(rig.host, api->parse_path(rig.host, "main/moon.label.home", &path));
    WORKS(rig.host, api->set_text(&path, "earth"));
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        bp_entity_t home;
        SAID(rig.host, rows[i].code, rows[i].part, api->set_text(&path, rows[i].text));
        WORKS(rig.host, api->get_named(world, moon, "label", "home", BP_ENTITY, &home));
        ck_assert_uint_eq(home.id, earth.id);
    }
    WORKS(rig.host, api->set_text(&path, "none"));
    WORKS(rig.host, api->get_text(&path, text, sizeof text));
    ck_assert_str_eq(text, "none");
    WORKS(rig.host, api->set_text(&path, "#0:1"));
    WORKS(rig.host, api->get_text(&path, text, sizeof text));
    ck_assert_str_eq(text, "#0:1");
}
END_TEST

/* Of the world as a whole, as scenes ask: components that have left are not found. */
START_TEST(a_component_that_has_left_is_found_for_no_entity)
{
    bp_property_t rank;
    const bp_entity_t none = {0};
    entity_with(world, "label");
    WORKS(rig.host, api->resolve(world, none, "label", "rank", &rank));
    WORKS(rig.host, bp_world_drop_component(world, "label"));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "no entity of world 'main' has had a component 'label'",
         api->resolve(world, none, "label", "rank", &rank));
    ck_assert_ptr_null(strstr(bp_host_error(rig.host), "did you mean 'label'"));
    WORKS(rig.host, bp_world_use_component(world, "label"));
    entity_with(world, "label");
    WORKS(rig.host, api->resolve(world, none, "label", "rank", &rank));
}
END_TEST

START_TEST(paths_have_at_most_1023_bytes)
{
    char text[1025];
    bp_path_t path;
    memset(text, 'x', sizeof text - 1);
    text[1024] = '\0';
    SAID(rig.host, BP_ERROR_LIMIT, "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...': a path has at most 1023 bytes",
         api->parse_path(rig.host, text, &path));
    text[1023] = '\0';
    SAID(rig.host, BP_ERROR_SYNTAX,
         "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' is not a "
         "path; write world/entity.component.property, or world.component.property for what belongs to the world "
         "itself",
         api->parse_path(rig.host, text, &path));
}
END_TEST

START_TEST(without_names_only_numbers_find_entities)
{
    bp_path_t path;
    entity_with(world, "body");
    SAID(rig.host, BP_ERROR_NOT_FOUND,
         "main/earth.body.mass: world 'main' has no debug names, so 'earth' cannot be found; write #index:generation",
         api->parse_path(rig.host, "main/earth.body.mass", &path));
    WORKS(rig.host, api->parse_path(rig.host, "main/#0:1.body.mass", &path));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "naming"));
    SAID(rig.host, BP_ERROR_NOT_FOUND,
         "main/earth.body.mass: world 'main' has no debug names, so 'earth' cannot be found; write #index:generation",
         api->parse_path(rig.host, "main/earth.body.mass", &path));
}
END_TEST

START_TEST(a_text_that_is_no_value_changes_nothing)
{
    bp_entity_t e = entity_with(world, "body");
    bp_path_t path;
    float mass;
    WORKS(rig.host, api->parse_path(rig.host, "main/#0:1.body.mass", &path));
    SAID(rig.host, BP_ERROR_TYPE, "mass: 'heavy' is not a number (type f32)", api->set_text(&path, "heavy"));
    SAID(rig.host, BP_ERROR_RANGE, "mass = -1 is outside its range: at least 0 kg", api->set_text(&path, "-1"));
    WORKS(rig.host, api->get_named(world, e, "body", "mass", BP_F32, &mass));
    ck_assert(mass == 1);
    rig.api->entity->destroy(rig.host, &e, 1);
    char text[16];
    SAID(rig.host, BP_ERROR_DEAD, "entity #0:1 is dead", api->set_text(&path, "2"));
    SAID(rig.host, BP_ERROR_DEAD, "entity #0:1 is dead", api->get_text(&path, text, sizeof text));
}
END_TEST

START_TEST(declarations_are_described)
{
    bp_field_t field;
    WORKS(rig.host, api->describe(rig.host, "body", BODY_MASS, &field, sizeof field));
    ck_assert_str_eq(field.name, "mass");
    ck_assert_str_eq(field.unit, "kg");
    ck_assert_str_eq(field.doc, "inertia");
    ck_assert_str_eq(field.min, "0");
    ck_assert_ptr_null(field.max);
    WORKS(rig.host, api->describe(rig.host, "pool", STOCK_SERIAL, &field, sizeof field));
    ck_assert_uint_eq(field.flags, BP_FIELD_READ_ONLY | BP_FIELD_DERIVED);
    SAID(rig.host, BP_ERROR_NOT_FOUND, "body has 4 properties, no number 4",
         api->describe(rig.host, "body", 4, &field, sizeof field));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "no loaded plugin brings a component 'bodi'; did you mean 'body'?",
         api->describe(rig.host, "bodi", 0, &field, sizeof field));
}
END_TEST

/* --- the suite ------------------------------------------------------------------------------------------ */

static TCase *new_case(Suite *suite, const char *name)
{
    return add_case(suite, name, begin, end, 120);
}

static void add_values(TCase *tests)
{
    tcase_add_loop_test(tests, each_type_is_set_and_got_in_every_way, 0, (int)COUNT(samples));
    tcase_add_test(tests, a_text_is_cut_at_its_room);
    tcase_add_test(tests, columns_of_any_length_order_and_stride_are_set_and_got);
    tcase_add_test(tests, single_numbers_are_set_and_got_in_any_order);
    tcase_add_test(tests, a_batch_behind_others_is_got_by_its_own_entities);
    tcase_add_test(tests, a_property_resolved_once_serves_all_entities_of_its_world);
    tcase_add_test(tests, an_address_is_given_only_where_it_is_known);
    tcase_add_test(tests, a_string_may_be_set_from_a_string_that_was_read);
    tcase_add_test(tests, a_cell_is_assigned_a_counted_copy);
    tcase_add_test(tests, own_storage_serves_its_properties_by_column);
    tcase_add_test(tests, own_storage_refuses_as_declared_fields_do);
}

static void add_refusals(TCase *tests)
{
    tcase_add_test(tests, wrong_names_are_told_the_nearest_and_what_exists);
    tcase_add_test(tests, the_shortest_names_are_told_as_what_exists);
    tcase_add_test(tests, one_value_of_four_bytes_is_read_and_written_where_it_belongs);
    tcase_add_test(tests, without_an_entity_a_name_must_mean_one_type);
    tcase_add_test(tests, the_wrong_type_is_refused_by_name);
    tcase_add_test(tests, the_dead_the_foreign_and_nobody_have_no_properties);
    tcase_add_test(tests, one_wrong_entity_anywhere_refuses_a_set_and_stops_a_get);
    tcase_add_test(tests, no_entity_is_not_the_hole_behind_a_row);
    tcase_add_test(tests, one_value_out_of_range_refuses_a_set);
    tcase_add_test(tests, what_is_read_only_is_not_set);
    tcase_add_test(tests, a_property_of_another_world_is_refused);
    tcase_add_test(tests, a_property_of_another_host_is_refused);
    tcase_add_test(tests, many_pairs_of_names_are_told_apart);
    tcase_add_test(tests, one_name_may_mean_different_types_in_different_entities);
    tcase_add_test(tests, a_property_whose_plugin_has_gone_is_refused);
}

Suite *properties_suite(void)
{
    Suite *suite = suite_create("properties");
    add_values(new_case(suite, "values"));
    add_refusals(new_case(suite, "refusals"));
    TCase *paths = new_case(suite, "paths");
    tcase_add_test(paths, paths_find_entities_by_name_or_number);
    tcase_add_loop_test(paths, a_wrong_path_says_which_part_is_wrong, 0, (int)COUNT(bad_paths));
    tcase_add_test(paths, who_knows_names_and_has_crashed_is_not_asked);
    tcase_add_test(paths, a_reference_is_set_by_name_or_number);
    tcase_add_test(paths, paths_have_at_most_1023_bytes);
    tcase_add_test(paths, a_component_that_has_left_is_found_for_no_entity);
    tcase_add_test(paths, without_names_only_numbers_find_entities);
    tcase_add_test(paths, a_text_that_is_no_value_changes_nothing);
    tcase_add_test(paths, declarations_are_described);
    return suite;
}
