/* writers.c - values beside each other, before and after each unit. */
#include "writers.h"
#include "inspect.h"
#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- values ------------------------------------------------------------------------------------------------------- */

static bool reserve(void *block, size_t *room, size_t needed, size_t size)
{
    void **at = block;
    size_t wanted = *room * 2 > needed ? *room * 2 : needed + 64;
    if (needed <= *room)
        return true;
    void *more = realloc(*at, wanted * size);
    if (more == NULL)
        return false;
    *at = more;
    *room = wanted;
    return true;
}

/* `size` as in known_value_t. */
static bool add_value(values_t *v, bp_entity_t entity, const void *value, size_t size)
{
    size_t length = size > 0 ? size : strlen(value) + 1;
    if (!reserve(&v->items, &v->capacity, v->count + 1, sizeof *v->items) ||
        !reserve(&v->bytes, &v->room, v->size + length + 7, 1))
        return false;
    v->items[v->count++] = (known_value_t){entity, v->size, size};
    memcpy(v->bytes + v->size, value, length);
    v->size += (length + 7) / 8 * 8;
    return true;
}

static bool add_block(writers_t *w, values_t *v, const condition_block_t *block)
{
    char text[CONDITION_VALUE];
    for (uint32_t i = 0; i < block->count; i++) {
        bp_entity_t entity = block->entities[i];
        bool added = block->size > 0 ? add_value(v, entity, condition_block_value(block, i), block->size)
                                     : !condition_value(w->program, w->condition, entity, text) ||
                                           add_value(v, entity, text, 0);
        if (!added)
            return false;
    }
    return true;
}

/* Read the values of all entities that have the property, in the order of their indices; or the count. */
static bool read_values(writers_t *w, values_t *v)
{
    char text[CONDITION_VALUE];
    condition_block_t block;
    uint32_t index = 0;
    v->count = v->size = 0;
    if (w->condition->property == NULL)
        return condition_value(w->program, w->condition, (bp_entity_t){0}, text) &&
               add_value(v, (bp_entity_t){0}, text, 0);
    while (condition_next_block(w->program, w->condition, &index, &block)) {
        if (!add_block(w, v, &block))
            return false;
    }
    return true;
}

static void free_values(values_t *v)
{
    free(v->items);
    free(v->bytes);
    *v = (values_t){.count = 0};
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

/* The text of a value; `room` holds it where it has to be written. */
static const char *text_of(const writers_t *w, const values_t *v, size_t i, char room[CONDITION_VALUE])
{
    const known_value_t *item = &v->items[i];
    const condition_t *c = w->condition;
    if (item->size == 0)
        return v->bytes + item->at;
    room[0] = '\0';
    w->program->api->property->format(c->world, &c->path.property, v->bytes + item->at, room, CONDITION_VALUE);
    return room;
}

/* Note a value: the `i`-th before, the `k`-th after; BP_NONE: there is none. */
static void note(const writers_t *w, writer_t *writer, const values_t *a, size_t i, const values_t *b, size_t k)
{
    char before[CONDITION_VALUE], after[CONDITION_VALUE];
    if (writer->count++ >= WRITERS_SHOWN)
        return;
    written_t *written = &writer->first[writer->count - 1];
    written->entity = k != BP_NONE ? b->items[k].entity : a->items[i].entity;
    snprintf(written->before, sizeof written->before, "%s", i != BP_NONE ? text_of(w, a, i, before) : "");
    snprintf(written->after, sizeof written->after, "%s", k != BP_NONE ? text_of(w, b, k, after) : "");
}

static bool is_same(const writers_t *w, const values_t *a, size_t i, const values_t *b, size_t k)
{
    char before[CONDITION_VALUE], after[CONDITION_VALUE];
    const known_value_t *was = &a->items[i], *is = &b->items[k];
    if (was->entity.id != is->entity.id)
        return false;
    if (was->size == is->size && was->size > 0)
        return memcmp(a->bytes + was->at, b->bytes + is->at, was->size) == 0;
    return strcmp(text_of(w, a, i, before), text_of(w, b, k, after)) == 0;
}

/* Note all values that differ from those before; entities lie in the order of their indices. */
static void compare(const writers_t *w, const values_t *a, const values_t *b, writer_t *writer)
{
    for (size_t i = 0, k = 0; k < b->count || i < a->count;) {
        uint32_t was = i < a->count ? bp_entity_index(a->items[i].entity) : UINT32_MAX;
        uint32_t is = k < b->count ? bp_entity_index(b->items[k].entity) : UINT32_MAX;
        if (was < is) {
            note(w, writer, a, i, b, BP_NONE);
        } else if (is < was) {
            note(w, writer, a, BP_NONE, b, k);
        } else if (!is_same(w, a, i, b, k)) {
            note(w, writer, a, i, b, k);
        }
        i += was <= is;
        k += is <= was;
    }
}

/* Read the values as they are now, and note what differs as written by `name`. */
static void look(writers_t *w, const char *kind, const char *name)
{
    writer_t writer = {.count = 0};
    if (w->no_memory)
        return;
    w->no_memory = !read_values(w, &w->now);
    if (w->no_memory)
        return;
    compare(w, &w->before, &w->now, &writer);
    values_t now = w->now;
    w->now = w->before;
    w->before = now;
    snprintf(writer.name, sizeof writer.name, "%s%s%s", kind, name[0] != '\0' ? " " : "", name);
    if (writer.count > 0 && w->count < WRITERS_MOST)
        w->writers[w->count++] = writer;
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

static const char outside[] = "from outside", after_units[] = "by commands, or what comes after the units";

static void unit_begins(void *context, bp_world_o *world, const char *unit, uint32_t is_system)
{
    writers_t *w = context;
    (void)unit, (void)is_system;
    if (world != w->condition->world || w->any_unit)
        return;
    w->any_unit = true;
    look(w, outside, "");
}

static void unit_ends(void *context, bp_world_o *world, const char *unit, uint32_t is_system)
{
    writers_t *w = context;
    if (world == w->condition->world)
        look(w, is_system != 0 ? "by system" : "by component", unit);
}

bool writers_begin(writers_t *w, const program_t *program, condition_t *condition)
{
    *w = (writers_t){.program = program, .condition = condition};
    const bp_unit_watch_i watch = {
        .struct_size = sizeof watch, .context = w, .before = unit_begins, .after = unit_ends};
    if (read_values(w, &w->before) && bp_host_watch_units(program->host, &watch) == BP_OK)
        return true;
    writers_free(w);
    return false;
}

bool writers_end(writers_t *w)
{
    bp_host_watch_units(w->program->host, NULL);
    look(w, w->any_unit ? after_units : outside, "");
    return !w->no_memory;
}

void writers_print(const writers_t *w)
{
    const program_t *program = w->program;
    for (uint32_t i = 0; i < w->count; i++) {
        const writer_t *writer = &w->writers[i];
        printf("  written %s: ", writer->name);
        for (uint32_t k = 0; k < writer->count && k < WRITERS_SHOWN; k++) {
            const written_t *written = &writer->first[k];
            char id[ENTITY_TEXT_MAX];
            if (w->condition->property != NULL) {
                const char *name = inspect_name(program, w->condition->world, written->entity);
                program->api->entity->format(program->host, written->entity, id, sizeof id);
                printf("%s%s%s%s ", k > 0 ? "; " : "", id, name != NULL ? " " : "", name != NULL ? name : "");
            }
            terminal_print(stdout, written->before[0] != '\0' ? written->before : "(none)");
            fputs(" -> ", stdout);
            terminal_print(stdout, written->after[0] != '\0' ? written->after : "(none)");
        }
        if (writer->count > WRITERS_SHOWN)
            printf("; and %u more", (unsigned)(writer->count - WRITERS_SHOWN));
        putchar('\n');
    }
}

void writers_free(writers_t *w)
{
    free_values(&w->before);
    free_values(&w->now);
}
