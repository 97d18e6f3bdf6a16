/* slack.c - the pattern behind the rows of columns.
 *
 * The room behind a column ends where its run's capacity does. No value in that room is in use: new rows are filled
 * without reading the bytes there.
 */
#include "slack.h"

#include "../base/field.h"

#include <stdio.h>
#include <string.h>

enum { PATTERN = 0xA5, MOST_BYTES = 512 /* of one column that are looked at */ };

void slack_init(slack_t *slack, memory_t *memory, world_t *const *worlds, uint32_t world_count, uint32_t most)
{
    *slack = (slack_t){.memory = memory, .worlds = worlds, .world_count = world_count, .most = most};
}

static size_t bytes_of_rows(const run_t *run)
{
    size_t bytes = 0;
    for (uint32_t c = 0; c < run->column_count; c++)
        bytes += (size_t)run->count * run->sizes[c];
    return bytes;
}

void slack_make(const slack_t *slack, const fence_t *fence)
{
    size_t bytes = 0;
    for (uint32_t w = 0; w < slack->world_count; w++) {
        world_t *world = slack->worlds[w];
        for (uint32_t r = 0; r < world->run_count; r++) {
            run_t *run = world->runs[r];
            if (run->count == 0 || run->capacity - run->count >= SLACK_ROWS || fence_has(fence, run))
                continue;
            bytes += bytes_of_rows(run);
            if (bytes > SLACK_BYTES)
                return;
            run_reserve(run, &world->memory, SLACK_ROWS);
        }
    }
}

/* The bytes of a column behind the row `count`. */
static size_t room_of(const run_t *run, uint32_t count, uint32_t column)
{
    size_t room = (size_t)(run->capacity - count) * run->sizes[column];
    return room < MOST_BYTES ? room : MOST_BYTES;
}

static unsigned char *behind(const run_t *run, uint32_t count, uint32_t column)
{
    return (unsigned char *)run->columns[column] + (size_t)count * run->sizes[column];
}

static void fill_run(slack_t *slack, const world_t *world, const run_t *run)
{
    if (run->count == 0 || run->pending > 0 ||
        !memory_reserve(slack->memory, &slack->runs, &slack->capacity, slack->count + 1u, sizeof *slack->runs))
        return;
    slack->runs[slack->count++] = (slack_run_t){run, world, run->columns, run->count, run->version};
    for (uint32_t c = 0; c < run->column_count; c++)
        memset(behind(run, run->count, c), PATTERN, room_of(run, run->count, c));
}

/* The next run in turn, of all worlds, and its world; NULL where none of them has one. */
static const run_t *next_run(slack_t *slack, const world_t **world)
{
    for (uint32_t passed = 0; passed <= slack->world_count && slack->world_count > 0; passed++) {
        *world = slack->worlds[slack->world % slack->world_count];
        if (slack->run < (*world)->run_count)
            return (*world)->runs[slack->run++];
        slack->run = 0;
        slack->world = (slack->world + 1) % slack->world_count;
    }
    return NULL;
}

void slack_fill(slack_t *slack, const world_t *world, uint32_t prototype, bool all)
{
    bool in_run = world != NULL && prototype != 0 && prototype != BP_NONE; /* BP_NONE: rows that are made aside */
    const run_t *handed = in_run ? world_run(world, prototype) : NULL, *first = NULL, *run;
    const world_t *its;
    slack->count = 0;
    if (handed != NULL)
        fill_run(slack, world, handed);
    for (uint32_t i = 0; world != NULL && world->run_count <= SLACK_FEW && i < world->run_count; i++)
        if (world->runs[i] != handed)
            fill_run(slack, world, world->runs[i]);
    for (uint32_t i = 0; (i < slack->most || all) && (run = next_run(slack, &its)) != NULL && run != first; i++) {
        first = first == NULL ? run : first;
        if (run != handed)
            fill_run(slack, its, run);
    }
}

static const char *component_of(const slack_run_t *s, uint32_t column)
{
    const prototypes_t *p = &s->world->prototypes;
    for (uint32_t at = s->run->prototype; at != 0; at = p->items[at].base) {
        if (column >= p->items[p->items[at].base].columns)
            return world_key_manager(s->world, p->items[at].key)->component->name;
    }
    return "entity";
}

static bool column_is_whole(const slack_run_t *s, uint32_t column, char *reason, size_t size)
{
    const unsigned char *bytes = behind(s->run, s->count, column);
    size_t room = room_of(s->run, s->count, column), at = 0;
    if (room == 0 || (bytes[0] == PATTERN && memcmp(bytes, bytes + 1, room - 1) == 0))
        return true;
    while (bytes[at] == PATTERN)
        at++;
    const field_t *field = column == 0 ? NULL : s->run->fields[column];
    unsigned long long row = s->count + at / s->run->sizes[column];
    snprintf(reason, size, "it wrote behind the last of %u rows, to row %llu of the column '%.40s' of '%.40s'",
             s->count, row, field == NULL ? "entity" : field->name, component_of(s, column));
    return false;
}

bool slack_is_whole(const slack_t *slack, char *reason, size_t size)
{
    bool whole = true;
    for (uint32_t i = 0; i < slack->count && whole; i++) {
        const slack_run_t *s = &slack->runs[i];
        bool moved = s->run->columns != s->columns || s->run->count != s->count || s->run->version != s->version;
        for (uint32_t c = 0; c < s->run->column_count && !moved && whole; c++)
            whole = column_is_whole(s, c, reason, size);
    }
    return whole;
}

void slack_free(slack_t *slack)
{
    memory_free(slack->memory, slack->runs, slack->capacity * sizeof *slack->runs);
}
