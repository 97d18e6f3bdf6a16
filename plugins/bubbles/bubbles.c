/* bubbles.c - the plugin bubbles: sprites that wander, bounce off the edges of their world and off bubbles,
 * and take the colour of the bubble they bounced off.
 *
 * The game is that of A. Pranckevicius, "Entity Component Systems & Data Oriented Design" (Unity Training Academy,
 * 2018). Its slides turn the game from objects into arrays; every rule and number here is theirs. Entities are data:
 * `position`, `move` and `sprite` for all, `avoid` for the sprites that bounce, `bubble` for the things that they
 * bounce off. A step runs these systems, in this order:
 *
 *   bubbles_place   gives entities without place and speed both, at the first step      (place.c)
 *   bubbles_move    position += velocity * dt, and back from the edges                  (move.c)
 *   bubbles_find a grid of the bubbles' places (grid.c)
 *   bubbles_avoid   sprites bounce off bubbles                                          (avoid.c)
 *   bubbles_frame   room for the sprites of this frame                                  (frame.c)
 *   bubbles_draw    the sprites of this frame                                           (draw.c)
 *
 * A world may have `bounces` of its own: then bounces are told to other plugins, and bubbles_count counts them
 * (bounce.c).
 *
 * Coordinates are columns of their own rather than vectors, so that every loop runs over full vectors of the
 * processor. Rows of dead sprites are collected at once: then every row is a sprite, and no loop has to test for holes.
 */
#include "bubbles.h"

#include <stdio.h>

static const bp_field_t position_fields[] = {
    {.name = "x", .type = BP_F32},
    {.name = "y", .type = BP_F32},
};

static const bp_field_t move_fields[] = {
    {.name = "x", .type = BP_F32, .doc = "change of position.x in a unit of time"},
    {.name = "y", .type = BP_F32, .doc = "change of position.y in a unit of time"},
};

static const bp_field_t sprite_fields[] = {
    {.name = "colour", .type = BP_VEC3, .initial = "1 1 1", .min = "0", .max = "1", .doc = "red, green and blue"},
    {.name = "index", .type = BP_I32, .min = "0", .doc = "which picture of the atlas"},
    {.name = "scale", .type = BP_F32, .initial = "1", .min = "0", .doc = "how wide"},
};

static const bp_field_t bubble_fields[] = {
    {.name = "distance", .type = BP_F32, .initial = "1.3", .min = "0",
     .doc = "from its middle; what comes nearer bounces off"},
};

static const bp_field_t bounces_fields[] = {
    {BP_FIELD_OF(struct bounces, total), .doc = "off bubbles, up to the step before the last"},
    {BP_FIELD_OF(struct bounces, last), .doc = "of these, in the step before the last"},
};

static const bp_component_i components[] = {
    {.name = "position", .doc = "a place in the plane", .version = 1, .flags = BP_COMPONENT_SINGLE,
     .fields = BP_LIST(position_fields)},
    {.name = "move", .doc = "a velocity, mirrored at the edges of the world", .version = 1,
     .flags = BP_COMPONENT_SINGLE, .fields = BP_LIST(move_fields)},
    {.name = BP_SPRITE, .doc = "what is drawn at the place", .version = 1,
     .flags = BP_COMPONENT_SINGLE | BP_COMPONENT_AT_ONCE, .fields = BP_LIST(sprite_fields),
     .start = bubbles_frame_start, .stop = bubbles_frame_stop,
     .state_form = BP_STATE_FORM(bubbles_frame_form_t, 1), .keeps = BP_KEEP_ANEW},
    {.name = "avoid", .doc = "it bounces off bubbles", .version = 1, .flags = BP_COMPONENT_SINGLE},
    {.name = "bubble", .doc = "what has `avoid` bounces off it", .version = 1,
     .flags = BP_COMPONENT_SINGLE | BP_COMPONENT_AT_ONCE, .fields = BP_LIST(bubble_fields),
     .start = bubbles_grid_start, .stop = bubbles_grid_stop,
     .state_form = BP_STATE_FORM(bubbles_grid_form_t, 1), .keeps = BP_KEEP_ANEW},
    {.name = "bounces", .doc = "how often sprites have bounced off bubbles; bounces are told where a world has this",
     .version = 1, .flags = BP_COMPONENT_WORLD, .fields = BP_LIST(bounces_fields)},
};

static const bp_field_t options[] = {
    [OPTION_LOW] = {.name = "low", .type = BP_VEC2, .initial = "-80 -50",
                    .doc = "the lower left corner of the world"},
    [OPTION_HIGH] = {.name = "high", .type = BP_VEC2, .initial = "80 50", .doc = "the upper right one"},
    [OPTION_SEED] = {.name = "seed", .type = BP_U32, .initial = "1",
                     .doc = "of places, directions, speeds and colours"},
    [OPTION_SPEED] = {.name = "speed", .type = BP_VEC2, .initial = "0.5 0.7", .min = "0",
                      .doc = "least and greatest, of what is no bubble"},
    [OPTION_BUBBLE_SPEED] = {.name = "bubble_speed", .type = BP_VEC2, .initial = "0.1 0.2", .min = "0",
                             .doc = "least and greatest, of a bubble"},
    [OPTION_BUBBLE_SPREAD] = {.name = "bubble_spread", .type = BP_F32, .initial = "0.2", .min = "0",
                              .max = "1", .doc = "the part of the world in which bubbles are placed"},
    [OPTION_LOOKS] = {.name = "looks", .type = BP_U32, .initial = "5", .min = "1", .max = "65536",
                      .doc = "pictures from which sprite.index is drawn, of what is no bubble"},
    [OPTION_ZOOM] = {.name = "zoom", .type = BP_F32, .initial = "0.05", .min = "0",
                     .doc = "lengths in the frame are those of the world times this"},
};

/* --- systems -------------------------------------------------------------------------------------------- */

bp_result_t bubbles_use_manager(bp_system_t *s, const char *component)
{
    char text[128];
    uint32_t number = s->api->world->component(s->world, component);
    if (number == BP_NONE) {
        snprintf(text, sizeof text,
                 "it works on component '%s', which the world lacks; add it to the world's "
                 "components",
                 component);
        return s->api->error->set(s->host, BP_ERROR_NOT_FOUND, text);
    }
    s->state = s->api->world->manager(s->world, number);
    return BP_OK;
}

/* The form of s->state, which is the pointer to a manager; a reload leaves managers where they are. */
#define MANAGER_FORM BP_STATE_FORM(bp_manager_t *, 1)

static const bp_term_field_t plane[] = {{BP_FIELD_OF(struct plane, x)}, {BP_FIELD_OF(struct plane, y)}};
static const bp_term_field_t plane_read[] = {{BP_FIELD_OF(struct plane_read, x)}, {BP_FIELD_OF(struct plane_read, y)}};
static const bp_term_field_t sprite_place[] = {{BP_FIELD_OF(struct sprite_place, colour)},
                                               {BP_FIELD_OF(struct sprite_place, index)}};
static const bp_term_field_t sprite_colour[] = {{BP_FIELD_OF(struct sprite_colour, colour)}};
static const bp_term_field_t sprite_colour_read[] = {{BP_FIELD_OF(struct sprite_colour_read, colour)}};
static const bp_term_field_t sprite_read[] = {{BP_FIELD_OF(struct sprite_read, colour)},
                                              {BP_FIELD_OF(struct sprite_read, index)},
                                              {BP_FIELD_OF(struct sprite_read, scale)}};
static const bp_term_field_t bubble_read[] = {{BP_FIELD_OF(struct bubble_read, distance)}};

static const bp_term_t place_terms[] = {
    {.component = "position", .fields = BP_LIST(plane)},
    {.component = "move", .fields = BP_LIST(plane)},
    {.component = BP_SPRITE, .fields = BP_LIST(sprite_place)},
    {.component = "bubble", .flags = BP_TERM_OPTIONAL},
};

static const bp_term_t move_terms[] = {
    {.component = "position", .fields = BP_LIST(plane)},
    {.component = "move", .fields = BP_LIST(plane)},
};

static const bp_term_t find_terms[] = {
    {.component = "position", .fields = BP_LIST(plane_read)},
    {.component = "bubble", .fields = BP_LIST(bubble_read)},
    {.component = BP_SPRITE, .fields = BP_LIST(sprite_colour_read)},
};

static const bp_term_t avoid_terms[] = {
    {.component = "position", .fields = BP_LIST(plane)},
    {.component = "move", .fields = BP_LIST(plane)},
    {.component = BP_SPRITE, .fields = BP_LIST(sprite_colour)},
    {.component = "avoid"},
    {.component = "bounces", .flags = BP_TERM_WORLD | BP_TERM_OPTIONAL},
};

static const bp_term_field_t bounces_written[] = {{BP_FIELD_OF(struct bounces, total)},
                                                  {BP_FIELD_OF(struct bounces, last)}};
static const bp_term_t count_terms[] = {
    {.component = "bounces", .flags = BP_TERM_WORLD, .fields = BP_LIST(bounces_written)},
};

/* bubbles_frame and bubbles_draw must match the same rows; only bubbles_draw looks at values. */
static const bp_term_t frame_terms[] = {
    {.component = "position"},
    {.component = BP_SPRITE},
};

static const bp_term_t draw_terms[] = {
    {.component = "position", .fields = BP_LIST(plane_read)},
    {.component = BP_SPRITE, .fields = BP_LIST(sprite_read)},
};

/* Grid and frame are parts of `bubble` and `sprite`: a system that makes one writes the component, a system that uses
 * one reads it. */
static const bp_system_i systems[] = {
    {.name = "bubbles_place",
     .doc = "places what is nowhere yet, at the first step",
     .flags = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT,
     .terms = BP_LIST(place_terms),
     .before = "bubbles_move",
     .run = bubbles_place_run},
    {.name = "bubbles_move",
     .doc = "moves, and bounces off the edges of the world",
     .flags = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT,
     .terms = BP_LIST(move_terms),
     .run = bubbles_move_run},
    {.name = "bubbles_find",
     .doc = "finds out where the bubbles are",
     .flags = BP_SYSTEM_CONCURRENT,
     .terms = BP_LIST(find_terms),
     .writes = "bubble",
     .after = "bubbles_move",
     .start = bubbles_find_start,
     .state_form = MANAGER_FORM,
     .keeps = BP_KEEP_ANEW,
     .run_all = bubbles_find_run},
    {.name = "bubbles_avoid",
     .doc = "bounces off bubbles, and takes their colour",
     .flags = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT,
     .terms = BP_LIST(avoid_terms),
     .reads = "bubble",
     .after = "bubbles_find",
     .start = bubbles_avoid_start,
     .stop = bubbles_avoid_stop,
     .keeps = BP_KEEP_ANEW,
     .run = bubbles_avoid_run},
    {.name = "bubbles_frame",
     .doc = "makes room for the sprites of this frame",
     .flags = BP_SYSTEM_CONCURRENT,
     .terms = BP_LIST(frame_terms),
     .writes = BP_SPRITE,
     .after = "bubbles_avoid",
     .start = bubbles_begin_start,
     .state_form = MANAGER_FORM,
     .keeps = BP_KEEP_ANEW,
     .run_all = bubbles_begin_run},
    {.name = "bubbles_draw",
     .doc = "writes the sprites of this frame",
     .flags = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT,
     .terms = BP_LIST(draw_terms),
     .reads = BP_SPRITE,
     .after = "bubbles_frame",
     .start = bubbles_begin_start,
     .state_form = MANAGER_FORM,
     .keeps = BP_KEEP_ANEW,
     .run = bubbles_draw_run},
    {.name = "bubbles_count",
     .doc = "counts the bounces of the step before, which are told as messages",
     .flags = BP_SYSTEM_CONCURRENT,
     .terms = BP_LIST(count_terms),
     .start = bubbles_count_start,
     .stop = bubbles_count_stop,
     .keeps = BP_KEEP_ANEW,
     .run = bubbles_count_run},
};

/* --- the plugin ----------------------------------------------------------------------------------------- */

static const bp_sprite_api api = {.frame = bubbles_frame};
static const bp_table_t tables[] = {BP_TABLE(BP_SPRITE_API, 1, api, BP_SPRITE_RETURNS)};

static bp_result_t check_pair(bp_plugin_t *plugin, bp_vec2_t least, bp_vec2_t most, const char *complaint)
{
    if (least.x < most.x && least.y < most.y)
        return BP_OK;
    return plugin->api->error->set(plugin->host, BP_ERROR_RANGE, complaint);
}

static bp_result_t load(bp_plugin_t *plugin)
{
    return check_pair(plugin, plugin->options[OPTION_LOW].vec2, plugin->options[OPTION_HIGH].vec2,
                      "both parts of `low` must be less than those of `high`");
}

BP_PLUGIN(bubbles) = {
    .version = "1.0",
    .doc = "sprites that bounce off bubbles",
    .components = BP_LIST(components),
    .systems = BP_LIST(systems),
    .options = BP_LIST(options),
    .tables = BP_LIST(tables),
    .load = load,
    .keeps = BP_KEEP_NOTHING,
};
