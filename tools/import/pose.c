/* pose.c - splitting matrices by their singular values.
 *
 * If the columns of the 3x3 part are at right angles it is a rotation (the columns at length 1) times a scale
 * (their lengths). If they are not, one-sided Jacobi (Hestenes, "Inversion of matrices by biorthogonalization",
 * 1958) turns the columns until they are: B = A V. The rotation and scale of B are the outer pose, V' the inner one.
 * The split is exact to the last digits whatever the matrix, singular ones included, which an iteration that divides by
 * the matrix (the polar decomposition) is not.
 *
 * A mirrored matrix has one negative scale (three would do as well): the scale that leaves the smallest rotation,
 * so that a mirror along x reads "scale -1 1 1" and not as a half turn.
 *
 * The matrix that comes back must be right, so the test for one pose is made on that matrix: put together again from
 * the floats that will be written, it must be within TOLERANCE of the largest element.
 */
#include "pose.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SWEEPS = 60 }; /* six or so are used */
#define TOLERANCE 1e-6

/* Columns; m[i] is the i-th. */
typedef struct columns_t {
    double m[3][3];
} columns_t;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double length(const double a[3])
{
    return sqrt(dot(a, a));
}

static void divide(double a[3], double by)
{
    for (int i = 0; i < 3; i++)
        a[i] /= by;
}

/* --- Jacobi --------------------------------------------------------------------------------------------- */

/* Turn the columns p and q of both by the angle of cosine c and sine s. */
static void turn(columns_t *columns, int p, int q, double c, double s)
{
    for (int i = 0; i < 3; i++) {
        double a = columns->m[p][i], b = columns->m[q][i];
        columns->m[p][i] = c * a - s * b;
        columns->m[q][i] = s * a + c * b;
    }
}

/* Bring two columns to right angles. Returns whether they were not. */
static bool turn_apart(columns_t *b, columns_t *v, int p, int q)
{
    double pp = dot(b->m[p], b->m[p]), qq = dot(b->m[q], b->m[q]), pq = dot(b->m[p], b->m[q]);
    if (fabs(pq) <= DBL_EPSILON * sqrt(pp) * sqrt(qq))
        return false;
    double zeta = (qq - pp) / (2.0 * pq);
    double t = (zeta < 0 ? -1.0 : 1.0) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
    double c = 1.0 / sqrt(1.0 + t * t);
    turn(b, p, q, c, c * t);
    turn(v, p, q, c, c * t);
    return true;
}

/* B = A V with columns at right angles; V is a rotation. */
static void separate(columns_t *b, columns_t *v)
{
    *v = (columns_t){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    bool turned = true;
    for (int sweep = 0; turned && sweep < SWEEPS; sweep++) {
        turned = turn_apart(b, v, 0, 1);
        turned |= turn_apart(b, v, 0, 2);
        turned |= turn_apart(b, v, 1, 2);
    }
}

/* --- rotation and scale of columns at right angles --------------------------------------------------------- */

/* A direction at right angles to `a`: made from the axis that is furthest from `a`. */
static void any_across(const double a[3], double out[3])
{
    double axis[3] = {0, 0, 0};
    int least = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(a[i]) < fabs(a[least]))
            least = i;
    axis[least] = 1;
    cross(a, axis, out);
    divide(out, length(out));
}

/* Give the columns without a direction one: `known` says which columns have a direction. */
static void complete(columns_t *r, const bool known[3], int count)
{
    if (count == 0)
        *r = (columns_t){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    if (count == 0 || count == 3)
        return;
    int first = known[0] ? 0 : known[1] ? 1 : 2;
    int second = (first + 1) % 3, third = (first + 2) % 3;
    if (count == 1)
        any_across(r->m[first], r->m[second]);
    else if (!known[second])
        cross(r->m[third], r->m[first], r->m[second]);
    if (count == 1 || !known[third])
        cross(r->m[first], r->m[second], r->m[third]);
}

/* Turn a mirrored frame into a rotation by negating the column that leaves the largest trace, which is the smallest
 * rotation; or all three. */
static void unmirror(columns_t *r, double scale[3])
{
    double normal[3], trace = 0;
    cross(r->m[0], r->m[1], normal);
    if (dot(normal, r->m[2]) > 0)
        return;
    int best = 0;
    for (int i = 0; i < 3; i++) {
        trace += r->m[i][i];
        if (r->m[i][i] < r->m[best][best])
            best = i;
    }
    bool all = -trace > trace - 2.0 * r->m[best][best];
    for (int i = 0; i < 3; i++) {
        double sign = all || i == best ? -1.0 : 1.0;
        scale[i] *= sign;
        divide(r->m[i], sign);
    }
}

/* To a quaternion, by the largest of its four parts (Shepperd, "Quaternion from rotation matrix", 1978). */
static void quaternion(const columns_t *r, float out[4])
{
    double xx = r->m[0][0], yy = r->m[1][1], zz = r->m[2][2];
    double q[4] = {1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz, 1 + xx + yy + zz}; /* 4 q_i^2 */
    double diff[3] = {r->m[1][2] - r->m[2][1], r->m[2][0] - r->m[0][2], r->m[0][1] - r->m[1][0]};
    double sum[3] = {r->m[1][2] + r->m[2][1], r->m[2][0] + r->m[0][2], r->m[0][1] + r->m[1][0]};
    int most = 3;
    for (int i = 0; i < 3; i++)
        if (q[i] > q[most])
            most = i;
    double four = 2.0 * sqrt(q[most]); /* 4 |q_most| */
    for (int i = 0; i < 3; i++)
        q[i] = i == most ? four / 4 : most == 3 ? diff[i] / four : sum[3 - i - most] / four;
    q[3] = most == 3 ? four / 4 : diff[most] / four;
    double sign = (q[3] < 0 ? -1.0 : 1.0) / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++)
        out[i] = (float)(q[i] * sign);
}

static void of_right_angles(columns_t r, pose_t *pose)
{
    double scale[3], largest = 0;
    bool known[3];
    int count = 0;
    for (int i = 0; i < 3; i++) {
        scale[i] = length(r.m[i]);
        largest = fmax(largest, scale[i]);
    }
    for (int i = 0; i < 3; i++) {
        known[i] = scale[i] > 1e-9 * largest;
        count += known[i];
        if (known[i])
            divide(r.m[i], scale[i]);
        else
            scale[i] = 0;
    }
    complete(&r, known, count);
    unmirror(&r, scale);
    quaternion(&r, pose->rotation);
    for (int i = 0; i < 3; i++) /* a scale of 1 but for the last digit is 1: that digit would stand in every file */
        pose->scale[i] = fabs(fabs(scale[i]) - 1) < FLT_EPSILON ? (scale[i] < 0 ? -1.0f : 1.0f) : (float)scale[i];
}

/* --- the boundary ------------------------------------------------------------------------------------------- */

void pose_matrix(const pose_t *pose, double matrix[16])
{
    double x = (double)pose->rotation[0], y = (double)pose->rotation[1];
    double z = (double)pose->rotation[2], w = (double)pose->rotation[3];
    double r[3][3] = {
        {1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
        {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
        {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)},
    };
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++)
            matrix[4 * row + column] = r[row][column] * (double)pose->scale[column];
        matrix[4 * row + 3] = (double)pose->position[row];
    }
    memcpy(&matrix[12], (const double[4]){0, 0, 0, 1}, 4 * sizeof(double));
}

static bool is_right(const float matrix[16], const pose_t *pose)
{
    double again[16], largest = 0, worst = 0;
    pose_matrix(pose, again);
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++) {
            largest = fmax(largest, fabs((double)matrix[4 * row + column]));
            worst = fmax(worst, fabs((double)matrix[4 * row + column] - again[4 * row + column]));
        }
    }
    return worst <= TOLERANCE * largest;
}

int pose_split(const float matrix[16], pose_t poses[2])
{
    columns_t a, v, inner;
    for (int i = 0; i < 12; i++)
        if (!isfinite(matrix[i]))
            return 0;
    for (int i = 0; i < 3; i++)
        for (int row = 0; row < 3; row++)
            a.m[i][row] = (double)matrix[4 * row + i];
    for (int i = 0; i < 2; i++)
        poses[i] = (pose_t){{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
    for (int row = 0; row < 3; row++)
        poses[0].position[row] = matrix[4 * row + 3];
    of_right_angles(a, &poses[0]);
    if (is_right(matrix, &poses[0]))
        return 1;
    separate(&a, &v);
    of_right_angles(a, &poses[0]);
    for (int i = 0; i < 3; i++)
        for (int row = 0; row < 3; row++)
            inner.m[i][row] = v.m[row][i];
    quaternion(&inner, poses[1].rotation);
    return 2;
}

bool pose_is_affine(const float matrix[16])
{
    return fabsf(matrix[12]) <= 0 && fabsf(matrix[13]) <= 0 && fabsf(matrix[14]) <= 0 &&
           fabsf(matrix[15] - 1) <= (float)TOLERANCE;
}

bool pose_is_identity(const pose_t *pose)
{
    static const pose_t nothing = {{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
    for (int i = 0; i < 3; i++)
        if (pose->position[i] != nothing.position[i] || pose->scale[i] != nothing.scale[i] ||
            pose->rotation[i] != nothing.rotation[i])
            return false;
    return pose->rotation[3] >= nothing.rotation[3];
}
