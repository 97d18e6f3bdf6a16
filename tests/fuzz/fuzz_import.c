/* fuzz_import.c - libFuzzer target of what the importer makes of a model that assimp has read.
 *
 * The bytes are not a file, since the reader of files is assimp's and not ours. They are instructions for building the
 * model in memory as assimp hands it over: a tree of nodes with names of any bytes and matrices of any numbers, meshes
 * whose faces may name corners that are not there, materials. The importer must refuse such a model exactly where a
 * matrix is not finite or a node shows a mesh that is not there. Otherwise the scene that it writes must compile, with
 * an entity for each entity of its list, and each OBJ file must be read by the component mesh as the triangles that
 * were good. Files are looked at where they are written aside; putting them in place is another test's subject.
 *
 * seeds: tests/fuzz/corpus/fuzz_import
 * canary: tools/import/entities.c s/count == 0)/count < 0)/
 * canary: tools/import/labels.c s/(code >= 0xd800/(code >= 0xe800/
 * canary: tools/import/meshes.c s/if (vertex >= mesh->mNumVertices)/if (vertex > mesh->mNumVertices)/
 * canary: tools/import/scene.c s/entity->depth > 0 && shown_depth(entity) == 0/entity->depth > LEVELS_WITHIN/
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include <backplane.h>

#include "../../plugins/mesh/obj.h"
#include "../../tools/import/import.h"
#include "account.h"

#include <assimp/material.h>
#include <assimp/scene.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NODES_MAX = 1500, MESHES_MAX = 6, CORNERS_MAX = 12, FACES_MAX = 12, SHOWN_MAX = 260 };

/* --- the model ---------------------------------------------------------------------------------------------------- */

typedef struct bytes_t {
    const uint8_t *at, *end;
} bytes_t;

typedef struct model_t {
    struct aiScene scene;
    struct aiNode *nodes;
    struct aiNode **children; /* lists of all nodes, one behind the other */
    unsigned *shown;          /* likewise */
    struct aiMesh meshes[MESHES_MAX];
    struct aiMesh *mesh_list[MESHES_MAX];
    struct aiMaterial material;
    struct aiMaterial *material_list[1];
    struct aiMaterialProperty property;
    struct aiMaterialProperty *property_list[1];
    float colour[4];
    bool refused; /* the importer has to refuse it */
} model_t;

static void *room_for(size_t count, size_t size)
{
    void *bytes = calloc(count > 0 ? count : 1, size);
    expect(bytes != NULL);
    return bytes;
}

static uint8_t take(bytes_t *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

/* Numbers that matter, and those of any four bytes. */
static float take_float(bytes_t *in)
{
    static const float some[] = {0, 1, -1, 0.5f, 2, 1e-30f, 3e38f, 100, INFINITY, NAN};
    uint8_t which = take(in);
    if (which < 200)
        return some[which % 8];
    if (which < 202)
        return some[8 + which % 2];
    uint8_t raw[4] = {take(in), take(in), take(in), take(in)};
    float value;
    memcpy(&value, raw, sizeof value);
    return value;
}

static void take_name(bytes_t *in, struct aiString *name)
{
    static const char *const some[] = {"", "node", "node_2", "a", "\"\\\n", "\xc3\xa9", "\xed\xa0\x80", "\xff"};
    uint8_t length = take(in);
    if (length >= 0xf8) {
        name->length = (unsigned)snprintf(name->data, sizeof name->data, "%s", some[length & 7]);
        return;
    }
    name->length = length % 64 == 63 ? 300 : length % 64;
    for (unsigned i = 0; i < name->length; i++)
        name->data[i] = (char)take(in);
    name->data[name->length] = '\0';
}

static bool all_finite(const struct aiMatrix4x4 *m)
{
    const float *values = &m->a1;
    for (int i = 0; i < 12; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static void take_node(bytes_t *in, model_t *model, uint32_t index, uint32_t *shown)
{
    struct aiNode *node = &model->nodes[index];
    uint8_t kind = take(in);
    take_name(in, &node->mName);
    node->mTransformation = (struct aiMatrix4x4){1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    if (kind & 1)
        for (int i = 0; i < 16; i++)
            (&node->mTransformation.a1)[i] = take_float(in);
    model->refused |= !all_finite(&node->mTransformation);
    /* Beside the node before, inside it, or anywhere above. */
    if (index > 0 && (kind & 6) == 0)
        node->mParent = &model->nodes[take(in) % index];
    else if (index > 0)
        node->mParent = (kind & 6) == 2 && index > 1 ? model->nodes[index - 1].mParent : &model->nodes[index - 1];
    if (node->mParent != NULL)
        node->mParent->mNumChildren++;
    node->mMeshes = model->shown + *shown;
    node->mNumMeshes = kind & 8 ? kind >> 6 : (kind & 0xf0) == 0xf0 ? SHOWN_MAX : 0;
    for (uint32_t i = 0; i < node->mNumMeshes; i++) {
        node->mMeshes[i] = take(in) % (MESHES_MAX + 1);
        model->refused |= node->mMeshes[i] >= model->scene.mNumMeshes;
    }
    *shown += node->mNumMeshes;
}

static void link_children(model_t *model, uint32_t count)
{
    struct aiNode **place = model->children;
    for (uint32_t i = 0; i < count; i++) {
        model->nodes[i].mChildren = place;
        place += model->nodes[i].mNumChildren;
        model->nodes[i].mNumChildren = 0;
    }
    for (uint32_t i = 1; i < count; i++)
        model->nodes[i].mParent->mChildren[model->nodes[i].mParent->mNumChildren++] = &model->nodes[i];
}

static void take_mesh(bytes_t *in, struct aiMesh *mesh)
{
    take_name(in, &mesh->mName);
    mesh->mNumVertices = take(in) % CORNERS_MAX;
    mesh->mVertices = room_for(mesh->mNumVertices, sizeof *mesh->mVertices);
    for (uint32_t i = 0; i < mesh->mNumVertices; i++)
        mesh->mVertices[i] = (struct aiVector3D){take_float(in), take_float(in), take_float(in)};
    mesh->mNumFaces = take(in) % FACES_MAX;
    mesh->mFaces = room_for(mesh->mNumFaces, sizeof *mesh->mFaces);
    for (uint32_t i = 0; i < mesh->mNumFaces; i++) {
        mesh->mFaces[i].mNumIndices = take(in) % 4;
        mesh->mFaces[i].mIndices = room_for(mesh->mFaces[i].mNumIndices, sizeof(unsigned));
        for (uint32_t j = 0; j < mesh->mFaces[i].mNumIndices; j++)
            mesh->mFaces[i].mIndices[j] = take(in) % (CORNERS_MAX + 1);
    }
    mesh->mMaterialIndex = take(in) % 2;
}

static void take_material(bytes_t *in, model_t *model)
{
    static const char *const keys[] = {"$clr.base", "$clr.diffuse", "$mat.opacity"};
    struct aiMaterialProperty *property = &model->property;
    uint8_t kind = take(in);
    if (kind < 8)
        return;
    property->mKey.length = (unsigned)snprintf(property->mKey.data, sizeof property->mKey.data, "%s", keys[kind % 3]);
    for (int i = 0; i < 4; i++)
        model->colour[i] = take_float(in);
    property->mType = aiPTI_Float;
    property->mDataLength = (unsigned)sizeof(float) * (1 + kind / 8 % 4);
    property->mData = (char *)model->colour;
    model->property_list[0] = property;
    model->material = (struct aiMaterial){.mProperties = model->property_list, .mNumProperties = 1, .mNumAllocated = 1};
    model->material_list[0] = &model->material;
    model->scene.mMaterials = model->material_list;
    model->scene.mNumMaterials = 1;
}

static model_t *build(bytes_t in)
{
    model_t *model = room_for(1, sizeof *model);
    uint32_t shown = 0, count = 1u + take(&in) * (take(&in) % 8u);
    count = count < NODES_MAX ? count : NODES_MAX;
    model->nodes = room_for(count, sizeof *model->nodes);
    model->children = room_for(count, sizeof(struct aiNode *));
    model->shown = room_for((size_t)count * SHOWN_MAX, sizeof *model->shown);
    model->scene.mNumMeshes = take(&in) % (MESHES_MAX + 1);
    model->scene.mMeshes = model->mesh_list;
    model->scene.mRootNode = model->nodes;
    for (uint32_t i = 0; i < model->scene.mNumMeshes; i++) {
        take_mesh(&in, &model->meshes[i]);
        model->mesh_list[i] = &model->meshes[i];
    }
    take_material(&in, model);
    for (uint32_t i = 0; i < count; i++)
        take_node(&in, model, i, &shown);
    link_children(model, count);
    return model;
}

static void demolish(model_t *model)
{
    for (uint32_t i = 0; i < model->scene.mNumMeshes; i++) {
        for (uint32_t j = 0; j < model->meshes[i].mNumFaces; j++)
            free(model->meshes[i].mFaces[j].mIndices);
        free(model->meshes[i].mFaces);
        free(model->meshes[i].mVertices);
    }
    free(model->shown);
    free(model->children);
    free(model->nodes);
    free(model);
}

/* The importer's sentences are nothing to look at here, thousand times a second. */
bool complain(const char *format, ...)
{
    (void)format;
    return false;
}

bool complain_memory(void)
{
    return false;
}

/* --- what was written --------------------------------------------------------------------------------------------- */

static const bp_field_t transform_fields[] = {
    {.name = "position", .type = BP_VEC3},
    {.name = "rotation", .type = BP_QUAT},
    {.name = "scale", .type = BP_VEC3, .initial = "1 1 1"},
    {.name = "parent", .type = BP_ENTITY, .flags = BP_FIELD_PARENT},
};
static const bp_field_t name_fields[] = {{.name = "name", .type = BP_STRING, .flags = BP_FIELD_LABEL}};
static const bp_field_t mesh_fields[] = {
    {.name = "resource", .type = BP_STRING},
    {.name = "colour", .type = BP_COLOUR},
};
static const bp_component_i components[] = {
    {.name = "transform", .flags = BP_COMPONENT_SINGLE, .fields = BP_LIST(transform_fields)},
    {.name = "debug_name", .fields = BP_LIST(name_fields)},
    {.name = "mesh", .fields = BP_LIST(mesh_fields)},
};
static const bp_plugin_head_t plugin =
    BP_PLUGIN_HEAD("plugin", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(components)}));
static const bp_plugin_head_t *const plugins[] = {&plugin};

static void silent(void *context, int32_t level, const char *source, const char *text)
{
    (void)context, (void)level, (void)source, (void)text;
}

static bp_host_o *open_host(void)
{
    bp_host_desc_t desc = {.struct_size = sizeof desc,
                           .tag = 1,
                           .log = &(bp_log_i){.write = silent},
                           .static_plugins = plugins,
                           .static_plugin_count = 1};
    bp_host_o *host = bp_host_create(&desc);
    expect(host != NULL && bp_host_load_plugin(host, "plugin", NULL, 0) == BP_OK);
    return host;
}

static char *read_aside(const char *path, size_t *size)
{
    char partial[PATH_MAX_BYTES + 16];
    snprintf(partial, sizeof partial, "%s.partial", path);
    FILE *file = fopen(partial, "rb");
    expect(file != NULL && fseek(file, 0, SEEK_END) == 0);
    long length = ftell(file);
    expect(length > 0 && fseek(file, 0, SEEK_SET) == 0);
    char *text = room_for((size_t)length, 1);
    *size = fread(text, 1, (size_t)length, file);
    expect(*size == (size_t)length);
    fclose(file);
    return text;
}

static void check_scene(const import_t *import)
{
    static bp_host_o *host;
    static uint32_t inputs;
    size_t size;
    bp_scene_o *scene = NULL;
    char *text = read_aside(import->scene_path, &size);
    if (host == NULL)
        host = open_host();
    bp_result_t result = bp_scene_compile_text(host, "scene", text, size, &scene);
    if (result != BP_OK)
        fprintf(stderr, "%s\n%.3000s\n", bp_host_error(host), text);
    expect(result == BP_OK && bp_scene_entity_count(scene) == import->entity_count);
    bp_scene_close(scene);
    free(text);
    if (++inputs % 256 == 0) { /* the host keeps the names that it has seen */
        bp_host_destroy(host);
        host = NULL;
    }
}

/* The triangles of one mesh as its file has them. */
static uint64_t check_mesh(const import_t *import, const mesh_t *mesh)
{
    static const mesh_obj_limits_t limits = {1 << 20, 5000, 5000};
    account_t account = {.allowed = -1};
    const mesh_obj_memory_t memory = {&account, account_resize};
    char path[PATH_MAX_BYTES], sentence[MESH_OBJ_SENTENCE_MAX];
    mesh_obj_t read;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", import->folder, mesh->file);
    char *text = read_aside(path, &size);
    bp_result_t result = mesh_obj_read_memory(&memory, &limits, text, size, "mesh", &read, sentence);
    if (result != BP_OK)
        fprintf(stderr, "%s\n%.3000s\n", sentence, text);
    expect(result == BP_OK);
    uint64_t triangles = read.triangle_count;
    mesh_obj_free(&memory, &read);
    free(text);
    return triangles;
}

static void check_written(import_t *import)
{
    uint64_t triangles = 0;
    expect(meshes_write(import) && scene_write(import));
    check_scene(import);
    for (uint32_t i = 0; i < import->scene->mNumMeshes; i++)
        if (import->meshes[i].file != NULL)
            triangles += check_mesh(import, &import->meshes[i]);
    expect(triangles == import->triangles);
}

/* A folder of this process, removed at its end; files aside are overwritten by those of the next input. */
static char folder[512];

static void remove_folder(void)
{
    rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[PATH_MAX_BYTES];
    if (folder[0] == '\0') {
        const char *where = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/fuzz_import_XXXXXX", where == NULL ? "/tmp" : where);
        expect(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
    }
    snprintf(path, sizeof path, "%s/scene.json", folder);
    model_t *model = build((bytes_t){data, data + size});
    import_t import = {
        .file = "model", .scene_path = path, .folder = folder, .origin = "imported", .scene = &model->scene};
    bool fine = import_entities_collect(&import) && meshes_collect(&import);
    expect(fine == !model->refused);
    if (fine)
        check_written(&import);
    if (fine) {
        meshes_drop(&import);
        snprintf(path, sizeof path, "%s/scene.json.partial", folder);
        remove(path);
    }
    import_entities_free(&import);
    meshes_free(&import);
    demolish(model);
    return 0;
}
