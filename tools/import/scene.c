/* scene.c - the entities as the JSON that people write (docs/import.md says what comes out).
 *
 * One line for each component, numbers in a row: the file is read, changed and compared by people. The list of
 * entities is in the order of the text, each with its depth, so writing it needs no recursion: brackets are opened
 * and closed as the depth changes.
 *
 * A name stands once, as the entity's: debug_name is a component without properties, for it takes that name as its
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

/* A property, where it is not what it begins with. */
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

static void write_transform(output_t *out, const pose_t *pose)
{
    int written = 0;
    output_printf(out, "\"transform\": {");
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
        indent(out, entity->depth, more);
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
    indent(out, entity->depth, 4);
    output_printf(out, "{");
    if (entity->note != NULL) {
        indent(out, entity->depth, 6);
        output_printf(out, "\"//\": ");
        output_quoted(out, entity->note);
        output_printf(out, ",");
    }
    indent(out, entity->depth, 6);
    output_printf(out, "\"name\": ");
    output_quoted(out, entity->name);
    output_printf(out, ",");
    indent(out, entity->depth, 6);
    output_printf(out, "\"components\": {");
    indent(out, entity->depth, 8);
    output_printf(out, "\"debug_name\": {},");
    indent(out, entity->depth, 8);
    write_transform(out, &entity->pose);
    write_meshes(out, import, entity, 8);
    indent(out, entity->depth, 6);
    output_printf(out, "}");
}

/* Close what stands open at `from` until the next entity at `depth` may begin. */
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

bool scene_write(const import_t *import)
{
    output_t out;
    if (!output_begin(&out, import->scene_path))
        return false;
    output_printf(&out, "{\n  \"//\": ");
    output_quoted(&out, import->origin);
    output_printf(&out, ",\n  \"entities\": [");
    for (uint32_t i = 0; i < import->entity_count; i++) {
        const entity_t *entity = &import->entities[i];
        uint32_t before = i == 0 ? 0 : import->entities[i - 1].depth;
        if (i > 0 && entity->depth > before) {
            output_printf(&out, ",");
            indent(&out, before, 6);
            output_printf(&out, "\"children\": [");
        } else if (i > 0) {
            close_to(&out, before, entity->depth);
            output_printf(&out, ",");
        }
        write_entity(&out, import, entity);
    }
    if (import->entity_count > 0)
        close_to(&out, import->entities[import->entity_count - 1].depth, 0);
    output_printf(&out, "\n  ]\n}\n");
    return output_end(&out);
}
