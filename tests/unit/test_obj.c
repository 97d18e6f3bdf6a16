/* test_obj.c - the OBJ reader: what it reads, what it refuses, and that a refusal leaves nothing behind.
 *
 * Memory comes from an account that counts bytes and can fail on demand; every test ends with the account at
 * zero. A refused text must give the whole sentence, so messages are part of the contract here.
 */
#include "../../plugins/mesh/obj.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

Suite *obj_suite(void);

typedef struct account_t {
    size_t bytes;
    int64_t allowed; /* allocations until one fails; negative: none fails */
} account_t;

static void *resize(void *context, void *old, size_t old_size, size_t new_size)
{
    account_t *account = context;
    if (new_size == 0) {
        free(old);
        account->bytes -= old == NULL ? 0 : old_size;
        return NULL;
    }
    if (account->allowed == 0)
        return NULL;
    account->allowed -= account->allowed > 0;
    void *block = realloc(old, new_size);
    ck_assert_ptr_nonnull(block);
    account->bytes += new_size - (old == NULL ? 0 : old_size);
    return block;
}

static account_t account;
static const mesh_obj_memory_t memory = {&account, resize};
static const mesh_obj_limits_t wide = {UINT64_C(1) << 33, 100000000, 200000000};
static char sentence[MESH_OBJ_SENTENCE_MAX];

static void open_account(void)
{
    account = (account_t){0, -1};
    sentence[0] = '\0';
}

static void close_account(void)
{
    ck_assert_uint_eq(account.bytes, 0);
}

static bp_result_t read_bytes(const char *text, size_t size, const mesh_obj_limits_t *limits,
                              mesh_obj_t *mesh)
{
    return mesh_obj_read_memory(&memory, limits, text, size, "test.obj", mesh, sentence);
}

/* Read a text that must be good. */
static mesh_obj_t good(const char *text)
{
    mesh_obj_t mesh;
    bp_result_t result = read_bytes(text, strlen(text), &wide, &mesh);
    ck_assert_msg(result == BP_OK, "refused: %s", sentence);
    return mesh;
}

/* Read bytes that must be refused with this sentence; the mesh must stay as it was. */
static void refused(const char *text, size_t size, const mesh_obj_limits_t *limits, bp_result_t code,
                    const char *expected)
{
    mesh_obj_t mesh, before;
    memset(&mesh, 0x5a, sizeof mesh);
    memcpy(&before, &mesh, sizeof mesh);
    ck_assert_int_eq(read_bytes(text, size, limits, &mesh), code);
    ck_assert_str_eq(sentence, expected);
    ck_assert_mem_eq(&mesh, &before, sizeof mesh);
    ck_assert_uint_eq(account.bytes, 0);
}

static void check_indices(const mesh_obj_t *mesh, const uint32_t *indices, uint32_t count)
{
    ck_assert_uint_eq(3 * mesh->triangle_count, count);
    ck_assert_mem_eq(mesh->indices, indices, count * sizeof *indices);
}
#define CHECK_INDICES(mesh, ...)                                                        \
    do {                                                                                \
        const uint32_t indices_[] = {__VA_ARGS__};                                      \
        check_indices((mesh), indices_, (uint32_t)(sizeof indices_ / sizeof *indices_)); \
    } while (0)

#define TRIANGLE "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
#define QUAD "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

/* --- good files ------------------------------------------------------------------------------- */

START_TEST(a_triangle_gives_its_positions_and_indices)
{
    mesh_obj_t mesh = good("v 1 2 3\nv -4.5 5e1 .25\nv 7. 8 9\nf 1 2 3\n");
    const float expected[] = {1, 2, 3, -4.5f, 50, 0.25f, 7, 8, 9};
    ck_assert_uint_eq(mesh.vertex_count, 3);
    ck_assert_mem_eq(mesh.positions, expected, sizeof expected);
    CHECK_INDICES(&mesh, 0, 1, 2);
    mesh_obj_free(&memory, &mesh);
}
END_TEST

START_TEST(blocks_are_as_large_as_what_they_hold)
{
    mesh_obj_t mesh = good(QUAD "f 1 2 3 4\n");
    ck_assert_uint_eq(mesh.position_bytes, 4 * 3 * sizeof(float));
    ck_assert_uint_eq(mesh.index_bytes, 2 * 3 * sizeof(uint32_t));
    ck_assert_uint_eq(account.bytes, mesh.position_bytes + mesh.index_bytes);
    mesh_obj_free(&memory, &mesh);
}
END_TEST

START_TEST(a_polygon_is_cut_into_a_fan)
{
    mesh_obj_t mesh = good(QUAD "v 0 2 0\nf 1 2 3 4\nf 1 2 3 4 5\n");
    CHECK_INDICES(&mesh, 0, 1, 2, 0, 2, 3, 0, 1, 2, 0, 2, 3, 0, 3, 4);
    mesh_obj_free(&memory, &mesh);
}
END_TEST

START_TEST(negative_indices_count_back_from_the_latest_vertex)
{
    mesh_obj_t mesh = good(TRIANGLE "f -3 -2 -1\nv 0 0 1\nf -4 -1 1\n");
    CHECK_INDICES(&mesh, 0, 1, 2, 0, 3, 0);
    mesh_obj_free(&memory, &mesh);
}
END_TEST

START_TEST(a_corner_may_name_texture_coordinates_and_normals)
{
    mesh_obj_t mesh = good(TRIANGLE "vt 0\nvt 0 1\nvt 0 1 0\nvn 0 0 1\n"
                                    "f 1/1 2/2 3/3\nf 3//1 2//-1 1//1\nf 1/3/1 2/-2/1 3/1/-1\n"
                                    "f 1/ 2// 3/1/\n");
    CHECK_INDICES(&mesh, 0, 1, 2, 2, 1, 0, 0, 1, 2, 0, 1, 2);
    mesh_obj_free(&memory, &mesh);
}
END_TEST

START_TEST(a_face_may_come_before_its_vertices)
{
    mesh_obj_t mesh = good("f 1/1/1 2/1/1 3/1/1\n" TRIANGLE "vt 0\nvn 0 0 1\n");
    CHECK_INDICES(&mesh, 0, 1, 2);
    mesh_obj_free(&memory, &mesh);
}
END_TEST

START_TEST(weights_and_colours_behind_a_vertex_are_passed_over)
{
    mesh_obj_t mesh = good("v 1 2 3 1.0\nv 4 5 6 .5 .5 .5\nv 7 8 9 .5 .5 .5 1\nf 1 2 3\n");
    const float expected[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    ck_assert_mem_eq(mesh.positions, expected, sizeof expected);
    mesh_obj_free(&memory, &mesh);
}
END_TEST

START_TEST(other_keywords_are_passed_over)
{
    mesh_obj_t mesh = good("# by hand\n  # f 1 2\nmtllib a b.mtl\no thing\ng one two\n" TRIANGLE
                           "usemtl \xc3\xa4\ns off\nl 1 2\np 99\nvp 1 1\nfo 1 2\n\n   \n"
                           "f 1 2 3 # x\ncstype bezier\n");
    CHECK_INDICES(&mesh, 0, 1, 2);
    mesh_obj_free(&memory, &mesh);
}
END_TEST

START_TEST(line_ends_tabs_and_a_byte_order_mark_do_not_matter)
{
    mesh_obj_t mesh = good("\xEF\xBB\xBFv 0 0 0\r\nv\t1\t0  0 \r\n  v 0 1 0\r\nf 1 2\v3");
    ck_assert_uint_eq(mesh.vertex_count, 3);
    CHECK_INDICES(&mesh, 0, 1, 2);
    mesh_obj_free(&memory, &mesh);
}
END_TEST

START_TEST(a_backslash_continues_a_line)
{
    mesh_obj_t mesh = good("v 0 \\\n0 0\nv 1 0 0\nv 0 1\\\r\n 0\nf 1 \\\n\\\n2\\\n3\n"
                           "# comment \\\nf 3 2 1\nf 1 2 3\\");
    CHECK_INDICES(&mesh, 0, 1, 2, 2, 1, 0, 0, 1, 2);
    mesh_obj_free(&memory, &mesh);
}
END_TEST

START_TEST(bounds_hold_the_vertices_that_triangles_use)
{
    mesh_obj_t mesh = good("v -1 2 -3\nv 4 -5 6\nv 0 0 7\nv 99 99 99\nf 1 2 3\n");
    const bp_vec3_t lowest = {-1, -5, -3}, highest = {4, 2, 7};
    ck_assert_mem_eq(&mesh.bounds_min, &lowest, sizeof lowest);
    ck_assert_mem_eq(&mesh.bounds_max, &highest, sizeof highest);
    mesh_obj_free(&memory, &mesh);
}
END_TEST

/* --- numbers ---------------------------------------------------------------------------------- */

static float number_of(const char *text)
{
    char line[1024];
    snprintf(line, sizeof line, "v %s 0 0\nf 1 1 1\n", text);
    mesh_obj_t mesh = good(line);
    float number = mesh.positions[0];
    mesh_obj_free(&memory, &mesh);
    return number;
}

START_TEST(numbers_are_those_of_the_c_library)
{
    static const char *const texts[] = {
        "0", "-0", "+1", "1.", ".5", "-.5e-3", "1e5", "1E+5", "16777217", "0.1", "3.14159265358979323846",
        "123456789012345678901234567890", "0.000000000000000000000000000001", "1e-38", "1e-45", "7e-46",
        "1e-400",
        "0e999999999999999999999", "3.40282347e38", "340282346638528859811704183484516925440",
        "00000000000000000000000000000000000000001.5", "9.99999999999999999999e-1", "-1.17549435e-38",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        float expected = strtof(texts[i], NULL), number = number_of(texts[i]);
        ck_assert_msg(memcmp(&expected, &number, sizeof number) == 0, "%s", texts[i]);
    }
}
END_TEST

START_TEST(every_float_that_is_written_is_read_back)
{
    uint64_t state = 20;
    for (int i = 0; i < 100000; i++) {
        uint32_t bits = (uint32_t)bp_random_next(&state);
        float written, number;
        memcpy(&written, &bits, sizeof written);
        if (written - written != 0.0f)
            continue;
        char text[64];
        snprintf(text, sizeof text, "%.9g", (double)written);
        number = number_of(text);
        ck_assert_msg(memcmp(&written, &number, sizeof number) == 0, "%s", text);
    }
}
END_TEST

START_TEST(what_is_no_finite_number_is_refused)
{
    static const char *const texts[] = {"nan", "inf", "-inf", "Infinity", "1.2.3", "1e", "1e+", "e5", ".",
                                        "-", "--1", "+-1", "0x10", "1,5", "1f", "1/2", "\\1", "\x80"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char line[128], expected[128];
        snprintf(line, sizeof line, "v 0 %s 0\nf 1 1 1\n", texts[i]);
        snprintf(expected, sizeof expected, "test.obj:1: '%s' is not a finite number",
                 texts[i][0] == '\x80' ? "?" : texts[i]);
        refused(line, strlen(line), &wide, BP_ERROR_SYNTAX, expected);
    }
}
END_TEST

START_TEST(what_is_too_large_for_a_float_is_refused)
{
    static const char *const texts[] = {"3.4028236e38", "-1e39", "1e400", "1e99999999999999999999",
                                        "999999999999999999999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char line[128];
        snprintf(line, sizeof line, "v 0 0 %s\nf 1 1 1\n", texts[i]);
        mesh_obj_t mesh;
        ck_assert_int_eq(read_bytes(line, strlen(line), &wide, &mesh), BP_ERROR_SYNTAX);
        ck_assert_ptr_nonnull(strstr(sentence, "is too large for a float"));
    }
}
END_TEST

/* --- files that lie --------------------------------------------------------------------------- */

typedef struct lie_t {
    const char *text;
    const char *sentence; /* without the name of the file */
} lie_t;

static const lie_t lies[] = {
    {"", " the file is empty"},
    {"\n\n", " no faces (lines that begin with f): there is nothing to show"},
    {TRIANGLE, " no faces (lines that begin with f): there is nothing to show"},
    {TRIANGLE "f 1 2 4\n", "4: face index 4 of 3 vertices"},
    {TRIANGLE "f 1 2 9\nf 1 2 8\nv 1 1 1\n", "4: face index 9 of 4 vertices"},
    {TRIANGLE "f 1 2 0\n", "4: face index 0 of 3 vertices; the first is 1"},
    {TRIANGLE "f 1 2 -4\n", "4: face index -4 of 3 vertices"},
    {"f -1 -1 -1\n" TRIANGLE, "1: face index -1 of 0 vertices"},
    {"f 1 1 1\n", "1: face index 1 of 0 vertices"},
    {TRIANGLE "f 1 2 4294967297\n", "4: face index 4294967297 of 3 vertices"},
    {TRIANGLE "f 1 2 99999999999999999999999\n", "4: face index 99999999999999999999999 of 3 vertices"},
    {TRIANGLE "vt 0\nf 1/1 2/1 3/2\n", "5: face index 2 of 1 texture coordinates"},
    {TRIANGLE "vt 0\nf 1/1 2/-2 3/1\n", "5: face index -2 of 1 texture coordinates"},
    {TRIANGLE "f 1//1 2//1 3//1\n", "4: face index 1 of 0 normals"},
    {TRIANGLE "f\n", "4: a face of 0 corners; it takes 3 or more"},
    {TRIANGLE "f 1 2\n", "4: a face of 2 corners; it takes 3 or more"},
    {TRIANGLE "f 1 2 x\n", "4: 'x' is no corner of a face; corners are like 7, 7/7, 7//7 or 7/7/7"},
    {TRIANGLE "f 1 2 3.5\n", "4: '3.5' is no corner of a face; corners are like 7, 7/7, 7//7 or 7/7/7"},
    {TRIANGLE "f 1 2 3////\n", "4: '3////' is no corner of a face; corners are like 7, 7/7, 7//7 or 7/7/7"},
    {TRIANGLE "f 1 2 /3\n", "4: '/3' is no corner of a face; corners are like 7, 7/7, 7//7 or 7/7/7"},
    {TRIANGLE "f 1 2 3/-\n", "4: '3/-' is no corner of a face; corners are like 7, 7/7, 7//7 or 7/7/7"},
    {"v 1 2\n", "1: a vertex of 2 numbers; it takes 3, or 4, 6 or 7 with a weight or a colour"},
    {"v 1 2 3 4 5\n", "1: a vertex of 5 numbers; it takes 3, or 4, 6 or 7 with a weight or a colour"},
    {"v\n", "1: a vertex of 0 numbers; it takes 3, or 4, 6 or 7 with a weight or a colour"},
    {"vt\n", "1: a texture coordinate of 0 numbers; it takes 1 to 3"},
    {"vt 1 2 3 4\n", "1: a texture coordinate of 4 numbers; it takes 1 to 3"},
    {"vn 1 2\n", "1: a normal of 2 numbers; it takes 3"},
    {"# one\nv 0 \\\n0 \\\nnan\n", "2: 'nan' is not a finite number"},
    {"v 0 0 0\n\nv \\\n1 \\\n2 3\nv 1 2 ?\n", "6: '?' is not a finite number"},
    {"v 1 2 ~\x7f \n", "1: '~?' is not a finite number"},
    {"v 0 0 aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee\n",
     "1: 'aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...' is not a finite number"},
};

START_TEST(a_file_that_lies_is_refused_with_its_line)
{
    char expected[MESH_OBJ_SENTENCE_MAX];
    snprintf(expected, sizeof expected, "test.obj:%s", lies[_i].sentence);
    refused(lies[_i].text, strlen(lies[_i].text), &wide, BP_ERROR_SYNTAX, expected);
}
END_TEST

START_TEST(binary_bytes_are_refused)
{
    static const char zero[] = "v 0 0 0\n# \0 \nf 1 1 1\n";
    refused(zero, sizeof zero - 1, &wide, BP_ERROR_SYNTAX, "test.obj:2: a zero byte; an OBJ file is text");

    char noise[4096];
    uint64_t state = 7;
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < sizeof noise; i++)
            noise[i] = (char)bp_random_next(&state);
        mesh_obj_t mesh;
        ck_assert_int_ne(read_bytes(noise, sizeof noise, &wide, &mesh), BP_OK);
        ck_assert_uint_eq(account.bytes, 0);
    }
}
END_TEST

START_TEST(a_file_cut_at_any_length_is_read_or_refused)
{
    static const char text[] = TRIANGLE "vt 0 1\nvn 0 0 1\nf 1/1/1 2/1/1 \\\n 3/1/1\nf -1 -2 -3\n# end \\\n";
    for (size_t size = 0; size < sizeof text; size++) {
        char *exact = malloc(size + 1); /* so that a sanitizer sees one byte too far */
        ck_assert_ptr_nonnull(exact);
        memcpy(exact, text, size);
        exact = realloc(exact, size == 0 ? 1 : size);
        mesh_obj_t mesh;
        if (read_bytes(exact, size, &wide, &mesh) == BP_OK) {
            for (uint32_t i = 0; i < 3 * mesh.triangle_count; i++)
                ck_assert_uint_lt(mesh.indices[i], mesh.vertex_count);
            mesh_obj_free(&memory, &mesh);
        }
        free(exact);
        ck_assert_uint_eq(account.bytes, 0);
    }
}
END_TEST

/* --- limits ----------------------------------------------------------------------------------- */

START_TEST(vertices_are_read_up_to_the_limit)
{
    static const char text[] = TRIANGLE "vt 0\nvt 0\nvt 0\nvn 0 0 1\nvn 0 0 1\nvn 0 0 1\nf 1 2 3\n";
    mesh_obj_limits_t limits = wide;
    mesh_obj_t mesh;
    limits.vertices = 3;
    ck_assert_int_eq(read_bytes(text, sizeof text - 1, &limits, &mesh), BP_OK);
    mesh_obj_free(&memory, &mesh);
    refused(TRIANGLE "v 0 0 1\nf 1 2 3\n", 41, &limits, BP_ERROR_LIMIT,
            "test.obj:4: more vertices than the limit of 3");
    refused("vt 0\nvt 0\nvt 0\nvt 0\n", 20, &limits, BP_ERROR_LIMIT,
            "test.obj:4: more texture coordinates than the limit of 3");
    refused("vn 0 0 1\nvn 0 0 1\nvn 0 0 1\nvn 0 0 1\n", 36, &limits, BP_ERROR_LIMIT,
            "test.obj:4: more normals than the limit of 3");
}
END_TEST

START_TEST(triangles_are_read_up_to_the_limit)
{
    mesh_obj_limits_t limits = wide;
    mesh_obj_t mesh;
    limits.triangles = 2;
    ck_assert_int_eq(read_bytes(QUAD "f 1 2 3 4\n", 42, &limits, &mesh), BP_OK);
    mesh_obj_free(&memory, &mesh);
    refused(QUAD "f 1 2 3 4\nf 1 2 3\n", 50, &limits, BP_ERROR_LIMIT,
            "test.obj:6: more triangles than the limit of 2");
}
END_TEST

START_TEST(bytes_are_read_up_to_the_limit)
{
    static const char text[] = TRIANGLE "f 1 2 3\n";
    mesh_obj_limits_t limits = wide;
    mesh_obj_t mesh;
    limits.bytes = sizeof text - 1;
    ck_assert_int_eq(read_bytes(text, sizeof text - 1, &limits, &mesh), BP_OK);
    mesh_obj_free(&memory, &mesh);
    limits.bytes--;
    refused(text, sizeof text - 1, &limits, BP_ERROR_LIMIT,
            "test.obj: the file is larger than the limit of 31 bytes");
}
END_TEST

/* A mesh whose second line is a comment of `length` bytes. */
static char *text_with_line(size_t length, size_t *size)
{
    static const char head[] = "v 0 0 0\n#", tail[] = "\nf 1 1 1\n";
    char *text = malloc(sizeof head + length + sizeof tail);
    ck_assert_ptr_nonnull(text);
    memcpy(text, head, sizeof head - 1);
    memset(text + sizeof head - 1, 'x', length - 1);
    memcpy(text + sizeof head - 2 + length, tail, sizeof tail - 1);
    *size = sizeof head - 2 + length + sizeof tail - 1;
    return text;
}

static FILE *file_with(const char *text, size_t size)
{
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, size, file), size);
    rewind(file);
    return file;
}

START_TEST(a_line_may_have_the_limits_length_and_no_byte_more)
{
    for (int excess = 0; excess <= 1; excess++) {
        size_t size;
        char *text = text_with_line((size_t)MESH_OBJ_LINE_MAX + (size_t)excess, &size);
        FILE *file = file_with(text, size);
        mesh_obj_t mesh;
        for (int from_file = 0; from_file <= 1; from_file++) {
            bp_result_t result =
                from_file != 0 ? mesh_obj_read_file(&memory, &wide, file, "test.obj", &mesh, sentence)
                               : read_bytes(text, size, &wide, &mesh);
            ck_assert_int_eq(result, excess == 0 ? BP_OK : BP_ERROR_LIMIT);
            if (result == BP_OK)
                mesh_obj_free(&memory, &mesh);
            else
                ck_assert_str_eq(sentence, "test.obj:2: the line is longer than 262144 bytes");
        }
        fclose(file);
        free(text);
    }
}
END_TEST

/* --- files and memory ------------------------------------------------------------------------- */

/* Text of many lines, larger than the window through which files are read. */
static char *long_text(size_t *size)
{
    enum { VERTICES = 30000 };
    char *text = malloc(VERTICES * 64);
    ck_assert_ptr_nonnull(text);
    size_t used = 0;
    for (int i = 1; i <= VERTICES; i++)
        used += (size_t)snprintf(text + used, 64, "v %d %d.5 -%d\n%s", i, i, i,
                                 i % 7 == 0 ? "f -1 -2 \\\r\n -3\n" : "");
    *size = used;
    ck_assert_uint_gt(used, 2 * MESH_OBJ_LINE_MAX);
    return text;
}

START_TEST(a_file_is_read_like_memory)
{
    size_t size;
    char *text = long_text(&size);
    FILE *file = file_with(text, size);
    mesh_obj_t from_memory, from_file;
    ck_assert_int_eq(read_bytes(text, size, &wide, &from_memory), BP_OK);
    ck_assert_int_eq(mesh_obj_read_file(&memory, &wide, file, "test.obj", &from_file, sentence), BP_OK);
    ck_assert_uint_eq(from_file.vertex_count, 30000);
    ck_assert_uint_eq(from_file.triangle_count, 30000 / 7);
    ck_assert_uint_eq(from_file.position_bytes, from_memory.position_bytes);
    ck_assert_uint_eq(from_file.index_bytes, from_memory.index_bytes);
    ck_assert_mem_eq(from_file.positions, from_memory.positions, from_memory.position_bytes);
    ck_assert_mem_eq(from_file.indices, from_memory.indices, from_memory.index_bytes);
    mesh_obj_free(&memory, &from_memory);
    mesh_obj_free(&memory, &from_file);
    fclose(file);
    free(text);
}
END_TEST

START_TEST(a_file_beyond_the_limit_of_bytes_is_refused)
{
    size_t size;
    char *text = long_text(&size);
    FILE *file = file_with(text, size);
    mesh_obj_limits_t limits = wide;
    mesh_obj_t mesh;
    limits.bytes = size - 1;
    ck_assert_int_eq(mesh_obj_read_file(&memory, &limits, file, "test.obj", &mesh, sentence), BP_ERROR_LIMIT);
    rewind(file);
    limits.bytes = size;
    ck_assert_int_eq(mesh_obj_read_file(&memory, &limits, file, "test.obj", &mesh, sentence), BP_OK);
    mesh_obj_free(&memory, &mesh);
    fclose(file);
    free(text);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    size_t size;
    char *text = long_text(&size);
    FILE *file = file_with(text, size);
    bp_result_t result = BP_ERROR_MEMORY;
    int failures = 0;
    while (result != BP_OK) {
        mesh_obj_t mesh;
        rewind(file);
        account.allowed = failures;
        result = mesh_obj_read_file(&memory, &wide, file, "test.obj", &mesh, sentence);
        if (result == BP_OK) {
            mesh_obj_free(&memory, &mesh);
            break;
        }
        ck_assert_int_eq(result, BP_ERROR_MEMORY);
        ck_assert_ptr_nonnull(strstr(sentence, "out of memory"));
        ck_assert_uint_eq(account.bytes, 0);
        failures++;
    }
    ck_assert_int_gt(failures, 10);
    fclose(file);
    free(text);
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_an_error_of_io)
{
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    FILE *write_only = freopen(NULL, "wb", file);
    if (write_only != NULL) { /* where the C library can change a file's mode */
        mesh_obj_t mesh;
        ck_assert_int_eq(mesh_obj_read_file(&memory, &wide, write_only, "test.obj", &mesh, sentence),
                         BP_ERROR_IO);
        ck_assert_ptr_nonnull(strstr(sentence, "test.obj: cannot be read: "));
        fclose(write_only);
    }
}
END_TEST

static void add(Suite *suite, const char *name, const TTest *const *tests, size_t count)
{
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, open_account, close_account);
    for (size_t i = 0; i < count; i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
}
#define ADD(suite, name, tests) add((suite), (name), (tests), sizeof(tests) / sizeof *(tests))

Suite *obj_suite(void)
{
    const TTest *const files[] = {
        a_triangle_gives_its_positions_and_indices, blocks_are_as_large_as_what_they_hold,
        a_polygon_is_cut_into_a_fan, negative_indices_count_back_from_the_latest_vertex,
        a_corner_may_name_texture_coordinates_and_normals, a_face_may_come_before_its_vertices,
        weights_and_colours_behind_a_vertex_are_passed_over, other_keywords_are_passed_over,
        line_ends_tabs_and_a_byte_order_mark_do_not_matter, a_backslash_continues_a_line,
        bounds_hold_the_vertices_that_triangles_use, a_file_is_read_like_memory,
    };
    const TTest *const numbers[] = {
        numbers_are_those_of_the_c_library, every_float_that_is_written_is_read_back,
        what_is_no_finite_number_is_refused, what_is_too_large_for_a_float_is_refused,
    };
    const TTest *const limits[] = {
        vertices_are_read_up_to_the_limit, triangles_are_read_up_to_the_limit, bytes_are_read_up_to_the_limit,
        a_line_may_have_the_limits_length_and_no_byte_more, a_file_beyond_the_limit_of_bytes_is_refused,
        every_allocation_may_fail, a_file_that_cannot_be_read_is_an_error_of_io,
    };
    const TTest *const binary[] = {binary_bytes_are_refused, a_file_cut_at_any_length_is_read_or_refused};

    Suite *suite = suite_create("obj");
    ADD(suite, "files", files);
    ADD(suite, "numbers", numbers);
    ADD(suite, "limits", limits);
    ADD(suite, "binary", binary);
    TCase *tcase = tcase_create("lies");
    tcase_add_checked_fixture(tcase, open_account, close_account);
    tcase_add_loop_test(tcase, a_file_that_lies_is_refused_with_its_line, 0,
                        (int)(sizeof lies / sizeof *lies));
    suite_add_tcase(suite, tcase);
    return suite;
}
