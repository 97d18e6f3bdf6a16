/* bubbles.h - what the files of the plugin bubbles share: columns, options by number, the grid, the frame.
 *
 * The data of a world lie in the state of two of its managers: the grid in that of `bubble`, the frame
 * in that of `sprite`. A system keeps nothing but the address of the manager with that state.
 *
 * Not here: declarations for other plugins, which read <components/sprite.h>.
 */
#ifndef BUBBLES_BUBBLES_H
#define BUBBLES_BUBBLES_H

#include <bp_plugin.h>
#include <components/sprite.h>
#include <helpers/bp_widest.h>

/* Columns as the loops want them, a struct for each way in which a component is used; `position` and `move` are
   alike. */
struct plane { float *x, *y; };
struct plane_read { const float *x, *y; };
struct sprite_place { bp_vec3_t *colour; int32_t *index; };
struct sprite_colour { bp_vec3_t *colour; };
struct sprite_colour_read { const bp_vec3_t *colour; };
struct sprite_read { const bp_vec3_t *colour; const int32_t *index; const float *scale; };
struct bubble_read { const float *distance; };
struct bounces { uint64_t *total; uint32_t *last; };

/* The options of the plugin, in the order of declaration. */
enum {
    OPTION_LOW,
    OPTION_HIGH,
    OPTION_SEED,
    OPTION_SPEED,
    OPTION_BUBBLE_SPEED,
    OPTION_BUBBLE_SPREAD,
    OPTION_LOOKS,
    OPTION_ZOOM
};

/* Every system that needs a state starts with this: s->state becomes the manager of `component`. */
bp_result_t bubbles_use_manager(bp_system_t *s, const char *component);

/* --- place.c, move.c ------------------------------------------------------------------------------------ */

void bubbles_place_run(const bp_match_t *match, uint32_t count);
void bubbles_move_run(const bp_match_t *match, uint32_t count);

/* --- grid.c: the places of the bubbles ---------------------------------------------------------------------- */

typedef struct bubble_t {
    float x, y;
    float distance;  /* from its middle, and its square: a sprite that comes nearer bounces off */
    float distance2;
    bp_vec3_t colour;
} bubble_t;

enum {
    GRID_SHIFT = 7, /* cells in a row of the arrays, as a power of two; fewer may be in use */
    GRID_SIDE = 1 << GRID_SHIFT,
    GRID_CELLS = GRID_SIDE * GRID_SIDE
};

/* From a place to the number of its cell: cell = (position - low) * per, cut to 0 ... last. */
typedef struct grid_map_t {
    float low_x, low_y, per_x, per_y;
    float last;
} grid_map_t;

/* Cells over the bounds of the world; places outside belong to the cells at the border. Only in cells that list a
 * bubble can anything be as near to the bubble as its distance. */
typedef struct bubbles_grid_t {
    bubble_t *bubbles; /* in the order of their rows */
    uint32_t count, capacity;
    grid_map_t map;
    uint8_t occupied[GRID_CELLS];      /* 1: the cell lists a bubble */
    uint32_t first[GRID_CELLS + 1];    /* the bubbles of cell c begin at entries[first[c]] */
    uint32_t *entries;                 /* numbers of bubbles, ascending in each cell */
    uint32_t entry_capacity;
    uint32_t out_of_memory;            /* the log has been told */
} bubbles_grid_t;

/* The form of all that the state of `bubble` leads to, for reloads. */
typedef struct bubbles_grid_form_t {
    bubbles_grid_t grid;
    bubble_t bubble;
} bubbles_grid_form_t;

/* The cell of a place; any cell where a coordinate is no number. */
static inline uint32_t bubbles_cell(const grid_map_t *map, float x, float y)
{
    float a = (x - map->low_x) * map->per_x, b = (y - map->low_y) * map->per_y;
    a = a > 0 ? a : 0;
    b = b > 0 ? b : 0;
    a = a < map->last ? a : map->last;
    b = b < map->last ? b : map->last;
    return (uint32_t)((int32_t)a + ((int32_t)b << GRID_SHIFT));
}

bp_result_t bubbles_grid_start(bp_manager_t *m);
void bubbles_grid_stop(bp_manager_t *m);
bp_result_t bubbles_find_start(bp_system_t *s);
void bubbles_find_run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count);

/* --- avoid.c -------------------------------------------------------------------------------------------- */

void bubbles_avoid_run(const bp_match_t *match, uint32_t count);

/* --- bounce.c: bounces told and counted ------------------------------------------------------------------ */

struct bp_channel_o;
struct bp_message_api;

/* The state of bubbles_avoid. */
typedef struct bubbles_avoid_t {
    bp_manager_t *bubbles; /* of the component `bubble`: its state is the grid */
    struct bp_channel_o *bounces;
    const struct bp_message_api *messages;
} bubbles_avoid_t;

enum { BOUNCES_TOGETHER = 64 };

/* Bounces of one call that are still to be sent. */
typedef struct bubbles_bounces_t {
    const bubbles_avoid_t *avoid;
    bp_commands_o *commands;
    uint32_t count;
    bp_entity_t who[BOUNCES_TOGETHER];
    bp_vec2_t place[BOUNCES_TOGETHER];
    bp_vec3_t colour[BOUNCES_TOGETHER];
} bubbles_bounces_t;

void bubbles_bounces_send(bubbles_bounces_t *bounces);

bp_result_t bubbles_avoid_start(bp_system_t *s);
void bubbles_avoid_stop(bp_system_t *s);
bp_result_t bubbles_count_start(bp_system_t *s);
void bubbles_count_stop(bp_system_t *s);
void bubbles_count_run(const bp_match_t *match, uint32_t count);

/* --- frame.c, draw.c ------------------------------------------------------------------------------------ */

/* Rows of one run, and where their sprites begin in the frame. */
typedef struct frame_part_t {
    uintptr_t entities; /* the address of the run's first entity: how a range of it is recognised */
    uint32_t rows;
    uint32_t first;
} frame_part_t;

typedef struct bubbles_frame_t {
    bp_sprite_t *sprites;
    uint32_t count, capacity;
    frame_part_t *parts; /* by ascending address */
    uint32_t part_count, part_capacity;
    uint32_t out_of_memory;
} bubbles_frame_t;

/* The form of all that the state of `sprite` leads to, for reloads. The frame goes over to the new version, so that a
 * renderer that draws between a reload and the next step has one. */
typedef struct bubbles_frame_form_t {
    bubbles_frame_t frame;
    frame_part_t part;
    bp_sprite_t sprite;
} bubbles_frame_form_t;

bp_result_t bubbles_frame_start(bp_manager_t *m);
void bubbles_frame_stop(bp_manager_t *m);
bp_result_t bubbles_begin_start(bp_system_t *s);
void bubbles_begin_run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count);
const bp_sprite_t *bubbles_frame(bp_manager_t *m, uint32_t *count);

/* The frame's sprites of the rows that begin at `entities`; NULL where it has no room for them. [job] */
bp_sprite_t *bubbles_frame_at(const bubbles_frame_t *frame, const bp_entity_t *entities);

void bubbles_draw_run(const bp_match_t *match, uint32_t count);

#endif
