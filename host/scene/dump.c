/* dump.c - walking a blob entity by entity (spawning walks it by column).
 *
 * The text goes by group and row. The JSON goes down the hierarchy: children are found through links made from the
 * parents section, and the way down is kept in these links too, so that neither deep nor wide families need more room
 * than four numbers an entity.
 */
#include "dump.h"

#include "json.h"

#include <inttypes.h>

typedef struct dump_t {
    base_t *base;
    const blob_t *blob;
    bp_text_sink_i sink;
    uint32_t *group_of;  /* by entity */
    uint32_t *child;     /* JSON: first child + 1 */
    uint32_t *sibling;   /* JSON: next one + 1 */
    uint8_t *referred;   /* JSON: some entity refers to this one */
    named_t *named;      /* by field: the names of its values */
    const uint32_t *shared; /* of several worlds: by entity the number + 1 that it has in these, or 0; else NULL */
    uint8_t *met;        /* by that number: a world before has it */
    uint32_t before;     /* entities in the worlds before */
} dump_t;

/* A list of names that cannot be read is left out: its values are shown as numbers. */
static bool read_names(dump_t *d)
{
    for (uint32_t f = 0; f < d->blob->info->field_count; f++) {
        const blob_field_t *field = &d->blob->fields[f];
        if (field->values != 0 &&
            named_init(&d->named[f], &d->base->memory, field->type, blob_text(d->blob, field->values),
                       (field->flags & BLOB_BITS) != 0, &d->base->error) == BP_ERROR_MEMORY)
            return false;
    }
    return true;
}

static bp_result_t make_room(dump_t *d, bool json)
{
    const blob_info_t *info = d->blob->info;
    memory_t *memory = &d->base->memory;
    size_t count = (size_t)info->entity_count + 1;
    d->group_of = memory_new(memory, count * sizeof *d->group_of);
    if (json) {
        d->child = memory_new(memory, count * sizeof *d->child);
        d->sibling = memory_new(memory, count * sizeof *d->sibling);
        d->referred = memory_new(memory, count);
    }
    d->named = memory_new(memory, (info->field_count + (size_t)1) * sizeof *d->named);
    bool good = d->group_of != NULL && d->named != NULL && read_names(d) &&
                (!json || (d->child != NULL && d->sibling != NULL && d->referred != NULL));
    for (uint32_t g = 0; good && g < info->group_count; g++) {
        for (uint32_t i = 0; i < d->blob->groups[g].rows; i++)
            d->group_of[d->blob->groups[g].first_entity + i] = g;
    }
    for (uint32_t i = 0; good && i < info->name_count; i++) {
        bp_name_t name;
        good = names_intern(&d->base->names, blob_text(d->blob, d->blob->names[i]), &name, &d->base->error) !=
               BP_ERROR_MEMORY;
    }
    return good ? BP_OK : error_set(&d->base->error, BP_ERROR_MEMORY, "out of memory for showing a scene");
}

static void free_room(dump_t *d)
{
    size_t count = (size_t)d->blob->info->entity_count + 1;
    for (uint32_t f = 0; d->named != NULL && f < d->blob->info->field_count; f++)
        named_free(&d->named[f], &d->base->memory);
    memory_free(&d->base->memory, d->named, (d->blob->info->field_count + (size_t)1) * sizeof *d->named);
    memory_free(&d->base->memory, d->group_of, count * sizeof *d->group_of);
    memory_free(&d->base->memory, d->child, count * sizeof *d->child);
    memory_free(&d->base->memory, d->sibling, count * sizeof *d->sibling);
    memory_free(&d->base->memory, d->referred, count);
}

/* --- values ------------------------------------------------------------------------------------------------------- */

/* The values of an instance: one, as many as an array has, or those of a list. */
static const char *values_at(const dump_t *d, const blob_field_t *field, uint32_t instances, uint32_t instance,
                             uint32_t *count)
{
    uint32_t cell = field->kind == BLOB_ONE ? 0 : instance;
    *count = field->more + 1u;
    if (!blob_is_list(field))
        return (const char *)blob_values(d->blob, field) + cell * blob_cell_size(field);
    const uint64_t *starts = blob_list_starts(d->blob, field);
    *count = (uint32_t)(starts[cell + 1u] - starts[cell]);
    return (const char *)blob_list_items(d->blob, field, instances) + starts[cell] * blob_value_size(field->type);
}

/* The text of a name; of a name without a known text, its number. */
static const char *name_text(const dump_t *d, bp_name_t name, char *number, size_t size)
{
    const char *text = names_text(&d->base->names, name);
    if (names_hash(text) == name)
        return text;
    snprintf(number, size, "#%016" PRIx64, name);
    return number;
}

static void print_name(const dump_t *d, bp_name_t name)
{
    char number[32];
    print_quoted(&d->sink, name_text(d, name, number, sizeof number));
}

/* What JSON calls an entity. */
static const char *entity_text(const dump_t *d, uint32_t e, char *text, size_t size)
{
    bool shared = d->shared != NULL && d->shared[e] != 0;
    snprintf(text, size, "%c%" PRIu32, shared ? 's' : 'e', shared ? d->shared[e] - 1 : d->before + e);
    return text;
}

static void print_one(const dump_t *d, const blob_field_t *field, const void *value, bool json)
{
    uint32_t number;
    char text[NAMED_MAX_TEXT];
    if (field->type == BP_STRING || field->type == BP_ENTITY)
        memcpy(&number, value, sizeof number);
    if (field->type == BP_STRING) {
        print_quoted(&d->sink, blob_text(d->blob, number));
    } else if (field->type == BP_NAME) {
        bp_name_t name;
        memcpy(&name, value, sizeof name);
        print_name(d, name);
    } else if (field->type == BP_ENTITY) {
        if (number == 0)
            print_text(&d->sink, json ? "\"\"" : "none");
        else if (json)
            print_format(&d->sink, "\"%s\"", entity_text(d, number - 1, text, sizeof text));
        else
            print_format(&d->sink, "entity %" PRIu32, number - 1);
    } else if (d->named[field - d->blob->fields].count > 0) {
        named_format(&d->named[field - d->blob->fields], field->type, value, text, sizeof text);
        json ? print_quoted(&d->sink, text) : print_text(&d->sink, text);
    } else if (json) {
        print_json_value(&d->sink, &d->base->values, field->type, value);
    } else {
        value_format(&d->base->values, field->type, value, text, sizeof text);
        print_text(&d->sink, text);
    }
}

static void print_value(const dump_t *d, const blob_component_t *component, const blob_field_t *field,
                        uint32_t instance, bool json)
{
    uint32_t count, size = blob_value_size(field->type);
    const char *values = values_at(d, field, component->instance_count, instance, &count);
    bool several = blob_is_list(field) || field->more > 0;
    print_text(&d->sink, several ? "[" : "");
    for (uint32_t i = 0; i < count; i++) {
        print_text(&d->sink, i > 0 ? ", " : "");
        print_one(d, field, values + (size_t)i * size, json);
    }
    print_text(&d->sink, several ? "]" : "");
}

/* --- text --------------------------------------------------------------------------------------------------------- */

/* "f32", "f32[4]", "f32 list". */
static const char *type_text(const blob_field_t *field, char *text, size_t size)
{
    const char *type = value_type_name(field->type);
    if (field->more > 0)
        snprintf(text, size, "%s[%u]", type, field->more + 1u);
    else
        snprintf(text, size, "%s%s", type, blob_is_list(field) ? " list" : "");
    return text;
}

static void describe_component(const dump_t *d, uint32_t c)
{
    const blob_component_t *component = &d->blob->components[c];
    print_format(&d->sink, "component %s, version %" PRIu32 ": %" PRIu32 " instance%s\n",
                 blob_text(d->blob, component->type), component->version, component->instance_count,
                 component->instance_count == 1 ? "" : "s");
    if ((component->flags & BLOB_OPAQUE) != 0)
        print_format(&d->sink, "    compiled by its manager: %" PRIu64 " bytes\n", component->opaque_size);
    for (uint32_t f = 0; f < component->field_count; f++) {
        const blob_field_t *field = &d->blob->fields[component->first_field + f];
        char type[32];
        print_format(&d->sink, "    %-20s %-7s ", blob_text(d->blob, field->name), type_text(field, type, sizeof type));
        if (field->kind == BLOB_ONE) {
            print_value(d, component, field, 0, false);
            print_text(&d->sink, " for all\n");
        } else {
            print_format(&d->sink, "%" PRIu64 " bytes at %" PRIu64 "\n", field->size, field->offset);
        }
    }
}

static void describe_part(const dump_t *d, const blob_part_t *part)
{
    char number[32];
    const char *type = blob_text(d->blob, d->blob->components[part->component].type);
    const char *name = name_text(d, part->name, number, sizeof number);
    print_text(&d->sink, name);
    if (strcmp(name, type) != 0)
        print_format(&d->sink, " (%s)", type);
}

static void describe_group(const dump_t *d, uint32_t g)
{
    const blob_group_t *group = &d->blob->groups[g];
    uint32_t first = group->first_entity, last = first + group->rows - 1;
    if (group->rows == 0)
        print_format(&d->sink, "group %" PRIu32 ", no entities: ", g);
    else if (group->rows == 1)
        print_format(&d->sink, "group %" PRIu32 ", entity %" PRIu32 ": ", g, first);
    else
        print_format(&d->sink, "group %" PRIu32 ", entities %" PRIu32 " to %" PRIu32 ": ", g, first, last);
    for (uint32_t p = 0; p < group->part_count; p++) {
        print_text(&d->sink, p > 0 ? ", " : "");
        describe_part(d, &d->blob->parts[group->first_part + p]);
    }
    print_text(&d->sink, group->part_count == 0 ? "no components\n" : "\n");
}

static void describe(const dump_t *d, const char *origin)
{
    const blob_t *blob = d->blob;
    const blob_info_t *info = blob->info;
    uint32_t children = 0;
    for (uint32_t i = 0; blob->parents != NULL && i < info->entity_count; i++)
        children += blob->parents[i] != 0;
    print_format(&d->sink, "%.300s: scene blob, format %" PRIu32 ", %zu bytes, checksum %016" PRIx64 "\n", origin,
                 blob->head->version, blob->size, blob->head->checksum);
    print_format(&d->sink,
                 "%" PRIu32 " entities in %" PRIu32 " groups, %" PRIu32 " of them with a parent; %" PRIu32
                 " components\n",
                 info->entity_count, info->group_count, children, info->component_count);
    if ((info->flags & BLOB_HAS_CLOCK) != 0)
        print_format(&d->sink, "a saved world: %" PRIu64 " steps done, time %.15g, %.15g steps in a unit of time\n",
                     info->steps, info->time, info->step_rate);
    print_text(&d->sink, "\n");
    for (uint32_t c = 0; c < info->component_count; c++)
        describe_component(d, c);
    for (uint32_t g = 0; g < info->group_count; g++)
        describe_group(d, g);
    print_text(&d->sink, "\n");
}

static void print_part(const dump_t *d, const blob_part_t *part, uint32_t row)
{
    const blob_component_t *component = &d->blob->components[part->component];
    uint32_t instance = part->first_instance + row;
    print_text(&d->sink, "    ");
    describe_part(d, part);
    print_text(&d->sink, ":");
    for (uint32_t f = 0; f < component->field_count; f++) {
        const blob_field_t *field = &d->blob->fields[component->first_field + f];
        print_format(&d->sink, "%s %s ", f > 0 ? "," : "", blob_text(d->blob, field->name));
        print_value(d, component, field, instance, false);
    }
    if ((component->flags & BLOB_OPAQUE) != 0) {
        size_t size;
        blob_opaque_bytes(d->blob, component, instance, &size);
        print_format(&d->sink, " %zu bytes", size);
    }
    print_text(&d->sink, "\n");
}

static void print_entity(const dump_t *d, uint32_t e)
{
    const blob_group_t *group = &d->blob->groups[d->group_of[e]];
    print_format(&d->sink, "entity %" PRIu32, e);
    if (d->blob->parents != NULL && d->blob->parents[e] != 0)
        print_format(&d->sink, ", parent %" PRIu32, d->blob->parents[e] - 1);
    if (d->shared != NULL && d->shared[e] != 0)
        print_format(&d->sink, ", s%" PRIu32 " of those in several worlds", d->shared[e] - 1);
    print_text(&d->sink, "\n");
    for (uint32_t p = 0; p < group->part_count; p++)
        print_part(d, &d->blob->parts[group->first_part + p], e - group->first_entity);
}

static bp_result_t print_plain(dump_t *d, const char *origin)
{
    bp_result_t result = make_room(d, false);
    if (result == BP_OK) {
        describe(d, origin);
        for (uint32_t e = 0; e < d->blob->info->entity_count; e++)
            print_entity(d, e);
    }
    free_room(d);
    return result;
}

bp_result_t dump_text(base_t *base, const blob_t *blob, const char *origin, const bp_text_sink_i *sink)
{
    dump_t d = {.base = base, .blob = blob, .sink = *sink};
    return print_plain(&d, origin);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

/* Is an entity what belongs to the world itself? */
static bool is_world(const dump_t *d, uint32_t e)
{
    const blob_group_t *group = &d->blob->groups[d->group_of[e]];
    return group->part_count > 0 &&
           (d->blob->components[d->blob->parts[group->first_part].component].flags & BLOB_WORLD) != 0;
}

/* Links in the order of entities: from the last one on, each in front of its siblings. Returns the first root + 1. */
static uint32_t link_families(dump_t *d)
{
    uint32_t roots = 0;
    for (uint32_t e = d->blob->info->entity_count; e > 0; e--) {
        uint32_t parent = d->blob->parents == NULL ? 0 : d->blob->parents[e - 1];
        uint32_t *first = parent == 0 ? &roots : &d->child[parent - 1];
        if (parent == 0 && is_world(d, e - 1))
            continue;
        d->sibling[e - 1] = *first;
        *first = e;
    }
    return roots;
}

static void find_referred(dump_t *d)
{
    for (uint32_t c = 0; c < d->blob->info->component_count; c++) {
        const blob_component_t *component = &d->blob->components[c];
        for (uint32_t f = 0; f < component->field_count; f++) {
            const blob_field_t *field = &d->blob->fields[component->first_field + f];
            for (uint32_t cell = 0; field->type == BP_ENTITY && cell < blob_cells(field, component->instance_count);
                 cell++) {
                uint32_t count;
                const uint32_t *numbers =
                    (const uint32_t *)(const void *)values_at(d, field, component->instance_count, cell, &count);
                for (uint32_t i = 0; i < count; i++)
                    d->referred[numbers[i]] = 1; /* number + 1; 0 is no entity */
            }
        }
    }
}

/* Deep families are not indented further and further: the text would grow with the square of their depth. */
static void indent(const dump_t *d, uint32_t depth)
{
    static const char blanks[] = "                                ";
    print_text(&d->sink, blanks + sizeof blanks - 1 - 2 * (depth < 16 ? depth : 16));
}

/* "type" says the component's type, and "$type" is a property that is called type. */
static void print_json_part(const dump_t *d, const blob_part_t *part, uint32_t row, uint32_t depth)
{
    const blob_component_t *component = &d->blob->components[part->component];
    uint32_t instance = part->first_instance + row;
    indent(d, depth);
    print_name(d, part->name);
    print_format(&d->sink, ": {\"type\": \"%s\"", blob_text(d->blob, component->type));
    for (uint32_t f = 0; f < component->field_count; f++) {
        const blob_field_t *field = &d->blob->fields[component->first_field + f];
        const char *name = blob_text(d->blob, field->name);
        print_format(&d->sink, ", \"%s%s\": ", strcmp(name, "type") == 0 ? "$" : "", name);
        print_value(d, component, field, instance, true);
    }
    if ((component->flags & BLOB_OPAQUE) != 0) {
        size_t size;
        blob_opaque_bytes(d->blob, component, instance, &size);
        print_format(&d->sink, ", \"$compiled\": \"%zu bytes\"", size);
    }
    print_text(&d->sink, "}");
}

/* Write what belongs to the world itself, in front of the entities. */
static void print_world(const dump_t *d, uint32_t e)
{
    const blob_group_t *group = &d->blob->groups[d->group_of[e]];
    print_text(&d->sink, "\"world\": {\n");
    for (uint32_t p = 0; p < group->part_count; p++) {
        print_json_part(d, &d->blob->parts[group->first_part + p], e - group->first_entity, 1);
        print_text(&d->sink, p + 1 < group->part_count ? ",\n" : "},\n");
    }
}

/* Write an entity up to the place of its children. */
static void open_entity(const dump_t *d, uint32_t e, uint32_t depth)
{
    const blob_group_t *group = &d->blob->groups[d->group_of[e]];
    const char *separator = "";
    indent(d, depth);
    print_text(&d->sink, "{");
    bool shared = d->shared != NULL && d->shared[e] != 0;
    if (shared || d->referred[e + 1]) {
        char name[32];
        bool again = shared && d->met[d->shared[e] - 1];
        print_format(&d->sink, "\"%s\": \"%s\"", again ? "entity" : "name", entity_text(d, e, name, sizeof name));
        separator = ", ";
    }
    if (group->part_count > 0) {
        print_format(&d->sink, "%s\"components\": {\n", separator);
        separator = ", ";
    }
    for (uint32_t p = 0; p < group->part_count; p++) {
        print_json_part(d, &d->blob->parts[group->first_part + p], e - group->first_entity, depth + 1);
        print_text(&d->sink, p + 1 < group->part_count ? ",\n" : "}");
    }
    if (d->child[e] != 0)
        print_format(&d->sink, "%s\"children\": [\n", separator);
}

/* Write a root and all below: down to the children, on to the next sibling, and up where there is none. */
static void print_family(const dump_t *d, uint32_t root)
{
    uint32_t e = root, depth = 1;
    open_entity(d, e, depth);
    for (;;) {
        if (d->child[e] != 0) {
            e = d->child[e] - 1;
            depth++;
            open_entity(d, e, depth);
            continue;
        }
        print_text(&d->sink, "}");
        while (e != root && d->sibling[e] == 0) {
            e = d->blob->parents[e] - 1;
            depth--;
            print_text(&d->sink, "]}");
        }
        if (e == root)
            return;
        print_text(&d->sink, ",\n");
        e = d->sibling[e] - 1;
        open_entity(d, e, depth);
    }
}

static bp_result_t print_json(dump_t *d)
{
    bp_result_t result = make_room(d, true);
    if (result == BP_OK) {
        find_referred(d);
        print_text(&d->sink, "{");
        for (uint32_t e = 0; e < d->blob->info->entity_count; e++) {
            if (is_world(d, e))
                print_world(d, e);
        }
        print_text(&d->sink, "\"entities\": [\n");
        for (uint32_t root = link_families(d); root != 0; root = d->sibling[root - 1]) {
            print_family(d, root - 1);
            print_text(&d->sink, d->sibling[root - 1] != 0 ? ",\n" : "\n");
        }
        print_text(&d->sink, "]}");
    }
    free_room(d);
    return result;
}

bp_result_t dump_json(base_t *base, const blob_t *blob, const bp_text_sink_i *sink)
{
    dump_t d = {.base = base, .blob = blob, .sink = *sink};
    bp_result_t result = print_json(&d);
    if (result == BP_OK)
        print_text(sink, "\n");
    return result;
}

/* --- several worlds ----------------------------------------------------------------------------------------------- */

static bp_result_t print_one_world(dump_t *d, const several_part_t *part, bool json)
{
    if (!json)
        return print_plain(d, part->name);
    print_format(&d->sink, "\"%s\": ", part->name);
    return print_json(d);
}

bp_result_t dump_several(base_t *base, const several_t *several, const blob_t *blobs, const char *origin, bool json,
                         const bp_text_sink_i *sink)
{
    size_t size = several->shared + (size_t)1;
    uint8_t *met = memory_new(&base->memory, size);
    dump_t d = {.base = base, .sink = *sink, .met = met};
    bp_result_t result = BP_OK;
    if (met == NULL)
        return error_set(&base->error, BP_ERROR_MEMORY, "out of memory for showing a scene");
    if (json)
        print_text(sink, "{\"worlds\": {\n");
    else
        print_format(sink, "%.300s: %" PRIu32 " world%s; %" PRIu32 " of the entities in several of them\n", origin,
                     several->count, several->count == 1 ? "" : "s", several->shared);
    for (uint32_t w = 0; w < several->count && result == BP_OK; w++) {
        several_part_t part = several_part(several, w);
        d.blob = &blobs[w];
        d.shared = part.shared;
        print_text(sink, json ? (w > 0 ? ",\n" : "") : "\n");
        result = print_one_world(&d, &part, json);
        for (uint32_t i = 0; i < part.count; i++) {
            if (part.shared[i] != 0)
                met[part.shared[i] - 1] = 1;
        }
        d.before += part.count;
        d = (dump_t){.base = base, .sink = *sink, .met = met, .before = d.before};
    }
    if (result == BP_OK && json)
        print_text(sink, "\n}}\n");
    memory_free(&base->memory, met, size);
    return result;
}
