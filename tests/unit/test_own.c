/* test_own.c - what belongs to a world and to none of its entities: made and ended with its use, handed to systems
 * beside their rows, saved, spawned, brought back, and out of reach of whatever changes entities.
 */
#include "../reload/reload_support.h"
#include "../suites.h"
#include "inspect.h"
#include "store/world_check.h"
#include "support.h"

#include <bp_changes.h>
#include <bp_look.h>
#include <bp_plugin.h>
#include <bp_query.h>
#include <stdlib.h>
#include <string.h>

struct leaf { bp_vec2_t *place; };
struct wind { bp_vec2_t *force; };
struct blow { const bp_vec2_t *force; const char *const *name; };
struct tally { uint64_t *rows; };

static const bp_field_t leaf_fields[] = {{BP_FIELD_OF(struct leaf, place)}};
static const bp_field_t wind_fields[] = {
    {.name = "name", .type = BP_STRING, .initial = "breeze"},
    {.name = "force", .type = BP_VEC2, .initial = "1 0"},
    {.name = "gusts", .type = BP_F32, .flags = BP_FIELD_LIST},
};
static const bp_field_t tally_fields[] = {{.name = "rows", .type = BP_U64, .access = BP_READ}}; /* as `stir` has it */

static const bp_term_field_t ask_leaf[] = {{BP_FIELD_OF(struct leaf, place)}};
static const bp_term_field_t ask_blow[] = {{BP_FIELD_OF(struct blow, force)}, {BP_FIELD_OF(struct blow, name)}};
static const bp_term_field_t ask_wind[] = {{BP_FIELD_OF(struct wind, force)}};
static const bp_term_field_t ask_tally[] = {{BP_FIELD_OF(struct tally, rows)}};
static const bp_term_t blow_terms[] = {
    {.component = "wind", .flags = BP_TERM_WORLD, .fields = BP_LIST(ask_blow)},
    {.component = "leaf", .fields = BP_LIST(ask_leaf)},
    {.component = "tally", .flags = BP_TERM_WORLD | BP_TERM_OPTIONAL, .fields = BP_LIST(ask_tally)},
};
static const bp_term_t turn_terms[] = {
    {.component = "wind", .flags = BP_TERM_WORLD, .fields = BP_LIST(ask_wind)},
    {.component = "tally", .flags = BP_TERM_WORLD | BP_TERM_OPTIONAL},
};

static uint32_t turns; /* calls of `turn`, in processes of tests */

static void blow(const bp_match_t *match, uint32_t count)
{
    BP_COLUMNS(struct blow, w, match->columns[0]);
    BP_COLUMNS(struct leaf, l, match->columns[1]);
    EXPECT(w.name[0] != NULL, "the wind has no name");
    for (uint32_t i = 0; i < count; i++) {
        l.place[i].x += w.force[0].x;
        l.place[i].y += w.force[0].y;
    }
    uint64_t *rows = BP_TERM_COLUMN(match, uint64_t, 2, 0);
    if (rows != NULL)
        *rows += count;
}

static void turn(const bp_match_t *match, uint32_t count)
{
    BP_COLUMNS(struct wind, w, match->columns[0]);
    EXPECT(count == 1, "a world has %u winds", count);
    w.force[0] = (bp_vec2_t){-w.force[0].y, w.force[0].x};
    turns++;
}

static uint32_t stirred;

static void stir(const bp_run_t *run, uint32_t count)
{
    EXPECT(count == 1 && run->entities[0].id != 0, "a tally is one row");
    stirred++;
}

static const bp_component_i components[] = {
    {.name = "leaf", .fields = BP_LIST(leaf_fields)},
    {.name = "wind", .fields = BP_LIST(wind_fields), .flags = BP_COMPONENT_WORLD},
    {.name = "tally", .fields = BP_LIST(tally_fields), .flags = BP_COMPONENT_WORLD, .simulate = stir},
};
static const bp_system_i systems[] = {
    {.name = "blow", .terms = BP_LIST(blow_terms), .run = blow, .flags = BP_SYSTEM_CONCURRENT},
    {.name = "turn", .terms = BP_LIST(turn_terms), .run = turn, .flags = BP_SYSTEM_CONCURRENT},
};
static const bp_plugin_desc_t weather = {
    .version = "1", .components = BP_LIST(components), .systems = BP_LIST(systems)};
static const bp_plugin_head_t weather_head = BP_PLUGIN_HEAD("weather", &weather);

typedef struct place_t {
    rig_t rig;
    bp_world_o *world;
    bp_entity_t leaves[3];
} place_t;

static void open_place(place_t *p, uint32_t threads)
{
    static const bp_plugin_head_t *const plugins[] = {&weather_head};
    rig_init(&p->rig);
    p->rig.desc.static_plugins = plugins;
    p->rig.desc.static_plugin_count = 1;
    p->rig.desc.threads = threads;
    if (threads > 1)
        p->rig.desc.allocator = NULL; /* the heap of rigs is for one thread */
    rig_open(&p->rig);
    WORKS(p->rig.host, bp_host_load_plugin(p->rig.host, "weather", NULL, 0));
    p->world = bp_world_create(p->rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(p->rig.host, bp_world_use_component(p->world, "leaf"));
}

static void add_leaves(place_t *p)
{
    WORKS(p->rig.host, p->rig.api->world->create(p->world, prototype_of(p->world, "leaf", NULL, NULL, NULL), p->leaves,
                                                 COUNT(p->leaves)));
}

static void close_place(place_t *p)
{
    check_host(p->rig.host);
    rig_close(&p->rig);
}

static const char *text_of(const place_t *p, const char *path)
{
    static char text[256];
    bp_path_t found;
    WORKS(p->rig.host, p->rig.api->property->parse_path(p->rig.host, path, &found));
    WORKS(p->rig.host, p->rig.api->property->get_text(&found, text, sizeof text));
    return text;
}

static void set_text(const place_t *p, const char *path, const char *text)
{
    bp_path_t found;
    WORKS(p->rig.host, p->rig.api->property->parse_path(p->rig.host, path, &found));
    WORKS(p->rig.host, p->rig.api->property->set_text(&found, text));
}

#define IS(p, path, text) ck_assert_str_eq(text_of(p, path), text)

START_TEST(a_world_has_it_for_as_long_as_it_uses_it)
{
    place_t p;
    open_place(&p, 1);
    const bp_world_api *api = p.rig.api->world;
    ck_assert_uint_eq(api->own(p.world).id, 0);
    WORKS(p.rig.host, bp_world_use_component(p.world, "wind"));
    bp_entity_t own = api->own(p.world);
    ck_assert_uint_ne(own.id, 0);
    IS(&p, "main.wind.force", "1 0");
    set_text(&p, "main.wind.force", "0 2");
    set_text(&p, "main.wind.gusts", "[1, 2]");
    WORKS(p.rig.host, bp_world_use_component(p.world, "tally"));
    ck_assert_uint_eq(api->own(p.world).id, own.id);
    IS(&p, "main.wind.force", "0 2"); /* the row has moved to another run */
    IS(&p, "main.wind.gusts", "[1, 2]");
    check_host(p.rig.host);
    WORKS(p.rig.host, bp_world_drop_component(p.world, "wind"));
    IS(&p, "main.tally.rows", "0");
    WORKS(p.rig.host, bp_world_drop_component(p.world, "tally"));
    ck_assert_uint_eq(api->own(p.world).id, 0);
    ck_assert_uint_eq(p.rig.api->entity->alive(p.rig.host, &own, 1, NULL), 0);
    WORKS(p.rig.host, bp_world_use_component(p.world, "wind"));
    IS(&p, "main.wind.force", "1 0");
    close_place(&p);
}
END_TEST

START_TEST(nothing_that_changes_entities_reaches_it)
{
    place_t p;
    open_place(&p, 1);
    const bp_world_api *api = p.rig.api->world;
    bp_host_o *host = p.rig.host;
    WORKS(host, bp_world_use_component(p.world, "wind"));
    add_leaves(&p);
    bp_entity_t own = api->own(p.world), made;
    uint32_t wind = key_of(p.world, "wind", ""), leaf = key_of(p.world, "leaf", ""), prototype, other;
    SAID(host, BP_ERROR_ARGUMENT,
         "component 'wind' belongs to world 'main' itself, which has it for as long as it uses it; no entity gets or "
         "loses it",
         api->add(p.world, wind, p.leaves, 1));
    SAID(host, BP_ERROR_ARGUMENT,
         "component 'wind' belongs to world 'main' itself, which has it for as long as it uses it; no entity gets or "
         "loses it",
         api->add(p.world, wind, p.leaves, 2));
    SAID(host, BP_ERROR_ARGUMENT,
         "component 'wind' belongs to world 'main' itself, which has it for as long as it uses it; no entity gets or "
         "loses it",
         api->remove(p.world, wind, &own, 1));
    SAID(host, BP_ERROR_ARGUMENT, "#0:1: component 'leaf' belongs to entities, and the world itself does not have it",
         api->add(p.world, leaf, &own, 1));
    SAID(host, BP_ERROR_ARGUMENT,
         "component 'wind' belongs to world 'main' itself, which has it for as long as it uses it; no entity gets or "
         "loses it",
         api->prototype(p.world, &wind, 1, &prototype));
    const prototypes_t *all = &p.world->rows.prototypes;
    for (prototype = 1; prototype < all->count; prototype++) {
        if ((all->items[prototype].flags & KEY_WORLD) == 0) {
            WORKS(host, api->create(p.world, prototype, &made, 1));
            continue;
        }
        for (uint32_t count = 0; count <= 2; count++)
            SAID(host, BP_ERROR_ARGUMENT,
                 "component 'wind' belongs to world 'main' itself, which has it for as long as it uses it; no entity "
                 "gets or loses it",
                 api->create(p.world, prototype, p.leaves, count));
    }
    SAID(host, BP_ERROR_NOT_FOUND, "world 'main' has no prototype 3", api->create(p.world, prototype, &made, 1));
    ck_assert_uint_eq(p.rig.api->world->has(p.world, wind, &made, 1, NULL), 0);
    SAID(host, BP_ERROR_ARGUMENT,
         "component 'wind' belongs to worlds, each of which has it once and under this name, not '?'",
         api->key(p.world, api->component(p.world, "wind"), 77, &other));
    bp_entity_t batch[] = {p.leaves[0], own, p.leaves[1]};
    ck_assert_uint_eq(p.rig.api->entity->destroy(host, &own, 1), 0);
    ck_assert_uint_eq(p.rig.api->entity->destroy(host, batch, COUNT(batch)), 2);
    ck_assert_uint_eq(p.rig.api->entity->alive(host, &own, 1, NULL), 1);
    IS(&p, "main.wind.force", "1 0");
    bp_path_t path;
    SAID(host, BP_ERROR_SYNTAX,
         "main.leaf.place: component 'leaf' belongs to entities; say whose: main/ENTITY.leaf.place",
         p.rig.api->property->parse_path(host, "main.leaf.place", &path));
    SAID(host, BP_ERROR_NOT_FOUND, "main.wint.x: world 'main' has no component manager 'wint'; did you mean 'wind'?",
         p.rig.api->property->parse_path(host, "main.wint.x", &path));
    close_place(&p);
}
END_TEST

/* An entity that has lived in the page of the entity that bears a world's own components, in whatever worlds, can be
 * destroyed like any other. */
START_TEST(its_neighbours_in_other_worlds_can_be_destroyed)
{
    enum { WORLDS = 5, SOME = 40 };
    place_t p;
    open_place(&p, 1);
    const bp_world_api *api = p.rig.api->world;
    bp_host_o *host = p.rig.host;
    bp_world_o *worlds[WORLDS];
    bp_entity_t own[WORLDS], e[SOME];
    static const char *const names[WORLDS] = {"a", "b", "c", "d", "e"};
    for (uint32_t w = 0; w < WORLDS; w++) {
        worlds[w] = bp_world_create(host, &(bp_world_desc_t){.name = names[w]});
        WORKS(host, bp_world_use_component(worlds[w], "wind"));
        WORKS(host, bp_world_use_component(worlds[w], "leaf"));
        own[w] = api->own(worlds[w]);
    }
    WORKS(host, p.rig.api->entity->create(host, e, SOME));
    for (uint32_t w = 0; w < WORLDS; w++)
        WORKS(host, api->add(worlds[w], key_of(worlds[w], "leaf", ""), e, SOME));
    for (uint32_t w = 0; w < WORLDS; w++) {
        bp_entity_t batch[] = {own[w], e[2 * w], own[WORLDS - 1 - w], e[2 * w + 1]};
        ck_assert_uint_eq(p.rig.api->entity->destroy(host, batch, COUNT(batch)), 2);
        ck_assert_uint_eq(p.rig.api->entity->destroy(host, &own[w], 1), 0);
        ck_assert_uint_eq(api->own(worlds[w]).id, own[w].id);
    }
    ck_assert_uint_eq(p.rig.api->entity->alive(host, own, WORLDS, NULL), WORLDS);
    ck_assert_uint_eq(p.rig.api->entity->destroy(host, &(bp_entity_t){UINT64_MAX}, 1), 0);
    bp_world_destroy(worlds[2]);
    ck_assert_uint_eq(p.rig.api->entity->alive(host, &own[2], 1, NULL), 0);
    ck_assert_uint_eq(p.rig.api->entity->destroy(host, e, SOME), SOME - 2 * WORLDS);
    check_host(host);
    close_place(&p);
}
END_TEST

/* A page of records that another world came to first. */
START_TEST(it_is_known_among_records_of_other_worlds)
{
    enum { MANY = 3000 };
    static bp_entity_t e[MANY];
    place_t p;
    open_place(&p, 1);
    bp_host_o *host = p.rig.host;
    bp_world_o *other = bp_world_create(host, &(bp_world_desc_t){.name = "other"});
    WORKS(host, bp_world_use_component(other, "leaf"));
    WORKS(host, p.rig.api->entity->create(host, e, MANY));
    WORKS(host, p.rig.api->world->add(other, key_of(other, "leaf", ""), e, 1));
    ck_assert_uint_eq(p.rig.api->entity->destroy(host, e + 1, MANY - 1), MANY - 1);
    WORKS(host, bp_world_use_component(p.world, "wind"));
    bp_entity_t own = p.rig.api->world->own(p.world);
    ck_assert_uint_eq(bp_entity_index(own), bp_entity_index(e[1])); /* beside e[0] */
    ck_assert_uint_eq(p.rig.api->entity->destroy(host, &own, 1), 0);
    ck_assert_uint_eq(p.rig.api->entity->alive(host, &own, 1, NULL), 1);
    close_place(&p);
}
END_TEST

/* Each kind of damage is done, found by the check of invariants, and undone. */
START_TEST(damage_to_what_a_world_has_of_its_own_is_found)
{
    place_t p;
    char text[256];
    open_place(&p, 1);
    WORKS(p.rig.host, bp_world_use_component(p.world, "wind"));
    add_leaves(&p);
    world_t *w = world_of(p.world);
    bp_entity_t kept = w->own;
    run_t *leaves = world_run(w, world_record(w, p.leaves[0])->prototype);
    EXPECT(world_check(w, text, sizeof text), "%s", text);
    w->own = (bp_entity_t){0};
    ck_assert(!world_check(w, text, sizeof text) && strstr(text, "no entity bears them") != NULL);
    w->own = p.leaves[0];
    ck_assert(!world_check(w, text, sizeof text) && strstr(text, "has other components") != NULL);
    w->own = kept;
    leaves->flags ^= KEY_WORLD;
    ck_assert(!world_check(w, text, sizeof text) && strstr(text, "4 rows are the world's own") != NULL);
    leaves->flags ^= KEY_WORLD;
    EXPECT(world_check(w, text, sizeof text), "%s", text);
    close_place(&p);
}
END_TEST

START_TEST(entities_are_counted_and_listed_without_it)
{
    place_t p;
    open_place(&p, 1);
    WORKS(p.rig.host, bp_world_use_component(p.world, "wind"));
    uint32_t index = 0, listed = 0;
    ck_assert_uint_eq(p.rig.api->entity->count(p.rig.host), 0);
    ck_assert_uint_eq(p.rig.api->world->next(p.world, &index).id, 0);
    add_leaves(&p);
    for (index = 0; p.rig.api->world->next(p.world, &index).id != 0; listed++)
        ck_assert_uint_lt(listed, 3);
    ck_assert_uint_eq(listed, 3);
    const bp_look_api *look = p.rig.api->registry->find(p.rig.host, BP_LOOK_API, 1);
    bp_look_prototype_t prototype = {.struct_size = sizeof prototype};
    uint32_t cursor = 0, rows = 0;
    while (look->prototype(p.world, &cursor, &prototype))
        rows += prototype.row_count;
    ck_assert_uint_eq(rows, 3);
    bp_look_world_t world = {.struct_size = sizeof world};
    cursor = 0;
    look->world(p.rig.host, &cursor, &world);
    ck_assert_uint_eq(world.entities, 3);
    ck_assert_uint_eq(p.rig.api->entity->count(p.rig.host), 3);
    close_place(&p);
}
END_TEST

/* Loops: threads 1, 2, 4. The order of what writes the wind and what reads it is that of the step. */
START_TEST(systems_get_it_once_a_call)
{
    static const uint32_t threads[] = {1, 2, 4};
    place_t p;
    turns = stirred = 0;
    open_place(&p, threads[_i]);
    WORKS(p.rig.host, bp_world_use_component(p.world, "wind"));
    WORKS(p.rig.host, bp_world_use_system(p.world, "blow"));
    WORKS(p.rig.host, bp_world_use_system(p.world, "turn"));
    add_leaves(&p);
    for (uint32_t i = 0; i < 5; i++) /* (1 0), (0 1), (-1 0), (0 -1), (1 0) */
        WORKS(p.rig.host, bp_world_step(p.world));
    bp_vec2_t place;
    WORKS(p.rig.host, p.rig.api->property->get_named(p.world, p.leaves[2], "leaf", "place", BP_VEC2, &place));
    ck_assert_double_eq((double)place.x, 1.0);
    ck_assert_double_eq((double)place.y, 0.0);
    ck_assert_uint_eq(turns, 5);
    WORKS(p.rig.host, bp_world_use_component(p.world, "tally")); /* the wind's row moves; an optional term is there */
    bp_entity_t more[100];
    WORKS(p.rig.host, p.rig.api->world->create(p.world, prototype_of(p.world, "leaf", NULL, NULL, NULL), more,
                                               COUNT(more)));
    WORKS(p.rig.host, bp_world_step(p.world));
    IS(&p, "main.tally.rows", "103");
    ck_assert_uint_eq(stirred, 1);
    SAID(p.rig.host, BP_ERROR_STATE,
         "world 'main' cannot step without 'wind': system 'blow' works on component 'wind', which world 'main' lacks; "
         "add it to the world's components",
         bp_world_drop_component(p.world, "wind"));
    WORKS(p.rig.host, bp_world_drop_component(p.world, "tally"));
    WORKS(p.rig.host, bp_world_step(p.world));
    ck_assert_uint_eq(turns, 7);
    close_place(&p);
}
END_TEST

START_TEST(terms_say_whose_a_component_is)
{
    place_t p;
    open_place(&p, 1);
    const bp_query_api *queries = p.rig.api->registry->find(p.rig.host, BP_QUERY_API, 1);
    bp_query_o *query;
    WORKS(p.rig.host, bp_world_use_component(p.world, "wind"));
    static const struct {
        bp_term_t terms[2];
        uint32_t count;
        const char *sentence;
    } wrong[] = {
        {{{.component = "wind", .fields = BP_LIST(ask_wind)}}, 1, "say BP_TERM_WORLD"},
        {{{.component = "leaf", .flags = BP_TERM_WORLD}}, 1, "leave out BP_TERM_WORLD"},
        {{{.component = "wind", .instance = "storm", .flags = BP_TERM_WORLD}}, 1, "leave the instance out"},
        {{{.component = "wind", .flags = BP_TERM_WORLD | BP_TERM_EXCLUDE}}, 1, "mean nothing together"},
        {{{.component = "wind", .flags = BP_TERM_WORLD | BP_TERM_OPTIONAL}}, 1, "let one of them be required"},
    };
    for (uint32_t i = 0; i < COUNT(wrong); i++) {
        const bp_term_list_t list = {wrong[i].terms, wrong[i].count, sizeof(bp_term_t)};
        ck_assert_int_ne(queries->make(p.world, NULL, &list, 0, &query), BP_OK);
        EXPECT(strstr(bp_host_error(p.rig.host), wrong[i].sentence) != NULL, "%u: %s", i, bp_host_error(p.rig.host));
    }
    close_place(&p);
}
END_TEST

START_TEST(kept_queries_hand_it_out_and_stamp_what_they_write)
{
    place_t p;
    open_place(&p, 1);
    const bp_query_api *queries = p.rig.api->registry->find(p.rig.host, BP_QUERY_API, 1);
    const bp_changes_api *changes = p.rig.api->registry->find(p.rig.host, BP_CHANGES_API, 1);
    static const bp_term_t beside[] = {
        {.component = "leaf", .fields = BP_LIST(ask_leaf)},
        {.component = "wind", .flags = BP_TERM_WORLD, .fields = BP_LIST(ask_wind)},
    };
    static const bp_term_t alone[] = {{.component = "wind", .flags = BP_TERM_WORLD, .fields = BP_LIST(ask_wind)}};
    static const bp_term_t anybody[] = {{.component = "leaf", .flags = BP_TERM_OPTIONAL}};
    const bp_term_list_t lists[] = {BP_LIST(beside), BP_LIST(alone), BP_LIST(anybody)};
    bp_query_o *query[3];
    WORKS(p.rig.host, bp_world_use_component(p.world, "wind"));
    add_leaves(&p);
    for (uint32_t i = 0; i < 3; i++)
        WORKS(p.rig.host, queries->make(p.world, NULL, &lists[i], BP_QUERY_CHANGES, &query[i]));
    uint64_t since = changes->look(p.world);
    WORKS(p.rig.host, queries->begin(query[1], since));
    ck_assert_ptr_null(queries->next(query[1]));
    WORKS(p.rig.host, queries->begin(query[0], 0));
    const bp_match_t *match = queries->next(query[0]);
    ck_assert_uint_eq(match->count, 3);
    BP_TERM_COLUMN(match, bp_vec2_t, 1, 0)[0] = (bp_vec2_t){5, 6};
    ck_assert_ptr_null(queries->next(query[0]));
    IS(&p, "main.wind.force", "5 6");
    WORKS(p.rig.host, queries->begin(query[1], since));
    match = queries->next(query[1]);
    ck_assert_ptr_nonnull(match);
    ck_assert_uint_eq(match->count, 1);
    ck_assert_uint_eq(match->entities[0].id, p.rig.api->world->own(p.world).id);
    ck_assert_double_eq((double)BP_TERM_COLUMN(match, bp_vec2_t, 0, 0)->x, 5.0);
    WORKS(p.rig.host, queries->begin(query[2], 0));
    match = queries->next(query[2]);
    ck_assert_uint_eq(match->count, 3);
    ck_assert_ptr_null(queries->next(query[2]));
    for (uint32_t i = 0; i < 3; i++)
        queries->end(query[i]);
    close_place(&p);
}
END_TEST

/* A system that writes it beside rows: asked what has changed, a query has it in the steps in which that ran. */
START_TEST(steps_stamp_what_units_write_of_it)
{
    static const bp_term_t tally[] = {{.component = "tally", .flags = BP_TERM_WORLD, .fields = BP_LIST(ask_tally)}};
    const bp_term_list_t list = BP_LIST(tally);
    place_t p;
    open_place(&p, 1);
    const bp_query_api *queries = p.rig.api->registry->find(p.rig.host, BP_QUERY_API, 1);
    const bp_changes_api *changes = p.rig.api->registry->find(p.rig.host, BP_CHANGES_API, 1);
    bp_query_o *query;
    WORKS(p.rig.host, bp_world_use_component(p.world, "wind"));
    WORKS(p.rig.host, bp_world_use_component(p.world, "tally"));
    bp_world_o *world = p.world;
    WORKS(p.rig.host, bp_world_use_system(world, "blow"));
    add_leaves(&p);
    WORKS(p.rig.host, queries->make(world, NULL, &list, BP_QUERY_CHANGES, &query));
    WORKS(p.rig.host, bp_world_step(world));
    uint64_t since = changes->look(world);
    WORKS(p.rig.host, queries->begin(query, since));
    ck_assert_ptr_null(queries->next(query));
    WORKS(p.rig.host, bp_world_step(world));
    WORKS(p.rig.host, queries->begin(query, since));
    ck_assert_ptr_nonnull(queries->next(query));
    queries->end(query);
    close_place(&p);
}
END_TEST

/* --- scenes, saves, snapshots ------------------------------------------------------------------------------------- */

static bp_scene_o *compile(const place_t *p, const char *json)
{
    bp_scene_o *scene;
    WORKS(p->rig.host, bp_scene_compile_text(p->rig.host, "test", json, strlen(json), &scene));
    return scene;
}

START_TEST(scenes_say_what_the_world_has)
{
    place_t p;
    open_place(&p, 1);
    WORKS(p.rig.host, bp_world_use_component(p.world, "wind"));
    WORKS(p.rig.host, bp_world_use_component(p.world, "tally"));
    bp_entity_t own = p.rig.api->world->own(p.world), spawned[3];
    set_text(&p, "main.tally.rows", "8");
    bp_scene_o *scene = compile(&p, "{\"entities\": [{\"components\": {\"leaf\": {\"place\": [1, 2]}}, \"count\": 2}],"
                                    " \"world\": {\"wind\": {\"force\": [3, 4], \"name\": \"gale\", \"gusts\": [9]}}}");
    ck_assert_uint_eq(bp_scene_entity_count(scene), 3);
    bp_spawn_t spawn;
    for (uint32_t i = 0; i < 2; i++) {
        WORKS(p.rig.host, bp_scene_spawn(scene, p.world, 0, spawned, &spawn));
        ck_assert_uint_eq(spawned[2].id, own.id);
        ck_assert_uint_eq(p.rig.api->world->own(p.world).id, own.id);
        check_host(p.rig.host);
        ck_assert_uint_eq(p.rig.api->entity->count(p.rig.host), 2 * i + 2);
    }
    IS(&p, "main.wind.force", "3 4");
    IS(&p, "main.wind.name", "gale");
    IS(&p, "main.wind.gusts", "[9]");
    IS(&p, "main.tally.rows", "8"); /* of which the scene says nothing */
    ck_assert_uint_eq(p.rig.api->scene->despawn(p.rig.host, spawn), 2);
    IS(&p, "main.wind.force", "3 4");
    bp_scene_close(scene);
    close_place(&p);
}
END_TEST

/* The scene has fewer components of the world than the world, so that its values come from rows of another kind. */
START_TEST(what_a_scene_gives_the_world_counts_as_written)
{
    static const bp_term_t alone[] = {{.component = "wind", .flags = BP_TERM_WORLD, .fields = BP_LIST(ask_wind)}};
    const bp_term_list_t list = BP_LIST(alone);
    bp_query_o *query;
    place_t p;
    open_place(&p, 1);
    const bp_query_api *queries = p.rig.api->registry->find(p.rig.host, BP_QUERY_API, 1);
    const bp_changes_api *changes = p.rig.api->registry->find(p.rig.host, BP_CHANGES_API, 1);
    WORKS(p.rig.host, bp_world_use_component(p.world, "wind"));
    WORKS(p.rig.host, bp_world_use_component(p.world, "tally"));
    WORKS(p.rig.host, queries->make(p.world, NULL, &list, BP_QUERY_CHANGES, &query));
    bp_scene_o *scene = compile(&p, "{\"world\": {\"wind\": {\"force\": [3, 4]}}}");
    uint64_t since = changes->look(p.world);
    WORKS(p.rig.host, bp_scene_restore(scene, p.world, 0));
    IS(&p, "main.wind.force", "3 4");
    WORKS(p.rig.host, queries->begin(query, since));
    ck_assert_ptr_nonnull(queries->next(query));
    bp_scene_close(scene);
    queries->end(query);
    close_place(&p);
}
END_TEST

START_TEST(scenes_are_refused_that_mix_worlds_and_entities)
{
    static const char *const wrong[][2] = {
        {"{\"entities\": [{\"components\": {\"wind\": {}}}]}", "write it under \"world\""},
        {"{\"world\": {\"leaf\": {}}}", "give it to one of them"},
        {"{\"world\": {\"storm\": {\"type\": \"wind\"}}}", "under this name"},
        {"{\"world\": []}", "'world' takes an object"},
        {"{\"world\": {\"wind\": {\"force\": [1]}}}", "world.wind.force"},
        {"{\"world\": {\"wint\": {}}}", "did you mean 'wind'"},
    };
    place_t p;
    open_place(&p, 1);
    bp_scene_o *scene;
    for (uint32_t i = 0; i < COUNT(wrong); i++) {
        ck_assert_int_ne(bp_scene_compile_text(p.rig.host, "test", wrong[i][0], strlen(wrong[i][0]), &scene), BP_OK);
        EXPECT(strstr(bp_host_error(p.rig.host), wrong[i][1]) != NULL, "%s: %s", wrong[i][0],
               bp_host_error(p.rig.host));
    }
    scene = compile(&p, "{\"world\": {\"wind\": {}}}");
    SAID(p.rig.host, BP_ERROR_NOT_FOUND, "test: component 'wind' is loaded, but world 'main' does not use it",
         bp_scene_spawn(scene, p.world, 0, NULL, NULL));
    bp_scene_close(scene);
    close_place(&p);
}
END_TEST

static void gather(void *context, const char *text, size_t length)
{
    strncat(context, text, length);
}

START_TEST(a_saved_world_comes_back_with_it)
{
    place_t p;
    open_place(&p, 1);
    WORKS(p.rig.host, bp_world_use_component(p.world, "wind"));
    add_leaves(&p);
    set_text(&p, "main.wind.name", "storm");
    set_text(&p, "main.wind.gusts", "[3, 2, 1]");
    bp_scene_o *saved, *again;
    WORKS(p.rig.host, bp_scene_capture(p.world, &saved));
    char text[4096] = "";
    bp_scene_dump(saved, BP_DUMP_JSON, &(bp_text_sink_i){
                                              .struct_size = sizeof(bp_text_sink_i), .context = text, .write = gather});
    EXPECT(strstr(text, "\"world\": {") != NULL, "%s", text);
    again = compile(&p, text);
    set_text(&p, "main.wind.name", "calm");
    set_text(&p, "main.wind.force", "9 9");
    WORKS(p.rig.host, bp_scene_restore(saved, p.world, 0));
    IS(&p, "main.wind.name", "storm");
    IS(&p, "main.wind.force", "1 0"); /* the default is a value, too */
    IS(&p, "main.wind.gusts", "[3, 2, 1]");
    ck_assert_uint_eq(p.rig.api->entity->count(p.rig.host), 3);
    set_text(&p, "main.wind.name", "calm");
    WORKS(p.rig.host, bp_scene_restore(again, p.world, 0));
    IS(&p, "main.wind.name", "storm");
    ck_assert_uint_eq(p.rig.api->entity->count(p.rig.host), 3);
    bp_scene_close(saved);
    bp_scene_close(again);
    close_place(&p);
}
END_TEST

/* Every request for memory fails once while two worlds come back: both have what they had, or both what was saved. */
START_TEST(worlds_of_one_file_get_theirs_back_together_or_not_at_all)
{
    static const char path[] = TEST_SCRATCH_DIR "/own.bpe";
    place_t p;
    open_place(&p, 1);
    bp_world_o *second = bp_world_create(p.rig.host, &(bp_world_desc_t){.name = "second"});
    WORKS(p.rig.host, bp_world_use_component(p.world, "wind"));
    WORKS(p.rig.host, bp_world_use_component(second, "leaf"));
    WORKS(p.rig.host, bp_world_use_component(second, "wind"));
    add_leaves(&p);
    WORKS(p.rig.host, p.rig.api->world->add(second, key_of(second, "leaf", ""), p.leaves, 2));
    set_text(&p, "main.wind.name", "storm");
    set_text(&p, "second.wind.name", "gale");
    WORKS(p.rig.host, bp_host_save_worlds(p.rig.host, NULL, 0, path));
    uint64_t refused = 1, failures = 0;
    for (uint64_t number = 1; refused > 0; number++) {
        set_text(&p, "main.wind.name", "calm");
        set_text(&p, "second.wind.name", "still");
        p.rig.heap.refused = 0;
        p.rig.heap.refuse_first = p.rig.heap.refuse_last = p.rig.heap.requests + number;
        bp_result_t result = bp_host_restore_worlds(p.rig.host, NULL, 0, path, 0);
        p.rig.heap.refuse_first = p.rig.heap.refuse_last = 0;
        refused = p.rig.heap.refused;
        failures += result != BP_OK;
        EXPECT(refused > 0 || result == BP_OK, "%s", bp_host_error(p.rig.host));
        IS(&p, "main.wind.name", result == BP_OK ? "storm" : "calm");
        IS(&p, "second.wind.name", result == BP_OK ? "gale" : "still");
        ck_assert_uint_eq(p.rig.api->entity->count(p.rig.host), 3);
        check_host(p.rig.host);
    }
    ck_assert_uint_gt(failures, 3);
    close_place(&p);
}
END_TEST

START_TEST(a_host_that_goes_back_finds_it)
{
    place_t p;
    bp_snapshot_o *with, *later;
    open_place(&p, 1);
    WORKS(p.rig.host, bp_world_use_component(p.world, "wind"));
    WORKS(p.rig.host, bp_world_use_component(p.world, "tally"));
    WORKS(p.rig.host, bp_world_use_system(p.world, "blow"));
    WORKS(p.rig.host, bp_world_use_system(p.world, "turn"));
    add_leaves(&p);
    WORKS(p.rig.host, bp_host_snapshot(p.rig.host, &with));
    set_text(&p, "main.wind.name", "later");
    for (uint32_t i = 0; i < 3; i++)
        WORKS(p.rig.host, bp_world_step(p.world));
    IS(&p, "main.tally.rows", "9");
    WORKS(p.rig.host, bp_host_snapshot(p.rig.host, &later));
    WORKS(p.rig.host, bp_host_bring_back(p.rig.host, with));
    IS(&p, "main.tally.rows", "0");
    IS(&p, "main.wind.name", "breeze");
    check_host(p.rig.host);
    set_text(&p, "main.wind.name", "later");
    for (uint32_t i = 0; i < 3; i++)
        WORKS(p.rig.host, bp_world_step(p.world));
    bp_snapshot_o *again;
    WORKS(p.rig.host, bp_host_snapshot(p.rig.host, &again));
    ck_assert_uint_eq(bp_snapshot_hash(again, NULL), bp_snapshot_hash(later, NULL));
    bp_host_o *clone;
    WORKS(p.rig.host, bp_host_clone(p.rig.host, &clone));
    bp_path_t path;
    char text[32];
    WORKS(clone, bp_host_api(clone)->property->parse_path(clone, "main.tally.rows", &path));
    WORKS(clone, bp_host_api(clone)->property->get_text(&path, text, sizeof text));
    ck_assert_str_eq(text, "9");
    bp_entity_t own = bp_host_api(clone)->world->own(path.world);
    ck_assert_uint_eq(own.id, p.rig.api->world->own(p.world).id);
    bp_host_destroy(clone);
    bp_snapshot_free(with);
    bp_snapshot_free(later);
    bp_snapshot_free(again);
    close_place(&p);
}
END_TEST

/* Every request for memory fails once; then the world has it, or has not. */
START_TEST(bringing_it_in_without_memory_leaves_no_trace)
{
    uint64_t refused = 1;
    for (uint64_t number = 1; refused > 0; number++) {
        place_t p;
        open_place(&p, 1);
        WORKS(p.rig.host, bp_world_use_component(p.world, "wind"));
        char *before = describe_host(p.rig.host);
        p.rig.heap.refused = 0;
        p.rig.heap.refuse_first = p.rig.heap.refuse_last = p.rig.heap.requests + number;
        bp_result_t result = bp_world_use_component(p.world, "tally");
        p.rig.heap.refuse_first = p.rig.heap.refuse_last = 0;
        refused = p.rig.heap.refused;
        EXPECT(refused > 0 || result == BP_OK, "%s", bp_host_error(p.rig.host));
        check_host(p.rig.host);
        if (result != BP_OK)
            expect_same(before, describe_host(p.rig.host), "using a component without memory");
        else
            free(before);
        if (result != BP_OK)
            WORKS(p.rig.host, bp_world_use_component(p.world, "tally"));
        IS(&p, "main.tally.rows", "0");
        close_place(&p);
    }
}
END_TEST

/* --- reloads ------------------------------------------------------------------------------------------------------ */

static void climate_is(bp_host_o *host, const char *path, const char *text)
{
    char is[64];
    bp_path_t found;
    WORKS(host, bp_host_api(host)->property->parse_path(host, path, &found));
    WORKS(host, bp_host_api(host)->property->get_text(&found, is, sizeof is));
    ck_assert_str_eq(is, text);
}

START_TEST(a_reload_carries_it_over)
{
    static const char *const names[] = {"climate"};
    log_text_t log = {.text = ""};
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log), .flags = BP_HOST_COPY_PLUGINS});
    WORKS(host, bp_host_load_plugin(host, put_plugin("climate_first", "climate"), NULL, 0));
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    WORKS(host, bp_world_use_component(world, "climate"));
    WORKS(host, bp_world_use_system(world, "warm"));
    WORKS(host, bp_world_step(world));
    climate_is(host, "main.climate.heat", "2");
    const char *name = "harsh";
    bp_entity_t own = bp_host_api(host)->world->own(world);
    WORKS(host, bp_host_api(host)->property->set_named(world, own, "climate", "name", BP_STRING, &name));
    put_plugin("climate_reordered", "climate");
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    check_host(host);
    climate_is(host, "main.climate.warmth", "2");
    climate_is(host, "main.climate.name", "harsh");
    climate_is(host, "main.climate.storms", "7");
    WORKS(host, bp_world_step(world));
    climate_is(host, "main.climate.warmth", "4");
    put_plugin("climate_of_entities", "climate");
    SAID(host, BP_ERROR_STATE,
         "component 'climate' belongs to entities now, and world 'main' has it as one of its own; drop it there first",
         bp_host_reload(host, names, 1, NULL));
    climate_is(host, "main.climate.warmth", "4");
    WORKS(host, bp_world_step(world));
    climate_is(host, "main.climate.warmth", "6");
    check_host(host);
    WORKS(host, bp_host_unload_plugin(host, "climate"));
    ck_assert_uint_eq(bp_host_api(host)->world->own(world).id, 0);
    bp_host_destroy(host);
    EXPECT(strstr(log.text, "not given back") == NULL, "memory is kept:\n%s", log.text);
}
END_TEST

Suite *own_suite(void)
{
    Suite *suite = suite_create("own");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, a_world_has_it_for_as_long_as_it_uses_it);
    tcase_add_test(all, nothing_that_changes_entities_reaches_it);
    tcase_add_test(all, its_neighbours_in_other_worlds_can_be_destroyed);
    tcase_add_test(all, it_is_known_among_records_of_other_worlds);
    tcase_add_test(all, damage_to_what_a_world_has_of_its_own_is_found);
    tcase_add_test(all, entities_are_counted_and_listed_without_it);
    tcase_add_loop_test(all, systems_get_it_once_a_call, 0, 3);
    tcase_add_test(all, terms_say_whose_a_component_is);
    tcase_add_test(all, kept_queries_hand_it_out_and_stamp_what_they_write);
    tcase_add_test(all, steps_stamp_what_units_write_of_it);
    tcase_add_test(all, scenes_say_what_the_world_has);
    tcase_add_test(all, what_a_scene_gives_the_world_counts_as_written);
    tcase_add_test(all, scenes_are_refused_that_mix_worlds_and_entities);
    tcase_add_test(all, a_saved_world_comes_back_with_it);
    tcase_add_test(all, worlds_of_one_file_get_theirs_back_together_or_not_at_all);
    tcase_add_test(all, a_host_that_goes_back_finds_it);
    tcase_add_test(all, bringing_it_in_without_memory_leaves_no_trace);
    tcase_add_test(all, a_reload_carries_it_over);
    suite_add_tcase(suite, all);
    return suite;
}
