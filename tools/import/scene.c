/* scene.c - the entities as the JSON that people write (docs/import.md describes the output).
 *
 * One line for each component, numbers in a row: the file is read, changed and compared by people. The list of
 * entities is in the order of the text, each with its depth, so writing the list needs no recursion: brackets are
 * opened and closed as the depth changes.
 *
 * JSON that lies too deep is refused by readers, the scene compiler among them. So an entity that is LEVELS_WITHIN deep
 * is written at the top again, with transform.parent as the name of its parent, and so are entities at each multiple of
 * that depth.
 *
 * A name is written once, as the entity's: debug_name is written without properties, since it takes that name as its
 * label. Poses and colours that are the defaults are left out.
 */
#include "output.h"

enum { DEEPEST_INDENT = 50 };

/* Depths are a file's own; a chain of thousands must not make lines of blanks. */
static void indent(output_t *out, uint32_t depth, int more)
{
    int shown = depth < DEEPEST_INDENT ? (int)depth : DEEPEST_INDENT;
    output_printf(out, "\n%*s", 4 * shown + more, "");
}

static void write_floats(output_t *out, const float *values, int count)
{
    for (int i = 0; i < count; i++) {
        output_printf(out, i == 0 ? "[" : ", ");
        output_float(out, values[i]);
    }
    output_printf(out, "]");
}

/* Write a property, where its values differ from the initial ones. */
static void write_property(output_t *out, const char *name, const float *values, const float *initial, int count,
                           int *written)
{
    bool same = true;
    for (int i = 0; i < count; i++)
        same &= !(values[i] < initial[i]) && !(values[i] > initial[i]);
    if (same)
        return;
    output_printf(out, "%s\"%s\": ", (*written)++ > 0 ? ", " : "", name);
    write_floats(out, values, count);
}

/* How deep an entity lies in its band of levels. */
static uint32_t shown_depth(const entity_t *entity)
{
    return entity->depth % LEVELS_WITHIN;
}

static void write_transform(output_t *out, const import_t *import, const entity_t *entity)
{
    const pose_t *pose = &entity->pose;
    int written = 0;
    output_printf(out, "\"transform\": {");
    if (entity->depth > 0 && shown_depth(entity) == 0) {
        output_printf(out, "\"parent\": ");
        output_quoted(out, import->entities[entity->parent].name);
        written++;
    }
    write_property(out, "position", pose->position, (const float[]){0, 0, 0}, 3, &written);
    write_property(out, "rotation", pose->rotation, (const float[]){0, 0, 0, 1}, 4, &written);
    write_property(out, "scale", pose->scale, (const float[]){1, 1, 1}, 3, &written);
    output_printf(out, "}");
}

/* The mesh components of an entity: "mesh", "mesh_2", "mesh_3" ... */
static void write_meshes(output_t *out, const import_t *import, const entity_t *entity, int more)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < entity->meshes; i++) {
        uint32_t index = entity->first_mesh[i];
        const mesh_t *mesh = &import->meshes[index];
        if (mesh->file == NULL)
            continue;
        output_printf(out, ",");
        indent(out, shown_depth(entity), more);
        if (++number == 1)
            output_printf(out, "\"mesh\": {\"resource\": ");
        else
            output_printf(out, "\"mesh_%u\": {\"type\": \"mesh\", \"resource\": ", (unsigned)number);
        output_quoted(out, mesh->file);
        if (mesh->coloured) {
            output_printf(out, ", \"colour\": ");
            write_floats(out, mesh->colour, 4);
        }
        output_printf(out, "}");
    }
}

static void write_entity(output_t *out, const import_t *import, const entity_t *entity)
{
    uint32_t depth = shown_depth(entity);
    indent(out, depth, 4);
    output_printf(out, "{");
    if (entity->note != NULL) {
        indent(out, depth, 6);
        output_printf(out, "\"//\": ");
        output_quoted(out, entity->note);
        output_printf(out, ",");
    }
    indent(out, depth, 6);
    output_printf(out, "\"name\": ");
    output_quoted(out, entity->name);
    output_printf(out, ",");
    indent(out, depth, 6);
    output_printf(out, "\"components\": {");
    indent(out, depth, 8);
    output_printf(out, "\"debug_name\": {},");
    indent(out, depth, 8);
    write_transform(out, import, entity);
    write_meshes(out, import, entity, 8);
    indent(out, depth, 6);
    output_printf(out, "}");
}

/* Close the brackets that are open at depth `from`, until the next entity at `depth` may begin. */
static void close_to(output_t *out, uint32_t from, uint32_t depth)
{
    for (;; from--) {
        indent(out, from, 4);
        output_printf(out, "}");
        if (from == depth)
            return;
        indent(out, from - 1, 6);
        output_printf(out, "]");
    }
}

/* Write the entities of a band of levels. *last is the depth that was shown last, UINT32_MAX at the beginning. Returns
 * whether any lies deeper. */
static bool write_band(output_t *out, const import_t *import, uint32_t band, uint32_t *last)
{
    bool deeper = false;
    for (uint32_t i = 0; i < import->entity_count; i++) {
        const entity_t *entity = &import->entities[i];
        uint32_t depth = shown_depth(entity);
        deeper |= entity->depth / LEVELS_WITHIN > band;
        if (entity->depth / LEVELS_WITHIN != band)
            continue;
        if (*last != UINT32_MAX && depth > *last) {
            output_printf(out, ",");
            indent(out, *last, 6);
            output_printf(out, "\"children\": [");
        } else if (*last != UINT32_MAX) {
            close_to(out, *last, depth);
            output_printf(out, ",");
        }
        write_entity(out, import, entity);
        *last = depth;
    }
    return deeper;
}

bool scene_write(const import_t *import)
{
    output_t out;
    uint32_t band = 0, last = UINT32_MAX;
    if (!output_begin(&out, import->scene_path))
        return false;
    output_printf(&out, "{\n  \"//\": ");
    output_quoted(&out, import->origin);
    output_printf(&out, ",\n  \"entities\": [");
    while (write_band(&out, import, band, &last))
        band++;
    close_to(&out, last, 0);
    output_printf(&out, "\n  ]\n}\n");
    return output_end(&out);
}
