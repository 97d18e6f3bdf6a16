/* floors.c - plain loops over plain arrays.
 *
 * The loops are written for exactly one use: no interface, no checks, no batches. Where a subject must refuse stale
 * handles, the floor looks at the generation too, because a loop without that check would do another job.
 */
#include "floors.h"

#include <string.h>

/* --- entities ----------------------------------------------------------------------------------------- */

void floor_create_fresh(floor_entities_t *all, bp_entity_t *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        out[i].id = UINT64_C(1) << 32 | all->bound++;
}

void floor_create_recycled(floor_entities_t *all, bp_entity_t *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = all->ring[all->head];
        all->head = all->head + 1 == all->capacity ? 0 : all->head + 1;
        all->waiting--;
        out[i].id = (uint64_t)++all->generations[index] << 32 | index;
    }
}

void floor_create_three(floor_entities_t *all, floor_record_t *records, float *const columns[3], bp_entity_t *out,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = all->bound++;
        out[i].id = UINT64_C(1) << 32 | row;
        records[row] = (floor_record_t){1, 3, row};
        for (uint32_t k = 0; k < 3; k++)
            columns[k][row] = 0;
    }
}

void floor_destroy(floor_entities_t *all, const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = bp_entity_index(entities[i]);
        if (all->generations[index] != bp_entity_generation(entities[i]))
            continue;
        all->generations[index]++;
        uint32_t at = all->head + all->waiting++;
        all->ring[at >= all->capacity ? at - all->capacity : at] = index;
    }
}

uint32_t floor_alive(const uint32_t *generations, const bp_entity_t *entities, uint32_t count, uint8_t *alive)
{
    uint32_t living = 0;
    for (uint32_t i = 0; i < count; i++) {
        alive[i] = generations[bp_entity_index(entities[i])] == bp_entity_generation(entities[i]);
        living += alive[i];
    }
    return living;
}

void floor_touch(void *block, size_t bytes)
{
    memset(block, 1, bytes);
}

/* --- rows --------------------------------------------------------------------------------------------- */

void floor_append(floor_record_t *records, floor_group_t *groups, uint32_t group, const bp_entity_t *entities,
                  uint32_t count)
{
    floor_group_t *g = &groups[group];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = g->count++;
        g->entities[row] = entities[i];
        g->mass[row] = 1;
        g->position[row] = g->velocity[row] = g->acceleration[row] = (bp_vec3_t){0, 0, 0};
        records[bp_entity_index(entities[i])] =
            (floor_record_t){bp_entity_generation(entities[i]), group, row};
    }
}

uint32_t floor_look_up(const floor_record_t *records, const floor_group_t *groups,
                       const bp_entity_t *entities, uint32_t count, float *out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const floor_record_t *record = &records[bp_entity_index(entities[i])];
        if (record->generation != bp_entity_generation(entities[i]))
            continue;
        out[i] = groups[record->group].mass[record->row];
        found++;
    }
    return found;
}

static void move_row(floor_record_t *records, floor_group_t *from, floor_group_t *to, uint32_t group,
                     bp_entity_t e)
{
    floor_record_t *record = &records[bp_entity_index(e)];
    uint32_t row = record->row, last = --from->count, end = to->count++;
    to->entities[end] = e;
    to->mass[end] = from->mass[row];
    to->position[end] = from->position[row];
    to->velocity[end] = from->velocity[row];
    to->acceleration[end] = from->acceleration[row];
    if (to->second != NULL)
        to->second[end] = 0;
    from->entities[row] = from->entities[last];
    from->mass[row] = from->mass[last];
    from->position[row] = from->position[last];
    from->velocity[row] = from->velocity[last];
    from->acceleration[row] = from->acceleration[last];
    if (from->second != NULL)
        from->second[row] = from->second[last];
    records[bp_entity_index(from->entities[row])].row = row;
    record->group = group;
    record->row = end;
}

void floor_move(floor_record_t *records, floor_group_t *groups, uint32_t to, const bp_entity_t *entities,
                uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const floor_record_t *record = &records[bp_entity_index(entities[i])];
        if (record->generation == bp_entity_generation(entities[i]))
            move_row(records, &groups[record->group], &groups[to], to, entities[i]);
    }
}

void floor_move_singly(floor_record_t *records, floor_group_t *groups, const bp_entity_t *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const floor_record_t *record = &records[bp_entity_index(entities[i])];
        if (record->generation != bp_entity_generation(entities[i]))
            continue;
        move_row(records, &groups[0], &groups[1], 1, entities[i]);
        move_row(records, &groups[1], &groups[0], 0, entities[i]);
    }
}

static void fetch_row(const floor_group_t *g, uint32_t row)
{
    __builtin_prefetch(&g->entities[row], 1);
    __builtin_prefetch(&g->mass[row], 1);
    __builtin_prefetch(&g->position[row], 1);
    __builtin_prefetch(&g->velocity[row], 1);
    __builtin_prefetch(&g->acceleration[row], 1);
}

void floor_move_ahead(floor_record_t *records, floor_group_t *groups, uint32_t to, const bp_entity_t *entities,
                      uint32_t count)
{
    enum { BLOCK = 64 };
    for (uint32_t first = 0; first < count; first += BLOCK) {
        uint32_t many = count - first < BLOCK ? count - first : BLOCK;
        const bp_entity_t *e = entities + first;
        for (uint32_t i = 0; i < many; i++)
            __builtin_prefetch(&records[bp_entity_index(e[i])], 1);
        for (uint32_t i = 0; i < many; i++) {
            const floor_group_t *from = &groups[records[bp_entity_index(e[i])].group];
            fetch_row(from, records[bp_entity_index(e[i])].row);
            if (i < from->count) /* the last rows' records are written too */
                __builtin_prefetch(&records[bp_entity_index(from->entities[from->count - 1 - i])], 1);
        }
        floor_move(records, groups, to, e, many);
    }
}

uint32_t floor_erase(floor_record_t *records, floor_group_t *groups, const bp_entity_t *entities, uint32_t count)
{
    uint32_t erased = 0;
    for (uint32_t i = 0; i < count; i++) {
        floor_record_t *record = &records[bp_entity_index(entities[i])];
        if (record->generation != bp_entity_generation(entities[i]))
            continue;
        floor_group_t *g = &groups[record->group];
        uint32_t row = record->row, last = --g->count;
        g->entities[row] = g->entities[last];
        g->mass[row] = g->mass[last];
        g->position[row] = g->position[last];
        g->velocity[row] = g->velocity[last];
        g->acceleration[row] = g->acceleration[last];
        records[bp_entity_index(g->entities[row])].row = row;
        record->generation = 0;
        erased++;
    }
    return erased;
}

uint32_t floor_store(const floor_record_t *records, const floor_group_t *groups, const bp_entity_t *entities,
                     uint32_t count, const float *in)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const floor_record_t *record = &records[bp_entity_index(entities[i])];
        if (record->generation != bp_entity_generation(entities[i]))
            continue;
        groups[record->group].mass[record->row] = in[i];
        found++;
    }
    return found;
}

float floor_indexed(const float *values, const uint32_t *index, uint32_t count)
{
    float sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[index[i]];
    return sum;
}

/* --- one column --------------------------------------------------------------------------------------- */

void floor_copy(float *to, const float *from, uint32_t count)
{
    memcpy(to, from, count * sizeof *to);
}

void floor_fill(float *values, float value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        values[i] = value;
}

void floor_multiply_add(float *restrict a, const float *restrict b, const float *restrict c, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        a[i] += b[i] * c[i];
}

void floor_halve(float *a, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        a[i] *= 0.5f;
}
