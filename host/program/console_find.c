/* console_find.c - entities by their values, and values while steps are taken.
 *
 * Values are compared as `get` prints them: numbers as numbers, other values as texts, which are equal or not.
 */
#include "console.h"
#include "inspect.h"
#include "output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FOUND_SHOWN = 20, WATCH_LINES = 20 };

/* --- find -------------------------------------------------------------------------------------------------------- */

typedef enum comparison_t { LESS, AT_MOST, EQUAL, UNLIKE, AT_LEAST, GREATER, COMPARISONS } comparison_t;

static const char *const comparison_texts[COMPARISONS] = {"<", "<=", "=", "!=", ">=", ">"};

static bool read_comparison(const char *text, comparison_t *comparison)
{
    for (int i = 0; i < COMPARISONS; i++) {
        if (strcmp(text, comparison_texts[i]) == 0 || (i == EQUAL && strcmp(text, "==") == 0)) {
            *comparison = (comparison_t)i;
            return true;
        }
    }
    return false;
}

static bool holds(comparison_t comparison, const char *left, const char *right)
{
    bool numbers = numbers_is_number(left) && numbers_is_number(right);
    double a = numbers ? strtod(left, NULL) : 0, b = numbers ? strtod(right, NULL) : 0;
    switch (comparison) {
    case LESS: return numbers && a < b;
    case AT_MOST: return numbers && a <= b;
    case AT_LEAST: return numbers && a >= b;
    case GREATER: return numbers && a > b;
    case UNLIKE: return numbers ? a < b || a > b : strcmp(left, right) != 0;
    default: return numbers ? !(a < b || a > b) : strcmp(left, right) == 0;
    }
}

/* Read by way of a property that has been resolved for another entity, which most have in common; else resolve. */
bool console_read_value(const program_t *program, condition_t *c, bp_entity_t entity, char *value)
{
    const bp_property_api *api = program->api->property;
    c->path.world = c->world;
    c->path.entity = entity;
    value[0] = '\0';
    if (c->resolved && api->get_text(&c->path, value, CONSOLE_VALUE) == BP_OK)
        return true;
    bp_property_t property;
    value[0] = '\0';
    if (api->resolve(c->world, entity, c->component, c->property, &property) != BP_OK)
        return false;
    c->path.property = property;
    c->resolved = true;
    return api->get_text(&c->path, value, CONSOLE_VALUE) == BP_OK;
}

bool console_holds(const program_t *program, condition_t *c, bp_entity_t entity, char *value)
{
    if (!console_read_value(program, c, entity, value))
        return false;
    c->known = true;
    return c->value == NULL || holds((comparison_t)c->comparison, value, c->value);
}

/* A number read without its text, where the property is one. */
static bool read_number(const program_t *program, condition_t *c, bp_entity_t entity, double *number)
{
    union { float f32; double f64; int32_t i32; uint32_t u32; } value;
    bp_property_t *p = &c->path.property;
    bool is_number = c->resolved && p->size <= sizeof value &&
                     (p->type == BP_F32 || p->type == BP_F64 || p->type == BP_I32 || p->type == BP_U32) &&
                     (p->flags & BP_FIELD_LIST) == 0 && (p->element != BP_NONE || p->count <= 1);
    if (!is_number ||
        program->api->property->get(c->world, p, &entity, 1, &value, sizeof value) != BP_OK)
        return false;
    *number = p->type == BP_F32 ? (double)value.f32 : p->type == BP_F64 ? value.f64
              : p->type == BP_I32 ? (double)value.i32 : (double)value.u32;
    return true;
}

/* Can the condition be ruled out without the value's text? A number has to be clearly on the wrong side: near the
 * value that is compared with, the text decides. */
static bool is_ruled_out(const program_t *program, condition_t *c, bp_entity_t entity, double limit)
{
    double number;
    if (!read_number(program, c, entity, &number) || !(fabs(number - limit) > 1e-5 * (fabs(number) + fabs(limit))))
        return false;
    c->known = true;
    switch ((comparison_t)c->comparison) {
    case LESS: case AT_MOST: return number > limit;
    case AT_LEAST: case GREATER: return number < limit;
    case UNLIKE: return false;
    default: return true;
    }
}

bp_entity_t console_first(const program_t *program, condition_t *c, char *value)
{
    uint32_t index = 0;
    bp_entity_t entity;
    bool number = c->value != NULL && numbers_is_number(c->value);
    double limit = number ? strtod(c->value, NULL) : 0;
    while ((entity = inspect_next(program, c->world, &index)).id != 0) {
        if (!(number && is_ruled_out(program, c, entity, limit)) && console_holds(program, c, entity, value))
            break;
    }
    return entity;
}

static bool print_found(console_t *console, condition_t *search)
{
    const program_t *program = console->program;
    char id[ENTITY_TEXT_MAX], value[CONSOLE_VALUE];
    uint32_t index = 0, found = 0;
    bp_entity_t entity;
    table_t table;
    table_begin_bare(&table, 3);
    while ((entity = inspect_next(program, search->world, &index)).id != 0) {
        if (!console_holds(program, search, entity, value) || found++ >= FOUND_SHOWN)
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
    if (!search->known)
        return console_refuse(console, "no entity of world '%s' has a property %s.%s",
                              program->api->world->name(search->world), search->component, search->property);
    printf("%" PRIu32 " %s\n", found, found == 1 ? "entity" : "entities");
    if (found > FOUND_SHOWN)
        printf("  the first %d are shown\n", FOUND_SHOWN);
    return true;
}

bool console_read_condition(console_t *console, const char *command, char *rest, condition_t *c)
{
    char why[WHY_MAX], *words[3] = {NULL}, *value = NULL;
    comparison_t comparison = EQUAL;
    *c = (condition_t){.value = NULL};
    for (int i = 0; i < 3; i++) {
        if (console_words_next(&rest, &words[i]) != WORDS_FOUND)
            words[i] = NULL;
    }
    if (words[0] == NULL || words[1] == NULL || strchr(words[1], '.') == NULL)
        return console_refuse(console, "%s needs a world and a property, such as %s main body.mass > 2", command,
                              command);
    c->world = inspect_world(console->program, words[0], why);
    if (c->world == NULL)
        return console_refuse(console, "%s", why);
    char *dot = strchr(words[1], '.');
    *dot = '\0';
    c->component = words[1];
    c->property = dot + 1;
    if (words[2] == NULL)
        return true;
    words_end_t end = console_words_value(rest, &value);
    if (!read_comparison(words[2], &comparison))
        return console_refuse(console, "'%s' is none of < <= = != >= >, such as %s main body.mass > 2", words[2],
                              command);
    if (end != WORDS_FOUND)
        return end == WORDS_UNCLOSED
                   ? console_refuse_unclosed(console)
                   : console_refuse(console, "compare it with what? such as %s main body.mass > 2", command);
    c->comparison = (int)comparison;
    c->value = value;
    return true;
}

bool console_find(console_t *console, char *rest)
{
    condition_t condition;
    return console_read_condition(console, "find", rest, &condition) && print_found(console, &condition);
}

/* --- watch ------------------------------------------------------------------------------------------------------- */

static bool print_watched(const console_t *console, const char *path, const char *before)
{
    const program_t *program = console->program;
    char why[WHY_MAX], value[CONSOLE_VALUE];
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
