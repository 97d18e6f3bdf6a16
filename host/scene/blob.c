/* blob.c - the check of a blob: every number in it is checked before it is used.
 *
 * From the outside in: the head; the section table, with every offset computed and compared; the checksum, so that
 * bytes damaged on the way are reported as damage; then the records, with every index and offset checked against its
 * target; then the values that could do harm: bools, texts, entities, parents. Numbers may have any value; the ranges
 * of fields are checked by the spawn (spawn.c).
 *
 * Each pass is a loop without branches over one column, and most bytes are only read by the checksum, so a blob is
 * checked about as fast as it can be read. No arithmetic here can overflow: counts have 32 bits, records at most 64
 * bytes, and each offset is compared with the size of the file before the next one is computed from it.
 */
#include "blob.h"

#include "../base/strings.h"

#include <inttypes.h>

typedef struct check_t {
    blob_t *blob;
    memory_t *memory;
    const char *origin;
    error_text_t *error;
    uint32_t version; /* the least that has the fields seen so far */
} check_t;

#define BROKEN(c, ...) broken((c), error_set((c)->error, BP_ERROR_SYNTAX, __VA_ARGS__))

/* Put the file's name in front of the error's text. */
static bp_result_t broken(check_t *c, bp_result_t result)
{
    return error_prefix(c->error, result, "%s: ", c->origin);
}

uint32_t blob_value_size(uint32_t type)
{
    return type == BP_STRING || type == BP_ENTITY ? 4 : value_size(type);
}

/* --- head and sections -------------------------------------------------------------------------------------------- */

static const char *const section_names[BLOB_SECTIONS] = {"groups",  "parts", "components", "fields",
                                                         "parents", "data",  "names",      "strings"};

static bp_result_t check_head(check_t *c)
{
    const blob_head_t *head = c->blob->head;
    size_t size = c->blob->size;
    if (size < sizeof head->magic || memcmp(head->magic, BLOB_MAGIC, sizeof head->magic) != 0)
        return BROKEN(c, "is no scene blob (a .bpe file as 'backplane compile' or a save writes it)");
    if (size < BLOB_FIRST_SECTION)
        return BROKEN(c, "head: the file ends after %zu bytes; the smallest blob has more than %u", size,
                      BLOB_FIRST_SECTION);
    if (head->byte_order != BLOB_BYTE_ORDER)
        return broken(c, error_set(c->error, BP_ERROR_ABI,
                                   "head: byte order mark %08" PRIx32 " instead of %08x; blobs are little-endian",
                                   head->byte_order, BLOB_BYTE_ORDER));
    if (head->version == 0 || head->version > BLOB_VERSION)
        return broken(c, error_set(c->error, BP_ERROR_ABI,
                                   "head: format version %" PRIu32 "; this backplane reads versions 1 to %u%s",
                                   head->version, BLOB_VERSION,
                                   head->version > BLOB_VERSION ? ", a newer one has written it" : ""));
    if (head->size != size)
        return BROKEN(c, "head: says %" PRIu64 " bytes, the file has %zu%s", head->size, size,
                      head->size > size ? ": it was cut off" : "");
    return BP_OK;
}

static bp_result_t check_section(check_t *c, uint32_t s, uint64_t *end, uint64_t size)
{
    const blob_section_t *section = &c->blob->info->sections[s];
    uint64_t offset = blob_align(*end, BLOB_ALIGN);
    if (section->offset != offset)
        return BROKEN(c, "section %s: lies at %" PRIu64 " and must lie at %" PRIu64, section_names[s], section->offset,
                      offset);
    if (section->size != size)
        return BROKEN(c, "section %s: has %" PRIu64 " bytes and must have %" PRIu64, section_names[s], section->size,
                      size);
    if (offset > c->blob->size || size > c->blob->size - offset)
        return BROKEN(c, "section %s: ends at %" PRIu64 ", behind the end of the file at %zu", section_names[s],
                      offset + size, c->blob->size);
    *end = offset + size;
    return BP_OK;
}

/* Sections with a size that only their own entry tells. */
static uint64_t free_size(const check_t *c, uint32_t s, uint64_t end)
{
    uint64_t offset = blob_align(end, BLOB_ALIGN);
    if (s == BLOB_STRINGS)
        return offset < c->blob->size ? c->blob->size - offset : 1;
    return c->blob->info->sections[s].size;
}

static bp_result_t check_sections(check_t *c)
{
    const blob_info_t *info = c->blob->info;
    bool parents = info->sections[BLOB_PARENTS].size != 0;
    const uint64_t sizes[BLOB_SECTIONS] = {
        [BLOB_GROUPS] = (uint64_t)info->group_count * sizeof(blob_group_t),
        [BLOB_PARTS] = (uint64_t)info->part_count * sizeof(blob_part_t),
        [BLOB_COMPONENTS] = (uint64_t)info->component_count * sizeof(blob_component_t),
        [BLOB_FIELDS] = (uint64_t)info->field_count * sizeof(blob_field_t),
        [BLOB_PARENTS] = parents ? (uint64_t)info->entity_count * sizeof(uint32_t) : 0,
        [BLOB_NAMES] = (uint64_t)info->name_count * sizeof(uint32_t),
    };
    if (info->entity_count == UINT32_MAX)
        return BROKEN(c, "info: %" PRIu32 " entities; there can be one fewer", info->entity_count);
    if ((info->flags & ~(uint32_t)BLOB_HAS_CLOCK) != 0 || info->reserved != 0 || info->reserved_too != 0)
        return BROKEN(c, "info: unknown flags %" PRIx32 " or reserved bytes in use", info->flags);
    if ((info->flags & BLOB_HAS_CLOCK) != 0 && !(info->step_rate > 0 && info->step_rate - info->step_rate == 0 &&
                                                  info->time - info->time == 0))
        return BROKEN(c, "info: a clock with %g steps in a unit of time, at time %g", info->step_rate, info->time);
    if (info->steps > INT64_MAX)
        return BROKEN(c, "info: a clock of %" PRIu64 " steps; there are %" PRIi64 " at most", info->steps, INT64_MAX);
    uint64_t end = BLOB_FIRST_SECTION;
    bp_result_t result = BP_OK;
    for (uint32_t s = 0; s < BLOB_SECTIONS && result == BP_OK; s++) {
        bool any = s == BLOB_DATA || s == BLOB_STRINGS;
        result = check_section(c, s, &end, any ? free_size(c, s, end) : sizes[s]);
    }
    return result;
}

static const void *section(const blob_t *blob, uint32_t s)
{
    return blob->bytes + blob->info->sections[s].offset;
}

static void find_info(blob_t *blob)
{
    blob->info = (const blob_info_t *)(const void *)(blob->bytes + sizeof(blob_head_t));
}

static void find_sections(blob_t *blob)
{
    blob->groups = section(blob, BLOB_GROUPS);
    blob->parts = section(blob, BLOB_PARTS);
    blob->components = section(blob, BLOB_COMPONENTS);
    blob->fields = section(blob, BLOB_FIELDS);
    blob->parents = blob->info->sections[BLOB_PARENTS].size > 0 ? section(blob, BLOB_PARENTS) : NULL;
    blob->names = section(blob, BLOB_NAMES);
    blob->strings = section(blob, BLOB_STRINGS);
    blob->strings_size = (size_t)blob->info->sections[BLOB_STRINGS].size;
}

static bp_result_t check_checksum(check_t *c)
{
    const blob_t *blob = c->blob;
    uint64_t sum = hash_bytes(blob->bytes + sizeof(blob_head_t), blob->size - sizeof(blob_head_t));
    if (sum != blob->head->checksum)
        return BROKEN(c, "head: the checksum is %016" PRIx64 " and must be %016" PRIx64 ": the file is damaged",
                      blob->head->checksum, sum);
    return BP_OK;
}

/* --- texts -------------------------------------------------------------------------------------------------------- */

/* The table begins and ends with a zero byte; so every offset inside is that of a text which ends inside. */
static bp_result_t check_strings(check_t *c)
{
    const blob_t *blob = c->blob;
    if (blob->strings[0] != '\0' || blob->strings[blob->strings_size - 1] != '\0')
        return BROKEN(c, "section strings: does not begin and end with a zero byte");
    if (blob->strings_size > UINT32_MAX)
        return BROKEN(c, "section strings: has more than 4 GiB");
    return BP_OK;
}

/* Does a text begin at `offset`? */
static inline uint32_t is_text(const blob_t *blob, uint32_t offset)
{
    return offset < blob->strings_size && (offset == 0 || blob->strings[offset - 1] == '\0');
}

static bool is_word(const blob_t *blob, uint32_t offset)
{
    return is_text(blob, offset) && names_is_word(blob_text(blob, offset));
}

static bp_result_t check_names(check_t *c)
{
    const blob_t *blob = c->blob;
    for (uint32_t i = 0; i < blob->info->name_count; i++) {
        if (!is_text(blob, blob->names[i]))
            return BROKEN(c, "section names: entry %" PRIu32 " points to no text in section strings", i);
        const char *text = blob_text(blob, blob->names[i]);
        size_t room = blob->strings_size - blob->names[i];
        if (memchr(text, '\0', room < NAMES_MAX_LENGTH + 1 ? room : NAMES_MAX_LENGTH + 1) == NULL)
            return BROKEN(c, "section names: '%.40s...' is longer than %d bytes", text, NAMES_MAX_LENGTH);
    }
    return BP_OK;
}

/* --- components and their values ---------------------------------------------------------------------------------- */

static bp_result_t check_bools(check_t *c, const unsigned char *values, uint64_t count, const char *type,
                               const char *field)
{
    unsigned char all = 0;
    for (uint64_t i = 0; i < count; i++)
        all |= values[i];
    return all <= 1 ? BP_OK : BROKEN(c, "section data: a bool of %s.%s is neither 0 nor 1", type, field);
}

static bp_result_t check_entities(check_t *c, const uint32_t *values, uint64_t count, const char *type,
                                  const char *field)
{
    uint32_t most = 0;
    for (uint64_t i = 0; i < count; i++)
        most = values[i] > most ? values[i] : most;
    if (most <= c->blob->info->entity_count)
        return BP_OK;
    return BROKEN(c, "section data: %s.%s refers to entity %" PRIu32 "; there are %" PRIu32, type, field, most - 1,
                  c->blob->info->entity_count);
}

static bp_result_t check_texts(check_t *c, const uint32_t *values, uint64_t count, const char *type, const char *field)
{
    uint32_t good = 1;
    for (uint64_t i = 0; i < count && good; i++)
        good = is_text(c->blob, values[i]);
    return good ? BP_OK : BROKEN(c, "section data: %s.%s points to no text in section strings", type, field);
}

static bp_result_t check_values(check_t *c, const blob_field_t *field, const void *values, uint64_t count,
                                const char *type)
{
    const char *name = blob_text(c->blob, field->name);
    if (field->type == BP_BOOL)
        return check_bools(c, values, count, type, name);
    if (field->type == BP_ENTITY)
        return check_entities(c, values, count, type, name);
    if (field->type == BP_STRING)
        return check_texts(c, values, count, type, name);
    return BP_OK;
}

/* Check where the lists of a field begin, and count their values. The caller has seen to it that the starts lie within
   the section. */
static bp_result_t check_starts(check_t *c, const blob_field_t *field, uint32_t instances, uint64_t offset,
                                uint64_t *items, const char *type)
{
    const blob_t *blob = c->blob;
    const blob_section_t *data = &blob->info->sections[BLOB_DATA];
    uint64_t cells = blob_cells(field, instances), room = data->offset + data->size,
             head = blob_list_head(field, instances), bad;
    const char *name = blob_text(blob, field->name);
    *items = 0;
    if (offset > room || head > room - offset || field->offset != offset)
        return BROKEN(c, "section data: ends before the lists of %s.%s", type, name);
    const uint64_t *starts = blob_list_starts(blob, field);
    bad = starts[0];
    for (uint64_t i = 0; i < cells; i++)
        bad |= starts[i + 1] < starts[i] || starts[i + 1] - starts[i] > UINT32_MAX;
    *items = starts[cells];
    if (bad != 0 || *items > (room - offset - head) / blob_value_size(field->type))
        return BROKEN(c, "section data: the lists of %s.%s do not follow each other, or end behind the section", type,
                      name);
    return BP_OK;
}

/* The field's own record, and that its values lie where they must. */
static bp_result_t check_field(check_t *c, const blob_component_t *component, uint32_t f, uint64_t *end)
{
    const blob_t *blob = c->blob;
    const blob_field_t *field = &blob->fields[component->first_field + f];
    const char *type = blob_text(blob, component->type);
    if (!is_word(blob, field->name))
        return BROKEN(c, "section fields: field %" PRIu32 " of %s has no name of letters, digits and '_'", f, type);
    const char *name = blob_text(blob, field->name);
    for (uint32_t before = 0; before < f; before++) {
        if (strcmp(blob_text(blob, blob->fields[component->first_field + before].name), name) == 0)
            return BROKEN(c, "section fields: %s has two fields '%s'", type, name);
    }
    uint32_t version = blob_field_version(field);
    bool known = blob_value_size(field->type) != 0 && version <= blob->head->version;
    c->version = version > c->version ? version : c->version;
    if (!known || field->kind > BLOB_ONE || (field->flags & ~(uint32_t)(BLOB_BITS | BLOB_LIST)) != 0)
        return BROKEN(c, "section fields: %s.%s has type %u, kind %u and flags %x; one of them is unknown", type, name,
                      field->type, field->kind, field->flags);
    if (!is_text(blob, field->values))
        return BROKEN(c, "section fields: the named values of %s.%s are no text", type, name);
    if (blob_is_list(field) && field->more != 0)
        return BROKEN(c, "section fields: %s.%s is a list and an array", type, name);
    uint32_t instances = component->instance_count;
    uint64_t items = 0, size, offset = blob_align(*end, blob_field_align(field));
    bp_result_t result = blob_is_list(field) ? check_starts(c, field, instances, offset, &items, type) : BP_OK;
    if (result != BP_OK)
        return result;
    blob_place_field(field, instances, items, *end, &size);
    if (field->offset != offset || field->size != size)
        return BROKEN(c,
                      "section fields: %s.%s has %" PRIu64 " bytes at %" PRIu64 " and must have %" PRIu64
                      " at %" PRIu64,
                      type, name, field->size, field->offset, size, offset);
    *end = offset + size;
    const blob_section_t *data = &blob->info->sections[BLOB_DATA];
    if (*end > data->offset + data->size)
        return BROKEN(c, "section data: ends before the values of %s.%s", type, name);
    if (blob_is_list(field))
        return check_values(c, field, blob_list_items(blob, field, instances), items, type);
    return check_values(c, field, blob_values(blob, field), (uint64_t)blob_cells(field, instances) * (field->more + 1u),
                        type);
}

static bp_result_t check_opaque(check_t *c, const blob_component_t *component, uint64_t *end)
{
    const blob_t *blob = c->blob;
    const blob_section_t *data = &blob->info->sections[BLOB_DATA];
    const char *type = blob_text(blob, component->type);
    uint64_t index = blob_align(*end, BLOB_ALIGN);
    uint64_t bytes = blob_align(index + (uint64_t)component->instance_count * sizeof(blob_opaque_t), BLOB_ALIGN);
    if (component->index_offset != index || component->opaque_offset != bytes)
        return BROKEN(c, "section components: the bytes of %s lie elsewhere than they must", type);
    if (bytes > data->offset + data->size || component->opaque_size > data->offset + data->size - bytes)
        return BROKEN(c, "section data: ends before the bytes of %s", type);
    const blob_opaque_t *items = (const blob_opaque_t *)(const void *)(blob->bytes + index);
    for (uint32_t i = 0; i < component->instance_count; i++) {
        if (items[i].offset % BLOB_ALIGN_SMALL != 0 || items[i].offset > component->opaque_size ||
            items[i].size > component->opaque_size - items[i].offset)
            return BROKEN(c, "section data: the bytes of instance %" PRIu32 " of %s do not lie among those of its type",
                          i, type);
    }
    *end = bytes + component->opaque_size;
    return BP_OK;
}

static bp_result_t check_component(check_t *c, uint32_t number, uint64_t *fields, uint64_t *end)
{
    const blob_t *blob = c->blob;
    const blob_component_t *component = &blob->components[number];
    if (!is_word(blob, component->type))
        return BROKEN(c, "section components: component %" PRIu32 " has no type name of letters, digits and '_'",
                      number);
    const char *type = blob_text(blob, component->type);
    bool opaque = (component->flags & BLOB_OPAQUE) != 0;
    if ((component->flags & ~(uint32_t)(BLOB_OPAQUE | BLOB_WORLD)) != 0 || component->field_count > BLOB_MAX_FIELDS ||
        (opaque && component->field_count > 0))
        return BROKEN(c, "section components: %s has flags %" PRIx32 " and %" PRIu32 " fields, which cannot be", type,
                      component->flags, component->field_count);
    if ((component->flags & BLOB_WORLD) != 0 && component->instance_count > 1)
        return BROKEN(c, "section components: %s belongs to the world, and has %" PRIu32 " instances", type,
                      component->instance_count);
    if (!opaque && (component->index_offset != 0 || component->opaque_offset != 0 || component->opaque_size != 0))
        return BROKEN(c, "section components: %s has opaque bytes and does not say so", type);
    if (component->first_field != *fields || *fields + component->field_count > blob->info->field_count)
        return BROKEN(c, "section components: the fields of %s are not those that follow, or not in section fields",
                      type);
    *fields += component->field_count;
    bp_result_t result = BP_OK;
    for (uint32_t f = 0; f < component->field_count && result == BP_OK; f++)
        result = check_field(c, component, f, end);
    return result == BP_OK && opaque ? check_opaque(c, component, end) : result;
}

static bp_result_t check_components(check_t *c)
{
    const blob_info_t *info = c->blob->info;
    uint64_t fields = 0, end = info->sections[BLOB_DATA].offset;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < info->component_count && result == BP_OK; i++)
        result = check_component(c, i, &fields, &end);
    if (result != BP_OK)
        return result;
    if (fields != info->field_count)
        return BROKEN(c, "section fields: has %" PRIu32 " fields, the components have %" PRIu64, info->field_count,
                      fields);
    if (end != info->sections[BLOB_DATA].offset + info->sections[BLOB_DATA].size)
        return BROKEN(c, "section data: has bytes behind the last value");
    if (c->version < c->blob->head->version)
        return BROKEN(c, "head: says format version %" PRIu32 ", and nothing in the file needs more than %" PRIu32,
                      c->blob->head->version, c->version);
    return BP_OK;
}

/* --- groups and parts --------------------------------------------------------------------------------------------- */

/* `instances` counts for each component those of the groups before. */
static bp_result_t check_part(check_t *c, const blob_group_t *group, uint32_t p, uint32_t *instances)
{
    const blob_t *blob = c->blob;
    const blob_part_t *parts = blob->parts + group->first_part, *part = &parts[p];
    if (part->component >= blob->info->component_count)
        return BROKEN(c, "section parts: part %" PRIu32 " is of component %" PRIu32 "; there are %" PRIu32,
                      group->first_part + p, part->component, blob->info->component_count);
    uint32_t *first = &instances[part->component];
    const blob_component_t *component = &blob->components[part->component];
    if (part->first_instance != *first || group->rows > component->instance_count - *first)
        return BROKEN(c,
                      "section parts: part %" PRIu32 " begins at instance %" PRIu32 " and has %" PRIu32
                      " of %s, which has %" PRIu32,
                      group->first_part + p, part->first_instance, group->rows, blob_text(blob, component->type),
                      component->instance_count);
    *first += group->rows;
    uint32_t same = part->name == 0;
    for (uint32_t before = 0; before < p; before++)
        same |= parts[before].name == part->name;
    return same ? BROKEN(c, "section parts: part %" PRIu32 " has no name, or that of another in its group",
                         group->first_part + p)
                : BP_OK;
}

static bp_result_t check_group(check_t *c, uint32_t number, uint64_t *entities, uint64_t *parts, uint32_t *instances)
{
    const blob_group_t *group = &c->blob->groups[number];
    if (group->first_entity != *entities || group->first_part != *parts)
        return BROKEN(c, "section groups: group %" PRIu32 " does not begin where the one before it ends", number);
    *entities += group->rows;
    *parts += group->part_count;
    if (*entities > c->blob->info->entity_count || *parts > c->blob->info->part_count ||
        group->part_count > BLOB_MAX_PARTS)
        return BROKEN(c,
                      "section groups: group %" PRIu32 " has %" PRIu32 " entities with %" PRIu32
                      " components, more than there can be",
                      number, group->rows, group->part_count);
    bp_result_t result = BP_OK;
    for (uint32_t p = 0; p < group->part_count && result == BP_OK; p++)
        result = check_part(c, group, p, instances);
    return result;
}

static bp_result_t check_instances(check_t *c, const uint32_t *instances)
{
    const blob_t *blob = c->blob;
    for (uint32_t i = 0; i < blob->info->component_count; i++) {
        if (instances[i] != blob->components[i].instance_count)
            return BROKEN(c, "section components: %s has %" PRIu32 " instances, the groups have %" PRIu32,
                          blob_text(blob, blob->components[i].type), blob->components[i].instance_count, instances[i]);
    }
    return BP_OK;
}

static bp_result_t check_groups(check_t *c)
{
    const blob_info_t *info = c->blob->info;
    size_t size = (info->component_count + (size_t)1) * sizeof(uint32_t);
    uint32_t *instances = memory_new(c->memory, size);
    if (instances == NULL)
        return broken(c, error_memory(c->error, "checking a blob"));
    uint64_t entities = 0, parts = 0;
    bp_result_t result = BP_OK;
    for (uint32_t g = 0; g < info->group_count && result == BP_OK; g++)
        result = check_group(c, g, &entities, &parts, instances);
    if (result == BP_OK && (entities != info->entity_count || parts != info->part_count))
        result =
            BROKEN(c,
                   "section groups: has %" PRIu64 " entities and %" PRIu64 " parts, info says %" PRIu32 " and %" PRIu32,
                   entities, parts, info->entity_count, info->part_count);
    if (result == BP_OK)
        result = check_instances(c, instances);
    memory_free(c->memory, instances, size);
    return result;
}

/* --- parents ------------------------------------------------------------------------------------------------------ */

/* Is an entity its own ancestor? Walks from each entity upwards until an entity that has been seen; one that is seen
 * twice on the same way up is its own ancestor. */
static bool has_cycle(const uint32_t *parents, uint32_t count, uint32_t *seen)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        while (seen[at] == 0) {
            seen[at] = i + 1;
            if (parents[at] == 0)
                break;
            at = parents[at] - 1;
        }
        if (seen[at] == i + 1 && parents[at] != 0)
            return true;
    }
    return false;
}

bool blob_find_cycle(memory_t *memory, const uint32_t *parents, uint32_t count, bool *cycle)
{
    uint32_t behind = 0;
    for (uint32_t i = 0; i < count; i++)
        behind |= (uint32_t)(parents[i] > i);
    *cycle = false;
    if (behind == 0)
        return true; /* parents come before their children, so there is no circle */
    uint32_t *seen = memory_new(memory, (size_t)count * sizeof *seen);
    if (seen == NULL)
        return false;
    *cycle = has_cycle(parents, count, seen);
    memory_free(memory, seen, (size_t)count * sizeof *seen);
    return true;
}

static bp_result_t check_parents(check_t *c)
{
    const uint32_t *parents = c->blob->parents;
    uint32_t count = c->blob->info->entity_count, outside = 0;
    bool cycle;
    if (parents == NULL)
        return BP_OK;
    for (uint32_t i = 0; i < count; i++)
        outside |= (uint32_t)(parents[i] > count);
    if (outside != 0)
        return BROKEN(c, "section parents: an entity has a parent that there is not");
    if (!blob_find_cycle(c->memory, parents, count, &cycle))
        return broken(c, error_memory(c->error, "checking a blob"));
    return cycle ? BROKEN(c, "section parents: an entity is its own ancestor") : BP_OK;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

bp_result_t blob_open(blob_t *blob, memory_t *memory, const void *bytes, size_t size, const char *origin,
                      error_text_t *error)
{
    *blob = (blob_t){.bytes = bytes, .size = size, .head = bytes};
    check_t c = {blob, memory, origin, error, 1};
    if ((uintptr_t)bytes % BLOB_ALIGN_SMALL != 0)
        return broken(&c, error_set(error, BP_ERROR_ARGUMENT, "a blob must lie at an address that is a multiple of %d",
                                    BLOB_ALIGN_SMALL));
    bp_result_t result = check_head(&c);
    if (result != BP_OK)
        return result;
    find_info(blob);
    result = check_sections(&c);
    if (result != BP_OK)
        return result;
    find_sections(blob);
    bp_result_t (*const checks[])(check_t *) = {check_checksum,   check_strings, check_names,
                                                check_components, check_groups,  check_parents};
    for (size_t i = 0; i < sizeof checks / sizeof checks[0] && result == BP_OK; i++)
        result = checks[i](&c);
    return result;
}

void blob_trust(blob_t *blob, const void *bytes, size_t size)
{
    *blob = (blob_t){.bytes = bytes, .size = size, .head = bytes};
    find_info(blob);
    find_sections(blob);
}
