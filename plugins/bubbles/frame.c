/* frame.c - the system bubbles_frame, and the frame: the buffer of sprites that a renderer takes.
 *
 * Sprites are written by several threads at once, each a range of rows (draw.c). To give each thread its place in the
 * buffer, bubbles_frame looks at all runs first, makes room and gives each run its part of the frame, in the order of
 * the runs. A range is recognised by the address of its entities, which lies within the entities of its run.
 *
 * The buffer never shrinks, and is neither copied nor cleared when it grows, since each step writes all of it.
 */
#include "bubbles.h"

#include <stdlib.h>
#include <string.h>

bp_result_t bubbles_frame_start(bp_manager_t *m)
{
    bubbles_frame_t *frame = m->api->memory->resize(m->plugin, NULL, 0, sizeof *frame);
    if (frame == NULL)
        return m->api->error->set(m->host, BP_ERROR_MEMORY, "sprite: out of memory at its start");
    memset(frame, 0, sizeof *frame);
    m->state = frame;
    return BP_OK;
}

void bubbles_frame_stop(bp_manager_t *m)
{
    const bp_memory_api *memory = m->api->memory;
    bubbles_frame_t *frame = m->state;
    memory->resize(m->plugin, frame->sprites, frame->capacity * sizeof *frame->sprites, 0);
    memory->resize(m->plugin, frame->parts, frame->part_capacity * sizeof *frame->parts, 0);
    m->state = memory->resize(m->plugin, frame, sizeof *frame, 0);
}

const bp_sprite_t *bubbles_frame(bp_manager_t *m, uint32_t *count)
{
    const bubbles_frame_t *frame = m->state;
    *count = frame->count;
    return frame->count > 0 ? frame->sprites : NULL;
}

bp_result_t bubbles_begin_start(bp_system_t *s)
{
    return bubbles_use_manager(s, BP_SPRITE);
}

static uint32_t reserve_sprites(bp_system_t *s, bubbles_frame_t *frame, uint32_t needed)
{
    if (needed <= frame->capacity)
        return 1;
    uint64_t room = frame->capacity == 0 ? needed : (uint64_t)needed + needed / 8;
    room = room < UINT32_MAX ? room : UINT32_MAX;
    s->api->memory->resize(s->plugin, frame->sprites, frame->capacity * sizeof *frame->sprites, 0);
    frame->sprites = s->api->memory->resize(s->plugin, NULL, 0, room * sizeof *frame->sprites);
    frame->capacity = frame->sprites == NULL ? 0 : (uint32_t)room;
    return frame->sprites != NULL;
}

static uint32_t reserve_parts(bp_system_t *s, bubbles_frame_t *frame, uint32_t needed)
{
    if (needed <= frame->part_capacity)
        return 1;
    uint32_t room = needed + needed / 2;
    frame_part_t *parts = s->api->memory->resize(s->plugin, frame->parts,
                                                 frame->part_capacity * sizeof *parts, room * sizeof *parts);
    if (parts == NULL)
        return 0;
    frame->parts = parts;
    frame->part_capacity = room;
    return 1;
}

static int by_address(const void *a, const void *b)
{
    const frame_part_t *first = a, *second = b;
    return first->entities < second->entities ? -1 : first->entities > second->entities;
}

void bubbles_begin_run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    const bp_manager_t *m = s->state;
    bubbles_frame_t *frame = m->state;
    uint32_t rows = 0;
    (void)step;
    for (uint32_t k = 0; k < count; k++)
        rows += matches[k].count;
    frame->count = frame->part_count = 0;
    if (!reserve_sprites(s, frame, rows) || !reserve_parts(s, frame, count)) {
        if (!frame->out_of_memory)
            s->api->error->log(s->plugin, BP_LOG_ERROR,
                               "out of memory for a frame of sprites; it stays empty "
                               "until there is room");
        frame->out_of_memory = 1;
        return;
    }
    frame->out_of_memory = 0;
    for (uint32_t k = 0; k < count; k++) {
        frame->parts[frame->part_count++] = (frame_part_t){(uintptr_t)matches[k].entities, matches[k].count,
                                                           frame->count};
        frame->count += matches[k].count;
    }
    if (count > 1)
        qsort(frame->parts, count, sizeof *frame->parts, by_address);
}

bp_sprite_t *bubbles_frame_at(const bubbles_frame_t *frame, const bp_entity_t *entities)
{
    uintptr_t address = (uintptr_t)entities;
    uint32_t low = 0, high = frame->part_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const frame_part_t *part = &frame->parts[middle];
        size_t row = (address - part->entities) / sizeof *entities;
        if (address < part->entities)
            high = middle;
        else if (row >= part->rows)
            low = middle + 1;
        else
            return frame->sprites + part->first + row;
    }
    return NULL;
}
