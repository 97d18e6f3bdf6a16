/* entities.c - the nodes of a file as a list of entities, in the order of the JSON.
 *
 * The tree is walked with a stack of its own, since a file decides how deep its tree is. Most nodes become one entity.
 * A node whose matrix is sheared becomes two entities, one inside the other (pose.h), and the inner entity stands for
 * the node: it bears the name, the meshes and the children. Meshes beyond what one entity may have go to further
 * entities inside it. Each such helper says in the JSON why it is there.
 */
#include "import.h"

#include <assimp/scene.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char shear_note[] = "the entity in here is sheared: its matrix is this pose times its own";
static const char meshes_note[] = "more meshes of the entity around this one";

typedef struct visit_t {
    const struct aiNode *node;
    uint32_t depth;
    uint32_t parent; /* entity */
} visit_t;

typedef struct walk_t {
    import_t *import;
    labels_t names;
    visit_t *visits; /* nodes still to be visited, the next node last */
    size_t count, room;
} walk_t;

static bool push(walk_t *walk, const struct aiNode *node, uint32_t depth, uint32_t parent)
{
    if (walk->count == walk->room) {
        size_t room = walk->room == 0 ? 256 : 2 * walk->room;
        visit_t *visits = realloc(walk->visits, room * sizeof *visits);
        if (visits == NULL)
            return complain_memory();
        walk->visits = visits;
        walk->room = room;
    }
    walk->visits[walk->count++] = (visit_t){node, depth, parent};
    return true;
}

/* Push the children of a node so that the first child is visited first. */
static bool push_children(walk_t *walk, const struct aiNode *node, uint32_t depth, uint32_t parent)
{
    for (uint32_t i = node->mNumChildren; i-- > 0;)
        if (!push(walk, node->mChildren[i], depth, parent))
            return false;
    return true;
}

static const char *wanted_name(const struct aiNode *node, char *name, bool *same)
{
    *same = label_tidy(node->mName.data, node->mName.length, name);
    return name[0] == '\0' ? "node" : name;
}

static bool announce_names(walk_t *walk, const struct aiNode *root)
{
    char name[NAME_MAX_BYTES + 1];
    bool same;
    if (!push(walk, root, 0, 0))
        return false;
    while (walk->count > 0) {
        const struct aiNode *node = walk->visits[--walk->count].node;
        if (!labels_announce(&walk->names, wanted_name(node, name, &same)))
            return complain_memory();
        if (!push_children(walk, node, 0, 0))
            return false;
    }
    return true;
}

/* --- adding -------------------------------------------------------------------------------------------------- */

/* An entity at the end of the list, named `wanted` or nearly so. NULL after a complaint. */
static entity_t *add(walk_t *walk, const char *wanted, uint32_t depth, uint32_t parent)
{
    import_t *import = walk->import;
    if (import->entity_count == import->entity_room) {
        uint32_t room = import->entity_room == 0 ? 256 : 2 * import->entity_room;
        entity_t *entities = realloc(import->entities, room * sizeof *entities);
        if (entities == NULL) {
            complain_memory();
            return NULL;
        }
        import->entities = entities;
        import->entity_room = room;
    }
    char *name = labels_take(&walk->names, wanted);
    if (name == NULL) {
        complain_memory();
        return NULL;
    }
    entity_t *entity = &import->entities[import->entity_count++];
    *entity = (entity_t){
        .name = name,
        .depth = depth,
        .parent = parent,
        .pose = {.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}},
    };
    return entity;
}

static entity_t *add_helper(walk_t *walk, const char *of, const char *kind, uint32_t depth, uint32_t parent,
                            const char *note)
{
    char wanted[2 * NAME_MAX_BYTES], name[NAME_MAX_BYTES + 1];
    int length = snprintf(wanted, sizeof wanted, "%.*s_%s", NAME_MAX_BYTES - 20, of, kind);
    label_tidy(wanted, (size_t)length, name);
    entity_t *entity = add(walk, name, depth, parent);
    if (entity != NULL)
        entity->note = note;
    return entity;
}

/* Meshes that the node's own entity has no room for. */
static bool add_meshes(walk_t *walk, const struct aiNode *node, const char *name, uint32_t depth, uint32_t parent)
{
    for (uint32_t first = MESHES_OF_ENTITY; first < node->mNumMeshes; first += MESHES_OF_ENTITY) {
        uint32_t left = node->mNumMeshes - first;
        entity_t *entity = add_helper(walk, name, "meshes", depth, parent, meshes_note);
        if (entity == NULL)
            return false;
        entity->first_mesh = node->mMeshes + first;
        entity->meshes = left < MESHES_OF_ENTITY ? left : MESHES_OF_ENTITY;
    }
    return true;
}

static void count_names(import_t *import, const struct aiNode *node, const char *name, bool same)
{
    if (node->mName.length == 0)
        import->remarks.unnamed++;
    else if (!same || strcmp(name, node->mName.data) != 0)
        import->remarks.renamed++;
}

static bool add_node(walk_t *walk, visit_t visit)
{
    const struct aiNode *node = visit.node;
    char name[NAME_MAX_BYTES + 1];
    float matrix[16];
    pose_t poses[2];
    bool same;
    const struct aiMatrix4x4 *m = &node->mTransformation;
    memcpy(matrix, (const float[16]){m->a1, m->a2, m->a3, m->a4, m->b1, m->b2, m->b3, m->b4,
                                     m->c1, m->c2, m->c3, m->c4, m->d1, m->d2, m->d3, m->d4}, sizeof matrix);
    const char *wanted = wanted_name(node, name, &same);
    int count = pose_split(matrix, poses);
    uint32_t depth = visit.depth, parent = visit.parent;
    if (count == 0)
        return complain("%s: the matrix of node '%s' holds a number that is not finite", walk->import->file, wanted);
    walk->import->remarks.projective += !pose_is_affine(matrix);
    if (count == 2) {
        entity_t *outer = add_helper(walk, wanted, "shear", depth++, parent, shear_note);
        if (outer == NULL)
            return false;
        parent = walk->import->entity_count - 1;
        outer->pose = poses[0];
        walk->import->remarks.sheared++;
    }
    entity_t *entity = add(walk, wanted, depth, parent);
    if (entity == NULL)
        return false;
    entity->pose = poses[count - 1];
    entity->first_mesh = node->mMeshes;
    entity->meshes = node->mNumMeshes < MESHES_OF_ENTITY ? node->mNumMeshes : MESHES_OF_ENTITY;
    count_names(walk->import, node, entity->name, same);
    parent = walk->import->entity_count - 1;
    return add_meshes(walk, node, wanted, depth + 1, parent) && push_children(walk, node, depth + 1, parent);
}

bool import_entities_collect(import_t *import)
{
    walk_t walk = {.import = import};
    bool fine = announce_names(&walk, import->scene->mRootNode) && push(&walk, import->scene->mRootNode, 0, 0);
    while (fine && walk.count > 0)
        fine = add_node(&walk, walk.visits[--walk.count]);
    labels_free(&walk.names);
    free(walk.visits);
    return fine;
}

void import_entities_free(import_t *import)
{
    for (uint32_t i = 0; i < import->entity_count; i++)
        free(import->entities[i].name);
    free(import->entities);
    import->entities = NULL;
    import->entity_count = import->entity_room = 0;
}
