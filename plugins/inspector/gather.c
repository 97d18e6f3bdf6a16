/* gather.c - values of one property for many entities (gather.h).
 *
 * A name may mean several components ("body" of two types, or a type that entities bear under several names): all keys
 * of the world that bear the name are gone through, each with the entities that have it, in blocks of BLOCK that lie on
 * the stack.
 */
#include "gather.h"

#include "look.h"
#include "near.h"
#include "values.h"

#include <stdio.h>

enum { BLOCK = 256 };

/* --- binding -------------------------------------------------------------------------------------------------- */

static bool refuse(char sentence[GATHER_SENTENCE_MAX], const char *text)
{
    snprintf(sentence, GATHER_SENTENCE_MAX, "%s", text);
    return false;
}

/* Say that no key of the world bears the name. */
static bool explain_component(const inspector_t *in, bp_world_o *world, const char *wanted,
                              char sentence[GATHER_SENTENCE_MAX])
{
    look_part_t part;
    near_t near = {.wanted = wanted};
    for (uint32_t key = 0; look_part(in, world, key, &part); key++) {
        near_consider(&near, part.name);
        near_consider(&near, part.type);
    }
    snprintf(sentence, GATHER_SENTENCE_MAX, "no entity of this world has a component '%.64s'%s%.64s%s", wanted,
             near.best == NULL ? "" : "; did you mean '", near.best == NULL ? "" : near.best,
             near.best == NULL ? "" : "'?");
    return false;
}

static bool explain_property(const inspector_t *in, const char *type, const char *wanted,
                             char sentence[GATHER_SENTENCE_MAX])
{
    char best[64];
    const char *near = look_field_near(in, type, wanted, best);
    snprintf(sentence, GATHER_SENTENCE_MAX, "%.64s has no property '%.64s'%s%s%s", type, wanted,
             near == NULL ? "" : "; did you mean '", near == NULL ? "" : near, near == NULL ? "" : "'?");
    return false;
}

/* Find the part that the field asks for; the type is known by now. */
static bool bind_part(gather_t *gather, const condition_field_t *field, char sentence[GATHER_SENTENCE_MAX])
{
    bool vector = shape_of(gather->type)->parts > 1;
    gather->part = field->part;
    if (field->part_name[0] != '\0') {
        gather->part = shape_part(gather->type, field->part_name);
        if (gather->part != BP_NONE)
            return true;
        snprintf(sentence, GATHER_SENTENCE_MAX, "%.64s.%.64s is a %s and has no part '%s'", field->component,
                 field->property, shape_of(gather->type)->name, field->part_name);
        return false;
    }
    if (field->part == CONDITION_LENGTH && !vector) {
        snprintf(sentence, GATHER_SENTENCE_MAX, "%.64s.%.64s is a %s; only vectors have a length", field->component,
                 field->property, shape_of(gather->type)->name);
        return false;
    }
    return true;
}

bool gather_bind(const inspector_t *in, bp_world_o *world, const condition_field_t *field, gather_t *gather,
                 char sentence[GATHER_SENTENCE_MAX])
{
    look_part_t part;
    bp_field_t declared;
    bool called = false;
    *gather = (gather_t){.part = field->part};
    snprintf(gather->component, sizeof gather->component, "%s", field->component);
    snprintf(gather->property, sizeof gather->property, "%s", field->property);
    for (uint32_t key = 0; look_part(in, world, key, &part); key++) {
        if (!look_is_called(&part, field->component))
            continue;
        called = true;
        if (field->property[0] == '\0')
            continue;
        if (look_field_named(in, part.type, field->property, &declared) == BP_NONE)
            return explain_property(in, part.type, field->property, sentence);
        if (gather->type != BP_TYPE_NONE && gather->type != declared.type)
            return refuse(sentence,
                          "components of several types are called so, and their properties of that name differ in "
                          "type; write type::name");
        gather->type = declared.type;
    }
    if (!called)
        return explain_component(in, world, field->component, sentence);
    return field->property[0] == '\0' || bind_part(gather, field, sentence);
}

bool gather_bind_text(const inspector_t *in, bp_world_o *world, const char *text, gather_t *gather,
                      char sentence[GATHER_SENTENCE_MAX])
{
    condition_t condition;
    char why[CONDITION_SENTENCE_MAX];
    if (!condition_read(&condition, text, why))
        return refuse(sentence, why);
    if (condition.node_count != 1 || condition.field_count != 1 || condition.fields[0].property[0] == '\0')
        return refuse(sentence, "this is no property; write component.property, like body.mass or body.position.x");
    return gather_bind(in, world, &condition.fields[0], gather, sentence);
}

/* --- values --------------------------------------------------------------------------------------------------- */

/* The places in a block of the entities that have the component of a key. Returns how many have it. */
static uint32_t those_that_have(const inspector_t *in, bp_world_o *world, uint32_t key, const bp_entity_t *entities,
                                uint32_t count, uint32_t places[BLOCK])
{
    uint8_t has[BLOCK];
    uint32_t found = 0;
    if (in->api->world->has(world, key, entities, count, has) == 0)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        places[found] = i;
        found += has[i];
    }
    return found;
}

/* The values of one key's component for a block. */
static uint32_t gather_key(const inspector_t *in, bp_world_o *world, const gather_t *gather, const look_part_t *part,
                           const bp_entity_t *entities, uint32_t count, char *values, uint8_t *has)
{
    uint32_t places[BLOCK], size = shape_size(gather->type),
                            found = those_that_have(in, world, part->key, entities, count, places);
    bp_entity_t owners[BLOCK];
    bp_property_t property;
    bp_value_t got[BLOCK];
    if (found == 0)
        return 0;
    for (uint32_t i = 0; i < found; i++)
        owners[i] = entities[places[i]];
    if (gather->property[0] != '\0' &&
        (in->api->property->resolve(world, owners[0], part->name, gather->property, &property) != BP_OK ||
         property.type != gather->type || values_is_whole(&property) ||
         in->api->property->get(world, &property, owners, found, got, sizeof *got) != BP_OK))
        return 0;
    for (uint32_t i = 0; i < found; i++) {
        has[places[i]] = 1;
        if (size > 0)
            memcpy(values + (size_t)places[i] * size, &got[i], size);
    }
    return found;
}

uint32_t gather_values(const inspector_t *in, bp_world_o *world, const gather_t *gather, const bp_entity_t *entities,
                       uint32_t count, void *values, uint8_t *has)
{
    look_part_t part;
    uint32_t found = 0;
    memset(has, 0, count);
    for (uint32_t key = 0; look_part(in, world, key, &part); key++) {
        if (!look_is_called(&part, gather->component))
            continue;
        for (uint32_t from = 0; from < count; from += BLOCK) {
            uint32_t block = count - from < BLOCK ? count - from : BLOCK;
            found += gather_key(in, world, gather, &part, entities + from, block,
                                (char *)values + (size_t)from * shape_size(gather->type), has + from);
        }
    }
    return found;
}

double gather_number(const gather_t *gather, const void *cell)
{
    bool whole = gather->part == CONDITION_LENGTH || gather->part == CONDITION_WHOLE;
    if (whole && shape_of(gather->type)->parts > 1)
        return shape_length(gather->type, cell);
    return shape_number(gather->type, whole ? 0 : gather->part, cell);
}
