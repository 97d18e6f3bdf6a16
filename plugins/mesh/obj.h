/* obj.h - a reader of Wavefront OBJ files that checks everything.
 *
 * Read: v (x y z, and a weight or a colour behind them), vt, vn, f. A face has three corners or more and is
 * cut into a fan of triangles; a corner is v, v/vt, v//vn or v/vt/vn, each index counted from 1, or from the
 * latest one back when negative. A face may come before its vertices. A backslash at a line's end continues
 * the line. All other keywords (o, g, s, usemtl, mtllib, l, p, curves) are passed over. Numbers are read the same
 * in every locale.
 *
 * Refused, with "name:line: what is wrong": indices of what is not there, numbers that are none, infinite or
 * too large for a float, faces of two corners, files without faces, overlong lines, zero bytes, and files that exceed a
 * limit. Nothing is kept of a file that is refused.
 *
 * Not here: texture coordinates and normals, which are checked and counted but not kept; materials.
 */
#ifndef MESH_OBJ_H
#define MESH_OBJ_H

#include <bp_types.h>

#include <stdio.h>

/* Bytes of a line, without its end; continued lines count together. */
enum { MESH_OBJ_LINE_MAX = 256 * 1024, MESH_OBJ_SENTENCE_MAX = 512 };

/* The most that a file may have. */
typedef struct mesh_obj_limits_t {
    uint64_t bytes;
    uint32_t vertices;  /* and as many texture coordinates, and normals */
    uint32_t triangles;
} mesh_obj_limits_t;

/* Where memory comes from: as bp_memory_api.resize, with a context of the caller's. */
typedef struct mesh_obj_memory_t {
    void *context;
    void *(*resize)(void *context, void *old, size_t old_size, size_t new_size);
} mesh_obj_memory_t;

typedef struct mesh_obj_t {
    float *positions;   /* x, y, z of each vertex */
    uint32_t *indices;  /* three for each triangle */
    size_t position_bytes, index_bytes; /* of the two blocks */
    uint32_t vertex_count, triangle_count;
    bp_vec3_t bounds_min, bounds_max;   /* of the vertices that triangles use */
} mesh_obj_t;

/* Read a mesh from a file or from memory; `name` is for messages. On failure `mesh` is untouched and
 * `sentence`, of MESH_OBJ_SENTENCE_MAX bytes, says why. Errors: syntax, limit, memory, IO. The file is not
 * closed. [any] */
bp_result_t mesh_obj_read_file(const mesh_obj_memory_t *memory, const mesh_obj_limits_t *limits, FILE *file,
                               const char *name, mesh_obj_t *mesh, char *sentence);
bp_result_t mesh_obj_read_memory(const mesh_obj_memory_t *memory, const mesh_obj_limits_t *limits,
                                 const void *bytes, size_t size, const char *name, mesh_obj_t *mesh,
                                 char *sentence);

/* Free a mesh that was read. */
void mesh_obj_free(const mesh_obj_memory_t *memory, mesh_obj_t *mesh);

#endif
