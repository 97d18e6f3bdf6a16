/* wants.c - a list of names, kept in the order in which they were asked for. */
#include "wants.h"

#include "../base/error.h"

#include <string.h>

static uint32_t find(const wants_t *wants, const char *name, bool system)
{
    for (uint32_t i = 0; i < wants->count; i++) {
        if (wants->items[i].system == system && strcmp(wants->items[i].name, name) == 0)
            return i;
    }
    return BP_NONE;
}

bool wants_has(const wants_t *wants, const char *name, bool system)
{
    return find(wants, name, system) != BP_NONE;
}

uint32_t wants_place(const wants_t *wants, const char *name)
{
    uint32_t component = find(wants, name, false), system = find(wants, name, true);
    return component < system ? component : system;
}

bool wants_add(wants_t *wants, const char *name, bool system)
{
    if (wants_has(wants, name, system))
        return true;
    if (!memory_reserve(wants->memory, &wants->items, &wants->capacity, wants->count + 1u, sizeof *wants->items))
        return false;
    char *copy = memory_copy_text(wants->memory, name);
    if (copy != NULL)
        wants->items[wants->count++] = (want_t){.name = copy, .system = system};
    return copy != NULL;
}

bool wants_take_again(wants_t *wants, const char *name, bool system)
{
    uint32_t at = find(wants, name, system);
    bool again = at != BP_NONE && wants->items[at].again;
    if (again)
        wants->items[at].again = false;
    return again;
}

bool wants_drop(wants_t *wants, const char *name, bool system)
{
    uint32_t at = find(wants, name, system);
    if (at == BP_NONE)
        return false;
    memory_free_text(wants->memory, wants->items[at].name);
    wants->count--;
    wants->changes++;
    memmove(wants->items + at, wants->items + at + 1, (wants->count - at) * sizeof *wants->items);
    return true;
}

static bool is_in(const want_t *want, const char *list)
{
    char word[64];
    bool listed = false;
    while (want->system && !listed && (list = text_next_word(list, word, sizeof word)) != NULL)
        listed = strcmp(word, want->name) == 0;
    return listed;
}

/* The systems of the list share out the places that they had among them, in the list's order. */
void wants_order(wants_t *wants, const char *list)
{
    char word[64];
    uint32_t next = 0;
    wants->changes++;
    for (const char *at = list; (at = text_next_word(at, word, sizeof word)) != NULL;) {
        uint32_t from = find(wants, word, true);
        if (from == BP_NONE || from < next)
            continue;
        while (!is_in(&wants->items[next], list))
            next++;
        want_t moved = wants->items[from];
        wants->items[from] = wants->items[next];
        wants->items[next++] = moved;
    }
}

void wants_become(wants_t *wants, wants_t *other)
{
    uint32_t changes = wants->changes + 1;
    wants_free(wants);
    *wants = *other;
    wants->changes = changes;
    *other = (wants_t){.memory = other->memory};
}

void wants_free(wants_t *wants)
{
    for (uint32_t i = 0; i < wants->count; i++)
        memory_free_text(wants->memory, wants->items[i].name);
    memory_free(wants->memory, wants->items, wants->capacity * sizeof *wants->items);
    wants->items = NULL;
    wants->count = wants->capacity = 0;
}
