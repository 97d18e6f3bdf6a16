/* source.c - which properties are recorded, and how they are read.
 *
 * Paths are resolved when they are first read, not at the start: entities are made after the systems start,
 * and may come and go. While its entity is gone a source has no value, and the entity is looked for again at every
 * sample; the log says so once. The type of a source, and so the number of its columns, is settled at the first
 * sample: where its entity is not there yet, by the type that component and property of that name have in its world.
 *
 * "PATH@PATH" records the difference of two properties of one type: the Moon as seen from Earth.
 */
#include "recorder.h"
#include "curve.h"
#include "series.h"

#include <bp_look.h>

#include <stdbool.h>
#include <string.h>

static const char part_names[][4] = {"x", "y", "z", "w", "r", "g", "b", "a"};
static const char matrix_names[][4] = {"m0", "m1", "m2",  "m3",  "m4",  "m5",  "m6",  "m7",
                                       "m8", "m9", "m10", "m11", "m12", "m13", "m14", "m15"};

/* Numbers in a value; 0 for a type that is no number. */
static uint32_t parts_of(uint32_t type)
{
    switch (type) {
    case BP_BOOL:
    case BP_I8:
    case BP_U8:
    case BP_I16:
    case BP_U16:
    case BP_I32:
    case BP_U32:
    case BP_I64:
    case BP_U64: return 1;
    case BP_F32: case BP_F64: return 1;
    case BP_VEC2: case BP_DVEC2: return 2;
    case BP_VEC3: case BP_DVEC3: return 3;
    case BP_VEC4: case BP_DVEC4: case BP_QUAT: case BP_COLOUR: return 4;
    case BP_MAT4: return 16;
    default: return 0;
    }
}

const char *recorder_part(uint32_t type, uint32_t part)
{
    if (type == BP_MAT4)
        return matrix_names[part];
    if (type == BP_COLOUR)
        return part_names[4 + part];
    return parts_of(type) > 1 ? part_names[part] : "";
}

static void to_numbers(uint32_t type, const bp_value_t *value, double *numbers)
{
    const float *floats = value->mat4.m;
    switch (type) {
    case BP_BOOL: numbers[0] = value->boolean; return;
    case BP_I8: numbers[0] = value->i8; return;
    case BP_U8: numbers[0] = value->u8; return;
    case BP_I16: numbers[0] = value->i16; return;
    case BP_U16: numbers[0] = value->u16; return;
    case BP_I32: numbers[0] = value->i32; return;
    case BP_U32: numbers[0] = value->u32; return;
    case BP_I64: numbers[0] = (double)value->i64; return;
    case BP_U64: numbers[0] = (double)value->u64; return;
    case BP_F64:
    case BP_DVEC2:
    case BP_DVEC3:
    case BP_DVEC4: memcpy(numbers, value, parts_of(type) * sizeof *numbers); return;
    default: break;
    }
    for (uint32_t i = 0; i < parts_of(type); i++) /* all others are one float or several in a row */
        numbers[i] = (double)floats[i];
}

/* --- paths ---------------------------------------------------------------------------------------------- */

const char *recorder_word(const char **list, size_t *length)
{
    const char *word = *list + strspn(*list, " ,\t\r\n");
    *length = strcspn(word, " ,\t\r\n");
    *list = word + *length;
    return *length > 0 ? word : NULL;
}

/* The last two names of a path are those of component and property; the text before may contain points. */
const char *recorder_property(const char *path)
{
    const char *last = strrchr(path, '.'), *before = last;
    while (before != NULL && before > path && *--before != '.')
        continue;
    return before == NULL || *before != '.' ? path + strlen(path) : before + 1;
}

const char *recorder_entity(const char *path, size_t *length)
{
    const char *slash = strchr(path, '/'), *entity = slash == NULL ? path : slash + 1;
    const char *end = recorder_property(path);
    *length = end > entity ? (size_t)(end - entity) - (*end != 0) : 0;
    return entity;
}

static bp_result_t make_source(recorder_state *r, recorder_source *s, const char *word, size_t length)
{
    s->size = length + 1;
    s->path = recorder_resize(r, NULL, 0, s->size);
    if (s->path == NULL)
        return r->system->api->error->set(r->system->host, BP_ERROR_MEMORY, "out of memory");
    memcpy(s->path, word, length);
    s->path[length] = 0;
    char *at = strrchr(s->path, '@');
    if (at != NULL) {
        *at = 0;
        s->reference = at + 1;
    }
    return BP_OK;
}

bp_result_t recorder_make_sources(recorder_state *r)
{
    size_t length;
    uint32_t count = 0;
    const bp_error_api *error = r->system->api->error;
    const char *list = recorder_text(r, RECORDER_PROPERTIES);
    for (const char *rest = list; recorder_word(&rest, &length) != NULL;)
        count++;
    if (count == 0)
        return error->set(r->system->host, BP_ERROR_ARGUMENT, "the option properties is empty; it "
                          "lists what to record, such as main/earth.body.position");
    const char *origin = recorder_text(r, RECORDER_SVG_ORIGIN);
    r->room = count + (origin[0] != 0);
    r->sources = recorder_resize(r, NULL, 0, r->room * sizeof *r->sources);
    if (r->sources == NULL)
        return error->set(r->system->host, BP_ERROR_MEMORY, "out of memory");
    memset(r->sources, 0, r->room * sizeof *r->sources);
    r->count = count;
    r->origin = r->room > count ? &r->sources[count] : NULL;
    for (uint32_t i = 0; i < count; i++) {
        const char *word = recorder_word(&list, &length);
        bp_result_t result = make_source(r, &r->sources[i], word, length);
        if (result != BP_OK)
            return result;
    }
    return r->origin != NULL ? make_source(r, r->origin, origin, strlen(origin)) : BP_OK;
}

void recorder_free_sources(recorder_state *r)
{
    for (uint32_t i = 0; i < r->room && r->sources != NULL; i++) {
        recorder_source *s = &r->sources[i];
        if (s->curve != NULL)
            recorder_curve_free(r, s->curve);
        if (s->series != NULL)
            recorder_series_free(r, s->series);
        if (s->path != NULL)
            recorder_resize(r, s->path, s->size, 0);
    }
    if (r->sources != NULL)
        recorder_resize(r, r->sources, r->room * sizeof *r->sources, 0);
    r->sources = r->origin = NULL;
    r->count = r->room = 0;
}

/* --- reading -------------------------------------------------------------------------------------------- */

static void complain_once(recorder_state *r, recorder_source *s, const char *reason)
{
    char message[RECORDER_MESSAGE];
    if (s->complained)
        return;
    s->complained = 1;
    snprintf(message, sizeof message, "'%.150s%s%.150s' has no value at time %g: %.160s", s->path,
             s->reference != NULL ? "@" : "", s->reference != NULL ? s->reference : "", r->time, reason);
    if (r->apart) /* as it should be: the entity is on another rank */
        r->system->api->error->log(r->system->plugin, BP_LOG_INFO, message);
    else
        recorder_complain(r, message);
}

/* Is the property all of an array or a list? */
static int is_whole(const bp_property_t *property)
{
    return property->element == BP_NONE && property->count != 1;
}

static int resolve(recorder_state *r, recorder_source *s)
{
    const bp_api_t *api = r->system->api;
    bp_host_o *host = r->system->host;
    if (api->property->parse_path(host, s->path, &s->at) != BP_OK ||
        (s->reference != NULL && api->property->parse_path(host, s->reference, &s->from) != BP_OK)) {
        complain_once(r, s, api->error->last(host));
        return 0;
    }
    if (s->reference != NULL && s->at.property.type != s->from.property.type) {
        complain_once(r, s, "the two properties are of different types");
        return 0;
    }
    if (is_whole(&s->at.property) || (s->reference != NULL && is_whole(&s->from.property))) {
        complain_once(r, s, "it is an array or a list; record one of its values, named like hits[0]");
        return 0;
    }
    if (parts_of(s->at.property.type) == 0) {
        complain_once(r, s, "only numbers and vectors can be recorded");
        return 0;
    }
    if ((r->settled && s->parts == 0) || (s->type != BP_TYPE_NONE && s->type != s->at.property.type)) {
        complain_once(r, s, "it was not there, or of another type, at the first sample");
        return 0;
    }
    s->type = s->at.property.type;
    s->complained = 0;
    return 1;
}

static int get(recorder_state *r, recorder_source *s)
{
    const bp_property_api *property = r->system->api->property;
    bp_value_t value;
    double less[RECORDER_PARTS];
    if (property->get(s->at.world, &s->at.property, &s->at.entity, 1, &value, sizeof value) != BP_OK)
        return 0;
    to_numbers(s->type, &value, s->values);
    if (s->reference == NULL)
        return 1;
    if (property->get(s->from.world, &s->from.property, &s->from.entity, 1, &value, sizeof value) != BP_OK)
        return 0;
    to_numbers(s->type, &value, less);
    for (uint32_t i = 0; i < parts_of(s->type); i++)
        s->values[i] -= less[i];
    return 1;
}

int recorder_read_path(recorder_state *r, const char *path, uint32_t *type, double *numbers)
{
    const bp_property_api *property = r->system->api->property;
    bp_path_t at;
    bp_value_t value;
    if (property->parse_path(r->system->host, path, &at) != BP_OK || is_whole(&at.property) ||
        parts_of(at.property.type) == 0 || (*type != BP_TYPE_NONE && *type != at.property.type) ||
        property->get(at.world, &at.property, &at.entity, 1, &value, sizeof value) != BP_OK)
        return 0;
    *type = at.property.type;
    to_numbers(*type, &value, numbers);
    return 1;
}

/* Say of sources that no rank has a value of: once, and where there was one before that is no error. */
static void tell_missing(recorder_state *r)
{
    char message[RECORDER_MESSAGE];
    for (uint32_t i = 0; i < r->room; i++) {
        recorder_source *s = &r->sources[i];
        if (s->valid)
            s->complained = 0;
        if (s->valid || s->complained || !r->writes)
            continue;
        if (s->seen == 0) {
            complain_once(r, s, "no rank has such a number or vector");
            continue;
        }
        s->complained = 1;
        snprintf(message, sizeof message, "'%.300s' has no value from time %g on: no rank has it any more", s->path,
                 r->time);
        r->system->api->error->log(r->system->plugin, BP_LOG_INFO, message);
    }
}

/* Read a source; where its entity or property has gone, look for it once more, under the same name. */
static void read_source(recorder_state *r, recorder_source *s)
{
    s->valid = s->found && get(r, s);
    if (!s->valid) {
        s->found = (uint32_t)resolve(r, s);
        s->valid = s->found && get(r, s);
    }
    s->seen += s->valid;
}

static int is_among(const bp_death_t *batch, bp_entity_t entity)
{
    uint32_t i = 0;
    while (i < batch->count && batch->entities[i].id != entity.id)
        i++;
    return i < batch->count;
}

void recorder_lose(recorder_state *r, const bp_death_t *batch)
{
    bp_step_t now = {.struct_size = sizeof now};
    for (uint32_t i = 0; i < r->count; i++) {
        recorder_source *s = &r->sources[i];
        char message[RECORDER_MESSAGE];
        if (!s->found ||
            (!is_among(batch, s->at.entity) && (s->reference == NULL || !is_among(batch, s->from.entity))))
            continue;
        r->system->api->world->clock(r->system->world, &now);
        snprintf(message, sizeof message, "'%.150s%s%.150s' has no value from time %g on: an entity has died", s->path,
                 s->reference != NULL ? "@" : "", s->reference != NULL ? s->reference : "", now.time);
        r->system->api->error->log(r->system->plugin, BP_LOG_INFO, message);
        s->found = 0;
        s->complained = 1;
    }
}

/* --- what is settled at the first sample ---------------------------------------------------------------- */

/* Split a path as its grammar does. 0 where a part is missing or too long. */
static int split(const char *path, char *world, char *component, const char **property, size_t size)
{
    const char *slash = strchr(path, '/'), *tail = recorder_property(path), *point = strchr(tail, '.');
    if (slash == NULL || point == NULL || (size_t)(slash - path) >= size || (size_t)(point - tail) >= size)
        return 0;
    memcpy(world, path, (size_t)(slash - path));
    world[slash - path] = 0;
    memcpy(component, tail, (size_t)(point - tail));
    component[point - tail] = 0;
    *property = point + 1;
    return 1;
}

/* The type that the names of a path mean, whatever the entity. */
static uint32_t guess_type(const recorder_state *r, const recorder_source *s)
{
    char world_name[256], component[256];
    const char *name;
    bp_property_t property;
    const bp_api_t *api = r->system->api;
    if (!split(s->path, world_name, component, &name, sizeof world_name))
        return BP_TYPE_NONE;
    bp_world_o *world = api->world->find(r->system->host, world_name);
    if (world == NULL || api->property->resolve(world, (bp_entity_t){0}, component, name, &property) != BP_OK)
        return BP_TYPE_NONE;
    return is_whole(&property) ? BP_TYPE_NONE : property.type;
}

/* Is this the property that is the first vector among the sources? */
static int is_first_vector(const recorder_state *r, const recorder_source *s)
{
    uint32_t first = 0;
    while (first < r->count && r->sources[first].parts <= 1)
        first++;
    return s->parts > 1 && first < r->count &&
           strcmp(recorder_property(s->path), recorder_property(r->sources[first].path)) == 0;
}

void recorder_unit(const recorder_state *r, bp_world_o *world, const char *declared, char *text, uint32_t size)
{
    const bp_look_api *look =
        (const bp_look_api *)r->system->api->registry->find(r->system->host, BP_LOOK_API, 1);
    text[0] = 0;
    if (look != NULL && BP_HAS(look, bp_look_api, unit_text))
        look->unit_text(world, declared, text, size);
    else
        snprintf(text, size, "%s", declared);
}

const char *recorder_time_unit(const recorder_state *r, char *text, uint32_t size)
{
    snprintf(text, size, "%s", recorder_text(r, RECORDER_TIME_UNIT));
    if (text[0] == 0)
        recorder_unit(r, r->system->world, "s", text, size);
    if (strcmp(text, "s") == 0 && recorder_text(r, RECORDER_TIME_UNIT)[0] == 0)
        text[0] = 0;
    return text;
}

/* The option `unit` for the first vector property. Else the declared unit, as the world calls it, which is known where
 * the component bears the name of its type. */
static void settle_unit(const recorder_state *r, recorder_source *s)
{
    char world[256], component[256];
    const char *name;
    bp_field_t field;
    const bp_api_t *api = r->system->api;
    snprintf(s->unit, sizeof s->unit, "%s", is_first_vector(r, s) ? recorder_text(r, RECORDER_UNIT) : "");
    if (s->unit[0] != 0 || !split(s->path, world, component, &name, sizeof world))
        return;
    for (uint32_t i = 0;; i++) {
        field = (bp_field_t){0};
        if (api->property->describe(r->system->host, component, i, &field, sizeof field) != BP_OK)
            return;
        if (strlen(field.name) == strcspn(name, "[") && strncmp(field.name, name, strlen(field.name)) == 0)
            break;
    }
    bp_world_o *recorded = api->world->find(r->system->host, world);
    if (field.type == s->type && field.unit != NULL && recorded != NULL)
        recorder_unit(r, recorded, field.unit, s->unit, sizeof s->unit);
}

static int same_entity(const recorder_source *a, const recorder_source *b)
{
    size_t a_length, b_length;
    const char *a_name = recorder_entity(a->path, &a_length), *b_name = recorder_entity(b->path, &b_length);
    return a_length == b_length && memcmp(a_name, b_name, a_length) == 0;
}

/* Are both drawn in one panel, so that the entity's name does not say which is which? */
static int is_beside(const recorder_source *a, const recorder_source *b)
{
    return same_entity(a, b) && (a->reference == NULL) == (b->reference == NULL) &&
           strcmp(recorder_property(a->path), recorder_property(b->path)) == 0;
}

/* The entity's name where the name says enough; else the path. */
static void settle_label(const recorder_state *r, recorder_source *s)
{
    size_t length;
    const char *entity = recorder_entity(s->path, &length);
    int ambiguous = length == 0;
    for (uint32_t i = 0; i < r->count; i++)
        ambiguous |= &r->sources[i] != s && is_beside(&r->sources[i], s);
    if (ambiguous) {
        entity = s->path;
        length = strlen(entity);
    }
    if (length >= sizeof s->label) {
        length = sizeof s->label - 1;
        while (length > 0 && ((unsigned char)entity[length] & 0xC0) == 0x80) /* not within a letter */
            length--;
    }
    memcpy(s->label, entity, length);
    s->label[length] = 0;
}

static void settle(recorder_state *r)
{
    for (uint32_t i = 0; i < r->room; i++)
        r->sources[i].parts = parts_of(r->sources[i].type);
    for (uint32_t i = 0; i < r->room; i++) {
        settle_unit(r, &r->sources[i]);
        settle_label(r, &r->sources[i]);
    }
    r->settled = 1;
}

void recorder_settle_as(recorder_state *r, const uint32_t *types)
{
    for (uint32_t i = 0; i < r->room; i++)
        r->sources[i].type = i < r->count ? types[i] : guess_type(r, &r->sources[i]);
    settle(r);
}

void recorder_read(recorder_state *r)
{
    bool shared = r->shared && recorder_read_shared(r);
    for (uint32_t i = 0; i < r->room && !shared; i++)
        read_source(r, &r->sources[i]);
    for (uint32_t i = 0; i < r->room && !r->settled; i++) {
        if (r->sources[i].type == BP_TYPE_NONE)
            r->sources[i].type = guess_type(r, &r->sources[i]);
    }
    if (!r->settled)
        settle(r);
    if (shared)
        tell_missing(r);
}
