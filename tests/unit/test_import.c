/* test_import.c - matrices of other programs' files as poses (tools/import/pose.c), and their names.
 *
 * The property that counts: the matrix of the pose, or the product of the two, is the matrix that went in. The
 * matrices are made of every kind that files hold: rotations, scales, mirrors, shears, chains of these, singular
 * ones, and tiny and huge ones.
 */
#include "../../tools/import/import.h"

#include <bp_types.h>
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *import_suite(void);

enum { ROUNDS = 20000 };

static double number(uint64_t *random)
{
    return (double)(bp_random_next(random) >> 11) * 0x1p-53 * 2 - 1;
}

static pose_t random_pose(uint64_t *random)
{
    pose_t pose;
    double length = 0, q[4];
    for (int i = 0; i < 4; i++) {
        q[i] = number(random);
        length += q[i] * q[i];
    }
    for (int i = 0; i < 4; i++)
        pose.rotation[i] = (float)(q[i] / sqrt(length));
    for (int i = 0; i < 3; i++) {
        pose.position[i] = (float)(100 * number(random));
        pose.scale[i] = (float)exp(4 * number(random));
    }
    return pose;
}

static void multiply(const double a[16], const double b[16], double out[16])
{
    for (int row = 0; row < 4; row++)
        for (int column = 0; column < 4; column++) {
            out[4 * row + column] = 0;
            for (int i = 0; i < 4; i++)
                out[4 * row + column] += a[4 * row + i] * b[4 * i + column];
        }
}

static void to_floats(const double in[16], float out[16])
{
    for (int i = 0; i < 16; i++)
        out[i] = (float)in[i];
}

static void assert_pose(const pose_t *pose)
{
    double length = 0;
    for (int i = 0; i < 4; i++)
        length += (double)pose->rotation[i] * (double)pose->rotation[i];
    ck_assert_double_eq_tol(length, 1, 1e-6);
    ck_assert(pose->rotation[3] >= 0);
}

/* Split it, put it together again. Returns the number of poses. */
static int assert_comes_back(const float matrix[16])
{
    pose_t poses[2];
    double again[16], inner[16], product[16], largest = 0;
    int count = pose_split(matrix, poses);
    ck_assert(count == 1 || count == 2);
    assert_pose(&poses[0]);
    pose_matrix(&poses[0], again);
    if (count == 2) {
        assert_pose(&poses[1]);
        pose_matrix(&poses[1], inner);
        multiply(again, inner, product);
        memcpy(again, product, sizeof again);
    }
    for (int i = 0; i < 12; i++)
        if (i % 4 != 3)
            largest = fmax(largest, fabs((double)matrix[i]));
    for (int i = 0; i < 12; i++) {
        double tolerance = i % 4 == 3 ? 0 : 1.5e-6 * largest;
        ck_assert_msg(fabs(again[i] - (double)matrix[i]) <= tolerance, "element %d: %.9g came back as %.9g", i,
                      (double)matrix[i], again[i]);
    }
    return count;
}

START_TEST(a_pose_comes_back_as_one)
{
    uint64_t random = 1;
    double matrix[16];
    float floats[16];
    for (int i = 0; i < ROUNDS; i++) {
        pose_t pose = random_pose(&random);
        pose_matrix(&pose, matrix);
        to_floats(matrix, floats);
        ck_assert_int_eq(assert_comes_back(floats), 1);
    }
}
END_TEST

START_TEST(a_mirror_is_one_negative_scale)
{
    uint64_t random = 2;
    double matrix[16];
    float floats[16];
    pose_t poses[2];
    for (int i = 0; i < ROUNDS; i++) {
        pose_t pose = random_pose(&random);
        pose.scale[bp_random_below(&random, 3)] *= -1;
        pose_matrix(&pose, matrix);
        to_floats(matrix, floats);
        ck_assert_int_eq(assert_comes_back(floats), 1);
        ck_assert_int_eq(pose_split(floats, poses), 1);
        ck_assert(poses[0].scale[0] * poses[0].scale[1] * poses[0].scale[2] < 0);
    }
    for (int axis = 0; axis < 3; axis++) {
        pose_t mirror = {{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
        mirror.scale[axis] = -1;
        pose_matrix(&mirror, matrix);
        to_floats(matrix, floats);
        ck_assert_int_eq(pose_split(floats, poses), 1);
        ck_assert_mem_eq(poses[0].scale, mirror.scale, sizeof mirror.scale);
        ck_assert_float_eq(poses[0].rotation[3], 1);
    }
}
END_TEST

START_TEST(a_shear_comes_back_as_two)
{
    uint64_t random = 3;
    double outer[16], inner[16], matrix[16];
    float floats[16];
    int two = 0;
    for (int i = 0; i < ROUNDS; i++) {
        pose_t a = random_pose(&random), b = random_pose(&random);
        if (i % 3 == 0)
            b.scale[i % 2] *= -1;
        pose_matrix(&a, outer);
        pose_matrix(&b, inner);
        multiply(outer, inner, matrix);
        to_floats(matrix, floats);
        two += assert_comes_back(floats) == 2;
    }
    ck_assert_int_gt(two, ROUNDS * 9 / 10);
}
END_TEST

START_TEST(singular_and_extreme_matrices_come_back)
{
    uint64_t random = 4;
    float matrix[16] = {0};
    ck_assert_int_eq(assert_comes_back(matrix), 1); /* all of it zero */
    for (int i = 0; i < ROUNDS; i++) {
        float size = (float)pow(10, 30 * number(&random));
        for (int j = 0; j < 12; j++)
            matrix[j] = size * (float)number(&random);
        uint32_t column = bp_random_below(&random, 3), other = bp_random_below(&random, 3);
        for (uint32_t row = 0; row < 3 && i % 2 == 0; row++)
            matrix[4 * row + column] = i % 4 == 0 ? 0 : 2 * matrix[4 * row + other];
        if (i % 6 == 0)
            memset(&matrix[4 * other], 0, 4 * sizeof matrix[0]);
        assert_comes_back(matrix);
    }
}
END_TEST

START_TEST(numbers_that_are_none_are_refused)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    pose_t poses[2];
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 3; j++) {
            float matrix[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
            matrix[i] = bad[j];
            ck_assert_int_eq(pose_split(matrix, poses), 0);
        }
}
END_TEST

START_TEST(a_perspective_is_told)
{
    float matrix[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    ck_assert(pose_is_affine(matrix));
    for (int i = 12; i < 16; i++) {
        matrix[i] += 0.5f;
        ck_assert(!pose_is_affine(matrix));
        matrix[i] = NAN;
        ck_assert(!pose_is_affine(matrix));
        matrix[i] = i == 15;
    }
}
END_TEST

/* --- names -------------------------------------------------------------------------------------------------- */

static void assert_taken(labels_t *names, const char *wanted, const char *given)
{
    char *name = labels_take(names, wanted);
    ck_assert_str_eq(name, given);
    free(name);
}

START_TEST(names_are_made_unique)
{
    labels_t names = {0};
    ck_assert(labels_announce(&names, "wheel"));
    ck_assert(labels_announce(&names, "wheel_2"));
    assert_taken(&names, "wheel", "wheel");
    assert_taken(&names, "wheel", "wheel_3");
    assert_taken(&names, "wheel_2", "wheel_2");
    assert_taken(&names, "wheel_2", "wheel_2_2");
    assert_taken(&names, "wheel_3", "wheel_3_2");
    assert_taken(&names, "wheel", "wheel_4");
    labels_free(&names);
}
END_TEST

START_TEST(a_long_name_keeps_room_for_its_number)
{
    labels_t names = {0};
    char name[NAME_MAX_BYTES + 1];
    for (int i = 0; i < 127; i++)
        memcpy(name + 2 * i, "\xc3\xa9", 2);
    name[254] = 'x';
    name[255] = '\0';
    for (int i = 1; i <= 100; i++) {
        char *given = labels_take(&names, name);
        char again[NAME_MAX_BYTES + 1];
        ck_assert(strlen(given) <= NAME_MAX_BYTES);
        ck_assert_msg(label_tidy(given, strlen(given), again), "%s is cut within a character", given);
        free(given);
    }
    labels_free(&names);
}
END_TEST

START_TEST(names_become_text)
{
    static const struct { const char *in, *out;
    } cases[] = {
        {"wheel", "wheel"},
        {"r\xc3\xa4"
         "der",
         "r\xc3\xa4"
         "der"},
        {"r\xe4"
         "der",
         "r?der"},
        {"a\nb\x7f", "a?b?"},
        {"\xc0\xaf", "??"},
        {"\xed\xa0\x80", "???"},
        {"\xf0\x9f\x9a\x97", "\xf0\x9f\x9a\x97"},
        {"cut \xe2\x82", "cut ??"},
        {"\xf8\x88\x80\x80\x80", "?????"},
        {"\xf4\x90\x80\x80", "????"},
    };
    char name[NAME_MAX_BYTES + 1], longer[600];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool same = label_tidy(cases[i].in, strlen(cases[i].in), name);
        ck_assert_str_eq(name, cases[i].out);
        ck_assert_int_eq(same, strcmp(cases[i].in, cases[i].out) == 0);
    }
    memset(longer, 'x', sizeof longer);
    ck_assert(label_tidy(longer, NAME_MAX_BYTES, name));
    ck_assert_uint_eq(strlen(name), NAME_MAX_BYTES);
    ck_assert(!label_tidy(longer, NAME_MAX_BYTES + 1, name));
    ck_assert_uint_eq(strlen(name), NAME_MAX_BYTES);
}
END_TEST

Suite *import_suite(void)
{
    Suite *suite = suite_create("import");
    TCase *poses = tcase_create("poses"), *names = tcase_create("names");
    tcase_add_test(poses, a_pose_comes_back_as_one);
    tcase_add_test(poses, a_mirror_is_one_negative_scale);
    tcase_add_test(poses, a_shear_comes_back_as_two);
    tcase_add_test(poses, singular_and_extreme_matrices_come_back);
    tcase_add_test(poses, numbers_that_are_none_are_refused);
    tcase_add_test(poses, a_perspective_is_told);
    tcase_add_test(names, names_are_made_unique);
    tcase_add_test(names, a_long_name_keeps_room_for_its_number);
    tcase_add_test(names, names_become_text);
    suite_add_tcase(suite, poses);
    suite_add_tcase(suite, names);
    return suite;
}
