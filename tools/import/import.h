/* import.h - what the parts of backplane-import share: the file as entities and meshes, and the remarks about it.
 *
 *     main.c     arguments; from the file to the scene, all or nothing
 *     entities.c nodes become entities
 *     labels.c   names that are unique, and names of files
 *     pose.c     matrices become position, rotation, scale
 *     meshes.c   OBJ files
 *     scene.c    JSON
 *     output.c   files that are put in place when all are whole
 *     messages.c complaints
 *
 * Not here: materials beyond a colour, textures, normals, bones, animations, lights and cameras. They stay behind;
 * the remarks count them.
 */
#ifndef IMPORT_H
#define IMPORT_H

#include "pose.h"

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PRINTS_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTS_LIKE(text, first)
#endif

enum {
    STATUS_FINE = 0,
    STATUS_FAILED = 1,   /* a file could not be written, or memory ran out */
    STATUS_BAD_INPUT = 2 /* the arguments, or a file that assimp refuses */
};

enum {
    NAME_MAX_BYTES = 255,  /* of an entity, as debug_name has it */
    PATH_MAX_BYTES = 1024,
    MESHES_OF_ENTITY = 200, /* the engine's limit is 255 components */
    LEVELS_WITHIN = 400     /* entities within each other; a scene's JSON may have some 500 */
};

/* An entity of the scene. */
typedef struct entity_t {
    char *name;
    uint32_t depth;        /* 0: at the root */
    uint32_t parent;       /* number of the entity around it; of no meaning at the root */
    uint32_t meshes;       /* number of meshes that the entity shows */
    const uint32_t *first_mesh; /* indices of these meshes */
    pose_t pose;
    const char *note;      /* why there is such an entity, where it is no node of the file; NULL */
} entity_t;

/* A mesh of the file. */
typedef struct mesh_t {
    char *file;      /* name of its OBJ file in the folder; NULL: nothing refers to it, or it has no triangle */
    float colour[4];
    bool coloured;   /* colour is not white */
    bool used;
} mesh_t;

/* Counts of the parts of a file that did not arrive as they stood there. */
typedef struct remarks_t {
    uint64_t unnamed;      /* nodes without a name */
    uint64_t renamed;      /* nodes whose name another node has too, or whose name is too long */
    uint64_t sheared;      /* nodes that became two entities */
    uint64_t projective;   /* nodes whose matrix has a last row other than 0 0 0 1 */
    uint64_t no_triangles; /* meshes of points and lines, or of nothing */
    uint64_t points_lines; /* faces of fewer than three corners in other meshes */
    uint64_t bad_faces;    /* corners that are not there, or not finite */
    uint64_t animations, bones, morphs, cameras, lights;
    uint64_t textured;     /* materials with textures */
} remarks_t;

struct aiScene;

typedef struct import_t {
    const char *file;
    const char *scene_path;  /* of the JSON to write */
    const char *folder;      /* of the meshes to write */
    char origin[NAME_MAX_BYTES + 64]; /* where the scene comes from, for people */
    const struct aiScene *scene;
    entity_t *entities;      /* in the order in which they are written: an entity, then what is inside it */
    uint32_t entity_count, entity_room;
    mesh_t *meshes;          /* as in aiScene */
    uint32_t mesh_files;
    uint64_t triangles;
    remarks_t remarks;
} import_t;

/* Print "backplane: ..." to stderr. Returns false, for `return complain(...)`. */
bool complain(const char *format, ...) PRINTS_LIKE(1, 2);

/* Say that memory ran out. Returns false. */
bool complain_memory(void);

/* --- entities.c: false after a complaint ---------------------------------------------------------------------- */

bool import_entities_collect(import_t *import);
void import_entities_free(import_t *import);

/* --- labels.c --------------------------------------------------------------------------------------------------- */

/* Names given out. Begin with {0}. */
typedef struct labels_t {
    struct label_entry_t *entries;
    size_t count, room;
} labels_t;

/* Tell a name before any is given out, so that made-up ones keep clear of it. false: out of memory. */
bool labels_announce(labels_t *names, const char *name);

/* A name to keep (free it): `wanted`, or with _2, _3 ... behind it where that was given out before. NULL: out of
 * memory. */
char *labels_take(labels_t *names, const char *wanted);
void labels_free(labels_t *names);

/* Copy `bytes` of text to `name`, of NAME_MAX_BYTES + 1, as UTF-8 without control characters and cut to that length.
 * false where it had to be changed. */
bool label_tidy(const char *text, size_t bytes, char *name);

/* Copy a text to `out` with only letters, digits, _ and - of ASCII in it, cut to size - 1. */
void label_for_file(const char *text, char *out, size_t size);

/* --- meshes.c --------------------------------------------------------------------------------------------------- */

/* Decide which meshes get a file, and their names and colours. */
bool meshes_collect(import_t *import);

/* Write the mesh files aside, as output.h says: the files take their places when meshes_keep is called. */
bool meshes_write(import_t *import);
bool meshes_keep(const import_t *import);
void meshes_drop(const import_t *import);
void meshes_free(import_t *import);

/* --- scene.c ----------------------------------------------------------------------------------------------------- */

/* Write the JSON aside, likewise. */
bool scene_write(const import_t *import);

#endif
