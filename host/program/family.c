/* family.c - parents and labels by the flags of fields.
 *
 * A key of the world stands for a component type under an instance name, so whether it has a flagged field, and
 * which, is found out once a key and then reused for all entities: keys are small numbers, so a table by key is
 * enough. Reading a million parents then costs a million look-ups and no comparison of texts.
 *
 * Children are listed as one array with a beginning for each parent, filled by counting: no list of its own for
 * each entity, and the order of entities stays.
 */
#include "family.h"

#include "inspect.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS_MOST = 255 }; /* components of an entity */

typedef struct mark_t {
    bool known, marked;
    bp_property_t property;
} mark_t;

/* --- marks ---------------------------------------------------------------------------------------------- */

static bool make_room(marks_t *marks, uint32_t key)
{
    if (key < marks->count)
        return true;
    uint32_t count = key < 32 ? 64 : 2 * key;
    mark_t *wider = realloc(marks->marks, count * sizeof *wider);
    if (wider == NULL) {
        marks->failed = true;
        return false;
    }
    memset(wider + marks->count, 0, (count - marks->count) * sizeof *wider);
    marks->marks = wider;
    marks->count = count;
    return true;
}

/* Find out about a key by an entity that has it. */
static void find_out(const marks_t *marks, uint32_t key, bp_entity_t entity, mark_t *mark)
{
    const bp_property_api *api = marks->program->api->property;
    attached_t attached = inspect_attached(marks->program, marks->world, key);
    bp_field_t field = {0};
    mark->known = true;
    for (uint32_t i = 0; !mark->marked && api->describe(marks->program->host, attached.type, i, &field) == BP_OK; i++) {
        char name[64];
        if ((field.flags & marks->flag) == 0 || field.type != marks->type || strlen(field.name) >= sizeof name)
            continue;
        memcpy(name, field.name, strlen(field.name) + 1);
        mark->marked = api->resolve(marks->world, entity, attached.name, name, &mark->property) == BP_OK;
    }
}

/* Does a value say something? */
static bool says_something(uint32_t type, const bp_value_t *value)
{
    return type == BP_STRING ? value->string != NULL && value->string[0] != '\0' : value->entity.id != 0;
}

bool marks_read(marks_t *marks, bp_entity_t entity, bp_value_t *value)
{
    const bp_api_t *api = marks->program->api;
    uint32_t keys[KEYS_MOST];
    uint32_t count = api->world->keys_of(marks->world, entity, keys, KEYS_MOST);
    for (uint32_t i = 0; i < count && i < KEYS_MOST; i++) {
        if (!make_room(marks, keys[i]))
            return false;
        mark_t *mark = &marks->marks[keys[i]];
        if (!mark->known)
            find_out(marks, keys[i], entity, mark);
        if (mark->marked &&
            api->property->get(marks->world, &mark->property, &entity, 1, value, sizeof *value) == BP_OK &&
            says_something(marks->type, value))
            return true;
    }
    return false;
}

void marks_free(marks_t *marks)
{
    free(marks->marks);
    marks->marks = NULL;
    marks->count = 0;
}

/* --- families ------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    uint32_t first = bp_entity_index(*(const bp_entity_t *)a), second = bp_entity_index(*(const bp_entity_t *)b);
    return (first > second) - (first < second);
}

uint32_t family_find(const family_t *family, bp_entity_t entity)
{
    const bp_entity_t *found =
        family->count == 0 ? NULL : bsearch(&entity, family->entities, family->count, sizeof entity, compare);
    return found == NULL || found->id != entity.id ? BP_NONE : (uint32_t)(found - family->entities);
}

static bool find_parents(const program_t *program, bp_world_o *world, family_t *family)
{
    marks_t marks = {.program = program, .world = world, .flag = BP_FIELD_PARENT, .type = BP_ENTITY};
    bp_value_t value;
    for (uint32_t i = 0; i < family->count; i++)
        family->parents[i] = marks_read(&marks, family->entities[i], &value) ? family_find(family, value.entity) : BP_NONE;
    marks_free(&marks);
    return !marks.failed;
}

static void list_children(family_t *family)
{
    for (uint32_t i = 0; i < family->count; i++)
        if (family->parents[i] != BP_NONE)
            family->first[family->parents[i]]++;
    uint32_t end = 0;
    for (uint32_t i = 0; i < family->count; i++) { /* now where each one's children end */
        end += family->first[i];
        family->first[i] = end;
    }
    family->first[family->count] = end;
    for (uint32_t i = family->count; i-- > 0;)
        if (family->parents[i] != BP_NONE)
            family->children[--family->first[family->parents[i]]] = i;
}

bool family_collect(const program_t *program, bp_world_o *world, family_t *family)
{
    bp_world_stats_t stats;
    uint32_t index = 0;
    bp_world_stats(world, &stats);
    size_t room = (size_t)stats.entities + 1;
    *family = (family_t){
        .entities = malloc(room * sizeof *family->entities),
        .parents = malloc(room * sizeof *family->parents),
        .first = calloc(room, sizeof *family->first),
        .children = malloc(room * sizeof *family->children),
    };
    bool fine = family->entities != NULL && family->parents != NULL && family->first != NULL && family->children != NULL;
    while (fine && family->count < stats.entities) {
        bp_entity_t entity = inspect_next(program, world, &index);
        if (entity.id == 0)
            break;
        family->entities[family->count++] = entity;
    }
    fine = fine && find_parents(program, world, family);
    if (fine)
        list_children(family);
    else
        family_free(family);
    return fine;
}

void family_free(family_t *family)
{
    free(family->entities);
    free(family->parents);
    free(family->first);
    free(family->children);
    *family = (family_t){0};
}
