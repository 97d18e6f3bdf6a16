/* grid.c - the system bubbles_find, and the grid that it makes at every step.
 *
 * Of a million sprites a few thousand are near a bubble at any time. The grid tells which sprites: each cell lists the
 * bubbles with a square (the distance to all four sides) that touches it. For nearly all sprites one byte of 16 KB is
 * enough to know that they bounce off no bubble; the others look at one or two bubbles instead of all.
 *
 * Every sprite within the distance is found: places and sides of squares are mapped to cells by the same function,
 * which never decreases, and the square is larger than the distance by more than the rounding of the test. So a place
 * within the distance lies in a cell between the cells of the sides. Places outside the bounds count to the cells at
 * the border, for sprites and for squares alike.
 *
 * Many large bubbles would fill the lists of all cells. Where the lists come to more than ENTRIES_MOST entries the grid
 * is made coarser, in the end one cell that lists every bubble once.
 */
#include "bubbles.h"

#include <string.h>

enum { ENTRIES_MOST = 1 << 18 };

static bubbles_grid_t *grid_of(bp_system_t *s)
{
    bp_manager_t *m = s->state;
    return m->state;
}

bp_result_t bubbles_grid_start(bp_manager_t *m)
{
    bubbles_grid_t *grid = m->api->memory->resize(m->plugin, NULL, 0, sizeof *grid);
    if (grid == NULL)
        return m->api->error->set(m->host, BP_ERROR_MEMORY, "bubble: out of memory at its start");
    memset(grid, 0, sizeof *grid);
    m->state = grid;
    return BP_OK;
}

void bubbles_grid_stop(bp_manager_t *m)
{
    const bp_memory_api *memory = m->api->memory;
    bubbles_grid_t *grid = m->state;
    memory->resize(m->plugin, grid->bubbles, grid->capacity * sizeof *grid->bubbles, 0);
    memory->resize(m->plugin, grid->entries, grid->entry_capacity * sizeof *grid->entries, 0);
    m->state = memory->resize(m->plugin, grid, sizeof *grid, 0);
}

bp_result_t bubbles_find_start(bp_system_t *s)
{
    return bubbles_use_manager(s, "bubble");
}

/* --- gathering ------------------------------------------------------------------------------------------ */

/* Room for `needed` items of an array; its old items need not be kept. 0: out of memory. */
static uint32_t make_room(bp_system_t *s, void **items, uint32_t *capacity, uint32_t needed, size_t size)
{
    if (needed <= *capacity)
        return 1;
    uint32_t room = needed + needed / 4;
    void *block = s->api->memory->resize(s->plugin, NULL, 0, room * size);
    if (block == NULL)
        return 0;
    s->api->memory->resize(s->plugin, *items, *capacity * size, 0);
    *items = block;
    *capacity = room;
    return 1;
}

static uint32_t reserve_bubbles(bp_system_t *s, bubbles_grid_t *grid, uint32_t needed)
{
    void *items = grid->bubbles;
    uint32_t good = make_room(s, &items, &grid->capacity, needed, sizeof *grid->bubbles);
    grid->bubbles = items;
    return good;
}

static uint32_t reserve_entries(bp_system_t *s, bubbles_grid_t *grid, uint32_t needed)
{
    void *items = grid->entries;
    uint32_t good = make_room(s, &items, &grid->entry_capacity, needed, sizeof *grid->entries);
    grid->entries = items;
    return good;
}

static void gather(bubbles_grid_t *grid, const bp_match_t *match)
{
    enum { POSITION, BUBBLE, SPRITE };
    BP_COLUMNS(struct plane_read, position, match->columns[POSITION]);
    BP_COLUMNS(struct bubble_read, bubble, match->columns[BUBBLE]);
    BP_COLUMNS(struct sprite_colour_read, sprite, match->columns[SPRITE]);
    for (uint32_t i = 0; i < match->count; i++)
        grid->bubbles[grid->count++] = (bubble_t){.x = position.x[i],
                                                  .y = position.y[i],
                                                  .distance = bubble.distance[i],
                                                  .distance2 = bubble.distance[i] * bubble.distance[i],
                                                  .colour = sprite.colour[i]};
}

/* --- cells ---------------------------------------------------------------------------------------------- */

static void set_resolution(bubbles_grid_t *grid, const bp_value_t *options, uint32_t side)
{
    bp_vec2_t low = options[OPTION_LOW].vec2, high = options[OPTION_HIGH].vec2;
    grid->map = (grid_map_t){.low_x = low.x,
                             .low_y = low.y,
                             .per_x = (float)side / (high.x - low.x),
                             .per_y = (float)side / (high.y - low.y),
                             .last = (float)(side - 1)};
}

/* The cells that a bubble's square touches, from lower left to upper right. */
typedef struct span_t {
    uint32_t low, high;
} span_t;

static span_t span_of(const bubbles_grid_t *grid, const bubble_t *bubble)
{
    float reach = bubble->distance * 1.0001f;
    return (span_t){bubbles_cell(&grid->map, bubble->x - reach, bubble->y - reach),
                    bubbles_cell(&grid->map, bubble->x + reach, bubble->y + reach)};
}

/* How many cells list each bubble, over all bubbles. */
static uint64_t count_entries(const bubbles_grid_t *grid)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < grid->count; i++) {
        span_t span = span_of(grid, &grid->bubbles[i]);
        uint32_t columns = (span.high & (GRID_SIDE - 1)) - (span.low & (GRID_SIDE - 1)) + 1;
        uint32_t rows = (span.high >> GRID_SHIFT) - (span.low >> GRID_SHIFT) + 1;
        count += (uint64_t)columns * rows;
    }
    return count;
}

static uint32_t choose_resolution(bubbles_grid_t *grid, const bp_value_t *options)
{
    uint32_t side = GRID_SIDE;
    uint64_t entries;
    do {
        set_resolution(grid, options, side);
        entries = count_entries(grid);
        side /= 2;
    } while (entries > ENTRIES_MOST && side > 0);
    return (uint32_t)entries;
}

/* For each cell of the bubble's square: count it (entries NULL), or list it. Lists are filled from their
 * ends, by the last bubble first, so that they ascend. */
static void enter(bubbles_grid_t *grid, uint32_t bubble, uint32_t *entries)
{
    span_t span = span_of(grid, &grid->bubbles[bubble]);
    uint32_t columns = (span.high & (GRID_SIDE - 1)) - (span.low & (GRID_SIDE - 1)) + 1;
    for (uint32_t row = span.low; row <= span.high; row += GRID_SIDE) {
        for (uint32_t cell = row; cell < row + columns; cell++) {
            if (entries == NULL)
                grid->first[cell]++;
            else
                entries[--grid->first[cell]] = bubble;
            grid->occupied[cell] = 1;
        }
    }
}

static void fill(bubbles_grid_t *grid)
{
    uint32_t sum = 0;
    memset(grid->occupied, 0, sizeof grid->occupied);
    memset(grid->first, 0, sizeof grid->first);
    for (uint32_t i = 0; i < grid->count; i++)
        enter(grid, i, NULL);
    for (uint32_t cell = 0; cell <= GRID_CELLS; cell++)
        grid->first[cell] = sum += grid->first[cell];
    for (uint32_t i = grid->count; i > 0; i--)
        enter(grid, i - 1, grid->entries);
}

static void remark_memory(bp_system_t *s, bubbles_grid_t *grid)
{
    grid->count = 0;
    if (!grid->out_of_memory)
        s->api->error->log(s->plugin, BP_LOG_ERROR,
                           "out of memory for a grid of the bubbles; nothing bounces off "
                           "them until there is room");
    grid->out_of_memory = 1;
}

void bubbles_find_run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    bubbles_grid_t *grid = grid_of(s);
    uint32_t rows = 0;
    (void)step;
    grid->count = 0;
    for (uint32_t k = 0; k < count; k++)
        rows += matches[k].count;
    if (rows == 0)
        return;
    if (!reserve_bubbles(s, grid, rows)) {
        remark_memory(s, grid);
        return;
    }
    for (uint32_t k = 0; k < count; k++)
        gather(grid, &matches[k]);
    if (!reserve_entries(s, grid, choose_resolution(grid, s->plugin->options))) {
        remark_memory(s, grid);
        return;
    }
    grid->out_of_memory = 0;
    fill(grid);
}
