/* test_terms.c - what a term asks for and what a component declares, drawn at random, against an oracle of names.
 *
 * Each case makes a component of fields with random names, types, shapes and former names, and a system that asks for
 * random ones of them; the oracle says which field is meant, or that the case is refused and with what code. What is
 * bound is then seen through the columns: every field begins with a value of its own, in each element, and what the
 * system writes is read back by the field's name. The same over reloads is in tests/reload/test_reload_terms.c.
 */
#include "support.h"

#include <bp_plugin.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 10000, NAMES = 8, MOST_ASKED = 5, ROWS = 3, LIST = 0, SHAPES = 8 };

static const char *const pool[NAMES] = {"mass", "speed", "rate", "place", "power", "phase", "charge", "weight"};
static const uint32_t types[] = {BP_F32, BP_F64, BP_I32, BP_U8, BP_I64};
static const uint32_t shapes[SHAPES] = {1, 1, 1, 1, 2, 3, LIST, LIST}; /* elements */
static const char *const numbers[NAMES] = {"1", "2", "3", "4", "5", "6", "7", "8"};

/* A field that is asked for, as authors of later headers might know it. */
typedef struct wide_t {
    bp_term_field_t field;
    uint64_t later;
} wide_t;

typedef struct case_t {
    bp_field_t fields[NAMES];
    uint32_t field_count;
    wide_t asked[MOST_ASKED];
    uint32_t asked_count;
    uint32_t places[MOST_ASKED]; /* the oracle's; NAMES: absent */
    bp_result_t answer;          /* the oracle's */
    uint32_t calls;
} case_t;

static uint32_t random_below(uint64_t *random, uint32_t below)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 33) % below;
}

static void shuffle(uint64_t *random, uint32_t *order)
{
    for (uint32_t i = 0; i < NAMES; i++)
        order[i] = i;
    for (uint32_t i = NAMES - 1; i > 0; i--) {
        uint32_t k = random_below(random, i + 1), kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
}

/* Names at random; a third of the fields were called something else formerly, which no field is called now. */
static void draw_fields(case_t *c, uint64_t *random)
{
    uint32_t order[NAMES];
    shuffle(random, order);
    c->field_count = 1 + random_below(random, NAMES - 2);
    for (uint32_t i = 0, former = c->field_count; i < c->field_count; i++) {
        uint32_t shape = shapes[random_below(random, SHAPES)];
        c->fields[i] = (bp_field_t){.name = pool[order[i]],
                                    .type = types[random_below(random, COUNT(types))],
                                    .flags = shape == LIST ? BP_FIELD_LIST : 0,
                                    .count = shape == 1 ? random_below(random, 2) : shape,
                                    .initial = shape == LIST ? NULL : numbers[i]};
        if (former < NAMES && random_below(random, 3) == 0)
            c->fields[i].former_name = pool[order[former++]];
    }
}

static uint32_t shape_of(uint32_t flags, uint32_t count, uint32_t list)
{
    return (flags & list) != 0 ? LIST : count > 1 ? count : 1;
}

static uint32_t shape_of_field(const case_t *c, uint32_t place)
{
    return shape_of(c->fields[place].flags, c->fields[place].count, BP_FIELD_LIST);
}

static uint32_t shape_of_asked(const case_t *c, uint32_t k)
{
    return shape_of(c->asked[k].field.flags, c->asked[k].field.count, BP_FIELD_LIST);
}

static uint32_t find_by_oracle(const case_t *c, const char *name)
{
    for (uint32_t i = 0; i < c->field_count; i++) {
        if (strcmp(c->fields[i].name, name) == 0)
            return i;
    }
    for (uint32_t i = 0; i < c->field_count; i++) {
        if (c->fields[i].former_name != NULL && strcmp(c->fields[i].former_name, name) == 0)
            return i;
    }
    return NAMES;
}

/* Mostly what is there, as what it is. */
static void draw_asked(case_t *c, uint64_t *random)
{
    uint32_t order[NAMES];
    shuffle(random, order);
    c->asked_count = 0;
    c->answer = BP_OK;
    for (uint32_t i = 0, wanted = 1 + random_below(random, MOST_ASKED); i < NAMES && c->asked_count < wanted; i++) {
        uint32_t place = find_by_oracle(c, pool[order[i]]), k = c->asked_count;
        if (place == NAMES && random_below(random, 3) != 0)
            continue;
        bool other = place == NAMES || random_below(random, 12) == 0, optional = random_below(random, 3) == 0;
        uint32_t type = other ? types[random_below(random, COUNT(types))] : c->fields[place].type;
        bool reshaped = place == NAMES || random_below(random, 20) == 0;
        uint32_t shape = reshaped ? shapes[random_below(random, SHAPES)] : shape_of_field(c, place);
        c->asked[k].field = (bp_term_field_t){.name = pool[order[i]],
                                              .type = type,
                                              .access = 1 + random_below(random, 2),
                                              .column = random_below(random, 2) * (k + 1),
                                              .flags = (optional ? BP_TERM_FIELD_OPTIONAL : 0) |
                                                       (shape == LIST ? BP_FIELD_LIST : 0),
                                              .count = shape == 1 ? random_below(random, 2) : shape};
        c->places[c->asked_count++] = place;
        if (c->answer == BP_OK && place == NAMES && !optional)
            c->answer = BP_ERROR_NOT_FOUND;
        if (c->answer == BP_OK && place != NAMES &&
            (c->fields[place].type != type || shape_of_field(c, place) != shape))
            c->answer = BP_ERROR_TYPE;
    }
}

static uint32_t size_of(uint32_t type)
{
    return type == BP_U8 ? 1 : type == BP_F32 || type == BP_I32 ? 4 : 8;
}

static double read_number(uint32_t type, const void *column, uint32_t row)
{
    switch (type) {
    case BP_F32: return (double)((const float *)column)[row];
    case BP_F64: return ((const double *)column)[row];
    case BP_I32: return (double)((const int32_t *)column)[row];
    case BP_U8: return (double)((const uint8_t *)column)[row];
    default: return (double)((const int64_t *)column)[row];
    }
}

static void write_number(uint32_t type, void *column, uint32_t row, uint32_t number)
{
    switch (type) {
    case BP_F32: ((float *)column)[row] = (float)number; break;
    case BP_F64: ((double *)column)[row] = (double)number; break;
    case BP_I32: ((int32_t *)column)[row] = (int32_t)number; break;
    case BP_U8: ((uint8_t *)column)[row] = (uint8_t)number; break;
    default: ((int64_t *)column)[row] = (int64_t)number; break;
    }
}

/* A list begins empty; who may write it appends one value. */
static void change_list(const bp_match_t *match, const case_t *c, uint32_t k, bp_list_t *list)
{
    uint32_t type = c->asked[k].field.type;
    uint64_t room = 0;
    EXPECT(list->count == 0, "list %u has %u values", k, list->count);
    if ((c->asked[k].field.access & BP_WRITE) == 0)
        return;
    write_number(type, &room, 0, 100 + c->places[k]);
    EXPECT(bp_list_append(match->lists, list, &room, size_of(type)) != NULL, "list %u has no room", k);
}

static void run(const bp_match_t *match, uint32_t count)
{
    case_t *c = match->system->user;
    c->calls++;
    EXPECT(count == ROWS && match->count == count && match->first == 0 && match->slots[0] == NULL,
           "the match is wrong");
    for (uint32_t k = 0; k < c->asked_count; k++) {
        void *column = match->columns[0][k];
        EXPECT((column == NULL) == (c->places[k] == NAMES), "field %u is there, or is not", k);
        uint32_t shape = shape_of_asked(c, k);
        for (uint32_t i = 0; i < count * shape && column != NULL; i++) {
            double value = read_number(c->asked[k].field.type, column, i);
            EXPECT(value == c->places[k] + 1.0, "field %u is %g", k, value);
            if ((c->asked[k].field.access & BP_WRITE) != 0)
                write_number(c->asked[k].field.type, column, i, 100 + c->places[k]);
        }
        for (uint32_t row = 0; row < count && column != NULL && shape == LIST; row++)
            change_list(match, c, k, &((bp_list_t *)column)[row]);
    }
}

/* What the oracle says that field `i` is after the step. */
static double expected_after(const case_t *c, uint32_t i)
{
    for (uint32_t k = 0; k < c->asked_count; k++) {
        if (c->places[k] == i && (c->asked[k].field.access & BP_WRITE) != 0)
            return 100.0 + i;
    }
    return i + 1.0;
}

/* No two fields that are asked for may be one and the same: the second name would see what was written through the
   first. */
static bool is_ambiguous(const case_t *c)
{
    for (uint32_t i = 0; i < c->asked_count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (c->places[i] == c->places[k] && c->places[i] != NAMES)
                return true;
        }
    }
    return false;
}

static void step_and_look(bp_host_o *host, bp_world_o *world, case_t *c)
{
    const bp_api_t *api = bp_host_api(host);
    uint32_t prototype = prototype_of(world, "thing", NULL, NULL, NULL);
    bp_entity_t entities[ROWS];
    WORKS(host, api->world->create(world, prototype, entities, ROWS));
    WORKS(host, bp_world_step(world));
    EXPECT(c->calls == 1, "called %u times", c->calls);
    for (uint32_t i = 0; i < c->field_count; i++) {
        uint32_t shape = shape_of_field(c, i), written = expected_after(c, i) >= 100;
        bp_property_t property;
        uint64_t room[4];
        bp_list_t list = {.items = room, .count = shape};
        WORKS(host, api->property->resolve(world, entities[ROWS - 1], "thing", c->fields[i].name, &property));
        WORKS(host, api->property->get(world, &property, &entities[ROWS - 1], 1, shape == LIST ? (void *)&list : room,
                                       0));
        EXPECT(list.count == (shape == LIST ? written : shape), "list '%s'", c->fields[i].name);
        for (uint32_t n = 0; n < list.count; n++)
            EXPECT(read_number(c->fields[i].type, list.items, n) == expected_after(c, i), "field '%s'",
                   c->fields[i].name);
    }
}

/* The component before the system, or after; in the world likewise. The first that sees both refuses. */
static void play(case_t *c, uint64_t *random)
{
    const bp_term_t terms[] = {
        {.component = "thing", .fields = {&c->asked[0].field, c->asked_count, sizeof(wide_t)}}};
    const bp_component_i components[] = {{.name = "thing", .fields = {c->fields, c->field_count, sizeof(bp_field_t)}}};
    const bp_system_i systems[] = {{.name = "asks", .terms = BP_LIST(terms), .run = run, .user = c}};
    const bp_plugin_desc_t brings = {.version = "1", .components = BP_LIST(components)};
    const bp_plugin_desc_t wants = {.version = "1", .systems = BP_LIST(systems)};
    const bp_plugin_head_t thing = BP_PLUGIN_HEAD("thing", &brings), asker = BP_PLUGIN_HEAD("asker", &wants);
    const bp_plugin_head_t *const plugins[] = {&thing, &asker};
    log_text_t log = {.count = 0};
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){
        .static_plugins = plugins, .static_plugin_count = 2, .tag = 1, .threads = 1, .log = log_into(&log)});
    bool component_first = random_below(random, 2) == 0, in_world_first = random_below(random, 2) == 0;
    WORKS(host, bp_host_load_plugin(host, component_first ? "thing" : "asker", NULL, 0));
    bp_result_t result = bp_host_load_plugin(host, component_first ? "asker" : "thing", NULL, 0);
    bp_world_o *world = result != BP_OK ? NULL : bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    if (result == BP_OK)
        result = in_world_first ? bp_world_use_component(world, "thing") : bp_world_use_system(world, "asks");
    if (result == BP_OK)
        result = in_world_first ? bp_world_use_system(world, "asks") : bp_world_use_component(world, "thing");
    EXPECT(result == c->answer, "%d instead of %d: %s", result, c->answer, bp_host_error(host));
    EXPECT(result == BP_OK || strstr(bp_host_error(host), "it asks for field '") != NULL, "%s", bp_host_error(host));
    if (result == BP_OK)
        step_and_look(host, world, c);
    bp_host_destroy(host);
}

START_TEST(random_terms_are_bound_or_refused_as_the_names_say)
{
    uint64_t random = 7;
    uint32_t bound = 0, missing = 0, mistyped = 0, absent = 0;
    for (uint32_t i = 0; i < CASES;) {
        case_t c = {.calls = 0};
        draw_fields(&c, &random);
        draw_asked(&c, &random);
        if (is_ambiguous(&c))
            continue;
        play(&c, &random);
        i++;
        bound += c.answer == BP_OK;
        missing += c.answer == BP_ERROR_NOT_FOUND;
        mistyped += c.answer == BP_ERROR_TYPE;
        for (uint32_t k = 0; k < c.asked_count && c.answer == BP_OK; k++)
            absent += c.places[k] == NAMES;
    }
    ck_assert_uint_gt(bound, CASES / 4);
    ck_assert_uint_gt(missing, CASES / 20);
    ck_assert_uint_gt(mistyped, CASES / 20);
    ck_assert_uint_gt(absent, CASES / 50);
}
END_TEST

/* A field that is asked for and not there: the sentence says the nearest name that would be bound. */
START_TEST(a_misspelt_field_is_told_with_the_nearest_name_former_ones_among_them)
{
    static const char *const asked[][2] = {
        {"mas", "; did you mean 'mass'?"}, {"positon", "; did you mean 'position'?"}, {"colour", "no such field"}};
    static const bp_field_t fields[] = {{.name = "mass", .type = BP_F32},
                                        {.name = "place", .former_name = "position", .type = BP_F32}};
    static const bp_component_i components[] = {{.name = "thing", .fields = BP_LIST(fields)}};
    const bp_term_field_t wanted[] = {{.name = asked[_i][0], .type = BP_F32}};
    const bp_term_t terms[] = {{.component = "thing", .fields = BP_LIST(wanted)}};
    const bp_system_i systems[] = {{.name = "asks", .terms = BP_LIST(terms), .run = run}};
    const bp_plugin_desc_t desc = {.version = "1", .components = BP_LIST(components), .systems = BP_LIST(systems)};
    const bp_plugin_head_t both = BP_PLUGIN_HEAD("both", &desc);
    const bp_plugin_head_t *const plugins[] = {&both};
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.static_plugins = plugins, .static_plugin_count = 1});
    FAILS(host, BP_ERROR_NOT_FOUND, asked[_i][1], bp_host_load_plugin(host, "both", NULL, 0));
    ck_assert_int_eq(strstr(bp_host_error(host), "did you mean") != NULL, _i < 2);
    bp_host_destroy(host);
}
END_TEST

Suite *terms_suite(void)
{
    Suite *suite = suite_create("terms");
    TCase *names = tcase_create("names");
    tcase_set_timeout(names, 120);
    tcase_add_test(names, random_terms_are_bound_or_refused_as_the_names_say);
    tcase_add_loop_test(names, a_misspelt_field_is_told_with_the_nearest_name_former_ones_among_them, 0, 3);
    suite_add_tcase(suite, names);
    return suite;
}
