/* test_side_by_side.c - units, ranges and worlds side by side: the same bits on any number of threads.
 *
 * Plugins are drawn at random: systems with random terms, some of which write; parallel, concurrent, both or neither;
 * some look at other entities' components, which they declare; some record commands, which depend on values. The same
 * worlds are then stepped on one thread, on two, on four, and on an embedder's pool that runs jobs backwards on one
 * thread; what users can see of the hosts must be the same text.
 *
 * This suite also runs under ThreadSanitizer: units that conflict and run side by side all the same are races.
 */
#include "../unit/support.h"

#include "../suites.h"
#include "../unit/inspect.h"

#include "step/schedule.h"

#include <stdio.h>
#include <stdlib.h>

#if defined(BACKPLANE_SANITIZED)
enum { SEEDS = 3, SEEDS_OF_WORLDS = 1 };
#else
enum { SEEDS = 8, SEEDS_OF_WORLDS = 4 };
#endif
enum { TYPES = 6, MOST_SYSTEMS = 10, ENTITIES = 3000, STEPS = 6 };

/* --- components ----------------------------------------------------------------------------------------- */

static const bp_field_t fields[] = {{.name = "value", .type = BP_U32}, {.name = "sum", .type = BP_I64}};
static const bp_field_t link_fields[] = {{.name = "value", .type = BP_U32},
                                         {.name = "sum", .type = BP_I64},
                                         {.name = "other", .type = BP_ENTITY},
                                         {.name = "text", .type = BP_STRING}};

static uint32_t mix(uint32_t a, uint32_t b)
{
    uint32_t h = (a ^ b * 0x9e3779b1u) + 0x7f4a7c15u;
    for (uint32_t i = 0; i < 24; i++)
        h = (h ^ (h >> 13)) * 0x85ebca6bu + i;
    return h;
}

static void grow(const bp_run_t *run, uint32_t count)
{
    uint32_t *value = BP_COLUMN(run, uint32_t, 0);
    for (uint32_t i = 0; i < count; i++)
        value[i] = mix(value[i], (uint32_t)run->step->number);
}

static const char *const type_names[TYPES] = {"c0", "c1", "c2", "c3", "c4", "link"};
static const bp_component_i types[TYPES] = {
    {.name = "c0", .fields = BP_LIST(fields)},
    {.name = "c1", .fields = BP_LIST(fields)},
    {.name = "c2", .flags = BP_COMPONENT_CONCURRENT, .fields = BP_LIST(fields), .simulate = grow},
    {.name = "c3",
     .flags = BP_COMPONENT_PARALLEL | BP_COMPONENT_CONCURRENT,
     .fields = BP_LIST(fields),
     .simulate = grow},
    {.name = "c4", .flags = BP_COMPONENT_PARALLEL, .fields = BP_LIST(fields), .simulate = grow},
    {.name = "link", .fields = BP_LIST(link_fields)},
};

/* --- systems drawn at random ------------------------------------------------------------------------------ */

/* What a term asks for: the value, to read or to write it, and the sum where that is written. Two systems that write
 * one each of a component do not conflict. */
static const bp_term_field_t read_value[] = {{.name = "value", .type = BP_U32}};
static const bp_term_field_t write_value[] = {{.name = "value", .type = BP_U32, .access = BP_WRITE}};
static const bp_term_field_t write_both[] = {{.name = "value", .type = BP_U32, .access = BP_WRITE},
                                             {.name = "sum", .type = BP_I64, .access = BP_WRITE}};
static const bp_term_field_t write_sum[] = {{.name = "value", .type = BP_U32},
                                            {.name = "sum", .type = BP_I64, .access = BP_WRITE}};
static const bp_term_field_list_t asked[2][2] = {{BP_LIST(read_value), BP_LIST(write_sum)},
                                                 {BP_LIST(write_value), BP_LIST(write_both)}};

/* What one system does; its state points here. Constant while hosts run. */
typedef struct plan_t {
    uint32_t number, terms, values, sums; /* bits of terms whose values and sums are written */
    bool commands;
    int peeks;                      /* type whose values it looks at, of other entities; -1: none */
    bool remote;                    /* writes them */
    uint32_t start_keys[TYPES];
} plan_t;

typedef struct kit_t {
    plan_t plans[MOST_SYSTEMS];
    bp_term_t terms[MOST_SYSTEMS][3];
    bp_system_i systems[MOST_SYSTEMS];
    char names[MOST_SYSTEMS][16];
    uint32_t count;
} kit_t;

static kit_t kit;

/* A system's own in one world. */
typedef struct own_t {
    const plan_t *plan;
    uint32_t keys[TYPES], prototypes[TYPES];
    bp_property_t value[TYPES], other, text;
    uint64_t told;
} own_t;

static bp_result_t start(bp_system_t *s)
{
    static const char text[] = "text";
    const bp_api_t *api = s->api;
    own_t *own = api->memory->resize(s->plugin, NULL, 0, sizeof *own);
    if (own == NULL)
        return BP_ERROR_MEMORY;
    memset(own, 0, sizeof *own);
    s->state = own;
    for (uint32_t t = 0; t < TYPES; t++) {
        uint32_t component = api->world->component(s->world, type_names[t]);
        bp_result_t result = api->world->key(s->world, component, 0, &own->keys[t]);
        if (result == BP_OK)
            result = api->world->prototype(s->world, &own->keys[t], 1, &own->prototypes[t]);
        if (result == BP_OK)
            result = api->property->resolve(s->world, (bp_entity_t){0}, type_names[t], "value", &own->value[t]);
        EXPECT(result == BP_OK, "start: %s", api->error->last(s->host));
    }
    EXPECT(api->property->resolve(s->world, (bp_entity_t){0}, "link", "other", &own->other) == BP_OK, "no other");
    return api->property->resolve(s->world, (bp_entity_t){0}, "link", text, &own->text);
}

static void stop(bp_system_t *s)
{
    s->api->memory->resize(s->plugin, s->state, sizeof(own_t), 0);
}

/* Which plan a system follows is told by its first term's place, so each has a function of its own. */
static void record(bp_system_t *s, const bp_step_t *step, bp_entity_t e, uint32_t draw)
{
    const own_t *own = s->state;
    const bp_command_api *command = s->api->command;
    uint32_t type = draw / 64 % TYPES, many = 1 + draw / 1024 % 3;
    bp_entity_t made[3];
    char text[32];
    const char *words = text;
    switch (draw % 64) {
    case 0: command->destroy(step->commands, &e, 1); break;
    case 1: command->add(step->commands, own->keys[type], &e, 1); break;
    case 2: command->remove(step->commands, own->keys[type], &e, 1); break;
    case 3:
        EXPECT(command->create(step->commands, own->prototypes[type], made, many) == BP_OK, "not created");
        command->add(step->commands, own->keys[TYPES - 1], made, many);
        command->set(step->commands, &own->value[type], made, many, &(uint32_t[3]){draw, draw + 1, draw + 2}, 4);
        command->set(step->commands, &own->other, made, 1, &e, sizeof e);
        command->set(step->commands, &own->other, &e, 1, &made[many - 1], sizeof e);
        snprintf(text, sizeof text, "made by %u", draw % 5);
        command->set(step->commands, &own->text, made, 1, &words, sizeof words);
        break;
    default: break;
    }
}

static uint32_t peek(bp_system_t *s, const plan_t *plan, bp_entity_t e)
{
    own_t *own = s->state;
    bp_property_t property = own->value[plan->peeks];
    uint32_t value = 0;
    bp_entity_t other = s->api->entity->at(s->host, bp_entity_index(e) / 2);
    return s->api->property->get(s->world, &property, &other, 1, &value, sizeof value) == BP_OK ? value : 1;
}

static void run_plan(const bp_match_t *match, const plan_t *plan)
{
    bp_system_t *s = match->system;
    const bp_step_t *step = match->step;
    for (uint32_t i = 0; i < match->count; i++) {
        uint32_t h = plan->number + (uint32_t)step->number;
        if (match->entities[i].id == 0)
            continue;
        if (plan->peeks >= 0 && i % 16 == 0)
            h = mix(h, peek(s, plan, match->entities[i]));
        for (uint32_t t = 0; t < plan->terms; t++)
            h = mix(h, match->columns[t][0] == NULL ? 7 : BP_TERM_COLUMN(match, uint32_t, t, 0)[i]);
        for (uint32_t t = 0; t < plan->terms; t++) {
            if (match->columns[t][0] == NULL)
                continue;
            if ((plan->values >> t & 1) != 0)
                BP_TERM_COLUMN(match, uint32_t, t, 0)[i] ^= h;
            if ((plan->sums >> t & 1) != 0)
                BP_TERM_COLUMN(match, int64_t, t, 1)[i] += h;
        }
        if (plan->commands)
            record(s, step, match->entities[i], h >> 4);
    }
}

#define RUN(n)                                                                                      \
    static void run_##n(const bp_match_t *match, uint32_t count)                                    \
    {                                                                                               \
        EXPECT(count == match->count && match->system->state != NULL, "another count");             \
        run_plan(match, &kit.plans[n]);                                                             \
    }                                                                                               \
    static void all_##n(bp_system_t *s, const bp_step_t *step, const bp_match_t *m, uint32_t count) \
    {                                                                                               \
        for (uint32_t i = 0; i < count; i++) {                                                      \
            EXPECT(m[i].system == s && m[i].step == step, "a match of another call");               \
            run_plan(&m[i], &kit.plans[n]);                                                         \
        }                                                                                           \
    }
RUN(0) RUN(1) RUN(2) RUN(3) RUN(4) RUN(5) RUN(6) RUN(7) RUN(8) RUN(9)
static void (*const runs[])(const bp_match_t *, uint32_t) = {
    run_0, run_1, run_2, run_3, run_4, run_5, run_6, run_7, run_8, run_9};
static void (*const alls[])(bp_system_t *, const bp_step_t *, const bp_match_t *, uint32_t) = {
    all_0, all_1, all_2, all_3, all_4, all_5, all_6, all_7, all_8, all_9};

static void draw_system(uint32_t n, uint64_t *random, bool all_concurrent)
{
    static const char *const lists[TYPES] = {"c0", "c1", "c2", "c3", "c4", "link"};
    plan_t *plan = &kit.plans[n];
    bp_system_i *system = &kit.systems[n];
    *plan = (plan_t){.number = n, .terms = 1 + bp_random_below(random, 3), .peeks = -1};
    uint32_t first = bp_random_below(random, TYPES);
    for (uint32_t t = 0; t < plan->terms; t++) {
        uint32_t value = bp_random_below(random, 2), sum = bp_random_below(random, 2);
        kit.terms[n][t] = (bp_term_t){.component = type_names[(first + t) % TYPES], .fields = asked[value][sum]};
        if (t > 0 && bp_random_below(random, 3) == 0)
            kit.terms[n][t].flags |= BP_TERM_OPTIONAL;
        plan->values |= value << t;
        plan->sums |= sum << t;
    }
    plan->commands = bp_random_below(random, 3) == 0;
    snprintf(kit.names[n], sizeof kit.names[n], "s%u", n);
    *system = (bp_system_i){.name = kit.names[n],
                            .terms = {kit.terms[n], plan->terms, sizeof(bp_term_t)},
                            .start = start,
                            .stop = stop};
    bool concurrent = all_concurrent || bp_random_below(random, 4) > 0, together = bp_random_below(random, 4) == 0;
    system->flags = concurrent ? BP_SYSTEM_CONCURRENT : 0;
    if (!together && bp_random_below(random, 2) == 0)
        system->flags |= BP_SYSTEM_PARALLEL;
    if (!all_concurrent && bp_random_below(random, 5) == 0)
        system->flags |= BP_SYSTEM_COMMANDS_FIRST;
    /* Looking at what another range of the same system writes would be a race of its own making. */
    uint32_t seen = bp_random_below(random, TYPES);
    bool own = false;
    for (uint32_t t = 0; t < plan->terms; t++)
        own = own || (first + t) % TYPES == seen;
    if (!own && bp_random_below(random, 2) == 0) {
        plan->peeks = (int)seen;
        system->reads = lists[seen];
    }
    if (together)
        system->run_all = alls[n];
    else
        system->run = runs[n];
}

static void draw_kit(uint64_t *random, bool all_concurrent)
{
    memset(&kit, 0, sizeof kit);
    kit.count = 4 + bp_random_below(random, MOST_SYSTEMS - 3);
    for (uint32_t n = 0; n < kit.count; n++)
        draw_system(n, random, all_concurrent);
}

/* --- worlds ------------------------------------------------------------------------------------------------ */

static void run_backwards(void *context, void (*job)(void *data, uint32_t index), void *data, uint32_t count)
{
    (void)context;
    while (count > 0)
        job(data, --count);
}

static void fill_world(bp_host_o *host, bp_world_o *world, uint32_t components)
{
    static bp_entity_t e[ENTITIES];
    const bp_api_t *api = bp_host_api(host);
    for (uint32_t t = 0; t < TYPES; t++)
        WORKS(host, bp_world_use_component(world, type_names[t]));
    for (uint32_t n = 0; n < kit.count; n++)
        WORKS(host, bp_world_use_system(world, kit.names[n]));
    for (uint32_t part = 0; part < 8; part++) {
        uint32_t keys[TYPES], count = 0, prototype;
        for (uint32_t t = 0; t < TYPES; t++) {
            if ((components >> (part + t) & 1) != 0 || t == part % TYPES)
                WORKS(host, api->world->key(world, api->world->component(world, type_names[t]), 0, &keys[count++]));
        }
        WORKS(host, api->world->prototype(world, keys, count, &prototype));
        WORKS(host, api->world->create(world, prototype, e, part == 1 ? ENTITIES / 2 : ENTITIES / 8));
    }
}

/* What a number of threads makes of the kit: all that users can see, as text. */
static char *result_of(uint32_t threads, bool own_jobs, uint32_t worlds, uint32_t components)
{
    const bp_plugin_head_t plugin =
        BP_PLUGIN_HEAD("kit", (&(const bp_plugin_desc_t){.version = "1",
                                                         .components = BP_LIST(types),
                                                         .systems = {kit.systems, kit.count, sizeof kit.systems[0]}}));
    const bp_plugin_head_t *const linked[] = {&plugin};
    bp_host_desc_t desc = {.threads = threads, .tag = 1, .seed = 5, .static_plugins = linked, .static_plugin_count = 1};
    const bp_jobs_i backwards = {.threads = threads, .run = run_backwards};
    if (own_jobs)
        desc.jobs = &backwards;
    bp_host_o *host = bp_host_create(&desc);
    WORKS(host, bp_host_load_plugin(host, "kit", NULL, 0));
    for (uint32_t w = 0; w < worlds; w++) {
        char name[16];
        snprintf(name, sizeof name, "w%u", w);
        fill_world(host, bp_world_create(host, &(bp_world_desc_t){.name = name}), components ^ w);
    }
    for (uint32_t i = 0; i < STEPS; i++)
        WORKS(host, bp_host_step(host));
    check_host(host);
    char *text = describe_host(host);
    char *line = strstr(text, "threads"); /* the one thing that differs */
    while (line != NULL && *line != '\0' && *line != '\n')
        *line++ = ' ';
    bp_host_destroy(host);
    return text;
}

static void compare(uint32_t seed, bool all_concurrent, uint32_t worlds)
{
    uint64_t random = seed;
    draw_kit(&random, all_concurrent);
    uint32_t components = (uint32_t)bp_random_next(&random);
    for (uint32_t which = 0; which < 3; which++) {
        char *one = result_of(1, false, worlds, components);
        char *other = which == 2 ? result_of(3, true, worlds, components)
                                 : result_of(which == 0 ? 2 : 4, false, worlds, components);
        ck_assert_uint_gt(strlen(one), 100000);
        expect_same(one, other, which == 0 ? "two threads" : which == 1 ? "four threads" : "jobs backwards");
    }
}

START_TEST(random_systems_come_to_the_same_bits_on_any_number_of_threads)
{
    compare(1000u + (uint32_t)_i, false, 1);
}
END_TEST

START_TEST(worlds_side_by_side_come_to_the_same_bits)
{
    compare(2000u + (uint32_t)_i, true, 3);
}
END_TEST

/* --- who waits for whom -------------------------------------------------------------------------------------- */

static void nothing(const bp_match_t *match, uint32_t count)
{
    (void)match, (void)count;
}

#define SYSTEM(n, list, ...)                                                                                           \
    {                                                                                                                  \
        .name = n, .flags = BP_SYSTEM_CONCURRENT, .terms = BP_LIST(list), .run = nothing, __VA_ARGS__                  \
    }

static const bp_term_t read_0[] = {{.component = "c0", .fields = BP_LIST(read_value)}},
                       write_0[] = {{.component = "c0", .fields = BP_LIST(write_value)}},
                       read_1[] = {{.component = "c1", .fields = BP_LIST(read_value)}},
                       not_0[] = {{.component = "c1", .fields = BP_LIST(read_value)},
                                  {.component = "c0", .flags = BP_TERM_EXCLUDE}};

START_TEST(conflicts_say_who_waits_for_whom)
{
    const bp_system_i systems[] = {
        SYSTEM("a", read_0, .doc = ""),
        SYSTEM("b", read_0, .doc = ""),
        SYSTEM("c", write_0, .doc = ""),
        SYSTEM("d", read_0, .doc = ""),
        SYSTEM("e", read_1, .doc = ""),
        SYSTEM("f", read_1, .writes = "c0"),
        SYSTEM("g", read_1, .before = "h"),
        SYSTEM("h", not_0, .doc = ""),
        {.name = "alone", .terms = BP_LIST(read_1), .run = nothing},
        SYSTEM("i", read_0, .doc = ""),
    };
    const bp_plugin_head_t plugin = BP_PLUGIN_HEAD("kit", (&(const bp_plugin_desc_t){.version = "1",
                                                                                     .components = BP_LIST(types),
                                                                                     .systems = BP_LIST(systems)}));
    const bp_plugin_head_t *const linked[] = {&plugin};
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.static_plugins = linked, .static_plugin_count = 1});
    WORKS(host, bp_host_load_plugin(host, "kit", NULL, 0));
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "w"});
    WORKS(host, bp_world_use_component(world, "c0"));
    WORKS(host, bp_world_use_component(world, "c1"));
    for (uint32_t i = 0; i < COUNT(systems); i++)
        WORKS(host, bp_world_use_system(world, systems[i].name));
    WORKS(host, bp_world_step(world));
    const schedule_t *schedule = world->schedule;
    static const uint32_t awaited[] = {0, 0, 2, 1, 0, 4, 0, 1, 0, 0};
    for (uint32_t i = 0; i < COUNT(systems); i++) {
        EXPECT(strcmp(schedule->units[i]->name, systems[i].name) == 0, "%s is out of order", systems[i].name);
        EXPECT(schedule->units[i]->awaited == awaited[i], "%s waits for %u units instead of %u", systems[i].name,
               schedule->units[i]->awaited, awaited[i]);
    }
    ck_assert_uint_eq(schedule->segment_count, 3);
    ck_assert(!schedule->all_concurrent);
    bp_host_destroy(host);
}
END_TEST

/* A component that writes its x and reads its y; systems that touch one of them, both, none, or one that it lacks. */
static const bp_field_t pair_fields[] = {{.name = "x", .type = BP_F32, .access = BP_WRITE},
                                         {.name = "y", .type = BP_F32, .access = BP_READ}};
static const bp_term_field_t read_x[] = {{.name = "x", .type = BP_F32}},
                             read_y[] = {{.name = "y", .type = BP_F32, .access = BP_READ}},
                             write_y[] = {{.name = "y", .type = BP_F32, .access = BP_WRITE}},
                             both[] = {{.name = "y", .type = BP_F32, .access = BP_READ | BP_WRITE},
                                       {.name = "x", .type = BP_F32, .access = BP_WRITE}},
                             lacking[] = {
                                 {.name = "z", .type = BP_F32, .access = BP_WRITE, .flags = BP_TERM_FIELD_OPTIONAL}};
#define PAIR(list) {{.component = "pair", .fields = BP_LIST(list)}}
static const bp_term_t reads_x[] = PAIR(read_x), reads_y[] = PAIR(read_y), writes_y[] = PAIR(write_y),
                       writes_both[] = PAIR(both), writes_none[] = PAIR(lacking), presence[] = {{.component = "pair"}};

static void simulate_nothing(const bp_run_t *run, uint32_t count)
{
    (void)run, (void)count;
}

START_TEST(units_conflict_by_fields)
{
    const bp_component_i pair[] = {{.name = "pair",
                                    .flags = BP_COMPONENT_CONCURRENT,
                                    .fields = BP_LIST(pair_fields),
                                    .simulate = simulate_nothing}};
    const bp_system_i systems[] = {
        SYSTEM("a", reads_y, .doc = ""),     SYSTEM("b", reads_x, .doc = ""),     SYSTEM("c", writes_y, .doc = ""),
        SYSTEM("d", writes_both, .doc = ""), SYSTEM("e", writes_none, .doc = ""), SYSTEM("f", presence, .doc = ""),
        SYSTEM("g", presence, .reads = "pair"),
    };
    static const uint32_t awaited[] = {0, 0, 1, 2, 4, 0, 0, 3};
    const bp_plugin_head_t plugin = BP_PLUGIN_HEAD("kit", (&(const bp_plugin_desc_t){.version = "1",
                                                                                     .components = BP_LIST(pair),
                                                                                     .systems = BP_LIST(systems)}));
    const bp_plugin_head_t *const linked[] = {&plugin};
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.static_plugins = linked, .static_plugin_count = 1});
    WORKS(host, bp_host_load_plugin(host, "kit", NULL, 0));
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "w"});
    WORKS(host, bp_world_use_component(world, "pair"));
    for (uint32_t i = 0; i < COUNT(systems); i++)
        WORKS(host, bp_world_use_system(world, systems[i].name));
    WORKS(host, bp_world_step(world));
    const schedule_t *schedule = world->schedule;
    ck_assert_uint_eq(schedule->count, COUNT(awaited));
    for (uint32_t i = 0; i < COUNT(awaited); i++)
        EXPECT(schedule->units[i]->awaited == awaited[i], "%s waits for %u units instead of %u",
               schedule->units[i]->name, schedule->units[i]->awaited, awaited[i]);
    bp_host_destroy(host);
}
END_TEST

START_TEST(an_unknown_name_among_reads_and_writes_is_refused)
{
    const bp_system_i systems[] = {SYSTEM("a", read_0, .reads = "c1 c9")};
    const bp_component_i own[] = {{.name = "c0", .fields = BP_LIST(fields)},
                                  {.name = "c1", .flags = BP_COMPONENT_CONCURRENT, .writes = "c2x", .simulate = grow}};
    const bp_plugin_head_t plugin = BP_PLUGIN_HEAD("kit", (&(const bp_plugin_desc_t){.version = "1",
                                                                                     .components = BP_LIST(own),
                                                                                     .systems = BP_LIST(systems)}));
    const bp_plugin_head_t *const linked[] = {&plugin};
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.static_plugins = linked, .static_plugin_count = 1});
    WORKS(host, bp_host_load_plugin(host, "kit", NULL, 0));
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "w"});
    WORKS(host, bp_world_use_component(world, "c0"));
    WORKS(host, bp_world_use_system(world, "a"));
    FAILS(host, BP_ERROR_NOT_FOUND,
          "system 'a' says that it reads 'c9': no loaded plugin brings a component 'c9'; did you mean",
          bp_world_step(world));
    bp_world_o *second = bp_world_create(host, &(bp_world_desc_t){.name = "v"});
    WORKS(host, bp_world_use_component(second, "c1"));
    FAILS(host, BP_ERROR_NOT_FOUND,
          "component 'c1' says that it writes 'c2x': no loaded plugin brings a component 'c2x'", bp_world_step(second));
    bp_host_destroy(host);
}
END_TEST

Suite *side_by_side_suite(void)
{
    Suite *suite = suite_create("side_by_side");
    TCase *same = tcase_create("same bits");
    tcase_set_timeout(same, 300);
    tcase_add_loop_test(same, random_systems_come_to_the_same_bits_on_any_number_of_threads, 0, SEEDS);
    tcase_add_loop_test(same, worlds_side_by_side_come_to_the_same_bits, 0, SEEDS_OF_WORLDS);
    suite_add_tcase(suite, same);
    TCase *waits = tcase_create("waits");
    tcase_add_test(waits, conflicts_say_who_waits_for_whom);
    tcase_add_test(waits, units_conflict_by_fields);
    tcase_add_test(waits, an_unknown_name_among_reads_and_writes_is_refused);
    suite_add_tcase(suite, waits);
    return suite;
}
