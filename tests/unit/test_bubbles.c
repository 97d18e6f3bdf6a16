/* test_bubbles.c - the plugin bubbles against the plain rule, bit for bit.
 *
 * The rule is written down here once more, as simply as it can be: no grid, no blocks, no vectors; every
 * sprite meets every bubble. Worlds are small and crowded, so that most sprites hit something at most steps,
 * and they start from values that this file draws; what the plugin itself places is judged by what was
 * promised of it.
 */
#include "support.h"

#include "../suites.h"
#include "inspect.h"

#include <bp_message.h>
#include <components/sprite.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

extern const bp_plugin_head_t bp_plugin_bubbles;

static const bp_plugin_head_t *const plugins[] = {&bp_plugin_bubbles};
static const char *const systems[] = {"bubbles_place", "bubbles_move",  "bubbles_find",
                                      "bubbles_avoid", "bubbles_frame", "bubbles_draw"};
static const char *const components[] = {"position", "move", "sprite", "avoid", "bubble"};

/* --- a world -------------------------------------------------------------------------------------------- */

static rig_t rig;
static bp_world_o *world;

static void make_world(double step_rate)
{
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main", .step_rate = step_rate});
    ck_assert_ptr_nonnull(world);
    for (uint32_t i = 0; i < COUNT(components); i++)
        WORKS(rig.host, bp_world_use_component(world, components[i]));
    for (uint32_t i = 0; i < COUNT(systems); i++)
        WORKS(rig.host, bp_world_use_system(world, systems[i]));
}

static void open_with(const char *low, const char *high, const char *seed, double step_rate)
{
    const bp_option_t options[] = {{.name = "low", .value = low}, {.name = "high", .value = high},
                                   {.name = "seed", .value = seed}};
    rig.desc.static_plugins = plugins;
    rig.desc.static_plugin_count = COUNT(plugins);
    rig_open(&rig);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "bubbles", options, COUNT(options)));
    make_world(step_rate);
}

static void begin(void)
{
    rig_init(&rig);
    open_with("-8 -5", "8 5", "1", 60);
}

static void end(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

static void step(void)
{
    WORKS(rig.host, bp_world_step(world));
}

static void make(const char *last, bp_entity_t *entities, uint32_t count)
{
    uint32_t prototype = prototype_of(world, "position", "move", "sprite", last);
    WORKS(rig.host, rig.api->world->create(world, prototype, entities, count));
}

static void put(bp_entity_t e, const char *component, const char *property, float value)
{
    WORKS(rig.host, rig.api->property->set_named(world, e, component, property, BP_F32, &value));
}

static float get(bp_entity_t e, const char *component, const char *property)
{
    float value = 0;
    WORKS(rig.host, rig.api->property->get_named(world, e, component, property, BP_F32, &value));
    return value;
}

static void put_all(bp_entity_t e, float x, float y, float vx, float vy)
{
    put(e, "position", "x", x);
    put(e, "position", "y", y);
    put(e, "move", "x", vx);
    put(e, "move", "y", vy);
}

static void put_colour(bp_entity_t e, bp_vec3_t colour)
{
    WORKS(rig.host, rig.api->property->set_named(world, e, "sprite", "colour", BP_VEC3, &colour));
}

static void expect_place(bp_entity_t e, float x, float y, float vx, float vy)
{
    float is[4] = {get(e, "position", "x"), get(e, "position", "y"), get(e, "move", "x"),
                   get(e, "move", "y")};
    const float wanted[4] = {x, y, vx, vy};
    EXPECT(memcmp(is, wanted, sizeof is) == 0,
           "at %.9g %.9g with %.9g %.9g instead of %.9g %.9g with %.9g %.9g", (double)is[0], (double)is[1],
           (double)is[2], (double)is[3], (double)x, (double)y, (double)vx, (double)vy);
}

static bp_sprite_t *frame_of(uint32_t *count)
{
    const bp_sprite_api *sprites = rig.api->registry->find(rig.host, BP_SPRITE_API, 1);
    ck_assert_ptr_nonnull(sprites);
    bp_manager_t *m = rig.api->world->manager(world, rig.api->world->component(world, BP_SPRITE));
    return (bp_sprite_t *)(uintptr_t)sprites->frame(m, count);
}

/* --- the rule ------------------------------------------------------------------------------------------- */

typedef struct rule_t {
    float x, y, vx, vy, scale, distance;
    bp_vec3_t colour;
    int32_t index;
    bool avoids;
} rule_t;

static void rule_move(rule_t *r, float dt, bp_vec2_t low, bp_vec2_t high)
{
    r->x += r->vx * dt;
    r->y += r->vy * dt;
    if (r->x < low.x)
        r->vx = -r->vx, r->x = low.x;
    if (r->x > high.x)
        r->vx = -r->vx, r->x = high.x;
    if (r->y < low.y)
        r->vy = -r->vy, r->y = low.y;
    if (r->y > high.y)
        r->vy = -r->vy, r->y = high.y;
}

static uint32_t rule_avoid(rule_t *r, const rule_t *bubble, float dt)
{
    float dx = r->x - bubble->x, dy = r->y - bubble->y;
    if (!(dx * dx + dy * dy < bubble->distance * bubble->distance))
        return 0;
    r->vx = -r->vx;
    r->vy = -r->vy;
    r->x += r->vx * dt * 1.1f;
    r->y += r->vy * dt * 1.1f;
    r->colour = bubble->colour;
    return 1;
}

/* Bubbles are the first `bubbles` of all. Returns how often a sprite turned back. */
static uint32_t rule_step(rule_t *all, uint32_t bubbles, uint32_t count, float dt, bp_vec2_t low,
                          bp_vec2_t high)
{
    uint32_t turned = 0;
    for (uint32_t i = 0; i < count; i++)
        rule_move(&all[i], dt, low, high);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < bubbles && all[i].avoids; k++)
            turned += rule_avoid(&all[i], &all[k], dt);
    }
    return turned;
}

/* --- both ----------------------------------------------------------------------------------------------- */

enum { MOST = 50000 };
static rule_t rules[MOST];
static bp_entity_t entities[MOST];
static uint32_t total, bubble_count;

static float draw(uint64_t *random, float low, float high)
{
    return low + (high - low) * ((float)bp_random_below(random, 1 << 24) / (float)(1 << 24));
}

/* Bubbles and sprites at random, a little beyond the bounds too, with values of any digits. */
static void fill(uint64_t *random, uint32_t bubbles, uint32_t sprites, float distance, bp_vec2_t low,
                 bp_vec2_t high)
{
    bubble_count = bubbles;
    total = bubbles + sprites;
    ck_assert_uint_le(total, MOST);
    make("bubble", entities, bubbles);
    make("avoid", entities + bubbles, sprites);
    for (uint32_t i = 0; i < total; i++) {
        bool bubble = i < bubbles;
        rule_t *r = &rules[i];
        *r = (rule_t){.x = draw(random, low.x * 1.1f, high.x * 1.1f),
                      .y = draw(random, low.y * 1.1f, high.y * 1.1f),
                      .vx = draw(random, -2, 2),
                      .vy = draw(random, -2, 2),
                      .scale = 1,
                      .distance = bubble ? draw(random, 0, 2) * distance : 0,
                      .colour = {1, 1, 1},
                      .avoids = !bubble};
        if (bubble)
            r->colour = (bp_vec3_t){draw(random, 0, 1), draw(random, 0, 1), draw(random, 0, 1)};
    }
}

/* Give the engine's entities the values of the rule's, column by column. */
static void set_column(const char *component, const char *name, size_t offset, uint32_t first, uint32_t count)
{
    bp_property_t property;
    if (count == 0)
        return;
    WORKS(rig.host, rig.api->property->resolve(world, entities[first], component, name, &property));
    WORKS(rig.host, rig.api->property->set(world, &property, entities + first, count,
                                           (const char *)&rules[first] + offset, sizeof(rule_t)));
}

static void set_all(uint32_t bubbles)
{
    set_column("position", "x", offsetof(rule_t, x), 0, total);
    set_column("position", "y", offsetof(rule_t, y), 0, total);
    set_column("move", "x", offsetof(rule_t, vx), 0, total);
    set_column("move", "y", offsetof(rule_t, vy), 0, total);
    set_column("sprite", "colour", offsetof(rule_t, colour), 0, total);
    set_column("sprite", "index", offsetof(rule_t, index), 0, total);
    set_column("sprite", "scale", offsetof(rule_t, scale), 0, total);
    set_column("bubble", "distance", offsetof(rule_t, distance), 0, bubbles);
}

static bool same_float(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* The frame shows all of the rule's entities, in their order, with all bits. */
static void expect_frame(float zoom)
{
    uint32_t count;
    const bp_sprite_t *frame = frame_of(&count);
    ck_assert_uint_eq(count, total);
    for (uint32_t i = 0; i < total; i++) {
        const bp_sprite_t *s = &frame[i];
        const rule_t *r = &rules[i];
        bool same = same_float(s->x, r->x * zoom) && same_float(s->y, r->y * zoom) &&
                    same_float(s->scale, r->scale * zoom) && same_float(s->red, r->colour.x) &&
                    same_float(s->green, r->colour.y) && same_float(s->blue, r->colour.z) &&
                    same_float(s->index, (float)r->index);
        EXPECT(same, "sprite %u of %u is %.9g %.9g (%g %g %g) instead of %.9g %.9g (%g %g %g)", i, total,
               (double)s->x, (double)s->y, (double)s->red, (double)s->green, (double)s->blue,
               (double)(r->x * zoom), (double)(r->y * zoom), (double)r->colour.x, (double)r->colour.y,
               (double)r->colour.z);
    }
}

static void expect_velocities(void)
{
    for (uint32_t i = 0; i < total; i++) {
        float vx = get(entities[i], "move", "x"), vy = get(entities[i], "move", "y");
        EXPECT(same_float(vx, rules[i].vx) && same_float(vy, rules[i].vy), "sprite %u goes %g %g, not %g %g",
               i, (double)vx, (double)vy, (double)rules[i].vx, (double)rules[i].vy);
    }
}

static const bp_vec2_t small_low = {-8, -5}, small_high = {8, 5};

/* Both do `steps` steps and agree after each. Returns how often a sprite turned back. */
static uint32_t run_both(uint32_t steps, double step_rate, bp_vec2_t low, bp_vec2_t high)
{
    uint32_t turned = 0;
    for (uint32_t i = 0; i < steps; i++) {
        step();
        turned += rule_step(rules, bubble_count, total, (float)(1.0 / step_rate), low, high);
        expect_frame(0.05f);
    }
    expect_velocities();
    return turned;
}

/* --- against the rule ----------------------------------------------------------------------------------- */

START_TEST(steps_are_those_of_the_rule_bit_for_bit)
{
    static const uint32_t bubbles[] = {0, 1, 2, 20, 7}, sprites[] = {1, 3, 64, 500, 1025};
    static const double rates[] = {60, 1, 7, 60, 30};
    uint64_t random = (uint64_t)_i + 1;
    uint32_t shape = (uint32_t)_i % COUNT(bubbles);
    rig_init(&rig);
    open_with("-8 -5", "8 5", "1", rates[shape]);
    fill(&random, bubbles[shape], sprites[shape], 1.3f, small_low, small_high);
    set_all(bubbles[shape]);
    uint32_t turned = run_both(60, rates[shape], small_low, small_high);
    ck_assert(bubbles[shape] < 2 || turned > 0);
    end();
}
END_TEST

/* 300 bubbles, each larger than the world, do not fit a fine grid; those of the second round hardly
 * overlap. */
START_TEST(many_and_huge_bubbles_change_nothing_but_the_grid)
{
    uint64_t random = 77;
    begin();
    fill(&random, 300, 100, _i == 0 ? 20 : 0.3f, small_low, small_high);
    set_all(300);
    ck_assert_uint_gt(run_both(20, 60, small_low, small_high), 100);
    end();
}
END_TEST

START_TEST(what_is_no_number_hits_nothing_and_breaks_nothing)
{
    uint64_t random = 5;
    begin();
    fill(&random, 6, 60, 1, small_low, small_high);
    rules[1].x = NAN;
    rules[2].vy = INFINITY;
    rules[3].distance = INFINITY;
    rules[4].x = -INFINITY;
    rules[10].x = rules[11].y = NAN;
    rules[12].vx = INFINITY;
    rules[13].vy = -INFINITY;
    rules[14].x = 3e38f, rules[14].vx = 3e38f;
    rules[15].vx = NAN;
    /* By the columns themselves: properties refuse what is not finite. */
    set_all(6);
    for (uint32_t t = 0; t < 3; t++) {
        const char *const types[] = {"position", "move", "bubble"};
        uint32_t cursor = 0, at = 0;
        bp_run_t run;
        while (next_run(world, rig.api->world->component(world, types[t]), &cursor, &run) !=
               0) {
            for (uint32_t i = 0; i < run.count; i++, at++) {
                BP_COLUMN(&run, float, 0)
                [i] = t == 0   ? rules[at].x
                      : t == 1 ? rules[at].vx
                               : rules[at].distance;
                if (t < 2)
                    BP_COLUMN(&run, float, 1)[i] = t == 0 ? rules[at].y : rules[at].vy;
            }
        }
    }
    run_both(10, 60, small_low, small_high);
    end();
}
END_TEST

/* Large enough to be cut into ranges, and for the frame to be written past the caches. */
START_TEST(threads_change_nothing)
{
    uint64_t random = 9;
    rig_init(&rig);
    rig.desc.threads = (uint32_t)_i;
    rig.desc.allocator = NULL;
    open_with("-80 -50", "80 50", "1", 60);
    fill(&random, 20, MOST - 20, 1.3f, (bp_vec2_t){-80, -50}, (bp_vec2_t){80, 50});
    set_all(20);
    ck_assert_uint_gt(run_both(3, 60, (bp_vec2_t){-80, -50}, (bp_vec2_t){80, 50}), 100);
    end();
}
END_TEST

/* A world that wants to know is told of just the bounces of the rule, on any number of threads: by the count of
 * bubbles_count, and by an end of another, which reads who it was. */
START_TEST(bounces_are_told_and_counted)
{
    struct heard { const bp_entity_t *who; };
    static const bp_term_field_t heard[] = {{BP_FIELD_OF(struct heard, who)}};
    const bp_term_field_list_t fields = BP_LIST(heard);
    const bp_vec2_t low = {-80, -50}, high = {80, 50};
    uint64_t random = 9, total_told = 0, total_turned = 0;
    uint32_t turned = 0, last;
    bp_channel_o *channel;
    rig_init(&rig);
    rig.desc.threads = (uint32_t)_i;
    rig.desc.allocator = NULL;
    open_with("-80 -50", "80 50", "1", 60);
    const bp_message_api *messages = rig.api->registry->find(rig.host, BP_MESSAGE_API, 1);
    WORKS(rig.host, messages->open(world, NULL, "bounces", &fields, &channel));
    fill(&random, 20, 20000, 1.3f, low, high);
    set_all(20);
    bp_messages_t told = {.struct_size = sizeof told};
    step();
    rule_step(rules, bubble_count, total, (float)(1.0 / 60), low, high);
    messages->read(channel, &told);
    ck_assert_uint_eq(told.count, 0); /* the world does not have `bounces` */
    WORKS(rig.host, bp_world_use_component(world, "bounces"));
    WORKS(rig.host, bp_world_use_system(world, "bubbles_count"));
    bp_entity_t own = rig.api->world->own(world);
    for (uint32_t i = 0; i < 5; i++) {
        step();
        WORKS(rig.host, rig.api->property->get_named(world, own, "bounces", "last", BP_U32, &last));
        ck_assert_uint_eq(last, turned); /* of the step before */
        turned = rule_step(rules, bubble_count, total, (float)(1.0 / 60), low, high);
        total_turned += turned;
        messages->read(channel, &told);
        ck_assert_uint_eq(told.count, turned);
        for (uint32_t k = 0; k < told.count; k++) {
            bp_entity_t who = *(const bp_entity_t *)bp_message_value(&told, k, 0);
            EXPECT(rig.api->world->has(world, key_of(world, "avoid", ""), &who, 1, NULL) == 1, "nobody bounced");
        }
    }
    ck_assert_uint_gt(total_turned, 100);
    step();
    WORKS(rig.host, rig.api->property->get_named(world, own, "bounces", "total", BP_U64, &total_told));
    ck_assert_uint_eq(total_told, total_turned);
    messages->close(channel);
    end();
}
END_TEST

/* --- edges and corners ---------------------------------------------------------------------------------- */

START_TEST(who_stands_on_an_edge_goes_on_and_who_is_beyond_comes_back)
{
    const float dt = (float)(1.0 / 60);
    begin();
    make("avoid", entities, 5);
    put_all(entities[0], 8, 5, 0, 0);            /* in the corner, at rest */
    put_all(entities[1], 8 - 3 * dt, 0, 3, 0);   /* arrives at the edge, or a rounding beside it */
    put_all(entities[2], 8, 5, 2, 3);            /* beyond both edges */
    put_all(entities[3], 0, 0, -6000, 24000);    /* across the whole world and farther */
    put_all(entities[4], -1000, 0.5f, 0, 0);     /* was outside all along */
    step();
    float arrived = 8 - 3 * dt + 3 * dt;
    expect_place(entities[0], 8, 5, 0, 0);
    expect_place(entities[1], arrived > 8 ? 8 : arrived, 0, arrived > 8 ? -3 : 3, 0);
    expect_place(entities[2], 8, 5, -2, -3);
    expect_place(entities[3], -8, 5, 6000, -24000);
    expect_place(entities[4], -8, 0.5f, -0.0f, 0);
    step();
    expect_place(entities[2], 8 + -2 * dt, 5 + -3 * dt, -2, -3);
    end();
}
END_TEST

START_TEST(who_is_inside_two_bubbles_turns_twice_and_keeps_the_second_colour)
{
    const bp_vec3_t red = {1, 0, 0}, blue = {0, 0, 0.5f};
    const float dt = (float)(1.0 / 60);
    bp_entity_t bubbles[2], e[2];
    bp_vec3_t colour;
    begin();
    make("bubble", bubbles, 2);
    make("avoid", e, 2);
    for (uint32_t i = 0; i < 2; i++)
        put_all(bubbles[i], i == 0 ? -0.5f : 0.5f, 0, 0, 0);
    put_colour(bubbles[0], red);
    put_colour(bubbles[1], blue);
    put_all(e[0], 0.125f, 0, 0.5f, 0.25f);
    put_all(e[1], 4, 0, 0.5f, 0.25f); /* in neither */
    step();
    float x = 0.125f + 0.5f * dt, y = 0.25f * dt;
    x += -0.5f * dt * 1.1f, y += -0.25f * dt * 1.1f;
    x += 0.5f * dt * 1.1f, y += 0.25f * dt * 1.1f;
    expect_place(e[0], x, y, 0.5f, 0.25f);
    WORKS(rig.host, rig.api->property->get_named(world, e[0], "sprite", "colour", BP_VEC3, &colour));
    ck_assert_mem_eq(&colour, &blue, sizeof blue);
    WORKS(rig.host, rig.api->property->get_named(world, e[1], "sprite", "colour", BP_VEC3, &colour));
    ck_assert(colour.x == 1 && colour.y == 1 && colour.z == 1);
    end();
}
END_TEST

START_TEST(who_is_just_as_far_as_the_distance_does_not_turn)
{
    bp_entity_t bubble, e[2];
    begin();
    make("bubble", &bubble, 1);
    make("avoid", e, 2);
    put_all(bubble, 1, 1, 0, 0);
    put(bubble, "bubble", "distance", 2);
    put_all(e[0], 3, 1, 0, 0);
    put_all(e[1], nextafterf(3, 0), 1, 0, 0);
    put(e[0], "move", "x", 1e-9f); /* not enough to change its place */
    put(e[1], "move", "x", 1e-9f);
    step();
    ck_assert(get(e[0], "move", "x") > 0);
    ck_assert(get(e[1], "move", "x") < 0);
    end();
}
END_TEST

/* --- placing -------------------------------------------------------------------------------------------- */

static void expect_placed(bp_entity_t e, float width, float height, float slowest, float fastest)
{
    float x = get(e, "position", "x"), y = get(e, "position", "y");
    float vx = get(e, "move", "x"), vy = get(e, "move", "y"), speed = sqrtf(vx * vx + vy * vy),
          dt = 1.0f / 60;
    EXPECT(fabsf(x) <= width + fastest * dt && fabsf(y) <= height + fastest * dt, "it is at %g %g", (double)x,
           (double)y);
    EXPECT(speed > slowest * 0.9999f && speed < fastest * 1.0001f, "its speed is %g", (double)speed);
}

START_TEST(what_is_nowhere_is_placed_at_the_first_step_as_promised)
{
    uint32_t looks[5] = {0}, directions[4] = {0};
    begin();
    make("bubble", entities, 30);
    make("avoid", entities + 30, 3000);
    put_all(entities[40], 0, 0, 0, 0.125f);
    put_all(entities[41], 1, 2, 0, 0);
    step();
    for (uint32_t i = 0; i < 3030; i++) {
        int32_t index;
        WORKS(rig.host, rig.api->property->get_named(world, entities[i], "sprite", "index", BP_I32, &index));
        if (i == 40 || i == 41)
            continue;
        expect_placed(entities[i], i < 30 ? 1.6f : 8, i < 30 ? 1.0f : 5, i < 30 ? 0.1f : 0.5f,
                      i < 30 ? 0.2f : 0.7f);
        ck_assert(index >= 0 && index < 5 && (i >= 30 || index == 0));
        looks[index] += i >= 30;
        directions[2 * (get(entities[i], "move", "x") < 0) + (get(entities[i], "move", "y") < 0)]++;
    }
    for (uint32_t k = 0; k < 5; k++)
        ck_assert(looks[k] > 450 && looks[k] < 750);
    for (uint32_t k = 0; k < 4; k++)
        ck_assert(directions[k] > 600 && directions[k] < 900);
    ck_assert(get(entities[41], "position", "x") == 1 && get(entities[41], "move", "x") == 0);
    end();
}
END_TEST

START_TEST(who_comes_later_or_comes_to_rest_is_left_where_it_is)
{
    begin();
    step();
    make("avoid", entities, 1);
    step();
    expect_place(entities[0], 0, 0, 0, 0);
    end();
}
END_TEST

/* The frame, for the caller to free; and the end of the world. */
static bp_sprite_t *copy_frame(uint32_t *count)
{
    const bp_sprite_t *frame = frame_of(count);
    bp_sprite_t *copy = malloc(*count * sizeof *copy);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, frame, *count * sizeof *copy);
    end();
    return copy;
}

/* The frame after 20 steps with a seed. */
static bp_sprite_t *play(const char *seed, uint32_t threads, uint32_t *count)
{
    rig_init(&rig);
    rig.desc.threads = threads;
    rig.desc.allocator = NULL;
    open_with("-8 -5", "8 5", seed, 60);
    make("bubble", entities, 20);
    make("avoid", entities + 20, 20000);
    for (uint32_t i = 0; i < 20; i++)
        step();
    return copy_frame(count);
}

START_TEST(a_seed_gives_one_game_on_any_number_of_threads)
{
    uint32_t count[3];
    bp_sprite_t *first = play("3", 1, &count[0]), *again = play("3", 2, &count[1]),
                *other = play("4", 1, &count[2]);
    ck_assert_uint_eq(count[0], 20020);
    ck_assert_uint_eq(count[1], 20020);
    ck_assert(memcmp(first, again, 20020 * sizeof *first) == 0);
    ck_assert(memcmp(first, other, 20020 * sizeof *first) != 0);
    free(first);
    free(again);
    free(other);
}
END_TEST

/* The plugin from its file, reloaded after so many steps; 0: never. */
static bp_sprite_t *play_reloaded(uint32_t after, uint32_t *count)
{
    const char *const name = "bubbles";
    rig_init(&rig);
    rig.desc.allocator = NULL;
    rig.desc.flags = BP_HOST_CRASH_GUARD | BP_HOST_COPY_PLUGINS | BP_HOST_TRIAL;
    rig_open(&rig);
    WORKS(rig.host, bp_host_load_plugin(rig.host, TEST_PLUGIN_DIR "/bubbles", NULL, 0));
    make_world(60);
    WORKS(rig.host, bp_world_use_component(world, "bounces"));
    WORKS(rig.host, bp_world_use_system(world, "bubbles_count"));
    make("bubble", entities, 20);
    make("avoid", entities + 20, 20000);
    for (uint32_t i = 0; i < 10; i++) {
        if (i == after && i > 0) {
            WORKS(rig.host, bp_host_reload(rig.host, &name, 1, NULL));
            frame_of(count);
            ck_assert_uint_eq(*count, 20020); /* a plugin that draws before the next step has a frame */
        }
        step();
    }
    rig.log = (log_text_t){.count = 0};
    return copy_frame(count);
}

/* Nor does its trial find that a loop goes beyond its rows. */
START_TEST(a_reload_changes_nothing)
{
    uint32_t count[2];
    bp_sprite_t *first = play_reloaded(0, &count[0]), *second = play_reloaded(4, &count[1]);
    ck_assert_uint_eq(count[0], 20020);
    ck_assert_uint_eq(count[1], 20020);
    ck_assert(memcmp(first, second, 20020 * sizeof *first) == 0);
    free(first);
    free(second);
}
END_TEST

/* --- frames --------------------------------------------------------------------------------------------- */

/* Runs of every length, so that each begins at another place within 16 bytes. */
START_TEST(frames_are_packed_whatever_the_runs)
{
    begin();
    uint32_t parts[3] = {1 + (uint32_t)_i, 6, 9};
    uint32_t still = prototype_of(world, "position", "sprite", NULL, NULL);
    make("bubble", entities, parts[0]);
    make("avoid", entities + parts[0], parts[1]);
    WORKS(rig.host, rig.api->world->create(world, still, entities + parts[0] + parts[1], parts[2]));
    total = parts[0] + parts[1] + parts[2];
    for (uint32_t i = 0; i < total; i++) {
        rules[i] = (rule_t){.x = (float)i - 6,
                            .y = (float)i / 8,
                            .scale = (float)i,
                            .distance = 0,
                            .index = (int32_t)i,
                            .colour = {(float)i / 32, 0, 1},
                            .vx = 1e-9f};
        put(entities[i], "position", "x", rules[i].x);
        put(entities[i], "position", "y", rules[i].y);
    }
    set_column("sprite", "colour", offsetof(rule_t, colour), 0, total);
    set_column("sprite", "index", offsetof(rule_t, index), 0, total);
    set_column("sprite", "scale", offsetof(rule_t, scale), 0, total);
    set_column("move", "x", offsetof(rule_t, vx), 0, parts[0] + parts[1]);
    set_column("bubble", "distance", offsetof(rule_t, distance), 0, parts[0]);
    step();
    for (uint32_t i = 0; i < total; i++)
        rules[i].x = get(entities[i], "position", "x");
    expect_frame(0.05f);
    end();
}
END_TEST

START_TEST(a_large_frame_has_every_sprite)
{
    enum { SPRITES = 160001 };
    uint32_t count;
    bp_entity_t *many = malloc(SPRITES * sizeof *many);
    rig_init(&rig);
    rig.desc.allocator = NULL;
    open_with("-80 -50", "80 50", "1", 60);
    ck_assert_ptr_nonnull(many);
    make("bubble", many, 1);
    make("avoid", many + 1, SPRITES - 1);
    step();
    const bp_sprite_t *frame = frame_of(&count);
    ck_assert_uint_eq(count, SPRITES);
    for (uint32_t i = 0; i < SPRITES; i += 1 + i / 64) {
        float x = get(many[i], "position", "x") * 0.05f, y = get(many[i], "position", "y") * 0.05f;
        EXPECT(frame[i].x == x && frame[i].y == y && frame[i].scale == 0.05f, "sprite %u", i);
    }
    free(many);
    end();
}
END_TEST

START_TEST(the_dead_leave_the_frame)
{
    uint32_t count;
    begin();
    ck_assert_ptr_null(frame_of(&count));
    ck_assert_uint_eq(count, 0);
    make("bubble", entities, 3);
    make("avoid", entities + 3, 97);
    step();
    rig.api->entity->destroy(rig.host, entities + 1, 50);
    step();
    const bp_sprite_t *frame = frame_of(&count);
    ck_assert_uint_eq(count, 50);
    ck_assert(frame[0].x == get(entities[0], "position", "x") * 0.05f);
    rig.api->entity->destroy(rig.host, entities, 100);
    step();
    ck_assert_ptr_null(frame_of(&count));
    end();
}
END_TEST

/* --- what can go wrong ---------------------------------------------------------------------------------- */

START_TEST(a_world_without_room_and_a_system_without_its_component_are_refused)
{
    const bp_option_t flat[] = {{.name = "low", .value = "0 0"}, {.name = "high", .value = "10 0"}};
    rig_open_with(&rig, plugins, COUNT(plugins));
    FAILS(rig.host, BP_ERROR_RANGE, "`low`", bp_host_load_plugin(rig.host, "bubbles", flat, COUNT(flat)));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "bubbles", NULL, 0));
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "'bubble'", bp_world_use_system(world, "bubbles_avoid"));
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "'sprite'", bp_world_use_system(world, "bubbles_draw"));
    end();
}
END_TEST

/* Every request for memory of two steps fails once: the step goes on, the log says what is missing, and
 * the next one is whole again. */
START_TEST(out_of_memory_leaves_a_step_without_frame_or_grid_and_no_more)
{
    uint32_t count, failures = 0;
    for (uint64_t request = 1; request < 40; request++) {
        begin();
        make("bubble", entities, 20);
        make("avoid", entities + 20, 80);
        rig.heap.refused = 0;
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + request;
        bp_result_t result = bp_world_step(world);
        rig.heap.refuse_first = 0;
        failures += rig.heap.refused > 0;
        if (rig.heap.refused > 0 && result == BP_OK)
            ck_assert_msg(strstr(rig.log.text, "out of memory") != NULL, "%s", rig.log.text);
        step();
        frame_of(&count);
        ck_assert_uint_eq(count, 100);
        rig.log = (log_text_t){.count = 0};
        end();
    }
    ck_assert_uint_gt(failures, 4);
}
END_TEST

Suite *bubbles_suite(void)
{
    Suite *suite = suite_create("bubbles");
    TCase *rule = tcase_create("rule");
    tcase_add_loop_test(rule, steps_are_those_of_the_rule_bit_for_bit, 0, 15);
    tcase_add_loop_test(rule, many_and_huge_bubbles_change_nothing_but_the_grid, 0, 2);
    tcase_add_test(rule, what_is_no_number_hits_nothing_and_breaks_nothing);
    tcase_add_loop_test(rule, threads_change_nothing, 1, 4);
    tcase_add_loop_test(rule, bounces_are_told_and_counted, 1, 4);
    suite_add_tcase(suite, rule);
    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, who_stands_on_an_edge_goes_on_and_who_is_beyond_comes_back);
    tcase_add_test(edges, who_is_inside_two_bubbles_turns_twice_and_keeps_the_second_colour);
    tcase_add_test(edges, who_is_just_as_far_as_the_distance_does_not_turn);
    suite_add_tcase(suite, edges);
    TCase *placing = tcase_create("placing");
    tcase_add_test(placing, what_is_nowhere_is_placed_at_the_first_step_as_promised);
    tcase_add_test(placing, who_comes_later_or_comes_to_rest_is_left_where_it_is);
    tcase_add_test(placing, a_seed_gives_one_game_on_any_number_of_threads);
    tcase_add_test(placing, a_reload_changes_nothing);
    suite_add_tcase(suite, placing);
    TCase *frames = tcase_create("frames");
    tcase_add_loop_test(frames, frames_are_packed_whatever_the_runs, 0, 5);
    tcase_add_test(frames, a_large_frame_has_every_sprite);
    tcase_add_test(frames, the_dead_leave_the_frame);
    suite_add_tcase(suite, frames);
    TCase *limits = tcase_create("limits");
    tcase_add_test(limits, a_world_without_room_and_a_system_without_its_component_are_refused);
    tcase_add_test(limits, out_of_memory_leaves_a_step_without_frame_or_grid_and_no_more);
    suite_add_tcase(suite, limits);
    return suite;
}
