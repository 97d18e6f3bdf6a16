/* meshes.c - the meshes of a file as OBJ files of triangles, each written once however many nodes show it.
 *
 * Only positions and triangles are written, since the component mesh keeps no more. Faces of one or two corners
 * (points, lines) are left out and counted, and so are faces with a corner that is not there or not finite: one bad
 * triangle is no reason to refuse a building. A vertex is written when the first triangle names it, so that vertices
 * that no triangle uses do not arrive. A mesh without any triangle gets no file, and its nodes no mesh.
 *
 * File names are lower-case letters, digits, - and _, unique whatever the file system thinks of case, and begin
 * with the scene's name, so that several scenes may share a folder.
 */
#include "output.h"

#include "os/files.h"
#include "os/os.h"

#include <assimp/cimport.h>
#include <assimp/material.h>
#include <assimp/scene.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_NAME_BYTES = 120 };

static bool is_there(const struct aiMesh *mesh, uint32_t vertex)
{
    if (vertex >= mesh->mNumVertices)
        return false;
    const struct aiVector3D *p = &mesh->mVertices[vertex];
    return isfinite(p->x) && isfinite(p->y) && isfinite(p->z);
}

typedef enum face_t { FACE_GOOD, FACE_THIN, FACE_BAD } face_t;

static face_t judge(const struct aiMesh *mesh, const struct aiFace *face)
{
    if (face->mNumIndices < 3)
        return FACE_THIN;
    for (uint32_t i = 0; i < face->mNumIndices; i++)
        if (!is_there(mesh, face->mIndices[i]))
            return FACE_BAD;
    return FACE_GOOD;
}

/* Count the faces of a mesh into the remarks. Returns the good ones. */
static uint64_t count_faces(import_t *import, const struct aiMesh *mesh)
{
    uint64_t counts[3] = {0, 0, 0};
    for (uint32_t i = 0; i < mesh->mNumFaces; i++)
        counts[judge(mesh, &mesh->mFaces[i])]++;
    import->remarks.bad_faces += counts[FACE_BAD];
    import->remarks.points_lines += counts[FACE_GOOD] > 0 ? counts[FACE_THIN] : 0;
    import->remarks.no_triangles += counts[FACE_GOOD] == 0 && counts[FACE_BAD] == 0;
    return counts[FACE_GOOD];
}

/* --- what there is --------------------------------------------------------------------------------------------- */

static bool mark_used(import_t *import)
{
    for (uint32_t i = 0; i < import->entity_count; i++) {
        const entity_t *entity = &import->entities[i];
        for (uint32_t j = 0; j < entity->meshes; j++) {
            if (entity->first_mesh[j] >= import->scene->mNumMeshes)
                return complain("%s: entity '%s' shows a mesh that the file does not have", import->file, entity->name);
            import->meshes[entity->first_mesh[j]].used = true;
        }
    }
    return true;
}

static char *file_name(labels_t *names, const char *stem, const struct aiMesh *mesh, uint32_t index)
{
    char wanted[FILE_NAME_BYTES], shown[FILE_NAME_BYTES + 1];
    if (mesh->mName.length > 0)
        snprintf(wanted, sizeof wanted, "%.50s_%.60s", stem, mesh->mName.data);
    else
        snprintf(wanted, sizeof wanted, "%.50s_%u", stem, (unsigned)index);
    label_for_file(wanted, shown, sizeof shown);
    for (char *c = shown; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    char *name = labels_take(names, shown);
    size_t length = name == NULL ? 0 : strlen(name);
    char *longer = name == NULL ? NULL : realloc(name, length + sizeof ".obj");
    if (longer == NULL)
        free(name);
    else
        memcpy(longer + length, ".obj", sizeof ".obj");
    return longer;
}

static void read_colour(const struct aiScene *scene, const struct aiMesh *source, mesh_t *mesh)
{
    struct aiColor4D c = {1, 1, 1, 1};
    uint32_t index = source->mMaterialIndex;
    const struct aiMaterial *material = index < scene->mNumMaterials ? scene->mMaterials[index] : NULL;
    bool physical = material != NULL && aiGetMaterialColor(material, AI_MATKEY_BASE_COLOR, &c) == aiReturn_SUCCESS;
    if (material != NULL && !physical) {
        float opacity;
        if (aiGetMaterialColor(material, AI_MATKEY_COLOR_DIFFUSE, &c) != aiReturn_SUCCESS)
            c = (struct aiColor4D){1, 1, 1, 1};
        if (aiGetMaterialFloatArray(material, AI_MATKEY_OPACITY, &opacity, NULL) == aiReturn_SUCCESS)
            c.a = opacity;
    }
    memcpy(mesh->colour, (const float[4]){c.r, c.g, c.b, c.a}, sizeof mesh->colour);
    for (int i = 0; i < 4; i++) {
        if (!isfinite(mesh->colour[i]))
            mesh->colour[i] = 1;
        mesh->coloured |= mesh->colour[i] < 1 || mesh->colour[i] > 1;
    }
}

/* The last part of a path without what stands behind its last dot. */
static void stem_of(const char *path, char *stem, size_t size)
{
    const char *name = path;
    for (const char *c = path; *c != '\0'; c++)
        if (*c == '/' || *c == '\\')
            name = c + 1;
    const char *dot = strrchr(name, '.');
    size_t length = dot == NULL || dot == name ? strlen(name) : (size_t)(dot - name);
    snprintf(stem, size, "%.*s", (int)(length < size ? length : size - 1), name);
}

bool meshes_collect(import_t *import)
{
    const struct aiScene *scene = import->scene;
    labels_t names = {0};
    char stem[PATH_MAX_BYTES];
    stem_of(import->scene_path, stem, sizeof stem);
    import->meshes = calloc((size_t)scene->mNumMeshes + 1, sizeof *import->meshes);
    if (import->meshes == NULL)
        return complain_memory();
    bool fine = mark_used(import);
    for (uint32_t i = 0; fine && i < scene->mNumMeshes; i++) {
        mesh_t *mesh = &import->meshes[i];
        uint64_t triangles = mesh->used ? count_faces(import, scene->mMeshes[i]) : 0;
        if (triangles == 0)
            continue;
        import->triangles += triangles;
        import->mesh_files++;
        read_colour(scene, scene->mMeshes[i], mesh);
        mesh->file = file_name(&names, stem, scene->mMeshes[i], i);
        fine = mesh->file != NULL || complain_memory();
    }
    labels_free(&names);
    return fine;
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

static void write_face(output_t *out, const struct aiMesh *mesh, const struct aiFace *face, uint32_t *numbers,
                       uint32_t *count)
{
    for (uint32_t i = 0; i < face->mNumIndices; i++) {
        const struct aiVector3D *p = &mesh->mVertices[face->mIndices[i]];
        if (numbers[face->mIndices[i]] != 0)
            continue;
        numbers[face->mIndices[i]] = ++*count;
        output_printf(out, "v ");
        output_float(out, p->x);
        output_printf(out, " ");
        output_float(out, p->y);
        output_printf(out, " ");
        output_float(out, p->z);
        output_printf(out, "\n");
    }
    output_printf(out, "f");
    for (uint32_t i = 0; i < face->mNumIndices; i++)
        output_printf(out, " %u", (unsigned)numbers[face->mIndices[i]]);
    output_printf(out, "\n");
}

static bool write_mesh(const import_t *import, const struct aiMesh *mesh, const char *path)
{
    output_t out;
    uint32_t count = 0;
    uint32_t *numbers = calloc((size_t)mesh->mNumVertices + 1, sizeof *numbers); /* in the OBJ, from 1; 0: not yet */
    if (numbers == NULL)
        return complain_memory();
    bool fine = output_begin(&out, path);
    if (fine) {
        output_printf(&out, "# %s\n", import->origin);
        for (uint32_t i = 0; i < mesh->mNumFaces; i++)
            if (judge(mesh, &mesh->mFaces[i]) == FACE_GOOD)
                write_face(&out, mesh, &mesh->mFaces[i], numbers, &count);
        fine = output_end(&out);
    }
    free(numbers);
    return fine;
}

static const char *path_of(const import_t *import, const mesh_t *mesh, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s/%s", import->folder, mesh->file);
    return path;
}

bool meshes_write(import_t *import)
{
    char path[PATH_MAX_BYTES];
    if (import->mesh_files > 0 && strlen(import->folder) > PATH_MAX_BYTES - FILE_NAME_BYTES - 32)
        return complain("the path of the folder %.60s... is too long", import->folder);
    if (import->mesh_files > 0 && !os_folder_create(import->folder))
        return complain("the folder %s cannot be made", import->folder);
    bool fine = true;
    for (uint32_t i = 0; fine && i < import->scene->mNumMeshes; i++)
        if (import->meshes[i].file != NULL)
            fine = write_mesh(import, import->scene->mMeshes[i], path_of(import, &import->meshes[i], path));
    return fine;
}

bool meshes_keep(const import_t *import)
{
    char path[PATH_MAX_BYTES];
    bool fine = true;
    for (uint32_t i = 0; fine && i < import->scene->mNumMeshes; i++)
        if (import->meshes[i].file != NULL)
            fine = output_keep(path_of(import, &import->meshes[i], path));
    return fine;
}

void meshes_drop(const import_t *import)
{
    char path[PATH_MAX_BYTES];
    for (uint32_t i = 0; import->meshes != NULL && i < import->scene->mNumMeshes; i++)
        if (import->meshes[i].file != NULL)
            output_drop(path_of(import, &import->meshes[i], path));
}

void meshes_free(import_t *import)
{
    for (uint32_t i = 0; import->meshes != NULL && i < import->scene->mNumMeshes; i++)
        free(import->meshes[i].file);
    free(import->meshes);
    import->meshes = NULL;
}
