/* eras.c - a list of moments and the host's makeup from each on. */
#include "eras.h"

#include <string.h>

void eras_init(eras_t *eras, memory_t *memory)
{
    *eras = (eras_t){.memory = memory};
}

static void drop(eras_t *eras, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        eras->makers.drop(eras->makers.context, eras->items[i].makeup);
    eras->count -= count;
    if (count > 0 && eras->count > first)
        memmove(eras->items + first, eras->items + first + count, (eras->count - first) * sizeof *eras->items);
}

void eras_free(eras_t *eras)
{
    drop(eras, 0, eras->count);
    memory_free(eras->memory, eras->items, eras->capacity * sizeof *eras->items);
    eras->items = NULL;
    eras->capacity = 0;
}

bool eras_put(eras_t *eras, uint64_t moment, makeup_t *makeup)
{
    if (!memory_reserve(eras->memory, &eras->items, &eras->capacity, eras->count + 1u, sizeof *eras->items))
        return false;
    eras->items[eras->count++] = (era_t){moment, makeup};
    return true;
}

bool eras_add(eras_t *eras, uint64_t moment)
{
    makeup_t *makeup;
    const makeup_t *like = eras->count == 0 ? NULL : eras->items[eras->count - 1].makeup;
    if (eras->makers.look == NULL ||
        !memory_reserve(eras->memory, &eras->items, &eras->capacity, eras->count + 1u, sizeof *eras->items) ||
        eras->makers.look(eras->makers.context, like, &makeup) != BP_OK)
        return false;
    if (eras->count > 1 && eras->items[eras->count - 1].moment == moment)
        drop(eras, eras->count - 1, 1);
    eras->items[eras->count++] = (era_t){moment, makeup};
    return true;
}

bool eras_begin(eras_t *eras, uint64_t moment)
{
    uint32_t before = eras->count; /* the last one is freed later: the new one shares its parts */
    bool made = eras_add(eras, moment);
    drop(eras, 0, made ? eras->count - 1 : before);
    return made;
}

const era_t *eras_of(const eras_t *eras, uint64_t moment, bool touched)
{
    const era_t *found = eras->count == 0 ? NULL : eras->items;
    for (uint32_t i = 1; i < eras->count; i++) {
        if (eras->items[i].moment < moment || (touched && eras->items[i].moment == moment))
            found = &eras->items[i];
    }
    return found;
}

bool eras_is(const eras_t *eras, const era_t *era)
{
    return era == NULL || eras->makers.is(eras->makers.context, era->makeup);
}

bp_result_t eras_check(const eras_t *eras, const era_t *era)
{
    return eras->makers.check(eras->makers.context, era->makeup);
}

bp_result_t eras_become(const eras_t *eras, const era_t *era)
{
    return eras->makers.become(eras->makers.context, era->makeup);
}

void eras_drop_before(eras_t *eras, uint64_t first)
{
    uint32_t gone = 0;
    while (gone + 1 < eras->count && eras->items[gone + 1].moment < first)
        gone++;
    drop(eras, 0, gone);
}

void eras_drop_from(eras_t *eras, uint64_t moment)
{
    while (eras->count > 1 && eras->items[eras->count - 1].moment >= moment)
        drop(eras, eras->count - 1, 1);
}

bool eras_split(eras_t *eras, uint64_t moment, eras_t *to)
{
    uint32_t first = eras->count > 0 ? 1 : 0;
    while (first < eras->count && eras->items[first].moment < moment)
        first++;
    uint32_t count = eras->count - first;
    to->makers = eras->makers;
    if (count == 0)
        return true;
    if (!memory_reserve(to->memory, &to->items, &to->capacity, count, sizeof *to->items))
        return false;
    memcpy(to->items, eras->items + first, count * sizeof *to->items);
    to->count = count;
    eras->count = first;
    return true;
}

bool eras_join(eras_t *eras, eras_t *from)
{
    if (from->count > 0 && !memory_reserve(eras->memory, &eras->items, &eras->capacity,
                                           (uint64_t)eras->count + from->count, sizeof *eras->items))
        return false;
    if (from->count > 0)
        memcpy(eras->items + eras->count, from->items, from->count * sizeof *eras->items);
    eras->count += from->count;
    from->count = 0;
    eras_free(from);
    return true;
}
