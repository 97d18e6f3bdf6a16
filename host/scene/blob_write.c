/* blob_write.c - laying a blob out, and the table of its texts.
 *
 * The description says how many of everything there are, so one pass computes where each value lies and one allocation
 * holds them all, cleared. Only the texts are not known beforehand: texts gather in a buffer of their own, which is put
 * behind the rest at the end; large blocks are remapped rather than copied as they grow (base/memory.h).
 *
 * A text is looked up by its hash before it is added. The table holds 32 bits of the hash beside the offset, so a miss
 * is seldom a look at the text; many texts at once are hashed first and their buckets fetched early.
 */
#include "blob_write.h"

#include "../base/strings.h"

#include <string.h>

enum { TEXTS = 64 /* looked up together */, FIRST_BUCKETS = 64, FIRST_ROOM = 4096 };

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

/* --- sections ----------------------------------------------------------------------------------------------------- */

static void *section(const blob_writer_t *w, uint32_t number)
{
    return w->block + w->info.sections[number].offset;
}

static blob_component_t *components(const blob_writer_t *w)
{
    return section(w, BLOB_COMPONENTS);
}

static blob_field_t *fields(const blob_writer_t *w)
{
    return section(w, BLOB_FIELDS);
}

/* Records of known size follow each other, in the order of the sections. */
static uint64_t place_sections(blob_info_t *info, bool parents)
{
    const uint64_t sizes[BLOB_DATA] = {
        [BLOB_GROUPS] = (uint64_t)info->group_count * sizeof(blob_group_t),
        [BLOB_PARTS] = (uint64_t)info->part_count * sizeof(blob_part_t),
        [BLOB_COMPONENTS] = (uint64_t)info->component_count * sizeof(blob_component_t),
        [BLOB_FIELDS] = (uint64_t)info->field_count * sizeof(blob_field_t),
        [BLOB_PARENTS] = parents ? (uint64_t)info->entity_count * sizeof(uint32_t) : 0,
    };
    uint64_t end = BLOB_FIRST_SECTION;
    for (uint32_t s = 0; s < BLOB_DATA; s++) {
        info->sections[s] = (blob_section_t){blob_align(end, BLOB_ALIGN), sizes[s]};
        end = info->sections[s].offset + sizes[s];
    }
    info->sections[BLOB_DATA].offset = blob_align(end, BLOB_ALIGN);
    return info->sections[BLOB_DATA].offset;
}

/* --- descriptions ------------------------------------------------------------------------------------------------- */

blob_field_desc_t blob_field_described(const field_t *field, uint32_t kind)
{
    return (blob_field_desc_t){
        .name = field->name,
        .type = field->type,
        .kind = kind,
        .flags = (field->named.bits ? (uint32_t)BLOB_BITS : 0) | (field_is_list(field) ? (uint32_t)BLOB_LIST : 0),
        .elements = field->elements,
        .values = field->named.count > 0 ? field->values_text : NULL,
    };
}

/* --- counting ----------------------------------------------------------------------------------------------------- */

static bp_result_t count_components(blob_info_t *info, const blob_desc_t *desc, error_text_t *error)
{
    uint64_t field_count = 0;
    for (uint32_t c = 0; c < desc->component_count; c++) {
        const blob_component_desc_t *component = &desc->components[c];
        field_count += component->field_count;
        if (component->field_count > BLOB_MAX_FIELDS || field_count > UINT32_MAX)
            return error_set(error, BP_ERROR_LIMIT, "%s has %u fields; a blob holds at most %d of a component",
                             component->type, component->field_count, BLOB_MAX_FIELDS);
        if ((component->flags & BLOB_OPAQUE) != 0 && component->field_count > 0)
            return error_set(error, BP_ERROR_ARGUMENT, "%s is opaque and has fields", component->type);
        for (uint32_t f = 0; f < component->field_count; f++) {
            if (blob_value_size(component->fields[f].type) == 0 || component->fields[f].kind > BLOB_ONE)
                return error_set(error, BP_ERROR_ARGUMENT, "%s.%s: %u is no type, or %u no kind of values",
                                 component->type, component->fields[f].name, component->fields[f].type,
                                 component->fields[f].kind);
        }
    }
    info->component_count = desc->component_count;
    info->field_count = (uint32_t)field_count;
    return BP_OK;
}

static bp_result_t count_groups(blob_info_t *info, const blob_desc_t *desc, error_text_t *error)
{
    uint64_t entity_count = 0, part_count = 0;
    for (uint32_t g = 0; g < desc->group_count; g++) {
        const blob_group_desc_t *group = &desc->groups[g];
        entity_count += group->rows;
        part_count += group->part_count;
        if (group->part_count > BLOB_MAX_PARTS)
            return error_set(error, BP_ERROR_LIMIT, "%u components of one entity; a blob holds at most %d",
                             group->part_count, BLOB_MAX_PARTS);
        if (entity_count >= UINT32_MAX || part_count >= UINT32_MAX)
            return error_set(error, BP_ERROR_LIMIT, "a blob holds at most %u entities, and as many parts of groups",
                             UINT32_MAX - 1);
        for (uint32_t p = 0; p < group->part_count; p++) {
            if (group->parts[p].component >= desc->component_count)
                return error_set(error, BP_ERROR_ARGUMENT, "group %u has a component %u; there are %u", g,
                                 group->parts[p].component, desc->component_count);
        }
    }
    info->group_count = desc->group_count;
    info->entity_count = (uint32_t)entity_count;
    info->part_count = (uint32_t)part_count;
    return BP_OK;
}

/* --- filling in the described parts
 * --------------------------------------------------------------------------------- */

static bp_result_t fill_groups(blob_writer_t *w, const blob_desc_t *desc, error_text_t *error)
{
    blob_group_t *groups = section(w, BLOB_GROUPS);
    blob_part_t *parts = section(w, BLOB_PARTS);
    uint32_t entity = 0, part = 0;
    for (uint32_t g = 0; g < desc->group_count; g++) {
        const blob_group_desc_t *group = &desc->groups[g];
        groups[g] = (blob_group_t){entity, group->rows, part, group->part_count};
        entity += group->rows;
        for (uint32_t p = 0; p < group->part_count; p++, part++) {
            const blob_part_desc_t *described = &group->parts[p];
            blob_component_t *component = &components(w)[described->component];
            parts[part] = (blob_part_t){described->name, described->component, component->instance_count};
            if ((uint64_t)component->instance_count + group->rows >= UINT32_MAX)
                return error_set(error, BP_ERROR_LIMIT, "a blob holds at most %u instances of a component",
                                 UINT32_MAX - 1);
            component->instance_count += group->rows;
            if (described->text == NULL)
                continue;
            bp_result_t result = blob_name(w, described->text, &parts[part].name, error);
            if (result != BP_OK)
                return result;
        }
    }
    return BP_OK;
}

static bp_result_t fill_components(blob_writer_t *w, const blob_desc_t *desc, error_text_t *error)
{
    uint32_t field = 0;
    for (uint32_t c = 0; c < desc->component_count; c++) {
        const blob_component_desc_t *described = &desc->components[c];
        blob_component_t *component = &components(w)[c];
        component->version = described->version;
        component->flags = described->flags;
        component->first_field = field;
        component->field_count = described->field_count;
        component->opaque_size = (described->flags & BLOB_OPAQUE) != 0 ? blob_opaque_room(described->opaque_bytes) : 0;
        bp_result_t result = blob_string(w, described->type, &component->type, error);
        for (uint32_t f = 0; f < described->field_count && result == BP_OK; f++, field++) {
            blob_field_t *to = &fields(w)[field];
            to->type = (uint16_t)described->fields[f].type;
            to->kind = (uint16_t)described->fields[f].kind;
            to->flags = (uint16_t)described->fields[f].flags;
            to->more = (uint16_t)(described->fields[f].elements > 0 ? described->fields[f].elements - 1 : 0);
            to->size = described->fields[f].items; /* number of values, until the field is placed */
            result = blob_string(w, described->fields[f].name, &to->name, error);
            if (result == BP_OK && described->fields[f].values != NULL)
                result = blob_string(w, described->fields[f].values, &to->values, error);
        }
        if (result != BP_OK)
            return result;
    }
    return BP_OK;
}

/* Compute where all values lie. Returns the end of the last, or 0 where it is past all bounds. */
static uint64_t place_data(blob_writer_t *w)
{
    const uint64_t most = SIZE_MAX / 8;
    uint64_t end = w->info.sections[BLOB_DATA].offset;
    for (uint32_t c = 0; c < w->info.component_count; c++) {
        blob_component_t *component = &components(w)[c];
        for (uint32_t f = 0; f < component->field_count; f++) {
            blob_field_t *field = &fields(w)[component->first_field + f];
            field->offset = blob_place_field(field, component->instance_count, field->size, end, &field->size);
            end = field->offset + field->size;
        }
        if ((component->flags & BLOB_OPAQUE) != 0 && component->opaque_size < most) {
            component->index_offset = blob_align(end, BLOB_ALIGN);
            end = component->index_offset + (uint64_t)component->instance_count * sizeof(blob_opaque_t);
            component->opaque_offset = blob_align(end, BLOB_ALIGN);
            end = component->opaque_offset + component->opaque_size;
        }
        if (end > most || component->opaque_size >= most)
            return 0;
    }
    return end;
}

static bp_result_t lay_out(blob_writer_t *w, const blob_desc_t *desc, error_text_t *error)
{
    uint64_t records = place_sections(&w->info, desc->parents);
    if (records > SIZE_MAX / 8)
        return error_set(error, BP_ERROR_LIMIT, "the scene is too large for a blob");
    w->block = memory_new(w->memory, (size_t)records);
    w->size = w->block == NULL ? 0 : (size_t)records;
    w->opaque_used = memory_new(w->memory, desc->component_count * sizeof *w->opaque_used + 1);
    if (w->block == NULL || w->opaque_used == NULL)
        return error_memory(error, "laying out a blob");
    bp_result_t result = fill_components(w, desc, error);
    if (result == BP_OK)
        result = fill_groups(w, desc, error);
    if (result != BP_OK)
        return result;
    uint64_t end = place_data(w);
    if (end == 0)
        return error_set(error, BP_ERROR_LIMIT, "the scene is too large for a blob");
    unsigned char *block = memory_resize_cleared(w->memory, w->block, w->size, (size_t)end);
    if (block == NULL)
        return error_memory(error, "laying out a blob");
    w->block = block;
    w->size = (size_t)end;
    w->info.sections[BLOB_DATA].size = end - records;
    return BP_OK;
}

bp_result_t blob_write_begin(blob_writer_t *w, memory_t *memory, const blob_desc_t *desc, error_text_t *error)
{
    *w = (blob_writer_t){.memory = memory};
    if (desc->clock) {
        w->info.flags = BLOB_HAS_CLOCK;
        w->info.steps = desc->steps;
        w->info.time = desc->time;
        w->info.step_rate = desc->step_rate;
    }
    bp_result_t result = count_components(&w->info, desc, error);
    if (result == BP_OK)
        result = count_groups(&w->info, desc, error);
    if (result == BP_OK)
        result = lay_out(w, desc, error);
    if (result != BP_OK)
        blob_write_drop(w);
    return result;
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

void *blob_column(blob_writer_t *w, uint32_t component, uint32_t field)
{
    return w->block + fields(w)[components(w)[component].first_field + field].offset;
}

void *blob_column_items(blob_writer_t *w, uint32_t component, uint32_t field)
{
    const blob_field_t *record = &fields(w)[components(w)[component].first_field + field];
    return w->block + record->offset + blob_list_head(record, components(w)[component].instance_count);
}

uint32_t blob_first(const blob_writer_t *w, uint32_t group, uint32_t part)
{
    const blob_group_t *groups = section(w, BLOB_GROUPS);
    const blob_part_t *parts = section(w, BLOB_PARTS);
    return parts[groups[group].first_part + part].first_instance;
}

uint32_t *blob_parents(blob_writer_t *w)
{
    return w->info.sections[BLOB_PARENTS].size > 0 ? section(w, BLOB_PARENTS) : NULL;
}

bp_result_t blob_opaque(blob_writer_t *w, uint32_t component, uint32_t instance, const void *data, size_t size,
                        error_text_t *error)
{
    const blob_component_t *c = &components(w)[component];
    uint64_t used = w->opaque_used[component];
    if ((c->flags & BLOB_OPAQUE) == 0 || instance >= c->instance_count || size > c->opaque_size - used)
        return error_set(error, BP_ERROR_ARGUMENT, "opaque bytes of instance %u of %s: more than were described",
                         instance, w->strings + c->type);
    blob_opaque_t *index = (blob_opaque_t *)(void *)(w->block + c->index_offset);
    index[instance] = (blob_opaque_t){used, size};
    if (size > 0)
        memcpy(w->block + c->opaque_offset + used, data, size);
    w->opaque_used[component] = used + blob_opaque_room(size);
    return BP_OK;
}

/* --- texts -------------------------------------------------------------------------------------------------------- */

static bool grow_buckets(blob_writer_t *w)
{
    uint32_t count = w->string_bucket_count == 0 ? FIRST_BUCKETS : w->string_bucket_count * 2;
    uint64_t *buckets = count == 0 ? NULL : memory_new(w->memory, count * sizeof *buckets);
    if (buckets == NULL)
        return false;
    for (uint32_t i = 0; i < w->string_bucket_count; i++) {
        if (w->string_buckets[i] == 0)
            continue;
        uint32_t at = (uint32_t)(w->string_buckets[i] >> 32) & (count - 1);
        while (buckets[at] != 0)
            at = (at + 1) & (count - 1);
        buckets[at] = w->string_buckets[i];
    }
    memory_free(w->memory, w->string_buckets, w->string_bucket_count * sizeof *buckets);
    w->string_buckets = buckets;
    w->string_bucket_count = count;
    return true;
}

static bp_result_t add_text(blob_writer_t *w, const char *text, size_t size, error_text_t *error)
{
    if (w->strings_used + size > UINT32_MAX)
        return error_set(error, BP_ERROR_LIMIT, "the texts of a blob are more than 4 GiB");
    if (w->strings_used + size > w->strings_room) {
        size_t room = w->strings_room * 2 < w->strings_used + size ? w->strings_used + size : w->strings_room * 2;
        room = room < FIRST_ROOM ? FIRST_ROOM : room;
        char *strings = memory_resize(w->memory, w->strings, w->strings_room, room);
        if (strings == NULL)
            return error_memory(error, "gathering the texts of a blob");
        w->strings = strings;
        w->strings_room = room;
    }
    memcpy(w->strings + w->strings_used, text, size);
    w->strings_used += size;
    return BP_OK;
}

static bp_result_t find_text(blob_writer_t *w, const char *text, size_t length, uint32_t hash, uint32_t *offset,
                             error_text_t *error)
{
    uint32_t at = hash & (w->string_bucket_count - 1);
    for (; w->string_buckets[at] != 0; at = (at + 1) & (w->string_bucket_count - 1)) {
        uint32_t there = (uint32_t)w->string_buckets[at];
        if (w->string_buckets[at] >> 32 != hash || w->strings_used - there <= length)
            continue;
        if (memcmp(w->strings + there, text, length + 1) != 0)
            continue;
        *offset = there;
        return BP_OK;
    }
    *offset = (uint32_t)w->strings_used;
    bp_result_t result = add_text(w, text, length + 1, error);
    if (result == BP_OK) {
        w->string_buckets[at] = (uint64_t)hash << 32 | *offset;
        w->string_count++;
    }
    return result;
}

/* Find or add up to TEXTS texts together. */
static bp_result_t find_texts(blob_writer_t *w, const char *const *texts, uint32_t count, uint32_t *offsets,
                              error_text_t *error)
{
    uint32_t hashes[TEXTS];
    size_t lengths[TEXTS];
    while ((uint64_t)(w->string_count + count) * 2 >= w->string_bucket_count) {
        if (!grow_buckets(w))
            return error_memory(error, "gathering the texts of a blob");
    }
    for (uint32_t i = 0; i < count; i++) {
        lengths[i] = strlen(texts[i]);
        hashes[i] = (uint32_t)(hash_bytes(texts[i], lengths[i]) >> 32);
        PREFETCH(&w->string_buckets[hashes[i] & (w->string_bucket_count - 1)]);
    }
    for (uint32_t i = 0; i < count; i++) {
        offsets[i] = 0;
        bp_result_t result =
            lengths[i] == 0 ? BP_OK : find_text(w, texts[i], lengths[i], hashes[i], &offsets[i], error);
        if (result != BP_OK)
            return result;
    }
    return BP_OK;
}

bp_result_t blob_strings(blob_writer_t *w, const char *const *texts, uint32_t count, uint32_t *offsets,
                         error_text_t *error)
{
    bp_result_t result = w->strings_used > 0 ? BP_OK : add_text(w, "", 1, error);
    for (uint32_t done = 0; done < count && result == BP_OK; done += TEXTS) {
        uint32_t n = count - done < TEXTS ? count - done : TEXTS;
        result = find_texts(w, texts + done, n, offsets + done, error);
    }
    return result;
}

bp_result_t blob_string(blob_writer_t *w, const char *text, uint32_t *offset, error_text_t *error)
{
    return blob_strings(w, &text, 1, offset, error);
}

static uint32_t *name_bucket(uint32_t *buckets, uint32_t count, uint32_t offset)
{
    uint32_t at = (offset * 0x9E3779B9u) & (count - 1);
    while (buckets[at] != 0 && buckets[at] != offset)
        at = (at + 1) & (count - 1);
    return &buckets[at];
}

static bool grow_names(blob_writer_t *w)
{
    if ((uint64_t)(w->name_count + 1) * 2 < w->name_bucket_count)
        return true;
    uint32_t count = w->name_bucket_count == 0 ? FIRST_BUCKETS : w->name_bucket_count * 2;
    uint32_t *buckets = count == 0 ? NULL : memory_new(w->memory, count * sizeof *buckets);
    if (buckets == NULL)
        return false;
    for (uint32_t i = 0; i < w->name_count; i++)
        *name_bucket(buckets, count, w->names[i]) = w->names[i];
    memory_free(w->memory, w->name_buckets, w->name_bucket_count * sizeof *buckets);
    w->name_buckets = buckets;
    w->name_bucket_count = count;
    return true;
}

bp_result_t blob_name(blob_writer_t *w, const char *text, bp_name_t *name, error_text_t *error)
{
    uint32_t offset;
    *name = names_hash(text);
    if (strlen(text) > NAMES_MAX_LENGTH)
        return error_set(error, BP_ERROR_LIMIT, "the name '%.40s...' is longer than %d bytes", text, NAMES_MAX_LENGTH);
    bp_result_t result = blob_string(w, text, &offset, error);
    if (result != BP_OK || offset == 0)
        return result;
    if (!grow_names(w) ||
        !memory_reserve(w->memory, &w->names, &w->name_capacity, w->name_count + 1u, sizeof *w->names))
        return error_memory(error, "gathering the names of a blob");
    uint32_t *bucket = name_bucket(w->name_buckets, w->name_bucket_count, offset);
    if (*bucket == 0)
        w->names[w->name_count++] = *bucket = offset;
    return BP_OK;
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

static uint32_t least_version(const blob_writer_t *w, const unsigned char *block)
{
    const blob_field_t *field = (const blob_field_t *)(const void *)(block + w->info.sections[BLOB_FIELDS].offset);
    uint32_t version = 1;
    for (uint32_t f = 0; f < w->info.field_count; f++) {
        uint32_t least = blob_field_version(&field[f]);
        version = least > version ? least : version;
    }
    return version;
}

static void fill_head(unsigned char *block, size_t size, uint32_t version)
{
    blob_head_t head = {.byte_order = BLOB_BYTE_ORDER, .version = version, .size = size};
    memcpy(head.magic, BLOB_MAGIC, sizeof head.magic);
    head.checksum = hash_bytes(block + sizeof head, size - sizeof head);
    memcpy(block, &head, sizeof head);
}

bp_result_t blob_write_end(blob_writer_t *w, void **bytes, size_t *size, error_text_t *error)
{
    uint32_t nothing;
    bp_result_t result = blob_string(w, "", &nothing, error); /* there is always the empty text */
    blob_section_t *names = &w->info.sections[BLOB_NAMES], *strings = &w->info.sections[BLOB_STRINGS];
    *names = (blob_section_t){blob_align(w->size, BLOB_ALIGN), (uint64_t)w->name_count * sizeof *w->names};
    *strings = (blob_section_t){blob_align(names->offset + names->size, BLOB_ALIGN), w->strings_used};
    size_t total = (size_t)(strings->offset + strings->size);
    unsigned char *block = result != BP_OK ? NULL : memory_resize_cleared(w->memory, w->block, w->size, total);
    if (block == NULL) {
        blob_write_drop(w);
        return result != BP_OK ? result : error_memory(error, "putting a blob together");
    }
    w->block = NULL;
    w->info.name_count = w->name_count;
    memcpy(block + sizeof(blob_head_t), &w->info, sizeof w->info);
    if (w->name_count > 0)
        memcpy(block + names->offset, w->names, (size_t)names->size);
    memcpy(block + strings->offset, w->strings, w->strings_used);
    fill_head(block, total, least_version(w, block));
    *bytes = block;
    *size = total;
    blob_write_drop(w);
    return BP_OK;
}

void blob_write_drop(blob_writer_t *w)
{
    memory_free(w->memory, w->block, w->size);
    memory_free(w->memory, w->strings, w->strings_room);
    memory_free(w->memory, w->string_buckets, w->string_bucket_count * sizeof *w->string_buckets);
    memory_free(w->memory, w->names, w->name_capacity * sizeof *w->names);
    memory_free(w->memory, w->name_buckets, w->name_bucket_count * sizeof *w->name_buckets);
    memory_free(w->memory, w->opaque_used,
                w->opaque_used == NULL ? 0 : w->info.component_count * sizeof *w->opaque_used + 1);
    *w = (blob_writer_t){.memory = w->memory};
}
