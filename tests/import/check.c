/* check.c - is an imported scene what the model is? Run by tests/scripts/import.sh; not part of the test program, for
 * it needs assimp.
 *
 *     import-check MODEL SCENE.json MESHES PLUGINS
 *
 * The model is read by assimp once more, without the importer's code and options; the scene is compiled and spawned in
 * a world with the plugins transform, debug_name and mesh. Then every node must be there: as an entity with its name,
 * below the entity of its parent, with transform.world within 1e-5 of the product of assimp's own matrices (of the
 * largest element, where that is above 1), and with as many triangles as the node's meshes have.
 *
 * Nodes and entities are matched by their order in file and JSON, where an entity that tells its parent by name counts
 * as inside it. An entity with a remark ("//") is the importer's helper and no node.
 */
#include <backplane.h>

#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <jansson.h>

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <components/debug_name.h>

typedef struct node_t {
    const struct aiNode *node;
    struct aiMatrix4x4 world;
    uint32_t parent; /* node, or BP_NONE */
} node_t;

typedef struct named_t {
    const char *name;
    const char *above; /* name of the entity around it; NULL: none */
} named_t;

typedef struct check_t {
    bp_host_o *host;
    const bp_api_t *api;
    bp_world_o *world;
    const struct aiScene *model;
    node_t *nodes;
    named_t *names;
    uint32_t node_count, name_count;
    const json_t *top; /* the scene's entities */
    bool deep;         /* some of them tell a parent by name */
    double worst;
    uint64_t triangles;
} check_t;

static void fail(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    putchar('\n');
    exit(1);
}

/* --- the model ----------------------------------------------------------------------------------------- */

static uint32_t count_nodes(const struct aiNode *node)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < node->mNumChildren; i++)
        count += count_nodes(node->mChildren[i]);
    return count;
}

static void list_nodes(check_t *check, const struct aiNode *node, uint32_t parent)
{
    uint32_t number = check->node_count++;
    node_t *item = &check->nodes[number];
    *item = (node_t){.node = node, .world = node->mTransformation, .parent = parent};
    if (parent != BP_NONE) {
        item->world = check->nodes[parent].world;
        aiMultiplyMatrix4(&item->world, &node->mTransformation);
    }
    for (uint32_t i = 0; i < node->mNumChildren; i++)
        list_nodes(check, node->mChildren[i], number);
}

static bool is_whole(const struct aiMesh *mesh, const struct aiFace *face)
{
    for (uint32_t i = 0; i < face->mNumIndices; i++) {
        if (face->mIndices[i] >= mesh->mNumVertices)
            return false;
        const struct aiVector3D *p = &mesh->mVertices[face->mIndices[i]];
        if (!isfinite(p->x) || !isfinite(p->y) || !isfinite(p->z))
            return false;
    }
    return face->mNumIndices >= 3;
}

static uint64_t triangles_of(const struct aiMesh *mesh)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < mesh->mNumFaces; i++)
        if (is_whole(mesh, &mesh->mFaces[i]))
            count += mesh->mFaces[i].mNumIndices - 2;
    return count;
}

/* --- the scene ------------------------------------------------------------------------------------------- */

static uint32_t count_entities(const json_t *list)
{
    uint32_t count = 0;
    size_t i;
    json_t *entity;
    json_array_foreach(list, i, entity)
        count += 1 + count_entities(json_object_get(entity, "children"));
    return count;
}

static const char *told_parent(const json_t *entity)
{
    const json_t *components = json_object_get(entity, "components");
    return json_string_value(json_object_get(json_object_get(components, "transform"), "parent"));
}

static void list_entity(check_t *check, const json_t *entity, const char *above)
{
    const char *name = json_string_value(json_object_get(entity, "name"));
    size_t i;
    json_t *other;
    if (name == NULL)
        fail("an entity has no name");
    if (json_object_get(entity, "//") == NULL)
        check->names[check->name_count++] = (named_t){name, above};
    json_array_foreach(json_object_get(entity, "children"), i, other)
        list_entity(check, other, name);
    for (i = 0; check->deep && i < json_array_size(check->top); i++) {
        const char *parent = told_parent(other = json_array_get(check->top, i));
        if (parent != NULL && strcmp(parent, name) == 0)
            list_entity(check, other, name);
    }
}

/* As the nodes are listed: an entity, then what is inside it, or says that it is its parent. */
static void list_entities(check_t *check)
{
    size_t i;
    json_t *entity;
    json_array_foreach(check->top, i, entity)
        check->deep |= told_parent(entity) != NULL;
    json_array_foreach(check->top, i, entity)
        if (told_parent(entity) == NULL)
            list_entity(check, entity, NULL);
}

/* --- one against the other ------------------------------------------------------------------------------- */

static const char *error(const check_t *check)
{
    return bp_host_error(check->host);
}

static bp_entity_t find(const check_t *check, const char *name)
{
    const bp_debug_name_api *names = check->api->registry->find(check->host, BP_DEBUG_NAME_API, 1);
    bp_manager_t *m =
        check->api->world->manager(check->world, check->api->world->component(check->world, "debug_name"));
    bp_entity_t found[2];
    uint32_t count = names->find(m, name, found, 2);
    if (count != 1)
        fail("%u entities are called '%s'", (unsigned)count, name);
    return found[0];
}

/* The node's name, or that with _2 or the like behind it. */
static bool is_name_of(const char *name, const struct aiNode *node)
{
    const char *wanted = node->mName.length == 0 ? "node" : node->mName.data;
    size_t same = 0;
    while (name[same] != '\0' && name[same] == wanted[same])
        same++;
    if (name[same] == '\0' && wanted[same] == '\0')
        return true;
    bool changed = wanted[same] != '\0'; /* cut, or a character that cannot be kept */
    return changed ? strlen(name) == 255 || name[same] == '?'
                   : name[same] == '_' && strspn(name + same + 1, "0123456789") == strlen(name + same + 1);
}

static void check_matrix(check_t *check, const node_t *node, const named_t *named, bp_entity_t entity)
{
    bp_mat4_t matrix;
    const struct aiMatrix4x4 *w = &node->world;
    const float wanted[12] = {w->a1, w->b1, w->c1, w->a2, w->b2, w->c2, w->a3, w->b3, w->c3, w->a4, w->b4, w->c4};
    double largest = 1;
    if (check->api->property->get_named(check->world, entity, "transform", "world", BP_MAT4, &matrix) != BP_OK)
        fail("'%s': %s", named->name, error(check));
    for (int i = 0; i < 12; i++)
        largest = fmax(largest, fabs((double)wanted[i]));
    for (int i = 0; i < 12; i++) {
        double have = (double)matrix.m[4 * (i / 3) + i % 3];
        double difference = fabs(have - (double)wanted[i]) / largest;
        if (!(difference <= 1e-5))
            fail("'%s': element %d of its world matrix is %.9g and should be %.9g", named->name, i, have,
                 (double)wanted[i]);
        check->worst = fmax(check->worst, difference);
    }
}

static void check_parent(check_t *check, const named_t *named, bp_entity_t entity)
{
    bp_entity_t parent;
    if (check->api->property->get_named(check->world, entity, "transform", "parent", BP_ENTITY, &parent) != BP_OK)
        fail("'%s': %s", named->name, error(check));
    bp_entity_t wanted = named->above == NULL ? (bp_entity_t){0} : find(check, named->above);
    if (parent.id != wanted.id)
        fail("'%s' is not below '%s'", named->name, named->above == NULL ? "" : named->above);
}

static uint64_t triangles_below(check_t *check, bp_entity_t entity, uint32_t *meshes)
{
    char name[32] = "mesh";
    uint64_t triangles = 0;
    uint32_t count;
    while (check->api->property->get_named(check->world, entity, name, "triangle_count", BP_U32, &count) == BP_OK) {
        triangles += count;
        snprintf(name, sizeof name, "mesh_%u", (unsigned)++*meshes + 1);
    }
    return triangles;
}

static void check_meshes(check_t *check, const node_t *node, const named_t *named, bp_entity_t entity)
{
    uint64_t wanted = 0;
    uint32_t wanted_meshes = 0, meshes = 0;
    for (uint32_t i = 0; i < node->node->mNumMeshes; i++) {
        uint64_t triangles = triangles_of(check->model->mMeshes[node->node->mMeshes[i]]);
        wanted += triangles;
        wanted_meshes += triangles > 0;
    }
    uint64_t triangles = triangles_below(check, entity, &meshes);
    if (meshes != wanted_meshes || triangles != wanted)
        fail("'%s' has %u meshes with %llu triangles and should have %u with %llu", named->name, (unsigned)meshes,
             (unsigned long long)triangles, (unsigned)wanted_meshes, (unsigned long long)wanted);
    check->triangles += triangles;
}

static void check_all(check_t *check)
{
    if (check->name_count != check->node_count)
        fail("the scene has %u nodes and the model %u", (unsigned)check->name_count, (unsigned)check->node_count);
    for (uint32_t i = 0; i < check->node_count; i++) {
        const node_t *node = &check->nodes[i];
        const named_t *named = &check->names[i];
        if (!is_name_of(named->name, node->node))
            fail("node '%s' is called '%s'", node->node->mName.data, named->name);
        bp_entity_t entity = find(check, named->name);
        check_matrix(check, node, named, entity);
        check_parent(check, named, entity);
        check_meshes(check, node, named, entity);
    }
}

/* --- all --------------------------------------------------------------------------------------------------- */

static void load_plugin(check_t *check, const char *folder, const char *name, const char *meshes)
{
    char path[1024];
    bp_option_t option = {.name = "folder", .value = meshes};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (bp_host_load_plugin(check->host, path, &option, meshes != NULL) != BP_OK ||
        bp_world_use_component(check->world, name) != BP_OK)
        fail("%s", error(check));
}

static void open_world(check_t *check, const char *scene, const char *meshes, const char *plugins)
{
    check->host = bp_host_create(NULL);
    check->api = bp_host_api(check->host);
    check->world = bp_world_create(check->host, &(bp_world_desc_t){.name = "main", .step_rate = 60});
    load_plugin(check, plugins, "transform", NULL);
    load_plugin(check, plugins, "debug_name", NULL);
    load_plugin(check, plugins, "mesh", meshes);
    bp_scene_o *opened;
    if (bp_scene_open(check->host, scene, &opened) != BP_OK ||
        bp_scene_spawn(opened, check->world, 0, NULL, NULL) != BP_OK)
        fail("%s", error(check));
}

int main(int count, char **texts)
{
    check_t check = {.worst = 0};
    json_error_t why;
    if (count != 5)
        fail("usage: import-check MODEL SCENE.json MESHES PLUGINS");
    check.model = aiImportFile(texts[1], 0);
    if (check.model == NULL || check.model->mRootNode == NULL)
        fail("%s", aiGetErrorString());
    json_t *scene = json_load_file(texts[2], 0, &why);
    if (scene == NULL)
        fail("%s:%d: %s", texts[2], why.line, why.text);
    check.nodes = calloc(count_nodes(check.model->mRootNode), sizeof *check.nodes);
    check.names = calloc(count_entities(json_object_get(scene, "entities")) + 1, sizeof *check.names);
    if (check.nodes == NULL || check.names == NULL)
        fail("out of memory");
    list_nodes(&check, check.model->mRootNode, BP_NONE);
    check.top = json_object_get(scene, "entities");
    list_entities(&check);
    open_world(&check, texts[2], texts[3], texts[4]);
    check_all(&check);
    printf("%u nodes, %llu triangles shown, world matrices within %.1e\n", (unsigned)check.node_count,
           (unsigned long long)check.triangles, check.worst);
    bp_host_destroy(check.host);
    json_decref(scene);
    free(check.nodes);
    free(check.names);
    aiReleaseImport(check.model);
    return 0;
}
