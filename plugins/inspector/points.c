/* points.c - POST /points: the positions of entities, as bytes for the view of the world.
 *
 *     {"world": "main", "position": "body.position", "colour": "body.mass", "size": ..., "most": 100000, "box": [...]}
 *
 * A position is a vec2 or a vec3, or two or three numbers: ["position.x", "position.y"].
 *
 * The answer is little-endian, and laid out so that a browser can look at each column where it lies:
 *
 *     0   "BPPT"                      20  f64 time of the world
 *     4   u32 count of points         28  u32 parts of the position, 2 or 3
 *     8   u32 entities of the world   32  count * 3 f32 positions (z 0 where there are two parts)
 *     12  f64 step of the world           count * f32 colours, count * f32 sizes, count * (u32 index, u32 generation)
 *
 * Where more than `most` entities have the position, some of them are picked, the same ones every time: those with the
 * smallest hash of their index. So points do not flicker, and a smaller box shows more of them. Entities that come or
 * go while a large answer is made may be missing.
 */
#include "methods.h"

#include "gather.h"
#include "look.h"
#include "values.h"

#include <math.h>
#include <stdio.h>

enum { HEAD = 32, BLOCK = 512, MOST = 2000000 };

typedef struct points_t {
    gather_t axes[3], colour, size;
    uint32_t axis_count;     /* 1: axes[0] is a vector; else a number for each axis */
    uint32_t parts;          /* axes of the position, 2 or 3 */
    bool has_colour, has_size, has_box;
    float box[6];
    uint64_t most;
    uint32_t keep;           /* hashes up to this are kept */
    uint32_t index, bound;
    uint32_t all;            /* entities of the world when the answer was begun */
    writer_t positions, colours, sizes, names;
} points_t;

static uint32_t hash(uint32_t index)
{
    index ^= index >> 16;
    index *= UINT32_C(0x7feb352d);
    index ^= index >> 15;
    index *= UINT32_C(0x846ca68b);
    return index ^ index >> 16;
}

static void drop(ask_t *ask)
{
    points_t *p = ask->state;
    writer_t *const writers[] = {&p->positions, &p->colours, &p->sizes, &p->names};
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (writers[i]->allocator != NULL)
            writer_release(writers[i]);
}

/* --- what is wanted ------------------------------------------------------------------------------------------- */

static bool bind(ask_t *ask, bp_world_o *world, const char *name, gather_t *gather, bool *has)
{
    char sentence[GATHER_SENTENCE_MAX];
    const char *text = NULL;
    if (!ask_text(ask, name, false, &text))
        return false;
    *has = text != NULL;
    return text == NULL || gather_bind_text(ask->in, world, text, gather, sentence) ||
           ask_fail(ask, RPC_INVALID_PARAMS, "%s", sentence);
}

static bool read_box(ask_t *ask, points_t *p)
{
    const json_t *box = ask_param(ask, "box");
    p->has_box = box != NULL;
    if (box == NULL)
        return true;
    for (size_t i = 0; i < 6; i++) {
        const json_t *side = json_array_get(box, i);
        if (!json_is_number(side))
            return ask_fail(ask, RPC_INVALID_PARAMS,
                            "\"box\" is an array of six numbers: least x, y, z, largest x, y, z");
        p->box[i] = (float)json_number_value(side);
    }
    return true;
}

/* One vector, or a number for each axis. */
static bool read_position(ask_t *ask, bp_world_o *world, points_t *p)
{
    const json_t *position = ask_param(ask, "position");
    char sentence[GATHER_SENTENCE_MAX];
    bool list = json_is_array(position);
    p->axis_count = list ? (uint32_t)json_array_size(position) : 1;
    if (list && p->axis_count != 2 && p->axis_count != 3)
        return ask_fail(ask, RPC_INVALID_PARAMS,
                        "/points: \"position\" is a vector, or an array of two or three numbers");
    for (uint32_t i = 0; i < p->axis_count; i++) {
        const char *text = json_string_value(list ? json_array_get(position, i) : position);
        if (text == NULL)
            return ask_fail(ask, RPC_INVALID_PARAMS, "/points: \"position\" is missing; write component.property");
        if (!gather_bind_text(ask->in, world, text, &p->axes[i], sentence))
            return ask_fail(ask, RPC_INVALID_PARAMS, "%s", sentence);
    }
    const gather_t *first = &p->axes[0];
    p->parts = list ? p->axis_count : shape_of(first->type)->parts;
    if (!list && p->parts != 2 && p->parts != 3)
        return ask_fail(ask, RPC_INVALID_PARAMS, "%s.%s is a %s; a position is a vector of two or three",
                        first->component, first->property, shape_of(first->type)->name);
    return true;
}

/* How many entities of the world have the component of the position, at most: one that has it twice counts twice. */
static uint64_t count_those(const inspector_t *in, bp_world_o *world, const gather_t *position)
{
    bp_look_component_t told = {.struct_size = sizeof told};
    uint64_t count = 0;
    for (uint32_t cursor = 0; in->look->component(world, &cursor, &told);) {
        const look_part_t part = {told.key, told.component, told.name, told.type};
        count += look_is_called(&part, position->component) ? told.entities : 0;
    }
    return count;
}

static bool read_points(ask_t *ask, points_t *p)
{
    bp_world_o *world;
    p->most = 100000;
    if (!ask_world(ask, &world) || !read_position(ask, world, p) ||
        !bind(ask, world, "colour", &p->colour, &p->has_colour) || !bind(ask, world, "size", &p->size, &p->has_size) ||
        !ask_count(ask, "most", false, MOST, &p->most) || !read_box(ask, p))
        return false;
    ask_take_world(ask, world);
    bp_look_world_t told = {.struct_size = sizeof told};
    for (uint32_t cursor = 0; ask->in->look->world(ask->in->host, &cursor, &told);)
        if (told.world == world)
            p->all = told.entities;
    p->bound = ask->in->api->entity->bound(ask->in->host);
    writer_t *const writers[] = {&p->positions, &p->colours, &p->sizes, &p->names};
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        writers[i]->allocator = &ask->in->allocator;
    uint64_t those = count_those(ask->in, world, &p->axes[0]);
    double most = (double)p->most, wanted = most - 3 * sqrt(most); /* chance seldom gives more than `most` then */
    wanted = wanted > most / 2 ? wanted : most / 2;
    p->keep = those <= p->most || p->has_box ? UINT32_MAX : (uint32_t)(wanted / (double)those * 4294967295.0);
    return true;
}

/* --- what is told --------------------------------------------------------------------------------------------- */

static bool inside(const points_t *p, const float *at)
{
    for (int i = 0; i < 3; i++)
        if (!(at[i] >= p->box[i] && at[i] <= p->box[i + 3]))
            return false;
    return true;
}

static void add_numbers(ask_t *ask, const gather_t *gather, bool has_any, const bp_entity_t *entities, uint32_t count,
                        writer_t *w)
{
    bp_value_t values[BLOCK];
    uint8_t has[BLOCK];
    float *room = writer_room(w, count * sizeof *room);
    if (room == NULL)
        return;
    memset(room, 0, count * sizeof *room);
    if (!has_any)
        return;
    gather_values(ask->in, ask->world, gather, entities, count, values, has);
    uint32_t size = shape_size(gather->type);
    for (uint32_t i = 0; i < count; i++)
        if (has[i])
            room[i] = (float)gather_number(gather, (const char *)values + (size_t)i * size);
}

/* Find where the entities of a block are; has[i] is 0 for entities without a position. */
static void find_positions(ask_t *ask, const points_t *p, const bp_entity_t *entities, uint32_t count, float (*at)[3],
                           uint8_t *has)
{
    bp_value_t values[BLOCK];
    uint8_t has_axis[BLOCK];
    memset(at, 0, count * sizeof *at);
    memset(has, 1, count);
    for (uint32_t axis = 0; axis < p->axis_count; axis++) {
        const gather_t *gather = &p->axes[axis];
        uint32_t size = shape_size(gather->type);
        gather_values(ask->in, ask->world, gather, entities, count, values, has_axis);
        for (uint32_t i = 0; i < count; i++) {
            const char *cell = (const char *)values + (size_t)i * size;
            has[i] &= has_axis[i];
            for (uint32_t part = 0; has_axis[i] && p->axis_count == 1 && part < p->parts; part++)
                at[i][part] = (float)shape_number(gather->type, part, cell);
            if (has_axis[i] && p->axis_count > 1)
                at[i][axis] = (float)gather_number(gather, cell);
        }
    }
}

/* The points among a block of entities. */
static void add_block(ask_t *ask, points_t *p, const bp_entity_t *entities, uint32_t count)
{
    float at[BLOCK][3];
    uint8_t has[BLOCK];
    bp_entity_t kept[BLOCK];
    uint32_t number = 0;
    find_positions(ask, p, entities, count, at, has);
    for (uint32_t i = 0; i < count; i++) {
        if (!has[i] || (p->has_box && !inside(p, at[i])))
            continue;
        writer_bytes(&p->positions, at[i], sizeof at[i]);
        kept[number++] = entities[i];
    }
    add_numbers(ask, &p->colour, p->has_colour, kept, number, &p->colours);
    add_numbers(ask, &p->size, p->has_size, kept, number, &p->sizes);
    for (uint32_t i = 0; i < number; i++) {
        uint64_t name = look_number(ask->in, kept[i]);
        writer_bytes(&p->names, &name, sizeof name);
    }
}

/* Keep those points alone of which the hash is at most `keep`. */
static void thin_out(points_t *p, uint32_t keep)
{
    static const size_t sizes[] = {3 * sizeof(float), sizeof(float), sizeof(float), sizeof(uint64_t)};
    writer_t *const columns[] = {&p->positions, &p->colours, &p->sizes, &p->names};
    uint32_t count = (uint32_t)(p->names.length / sizeof(uint64_t)), kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t name;
        memcpy(&name, p->names.bytes + i * sizeof name, sizeof name);
        if (hash((uint32_t)name) > keep)
            continue;
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
            memmove(columns[c]->bytes + kept * sizes[c], columns[c]->bytes + i * sizes[c], sizes[c]);
        kept++;
    }
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        columns[c]->length = kept * sizes[c];
}

/* Where chance has picked more points than are wanted, keep fewer. */
static void keep_most(points_t *p)
{
    if (p->positions.failed || p->colours.failed || p->sizes.failed || p->names.failed)
        return;
    while (p->names.length / sizeof(uint64_t) > p->most && p->keep > 0)
        thin_out(p, p->keep -= p->keep / 16 + 1);
}

static void put(writer_t *w, const void *value, size_t size)
{
    writer_bytes(w, value, size);
}

static void write_answer(ask_t *ask, const points_t *p)
{
    bp_step_t clock = {.struct_size = sizeof clock};
    uint32_t count = (uint32_t)(p->colours.length / sizeof(float)), parts = p->parts;
    ask->in->api->world->clock(ask->world, &clock);
    double step = (double)clock.number;
    put(ask->out, "BPPT", 4);
    put(ask->out, &count, sizeof count);
    put(ask->out, &p->all, sizeof p->all);
    put(ask->out, &step, sizeof step);
    put(ask->out, &clock.time, sizeof clock.time);
    put(ask->out, &parts, sizeof parts);
    const writer_t *const columns[] = {&p->positions, &p->colours, &p->sizes, &p->names};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        writer_bytes(ask->out, columns[i]->bytes, columns[i]->length);
        ask->out->failed |= columns[i]->failed;
    }
    ask->request->type = "application/octet-stream";
}

static int points(ask_t *ask)
{
    bool begun = ask->state != NULL;
    points_t *p = ask_state(ask, sizeof *p);
    if (p == NULL || (begun ? !ask_keeps_world(ask) : !read_points(ask, p)))
        return ASK_DONE;
    while (p->index < p->bound) {
        bp_entity_t entities[BLOCK];
        uint32_t count = 0;
        while (p->index < p->bound && count < BLOCK) {
            bp_entity_t entity = ask->in->api->world->next(ask->world, &p->index);
            if (entity.id == 0)
                p->index = p->bound;
            else if (p->most > 0 && hash(bp_entity_index(entity)) <= p->keep)
                entities[count++] = entity;
        }
        if (count > 0)
            add_block(ask, p, entities, count);
        keep_most(p); /* how many are in the box shows as they are found */
        if (ask_late(ask) && p->index < p->bound)
            return ASK_MORE;
    }
    write_answer(ask, p);
    return ASK_DONE;
}

const method_t points_method = {"/points", "positions as bytes", "world? position colour? size? most? box?", 0, points,
                                drop};
