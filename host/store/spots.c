/* spots.c - lines come with the properties that are resolved, and grow with the number of prototypes.
 *
 * All lines have the same length, so that one comparison tells whether a prototype has a spot. A line that is replaced
 * by a longer one keeps its memory until the layout is left, because resolved properties may read a spot in it: up to
 * four shorter lines of a property, which together are a third as long as the last.
 */
#include "spots.h"

#include <stddef.h>

static size_t line_bytes(uint32_t length)
{
    return offsetof(spot_line_t, spots) + length * sizeof(spot_t);
}

static spot_line_t *make_line(memory_t *memory, uint32_t key, uint32_t field, uint32_t length)
{
    spot_line_t *line = memory_new(memory, line_bytes(length));
    if (line == NULL)
        return NULL;
    line->key = key;
    line->field = field;
    line->length = length;
    return line;
}

static void free_lines(memory_t *memory, spot_line_t *line)
{
    while (line != NULL) {
        spot_line_t *shorter = line->shorter;
        memory_free(memory, line, line_bytes(line->length));
        line = shorter;
    }
}

/* How long lines are for so many prototypes. */
static uint32_t length_for(uint32_t prototypes)
{
    uint32_t length = SPOTS_SHORT;
    while (length < prototypes && length < SPOTS_MOST)
        length *= SPOTS_LONGER;
    return length;
}

static spot_line_t *lengthen(memory_t *memory, spot_line_t *line, uint32_t length)
{
    spot_line_t *longer = make_line(memory, line->key, line->field, length);
    for (uint32_t i = 0; longer != NULL && i < line->length; i++)
        atomic_init(&longer->spots[i], spot_known(&line->spots[i]));
    if (longer != NULL)
        longer->shorter = line;
    return longer;
}

void spots_fit(spots_t *spots, memory_t *memory, uint32_t prototypes)
{
    uint32_t length = length_for(prototypes), done = 0;
    if (spots->count == 0 || length <= spots->length)
        return;
    for (; done < spots->count; done++) {
        spot_line_t *longer = lengthen(memory, spots->lines[done], length);
        if (longer == NULL)
            break;
        spots->lines[done] = longer;
    }
    if (done == spots->count) {
        spots->length = length;
        return;
    }
    while (done-- > 0) {
        spot_line_t *longer = spots->lines[done];
        spots->lines[done] = longer->shorter;
        memory_free(memory, longer, line_bytes(length));
    }
}

/* A line more, with the next number. */
static bool add_line(spots_t *spots, memory_t *memory, uint32_t key, uint32_t field)
{
    if (!memory_reserve(memory, &spots->lines, &spots->capacity, spots->count + 1u, sizeof *spots->lines))
        return false;
    spot_line_t *line = make_line(memory, key, field, spots->length);
    if (line != NULL)
        spots->lines[spots->count++] = line;
    return line != NULL;
}

uint32_t spots_find(const spots_t *spots, uint32_t key, uint32_t field)
{
    for (uint32_t i = 1; i < spots->count; i++) {
        if (spots->lines[i]->key == key && spots->lines[i]->field == field)
            return i;
    }
    return 0;
}

uint32_t spots_number(spots_t *spots, memory_t *memory, uint32_t key, uint32_t field, uint32_t prototypes)
{
    uint32_t number = spots_find(spots, key, field);
    if (number != 0)
        return number;
    if (spots->count > SPOTS_LINES)
        return 0;
    if (spots->count == 0) {
        spots->length = length_for(prototypes);
        if (!add_line(spots, memory, 0, 0)) {
            spots->length = 0;
            return 0;
        }
    }
    return add_line(spots, memory, key, field) ? spots->count - 1 : 0;
}

void spots_free(spots_t *spots, memory_t *memory)
{
    for (uint32_t i = 0; i < spots->count; i++)
        free_lines(memory, spots->lines[i]);
    memory_free(memory, spots->lines, spots->capacity * sizeof *spots->lines);
    *spots = (spots_t){.lines = NULL};
}
