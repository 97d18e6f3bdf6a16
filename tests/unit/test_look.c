/* test_look.c - the table bp_look: what it tells is what is there, list by list, also for callers of other headers. */
#include "support.h"

#include "../suites.h"
#include "zoo.h"

#include <bp_look.h>
#include <bp_plugin.h>
#include <stdio.h>
#include <stdlib.h>

static rig_t rig;
static const bp_look_api *look;

static void begin(void)
{
    rig_init(&rig);
    rig_open_zoo(&rig);
    look = rig.api->registry->find(rig.host, BP_LOOK_API, 1);
    ck_assert_ptr_nonnull(look);
}

static void end(void)
{
    rig_close(&rig);
}

#define WALK(entry, place, type, item) \
    type item = {.struct_size = sizeof item}; \
    for (uint32_t cursor_##item = 0; look->entry((place), &cursor_##item, &item);)

/* Add components at random, so that there are many prototypes; returns the entities. */
static uint32_t populate(bp_world_o *world, bp_entity_t *entities, uint32_t most)
{
    static const char *const types[] = {"body", "label", "fx", "mark", "pool"};
    uint64_t seed = 3;
    WORKS(rig.host, rig.api->entity->create(rig.host, entities, most));
    for (uint32_t i = 0; i < most; i++)
        for (uint32_t t = 0; t < COUNT(types); t++)
            if (bp_random_below(&seed, 2) == 0)
                WORKS(rig.host,
                      rig.api->world->add(world, key_of(world, types[t], t == 2 ? "fog" : ""), &entities[i], 1));
    rig.api->entity->destroy(rig.host, entities, most / 8);
    return most;
}

START_TEST(worlds_are_told_with_their_figures)
{
    bp_world_o *world = rig_world(&rig, "main"), *other = rig_world(&rig, "other");
    bp_entity_t entities[40];
    populate(world, entities, COUNT(entities));
    WORKS(rig.host, bp_world_step(world));
    bp_world_o *wanted[] = {world, other};
    uint32_t count = 0;
    WALK(world, rig.host, bp_look_world_t, told) {
        bp_world_stats_t stats;
        bp_world_stats(wanted[count], &stats);
        ck_assert_ptr_eq(told.world, wanted[count]);
        ck_assert_str_eq(told.name, stats.name);
        ck_assert_uint_eq(told.entities, stats.entities);
        ck_assert_uint_eq(told.steps, stats.steps);
        bp_step_t clock = {.struct_size = sizeof clock};
        rig.api->world->clock(told.world, &clock);
        ck_assert(1 / told.step_rate == clock.dt && told.time == stats.time);
        ck_assert_uint_eq(told.struct_size, sizeof told);
        count++;
    }
    ck_assert_uint_eq(count, 2);
}
END_TEST

START_TEST(worlds_have_numbers_that_do_not_come_again)
{
    bp_world_o *other = NULL;
    uint64_t count = 0;
    for (uint64_t i = 0; i < 3; i++) {
        if (other != NULL)
            bp_world_destroy(other);
        else
            rig_world(&rig, "main");
        other = rig_world(&rig, "other");
        count = 0;
        WALK(world, rig.host, bp_look_world_t, told)
            ck_assert_uint_eq(told.number, count++ == 0 ? 1 : i + 2);
        ck_assert_uint_eq(count, 2);
    }
}
END_TEST

static uint32_t structure_now(void)
{
    bp_look_world_t told = {.struct_size = sizeof told};
    uint32_t cursor = 0;
    ck_assert(look->world(rig.host, &cursor, &told));
    return told.structure;
}

static void says(bp_world_o *world, const char *declared, const char *wanted)
{
    char text[64];
    ck_assert_uint_eq(look->unit_text(world, declared, text, sizeof text), strlen(wanted));
    ck_assert_str_eq(text, wanted);
}

START_TEST(a_world_has_names_of_its_own_for_units)
{
    bp_world_o *world = bp_world_create(
        rig.host, &(bp_world_desc_t){.name = "sun", .units = " kg = solar mass ,m=au, s=day "});
    bp_world_o *other = rig_world(&rig, "other");
    ck_assert_ptr_nonnull(world);
    says(world, "kg", "solar mass");
    says(world, "m/s^2", "au/day^2");
    says(world, "kg m^2/s", "(solar mass) au^2/day");
    says(world, "turns/s", "turns/day");
    says(world, "ms", "ms");
    says(world, "N", "N");
    says(world, "", "");
    says(world, NULL, "");
    says(other, "kg m^2/s", "kg m^2/s");
    char cut[4];
    ck_assert_uint_eq(look->unit_text(world, "m/s", cut, sizeof cut), 6);
    ck_assert_str_eq(cut, "au/");
    ck_assert_uint_eq(look->unit_text(world, "m/s", NULL, 0), 6);
    const char *told_units[] = {" kg = solar mass ,m=au, s=day ", ""};
    uint32_t count = 0;
    WALK(world, rig.host, bp_look_world_t, told)
        ck_assert_str_eq(told.units, told_units[count++]);
    static const char *const bad[] = {"au", "m", "m=", "=au", "g=stone", "m=au, m=ly", "m=au,, s=day", "m au"};
    for (uint32_t i = 0; i < COUNT(bad); i++) {
        ck_assert_ptr_null(bp_world_create(rig.host, &(bp_world_desc_t){.name = "bad", .units = bad[i]}));
        ck_assert_msg(strstr(bp_host_error(rig.host), "world 'bad': units: ") != NULL, "%s", bp_host_error(rig.host));
    }
    uint64_t before = rig.heap.requests;
    ck_assert_ptr_nonnull(bp_world_create(rig.host, &(bp_world_desc_t){.name = "w0", .units = "m=au"}));
    uint64_t requests = rig.heap.requests - before;
    for (uint64_t i = 1; i <= requests; i++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + i;
        bp_world_o *made = bp_world_create(rig.host, &(bp_world_desc_t){.name = "w", .units = "m=au"});
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        if (made != NULL)
            bp_world_destroy(made);
    }
    ck_assert_uint_gt(rig.heap.refused, 0);
}
END_TEST

START_TEST(a_change_of_structure_shows)
{
    bp_world_o *world = rig_world(&rig, "main");
    uint32_t before = structure_now();
    ck_assert_uint_eq(structure_now(), before);
    entity_with(world, "mark");
    ck_assert_uint_ne(structure_now(), before);
    before = structure_now();
    bp_entity_t e;
    for (uint32_t i = 0; i < 20; i++) { /* in a run that is there, most of them where it has room */
        e = entity_with(world, "mark");
        ck_assert_uint_ne(structure_now(), before);
        before = structure_now();
    }
    before = structure_now();
    WORKS(rig.host, rig.api->world->add(world, key_of(world, "body", ""), &e, 1));
    ck_assert_uint_ne(structure_now(), before);
    before = structure_now();
    WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(structure_now(), before);
    rig.api->entity->destroy(rig.host, &e, 1);
    ck_assert_uint_ne(structure_now(), before);
}
END_TEST

START_TEST(types_are_those_of_the_plugins)
{
    uint32_t count = 0;
    WALK(type, rig.host, bp_look_type_t, told) {
        bp_field_t field;
        uint32_t wanted = 0;
        while (zoo_components[wanted] != NULL && strcmp(zoo_components[wanted], told.name) != 0)
            wanted++;
        ck_assert_ptr_nonnull(zoo_components[wanted]);
        uint32_t fields = 0;
        while (rig.api->property->describe(rig.host, told.name, fields, &field, sizeof field) == BP_OK)
            fields++;
        ck_assert_uint_eq(told.field_count, fields);
        ck_assert(strcmp(told.plugin, "zoo") == 0 || strcmp(told.plugin, "stocks") == 0);
        ck_assert_ptr_nonnull(told.doc);
        count++;
    }
    ck_assert_ptr_null(zoo_components[count]); /* all of them */
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "stocks"));
    WALK(type, rig.host, bp_look_type_t, left)
        ck_assert_str_eq(left.plugin, "zoo");
}
END_TEST

START_TEST(prototypes_cover_each_entity_once_with_its_components_and_values)
{
    bp_world_o *world = rig_world(&rig, "main");
    bp_entity_t entities[400];
    uint32_t rows = 0, position = 0, with_body = 0;
    populate(world, entities, COUNT(entities));
    bp_property_t property;
    WORKS(rig.host, rig.api->property->resolve(world, (bp_entity_t){0}, "body", "mass", &property));
    for (uint32_t i = 0; i < COUNT(entities); i++) {
        float mass = (float)i + 1;
        if (rig.api->world->has(world, key_of(world, "body", ""), &entities[i], 1, NULL) == 1)
            WORKS(rig.host, rig.api->property->set(world, &property, &entities[i], 1, &mass, sizeof mass));
    }
    WALK(prototype, world, bp_look_prototype_t, told) {
        uint32_t keys[16], own[16], holes = 0;
        ck_assert_uint_eq(look->keys(world, told.prototype, keys, 16), told.key_count);
        const float *masses = look->column(world, told.prototype, key_of(world, "body", ""), BODY_MASS);
        for (uint32_t r = 0; r < told.row_count; r++) {
            bp_entity_t e = told.entities[r];
            holes += e.id == 0;
            if (e.id == 0)
                continue;
            ck_assert_uint_eq(rig.api->world->keys_of(world, e, own, 16), told.key_count);
            ck_assert_mem_eq(own, keys, told.key_count * sizeof *keys);
            rows++;
            with_body += masses != NULL;
            for (position = 0; entities[position].id != e.id; position++)
                ;
            if (masses != NULL)
                ck_assert(masses[r] == (float)position + 1);
        }
        ck_assert_uint_eq(holes, told.hole_count);
    }
    bp_world_stats_t stats;
    bp_world_stats(world, &stats);
    ck_assert_uint_eq(rows, stats.entities);
    ck_assert_uint_gt(with_body, 50);
    WALK(component, world, bp_look_component_t, component) {
        ck_assert_str_eq(component.name, strcmp(component.type, "fx") == 0 ? "fog" : component.type);
        uint32_t had = rig.api->world->has(world, component.key, entities, COUNT(entities), NULL);
        ck_assert_uint_eq(component.entities, had);
        ck_assert_uint_eq(component.component, rig.api->world->component(world, component.type));
    }
    WORKS(rig.host, rig.api->world->drop_component(world, "mark"));
    WALK(component, world, bp_look_component_t, left)
        ck_assert_str_ne(left.type, "mark");
}
END_TEST

START_TEST(columns_that_are_not_there_are_null)
{
    bp_world_o *world = rig_world(&rig, "main");
    uint32_t mark = key_of(world, "mark", ""), pool = key_of(world, "pool", ""),
             prototype = prototype_of(world, "mark", "pool", NULL, NULL);
    bp_entity_t e;
    ck_assert_ptr_null(look->column(world, prototype, mark, 0));
    WORKS(rig.host, rig.api->world->create(world, prototype, &e, 1));
    ck_assert_ptr_nonnull(look->column(world, prototype, mark, 0));
    ck_assert_ptr_null(look->column(world, prototype, mark, 1));
    ck_assert_ptr_null(look->column(world, prototype, pool, 0));
    ck_assert_ptr_null(look->column(world, prototype, key_of(world, "body", ""), 0));
    ck_assert_ptr_null(look->column(world, 0, mark, 0));
    ck_assert_ptr_null(look->column(world, 12345, mark, 0));
    ck_assert_ptr_null(look->column(world, prototype, 12345, 0));
    ck_assert_uint_eq(look->keys(world, prototype, NULL, 0), 2);
    ck_assert_uint_eq(look->keys(world, 12345, NULL, 0), 0);
}
END_TEST

START_TEST(units_come_in_the_order_of_the_step)
{
    bp_world_o *world = rig_world(&rig, "main");
    entity_with(world, "body");
    WORKS(rig.host, bp_world_step(world));
    uint32_t count = 0;
    WALK(unit, world, bp_look_unit_t, told) {
        bp_unit_stats_t stats;
        ck_assert(bp_host_unit_stats(rig.host, count, &stats));
        ck_assert_str_eq(told.name, stats.unit);
        ck_assert_str_eq(told.plugin, stats.plugin);
        ck_assert_uint_eq(told.steps, stats.steps);
        ck_assert_uint_eq(told.rows, stats.rows);
        ck_assert_uint_eq(told.flags & BP_LOOK_SYSTEM, 0);
        if (strcmp(told.name, "body") == 0)
            ck_assert_uint_eq(told.flags & BP_LOOK_PARALLEL, BP_LOOK_PARALLEL);
        count++;
    }
    ck_assert_uint_gt(count, 0);
}
END_TEST

/* What the unit at a place reads (flag) or writes, each part ended by a space. */
static const char *parts_of(bp_world_o *world, uint32_t place, uint32_t flag)
{
    static char text[512];
    bp_look_access_t access = {.struct_size = sizeof access};
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t cursor = 0; look->access(world, place, &cursor, &access);)
        if (access.flags & flag)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s.%s ", access.type, access.field);
    return text;
}

START_TEST(units_are_told_with_what_they_touch_and_whom_they_wait_for)
{
    bp_world_o *world = rig_world(&rig, "main");
    bp_look_wait_t wait = {.struct_size = sizeof wait};
    uint32_t body = BP_NONE, gravity = BP_NONE, count = 0, cursor = 0;
    WORKS(rig.host, bp_host_load_plugin(rig.host, TEST_PLUGIN_DIR "/point_mass", NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, TEST_PLUGIN_DIR "/gravity", NULL, 0));
    WORKS(rig.host, bp_world_use_component(world, "point_mass"));
    WORKS(rig.host, bp_world_use_system(world, "gravity"));
    ck_assert_msg(look->access(world, 0, &cursor, &(bp_look_access_t){.struct_size = sizeof(bp_look_access_t)}) == 0,
                  "an order that is not settled is told");
    WORKS(rig.host, bp_world_step(world));
    WALK(unit, world, bp_look_unit_t, told) {
        body = strcmp(told.name, "point_mass") == 0 ? count : body;
        gravity = strcmp(told.name, "gravity") == 0 ? count : gravity;
        count++;
    }
    ck_assert_str_eq(parts_of(world, gravity, BP_LOOK_WRITES), "point_mass.acceleration ");
    ck_assert_str_eq(parts_of(world, gravity, BP_LOOK_READS),
                     "point_mass.mass point_mass.position point_mass.velocity ");
    ck_assert(look->wait(world, body, &(uint32_t){0}, &wait));
    ck_assert_uint_eq(wait.unit, gravity);
    ck_assert_str_eq(wait.type, "point_mass");
    ck_assert(strlen(wait.field) > 0);
    ck_assert(!look->wait(world, gravity, &(uint32_t){0}, &wait));
    ck_assert_str_eq(parts_of(world, count, BP_LOOK_READS), "");
    ck_assert(!look->wait(world, count, &(uint32_t){0}, &wait));
}
END_TEST

START_TEST(the_last_reloads_are_told_and_no_more_than_sixteen)
{
    bp_look_reload_t told = {.struct_size = sizeof told};
    const char *name = "no_such", *there = "point_mass";
    WORKS(rig.host, bp_host_load_plugin(rig.host, TEST_PLUGIN_DIR "/point_mass", NULL, 0));
    ck_assert(!look->reload(rig.host, &(uint32_t){0}, &told));
    WORKS(rig.host, bp_host_reload(rig.host, &there, 1, NULL));
    ck_assert(look->reload(rig.host, &(uint32_t){0}, &told));
    ck_assert_int_eq(told.result, BP_OK);
    ck_assert_uint_eq(told.number, 1);
    ck_assert_ptr_nonnull(strstr(told.text, "reloaded point_mass"));
    ck_assert_int_gt(told.when, 1700000000);
    for (uint32_t i = 0; i < 20; i++)
        ck_assert_int_ne(bp_host_reload(rig.host, &name, 1, NULL), BP_OK);
    uint32_t count = 0;
    for (uint32_t cursor = 0; look->reload(rig.host, &cursor, &told); count++) {
        ck_assert_uint_eq(told.number, 6 + count);
        ck_assert_int_ne(told.result, BP_OK);
        ck_assert_ptr_nonnull(strstr(told.text, "no_such"));
    }
    ck_assert_uint_eq(count, 16);
    rig.log = (log_text_t){.count = 0}; /* reloads are told in the log, too */
}
END_TEST

START_TEST(plugins_are_told_with_their_options)
{
    const bp_option_t given[] = {{.name = "constant", .value = "2.5", .origin = NULL, .base = NULL}};
    WORKS(rig.host, bp_host_load_plugin(rig.host, TEST_PLUGIN_DIR "/gravity", given, 1));
    uint32_t count = 0, options = 0;
    WALK(plugin, rig.host, bp_look_plugin_t, told) {
        const char *path;
        const bp_plugin_head_t *head = bp_host_plugin(rig.host, count++, &path);
        ck_assert_str_eq(told.name, head->name);
        ck_assert_str_eq(told.path, path == NULL ? "" : path);
        ck_assert_ptr_null(told.crash);
        uint32_t own = 0;
        bp_look_option_t option = {.struct_size = sizeof option};
        for (uint32_t cursor = 0; look->option(rig.host, told.name, &cursor, &option); own++)
            if (strcmp(option.field.name, "constant") == 0) {
                ck_assert_str_eq(option.value, "2.5");
                options++;
            }
        ck_assert_uint_eq(own, told.option_count);
    }
    ck_assert_uint_eq(count, ZOO_PLUGINS + 1);
    ck_assert_uint_eq(options, 1);
    uint32_t cursor = 0;
    bp_look_option_t option = {.struct_size = sizeof option};
    ck_assert(!look->option(rig.host, "nothing", &cursor, &option));
}
END_TEST

START_TEST(callers_of_smaller_and_larger_headers_get_what_they_know)
{
    struct {
        bp_look_world_t known;
        char later[16];
    } larger;
    rig_world(&rig, "main");
    memset(&larger, 0x55, sizeof larger);
    larger.known.struct_size = sizeof larger;
    uint32_t cursor = 0;
    ck_assert(look->world(rig.host, &cursor, &larger.known));
    ck_assert_str_eq(larger.known.name, "main");
    for (size_t i = 0; i < sizeof larger.later; i++)
        ck_assert_int_eq(larger.later[i], 0);
    bp_look_world_t smaller;
    memset(&smaller, 0x55, sizeof smaller);
    smaller.struct_size = offsetof(bp_look_world_t, steps);
    cursor = 0;
    ck_assert(look->world(rig.host, &cursor, &smaller));
    ck_assert_str_eq(smaller.name, "main");
    ck_assert_uint_eq(smaller.steps, UINT64_C(0x5555555555555555));
}
END_TEST

/* --- systems ------------------------------------------------------------------------------------------------------ */

struct asked { const float *mass; bp_vec3_t *position; };
static const bp_term_field_t asked_fields[] = {
    {BP_FIELD_OF(struct asked, mass)},
    {BP_FIELD_OF(struct asked, position), .flags = BP_TERM_FIELD_OPTIONAL},
};
static const bp_term_t asked_terms[] = {
    {.component = "body", .instance = "hull", .fields = BP_LIST(asked_fields)},
    {.component = "flag", .flags = BP_TERM_EXCLUDE},
};

static void rest(const bp_match_t *match, uint32_t count)
{
    (void)match, (void)count;
}

static const bp_system_i asked_systems[] = {
    {.name = "push", .doc = "pushes", .flags = BP_SYSTEM_PARALLEL, .terms = BP_LIST(asked_terms), .run = rest,
     .after = "body"},
    {.name = "pull", .terms = BP_LIST(asked_terms), .run = rest, .before = "body push"},
};
static const bp_plugin_desc_t pushers = {.version = "3", .systems = BP_LIST(asked_systems)};
static const bp_plugin_head_t pushers_head = BP_PLUGIN_HEAD("pushers", &pushers);

START_TEST(systems_are_told_with_their_terms_and_fields)
{
    static const bp_plugin_head_t *const plugins[] = {&pushers_head};
    rig_open_with(&rig, plugins, 1);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "pushers", NULL, 0));
    look = rig.api->registry->find(rig.host, BP_LOOK_API, 1);
    bp_look_system_t system = {.struct_size = sizeof system};
    uint32_t cursor = 0;
    ck_assert_uint_eq(look->system(rig.host, &cursor, &system), 1);
    ck_assert_str_eq(system.name, "push");
    ck_assert_str_eq(system.doc, "pushes");
    ck_assert_str_eq(system.plugin, "pushers");
    ck_assert_str_eq(system.before, "");
    ck_assert_str_eq(system.after, "body");
    ck_assert_uint_eq(system.flags, BP_SYSTEM_PARALLEL);
    ck_assert_uint_eq(system.term_count, 2);
    ck_assert_uint_eq(look->system(rig.host, &cursor, &system), 1);
    ck_assert_str_eq(system.before, "body push");
    ck_assert_uint_eq(look->system(rig.host, &cursor, &system), 0);
    bp_look_term_t term = {.struct_size = sizeof term};
    cursor = 0;
    ck_assert_uint_eq(look->term(rig.host, "push", &cursor, &term), 1);
    ck_assert_str_eq(term.component, "body");
    ck_assert_str_eq(term.instance, "hull");
    ck_assert_uint_eq(term.field_count, 2);
    ck_assert_uint_eq(look->term(rig.host, "push", &cursor, &term), 1);
    ck_assert_str_eq(term.instance, "");
    ck_assert_uint_eq(term.flags, BP_TERM_EXCLUDE);
    ck_assert_uint_eq(look->term(rig.host, "push", &cursor, &term), 0);
    cursor = 0;
    ck_assert_uint_eq(look->term(rig.host, "shove", &cursor, &term), 0);
    bp_term_field_t field;
    cursor = 0;
    ck_assert_uint_eq(look->asked(rig.host, "push", 0, &cursor, &field, sizeof field), 1);
    ck_assert_str_eq(field.name, "mass");
    ck_assert_uint_eq(field.type, BP_F32);
    ck_assert_uint_eq(field.access, BP_READ);
    ck_assert_uint_eq(look->asked(rig.host, "push", 0, &cursor, &field, sizeof field), 1);
    ck_assert_uint_eq(field.access, BP_WRITE);
    ck_assert_uint_eq(field.flags, BP_TERM_FIELD_OPTIONAL);
    ck_assert_uint_eq(look->asked(rig.host, "push", 0, &cursor, &field, sizeof field), 0);
    cursor = 0;
    ck_assert_uint_eq(look->asked(rig.host, "push", 2, &cursor, &field, sizeof field), 0);
    ck_assert_uint_eq(look->asked(rig.host, "push", 1, &cursor, &field, sizeof field), 0);
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "pushers"));
    cursor = 0;
    ck_assert_uint_eq(look->system(rig.host, &cursor, &system), 0);
    rig_close(&rig);
}
END_TEST

Suite *look_suite(void)
{
    Suite *suite = suite_create("look");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, begin, end);
    tcase_add_test(all, worlds_are_told_with_their_figures);
    tcase_add_test(all, worlds_have_numbers_that_do_not_come_again);
    tcase_add_test(all, a_world_has_names_of_its_own_for_units);
    tcase_add_test(all, a_change_of_structure_shows);
    tcase_add_test(all, types_are_those_of_the_plugins);
    tcase_add_test(all, prototypes_cover_each_entity_once_with_its_components_and_values);
    tcase_add_test(all, columns_that_are_not_there_are_null);
    tcase_add_test(all, units_come_in_the_order_of_the_step);
    tcase_add_test(all, units_are_told_with_what_they_touch_and_whom_they_wait_for);
    tcase_add_test(all, the_last_reloads_are_told_and_no_more_than_sixteen);
    tcase_add_test(all, plugins_are_told_with_their_options);
    tcase_add_test(all, callers_of_smaller_and_larger_headers_get_what_they_know);
    suite_add_tcase(suite, all);
    TCase *systems = tcase_create("systems");
    tcase_add_test(systems, systems_are_told_with_their_terms_and_fields);
    suite_add_tcase(suite, systems);
    return suite;
}
