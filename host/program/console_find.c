/* console_find.c - entities by their values, values while steps are taken, and the first step among those that the host
 * remembers at which a condition holds, with the unit that wrote the value. */
#include "condition.h"

#include "inspect.h"
#include "output.h"
#include "writers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOUND_SHOWN = 20, WATCH_LINES = 20 };

/* --- find -------------------------------------------------------------------------------------------------------- */

static bool print_found(console_t *console, condition_t *search)
{
    const program_t *program = console->program;
    char id[ENTITY_TEXT_MAX], value[CONDITION_VALUE], why[WHY_MAX];
    uint32_t index = 0, found = 0;
    bp_entity_t entity;
    table_t table;
    table_begin_bare(&table, 3);
    while ((entity = condition_next(program, search, &index)).id != 0) {
        if (!condition_holds_for(program, search, entity, value) || found++ >= FOUND_SHOWN)
            continue;
        const char *name = inspect_name(program, search->world, entity);
        program->api->entity->format(program->host, entity, id, sizeof id);
        table_cell(&table, id);
        table_cell(&table, name != NULL ? name : "");
        table_cell(&table, value);
    }
    bool fine = found == 0 || table_print(&table, stdout, "  ", console->styled);
    table_end(&table);
    if (!fine)
        return console_refuse_memory(console);
    if (found == 0 && condition_fault(program, search, why, sizeof why) != NULL)
        return console_refuse(console, "%s", why);
    printf("%" PRIu32 " %s\n", found, found == 1 ? "entity" : "entities");
    if (found > FOUND_SHOWN)
        printf("  the first %d are shown\n", FOUND_SHOWN);
    return true;
}

bool console_find(console_t *console, char *rest)
{
    condition_t condition;
    char value[CONDITION_VALUE];
    if (!condition_read(console, "find", rest, &condition))
        return false;
    if (condition.property != NULL)
        return print_found(console, &condition);
    bool holds = condition_holds_for(console->program, &condition, (bp_entity_t){0}, value);
    printf("%s: %s\n", value, holds ? "it is so" : "it is not so");
    return true;
}

/* --- watch ------------------------------------------------------------------------------------------------------- */

static bool print_watched(const console_t *console, const char *path, const char *before)
{
    const program_t *program = console->program;
    char why[WHY_MAX], value[CONDITION_VALUE];
    target_t target;
    if (!inspect_path(program, path, &target, why) || target.kind != TARGET_PROPERTY) {
        printf("%s%s: gone\n", before, path);
        return false;
    }
    if (program->api->property->get_text(&target.path, value, sizeof value) != BP_OK)
        return console_refuse(console, "%s", bp_host_error(program->host));
    printf("%s%s = ", before, path);
    terminal_print(stdout, value);
    putchar('\n');
    return true;
}

bool console_watch(console_t *console, char *rest)
{
    char why[WHY_MAX], *path;
    target_t target;
    if (!console_take_words(console, rest, &path, 1))
        return false;
    if (path == NULL) {
        for (uint32_t i = 0; i < console->watch_count; i++)
            print_watched(console, console->watched[i], "");
        return true;
    }
    if (!inspect_path(console->program, path, &target, why))
        return console_refuse(console, "%s", why);
    if (target.kind != TARGET_PROPERTY)
        return console_refuse(console, "'%s' is no property; write world/entity.component.property", path);
    if (console->watch_count == CONSOLE_WATCHED)
        return console_refuse(console, "%d properties are watched already; unwatch one", CONSOLE_WATCHED);
    char *copy = malloc(strlen(path) + 1);
    if (copy == NULL)
        return console_refuse_memory(console);
    console->watched[console->watch_count++] = strcpy(copy, path);
    return true;
}

bool console_unwatch(console_t *console, char *rest)
{
    char *path;
    uint32_t kept = 0;
    if (!console_take_words(console, rest, &path, 1))
        return false;
    for (uint32_t i = 0; i < console->watch_count; i++) {
        if (path == NULL || strcmp(console->watched[i], path) == 0)
            free(console->watched[i]);
        else
            console->watched[kept++] = console->watched[i];
    }
    bool any = kept < console->watch_count;
    console->watch_count = kept;
    return any || console_refuse(console, path == NULL ? "nothing is watched" : "that property is not watched");
}

uint64_t console_watch_stride(const console_t *console, uint64_t steps)
{
    return console->watch_count == 0 || steps == 0 ? steps : (steps + WATCH_LINES - 1) / WATCH_LINES;
}

/* The world of a path that was watched, also where the entity has gone; NULL where there is no world any more. */
static bp_world_o *world_of(const program_t *program, const char *path)
{
    char why[WHY_MAX], name[128];
    target_t target;
    if (inspect_path(program, path, &target, why))
        return target.world;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(path, strchr(path, '/') != NULL ? "/" : "."), path);
    bp_world_o *world = program->api->world->find(program->host, name);
    return world != NULL ? world : program->api->world->at(program->host, 0);
}

void console_show_watched(const console_t *console)
{
    for (uint32_t i = 0; i < console->watch_count; i++) {
        char before[64];
        bp_step_t clock = {.struct_size = sizeof clock};
        bp_world_o *world = world_of(console->program, console->watched[i]);
        if (world != NULL)
            console->program->api->world->clock(world, &clock);
        snprintf(before, sizeof before, world != NULL ? "  step %" PRIu64 ": " : "  ", clock.number);
        print_watched(console, console->watched[i], before);
    }
}

/* --- when, bisect ------------------------------------------------------------------------------------------------- */

static bool hold_at(console_t *console, condition_t *c, uint64_t moment, bool *holds)
{
    char value[CONDITION_VALUE];
    if (bp_host_go(console->program->host, moment) != BP_OK)
        return console_refuse(console, "%s", bp_host_error(console->program->host));
    bp_entity_t entity;
    *holds = condition_holds(console->program, c, &entity, value);
    return true;
}

bp_entity_t console_print_first(const program_t *program, condition_t *c, uint64_t now, uint64_t last)
{
    char id[ENTITY_TEXT_MAX], value[CONDITION_VALUE], about[WHY_MAX];
    bp_entity_t entity;
    condition_holds(program, c, &entity, value);
    const char *name = entity.id == 0 ? NULL : inspect_name(program, c->world, entity);
    program->api->entity->format(program->host, entity, id, sizeof id);
    printf("at step %" PRIu64 " of %" PRIu64 ": %s%s%s%s%s = ", now, last, entity.id != 0 ? id : "",
           name != NULL ? " " : "", name != NULL ? name : "", entity.id != 0 ? " " : "",
           condition_about(program, c, about, sizeof about));
    terminal_print(stdout, value);
    return entity;
}

void console_print_before(const char *before)
{
    fputs(before[0] != '\0' ? ", before " : "", stdout);
    terminal_print(stdout, before);
    putchar('\n');
}

/* The host is at the first step at which the condition holds: print the entity, its value, the value before, and the
 * unit that wrote it. The step is taken once more for that. */
static bool tell_first(console_t *console, condition_t *c)
{
    const program_t *program = console->program;
    bp_history_t h = console_read_history(console);
    char before[CONDITION_VALUE] = "";
    writers_t writers;
    bp_entity_t entity = console_print_first(program, c, h.now, h.last);
    bool back = h.now > h.first && bp_host_go(program->host, h.now - 1) == BP_OK;
    if (back)
        condition_holds_for(program, c, entity, before);
    console_print_before(before);
    if (!back)
        return true;
    bool watched = writers_begin(&writers, program, c);
    bool returned = bp_host_go(program->host, h.now) == BP_OK;
    if (!watched)
        return console_refuse_memory(console);
    bool whole = writers_end(&writers);
    if (returned && whole)
        writers_print(&writers);
    writers_free(&writers);
    if (!returned)
        return console_refuse(console, "%s", bp_host_error(program->host));
    return whole || console_refuse_memory(console);
}

/* Nothing was found: back to where the host was. */
static bool return_to(console_t *console, const bp_history_t *h, const condition_t *c, const char *why)
{
    if (bp_host_go(console->program->host, h->now) != BP_OK)
        return console_refuse(console, "%s", bp_host_error(console->program->host));
    char fault[WHY_MAX];
    if (condition_fault(console->program, c, fault, sizeof fault) != NULL)
        return console_refuse(console, "at none of these steps: %s", fault);
    printf("%s in steps %" PRIu64 " to %" PRIu64 "\n", why, h->first, h->last);
    return true;
}

bool console_when(console_t *console, char *rest)
{
    condition_t condition;
    if (!console_remembers(console) || !condition_read(console, "when", rest, &condition))
        return false;
    bp_history_t h = console_read_history(console);
    for (uint64_t moment = h.first; moment <= h.last; moment++) {
        bool holds;
        if (!hold_at(console, &condition, moment, &holds))
            return false;
        if (holds)
            return tell_first(console, &condition);
    }
    return return_to(console, &h, &condition, "never");
}

bool console_bisect(console_t *console, char *rest)
{
    condition_t condition;
    bool holds;
    if (!console_remembers(console) || !condition_read(console, "bisect", rest, &condition))
        return false;
    bp_history_t h = console_read_history(console);
    uint64_t before = h.first, at = h.last;
    if (!hold_at(console, &condition, at, &holds))
        return false;
    if (!holds)
        return return_to(console, &h, &condition, "not at the end, and so nothing to look for");
    if (!hold_at(console, &condition, before, &holds))
        return false;
    at = holds ? before : at;
    while (at - before > 1) {
        uint64_t middle = before + (at - before) / 2;
        if (!hold_at(console, &condition, middle, &holds))
            return false;
        *(holds ? &at : &before) = middle;
    }
    return hold_at(console, &condition, at, &holds) && tell_first(console, &condition);
}
