/* main.c - backplane-import: a file of another program becomes a scene and its meshes.
 *
 * The import is a program of its own, which `backplane import` runs: so nothing else needs assimp, and a file that
 * makes assimp crash ends only this program. The output is text files that people can read and change; running the
 * scene needs neither this program nor assimp.
 *
 * assimp is asked for triangles, and to drop the parts that the scene has no place for before it joins equal vertices.
 * With these requests assimp leaves nodes and matrices alone.
 *
 * For each kind of thing that does not arrive the program prints one sentence with a count. Such losses are no failure;
 * the import fails only where no scene can be written, and then no file is touched.
 */
#include "output.h"

#include <backplane.h>

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "usage: backplane import FILE [-o SCENE.json] [--meshes FOLDER]";

/* --- arguments --------------------------------------------------------------------------------------------------- */

static bool take_option(int *i, int count, char **texts, const char **out)
{
    const char *name = texts[*i];
    if (*out != NULL)
        return complain("%s is given twice", name);
    if (*i + 1 >= count || texts[*i + 1][0] == '\0')
        return complain("%s needs a name behind it", name);
    *out = texts[++*i];
    return true;
}

static bool read_arguments(int count, char **texts, import_t *import)
{
    bool options_over = false;
    for (int i = 1; i < count; i++) {
        bool option = !options_over && texts[i][0] == '-' && texts[i][1] != '\0';
        bool fine = true;
        if (option && strcmp(texts[i], "--") == 0)
            options_over = true;
        else if (option && (strcmp(texts[i], "-o") == 0 || strcmp(texts[i], "--output") == 0))
            fine = take_option(&i, count, texts, &import->scene_path);
        else if (option && strcmp(texts[i], "--meshes") == 0)
            fine = take_option(&i, count, texts, &import->folder);
        else if (option)
            fine = complain("import knows no option '%s' (there are -o and --meshes)", texts[i]);
        else if (import->file != NULL)
            fine = complain("import takes one file; here are '%s' and '%s'", import->file, texts[i]);
        else
            import->file = texts[i];
        if (!fine)
            return false;
    }
    return (import->file != NULL && import->file[0] != '\0') ||
           complain("import needs a file: glTF, OBJ, COLLADA or another that assimp reads");
}

static const char *last_part(const char *path)
{
    const char *name = path;
    for (const char *c = path; *c != '\0'; c++)
        if (*c == '/' || *c == '\\')
            name = c + 1;
    return name;
}

/* "duck.json" in the working folder for "models/duck.dae", and "meshes" beside the scene. */
static bool fill_in(import_t *import, char scene[PATH_MAX_BYTES], char folder[PATH_MAX_BYTES])
{
    char shown[NAME_MAX_BYTES + 1];
    const char *name = last_part(import->file);
    const char *dot = strrchr(name, '.');
    size_t stem = dot == NULL || dot == name ? strlen(name) : (size_t)(dot - name);
    if (stem > PATH_MAX_BYTES - 16)
        return complain("the name of the file is too long");
    if (import->scene_path == NULL) {
        snprintf(scene, PATH_MAX_BYTES, "%.*s.json", (int)stem, name);
        import->scene_path = scene;
    }
    if (import->folder == NULL) {
        size_t before = (size_t)(last_part(import->scene_path) - import->scene_path);
        if (before > PATH_MAX_BYTES - 16)
            return complain("the path %.60s... is too long", import->scene_path);
        snprintf(folder, PATH_MAX_BYTES, "%.*smeshes", (int)before, import->scene_path);
        import->folder = folder;
    }
    if (strcmp(import->file, import->scene_path) == 0)
        return complain("the scene would be written over the file it comes from; name another with -o");
    label_tidy(name, strlen(name), shown);
    snprintf(import->origin, sizeof import->origin, "imported from %s by backplane %s", shown, BACKPLANE_VERSION);
    return true;
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

static const struct aiScene *read_file(const char *path)
{
    const unsigned dropped = aiComponent_NORMALS | aiComponent_TANGENTS_AND_BITANGENTS | aiComponent_COLORS |
                             aiComponent_TEXCOORDS;
    struct aiPropertyStore *properties = aiCreatePropertyStore();
    if (properties == NULL)
        return NULL;
    aiSetImportPropertyInteger(properties, AI_CONFIG_PP_RVC_FLAGS, (int)dropped);
    const struct aiScene *scene = aiImportFileExWithProperties(
        path, aiProcess_Triangulate | aiProcess_RemoveComponent | aiProcess_JoinIdenticalVertices, NULL, properties);
    aiReleasePropertyStore(properties);
    return scene;
}

static void count_left(import_t *import)
{
    const struct aiScene *scene = import->scene;
    remarks_t *remarks = &import->remarks;
    remarks->animations = scene->mNumAnimations;
    remarks->cameras = scene->mNumCameras;
    remarks->lights = scene->mNumLights;
    for (uint32_t i = 0; i < scene->mNumMeshes; i++) {
        remarks->bones += scene->mMeshes[i]->mNumBones;
        remarks->morphs += scene->mMeshes[i]->mNumAnimMeshes;
    }
    for (uint32_t i = 0; i < scene->mNumMaterials; i++) {
        uint32_t textures = 0;
        for (int type = aiTextureType_DIFFUSE; type <= aiTextureType_TRANSMISSION; type++)
            textures += aiGetMaterialTextureCount(scene->mMaterials[i], (enum aiTextureType)type);
        remarks->textured += textures > 0;
    }
}

/* --- the remarks -------------------------------------------------------------------------------------------------- */

static void say(uint64_t count, const char *one, const char *many)
{
    if (count > 0)
        complain("%" PRIu64 " %s", count, count == 1 ? one : many);
}

static void say_left(const remarks_t *r)
{
    static const char *const names[][2] = {{"animation", "animations"},
                                           {"bone", "bones"},
                                           {"morph target", "morph targets"},
                                           {"camera", "cameras"},
                                           {"light", "lights"},
                                           {"material's textures", "materials' textures"}};
    const uint64_t counts[] = {r->animations, r->bones, r->morphs, r->cameras, r->lights, r->textured};
    char text[512] = "";
    size_t length = 0;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (counts[i] > 0)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%" PRIu64 " %s",
                                       length > 0 ? ", " : "", counts[i], names[i][counts[i] > 1]);
    if (length > 0)
        complain("left out, since no component holds them: %s", text);
}

static void say_all(const import_t *import)
{
    const remarks_t *r = &import->remarks;
    say(r->unnamed, "node has no name: it is called node, with a number where needed",
        "nodes have no name: they are called node, with numbers");
    say(r->renamed, "node shares its name with another, or has one that cannot be kept: it was changed",
        "nodes share their names with others, or have some that cannot be kept: they were changed");
    say(r->sheared, "node is sheared: it became two entities, one in the other, whose poses together are its matrix",
        "nodes are sheared: each became two entities, one in the other, whose poses together are its matrix");
    say(r->projective, "node has a matrix with a perspective, which was dropped: its world matrix differs",
        "nodes have a matrix with a perspective, which was dropped: their world matrices differ");
    say(r->no_triangles, "mesh has no triangle, only points, lines or nothing: it was left out",
        "meshes have no triangle, only points, lines or nothing: they were left out");
    say(r->points_lines, "point or line in a mesh of triangles was left out",
        "points and lines in meshes of triangles were left out");
    say(r->bad_faces, "face has a corner that is not there or not finite: it was left out",
        "faces have corners that are not there or not finite: they were left out");
    say_left(r);
    printf("%s: %" PRIu32 " %s", import->scene_path, import->entity_count,
           import->entity_count == 1 ? "entity" : "entities");
    if (import->mesh_files > 0)
        printf("; %s: %" PRIu32 " %s, %" PRIu64 " %s", import->folder, import->mesh_files,
               import->mesh_files == 1 ? "mesh" : "meshes", import->triangles,
               import->triangles == 1 ? "triangle" : "triangles");
    putchar('\n');
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static bool convert(import_t *import)
{
    if (!import_entities_collect(import) || !meshes_collect(import))
        return false;
    bool fine = meshes_write(import) && scene_write(import);
    /* The scene comes last: while the scene is not there, nothing looks for the new meshes. */
    fine = fine && meshes_keep(import) && output_keep(import->scene_path);
    if (!fine) {
        meshes_drop(import);
        output_drop(import->scene_path);
    }
    return fine;
}

int main(int count, char **texts)
{
    char scene[PATH_MAX_BYTES], folder[PATH_MAX_BYTES];
    import_t import = {.file = NULL};
    if (!read_arguments(count, texts, &import)) {
        complain("%s", usage);
        return STATUS_BAD_INPUT;
    }
    if (!fill_in(&import, scene, folder))
        return STATUS_BAD_INPUT;
    import.scene = read_file(import.file);
    if (import.scene == NULL || import.scene->mRootNode == NULL) {
        const char *why = aiGetErrorString();
        complain("%s: %s", import.file,
                 why != NULL && why[0] != '\0' ? why : "assimp cannot read it, and does not say why");
        aiReleaseImport(import.scene);
        return STATUS_BAD_INPUT;
    }
    count_left(&import);
    bool fine = convert(&import);
    if (fine)
        say_all(&import);
    import_entities_free(&import);
    meshes_free(&import);
    aiReleaseImport(import.scene);
    return fine && fflush(stdout) == 0 ? STATUS_FINE : STATUS_FAILED;
}
