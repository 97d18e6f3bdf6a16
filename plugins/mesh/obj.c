/* obj.c - the OBJ reader: lines, tokens, numbers, and the mesh that they make.
 *
 * Lines are views into a window of the input, never copied and not closed by a zero; a file is read through a
 * window of one line's limit, so memory is that of the mesh and not of the file. Everything that can go wrong
 * goes through `refuse`, which writes the sentence and returns false; each function hands that false up.
 *
 * A corner's index may point forwards, so it cannot be judged where it stands: for each of the three kinds
 * the largest index and its line are kept, and compared at the end. Before that an index only has to be
 * within the limits.
 *
 * Numbers are read by hand: strtof follows the locale of the program that loads us ("1,5" in half of Europe)
 * and wants a closing zero.
 */
#include "obj.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum { WINDOW = MESH_OBJ_LINE_MAX + 1, TOKEN_SHOWN = 40, NAME_SHOWN = 300 };

typedef enum kind_t { VERTEX, TEXTURE, NORMAL, KINDS } kind_t;
static const char *const kind_names[KINDS] = {"vertices", "texture coordinates", "normals"};

typedef struct view_t {
    const char *begin, *end;
} view_t;

/* A block that grows. */
typedef struct block_t {
    void *bytes;
    size_t used, size;
} block_t;

typedef struct reader_t {
    const mesh_obj_memory_t *memory;
    const mesh_obj_limits_t *limits;
    const char *name;
    char *sentence;
    bp_result_t code;

    FILE *file;              /* NULL: all is in the window */
    char *buffer;            /* the window of a file */
    const char *window;
    size_t begin, end;       /* of what is unread in the window */
    uint64_t bytes;          /* taken from the input so far */
    uint64_t line;           /* number of the present line, the first of those that are continued */
    uint64_t next_line;

    block_t positions;
    block_t indices;
    uint32_t count[KINDS];
    uint32_t triangles;
    int64_t reach[KINDS];    /* largest index that a face has used */
    uint64_t reach_line[KINDS];
} reader_t;

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static bool refuse(reader_t *r, bp_result_t code, uint64_t line, const char *format, ...)
{
    char place[32] = "";
    if (line > 0)
        snprintf(place, sizeof place, ":%" PRIu64, line);
    int length = snprintf(r->sentence, MESH_OBJ_SENTENCE_MAX, "%.*s%s: ", NAME_SHOWN, r->name, place);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->sentence + length, (size_t)(MESH_OBJ_SENTENCE_MAX - length), format, arguments);
    va_end(arguments);
    r->code = code;
    return false;
}

/* --- lines ------------------------------------------------------------------------------------ */

static bool refuse_bytes(reader_t *r)
{
    return refuse(r, BP_ERROR_LIMIT, 0, "the file is larger than the limit of %" PRIu64 " bytes",
                  r->limits->bytes);
}

/* Move what is unread to the window's beginning and read on behind it. *more says whether anything came. */
static bool fill_window(reader_t *r, bool *more)
{
    *more = false;
    if (r->file == NULL)
        return true;
    if (r->end - r->begin == WINDOW)
        return refuse(r, BP_ERROR_LIMIT, r->line, "the line is longer than %d bytes", MESH_OBJ_LINE_MAX);
    memmove(r->buffer, r->buffer + r->begin, r->end - r->begin);
    r->end -= r->begin;
    r->begin = 0;
    errno = 0;
    size_t got = fread(r->buffer + r->end, 1, WINDOW - r->end, r->file);
    if (got == 0 && ferror(r->file))
        return refuse(r, BP_ERROR_IO, 0, "cannot be read: %s", errno != 0 ? strerror(errno) : "input error");
    r->end += got;
    r->bytes += got;
    if (r->bytes > r->limits->bytes)
        return refuse_bytes(r);
    *more = got > 0;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

static bool is_comment(const char *begin, const char *end)
{
    while (begin < end && is_blank(*begin))
        begin++;
    return begin < end && *begin == '#';
}

/* Does a backslash stand before the newline at `newline`, in the line that begins at `begin`? */
static bool has_backslash(const char *begin, const char *newline)
{
    const char *p = newline;
    if (p > begin && p[-1] == '\r')
        p--;
    return p > begin && p[-1] == '\\';
}

static bool check_line(reader_t *r, view_t line)
{
    if (line.end - line.begin > MESH_OBJ_LINE_MAX)
        return refuse(r, BP_ERROR_LIMIT, r->line, "the line is longer than %d bytes", MESH_OBJ_LINE_MAX);
    if (memchr(line.begin, '\0', (size_t)(line.end - line.begin)) != NULL)
        return refuse(r, BP_ERROR_SYNTAX, r->line, "a zero byte; an OBJ file is text");
    return true;
}

/* The next line, continued ones in one, without its end. *found is false at the end of the input. */
static bool next_line(reader_t *r, view_t *line, bool *found)
{
    size_t seen = 0; /* bytes of the line without an end */
    bool continued = false;
    r->line = r->next_line;
    *found = true;
    for (;;) {
        const char *begin = r->window + r->begin;
        const char *newline = memchr(begin + seen, '\n', r->end - r->begin - seen);
        if (newline != NULL) {
            r->next_line++;
            seen = (size_t)(newline - begin) + 1;
            continued = has_backslash(begin, newline) && (continued || !is_comment(begin, newline));
            if (continued)
                continue;
            *line = (view_t){begin, newline};
            r->begin += seen;
            return check_line(r, *line);
        }
        seen = r->end - r->begin;
        bool more;
        if (!fill_window(r, &more))
            return false;
        if (!more)
            break;
    }
    *line = (view_t){r->window + r->begin, r->window + r->end};
    *found = r->begin < r->end;
    r->begin = r->end;
    return check_line(r, *line);
}

/* --- tokens and numbers ----------------------------------------------------------------------- */

/* At p: a blank, or a backslash that continues the line (or would, were it not the input's last byte)? */
static bool is_gap(const char *p, const char *end)
{
    if (*p != '\\')
        return is_blank(*p);
    return p + 1 == end || p[1] == '\n' || (p[1] == '\r' && p + 2 < end && p[2] == '\n');
}

/* Take the next token off the line. False at the line's end, or where a comment begins. */
static bool take_token(view_t *line, view_t *token)
{
    const char *p = line->begin;
    while (p < line->end && is_gap(p, line->end))
        p++;
    token->begin = p;
    while (p < line->end && !is_gap(p, line->end))
        p++;
    token->end = line->begin = p;
    return token->begin < token->end && *token->begin != '#';
}

static bool token_is(view_t token, const char *word)
{
    size_t length = (size_t)(token.end - token.begin);
    return strlen(word) == length && memcmp(token.begin, word, length) == 0;
}

/* A token for messages: bytes that are no printable ASCII are shown as '?', long ones cut. */
static const char *show(view_t token, char *text)
{
    size_t length = (size_t)(token.end - token.begin);
    bool cut = length > TOKEN_SHOWN;
    if (cut)
        length = TOKEN_SHOWN;
    for (size_t i = 0; i < length; i++)
        text[i] = token.begin[i] >= ' ' && token.begin[i] <= '~' ? token.begin[i] : '?';
    memcpy(text + length, cut ? "..." : "", cut ? 4 : 1);
    return text;
}

static bool refuse_token(reader_t *r, view_t token, const char *complaint)
{
    char text[TOKEN_SHOWN + 4];
    return refuse(r, BP_ERROR_SYNTAX, r->line, "'%s' %s", show(token, text), complaint);
}

static bool is_digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

/* A sign, taken off. */
static bool take_minus(const char **p, const char *end)
{
    bool minus = *p < end && **p == '-';
    if (minus || (*p < end && **p == '+'))
        ++*p;
    return minus;
}

/* Digits as a whole number, saturating far beyond all limits. */
static int64_t take_digits(const char **p, const char *end)
{
    int64_t number = 0;
    for (; is_digit(*p, end); ++*p)
        number = number < INT64_C(100000000000000000) ? number * 10 + (**p - '0') : number;
    return number;
}

/* The digits of a mantissa; those beyond the 18th only count for the exponent. */
typedef struct mantissa_t {
    uint64_t number;
    int64_t exponent;
    bool any;
} mantissa_t;

static void take_mantissa(const char **p, const char *end, mantissa_t *m, bool fraction)
{
    for (; is_digit(*p, end); ++*p) {
        m->any = true;
        bool kept = m->number < UINT64_C(100000000000000000);
        if (kept)
            m->number = m->number * 10 + (uint64_t)(**p - '0');
        m->exponent += fraction ? (kept ? -1 : 0) : (kept ? 0 : 1);
    }
}

/* number * 10^exponent: exact factors up to 10^22, so small numbers are rounded once. */
static double scaled(uint64_t number, int64_t exponent)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double value = (double)number;
    if (number == 0 || exponent < -400)
        return 0;
    if (exponent > 400)
        exponent = 400; /* infinite all the same */
    for (; exponent > 22; exponent -= 22)
        value *= 1e22;
    for (; exponent < -22; exponent += 22)
        value /= 1e22;
    return exponent >= 0 ? value * powers[exponent] : value / powers[-exponent];
}

/* The least double that would round to an infinite float, and the largest float. */
#define FLOAT_END 0x1.ffffffp127
#define FLOAT_LARGEST 0x1.fffffep127

static bool read_number(reader_t *r, view_t token, float *number)
{
    const char *p = token.begin, *end = token.end;
    mantissa_t m = {0, 0, false};
    bool minus = take_minus(&p, end);
    take_mantissa(&p, end, &m, false);
    if (p < end && *p == '.') {
        p++;
        take_mantissa(&p, end, &m, true);
    }
    if (m.any && p < end && (*p == 'e' || *p == 'E')) {
        p++;
        bool down = take_minus(&p, end);
        m.any = is_digit(p, end);
        int64_t exponent = take_digits(&p, end);
        m.exponent += down ? -exponent : exponent;
    }
    if (!m.any || p != end)
        return refuse_token(r, token, "is not a finite number");
    double value = scaled(m.number, m.exponent);
    if (value >= FLOAT_END)
        return refuse_token(r, token, "is too large for a float");
    if (value > FLOAT_LARGEST)
        value = FLOAT_LARGEST;
    *number = (float)(minus ? -value : value);
    return true;
}

/* The numbers of a line, of which the first `kept` are stored. */
static bool read_numbers(reader_t *r, view_t *line, float *numbers, int kept, int *count)
{
    view_t token;
    float number = 0;
    for (*count = 0; take_token(line, &token); ++*count) {
        if (!read_number(r, token, &number))
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
            return refuse(r, BP_ERROR_MEMORY, r->line, "out of memory after %" PRIu32 " vertices and %" PRIu32
                          " triangles", r->count[VERTEX], r->triangles);
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
        return refuse(r, BP_ERROR_LIMIT, r->line, "more %s than the limit of %" PRIu32, kind_names[kind],
                      r->limits->vertices);
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
        return refuse(r, BP_ERROR_SYNTAX, r->line,
                      "a vertex of %d numbers; it takes 3, or 4, 6 or 7 with a weight or a colour", count);
    return count_one(r, VERTEX) && append(r, &r->positions, position, sizeof position);
}

static bool read_texture(reader_t *r, view_t *line)
{
    int count;
    if (!read_numbers(r, line, NULL, 0, &count))
        return false;
    if (count < 1 || count > 3)
        return refuse(r, BP_ERROR_SYNTAX, r->line, "a texture coordinate of %d numbers; it takes 1 to 3",
                      count);
    return count_one(r, TEXTURE);
}

static bool read_normal(reader_t *r, view_t *line)
{
    int count;
    if (!read_numbers(r, line, NULL, 0, &count))
        return false;
    if (count != 3)
        return refuse(r, BP_ERROR_SYNTAX, r->line, "a normal of %d numbers; it takes 3", count);
    return count_one(r, NORMAL);
}

static bool refuse_index(reader_t *r, kind_t kind, uint64_t line, const char *index, const char *hint)
{
    return refuse(r, BP_ERROR_SYNTAX, line, "face index %s of %" PRIu32 " %s%s", index, r->count[kind],
                  kind_names[kind], hint);
}

/* From a number in a file to an index from 0. A positive one is judged at the end, see judge_reach. */
static bool resolve_index(reader_t *r, kind_t kind, int64_t number, view_t digits, uint32_t *index)
{
    int64_t from_one = number < 0 ? (int64_t)r->count[kind] + number + 1 : number;
    if (number == 0 || from_one < 1 || from_one > r->limits->vertices) {
        char text[TOKEN_SHOWN + 4];
        return refuse_index(r, kind, r->line, show(digits, text), number == 0 ? "; the first is 1" : "");
    }
    if (from_one > r->reach[kind]) {
        r->reach[kind] = from_one;
        r->reach_line[kind] = r->line;
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
        bool minus = take_minus(&p, token.end);
        bool any = is_digit(p, token.end);
        int64_t number = take_digits(&p, token.end);
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
    return refuse_token(r, token, "is no corner of a face; corners are like 7, 7/7, 7//7 or 7/7/7");
}

static bool read_face(reader_t *r, view_t *line)
{
    uint32_t triangle[3], corners = 0;
    view_t token;
    for (; take_token(line, &token); corners++) {
        uint32_t vertex = 0;
        if (!read_corner(r, token, &vertex))
            return false;
        triangle[corners < 2 ? corners : 2] = vertex;
        if (corners < 2)
            continue;
        if (r->triangles >= r->limits->triangles)
            return refuse(r, BP_ERROR_LIMIT, r->line, "more triangles than the limit of %" PRIu32,
                          r->limits->triangles);
        if (!append(r, &r->indices, triangle, sizeof triangle))
            return false;
        r->triangles++;
        triangle[1] = vertex;
    }
    if (corners < 3)
        return refuse(r, BP_ERROR_SYNTAX, r->line, "a face of %" PRIu32 " corners; it takes 3 or more",
                      corners);
    return true;
}

static bool read_line(reader_t *r, view_t line)
{
    view_t keyword;
    if (!take_token(&line, &keyword))
        return true;
    if (token_is(keyword, "v"))
        return read_vertex(r, &line);
    if (token_is(keyword, "vt"))
        return read_texture(r, &line);
    if (token_is(keyword, "vn"))
        return read_normal(r, &line);
    if (token_is(keyword, "f"))
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
        if (!next_line(r, &line, &found))
            return false;
        if (!found)
            break;
        if (r->line == 1)
            pass_byte_order_mark(&line);
        if (!read_line(r, line))
            return false;
    }
    if (r->bytes == 0)
        return refuse(r, BP_ERROR_SYNTAX, 0, "the file is empty");
    if (r->triangles == 0)
        return refuse(r, BP_ERROR_SYNTAX, 0, "no faces (lines that begin with f): there is nothing to show");
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
        return r->code;
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
    return (reader_t){.memory = memory, .limits = limits, .name = name, .sentence = sentence, .next_line = 1};
}

bp_result_t mesh_obj_read_file(const mesh_obj_memory_t *memory, const mesh_obj_limits_t *limits, FILE *file,
                               const char *name, mesh_obj_t *mesh, char *sentence)
{
    reader_t r = begin_reading(memory, limits, name, sentence);
    r.file = file;
    r.buffer = memory->resize(memory->context, NULL, 0, WINDOW);
    if (r.buffer == NULL) {
        refuse(&r, BP_ERROR_MEMORY, 0, "out of memory");
        return r.code;
    }
    r.window = r.buffer;
    bp_result_t result = read_mesh(&r, mesh);
    memory->resize(memory->context, r.buffer, WINDOW, 0);
    return result;
}

bp_result_t mesh_obj_read_memory(const mesh_obj_memory_t *memory, const mesh_obj_limits_t *limits,
                                 const void *bytes, size_t size, const char *name, mesh_obj_t *mesh,
                                 char *sentence)
{
    reader_t r = begin_reading(memory, limits, name, sentence);
    r.window = size == 0 ? "" : bytes;
    r.end = size;
    r.bytes = size;
    if (size > limits->bytes) {
        refuse_bytes(&r);
        return r.code;
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
