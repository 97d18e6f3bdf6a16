/* pose.c - the arithmetic of poses that no inner loop needs: lengths, inverses, and a matrix taken apart.
 *
 * The arithmetic is done in double: these are the operations that lose digits (a square root of squares, a division by
 * a small determinant), and their results stay for good, while a product of matrices is computed anew all the time.
 */
#include "pose.h"

#include "four.h"

#include <math.h>

bool pose_are_unit(const void *values, size_t stride, uint32_t count)
{
    const char *value = values;
    uint32_t i = 0, others = 0;
    for (; count - i >= 4; i += 4, value += 4 * stride) {
        four_t q[4];
        float off[4];
        four_turn_over(value, value + stride, value + 2 * stride, value + 3 * stride, q);
        q[0] = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1;
        memcpy(off, &q[0], sizeof off);
        for (int k = 0; k < 4; k++)
            others += !pose_is_off_little(off[k]);
    }
    for (; i < count; i++, value += stride) {
        bp_quat_t q;
        memcpy(&q, value, sizeof q);
        others += !pose_is_unit(q);
    }
    return others == 0;
}

/* Squares are made in double, where no length that a float can hold overflows or vanishes. */
bool pose_normalise(bp_quat_t *q)
{
    if (pose_is_unit(*q))
        return true;
    double x = (double)q->x, y = (double)q->y, z = (double)q->z, w = (double)q->w;
    double length = sqrt(x * x + y * y + z * z + w * w);
    if (!(length > 0.0 && length <= 1e300))
        return false;
    *q = (bp_quat_t){(float)(x / length), (float)(y / length), (float)(z / length), (float)(w / length)};
    return true;
}

/* --- inverses --------------------------------------------------------------------------------- */

static void cross(const double *a, const double *b, double *product)
{
    product[0] = a[1] * b[2] - a[2] * b[1];
    product[1] = a[2] * b[0] - a[0] * b[2];
    product[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The rows of the inverse of the upper left 3 x 3 part. */
static bool invert(const float *m, double rows[3][3])
{
    double column[3][3];
    for (int i = 0; i < 9; i++)
        column[i / 3][i % 3] = (double)m[i / 3 * 4 + i % 3];
    cross(column[1], column[2], rows[0]);
    cross(column[2], column[0], rows[1]);
    cross(column[0], column[1], rows[2]);
    double determinant = dot(column[0], rows[0]);
    if (!(fabs(determinant) > 0 && fabs(determinant) < HUGE_VAL))
        return false;
    for (int i = 0; i < 9; i++)
        rows[i / 3][i % 3] /= determinant;
    return true;
}

bool pose_relative(const float *parent, const float *world, float *local)
{
    double rows[3][3], column[3];
    if (parent == NULL) {
        for (int i = 0; i < 16; i++)
            local[i] = world[i];
        return true;
    }
    if (!invert(parent, rows))
        return false;
    for (int c = 0; c < 4; c++) {
        for (int r = 0; r < 3; r++)
            column[r] = (double)world[4 * c + r] - (c == 3 ? (double)parent[12 + r] : 0);
        for (int r = 0; r < 3; r++)
            local[4 * c + r] = (float)dot(rows[r], column);
        local[4 * c + 3] = c == 3 ? 1.0f : 0.0f;
    }
    return true;
}

/* --- a matrix taken apart --------------------------------------------------------------------- */

static double normalised(double *v)
{
    double length = sqrt(dot(v, v));
    for (int i = 0; length > 0 && i < 3; i++)
        v[i] /= length;
    return length;
}

/* Any direction at a right angle to `axis`. */
static void pick_across(const double *axis, double *across)
{
    double other[3] = {0, 0, 0};
    int smallest = fabs(axis[0]) <= fabs(axis[1]) ? 0 : 1;
    if (fabs(axis[2]) < fabs(axis[smallest]))
        smallest = 2;
    other[smallest] = 1;
    cross(axis, other, across);
    normalised(across);
}

/* Three directions at right angles that follow the columns, the first one closest (Gram-Schmidt), and the lengths of
 * the columns. A column without length takes what is left. */
static void take_axes(const float *m, double axes[3][3], double lengths[3])
{
    for (int i = 0; i < 9; i++)
        axes[i / 3][i % 3] = (double)m[i / 3 * 4 + i % 3];
    for (int i = 0; i < 3; i++)
        lengths[i] = normalised(axes[i]);
    if (!(lengths[0] > 0)) {
        if (lengths[1] > 0 && lengths[2] > 0)
            cross(axes[1], axes[2], axes[0]);
        else if (lengths[1] > 0 || lengths[2] > 0)
            pick_across(lengths[1] > 0 ? axes[1] : axes[2], axes[0]);
        else
            axes[0][0] = 1;
    }
    normalised(axes[0]);
    double along = dot(axes[0], axes[1]);
    for (int i = 0; i < 3; i++)
        axes[1][i] -= along * axes[0][i];
    if (!(normalised(axes[1]) > 1e-12)) {
        if (lengths[2] > 0)
            cross(axes[2], axes[0], axes[1]);
        if (!(lengths[2] > 0) || !(normalised(axes[1]) > 1e-12))
            pick_across(axes[0], axes[1]);
    }
    double third[3];
    cross(axes[0], axes[1], third);
    if (dot(third, axes[2]) < 0)
        lengths[2] = -lengths[2]; /* a mirror image */
    for (int i = 0; i < 3; i++)
        axes[2][i] = third[i];
}

/* The rotation that turns the coordinate axes into `a` (Shepperd, "Quaternion from rotation matrix", 1978: the
 * largest of the four numbers is computed first, so that nothing is divided by a small one). */
static bp_quat_t turn_of(double a[3][3])
{
    double q[4], trace = a[0][0] + a[1][1] + a[2][2];
    int largest = 3;
    for (int i = 0; i < 3; i++)
        largest = a[i][i] > (largest == 3 ? trace : a[largest][largest]) ? i : largest;
    if (largest == 3) {
        q[3] = sqrt(1 + trace) / 2;
        for (int i = 0; i < 3; i++)
            q[i] = (a[(i + 1) % 3][(i + 2) % 3] - a[(i + 2) % 3][(i + 1) % 3]) / (4 * q[3]);
    } else {
        int j = (largest + 1) % 3, k = (largest + 2) % 3;
        q[largest] = sqrt(1 + a[largest][largest] - a[j][j] - a[k][k]) / 2;
        q[j] = (a[largest][j] + a[j][largest]) / (4 * q[largest]);
        q[k] = (a[largest][k] + a[k][largest]) / (4 * q[largest]);
        q[3] = (a[j][k] - a[k][j]) / (4 * q[largest]);
    }
    return (bp_quat_t){(float)q[0], (float)q[1], (float)q[2], (float)q[3]};
}

pose_t pose_of_matrix(const float *m)
{
    double axes[3][3], lengths[3];
    take_axes(m, axes, lengths);
    pose_t pose = {.position = {m[12], m[13], m[14]},
                   .rotation = turn_of(axes),
                   .scale = {(float)lengths[0], (float)lengths[1], (float)lengths[2]}};
    if (!pose_normalise(&pose.rotation))
        pose.rotation = (bp_quat_t){0, 0, 0, 1}; /* a matrix that is not finite has no direction */
    return pose;
}

static float largest_of(const float *m, int first, int end)
{
    float largest = 0;
    for (int i = first; i < end; i++)
        largest = fmaxf(largest, fabsf(m[i]));
    return largest;
}

bool pose_is_near(const float *a, const float *b, const float *parent)
{
    float difference[16];
    for (int i = 0; i < 16; i++)
        difference[i] = a[i] - b[i];
    float reach = fmaxf(largest_of(a, 12, 15), largest_of(parent, 12, 15));
    return largest_of(difference, 0, 12) <= 1e-5f * largest_of(a, 0, 12) &&
           largest_of(difference, 12, 15) <= 1e-5f * reach;
}
