/* obj.c - the OBJ reader: from lines (obj_text.h) to the mesh that they make.
 *
 * A corner's index may point forwards, so it cannot be checked on its own line: for each of the three kinds
 * the largest index and its line are kept, and compared at the end. Before that an index only has to be
 * within the limits.
 */
#include "obj_text.h"

#include <inttypes.h>
#include <string.h>

typedef enum kind_t { VERTEX, TEXTURE, NORMAL, KINDS } kind_t;
static const char *const kind_names[KINDS] = {"vertices", "texture coordinates", "normals"};

/* A block that grows. */
typedef struct block_t {
    void *bytes;
    size_t used, size;
} block_t;

typedef struct reader_t {
    const mesh_obj_memory_t *memory;
    const mesh_obj_limits_t *limits;
    mesh_text_t text;

    block_t positions;
    block_t indices;
    uint32_t count[KINDS];
    uint32_t triangles;
    int64_t reach[KINDS];    /* largest index that a face has used */
    uint64_t reach_line[KINDS];
} reader_t;

/* --- numbers ---------------------------------------------------------------------------------- */

/* The numbers of a line, of which the first `kept` are stored. */
static bool read_numbers(reader_t *r, view_t *line, float *numbers, int kept, int *count)
{
    view_t token;
    float number = 0;
    for (*count = 0; mesh_text_take_token(line, &token); ++*count) {
        if (!mesh_text_read_number(&r->text, token, &number))
            return false;
        if (*count < kept)
            numbers[*count] = number;
    }
    return true;
}

/* --- the mesh --------------------------------------------------------------------------------- */

static bool append(reader_t *r, block_t *block, const void *bytes, size_t size)
{
    if (size > block->size - block->used) {
        size_t larger = block->size == 0 ? 1024 : block->size * 2;
        void *grown = r->memory->resize(r->memory->context, block->bytes, block->size, larger);
        if (grown == NULL)
            return mesh_text_refuse(&r->text, BP_ERROR_MEMORY, r->text.line,
                                    "out of memory after %" PRIu32 " vertices and %" PRIu32 " triangles",
                                    r->count[VERTEX], r->triangles);
        block->bytes = grown;
        block->size = larger;
    }
    memcpy((char *)block->bytes + block->used, bytes, size);
    block->used += size;
    return true;
}

static bool count_one(reader_t *r, kind_t kind)
{
    if (r->count[kind] >= r->limits->vertices)
        return mesh_text_refuse(&r->text, BP_ERROR_LIMIT, r->text.line, "more %s than the limit of %" PRIu32,
                                kind_names[kind], r->limits->vertices);
    r->count[kind]++;
    return true;
}

/* v x y z, or with a weight, with a colour, or with both. */
static bool read_vertex(reader_t *r, view_t *line)
{
    float position[3];
    int count;
    if (!read_numbers(r, line, position, 3, &count))
        return false;
    if (count != 3 && count != 4 && count != 6 && count != 7)
        return mesh_text_refuse(&r->text, BP_ERROR_SYNTAX, r->text.line,
                      "a vertex of %d numbers; it takes 3, or 4, 6 or 7 with a weight or a colour", count);
    return count_one(r, VERTEX) && append(r, &r->positions, position, sizeof position);
}

static bool read_texture(reader_t *r, view_t *line)
{
    int count;
    if (!read_numbers(r, line, NULL, 0, &count))
        return false;
    if (count < 1 || count > 3)
        return mesh_text_refuse(&r->text, BP_ERROR_SYNTAX, r->text.line,
                                "a texture coordinate of %d numbers; it takes 1 to 3", count);
    return count_one(r, TEXTURE);
}

static bool read_normal(reader_t *r, view_t *line)
{
    int count;
    if (!read_numbers(r, line, NULL, 0, &count))
        return false;
    if (count != 3)
        return mesh_text_refuse(&r->text, BP_ERROR_SYNTAX, r->text.line, "a normal of %d numbers; it takes 3", count);
    return count_one(r, NORMAL);
}

static bool refuse_index(reader_t *r, kind_t kind, uint64_t line, const char *index, const char *hint)
{
    return mesh_text_refuse(&r->text, BP_ERROR_SYNTAX, line, "face index %s of %" PRIu32 " %s%s", index, r->count[kind],
                  kind_names[kind], hint);
}

/* From a number in a file to an index from 0. A positive number is judged at the end, see judge_reach. */
static bool resolve_index(reader_t *r, kind_t kind, int64_t number, view_t digits, uint32_t *index)
{
    int64_t from_one = number < 0 ? (int64_t)r->count[kind] + number + 1 : number;
    if (number == 0 || from_one < 1 || from_one > r->limits->vertices) {
        char text[MESH_TEXT_SHOWN + 4];
        return refuse_index(r, kind, r->text.line, mesh_text_show(digits, text), number == 0 ? "; the first is 1" : "");
    }
    if (from_one > r->reach[kind]) {
        r->reach[kind] = from_one;
        r->reach_line[kind] = r->text.line;
    }
    *index = (uint32_t)(from_one - 1);
    return true;
}

/* One corner: up to three indices between slashes, of which only the first must be there. */
static bool read_corner(reader_t *r, view_t token, uint32_t *vertex)
{
    const char *p = token.begin;
    for (int kind = VERTEX; kind < KINDS; kind++) {
        const char *begin = p;
        bool minus = mesh_text_take_minus(&p, token.end);
        bool any = mesh_text_is_digit(p, token.end);
        int64_t number = mesh_text_take_digits(&p, token.end);
        uint32_t index = 0;
        if (!any && (kind == VERTEX || p != begin))
            break;
        if (any && !resolve_index(r, (kind_t)kind, minus ? -number : number, (view_t){begin, p}, &index))
            return false;
        if (kind == VERTEX)
            *vertex = index;
        if (p == token.end)
            return true;
        if (*p++ != '/')
            break;
    }
    return mesh_text_refuse_token(&r->text, token, "is no corner of a face; corners are like 7, 7/7, 7//7 or 7/7/7");
}

static bool read_face(reader_t *r, view_t *line)
{
    uint32_t triangle[3], corners = 0;
    view_t token;
    for (; mesh_text_take_token(line, &token); corners++) {
        uint32_t vertex = 0;
        if (!read_corner(r, token, &vertex))
            return false;
        triangle[corners < 2 ? corners : 2] = vertex;
        if (corners < 2)
            continue;
        if (r->triangles >= r->limits->triangles)
            return mesh_text_refuse(&r->text, BP_ERROR_LIMIT, r->text.line, "more triangles than the limit of %" PRIu32,
                          r->limits->triangles);
        if (!append(r, &r->indices, triangle, sizeof triangle))
            return false;
        r->triangles++;
        triangle[1] = vertex;
    }
    if (corners < 3)
        return mesh_text_refuse(&r->text, BP_ERROR_SYNTAX, r->text.line,
                                "a face of %" PRIu32 " corners; it takes 3 or more", corners);
    return true;
}

static bool read_line(reader_t *r, view_t line)
{
    view_t keyword;
    if (!mesh_text_take_token(&line, &keyword))
        return true;
    if (mesh_text_is(keyword, "v"))
        return read_vertex(r, &line);
    if (mesh_text_is(keyword, "vt"))
        return read_texture(r, &line);
    if (mesh_text_is(keyword, "vn"))
        return read_normal(r, &line);
    if (mesh_text_is(keyword, "f"))
        return read_face(r, &line);
    return true;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void pass_byte_order_mark(view_t *line)
{
    if (line->end - line->begin >= 3 && memcmp(line->begin, "\xEF\xBB\xBF", 3) == 0)
        line->begin += 3;
}

static bool judge_reach(reader_t *r)
{
    for (int kind = VERTEX; kind < KINDS; kind++) {
        if (r->reach[kind] > r->count[kind]) {
            char text[32];
            snprintf(text, sizeof text, "%" PRId64, r->reach[kind]);
            return refuse_index(r, (kind_t)kind, r->reach_line[kind], text, "");
        }
    }
    return true;
}

static bool read_lines(reader_t *r)
{
    view_t line;
    bool found;
    for (;;) {
        if (!mesh_text_next_line(&r->text, &line, &found))
            return false;
        if (!found)
            break;
        if (r->text.line == 1)
            pass_byte_order_mark(&line);
        if (!read_line(r, line))
            return false;
    }
    if (r->text.bytes == 0)
        return mesh_text_refuse(&r->text, BP_ERROR_SYNTAX, 0, "the file is empty");
    if (r->triangles == 0)
        return mesh_text_refuse(&r->text, BP_ERROR_SYNTAX, 0,
                                "no faces (lines that begin with f): there is nothing to show");
    return judge_reach(r);
}

/* Give back what a block does not use. Where that fails the block stays as large as it is. */
static void trim(reader_t *r, block_t *block)
{
    void *trimmed = r->memory->resize(r->memory->context, block->bytes, block->size, block->used);
    if (trimmed == NULL)
        return;
    block->bytes = trimmed;
    block->size = block->used;
}

static float least(float a, float b)
{
    return a < b ? a : b;
}

static float most(float a, float b)
{
    return a > b ? a : b;
}

static void measure_bounds(mesh_obj_t *mesh)
{
    const float *p = mesh->positions + (size_t)3 * mesh->indices[0];
    bp_vec3_t lowest = {p[0], p[1], p[2]}, highest = lowest;
    for (size_t i = 1; i < (size_t)3 * mesh->triangle_count; i++) {
        p = mesh->positions + (size_t)3 * mesh->indices[i];
        lowest = (bp_vec3_t){least(lowest.x, p[0]), least(lowest.y, p[1]), least(lowest.z, p[2])};
        highest = (bp_vec3_t){most(highest.x, p[0]), most(highest.y, p[1]), most(highest.z, p[2])};
    }
    mesh->bounds_min = lowest;
    mesh->bounds_max = highest;
}

static bp_result_t read_mesh(reader_t *r, mesh_obj_t *mesh)
{
    if (!read_lines(r)) {
        r->memory->resize(r->memory->context, r->positions.bytes, r->positions.size, 0);
        r->memory->resize(r->memory->context, r->indices.bytes, r->indices.size, 0);
        return r->text.code;
    }
    trim(r, &r->positions);
    trim(r, &r->indices);
    *mesh = (mesh_obj_t){
        .positions = r->positions.bytes,
        .indices = r->indices.bytes,
        .position_bytes = r->positions.size,
        .index_bytes = r->indices.size,
        .vertex_count = r->count[VERTEX],
        .triangle_count = r->triangles,
    };
    measure_bounds(mesh);
    return BP_OK;
}

static reader_t begin_reading(const mesh_obj_memory_t *memory, const mesh_obj_limits_t *limits,
                              const char *name, char *sentence)
{
    return (reader_t){.memory = memory,
                      .limits = limits,
                      .text = {.name = name, .sentence = sentence, .limit = limits->bytes, .next_line = 1}};
}

bp_result_t mesh_obj_read_file(const mesh_obj_memory_t *memory, const mesh_obj_limits_t *limits, FILE *file,
                               const char *name, mesh_obj_t *mesh, char *sentence)
{
    reader_t r = begin_reading(memory, limits, name, sentence);
    r.text.file = file;
    r.text.buffer = memory->resize(memory->context, NULL, 0, MESH_TEXT_WINDOW);
    if (r.text.buffer == NULL) {
        mesh_text_refuse(&r.text, BP_ERROR_MEMORY, 0, "out of memory");
        return r.text.code;
    }
    r.text.window = r.text.buffer;
    bp_result_t result = read_mesh(&r, mesh);
    memory->resize(memory->context, r.text.buffer, MESH_TEXT_WINDOW, 0);
    return result;
}

bp_result_t mesh_obj_read_memory(const mesh_obj_memory_t *memory, const mesh_obj_limits_t *limits,
                                 const void *bytes, size_t size, const char *name, mesh_obj_t *mesh,
                                 char *sentence)
{
    reader_t r = begin_reading(memory, limits, name, sentence);
    r.text.window = size == 0 ? "" : bytes;
    r.text.end = size;
    r.text.bytes = size;
    if (size > limits->bytes) {
        mesh_text_refuse_bytes(&r.text);
        return r.text.code;
    }
    return read_mesh(&r, mesh);
}

void mesh_obj_free(const mesh_obj_memory_t *memory, mesh_obj_t *mesh)
{
    memory->resize(memory->context, mesh->positions, mesh->position_bytes, 0);
    memory->resize(memory->context, mesh->indices, mesh->index_bytes, 0);
    mesh->positions = NULL;
    mesh->indices = NULL;
}
