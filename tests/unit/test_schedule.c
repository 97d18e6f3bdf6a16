/* test_schedule.c - steps: which units run, in which order, on which rows, and what is refused meanwhile.
 *
 * Each test declares the systems that it needs and loads them as a plugin of its own, beside the zoo. Units
 * write what they are and what they were handed into one list.
 */
#include "support.h"

#include "../suites.h"
#include "inspect.h"
#include "step/schedule_check.h"
#include "zoo.h"

#include <bp_message.h>
#include <stdio.h>
#include <stdlib.h>

/* --- the list ------------------------------------------------------------------------------------------- */

static char list[8192];

static void note(const char *what)
{
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? " " : "", what);
}

/* What has happened since the last question. */
static void expect_list(const char *wanted)
{
    ck_assert_str_eq(list, wanted);
    list[0] = '\0';
}

/* Systems a to f write their letter. */
#define LETTER(letter)                                                                         \
    static void run_##letter(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, \
                             uint32_t count)                                                   \
    {                                                                                          \
        (void)s, (void)step, (void)matches, (void)count;                                       \
        note(#letter);                                                                         \
    }
LETTER(a)
LETTER(b)
LETTER(c)
LETTER(d)
LETTER(e)
LETTER(f)

static void simulate_x(const bp_run_t *run, uint32_t count)
{
    (void)run, (void)count;
    note("x");
}

static void simulate_y(const bp_run_t *run, uint32_t count)
{
    (void)run, (void)count;
    note("y");
}

static const bp_component_i simulating[] = {{.name = "x", .simulate = simulate_x},
                                            {.name = "y", .simulate = simulate_y}};

enum { LETTERS = 6 };
static const bp_system_i letters[LETTERS] = {
    {.name = "a", .run_all = run_a}, {.name = "b", .run_all = run_b}, {.name = "c", .run_all = run_c},
    {.name = "d", .run_all = run_d}, {.name = "e", .run_all = run_e}, {.name = "f", .run_all = run_f},
};

/* --- the rig -------------------------------------------------------------------------------------------- */

static rig_t rig;
static bp_world_o *world;
static const bp_world_api *api;
static bp_plugin_desc_t own;
static const bp_plugin_head_t own_head = BP_PLUGIN_HEAD("own", &own);
static const bp_plugin_head_t *plugins[ZOO_PLUGINS + 1];

static void begin(void)
{
    list[0] = '\0';
    rig_init(&rig);
    own = (bp_plugin_desc_t){.version = "1", .components = BP_LIST(simulating)};
    memcpy(plugins, zoo_plugins, sizeof zoo_plugins);
    plugins[ZOO_PLUGINS] = &own_head;
    rig.desc.static_plugins = plugins;
    rig.desc.static_plugin_count = COUNT(plugins);
    rig_open(&rig);
    for (uint32_t i = 0; i < ZOO_PLUGINS; i++)
        WORKS(rig.host, bp_host_load_plugin(rig.host, plugins[i]->name, NULL, 0));
    world = rig_world(&rig, "main");
    api = rig.api->world;
}

static void end(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

static void declare(const bp_system_i *systems, uint32_t count)
{
    own.systems = (bp_system_list_t){systems, count, sizeof *systems};
    WORKS(rig.host, bp_host_load_plugin(rig.host, "own", NULL, 0));
}

/* Load the systems and bring them into the world in this order. */
static void use(const bp_system_i *systems, uint32_t count)
{
    declare(systems, count);
    for (uint32_t i = 0; i < count; i++)
        WORKS(rig.host, bp_world_use_system(world, systems[i].name));
}

static void step(void)
{
    WORKS(rig.host, bp_world_step(world));
}

/* --- order ---------------------------------------------------------------------------------------------- */

START_TEST(units_without_wishes_run_in_the_order_of_their_coming)
{
    declare(letters, LETTERS);
    WORKS(rig.host, bp_world_use_system(world, "d"));
    WORKS(rig.host, bp_world_use_component(world, "y"));
    WORKS(rig.host, bp_world_use_system(world, "a"));
    WORKS(rig.host, bp_world_use_component(world, "x"));
    entity_with(world, "x");
    entity_with(world, "y");
    step();
    expect_list("d y a x");
    WORKS(rig.host, bp_world_use_system(world, "c"));
    step();
    expect_list("d y a x c");
}
END_TEST

START_TEST(wishes_are_met_and_the_rest_keeps_its_order)
{
    bp_system_i systems[LETTERS];
    memcpy(systems, letters, sizeof letters);
    systems[0].after = "f, y";
    systems[1].before = "x";
    systems[3].before = "b  c";
    use(systems, LETTERS);
    WORKS(rig.host, bp_world_use_component(world, "x"));
    WORKS(rig.host, bp_world_use_component(world, "y"));
    entity_with(world, "x");
    entity_with(world, "y");
    step();
    expect_list("d b c e f x y a");
}
END_TEST

/* Wishes drawn at random from an order that meets them all. */
static uint32_t draw_wishes(bp_system_i *systems, char texts[LETTERS][2][64], uint64_t *random)
{
    uint32_t place[LETTERS], wishes = 0;
    memcpy(systems, letters, sizeof letters);
    memset(texts, 0, LETTERS * sizeof texts[0]);
    for (uint32_t i = 0; i < LETTERS; i++)
        place[i] = (uint32_t)(bp_random_next(random) >> 40);
    for (uint32_t i = 0; i < LETTERS; i++) {
        for (uint32_t k = 0; k < LETTERS; k++) {
            if (i == k || bp_random_below(random, 4) > 0)
                continue;
            char *text = texts[i][place[i] < place[k] ? 0 : 1];
            snprintf(text + strlen(text), 64 - strlen(text), " %s", letters[k].name);
            wishes++;
        }
        systems[i].before = texts[i][0];
        systems[i].after = texts[i][1];
    }
    return wishes;
}

static bool wants(const bp_system_i *systems, uint32_t first, uint32_t second)
{
    return strstr(systems[first].before, letters[second].name) != NULL ||
           strstr(systems[second].after, letters[first].name) != NULL;
}

/* The order that the header promises: always the first listed unit that no unit left must precede. */
static void foresee(const bp_system_i *systems, char *text)
{
    bool placed[LETTERS] = {false};
    for (uint32_t n = 0; n < LETTERS; n++) {
        for (uint32_t i = 0; i < LETTERS; i++) {
            bool free = !placed[i];
            for (uint32_t k = 0; k < LETTERS && free; k++)
                free = placed[k] || k == i || !wants(systems, k, i);
            if (!free)
                continue;
            placed[i] = true;
            text += sprintf(text, "%s%s", n > 0 ? " " : "", letters[i].name);
            break;
        }
    }
}

START_TEST(any_wishes_without_a_circle_are_met)
{
    uint64_t random = 11;
    uint32_t wishes = 0;
    for (uint32_t round = 0; round < 300; round++) {
        bp_system_i systems[LETTERS];
        char texts[LETTERS][2][64], wanted[64] = "";
        wishes += draw_wishes(systems, texts, &random);
        foresee(systems, wanted);
        use(systems, LETTERS);
        step();
        expect_list(wanted);
        step();
        expect_list(wanted);
        WORKS(rig.host, bp_host_unload_plugin(rig.host, "own"));
    }
    ck_assert_uint_gt(wishes, 1000);
}
END_TEST

START_TEST(a_circle_is_refused_and_its_units_are_named)
{
    bp_system_i systems[LETTERS];
    memcpy(systems, letters, sizeof letters);
    systems[1].before = "c";
    systems[2].before = "e";
    systems[4].before = "b";
    use(systems, LETTERS);
    for (uint32_t i = 0; i < 2; i++) {
        FAILS(rig.host, BP_ERROR_STATE, "world 'main': the wishes of", bp_world_step(world));
        const char *names = strstr(bp_host_error(rig.host),
                                   "of b, c, e to run before and after each other form a circle");
        ck_assert_msg(names != NULL, "%s", bp_host_error(rig.host));
    }
    ck_assert_uint_eq(world->clock.steps, 0);
    expect_list("");
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "own"));
    step();
}
END_TEST

START_TEST(a_wish_for_a_unit_that_nobody_brings_is_refused)
{
    bp_system_i systems[2];
    memcpy(systems, letters, sizeof systems);
    systems[1].after = "a gravitty";
    use(systems, 2);
    FAILS(rig.host, BP_ERROR_NOT_FOUND,
          "system 'b' wants to run after 'gravitty', which no loaded plugin brings", bp_world_step(world));
    expect_list("");
}
END_TEST

START_TEST(a_wish_for_a_unit_that_this_world_lacks_does_no_harm)
{
    bp_system_i systems[2];
    memcpy(systems, letters, sizeof systems);
    systems[0].after = "b x body";
    declare(systems, 2);
    WORKS(rig.host, bp_world_use_system(world, "a"));
    step();
    expect_list("a");
    WORKS(rig.host, bp_world_use_system(world, "b"));
    step();
    expect_list("b a");
}
END_TEST

START_TEST(a_wish_about_itself_is_no_circle)
{
    bp_system_i systems[1];
    memcpy(systems, letters, sizeof systems);
    systems[0].after = systems[0].before = "a";
    use(systems, 1);
    step();
    expect_list("a");
}
END_TEST

/* --- what runs, on which rows --------------------------------------------------------------------------- */

/* Systems over terms write what they were handed: rows, and for each term the first column's presence. */
static void note_match(const bp_match_t *match, uint32_t terms)
{
    char text[64];
    int used = snprintf(text, sizeof text, "%u:", match->count);
    for (uint32_t t = 0; t < terms; t++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%c",
                         match->columns[t] == NULL ? '-' : '+');
    note(text);
}

static void match_two(const bp_match_t *match, uint32_t count)
{
    (void)count;
    note_match(match, 2);
}

static void match_all(bp_system_t *s, const bp_step_t *now, const bp_match_t *matches, uint32_t count)
{
    char text[16];
    (void)s, (void)now;
    snprintf(text, sizeof text, "all%u", count);
    note(text);
    for (uint32_t i = 0; i < count; i++)
        note_match(&matches[i], 2);
}

static void make(const char *a, const char *b, uint32_t count)
{
    bp_entity_t e[64];
    WORKS(rig.host, api->create(world, prototype_of(world, a, b, NULL, NULL), e, count));
}

START_TEST(a_term_without_its_component_in_the_world_is_refused)
{
    static const bp_term_t terms[] = {{.component = "body"}, {.component = "x"}};
    static const bp_system_i systems[] = {{.name = "pair", .terms = BP_LIST(terms), .run = match_two}};
    use(systems, 1);
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "system 'pair' works on component 'x', which world 'main' lacks",
          bp_world_step(world));
    WORKS(rig.host, bp_world_use_component(world, "x"));
    make("body", NULL, 3);
    make("body", "x", 5);
    step();
    expect_list("5:++ x");
}
END_TEST

START_TEST(terms_are_required_optional_or_exclude)
{
    static const bp_term_t needed[] = {{.component = "body"}, {.component = "label"}};
    static const bp_term_t optional[] = {{.component = "body"},
                                         {.component = "label", .flags = BP_TERM_OPTIONAL}};
    static const bp_term_t excluded[] = {{.component = "body"},
                                         {.component = "label", .flags = BP_TERM_EXCLUDE}};
    static const bp_system_i systems[] = {
        {.name = "needs", .terms = BP_LIST(needed), .run = match_two},
        {.name = "may", .terms = BP_LIST(optional), .run = match_two},
        {.name = "not", .terms = BP_LIST(excluded), .run = match_two},
    };
    use(systems, 3);
    step();
    expect_list("");
    make("body", NULL, 3);
    make("label", NULL, 9);
    make("body", "label", 5);
    make("body", "flag", 2);
    step();
    expect_list("5:++ 3:+- 5:++ 2:+- 3:+- 2:+-");
}
END_TEST

/* Of two instances of one type, a system may want one and keep out who has the other. */
START_TEST(an_excluded_instance_leaves_others_of_its_type)
{
    static const bp_term_t terms[] = {{.component = "body", .instance = "left"},
                                      {.component = "body", .instance = "right", .flags = BP_TERM_EXCLUDE}};
    static const bp_term_t any[] = {{.component = "body"},
                                    {.component = "body", .instance = "right", .flags = BP_TERM_EXCLUDE}};
    static const bp_system_i systems[] = {{.name = "one_leg", .terms = BP_LIST(terms), .run = match_two},
                                          {.name = "no_right", .terms = BP_LIST(any), .run = match_two}};
    uint32_t keys[] = {key_of(world, "body", "left"), key_of(world, "body", "right")}, prototype;
    bp_entity_t e[3];
    use(systems, 2);
    WORKS(rig.host, api->prototype(world, keys, 1, &prototype));
    WORKS(rig.host, api->create(world, prototype, e, 2));
    WORKS(rig.host, api->prototype(world, keys, 2, &prototype));
    WORKS(rig.host, api->create(world, prototype, e, 3));
    step();
    expect_list("2:+- 2:+-");
}
END_TEST

START_TEST(run_all_is_called_once_with_all_matches)
{
    static const bp_term_t terms[] = {{.component = "body"},
                                      {.component = "label", .flags = BP_TERM_OPTIONAL}};
    static const bp_system_i systems[] = {{.name = "all", .terms = BP_LIST(terms), .run_all = match_all},
                                          {.name = "none", .run_all = match_all}};
    use(systems, 2);
    step();
    expect_list("all0 all0");
    make("body", NULL, 3);
    make("body", "label", 5);
    step();
    expect_list("all2 3:+- 5:++ all0");
}
END_TEST

START_TEST(rows_without_entities_are_not_handed_out)
{
    static const bp_term_t terms[] = {{.component = "mark"},
                                      {.component = "label", .flags = BP_TERM_OPTIONAL}};
    static const bp_system_i systems[] = {{.name = "each", .terms = BP_LIST(terms), .run = match_two},
                                          {.name = "all", .terms = BP_LIST(terms), .run_all = match_all}};
    use(systems, 2);
    bp_entity_t e[4];
    WORKS(rig.host, api->create(world, prototype_of(world, "mark", NULL, NULL, NULL), e, 4));
    step();
    expect_list("4:+- all1 4:+-");
    WORKS(rig.host, api->remove(world, key_of(world, "mark", ""), e, 4));
    step();
    expect_list("all0");
}
END_TEST

START_TEST(an_instance_name_picks_one_and_none_matches_each)
{
    static const bp_term_t fog[] = {{.component = "fx", .instance = "fog"},
                                    {.component = "body", .flags = BP_TERM_OPTIONAL}};
    static const bp_term_t any[] = {{.component = "fx"}, {.component = "body", .flags = BP_TERM_OPTIONAL}};
    static const bp_term_t both[] = {{.component = "fx", .instance = "fog"},
                                     {.component = "fx", .instance = "vignette"}};
    static const bp_system_i systems[] = {
        {.name = "fogs", .terms = BP_LIST(fog), .run = match_two},
        {.name = "any", .terms = BP_LIST(any), .run = match_two},
        {.name = "both", .terms = BP_LIST(both), .run = match_two},
    };
    use(systems, 3);
    uint32_t keys[] = {key_of(world, "fx", "fog"), key_of(world, "fx", "vignette"),
                       key_of(world, "body", "")},
             prototype;
    bp_entity_t e[16];
    WORKS(rig.host, api->prototype(world, keys, 1, &prototype));
    WORKS(rig.host, api->create(world, prototype, e, 4));
    WORKS(rig.host, api->prototype(world, keys, 3, &prototype));
    WORKS(rig.host, api->create(world, prototype, e, 2));
    WORKS(rig.host, api->prototype(world, keys + 1, 1, &prototype));
    WORKS(rig.host, api->create(world, prototype, e, 7));
    step();
    expect_list("4:+- 2:++ 4:+- 2:++ 2:++ 7:+- 2:++");
}
END_TEST

/* Values written through terms go where they belong. */
static void add_strengths(const bp_match_t *match, uint32_t count)
{
    float *mass = BP_TERM_COLUMN(match, float, 0, 0);
    const double *strength = BP_TERM_COLUMN(match, const double, 1, 0);
    for (uint32_t i = 0; i < count; i++)
        mass[i] += (float)strength[i];
}

START_TEST(columns_of_terms_belong_to_the_same_rows)
{
    static const bp_term_field_t masses[] = {{.name = "mass", .type = BP_F32, .access = BP_WRITE}};
    static const bp_term_field_t strengths[] = {{.name = "strength", .type = BP_F64}};
    static const bp_term_t terms[] = {{.component = "body", .fields = BP_LIST(masses)},
                                      {.component = "fx", .fields = BP_LIST(strengths)}};
    static const bp_system_i systems[] = {{.name = "sum", .terms = BP_LIST(terms), .run = add_strengths}};
    bp_entity_t e[300];
    use(systems, 1);
    WORKS(rig.host, api->create(world, prototype_of(world, "body", "label", NULL, NULL), e, 100));
    WORKS(rig.host, api->create(world, prototype_of(world, "body", NULL, NULL, NULL), e + 100, 200));
    WORKS(rig.host, api->add(world, key_of(world, "fx", "fog"), e, 300));
    WORKS(rig.host, api->add(world, key_of(world, "fx", "vignette"), e + 50, 100));
    for (uint32_t i = 0; i < 300; i++)
        WORKS(rig.host,
              rig.api->property->set_named(world, e[i], "fog", "strength", BP_F64, &(double){i / 512.0}));
    step();
    for (uint32_t i = 0; i < 300; i++) {
        float mass, wanted = 1 + (float)i / 512 + (i >= 50 && i < 150 ? 0.5f : 0);
        WORKS(rig.host, rig.api->property->get_named(world, e[i], "body", "mass", BP_F32, &mass));
        ck_assert_msg(mass == wanted, "entity %u: %g instead of %g", i, (double)mass, (double)wanted);
    }
}
END_TEST

static void check_slots(const bp_match_t *match, uint32_t count)
{
    const uint32_t *slots = match->slots[0];
    const stock_t *pool = state_of(match->system->world, "pool");
    for (uint32_t i = 0; i < count; i++)
        EXPECT(pool->items[slots[i]].entity.id == match->entities[i].id, "row %u has the slot of another", i);
    note("slots");
}

START_TEST(own_storage_is_handed_out_as_slots)
{
    static const bp_term_t terms[] = {{.component = "pool"}};
    static const bp_system_i systems[] = {{.name = "look", .terms = BP_LIST(terms), .run = check_slots}};
    use(systems, 1);
    make("pool", NULL, 50);
    make("body", "pool", 50);
    step();
    expect_list("slots slots");
    const stock_t *pool = state_of(world, "pool");
    ck_assert_uint_eq(pool->steps, 1);
}
END_TEST

/* A component comes into the world when the order is settled already. */
START_TEST(terms_see_components_that_come_later)
{
    static const bp_field_t fields[] = {{.name = "value", .type = BP_F32}};
    static const bp_component_i late[] = {{.name = "late", .fields = BP_LIST(fields)}};
    static const bp_term_t may[] = {{.component = "body"}, {.component = "late", .flags = BP_TERM_OPTIONAL}};
    static const bp_term_t not[] = {{.component = "body"}, {.component = "late", .flags = BP_TERM_EXCLUDE}};
    static const bp_system_i systems[] = {{.name = "may", .terms = BP_LIST(may), .run = match_two},
                                          {.name = "not", .terms = BP_LIST(not), .run = match_two}};
    own.components = (bp_component_list_t){late, 1, sizeof late[0]};
    use(systems, 2);
    make("body", NULL, 2);
    step();
    expect_list("2:+- 2:+-");
    WORKS(rig.host, bp_world_use_component(world, "late"));
    make("body", "late", 3);
    step();
    expect_list("2:+- 3:++ 2:+-");
}
END_TEST

static char instances[64];

static void note_instance(const bp_run_t *run, uint32_t count)
{
    size_t used = strlen(instances);
    snprintf(instances + used, sizeof instances - used, "%s:%u ",
             run->manager->api->name->text(run->manager->host, run->instance), count);
}

START_TEST(simulate_is_called_for_each_run_and_each_name)
{
    static const bp_component_i parts[] = {{.name = "part", .simulate = note_instance}};
    own.components = (bp_component_list_t){parts, 1, sizeof parts[0]};
    declare(NULL, 0);
    WORKS(rig.host, bp_world_use_component(world, "part"));
    uint32_t keys[] = {key_of(world, "part", "left"), key_of(world, "part", "right")}, prototype;
    bp_entity_t e[8];
    instances[0] = '\0';
    WORKS(rig.host, api->prototype(world, keys, 1, &prototype));
    WORKS(rig.host, api->create(world, prototype, e, 2));
    WORKS(rig.host, api->prototype(world, keys, 2, &prototype));
    WORKS(rig.host, api->create(world, prototype, e, 3));
    rig.api->entity->destroy(rig.host, e, 1);
    step();
    ck_assert_msg(strcmp(instances, "left:2 right:3 left:3 ") == 0 ||
                      strcmp(instances, "left:2 left:3 right:3 ") == 0,
                  "%s", instances);
}
END_TEST

/* --- clock and figures ---------------------------------------------------------------------------------- */

static bp_step_t last_step;

static void keep_step(bp_system_t *s, const bp_step_t *now, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)matches, (void)count;
    last_step = *now;
}

START_TEST(steps_are_counted_and_time_does_not_drift)
{
    static const bp_system_i systems[] = {{.name = "keep", .run_all = keep_step}};
    bp_step_t clock = {.struct_size = sizeof clock};
    bp_world_stats_t stats;
    use(systems, 1);
    for (uint32_t i = 0; i < 1000; i++) {
        api->clock(world, &clock);
        step();
        ck_assert_uint_eq(last_step.number, i);
        ck_assert(last_step.dt == 1.0 / 50 && last_step.time == i / 50.0);
        ck_assert(clock.number == i && clock.dt == last_step.dt && clock.time == last_step.time);
    }
    bp_world_stats(world, &stats);
    ck_assert_uint_eq(stats.steps, 1000);
    ck_assert(stats.time == 20.0);
    ck_assert_str_eq(stats.name, "main");
}
END_TEST

START_TEST(units_are_figured_in_the_order_of_the_step)
{
    bp_unit_stats_t stats;
    bp_world_o *other = bp_world_create(rig.host, &(bp_world_desc_t){.name = "other"});
    declare(letters, LETTERS);
    WORKS(rig.host, bp_world_use_system(world, "a"));
    WORKS(rig.host, bp_world_use_component(world, "x"));
    WORKS(rig.host, bp_world_use_system(other, "b"));
    make("x", NULL, 12);
    step();
    step();
    WORKS(rig.host, bp_host_step(rig.host));
    static const char *const units[] = {"body", "pool", "a", "x", "b"};
    static const char *const owners[] = {"zoo", "stocks", "own", "own", "own"};
    for (uint32_t i = 0; i < COUNT(units); i++) {
        ck_assert_int_eq(bp_host_unit_stats(rig.host, i, &stats), 1);
        ck_assert_str_eq(stats.unit, units[i]);
        ck_assert_str_eq(stats.plugin, owners[i]);
        ck_assert_str_eq(stats.world, i < 4 ? "main" : "other");
        ck_assert_uint_eq(stats.steps, i < 4 ? 3 : 1);
        ck_assert_uint_eq(stats.rows, i == 3 ? 12 : 0);
    }
    ck_assert_int_eq(bp_host_unit_stats(rig.host, COUNT(units), &stats), 0);
}
END_TEST

START_TEST(a_host_steps_all_its_worlds_or_none)
{
    bp_system_i systems[2];
    memcpy(systems, letters, sizeof systems);
    systems[1].before = "nobody";
    declare(systems, 2);
    bp_world_o *other = bp_world_create(rig.host, &(bp_world_desc_t){.name = "other"});
    WORKS(rig.host, bp_world_use_system(world, "a"));
    WORKS(rig.host, bp_world_use_system(other, "b"));
    for (uint32_t i = 0; i < 2; i++) {
        FAILS(rig.host, BP_ERROR_NOT_FOUND, "'nobody'", bp_host_step(rig.host));
        ck_assert(world->clock.steps == 0 && other->clock.steps == 0);
        expect_list("");
    }
    step();
    expect_list("a");
}
END_TEST

/* --- what is refused during a step ---------------------------------------------------------------------- */

static bp_world_o *elsewhere;

static void try_everything(const bp_match_t *match, uint32_t count)
{
    (void)count;
    bp_entity_t e = match->entities[0], made;
    uint32_t flag, body;
    WORKS(match->system->host, api->key(match->system->world, api->component(match->system->world, "flag"), 0, &flag));
    WORKS(match->system->host, api->key(match->system->world, api->component(match->system->world, "body"), 0, &body));
    FAILS(match->system->host, BP_ERROR_STATE, "rows of world 'main' cannot move",
          api->create(match->system->world, world_record(&world->rows, e)->prototype, &made, 1));
    FAILS(match->system->host, BP_ERROR_STATE, "between steps", api->add(match->system->world, flag, &e, 1));
    FAILS(match->system->host, BP_ERROR_STATE, "between steps", api->remove(match->system->world, body, &e, 1));
    FAILS(match->system->host, BP_ERROR_STATE, "step", bp_world_use_component(match->system->world, "x"));
    FAILS(match->system->host, BP_ERROR_STATE, "step", bp_world_use_system(match->system->world, "b"));
    FAILS(match->system->host, BP_ERROR_STATE, "step", bp_host_load_plugin(match->system->host, "zoo", NULL, 0));
    FAILS(match->system->host, BP_ERROR_STATE, "step", bp_host_unload_plugin(match->system->host, "zoo"));
    FAILS(match->system->host, BP_ERROR_STATE, "step", bp_world_step(match->system->world));
    FAILS(match->system->host, BP_ERROR_STATE, "step", bp_host_step(match->system->host));
    ck_assert_ptr_null(bp_world_create(match->system->host, &(bp_world_desc_t){.name = "new"}));
    WORKS(match->system->host, rig.api->entity->create(match->system->host, &made, 1));
    WORKS(match->system->host, api->add(elsewhere, key_of(elsewhere, "flag", ""), &made, 1));
    WORKS(match->system->host,
          rig.api->property->set_named(match->system->world, e, "body", "mass", BP_F32, &(float){9}));
    note("tried");
}

START_TEST(rows_of_a_world_that_steps_do_not_move)
{
    static const bp_term_t terms[] = {{.component = "body"}};
    bp_system_i systems[] = {{.name = "try", .terms = BP_LIST(terms), .run = try_everything}, letters[1]};
    elsewhere = rig_world(&rig, "elsewhere");
    declare(systems, 2);
    WORKS(rig.host, bp_world_use_system(world, "try"));
    make("body", NULL, 4);
    step();
    expect_list("tried");
    ck_assert_uint_eq(elsewhere->rows.occupied, 1);
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 5);
}
END_TEST

/* --- coming and going ----------------------------------------------------------------------------------- */

static bp_result_t start_badly(bp_system_t *s)
{
    return s->api->error->set(s->host, BP_ERROR_IO, "no data");
}

static bp_result_t start_silently(bp_system_t *s)
{
    s->api->error->set(s->host, BP_OK, "");
    return BP_ERROR_FAILED;
}

static void stop_never(bp_system_t *s)
{
    (void)s;
    note("stopped");
}

START_TEST(a_system_that_does_not_start_is_not_there)
{
    static const bp_system_i systems[] = {
        {.name = "bad", .run_all = run_a, .start = start_badly, .stop = stop_never},
        {.name = "silent", .run_all = run_b, .start = start_silently, .stop = stop_never},
    };
    declare(systems, 2);
    FAILS(rig.host, BP_ERROR_IO, "system 'bad' did not start in world 'main': no data",
          bp_world_use_system(world, "bad"));
    FAILS(rig.host, BP_ERROR_FAILED, "'silent' did not start in world 'main': it gave no reason (code 13)",
          bp_world_use_system(world, "silent"));
    step();
    expect_list("");
}
END_TEST

static bp_result_t component_starts_badly(bp_manager_t *m)
{
    return m->api->error->set(m->host, BP_ERROR_IO, "no data");
}

static void component_stops(bp_manager_t *m)
{
    (void)m;
    note("stopped");
}

START_TEST(a_component_that_does_not_start_is_not_there)
{
    static const bp_component_i bad[] = {
        {.name = "bad", .start = component_starts_badly, .stop = component_stops}};
    own.components = (bp_component_list_t){bad, 1, sizeof bad[0]};
    declare(NULL, 0);
    FAILS(rig.host, BP_ERROR_IO, "component 'bad' did not start in world 'main': no data",
          bp_world_use_component(world, "bad"));
    ck_assert_uint_eq(api->component(world, "bad"), BP_NONE);
    ck_assert_ptr_nonnull(strstr(bp_host_error(rig.host), "has no component manager 'bad'"));
    expect_list("");
}
END_TEST

static bp_result_t note_start(bp_system_t *s)
{
    s->state = s->world;
    note("+");
    return BP_OK;
}

static void note_stop(bp_system_t *s)
{
    ck_assert_ptr_eq(s->state, s->world);
    note("-");
}

static void note_stop_2(bp_system_t *s)
{
    ck_assert_ptr_eq(s->state, s->world);
    note("=");
}

START_TEST(systems_stop_newest_first)
{
    static const bp_system_i systems[] = {
        {.name = "one", .run_all = run_a, .start = note_start, .stop = note_stop},
        {.name = "two", .run_all = run_b, .start = note_start, .stop = note_stop_2},
    };
    use(systems, 2);
    expect_list("+ +");
    bp_world_destroy(world);
    expect_list("= -");
    world = rig_world(&rig, "next");
    WORKS(rig.host, bp_world_use_system(world, "two"));
    list[0] = '\0';
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "own"));
    expect_list("=");
}
END_TEST

START_TEST(units_are_brought_in_once)
{
    use(letters, 2);
    FAILS(rig.host, BP_ERROR_EXISTS, "world 'main' has system 'a' already", bp_world_use_system(world, "a"));
    FAILS(rig.host, BP_ERROR_EXISTS, "world 'main' has component 'body' already",
          bp_world_use_component(world, "body"));
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "no loaded plugin brings a system 'aa'; did you mean 'a'?",
          bp_world_use_system(world, "aa"));
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "no loaded plugin brings a component 'boddy'; did you mean 'body'?",
          bp_world_use_component(world, "boddy"));
    step();
    expect_list("a b");
}
END_TEST

START_TEST(a_system_has_at_most_32_terms)
{
    static bp_term_t terms[TERMS_MAX + 1];
    bp_system_i systems[] = {
        {.name = "wide", .terms = {terms, COUNT(terms), sizeof terms[0]}, .run = match_two}};
    for (uint32_t i = 0; i < COUNT(terms); i++)
        terms[i] = (bp_term_t){.component = i < 2 ? "body" : "label", .flags = i < 2 ? 0 : BP_TERM_OPTIONAL};
    own.systems = (bp_system_list_t){systems, 1, sizeof systems[0]};
    FAILS(rig.host, BP_ERROR_LIMIT, "33 terms; at most 32", bp_host_load_plugin(rig.host, "own", NULL, 0));
    systems[0].terms.count = TERMS_MAX;
    use(systems, 1);
    make("body", "label", 2);
    step();
    expect_list("2:++");
}
END_TEST

/* --- the checks themselves --------------------------------------------------------------------------------------- */

static void expect_broken(const schedule_t *s, const char *part)
{
    char text[256] = "nothing";
    EXPECT(!schedule_check(s, text, sizeof text), "nothing is found where this should be: %s", part);
    EXPECT(strstr(text, part) != NULL, "\"%s\" is not in: %s", part, text);
}

/* `early` and `late` write the same field; `free` touches nothing; `alone` is not concurrent. */
static bp_world_o *open_side_by_side(void)
{
    static const bp_term_field_t rank[] = {{.name = "rank", .type = BP_I32, .access = BP_WRITE}};
    static const bp_term_t terms[] = {{.component = "label", .fields = BP_LIST(rank)}};
    static const bp_system_i systems[] = {
        {.name = "early", .terms = BP_LIST(terms), .run = match_two, .flags = BP_SYSTEM_CONCURRENT, .before = "late"},
        {.name = "late", .terms = BP_LIST(terms), .run = match_two, .flags = BP_SYSTEM_CONCURRENT},
        {.name = "free", .run_all = run_a, .flags = BP_SYSTEM_CONCURRENT},
        {.name = "alone", .run_all = run_b},
    };
    bp_world_o *small = bp_world_create(rig.host, &(bp_world_desc_t){.name = "small"});
    declare(systems, COUNT(systems));
    WORKS(rig.host, bp_world_use_component(small, "label"));
    for (uint32_t i = 0; i < COUNT(systems); i++)
        WORKS(rig.host, bp_world_use_system(small, systems[i].name));
    WORKS(rig.host, bp_world_step(small));
    return small;
}

/* Each kind of damage is done, found, and undone. */
START_TEST(damage_to_a_step_is_found)
{
    schedule_t *s = open_side_by_side()->schedule;
    unit_t *early = s->units[0], *late = s->units[1];
    char text[256];
    ck_assert_uint_eq(s->segment_count, 2);
    EXPECT(schedule_check(s, text, sizeof text), "%s", text);

    s->segments[0].count--;
    expect_broken(s, "segment 1 has 1 units from 3 on");
    s->segments[0].count++;
    s->segment_count--;
    expect_broken(s, "segments have 3 units of 4");
    s->segment_count++;
    early->follower_count = 0;
    expect_broken(s, "'late' has to wait, and does not, for 'early'");
    early->follower_count = 1;
    early->followers[0] = 3;
    expect_broken(s, "unit 3 waits for 'early'");
    early->followers[0] = 2;
    expect_broken(s, "for 'early'");
    early->followers[0] = 1;
    late->awaited = 2;
    expect_broken(s, "'late' waits for 1 units, not for 2");
    late->awaited = 1;
    s->units[0] = late;
    expect_broken(s, "'late' waits for 0 units");
    s->units[0] = early;
    early->concurrent = false;
    expect_broken(s, "'early' is not concurrent");
    early->concurrent = true;
    uint32_t manager = early->access[0].manager;
    late->access[0].manager = early->access[0].manager = 9999;
    expect_broken(s, "touches manager 9999");
    late->access[0].manager = early->access[0].manager = manager;
    EXPECT(schedule_check(s, text, sizeof text), "%s", text);
}
END_TEST

START_TEST(damage_to_a_channel_is_found)
{
    static const bp_term_field_t fields[] = {{.name = "a", .type = BP_F32}, {.name = "b", .type = BP_F64}};
    const bp_term_field_list_t names = BP_LIST(fields);
    const bp_message_api *messages = rig.api->registry->find(rig.host, BP_MESSAGE_API, 1);
    schedule_t *s = world->schedule;
    bp_channel_o *end;
    char text[256];
    WORKS(rig.host, messages->open(world, NULL, "news", &names, &end));
    EXPECT(schedule_check(s, text, sizeof text), "%s", text);
    end->pipe->fields[1].offset = 0;
    expect_broken(s, "field 'b' of channel 'news' lies over another");
    end->pipe->fields[1].offset = 8;
    end->offsets[1] = 4;
    expect_broken(s, "does not know where its field 1 is");
    end->offsets[1] = 8;
    end->pipe->sent.count = 1;
    expect_broken(s, "1 messages on their way");
    end->pipe->sent.count = 0;
    end->pipe->read.count = end->pipe->read.capacity + 1;
    expect_broken(s, "records of 16 bytes");
    end->pipe->read.count = 0;
    EXPECT(schedule_check(s, text, sizeof text), "%s", text);
}
END_TEST

/* --- the suite ------------------------------------------------------------------------------------------ */

static TCase *new_case(Suite *suite, const char *name)
{
    return add_case(suite, name, begin, end, 120);
}

static void add_rows(TCase *tests)
{
    tcase_add_test(tests, a_term_without_its_component_in_the_world_is_refused);
    tcase_add_test(tests, terms_are_required_optional_or_exclude);
    tcase_add_test(tests, an_excluded_instance_leaves_others_of_its_type);
    tcase_add_test(tests, run_all_is_called_once_with_all_matches);
    tcase_add_test(tests, rows_without_entities_are_not_handed_out);
    tcase_add_test(tests, an_instance_name_picks_one_and_none_matches_each);
    tcase_add_test(tests, columns_of_terms_belong_to_the_same_rows);
    tcase_add_test(tests, own_storage_is_handed_out_as_slots);
    tcase_add_test(tests, terms_see_components_that_come_later);
    tcase_add_test(tests, simulate_is_called_for_each_run_and_each_name);
}

Suite *schedule_suite(void)
{
    Suite *suite = suite_create("schedule");
    TCase *order = new_case(suite, "order");
    tcase_add_test(order, units_without_wishes_run_in_the_order_of_their_coming);
    tcase_add_test(order, wishes_are_met_and_the_rest_keeps_its_order);
    tcase_add_test(order, any_wishes_without_a_circle_are_met);
    tcase_add_test(order, a_circle_is_refused_and_its_units_are_named);
    tcase_add_test(order, a_wish_for_a_unit_that_nobody_brings_is_refused);
    tcase_add_test(order, a_wish_for_a_unit_that_this_world_lacks_does_no_harm);
    tcase_add_test(order, a_wish_about_itself_is_no_circle);
    add_rows(new_case(suite, "rows"));
    TCase *steps = new_case(suite, "steps");
    tcase_add_test(steps, steps_are_counted_and_time_does_not_drift);
    tcase_add_test(steps, units_are_figured_in_the_order_of_the_step);
    tcase_add_test(steps, a_host_steps_all_its_worlds_or_none);
    tcase_add_test(steps, rows_of_a_world_that_steps_do_not_move);
    TCase *coming = new_case(suite, "coming and going");
    tcase_add_test(coming, a_system_that_does_not_start_is_not_there);
    tcase_add_test(coming, a_component_that_does_not_start_is_not_there);
    tcase_add_test(coming, systems_stop_newest_first);
    tcase_add_test(coming, units_are_brought_in_once);
    tcase_add_test(coming, a_system_has_at_most_32_terms);
    TCase *checks = new_case(suite, "checks");
    tcase_add_test(checks, damage_to_a_step_is_found);
    tcase_add_test(checks, damage_to_a_channel_is_found);
    return suite;
}
