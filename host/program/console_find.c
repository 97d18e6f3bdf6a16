/* console_find.c - entities by their values, and values while steps are taken. */
#include "condition.h"
#include "inspect.h"
#include "output.h"

#include <inttypes.h>
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

void console_show_watched(const console_t *console)
{
    const bp_world_api *api = console->program->api->world;
    bp_world_o *world = api->at(console->program->host, 0);
    for (uint32_t i = 0; i < console->watch_count; i++) {
        char before[64];
        bp_step_t clock = {.struct_size = sizeof clock};
        const char *slash = strchr(console->watched[i], '/');
        char name[128];
        snprintf(name, sizeof name, "%.*s", slash == NULL ? 0 : (int)(slash - console->watched[i]),
                 console->watched[i]);
        bp_world_o *own = api->find(console->program->host, name);
        api->clock(own != NULL ? own : world, &clock);
        snprintf(before, sizeof before, "  step %" PRIu64 ": ", clock.number);
        print_watched(console, console->watched[i], before);
    }
}
