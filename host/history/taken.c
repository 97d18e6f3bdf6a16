/* taken.c - entries found by halving, added at the end, and dropped at both ends. */
#include "taken.h"

void taken_init(taken_t *t, memory_t *memory)
{
    *t = (taken_t){.memory = memory};
}

void taken_free(taken_t *t)
{
    memory_free(t->memory, t->items, t->capacity * sizeof *t->items);
    taken_init(t, t->memory);
}

/* How many entries begin at `moment` or before it. */
static uint32_t begun(const taken_t *t, uint64_t moment)
{
    uint32_t begin = 0, end = t->count;
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (t->items[middle].moment <= moment)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

uint32_t taken_at(const taken_t *t, uint64_t moment)
{
    return t->items[begun(t, moment) - 1].world;
}

bool taken_add(taken_t *t, uint64_t moment, uint32_t world)
{
    if (t->count > 0 && t->items[t->count - 1].world == world)
        return true;
    if (!memory_reserve(t->memory, &t->items, &t->capacity, t->count + UINT64_C(1), sizeof *t->items))
        return false;
    t->items[t->count++] = (taken_steps_t){.moment = moment, .world = world};
    return true;
}

void taken_cut(taken_t *t, uint64_t moment)
{
    while (t->count > 0 && t->items[t->count - 1].moment >= moment)
        t->count--;
}

void taken_drop(taken_t *t, uint64_t moment)
{
    uint32_t gone = begun(t, moment);
    if (gone == 0)
        return;
    gone--; /* the entry that holds the moment stays */
    memmove(t->items, t->items + gone, (t->count - gone) * sizeof *t->items);
    t->count -= gone;
    t->items[0].moment = moment;
}

bool taken_copy(const taken_t *from, uint64_t moment, uint64_t end, taken_t *to)
{
    uint32_t first = moment < end ? begun(from, moment) - 1 : 0;
    uint32_t count = moment < end ? begun(from, end - 1) - first : 0;
    if (!memory_reserve(to->memory, &to->items, &to->capacity, to->count + (uint64_t)count, sizeof *to->items))
        return false;
    for (uint32_t i = 0; i < count; i++)
        taken_add(to, i == 0 ? moment : from->items[first + i].moment, from->items[first + i].world);
    return true;
}
